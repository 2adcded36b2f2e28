"""Networks with onnxruntime: what goes in, what comes out, what does not fit."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import helper
from small_nets import declared, linear, model, sign

from vnnanalysis.replay import Model, ReplayError, place, replay, single_precision
from vnnanalysis.tasks import ENGINE
from vnnanalysis.vnnlib import parse_property

HERE = Path("p.vnnlib")
ONE = ("float32", [1])


def v1(n_inputs, n_outputs):
    text = declared(n_inputs, n_outputs) + "(assert (<= X_0 1))"
    return parse_property(text.encode(), HERE)


def v2(networks, body):
    return parse_property(f"(vnnlib-version <2.0>){networks}(assert {body})".encode(), HERE)


def outputs(prop, made, values):
    """Return what a network of version 1.0 gives."""
    places = place(prop, {"": Model(made.SerializeToString())})
    found = replay(prop, places, np.array(values, dtype=float))
    return found[prop.slots(is_input=False)].tolist()


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("listed", [False, True])
def test_outputs_are_those_of_numpy(kind, listed):
    rng = np.random.default_rng(1)
    weights, bias = rng.normal(size=(3, 4)), rng.normal(size=3)
    made = linear(weights, bias, kind=kind, relu=True, listed=listed)
    x = rng.normal(size=4)
    found = outputs(v1(4, 3), made, x)
    typed = [np.array(a, dtype=kind) for a in (weights, x, bias)]
    assert found == pytest.approx(np.maximum(typed[0] @ typed[1] + typed[2], 0), rel=1e-5)
    places = place(v1(4, 3), {"": Model(made.SerializeToString())})
    assert single_precision(v1(4, 3), places).all() == (kind == "float32")


def test_the_engine_is_pinned_and_recorded():
    """Case V6: provider, threads and optimisation level."""
    session = Model(linear([[1]], [0]).SerializeToString())._session
    assert session.get_providers() == ["CPUExecutionProvider"]
    options = session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
    assert options.graph_optimization_level == onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    assert f"onnxruntime {onnxruntime.__version__}, CPUExecutionProvider, 1 thread" in ENGINE


def test_inputs_are_flattened_in_c_order_and_open_dimensions_are_one():
    node = helper.make_node("Flatten", ["x"], ["y"])
    made = model([node], {"x": ("float32", ["batch", 2, 3])}, {"y": ("float32", ["batch", 6])})
    assert outputs(v1(6, 6), made, range(6)) == list(range(6))


def test_whole_numbers_come_out_as_numbers():
    node = helper.make_node("ArgMax", ["x"], ["y"], axis=1, keepdims=0)
    made = model([node], {"x": ("float32", [1, 3])}, {"y": ("int64", [1])})
    assert outputs(v1(3, 1), made, [1, 5, 2]) == [1.0]
    assert Model(made.SerializeToString()).discontinuous == ("ArgMax",)


def test_discontinuous_operators_are_found_also_within_others():
    assert Model(sign().SerializeToString()).discontinuous == ("Sign",)
    for to, jumps in ((13, ("Cast",)), (7, ("Cast",)), (9, ("Cast",)), (11, ())):
        whole = [helper.make_node("Cast", ["x"], ["t"], to=to),
                 helper.make_node("Cast", ["t"], ["y"], to=1)]  # fmt: skip
        made = model(whole, {"x": ("float32", [1])}, {"y": ("float32", [1])})
        assert Model(made.SerializeToString()).discontinuous == jumps
    assert Model(linear([[1]], [0], relu=True).SerializeToString()).discontinuous == ()
    inner = helper.make_graph([helper.make_node("Floor", ["x"], ["t"])], "then", [],
                              [helper.make_tensor_value_info("t", 1, [1, 1])])  # fmt: skip
    other = helper.make_graph([helper.make_node("Identity", ["x"], ["e"])], "else", [],
                              [helper.make_tensor_value_info("e", 1, [1, 1])])  # fmt: skip
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=other)
    made = model([node], {"x": ("float32", [1, 1])}, {"y": ("float32", [1, 1])},
                 {"c": np.array(True)})  # fmt: skip
    assert Model(made.SerializeToString()).discontinuous == ("Floor",)
    called = model([helper.make_node("Jump", ["x"], ["y"], domain="own")],
                   {"x": ("float32", [1, 1])}, {"y": ("float32", [1, 1])})  # fmt: skip
    called.functions.append(helper.make_function(
        "own", "Jump", ["a"], ["b"], [helper.make_node("Ceil", ["a"], ["b"])],
        [helper.make_opsetid("", 13)]))  # fmt: skip
    called.opset_import.append(helper.make_opsetid("own", 1))
    assert Model(called.SerializeToString()).discontinuous == ("Ceil",)


def test_texts_are_no_outputs():
    made = model([helper.make_node("Cast", ["x"], ["y"], to=8)],
                 {"x": ("float32", [1])}, {"y": ("string", [1])})  # fmt: skip
    with pytest.raises(ReplayError, match=r"'y' is no tensor of numbers"):
        outputs(v1(1, 1), made, [1])


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"not a network", "expected an ONNX file"),
        (b"", "expected an ONNX file, found one without a graph"),
        (linear([[1]], [0]).SerializeToString()[:-40], "expected an ONNX file"),
        (
            model(
                [helper.make_node("Nonsense", ["x"], ["y"])], {"x": ONE}, {"y": ONE}
            ).SerializeToString(),
            "cannot be loaded",
        ),
    ],
)
def test_what_is_no_network_is_told(content, told):
    with pytest.raises(ReplayError, match=told):
        Model(content)


def test_what_does_not_fit_is_told():
    made = linear([[1, 2]], [0])
    for prop, told in (
        (v1(3, 1), "X has 3 elements, the network's 'x' takes 2"),
        (v1(2, 2), "the network gives 1 outputs, the property declares 2"),
    ):
        with pytest.raises(ReplayError, match=told):
            outputs(prop, made, [0.0] * int(prop.slots(is_input=True).sum()))
    with pytest.raises(ReplayError, match="the network gives 2 outputs, the property declares 1"):
        outputs(v1(2, 1), linear([[1, 2], [3, 4]], [0, 0]), [0.0, 0.0])
    with pytest.raises(ReplayError, match="the network has 2 inputs, the property declares 1"):
        outputs(v1(2, 1), DIFFERENCE, [1, 2])
    half = model([helper.make_node("Identity", ["x"], ["y"])],
                 {"x": ("float16", [1])}, {"y": ("float16", [1])})  # fmt: skip
    with pytest.raises(ReplayError, match=r"has element type tensor\(float16\)"):
        outputs(v1(1, 1), half, [1])
    divided = model([helper.make_node("Gather", ["t", "i"], ["y"]),
                     helper.make_node("Cast", ["x"], ["i"], to=7)],
                    {"x": ("float32", [1])}, {"y": ("float32", [1])},
                    {"t": np.zeros(3, dtype=np.float32)})  # fmt: skip
    divided.graph.node.reverse()
    with pytest.raises(ReplayError, match="cannot be run"):
        outputs(v1(1, 1), divided, [99])


NETWORK = "(declare-network f (declare-input A float32 [1] {}) (declare-input B float32 [1] {})" \
    " (declare-output Y float32 [1]))"  # fmt: skip
DIFFERENCE = model([helper.make_node("Sub", ["a", "b"], ["y"])], {"a": ONE, "b": ONE}, {"y": ONE})


def test_variables_of_version_2_are_matched_by_place_or_by_name():
    models = {"f": Model(DIFFERENCE.SerializeToString())}
    by_place = v2(NETWORK.format("", ""), "(<= A[0] 1.0)")
    assert replay(by_place, place(by_place, models), np.array([5.0, 2.0])).tolist() == [5, 2, 3]
    by_name = v2(NETWORK.format('"b"', '"a"'), "(<= A[0] 1.0)")
    assert replay(by_name, place(by_name, models), np.array([5.0, 2.0])).tolist() == [5, 2, -3]
    for names, told in ((('"c"', ""), "no input 'c'"), (('"b"', ""), "two variables")):
        prop = v2(NETWORK.format(*names), "(<= A[0] 1.0)")
        with pytest.raises(ReplayError, match=told):
            place(prop, models)
    double = v2(NETWORK.format("", "").replace("Y float32", "Y float64"), "(<= A[0] 1.0)")
    with pytest.raises(ReplayError, match=r"Y is declared float64, the network's 'y' is tensor"):
        place(double, models)


def test_a_batch_of_version_2_keeps_its_shape():
    made = linear([[1, 0], [0, 1]], [0, 0])
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    made.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "n"
    prop = v2("(declare-network f (declare-input X float32 [3,2]) "
              "(declare-output Y float32 [3,2]))", "(<= X[0,0] 1.0)")  # fmt: skip
    places = place(prop, {"f": Model(made.SerializeToString())})
    assert replay(prop, places, np.arange(6.0)).tolist() == [*range(6), *range(6)]
