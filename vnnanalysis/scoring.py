"""Judged rows to scores, rankings and statistics.

Source: VNN-COMP 2021 report, sections 0.2 ("Benchmark score") and 0.5 (Tables 4 to 19).
"""

from collections.abc import Mapping
from fractions import Fraction

import pandas as pd

from vnnanalysis.editions import ALL_TRACKS, STATISTICS, Edition
from vnnanalysis.judging import MAIN_MODE
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.rules import ScoringRules
from vnnanalysis.terms import Duplicates, Result, Verdict

BENCHMARK_COLUMNS = [
    *("track", "benchmark", "rank", "tool", "verified", "falsified", "fastest"),
    *("incorrect", "points", "percent", "solved_percent"),
]
STATISTIC_COLUMNS = ["track", "statistic", "rank", "tool", "value", "cpu_mode"]
INSTANCE_COLUMNS = [
    *("benchmark", "index", "instance", "tool", "result", "truth", "verdict", "points"),
    *("run_s", "corrected_s", "reason"),
]


def benchmark_scores(judged: pd.DataFrame, edition: Edition, rules: ScoringRules) -> pd.DataFrame:
    """Score every tool on every benchmark it takes part in.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    edition : Edition
        For the tracks.
    rules : ScoringRules
        ``floor_percent``.

    Returns
    -------
    DataFrame
        Columns `BENCHMARK_COLUMNS`, one row per benchmark and tool, best first. Percents
        are of the best tool's points and of the benchmark's instances; equal points
        share a rank.
    """
    counted_once = rules.duplicates is Duplicates.UNIQUE
    listed = judged[judged["occurrence"] == 1] if counted_once else judged
    sizes = listed.drop_duplicates(INSTANCE).groupby("benchmark").size()
    judged = judged[judged["takes_part"]]
    is_correct = judged["verdict"] == Verdict.CORRECT
    facts = judged.assign(
        verified=is_correct & (judged["result"] == Result.UNSAT),
        falsified=is_correct & (judged["result"] == Result.SAT),
        fastest=judged["is_fastest"],
        incorrect=judged["verdict"] == Verdict.INCORRECT,
    )
    counted = ["verified", "falsified", "fastest", "incorrect", "points"]
    scores = facts.groupby(["benchmark", "tool"])[counted].sum().reset_index()
    scores["percent"] = [float(percent) for percent in _percents(scores, edition, rules)]
    solved = scores["verified"] + scores["falsified"]
    scores["solved_percent"] = 100 * solved / scores["benchmark"].map(sizes).astype("float64")
    scores["track"] = [edition.track_of(b) for b in scores["benchmark"]]
    scores["rank"] = _rank(scores, "benchmark", "points", edition)
    place = scores["benchmark"].map({b: i for i, b in enumerate(edition.benchmarks)})
    ordered = scores.assign(place=place, less=-scores["points"])
    return _sorted(ordered, ["place", "rank", "less"], edition)[BENCHMARK_COLUMNS]


def _percents(scores: pd.DataFrame, edition: Edition, rules: ScoringRules) -> list[Fraction]:
    """Return the exact percent of every row: of the best competitor's points, or its own."""
    competitors = scores["points"].mask(scores["tool"].isin(edition.extra_tools))
    best = competitors.groupby(scores["benchmark"]).transform("max")
    best = best.fillna(scores["points"]).clip(lower=scores["points"]).astype(int)
    percents = [
        Fraction(100 * int(points), int(most)) if most > 0 else Fraction(0)
        for points, most in zip(scores["points"], best, strict=True)
    ]
    return [max(p, Fraction(0)) for p in percents] if rules.floor_percent else percents


def _rank(table: pd.DataFrame, group: str, column: str, edition: Edition) -> list[int]:
    """Rank each row: one more than the competitors of its group that have more."""
    is_extra = table["tool"].isin(edition.extra_tools)
    values = {name: list(rows[column]) for name, rows in table[~is_extra].groupby(group)}
    return [
        1 + sum(other > value for other in values.get(name, []))
        for name, value in zip(table[group], table[column], strict=True)
    ]


def _sorted(table: pd.DataFrame, by: list[str], edition: Edition) -> pd.DataFrame:
    """Sort stably; where `by` is equal, in the edition's order of tools."""
    order = table["tool"].map({tool: i for i, tool in enumerate(edition.tools)})
    keyed = table.assign(tool_order=order).sort_values([*by, "tool_order"], kind="stable")
    return keyed.drop(columns="tool_order").reset_index(drop=True)


def solved_times(judged: pd.DataFrame, edition: Edition) -> pd.Series:
    """Sum up every tool's run time on the scored instances it solved, in seconds.

    Returns
    -------
    Series of float
        Index track and tool.
    """
    solved = judged[
        (judged["verdict"] == Verdict.CORRECT) & judged["benchmark"].isin(edition.scored)
    ]
    track = solved["benchmark"].map({b: edition.track_of(b) for b in edition.benchmarks})
    return solved["run_s"].groupby([track.rename("track"), solved["tool"]]).sum()


