"""The 2021 ranking, its third place, and what other editions say."""

import itertools

import numpy as np
import pandas as pd
import pytest
from conftest import INVENTED, contest_of_year

from vnnanalysis import certainty as sure
from vnnanalysis import story
from vnnanalysis.analysis import analyse, open_analysis
from vnnanalysis.errors import UsageError
from vnnanalysis.paths import root
from vnnanalysis.ranking import swaps, tie_groups
from vnnanalysis.terms import Design, Missing

PRINTED = root() / "data" / "published" / "2021" / "overall.csv"


@pytest.fixture(scope="module")
def certain():
    contest = contest_of_year("2021")
    return sure.assess(analyse(contest, contest.edition.rules), replicates=2_000)


def test_the_third_place_of_2021(certain):
    """With a single overhead chance decides between ERAN and oval, with two it does not."""
    table = sure.contested_pairs(certain, places=4).set_index("variant")
    assert set(table["tool"]) == {"ERAN"}
    assert set(table["other"]) == {"oval"}
    # scores as published (2021 report, Tables 4 and following; see data/published/2021)
    printed = pd.read_csv(PRINTED, dtype=str)
    for row in printed[printed["tool"].isin(["ERAN", "oval"])].itertuples():
        column = "tool_score" if row.tool == "ERAN" else "other_score"
        score = table.loc[f"{row.overhead} / {row.conflicts}", column]
        assert f"{score:.1f}" == f"{float(row.score):.1f}"
    single = table[table.index.str.startswith("single")]
    multi = table[table.index.str.startswith("multi")]
    assert single["p_instances"].between(0.4, 0.62).all()
    assert (multi["p_instances"] > 0.999).all()
    assert multi["p_benchmarks"].between(0.65, 0.8).all()
    (told,) = story.contested_sentences(certain, places=4)
    assert told.startswith("Places 3 and 4: ERAN or oval? Under single / voting ERAN is ahead (")
    assert "under single / odd-one-out oval is ahead (ERAN 581.1, oval 582.0; ERAN has more" in told


def test_contested_pairs_get_the_first_places_both(certain):
    best = certain.variants.groupby("tool")["rank"].min()
    every = {tuple(pair) for pair in swaps(certain.variants)[["tool", "other"]].to_numpy()}
    for places in (2, 3, 7, 13):
        table = sure.contested_pairs(certain, places=places)
        found = {tuple(pair) for pair in table[["tool", "other"]].to_numpy()}
        assert found == {(a, b) for a, b in every if best[a] <= places and best[b] <= places}
        assert len(table) == 6 * len(found)
    assert (best[["nnv", "nnenum"]] == [7, 8]).all()  # only the first is among seven


def test_intervals_hold_the_ranks_and_are_wider_for_benchmarks(certain):
    table = sure.interval_table(certain)
    assert len(table) == 2 * 13
    overall = certain.analysis.overall.set_index("tool")
    for design, rows in table.groupby("design"):
        assert rows["rank"].tolist() == overall["rank"].tolist(), design
        assert (rows["rank_low"] <= rows["rank_high"]).all()
        assert (rows["score_low"] <= rows["score_high"]).all()
    width = (table["rank_high"] - table["rank_low"]).groupby(table["design"]).sum()
    assert width[str(Design.BENCHMARKS)] > width[str(Design.INSTANCES)] > 0
    best = table[table["tool"] == "a-b-CROWN"]
    assert (best["p_first"] > 0.97).all()


def test_letters_are_the_groups_of_the_pair_tests(certain):
    table, pairs = sure.interval_table(certain), sure.pair_table(certain)
    for design in Design:
        rows = table[table["design"] == design]
        part = pairs[pairs["design"] == design]
        p_values = {frozenset(p): v for *p, v in part[["tool", "other", "p_holm"]].to_numpy()}
        letters = dict(zip(rows["tool"], rows["group"], strict=True))
        for a, b in itertools.combinations(rows["tool"], 2):
            shared = bool(set(letters[a]) & set(letters[b]))
            assert shared == (p_values[frozenset((a, b))] >= 0.05)
        matrix = sure.above_matrix(certain, "main", design)
        for tool, other, above, below in part[["tool", "other", "p_above", "p_below"]].to_numpy():
            assert matrix.loc[tool, other] == above
            assert matrix.loc[other, tool] == below


