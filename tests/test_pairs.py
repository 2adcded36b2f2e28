import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from vnnanalysis import pairs
from vnnanalysis.analysis import analyse
from vnnanalysis.portfolio import common_benchmarks, select_missing
from vnnanalysis.scatter import scatter_points
from vnnanalysis.terms import Missing


def judged_of(times, benchmark="x"):
    """Rows from a frame of times, a column per tool; missing is unsolved."""
    rows = []
    for tool in times:
        for k, seconds in enumerate(times[tool]):
            solved = not math.isnan(seconds)
            verdict, result = ("correct", "sat") if solved else ("unsolved", "timeout")
            rows.append((benchmark, k, f"i{k}", tool, result, verdict, 99.0, seconds, True, ""))
    columns = ["benchmark", "index", "instance", "tool", "result", "verdict", "run_s"]
    return pd.DataFrame(rows, columns=[*columns, "corrected_s", "takes_part", "excluded"])


def random_judged(seed, n_tools=3, n_instances=40):
    rng = np.random.default_rng(seed)
    seconds = rng.lognormal(1.0, 1.5, (n_instances, n_tools)).round(1)
    seconds[rng.random(seconds.shape) < 0.3] = np.nan
    return judged_of(pd.DataFrame(seconds, columns=list("abcdef"[:n_tools])))


@pytest.fixture(scope="module")
def analysis_2021(contest_2021):
    return analyse(contest_2021, contest_2021.edition.rules)


def test_common_benchmarks_are_those_in_which_all_take_part(invented_analysis, analysis_2021):
    judged = invented_analysis.judged
    pair = ["tool_best", "tool_absent"]
    # tool_absent has an answer in toy_acas only, rows without one in toy_cnn, none in toy_extra
    assert common_benchmarks(judged, pair) == ["toy_acas"]
    assert common_benchmarks(judged, ["tool_best", "nobody"]) == []
    backwards = ["toy_cnn", "toy_acas", "toy_extra"]
    assert common_benchmarks(judged, ["tool_best"]) == ["toy_acas", "toy_cnn", "toy_extra"]
    assert common_benchmarks(judged[::-1], ["tool_best"]) == backwards
    assert len(select_missing(judged, pair, Missing.ZERO)) == len(judged)
    common = select_missing(judged, pair, Missing.COMMON)
    assert set(common["benchmark"]) == {"toy_acas"}
    assert "tool_wrong" in set(common["tool"])
    answered = analysis_2021.judged.query("takes_part").groupby("benchmark")["tool"].agg(set)
    for two in itertools.combinations(analysis_2021.tools, 2):
        expected = set(answered.index[[set(two) <= tools for tools in answered]])
        assert set(common_benchmarks(analysis_2021.judged, two)) == expected


def test_a_pair_by_hand():
    nan = math.nan
    a = [2.0, 3.0, 40.0, 1.0, 1.0, 1.0, 1.0, 1.0, nan]
    b = [1.0, 6.0, 10.0, nan, nan, nan, nan, nan, nan]
    [row] = pairs.pair_table(judged_of({"a": a, "b": b}), ["a", "b"]).to_dict("records")
    assert row == {
        "tool": "a", "other": "b", "n": 9, "both": 3, "only_tool": 5, "only_other": 0,
        "neither": 1, "jaccard": 3 / 8, "time_ratio": pytest.approx(2.0),  # of 2, 1/2 and 4
        "ratio_low": pytest.approx(nan, nan_ok=True), "spearman": 1.0,
        "ratio_high": pytest.approx(nan, nan_ok=True), "mcnemar_p": pytest.approx(2 / 2**5),
    }  # fmt: skip


def test_every_pair_agrees_with_the_scatter_plots(analysis_2021):
    judged, tools = analysis_2021.judged, analysis_2021.tools[:6]
    table = pairs.pair_table(judged, tools)
    assert list(zip(table["tool"], table["other"], strict=True)) == list(
        itertools.combinations(tools, 2)
    )
    for row in table.itertuples():
        points = scatter_points(judged, row.tool, row.other)
        both = points.dropna(subset=["x_s", "y_s"])
        assert (row.both, row.only_tool, row.only_other, row.neither) == (
            len(both), points["y_s"].isna().sum(), points["x_s"].isna().sum(), 859 - len(points)
        )  # fmt: skip
        assert row.n == 859
        assert row.jaccard == pytest.approx(len(both) / len(points))
        assert row.time_ratio == pytest.approx(
            np.exp(np.median(np.log(both["x_s"]) - np.log(both["y_s"])))
        )
        ranks = both[["x_s", "y_s"]].rank()
        assert row.spearman == pytest.approx(np.corrcoef(ranks["x_s"], ranks["y_s"])[0, 1])
        low, high = sorted((row.only_tool, row.only_other))
        tail = 2 * stats.binom.cdf(low, low + high, 0.5) if low < high else 1.0
        assert row.mcnemar_p == pytest.approx(min(tail, 1.0))