def overall_scores(
    scores: pd.DataFrame,
    edition: Edition,
    rules: ScoringRules,
    track: str = ALL_TRACKS,
    *,
    times: pd.Series | None = None,
) -> pd.DataFrame:
    """Rank the tools: the sum of their percents over the scored benchmarks of a track.

    The sum is exact (fractions of integers), so that no rounding decides a rank.

    Parameters
    ----------
    scores : DataFrame
        From `benchmark_scores`.
    edition : Edition
        For the tracks.
    rules : ScoringRules
        ``floor_percent`` and ``ties_by_time``.
    track : str
        A track, or one of the other choices of `Edition.track_names`; one ranking per track.
    times : Series, optional
        From `solved_times`; needed where the rules break ties by time.

    Returns
    -------
    DataFrame
        Columns track, rank, tool, score; best first, equal scores share a rank unless the
        run time on solved instances breaks the tie. A tool that was not part of the
        competition has the rank it would have had, and moves nobody.
    """
    scored = scores[scores["benchmark"].isin(edition.scored)]
    scored = scored[scored["benchmark"].isin(edition.in_track(track))]
    percents = pd.Series(_percents(scored, edition, rules), scored.index, dtype=object)
    sums = percents.groupby([scored["track"], scored["tool"]]).sum()
    overall = sums.rename("score").rename_axis(["track", "tool"]).reset_index()
    seconds = times.reindex(sums.index, fill_value=0.0) if times is not None else [0.0] * len(sums)
    by_time = rules.ties_by_time
    order = [(s, -t if by_time else 0.0) for s, t in zip(sums, seconds, strict=True)]
    overall["rank"] = _rank(overall.assign(order=order), "track", "order", edition)
    overall["score"] = overall["score"].astype(float)
    place = overall["track"].map({t: i for i, t in enumerate(edition.tracks)})
    ordered = overall.assign(place=place, less=-overall["score"])
    return _sorted(ordered, ["place", "rank", "less"], edition)[["track", "rank", "tool", "score"]]


def statistic_titles(edition: Edition) -> dict[str, str]:
    """Return the titles of the statistics tables, as the edition prints them, by short name."""
    return STATISTICS | dict(edition.statistic_titles)


def statistics(scores: pd.DataFrame, overhead: pd.DataFrame, edition: Edition) -> pd.DataFrame:
    """Collect the statistics the report prints beside the scores.

    Parameters
    ----------
    scores : DataFrame
        From `benchmark_scores`.
    overhead : DataFrame
        From `judging.overheads`.
    edition : Edition
        For the order of tools and tracks, and the titles.

    Returns
    -------
    DataFrame
        Columns track, statistic (its title), rank, tool, value and, for overheads in seconds,
        cpu_mode: the overhead in a tool's other mode. A tool without any is not listed.
    """
    titles = statistic_titles(edition)
    parts = []
    for track in edition.tracks:
        here = scores[scores["track"] == track]
        if len(here):
            measured = overhead[overhead["track"].isin(["", track])]
            parts.append(_statistics(here, measured, titles).assign(track=track))
    if not parts:  # none of the selected tools has a score
        return pd.DataFrame(columns=STATISTIC_COLUMNS)
    table = pd.concat(parts, ignore_index=True)
    group = table["track"] + "\n" + table["statistic"]
    table["rank"] = _rank(table.assign(group=group), "group", "order", edition)
    places = {"track": list(edition.tracks), "statistic": list(titles.values())}
    by = {c: table[c].map({v: i for i, v in enumerate(known)}) for c, known in places.items()}
    ordered = table.assign(track_place=by["track"], place=by["statistic"], less=-table["order"])
    return _sorted(ordered, ["track_place", "place", "rank", "less"], edition)[STATISTIC_COLUMNS]


def _statistics(
    scores: pd.DataFrame, overhead: pd.DataFrame, titles: Mapping[str, str]
) -> pd.DataFrame:
    """Collect the statistics of one track; column order is what they are ranked by."""
    counts = scores.groupby("tool").agg(
        participated=("benchmark", "size"),
        falsified=("falsified", "sum"),
        verified=("verified", "sum"),
        incorrect=("incorrect", "sum"),
    )
    counts["solved"] = counts["verified"] + counts["falsified"]
    parts = [_overhead_statistic(overhead).assign(statistic=titles["overhead"])]
    for column, title in titles.items():
        if column in counts:
            values = counts.loc[counts[column] > 0, column].rename("value").reset_index()
            parts.append(values.assign(statistic=title, order=values["value"]))
    return pd.concat(parts, ignore_index=True)


def _overhead_statistic(overhead: pd.DataFrame) -> pd.DataFrame:
    is_main = overhead["mode"] == MAIN_MODE
    main = overhead[is_main].set_index("tool")["overhead_s"].rename("value")
    other = overhead[~is_main].groupby("tool")["overhead_s"].min().rename("cpu_mode")
    table = pd.concat([main, other], axis="columns").rename_axis("tool").reset_index()
    return table.assign(order=-table["value"].fillna(table["cpu_mode"]))


def instance_table(judged: pd.DataFrame, edition: Edition) -> pd.DataFrame:
    """Return the judged rows with columns `INSTANCE_COLUMNS`, in the edition's order."""
    place = judged["benchmark"].map({b: i for i, b in enumerate(edition.benchmarks)})
    ordered = _sorted(judged.assign(place=place), ["place", "index"], edition)
    return ordered[INSTANCE_COLUMNS]
