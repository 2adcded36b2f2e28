import numpy as np
import pandas as pd
import pytest
from printed import complaints
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from vnnanalysis import pair_figures
from vnnanalysis.analysis import analyse, open_analysis
from vnnanalysis.editions import read_edition
from vnnanalysis.figures import tool_style
from vnnanalysis.scatter import scatter_points

HEADER = "tool,benchmark,instance,result,time_s,timeout_s\n"
PAIR = (
    "a,x,1,unsat,2,\nb,x,1,unsat,20,\na,x,2,unsat,30,\nb,x,2,unsat,3,\na,x,3,unsat,4,\n"
    "b,x,3,timeout,9,\na,x,4,unknown,1,\nb,x,4,unsat,5,\na,x,5,unsat,0.1,\nb,x,5,unsat,0.2,\n"
    "a,x,6,unsat,6,\na,x,7,timeout,1,\nb,x,7,timeout,1,\n"
)


@pytest.fixture
def pair(tidy):
    settings = {"overhead": "none", "time_floor_s": 0}
    return open_analysis(edition=str(tidy(HEADER + PAIR)), settings=settings)


def test_ratios_are_of_the_second_tool_to_the_first(pair):
    points = pair_figures.ratio_points(pair.judged, "a", "b").set_index("instance")
    assert points["fastest_s"].to_dict() == {"1": 2, "2": 3, "3": 4, "4": 5, "5": 1, "6": 6}
    assert points["ratio"].dropna().to_dict() == pytest.approx({"1": 10, "2": 0.1, "5": 1})
    assert points["rail"].to_dict() == {
        "1": "", "2": "", "3": "x only", "4": "y only", "5": "", "6": "x only",
    }  # fmt: skip
    turned = pair_figures.ratio_points(pair.judged, "b", "a").set_index("instance")["ratio"]
    assert turned.to_dict() == pytest.approx((1 / points["ratio"]).to_dict(), nan_ok=True)
    finer = pair_figures.ratio_points(pair.judged, "a", "b", 0.01).set_index("instance")
    assert finer.loc["5", ["fastest_s", "ratio"]].tolist() == pytest.approx([0.1, 2])


def test_what_one_alone_solved_lies_on_its_rail(pair):
    axes = pair_figures.ratio_scatter(pair.judged, pair.edition, "a", "b").axes[0]
    equal, above, below = (c.get_offsets() for c in axes.collections)
    top, bottom = 10**1.14, 10**-1.14  # beyond the largest ratio, 10
    assert equal.tolist() == [[1, 1]]
    assert above.tolist() == [[2, 10], [4, pytest.approx(top)], [6, pytest.approx(top)]]
    assert below.tolist() == [[3, pytest.approx(0.1)], [5, pytest.approx(bottom)]]
    assert tuple(axes.collections[1].get_facecolor()[0][:3]) == pytest.approx(
        tool_style(pair.edition, "a").color
    )
    low, high = axes.get_ylim()
    assert low * high == pytest.approx(1)
    assert low < bottom < top < high
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert [t.get_text() for t in axes.get_yticklabels()] == ["0.1", "1", "10"]
    first, second = axes.texts
    assert (first.get_text(), second.get_text()) == ("solved by a only", "solved by b only")
    assert first.xy[1] == pytest.approx(top)
    assert second.xy[1] == pytest.approx(bottom)
    assert axes.get_xlabel().splitlines() == [
        "time of the faster of the two [s], at least 1 s",
        "a: 1 faster, 2 solved alone; b: 1 faster, 1 solved alone",
    ]
    assert axes.get_ylabel() == "time of b / time of a"
    assert axes.get_title(loc="left") == "6 instances solved by at least one"


def test_no_instance_is_dropped(contest_2021):
    a = analyse(contest_2021, contest_2021.edition.rules)
    points = scatter_points(a.judged, "ERAN", "oval")
    axes = pair_figures.ratio_scatter(a.judged, a.edition, "ERAN", "oval").axes[0]
    drawn = np.concatenate([c.get_offsets() for c in axes.collections])
    assert len(drawn) == len(points)
    (x_low, x_high), (y_low, y_high) = axes.get_xlim(), axes.get_ylim()
    assert ((drawn > [x_low, y_low]) & (drawn < [x_high, y_high])).all()
    x_faster, y_faster = (
        (points["x_s"] < points["y_s"]).sum(),
        (points["y_s"] < points["x_s"]).sum(),
    )
    assert (
        f"ERAN: {x_faster} faster, {points['y_s'].isna().sum()} solved alone" in axes.get_xlabel()
    )
    assert (
        f"oval: {y_faster} faster, {points['x_s'].isna().sum()} solved alone" in axes.get_xlabel()
    )


def test_many_common_solves_are_a_density(pair):
    copies = [pair.judged.assign(instance=pair.judged["instance"] + f"/{k}") for k in range(400)]
    axes = pair_figures.ratio_scatter(pd.concat(copies), pair.edition, "a", "b").axes[0]
    mesh, *rails = axes.collections
    assert mesh.get_array().sum() == 3 * 400
    assert mesh.get_array().max() == 400
    assert [len(c.get_offsets()) for c in rails] == [0, 800, 400]


def tree(similarity):
    distance = (1 - similarity).to_numpy() * (1 - np.eye(len(similarity)))
    links = linkage(squareform(distance), "average")
    return [similarity.index[leaf] for leaf in leaves_list(links)], links


SIMILAR = pd.DataFrame(
    [[1, 0.1, 0.9], [0.1, 1, 0.2], [0.9, 0.2, 1]],
    ["ERAN", "nnv", "oval"], ["ERAN", "nnv", "oval"],
)  # fmt: skip
EDITION = read_edition("2021")


