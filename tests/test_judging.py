import itertools

import numpy as np
import pandas as pd
import pytest
from oracle import score_contest, score_instance

from vnnanalysis.analysis import analyse, open_analysis
from vnnanalysis.judging import judge, overheads
from vnnanalysis.load import load_contest
from vnnanalysis.rules import ScoringRules
from vnnanalysis.scoring import statistics


def contest_of(tidy, rows, name="contest.csv"):
    lines = ["tool,benchmark,instance,result,time_s"]
    lines += [",".join(map(str, row)) for row in rows]
    return load_contest(str(tidy("\n".join(lines) + "\n", name)))


def split(n_unsat, n_sat, randgen=False):
    """One instance with so many answers of each kind; the last sat may be randgen's."""
    rows = [(f"u{i}", "b", "i", "unsat", 1 + i) for i in range(n_unsat)]
    names = [f"s{i}" for i in range(n_sat)]
    if randgen:
        names[-1] = "randgen"
    return rows + [(name, "b", "i", "sat", 1 + i) for i, name in enumerate(names)]


# Case S9: (unsat, sat, randgen among the sat, policy) -> truth, verdict of unsat, of sat
S9 = [
    (1, 1, False, "voting", "unknown", "ignored", "ignored"),
    (1, 1, False, "odd-one-out", "unknown", "ignored", "ignored"),
    (1, 1, False, "ignore", "unknown", "ignored", "ignored"),
    (1, 3, False, "voting", "sat", "incorrect", "correct"),
    (1, 3, False, "odd-one-out", "sat", "incorrect", "correct"),
    (1, 3, False, "ignore", "unknown", "ignored", "ignored"),
    (3, 1, False, "voting", "unsat", "correct", "incorrect"),
    (3, 1, False, "odd-one-out", "unsat", "correct", "incorrect"),
    (3, 1, False, "ignore", "unknown", "ignored", "ignored"),
    (2, 2, False, "voting", "unknown", "ignored", "ignored"),
    (2, 2, False, "odd-one-out", "unknown", "ignored", "ignored"),
    (2, 2, False, "ignore", "unknown", "ignored", "ignored"),
    (2, 3, False, "voting", "sat", "incorrect", "correct"),
    (2, 3, False, "odd-one-out", "unknown", "ignored", "ignored"),
    (2, 3, False, "ignore", "unknown", "ignored", "ignored"),
    (2, 0, False, "ignore", "unsat", "correct", None),
    (0, 2, False, "ignore", "sat", None, "correct"),
    # a hit of random generation overrules the majority, but not a draw or the policy
    (3, 1, True, "voting", "sat", "incorrect", "correct"),
    (3, 1, True, "odd-one-out", "sat", "incorrect", "correct"),
    (3, 1, True, "ignore", "unknown", "ignored", "ignored"),
    (2, 2, True, "voting", "unknown", "ignored", "ignored"),
    (3, 2, True, "odd-one-out", "unknown", "ignored", "ignored"),
    (3, 2, True, "voting", "sat", "incorrect", "correct"),
]


@pytest.mark.parametrize(
    ("n_unsat", "n_sat", "randgen", "policy", "truth", "of_unsat", "of_sat"), S9
)
def test_s9_conflict_policies(tidy, n_unsat, n_sat, randgen, policy, truth, of_unsat, of_sat):
    contest = contest_of(tidy, split(n_unsat, n_sat, randgen))
    judged = judge(
        contest.runs, contest.edition, ScoringRules().with_settings({"conflicts": policy})
    )
    assert set(judged["truth"]) == {truth}
    for result, verdict in (("unsat", of_unsat), ("sat", of_sat)):
        rows = judged[judged["result"] == result]
        assert set(rows["verdict"]) == ({verdict} if verdict else set())
        worth = {"incorrect": {-100}, "ignored": {0}}.get(verdict)
        if worth:
            assert set(rows["points"]) == worth
        if verdict == "correct" and result == "sat" and randgen:
            assert set(rows["points"]) == {1}
            assert not rows["is_fastest"].any()


