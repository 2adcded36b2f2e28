"""Several editions as one tidy table, each judged under its own rules or all under one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from vnnanalysis.analysis import analyse
from vnnanalysis.editions import EXAMPLE, Edition, Track, list_editions, read_edition, read_rules
from vnnanalysis.errors import UsageError, check_known
from vnnanalysis.files import locate
from vnnanalysis.kernel import check_injected
from vnnanalysis.load import load_contest
from vnnanalysis.paths import find, raw_folder
from vnnanalysis.tables import csv_bytes

SCHEMA = {  # column of `tidy_frame`: its type
    "edition": "str", "track": "str", "is_scored": "bool", "benchmark": "str",
    "family": "str", "index": "int64", "instance": "str", "network": "str", "property": "str",
    "benchmark_year": "str", "vnnlib_version": "str", "occurrence": "int64", "tool": "str",
    "tool_family": "str", "result": "str", "result_raw": "str", "prepare_s": "float64",
    "run_s": "float64", "corrected_s": "float64", "timeout_s": "float64", "check": "str",
    "n_unsat": "int64", "n_sat": "int64", "truth": "str", "verdict": "str",
    "points": "int64", "bonus": "int64", "is_fastest": "bool", "takes_part": "bool",
    "excluded": "str", "reason": "str", "source": "str",
}  # fmt: skip


@dataclass(frozen=True)
class History:
    """The judged rows of several editions.

    Attributes
    ----------
    editions : tuple of Edition
        In the order of their ids.
    judged : DataFrame
        Columns `SCHEMA`, a row per edition, benchmark, instance and tool.
    edition : Edition
        What stands for all of them in tables and figures: tools by the name they have in
        all editions.
    inputs : tuple of Path
        Every file that was read.
    out : Path or None
        Folder to write tables and figures to.
    """

    editions: tuple[Edition, ...]
    judged: pd.DataFrame
    edition: Edition
    inputs: tuple[Path, ...] = ()
    out: Path | None = None

    @property
    def label(self) -> str:
        """Beginning of labels in LaTeX."""
        return self.edition.id


def parse_editions(text: str) -> list[str]:
    """Read a choice of editions: ids and ranges, separated by commas; ``all``, or ``example``.

    Raises
    ------
    UsageError
        For an unknown edition, with the nearest known one.

    Examples
    --------
    >>> parse_editions("2021-2023, study")
    ['2021', '2022', '2023', 'study']
    """
    known, chosen = list_editions(), []
    for part in (part.strip() for part in text.split(",")):
        first, dash, last = part.partition("-")
        if part == "all":
            chosen += known
        elif dash:
            check_known("edition", [first, last], known)
            if known.index(first) > known.index(last):
                raise UsageError(f"editions {part}: the range runs backwards")
            chosen += known[known.index(first) : known.index(last) + 1]
        else:
            check_known("edition", [part], [*known, EXAMPLE])
            chosen.append(part)
    return sorted(set(chosen))


def open_editions(
    *,
    editions: str | int = "all",
    results_root: str | Path | None = None,
    benchmarks_root: str | Path | None = None,
    rules: str | int | None = None,
    out: str | Path | None = None,
) -> History:
    """Read and judge several editions.

    Parameters
    ----------
    editions : str
        Which ones, see `parse_editions`. Of ``all``, those whose results are at hand.
    results_root : path, optional
        Folder with the results repositories; ``data/raw`` by default.
    benchmarks_root : path, optional
        Folder with the benchmark repositories, for time limits; ``data/raw`` by default.
    rules : str, optional
        One rule set for all, such as ``2026``; each edition's own by default.
    out : path, optional
        Folder to write tables and figures to.

    Raises
    ------
    UsageError
        If an edition, or its results, cannot be found.
    """
    check_injected()
    root = find(results_root) if results_root else raw_folder()
    limits = find(benchmarks_root) if benchmarks_root else None
    if limits is not None and not limits.is_dir():
        raise UsageError(f"no such folder: {limits}")
    editions = str(editions)  # of a single year papermill and YAML make a number
    takes_what_there_is = "all" in [part.strip() for part in editions.split(",")]
    chosen, parts, inputs = [], [], list[Path]()
    for name in parse_editions(editions):
        edition = read_edition(name)
        folder = edition.own_folder(edition.results) or locate(edition.results, name, root)
        if folder is None:
            if takes_what_there_is:
                continue
            raise UsageError(
                f"no results of {edition.title} in {root}: expected {edition.results.name}; "
                f"fetch them with 'vnnanalysis fetch {name}'"
            )
        contest = load_contest(name, folder, benchmarks=_limits(edition, limits))
        analysis = analyse(contest, read_rules(str(rules)) if rules else contest.edition.rules)
        chosen.append(contest.edition)
        inputs += contest.inputs
        parts.append(tidy_frame(contest.edition, analysis.judged))
    if not parts:
        raise UsageError(f"no results of any edition in {root}")
    judged = pd.concat(parts, ignore_index=True)
    where = Path(out) if out else None
    return History(tuple(chosen), judged, _all(chosen), tuple(inputs), where)


def _limits(edition: Edition, root: Path | None) -> Path | None:
    """Return where an edition's time limits are looked up, if its repository is at hand."""
    name = edition.benchmark_files.name
    has_own = root is not None and bool(name) and (root.name == name or (root / name).is_dir())
    return root if has_own else None


