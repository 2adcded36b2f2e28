"""Frames to figures. No arithmetic on scores, no pyplot state.

A tool has one colour, dash and marker in every figure of an edition: they follow its
place in the edition's list of tools, not the selection that is drawn.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter

from vnnanalysis.editions import Edition
from vnnanalysis.load import INSTANCE
from vnnanalysis.tables import plain_name
from vnnanalysis.terms import Result, Verdict

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "savefig.dpi": 200,
    "svg.hashsalt": "vnnanalysis",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}
SMALLEST_S = 0.01
_RAIL_KEY = (
    "Lines beyond the times, from the inside:\ntimeout, no answer, undecided, incorrect (x).\n"
    "Above each plot: solved by one of the two only."
)
RAILS = ("timeout", "no answer", "undecided", "incorrect")
_BRIGHT = [c for i, c in enumerate(sns.color_palette("colorblind")) if i not in (7, 8)]
_COLOURS = [*_BRIGHT, *(tuple(0.5 * part for part in c) for c in _BRIGHT)]
_DASHES = ["-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.2, 1, 1.2)), (0, (8, 2, 1, 1, 1, 1))]
_MARKERS = "osD^vPX<>hpd8"

P = ParamSpec("P")


class ToolStyle(NamedTuple):
    """How a tool is drawn."""

    color: Any
    linestyle: Any
    marker: str


def tool_style(edition: Edition, tool: str) -> ToolStyle:
    """Return the colour, dash and marker of a tool."""
    i = edition.tools.index(tool)
    return ToolStyle(
        _COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)], _MARKERS[i % len(_MARKERS)]
    )


def _styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    @wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context(STYLE):
            return draw(*args, **kwargs)

    return wrapper


def _figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _empty(text: str) -> Figure:
    figure = _figure(7.2, 0.6)
    figure.text(0.02, 0.5, text, va="center")
    return figure


def _shown(text: str) -> str:
    """Keep matplotlib from reading math in a name, or hiding one that begins with _."""
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def _name(edition: Edition, tool: str) -> str:
    return _shown(plain_name(edition, tool))


def cactus_points(judged: pd.DataFrame, tool: str, floor_s: float) -> np.ndarray:
    """Return the sorted times of a tool's correct answers, none below the floor.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tool : str
        The tool.
    floor_s : float
        Times below are drawn here, in seconds: a log axis has no zero.

    Returns
    -------
    ndarray of float, shape (n_correct,)
    """
    correct = (judged["tool"] == tool) & (judged["verdict"] == Verdict.CORRECT)
    return np.sort(judged.loc[correct, "corrected_s"].clip(lower=floor_s).to_numpy())


def _draw_cactus(
    axes: Axes, judged: pd.DataFrame, edition: Edition, tools: Sequence[str], floor_s: float
) -> None:
    for tool in tools:
        times = cactus_points(judged, tool, floor_s)
        if len(times):
            style = tool_style(edition, tool)
            axes.plot(
                np.arange(1, len(times) + 1), times, color=style.color, lw=1.4, ms=4,
                linestyle=style.linestyle, marker=style.marker, markeredgewidth=0,
                markevery=max(1, len(times) // 12),
                label=f"{_name(edition, tool)} ({len(times)})",
            )  # fmt: skip
    axes.set_yscale("log")
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _by_solved(judged: pd.DataFrame, tools: Sequence[str]) -> list[str]:
    correct = judged[judged["verdict"] == Verdict.CORRECT]
    solved = correct["tool"].value_counts()
    return sorted(tools, key=lambda tool: -solved.get(tool, 0))


@_styled
def cactus(
    judged: pd.DataFrame, edition: Edition, tools: Sequence[str], floor_s: float = 1.0
) -> Figure:
    """Cactus plot: how many instances each tool solved within which time.

    Only correct answers are on a curve. Times below the floor are drawn at it.
    """
    figure = _figure(7.2, max(4.2, 0.6 + 0.18 * len(tools)))
    axes = figure.add_subplot()
    floor_s = max(floor_s, SMALLEST_S)
    _draw_cactus(axes, judged, edition, _by_solved(judged, tools), floor_s)
    axes.set_xlabel("instances solved")
    axes.set_ylabel(f"time per instance [s], at least {floor_s:g} s")
    if axes.lines:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")
    return figure


@_styled
def cactus_grid(
    judged: pd.DataFrame, edition: Edition, tools: Sequence[str], floor_s: float = 1.0
) -> Figure:
    """One small cactus plot per benchmark, with one legend for all."""
    benchmarks = [b for b in edition.benchmarks if (judged["benchmark"] == b).any()]
    n_rows = -(-len(benchmarks) // 3)
    figure = _figure(7.2, 0.9 + 1.8 * n_rows + 0.17 * max(0, len(tools) // 5 - 2))
    floor_s = max(floor_s, SMALLEST_S)
    axes_of = figure.subplots(n_rows, 3, squeeze=False).ravel()
    handles: dict[str, Any] = {}
    for axes, benchmark in zip(axes_of, benchmarks, strict=False):
        _draw_cactus(axes, judged[judged["benchmark"] == benchmark], edition, tools, floor_s)
        axes.set_title(_shown(benchmark))
        for handle, tool_label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(tool_label.rpartition(" (")[0], handle)
    for axes in axes_of[len(benchmarks) :]:
        axes.set_visible(False)
    figure.supxlabel("instances solved", fontsize=9)
    figure.supylabel(f"time per instance [s], at least {floor_s:g} s", fontsize=9)
    order = [name for tool in tools if (name := _name(edition, tool)) in handles]
    figure.legend(
        [handles[n] for n in order], order, loc="outside upper center", ncols=5, fontsize=8
    )
    return figure


def scatter_points(judged: pd.DataFrame, tool_x: str, tool_y: str) -> pd.DataFrame:
    """Return every instance that at least one of two tools solved.

    Returns
    -------
    DataFrame
        Columns benchmark, instance, x_s, y_s (seconds, missing where not solved), x_rail
        and y_rail (one of `RAILS`, empty where solved).
    """
    sides = []
    for tool, side in ((tool_x, "x"), (tool_y, "y")):
        rows = judged[judged["tool"] == tool].set_index(INSTANCE)
        solved = rows["verdict"] == Verdict.CORRECT
        rail = np.select(
            [solved, rows["verdict"] == Verdict.INCORRECT, rows["verdict"] == Verdict.IGNORED,
             rows["result"] == Result.TIMEOUT],
            ["", "incorrect", "undecided", "timeout"], default="no answer",
        )  # fmt: skip
        sides.append(
            pd.DataFrame(
                {f"{side}_s": rows["corrected_s"].where(solved), f"{side}_rail": rail}, rows.index
            )
        )
    points = sides[0].join(sides[1], how="outer", validate="one_to_one")
    rails = ["x_rail", "y_rail"]
    points[rails] = points[rails].fillna("no answer")
    return points[points["x_s"].notna() | points["y_s"].notna()].reset_index()


def _draw_scatter(
    axes: Axes, points: pd.DataFrame, limits: tuple[float, float], *, small: bool = False
) -> None:
    low, high = limits
    step = 1.9 if small else 1.55
    rails = {name: high * step ** (i + 1) for i, name in enumerate(RAILS)}
    x = points["x_s"].clip(lower=low).fillna(points["x_rail"].map(rails))
    y = points["y_s"].clip(lower=low).fillna(points["y_rail"].map(rails))
    both = points["x_s"].notna() & points["y_s"].notna()
    wrong = (points["x_rail"] == "incorrect") | (points["y_rail"] == "incorrect")
    size = 5 if small else 14
    for rows, colour, marker in (
        (both, _COLOURS[0], "o"),
        (~both & ~wrong, "0.45", "o"),
        (~both & wrong, _COLOURS[3], "x"),
    ):
        axes.scatter(
            x[rows], y[rows], s=size, color=colour, marker=marker, alpha=0.55,
            linewidths=0.8 if marker == "x" else 0, rasterized=True,
        )  # fmt: skip
    end = high * step ** (len(RAILS) + 0.6)
    axes.plot([low, high], [low, high], color="0.3", lw=0.8)
    axes.set(xscale="log", yscale="log", xlim=(low * 0.8, end), ylim=(low * 0.8, end))
    for place in rails.values():
        axes.axhline(place, color="0.8", lw=0.6, zorder=0)
        axes.axvline(place, color="0.8", lw=0.6, zorder=0)
    axes.set_aspect("equal")
    _label_rails(axes, rails, limits, small=small)


def _label_rails(
    axes: Axes, rails: dict[str, float], limits: tuple[float, float], *, small: bool
) -> None:
    decades = [10.0**k for k in range(-2, 7) if limits[0] <= 10.0**k <= limits[1]]
    names = [] if small else list(rails)
    places = [] if small else list(rails.values())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks([*decades, *places], labels=[f"{d:g}" for d in decades] + names)
        axis.set_ticks([], minor=True)
        axis.grid(visible=False)
    if not small:
        for label in axes.get_xticklabels()[len(decades) :]:
            label.set(rotation=90, fontsize=7)
        for label in axes.get_yticklabels()[len(decades) :]:
            label.set(fontsize=7)


def _limits(judged: pd.DataFrame, floor_s: float) -> tuple[float, float]:
    correct = judged.loc[judged["verdict"] == Verdict.CORRECT, "corrected_s"]
    low = max(floor_s, SMALLEST_S)
    return low, max(float(correct.max()) if len(correct) else low, low * 10)


@_styled
def scatter(
    judged: pd.DataFrame, edition: Edition, tool_x: str, tool_y: str, floor_s: float = 1.0
) -> Figure:
    """Run times of two tools on every instance that at least one of them solved.

    What a tool did not solve lies on a rail of its own beyond the time axis, never dropped.
    """
    figure = _figure(5.6, 5.4)
    axes = figure.add_subplot()
    points = scatter_points(judged, tool_x, tool_y)
    _draw_scatter(axes, points, _limits(judged, floor_s))
    x, y = points["x_s"], points["y_s"]
    only_x, only_y = int(y.isna().sum()), int(x.isna().sum())
    names = _name(edition, tool_x), _name(edition, tool_y)
    axes.set_xlabel(f"{names[0]} [s]: {int((x < y).sum())} faster, {only_x} solved alone")
    axes.set_ylabel(f"{names[1]} [s]: {int((y < x).sum())} faster, {only_y} solved alone")
    axes.set_title(f"{len(points)} instances solved by at least one", loc="left")
    return figure


@_styled
def scatter_grid(
    judged: pd.DataFrame, edition: Edition, tools: Sequence[str], floor_s: float = 1.0
) -> Figure:
    """Scatter plots of all pairs of some tools, with how many instances only one solved."""
    tools = [*tools, *tools] if len(tools) == 1 else list(tools)
    n = len(tools)
    size = max(2.6, min(8.4, 1.7 * (n - 1) + 0.8))
    figure = _figure(size, size)
    grid = figure.subplots(n - 1, n - 1, squeeze=False)
    limits = _limits(judged, floor_s)
    for row, tool_y in enumerate(tools[1:]):
        for column, tool_x in enumerate(tools[:-1]):
            axes = grid[row, column]
            if column > row:
                axes.set_visible(False)
                continue
            points = scatter_points(judged, tool_x, tool_y)
            _draw_scatter(axes, points, limits, small=True)
            alone_x, alone_y = int(points["y_s"].isna().sum()), int(points["x_s"].isna().sum())
            axes.set_title(f"x only {alone_x}, y only {alone_y}", fontsize=7, pad=2)
            axes.tick_params(labelsize=6)
            if row == n - 2:
                axes.set_xlabel(f"{_name(edition, tool_x)} [s]", fontsize=8)
            if column == 0:
                axes.set_ylabel(f"{_name(edition, tool_y)} [s]", fontsize=8)
    if n > 3:
        figure.text(0.98, 0.97, _RAIL_KEY, ha="right", va="top", fontsize=8, linespacing=1.5)
    return figure


@_styled
def heatmap(table: pd.DataFrame, label: str, edition: Edition, *, fmt: str = ".0f") -> Figure:
    """Draw a matrix of numbers; missing cells stay empty.

    It is turned where it has more columns than fit on a page.
    """
    if table.empty:
        return _empty(f"{label}: none")
    if len(table.columns) > max(14, len(table)):
        table = table.T
    known = {tool: _name(edition, tool) for tool in edition.tools}
    labels = {name: known.get(name, _shown(str(name))) for name in [*table.index, *table.columns]}
    names = table.rename(index=labels, columns=labels)
    figure = _figure(2.6 + 0.52 * len(names.columns), 1.5 + 0.28 * len(names))
    axes = figure.add_subplot()
    sns.heatmap(
        names.astype(float), annot=True, fmt=fmt, cmap="Blues", ax=axes, linewidths=0.5,
        annot_kws={"fontsize": 7}, cbar=False, vmin=0,
    )  # fmt: skip
    axes.grid(visible=False)
    axes.set(xlabel="", ylabel="", title=label)
    axes.tick_params(axis="x", rotation=45, labelsize=8, length=0)
    axes.tick_params(axis="y", rotation=0, labelsize=8, length=0)
    for text in axes.get_xticklabels():
        text.set(ha="right", rotation_mode="anchor")
    return figure


@_styled
def stacked_results(counts: pd.DataFrame, edition: Edition) -> Figure:
    """Stacked bars, a row per tool and a colour per result; columns of `counts` in order."""
    figure = _figure(7.2, 1.1 + 0.27 * len(counts))
    axes = figure.add_subplot()
    colours = dict(zip(Result, ("#0173b2", "#de8f05", "0.85", "0.6", "0.35"), strict=True))
    hatches = dict(zip(Result, ("", "///", "", "...", "xxx"), strict=True))
    left = np.zeros(len(counts))
    for result in counts.columns:
        values = counts[result].to_numpy(float)
        axes.barh(
            [_name(edition, tool) for tool in counts.index], values, left=left, label=result,
            color=colours[Result(result)], hatch=hatches[Result(result)], edgecolor="white",
            linewidth=0.4, height=0.75,
        )  # fmt: skip
        left += values
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("instances")
    figure.legend(loc="outside upper center", ncols=len(counts.columns))
    return figure


@_styled
def bump(ranks: pd.DataFrame, edition: Edition) -> Figure:
    """Ranks of the tools (rows) over rule variants (columns); labels at both ends.

    Lines of tools with equal ranks run side by side, and share a label.
    """
    figure = _figure(7.2, 1.2 + 0.27 * len(ranks))
    axes = figure.add_subplot()
    places = np.arange(len(ranks.columns))
    for (tool, row), shift in zip(ranks.iterrows(), _side_by_side(ranks), strict=True):
        style = tool_style(edition, str(tool))
        axes.plot(
            places, row + shift, color=style.color, linestyle=style.linestyle, lw=1.6,
            marker=style.marker, ms=6, markeredgewidth=0,
        )  # fmt: skip
    for place, align, gap in ((0, "right", -0.08), (len(places) - 1, "left", 0.08)):
        for rank, rows in ranks.groupby(ranks.iloc[:, place]):
            names = ", ".join(_name(edition, str(tool)) for tool in rows.index[:3])
            names += f" and {len(rows) - 3} more" if len(rows) > 3 else ""
            label = f"{rank}  {names}" if align == "left" else f"{names}  {rank}"
            axes.text(place + gap, rank, label, ha=align, va="center", fontsize=8)
    axes.set_xticks(places, [str(c).replace(" / ", "\n") for c in ranks.columns])
    axes.set_xlim(-1.1, len(places) + 0.1)
    axes.set_ylim(ranks.to_numpy().max() + 0.6, 0.4)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False)
    return figure


def _side_by_side(ranks: pd.DataFrame) -> np.ndarray:
    """Return small shifts, shape (n_tools, n_variants), between tools with equal ranks."""
    within = ranks.apply(lambda column: column.groupby(column).cumcount())
    ties = ranks.apply(lambda column: column.groupby(column).transform("size"))
    return ((within - (ties - 1) / 2) * 0.16 / ties.clip(lower=2) * 2).to_numpy()


@_styled
def contribution_bars(table: pd.DataFrame, edition: Edition) -> Figure:
    """Solved, Shapley value and unique solves of every tool, as nested bars."""
    figure = _figure(7.2, 1.2 + 0.27 * len(table))
    axes = figure.add_subplot()
    names = [_name(edition, tool) for tool in table["tool"]]
    for column, colour, height, hatch in (
        ("solved", "0.87", 0.8, ""),
        ("shapley", _COLOURS[0], 0.5, ""),
        ("unique", _COLOURS[1], 0.25, ""),
    ):
        axes.barh(names, table[column], color=colour, height=height, hatch=hatch, label=column)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("instances")
    figure.legend(
        labels=["solved", "Shapley value", "solved by this tool alone"],
        loc="outside upper center", ncols=3,
    )  # fmt: skip
    return figure
