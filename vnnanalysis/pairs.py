"""Tools two by two: who solved what the other did not, and who was faster where both did."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from vnnanalysis.layouts import INSTANCE
from vnnanalysis.portfolio import common_benchmarks, select_missing
from vnnanalysis.terms import Missing, Verdict
from vnnanalysis.times import run_times

PAIR_COLUMNS = [
    *("tool", "other", "n", "both", "only_tool", "only_other", "neither", "jaccard"),
    *("time_ratio", "ratio_low", "ratio_high", "spearman", "mcnemar_p"),
]
PAIR_INSTANCE_COLUMNS = [
    *("benchmark", "index", "instance", "solved_by", "tool_result", "other_result"),
    *("tool_verdict", "other_verdict", "tool_s", "other_s"),
]
READINGS = {
    Missing.ZERO: "absent = 0",
    Missing.COMMON: "only benchmarks that both tools of a pair take part in",
}
SMALLEST_S = 0.001
CONFIDENCE = 0.95
_LEAST_FOR_RANKS = 3


def pair_table(
    judged: pd.DataFrame, tools: Sequence[str], missing: Missing = Missing.ZERO
) -> pd.DataFrame:
    """Compare every pair of tools.

    The ratio of times is the median over the instances that both solved, of the corrected
    time of `tool` by that of `other`: below 1, `tool` is faster. Its interval is the exact
    distribution-free one of a median, from order statistics, at 95 %. Times below 0.001 s
    count as 0.001 s in ratios, so that a time of 0 (a floor of 0) has one.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The tools; a pair keeps their order.
    missing : Missing
        What a benchmark counts in which one of a pair does not take part; the common
        benchmarks are those of the pair.

    Returns
    -------
    DataFrame
        Columns tool, other, n (instances that count for some tool), both, only_tool,
        only_other and neither (instances solved), jaccard (both by either; missing where
        neither solves any), time_ratio, ratio_low and ratio_high (missing where nothing, or too
        little for an interval, was solved by both), spearman (of the times on what both solved;
        missing below 3 instances or where one's times are all equal) and mcnemar_p (exact
        two-sided test that either is as likely to solve what the other does not; 1 where there
        is nothing such).
    """
    judged = select_missing(judged, tools, Missing.ZERO)
    times = run_times(judged, tools)
    of_row = times.index.get_level_values("benchmark")
    rows = []
    for tool, other in itertools.combinations(tools, 2):
        pair = times[[tool, other]]
        if Missing(missing) is Missing.COMMON:
            pair = pair[of_row.isin(common_benchmarks(judged, [tool, other]))]
        rows.append({"tool": tool, "other": other} | _compare(pair[tool], pair[other]))
    return pd.DataFrame(rows, columns=PAIR_COLUMNS)


def _compare(times: pd.Series, others: pd.Series) -> dict[str, Any]:
    from scipy import stats

    first, second = times.notna(), others.notna()
    both, either = int((first & second).sum()), int((first | second).sum())
    only = int((first & ~second).sum()), int((second & ~first).sum())
    ratio, low, high = _time_ratio(times, others)
    return {
        "n": len(times),
        "both": both,
        "only_tool": only[0],
        "only_other": only[1],
        "neither": len(times) - either,
        "jaccard": _jaccard(times, others),
        "time_ratio": ratio,
        "ratio_low": low,
        "ratio_high": high,
        "spearman": _spearman(times, others),
        "mcnemar_p": float(stats.binomtest(only[0], sum(only)).pvalue) if sum(only) else 1.0,
    }


def _jaccard(times: pd.Series, others: pd.Series) -> float:
    either = (times.notna() | others.notna()).sum()
    return float((times.notna() & others.notna()).sum() / either) if either else np.nan


def _time_ratio(times: pd.Series, others: pd.Series) -> tuple[float, float, float]:
    """Return the median ratio of times on what both solved, and its interval."""
    from scipy import stats

    clipped = times.clip(lower=SMALLEST_S), others.clip(lower=SMALLEST_S)
    logs = (np.log(clipped[0]) - np.log(clipped[1])).dropna().to_numpy()
    if not len(logs):
        return np.nan, np.nan, np.nan
    interval = stats.quantile_test(logs, q=0.0, p=0.5).confidence_interval(CONFIDENCE)
    low, high = np.exp([interval.low, interval.high])
    return float(np.exp(np.median(logs))), float(low), float(high)


def _spearman(times: pd.Series, others: pd.Series) -> float:
    from scipy import stats

    both = times.notna() & others.notna()
    first, second = times[both], others[both]
    if len(first) < _LEAST_FOR_RANKS or min(first.nunique(), second.nunique()) == 1:
        return np.nan
    return float(stats.spearmanr(first, second).statistic)


def pair_instances(judged: pd.DataFrame, tool: str, other: str) -> pd.DataFrame:
    """List every instance that exactly one of two tools solved.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tool, other : str
        The two tools.

    Returns
    -------
    DataFrame
        Columns benchmark, index, instance, solved_by (the tool that did), tool_result and
        other_result, tool_verdict and other_verdict, tool_s and other_s (raw run times in
        seconds); missing where a tool has no row. In the order of the benchmarks in the rows,
        then by index.
    """
    table = judged[["benchmark", "index", "instance"]].drop_duplicates(INSTANCE)
    for name, side in ((tool, "tool"), (other, "other")):
        rows = judged.loc[judged["tool"] == name, [*INSTANCE, "result", "verdict", "run_s"]]
        names = {"result": f"{side}_result", "verdict": f"{side}_verdict", "run_s": f"{side}_s"}
        own = rows.rename(columns=names)
        table = table.merge(own, how="left", on=INSTANCE, validate="one_to_one")
    first = table["tool_verdict"] == Verdict.CORRECT
    second = table["other_verdict"] == Verdict.CORRECT
    place = pd.factorize(table["benchmark"])[0]
    table = table.assign(place=place, solved_by=np.where(first, tool, other))[first != second]
    ordered = table.sort_values(["place", "index"], kind="stable", ignore_index=True)
    return ordered[PAIR_INSTANCE_COLUMNS]


def _matrix(
    judged: pd.DataFrame, tools: Sequence[str], similarity: Callable[[pd.Series, pd.Series], float]
) -> pd.DataFrame:
    times = run_times(judged, tools)
    matrix = pd.DataFrame(np.eye(len(tools)), index=list(tools), columns=list(tools))
    for tool, other in itertools.combinations(tools, 2):
        value = similarity(times[tool], times[other])
        matrix.loc[tool, other] = matrix.loc[other, tool] = value
    return matrix


def jaccard_matrix(judged: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    """Return how much of what either of two tools solved both solved.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`, or a selection of its rows.
    tools : sequence of str
        The tools, in the order of rows and columns.

    Returns
    -------
    DataFrame of float, shape (n_tools, n_tools)
        Between 0 and 1; 1 on the diagonal, missing where neither solved any.
    """
    return _matrix(judged, tools, _jaccard)


def spearman_matrix(judged: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    """Return the rank correlation of two tools' corrected times on what both solved.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`, or a selection of its rows.
    tools : sequence of str
        The tools, in the order of rows and columns.

    Returns
    -------
    DataFrame of float, shape (n_tools, n_tools)
        Between -1 and 1; 1 on the diagonal, missing where both solved fewer than 3 instances
        or one's times on them are all equal.
    """
    return _matrix(judged, tools, _spearman)


def clustered(matrix: pd.DataFrame) -> tuple[list[str], np.ndarray]:
    """Cluster tools by a matrix of similarities, for a dendrogram.

    Average linkage of 1 - similarity; what is missing counts as similarity 0. Of the orders
    that the tree allows, the leaves have the one in which neighbours are most similar.

    Parameters
    ----------
    matrix : DataFrame of float, shape (n_tools, n_tools)
        From `jaccard_matrix` or `spearman_matrix`.

    Returns
    -------
    list of str
        The tools in the order of the dendrogram's leaves.
    ndarray of float, shape (n_tools - 1, 4)
        Linkage as of `scipy.cluster.hierarchy.linkage`; the tools are numbered as in `matrix`.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    names = [str(name) for name in matrix.index]
    if len(names) < 2:
        return names, np.empty((0, 4))
    distance = 1 - matrix.fillna(0.0).to_numpy()
    condensed = squareform(distance.clip(min=0.0), checks=False)
    tree = linkage(condensed, method="average", optimal_ordering=True)
    return [names[i] for i in leaves_list(tree)], tree
