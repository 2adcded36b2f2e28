"""What the tools of the example share: reading an instance, checking a point, answering.

It shares no code with the package that judges the tools.
"""

import itertools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnx.numpy_helper
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Layer(NamedTuple):
    """An affine map and what follows it: ``relu``, ``sigmoid``, or nothing."""

    weights: Array  # (n_outputs, n_inputs)
    bias: Array
    activation: str


class Case(NamedTuple):
    """A box of inputs, and linear conditions ``rows @ y <= limits`` on the outputs."""

    lower: Array
    upper: Array
    rows: Array
    limits: Array


class Problem(NamedTuple):
    """An instance: a counterexample is a point of any of the cases."""

    network: Path
    layers: list[Layer]
    cases: list[Case]
    is_new_form: bool  # VNN-LIB 2.0
    limit_s: float


# --- networks ----------------------------------------------------------------------------


def read_layers(path: Path) -> list[Layer]:
    """Read a network of Gemm, Conv, Relu, Sigmoid and Flatten as affine maps."""
    graph = onnx.load(str(path)).graph
    values = {t.name: onnx.numpy_helper.to_array(t).astype(float) for t in graph.initializer}
    shape = [d.dim_value for d in graph.input[0].type.tensor_type.shape.dim][1:]
    layers: list[Layer] = []
    for node in graph.node:
        if node.op_type == "Gemm":
            layers.append(Layer(values[node.input[1]], values[node.input[2]], ""))
        elif node.op_type == "Conv":
            kernel, bias = values[node.input[1]], values[node.input[2]]
            layers.append(_dense(kernel, bias, shape))
        elif node.op_type in ("Relu", "Sigmoid"):
            layers[-1] = layers[-1]._replace(activation=node.op_type.lower())
        elif node.op_type != "Flatten":
            raise ValueError(f"{path}: cannot read operator {node.op_type}")
    return layers


def _dense(kernel: Array, bias: Array, shape: Sequence[int]) -> Layer:
    """Write a convolution (stride 1, no padding) of an image as one matrix."""
    _, height, width = shape
    n_out, n_in, k, _ = kernel.shape
    rows, columns = height - k + 1, width - k + 1
    weights = np.zeros((n_out, rows, columns, n_in, height, width))
    for i, j in itertools.product(range(rows), range(columns)):
        weights[:, i, j, :, i : i + k, j : j + k] = kernel
    flat = weights.reshape(n_out * rows * columns, -1)
    return Layer(flat, np.repeat(bias, rows * columns), "")


def activate(name: str, z: Array) -> Array:
    """Apply an activation function."""
    if name == "relu":
        return np.maximum(z, 0)
    return 1 / (1 + np.exp(-z)) if name == "sigmoid" else z


def outputs(layers: Sequence[Layer], inputs: Array) -> Array:
    """Run a network in float64 on points, shape (n, n_inputs)."""
    values = inputs
    for layer in layers:
        values = activate(layer.activation, values @ layer.weights.T + layer.bias)
    return values


# --- properties --------------------------------------------------------------------------

_TOKEN = re.compile(r"[()]|[^\s()]+")
_INDEX = re.compile(r"([XY])(?:_(\d+)|\[0,(\d+)\])")
_DECLARED = re.compile(r"\(declare-(?:in|out)put ([XY]) float32 \[1,(\d+)\]\)")


def read_cases(path: Path) -> tuple[list[Case], bool]:
    """Read a property of VNN-LIB 1.0 or 2.0 as a list of cases; also tell whether it is 2.0."""
    text = re.sub(r";[^\n]*", "", path.read_text())
    if text.count("(") != text.count(")"):
        raise ValueError(f"{path}: parentheses do not match")
    statements = _nested(iter(_TOKEN.findall(text)))
    counts = dict[str, int]()
    for found in _INDEX.finditer(text):
        counts[found[1]] = max(counts.get(found[1], 0), int(found[2] or found[3]) + 1)
    counts |= {found[1]: int(found[2]) for found in _DECLARED.finditer(text)}
    formulas = [s[1] for s in statements if s[0] == "assert"]
    alternatives = (list(_alternatives(formula)) for formula in formulas)
    cases = [_case(itertools.chain(*parts), counts) for parts in itertools.product(*alternatives)]
    return [case for case in cases if (case.lower <= case.upper).all()], "vnnlib-version" in text


