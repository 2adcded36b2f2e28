"""Verdicts on counterexamples: tables, side-cars, what a tolerance makes of them."""

import re

import pandas as pd
import pytest
from conftest import REAL, real_path

from vnnanalysis.analysis import open_analysis
from vnnanalysis.checks import CHECK_COLUMNS, checks_in_force, known_verdicts
from vnnanalysis.editions import list_editions, read_edition
from vnnanalysis.errors import RawDataError, UsageError
from vnnanalysis.load import load_contest
from vnnanalysis.rules import ScoringRules

CONTEST = "tool,benchmark,instance,result,time_s\na,x,i,sat,1\na,x,j,unsat,1\nb,x,i,unsat,1\n"
HEADER = "benchmark,index,instance,tool,verdict\n"


@pytest.fixture
def check(tidy, tmp_path):
    """Load a small contest with a table of verdicts; returns the contest."""

    def load(text):
        path = tmp_path / "verdicts.csv"
        path.write_text(text)
        return load_contest(str(tidy(CONTEST)), checks=[path])

    return load


@pytest.mark.parametrize(
    "text",
    [
        HEADER + "x,0,i,a,correct\n",
        "benchmark,instance,tool,verdict\nx,i,a,Correct\n",
        "verdict,tool,index,benchmark\r\ncorrect,a,0,x\r\n",
        "benchmark,instance,tool,verdict,tolerance,note\nx,i,a,correct,,by hand\n",
    ],
)
def test_a_table_names_an_instance_by_index_or_name(check, text):
    [row] = check(text).checks.to_dict("records")
    assert row == {
        "benchmark": "x", "instance": "i", "tool": "a", "verdict": "correct", "tolerance": "",
        "outputs": "", "bounds": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        (HEADER + "y,0,i,a,correct\n", "line 2, column 1 (benchmark)", "nearest is 'x'"),
        (HEADER + "x,0,i,aa,correct\n", "line 2, column 4 (tool)", "nearest is 'a'"),
        (HEADER + "x,7,i,a,correct\n", "line 2, column 2 (index)", "an instance of x"),
        (HEADER + "x,0,k,a,correct\n", "line 2, column 3 (instance)", "with this index, i"),
        (HEADER + "x,0,i,a,corect\n", "line 2, column 5 (verdict)", "nearest is 'correct'"),
        (HEADER + "x,0,i,a,unchecked\n", "line 2, column 5 (verdict)", "a verdict"),
        (HEADER + 2 * "x,0,i,a,correct\n", "line 3, column 5 (verdict)", "line 2 has one"),
        ("benchmark,tool,verdict\nx,a,correct\n", "line 1, column 3", "index or instance"),
        ("benchmark,index,tool\nx,0,a\n", "line 1, column 3", "columns benchmark, tool, verdict"),
        (HEADER.replace("\n", ",tolerence\n"), "line 1, column 6", "a column tolerance"),
        (HEADER.replace("\n", ",tool\n"), "line 1, column 6", "every column once"),
        (HEADER.replace("\n", ",tolerance\n") + "x,0,i,a,correct,tiny\n", "column 6 (tolerance)",
         "one of any, small, zero"),
    ],
)  # fmt: skip
def test_a_wrong_table_is_refused_with_its_place(check, text, place, expected):
    with pytest.raises(RawDataError, match=re.escape(expected)) as caught:
        check(text)
    assert place in str(caught.value)
    assert "verdicts.csv" in str(caught.value)


def test_a_verdict_without_a_sat_is_noted_and_left_out(check):
    contest = check(HEADER + "x,1,j,a,correct\nx,0,i,a,no_ce\n")
    assert contest.checks["verdict"].tolist() == ["no_ce"]
    [note] = contest.problems.to_dict("records")
    assert (note["line"], note["value"]) == (2, "a")
    assert "did not say sat" in note["problem"]


def test_of_several_tables_the_first_counts(tidy, tmp_path):
    first, second = tmp_path / "1.csv", tmp_path / "2.csv"
    first.write_text("benchmark,instance,tool,verdict\nx,i,a,no_ce\n")
    second.write_text("benchmark,instance,tool,verdict\nx,i,a,correct\n")
    contest = load_contest(str(tidy(CONTEST)), checks=[first, second])
    assert contest.checks["verdict"].tolist() == ["no_ce"]


def table(*rows):
    return pd.DataFrame([("x", "i", "a", *row) for row in rows], columns=CHECK_COLUMNS[:5])


