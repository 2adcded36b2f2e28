"""Runs the tools of the example on its instances: ``python run.py``, about eight minutes.

Every run is a process of its own with one thread, stopped at the instance's limit. Results and
counterexamples are written as the competition does, times are wall-clock seconds.
"""

import argparse
import csv
import datetime
import gzip
import importlib.metadata
import itertools
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
TOOLS = ("dice", "uphill", "boxes", "branches", "bigm", "optimist")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
PACKAGES = ("numpy", "scipy", "onnx", "onnxruntime")


class Run(NamedTuple):
    """A tool on an instance; paths are relative to the benchmark."""

    tool: str
    benchmark: str
    network: str
    property: str
    limit_s: float


class Outcome(NamedTuple):
    """What was measured, and the counterexample's text."""

    prepare_s: float
    result: str
    run_s: float
    witness: str


def instances(benchmark: str, tool: str) -> list[Run]:
    """Return the runs of a tool on a benchmark, in the order of its list."""
    with (HERE / "benchmarks" / benchmark / "instances.csv").open(newline="") as file:
        return [Run(tool, benchmark, n, p, float(limit)) for n, p, limit in csv.reader(file)]


def measure(run: Run) -> Outcome:
    """Prepare and run a tool on an instance."""
    with tempfile.TemporaryDirectory() as scratch:
        start = time.perf_counter()
        folder = HERE / "benchmarks" / run.benchmark
        files = [shutil.copy(folder / name, scratch) for name in (run.network, run.property)]
        prepared = time.perf_counter()
        answer = Path(scratch) / "result.txt"
        command = [sys.executable, HERE / "tools" / f"{run.tool}.py", *files, str(run.limit_s),
                   answer]  # fmt: skip
        try:
            done = subprocess.run(
                command, env=os.environ | ONE_THREAD, timeout=run.limit_s, check=False,
                capture_output=True, text=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Outcome(prepared - start, "timeout", time.perf_counter() - prepared, "")
        run_s = time.perf_counter() - prepared
        if run_s >= run.limit_s:
            return Outcome(prepared - start, "timeout", run_s, "")
        if done.returncode:
            told = done.stderr.strip().rpartition("\n")[2]
            sys.stderr.write(f"{run.tool} on {run.property}: {told}\n")
            return Outcome(prepared - start, f"error_exit_code_{done.returncode}", run_s, "")
        text = answer.read_text() if answer.is_file() else "no_result_in_file"
        result, _, witness = text.partition("\n")
        return Outcome(prepared - start, result, run_s, witness)


def write(tool: str, outcomes: list[tuple[Run, Outcome]], results: Path) -> None:
    """Replace the results and counterexamples of a tool."""
    shutil.rmtree(results / tool, ignore_errors=True)
    (results / tool).mkdir(parents=True)
    lines = []
    for run, outcome in outcomes:
        base = f"benchmarks/{run.benchmark}"
        lines.append(
            f"{run.benchmark},{base}/{run.network},{base}/{run.property},"
            f"{outcome.prepare_s:.6f},{outcome.result},{outcome.run_s:.6f}\n"
        )
        if outcome.result == "sat":
            stem = f"{Path(run.network).stem}_{Path(run.property).stem}"
            path = results / tool / run.benchmark / f"{stem}.counterexample.gz"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(gzip.compress(outcome.witness.encode(), mtime=0))
    (results / tool / "results.csv").write_text("".join(lines))


def machine(jobs: int) -> str:
    """Describe the machine, as TOML."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    facts = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": names[0] if names else platform.processor(),
        "n_processors": os.cpu_count(),
        "n_runs_at_a_time": jobs,
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in PACKAGES},
    }
    return "".join(f"{k} = {v}\n" if isinstance(v, int) else f'{k} = "{v}"\n'
                   for k, v in facts.items())  # fmt: skip


def main() -> None:
    """Run what was asked for."""
    known = sorted(path.parent.name for path in HERE.glob("benchmarks/*/instances.csv"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", nargs="+", default=TOOLS, choices=TOOLS)
    parser.add_argument("--benchmarks", nargs="+", default=known, choices=known)
    parser.add_argument("--first", type=int, help="only so many instances of each benchmark")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--out", type=Path, help="results/ by default; a selection needs another")
    given = parser.parse_args()
    is_whole = (*given.tools, *given.benchmarks) == (*TOOLS, *known) and not given.first
    if not given.out and not is_whole:
        parser.error("name another folder for a part of the results with --out")
    out = given.out or HERE / "results"
    pairs = itertools.product(given.benchmarks, given.tools)
    runs = [run for pair in pairs for run in instances(*pair)[: given.first]]
    with ThreadPoolExecutor(given.jobs) as pool:
        outcomes = dict(zip(runs, pool.map(measure, runs), strict=True))
    for tool in given.tools:
        write(tool, [(run, outcomes[run]) for run in runs if run.tool == tool], out)
    (out / "machine.toml").write_text(machine(given.jobs))


if __name__ == "__main__":
    main()
