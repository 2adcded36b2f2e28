import numpy as np
import pandas as pd
import pytest
from printed import complaints, printed_texts

from vnnanalysis import figures, scatter
from vnnanalysis.analysis import analyse, open_analysis
from vnnanalysis.display import image_bytes
from vnnanalysis.editions import ScoringRules, read_edition
from vnnanalysis.load import load_contest
from vnnanalysis.ranking import ranks_by_variant

HEADER = "tool,benchmark,instance,result,time_s\n"
HEADER_LIMIT = "tool,benchmark,instance,result,time_s,timeout_s\n"


def test_p1_zero_times_are_drawn_at_a_stated_floor_and_still_counted(tidy):
    times = [0, 0, 0.5, 2, 10]
    rows = "".join(f"a,x,i{k},unsat,{t}\n" for k, t in enumerate(times))
    contest = load_contest(str(tidy(HEADER + rows)))
    rules = ScoringRules().with_settings({"overhead": "none", "time_floor_s": 0})
    analysis = analyse(contest, rules)
    figure = figures.cactus(analysis.judged, analysis.edition, analysis.tools, 0.0)
    axes = figure.axes[0]
    x, y = axes.lines[0].get_data()
    assert x.tolist() == [1, 2, 3, 4, 5]
    assert y.tolist() == [0.01, 0.01, 0.5, 2, 10]
    assert axes.get_yscale() == "log"
    assert "at least 0.01 s" in axes.get_ylabel()
    assert [text.get_text() for text in axes.get_yticklabels()] == ["0.01", "0.1", "1", "10"]


def test_a_cactus_of_times_within_a_decade_still_has_two_labels(tidy):
    rows = "a,x,i,unsat,1\na,x,j,unsat,7\n"  # 1 s and, after the overhead, 6 s
    analysis = open_analysis(edition=str(tidy(HEADER + rows)))
    low, high = figures.cactus(analysis.judged, analysis.edition, analysis.tools).axes[0].get_ylim()
    assert low < 1.0 < high
    assert high >= 10


def test_p3_only_correct_answers_are_on_a_curve(invented_analysis):
    a = invented_analysis
    figure = figures.cactus(a.judged, a.edition, a.tools)
    solved = {line.get_label(): len(line.get_xdata()) for line in figure.axes[0].lines}
    assert solved == {"α-Best (9)": 9, "tool_sound (7)": 7, "tool_wrong (6)": 6}
    assert list(solved) == ["α-Best (9)", "tool_sound (7)", "tool_wrong (6)"]


def test_p4_one_sided_solves_lie_on_rails(invented_analysis):
    points = scatter.scatter_points(invented_analysis.judged, "tool_best", "tool_wrong")
    points = points.set_index("instance")
    # 11 instances are solved by somebody; c3 by tool_sound only
    assert len(points) == 10
    assert points.loc["a4", ["x_s", "y_rail"]].tolist() == [1.0, "incorrect"]
    assert points.loc["c2", ["x_s", "y_rail"]].tolist() == [1.0, "no answer"]  # an error
    assert points.loc["e2", ["x_rail", "y_s"]].tolist() == ["no answer", 6.0]
    assert points.loc["a3", ["x_rail", "y_rail"]].tolist() == ["", ""]
    sound = scatter.scatter_points(invented_analysis.judged, "tool_best", "tool_sound")
    assert sound.set_index("instance").loc["a2", "y_rail"] == "timeout"


def test_p4_a_tool_without_a_row_is_on_the_rail_too(invented_analysis):
    points = scatter.scatter_points(invented_analysis.judged, "tool_best", "tool_absent")
    assert points.set_index("instance").loc["e1", ["x_s", "y_rail"]].tolist() == [1.0, "no answer"]


def test_skipped_answers_have_a_rail_of_their_own(contest_2021):
    """RPM was left out of mnistfc: its 71 answers there are neither undecided nor wrong."""
    analysis = analyse(contest_2021, contest_2021.edition.rules)
    points = scatter.scatter_points(analysis.judged, "a-b-CROWN", "RPM")
    mnistfc = points[points["benchmark"] == "mnistfc"]
    assert set(mnistfc["y_rail"]) == {"left out"}
    assert "left out" not in set(points.loc[points["benchmark"] != "mnistfc", "y_rail"])


