import numpy as np
import pandas as pd
import pytest

from vnnanalysis import portfolio
from vnnanalysis.analysis import analyse
from vnnanalysis.errors import UsageError
from vnnanalysis.load import load_contest
from vnnanalysis.shapley import shapley_value
from vnnanalysis.terms import Missing


def test_the_example_of_the_definitions():
    # {1,2,3}, {2,3}, {2,3}, {}
    solved = pd.DataFrame(
        {
            "a": [True, True, True],
            "b": [False, True, True],
            "c": [False, True, True],
            "d": [False] * 3,
        }
    )
    assert shapley_value(solved).tolist() == pytest.approx([5 / 3, 2 / 3, 2 / 3, 0])
    assert portfolio.marginal_contribution(solved).tolist() == [1, 0, 0, 0]
    assert portfolio.relative_marginal_contribution(solved).tolist() == [1, 0, 0, 0]


def test_relative_contribution_is_zero_where_nobody_adds():
    solved = pd.DataFrame({"a": [True], "b": [True]})
    assert portfolio.relative_marginal_contribution(solved).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "function",
    [shapley_value, portfolio.marginal_contribution, portfolio.unique_solves],
)
def test_only_booleans(function):
    with pytest.raises(ValueError, match="booleans only"):
        function(pd.DataFrame({"a": [1, 0]}))


def test_on_the_real_contest(contest_2021):
    analysis = analyse(contest_2021, contest_2021.edition.rules)
    solved = portfolio.solved_matrix(analysis.judged, analysis.tools)
    assert solved.shape == (859, 13)
    table = portfolio.complementarity(analysis.judged, analysis.tools).set_index("tool")
    # the sum is the VBS's worth; no tool beats it; unique solves are the marginal contribution
    vbs = portfolio.virtual_best_solver(analysis.judged, analysis.tools)
    worth = solved.any(axis=1).sum()
    assert table["shapley"].sum() == pytest.approx(worth)
    assert vbs["share"].sum() == pytest.approx(worth)
    assert table["solved"].max() <= worth
    assert table["unique"].equals(table["marginal"])
    assert table["vbs_share"].sum() == pytest.approx(worth)
    # the order of the tools decides nothing
    backwards = portfolio.complementarity(analysis.judged, analysis.tools[::-1]).set_index("tool")
    pd.testing.assert_frame_equal(backwards.sort_index(), table.sort_index())
    # the solved counts are the published Table 7
    published = {"a-b-CROWN": 766, "VeriNet": 717, "ERAN": 656, "oval": 636, "randgen": 33}
    assert {tool: table.loc[tool, "solved"] for tool in published} == published
    # the sum over benchmarks is the value over all: the game is additive
    parts = portfolio.complementarity(analysis.judged, analysis.tools, by_benchmark=True)
    sums = parts.groupby("tool")["shapley"].sum()
    assert sums.to_dict() == pytest.approx(table["shapley"].to_dict())
    best = analysis.judged[analysis.judged["verdict"] == "correct"]
    fastest = best.groupby(["benchmark", "instance"])["corrected_s"].min()
    times = vbs.groupby(["benchmark", "instance"])["corrected_s"].agg(["min", "max"])
    assert times["min"].tolist() == times["max"].tolist() == fastest.tolist()


def test_a_subset_of_tools_never_votes_again(invented_analysis):
    """Without tool_sound, a4 would be a draw; but tools are chosen after judging."""
    pair = ["tool_best", "tool_wrong"]
    subset = portfolio.complementarity(invented_analysis.judged, pair).set_index("tool")
    assert subset["solved"].to_dict() == {"tool_best": 9, "tool_wrong": 6}


SKIPPED = """tool,benchmark,instance,result,time_s,timeout_s
a,x,i,unsat,4,10
b,x,i,unsat,2,10
a,y,j,sat,6,20
a,y,k,unsat,7,20
a,z,l,unsat,7,20
b,z,l,unknown,7,20
c,z,l,sat,7,20
"""


@pytest.fixture
def skipped(tidy):
    """Tool b is absent from benchmark y, and has no answer on z; c is on z only."""
    contest = load_contest(str(tidy(SKIPPED)))
    return analyse(contest, contest.edition.rules.with_settings({"overhead": "none"})).judged


