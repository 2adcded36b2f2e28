import dataclasses

import pytest

from vnnanalysis.editions import ScoringRules, list_editions, read_edition
from vnnanalysis.errors import SchemaError, UsageError
from vnnanalysis.terms import Conflicts, Overhead

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
        assert len(edition.commit) == 40
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
