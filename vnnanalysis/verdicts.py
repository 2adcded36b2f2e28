"""Measured counterexamples to verdicts: a table look-up for every edition's rules."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from vnnanalysis.errors import check_known
from vnnanalysis.evaluate import SMALL_TOLERANCE, TOLERANCE
from vnnanalysis.rules import ScoringRules
from vnnanalysis.tasks import Status, excess, margin, needs, needs_on_inputs
from vnnanalysis.terms import Bounds, Check, Outputs, Tolerance

FRAGILE = 1e-6  # a margin below that may come out otherwise with another engine

_MATCH = {Outputs.CLAIMED_ABS: 1e-4, Outputs.CLAIMED: 1e-3}  # of claimed and replayed outputs
_EXACT = {  # allowed difference of outputs, and tolerance, of a counterexample that proves sat
    Tolerance.ANY: (math.inf, math.inf),
    Tolerance.SMALL: (1e-6, SMALL_TOLERANCE),
    Tolerance.ZERO: (0.0, 0.0),
    Tolerance.AS_COMMITTED: (-math.inf, -math.inf),  # none does
}


@dataclass(frozen=True)
class WitnessRules:
    """How a counterexample is judged.

    Attributes
    ----------
    outputs : Outputs
        Which outputs count.
    tolerance : Tolerance
        How exact it must be to be ``correct``, and not ``correct_up_to_tolerance``.
    bounds : Bounds
        How inputs are compared with their bounds.
    """

    outputs: Outputs
    tolerance: Tolerance
    bounds: Bounds = Bounds.FLOAT64

    @classmethod
    def of(cls, rules: ScoringRules) -> "WitnessRules":
        """Return how some scoring rules judge counterexamples."""
        return cls(rules.outputs, rules.tolerance, rules.bounds)

    @property
    def words(self) -> dict[str, str]:
        """The settings as text."""
        return {name: str(value) for name, value in vars(self).items()}


# Sources: the reports of 2022 and 2023, the organisers' rules of 2024 to 2026.
NAMED = {
    "2022": WitnessRules(Outputs.CLAIMED_ABS, Tolerance.ANY),
    "2023": WitnessRules(Outputs.CLAIMED, Tolerance.ANY),
    "2024": WitnessRules(Outputs.CLAIMED, Tolerance.ZERO),
    "2024-as-committed": WitnessRules(Outputs.CLAIMED, Tolerance.AS_COMMITTED),
    "2025-small": WitnessRules(Outputs.CLAIMED, Tolerance.SMALL),
    "2025-zero": WitnessRules(Outputs.CLAIMED, Tolerance.ZERO),
    "2026": WitnessRules(Outputs.REPLAYED, Tolerance.ZERO, Bounds.INPUT_TYPE),
}


def named_rules(name: str, bounds: str | None = None) -> WitnessRules:
    """Return the rules for counterexamples of an edition.

    Parameters
    ----------
    name : str
        One of `NAMED`; ``2025`` is ``2025-small``.
    bounds : str, optional
        ``input-type`` or ``float64``; the edition's own by default.

    Raises
    ------
    UsageError
        For an unknown name, with the nearest known one.
    """
    name = {"2025": "2025-small"}.get(name, name)
    check_known("rules for counterexamples", [name], NAMED)
    if bounds is None:
        return NAMED[name]
    check_known("value for bounds", [bounds], [str(b) for b in Bounds])
    return dataclasses.replace(NAMED[name], bounds=Bounds(bounds))


def verdicts(measured: pd.DataFrame, rules: WitnessRules) -> pd.Series:
    """Judge measured counterexamples.

    Parameters
    ----------
    measured : DataFrame
        Requires status and the columns `tasks.NUMBERS`.
    rules : WitnessRules
        The rules.

    Returns
    -------
    Series of str
        The organisers' words, see `terms.Check`, by the rows of `measured`.
    """
    matches, valid, proves = (_by_replay if rules.outputs is Outputs.REPLAYED else _by_claim)(
        measured, rules
    )
    is_measured = measured["status"] == str(Status.MEASURED)
    words = np.select(
        [~is_measured, ~matches, ~valid, proves],
        [measured["status"].astype("object"), str(Check.EXEC_DOESNT_MATCH),
         str(Check.SPEC_NOT_VIOLATED), str(Check.CORRECT)],
        default=str(Check.UP_TO_TOLERANCE),
    )  # fmt: skip
    return pd.Series(words, measured.index, dtype="str")


def _by_claim(
    measured: pd.DataFrame, rules: WitnessRules
) -> tuple[pd.Series, pd.Series, pd.Series]:
    difference = measured[_difference(rules)]
    need = measured[needs(rules.outputs, rules.bounds)]
    allowed, exact = _EXACT[rules.tolerance]
    valid = need <= TOLERANCE
    return difference <= _MATCH[rules.outputs], valid, (difference <= allowed) & (need <= exact)


def _by_replay(
    measured: pd.DataFrame, rules: WitnessRules
) -> tuple[pd.Series, pd.Series, pd.Series]:
    need = measured[needs_on_inputs(rules.bounds)]
    _, exact = _EXACT[rules.tolerance]
    return need.notna(), need <= TOLERANCE, need <= exact


def _difference(rules: WitnessRules) -> str:
    return "max_rel_diff" if rules.outputs is Outputs.CLAIMED else "max_abs_diff"


def reasons(measured: pd.DataFrame, found: pd.Series, rules: WitnessRules) -> list[str]:
    """Say what decided each verdict, with its numbers.

    Parameters
    ----------
    measured : DataFrame
        As for `verdicts`, and reason.
    found : Series of str
        From `verdicts`.
    rules : WitnessRules
        The rules.
    """
    rows = measured.to_dict("records")
    return [_reason(row, Check(word), rules) for row, word in zip(rows, found, strict=True)]


def _reason(row: dict[str, Any], verdict: Check, rules: WitnessRules) -> str:
    if row["status"] != Status.MEASURED:
        return str(row["reason"])
    note = f"; {row['reason']}" if row["reason"] else ""
    if verdict is Check.EXEC_DOESNT_MATCH:
        return _how_outputs_differ(row, rules) + note
    if verdict is Check.SPEC_NOT_VIOLATED:
        return _what_fails(row, rules) + note
    if rules.outputs is Outputs.REPLAYED:
        return _how_valid(row[needs_on_inputs(rules.bounds)]) + note
    told = [_how_valid(row[needs(rules.outputs, rules.bounds)])]
    if verdict is Check.UP_TO_TOLERANCE and row[_difference(rules)] > max(
        _EXACT[rules.tolerance][0], 0.0
    ):
        told.append(_how_outputs_differ(row, rules))
    return "; ".join(told) + note


def _how_outputs_differ(row: dict[str, Any], rules: WitnessRules) -> str:
    difference = row[_difference(rules)]
    if np.isnan(difference):
        return "another number of outputs than the network has"
    relative = " relative to the largest" if rules.outputs is Outputs.CLAIMED else ""
    limit = _MATCH[rules.outputs]
    allowed = "" if difference <= limit else f", allowed are {limit:g}"
    return f"outputs differ by {difference:.3g}{relative}{allowed}"


def _how_valid(need: float) -> str:
    return "valid exactly" if need <= 0 else f"valid with a tolerance of {need:.3g}"


def _what_fails(row: dict[str, Any], rules: WitnessRules) -> str:
    """Say which side of the property is not met."""
    over, missed = row[excess(rules.bounds)], row[margin(rules.outputs, rules.bounds)]
    allowed = 0.0 if rules.outputs is Outputs.REPLAYED else TOLERANCE
    told = []
    if over > TOLERANCE:
        told.append(f"inputs are out of bounds by {over:.3g}, allowed are {TOLERANCE:g}")
    if missed > allowed:
        told.append(f"the output condition is missed by {missed:.3g}, allowed are {allowed:g}")
    return "; ".join(told) or "no case of the property is met by inputs and outputs together"


def is_fragile(measured: pd.DataFrame, rules: WitnessRules) -> pd.Series:
    """Mark those whose outputs meet their condition, or miss it, by less than `FRAGILE`."""
    return measured[margin(rules.outputs, rules.bounds)].abs() < FRAGILE
