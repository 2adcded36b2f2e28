"""A slow second implementation of the 2021 rules, written from the report alone.

Plain loops over plain dicts, one instance at a time; it shares no code with the package.
"""

from fractions import Fraction


def score_instance(answers, conflicts, randgen="randgen"):
    """Judge one instance.

    `answers` maps a tool to (result, corrected time), result one of unsat, sat, None.
    Returns a dict from tool to (verdict, points, is_fastest).
    """
    unsat = [t for t, (result, _) in answers.items() if result == "unsat"]
    sat = [t for t, (result, _) in answers.items() if result == "sat"]
    if len(unsat) == len(sat):
        winners = None
    elif unsat and sat and conflicts == "ignore":
        winners = None
    elif len(unsat) > 1 and len(sat) > 1 and conflicts == "odd-one-out":
        winners = None
    elif randgen in sat:
        winners = sat
    else:
        winners = unsat if len(unsat) > len(sat) else sat
    judged = {}
    for tool, (result, _) in answers.items():
        if result is None:
            judged[tool] = ("unsolved", 0, False)
        elif winners is None:
            judged[tool] = ("ignored", 0, False)
        elif tool not in winners:
            judged[tool] = ("incorrect", -100, False)
        elif winners is sat and randgen in sat:
            judged[tool] = ("correct", 1, False)
        else:
            bonus, fastest = _bonus(tool, winners, answers)
            judged[tool] = ("correct", 10 + bonus, fastest)
    return judged


def _bonus(tool, winners, answers):
    times = sorted(answers[t][1] for t in winners)
    mine = answers[tool][1]
    if mine < times[0] + 0.2:
        return 2, True
    if len(times) > 1 and mine < times[1] + 0.2:
        return 1, False
    return 0, False


def score_contest(rows, *, multi, conflicts, unscored=(), overhead=True):
    """Score a whole contest.

    `rows` are (tool, benchmark, instance, result, run time), with instance None for a start-up
    test, which counts for the overhead only; `multi` maps a tool to the
    benchmarks of its other mode. Returns points by (benchmark, instance, tool), and the
    overall scores as fractions by tool.
    """
    mode = lambda tool, benchmark: benchmark in multi.get(tool, ())
    start_up = {}
    for tool, benchmark, _, result, run in rows:
        if result in ("unsat", "sat"):
            key = (tool, mode(tool, benchmark))
            start_up[key] = min(start_up.get(key, run), run)
    by_instance = {}
    for tool, benchmark, instance, result, run in rows:
        if instance is None:
            continue
        answer = result if result in ("unsat", "sat") else None
        less = start_up[tool, mode(tool, benchmark)] if answer and overhead else 0
        time = max(1.0, run - less) if answer else None
        by_instance.setdefault((benchmark, instance), {})[tool] = (answer, time)
    points, sums = {}, {}
    for (benchmark, instance), answers in by_instance.items():
        for tool, (_, worth, _) in score_instance(answers, conflicts).items():
            points[benchmark, instance, tool] = worth
            if answers[tool][0] or (benchmark, tool) in sums:
                sums.setdefault((benchmark, tool), 0)
    for (benchmark, _, tool), worth in points.items():
        if (benchmark, tool) in sums:
            sums[benchmark, tool] += worth
    overall = {}
    for benchmark in {b for b, _ in sums}:
        best = max(worth for (b, _), worth in sums.items() if b == benchmark)
        for (b, tool), worth in sums.items():
            if b == benchmark and b not in unscored:
                percent = Fraction(100 * worth, best) if best > 0 else Fraction(0)
                overall[tool] = overall.get(tool, Fraction(0)) + max(percent, Fraction(0))
    return points, overall


def prove_instance(answers, policy, *, strict=False, nothing_proves=False, credited=True):
    """Judge one instance by counterexamples: a second implementation, from the rules alone.

    `answers` maps a tool to (result, check), check the organisers' word or "unchecked".
    Returns a dict from tool to correct, incorrect, ignored or unsolved.
    """
    sats = {t: check for t, (result, check) in answers.items() if result == "sat"}
    unsats = [t for t, (result, _) in answers.items() if result == "unsat"]

    def is_valid(check):
        if check in ("unchecked", "not_available"):
            return credited
        return check in ("correct", "correct_up_to_tolerance")

    def is_proof(check):
        if nothing_proves:
            return False
        return check == "correct" or (check == "correct_up_to_tolerance" and not strict)

    proven = any(is_proof(check) for check in sats.values())
    someone = any(is_valid(check) for check in sats.values())
    open_words = ("unchecked", "not_available")
    ranked = sorted((check in open_words, t) for t, check in sats.items() if is_valid(check))
    first = ranked[0][1] if ranked else None
    verdicts = {}
    for tool, (result, check) in answers.items():
        if result == "unsat":
            verdicts[tool] = "incorrect" if proven else "correct"
        elif result != "sat":
            verdicts[tool] = "unsolved"
        else:
            right = {
                "on-conflict": not unsats or someone,
                "as-presented": someone,
                "first-valid": tool == first,
                "per-tool": is_valid(check),
            }[policy]
            wrong = "ignored" if check == "unsupported" else "incorrect"
            verdicts[tool] = "correct" if right else wrong
    return verdicts
