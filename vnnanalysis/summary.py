"""Numbers in words: the rules in force, the headline, and where the rules decide a rank."""

from collections.abc import Iterable

import pandas as pd

from vnnanalysis.checks import checks_in_force, judged_otherwise
from vnnanalysis.editions import Edition
from vnnanalysis.ranking import setting_names, swaps
from vnnanalysis.rules import ScoringRules
from vnnanalysis.tables import plain_name
from vnnanalysis.terms import (
    Bounds,
    Check,
    Conflicts,
    Duplicates,
    Outputs,
    Overhead,
    Result,
    Tolerance,
    Unchecked,
    Verdict,
)

_OVERHEAD = {
    Overhead.SINGLE: "One start-up time per tool, its smallest run time with an answer, is "
    "subtracted from all its run times.",
    Overhead.MULTI: "A tool's start-up time, its smallest run time with an answer, is measured "
    "for each of its modes (CPU, GPU) and subtracted from the run times in that mode.",
    Overhead.NONE: "No start-up time is subtracted.",
}
_CONFLICTS = {
    Conflicts.VOTING: "Where tools disagree, the majority is right; a draw counts for nobody.",
    Conflicts.ODD_ONE_OUT: "Where tools disagree, a tool that stands alone against at least two "
    "is wrong; other disagreements count for nobody.",
    Conflicts.IGNORE: "An instance on which tools disagree counts for nobody.",
    Conflicts.ALL_UNSAT: "An instance on which tools disagree is taken as unsat, and every answer "
    "to it counts as solved.",
    Conflicts.ON_CONFLICT: "Where tools disagree, counterexamples decide: one valid "
    "counterexample, of whichever tool, makes every sat correct and every unsat incorrect; "
    "without one, sat is incorrect.",
    Conflicts.AS_PRESENTED: "Every sat needs a counterexample: one valid counterexample, of "
    "whichever tool, makes every sat correct and every unsat incorrect; without one, sat is "
    "incorrect.",
    Conflicts.FIRST_VALID: "Every sat needs a counterexample: of the tools with a valid one only "
    "the alphabetically first is credited, every other sat and every unsat is incorrect.",
    Conflicts.PER_TOOL: "A sat is worth what the tool's own counterexample is: credited if valid "
    "within tolerance, incorrect if not; one that proves sat makes every unsat incorrect.",
}
_TOLERANCE = {
    Tolerance.ANY: "A counterexample that is valid within the tolerances proves sat.",
    Tolerance.SMALL: "A counterexample proves sat if it is valid with a tolerance of 1e-7; one "
    "that needs more is credited, but proves nothing.",
    Tolerance.ZERO: "A counterexample proves sat if it is valid exactly; one that needs a "
    "tolerance is credited, but proves nothing.",
    Tolerance.AS_COMMITTED: "Valid counterexamples are credited, but none proves sat.",
}
_OUTPUTS = {
    Outputs.CLAIMED_ABS: "A counterexample is judged by the outputs in its file, which must be "
    "within 1e-4 of those of the network; within tolerance means 1e-4 on inputs and outputs.",
    Outputs.CLAIMED: "A counterexample is judged by the outputs in its file, which must match "
    "those of the network, within 1e-3 of the largest; within tolerance means 1e-4 on inputs and "
    "outputs.",
    Outputs.REPLAYED: "A counterexample is judged by the outputs that the network gives; within "
    "tolerance means 1e-4 on inputs only.",
}
_BOUNDS = "Inputs and their bounds are compared in the element type of the network's input."
_UNCHECKED = {
    Unchecked.CREDITED: "A sat whose counterexample has not been checked is credited, but proves "
    "nothing.",
    Unchecked.PENALISED: "A sat whose counterexample has not been checked is incorrect.",
}


