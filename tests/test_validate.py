"""Counterexamples validated: statuses, verdicts under every rule set, real data, cases."""

import json
import os
import re
from functools import cache
from pathlib import Path

import numpy as np
import oracle_witness
import pandas as pd
import pytest
from click.testing import CliRunner
from conftest import INVENTED, raw_of, real_path
from onnx import helper
from small_nets import Contest, declared, linear, sign, witness_text, write_model, write_text

from vnnanalysis.analysis import open_analysis
from vnnanalysis.checks import known_verdicts
from vnnanalysis.cli import main
from vnnanalysis.editions import read_edition
from vnnanalysis.errors import UsageError
from vnnanalysis.known_verdicts import compare_verdicts
from vnnanalysis.load import load_contest
from vnnanalysis.measured_cache import Cache
from vnnanalysis.paths import root
from vnnanalysis.published import compare
from vnnanalysis.tasks import NUMBERS
from vnnanalysis.validate import VERDICT_COLUMNS, measure_sats, verdict_table
from vnnanalysis.verdicts import NAMED, is_fragile, named_rules, reasons, verdicts
from vnnanalysis.witness_files import find_files
from vnnanalysis.witness_tables import (
    by_tool_and_rules,
    doubtful,
    judged_witnesses,
    needed_tolerances,
    truth_flips,
    validation_in_words,
    worst_offenders,
)

FUZZ = os.environ.get("VNNANALYSIS_FUZZ") == "1"  # make fuzz
SAME = linear([[1]], [0])
HALF = linear([[1]], [0], kind="float16")  # an element type that is not supported
IN_BOX = declared(1, 1) + "(assert (>= X_0 0))(assert (<= X_0 0.1))(assert (>= Y_0 -1))"
ALWAYS = declared(1, 1) + "(assert (>= X_0 -9))(assert (<= X_0 9))(assert (<= Y_0 0))"


@pytest.fixture
def toy(tmp_path):
    """A contest with the network ``same`` and the property ``box``."""
    contest = Contest(tmp_path)
    contest.network("same", SAME)
    contest.property("box", IN_BOX)
    return contest


def measured(contest, **options):
    """Measure a small contest's counterexamples; returns them by tool."""
    loaded = load_contest(str(contest.edition()), contest.results, validate=False)
    sats = find_files(loaded.edition, loaded.runs, contest.results, contest.benchmarks)
    table = measure_sats("toy", sats, n_jobs=1, cache=Cache(None), **options)
    return table.assign(row=table["tool"]).set_index("row")


def verdict_words(table, rules, bounds=None):
    return verdict_table(table, named_rules(rules, bounds))["verdict"].to_dict()


def counted(table):
    """Return the counts of a table that are not zero, by row and column."""
    return {(r, c): n for r, row in table.iterrows() for c, n in row.items() if n}


# Statuses


def test_every_status_and_its_reason(toy):
    toy.property("many", declared(2, 1) + "(assert (<= X_0 1))")
    toy.property("broken", declared(1, 1) + "(assert (>= Y_0 ))")
    toy.network("pointer", SAME)
    (toy.benchmarks / "benchmarks/toy/onnx/pointer.onnx.gz").write_bytes(
        b"version https://git-lfs.github.com/spec/v1\n"
    )
    write_text(toy.benchmarks / "benchmarks/toy/onnx/garbage.onnx.gz", b"no network")
    toy.network("half", HALF)
    toy.property("empty", "")
    good = witness_text(["0.05"], ["0.05"])
    for tool, network, prop, witness in (
        ("good", "same", "box", good), ("cut", "same", "box", good[:-1]),
        ("empty", "same", "box", b""), ("newline", "same", "box", "\n"),
        ("words", "same", "box", "((X_0 tensor(1)))"), ("long", "same", "box",
         witness_text(["0.05", "0.05"], ["0.05"])), ("clipped", "same", "box", good),
        ("pointer", "pointer", "box", good), ("garbage", "garbage", "box", good),
        ("type", "half", "box", good), ("void", "same", "empty", good),
        ("gone", "gone", "box", good), ("broken", "same", "broken", good),
        ("many", "same", "many", witness_text([0, 0], [0])),
    ):  # fmt: skip
        path = toy.answer(tool, network, prop, witness=witness)
        if tool == "empty":
            path.write_bytes(b"")
        if tool == "clipped":
            path.write_bytes(path.read_bytes()[:-6])
    toy.answer("half", "same", "box")  # no file, where the tool has another
    toy.answer("half", "gone", "box", witness=good)
    toy.answer("none", "same", "box")  # no file at all
    table = measured(toy)
    table = table[(table["tool"] != "half") | (table["network"] == "onnx/same.onnx")]
    told = {
        t: (s, r) for t, s, r in zip(table.index, table["status"], table["reason"], strict=True)
    }
    assert told == {
        "good": ("measured", ""),
        "cut": ("measured", "the last ) was missing"),
        "empty": ("no_ce", "the file is empty"),
        "newline": ("no_ce", "the file is empty"),
        "words": ("malformed", "line 1, column 7: expected a decimal number, found 'tensor'"),
        "long": ("wrong_shape", "2 inputs, where the network takes 1"),
        "clipped": ("not_available", told["clipped"][1]),
        "pointer": ("not_available", "the network is a Git LFS pointer"),
        "garbage": ("not_available", told["garbage"][1]),
        "type": ("unsupported", "the network's input 'x' has element type tensor(float16)"),
        "void": ("not_available", "the property is empty here"),
        "gone": ("not_available", "not here: onnx/gone.onnx"),
        "broken": ("unsupported", "the property cannot be read: line 3, "
                   "column 17: expected two operands of >=, found ')'"),
        "many": ("unsupported", "X has 2 elements, the network's 'x' takes 1"),
        "half": ("no_ce", "no file, where the tool has others"),
        "none": ("not_available", "no counterexample of none for 2023_toy is here"),
    }  # fmt: skip
    assert "the counterexample is damaged here: expected a complete gzip" in told["clipped"][1]
    assert "the network is damaged here: expected an ONNX file" in told["garbage"][1]
    words = verdict_words(table, "2023")
    assert {t: words[t] for t in ("words", "long", "type", "gone", "half")} == {
        "words": "malformed", "long": "wrong_shape", "type": "unsupported",
        "gone": "not_available", "half": "no_ce",
    }  # fmt: skip


def test_git_decides_what_is_absent_where_the_results_are_a_checkout(toy, git):
    good = witness_text(["0.05"], ["0.05"])
    kept = toy.answer("a", "same", "box", witness=good)
    toy.answer("b", "same", "box")
    toy.edition()
    git(toy.results, "init", "-q")
    git(toy.results, "add", ".")
    kept.unlink()  # git knows it
    status = measured(toy)["status"].to_dict()
    assert status == {"a": "not_available", "b": "no_ce"}


