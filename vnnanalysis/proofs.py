"""Who is right where counterexamples decide: the rules of 2022 and later.

`judging` asks here for the policies whose `Conflicts.uses_checks` holds; votes are counted
there.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from vnnanalysis.layouts import INSTANCE
from vnnanalysis.rules import ScoringRules
from vnnanalysis.terms import Check, Conflicts, Result, Tolerance, Unchecked, Verdict

_VALID = (Check.CORRECT, Check.UP_TO_TOLERANCE)
_NOT_CHECKED = (Check.UNCHECKED, Check.NOT_AVAILABLE)

CHECK_WORDS = {
    Check.CORRECT: "valid counterexample",
    Check.UP_TO_TOLERANCE: "counterexample valid within tolerance",
    Check.NO_CE: "no counterexample given",
    Check.EXEC_DOESNT_MATCH: "the network's output is not the one the counterexample claims",
    Check.SPEC_NOT_VIOLATED: "the counterexample does not violate the property",
    Check.MALFORMED: "malformed counterexample",
    Check.WRONG_SHAPE: "counterexample of the wrong shape",
    Check.INVALID: "invalid counterexample",
    Check.UNSUPPORTED: "counterexample cannot be checked: manual review",
    Check.NOT_AVAILABLE: "counterexample not available here",
    Check.UNCHECKED: "counterexample not checked",
}


def witness_checks(judged: pd.DataFrame, checks: pd.DataFrame) -> pd.Series:
    """Return what became of every row's counterexample; empty for rows without a sat.

    Parameters
    ----------
    judged : DataFrame
        Requires benchmark, instance, tool, result.
    checks : DataFrame
        From `checks.checks_in_force`.
    """
    on = [*INSTANCE, "tool"]
    checks = checks[[*on, "check"]]
    found = judged[on].merge(checks, how="left", on=on, validate="many_to_one")["check"]
    known = pd.Series(found.to_numpy(), judged.index, dtype="object").fillna(str(Check.UNCHECKED))
    return known.where(judged["result"] == Result.SAT, "").astype("str")


def prove(judged: pd.DataFrame, rules: ScoringRules) -> pd.DataFrame:
    """Derive each answer's verdict and each instance's truth from the counterexamples.

    Parameters
    ----------
    judged : DataFrame
        Requires benchmark, instance, tool, result, check and counts (an unsat or sat that
        nothing excludes).
    rules : ScoringRules
        conflicts, tolerance and unchecked.

    Returns
    -------
    DataFrame
        Columns truth, verdict and proves (the row's counterexample proves sat), the rows of
        `judged`.
    """
    answer, check = judged["result"].where(judged["counts"], ""), judged["check"]
    said_sat, said_unsat = answer == Result.SAT, answer == Result.UNSAT
    valid = checked = said_sat & check.isin(_words(_VALID))
    proves = said_sat & check.isin(_words(_VALID[:1] if _is_strict(rules) else _VALID))
    doubtful = said_sat & check.isin(_words(_NOT_CHECKED))
    if rules.unchecked is Unchecked.CREDITED:
        valid = valid | doubtful
    keys = [judged[c] for c in INSTANCE]
    any_proof, any_valid, any_sat, any_unsat = (
        column.groupby(keys).transform("any") for column in (proves, valid, said_sat, said_unsat)
    )
    sat_is_right = {
        Conflicts.ON_CONFLICT: any_valid | ~any_unsat,
        Conflicts.AS_PRESENTED: any_valid,
        Conflicts.FIRST_VALID: _first(judged, valid, checked),
        Conflicts.PER_TOOL: valid,
    }[rules.conflicts]
    neutral = said_sat & (check == Check.UNSUPPORTED) & ~sat_is_right
    verdict = np.select(
        [
            ~said_sat & ~said_unsat,
            neutral,
            (said_sat & sat_is_right) | (said_unsat & ~any_proof),
        ],
        [str(Verdict.UNSOLVED), str(Verdict.IGNORED), str(Verdict.CORRECT)],
        default=str(Verdict.INCORRECT),
    )
    open_sat = (valid | (said_sat & (check == Check.UNSUPPORTED))).groupby(keys).transform("any")
    unchallenged = (rules.conflicts is Conflicts.ON_CONFLICT) & any_sat & ~any_unsat
    truth = np.select(
        [any_proof | unchallenged, any_unsat & ~open_sat],
        [str(Result.SAT), str(Result.UNSAT)],
        default=str(Result.UNKNOWN),
    )
    return pd.DataFrame({"truth": truth, "verdict": verdict, "proves": proves}, judged.index)


def _is_strict(rules: ScoringRules) -> bool:
    return rules.tolerance is not Tolerance.ANY


def _words(checks: Sequence[Check]) -> list[str]:
    return [str(check) for check in checks]


def _first(judged: pd.DataFrame, valid: pd.Series, checked: pd.Series) -> pd.Series:
    """Mark the alphabetically first of the valid sats of every instance, checked ones before."""
    ordered = judged.assign(is_open=~checked)[valid].sort_values(["is_open", "tool"], kind="stable")
    firsts = ordered.drop_duplicates(INSTANCE).index
    return pd.Series(judged.index.isin(firsts), judged.index)


def proof_reason(row: Any, proofs: str, rules: ScoringRules) -> str:
    """Say why a row whose verdict counterexamples decide got its points.

    Parameters
    ----------
    row : named tuple
        result, verdict, truth, check, n_unsat, n_sat.
    proofs : str
        The tools whose counterexamples prove sat on this instance, comma-separated.
    rules : ScoringRules
        The rules in force.
    """
    if row.result == Result.UNSAT:
        return _reason_of_unsat(row, proofs)
    own = _own_words(row, rules)
    if rules.conflicts is Conflicts.ON_CONFLICT and not row.n_unsat:
        return "the only answer" if row.n_sat == 1 else f"{row.n_sat} say sat"
    has_one = row.check in (*_VALID, *_NOT_CHECKED)
    if row.verdict == Verdict.CORRECT and not has_one:
        return f"{own}, but that of {proofs or 'another tool'} counts for all"
    if row.verdict == Verdict.INCORRECT and has_one and rules.conflicts is Conflicts.FIRST_VALID:
        return f"{own}, but only the first tool with a valid one is credited"
    return own


def _own_words(row: Any, rules: ScoringRules) -> str:
    words = CHECK_WORDS[Check(row.check)]
    if row.check == Check.UP_TO_TOLERANCE and _is_strict(rules):
        return f"{words}, which proves nothing"
    return f"{words}: {rules.unchecked}" if row.check in _NOT_CHECKED else words


def _reason_of_unsat(row: Any, proofs: str) -> str:
    if row.verdict == Verdict.INCORRECT:
        return f"contradicted by the valid counterexample of {proofs}"
    if row.n_sat:
        return f"{row.n_sat} say sat, but no counterexample proves it"
    return "the only answer" if row.n_unsat == 1 else f"{row.n_unsat} say unsat"
