"""What a ranking hangs on: the rules, side by side, and the choice of instances."""

import itertools
import string
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from vnnanalysis.bootstrap import Replicates
from vnnanalysis.terms import Verdict

LEVEL = 0.05  # of tests; intervals are of 1 - LEVEL


def setting_names(variants: pd.DataFrame) -> list[str]:
    """Return the names of the switches in a frame of `analysis.compare_variants`."""
    return list(variants.columns[: variants.columns.get_loc("track")])


def variant_name(settings: Mapping[str, str]) -> str:
    """Name a variant by its settings: ``single / voting``."""
    return " / ".join(settings.values())


def named_variants(variants: pd.DataFrame) -> pd.Series:
    """Return the name of each row's variant in a frame of `analysis.compare_variants`."""
    settings = variants[setting_names(variants)].to_numpy()
    return pd.Series([" / ".join(row) for row in settings], variants.index, dtype="str")


def _named(variants: pd.DataFrame) -> pd.DataFrame:
    """Add a column variant."""
    return variants.assign(variant=named_variants(variants))


def swaps(variants: pd.DataFrame) -> pd.DataFrame:
    """List the pairs of tools whose order depends on the rules.

    Parameters
    ----------
    variants : DataFrame
        From `analysis.compare_variants`: the settings, track, rank, tool, score.

    Returns
    -------
    DataFrame
        Columns track, tool, other, ahead and behind: the variants in which `tool` is ahead
        of `other`, and those in which it is behind. Pairs with the best rank first.
    """
    named = _named(variants) if len(variants) else variants
    rows = []
    for track, part in named.groupby("track", sort=False):
        scores = part.pivot_table(index="variant", columns="tool", values="score", sort=False)
        best = part.groupby("tool")["rank"].min().sort_values(kind="stable")
        for tool, other in itertools.combinations(best.index, 2):
            ahead = scores.index[scores[tool] > scores[other]]
            behind = scores.index[scores[tool] < scores[other]]
            if len(ahead) and len(behind):
                rows.append((track, tool, other, "; ".join(ahead), "; ".join(behind)))
    return pd.DataFrame(rows, columns=["track", "tool", "other", "ahead", "behind"])


def rank_table(variants: pd.DataFrame) -> pd.DataFrame:
    """Put the variants side by side.

    Returns
    -------
    DataFrame
        Columns track (if there are several), tool, one score column per variant
        ("single / voting", ...), best_rank and worst_rank; in the order of the first variant.
    """
    if variants.empty:
        return pd.DataFrame(columns=["tool", "best_rank", "worst_rank"])
    named = _named(variants)
    scores = named.pivot_table(
        index=["track", "tool"], columns="variant", values="score", sort=False
    )
    ranks = named.groupby(["track", "tool"])["rank"].agg(best_rank="min", worst_rank="max")
    table = scores.join(ranks).reset_index()
    return table if len(set(table["track"])) > 1 else table.drop(columns="track")


def ranks_by_variant(variants: pd.DataFrame, track: str) -> pd.DataFrame:
    """Return ranks, a row per tool and a column per variant, for `figures.bump`."""
    named = _named(variants[variants["track"] == track])
    ranks = named.pivot_table(index="tool", columns="variant", values="rank", sort=False)
    return ranks.astype(int)


def rank_shifts(variants: pd.DataFrame, own: str, intervals: pd.DataFrame) -> pd.DataFrame:
    """Return how far each variant of the rules moves each tool.

    Parameters
    ----------
    variants : DataFrame
        From `analysis.compare_variants`: the settings, track, rank, tool, score.
    own : str
        The variant to compare with, which is among them.
    intervals : DataFrame
        Rank intervals under that variant: columns track, tool, rank_low, rank_high.

    Returns
    -------
    DataFrame
        Columns track, variant, tool, rank, shift (places lost, negative if gained) and
        exceeds: whether the rank is outside the interval, so that the rules matter more
        than the choice of instances.
    """
    named = _named(variants)[["track", "variant", "tool", "rank"]]
    base = named[named["variant"] == own].set_index(["track", "tool"])["rank"].rename("own")
    table = named.join(base, on=["track", "tool"], validate="many_to_one")
    bounds = intervals.set_index(["track", "tool"])[["rank_low", "rank_high"]].astype(float)
    table = table.join(bounds, on=["track", "tool"], validate="many_to_one")
    outside = (table["rank"] < table["rank_low"]) | (table["rank"] > table["rank_high"])
    table = table.assign(shift=table["rank"] - table["own"], exceeds=outside)
    table = table.dropna(subset=["shift"]).astype({"shift": int})
    return table[["track", "variant", "tool", "rank", "shift", "exceeds"]].reset_index(drop=True)