def test_only_the_common_benchmarks_of_a_pair_count(invented_analysis):
    tools = ["tool_best", "tool_sound", "tool_absent"]
    judged = invented_analysis.judged
    table = pairs.pair_table(judged, tools, Missing.COMMON).set_index(["tool", "other"])
    assert table["n"].tolist() == [13, 6, 6]
    for pair in table.index:
        selected = select_missing(judged, pair, Missing.COMMON)
        expected = pairs.pair_table(selected, pair).set_index(["tool", "other"])
        pd.testing.assert_frame_equal(table.loc[[pair]], expected)
    assert pairs.pair_table(judged, tools)["n"].tolist() == [13, 13, 13]
    nowhere = pairs.pair_table(judged, ["tool_best", "nobody"], Missing.COMMON)
    assert nowhere[["n", "both", "mcnemar_p"]].iloc[0].tolist() == [0, 0, 1.0]


@pytest.mark.parametrize("n", [1, 5, 6, 9, 20, 71])
def test_the_interval_of_a_ratio_is_that_of_the_order_statistics(n):
    ratios = np.sort(np.random.default_rng(n).lognormal(size=n))
    times = pd.DataFrame({"a": ratios, "b": 1.0})
    [row] = pairs.pair_table(judged_of(times), ["a", "b"]).to_dict("records")
    # the innermost k-th smallest and k-th largest with P(outside) <= 5 %
    fits = [k for k in range(1, n) if 2 * stats.binom.cdf(k - 1, n, 0.5) <= 0.05]
    if n < 6:
        assert not fits
        assert math.isnan(row["ratio_low"])
        assert math.isnan(row["ratio_high"])
    else:
        k = max(fits)
        expected = pytest.approx([ratios[k - 1], ratios[n - k]])
        assert [row["ratio_low"], row["ratio_high"]] == expected


def test_a_time_of_zero_has_a_ratio():
    times = {"a": [0.0, 0.0, 0.0], "b": [0.0, 1.0, 2.0]}
    [row] = pairs.pair_table(judged_of(times), ["a", "b"]).to_dict("records")
    assert row["time_ratio"] == pytest.approx(0.001)
    assert math.isnan(row["spearman"])  # the times of a are all equal


def test_what_is_not_defined_is_missing():
    nan = math.nan
    judged = judged_of({"a": [nan, nan, nan], "b": [nan, nan, nan], "c": [1.0, 2.0, nan]})
    table = pairs.pair_table(judged, ["a", "b", "c"])
    undefined = ["time_ratio", "ratio_low", "ratio_high", "spearman"]
    assert table[undefined].isna().all(axis=None)
    assert table["jaccard"].tolist() == pytest.approx([nan, 0.0, 0.0], nan_ok=True)
    assert table["mcnemar_p"].tolist() == [1.0, 0.5, 0.5]
    two = pairs.spearman_matrix(judged_of({"a": [1.0, 2.0], "b": [1.0, 2.0]}), ["a", "b"])
    assert math.isnan(two.loc["a", "b"])


def test_pair_instances_are_what_one_alone_solved(analysis_2021):
    judged = analysis_2021.judged
    got = pairs.pair_instances(judged, "ERAN", "oval")
    points = scatter_points(judged, "ERAN", "oval")
    alone = points[points["x_s"].isna() | points["y_s"].isna()]
    for column, tool in (("y_s", "ERAN"), ("x_s", "oval")):
        expected = set(alone.loc[alone[column].isna(), "instance"])
        assert set(got.loc[got["solved_by"] == tool, "instance"]) == expected
    assert len(got) == len(alone)
    order = list(judged["benchmark"].drop_duplicates())
    places = [(order.index(b), i) for b, i in zip(got["benchmark"], got["index"], strict=True)]
    assert places == sorted(places)
    assert (got["tool_verdict"].eq("correct") == (got["solved_by"] == "ERAN")).all()
    rows = judged[judged["tool"] == "oval"].set_index(["benchmark", "instance"])
    same = rows.loc[list(zip(got["benchmark"], got["instance"], strict=True))]
    assert got["other_result"].tolist() == same["result"].tolist()
    assert got["other_s"].equals(same["run_s"].reset_index(drop=True).rename("other_s"))
    assert pairs.pair_instances(judged, "ERAN", "ERAN").empty


