"""Branches: linear bounds and branch and bound on the neurons, with HiGHS.

A node narrows the ranges of some neurons. Its linear programme holds the input box, every
affine layer, the triangle above and below each ReLU (or two parallel lines at each sigmoid),
and looks for outputs that meet the conditions of the case by as much as possible. Where they
miss them, nothing in the node is a counterexample; else the inputs are tried, and the neuron
that is least true is split.
"""

from typing import NamedTuple

import numpy as np
from problem import Array, Case, Layer, Problem, Runtime, activate, main, violation
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

SLACK = 1e-6  # above the tolerance of HiGHS, 1e-7
Ranges = dict[tuple[int, int], tuple[float, float]]  # layer, neuron: range of its input


class Lines(NamedTuple):
    """Two lines per neuron, between which its value lies."""

    low_slope: Array
    low: Array
    up_slope: Array
    up: Array


def relu_lines(lower: Array, upper: Array) -> Lines:
    """Return lines below and above ReLU, over ranges."""
    is_open = (lower < 0) & (upper > 0)
    slope = np.where(is_open, upper / np.where(is_open, upper - lower, 1), lower >= 0)
    below = np.where(is_open, (upper > -lower).astype(float), slope)
    return Lines(below, np.zeros_like(lower), slope, np.where(is_open, -slope * lower, 0))


def sigmoid_lines(lower: Array, upper: Array) -> Lines:
    """Return parallel lines below and above the sigmoid, over ranges."""
    at = [activate("sigmoid", z) for z in (lower, upper)]
    slope = np.minimum(at[0] * (1 - at[0]), at[1] * (1 - at[1]))
    return Lines(slope, at[0] - slope * lower, slope, at[1] - slope * upper)


def bounds_of(
    layers: list[Layer], case: Case, ranges: Ranges
) -> tuple[list[tuple[Array, Array]], list[Lines]] | None:
    """Return the range of every neuron's input and its lines, by substituting backwards.

    None if a range is empty: then nothing is in the node.
    """
    found, lines = list[tuple[Array, Array]](), list[Lines]()
    for k, layer in enumerate(layers[:-1]):
        lower = -_greatest(-layer.weights, -layer.bias, layers[:k], lines, case)
        upper = _greatest(layer.weights, layer.bias, layers[:k], lines, case)
        for (of, i), (low, up) in ranges.items():
            if of == k:
                lower[i], upper[i] = max(lower[i], low), min(upper[i], up)
        if (lower > upper + SLACK).any():
            return None
        upper = np.maximum(lower, upper)
        found.append((lower, upper))
        make = relu_lines if layer.activation == "relu" else sigmoid_lines
        lines.append(make(lower, upper))
    return found, lines


def _greatest(
    rows: Array, constant: Array, before: list[Layer], lines: list[Lines], case: Case
) -> Array:
    """Return an upper bound of ``rows @ values + constant`` over the input box."""
    for layer, line in zip(reversed(before), reversed(lines), strict=True):
        positive, negative = np.maximum(rows, 0), np.minimum(rows, 0)
        constant = constant + positive @ line.up + negative @ line.low
        rows = positive * line.up_slope + negative * line.low_slope
        constant = constant + rows @ layer.bias
        rows = rows @ layer.weights
    return np.maximum(rows, 0) @ case.upper + np.minimum(rows, 0) @ case.lower + constant


