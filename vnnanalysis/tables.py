"""Frames to printed tables: LaTeX, HTML and plain text. No arithmetic but rounding."""

import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from pandas.io.formats.style import Styler
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexencode import UnicodeToLatexEncoder

from vnnanalysis.editions import Edition

HEADERS = {
    "rank": "#",
    "percent": "Percent",
    "points": "Score",
    "solved_percent": "Solved [%]",
    "overhead_s": "Seconds",
    "corrected_s": "Time [s]",
    "run_s": "Run time [s]",
    "cpu_mode": "CPU mode",
    "rmc": "RMC",
    "shapley": "Shapley",
    "first": "Fastest",
}
MISSING = "-"
TOOL_LISTS = ("unsat", "sat", "tools")  # columns of comma-separated tools
GROUPED = " / "  # in a column's name: group and name, printed as a header of two rows
_BREAK = "\u200b"  # where a long name may break; becomes \\allowbreak
_TO_LATEX = UnicodeToLatexEncoder(
    non_ascii_only=True, unknown_char_policy="unihex", unknown_char_warning=False
).unicode_to_latex
_MATH = re.compile(r"\$[^$]+\$")


def _percent(value: float) -> str:
    return "0%" if value == 0 else f"{value:.1f}%"


def _number(value: Any) -> str:
    return f"{value:.1f}" if isinstance(value, float) else f"{value}"


FORMATS: dict[str, Callable[[Any], str]] = {
    "score": "{:.1f}".format,
    "percent": _percent,
    "solved_percent": "{:.1f}".format,
    "rmc": "{:.2f}".format,
    "shapley": "{:.1f}".format,
    "overhead_s": "{:.1f}".format,
    "cpu_mode": "{:.1f}".format,
    "corrected_s": "{:.2f}".format,
    "run_s": "{:.2f}".format,
    "shortest_answer_s": "{:.2f}".format,
    "longest_answer_s": "{:.2f}".format,
    "longest_run_s": "{:.2f}".format,
}


@dataclass(frozen=True)
class Table:
    """A frame, and how to print it.

    Attributes
    ----------
    name : str
        File stem and end of the LaTeX label; unique in an edition.
    caption : str
        Plain text; may hold math between dollar signs.
    frame : DataFrame
        The values, not rounded.
    edition : Edition
        For the names of tools, and the first part of the label.
    formats : mapping of str to callable
        Beside `FORMATS`, by column.
    widths : mapping of str to str
        LaTeX column types by column, such as ``p{4cm}``, where text must wrap.
    is_long : bool
        Whether the table may run over several pages.
    """

    name: str
    caption: str
    frame: pd.DataFrame
    edition: Edition
    formats: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    widths: Mapping[str, str] = field(default_factory=dict)
    is_long: bool = False

    @property
    def label(self) -> str:
        """LaTeX label."""
        return f"tab:{slug(self.edition.id)}-{slug(self.name)}"


def slug(text: str) -> str:
    """Turn a name into one that is safe in file names and labels.

    Names that differ in more than blanks, brackets and commas stay different: where another
    character had to go, the end is a checksum.

    Examples
    --------
    >>> slug("cifar10_resnet"), slug("Results (all)"), slug("c&d"), slug("c d")
    ('cifar10_resnet', 'Results-all', 'c-d-8a0e', 'c-d')
    """
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-")
    if re.fullmatch(r"[\w.\- (),]*", text, re.ASCII):
        return safe
    return f"{safe}-{zlib.crc32(text.encode()) & 0xFFFF:04x}"


def plain(text: str) -> str:
    r"""Return text with its math as Unicode, for places that do not know LaTeX.

    Examples
    --------
    >>> plain(r"$\alpha$,$\beta$-CROWN, 50%")
    'α,β-CROWN, 50%'
    """
    to_text = LatexNodes2Text().latex_to_text
    return _MATH.sub(lambda math: to_text(math[0]), text)


