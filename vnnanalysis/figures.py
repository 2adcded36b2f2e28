"""Frames to figures. No arithmetic on scores, no pyplot state.

A tool has one colour, dash and marker in every figure of every edition (see
`editions.tool_slots`), whatever selection is drawn.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from vnnanalysis.drawing import (
    COLOURS,
    PAGE,
    SMALLEST_PT,
    SMALLEST_S,
    STYLE,
    draw_matrix,
    empty_figure,
    head,
    inches,
    lowest,
    matrix_size,
    new_figure,
    plain_log,
    styled,
    tall,
    tool_names,
    tool_style,
)
from vnnanalysis.editions import Edition
from vnnanalysis.names import plain_text, short_name, short_text
from vnnanalysis.terms import ANSWERS, Result, Verdict

__all__ = [
    "SMALLEST_S",
    "STYLE",
    "bump",
    "cactus",
    "cactus_grid",
    "cactus_points",
    "contribution_bars",
    "heatmap",
    "progress_lines",
    "stacked_results",
    "tool_histogram",
    "tool_style",
]


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
    axes: Axes,
    judged: pd.DataFrame,
    edition: Edition,
    tools: Sequence[str],
    floor_s: float,
    *,
    height: float = 3.0,
) -> None:
    """Draw a curve for each tool, on axes of about this height, in inches."""
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
                label=f"{short_name(edition, tool)} ({len(times)})",
            )  # fmt: skip
    axes.set_yscale("log")
    low = lowest(floor_s, smallest)
    limit_s, bottom, room = _draw_limit(axes, judged), low * 0.8, min(0.5, 0.16 / height)
    above_limit = limit_s * max(1, limit_s / bottom) ** (room / (1 - room))
    top = max(axes.get_ylim()[1], low * 11, 1.5 * limit_s, above_limit)
    axes.set_ylim(bottom, top)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    plain_log(axes.yaxis, bottom, top)


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
    if not (judged["tool"].isin(tools) & (judged["verdict"] == Verdict.CORRECT)).any():
        return empty_figure("instances solved: none")
    figure = new_figure(PAGE, max(3.8, tall(len(tools), around=0.6, row=0.17)))
    axes = figure.add_subplot()
    floor_s = max(floor_s, SMALLEST_S)
    _draw_cactus(axes, judged, edition, _by_solved(judged, tools), floor_s)
    axes.set_xlabel("instances solved")
    axes.set_ylabel(f"time per instance [s], at least {floor_s:g} s")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")
    return figure


@styled
def cactus_grid(
    judged: pd.DataFrame, edition: Edition, tools: Sequence[str], floor_s: float = 1.0
) -> Figure:
    """One small cactus plot per benchmark, with one legend for all."""
    answered = set(judged.loc[judged["takes_part"], "benchmark"])
    benchmarks = [b for b in edition.benchmarks if b in answered]
    n_columns = next((n for n in (3, 4, 5) if len(benchmarks) <= n * (n + 3)), 6)
    row = 5.2 / n_columns
    n_columns = max(1, min(n_columns, len(benchmarks)))
    n_rows = max(1, -(-len(benchmarks) // n_columns))
    tools = _by_solved(judged, tools)
    names = dict(zip(tool_names(edition, tools), tools, strict=True))
    font = 7.5 if len(names) <= 16 else 6.5
    n_beside = max(1, int(PAGE / (0.5 + max(inches(name, font) for name in names))))
    n_lines = -(-len(names) // n_beside)
    around = 0.6 + font / 47 * n_lines
    figure = new_figure(PAGE, tall(n_rows, around=around, row=row))
    height = (figure.get_figheight() - around) / n_rows - 0.45
    floor_s = max(floor_s, SMALLEST_S)
    grid = figure.subplots(n_rows, n_columns, squeeze=False)
    handles: dict[str, Any] = {}
    for axes, benchmark in zip(grid.ravel(), benchmarks, strict=False):
        rows = judged[judged["benchmark"] == benchmark]
        _draw_cactus(axes, rows, edition, tools, floor_s, height=height)
        _make_small(axes, most=max(2, int(height / 0.15)))
        title = short_text(edition.benchmark_name(benchmark), 76 // n_columns)
        axes.set_title(title, fontsize=7, pad=3)
        for handle, tool_label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(tool_label.rpartition(" (")[0], handle)
    for axes in grid.ravel()[len(benchmarks) :]:
        axes.set_visible(False)
    figure.supxlabel("instances solved", fontsize=8.5)
    figure.supylabel(f"time per instance [s], at least {floor_s:g} s", fontsize=8.5)
    order = [name for name in names if name in handles]
    figure.legend(
        [handles[n] for n in order], order, loc="outside upper center", fontsize=font,
        ncols=-(-len(names) // n_lines),
    )  # fmt: skip
    return figure


def _make_small(axes: Axes, most: int) -> None:
    """Make a plot small, one among many; say so where no tool solved anything."""
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))
    plain_log(axes.yaxis, *axes.get_ylim(), most=most)
    axes.tick_params(labelsize=6.5, pad=2)
    for line in axes.lines:
        line.set(markersize=3, linewidth=1.1)
    for text in axes.texts:
        text.set_fontsize(SMALLEST_PT)
    if not axes.lines:
        axes.set(xticks=[], yticks=[])
        axes.text(0.5, 0.4, "none solved", transform=axes.transAxes, ha="center", fontsize=7)


@styled
def heatmap(table: pd.DataFrame, label: str, edition: Edition, *, fmt: str = ".0f") -> Figure:
    """Draw a matrix of numbers; missing cells stay empty.

    Tools beside benchmarks are in the order of their sums, largest first. The matrix is turned
    where it has more columns than fit on a page. Colours are by the square root of the number,
    so that one large benchmark does not make all others pale.
    """
    if table.empty:
        return empty_figure(f"{label}: none")
    if _holds_tools(table.index, edition) and not _holds_tools(table.columns, edition):
        sums = table.sum(axis=1)
        table = table.loc[sums.sort_values(ascending=False, kind="stable").index]
    if len(table.columns) > max(14, len(table)):
        table = table.T
    names = table.set_axis(_labels(table.index, edition), axis="index").astype(float)
    names = names.set_axis(_labels(table.columns, edition), axis="columns")
    texts = names.map(lambda value: format(value, fmt)).to_numpy(str)
    size = matrix_size(list(names.index), list(names.columns), texts)
    figure = new_figure(size.width, size.height)
    axes = figure.add_subplot()
    largest = max(float(np.nanmax(names)), 1e-9) if names.notna().any(axis=None) else 1.0
    draw_matrix(axes, names, texts, size, cmap="Blues", norm=PowerNorm(0.5, 0, largest))
    head(figure, label)
    return figure


def _holds_tools(names: pd.Index, edition: Edition) -> bool:
    return names.name != "benchmark" and set(names) <= set(edition.tools)


def _labels(names: pd.Index, edition: Edition) -> list[str]:
    """Return the printed names of an axis; one called benchmark holds no tools."""
    tools = set() if names.name == "benchmark" else set(edition.tools)
    return [
        short_name(edition, name) if name in tools else short_text(edition.benchmark_name(name))
        for name in map(str, names)
    ]


@styled
def stacked_results(counts: pd.DataFrame, edition: Edition) -> Figure:
    """Stacked bars, a row per tool and a colour per result; columns of `counts` in order.

    Tools are in the order of their answers (unsat or sat), most first.
    """
    answers = counts[[column for column in counts.columns if column in ANSWERS]].sum(axis=1)
    counts = counts.loc[answers.sort_values(ascending=False, kind="stable").index]
    figure = new_figure(PAGE, tall(len(counts)))
    axes = figure.add_subplot()
    colours = dict(zip(Result, ("#0173b2", "#de8f05", "0.85", "0.6", "0.35"), strict=True))
    hatches = dict(zip(Result, ("", "///", "", "...", "xxx"), strict=True))
    left = np.zeros(len(counts))
    for result in counts.columns:
        values = counts[result].to_numpy(float)
        axes.barh(
            range(len(counts)), values, left=left, label=result, height=0.75,
            color=colours[Result(result)], hatch=hatches[Result(result)], edgecolor="white",
            linewidth=0.4,
        )  # fmt: skip
        left += values
    axes.set_yticks(range(len(counts)), tool_names(edition, counts.index))
    axes.set_ylim(len(counts) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("instances")
    figure.legend(loc="outside upper center", ncols=len(counts.columns))
    return figure


@styled
def tool_histogram(counts: pd.DataFrame, edition: Edition, label: str) -> Figure:
    """Stacked bars, a bar per row of `counts` and a colour per tool (its columns)."""
    figure = new_figure(PAGE, max(3.4, tall(len(counts.columns), around=0.6, row=0.17)))
    axes = figure.add_subplot()
    bottom = np.zeros(len(counts))
    for tool in counts.columns:
        values = counts[tool].to_numpy(float)
        axes.bar(
            range(len(counts)), values, bottom=bottom, label=short_name(edition, tool),
            color=tool_style(edition, tool).color, edgecolor="white", linewidth=0.4,
        )  # fmt: skip
        bottom += values
    for place, total in zip(np.flatnonzero(bottom), bottom[bottom > 0], strict=True):
        axes.annotate(f"{total:.0f}", (place, total), ha="center", va="bottom", fontsize=7)
    axes.set_xticks(range(len(counts)), map(str, counts.index), rotation=35, ha="right")
    axes.grid(visible=False, axis="x")
    axes.set_ylabel(label)
    figure.legend(loc="outside right upper")
    return figure


@styled
def bump(ranks: pd.DataFrame, edition: Edition) -> Figure:
    """Ranks of the tools (rows) over rule variants (columns); labels at both ends.

    Lines of tools with equal ranks run side by side; their labels are one below the other.
    """
    variants = [plain_text(str(column)).replace(" / ", "\n") for column in ranks.columns]
    names = dict(zip(ranks.index, tool_names(edition, ranks.index), strict=True))
    figure = new_figure(PAGE, tall(len(ranks), around=1.2))
    axes = figure.add_subplot()
    places = np.arange(len(variants))
    for (tool, row), shift in zip(ranks.iterrows(), _side_by_side(ranks), strict=True):
        style = tool_style(edition, str(tool))
        axes.plot(
            places, row + shift, color=style.color, linestyle=style.linestyle, lw=1.6,
            marker=style.marker, ms=6, markeredgewidth=0,
        )  # fmt: skip
    for place, align, gap in ((0, "right", -7), (len(places) - 1, "left", 7)):
        column = ranks.iloc[:, place].sort_values(kind="stable")
        rows = column + column.groupby(column).cumcount()
        for (tool, rank), y in zip(column.items(), rows, strict=True):
            label = f"{rank}  {names[tool]}" if align == "left" else f"{names[tool]}  {rank}"
            axes.annotate(
                label, (place, y), xytext=(gap, 0), textcoords="offset points", ha=align,
                va="center", fontsize=7.5,
            )  # fmt: skip
    room = PAGE - 2 * max(inches(name, 7.5) for name in names.values()) - 0.6
    axes.set_xticks(places, variants, fontsize=7.5)
    if max(inches(variant, 7.5) for variant in variants) > room / max(1, len(variants) - 0.7):
        axes.tick_params(axis="x", rotation=90)
    axes.set_xlim(-0.15, len(places) - 0.85)
    axes.set_ylim(ranks.to_numpy().max() + 0.6, 0.4)
    axes.set_yticks([])
    axes.set_xlabel("variant of the rules")
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
    figure = new_figure(PAGE, tall(len(table)))
    axes = figure.add_subplot()
    for column, colour, height, label in (
        ("solved", "0.87", 0.8, "solved"),
        ("shapley", COLOURS[0], 0.5, "Shapley value"),
        ("unique", COLOURS[1], 0.25, "solved by this tool alone"),
    ):
        axes.barh(range(len(table)), table[column], color=colour, height=height, label=label)
    axes.set_yticks(range(len(table)), tool_names(edition, table["tool"]))
    axes.set_ylim(len(table) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("instances")
    figure.legend(loc="outside upper center", ncols=3)
    return figure


@styled
def progress_lines(table: pd.DataFrame, edition: Edition, label: str) -> Figure:
    """Draw the course of every tool (rows) over the editions (columns).

    A tool that stayed away for an edition has a gap in its line. Those that came once are
    grey marks, for orientation.
    """
    once = table[table.notna().sum(axis=1) == 1]
    figure = new_figure(PAGE, max(3.8, tall(len(table) - len(once), around=0.8, row=0.17)))
    axes = figure.add_subplot()
    places = np.arange(len(table.columns))
    for row in once.to_numpy(float):
        axes.plot(places, row, color="0.7", linestyle="", marker=".", label="came once")
    for tool, row in table.drop(index=once.index).iterrows():
        style = tool_style(edition, str(tool))
        axes.plot(
            places, row.to_numpy(float), color=style.color, linestyle=style.linestyle, lw=1.4,
            marker=style.marker, ms=5, markeredgewidth=0, label=short_name(edition, str(tool)),
        )  # fmt: skip
    axes.set_xticks(places, [str(column) for column in table.columns])
    axes.set_xlim(-0.3, len(places) - 0.7)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("edition")
    axes.set_ylabel(plain_text(label))
    axes.grid(visible=False, axis="x")
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside right upper")
    return figure
