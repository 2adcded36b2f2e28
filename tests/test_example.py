"""The embedded competition: what must hold whenever it is run, and what this run measured.

Its tools share no code with the package, so that each checks the other.
"""

import csv
import gzip
import itertools
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import oracle_witness
import pytest
from onnx import helper
from oracle import prove_instance
from small_nets import model, write_model

from vnnanalysis.analysis import open_analysis
from vnnanalysis.editions import read_edition
from vnnanalysis.evaluate import combine, excesses
from vnnanalysis.load import load_contest
from vnnanalysis.paths import resource
from vnnanalysis.terms import Check
from vnnanalysis.validate import verdict_table
from vnnanalysis.verdicts import named_rules
from vnnanalysis.vnnlib import read_property

HERE = resource("data", "example")
SOUND = ("branches", "bigm", "boxes", "uphill", "dice")
PROVERS = ("branches", "bigm", "boxes")
GRACE_S = 0.5  # to stop a process
FILES = {
    (path.parent.name, network, prop): float(limit)
    for path in sorted(HERE.glob("benchmarks/*/instances.csv"))
    for network, prop, limit in csv.reader(path.read_text().splitlines())
}
INSTANCES = list(FILES)


@pytest.fixture(scope="module")
def tools():
    """The modules of the tools."""
    sys.path.insert(0, str(HERE / "tools"))
    import bigm
    import boxes
    import branches
    import problem

    yield {"problem": problem, "bigm": bigm, "branches": branches, "boxes": boxes}
    sys.path.remove(str(HERE / "tools"))


# --- what must hold for any run -----------------------------------------------------------


def faults(contest):
    """Return everything that may not be in a run of the example, in words."""
    runs = contest.runs
    found = []
    by_tool = runs.pivot(index=["benchmark", "instance"], columns="tool", values="result")
    for instance, row in by_tool.iterrows():
        sound = {row[tool] for tool in SOUND if row.get(tool) in ("sat", "unsat")}
        if len(sound) > 1:
            found.append(f"{instance}: sound tools contradict each other")
        both = {row.get(tool) for tool in ("bigm", "branches")}
        if both == {"sat", "unsat"}:
            found.append(f"{instance}: MILP and branch and bound do not agree")
    for row in runs.itertuples():
        is_stopped = row.result == "timeout"
        if is_stopped != (row.run_s >= row.timeout_s) or row.run_s > row.timeout_s + GRACE_S:
            found.append(f"{row.instance}: {row.tool}: {row.result} after {row.run_s} s")
        if row.result == "error":
            found.append(f"{row.instance}: {row.tool}: {row.result_raw}")
        if row.tool == "boxes" and row.result == "sat":
            found.append(f"{row.instance}: boxes cannot find a counterexample")
        if row.tool in ("dice", "uphill") and row.result == "unsat":
            found.append(f"{row.instance}: {row.tool} cannot prove anything")
    for rules in ("2023", "2024", "2025-small", "2025-zero"):
        table = verdict_table(contest.measurements, named_rules(rules))
        valid = table["verdict"].isin([str(Check.CORRECT), str(Check.UP_TO_TOLERANCE)])
        found += [f"{r.instance}: {r.tool}: {r.verdict}" for r in table[~valid].itertuples()]
    n_sats = int((runs["result"] == "sat").sum())
    if len(contest.measurements) != n_sats:
        found.append(f"{n_sats} sats, {len(contest.measurements)} measured")
    return found


def test_the_committed_run_holds_what_every_run_must():
    contest = load_contest("example")
    assert faults(contest) == []
    assert contest.problems.empty
    assert not contest.runs["timeout_s"].isna().any()
    assert len(contest.measurements) > 80
    rows = contest.runs.groupby("tool")["instance"].agg(set)
    assert rows.map(len).to_dict() == dict.fromkeys([*SOUND, "optimist"], len(FILES))


@pytest.mark.length
def test_a_new_run_holds_it_too(tmp_path):
    command = [sys.executable, HERE / "run.py", "--first", "2", "--out", tmp_path]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    contest = load_contest("example", tmp_path)
    assert faults(contest) == []
    assert contest.runs.groupby("tool").size().to_dict() == dict.fromkeys([*SOUND, "optimist"], 8)
    assert "processor" in (tmp_path / "machine.toml").read_text()


