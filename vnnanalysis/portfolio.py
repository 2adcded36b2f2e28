"""What each tool adds to the others: solved, unique, marginal, Shapley, VBS.

All of it takes judged rows; a subset of tools is a subset of columns and never votes again.
"""

from collections.abc import Collection, Sequence

import pandas as pd

from vnnanalysis.errors import UsageError
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.shapley import check_bool, shapley_of_scores, shapley_value
from vnnanalysis.terms import Missing, Result, Verdict
from vnnanalysis.times import limits, speed_scores, time_table

READINGS = {Missing.ZERO: "absent = 0", Missing.COMMON: "common benchmarks only"}
CONTRIBUTION = [
    *("tool", "solved", "unique", "marginal", "rmc", "shapley", "avg_time_s", "par2_s"),
    "vbs_share",
]
TIMES = ["tool", "solved", "avg_time_s", "par2_s", "par10_s", "par2_share", "sgm_s", "solved_s"]
COMPLEMENTARITY = [
    *("tool", "solved", "unique", "marginal", "rmc", "shapley", "avg_time_s", "par2_s", "par10_s"),
    *("par2_share", "sgm_s", "solved_s", "vbs_share", "n_solvable", "n"),
]


def common_benchmarks(judged: pd.DataFrame, tools: Sequence[str]) -> list[str]:
    """Return the benchmarks that all the tools take part in, in the order of the rows."""
    present = judged[judged["takes_part"] & judged["tool"].isin(tools)]
    n_tools = present.groupby("benchmark")["tool"].nunique()
    full = set(n_tools.index[n_tools == len(set(tools))])
    return [b for b in dict.fromkeys(judged["benchmark"]) if b in full]


def select_missing(judged: pd.DataFrame, tools: Sequence[str], missing: Missing) -> pd.DataFrame:
    """Return the rows to compare tools on, by what a benchmark counts that one of them skips.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The tools to compare.
    missing : Missing
        ``zero``: all rows; who is absent solves nothing. ``common``: the rows of
        `common_benchmarks`.

    Returns
    -------
    DataFrame
        Without the instances that are left out of scoring for every tool.
    """
    counts = (judged["excluded"] == "").groupby([judged[c] for c in INSTANCE]).transform("any")
    rows = judged[counts]
    if missing is Missing.ZERO:
        return rows
    return rows[rows["benchmark"].isin(common_benchmarks(rows, tools))]


def compared_rows(judged: pd.DataFrame, tools: Sequence[str], missing: Missing) -> pd.DataFrame:
    """Return `select_missing`; a UsageError if there is no benchmark that all take part in."""
    rows = select_missing(judged, tools, missing)
    if rows.empty:
        raise UsageError(
            f"missing=common: no benchmark that all of {', '.join(tools)} take part in; choose "
            "fewer tools"
        )
    return rows


def read_missing(text: str) -> Missing:
    """Read a reading of absent tools: ``zero`` or ``common``; anything else is a UsageError."""
    if text not in list(Missing):
        raise UsageError(f"missing: expected {' or '.join(Missing)}, found {text!r}")
    return Missing(text)


def both_readings(judged: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    """Compare both readings of benchmarks that some tools skip.

    Returns
    -------
    DataFrame
        Columns tool, then n (instances), solved and shapley for either reading ("absent = 0
        / solved"); empty if all tools take part in the same benchmarks, or in none together.
    """
    rows = {missing: select_missing(judged, tools, missing) for missing in Missing}
    table = pd.DataFrame({"tool": list(tools)})
    if rows[Missing.COMMON].empty or len(rows[Missing.COMMON]) == len(rows[Missing.ZERO]):
        return table.head(0)
    for missing, part in rows.items():
        found = _complementarity(part, tools).set_index("tool").loc[list(tools)]
        table[f"{READINGS[missing]} / n"] = len(part.drop_duplicates(INSTANCE))
        for column in ("solved", "shapley"):
            table[f"{READINGS[missing]} / {column}"] = found[column].to_numpy()
    by = f"{READINGS[Missing.ZERO]} / shapley"
    return table.sort_values(by, ascending=False, kind="stable", ignore_index=True)


def missing_in_words(
    judged: pd.DataFrame,
    tools: Sequence[str],
    missing: Missing,
    scored: Collection[str] | None = None,
) -> str:
    """Say for a caption what became of the benchmarks that some tools skip.

    With the scored ones given, also how many there are that do not count in a ranking.
    """
    here = judged.loc[judged["takes_part"] & judged["tool"].isin(tools), "benchmark"]
    n_all = here.nunique()
    n_unscored = 0 if scored is None else here[~here.isin(list(scored))].nunique()
    n_common = len(common_benchmarks(judged, tools))
    counted = "1 benchmark" if n_all == 1 else f"{n_all} benchmarks"
    counted += f" ({n_unscored} of them not scored)" if n_unscored else ""
    if n_common == n_all:
        return f"{counted}, all tools take part in all"
    if missing is Missing.COMMON:
        return f"{n_common} of {counted}: only what all tools take part in (common benchmarks only)"
    return f"{counted}; a tool absent from one solves nothing of it (absent = 0)"


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


def unique_solves(solved: pd.DataFrame) -> pd.Series:
    """Count the instances that a tool alone solved.

    Parameters
    ----------
    solved : DataFrame of bool, shape (n_instances, n_tools)

    Returns
    -------
    Series of int, shape (n_tools,)
    """
    check_bool(solved)
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
    check_bool(solved)
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
    judged: pd.DataFrame,
    tools: Sequence[str],
    *,
    by_benchmark: bool = False,
    missing: Missing = Missing.ZERO,
) -> pd.DataFrame:
    """Compare what the tools solve, alone and together, and how fast.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The tools to compare.
    by_benchmark : bool
        One block per benchmark, of the tools that take part in it, instead of one block
        over all instances.
    missing : Missing
        What a benchmark counts that a tool skips, where there is one block.

    Returns
    -------
    DataFrame
        Columns [benchmark, then] `COMPLEMENTARITY`, with the times of `times.time_table`,
        vbs_share (how often the VBS chooses the tool; equally fast ones share), n_solvable
        (instances that some tool solved, over which average time is taken) and n (all, over
        which the other means are). Most valuable first.
    """
    rows = select_missing(judged, tools, missing)
    if not by_benchmark:
        return _complementarity(rows, tools)
    blocks = []
    for benchmark, part in rows.groupby("benchmark", sort=False):
        present = set(part.loc[part["takes_part"], "tool"])
        block = _complementarity(part, [tool for tool in tools if tool in present])
        block.insert(0, "benchmark", benchmark)
        blocks.append(block)
    if not blocks:
        return pd.DataFrame(columns=["benchmark", *COMPLEMENTARITY])
    return pd.concat(blocks, ignore_index=True)