def test_missing_blocks_in_both_readings(skipped):
    assert portfolio.common_benchmarks(skipped, ["a", "b"]) == ["x"]
    zero = portfolio.complementarity(skipped, ["a", "b"]).set_index("tool")
    common = portfolio.complementarity(skipped, ["a", "b"], missing=Missing.COMMON).set_index(
        "tool"
    )
    assert zero["solved"].to_dict() == {"a": 3, "b": 1}
    assert common["solved"].to_dict() == {"a": 1, "b": 1}
    assert zero["shapley"].to_dict() == {"a": 2.5, "b": 0.5}
    assert common["shapley"].to_dict() == {"a": 0.5, "b": 0.5}
    # b's PAR2 counts y at twice its limit, or not at all
    assert zero.loc["b", "par2_s"] == (2 + 40 + 40 + 40) / 4
    assert common.loc["b", "par2_s"] == 2
    words = [portfolio.missing_in_words(skipped, ["a", "b"], missing) for missing in Missing]
    assert words == [
        "3 benchmarks; a tool absent from one solves nothing of it (absent = 0)",
        "1 of 3 benchmarks: only what all tools take part in (common benchmarks only)",
    ]
    assert portfolio.missing_in_words(skipped, ["a"], Missing.COMMON) == (
        "3 benchmarks, all tools take part in all"
    )
    both = portfolio.missing_in_words(skipped, ["a", "b"], Missing.ZERO, ["x", "y"])
    assert both.startswith("3 benchmarks (1 of them not scored); a tool absent")
    # one benchmark is skipped by one tool: that is not all
    two = skipped[skipped["benchmark"] != "z"]
    assert portfolio.missing_in_words(two, ["a", "b"], Missing.COMMON).startswith("1 of 2")
    readings = portfolio.both_readings(skipped, ["a", "b"]).set_index("tool")
    assert readings["absent = 0 / n"].tolist() == [4, 4]
    assert readings["common benchmarks only / n"].tolist() == [1, 1]
    assert readings["common benchmarks only / solved"].tolist() == [1, 1]
    assert portfolio.both_readings(skipped[skipped["benchmark"] == "x"], ["a", "b"]).empty
    with pytest.raises(UsageError, match="no benchmark that all of b, c take part in"):
        portfolio.compared_rows(skipped, ["b", "c"], Missing.COMMON)
    with pytest.raises(UsageError, match="expected zero or common, found 'commn'"):
        portfolio.read_missing("commn")
    nothing = portfolio.complementarity(skipped, ["b", "c"], missing=Missing.COMMON)
    assert list(nothing.columns) == portfolio.COMPLEMENTARITY
    assert nothing.empty
    assert portfolio.shapley_games(skipped, ["b", "c"], Missing.COMMON).empty


def test_games(skipped):
    games = portfolio.shapley_games(skipped, ["a", "b"]).set_index("tool")
    assert games["unsat"].to_dict() == {"a": 1.5, "b": 0.5}
    assert games["sat"].to_dict() == {"a": 1, "b": 0}
    # x: half each of its one instance; y: both of a's; z: nobody, since a and c disagree
    assert games["balanced"].to_dict() == pytest.approx({"a": 50.0, "b": 100 / 6})
    # x: a has 0.6 of its limit left, b 0.8: 0.3 is shared, 0.2 is b's own
    assert games["speed"].to_dict() == pytest.approx({"a": 0.3 + 0.7 + 0.65, "b": 0.5})
    unlimited = skipped.assign(timeout_s=np.nan)
    assert portfolio.shapley_games(unlimited, ["a", "b"])["speed"].isna().all()


def test_points_are_shared_and_penalties_shown(contest_2021):
    analysis = analyse(contest_2021, contest_2021.edition.rules)
    games = portfolio.shapley_games(analysis.judged, analysis.tools).set_index("tool")
    judged = analysis.judged
    best = judged.groupby(["benchmark", "instance"])["points"].max().clip(lower=0)
    assert games["points"].sum() == pytest.approx(best.sum())
    lost = judged[judged["points"] < 0].groupby("tool")["points"].sum()
    assert games.loc[games["penalties"] < 0, "penalties"].to_dict() == lost.to_dict()
    solved = games["unsat"] + games["sat"]
    assert solved.to_dict() == pytest.approx(games["solved"].to_dict())
    n_benchmarks = judged["benchmark"].nunique()
    any_solved = portfolio.solved_matrix(judged, analysis.tools).any(axis=1)
    per_benchmark = any_solved.groupby("benchmark").mean()
    assert games["balanced"].sum() == pytest.approx(100 * per_benchmark.sum() / n_benchmarks)


def test_instances_that_one_tool_alone_solves(skipped):
    alone = portfolio.solved_alone(skipped, ["a", "b"], ["b", "a"])
    assert alone[["tool", "instance"]].to_numpy().tolist() == [["a", "j"], ["a", "k"]]
    # on x, a and b are both right; who is not among the tools does not count
    subset = portfolio.solved_alone(skipped, ["b", "c"], ["b"])
    assert subset["instance"].tolist() == ["i"]
    everyone = portfolio.solved_alone(skipped, ["a", "b", "c"], ["b"])
    assert everyone.empty
    counts = portfolio.unique_solves(portfolio.solved_matrix(skipped, ["a", "b"]))
    assert counts.to_dict() == {"a": 2, "b": 0}


def test_choices_of_the_virtual_best_solver_sum_to_all(contest_2021):
    analysis = analyse(contest_2021, contest_2021.edition.rules)
    vbs = portfolio.virtual_best_solver(analysis.judged, analysis.tools)
    choices = portfolio.vbs_choices(vbs, analysis.tools)
    assert choices["percent"].sum() == pytest.approx(100)
    assert choices["chosen"].sum() == pytest.approx(778)


def test_instances_that_count_for_nobody_are_left_out(skipped):
    left_out = skipped.assign(excluded=skipped["excluded"].mask(skipped["benchmark"] == "z", "no"))
    table = portfolio.complementarity(left_out, ["a", "b"]).set_index("tool")
    assert table.loc["b", "par2_s"] == (2 + 40 + 40) / 3