def test_a_part_of_the_results_does_not_replace_the_whole():
    command = [sys.executable, HERE / "run.py", "--tools", "boxes", "--first", "1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "name another folder for a part of the results with --out" in run.stderr


@pytest.mark.parametrize(
    ("tool", "old", "new", "told"),
    [
        ("branches", ",unsat,", ",sat,", "branches: no_ce"),
        ("bigm", ",sat,", ",unsat,", "sound tools contradict each other"),
        ("dice", ",timeout,", ",unsat,", "dice cannot prove anything"),
        ("boxes", ",unknown,", ",timeout,", "boxes: timeout after"),
        ("uphill", ",unknown,", ",error_exit_code_1,", "uphill: error_exit_code_1"),
    ],
)
def test_a_planted_fault_is_found(tmp_path, tool, old, new, told):
    copy = shutil.copytree(HERE / "results", tmp_path / "results")
    path = copy / tool / "results.csv"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert any(told in fault for fault in faults(load_contest("example", copy)))


# --- networks, properties, instances ------------------------------------------------------


def test_the_benchmarks_are_as_small_and_varied_as_they_should_be():
    assert 60 <= len(FILES) <= 90
    assert {benchmark for benchmark, _, _ in FILES} == set(read_edition("example").benchmarks)
    assert set(read_edition("example").tracks) == {"regular", "extended"}
    assert all(5 <= limit <= 20 for limit in FILES.values())
    networks = sorted(HERE.glob("benchmarks/*/onnx/*.onnx"))
    assert all(path.stat().st_size < 100_000 for path in networks)
    kinds = {node.op_type for path in networks for node in onnx.load(path).graph.node}
    assert kinds == {"Gemm", "Relu", "Sigmoid", "Conv", "Flatten"}
    assert {read_property(path).version for path in HERE.glob("benchmarks/*/vnnlib/*")} == {
        *("1.0", "2.0")
    }
    listed = {HERE / "benchmarks" / b / path for b, *paths in FILES for path in paths}
    assert listed == {p for p in HERE.glob("benchmarks/*/*/*") if p.is_file()}


def test_the_script_makes_the_same_bytes_again(tmp_path):
    subprocess.run([sys.executable, HERE / "make_benchmarks.py", tmp_path], check=True)
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.glob("*/**/*.*")}
    kept = HERE / "benchmarks"
    assert made == {path.relative_to(kept): path.read_bytes() for path in kept.glob("*/**/*.*")}


# --- the tools against the package --------------------------------------------------------


def holds(cases, inputs, values, problem):
    """Whether a point is a counterexample, as the tools see it."""
    return any(
        (case.lower <= inputs).all() and (inputs <= case.upper).all()
        and problem.violation(case, values[None])[0] <= 0
        for case in cases
    )  # fmt: skip


def test_tools_and_package_read_properties_alike(tools):
    problem, rng, seen = tools["problem"], np.random.default_rng(0), Counter()
    for benchmark, _, name in INSTANCES:
        path = HERE / "benchmarks" / benchmark / name
        cases, is_new_form = problem.read_cases(path)
        ours = read_property(path)
        assert is_new_form == (ours.version == "2.0")
        for case in cases:
            for _ in range(6):
                inputs = rng.uniform(case.lower, case.upper)
                inputs[rng.integers(len(inputs))] += rng.choice([0, 0, 2])
                values = rng.normal(0, 1, case.rows.shape[1])
                excess = combine(ours, excesses(ours, np.concatenate([inputs, values])))
                is_one = holds(cases, inputs, values, problem)
                assert is_one == (excess <= 0), (path, inputs, values)
                seen[is_one] += 1
    assert min(seen.values()) > 50


@pytest.mark.parametrize(
    "statement",
    [
        *("(assert (> Y_0 0.3))", "(assert (= X_0 0.3))", "(assert (<= Y_0 X_0))"),
        *("(assert (<= X_0 X_1))", "(assert (<= Y_0 1)))", "(assert (<= Y_0 1)"),
    ],
)
def test_what_the_tools_cannot_read_they_refuse(tools, tmp_path, statement):
    path = tmp_path / "p.vnnlib"
    path.write_text(f"(assert (<= X_0 1))(assert (<= X_1 1))(assert (<= Y_0 1)){statement}")
    with pytest.raises(ValueError, match=r"cannot read a co|parentheses do not match"):
        tools["problem"].read_cases(path)


