"""Which files belong to a sat: its counterexample, its networks, its property."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from vnnanalysis.editions import Edition
from vnnanalysis.layouts import networks_of_text
from vnnanalysis.limits import benchmark_folders
from vnnanalysis.tasks import Status, Task
from vnnanalysis.terms import Result

ENDINGS = (".counterexample.gz", ".counterexample")
CHECKED = ".check.json"  # behind the name without .gz
SIDECAR = f".counterexample{CHECKED}"


class Sat(NamedTuple):
    """A sat answer and the files that belong to it."""

    benchmark: str
    position: int  # of the instance in its benchmark, from 0
    instance: str
    network: str
    property: str
    tool: str
    task: Task


def sats_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a sat, without those that only measure start-up.

    Parameters
    ----------
    runs : DataFrame
        From `load.load_contest`.
    """
    return runs[(runs["result"] == Result.SAT) & ~runs["is_test"] & (runs["witness"] != "")]


def find_files(edition: Edition, runs: pd.DataFrame, results: Path, benchmarks: Path) -> list[Sat]:
    """Find the files of every sat of the tools that took part.

    Parameters
    ----------
    edition : Edition
        The edition.
    runs : DataFrame
        Of that edition; all rows, so that names that several instances share are known.
    results, benchmarks : Path
        The results folder, and the benchmark repository (or a folder of several).

    Returns
    -------
    list of Sat
        One per sat, in the order of the rows; what is absent stands in the task.
    """
    finder = _Finder(edition, runs, results, benchmarks)
    sats = sats_of(runs)
    sats = sats[~sats["tool"].isin(edition.extra_tools)]
    return [
        Sat(row.benchmark, row.index_, row.instance, row.network, row.property, row.tool,
            finder.task(row))
        for row in sats.rename(columns={"index": "index_"}).itertuples()
    ]  # fmt: skip


class Stems:
    """How the file of a row's counterexample may be called.

    The network's folder may stand before the name. Without it, a name that several instances
    of a tool share belongs to the one whose others have files of their own, or to nobody.

    Parameters
    ----------
    runs : DataFrame
        All rows of the edition.
    """

    def __init__(self, runs: pd.DataFrame) -> None:
        self._shared: dict[tuple[str, str, str], set[str]] = {}
        for row in runs[~runs["is_test"]].itertuples():
            key = (row.tool, row.benchmark, row.witness)
            self._shared.setdefault(key, set()).add(_with_folder(row))

    def of(self, row: Any, exists: Callable[[str], bool]) -> list[str]:
        """Return the possible stems, the likelier first; `exists` says whether there is a file."""
        own = _with_folder(row)
        others = self._shared[row.tool, row.benchmark, row.witness] - {own}
        return [own, *([row.witness] if all(map(exists, others)) else [])]


def _with_folder(row: Any) -> str:
    return f"{Path(row.network).parent.name}_{row.witness}"


class _Finder:
    def __init__(
        self, edition: Edition, runs: pd.DataFrame, results: Path, benchmarks: Path
    ) -> None:
        self.edition, self.results, self.benchmarks = edition, results, benchmarks
        self.stems = Stems(runs)
        self.listings: dict[Path, set[str]] = {}
        self.found: dict[tuple[str, ...], Path | None] = {}
        self.tracked, self.problem = _tracked(results)

    def task(self, row: Any) -> Task:
        """Return the task of a row."""
        witness, status, missing = self._witness(row)
        networks = [(name, self._file(row, path)) for name, path in networks_of_text(row.network)]
        prop = self._file(row, row.property)
        wanted = [*(path for _, path in networks_of_text(row.network)), row.property]
        found = [*(path for _, path in networks), prop]
        absent = [path for path, place in zip(wanted, found, strict=True) if place is None]
        told = missing or (f"not here: {', '.join(absent)}" if absent else "")
        named = tuple((name, str(path or "")) for name, path in networks)
        return Task(str(witness or ""), named, str(prop or ""), row.vnnlib_version, told, status)

    def _witness(self, row: Any) -> tuple[Path | None, Status, str]:
        """Return the counterexample's file; or what its absence means, and why."""
        folder = self.results / self.edition.tool_files.get(row.tool, row.tool) / row.benchmark
        listed = self._listing(folder)

        def exists(stem: str) -> bool:
            return any(f"{stem}{ending}" in listed for ending in ENDINGS)

        stems = self.stems.of(row, exists)
        if len(stems) == 1 and not exists(stems[0]) and exists(row.witness):
            told = f"{row.witness}.counterexample may belong to several instances"
            return None, Status.NOT_AVAILABLE, told
        names = [f"{stem}{ending}" for stem in stems for ending in ENDINGS]
        found = next((name for name in names if name in listed), None)
        if found is not None:
            return folder / found, Status.MEASURED, ""
        return None, *self._missing(row, folder, names)

    def _missing(self, row: Any, folder: Path, names: list[str]) -> tuple[Status, str]:
        """Say what it means that there is no counterexample's file."""
        if self.tracked is not None:
            for name in names:
                if (folder / name).relative_to(self.results).as_posix() in self.tracked:
                    return Status.NOT_AVAILABLE, f"not here: {name}, which git knows"
            return Status.NO_CE, "no file, neither here nor in git"
        if self.problem:
            told = f"no file here, and git does not say whether there is one ({self.problem})"
            return Status.NOT_AVAILABLE, told
        if any(name.endswith(ENDINGS) for name in self._listing(folder)):
            return Status.NO_CE, "no file, where the tool has others"
        told = f"no counterexample of {row.tool} for {row.benchmark} is here"
        return Status.NOT_AVAILABLE, told

    def _listing(self, folder: Path) -> set[str]:
        if folder not in self.listings:
            try:
                names = {path.name for path in folder.iterdir()}
            except OSError:  # no folder, or one that may not be read
                names = set()
            self.listings[folder] = names
        return self.listings[folder]

    def _file(self, row: Any, path: str) -> Path | None:
        """Return a file of the row's benchmark, packed or not; None if it is not here."""
        own = self.edition.benchmark_files.name
        yearly = f"vnncomp{row.benchmark_year}_benchmarks" if row.benchmark_year else own
        key = (yearly, row.category, row.vnnlib_version, path)
        if key not in self.found:
            folders = benchmark_folders(self.benchmarks, *key[:3])
            places = (folder / f"{path}{end}" for folder in folders for end in ("", ".gz"))
            self.found[key] = next((place for place in places if _is_file(place)), None)
        return self.found[key]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # in a folder that may not be read
        return False


def _tracked(results: Path) -> tuple[set[str] | None, str]:
    """Return the files that git tracks here, if the folder is in a checkout that has any.

    If it is a checkout of its own and git does not answer, also why.
    """
    is_own = (results / ".git").exists()
    command = ["git", "-C", str(results), "ls-files", "-z"]
    try:
        run = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        return None, f"git: {error.strerror}" * is_own
    if run.returncode:
        told = run.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        return None, (told or f"exit code {run.returncode}") * is_own
    tracked = {name for name in run.stdout.decode("utf-8", "surrogateescape").split("\0") if name}
    return (tracked if tracked or is_own else None), ""
