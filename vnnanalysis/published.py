"""Ours against the figures the organisers printed, cell by cell."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vnnanalysis.analysis import Analysis, analyse
from vnnanalysis.errors import SchemaError, UsageError, check_known
from vnnanalysis.load import Contest
from vnnanalysis.parallel import portfolio_solves
from vnnanalysis.paths import resource
from vnnanalysis.portfolio import complementarity, solved_matrix
from vnnanalysis.rules import ScoringRules
from vnnanalysis.scoring import statistics

EQUAL, DIFFERENT, EXPLAINED = "equal", "different", "explained"
COLUMNS = ["table", "figure", "tool", "row", "ours", "published", "status", "reason"]
Ours = Callable[[Analysis, pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True)
class Kind:
    """One kind of published table.

    Attributes
    ----------
    file : str
        Its file.
    title : str
        What it is called in the comparison.
    group : str
        The column whose every value is a table of its own.
    keys : tuple of str
        The columns that tell the rows of a table apart; the tool is one of them.
    figures : tuple of str
        The columns that are compared; a file need not have all.
    ours : callable
        Takes an analysis and the printed rows; returns our values of the same columns.
    """

    file: str
    title: str
    group: str
    keys: tuple[str, ...]
    figures: tuple[str, ...]
    ours: Ours


def _statistics(analysis: Analysis, printed: pd.DataFrame) -> pd.DataFrame:
    """Return our statistics; a count of nothing is 0 and the least of nothing infinite."""
    ours = statistics(analysis.scores, analysis.overhead, analysis.edition)
    on = [c for c in ("track", "statistic", "tool") if c in printed]
    empty = printed.loc[printed["value"].isin(["0", "inf"]), [*on, "value"]]
    known = ours.set_index(on).index
    empty = empty[~empty.set_index(on).index.isin(known)].astype({"value": float})
    return pd.concat([ours, empty.assign(cpu_mode=np.nan)], ignore_index=True)


def _instances(analysis: Analysis, _: pd.DataFrame) -> pd.DataFrame:
    """Return our points of every instance and tool, where they are not zero."""
    judged = analysis.judged[analysis.judged["points"] != 0]
    return judged.assign(index=judged["index"].astype(str))


def _study_sizes(analysis: Analysis, printed: pd.DataFrame) -> pd.DataFrame:
    """Return how many instances some, and how many all, of the named tools solve."""
    rows = []
    for benchmark, tools in printed[["benchmark", "tools"]].itertuples(index=False):
        solved = _solved(analysis, benchmark, tools)
        counts = (len(solved), solved.any(axis=1).sum(), solved.all(axis=1).sum())
        rows.append((benchmark, tools, *counts))
    return pd.DataFrame(rows, columns=["benchmark", "tools", *_SIZES])


def _study_tools(analysis: Analysis, _: pd.DataFrame) -> pd.DataFrame:
    """Return what each of a benchmark's participants adds to the others."""
    return complementarity(analysis.judged, analysis.tools, by_benchmark=True)


def _study_portfolios(analysis: Analysis, printed: pd.DataFrame) -> pd.DataFrame:
    """Return how many instances tools solve side by side, each within a part of the time."""
    rows = []
    for benchmark, tools, seconds in printed[["benchmark", "tools", "seconds_each"]].itertuples(
        index=False
    ):
        judged = analysis.judged[analysis.judged["benchmark"] == benchmark]
        names = tools.split(", ")
        rows.append((benchmark, tools, seconds, portfolio_solves(judged, names, float(seconds))))
    return pd.DataFrame(rows, columns=["benchmark", "tools", "seconds_each", "solved"])


def _solved(analysis: Analysis, benchmark: str, tools: str) -> pd.DataFrame:
    judged = analysis.judged[analysis.judged["benchmark"] == benchmark]
    return solved_matrix(judged, tools.split(", "))


_SIZES = ("instances", "solvable_any", "solvable_all")
_COUNTS = ("verified", "falsified", "fastest", "incorrect", "points", "percent", "solved_percent")

