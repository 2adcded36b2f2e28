import itertools

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from conftest import contest_of_year
from scipy import stats

from vnnanalysis.analysis import analyse
from vnnanalysis.significance import (
    percent_blocks,
    rank_test_table,
    rank_tests,
    signed_rank_p,
    wilcoxon_holm,
)
from vnnanalysis.terms import Missing


def by_enumeration(differences):
    """Wilcoxon's p value from all sign flips, ranks of zeros split."""
    ranks = stats.rankdata(np.abs(differences))
    fixed = ranks[differences == 0].sum() / 2
    free = ranks[differences != 0]
    sums = np.array([
        fixed + sum(r for r, up in zip(free, ups, strict=True) if up)
        for ups in itertools.product((False, True), repeat=len(free))
    ])  # fmt: skip
    real = fixed + ranks[differences > 0].sum()
    return min(1.0, 2 * min((sums <= real).mean(), (sums >= real).mean()))


@pytest.mark.parametrize("seed", range(25))
def test_signed_rank_is_the_enumeration_of_signs(seed):
    rng = np.random.default_rng(seed)
    differences = rng.integers(-3, 5, rng.integers(1, 10)).astype(float)
    assert signed_rank_p(differences) == pytest.approx(by_enumeration(differences))


def test_signed_rank_without_ties_is_scipys():
    rng = np.random.default_rng(0)
    for n in (5, 20, 40):
        differences = rng.normal(0.4, 1, n)
        assert signed_rank_p(differences) == pytest.approx(stats.wilcoxon(differences).pvalue)
    assert signed_rank_p(np.zeros(4)) == 1.0


@pytest.fixture(scope="module")
def blocks():
    rng = np.random.default_rng(2)
    percents = rng.normal([90, 80, 70, 40, 35], 12, (14, 5))
    return pd.DataFrame(percents, columns=list("abcde"))


def test_friedman_and_nemenyi_from_their_definitions(blocks):
    tests = rank_tests(blocks)
    n, k = blocks.shape
    ranks = np.array([stats.rankdata(-row) for row in blocks.to_numpy()])
    means = ranks.mean(axis=0)
    assert tests.mean_ranks[list("abcde")].tolist() == pytest.approx(means.tolist())
    assert tests.mean_ranks.is_monotonic_increasing
    # Demsar (2006), equations of sections 3.2.2: no ties here
    chi2 = 12 * n / (k * (k + 1)) * ((means**2).sum() - k * (k + 1) ** 2 / 4)
    assert tests.friedman_p == pytest.approx(stats.chi2.sf(chi2, k - 1))
    for (i, a), (j, b) in itertools.combinations(enumerate("abcde"), 2):
        q = abs(means[i] - means[j]) / np.sqrt(k * (k + 1) / (6 * n))
        p_value = stats.studentized_range.sf(q * np.sqrt(2), k, np.inf)
        assert tests.nemenyi.loc[a, b] == tests.nemenyi.loc[b, a] == pytest.approx(p_value)
        # the critical difference and the p values say the same
        far = abs(means[i] - means[j]) > tests.critical_difference
        assert far == (p_value < 0.05)
    # q for five tools at 5 percent is 2.728: Demsar (2006), Table 5
    assert tests.critical_difference == pytest.approx(2.728 * np.sqrt(30 / (6 * n)), abs=2e-3)


def test_the_groups_agree_with_the_p_values(blocks):
    tests = rank_tests(blocks)
    order = list(tests.mean_ranks.index)
    for groups, p_values in (
        (tests.nemenyi_groups, tests.nemenyi),
        (tests.wilcoxon_groups, tests.wilcoxon),
    ):
        together = {frozenset(pair) for g in groups for pair in itertools.combinations(g, 2)}
        for a, b in itertools.combinations(order, 2):
            assert (frozenset((a, b)) in together) == (p_values.loc[a, b] >= 0.05)
        assert any(len(group) > 1 for group in groups)
        assert len(groups) > 1


