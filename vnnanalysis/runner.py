"""Run notebooks side by side, each in a process of its own."""

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vnnanalysis.errors import NotebookError
from vnnanalysis.notebooks import run_notebook

WAKE_S = 0.5
DIED = "ended before it was done (killed?)"

Failure = tuple[str, ...] | None  # the parts of a NotebookError


def _nothing(job: "Job") -> None:
    """Tell nobody that a job starts."""


@dataclass(frozen=True)
class Job:
    """One notebook to run.

    Attributes
    ----------
    notebook : Path
        The notebook.
    output : Path
        Where the executed notebook goes; its folder is made.
    parameters : mapping
        Values for its parameters cell.
    shown_out : Path or None
        The folder that the executed notebook shall name as its parameter `out`, where what it
        writes is moved there later.
    """

    notebook: Path
    output: Path
    parameters: Mapping[str, Any]
    shown_out: Path | None = None


def run_jobs(
    jobs: Sequence[Job],
    n_processes: int | None = None,
    *,
    started: Callable[[Job], None] = _nothing,
) -> Generator[tuple[Job, NotebookError | None], None, None]:
    """Run notebooks side by side, and yield each with its failure as soon as it is done.

    A process that dies takes only its own notebook along: what ran beside it is run again.
    Where the caller stops early, is interrupted or is killed, what still runs is ended.

    Parameters
    ----------
    jobs : sequence of Job
        Started in this order.
    n_processes : int, optional
        How many run at once; as many as there are processors by default.
    started : callable
        Called with a job when it starts, and when it starts again.

    Yields
    ------
    (Job, NotebookError or None)
    """
    n_processes = min(len(jobs), n_processes or os.cpu_count() or 1)
    todo, suspects = list(jobs), list[Job]()
    with tempfile.TemporaryDirectory(prefix="vnna-", ignore_cleanup_errors=True) as sockets:
        while todo:
            with _pool(n_processes) as pool:
                start = _starter(pool, Path(sockets), started)
                yield from _run_until_one_dies(todo, n_processes, start, suspects)
            while suspects:  # alone, so that it is known whose process died
                job, died = suspects.pop(), list[Job]()
                with _pool(1) as pool:
                    start = _starter(pool, Path(sockets), started)
                    yield from _run_until_one_dies([job], 1, start, died)
                if died:
                    yield job, NotebookError(job.notebook.stem, "kernel", DIED)


def _starter(
    pool: ProcessPoolExecutor, sockets: Path, started: Callable[[Job], None]
) -> Callable[[Job], "Future[Failure]"]:
    """Return a function that starts a job in a pool, and says so."""

    def start(job: Job) -> "Future[Failure]":
        with _without_interrupts():
            future = pool.submit(_run_one, job, sockets)
        started(job)
        return future

    return start


def _run_until_one_dies(
    todo: list[Job],
    n_processes: int,
    start: Callable[[Job], "Future[Failure]"],
    suspects: list[Job],
) -> Iterator[tuple[Job, NotebookError | None]]:
    """Take jobs from `todo` and run them; those that ran when a process died are `suspects`."""
    running: dict[Future[Failure], Job] = {}
    while todo or running:
        try:
            while todo and len(running) < n_processes:
                running[start(todo[0])] = todo[0]
                todo.pop(0)
        except BrokenProcessPool:
            suspects += running.values()
            return
        # not for ever: a Ctrl-C that another thread is told of is acted upon when this one wakes
        for future in wait(running, timeout=WAKE_S, return_when=FIRST_COMPLETED).done:
            job = running.pop(future)
            try:
                failure = future.result()
            except BrokenProcessPool:
                suspects += [job, *running.values()]
                return
            yield job, NotebookError(*failure) if failure else None


@contextmanager
def _pool(n_processes: int) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of processes; they are ended where what uses it does not come to its end."""
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(n_processes, context, initializer=_end_with_parent) as pool:
        try:
            yield pool
        except BaseException:
            for child in set(multiprocessing.active_children()) - others:
                child.terminate()  # their kernels notice and end too
            raise


def _end_with_parent() -> None:
    """End this process, and so its kernel, when its parent is killed.

    It would wait for work for ever otherwise, and what it runs would go on.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes that Ctrl-C in a terminal, which all processes there get, does not reach.

    It reaches the parent, which ends them.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run_one(job: Job, sockets: Path) -> Failure:
    """Run in a child process; an error returns as its parts, which can be pickled.

    What the kernel itself logs is kept out of the terminal; its errors are in the notebook.
    Of two jobs at once with one notebook, each has its own folder for sockets.
    """
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 2)
    job.output.parent.mkdir(parents=True, exist_ok=True)
    own = sockets / str(os.getpid())
    own.mkdir(exist_ok=True)
    try:
        run_notebook(job.notebook, job.output, job.parameters, sockets=own, shown_out=job.shown_out)
    except NotebookError as error:
        return error.name, error.cell, error.problem
    except Exception as error:  # a full disk, or what papermill does not expect
        return job.notebook.stem, "kernel", f"{type(error).__name__}: {error}"
    return None
