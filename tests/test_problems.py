"""The layout of the verification study."""

import pandas as pd
import pytest
from conftest import real_path

from vnnanalysis.analysis import open_analysis
from vnnanalysis.editions import read_edition
from vnnanalysis.errors import RawDataError, UsageError
from vnnanalysis.load import load_contest

HEADER = "ProblemId,Result,TotalTime\n"
TABLE = "network_filenames;network_id;Category\na.onnx;N1;Relu\nb.onnx;N2;Tanh"  # no final newline


@pytest.fixture
def study(tmp_path):
    """Write a small study; returns its folder."""

    def write(rows=HEADER + "MNIST_P1_N1,unsat,5\n", table=TABLE):
        files = {
            "data/CPU/MNIST/mnist_0012_nnenum_results.csv": rows,
            "networks/network_ids-mnist_clean.csv": table,
            "networks/network_ids-cifar_clean.csv": TABLE,
        }
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return tmp_path

    return write


def test_labels_benchmarks_and_limits(study):
    rows = (
        "MNIST_P1_N1,unsat,5.5\nMNIST_P1_N2,timeout,3600.004\nMNIST_P2_N1,outofmemory,9\n"
        'MNIST_P2_N2,"NeurifyTranslatorError(Expected 4 or 2, got 3)",1.2\n'
        "MNIST_P3_N1,VerificationRunnerError(IndexError),\nMNIST_P3_N9,sat,3\n"
        "CIFAR_P1_N9,sat,3\n"
    )
    runs = load_contest("study", study(HEADER + rows)).runs.set_index("instance")
    assert runs["result"].to_dict() == {
        "MNIST_P1_N1": "unsat", "MNIST_P1_N2": "timeout", "MNIST_P2_N1": "error",
        "MNIST_P2_N2": "error", "MNIST_P3_N1": "error", "MNIST_P3_N9": "sat",
        "CIFAR_P1_N9": "sat",
    }  # fmt: skip
    assert runs.loc["MNIST_P1_N2", "benchmark"] == "MNIST Tanh"
    assert runs.loc["MNIST_P3_N9", "benchmark"] == "MNIST unlisted"
    assert "in no table of the study" in runs.loc["MNIST_P3_N9", "excluded"]
    assert runs.loc["CIFAR_P1_N9", "benchmark"] == "CIFAR unlisted"
    assert pd.isna(runs.loc["MNIST_P3_N1", "run_s"])
    assert set(runs["timeout_s"]) == {3600.0}
    assert runs.loc["MNIST_P2_N2", "result_raw"].endswith("got 3)")


@pytest.mark.parametrize(
    ("rows", "place", "expected"),
    [
        ("ProblemId,Result\n", "line 1, column 1", "the header ProblemId,Result,TotalTime"),
        ("", "line 1, column 1", "the header"),
        (HEADER + "MNIST_P1,unsat,5\n", "line 2, column 1 (problem)", "_P<number>_N<number>"),
        (HEADER + "SVHN_P1_N1,unsat,5\n", "line 2, column 1 (problem)", "MNIST or CIFAR"),
        (HEADER + "MNIST_P1_N1,unsatt,5\n", "line 2, column 2 (result)", "a label"),
        (HEADER + "MNIST_P1_N1,unsat,\n", "line 2, column 3 (run time)", "seconds"),
        (HEADER + "MNIST_P1_N1,unsat\n", "line 2, column 2", "3 fields"),
    ],
)
def test_wrong_rows_are_refused(study, rows, place, expected):
    with pytest.raises(RawDataError) as caught:
        load_contest("study", study(rows))
    assert f"mnist_0012_nnenum_results.csv, {place}" in str(caught.value)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("table", "place", "expected"),
    [
        ("a;b\n", "line 1, column 2", "a column network_id"),
        (TABLE.replace("Tanh", "Tahn"), "line 3, column 3", "a category (Relu, "),
        (TABLE + "\nc.onnx;N3", "line 4, column 1", "3 fields"),
        ("", "line 1, column 1", "a column network_id"),
        (TABLE.replace("b.onnx", "b\udcff.onnx"), "line 3, column 1", "text in UTF-8"),
    ],
)
def test_wrong_tables_of_networks_are_refused(study, table, place, expected):
    with pytest.raises(RawDataError) as caught:
        load_contest("study", study(table=table))
    assert f"network_ids-mnist_clean.csv, {place}" in str(caught.value)
    assert expected in str(caught.value)


def test_a_missing_table_of_networks(study):
    folder = study()
    (folder / "networks" / "network_ids-cifar_clean.csv").unlink()
    with pytest.raises(UsageError, match="expected the table of the CIFAR networks, found none"):
        load_contest("study", folder)


def test_ids_are_those_of_the_published_tables():
    edition = read_edition("study")
    printed = pd.read_csv(real_path("published", "study-table2.csv"))
    assert set(printed["verifier"]) == set(edition.tools)
    names = printed["dataset"] + " " + printed["category"]
    assert set(names) == set(edition.scored)


def test_the_real_study_has_the_sizes_it_states():
    analysis = open_analysis(edition="study", results=str(real_path("study")))
    table = pd.read_csv(real_path("published", "study-table1.csv"))
    sizes = analysis.judged.drop_duplicates(["benchmark", "instance"])["benchmark"].value_counts()
    for row in table.itertuples():
        assert sizes[f"{row.dataset} {row.category}"] == row.total
    assert (analysis.judged["verdict"] != "incorrect").all()
