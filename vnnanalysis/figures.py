"""Frames to figures. No arithmetic on scores, no pyplot state.

A tool has one colour, dash and marker in every figure of every edition (see
`editions.tool_slots`), whatever selection is drawn.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter

from vnnanalysis.editions import Edition, tool_slots
from vnnanalysis.names import label_of, plain_text, short_name, short_text
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
_PALETTE = "0173b2 de8f05 029e73 d55e00 cc78bc ca9161 fbafe4 56b4e9"  # seaborn's "colorblind"
_BRIGHT = [to_rgb(f"#{code}") for code in _PALETTE.split()]
COLOURS = [*_BRIGHT, *(tuple(0.5 * part for part in c) for c in _BRIGHT)]
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
    i = tool_slots(edition)[tool]
    return ToolStyle(
        COLOURS[i % len(COLOURS)], _DASHES[i % len(_DASHES)], _MARKERS[i % len(_MARKERS)]
    )


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
    figure = new_figure(7.2, 0.6)
    figure.text(0.02, 0.5, text, va="center")
    return figure


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
    smallest = []
    for tool in tools:
        times = cactus_points(judged, tool, floor_s)
        if len(times):
            smallest.append(float(times[0]))
            style = tool_style(edition, tool)
            axes.plot(
                np.arange(1, len(times) + 1), times, color=style.color, lw=1.4, ms=4,
                linestyle=style.linestyle, marker=style.marker, markeredgewidth=0,
                markevery=max(1, len(times) // 12),
                label=f"{label_of(edition, tool)} ({len(times)})",
            )  # fmt: skip
    axes.set_yscale("log")
    decade = 10 ** np.floor(np.log10(min(smallest, default=floor_s)))
    low = max(floor_s, decade)
    limit_s = _draw_limit(axes, judged)
    axes.set_ylim(bottom=low * 0.8, top=max(axes.get_ylim()[1], low * 11, 2 * limit_s))
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _draw_limit(axes: Axes, judged: pd.DataFrame) -> float:
    """Draw the time limit that all instances have in common; return it, 0 if there is none."""
    limits = judged["timeout_s"].unique()
    if len(limits) != 1 or pd.isna(limits[0]):
        return 0.0
    across = axes.get_yaxis_transform()
    axes.hlines(limits[0], 0, 1, transform=across, color="0.3", lw=0.9, linestyle=":")
    axes.annotate(
        f"limit {limits[0]:g} s", (0.01, limits[0]), xycoords=across, xytext=(0, 2),
        textcoords="offset points", va="bottom", fontsize=7,
    )  # fmt: skip
    return float(limits[0])


def _by_solved(judged: pd.DataFrame, tools: Sequence[str]) -> list[str]:
    correct = judged[judged["verdict"] == Verdict.CORRECT]
    solved = correct["tool"].value_counts()
    return sorted(tools, key=lambda tool: -solved.get(tool, 0))


@styled
def cactus(
    judged: pd.DataFrame, edition: Edition, tools: Sequence[str], floor_s: float = 1.0
) -> Figure:
    """Cactus plot: how many instances each tool solved within which time.

    Only correct answers are on a curve. Times below the floor are drawn at it. A time limit
    is shown where all instances have the same.
    """
    figure = new_figure(7.2, max(4.2, 0.6 + 0.18 * len(tools)))
    axes = figure.add_subplot()
    floor_s = max(floor_s, SMALLEST_S)
    _draw_cactus(axes, judged, edition, _by_solved(judged, tools), floor_s)
    axes.set_xlabel("instances solved")
    axes.set_ylabel(f"time per instance [s], at least {floor_s:g} s")
    if axes.lines:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")
    return figure


@styled
def cactus_grid(
    judged: pd.DataFrame, edition: Edition, tools: Sequence[str], floor_s: float = 1.0
) -> Figure:
    """One small cactus plot per benchmark, with one legend for all."""
    answered = set(judged.loc[judged["takes_part"], "benchmark"])
    benchmarks = [b for b in edition.benchmarks if b in answered]
    n_rows = -(-len(benchmarks) // 3)
    figure = new_figure(7.2, 0.9 + 1.8 * n_rows + 0.17 * max(0, len(tools) // 5 - 2))
    floor_s = max(floor_s, SMALLEST_S)
    axes_of = figure.subplots(n_rows, 3, squeeze=False).ravel()
    handles: dict[str, Any] = {}
    for axes, benchmark in zip(axes_of, benchmarks, strict=False):
        _draw_cactus(axes, judged[judged["benchmark"] == benchmark], edition, tools, floor_s)
        axes.set_title(plain_text(edition.benchmark_name(benchmark)), fontsize=8)
        for handle, tool_label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(tool_label.rpartition(" (")[0], handle)
    for axes in axes_of[len(benchmarks) :]:
        axes.set_visible(False)
    figure.supxlabel("instances solved", fontsize=9)
    figure.supylabel(f"time per instance [s], at least {floor_s:g} s", fontsize=9)
    order = [name for tool in tools if (name := label_of(edition, tool)) in handles]
    figure.legend(
        [handles[n] for n in order], order, loc="outside upper center", ncols=5, fontsize=8
    )
    return figure


@styled
def heatmap(table: pd.DataFrame, label: str, edition: Edition, *, fmt: str = ".0f") -> Figure:
    """Draw a matrix of numbers; missing cells stay empty.

    It is turned where it has more columns than fit on a page.
    """
    import seaborn as sns  # here, since it takes long to import

    if table.empty:
        return empty_figure(f"{label}: none")
    if len(table.columns) > max(14, len(table)):
        table = table.T
    names = table.set_axis(_labels(table.index, edition), axis="index")
    names = names.set_axis(_labels(table.columns, edition), axis="columns")
    figure = new_figure(2.6 + 0.52 * len(names.columns), 1.5 + 0.28 * len(names))
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


def _labels(names: pd.Index, edition: Edition) -> list[str]:
    """Return the printed names of an axis; one called benchmark holds no tools."""
    tools = set() if names.name == "benchmark" else set(edition.tools)
    return [
        short_name(edition, name) if name in tools else short_text(edition.benchmark_name(name))
        for name in map(str, names)
    ]


@styled
def stacked_results(counts: pd.DataFrame, edition: Edition) -> Figure:
    """Stacked bars, a row per tool and a colour per result; columns of `counts` in order."""
    figure = new_figure(7.2, 1.1 + 0.27 * len(counts))
    axes = figure.add_subplot()
    colours = dict(zip(Result, ("#0173b2", "#de8f05", "0.85", "0.6", "0.35"), strict=True))
    hatches = dict(zip(Result, ("", "///", "", "...", "xxx"), strict=True))
    left = np.zeros(len(counts))
    for result in counts.columns:
        values = counts[result].to_numpy(float)
        axes.barh(
            [label_of(edition, tool) for tool in counts.index], values, left=left, label=result,
            color=colours[Result(result)], hatch=hatches[Result(result)], edgecolor="white",
            linewidth=0.4, height=0.75,
        )  # fmt: skip
        left += values
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("instances")
    figure.legend(loc="outside upper center", ncols=len(counts.columns))
    return figure


@styled
def tool_histogram(counts: pd.DataFrame, edition: Edition, label: str) -> Figure:
    """Stacked bars, a bar per row of `counts` and a colour per tool (its columns)."""
    figure = new_figure(7.2, 3.4)
    axes = figure.add_subplot()
    bottom = np.zeros(len(counts))
    for tool in counts.columns:
        values = counts[tool].to_numpy(float)
        axes.bar(
            range(len(counts)), values, bottom=bottom, label=label_of(edition, tool),
            color=tool_style(edition, tool).color, edgecolor="white", linewidth=0.4,
        )  # fmt: skip
        bottom += values
    for place, total in zip(np.flatnonzero(bottom), bottom[bottom > 0], strict=True):
        axes.annotate(f"{total:.0f}", (place, total), ha="center", va="bottom", fontsize=7)
    axes.set_xticks(range(len(counts)), counts.index, rotation=35, ha="right")
    axes.grid(visible=False, axis="x")
    axes.set_ylabel(label)
    figure.legend(loc="outside right upper")
    return figure


@styled
def bump(ranks: pd.DataFrame, edition: Edition) -> Figure:
    """Ranks of the tools (rows) over rule variants (columns); labels at both ends.

    Lines of tools with equal ranks run side by side, and share a label.
    """
    figure = new_figure(7.2, 1.2 + 0.27 * len(ranks))
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
            names = ", ".join(label_of(edition, str(tool)) for tool in rows.index[:3])
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


@styled
def contribution_bars(table: pd.DataFrame, edition: Edition) -> Figure:
    """Solved, Shapley value and unique solves of every tool, as nested bars."""
    figure = new_figure(7.2, 1.2 + 0.27 * len(table))
    axes = figure.add_subplot()
    names = [short_name(edition, tool) for tool in table["tool"]]
    for column, colour, height in (
        ("solved", "0.87", 0.8),
        ("shapley", COLOURS[0], 0.5),
        ("unique", COLOURS[1], 0.25),
    ):
        axes.barh(names, table[column], color=colour, height=height, label=column)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("instances")
    figure.legend(
        labels=["solved", "Shapley value", "solved by this tool alone"],
        loc="outside upper center", ncols=3,
    )  # fmt: skip
    return figure


@styled
def progress_lines(table: pd.DataFrame, edition: Edition, label: str) -> Figure:
    """Draw the course of every tool (rows) over the editions (columns).

    A tool that stayed away for an edition has a gap in its line. Those that came once are
    grey marks, for orientation.
    """
    figure = new_figure(7.2, max(4.2, 0.6 + 0.18 * len(table)))
    axes = figure.add_subplot()
    places = np.arange(len(table.columns))
    once = table[table.notna().sum(axis=1) == 1]
    for row in once.to_numpy(float):
        axes.plot(places, row, color="0.7", linestyle="", marker=".", label="came once")
    for tool, row in table.drop(index=once.index).iterrows():
        style = tool_style(edition, str(tool))
        axes.plot(
            places, row.to_numpy(float), color=style.color, linestyle=style.linestyle, lw=1.4,
            marker=style.marker, ms=5, markeredgewidth=0, label=label_of(edition, str(tool)),
        )  # fmt: skip
    axes.set_xticks(places, [str(column) for column in table.columns])
    axes.set_xlim(-0.3, len(places) - 0.7)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(label)
    axes.grid(visible=False, axis="x")
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside right upper")
    return figure
