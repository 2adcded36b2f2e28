"""One row of a raw file to a record: the competition's layout, and the tidy one.

The competition's csv files have one row per instance and no header; a tidy csv has a header
(``tool, benchmark, instance, result, time_s[, timeout_s]``).
"""

import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vnnanalysis.editions import Edition
from vnnanalysis.errors import RawDataError, nearest
from vnnanalysis.rows import Log, Row, lines, split_line
from vnnanalysis.terms import ANSWERS, LABELS, Result, parse_label

INSTANCE = ["benchmark", "instance"]
RAW_FIELDS = ("category", "network", "property", "prepare time", "result", "run time")
TIDY_FIELDS = ("tool", "benchmark", "instance", "result", "time_s")
TIDY_OPTIONAL = ("timeout_s",)

_PATH = re.compile(
    r"(?:.*?vnncomp(?P<year>\d{4})_benchmarks/)?(?:.*?/)?benchmarks/(?P<folder>[^/]+)/"
    r"(?:\d+\.\d+/)?(?P<rest>.+)"
)
_TEST_NETWORKS = ("test_nano", "test_tiny")

Record = dict[str, Any]
Identify = Callable[[Row], Record]


def read_record(row: Row, identify: Identify, log: Log) -> Record | None:
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


def raw_identity(tool: str, edition: Edition) -> Identify:
    """Return the reader of what identifies a row in one tool's file."""
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


def tidy_header(path: Path) -> tuple[str, ...]:
    """Return the column names of a tidy csv file, which must be the documented ones."""
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


def tidy_identity(edition: Edition, beside: pd.DataFrame | None = None) -> Identify:
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