def test_names_with_the_networks_folder_and_names_that_are_ambiguous(toy):
    """Case L2: equal stems in sub-folders; safenlp's prefix."""
    for folder in ("med", "rua"):
        toy.network(f"{folder}/n", SAME)
        toy.property(f"{folder}/h", IN_BOX)
    good, wrong = witness_text(["0.05"], ["0.05"]), witness_text(["5"], ["5"])
    toy.answer("a", "med/n", "med/h", witness=good, name="med_n_h")
    toy.answer("a", "rua/n", "rua/h", witness=wrong, name="rua_n_h")
    toy.answer("b", "med/n", "med/h", witness=good, name="n_h")  # whose is it?
    toy.answer("b", "rua/n", "rua/h")
    toy.answer("c", "med/n", "med/h", witness=good, name="n_h")  # it has no other
    table = measured(toy)
    by_network = table.loc["a"].set_index("network", drop=False)
    assert verdict_words(by_network, "2023") == {
        "onnx/med/n.onnx": "correct", "onnx/rua/n.onnx": "spec_not_violated",
    }  # fmt: skip
    assert set(table.loc["b", "status"]) == {"not_available"}
    assert "may belong to several instances" in table.loc["b", "reason"].iloc[0]
    assert table.loc["c", "status"] == "measured"


# The cases


def rules_table(toy):
    table = measured(toy)
    return {rules: verdict_words(table, rules) for rules in NAMED}


def test_cut_off_without_outputs(toy):
    """Case C1."""
    toy.answer("a", "same", "box", witness="((X_0 0.05)")
    found = {rules: words["a"] for rules, words in rules_table(toy).items()}
    assert found == {
        **dict.fromkeys(NAMED, "exec_doesnt_match"), "2026": "correct",
    }  # fmt: skip


def test_a_float32_bound(toy):
    """Cases S5 and V2: box [0, 0.1], the float32 of 0.1."""
    x = "0.10000000149011612"
    toy.answer("a", "same", "box", witness=witness_text([x], [x]))
    table = measured(toy)
    assert {r: verdict_words(table, r)["a"] for r in NAMED} == {
        "2022": "correct", "2023": "correct", "2024": "correct_up_to_tolerance",
        "2024-as-committed": "correct_up_to_tolerance", "2025-small": "correct",
        "2025-zero": "correct_up_to_tolerance", "2026": "correct",
    }  # fmt: skip
    assert verdict_words(table, "2026", "float64")["a"] == "correct_up_to_tolerance"
    assert verdict_words(table, "2025-zero", "input-type")["a"] == "correct"
    row = verdict_table(table, NAMED["2025-zero"]).iloc[0]
    assert row["input_excess"] == pytest.approx(1.490116e-9, rel=1e-5)
    assert row["input_excess_rel"] == pytest.approx(1.490116e-8, rel=1e-5)
    assert row["reason"] == "valid with a tolerance of 1.49e-09"


def test_a_float32_bound_decides_what_an_unsat_is_worth(toy):
    """Case S5: with zero tolerance B has 10, with 1e-7 it has -150; the flip is listed."""
    x = "0.10000000149011612"
    toy.answer("a", "same", "box", witness=witness_text([x], [x]))
    toy.answer("b", "same", "box", "unsat")
    edition = str(toy.edition())

    def points(**settings):
        analysis = open_analysis(edition=edition, results=toy.results,
                                 benchmarks_dir=toy.benchmarks, settings=settings)  # fmt: skip
        return analysis.judged.set_index("tool")["points"].to_dict()

    assert points() == {"a": 10, "b": 10}
    assert points(tolerance="small") == {"a": 10, "b": -150}
    contest = load_contest(edition, toy.results, benchmarks=toy.benchmarks)
    [flip] = truth_flips(contest, contest.edition.rules, ["2023_toy"]).to_dict("records")
    assert (flip["unsat"], flip["sat"]) == ("b", "a")
    assert {r: flip[r] for r in NAMED if r in flip} == {
        "2022": "sat", "2023": "sat", "2024": "unknown", "2025-small": "sat",
        "2025-zero": "unknown", "2026": "sat",
    }  # fmt: skip


def test_within_tolerance_proves_nothing(toy):
    """Case S3: A valid only within tolerance, B unsat: 10, 10, truth undetermined."""
    toy.answer("a", "same", "box", witness=witness_text(["0.10005"], ["0.10005"]))
    toy.answer("b", "same", "box", "unsat")
    analysis = open_analysis(edition=str(toy.edition()), results=toy.results,
                             benchmarks_dir=toy.benchmarks)  # fmt: skip
    judged = analysis.judged.set_index("tool")
    assert judged["points"].to_dict() == {"a": 10, "b": 10}
    assert set(judged["truth"]) == {"unknown"}
    assert judged.loc["a", "check"] == "correct_up_to_tolerance"


def test_one_that_cannot_be_checked_is_for_manual_review(toy):
    """Case S12: A sat with an unsupported witness, B unsat: 0 and 10."""
    toy.network("odd", HALF)
    good = witness_text(["0.05"], ["0.05"])
    toy.answer("a", "odd", "box", witness=good)
    toy.answer("b", "odd", "box", "unsat")
    toy.answer("a", "same", "box", witness=good)
    analysis = open_analysis(edition=str(toy.edition()), results=toy.results,
                             benchmarks_dir=toy.benchmarks)  # fmt: skip
    judged = analysis.judged[analysis.judged["network"] == "onnx/odd.onnx"].set_index("tool")
    assert judged["points"].to_dict() == {"a": 0, "b": 10}
    assert "manual review" in judged.loc["a", "reason"]
    assert set(judged["truth"]) == {"unknown"}


def test_an_output_condition_missed_by_little(toy):
    """Case V3: Y_0 <= 0 is needed, the replay gives 5e-7."""
    toy.property("less", ALWAYS)
    toy.answer("a", "same", "less", witness=witness_text(["5e-7"], ["5e-7"]))
    table = measured(toy)
    assert {r: verdict_words(table, r)["a"] for r in NAMED} == {
        "2022": "correct", "2023": "correct", "2024": "correct_up_to_tolerance",
        "2024-as-committed": "correct_up_to_tolerance",
        "2025-small": "correct_up_to_tolerance", "2025-zero": "correct_up_to_tolerance",
        "2026": "spec_not_violated",
    }  # fmt: skip
    row = verdict_table(table, NAMED["2026"]).iloc[0]
    assert row["output_margin"] == pytest.approx(5e-7)
    assert row["fragile"]
    assert "the output condition is missed by 5e-07" in row["reason"]


def test_six_decimals(toy):
    """Case V4: overshoots a bound by 5e-7; the histogram says so."""
    toy.answer("a", "same", "box", witness=witness_text(["0.1000005"], ["0.1000005"]))
    contest = load_contest(str(toy.edition()), toy.results, benchmarks=toy.benchmarks)
    counts = needed_tolerances(contest, contest.edition.rules, ["2023_toy"], ["a"])["a"]
    assert counts[counts > 0].to_dict() == {"up to 1e-06": 1}
    never = {"outputs": "replayed", "bounds": "input-type"}
    toy.property("less", ALWAYS)
    toy.answer("b", "same", "less", witness=witness_text(["0.5"], ["0.5"]))
    toy.answer("c", "same", "less", witness=witness_text(["-0.5"], ["0.5"]))
    contest = load_contest(str(toy.edition()), toy.results, benchmarks=toy.benchmarks)
    own = contest.edition.rules
    counts = needed_tolerances(contest, own, ["2023_toy"], ["b", "c"])
    assert counted(counts) == {("over 1e-04", "b"): 1, ("none", "c"): 1}
    replayed = needed_tolerances(contest, own.with_settings(never), ["2023_toy"], ["b", "c"])
    assert counted(replayed) == {("none", "b"): 1, ("exactly", "c"): 1}
    row = judged_witnesses(contest, contest.edition.rules, ["2023_toy"], ["a"]).iloc[0]
    assert row["input_excess"] == pytest.approx(5e-7, rel=1e-3)
    assert row["verdict"] == "correct_up_to_tolerance"


