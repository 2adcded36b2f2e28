"""Optimist: where a thousand random points (of each case) hold none, it says there is none.

That is unsound: its unsat is a guess.
"""

import numpy as np
from problem import Problem, Runtime, main, outputs, violation

N_SAMPLES = 1000


def solve(problem: Problem) -> tuple[str, object]:
    """Return sat with a point, or unsat."""
    rng, run = np.random.default_rng(2), Runtime(problem.network)
    for case in problem.cases:
        points = rng.uniform(case.lower, case.upper, (N_SAMPLES, len(case.lower)))
        best = points[violation(case, outputs(problem.layers, points)).argmin()]
        values = run(best)
        if violation(case, values[None])[0] <= 0:
            return "sat", (best, values)
    return "unsat", None


if __name__ == "__main__":
    main(solve)
