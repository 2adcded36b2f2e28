import functools
import itertools
import math

import numpy as np
import pandas as pd
import pytest

from vnnanalysis.shapley import (
    shapley_of_scores,
    shapley_value,
    temporal_shapley,
    temporal_shapley_of_scores,
)


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
    ours = shapley_value(solved)
    assert ours.to_dict() == pytest.approx(brute_force(solved))
    assert ours.sum() == pytest.approx(solved.any(axis=1).sum())


def value_of(scores, coalition):
    """Worth of some tools: the best score on each instance, at least 0."""
    if not coalition:
        return 0.0
    return scores[list(coalition)].max(axis=1).clip(lower=0).sum()


def mean_over_orders(scores, orders):
    """Mean marginal contribution over joining orders, from the definition."""
    worth = functools.cache(lambda coalition: value_of(scores, coalition))
    values = dict.fromkeys(scores.columns, 0.0)
    for order in orders:
        for k, tool in enumerate(order):
            gain = worth(frozenset(order[: k + 1])) - worth(frozenset(order[:k]))
            values[tool] += gain / len(orders)
    return values


def admissible(tools, periods):
    """Return the joining orders in which no tool precedes one of an earlier period."""
    return [
        order for order in itertools.permutations(tools)
        if all(periods[a] <= periods[b] for a, b in itertools.pairwise(order))
    ]  # fmt: skip


@pytest.mark.parametrize("n_tools", range(1, 8))
def test_any_score_is_the_mean_over_joining_orders(n_tools):
    """With negative scores, ties and zeros."""
    rng = np.random.default_rng(n_tools)
    tools = [f"t{i}" for i in range(n_tools)]
    scores = pd.DataFrame(rng.integers(-3, 6, (4, n_tools)) / 2, columns=tools)
    ours = shapley_of_scores(scores)
    orders = list(itertools.permutations(tools))
    assert ours.to_dict() == pytest.approx(mean_over_orders(scores, orders))
    assert ours.sum() == pytest.approx(value_of(scores, tools))


def test_scores_of_0_and_1_are_the_solved_instances():
    rng = np.random.default_rng(3)
    solved = pd.DataFrame(rng.random((500, 9)) < 0.4, columns=list("abcdefghi"))
    as_scores = shapley_of_scores(solved.astype(float))
    assert as_scores.to_dict() == pytest.approx(shapley_value(solved).to_dict())


def test_weights_count_an_instance_more_often():
    rng = np.random.default_rng(4)
    scores = pd.DataFrame(rng.random((5, 4)), columns=list("abcd"))
    times = pd.Series([1, 3, 0, 2, 1])
    repeated = scores.loc[scores.index.repeat(times)]
    weighted = shapley_of_scores(scores, times)
    assert weighted.to_dict() == pytest.approx(shapley_of_scores(repeated).to_dict())


def test_a_missing_score_is_refused():
    scores = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, 2.0]})
    with pytest.raises(ValueError, match="2 scores are missing"):
        shapley_of_scores(scores)


@pytest.mark.parametrize("n_periods", [1, 2, 3])
def test_temporal_scores_are_the_mean_over_the_admissible_orders(n_periods):
    rng = np.random.default_rng(10 + n_periods)
    for n_tools in (1, 3, 5, 6):
        tools = list("abcdef")[:n_tools]
        scores = pd.DataFrame(rng.integers(-2, 5, (4, n_tools)) / 2, columns=tools)
        periods = pd.Series(rng.integers(0, n_periods, n_tools), tools)
        orders = admissible(tools, periods)
        got = temporal_shapley_of_scores(scores, periods)
        assert got.to_dict() == pytest.approx(mean_over_orders(scores, orders))


@pytest.mark.parametrize("n_periods", [1, 2, 3])
def test_temporal_shapley_is_the_mean_over_the_admissible_orders(n_periods):
    rng = np.random.default_rng(n_periods)
    for n_tools in (1, 3, 5, 5, 5, 5, 6):
        tools = list("abcdef")[:n_tools]
        solved = pd.DataFrame(rng.random((12, len(tools))) < 0.4, columns=tools)
        periods = pd.Series(rng.integers(0, n_periods, len(tools)), tools)
        got = temporal_shapley(solved, periods)
        orders = admissible(tools, periods)
        expected = mean_over_orders(solved.astype(float), orders)
        assert got.to_dict() == pytest.approx(expected)
        assert got.sum() == pytest.approx(solved.any(axis=1).sum())


def test_temporal_shapley_in_one_period_is_the_shapley_value():
    solved = pd.DataFrame({"a": [True, True, False], "b": [True, False, False]})
    one = temporal_shapley(solved, pd.Series({"a": 1, "b": 1}))
    assert one.equals(shapley_value(solved))
    for periods in ({"a": 1}, {"a": 1, "b": np.nan}):
        with pytest.raises(ValueError, match="every tool needs a period"):
            temporal_shapley(solved, pd.Series(periods))
