"""Tests of a ranking over benchmarks: Friedman, Nemenyi, Wilcoxon with Holm's correction.

Each benchmark is a block, a tool's percent there its measurement (Demsar, "Statistical
Comparisons of Classifiers over Multiple Data Sets", JMLR 2006).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from vnnanalysis.editions import Edition
from vnnanalysis.ranking import LEVEL, holm, symmetric, tie_groups
from vnnanalysis.terms import Missing


@dataclass(frozen=True)
class RankTests:
    """What tests over benchmarks say of some tools.

    Attributes
    ----------
    n_blocks : int
        Benchmarks.
    mean_ranks : Series of float, shape (n_tools,)
        Mean rank over the benchmarks, best first; equal percents share the mean of their
        ranks.
    friedman_p : float
        Of the hypothesis that all tools are alike; missing for two tools.
    nemenyi, wilcoxon : DataFrame of float, shape (n_tools, n_tools)
        p values of the pairs: by Nemenyi's test of mean ranks; by Wilcoxon's signed-rank test
        (zero differences split), with Holm's correction.
    critical_difference : float
        Mean ranks that differ by more differ by Nemenyi's test.
    """

    n_blocks: int
    mean_ranks: pd.Series
    friedman_p: float
    nemenyi: pd.DataFrame
    wilcoxon: pd.DataFrame
    critical_difference: float

    @property
    def nemenyi_groups(self) -> list[list[str]]:
        """Tools that Nemenyi's test cannot tell apart, by mean rank."""
        return tie_groups(list(self.mean_ranks.index), self.nemenyi)

    @property
    def wilcoxon_groups(self) -> list[list[str]]:
        """Tools that Wilcoxon's test cannot tell apart, by mean rank."""
        return tie_groups(list(self.mean_ranks.index), self.wilcoxon)


def percent_blocks(
    scores: pd.DataFrame, edition: Edition, track: str, tools: Sequence[str], missing: Missing
) -> pd.DataFrame:
    """Return the percents of some tools on the scored benchmarks of a track.

    Parameters
    ----------
    scores : DataFrame
        From `scoring.benchmark_scores`.
    edition : Edition
        For the scored benchmarks.
    track : str
        The track.
    tools : sequence of str
        The tools to compare.
    missing : Missing
        What a benchmark counts that a tool did not take part in: 0 for the tool, or nothing.

    Returns
    -------
    DataFrame of float, shape (n_benchmarks, n_tools)
    """
    rows = scores[(scores["track"] == track) & scores["benchmark"].isin(edition.scored)]
    blocks = rows.pivot_table(index="benchmark", columns="tool", values="percent")
    order = [b for b in edition.benchmarks if b in blocks.index]
    blocks = blocks.reindex(index=order, columns=list(tools))
    return blocks.dropna() if missing is Missing.COMMON else blocks.fillna(0.0)


def rank_tests(blocks: pd.DataFrame) -> RankTests | None:
    """Test whether tools differ over benchmarks.

    Parameters
    ----------
    blocks : DataFrame of float, shape (n_benchmarks, n_tools)
        From `percent_blocks`; more is better.

    Returns
    -------
    RankTests or None
        None with fewer than two tools or two benchmarks, which no test is made for.
    """
    import scikit_posthocs
    from scipy import stats

    n_blocks, n_tools = blocks.shape
    if n_blocks < 2 or n_tools < 2:
        return None
    ranks = (-blocks).rank(axis="columns", method="average")
    mean_ranks = ranks.mean().sort_values(kind="stable")
    friedman = np.nan
    if n_tools > 2:
        alike = (ranks.max(axis="columns") == ranks.min(axis="columns")).all()
        columns = [blocks[tool].to_numpy() for tool in blocks]
        friedman = 1.0 if alike else float(stats.friedmanchisquare(*columns).pvalue)
    nemenyi = scikit_posthocs.posthoc_nemenyi_friedman(blocks.to_numpy(float))
    tools = list(blocks.columns)
    q = stats.studentized_range.ppf(1 - LEVEL, n_tools, np.inf) / np.sqrt(2)
    return RankTests(
        n_blocks,
        mean_ranks,
        friedman,
        pd.DataFrame(nemenyi.to_numpy(), index=tools, columns=tools),
        wilcoxon_holm(blocks),
        float(q * np.sqrt(n_tools * (n_tools + 1) / (6 * n_blocks))),
    )


def signed_rank_p(differences: np.ndarray) -> float:
    """Return the exact two-sided p value of Wilcoxon's signed-rank test.

    Ties share the mean of their ranks, and the ranks of zero differences are split evenly
    between both signs (scipy's ``zsplit``). scipy is exact with ties up to 13 differences
    only, and enumerates the signs; here the distribution of the rank sum is a product of
    polynomials.

    Parameters
    ----------
    differences : ndarray of float, shape (n,)

    Examples
    --------
    >>> signed_rank_p(np.array([1.0, 2.0, 3.0, 4.0]))
    0.125
    """
    from scipy import stats

    doubled = np.rint(2 * stats.rankdata(np.abs(differences))).astype(int)
    ways = np.ones(1)
    for rank in doubled[differences != 0]:
        more = np.zeros(len(ways) + rank)
        more[: len(ways)] += 0.5 * ways
        more[rank:] += 0.5 * ways
        ways = more
    positive = doubled[differences > 0].sum()
    return float(min(1.0, 2 * min(ways[: positive + 1].sum(), ways[positive:].sum())))


def wilcoxon_holm(blocks: pd.DataFrame) -> pd.DataFrame:
    """Return the p values of Wilcoxon's signed-rank test of every pair, Holm-corrected.

    Parameters
    ----------
    blocks : DataFrame of float, shape (n_benchmarks, n_tools)

    Returns
    -------
    DataFrame of float, shape (n_tools, n_tools)
        Symmetric, 1 on the diagonal.
    """
    rows = []
    for tool, other in itertools.combinations(blocks.columns, 2):
        differences = (blocks[tool] - blocks[other]).to_numpy().round(9)  # equal ones are ties
        rows.append((tool, other, signed_rank_p(differences)))
    pairs = pd.DataFrame(rows, columns=["tool", "other", "p"])
    return symmetric(pairs.assign(p=holm(pairs["p"])), "p", list(blocks.columns))


def rank_test_table(tests: RankTests) -> pd.DataFrame:
    """Put the tests of every pair into one table.

    Returns
    -------
    DataFrame
        Columns tool, other (of lower mean rank first), rank_difference, nemenyi_p,
        wilcoxon_p.
    """
    rows = []
    for tool, other in itertools.combinations(tests.mean_ranks.index, 2):
        difference = tests.mean_ranks[other] - tests.mean_ranks[tool]
        p_values = tests.nemenyi.loc[tool, other], tests.wilcoxon.loc[tool, other]
        rows.append((tool, other, difference, *p_values))
    columns = ["tool", "other", "rank_difference", "nemenyi_p", "wilcoxon_p"]
    return pd.DataFrame(rows, columns=columns)
