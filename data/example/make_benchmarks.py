"""Makes networks, properties and instances of the example: ``make_benchmarks.py [FOLDER]``.

Hidden layers have random weights, and the last one is fitted to a task by least squares. All
seeds are fixed and weights are rounded, so that every run gives the same bytes.
"""

import itertools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Array = NDArray[np.float64]
Layers = list[tuple[str, Array, Array]]  # operator, weights, bias

FOLDER = Path(*sys.argv[1:2]) if sys.argv[1:] else Path(__file__).parent / "benchmarks"
DIGITS = 3  # of weights, images and bounds
GLYPHS = ("01110 10001 10001 10001 01110", "11111 00100 00100 00100 00100",
          "10000 10000 10000 10000 11111", "10001 01010 00100 01010 10001")  # fmt: skip


# --- networks ----------------------------------------------------------------------------


def hidden_values(layers: Layers, values: Array, activation: str) -> Array:
    """Run layers in float64, each followed by the activation; shape (n, n_outputs)."""
    for operator, weights, bias in layers:
        if operator == "Conv":
            size = weights.shape[-1]
            views = np.lib.stride_tricks.sliding_window_view(values, (size, size), axis=(2, 3))
            values = np.einsum("nchwij,ocij->nohw", views, weights) + bias[:, None, None]
        else:
            values = values.reshape(len(values), -1) @ weights.T + bias
        values = np.maximum(values, 0) if activation == "Relu" else 1 / (1 + np.exp(-values))
    return values.reshape(len(values), -1)


def run(layers: Layers, values: Array, activation: str) -> Array:
    """Run a network in float64; every layer but the last has the activation."""
    _, weights, bias = layers[-1]
    return hidden_values(layers[:-1], values, activation) @ weights.T + bias


def hidden(rng: np.random.Generator, sizes: Sequence[int], scale: float = 1.0) -> Layers:
    """Return fully connected layers with random weights."""
    layers = []
    for n_in, n_out in itertools.pairwise(sizes):
        weights = rng.normal(0, scale * np.sqrt(2 / n_in), (n_out, n_in))
        layers.append(("Gemm", weights.round(DIGITS), rng.normal(0, 0.1, n_out).round(DIGITS)))
    return layers


def fitted(layers: Layers, inputs: Array, targets: Array, activation: str) -> Layers:
    """Add the last layer, by ridge regression."""
    values = hidden_values(layers, inputs, activation)
    values = np.hstack([values, np.ones((len(values), 1))])
    squares = values.T @ values + 1e-1 * np.eye(values.shape[1])
    weights = np.linalg.solve(squares, values.T @ targets).T.round(DIGITS)
    return [*layers, ("Gemm", weights[:, :-1], weights[:, -1])]


def save(path: Path, layers: Layers, shape: Sequence[int], activation: str) -> None:
    """Write a network as ONNX, in float32."""
    nodes, constants, last = [], [], "x"
    for k, (operator, weights, bias) in enumerate(layers):
        if operator == "Gemm" and k and layers[k - 1][0] == "Conv":
            nodes.append(helper.make_node("Flatten", [last], [last := f"flat{k}"]))
        names = [f"w{k}", f"b{k}"]
        constants += [numpy_helper.from_array(v.astype(np.float32), n)
                      for v, n in zip((weights, bias), names, strict=True)]  # fmt: skip
        more = {"transB": 1} if operator == "Gemm" else {}
        out = "y" if k == len(layers) - 1 else f"z{k}"
        nodes.append(helper.make_node(operator, [last, *names], [out], **more))
        last = out
        if out != "y":
            nodes.append(helper.make_node(activation, [last], [last := f"a{k}"]))
    kind, n_out = TensorProto.FLOAT, len(layers[-1][2])
    graph = helper.make_graph(
        nodes, path.stem,
        [helper.make_tensor_value_info("x", kind, [1, *shape])],
        [helper.make_tensor_value_info("y", kind, [1, n_out])], constants,
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version, model.producer_name = 8, ""
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))


# --- properties --------------------------------------------------------------------------


def box(lower: Array, upper: Array, name: Callable[[int], str]) -> list[str]:
    """Return the bounds of a box."""
    pairs = zip(lower, upper, strict=True)
    return [
        f"({sign} {name(i)} {value:.{DIGITS}f})"
        for i, (low, up) in enumerate(pairs)
        for sign, value in ((">=", low), ("<=", up))
    ]


def all_of(parts: Sequence[str]) -> str:
    """Join conditions by and."""
    return f"(and {' '.join(parts)})"


def any_of(parts: Sequence[str]) -> str:
    """Join conditions by or."""
    return "(or " + "\n  ".join(parts) + ")"


