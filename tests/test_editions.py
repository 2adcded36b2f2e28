import dataclasses
import shutil
from pathlib import Path

import pandas as pd
import pytest
from conftest import raw_row, real_path

from vnnanalysis.editions import (
    About,
    TitleBlock,
    list_editions,
    read_edition,
    read_rules,
    tool_slots,
)
from vnnanalysis.errors import SchemaError, UsageError
from vnnanalysis.judging import judge
from vnnanalysis.load import load_contest
from vnnanalysis.rules import ScoringRules, words
from vnnanalysis.terms import (
    Bounds,
    Conflicts,
    Duplicates,
    Outputs,
    Overhead,
    Tolerance,
    Unchecked,
)

TOML = """
title = "T"
[layout]
files = "{tool}.csv"
[rules]
overhead = "single"
[tracks.main]
benchmarks = ["acas", "cifar"]
unscored = ["cifar"]
[[skips]]
tool = "a"
benchmark = "acas"
reason = "r"
[overhead_modes.a]
CPU = ["acas"]
[tools]
a = { display = "A" }
b = {}
"""


def test_every_edition_is_sound():
    assert "2021" in list_editions()
    for name in list_editions():
        edition = read_edition(name)
        assert edition.title
        assert len(edition.results.commit) == 40
        assert edition.rules.with_settings({}) == edition.rules
        assert edition.variant_grid()
        assert len(set(edition.benchmarks)) == len(edition.benchmarks)


def test_2021_rules_are_the_defaults():
    assert read_edition("2021").rules == ScoringRules()
    assert len(read_edition("2021").tools) == 13
    assert len(read_edition("2021").scored) == 8


def test_rules_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ScoringRules().tie_s = 1


def test_settings_come_as_text():
    rules = ScoringRules().with_settings(
        {"overhead": "Single", "conflicts": "odd_one_out", "tie_s": "0.5", "floor_percent": "false",
         "incorrect_points": "-150", "easy_sat_tool": ""}
    )  # fmt: skip
    assert rules.overhead is Overhead.SINGLE
    assert rules.conflicts is Conflicts.ODD_ONE_OUT
    assert (rules.tie_s, rules.floor_percent, rules.incorrect_points) == (0.5, False, -150)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("overheads", "single", "unknown rule setting 'overheads': nearest is 'overhead'"),
        ("overhead", "multiple", "unknown value for overhead 'multiple': nearest is 'multi'"),
        ("tie_s", "short", "tie_s: expected float, found 'short'"),
        ("correct_points", "1.5", "correct_points: expected int, found '1.5'"),
        ("floor_percent", "maybe", "unknown value for floor_percent 'maybe'"),
    ],
)
def test_wrong_settings(name, value, expected):
    with pytest.raises(UsageError, match=expected):
        ScoringRules().with_settings({name: value})


