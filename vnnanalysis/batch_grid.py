"""Grid files: TOML to the runs they ask for; misspelt keys, names and values are errors."""

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vnnanalysis.analysis import parse_names
from vnnanalysis.editions import (
    ALL_TRACKS,
    EXAMPLE,
    Edition,
    list_editions,
    read_edition,
    read_rules,
)
from vnnanalysis.errors import NotebookError, UsageError, check_known
from vnnanalysis.files import results_folder
from vnnanalysis.notebooks import check_parameters, edition_notebooks, list_notebooks
from vnnanalysis.paths import raw_folder
from vnnanalysis.rules import ScoringRules
from vnnanalysis.tables import slug
from vnnanalysis.toml_file import TomlFile, read_toml

_LISTS = ("editions", "overhead", "conflicts", "tracks", "notebooks")
_KEYS = ("out", *_LISTS, "results", "parameters")
_ELSEWHERE = {  # parameters of notebooks that a grid sets in another place
    "out": "out", "edition": "editions", "overhead": "overhead", "conflicts": "conflicts",
    "track": "tracks", "results": "[results]",
}  # fmt: skip
_KINDS: dict[str, tuple[Any, str]] = {
    "rules": ((str, int), "a text"),
    "benchmarks_dir": (str, "a path"),
    "settings": (dict, "a table"),
    "lenient": (bool, "true or false"),
    "validate": (bool, "true or false"),
}


@dataclass(frozen=True)
class Run:
    """One notebook of a grid, to run on one edition under one rule variant.

    Attributes
    ----------
    edition : str
        The edition's name in the grid.
    overhead, conflicts, track : str
        The variant.
    notebook : Path
        The notebook.
    parameters : mapping
        Values for its parameters cell, without ``out``.
    folder : Path
        Where its files go, relative to the grid's folder.
    """

    edition: str
    overhead: str
    conflicts: str
    track: str
    notebook: Path
    parameters: Mapping[str, Any] = field(repr=False)
    folder: Path

    @property
    def variant(self) -> tuple[str, str, str, str]:
        """Everything but the notebook."""
        return self.edition, self.overhead, self.conflicts, self.track


