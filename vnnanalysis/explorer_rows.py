"""What the explorer needs of judged rows: outcomes, differing and conflicting instances.

Also how it stores columns: none twice, and those that hardly differ by their differences.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from vnnanalysis.analysis import Analysis
from vnnanalysis.disputes import dispute_list
from vnnanalysis.judging import is_counting_answer
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.scoring import instance_table
from vnnanalysis.terms import Result, Verdict

SOLVED, ABSENT = "solved", "did not take part"


def outcomes(judged: pd.DataFrame) -> np.ndarray:
    """Return what became of every row: solved, the rail it has in a scatter plot, or absent."""
    return np.select(
        [
            judged["verdict"] == Verdict.CORRECT,
            judged["excluded"] != "",
            ~judged["takes_part"],
            judged["verdict"] == Verdict.INCORRECT,
            judged["verdict"] == Verdict.IGNORED,
            judged["result"] == Result.TIMEOUT,
        ],
        [SOLVED, "left out", ABSENT, "incorrect", "undecided", "timeout"],
        default="no answer",
    )


def differing(analysis: Analysis) -> list[tuple[str, str]]:
    """Return the instances that some of the tools solved, and others that took part did not.

    Returns
    -------
    list of (benchmark, instance)
        In the edition's order. Rows that are left out of scoring are nobody's failure.
    """
    judged = analysis.judged
    counts = judged["takes_part"] & (judged["excluded"] == "")
    counts &= judged["tool"].isin(analysis.tools)
    rows = instance_table(judged[counts], analysis.edition)
    is_correct = rows["verdict"] == Verdict.CORRECT
    solved = is_correct.groupby([rows[c] for c in INSTANCE], sort=False)
    mixed = solved.any() & ~solved.all()
    return list(mixed.index[mixed])


def conflicts(analysis: Analysis) -> pd.DataFrame:
    """List the instances on which competitors disagree, or some answer is incorrect.

    Returns
    -------
    DataFrame
        Columns benchmark, instance, unsat and sat (lists of the tools with an answer that
        counts), truth, and incorrect (list of tools). In the edition's order.
    """
    judged, edition = analysis.judged, analysis.edition
    is_wrong = judged["verdict"] == Verdict.INCORRECT
    said = judged["result"].where(is_counting_answer(judged), "")
    disputed = dispute_list({"truth": judged}, edition)
    keys = pd.MultiIndex.from_frame(pd.concat([disputed[INSTANCE], judged.loc[is_wrong, INSTANCE]]))
    here = judged.assign(said=said, is_wrong=is_wrong)
    here = here[pd.MultiIndex.from_frame(here[INSTANCE]).isin(keys)]
    table = instance_table(here, edition)[INSTANCE].drop_duplicates()
    truth = here.drop_duplicates(INSTANCE)[[*INSTANCE, "truth"]]
    table = table.merge(truth, how="left", on=INSTANCE, validate="one_to_one")
    for name, rows in (
        ("unsat", here[here["said"] == Result.UNSAT]),
        ("sat", here[here["said"] == Result.SAT]),
        ("incorrect", here[here["is_wrong"]]),
    ):
        lists = rows.groupby(INSTANCE)["tool"].agg(list)
        keyed = zip(*(table[c] for c in INSTANCE), strict=True)
        table[name] = [list(lists.get(key, [])) for key in keyed]
    return table[[*INSTANCE, "unsat", "sat", "truth", "incorrect"]]


def packed(columns: Iterable[np.ndarray]) -> tuple[list[Any], list[int]]:
    """Store columns of equal length, none twice.

    Parameters
    ----------
    columns : iterable of ndarray, shape (n_rows,)
        Numbers; NaN is stored as None.

    Returns
    -------
    forms : list of dict
        ``values`` of each different column; or ``like``, the place of an earlier one, with the
        ``rows`` whose values differ from it and their ``values``.
    places : list of int
        The form of each column.

    Examples
    --------
    >>> packed([np.array([1, 2, 3]), np.array([1, 2, 4]), np.array([1, 2, 3])])
    ([{'values': [1, 2, 3]}, {'like': 0, 'rows': [2], 'values': [4]}], [0, 1, 0])
    """
    forms: list[Any] = []
    places: list[int] = []
    known: list[np.ndarray] = []
    for column in columns:
        changes = [_changes(column, other) for other in known]
        nearest = min(range(len(known)), key=lambda k: len(changes[k]), default=None)
        if nearest is None or 2 * len(changes[nearest]) > len(column):
            forms.append({"values": json_values(column)})
        elif len(changes[nearest]):
            rows = changes[nearest]
            values = json_values(column[rows])
            forms.append({"like": nearest, "rows": rows.tolist(), "values": values})
        else:
            places.append(nearest)
            continue
        places.append(len(known))
        known.append(column)
    return forms, places


def _changes(column: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the rows in which two columns differ."""
    same = (column == other) | ((column != column) & (other != other))
    return np.flatnonzero(~same)


def json_values(values: Any) -> list[Any]:
    """Return a column's values as JSON has them: None for what is missing."""
    missing = pd.isna(values)
    return [None if gone else v for v, gone in zip(values.tolist(), missing, strict=True)]
