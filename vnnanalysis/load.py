"""Raw result files to runs: the only reader of raw results.

Two layouts: the competition's csv files (one per tool, no header) and a tidy csv
(``tool, benchmark, instance, result, time_s[, timeout_s]``, with a header).
"""

import dataclasses
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from vnnanalysis.editions import MAIN_TRACK, Edition, Track, read_edition
from vnnanalysis.errors import UsageError, nearest
from vnnanalysis.layouts import (
    INSTANCE,
    RAW_FIELDS,
    Identify,
    Record,
    raw_identity,
    read_record,
    tidy_header,
    tidy_identity,
)
from vnnanalysis.paths import find, raw_folder
from vnnanalysis.rows import Log, lines

COLUMNS = [
    *("edition", "benchmark", "index", "instance", "tool", "result", "run_s", "prepare_s"),
    *("timeout_s", "result_raw", "network", "property", "benchmark_year", "occurrence"),
    *("is_test", "excluded", "source"),
]

LIMIT_FIELDS = ("network", "property", "timeout")


@dataclass(frozen=True)
class Contest:
    """An edition with its runs.

    Attributes
    ----------
    edition : Edition
        Rules, tracks and names.
    runs : DataFrame
        One row per benchmark, instance and tool; columns `COLUMNS`. `run_s`, `prepare_s`
        and `timeout_s` are seconds, missing where not measured. Test rows have `is_test`
        and no `index`; `excluded` says why a row does not count, or is empty.
    problems : DataFrame
        What was odd in the files: columns file, line, column, value, problem.
    inputs : tuple of Path
        Every file that was read.
    """

    edition: Edition
    runs: pd.DataFrame
    problems: pd.DataFrame
    inputs: tuple[Path, ...]


def load_contest(
    name: str,
    results: str | Path | None = None,
    *,
    extra: Iterable[str | Path] = (),
    lenient: bool = False,
    benchmarks: str | Path | None = None,
) -> Contest:
    """Read an edition's raw results.

    Parameters
    ----------
    name : str
        An edition's id, ``example``, or the path of a tidy csv file.
    results : path, optional
        The folder with the edition's raw files; ``data/raw/<repository>`` by default.
    extra : iterable of path
        Tidy csv files of tools that were not part of the competition.
    lenient : bool
        Set bad rows aside and report them instead of raising.
    benchmarks : path, optional
        The organisers' benchmark repository, for the time limits.

    Returns
    -------
    Contest

    Raises
    ------
    RawDataError
        For the first bad row, with file, line, column and text.
    UsageError
        For an unknown edition or a folder that does not hold its files.
    """
    edition, log = read_edition(name), Log()
    if benchmarks is not None and edition.layout is None:
        raise UsageError(f"{edition.path}: the limits of a tidy file are its own timeout_s column")
    runs = _read_field(edition, results, log, lenient=lenient)
    edition = _complete_edition(edition, runs)
    if benchmarks is not None:
        runs = _with_limits(runs, find(benchmarks), log)
        log.check(lenient=lenient)
    for path in map(find, extra):
        runs, edition = _read_extra(path, runs, edition, log, lenient=lenient)
    _note_duplicates(runs, log)
    problems = pd.DataFrame(log.notes, columns=["file", "line", "column", "value", "problem"])
    runs = _exclude(runs, edition).assign(edition=edition.id)
    return Contest(edition, runs, problems, tuple(log.inputs))


def _read_field(
    edition: Edition, results: str | Path | None, log: Log, *, lenient: bool
) -> pd.DataFrame:
    """Read the rows of the competition itself."""
    if edition.layout is not None:
        records = _read_results(edition, _results_folder(edition, results), log)
    elif edition.path.suffix == ".csv":
        records = list(_read_tidy(edition.path, log, tidy_identity(edition)))
    else:
        raise UsageError(f"{edition.path}: expected a section [layout], or a csv file beside it")
    log.check(lenient=lenient)
    if not records:
        raise UsageError(f"{log.inputs[0]}: expected results of {edition.title}, found no row")
    return _number_instances(pd.DataFrame(records, columns=COLUMNS))


