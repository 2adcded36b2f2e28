import math

import numpy as np
import pandas as pd
import pytest
from conftest import contest_of_year
from scipy import stats

from vnnanalysis import times
from vnnanalysis.analysis import analyse
from vnnanalysis.load import load_contest
from vnnanalysis.paths import resource
from vnnanalysis.portfolio import virtual_best_solver
from vnnanalysis.terms import Unsolved

LIMITED = "tool,benchmark,instance,result,time_s,timeout_s\n"
ROWS = (
    "a,x,i,unsat,4,10\na,x,j,sat,6,20\na,y,k,timeout,30,30\n"
    "b,x,i,unsat,2,10\nb,x,j,timeout,20,20\nb,y,k,timeout,30,30\n"
)


@pytest.fixture
def judged(tidy):
    """Three instances of limits 10, 20 and 30 s: a solves i in 4 s and j in 6, b i in 2."""
    return judged_of(tidy, ROWS)


def judged_of(tidy, rows, **settings):
    contest = load_contest(str(tidy(LIMITED + rows)))
    rules = contest.edition.rules.with_settings({"overhead": "none"} | settings)
    return analyse(contest, rules).judged


def random_judged(seed, n_tools=4, n_instances=20):
    """Rows of mixed limits; some correct answers are late, some tools have no row."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(n_instances):
        limit = float(rng.choice([10.0, 60.0, 300.0]))
        for tool in [f"t{i}" for i in range(n_tools)]:
            if rng.random() < 0.9:
                verdict = rng.choice(["correct", "incorrect", "ignored", "unsolved"],
                                     p=[0.5, 0.1, 0.1, 0.3])  # fmt: skip
                run = limit * rng.random() * 1.1
                rows.append((f"b{k % 3}", f"i{k}", tool, verdict, "sat", run, run * 0.8, limit))
    columns = ["benchmark", "instance", "tool", "verdict", "result"]
    columns += ["run_s", "corrected_s", "timeout_s"]
    return pd.DataFrame(rows, columns=columns).astype({"verdict": "str"})


def slowly(judged, tool, tools, unsolved, factor=2.0, *, normalised=False, solvable_only=False):
    """Return what an instance counts for a tool, one by one, from the definitions."""
    counted = []
    for _, rows in judged.groupby(["benchmark", "instance"], sort=False):
        limit = rows["timeout_s"].iloc[0]
        correct = rows[rows["verdict"] == "correct"].set_index("tool")["corrected_s"].to_dict()
        if solvable_only and not set(correct) & set(tools):
            continue
        if tool not in correct and unsolved == "left-out":
            continue
        seconds = correct.get(tool, limit * (factor if unsolved == "penalised" else 1))
        counted.append(seconds / limit if normalised else seconds)
    return counted


def test_means_by_hand(judged):
    tools = ["b", "a", "absent"]
    assert times.run_times(judged, tools).to_numpy(na_value=-1).tolist() == [
        [2, 4, -1], [-1, 6, -1], [-1, -1, -1]
    ]  # fmt: skip
    assert times.run_times(judged, tools).index.tolist() == [("x", "i"), ("x", "j"), ("y", "k")]
    assert times.limits(judged).tolist() == [10.0, 20.0, 30.0]
    assert times.mean_time(judged, tools).tolist() == [52 / 3, 40 / 3, 20.0]
    assert times.par(judged, tools).tolist() == [102 / 3, 70 / 3, 40.0]
    assert times.par(judged, tools, 10).tolist() == [502 / 3, 310 / 3, 200.0]
    shares = times.par(judged, tools, normalised=True).tolist()
    assert shares == pytest.approx([4.2 / 3, 2.7 / 3, 2.0])
    assert times.mean_time(judged, tools, normalised=True)["b"] == pytest.approx(2.2 / 3)
    left_out = times.mean_time(judged, tools, unsolved=Unsolved.LEFT_OUT)
    assert left_out[["b", "a"]].tolist() == [2.0, 5.0]
    assert math.isnan(left_out["absent"])


def test_average_time_is_over_what_one_of_the_tools_solves(judged):
    assert times.average_time(judged, ["a", "b"]).to_dict() == {"a": 5.0, "b": 11.0}
    assert times.average_time(judged, ["b"]).to_dict() == {"b": 2.0}
    nobody = judged[judged["instance"] == "k"]
    assert times.average_time(nobody, ["a"]).to_dict() == {"a": 30.0}


@pytest.mark.parametrize("unsolved", Unsolved)
@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("solvable_only", [True, False])
def test_every_policy_is_what_a_loop_gives(unsolved, normalised, solvable_only):
    options = {"normalised": normalised, "solvable_only": solvable_only}
    for seed in range(2):
        judged, tools = random_judged(seed), ["t2", "t0"]
        got = times.mean_time(judged, tools, unsolved=unsolved, factor=3.0, **options)
        for tool in tools:
            expected = slowly(judged, tool, tools, unsolved, 3.0, **options)
            assert got[tool] == pytest.approx(np.mean(expected)), tool


@pytest.mark.parametrize("unsolved", Unsolved)
@pytest.mark.parametrize("shift_s", [0.5, 10.0])
def test_shifted_geometric_mean(unsolved, shift_s):
    judged, tools = random_judged(7), ["t1", "t3"]
    got = times.shifted_geometric_mean(judged, tools, shift_s=shift_s, unsolved=unsolved)
    for tool in tools:
        shifted = np.array(slowly(judged, tool, tools, unsolved)) + shift_s
        assert got[tool] == pytest.approx(stats.gmean(shifted) - shift_s)


def test_a_time_of_zero_has_a_geometric_mean(tidy):
    judged = judged_of(tidy, "a,x,i,unsat,0,10\na,x,j,unsat,5,10\n", time_floor_s=0)
    mean = times.shifted_geometric_mean(judged, ["a"])
    assert mean["a"] == pytest.approx(math.sqrt(10 * 15) - 10)
    assert times.shifted_geometric_mean(judged, ["a"], shift_s=0)["a"] == 0.0
    with pytest.raises(ValueError, match="shift of at least 0 s, found -1 s"):
        times.shifted_geometric_mean(judged, ["a"], shift_s=-1)


def test_a_late_answer_keeps_its_time_where_limits_are_not_enforced(tidy):
    rows = "a,x,i,unsat,15,10\na,x,j,unsat,2,10\nb,x,j,unsat,4,10\n"
    judged = judged_of(tidy, rows)
    assert times.par(judged, ["a"])["a"] == 8.5
    assert times.par(judged_of(tidy, rows, enforce_timeouts=True), ["a"])["a"] == 11.0
    scores = times.speed_scores(judged, ["a", "b", "absent"])
    assert scores.to_numpy().tolist() == [[0.0, 0.0, 0.0], [0.8, 0.6, 0.0]]


def test_all_measures_use_the_corrected_time(tidy):
    judged = judged_of(tidy, "a,x,i,unsat,3,10\na,x,j,unsat,7,10\n", overhead="single")
    assert times.run_times(judged, ["a"])["a"].tolist() == [1.0, 4.0]  # 3 s less, at least 1 s
    assert times.average_time(judged, ["a"])["a"] == 2.5


def test_unknown_limits_are_never_guessed(judged):
    unknown = judged.assign(timeout_s=judged["timeout_s"].mask(judged["instance"] != "j"))
    for measure in (
        times.average_time, times.par, times.speed_scores, times.shifted_geometric_mean,
        lambda *a: times.mean_time(*a, unsolved=Unsolved.LEFT_OUT, normalised=True),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="2 instances have no time limit"):
            measure(unknown, ["a"])
    assert times.mean_time(unknown, ["a"], unsolved=Unsolved.LEFT_OUT)["a"] == 5.0
    one_row = judged.assign(timeout_s=judged["timeout_s"].mask(judged["tool"] == "a"))
    assert times.limits(one_row).tolist() == [10.0, 20.0, 30.0]  # from the rows of b
    longer = judged.assign(timeout_s=judged["timeout_s"].mask(judged["tool"] == "b", 25.0))
    assert times.limits(longer).tolist() == [25.0, 25.0, 30.0]  # the longest
    with pytest.raises(ValueError, match="not a valid Unsolved"):
        times.mean_time(judged, ["a"], unsolved="twice")


def test_time_table_by_hand(judged):
    table = times.time_table(judged, ["b", "a"])
    assert list(table) == ["tool", "n_solved", *times.TIME_NAMES]
    expected = ["b", 1, 11.0, 34.0, 502 / 3, 1.4, (12 * 30 * 40) ** (1 / 3) - 10, 2.0]
    assert table.iloc[0].tolist() == pytest.approx(expected)
    expected = ["a", 2, 5.0, 70 / 3, 310 / 3, 0.9, (14 * 16 * 40) ** (1 / 3) - 10, 5.0]
    assert table.iloc[1].tolist() == pytest.approx(expected)


def test_time_notes_state_policy_number_and_shift(judged):
    notes = times.time_notes(judged, ["a", "b"])
    assert (
        "Average time: mean over the n = 2 instances that at least one of the tools solved; "
        "unsolved counts as the limit."
    ) in notes
    assert "PAR2 and PAR10: mean over all n = 3 instances; unsolved counts as 2 and 10 times " in (
        " ".join(notes)
    )
    assert any("shift 10 s, over all n = 3 instances" in note for note in notes)
    named = " ".join(notes).lower()
    assert all(name.lower() in named for name in times.TIME_NAMES.values())
    nobody = times.time_notes(judged[judged["instance"] == "k"], ["a"])
    assert any("over all n = 1 instances, as none of the tools" in note for note in nobody)


def test_without_limits_the_table_is_empty_there_and_says_so(contest_2021):
    analysis = analyse(contest_2021, contest_2021.edition.rules)
    table = times.time_table(analysis.judged, analysis.tools).set_index("tool")
    needing = ["avg_time_s", "par2_s", "par10_s", "par2_share", "sgm_s"]
    assert table[needing].isna().all(axis=None)
    assert set(table[[*needing, "solved_s"]].dtypes.astype(str)) == {"float64"}
    assert table.index.tolist() == list(analysis.tools)
    assert table["n_solved"][["a-b-CROWN", "randgen"]].tolist() == [766, 33]  # published Table 7
    correct = analysis.judged[analysis.judged["verdict"] == "correct"]
    means = correct.groupby("tool")["corrected_s"].mean()
    assert table["solved_s"].to_dict() == pytest.approx(means[list(table.index)].to_dict())
    assert times.time_notes(analysis.judged, analysis.tools)[-1] == (
        "859 of 859 instances have no known limit: average time, PAR2, PAR10, PAR2 per limit and "
        "shifted geometric mean are empty."
    )
    best = times.best_solvers(analysis.judged, analysis.tools)
    worth = len(correct[["benchmark", "instance"]].drop_duplicates())
    assert best.to_numpy().tolist() == [["solved", "a-b-CROWN", 766, worth]]
    # one instance without a limit is enough
    one = analysis.judged.assign(timeout_s=60.0)
    one.loc[one["instance"] == one["instance"].iloc[0], "timeout_s"] = np.nan
    assert times.time_table(one, analysis.tools)[needing].isna().all(axis=None)


def test_the_virtual_best_solver_is_measured_like_a_tool():
    """Second method: its answers as rows of one more tool."""
    for seed in range(4):
        judged, tools = random_judged(seed), ["t0", "t1", "t2"]
        first = virtual_best_solver(judged, tools).drop_duplicates(["benchmark", "instance"])
        limits = judged.drop_duplicates(["benchmark", "instance"])[
            ["benchmark", "instance", "timeout_s"]
        ]
        virtual = first.merge(limits).assign(tool="VBS", verdict="correct", run_s=1.0)
        rows = pd.concat([judged, virtual], ignore_index=True)
        single = times.time_table(rows, [*tools, "VBS"]).set_index("tool")
        best = times.best_solvers(judged, tools).set_index("measure")
        assert best.index.tolist() == ["solved", "avg_time_s", "par2_s", "sgm_s"]
        for measure, row in best.iterrows():
            values = single["n_solved" if measure == "solved" else measure]
            assert row["vbs"] == pytest.approx(values["VBS"])
            ours = values.drop("VBS")
            assert row["sbs"] == (ours.max() if measure == "solved" else ours.min())
            assert row["sbs_tool"] == ", ".join(ours.index[ours == row["sbs"]])


def test_tied_tools_share_the_title(judged):
    """Also where the same times come in another order, which a float sum may not see."""
    rows = []
    for tool, seconds in (("b", (0.1, 0.2, 0.3)), ("c", (0.3, 0.2, 0.1)), ("a", (0.1, 0.2, 0.31))):
        rows += [("x", f"i{k}", tool, "correct", t, 10.0) for k, t in enumerate(seconds)]
    columns = ["benchmark", "instance", "tool", "verdict", "corrected_s", "timeout_s"]
    tied = pd.DataFrame(rows, columns=columns)
    best = times.best_solvers(tied, ["c", "a", "b"]).set_index("measure")
    assert best["sbs_tool"].tolist() == ["c, a, b", "c, b", "c, b", "c, b"]
    assert best.loc["avg_time_s", "vbs"] == pytest.approx(0.4 / 3)


def test_gap_closed():
    assert times.gap_closed(15.0, 10.0, 20.0) == 0.5
    assert times.gap_closed(15.0, 20.0, 10.0) == 0.5  # less is better
    assert times.gap_closed(8, 10, 20) == -0.2
    assert math.isnan(times.gap_closed(10, 10, 10))


def test_average_times_of_the_study():
    contest = contest_of_year("study")
    judged = analyse(contest, contest.edition.rules).judged
    printed = pd.read_csv(resource("data", "published", "study", "table2.csv"))
    for benchmark, rows in printed.groupby("benchmark", sort=False):
        here = judged[judged["benchmark"] == benchmark]
        expected = rows.set_index("tool")["avg_time_s"].to_dict()
        if benchmark == "MNIST ReLU":
            expected["Verinet"] = 264  # printed 263; the data give 263.9
        assert times.average_time(here, list(rows["tool"])).round().to_dict() == expected
