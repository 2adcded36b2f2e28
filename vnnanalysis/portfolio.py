"""What each tool adds to the others: solved, unique, marginal, Shapley, VBS.

All of it takes judged rows; a subset of tools is a subset of columns and never votes again.
"""

from collections.abc import Sequence

import pandas as pd

from vnnanalysis.layouts import INSTANCE
from vnnanalysis.terms import Verdict


def solved_matrix(judged: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    """Return which tool solved which instance.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The tools, in the order of the columns.

    Returns
    -------
    DataFrame of bool, shape (n_instances, n_tools)
        Index benchmark and instance, in the order of the rows.
    """
    correct = (judged["verdict"] == Verdict.CORRECT).rename("solved")
    rows = pd.concat([judged[[*INSTANCE, "tool"]], correct], axis=1)
    order = pd.MultiIndex.from_frame(rows[INSTANCE].drop_duplicates())
    wide = rows.pivot_table(index=INSTANCE, columns="tool", values="solved", aggfunc="any")
    return wide.reindex(index=order, columns=list(tools)).eq(True)


def _check_bool(solved: pd.DataFrame) -> None:
    if not all(pd.api.types.is_bool_dtype(dtype) for dtype in solved.dtypes):
        raise ValueError("solved must hold booleans only")


def unique_solves(solved: pd.DataFrame) -> pd.Series:
    """Count the instances that a tool alone solved.

    Parameters
    ----------
    solved : DataFrame of bool, shape (n_instances, n_tools)

    Returns
    -------
    Series of int, shape (n_tools,)
    """
    _check_bool(solved)
    return solved[solved.sum(axis=1) == 1].sum()


def marginal_contribution(solved: pd.DataFrame) -> pd.Series:
    """Instances the VBS of all tools solves and the VBS without the tool does not.

    Parameters
    ----------
    solved : DataFrame of bool, shape (n_instances, n_tools)

    Returns
    -------
    Series of int, shape (n_tools,)
        Equal to `unique_solves`, where worth is the number of instances solved.

    Examples
    --------
    >>> solved = pd.DataFrame({"a": [True, True], "b": [True, False]})
    >>> marginal_contribution(solved).tolist()
    [1, 0]
    """
    _check_bool(solved)
    worth = solved.any(axis=1).sum()
    without = {tool: solved.drop(columns=tool).any(axis=1).sum() for tool in solved.columns}
    return pd.Series({tool: int(worth - rest) for tool, rest in without.items()}, dtype=int)


def relative_marginal_contribution(solved: pd.DataFrame) -> pd.Series:
    """Return a tool's share of all tools' marginal contributions; 0 where their sum is 0.

    Source: Koenig et al., "Critically Assessing the State of the Art in Neural Network
    Verification", JMLR 2024.
    """
    marginal = marginal_contribution(solved)
    total = marginal.sum()
    return marginal / total if total else marginal.astype(float)


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
    _check_bool(solved)
    n_solvers = solved.sum(axis=1)
    return solved.div(n_solvers.where(n_solvers > 0, 1), axis=0).sum()


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
    _check_bool(solved)
    if not set(solved.columns) <= set(periods.dropna().index):
        raise ValueError("every tool needs a period")
    parts, is_open = [], pd.Series(True, solved.index)
    for period in sorted(set(periods[solved.columns])):
        names = [tool for tool in solved.columns if periods[tool] == period]
        fresh = solved[names].where(is_open, False)
        parts.append(shapley_value(fresh))
        is_open &= ~fresh.any(axis=1)
    return pd.concat(parts).reindex(solved.columns)


def average_time(judged: pd.DataFrame, tools: Sequence[str]) -> pd.Series:
    """Mean run time over the instances that at least one of the tools solved, in seconds.

    An instance that a tool did not solve counts as its time limit, without a penalty. Where
    none is solvable, every tool's mean is that of the limits.

    Source: Koenig et al., SafeAI 2023, section 5 ("average running time").

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`; every instance has a `timeout_s`.
    tools : sequence of str
        The tools.

    Returns
    -------
    Series of float, shape (n_tools,)

    Raises
    ------
    ValueError
        If the limit of an instance is not known.
    """
    limits = judged.drop_duplicates(INSTANCE).set_index(INSTANCE)["timeout_s"]
    if limits.isna().any():
        raise ValueError(f"{limits.isna().sum()} instances have no time limit")
    solved = solved_matrix(judged, tools)
    times = judged.pivot_table(index=INSTANCE, columns="tool", values="run_s", aggfunc="min")
    times = times.reindex(index=solved.index, columns=list(tools)).where(solved)
    filled = times.apply(lambda column: column.fillna(limits))
    solvable = solved.any(axis=1)
    return (filled[solvable] if solvable.any() else filled).mean()


def portfolio_solves(judged: pd.DataFrame, tools: Sequence[str], limit_s: float) -> int:
    """Count the instances that tools running side by side solve, each within a time limit.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The tools of the portfolio.
    limit_s : float
        Seconds for each tool; with a budget of c seconds for k tools, c / k.
    """
    in_time = judged[judged["tool"].isin(tools) & (judged["run_s"] <= limit_s)]
    return int(solved_matrix(in_time, tools).any(axis=1).sum())


def virtual_best_solver(judged: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    """Return the fastest correct answers to every instance that some tool solved.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The tools to choose from.

    Returns
    -------
    DataFrame
        Columns benchmark, instance, tool, result, corrected_s (seconds) and share: one row
        for each of the k tools that are equally fast on an instance, with share 1/k.
    """
    solved = judged[(judged["verdict"] == Verdict.CORRECT) & judged["tool"].isin(tools)]
    times = solved["corrected_s"].groupby([solved[c] for c in INSTANCE], sort=False)
    best = solved[solved["corrected_s"] == times.transform("min")]
    ties = best.groupby(INSTANCE, sort=False)["tool"].transform("size")
    columns = [*INSTANCE, "tool", "result", "corrected_s", "share"]
    return best.assign(share=1 / ties)[columns].reset_index(drop=True)


def vbs_choices(vbs: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    """Count how often the virtual best solver chooses each tool; equally fast tools share.

    Parameters
    ----------
    vbs : DataFrame
        From `virtual_best_solver`.
    tools : sequence of str
        The tools it chose from.

    Returns
    -------
    DataFrame
        Columns tool, unsat, sat, chosen, percent; most often chosen first.
    """
    shares = vbs.pivot_table(index="tool", columns="result", values="share", aggfunc="sum")
    table = shares.reindex(index=list(tools), columns=["unsat", "sat"]).fillna(0.0)
    table["chosen"] = table.sum(axis=1)
    table["percent"] = 100 * table["chosen"] / max(vbs["share"].sum(), 1)
    table = table.rename_axis(index="tool", columns=None).reset_index()
    return table.sort_values("chosen", ascending=False, kind="stable", ignore_index=True)


def complementarity(
    judged: pd.DataFrame, tools: Sequence[str], *, by_benchmark: bool = False
) -> pd.DataFrame:
    """Compare what the tools solve, alone and together.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The tools to compare.
    by_benchmark : bool
        One block per benchmark, of the tools that take part in it, instead of one block
        over all instances.

    Returns
    -------
    DataFrame
        Columns [benchmark,] tool, solved, unique, marginal, rmc, shapley and vbs_share (how
        often the VBS chooses the tool; equally fast ones share); most valuable first.
    """
    if not by_benchmark:
        return _complementarity(judged, tools)
    blocks = []
    for benchmark, rows in judged.groupby("benchmark", sort=False):
        present = set(rows.loc[rows["takes_part"], "tool"])
        block = _complementarity(rows, [tool for tool in tools if tool in present])
        block.insert(0, "benchmark", benchmark)
        blocks.append(block)
    return pd.concat(blocks, ignore_index=True)


def _complementarity(judged: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    solved = solved_matrix(judged, tools)
    first = virtual_best_solver(judged, tools).groupby("tool")["share"].sum()
    table = pd.DataFrame(
        {
            "solved": solved.sum(),
            "unique": unique_solves(solved),
            "marginal": marginal_contribution(solved),
            "rmc": relative_marginal_contribution(solved),
            "shapley": shapley_value(solved),
            "vbs_share": first.reindex(tools, fill_value=0.0),
        }
    )
    table = table.rename_axis("tool").reset_index()
    return table.sort_values("shapley", ascending=False, kind="stable", ignore_index=True)
