"""Measurements are found again by content; whatever happens to the file, results stay right."""

import dataclasses
import json
import os
import sqlite3
import threading

import pytest
from small_nets import Contest, declared, linear, witness_text, write_model

from vnnanalysis import tasks
from vnnanalysis.load import load_contest
from vnnanalysis.measured_cache import Cache, digests
from vnnanalysis.tasks import Measurement, Status, Task
from vnnanalysis.validate import measure_sats
from vnnanalysis.witness_files import find_files

NUMBERS = dict.fromkeys(tasks.NUMBERS, 0.5) | {"max_abs_diff": float("inf")}
GOOD = Measurement(Status.MEASURED, "", NUMBERS, "Sign")


@pytest.fixture
def toy(tmp_path):
    contest = Contest(tmp_path)
    contest.network("same", linear([[1]], [0]), end=".onnx")
    contest.property("box", declared(1, 1) + "(assert (<= X_0 1))", end=".vnnlib")
    contest.answer("a", "same", "box", witness=witness_text([0.5], [0.5]))
    return contest


def measured(contest, cache):
    loaded = load_contest(str(contest.edition()), contest.results, validate=False)
    sats = find_files(loaded.edition, loaded.runs, contest.results, contest.benchmarks)
    return measure_sats("toy", sats, n_jobs=1, cache=cache).iloc[0]


def test_what_was_put_is_found(tmp_path):
    cache = Cache(tmp_path / "new" / "c.sqlite")
    cache.put({"k": GOOD, "gone": Measurement(Status.NOT_AVAILABLE, "x", is_lasting=False)})
    assert Cache(tmp_path / "new" / "c.sqlite").get(["k", "gone", "other"]) == {"k": GOOD}
    many = {f"k{i}": Measurement(Status.NO_CE, str(i)) for i in range(3000)}
    cache.put(many)
    assert cache.get(many) == many
    assert cache.problem == ""


def test_the_key_is_the_content(tmp_path, monkeypatch):
    for name in ("w", "n", "p"):
        (tmp_path / name).write_text(name)
    task = Task(*(str(tmp_path / n) if n != "n" else (("", str(tmp_path / n)),) for n in "wnp"))
    keys = {task.key(digests(task.files))}
    for name in ("w", "n", "p"):
        stat = (tmp_path / name).stat()
        (tmp_path / name).write_text(name.upper())
        os.utime(tmp_path / name, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        keys.add(task.key(digests(task.files)))
    keys.add(dataclasses.replace(task, version="2.0").key(digests(task.files)))
    keys.add(dataclasses.replace(task, absent="not here: x").key(digests(task.files)))
    two = [("f", task.networks[0][1]), ("g", task.witness)]
    for networks in (two, [("g", two[0][1]), ("f", two[1][1])]):
        keys.add(dataclasses.replace(task, networks=tuple(networks)).key(digests(task.files)))
    (tmp_path / "w.gz").write_text("W")
    packed = dataclasses.replace(task, witness=str(tmp_path / "w.gz"))
    keys.add(packed.key(digests(packed.files)))
    monkeypatch.setattr(tasks, "ENGINE", "another engine")
    keys.add(task.key(digests(task.files)))
    monkeypatch.setattr(tasks, "SCHEMA", tasks.SCHEMA + 1)
    keys.add(task.key(digests(task.files)))
    assert len(keys) == 11


def test_the_same_path_with_other_content_is_measured_again(toy, tmp_path):
    cache = Cache(tmp_path / "c.sqlite")
    assert measured(toy, cache)["max_abs_diff"] == 0.0
    path = toy.benchmarks / "benchmarks/toy/onnx/same.onnx"
    stat = path.stat()
    write_model(path, linear([[2]], [0]))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert measured(toy, cache)["max_abs_diff"] == 0.5


@pytest.mark.parametrize(
    "content",
    ["", "no json", "{}", "[]", '{"status": "odd"}',
     json.dumps(json.loads(GOOD.as_text()) | {"numbers": 5}),
     json.dumps(json.loads(GOOD.as_text()) | {"numbers": {}}),
     GOOD.as_text().replace("Infinity", "true"), GOOD.as_text().replace("Infinity", "NaN"),
     GOOD.as_text().replace("Infinity", '"abc"'), GOOD.as_text().replace("max_abs", "max_odd"),
     GOOD.as_text().replace('"reason": ""', '"reason": null')],
)  # fmt: skip
def test_a_row_that_is_damaged_is_measured_again(toy, tmp_path, content):
    path = tmp_path / "c.sqlite"
    measured(toy, Cache(path))
    with sqlite3.connect(path) as database:
        database.execute("update measured set content = ?", (content,))
    database.close()
    cache = Cache(path)
    assert measured(toy, cache)["max_abs_diff"] == 0.0
    assert cache.problem == ""
    [kept] = Cache(path).get([_only_key(path)]).values()
    assert kept.status == "measured"


def _only_key(path):
    database = sqlite3.connect(path)
    [(key,)] = database.execute("select key from measured").fetchall()
    database.close()
    return key


@pytest.mark.parametrize("kind", ["garbage", "folder", "foreign", "no folder"])
def test_a_cache_that_cannot_be_used_is_told_and_nothing_else(toy, tmp_path, kind):
    path = tmp_path / "c.sqlite"
    if kind == "garbage":
        path.write_bytes(b"garbage" * 1000)
    elif kind == "folder":
        path.mkdir()
    elif kind == "foreign":
        with sqlite3.connect(path) as database:
            database.execute("create table measured (something text)")
        database.close()
    else:
        (tmp_path / "file").write_text("")
        path = tmp_path / "file" / "c.sqlite"
    cache = Cache(path)
    assert measured(toy, cache)["max_abs_diff"] == 0.0
    assert str(path) in cache.problem
    assert "measurements are not kept" in cache.problem


def test_several_may_write_at_once(tmp_path):
    path = tmp_path / "c.sqlite"

    def work(name):
        cache = Cache(path)
        for i in range(30):
            cache.put({f"{name}-{i}": GOOD, f"shared-{i}": GOOD})
        assert cache.problem == ""

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keys = [f"{n}-{i}" for n in [*range(6), "shared"] for i in range(30)]
    assert set(Cache(path).get(keys)) == set(keys)
