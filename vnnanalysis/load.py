"""Raw result files to runs: the only reader of raw results.

Three layouts: the competition's csv files (`layouts`), a tidy csv with a header (`tidy`) and
the study's lists of problems (`problems`).
"""

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from vnnanalysis.checks import load_checks, no_checks
from vnnanalysis.editions import MAIN_TRACK, UNSCORED, Edition, Layout, Track, read_edition
from vnnanalysis.errors import SchemaError, UsageError, check_known
from vnnanalysis.files import ToolFile, has_files, results_folder, tool_files
from vnnanalysis.layouts import (
    INSTANCE,
    RAW_FIELDS,
    Identify,
    Record,
    raw_identity,
    read_record,
    stem_names,
)
from vnnanalysis.limits import with_limits
from vnnanalysis.measured_cache import Cache, default_place
from vnnanalysis.paths import find, raw_folder
from vnnanalysis.problems import PROBLEM_FIELDS, check_header, problem_identity, read_networks
from vnnanalysis.rows import Log, Row
from vnnanalysis.tidy import tidy_header, tidy_identity
from vnnanalysis.validate import (
    files_at_hand,
    measure_sats,
    no_measurements,
    verdicts_under_all_rules,
)

COLUMNS = [
    *("edition", "benchmark", "index", "instance", "tool", "result", "run_s", "prepare_s"),
    *("timeout_s", "result_raw", "network", "property", "benchmark_year", "occurrence"),
    *("is_test", "excluded", "source", "category", "vnnlib_version", "witness"),
]


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
    checks : DataFrame
        Verdicts on counterexamples; columns `checks.CHECK_COLUMNS`.
    measurements : DataFrame
        Counterexamples that were validated; columns `validate.MEASURED_COLUMNS`.
    is_lenient : bool
        Whether bad rows were set aside.
    """

    edition: Edition
    runs: pd.DataFrame
    problems: pd.DataFrame
    inputs: tuple[Path, ...]
    checks: pd.DataFrame = field(default_factory=no_checks)
    measurements: pd.DataFrame = field(default_factory=no_measurements)
    is_lenient: bool = False


def load_contest(
    name: str,
    results: str | Path | None = None,
    *,
    extra: Iterable[str | Path] = (),
    lenient: bool = False,
    benchmarks: str | Path | None = None,
    checks: Iterable[str | Path] = (),
    validate: bool = True,
    with_checks: bool = True,
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
        The organisers' benchmark repository, for the time limits and the files that
        counterexamples are about; what ``fetch`` brought by default.
    checks : iterable of path
        Tables of verdicts on counterexamples; what they do not say comes from validating
        them here, from side-cars in the results folder, and then from the verdicts that ship
        with the edition.
    validate : bool
        Whether to validate counterexamples where their networks and properties are at hand.
    with_checks : bool
        Whether verdicts are wanted at all; without them, side-cars are not even read.

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
    folder = log.folder = None if edition.layout is None else results_folder(edition, results)
    runs = _read_field(edition, folder, log, lenient=lenient)
    edition = _complete_edition(edition, runs)
    limits = benchmark_folder(edition, benchmarks)
    if limits is not None:
        runs = with_limits(runs, limits, log, own=edition.benchmark_files.name)
        log.check(lenient=lenient)
    for path in map(find, extra):
        runs, edition = _read_extra(path, runs, edition, log, lenient=lenient)
    measured = no_measurements()
    if validate and folder is not None and limits is not None:
        sats = files_at_hand(edition, runs, folder, limits)
        cache = Cache(default_place() if sats else None)
        measured = measure_sats(edition.id, sats, cache=cache) if sats else measured
        if cache.problem:
            log.note(default_place(), cache.problem)
    own = verdicts_under_all_rules(measured)
    verdicts = load_checks(edition, runs, checks, folder, log, own) if with_checks else no_checks()
    log.check(lenient=lenient)
    _note_duplicates(runs, log)
    _note_versions(runs, log)
    _note_participants(edition, runs[~runs["is_test"]], log)
    problems = pd.DataFrame(log.notes, columns=["file", "line", "column", "value", "problem"])
    runs = _in_order(_exclude(runs, edition), edition).assign(edition=edition.id)
    return Contest(edition, runs, problems, tuple(log.inputs), verdicts, measured, lenient)


def benchmark_folder(edition: Edition, given: str | Path | None) -> Path | None:
    """Return the folder with benchmark files: given, the edition's own, or fetched; or None."""
    if given is not None:
        return find(given)
    own = edition.own_folder(edition.benchmark_files)
    if own is not None:
        if not own.is_dir():
            raise UsageError(f"no benchmark files of {edition.title}: expected them in {own}")
        return own
    fetched = raw_folder() / edition.benchmark_files.name
    return fetched if edition.benchmark_files.name and has_files(fetched) else None


