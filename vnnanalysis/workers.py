"""Measures counterexamples in processes of their own, several at a time.

A process that dies takes one counterexample with it, not the run: that one is noted, the rest
of its work goes to a new process.
"""

import json
import math
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from typing import IO

from vnnanalysis.errors import UsageError
from vnnanalysis.tasks import Measurement, Status, Task

LIMIT_S = 600.0  # for one counterexample
_LARGE = 100_000_000  # bytes of files, unpacked; more is worked on by one process only
_GZIP_LEAST = 18  # bytes
_LARGEST_GROUP = 64  # tasks handed out at a time
_MODULE = "vnnanalysis.measure"
_PATIENCE_S = 5.0
_DEATHS = 2  # of processes at one task, before it is at fault

_Queue = queue.SimpleQueue[list[int]]
Answer = tuple[int, Measurement]  # position of the task, and what came out


def measure_all(
    tasks: Sequence[Task], n_jobs: int, answered: Callable[[int, Measurement], None]
) -> None:
    """Measure counterexamples.

    Parameters
    ----------
    tasks : sequence of Task
        The work; those that share files are best kept together.
    n_jobs : int
        How many processes.
    answered : callable
        Called in this thread with the position of each task and its measurement, in the
        order in which they come.
    """
    large: _Queue = queue.SimpleQueue()  # for one process, one after the other
    small: _Queue = queue.SimpleQueue()
    groups = _groups(tasks)
    for group in groups:
        is_large = max(sum(map(_size, tasks[i].files)) for i in group) > _LARGE
        (large if is_large else small).put(group)
    answers: queue.SimpleQueue[Answer | Exception | None] = queue.SimpleQueue()
    work = [[large, small], *([small] for _ in range(1, min(n_jobs, len(groups))))]
    workers = [_Worker(tasks, queues, answers) for queues in work]
    for worker in workers:
        worker.start()
    try:
        at_work = len(workers)
        while at_work:
            answer = _next_answer(answers, workers)
            if answer is None:
                at_work -= 1
            elif isinstance(answer, Exception):
                raise answer
            else:
                answered(*answer)
    finally:
        for worker in workers:
            worker.stop()


def _next_answer(
    answers: "queue.SimpleQueue[Answer | Exception | None]", workers: "list[_Worker]"
) -> Answer | Exception | None:
    """Wait for an answer, and see to it that no worker takes too long."""
    while True:
        for worker in workers:
            worker.look_at_the_clock()
        with suppress(queue.Empty):
            return answers.get(timeout=1.0)


def _groups(tasks: Sequence[Task]) -> list[list[int]]:
    """Sort the work by its files, and cut it where the networks change or it becomes long."""
    order = sorted(range(len(tasks)), key=lambda i: (tasks[i].networks, tasks[i].prop, i))
    groups: list[list[int]] = []
    for i in order:
        last = groups[-1] if groups else []
        if last and len(last) < _LARGEST_GROUP and tasks[last[-1]].networks == tasks[i].networks:
            last.append(i)
        else:
            groups.append([i])
    return groups


class _Worker(threading.Thread):
    """Hands groups of tasks to a process, and starts another one when it dies."""

    def __init__(
        self,
        tasks: Sequence[Task],
        work: "list[_Queue]",
        answers: "queue.SimpleQueue[Answer | Exception | None]",
    ) -> None:
        super().__init__(daemon=True)
        self.tasks, self.work, self.answers = tasks, work, answers
        self.process: subprocess.Popen[str] | None = None
        self.deaths: dict[int, int] = {}  # of processes, by the task they were at
        self.deadline = math.inf
        self.is_late = self.is_stopped = False

    def run(self) -> None:
        try:
            for waiting in self.work:
                self._work_off(waiting)
        except OSError as error:
            told = f"cannot start a process that measures counterexamples: {error.strerror}"
            self.answers.put(UsageError(told))
        except Exception as error:
            self.answers.put(error)
        finally:
            self._end()
            self.answers.put(None)

    def _work_off(self, waiting: "_Queue") -> None:
        while not self.is_stopped:
            try:
                group = waiting.get_nowait()
            except queue.Empty:
                return
            while group and not self.is_stopped:
                group = self._hand_out(group)

    def _hand_out(self, group: list[int]) -> list[int]:
        """Let the process work on a group; return what is left of it if the process dies."""
        if self.process is None:
            self.process = _start()
        stdin, stdout = _pipes(self.process)
        with suppress(BrokenPipeError):  # seen below, where no answer comes
            stdin.write(json.dumps([asdict(self.tasks[i]) for i in group]) + "\n")
            stdin.flush()
        for done, i in enumerate(group):
            self.deadline = time.monotonic() + LIMIT_S
            line = stdout.readline()
            self.deadline = math.inf
            if not line.endswith("\n"):
                return self._after_death(group[done:])
            self.is_late = False
            self.answers.put((i, Measurement.of_text(line)))
        return []

    def _after_death(self, group: list[int]) -> list[int]:
        """Return what is left to do; the first task is at fault if this happens to it twice."""
        first, code = group[0], self._end()
        self.deaths[first] = self.deaths.get(first, 0) + 1
        if self.is_stopped or (self.deaths[first] < _DEATHS and not self.is_late):
            return group
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        reason = f"the process that measured it died here ({how})"
        if self.is_late:
            reason, self.is_late = f"not measured within {LIMIT_S:g} s", False
        self.answers.put((first, Measurement(Status.NOT_AVAILABLE, reason, is_lasting=False)))
        return group[1:]

    def _end(self) -> int:
        """End the process and return its exit code."""
        process, self.process = self.process, None
        if process is None:
            return 0
        stdin, stdout = _pipes(process)
        with suppress(BrokenPipeError):
            stdin.close()  # one that has nothing to do ends by itself
        try:
            code = process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        stdout.close()
        return code

    def look_at_the_clock(self) -> None:
        """End a process that takes too long; called from another thread."""
        process = self.process
        if process is not None and time.monotonic() > self.deadline:
            self.is_late, self.deadline = True, math.inf
            process.kill()

    def stop(self) -> None:
        """End the process, whatever it is doing; called from another thread."""
        self.is_stopped = True
        process = self.process
        if process is not None:
            process.kill()
        self.join()


@cache
def _size(path: str) -> int:
    """Return how large a file is, unpacked (modulo 4 GiB, as its last bytes say)."""
    try:
        with open(path, "rb") as stream:
            end = stream.seek(0, os.SEEK_END)
            if not path.endswith(".gz") or end < _GZIP_LEAST:
                return end
            stream.seek(-4, os.SEEK_END)
            return int.from_bytes(stream.read(4), "little")
    except OSError:
        return 0


def _pipes(process: "subprocess.Popen[str]") -> tuple[IO[str], IO[str]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _start() -> "subprocess.Popen[str]":
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", _MODULE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env=environment,
    )
