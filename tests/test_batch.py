"""Grids of notebooks, with real kernels: what runs, what is left alone, what the page says."""

import base64
import fcntl
import hashlib
import html.parser
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pandas as pd
import pytest
from conftest import INVENTED, raw_of

from vnnanalysis import batch_grid
from vnnanalysis.analysis import analyse, open_analysis
from vnnanalysis.batch import OUTCOMES, prepare, run_batch
from vnnanalysis.batch_grid import read_grid
from vnnanalysis.comparison import comparison, comparison_page, scores_and_ranks
from vnnanalysis.errors import RawDataError, SchemaError, UsageError
from vnnanalysis.manifest import is_current

pytestmark = pytest.mark.slow
TWO_RULES = f'out = "made"\neditions = ["{INVENTED}"]\nconflicts = ["voting", "odd-one-out"]\n'
TINY = """
import json, os, time
from pathlib import Path
made, here = Path(out, "csv"), Path(edition).parent
made.mkdir(parents=True, exist_ok=True)
(made / "said.csv").write_text(f"{conflicts}\\n")
if (here / "bad").exists() and conflicts == "ignore": raise ValueError(f"cannot\\n write {out}")
while (here / "wait").exists() and conflicts == "ignore": time.sleep(0.05)
"""


def files(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def grid(tmp_path):
    """Read a grid from its text."""

    def read(text):
        (tmp_path / "grid.toml").write_text(text)
        return read_grid(tmp_path / "grid.toml")

    return read


def write_tiny(folder):
    """Write a notebook that needs little time, and a grid of two runs of it, on a copy of data."""
    names = ("edition", "overhead", "conflicts", "track", "out")
    cells = [
        nbformat.v4.new_code_cell("\n".join(f"{name} = None" for name in names)),
        nbformat.v4.new_code_cell(TINY),
    ]
    cells[0].metadata.tags = ["parameters"]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(made, folder / "tiny.ipynb")
    for suffix in (".csv", ".toml"):
        shutil.copy(Path(INVENTED).with_suffix(suffix), folder / f"own{suffix}")
    (folder / "grid.toml").write_text(
        'out = "made"\neditions = ["own.csv"]\nconflicts = ["voting", "ignore"]\n'
    )


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A grid of a notebook that needs little time; returns its folder."""
    write_tiny(tmp_path)
    monkeypatch.setattr(batch_grid, "edition_notebooks", lambda: [tmp_path / "tiny.ipynb"])
    return tmp_path


def outcomes(stdout):
    """Return conflicts and outcome of each row of the printed table."""
    words = r"(done|up to date|failed|not run)"
    rows = re.findall(rf"^\S+ +\S+ +(\S+) +\S+ +\S+ +{words} ", stdout, re.MULTILINE)
    return dict(rows)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The invented contest under two policies, run by the command line."""
    folder = tmp_path_factory.mktemp("grid")
    (folder / "grid.toml").write_text(TWO_RULES + 'notebooks = ["03_scores"]\n')
    command = [sys.executable, "-m", "vnnanalysis.cli", "batch", str(folder / "grid.toml")]
    run = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return folder / "made", run


def test_the_table_of_outcomes(made):
    folder, run = made
    assert run.stderr == ""
    lines = run.stdout.splitlines()
    assert lines[0] == "grid.toml: 2 done"
    assert lines[2].split() == [
        *("Edition", "Overhead", "Conflicts", "Track", "Notebook", "Outcome", "Seconds", "Problem")
    ]
    assert re.fullmatch(
        r"invented  multi     voting       all    03_scores  done +\d+\.\d", lines[3]
    )
    assert lines[-1] == str(folder / "comparison.html")
    assert (folder / OUTCOMES).read_text() == (
        "edition,overhead,conflicts,track,notebook,outcome,problem\n"
        "invented,multi,voting,all,03_scores,done,\n"
        "invented,multi,odd-one-out,all,03_scores,done,\n"
    )


def test_where_things_are(made):
    folder, _ = made
    assert {path.name for path in folder.iterdir()} == {
        *(".lock", "comparison.csv", "comparison.html", OUTCOMES, "invented")
    }
    run = folder / "invented" / "multi-voting-all" / "03_scores"
    assert {path.name for path in run.iterdir()} == {
        *("03_scores.ipynb", "csv", "figures", "tables", "manifest.json")
    }
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["parameters"]["out"] == str(run)
    assert manifest["rules"]["conflicts"] == "voting"
    assert manifest["notebook"] == "03_scores"
    assert {"csv/overall-main.csv", "03_scores.ipynb"} <= set(manifest["outputs"])
    assert not [p for p in folder.rglob("*") if p.is_file() and b".staging" in p.read_bytes()]


def test_every_score_is_that_of_the_runs(made):
    folder, _ = made
    compared = pd.read_csv(folder / "comparison.csv")
    assert list(compared) == ["edition", "track", "overhead", "conflicts", "rank", "tool", "score"]
    for conflicts, rows in compared.groupby("conflicts"):
        run = folder / "invented" / f"multi-{conflicts}-all" / "03_scores"
        own = rows[["rank", "tool", "score"]].reset_index(drop=True)
        csv = pd.read_csv(run / "csv" / "overall-main.csv")
        pd.testing.assert_frame_equal(own, csv, check_exact=True)
    assert len(compared) == 8


class _Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.cells, self.images = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.links += [given[k] for k in ("src", "href") if k in given]
        self.ids += [given["id"]] if "id" in given else []
        self.images += [given["alt"]] if tag == "img" else []
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data.strip()


def test_the_page_stands_alone_and_shows_the_scores(made):
    folder, _ = made
    text = (folder / "comparison.html").read_text()
    page = _Page(text)
    assert "<script" not in text
    assert len(set(page.ids)) == len(page.ids)
    assert page.images == ["Invented contest, track main: ranks under every rule variant"]
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids
        elif link.startswith("data:"):
            image = base64.b64decode(link.partition(",")[2])
            assert image.count(b"<svg") == 1
        else:
            assert (folder / unquote(link)).exists(), link
    assert "invented/multi-voting-all/03_scores/03_scores.ipynb" in page.links
    compared = pd.read_csv(folder / "comparison.csv")
    [best] = compared.loc[
        (compared["tool"] == "tool_best") & (compared["conflicts"] == "voting"), "score"
    ]
    row = page.cells[page.cells.index("tool_sound") :]
    shown = compared[compared["tool"] == "tool_sound"].set_index("conflicts")
    values = [
        f"{shown.loc[c, v]:{f}}"
        for c in ("voting", "odd-one-out")
        for v, f in (("rank", "d"), ("score", ".1f"))
    ]
    assert row[1:5] == values
    assert f"{best:.1f}" in page.cells


def test_what_is_up_to_date_is_left_alone(made, cli):
    folder, _ = made
    before = files(folder)
    run = cli("batch", folder.parent / "grid.toml")
    assert run.returncode == 0
    assert outcomes(run.stdout) == dict.fromkeys(("voting", "odd-one-out"), "up to date")
    assert files(folder) == before


def test_a_changed_input_or_rule_runs_again(tiny):
    """Seen in the manifest, without a kernel: nothing is made yet that could be up to date."""
    text = (tiny / "grid.toml").read_text()
    tasks, _ = prepare(read_grid(tiny / "grid.toml"))
    for task in tasks:
        task.target.mkdir(parents=True)
        (task.target / "manifest.json").write_text(json.dumps({**task.manifest, "outputs": {}}))

    def current():
        return [
            is_current(task.target, task.manifest)
            for task in prepare(read_grid(tiny / "grid.toml"))[0]
        ]

    assert current() == [True, True]
    csv, toml = tiny / "own.csv", tiny / "own.toml"
    for path in (csv, toml):
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        assert current() == [False, False], path
        path.write_bytes(content)
    for other, expected in (
        ('conflicts = ["ignore", "voting"]\n', [True, True]),
        ('conflicts = ["ignore", "odd-one-out"]\n', [True, False]),
        ('conflicts = ["ignore"]\noverhead = ["none"]\n', [False]),
        ('conflicts = ["ignore"]\noverhead = ["multi"]\n', [True]),
    ):
        (tiny / "grid.toml").write_text(re.sub("conflicts = .*\n", other, text))
        assert current() == expected, other


@pytest.mark.length
def test_damage_is_mended_and_a_failure_leaves_the_others(tiny, cli):
    made = tiny / "made"
    voting, ignore = (made / "own" / f"multi-{c}-all" / "tiny" for c in ("voting", "ignore"))
    assert cli("batch", tiny / "grid.toml").returncode == 0
    before = files(made)
    assert "earlier result" not in (made / "comparison.html").read_text()
    (tiny / "bad").touch()
    for folder in (voting, ignore):
        (folder / "csv" / "said.csv").write_text("damage")
    run = cli("batch", tiny / "grid.toml", "--jobs", "1")
    assert run.returncode == 1
    assert outcomes(run.stdout) == {"voting": "done", "ignore": "failed"}
    assert "grid.toml: 1 done, 1 failed" in run.stdout
    problem = f"cell 2 (import json, os, time): ValueError: cannot write {ignore}"
    assert run.stdout.splitlines()[4].endswith(problem)
    assert pd.read_csv(made / OUTCOMES)["problem"].tolist()[1] == problem
    page = (made / "comparison.html").read_text()
    assert problem in page
    assert "an earlier result" in page
    assert (ignore / "csv" / "said.csv").read_text() == "damage"
    changed = {name for name, digest in files(made).items() if before.get(name) != digest}
    assert changed == {OUTCOMES, "comparison.html", "own/multi-ignore-all/tiny/csv/said.csv"}
    assert set(files(made)) == set(before)


RUN = """
import sys
from pathlib import Path
from vnnanalysis import batch_grid, cli
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    batch_grid.edition_notebooks = lambda: [folder / "tiny.ipynb"]
    cli.main(["batch", str(folder / "grid.toml")])
"""


@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.length)]
)
def test_an_interrupted_batch_goes_on(tiny, cli, how):
    """As in a terminal, whose Ctrl-C goes to every process in it."""
    (tiny / "wait").touch()
    (tiny / "run.py").write_text(RUN)
    done = tiny / "made" / "own" / "multi-voting-all" / "tiny" / "manifest.json"
    run = subprocess.Popen(
        [sys.executable, "run.py", str(tiny)], cwd=tiny, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    end = time.monotonic() + 120
    while not (done.exists() and list(tiny.rglob(".staging-*/own/multi-ignore-all/tiny/csv/*"))):
        assert time.monotonic() < end
        time.sleep(0.05)
    if how == signal.SIGINT:
        os.killpg(run.pid, how)
    else:
        os.kill(run.pid, how)
    stdout, stderr = run.communicate(timeout=60)
    if how == signal.SIGINT:
        assert run.returncode == 130
        assert outcomes(stdout) == {"voting": "done", "ignore": "not run"}
        assert stderr.endswith("without --force, the same command goes on where this one stopped\n")
        assert list(tiny.rglob(".staging-*")) == []
        assert "1 not run" in (tiny / "made" / "comparison.html").read_text()
    else:
        assert list(tiny.rglob(".staging-*")) != []
    when = done.stat().st_mtime_ns
    (tiny / "wait").unlink()
    run = cli("batch", tiny / "grid.toml")
    assert run.returncode == 0
    assert outcomes(run.stdout) == {"voting": "up to date", "ignore": "done"}
    assert done.stat().st_mtime_ns == when
    assert list(tiny.rglob(".staging-*")) == []


def test_leftovers_are_cleaned_and_what_was_moved_comes_back(tiny):
    """A batch was killed between taking the earlier result away and putting the new one there."""
    grid = read_grid(tiny / "grid.toml")
    [task, *_] = prepare(grid)[0]
    moved = grid.out / ".staging-x" / task.run.folder.with_name("tiny-old")
    moved.mkdir(parents=True)
    (moved / "manifest.json").write_text(json.dumps({**task.manifest, "outputs": {}}))
    (grid.out / ".staging-y").touch()
    (tiny / "grid.toml").write_text((tiny / "grid.toml").read_text().replace(', "ignore"', ""))
    batch = run_batch(read_grid(tiny / "grid.toml"))
    assert list(batch.outcomes["outcome"]) == ["up to date"]
    assert list(grid.out.glob(".staging-*")) == []


def test_two_batches_at_once(tiny):
    grid = read_grid(tiny / "grid.toml")
    grid.out.mkdir()
    with (grid.out / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="made: another batch is at work here"):
            run_batch(grid)
    assert [path.name for path in grid.out.iterdir()] == [".lock"]


def test_a_folder_of_somebody_else_is_not_replaced(tiny):
    grid = read_grid(tiny / "grid.toml")
    theirs = grid.out / grid.runs[1].folder
    theirs.mkdir(parents=True)
    (theirs / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="holds something that is no report of ours"):
        run_batch(grid)
    assert files(grid.out) == {"own/multi-ignore-all/tiny/thesis.tex": files(theirs)["thesis.tex"]}


def test_a_folder_that_cannot_be_written(tiny):
    (tiny / "made").write_text("")
    with pytest.raises(UsageError, match=r"cannot write to .*made: File exists"):
        run_batch(read_grid(tiny / "grid.toml"))


ROWS = "tool,benchmark,instance,result,time_s\na,one,i,sat,1\nb,one,i,sat,3\n"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('tracks = ["all",\n"mian"]\n', r"line 5: unknown track of mine 'mian': nearest is 'main'"),
        ('tracks = ["unscored"]\n', "grid.toml: mine, single, odd-one-out, unscored: mine has no"),
        ('[parameters]\ntools = ["c"]\n', "line 5: unknown tool of mine 'c': nearest is"),
        ('[parameters]\nbenchmarks = "ones"\n', "line 5: unknown benchmark of mine 'ones'"),
        ("[parameters]\nsettings = { points = 1 }\n", "line 5: unknown rule setting 'points'"),
    ],
    ids=["track", "empty track", "tool", "benchmark", "setting"],
)
def test_what_an_edition_cannot_have_is_told_before_anything_runs(grid, tidy, more, message):
    tidy(ROWS, "mine.csv")
    read = grid('out = "made"\neditions = ["mine.csv"]\noverhead = ["single"]' + f"\n{more}")
    with pytest.raises(SchemaError, match=message):
        run_batch(read)
    assert not read.out.exists()