def rules_in_words(rules: ScoringRules, edition: Edition) -> list[str]:
    """State a rule set in sentences, generated from its switches.

    Rules that cannot matter in an edition (no random generation, no modes) are left out.
    """
    points = "point" if rules.correct_points == 1 else "points"
    sentences = [
        f"A correct answer is worth {rules.correct_points} {points}, an incorrect one "
        f"{rules.incorrect_points}.",
    ]
    if rules.easy_sat_tool in edition.tools:
        sentences.append(
            f"A correct sat that {rules.easy_sat_tool} found too is worth "
            f"{rules.easy_sat_points} and no time bonus."
        )
    if rules.has_bonus:
        floor = f", and times below {rules.bonus_floor_s:g} s count as {rules.bonus_floor_s:g} s"
        sentences.append(
            f"The fastest correct answer earns {rules.fastest_bonus} more, the second fastest "
            f"{rules.second_bonus}; times within {rules.tie_s:g} s are equal"
            f"{floor * bool(rules.bonus_floor_s)}."
        )
    else:
        sentences.append("There is no time bonus.")
    sentences += _overhead_sentences(rules, edition)
    sentences.append(_CONFLICTS[rules.conflicts])
    if rules.conflicts.uses_checks:
        sentences += [_OUTPUTS[rules.outputs], _TOLERANCE[rules.tolerance]]
        sentences += [_BOUNDS] * (rules.bounds is Bounds.INPUT_TYPE)
        sentences.append(_UNCHECKED[rules.unchecked])
    if rules.enforce_timeouts:
        sentences.append(
            "An answer after the instance's time limit is a timeout: no points, no penalty."
        )
    if rules.duplicates is Duplicates.UNIQUE:
        sentences.append("An instance that a benchmark lists twice counts once.")
    return [*sentences, *_score_sentences(rules)]


def _overhead_sentences(rules: ScoringRules, edition: Edition) -> list[str]:
    one_mode = rules.overhead is Overhead.MULTI and not edition.overhead_modes
    overhead = Overhead.SINGLE if one_mode else rules.overhead
    if overhead is Overhead.NONE or not rules.overhead_by_track or len(edition.tracks) < 2:
        return [_OVERHEAD[overhead]]
    return [_OVERHEAD[overhead], "It is measured in each track on its own."]


def _score_sentences(rules: ScoringRules) -> list[str]:
    floored = ", but not less than 0" if rules.floor_percent else ""
    percent = (
        "A benchmark's score is the percent of the best tool's points"
        f"{floored}; the overall score is their sum over the scored benchmarks."
    )
    ties = "Of equal overall scores the one with less run time on solved instances is ahead."
    return [percent, ties] if rules.ties_by_time else [percent]


def rules_in_short(rules: ScoringRules, own: ScoringRules | None = None) -> str:
    """Name a rule variant in a few words, for captions.

    Parameters
    ----------
    rules : ScoringRules
        The rules in force.
    own : ScoringRules, optional
        The edition's; other switches in which the rules differ from them are named too.
    """
    overhead = {"none": "no overhead subtracted"}.get(rules.overhead, f"{rules.overhead} overhead")
    exact = f", tolerance: {rules.tolerance}" if rules.conflicts.uses_checks else ""
    limits = ", time limits enforced" if rules.enforce_timeouts else ""
    named = ("overhead", "conflicts", "tolerance", "enforce_timeouts")
    changes = rules.changes(own) if own is not None else {}
    more = "".join(f", {k}={v}" for k, v in changes.items() if k not in named)
    return f"{overhead}, conflicts: {rules.conflicts}{exact}{limits}{more}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def sizes_in_words(judged: pd.DataFrame, edition: Edition) -> list[str]:
    """State how many tools ran how many instances, and which benchmarks do not count."""
    n_instances = len(judged.drop_duplicates(["benchmark", "instance"]))
    present = set(judged["benchmark"])
    benchmarks = [b for b in edition.benchmarks if b in present]
    competed = judged["takes_part"] & ~judged["tool"].isin(edition.extra_tools)
    n_tools = judged.loc[competed, "tool"].nunique()
    sentences = [
        f"{_count(n_tools, 'tool')} took part; {_count(n_instances, 'instance')} in "
        f"{_count(len(benchmarks), 'benchmark')}."
    ]
    unscored = [b for b in benchmarks if b not in edition.scored]
    if unscored:
        names = ", ".join(map(edition.benchmark_name, unscored))
        sentences.append(f"Not part of the overall score: {names}.")
    left_out = [skip for skip in edition.skips if skip.tool and not skip.benchmark]
    for skip in left_out:
        name = plain_name(edition, skip.tool)
        sentences.append(f"Shown, but not scored: {name} ({skip.reason}).")
    sentences += edition.remarks
    if edition.extra_tools:
        names = ", ".join(edition.extra_tools)
        sentences.append(
            f"Not part of the competition: {names}; judged as if it had been, while the "
            "others' points, percents and ranks are those without it."
        )
    return sentences


