"""Runs and rules to judged rows: who is right, and what each answer is worth.

Judge once, on the full field; subsets of tools are taken from judged rows afterwards.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from vnnanalysis.checks import checks_in_force, no_checks
from vnnanalysis.editions import Edition
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.proofs import proof_reason, prove, witness_checks
from vnnanalysis.rules import ScoringRules
from vnnanalysis.terms import (
    ANSWERS,
    Conflicts,
    Duplicates,
    Overhead,
    Result,
    Verdict,
)

MAIN_MODE = ""
_ANSWERS = [str(result) for result in ANSWERS]


def is_counting_answer(runs: pd.DataFrame) -> pd.Series:
    """Tell which rows are a sat or unsat that no exclusion takes out of scoring."""
    return runs["result"].isin(_ANSWERS) & (runs["excluded"] == "")


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
        ``overhead`` decides whether modes are kept apart, ``overhead_by_track`` whether
        tracks are. Start-up is measured also where it is not subtracted.

    Returns
    -------
    DataFrame
        Columns tool, track (empty where tracks are not kept apart), mode (empty for the main
        one) and overhead_s, in seconds.
    """
    solved = runs[is_counting_answer(runs)]
    keys = _overhead_keys(solved, edition, rules).assign(overhead_s=solved["run_s"])
    if rules.overhead_by_track:
        start_up = keys[keys["track"] == ""]  # of no benchmark: it counts in every track
        copies = [start_up.assign(track=track) for track in edition.tracks]
        keys = pd.concat([keys[keys["track"] != ""], *copies])
    smallest = keys.groupby(["tool", "track", "mode"])["overhead_s"].min()
    return smallest.reset_index()


def _overhead_keys(runs: pd.DataFrame, edition: Edition, rules: ScoringRules) -> pd.DataFrame:
    """Return what start-up time is measured for: columns tool, track, mode."""
    track = pd.Series("", index=runs.index, dtype="str")
    if rules.overhead_by_track:
        tracks = {b: edition.track_of(b) for b in edition.benchmarks}
        track = runs["benchmark"].map(tracks).fillna("").astype("str")
    mode = _modes(runs, edition, rules)
    return pd.DataFrame({"tool": runs["tool"], "track": track, "mode": mode})


def _modes(runs: pd.DataFrame, edition: Edition, rules: ScoringRules) -> pd.Series:
    mode = pd.Series(MAIN_MODE, index=runs.index, dtype="str")
    if rules.overhead is Overhead.MULTI:
        for tool, modes in edition.overhead_modes.items():
            for name, benchmarks in modes.items():
                hit = (runs["tool"] == tool) & runs["benchmark"].isin(benchmarks)
                mode = mode.mask(hit, name)
    return mode


def _net_times(runs: pd.DataFrame, edition: Edition, rules: ScoringRules) -> pd.Series:
    """Run time after overhead, in seconds, without any floor."""
    if rules.overhead is Overhead.NONE:
        return runs["run_s"]
    keys = _overhead_keys(runs, edition, rules)
    table = overheads(runs, edition, rules)
    joined = keys.merge(table, how="left", on=list(keys.columns), validate="many_to_one")
    return runs["run_s"] - joined["overhead_s"].fillna(0.0).to_numpy()


