"""README, "Adding an edition": its steps, with the 2026-layout contest as if it were a new year."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from vnnanalysis.paths import root

FIXTURES = root() / "tests" / "fixtures"
STEP_1_AND_2 = """
title = "Contest of 2027"
[source]
repository = "owner/vnncomp2026_results"
commit = "0123456789012345678901234567890123456789"
[layout]
files = ["{tool}/{benchmark}/results.csv"]
benchmark_id = "{year}_{category}"
[rules]
overhead = "none"
conflicts = "per-tool"
tolerance = "zero"
enforce_timeouts = true
incorrect_points = -150
fastest_bonus = 0
second_bonus = 0
[variants]
conflicts = ["per-tool", "voting"]
"""
STEP_4 = """
[tracks.regular]
benchmarks = ["2026_toy_acas"]
[tracks.extended]
benchmarks = ["2026_twin_nets"]
[benchmarks]
2026_toy_acas = "Toy ACAS"
[tools]
exact = { display = '$\\epsilon$-Exact' }
quick = {}
sampler = {}
"""


@pytest.fixture
def tree(tmp_path):
    """A copy of the project to which an edition is added, and its command line."""
    for name in ("vnnanalysis", "data", "notebooks", "reports/templates"):
        shutil.copytree(
            root() / name, tmp_path / name, ignore=shutil.ignore_patterns("raw", "__pycache__")
        )
    shutil.copy(root() / "pyproject.toml", tmp_path)
    results = ["--results", str(FIXTURES / "vnncomp2026_results")]

    def run(*arguments, limits=True, own=False):
        where = ["--benchmarks", str(FIXTURES / "vnncomp2026_benchmarks")] if limits else []
        places = [] if own else [*results, *where]
        return subprocess.run(
            [sys.executable, "-m", "vnnanalysis.cli", *arguments, *places], cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    return tmp_path, run


@pytest.mark.length
def test_the_steps_of_the_readme(tree):
    folder, run = tree
    steps = (root() / "README.md").read_text().partition("## Adding an edition")[2]
    assert len(re.findall(r"^\d\. ", steps.partition("\n## ")[0], re.MULTILINE)) == 6
    edition = folder / "data" / "editions" / "2027.toml"
    # 1 and 2: source, layout, rules; 3: a first look, tools and benchmarks from the files
    edition.write_text(STEP_1_AND_2)
    first = run("score", "2027", "--format", "csv")
    rows = [
        "track,rank,tool,score",
        "main,1,exact,200.0",
        "main,2,quick,100.0",
        "main,3,sampler,0.0",
    ]
    assert first.stdout.splitlines() == rows
    # 4: tracks and names; a misspelt one is an error
    edition.write_text(STEP_1_AND_2 + STEP_4.replace('"2026_twin_nets"', '"2026_twin_net"'))
    wrong = run("score", "2027")
    assert "found 'twin_nets'" in wrong.stderr
    assert "nearest is '2026_twin_net'" in wrong.stderr
    edition.write_text(STEP_1_AND_2 + STEP_4)
    table = run("score", "2027", "--track", "regular", "--by", "benchmark", "--format", "latex")
    assert "Toy ACAS" in table.stdout
    assert "twin" not in table.stdout
    assert r"$\epsilon$-Exact" in table.stdout
    # 5 and 6: published figures, with the verdicts that the results folder has
    published = folder / "data" / "published" / "2027"
    published.mkdir()
    (published / "overall.csv").write_text(
        "track,rank,tool,score\nregular,1,exact,100.0\nregular,2,quick,0\nregular,2,sampler,0\n"
        "extended,1,exact,100.0\nextended,1,quick,100.0\n"
    )
    check = run("check", "2027", limits=False)
    assert "the time limits are enforced" in check.stderr  # needed here too
    (folder / "data" / "raw").mkdir()
    shutil.copytree(
        FIXTURES / "vnncomp2026_benchmarks", folder / "data" / "raw" / "vnncomp2026_benchmarks"
    )
    edition.write_text(
        STEP_1_AND_2.replace(
            "[layout]",
            '[benchmark_source]\nrepository = "owner/vnncomp2026_benchmarks"\n'
            'commit = "0123456789012345678901234567890123456789"\n[layout]',
        )
        + STEP_4
    )
    check = run("check", "2027", limits=False)
    assert check.returncode == 0, check.stderr + check.stdout
    assert check.stdout.splitlines()[-1] == "all tables: 5 of 5 figures equal"
    assert "2027  Contest of 2027" in run("editions", own=True).stdout
    notebook = subprocess.run(
        [sys.executable, "-m", "papermill", "notebooks/03_scores.ipynb", "out.ipynb",
         "--no-progress-bar", "-p", "edition", "2027", "-p", "out", "made",
         "-p", "results", str(FIXTURES / "vnncomp2026_results")],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(folder)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert notebook.returncode == 0, notebook.stderr[-2000:]
    overall = (folder / "made" / "csv" / "overall-regular.csv").read_text()
    assert overall == "rank,tool,score\n1,exact,100.0\n2,quick,0.0\n2,sampler,0.0\n"