def tidy_frame(edition: Edition, judged: pd.DataFrame) -> pd.DataFrame:
    """Return judged rows of one edition in the form that all editions share.

    Parameters
    ----------
    edition : Edition
        For tracks and names.
    judged : DataFrame
        From `judging.judge`.

    Returns
    -------
    DataFrame
        Columns and types `SCHEMA`; described in ``docs/schema.md``.
    """
    tracks = {b: edition.track_of(b) for b in edition.benchmarks}
    table = judged.assign(
        edition=edition.id,
        track=judged["benchmark"].map(tracks),
        is_scored=judged["benchmark"].isin(edition.scored),
        family=[benchmark_family(c) for c in judged["category"]],
        tool_family=judged["tool"].map({t: edition.family(t) for t in edition.tools}),
        result_raw=judged["result_raw"].fillna(""),
    )
    return table[list(SCHEMA)].astype(SCHEMA)


def benchmark_family(category: str) -> str:
    """Return the name of a benchmark without the year it was first or last used in.

    Examples
    --------
    >>> benchmark_family("acasxu_2023"), benchmark_family("mnistfc"), benchmark_family("mnist_fc")
    ('acasxu', 'mnistfc', 'mnistfc')
    """
    return re.sub(r"[^a-z0-9]", "", re.sub(r"_20\d\d$", "", category.casefold()))


def _all(editions: Sequence[Edition]) -> Edition:
    """Return what stands for several editions in tables and figures."""
    display: dict[str, str] = {}
    families: dict[str, None] = {}
    for edition in editions:
        for tool in edition.tools:
            families[edition.family(tool)] = None
            display[edition.family(tool)] = edition.display.get(tool, tool)
    names = [edition.id for edition in editions]
    span = f"{names[0]}-{names[-1]}" if len(names) > 1 else names[0]
    return Edition(
        id=f"editions-{span}", title=f"Editions {span.replace('-', ' to ')}", path=Path(),
        tools=tuple(families), display=display, tracks={"main": Track(tuple(names))},
    )  # fmt: skip


def write_table(table: pd.DataFrame, path: Path, form: str) -> None:
    """Write a table as ``csv`` or ``parquet``; an earlier file is replaced when all is written.

    Raises
    ------
    UsageError
        If it cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if form == "csv":
            unfinished.write_bytes(csv_bytes(table))
        else:
            table.to_parquet(unfinished, index=False, compression="zstd")
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
