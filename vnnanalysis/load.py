"""Raw result files to runs: the only reader of raw results.

Two layouts: the competition's csv files (one per tool, no header) and a tidy csv
(``tool, benchmark, instance, result, time_s[, timeout_s]``, with a header).
"""

import dataclasses
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vnnanalysis.editions import MAIN_TRACK, Edition, Track, read_edition
from vnnanalysis.errors import RawDataError, UsageError, nearest
from vnnanalysis.paths import find, resource
from vnnanalysis.rows import Log, Row, lines, split_line
from vnnanalysis.terms import ANSWERS, LABELS, Result, parse_label

INSTANCE = ["benchmark", "instance"]
KEY = [*INSTANCE, "tool"]
RAW_FIELDS = ("category", "network", "property", "prepare time", "result", "run time")
TIDY_FIELDS = ("tool", "benchmark", "instance", "result", "time_s")
TIDY_OPTIONAL = ("timeout_s",)
LIMIT_FIELDS = ("network", "property", "timeout")
COLUMNS = [
    *("edition", "benchmark", "index", "instance", "tool", "result", "run_s", "prepare_s"),
    *("timeout_s", "result_raw", "network", "property", "benchmark_year", "occurrence"),
    *("is_test", "excluded", "source"),
]

_PATH = re.compile(
    r"(?:.*?vnncomp(?P<year>\d{4})_benchmarks/)?(?:.*?/)?benchmarks/(?P<folder>[^/]+)/"
    r"(?:\d+\.\d+/)?(?P<rest>.+)"
)
_TEST_NETWORKS = ("test_nano", "test_tiny")

Record = dict[str, Any]
Identify = Callable[[Row], Record]


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
    runs = _read_field(edition, results, log, lenient=lenient)
    edition = _complete_edition(edition, runs)
    for path in map(find, extra):
        runs, edition = _read_extra(path, runs, edition, log, lenient=lenient)
    if benchmarks is not None:
        runs = _with_limits(runs, find(benchmarks), log)
        log.check(lenient=lenient)
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
        records = list(_read_tidy(edition.path, log, _tidy_identity(edition)))
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
    records = list(_read_tidy(path, log, _tidy_identity(edition, beside=runs)))
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
    default = resource("data", "raw", edition.repository.rpartition("/")[2])
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
        identify = _raw_identity(tool, edition)
        rows = [_record(row, identify, log) for row in log.rows(path, RAW_FIELDS)]
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


def relative_path(path: str) -> tuple[str, str, str] | None:
    """Split a network's or property's path into what identifies it.

    Parameters
    ----------
    path : str
        Path as it stands in a raw file.

    Returns
    -------
    tuple of str, or None
        Year of the benchmark repository (may be empty), benchmark folder, and the path
        below it without VNN-LIB version directory and without ``.gz``; None if the path
        has no benchmark in it.

    Examples
    --------
    >>> relative_path("vnncomp2022_benchmarks/benchmarks/rl_benchmarks/1.0/./onnx/a.onnx.gz")
    ('2022', 'rl_benchmarks', 'onnx/a.onnx')
    """
    match = _PATH.fullmatch(posixpath.normpath(path.strip()))
    if match is None:
        return None
    return match["year"] or "", match["folder"], match["rest"].removesuffix(".gz")


def _split_path(row: Row, name: str) -> tuple[str, str, str]:
    parts = relative_path(row.text(name))
    if parts is None:
        raise row.error(name, "a path with benchmarks/<benchmark>/ in it")
    return parts


def _raw_identity(tool: str, edition: Edition) -> Identify:
    layout = edition.layout
    assert layout is not None

    def identify(row: Row) -> Record:
        category = row.text("category")
        year, folder, network = _split_path(row, "network")
        benchmark = layout.benchmark_id.format(category=category, year=year)
        start_up_only = category in layout.start_up_only
        is_test = folder == "test" and posixpath.basename(network).startswith(_TEST_NETWORKS)
        if not start_up_only and benchmark not in edition.benchmarks:
            known = nearest(benchmark, edition.benchmarks)
            raise row.error("category", f"a benchmark ({known})")
        if folder != category and not is_test:
            raise row.error("network", f"a path with benchmarks/{category}/ in it")
        return {
            "tool": tool,
            "benchmark": benchmark,
            "benchmark_year": year,
            "network": network,
            "property": _split_path(row, "property")[2],
            "is_test": is_test or start_up_only,
        }

    return identify


