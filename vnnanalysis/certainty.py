"""How much of a ranking is chance, and how much is rules: bootstrap, tests and variants."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from vnnanalysis import ranking
from vnnanalysis.analysis import Analysis, analyse, analyse_variants, side_by_side
from vnnanalysis.bootstrap import Judged, Replicates, resample
from vnnanalysis.errors import UsageError
from vnnanalysis.portfolio import READINGS, common_benchmarks, read_missing
from vnnanalysis.significance import RankTests, percent_blocks, rank_test_table, rank_tests
from vnnanalysis.terms import Design, Missing

REPLICATES = 10_000
SEED = 1


@dataclass(frozen=True)
class Certainty:
    """A ranking with its replicates, under the rules in force and under all variants.

    Attributes
    ----------
    analysis : Analysis
        The ranking in question; of common benchmarks only, if those were asked for.
    own : str
        The name of the rules in force among the variants.
    variants : DataFrame
        From `analysis.compare_variants`, the rules in force among them.
    judged : dict of str to DataFrame
        Judged rows by variant.
    replicates : tuple of Replicates
        One for each track and design.
    missing : Missing
        What a benchmark counts that one of the compared tools skips.
    """

    analysis: Analysis
    own: str
    variants: pd.DataFrame
    judged: Mapping[str, pd.DataFrame]
    replicates: tuple[Replicates, ...]
    missing: Missing
    left_out: tuple[str, ...] = ()  # tracks without a common benchmark

    @property
    def tracks(self) -> tuple[str, ...]:
        """The tracks that have replicates."""
        return tuple(dict.fromkeys(part.track for part in self.replicates))

    @property
    def words(self) -> str:
        """The reading of absent tools, for captions."""
        return READINGS[self.missing]

    def ranked(self, track: str) -> list[str]:
        """Return the tools of a track, best first."""
        overall = self.analysis.overall
        return list(overall.loc[overall["track"] == track, "tool"])


def assess(
    analysis: Analysis,
    *,
    replicates: int = REPLICATES,
    seed: int = SEED,
    missing: str = Missing.ZERO,
    all_variants: bool = True,
    resampled: bool = True,
) -> Certainty:
    """Resample the ranking of an analysis.

    Parameters
    ----------
    analysis : Analysis
        What was scored.
    replicates : int
        How often to resample, for each design.
    seed : int
        Equal seeds give equal results.
    missing : str
        ``zero`` sums up percents over all scored benchmarks, as the ranking does; ``common``
        over those only that all shown tools of a track take part in: scores and ranks are
        then other than the competition's.
    all_variants : bool
        Whether to do the same under every variant of the rules that the edition lists; the
        replicates draw the same instances in all of them.
    resampled : bool
        Whether to resample at all: tests and flips do not need it.

    Raises
    ------
    UsageError
        For fewer than one replicate, an unknown word, a negative seed; where no benchmark
        is common.
    """
    if not isinstance(replicates, int) or isinstance(replicates, bool) or replicates < 1:
        raise UsageError(f"replicates: expected a number of at least 1, found {replicates!r}")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise UsageError(f"seed: expected a number of at least 0, found {seed!r}")
    reading = read_missing(missing)
    ranked = tuple(dict.fromkeys(analysis.overall["track"]))
    analysis = _on_common(analysis) if reading is Missing.COMMON else analysis
    own = analysis.rules.texts(analysis.edition.variants)
    grid = analysis.edition.variant_grid() if all_variants else []
    grid = grid if own in grid else [own, *grid]
    variants = analyse_variants(analysis, grid)
    judged = {ranking.variant_name(chosen): variant for chosen, variant in variants}
    pairs = {name: (variant.judged, variant.rules) for name, variant in judged.items()}
    return Certainty(
        analysis,
        ranking.variant_name(own),
        side_by_side(variants),
        {name: variant.judged for name, variant in judged.items()},
        tuple(_resample(analysis, pairs, replicates, seed)) if resampled else (),
        reading,
        tuple(track for track in ranked if track not in set(analysis.overall["track"])),
    )


def _on_common(analysis: Analysis) -> Analysis:
    """Score anew, in each track only on the benchmarks that all its shown tools take part in."""
    edition, overall = analysis.edition, analysis.overall
    common = set[str]()
    for track, rows in overall.groupby("track", sort=False):
        own = analysis.judged["benchmark"].isin(edition.in_track(str(track)))
        common |= set(common_benchmarks(analysis.judged[own], list(rows["tool"])))
    chosen = [b for b in analysis.benchmarks if b in common and b in edition.scored]
    if not chosen:
        raise UsageError(
            f"missing=common: no scored benchmark that all of {', '.join(analysis.tools)} take "
            "part in; choose fewer tools"
        )
    return analyse(
        analysis.contest, analysis.rules, track=analysis.track, benchmarks=chosen,
        tools=analysis.tools, out=analysis.out,
    )  # fmt: skip


def _resample(
    analysis: Analysis, judged: Judged, replicates: int, seed: int
) -> Iterator[Replicates]:
    for track in dict.fromkeys(analysis.overall["track"]):
        for design in Design:
            yield resample(
                judged, analysis.edition, track, design=design, replicates=replicates, seed=seed
            )


def interval_table(certainty: Certainty) -> pd.DataFrame:
    """Return each tool's rank with its intervals, a row per design.

    Returns
    -------
    DataFrame
        Columns track, rank, tool, score, design, rank_low, rank_high, score_low, score_high
        (95 percent of the replicates), p_first, and group: tools with a letter in common
        cannot be told apart (pairs tested by the bootstrap, Holm's correction, 5 percent).
        Rank and score are those of the real runs.
    """
    parts = []
    for replicates in certainty.replicates:
        tools = certainty.ranked(replicates.track)
        table = ranking.intervals(replicates, certainty.own)
        letters = ranking.group_letters(_groups(certainty, replicates))
        table = table.assign(
            track=replicates.track, design=str(replicates.design), group=table["tool"].map(letters)
        )
        place = table["tool"].map({tool: i for i, tool in enumerate(tools)})
        table = table[place.notna()].assign(place=place)
        parts.append(table.sort_values("place", kind="stable"))
    columns = ["track", "rank", "tool", "score", "design", "rank_low", "rank_high", "score_low",
               "score_high", "p_first", "group"]  # fmt: skip
    if not parts:
        return pd.DataFrame(columns=columns)
    table = pd.concat(parts)
    overall = certainty.analysis.overall
    table = table.merge(overall, how="left", on=["track", "tool"], validate="many_to_one")
    return table[columns].reset_index(drop=True)


def _groups(certainty: Certainty, replicates: Replicates) -> list[list[str]]:
    tools = certainty.ranked(replicates.track)
    pairs = ranking.pair_tests(replicates, certainty.own, tools)
    return ranking.tie_groups(tools, ranking.symmetric(pairs, "p_holm", tools))


def pair_table(certainty: Certainty) -> pd.DataFrame:
    """Return for every pair of tools how often one is above the other.

    Returns
    -------
    DataFrame
        Columns track, design, tool, other, p_above, p_below, p_value, p_holm.
    """
    parts = [
        ranking.pair_tests(part, certainty.own, certainty.ranked(part.track)).assign(
            track=part.track, design=str(part.design)
        )
        for part in certainty.replicates
    ]
    columns = ["track", "design", "tool", "other", "p_above", "p_below", "p_value", "p_holm"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def above_matrix(certainty: Certainty, track: str, design: str = Design.INSTANCES) -> pd.DataFrame:
    """Return the share of replicates in which the row's tool is above the column's."""
    part = next(p for p in certainty.replicates if (p.track, p.design) == (track, design))
    tools = certainty.ranked(track)
    return ranking.p_above(part, certainty.own).loc[tools, tools]


def shift_table(certainty: Certainty) -> pd.DataFrame:
    """Return what each variant of the rules does to the ranks (`ranking.rank_shifts`).

    A rank exceeds the interval of the bootstrap within benchmarks under the rules in force.
    """
    table = interval_table(certainty)
    within = table[table["design"] == Design.INSTANCES]
    return ranking.rank_shifts(certainty.variants, certainty.own, within)


def contested_pairs(certainty: Certainty, places: int = 5) -> pd.DataFrame:
    """Return for the pairs whose order depends on the rules how sure it is under each variant.

    Parameters
    ----------
    certainty : Certainty
        From `assess`, with all variants.
    places : int
        Both tools must get one of the first so many places under some variant.

    Returns
    -------
    DataFrame
        Columns track, tool, other, variant, tool_score, other_score, p_instances and
        p_benchmarks: shares of the replicates, by design, in which `tool` has more.
    """
    variants = certainty.variants
    best = variants.groupby(["track", "tool"])["rank"].min()
    rows = []
    for swap in ranking.swaps(variants).itertuples():
        if max(best[swap.track, swap.tool], best[swap.track, swap.other]) <= places:
            rows += _pair_rows(certainty, swap.track, swap.tool, swap.other)
    columns = ["track", "tool", "other", "variant", "tool_score", "other_score", "p_instances",
               "p_benchmarks"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _pair_rows(
    certainty: Certainty, track: str, tool: str, other: str
) -> list[tuple[str | float, ...]]:
    scores = certainty.variants.assign(
        variant=ranking.named_variants(certainty.variants)
    ).set_index(["track", "variant", "tool"])["score"]
    parts = {part.design: part for part in certainty.replicates if part.track == track}
    rows = []
    for variant in certainty.judged:
        chances = [
            ranking.p_above(parts[design], variant).loc[tool, other] if design in parts else np.nan
            for design in Design
        ]
        both = [float(scores.get((track, variant, name), np.nan)) for name in (tool, other)]
        rows.append((track, tool, other, variant, *both, *chances))
    return rows


class Tested(NamedTuple):
    """The tests of a track in one reading of absent tools."""

    track: str
    missing: Missing
    blocks: pd.DataFrame  # from `significance.percent_blocks`
    tests: RankTests | None  # None where there is nothing to test


def benchmark_tests(certainty: Certainty) -> list[Tested]:
    """Test each track's ranking over benchmarks, in both readings of absent tools.

    If the ranking itself is of common benchmarks only, there is no other reading.
    """
    analysis = certainty.analysis
    readings = [Missing.COMMON] if certainty.missing is Missing.COMMON else list(Missing)
    found = []
    for track in dict.fromkeys(analysis.overall["track"]):
        for missing in readings:
            blocks = percent_blocks(
                analysis.scores, analysis.edition, track, certainty.ranked(track), missing
            )
            found.append(Tested(track, missing, blocks, rank_tests(blocks)))
    return found


def benchmark_test_table(tested: Sequence[Tested]) -> pd.DataFrame:
    """Put the pairs of all tests into one table: track, missing, then `rank_test_table`."""
    parts = [
        rank_test_table(tests).assign(track=track, missing=str(missing))
        for track, missing, _, tests in tested
        if tests is not None
    ]
    columns = ["track", "missing", "tool", "other", "rank_difference", "nemenyi_p", "wilcoxon_p"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def flip_table(certainty: Certainty) -> pd.DataFrame:
    """List the shown tools' answers whose verdict depends on the rules, in the edition's order.

    Columns as in `ranking.verdict_flips`.
    """
    analysis = certainty.analysis
    flips = ranking.verdict_flips(certainty.judged)
    place = flips["benchmark"].map({b: i for i, b in enumerate(analysis.edition.benchmarks)})
    of_tool = flips["tool"].map({tool: i for i, tool in enumerate(analysis.listed)})
    keyed = flips.assign(place=place, of_tool=of_tool)[of_tool.notna()]
    ordered = keyed.sort_values(["place", "index", "of_tool"], kind="stable")
    return ordered[flips.columns].reset_index(drop=True)