def _nested(tokens: Iterator[str]) -> list[Any]:
    items: list[Any] = []
    for token in tokens:
        if token == ")":
            return items
        items.append(_nested(tokens) if token == "(" else token)
    return items


def _alternatives(formula: list[Any]) -> Iterator[list[list[Any]]]:
    """Yield the alternatives of a formula, each a list of comparisons."""
    if formula[0] == "or":
        for part in formula[1:]:
            yield from _alternatives(part)
    elif formula[0] == "and":
        for parts in itertools.product(*(list(_alternatives(part)) for part in formula[1:])):
            yield list(itertools.chain(*parts))
    else:
        yield [formula]


def _case(comparisons: Iterable[list[Any]], counts: dict[str, int]) -> Case:
    lower, upper = np.full(counts["X"], -np.inf), np.full(counts["X"], np.inf)
    rows, limits = [], []
    for sign, left, right in comparisons:
        if sign not in ("<=", ">="):
            raise ValueError(f"cannot read a comparison with {sign}")
        x, y, constant = np.zeros(counts["X"]), np.zeros(counts["Y"]), 0.0
        for factor, term in ((1.0, left), (-1.0, right)):
            found = _INDEX.fullmatch(term)
            if found is None:
                constant += factor * float(term)
            else:
                (x if found[1] == "X" else y)[int(found[2] or found[3])] += factor
        if sign == ">=":  # now: x + y + constant <= 0
            x, y, constant = -x, -y, -constant
        if (x.any() and y.any()) or np.count_nonzero(x) > 1:
            raise ValueError("cannot read a condition on several inputs, or inputs and outputs")
        if not x.any():
            rows.append(y)
            limits.append(-constant)
        else:
            [i] = np.flatnonzero(x)
            bound = upper if x[i] > 0 else lower
            bound[i] = (min if x[i] > 0 else max)(bound[i], -constant / x[i])
    return Case(lower, upper, np.array(rows).reshape(len(rows), counts["Y"]), np.array(limits))


# --- answers -----------------------------------------------------------------------------


def violation(case: Case, values: Array) -> Array:
    """Return by how much outputs, shape (n, n_outputs), miss the conditions: 0 or less if not."""
    return (values @ case.rows.T - case.limits).max(axis=1)


class Runtime:
    """Runs the network as the judges do: float32, with onnxruntime."""

    def __init__(self, network: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            str(network), options, providers=["CPUExecutionProvider"]
        )
        self.input = self.session.get_inputs()[0]

    def __call__(self, inputs: Array) -> Array:
        """Return the outputs of one point, shape (n_inputs,)."""
        shape = [1, *self.input.shape[1:]]
        [values] = self.session.run(
            None, {self.input.name: inputs.astype(np.float32).reshape(shape)}
        )
        return values.ravel().astype(float)


def witness_text(inputs: Array, values: Array, number: str, is_new_form: bool) -> str:
    """Return a counterexample in the form of VNN-LIB 1.0 or 2.0."""
    if is_new_form:
        parts = [("X", inputs), ("Y", values)]
        lines = [
            line
            for name, of in parts
            for line in (f"{name} float32 [1,{len(of)}]", *(number % v for v in of))
        ]
        return "\n".join(lines) + "\n"
    items = [f"(X_{i} {number % v})" for i, v in enumerate(inputs)]
    items += [f"(Y_{i} {number % v})" for i, v in enumerate(values)]
    return "(" + "\n".join(items) + ")\n"


def main(solve: Callable[[Problem], tuple[str, Any]], number: str = "%.17g") -> None:
    """Run a tool: ``tool.py NETWORK PROPERTY LIMIT RESULT``.

    Parameters
    ----------
    solve : callable
        Returns a result and, for sat, inputs and outputs.
    number : str
        How counterexamples are printed.
    """
    network, path, limit, result = sys.argv[1:]
    cases, is_new_form = read_cases(Path(path))
    problem = Problem(Path(network), read_layers(Path(network)), cases, is_new_form, float(limit))
    answer, point = solve(problem)
    text = f"{answer}\n"
    if answer == "sat":
        text += witness_text(*point, number, is_new_form)
    Path(result).write_text(text)