@dataclass(frozen=True)
class Grid:
    """What to run: every combination of editions, rules, tracks and notebooks.

    Attributes
    ----------
    file : TomlFile
        Where it was read from.
    out : Path
        The folder for everything that is made.
    editions : mapping of str to str
        By name: what the notebooks take as their parameter `edition`.
    overhead, conflicts : mapping of str to tuple of str
        By edition: the values to compare; its own alone where the grid names none.
    tracks : tuple of str
        Tracks, or ``all``, ``scored``, ``unscored``.
    notebooks : tuple of Path
        The notebooks.
    results : mapping of str to str
        By edition: its results folder, where the grid names one.
    parameters : mapping of str to mapping
        By notebook: further parameters that it has.
    """

    file: TomlFile
    out: Path
    editions: Mapping[str, str]
    overhead: Mapping[str, tuple[str, ...]]
    conflicts: Mapping[str, tuple[str, ...]]
    tracks: tuple[str, ...]
    notebooks: tuple[Path, ...]
    results: Mapping[str, str]
    parameters: Mapping[str, Mapping[str, Any]]

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every run, in the order of the file."""
        return tuple(
            self._run(name, overhead, conflicts, track, notebook)
            for name in self.editions
            for overhead, conflicts, track, notebook in itertools.product(
                self.overhead[name], self.conflicts[name], self.tracks, self.notebooks
            )
        )

    def written(self, edition: str) -> str:
        """Return an edition as the file writes it."""
        return str(self.file.table["editions"][list(self.editions).index(edition)])

    def _run(self, name: str, overhead: str, conflicts: str, track: str, notebook: Path) -> Run:
        places = {"results": self.results[name]} if name in self.results else {}
        further = self.parameters[notebook.stem]
        variant = {"overhead": overhead, "conflicts": conflicts, "track": track}
        parameters = {"edition": self.editions[name], **places, **variant, **further}
        folder = Path(name, slug(f"{overhead}-{conflicts}-{track}"), notebook.stem)
        return Run(name, overhead, conflicts, track, notebook, parameters, folder)


def read_grid(path: Path) -> Grid:
    """Read a grid file, and check everything that can be checked without reading results.

    Parameters
    ----------
    path : Path
        A TOML file with keys out and editions; overhead, conflicts, tracks and notebooks;
        tables results (by edition) and parameters. Paths are relative to the file.

    Raises
    ------
    SchemaError
        With file and line, for what is no such file, and for a name or value that does not
        exist, with the nearest that does.
    """
    file = read_toml(path)
    _check_keys(file)
    table = file.table
    lists = {key: _texts(file, key, table[key]) for key in _LISTS if key in table}
    parameters = _parameters(file, table.get("parameters", {}))
    editions = {_named(file, text): (text, _edition(file, text)) for text in lists["editions"]}
    if len(editions) < len(lists["editions"]):
        raise file.error("editions: two of them have the same name, and so the same folder",
                         "editions")  # fmt: skip
    read = {name: edition for name, (_, edition) in editions.items()}
    _check_tracks(file, lists.get("tracks", []), read)
    notebooks = _notebooks(file, lists.get("notebooks"))
    return Grid(
        file=file,
        out=file.beside(table["out"]),
        editions={name: _located(file, text) for name, (text, _) in editions.items()},
        overhead=_values(file, "overhead", lists, read, parameters),
        conflicts=_values(file, "conflicts", lists, read, parameters),
        tracks=tuple(lists.get("tracks", [ALL_TRACKS])),
        notebooks=notebooks,
        results=_results(file, table.get("results", {}), editions),
        parameters=_by_notebook(file, parameters, notebooks),
    )


def _check_keys(file: TomlFile) -> None:
    for key in file.table:
        with file.at(key):
            check_known("key", [key], _KEYS)
    for key in ("out", "editions"):
        if key not in file.table:
            raise file.error(f"expected a key {key!r}")
    out = file.table["out"]
    if not isinstance(out, str) or not out.strip():
        raise file.error(f"out: expected a folder, found {out!r}", "out")
    for key in ("results", "parameters"):
        found = file.table.get(key, {})
        if not isinstance(found, dict):
            raise file.error(f"{key}: expected a table, found {found!r}", key)


def _texts(file: TomlFile, key: str, value: Any) -> list[str]:
    """Check a list of different texts, which may not be empty."""
    if not isinstance(value, list) or not value:
        raise file.error(f'{key}: expected a list of texts, such as ["a", "b"], found {value!r}',
                         key)  # fmt: skip
    for item in value:
        if not isinstance(item, str):
            raise file.error(f"{key}: expected a text in quotes, found {item!r}", key, value=item)
        if value.count(item) > 1:
            raise file.error(f"{key}: {item!r} stands there twice", key, value=item, nth=2)
    return value


def _is_file(edition: str) -> bool:
    return edition.endswith((".csv", ".toml"))


def _located(file: TomlFile, edition: str) -> str:
    return str(file.beside(edition)) if _is_file(edition) else edition


def _named(file: TomlFile, edition: str) -> str:
    """Return an edition's name in folders and tables."""
    if not _is_file(edition):
        return edition
    place = file.beside(edition)
    is_taken = place.stem in (*list_editions(), EXAMPLE)
    return slug(f"{place.stem}-{place.suffix[1:]}" if is_taken else place.stem)


def _edition(file: TomlFile, text: str) -> Edition:
    with file.at("editions", value=text):
        return read_edition(_located(file, text))


def _check_tracks(file: TomlFile, tracks: list[str], editions: Mapping[str, Edition]) -> None:
    """Check tracks against the editions that list theirs; others have them from their files."""
    for track, (name, edition) in itertools.product(tracks, editions.items()):
        if edition.tracks:
            with file.at("tracks", value=track):
                check_known(f"track of {name}", [track], edition.track_names)


def _values(
    file: TomlFile,
    key: str,
    lists: Mapping[str, list[str]],
    editions: Mapping[str, Edition],
    parameters: Mapping[str, Any],
) -> dict[str, tuple[str, ...]]:
    """Return a rule's values to compare, by edition; its own where the grid names none."""
    if key not in lists:
        rules = parameters.get("rules")
        with file.at("parameters", "rules"):
            own = {n: read_rules(str(rules)) if rules else e.rules for n, e in editions.items()}
        return {name: (str(getattr(rules, key)),) for name, rules in own.items()}
    values: list[str] = []
    for text in lists[key]:
        with file.at(key, value=text):
            value = str(getattr(ScoringRules().with_settings({key: text}), key))
        if value in values:
            raise file.error(f"{key}: {value!r} stands there twice", key, value=text)
        values.append(value)
    return dict.fromkeys(editions, tuple(values))