def test_a_problem_is_unsat_only_if_all_its_cases_are(tools, tmp_path):
    """Both orders of a case with a counterexample and one without."""
    for seed in range(12):
        given, case, _ = small_problem(tools, tmp_path, seed)
        far = case._replace(limits=case.limits - 100)
        near = case._replace(limits=case.limits + 100)
        for name, found in (("branches", "sat"), ("bigm", "sat"), ("boxes", "unknown")):
            solve = tools[name].solve
            if name == "bigm" and seed % 3 == 2:
                assert solve(given)[0] == "unknown"
                continue
            for cases in ([far, near], [near, far]):
                assert solve(given._replace(cases=cases))[0] == found
            assert solve(given._replace(cases=[far, far]))[0] == "unsat"


def test_tools_and_onnxruntime_run_networks_alike(tools):
    problem, rng = tools["problem"], np.random.default_rng(0)
    for path in sorted(HERE.glob("benchmarks/*/onnx/*.onnx")):
        layers, run = problem.read_layers(path), problem.Runtime(path)
        for inputs in rng.uniform(-1, 1, (20, layers[0].weights.shape[1])):
            [ours] = problem.outputs(layers, inputs[None])
            assert run(inputs) == pytest.approx(ours, rel=1e-4, abs=1e-5)


def small_problem(tools, tmp_path, seed):
    """Return a random network with two inputs, as a problem of the tools, and its file."""
    problem, rng = tools["problem"], np.random.default_rng(seed)
    activation = "sigmoid" if seed % 3 == 2 else "relu"
    sizes, layers, nodes, constants = (2, 4, 4, 2), [], [], {}
    for k, (n_in, n_out) in enumerate(itertools.pairwise(sizes)):
        weights, bias = rng.normal(0, 1, (n_out, n_in)).round(2), rng.normal(0, 0.5, n_out).round(2)
        layers.append(problem.Layer(weights, bias, activation if k < 2 else ""))
        constants |= {f"w{k}": weights.astype("f4"), f"b{k}": bias.astype("f4")}
        out = "y" if k == 2 else f"z{k}"
        before = "x" if k == 0 else f"a{k - 1}"
        nodes.append(helper.make_node("Gemm", [before, f"w{k}", f"b{k}"], [out], transB=1))
        if k < 2:
            nodes.append(helper.make_node(activation.capitalize(), [out], [f"a{k}"]))
    made = model(nodes, {"x": ("float32", [1, 2])}, {"y": ("float32", [1, 2])}, constants)
    path = write_model(tmp_path / f"n{seed}.onnx", made)
    ends = np.sort(rng.uniform(-1, 1, (2, 2)), axis=0)
    rows, limits = np.array([[1.0, -1.0], [-0.5, -1.0]]), rng.normal(-0.7, 0.5, 2)
    case = problem.Case(ends[0], ends[1], rows, limits)
    return problem.Problem(path, layers, [case], False, 20.0), case, path


def test_provers_agree_with_a_grid_of_points(tools, tmp_path):
    """Every unsat and sat of the three provers on small networks, against 300 x 300 points."""
    problem, seen = tools["problem"], Counter()
    for seed in range(60):
        given, case, path = small_problem(tools, tmp_path, seed)
        axes = [np.linspace(low, up, 300) for low, up in zip(case.lower, case.upper, strict=True)]
        points = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
        least = problem.violation(case, problem.outputs(given.layers, points)).min()
        for name in PROVERS:
            result, point = tools[name].solve(given)
            seen[name, result] += 1
            if result == "unsat":
                assert least > 0, (name, seed)
            if result == "sat":
                inputs, claimed = point
                assert np.maximum(case.lower - inputs, inputs - case.upper).max() <= 1e-6
                assert problem.violation(case, claimed[None])[0] <= 0
                assert problem.Runtime(path)(inputs) == pytest.approx(claimed, abs=1e-5)
            if least < -1e-3:
                assert result != "unsat", (name, seed)
    assert all(seen[name, "unsat"] > 5 for name in PROVERS)
    assert all(seen[name, "sat"] > 5 for name in ("branches", "bigm"))
    assert seen["boxes", "sat"] == 0