# --- the tidy layout --------------------------------------------------------------------


def _read_tidy(path: Path, log: Log, identify: Identify) -> Iterator[Record]:
    if not path.is_file():
        raise UsageError(f"no such file: {path}")
    for row in log.rows(path, _tidy_header(path), skip=1):
        if record := _record(row, identify, log):
            yield record


def _tidy_header(path: Path) -> tuple[str, ...]:
    line, text = next(iter(lines(path)), (1, b'""'))
    names = tuple(name.strip() for name in split_line(path, line, text))
    header = f"a header of {', '.join(TIDY_FIELDS)}[, {', '.join(TIDY_OPTIONAL)}]"
    for position, name in enumerate(names, 1):
        if name not in (*TIDY_FIELDS, *TIDY_OPTIONAL) or name in names[: position - 1]:
            raise RawDataError(path, line, str(position), name, header)
    for name in TIDY_FIELDS:
        if name not in names:
            found = ",".join(names)
            raise RawDataError(path, line, str(len(names)), found, f"{header}: no {name}")
    return names


def _tidy_identity(edition: Edition, beside: pd.DataFrame | None = None) -> Identify:
    """Return the reader of a tidy row's identity, which must be new and, beside an edition, known.

    An instance may stand only once per tool here: a tidy file is written by hand or by a
    script, and a second line for the same instance is a mistake in it.
    """
    seen: dict[tuple[str, ...], int] = {}
    taken = set() if beside is None else {*beside["tool"], *edition.tools}
    known = None if beside is None else _instances_by_benchmark(beside)
    benchmarks = edition.benchmarks if known is None else known

    def identify(row: Row) -> Record:
        tool, benchmark, instance = (row.text(name) for name in ("tool", "benchmark", "instance"))
        if tool in taken:
            raise row.error("tool", "a name that no other tool has")
        if benchmarks and benchmark not in benchmarks:
            raise row.error("benchmark", f"a benchmark ({nearest(benchmark, benchmarks)})")
        if known is not None and instance not in known[benchmark]:
            near = nearest(instance, known[benchmark]).partition(";")[0]
            raise row.error("instance", f"an instance of {benchmark} ({near})")
        first = seen.setdefault((tool, benchmark, instance), row.line)
        if first != row.line:
            raise row.error("instance", f"each instance once per tool (it stands in line {first})")
        return {
            "tool": tool,
            "benchmark": benchmark,
            "benchmark_year": "",
            "instance": instance,
            "network": instance,
            "property": "",
            "is_test": False,
        }

    return identify


def _instances_by_benchmark(runs: pd.DataFrame) -> dict[str, list[str]]:
    names = runs.loc[~runs["is_test"], INSTANCE].drop_duplicates()
    return {str(b): list(group) for b, group in names.groupby("benchmark")["instance"]}


# --- what both layouts share ------------------------------------------------------------


def _record(row: Row, identify: Identify, log: Log) -> Record | None:
    """Read a row; one whose identity is sound but whose values are not is excluded."""
    try:
        record = identify(row)
    except RawDataError as error:
        log.set_aside(error)
        return None
    record |= {"excluded": "", "source": f"{row.path.name}:{row.line}"}
    try:
        return record | _measurement(row)
    except RawDataError as error:
        log.set_aside(error)
        excluded = f"bad row: column {error.column}: {error.value!r}"
        return record | {"result": str(Result.UNKNOWN), "excluded": excluded}


def _measurement(row: Row) -> Record:
    raw = row.raw("result")
    result = parse_label(raw)
    if result is None:
        raise row.error("result", f"a label ({nearest(raw.partition('(')[0].strip(), LABELS)})")
    is_raw = "run time" in row.names
    return {
        "result": str(result),
        "result_raw": raw.strip(),
        "run_s": row.seconds("run time" if is_raw else "time_s", needed=result in ANSWERS),
        "prepare_s": row.seconds("prepare time") if is_raw else np.nan,
        "timeout_s": row.seconds("timeout_s") if "timeout_s" in row.names else np.nan,
    }


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