class Programme:
    """The linear programme of a case: inputs, then (z, a) of every layer, then a margin."""

    def __init__(self, layers: list[Layer], case: Case) -> None:
        self.layers, self.case = layers, case
        sizes = [len(layer.bias) for layer in layers[:-1]]
        starts = np.cumsum([len(case.lower), *(2 * n for n in sizes)])
        self.z = [slice(s, s + n) for s, n in zip(starts, sizes, strict=False)]
        self.a = [slice(s.stop, s.stop + n) for s, n in zip(self.z, sizes, strict=True)]
        self.n = int(starts[-1]) + 1
        self.equal, self.equal_to = self._affine()
        last = np.zeros((len(case.rows), self.n))
        last[:, self._before(len(sizes))] = case.rows @ layers[-1].weights
        last[:, -1] = -1
        self.last, self.last_to = last, case.limits - case.rows @ layers[-1].bias

    def _before(self, k: int) -> slice:
        return self.a[k - 1] if k else slice(0, len(self.case.lower))

    def _affine(self) -> tuple[csr_matrix, Array]:
        rows = []
        for k, layer in enumerate(self.layers[:-1]):
            block = np.zeros((len(layer.bias), self.n))
            block[:, self._before(k)] = layer.weights
            block[:, self.z[k]] = -np.eye(len(layer.bias))
            rows.append(block)
        return csr_matrix(np.vstack(rows)), -np.concatenate([la.bias for la in self.layers[:-1]])

    def solve(self, ranges: list[tuple[Array, Array]], lines: list[Lines]) -> Array | None:
        """Return the solution with the smallest margin, or None if all miss the conditions."""
        rows, limits = [self.last], [self.last_to]
        low, up = [self.case.lower], [self.case.upper]
        for k, (layer, of, line) in enumerate(zip(self.layers, ranges, lines, strict=False)):
            n = len(of[0])
            above, below = np.zeros((n, self.n)), np.zeros((n, self.n))
            above[:, self.a[k]], above[:, self.z[k]] = np.eye(n), np.diag(-line.up_slope)
            below[:, self.a[k]], below[:, self.z[k]] = -np.eye(n), np.diag(line.low_slope)
            rows += [above, below]
            limits += [line.up, -line.low]
            if layer.activation == "relu":  # the triangle has a third side: a >= z
                third = np.zeros((n, self.n))
                third[:, self.a[k]], third[:, self.z[k]] = -np.eye(n), np.eye(n)
                rows.append(third)
                limits.append(np.zeros(n))
            low += [of[0], activate(layer.activation, of[0])]
            up += [of[1], activate(layer.activation, of[1])]
        low, up = [*low, np.array([-np.inf])], [*up, np.array([np.inf])]
        found = linprog(
            np.eye(self.n)[-1], csr_matrix(np.vstack(rows)), np.concatenate(limits),
            self.equal, self.equal_to, np.column_stack([np.concatenate(low), np.concatenate(up)]),
            method="highs",
        )  # fmt: skip
        if found.status == 2 or (found.status == 0 and found.fun > SLACK):
            return None
        if found.status != 0:
            raise ArithmeticError(found.message)
        return found.x

    def least_true(self, x: Array) -> tuple[float, int, int, float]:
        """Return how far the worst neuron is from its function, which it is, and its input."""
        worst = (-1.0, 0, 0, 0.0)
        for k, layer in enumerate(self.layers[:-1]):
            gap = np.abs(x[self.a[k]] - activate(layer.activation, x[self.z[k]]))
            i = int(gap.argmax())
            worst = max(worst, (float(gap[i]), k, i, float(x[self.z[k]][i])))
        return worst


def search(problem: Problem, case: Case, run: Runtime) -> tuple[str, object]:
    """Return sat with a point, unsat, or unknown where rounding decides."""
    programme, nodes, result = Programme(problem.layers, case), [Ranges()], "unsat"
    while nodes:
        ranges = nodes.pop()
        bounds = bounds_of(problem.layers, case, ranges)
        if bounds is None or (x := programme.solve(*bounds)) is None:
            continue
        point = np.clip(x[: len(case.lower)], case.lower, case.upper)
        values = run(point)
        if violation(case, values[None])[0] <= 0:
            return "sat", (point, values)
        gap, k, i, z = programme.least_true(x)
        lower, upper = (float(of[i]) for of in bounds[0][k])
        if min(gap, upper - lower) < SLACK:
            result = "unknown"
            continue
        middle = 0.0 if problem.layers[k].activation == "relu" else z
        if not lower < middle < upper:
            middle = (lower + upper) / 2
        halves = [ranges | {(k, i): (lower, middle)}, ranges | {(k, i): (middle, upper)}]
        nodes += halves if z > middle else reversed(halves)
    return result, None


def solve(problem: Problem) -> tuple[str, object]:
    """Return sat with a point, unsat or unknown."""
    run, results = Runtime(problem.network), []
    for case in problem.cases:
        result, point = search(problem, case, run)
        if result == "sat":
            return result, point
        results.append(result)
    return ("unknown" if "unknown" in results else "unsat"), None


if __name__ == "__main__":
    main(solve)
