"""What a notebook's cell ends with: show a table, a figure or text, and write it to `out`."""

import base64
import dataclasses
import html
import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import matplotlib as mpl
import pandas as pd
from IPython.display import display
from matplotlib.figure import Figure

from vnnanalysis.analysis import Analysis
from vnnanalysis.editions import Edition
from vnnanalysis.figures import STYLE, bump, tool_histogram
from vnnanalysis.ranking import ranks_by_variant
from vnnanalysis.scoring import statistic_titles
from vnnanalysis.summary import rules_in_short
from vnnanalysis.tables import Table, csv_bytes, latex_text, slug, to_html, to_latex, to_text

SHOWN_ROWS = 60
_NO_DATE = {
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


class Subject(Protocol):
    """What tables and figures are about: an `Analysis`, or a `history.History`."""

    @property
    def edition(self) -> Edition:
        """For titles and names."""

    @property
    def label(self) -> str:
        """Beginning of LaTeX labels."""

    @property
    def out(self) -> Path | None:
        """Folder to write to."""


class Shown:
    """Something to show in every form a notebook or its exports may need."""

    def __init__(self, bundle: dict[str, Any]) -> None:
        self.bundle = bundle

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return self.bundle

    def __repr__(self) -> str:
        return str(self.bundle["text/plain"])


def _write(out: Path | None, folder: str, name: str, content: bytes) -> None:
    if out is not None:
        path = out / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def show_table(
    analysis: Subject,
    name: str,
    frame: pd.DataFrame,
    caption: str,
    *,
    by_rules: bool = False,
    formats: Mapping[str, str] | None = None,
    widths: Mapping[str, float] | None = None,
    in_latex: bool = True,
    is_optional: bool = False,
) -> Shown | None:
    """Show a table; write ``tables/<name>.tex`` and ``csv/<name>.csv``.

    Parameters
    ----------
    analysis : Subject
        For names and the output folder.
    name : str
        File stem and LaTeX label.
    frame : DataFrame
        The values; columns are the table's.
    caption : str
        What the table shows; the edition's title is put before it.
    by_rules : bool
        Whether the numbers depend on an analysis's rules, which the caption then names.
    formats : mapping of str to str, optional
        Format strings by column, beside those of `tables.FORMATS`.
    widths : mapping of str to float, optional
        Columns whose text wraps, and how they share what the others leave of the line; the
        table may then run over several pages.
    in_latex : bool
        False for tables that are too long to print: csv only, and the first rows are shown.
    is_optional : bool
        Whether an empty table is left out instead of saying that there is nothing.
    """
    if is_optional and frame.empty:
        return None
    rules = ""
    if by_rules and isinstance(analysis, Analysis):
        rules = f" ({rules_in_short(analysis.rules, analysis.edition.rules)})"
    table = Table(
        slug(name),
        f"{analysis.edition.title}: {caption}{rules}",
        frame.reset_index(drop=True),
        analysis.edition,
        prefix=analysis.label,
        formats={column: text.format for column, text in (formats or {}).items()},
        widths=widths or {},
        is_long=bool(widths),
    )
    _write(analysis.out, "csv", f"{table.name}.csv", csv_bytes(table.frame))
    if frame.empty:
        return show_text([f"{table.caption}: none."])
    if not in_latex:
        return Shown({"text/html": _shortened(table, 20), "text/plain": to_text(_head(table, 20))})
    latex = to_latex(table)
    _write(analysis.out, "tables", f"{table.name}.tex", latex.encode())
    return Shown(
        {"text/html": _shortened(table), "text/latex": latex, "text/plain": to_text(table)}
    )


def _head(table: Table, n_rows: int) -> Table:
    n_all = len(table.frame)
    if n_all <= n_rows:
        return table
    caption = f"{table.caption} (first {n_rows} of {n_all} rows; all in csv/{table.name}.csv)"
    return dataclasses.replace(table, caption=caption, frame=table.frame.head(n_rows))


def _shortened(table: Table, n_rows: int = SHOWN_ROWS) -> str:
    return to_html(_head(table, n_rows))


def show_tables(
    analysis: Subject, name: str, frame: pd.DataFrame, caption: str, *, by: str = "benchmark",
    **options: Any,
) -> None:  # fmt: skip
    """Show one table for each value of a column; names and captions end with the value."""
    groups = frame.groupby(by, sort=False)
    show_all(
        show_table(
            analysis,
            f"{name}-{value}",
            rows.drop(columns=by),
            f"{caption} {analysis.edition.benchmark_name(str(value))}",
            **options,
        )
        for value, rows in groups
    )


def show_statistics(analysis: Analysis, table: pd.DataFrame) -> None:
    """Show one table for each statistic of `scoring.statistics`."""
    titles = statistic_titles(analysis.edition)
    tracks = [] if len(set(table["track"])) > 1 else ["track"]
    for short, title in titles.items():
        rows = table[table["statistic"] == title].drop(columns=["statistic", *tracks])
        is_overhead = short == "overhead"
        has_modes = is_overhead and bool(analysis.edition.overhead_modes)
        rows = rows.rename(columns={"value": "overhead_s" if is_overhead else "count"})
        shown = show_table(
            analysis,
            f"statistic-{short}",
            rows if has_modes else rows.drop(columns="cpu_mode"),
            title,
            by_rules=True,
            formats={"count": "{:.0f}"},
        )
        display(shown)


def show_all(parts: Iterable[Shown | None]) -> None:
    """Show several things, one below the other, without those that are left out."""
    for part in parts:
        if part is not None:
            display(part)


def image_bytes(figure: Figure, kind: str) -> bytes:
    """Return a figure as pdf, svg or png; equal figures give equal bytes."""
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format=kind, metadata=_NO_DATE[kind])
    return buffer.getvalue()


