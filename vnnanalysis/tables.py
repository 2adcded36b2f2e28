"""Frames to printed tables: LaTeX, HTML and plain text. No arithmetic but rounding."""

import html
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from pandas.io.formats.style import Styler
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexencode import (
    RULE_DICT,
    UnicodeToLatexConversionRule,
    UnicodeToLatexEncoder,
)

from vnnanalysis.editions import Edition, split_tools

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
    "vbs_share": "VBS share",
    "avg_time_s": "Average time [s]",
    "par2_s": "PAR2 [s]",
    "par10_s": "PAR10 [s]",
    "par2_share": "PAR2 per limit",
    "sgm_s": "Shifted geo. mean [s]",
    "solved_s": "Mean when solved [s]",
    "sbs": "SBS",
    "sbs_tool": "SBS is",
    "vbs": "VBS",
    "gap_closed": "Gap closed",
    "n_optima": "Optima",
    "n_solvable": "Solvable",
    "n": "n",
    "rank_low": "# from",
    "rank_high": "# to",
    "score_low": "Score from",
    "score_high": "Score to",
    "p_first": "P(first)",
    "p_above": "P(above)",
    "p_below": "P(below)",
    "p_value": "p",
    "p_holm": "p (Holm)",
    "mcnemar_p": "McNemar p",
    "nemenyi_p": "Nemenyi p",
    "wilcoxon_p": "Wilcoxon p (Holm)",
    "kendall_tau": "Kendall tau",
    "p_instances": "P(ahead), instances",
    "p_benchmarks": "P(ahead), benchmarks",
    "tools": "Tools",
}
MISSING = "-"
TOOLS = ("tool", "other", "solved_by")  # columns of one tool
# columns of comma-separated tools
TOOL_LISTS = ("unsat", "sat", "tools", "sbs_tool", "moved", "exceeding")
GROUPED = " / "  # in a column's name: group and name, printed as a header of two rows
_FITTED = r"\ifdim\width>\linewidth\linewidth\else\width\fi"  # for \resizebox: at most this wide
# Where a long name may break in LaTeX, and where a long word may if there is no other way.
_BREAK, _LAST_RESORT = "\u200b", "\u200c"
_EM_PER_CHARACTER = 0.53  # of what does not wrap, to know what it leaves of the line
Naming = Callable[[Edition, str], str]
_TO_LATEX = UnicodeToLatexEncoder(
    unknown_char_policy="unihex",
    unknown_char_warning=False,
    conversion_rules=[
        UnicodeToLatexConversionRule(
            RULE_DICT, {0x200B: r"\allowbreak{}", 0x200C: r"\penalty900{}"}
        ),
        "defaults",
    ],
).unicode_to_latex
_TO_TEXT = LatexNodes2Text().latex_to_text
_MATH = re.compile(r"(\$[^$]+\$)")


def _percent(value: float) -> str:
    return "0%" if value == 0 else f"{value:.1f}%"


def _number(value: Any) -> str:
    return f"{value:.1f}" if isinstance(value, float) else f"{value}"


def _p_value(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


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
    **dict.fromkeys(("score_low", "score_high", "tool_score", "other_score"), "{:.1f}".format),
    **dict.fromkeys(("p_first", "p_above", "p_below"), "{:.4f}".format),
    **dict.fromkeys(("p_instances", "p_benchmarks"), "{:.4f}".format),
    **dict.fromkeys(("gap_closed", "par2_share"), "{:.3f}".format),
    **dict.fromkeys(("p_value", "p_holm", "mcnemar_p", "nemenyi_p", "wilcoxon_p"), _p_value),
    **dict.fromkeys(("jaccard", "spearman", "kendall_tau", "rank_difference"), "{:.2f}".format),
    **dict.fromkeys(("time_ratio", "ratio_low", "ratio_high", "sgm_s"), "{:.2f}".format),
}


