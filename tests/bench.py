"""Speed, as ratios against an alternative in the same run: ``make bench [RESULTS=<folder>]``.

The folder holds the results repositories of 2021 and 2025.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from vnnanalysis.analysis import analyse, compare_variants
from vnnanalysis.load import load_contest
from vnnanalysis.paths import root
from vnnanalysis.report import build_report


def seconds(function):
    """Return the run time of a function."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def in_one_process(results):
    """Load once, judge and score every variant."""
    contest = load_contest("2021", results)
    compare_variants(analyse(contest, contest.edition.rules))


def in_many_processes(results):
    """Run the command line once for every variant."""
    for variant in load_contest("2021", results).edition.variant_grid():
        settings = [
            part for name, value in variant.items() for part in ("--set", f"{name}={value}")
        ]
        command = [sys.executable, "-m", "vnnanalysis.cli", "score", "2021"]
        command += ["--results", str(results), *settings]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def report_of(year, results):
    """Build a whole report twice and tell how long it took."""
    with tempfile.TemporaryDirectory() as folder:
        parameters = {"edition": year, "results": str(results)}
        target = Path(folder) / "report"
        whole = seconds(lambda: build_report(parameters, target, say=print))
        again = seconds(lambda: build_report(parameters, target))
    print(f"whole {year} report: {whole:.1f} s")
    print(f"the same when nothing changed: {again:.2f} s, ratio {whole / again:.0f}")
    return whole


def main(root_folder):
    """Print what things take, and how that compares."""
    old, new = (root_folder / f"vnncomp{year}_results" for year in ("2021", "2025"))
    one = min(seconds(lambda: in_one_process(old)) for _ in range(3))
    many = seconds(lambda: in_many_processes(old))
    print(f"the six variants of 2021, read, judged and scored in one process: {one:.2f} s")
    print(f"one process for each of them: {many:.2f} s, ratio {many / one:.1f}")
    small, large = report_of("2021", old), report_of("2025", new)
    print(f"2025 has twice the rows and three times the benchmarks: ratio {large / small:.1f}")


if __name__ == "__main__":
    default = root().parent / "shared" / "results"
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else default)
