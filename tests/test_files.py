"""Which file holds whose rows: one per tool, or one per tool and benchmark."""

import shutil

import pytest
from conftest import raw_row, real_path

from vnnanalysis.analysis import open_analysis
from vnnanalysis.editions import Source
from vnnanalysis.errors import UsageError
from vnnanalysis.files import locate
from vnnanalysis.load import load_contest


@pytest.mark.parametrize("year", ["2022", "2023", "2024", "2025"])
def test_both_layouts_of_a_year_give_the_same_runs(tmp_path, year):
    """The same rows from one file per tool, and from one per tool and benchmark."""
    results = real_path("results", f"vnncomp{year}_results")
    for path in results.glob("*/*/results.csv"):
        copy = tmp_path / path.relative_to(results)
        copy.parent.mkdir(parents=True)
        shutil.copy(path, copy)
    flat, folders = load_contest(year, results), load_contest(year, tmp_path)
    assert flat.runs["source"].str.count("/").eq(1).all()
    assert folders.runs["source"].str.count("/").eq(2).all()
    columns = flat.runs.columns.drop("source")
    assert flat.runs[columns].equals(folders.runs[columns])
    assert flat.checks.equals(folders.checks)


def test_a_tool_without_its_own_file_is_read_from_its_folders(raw_edition):
    rows = raw_row("acas", "a.onnx", "p.vnnlib", "unsat")
    edition, folder = raw_edition({"flat": rows}, files="{tool}/results.csv")
    other = folder / "deep" / "acas" / "results.csv"
    other.parent.mkdir(parents=True)
    other.write_text(rows)
    path = shutil.copy(edition, folder.parent / "two.toml")
    text = (folder.parent / "two.toml").read_text()
    (folder.parent / "two.toml").write_text(
        text.replace(
            'files = "{tool}/results.csv"',
            'files = ["{tool}/results.csv", "{tool}/{benchmark}/results.csv"]',
        )
        + '[tools."deep"]\n'
    )
    runs = load_contest(str(path), folder).runs
    assert runs["source"].tolist() == ["flat/results.csv:1", "deep/acas/results.csv:1"]


def test_an_unknown_tool_with_rows_is_refused_in_either_layout(tmp_path):
    results = real_path("results", "vnncomp2025_results")
    for tool in ("nnenum", "nnenumm"):
        folder = tmp_path / tool / "2025_acasxu_2023"
        folder.mkdir(parents=True)
        shutil.copy(results / "nnenum" / "2025_acasxu_2023" / "results.csv", folder)
    with pytest.raises(UsageError, match="'nnenumm' is no tool of VNN-COMP 2025: nearest is 'nne"):
        load_contest("2025", tmp_path)


def test_a_left_out_tool_is_shown_by_name_and_prover_is_not_rover(tmp_path):
    """Skips are exact names: rover of 2025 does not score, a tool called prover would."""
    contest = load_contest("2025", real_path("results", "vnncomp2025_results"))
    rover = contest.runs[contest.runs["tool"] == "rover"]
    reason = "skipped: rover, left out of scoring by the organisers"
    assert set(rover["excluded"]) == {reason}
    analysis = open_analysis(edition="2025", results=real_path("results", "vnncomp2025_results"))
    assert "rover" not in set(analysis.scores["tool"])
    assert "rover" in analysis.listed


def test_a_skip_is_an_exact_name(raw_edition):
    row = raw_row("acas", "a.onnx", "p.vnnlib", "unsat")
    more = '[[skips]]\ntool = "rover"\nreason = "r"\n[[skips]]\nbenchmark = "ac"\nreason = "r"\n'
    edition, folder = raw_edition(
        {"rover": row, "prover": row}, benchmarks=("acas", "ac"), more=more
    )
    runs = load_contest(edition, folder).runs.set_index("tool")
    assert runs["excluded"].to_dict() == {"rover": "skipped: rover, r", "prover": ""}


def test_skipped_networks_of_2022():
    contest = load_contest("2022", real_path("results", "vnncomp2022_results"))
    left_out = contest.runs[contest.runs["excluded"].str.contains("convBigRELU")]
    assert set(left_out["benchmark"]) == {"cifar2020"}
    assert left_out["network"].str.contains("convBigRELU").all()
    assert len(left_out) == 715


def test_what_a_broken_fetch_leaves_is_no_checkout(tmp_path):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    assert locate(Source("owner/repo", "c"), "2099", tmp_path) is None
    (tmp_path / "2099").mkdir()
    (tmp_path / "2099" / "file").touch()
    assert locate(Source("owner/repo", "c"), "2099", tmp_path) == tmp_path / "2099"
    assert locate(Source(), "2099", tmp_path) is None


def test_an_empty_file_of_a_tool_does_not_hide_its_folders(tmp_path):
    results = real_path("results", "vnncomp2022_results")
    folder = tmp_path / "verinet" / "oval21"
    folder.mkdir(parents=True)
    shutil.copy(results / "verinet" / "oval21" / "results.csv", folder)
    (tmp_path / "verinet" / "results.csv").touch()
    runs = load_contest("2022", tmp_path).runs
    assert runs["source"].iloc[0] == "verinet/oval21/results.csv:1"
    (tmp_path / "verinet" / "acasxu").mkdir()
    (tmp_path / "verinet" / "acasxu" / "results.csv").touch()
    told = load_contest("2022", tmp_path).problems
    assert "no rows: judged without this tool" not in set(told["problem"])


def test_one_name_in_two_benchmark_years_is_two_instances(raw_edition):
    """Case L1, where the benchmark's id has no year (2022)."""
    rows = [
        f"tllb,vnncomp{year}_benchmarks/benchmarks/tllb/onnx/a.onnx,"
        f"vnncomp{year}_benchmarks/benchmarks/tllb/p.vnnlib,.1,{result},.9\n"
        for year, result in ((2022, "sat"), (2023, "unsat"))
    ]
    edition, folder = raw_edition({"a": rows[0], "b": rows[1]}, benchmarks=("tllb",))
    analysis = open_analysis(edition=edition, results=str(folder))
    assert analysis.judged["verdict"].tolist() == ["correct", "correct"]
    assert analysis.judged["instance"].tolist() == ["2022:onnx/a-p", "2023:onnx/a-p"]


@pytest.mark.parametrize(
    ("made", "root", "expected"),
    [
        ("all/repo", "all", "all/repo"),
        ("all/2099", "all", "all/2099"),
        ("2099", "all", "2099"),  # beside the root, as the study is beside the results
        ("benchmarks/repo", "all", "benchmarks/repo"),
        ("repo", "repo", "repo"),
        ("all/other", "all", None),
    ],
)
def test_a_checkout_is_located(tmp_path, made, root, expected):
    (tmp_path / "all").mkdir()
    (tmp_path / made).mkdir(parents=True, exist_ok=True)
    (tmp_path / made / "file").touch()
    found = locate(Source("owner/repo", "c"), "2099", tmp_path / root)
    assert found == (tmp_path / expected if expected else None)
