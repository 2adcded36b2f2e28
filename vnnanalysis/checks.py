"""Witness verdicts from tables: what became of checking each sat's counterexample.

A table is a csv file with a header: benchmark, tool, verdict, an instance's position (index,
from 0) or name (instance), and optionally tolerance, the reading of the rules that calls a
witness ``correct``. The 2026 layout has a json file beside each witness instead.
"""

import difflib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from vnnanalysis.editions import Edition
from vnnanalysis.errors import RawDataError, UsageError, nearest
from vnnanalysis.layouts import INSTANCE, stem_names
from vnnanalysis.paths import find, resource
from vnnanalysis.rows import Log, Row, lines, split_line
from vnnanalysis.terms import Check, Result, Tolerance

CHECK_COLUMNS = ["benchmark", "instance", "tool", "verdict", "tolerance"]
SIDECAR = ".counterexample.check.json"

_WITNESS = ["benchmark", "instance", "tool"]
_COLUMNS = ("benchmark", "index", "instance", "tool", "verdict", "tolerance")
_NEEDED = ("benchmark", "tool", "verdict")
_WORDS = {str(check): check for check in Check if check != Check.UNCHECKED}
_WORDS["malformed_ce"] = Check.MALFORMED  # as the side-cars call it


def no_checks() -> pd.DataFrame:
    """Return an empty table of checks."""
    return pd.DataFrame(columns=CHECK_COLUMNS, dtype="str")


def load_checks(
    edition: Edition, runs: pd.DataFrame, given: Iterable[str | Path], folder: Path | None, log: Log
) -> pd.DataFrame:
    """Collect the verdicts on an edition's counterexamples.

    For every witness the first that has a verdict counts: the tables given, the side-car in
    the results folder, and what comes with the edition (published verdicts, or measured ones).

    Parameters
    ----------
    edition : Edition
        The edition.
    runs : DataFrame
        From `load`, numbered.
    given : iterable of path
        Tables of verdicts.
    folder : Path or None
        The results folder.
    log : Log
        For oddities and the files read.

    Returns
    -------
    DataFrame
        Columns `CHECK_COLUMNS`, one row per checked sat and tolerance; an empty tolerance
        means that the verdict holds for whatever reading the rules have.
    """
    parts = [_read_table(find(path), edition, runs, log) for path in given]
    if folder is not None:
        parts.append(_read_sidecars(edition, folder, runs, log))
    if edition.verdict_tolerance:
        parts.append(_read_table(known_verdicts(edition), edition, runs, log))
    checks = no_checks()
    for part in parts:
        known = pd.MultiIndex.from_frame(checks[_WITNESS])
        is_new = ~pd.MultiIndex.from_frame(part[_WITNESS]).isin(known)
        checks = pd.concat([checks, part[is_new]], ignore_index=True).astype("str")
    return checks


def known_verdicts(edition: Edition) -> Path:
    """Return where the verdicts lie that an edition file announces.

    Those of the project are in ``data``; an edition file elsewhere has them beside it.
    """
    if edition.path.parent == resource("data", "editions"):
        return resource("data", edition.verdict_origin, edition.id, "verdicts.csv")
    return edition.path.with_suffix(".verdicts.csv")


def _read_table(path: Path, edition: Edition, runs: pd.DataFrame, log: Log) -> pd.DataFrame:
    if not path.is_file():
        raise UsageError(f"no such file: {path}" if not path.exists() else f"{path} is no file")
    if path.suffix == ".parquet":
        raise UsageError(f"{path}: expected a csv file")
    names = _header(path)
    sats, records = _Sats(runs, names), []
    seen: dict[tuple[str, ...], int] = {}
    is_shipped = bool(edition.verdict_tolerance) and path == known_verdicts(edition)
    own = str(edition.verdict_tolerance) if is_shipped else ""
    for row in log.rows(path, names, skip=1):
        try:
            record = sats.record(row) | {"tolerance": _tolerance(row, own)}
        except RawDataError as error:
            if not is_shipped:
                log.set_aside(error)
                continue
            log.note(path, f"no such row in these results: left out ({error.expected})",
                     error.value, line=row.line)  # fmt: skip
            continue
        if not sats.said_sat(record):
            log.note(path, "a verdict where the tool did not say sat: left out",
                     record["tool"], line=row.line)  # fmt: skip
            continue
        key = tuple(v for k, v in record.items() if k != "verdict")
        if key in seen:
            told = f"one verdict per witness (line {seen[key]} has one)"
            log.set_aside(row.error("verdict", told))
            continue
        seen[key] = row.line
        records.append(record)
    return pd.DataFrame(records, columns=CHECK_COLUMNS)


def _header(path: Path) -> tuple[str, ...]:
    line, text = next(iter(lines(path)), (1, b'""'))
    names = tuple(name.strip() for name in split_line(path, line, text))
    by = "instance" if "instance" in names else "index"
    for name in (*_NEEDED, by):
        if name not in names:
            expected = "columns benchmark, tool, verdict, and index or instance"
            raise RawDataError(path, line, str(len(names)), ",".join(names), expected)
    for position, name in enumerate(names, 1):
        absent = [c for c in _COLUMNS if c not in names]
        near = difflib.get_close_matches(name, absent, cutoff=0.8) if name not in _COLUMNS else []
        if near or (name in _COLUMNS and name in names[: position - 1]):
            expected = f"a column {near[0]}" if near else "every column once"
            raise RawDataError(path, line, str(position), name, expected)
    return names


