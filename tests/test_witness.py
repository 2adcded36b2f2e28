"""Counterexample files in all the forms that were seen."""

import gzip
import time
from pathlib import Path

import numpy as np
import pytest

from vnnanalysis.errors import RawDataError
from vnnanalysis.texts import read_bytes
from vnnanalysis.vnnlib import parse_property
from vnnanalysis.witness import is_empty, parse_witness

HERE = Path("w.counterexample.gz")


def read(text):
    return parse_witness(text.encode(), HERE)


@pytest.mark.parametrize(
    "text",
    [
        "((X_0 0.1)\n(X_1 -0.25)\n(Y_0 3.0))",
        "((X_0  0.1)(X_1  -0.25)(Y_0  3.0))",
        "( (X_0 0.1)\n (X_1 -0.25)\n (Y_0 3.0)\n)",
        "(\n(X_0 .1)\n(X_1 -2.5e-01)\n(Y_0 3.))\n",
        "((X_0 +0.1) (X_1 -0.25) (Y_0 3))",
        "((X_0 0.1)\r\n (X_1 -0.25)\r\n (Y_0 3))\r\n",
        "\ufeff((X_0 0.1) (Y_0 3.0) (X_1 -0.25))",
        "(\t( X_0\t1e-1 )\n\n ( X_1\n-0.25 ) ( Y_0 3e0 ) )",
    ],
)
def test_the_same_counterexample_in_many_forms(text):
    """Case C4."""
    witness = read(text)
    assert (witness.inputs.tolist(), witness.outputs.tolist()) == ([0.1, -0.25], [3.0])
    assert witness.inputs.dtype == np.float64
    assert witness.repaired == ""


def test_a_last_parenthesis_that_is_missing_is_repaired_and_noted():
    """Case C1."""
    witness = read("((X_0 0.5)\n (X_1 -0.25)")
    assert witness.inputs.tolist() == [0.5, -0.25]
    assert len(witness.outputs) == 0
    assert witness.repaired == "the last ) was missing"


@pytest.mark.parametrize("text", ["0", "-0.0", "1e-05", ".5", "5.", "+1", "1E+3", "007"])
def test_numbers(text):
    """Case C7."""
    [found] = read(f"((X_0 {text}))").inputs
    assert found == float(text)
    assert np.signbit(found) == text.startswith("-")


@pytest.mark.parametrize(
    "text",
    ["nan", "inf", "-inf", "1,5", "np.float32(0.5)", "0x1p3", "1_0", "1e", "1e999", "--1", "½",
     "tensor([[0.5]])", "1.2.3", "e5", "."],
)  # fmt: skip
def test_what_is_no_number_is_malformed(text):
    """Case C7; prints of tensors were seen in 2022."""
    with pytest.raises(RawDataError, match="line 2, column 6: expected a decimal number"):
        read(f"(\n(X_0 {text})\n)")


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("X_0 0.5", "line 1, column 1", "( before the first value"),
        ("((X_0 0.5) (X_2 1))", "line 1, column 13", "X_1"),
        ("((X_0 0.5)\n(X_0 1))", "line 2, column 2", "X_1"),
        ("((X_0 0.5 1))", "line 1, column 11", ") after the value of X_0"),
        ("((X_0 0.5))\n((X_0 0.5))", "line 2, column 1", "the end of the file"),
        ("((Z_0 0.5))", "line 1, column 3", "X_<number> or Y_<number>"),
        ("((X_0", "line 1, column 6", "a decimal number"),
        ("((X_0 0.5) (X_1 0.", "line 1, column 19", ") after the value of X_1"),
        ("((X_0 0.5))) ", "line 1, column 12", "the end of the file"),
        ("((X_0\u00a01))", "line 1, column 3", "X_<number> or Y_<number>"),
        ("((X_0 1);x\n(Y_0 1))", "line 1, column 9", "( or )"),
        ("((X_" + "9" * 5000 + " 1))", "line 1, column 3", "X_<number> or Y_<number>"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text, place, expected):
    with pytest.raises(RawDataError) as caught:
        read(text)
    assert f"{place}: expected {expected}, found" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "is_nothing"),
    [(b"", True), (b"\n", True), (b" \r\n", True), (b"(", True), (b"()", False), (b"nan", False)],
)
def test_an_empty_file_is_no_counterexample(tmp_path, content, is_nothing):
    """Case C3: neither a missing file nor a malformed one."""
    path = tmp_path / "w.counterexample.gz"
    path.write_bytes(gzip.compress(content) if content else b"")
    assert is_empty(read_bytes(path)) == is_nothing


def test_long_numbers_are_read_in_linear_time():
    taken = []
    for n in (20_000, 200_000):
        start = time.process_time()
        for wrong in ("1" * n + "x", "." + "1" * n + "e", "1." + "1" * n + "e+"):
            with pytest.raises(RawDataError):
                read(f"((X_0 {wrong}))")
        taken.append(time.process_time() - start)
    assert taken[1] < 2.0


def test_a_large_one_is_read_in_linear_time():
    taken = []
    for n in (15_000, 150_000):
        text = "(" + "\n ".join(f"(X_{i} {i / 7!r})" for i in range(n)) + ")"
        start = time.process_time()
        assert len(read(text).inputs) == n
        with pytest.raises(RawDataError, match="X_7"):
            read(text[:-1] + "(X_7 1))")
        taken.append(time.process_time() - start)
    assert taken[1] < 40 * max(taken[0], 0.05)


QUERY = parse_property(
    b"(vnnlib-version <2.0>)(declare-network f (declare-input X float32 [1,2])"
    b"(declare-input S real []) (declare-output Y float32 [2]))(assert (<= X[0,0] S))",
    HERE,
)


@pytest.mark.parametrize(
    "text",
    [
        "sat\nX float32 [1,2]\n0.5\n-1\nS real []\n3\nY float32 [2]\n1e-1\n.5\n",
        "X Real [1, 2]\r\n0.5\r\n-1\r\nS real [ ]\r\n3\r\nY real [2]\r\n0.1\r\n0.5",
    ],
)
def test_assignments_of_version_2(text):
    witness = parse_witness(text.encode(), HERE, QUERY)
    assert witness.inputs.tolist() == [0.5, -1.0, 3.0]
    assert witness.outputs.tolist() == [0.1, 0.5]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unsat\n", "line 1, column 1: expected X float32 [1,2], found 'unsat'"),
        ("X float32 [2]\n1\n2\n", "line 1, column 1: expected X float32 [1,2]"),
        ("X float64 [1,2]\n1\n2\n", "line 1, column 1: expected X float32 [1,2]"),
        ("X float32 [1,2]\n1\n", "line 2, column 1: expected a decimal number, a value of X"),
        ("X float32 [1,2]\n1\n  nan\n", "line 3, column 3: expected a decimal number"),
        ("X float32 [1,2]\n1\n2\nY float32 [2]\n", "line 4, column 1: expected S real []"),
        ("X float32 [1,2]\n1\n2\nS real []\n3\nY float32 [2]\n1\n2\n3\n",
         "line 9, column 1: expected the end of the file, found '3'"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_an_assignment(text, expected):
    with pytest.raises(RawDataError) as caught:
        parse_witness(text.encode(), HERE, QUERY)
    assert expected in str(caught.value)
