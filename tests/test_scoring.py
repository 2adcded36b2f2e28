from fractions import Fraction

import pandas as pd
import pytest
from conftest import INVENTED, contest_of_year

from vnnanalysis.analysis import analyse, compare_variants, open_analysis
from vnnanalysis.editions import read_rules
from vnnanalysis.errors import UsageError
from vnnanalysis.judging import overheads
from vnnanalysis.load import load_contest
from vnnanalysis.ranking import rank_table, ranks_by_variant, swaps
from vnnanalysis.rules import ScoringRules
from vnnanalysis.scoring import BENCHMARK_COLUMNS, INSTANCE_COLUMNS, instance_table, statistics

HEADER = "tool,benchmark,instance,result,time_s\n"


def test_negative_percent_is_floored_unless_the_switch_says_otherwise(invented):
    rules = invented.edition.rules
    for floored, percent in ((True, 0.0), (False, 100 * -65 / 48)):
        analysis = analyse(invented, rules.with_settings({"floor_percent": floored}))
        scores = analysis.scores.set_index(["benchmark", "tool"])["percent"]
        assert scores["toy_acas", "tool_wrong"] == pytest.approx(percent)
    overall = analysis.overall.set_index("tool")["score"]
    assert overall["tool_wrong"] == pytest.approx(100 * -65 / 48 + 100 * -79 / 48)


def test_a_benchmark_nobody_gains_from_is_zero_for_all(tidy):
    rows = "a,x,i,unsat,1\nb,x,i,sat,1\na,y,i,unsat,1\nb,y,i,unknown,1\n"
    analysis = open_analysis(edition=str(tidy(HEADER + rows)))
    scores = analysis.scores.set_index(["benchmark", "tool"])["percent"]
    assert scores["x", "a"] == scores["x", "b"] == 0.0
    assert scores["y", "a"] == 100.0


def test_sums_are_exact(tidy):
    """Thirds of 100 in different benchmarks: floats would tell equal sums apart."""
    rows = []
    for k, (a, b) in enumerate(((1, 2), (2, 1), (3, 6), (6, 3))):
        for tool, solved in (("a", a), ("b", b), ("best", 7)):
            rows += [f"{tool},x{k},i{i},{'unsat' if i < solved else 'unknown'},1" for i in range(7)]
    contest = load_contest(str(tidy(HEADER + "\n".join(rows) + "\n")))
    rules = ScoringRules().with_settings({"fastest_bonus": 0, "second_bonus": 0})
    overall = analyse(contest, rules).overall
    assert overall["rank"].tolist() == [1, 2, 2]
    exact = float(sum(Fraction(100 * n, 7) for n in (1, 2, 3, 6)))
    assert overall["score"].tolist() == [400.0, exact, exact]


def test_unscored_benchmarks_have_tables_but_no_part_in_the_sum(invented):
    analysis = analyse(invented, invented.edition.rules)
    assert "toy_extra" in set(analysis.scores["benchmark"])
    assert analysis.overall["score"].max() < 200


def test_columns(invented_analysis):
    assert list(invented_analysis.overall.columns) == ["track", "rank", "tool", "score"]
    assert list(invented_analysis.scores.columns) == BENCHMARK_COLUMNS
    table = instance_table(invented_analysis.judged, invented_analysis.edition)
    assert list(table.columns) == INSTANCE_COLUMNS
    assert len(table) == 50
    assert table["index"].tolist()[:5] == [0, 0, 0, 0, 1]


def test_selection_of_benchmarks_changes_the_sum_only(invented_analysis):
    part = open_analysis(edition=INVENTED, benchmarks=["toy_cnn"])
    whole = invented_analysis.scores
    same = whole[whole["benchmark"] == "toy_cnn"].reset_index(drop=True)
    pd.testing.assert_frame_equal(part.scores, same)
    assert part.overall["score"].tolist() == [100.0, 93.75, 0.0]
    # the overhead is still the one of the full field: a4 of toy_acas
    assert part.overhead.set_index("tool").loc["tool_best", "overhead_s"] == 2.0


