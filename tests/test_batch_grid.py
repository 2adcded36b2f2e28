"""Grid files: what they ask for, and where they say what is wrong."""

import itertools

import pytest
from conftest import INVENTED

from vnnanalysis.batch_grid import read_grid
from vnnanalysis.cli_batch import EXAMPLE
from vnnanalysis.errors import SchemaError, UsageError
from vnnanalysis.paths import root
from vnnanalysis.toml_file import line_of

SMALL = 'out = "o"\neditions = ["example"]\n'
INVENTED_GRID = f'out = "o"\neditions = ["{INVENTED}"]\n'


@pytest.fixture
def grid(tmp_path):
    """Read a grid from its text."""

    def read(text):
        path = tmp_path / "grid.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_grid(path)

    return read


def test_the_grid_is_the_product_in_the_order_of_the_file(grid, tmp_path):
    results = tmp_path / "raw"
    results.mkdir()
    read = grid(
        'out = "made"\neditions = ["2025", "example", "2021"]\noverhead = ["none", "single"]\n'
        'conflicts = ["voting", "odd_one_out"]\ntracks = ["all", "scored"]\n'
        'notebooks = ["06_report", "03_scores"]\n[results]\n2021 = "raw"\n2025 = "raw"\n'
    )
    values = (
        ("2025", "example", "2021"), ("none", "single"), ("voting", "odd-one-out"),
        ("all", "scored"), ("06_report", "03_scores"),
    )  # fmt: skip
    assert [(*run.variant, run.notebook.stem) for run in read.runs] == [*itertools.product(*values)]
    assert read.out == tmp_path / "made"
    folders = [run.folder.as_posix() for run in read.runs]
    assert folders[:2] == ["2025/none-voting-all/06_report", "2025/none-voting-all/03_scores"]
    assert len(set(folders)) == len(folders) == 48
    assert read.runs[-1].parameters == {
        "edition": "2021", "results": str(results), "overhead": "single",
        "conflicts": "odd-one-out", "track": "scored",
    }  # fmt: skip
    assert "results" not in next(r for r in read.runs if r.edition == "example").parameters


@pytest.mark.parametrize(
    ("rules", "own"), [("", ("multi", "odd-one-out")), ("2026", ("none", "per-tool"))]
)
def test_what_is_left_out_is_the_editions_own(grid, rules, own):
    more = f"[parameters]\nrules = {rules}\n" if rules else ""
    read = grid(INVENTED_GRID + 'notebooks = ["03_scores"]\n' + more)
    [run] = read.runs
    assert run.variant == ("invented", *own, "all")


def test_all_notebooks_but_that_of_several_editions(grid):
    names = [path.stem for path in grid(SMALL).notebooks]
    assert len(names) == 7
    assert names == sorted(names)
    assert "07_editions" not in names


def test_a_parameter_is_for_the_notebooks_that_have_it(grid):
    read = grid(SMALL + 'notebooks = ["03_scores", "08_certainty"]\n'
                "[parameters]\nseed = 7\ntools = \"mine\"\n")  # fmt: skip
    assert read.parameters == {
        "03_scores": {"tools": "mine"}, "08_certainty": {"seed": 7, "tools": "mine"},
    }  # fmt: skip


def test_paths_are_relative_to_the_grid(grid, tmp_path, monkeypatch):
    (tmp_path / "mine.csv").write_text("tool,benchmark,instance,result,time_s\na,b,i,sat,1\n")
    (tmp_path / "2021.csv").write_text("tool,benchmark,instance,result,time_s\na,b,i,sat,1\n")
    monkeypatch.chdir("/")
    read = grid(
        'out = "../made"\neditions = ["mine.csv", "2021.csv"]\nnotebooks = ["01_runs"]\n'
        '[parameters]\nextra = ["a.csv"]\nchecks = "b.csv, /c.csv"\nbenchmarks_dir = "files"\n'
    )
    assert read.out == tmp_path.parent / "made"
    assert read.editions == {
        "mine": str(tmp_path / "mine.csv"), "2021-csv": str(tmp_path / "2021.csv"),
    }  # fmt: skip
    assert read.parameters["01_runs"] == {
        "extra": [str(tmp_path / "a.csv")],
        "checks": [str(tmp_path / "b.csv"), "/c.csv"],
        "benchmarks_dir": str(tmp_path / "files"),
    }


