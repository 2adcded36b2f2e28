"""Time limits, from the ``instances.csv`` files of the organisers' benchmark repository."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from vnnanalysis.errors import RawDataError, UsageError
from vnnanalysis.layouts import join_networks, networks_of, normal_path
from vnnanalysis.rows import Log

LIMIT_FIELDS = ("network", "property", "timeout")
_YEARLY = re.compile(r"vnncomp\d{4}_benchmarks")
_FILE = ["benchmark_year", "category", "vnnlib_version"]  # what has an instances.csv of its own


def read_limits(path: Path, log: Log) -> pd.DataFrame:
    """Read an ``instances.csv``: columns network, property and timeout_s.

    Paths are relative to the benchmark, without ``./`` and ``.gz``, as in the runs.
    """
    limits = []
    for row in log.rows(path, LIMIT_FIELDS):
        pairs = networks_of(row.text("network"))
        if pairs is None:
            log.set_aside(row.error("network", "a path, or a list of ('name', 'path') pairs"))
            continue
        network = join_networks([(name, normal_path(path)) for name, path in pairs])
        seconds = row.seconds("timeout", needed=True)
        limits.append((network, normal_path(row.text("property")), seconds))
    table = pd.DataFrame(limits, columns=["network", "property", "timeout_s"])
    table = table.astype({"network": "str", "property": "str", "timeout_s": "float64"})
    known = table.drop_duplicates(["network", "property"])
    for row in table.drop_duplicates().drop(index=known.index).itertuples():
        problem = "another limit for an instance that stands above: left out"
        log.note(path, problem, f"{row.network}, {row.property}: {row.timeout_s:g} s")
    return known


def with_limits(runs: pd.DataFrame, repository: Path, log: Log, *, own: str = "") -> pd.DataFrame:
    """Fill in the time limit of every instance, looked up by its identity.

    Parameters
    ----------
    runs : DataFrame
        Requires benchmark_year, category, vnnlib_version, network, property and source.
    repository : Path
        The benchmark repository, its ``benchmarks`` folder, or a folder with the
        repositories of several years, each by its own name.
    log : Log
        For the files read.
    own : str
        Name of the edition's repository, for rows whose path names no year.

    Returns
    -------
    DataFrame
        The runs; `timeout_s` is missing where no limit is known.

    Raises
    ------
    UsageError
        If no ``instances.csv`` is found.
    """
    tables = []
    for keys in runs.loc[~runs["is_test"], _FILE].drop_duplicates().itertuples(index=False):
        yearly = f"vnncomp{keys.benchmark_year}_benchmarks" if keys.benchmark_year else own
        path = _find(repository, yearly, keys.category, keys.vnnlib_version)
        if path is not None:
            tables.append(read_limits(path, log).assign(**keys._asdict()))
    if not tables:
        expected = "benchmarks/<benchmark>[/<version>]/instances.csv"
        raise UsageError(f"{repository}: expected {expected}, found none")
    on = [*_FILE, "network", "property"]
    columns = list(runs.columns)
    return runs.drop(columns="timeout_s").merge(
        pd.concat(tables), how="left", on=on, validate="many_to_one"
    )[columns]


def _find(repository: Path, yearly: str, category: str, version: str) -> Path | None:
    names = ["instances.csv", f"{category}_instances.csv"]
    folders = benchmark_folders(repository, yearly, category, version)
    return next((f / name for f in folders for name in names if (f / name).is_file()), None)


def benchmark_folders(repository: Path, yearly: str, category: str, version: str) -> Iterator[Path]:
    """Yield where the files of a benchmark may lie, the likeliest place first.

    Parameters
    ----------
    repository : Path
        The benchmark repository, its ``benchmarks`` folder, or a folder with those of several
        years.
    yearly : str
        Name of the repository of the benchmark's year; may be empty.
    category, version : str
        The benchmark's own folder, and that of a version of VNN-LIB in it, which may be empty.
    """
    folders = [repository / yearly / "benchmarks", repository / yearly] if yearly else []
    own_names = {n for n in (repository.name, repository.parent.name) if _YEARLY.fullmatch(n)}
    if not (yearly and own_names and yearly not in own_names):
        folders += [repository / "benchmarks", repository]
    for folder in folders:
        if version:
            yield folder / category / version
        yield folder / category


def check_complete(runs: pd.DataFrame, inputs: Iterable[Path]) -> None:
    """Refuse rows whose time limit is not known, as the rules of 2026 want it.

    Parameters
    ----------
    runs : DataFrame
        From `load.load_contest`.
    inputs : iterable of Path
        The files that were read, among them those with limits.

    Raises
    ------
    UsageError
        If no file with limits was read, or none of a benchmark.
    RawDataError
        If a row's instance is not listed, with file and line of the row.
    """
    real = runs[~runs["is_test"] & (runs["excluded"] == "")]
    unknown = real[real["timeout_s"].isna()]
    read = [path for path in inputs if path.name.endswith("instances.csv")]
    if len(unknown) and not read and len(unknown) == len(real):
        raise UsageError(
            "the time limits are enforced, and none is known: name the benchmark repository with "
            "--benchmarks (benchmarks_dir in a notebook, --benchmarks-root for several editions), "
            "or set enforce_timeouts=false"
        )
    for row in unknown.head(1).itertuples():
        version = f" of version {row.vnnlib_version}" if row.vnnlib_version else ""
        parts = {row.category, row.vnnlib_version or row.category}
        if not any(parts <= set(path.parts) for path in read):
            raise UsageError(
                f"the time limits are enforced: expected an instances.csv of {row.category}"
                f"{version} in the benchmark repository, found none"
            )
        file, _, line = str(row.source).rpartition(":")
        expected = f"an instance that stands in the instances.csv of {row.category}{version}"
        more = f" ({len(unknown) - 1} more rows are not listed)" if len(unknown) > 1 else ""
        found = f"{row.network}, {row.property}"
        raise RawDataError(Path(file), int(line), "2, 3", found, expected + more)