KINDS = (
    Kind("overall.csv", "overall", "track", ("tool",), ("score",), lambda a, _: a.overall),
    Kind("benchmarks.csv", "benchmark", "benchmark", ("tool",), _COUNTS, lambda a, _: a.scores),
    Kind(
        "statistics.csv", "statistic", "statistic", ("tool",), ("value", "cpu_mode"), _statistics
    ),
    Kind("instances.csv", "points", "benchmark", ("tool", "index"), ("points",), _instances),
    Kind("table1.csv", "Table 1", "benchmark", ("tools",), _SIZES, _study_sizes),
    Kind(
        "table2.csv", "Table 2", "benchmark", ("tool",), ("solved", "rmc", "shapley", "avg_time_s"),
        _study_tools,
    ),
    Kind(
        "portfolios.csv", "portfolio", "benchmark", ("tools", "seconds_each"), ("solved",),
        _study_portfolios,
    ),
)  # fmt: skip


def has_published(folder: Path) -> bool:
    """Tell whether a folder holds published figures."""
    return any((folder / kind.file).is_file() for kind in KINDS)


def compare(contest: Contest, folder: Path | None = None) -> pd.DataFrame:
    """Compare every published figure of an edition with ours.

    A figure is equal if ours, rounded to the decimals that were printed, gives the same
    text. Rows are matched by tool, never by order.

    Parameters
    ----------
    contest : Contest
        The edition with its runs.
    folder : Path, optional
        The published tables; those of the project by default.

    Returns
    -------
    DataFrame
        One row per figure, columns `COLUMNS`; status is equal, different or explained.

    Raises
    ------
    UsageError
        If nothing is published for the edition.
    SchemaError
        If a published table has not the documented columns.
    """
    folder = folder or resource("data", "published", contest.edition.id)
    if not has_published(folder):
        raise UsageError(f"no published figures of {contest.edition.title} in {folder}")
    explained = _read_explained(folder)
    analyses: dict[tuple[str, ...], Analysis] = {}
    parts = []
    for kind in KINDS:
        if not (folder / kind.file).is_file():
            continue
        printed = pd.read_csv(folder / kind.file, dtype=str, keep_default_na=False)
        settings = _settings_of(printed, kind, folder)
        for variant, rows in printed.groupby(settings, sort=False) if settings else [((), printed)]:
            if variant not in analyses:
                chosen = dict(zip(settings, variant, strict=True))
                rules = contest.edition.rules.with_settings(chosen)
                analyses[variant] = analyse(contest, rules)
            ours = kind.ours(analyses[variant], rows)
            parts.append(_compare_tables(" / ".join(variant), ours, rows, kind))
    figures = pd.DataFrame([row for part in parts for row in part], columns=COLUMNS)
    return _explain(figures, explained)


def _settings_of(printed: pd.DataFrame, kind: Kind, folder: Path) -> list[str]:
    path, columns = folder / kind.file, list(printed.columns)
    settings = [c for c in columns if c in ScoringRules.__dataclass_fields__]
    needed = [kind.group, *kind.keys]
    try:
        check_known("column", columns, [*settings, "track", "rank", *needed, *kind.figures])
        check_known("needed column", needed, columns)
        check_known("needed column", kind.figures[:1], columns)
    except UsageError as error:
        raise SchemaError(path, str(error)) from None
    track = ["track"] if "track" in columns else []
    twice = printed[printed.duplicated([*settings, *track, *needed])]
    if len(twice):
        raise SchemaError(path, f"line {twice.index[0] + 2}: this figure stands there already")
    return settings


def _compare_tables(
    variant: str, ours: pd.DataFrame, printed: pd.DataFrame, kind: Kind
) -> list[list[str]]:
    rows: list[list[str]] = []
    groups = list(dict.fromkeys(c for c in ("track", kind.group) if c in printed and c in ours))
    own = dict(list(ours.groupby(groups, sort=False)))
    for names, table in printed.groupby(groups, sort=False):
        title = " ".join([kind.title, *reversed(names)]) + (f", {variant}" if variant else "")
        mine = own.get(names, ours.head(0))
        rows += _compare_rows(title, mine, table, kind)
    return rows