def test_a_bad_row_is_told_before_anything_runs(grid, tidy):
    tidy(ROWS + "c,one,i,mabye,1\n", "mine.csv")
    read = grid(f'out = "made"\neditions = ["{INVENTED}", "mine.csv"]\n')
    with pytest.raises(RawDataError, match=r"mine.csv, line 4, column 4 \(result\)"):
        run_batch(read)
    assert not read.out.exists()


def test_scores_of_several_editions_and_tracks(grid, contest_2021):
    """Each edition is read once, and no ranking stands there twice."""
    read = grid(
        f'out = "made"\neditions = ["{INVENTED}", "2021"]\noverhead = ["single", "none"]\n'
        'conflicts = ["voting", "ignore"]\ntracks = ["all", "main", "unscored"]\n'
        f'notebooks = ["03_scores"]\n[results]\n2021 = "{raw_of("2021")}"\n'
    )
    tasks, compared = prepare(read)
    assert [task.run for task in tasks] == list(read.runs)
    frame = comparison(compared)
    assert not frame.duplicated(["edition", "track", "overhead", "conflicts", "tool"]).any()
    for (overhead, conflicts), rows in frame[frame["edition"] == "2021"].groupby(
        ["overhead", "conflicts"]
    ):
        rules = contest_2021.edition.rules.with_settings(
            {"overhead": overhead, "conflicts": conflicts}
        )
        own = analyse(contest_2021, rules).overall
        columns = list(own.columns)
        pd.testing.assert_frame_equal(rows[columns].reset_index(drop=True), own, check_exact=True)
    assert set(frame["edition"]) == {"invented", "2021"}


