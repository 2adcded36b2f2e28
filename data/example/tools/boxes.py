"""Boxes: bounds every neuron by an interval, and bisects the inputs where that is too coarse."""

import numpy as np
from problem import Array, Case, Layer, Problem, activate, main

SLACK = 1e-6  # far above what float32 rounds away in networks of this size
MOST = 100_000  # boxes at a time, then it gives up


def affine(layer: Layer, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Return bounds of an affine map over boxes, shape (..., n_outputs)."""
    positive, negative = np.maximum(layer.weights, 0).T, np.minimum(layer.weights, 0).T
    return (
        lower @ positive + upper @ negative + layer.bias,
        upper @ positive + lower @ negative + layer.bias,
    )


def is_excluded(case: Case, layers: list[Layer], lower: Array, upper: Array) -> Array:
    """Tell for which boxes, shape (n, n_inputs), intervals exclude a counterexample."""
    for layer in layers[:-1]:
        lower, upper = affine(layer, lower, upper)
        lower, upper = activate(layer.activation, lower), activate(layer.activation, upper)
    last = Layer(case.rows @ layers[-1].weights, case.rows @ layers[-1].bias - case.limits, "")
    return (affine(last, lower, upper)[0] > SLACK).any(axis=1)


def is_safe(case: Case, layers: list[Layer]) -> bool:
    """Tell whether a case is proven to have no counterexample."""
    lower, upper = case.lower[None], case.upper[None]
    while 0 < len(lower) <= MOST:
        is_open = ~is_excluded(case, layers, lower, upper)
        lower, upper = lower[is_open], upper[is_open]
        rows, widest = np.arange(len(lower)), (upper - lower).argmax(axis=1)
        middle = (lower[rows, widest] + upper[rows, widest]) / 2
        left, right = upper.copy(), lower.copy()
        left[rows, widest], right[rows, widest] = middle, middle
        lower, upper = np.vstack([lower, right]), np.vstack([left, upper])
    return len(lower) == 0


def solve(problem: Problem) -> tuple[str, object]:
    """Return unsat or unknown."""
    are_safe = all(is_safe(case, problem.layers) for case in problem.cases)
    return ("unsat" if are_safe else "unknown"), None


if __name__ == "__main__":
    main(solve)