# the examples of the rules (bonus only, times already corrected) and their edges
BONUS = [
    ([1.0, 1.0, 1.5], [2, 2, 0]),
    ([1.0, 1.1, 1.25], [2, 2, 1]),
    ([5.0, 5.3, 5.45, 9.0], [2, 1, 1, 0]),
    ([5.0], [2]),
    ([1.0, 1.2], [2, 1]),  # exactly 0.2 s apart is not within 0.2 s
    ([1.0, 1.0, 1.2], [2, 2, 0]),
    ([5.0, 5.0, 5.0], [2, 2, 2]),
    ([2.0, 2.25], [2, 1]),
    ([4.0, 4.25, 4.5], [2, 1, 0]),
    ([3.0, 3.125, 3.25, 3.3125, 3.375], [2, 2, 1, 1, 0]),
]


@pytest.mark.parametrize(("times", "bonus"), BONUS)
def test_time_bonus(tidy, times, bonus):
    rows = [(f"t{i}", "b", "i", "unsat", time) for i, time in enumerate(times)]
    contest = contest_of(tidy, rows)
    rules = ScoringRules().with_settings({"overhead": "none"})
    judged = judge(contest.runs, contest.edition, rules)
    assert judged["bonus"].tolist() == bonus
    assert judged["points"].tolist() == [10 + b for b in bonus]
    assert judged["is_fastest"].tolist() == [b == 2 for b in bonus]


def test_incorrect_answers_do_not_take_the_bonus(tidy):
    rows = [("a", "b", "i", "unsat", 5), ("b", "b", "i", "unsat", 7), ("c", "b", "i", "sat", 1)]
    contest = contest_of(tidy, rows)
    rules = ScoringRules().with_settings({"overhead": "none"})
    assert judge(contest.runs, contest.edition, rules)["points"].tolist() == [12, 11, -100]


def test_overhead_is_the_smallest_time_with_an_answer(invented):
    single = overheads(invented.runs, invented.edition, ScoringRules().with_settings(
        {"overhead": "single"}))  # fmt: skip
    assert dict(zip(single["tool"], single["overhead_s"], strict=True)) == {
        "tool_best": 2.0, "tool_sound": 0.5, "tool_wrong": 1.0, "tool_absent": 3.0,
    }  # fmt: skip
    multi = overheads(invented.runs, invented.edition, ScoringRules())
    modes = multi[multi["tool"] == "tool_sound"].set_index("mode")["overhead_s"]
    assert modes.to_dict() == {"": 4.0, "CPU mode": 0.5}
    # not subtracted, but measured: the statistics print it
    none = ScoringRules().with_settings({"overhead": "none"})
    assert overheads(invented.runs, invented.edition, none).equals(single)
    judged = judge(invented.runs, invented.edition, none)
    assert judged["corrected_s"].equals(judged["run_s"].clip(lower=1.0).rename("corrected_s"))


def test_test_rows_count_for_the_overhead_and_nothing_else(raw_edition):
    from conftest import raw_row

    rows = raw_row("acas", "a.onnx", "p.vnnlib", "unsat", 9.0)
    rows += "acas,b/benchmarks/test/test_tiny.onnx,b/benchmarks/test/test_tiny.vnnlib,1,holds,2.5\n"
    edition, folder = raw_edition({"a": rows})
    contest = load_contest(edition, folder)
    rules = contest.edition.rules
    assert overheads(contest.runs, contest.edition, rules)["overhead_s"].tolist() == [2.5]
    judged = judge(contest.runs, contest.edition, rules)
    assert judged[["instance", "corrected_s", "points"]].to_numpy().tolist() == [["a-p", 6.5, 12]]


def test_a_tool_that_answers_in_its_other_mode_only_has_an_overhead(tidy):
    path = tidy("tool,benchmark,instance,result,time_s\na,x,i,unsat,3\nb,y,i,unsat,2\n")
    path.with_suffix(".toml").write_text(
        'title = "T"\n[tracks.main]\nbenchmarks = ["x", "y"]\n[tools]\na = {}\nb = {}\n'
        '[overhead_modes.a]\nCPU = ["x"]\n'
    )
    a = open_analysis(edition=str(path))
    table = statistics(a.scores, a.overhead, a.edition)
    table = table[table["statistic"] == "Overhead"].set_index("tool")
    assert table.index.tolist() == ["b", "a"]
    assert table.loc["a", "cpu_mode"] == 3.0
    assert table["value"].isna().tolist() == [False, True]


