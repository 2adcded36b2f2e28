"""What networks are made of; counts against layer sizes and against the arrays themselves."""

import dataclasses
import gzip
import itertools
import json
import sqlite3

import numpy as np
import onnx
import pytest
from conftest import contest_of_year, real_path
from onnx import helper, numpy_helper
from small_nets import Contest, linear, model, sign, write_model, write_text

from vnnanalysis.editions import Layout
from vnnanalysis.load import load_contest
from vnnanalysis.measured_cache import Store
from vnnanalysis.networks import COLUMNS, NetworkFacts, benchmark_facts, network_facts

node = helper.make_node
ONE = {"x": ("float32", [1, 2])}
OUT = {"y": ("float32", [1, 2])}
SQUARE = np.ones((2, 2), dtype="float32")
PAIR = np.ones(2, dtype="float32")


def constant(name, array):
    return node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(array)))


def branching():
    """Return a network whose weights stand in the graphs within a node."""
    branches = []
    for name, size in (("yes", 1), ("no", 3)):
        weights = numpy_helper.from_array(np.ones(size, dtype="float32"), f"W_{name}")
        out = helper.make_tensor_value_info(f"y_{name}", onnx.TensorProto.FLOAT, None)
        inner = [node("Neg", [f"W_{name}"], [f"y_{name}"])]
        branches.append(helper.make_graph(inner, name, [], [out], [weights]))
    one = node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])
    return model([constant("c", True), one], ONE, OUT)


def with_function():
    """Return a network with a function of its own, which has its weights as constants."""
    made = model([node("Twice", ["x"], ["y"], domain="own")], ONE, OUT)
    made.opset_import.append(helper.make_opsetid("own", 1))
    body = [constant("W", SQUARE), node("MatMul", ["x", "W"], ["y"])]
    opsets = [helper.make_opsetid("", 13)]
    made.functions.append(helper.make_function("own", "Twice", ["x"], ["y"], body, opsets))
    return made


def sparse():
    made = model([node("MatMul", ["x", "W"], ["y"])], ONE, OUT)
    values = numpy_helper.from_array(np.ones(3, dtype="float32"), "W")
    indices = numpy_helper.from_array(np.arange(3), "W_indices")
    made.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2, 2]))
    return made


def with_nodes(*nodes, **constants):
    return model(nodes, ONE, OUT, constants)


MODELS = {
    "a layer": (linear(np.ones((3, 2)), np.ones(3), relu=True), "Gemm, Relu", 3 * 2 + 3),
    "double": (linear(np.ones((3, 2)), np.ones(3), kind="float64"), "Gemm", 9),
    "half": (linear(np.ones((3, 2)), np.ones(3), kind="float16"), "Gemm", 9),
    "initialisers listed as inputs": (linear(SQUARE, PAIR, listed=True), "Gemm", 6),
    "none": (sign(2), "Sign", 0),
    "shared": (
        with_nodes(node("MatMul", ["x", "W"], ["z"]), node("MatMul", ["z", "W"], ["y"]), W=SQUARE),
        *("MatMul", 4),
    ),
    "nobody reads it": (with_nodes(node("Relu", ["x"], ["y"]), W=SQUARE), "Relu", 0),
    "integers": (
        with_nodes(node("Reshape", ["x", "s"], ["y"]), s=np.array([1, 2])),
        *("Reshape", 0),
    ),
    "a mean image and limits": (
        with_nodes(
            node("Sub", ["x", "m"], ["a"]), node("Div", ["a", "m"], ["b"]),
            node("Clip", ["b", "low"], ["c"]), node("MatMul", ["c", "W"], ["d"]),
            node("Add", ["d", "b0"], ["e"]), node("Mul", ["e", "scale"], ["y"]),
            m=PAIR, low=np.float32(0), W=SQUARE, b0=PAIR, scale=np.float32(2),
        ),
        *("Add, Clip, Div, MatMul, Mul, Sub", 4 + 2 + 1),
    ),
    "constants as weights": (
        with_nodes(constant("W", SQUARE), node("MatMul", ["x", "W"], ["y"])),
        *("Constant, MatMul", 4),
    ),
    "constants as values": (
        with_nodes(constant("a", SQUARE), constant("b", PAIR), node("MatMul", ["a", "x"], ["z"]),
                   node("Add", ["z", "b"], ["y"])),
        *("Add, Constant, MatMul", 0),
    ),
    "an integer constant as weights": (
        with_nodes(constant("W", np.ones((2, 2), int)), node("MatMul", ["x", "W"], ["y"])),
        *("Constant, MatMul", 0),
    ),
    "inner graphs": (branching(), "Constant, If, Neg", 1 + 3),
    "an own function": (with_function(), "Constant, MatMul", 4),
    "sparse": (sparse(), "MatMul", 3),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_operators_and_parameters(tmp_path, name):
    made, operators, parameters = MODELS[name]
    for end in (".onnx", ".onnx.gz"):
        facts = network_facts(write_model(tmp_path / f"n{end}", made))
        assert facts.problem == ""
        assert ", ".join(facts.operators) == operators
        assert facts.parameters == parameters
        assert (facts.inputs, facts.outputs) == (2, 3 if parameters == 9 else 2)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [([1, 3, 4], 12), (["batch", 3, 4], 12), ([None, 3], 3), ([1, "width"], None), ([], 1),
     ([0, 5], 5), ([5, 0], None), (None, None)],
)  # fmt: skip
def test_inputs_and_outputs(tmp_path, shape, expected):
    made = model([node("Relu", ["x"], ["y"])], {"x": ("float32", shape)}, {"y": ("float32", [1])})
    assert network_facts(write_model(tmp_path / "n.onnx", made)).inputs == expected
    both = {"x": ("float32", shape), "x2": ("float32", [1, 7])}
    made = model([node("Relu", ["x"], ["y"])], both, {"y": ("float32", shape)})
    facts = network_facts(write_model(tmp_path / "n.onnx", made))
    assert (facts.inputs, facts.outputs) == (expected and expected + 7, expected)