def test_scatter_draws_every_point_and_counts(invented_analysis):
    a = invented_analysis
    axes = scatter.scatter(a.judged, a.edition, "tool_best", "tool_wrong").axes[0]
    drawn = [len(c.get_offsets()) for c in axes.collections]
    assert sum(drawn) == 10
    assert axes.get_xlim() == axes.get_ylim()
    # both solved a1 a2 a3 c1 c4; best is faster on a2 and c4, wrong on a3 and c1
    assert axes.get_xlabel() == "α-Best [s]: 2 faster, 4 solved alone"
    assert axes.get_ylabel() == "tool_wrong [s]: 2 faster, 1 solved alone"
    assert axes.get_title(loc="left") == "10 instances solved by at least one"
    labels = [t.get_text() for t in axes.get_xticklabels()]
    assert labels[-len(scatter.RAILS) :] == list(scatter.RAILS)


def test_rails_are_apart_from_the_times(contest_2021):
    analysis = analyse(contest_2021, contest_2021.edition.rules)
    axes = scatter.scatter(analysis.judged, analysis.edition, "ERAN", "oval").axes[0]
    solved, not_solved, wrong = axes.collections
    points = scatter.scatter_points(analysis.judged, "ERAN", "oval")
    high = points[["x_s", "y_s"]].max(axis=None)
    assert solved.get_offsets().max() <= high
    for rows in (not_solved, wrong):
        assert (rows.get_offsets().max(axis=1) > high).all()  # one side lies on a rail
        assert (rows.get_offsets().min(axis=1) <= high).all()  # the other is a time
    n_points = sum(len(c.get_offsets()) for c in axes.collections)
    assert n_points == len(scatter.scatter_points(analysis.judged, "ERAN", "oval"))


def crowd(analysis, n_copies):
    """Return copies of the judged rows, with instances of their own."""
    judged = analysis.judged
    copies = [judged.assign(instance=judged["instance"] + f"/{k}") for k in range(n_copies)]
    return pd.concat(copies, ignore_index=True)


def test_where_points_hide_each_other_common_solves_are_a_density(invented_analysis):
    a = invented_analysis
    assert scatter.DENSE == 2_000
    few = scatter.scatter(crowd(a, 200), a.edition, "tool_best", "tool_wrong")  # 10 of 200 each
    assert [len(c.get_offsets()) for c in few.axes[0].collections] == [1000, 600, 400]
    figure = scatter.scatter(crowd(a, 201), a.edition, "tool_best", "tool_wrong")
    axes, bar = figure.axes
    density, both, alone, wrong = axes.collections
    assert density.get_array().sum() == 5 * 201
    assert [len(c.get_offsets()) for c in (both, alone, wrong)] == [0, 603, 402]
    assert axes.get_xlim() == axes.get_ylim()
    assert axes.get_xlabel() == "α-Best [s]: 402 faster, 804 solved alone"
    assert bar.get_ylabel() == "instances solved by both"
    pairs = scatter.scatter_grid(crowd(a, 201), a.edition, ["tool_best", "tool_wrong"])
    [small] = pairs.axes  # without a bar
    assert small.collections[0].get_array().sum() == 5 * 201


def test_a_density_counts_each_point_in_its_cell(tidy):
    rows = "a,x,i,unsat,1,\nb,x,i,unsat,1000,\na,x,j,unsat,90,\nb,x,j,unsat,5,\n"
    settings = {"overhead": "none", "time_floor_s": 0}
    analysis = open_analysis(edition=str(tidy(HEADER_LIMIT + rows)), settings=settings)
    axes = scatter.scatter(crowd(analysis, 1001), analysis.edition, "a", "b").axes[0]
    counts = axes.collections[0].get_array()
    edges = np.geomspace(1, 1000, len(counts) + 1)
    found = {(i, j): counts[i, j] for i, j in zip(*counts.nonzero(), strict=True)}
    row, column = np.searchsorted(edges, [5, 90]) - 1
    assert found == {(len(counts) - 1, 0): 1001, (row, column): 1001}


def limits_shown(axes):
    return [text.get_text() for text in axes.texts]