@dataclass(frozen=True)
class Table:
    """A frame, and how to print it.

    Attributes
    ----------
    name : str
        File stem and end of the LaTeX label; unique in an edition.
    caption : str
        Plain text.
    frame : DataFrame
        The values, not rounded.
    edition : Edition
        For the names of tools.
    prefix : str
        First part of the label: the edition, and its rules where they are not its own.
    formats : mapping of str to callable
        Beside `FORMATS`, by column.
    widths : mapping of str to float
        Columns whose text wraps in LaTeX, and how they share what the others leave of the line.
    is_long : bool
        Whether the table may run over several pages.
    """

    name: str
    caption: str
    frame: pd.DataFrame
    edition: Edition
    prefix: str = ""
    formats: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    widths: Mapping[str, float] = field(default_factory=dict)
    is_long: bool = False

    @property
    def label(self) -> str:
        """LaTeX label."""
        return f"tab:{slug(self.prefix or self.edition.id)}-{slug(self.name)}"


def slug(text: str) -> str:
    """Turn a name into one that is safe in file names and labels.

    Different names stay different: where a character had to go, the end is a checksum.

    Examples
    --------
    >>> slug("cifar10_resnet"), slug("marabou-cifar10"), slug("c&d")
    ('cifar10_resnet', 'marabou-cifar10', 'c-d-8a0e')
    """
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-")
    return safe if safe == text else f"{safe}-{zlib.crc32(text.encode()) & 0xFFFF:04x}"


def latex_text(text: str) -> str:
    r"""Escape text for LaTeX, also what is not ASCII.

    Examples
    --------
    >>> latex_text("c&d_1, 50%"), latex_text("β")
    ('c\\&d\\_1, 50\\%', '\\ensuremath{\\beta}')
    """
    return str(_TO_LATEX(text))


def plain_name(edition: Edition, tool: str) -> str:
    """Return a tool's name as plain text: math of a display name becomes Unicode."""
    name = edition.name(tool)
    if tool not in edition.display:
        return name
    return "".join(_TO_TEXT(p) if _MATH.fullmatch(p) else p for p in _MATH.split(name))


def latex_name(edition: Edition, tool: str) -> str:
    """Return a tool's name for LaTeX: math of a display name stays, the rest is escaped."""
    name = edition.name(tool)
    parts = _MATH.split(name) if tool in edition.display else [name]
    return "".join(p if _MATH.fullmatch(p) else latex_text(p) for p in parts)


def short_latex(edition: Edition, tool: str, longest: int = 24) -> str:
    """Return a tool's name for LaTeX where there is little room, a long one without its middle."""
    name = plain_name(edition, tool)
    if len(name) <= longest:
        return latex_name(edition, tool)
    return latex_text(f"{name[: longest - 10]}…{name[-9:]}")


def _cells(table: Table, name: Naming, escape: Callable[[str], str]) -> pd.DataFrame:
    """Format every cell as text; tools by their names, everything else escaped."""
    known = set(table.edition.tools)

    def named(text: str) -> str:
        return name(table.edition, text) if text in known else escape(text)

    cells = {}
    for column, values in table.frame.items():
        header = HEADERS.get(str(column)) or _title(str(column))
        how = table.formats.get(str(column)) or FORMATS.get(str(column))
        texts = [_cell(value, how) for value in values]
        wraps = column in table.widths and escape is latex_text
        if column in TOOLS:
            texts = [named(text) for text in texts]
        elif column in TOOL_LISTS:
            texts = [", ".join(map(named, split_tools(text, known))) for text in texts]
        else:
            texts = _in_print(table, str(column), texts, escape)
            texts = [escape(_breakable(text) if wraps else text) for text in texts]
        cells[escape(_breakable(header) if wraps else header)] = texts
    return pd.DataFrame(cells, dtype=object)


def _in_print(
    table: Table, column: str, texts: list[str], escape: Callable[[str], str]
) -> list[str]:
    """Put printed names where a column has names of ours; a terminal shows what can be typed."""
    if column == "measure":
        return [HEADERS.get(text, text) for text in texts]
    if column == "benchmark" and escape is not str:
        return [table.edition.benchmark_name(text) for text in texts]
    return texts