def _cells(table: Table) -> pd.DataFrame:
    """Format every cell as text, with tools by their display names."""
    name = {tool: table.edition.name(tool) for tool in table.edition.tools}
    cells = {}
    for column, values in table.frame.items():
        header = name.get(column) or HEADERS.get(column) or _title(str(column))
        how = table.formats.get(str(column)) or FORMATS.get(str(column))
        texts = [_cell(value, how) for value in values]
        if column == "tool":
            texts = [name.get(text, text) for text in texts]
        elif column in TOOL_LISTS:
            texts = [", ".join(name.get(t, t) for t in text.split(", ")) for text in texts]
        cells[header] = texts
    return pd.DataFrame(cells, dtype=object)


def _title(column: str) -> str:
    return column[:1].upper() + column[1:].replace("_", " ")


def _cell(value: Any, how: Callable[[Any], str] | None) -> str:
    if value is None or value is pd.NA or value != value:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return (how or _number)(value)


def _styler(cells: pd.DataFrame, escape: str, name: str) -> Styler:
    if any(GROUPED in column for column in cells.columns):
        pairs = [c.partition(GROUPED)[::2] if GROUPED in c else ("", c) for c in cells.columns]
        cells = cells.set_axis(pd.MultiIndex.from_tuples(pairs), axis="columns")
    styler = Styler(cells, uuid=slug(name), cell_ids=False)
    styler = styler.hide(axis="index").format(escape=escape)
    return styler.format_index(escape=escape, axis="columns")


def to_latex(table: Table) -> str:
    """Return a booktabs table environment, escaped, with caption and label.

    Tables with `widths` also need the LaTeX packages longtable and array.
    """
    cells = _cells(table)
    align = []
    for header, (column, values) in zip(cells.columns, table.frame.items(), strict=True):
        if width := table.widths.get(str(column)):
            cells[header] = cells[header].map(_breakable)
            align.append(rf">{{\raggedright\arraybackslash}}{width}")
        else:
            align.append("r" if _is_numeric(values) else "l")
    text = _styler(cells, "latex-math", table.name).to_latex(
        hrules=True,
        caption=latex_text(table.caption),
        label=table.label,
        position=None if table.is_long else "htbp",
        position_float=None if table.is_long else "centering",
        environment="longtable" if table.is_long else None,
        column_format="".join(align),
        multicol_align="c",
    )
    return _TO_LATEX(text.replace(_BREAK, r"\allowbreak{}"))


def _breakable(text: str) -> str:
    """Let a long name break after underscores and hyphens; math stays whole."""
    return text if "$" in text else re.sub(r"(?<=[_\-])", _BREAK, text)


def latex_text(text: str) -> str:
    r"""Escape text for LaTeX; math between dollar signs stays as it is.

    Examples
    --------
    >>> latex_text(r"c&d of $\alpha$_1, 50%")
    'c\\&d of $\\alpha$\\_1, 50\\%'
    """
    frame = pd.DataFrame({"x": [text]})
    row = Styler(frame).hide(axis="index").hide(axis="columns").format(escape="latex-math")
    body = row.to_latex().splitlines()[1].removesuffix(r"\\").strip()
    return _TO_LATEX(body)


def _is_numeric(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def to_html(table: Table) -> str:
    """Return an HTML table with caption, escaped, numbers aligned to the right."""
    cells = _cells(table).map(plain)
    cells.columns = [plain(c) for c in cells.columns]
    styler = _styler(cells, "html", table.name).set_caption(_html_escape(plain(table.caption)))
    numeric = [i for i, c in enumerate(table.frame) if _is_numeric(table.frame[c])]
    right = [
        {"selector": f"td.col{i}, th.col{i}.level{level}", "props": "text-align: right"}
        for i in numeric
        for level in range(styler.columns.nlevels)
    ]
    return styler.set_table_styles(right).to_html()


def _html_escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def to_text(table: Table) -> str:
    """Return an aligned table for a terminal."""
    cells = _cells(table).map(plain)
    cells.columns = [plain(c) for c in cells.columns]
    columns = []
    for header, raw in zip(cells.columns, table.frame, strict=True):
        texts = [header, *cells[header]]
        width = max(map(len, texts))
        align = str.rjust if _is_numeric(table.frame[raw]) else str.ljust
        columns.append([align(text, width) for text in texts])
    lines = ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
    return "\n".join([plain(table.caption), "", *lines]) + "\n"


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Return a frame as csv: full precision, LF line ends, UTF-8."""
    return frame.to_csv(index=False, lineterminator="\n").encode()
