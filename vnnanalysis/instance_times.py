"""The long table: every instance, the time of every tool, and who was fastest, second or wrong.

Source of the form: the long tables of the competition's reports from 2022 on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from vnnanalysis.editions import Edition
from vnnanalysis.latex import environment
from vnnanalysis.layouts import INSTANCE
from vnnanalysis.rules import ScoringRules
from vnnanalysis.summary import rules_in_short
from vnnanalysis.terms import Overhead, Result, Verdict

TOOLS_PER_TABLE = 13  # that fit beside each other on a page
FASTEST, SECOND, CORRECT, INCORRECT = "fastest", "second", "correct", "incorrect"
UNDECIDED, LEFT_OUT = "undecided", "left out"
MARKS = {  # what a cell without a time says, and what that means
    str(Result.TIMEOUT): "t",
    str(Result.UNKNOWN): "u",
    str(Result.ERROR): "e",
    UNDECIDED: "?",
    LEFT_OUT: "o",
}
TRUTHS = {str(Result.UNSAT): "unsat", str(Result.SAT): "sat", str(Result.UNKNOWN): "?"}


def instance_marks(judged: pd.DataFrame, edition: Edition, rules: ScoringRules) -> pd.DataFrame:
    """Say for every judged row what the long table shows of it.

    Parameters
    ----------
    judged : DataFrame
        From `judging.judge`.
    edition : Edition
        For the order of benchmarks, and which tools were not part of the competition.
    rules : ScoringRules
        For the time bonus: where there is one, `fastest` and `second` are those who got it;
        where there is none, those with the smallest and the second smallest time of those with
        the same answer.

    Returns
    -------
    DataFrame
        Columns benchmark, index, instance, truth, tool, corrected_s and mark: one of fastest,
        second, correct, incorrect, undecided, left out, timeout, unknown, error.
    """
    is_correct = judged["verdict"] == Verdict.CORRECT
    is_extra = judged["tool"].isin(edition.extra_tools)
    by_time = not rules.has_bonus
    fastest, second = _by_time(judged, is_correct, is_extra) if by_time else _by_bonus(judged)
    mark = np.select(
        [
            judged["excluded"] != "",
            is_correct & fastest,
            is_correct & second,
            is_correct,
            judged["verdict"] == Verdict.INCORRECT,
            judged["verdict"] == Verdict.IGNORED,
        ],
        [LEFT_OUT, FASTEST, SECOND, CORRECT, INCORRECT, UNDECIDED],
        default=judged["result"].astype(object),
    )
    place = judged["benchmark"].map({b: i for i, b in enumerate(edition.benchmarks)})
    ordered = judged.assign(mark=mark, place=place)
    ordered = ordered.sort_values(["place", "index"], kind="stable")
    return ordered[[*INSTANCE[:1], "index", *INSTANCE[1:], "truth", "tool", "corrected_s", "mark"]]


def _by_bonus(judged: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    fastest = judged["is_fastest"]
    return fastest, ~fastest & (judged["bonus"] != 0)


def _by_time(
    judged: pd.DataFrame, is_correct: pd.Series, is_extra: pd.Series
) -> tuple[pd.Series, pd.Series]:
    """Place times among those with the same answer; a tool outside the competition moves nobody."""
    same = [*INSTANCE, "result"]
    competing = judged[is_correct & ~is_extra]
    times = competing.groupby(same)["corrected_s"]
    slower = competing[competing["corrected_s"] > times.transform("min")]
    seconds = slower.groupby(same)["corrected_s"].min()
    best = pd.DataFrame({"first": times.min(), "second": seconds}).reset_index()
    beside = judged[same].merge(best, how="left", on=same, validate="many_to_one")
    beside = beside.set_index(judged.index)
    own = judged["corrected_s"]
    is_first = ~(own > beside["first"])  # also where no competitor has the answer
    is_second = ~is_first & ~(own > beside["second"])
    return is_correct & is_first, is_correct & is_second


def marks_in_words(rules: ScoringRules, edition: Edition) -> str:
    """State what the marks mean under these rules."""
    what = "Seconds of correct answers"
    what += "" if rules.overhead is Overhead.NONE else " after overhead"
    what += f", at least {rules.time_floor_s:g}" if rules.time_floor_s > 0 else ""
    wrong = f"crossed: incorrect ({rules.incorrect_points} points)"
    return (
        f"{what}; {_bonus_in_words(rules, edition)}; {wrong}; ?: no verdict (undecided, or a "
        "counterexample that could not be checked); t: timeout, u: unknown, e: error, o: left out "
        "of scoring; empty: not run. Second column: the truth, ? where it is not known."
    )


def _bonus_in_words(rules: ScoringRules, edition: Edition) -> str:
    if not rules.has_bonus:
        return (
            "bold: smallest time with this answer, underlined: second smallest (there is no bonus)"
        )
    told = f"bold: fastest with this answer (bonus {rules.fastest_bonus})"
    if rules.second_bonus:
        told += f", underlined: second (bonus {rules.second_bonus})"
    told += f"; for the bonus, times less than {rules.tie_s:g} s apart are equal"
    if rules.bonus_floor_s > rules.time_floor_s:
        told += f", and those below {rules.bonus_floor_s:g} s count as {rules.bonus_floor_s:g} s"
    if rules.easy_sat_tool in edition.tools:
        told += f"; no mark on a sat that {rules.easy_sat_tool} found too, which earns no bonus"
    return told


@dataclass(frozen=True)
class Part:
    """A long table of one benchmark, of some of the tools that ran it."""

    benchmark: str
    name: str  # end of the label
    tools: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]  # number, truth, and a cell for each tool
    place: str  # which part of how many; empty if it is the only one


def instance_latex(
    marks: pd.DataFrame,
    edition: Edition,
    rules: ScoringRules,
    tools: Sequence[str],
    *,
    label: str,
) -> str:
    """Return the long tables in LaTeX, one for each benchmark; with many tools, several.

    Parameters
    ----------
    marks : DataFrame
        From `instance_marks`.
    edition, rules
        For names and captions.
    tools : sequence of str
        The columns; a tool without rows on a benchmark is left out there.
    label : str
        Beginning of the LaTeX labels.

    Returns
    -------
    str
        Needs the packages longtable, array, booktabs and graphicx.
    """
    competed = marks[~marks["tool"].isin(edition.extra_tools)]  # whose truth is the edition's
    truths = competed.drop_duplicates(["benchmark", "index"])
    truth = truths.set_index(["benchmark", "index"])["truth"].map(TRUTHS)
    texts = marks.assign(cell=_cells(marks))
    parts = [
        part
        for benchmark, rows in texts.groupby("benchmark", sort=False)
        for part in _parts(str(benchmark), rows, truth[benchmark], tools)
    ]
    return environment().get_template("instances.tex.j2").render(
        edition=edition, label=label, parts=parts, marks=marks_in_words(rules, edition),
        rules=rules_in_short(rules, edition.rules),
    )  # fmt: skip


def _parts(
    benchmark: str, rows: pd.DataFrame, truth: pd.Series, tools: Sequence[str]
) -> list[Part]:
    wide = rows.pivot_table(index="index", columns="tool", values="cell", aggfunc="first").fillna(
        ""
    )
    ran = [tool for tool in tools if tool in wide]
    chunks = [ran[i : i + TOOLS_PER_TABLE] for i in range(0, len(ran), TOOLS_PER_TABLE)]
    truths = truth.reindex(wide.index).fillna("?")
    return [
        Part(
            benchmark,
            name=benchmark if number == 1 else f"{benchmark}-{number}",
            tools=tuple(chunk),
            lines=tuple(
                (str(index), said, *cells)
                for (index, *cells), said in zip(
                    wide[chunk].itertuples(name=None), truths, strict=True
                )
            ),
            place=f", part {number} of {len(chunks)}" if len(chunks) > 1 else "",
        )
        for number, chunk in enumerate(chunks, start=1)
    ]


def _cells(marks: pd.DataFrame) -> list[str]:
    return [_cell(s, mark) for s, mark in zip(marks["corrected_s"], marks["mark"], strict=True)]


def _cell(seconds: float, mark: str) -> str:
    if mark in MARKS:
        return MARKS[mark]
    if mark == INCORRECT:
        return r"\vnnwrong{}"
    time = f"{seconds:.1f}" if seconds == seconds else "-"
    return {FASTEST: rf"\textbf{{{time}}}", SECOND: rf"\underline{{{time}}}"}.get(mark, time)
