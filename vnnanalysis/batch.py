"""Run the notebooks of a grid side by side; what is up to date is left alone."""

import inspect
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from vnnanalysis.analysis import Analysis, analyse, open_analysis, parse_names
from vnnanalysis.batch_grid import Grid, Run
from vnnanalysis.comparison import Compared, comparison, comparison_page
from vnnanalysis.editions import Edition
from vnnanalysis.errors import NotebookError, SchemaError, UsageError, check_known
from vnnanalysis.manifest import (
    OLD,
    STAGING,
    check_target,
    chosen,
    is_current,
    made_from,
    made_with,
    put_in_place,
    write_manifest,
    write_whole,
)
from vnnanalysis.ranking import variant_name
from vnnanalysis.rules import ScoringRules
from vnnanalysis.runner import Job, run_jobs
from vnnanalysis.summary import caveats
from vnnanalysis.tables import Table, csv_bytes, to_text

DONE, CURRENT, FAILED, NOT_RUN = "done", "up to date", "failed", "not run"
COLUMNS = ["edition", "overhead", "conflicts", "track", "notebook", "outcome", "seconds", "problem"]
PAGE, OUTCOMES = "comparison.html", "outcomes.csv"
_OURS = re.compile(r"tables|figures|csv|manifest\.json|.*\.ipynb")  # what a run's folder holds
_SELECTION = ("overhead", "conflicts", "track", "benchmarks", "tools")