def rules_of(tolerance, **more):
    return ScoringRules().with_settings({"tolerance": tolerance, **more})


@pytest.mark.parametrize(
    ("measured", "asked", "check"),
    [
        ("", "zero", "correct"),  # taken at its word
        ("any", "any", "correct"),
        ("any", "small", "correct_up_to_tolerance"),  # valid within 1e-4 need not be within 1e-7
        ("small", "zero", "correct_up_to_tolerance"),
        ("small", "any", "correct"),  # what holds exactly holds within a tolerance
        ("zero", "small", "correct"),
        ("zero", "as-committed", "correct_up_to_tolerance"),
    ],
)
def test_a_verdict_says_no_more_than_was_measured(measured, asked, check):
    known = checks_in_force(table(("correct", measured)), rules_of(asked))
    assert known["check"].tolist() == [check]
    wrong = checks_in_force(table(("no_ce", measured)), rules_of(asked))
    assert wrong["check"].tolist() == ["no_ce"]


@pytest.mark.parametrize(
    ("asked", "check"),
    [("any", "correct"), ("small", "correct"), ("zero", "correct_up_to_tolerance")],
)
def test_the_verdict_at_the_tolerance_asked_for_is_used(asked, check):
    both = table(("correct_up_to_tolerance", "zero"), ("correct", "small"))
    assert checks_in_force(both, rules_of(asked))["check"].tolist() == [check]
    assert checks_in_force(both[::-1], rules_of(asked))["check"].tolist() == [check]


def found(verdict, tolerance, outputs, bounds):
    return pd.DataFrame([("x", "i", "a", verdict, tolerance, outputs, bounds)],
                        columns=CHECK_COLUMNS)  # fmt: skip


REPLAYED = {"outputs": "replayed", "bounds": "input-type"}


@pytest.mark.parametrize(
    ("row", "rules", "check"),
    [
        (("correct", "zero", "claimed", "float64"), {}, "correct"),
        (("correct", "zero", "claimed", "float64"), REPLAYED, "correct"),  # it claims what is so
        (("correct", "small", "claimed", "float64"), REPLAYED, "correct_up_to_tolerance"),
        (("correct", "zero", "claimed-abs", "float64"), REPLAYED, "correct_up_to_tolerance"),
        (("correct", "zero", "replayed", "float64"), {}, "correct_up_to_tolerance"),
        (("correct", "zero", "claimed", "input-type"), {}, "correct_up_to_tolerance"),
        (("correct", "zero", "replayed", "float64"), REPLAYED, "correct"),
        (("no_ce", "any", "claimed", "float64"), REPLAYED, "no_ce"),
    ],
)
def test_a_verdict_found_under_other_rules_says_less(row, rules, check):
    assert checks_in_force(found(*row), rules_of("zero", **rules))["check"].tolist() == [check]


def test_the_outputs_matter_more_than_the_bounds_and_they_more_than_the_tolerance():
    rows = [("no_ce", "any", "claimed", "float64"), ("malformed", "zero", "claimed", "input-type"),
            ("wrong_shape", "zero", "replayed", "float64")]  # fmt: skip
    for n in (3, 2, 1):
        table = pd.concat([found(*row) for row in rows[3 - n :]])
        assert checks_in_force(table, rules_of("zero"))["check"].tolist() == [rows[3 - n][0]]


def test_of_two_equally_distant_measurements_the_exact_one_counts():
    both = table(("correct", "any"), ("correct", "zero"))
    for order in (both, both[::-1]):
        assert checks_in_force(order, rules_of("small"))["check"].tolist() == ["correct"]


def test_shipped_verdicts_are_the_published_ones():
    for year in ("2022", "2023"):
        ours = pd.read_csv(known_verdicts(read_edition(year)), dtype=str)
        theirs = pd.read_csv(real_path("published", year, "verdicts.csv"), dtype=str)
        assert ours.equals(theirs[list(ours.columns)])


