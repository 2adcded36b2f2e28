"""Rule sensitivity: the ranking under every variant of the rules, side by side."""

import itertools

import pandas as pd


def setting_names(variants: pd.DataFrame) -> list[str]:
    """Return the names of the switches in a frame of `scoring.variants`."""
    return list(variants.columns[: variants.columns.get_loc("track")])


def _named(variants: pd.DataFrame) -> pd.DataFrame:
    """Add a column variant: the settings in one string, ``single / voting``."""
    settings = variants[setting_names(variants)]
    return variants.assign(variant=settings.agg(" / ".join, axis="columns"))


def swaps(variants: pd.DataFrame) -> pd.DataFrame:
    """List the pairs of tools whose order depends on the rules.

    Parameters
    ----------
    variants : DataFrame
        From `scoring.variants`: the settings, track, rank, tool, score.

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
