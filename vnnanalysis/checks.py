"""Witness verdicts: what became of checking each sat's counterexample.

A table is a csv file with a header, or a parquet file: benchmark, tool, verdict, an instance's
position (index, from 0) or name (instance), and optionally under which rules the verdict was
found: tolerance, outputs and bounds (see `terms`). The 2026 layout has a json file beside each
witness instead.
"""

import difflib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from vnnanalysis.editions import Edition
from vnnanalysis.errors import RawDataError, UsageError, nearest
from vnnanalysis.layouts import INSTANCE, WITNESS, stem_names
from vnnanalysis.measured_cache import digests
from vnnanalysis.paths import find, resource
from vnnanalysis.rows import Log, Row, lines, split_line
from vnnanalysis.rules import ScoringRules
from vnnanalysis.terms import Bounds, Check, Outputs, Result, Tolerance
from vnnanalysis.witness_files import CHECKED, SIDECAR, Stems

_SETTINGS = {"tolerance": Tolerance, "outputs": Outputs, "bounds": Bounds}
CHECK_COLUMNS = ["benchmark", "instance", "tool", "verdict", *_SETTINGS]

_COLUMNS = ("benchmark", "index", "instance", "tool", "verdict", *_SETTINGS)
_NEEDED = ("benchmark", "tool", "verdict")
_WORDS = {str(check): check for check in Check if check != Check.UNCHECKED}
_WORDS["malformed_ce"] = Check.MALFORMED  # as the side-cars call it


def no_checks() -> pd.DataFrame:
    """Return an empty table of checks."""
    return pd.DataFrame(columns=CHECK_COLUMNS, dtype="str")


