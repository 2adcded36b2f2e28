"""The Shapley value of tools: closed forms, no sampling, no enumeration.

The game: a set of tools is worth, summed over the instances, the best score that one of them
has on it. Scores are 0 or 1 (solved), points, or any measure of speed.
"""

import numpy as np
import pandas as pd


def check_bool(solved: pd.DataFrame) -> None:
    """Refuse anything but booleans, with a ValueError."""
    if not all(pd.api.types.is_bool_dtype(dtype) for dtype in solved.dtypes):
        raise ValueError("solved must hold booleans only")


def shapley_value(solved: pd.DataFrame) -> pd.Series:
    """Share of the VBS's solved instances due to each tool.

    An instance solved by k tools gives 1/k to each of them [1]_.

    Parameters
    ----------
    solved : DataFrame of bool, shape (n_instances, n_tools)
        Whether the tool solved the instance correctly. Columns are tool names.

    Returns
    -------
    Series of float, shape (n_tools,)
        Instances credited to each tool; sums to the instances the VBS solves.

    Raises
    ------
    ValueError
        If `solved` holds anything but booleans.

    References
    ----------
    .. [1] Frechette et al., "Using the Shapley Value to Analyze Algorithm Portfolios",
       AAAI 2016.

    Examples
    --------
    >>> shapley_value(pd.DataFrame({"a": [True, True], "b": [True, False]})).tolist()
    [1.5, 0.5]
    """
    check_bool(solved)
    cells = solved.to_numpy(float)
    n_solvers = cells.sum(axis=1, keepdims=True)
    return pd.Series((cells / np.maximum(n_solvers, 1)).sum(axis=0), solved.columns)


def shapley_of_scores(scores: pd.DataFrame, weights: pd.Series | None = None) -> pd.Series:
    """Share of the VBS's total score due to each tool, for any score.

    On an instance with the scores 0 = m_0 <= m_1 <= ... <= m_n in ascending order, the k-th
    tool has the sum over j <= k of (m_j - m_(j-1)) / (n - j + 1) [1]_: what the better ones
    have in common is shared equally. Negative scores count as 0: a portfolio need not listen
    to a tool.

    Parameters
    ----------
    scores : DataFrame of float, shape (n_instances, n_tools)
        Score of each tool on each instance; columns are tool names.
    weights : Series of float, shape (n_instances,), optional
        Weight of each instance, 1 by default; in the order of the rows.

    Returns
    -------
    Series of float, shape (n_tools,)
        Sums to the (weighted) sum of the best scores, negative ones taken as 0.

    Raises
    ------
    ValueError
        If a score is missing: that a tool did not take part is for the caller to value.

    References
    ----------
    .. [1] Frechette et al., AAAI 2016: the game of the virtual best solver.

    Examples
    --------
    >>> shapley_of_scores(pd.DataFrame({"a": [1.0], "b": [0.5], "c": [-3.0]})).tolist()
    [0.75, 0.25, 0.0]
    """
    values = scores.to_numpy(float)
    if np.isnan(values).any():
        raise ValueError(f"{np.isnan(values).sum()} scores are missing")
    n_instances, n_tools = values.shape
    values = np.maximum(values, 0.0)
    order = np.argsort(values, axis=1, kind="stable")
    steps = np.diff(np.take_along_axis(values, order, axis=1), axis=1, prepend=0.0)
    sharers = np.arange(n_tools, 0, -1)
    shares = np.empty_like(values)
    np.put_along_axis(shares, order, np.cumsum(steps / sharers, axis=1), axis=1)
    weight = np.ones(n_instances) if weights is None else weights.to_numpy(float)
    return pd.Series(weight @ shares, scores.columns)


def temporal_shapley(solved: pd.DataFrame, periods: pd.Series) -> pd.Series:
    """Share of the solved instances due to each tool, when tools of earlier periods come first.

    The Shapley value over the joining orders in which no tool comes before one of an earlier
    period [1]_. An instance that a tool of an earlier period solves gives nothing; one first
    solved in a period is shared equally by those of the period that solve it.

    Parameters
    ----------
    solved : DataFrame of bool, shape (n_instances, n_tools)
        Whether the tool solved the instance. Columns are tools.
    periods : Series, shape (n_tools,)
        Index: the tools; values: when they appeared, in sortable values.

    Returns
    -------
    Series of float, shape (n_tools,)
        Instances credited to each tool; sums to the instances that some tool solves.

    Raises
    ------
    ValueError
        If `solved` holds anything but booleans, or a tool has no period.

    References
    ----------
    .. [1] Kotthoff et al., "Quantifying Algorithmic Improvements over Time", IJCAI 2018.

    Examples
    --------
    >>> solved = pd.DataFrame({"old": [True, False], "new": [True, True]})
    >>> temporal_shapley(solved, pd.Series({"old": 2021, "new": 2022})).tolist()
    [1.0, 1.0]
    """
    check_bool(solved)
    return temporal_shapley_of_scores(solved.astype(float), periods)


def temporal_shapley_of_scores(scores: pd.DataFrame, periods: pd.Series) -> pd.Series:
    """Share of the total score due to each tool, when tools of earlier periods come first.

    Within a period `shapley_of_scores` of what a score is above the best earlier one.

    Parameters
    ----------
    scores : DataFrame of float, shape (n_instances, n_tools)
        Score of each tool on each instance.
    periods : Series, shape (n_tools,)
        Index: the tools; values: when they appeared, in sortable values.

    Returns
    -------
    Series of float, shape (n_tools,)
        Sums to the sum of the best scores, negative ones taken as 0.

    Raises
    ------
    ValueError
        If a score is missing, or a tool has no period.
    """
    if not set(scores.columns) <= set(periods.dropna().index):
        raise ValueError("every tool needs a period")
    parts, best = [], np.zeros((len(scores), 1))
    for period in sorted(set(periods[scores.columns])):
        names = [tool for tool in scores.columns if periods[tool] == period]
        parts.append(shapley_of_scores(scores[names] - best))
        best = np.maximum(best, scores[names].to_numpy(float).max(axis=1, keepdims=True))
    return pd.concat(parts).reindex(scores.columns)