def test_an_edition_file(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text(TOML)
    edition = read_edition(str(path))
    assert (edition.id, edition.title, edition.name("a"), edition.name("b")) == ("t", "T", "A", "b")
    assert edition.scored == ("acas",)
    assert edition.track_of("cifar") == "main"
    assert edition.rules.overhead is Overhead.SINGLE


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [  # S7: misspelt names are errors with the nearest known one
        ('unscored = ["cifar"]', 'unscored = ["cifr"]', "'cifr': nearest is 'cifar'"),
        ('tool = "a"', 'tool = "aa"', "unknown tool 'aa': nearest is 'a'"),
        ('benchmark = "acas"', 'benchmark = "acs"', "'acs': nearest is 'acas'"),
        ('CPU = ["acas"]', 'CPU = ["acass"]', "'acass': nearest is 'acas'"),
        ("[overhead_modes.a]", "[overhead_modes.c]", "unknown tool 'c'"),
        ("[overhead_modes.a]", "[overhead_mode.a]", "nearest is 'overhead_modes'"),
        (
            "[overhead_modes.a]",
            "[participants]\nacs = ['a']\n[overhead_modes.a]",
            "'acs': nearest is 'acas'",
        ),
        (
            "[overhead_modes.a]",
            "[participants]\nacas = ['aa']\n[overhead_modes.a]",
            "unknown tool 'aa': nearest is 'a'",
        ),
        (
            "[overhead_modes.a]",
            "[participants]\nacas = [1]\n[overhead_modes.a]",
            r"participants of acas: expected names, found \[1\]",
        ),
        (
            "[overhead_modes.a]",
            "[participants]\nacas = []\n[overhead_modes.a]",
            r"participants of acas: expected names, found \[\]",
        ),
        (
            "[overhead_modes.a]",
            "[participants]\nacas = ['a', 'a']\n[overhead_modes.a]",
            "a tool stands there twice",
        ),
        ("unscored =", "unscore =", "'unscore': nearest is 'unscored'"),
        ("display =", "displays =", "'displays': nearest is 'display'"),
        ("overhead =", "overheads =", "'overheads': nearest is 'overhead'"),
        ('"single"', '"sngle"', "'sngle': nearest is 'single'"),
        ('["acas", "cifar"]', '["acas", "cifar", "acas"]', "more than one track: acas"),
        ('reason = "r"', "", "reason"),
        ('title = "T"', "", "title"),
        ('title = "T"', "title = T", "line 2"),
    ],
)
def test_a_wrong_edition_file_is_refused(tmp_path, old, new, expected):
    assert old in TOML
    path = tmp_path / "t.toml"
    path.write_text(TOML.replace(old, new, 1))
    with pytest.raises(SchemaError, match=expected) as caught:
        read_edition(str(path))
    assert "t.toml" in str(caught.value)


