"""Who is right where counterexamples decide (rules of 2022 and later)."""

import numpy as np
import pandas as pd
import pytest
from conftest import real_path
from oracle import prove_instance

from vnnanalysis.analysis import open_analysis
from vnnanalysis.judging import judge
from vnnanalysis.load import load_contest
from vnnanalysis.rules import ScoringRules
from vnnanalysis.terms import Check, Conflicts, Tolerance, Unchecked

BY_CHECKS = [str(c) for c in Conflicts if c.uses_checks]
HEADER = "tool,benchmark,instance,result,time_s\n"


def judged_by(tidy, tmp_path, answers, **settings):
    """Judge one instance; `answers` maps a tool to (result, check or None)."""
    rows = "".join(
        f"{t},b,i,{result},{k + 1}\n" for k, (t, (result, _)) in enumerate(answers.items())
    )
    table = tmp_path / "verdicts.csv"
    checked = {t: check for t, (_, check) in answers.items() if check}
    table.write_text(
        "benchmark,instance,tool,verdict\n" + "".join(f"b,i,{t},{c}\n" for t, c in checked.items())
    )
    analysis = open_analysis(
        edition=str(tidy(HEADER + rows)), checks=[str(table)] if checked else None,
        rules="2023", settings=settings,
    )  # fmt: skip
    return analysis.judged.set_index("tool")


