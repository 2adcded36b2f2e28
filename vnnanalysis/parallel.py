"""Parallel portfolios: tools that run side by side and share an instance's time limit.

Each of k tools has limit / k, and must answer within it by its raw run time (``run_s``): a
portfolio has to start its tools, so no overhead is subtracted.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from vnnanalysis.editions import split_tools
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.portfolio import solved_matrix
from vnnanalysis.terms import Verdict
from vnnanalysis.times import gap_closed, limits

PORTFOLIO_COLUMNS = ["size", "tools", "solved", "gain", "gap_closed", "n_optima", "method"]
MEMBER_COLUMNS = ["size", "tools", "tool", "solved", "lost_without"]
EXACT = "exact"
GREEDY = "greedy"
_BETWEEN = ", "


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


def is_shareable(judged: pd.DataFrame) -> bool:
    """Tell whether every instance has a time limit that tools could share."""
    return bool(limits(judged).notna().all())


def share_in_words(judged: pd.DataFrame) -> str:
    """Say for a caption what each of k tools has, and why."""
    if is_shareable(judged):
        return "each of k tools within a k-th of the time limit, by raw run time"
    n = int(limits(judged).isna().sum())
    return f"each tool with the whole time limit, since {n} of the limits are not known"


def together(judged: pd.DataFrame, tools: Sequence[str], *, is_shared: bool = True) -> int:
    """Count what all tools solve, each with the whole limit: what `gap_closed` measures by."""
    return int(_solved(judged, tools, 1, is_shared=is_shared).any(axis=1).sum())


def up_to_best(portfolios: pd.DataFrame) -> pd.DataFrame:
    """Leave out the optima, but the first, of sizes beyond the first that solves most."""
    best = portfolios.loc[portfolios["solved"] == portfolios["solved"].max(), "size"].min()
    is_first = ~portfolios.duplicated("size")
    return portfolios[(portfolios["size"] <= best) | is_first].reset_index(drop=True)


def solved_in_share(judged: pd.DataFrame, tools: Sequence[str], k: int) -> pd.DataFrame:
    """Return which tool solved which instance within a k-th of the instance's limit.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`; every instance has a `timeout_s`.
    tools : sequence of str
        The tools, in the order of the columns.
    k : int
        How many tools share the limit.

    Returns
    -------
    DataFrame of bool, shape (n_instances, n_tools)
        Index benchmark and instance, in the order of the rows.

    Raises
    ------
    ValueError
        If the limit of an instance is not known.
    """
    caps = limits(judged)
    if caps.isna().any():
        raise ValueError(f"{caps.isna().sum()} instances have no time limit to share")
    share = caps.reindex(pd.MultiIndex.from_frame(judged[INSTANCE])).to_numpy() / k
    verdict = judged["verdict"].where(judged["run_s"] <= share, str(Verdict.UNSOLVED))
    return solved_matrix(judged.assign(verdict=verdict), tools)


def _solved(
    judged: pd.DataFrame, tools: Sequence[str], size: int, *, is_shared: bool
) -> pd.DataFrame:
    return solved_in_share(judged, tools, size) if is_shared else solved_matrix(judged, tools)


def best_portfolios(
    judged: pd.DataFrame,
    tools: Sequence[str],
    *,
    is_shared: bool = True,
    exact_up_to: int = 20,
    most_listed: int = 1000,
) -> pd.DataFrame:
    """Find the parallel portfolios of every size that solve most instances.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The tools to choose from.
    is_shared : bool
        Whether the k tools of a portfolio have limit / k each, by raw run time (one machine).
        Otherwise each has the whole limit (k machines): what it solved as judged.
    exact_up_to : int
        With at most so many tools, all subsets are tried. With more, every portfolio is built
        by adding, one by one, the tool (the first of equal ones) that adds most within the
        share of its size: good, not always best.
    most_listed : int
        How many of the best portfolios of a size are listed.

    Returns
    -------
    DataFrame
        One row per portfolio, by size and then in the order of `tools`. Columns size, tools,
        solved, gain (over the best of one tool less, negative where a smaller share costs
        more), gap_closed (from the best single tool to all tools, each with the full limit;
        missing where they solve equally many), n_optima (how many are best, listed or not; 1
        if greedy) and method (exact or greedy).

    Raises
    ------
    ValueError
        If the limit is to be shared, and that of an instance is not known.
    """
    is_exact = len(tools) <= exact_up_to
    rows: list[tuple[int, str, int, int, float, int, str]] = []
    before = single = every = 0
    for size in range(1, len(tools) + 1):
        bits = _bit_sets(_solved(judged, tools, size, is_shared=is_shared))
        chosen, n_optima = _optima(bits, size, most_listed) if is_exact else _greedy(bits, size)
        best = _union(bits, chosen[0]).bit_count()
        if size == 1:
            single, every = best, _union(bits, range(len(tools))).bit_count()
        closed = gap_closed(best, single, every)
        for members in chosen:
            names = _BETWEEN.join(tools[i] for i in members)
            method = EXACT if is_exact else GREEDY
            rows.append((size, names, best, best - before, closed, n_optima, method))
        before = best
    return pd.DataFrame(rows, columns=PORTFOLIO_COLUMNS)


def _bit_sets(solved: pd.DataFrame) -> list[int]:
    """Return the solved instances of every tool as the bits of an integer."""
    packed = np.packbits(solved.to_numpy(), axis=0)
    return [int.from_bytes(column.tobytes(), "big") for column in packed.T]


def _union(bits: Sequence[int], members: Sequence[int]) -> int:
    union = 0
    for i in members:
        union |= bits[i]
    return union


def _subsets(bits: Sequence[int], size: int, spare: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield all subsets in lexicographic order: members, and the union of their bits.

    Each union is that of the members but the last, with the last. `spare` is how many tools
    the whole subset leaves out: what begins too late to be completed is not begun.
    """
    if size == 0:
        yield (), 0
        return
    for members, union in _subsets(bits, size - 1, spare):
        for i in range(members[-1] + 1 if members else 0, spare + size):
            yield (*members, i), union | bits[i]


