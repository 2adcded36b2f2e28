"""Runs and rules to judged rows: who is right, and what each answer is worth.

Judge once, on the full field; subsets of tools are taken from judged rows afterwards.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from vnnanalysis.editions import Edition, ScoringRules
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.terms import ANSWERS, Conflicts, Duplicates, Overhead, Result, Verdict

MAIN_MODE = ""


def is_counting_answer(runs: pd.DataFrame) -> pd.Series:
    """Tell which rows are a sat or unsat that no exclusion takes out of scoring."""
    return runs["result"].isin([str(r) for r in ANSWERS]) & (runs["excluded"] == "")


def overheads(runs: pd.DataFrame, edition: Edition, rules: ScoringRules) -> pd.DataFrame:
    """Start-up time of every tool: its smallest run time with an answer.

    Source: VNN-COMP 2021 report, section 0.2 ("Overhead Correction") and Table 5.

    Parameters
    ----------
    runs : DataFrame
        Requires columns tool, benchmark, result, run_s, excluded. Test rows count.
    edition : Edition
        For the modes of its tools.
    rules : ScoringRules
        ``overhead`` decides whether modes are kept apart, or nothing is subtracted.

    Returns
    -------
    DataFrame
        Columns tool, mode (empty for the main one) and overhead_s, in seconds.
    """
    if rules.overhead is Overhead.NONE:
        return pd.DataFrame(
            {"tool": edition.tools, "mode": MAIN_MODE, "overhead_s": 0.0}
        ).reset_index(drop=True)
    solved = runs[is_counting_answer(runs)]
    mode = _modes(solved, edition, rules)
    smallest = solved.groupby(["tool", mode.rename("mode")])["run_s"].min()
    return smallest.rename("overhead_s").reset_index()


def _modes(runs: pd.DataFrame, edition: Edition, rules: ScoringRules) -> pd.Series:
    mode = pd.Series(MAIN_MODE, index=runs.index, dtype="str")
    if rules.overhead is Overhead.MULTI:
        for tool, modes in edition.overhead_modes.items():
            for name, benchmarks in modes.items():
                hit = (runs["tool"] == tool) & runs["benchmark"].isin(benchmarks)
                mode = mode.mask(hit, name)
    return mode


def corrected_times(runs: pd.DataFrame, edition: Edition, rules: ScoringRules) -> pd.Series:
    """Run time after overhead and floor, in seconds; missing where not run."""
    table = overheads(runs, edition, rules)
    keys = pd.DataFrame({"tool": runs["tool"], "mode": _modes(runs, edition, rules)})
    overhead = keys.merge(table, how="left", on=["tool", "mode"], validate="many_to_one")
    subtracted = runs["run_s"] - overhead["overhead_s"].fillna(0.0).to_numpy()
    return subtracted.clip(lower=rules.time_floor_s)


def judge(runs: pd.DataFrame, edition: Edition, rules: ScoringRules) -> pd.DataFrame:
    """Judge every run.

    A tool that was not part of the competition is judged as if it had been, and the
    competitors as if it had not: their rows are the same with and without it.

    Sources: VNN-COMP 2021 report, sections 0.2 (points, bonus) and 0.5.1 (conflicts).

    Parameters
    ----------
    runs : DataFrame
        Requires the columns of `load.COLUMNS`.
    edition : Edition
        For overhead modes, and which tools were not part of the competition.
    rules : ScoringRules
        The switches.

    Returns
    -------
    DataFrame
        The runs without test rows. Adds columns ``corrected_s`` (seconds), ``n_unsat`` and
        ``n_sat`` (tools with that answer), ``truth`` (sat, unsat, unknown), ``verdict``,
        ``points``, ``bonus``, ``is_fastest``, ``takes_part`` (the tool has an answer on this
        benchmark) and ``reason``.
    """
    runs = runs.assign(corrected_s=corrected_times(runs, edition, rules))
    runs = runs[~runs["is_test"]]
    is_extra = runs["tool"].isin(edition.extra_tools)
    parts = [_judge_field(runs[~is_extra], rules)]
    for tool in edition.extra_tools:
        joint = _judge_field(runs[~is_extra | (runs["tool"] == tool)], rules)
        parts.append(joint[joint["tool"] == tool])
    return pd.concat(parts, ignore_index=True)


def _judge_field(runs: pd.DataFrame, rules: ScoringRules) -> pd.DataFrame:
    judged = runs.reset_index(drop=True)
    if rules.duplicates is Duplicates.UNIQUE:
        again = (judged["occurrence"] > 1) & (judged["excluded"] == "")
        judged["excluded"] = judged["excluded"].mask(again, "duplicate of an instance")
    judged["counts"] = is_counting_answer(judged)
    judged = judged.merge(
        _instances(judged, rules), how="left", on=INSTANCE, validate="many_to_one"
    )
    judged["verdict"] = _verdicts(judged)
    judged = judged.join(_bonus(judged, rules))
    judged["points"] = _points(judged, rules)
    answers = judged["counts"].groupby([judged["benchmark"], judged["tool"]])
    judged["takes_part"] = answers.transform("any")
    judged["reason"] = _reasons(judged, rules)
    return judged.drop(columns=["counts"])


def _instances(judged: pd.DataFrame, rules: ScoringRules) -> pd.DataFrame:
    """Count the answers of every instance and derive its truth.

    Adds columns n_unsat, n_sat, is_easy and truth per benchmark and instance.
    """
    counts, result, keys = judged["counts"], judged["result"], [judged[c] for c in INSTANCE]
    table = pd.DataFrame(
        {
            "n_unsat": (counts & (result == Result.UNSAT)).groupby(keys, sort=False).sum(),
            "n_sat": (counts & (result == Result.SAT)).groupby(keys, sort=False).sum(),
        }
    )
    easy = counts & (result == Result.SAT) & (judged["tool"] == rules.easy_sat_tool)
    table["is_easy"] = easy.groupby(keys, sort=False).any()
    unsat, sat = table["n_unsat"], table["n_sat"]
    disputed = (unsat > 0) & (sat > 0)
    undecided = unsat == sat
    if rules.conflicts is Conflicts.IGNORE:
        undecided |= disputed
    if rules.conflicts is Conflicts.ODD_ONE_OUT:
        undecided |= (unsat > 1) & (sat > 1)
    majority = np.where(table["is_easy"] | (sat > unsat), str(Result.SAT), str(Result.UNSAT))
    table["truth"] = pd.Series(majority, table.index).mask(undecided, str(Result.UNKNOWN))
    return table.reset_index()


def _verdicts(judged: pd.DataFrame) -> pd.Series:
    answers = judged["result"].isin([str(r) for r in ANSWERS])
    verdicts = np.select(
        [
            (judged["excluded"] != "") & answers,
            ~judged["counts"],
            judged["truth"] == Result.UNKNOWN,
            judged["result"] == judged["truth"],
        ],
        [str(Verdict.IGNORED), str(Verdict.UNSOLVED), str(Verdict.IGNORED), str(Verdict.CORRECT)],
        default=str(Verdict.INCORRECT),
    )
    return pd.Series(verdicts, judged.index)


def _bonus(judged: pd.DataFrame, rules: ScoringRules) -> pd.DataFrame:
    """Time bonus among the correct answers to one instance; columns bonus, is_fastest.

    All within `tie_s` of the fastest get the first bonus; the others get the second if
    within `tie_s` of the second smallest time (VNN-COMP 2021 report, section 0.2).
    """
    timed = judged[(judged["verdict"] == Verdict.CORRECT) & ~_easy_sat(judged)]
    times = timed["corrected_s"]
    keys = [timed[c] for c in INSTANCE]
    fastest = times.groupby(keys).transform("min")
    ordered = timed.sort_values("corrected_s", kind="stable")
    seconds = ordered.groupby(INSTANCE)["corrected_s"].nth(1)
    second = timed[INSTANCE].merge(
        ordered.loc[seconds.index, INSTANCE].assign(second=seconds),
        how="left", on=INSTANCE, validate="many_to_one",
    )["second"].to_numpy()  # fmt: skip
    is_fastest = times < fastest + rules.tie_s
    is_second = ~is_fastest & (times < second + rules.tie_s)
    bonus = is_fastest * rules.fastest_bonus + is_second * rules.second_bonus
    return pd.DataFrame(
        {
            "bonus": bonus.reindex(judged.index, fill_value=0),
            "is_fastest": is_fastest.reindex(judged.index, fill_value=False),
        }
    )


def _easy_sat(judged: pd.DataFrame) -> pd.Series:
    return judged["is_easy"] & (judged["result"] == Result.SAT)


def _points(judged: pd.DataFrame, rules: ScoringRules) -> pd.Series:
    correct = np.where(_easy_sat(judged), rules.easy_sat_points, rules.correct_points)
    points = np.select(
        [judged["verdict"] == Verdict.CORRECT, judged["verdict"] == Verdict.INCORRECT],
        [correct + judged["bonus"], rules.incorrect_points],
        default=0,
    )
    return pd.Series(points, judged.index)


def _reasons(judged: pd.DataFrame, rules: ScoringRules) -> list[str]:
    """Say for every row why it got its points, in words a reader can act on."""
    said = judged[judged["counts"]].groupby([*INSTANCE, "result"])["tool"].agg(", ".join).to_dict()
    columns = ["benchmark", "instance", "result", "result_raw", "excluded", "verdict", "truth",
               "n_unsat", "n_sat", "is_easy", "bonus", "is_fastest"]  # fmt: skip
    return [_reason(row, said, rules) for row in judged[columns].itertuples(index=False)]


def _reason(row: Any, said: Mapping[tuple[str, str, str], str], rules: ScoringRules) -> str:
    if row.excluded:
        return row.excluded
    if row.verdict == Verdict.UNSOLVED:
        raw = "" if row.result_raw == row.result else f" ({row.result_raw or 'empty label'})"
        return f"no answer: {row.result}{raw}"
    if row.verdict == Verdict.IGNORED:
        return _ignored(row, rules)
    other = Result.SAT if row.result == Result.UNSAT else Result.UNSAT
    opposed = said.get((row.benchmark, row.instance, other), "")
    own, others = (row.n_sat, row.n_unsat)[:: 1 if row.result == Result.SAT else -1]
    if row.verdict == Verdict.INCORRECT:
        if row.is_easy:
            return f"contradicted by a counterexample of {rules.easy_sat_tool} (sat: {opposed})"
        return f"outvoted {own}:{others} ({other}: {opposed})"
    against = f", {others} against" if others else ""
    agreement = "the only answer" if own + others == 1 else f"{own} say {row.result}{against}"
    return agreement + _credit(row, rules)


def _ignored(row: Any, rules: ScoringRules) -> str:
    split = f"{row.n_unsat} say unsat, {row.n_sat} say sat"
    if row.n_unsat == row.n_sat:
        return f"undecided: {split}"
    if rules.conflicts is Conflicts.IGNORE:
        return f"tools disagree: {split}"
    return f"nobody stands alone: {split}"


def _credit(row: Any, rules: ScoringRules) -> str:
    if row.is_easy and row.result == Result.SAT:
        return f"; {rules.easy_sat_tool} found a counterexample too: {rules.easy_sat_points} point"
    if not row.bonus:
        return ""
    return f"; {'fastest' if row.is_fastest else 'second fastest'}: +{row.bonus}"