def _notebooks(file: TomlFile, names: list[str] | None) -> tuple[Path, ...]:
    """Return the notebooks of that name; all that are about one edition by default."""
    known = {path.stem: path for path in edition_notebooks()}
    several = {path.stem for path in list_notebooks()} - set(known)
    for name in names or ():
        if name in several:
            problem = f"{name} is about several editions, and cannot be in a grid"
            raise file.error(problem, "notebooks", value=name)
        with file.at("notebooks", value=name):
            check_known("notebook", [name], known)
    return tuple(known[name] for name in names or known)


def _results(
    file: TomlFile, table: Mapping[str, Any], editions: Mapping[str, tuple[str, Edition]]
) -> dict[str, str]:
    """Return the results folders that are named; every edition needs one, here or fetched."""
    written = {text: name for name, (text, _) in editions.items()}
    for key, value in table.items():
        with file.at("results", key):
            check_known("edition in [results]", [key], written)
            if editions[written[key]][1].layout is None:
                raise UsageError(f"[results]: {key} has no folder, its rows are in its csv file")
            if not isinstance(value, str) or not file.beside(value).is_dir():
                found = file.beside(value) if isinstance(value, str) else repr(value)
                raise UsageError(f"results of {key}: no such folder: {found}")
    for name, (text, edition) in editions.items():
        if text not in table and edition.layout is not None:
            _check_fetched(file, text, name, edition)
    return {written[key]: str(file.beside(value)) for key, value in table.items()}


def _check_fetched(file: TomlFile, text: str, name: str, edition: Edition) -> None:
    try:
        results_folder(edition, None)
    except UsageError:
        source = edition.results
        fetch = f"fetch them with 'vnnanalysis fetch {name}', or " if source.repository else ""
        where = f" in {raw_folder() / source.name}" if source.name else ""
        problem = f"no results of {name}{where}; {fetch}name their folder under [results]"
        raise file.error(problem, "editions", value=text) from None


def _parameters(file: TomlFile, table: Mapping[str, Any]) -> dict[str, Any]:
    """Check the further parameters; make their paths absolute."""
    for name, value in table.items():
        _check_parameter(file, name, value)
    for name in ("overhead", "conflicts"):
        if name in table.get("settings", {}):
            raise file.error(f"{name}: not among settings, but a key of the grid",
                             "parameters", "settings", name)  # fmt: skip
    parameters = dict(table)
    for name in ("extra", "checks"):
        if name in table:
            with file.at("parameters", name):
                paths = parse_names(name, table[name])
            parameters[name] = [str(file.beside(path)) for path in paths]
    if "benchmarks_dir" in table:
        parameters["benchmarks_dir"] = str(file.beside(table["benchmarks_dir"]))
    return parameters


def _check_parameter(file: TomlFile, name: str, value: Any) -> None:
    place = ("parameters", name)
    if name in _ELSEWHERE:
        raise file.error(f"{name}: not among [parameters], but {_ELSEWHERE[name]}", *place)
    kind, words = _KINDS.get(name, (object, ""))
    if not isinstance(value, kind):
        raise file.error(f"{name}: expected {words}, found {value!r}", *place)
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):  # dates, inf and nan
        raise file.error(f"{name}: no notebook takes {value!r}", *place) from None


def _by_notebook(
    file: TomlFile, parameters: Mapping[str, Any], notebooks: Iterable[Path]
) -> dict[str, dict[str, Any]]:
    """Give every notebook the parameters that it has; one that none has is an error."""
    given: dict[str, dict[str, Any]] = {notebook.stem: {} for notebook in notebooks}
    for name, value in parameters.items():
        problems = []
        for notebook in notebooks:
            try:
                check_parameters(notebook, {name: value})
            except NotebookError as error:
                problems.append(error.problem)
            else:
                given[notebook.stem][name] = value
        if len(problems) == len(given):
            raise file.error(problems[0], "parameters", name)
    return given
