"""Counterexamples of an edition: measured once, judged under any rules.

Measuring is done by `workers`, and remembered by `measured_cache`; `verdicts` judges.
"""

import itertools
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from vnnanalysis.editions import Edition
from vnnanalysis.errors import UsageError
from vnnanalysis.measured_cache import Cache, default_place, digests
from vnnanalysis.tasks import ENGINE, NUMBERS, Measurement, Status, excess, margin
from vnnanalysis.terms import Bounds, Outputs, Tolerance
from vnnanalysis.verdicts import WitnessRules, is_fragile, reasons, verdicts
from vnnanalysis.witness_files import Sat, find_files
from vnnanalysis.workers import measure_all

KEY = ["edition", "benchmark", "index", "instance", "network", "property", "tool"]
MEASURED_COLUMNS = [*KEY, "status", "reason", *NUMBERS, "discontinuous", "engine"]
VERDICT_COLUMNS = [
    *KEY, "verdict", "reason", "max_abs_diff", "max_rel_diff", "input_excess", "input_excess_rel",
    "output_margin", "fragile", "discontinuous", "engine", "outputs", "tolerance", "bounds",
]  # fmt: skip
_KEPT_AT_A_TIME = 200  # measurements written to the cache at once


def progress_bar(total: int, *, is_shown: bool | None = None) -> "tqdm[Any]":
    """Return a progress bar with rate and remaining time; by default on terminals only."""
    is_hidden = None if is_shown is None else not is_shown
    return tqdm(total=total, desc="counterexamples", unit="", disable=is_hidden, file=sys.stderr)


def no_measurements() -> pd.DataFrame:
    """Return an empty table of measurements."""
    texts = [c for c in MEASURED_COLUMNS if c not in NUMBERS]
    table = pd.DataFrame(columns=MEASURED_COLUMNS).astype(dict.fromkeys(texts, "str"))
    return table.astype(dict.fromkeys(NUMBERS, "float64") | {"index": "Int64"})


def n_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def files_at_hand(
    edition: Edition, runs: pd.DataFrame, results: Path, benchmarks: Path
) -> list[Sat]:
    """Find the files of every sat; nothing if no counterexample could be validated.

    Parameters
    ----------
    edition : Edition
        The edition.
    runs : DataFrame
        From `load.load_contest`; all rows.
    results, benchmarks : Path
        The results folder, and the benchmark repository (or a folder of several).
    """
    if edition.layout is None or edition.layout.kind != "competition":
        return []
    sats = find_files(edition, runs, results, benchmarks)
    is_whole = [sat.task.status is Status.MEASURED and not sat.task.absent for sat in sats]
    return sats if any(is_whole) else []


def measure_sats(
    edition: str,
    sats: Sequence[Sat],
    *,
    n_jobs: int | None = None,
    cache: Cache | None = None,
    is_shown: bool | None = None,
) -> pd.DataFrame:
    """Measure the counterexamples of sats.

    Parameters
    ----------
    edition : str
        Its id.
    sats : sequence of Sat
        From `files_at_hand` or `witness_files.find_files`.
    n_jobs : int, optional
        How many processes; one per processor by default.
    cache : Cache, optional
        Where measurements are kept; the user's own by default.
    is_shown : bool, optional
        Whether to show progress; on terminals only by default.

    Returns
    -------
    DataFrame
        One row per sat; columns `MEASURED_COLUMNS`. `status` is one of `tasks.Status`;
        numbers that could not be measured are missing.
    """
    measured = _measure(sats, n_jobs or n_processors(), cache or Cache(default_place()), is_shown)
    return measured_frame(measured, [(edition, *sat[:-1]) for sat in sats])


def measured_frame(
    measured: Sequence[Measurement], keys: Sequence[Sequence[object]] = ()
) -> pd.DataFrame:
    """Return measurements as a table, columns `MEASURED_COLUMNS`; the keys may be left out."""
    known = keys or [("", "", 0, "", "", "", "")] * len(measured)
    rows = [
        [*key, str(m.status), m.reason, *(m.numbers.get(n) for n in NUMBERS), m.discontinuous,
         ENGINE]
        for key, m in zip(known, measured, strict=True)
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=MEASURED_COLUMNS)
    return table.astype(no_measurements().dtypes.to_dict())


