"""Dice: draws random points until one is a counterexample, or time is up."""

import numpy as np
from problem import Problem, Runtime, main, outputs, violation

BATCH = 256


def solve(problem: Problem) -> tuple[str, object]:
    """Return sat with a point; never returns where there is none to be found."""
    rng, run = np.random.default_rng(1), Runtime(problem.network)
    while True:
        for case in problem.cases:
            points = rng.uniform(case.lower, case.upper, (BATCH, len(case.lower)))
            best = points[violation(case, outputs(problem.layers, points)).argmin()]
            values = run(best)
            if violation(case, values[None])[0] <= 0:
                return "sat", (best, values)


if __name__ == "__main__":
    main(solve)