@pytest.mark.parametrize(
    ("limits", "shown"),
    [
        pytest.param(("60", "60"), ["limit 60 s"], id="common"),
        pytest.param(("60", "90"), [], id="mixed"),
        pytest.param(("60", ""), [], id="one-unknown"),
        pytest.param(("", ""), [], id="unknown"),
    ],
)
def test_a_cactus_shows_the_limit_that_all_instances_have(tidy, limits, shown):
    rows = f"a,x,i,unsat,1,{limits[0]}\na,y,j,unsat,7,{limits[1]}\n"
    analysis = open_analysis(edition=str(tidy(HEADER_LIMIT + rows)))
    axes = figures.cactus(analysis.judged, analysis.edition, analysis.tools).axes[0]
    assert limits_shown(axes) == shown
    lines = [segment[:, 1].tolist() for c in axes.collections for segment in c.get_segments()]
    assert lines == [[60, 60]] * len(shown)
    assert len(axes.lines) == 1  # the tool's
    if shown:
        assert axes.get_ylim()[1] > 60
        assert axes.get_xlim()[0] == 0
    grid = figures.cactus_grid(analysis.judged, analysis.edition, analysis.tools)
    known = [f"limit {limit} s" for limit in limits if limit]
    assert [text for small in grid.axes for text in limits_shown(small)] == known


def test_styles_are_distinct_and_follow_the_tool_not_the_selection(contest_2021):
    edition = read_edition("2021")
    styles = {tool: figures.tool_style(edition, tool) for tool in edition.tools}
    assert len(set(map(str, styles.values()))) == 13
    grey = {tool: (str(s.linestyle), s.marker) for tool, s in styles.items()}
    assert len(set(grey.values())) == 13  # without colour too
    analysis = analyse(contest_2021, edition.rules, tools=["oval", "nnenum"])
    figure = figures.cactus(analysis.judged, analysis.edition, analysis.tools)
    for line in figure.axes[0].lines:
        tool = line.get_label().partition(" ")[0]
        assert line.get_color() == styles[tool].color
        assert line.get_marker() == styles[tool].marker


def test_grids_show_every_benchmark_and_pair(contest_2021):
    analysis = analyse(contest_2021, contest_2021.edition.rules)
    grid = figures.cactus_grid(analysis.judged, analysis.edition, analysis.tools)
    titles = [axes.get_title() for axes in grid.axes if axes.get_visible()]
    assert titles == list(analysis.edition.benchmarks)
    pairs = scatter.scatter_grid(analysis.judged, analysis.edition, analysis.ranking[:4])
    assert sum(axes.get_visible() for axes in pairs.axes) == 6


def test_bump_chart_shows_ranks(contest_2021):
    from vnnanalysis.analysis import compare_variants

    variants = compare_variants(analyse(contest_2021, contest_2021.edition.rules))
    ranks = ranks_by_variant(variants, "main")
    figure = figures.bump(ranks, contest_2021.edition)
    lines = dict(zip(ranks.index, figure.axes[0].lines, strict=True))
    assert lines["ERAN"].get_ydata().tolist() == [3, 4, 4, 3, 3, 3]
    assert lines["oval"].get_ydata().tolist() == [4, 3, 3, 4, 4, 4]


def test_heatmap_keeps_missing_cells_empty(invented_analysis):
    table = pd.DataFrame({"x": [1.0, np.nan], "y_$": [0.0, 2.0]}, index=["tool_best", "tool_sound"])
    axes = figures.heatmap(table, "n", invented_analysis.edition).axes[0]
    assert [t.get_text() for t in axes.texts] == ["2", "1", "0"]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["tool_sound", "α-Best"]


def test_tied_tools_have_labels_below_each_other_and_run_side_by_side(invented_analysis):
    ranks = pd.DataFrame({"x / y": [1, 2, 2], "x / z": [2, 1, 3]},
                         index=["tool_best", "tool_sound", "tool_wrong"])  # fmt: skip
    axes = figures.bump(ranks, invented_analysis.edition).axes[0]
    labels = [(text.get_text(), text.xy[1]) for text in axes.texts]
    assert labels[:3] == [("α-Best  1", 1), ("tool_sound  2", 2), ("tool_wrong  2", 3)]
    assert labels[3:] == [("1  tool_sound", 1), ("2  α-Best", 2), ("3  tool_wrong", 3)]
    ends = [line.get_ydata()[0] for line in axes.lines]
    assert ends[0] == 1
    assert ends[1] != ends[2]
    assert np.round(ends[1:]).tolist() == [2, 2]


def test_wide_heatmaps_are_turned(invented_analysis):
    table = pd.DataFrame(1.0, index=["tool_best"], columns=[f"b{i}" for i in range(27)])
    axes = figures.heatmap(table, "n", invented_analysis.edition).axes[0]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["α-Best"]
    assert len(axes.get_yticklabels()) == 27