def _complementarity(judged: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    if judged.empty or not tools:
        return pd.DataFrame(columns=COMPLEMENTARITY)
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
    times = time_table(judged, tools).set_index("tool").drop(columns="n_solved")
    table = table.join(times).rename_axis("tool").reset_index()
    table["n_solvable"], table["n"] = int(solved.any(axis=1).sum()), len(solved)
    table = table[COMPLEMENTARITY]
    return table.sort_values("shapley", ascending=False, kind="stable", ignore_index=True)


def points_matrix(judged: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    """Return the points of each tool on each instance; 0 where it has no row.

    Returns
    -------
    DataFrame of float, shape (n_instances, n_tools)
        Index benchmark and instance, in the order of the rows.
    """
    order = pd.MultiIndex.from_frame(judged[INSTANCE].drop_duplicates())
    wide = judged.pivot_table(index=INSTANCE, columns="tool", values="points", aggfunc="sum")
    return wide.reindex(index=order, columns=list(tools)).fillna(0.0).astype(float)


def shapley_games(
    judged: pd.DataFrame, tools: Sequence[str], missing: Missing = Missing.ZERO
) -> pd.DataFrame:
    """Return Shapley values by what an instance is worth.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The players.
    missing : Missing
        What a benchmark counts that a tool skips.

    Returns
    -------
    DataFrame
        Columns tool; solved (an instance is worth 1), unsat and sat (1, if that is the
        answer), balanced (100 / (instances of the benchmark x benchmarks): percent, every
        benchmark the same), speed (`times.speed_scores`; missing where a limit is not
        known), points (of the rules, negative ones as 0) and penalties (the sum of a tool's
        negative points, which `points` leaves out). Highest value of solved first.
    """
    rows = select_missing(judged, tools, missing)
    columns = ["tool", "solved", "unsat", "sat", "balanced", "speed", "points", "penalties"]
    if rows.empty:
        return pd.DataFrame(columns=columns)
    solved = solved_matrix(rows, tools)
    benchmark = solved.index.get_level_values("benchmark").to_series(index=solved.index)
    weights = 100 / (benchmark.groupby(benchmark).transform("size") * benchmark.nunique())
    points = points_matrix(rows, tools)
    games = {"solved": shapley_value(solved)}
    for answer in (Result.UNSAT, Result.SAT):
        own = solved_matrix(rows[rows["result"] == answer], tools)
        games[str(answer)] = shapley_value(own)
    games["balanced"] = shapley_of_scores(solved.astype(float), weights)
    has_limits = limits(rows).notna().all()
    games["speed"] = (
        shapley_of_scores(speed_scores(rows, tools))
        if has_limits
        else pd.Series(float("nan"), list(tools))
    )
    games["points"] = shapley_of_scores(points)
    games["penalties"] = points.clip(upper=0).sum()
    table = pd.DataFrame(games).rename_axis("tool").reset_index()
    return table.sort_values("solved", ascending=False, kind="stable", ignore_index=True)


def solved_alone(judged: pd.DataFrame, tools: Sequence[str], of: Sequence[str]) -> pd.DataFrame:
    """List the instances that a tool alone solves.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        All tools to compare with.
    of : sequence of str
        Whose instances to list.

    Returns
    -------
    DataFrame
        Columns tool, benchmark, index, instance, result, run_s; in the order of the tools
        and rows.
    """
    correct = judged[(judged["verdict"] == Verdict.CORRECT) & judged["tool"].isin(tools)]
    n_solvers = correct.groupby(INSTANCE)["tool"].transform("nunique")
    alone = correct[(n_solvers == 1) & correct["tool"].isin(of)]
    place = alone["tool"].map({tool: i for i, tool in enumerate(of)})
    alone = alone.assign(place=place).sort_values("place", kind="stable")
    columns = ["tool", "benchmark", "index", "instance", "result", "run_s"]
    return alone[columns].reset_index(drop=True)
