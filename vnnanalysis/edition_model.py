"""What an edition is: everything about a competition that is not a measurement."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from vnnanalysis.errors import check_known
from vnnanalysis.rules import ScoringRules
from vnnanalysis.terms import Conflicts, Overhead, Result, Tolerance

STATISTICS = {  # short name: as the report of 2021 calls it
    "overhead": "Overhead",
    "participated": "Num Benchmarks Participated",
    "solved": "Num Instances Verified",
    "falsified": "Num Violated",
    "verified": "Num Holds",
    "incorrect": "Mismatched (Incorrect) Results",
}
EXTRA_MARK = " (not in competition)"
MAIN_TRACK = "main"
ALL_TRACKS = "all"
SCORED, UNSCORED = "scored", "unscored"  # tracks of some editions, and a choice in all


@dataclass(frozen=True)
class Track:
    """Benchmarks that share an overall ranking; `unscored` ones have tables only."""

    benchmarks: tuple[str, ...]
    unscored: tuple[str, ...] = ()


@dataclass(frozen=True)
class Skip:
    """Runs the organisers left out; an empty field stands for all, ``*`` for any text."""

    reason: str
    tool: str = ""
    benchmark: str = ""
    network: str = ""

    @property
    def words(self) -> str:
        """What was left out and why."""
        parts = [self.tool, self.network, self.benchmark]
        return f"skipped: {' on '.join(part for part in parts if part)}, {self.reason}"

    def matches(self, network: str) -> bool:
        """Tell whether a network is among those left out."""
        return not self.network or fnmatchcase(network, self.network)


@dataclass(frozen=True)
class Source:
    """A git repository, and the commit whose files an edition was made with; or a folder."""

    repository: str = ""  # owner/name
    commit: str = ""
    folder: str = ""  # beside the edition's file, where the files come with it

    @property
    def name(self) -> str:
        """The repository's own name, which its folder has."""
        return self.repository.rpartition("/")[2]


@dataclass(frozen=True)
class Layout:
    """Where the raw rows lie and how a benchmark's id is made of them.

    Two kinds: ``competition`` (csv files without header, `layouts.RAW_FIELDS`) and
    ``problems`` (csv files with a header, `layouts.PROBLEM_FIELDS`, whose benchmark follows
    from a table of networks).
    """

    files: tuple[str, ...]  # path patterns below the results folder; the first that exists
    kind: str = "competition"
    benchmark_id: str = "{category}"  # may use {year}, of the benchmarks, or {dataset}
    start_up_only: tuple[str, ...] = ()  # categories that only measure start-up
    labels: Mapping[str, Result] = field(default_factory=dict)  # beside `terms.LABELS`
    timeout_s: float | None = None  # one limit for all
    networks: Mapping[str, str] = field(default_factory=dict)  # data set: table of networks
    categories: Mapping[str, str] = field(default_factory=dict)  # as those tables name them
    unlisted: str = ""  # benchmark of networks that are in no table


@dataclass(frozen=True)
class About:
    """What a benchmark is about, as its organisers say; what is empty is not known."""

    application: str = ""
    network_types: str = ""
    largest_file: str = ""  # of a network, with its unit


@dataclass(frozen=True)
class TitleBlock:
    """The head of a printed report; what is empty is left out, or made of the edition's title."""

    title: str = ""
    authors: tuple[str, ...] = ()
    event: str = ""  # what the competition was held with
    date: str = ""
    abstract: str = ""


def default_variants() -> dict[str, tuple[str, ...]]:
    """Return the values to compare where an edition names none."""
    votes = (Conflicts.VOTING, Conflicts.ODD_ONE_OUT, Conflicts.IGNORE)
    return {"overhead": (str(Overhead.SINGLE),), "conflicts": tuple(map(str, votes))}


@dataclass(frozen=True)
class Edition:
    """One competition: everything about it that is not a measurement."""

    id: str
    title: str
    path: Path
    remarks: tuple[str, ...] = ()  # what a reader of its results has to know
    rules: ScoringRules = field(default_factory=ScoringRules)
    layout: Layout | None = None  # None for the tidy layout
    results: Source = Source()
    benchmark_files: Source = Source()
    verdict_tolerance: Tolerance | None = None  # how exact a known `correct` is
    verdict_origin: str = "published"  # or measured: the folder in data
    tracks: Mapping[str, Track] = field(default_factory=dict)
    skips: tuple[Skip, ...] = ()
    participants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by benchmark
    overhead_modes: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=default_variants)  # to compare
    display: Mapping[str, str] = field(default_factory=dict)  # tool names as printed
    families: Mapping[str, str] = field(default_factory=dict)  # the same tool in all editions
    tool_files: Mapping[str, str] = field(default_factory=dict)  # where not the tool's name
    benchmark_display: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, About] = field(default_factory=dict)  # by benchmark
    statistic_titles: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    extra_tools: tuple[str, ...] = ()  # not part of the competition
    report: TitleBlock = TitleBlock()

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """Every benchmark, in the order of the tracks."""
        return tuple(b for track in self.tracks.values() for b in track.benchmarks)

    @property
    def scored(self) -> tuple[str, ...]:
        """The benchmarks that count in an overall ranking."""
        unscored = {b for track in self.tracks.values() for b in track.unscored}
        return tuple(b for b in self.benchmarks if b not in unscored)

    @property
    def track_names(self) -> tuple[str, ...]:
        """What can be asked for: the tracks, ``scored``, ``unscored`` and ``all``."""
        return tuple(dict.fromkeys([*self.tracks, SCORED, UNSCORED, ALL_TRACKS]))

    def track_of(self, benchmark: str) -> str:
        """Return the track a benchmark belongs to."""
        return next(n for n, track in self.tracks.items() if benchmark in track.benchmarks)

    def in_track(self, track: str) -> tuple[str, ...]:
        """Return the benchmarks of a track, or of one of the choices in `track_names`.

        Raises
        ------
        UsageError
            For an unknown name, with the nearest known one.
        """
        check_known("track", [track], self.track_names)
        if track in self.tracks:
            return self.tracks[track].benchmarks
        if track == ALL_TRACKS:
            return self.benchmarks
        return tuple(b for b in self.benchmarks if (b in self.scored) == (track == SCORED))

    def own_folder(self, source: Source) -> Path | None:
        """Return the folder of a source whose files come with the edition's file; or None."""
        return self.path.parent / source.folder if source.folder else None

    def name(self, tool: str) -> str:
        """Return a tool's name as printed.

        A display name from an edition file may contain LaTeX math between dollar signs; the
        raw name of a tool is text, whatever characters it has.
        """
        mark = EXTRA_MARK if tool in self.extra_tools else ""
        return self.display.get(tool, tool) + mark

    def benchmark_name(self, benchmark: str) -> str:
        """Return a benchmark's name as printed, which is plain text."""
        return self.benchmark_display.get(benchmark, benchmark)

    def family(self, tool: str) -> str:
        """Return the name that a tool has in all editions it took part in."""
        return self.families.get(tool, tool.casefold())

    def variant_grid(self) -> list[dict[str, str]]:
        """Return the rule variants to compare: every combination of the listed values."""
        values = itertools.product(*self.variants.values())
        return [dict(zip(self.variants, chosen, strict=True)) for chosen in values]
