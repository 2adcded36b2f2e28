"""Numbers in words: the rules in force, the headline, and where the rules decide a rank."""

import pandas as pd

from vnnanalysis.editions import Edition, ScoringRules
from vnnanalysis.ranking import setting_names, swaps
from vnnanalysis.tables import plain_name
from vnnanalysis.terms import Conflicts, Duplicates, Overhead, Verdict

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
}


def rules_in_words(rules: ScoringRules, edition: Edition) -> list[str]:
    """State a rule set in sentences, generated from its switches.

    Rules that cannot matter in an edition (no random generation, no modes) are left out.
    """
    sentences = [
        f"A correct answer is worth {rules.correct_points} points, an incorrect one "
        f"{rules.incorrect_points}.",
    ]
    if rules.easy_sat_tool in edition.tools:
        sentences.append(
            f"A correct sat that {rules.easy_sat_tool} found too is worth "
            f"{rules.easy_sat_points} and no time bonus."
        )
    if rules.fastest_bonus or rules.second_bonus:
        sentences.append(
            f"The fastest correct answer earns {rules.fastest_bonus} more, the second fastest "
            f"{rules.second_bonus}; times within {rules.tie_s:g} s are equal, and times below "
            f"{rules.time_floor_s:g} s count as {rules.time_floor_s:g} s."
        )
    one_mode = rules.overhead is Overhead.MULTI and not edition.overhead_modes
    overhead = Overhead.SINGLE if one_mode else rules.overhead
    sentences += [_OVERHEAD[overhead], _CONFLICTS[rules.conflicts]]
    if rules.duplicates is Duplicates.UNIQUE:
        sentences.append("An instance that a benchmark lists twice counts once.")
    floored = ", but not less than 0" if rules.floor_percent else ""
    sentences.append(
        "A benchmark's score is the percent of the best tool's points"
        f"{floored}; the overall score is their sum over the scored benchmarks."
    )
    return sentences


def rules_in_short(rules: ScoringRules) -> str:
    """Name a rule variant in a few words, for captions."""
    overhead = {"none": "no overhead subtracted"}.get(rules.overhead, f"{rules.overhead} overhead")
    return f"{overhead}, conflicts: {rules.conflicts}"


def sizes_in_words(judged: pd.DataFrame, edition: Edition) -> list[str]:
    """State how many tools ran how many instances, and which benchmarks do not count."""
    n_instances = len(judged.drop_duplicates(["benchmark", "instance"]))
    benchmarks = [b for b in edition.benchmarks if b in set(judged["benchmark"])]
    n_tools = judged.loc[judged["takes_part"], "tool"].nunique()
    sentences = [
        f"{n_tools} tools took part; {n_instances} instances in {len(benchmarks)} benchmarks."
    ]
    unscored = [b for b in benchmarks if b not in edition.scored]
    if unscored:
        sentences.append(f"Not part of the overall score: {', '.join(unscored)}.")
    if edition.extra_tools:
        names = ", ".join(edition.extra_tools)
        sentences.append(
            f"Not part of the competition: {names}; judged as if it had been, while the "
            "others' points, percents and ranks are those without it."
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


def swap_sentences(variants: pd.DataFrame, edition: Edition, places: int = 3) -> list[str]:
    """Tell, with scores, where the rules decide who gets one of the first places."""
    if variants.empty:
        return []
    best = variants.groupby(["track", "tool"])["rank"].min()
    settings = setting_names(variants)
    sentences = []
    for swap in swaps(variants).itertuples():
        if max(best[swap.track, swap.tool], best[swap.track, swap.other]) > places:
            continue
        pair = variants[(variants["track"] == swap.track)]
        wide = pair.pivot_table(index=settings, columns="tool", values="score", sort=False)[
            [swap.tool, swap.other]
        ]
        names = [plain_name(edition, tool) for tool in (swap.tool, swap.other)]
        told = [
            f"{' / '.join(variant)}: {names[0]} {a:.1f}, {names[1]} {b:.1f}"
            for variant, (a, b) in zip(wide.index, wide.to_numpy(), strict=True)
        ]
        sentences.append(
            f"{names[0]} and {names[1]} change places with the rules ({'; '.join(told)})."
        )
    return sentences or [f"No variant changes the order of the first {places} places."]


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
    sentences = [
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
