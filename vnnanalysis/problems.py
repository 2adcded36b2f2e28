"""The layout of the verification study: ``ProblemId,Result,TotalTime``, with a header.

A problem's id names data set, property and network (``MNIST_P85_N41``); the benchmark it
belongs to follows from a table of the data set's networks.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from vnnanalysis.editions import Layout
from vnnanalysis.errors import RawDataError, UsageError
from vnnanalysis.layouts import Identify, Record, identity
from vnnanalysis.rows import Log, Row, lines, split_line

HEADER = ["ProblemId", "Result", "TotalTime"]
PROBLEM_FIELDS = ("problem", "result", "run time")
NETWORK_COLUMNS = ("network_id", "Category")

_PROBLEM = re.compile(r"(?P<dataset>[A-Za-z0-9]+)_(?P<property>P\d+)_(?P<network>N\d+)")


def check_header(path: Path) -> None:
    """Check that a file of problems begins with its header.

    Raises
    ------
    RawDataError
        If it does not.
    """
    line, text = next(iter(lines(path)), (1, b""))
    found = split_line(path, line, text) if text else []
    if found != HEADER:
        raise RawDataError(path, line, "1", ",".join(found), f"the header {','.join(HEADER)}")


def read_networks(folder: Path, layout: Layout, log: Log) -> dict[str, dict[str, str]]:
    """Read the tables of networks: the benchmark of every network, by data set.

    A table's columns are separated by ``;``; `NETWORK_COLUMNS` are needed.
    """
    tables = {}
    for dataset, name in layout.networks.items():
        path = folder / name
        if not path.is_file():
            raise UsageError(f"{path}: expected the table of the {dataset} networks, found none")
        log.inputs.append(path)
        tables[dataset] = _read_table(path, dataset, layout)
    return tables


def _read_table(path: Path, dataset: str, layout: Layout) -> dict[str, str]:
    listed = lines(path) or [(1, b'""')]
    (line, header), *rest = [(n, split_line(path, n, text, ";")) for n, text in listed]
    for name in NETWORK_COLUMNS:
        if name not in header:
            raise RawDataError(path, line, str(len(header)), ";".join(header), f"a column {name}")
    at_id, at_category = (header.index(name) for name in NETWORK_COLUMNS)
    table = {}
    for line, fields in rest:
        if len(fields) != len(header):
            raise RawDataError(path, line, "1", ";".join(fields), f"{len(header)} fields")
        category = fields[at_category].strip()
        if category not in layout.categories:
            expected = f"a category ({', '.join(layout.categories)})"
            raise RawDataError(path, line, str(at_category + 1), category, expected)
        table[fields[at_id].strip()] = layout.benchmark_id.format(
            dataset=dataset, category=layout.categories[category]
        )
    return table


def problem_identity(tool: str, layout: Layout, networks: Mapping[str, dict[str, str]]) -> Identify:
    """Return the reader of what identifies a problem."""

    def identify(row: Row) -> Record:
        problem = row.text("problem")
        match = _PROBLEM.fullmatch(problem)
        if match is None or match["dataset"] not in networks:
            expected = f"<data set>_P<number>_N<number>, of data set {' or '.join(networks)}"
            raise row.error("problem", expected)
        unlisted = layout.unlisted.format(dataset=match["dataset"])
        benchmark = networks[match["dataset"]].get(match["network"], unlisted)
        return identity(
            tool,
            benchmark,
            network=match["network"],
            category=match["dataset"],
            property=match["property"],
            instance=problem,
        )

    return identify