def test_external_data_need_not_be_there(tmp_path):
    path = tmp_path / "n.onnx"
    made = linear(np.ones((40, 30)), np.ones(40))
    onnx.save_model(made, path, save_as_external_data=True, location="w", size_threshold=0)
    (tmp_path / "w").unlink()
    assert network_facts(path).parameters == 40 * 30 + 40


GOOD = gzip.compress(sign().SerializeToString(), mtime=0)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("n.onnx", b"", "no ONNX files"),
        ("n.onnx", b"some text", "no ONNX files"),
        ("n.onnx", b"version https://git-lfs.github.com/spec/v1\noid x", "git-lfs pointers"),
        ("n.onnx.gz", b"version https://git-lfs.github.com/spec/v1\noid x", "git-lfs pointers"),
        ("n.onnx", GOOD, "no ONNX files"),
        ("n.onnx", sign().SerializeToString()[:-5], "no ONNX files"),
        ("n.onnx.gz", GOOD[:-9], "damaged gzip files"),
        ("n.onnx.gz", b"text", "damaged gzip files"),
        ("n.onnx.gz", gzip.compress(b"text", mtime=0), "no ONNX files"),
    ],
    ids=["empty", "text", "pointer", "packed pointer", "packed", "cut", "packed and cut",
         "not packed", "packed text"],
)  # fmt: skip
def test_a_file_that_is_no_network(tmp_path, name, content, problem):
    (tmp_path / name).write_bytes(content)
    assert network_facts(tmp_path / name) == NetworkFacts(problem=problem)


def test_a_file_that_cannot_be_read(tmp_path):
    assert network_facts(tmp_path) == NetworkFacts(problem="cannot be read")


def real_network(year, benchmark, name):
    place = ("benchmarks", f"vnncomp{year}_benchmarks", "benchmarks", benchmark, "onnx")
    return real_path(*place, f"{name}.onnx.gz")


@pytest.mark.parametrize(
    ("year", "benchmark", "name", "layers"),
    [
        (2022, "acasxu", "ACASXU_run2a_3_5_batch_2000", [5, *[50] * 6, 5]),
        (2022, "mnist_fc", "mnist-net_256x2", [784, 256, 256, 10]),
        (2022, "mnist_fc", "mnist-net_256x6", [784, *[256] * 6, 10]),
        (2024, "cora", "mnist-set", [784, *[250] * 7, 10]),
    ],
)
def test_real_networks_against_the_sizes_of_their_layers(year, benchmark, name, layers):
    facts = network_facts(real_network(year, benchmark, name))
    pairs = itertools.pairwise(layers)
    assert facts.parameters == sum(n * m + m for n, m in pairs)
    assert (facts.inputs, facts.outputs) == (layers[0], layers[-1])


@pytest.mark.parametrize(
    ("year", "benchmark", "name"),
    [
        (2022, "sri_resnet_a", "resnet_3b2_bn_mixup_adv_4.0_bs128_lr-1"),
        (2022, "collins_rul_cnn", "NN_rul_full_window_40"),
        (2023, "dist_shift", "mnist_concat"),
        (2023, "cgan", "cGAN_imgSz32_nCh_3"),
    ],
)
def test_real_networks_without_settings_against_their_arrays(year, benchmark, name):
    path = real_network(year, benchmark, name)
    made = onnx.load_model_from_string(gzip.decompress(path.read_bytes()))
    arrays = [numpy_helper.to_array(tensor) for tensor in made.graph.initializer]
    facts = network_facts(path)
    assert facts.parameters == sum(a.size for a in arrays if a.dtype.kind == "f")
    assert set(facts.operators) == {n.op_type for n in made.graph.node}