def test_pair_instances_keep_what_a_tool_has_no_row_for(invented_analysis):
    judged = invented_analysis.judged[::-1]
    got = pairs.pair_instances(judged, "tool_best", "tool_absent")
    assert list(got) == pairs.PAIR_INSTANCE_COLUMNS
    e1 = got.set_index("instance").loc["e1"]
    assert e1[["solved_by", "tool_result", "tool_s"]].tolist() == ["tool_best", "sat", 2.2]
    assert e1[["other_result", "other_verdict", "other_s"]].isna().all()
    assert got["benchmark"].unique().tolist() == ["toy_cnn", "toy_acas", "toy_extra"]
    for _, rows in got.groupby("benchmark"):
        assert rows["index"].is_monotonic_increasing


def test_matrices_hold_what_the_pairs_hold():
    judged, tools = random_judged(5, 4), ["d", "b", "a", "c"]
    table = pairs.pair_table(judged, tools)
    for column, matrix in (
        ("jaccard", pairs.jaccard_matrix(judged, tools)),
        ("spearman", pairs.spearman_matrix(judged, tools)),
    ):
        assert matrix.index.tolist() == matrix.columns.tolist() == tools
        assert np.diag(matrix).tolist() == [1.0] * 4
        assert matrix.equals(matrix.T)
        for row in table.to_dict("records"):
            assert matrix.loc[row["tool"], row["other"]] == row[column]
    # a selection of rows is a selection of instances
    half = judged[judged["index"] < 20]
    assert not pairs.jaccard_matrix(half, tools).equals(pairs.jaccard_matrix(judged, tools))


def test_clusters():
    names = ["a", "b", "c", "d"]
    matrix = pd.DataFrame(np.eye(4), index=names, columns=names)
    for x, y, value in (("a", "c", 0.9), ("b", "d", 0.8), ("a", "b", math.nan), ("c", "d", 0.2)):
        matrix.loc[x, y] = matrix.loc[y, x] = value
    order, tree = pairs.clustered(matrix)
    assert tree.shape == (3, 4)
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset("ac"), frozenset("bd")}
    assert order[1:3] in (["c", "d"], ["d", "c"])  # the most similar of the two clusters meet
    # heights: 1 - 0.9, 1 - 0.8, and the mean of 1, 1, 1 and 0.8 (missing is similarity 0)
    assert tree[:, 2].tolist() == pytest.approx([0.1, 0.2, 0.95])


def test_clusters_of_one_and_two_tools():
    one = pairs.clustered(pd.DataFrame([[1.0]], index=["a"], columns=["a"]))
    assert one[0] == ["a"]
    assert one[1].shape == (0, 4)
    two = pd.DataFrame([[1.0, 0.25], [0.25, 1.0]], index=["a", "b"], columns=["a", "b"])
    order, tree = pairs.clustered(two)
    assert sorted(order) == ["a", "b"]
    assert tree.tolist() == [[0.0, 1.0, 0.75, 2.0]]


def test_clusters_of_a_real_contest(analysis_2021):
    for matrix in (
        pairs.jaccard_matrix(analysis_2021.judged, analysis_2021.tools),
        pairs.spearman_matrix(analysis_2021.judged, analysis_2021.tools),
    ):
        order, tree = pairs.clustered(matrix)
        assert sorted(order) == sorted(analysis_2021.tools)
        assert tree.shape == (12, 4)
        assert (np.diff(tree[:, 2]) >= 0).all()


def test_instances_left_out_for_everybody_are_not_compared():
    judged = random_judged(3)
    left_out = judged.assign(
        excluded=judged["excluded"].mask(judged["instance"] == "i4", "skipped")
    )
    assert set(pairs.pair_table(left_out, ["a", "b"])["n"]) == {39}
    one = judged["instance"].eq("i4") & judged["tool"].eq("a")
    for_one = judged.assign(excluded=judged["excluded"].mask(one, "skipped"))
    assert set(pairs.pair_table(for_one, ["a", "b"])["n"]) == {40}
