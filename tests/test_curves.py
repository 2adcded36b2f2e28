import functools

import numpy as np
import pandas as pd
import pytest
from conftest import INVENTED, contest_of_year
from printed import complaints

from vnnanalysis import curves
from vnnanalysis.analysis import analyse, open_analysis
from vnnanalysis.names import short_name

HEADER = "tool,benchmark,instance,result,time_s,timeout_s\n"


@functools.cache
def analysis_of(year):
    contest = contest_of_year(year)
    return analyse(contest, contest.edition.rules)


def in_track(analysis, track):
    return analysis.judged[analysis.judged["benchmark"].isin(analysis.edition.in_track(track))]


@pytest.fixture
def edition(tidy):
    return open_analysis(edition=str(tidy(HEADER + "a,x,i,unsat,1,\nb,y,j,unsat,1,\n"))).edition


@pytest.mark.parametrize(
    ("rows", "score", "best", "x", "times"),
    [
        pytest.param([(10, 5), (10, 2)], (20, 50.0), 40, [0, 25, 50], [2, 2, 5], id="in-time"),
        pytest.param(
            [(10, 5), (10, 2), (-15, 1)], (5, 12.5), 40, [-37.5, -12.5, 12.5], [2, 2, 5],
            id="from-penalties",
        ),
        pytest.param([(10, 5), (-15, 1)], (-5, 0.0), 40, [0], [0], id="floored-is-left-out"),
        pytest.param(
            [(10, 5), (-15, 1)], (-5, -12.5), 40, [-37.5, -12.5], [5, 5], id="no-floor"
        ),
        pytest.param([(15, 5), (-15, 1)], (0, 0.0), 40, [-37.5, 0], [5, 5], id="no-points"),
        pytest.param([(15, 5), (-15, 1)], (0, 0.0), 0, [0], [0], id="nobody-has-points"),
        pytest.param([(0, 5), (10, 9)], (10, 25.0), 40, [0, 25], [9, 9], id="zeros-are-no-step"),
        pytest.param([(-15, 5)], (-15, -37.5), 40, [-37.5], [0], id="penalties-only"),
    ],
)  # fmt: skip
def test_points_are_scaled_to_the_percent(edition, rows, score, best, x, times):
    judged = pd.DataFrame(rows, columns=["points", "corrected_s"]).assign(tool="a", benchmark="x")
    other = judged.assign(benchmark="unscored")
    scores = pd.DataFrame(
        [("x", "a", *score), ("x", "b", best, 100.0), ("unscored", "a", 10, 100.0)],
        columns=["benchmark", "tool", "points", "percent"],
    )
    points = curves.quantile_points(pd.concat([judged, other]), scores, edition, "a")
    assert points["x"].tolist() == pytest.approx(x)
    assert points["time_s"].tolist() == times


@pytest.mark.parametrize("year", ["2021", "2024", "2025"])
def test_a_curve_ends_at_the_overall_score(year):
    analysis = analysis_of(year)
    for row in analysis.overall.itertuples():
        judged = in_track(analysis, row.track)
        points = curves.quantile_points(judged, analysis.scores, analysis.edition, row.tool)
        assert points["x"].iloc[-1] == pytest.approx(row.score, abs=1e-6)
        assert points["x"].iloc[0] <= 0
        assert points["x"].diff().dropna().gt(0).all()
        assert points["time_s"].is_monotonic_increasing


def test_a_tool_that_is_not_in_a_track_has_no_curve():
    analysis = analysis_of("2024")
    judged = in_track(analysis, "extended")
    points = curves.quantile_points(judged, analysis.scores, analysis.edition, "marabou")
    assert points.to_numpy().tolist() == [[0.0, 0.0]]
    figure = curves.quantile(judged, analysis.scores, analysis.edition, analysis.tools)
    [legend] = figure.legends
    assert len(legend.get_texts()) == 4


def test_the_quantile_plot_begins_at_the_penalties():
    a = analysis_of("2021")
    axes = curves.quantile(a.judged, a.scores, a.edition, a.tools).axes[0]
    lines = {line.get_label(): line.get_data() for line in axes.lines}
    scores = a.overall.set_index("tool")["score"]
    assert f"α,β-CROWN ({scores['a-b-CROWN']:.1f})" in lines
    assert next(iter(lines)).startswith("α,β-CROWN")
    x, y = lines[f"Debona ({scores['Debona']:.1f})"]
    rows = a.judged[(a.judged["tool"] == "Debona") & (a.judged["points"] < 0)]
    assert len(rows)
    assert x[0] < 0
    assert x[-1] == pytest.approx(scores["Debona"])
    assert y.min() == 1.0
    assert axes.lines[-1].get_xdata() == [0, 0]  # the line between penalties and score
    assert axes.get_xlabel() == "accumulated score, from the sum of the penalties"


def test_without_penalties_there_is_no_line_at_zero(tidy):
    a = open_analysis(edition=str(tidy(HEADER + "a,x,i,unsat,1,\na,x,j,unsat,9,\n")))
    axes = curves.quantile(a.judged, a.scores, a.edition, a.tools, 0.0).axes[0]
    assert [line.get_xdata().tolist() for line in axes.lines] == [[0, 50, 100]]
    assert axes.get_xlim()[0] == 0
    assert axes.get_ylabel() == "time per instance [s], at least 0.01 s"


LIMITED = "a,x,i,unsat,5,10\na,x,j,unsat,30,60\na,x,k,unsat,1,2000\na,x,l,unknown,1,60\n"


