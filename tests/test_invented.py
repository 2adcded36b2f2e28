"""Every number of the invented contest, computed by hand from fixtures/invented/invented.csv.

Overheads: tool_best 2.0 (a4), tool_wrong 1.0 (a1, c5), tool_absent 3.0 (a5); tool_sound 0.5 in
CPU mode (toy_acas) and 4.0 otherwise, 0.5 for all with a single overhead.
"""

import pytest
from conftest import INVENTED

from vnnanalysis.analysis import open_analysis
from vnnanalysis.disputes import (
    by_benchmark,
    contradictions,
    dispute_list,
    judge_by_policy,
    penalties,
)
from vnnanalysis.portfolio import complementarity, vbs_choices, virtual_best_solver
from vnnanalysis.scoring import statistics

POINTS = {  # (best, sound, wrong, absent) with multi overhead and odd-one-out; None: no row
    "a1": (12, 12, 12, 0),  # 3.0-2, 0.5-0.5, 1.0-1: all at the floor of 1 s
    "a2": (12, 0, 11, 0),  # 3.0 against 9.0
    "a3": (12, 0, 12, 0),  # 2.15 and 2.0 are within 0.2 s
    "a4": (12, 12, -100, 0),  # unsat, unsat against sat
    "a5": (0, 0, 0, 0),  # two say unsat, two sat
    "a6": (0, 0, 0, 0),  # one says unsat, one sat
    "c1": (10, 12, 11, 0),  # 10.0, 1.0 (floor), 2.0
    "c2": (12, 0, 0, 0),
    "c3": (0, 12, 0, 0),
    "c4": (11, 12, 10, 0),  # 28.0, 27.0, 59.0
    "c5": (12, 12, -100, 0),  # 6.0 and 6.1 within 0.2 s
    "e1": (12, 12, 0, None),
    "e2": (0, 0, 12, None),
}
TOOLS = ("tool_best", "tool_sound", "tool_wrong", "tool_absent")


@pytest.mark.parametrize("instance", POINTS)
def test_points(invented_analysis, instance):
    judged = invented_analysis.judged
    rows = judged[judged["instance"] == instance].set_index("tool")["points"]
    assert tuple(rows.get(tool) for tool in TOOLS) == POINTS[instance]


def test_corrected_times(invented_analysis):
    times = invented_analysis.judged.set_index(["instance", "tool"])["corrected_s"]
    assert [times[i, "tool_best"] for i in ("a1", "a2", "a3", "c1", "c2", "c4", "c5", "e1")] == [
        1.0, 3.0, pytest.approx(2.15), 10.0, 1.0, 28.0, 6.0, 1.0,
    ]  # fmt: skip
    assert [times[i, "tool_sound"] for i in ("a1", "a4", "a5", "c1", "c3", "c4", "e1")] == [
        1.0, 1.0, 6.0, 1.0, 46.0, 27.0, 1.0,
    ]  # fmt: skip
    assert times["c5", "tool_sound"] == pytest.approx(6.1)
    assert [times[i, "tool_wrong"] for i in ("a2", "a3", "a6", "c1", "c4", "e2")] == [
        9.0, 2.0, 8.0, 2.0, 59.0, 6.0,
    ]  # fmt: skip
    assert times["c1", "tool_absent"] != times["c1", "tool_absent"]  # it was not run


def test_single_overhead_moves_what_it_should():
    judged = open_analysis(edition=INVENTED, overhead="single").judged
    points = judged.set_index(["instance", "tool"])["points"]
    # tool_sound loses 3.5 s less on toy_cnn and toy_extra
    assert [points[i, "tool_sound"] for i in ("c1", "c3", "c4", "c5", "e1")] == [11, 12, 11, 11, 11]
    assert [points[i, "tool_best"] for i in ("c1", "c4", "c5")] == [10, 12, 12]
    assert points["c1", "tool_wrong"] == 12


