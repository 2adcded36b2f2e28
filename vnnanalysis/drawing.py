"""What all figures share: size, style, colours of the tools, round numbers, matrices.

Figures have the size at which they are printed: at most as wide as the text of an A4 article,
so that no font is smaller on paper than here.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from vnnanalysis.editions import Edition, tool_slots
from vnnanalysis.fonts import families
from vnnanalysis.names import short_name, wrapped

PAGE = 6.38  # width of the text of an A4 article (16.2 cm), in inches
TALLEST = 8.3  # height that such a page has for a figure and its caption, in inches
SMALLEST_PT = 6.0  # of all text, in points
SMALLEST_S = 0.01
STYLE: dict[Any, Any] = {
    "font.family": families(),
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.labelsize": 8.5,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "savefig.dpi": 200,
    "svg.hashsalt": "vnnanalysis",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}
# The first colours are seaborn's "colorblind"; each is far from all others, as tests measure.
_PALETTE = (
    "0173b2 e69f00 029e73 cf4a08 cc78bc a5673f ff6f91 56b4e9 "
    "16208a 8c1030 0b4d3a 403020 7d2088 6b7a00 8f6bff 12838f"
)
COLOURS = [to_rgb(f"#{code}") for code in _PALETTE.split()]
_DASHES = ["-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.2, 1, 1.2)), (0, (8, 2, 1, 1, 1, 1))]
_MARKERS = "osD^vPX<>hpd8"
_EM = 0.6  # width of a character of DejaVu Sans, as a share of the font size
_EM_DIGIT = 0.64

P = ParamSpec("P")


class ToolStyle(NamedTuple):
    """How a tool is drawn."""

    color: Any
    linestyle: Any
    marker: str


def tool_style(edition: Edition, tool: str) -> ToolStyle:
    """Return the colour, dash and marker of a tool."""
    i = tool_slots(edition)[tool]
    return ToolStyle(
        COLOURS[i % len(COLOURS)], _DASHES[i % len(_DASHES)], _MARKERS[i % len(_MARKERS)]
    )


def tool_names(edition: Edition, tools: Iterable[Any]) -> list[str]:
    """Return printed names of tools, short ones."""
    return [short_name(edition, str(tool)) for tool in tools]


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Make a function draw in the house style."""

    @wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context(STYLE):
            return draw(*args, **kwargs)

    return wrapper


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, in inches, that no pyplot state knows of."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def empty_figure(text: str) -> Figure:
    """Return a figure that says in words why there is nothing to draw."""
    lines = wrapped(text, 80)
    figure = new_figure(PAGE, 0.45 + 0.15 * (1 + lines.count("\n")))
    figure.text(0.02, 0.5, lines, va="center")
    return figure


def tall(n_rows: int, *, around: float = 1.1, row: float = 0.27) -> float:
    """Return the height of a figure with a line of text for each of its rows, in inches."""
    return min(TALLEST, around + row * max(1, n_rows))


def inches(text: str, points: float) -> float:
    """Return about how wide a text is, in inches; of several lines, the longest."""
    return _EM * points / 72 * max(map(len, text.splitlines()), default=0)


def lowest(floor: float, values: Iterable[float]) -> float:
    """Return where a log axis begins: a 1, 2 or 5 not above any value, at least the floor."""
    smallest = min((value for value in values if value > 0), default=floor)
    decade = 10.0 ** np.floor(np.log10(smallest) + 1e-9)
    return max(floor, max(m * decade for m in (1, 2, 5) if m * decade <= smallest * (1 + 1e-9)))


