import re

import pytest
from conftest import contest_of_year

from vnnanalysis.analysis import analyse
from vnnanalysis.instance_times import (
    MARKS,
    TOOLS_PER_TABLE,
    instance_latex,
    instance_marks,
    marks_in_words,
)
from vnnanalysis.load import load_contest


def long_tables(analysis):
    rules = analysis.rules
    marks = instance_marks(analysis.shown, analysis.edition, rules)
    return instance_latex(marks, analysis.edition, rules, analysis.listed, label=analysis.label)


def cells_of(text):
    """Read LaTeX back: (end of the label, number) to the cells after it."""
    found = {}
    for table in text.split(r"\begin{longtable}")[1:]:
        name = re.search(r"\\label\{tab:[^}]*?-instances-([^}]*)\}", table)[1]
        body = table.partition(r"\endlastfoot")[2].partition(r"\end{longtable}")[0]
        for line in filter(None, body.strip().splitlines()):
            number, *cells = line.removesuffix(r"\\").split(" & ")
            found[name, int(number)] = cells
    return found


def test_every_row_of_2021_is_in_the_table_with_what_its_points_say(contest_2021):
    analysis = analyse(contest_2021, contest_2021.edition.rules)
    found = cells_of(long_tables(analysis))
    instances = analysis.judged.drop_duplicates(["benchmark", "index"])
    assert len(found) == len(instances) == 859
    ran = {b: set(rows["tool"]) for b, rows in analysis.judged.groupby("benchmark")}
    kinds = dict.fromkeys(("bold", "underlined", "crossed", "plain"), 0)
    for row in analysis.judged.itertuples():
        tools = [tool for tool in analysis.listed if tool in ran[row.benchmark]]
        truth, *cells = found[row.benchmark, row.index]
        cell = cells[tools.index(row.tool)]
        assert truth == {"unknown": "?"}.get(row.truth, row.truth)
        time = f"{row.corrected_s:.1f}"
        if row.points in (12, 11, 10, 1):
            form = {12: r"\textbf{%s}", 11: r"\underline{%s}"}.get(row.points, "%s") % time
            assert cell == form
            kinds[{12: "bold", 11: "underlined"}.get(row.points, "plain")] += 1
        elif row.points == -100:
            assert cell == r"\vnnwrong{}"
            kinds["crossed"] += 1
        else:
            assert cell in MARKS.values()
    assert kinds["crossed"] == 58  # Table 10 of the report: 26 + 14 + 12 + 5 + 1
    fastest = analysis.scores["fastest"].sum()
    assert (kinds["bold"], min(kinds.values())) == (fastest, kinds["crossed"])


def test_without_a_bonus_the_smallest_times_are_marked_and_the_caption_says_so(invented):
    rules = invented.edition.rules.with_settings({"fastest_bonus": 0, "second_bonus": 0})
    marks = instance_marks(analyse(invented, rules).shown, invented.edition, rules)
    solved = marks[marks["mark"].isin(["fastest", "second", "correct"])]
    assert len(solved)
    for _, rows in solved.groupby(["benchmark", "index"]):
        times = sorted(set(rows["corrected_s"]))
        for row in rows.itertuples():
            place = times.index(row.corrected_s)
            assert row.mark == ["fastest", "second", "correct"][min(place, 2)]


def test_a_tool_outside_the_competition_moves_no_mark(tidy):
    rows = "a,b,i,unsat,5\nc,b,i,unsat,7\na,b,j,unsat,5\na,b,j2,sat,2\nc,b,j2,unsat,9\n"
    contest = tidy("tool,benchmark,instance,result,time_s\n" + rows)
    extra = tidy("tool,benchmark,instance,result,time_s\nmine,b,i,unsat,6\n", "mine.csv")
    settings = {"fastest_bonus": 0, "second_bonus": 0, "overhead": "none", "conflicts": "all-unsat"}
    marks = {}
    for given in ([], [extra]):
        read = load_contest(str(contest), extra=given)
        rules = read.edition.rules.with_settings(settings)
        table = instance_marks(analyse(read, rules).shown, read.edition, rules)
        keys = zip(table["tool"], table["instance"], strict=True)
        marks[len(given)] = dict(zip(keys, table["mark"], strict=True))
    assert marks[1].pop(("mine", "i")) == "second"
    assert marks[1] == marks[0]
    assert (marks[0]["a", "i"], marks[0]["c", "i"]) == ("fastest", "second")
    assert marks[0]["a", "j2"] == marks[0]["c", "j2"] == "fastest"  # of those with their answer


@pytest.mark.parametrize(
    ("settings", "told", "untold"),
    [
        ({}, "Seconds of correct answers after overhead, at least 1; bold: fastest", "count as"),
        (
            {},
            "(bonus 2), underlined: second (bonus 1); for the bonus, times less than 0.2 s",
            "-1 ",
        ),
        ({}, "no mark on a sat that randgen found too, which earns no bonus", "no bonus)"),
        ({"overhead": "none"}, "Seconds of correct answers, at least 1;", "overhead"),
        ({"time_floor_s": 0}, "after overhead; bold", "at least"),
        ({"time_floor_s": 0}, "those below 1 s count as 1 s", "at least"),
        ({"second_bonus": 0}, "(bonus 2); for the bonus", "underlined"),
        ({"fastest_bonus": 0, "second_bonus": 0}, "(there is no bonus)", "randgen"),
        ({"incorrect_points": -150}, "crossed: incorrect (-150 points)", "-100"),
    ],
)
def test_the_caption_is_true_to_the_rules(contest_2021, settings, told, untold):
    edition = contest_2021.edition
    text = marks_in_words(edition.rules.with_settings(settings), edition)
    assert told in text
    assert untold not in text


def test_2022_shows_times_without_the_floor_of_the_bonus():
    """Its bonus is of times of at least 1 s, which the caption says: those below are equal."""
    edition = contest_of_year("2022").edition
    assert "those below 1 s count as 1 s" in marks_in_words(edition.rules, edition)
    analysis = analyse(contest_of_year("2022"), edition.rules, benchmarks=["acasxu"])
    marks = instance_marks(analysis.shown, edition, analysis.rules)
    bold = marks[(marks["mark"] == "fastest") & (marks["index"] == 10)]
    assert bold["corrected_s"].max() > bold["corrected_s"].min() + analysis.rules.tie_s


def test_with_many_tools_there_are_several_tables(tidy):
    tools = [f"tool_{i:02}" for i in range(TOOLS_PER_TABLE + 2)]
    rows = "".join(f"{t},b,i,unsat,{n + 1}\n" for n, t in enumerate(tools))
    contest = load_contest(str(tidy("tool,benchmark,instance,result,time_s\n" + rows)))
    text = long_tables(analyse(contest, contest.edition.rules))
    found = cells_of(text)
    assert [len(cells) - 1 for cells in found.values()] == [TOOLS_PER_TABLE, 2]
    assert [name for name, _ in found] == ["b", "b-2"]
    assert "part 1 of 2" in text
    assert "part 2 of 2" in text


@pytest.mark.parametrize("excluded", [True, False])
def test_a_row_that_is_left_out_says_so(contest_2021, excluded):
    analysis = analyse(contest_2021, contest_2021.edition.rules, benchmarks=["mnistfc"])
    marks = instance_marks(analysis.shown, analysis.edition, analysis.rules)
    rpm = marks["tool"] == "RPM"
    left_out = marks["mark"] == "left out"
    assert left_out[rpm if excluded else ~rpm].all() == excluded
    assert left_out[rpm].any()