def test_benchmark_tables(invented_analysis):
    columns = ["benchmark", "rank", "tool", "verified", "falsified", "fastest", "incorrect",
               "points", "percent"]  # fmt: skip
    rows = invented_analysis.scores[columns].to_numpy().tolist()
    assert rows == [
        ["toy_acas", 1, "tool_best", 3, 1, 4, 0, 48, 100.0],
        ["toy_acas", 2, "tool_sound", 2, 0, 2, 0, 24, 50.0],
        ["toy_acas", 3, "tool_absent", 0, 0, 0, 0, 0, 0.0],
        ["toy_acas", 4, "tool_wrong", 2, 1, 2, 1, -65, 0.0],
        ["toy_cnn", 1, "tool_sound", 4, 0, 4, 0, 48, 100.0],
        ["toy_cnn", 2, "tool_best", 3, 1, 2, 0, 45, 93.75],
        ["toy_cnn", 3, "tool_wrong", 2, 0, 0, 1, -79, 0.0],
        ["toy_extra", 1, "tool_best", 0, 1, 1, 0, 12, 100.0],
        ["toy_extra", 1, "tool_sound", 0, 1, 1, 0, 12, 100.0],
        ["toy_extra", 1, "tool_wrong", 1, 0, 1, 0, 12, 100.0],
    ]
    assert invented_analysis.scores["solved_percent"].tolist() == pytest.approx(
        [400 / 6, 200 / 6, 0, 300 / 6, 400 / 5, 400 / 5, 200 / 5, 50, 50, 50]
    )


@pytest.mark.parametrize(
    ("overhead", "conflicts", "scores"),
    [
        ("multi", "odd-one-out", (193.75, 150.0, 0.0, 0.0)),
        ("multi", "voting", (193.75, 150.0, 0.0, 0.0)),
        # toy_acas 36, 12, 35 points; toy_cnn 33, 36, 21
        ("multi", "ignore",
         (100 + 3300 / 36, 1200 / 36 + 100, 3500 / 36 + 2100 / 36, 0.0)),
        # toy_acas as above; toy_cnn 46, 45; voting decides the same, there is no 2:3 here
        ("single", "voting", (200.0, 50.0 + 100 * 45 / 46, 0.0, 0.0)),
        # toy_acas 36, 12, 35; toy_cnn 34, 34, 22: c5 counts for nobody
        ("single", "ignore", (200.0, 1200 / 36 + 100, 3500 / 36 + 2200 / 34, 0.0)),
        # nothing subtracted. toy_acas: a1 10 12 11, a2 12 - 10, a3 11 - 12, a4 11 12 wrong;
        # toy_cnn: c1 10 11 12, c2 12, c3 - 12, c4 12 11 10, c5 12 11 wrong
        ("none", "odd-one-out", (100.0 + 100.0, 2400 / 44 + 4500 / 46, 0.0, 0.0)),
        ("single", "odd-one-out", (200.0, 50.0 + 100 * 45 / 46, 0.0, 0.0)),
    ],
)  # fmt: skip
def test_overall(overhead, conflicts, scores):
    overall = open_analysis(edition=INVENTED, overhead=overhead, conflicts=conflicts).overall
    ours = dict(zip(overall["tool"], overall["score"], strict=True))
    assert tuple(ours[tool] for tool in TOOLS) == pytest.approx(scores)


def test_equal_scores_share_a_rank(invented_analysis):
    assert invented_analysis.overall["rank"].tolist() == [1, 2, 3, 3]


def test_statistics(invented_analysis):
    a = invented_analysis
    table = statistics(a.scores, a.overhead, a.edition)
    values = {
        s: dict(zip(g["tool"], g["value"], strict=True)) for s, g in table.groupby("statistic")
    }
    assert values == {
        "Overhead": {"tool_wrong": 1.0, "tool_best": 2.0, "tool_absent": 3.0, "tool_sound": 4.0},
        "Num Benchmarks Participated": {
            "tool_best": 3, "tool_sound": 3, "tool_wrong": 3, "tool_absent": 1,
        },
        "Num Instances Verified": {"tool_best": 9, "tool_sound": 7, "tool_wrong": 6},
        "Num Violated": {"tool_best": 3, "tool_sound": 1, "tool_wrong": 1},
        "Num Holds": {"tool_best": 6, "tool_sound": 6, "tool_wrong": 5},
        "Mismatched (Incorrect) Results": {"tool_wrong": 2},
    }  # fmt: skip
    ranks = table[table["statistic"] == "Num Violated"].set_index("tool")["rank"]
    assert ranks.to_dict() == {"tool_best": 1, "tool_sound": 2, "tool_wrong": 2}
    assert table.loc[table["statistic"] == "Overhead", "rank"].tolist() == [1, 2, 3, 4]
    assert table.set_index("tool")["cpu_mode"].dropna().to_dict() == {"tool_sound": 0.5}


