import io
import json
import os
import subprocess
import sys

import pandas as pd
import pytest
from click.testing import CliRunner
from conftest import INVENTED, real_path

from vnnanalysis.cli import main
from vnnanalysis.scoring import BENCHMARK_COLUMNS, INSTANCE_COLUMNS


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.mark.parametrize(
    ("by", "columns", "n_rows"),
    [
        ("overall", ["track", "rank", "tool", "score"], 4),
        ("benchmark", BENCHMARK_COLUMNS, 10),
        ("instance", INSTANCE_COLUMNS, 50),
    ],
)
def test_score_in_every_format(by, columns, n_rows):
    csv = run("score", INVENTED, "--by", by, "--format", "csv")
    assert csv.exit_code == 0
    assert csv.stdout.splitlines()[0] == ",".join(columns)
    assert len(pd.read_csv(io.StringIO(csv.stdout))) == n_rows
    records = json.loads(run("score", INVENTED, "--by", by, "--format", "json").stdout)
    assert [list(record) for record in records] == [columns] * n_rows
    assert r"\toprule" in run("score", INVENTED, "--by", by, "--format", "latex").stdout
    assert "Invented contest" in run("score", INVENTED, "--by", by).stdout


def test_latex_of_two_variants_has_two_labels():
    latex = run("score", INVENTED, "--set", "conflicts=voting", "--format", "latex").stdout
    assert r"\label{tab:invented-multi-voting-overall}" in latex
    assert r"\label{tab:invented-overall}" in run("score", INVENTED, "--format", "latex").stdout


def test_columns_are_the_documented_ones():
    assert ",".join(BENCHMARK_COLUMNS) == (
        "track,benchmark,rank,tool,verified,falsified,fastest,incorrect,points,percent,solved_percent"
    )
    assert ",".join(INSTANCE_COLUMNS) == (
        "benchmark,index,instance,tool,result,truth,verdict,points,run_s,corrected_s,reason"
    )


def test_set_track_and_selection():
    out = run("score", INVENTED, "--set", "conflicts=ignore", "--set", "overhead=single",
              "--track", "main", "--only", "toy_cnn", "--tools", "tool_wrong,tool_sound",
              "--format", "csv").stdout  # fmt: skip
    # toy_cnn single, c5 ignored: best 34, sound 34, wrong 22
    assert out.splitlines()[1:] == [
        "main,1,tool_sound,100.0",
        "main,3,tool_wrong,64.70588235294117",
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["score", "exmple"], "unknown edition 'exmple': nearest is 'example'"),
        (["score", INVENTED, "--set", "overhead"], "expected NAME=VALUE, such as overhead=single"),
        (["score", INVENTED, "--set", "ovrhead=single"], "nearest is 'overhead'"),
        (["score", INVENTED, "--set", "overhead=simple"], "nearest is 'single'"),
        (["score", INVENTED, "--track", "regular"], "unknown track 'regular'"),
        (["score", INVENTED, "--only", "toy_can"], "nearest is 'toy_cnn'"),
        (["score", INVENTED, "--benchmarks", "none"], "limits of a tidy file are its own"),
        (["score", INVENTED, "--tools", "best"], "nearest is 'tool_best'"),
        (["score", INVENTED, "--extra", "none.csv"], "no such file"),
        (["score", "2021", "--results", "none"], "expected a checkout of stanleybak"),
        (["check", INVENTED], "no published figures of Invented contest"),
        (["report", INVENTED, "--set", "tie=1"], "unknown rule setting 'tie': nearest is 'tie_s'"),
        (["score", INVENTED, "--set", "correct_points=99999999999999999999"], "at most 1000000"),
        (["score", INVENTED, "--rules", "2012"], "unknown edition for --rules '2012'"),
        (["score", INVENTED, "--rules", "2025-zerro"], "unknown word for a rule 'zerro': nearest"),
        (["score", INVENTED, "--checks", "none.csv"], "no such file"),
        (["check"], "name one edition, or --all"),
        (["check", "2021", "--all"], "name one edition, or --all"),
        (["check", "--all", "--results-root", "none"], "no such folder"),
        (["editions", "--results-root", "none"], "no such folder"),
        (["fetch", "2012"], "unknown edition '2012'"),
        (["export", "--editions", "2021-2031", "--out", "x"], "unknown edition '2031'"),
        (
            ["export", "--editions", "2021", "--results-root", ".", "--out", "x"],
            "no results of VNN",
        ),
        (["score", INVENTED, "--set", "overhead="], "unknown value for overhead ''"),
        (["score", INVENTED, "--set", "tie_s=nan"], "tie_s: expected seconds, found 'nan'"),
        (["score", INVENTED, "--set", "easy_sat_tool=best"], "unknown tool 'best'"),
        (["report", INVENTED, "--out", "pyproject.toml"], "pyproject.toml is a file; name a"),
        (["report", INVENTED, "--out", "."], "holds something that is no report of ours"),
        (["report", INVENTED, "--out", "/proc/none/here"], "cannot write the report to"),
    ],
)
def test_errors_are_one_line_and_exit_1(arguments, expected):
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    [line] = result.stderr.strip().splitlines()
    assert line.startswith("Error: ")
    assert expected in line
    assert isinstance(result.exception, SystemExit)