WRONG = {
    "syntax": ("out = \n", r"grid.toml: Invalid value \(at line 1, column 7\)"),
    "not UTF-8": (b'out = "o"\n# \xff\n', "grid.toml, line 2: expected text in UTF-8"),
    "twice": ('out = "o"\nout = "p"\n', "at line 2, column"),
    "no out": ('editions = ["2021"]\n', "grid.toml: expected a key 'out'"),
    "no editions": ('out = "o"\n', "grid.toml: expected a key 'editions'"),
    "key": (
        SMALL + 'overheads = ["single"]\n',
        "line 3: unknown key 'overheads': nearest is 'overhead'",
    ),
    "out": ('editions = ["example"]\nout = 1\n', "line 2: out: expected a folder, found 1"),
    "empty out": (
        'out = " "\neditions = ["example"]\n',
        "line 1: out: expected a folder, found ' '",
    ),
    "no list": (
        SMALL + 'tracks = "all"\n',
        r"line 3: tracks: expected a list of texts.*found 'all'",
    ),
    "empty list": (SMALL + "conflicts = []\n", r"line 3: conflicts: expected a list.*found \[\]"),
    "number": (
        'out = "o"\neditions = [\n"example",\n2021,\n]\n',
        "line 4: editions: expected a text in quotes, found 2021",
    ),
    "duplicate": (
        'out = "o"\neditions = [\n"example",\n"2021",\n"example"]\n',
        "line 5: editions: 'example' stands there twice",
    ),
    "other spelling": (
        SMALL + 'conflicts = ["odd-one-out",\n"Odd_One_Out"]\n',
        "line 4: conflicts: 'odd-one-out' stands there twice",
    ),
    "edition": (
        'out = "o"\neditions = ["2021",\n"exmaple"]\n',
        "line 3: unknown edition 'exmaple': nearest is 'example'",
    ),
    "file": ('out = "o"\neditions = ["mine.csv"]\n', "line 2: no such file: .*mine.csv"),
    "overhead": (
        SMALL + 'overhead = ["single", "mutli"]\n',
        "line 3: unknown value for overhead 'mutli': nearest is 'multi'",
    ),
    "conflicts": (
        SMALL + 'conflicts = ["vote"]\n',
        "line 3: unknown value for conflicts 'vote': nearest is 'voting'",
    ),
    "track": (
        INVENTED_GRID + 'tracks = ["all",\n"mian"]\n',
        "line 4: unknown track of invented 'mian': nearest is 'main'",
    ),
    "notebook": (
        SMALL + 'notebooks = ["3_scores"]\n',
        "line 3: unknown notebook '3_scores': nearest is '03_scores'",
    ),
    "several": (
        SMALL + 'notebooks = ["07_editions"]\n',
        "line 3: 07_editions is about several editions, and cannot be in a grid",
    ),
    "results": (SMALL + "results = 1\n", "line 3: results: expected a table, found 1"),
    "results of nothing": (
        SMALL + '[results]\n2O21 = "raw"\n',
        r"line 4: unknown edition in \[results\] '2O21': nearest is 'example'",
    ),
    "results of a csv": (
        INVENTED_GRID + f'[results]\n"{INVENTED}" = "."\n',
        r"line 4: \[results\]: .*invented\.csv has no folder",
    ),
    "no folder": (
        'out = "o"\neditions = ["2021"]\n[results]\n2021 = "gone"\n',
        "line 4: results of 2021: no such folder: .*gone",
    ),
    "no path": (
        'out = "o"\neditions = ["2021"]\n[results]\n2021 = 3\n',
        "line 4: results of 2021: no such folder: 3",
    ),
    "not fetched": (
        'out = "o"\neditions = ["example",\n"2021"]\n',
        r"line 3: no results of 2021 in .*; fetch .* fetch 2021', or .* under \[results\]",
    ),
    "parameter": (
        SMALL + "[parameters]\nlenient = true\ntool = []\n",
        "line 5: unknown notebook parameter 'tool': nearest is 'tools'",
    ),
    "reserved": (
        SMALL + '[parameters]\ntrack = "all"\n',
        r"line 4: track: not among \[parameters\], but tracks",
    ),
    "reserved setting": (
        SMALL + '[parameters.settings]\noverhead = "none"\n',
        "line 4: overhead: not among settings, but a key of the grid",
    ),
    "settings": (
        SMALL + "[parameters]\nsettings = 3\n",
        "line 4: settings: expected a table, found 3",
    ),
    "lenient": (
        SMALL + '[parameters]\nlenient = "yes"\n',
        "line 4: lenient: expected true or false, found 'yes'",
    ),
    "rules": (
        SMALL + "[parameters]\nrules = 2027\n",
        "line 4: unknown edition for --rules '2027': nearest is '20",
    ),
    "date": (
        SMALL + "[parameters]\ntools = 2021-07-18\n",
        "line 4: tools: no notebook takes datetime.date",
    ),
    "nan": (
        SMALL + "[parameters]\nsettings = { tie_s = nan }\n",
        "line 4: settings: no notebook takes .*nan",
    ),
    "names": (
        SMALL + "[parameters]\nextra = [1]\n",
        r"line 4: parameter extra: expected a list of names, found \[1\]",
    ),
}