def _breakable(text: str) -> str:
    text = re.sub(r"([^\W_]{5})(?=[^\W_]{4})", rf"\1{_LAST_RESORT}", text)
    return re.sub(r"(?<=[_.-])|(?<=/)(?! )", _BREAK, text)


def _title(column: str) -> str:
    column = re.sub("_s$", " [s]", column)
    return column[:1].upper() + column[1:].replace("_", " ")


def _cell(value: Any, how: Callable[[Any], str] | None) -> str:
    if value is None or value is pd.NA or value != value:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return (how or _number)(value)


def _styler(cells: pd.DataFrame, name: str) -> Styler:
    """Return a Styler of cells that are escaped already."""
    if any(GROUPED in column for column in cells.columns):
        pairs = [c.partition(GROUPED)[::2] if GROUPED in c else ("", c) for c in cells.columns]
        cells = cells.set_axis(pd.MultiIndex.from_tuples(pairs), axis="columns")
    return Styler(cells, uuid=slug(name), cell_ids=False).hide(axis="index")


def to_latex(table: Table) -> str:
    """Return a booktabs table environment, escaped, with caption and label.

    One that is wider than the text is made smaller, so that graphicx is needed. Tables with
    `widths` need the LaTeX packages longtable and array instead.
    """
    text = _styler(_cells(table, latex_name, latex_text), table.name).to_latex(
        hrules=True,
        caption=latex_text(table.caption),
        label=table.label,
        position=None if table.is_long else "htbp",
        position_float=None if table.is_long else "centering",
        environment="longtable" if table.is_long else None,
        column_format="".join(_column_types(table)),
        multicol_align="c",
    )
    fitted = rf"\resizebox{{{_FITTED}}}{{!}}{{\begin{{tabular}}"
    text = str(text).replace(r"\begin{tabular}", fitted)
    return text.replace(r"\end{tabular}", r"\end{tabular}}")


def _column_types(table: Table) -> list[str]:
    """Return the LaTeX column types; those that wrap share what the others leave of the line."""
    texts = _cells(table, plain_name, str)
    fixed = [
        max(map(len, [header, *texts[header]]))
        for header, column in zip(texts, table.frame, strict=True)
        if column not in table.widths
    ]
    taken = rf"{_EM_PER_CHARACTER * sum(fixed):.2f}em-{2 * len(texts.columns)}\tabcolsep"
    types = []
    for column, values in table.frame.items():
        if column in table.widths:
            share = table.widths[str(column)] / sum(table.widths.values())
            width = rf"{share:.4f}\dimexpr\linewidth-{taken}\relax"
            types.append(rf">{{\raggedright\arraybackslash}}p{{{width}}}")
        else:
            types.append("r" if _is_numeric(values) else "l")
    return types


def _is_numeric(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def to_html(table: Table) -> str:
    """Return an HTML table with caption, escaped, numbers aligned to the right."""

    def name(edition: Edition, tool: str) -> str:
        return html.escape(plain_name(edition, tool))

    styler = _styler(_cells(table, name, html.escape), table.name)
    sides = ["right" if _is_numeric(table.frame[c]) else "left" for c in table.frame]
    styles = [
        {"selector": f"td.col{i}, th.col{i}.level{level}", "props": f"text-align: {side}"}
        for i, side in enumerate(sides)
        for level in range(styler.columns.nlevels)
    ]
    styles.append({"selector": "caption", "props": "text-align: left; min-width: 24em"})
    return str(styler.set_caption(html.escape(table.caption)).set_table_styles(styles).to_html())


def to_text(table: Table) -> str:
    """Return an aligned table for a terminal."""
    cells = _cells(table, plain_name, str)
    columns = []
    for header, raw in zip(cells.columns, table.frame, strict=True):
        texts = [header, *cells[header]]
        width = max(map(len, texts))
        align = str.rjust if _is_numeric(table.frame[raw]) else str.ljust
        columns.append([align(text, width) for text in texts])
    lines = ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
    return "\n".join([table.caption, "", *lines]) + "\n"


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Return a frame as csv: full precision, LF line ends, UTF-8."""
    return frame.to_csv(index=False, lineterminator="\n").encode()