def test_notes_go_to_stderr(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("tool,benchmark,instance,result,time_s\na,b,i,unsat,1\na,b,j,nope,1\n")
    assert "line 3, column 4 (result)" in run("score", path).stderr
    lenient = run("score", path, "--lenient", "--format", "csv")
    assert lenient.exit_code == 0
    assert lenient.stderr.startswith("note: c.csv, line 3, column 4 (result): bad row: expected")
    assert lenient.stdout == "track,rank,tool,score\nmain,1,a,100.0\n"


def test_extra_tool(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("tool,benchmark,instance,result,time_s\nmine,toy_cnn,c3,unsat,2\n")
    out = run("score", INVENTED, "--extra", path, "--by", "benchmark").stdout
    assert "mine (not in competition)" in out


def test_the_default_folder_of_a_report_tells_reports_apart():
    from vnnanalysis.cli import _report_name

    nothing = {"track": "all", "benchmarks": None, "tools": None, "extra": (), "checks": (),
               "lenient": False, "rules": None}  # fmt: skip
    names = [
        _report_name("example", {}, nothing),
        _report_name("example", {"overhead": "single"}, nothing),
        _report_name("example", {}, nothing | {"tools": "a"}),
        _report_name("example", {}, nothing | {"benchmarks": "a"}),
        _report_name("some/example.csv", {}, nothing),
        _report_name("some/mine.csv", {}, nothing),
        _report_name("2021", {}, nothing | {"track": "main"}),
        _report_name("example", {"tie_s": "1"}, nothing),
        _report_name("example", {"time_floor_s": "1"}, nothing),
        _report_name("example", {}, nothing | {"rules": "2026"}),
        _report_name("2026", {}, nothing),
    ]
    assert len(set(names)) == len(names)
    assert names[0] == "example"
    assert names[5] == "mine"
    assert names[6] == "2021-main"


def test_output_survives_a_terminal_without_greek():
    env = os.environ | {"PYTHONIOENCODING": "latin-1"}
    command = [sys.executable, "-m", "vnnanalysis.cli", "score", INVENTED]
    done = subprocess.run(command, env=env, capture_output=True, check=True)
    assert b"\\u03b1-Best" in done.stdout


def test_check_2021():
    result = run("check", "2021", "--results", real_path("results", "vnncomp2021_results"))
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[-1] == "all tables: 935 of 935 figures equal"
    assert lines[0] == "overall main, single / voting: 13 of 13 figures equal"
    assert len(lines) == 39


def test_check_exits_1_on_a_difference(tmp_path):
    for path in real_path("results", "vnncomp2021_results", "results_csv").glob("*.csv"):
        rows = path.read_bytes()
        if path.name == "nnv.csv":
            rows = rows.replace(b",holds,", b",violated,", 40)
        (tmp_path / path.name).write_bytes(rows)
    result = run("check", "2021", "--results", tmp_path)
    assert result.exit_code == 1
    assert "not explained" in result.stdout


def test_score_2021_as_published():
    results = real_path("results", "vnncomp2021_results")
    out = run("score", "2021", "--results", results, "--set", "overhead=single",
              "--set", "conflicts=odd_one_out", "--format", "csv").stdout  # fmt: skip
    table = pd.read_csv(io.StringIO(out))
    published = pd.read_csv(real_path("published", "2021-single", "overall.csv"))
    pd.testing.assert_frame_equal(table.round(1), published)


@pytest.mark.length
def test_check_all_says_one_line_per_edition():
    result = run("check", "--all", "--results-root", real_path("results"))
    assert result.exit_code == 0
    lines = dict(line.split(": ", 1) for line in result.stdout.splitlines())
    assert list(lines) == ["2021", "2022", "2023", "2024", "2025", "2026", "study"]
    assert lines["2021"] == "935 of 935 figures equal"
    assert lines["2026"] == "no figures are published yet, nothing to compare"
    assert lines["2024"].startswith("632 of 733 figures equal, 101 explained: inputs newer than")
    assert "DIFFERENT" not in result.stdout


def test_check_all_goes_on_after_a_failure(tmp_path):
    real = real_path("results")
    for name in ("vnncomp2021_results", "vnncomp2022_results"):
        (tmp_path / name).symlink_to(real / name)
    broken = tmp_path / "vnncomp2023_results" / "nnv"
    broken.mkdir(parents=True)
    (broken / "results.csv").write_text("a,b\n")
    result = run("check", "--all", "--results-root", tmp_path)
    assert result.exit_code == 1
    lines = dict(line.split(": ", 1) for line in result.stdout.splitlines())
    assert lines["2022"].endswith("figures equal")
    assert "line 1, column 2: expected 6 fields" in lines["2023"]
    assert lines["2024"].startswith("no vnncomp2024_results in")


def test_check_finds_the_results_below_a_root():
    result = run("check", "2022", "--results-root", real_path("results"))
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "all tables: 6861 of 6861 figures equal"


def test_check_all_fails_on_a_difference(tmp_path):
    real = real_path("results") / "vnncomp2023_results"
    copy = tmp_path / "vnncomp2023_results"
    for path in real.glob("*/results.csv"):
        (copy / path.parent.name).mkdir(parents=True)
        text = path.read_text()
        hit = path.parent.name == "nnenum"
        (copy / path.parent.name / "results.csv").write_text(
            text.replace(",unsat,", ",unknown,", 1) if hit else text
        )
    result = run("check", "--all", "--results-root", tmp_path)
    assert result.exit_code == 1
    [line] = [line for line in result.stdout.splitlines() if line.startswith("2023: ")]
    assert "DIFFERENT, not explained" in line


def test_what_the_data_cannot_give_is_said_on_stderr():
    results = real_path("results", "vnncomp2023_results")
    said = run("score", "2023", "--results", results, "--rules", "2026").stderr
    assert "measured more laxly than tolerance zero asks for" in said
    assert "time limits of 2313 of 2313 instances are not known" in said
    assert run("score", "2023", "--results", results).stderr == ""


@pytest.mark.parametrize("selection", [["--only", ","], ["--tools", " , "]])
def test_a_selection_of_nothing_is_refused(selection):
    result = run("score", INVENTED, *selection)
    assert result.exit_code == 1
    assert "expected names" in result.stderr


def test_rules_and_checks_on_the_command_line(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("tool,benchmark,instance,result,time_s\na,b,i,sat,1\nc,b,i,unsat,2\n")
    verdicts = tmp_path / "v.csv"
    verdicts.write_text("benchmark,instance,tool,verdict\nb,i,a,correct\n")
    csv = ("--rules", "2025", "--by", "instance", "--format", "csv")
    proven = run("score", path, "--checks", verdicts, *csv).stdout
    assert "-150" in proven
    assert "-150" not in run("score", path, *csv).stdout
    assert "tolerance: zero" in run("score", path, "--rules", "2025-zero").stdout