def _read_field(edition: Edition, folder: Path | None, log: Log, *, lenient: bool) -> pd.DataFrame:
    """Read the rows of the competition itself."""
    if folder is not None:
        records = _read_results(edition, folder, log)
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


def _read_results(edition: Edition, folder: Path, log: Log) -> list[Record]:
    layout = edition.layout
    assert layout is not None
    networks = read_networks(folder, layout, log)
    records = []
    for file in tool_files(edition, folder, log):
        if layout.kind == "problems":
            check_header(file.path)
            identify = problem_identity(file.tool, layout, networks)
            rows = log.rows(file.path, PROBLEM_FIELDS, skip=1)
        else:
            identify = raw_identity(file.tool, edition, file.benchmark)
            rows = log.rows(file.path, RAW_FIELDS)
        records += _read_file(file, rows, identify, layout, log)
    return records


def _read_file(
    file: ToolFile, rows: Iterable[Row], identify: Identify, layout: Layout, log: Log
) -> list[Record]:
    records = [read_record(row, identify, log, layout.labels) for row in rows]
    if not records:
        log.note(file.path, "no rows: judged without this tool", file.tool)
    if layout.timeout_s is not None:
        return [record | {"timeout_s": layout.timeout_s} for record in records if record]
    return [record for record in records if record]


def _read_tidy(path: Path, log: Log, identify: Identify) -> Iterator[Record]:
    if not path.is_file():
        raise UsageError(f"no such file: {path}")
    for row in log.rows(path, tidy_header(path), skip=1):
        if record := read_record(row, identify, log):
            yield record


def _short_names(runs: pd.DataFrame) -> pd.Series:
    """Name instances by the stems of network and property, or by their paths where equal."""
    network = runs["network"].str.replace(r"\.onnx(?=$| & )", "", regex=True)
    short = pd.Series(stem_names(runs), runs.index)
    paths = network + "-" + runs["property"].str.removesuffix(".vnnlib")
    identity = runs["benchmark_year"] + "\n" + paths
    is_unique = identity.groupby([runs["benchmark"], short]).transform("nunique") == 1
    of_one_year = identity.groupby([runs["benchmark"], paths]).transform("nunique") == 1
    names = short.where(is_unique, paths.where(of_one_year, runs["benchmark_year"] + ":" + paths))
    return names.where(runs["occurrence"] == 1, names + "#" + runs["occurrence"].astype(str))


def _number_instances(runs: pd.DataFrame) -> pd.DataFrame:
    """Give every instance its name and its position in the benchmark.

    The k-th time a tool lists an instance meets the k-th time of the others. Positions
    follow the files, those with most rows of a benchmark first; test rows are not counted.
    """
    identity = ["benchmark", "benchmark_year", "network", "property"]
    runs["occurrence"] = runs.groupby(["tool", "is_test", *identity]).cumcount() + 1
    runs["instance"] = runs["instance"].where(runs["instance"].notna(), _short_names(runs))
    n_rows = runs.groupby(["benchmark", "tool"])["tool"].transform("size")
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