def old_form(n_inputs: int, n_outputs: int, assertions: Sequence[str], told: str) -> str:
    """Return a property of VNN-LIB 1.0."""
    names = [f"X_{i}" for i in range(n_inputs)] + [f"Y_{i}" for i in range(n_outputs)]
    lines = [f"; {told}", *(f"(declare-const {name} Real)" for name in names)]
    return "\n".join([*lines, *(f"(assert {a})" for a in assertions)]) + "\n"


def new_form(n_inputs: int, n_outputs: int, assertions: Sequence[str], told: str) -> str:
    """Return a property of VNN-LIB 2.0."""
    head = (f"; {told}\n(vnnlib-version <2.0>)\n(declare-network f\n"
            f"  (declare-input X float32 [1,{n_inputs}])\n"
            f"  (declare-output Y float32 [1,{n_outputs}]))\n")  # fmt: skip
    return head + "".join(f"(assert {a})\n" for a in assertions)


class Benchmark:
    """Files of a benchmark; instances are in the order in which they are added."""

    def __init__(self, name: str) -> None:
        self.folder, self.lines = FOLDER / name, list[str]()

    def network(self, name: str, *layers_shape_activation: Any) -> None:
        """Write a network."""
        save(self.folder / "onnx" / f"{name}.onnx", *layers_shape_activation)

    def instance(self, network: str, prop: str, text: str, limit_s: int) -> None:
        """Write a property, and list it with a network."""
        path = self.folder / "vnnlib" / f"{prop}.vnnlib"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.lines.append(f"onnx/{network}.onnx,vnnlib/{prop}.vnnlib,{limit_s}\n")

    def close(self) -> None:
        """Write the list of instances."""
        (self.folder / "instances.csv").write_text("".join(self.lines))


# --- the benchmarks ----------------------------------------------------------------------


def images(rng: np.random.Generator, n: int, size: int) -> tuple[Array, NDArray[np.int64]]:
    """Return noisy images of the glyphs, shape (n, size * size), and which glyph each shows."""
    glyphs = np.array([[list(map(int, row)) for row in text.split()] for text in GLYPHS], float)
    labels = rng.integers(len(glyphs), size=n)
    canvas = np.zeros((n, size, size))
    for k, label in enumerate(labels):
        i, j = rng.integers(size - 4, size=2)
        canvas[k, i : i + 5, j : j + 5] = glyphs[label]
    noisy = np.clip(canvas * 0.8 + 0.1 + rng.normal(0, 0.12, canvas.shape), 0, 1)
    return noisy.reshape(n, -1).round(DIGITS), labels


def robustness(image: Array, label: int, radius: float) -> list[str]:
    """Return the assertions of a robustness property: another class is at least as likely."""
    bounds = box((image - radius).clip(0), (image + radius).clip(max=1), "X_{}".format)
    others = [k for k in range(len(GLYPHS)) if k != label]
    return [*bounds, any_of([f"(and (>= Y_{k} Y_{label}))" for k in others])]


def image_benchmark(
    name: str, seed: int, size: int, shape: Sequence[int], layers: Callable[..., Layers],
    *, radii: Sequence[float], n: int, limit_s: int,
) -> None:  # fmt: skip
    """Make a benchmark of a classifier of glyphs."""
    rng, made = np.random.default_rng(seed), Benchmark(name)
    inputs, labels = images(rng, 600, size)
    targets = np.eye(len(GLYPHS))[labels] * 4 - 2
    network = fitted(layers(rng), inputs.reshape(-1, *shape), targets, "Relu")
    made.network(name, network, shape, "Relu")
    inputs, labels = images(rng, 10 * n, size)
    is_right = run(network, inputs.reshape(-1, *shape), "Relu").argmax(axis=1) == labels
    for k, i in enumerate(np.flatnonzero(is_right)[:n]):
        for radius in radii:
            told = f"image {k}, a {'OTLX'[labels[i]]}, may change by {radius} in every pixel"
            text = old_form(size**2, len(GLYPHS), robustness(inputs[i], labels[i], radius), told)
            made.instance(name, f"img{k}_eps{radius}", text, limit_s)
    made.close()


ADVICE = ("clear of conflict", "weak left", "weak right", "strong left", "strong right")


def costs(inputs: Array) -> Array:
    """Return what each advice costs, shape (n, 5), lower is better; inputs are in [-1, 1]."""
    distance, angle, heading, own, other = inputs.T
    danger = np.exp(-2 * (distance + 1)) * (1.5 + own + other)
    side = np.sin(np.pi * angle) + 0.5 * np.sin(np.pi * heading)
    turn = [0.0, -0.6, 0.6, -1.2, 1.2]
    return np.column_stack([danger * (1 + t * side - 0.3 * abs(t)) + 0.15 * abs(t) for t in turn])


