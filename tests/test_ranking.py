import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from vnnanalysis import ranking
from vnnanalysis.bootstrap import Replicates
from vnnanalysis.terms import Design


def replicates_of(scores, tools="abc"):
    """Return replicates with the given scores, ranked as scipy does."""
    scores = np.array(scores, float)
    ranks = stats.rankdata(-scores, axis=1, method="min").astype(int)
    nobody, of = np.zeros(len(tools), bool), ({"own": scores}, {"own": ranks}, {"own": None})
    return Replicates("main", Design.INSTANCES, tuple(tools), nobody, *of)


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(5)
    return replicates_of(np.round(rng.normal([3.0, 2.5, 0.0], 1.0, (2_000, 3)), 1))


def test_intervals_are_percentiles(noisy):
    table = ranking.intervals(noisy, "own").set_index("tool")
    for i, tool in enumerate("abc"):
        ranks, scores = sorted(noisy.ranks["own"][:, i]), sorted(noisy.scores["own"][:, i])
        # 2,000 replicates: the 50th and the 1,950th in ascending order
        assert table.loc[tool, ["rank_low", "rank_high"]].tolist() == [ranks[49], ranks[1949]]
        assert table.loc[tool, ["score_low", "score_high"]].tolist() == [scores[49], scores[1949]]
        best = noisy.scores["own"].max(axis=1)
        assert table.loc[tool, "p_first"] == (noisy.scores["own"][:, i] == best).mean()
    assert table["p_first"].sum() > 1  # shared first places count for each


def test_p_above_and_its_reverse(noisy):
    matrix = ranking.p_above(noisy, "own")
    assert np.isnan(np.diag(matrix)).all()
    scores = pd.DataFrame(noisy.scores["own"], columns=list("abc"))
    for tool, other in itertools.permutations("abc", 2):
        equal = (scores[tool] == scores[other]).mean()
        assert matrix.loc[tool, other] == (scores[tool] > scores[other]).mean()
        assert matrix.loc[tool, other] + matrix.loc[other, tool] + equal == pytest.approx(1)


def test_scores_that_differ_by_rounding_are_equal():
    scores = [[0.1 + 0.2, 0.3, 0.0]] * 10
    assert ranking.p_above(replicates_of(scores), "own").loc["a", "b"] == 0
    assert ranking.pair_tests(replicates_of(scores), "own", "ab")["p_value"].tolist() == [1.0]


def test_pair_tests_by_hand():
    scores = [[2, 1, 0]] * 98 + [[1, 2, 0], [1, 1, 0]]
    pairs = ranking.pair_tests(replicates_of(scores), "own", "abc").set_index(["tool", "other"])
    # a is not above b in 2 of 100 replicates, one of them a tie
    assert pairs.loc[("a", "b"), "p_above"] == 0.98
    assert pairs.loc[("a", "b"), "p_below"] == 0.01
    assert pairs.loc[("a", "b"), "p_value"] == pytest.approx(2 * 3 / 101)
    assert pairs.loc[("a", "c"), "p_value"] == pytest.approx(2 / 101)
    # Holm: the smallest times 3, then times 2, never less than the one before
    assert pairs["p_holm"].tolist() == pytest.approx([6 / 101, 6 / 101, 6 / 101])


def test_interval_ends_of_forty_replicates():
    scores = np.column_stack([np.arange(40.0), np.full(40, 20.0)])
    table = ranking.intervals(replicates_of(scores, "ab"), "own").set_index("tool")
    # 2.5 and 97.5 percent of 40 are the first and the 39th
    assert table.loc["a", ["score_low", "score_high"]].tolist() == [0, 38]
    assert table.loc["a", ["rank_low", "rank_high"]].tolist() == [1, 2]
    assert table.loc["a", "p_first"] == 20 / 40  # 20 is a tie: first for both


def test_pairs_are_above_by_time_where_rules_break_ties_so():
    plain = replicates_of([[1.0, 1.0]] * 40, "ab")
    timed = dataclasses.replace(plain, seconds={"own": np.array([[2.0, 3.0]] * 40)})
    assert ranking.p_above(plain, "own").loc["a", "b"] == 0
    assert ranking.p_above(timed, "own").loc["a", "b"] == 1
    assert ranking.pair_tests(timed, "own", "ab")["p_below"].tolist() == [0]


def test_swaps_are_strict_reversals():
    level = VARIANTS.assign(score=VARIANTS["score"].mask(VARIANTS["tool"] == "b", 200.0))
    pairs = {tuple(p) for p in ranking.swaps(level)[["tool", "other"]].to_numpy()}
    # a has 300, 200 and 100 to b's 200 each time; c has 100, 100 and 150
    assert pairs == {("a", "b"), ("a", "c")}


def test_tau_is_b():
    """With ties in the ranks: (P - Q) / sqrt((P + Q + T)(P + Q + U))."""
    ranks = {"one": (1, 2, 2, 4), "two": (1, 3, 2, 4)}
    rows = [
        (variant, "voting", "main", rank, tool, 0.0)
        for variant, of in ranks.items() for tool, rank in zip("abcd", of, strict=True)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=VARIANTS.columns)
    bounds = pd.DataFrame(columns=["track", "tool", "rank_low", "rank_high"])
    summary = ranking.variant_summary(ranking.rank_shifts(frame, "one / voting", bounds))
    assert summary["kendall_tau"].tolist() == pytest.approx([1, 5 / np.sqrt(5 * 6)])


