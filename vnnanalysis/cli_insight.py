"""Commands on what a ranking does not say: complementarity, rank."""

from collections.abc import Callable
from typing import Any

import click
import pandas as pd

from vnnanalysis.analysis import Analysis
from vnnanalysis.cli_options import form_option, opened, print_frame, shared_options, tell
from vnnanalysis.errors import UsageError
from vnnanalysis.terms import Missing

missing_option = click.option(
    "--missing",
    type=click.Choice([str(m) for m in Missing]),
    default=str(Missing.ZERO),
    show_default=True,
    help="A benchmark that a tool skips counts zero for it, or only common ones count.",
)


@click.command()
@shared_options
@click.option("--by", type=click.Choice(("overall", "benchmark")), default="overall",
              show_default=True, help="One table, or one block for each benchmark.")  # fmt: skip
@click.option(
    "--show",
    type=click.Choice(("tools", "games", "solvers", "pairs", "portfolios", "alone")),
    default="tools",
    show_default=True,
    help="What each tool adds, Shapley values by what counts, virtual and single best solver, "
    "pairs of tools, best portfolios, or instances that one tool alone solves.",
)
@missing_option
@form_option
def complementarity(
    settings: tuple[str, ...], by: str, show: str, missing: str, form: str, **options: Any
) -> None:
    """Print what each tool adds to the others: unique solves, Shapley value, times, portfolios."""
    if by == "benchmark" and (show != "tools" or missing != Missing.ZERO):
        raise UsageError("--by benchmark: takes neither --show nor --missing; of each benchmark "
                         "those tools are compared that take part")  # fmt: skip
    analysis = opened(settings, options)
    reading = Missing(missing)
    if by == "benchmark":
        _print_by_benchmark(analysis, form)
        return
    from vnnanalysis.portfolio import compared_rows, missing_in_words

    if show == "pairs":
        _print_pairs(analysis, reading, form)
        return
    rows = compared_rows(analysis.judged, analysis.tools, reading)
    frame, what, notes = _SHOWN[show](analysis, rows)
    tell(notes)
    words = missing_in_words(analysis.judged, analysis.tools, reading, analysis.edition.scored)
    print_frame(analysis, frame, f"complementarity-{show}", f"{what}; {words}", form)


def _print_by_benchmark(analysis: Analysis, form: str) -> None:
    from vnnanalysis.portfolio import complementarity as compare
    from vnnanalysis.story import policy_in_words

    frame = compare(analysis.judged, analysis.tools, by_benchmark=True)
    tell(
        [
            "Of each benchmark those tools are compared that take part. Average time is over the "
            "n_solvable instances that one of them solved, unsolved counts as the limit; PAR2 and "
            "PAR10 are over all n, unsolved counts as 2 and 10 times the limit. Where a limit is "
            "not known, they are empty."
        ]
    )
    what = f"what each tool adds, by benchmark; {policy_in_words(frame)}"
    print_frame(analysis, frame, "complementarity", what, form, is_long=True)


def _print_pairs(analysis: Analysis, reading: Missing, form: str) -> None:
    from vnnanalysis.pairs import READINGS, pair_table

    tell(
        [
            "Time ratio: median of the times (after overhead and floor) of the tool by the other's "
            "on what both solve, with an exact 95 percent interval; where both are at the floor "
            f"of {analysis.rules.time_floor_s:g} s it is 1. McNemar's test is exact, on what one "
            "of the two solves."
        ]
    )
    frame = pair_table(analysis.judged, analysis.tools, reading)
    what = f"pairs of tools; {READINGS[reading]}"
    print_frame(analysis, frame, "complementarity-pairs", what, form)


Printed = tuple[pd.DataFrame, str, list[str]]


def _tools(analysis: Analysis, rows: pd.DataFrame) -> Printed:
    from vnnanalysis.portfolio import complementarity as compare
    from vnnanalysis.story import policy_in_words
    from vnnanalysis.times import time_notes

    frame = compare(rows, analysis.tools)
    what = f"what each tool adds; {policy_in_words(frame)}"
    frame.insert(0, "benchmark", "all")
    return frame, what, time_notes(rows, analysis.tools)