def test_legends_name_every_tool(tidy):
    names = ["_hidden", *(f"tool{k}" for k in range(29))]
    rows = "".join(f"{name},x,i,unsat,1\n" for name in names)
    analysis = open_analysis(edition=str(tidy(HEADER + rows)))
    for draw in (figures.cactus, figures.cactus_grid):
        figure = draw(analysis.judged, analysis.edition, analysis.tools)
        figure.canvas.draw()
        [legend] = figure.legends
        assert len(legend.get_texts()) == 30
        box = legend.get_window_extent()
        assert box.y0 >= 0
        assert box.y1 <= figure.bbox.height + 1


def test_stacked_results_are_stacked(invented_analysis):
    counts = pd.DataFrame(
        {"unsat": [1, 2], "sat": [0, 3], "unknown": [9, 0]}, index=["tool_sound", "tool_best"]
    )
    axes = figures.stacked_results(counts, invented_analysis.edition).axes[0]
    bars = [(bar.get_x(), bar.get_width()) for bar in axes.patches]
    assert bars == [(0, 2), (0, 1), (2, 3), (1, 0), (5, 0), (1, 9)]
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names == ["α-Best", "tool_sound"]  # more answers first
    assert axes.yaxis_inverted()


def test_contribution_bars_show_each_column(invented_analysis):
    table = pd.DataFrame(
        {"tool": ["tool_best"], "solved": [5], "shapley": [2.5], "unique": [1], "rmc": [1.0]}
    )
    axes = figures.contribution_bars(table, invented_analysis.edition).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [5, 2.5, 1]


def test_nothing_to_draw_is_said(invented_analysis):
    a = invented_analysis
    figure = figures.heatmap(pd.DataFrame(), "conflicts", a.edition)
    assert figure.texts[0].get_text() == "conflicts: none"
    figure = figures.cactus(a.judged, a.edition, ["tool_absent"])
    assert figure.texts[0].get_text() == "instances solved: none"


def test_a_benchmark_that_nobody_solved_says_so(tidy):
    rows = "a,x,i,unsat,1\na,y,j,unsat,1\nb,y,j,sat,1\nc,y,j,unknown,1\n"
    analysis = open_analysis(edition=str(tidy(HEADER + rows)), conflicts="ignore")
    solved, empty, *_ = figures.cactus_grid(analysis.judged, analysis.edition, analysis.tools).axes
    assert not solved.texts
    assert [text.get_text() for text in empty.texts] == ["none solved"]
    assert not len(empty.get_xticks())


def test_only_matrices_of_tools_by_benchmarks_are_sorted(invented_analysis):
    edition = invented_analysis.edition
    tools = ["tool_best", "tool_sound"]
    against = pd.DataFrame([[1, 2], [5, 6]], index=tools, columns=tools)
    axes = figures.heatmap(against, "n", edition).axes[0]
    assert [t.get_text() for t in axes.texts] == ["1", "2", "5", "6"]
    benchmarks = pd.DataFrame({"2021": [1, 5]}, index=pd.Index(["x", "y"], name="benchmark"))
    axes = figures.heatmap(benchmarks, "n", edition).axes[0]
    assert [t.get_text() for t in axes.texts] == ["1", "5"]


def test_one_large_number_leaves_others_a_colour(invented_analysis):
    table = pd.DataFrame({"x": [1000, 0], "y": [10, 90]}, index=["tool_best", "tool_sound"])
    [mesh] = figures.heatmap(table, "n", invented_analysis.edition).axes[0].collections
    assert mesh.norm([0, 10, 90, 1000]).tolist() == pytest.approx([0, 0.1, 0.3, 1])


def test_times_of_a_pair_fill_its_axes(contest_2021):
    """Faster tools than the two have no say in where their axes begin."""
    analysis = analyse(contest_2021, contest_2021.edition.rules)
    slow = analysis.judged["tool"].isin(["nnv", "DNNF"])
    times = analysis.judged["corrected_s"].where(~slow, analysis.judged["corrected_s"] + 30)
    axes = scatter.scatter(
        analysis.judged.assign(corrected_s=times), analysis.edition, "nnv", "DNNF"
    ).axes[0]
    assert axes.get_xlim()[0] == pytest.approx(0.8 * 20)