@pytest.fixture
def toy(tmp_path):
    contest = Contest(tmp_path / "toy")
    contest.network("small", linear(SQUARE, PAIR))
    contest.network("large", linear(np.ones((5, 7)), np.ones(5), relu=True), end=".onnx")
    for name in ("small", "large", "absent"):
        contest.answer("a", name, "p", result="unsat")
    contest.answer("b", "small", "p", result="unsat")
    contest.answer("a", "only", "p", benchmark="second", result="unsat")
    return contest


def facts_of(contest, tmp_path, folder="own", store=None):
    loaded = load_contest(str(contest.edition()), contest.results, validate=False)
    folder = contest.benchmarks if folder == "own" else folder
    store = store or Store(tmp_path / "c.sqlite", "networks")
    table = benchmark_facts(loaded.runs, loaded.edition, folder, store=store)
    assert list(table.columns) == COLUMNS
    return table.set_index("benchmark")


def test_the_facts_of_a_benchmark(toy, tmp_path):
    write_text(toy.benchmarks / "benchmarks" / "second" / "onnx" / "only.onnx", "text")
    table = facts_of(toy, tmp_path)
    assert table.loc["2023_toy"].tolist() == [
        *(3, 2, "Gemm, Relu", 6, 40, "2 to 7", "2 to 5", "1 not here"),
    ]
    second = table.loc["2023_second"]
    assert (second["files"], second["networks_read"], second["gaps"]) == (1, 0, "1 no ONNX files")
    unknown = ["operators", "parameters_min", "parameters_max", "inputs", "outputs"]
    assert second[unknown].isna().all()


@pytest.mark.parametrize("folder", [None, "elsewhere"])
def test_without_files_everything_is_missing(toy, tmp_path, folder):
    table = facts_of(toy, tmp_path, folder and tmp_path / folder)
    assert table["gaps"].tolist() == ["3 not here", "1 not here"]
    assert table["networks_read"].tolist() == [0, 0]
    assert table["parameters_max"].isna().all()


@pytest.mark.parametrize("layout", [None, Layout(("{tool}.csv",), kind="problems")])
def test_other_layouts_name_no_files(invented, layout):
    edition = dataclasses.replace(invented.edition, layout=layout)
    table = benchmark_facts(invented.runs, edition, None)
    assert table["files"].tolist() == [0, 0, 0]
    assert table["gaps"].tolist() == ["", "", ""]


FACTS = NetworkFacts(("Relu",), 1, 1, 1).as_text()


def kept(path, change):
    """Change every text that is kept."""
    with sqlite3.connect(path) as database:
        for key, text in database.execute("select key, content from networks").fetchall():
            database.execute("update networks set content=? where key=?", (change(text), key))
    database.close()


def test_facts_are_kept_by_content(toy, tmp_path):
    store = Store(tmp_path / "c.sqlite", "networks")
    first = facts_of(toy, tmp_path, store=store)
    kept(store.path, lambda text: json.dumps(json.loads(text) | {"parameters": 11}))
    assert facts_of(toy, tmp_path, store=store).loc["2023_toy", "parameters_max"] == 11
    toy.network("small", linear(np.ones((3, 2)), np.ones(3)))
    changed = facts_of(toy, tmp_path, store=store).loc["2023_toy"]
    assert (changed["parameters_min"], changed["parameters_max"]) == (9, 11)
    odd = ("operators", "inputs", "problem")
    texts = [json.dumps(json.loads(FACTS) | {name: [1]}) for name in odd]
    for damage in ("", "[]", "{}", '"text"', "null", *texts):
        kept(store.path, lambda text, damage=damage: damage)
        again = facts_of(toy, tmp_path, store=store).loc["2023_toy"]
        assert again["parameters_max"] == first.loc["2023_toy", "parameters_max"] == 40


def test_real_networks_of_an_edition(tmp_path):
    """Those of 2022 that are at hand; absent ones are gaps."""
    contest, folder = contest_of_year("2022"), real_path("benchmarks")
    table = benchmark_facts(contest.runs, contest.edition, folder).set_index("benchmark")
    assert list(table.index) == list(contest.edition.benchmarks)
    acas = table.loc["acasxu"]
    assert acas.tolist() == [
        *(45, 45, "Add, Flatten, MatMul, Relu, Sub", 13305, 13305, "5", "5", ""),
    ]
    rl = table.loc["rl_benchmarks"]
    sizes = [(4, 64, 64, 2), (8, 64, 64, 4), (8, 256, 256, 8)]  # by cartpole, lander, rejoin
    counted = [sum((n + 1) * m for n, m in itertools.pairwise(s)) for s in sizes]
    assert (rl["parameters_min"], rl["parameters_max"]) == (min(counted), max(counted))
    assert table.loc["nn4sys", "gaps"] == "6 not here"
