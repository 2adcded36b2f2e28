import itertools

import pandas as pd
import pytest
from conftest import INVENTED

from vnnanalysis import summary
from vnnanalysis.analysis import compare_variants, open_analysis
from vnnanalysis.disputes import dispute_list, judge_by_policy
from vnnanalysis.editions import read_edition
from vnnanalysis.portfolio import complementarity


def test_rules_are_stated_from_their_switches(invented_analysis):
    edition, rules = invented_analysis.edition, invented_analysis.rules
    text = " ".join(summary.rules_in_words(rules, edition))
    assert "worth 10 points, an incorrect one -100" in text
    assert "earns 2 more, the second fastest 1; times within 0.2 s are equal" in text
    assert "a tool that stands alone against at least two is wrong" in text
    assert "for each of its modes" in text
    assert "randgen" not in text  # no such tool here
    assert "but not less than 0" in text


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("conflicts", "voting", "the majority is right"),
        ("conflicts", "ignore", "on which tools disagree counts for nobody"),
        ("overhead", "single", "One start-up time per tool"),
        ("overhead", "none", "No start-up time is subtracted"),
        ("duplicates", "unique", "lists twice counts once"),
        ("easy_sat_tool", "tool_sound", "A correct sat that tool_sound found too is worth 1"),
        ("incorrect_points", -150, "an incorrect one -150"),
        ("bonus_floor_s", 3, "times below 3 s count as 3 s"),
    ],
)
def test_every_switch_changes_the_words(invented_analysis, setting, value, told):
    rules = invented_analysis.rules.with_settings({setting: value})
    before = summary.rules_in_words(invented_analysis.rules, invented_analysis.edition)
    after = summary.rules_in_words(rules, invented_analysis.edition)
    assert told in " ".join(after)
    assert told not in " ".join(before)


def test_no_bonus_is_not_mentioned(invented_analysis):
    rules = invented_analysis.rules.with_settings({"fastest_bonus": 0, "second_bonus": 0})
    assert "fastest" not in " ".join(summary.rules_in_words(rules, invented_analysis.edition))


def test_sizes(invented_analysis):
    assert summary.sizes_in_words(invented_analysis.judged, invented_analysis.edition) == [
        "4 tools took part; 13 instances in 3 benchmarks.",
        "Not part of the overall score: toy_extra.",
    ]


def test_headline_gives_first_places_and_ties(invented_analysis):
    assert summary.headline(invented_analysis.overall, invented_analysis.edition) == [
        "Overall: 1. α-Best (193.8), 2. tool_sound (150.0), 3. tool_wrong (0.0), "
        "3. tool_absent (0.0)."
    ]
    part = open_analysis(edition=INVENTED, tools=["tool_absent"])
    assert summary.headline(part.overall, part.edition) == ["Overall: 3. tool_absent (0.0)."]
    unscored = open_analysis(edition=INVENTED, benchmarks=["toy_extra"])
    assert summary.headline(unscored.overall, unscored.edition) == [
        "None of these benchmarks is scored."
    ]


def test_swaps_are_told_with_scores(invented_analysis):
    [told] = summary.swap_sentences(compare_variants(invented_analysis), invented_analysis.edition)
    assert told.startswith(
        "tool_sound and tool_wrong change places with the rules (single / voting"
    )
    assert "multi / ignore: tool_sound 133.3, tool_wrong 155.6" in told
    same = compare_variants(invented_analysis, [{"overhead": "single", "conflicts": "voting"}])
    assert summary.swap_sentences(same, invented_analysis.edition) == [
        "No variant changes the order of the first 3 places."
    ]


def test_switches_that_make_no_difference_to_a_swap_are_left_out(invented_analysis):
    """Tolerances decide nothing here, where no counterexample is known."""
    values = itertools.product(("single", "multi"), ("small", "zero"), ("voting", "ignore"))
    grid = [dict(zip(("overhead", "tolerance", "conflicts"), v, strict=True)) for v in values]
    edition = invented_analysis.edition
    [told] = summary.swap_sentences(compare_variants(invented_analysis, grid), edition)
    without = [{"overhead": v["overhead"], "conflicts": v["conflicts"]} for v in grid
               if v["tolerance"] == "small"]  # fmt: skip
    [same] = summary.swap_sentences(compare_variants(invented_analysis, without), edition)
    assert told == same
    assert told.count(" / ") == 4


def test_a_switch_that_changes_with_another_is_told(invented_analysis):
    """Two variants that differ in both: nothing tells which of the two decides."""
    grid = [{"overhead": "single", "conflicts": "voting"},
            {"overhead": "multi", "conflicts": "ignore"}]  # fmt: skip
    [told] = summary.swap_sentences(
        compare_variants(invented_analysis, grid), invented_analysis.edition
    )
    assert "(single / voting: " in told
    assert "; multi / ignore: " in told