def test_a_network_that_jumps(toy):
    """Case V6: file Y and replayed Y differ; the verdict is by replay, the difference shown."""
    toy.network("jump", sign())
    toy.property("up", declared(1, 1) + "(assert (<= X_0 1))(assert (>= X_0 -1))"
                 "(assert (>= Y_0 1))")  # fmt: skip
    toy.answer("a", "jump", "up", witness=witness_text(["1e-9"], ["0"]))
    table = measured(toy)
    row = verdict_table(table, NAMED["2026"]).iloc[0]
    assert (row["verdict"], row["max_abs_diff"]) == ("correct", 1.0)
    assert (row["discontinuous"], row["fragile"]) == ("Sign", True)
    assert "onnxruntime" in row["engine"]
    assert verdict_words(table, "2022")["a"] == "exec_doesnt_match"
    # claimed outputs that are all 0 have no relative difference (2023 rules)
    assert verdict_words(table, "2023")["a"] == "spec_not_violated"
    contest = load_contest(str(toy.edition()), toy.results, benchmarks=toy.benchmarks)
    judged = judged_witnesses(contest, contest.edition.rules, ["2023_toy"], ["a"])
    assert doubtful(judged)["discontinuous"].tolist() == [1]


def test_outputs_that_are_no_numbers_match_nothing(toy):
    made = linear([[1]], [0])
    made.graph.node[0].output[0] = "t"
    made.graph.node.append(helper.make_node("Log", ["t"], ["y"]))
    toy.network("log", made)
    toy.property("any", declared(1, 1) + "(assert (<= X_0 1))(assert (or (<= Y_0 0) (>= Y_0 0)))")
    toy.answer("a", "log", "any", witness=witness_text(["-1"], ["0.5"]))
    found = {rules: words["a"] for rules, words in rules_table(toy).items()}
    assert found == dict.fromkeys(NAMED, "exec_doesnt_match") | {"2026": "spec_not_violated"}


def test_mixed_cases_of_inputs_and_outputs(toy):
    """A condition on outputs belongs to its own box; the excess is that of the nearest box."""
    toy.property("boxes", declared(1, 1) + "(assert (or (and (>= X_0 0) (<= X_0 1) (<= Y_0 0)) "
                 "(and (>= X_0 2) (<= X_0 3) (>= Y_0 2))))")  # fmt: skip
    toy.answer("first", "same", "boxes", witness=witness_text(["0.5"], ["0.5"]))
    toy.answer("second", "same", "boxes", witness=witness_text(["2.5"], ["2.5"]))
    toy.answer("between", "same", "boxes", witness=witness_text(["1.75"], ["1.75"]))
    table = measured(toy)
    assert verdict_words(table, "2026") == {
        "first": "spec_not_violated", "second": "correct", "between": "spec_not_violated",
    }  # fmt: skip
    rows = verdict_table(table, NAMED["2026"])
    assert rows["input_excess"].to_dict() == {"first": 0, "second": 0, "between": 0.25}
    assert rows["input_excess_rel"].to_dict() == {"first": 0, "second": 0, "between": 0.25}


# Against a second implementation


@cache
def real_sats(year):
    """Return an edition's contest, and the files of its sats by benchmark, instance and tool."""
    contest = load_contest(year, raw_of(year), benchmarks=real_path("benchmarks"))
    sats = find_files(contest.edition, contest.runs, raw_of(year), real_path("benchmarks"))
    return contest, {(sat.benchmark, sat.instance, sat.tool): sat for sat in sats}


@pytest.mark.parametrize(
    "year", ["2022", *(pytest.param(y, marks=pytest.mark.length) for y in ("2023", "2024"))]
)
def test_real_counterexamples_against_a_second_validator(year, tmp_path):
    contest, sats = real_sats(year)
    rng = np.random.default_rng(int(year))
    measured = contest.measurements[contest.measurements["status"] == "measured"]
    whole = measured[measured["benchmark"] != "2023_tllverifybench"]  # networks of 270 MB
    n = 6 if FUZZ else 1
    parts = [group.iloc[rng.permutation(len(group))[:n]] for _, group in whole.groupby("benchmark")]
    table = pd.concat(parts if FUZZ else parts[::2])
    assert len(table) >= (6 * n - 1 if FUZZ else 3)
    keys = list(zip(table["benchmark"], table["instance"], table["tool"], strict=True))
    for rules in NAMED:
        for bounds in ("float64", "input-type")[: 2 if rules == "2026" else 1]:
            ours = verdict_table(table, named_rules(rules, bounds))["verdict"].tolist()
            for key, found in zip(keys, ours, strict=True):
                task = sats[key].task
                paths = [Path(p) for p in (task.witness, task.networks[0][1], task.prop)]
                expected = oracle_witness.verdict(*paths, rules, rounds=bounds == "input-type")
                assert found == expected, (key, rules, bounds)


def test_random_counterexamples_against_a_second_validator(tmp_path):
    """Small networks, boxes that meet only in parts, witnesses near every limit."""
    rng = np.random.default_rng(3)
    toy = Contest(tmp_path)
    steps = [0.0, 1e-9, 5e-8, 5e-7, 9e-5, 2e-4, 1e-2]
    for k in range(60):
        weights = rng.normal(size=(2, 2)).round(2)
        toy.network(f"n{k}", linear(weights, rng.normal(size=2).round(2), relu=True))
        low = rng.uniform(-1, 0, size=2).round(2)
        high = low + rng.uniform(0.1, 1, size=2).round(2)
        x = np.where(rng.random(2) < 0.5, low, high) + rng.choice(steps, 2) * rng.choice([-1, 1], 2)
        y = np.maximum(weights @ x, 0)
        limit = round(float(y[0]), 3)
        toy.property(
            f"p{k}",
            declared(2, 2)
            + "".join(
                f"(assert (>= X_{i} {low[i]}))(assert (<= X_{i} {high[i]}))" for i in range(2)
            )
            + f"(assert (or (<= Y_0 Y_1) (and (>= Y_0 {limit}) (<= Y_1 {limit + 1}))))",
        )
        network = tmp_path / f"vnncomp2023_benchmarks/benchmarks/toy/onnx/n{k}.onnx.gz"
        replayed, _ = oracle_witness.run(network, list(x))
        claimed = replayed + rng.choice(steps, 2) * rng.choice([-1, 1], 2)
        shown = [repr(float(v)) for v in claimed][: 2 - (k % 20 == 7)]
        toy.answer("a", f"n{k}", f"p{k}", witness=witness_text([repr(float(v)) for v in x], shown))
    table = measured(toy).reset_index(drop=True)
    seen = set()
    for rules in NAMED:
        for bounds in ("float64", "input-type"):
            ours = verdict_table(table, named_rules(rules, bounds))["verdict"]
            for k, found in enumerate(ours):
                base = toy.benchmarks / "benchmarks/toy"
                expected = oracle_witness.verdict(
                    toy.results / "a/2023_toy" / f"n{k}_p{k}.counterexample.gz",
                    base / f"onnx/n{k}.onnx.gz", base / f"vnnlib/p{k}.vnnlib.gz", rules,
                    rounds=bounds == "input-type",
                )  # fmt: skip
                assert found == expected, (k, rules, bounds)
                seen.add((rules, found))
    assert len(seen) >= 7 * 3 - 3  # of each rule set several verdicts occur


