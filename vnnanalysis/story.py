"""What the numbers on complementarity and certainty say, in sentences."""

from collections.abc import Iterable, Sequence

import pandas as pd

from vnnanalysis.certainty import Certainty, Tested, contested_pairs, interval_table
from vnnanalysis.editions import Edition, split_tools
from vnnanalysis.judging import is_counting_answer
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.portfolio import READINGS
from vnnanalysis.ranking import LEVEL, variant_summary
from vnnanalysis.tables import plain_name
from vnnanalysis.terms import Design
from vnnanalysis.times import SHIFT_S

_DESIGNS = {
    Design.INSTANCES: "instances within benchmarks",
    Design.BENCHMARKS: "benchmarks, then instances",
}


def percent(share: float) -> str:
    """Write a share of replicates in percent, never rounding to never or always.

    Examples
    --------
    >>> percent(0.56), percent(1.0), percent(0.9999), percent(0.00001)
    ('56 %', '100 %', 'more than 99 %', 'less than 1 %')
    """
    if 0.99 < share < 1:
        return "more than 99 %"
    if 0 < share < 0.01:
        return "less than 1 %"
    return f"{100 * share:.0f} %"


def _names(edition: Edition, tools: Iterable[str]) -> str:
    return ", ".join(plain_name(edition, tool) for tool in tools)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def certainty_sentences(certainty: Certainty) -> list[str]:
    """Tell how sure the first places are, and which tools cannot be told apart."""
    edition = certainty.analysis.edition
    table = interval_table(certainty)
    if table.empty:
        return ["None of these benchmarks is scored: there is no ranking to resample."]
    n = len(next(iter(certainty.replicates[0].ranks.values())))
    sentences = [f"{n:,} replicates of the whole score for each design; {certainty.words}."]
    for (track, design), rows in table.groupby(["track", "design"], sort=False):
        where = f"Track {track}, resampling" if len(certainty.tracks) > 1 else "Resampling"
        sentences.append(f"{where} {_DESIGNS[Design(design)]}: {_first(rows, edition)}.")
        if len(rows) > 1:
            sentences[-1] = f"{sentences[-1][:-1]}; {_apart_by_letters(rows, edition)}."
    left_out = [
        f"Track {track} has no scored benchmark that all its tools take part in: it is left out."
        for track in certainty.left_out
    ]
    return [*sentences, *left_out, *_little_to_draw(certainty), *_too_few(certainty, n)]


def _first(rows: pd.DataFrame, edition: Edition) -> str:
    """Name the tools that are ever first, the likeliest at the front."""
    first = rows[rows["p_first"] > 0].sort_values("p_first", ascending=False, kind="stable")
    if first.empty:
        return "none of these is ever first"
    told = [f"{plain_name(edition, r.tool)} {percent(r.p_first)}" for r in first.itertuples()]
    shared = " (shared first places count for each)" if first["p_first"].sum() > 1 + 1e-9 else ""
    return f"first {', '.join(told)}{shared}"


def _apart_by_letters(rows: pd.DataFrame, edition: Edition) -> str:
    letters = dict.fromkeys("".join(rows["group"]))
    groups = [[r.tool for r in rows.itertuples() if letter in r.group] for letter in letters]
    tied = [_names(edition, group) for group in groups if len(group) > 1]
    if not tied:
        return "every pair can be told apart"
    return f"cannot be told apart: {'; '.join(tied)}"


def _little_to_draw(certainty: Certainty) -> list[str]:
    """Warn of tracks with one benchmark, and of benchmarks with one instance."""
    analysis = certainty.analysis
    scored = [b for b in analysis.answered if b in analysis.edition.scored]
    sentences = []
    for track in certainty.tracks:
        if len([b for b in scored if b in analysis.edition.in_track(track)]) == 1:
            sentences.append(
                f"Track {track} has one scored benchmark here: drawing benchmarks first says no "
                "more than drawing its instances."
            )
    rows = analysis.judged[analysis.judged["benchmark"].isin(scored)]
    sizes = rows.drop_duplicates(INSTANCE).groupby("benchmark").size()
    if (sizes == 1).any():
        n_single = _count(int((sizes == 1).sum()), "benchmark")
        sentences.append(f"{n_single} of one instance cannot vary: intervals are too narrow.")
    return sentences


def _too_few(certainty: Certainty, n_replicates: int) -> list[str]:
    """Warn where the correction for many pairs leaves no pair that could differ."""
    n_tools = max(len(certainty.ranked(track)) for track in certainty.tracks)
    n_pairs = n_tools * (n_tools - 1) // 2
    if 2 * n_pairs / (n_replicates + 1) < LEVEL:
        return []
    needed = int(2 * n_pairs / LEVEL)
    return [
        f"With {n_replicates:,} replicates none of the {n_pairs} pairs could be told apart after "
        f"Holm's correction; that takes at least {needed:,}."
    ]


def contested_sentences(certainty: Certainty, places: int = 5) -> list[str]:
    """Tell under which rules, and how surely, one tool is ahead of another."""
    edition = certainty.analysis.edition
    table = contested_pairs(certainty, places)
    sentences = []
    for (track, tool, other), rows in table.groupby(["track", "tool", "other"], sort=False):
        names = plain_name(edition, tool), plain_name(edition, other)
        where = f"track {track}, " if len(certainty.tracks) > 1 else ""
        told = [
            f"under {row.variant} {_standing(names, row)} ({names[0]} {row.tool_score:.1f}, "
            f"{names[1]} {row.other_score:.1f}; {names[0]} has more in {percent(row.p_instances)} "
            f"of the replicates of instances, {percent(row.p_benchmarks)} of benchmarks)"
            for row in rows.itertuples()
        ]
        which = _places(certainty.variants, track, (tool, other))
        sentences.append(
            f"{_capital(where + which)}: {names[0]} or {names[1]}? {_capital('; '.join(told))}."
        )
    return sentences or [
        "Of the tools shown, no variant turns round the order of two that get one of the first "
        f"{places} places."
    ]