def test_selection_of_tools_changes_what_is_shown_only(invented_analysis):
    part = open_analysis(edition=INVENTED, tools="tool_sound,tool_wrong")
    whole = invented_analysis.overall
    shown = whole[whole["tool"].isin(["tool_sound", "tool_wrong"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(part.overall, shown)
    assert part.pair == ("tool_sound", "tool_wrong")


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        ("track", "mian", "unknown track 'mian': nearest is 'main'"),
        (
            "benchmarks",
            ["toy_acs"],
            "unknown benchmark of track all 'toy_acs': nearest is 'toy_acas'",
        ),
        ("benchmarks", 3, "parameter benchmarks: expected a list of names, found 3"),
        ("tools", ["tool_bets"], "unknown tool 'tool_bets': nearest is 'tool_best'"),
        ("overhead", "sinlge", "unknown value for overhead 'sinlge': nearest is 'single'"),
        ("conflicts", "vote", "unknown value for conflicts 'vote': nearest is 'voting'"),
        ("lenient", "no", "parameter lenient: expected true or false, found 'no'"),
        ("edition", "exmaple", "unknown edition 'exmaple': nearest is 'example'"),
        ("settings", {"tie": 1}, "unknown rule setting 'tie': nearest is 'tie_s'"),
    ],
)
def test_wrong_parameters_name_the_nearest_valid_one(parameter, value, expected):
    with pytest.raises(UsageError, match=expected):
        open_analysis(**{"edition": INVENTED, parameter: value})


def test_only_unscored_benchmarks():
    analysis = open_analysis(edition=INVENTED, benchmarks=["toy_extra"])
    assert analysis.overall.empty
    variants = compare_variants(analysis)
    assert rank_table(variants).empty
    assert swaps(variants).empty


def test_nothing_to_score(tidy):
    path = tidy(HEADER + "a,x,i,unknown,1\n")
    with pytest.raises(UsageError, match="no tool has a sat or unsat in x"):
        open_analysis(edition=str(path))


# --- variants ---------------------------------------------------------------------------


def test_variants_side_by_side(invented_analysis):
    variants = compare_variants(invented_analysis)
    assert len(invented_analysis.edition.variant_grid()) == 6
    assert variants.columns.tolist() == ["overhead", "conflicts", "track", "rank", "tool", "score"]
    table = rank_table(variants).set_index("tool")
    assert table.loc["tool_wrong", ["best_rank", "worst_rank"]].tolist() == [2, 3]
    assert table.loc["tool_wrong", "multi / ignore"] == pytest.approx(155.5555555)
    ranks = ranks_by_variant(variants, "main")
    assert ranks.loc["tool_sound"].tolist() == [2, 2, 3, 2, 2, 3]
    pairs = swaps(variants)
    assert pairs[["tool", "other"]].to_numpy().tolist() == [["tool_sound", "tool_wrong"]]
    assert pairs["behind"].tolist() == ["single / ignore; multi / ignore"]


def test_2021_third_place_depends_on_the_rules(contest_2021):
    variants = compare_variants(analyse(contest_2021, contest_2021.edition.rules))
    third = variants[variants["rank"] == 3].set_index(["overhead", "conflicts"])["tool"]
    assert third.to_dict() == {
        ("single", "voting"): "ERAN",
        ("single", "odd-one-out"): "oval",
        ("single", "ignore"): "oval",
        ("multi", "voting"): "ERAN",
        ("multi", "odd-one-out"): "ERAN",
        ("multi", "ignore"): "ERAN",
    }
    pairs = swaps(variants).set_index(["tool", "other"])
    assert pairs.loc[("ERAN", "oval"), "behind"] == "single / odd-one-out; single / ignore"


def test_an_edition_without_modes_has_no_multi_variant(tidy):
    contest = load_contest(str(tidy(HEADER + "a,x,i,unsat,1\n")))
    assert [v["overhead"] for v in contest.edition.variant_grid()] == ["single"] * 3


def test_2026_ties_are_broken_by_run_time_on_solved_instances(tidy):
    rows = "a,x,i,unsat,9\na,x,j,unsat,2\nb,x,i,unsat,3\nb,x,j,unsat,7\nc,x,i,unsat,1\n"
    rows += "c,x,j,timeout,99\nd,x,i,unsat,5\nd,x,j,unsat,5\n"
    path = str(tidy(HEADER + rows))
    by_time = open_analysis(edition=path, rules="2026", settings={"enforce_timeouts": "false"})
    assert by_time.overall[["rank", "tool"]].to_numpy().tolist() == [
        [1, "b"], [1, "d"], [3, "a"], [4, "c"],  # 10 s, 10 s, 11 s; c has solved less
    ]  # fmt: skip
    shared = open_analysis(edition=path, rules="2025")
    assert shared.overall["rank"].tolist() == [1, 1, 1, 4]


def test_only_scored_benchmarks_break_ties(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text(HEADER + "a,x,i,unsat,5\nb,x,i,unsat,4\nb,y,j,unsat,9\na,y,j,unsat,1\n")
    (tmp_path / "c.toml").write_text(
        'title = "C"\n[rules]\noverhead = "none"\nconflicts = "per-tool"\nfastest_bonus = 0\n'
        'second_bonus = 0\nties_by_time = true\n[tracks.one]\nbenchmarks = ["x"]\n'
        '[tracks.two]\nbenchmarks = ["y"]\nscored = false\n'
    )
    assert open_analysis(edition=str(path)).overall["tool"].tolist() == ["b", "a"]


def test_start_up_rows_of_no_benchmark_count_in_every_track():
    """2021 has networks that only measure start-up; no track has them."""
    contest = contest_of_year("2021")
    rules = contest.edition.rules
    by_track = overheads(
        contest.runs, contest.edition, rules.with_settings({"overhead_by_track": "true"})
    )
    whole = overheads(contest.runs, contest.edition, rules)
    assert by_track["overhead_s"].tolist() == whole["overhead_s"].tolist()
    assert set(by_track["track"]) == {"main"}
    analysis = analyse(contest, read_rules("2026"))
    assert len(statistics(analysis.scores, analysis.overhead, analysis.edition)) > 0


def test_statistics_of_each_track_are_its_own(tmp_path):
    """Start-up is measured in each track on its own where the rules say so (2022)."""
    path = tmp_path / "c.csv"
    path.write_text(HEADER + "a,x,i,unsat,9\na,y,j,unsat,2\nb,x,i,sat,4\n")
    (tmp_path / "c.toml").write_text(
        'title = "C"\n[rules]\noverhead = "single"\noverhead_by_track = true\n'
        'conflicts = "on-conflict"\ntime_floor_s = 0\n[tracks.one]\nbenchmarks = ["x"]\n'
        '[tracks.two]\nbenchmarks = ["y"]\nscored = false\n'
    )
    analysis = open_analysis(edition=str(path))
    table = statistics(analysis.scores, analysis.overhead, analysis.edition)
    overhead = table[table["statistic"] == "Overhead"]
    assert overhead[["track", "rank", "tool", "value"]].to_numpy().tolist() == [
        ["one", 1, "b", 4.0], ["one", 2, "a", 9.0], ["two", 1, "a", 2.0],
    ]  # fmt: skip
    assert analysis.judged.set_index(["tool", "benchmark"])["corrected_s"].to_dict() == {
        ("a", "x"): 0.0, ("a", "y"): 0.0, ("b", "x"): 0.0,
    }  # fmt: skip
    whole = open_analysis(edition=str(path), settings={"overhead_by_track": "false"})
    assert whole.judged.set_index(["tool", "benchmark"])["corrected_s"]["a", "x"] == 7.0
    assert set(whole.overhead["track"]) == {""}
    assert analysis.overall["track"].tolist() == ["one", "one"]  # the other is not scored


def test_the_floors_of_plots_and_of_the_bonus_are_apart(tidy):
    """2022: times below 1 s are equal for the bonus, and differ in plots."""
    path = str(tidy(HEADER + "a,x,i,unsat,0.1\nb,x,i,unsat,0.9\nc,x,i,unsat,1.15\n"))
    analysis = open_analysis(edition=path, rules="2022", overhead="none")
    assert analysis.judged["bonus"].tolist() == [2, 2, 2]
    assert analysis.judged["corrected_s"].tolist() == [0.1, 0.9, 1.15]


@pytest.mark.parametrize("year", ["2021", "2022", "2023", "2024", "2025", "study"])
@pytest.mark.parametrize("rules", ["2021", "2022", "2023-first-valid", "2024", "2025-zero", "2026"])
def test_any_rules_on_any_edition(year, rules):
    analysis = analyse(contest_of_year(year), read_rules(rules))
    assert (analysis.judged["reason"] != "").all()
    assert set(analysis.judged["verdict"]) <= {"correct", "incorrect", "ignored", "unsolved"}
    worth = analysis.judged.groupby("verdict")["points"]
    assert (worth.min().get("correct", 1), worth.max().get("incorrect", -1)) > (0, -200)
    assert analysis.scores["percent"].between(0, 100).all()


SWITCHES = {
    "floor_percent": "false", "incorrect_points": "-1", "fastest_bonus": "7", "overhead": "multi",
    "tolerance": "zero", "enforce_timeouts": "true", "conflicts": "all-unsat", "tie_s": "9",
    "unchecked": "penalised", "duplicates": "unique", "overhead_by_track": "false",
    "ties_by_time": "true", "bonus_floor_s": "50", "time_floor_s": "50", "correct_points": "3",
    "second_bonus": "5", "easy_sat_tool": "mn_bab", "easy_sat_points": "4",
    "outputs": "replayed", "bounds": "input-type",
}  # fmt: skip


@pytest.mark.parametrize("name", SWITCHES)
def test_any_switch_alone(name):
    """Every switch of the rules can be set alone on a real edition."""
    contest = contest_of_year("2022")
    analysis = analyse(contest, contest.edition.rules.with_settings({name: SWITCHES[name]}))
    assert set(analysis.rules.changes(analysis.edition.rules)) == {name}
    assert analysis.label != "2022"


def test_there_is_no_switch_without_a_test():
    assert set(SWITCHES) == set(ScoringRules.__dataclass_fields__)