def test_times_below_the_floor_count_as_the_floor_and_missing_ones_stay_missing(invented):
    judged = judge(invented.runs, invented.edition, ScoringRules())
    assert judged["corrected_s"].min() == 1.0
    assert (judged["corrected_s"].isna() == judged["run_s"].isna()).all()
    assert judged["run_s"].isna().any()


@pytest.mark.parametrize("policy", ["voting", "odd-one-out", "ignore"])
@pytest.mark.parametrize("n_tools", [1, 2, 5])
def test_every_split_agrees_with_the_oracle(tidy, policy, n_tools):
    """All combinations of answers of up to five tools, one of them randgen."""
    tools = ["randgen", *(f"t{i}" for i in range(n_tools - 1))]
    rows = []
    for k, answers in enumerate(itertools.product(["unsat", "sat", "unknown"], repeat=n_tools)):
        times = [1 + (3 * k + 7 * i) % 11 * 0.15 for i in range(n_tools)]
        rows += [(t, "b", f"i{k}", a, s) for t, a, s in zip(tools, answers, times, strict=True)]
    contest = contest_of(tidy, rows)
    rules = ScoringRules().with_settings({"conflicts": policy, "overhead": "none"})
    judged = judge(contest.runs, contest.edition, rules)
    assert len(judged) == 3**n_tools * n_tools
    for instance, group in judged.groupby("instance"):
        said = {
            row.tool: (row.result if row.result != "unknown" else None, row.corrected_s)
            for row in group.itertuples()
        }
        ours = {r.tool: (r.verdict, r.points, r.is_fastest) for r in group.itertuples()}
        assert ours == score_instance(said, policy), instance


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("policy", ["voting", "odd-one-out", "ignore"])
def test_random_contests_agree_with_the_oracle(tidy, seed, policy):
    rng = np.random.default_rng(seed)
    tools = ["t0", "t1", "t2", "t3", "randgen"]
    rows = [
        (tool, f"b{b}", f"i{i}", rng.choice(["unsat", "unsat", "sat", "timeout"]),
         round(float(rng.exponential(3)), 2))
        for b in range(3) for i in range(12) for tool in tools if rng.random() < 0.9
    ]  # fmt: skip
    contest = contest_of(tidy, rows)
    analysis = analyse(contest, ScoringRules().with_settings({"conflicts": policy}))
    points, overall = score_contest(rows, multi={}, conflicts=policy)
    judged = analysis.judged.set_index(["benchmark", "instance", "tool"])["points"]
    assert judged.to_dict() == points
    assert dict(zip(analysis.overall["tool"], analysis.overall["score"], strict=True)) == {
        tool: float(value) for tool, value in overall.items()
    }


def test_the_oracle_agrees_on_the_real_contest(contest_2021):
    """A second implementation, from the report alone, on all real rows."""
    runs = contest_2021.runs[contest_2021.runs["excluded"] == ""]
    runs = runs.assign(instance=runs["instance"].mask(runs["is_test"], None))
    columns = ["tool", "benchmark", "instance", "result", "run_s"]
    rows = [
        (tool, benchmark, instance if isinstance(instance, str) else None, result, run)
        for tool, benchmark, instance, result, run in runs[columns].itertuples(index=False)
    ]
    for policy in ("voting", "odd-one-out", "ignore"):
        analysis = analyse(
            contest_2021, contest_2021.edition.rules.with_settings({"conflicts": policy})
        )
        points, overall = score_contest(
            rows, multi={"ERAN": ("acasxu", "eran")}, conflicts=policy, unscored=("cifar2020",)
        )
        judged = analysis.judged[analysis.judged["excluded"] == ""]
        assert judged.set_index(["benchmark", "instance", "tool"])["points"].to_dict() == points
        assert dict(zip(analysis.overall["tool"], analysis.overall["score"], strict=True)) == {
            tool: float(score) for tool, score in overall.items()
        }