def _measure(
    sats: Sequence[Sat],
    n_jobs: int,
    cache: Cache,
    is_shown: bool | None,
) -> list[Measurement]:
    """Return the measurement of every sat, known or new."""
    found: dict[int, Measurement] = {}
    for i, sat in enumerate(sats):
        if sat.task.status is not Status.MEASURED:
            found[i] = Measurement(sat.task.status, sat.task.absent)
    content = digests(path for i, s in enumerate(sats) if i not in found for path in s.task.files)
    keys = {i: sat.task.key(content) for i, sat in enumerate(sats) if i not in found}
    known = cache.get(keys.values())
    found |= {i: known[key] for i, key in keys.items() if key in known}
    first = {key: i for i, key in reversed(keys.items()) if i not in found}
    todo = sorted(first.values())
    bar = progress_bar(len(todo), is_shown=is_shown if todo else False)
    new: dict[str, Measurement] = {}
    fresh: dict[str, Measurement] = {}

    def answered(position: int, measurement: Measurement) -> None:
        key = keys[todo[position]]
        new[key] = fresh[key] = measurement
        bar.update(1)
        if len(fresh) >= _KEPT_AT_A_TIME:
            cache.put(fresh)
            fresh.clear()

    try:
        measure_all([sats[i].task for i in todo], n_jobs, answered)
    finally:
        cache.put(fresh)
        bar.close()
    found |= {i: new[key] for i, key in keys.items() if i not in found}
    return [found[i] for i in range(len(sats))]


def verdict_table(measured: pd.DataFrame, rules: WitnessRules) -> pd.DataFrame:
    """Judge measured counterexamples under one rule set.

    Parameters
    ----------
    measured : DataFrame
        From `measure_sats`.
    rules : WitnessRules
        The rules.

    Returns
    -------
    DataFrame
        Columns `VERDICT_COLUMNS`, the rows of `measured`. Bounds and outputs are those that
        the rules look at: `input_excess` is the largest excess over the input bounds
        (0 within them), `output_margin` the smallest tolerance on outputs that would accept
        (not positive where none is needed). The last three columns say which rules; a table
        written to a csv file can be given to ``--checks``.
    """
    found = verdicts(measured, rules)
    return measured.assign(
        verdict=found,
        reason=reasons(measured, found, rules),
        input_excess=measured[excess(rules.bounds)],
        input_excess_rel=measured[excess(rules.bounds, is_relative=True)],
        output_margin=measured[margin(rules.outputs, rules.bounds)],
        fragile=is_fragile(measured, rules),
        **rules.words,
    )[VERDICT_COLUMNS]


ALL_RULES = [
    WitnessRules(*settings)
    for settings in itertools.product(
        Outputs, (Tolerance.ANY, Tolerance.SMALL, Tolerance.ZERO), Bounds
    )
]


def verdicts_under_all_rules(measured: pd.DataFrame) -> pd.DataFrame:
    """Judge measured counterexamples under every rule set there is.

    Returns
    -------
    DataFrame
        Columns benchmark, instance, tool, verdict, outputs, tolerance, bounds.
    """
    parts = [
        measured[["benchmark", "instance", "tool"]].assign(
            verdict=verdicts(measured, rules), **rules.words
        )
        for rules in ALL_RULES
    ]
    return pd.concat(parts, ignore_index=True)


def check_has_witnesses(edition: Edition, results: Path) -> None:
    """Refuse an edition whose results have no counterexample files.

    Raises
    ------
    UsageError
        Saying what was looked for, and where.
    """
    if edition.layout is None or edition.layout.kind != "competition":
        raise UsageError(f"{edition.title} has no counterexample files to validate")
    if not any(results.glob("*/*/*.counterexample*")):
        expected = "<tool>/<benchmark>/<network>_<property>.counterexample.gz"
        raise UsageError(f"{results}: expected files {expected}, found none")
