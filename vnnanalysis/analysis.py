"""The first step of every notebook: check the parameters, load, judge, score."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from vnnanalysis.editions import ALL_TRACKS, Edition, ScoringRules
from vnnanalysis.errors import UsageError, check_known
from vnnanalysis.judging import judge, overheads
from vnnanalysis.kernel import check_injected
from vnnanalysis.load import Contest, load_contest
from vnnanalysis.scoring import benchmark_scores, overall_scores
from vnnanalysis.tables import plain_name
from vnnanalysis.terms import Conflicts, Overhead


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
        own, rules = vars(self.edition.rules), vars(self.rules)
        changed = [value for name, value in rules.items() if value != own[name]]
        chosen = [self.rules.overhead, self.rules.conflicts, *changed] if changed else []
        return "-".join(dict.fromkeys(map(str, [self.edition.id, *chosen])))

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
    settings: dict[str, Any] | None = None,
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
        The organisers' benchmark repository, for time limits.
    settings : dict, optional
        Further rule switches by name.

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
    if not isinstance(lenient, bool):
        raise UsageError(f"parameter lenient: expected true or false, found {lenient!r}")
    contest = load_contest(
        str(edition),
        results or None,
        extra=_names("extra", extra),
        lenient=lenient,
        benchmarks=benchmarks_dir or None,
    )
    given = {"overhead": overhead, "conflicts": conflicts}
    switches = {name: value for name, value in given.items() if value not in (None, "")}
    rules = contest.edition.rules.with_settings(switches | (settings or {}))
    if settings and rules.easy_sat_tool and "easy_sat_tool" in settings:
        check_known("tool", [rules.easy_sat_tool], contest.edition.tools)
    return analyse(contest, rules, track=track, benchmarks=_names("benchmarks", benchmarks),
                   tools=_names("tools", tools), out=Path(out) if out else None)  # fmt: skip


def _names(parameter: str, value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return [name.strip() for name in value.split(",") if name.strip()]
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
    check_known("track", [track], [*edition.tracks, ALL_TRACKS])
    in_track = [b for b in edition.benchmarks if track in (ALL_TRACKS, edition.track_of(b))]
    check_known(f"benchmark of track {track}", benchmarks, in_track)
    check_known("tool", tools, edition.tools)
    chosen = tuple(b for b in in_track if not benchmarks or b in benchmarks)
    judged = judge(contest.runs, edition, rules)
    judged = judged[judged["benchmark"].isin(chosen)].reset_index(drop=True)
    scores = benchmark_scores(judged, edition, rules)
    overall = overall_scores(scores, edition, rules)
    present = set(judged.loc[judged["takes_part"], "tool"])
    shown = tuple(t for t in edition.tools if (t in tools if tools else t in present))
    rows = set(judged["tool"])
    if not present:
        raise UsageError(f"no tool has a sat or unsat in {', '.join(chosen)}: nothing to score")
    overhead = overheads(contest.runs, edition, rules)
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


def compare_variants(
    analysis: Analysis, settings: Iterable[dict[str, str]] | None = None
) -> pd.DataFrame:
    """Rank the selection of an analysis under several variants of its rules.

    Parameters
    ----------
    analysis : Analysis
        Its rules are the starting point.
    settings : iterable of dict, optional
        The switches of each variant, all with the same names; `variant_grid` by default.

    Returns
    -------
    DataFrame
        The settings as columns, then track, rank, tool, score.
    """
    parts = []
    for chosen in variant_grid(analysis.edition) if settings is None else settings:
        variant = analyse(
            analysis.contest,
            analysis.rules.with_settings(chosen),
            track=analysis.track,
            benchmarks=analysis.benchmarks,
            tools=analysis.tools,
        )
        names = pd.DataFrame(chosen, index=variant.overall.index)
        parts.append(pd.concat([names, variant.overall], axis="columns"))
    return pd.concat(parts, ignore_index=True)


def variant_grid(edition: Edition) -> list[dict[str, str]]:
    """Return the rule variants to compare: each overhead mode with each conflict policy."""
    modes = [Overhead.SINGLE, *([Overhead.MULTI] if edition.overhead_modes else [])]
    return [
        {"overhead": str(mode), "conflicts": str(policy)} for mode in modes for policy in Conflicts
    ]
