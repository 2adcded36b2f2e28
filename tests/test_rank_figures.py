import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from printed import complaints

from vnnanalysis import rank_figures
from vnnanalysis.analysis import open_analysis
from vnnanalysis.editions import read_edition
from vnnanalysis.figures import tool_style

EDITION = read_edition("2021")
TOOLS = list(EDITION.tools)


def intervals(*rows):
    return pd.DataFrame(rows, columns=["tool", "rank", "design", "rank_low", "rank_high"])


def bars(axes):
    """Return y and both ends of every horizontal segment of the collections."""
    return [c.get_segments() for c in axes.collections]


def test_both_intervals_of_each_tool_are_beside_its_rank():
    frame = intervals(
        ("ERAN", 2, "instances", 2, 2), ("ERAN", 2, "benchmarks", 1, 3),
        ("oval", 1, "instances", 1, 2), ("oval", 1, "benchmarks", 1, 4),
    )  # fmt: skip
    figure = rank_figures.rank_intervals(frame, EDITION)
    axes = figure.axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["oval", "ERAN"]
    assert axes.yaxis_inverted()
    instances, benchmarks = (
        {round(float(s[0][1])): s[:, 0].tolist() for s in segments} for segments in bars(axes)
    )
    assert instances == {1: [2, 2], 0: [1, 2]}
    assert benchmarks == {1: [1, 3], 0: [1, 4]}
    shades = [np.mean(to_rgb(c.get_color()[0][:3])) for c in axes.collections]
    assert shades[0] < shades[1]
    marks = axes.lines[2:]
    assert [line.get_xydata().tolist() for line in marks] == [[[1, 0]], [[2, 1]]]
    assert [line.get_color() for line in marks] == [
        tool_style(EDITION, tool).color for tool in ("oval", "ERAN")
    ]
    assert axes.get_xlim() == (0.5, 4.5)
    assert axes.get_xticks().tolist() == [1, 2, 3, 4]
    assert axes.get_xlabel() == "rank of the real runs (marks), and 95 % intervals (bars)"
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "instances resampled", "benchmarks and instances resampled",
    ]  # fmt: skip


def test_an_interval_of_one_rank_can_be_seen():
    """A segment of no length has no ink; its round ends have."""
    frame = intervals(("oval", 1, "instances", 1, 1))
    axes = rank_figures.rank_intervals(frame, EDITION).axes[0]
    ends = axes.lines[0]
    assert ends.get_marker() == "o"
    assert ends.get_xdata().tolist() == [1, 1]
    assert ends.get_ydata()[0] != axes.lines[1].get_ydata()[0]  # not behind the mark


def test_marks_and_intervals_of_a_tool_are_apart():
    rows = [
        (tool, i + 1, d, i + 1, i + 1)
        for i, tool in enumerate(TOOLS)
        for d in ("instances", "benchmarks")
    ]
    figure = rank_figures.rank_intervals(intervals(*rows), EDITION)
    figure.canvas.draw()
    axes = figure.axes[0]
    points = (
        72
        / figure.dpi
        * axes.transData.transform([[0, 0], [0, axes.lines[0].get_ydata()[0]]])[:, 1]
    )
    ends, mark = axes.lines[0], axes.lines[-1]
    assert abs(points[1] - points[0]) > (ends.get_markersize() + mark.get_markersize()) / 2


def group_bars(axes):
    return [line for line in axes.lines if line.get_linewidth() == 3.5]


def test_bars_reach_from_the_smallest_to_the_largest_mean_rank_of_their_group():
    ranks = pd.Series({"RPM": 3.5, "oval": 1.25, "ERAN": 2.0, "nnv": 3.6, "DNNF": 4.5})
    groups = [["oval", "ERAN"], ["ERAN", "RPM", "nnv"], ["nnv", "DNNF"], ["DNNF"]]
    axes = rank_figures.critical_difference(ranks, groups, EDITION, "title", 1.5).axes[0]
    drawn = group_bars(axes)
    ends = sorted(tuple(line.get_xdata()) for line in drawn)
    assert ends == sorted((ranks[g].min(), ranks[g].max()) for g in groups[:3])
    for one, other in itertools.combinations(drawn, 2):
        if one.get_ydata()[0] == other.get_ydata()[0]:
            first, second = sorted([one.get_xdata().tolist(), other.get_xdata().tolist()])
            assert first[1] < second[0]
    texts = [text.get_text() for text in axes.texts]
    assert texts[-5:] == ["oval  1.25", "ERAN  2.00", "RPM  3.50", "3.60  nnv", "4.50  DNNF"]
    assert "  critical difference 1.50" in texts
    bracket = [c.get_segments()[0][:, 0].tolist() for c in axes.collections]
    assert [1.0, 2.5] in bracket
    assert axes.get_title(loc="left") == "title"
    left, right = axes.get_xlim()
    assert left < 1 < right  # 1 is on the left


def test_elbows_lead_from_the_mean_rank_to_the_name_without_crossing():
    ranks = pd.Series(np.linspace(1.5, 11, 13), TOOLS)
    axes = rank_figures.critical_difference(ranks, [], EDITION, "t").axes[0]
    elbows = [line for line in axes.lines if len(line.get_xdata()) == 3]
    assert [line.get_xdata()[0] for line in elbows] == ranks.tolist()
    assert [line.get_color() for line in elbows] == [tool_style(EDITION, t).color for t in TOOLS]
    for one, other in itertools.permutations(elbows, 2):
        x, _, end = one.get_xdata()
        depth = one.get_ydata()[-1]
        across, down = other.get_xdata()[0], other.get_ydata()[-1]
        assert not (min(x, end) < across < max(x, end) and depth < down)
    assert not any("critical" in text.get_text() for text in axes.texts)