# --- tools outside the competition ------------------------------------------------------


def with_extra(contest, rows, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("tool,benchmark,instance,result,time_s\n" + rows)
    both = load_contest(str(contest.edition.path), extra=[path])
    return analyse(both, both.edition.rules)


def test_an_extra_tool_moves_no_competitor(invented, tmp_path):
    """It would vote on a6, be the fastest on c4, and the best of toy_cnn."""
    rows = "".join(f"mine,toy_cnn,c{k},{'sat' if k == 2 else 'unsat'},0.1\n" for k in range(1, 6))
    rows += "mine,toy_acas,a6,sat,0.1\nmine,toy_acas,a1,sat,0.1\n"
    official = analyse(invented, invented.edition.rules)
    joint = with_extra(invented, rows, tmp_path)
    for table in ("judged", "scores", "overall"):
        mine = getattr(joint, table)
        others = mine[mine["tool"] != "mine"].reset_index(drop=True)
        pd.testing.assert_frame_equal(others, getattr(official, table))


def test_an_extra_tool_is_judged_as_if_it_had_taken_part(invented, tmp_path):
    rows = "".join(f"mine,toy_cnn,c{k},{'sat' if k == 2 else 'unsat'},0.1\n" for k in range(1, 6))
    rows += "mine,toy_acas,a6,sat,0.1\nmine,toy_acas,a1,sat,0.1\n"
    joint = with_extra(invented, rows, tmp_path)
    mine = joint.judged[joint.judged["tool"] == "mine"].set_index("instance")
    # a1 is outvoted 1:3, a6 becomes 1:2 and is won; all of toy_cnn is solved fastest
    assert mine["points"].to_dict() == {
        "c1": 12, "c2": 12, "c3": 12, "c4": 12, "c5": 12, "a6": 12, "a1": -100,
    }  # fmt: skip
    assert mine.loc["a6", "reason"] == "2 say sat, 1 against; fastest: +2"
    scores = joint.scores[joint.scores["tool"] == "mine"].set_index("benchmark")
    assert scores.loc["toy_cnn", ["rank", "points", "percent"]].tolist() == [1, 60, 100.0]
    cnn = joint.scores[joint.scores["benchmark"] == "toy_cnn"]
    assert cnn["tool"].tolist()[:2] == ["mine", "tool_sound"]  # more points first, both rank 1
    assert cnn["rank"].tolist() == [1, 1, 2, 3]
    assert scores.loc["toy_acas", ["rank", "percent"]].tolist() == [5, 0.0]
    assert joint.overall.set_index("tool").loc["mine", ["rank", "score"]].tolist() == [3, 100.0]


def test_extra_tools_do_not_see_each_other(invented, tmp_path):
    """Two tools that deny c2 would outvote tool_best; each alone makes a draw."""
    rows = "mine,toy_cnn,c2,unsat,1\nyours,toy_cnn,c2,unsat,1\n"
    joint = with_extra(invented, rows, tmp_path)
    c2 = joint.judged[joint.judged["instance"] == "c2"].set_index("tool")
    assert c2.loc["tool_best", ["verdict", "points"]].tolist() == ["correct", 12]
    assert c2.loc[["mine", "yours"], "verdict"].tolist() == ["ignored", "ignored"]
    assert c2.loc["mine", "reason"] == "undecided: 1 say unsat, 1 say sat"


# --- properties -------------------------------------------------------------------------


def test_row_order_does_not_change_the_scores(invented, tmp_path):
    lines = invented.edition.path.read_text().splitlines()
    shuffled = [lines[0], *np.random.default_rng(1).permutation(lines[1:])]
    path = tmp_path / "invented.csv"
    path.write_text("\n".join(shuffled) + "\n")
    path.with_suffix(".toml").write_text(invented.edition.path.with_suffix(".toml").read_text())
    other = analyse(load_contest(str(path)), invented.edition.rules)
    same = analyse(invented, invented.edition.rules)
    pd.testing.assert_frame_equal(other.scores, same.scores)
    pd.testing.assert_frame_equal(other.overall, same.overall)


def test_tool_names_do_not_change_the_scores(tidy):
    rows = [*split(2, 1), ("u0", "b", "j", "sat", 3), ("s0", "b", "j", "sat", 2)]
    renamed = [({"u0": "zz", "u1": "aa", "s0": "mm"}[row[0]], *row[1:]) for row in rows]
    scores = [
        analyse(contest_of(tidy, r, f"{n}.csv"), ScoringRules()).scores["points"].tolist()
        for n, r in (("x", rows), ("y", renamed))
    ]
    assert scores[0] == scores[1]


# --- reasons ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("benchmark", "instance", "tool", "reason"),
    [
        ("toy_acas", "a1", "tool_best", "3 say unsat; fastest: +2"),
        ("toy_acas", "a2", "tool_wrong", "2 say unsat; second fastest: +1"),
        ("toy_acas", "a4", "tool_wrong", "outvoted 1:2 (unsat: tool_best, tool_sound)"),
        ("toy_acas", "a4", "tool_best", "2 say unsat, 1 against; fastest: +2"),
        ("toy_acas", "a5", "tool_best", "undecided: 2 say unsat, 2 say sat"),
        ("toy_cnn", "c2", "tool_best", "the only answer; fastest: +2"),
        ("toy_cnn", "c2", "tool_wrong", "no answer: error (error_exit_code_1)"),
        ("toy_cnn", "c3", "tool_best", "no answer: timeout"),
        ("toy_extra", "e1", "tool_wrong", "no answer: unknown (empty label)"),
    ],
)
def test_every_row_says_why(invented_analysis, benchmark, instance, tool, reason):
    judged = invented_analysis.judged.set_index(["benchmark", "instance", "tool"])
    assert judged.loc[(benchmark, instance, tool), "reason"] == reason