@dataclass(frozen=True)
class Task:
    """A run, where its files go, and what they will have been made from."""

    run: Run
    target: Path
    manifest: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What became of a run: one of `DONE`, `CURRENT`, `FAILED`, `NOT_RUN`."""

    outcome: str = NOT_RUN
    seconds: float | None = None
    problem: str = ""


@dataclass(frozen=True)
class Batch:
    """What became of a grid.

    Attributes
    ----------
    outcomes : DataFrame
        A row per run in the order of the grid; columns `COLUMNS`. `seconds` is missing where
        nothing ran.
    is_interrupted : bool
        Whether Ctrl-C ended it.
    """

    outcomes: pd.DataFrame
    is_interrupted: bool

    @property
    def has_failed(self) -> bool:
        """Whether a run failed."""
        return bool((self.outcomes["outcome"] == FAILED).any())


def run_batch(grid: Grid, *, force: bool = False, n_processes: int | None = None) -> Batch:
    """Run what is not up to date, and write outcomes and comparison.

    A run's files replace earlier ones only when all are there. Those of a run that fails stay
    as they were, and the others go on.

    Parameters
    ----------
    grid : Grid
        From `batch_grid.read_grid`.
    force : bool
        Run what is up to date too.
    n_processes : int, optional
        How many notebooks run at once; as many as there are processors by default.

    Raises
    ------
    VnnAnalysisError
        If an edition cannot be read, or a combination is one that it cannot have: then
        nothing ran. If another batch is at work in the folder.
    """
    tasks, compared = prepare(grid)
    with _alone(grid.out):
        _clean(grid.out)
        outcomes = {
            task.run.folder: Outcome(CURRENT) if not force and _is_done(task) else Outcome()
            for task in tasks
        }
        todo = [task for task in tasks if outcomes[task.run.folder].outcome == NOT_RUN]
        is_interrupted = False
        try:
            _run_all(grid, todo, outcomes, n_processes)
        except KeyboardInterrupt:
            is_interrupted = True
            for task in todo:  # with `force`, what was there before still is
                if outcomes[task.run.folder].outcome == NOT_RUN and _is_done(task):
                    outcomes[task.run.folder] = Outcome(CURRENT)
        _write(grid, compared, outcomes)
        return Batch(_frame(tasks, outcomes), is_interrupted)


def prepare(grid: Grid) -> tuple[list[Task], list[Compared]]:
    """Read every edition once, score every variant, and say what each run is made from.

    Returns
    -------
    list of Task
        Every run, in the order of the grid.
    list of Compared
        The overall scores of every edition.

    Raises
    ------
    VnnAnalysisError
        As `run_batch`.
    """
    tasks, compared, versions = list[Task](), list[Compared](), made_with()
    for name in grid.editions:
        runs = [run for run in grid.runs if run.edition == name]
        opened, files_at = _open(grid, runs[0]), runs[0].parameters.get("benchmarks_dir")
        facts, overall = made_from(opened.contest), list[pd.DataFrame]()
        notes: dict[str, list[str]] = {}
        for variant in dict.fromkeys(run.variant for run in runs):
            analysis = _analyse(grid, opened, next(run for run in runs if run.variant == variant))
            names = {"overhead": variant[1], "conflicts": variant[2]}
            overall.append(analysis.overall.assign(**names))
            for note in caveats(analysis.judged, opened.contest.checks, analysis.rules):
                notes.setdefault(note, []).append(variant_name(names))
            known = {**facts, **chosen(analysis, files_at), **versions}
            tasks += [_task(grid, run, known) for run in runs if run.variant == variant]
        compared.append(_compared(name, opened.edition, overall, notes))
    return tasks, compared


def _open(grid: Grid, run: Run) -> Analysis:
    """Read an edition, with the parameters that all its runs have in common."""
    names = [n for n in inspect.signature(open_analysis).parameters if n not in _SELECTION]
    with grid.file.at("parameters", "settings"):
        ScoringRules().with_settings(run.parameters.get("settings") or {})
    for name in ("extra", "checks", "benchmarks_dir"):
        with grid.file.at("parameters", name):
            for path in parse_names(name, run.parameters.get(name)):
                if not Path(path).exists():
                    raise UsageError(f"no such file or folder: {path}")
    with grid.file.at("editions", value=grid.written(run.edition)):
        return open_analysis(**{n: run.parameters[n] for n in names if n in run.parameters})


def _analyse(grid: Grid, opened: Analysis, run: Run) -> Analysis:
    """Score one variant."""
    edition, selection = opened.edition, dict[str, Any]()
    with grid.file.at("tracks", value=run.track):
        check_known(f"track of {run.edition}", [run.track], edition.track_names)
    for name, known in (("benchmarks", edition.benchmarks), ("tools", edition.tools)):
        with grid.file.at("parameters", name):
            selection[name] = parse_names(name, run.parameters.get(name))
            check_known(f"{name[:-1]} of {run.edition}", selection[name], known)
    rules = opened.rules.with_settings({"overhead": run.overhead, "conflicts": run.conflicts})
    try:
        return analyse(opened.contest, rules, track=run.track, **selection)
    except UsageError as error:
        raise SchemaError(grid.file.path, f"{', '.join(run.variant)}: {error}") from None


def _task(grid: Grid, run: Run, facts: Mapping[str, Any]) -> Task:
    target = grid.out / run.folder
    try:
        if not target.is_dir() or not all(_OURS.fullmatch(path.name) for path in target.iterdir()):
            check_target(target)
    except OSError as error:
        raise UsageError(f"cannot write to {target}: {error.strerror}") from None
    parameters = {**run.parameters, "out": str(target)}
    return Task(run, target, {**facts, "notebook": run.notebook.stem, "parameters": parameters})


def _is_done(task: Task) -> bool:
    return is_current(task.target, task.manifest)


def _compared(
    name: str,
    edition: Edition,
    overall: Sequence[pd.DataFrame],
    notes: Mapping[str, Sequence[str]],
) -> Compared:
    """Join the scores of all variants; a track is scored the same in every selection with it.

    A note that is not about every variant begins with those that it is about.
    """
    columns = ["overhead", "conflicts", "track", "rank", "tool", "score"]
    scored = [rows for rows in overall if len(rows)] or overall[:1]
    rows = pd.concat(scored, ignore_index=True)[columns]
    rows = rows.drop_duplicates(["overhead", "conflicts", "track", "tool"], ignore_index=True)
    told = [
        note if len(about) == len(overall) else f"{'; '.join(dict.fromkeys(about))}: {note}"
        for note, about in notes.items()
    ]
    return Compared(name, edition, rows, (*edition.remarks, *told))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep a second batch out of the folder; the lock ends with this process."""
    import fcntl

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"{folder}: another batch is at work here") from None
        yield


def _clean(out: Path) -> None:
    """Remove what a batch that was killed left; an earlier result it had moved is put back."""
    for leftover in out.glob(f"{STAGING}*"):
        for old in leftover.glob(f"*/*/*{OLD}"):
            target = out / old.relative_to(leftover).with_name(old.name.removesuffix(OLD))
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                old.rename(target)
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink()