def _games(analysis: Analysis, rows: pd.DataFrame) -> Printed:
    from vnnanalysis.portfolio import shapley_games

    notes = [
        "unsat, sat: an instance with that answer is worth 1; balanced: percent, every benchmark "
        "the same weight; speed: the share of the time limit that was left; points: of the rules, "
        "negative ones as 0 and shown as penalties."
    ]
    return shapley_games(rows, analysis.tools), "Shapley values by what counts", notes


def _solvers(analysis: Analysis, rows: pd.DataFrame) -> Printed:
    from vnnanalysis.times import best_solvers, time_notes

    notes = time_notes(rows, analysis.tools)
    return best_solvers(rows, analysis.tools), "single and virtual best solver", notes


def _portfolios(analysis: Analysis, rows: pd.DataFrame) -> Printed:
    from vnnanalysis.parallel import best_portfolios, is_shareable, share_in_words, up_to_best

    frame = up_to_best(best_portfolios(rows, analysis.tools, is_shared=is_shareable(rows)))
    return frame, f"best portfolios, {share_in_words(rows)}", []


def _alone(analysis: Analysis, rows: pd.DataFrame) -> Printed:
    from vnnanalysis.portfolio import solved_alone

    return solved_alone(rows, analysis.tools, analysis.tools), "solved by one tool alone", []


_SHOWN: dict[str, Callable[[Analysis, pd.DataFrame], Printed]] = {
    "tools": _tools,
    "games": _games,
    "solvers": _solvers,
    "portfolios": _portfolios,
    "alone": _alone,
}


@click.command()
@shared_options
@click.option(
    "--show",
    type=click.Choice(("ranks", "pairs", "variants", "contested", "tests", "flips")),
    default="ranks",
    show_default=True,
    help="Rank intervals, how often one tool is above another, ranks under all rule variants, "
    "pairs whose order the rules decide, tests over benchmarks, or verdicts that rules change.",
)
@click.option("--replicates", type=click.IntRange(min=1), default=10_000, show_default=True,
              help="How often the bootstrap resamples, for each design.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Equal seeds give equal results.")  # fmt: skip
@missing_option
@form_option
def rank(
    settings: tuple[str, ...],
    show: str,
    replicates: int,
    seed: int,
    missing: str,
    form: str,
    **options: Any,
) -> None:
    """Print how sure the ranking is: rank intervals, tests, and what other rules change."""
    from vnnanalysis import certainty as sure
    from vnnanalysis import story
    from vnnanalysis.portfolio import READINGS

    analysis = opened(settings, options)
    assessed = sure.assess(
        analysis, replicates=replicates, seed=seed, missing=missing,
        all_variants=show in ("variants", "contested", "flips"),
        resampled=show not in ("tests", "flips"),
    )  # fmt: skip
    tested = sure.benchmark_tests(assessed) if show == "tests" else []
    frame = {
        "ranks": lambda: sure.interval_table(assessed),
        "pairs": lambda: sure.pair_table(assessed),
        "variants": lambda: sure.shift_table(assessed),
        "contested": lambda: sure.contested_pairs(assessed),
        "tests": lambda: sure.benchmark_test_table(tested),
        "flips": lambda: sure.flip_table(assessed),
    }[show]()
    notes = {
        "contested": lambda: story.contested_sentences(assessed),
        "variants": lambda: story.variant_sentences(frame, analysis.edition),
        "tests": lambda: story.test_sentences(tested, analysis.edition),
        "flips": lambda: story.flip_sentences(frame, assessed.analysis.shown),
    }.get(show, lambda: story.certainty_sentences(assessed))()
    tell(notes)
    how = f"{replicates:,} replicates, seed {seed}, {READINGS[Missing(missing)]}"
    how = {"tests": "by reading of absent tools", "flips": "by variant"}.get(show, how)
    print_frame(analysis, frame, f"rank-{show}", f"{_WHAT[show]}, {how}", form,
                is_long=show in ("pairs", "flips"))  # fmt: skip


_WHAT = {
    "ranks": "rank intervals (95 percent)",
    "pairs": "how often one tool is above another",
    "variants": "ranks under all variants of the rules",
    "contested": "pairs whose order depends on the rules",
    "tests": "tests over benchmarks",
    "flips": "answers whose verdict depends on the rules",
}
