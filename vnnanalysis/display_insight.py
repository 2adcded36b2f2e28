"""What cells on complementarity and certainty end with: several tables and figures at once."""

from collections.abc import Callable, Sequence

import pandas as pd
from matplotlib.figure import Figure

from vnnanalysis.analysis import Analysis
from vnnanalysis.certainty import Certainty, Tested, above_matrix
from vnnanalysis.curves import normalised_cactus, portfolio_curve, quantile
from vnnanalysis.display import Shown, show_all, show_figure, show_table, show_text
from vnnanalysis.editions import Edition
from vnnanalysis.pair_figures import overlap_heatmap, ratio_scatter
from vnnanalysis.pairs import clustered, jaccard_matrix, pair_instances, spearman_matrix
from vnnanalysis.parallel import (
    best_portfolios,
    is_shareable,
    members,
    share_in_words,
    together,
    up_to_best,
)
from vnnanalysis.portfolio import READINGS
from vnnanalysis.rank_figures import critical_difference, probabilities
from vnnanalysis.significance import RankTests
from vnnanalysis.story import portfolio_sentences

Draw = Callable[[pd.DataFrame, Edition], Figure]


def show_tracks(
    analysis: Analysis, name: str, frame: pd.DataFrame, draw: Draw, caption: str
) -> None:
    """Show one figure for each value of a column track."""
    show_all(
        show_figure(
            analysis,
            f"{name}-{track}",
            draw(rows.drop(columns="track"), analysis.edition),
            f"{caption}, track {track}",
        )
        for track, rows in frame.groupby("track", sort=False)
    )


def show_above(certainty: Certainty, name: str, caption: str) -> None:
    """Show for each track how often one tool is above another."""
    analysis = certainty.analysis
    show_all(
        show_figure(
            analysis,
            f"{name}-{track}",
            probabilities(above_matrix(certainty, track), analysis.edition, caption),
            f"{caption}, track {track}; {certainty.words}",
        )
        for track in certainty.tracks
    )


def show_tests(certainty: Certainty, name: str, tested: Sequence[Tested]) -> None:
    """Show critical-difference diagrams: of each track, reading and test."""
    analysis = certainty.analysis
    show_all(
        show_figure(
            analysis,
            f"{name}-{test}-{track}-{missing}",
            _diagram(tests, test, analysis.edition),
            f"mean ranks on {tests.n_blocks} benchmarks, {_TESTS[test]}, "
            f"{READINGS[missing]}, track {track}",
        )
        for track, missing, _, tests in tested
        if tests is not None
        for test in _TESTS
    )


_TESTS = {
    "nemenyi": "a dot on a bar for each of the tools that Nemenyi's test cannot tell apart",
    "wilcoxon": "a dot on a bar for each of those that Wilcoxon's test (Holm) cannot tell apart",
}


def _diagram(tests: RankTests, test: str, edition: Edition) -> Figure:
    if test == "nemenyi":
        groups, distance = tests.nemenyi_groups, tests.critical_difference
        return critical_difference(tests.mean_ranks, groups, edition, "Nemenyi", distance)
    groups = tests.wilcoxon_groups
    return critical_difference(tests.mean_ranks, groups, edition, "Wilcoxon, Holm")


def show_overlap(analysis: Analysis, rows: pd.DataFrame, words: str) -> None:
    """Show how alike the tools are: in what they solve, and in how long they take."""
    for name, measure, caption in (
        (
            "jaccard",
            jaccard_matrix,
            "instances that both solve, as a share of those that either solves",
        ),
        ("spearman", spearman_matrix, "rank correlation of times on instances that both solve"),
    ):
        matrix = measure(rows, analysis.tools)
        order, linkage = clustered(matrix)
        figure = overlap_heatmap(matrix, order, linkage, analysis.edition, caption)
        show_all([show_figure(analysis, f"overlap-{name}", figure, f"{caption}; {words}")])


def show_portfolios(analysis: Analysis, rows: pd.DataFrame, words: str) -> None:
    """Show the best portfolios of every size, what they solve, and what each member brings."""
    is_shared = is_shareable(rows)
    best = up_to_best(best_portfolios(rows, analysis.tools, is_shared=is_shared))
    told = f"{share_in_words(rows)}; {words}"
    most = together(rows, analysis.tools, is_shared=is_shared)
    curve = portfolio_curve(best, analysis.edition, "instances solved", most)
    parts = members(rows, best, is_shared=is_shared)
    wide = {"tools": 7}
    show_all(
        [
            show_text(portfolio_sentences(best, analysis.edition)),
            show_figure(analysis, "portfolios", curve, f"best portfolio of each size, {told}"),
            show_table(analysis, "portfolios", best.drop_duplicates("size"),
                       f"a best portfolio of each size, {told}", by_rules=True, widths=wide),
            show_table(analysis, "portfolio-optima", best,
                       f"all best portfolios, up to the first size that solves most, {told}",
                       by_rules=True, in_latex=False),
            show_table(analysis, "portfolio-members", parts,
                       f"what each tool brings to the best portfolios, {told}",
                       by_rules=True, in_latex=False),
        ]
    )  # fmt: skip


def show_pair(analysis: Analysis, rows: pd.DataFrame) -> None:
    """Show two tools at close quarters: ratio of times, and what one of them alone solves."""
    tool, other = analysis.pair
    names = f"{analysis.name(tool)} and {analysis.name(other)}"
    floor_s = analysis.rules.time_floor_s
    figure = ratio_scatter(rows, analysis.edition, tool, other, floor_s)
    gained = pair_instances(rows, tool, other)
    show_all(
        [
            show_figure(analysis, "ratio", figure, f"ratio of the run times of {names}"),
            show_table(analysis, "pair-instances", gained, f"instances that one of {names} solves",
                       by_rules=True, in_latex=False),
        ]
    )  # fmt: skip


def show_quantiles(analysis: Analysis) -> None:
    """Show for each track how a tool's overall score adds up (see `curves.quantile`)."""
    edition, floor_s = analysis.edition, analysis.rules.time_floor_s
    show_all(
        show_figure(
            analysis,
            f"quantile-{track}",
            quantile(
                analysis.judged[analysis.judged["benchmark"].isin(edition.in_track(track))],
                analysis.scores, edition, list(rows["tool"]), floor_s,
            ),
            f"score by time per instance, track {track}",
        )
        for track, rows in analysis.overall.groupby("track", sort=False)
    )  # fmt: skip


def show_normalised(analysis: Analysis) -> Shown | None:
    """Show the cactus plot by share of the time limit, where limits are known."""
    if analysis.judged["timeout_s"].isna().all():
        return None
    figure = normalised_cactus(analysis.judged, analysis.edition, analysis.tools)
    caption = "instances solved within a share of the time limit"
    return show_figure(analysis, "normalised-cactus", figure, caption)