def test_rows_are_in_the_order_of_the_leaves():
    order, links = tree(SIMILAR)
    assert order == ["nnv", "ERAN", "oval"]
    figure = pair_figures.overlap_heatmap(SIMILAR, order, links, EDITION, "Jaccard")
    axes, side = figure.axes
    assert [t.get_text() for t in axes.get_yticklabels()] == order
    assert [t.get_text() for t in axes.get_xticklabels()] == order
    texts = ["1.00", "0.10", "0.20", "0.10", "1.00", "0.90", "0.20", "0.90", "1.00"]
    assert [t.get_text() for t in axes.texts] == texts
    assert figure.get_suptitle() == "Jaccard"
    # ERAN and oval (rows 1 and 2) are joined at 0.1; nnv (row 0) with both at 0.85
    joins = sorted(line.get_xydata().tolist() for line in side.lines)
    pair, root = sorted(joins, key=lambda join: max(join)[0])
    assert pair == [[0, 1.5], [pytest.approx(0.1), 1.5], [pytest.approx(0.1), 2.5], [0, 2.5]]
    assert root == [[0, 0.5], [pytest.approx(0.85), 0.5], [pytest.approx(0.85), 2],
                    [pytest.approx(0.1), 2]]  # fmt: skip
    assert side.get_ylim() == axes.get_ylim() == (3, 0)
    figure.canvas.draw()
    assert side.get_position().y0 == pytest.approx(axes.get_position().y0)
    assert side.get_position().y1 == pytest.approx(axes.get_position().y1)


def test_another_order_than_that_of_the_leaves_is_refused():
    _, links = tree(SIMILAR)
    with pytest.raises(ValueError, match="order of the leaves, nnv, ERAN, oval; got ERAN, nnv"):
        pair_figures.overlap_heatmap(SIMILAR, list(SIMILAR), links, EDITION, "Jaccard")


def test_one_tool_has_no_tree_and_missing_similarities_stay_empty():
    one = SIMILAR.iloc[:1, :1]
    figure = pair_figures.overlap_heatmap(one, ["ERAN"], np.empty((0, 4)), EDITION, "Jaccard")
    assert len(figure.axes) == 1
    order, links = tree(SIMILAR)
    missing = SIMILAR.mask(SIMILAR == 0.9)
    axes = pair_figures.overlap_heatmap(missing, order, links, EDITION, "Jaccard").axes[0]
    assert [t.get_text() for t in axes.texts] == [
        "1.00",
        "0.10",
        "0.20",
        "0.10",
        "1.00",
        "0.20",
        "1.00",
    ]


def test_negative_similarities_have_a_colour_of_their_own():
    order, links = tree(SIMILAR)
    opposed = SIMILAR.mask(SIMILAR == 0.1, -0.6)
    [mesh] = pair_figures.overlap_heatmap(opposed, order, links, EDITION, "rho").axes[0].collections
    assert (mesh.norm.vmin, mesh.norm.vmax) == (-1, 1)
    below, nothing, above = mesh.to_rgba([-0.6, 0.0, 0.6])[:, :3]
    assert below[0] > below[2]  # red
    assert above[2] > above[0]  # blue
    assert nothing.min() > 0.9
    [mesh] = pair_figures.overlap_heatmap(SIMILAR, order, links, EDITION, "J").axes[0].collections
    assert mesh.norm.vmin == 0


def test_counts_of_long_names_are_on_lines_of_their_own(tidy):
    names = [f"a tool whose name is {k}, and long" for k in "ab"]
    rows = "".join(f"{name},x,i,unsat,{k + 1},\n" for k, name in enumerate(names))
    rows = rows.replace(names[0], f'"{names[0]}"').replace(names[1], f'"{names[1]}"')
    a = open_analysis(edition=str(tidy(HEADER + rows)))
    axes = pair_figures.ratio_scatter(a.judged, a.edition, *names).axes[0]
    _, first, second = axes.get_xlabel().splitlines()
    assert first.endswith(": 0 faster, 0 solved alone")
    assert second.startswith("a tool whose nam…")


def test_tools_that_solve_the_same_can_be_drawn():
    same = pd.DataFrame(1.0, SIMILAR.index, SIMILAR.columns)
    side = pair_figures.overlap_heatmap(same, *tree(same), EDITION, "Jaccard").axes[1]
    assert [line.get_xdata().tolist() for line in side.lines] == [[0] * 4] * 2
    assert side.get_xlim()[1] > 0


def test_nothing_to_draw_is_said(pair):
    unsolved = pair.judged[pair.judged["instance"] == "7"]
    for figure in (
        pair_figures.ratio_scatter(unsolved, pair.edition, "a", "b"),
        pair_figures.overlap_heatmap(pd.DataFrame(), [], np.empty((0, 4)), EDITION, "Jaccard"),
    ):
        assert len(figure.texts) == 1
        assert not figure.axes


@pytest.mark.parametrize("n_tools", [1, 2, 30])
def test_everything_fits_on_the_page(tidy, n_tools):
    tools = [f"_t$ & {k}_ with a name that is much too long" for k in range(n_tools)]
    rows = "".join(f"{tool},x,i,unsat,{k + 1},\n" for k, tool in enumerate(tools))
    a = open_analysis(edition=str(tidy(HEADER + rows)))
    points = np.arange(n_tools, dtype=float)
    similar = 1 / (1 + np.abs(points[:, None] - points))
    matrix = pd.DataFrame(similar, tools, tools)
    order, links = tree(matrix) if n_tools > 1 else (tools, np.empty((0, 4)))
    for figure in (
        pair_figures.ratio_scatter(a.judged, a.edition, tools[0], tools[-1]),
        pair_figures.overlap_heatmap(matrix, order, links, a.edition, "Jaccard similarity"),
    ):
        assert complaints(figure) == []
