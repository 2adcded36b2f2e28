"""Curves over a score, a share of the time limit or a number of tools."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from vnnanalysis.drawing import (
    COLOURS,
    PAGE,
    SMALLEST_S,
    empty_figure,
    lowest,
    new_figure,
    plain_log,
    styled,
    tall,
    tool_style,
)
from vnnanalysis.editions import Edition, split_tools
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.names import brief_name, short_name, wrapped
from vnnanalysis.terms import Verdict

MANY_SIZES = 16
_MARKS = 12


def quantile_points(
    judged: pd.DataFrame, scores: pd.DataFrame, edition: Edition, tool: str
) -> pd.DataFrame:
    """Return the overall score that a tool has gathered after a time per instance.

    Every benchmark's points are scaled to its percent, so that the last score is the tool's
    overall score. Where the rules floor a benchmark at 0 percent although the tool has fewer
    than 0 points there, all its rows of that benchmark are left out.

    Source: score-based quantile plots of BenchExec (Beyer, "Second Competition on Software
    Verification", TACAS 2013), with the overall score of VNN-COMP.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`, rows of one track.
    scores : DataFrame
        From `scoring.benchmark_scores`; may hold other tracks too.
    edition : Edition
        For the benchmarks that are scored.
    tool : str
        The tool.

    Returns
    -------
    DataFrame
        Columns x (accumulated score, in percent of a benchmark) and time_s (seconds). The
        first row is the sum of the penalties, at the time of the fastest correct answer (0 s
        if there is none); then a row for each correct answer with points, in order of time.
    """
    rows = judged[(judged["tool"] == tool) & (judged["points"] != 0)]
    percents = rows["benchmark"].map(percent_of_a_point(scores, edition, tool)).astype(float)
    worth = rows["points"] * percents
    correct = rows.assign(worth=worth)[worth > 0].sort_values("corrected_s", kind="stable")
    penalties, times = worth[worth < 0].sum(), correct["corrected_s"]
    start = times.head(1) if len(times) else [0.0]
    return pd.DataFrame(
        {"x": np.cumsum([penalties, *correct["worth"]]), "time_s": [*start, *times]}
    )


def percent_of_a_point(scores: pd.DataFrame, edition: Edition, tool: str) -> pd.Series:
    """Return what a point of the tool counts, by scored benchmark; none where it is floored."""
    scored = scores[scores["benchmark"].isin(edition.scored)]
    best = scored.groupby("benchmark")["points"].max()
    own = scored[scored["tool"] == tool].set_index("benchmark")
    own = own[(own["points"] >= 0) | (own["percent"] != 0)]
    percent, points = (own[c].where(own[c] != 0) for c in ("percent", "points"))
    others = (100 / best.where(best > 0)).fillna(0.0)
    return (percent / points).fillna(others.reindex(own.index))


def _draw_line(
    axes: Axes, x: np.ndarray, y: np.ndarray, edition: Edition, tool: str, *, value: str
) -> None:
    style = tool_style(edition, tool)
    axes.plot(
        x, y, color=style.color, lw=1.4, ms=4, linestyle=style.linestyle, marker=style.marker,
        markeredgewidth=0, markevery=max(1, len(x) // _MARKS),
        label=f"{short_name(edition, tool)} ({value})",
    )  # fmt: skip


def _tall_axes(n_tools: int) -> tuple[Figure, Axes]:
    figure = new_figure(PAGE, max(3.8, tall(n_tools, around=0.6, row=0.17)))
    return figure, figure.add_subplot()


def _finish(figure: Figure, axes: Axes, low: float) -> Figure:
    """Set the log axis of time, and the legend beside the plot."""
    axes.set_yscale("log")
    bottom, top = low * 0.8, max(axes.get_ylim()[1], low * 11)
    axes.set_ylim(bottom, top)
    plain_log(axes.yaxis, bottom, top)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")
    return figure


@styled
def quantile(
    judged: pd.DataFrame,
    scores: pd.DataFrame,
    edition: Edition,
    tools: Sequence[str],
    floor_s: float = 1.0,
) -> Figure:
    """Quantile plot: which overall score each tool has gathered within a time per instance.

    A curve begins at the sum of the tool's penalties and ends at its overall score, which
    the legend names (see `quantile_points`). Rows are those of one track.
    """
    curves = {tool: quantile_points(judged, scores, edition, tool) for tool in tools}
    curves = {tool: c for tool, c in curves.items() if len(c) > 1 or c["x"].iloc[0] < 0}
    if not curves:
        return empty_figure("accumulated score: none")
    figure, axes = _tall_axes(len(curves))
    floor_s = max(floor_s, SMALLEST_S)
    low = lowest(floor_s, (curve["time_s"].iloc[0] for curve in curves.values()))
    for tool, curve in sorted(curves.items(), key=lambda item: -item[1]["x"].iloc[-1]):
        score, y = curve["x"].iloc[-1], curve["time_s"].clip(lower=low).to_numpy()
        _draw_line(axes, curve["x"].to_numpy(), y, edition, tool, value=f"{score:.1f}")
    if min(curve["x"].iloc[0] for curve in curves.values()) < 0:
        axes.axvline(0, color="0.3", lw=0.8)
        axes.set_xlabel("accumulated score, from the sum of the penalties")
    else:
        axes.set_xlim(left=0)
        axes.set_xlabel("accumulated score")
    axes.set_ylabel(f"time per instance [s], at least {floor_s:g} s")
    return _finish(figure, axes, low)


def normalised_points(judged: pd.DataFrame, tool: str, floor_share: float = 1e-4) -> np.ndarray:
    """Return the sorted times of a tool's correct answers as shares of the instance's limit.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`. Instances without a known limit are left out.
    tool : str
        The tool.
    floor_share : float
        Smaller shares are drawn here: a log axis has no zero.

    Returns
    -------
    ndarray of float, shape (n_correct,)
        1 is the time limit.
    """
    rows = judged[(judged["tool"] == tool) & (judged["verdict"] == Verdict.CORRECT)]
    shares = (rows["corrected_s"] / rows["timeout_s"]).dropna()
    return np.sort(shares.clip(lower=floor_share).to_numpy(float))


@styled
def normalised_cactus(
    judged: pd.DataFrame, edition: Edition, tools: Sequence[str], floor_share: float = 1e-4
) -> Figure:
    """Cactus plot over shares of the time limit, for instances with different limits.

    Only correct answers to instances with a known limit are on a curve; the title says how
    many instances have none.
    """
    limits = judged.drop_duplicates(INSTANCE)["timeout_s"]
    n_known, n_all = int(limits.notna().sum()), len(limits)
    shares = {tool: normalised_points(judged, tool, floor_share) for tool in tools}
    shares = {tool: values for tool, values in shares.items() if len(values)}
    if not shares:
        return empty_figure(
            f"nothing solved with a known time limit ({n_known} of {n_all} have one)"
        )
    figure, axes = _tall_axes(len(shares))
    low = lowest(floor_share, (values[0] for values in shares.values()))
    for tool, values in sorted(shares.items(), key=lambda item: -len(item[1])):
        x = np.arange(1, len(values) + 1)
        _draw_line(axes, x, values, edition, tool, value=str(len(values)))
    axes.axhline(1, color="0.3", lw=0.9, linestyle=":")
    axes.annotate(
        "time limit", (0.01, 1), xycoords=axes.get_yaxis_transform(), va="bottom", fontsize=8,
        xytext=(0, 2), textcoords="offset points",
    )  # fmt: skip
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    left_out = f"; {n_all - n_known} without are left out" if n_known < n_all else ""
    axes.set_title(f"{n_known} instances with a known limit{left_out}", loc="left")
    axes.set_xlabel("instances solved")
    axes.set_ylabel(f"time / time limit, at least {floor_share:g}")
    return _finish(figure, axes, low)


@styled
def portfolio_curve(
    portfolios: pd.DataFrame, edition: Edition, label: str, vbs: int | None = None
) -> Figure:
    """Draw what the best portfolio of each size solves.

    Parameters
    ----------
    portfolios : DataFrame
        Requires columns size, tools (a sequence of names, or names separated by commas),
        solved and method. Of several optima of a size the first is drawn; above the plot
        are the tools of the two smallest. Marks of a method called greedy are hollow.
    edition : Edition
        For the names.
    label : str
        What is solved, for the vertical axis.
    vbs : int, optional
        What all tools together solve, as a horizontal line.
    """
    best = portfolios.drop_duplicates("size").sort_values("size", kind="stable")
    if best.empty or not best["solved"].any():
        return empty_figure(f"{label}: none")
    figure = new_figure(PAGE, 3.6)
    axes = figure.add_subplot()
    axes.plot(best["size"], best["solved"], color=COLOURS[0], lw=1.2)
    is_greedy = best["method"] == "greedy"
    for rows, face, name in ((~is_greedy, COLOURS[0], "best of all"), (is_greedy, "w", "greedy")):
        part = best[rows]
        axes.plot(
            part["size"], part["solved"], "o", ms=5, color=COLOURS[0], mfc=face,
            label=name if len(part) else None,
        )  # fmt: skip
    if vbs is not None:
        axes.axhline(vbs, color="0.3", lw=0.9, linestyle="--", label=f"virtual best solver ({vbs})")
    _number_portfolios(axes, best)
    names = [_portfolio_name(row.tools, edition) for row in best.head(2).itertuples(index=False)]
    title = "; ".join(
        f"size {size}: {name}" for size, name in zip(best["size"], names, strict=False)
    )
    axes.set_title(wrapped(title, 95), loc="left", fontsize=7.5)
    axes.set(xlabel="tools in the portfolio", ylabel=label, xlim=(0.6, best["size"].max() + 0.6))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=MANY_SIZES, min_n_ticks=1))
    axes.margins(y=0.18)
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, best["solved"].min() - 1), max(high, best["solved"].max() + 1))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def _number_portfolios(axes: Axes, best: pd.DataFrame) -> None:
    """Write what is solved on the side of each mark that the line leaves free."""
    after = best["solved"].shift(-1).fillna(best["solved"])
    turn = 90 if len(best) > MANY_SIZES else 0
    for row, following in zip(best.itertuples(index=False), after, strict=True):
        side = -1 if following >= row.solved else 1
        axes.annotate(
            f"{row.solved}", (row.size, row.solved), xytext=(2, 4 * side),
            textcoords="offset points", fontsize=7, rotation=turn,
            ha="left", va="top" if side < 0 else "bottom",
            bbox={"facecolor": "w", "edgecolor": "none", "pad": 0.5},
        )  # fmt: skip


def _portfolio_name(tools: str | Sequence[str], edition: Edition) -> str:
    names = split_tools(tools, edition.tools) if isinstance(tools, str) else tools
    return " + ".join(brief_name(edition, name) for name in names)