def round_numbers(low: float, high: float, most: int = 8) -> list[float]:
    """Return numbers to print on a log axis: powers of ten, or also 2s and 5s if these are few.

    Parameters
    ----------
    low, high : float
        The ends of the axis; more than 0.
    most : int
        Of many powers of ten every second, third... is taken, to have no more than this.
    """
    powers = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    decades = [power for power in powers if low <= 10.0**power <= high]
    if len(decades) < 2:
        numbers = [m * 10.0**power for power in powers for m in (1, 2, 5)]
        return [number for number in numbers if low <= number <= high]
    step = -(-len(decades) // most)
    return [10.0**power for power in decades if power % step == 0]


def plain_log(axis: Axis, low: float, high: float, most: int = 8) -> None:
    """Print plain numbers, 0.1, 1, 10, on a log axis."""
    places = round_numbers(low, high, most)
    axis.set_ticks(places, labels=[f"{place:g}" for place in places])
    axis.set_ticks([], minor=True)


class MatrixSize(NamedTuple):
    """Measures of a matrix with named rows and columns, in inches; fonts in points."""

    width: float
    height: float
    font: float  # of the numbers; 0 where there is no room for them
    label_font: float
    turn: float  # of the columns' names, in degrees
    is_upright: bool  # whether numbers are written upwards


def matrix_size(
    rows: Sequence[str],
    columns: Sequence[str],
    texts: np.ndarray,
    *,
    beside: float = 0.0,
    around: float = 0.75,
) -> MatrixSize:
    """Return how large to draw a matrix, so that it fits on a page and can be read.

    Parameters
    ----------
    rows, columns : sequence of str
        The printed names.
    texts : ndarray of str, shape (n_rows, n_columns)
        What the cells say.
    beside : float
        Inches to leave free on the right.
    around : float
        Inches to leave free above and below.
    """
    left, below = (max((inches(name, 7) for name in names), default=0) for names in (rows, columns))
    cell = min(0.52, (PAGE - left - beside - 0.45) / max(1, len(columns)))
    turn = 45 if cell > 0.15 else 90
    below *= 1 if turn == 90 else 0.71
    widest = max((_EM_DIGIT * (len(t) - 0.5 * t.count(".")) for t in texts.ravel()), default=0)
    smallest = widest * SMALLEST_PT / 72 + 0.015
    is_upright = smallest > cell
    n_lines = max((1 + name.count("\n") for name in rows), default=1)
    row = max(0.28, 0.14 * n_lines, smallest if is_upright else 0)
    row = min(row, (TALLEST - around - below) / max(1, len(rows)))
    along, across = (row, cell) if is_upright else (cell, row)
    font = min(7.0, 72 * (along - 0.015) / max(widest, 0.1), 72 * across / 1.3)
    label_font = min(8.0, 72 * min(row, cell * (0.71 if turn == 45 else 1)) / (1.15 * n_lines))
    return MatrixSize(
        width=min(PAGE, max(3.2, left + beside + 0.45 + cell * len(columns))),
        height=around + below + row * len(rows),
        font=font if font >= SMALLEST_PT - 1e-6 else 0,
        label_font=max(SMALLEST_PT, label_font),
        turn=turn,
        is_upright=is_upright,
    )


def draw_matrix(
    axes: Axes, values: pd.DataFrame, texts: np.ndarray, size: MatrixSize, **colours: Any
) -> None:
    """Draw coloured cells with a text each; missing cells stay empty.

    Where the cells are too small for text, a scale of the colours says what they mean.

    Parameters
    ----------
    axes : Axes
        Where to.
    values : DataFrame of float, shape (n_rows, n_columns)
        What decides the colour. Index and columns are printed names.
    texts : ndarray of str, shape (n_rows, n_columns)
        What the cells say.
    size : MatrixSize
        From `matrix_size`.
    **colours
        Of `seaborn.heatmap`: cmap, vmin, vmax, norm.
    """
    import seaborn as sns  # here, since it takes long to import

    font = {"fontsize": size.font or SMALLEST_PT, "rotation": 90 if size.is_upright else 0}
    sns.heatmap(
        values.astype(float), annot=texts if size.font else False, fmt="", ax=axes,
        linewidths=0.5, cbar=False, annot_kws=font, xticklabels=1, yticklabels=1, **colours,
    )  # fmt: skip
    if not size.font:
        axes.set_facecolor("0.85")  # a missing cell is not a small number
        mesh: ScalarMappable = axes.collections[0]
        axes.figure.colorbar(mesh, ax=axes, shrink=0.4, aspect=25, pad=0.02)
    axes.grid(visible=False)
    axes.set(xlabel="", ylabel="")
    axes.tick_params(axis="x", rotation=size.turn, labelsize=size.label_font, length=0)
    axes.tick_params(axis="y", rotation=0, labelsize=size.label_font, length=0)
    for text in axes.get_xticklabels():
        text.set(ha="right", va="top" if size.turn < 90 else "center", rotation_mode="anchor")


def head(figure: Figure, text: str) -> None:
    """Write a title at the left of a figure, in several lines where it is narrow."""
    title = wrapped(text, int(12 * figure.get_figwidth()))
    figure.suptitle(title, x=0.02, ha="left", fontsize=9.5)