def checks_in_words(judged: pd.DataFrame, rules: ScoringRules) -> list[str]:
    """State what became of the counterexamples; nothing where votes decide."""
    if not rules.conflicts.uses_checks:
        return []
    counts = checks_of_sats(judged)
    known = [c for c in Check if c != Check.UNCHECKED and counts.get(str(c), 0)]
    told = ", ".join(f"{counts[str(c)]} {str(c).replace('_', ' ')}" for c in known) or "none"
    return [f"Verdicts on the counterexamples of {counts.sum()} sats: {told}."]


def checks_of_sats(judged: pd.DataFrame) -> pd.Series:
    """Count the sats that no exclusion takes out of scoring, by the check of their witness."""
    sats = judged[(judged["result"] == Result.SAT) & (judged["excluded"] == "")]
    return sats["check"].value_counts()


def caveats(judged: pd.DataFrame, checks: pd.DataFrame, rules: ScoringRules) -> list[str]:
    """State what the rules in force ask for and the data cannot give.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    checks : DataFrame
        The verdicts, columns `checks.CHECK_COLUMNS`.
    rules : ScoringRules
        The rules in force.
    """
    sentences = []
    if rules.conflicts.uses_checks:
        counts = checks_of_sats(judged)
        unchecked = sum(int(counts.get(str(c), 0)) for c in (Check.UNCHECKED, Check.NOT_AVAILABLE))
        if unchecked:
            sentences.append(
                f"The counterexamples of {unchecked} sats have not been checked; these sats are "
                f"{rules.unchecked}."
            )
        sentences += tolerance_caveats(checks, [str(rules.tolerance)], rules)
        n_otherwise = judged_otherwise(checks, rules)
        if n_otherwise:
            sentences.append(
                f"The verdicts on {n_otherwise} counterexamples are known for other outputs than "
                f"these rules look at ({rules.outputs}), and taken as the nearest there is."
            )
    if rules.enforce_timeouts:
        instances = judged[judged["excluded"] == ""].drop_duplicates(["benchmark", "instance"])
        unknown = int(instances["timeout_s"].isna().sum())
        if unknown:
            sentences.append(
                f"The time limits of {unknown} of {len(instances)} instances are not known and not "
                "enforced; --benchmarks (benchmarks_dir) names where they are."
            )
    return sentences


def tolerance_caveats(
    checks: pd.DataFrame, tolerances: Iterable[str], rules: ScoringRules | None = None
) -> list[str]:
    """Say how many verdicts were measured more laxly, or too strictly, for some tolerances.

    Parameters
    ----------
    checks : DataFrame
        The verdicts, columns `checks.CHECK_COLUMNS`.
    tolerances : iterable of str
        The tolerances.
    rules : ScoringRules, optional
        For all other switches.
    """
    order = {str(t): i for i, t in enumerate(Tolerance)}
    sentences = []
    for tolerance in dict.fromkeys(tolerances):
        base = rules or ScoringRules()
        nearest = checks_in_force(checks, base.with_settings({"tolerance": tolerance}))
        measured = nearest["tolerance"].map(order).astype("float64").fillna(order[tolerance])
        correct = nearest["verdict"] == Check.CORRECT
        n_laxer = int((correct & (measured < order[tolerance])).sum())
        if n_laxer and tolerance != Tolerance.AS_COMMITTED:
            sentences.append(
                f"Of {correct.sum()} counterexamples that are correct, {n_laxer} were measured "
                f"more laxly than tolerance {tolerance} asks for, and prove nothing under it."
            )
        near = nearest["verdict"] == Check.UP_TO_TOLERANCE
        n_stricter = int((near & (measured > order[tolerance])).sum())
        if n_stricter and tolerance == Tolerance.SMALL:
            sentences.append(
                f"{n_stricter} counterexamples are known to be valid within tolerance, and not "
                f"whether tolerance {tolerance} is enough for them; they prove nothing under it."
            )
    return sentences


def headline(overall: pd.DataFrame, edition: Edition) -> list[str]:
    """State the first places of every track; in a selection, the first of the selection."""
    sentences = []
    for track, rows in overall.groupby("track", sort=False):
        where = f"Track {track}" if len(edition.tracks) > 1 else "Overall"
        last = rows["rank"].iloc[:3].max()
        podium = [
            f"{row.rank}. {plain_name(edition, row.tool)} ({row.score:.1f})"
            for row in rows[rows["rank"] <= last].itertuples()
        ]
        sentences.append(f"{where}: {', '.join(podium)}.")
    return sentences or ["None of these benchmarks is scored."]