def _read_extra(
    path: Path, runs: pd.DataFrame, edition: Edition, log: Log, *, lenient: bool
) -> tuple[pd.DataFrame, Edition]:
    """Add the rows of tools that were not part of the competition."""
    records = list(_read_tidy(path, log, tidy_identity(edition, beside=runs)))
    log.check(lenient=lenient)
    if not records:
        raise UsageError(f"{path}: expected results of a tool, found no row")
    tools = tuple(dict.fromkeys(record["tool"] for record in records))
    edition = dataclasses.replace(
        edition, tools=(*edition.tools, *tools), extra_tools=(*edition.extra_tools, *tools)
    )
    return _add_beside(runs, records), edition


# --- the competition's layout -----------------------------------------------------------


def _results_folder(edition: Edition, results: str | Path | None) -> Path:
    default = raw_folder() / edition.repository.rpartition("/")[2]
    folder = find(results) if results else default
    if folder.is_dir():
        return folder
    raise UsageError(
        f"no results of {edition.title}: expected a checkout of {edition.repository} "
        f"(commit {edition.commit[:7]}) in {folder}; name another place with --results"
    )


def _read_results(edition: Edition, folder: Path, log: Log) -> list[Record]:
    records = []
    for tool, path in _tool_files(edition, folder, log).items():
        identify = raw_identity(tool, edition)
        rows = [read_record(row, identify, log) for row in log.rows(path, RAW_FIELDS)]
        if not rows:
            log.note(path, "no rows: judged without this tool", tool)
        records += [record for record in rows if record]
    return records


def _tool_files(edition: Edition, folder: Path, log: Log) -> dict[str, Path]:
    """Find one file per tool, from the repository's root or beside each other."""
    assert edition.layout is not None
    pattern = edition.layout.files
    parent = posixpath.dirname(pattern)
    if parent and "{tool}" not in parent and not (folder / parent).is_dir():
        pattern = posixpath.basename(pattern)
    tool_of = re.compile(re.escape(pattern).replace(r"\{tool\}", "([^/]+)"))
    found = {}
    for path in sorted(folder.glob(pattern.replace("{tool}", "*"))):
        match = tool_of.fullmatch(path.relative_to(folder).as_posix())
        assert match is not None
        tool = match[1]
        if tool in edition.tools:
            found[tool] = path
        elif lines(path):
            known = nearest(tool, edition.tools)
            raise UsageError(f"{path}: {tool!r} is no tool of {edition.title}: {known}")
        else:
            log.note(path, "an empty file, and no tool of the edition: left out", tool)
    if not found:
        raise UsageError(f"{folder}: expected files {pattern} of {edition.title}, found none")
    for tool in edition.tools:
        if tool not in found:
            missing = Path(pattern.replace("{tool}", tool))
            log.note(missing, "no results of this tool: judged without it", tool)
    return found


# --- the tidy layout --------------------------------------------------------------------


def _read_tidy(path: Path, log: Log, identify: Identify) -> Iterator[Record]:
    if not path.is_file():
        raise UsageError(f"no such file: {path}")
    for row in log.rows(path, tidy_header(path), skip=1):
        if record := read_record(row, identify, log):
            yield record


def _short_names(runs: pd.DataFrame) -> pd.Series:
    """Name instances by the stems of network and property, or by their paths where equal."""
    network = runs["network"].str.removesuffix(".onnx")
    prop = runs["property"].str.removesuffix(".vnnlib")
    short = network.str.rpartition("/")[2] + "-" + prop.str.rpartition("/")[2]
    identity = runs["network"] + "\n" + runs["property"]
    is_unique = identity.groupby([runs["benchmark"], short]).transform("nunique") == 1
    names = short.where(is_unique, network + "-" + prop)
    return names.where(runs["occurrence"] == 1, names + "#" + runs["occurrence"].astype(str))


