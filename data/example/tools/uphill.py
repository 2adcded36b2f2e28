"""Uphill: follows the gradient from random starts; gives up after a number of them.

It first measures which batch size is fastest on this machine, which costs the same time
whatever the instance. As tools on graphics cards do, it computes in float32: a point at the
edge of the box can be outside of it by the rounding of the bound.
"""

import time

import numpy as np
from problem import Array, Case, Layer, Problem, activate, main, violation

N_STARTS, N_STEPS = 6000, 60
SIZES = (20, 50, 100, 200, 500)
TUNING_S = 0.3  # for each size


def forward(layers: list[Layer], points: Array) -> list[Array]:
    """Return the values after every layer, in float32."""
    values = [points]
    for layer in layers:
        z = values[-1] @ layer.weights.astype(np.float32).T + layer.bias.astype(np.float32)
        values.append(activate(layer.activation, z))
    return values


def gradient(case: Case, layers: list[Layer], values: list[Array]) -> Array:
    """Return the gradient of the worst condition with respect to the inputs."""
    worst = (values[-1] @ case.rows.T - case.limits).argmax(axis=1)
    slope = case.rows[worst]
    for layer, a in zip(reversed(layers), reversed(values[1:]), strict=True):
        if layer.activation == "relu":
            slope = slope * (a > 0)
        elif layer.activation == "sigmoid":
            slope = slope * (a * (1 - a))
        slope = slope @ layer.weights
    return slope


def climb(case: Case, layers: list[Layer], points: Array) -> tuple[Array, Array] | None:
    """Follow the gradient; return a counterexample and its outputs if one is met."""
    for k in range(N_STEPS):
        values = forward(layers, points)
        missing = violation(case, values[-1])
        best = int(missing.argmin())
        if missing[best] <= 0:
            return points[best].astype(float), values[-1][best].astype(float)
        step = (case.upper - case.lower) * 0.3 * (1 - k / N_STEPS)
        points = points - step * np.sign(gradient(case, layers, values))
        points = np.clip(points, case.lower, case.upper).astype(np.float32)
    return None


def fastest_size(problem: Problem) -> int:
    """Return the batch size with most points per second."""
    case, speed = problem.cases[0], dict[int, float]()
    for size in SIZES:
        points, start, n = np.tile(case.lower.astype(np.float32), (size, 1)), time.perf_counter(), 0
        while time.perf_counter() - start < TUNING_S:
            gradient(case, problem.layers, forward(problem.layers, points))
            n += size
        speed[size] = n / (time.perf_counter() - start)
    return max(speed, key=lambda size: speed[size])


def solve(problem: Problem) -> tuple[str, object]:
    """Return sat with a point, or unknown."""
    size = fastest_size(problem)
    rng = np.random.default_rng(3)
    for _ in range(0, N_STARTS, size):
        for case in problem.cases:
            points = rng.uniform(case.lower, case.upper, (size, len(case.lower)))
            points = points.astype(np.float32)
            if (found := climb(case, problem.layers, points)) is not None:
                return "sat", found
    return "unknown", None


if __name__ == "__main__":
    main(solve)
