import itertools
import math

import numpy as np
import pandas as pd
import pytest
from conftest import contest_of_year

from vnnanalysis import parallel
from vnnanalysis.analysis import analyse
from vnnanalysis.paths import resource

COLUMNS = ["benchmark", "instance", "tool", "verdict", "run_s", "corrected_s", "timeout_s"]


def judged_of(rows):
    """Rows of benchmark x: instance, tool, verdict, run time, limit; corrected times are 1 s."""
    rows = [("x", instance, tool, verdict, run, 1.0, c) for instance, tool, verdict, run, c in rows]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"verdict": "str"})


def solved_by(pairs):
    """Rows of what tools solved: pairs of tool and number of the instance."""
    return judged_of([(f"i{k}", tool, "correct", 1.0, math.nan) for tool, k in pairs])


def random_judged(seed, n_tools, n_instances=15):
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(n_instances):
        limit = float(rng.choice([10.0, 60.0, 300.0]))
        for tool in "abcdef"[:n_tools]:
            verdict = rng.choice(["correct", "incorrect", "unsolved"], p=[0.6, 0.1, 0.3])
            rows.append((f"i{k}", tool, verdict, limit * rng.random() ** 2 * 1.1, limit))
    return judged_of(rows)


def covered(judged, tools, k, *, is_shared=True):
    """Return the instances a portfolio solves, row by row; each tool has a k-th of the limit."""
    return {
        (row.benchmark, row.instance)
        for row in judged[judged["tool"].isin(tools)][COLUMNS].itertuples()
        if row.verdict == "correct" and (not is_shared or row.run_s <= row.timeout_s / k)
    }


@pytest.fixture(scope="module")
def study():
    contest = contest_of_year("study")
    return analyse(contest, contest.edition.rules).judged


def test_a_tool_must_answer_within_its_share_by_its_raw_time():
    rows = [("i", "a", "correct", 5.0, 10.0), ("i", "b", "correct", 5.1, 10.0)]
    rows += [("j", "a", "correct", 31.0, 30.0), ("j", "b", "incorrect", 1.0, 30.0)]
    judged = judged_of(rows)
    shares = {k: parallel.solved_in_share(judged, ["b", "a"], k) for k in (1, 2, 3)}
    assert shares[1].to_numpy().tolist() == [[True, True], [False, False]]  # 31 s is late
    assert shares[2].to_numpy().tolist() == [[False, True], [False, False]]  # 5 s is in time
    assert not shares[3].any(axis=None)
    assert shares[2].index.tolist() == [("x", "i"), ("x", "j")]
    assert [parallel.portfolio_solves(judged, ["a", "b"], s) for s in (4, 5, 31)] == [0, 1, 2]
    unknown = judged.assign(timeout_s=judged["timeout_s"].mask(judged["instance"] == "j"))
    for function in (lambda: parallel.solved_in_share(unknown, ["a"], 1),
                     lambda: parallel.best_portfolios(unknown, ["a"])):  # fmt: skip
        with pytest.raises(ValueError, match="1 instances have no time limit to share"):
            function()


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize("n_tools", range(1, 7))
def test_best_portfolios_are_those_of_all_combinations(n_tools, is_shared):
    for seed in range(2):
        judged, tools = random_judged(seed, n_tools), list("fedcba"[6 - n_tools :])
        got = parallel.best_portfolios(judged, tools, is_shared=is_shared)
        assert set(got["method"]) == {"exact"}
        assert got["size"].unique().tolist() == list(range(1, n_tools + 1))
        every = len(covered(judged, tools, 1, is_shared=is_shared))
        best = {0: 0}
        for size, rows in got.groupby("size"):
            worth = {
                names: len(covered(judged, names, size, is_shared=is_shared))
                for names in itertools.combinations(tools, size)
            }
            best[size] = max(worth.values())
            optima = [", ".join(names) for names, n in worth.items() if n == best[size]]
            assert rows["tools"].tolist() == optima
            assert set(rows["n_optima"]) == {len(optima)}
            assert set(rows["solved"]) == {best[size]}
            assert set(rows["gain"]) == {best[size] - best[size - 1]}
            gap = every - best[1]
            expected = (best[size] - best[1]) / gap if gap else math.nan
            assert rows["gap_closed"].tolist() == pytest.approx([expected] * len(rows), nan_ok=True)


