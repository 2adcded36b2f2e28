"""One counterexample in words."""

import pytest
from click.testing import CliRunner
from conftest import raw_of, real_path
from small_nets import declared, linear, sign, witness_text, write_model, write_text

from vnnanalysis.cli import main

V2 = "(vnnlib-version <2.0>)(declare-network f (declare-input X float32 [1,2])" \
    "(declare-output Y float32 [1]))(declare-network g (isomorphic-to f)" \
    "(declare-input U float32 [1,2])(declare-output V float32 [1]))" \
    "(assert (== X[0,0] U[0,0]))(assert (<= (+ Y[0] 1.0) V[0]))"  # fmt: skip


@pytest.fixture
def explain(tmp_path):
    """Explain a witness, as the command does; returns what is said."""

    def run(witness, networks, prop, name="w.counterexample"):
        path = write_text(tmp_path / name, witness)
        write_text(tmp_path / "p.vnnlib", prop)
        options = []
        for key, made in networks.items():
            place = write_model(tmp_path / f"net{key}.onnx", made)
            options += ["--network", f"{key}={place}" if key else str(place)]
        prop = ["--property", str(tmp_path / "p.vnnlib")]
        done = CliRunner().invoke(main, ["witness", str(path), *options, *prop])
        assert done.exit_code == 0, done.output
        return done.output

    return run


BOX = declared(1, 2) + (
    "(assert (>= X_0 0))(assert (<= X_0 0.1))"
    "(assert (or (<= Y_0 0) (and (>= Y_0 0.25) (>= Y_1 0))))"
)


def test_a_witness_that_is_almost_right(explain):
    said = explain(witness_text([0.10005], [0.201, 0.3]), {"": linear([[2], [3]], [0, 0])}, BOX)
    for told in (
        "w.counterexample: read, and its inputs run through the network",
        "Outputs, 2: claimed and replayed differ by up to 0.0009",
        "Y_0: claimed 0.201, replayed 0.2001",
        "Of 2 conditions on inputs alone, compared as float64, these are not met: 1.",
        "X_0 (0.10005) <= 0.1: by 5e-05",
        "assertion 3:",
        ") <= 0.0: fails, by 0.2",
        "0.25 <= Y_0 (0.2001",
        "): holds, by 0.3",
        "2026: spec_not_violated (the output condition is missed by 0.0499, allowed are 0)",
        "2023: exec_doesnt_match (outputs differ by 0.003 relative to the largest, allowed are",
    ):
        assert told in said


def test_a_witness_that_is_right(explain):
    prop = declared(1, 1) + "(assert (<= X_0 1))(assert (or (>= Y_0 1) (<= X_0 1e-9)))"
    said = explain("((X_0 1e-9)", {"": sign()}, prop)
    assert "the last ) was missing" in said
    assert "Discontinuous: the network has operators whose output can jump: Sign." in said
    assert "It claims 0 outputs, the network has 1." in said
    assert "holds, by 0" in said
    [fragile] = [line for line in said.splitlines() if line.endswith("(fragile)")]
    assert "Y_0" in fragile
    assert "2026: correct (valid exactly; the last ) was missing)" in said
    assert "2024: exec_doesnt_match (another number of outputs than the network has" in said


def test_two_networks_and_arithmetic(explain):
    text = "sat\nX float32 [1,2]\n1\n2\nY float32 [1]\n3\nU float32 [1,2]\n1\n3\nV float32 [1]\n4\n"
    networks = {"f": linear([[1, 1]], [0]), "g": linear([[1, 1]], [0])}
    said = explain(text, networks, V2)
    assert "X[0,0] (1.0) = U[0,0] (1.0)" not in said  # it is met
    assert "(+ Y[0] 1.0) (4.0) <= V[0] (4.0): holds, by 0" in said
    assert "2026: correct (valid exactly)" in said


@pytest.mark.parametrize(
    ("witness", "told"),
    [
        ("((X_0 oops))", "malformed (line 1, column 7: expected a decimal number, found 'oops')"),
        ("", "no_ce (the file is empty)"),
        (witness_text([1, 2], [3]), "wrong_shape (2 inputs, where the network takes 1)"),
    ],
)
def test_a_witness_that_cannot_be_run(explain, witness, told):
    said = explain(witness, {"": linear([[1], [1]], [0, 0])}, BOX)
    assert told in said
    assert said.count(told.partition(" ")[2]) == 1  # said once
    assert f"  2026: {told.partition(' ')[0]}\n" in said


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere", "--network", "n", "--property", "p"], "nowhere: no such file"),
        ([".", "--network", "n", "--property", "p"], "expected a file, found a folder"),
        (["w", "--network", "f=a", "--network", "f=b", "--property", "p"], "each network once"),
        (["w", "--network", "a", "--network", "g=b", "--property", "p"], "expected NAME=FILE"),
        (["w", "--property", "p"], "Missing option '--network'"),
    ],
)
def test_wrong_use(cli, tmp_path, arguments, told):
    (tmp_path / "w").write_text("")
    run = cli("witness", *arguments, cwd=tmp_path)
    assert run.returncode > 0
    assert told in run.stderr
    assert "Traceback" not in run.stderr


def test_a_real_one(cli):
    folder = real_path("benchmarks", "vnncomp2023_benchmarks", "benchmarks", "acasxu")
    network = "ACASXU_run2a_1_2_batch_2000"
    witness = raw_of("2023") / "nnenum" / "2023_acasxu" / f"{network}_prop_2.counterexample.gz"
    run = cli("witness", witness, "--network", folder / "onnx" / f"{network}.onnx.gz",
              "--property", folder / "vnnlib" / "prop_2.vnnlib.gz")  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "Of 10 conditions on inputs alone" in run.stdout
    assert "2023: correct" in run.stdout