def load_checks(
    edition: Edition,
    runs: pd.DataFrame,
    given: Iterable[str | Path],
    folder: Path | None,
    log: Log,
    measured: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Collect the verdicts on an edition's counterexamples.

    For every witness the first that has a verdict counts: the tables given, what was measured
    here, the side-car in the results folder, and what comes with the edition (published
    verdicts, or measured ones). That a counterexample cannot be checked, or that a file is not
    available, is no verdict: it is what remains if nothing else is known.

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
    measured : DataFrame, optional
        From `validate.verdicts_under_all_rules`.

    Returns
    -------
    DataFrame
        Columns `CHECK_COLUMNS`, one row per checked sat and rule set; an empty tolerance,
        outputs or bounds means that the verdict holds for whatever the rules have.
    """
    parts = [_read_table(find(path), edition, runs, log) for path in given]
    if measured is not None:
        parts.append(measured[CHECK_COLUMNS].astype("str"))
    if folder is not None:
        parts.append(_read_sidecars(edition, folder, runs, log))
    if edition.verdict_tolerance:
        parts.append(_read_table(known_verdicts(edition), edition, runs, log))
    checks = no_checks()
    for part in [*(_verdicts(p) for p in parts), *(_verdicts(p, is_open=True) for p in parts)]:
        known = pd.MultiIndex.from_frame(checks[WITNESS])
        is_new = ~pd.MultiIndex.from_frame(part[WITNESS]).isin(known)
        checks = pd.concat([checks, part[is_new]], ignore_index=True).astype("str")
    return checks


def _verdicts(checks: pd.DataFrame, *, is_open: bool = False) -> pd.DataFrame:
    """Return the rows that are verdicts, or those that are none."""
    none = [str(Check.NOT_AVAILABLE), str(Check.UNSUPPORTED)]
    return checks[checks["verdict"].isin(none) == is_open]


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
    names, rows = _parquet_rows(path, log) if path.suffix == ".parquet" else _csv_rows(path, log)
    sats, records = _Sats(runs, names), []
    seen: dict[tuple[str, ...], int] = {}
    is_shipped = bool(edition.verdict_tolerance) and path == known_verdicts(edition)
    own = dict.fromkeys(_SETTINGS, "")
    if is_shipped:
        own = _settings_of(edition) | {"tolerance": str(edition.verdict_tolerance)}
    for row in rows:
        try:
            record = sats.record(row) | {name: _setting(row, name, own[name]) for name in own}
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


def _settings_of(edition: Edition) -> dict[str, str]:
    """Return the settings of an edition's own rules, under which its verdicts are found."""
    return {name: str(getattr(edition.rules, name)) for name in _SETTINGS}


def _csv_rows(path: Path, log: Log) -> tuple[tuple[str, ...], Iterable[Row]]:
    line, text = next(iter(lines(path)), (1, b'""'))
    names = tuple(name.strip() for name in split_line(path, line, text))
    _check_header(path, line, names)
    return names, log.rows(path, names, skip=1)


def _parquet_rows(path: Path, log: Log) -> tuple[tuple[str, ...], Iterable[Row]]:
    try:
        table = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: expected a parquet file ({error})") from None
    names = tuple(map(str, table.columns))
    _check_header(path, 1, names)
    log.inputs.append(path)
    texts = table.astype("str").to_numpy().tolist()
    return names, [Row(path, number, names, fields) for number, fields in enumerate(texts, 2)]


def _check_header(path: Path, line: int, names: tuple[str, ...]) -> None:
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


def _setting(row: Row, name: str, otherwise: str) -> str:
    text = row.raw(name).strip() if name in row.names else ""
    if text and text not in list(_SETTINGS[name]):
        raise row.error(name, f"one of {', '.join(_SETTINGS[name])}")
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
    stems, records, verdicts = Stems(runs), [], {}
    by_folder: dict[str, dict[str, str]] = {}
    for place in found:
        beside, _, own = place.rpartition("/")
        by_folder.setdefault(beside, {})[own.removesuffix(SIDECAR)] = place
    for row in sats.itertuples():
        beside = f"{edition.tool_files.get(row.tool, row.tool)}/{row.benchmark}"
        here = by_folder.get(beside, {})
        possible = stems.of(row, here.__contains__)
        name = next((here[stem] for stem in possible if stem in here), None)
        if name is not None and name not in verdicts:
            verdicts[name] = _sidecar(found[name], _settings_of(edition), log)
        if name is not None and verdicts[name]:
            records.append((row.benchmark, row.instance, row.tool, *verdicts[name]))
    log.inputs += [found[name] for name in verdicts]
    for name in sorted(found.keys() - verdicts.keys()):
        log.note(found[name], "a verdict on a witness that belongs to no sat: left out")
    return pd.DataFrame(records, columns=CHECK_COLUMNS)


def _sidecar(path: Path, own: dict[str, str], log: Log) -> tuple[str, ...]:
    """Read the verdict of a side-car and its rules; nothing if it is bad.

    One that does not say its rules, as the organisers' do not, has those of the edition.
    """
    try:
        content = _sidecar_content(path)
        word = str(content["result"]).casefold()
        if word not in _WORDS:
            raise RawDataError(path, 0, "", word, _expected(word))
    except RawDataError as error:
        log.set_aside(error)
        return ()
    digest = content.get("witness_sha256")
    beside = _digests_beside(path)
    if isinstance(digest, str) and beside and digest not in beside:
        log.note(path, "a side-car of another counterexample than the one here: left out")
        return ()
    rules = content.get("rules")
    given = rules if isinstance(rules, dict) else {}
    is_known = {n: given.get(n) in list(kind) for n, kind in _SETTINGS.items()}
    return str(_WORDS[word]), *(str(given[n]) if is_known[n] else own[n] for n in _SETTINGS)


def _sidecar_content(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
        content["result"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        expected = 'a json object with a member "result"'
        raise RawDataError(path, 0, "", f"{type(error).__name__}: {error}", expected) from None
    return dict(content)


def _digests_beside(path: Path) -> set[str]:
    """Return the SHA-256 of the counterexample that a side-car is for, packed or not."""
    name = path.name.removesuffix(CHECKED)
    return set(digests(str(path.with_name(f"{name}{end}")) for end in ("", ".gz")).values())


def _expected(word: str) -> str:
    return f"a verdict ({nearest(word, _WORDS)})"


def checks_in_force(checks: pd.DataFrame, rules: ScoringRules) -> pd.DataFrame:
    """Read the verdicts as the rules ask for them.

    A verdict found under the same outputs, bounds and tolerance is taken as it is; else the
    nearest. One found under others says less: a witness that is ``correct`` there and need
    not be here is ``correct_up_to_tolerance``.

    Parameters
    ----------
    checks : DataFrame
        Columns `CHECK_COLUMNS`; tolerance, outputs and bounds may be missing.
    rules : ScoringRules
        The rules in force.

    Returns
    -------
    DataFrame
        Columns benchmark, instance, tool, verdict (as found), tolerance (under which) and
        check (as the rules take it), one row per witness.
    """
    checks = checks.reindex(columns=CHECK_COLUMNS, fill_value="")
    strictness = {str(t): i for i, t in enumerate(Tolerance)}
    wanted = strictness[str(rules.tolerance)]
    measured = checks["tolerance"].map(strictness).astype("float64").fillna(wanted)
    other_outputs = _differs(checks, "outputs", rules.outputs)
    other_bounds = _differs(checks, "bounds", rules.bounds)
    same_outputs = ~other_outputs | (  # an exact one claims what the network gives
        (measured >= strictness[str(Tolerance.ZERO)]) & (checks["outputs"] == Outputs.CLAIMED)
    )
    laxer_bounds = other_bounds & (rules.bounds is Bounds.FLOAT64)
    nothing_proves = rules.tolerance is Tolerance.AS_COMMITTED
    need_not_be = (measured < wanted) | ~same_outputs | laxer_bounds | nothing_proves
    lowered = checks["verdict"].mask(
        need_not_be & (checks["verdict"] == Check.CORRECT), str(Check.UP_TO_TOLERANCE)
    )
    keyed = checks.assign(
        check=lowered,
        other=other_outputs * 2 + other_bounds,
        distance=(measured - wanted).abs(),
        laxness=-measured,
    )
    ordered = keyed.sort_values(["other", "distance", "laxness"], kind="stable")
    best = ordered.drop_duplicates(WITNESS)
    return best[[*WITNESS, "verdict", "tolerance", "check"]]


def _differs(checks: pd.DataFrame, name: str, value: str) -> pd.Series:
    """Mark the verdicts that were found under another setting."""
    return ~checks[name].isin(["", str(value)])


def judged_otherwise(checks: pd.DataFrame, rules: ScoringRules) -> int:
    """Count the witnesses whose verdicts were all found by other outputs than the rules take."""
    checks = checks.reindex(columns=CHECK_COLUMNS, fill_value="")
    fits = checks["outputs"].isin(["", str(rules.outputs)])
    is_verdict = checks["verdict"] != Check.NOT_AVAILABLE
    return len(checks[is_verdict].drop_duplicates(WITNESS)) - len(
        checks[fits & is_verdict].drop_duplicates(WITNESS)
    )