def test_a_benchmark_is_in_one_track(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text(TOML + '[tracks.more]\nbenchmarks = ["acas"]\n')
    with pytest.raises(SchemaError, match="more than one track: acas"):
        read_edition(str(path))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[layout]", "[layout]\nkind = 'problem'", "'problem': nearest is 'problems'"),
        ("[layout]", "[layout]\nlabels = { crashed = 'eror' }", "'eror' is not a valid Result"),
        ("[rules]", "[variants]\nconflicts = ['votng']\n[rules]", "'votng': nearest is 'voting'"),
        ("[rules]", "[variants]\nconflict = ['voting']\n[rules]", "nearest is 'conflicts'"),
        ("[rules]", "[verdicts]\ntolerance = 'tiny'\n[rules]", "'tiny' is not a valid Tolerance"),
        ("[rules]", "[benchmarks]\nacass = 'ACAS'\n[rules]", "'acass': nearest is 'acas'"),
        ("[rules]", "[benchmarks.acas]\nabout = 'x'\n[rules]", "'about'.*known: display"),
        ("[rules]", "[benchmarks.acas]\naplication = 'x'\n[rules]", "nearest is 'application'"),
        ("[rules]", "[benchmarks.acass]\napplication = 'x'\n[rules]", "'acass': nearest is 'acas'"),
        (
            "[rules]",
            "[benchmarks]\nacas = { network_types = 1 }\n[rules]",
            "expected a text, found 1",
        ),
        ("[rules]", "[benchmarks]\nacas = 1\n[rules]", "expected keys and values, found 1"),
        (
            'title = "T"',
            'title = "T"\nbenchmarks = 1',
            "expected names with texts or tables, found 1",
        ),
        ("[rules]", "[report]\nautors = ['A']\n[rules]", "'autors': nearest is 'authors'"),
        ("[rules]", "[report]\nauthors = 'A'\n[rules]", "authors.*expected a list of texts"),
        ("[rules]", "[report]\nauthors = [1]\n[rules]", "authors.*expected a list of texts"),
        ("[rules]", "[report]\ndate = 2021-07-18\n[rules]", "date.*expected a text"),
        ('title = "T"', 'title = "T"\nreport = "R"', "expected keys and values, found 'R'"),
        ("tracks.main", "tracks.all", "a track may not be called 'all'"),
        ("[tools]", "[statistics]\nsolvd = 'Solved'\n[tools]", "'solvd': nearest is 'solved'"),
        ('"{tool}.csv"', '"{tool}.csv"\nbenchmark_id = "{yeer}"', "'yeer': nearest is 'year'"),
        ('"{tool}.csv"', '"{tool}.csv"\nbenchmark_id = 5', "expected a text, found 5"),
        ('"{tool}.csv"', "[1]", r"expected a list of texts, found \[1\]"),
        (
            '"{tool}.csv"',
            '"{tool}.csv"\nstart_up_only = "acas"',
            "start_up_only in .layout.: expec",
        ),
        ('"{tool}.csv"', '"{tool}.csv"\ntimeout_s = "9"', "expected seconds, found '9'"),
        ('"{tool}.csv"', '"{tool}.csv"\nkind = "problems"', "expected a key 'unlisted'"),
        ('["acas", "cifar"]', '"acas"', "benchmarks in .tracks.: expected a list"),
        ("unscored = [", 'scored = "false"\nunscored = [', "scored: expected true or false"),
        ("[rules]", "[verdicts]\ntolerance = 'any'\norigin = 'publishd'\n[rules]", "'published'"),
        ("[rules]", "[rules]\ncorrect_points = 10.9", "correct_points: expected int, found 10.9"),
        ("[rules]", "[rules]\nincorrect_points = true", "expected int, found True"),
        ("[layout]", "[source]\ncommit = 'abc1234'\n[layout]", "all 40 digits of it, found 'abc"),
        ("display =", "file = 'b', display =", "two tools with the same file: b, b"),
        ('tool = "a"\nbenchmark = "acas"\n', "", "a skip without tool, benchmark or network"),
        ('a = { display = "A" }', "a = 5", "expected keys and values, found 5"),
        ('title = "T"', 'title = "T"\nremarks = "r"', "remarks: expected a list of texts"),
        ('CPU = ["acas"]', 'CPU = "acas"', "expected names with lists"),
        ("[rules]", "[variants]\nconflicts = 'voting'\n[rules]", "expected names with lists"),
        ('"{tool}.csv"', '""', "expected a path with one {tool}, found ''"),
        ('"{tool}.csv"', '"{tool}{tool}"', "expected a path with one {tool}"),
        ('"{tool}.csv"', '"{tool}.csv"\nbenchmark_id = "{}"', "unknown field of benchmark_id ''"),
        ('"{tool}.csv"', '"{tool}.csv"\nbenchmark_id = "{year:d}"', "alone"),
        ('"{tool}.csv"', '"{tool}.csv"\nnetworks = 1', "networks.: expected names with texts"),
    ],
)
def test_a_wrong_section_of_later_years_is_refused(tmp_path, old, new, expected):
    path = tmp_path / "t.toml"
    path.write_text(TOML.replace(old, new, 1))
    with pytest.raises(SchemaError, match=expected):
        read_edition(str(path))


def test_what_is_said_of_benchmarks(tmp_path):
    path = tmp_path / "t.toml"
    said = """
[benchmarks]
cifar = "CIFAR-10"
[benchmarks.acas]
display = "ACAS Xu"
application = "Control"
network_types = "Feedforward"
largest_file = "54.6 KiB"
"""
    path.write_text(TOML + said)
    edition = read_edition(str(path))
    assert edition.about["acas"] == About("Control", "Feedforward", "54.6 KiB")
    assert edition.about["cifar"] == About()
    assert (edition.benchmark_name("acas"), edition.benchmark_name("cifar")) == (
        "ACAS Xu",
        "CIFAR-10",
    )


