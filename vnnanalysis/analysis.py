"""The first step of every notebook: check the parameters, load, judge, score."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from vnnanalysis.editions import ALL_TRACKS, Edition, read_rules
from vnnanalysis.errors import UsageError, check_known
from vnnanalysis.judging import judge, overheads
from vnnanalysis.kernel import check_injected
from vnnanalysis.limits import check_complete
from vnnanalysis.load import Contest, load_contest
from vnnanalysis.rules import ScoringRules, words
from vnnanalysis.scoring import benchmark_scores, overall_scores, solved_times
from vnnanalysis.tables import plain_name


@dataclass(frozen=True)
class Analysis:
    """A judged and scored contest, and the selection to show of it.

    Attributes
    ----------
    contest : Contest
        Everything that was read.
    rules : ScoringRules
        The rules in force.
    track : str
        A track, or ``all``.
    benchmarks, tools : tuple of str
        The selection; by default the tools that have an answer. Judging, points and percents
        are those of the full field. A selection of benchmarks changes what an overall score
        sums up; a selection of tools changes what is shown, and whom `portfolio` compares.
    listed : tuple of str
        The selected tools, with those that have rows but no answer.
    runs, judged : DataFrame
        Rows of the selected benchmarks and of all tools.
    scores, overall : DataFrame
        From `scoring`, of the selected benchmarks and tools.
    overhead : DataFrame
        From `judging.overheads`.
    out : Path or None
        Folder to write tables and figures to.
    """

    contest: Contest
    rules: ScoringRules
    track: str
    benchmarks: tuple[str, ...]
    tools: tuple[str, ...]
    listed: tuple[str, ...]
    runs: pd.DataFrame
    judged: pd.DataFrame
    scores: pd.DataFrame
    overall: pd.DataFrame
    overhead: pd.DataFrame
    out: Path | None

    @property
    def edition(self) -> Edition:
        """The edition."""
        return self.contest.edition

    @property
    def label(self) -> str:
        """Name of edition and rule variant: ``2021``, or ``2021-single-voting``."""
        return "-".join([self.edition.id, *variant_words(self.rules, self.edition)])

    @property
    def answered(self) -> tuple[str, ...]:
        """The selected benchmarks on which some tool has an answer that counts."""
        return tuple(b for b in self.benchmarks if b in set(self.scores["benchmark"]))

    @property
    def ranking(self) -> list[str]:
        """The selected tools, best overall score first, those without one last."""
        ranked = list(self.overall.sort_values("score", ascending=False, kind="stable")["tool"])
        return list(dict.fromkeys([*ranked, *self.tools]))

    @property
    def pair(self) -> tuple[str, str]:
        """The two best of the selected tools (one tool twice if it is the only one)."""
        return self.ranking[0], self.ranking[:2][-1]

    @property
    def shown(self) -> pd.DataFrame:
        """The judged rows of the selected tools, also of those without an answer."""
        return self.judged[self.judged["tool"].isin(self.listed)]

    def name(self, tool: str) -> str:
        """Return a tool's name as plain text, for captions."""
        return plain_name(self.edition, tool)


def open_analysis(
    *,
    edition: str,
    results: str | Path | None = None,
    overhead: str | None = None,
    conflicts: str | None = None,
    track: str = ALL_TRACKS,
    benchmarks: Sequence[str] | str | None = None,
    tools: Sequence[str] | str | None = None,
    out: str | Path | None = None,
    extra: Sequence[str] | str | None = None,
    lenient: bool = False,
    benchmarks_dir: str | Path | None = None,
    checks: Sequence[str] | str | None = None,
    rules: str | int | None = None,
    settings: dict[str, Any] | None = None,
    validate: bool = True,
) -> Analysis:
    """Check the parameters of a notebook, load the contest, judge and score it.

    Parameters
    ----------
    edition : str
        An edition's id, ``example``, or the path of a tidy csv file.
    results : path, optional
        Folder with the edition's raw files.
    overhead, conflicts : str, optional
        Rule switches; the edition's own by default.
    track : str
        A track of the edition, or ``all``.
    benchmarks, tools : list of str, or comma-separated str, optional
        What to show; everything by default.
    out : path, optional
        Folder to write tables, figures and csv files to.
    extra : list of path, or comma-separated str, optional
        Tidy csv files of tools outside the competition.
    lenient : bool
        Set bad rows aside instead of raising.
    benchmarks_dir : path, optional
        The organisers' benchmark repository, for time limits, networks and properties.
    checks : list of path, or comma-separated str, optional
        Tables of verdicts on counterexamples, before those that ship with the edition.
    rules : str, optional
        Another edition's rules, such as ``2026`` or ``2025-zero``; the edition's own by
        default.
    settings : dict, optional
        Further rule switches by name.
    validate : bool
        Whether to validate counterexamples where networks and properties are at hand.

    Returns
    -------
    Analysis

    Raises
    ------
    UsageError
        For a parameter with a wrong value, naming the nearest valid one.
    RawDataError
        For a bad row.
    """
    check_injected()
    paths = {"results": results, "out": out, "benchmarks_dir": benchmarks_dir}
    for name, value in paths.items():
        if not isinstance(value, str | Path | None):
            raise UsageError(f"parameter {name}: expected a path, found {value!r}")
    for name, flag in (("lenient", lenient), ("validate", validate)):
        if not isinstance(flag, bool):
            raise UsageError(f"parameter {name}: expected true or false, found {flag!r}")
    contest = load_contest(
        str(edition),
        results or None,
        extra=parse_names("extra", extra),
        lenient=lenient,
        benchmarks=benchmarks_dir or None,
        checks=parse_names("checks", checks),
        validate=validate,
    )
    given = {"overhead": overhead, "conflicts": conflicts}
    switches = {name: value for name, value in given.items() if value not in (None, "")}
    base = read_rules(str(rules)) if rules else contest.edition.rules
    chosen = base.with_settings(switches | (settings or {}))
    if settings and chosen.easy_sat_tool and "easy_sat_tool" in settings:
        check_known("tool", [chosen.easy_sat_tool], contest.edition.tools)
    return analyse(contest, chosen, track=track, benchmarks=parse_names("benchmarks", benchmarks),
                   tools=parse_names("tools", tools), out=Path(out) if out else None)  # fmt: skip