def test_a_page_without_scored_benchmarks(grid):
    read = grid(
        'out = "made"\neditions = ["2021"]\ntracks = ["unscored"]\nnotebooks = ["03_scores"]\n'
        f'[results]\n2021 = "{raw_of("2021")}"\n'
    )
    tasks, compared = prepare(read)
    assert comparison(compared).empty
    page = comparison_page(read, compared, {tasks[0].run.folder: ("not run", "")})
    assert "None of these benchmarks is scored." in page
    assert ">not run<" in page
    assert "<img" not in page


def test_variants_side_by_side():
    rows = "single,voting,1,a,9\nsingle,voting,2,b,8\nnone,voting,1,b,7\nnone,voting,1,a,7\n"
    overall = pd.read_csv(io.StringIO("overhead,conflicts,rank,tool,score\n" + rows))
    table = scores_and_ranks(overall)
    assert list(table) == [
        "tool", "single, voting / rank", "single, voting / score", "none, voting / rank",
        "none, voting / score", "best_rank", "worst_rank",
    ]  # fmt: skip
    assert table.to_numpy().tolist() == [["a", 1, 9, 1, 7, 1, 1], ["b", 2, 8, 1, 7, 1, 2]]


@pytest.mark.length
def test_the_example_grid_of_the_help_twice_with_equal_bytes(tmp_path, cli):
    from vnnanalysis.cli_batch import EXAMPLE as text

    (tmp_path / "grid.toml").write_text(text)
    assert cli("batch", tmp_path / "grid.toml").returncode == 0
    before = files(tmp_path / "reports" / "grid")
    assert cli("batch", tmp_path / "grid.toml", "--force").returncode == 0
    assert files(tmp_path / "reports" / "grid") == before
    settings = {"overhead": "single", "conflicts": "per-tool", "incorrect_points": -100}
    overall = open_analysis(edition="example", settings=settings).overall
    made = tmp_path / "reports/grid/example/single-per-tool-all/03_scores/csv"
    tracks = {path.stem.removeprefix("overall-") for path in made.glob("overall-*.csv")}
    assert tracks == set(overall["track"])
    for track, rows in overall.groupby("track"):
        again = rows.drop(columns="track").reset_index(drop=True)
        own = pd.read_csv(made / f"overall-{track}.csv")
        pd.testing.assert_frame_equal(own, again, check_exact=True)