# Agreement with what is published


@pytest.mark.parametrize(
    ("year", "n_compared", "n_absent"),
    [
        ("2022", 86, 47),
        pytest.param("2023", 754, 1058, marks=pytest.mark.length),
        pytest.param("2024", 4909, 0, marks=pytest.mark.length),
    ],
)
def test_every_known_verdict_is_reproduced(cli, year, n_compared, n_absent):
    run = cli("validate", year, "--results", raw_of(year), "--benchmarks", real_path("benchmarks"))
    assert run.returncode == 0, run.stderr
    told = f"{n_compared} compared, {n_compared} equal, {n_absent} not available here"
    assert told in run.stdout


def test_a_run_shows_how_far_it_is_and_may_be_repeated(cli):
    arguments = ["validate", "2023", "--results", raw_of("2023"), "--only", "2023_dist_shift",
                 "--benchmarks", real_path("benchmarks"), "--jobs", "1"]  # fmt: skip
    run = cli(*arguments, "--no-cache")
    assert re.search(r"counterexamples: 100%.*24/24 \[\d\d:\d\d<00:00, .*/s\]", run.stderr)
    assert cli(*arguments).stdout == run.stdout
    again = cli(*arguments)
    assert again.stdout == run.stdout
    assert "counterexamples:" not in again.stderr  # nothing was left to measure


def test_a_verdict_that_differs_is_told(cli, tmp_path):
    """A planted fault: one published verdict is changed."""
    known = pd.read_csv(known_verdicts(read_edition("2023")), dtype=str)
    row = known.index[known["benchmark"] == "2023_acasxu"][0]
    known.loc[row, "verdict"] = "spec_not_violated"
    text = read_edition("2023").path.read_text()
    (tmp_path / "2023.toml").write_text(text)
    known.to_csv(tmp_path / "2023.verdicts.csv", index=False)
    run = cli("validate", tmp_path / "2023.toml", "--results", raw_of("2023"), "--benchmarks",
              real_path("benchmarks"), "--only", "2023_acasxu")  # fmt: skip
    assert run.returncode == 1
    assert "258 compared, 257 equal, 0 not available here" in run.stdout
    assert "published spec_not_violated, here " in run.stdout


@pytest.mark.parametrize(
    ("year", "n"),
    [
        ("2022", 6861),
        pytest.param("2023", 7632, marks=pytest.mark.length),
        ("2024", 632),
    ],
)
def test_scores_from_our_own_verdicts_are_the_published_ones(year, n):
    contest, _ = real_sats(year)
    figures = compare(contest)
    counts = figures["status"].value_counts()
    assert counts["equal"] == n
    assert counts.get("different", 0) == 0
    told = " ".join(validation_in_words(contest))
    n_absent = int((contest.measurements["status"] == "not_available").sum())
    assert f"Those of {n_absent} (" in told
    assert "could not be, because files are absent or damaged here" in told


def test_our_own_verdicts_decide_and_not_the_published_ones(tmp_path):
    """A planted fault: a published verdict is wrong, ours is not, and the score is ours."""
    known = pd.read_csv(known_verdicts(read_edition("2023")), dtype=str)
    known["verdict"] = "no_ce"
    (tmp_path / "2023.toml").write_text(read_edition("2023").path.read_text())
    known.to_csv(tmp_path / "2023.verdicts.csv", index=False)
    edition = str(tmp_path / "2023.toml")
    benchmarks = {"benchmarks": real_path("benchmarks")}
    for more, is_ours in (
        (benchmarks, True),
        ({}, False),
        (benchmarks | {"validate": False}, False),
    ):
        contest = load_contest(edition, raw_of("2023"), **more)
        in_acasxu = contest.checks[contest.checks["benchmark"] == "2023_acasxu"]
        assert ("correct" in set(in_acasxu["verdict"])) == is_ours


# Tables for people


def test_the_tables_of_the_notebook_count_what_was_measured():
    contest, _ = real_sats("2023")
    edition = contest.edition
    scope = (edition.benchmarks, edition.tools)
    table = by_tool_and_rules(contest, *scope)
    totals = table.groupby("rules")[list(table.columns[2:])].sum()
    assert (totals.sum(axis="columns") == 1812).all()
    assert totals.loc["2023", "correct"] == 606
    needed = needed_tolerances(contest, edition.rules, *scope)
    assert needed.to_numpy().sum() == 754
    judged = judged_witnesses(contest, edition.rules, *scope)
    assert list(judged.columns) == VERDICT_COLUMNS
    worst = worst_offenders(judged)
    assert len(worst) == 20
    assert set(worst["verdict"]) <= {"exec_doesnt_match", "spec_not_violated"}
    assert worst["max_rel_diff"].max() == judged["max_rel_diff"].max()


def test_a_table_written_by_validate_is_read_back(cli, tmp_path):
    arguments = ["--results", raw_of("2023"), "--benchmarks", real_path("benchmarks")]
    for name in ("v.csv", "v.parquet"):
        run = cli("validate", "2023", *arguments, "--out", tmp_path / name)
        assert run.returncode == 0, run.stderr
    table = pd.read_csv(tmp_path / "v.csv")
    assert list(table.columns) == VERDICT_COLUMNS
    contests = [load_contest("2023", raw_of("2023"), checks=[tmp_path / name])
                for name in ("v.csv", "v.parquet")]  # fmt: skip
    for contest in contests:
        assert compare(contest)["status"].eq("equal").all()
        own = contest.checks[contest.checks["outputs"] != ""]
        assert set(own["outputs"]) == {"claimed"}
    pd.testing.assert_frame_equal(contests[0].checks, contests[1].checks)