def judge(
    runs: pd.DataFrame,
    edition: Edition,
    rules: ScoringRules,
    checks: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Judge every run.

    A tool that was not part of the competition is judged as if it had been, and the
    competitors as if it had not: their rows are the same with and without it.

    Sources: VNN-COMP 2021 report, sections 0.2 (points, bonus) and 0.5.1 (conflicts); the
    edition files for the later years.

    Parameters
    ----------
    runs : DataFrame
        Requires the columns of `load.COLUMNS`.
    edition : Edition
        For overhead modes, tracks, and which tools were not part of the competition.
    rules : ScoringRules
        The switches.
    checks : DataFrame, optional
        Verdicts on counterexamples, columns `checks.CHECK_COLUMNS`; without, none is checked.

    Returns
    -------
    DataFrame
        The runs without test rows. Adds columns ``corrected_s`` (seconds), ``check`` (of the
        counterexample; empty without a sat), ``n_unsat`` and ``n_sat`` (tools with that
        answer), ``truth`` (sat, unsat, unknown), ``verdict``, ``points``, ``bonus``,
        ``is_fastest``, ``takes_part`` (the tool has an answer on this benchmark, or the
        edition names it as a participant) and ``reason``. An answer after its limit is a
        timeout, where the rules enforce limits.
    """
    net = _net_times(runs, edition, rules)
    runs = runs.assign(
        corrected_s=net.clip(lower=rules.time_floor_s), bonus_s=net.clip(lower=rules.bonus_floor_s)
    )
    runs = _enforce_limits(runs[~runs["is_test"]], rules)
    known = checks_in_force(no_checks() if checks is None else checks, rules)
    runs = runs.assign(check=witness_checks(runs, known))
    is_extra = runs["tool"].isin(edition.extra_tools)
    parts = [_judge_field(runs[~is_extra], rules)]
    for tool in edition.extra_tools:
        joint = _judge_field(runs[~is_extra | (runs["tool"] == tool)], rules)
        parts.append(joint[joint["tool"] == tool])
    judged = pd.concat(parts, ignore_index=True)
    named = [(b, tool) for b, tools in edition.participants.items() for tool in tools]
    pairs = pd.MultiIndex.from_frame(judged[["benchmark", "tool"]])
    return judged.assign(takes_part=judged["takes_part"] | pairs.isin(named))


def _enforce_limits(runs: pd.DataFrame, rules: ScoringRules) -> pd.DataFrame:
    """Make timeouts of the answers that came after the limit (rules of 2026)."""
    late = runs["result"].isin(_ANSWERS) & (runs["run_s"] > runs["timeout_s"])
    late &= rules.enforce_timeouts
    return runs.assign(is_late=late, result=runs["result"].mask(late, str(Result.TIMEOUT)))


def _judge_field(runs: pd.DataFrame, rules: ScoringRules) -> pd.DataFrame:
    judged = runs.reset_index(drop=True)
    if rules.duplicates is Duplicates.UNIQUE:
        again = (judged["occurrence"] > 1) & (judged["excluded"] == "")
        judged["excluded"] = judged["excluded"].mask(again, "duplicate of an instance")
    judged["counts"] = is_counting_answer(judged)
    judged = judged.merge(
        _instances(judged, rules), how="left", on=INSTANCE, validate="many_to_one"
    )
    if rules.conflicts.uses_checks:
        judged = judged.assign(**prove(judged, rules))
    judged["verdict"] = _verdicts(judged, rules)
    judged = judged.join(_bonus(judged, rules))
    judged["points"] = _points(judged, rules)
    answers = judged["counts"].groupby([judged["benchmark"], judged["tool"]])
    judged["takes_part"] = answers.transform("any")
    judged["reason"] = _reasons(judged, rules)
    return judged.drop(columns=["counts", "is_late", "bonus_s", "proves"], errors="ignore")


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
    if rules.conflicts is Conflicts.ALL_UNSAT:
        undecided = ~(unsat | sat).astype(bool)
    if rules.conflicts is Conflicts.IGNORE:
        undecided |= disputed
    if rules.conflicts is Conflicts.ODD_ONE_OUT:
        undecided |= (unsat > 1) & (sat > 1)
    by_majority = table["is_easy"] | (sat > unsat)
    if rules.conflicts is Conflicts.ALL_UNSAT:
        by_majority = unsat == 0
    majority = np.where(by_majority, str(Result.SAT), str(Result.UNSAT))
    table["truth"] = pd.Series(majority, table.index).mask(undecided, str(Result.UNKNOWN))
    return table.reset_index()


def _verdicts(judged: pd.DataFrame, rules: ScoringRules) -> pd.Series:
    left_out = (judged["excluded"] != "") & judged["result"].isin(_ANSWERS)
    if rules.conflicts.uses_checks:
        return judged["verdict"].mask(left_out, str(Verdict.IGNORED))
    agrees = judged["result"] == judged["truth"]
    agrees |= rules.conflicts is Conflicts.ALL_UNSAT
    verdicts = np.select(
        [left_out, ~judged["counts"], judged["truth"] == Result.UNKNOWN, agrees],
        [str(Verdict.IGNORED), str(Verdict.UNSOLVED), str(Verdict.IGNORED), str(Verdict.CORRECT)],
        default=str(Verdict.INCORRECT),
    )
    return pd.Series(verdicts, judged.index)


def _bonus(judged: pd.DataFrame, rules: ScoringRules) -> pd.DataFrame:
    """Time bonus among the correct answers to one instance; columns bonus, is_fastest.

    All less than `tie_s` behind the fastest get the first bonus; the others get the second if
    less than that behind the second smallest time (VNN-COMP 2021 report, section 0.2).
    """
    timed = judged[(judged["verdict"] == Verdict.CORRECT) & ~_easy_sat(judged) & rules.has_bonus]
    times, same = timed["bonus_s"], [*INSTANCE, "result"]
    fastest = times.groupby([timed[c] for c in same]).transform("min")
    ordered = timed.sort_values("bonus_s", kind="stable")
    seconds = ordered.groupby(same)["bonus_s"].nth(1)
    second = timed[same].merge(
        ordered.loc[seconds.index, same].assign(second=seconds),
        how="left", on=same, validate="many_to_one",
    )["second"].to_numpy()  # fmt: skip
    is_fastest = (times < fastest + rules.tie_s) | (times == fastest)
    is_second = ~is_fastest & ((times < second + rules.tie_s) | (times == second))
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
    counting = judged[judged["counts"]]
    if rules.conflicts.uses_checks:
        is_sat = counting["result"] == Result.SAT
        counting = counting[is_sat & counting["proves"]]
    said = counting.groupby([*INSTANCE, "result"])["tool"].agg(", ".join).to_dict()
    columns = ["benchmark", "instance", "result", "result_raw", "excluded", "verdict", "truth",
               "check", "n_unsat", "n_sat", "is_easy", "is_late", "run_s", "timeout_s", "bonus",
               "is_fastest"]  # fmt: skip
    cells = judged[columns].astype(object)  # texts as Python's, which are fast to go through
    return [_reason(row, said, rules) for row in cells.itertuples(index=False)]


def _reason(row: Any, said: Mapping[tuple[str, str, str], str], rules: ScoringRules) -> str:
    if row.excluded:
        return row.excluded
    if row.verdict == Verdict.UNSOLVED:
        return _unsolved(row)
    if rules.conflicts.uses_checks:
        proofs = said.get((row.benchmark, row.instance, Result.SAT), "")
        return proof_reason(row, proofs, rules) + _credit(row, rules)
    if row.verdict == Verdict.IGNORED:
        return _ignored(row, rules)
    return _by_votes(row, said, rules)


def _unsolved(row: Any) -> str:
    if row.is_late:
        return f"late {row.result_raw}: run {row.run_s:g} s over the {row.timeout_s:g} s limit"
    raw = "" if row.result_raw == row.result else f" ({row.result_raw or 'empty label'})"
    return f"no answer: {row.result}{raw}"


def _by_votes(row: Any, said: Mapping[tuple[str, str, str], str], rules: ScoringRules) -> str:
    other = Result.SAT if row.result == Result.UNSAT else Result.UNSAT
    opposed = said.get((row.benchmark, row.instance, other), "")
    own, others = (row.n_sat, row.n_unsat)[:: 1 if row.result == Result.SAT else -1]
    if row.verdict == Verdict.INCORRECT:
        if row.is_easy:
            return f"contradicted by a counterexample of {rules.easy_sat_tool} (sat: {opposed})"
        return f"outvoted {own}:{others} ({other}: {opposed})"
    against = f", {others} against" if others else ""
    if against and rules.conflicts is Conflicts.ALL_UNSAT:
        against += ": taken as unsat, all count as solved"
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