@pytest.mark.length
def test_24_runs_of_2021_twice_with_equal_bytes(tmp_path, cli):
    names = ["01_runs", "02_verdicts", "03_scores", "06_report"]
    (tmp_path / "grid.toml").write_text(
        'out = "made"\neditions = ["2021"]\noverhead = ["single", "multi"]\n'
        f'conflicts = ["voting", "odd-one-out", "ignore"]\nnotebooks = {json.dumps(names)}\n'
        f'[results]\n2021 = "{raw_of("2021")}"\n'
    )
    run = cli("batch", tmp_path / "grid.toml")
    assert "grid.toml: 24 done\n" in run.stdout
    before = files(tmp_path / "made")
    assert sum(name.endswith(".ipynb") for name in before) == 24
    assert "grid.toml: 24 done\n" in cli("batch", tmp_path / "grid.toml", "--force").stdout
    assert files(tmp_path / "made") == before
    compared = pd.read_csv(tmp_path / "made" / "comparison.csv")
    for (overhead, conflicts), rows in compared.groupby(["overhead", "conflicts"]):
        folder = tmp_path / "made" / "2021" / f"{overhead}-{conflicts}-all" / "03_scores"
        own = rows[["rank", "tool", "score"]].reset_index(drop=True)
        csv = pd.read_csv(folder / "csv" / "overall-main.csv")
        pd.testing.assert_frame_equal(own, csv, check_exact=True)