def test_sidecars_are_written_and_read_back(cli, toy):
    good = witness_text(["0.05"], ["0.05"])
    path = toy.answer("a", "same", "box", witness=good)
    toy.answer("b", "same", "box", witness="((X_0 oops))")
    arguments = [toy.edition(), "--results", toy.results]
    run = cli("validate", *arguments, "--benchmarks", toy.benchmarks, "--sidecars",
              "--rules", "2026")  # fmt: skip
    assert run.returncode == 0, run.stderr
    sidecar = path.with_name("same_box.counterexample.check.json")
    content = json.loads(sidecar.read_text())
    assert (content["result"], content["establishes_sat"]) == ("correct", True)
    contest = load_contest(str(toy.edition()), toy.results, validate=False)
    assert contest.checks.set_index("tool")["verdict"].to_dict() == {
        "a": "correct", "b": "malformed",
    }  # fmt: skip
    sidecar.write_text(json.dumps({"result": "no_ce", "checker_version": "theirs"}))
    again = cli("validate", *arguments, "--benchmarks", toy.benchmarks, "--sidecars")
    assert again.returncode == 1
    assert "a side-car of another checker (theirs) is not replaced" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["2021"], "expected files <tool>/<benchmark>/<network>_<property>.counterexample.gz"),
        (["2023"], "name the benchmark repository with --benchmarks"),
        (["2023", "--benchmarks", "nowhere"], "no such folder"),
        (["2023", "--benchmarks", ".", "--only", "2023_acasx"], "nearest is '2023_acasxu'"),
        (["2023", "--benchmarks", ".", "--tools", "marabu"], "nearest is 'marabou'"),
        (["2023", "--benchmarks", ".", "--rules", "2027"], "nearest is '2026'"),
        (["2023", "--benchmarks", ".", "--out", "x.txt"], "ends in .csv or .parquet"),
        (["study"], "no counterexample files"),
        ([INVENTED], "no counterexample files"),
    ],
)
def test_wrong_use_is_told_in_one_line(monkeypatch, tmp_path, arguments, told):
    monkeypatch.chdir(tmp_path)
    year = arguments[0]
    results = ["--results", raw_of(year)] if year != INVENTED else []
    run = CliRunner().invoke(main, ["validate", *arguments, *map(str, results)])
    assert run.exit_code == 1
    assert isinstance(run.exception, SystemExit)
    assert told in run.output
    assert run.output.count("\n") == 1


def test_unknown_rules_for_counterexamples():
    with pytest.raises(UsageError, match="nearest is '2025-zero'"):
        named_rules("2025-zer")
    with pytest.raises(UsageError, match="nearest is 'float64'"):
        named_rules("2026", "float32")
    assert named_rules("2025") == NAMED["2025-small"]


# What was found by trying to break it


def test_a_damaged_or_unusable_file_does_not_outrank_a_known_verdict(toy):
    good = witness_text(["0.05"], ["0.05"])
    toy.answer("a", "same", "box", witness=good)
    toy.answer("b", "odd", "box", witness=good)
    toy.network("odd", HALF)
    toy.answer("c", "clipped", "box", witness=good)
    clipped = toy.network("clipped", SAME)
    clipped.write_bytes(clipped.read_bytes()[:-6])
    edition = str(toy.edition())
    alone = load_contest(edition, toy.results, benchmarks=toy.benchmarks)
    status = alone.measurements.set_index("tool")["status"].to_dict()
    assert status == {"a": "measured", "b": "unsupported", "c": "not_available"}
    told = " ".join(validation_in_words(alone))
    assert "The counterexamples of 1 sats were validated here" in told
    assert "Those of 1 (2023_toy 1) could not be, because files are absent or damaged here." in told
    assert "Those of 1 (2023_toy 1) cannot be checked (network or property)." in told
    (toy.folder / "toy.verdicts.csv").write_text(
        "benchmark,index,tool,verdict\n2023_toy,0,a,no_ce\n2023_toy,1,b,no_ce\n2023_toy,2,c,no_ce\n"
    )
    (toy.folder / "toy.toml").write_text(
        (toy.folder / "toy.toml").read_text() + '\n[verdicts]\ntolerance = "zero"\n'
    )
    beside = load_contest(edition, toy.results, benchmarks=toy.benchmarks)
    zero = beside.checks[beside.checks["tolerance"] == "zero"].drop_duplicates("tool")
    assert zero.set_index("tool")["verdict"].to_dict() == {
        "a": "correct_up_to_tolerance", "b": "no_ce", "c": "no_ce",
    }  # fmt: skip
    assert "for 1 of them a verdict is known from elsewhere" in " ".join(
        validation_in_words(beside)
    )


def test_git_that_does_not_answer_penalises_nobody(toy, monkeypatch):
    good = witness_text(["0.05"], ["0.05"])
    toy.answer("a", "same", "box", witness=good)
    toy.network("other", SAME)
    toy.answer("a", "other", "box")
    toy.edition()
    (toy.results / ".git").mkdir()  # no repository
    status = measured(toy).set_index("network")[["status", "reason"]]
    assert status.loc["onnx/other.onnx", "status"] == "not_available"
    assert "git does not say whether there is one" in status.loc["onnx/other.onnx", "reason"]
    monkeypatch.setenv("PATH", "")
    status = measured(toy).set_index("network")[["status", "reason"]]
    assert "(git: No such file or directory)" in status.loc["onnx/other.onnx", "reason"]


def test_truth_flips_only_where_everything_was_measured(toy):
    """What is known from elsewhere under one rule set only is no flip."""
    x = "0.10000000149011612"
    toy.network("other", SAME)
    for network in ("same", "other"):
        toy.answer("a", network, "box", witness=witness_text([x], [x]))
        toy.answer("b", network, "box", "unsat")
    toy.answer("c", "other", "box")  # its counterexample is not here
    contest = load_contest(str(toy.edition()), toy.results, benchmarks=toy.benchmarks)
    flips = truth_flips(contest, contest.edition.rules, ["2023_toy"])
    assert flips["instance"].tolist() == ["same-box"]


def test_a_sidecar_says_no_more_than_it_was_written_for(cli, toy):
    x = "0.10000000149011612"
    path = toy.answer("a", "same", "box", witness=witness_text([x], [x]))
    run = cli("validate", toy.edition(), "--results", toy.results, "--benchmarks", toy.benchmarks,
              "--sidecars", "--rules", "2023")  # fmt: skip
    assert run.returncode == 0, run.stderr

    def check(**settings):
        analysis = open_analysis(edition=str(toy.edition()), results=toy.results, settings=settings)
        return analysis.judged["check"].iloc[0]

    assert check(tolerance="any") == "correct"
    assert check() == "correct_up_to_tolerance"  # zero
    write_text(path, witness_text(["0.2"], ["0.2"]))
    contest = load_contest(str(toy.edition()), toy.results)
    assert contest.checks.empty
    [note] = contest.problems["problem"]
    assert "of another counterexample than the one here" in note


def test_a_broken_sidecar_stops_neither_validation_nor_a_lenient_run(cli, toy):
    path = toy.answer("a", "same", "box", witness=witness_text(["0.05"], ["0.05"]))
    toy.answer("b", "same", "box", witness=witness_text(["0.05"], ["0.05"]))
    path.with_name("same_box.counterexample.check.json").write_text("{")
    other = toy.results / "b" / "2023_toy" / "same_box.counterexample.check.json"
    other.mkdir()
    arguments = [toy.edition(), "--results", toy.results]
    run = cli("validate", *arguments, "--benchmarks", toy.benchmarks)
    assert run.returncode == 0, run.stderr
    strict = cli("score", *arguments)
    assert strict.returncode == 1
    assert 'expected a json object with a member "result"' in strict.stderr
    assert "Traceback" not in strict.stderr
    assert cli("score", *arguments, "--lenient").returncode == 0