def test_a_floor_of_nothing_is_not_told(invented_analysis):
    a = invented_analysis
    told = " ".join(summary.rules_in_words(a.rules.with_settings({"bonus_floor_s": 0}), a.edition))
    assert "times within 0.2 s are equal. " in told
    assert "times below" in " ".join(summary.rules_in_words(a.rules, a.edition))


def test_conflicts_name_whom_the_rules_penalise(invented_analysis):
    a = invented_analysis
    by_policy = judge_by_policy(a.contest, a.rules, a.benchmarks)
    disputed = dispute_list(by_policy, a.edition)
    assert summary.conflict_sentences(disputed, a.judged, a.edition) == [
        "4 of 13 instances are disputed; incorrect answers under these rules: tool_wrong 2."
    ]
    ignoring = open_analysis(edition=INVENTED, conflicts="ignore")
    assert summary.conflict_sentences(disputed, ignoring.judged, a.edition) == [
        "4 of 13 instances are disputed; no answer is incorrect under these rules."
    ]


def test_complementarity_names_all_leaders(invented_analysis):
    table = complementarity(invented_analysis.judged, invented_analysis.tools)
    assert summary.complementarity_sentences(table, invented_analysis.edition) == [
        "Together the tools solve 11 instances; the most that one solves is 9 (α-Best).",
        "The largest Shapley value is 4.5 (α-Best).",
        "The most instances that no other solves are 1 (α-Best, tool_sound, tool_wrong).",
    ]
    nothing = table[table["tool"] == "tool_absent"]
    assert summary.complementarity_sentences(nothing, invented_analysis.edition) == [
        "No tool solved anything."
    ]
    same = pd.concat([table.head(1), table.head(1)]).assign(unique=0)
    assert summary.complementarity_sentences(same, invented_analysis.edition)[-1] == (
        "No instance is solved by one tool alone."
    )


def test_the_2021_summary_tells_the_third_place(contest_2021):
    from vnnanalysis.analysis import analyse

    analysis = analyse(contest_2021, contest_2021.edition.rules)
    [told] = summary.swap_sentences(compare_variants(analysis), contest_2021.edition)
    assert "single / odd-one-out: ERAN 581.1, oval 582.0" in told
    assert "single / voting: ERAN 582.9, oval 581.4" in told
    text = " ".join(summary.rules_in_words(analysis.rules, analysis.edition))
    assert "A correct sat that randgen found too is worth 1" in text


def test_caveats_count_the_verdicts_that_were_measured_too_laxly():
    columns = ["benchmark", "instance", "tool", "verdict", "tolerance"]
    rows = [("b", "i", "t", "correct", "small"), ("b", "j", "t", "correct", "small"),
            ("b", "j", "t", "correct", "zero"), ("b", "k", "t", "correct", ""),
            ("b", "l", "t", "no_ce", "any")]  # fmt: skip
    checks = pd.DataFrame(rows, columns=columns)
    [told] = summary.tolerance_caveats(checks, ["zero", "small", "any", "as-committed"])
    assert told.startswith("Of 3 counterexamples that are correct, 1 were measured more laxly than")
    assert summary.tolerance_caveats(checks.head(0), ["zero"]) == []
    near = pd.DataFrame([("b", "i", "t", "correct_up_to_tolerance", "zero")], columns=columns)
    [told] = summary.tolerance_caveats(near, ["zero", "small", "any", "as-committed"])
    assert told.startswith("1 counterexamples are known to be valid within tolerance, and not")


def test_captions_name_every_changed_switch(invented_analysis):
    own = invented_analysis.edition.rules
    rules = own.with_settings({"incorrect_points": "-1", "conflicts": "voting"})
    assert summary.rules_in_short(rules, own) == (
        "multi overhead, conflicts: voting, incorrect_points=-1"
    )


def test_extra_tools_did_not_take_part(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("tool,benchmark,instance,result,time_s\nmine,toy_cnn,c3,unsat,2\n")
    analysis = open_analysis(edition=INVENTED, extra=[str(path)])
    told = summary.sizes_in_words(analysis.judged, analysis.edition)
    assert told[0].startswith("4 tools took part")
    assert told[-1].startswith("Not part of the competition: mine")


def test_remarks_of_an_edition_are_told(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("tool,benchmark,instance,result,time_s\na,b,i,unsat,2\n")
    path.with_suffix(".toml").write_text('title = "C"\nremarks = ["Tool a was rerun."]\n')
    analysis = open_analysis(edition=str(path))
    assert "Tool a was rerun." in summary.sizes_in_words(analysis.judged, analysis.edition)
    [remark] = read_edition("2024").remarks
    assert remark.startswith("NeuralSAT and CORA were rerun in October 2024")
