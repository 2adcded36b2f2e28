"""One row of a raw file to a record; the competition's csv files, without header.

What a row of another layout identifies is read in `tidy` and `problems`.
"""

import ast
import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from vnnanalysis.editions import Edition
from vnnanalysis.errors import RawDataError, nearest
from vnnanalysis.rows import Log, Row
from vnnanalysis.terms import ANSWERS, LABELS, Result, parse_label

INSTANCE = ["benchmark", "instance"]
WITNESS = [*INSTANCE, "tool"]
RAW_FIELDS = ("category", "network", "property", "prepare time", "result", "run time")

_PATH = re.compile(
    r"(?:.*?vnncomp(?P<year>\d{4})_benchmarks/)?(?:.*?/)?benchmarks/(?P<folder>[^/]+)/"
    r"(?:(?P<version>\d+\.\d+)/)?(?P<rest>.+)"
)
_AND = " & "  # between several networks
_TEST_NETWORKS = ("test_nano", "test_tiny")

Record = dict[str, Any]
Identify = Callable[[Row], Record]


class BenchmarkPath(NamedTuple):
    """What identifies a network or a property in the repository of benchmarks."""

    year: str  # of the repository; may be empty
    folder: str  # the benchmark's
    version: str  # of VNN-LIB; empty where the benchmark has no such directory
    path: str  # below all that, without .gz


def read_record(
    row: Row, identify: Identify, log: Log, labels: Mapping[str, Result] | None = None
) -> Record | None:
    """Read a row; one whose identity is sound but whose values are not is excluded."""
    try:
        record = identify(row)
    except RawDataError as error:
        log.set_aside(error)
        return None
    record |= {"excluded": "", "source": f"{log.shown(row.path)}:{row.line}"}
    try:
        return record | _measurement(row, labels)
    except RawDataError as error:
        log.set_aside(error)
        excluded = f"bad row: column {error.column}: {error.value!r}"
        return record | {"result": str(Result.UNKNOWN), "excluded": excluded}


def _measurement(row: Row, labels: Mapping[str, Result] | None) -> Record:
    raw = row.raw("result")
    result = parse_label(raw, labels)
    if result is None:
        raise row.error("result", f"a label ({nearest(raw.partition('(')[0].strip(), LABELS)})")
    time = "run time" if "run time" in row.names else "time_s"
    return {
        "result": str(result),
        "result_raw": raw.strip(),
        "run_s": row.seconds(time, needed=result in ANSWERS),
        "prepare_s": row.seconds("prepare time") if "prepare time" in row.names else np.nan,
        "timeout_s": row.seconds("timeout_s") if "timeout_s" in row.names else np.nan,
    }


def identity(tool: str, benchmark: str, *, network: str, **more: Any) -> Record:
    """Return the identifying part of a record; what is not given is empty."""
    empty = {"benchmark_year": "", "category": benchmark, "vnnlib_version": "", "property": "",
             "witness": "", "is_test": False, "network": network}  # fmt: skip
    return {"tool": tool, "benchmark": benchmark, **empty, **more}


def relative_path(path: str) -> BenchmarkPath | None:
    """Split a network's or property's path into what identifies it.

    Parameters
    ----------
    path : str
        Path as it stands in a raw file.

    Returns
    -------
    BenchmarkPath, or None
        None if the path has no benchmark in it.

    Examples
    --------
    >>> relative_path("vnncomp2022_benchmarks/benchmarks/rl_benchmarks/1.0/./onnx/a.onnx.gz")
    BenchmarkPath(year='2022', folder='rl_benchmarks', version='1.0', path='onnx/a.onnx')
    """
    match = _PATH.fullmatch(normal_path(path))
    if match is None:
        return None
    return BenchmarkPath(
        match["year"] or "", match["folder"], match["version"] or "", match["rest"]
    )


def normal_path(path: str) -> str:
    """Return a path without ``./``, doubled slashes and ``.gz``."""
    return posixpath.normpath(path.strip()).removesuffix(".gz")


def networks_of(field: str) -> list[tuple[str, str]] | None:
    """Read a network field: one path, or a list of (name, path) pairs.

    Returns
    -------
    list of tuple of str, or None
        Name (empty for a single path) and path; None if it is of another form.

    Examples
    --------
    >>> networks_of("[('f', 'onnx/a.onnx'), ('g', 'onnx/b.onnx')]")
    [('f', 'onnx/a.onnx'), ('g', 'onnx/b.onnx')]
    """
    if not field.strip().startswith(("[", "(")):
        return [("", field)]
    try:
        pairs = ast.literal_eval(field.strip())
    except (SyntaxError, ValueError):
        return None
    if not isinstance(pairs, (list, tuple)):
        return None
    is_pair = [isinstance(p, (tuple, list)) and [type(x) for x in p] == [str, str] for p in pairs]
    return [(name, path) for name, path in pairs] if pairs and all(is_pair) else None