# name -> answers, settings, points by tool, truth
CASES = {
    "S1 per tool": (
        {"a": ("sat", "correct"), "b": ("sat", "exec_doesnt_match"), "c": ("unsat", None)},
        {"conflicts": "per-tool"}, [10, -150, -150], "sat",
    ),
    "S1 any tool's counts for all": (
        {"a": ("sat", "correct"), "b": ("sat", "exec_doesnt_match"), "c": ("unsat", None)},
        {"conflicts": "as-presented"}, [10, 10, -150], "sat",
    ),
    "S2 two valid ones": (
        {"b": ("sat", "correct"), "a": ("sat", "correct")},
        {"conflicts": "per-tool"}, [10, 10], "sat",
    ),
    "S2 only the first": (
        {"b": ("sat", "correct"), "a": ("sat", "correct"), "c": ("unsat", None)},
        {"conflicts": "first-valid"}, [-150, 10, -150], "sat",
    ),
    "S3 within tolerance proves nothing": (
        {"a": ("sat", "correct_up_to_tolerance"), "b": ("unsat", None)},
        {"conflicts": "per-tool", "tolerance": "zero"}, [10, 10], "unknown",
    ),
    "S3 within tolerance proves in 2023": (
        {"a": ("sat", "correct_up_to_tolerance"), "b": ("unsat", None)},
        {"conflicts": "as-presented"}, [10, -150], "sat",
    ),
    "nothing proves, as committed in 2024": (
        {"a": ("sat", "correct"), "b": ("unsat", None)},
        {"conflicts": "per-tool", "tolerance": "as-committed"}, [10, 10], "unknown",
    ),
    "S12 unsupported is neutral": (
        {"a": ("sat", "unsupported"), "b": ("unsat", None)},
        {"conflicts": "per-tool"}, [0, 10], "unknown",
    ),
    "S12 unsupported, but another proves it": (
        {"a": ("sat", "unsupported"), "b": ("sat", "correct"), "c": ("unsat", None)},
        {"conflicts": "per-tool"}, [0, 10, -150], "sat",
    ),
    "S14 no counterexample, credited": (
        {"a": ("sat", None), "b": ("unsat", None)},
        {"conflicts": "per-tool"}, [10, 10], "unknown",
    ),
    "S14 no counterexample, penalised": (
        {"a": ("sat", None), "b": ("unsat", None)},
        {"conflicts": "per-tool", "unchecked": "penalised"}, [-150, 10], "unsat",
    ),
    "a file absent here is not one that was not given": (
        {"a": ("sat", "not_available"), "b": ("sat", "no_ce"), "c": ("unsat", None)},
        {"conflicts": "per-tool"}, [10, -150, 10], "unknown",
    ),
    "2022: nothing is checked without a conflict": (
        {"a": ("sat", "no_ce"), "b": ("sat", None)},
        {"conflicts": "on-conflict"}, [10, 10], "sat",
    ),
    "2022: no valid one against an unsat": (
        {"a": ("sat", "no_ce"), "b": ("sat", "spec_not_violated"), "c": ("unsat", None)},
        {"conflicts": "on-conflict", "incorrect_points": -100}, [-100, -100, 10], "unsat",
    ),
    "2023: no valid one at all": (
        {"a": ("sat", "no_ce"), "b": ("timeout", None)},
        {"conflicts": "as-presented"}, [-150, 0], "unknown",
    ),
    "the study takes all as unsat": (
        {"a": ("sat", None), "b": ("unsat", None), "c": ("timeout", None)},
        {"conflicts": "all-unsat"}, [10, 10, 0], "unsat",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_cases(tidy, tmp_path, name):
    answers, settings, points, truth = CASES[name]
    judged = judged_by(tidy, tmp_path, answers, **settings)
    assert judged["points"].tolist() == points
    assert set(judged["truth"]) == {truth}
    assert (judged["reason"] != "").all()


def test_a_checked_one_comes_before_one_that_nobody_checked(tidy, tmp_path):
    answers = {"a": ("sat", None), "b": ("sat", "correct"), "c": ("unsat", None)}
    judged = judged_by(tidy, tmp_path, answers, conflicts="first-valid")
    assert judged["points"].tolist() == [-150, 10, -150]
    assert judged["reason"]["c"] == "contradicted by the valid counterexample of b"
    nobody = judged_by(tidy, tmp_path, {"b": ("sat", None), "a": ("sat", None)},
                       conflicts="first-valid")  # fmt: skip
    assert nobody["points"].tolist() == [-150, 10]


def test_only_proofs_are_named_as_such(tidy, tmp_path):
    answers = {"a": ("sat", "correct"), "b": ("sat", "correct_up_to_tolerance"),
               "c": ("unsat", None)}  # fmt: skip
    strict = judged_by(tidy, tmp_path, answers, conflicts="per-tool", tolerance="zero")
    assert strict["reason"].tolist() == [
        "valid counterexample", "counterexample valid within tolerance, which proves nothing",
        "contradicted by the valid counterexample of a",
    ]  # fmt: skip
    lax = judged_by(tidy, tmp_path, answers, conflicts="per-tool", tolerance="any")
    assert lax["reason"].tolist() == [
        "valid counterexample", "counterexample valid within tolerance",
        "contradicted by the valid counterexample of a, b",
    ]  # fmt: skip


REASONS = {
    "S1 per tool": ["valid counterexample", "not the one the counterexample claims",
                    "contradicted by the valid counterexample of a"],
    "S1 any tool's counts for all": ["valid", "but that of a counts for all", "contradicted"],
    "S2 only the first": ["only the first tool with a valid one is credited", "valid", "of b, a"],
    "S3 within tolerance proves nothing": ["proves nothing", "1 say sat, but no counterexample"],
    "S12 unsupported is neutral": ["manual review", "1 say sat, but no counterexample proves it"],
    "S14 no counterexample, credited": ["not checked: credited", "no counterexample proves it"],
    "S14 no counterexample, penalised": ["not checked: penalised", "1 say sat"],
    "2022: nothing is checked without a conflict": ["2 say sat", "2 say sat"],
    "the study takes all as unsat": ["taken as unsat, all count", "all count as solved", "timeout"],
}  # fmt: skip


@pytest.mark.parametrize("name", REASONS)
def test_reasons_can_be_acted_on(tidy, tmp_path, name):
    answers, settings, _, _ = CASES[name]
    judged = judged_by(tidy, tmp_path, answers, **settings)
    for reason, expected in zip(judged["reason"], REASONS[name], strict=True):
        assert expected in reason


def test_every_case_is_what_the_second_implementation_says(tidy, tmp_path):
    for answers, settings, points, _ in CASES.values():
        if settings["conflicts"] == "all-unsat":
            continue
        told = prove_instance(
            {t: (result, check or "unchecked") for t, (result, check) in answers.items()},
            settings["conflicts"],
            strict=settings.get("tolerance") == "zero",
            nothing_proves=settings.get("tolerance") == "as-committed",
            credited=settings.get("unchecked") != "penalised",
        )
        worth = {"correct": 10, "incorrect": settings.get("incorrect_points", -150)}
        assert [worth.get(told[t], 0) for t in answers] == points


@pytest.mark.parametrize("policy", BY_CHECKS)
@pytest.mark.parametrize("tolerance", [str(t) for t in Tolerance])
@pytest.mark.parametrize("unchecked", [str(u) for u in Unchecked])
def test_random_contests_against_the_second_implementation(tidy, policy, tolerance, unchecked):
    rng = np.random.default_rng(len(policy) * 100 + len(tolerance) * 10 + len(unchecked))
    results = ["sat", "sat", "unsat", "unsat", "timeout"]
    words = [str(c) for c in Check]
    tools, instances = "dbace", range(80)
    said = {(t, i): rng.choice(results) for t in tools for i in instances}
    check = {(t, i): rng.choice(words) for t in tools for i in instances}
    rows = "".join(f"{t},b,i{i},{said[t, i]},{i + 1}\n" for t in tools for i in instances)
    contest = load_contest(str(tidy(HEADER + rows)))
    table = pd.DataFrame(
        [("b", f"i{i}", t, check[t, i], "") for t, i in said
         if said[t, i] == "sat" and check[t, i] != "unchecked"],
        columns=["benchmark", "instance", "tool", "verdict", "tolerance"],
    )  # fmt: skip
    rules = ScoringRules().with_settings(
        {"conflicts": policy, "tolerance": tolerance, "unchecked": unchecked}
    )
    judged = judge(contest.runs, contest.edition, rules, table)
    got = judged.set_index(["instance", "tool"])["verdict"].to_dict()
    for i in instances:
        answers = {t: (said[t, i], check[t, i]) for t in tools}
        expected = prove_instance(
            answers, policy, strict=tolerance != "any",
            nothing_proves=tolerance == "as-committed", credited=unchecked == "credited",
        )  # fmt: skip
        assert {t: got[f"i{i}", t] for t in tools} == expected, answers


@pytest.mark.parametrize("policy", BY_CHECKS)
def test_order_of_rows_and_an_absent_tool_change_nothing(tidy, policy):
    rows = ["b,x,i,sat,1\n", "a,x,i,sat,2\n", "c,x,i,unsat,3\n", "d,x,i,timeout,9\n"]
    checks = pd.DataFrame(
        [("x", "i", "b", "correct", ""), ("x", "i", "a", "correct_up_to_tolerance", "")],
        columns=["benchmark", "instance", "tool", "verdict", "tolerance"],
    )
    rules = ScoringRules().with_settings({"conflicts": policy, "tolerance": "zero"})
    points = []
    for order in (rows, rows[::-1], rows[:3]):
        contest = load_contest(str(tidy(HEADER + "".join(order))))
        judged = judge(contest.runs, contest.edition, rules, checks)
        points.append(judged.set_index("tool")["points"].drop("d", errors="ignore").to_dict())
    assert points[0] == points[1] == points[2]


@pytest.mark.parametrize(
    ("year", "policy"),
    [("2022", "on-conflict"), *(("2023", p) for p in ("as-presented", "per-tool", "first-valid"))],
)  # fmt: skip
def test_real_years_against_the_second_implementation(year, policy):
    """Every instance, with the verdicts that the organisers published."""
    analysis = open_analysis(
        edition=year, results=str(real_path("results", f"vnncomp{year}_results")), conflicts=policy
    )
    rows = analysis.judged[analysis.judged["excluded"] == ""]
    n_checked = 0
    for _, group in rows.groupby(["benchmark", "instance"]):
        answers = {r.tool: (r.result, r.check) for r in group.itertuples()}
        expected = prove_instance(answers, policy)
        assert dict(zip(group["tool"], group["verdict"], strict=True)) == expected
        n_checked += sum(check not in ("", "unchecked") for _, check in answers.values())
    assert n_checked == {"2022": 133, "2023": 1812}[year]