def _tolerance(row: Row, otherwise: str) -> str:
    text = row.raw("tolerance").strip() if "tolerance" in row.names else ""
    if text and text not in list(Tolerance):
        raise row.error("tolerance", f"one of {', '.join(Tolerance)}")
    return text or otherwise


class _Sats:
    """Finds the run that a row of a table speaks of."""

    def __init__(self, runs: pd.DataFrame, names: tuple[str, ...]) -> None:
        real = runs[~runs["is_test"]]
        self.by_index = "index" in names
        key = "index" if self.by_index else "instance"
        listed = real.drop_duplicates(INSTANCE)
        self.instances = {
            (str(b), str(k)): str(i)
            for b, k, i in listed[["benchmark", key, "instance"]].itertuples(index=False)
        }
        stems = stem_names(listed)
        self.stems = dict(zip(zip(listed["benchmark"], listed["instance"], strict=True), stems,
                              strict=True))  # fmt: skip
        self.results = real.set_index([*INSTANCE, "tool"])["result"].to_dict()
        self.benchmarks = list(dict.fromkeys(real["benchmark"]))
        self.tools = list(dict.fromkeys(real["tool"]))
        self.names = names

    def record(self, row: Row) -> dict[str, Any]:
        """Return benchmark, instance, tool and verdict of a row; names must be known."""
        benchmark, tool = row.text("benchmark"), row.text("tool")
        for name, known in (("benchmark", self.benchmarks), ("tool", self.tools)):
            if row.text(name) not in known:
                raise row.error(name, f"a {name} with results ({nearest(row.text(name), known)})")
        key = "index" if self.by_index else "instance"
        instance = self.instances.get((benchmark, row.text(key)))
        if instance is None:
            raise row.error(key, f"an instance of {benchmark}")
        if self.by_index and "instance" in self.names:
            named = (instance, self.stems[benchmark, instance])
            if row.text("instance") not in named:
                raise row.error("instance", f"the instance with this index, {instance}")
        verdict = _WORDS.get(row.text("verdict").casefold())
        if verdict is None:
            raise row.error("verdict", _expected(row.text("verdict")))
        return {"benchmark": benchmark, "instance": instance, "tool": tool,
                "verdict": str(verdict)}  # fmt: skip

    def said_sat(self, record: dict[str, Any]) -> bool:
        """Tell whether there is a counterexample that a verdict can be about."""
        key = (record["benchmark"], record["instance"], record["tool"])
        return bool(self.results.get(key) == Result.SAT)


def _read_sidecars(edition: Edition, folder: Path, runs: pd.DataFrame, log: Log) -> pd.DataFrame:
    """Read the json files beside the witnesses of the (tool, benchmark) layout."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.glob(f"*/*/*{SIDECAR}")}
    if not found:
        return no_checks()
    sats = runs[(runs["result"] == Result.SAT) & ~runs["is_test"]]
    records, verdicts = [], {}
    for row in sats.itertuples():
        stems = [f"{Path(row.network).parent.name}_{row.witness}", row.witness]
        beside = f"{edition.tool_files.get(row.tool, row.tool)}/{row.benchmark}"
        name = next((n for s in stems if (n := f"{beside}/{s}{SIDECAR}") in found), None)
        if name is not None:
            if name not in verdicts:
                verdicts[name] = _sidecar_verdict(found[name])
            records.append((row.benchmark, row.instance, row.tool, str(verdicts[name]), ""))
    log.inputs += [found[name] for name in verdicts]
    for name in sorted(found.keys() - verdicts.keys()):
        log.note(found[name], "a verdict on a witness that belongs to no sat: left out")
    return pd.DataFrame(records, columns=CHECK_COLUMNS)


def _sidecar_verdict(path: Path) -> Check:
    """Read the verdict of a side-car: its member ``result``."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
        word = str(content["result"]).casefold()
    except (ValueError, KeyError, TypeError) as error:
        expected = 'a json object with a member "result"'
        raise RawDataError(path, 0, "", f"{type(error).__name__}: {error}", expected) from None
    if word not in _WORDS:
        raise RawDataError(path, 0, "", word, _expected(word))
    return _WORDS[word]


def _expected(word: str) -> str:
    return f"a verdict ({nearest(word, _WORDS)})"


def checks_in_force(checks: pd.DataFrame, tolerance: Tolerance) -> pd.DataFrame:
    """Read the verdicts at the exactness that the rules ask for.

    A verdict measured at that exactness is taken as it is. One at another says less: a
    witness that is ``correct`` there and need not be here is ``correct_up_to_tolerance``.

    Returns
    -------
    DataFrame
        Columns benchmark, instance, tool and check, one row per witness.
    """
    strictness = {str(t): i for i, t in enumerate(Tolerance)}
    wanted = strictness[str(tolerance)]
    measured = checks["tolerance"].map(strictness).astype("float64").fillna(wanted)
    too_lax = (measured < wanted) & (checks["verdict"] == Check.CORRECT)
    nothing_proves = tolerance is Tolerance.AS_COMMITTED
    lowered = checks["verdict"].mask(
        too_lax | (nothing_proves & (checks["verdict"] == Check.CORRECT)),
        str(Check.UP_TO_TOLERANCE),
    )
    keyed = checks.assign(check=lowered, distance=(measured - wanted).abs(), laxness=-measured)
    ordered = keyed.sort_values(["distance", "laxness"], kind="stable")
    best = ordered.drop_duplicates(["benchmark", "instance", "tool"])
    return best[["benchmark", "instance", "tool", "check"]]