def test_shifts_are_those_of_the_published_rankings(certain):
    shifts = sure.shift_table(certain)
    assert certain.own == "multi / odd-one-out"
    printed = pd.read_csv(PRINTED)
    printed["variant"] = printed["overhead"] + " / " + printed["conflicts"]
    ranks = printed.groupby("variant")["score"].rank(ascending=False, method="min").astype(int)
    expected = printed.assign(rank=ranks).set_index(["variant", "tool"])["rank"]
    ours = shifts.set_index(["variant", "tool"])["rank"]
    assert ours[expected.index].tolist() == expected.tolist()
    own = ours["multi / odd-one-out"]
    for row in shifts.itertuples():
        assert row.shift == row.rank - own[row.tool]
    swapped = shifts[(shifts["variant"] == "single / odd-one-out") & shifts["exceeds"]]
    assert set(swapped["tool"]) == {"ERAN", "oval"}


def test_flips_are_in_the_editions_order(certain):
    flips = sure.flip_table(certain)
    edition = certain.analysis.edition
    places = [edition.benchmarks.index(b) for b in flips["benchmark"]]
    assert places == sorted(places)
    per_benchmark = flips.groupby("benchmark")["index"]
    assert all(indexes.is_monotonic_increasing for _, indexes in per_benchmark)
    (told,) = story.flip_sentences(flips, certain.analysis.shown)
    n_instances = len(flips.drop_duplicates(["benchmark", "instance"]))
    runs = certain.analysis.contest.runs
    counts = runs["result"].isin(["sat", "unsat"]) & (runs["excluded"] == "") & ~runs["is_test"]
    assert f"{len(flips)} of {counts.sum():,} answers, on {n_instances} instances" in told
    assert story.flip_sentences(flips.head(0), certain.analysis.shown) == [
        "No verdict depends on the rules."
    ]


def test_what_is_told(certain):
    told = story.certainty_sentences(certain)
    assert told[0] == "2,000 replicates of the whole score for each design; absent = 0."
    assert told[1].startswith("Resampling instances within benchmarks: first α,β-CROWN 100 %;")
    # 78 pairs: 2 * 78 / 2001 is more than 5 percent
    assert told[-1] == (
        "With 2,000 replicates none of the 78 pairs could be told apart after Holm's "
        "correction; that takes at least 3,120."
    )
    enough = sure.assess(certain.analysis, replicates=3_120, all_variants=False)
    assert len(story.certainty_sentences(enough)) == 3


def test_tests_in_both_readings(certain):
    tested = sure.benchmark_tests(certain)
    assert [(t.missing, t.blocks.shape) for t in tested] == [
        (Missing.ZERO, (8, 13)),
        (Missing.COMMON, (1, 13)),
    ]
    told = story.test_sentences(tested, certain.analysis.edition)
    assert "10 of 78 pairs differ" in told[0]
    assert told[0].endswith("no pair can be told apart (with 8 benchmarks, none could be).")
    assert told[1].endswith(
        "(13 tools, 1 benchmark): too few for a test; nothing can be told apart."
    )
    table = sure.benchmark_test_table(tested)
    assert len(table) == 78
    assert (table["nemenyi_p"] < 0.05).sum() == 10
    assert sure.benchmark_test_table(tested[1:]).empty


def test_common_benchmarks_only():
    """Rank and score are those of the benchmarks that the shown tools share."""
    contest = contest_of_year("2021")
    pair = analyse(contest, contest.edition.rules, tools=["ERAN", "nnv"])
    common = sure.assess(pair, replicates=300, missing="common", all_variants=False)
    assert common.words == "common benchmarks only"
    scores = pair.scores[pair.scores["benchmark"].isin(contest.edition.scored)]
    part = {t: scores[scores["tool"] == t].set_index("benchmark")["percent"] for t in pair.tools}
    shared = part["ERAN"].index.intersection(part["nnv"].index)
    assert 0 < len(shared) < len(part["ERAN"])
    table = sure.interval_table(common).drop_duplicates("tool").set_index("tool")
    assert table["score"].to_dict() == pytest.approx(
        {tool: part[tool][shared].sum() for tool in pair.tools}
    )
    assert table["score"].between(table["score_low"], table["score_high"]).all()
    assert set(common.analysis.benchmarks) == set(shared)  # not cifar2020, which is not scored
    assert {t.blocks.shape for t in sure.benchmark_tests(common)} == {(len(shared), 2)}


