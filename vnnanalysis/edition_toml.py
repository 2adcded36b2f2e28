"""Edition files: TOML to `Edition`; misspelt keys, names and values are errors."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

from vnnanalysis.edition_model import (
    ALL_TRACKS,
    STATISTICS,
    About,
    Edition,
    Layout,
    Skip,
    Source,
    TitleBlock,
    Track,
    default_variants,
)
from vnnanalysis.errors import SchemaError, UsageError, check_known
from vnnanalysis.rules import ScoringRules, as_text
from vnnanalysis.terms import Result, Tolerance

_KEYS = {
    "": "title remarks source benchmark_source layout rules variants verdicts tracks skips "
    "participants overhead_modes statistics benchmarks tools report",
    "source": "repository commit folder",
    "layout": "files kind benchmark_id start_up_only labels timeout_s networks categories unlisted",
    "verdicts": "tolerance origin",
    "tracks": "benchmarks unscored scored",
    "skips": "tool benchmark network reason",
    "tools": "display family file",
    "benchmarks": "display application network_types largest_file",
    "report": "title authors event date abstract",
}
_KINDS = ("competition", "problems")


_LISTS = ("files", "start_up_only", "benchmarks", "unscored", "authors")
_TEXTS = ("title", "repository", "commit", "kind", "benchmark_id", "unlisted", "origin", "tool",
          "benchmark", "folder", "network", "reason", "display", "family", "file", "application",
          "network_types", "largest_file", "event", "date", "abstract")  # fmt: skip


def _check_keys(section: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
    where = f"[{section}]" if section else "the top level"
    if not isinstance(table, Mapping):
        raise UsageError(f"{where}: expected keys and values, found {table!r}")
    check_known(f"key in {where}", table, _KEYS[section].split())
    for key, value in table.items():
        is_text = isinstance(value, str)
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        if section and key in _LISTS and not (is_list or (key == "files" and is_text)):
            raise UsageError(f"{key} in {where}: expected a list of texts, found {value!r}")
        if key in _TEXTS and not is_text:
            raise UsageError(f"{key} in {where}: expected a text, found {value!r}")
    return table


def _source(table: Mapping[str, str]) -> Source:
    source = Source(**_check_keys("source", table))
    if source.commit and not re.fullmatch(r"[0-9a-f]{40}", source.commit):
        raise UsageError(f"commit: expected all 40 digits of it, found {source.commit!r}")
    return source


def edition_from_toml(path: Path, edition_id: str) -> Edition:
    """Read an edition file.

    Raises
    ------
    SchemaError
        If it is not of the documented form.
    """
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
        edition = _build(path, edition_id, _check_keys("", table))
        _check_names(edition)
    except KeyError as error:
        raise SchemaError(path, f"expected a key {error}") from None
    except (ValueError, TypeError, AttributeError) as error:  # TOML, UTF-8, names, forms
        raise SchemaError(path, str(error)) from None
    return edition


def _build(path: Path, edition_id: str, table: Mapping[str, Any]) -> Edition:
    check_known("key in [statistics]", table.get("statistics", {}), STATISTICS)
    tools = {k: _check_keys("tools", v) for k, v in table.get("tools", {}).items()}
    benchmarks = _benchmarks(table.get("benchmarks", {}))
    layout = table.get("layout")
    verdicts = _check_keys("verdicts", table.get("verdicts", {}))
    _check_tables(table)
    return Edition(
        id=edition_id,
        title=table["title"],
        path=path,
        remarks=_remarks(table.get("remarks", [])),
        rules=ScoringRules().with_settings(table.get("rules", {})),
        layout=_layout(_check_keys("layout", layout)) if layout else None,
        results=_source(table.get("source", {})),
        benchmark_files=_source(table.get("benchmark_source", {})),
        verdict_tolerance=Tolerance(verdicts["tolerance"]) if verdicts else None,
        verdict_origin=_origin(verdicts.get("origin", "published")),
        tracks={
            name: _track(_check_keys("tracks", track))
            for name, track in table.get("tracks", {}).items()
        },
        skips=tuple(_skip(_check_keys("skips", skip)) for skip in table.get("skips", [])),
        participants=_participants(table.get("participants", {})),
        overhead_modes={
            tool: _tuples(modes) for tool, modes in table.get("overhead_modes", {}).items()
        },
        variants=_variants(table["variants"]) if "variants" in table else default_variants(),
        display=_with_key(tools, "display"),
        families=_with_key(tools, "family"),
        tool_files=_with_key(tools, "file"),
        benchmark_display=_with_key(benchmarks, "display"),
        about={name: _about(entry) for name, entry in benchmarks.items()},
        statistic_titles=dict(table.get("statistics", {})),
        tools=tuple(tools),
        report=TitleBlock(**_tuples(_check_keys("report", table.get("report", {})))),
    )


def _variants(table: Mapping[str, list[Any]]) -> dict[str, tuple[str, ...]]:
    """Return the values to compare as text, also where they are written as true or 0.5."""
    return {name: tuple(map(as_text, values)) for name, values in table.items()}


def _participants(table: Mapping[str, list[Any]]) -> dict[str, tuple[str, ...]]:
    for benchmark, tools in table.items():
        if not tools or not all(isinstance(tool, str) for tool in tools):
            raise UsageError(f"participants of {benchmark}: expected names, found {tools!r}")
        if len(set(tools)) < len(tools):
            raise UsageError(f"participants of {benchmark}: a tool stands there twice: {tools!r}")
    return _tuples(table)


def _remarks(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise UsageError(f"remarks: expected a list of texts, found {value!r}")
    return tuple(value)


def _origin(name: str) -> str:
    check_known("origin of verdicts", [name], ("published", "measured"))
    return name


def _skip(table: Mapping[str, str]) -> Skip:
    skip = Skip(**{"reason": table["reason"]} | dict(table))
    if not (skip.tool or skip.benchmark or skip.network):
        raise UsageError(f"a skip without tool, benchmark or network: {skip.reason}")
    return skip


def _check_tables(table: Mapping[str, Any]) -> None:
    for name in ("tracks", "overhead_modes", "tools"):
        _check_table(name, table.get(name, {}), Mapping)
    for modes in table.get("overhead_modes", {}).values():
        _check_table("overhead_modes", modes, list)
    for name in ("variants", "participants"):
        _check_table(name, table.get(name, {}), list)
    _check_table("statistics", table.get("statistics", {}), str)


def _check_table(name: str, table: Any, kind: Any) -> None:
    """Check a section whose keys are names, and whose values are all of one kind."""
    words = {str: "texts", list: "lists", Mapping: "tables"}[kind]
    if not isinstance(table, Mapping) or not all(isinstance(v, kind) for v in table.values()):
        raise UsageError(f"[{name}]: expected names with {words}, found {table!r}")


def _with_key(entries: Mapping[str, Mapping[str, str]], key: str) -> dict[str, str]:
    return {name: entry[key] for name, entry in entries.items() if key in entry}


def _benchmarks(table: Any) -> dict[str, Mapping[str, str]]:
    """Return what is said of each benchmark; a text alone is its printed name."""
    if not isinstance(table, Mapping):
        raise UsageError(f"[benchmarks]: expected names with texts or tables, found {table!r}")
    entries = {k: {"display": v} if isinstance(v, str) else v for k, v in table.items()}
    return {name: _check_keys("benchmarks", entry) for name, entry in entries.items()}


def _about(entry: Mapping[str, str]) -> About:
    return About(**{key: text for key, text in entry.items() if key != "display"})


def _layout(table: Mapping[str, Any]) -> Layout:
    files = table["files"]
    labels = {
        str(label).casefold(): Result(result) for label, result in table.get("labels", {}).items()
    }
    check_known("kind of layout", [table.get("kind", _KINDS[0])], _KINDS)
    for name in ("benchmark_id", "unlisted"):
        parts = list(Formatter().parse(table.get(name, "")))
        fields = [part for _, part, _, _ in parts if part is not None]
        check_known(f"field of {name}", fields, ("category", "year", "dataset"))
        if any(spec or conversion for _, _, spec, conversion in parts):
            raise UsageError(f"{name}: expected {{category}}, {{year}} or {{dataset}} alone")
    for pattern in [files] if isinstance(files, str) else files:
        if pattern.count("{tool}") != 1 or pattern.startswith("/"):
            raise UsageError(f"files: expected a path with one {{tool}}, found {pattern!r}")
    for name in ("networks", "categories"):
        _check_table(name, table.get(name, {}), str)
    if table.get("kind") == "problems" and not table.get("unlisted"):
        raise KeyError("unlisted")
    limit = table.get("timeout_s")
    if isinstance(limit, bool) or not isinstance(limit, int | float | None):
        raise UsageError(f"timeout_s: expected seconds, found {limit!r}")
    given = _tuples(table) | {"labels": labels}
    return Layout(**given | {"files": (files,) if isinstance(files, str) else tuple(files)})


def _track(table: Mapping[str, Any]) -> Track:
    benchmarks = tuple(table["benchmarks"])
    if not isinstance(table.get("scored", True), bool):
        raise UsageError(f"scored: expected true or false, found {table['scored']!r}")
    unscored = table.get("unscored", () if table.get("scored", True) else benchmarks)
    return Track(benchmarks, tuple(unscored))


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}


def _check_names(edition: Edition) -> None:
    twice = {b for b in edition.benchmarks if edition.benchmarks.count(b) > 1}
    if twice:
        raise UsageError(f"benchmark in more than one track: {', '.join(sorted(twice))}")
    for name, track in edition.tracks.items():
        check_known("unscored benchmark", track.unscored, track.benchmarks)
        if name == ALL_TRACKS:
            raise UsageError(f"a track may not be called {name!r}, which stands for all of them")
    names = [edition.tool_files.get(tool, tool) for tool in edition.tools]
    if len(set(names)) < len(names):
        raise UsageError(f"two tools with the same file: {', '.join(names)}")
    for chosen in edition.variant_grid():
        edition.rules.with_settings(chosen)
    modes = edition.overhead_modes
    named = [tool for group in edition.participants.values() for tool in group]
    named += [*modes, *(skip.tool for skip in edition.skips)]
    _check_listed("tool", named, edition.tools)
    named = [b for mode in modes.values() for group in mode.values() for b in group]
    named += [skip.benchmark for skip in edition.skips]
    named += [*edition.about, *edition.participants]
    _check_listed("benchmark", named, edition.benchmarks)


def _check_listed(kind: str, names: Iterable[str], listed: Iterable[str]) -> None:
    """Check names against a list that an edition may leave out, as in a tidy file's settings."""
    known = list(listed)
    if known:
        check_known(kind, [name for name in names if name], known)