def join_networks(pairs: list[tuple[str, str]]) -> str:
    """Write networks as one text: a path, or ``name=path & name=path``, in the order of names."""
    if len(pairs) == 1:
        return pairs[0][1]
    return _AND.join(f"{name}={path}" for name, path in sorted(pairs))


def networks_of_text(networks: str) -> list[tuple[str, str]]:
    """Return names and paths of what `join_networks` wrote; a single path has no name.

    Examples
    --------
    >>> networks_of_text("f=onnx/a.onnx & g=onnx/b.onnx"), networks_of_text("onnx/N=1.onnx")
    ([('f', 'onnx/a.onnx'), ('g', 'onnx/b.onnx')], [('', 'onnx/N=1.onnx')])
    """
    parts = networks.split(_AND)
    if len(parts) == 1:
        return [("", networks)]
    return [(name, path) for name, _, path in (part.partition("=") for part in parts)]


def _stem(networks: str) -> str:
    names = [path.rpartition("/")[2] for _, path in networks_of_text(networks)]
    return "_".join(name.removesuffix(".onnx").removesuffix(".vnnlib") for name in names)


def stem_names(runs: pd.DataFrame) -> list[str]:
    """Name every row by the stems of its networks and of its property, ``network-property``."""
    stems = {path: _stem(path) for path in {*runs["network"], *runs["property"]}}
    pairs = zip(runs["network"], runs["property"], strict=True)
    return [f"{stems[network]}-{stems[prop]}" for network, prop in pairs]


def _split_path(row: Row, name: str, text: str) -> BenchmarkPath:
    parts = relative_path(text)
    if parts is None:
        raise row.error(name, "a path with benchmarks/<benchmark>/ in it")
    return parts


def _split_networks(row: Row) -> tuple[list[tuple[str, str]], list[BenchmarkPath]]:
    pairs = networks_of(row.text("network"))
    if pairs is None:
        raise row.error("network", "a path, or a list of ('name', 'path') pairs")
    return pairs, [_split_path(row, "network", path) for _, path in pairs]


def raw_identity(tool: str, edition: Edition, folder: str = "") -> Identify:
    """Return the reader of what identifies a row in one of a tool's files.

    Parameters
    ----------
    tool : str
        The tool.
    edition : Edition
        For the layout and the known benchmarks.
    folder : str
        The benchmark that the file is for, if it is for one.
    """
    layout = edition.layout
    assert layout is not None

    def identify(row: Row) -> Record:
        category = row.text("category")
        pairs, networks = _split_networks(row)
        first, prop = networks[0], _split_path(row, "property", row.text("property"))
        is_test = first.folder == "test" and posixpath.basename(first.path).startswith(
            _TEST_NETWORKS
        )
        benchmark = layout.benchmark_id.format(category=category, year=first.year)
        if folder and not first.year and folder.endswith(f"_{category}"):
            benchmark = folder  # which names the year that the path does not
        start_up_only = category in layout.start_up_only
        if not is_test and not start_up_only:
            _check_benchmark(row, benchmark, edition.benchmarks, folder)
        if not is_test and any(path.folder != category for path in networks):
            raise row.error("network", f"a path with benchmarks/{category}/ in it")
        named = zip(pairs, networks, strict=True)
        return identity(
            tool,
            benchmark,
            network=join_networks([(name, split.path) for (name, _), split in named]),
            category=category,
            benchmark_year=first.year,
            vnnlib_version=first.version,
            property=prop.path,
            witness=_witness(pairs, first.path, prop.path),
            is_test=is_test or start_up_only,
        )

    return identify


def _check_benchmark(row: Row, benchmark: str, known: tuple[str, ...], folder: str) -> None:
    if folder and benchmark != folder:
        raise row.error("category", f"a row of {folder}, as the file's folder says")
    if known and benchmark not in known:
        raise row.error("category", f"a benchmark ({nearest(benchmark, known)})")


def _witness(pairs: list[tuple[str, str]], network: str, prop: str) -> str:
    """Return the stem of a counterexample's file: names of several networks, or the one's stem."""
    names = "_".join(name for name, _ in pairs)
    return f"{names or posixpath.basename(network).removesuffix('.onnx')}_" + posixpath.basename(
        prop
    ).removesuffix(".vnnlib")