def _number_instances(runs: pd.DataFrame) -> pd.DataFrame:
    """Give every instance its name and its position in the benchmark.

    The k-th time a tool lists an instance meets the k-th time of the others. Positions
    follow the files, those with most rows first; test rows are not counted.
    """
    identity = ["benchmark", "network", "property"]
    runs["occurrence"] = runs.groupby(["tool", "is_test", *identity]).cumcount() + 1
    runs["instance"] = runs["instance"].where(runs["instance"].notna(), _short_names(runs))
    n_rows = runs.groupby("tool")["tool"].transform("size")
    order = n_rows.sort_values(ascending=False, kind="stable").index
    instances = runs.loc[order].query("not is_test")[INSTANCE].drop_duplicates()
    instances["index"] = instances.groupby("benchmark").cumcount().astype("Int64")
    runs = runs.drop(columns="index").merge(
        instances, how="left", on=INSTANCE, validate="many_to_one"
    )
    runs["index"] = runs["index"].mask(runs["is_test"])
    return runs[COLUMNS]


def _add_beside(runs: pd.DataFrame, records: list[Record]) -> pd.DataFrame:
    added = pd.DataFrame(records, columns=COLUMNS).drop(columns=["index", "timeout_s"])
    facts = runs.loc[~runs["is_test"], [*INSTANCE, "index", "timeout_s"]]
    facts = facts.drop_duplicates(INSTANCE)
    added = added.merge(facts, on=INSTANCE, validate="many_to_one")
    added["occurrence"] = 1
    return pd.concat([runs, added[COLUMNS]], ignore_index=True)


def read_limits(path: Path, log: Log) -> pd.DataFrame:
    """Read an ``instances.csv``: columns network, property and timeout_s.

    Paths are relative to the benchmark, without ``./`` and ``.gz``, as in the runs.
    """
    limits = []
    for row in log.rows(path, LIMIT_FIELDS):
        network, prop = (
            posixpath.normpath(row.text(name)).removesuffix(".gz") for name in LIMIT_FIELDS[:2]
        )
        limits.append((network, prop, row.seconds("timeout", needed=True)))
    table = pd.DataFrame(limits, columns=["network", "property", "timeout_s"])
    return table.drop_duplicates(["network", "property"])


def _with_limits(runs: pd.DataFrame, repository: Path, log: Log) -> pd.DataFrame:
    folder = repository / "benchmarks" if (repository / "benchmarks").is_dir() else repository
    tables = []
    for benchmark in dict.fromkeys(runs["benchmark"]):
        names = ("instances.csv", f"{benchmark}_instances.csv")
        path = next((p for n in names if (p := folder / benchmark / n).is_file()), None)
        if path is not None:
            tables.append(read_limits(path, log).assign(benchmark=benchmark))
    if not tables:
        raise UsageError(f"{repository}: expected benchmarks/<benchmark>/instances.csv, found none")
    limits = pd.concat(tables)
    on = ["benchmark", "network", "property"]
    return runs.drop(columns="timeout_s").merge(limits, how="left", on=on, validate="many_to_one")[
        COLUMNS
    ]


def _exclude(runs: pd.DataFrame, edition: Edition) -> pd.DataFrame:
    excluded = runs["excluded"]
    for skip in edition.skips:
        hit = (runs["tool"] == skip.tool) & (runs["benchmark"] == skip.benchmark)
        reason = f"skipped: {skip.tool} on {skip.benchmark}, {skip.reason}"
        excluded = excluded.mask(hit & (excluded == ""), reason)
    return runs.assign(excluded=excluded)


def _note_duplicates(runs: pd.DataFrame, log: Log) -> None:
    again = runs[(runs["occurrence"] > 1) & ~runs["is_test"]]
    for (benchmark, instance), rows in again.groupby(INSTANCE, sort=False):
        file, _, line = str(rows["source"].iloc[0]).rpartition(":")
        problem = f"{benchmark} lists this instance again; it counts again for {len(rows)} tools"
        log.note(Path(file), problem, str(instance), line=int(line))


def _complete_edition(edition: Edition, runs: pd.DataFrame) -> Edition:
    """Fill in what a tidy file itself says: its tools, and one track of its benchmarks."""
    if edition.layout is not None:
        return edition
    tools = tuple(dict.fromkeys([*edition.tools, *runs["tool"]]))
    tracks = edition.tracks or {MAIN_TRACK: Track(tuple(dict.fromkeys(runs["benchmark"])))}
    return dataclasses.replace(edition, tools=tools, tracks=tracks)
