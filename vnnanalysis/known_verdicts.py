"""Our verdicts against those that are known: printed by the organisers, or measured before."""

import pandas as pd

from vnnanalysis.checks import CHECK_COLUMNS
from vnnanalysis.editions import Edition
from vnnanalysis.layouts import WITNESS
from vnnanalysis.terms import Check
from vnnanalysis.verdicts import WitnessRules


def known_rules(edition: Edition) -> WitnessRules:
    """Return the rules under which an edition's verdicts on counterexamples are found."""
    tolerance = edition.verdict_tolerance or edition.rules.tolerance
    return WitnessRules(edition.rules.outputs, tolerance, edition.rules.bounds)


def compare_verdicts(found: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Put our verdicts beside known ones.

    Parameters
    ----------
    found : DataFrame
        From `validate.verdict_table`.
    known : DataFrame
        Columns `checks.CHECK_COLUMNS`.

    Returns
    -------
    DataFrame
        A row per known verdict on one of the sats: `WITNESS`, index, known, found, status
        (``equal``, ``different``, or ``not_available`` where we have no verdict), reason.
    """
    ours = found[[*WITNESS, "index", "verdict", "reason"]].rename(columns={"verdict": "found"})
    theirs = known[CHECK_COLUMNS[:4]].rename(columns={"verdict": "known"})
    table = theirs.merge(ours, on=WITNESS, validate="one_to_one")
    status = (table["known"] == table["found"]).map({True: "equal", False: "different"})
    is_open = table[["known", "found"]].isin([str(Check.NOT_AVAILABLE), str(Check.UNSUPPORTED)])
    table["status"] = status.mask(is_open["found"] & ~is_open["known"], "not_available")
    return table[[*WITNESS, "index", "known", "found", "status", "reason"]]