def variant_caveats(
    variants: pd.DataFrame, checks: pd.DataFrame, rules: ScoringRules | None = None
) -> list[str]:
    """State what the data cannot give to some of the compared variants."""
    if "tolerance" not in variants:
        return []
    return tolerance_caveats(checks, variants["tolerance"], rules)


def swap_sentences(variants: pd.DataFrame, edition: Edition, places: int = 3) -> list[str]:
    """Tell, with scores, where the rules decide who gets one of the first places.

    Switches that make no difference to a pair's scores are left out.
    """
    if variants.empty:
        return []
    best = variants.groupby(["track", "tool"])["rank"].min()
    settings = setting_names(variants)
    sentences = []
    for swap in swaps(variants).itertuples():
        if max(best[swap.track, swap.tool], best[swap.track, swap.other]) > places:
            continue
        pair = variants[variants["track"] == swap.track]
        wide = pair.pivot_table(index=settings, columns="tool", values="score", sort=False)[
            [swap.tool, swap.other]
        ]
        wide = wide.groupby(_telling(wide, settings), sort=False).first()
        names = [plain_name(edition, tool) for tool in (swap.tool, swap.other)]
        told = [
            f"{_joined(variant)}: {names[0]} {a:.1f}, {names[1]} {b:.1f}"
            for variant, (a, b) in zip(wide.index, wide.to_numpy(), strict=True)
        ]
        sentences.append(
            f"{names[0]} and {names[1]} change places with the rules ({'; '.join(told)})."
        )
    return sentences or [f"No variant changes the order of the first {places} places."]


def _telling(scores: pd.DataFrame, settings: list[str]) -> list[str]:
    """Return the switches (levels of the index) on which the scores depend, at least one.

    That one makes no difference is known only where it takes all its values.
    """
    kept, flat = list(settings), scores.reset_index()
    for name in settings:
        rest = [other for other in kept if other != name]
        if not rest or flat.groupby(rest)[name].nunique().min() < flat[name].nunique():
            continue
        if scores.groupby(rest).nunique(dropna=False).max(axis=None) == 1:
            kept = rest
    return kept


def _joined(variant: str | tuple[str, ...]) -> str:
    """Name a variant by its settings; pandas gives a single one as it is."""
    return variant if isinstance(variant, str) else " / ".join(variant)


def conflict_sentences(disputes: pd.DataFrame, judged: pd.DataFrame, edition: Edition) -> list[str]:
    """Tell how many instances are disputed, and whom the rules in force penalise."""
    n_instances = len(judged.drop_duplicates(["benchmark", "instance"]))
    wrong = judged[judged["verdict"] == Verdict.INCORRECT]["tool"].value_counts()
    names = [f"{plain_name(edition, str(tool))} {count}" for tool, count in wrong.items()]
    told = f"{len(disputes)} of {n_instances} instances are disputed"
    if names:
        return [f"{told}; incorrect answers under these rules: {', '.join(names)}."]
    return [f"{told}; no answer is incorrect under these rules."]


def complementarity_sentences(table: pd.DataFrame, edition: Edition) -> list[str]:
    """Tell what the tools solve together, and who adds most."""
    if not table["solved"].sum():
        return ["No tool solved anything."]
    best, alone = _leaders(table, "solved", edition), _leaders(table, "unique", edition)
    top = _leaders(table, "shapley", edition)
    counted = [tool for tool in edition.extra_tools if tool in set(table["tool"])]
    outside = [
        f"{', '.join(counted)}, not in the competition, counted here: what it solves is no longer "
        "solved by another alone, and shared in Shapley values."
    ]
    sentences = [
        *(outside if counted else []),
        f"Together the tools solve {table['shapley'].sum():.0f} instances; the most that one "
        f"solves is {table['solved'].max()} ({best}).",
        f"The largest Shapley value is {table['shapley'].max():.1f} ({top}).",
    ]
    if table["unique"].max():
        most = f"The most instances that no other solves are {table['unique'].max()} ({alone})."
        return [*sentences, most]
    return [*sentences, "No instance is solved by one tool alone."]


def _leaders(table: pd.DataFrame, column: str, edition: Edition) -> str:
    leaders = table.loc[table[column] == table[column].max(), "tool"]
    return ", ".join(plain_name(edition, tool) for tool in leaders)