def test_shares_of_the_limit_are_drawn_and_what_has_none_is_counted(tidy):
    path = tidy(HEADER + LIMITED + "a,y,i,unsat,7,\nb,y,i,unsat,8,\n")
    a = open_analysis(edition=str(path), settings={"overhead": "none"})
    shares = curves.normalised_points(a.judged, "a", 1e-2)
    assert shares.tolist() == [0.01, 0.5, 0.5]
    assert curves.normalised_points(a.judged, "b").tolist() == []
    axes = curves.normalised_cactus(a.judged, a.edition, a.tools).axes[0]
    curve, limit = axes.lines
    assert curve.get_label() == "a (3)"
    assert curve.get_data()[0].tolist() == [1, 2, 3]
    assert curve.get_data()[1].tolist() == [0.0005, 0.5, 0.5]
    assert limit.get_ydata() == [1, 1]
    assert axes.texts[0].get_text() == "time limit"
    assert axes.get_title(loc="left") == "4 instances with a known limit; 1 without are left out"


def test_unknown_limits_are_said():
    a = analysis_of("2021")
    figure = curves.normalised_cactus(a.judged, a.edition, a.tools)
    assert figure.texts[0].get_text().endswith("known time limit (0 of 859 have one)")


def portfolios(*rows):
    columns = ["size", "tools", "solved", "method"]
    return pd.DataFrame(rows, columns=columns).assign(gain=0, gap_closed=0.0, n_optima=1)


def test_the_smallest_portfolios_are_named_above_the_plot(edition):
    table = portfolios(
        (1, ("b",), 5, "exact"), (1, ("a",), 5, "exact"), (2, "a, b", 9, "exact"),
        (3, ("a", "b", "a"), 11, "greedy"),
    )  # fmt: skip
    axes = curves.portfolio_curve(table, edition, "instances", 12).axes[0]
    assert axes.get_title(loc="left") == "size 1: b; size 2: a + b"
    assert [text.get_text() for text in axes.texts] == ["5", "9", "11"]
    curve, exact, greedy, vbs = axes.lines
    assert curve.get_xydata().tolist() == [[1, 5], [2, 9], [3, 11]]
    assert exact.get_xydata().tolist() == [[1, 5], [2, 9]]
    assert greedy.get_xydata().tolist() == [[3, 11]]
    assert greedy.get_markerfacecolor() == "w"
    assert vbs.get_ydata() == [12, 12]
    assert axes.get_ylabel() == "instances"


def test_numbers_of_portfolios_are_on_the_free_side_of_the_line(edition):
    falling = portfolios((1, ("b",), 9, "exact"), (2, ("a", "b"), 5, "exact"))
    above, below = curves.portfolio_curve(falling, edition, "instances").axes[0].texts
    assert (above.get_verticalalignment(), below.get_verticalalignment()) == ("bottom", "top")


def test_one_portfolio_has_an_axis_of_whole_numbers(edition):
    figure = curves.portfolio_curve(portfolios((1, ("b",), 2, "exact")), edition, "instances", 2)
    assert figure.axes[0].get_yticks().tolist() == [1, 2, 3]
    assert complaints(figure) == []


def test_nothing_to_draw_is_said(edition):
    judged = open_analysis(edition=INVENTED).judged.head(0)
    scores = pd.DataFrame(columns=["benchmark", "tool", "points", "percent"])
    for figure in (
        curves.quantile(judged, scores, edition, []),
        curves.quantile(judged, scores, edition, ["a"]),
        curves.normalised_cactus(judged, edition, ["a"]),
        curves.portfolio_curve(portfolios(), edition, "instances"),
    ):
        assert len(figure.texts) == 1
        assert not figure.axes


def test_long_names_lose_their_middle_but_stay_apart(tidy):
    long = "a tool with a name_{k} that does not fit anywhere"
    rows = "".join(f"{long.replace('{k}', str(k))},x,i,unsat,1,\n" for k in range(2))
    edition = open_analysis(edition=str(tidy(HEADER + rows + "a$_&,x,i,unsat,1,\n"))).edition
    names = [short_name(edition, tool) for tool in edition.tools]
    assert sorted(names) == [
        "a tool with a na…it anywhere (1)", "a tool with a na…it anywhere (2)", r"a\$_&",
    ]  # fmt: skip


def test_log_axes_have_plain_numbers():
    a = analysis_of("2021")
    axes = curves.quantile(a.judged, a.scores, a.edition, a.tools).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["1", "10", "100"]


@pytest.mark.parametrize("n_tools", [1, 30])
def test_everything_fits_on_the_page(tidy, n_tools):
    names = [f"_t$ & {k}_ with a name that is much too long" for k in range(n_tools)]
    rng = np.random.default_rng(1)
    rows = "".join(
        f"{name},x$_&,i{i},unsat,{rng.lognormal(1, 2):.3f},50\n" for name in names for i in range(9)
    )
    a = open_analysis(edition=str(tidy(HEADER + rows)))
    table = portfolios(*((k, tuple(a.tools[:k]), k, "greedy") for k in range(1, n_tools + 1)))
    for figure in (
        curves.quantile(a.judged, a.scores, a.edition, a.tools),
        curves.normalised_cactus(a.judged, a.edition, a.tools),
        curves.portfolio_curve(table, a.edition, "instances", n_tools),
    ):
        assert complaints(figure) == []
