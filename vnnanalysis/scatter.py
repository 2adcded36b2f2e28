"""Scatter plots of pairs of tools, with a rail for everything that was not solved."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.figure import Figure

from vnnanalysis.drawing import (
    COLOURS,
    PAGE,
    SMALLEST_S,
    TALLEST,
    lowest,
    new_figure,
    plain_log,
    round_numbers,
    styled,
)
from vnnanalysis.editions import Edition
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.names import brief_name, wrapped
from vnnanalysis.terms import Result, Verdict

_RAIL_KEY = (
    "Upwards: the tool at the left (y); to the right: the tool below (x).\n"
    "Lines beyond the times, from the inside: timeout, no answer,\nundecided, "
    "left out, incorrect (x). Above each plot: how many\ninstances only one of the two solved."
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


def density_scale(axes: Axes, density: QuadMesh) -> None:
    """Draw beside the axes what the colours of a density mean."""
    bar = axes.figure.colorbar(density, ax=axes, shrink=0.4, aspect=25, pad=0.02)
    plain_log(bar.ax.yaxis, *density.get_clim())
    bar.ax.tick_params(labelsize=7)
    bar.set_label("instances solved by both", fontsize=7.5)


def _label_rails(
    axes: Axes, rails: dict[str, float], limits: tuple[float, float], *, small: bool
) -> None:
    times = round_numbers(*limits, most=3 if small else 8)
    names = [] if small else list(rails)
    places = [] if small else list(rails.values())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks([*times, *places], labels=[f"{time:g}" for time in times] + names)
        axis.set_ticks([], minor=True)
        axis.grid(visible=False)
    if not small:
        for label in axes.get_xticklabels()[len(times) :]:
            label.set(rotation=90, fontsize=7)
        for label in axes.get_yticklabels()[len(times) :]:
            label.set(fontsize=7)


def _limits(judged: pd.DataFrame, tools: Sequence[str], floor_s: float) -> tuple[float, float]:
    """Return the shortest and the longest time to draw of some tools."""
    correct = judged["tool"].isin(tools) & (judged["verdict"] == Verdict.CORRECT)
    times = judged.loc[correct, "corrected_s"]
    low = lowest(max(floor_s, SMALLEST_S), times)
    return low, max([low * 10, *times])


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
    density = _draw_scatter(axes, points, _limits(judged, [tool_x, tool_y], floor_s))
    x, y = points["x_s"], points["y_s"]
    sides = (axes.set_xlabel, tool_x, x < y, y), (axes.set_ylabel, tool_y, y < x, x)
    for write, tool, is_faster, other in sides:
        counts = f"{int(is_faster.sum())} faster, {int(other.isna().sum())} solved alone"
        write(wrapped(f"{brief_name(edition, tool)} [s]: {counts}", 55))
    axes.set_title(f"{len(points)} instances solved by at least one", loc="left")
    if density is not None:
        density_scale(axes, density)
    return figure


@styled
def scatter_grid(
    judged: pd.DataFrame, edition: Edition, tools: Sequence[str], floor_s: float = 1.0
) -> Figure:
    """Scatter plots of all pairs of some tools, with how many instances only one solved."""
    tools = [*tools, *tools] if len(tools) == 1 else list(tools)
    n = len(tools)
    size = max(2.6, min(PAGE, 1.7 * (n - 1) + 0.8))
    figure = new_figure(size, min(TALLEST, size + 0.15 * (n - 1)))
    figure.set_layout_engine("constrained", w_pad=0.02, h_pad=0.02, wspace=0.02, hspace=0.02)
    grid = figure.subplots(n - 1, n - 1, squeeze=False, sharex=True, sharey=True)
    limits = _limits(judged, tools, floor_s)
    for row, tool_y in enumerate(tools[1:]):
        for column, tool_x in enumerate(tools[:-1]):
            axes = grid[row, column]
            if column > row:
                axes.set_visible(False)
                continue
            points = scatter_points(judged, tool_x, tool_y)
            _draw_scatter(axes, points, limits, small=True)
            alone_x, alone_y = int(points["y_s"].isna().sum()), int(points["x_s"].isna().sum())
            axes.set_title(f"only x {alone_x}, y {alone_y}", fontsize=6.5, pad=2)
            axes.tick_params(labelsize=6.5, labelbottom=row == n - 2, labelleft=column == 0)
    for axes, tool in zip(grid[-1], tools[:-1], strict=True):
        axes.set_xlabel(_beside(edition, tool), fontsize=7)
    for axes, tool in zip(grid[:, 0], tools[1:], strict=True):
        axes.set_ylabel(_beside(edition, tool), fontsize=7)
    if n > 3:
        figure.text(0.99, 0.97, _RAIL_KEY, ha="right", va="top", fontsize=7.5, linespacing=1.5)
    return figure


def _beside(edition: Edition, tool: str) -> str:
    """Return the name of a tool for the side of a small plot, in lines that fit there."""
    return wrapped(f"{brief_name(edition, tool)} [s]", 16)
