"""How sure a ranking is, and what it hangs on: intervals, critical differences, variants."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vnnanalysis.drawing import (
    PAGE,
    draw_matrix,
    empty_figure,
    head,
    inches,
    matrix_size,
    new_figure,
    styled,
    tall,
    tool_names,
    tool_style,
)
from vnnanalysis.editions import Edition
from vnnanalysis.names import wrapped
from vnnanalysis.terms import Design

OUTSIDE = "* outside the tool's 95 % rank interval: more than the choice of instances explains"

_SHADES = {
    Design.INSTANCES: ("0.35", -0.27, "instances resampled"),
    Design.BENCHMARKS: ("0.72", 0.27, "benchmarks and instances resampled"),
}
_SHIFT_KEY = "Numbers: rank. Blue: better than by default; red: worse."


def _ticks(last: int, most: int = 16) -> range:
    """Return ranks to print on an axis, from 1, all of them if there is room."""
    return range(1, last + 1, -(-last // most))


@styled
def rank_intervals(intervals: pd.DataFrame, edition: Edition) -> Figure:
    """Official ranks, with intervals from resampling instances and benchmarks.

    Parameters
    ----------
    intervals : DataFrame
        Requires columns tool, rank (the official one), design (a `Design`), rank_low and
        rank_high, of one track: a row for each tool and design.
    edition : Edition
        For names and marks.
    """
    if intervals.empty:
        return empty_figure("rank intervals: none")
    ranks = intervals.drop_duplicates("tool").sort_values("rank", kind="stable")
    place = {tool: i for i, tool in enumerate(ranks["tool"])}
    figure = new_figure(PAGE, tall(len(place), row=0.3))
    axes = figure.add_subplot()
    for design, rows in intervals.groupby("design", sort=False):
        colour, shift, label = _SHADES[Design(str(design))]
        y = rows["tool"].map(place).to_numpy() + shift
        ends = rows[["rank_low", "rank_high"]].to_numpy()
        axes.hlines(y, *ends.T, color=colour, lw=3, label=label)
        axes.plot(ends.ravel(), y.repeat(2), "o", color=colour, ms=3, markeredgewidth=0)
    for row in ranks.itertuples(index=False):
        style = tool_style(edition, row.tool)
        axes.plot(
            row.rank, place[row.tool], color=style.color, marker=style.marker, ms=6,
            markeredgewidth=0, linestyle="",
        )  # fmt: skip
    axes.set_yticks(range(len(place)), tool_names(edition, list(place)))
    axes.set_ylim(len(place) - 0.5, -0.5)
    last = max(len(place), int(intervals[["rank", "rank_high"]].max(axis=None)))
    axes.set_xlim(0.5, last + 0.5)
    axes.set_xticks(_ticks(last))
    axes.set_xlabel("rank of the real runs (marks), and 95 % intervals (bars)")
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside upper center", ncols=2)
    return figure


@styled
def critical_difference(
    mean_ranks: pd.Series,
    groups: Sequence[Sequence[str]],
    edition: Edition,
    title: str,
    cd: float | None = None,
) -> Figure:
    """Critical-difference diagram: mean ranks, and bars over tools that cannot be told apart.

    Source: Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 2006.

    Parameters
    ----------
    mean_ranks : Series of float, shape (n_tools,)
        Mean rank by tool, 1 is best.
    groups : sequence of sequence of str
        Tools that cannot be told apart; of two or more tools, each is a bar from its
        smallest to its largest mean rank, with a dot for each of its tools: one between
        them without a dot is not in the group.
    edition : Edition
        For names and colours.
    title : str
        Above the diagram.
    cd : float, optional
        Critical difference, drawn as a bracket of that length.
    """
    if mean_ranks.empty:
        return empty_figure(f"{title}: none")
    ordered = mean_ranks.sort_values(kind="stable")
    names = dict(zip(ordered.index, tool_names(edition, list(ordered.index)), strict=True))
    end = max(2, int(np.ceil(max(ordered.iloc[-1], 1 + (cd or 0)))))
    label = (0.6 + max(inches(name, _font_of(names)) for name in names.values())) / PAGE
    pad = (end - 1) * label / (1 - 2 * label)
    bars = _stacked_bars(ordered, groups, gap=0.02 * (end - 1))
    n_levels = 1 + max((level for _, level in bars), default=-1)
    first = 0.7 + 0.4 * n_levels
    bottom = first + 0.85 * (-(-len(ordered) // 2) - 1) + 0.7
    top = -2.4 if cd is None else -3.3
    figure = new_figure(PAGE, 0.35 + 0.2 * (bottom - top))
    axes = figure.add_subplot()
    axes.set(xlim=(1 - pad, end + pad), ylim=(bottom, top))
    axes.set_title(title, loc="left")
    axes.set_axis_off()
    _draw_rank_axis(axes, end, cd, most=int(PAGE * (1 - 2 * label) / 0.3))
    for members, level in bars:
        y = 0.5 + 0.4 * level
        ends = [members.min(), members.max()]
        axes.plot(ends, [y, y], "o-", color="0.2", lw=3.5, ms=3.5, mew=0, zorder=3)
        axes.plot(members, np.full(len(members), y), "o", color="w", ms=2.6, mew=0, zorder=6)
    _draw_elbows(axes, ordered, names, edition, first=first)
    return figure


def _font_of(names: dict[Any, str]) -> float:
    return 8.0 if max(map(len, names.values())) <= 16 else 7.0


def _stacked_bars(
    mean_ranks: pd.Series, groups: Sequence[Sequence[str]], gap: float
) -> list[tuple[np.ndarray, int]]:
    """Return the sorted mean ranks of each group, and a level where its bar is alone."""
    ranks = [np.sort(mean_ranks[list(group)].to_numpy(float)) for group in groups if len(group) > 1]
    ends: list[float] = []
    bars = []
    for members in sorted(ranks, key=lambda r: (r[0], r[-1])):
        free = (i for i, end in enumerate(ends) if members[0] > end + gap)
        level = next(free, len(ends))
        ends[level : level + 1] = [members[-1]]
        bars.append((members, level))
    return bars


def _draw_rank_axis(axes: Axes, end: int, cd: float | None, most: int) -> None:
    axes.hlines(0, 1, end, color="0.2", lw=1)
    for rank in _ticks(end, most):
        axes.vlines(rank, -0.35, 0, color="0.2", lw=1)
        axes.text(rank, -0.55, f"{rank}", ha="center", va="bottom", fontsize=8)
    axes.text(1, -1.45, "mean rank (1 is best)", ha="left", va="bottom", fontsize=8)
    if cd is None:
        return
    axes.hlines(-2.6, 1, 1 + cd, color="0.2", lw=1.2)
    axes.vlines([1, 1 + cd], -2.8, -2.4, color="0.2", lw=1.2)
    axes.text(1 + cd, -2.6, f"  critical difference {cd:.2f}", va="center", fontsize=8)


def _draw_elbows(
    axes: Axes, ordered: pd.Series, names: dict[Any, str], edition: Edition, *, first: float
) -> None:
    """Lead from the axis to the names: the better half on the left, the others on the right."""
    n_left = -(-len(ordered) // 2)
    low, high = axes.get_xlim()
    end = high - (1 - low)
    for i, (tool, rank) in enumerate(ordered.items()):
        is_left = i < n_left
        y = first + 0.85 * (i if is_left else len(ordered) - 1 - i)
        style = tool_style(edition, str(tool))
        side = 1 if is_left else end
        axes.plot(
            [rank, rank, side], [0, y, y], color=style.color, lw=1, marker=style.marker,
            markevery=[0], ms=4, markeredgecolor="white", zorder=4,
        )  # fmt: skip
        text = f"{names[tool]}  {rank:.2f}" if is_left else f"{rank:.2f}  {names[tool]}"
        axes.annotate(
            text, (side, y), xytext=(-4 if is_left else 4, 0), textcoords="offset points",
            ha="right" if is_left else "left", va="center", fontsize=_font_of(names),
        )  # fmt: skip


@styled
def variant_heatmap(shifts: pd.DataFrame, edition: Edition, *, note: str = OUTSIDE) -> Figure:
    """Ranks under every variant of the rules, coloured by how far they are from the default.

    It is turned where it has more tools than fit on a page.

    Parameters
    ----------
    shifts : DataFrame
        Requires columns variant, tool, rank, shift (places lost, negative if gained) and
        exceeds (marked with a star), of one track; from `ranking.rank_shifts`.
    edition : Edition
        For the names.
    note : str
        What the star means, below the matrix.
    """
    if shifts.empty:
        return empty_figure("variants of the rules: none")
    values, texts = _shift_cells(shifts, edition)
    if len(values.columns) > max(14, len(values)):
        values, texts = values.T, texts.T
    size = matrix_size(list(values.index), list(values.columns), texts.to_numpy(str), around=1.25)
    key = wrapped(f"{_SHIFT_KEY} {note}", int(16 * size.width))
    figure = new_figure(size.width, size.height)
    axes = figure.add_subplot()
    largest = max(1.0, float(np.nanmax(np.abs(values))))
    draw_matrix(axes, values, texts.to_numpy(), size, cmap="RdBu_r", vmin=-largest, vmax=largest)
    figure.supxlabel(key, fontsize=7, x=0.02, ha="left")
    return figure


def _shift_cells(shifts: pd.DataFrame, edition: Edition) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the shifts and the texts of the cells: variants by tools, by printed names."""
    stars = np.where(shifts["exceeds"], "*", "")
    rows = shifts.assign(text=shifts["rank"].astype(str) + stars)
    values, texts = (
        rows.pivot_table(column, "variant", "tool", aggfunc="first", sort=False)
        for column in ("shift", "text")
    )
    variants = [wrapped(str(variant), 30) for variant in values.index]
    names = tool_names(edition, values.columns)
    values = values.astype(float).set_axis(variants, axis="index").set_axis(names, axis="columns")
    return values, texts.fillna("")


@styled
def probabilities(matrix: pd.DataFrame, edition: Edition, label: str) -> Figure:
    """Draw how probable it is, in percent, that the tool of a row is above that of a column.

    Parameters
    ----------
    matrix : DataFrame of float, shape (n_tools, n_tools)
        Shares between 0 and 1, from `ranking.p_above`; the diagonal stays empty.
    edition : Edition
        For the names.
    label : str
        The title.
    """
    if matrix.empty:
        return empty_figure(f"{label}: none")
    percent = 100 * matrix.mask(np.eye(len(matrix), dtype=bool))
    texts = percent.map("{:.0f}".format).to_numpy(str)
    values = percent.set_axis(tool_names(edition, matrix.index), axis="index")
    values = values.set_axis(tool_names(edition, matrix.columns), axis="columns")
    size = matrix_size(list(values.index), list(values.columns), texts)
    figure = new_figure(size.width, size.height)
    axes = figure.add_subplot()
    draw_matrix(axes, values, texts, size, cmap="Blues", vmin=0, vmax=100)
    head(figure, label)
    return figure