@pytest.mark.length
def test_a_bad_value_fails_in_the_notebook_that_has_it(tmp_path, cli):
    (tmp_path / "grid.toml").write_text(
        f'out = "made"\neditions = ["{INVENTED}"]\nnotebooks = ["06_report", "08_certainty"]\n'
        '[parameters]\nmissing = "sometimes"\n'
    )
    run = cli("batch", tmp_path / "grid.toml")
    assert run.returncode == 1
    made = pd.read_csv(tmp_path / "made" / OUTCOMES)
    assert list(made["outcome"]) == ["done", "failed"]
    assert "sometimes" in made["problem"][1]


def test_the_folder_of_results_is_named_where_it_is_not_there(tmp_path, cli):
    (tmp_path / "grid.toml").write_text(
        'out = "made"\neditions = ["2021"]\n[results]\n2021 = "gone"\n'
    )
    run = cli("batch", tmp_path / "grid.toml")
    assert run.returncode == 1
    where = (
        f"{tmp_path / 'grid.toml'}, line 4: results of 2021: no such folder: {tmp_path / 'gone'}"
    )
    assert run.stderr == f"Error: {where}\n"
    assert Path(tmp_path / "made").exists() is False


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("settings = { incorect_points = 1 }", "line 5: unknown rule setting 'incorect_points'"),
        ('extra = ["nofile.csv"]', "line 5: no such file or folder"),
        ('benchmarks_dir = "nodir"', "line 5: no such file or folder"),
    ],
)
def test_a_wrong_parameter_is_told_with_its_own_line(tmp_path, cli, line, told):
    head = f'out = "made"\neditions = ["{INVENTED}"]\n[parameters]\nlenient = false\n'
    (tmp_path / "grid.toml").write_text(f"{head}{line}\n")
    run = cli("batch", tmp_path / "grid.toml")
    assert run.returncode == 1
    assert f"grid.toml, {told}" in run.stderr


@pytest.mark.parametrize(("out", "told"), [("a\\u0000b", "no path"), ("x" * 300, "too long")])
def test_a_folder_that_cannot_be_is_told(tmp_path, cli, out, told):
    (tmp_path / "grid.toml").write_text(f'out = "{out}"\neditions = ["{INVENTED}"]\n')
    run = cli("batch", tmp_path / "grid.toml")
    assert run.returncode == 1
    assert told in run.stderr
