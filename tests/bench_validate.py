"""Counterexamples against the organisers' validator: ``make bench ORGANISERS=<folder>``.

The folder is the ``SCORING`` folder of one of their results repositories (2023 to 2025), with
``counterexamples.py`` and ``vnnlib.py``. Their settings and their cache are left out: the first
asks for a machine of theirs, the second would measure itself.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

import numpy as np

from vnnanalysis.load import load_contest
from vnnanalysis.measured_cache import Cache
from vnnanalysis.texts import read_bytes
from vnnanalysis.validate import measure_sats, verdict_table
from vnnanalysis.verdicts import NAMED
from vnnanalysis.witness_files import find_files

N_WITNESSES = 200
YEARS = ("2022", "2023", "2024")


def sample(results, benchmarks):
    """Return sats with all their files, as evenly over the benchmarks as there are."""
    by_benchmark = {}
    for year in YEARS:
        folder = results / f"vnncomp{year}_results"
        contest = load_contest(year, folder, validate=False)
        sats = find_files(contest.edition, contest.runs, folder, benchmarks)
        rng = np.random.default_rng(int(year))
        for i in rng.permutation(len(sats)):
            task = sats[i].task
            if task.witness and not task.absent:
                by_benchmark.setdefault((year, sats[i].benchmark), []).append(sats[i])
    chosen = []
    while len(chosen) < N_WITNESSES:
        for sats in by_benchmark.values():
            chosen += [sats.pop()] if sats else []
    return chosen[:N_WITNESSES]


def organisers(folder):
    """Return the organisers' function, which judges one witness."""
    settings = types.ModuleType("settings")
    settings.Settings = type("Settings", (), {"IGNORE_CE_Y": False})
    cachier = types.ModuleType("cachier")
    cachier.cachier = lambda **_: lambda function: function
    sys.modules |= {"settings": settings, "cachier": cachier}
    sys.path.insert(0, str(folder))
    import counterexamples

    return counterexamples.get_ce_diff


def unpack(sats, folder):
    """Write networks and properties unpacked, as the organisers' code does before it judges."""
    places = {}
    for sat in sats:
        for path in (sat.task.networks[0][1], sat.task.prop):
            if path not in places:
                place = folder / f"{len(places)}{Path(path.removesuffix('.gz')).suffix}"
                place.write_bytes(read_bytes(Path(path)))
                places[path] = str(place)
    return places


def theirs(judge, sats, places):
    """Judge all, one after the other; an assertion of theirs that fails is an answer too."""
    found = []
    for sat in sats:
        network, prop = places[sat.task.networks[0][1]], places[sat.task.prop]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                found.append(judge(network, prop, sat.task.witness, 1e-4, 1e-3)[0])
        except (AssertionError, ValueError) as error:
            found.append(type(error).__name__)
    return found


def ours(sats, n_jobs):
    """Judge all, in processes that are started for it."""
    measured = measure_sats("", sats, n_jobs=n_jobs, cache=Cache(None))
    return verdict_table(measured, NAMED["2023"])["verdict"].tolist()


def resident_kb(pid):
    """Return the memory of a process and of all it started."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        own = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
        children = [c for f in Path(f"/proc/{pid}/task").glob("*/children")
                    for c in f.read_text().split()]  # fmt: skip
    except (OSError, TypeError):  # at its end
        return 0
    return own + sum(resident_kb(child) for child in children)


def peak_gb(command):
    """Run a command; return the most memory that all its processes had together, in GB."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        peak = 0
        while run.poll() is None:
            peak = max(peak, resident_kb(run.pid))
            time.sleep(0.02)
    assert run.returncode == 0
    return peak / 1e6


def timed(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - start


def main(results, folder):
    """Print times and ratios."""
    benchmarks = results.parent / "benchmarks"
    sats = sample(results, benchmarks)
    one, alone_s = timed(ours, sats, 1)
    _, both_s = timed(ours, sats, 2)
    print(
        f"{len(sats)} counterexamples, one process: {alone_s:.1f} s ({len(sats) / alone_s:.0f}/s)"
    )
    print(f"two processes: {both_s:.1f} s, ratio {alone_s / both_s:.2f}")
    if folder is not None:
        with tempfile.TemporaryDirectory() as place:
            judge = organisers(folder)
            found, theirs_s = timed(lambda: theirs(judge, sats, unpack(sats, Path(place))))
        n_equal = sum(a == b for a, b in zip(one, found, strict=True))
        print(f"the organisers' validator: {theirs_s:.1f} s, ratio {theirs_s / alone_s:.1f}")
        print(f"the same verdict: {n_equal} of {len(sats)}")
        for sat, a, b in zip(sats, one, found, strict=True):
            if a != b:
                print(f"  {sat.benchmark} {sat.position} {sat.tool}: {a}, theirs {b}")
    command = [sys.executable, "-m", "vnnanalysis.cli", "validate", "2023", "--results",
               str(results / "vnncomp2023_results"), "--benchmarks", str(benchmarks)]  # fmt: skip
    with tempfile.TemporaryDirectory() as place:
        os.environ["VNNANALYSIS_CACHE"] = str(Path(place) / "cache.sqlite")
        peak, first_s = timed(peak_gb, command)
        again_s = min(timed(peak_gb, command)[1] for _ in range(3))
    print(f"validate 2023: {first_s:.1f} s, all processes together at most {peak:.2f} GB")
    print(f"the same again: {again_s:.2f} s, ratio {first_s / again_s:.1f}")


if __name__ == "__main__":
    given = sys.argv[2] if len(sys.argv) > 2 else ""
    main(Path(sys.argv[1]).resolve(), Path(given).resolve() if given else None)