def test_tools_that_share_no_benchmark(tidy):
    text = "tool,benchmark,instance,result,time_s\na,x,i,unsat,4\nb,y,j,sat,3\n"
    analysis = open_analysis(edition=str(tidy(text)))
    with pytest.raises(UsageError, match="no scored benchmark that all of a, b take part in"):
        sure.assess(analysis, replicates=10, missing="common")


def test_benchmarks_without_a_ranking():
    contest = contest_of_year("2021")
    unscored = analyse(contest, contest.edition.rules, benchmarks=["cifar2020"])
    found = sure.assess(unscored, replicates=10)
    assert found.tracks == ()
    for table in (sure.interval_table(found), sure.pair_table(found), sure.shift_table(found),
                  sure.contested_pairs(found)):  # fmt: skip
        assert table.empty
        assert "track" in table
    assert sure.benchmark_tests(found) == []
    assert not sure.flip_table(found).empty
    assert story.certainty_sentences(found) == [
        "None of these benchmarks is scored: there is no ranking to resample."
    ]


def test_rules_that_are_no_listed_variant_come_first(invented):
    rules = invented.edition.rules.with_settings({"conflicts": "all-unsat"})
    found = sure.assess(analyse(invented, rules), replicates=20)
    assert found.own.endswith("all-unsat")
    assert next(iter(found.judged)) == found.own
    assert len(found.judged) == len(invented.edition.variant_grid()) + 1
    shifts = sure.shift_table(found)
    assert (shifts.loc[shifts["variant"] == found.own, "shift"] == 0).all()


def test_a_tool_outside_the_competition_is_in_every_table(invented, tidy):
    text = "tool,benchmark,instance,result,time_s\n"
    rows = invented.runs[(invented.runs["tool"] == "tool_best") & ~invented.runs["is_test"]]
    text += "".join(
        f"mine,{r.benchmark},{r.instance},{r.result},{r.run_s}\n" for r in rows.itertuples()
    )
    analysis = open_analysis(edition=INVENTED, extra=str(tidy(text, "mine.csv")))
    found = sure.assess(analysis, replicates=50)
    for table in (sure.interval_table(found), sure.pair_table(found), sure.shift_table(found)):
        assert "mine" in set(table["tool"]) | set(table.get("other", []))
    without = sure.assess(open_analysis(edition=INVENTED), replicates=50)
    ours = sure.interval_table(found)
    kept = ours[ours["tool"] != "mine"].drop(columns="group").reset_index(drop=True)
    theirs = sure.interval_table(without).drop(columns="group")
    pd.testing.assert_frame_equal(kept, theirs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"replicates": 0}, "replicates: expected a number of at least 1, found 0"),
        ({"replicates": 1.5}, "replicates: expected a number of at least 1, found 1.5"),
        ({"replicates": True}, "replicates: expected a number of at least 1, found True"),
        ({"seed": -1}, "seed: expected a number of at least 0, found -1"),
        ({"missing": "none"}, "missing: expected zero or common, found 'none'"),
    ],
)
def test_wrong_parameters(invented_analysis, options, message):
    with pytest.raises(UsageError, match=message):
        sure.assess(invented_analysis, **options)


def test_equal_seeds_give_equal_tables(invented_analysis):
    one, two = (sure.interval_table(sure.assess(invented_analysis, replicates=40)) for _ in "ab")
    assert one.equals(two)
    other = sure.interval_table(sure.assess(invented_analysis, replicates=40, seed=9))
    assert not np.array_equal(one["score_low"], other["score_low"])


def test_groups_need_order():
    p_values = pd.DataFrame(1.0, index=list("ab"), columns=list("ab"))
    assert tie_groups([], p_values) == []
    assert tie_groups(["b", "a"], p_values) == [["b", "a"]]