def _compare_rows(
    title: str, ours: pd.DataFrame, printed: pd.DataFrame, kind: Kind
) -> Iterator[list[str]]:
    keys, figures = list(kind.keys), [f for f in kind.figures if f in printed]
    theirs = {row[: len(keys)]: row[len(keys) :] for row in _tuples(printed, [*keys, *figures])}
    own = {row[: len(keys)]: row[len(keys) :] for row in _tuples(ours, [*keys, *figures])}
    for key in dict.fromkeys([*theirs, *own]):
        absent = ("",) * len(figures), (None,) * len(figures)
        pairs = zip(figures, theirs.get(key, absent[0]), own.get(key, absent[1]), strict=True)
        for figure, text, value in pairs:
            got = _like(value, text)
            if text or got:
                status = EQUAL if got == text else DIFFERENT
                row = " ".join(key[1:])
                yield [title, figure, key[0], row, got, text, status, ""]


def _tuples(table: pd.DataFrame, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    return table[columns].itertuples(index=False, name=None)


def _like(value: Any, printed: str) -> str:
    """Round a value to the decimals of the printed one; empty where there is none.

    A value exactly half way between two printed ones may be rounded either way.
    """
    if value is None or value != value:
        return ""
    decimals = len(printed.partition(".")[2])
    half = 0.5 * 10**-decimals
    if _is_number(printed) and abs(abs(value - float(printed)) - half) < 1e-9 * max(1, abs(value)):
        return printed
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(".", "", 1).isdigit()


_EXPLAINED_KEYS = ("tables", "tools", "figures", "ours", "n", "reason", "table", "inputs")


def _read_explained(folder: Path) -> list[Mapping[str, Any]]:
    path = folder / "explained.toml"
    if not path.is_file():
        return []
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))["explained"]
        for entry in entries:
            check_known("key", entry, _EXPLAINED_KEYS)
            if "reason" not in entry:
                raise UsageError("an entry without reason")
    except (tomllib.TOMLDecodeError, KeyError, UsageError) as error:
        raise SchemaError(path, str(error)) from None
    return entries


def _explain(figures: pd.DataFrame, explained: list[Mapping[str, Any]]) -> pd.DataFrame:
    """Mark the differences that are known to be: by table prefix, tool, figure and value."""
    for entry in explained:
        hit = figures["status"] == DIFFERENT
        if "tools" in entry:
            hit &= figures["tool"].isin(entry["tools"])
        if "figures" in entry:
            hit &= figures["figure"].isin(entry["figures"])
        if "ours" in entry:
            hit &= figures["ours"] == entry["ours"]
        if "tables" in entry:
            hit &= figures["table"].str.startswith(tuple(entry["tables"]))
        if hit.sum() != entry.get("n", hit.sum()):
            continue  # something else differs too: nothing is explained
        dates = [f"{name} of {entry[name]}" for name in ("table", "inputs") if name in entry]
        reason = entry["reason"] + (f" ({', '.join(dates)})" if dates else "")
        figures.loc[hit, "status"] = EXPLAINED
        figures.loc[hit, "reason"] = reason
    return figures


def report_lines(figures: pd.DataFrame) -> list[str]:
    """Tell the comparison: a line per table, then every difference, then the sum.

    Parameters
    ----------
    figures : DataFrame
        From `compare`.
    """
    lines = []
    for table, rows in figures.groupby("table", sort=False):
        lines.append(f"{table}: {_counted(rows)}")
        for row in rows[rows["status"] != EQUAL].itertuples():
            ours, printed = row.ours or "nothing", row.published or "nothing"
            why = row.reason or "not explained"
            place = f"{row.tool} {row.row}".strip()
            lines.append(f"  {place}, {row.figure}: ours {ours}, published {printed}: {why}")
    return [*lines, f"all tables: {_counted(figures)}"]


def one_line(figures: pd.DataFrame) -> str:
    """Tell the comparison in one line: how many figures are equal, and what explains the others."""
    reasons = dict.fromkeys(figures.loc[figures["status"] == EXPLAINED, "reason"])
    told = f": {'; '.join(reasons)}" if reasons else ""
    n_open = int((figures["status"] == DIFFERENT).sum())
    return _counted(figures) + told + (f"; {n_open} DIFFERENT, not explained" if n_open else "")


def _counted(rows: pd.DataFrame) -> str:
    equal = int((rows["status"] == EQUAL).sum())
    explained = int((rows["status"] == EXPLAINED).sum())
    more = f", {explained} explained" if explained else ""
    return f"{equal} of {len(rows)} figures equal{more}"
