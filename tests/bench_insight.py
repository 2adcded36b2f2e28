"""Speed of Shapley values and of the bootstrap, as ratios in one run: part of ``make bench``.

The folder holds the results repositories of 2021 and 2025. The PyPI package mcshapley is
installed aside, into a folder that is removed again.
"""

import importlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from vnnanalysis.analysis import analyse
from vnnanalysis.bootstrap import resample
from vnnanalysis.load import load_contest
from vnnanalysis.paths import root
from vnnanalysis.portfolio import points_matrix, solved_matrix
from vnnanalysis.scoring import benchmark_scores, overall_scores
from vnnanalysis.shapley import shapley_of_scores, shapley_value

OTHER = "mcshapley==0.0.2"


def seconds(function, times=1):
    """Return the shortest of some run times of a function."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def large():
    """30 tools and 100,000 instances, and what 4 and 16 times as many instances cost."""
    rng = np.random.default_rng(1)
    tools = [f"t{i}" for i in range(30)]
    scores = pd.DataFrame(rng.random((100_000, 30)), columns=tools)
    whole = seconds(lambda: shapley_of_scores(scores), 3)
    print(f"exact Shapley values of 30 tools on 100,000 instances: {whole:.2f} s")
    base = scores.head(6_250)
    costs = {k: seconds(lambda k=k: shapley_of_scores(scores.head(k * len(base))), 3)
             for k in (1, 4, 16)}  # fmt: skip
    told = ", ".join(f"{k}x {cost / costs[1]:.1f}" for k, cost in costs.items())
    print(f"cost by number of instances ({len(base)} each): {told}")


def against_mcshapley(contest):
    """Compare values and time with the package, on what 13 tools solved, and on their points."""
    analysis = analyse(contest, contest.edition.rules)
    tools = list(analysis.tools)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
                   "--disable-pip-version-check", "--target", folder, OTHER]  # fmt: skip
        if subprocess.run(command, check=False).returncode:
            print(f"{OTHER} cannot be installed here: not compared")
            return
        sys.path.insert(0, folder)
        shaps = importlib.import_module("mcshapley.shaps")
        for name, matrix, ours in (
            ("solved", solved_matrix(analysis.judged, tools), shapley_value),
            ("points", points_matrix(analysis.judged, tools).clip(lower=0), shapley_of_scores),
        ):
            cells = matrix.astype(float).to_numpy()
            keys = [f"/{k}" for k in range(len(cells))]
            scores = {
                t + key: cells[k, i] for k, key in enumerate(keys) for i, t in enumerate(tools)
            }
            theirs = shaps.get_vbs_shap(tools, keys, scores)
            worst = max(abs(ours(matrix)[tool] - theirs[tool]) for tool in tools)
            mine = seconds(lambda o=ours, m=matrix: o(m), 5)
            other = seconds(lambda k=keys, s=scores: shaps.get_vbs_shap(tools, k, s), 2)
            print(
                f"Shapley values of {name}, 13 tools of 2021, {len(cells)} instances: largest "
                f"difference from {OTHER} {worst:.1e}; ours {1e3 * mine:.1f} ms, theirs "
                f"{1e3 * other:.0f} ms, ratio {other / mine:.0f}"
            )
        sys.path.remove(folder)


def bootstrap(contest):
    """10,000 replicates of both tracks of 2025, and the score itself recomputed as often."""
    analysis = analyse(contest, contest.edition.rules)
    pair = {"own": (analysis.judged, analysis.rules)}
    tracks = list(dict.fromkeys(analysis.overall["track"]))

    def both(replicates, judged=pair):
        for track in tracks:
            resample(judged, contest.edition, track, replicates=replicates)

    ours = seconds(lambda: both(10_000))

    def once():
        scores = benchmark_scores(analysis.judged, contest.edition, analysis.rules)
        overall_scores(scores, contest.edition, analysis.rules)

    theirs = 10_000 * seconds(once, 5)
    print(f"10,000 replicates of the 2025 ranking: {ours:.1f} s")
    print(f"its score computed 10,000 times: {theirs:.0f} s, ratio {theirs / ours:.0f}")
    rows = analysis.judged
    costs = {}
    for k in (1, 4, 16):
        copies = [rows.assign(instance=rows["instance"] + f" {i}") for i in range(k)]
        judged = {"own": (pd.concat(copies, ignore_index=True), analysis.rules)}
        costs[k] = seconds(lambda j=judged: both(500, j))
    told = ", ".join(f"{k}x {cost / costs[1]:.1f}" for k, cost in costs.items())
    print(f"cost by number of instances (500 replicates): {told}")


def main(folder):
    """Print what things take, and how that compares."""
    large()
    against_mcshapley(load_contest("2021", folder / "vnncomp2021_results"))
    bootstrap(load_contest("2025", folder / "vnncomp2025_results"))


if __name__ == "__main__":
    default = root().parent / "shared" / "results"
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else default)
