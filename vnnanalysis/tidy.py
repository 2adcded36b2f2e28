"""The tidy layout: a csv with the header tool, benchmark, instance, result, time_s[, timeout_s]."""

from pathlib import Path

import pandas as pd

from vnnanalysis.editions import Edition
from vnnanalysis.errors import RawDataError, nearest
from vnnanalysis.layouts import INSTANCE, Identify, Record, identity
from vnnanalysis.rows import Row, lines, split_line

TIDY_FIELDS = ("tool", "benchmark", "instance", "result", "time_s")
TIDY_OPTIONAL = ("timeout_s",)


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
        return identity(tool, benchmark, network=instance, instance=instance)

    return identify


def _instances_by_benchmark(runs: pd.DataFrame) -> dict[str, list[str]]:
    names = runs.loc[~runs["is_test"], INSTANCE].drop_duplicates()
    return {str(b): list(group) for b, group in names.groupby("benchmark")["instance"]}