def _places(variants: pd.DataFrame, track: str, tools: tuple[str, str]) -> str:
    """Name the places that two tools have under all variants."""
    rows = variants[(variants["track"] == track) & variants["tool"].isin(tools)]
    *first, last = sorted(set(rows["rank"]))
    return f"places {', '.join(map(str, first))} and {last}" if first else f"place {last}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _standing(names: tuple[str, str], row: object) -> str:
    tool, other = row.tool_score, row.other_score  # type: ignore[attr-defined]
    if tool == other:
        return "they are equal"
    return f"{names[0] if tool > other else names[1]} is ahead"


def test_sentences(tested: Sequence[Tested], edition: Edition) -> list[str]:
    """Tell what the tests over benchmarks say, and where they can say nothing."""
    sentences = []
    for track, missing, blocks, tests in tested:
        n_blocks, n_tools = blocks.shape
        size = f"{_count(n_tools, 'tool')}, {_count(n_blocks, 'benchmark')}"
        what = f"Track {track}, {READINGS[missing]} ({size})"
        if tests is None:
            sentences.append(f"{what}: too few for a test; nothing can be told apart.")
            continue
        told = [f"Friedman p = {tests.friedman_p:.2g}"] if n_tools > 2 else []
        told += [
            f"Nemenyi (mean ranks that differ by more than {tests.critical_difference:.2f}): "
            + _apart(tests.nemenyi),
            "Wilcoxon with Holm's correction: "
            + _apart(tests.wilcoxon)
            + _least(n_blocks, n_tools),
        ]
        sentences.append(f"{what}: {'; '.join(told)}.")
    return sentences


def _apart(p_values: pd.DataFrame) -> str:
    n_pairs = len(p_values) * (len(p_values) - 1) // 2
    n_apart = int((p_values.to_numpy() < LEVEL).sum()) // 2
    if not n_apart:
        return "no pair can be told apart"
    return f"{n_apart} of {n_pairs} pairs differ"


def _least(n_blocks: int, n_tools: int) -> str:
    """Say where Holm's correction leaves no p value below the level, whatever was measured."""
    least = 2.0 ** (1 - n_blocks) * n_tools * (n_tools - 1) / 2
    return f" (with {n_blocks} benchmarks, none could be)" if least >= LEVEL else ""


def flip_sentences(flips: pd.DataFrame, shown: pd.DataFrame) -> list[str]:
    """Tell how many verdicts depend on the rules, of the judged rows of the tools shown."""
    if flips.empty:
        return ["No verdict depends on the rules."]
    n_instances = len(flips.drop_duplicates(["benchmark", "instance"]))
    answers = int(is_counting_answer(shown).sum())
    return [
        f"{len(flips):,} of {answers:,} answers, on {n_instances:,} instances, have another "
        "verdict under other rules."
    ]


def portfolio_sentences(best: pd.DataFrame, edition: Edition) -> list[str]:
    """Tell what the best portfolios solve, and when another tool brings nothing."""
    if best.empty or not best["solved"].any():
        return ["No portfolio solves anything."]
    first = best.drop_duplicates("size").set_index("size")
    sentences = []
    for size in [size for size in (1, 2, 3) if size in first.index]:
        row = first.loc[size]
        more = f" (one of {row['n_optima']} that do)" if row["n_optima"] > 1 else ""
        kind = "tool" if size == 1 else f"{size} tools"
        names = _names(edition, split_tools(str(row["tools"]), edition.tools, size))
        sentences.append(f"Best {kind}: {names}, {row['solved']} instances{more}.")
    top = int(first["solved"].idxmax())
    if top < first.index.max():
        sentences.append(f"No portfolio solves more than the best of {_count(top, 'tool')}.")
    return sentences


def variant_sentences(shifts: pd.DataFrame, edition: Edition) -> list[str]:
    """Tell for each variant how alike its ranking is, and what it moves (`variant_summary`)."""
    sentences = []
    has_tracks = len(set(shifts["track"])) > 1
    for row in variant_summary(shifts).itertuples():
        where = f"Track {row.track}, {row.variant}" if has_tracks else row.variant
        moved = _names(edition, split_tools(row.moved, edition.tools)) if row.moved else ""
        out = _names(edition, split_tools(row.exceeding, edition.tools)) if row.exceeding else ""
        tau = "" if row.kendall_tau != row.kendall_tau else f"Kendall's tau {row.kendall_tau:.2f}, "
        most = f"largest shift {row.largest_shift}" + (f" ({moved})" if moved else "")
        outside = f"; out of their intervals: {out}" if out else ""
        sentences.append(f"{where}: {tau}{most}{outside}.")
    return sentences


def policy_in_words(table: pd.DataFrame) -> str:
    """Say for a caption what the times of `portfolio.complementarity` are means of.

    Parameters
    ----------
    table : DataFrame
        From `portfolio.complementarity`, over all instances or a row per benchmark and tool.
    """
    if table.empty:
        return "nothing to average"
    if table["par2_s"].isna().all():
        return "times that need a limit are empty, since limits are not known"
    one = "benchmark" not in table
    solvable = f"{table['n_solvable'].iloc[0]} instances" if one else "instances"
    every = f"all {table['n'].iloc[0]}" if one else "all instances"
    return (
        f"average time over the {solvable} that some tool solved, unsolved at the limit; PAR2 and "
        f"PAR10 over {every}, unsolved at 2 and 10 times the limit; shifted geometric mean with "
        f"{SHIFT_S:g} s over {every}, unsolved at the limit"
    )