def test_hidden_variables_are_unsupported_whatever_the_witness_says(tmp_path):
    contest = Contest(tmp_path)
    contest.network("same", SAME)
    contest.property("hidden", '(vnnlib-version <2.0>)(declare-network f (declare-input X float32 '
                     '[1,1])(declare-hidden H float32 [1] "h")(declare-output Y float32 [1,1]))'
                     "(assert (<= X[0,0] 1.0))")  # fmt: skip
    contest.answer("a", "same", "hidden", witness="X float32 [1,1]\n1\nY float32 [1,1]\n1\n")
    assert measured(contest).loc["a", ["status", "reason"]].tolist() == [
        "unsupported", "hidden variable H of network f",
    ]  # fmt: skip


def test_git_is_asked_also_within_a_larger_checkout_that_tracks_the_results(toy, git):
    good = witness_text(["0.05"], ["0.05"])
    kept = toy.answer("a", "same", "box", witness=good)
    toy.network("other", SAME)
    toy.answer("a", "other", "box", witness=good)
    toy.edition()
    git(toy.folder, "init", "-q")
    kept.unlink()
    (toy.folder / ".gitignore").write_text("*\n")  # as for data/raw: git knows nothing of them
    assert measured(toy).set_index("network").loc["onnx/same.onnx", "status"] == "no_ce"
    kept = toy.answer("a", "same", "box", witness=good)
    git(toy.folder, "add", "-f", ".")
    kept.unlink()
    assert set(measured(toy)["status"]) == {"not_available", "measured"}


def test_bad_rows_are_set_aside_and_listed_where_that_is_asked_for(cli, toy):
    toy.answer("a", "same", "box", witness=witness_text(["0.05"], ["0.05"]))
    toy.answer("a", "same", "box", "satt")
    arguments = ["validate", toy.edition(), "--results", toy.results, "--benchmarks",
                 toy.benchmarks]  # fmt: skip
    strict = cli(*arguments)
    assert (strict.returncode, "line 2, column 5 (result)" in strict.stderr) == (1, True)
    lenient = cli(*arguments, "--lenient")
    assert lenient.returncode == 0, lenient.stderr
    assert "note: a/results.csv, line 2, column 5 (result): bad row" in lenient.stderr
    assert "1 sats" in lenient.stdout


def test_nothing_that_could_be_measured_is_told(cli, toy):
    toy.answer("a", "same", "box", witness=witness_text(["0.05"], ["0.05"]))
    run = cli("validate", toy.edition(), "--results", toy.results, "--benchmarks", toy.results)
    assert run.returncode == 0
    assert "No counterexample could be validated here." in run.stderr
    assert "Those of 1 (2023_toy 1) could not be" in run.stderr


def test_what_cannot_be_written_is_refused_before_anything_is_measured(cli, toy):
    toy.answer("a", "same", "box", witness=witness_text(["0.05"], ["0.05"]))
    (toy.folder / "file").write_text("")
    for out in ("file/v.csv", "."):
        run = cli("validate", toy.edition(), "--results", toy.results, "--benchmarks",
                  toy.benchmarks, "--out", toy.folder / out)  # fmt: skip
        assert run.returncode == 1
        assert run.stderr.count("\n") == 1
        assert "counterexamples:" not in run.stderr
    assert not list(toy.folder.glob(".v.csv*"))


# The layout of 2026: several networks, versions of VNN-LIB

TWINS = "(vnnlib-version <2.0>)(declare-network f (declare-input X float32 [1,1])" \
    "(declare-output Y float32 [1,1]))(declare-network g ({} f) (declare-input U float32 [1,1])" \
    "(declare-output V float32 [1,1]))(assert (<= X[0,0] 0.1))(assert (== X[0,0] U[0,0]))" \
    "(assert (or (< Y[0,0] V[0,0]) (> Y[0,0] (+ V[0,0] 1.0))))"  # fmt: skip


def twin_contest(tmp_path, relation="isomorphic-to", networks="[('f','{0}f'),('g','{0}g')]"):
    contest = Contest(tmp_path, "2026")
    base = "vnncomp2026_benchmarks/benchmarks/twins/2.0/"
    place = contest.benchmarks / "benchmarks/twins/2.0"
    for name, made in (("f", SAME), ("g", linear([[2]], [0]))):
        write_model(place / f"onnx/{name}.onnx.gz", made)
    write_text(place / "vnnlib/p.vnnlib", TWINS.format(relation))
    field = networks.format(base + "onnx/").replace("f'", "f.onnx'", 0)
    field = field.replace("onnx/f", "onnx/f.onnx").replace("onnx/g", "onnx/g.onnx")

    def answer(tool, x, stem="f_g_p", y="9", v="9"):
        row = f'twins,"{field}",{base}vnnlib/p.vnnlib,.1,sat,2'
        folder = contest.results / tool / "2026_twins"
        write_text(folder / "results.csv", row + "\n")
        text = (f"sat\nX float32 [1,1]\n{x}\nY float32 [1,1]\n{y}\n"
                f"U float32 [1,1]\n{x}\nV float32 [1,1]\n{v}\n")  # fmt: skip
        write_text(folder / f"{stem}.counterexample.gz", text)

    write_text(place / "instances.csv", f'"{field.replace(base, "")}",vnnlib/p.vnnlib,60\n')
    return contest, answer


def test_two_networks_are_replayed_and_claims_ignored(tmp_path, cli):
    contest, answer = twin_contest(tmp_path)
    for tool, x in (("exact", "0.1"), ("rounded", "0.10000000149011612"), ("near", "0.10005"),
                    ("far", "0.2"), ("other", "-0.05")):  # fmt: skip
        answer(tool, x)
    out = tmp_path / "v.csv"
    arguments = ["2026", "--results", contest.results, "--benchmarks", contest.benchmarks]
    run = cli("validate", *arguments, "--out", out)
    assert run.returncode == 0, run.stderr
    table = pd.read_csv(out).set_index("tool")
    assert table["verdict"].to_dict() == {
        "exact": "correct", "rounded": "correct", "near": "correct_up_to_tolerance",
        "far": "spec_not_violated", "other": "spec_not_violated",
    }  # fmt: skip
    assert set(table["outputs"]) == {"replayed"}
    assert set(table["bounds"]) == {"input-type"}
    assert cli("validate", *arguments, "--bounds", "float64", "--out", out).returncode == 0
    by_text = pd.read_csv(out).set_index("tool")["verdict"]
    assert by_text[["exact", "rounded"]].tolist() == ["correct", "correct_up_to_tolerance"]
    scored = cli("score", *arguments, "--by", "instance", "--format", "csv")
    assert scored.returncode == 0, scored.stderr
    assert "contradicted" not in scored.stdout


@pytest.mark.parametrize(
    ("relation", "networks", "told"),
    [
        ("equal-to", "[('f','{0}f'),('g','{0}g')]", "'g' has another file than 'f'"),
        ("isomorphic-to", "{0}f", "one network is given, the property declares 2"),
        ("isomorphic-to", "[('f','{0}f'),('h','{0}g')]", "the property declares no network 'h'"),
        ("equal-to", "{0}f", ""),
        ("equal-to", "[('f','{0}f'),('g','{0}f')]", ""),
    ],
)
def test_which_file_belongs_to_which_network(tmp_path, relation, networks, told):
    contest, answer = twin_contest(tmp_path, relation, networks)
    is_single = not networks.startswith("[")
    names = "f" if is_single else "f_h" if "'h'" in networks else "f_g"
    answer("a", "0.05", stem=f"{names}_p")
    loaded = load_contest("2026", contest.results, validate=False)
    sats = find_files(loaded.edition, loaded.runs, contest.results, contest.benchmarks)
    row = measure_sats("2026", sats, n_jobs=1, cache=Cache(None)).iloc[0]
    if told:
        assert (row["status"], told in row["reason"]) == ("unsupported", True), row["reason"]
    else:
        assert row["status"] == "measured"