def variant_summary(shifts: pd.DataFrame) -> pd.DataFrame:
    """Sum up for each variant how much it changes the ranking.

    Parameters
    ----------
    shifts : DataFrame
        From `rank_shifts`.

    Returns
    -------
    DataFrame
        Columns track, variant, kendall_tau (tau-b, of the ranks with those of the variant
        compared with), largest_shift (places, either way), moved (tools that move most) and
        exceeding (tools that move out of their rank interval); none: empty.
    """
    from scipy import stats

    rows = []
    for (track, variant), part in shifts.groupby(["track", "variant"], sort=False):
        ranks = part["rank"].to_numpy(), (part["rank"] - part["shift"]).to_numpy()
        constant = any(len(set(values)) < 2 for values in ranks)
        tau = np.nan if constant else float(stats.kendalltau(*ranks).statistic)
        largest = int(part["shift"].abs().max())
        most = part.loc[(part["shift"].abs() == largest) & (largest > 0), "tool"]
        out = part.loc[part["exceeds"], "tool"]
        rows.append((track, variant, tau, largest, ", ".join(most), ", ".join(out)))
    columns = ["track", "variant", "kendall_tau", "largest_shift", "moved", "exceeding"]
    return pd.DataFrame(rows, columns=columns)


def verdict_flips(judged: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """List the answers whose verdict depends on the rules.

    Parameters
    ----------
    judged : mapping of str to DataFrame
        By variant, from `judging.judge`, of the same runs.

    Returns
    -------
    DataFrame
        Columns benchmark, index, instance, tool and one per variant: its verdict.
    """
    keys = ["benchmark", "index", "instance", "tool"]
    first = next(iter(judged.values()))
    table = first[[*keys, "result"]].reset_index(drop=True)
    for variant, rows in judged.items():
        table = table.merge(
            rows[[*keys, "verdict"]].rename(columns={"verdict": variant}),
            how="left", on=keys, validate="one_to_one",
        )  # fmt: skip
    verdicts = table[list(judged)]
    differs = verdicts.ne(verdicts.iloc[:, 0], axis="index").any(axis="columns")
    return table[differs].reset_index(drop=True)


def flip_counts(flips: pd.DataFrame) -> pd.DataFrame:
    """Count a tool's answers whose verdict depends on the rules, and which are incorrect.

    Parameters
    ----------
    flips : DataFrame
        From `verdict_flips`.

    Returns
    -------
    DataFrame
        Columns tool, flips and one per variant, "incorrect / single, voting": how many of
        them it makes incorrect. Most flips first.
    """
    variants = list(flips.columns[flips.columns.get_loc("result") + 1 :])
    counts = {"flips": flips.groupby("tool", sort=False).size()}
    for variant in variants:
        wrong = flips[flips[variant] == Verdict.INCORRECT]
        counts[f"incorrect / {variant.replace(' / ', ', ')}"] = wrong.groupby("tool").size()
    table = pd.DataFrame(counts).rename_axis("tool").fillna(0).astype(int)
    return table.sort_values("flips", ascending=False, kind="stable").reset_index()


def intervals(replicates: Replicates, variant: str) -> pd.DataFrame:
    """Return the intervals of ranks and scores.

    Parameters
    ----------
    replicates : Replicates
        From `bootstrap.resample`.
    variant : str
        The rule variant.

    Returns
    -------
    DataFrame
        Columns tool, rank_low, rank_high, score_low, score_high (2.5 and 97.5 percent of the
        replicates; a rank's are ranks that occur) and p_first (share of the replicates in
        which the tool is first, a shared first place included).
    """
    ranks, scores = replicates.ranks[variant], replicates.scores[variant]
    at = [LEVEL / 2, 1 - LEVEL / 2]
    rank_low, rank_high = np.quantile(ranks, at, axis=0, method="inverted_cdf")
    score_low, score_high = np.quantile(scores, at, axis=0, method="inverted_cdf")
    return pd.DataFrame(
        {
            "tool": list(replicates.tools),
            "rank_low": rank_low.astype(int),
            "rank_high": rank_high.astype(int),
            "score_low": score_low,
            "score_high": score_high,
            "p_first": (ranks == 1).mean(axis=0),
        }
    )


def p_above(replicates: Replicates, variant: str) -> pd.DataFrame:
    """Return in which share of the replicates one tool is above another.

    That is, has a higher score, or an equal one and less run time where the rules say so.

    Returns
    -------
    DataFrame of float, shape (n_tools, n_tools)
        P(row above column); of equal ones neither is above, the diagonal is missing.
    """
    n = len(replicates.tools)
    matrix = np.full((n, n), np.nan)
    for i, j in itertools.permutations(range(n), 2):
        matrix[i, j] = replicates.ahead(variant, i, j).mean()
    tools = list(replicates.tools)
    return pd.DataFrame(matrix, index=tools, columns=tools)


def pair_tests(replicates: Replicates, variant: str, tools: Sequence[str]) -> pd.DataFrame:
    """Test for every pair of tools whether their order could be chance.

    The p value is twice the smaller share of replicates in which a tool is not above the
    other, counting the real one (2 * (n + 1) / (N + 1)), so that it can never be
    less than 2 / (N + 1). Holm's correction is over all pairs.

    Parameters
    ----------
    replicates : Replicates
        From `bootstrap.resample`.
    variant : str
        The rule variant.
    tools : sequence of str
        The tools to compare.

    Returns
    -------
    DataFrame
        Columns tool, other, p_above, p_below (shares of the replicates), p_value, p_holm.
    """
    place = {tool: i for i, tool in enumerate(replicates.tools)}
    rows = []
    for tool, other in itertools.combinations(tools, 2):
        above = replicates.ahead(variant, place[tool], place[other])
        below = replicates.ahead(variant, place[other], place[tool])
        n = min((~above).sum(), (~below).sum())
        p_value = min(1.0, 2 * (n + 1) / (len(above) + 1))
        rows.append((tool, other, above.mean(), below.mean(), p_value))
    table = pd.DataFrame(rows, columns=["tool", "other", "p_above", "p_below", "p_value"])
    return table.assign(p_holm=holm(table["p_value"]))


def holm(p_values: pd.Series) -> np.ndarray:
    """Correct p values for their number (Holm, 1979)."""
    from statsmodels.stats.multitest import multipletests

    if p_values.empty:
        return np.empty(0)
    return multipletests(p_values.to_numpy(float), method="holm")[1]


def tie_groups(
    order: Sequence[str], p_values: pd.DataFrame, level: float = LEVEL
) -> list[list[str]]:
    """Find the groups of tools that cannot be told apart.

    A group has no pair that differs significantly, and is as large as it can be: two tools are
    in a group together if, and only if, they cannot be told apart. Groups may leave out a
    tool between their members.

    Parameters
    ----------
    order : sequence of str
        The tools, best first.
    p_values : DataFrame of float, shape (n_tools, n_tools)
        Corrected p values of the pairs, symmetric.
    level : float
        A pair with a p value below differs.

    Returns
    -------
    list of list of str
        Maximal cliques, members and groups in the order of the tools.

    Examples
    --------
    >>> p = pd.DataFrame([[1, 0.5, 0.01], [0.5, 1, 0.2], [0.01, 0.2, 1]], list("abc"), list("abc"))
    >>> tie_groups("abc", p)
    [['a', 'b'], ['b', 'c']]
    """
    alike = p_values.loc[list(order), list(order)].to_numpy() >= level
    groups: list[set[int]] = [set()]
    for i in range(len(order)):
        joined = [{j for j in group if alike[i, j]} | {i} for group in groups]
        kept = [group for group in groups if not all(alike[i, j] for j in group)]
        found = {frozenset(group) for group in [*joined, *kept]}
        groups = [set(g) for g in found if not any(g < other for other in found)]
    ordered = sorted(sorted(group) for group in groups if group)
    return [[order[i] for i in group] for group in ordered]


def group_letters(groups: Sequence[Sequence[str]]) -> dict[str, str]:
    """Give every group a letter (a single character), and every tool those of its groups.

    Examples
    --------
    >>> group_letters([["x", "y"], ["y", "z"]])
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    letters: dict[str, str] = {}
    more = map(chr, itertools.count(ord("À")))  # where the alphabet is not enough
    for letter, group in zip(itertools.chain(string.ascii_letters, more), groups, strict=False):
        for tool in group:
            letters[tool] = letters.get(tool, "") + letter
    return letters


def symmetric(pairs: pd.DataFrame, column: str, tools: Sequence[str]) -> pd.DataFrame:
    """Turn a table of pairs (tool, other) into a symmetric matrix with 1 on the diagonal."""
    matrix = pd.DataFrame(1.0, index=list(tools), columns=list(tools))
    for tool, other, value in pairs[["tool", "other", column]].itertuples(index=False):
        matrix.loc[tool, other] = matrix.loc[other, tool] = value
    return matrix
