"""The table of benchmarks: against the files, the printed tables, and LaTeX."""

import numpy as np
import pandas as pd
import pytest
from conftest import INVENTED, contest_of_year, real_path
from small_nets import Contest, linear

from vnnanalysis.analysis import analyse, open_analysis
from vnnanalysis.benchmark_table import COLUMNS, benchmark_overview, printed, widths
from vnnanalysis.display import show_table
from vnnanalysis.editions import read_edition
from vnnanalysis.latex import compile_report, has_latex
from vnnanalysis.load import load_contest
from vnnanalysis.networks import benchmark_facts
from vnnanalysis.paths import resource

SAID = """
[tracks.main]
benchmarks = ["2023_second", "2023_toy"]
unscored = ["2023_second"]
[tools.a]
[tools.b]
[tools.c]
[benchmarks.2023_toy]
application = "Control"
"""


@pytest.fixture
def toy(tmp_path):
    """Two benchmarks, the first unscored; limits of 60 s, and one of 90.5 s."""
    contest = Contest(tmp_path / "toy")
    contest.network("small", linear(np.ones((2, 2)), np.ones(2)))
    contest.network("large", linear(np.ones((50, 70)), np.ones(50)))
    for name in ("small", "large", "absent"):
        contest.answer("a", name, "p", result="unsat")
    contest.answer("b", "small", "p", result="sat")
    contest.answer("c", "small", "p", result="timeout")
    contest.answer("b", "only", "q", benchmark="second", result="unsat")
    path = contest.edition()
    path.write_text(path.read_text() + SAID)
    limits = contest.benchmarks / "benchmarks" / "toy" / "instances.csv"
    limits.write_text(
        limits.read_text().replace(
            "absent.onnx,vnnlib/p.vnnlib,60", "absent.onnx,vnnlib/p.vnnlib,90.5"
        )
    )
    extra = tmp_path / "mine.csv"
    extra.write_text("tool,benchmark,instance,result,time_s\nmine,2023_toy,small-p,unsat,1\n")
    loaded = load_contest(str(path), contest.results, benchmarks=contest.benchmarks,
                          validate=False, extra=[extra])  # fmt: skip
    return analyse(loaded, loaded.edition.rules), contest.benchmarks


def test_one_row_for_every_benchmark(toy):
    analysis, folder = toy
    table = benchmark_overview(analysis, folder)
    assert list(table.columns) == COLUMNS
    second, first = table.astype("object").where(table.notna(), None).to_dict("records")
    assert second == dict.fromkeys(COLUMNS) | {
        "benchmark": "2023_second", "track": "main", "scored": False, "instances": 1,
        "networks": 1, "limit_min_s": 60.0, "limit_max_s": 60.0, "tools": 1, "files": 1,
        "networks_read": 0, "gaps": "1 not here",
    }  # fmt: skip
    assert first == dict.fromkeys(COLUMNS) | {
        "benchmark": "2023_toy", "track": "main", "scored": True, "application": "Control",
        "instances": 3, "networks": 3, "limit_min_s": 60.0, "limit_max_s": 90.5, "tools": 2,
        "files": 3, "networks_read": 2, "operators": "Gemm", "parameters_min": 6,
        "parameters_max": 3550, "inputs": "2 to 70", "outputs": "2 to 50", "gaps": "1 not here",
    }  # fmt: skip


def test_a_tool_beside_the_edition_names_no_files(toy):
    analysis, folder = toy
    facts = benchmark_facts(analysis.runs, analysis.edition, folder)
    assert facts[["files", "networks_read"]].to_numpy().tolist() == [[1, 0], [3, 2]]


def test_what_is_printed(toy):
    analysis, folder = toy
    shown = printed(benchmark_overview(analysis, folder))
    assert shown.astype("object").where(shown.notna(), None).to_dict("list") == {
        "benchmark": ["2023_second", "2023_toy"],
        "application": [None, "Control"],
        "networks": ["1", "3 (2 read)"],
        "limits_s": ["60", "60 to 90.5"],
        "operators": [None, "Gemm"],
        "parameters": [None, "6 to 3,550"],
    }
    assert set(widths(shown)) == set(shown.columns)
    without = printed(benchmark_overview(analysis).drop(columns="operators").assign(operators=None))
    assert without["track"].tolist() == ["main, unscored", "main"]
    assert without[["instances", "tools"]].to_numpy().tolist() == [[1, 1], [3, 2]]