def test_lines_and_ranges_hold_every_value(tools, tmp_path):
    """Of every neuron of small networks: the lines of the relaxation, and the ranges."""
    problem, branches, rng = tools["problem"], tools["branches"], np.random.default_rng(1)
    for seed in range(30):
        given, case, _ = small_problem(tools, tmp_path, seed)
        ranges, lines = branches.bounds_of(given.layers, case, {})
        values = rng.uniform(case.lower, case.upper, (500, 2))
        for layer, (lower, upper), line in zip(given.layers, ranges, lines, strict=False):
            inner = values @ layer.weights.T + layer.bias
            assert (lower - 1e-9 <= inner).all()
            assert (inner <= upper + 1e-9).all()
            for z in (inner, *rng.uniform(lower, upper, (200, 1, len(lower)))):
                true = problem.activate(layer.activation, z)
                assert (line.low_slope * z + line.low <= true + 1e-9).all()
                assert (true <= line.up_slope * z + line.up + 1e-9).all()
            values = problem.activate(layer.activation, inner)


# --- what this run measured ---------------------------------------------------------------


def as_old_form(path, folder):
    """Return a property or counterexample of VNN-LIB 2.0 in the form of 1.0."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    if path.suffix == ".vnnlib" and "vnnlib-version" in text:
        text = re.sub(r"([XY])\[0,(\d+)\]", r"\1_\2", text[text.index("(assert") :])
    elif text.startswith("X "):
        parts = re.split(r"[XY] float32 \[1,\d+\]\n", text)[1:]
        named = zip("XY", (part.split() for part in parts), strict=True)
        items = [f"({name}_{i} {v})" for name, values in named for i, v in enumerate(values)]
        text = f"({' '.join(items)})"
    made = folder / f"{len(list(folder.iterdir()))}{path.suffixes[0]}"
    made.write_text(text)
    return made


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Rows (tool, benchmark, instance, result, run time, verdict by tolerance), read anew."""
    folder, rows = tmp_path_factory.mktemp("old"), []
    for path in sorted(HERE.glob("results/*/results.csv")):
        for benchmark, network, prop, _, result, run_s in csv.reader(path.read_text().splitlines()):
            stem = f"{Path(network).stem}_{Path(prop).stem}"
            found = {"small": "", "zero": ""}
            if result == "sat":
                witness = path.parent / benchmark / f"{stem}.counterexample.gz"
                files = [as_old_form(witness, folder), HERE / network,
                         as_old_form(HERE / prop, folder)]  # fmt: skip
                found = {t: oracle_witness.verdict(*files, f"2025-{t}") for t in found}
            rows.append((path.parent.name, benchmark, stem, result, float(run_s), found))
    return rows


def overall_by_hand(rows, *, overhead, conflicts, tolerance):
    """Score the rows by the rules as they are written; returns scores by (track, tool)."""
    answers = [row for row in rows if row[3] in ("sat", "unsat")]
    start = {tool: min(row[4] for row in answers if row[0] == tool) for tool, *_ in answers}
    points = Counter()
    for instance in {row[1:3] for row in rows}:
        own = [row for row in answers if row[1:3] == instance]
        said = {tool: (result, found[tolerance]) for tool, _, _, result, _, found in own}
        if conflicts == "per-tool":
            verdicts = prove_instance(said, "per-tool", strict=True)
        else:
            is_disputed = len({result for result, _ in said.values()}) > 1
            verdicts = dict.fromkeys(said, "ignored" if is_disputed else "correct")
        for tool, verdict in verdicts.items():
            points[instance[0], tool] += {"correct": 10, "incorrect": -150, "ignored": 0}[verdict]
        for result in ("sat", "unsat"):  # the bonus is among those with the same correct answer
            right = [row for row in own if row[3] == result and verdicts[row[0]] == "correct"]
            times = {t: max(0, run_s - start[t] * (overhead == "single"))
                     for t, _, _, _, run_s, _ in right}  # fmt: skip
            ordered = [*sorted(times.values()), -1, -1]
            for tool, time in times.items():
                bonus = 2 if time < ordered[0] + 0.2 else time < ordered[1] + 0.2
                points[instance[0], tool] += bonus
    best = {b: max(v for (of, _), v in points.items() if of == b) for b, _ in points}
    scores = Counter()
    for (benchmark, tool), worth in points.items():
        track = "extended" if benchmark == "pendulum" else "regular"
        scores[track, tool] += max(0, 100 * worth / best[benchmark])
    return dict(scores)