@pytest.mark.parametrize("test", ["nemenyi", "wilcoxon"])
def test_cliques_are_the_librarys(blocks, test):
    tests = rank_tests(blocks)
    p_values = getattr(tests, test)
    alike = (p_values >= 0.05).astype(int).to_numpy().copy()
    np.fill_diagonal(alike, 0)
    adjacent = pd.DataFrame(alike, p_values.index, p_values.columns)
    cliques = scikit_posthocs._plotting._find_maximal_cliques(adjacent)
    assert {frozenset(c) for c in cliques} == {
        frozenset(g) for g in getattr(tests, f"{test}_groups")
    }


def test_wilcoxon_is_the_librarys(blocks):
    ours = wilcoxon_holm(blocks)
    theirs = scikit_posthocs.posthoc_wilcoxon(blocks.T.to_numpy(), p_adjust="holm")
    assert ours.to_numpy().tolist() == [pytest.approx(row) for row in theirs.to_numpy().tolist()]


def test_too_few_to_test():
    assert rank_tests(pd.DataFrame({"a": [1.0], "b": [2.0]})) is None
    assert rank_tests(pd.DataFrame({"a": [1.0, 2.0]})) is None
    assert rank_tests(pd.DataFrame(columns=list("abc"), dtype=float)) is None
    two = rank_tests(pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]}))
    assert np.isnan(two.friedman_p)
    assert two.mean_ranks.to_dict() == {"a": 1, "b": 2}
    alike = rank_tests(pd.DataFrame(50.0, index=range(4), columns=list("abc")))
    assert alike.friedman_p == 1
    assert alike.nemenyi_groups == alike.wilcoxon_groups == [["a", "b", "c"]]
    assert (alike.wilcoxon.to_numpy() == 1).all()


def test_blocks_in_both_readings(contest_2021):
    analysis = analyse(contest_2021, contest_2021.edition.rules)
    edition, tools = analysis.edition, analysis.tools
    zero = percent_blocks(analysis.scores, edition, "main", tools, Missing.ZERO)
    common = percent_blocks(analysis.scores, edition, "main", tools, Missing.COMMON)
    assert zero.shape == (8, 13)  # cifar2020 is not scored
    assert len(common) == 1
    overall = analysis.overall.set_index("tool")["score"]
    assert zero.sum().to_dict() == pytest.approx(overall[list(tools)].to_dict())
    pair = percent_blocks(analysis.scores, edition, "main", ["ERAN", "oval"], Missing.COMMON)
    took_part = analysis.scores[analysis.scores["benchmark"].isin(edition.scored)]
    names = [set(took_part.loc[took_part["tool"] == t, "benchmark"]) for t in ("ERAN", "oval")]
    assert set(pair.index) == names[0] & names[1]


def test_real_groups_of_2025():
    contest = contest_of_year("2025")
    analysis = analyse(contest, contest.edition.rules)
    tools = list(analysis.overall.loc[analysis.overall["track"] == "regular", "tool"])
    blocks = percent_blocks(analysis.scores, analysis.edition, "regular", tools, Missing.ZERO)
    tests = rank_tests(blocks)
    table = rank_test_table(tests)
    assert len(table) == 21
    assert (table["rank_difference"] >= 0).all()
    by_distance = table["rank_difference"] > tests.critical_difference
    assert by_distance.tolist() == (table["nemenyi_p"] < 0.05).tolist()
    apart = {
        frozenset(p) for p in table.loc[table["nemenyi_p"] < 0.05, ["tool", "other"]].to_numpy()
    }
    inside = {frozenset(p) for g in tests.nemenyi_groups for p in itertools.combinations(g, 2)}
    assert not apart & inside
    assert apart | inside == {frozenset(p) for p in itertools.combinations(tools, 2)}


def test_percents_that_differ_by_rounding_are_ties():
    third = 100 / 3
    blocks = pd.DataFrame(
        {"a": [third, 60.0, 70.0, 80.0], "b": [100 - 2 * third, 50.0, 60.0, 90.0]}
    )
    exact = blocks.assign(a=[50.0, 60.0, 70.0, 80.0], b=[50.0, 50.0, 60.0, 90.0])
    assert wilcoxon_holm(blocks).loc["a", "b"] == wilcoxon_holm(exact).loc["a", "b"]