def _optima(bits: Sequence[int], size: int, most_listed: int) -> tuple[list[tuple[int, ...]], int]:
    """Return the first of the subsets that cover most, and how many there are."""
    best, n_optima = -1, 0
    listed: list[tuple[int, ...]] = []
    for members, union in _subsets(bits, size, len(bits) - size):
        covered = union.bit_count()
        if covered > best:
            best, n_optima, listed = covered, 0, []
        if covered == best:
            n_optima += 1
            if len(listed) < max(most_listed, 1):
                listed.append(members)
    return listed, n_optima


def _greedy(bits: Sequence[int], size: int) -> tuple[list[tuple[int, ...]], int]:
    """Return the subset to which each step adds the tool that adds most."""
    members: list[int] = []
    union = 0
    for _ in range(size):
        left = [i for i in range(len(bits)) if i not in members]
        best = max(left, key=lambda i: (union | bits[i]).bit_count())
        members.append(best)
        union |= bits[best]
    return [tuple(sorted(members))], 1


def members(
    judged: pd.DataFrame, portfolios: pd.DataFrame, *, is_shared: bool = True
) -> pd.DataFrame:
    """Say what each tool does for each portfolio.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    portfolios : DataFrame
        From `best_portfolios`; requires columns size and tools.
    is_shared : bool
        As given to `best_portfolios`.

    Returns
    -------
    DataFrame
        Columns size, tools, tool, solved (by the tool, in its share) and lost_without
        (solved by no other member, each in its share).

    Raises
    ------
    ValueError
        If the limit is to be shared, and that of an instance is not known.
    """
    rows: list[tuple[int, str, str, int, int]] = []
    names = set(judged["tool"])
    for size, listed in portfolios.groupby("size", sort=False):
        groups = [split_tools(tools, names, int(size)) for tools in listed["tools"]]
        known = list(dict.fromkeys(tool for group in groups for tool in group))
        whole = _solved(judged, known, int(size), is_shared=is_shared)
        for tools, group in zip(listed["tools"], groups, strict=True):
            solved = whole[group]
            lost = solved[solved.sum(axis=1) == 1].sum()
            rows += [(size, tools, t, int(solved[t].sum()), int(lost[t])) for t in group]
    return pd.DataFrame(rows, columns=MEMBER_COLUMNS)