def parse_names(parameter: str, value: Any) -> list[str]:
    """Read a list of names, or a text of names separated by commas."""
    if value is None:
        return []
    if isinstance(value, str):
        names = [name.strip() for name in value.split(",") if name.strip()]
        if value.strip() and not names:
            raise UsageError(f"parameter {parameter}: expected names, found {value!r}")
        return names
    if isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value):
        return list(value)
    raise UsageError(f"parameter {parameter}: expected a list of names, found {value!r}")


def analyse(
    contest: Contest,
    rules: ScoringRules,
    *,
    track: str = ALL_TRACKS,
    benchmarks: Sequence[str] = (),
    tools: Sequence[str] = (),
    out: Path | None = None,
) -> Analysis:
    """Judge and score a contest that is already read; see `open_analysis`."""
    edition = contest.edition
    in_track = edition.in_track(track)
    if not in_track:
        raise UsageError(f"{edition.title} has no benchmark in track {track!r}")
    check_known(f"benchmark of track {track}", benchmarks, in_track)
    check_known("tool", tools, edition.tools)
    chosen = tuple(b for b in in_track if not benchmarks or b in benchmarks)
    if rules.enforce_timeouts and edition.rules.enforce_timeouts and not contest.is_lenient:
        check_complete(contest.runs, contest.inputs)
    judged = judge(contest.runs, edition, rules, contest.checks)
    judged = judged[judged["benchmark"].isin(chosen)].reset_index(drop=True)
    scores = benchmark_scores(judged, edition, rules)
    overall = overall_scores(scores, edition, rules, times=solved_times(judged, edition))
    present = set(judged.loc[judged["takes_part"], "tool"])
    shown = tuple(t for t in edition.tools if (t in tools if tools else t in present))
    rows = set(judged["tool"])
    if not present:
        raise UsageError(f"no tool has a sat or unsat in {', '.join(chosen)}: nothing to score")
    overhead = overheads(contest.runs, edition, rules)
    tracks = {"", *(edition.track_of(b) for b in chosen)}
    overhead = overhead[overhead["track"].isin(tracks)]
    return Analysis(
        contest=contest,
        rules=rules,
        track=track,
        benchmarks=chosen,
        tools=shown,
        listed=tuple(t for t in edition.tools if (t in tools if tools else t in rows)),
        runs=contest.runs[contest.runs["benchmark"].isin(chosen)],
        judged=judged,
        scores=scores[scores["tool"].isin(shown)].reset_index(drop=True),
        overall=overall[overall["tool"].isin(shown)].reset_index(drop=True),
        overhead=overhead[overhead["tool"].isin(shown)].reset_index(drop=True),
        out=out,
    )


def variant_words(rules: ScoringRules, edition: Edition) -> list[str]:
    """Say in words fit for a name how rules differ from the edition's own.

    Values that name their switch (``voting``) stand for themselves, others are written out
    (``incorrect_points=-150``). An edition that compares variants names all their switches.
    """
    changed = rules.changes(edition.rules)
    if not changed:
        return []
    compared = {name: str(getattr(rules, name)) for name in edition.variants}
    compared = {name: word for name, word in compared.items() if word in words()}
    named = compared | {name: word for name, word in changed.items() if word in words()}
    rest = [f"{name}={value}" for name, value in changed.items() if name not in named]
    return [*named.values(), *rest]


def analyse_variants(
    analysis: Analysis, settings: Iterable[dict[str, str]] | None = None
) -> list[tuple[dict[str, str], Analysis]]:
    """Judge and score the selection of an analysis under several variants of its rules.

    Parameters
    ----------
    analysis : Analysis
        Its rules are the starting point.
    settings : iterable of dict, optional
        The switches of each variant, all with the same names; those that the edition lists
        by default.

    Returns
    -------
    list of (dict, Analysis)
        The switches of each variant, and what they give.
    """
    grid = analysis.edition.variant_grid() if settings is None else settings
    return [
        (
            chosen,
            analyse(
                analysis.contest,
                analysis.rules.with_settings(chosen),
                track=analysis.track,
                benchmarks=analysis.benchmarks,
                tools=analysis.tools,
            ),
        )
        for chosen in grid
    ]


def compare_variants(
    analysis: Analysis, settings: Iterable[dict[str, str]] | None = None
) -> pd.DataFrame:
    """Rank the selection of an analysis under several variants of its rules.

    Parameters
    ----------
    analysis, settings
        As in `analyse_variants`.

    Returns
    -------
    DataFrame
        The settings as columns, then track, rank, tool, score.
    """
    return side_by_side(analyse_variants(analysis, settings))


def side_by_side(variants: Iterable[tuple[dict[str, str], Analysis]]) -> pd.DataFrame:
    """Return the overall scores of variants (from `analyse_variants`) in one frame."""
    parts = []
    for chosen, variant in variants:
        names = pd.DataFrame(chosen, index=variant.overall.index)
        parts.append(pd.concat([names, variant.overall], axis="columns"))
    return pd.concat(parts, ignore_index=True)
