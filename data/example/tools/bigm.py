"""Big-M: the exact mixed-integer programme of a ReLU network, solved by HiGHS.

It prints six decimals, so that outputs are not quite those of the inputs.
"""

import time

import numpy as np
from boxes import affine
from problem import Array, Case, Layer, Problem, main, outputs, violation
from scipy.optimize import Bounds, LinearConstraint, milp

INFEASIBLE = 2


class Programme:
    """Variables are inputs, then (z, a, is_active) of every hidden layer, then a margin."""

    def __init__(self, layers: list[Layer], case: Case) -> None:
        sizes = [len(layer.bias) for layer in layers[:-1]]
        starts = np.cumsum([len(case.lower), *(3 * n for n in sizes)])
        self.n = int(starts[-1]) + 1
        self.rows: list[Array] = []
        self.upper: list[Array] = []
        self.low, self.up = np.full(self.n, -np.inf), np.full(self.n, np.inf)
        self.is_integer = np.zeros(self.n)
        before, lower, upper = slice(0, len(case.lower)), case.lower, case.upper
        self.low[before], self.up[before] = lower, upper
        for start, n, layer in zip(starts, sizes, layers, strict=False):
            z, a, d = (slice(start + k * n, start + (k + 1) * n) for k in range(3))
            self._add([(before, layer.weights), (z, -np.eye(n))], -layer.bias)
            self._add([(before, -layer.weights), (z, np.eye(n))], layer.bias)
            lower, upper = affine(layer, lower, upper)
            self.low[z], self.up[z] = lower, upper
            after, lower, upper = np.maximum(lower, 0), np.minimum(lower, 0), np.maximum(upper, 0)
            self.low[a], self.up[a] = after, upper
            self.low[d], self.up[d], self.is_integer[d] = 0, 1, 1
            self._add([(z, np.eye(n)), (a, -np.eye(n))], np.zeros(n))  # a >= z
            # a <= z - lower (1 - d), and a <= upper d
            self._add([(a, np.eye(n)), (z, -np.eye(n)), (d, np.diag(-lower))], -lower)
            self._add([(a, np.eye(n)), (d, np.diag(-upper))], np.zeros(n))
            before, lower = a, after
        margin = slice(self.n - 1, self.n)
        conditions = [
            (before, case.rows @ layers[-1].weights),
            (margin, -np.ones((len(case.rows), 1))),
        ]
        self._add(conditions, case.limits - case.rows @ layers[-1].bias)

    def _add(self, blocks: list[tuple[slice, Array]], upper: Array) -> None:
        rows = np.zeros((len(upper), self.n))
        for place, block in blocks:
            rows[:, place] = block
        self.rows.append(rows)
        self.upper.append(upper)

    def solve(self, limit_s: float, *, minimise: bool) -> tuple[int, Array | None]:
        """Return HiGHS's status and solution; the margin is 0, or as small as it can be."""
        low, up, cost = self.low.copy(), self.up.copy(), np.zeros(self.n)
        low[-1], up[-1], cost[-1] = (-1e3, 0.0, 1.0) if minimise else (0.0, 0.0, 0.0)
        found = milp(
            cost, integrality=self.is_integer, bounds=Bounds(low, up),
            constraints=LinearConstraint(np.vstack(self.rows), ub=np.concatenate(self.upper)),
            options={"time_limit": limit_s},
        )  # fmt: skip
        return found.status, found.x


def solve(problem: Problem) -> tuple[str, object]:
    """Return sat with a point, unsat or unknown."""
    start = time.perf_counter()
    if any(layer.activation not in ("relu", "") for layer in problem.layers):
        return "unknown", None  # no exact programme for a sigmoid
    result = "unsat"
    for case in problem.cases:
        programme = Programme(problem.layers, case)
        for minimise in (False, True):
            left = max(0.1, problem.limit_s - (time.perf_counter() - start))
            status, x = programme.solve(left, minimise=minimise)
            if x is not None:
                point = np.clip(x[: len(case.lower)], case.lower, case.upper).round(6)
                values = outputs(problem.layers, point[None])
                if violation(case, values)[0] <= 0:
                    return "sat", (point, values[0])
            if status == INFEASIBLE:
                break
        else:
            result = "unknown"
    return result, None


if __name__ == "__main__":
    main(solve, number="%.6f")
