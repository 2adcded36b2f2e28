"""What the validated counterexamples of an edition tell: frames for notebooks and reports."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from vnnanalysis.editions import Edition
from vnnanalysis.evaluate import TOLERANCE
from vnnanalysis.judging import judge
from vnnanalysis.layouts import INSTANCE, WITNESS
from vnnanalysis.load import Contest
from vnnanalysis.rules import ScoringRules
from vnnanalysis.tasks import ENGINE, Status, needs, needs_on_inputs
from vnnanalysis.terms import Check, Conflicts, Outputs, Tolerance
from vnnanalysis.validate import verdict_table
from vnnanalysis.verdicts import NAMED, WitnessRules, verdicts

EXACTLY, MORE, NEVER = "exactly", f"over {TOLERANCE:.0e}", "none"
_DECADES = [10.0**e for e in range(-12, -3)]


def validation_in_words(contest: Contest, benchmarks: Iterable[str] = ()) -> list[str]:
    """State how many counterexamples were validated here, and where files are absent.

    Parameters
    ----------
    contest : Contest
        The contest.
    benchmarks : iterable of str
        The benchmarks to speak of; all by default.

    Returns
    -------
    list of str
        Empty if none was to be validated.
    """
    measured = _of(contest.measurements, benchmarks)
    if measured.empty:
        return []
    status = measured["status"]
    n_known = int((~status.isin([str(s) for s in _OPEN])).sum())
    told = [f"The counterexamples of {n_known} sats were validated here ({ENGINE})."]
    if not n_known:
        told = ["No counterexample could be validated here."]
    for wanted, how in _OPEN.items():
        rows = measured[status == wanted]
        if len(rows):
            told.append(f"{_those(rows, contest.edition)} {how}{_stands(rows, contest.checks)}.")
    return told


_OPEN = {
    Status.NOT_AVAILABLE: "could not be, because files are absent or damaged here",
    Status.UNSUPPORTED: "cannot be checked (network or property)",
}


def _those(rows: pd.DataFrame, edition: Edition) -> str:
    """Count sats by benchmark."""
    counts = rows.groupby("benchmark", sort=False).size()
    names = ", ".join(f"{edition.benchmark_name(str(b))} {n}" for b, n in counts.items())
    return f"Those of {len(rows)} ({names})"


def _stands(rows: pd.DataFrame, checks: pd.DataFrame) -> str:
    """Say for how many of the sats a verdict is known from elsewhere."""
    known = checks[~checks["verdict"].isin([str(s) for s in _OPEN])]
    elsewhere = pd.MultiIndex.from_frame(rows[WITNESS]).isin(
        pd.MultiIndex.from_frame(known[WITNESS])
    )
    n_known = int(elsewhere.sum())
    return f"; for {n_known} of them a verdict is known from elsewhere and stands" * (n_known > 0)


def _of(measured: pd.DataFrame, benchmarks: Iterable[str]) -> pd.DataFrame:
    names = list(benchmarks)
    return measured[measured["benchmark"].isin(names)] if names else measured


def judged_witnesses(
    contest: Contest, rules: ScoringRules, benchmarks: Iterable[str], tools: Iterable[str]
) -> pd.DataFrame:
    """Judge the validated counterexamples of some benchmarks and tools.

    Returns
    -------
    DataFrame
        Columns `validate.VERDICT_COLUMNS`.
    """
    measured = _of(contest.measurements, benchmarks)
    return verdict_table(measured[measured["tool"].isin(list(tools))], WitnessRules.of(rules))


def needed_tolerances(
    contest: Contest, rules: ScoringRules, benchmarks: Iterable[str], tools: Iterable[str]
) -> pd.DataFrame:
    """Count the counterexamples by the smallest tolerance that accepts them.

    By the outputs and bounds that the rules look at: the tolerance on inputs and outputs
    alike, or, where the network's own outputs count, on inputs.

    Returns
    -------
    DataFrame
        A row per decade, from ``exactly`` to more than the rules allow, and one for those
        that no tolerance accepts (claimed outputs that are not the network's, or a condition
        on the network's own outputs that is not met), if there are any; a column per tool.
    """
    measured = _of(contest.measurements, benchmarks)
    measured = measured[measured["status"] == Status.MEASURED]
    own = WitnessRules.of(rules)
    if own.outputs is Outputs.REPLAYED:
        need = measured[needs_on_inputs(own.bounds)]
    else:
        need = measured[needs(own.outputs, own.bounds)]
    labels = [EXACTLY, *(f"up to {d:.0e}" for d in _DECADES), MORE]
    edges = [-np.inf, 0.0, *_DECADES, np.inf]
    differ = verdicts(measured, own) == Check.EXEC_DOESNT_MATCH
    place = pd.cut(need.clip(lower=-1.0), edges, labels=labels).astype("object")
    place = place.mask(differ | (need == np.inf), NEVER)
    table = pd.crosstab(place, measured["tool"])
    names = [tool for tool in tools if tool in table.columns]
    rows = [*labels, *([NEVER] if NEVER in table.index else [])]
    return table.reindex(index=rows, columns=names, fill_value=0)


def by_tool_and_rules(
    contest: Contest, benchmarks: Iterable[str], tools: Iterable[str]
) -> pd.DataFrame:
    """Count every tool's verdicts under the rules of every edition.

    Returns
    -------
    DataFrame
        Columns tool and rules, then one per verdict that occurs.
    """
    measured = _of(contest.measurements, benchmarks)
    parts = [
        pd.DataFrame({"tool": measured["tool"], "rules": name, "verdict": verdicts(measured, own)})
        for name, own in NAMED.items()
    ]
    found = pd.concat(parts)
    words = [str(c) for c in Check if str(c) in set(found["verdict"])]
    table = pd.crosstab([found["tool"], found["rules"]], found["verdict"])
    index = pd.MultiIndex.from_product([tools, list(NAMED)], names=["tool", "rules"])
    present = index[index.get_level_values("tool").isin(set(measured["tool"]))]
    return table.reindex(index=present, columns=words, fill_value=0).reset_index()


def truth_flips(contest: Contest, rules: ScoringRules, benchmarks: Iterable[str]) -> pd.DataFrame:
    """List the instances whose truth depends on how counterexamples are judged.

    Only those all of whose counterexamples were measured: what is known from elsewhere is
    known under one rule set only.

    Parameters
    ----------
    contest : Contest
        The contest.
    rules : ScoringRules
        All other switches; where votes decide, ``per-tool`` takes their place.
    benchmarks : iterable of str
        The benchmarks to look at.

    Returns
    -------
    DataFrame
        Columns benchmark, index, instance, the truth under the rules of every edition, unsat
        and sat (tools); only where they differ. The reading of 2024 under which no
        counterexample proves anything is left out.
    """
    named = {n: own for n, own in NAMED.items() if own.tolerance is not Tolerance.AS_COMMITTED}
    if contest.measurements.empty:
        return pd.DataFrame(columns=["benchmark", "index", "instance", *named, "unsat", "sat"])
    base = rules if rules.conflicts.uses_checks else rules.with_settings(
        {"conflicts": str(Conflicts.PER_TOOL)})  # fmt: skip
    table = pd.DataFrame()
    for name, own in named.items():
        judged = judge(contest.runs, contest.edition, base.with_settings(own.words), contest.checks)
        judged = _of(judged, benchmarks)
        instances = judged.drop_duplicates(INSTANCE)
        if table.empty:
            table = instances[["benchmark", "index", "instance"]].reset_index(drop=True)
            answers = _answers(judged)
        table[name] = instances["truth"].to_numpy()
    first, *others = named
    flips = table[table[others].ne(table[first], axis="index").any(axis="columns")]
    measured = contest.measurements
    absent = measured.loc[measured["status"] == Status.NOT_AVAILABLE, INSTANCE]
    flips = flips[
        pd.MultiIndex.from_frame(flips[INSTANCE]).isin(pd.MultiIndex.from_frame(measured[INSTANCE]))
        & ~pd.MultiIndex.from_frame(flips[INSTANCE]).isin(pd.MultiIndex.from_frame(absent))
    ]
    flips = flips.merge(answers, how="left", on=INSTANCE, validate="one_to_one")
    columns = ["benchmark", "index", "instance", *named, "unsat", "sat"]
    return flips[columns].reset_index(drop=True)


def _answers(judged: pd.DataFrame) -> pd.DataFrame:
    """List the tools that said unsat, and those that said sat, of every instance."""
    counting = judged[judged["excluded"] == ""]
    parts = [
        counting[counting["result"] == answer].groupby(INSTANCE)["tool"].agg(", ".join)
        .rename(answer) for answer in ("unsat", "sat")
    ]  # fmt: skip
    return pd.concat(parts, axis="columns").reset_index()


def worst_offenders(judged: pd.DataFrame, n_rows: int = 20) -> pd.DataFrame:
    """List the counterexamples that are furthest from being valid.

    Parameters
    ----------
    judged : DataFrame
        From `judged_witnesses`.
    n_rows : int
        How many.

    Returns
    -------
    DataFrame
        Columns benchmark, index, tool, verdict, max_rel_diff, input_excess, output_margin.
        Sorted by the largest of the three numbers; those without any are left out.
    """
    valid = (Check.CORRECT, Check.UP_TO_TOLERANCE, Check.NO_CE, Check.NOT_AVAILABLE)
    wrong = judged[~judged["verdict"].isin([str(c) for c in valid])]
    numbers = ["max_rel_diff", "input_excess", "output_margin"]
    ordered = wrong.assign(worst=wrong[numbers].max(axis="columns")).dropna(subset="worst")
    ordered = ordered.sort_values("worst", ascending=False, kind="stable")
    columns = ["benchmark", "index", "tool", "verdict", *numbers]
    return ordered[columns].head(n_rows).reset_index(drop=True)


def doubtful(judged: pd.DataFrame) -> pd.DataFrame:
    """Count the valid counterexamples that another engine, or rounding, might judge otherwise.

    Returns
    -------
    DataFrame
        Columns benchmark, tool, measured, fragile (the output condition is met or missed by
        less than 1e-6), discontinuous (the network has operators that can jump), both.
    """
    rows = judged[judged["output_margin"].notna()]
    jumps = rows["discontinuous"] != ""
    marked = rows.assign(
        measured=1, fragile=rows["fragile"].astype("int64"), discontinuous=jumps.astype("int64"),
        both=(rows["fragile"] & jumps).astype("int64"),
    )  # fmt: skip
    columns = ["measured", "fragile", "discontinuous", "both"]
    table = marked.groupby(["benchmark", "tool"], sort=False)[columns].sum().reset_index()
    return table[table["fragile"] + table["discontinuous"] > 0].reset_index(drop=True)