def avoid() -> None:
    """Make the benchmark on collision avoidance, after ACAS Xu."""
    made = Benchmark("avoid")
    y, x = "Y_{}".format, "X_{}".format
    for seed in (1, 2, 3):
        rng = np.random.default_rng(10 + seed)
        inputs = rng.uniform(-1, 1, (3000, 5))
        network = fitted(hidden(rng, (5, 16, 16, 16)), inputs, costs(inputs), "Relu")
        name = f"avoid_{seed}"
        made.network(name, network, (5,), "Relu")
        whole = (np.full(5, -1.0), np.full(5, 1.0))
        near = (np.array([-1, -0.1, -0.1, 0.5, 0.0]), np.array([-0.8, 0.1, 0.1, 1.0, 0.5]))
        far = (np.array([0.6, -1, -1, -1, -1.0]), np.array([1, 1, 1, 0, 0.0]))
        left = (np.array([-0.9, 0.2, -0.4, 0, 0]), np.array([-0.5, 0.6, 0.4, 0.6, 0.6]))
        right = (left[0] * [1, 0, 1, 1, 1] + [0, -0.6, 0, 0, 0],
                 left[1] * [1, 0, 1, 1, 1] + [0, -0.2, 0, 0, 0])  # fmt: skip
        others = [1, 2, 3, 4]
        not_least = any_of([f"(and (<= {y(k)} {y(0)}))" for k in others])
        least = all_of([f"(<= {y(0)} {y(k)})" for k in others])
        crossed = any_of([all_of(box(*b, x)) for b in (left, right)])
        turns = any_of([all_of([f"(<= {y(a)} {y(k)})" for k in range(5) if k != a])
                        for a in (3, 4)])  # fmt: skip
        cases = {
            "prop_1": ([*box(*far, x), f"(>= {y(0)} 0.600)"], "far away, staying is cheap"),
            "prop_2": ([*box(*whole, x), f"(>= {y(3)} 12.000)"], "no advice costs too much"),
            "prop_3": ([*box(*near, x), least], "near and head-on, it never says: stay"),
            "prop_4": ([*box(*far, x), not_least], "far away, it says: stay"),
            "prop_5": ([crossed, turns], "at either side, no strong turn"),
            "prop_6": ([crossed, f"(<= {y(0)} -0.400)"], "at either side, staying is not free"),
        }
        for prop, (assertions, told) in cases.items():
            made.instance(name, prop, old_form(5, 5, assertions, told), 12)
    made.close()


def pendulum() -> None:
    """Make the benchmark on a controller with sigmoids, in VNN-LIB 2.0."""
    made, rng = Benchmark("pendulum"), np.random.default_rng(20)
    inputs = rng.uniform(-1, 1, (2000, 4))
    angle, speed, position, drift = inputs.T
    force = np.tanh(2 * angle + speed) + 0.3 * np.sin(np.pi * position) - 0.2 * drift
    targets = np.column_stack([force, 1 - angle**2 - 0.5 * speed**2])
    network = fitted(hidden(rng, (4, 12, 12), scale=2.0), inputs, targets, "Sigmoid")
    made.network("pendulum", network, (4,), "Sigmoid")
    x = "X[0,{}]".format
    for k in range(14):
        width = 0.05 + 0.03 * (k % 7)
        centre = rng.uniform(-0.7, 0.7, 4).round(2)
        other = (-centre).round(2)
        at = run(network, np.array([centre, other]), "Sigmoid").round(1)
        gap = 0.2 + 0.15 * (k % 5)
        sides = [
            all_of([*box(c - width, c + width, x), f"(>= Y[0,0] {value + gap:.{DIGITS}f})"])
            for c, value in zip((centre, other), at[:, 0], strict=True)
        ]
        told = "a state and its mirror image, each with its own bound on the force"
        assertions = [any_of(sides)]
        if k % 3 == 2:
            told += "; and the state is stable"
            assertions.append(f"(>= Y[0,1] {at[:, 1].min() - 0.1:.{DIGITS}f})")
        made.instance("pendulum", f"mirror_{k}", new_form(4, 2, assertions, told), 6)
    made.close()


def main() -> None:
    """Make everything."""
    image_benchmark("glyphs", 1, 5, (25,), lambda rng: hidden(rng, (25, 24, 24)),
                    radii=(0.02, 0.1, 0.15, 0.2), n=6, limit_s=6)  # fmt: skip

    def convolutional(rng: np.random.Generator) -> Layers:
        kernel = rng.normal(0, 0.5, (3, 1, 3, 3)).round(DIGITS)
        return [("Conv", kernel, rng.normal(0, 0.1, 3).round(DIGITS)), *hidden(rng, (48, 16))]

    image_benchmark(
        "glyphs_conv", 2, 6, (1, 6, 6), convolutional, radii=(0.02, 0.06, 0.1), n=6, limit_s=6
    )
    avoid()
    pendulum()


if __name__ == "__main__":
    main()
