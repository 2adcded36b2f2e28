"""Processes that measure: they may die, hang or be killed, and the run goes on."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import raw_of, real_path
from onnx import helper
from small_nets import declared, linear, model, witness_text, write_model, write_text

from vnnanalysis import workers
from vnnanalysis.tasks import Measurement, Task
from vnnanalysis.workers import measure_all


@pytest.fixture
def tasks(tmp_path):
    """Tasks with two networks; returns a function that makes n of each."""

    def make(n):
        made = []
        prop = write_text(tmp_path / "p.vnnlib", declared(1, 1) + "(assert (<= X_0 1))")
        for name in ("a", "b"):
            network = write_model(tmp_path / f"{name}.onnx", linear([[1]], [0]))
            for i in range(n):
                witness = write_text(tmp_path / f"{name}{i}.counterexample", witness_text([i], [i]))
                made.append(Task(str(witness), (("", str(network)),), str(prop)))
        return made

    return make


def collect(tasks, n_jobs, on_answer=lambda position: None):
    found: dict[int, Measurement] = {}

    def answered(position, measurement):
        assert position not in found
        found[position] = measurement
        on_answer(position)

    measure_all(tasks, n_jobs, answered)
    assert sorted(found) == list(range(len(tasks)))
    return [found[i] for i in range(len(tasks))]


def measuring():
    """Return the ids of the processes that measure for this one."""
    ids = []
    for children in Path("/proc/self/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            if b"vnnanalysis.measure" in Path(f"/proc/{child}/cmdline").read_bytes():
                ids.append(child)
    return ids


@pytest.mark.parametrize("n_jobs", [1, 2, 9])
def test_every_task_is_answered_once(tasks, n_jobs):
    found = collect(tasks(100), n_jobs)
    need = [m.numbers["need_replayed_float64"] for m in found]
    assert need == [i - 1.0 for i in range(100)] * 2
    assert measuring() == []


def test_what_is_large_is_worked_on_by_one_process(tasks, monkeypatch):
    monkeypatch.setattr(workers, "_LARGE", 0)
    seen = set()
    made = tasks(100)
    found = collect(made, 4, lambda position: seen.update(measuring()))
    assert {m.status for m in found} == {"measured"}
    assert len(seen) == 1


def test_nothing_to_do_starts_nothing():
    measure_all([], 2, lambda *_: pytest.fail("no answer was due"))


def test_a_process_that_is_killed_once_takes_nothing_along(tasks):
    killed = []

    def kill(position):
        if not killed and (ids := measuring()):
            os.kill(ids[0], signal.SIGKILL)
            killed.append(ids[0])

    found = collect(tasks(150), 1, kill)
    assert killed
    assert {m.status for m in found} == {"measured"}


def test_one_that_kills_its_process_is_named_and_the_others_are_measured(tasks, tmp_path):
    made = tasks(3)
    fatal = tmp_path / "fatal.py"
    fatal.write_text(
        "import os, runpy, sys\nfrom vnnanalysis import measure\nkept = measure.measure\n"
        "def measured(task, library):\n"
        "    if 'b1' in task.witness: os.abort()\n"
        "    return kept(task, library)\n"
        "measure.measure = measured\nmeasure._serve()\n"
    )
    environment = dict(os.environ, PYTHONPATH=str(tmp_path))
    kept, workers._MODULE = workers._MODULE, "fatal"
    try:
        os.environ.update(environment)
        found = collect(made, 2)
    finally:
        workers._MODULE = kept
    states = {Path(t.witness).stem: m for t, m in zip(made, found, strict=True)}
    assert states["b1"].status == "not_available"
    assert states["b1"].reason == "the process that measured it died here (signal 6)"
    assert not states["b1"].is_lasting
    assert {m.status for name, m in states.items() if name != "b1"} == {"measured"}


def endless():
    """Return a network that never ends: a loop without a limit, whose condition stays true."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Identity", ["v"], ["w"])],
        "body",
        [helper.make_tensor_value_info("i", 7, []), helper.make_tensor_value_info("c", 9, []),
         helper.make_tensor_value_info("v", 1, [1, 1])],
        [helper.make_tensor_value_info("d", 9, []), helper.make_tensor_value_info("w", 1, [1, 1])],
    )  # fmt: skip
    node = helper.make_node("Loop", ["", "t", "x"], ["y"], body=body)
    return model([node], {"x": ("float32", [1, 1])}, {"y": ("float32", [1, 1])},
                 {"t": np.array(True)})  # fmt: skip


def test_one_that_never_ends_is_left_after_a_while(tasks, tmp_path, monkeypatch):
    made = tasks(1)
    write_model(tmp_path / "b.onnx", endless())
    monkeypatch.setattr(workers, "LIMIT_S", 3.0)
    found = collect(made, 1)
    assert [m.status for m in found] == ["measured", "not_available"]
    assert found[1].reason == "not measured within 3 s"
    assert measuring() == []


@pytest.mark.parametrize(
    "how", [pytest.param(signal.SIGKILL, marks=pytest.mark.length), signal.SIGTERM]
)
def test_a_run_that_is_ended_leaves_no_process_and_a_whole_cache(tmp_path, how):
    cache = tmp_path / "cache.sqlite"
    environment = dict(os.environ, VNNANALYSIS_CACHE=str(cache))
    command = [sys.executable, "-m", "vnnanalysis.cli", "validate", "2024", "--results",
               str(raw_of("2024")), "--benchmarks", str(real_path("benchmarks")),
               "--only", "2024_acasxu_2023,2024_cora", "--jobs", "1"]  # fmt: skip
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
    ) as run:
        start = time.monotonic()
        while not _rows(cache) and time.monotonic() - start < 60:
            time.sleep(0.05)
        mine = _children(run.pid)
        assert mine
        run.send_signal(how)
        told = run.communicate()[1]
    assert "Traceback" not in told
    start = time.monotonic()
    while any(Path(f"/proc/{child}").exists() for child in mine):
        assert time.monotonic() - start < 10
        time.sleep(0.05)
    assert 0 < _rows(cache) < 700
    if how is not signal.SIGKILL:
        return
    again = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert "463 compared, 463 equal" in again.stdout


def _children(pid):
    return [int(c) for f in Path(f"/proc/{pid}/task").glob("*/children")
            for c in f.read_text().split()]  # fmt: skip


def _rows(path):
    """Count what a cache holds; opening it checks that it is whole."""
    if not path.exists():
        return 0
    database = sqlite3.connect(path)
    try:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
        return database.execute("select count(*) from measured").fetchone()[0]
    except sqlite3.OperationalError:  # not there yet
        return 0
    finally:
        database.close()