def test_a_smaller_share_can_cost_more_than_a_tool_adds():
    rows = [(f"i{k}", "a", "correct", 6.0, 10.0) for k in range(3)]
    rows += [("j", "b", "correct", 1.0, 10.0)]
    got = parallel.best_portfolios(judged_of(rows), ["a", "b"])
    assert got[["tools", "solved", "gain", "gap_closed"]].to_numpy().tolist() == [
        ["a", 3, 3, 0.0], ["a, b", 1, -2, -2.0]
    ]  # fmt: skip


def test_greedy_is_labelled_and_can_miss_the_best():
    sets = {"a": "1234", "b": "125", "c": "346", "d": "123"}
    rows = [(i, tool, "correct", 1.0, 30.0) for tool, solved in sets.items() for i in solved]
    judged = judged_of(rows)
    columns = ["size", "tools", "solved", "gain", "n_optima", "method"]
    greedy = parallel.best_portfolios(judged, list("dcba"), exact_up_to=3)
    assert greedy[columns].to_numpy().tolist()[:3] == [
        [1, "a", 4, 4, 1, "greedy"],
        [2, "c, a", 5, 1, 1, "greedy"],
        [3, "c, b, a", 6, 1, 1, "greedy"],
    ]
    exact = parallel.best_portfolios(judged, list("dcba"), exact_up_to=4)
    assert exact[columns].to_numpy().tolist()[1] == [2, "c, b", 6, 2, 1, "exact"]


def test_twenty_tools_are_tried_exactly_and_all_optima_counted():
    """Ten tools solve ten instances each, ten more are their copies."""
    rows = [
        (f"i{k}-{n}", f"{kind}{k}", "correct", 1.0, 30.0)
        for kind in "ab" for k in range(10) for n in range(10)
    ]  # fmt: skip
    tools = [f"{kind}{k}" for kind in "ab" for k in range(10)]
    got = parallel.best_portfolios(judged_of(rows), tools, most_listed=30)
    for size, listed in got.groupby("size"):
        assert set(listed["solved"]) == {10 * min(size, 10)}
        if size <= 10:  # one of each chosen kind
            n_optima = math.comb(10, size) * 2**size
        else:  # both copies of some, one of the others
            n_optima = math.comb(10, size - 10) * 2 ** (20 - size)
        assert set(listed["n_optima"]) == {n_optima}
        assert len(listed) == min(n_optima, 30)
        assert not listed["tools"].duplicated().any()
    assert got.loc[got["size"] == 2, "tools"].tolist()[:2] == ["a0, a1", "a0, a2"]


@pytest.mark.parametrize("is_shared", [True, False])
def test_members_are_what_is_lost_without_them(is_shared):
    judged = random_judged(11, 5)
    portfolios = parallel.best_portfolios(judged, list("abcde"), is_shared=is_shared)
    got = parallel.members(judged, portfolios, is_shared=is_shared)
    assert len(got) == portfolios["size"].sum()
    for row in got.itertuples():
        names = row.tools.split(", ")
        alone = covered(judged, [row.tool], row.size, is_shared=is_shared)
        others = covered(judged, set(names) - {row.tool}, row.size, is_shared=is_shared)
        assert row.solved == len(alone)
        assert row.lost_without == len(alone - others)
    assert got["lost_without"].any()
    listed = got.drop_duplicates(["size", "tools"])[["size", "tools"]]
    assert listed.to_numpy().tolist() == portfolios[["size", "tools"]].to_numpy().tolist()