def test_the_file_may_be_unpacked_and_an_instance_listed_twice(toy):
    good = witness_text(["0.05"], ["0.05"])
    path = toy.answer("a", "same", "box", witness=good)
    path.unlink()
    write_text(path.with_name("same_box.counterexample"), good)
    toy.answer("a", "same", "box")  # case L3
    assert measured(toy)["status"].tolist() == ["measured", "measured"]


def test_empty_comes_before_absent_and_absent_before_what_only_the_property_can_tell(toy):
    toy.answer("a", "gone", "box", witness="")
    toy.answer("b", "gone", "box", witness="X float32 [1,1]\n1\n")  # VNN-LIB 2.0, perhaps
    toy.answer("c", "gone", "box", witness="((X_0 oops))")
    assert measured(toy)["status"].to_dict() == {
        "a": "no_ce", "b": "not_available", "c": "malformed",
    }  # fmt: skip


def test_tools_beside_the_edition_have_no_counterexamples(toy, tidy):
    toy.answer("a", "same", "box", witness=witness_text(["0.05"], ["0.05"]))
    extra = tidy("tool,benchmark,instance,result,time_s\nmine,2023_toy,same-box,sat,1\n", "m.csv")
    contest = load_contest(str(toy.edition()), toy.results, benchmarks=toy.benchmarks,
                           extra=[extra])  # fmt: skip
    assert contest.measurements["tool"].tolist() == ["a"]


def test_an_ambiguous_sidecar_is_nobodys(toy):
    for folder in ("med", "rua"):
        toy.network(f"{folder}/n", SAME)
        toy.property(f"{folder}/h", IN_BOX)
        toy.answer("a", f"{folder}/n", f"{folder}/h", witness=None)
    write_text(toy.results / "a/2023_toy/n_h.counterexample.check.json", '{"result": "correct"}')
    contest = load_contest(str(toy.edition()), toy.results)
    assert contest.checks.empty
    assert len(contest.problems) == 1
    write_text(toy.results / "a/2023_toy/rua_n_h.counterexample.check.json", '{"result": "no_ce"}')
    contest = load_contest(str(toy.edition()), toy.results)  # now it is that of the other
    assert sorted(contest.checks["verdict"]) == ["correct", "no_ce"]


def test_a_sidecar_comes_after_what_was_measured_and_not_beside_an_unsat(toy):
    path = toy.answer("a", "same", "box", witness=witness_text(["0.05"], ["0.05"]))
    toy.answer("b", "same", "box", "unsat")
    for tool in ("a", "b"):
        place = toy.results / tool / "2023_toy" / path.name.replace(".gz", ".check.json")
        write_text(place, '{"result": "no_ce"}')
    contest = load_contest(str(toy.edition()), toy.results, benchmarks=toy.benchmarks)
    assert set(contest.checks["tool"]) == {"a"}
    assert "no_ce" not in set(contest.checks["verdict"])
    assert "belongs to no sat" in contest.problems["problem"].iloc[0]


def test_what_a_sidecar_says(cli, toy):
    toy.answer("near", "same", "box", witness=witness_text(["0.10005"], ["0.10005"]))
    toy.answer("gone", "gone", "box", witness=witness_text(["0.05"], ["0.05"]))
    toy.answer("words", "same", "box", witness="((X_0 oops))")
    cli("validate", toy.edition(), "--results", toy.results, "--benchmarks", toy.benchmarks,
        "--sidecars")  # fmt: skip
    said = {p.parts[-3]: json.loads(p.read_text()) for p in toy.results.glob("*/*/*.check.json")}
    assert set(said) == {"near", "words"}
    facts = ("result", "classification", "establishes_sat", "score_credit")
    assert [said["near"][f] for f in facts] == ["correct_up_to_tolerance",
                                                "correct_with_tolerance", False, True]  # fmt: skip
    assert [said["words"][f] for f in facts] == ["malformed_ce", "malformed", False, False]


def test_no_comparison_with_verdicts_found_under_other_rules(cli):
    run = cli("validate", "2023", "--results", raw_of("2023"), "--benchmarks",
              real_path("benchmarks"), "--only", "2023_dist_shift", "--rules", "2026")  # fmt: skip
    assert run.returncode == 0
    assert "compared" not in run.stdout
    assert "rules of 2026 (outputs replayed, tolerance zero, bounds input-type)" in run.stdout


def test_an_edition_with_rules_of_its_own_is_validated_under_them(cli, toy):
    x = "0.10000000149011612"
    toy.answer("a", "same", "box", witness=witness_text([x], [x]))
    edition = toy.edition(bounds='"input-type"')
    run = cli("validate", edition, "--results", toy.results, "--benchmarks", toy.benchmarks)
    assert "1 sats (outputs claimed, tolerance zero, bounds input-type)" in run.stdout
    assert run.stdout.count("correct_up_to_tolerance") == 0


def test_the_table_of_verdicts_is_documented():
    chapter = (root() / "docs" / "schema.md").read_text().split("\n## ")[2]
    assert [c for c in VERDICT_COLUMNS if f"`{c}`" not in chapter] == []
    assert set(re.findall(r"^\| `(\w+)`", chapter, re.MULTILINE)) <= set(VERDICT_COLUMNS)


def test_known_verdicts_compare_as_equal_different_or_not_available():
    known = pd.DataFrame({"benchmark": "b", "instance": list("ijkl"), "tool": "t",
                          "verdict": ["correct", "no_ce", "correct", "not_available"]})  # fmt: skip
    ours = ["correct", "correct", "unsupported", "not_available"]
    found = known.assign(index=range(4), reason="", verdict=ours)
    compared = compare_verdicts(found, known)
    assert compared["status"].tolist() == ["equal", "different", "not_available", "equal"]


def one(**numbers):
    """Return a measured witness that is exact in every way, but for some numbers."""
    known = dict.fromkeys(NUMBERS, -1.0) | dict.fromkeys(["max_abs_diff", "max_rel_diff"], 0.0)
    return pd.DataFrame([{"status": "measured", "reason": "", **(known | numbers)}])