def test_disputes(invented_analysis):
    a = invented_analysis
    by_policy = judge_by_policy(a.contest, a.rules, a.benchmarks)
    disputes = dispute_list(by_policy, a.edition)
    assert disputes.drop(columns=["benchmark", "index"]).to_numpy().tolist() == [
        ["a4", "tool_best, tool_sound", "tool_wrong", "unsat", "unsat", "unknown"],
        ["a5", "tool_best, tool_sound", "tool_wrong, tool_absent", *["unknown"] * 3],
        ["a6", "tool_best", "tool_wrong", *["unknown"] * 3],
        ["c5", "tool_best, tool_sound", "tool_wrong", "unsat", "unsat", "unknown"],
    ]
    counts = by_benchmark(disputes, a.judged, a.edition)
    assert counts.to_numpy().tolist() == [
        ["toy_acas", 6, 3, 1, 1, 0],
        ["toy_cnn", 5, 1, 1, 1, 0],
        ["toy_extra", 2, 0, 0, 0, 0],
    ]
    wrong = penalties(by_policy, TOOLS)
    assert wrong.to_numpy().tolist() == [
        ["tool_wrong", 4, 2, 2, 0],
        ["tool_best", 4, 0, 0, 0],
        ["tool_sound", 3, 0, 0, 0],
        ["tool_absent", 1, 0, 0, 0],
    ]


def test_who_contradicts_whom(invented_analysis):
    """Rows say unsat: tool_best against tool_wrong on a4 a5 a6 c5, tool_absent on a5."""
    table = contradictions(invented_analysis.judged, invented_analysis.edition)
    assert table.index.tolist() == ["tool_best", "tool_sound"]
    assert table.columns.tolist() == ["tool_wrong", "tool_absent"]
    assert table.to_numpy().tolist() == [[4, 1], [3, 1]]


def test_vbs_choices(invented_analysis):
    a = invented_analysis
    table = vbs_choices(virtual_best_solver(a.judged, a.tools), a.tools).set_index("tool")
    # sat: a3 wrong; c2 best; e1 best and sound; the other eight are unsat
    assert table.loc["tool_best", ["unsat", "sat", "chosen"]].tolist() == pytest.approx(
        [1 / 3 + 2 + 1 / 2, 1.5, 1 / 3 + 4]
    )
    assert table.loc["tool_wrong", ["unsat", "sat"]].tolist() == pytest.approx([1 / 3 + 1, 1])
    assert table["percent"].sum() == pytest.approx(100)
    assert table.loc["tool_absent", "chosen"] == 0


def test_complementarity(invented_analysis):
    a = invented_analysis
    table = complementarity(a.judged, a.tools).set_index("tool")
    # solved: a1 by 3; a2 best, wrong; a3 best, wrong; a4 best, sound; c1 by 3; c2 best;
    # c3 sound; c4 by 3; c5 best, sound; e1 best, sound; e2 wrong
    assert table["solved"].to_dict() == dict(zip(TOOLS, (9, 7, 6, 0), strict=True))
    assert table["unique"].to_dict() == dict(zip(TOOLS, (1, 1, 1, 0), strict=True))
    assert table["rmc"].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert table["shapley"].to_dict() == pytest.approx(
        dict(zip(TOOLS, (3 / 3 + 5 / 2 + 1, 3 / 3 + 3 / 2 + 1, 3 / 3 + 2 / 2 + 1, 0), strict=True))
    )
    assert table["shapley"].sum() == pytest.approx(11)
    vbs = virtual_best_solver(a.judged, a.tools).set_index("instance")
    assert vbs["share"].sum() == pytest.approx(11)
    assert vbs.loc["a3"].tolist() == ["toy_acas", "tool_wrong", "sat", 2.0, 1.0]
    assert vbs.loc["a1", "tool"].tolist() == ["tool_best", "tool_sound", "tool_wrong"]  # a tie
    # fastest: a1 all three; a2 best; a3 wrong; a4 best, sound; c1 sound; c2 best; c3 sound;
    # c4 sound; c5 best; e1 best, sound; e2 wrong
    shares = (1 / 3 + 3 + 2 / 2, 1 / 3 + 3 + 2 / 2, 1 / 3 + 2, 0)
    assert table["vbs_share"].to_dict() == pytest.approx(dict(zip(TOOLS, shares, strict=True)))


def test_a_tool_that_does_not_take_part_is_missing_not_zero(invented_analysis):
    scores = invented_analysis.scores
    assert scores.loc[scores["tool"] == "tool_absent", "benchmark"].tolist() == ["toy_acas"]
    judged = invented_analysis.judged
    absent = judged[(judged["tool"] == "tool_absent") & (judged["benchmark"] == "toy_cnn")]
    assert len(absent) == 5
    assert not absent["takes_part"].any()
