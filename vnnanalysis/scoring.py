"""Judged rows to scores, rankings and statistics.

Source: VNN-COMP 2021 report, sections 0.2 ("Benchmark score") and 0.5 (Tables 4 to 19).
"""

from fractions import Fraction
from typing import Any

import pandas as pd

from vnnanalysis.editions import ALL_TRACKS, Edition, ScoringRules
from vnnanalysis.errors import check_known
from vnnanalysis.judging import MAIN_MODE
from vnnanalysis.load import INSTANCE
from vnnanalysis.terms import Result, Verdict

BENCHMARK_COLUMNS = [
    *("track", "benchmark", "rank", "tool", "verified", "falsified", "fastest"),
    *("incorrect", "points", "percent", "solved_percent"),
]
INSTANCE_COLUMNS = [
    *("benchmark", "index", "instance", "tool", "result", "truth", "verdict", "points"),
    *("run_s", "corrected_s", "reason"),
]
STATISTICS = {
    "participated": "Num Benchmarks Participated",
    "solved": "Num Instances Verified",
    "falsified": "Num Violated",
    "verified": "Num Holds",
    "incorrect": "Mismatched (Incorrect) Results",
}


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
    sizes = judged.drop_duplicates(INSTANCE).groupby("benchmark").size()
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
    best = scores.groupby("benchmark")["points"].transform("max")
    scores["percent"] = [
        float(_percent(p, b, rules)) for p, b in zip(scores["points"], best, strict=True)
    ]
    solved = scores["verified"] + scores["falsified"]
    scores["solved_percent"] = 100 * solved / scores["benchmark"].map(sizes)
    scores["track"] = [edition.track_of(b) for b in scores["benchmark"]]
    scores["rank"] = _rank(scores.groupby("benchmark")["points"])
    place = scores["benchmark"].map({b: i for i, b in enumerate(edition.benchmarks)})
    return _sorted(scores.assign(place=place), ["place", "rank"], edition)[BENCHMARK_COLUMNS]


def _percent(points: int, best: int, rules: ScoringRules) -> Fraction:
    if best <= 0:
        return Fraction(0)
    percent = Fraction(100 * int(points), int(best))
    return max(percent, Fraction(0)) if rules.floor_percent else percent


def _rank(values: Any) -> pd.Series:
    return values.rank(method="min", ascending=False).astype(int)


def _sorted(table: pd.DataFrame, by: list[str], edition: Edition) -> pd.DataFrame:
    """Sort stably; where `by` is equal, in the edition's order of tools."""
    order = table["tool"].map({tool: i for i, tool in enumerate(edition.tools)})
    keyed = table.assign(tool_order=order).sort_values([*by, "tool_order"], kind="stable")
    return keyed.drop(columns="tool_order").reset_index(drop=True)


def overall_scores(
    scores: pd.DataFrame, edition: Edition, rules: ScoringRules, track: str = ALL_TRACKS
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
        ``floor_percent``.
    track : str
        A track of the edition, or ``all`` for one ranking per track.

    Returns
    -------
    DataFrame
        Columns track, rank, tool, score; best first, equal scores share a rank.
    """
    check_known("track", [track], [*edition.tracks, ALL_TRACKS])
    scored = scores[scores["benchmark"].isin(edition.scored)]
    if track != ALL_TRACKS:
        scored = scored[scored["track"] == track]
    best = scored.groupby("benchmark")["points"].transform("max")
    percents = [_percent(p, b, rules) for p, b in zip(scored["points"], best, strict=True)]
    sums = pd.Series(percents, scored.index, dtype=object).groupby(
        [scored["track"], scored["tool"]]
    ).sum()  # fmt: skip
    places: dict[str, list[Fraction]] = {}
    for (name, _), value in sums.items():
        places.setdefault(name, []).append(value)
    rows = [
        (name, 1 + sum(other > value for other in places[name]), tool, float(value))
        for (name, tool), value in sums.items()
    ]
    overall = pd.DataFrame(rows, columns=["track", "rank", "tool", "score"])
    place = overall["track"].map({t: i for i, t in enumerate(edition.tracks)})
    ordered = _sorted(overall.assign(place=place), ["place", "rank"], edition)
    return ordered.drop(columns="place")


def statistics(scores: pd.DataFrame, overhead: pd.DataFrame, edition: Edition) -> pd.DataFrame:
    """Collect the statistics the report prints beside the scores.

    Parameters
    ----------
    scores : DataFrame
        From `benchmark_scores`.
    overhead : DataFrame
        From `judging.overheads`.
    edition : Edition
        For the order of tools.

    Returns
    -------
    DataFrame
        Columns statistic, rank, tool, value and, for overheads in seconds, cpu_mode: the
        overhead in a tool's other mode. A tool without any is not listed.
    """
    parts = [_overhead_statistic(overhead)]
    counts = scores.groupby("tool").agg(
        participated=("benchmark", "size"),
        falsified=("falsified", "sum"),
        verified=("verified", "sum"),
        incorrect=("incorrect", "sum"),
    )
    counts["solved"] = counts["verified"] + counts["falsified"]
    for column, statistic in STATISTICS.items():
        values = counts.loc[counts[column] > 0, column].rename("value").reset_index()
        values["rank"] = _rank(values["value"])
        parts.append(values.assign(statistic=statistic))
    table = pd.concat(parts)
    order = {name: i for i, name in enumerate(["Overhead", *STATISTICS.values()])}
    place = table["statistic"].map(order)
    ordered = _sorted(table.assign(place=place), ["place", "rank"], edition)
    return ordered[["statistic", "rank", "tool", "value", "cpu_mode"]]


def _overhead_statistic(overhead: pd.DataFrame) -> pd.DataFrame:
    is_main = overhead["mode"] == MAIN_MODE
    main = overhead[is_main].rename(columns={"overhead_s": "value"})
    other = overhead[~is_main].groupby("tool")["overhead_s"].min()
    return main.assign(
        statistic="Overhead",
        rank=main["value"].rank(method="min").astype(int),
        cpu_mode=main["tool"].map(other),
    ).drop(columns="mode")


def instance_table(judged: pd.DataFrame, edition: Edition) -> pd.DataFrame:
    """Return the judged rows with columns `INSTANCE_COLUMNS`, in the edition's order."""
    place = judged["benchmark"].map({b: i for i, b in enumerate(edition.benchmarks)})
    ordered = _sorted(judged.assign(place=place), ["place", "index"], edition)
    return ordered[INSTANCE_COLUMNS]
