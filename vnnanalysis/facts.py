"""What the LaTeX report says: its paragraphs, macros and tables of variants."""

from typing import Any

import pandas as pd

from vnnanalysis import __version__
from vnnanalysis.analysis import Analysis, analyse_variants, side_by_side
from vnnanalysis.disputes import dispute_list, judge_by_policy
from vnnanalysis.editions import STATISTICS
from vnnanalysis.macros import macros
from vnnanalysis.portfolio import complementarity
from vnnanalysis.scoring import statistics
from vnnanalysis.summary import (
    caveats,
    checks_in_words,
    complementarity_sentences,
    conflict_sentences,
    headline,
    rules_in_words,
    sizes_in_words,
    swap_sentences,
    variant_caveats,
)
from vnnanalysis.witness_tables import validation_in_words


def report_facts(analysis: Analysis) -> dict[str, Any]:
    """Collect what the templates of the LaTeX report use beside tables and figures.

    Returns
    -------
    dict
        ``texts``: paragraphs (lists of sentences) by name; ``macros``; ``variants``: for each
        track the overall scores under every rule variant, in words and as rows; ``tracks``;
        ``statistics``; ``version``.
    """
    edition = analysis.edition
    variants = analyse_variants(analysis)
    by_policy = judge_by_policy(analysis.contest, analysis.rules, analysis.benchmarks)
    disputed = dispute_list(by_policy, edition)
    adds = complementarity(analysis.judged, analysis.tools)
    texts = _texts(analysis, side_by_side(variants), disputed, adds)
    tracks = list(dict.fromkeys(analysis.overall["track"]))
    numbers = macros(
        analysis,
        statistics=statistics(analysis.scores, analysis.overhead, edition),
        variants=variants,
        adds=adds,
        disputed=disputed,
        texts=texts,
    )
    compared = {
        track: [(_in_words(chosen), _rows(variant, track)) for chosen, variant in variants]
        for track in tracks
    }
    return {
        "version": __version__,
        "statistics": list(STATISTICS),
        "tracks": tracks,
        "texts": texts,
        "macros": numbers,
        "variants": compared,
    }


def _texts(
    analysis: Analysis, compared: pd.DataFrame, disputed: pd.DataFrame, adds: pd.DataFrame
) -> dict[str, list[str]]:
    """Collect the sentences of every paragraph."""
    edition, judged, rules = analysis.edition, analysis.judged, analysis.rules
    checks = analysis.contest.checks
    return {
        "sizes": sizes_in_words(judged, edition),
        "rules": rules_in_words(rules, edition),
        "checks": [
            *checks_in_words(judged, rules),
            *validation_in_words(analysis.contest, analysis.benchmarks),
            *caveats(judged, checks, rules),
        ],
        "headline": headline(analysis.overall, edition),
        "swaps": [*swap_sentences(compared, edition), *variant_caveats(compared, checks, rules)],
        "conflicts": conflict_sentences(disputed, judged, edition),
        "complementarity": complementarity_sentences(adds, edition),
    }


def _in_words(chosen: dict[str, str]) -> str:
    """Name a variant: ``overhead single, conflicts voting``."""
    return ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in chosen.items())


def _rows(variant: Analysis, track: str) -> list[tuple[int, str, float]]:
    rows = variant.overall[variant.overall["track"] == track]
    return list(zip(rows["rank"], rows["tool"], rows["score"], strict=True))