@pytest.mark.parametrize("clause", WRONG)
def test_what_is_wrong_is_told_with_its_line(grid, clause, monkeypatch, tmp_path):
    if clause == "not fetched":
        monkeypatch.setattr("vnnanalysis.files.raw_folder", lambda: tmp_path)
    text, message = WRONG[clause]
    with pytest.raises(SchemaError, match=message):
        grid(text)


def test_two_editions_of_one_name(grid, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.csv").write_text("tool,benchmark,instance,result,time_s\n")
    with pytest.raises(SchemaError, match="line 2: editions: two of them have the same name"):
        grid('out = "o"\neditions = ["a/x.csv", "b/x.csv"]\n')


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match=r"none\.toml: No such file"):
        read_grid(tmp_path / "none.toml")


def test_a_byte_order_mark_and_windows_line_ends(grid):
    read = grid(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert list(read.editions) == ["example"]


def test_the_example_of_the_help(grid):
    read = grid(EXAMPLE)
    assert [run.variant[1:] for run in read.runs] == [
        ("single", "per-tool", "all"), ("single", "ignore", "all"),
        ("none", "per-tool", "all"), ("none", "ignore", "all"),
    ]  # fmt: skip
    assert read.runs[0].parameters["settings"] == {"incorrect_points": -100}


def test_lines_of_keys_and_values():
    """Against the lines of a text that was put together from known ones."""
    lines = [
        'a = "x"',
        "b = [",
        '  "x", # "y"',
        "",
        '  "y",',
        "]",
        "[t]",
        "c = 1",
        "[t.u]",
        "d = [1]",
    ]
    text = "\n".join(lines)
    places = {("a",): 1, ("t",): 7, ("t", "c"): 8, ("t", "u", "d"): 10, ("z",): 0}
    assert {keys: line_of(text, *keys) for keys in places} == places
    assert line_of(text, "b", value="x") == 3
    assert line_of(text, "b", value="y") == 5
    assert line_of(text, "b", value="z") == 0
    assert line_of('b = ["x",\n"y",\n"x"]', "b", value="x", nth=2) == 3


def test_the_readme_shows_this_grid():
    assert f"```toml\n{EXAMPLE}```" in (root() / "README.md").read_text()
