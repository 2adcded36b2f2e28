"""Editions as data: the rules, tracks, names and layout of every year.

An edition is one TOML file in ``data/editions``; a contest in the tidy layout is a csv
file, with a TOML file of the same name beside it where its defaults do not fit.
"""

import dataclasses
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, get_type_hints

from vnnanalysis.errors import SchemaError, UsageError, check_known, nearest
from vnnanalysis.paths import find, resource
from vnnanalysis.terms import Conflicts, Duplicates, Overhead

MAIN_TRACK = "main"
ALL_TRACKS = "all"


@dataclass(frozen=True)
class ScoringRules:
    """The switches of a rule set; the defaults are those of VNN-COMP 2021.

    Sources: VNN-COMP 2021 report, section 0.2 (points, bonus, overhead) and 0.5.1
    (voting and odd-one-out).
    """

    overhead: Overhead = Overhead.MULTI
    conflicts: Conflicts = Conflicts.ODD_ONE_OUT
    duplicates: Duplicates = Duplicates.OFFICIAL
    correct_points: int = 10
    easy_sat_points: int = 1  # a correct sat that random generation finds too
    easy_sat_tool: str = "randgen"  # the tool that is the random generation; "" for none
    incorrect_points: int = -100
    fastest_bonus: int = 2
    second_bonus: int = 1
    tie_s: float = 0.2  # run times closer than this are equal
    time_floor_s: float = 1.0  # shorter run times count as this
    floor_percent: bool = True  # a negative benchmark percent counts as zero

    def with_settings(self, settings: Mapping[str, Any]) -> "ScoringRules":
        """Return these rules with some switches set otherwise.

        Parameters
        ----------
        settings : mapping of str to str, number or bool
            Field names and values, text as it stands on a command line or in TOML.

        Raises
        ------
        UsageError
            For an unknown name or value, with the nearest valid one.
        """
        types = get_type_hints(type(self))
        check_known("rule setting", settings, types)
        parsed = {name: _parse(name, types[name], value) for name, value in settings.items()}
        return dataclasses.replace(self, **parsed)


def _parse(name: str, kind: Any, value: Any) -> Any:
    if issubclass(kind, StrEnum):
        text = str(value).strip().lower().replace("_", "-")
        check_known(f"value for {name}", [text], [str(v) for v in kind])
        return kind(text)
    if kind is bool:
        text = str(value).strip().lower()
        check_known(f"value for {name}", [text], ["true", "false"])
        return text == "true"
    try:
        parsed = kind(value)
    except ValueError:
        raise UsageError(f"{name}: expected {kind.__name__}, found {value!r}") from None
    if kind is float and not 0 <= parsed < math.inf:
        raise UsageError(f"{name}: expected seconds, found {value!r}")
    return parsed


@dataclass(frozen=True)
class Track:
    """Benchmarks that share an overall ranking; `unscored` ones have tables only."""

    benchmarks: tuple[str, ...]
    unscored: tuple[str, ...] = ()


@dataclass(frozen=True)
class Skip:
    """A tool whose runs on one benchmark the organisers left out."""

    tool: str
    benchmark: str
    reason: str


@dataclass(frozen=True)
class Layout:
    """Where the raw rows lie and how a benchmark's id is made of them."""

    files: str  # path pattern below the results folder, with one {tool}
    benchmark_id: str = "{category}"  # may use {year}, the benchmark repository's year
    start_up_only: tuple[str, ...] = ()  # categories that only measure start-up