def _exclude(runs: pd.DataFrame, edition: Edition) -> pd.DataFrame:
    excluded = runs["excluded"]
    for skip in edition.skips:
        hit = pd.Series(True, runs.index)
        for column, name in (("tool", skip.tool), ("benchmark", skip.benchmark)):
            if name:
                hit &= runs[column] == name
        hit &= runs["network"].map({n: skip.matches(n) for n in set(runs["network"])})
        excluded = excluded.mask(hit & (excluded == ""), skip.words)
    return runs.assign(excluded=excluded)


def _in_order(runs: pd.DataFrame, edition: Edition) -> pd.DataFrame:
    """Sort by tool and benchmark as the edition lists them; within, in the files' order."""
    tools = {tool: i for i, tool in enumerate(edition.tools)}
    benchmarks = {benchmark: i for i, benchmark in enumerate(edition.benchmarks)}
    place = pd.DataFrame(
        {
            "tool": runs["tool"].map(tools),
            "benchmark": runs["benchmark"].map(benchmarks).fillna(len(benchmarks)),
            "is_test": runs["is_test"],
        }
    )
    order = place.sort_values(list(place.columns), kind="stable").index
    return runs.loc[order].reset_index(drop=True)


def _note_duplicates(runs: pd.DataFrame, log: Log) -> None:
    again = runs[(runs["occurrence"] > 1) & ~runs["is_test"]]
    for (benchmark, instance), rows in again.groupby(INSTANCE, sort=False):
        file, _, line = str(rows["source"].iloc[0]).rpartition(":")
        problem = f"{benchmark} lists this instance again; it counts again for {len(rows)} tools"
        log.note(Path(file), problem, str(instance), line=int(line))


def _note_versions(runs: pd.DataFrame, log: Log) -> None:
    """Note where a tool ran a benchmark in several versions of VNN-LIB, which may not be."""
    real = runs[~runs["is_test"]]
    for (tool, benchmark), rows in real.groupby(["tool", "benchmark"], sort=False):
        versions = sorted(set(rows["vnnlib_version"]))
        if len(versions) > 1:
            file = Path(str(rows["source"].iloc[0]).rpartition(":")[0])
            found = " and ".join(version or "none" for version in versions)
            log.note(file, f"{tool} ran {benchmark} in a mixture of VNN-LIB versions", found)


def _tracks_of(runs: pd.DataFrame, edition: Edition) -> dict[str, Track]:
    """Put every benchmark in one track, but those left out for everybody in an unscored one."""
    skipped = {s.benchmark for s in edition.skips if not s.tool and not s.network}
    benchmarks = tuple(dict.fromkeys(runs["benchmark"]))
    left_out = tuple(b for b in benchmarks if b in skipped)
    tracks = {MAIN_TRACK: Track(tuple(b for b in benchmarks if b not in skipped))}
    return tracks | ({UNSCORED: Track(left_out, left_out)} if left_out else {})


def _complete_edition(edition: Edition, runs: pd.DataFrame) -> Edition:
    """Fill in what an edition leaves to its files: its tools, and one track of benchmarks."""
    tools, tracks = edition.tools, edition.tracks
    if edition.layout is None or not tools:
        tools = tuple(dict.fromkeys([*tools, *runs["tool"]]))
    if not tracks:
        tracks = _tracks_of(runs[~runs["is_test"]], edition)
    complete = dataclasses.replace(edition, tools=tools, tracks=tracks)
    try:
        for benchmark, names in edition.participants.items():
            check_known("benchmark in [participants]", [benchmark], complete.benchmarks)
            check_known(f"participant of {benchmark}", names, tools)
    except UsageError as error:
        raise SchemaError(edition.path, str(error)) from None
    return complete


def _note_participants(edition: Edition, runs: pd.DataFrame, log: Log) -> None:
    """Note who took part in a benchmark, as the edition says, and has no row there."""
    present = set(zip(runs["benchmark"], runs["tool"], strict=True))
    for benchmark, tools in edition.participants.items():
        for tool in tools:
            if (benchmark, tool) not in present:
                log.note(edition.path, f"a participant of {benchmark} without a row there", tool)
