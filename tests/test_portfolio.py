import itertools
import math

import numpy as np
import pandas as pd
import pytest

from vnnanalysis import portfolio
from vnnanalysis.analysis import analyse
from vnnanalysis.load import load_contest


def brute_force(solved):
    """Shapley value from its definition: the mean over all joining orders."""
    tools = list(solved.columns)
    total = dict.fromkeys(tools, 0)
    for order in itertools.permutations(tools):
        covered = np.zeros(len(solved), bool)
        for tool in order:
            total[tool] += int((solved[tool].to_numpy() & ~covered).sum())
            covered |= solved[tool].to_numpy()
    return {tool: value / math.factorial(len(tools)) for tool, value in total.items()}


@pytest.mark.parametrize("n_tools", range(1, 8))
def test_shapley_value_is_the_mean_over_joining_orders(n_tools):
    rng = np.random.default_rng(n_tools)
    solved = pd.DataFrame(
        rng.random((9, n_tools)) < 0.45, columns=[f"t{i}" for i in range(n_tools)]
    )
    ours = portfolio.shapley_value(solved)
    assert ours.to_dict() == pytest.approx(brute_force(solved))
    assert ours.sum() == pytest.approx(solved.any(axis=1).sum())


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
    assert portfolio.shapley_value(solved).tolist() == pytest.approx([5 / 3, 2 / 3, 2 / 3, 0])
    assert portfolio.marginal_contribution(solved).tolist() == [1, 0, 0, 0]
    assert portfolio.relative_marginal_contribution(solved).tolist() == [1, 0, 0, 0]


def test_relative_contribution_is_zero_where_nobody_adds():
    solved = pd.DataFrame({"a": [True], "b": [True]})
    assert portfolio.relative_marginal_contribution(solved).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "function",
    [portfolio.shapley_value, portfolio.marginal_contribution, portfolio.unique_solves],
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


def test_a_subset_of_tools_never_votes_again(example_analysis):
    """Without tool_sound, a4 would be a draw; but tools are chosen after judging."""
    pair = ["tool_best", "tool_wrong"]
    subset = portfolio.complementarity(example_analysis.judged, pair).set_index("tool")
    assert subset["solved"].to_dict() == {"tool_best": 9, "tool_wrong": 6}


def temporal_brute_force(solved, periods):
    """Mean marginal contribution over the orders in which no tool precedes an earlier period's."""
    orders = [
        order for order in itertools.permutations(solved.columns)
        if all(periods[a] <= periods[b] for a, b in itertools.pairwise(order))
    ]  # fmt: skip
    values = dict.fromkeys(solved.columns, 0.0)
    for order in orders:
        for k, tool in enumerate(order):
            before = solved[list(order[:k])].any(axis=1).sum()
            values[tool] += solved[list(order[: k + 1])].any(axis=1).sum() - before
    return [values[tool] / len(orders) for tool in solved.columns]


@pytest.mark.parametrize("n_periods", [1, 2, 3])
def test_temporal_shapley_is_the_mean_over_the_admissible_orders(n_periods):
    rng = np.random.default_rng(n_periods)
    for n_tools in (1, 3, 5, 5, 5, 5, 6):
        tools = list("abcdef")[:n_tools]
        solved = pd.DataFrame(rng.random((12, len(tools))) < 0.4, columns=tools)
        periods = pd.Series(rng.integers(0, n_periods, len(tools)), tools)
        got = portfolio.temporal_shapley(solved, periods)
        assert got.tolist() == pytest.approx(temporal_brute_force(solved, periods))
        assert got.sum() == pytest.approx(solved.any(axis=1).sum())


def test_temporal_shapley_in_one_period_is_the_shapley_value():
    solved = pd.DataFrame({"a": [True, True, False], "b": [True, False, False]})
    one = portfolio.temporal_shapley(solved, pd.Series({"a": 1, "b": 1}))
    assert one.equals(portfolio.shapley_value(solved))
    with pytest.raises(ValueError, match="every tool needs a period"):
        portfolio.temporal_shapley(solved, pd.Series({"a": 1}))


LIMITED = "tool,benchmark,instance,result,time_s,timeout_s\n"


def test_average_time_and_portfolio(tidy):
    rows = "a,x,i,unsat,4,10\nb,x,i,unsat,2,10\na,x,j,sat,6,20\nb,x,j,timeout,20,20\n"
    rows += "a,x,k,timeout,30,30\nb,x,k,timeout,30,30\n"
    contest = load_contest(str(tidy(LIMITED + rows)))
    rules = contest.edition.rules.with_settings({"overhead": "none"})
    judged = analyse(contest, rules).judged
    # k is solved by nobody and does not count; j counts with its limit for b
    assert portfolio.average_time(judged, ["a", "b"]).to_dict() == {"a": 5.0, "b": 11.0}
    assert portfolio.average_time(judged, ["b"]).to_dict() == {"b": 2.0}
    nobody = judged[judged["instance"] == "k"]
    assert portfolio.average_time(nobody, ["a"]).to_dict() == {"a": 30.0}
    assert [portfolio.portfolio_solves(judged, ["a", "b"], s) for s in (1, 2, 5.9, 6)] == [
        0,
        1,
        1,
        2,
    ]
    unknown = judged.assign(timeout_s=judged["timeout_s"].mask(judged["instance"] == "j"))
    with pytest.raises(ValueError, match="1 instances have no time limit"):
        portfolio.average_time(unknown, ["a"])