def test_shipped_verdicts_of_2025_are_read_off_the_points():
    """Scoring rule: a penalised sat is invalid; another is correct where the truth is sat."""
    results = real_path("results", "vnncomp2025_results")
    points = pd.read_csv(real_path("published", "2025", "instances.csv"))
    runs = load_contest("2025", results).runs
    sats = runs.loc[(runs["result"] == "sat") & ~runs["is_test"], ["benchmark", "index", "tool"]]
    sats = points.merge(sats.astype({"index": "int64"}), on=["benchmark", "index", "tool"])
    verdict = sats["truth"].map({"sat": "correct", "unsat": "correct_up_to_tolerance"})
    expected = sats.assign(verdict=verdict.mask(sats["points"] < 0, "invalid"))
    ours = pd.read_csv(known_verdicts(read_edition("2025")))
    key = ["benchmark", "index", "tool"]
    merged = ours.merge(expected, on=key, how="outer", suffixes=("", "_read"), validate="1:1")
    assert (merged["verdict"] == merged["verdict_read"]).all()
    assert len(merged) == 5564


def test_every_shipped_verdict_is_on_a_sat():
    for name in list_editions():
        if read_edition(name).verdict_tolerance:
            contest = load_contest(name, real_path("results", f"vnncomp{name}_results"))
            shipped = pd.read_csv(known_verdicts(contest.edition))
            assert len(contest.checks) == len(shipped)
            assert not contest.problems["file"].str.contains("verdicts").any()


def test_given_tables_come_before_the_shipped_ones(tmp_path):
    results = real_path("results", "vnncomp2023_results")
    path = REAL / "published" / "2023" / "verdicts.csv"
    given = open_analysis(edition="2023", results=results, checks=[str(path)])
    own = open_analysis(edition="2023", results=results)
    assert given.judged.equals(own.judged)
    one = tmp_path / "one.csv"
    row = pd.read_csv(path).query("verdict == 'correct'").iloc[0]
    one.write_text(
        f"benchmark,index,tool,verdict\n{row.benchmark},{row['index']},{row.tool},no_ce\n"
    )
    other = open_analysis(edition="2023", results=results, checks=[str(one)])
    changed = own.judged[other.judged["check"] != own.judged["check"]]
    assert changed[["benchmark", "index", "tool"]].to_numpy().tolist() == [
        [row.benchmark, row["index"], row.tool]
    ]


def test_an_edition_file_elsewhere_has_its_verdicts_beside_it(tmp_path):
    """A copy of an edition must not lose its verdicts without a word, nor take another's."""
    results = real_path("results", "vnncomp2023_results")
    copy = tmp_path / "2023.toml"
    copy.write_bytes(read_edition("2023").path.read_bytes())
    with pytest.raises(UsageError, match=r"no such file: .*2023\.verdicts\.csv"):
        load_contest(str(copy), results)
    beside = tmp_path / "2023.verdicts.csv"
    beside.write_bytes(known_verdicts(read_edition("2023")).read_bytes())
    mine = open_analysis(edition=str(copy), results=results)
    assert mine.overall["score"].equals(
        open_analysis(edition="2023", results=results).overall["score"]
    )


@pytest.mark.parametrize("row", ["x,0,i,a\n", "x,0,i,a,correct,more\n"])
def test_a_row_with_other_fields_is_refused(check, row):
    with pytest.raises(RawDataError, match=r"verdicts.csv, line 2.*expected 5 fields"):
        check(HEADER + row)


def test_newer_results_than_the_shipped_verdicts(tmp_path):
    """A tool that is not there, or says another thing, is noted; nothing is lost."""
    results = real_path("results", "vnncomp2022_results")
    for tool in ("mn_bab", "cgdtest"):
        folder = tmp_path / tool
        folder.mkdir()
        (folder / "results.csv").write_bytes((results / tool / "results.csv").read_bytes())
    contest = load_contest("2022", tmp_path)
    notes = contest.problems[contest.problems["file"].str.contains("verdicts")]
    assert len(notes) + len(contest.checks) == 133
    assert set(contest.checks["tool"]) <= {"mn_bab", "cgdtest"}
    assert notes["problem"].str.startswith("no such row in these results").all()


def test_lenient_sets_bad_rows_of_a_table_aside(tidy, tmp_path):
    path = tmp_path / "v.csv"
    path.write_text(HEADER + "x,0,i,a,corect\nx,0,i,a,no_ce\nx,0,i,a,correct\n")
    contest = load_contest(str(tidy(CONTEST)), checks=[path], lenient=True)
    assert contest.checks["verdict"].tolist() == ["no_ce"]
    assert contest.problems["line"].tolist() == [2, 4]


def test_a_missing_table(tidy):
    with pytest.raises(UsageError, match="no such file"):
        load_contest(str(tidy(CONTEST)), checks=["none.csv"])
