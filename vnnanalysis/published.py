"""Ours against the figures the organisers printed, cell by cell."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from vnnanalysis.analysis import Analysis, analyse
from vnnanalysis.editions import ScoringRules
from vnnanalysis.errors import SchemaError, UsageError, check_known
from vnnanalysis.load import Contest
from vnnanalysis.paths import resource
from vnnanalysis.scoring import statistics

EQUAL, DIFFERENT, EXPLAINED = "equal", "different", "explained"
COLUMNS = ["table", "figure", "tool", "ours", "published", "status", "reason"]


@dataclass(frozen=True)
class Kind:
    """One kind of published table: its file, what splits it, its keys and its figures."""

    file: str
    title: str
    group: str
    figures: tuple[str, ...]


KINDS = (
    Kind("overall.csv", "overall", "track", ("score",)),
    Kind(
        "benchmarks.csv", "benchmark", "benchmark",
        ("verified", "falsified", "fastest", "points", "percent"),
    ),
    Kind("statistics.csv", "statistic", "statistic", ("value", "cpu_mode")),
)  # fmt: skip


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
    if not any((folder / kind.file).is_file() for kind in KINDS):
        raise UsageError(f"no published figures of {contest.edition.title} in {folder}")
    explained = _read_explained(folder)
    analyses: dict[tuple[str, ...], Analysis] = {}
    parts = []
    for kind in KINDS:
        if not (folder / kind.file).is_file():
            continue
        printed = pd.read_csv(folder / kind.file, dtype=str, keep_default_na=False)
        settings = _settings_of(printed, kind, folder)
        for variant, rows in printed.groupby(settings, sort=False):
            if variant not in analyses:
                chosen = dict(zip(settings, variant, strict=True))
                rules = contest.edition.rules.with_settings(chosen)
                analyses[variant] = analyse(contest, rules)
            ours = _ours(analyses[variant], kind)
            parts.append(_compare_tables(" / ".join(variant), ours, rows, kind))
    figures = pd.DataFrame([row for part in parts for row in part], columns=COLUMNS)
    return _explain(figures, explained)


def _settings_of(printed: pd.DataFrame, kind: Kind, folder: Path) -> list[str]:
    path, columns = folder / kind.file, list(printed.columns)
    settings = [c for c in columns if c in ScoringRules.__dataclass_fields__]
    needed = [kind.group, "tool", *kind.figures]
    try:
        check_known("column", columns, [*settings, "track", "rank", *needed])
        check_known("needed column", needed, columns)
    except UsageError as error:
        raise SchemaError(path, str(error)) from None
    if not settings:
        raise SchemaError(path, "expected columns that name the rules, such as overhead")
    twice = printed[printed.duplicated([*settings, kind.group, "tool"])]
    if len(twice):
        raise SchemaError(path, f"line {twice.index[0] + 2}: this figure stands there already")
    return settings


def _ours(analysis: Analysis, kind: Kind) -> pd.DataFrame:
    if kind.file == "overall.csv":
        return analysis.overall
    if kind.file == "benchmarks.csv":
        return analysis.scores
    return statistics(analysis.scores, analysis.overhead, analysis.edition)


def _compare_tables(
    variant: str, ours: pd.DataFrame, printed: pd.DataFrame, kind: Kind
) -> list[list[str]]:
    rows = []
    for name, table in printed.groupby(kind.group, sort=False):
        theirs = table.set_index("tool")
        own = ours[ours[kind.group] == name].set_index("tool")
        title = f"{kind.title} {name}, {variant}"
        for tool in dict.fromkeys([*theirs.index, *own.index]):
            for figure in kind.figures:
                text = theirs[figure].get(tool, "")
                value = own[figure].get(tool)
                got = _like(value, text)
                if text or got:
                    status = EQUAL if got == text else DIFFERENT
                    rows.append([title, figure, tool, got, text, status, ""])
    return rows


def _like(value: Any, printed: str) -> str:
    """Round a value to the decimals of the printed one; empty where there is none."""
    if value is None or value != value:
        return ""
    decimals = len(printed.partition(".")[2])
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _read_explained(folder: Path) -> list[Mapping[str, Any]]:
    path = folder / "explained.toml"
    if not path.is_file():
        return []
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))["explained"]
        for entry in entries:
            check_known("key", entry, ["tables", "tools", "reason", "table", "inputs"])
            if "reason" not in entry:
                raise UsageError("an entry without reason")
    except (tomllib.TOMLDecodeError, KeyError, UsageError) as error:
        raise SchemaError(path, str(error)) from None
    return entries


def _explain(figures: pd.DataFrame, explained: list[Mapping[str, Any]]) -> pd.DataFrame:
    """Mark the differences that are known to be: by table prefix and tool."""
    for entry in explained:
        hit = figures["status"] == DIFFERENT
        if "tools" in entry:
            hit &= figures["tool"].isin(entry["tools"])
        if "tables" in entry:
            hit &= figures["table"].str.startswith(tuple(entry["tables"]))
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
            lines.append(f"  {row.tool}, {row.figure}: ours {ours}, published {printed}: {why}")
    return [*lines, f"all tables: {_counted(figures)}"]


def _counted(rows: pd.DataFrame) -> str:
    equal = int((rows["status"] == EQUAL).sum())
    explained = int((rows["status"] == EXPLAINED).sum())
    more = f", {explained} explained" if explained else ""
    return f"{equal} of {len(rows)} figures equal{more}"