def test_a_selection_and_a_tidy_file():
    analysis = open_analysis(edition=INVENTED, benchmarks=["toy_cnn", "toy_extra"])
    table = benchmark_overview(analysis)
    assert table["benchmark"].tolist() == ["toy_cnn", "toy_extra"]
    assert table["networks"].isna().all()  # a tidy file names none
    assert printed(table).columns.tolist() == [
        *("benchmark", "track", "instances", "tools", "limits_s"),
    ]


@pytest.fixture(scope="module")
def of_2021():
    contest = contest_of_year("2021")
    return benchmark_overview(analyse(contest, contest.edition.rules))


def test_2021_against_the_printed_tables(of_2021):
    table = of_2021.set_index("benchmark")
    rows = pd.read_csv(real_path("published", "2021-multi", "benchmarks.csv"))
    rows["benchmark"] = rows["benchmark"].replace("cifar10-resnet", "cifar10_resnet")
    printed_tools = rows.groupby("benchmark")["tool"].nunique()
    assert set(printed_tools.index) == set(table.index)
    differ = table["tools"] - printed_tools.reindex(table.index)
    assert differ[differ != 0].to_dict() == {}
    # sections 0.4.1 and 0.4.6 of the report: 45 networks, 186 instances; three networks
    assert table.loc["acasxu", ["networks", "instances"]].tolist() == [45, 186]
    assert table.loc["mnistfc", "networks"] == 3
    assert table.loc["verivital", "network_types"] == "Conv + maxpool / avgpool"
    assert table[["operators", "limit_min_s", "parameters_max"]].isna().all(axis=None)


def test_limits_are_those_of_the_benchmark_files():
    folder, results = real_path("benchmarks"), real_path("results", "vnncomp2022_results")
    contest = load_contest("2022", results, benchmarks=folder, validate=False, with_checks=False)
    table = benchmark_overview(analyse(contest, contest.edition.rules), folder)
    for row in table.itertuples():
        files = folder / "vnncomp2022_benchmarks" / "benchmarks" / row.benchmark
        listed = pd.read_csv(files / "instances.csv", header=None)
        assert (row.limit_min_s, row.limit_max_s) == (listed[2].min(), listed[2].max())
        assert row.networks == listed[0].str.removeprefix("./").nunique()
        here = [f for f in set(listed[0]) if list(files.glob(f"{f.removesuffix('.gz')}*"))]
        assert row.networks_read == len(here)


@pytest.mark.skipif(not has_latex(), reason="no pdflatex")
def test_it_fits_the_line(of_2021, tmp_path):
    """As in the report; also with the longest of everything."""
    longest = of_2021.assign(
        operators="Add, AveragePool, BatchNormalization, ConvTranspose, Softmax",
        parameters_min=13305, parameters_max=138357544, limit_min_s=30.0, limit_max_s=1800.0,
        networks_read=1, files=45,
    )  # fmt: skip
    edition = read_edition("2021")
    for name, table in (("plain", of_2021), ("longest", longest)):
        shown = printed(table)

        class Subject:
            label, out = f"2021-{name}", tmp_path

        Subject.edition = edition
        show_table(Subject, name, shown, "benchmarks", widths=widths(shown))
    preamble = resource("reports", "templates", "preamble.tex.j2").read_text()
    inputs = "".join(rf"\input{{tables/{name}}}" for name in ("plain", "longest"))
    tex = tmp_path / "report.tex"
    tex.write_text(
        r"\documentclass[11pt,a4paper]{article}\usepackage[T1]{fontenc}\usepackage{lmodern}"
        r"\usepackage[margin=2.4cm]{geometry}"
        f"\n{preamble}\n"
        rf"\begin{{document}}\small\setlength{{\tabcolsep}}{{4pt}}{inputs}\end{{document}}"
    )
    assert compile_report(tex) == []
