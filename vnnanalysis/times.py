"""Run times of tools in one number: means, PAR, shifted geometric mean, share of the limit left.

One clock for all of them: ``corrected_s``, the run time after the overhead and the floor of
the rules. Every measure takes judged rows, and all tools are measured on the same instances:
those of the rows, also where a tool has no row or did not take part.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from vnnanalysis.layouts import INSTANCE
from vnnanalysis.terms import Unsolved, Verdict

SHIFT_S = 10.0
TIME_NAMES = {
    "avg_time_s": "average time",
    "par2_s": "PAR2",
    "par10_s": "PAR10",
    "par2_share": "PAR2 per limit",
    "sgm_s": "shifted geometric mean",
    "solved_s": "mean when solved",
}
MEASURES = ("solved", "avg_time_s", "par2_s", "sgm_s")


def run_times(judged: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    """Return how long each tool took for each instance that it solved.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The tools, in the order of the columns.

    Returns
    -------
    DataFrame of float, shape (n_instances, n_tools)
        Corrected time in seconds, missing where the tool has no correct answer. Index
        benchmark and instance, in the order of the rows.
    """
    correct = judged[(judged["verdict"] == Verdict.CORRECT) & judged["tool"].isin(tools)]
    wide = correct.pivot_table(index=INSTANCE, columns="tool", values="corrected_s", aggfunc="min")
    order = pd.MultiIndex.from_frame(judged[INSTANCE].drop_duplicates())
    return wide.reindex(index=order, columns=list(tools)).astype(float)


def limits(judged: pd.DataFrame) -> pd.Series:
    """Return the time limit of every instance.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.

    Returns
    -------
    Series of float, shape (n_instances,)
        Seconds, missing where no row of the instance has a limit; the longest where they
        differ. Index benchmark and instance, in the order of the rows.
    """
    return judged.groupby(INSTANCE, sort=False)["timeout_s"].max().astype(float)


def _check_limits(caps: pd.Series) -> None:
    if caps.isna().any():
        raise ValueError(f"{caps.isna().sum()} instances have no time limit")


def _filled(times: pd.DataFrame, caps: pd.Series, unsolved: str, factor: float) -> pd.DataFrame:
    """Put in what an unsolved instance counts, in seconds; missing where it is left out."""
    if unsolved == Unsolved.LEFT_OUT:
        return times
    _check_limits(caps)
    multiple = {Unsolved.LIMIT: 1.0, Unsolved.PENALISED: factor}[Unsolved(unsolved)]
    return times.where(times.notna(), multiple * caps, axis="index")


def _solvable(times: pd.DataFrame) -> pd.Series:
    """Mark the instances to average over: those that some tool solved, else all."""
    solvable = times.notna().any(axis="columns")
    return solvable | (not solvable.any())


def _mean(
    times: pd.DataFrame,
    caps: pd.Series,
    unsolved: str = Unsolved.LIMIT,
    *,
    factor: float = 2.0,
    normalised: bool = False,
    solvable_only: bool = False,
) -> pd.Series:
    filled = _filled(times, caps, unsolved, factor)
    if normalised:
        _check_limits(caps)
        filled = filled.div(caps, axis="index")
    return (filled[_solvable(times)] if solvable_only else filled).mean()


def _geometric(times: pd.DataFrame, caps: pd.Series, shift_s: float, unsolved: str) -> pd.Series:
    with np.errstate(divide="ignore"):  # no shift, and a time of 0: the mean is 0
        logs = np.log(_filled(times, caps, unsolved, 2.0) + shift_s)
    return np.exp(logs.mean()) - shift_s


def mean_time(
    judged: pd.DataFrame,
    tools: Sequence[str],
    *,
    unsolved: Unsolved = Unsolved.LIMIT,
    factor: float = 2.0,
    normalised: bool = False,
    solvable_only: bool = False,
) -> pd.Series:
    """Return each tool's mean run time.

    A correct answer after its limit, under rules that do not enforce limits, keeps its time.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The tools.
    unsolved : Unsolved
        What an instance counts that a tool did not solve.
    factor : float
        How many times the limit, where unsolved instances are penalised.
    normalised : bool
        Whether a time is a share of its instance's limit, so that long limits weigh no more.
    solvable_only : bool
        Average over the instances that at least one of the tools solved; over all where
        there are none.

    Returns
    -------
    Series of float, shape (n_tools,)
        Seconds, or shares of the limit; missing for a tool with nothing to average.

    Raises
    ------
    ValueError
        If limits are needed and that of an instance is not known.
    """
    return _mean(
        run_times(judged, tools), limits(judged), unsolved,
        factor=factor, normalised=normalised, solvable_only=solvable_only,
    )  # fmt: skip


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
    return mean_time(judged, tools, solvable_only=True)


def par(
    judged: pd.DataFrame, tools: Sequence[str], k: float = 2.0, *, normalised: bool = False
) -> pd.Series:
    """Penalised average run time (PAR-k): an unsolved instance counts k times its limit.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`; every instance has a `timeout_s`.
    tools : sequence of str
        The tools.
    k : float
        The penalty.
    normalised : bool
        Whether a time is a share of its instance's limit; an unsolved instance counts k.

    Returns
    -------
    Series of float, shape (n_tools,)
        Over all instances, in seconds or shares of the limit.

    Raises
    ------
    ValueError
        If the limit of an instance is not known.
    """
    return mean_time(judged, tools, unsolved=Unsolved.PENALISED, factor=k, normalised=normalised)


def shifted_geometric_mean(
    judged: pd.DataFrame,
    tools: Sequence[str],
    *,
    shift_s: float = SHIFT_S,
    unsolved: Unsolved = Unsolved.LIMIT,
) -> pd.Series:
    """Geometric mean of time plus shift, less the shift: neither long nor tiny times decide.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The tools.
    shift_s : float
        The shift, in seconds; not negative.
    unsolved : Unsolved
        What an instance counts that a tool did not solve; penalised, twice its limit.

    Returns
    -------
    Series of float, shape (n_tools,)
        Seconds, over all instances; missing for a tool with nothing to average.

    Raises
    ------
    ValueError
        If the shift is negative, or limits are needed and that of an instance is not known.
    """
    if shift_s < 0:
        raise ValueError(f"expected a shift of at least 0 s, found {shift_s:g} s")
    return _geometric(run_times(judged, tools), limits(judged), shift_s, unsolved)


def speed_scores(judged: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    """Return the share of the limit that was left: 1 - t / limit for a correct answer.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`; every instance has a `timeout_s`.
    tools : sequence of str
        The tools, in the order of the columns.

    Returns
    -------
    DataFrame of float, shape (n_instances, n_tools)
        Between 0 and 1; 0 for a correct answer after its limit, and for anything else. Index
        benchmark and instance, in the order of the rows.

    Raises
    ------
    ValueError
        If the limit of an instance is not known.
    """
    caps = limits(judged)
    _check_limits(caps)
    return (1 - run_times(judged, tools).div(caps, axis="index")).clip(lower=0.0).fillna(0.0)


def _measures(times: pd.DataFrame, caps: pd.Series) -> dict[str, pd.Series]:
    """Return the columns of `time_table`; missing where they need a limit that is not known."""
    table = {"n_solved": times.notna().sum()}
    if caps.notna().all():
        table |= {
            "avg_time_s": _mean(times, caps, solvable_only=True),
            "par2_s": _mean(times, caps, Unsolved.PENALISED),
            "par10_s": _mean(times, caps, Unsolved.PENALISED, factor=10.0),
            "par2_share": _mean(times, caps, Unsolved.PENALISED, normalised=True),
            "sgm_s": _geometric(times, caps, SHIFT_S, Unsolved.LIMIT),
        }
    table["solved_s"] = _mean(times, caps, Unsolved.LEFT_OUT)
    nothing = pd.Series(np.nan, index=times.columns)
    return {column: table.get(column, nothing) for column in ("n_solved", *TIME_NAMES)}


def time_table(judged: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    """Put the measures of run time side by side; `time_notes` says what they are.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The tools, in the order of the rows.

    Returns
    -------
    DataFrame
        Columns tool, n_solved, avg_time_s (`average_time`), par2_s, par10_s, par2_share (PAR2
        of shares of the limit), sgm_s (`shifted_geometric_mean`) and solved_s (mean over what
        the tool solved). All but n_solved and solved_s are missing where the limit of any
        instance is not known.
    """
    table = pd.DataFrame(_measures(run_times(judged, tools), limits(judged)))
    return table.rename_axis(index="tool", columns=None).reset_index()


def time_notes(judged: pd.DataFrame, tools: Sequence[str]) -> list[str]:
    """Say what the columns of `time_table` are, for a caption.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The tools that are compared.

    Returns
    -------
    list of str
        Sentences with what an unsolved instance counts, the number n of instances averaged
        over, and the shift; or how many instances have no limit, and which columns are empty.
    """
    times, caps = run_times(judged, tools), limits(judged)
    n, names = len(times), {c: name[0].upper() + name[1:] for c, name in TIME_NAMES.items()}
    notes = [
        "Times are run times after the overhead and the floor of the rules; a correct answer "
        "after its limit keeps its time.",
        "A benchmark in which a tool did not take part counts as unsolved by it.",
        f"{names['solved_s']}: mean over the instances that the tool itself solved "
        "(n is its number solved); unsolved instances are left out.",
    ]
    if unknown := int(caps.isna().sum()):
        empty = [name for column, name in TIME_NAMES.items() if column != "solved_s"]
        listed = f"{', '.join(empty[:-1])} and {empty[-1]}"
        return [*notes, f"{unknown} of {n} instances have no known limit: {listed} are empty."]
    n_solvable = int(times.notna().any(axis="columns").sum())
    chosen = f"the n = {n_solvable} instances that at least one of the tools solved"
    chosen = chosen if n_solvable else f"all n = {n} instances, as none of the tools solved any"
    return [
        *notes,
        f"{names['avg_time_s']}: mean over {chosen}; unsolved counts as the limit.",
        f"PAR2 and PAR10: mean over all n = {n} instances; unsolved counts as 2 and 10 times "
        "the limit.",
        f"{names['par2_share']}: PAR2 of times as shares of the instance's limit, over all "
        f"n = {n} instances; unsolved counts as 2.",
        f"{names['sgm_s']}: shift {SHIFT_S:g} s, over all n = {n} instances; unsolved counts as "
        "the limit.",
    ]


def gap_closed(value: float, sbs: float, vbs: float) -> float:
    """Return which share of the way from the single best solver to the virtual best one it is.

    0 at the single best solver, 1 at the virtual best one, NaN where they are equal.

    Examples
    --------
    >>> gap_closed(15, sbs=10, vbs=20), gap_closed(10, sbs=10, vbs=10)
    (0.5, nan)
    """
    return float((value - sbs) / (vbs - sbs)) if vbs != sbs else float("nan")


def best_solvers(judged: pd.DataFrame, tools: Sequence[str]) -> pd.DataFrame:
    """Compare the single best solver (SBS) with the virtual best one (VBS), by measure.

    The VBS takes on every instance the time of the fastest correct tool, and is measured on
    the same instances, with the same policies, as the tools.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tools : sequence of str
        The tools to choose from.

    Returns
    -------
    DataFrame
        Columns measure (of `MEASURES`, without those that need a limit that is not known),
        sbs_tool (all the best, in the order of `tools`), sbs and vbs.
    """
    times, caps = run_times(judged, tools), limits(judged)
    single = _measures(times, caps)
    virtual = _measures(times.min(axis="columns").to_frame(), caps)
    rows: list[dict[str, Any]] = []
    for measure in MEASURES if caps.notna().all() else MEASURES[:1]:
        column = "n_solved" if measure == "solved" else measure
        values = single[column]
        best = values.max() if measure == "solved" else values.min()
        names = values.index[np.isclose(values, best, rtol=1e-12, atol=0.0)]
        row = {"measure": measure, "sbs_tool": ", ".join(names), "sbs": float(best)}
        rows.append(row | {"vbs": float(virtual[column].iloc[0])})
    return pd.DataFrame(rows, columns=["measure", "sbs_tool", "sbs", "vbs"])
