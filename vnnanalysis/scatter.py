"""Scatter plots of pairs of tools, with a rail for everything that was not solved."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.figure import Figure

from vnnanalysis.editions import Edition
from vnnanalysis.figures import COLOURS, SMALLEST_S, label_of, new_figure, styled
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.terms import Result, Verdict

_RAIL_KEY = (
    "Lines beyond the times, from the inside:\ntimeout, no answer, undecided,\n"
    "left out, incorrect (x). Above each plot:\nsolved by one of the two only."
)
DENSE = 2_000  # more points are drawn as a density where both tools solved
RAILS = ("timeout", "no answer", "undecided", "left out", "incorrect")


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
            [solved, rows["excluded"] != "", rows["verdict"] == Verdict.INCORRECT,
             rows["verdict"] == Verdict.IGNORED, rows["result"] == Result.TIMEOUT],
            ["", "left out", "incorrect", "undecided", "timeout"], default="no answer",
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


def draw_density(
    axes: Axes, x: pd.Series, y: pd.Series, edges: tuple[np.ndarray, np.ndarray]
) -> QuadMesh:
    """Draw how many points lie in each cell between some edges; empty cells stay white.

    Parameters
    ----------
    axes : Axes
        Where to.
    x, y : Series of float, shape (n_points,)
        The points; those outside the edges are moved to the nearest cell.
    edges : tuple of two ndarrays of float
        Edges of the cells in x and in y.
    """
    places, bins = zip((x, y), edges, strict=True), list(edges)
    inside = [values.clip(ends[0], ends[-1]).to_numpy(float) for values, ends in places]
    counts, *_ = np.histogram2d(inside[0], inside[1], bins=bins)
    blues = ListedColormap(mpl.colormaps["Blues"](np.linspace(0.3, 1, 128)))
    norm = LogNorm(1, max(counts.max(), 10))
    return axes.pcolormesh(
        *edges, np.ma.masked_equal(counts.T, 0), cmap=blues, norm=norm, rasterized=True
    )


def _draw_scatter(
    axes: Axes, points: pd.DataFrame, limits: tuple[float, float], *, small: bool = False
) -> QuadMesh | None:
    """Draw points and rails; return the density, if there are many points."""
    low, high = limits
    step = 1.9 if small else 1.55
    rails = {name: high * step ** (i + 1.7) for i, name in enumerate(RAILS)}
    x = points["x_s"].clip(lower=low).fillna(points["x_rail"].map(rails))
    y = points["y_s"].clip(lower=low).fillna(points["y_rail"].map(rails))
    both = points["x_s"].notna() & points["y_s"].notna()
    wrong = (points["x_rail"] == "incorrect") | (points["y_rail"] == "incorrect")
    size, density = 5 if small else 14, None
    if len(points) > DENSE:
        edges = np.geomspace(low, high, 31 if small else 61)
        density = draw_density(axes, x[both], y[both], (edges, edges))
    for rows, colour, marker in (
        (both & (density is None), COLOURS[0], "o"),
        (~both & ~wrong, "0.45", "o"),
        (~both & wrong, COLOURS[3], "x"),
    ):
        axes.scatter(
            x[rows], y[rows], s=size, color=colour, marker=marker, alpha=0.55,
            linewidths=0.8 if marker == "x" else 0, rasterized=True,
        )  # fmt: skip
    end = high * step ** (len(RAILS) + 1.3)
    axes.plot([low, high], [low, high], color="0.3", lw=0.8)
    axes.set(xscale="log", yscale="log", xlim=(low * 0.8, end), ylim=(low * 0.8, end))
    for place in rails.values():
        axes.axhline(place, color="0.8", lw=0.6, zorder=0)
        axes.axvline(place, color="0.8", lw=0.6, zorder=0)
    axes.set_aspect("equal")
    _label_rails(axes, rails, limits, small=small)
    return density


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
    smallest = float(correct.min()) if len(correct) else 0.0
    low = max(floor_s, SMALLEST_S, 10 ** np.floor(np.log10(max(smallest, SMALLEST_S))))
    return low, max(float(correct.max()) if len(correct) else low, low * 10)


@styled
def scatter(
    judged: pd.DataFrame, edition: Edition, tool_x: str, tool_y: str, floor_s: float = 1.0
) -> Figure:
    """Run times of two tools on every instance that at least one of them solved.

    What a tool did not solve lies on a rail of its own beyond the time axis, never dropped.
    Of more than `DENSE` instances, those that both solved are drawn as a density.
    """
    figure = new_figure(5.6, 5.4)
    axes = figure.add_subplot()
    points = scatter_points(judged, tool_x, tool_y)
    density = _draw_scatter(axes, points, _limits(judged, floor_s))
    x, y = points["x_s"], points["y_s"]
    only_x, only_y = int(y.isna().sum()), int(x.isna().sum())
    names = label_of(edition, tool_x), label_of(edition, tool_y)
    axes.set_xlabel(f"{names[0]} [s]: {int((x < y).sum())} faster, {only_x} solved alone")
    axes.set_ylabel(f"{names[1]} [s]: {int((y < x).sum())} faster, {only_y} solved alone")
    axes.set_title(f"{len(points)} instances solved by at least one", loc="left")
    if density is not None:
        bar = figure.colorbar(density, ax=axes, shrink=0.4, aspect=25, pad=0.02)
        bar.set_label("instances solved by both", fontsize=8)
    return figure


@styled
def scatter_grid(
    judged: pd.DataFrame, edition: Edition, tools: Sequence[str], floor_s: float = 1.0
) -> Figure:
    """Scatter plots of all pairs of some tools, with how many instances only one solved."""
    tools = [*tools, *tools] if len(tools) == 1 else list(tools)
    n = len(tools)
    size = max(2.6, min(8.4, 1.7 * (n - 1) + 0.8))
    figure = new_figure(size, size)
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
                axes.set_xlabel(f"{label_of(edition, tool_x)} [s]", fontsize=8)
            if column == 0:
                axes.set_ylabel(f"{label_of(edition, tool_y)} [s]", fontsize=8)
    if n > 3:
        figure.text(0.98, 0.97, _RAIL_KEY, ha="right", va="top", fontsize=8, linespacing=1.5)
    return figure
