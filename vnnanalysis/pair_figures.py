"""Pairs of tools: how many times faster one is, and how alike all are."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from vnnanalysis.drawing import (
    PAGE,
    SMALLEST_S,
    draw_matrix,
    empty_figure,
    head,
    matrix_size,
    new_figure,
    plain_log,
    styled,
    tool_names,
    tool_style,
)
from vnnanalysis.editions import Edition
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.names import brief_name, wrapped
from vnnanalysis.scatter import DENSE, density_scale, draw_density, scatter_points

ONLY_X, ONLY_Y = "x only", "y only"
_EQUAL = "0.45"
_RAIL, _END = 1.14, 1.38  # where rails and axes lie, as multiples of the largest ratio's decades
_TREE = 0.8  # width of a tree, in inches


def ratio_points(
    judged: pd.DataFrame, tool_x: str, tool_y: str, floor_s: float = 1.0
) -> pd.DataFrame:
    """Return how many times longer one tool takes than another, for every instance.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    tool_x, tool_y : str
        The tools.
    floor_s : float
        Shorter times count as this, in seconds; more than 0.

    Returns
    -------
    DataFrame
        Columns benchmark, instance, fastest_s (time of the faster, or of the only one that
        solved it, in seconds), ratio (time of `tool_y` by that of `tool_x`; missing where
        one alone solved it) and rail (`ONLY_X`, `ONLY_Y`, or empty): a row for every
        instance that at least one of them solved.
    """
    points = scatter_points(judged, tool_x, tool_y)
    times = points[["x_s", "y_s"]].clip(lower=floor_s)
    return points[INSTANCE].assign(
        fastest_s=times.min(axis=1),
        ratio=times["y_s"] / times["x_s"],
        rail=np.select([times["y_s"].isna(), times["x_s"].isna()], [ONLY_X, ONLY_Y], default=""),
    )


@styled
def ratio_scatter(
    judged: pd.DataFrame, edition: Edition, tool_x: str, tool_y: str, floor_s: float = 1.0
) -> Figure:
    """How many times longer one tool takes than another, by the time of the faster.

    What only one of the two solved lies on a rail: above all ratios if it was `tool_x`, below
    if it was `tool_y`. Of more than `scatter.DENSE` instances, those that both solved are
    drawn as a density.
    """
    floor_s = max(floor_s, SMALLEST_S)
    points = ratio_points(judged, tool_x, tool_y, floor_s)
    names = [brief_name(edition, tool) for tool in (tool_x, tool_y)]
    if points.empty:
        return empty_figure(f"{names[0]}, {names[1]}: nothing solved")
    figure = new_figure(PAGE, 4.3)
    axes = figure.add_subplot()
    _draw_ratios(axes, points, [tool_style(edition, tool).color for tool in (tool_x, tool_y)])
    ratio = points["ratio"]
    counts = []
    for name, is_faster, rail in zip(names, (ratio > 1, ratio < 1), (ONLY_X, ONLY_Y), strict=True):
        n_alone = int((points["rail"] == rail).sum())
        counts.append(f"{name}: {int(is_faster.sum())} faster, {n_alone} solved alone")
    label = "; ".join(counts)
    lines = [label] if len(label) <= 70 else counts
    label = "\n".join(wrapped(line, 70) for line in lines)
    axes.set_xlabel(f"time of the faster of the two [s], at least {floor_s:g} s\n{label}")
    axes.set_ylabel(wrapped(f"time of {names[1]} / time of {names[0]}", 45))
    axes.set_title(f"{len(points)} instances solved by at least one", loc="left")
    _label_rails(axes, names)
    return figure


def _draw_ratios(axes: Axes, points: pd.DataFrame, colours: Sequence[Any]) -> None:
    """Draw points and rails on axes of equal extent above and below 1."""
    ratio, x = points["ratio"], points["fastest_s"]
    decades = max([1.0, *np.log10(ratio.dropna()).abs()])
    rails = {ONLY_X: 10 ** (decades * _RAIL), ONLY_Y: 10 ** (-decades * _RAIL)}
    y = ratio.fillna(points["rail"].map(rails))
    axes.set(xscale="log", yscale="log")
    low, high = x.min(), max(x.max(), 10 * x.min())
    if is_dense := len(points) > DENSE:
        edges = np.geomspace(low, high, 71), np.geomspace(10**-decades, 10**decades, 51)
        density = draw_density(axes, x[ratio.notna()], y[ratio.notna()], edges)
        density_scale(axes, density)
    for rows, colour in ((y == 1, _EQUAL), (y > 1, colours[0]), (y < 1, colours[1])):
        rows &= ratio.isna() | (not is_dense)
        axes.scatter(
            x[rows], y[rows], s=14, color=colour, alpha=0.55, linewidths=0, rasterized=True
        )
    axes.axhline(1, color="0.3", lw=0.8)
    for place in rails.values():
        axes.axhline(place, color="0.8", lw=0.6, zorder=0)
    plain_log(axes.yaxis, 10**-decades, 10**decades)
    axes.set_xlim(low * 0.85, high * 1.2)
    plain_log(axes.xaxis, low * 0.85, high * 1.2)
    axes.set_ylim(10 ** (-decades * _END), 10 ** (decades * _END))


def _label_rails(axes: Axes, names: Sequence[str]) -> None:
    """Say above the upper rail and below the lower one who solved what lies there."""
    bottom, top = axes.get_ylim()
    for name, end, side in zip(names, (top, bottom), (1, -1), strict=True):
        axes.annotate(
            wrapped(f"solved by {name} only", 75), (0.01, end ** (_RAIL / _END)),
            xycoords=axes.get_yaxis_transform(), xytext=(0, 5 * side), fontsize=7,
            textcoords="offset points", va="bottom" if side > 0 else "top",
        )  # fmt: skip


@styled
def overlap_heatmap(
    matrix: pd.DataFrame, order: Sequence[str], linkage: np.ndarray, edition: Edition, label: str
) -> Figure:
    """Draw how alike tools are, with the tree of a hierarchical clustering beside it.

    Parameters
    ----------
    matrix : DataFrame of float, shape (n_tools, n_tools)
        Similarities up to 1; negative ones are red, missing ones stay empty.
    order : sequence of str
        The tools in the order of the tree's leaves.
    linkage : ndarray of float, shape (n_tools - 1, 4)
        Of `scipy.cluster.hierarchy.linkage`; its leaves are the rows of `matrix`. Without
        rows, no tree is drawn.
    edition : Edition
        For the names.
    label : str
        The title.

    Raises
    ------
    ValueError
        If `order` is not that of the tree's leaves.
    """
    if matrix.empty:
        return empty_figure(f"{label}: none")
    names = tool_names(edition, order)
    tree = _tree(linkage)
    if tree and [matrix.index[leaf] for leaf in tree["leaves"]] != list(order):
        leaves = ", ".join(str(matrix.index[leaf]) for leaf in tree["leaves"])
        raise ValueError(f"expected the order of the leaves, {leaves}; got {', '.join(order)}")
    values = matrix.loc[list(order), list(order)]
    texts = values.map("{:.2f}".format).to_numpy(str)
    beside = _TREE if tree else 0.0
    size = matrix_size(names, names, texts, beside=beside)
    figure = new_figure(size.width, size.height)
    if not tree:
        axes = figure.add_subplot()
    else:
        ratios = [size.width - beside - 1.2, beside]
        axes, side = figure.subplots(1, 2, width_ratios=ratios)
        _draw_tree(side, tree, len(order))
    printed = values.set_axis(names, axis="index").set_axis(names, axis="columns")
    has_negative = bool((values < 0).any(axis=None))
    scale = {"cmap": "RdBu", "vmin": -1} if has_negative else {"cmap": "Blues", "vmin": 0}
    draw_matrix(axes, printed, texts, size, vmax=1, **scale)
    head(figure, label)
    return figure


def _tree(linkage: np.ndarray) -> dict[str, Any]:
    if not len(linkage):
        return {}
    from scipy.cluster.hierarchy import dendrogram

    return dendrogram(linkage, no_plot=True)


def _draw_tree(axes: Axes, tree: dict[str, Any], n_tools: int) -> None:
    """Draw the tree with its leaves level with the rows: scipy puts leaf i at 10 i + 5."""
    for places, distances in zip(tree["icoord"], tree["dcoord"], strict=True):
        axes.plot(distances, np.array(places) / 10, color="0.3", lw=1, solid_joinstyle="miter")
    axes.set_ylim(n_tools, 0)
    end = 1.05 * max(0.01, np.max(tree["dcoord"]))
    places = MaxNLocator(2).tick_values(0, end)
    axes.set(xlim=(0, end), xticks=[0, places[places <= end][-1]])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False)
    axes.tick_params(axis="x", labelsize=7)
    axes.set_xlabel("distance", fontsize=8)