@pytest.mark.parametrize(
    ("numbers", "rules", "verdict"),
    [
        ({"max_abs_diff": 1e-4}, "2022", "correct"),
        ({"max_abs_diff": 1.01e-4}, "2022", "exec_doesnt_match"),
        ({"max_rel_diff": 1e-3}, "2023", "correct"),
        ({"max_rel_diff": 1.01e-3}, "2023", "exec_doesnt_match"),
        ({"need_claimed_float64": 1e-4}, "2023", "correct"),
        ({"need_claimed_float64": 1.01e-4}, "2023", "spec_not_violated"),
        ({"need_claimed_float64": 1e-7}, "2025-small", "correct"),
        ({"need_claimed_float64": 1.01e-7}, "2025-small", "correct_up_to_tolerance"),
        ({"max_rel_diff": 1e-6}, "2025-small", "correct"),
        ({"max_rel_diff": 5e-6}, "2025-small", "correct_up_to_tolerance"),
        ({"max_rel_diff": 1e-12}, "2025-zero", "correct_up_to_tolerance"),
        ({"need_claimed_float64": 0.0}, "2024", "correct"),
        ({"need_claimed_float64": 5e-324}, "2024", "correct_up_to_tolerance"),
        ({}, "2024-as-committed", "correct_up_to_tolerance"),
        ({"need_inputs_input_type": 0.0}, "2026", "correct"),
        ({"need_inputs_input_type": 1e-4}, "2026", "correct_up_to_tolerance"),
        ({"need_inputs_input_type": 1.01e-4}, "2026", "spec_not_violated"),
        ({"need_inputs_float64": 9.0, "max_rel_diff": 9.0}, "2026", "correct"),
    ],
)
def test_the_table_of_rules_at_its_edges(numbers, rules, verdict):
    table = one(**numbers)
    assert verdicts(table, NAMED[rules]).tolist() == [verdict]
    assert reasons(table, verdicts(table, NAMED[rules]), NAMED[rules])[0]


def test_the_smallest_claimed_outputs_that_have_a_relative_difference(toy):
    toy.property("wide", declared(1, 1) + "(assert (<= X_0 9))(assert (<= Y_0 9))")
    for tool, claim in (("at", "1e-6"), ("below", "9.9e-7")):
        toy.answer(tool, "same", "wide", witness=witness_text(["0.5"], [claim]))
    assert verdict_words(measured(toy), "2023") == {"at": "exec_doesnt_match", "below": "correct"}


def test_fragile_is_a_margin_below_a_millionth():
    table = pd.concat([one(margin_claimed_float64=m) for m in (9e-7, -9e-7, 1e-6, 5e-6, np.nan)])
    assert is_fragile(table, NAMED["2023"]).tolist() == [True, True, False, False, False]


def test_numbers_of_a_verdict_are_those_of_its_rules(toy):
    x = "0.10000000149011612"
    toy.network("jump", sign())
    toy.property("up", declared(1, 1) + "(assert (<= X_0 0.1))(assert (>= Y_0 1))")
    toy.answer("a", "jump", "up", witness=witness_text([x], ["0.5"]))
    table = measured(toy)
    as_text, rounded = (verdict_table(table, NAMED[r]).iloc[0] for r in ("2023", "2026"))
    assert (as_text["output_margin"], rounded["output_margin"]) == (0.5, 0.0)
    assert as_text["input_excess"] > 0 == rounded["input_excess"]


def test_excess_relative_to_boxes_without_width_or_end(toy):
    for name, box in (("point", "(<= X_0 0.1))(assert (>= X_0 0.1)"), ("half", "(<= X_0 0.1)")):
        toy.property(name, declared(1, 1) + f"(assert {box})(assert (>= Y_0 -9))")
        toy.answer(name, "same", name, witness=witness_text(["0.2"], ["0.2"]))
    table = verdict_table(measured(toy), NAMED["2023"]).set_index("tool")
    assert table["input_excess"].tolist() == pytest.approx([0.1, 0.1])
    assert table.loc["point", "input_excess_rel"] == np.inf
    assert np.isnan(table.loc["half", "input_excess_rel"])


def test_inputs_out_of_bounds_are_granted_when_the_outputs_are_measured(toy):
    toy.property("both", declared(1, 1) + "(assert (<= X_0 0.1))(assert (>= Y_0 0.4))")
    toy.answer("a", "same", "both", witness=witness_text(["0.2"], ["0.2"]))
    row = verdict_table(measured(toy), NAMED["2023"]).iloc[0]
    assert (row["input_excess"], row["output_margin"]) == pytest.approx((0.1, 0.2))
    assert "inputs are out of bounds by 0.1" in row["reason"]
    assert "the output condition is missed by 0.2" in row["reason"]


def test_assertions_of_version_2_that_mix_inputs_and_outputs(tmp_path):
    """No input tolerance for them, but an excess of the inputs all the same."""
    contest = Contest(tmp_path)
    contest.network("same", SAME)
    contest.property("mixed", "(vnnlib-version <2.0>)(declare-network f (declare-input X float32 "
                     "[1,1])(declare-output Y float32 [1,1]))"
                     "(assert (and (<= X[0,0] 0.1) (>= X[0,0] 0.0) (>= Y[0,0] 0.0)))")  # fmt: skip
    for tool, x in (("far", "0.2"), ("near", "0.10005")):
        contest.answer(tool, "same", "mixed",
                       witness=f"X float32 [1,1]\n{x}\nY float32 [1,1]\n{x}\n")  # fmt: skip
    table = verdict_table(measured(contest), NAMED["2026"])
    assert table["verdict"].tolist() == ["spec_not_violated"] * 2
    assert table["input_excess"].tolist() == pytest.approx([0.1, 5e-5], rel=1e-3)
    assert table["output_margin"].tolist() == pytest.approx([-0.2, -0.10005], rel=1e-3)
    assert "inputs are out of bounds by 0.1" in table["reason"].iloc[0]


def test_a_tolerance_in_a_reason_is_the_one_that_decided(toy):
    toy.property("or", declared(1, 1) + "(assert (or (and (<= X_0 0.1) (>= Y_0 0)) "
                 "(and (<= X_0 0.2) (>= Y_0 0.10005001))))")  # fmt: skip
    toy.answer("a", "same", "or", witness=witness_text(["0.10005"], ["0.10005"]))
    row = verdict_table(measured(toy), NAMED["2026"]).iloc[0]
    assert (row["verdict"], row["reason"]) == (
        "correct_up_to_tolerance", "valid with a tolerance of 5e-05",
    )  # fmt: skip


def test_the_worst_are_not_valid_and_doubtful_counts_both(toy):
    toy.network("jump", sign())
    toy.property("up", declared(1, 1) + "(assert (<= X_0 1))(assert (>= Y_0 1))")
    toy.answer("near", "same", "box", witness=witness_text(["0.10005"], ["0.10005"]))
    toy.answer("jump", "jump", "up", witness=witness_text(["0.5"], ["1"]))
    toy.answer("edge", "same", "box", witness=witness_text(["0.1"], ["0.1"]))
    contest = load_contest(str(toy.edition()), toy.results, benchmarks=toy.benchmarks)
    scope = (["2023_toy"], ["near", "jump", "edge"])
    judged = judged_witnesses(contest, contest.edition.rules, *scope)
    assert worst_offenders(judged).empty
    [row] = doubtful(judged).to_dict("records")
    assert [row[c] for c in ("tool", "measured", "fragile", "discontinuous", "both")] == [
        "jump", 1, 1, 1, 1,
    ]  # fmt: skip
    needed = counted(needed_tolerances(contest, contest.edition.rules, *scope))
    assert needed == {("exactly", "jump"): 1, ("exactly", "edge"): 1, ("up to 1e-04", "near"): 1}
