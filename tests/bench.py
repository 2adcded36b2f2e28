"""Speed, as ratios against an alternative in the same run: ``make bench [RESULTS=<folder>]``."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from vnnanalysis.analysis import analyse, compare_variants, variant_grid
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
    for variant in variant_grid(load_contest("2021", results).edition):
        settings = [
            part for name, value in variant.items() for part in ("--set", f"{name}={value}")
        ]
        command = [sys.executable, "-m", "vnnanalysis.cli", "score", "2021"]
        command += ["--results", str(results), *settings]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main(results):
    """Print what things take, and how that compares."""
    one = min(seconds(lambda: in_one_process(results)) for _ in range(3))
    many = seconds(lambda: in_many_processes(results))
    print(f"the six variants of 2021, read, judged and scored in one process: {one:.2f} s")
    print(f"one process for each of them: {many:.2f} s, ratio {many / one:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        parameters = {"edition": "2021", "results": str(results)}
        target = Path(folder) / "report"
        whole = seconds(lambda: build_report(parameters, target, say=print))
        again = seconds(lambda: build_report(parameters, target))
    print(f"whole 2021 report: {whole:.1f} s")
    print(f"the same when nothing changed: {again:.2f} s, ratio {whole / again:.0f}")


if __name__ == "__main__":
    default = root().parent / "shared" / "results" / "vnncomp2021_results"
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else default)