def _run_all(
    grid: Grid, tasks: Sequence[Task], outcomes: dict[Path, Outcome], n_processes: int | None
) -> None:
    """Run notebooks, and note in `outcomes` what became of each as soon as it is done."""
    if not tasks:
        return
    staging = Path(tempfile.mkdtemp(prefix=STAGING, dir=grid.out))
    jobs, starts = {staging / task.run.folder: task for task in tasks}, dict[Path, float]()

    def started(job: Job) -> None:
        starts[job.output.parent] = time.perf_counter()

    try:
        with (
            closing(run_jobs([_job(*job) for job in jobs.items()], n_processes, started=started))
            as runs,
            _bar(len(outcomes), done=len(outcomes) - len(tasks)) as bar,
        ):  # fmt: skip
            for job, failure in runs:
                folder = job.output.parent
                outcome = _finish(folder, jobs[folder], failure)
                seconds = time.perf_counter() - starts[folder]
                outcomes[jobs[folder].run.folder] = replace(outcome, seconds=seconds)
                bar.set_description_str(f"{jobs[folder].run.folder.as_posix()} {outcome.outcome}")
                bar.update()
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _bar(total: int, done: int) -> tqdm:
    """Return a progress bar; there is none without a terminal."""
    return tqdm(total=total, initial=done, bar_format="{bar:30} {n}/{total} {desc}", disable=None)


def _job(folder: Path, task: Task) -> Job:
    folder.mkdir(parents=True)
    notebook = task.run.notebook
    parameters = {**task.run.parameters, "out": str(folder)}
    return Job(notebook, folder / notebook.name, parameters, shown_out=task.target)


def _finish(folder: Path, task: Task, failure: NotebookError | None) -> Outcome:
    """Put the files of a run in place, if it succeeded."""
    if failure:
        problem = f"{failure.cell}: {failure.problem}".replace(str(folder), str(task.target))
        return Outcome(FAILED, problem=" ".join(problem.split()))
    try:
        write_manifest(folder, task.manifest)
        task.target.parent.mkdir(parents=True, exist_ok=True)
        put_in_place(folder, task.target)
    except OSError as error:
        return Outcome(FAILED, problem=f"cannot write {task.target}: {error.strerror}")
    return Outcome(DONE)


def _frame(tasks: Iterable[Task], outcomes: Mapping[Path, Outcome]) -> pd.DataFrame:
    rows = [
        (*task.run.variant, task.run.notebook.stem, *vars(outcomes[task.run.folder]).values())
        for task in tasks
    ]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"seconds": "float64"})


def _write(grid: Grid, compared: Sequence[Compared], outcomes: Mapping[Path, Outcome]) -> None:
    """Write outcomes and comparison: as things are, however many calls that took."""
    runs = {run.folder: run for run in grid.runs}
    states = {
        folder: (DONE if outcome.outcome == CURRENT else outcome.outcome, outcome.problem)
        for folder, outcome in outcomes.items()
    }
    rows = [(*runs[f].variant, runs[f].notebook.stem, *state) for f, state in states.items()]
    table = pd.DataFrame(rows, columns=[name for name in COLUMNS if name != "seconds"])
    files = {
        OUTCOMES: csv_bytes(table),
        "comparison.csv": csv_bytes(comparison(compared)),
        PAGE: comparison_page(grid, compared, states).encode(),
    }
    try:
        for name, content in files.items():
            write_whole(grid.out / name, content)
    except OSError as error:
        raise UsageError(f"cannot write to {grid.out}: {error.strerror}") from None


def outcome_text(grid: Grid, batch: Batch) -> str:
    """Return the table of outcomes for a terminal."""
    counts = batch.outcomes["outcome"].value_counts()
    told = [f"{counts[o]} {o}" for o in (DONE, CURRENT, FAILED, NOT_RUN) if o in counts]
    caption = f"{grid.file.path.name}: {', '.join(told)}"
    edition = Edition(id="grid", title=caption, path=grid.file.path)
    return to_text(Table("outcomes", caption, batch.outcomes, edition))
