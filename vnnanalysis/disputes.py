"""Conflicts: who said what, and what each policy makes of it."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from vnnanalysis.editions import Edition
from vnnanalysis.judging import is_counting_answer, judge
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.load import Contest
from vnnanalysis.rules import ScoringRules
from vnnanalysis.terms import Check, Result, Verdict

Policies = Mapping[str, pd.DataFrame]


def judge_by_policy(
    contest: Contest, rules: ScoringRules, benchmarks: Iterable[str]
) -> dict[str, pd.DataFrame]:
    """Judge the full field under every conflict policy that the edition compares.

    Parameters
    ----------
    contest : Contest
        From `load.load_contest`.
    rules : ScoringRules
        All switches but the conflict policy; its own policy is judged too.
    benchmarks : iterable of str
        The benchmarks whose rows to return.

    Returns
    -------
    dict of str to DataFrame
        By policy, from `judging.judge`.
    """
    names, edition = list(benchmarks), contest.edition
    compared = edition.variants.get("conflicts", ())
    own = [] if rules.conflicts in compared else [str(rules.conflicts)]
    judged = {
        policy: judge(
            contest.runs, edition, rules.with_settings({"conflicts": policy}), contest.checks
        )
        for policy in [*own, *compared]
    }
    return {policy: rows[rows["benchmark"].isin(names)] for policy, rows in judged.items()}


def dispute_list(judged: Policies, edition: Edition) -> pd.DataFrame:
    """List every instance that some competitors call unsat and others sat.

    Parameters
    ----------
    judged : mapping of str to DataFrame
        From `judge_by_policy`.
    edition : Edition
        For the order of benchmarks.

    Returns
    -------
    DataFrame
        Columns benchmark, index, instance, unsat and sat (tools), and for each policy
        what it takes for the truth.
    """
    first = next(iter(judged.values()))
    disputed = first[_is_disputed(first) & ~first["tool"].isin(edition.extra_tools)]
    table = disputed.drop_duplicates(INSTANCE)[[*INSTANCE, "index"]]
    for answer in (Result.UNSAT, Result.SAT):
        said = disputed[disputed["result"] == answer]
        tools = said.groupby(INSTANCE)["tool"].agg(", ".join).rename(str(answer))
        table = table.merge(tools.reset_index(), how="left", on=INSTANCE, validate="one_to_one")
    for policy, rows in judged.items():
        truth = rows.drop_duplicates(INSTANCE)[[*INSTANCE, "truth"]]
        truth = truth.rename(columns={"truth": policy})
        table = table.merge(truth, how="left", on=INSTANCE, validate="one_to_one")
    place = table["benchmark"].map({b: i for i, b in enumerate(edition.benchmarks)})
    table = table.assign(place=place).sort_values(["place", "index"], kind="stable")
    columns = ["benchmark", "index", "instance", "unsat", "sat", *judged]
    return table[columns].reset_index(drop=True)


def penalties(judged: Policies, tools: Sequence[str]) -> pd.DataFrame:
    """Count every tool's disputed answers, and those that each policy penalises.

    Parameters
    ----------
    judged : mapping of str to DataFrame
        From `judge_by_policy`.
    tools : sequence of str
        The tools to count for.

    Returns
    -------
    DataFrame
        Columns tool, disputed, and one per policy; tools without a dispute are left out.
    """
    first = next(iter(judged.values()))
    counts = {"disputed": first.loc[_is_disputed(first), "tool"].value_counts()}
    for policy, rows in judged.items():
        counts[policy] = rows.loc[rows["verdict"] == Verdict.INCORRECT, "tool"].value_counts()
    table = pd.DataFrame(counts, index=pd.Index(tools, name="tool")).fillna(0).astype(int)
    table = table[table["disputed"] > 0]
    by = [next(iter(judged)), "disputed"]
    return table.sort_values(by, ascending=False, kind="stable").reset_index()


def manual_review(judged: pd.DataFrame) -> pd.DataFrame:
    """List the sats whose counterexamples cannot be checked: no points, no penalty.

    Returns
    -------
    DataFrame
        Columns benchmark, index, instance, tool, n_unsat, n_sat.
    """
    rows = judged[(judged["check"] == Check.UNSUPPORTED) & (judged["excluded"] == "")]
    return rows[["benchmark", "index", "instance", "tool", "n_unsat", "n_sat"]]


def _is_disputed(judged: pd.DataFrame) -> pd.Series:
    return is_counting_answer(judged) & (judged["n_unsat"] > 0) & (judged["n_sat"] > 0)


def contradictions(judged: pd.DataFrame, edition: Edition) -> pd.DataFrame:
    """Count how often each pair of tools gave opposite answers.

    Returns
    -------
    DataFrame
        Rows: tools that said unsat; columns: tools that said sat; missing where never.
    """
    answers = judged[is_counting_answer(judged)]
    unsat = answers.loc[answers["result"] == Result.UNSAT, [*INSTANCE, "tool"]]
    sat = answers.loc[answers["result"] == Result.SAT, [*INSTANCE, "tool"]]
    pairs = unsat.merge(sat, on=INSTANCE, suffixes=("_unsat", "_sat"), validate="many_to_many")
    counts = pd.crosstab(pairs["tool_unsat"], pairs["tool_sat"])
    rows = [tool for tool in edition.tools if tool in counts.index]
    columns = [tool for tool in edition.tools if tool in counts.columns]
    return counts.reindex(index=rows, columns=columns).where(lambda c: c > 0)


def by_benchmark(disputes: pd.DataFrame, judged: pd.DataFrame, edition: Edition) -> pd.DataFrame:
    """Count the disputed instances of every benchmark, and what each policy decides.

    Returns
    -------
    DataFrame
        Columns benchmark, instances, disputed, and per policy how many it decides.
    """
    size = judged.drop_duplicates(INSTANCE).groupby("benchmark").size()
    table = pd.DataFrame({"instances": size})
    table["disputed"] = disputes.groupby("benchmark").size()
    first = disputes.columns.get_loc("sat") + 1
    for policy in disputes.columns[first:]:
        decided = disputes[disputes[policy] != Result.UNKNOWN]
        table[f"decided by / {policy}"] = decided.groupby("benchmark").size()
    table = table.fillna(0).astype(int)
    return table.reindex([b for b in edition.benchmarks if b in size.index]).reset_index(
        names="benchmark"
    )