def test_holm_is_the_step_down_of_its_definition():
    rng = np.random.default_rng(1)
    p_values = pd.Series(rng.random(12) ** 3)
    order, running, expected = p_values.sort_values().index, 0.0, {}
    for step, i in enumerate(order):
        running = max(running, min(1.0, p_values[i] * (12 - step)))
        expected[i] = running
    assert ranking.holm(p_values).tolist() == pytest.approx([expected[i] for i in range(12)])
    assert len(ranking.holm(pd.Series(dtype=float))) == 0


@pytest.mark.parametrize("seed", range(20))
def test_tie_groups_agree_with_the_p_values(seed):
    """Two tools share a group, and a letter, if and only if they cannot be told apart."""
    rng = np.random.default_rng(seed)
    tools = list("abcdefg")
    upper = np.triu(rng.random((7, 7)) < 0.35, 1)
    p_values = pd.DataFrame(np.where(upper | upper.T, 0.01, 0.5), tools, tools)
    groups = ranking.tie_groups(tools, p_values)
    subsets = [
        list(subset) for n in range(1, 8) for subset in itertools.combinations(tools, n)
        if all(p_values.loc[a, b] >= 0.05 for a, b in itertools.combinations(subset, 2))
    ]  # fmt: skip
    maximal = [s for s in subsets if not any(set(s) < set(other) for other in subsets)]
    assert groups == sorted(maximal)
    letters = ranking.group_letters(groups)
    for a, b in itertools.combinations(tools, 2):
        shared = set(letters[a]) & set(letters[b])
        assert bool(shared) == (p_values.loc[a, b] >= 0.05)


VARIANTS = pd.DataFrame(
    [
        ("single", "voting", "main", 1, "a", 300.0),
        ("single", "voting", "main", 2, "b", 200.0),
        ("single", "voting", "main", 3, "c", 100.0),
        ("multi", "voting", "main", 2, "a", 200.0),
        ("multi", "voting", "main", 1, "b", 250.0),
        ("multi", "voting", "main", 3, "c", 100.0),
        ("none", "voting", "main", 3, "a", 100.0),
        ("none", "voting", "main", 1, "b", 300.0),
        ("none", "voting", "main", 2, "c", 150.0),
    ],
    columns=["overhead", "conflicts", "track", "rank", "tool", "score"],
)
BOUNDS = pd.DataFrame(
    {"track": "main", "tool": list("abc"), "rank_low": [1, 1, 3], "rank_high": [2, 2, 3]}
)


def test_every_group_has_a_letter_of_its_own():
    groups = [[f"t{k}", f"t{k + 1}"] for k in range(80)]
    letters = ranking.group_letters(groups)
    assert [len(letters[f"t{k}"]) for k in (0, 1, 79, 80)] == [1, 2, 2, 1]
    assert len(set("".join(letters.values()))) == 80


def test_rank_shifts_and_their_summary():
    shifts = ranking.rank_shifts(VARIANTS, "single / voting", BOUNDS)
    wide = shifts.pivot_table(index="variant", columns="tool", values="shift", sort=False)
    assert wide.loc["multi / voting"].tolist() == [1, -1, 0]
    assert wide.loc["none / voting"].tolist() == [2, -1, -1]
    out = shifts[shifts["exceeds"]]
    assert out[["variant", "tool"]].to_numpy().tolist() == [
        ["none / voting", "a"],
        ["none / voting", "c"],
    ]
    summary = ranking.variant_summary(shifts).set_index("variant")
    # of three pairs one is turned round, then two
    assert summary["kendall_tau"].tolist() == pytest.approx([1, 1 / 3, -1 / 3])
    assert summary["largest_shift"].tolist() == [0, 1, 2]
    assert summary["moved"].tolist() == ["", "a, b", "a"]
    assert summary["exceeding"].tolist() == ["", "", "a, c"]


def test_a_single_tool_has_no_tau():
    one = VARIANTS[VARIANTS["tool"] == "a"].assign(rank=1)
    summary = ranking.variant_summary(ranking.rank_shifts(one, "single / voting", BOUNDS))
    assert summary["kendall_tau"].isna().all()
    assert (summary["largest_shift"] == 0).all()


def test_verdict_flips(invented):
    from vnnanalysis.judging import judge

    rules = [invented.edition.rules.with_settings({"conflicts": c}) for c in ("voting", "ignore")]
    judged = {str(r.conflicts): judge(invented.runs, invented.edition, r) for r in rules}
    flips = ranking.verdict_flips(judged)
    both = [
        frame.set_index(["benchmark", "instance", "tool"])["verdict"] for frame in judged.values()
    ]
    differ = both[0].index[both[0] != both[1]]
    keys = flips.set_index(["benchmark", "instance", "tool"])
    assert set(keys.index) == set(differ)
    assert len(flips) > 0
    assert keys.loc[differ, "voting"].tolist() == both[0][differ].tolist()
    assert keys.loc[differ, "ignore"].tolist() == both[1][differ].tolist()
    counts = ranking.flip_counts(flips).set_index("tool")
    assert counts["flips"].to_dict() == flips["tool"].value_counts().to_dict()
    wrong = flips[flips["voting"] == "incorrect"]["tool"].value_counts()
    mine = counts.loc[counts["incorrect / voting"] > 0, "incorrect / voting"]
    assert mine.to_dict() == wrong.to_dict()
    same = ranking.verdict_flips({"one": judged["voting"], "two": judged["voting"]})
    assert same.empty
    assert ranking.flip_counts(same).empty