def test_machines_of_their_own_need_no_limits(contest_2021):
    analysis = analyse(contest_2021, contest_2021.edition.rules)
    got = parallel.best_portfolios(analysis.judged, list(analysis.tools), is_shared=False)
    assert got.iloc[0][["tools", "solved"]].tolist() == ["a-b-CROWN", 766]  # published Table 7
    solved = {tool: covered(analysis.judged, [tool], 1, is_shared=False) for tool in analysis.tools}
    worth = {p: len(solved[p[0]] | solved[p[1]]) for p in itertools.combinations(solved, 2)}
    pair = got[got["size"] == 2]
    assert set(pair["solved"]) == {max(worth.values())}
    assert pair["tools"].tolist() == [
        ", ".join(p) for p, n in worth.items() if n == max(worth.values())
    ]
    assert got["solved"].is_monotonic_increasing
    assert got["gap_closed"].iloc[-1] == 1.0


def test_portfolios_of_the_study(study):
    printed = pd.read_csv(resource("data", "published", "study", "portfolios.csv"))
    found = {}
    for row in printed.itertuples():
        here = study[study["benchmark"] == row.benchmark]
        names = row.tools.split(", ")
        found[row.benchmark] = parallel.portfolio_solves(here, names, row.seconds_each)
        shared = parallel.solved_in_share(here, names, 2).any(axis=1).sum()
        assert shared == found[row.benchmark]
    assert found == {"MNIST ReLU": 1818, "CIFAR ReLU": 963}  # printed 1817: known to differ


def test_the_best_pairs_of_the_study(study):
    """On CIFAR the printed pair is the only best one; on MNIST two others solve more."""
    tools = ["BaBSB", "Marabou", "Neurify", "nnenum", "Verinet"]
    pairs = {}
    for benchmark in ("CIFAR ReLU", "MNIST ReLU"):
        here = study[study["benchmark"] == benchmark]
        got = parallel.best_portfolios(here, tools)
        pairs[benchmark] = got.loc[got["size"] == 2, ["tools", "solved", "n_optima"]]
        solved = [covered(here, [tool], 2) for tool in tools]
        worth = [len(a | b) for a, b in itertools.combinations(solved, 2)]
        assert pairs[benchmark]["solved"].iloc[0] == max(worth)
        assert pairs[benchmark]["n_optima"].iloc[0] == worth.count(max(worth))
    assert pairs["CIFAR ReLU"].to_numpy().tolist() == [["Neurify, Verinet", 963, 1]]
    assert pairs["MNIST ReLU"].to_numpy().tolist() == [
        ["Neurify, nnenum", 1851, 2], ["Neurify, Verinet", 1851, 2]
    ]  # fmt: skip


def test_names_with_commas_are_told_apart():
    """Of the portfolios of `a, b`, `a` and `b`, each is split into as many names as it has."""
    judged = solved_by([("a, b", 0), ("a, b", 1), ("a", 1), ("a", 2), ("b", 3)])
    best = parallel.best_portfolios(judged, ["a, b", "a", "b"], is_shared=False)
    table = parallel.members(judged, best, is_shared=False)
    counts = table.groupby(["size", "tools"], sort=False).size()
    assert [size for size, _ in counts.index] == counts.tolist()
    assert table.loc[table["size"] == 3, "tool"].tolist() == ["a, b", "a", "b"]


def test_only_optima_up_to_the_best_size_are_kept():
    rows = [(f"t{k}", k) for k in range(2)] + [("u", 0), ("v", 9)]
    best = parallel.best_portfolios(solved_by(rows), ["t0", "t1", "u", "v"], is_shared=False)
    kept = parallel.up_to_best(best)
    # t0 and u are alike, so that three tools solve all there is
    assert best["size"].value_counts().to_dict() == {1: 4, 2: 5, 3: 2, 4: 1}
    assert kept["size"].tolist() == [1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 4]
    lone = parallel.best_portfolios(
        solved_by([("a", 0), ("a", 1), ("b", 1)]), list("abc"), is_shared=False
    )
    assert lone["n_optima"].tolist() == [1, 2, 2, 1]
    assert parallel.up_to_best(lone)["size"].tolist() == [1, 2, 3]