def test_a_title_block(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text(TOML)
    plain = read_edition(str(path))
    assert plain.report == TitleBlock()
    path.write_text(TOML + '[report]\ntitle = "R"\nauthors = ["A B", "C"]\nevent = "at X"\n')
    edition = read_edition(str(path))
    assert edition.report == TitleBlock("R", ("A B", "C"), "at X", "", "")
    assert edition.title == "T"
    assert edition == read_edition(str(path))
    assert edition != plain


def test_2021_says_what_its_benchmarks_are_about():
    """Table 2 of the report, as the text of it at hand prints it."""
    lines = real_path("seeds", "000_d99edb756851bec4.txt").read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("Benchmark\tApplication"))
    printed = [line.split("\t") for line in lines[first + 1 : first + 10]]
    edition = read_edition("2021")
    names = {name.casefold().partition(" ")[0]: rest for name, *rest in printed}
    assert set(names) == set(edition.about) == set(edition.benchmarks)
    for name, about in edition.about.items():
        application, types, largest = names[name]
        assert about.application.casefold() == application.casefold()
        assert about.network_types.casefold() == types.casefold()
        assert about.largest_file.replace(" ", "")[:-2] == largest.rstrip("*").replace("k", "K")
    assert edition.report.title == lines[0]


def test_an_unscored_track(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text(TOML + '[tracks.rest]\nbenchmarks = ["x", "y"]\nscored = false\n')
    edition = read_edition(str(path))
    assert edition.scored == ("acas",)
    assert edition.track_names == ("main", "rest", "scored", "unscored", "all")
    assert edition.in_track("rest") == ("x", "y")
    assert edition.in_track("scored") == ("acas",)
    assert edition.in_track("unscored") == ("cifar", "x", "y")
    assert edition.in_track("all") == ("acas", "cifar", "x", "y")
    with pytest.raises(UsageError, match="unknown track 'rst': nearest is 'rest'"):
        edition.in_track("rst")


@pytest.mark.parametrize("year", ["2022", "2023", "2024", "2025"])
def test_ids_and_tracks_are_those_of_the_published_tables(year):
    edition = read_edition(year)
    printed = pd.read_csv(real_path("published", year, "benchmarks.csv"))
    for track, rows in printed.groupby("track"):
        assert set(edition.in_track(str(track))) == set(rows["benchmark"])
    assert set(printed["tool"]) <= set(edition.tools)


def test_commits_are_those_of_the_files_at_hand():
    known = dict(line.split() for line in real_path("COMMITS.txt").read_text().splitlines())
    for name in list_editions():
        edition = read_edition(name)
        for source in (edition.results, edition.benchmark_files):
            assert source.commit == known.get(source.repository, "")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("2023", {}),
        ("2023-per-tool", {"conflicts": "per-tool"}),
        ("2025-zero", {"tolerance": "zero"}),
        ("2021-single-odd-one-out", {"overhead": "single", "conflicts": "odd-one-out"}),
    ],
)
def test_a_rule_set_by_name(name, settings):
    assert read_rules(name) == read_edition(name[:4]).rules.with_settings(settings)


@pytest.mark.parametrize("name", ["2012", "2023-per", "2023-per-tools", "2021-1.0", "", "example",
                                  "2023-voting-per-tool"])  # fmt: skip
def test_a_wrong_rule_set(name):
    with pytest.raises(UsageError, match=r"unknown|expected one value"):
        read_rules(name)


KINDS = (Bounds, Conflicts, Duplicates, Outputs, Overhead, Tolerance, Unchecked)


def test_every_word_names_one_switch():
    """``single``, ``voting``, ...: a value that two switches have could not be told apart."""
    values = [str(v) for kind in KINDS for v in kind]
    assert len(set(values)) == len(values) == len(words())


def test_a_tool_has_the_same_colour_in_all_editions():
    slots = {}
    for name in list_editions():
        edition = read_edition(name)
        own = tool_slots(edition)
        assert len(set(own.values())) == len(own)
        assert max(own.values(), default=0) < 16  # as many colours there are
        for tool, slot in own.items():
            assert slots.setdefault(edition.family(tool), slot) == slot
    recurring = ["alpha_beta_crown", "nnenum", "marabou", "nnv", "neuralsat", "pyrat", "cora"]
    assert len({slots[f] for f in recurring}) == len(recurring)