def show_figure(analysis: Subject, name: str, figure: Figure, caption: str) -> Shown:
    """Show a figure; write ``figures/<name>.pdf``, ``.svg`` and ``.png``."""
    images = {}
    for kind in ("pdf", "svg", "png") if analysis.out else ("png",):
        images[kind] = image_bytes(figure, kind)
        _write(analysis.out, "figures", f"{slug(name)}.{kind}", images[kind])
    encoded = base64.b64encode(images["png"]).decode()
    text = f"{analysis.edition.title}: {caption}"
    shown = html.escape(text)
    width = round(figure.get_figwidth() * STYLE["savefig.dpi"] / 2)  # for two pixels to a point
    page = (
        f'<figure><img alt="{shown}" width="{width}" src="data:image/png;base64,{encoded}">'
        f"<figcaption>{shown}</figcaption></figure>"
    )
    return Shown({"text/html": page, "image/png": encoded, "text/plain": f"[{text}]"})


def show_histogram(
    analysis: Analysis, name: str, counts: pd.DataFrame, label: str, caption: str
) -> Shown | None:
    """Show stacked bars, a colour per tool; nothing if there is nothing to count."""
    if not counts.to_numpy().sum():
        return None
    return show_figure(analysis, name, tool_histogram(counts, analysis.edition, label), caption)


def show_figures(analysis: Analysis, name: str, draw: Callable[..., Figure], caption: str) -> None:
    """Show one figure for each benchmark.

    Parameters
    ----------
    analysis : Analysis
        For the benchmarks, tools and the output folder.
    name : str
        Beginning of the file stems, which end with the benchmark.
    draw : callable
        A function of `figures` that takes judged rows, edition, tools and the time floor.
    caption : str
        Beginning of the captions.
    """
    judged = analysis.judged
    show_all(
        show_figure(
            analysis,
            f"{name}-{benchmark}",
            draw(
                judged[judged["benchmark"] == benchmark],
                analysis.edition,
                analysis.tools,
                analysis.rules.time_floor_s,
            ),
            f"{caption} {analysis.edition.benchmark_name(benchmark)}",
        )
        for benchmark in analysis.answered
    )


def show_ranks(analysis: Analysis, name: str, variants: pd.DataFrame, caption: str) -> None:
    """Show for each track how the ranks change with the rules (see `figures.bump`)."""
    show_all(
        show_figure(
            analysis,
            f"{name}-{track}",
            bump(ranks_by_variant(variants, track), analysis.edition),
            f"{caption}, track {track}",
        )
        for track in dict.fromkeys(variants["track"])
    )


def show_text(sentences: Iterable[str]) -> Shown | None:
    """Show sentences, a paragraph each; nothing if there are none."""
    sentences = list(sentences)
    if not sentences:
        return None
    page = "".join(f"<p>{html.escape(s)}</p>" for s in sentences)
    latex = "\n\n".join(latex_text(s) for s in sentences)
    return Shown({"text/html": page, "text/latex": latex, "text/plain": "\n".join(sentences)})