def test_only_the_outer_plots_of_a_grid_have_labels(contest_2021):
    analysis = analyse(contest_2021, contest_2021.edition.rules)
    figure = scatter.scatter_grid(analysis.judged, analysis.edition, analysis.ranking[:6])
    assert complaints(figure) == []
    printed = set(printed_texts(figure))
    ticks = [
        text
        for axes in figure.axes
        for text in [*axes.get_xticklabels(), *axes.get_yticklabels()]
        if text in printed
    ]
    assert len(ticks) == 2 * 5 * 3  # 1, 10 and 100, on five axes each way
    drawn = [axes.bbox.width / figure.dpi for axes in figure.axes if axes.get_visible()]
    assert min(drawn) > 0.8


def test_a_limit_is_named_within_its_small_plot(tidy):
    rows = "".join(f"a,x{k},i,unsat,{3 * k + 1},300\n" for k in range(25))
    analysis = open_analysis(edition=str(tidy(HEADER_LIMIT + rows)))
    figure = figures.cactus_grid(analysis.judged, analysis.edition, analysis.tools)
    figure.canvas.draw()
    for axes in figure.axes[:25]:
        [text] = axes.texts
        assert text.get_window_extent().y1 <= axes.bbox.y1 + 1


def many(tidy, n_tools, n_benchmarks):
    """Return an analysis with long names full of markup, some in another script."""
    rng = np.random.default_rng(1)
    tools = [f"_t$^2$ & {k}_{{x}} with a name that is %much# too long" for k in range(n_tools)]
    rows = "".join(
        f"{tool},_x$ & benchmark {b} with a long name 基,i{i},unsat,{rng.lognormal(1, 2):.3f},50\n"
        for tool in [f"验{tools[0]}", *tools[1:]]
        for b in range(n_benchmarks)
        for i in range(2)
    )
    return open_analysis(edition=str(tidy(HEADER_LIMIT + rows)))


@pytest.mark.parametrize(
    ("n_tools", "n_benchmarks"),
    [(1, 1), *(pytest.param(*size, marks=pytest.mark.length) for size in ((3, 25), (30, 2)))],
)
def test_everything_fits_on_the_page(tidy, n_tools, n_benchmarks):
    a = many(tidy, n_tools, n_benchmarks)
    everything = (a.judged, a.edition, a.tools)
    counts = a.judged.pivot_table(index="tool", columns="benchmark", values="run_s", aggfunc="size")
    tools = np.array(a.tools)
    ranks = pd.DataFrame(
        {f"own {k} / other": np.arange(n_tools) // 2 * 2 + 1 for k in range(9)}, index=tools
    )
    shares = pd.DataFrame({"tool": tools, "solved": 9, "shapley": 2.5, "unique": 1})
    results = pd.DataFrame(
        {"unsat": 3, "sat": 2, "unknown": 1, "timeout": 9, "error": 4}, index=tools
    )
    for figure in (
        figures.cactus(*everything),
        figures.cactus_grid(*everything),
        figures.heatmap(1000 * counts, "n", a.edition),
        figures.stacked_results(results, a.edition),
        figures.tool_histogram(results.T, a.edition, "counterexamples"),
        figures.bump(ranks, a.edition),
        figures.contribution_bars(shares, a.edition),
        figures.progress_lines(results[["sat", "error"]], a.edition, "solved of $_x [%]"),
        scatter.scatter(a.judged, a.edition, *a.pair),
        scatter.scatter_grid(a.judged, a.edition, a.ranking[:6]),
    ):
        assert complaints(figure) == []


def test_one_tool_alone_can_be_drawn(tidy):
    analysis = open_analysis(edition=str(tidy(HEADER + "a$b_c,x$,i,unsat,1\n")))
    for figure in (
        scatter.scatter(analysis.judged, analysis.edition, *analysis.pair),
        scatter.scatter_grid(analysis.judged, analysis.edition, analysis.ranking),
        figures.cactus_grid(analysis.judged, analysis.edition, analysis.tools),
    ):
        assert image_bytes(figure, "png")[:4] == b"\x89PNG"


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_p7_equal_figures_give_equal_bytes(invented_analysis, kind):
    a = invented_analysis
    draw = [scatter.scatter(a.judged, a.edition, *a.pair) for _ in range(2)]
    first, second = (image_bytes(figure, kind) for figure in draw)
    assert first == second
    assert not any(word in first for word in (b"CreationDate", b"dc:date", b"tIME", b"Software"))