def test_near_equal_mean_ranks_have_labels_apart():
    ranks = pd.Series(6.5 + 0.02 * np.arange(13), TOOLS)
    figure = rank_figures.critical_difference(ranks, [TOOLS], EDITION, "t", 3.3)
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    [bar] = group_bars(figure.axes[0])
    assert bar.get_xdata().tolist() == [6.5, pytest.approx(6.74)]


def test_a_tool_between_the_members_of_a_group_has_no_dot_on_its_bar():
    ranks = pd.Series({"oval": 1.0, "ERAN": 2.0, "nnv": 3.0})
    groups = [["oval", "nnv"], ["ERAN"]]
    axes = rank_figures.critical_difference(ranks, groups, EDITION, "title").axes[0]
    [bar] = group_bars(axes)
    [dots] = [line for line in axes.lines if line.get_color() == "w"]
    assert bar.get_xdata().tolist() == dots.get_xdata().tolist() == [1, 3]
    assert set(dots.get_ydata()) == set(bar.get_ydata())
    assert dots.get_zorder() > max(c.get_zorder() for c in axes.collections)


def test_equal_mean_ranks_have_a_bar_that_can_be_seen():
    ranks = pd.Series(2.0, TOOLS[:3])
    axes = rank_figures.critical_difference(ranks, [TOOLS[:3]], EDITION, "t").axes[0]
    [bar] = group_bars(axes)
    assert bar.get_xdata().tolist() == [2, 2]
    assert bar.get_marker() == "o"


def shifts(variants, tools):
    rows = [
        (variant, tool, i + 1 + (k and (-1) ** i), k and (-1) ** i, k == 1 and i == 0)
        for k, variant in enumerate(variants)
        for i, tool in enumerate(tools)
    ]
    return pd.DataFrame(rows, columns=["variant", "tool", "rank", "shift", "exceeds"])


def test_stars_are_where_a_rank_exceeds_its_interval():
    frame = shifts(["own", "z / y", "a / b"], ["oval", "ERAN"])
    figure = rank_figures.variant_heatmap(frame, EDITION, note="* what a star means")
    axes = figure.axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["own", "z / y", "a / b"]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["oval", "ERAN"]
    assert [t.get_text() for t in axes.texts] == ["1", "2", "2*", "1", "2", "1"]
    assert figure._supxlabel.get_text().replace("\n", " ").endswith("* what a star means")
    [mesh] = axes.collections
    assert mesh.get_array().ravel().tolist() == [0, 0, 1, -1, 1, -1]
    assert (mesh.norm.vmin, mesh.norm.vmax) == (-1, 1)
    lost, gained = mesh.cmap(1.0), mesh.cmap(0.0)
    assert lost[0] > lost[2]  # red
    assert gained[2] > gained[0]  # blue


def test_what_a_variant_does_not_rank_stays_empty():
    frame = shifts(["own", "other"], ["oval", "ERAN"]).head(3)
    axes = rank_figures.variant_heatmap(frame, EDITION).axes[0]
    assert [t.get_text() for t in axes.texts] == ["1", "2", "2*"]


def test_many_tools_are_turned(tidy):
    tools = [f"t{i}" for i in range(15)]
    rows = "".join(f"{tool},x,i,unsat,1\n" for tool in tools)
    path = tidy("tool,benchmark,instance,result,time_s\n" + rows)
    edition = open_analysis(edition=str(path)).edition
    axes = rank_figures.variant_heatmap(shifts(["own", "other"], tools), edition).axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == tools
    assert [t.get_text() for t in axes.texts][:4] == ["1", "2*", "2", "1"]


def test_probabilities_are_percents_off_the_diagonal():
    matrix = pd.DataFrame([[0.5, 0.975], [0.02, np.nan]], ["oval", "ERAN"], ["oval", "ERAN"])
    figure = rank_figures.probabilities(matrix, EDITION, "P(row above column)")
    assert [t.get_text() for t in figure.axes[0].texts] == ["98", "2"]
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == ["oval", "ERAN"]
    assert figure.get_suptitle() == "P(row above column)"


def test_nothing_to_draw_is_said():
    for figure in (
        rank_figures.rank_intervals(intervals(), EDITION),
        rank_figures.critical_difference(pd.Series(dtype=float), [], EDITION, "t"),
        rank_figures.variant_heatmap(shifts([], []), EDITION),
        rank_figures.probabilities(pd.DataFrame(), EDITION, "p"),
    ):
        assert len(figure.texts) == 1
        assert not figure.axes


@pytest.mark.parametrize("n_tools", [1, 30])
def test_everything_fits_on_the_page(tidy, n_tools):
    tools = [f"_t$ & {k}_ with a name that is much too long" for k in range(n_tools)]
    rows = "".join(f"{tool},x,i,unsat,1\n" for tool in tools)
    path = tidy("tool,benchmark,instance,result,time_s\n" + rows)
    edition = open_analysis(edition=str(path)).edition
    ranks = pd.Series(np.arange(1.0, n_tools + 1), tools)
    matrix = pd.DataFrame(0.5, tools, tools)
    for figure in (
        rank_figures.rank_intervals(
            intervals(*((t, r, "instances", r, r) for t, r in ranks.astype(int).items())), edition
        ),
        rank_figures.critical_difference(ranks, [tools], edition, "t", 2.0),
        rank_figures.variant_heatmap(shifts(["$_a / b", "c"], tools), edition),
        rank_figures.probabilities(matrix, edition, "P(row above column) [%]"),
    ):
        assert complaints(figure) == []