VARIANTS = list(itertools.product(("single", "none"), ("per-tool", "ignore"), ("small", "zero")))


@pytest.mark.parametrize(("overhead", "conflicts", "tolerance"), VARIANTS)
def test_every_score_against_a_second_method(measured, overhead, conflicts, tolerance):
    settings = {"overhead": overhead, "conflicts": conflicts, "tolerance": tolerance}
    overall = open_analysis(edition="example", settings=settings).overall
    ours = {(r.track, r.tool): r.score for r in overall.itertuples()}
    assert ours == pytest.approx(overall_by_hand(measured, **settings))
    assert settings in read_edition("example").variant_grid()


def test_the_editions_own_rules_are_the_first_variant():
    edition = read_edition("example")
    first = edition.variant_grid()[0]
    assert tuple(first.values()) == VARIANTS[0]
    assert edition.rules.texts(first) == first
    assert edition.rules.incorrect_points == -150


@pytest.mark.parametrize("tolerance", ["small", "zero"])
def test_every_verdict_against_a_second_validator(measured, tolerance):
    contest = load_contest("example")
    table = verdict_table(contest.measurements, named_rules(f"2025-{tolerance}"))
    names = zip(table["tool"], table["benchmark"], table["instance"], strict=True)
    ours = dict(zip(names, map(str, table["verdict"]), strict=True))
    theirs = {
        (tool, benchmark, stem.replace("_img", "-img").replace("_prop", "-prop")
         .replace("_mirror", "-mirror")): found[tolerance]
        for tool, benchmark, stem, result, _, found in measured if result == "sat"
    }  # fmt: skip
    assert ours == theirs


def test_what_the_readme_says_of_this_run():
    a = open_analysis(edition="example")
    answers = a.judged["result"].isin(["sat", "unsat"]).groupby(a.judged["tool"]).sum()
    assert answers.idxmax() == "optimist"
    wrong = a.judged[a.judged["verdict"] == "incorrect"]
    assert wrong["tool"].value_counts().to_dict() == {"optimist": 16}
    ranks = a.overall.set_index(["track", "tool"])["rank"]
    assert (ranks["regular", "optimist"], ranks["extended", "optimist"]) == (6, 1)
    ignoring = open_analysis(edition="example", conflicts="ignore").overall
    assert ignoring.set_index(["track", "tool"])["rank"]["regular", "optimist"] == 1
    solved = a.judged[a.judged["verdict"] == "correct"]
    by_instance = solved.groupby(["benchmark", "instance"])["tool"].agg(set)
    assert sum(tools == {"optimist"} for tools in by_instance) == 1
    assert sum(tools == {"boxes", "optimist"} for tools in by_instance.loc[["pendulum"]]) == 2
    zero = open_analysis(edition="example", settings={"tolerance": "zero"})
    assert (zero.judged["verdict"] == "incorrect").sum() == 14
    proofs = zero.judged[zero.judged["check"] == "correct"]["tool"].value_counts()
    assert "bigm" not in proofs
    sats = zero.judged[zero.judged["result"] == "sat"].groupby("tool")["instance"].agg(set)
    assert proofs["uphill"] < len(sats["uphill"]) / 3
    overhead = a.overhead.set_index("tool")["overhead_s"]
    assert overhead["uphill"] > 1.5 > overhead.drop("uphill").max()
    plain = open_analysis(edition="example", overhead="none").overall.set_index(["track", "tool"])
    assert (ranks["regular", "branches"], plain["rank"]["regular", "bigm"]) == (1, 1)
    assert ranks["extended", "uphill"] == ranks["extended", "dice"]
    assert plain["rank"]["extended", "uphill"] > plain["rank"]["extended", "dice"]
    assert sats["uphill"] > sats["dice"]
    assert len(sats["uphill"] - sats["dice"]) == 10