@dataclass(frozen=True)
class Edition:
    """One competition: everything about it that is not a measurement."""

    id: str
    title: str
    path: Path
    rules: ScoringRules = ScoringRules()
    layout: Layout | None = None  # None for the tidy layout
    repository: str = ""
    commit: str = ""
    tracks: Mapping[str, Track] = field(default_factory=dict)
    skips: tuple[Skip, ...] = ()
    overhead_modes: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    display: Mapping[str, str] = field(default_factory=dict)  # tool names as printed
    tools: tuple[str, ...] = ()
    extra_tools: tuple[str, ...] = ()  # not part of the competition

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """Every benchmark, in the order of the tracks."""
        return tuple(b for track in self.tracks.values() for b in track.benchmarks)

    @property
    def scored(self) -> tuple[str, ...]:
        """The benchmarks that count in an overall ranking."""
        unscored = {b for track in self.tracks.values() for b in track.unscored}
        return tuple(b for b in self.benchmarks if b not in unscored)

    def track_of(self, benchmark: str) -> str:
        """Return the track a benchmark belongs to."""
        return next(n for n, track in self.tracks.items() if benchmark in track.benchmarks)

    def name(self, tool: str) -> str:
        """Return a tool's name as printed.

        A display name from an edition file may contain LaTeX math between dollar signs; the
        raw name of a tool is text, whatever characters it has.
        """
        mark = " (not in competition)" if tool in self.extra_tools else ""
        return self.display.get(tool, tool) + mark


def list_editions() -> list[str]:
    """Return the ids of all known editions."""
    return sorted(path.stem for path in resource("data", "editions").glob("*.toml"))


def read_edition(name: str) -> Edition:
    """Read an edition by id, ``example``, or the path of a tidy csv or an edition file.

    Raises
    ------
    UsageError
        If there is no such edition or file.
    SchemaError
        If the edition's file is not of the documented form.
    """
    known = list_editions()
    if name in known:
        return _from_toml(resource("data", "editions", f"{name}.toml"), name)
    csv = resource("data", "example", "example.csv") if name == "example" else find(name)
    if csv.suffix == ".toml" and csv.is_file():
        return _from_toml(csv, csv.stem)
    if csv.suffix != ".csv":
        raise UsageError(
            f"unknown edition {name!r}: {nearest(name, [*known, 'example'])}, "
            "or the path of a tidy .csv file"
        )
    if not csv.is_file():
        raise UsageError(f"no such file: {csv}")
    settings = csv.with_suffix(".toml")
    if settings.is_file():
        return dataclasses.replace(_from_toml(settings, csv.stem), path=csv)
    return Edition(id=csv.stem, title=csv.stem, path=csv)


_KEYS = {
    "": "title source layout rules tracks skips overhead_modes tools",
    "source": "repository commit",
    "layout": "files benchmark_id start_up_only",
    "tracks": "benchmarks unscored",
    "skips": "tool benchmark reason",
    "tools": "display",
}


def _check_keys(section: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
    check_known(f"key in [{section or 'top level'}]", table, _KEYS[section].split())
    return table


def _from_toml(path: Path, edition_id: str) -> Edition:
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
    source = _check_keys("source", table.get("source", {}))
    tools = {k: _check_keys("tools", v) for k, v in table.get("tools", {}).items()}
    layout = table.get("layout")
    return Edition(
        id=edition_id,
        title=table["title"],
        path=path,
        rules=ScoringRules().with_settings(table.get("rules", {})),
        layout=Layout(**_tuples(_check_keys("layout", layout))) if layout else None,
        repository=source.get("repository", ""),
        commit=source.get("commit", ""),
        tracks={
            name: Track(**_tuples(_check_keys("tracks", track)))
            for name, track in table.get("tracks", {}).items()
        },
        skips=tuple(Skip(**_check_keys("skips", skip)) for skip in table.get("skips", [])),
        overhead_modes={
            tool: _tuples(modes) for tool, modes in table.get("overhead_modes", {}).items()
        },
        display={tool: names["display"] for tool, names in tools.items() if "display" in names},
        tools=tuple(tools),
    )


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}


def _check_names(edition: Edition) -> None:
    twice = {b for b in edition.benchmarks if edition.benchmarks.count(b) > 1}
    if twice:
        raise UsageError(f"benchmark in more than one track: {', '.join(sorted(twice))}")
    for track in edition.tracks.values():
        check_known("unscored benchmark", track.unscored, track.benchmarks)
    modes = edition.overhead_modes
    check_known("tool", [skip.tool for skip in edition.skips] + list(modes), edition.tools)
    named = [b for mode in modes.values() for group in mode.values() for b in group]
    named += [skip.benchmark for skip in edition.skips]
    check_known("benchmark", named, edition.benchmarks)