def test_reasons_of_random_generation_and_policies(tidy):
    contest = contest_of(tidy, split(1, 2, randgen=True))
    judged = judge(contest.runs, contest.edition, ScoringRules()).set_index("tool")["reason"]
    assert judged["s0"] == "2 say sat, 1 against; randgen found a counterexample too: 1 point"
    assert judged["u0"] == "contradicted by a counterexample of randgen (sat: s0, randgen)"
    contest = contest_of(tidy, split(2, 3), "other.csv")
    reasons = {
        policy: judge(
            contest.runs, contest.edition, ScoringRules().with_settings({"conflicts": policy})
        )["reason"].iloc[0]
        for policy in ("odd-one-out", "ignore")
    }
    assert reasons == {
        "odd-one-out": "nobody stands alone: 2 say unsat, 3 say sat",
        "ignore": "tools disagree: 2 say unsat, 3 say sat",
    }


def test_no_row_is_without_reason(contest_2021):
    judged = judge(contest_2021.runs, contest_2021.edition, contest_2021.edition.rules)
    assert (judged["reason"].str.len() > 5).all()
    skipped = judged[(judged["tool"] == "RPM") & (judged["benchmark"] == "mnistfc")]
    assert skipped["reason"].unique().tolist() == [
        "skipped: RPM on mnistfc, left out by the organisers"
    ]
    assert skipped["points"].eq(0).all()


@pytest.mark.parametrize(("tie_s", "points"), [("0", [12, 11, 10]), ("1", [12, 11, 11])])
def test_equal_times_are_equal_whatever_the_distance_of_a_tie(tidy, tie_s, points):
    rows = "a,b,i,unsat,5\nc,b,i,unsat,6\nd,b,i,unsat,6.5\n"
    contest = load_contest(str(tidy("tool,benchmark,instance,result,time_s\n" + rows)))
    rules = contest.edition.rules.with_settings({"tie_s": tie_s, "overhead": "none"})
    assert judge(contest.runs, contest.edition, rules)["points"].tolist() == points