def test_variants_may_be_written_as_toml_values(tmp_path):
    path = tmp_path / "t.toml"
    values = "[variants]\nenforce_timeouts = [true, false]\ntie_s = [0.2, 1]\n[rules]"
    path.write_text(TOML.replace("[rules]", values))
    edition = read_edition(str(path))
    assert edition.variants == {"enforce_timeouts": ("true", "false"), "tie_s": ("0.2", "1")}
    assert edition.rules.with_settings(edition.variant_grid()[3]).tie_s == 1.0


PARTICIPANTS = (
    "tool,benchmark,instance,result,time_s\na,x,i,unsat,4\nb,x,i,timeout,9\na,y,j,sat,1\n"
)


def test_participants_take_part_without_an_answer(tidy):
    path = tidy(PARTICIPANTS)
    path.with_suffix(".toml").write_text('title = "T"\n[participants]\nx = ["a", "b"]\n')
    contest = load_contest(str(path))
    judged = judge(contest.runs, contest.edition, contest.edition.rules)
    took_part = judged[judged["takes_part"]]
    pairs = set(took_part[["tool", "benchmark"]].itertuples(index=False, name=None))
    assert pairs == {("a", "x"), ("b", "x"), ("a", "y")}


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ('y = ["aa"]', "unknown participant of y 'aa': nearest is 'a'"),
        ('yy = ["a"]', "unknown benchmark in .participants. 'yy': nearest is 'y'"),
    ],
)
def test_participants_nobody_knows_are_an_error(tidy, section, expected):
    path = tidy(PARTICIPANTS)
    path.with_suffix(".toml").write_text(f'title = "T"\n[participants]\n{section}\n')
    with pytest.raises(SchemaError, match=expected):
        load_contest(str(path))


def test_participants_without_rows_are_told(tidy):
    path = tidy(PARTICIPANTS)
    path.with_suffix(".toml").write_text('title = "T"\n[participants]\ny = ["a", "b"]\n')
    problems = load_contest(str(path)).problems
    told = problems[["value", "problem"]].to_numpy().tolist()
    assert told == [["b", "a participant of y without a row there"]]


def test_an_edition_may_come_with_its_results(raw_edition):
    """Folders beside the edition's file are read without being named; a named one goes first."""
    own = '[source]\nfolder = "results"\n[benchmark_source]\nfolder = "limits"\n'
    row = raw_row("acas", "onnx/n.onnx", "vnnlib/p.vnnlib", "sat")
    path, folder = raw_edition({"a": row}, more=own)
    limits = Path(path).parent / "limits" / "benchmarks" / "acas" / "instances.csv"
    limits.parent.mkdir(parents=True)
    limits.write_text("onnx/n.onnx,vnnlib/p.vnnlib,17\n")
    assert load_contest(path).runs[["result", "timeout_s"]].to_numpy().tolist() == [["sat", 17.0]]
    other = shutil.copytree(folder, folder.with_name("other"))
    (other / "a.csv").write_text((other / "a.csv").read_text().replace("sat", "unsat"))
    assert load_contest(path, other).runs["result"].tolist() == ["unsat"]
    again = shutil.copytree(limits.parents[2], folder.with_name("again"))
    (again / limits.relative_to(limits.parents[2])).write_text("onnx/n.onnx,vnnlib/p.vnnlib,18\n")
    assert load_contest(path, benchmarks=again).runs["timeout_s"].tolist() == [18.0]
    shutil.move(limits.parents[2], folder.with_name("elsewhere"))
    with pytest.raises(
        UsageError, match=r"no benchmark files of Small: expected them in .*/limits$"
    ):
        load_contest(path)
    shutil.rmtree(folder)
    with pytest.raises(UsageError, match=r"no results of Small: expected them in .*/results$"):
        load_contest(path)
    Path(path).write_text(Path(path).read_text().replace('folder = "results"', "folder = 3"))
    with pytest.raises(SchemaError, match=r"folder in \[source\]: expected a text, found 3"):
        load_contest(path)
