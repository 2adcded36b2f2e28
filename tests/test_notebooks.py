import ast
import base64
import inspect
import itertools
import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from conftest import raw_of
from nbclient import NotebookClient

from vnnanalysis.analysis import open_analysis
from vnnanalysis.errors import NotebookError
from vnnanalysis.history import open_editions
from vnnanalysis.kernel import set_display
from vnnanalysis.notebooks import (
    check_parameters,
    edition_notebooks,
    list_notebooks,
    run_notebook,
)
from vnnanalysis.paths import root
from vnnanalysis.tables import slug

NOTEBOOKS = list_notebooks()
LENGTH = pytest.mark.length
COMPARED = ("solved", "rmc", "shapley", "avg_time_s")
PARAMETERS = set(inspect.signature(open_analysis).parameters)
OF_SEVERAL = {*inspect.signature(open_editions).parameters, "benchmark"}
OF_ONE = {  # parameters that one notebook alone has
    "05_complementarity": {"missing"},
    "08_certainty": {"missing", "replicates", "seed"},
}
DEFAULTS = (None, False, True, "example", "all", [], {}, "acasxu", "zero", 10_000, 1)
FORBIDDEN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.While, ast.Lambda,
             ast.Try, ast.If, ast.BinOp, ast.comprehension)  # fmt: skip


def code_cells(path):
    cells = nbformat.read(path, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code"]


def logic_in(source):
    return [
        type(node).__name__ for node in ast.walk(ast.parse(source)) if isinstance(node, FORBIDDEN)
    ]


def test_there_are_eight():
    assert [path.stem for path in NOTEBOOKS] == [
        *("01_runs", "02_verdicts", "03_scores", "04_performance", "05_complementarity"),
        *("06_report", "07_editions", "08_certainty"),
    ]
    assert edition_notebooks() == [*NOTEBOOKS[:6], NOTEBOOKS[7]]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_source_is_clean(path):
    notebook = nbformat.read(path, as_version=4)
    assert notebook.cells[0].cell_type == "markdown"
    assert {"**In:**", "**Out:**"} <= set(notebook.cells[0].source.split())
    cells = code_cells(path)
    assert len(cells) <= 15
    assert not any(cell.outputs or cell.execution_count for cell in cells)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    for cell in cells[1:]:
        assert logic_in(cell.source) == [], cell.source
        n_lines = len(cell.source.splitlines())
        assert n_lines <= 10 or " = open_analysis(" in cell.source, cell.source


@pytest.mark.parametrize("bad", ["x = [a for a in b]", "x = a + 1", "if a: b()", "f = lambda: 1"])
def test_the_check_for_logic_finds_it(bad):
    assert logic_in(bad)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_parameters_are_plain_and_the_same_everywhere(path):
    tagged = [c for c in code_cells(path) if "parameters" in c.metadata.get("tags", [])]
    assert len(tagged) == 1
    assert all(
        isinstance(node, ast.Assign) and ast.literal_eval(node.value) in DEFAULTS
        for node in ast.parse(tagged[0].source).body
    )  # fmt: skip
    assert all("  # " in line for line in tagged[0].source.splitlines())
    names = [node.targets[0].id for node in ast.parse(tagged[0].source).body]
    expected = PARAMETERS if path in edition_notebooks() else OF_SEVERAL
    expected = expected | OF_ONE.get(path.stem, set())
    assert sorted(names) == sorted(expected)
    check_parameters(path, dict.fromkeys(expected))


def names_shown(path):
    """Return kind and name of what the cells of a notebook write."""
    calls = [
        node
        for cell in code_cells(path)
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    return [
        (call.func.id.removesuffix("s"), call.args[1].value)
        for call in calls
        if call.func.id.startswith("show_") and len(call.args) > 1
        and isinstance(call.args[1], ast.Constant)
    ]  # fmt: skip


def test_no_table_or_figure_overwrites_that_of_another_cell():
    shown = [name for path in edition_notebooks() for name in names_shown(path)]
    assert len(shown) > 40
    # one name for the tables of benchmarks, and one for the table of all
    twice = {name for name in shown if shown.count(name) > 1}
    assert twice == {("show_table", "complementarity"), ("show_figure", "cactus")}


@pytest.fixture
def copy(tmp_path):
    """Copy a notebook with something replaced in its source."""

    def write(old="", new="", name="01_runs"):
        text = (root() / "notebooks" / f"{name}.ipynb").read_text()
        assert old in text
        path = tmp_path / f"{name}.ipynb"
        path.write_text(text.replace(old, new))
        return path

    return write


@pytest.fixture
def own(tmp_path):
    """Write a notebook of one's own from the sources of its cells; the first is tagged."""

    def write(*sources):
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        cells[0].metadata.tags = ["parameters"]
        notebook = nbformat.v4.new_notebook(cells=cells)
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
        notebook.metadata.kernelspec.language = "python"
        path = tmp_path / "own.ipynb"
        nbformat.write(notebook, path)
        return path

    return write


def test_j1_no_parameters_tag_is_refused(copy, sockets):
    path = copy('"parameters"', '"paramaters"')
    with pytest.raises(NotebookError, match="expected one cell with the tag 'parameters', found 0"):
        run_notebook(path, path.with_name("out.ipynb"), {}, sockets=sockets)
    with pytest.raises(NotebookError, match="nearest is 'paramaters'"):
        check_parameters(path, {})
    path = copy('"tags": [\n     "parameters"\n    ]', '"tags": []')
    with pytest.raises(NotebookError, match="no cell has a tag"):
        check_parameters(path, {})


def test_j3_unknown_parameter_is_refused(copy, sockets):
    with pytest.raises(NotebookError, match="'overheads': nearest is 'overhead'") as caught:
        run_notebook(
            copy(), copy().with_name("out.ipynb"), {"overheads": "single"}, sockets=sockets
        )
    assert (caught.value.name, caught.value.cell) == ("01_runs", "parameters")


def run_papermill(tmp_path, *arguments, name="01_runs", cwd=None):
    command = [sys.executable, "-m", "papermill", str(root() / "notebooks" / f"{name}.ipynb")]
    settings = tmp_path / "ipython" / "profile_default" / "ipython_kernel_config.py"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('c.IPKernelApp.log_level = "ERROR"')  # as the README says
    env = os.environ | {"JUPYTER_PREFER_ENV_PATH": "1", "IPYTHONDIR": str(tmp_path / "ipython")}
    return subprocess.run(
        [*command, str(tmp_path / "out.ipynb"), "--no-progress-bar", *arguments],
        cwd=cwd or tmp_path, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["-p", "overheads", "single"], "notebook parameter 'overheads': nearest is 'overhead'"),
        (["-p", "overhead", "sinlge"], "value for overhead 'sinlge': nearest is 'single'"),
    ],
)  # fmt: skip
def test_j3_plain_papermill_refuses_wrong_parameters(tmp_path, arguments, expected):
    run = run_papermill(tmp_path, *arguments)
    assert run.returncode != 0
    assert f"UsageError: unknown {expected}" in run.stderr
    # the reader of the notebook sees one line, not the package's frames
    cells = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    [error] = [o for c in cells for o in c.get("outputs", []) if o.output_type == "error"]
    assert len(error.traceback) == 1


@pytest.mark.slow
def test_plain_papermill_runs_a_notebook_from_any_folder(tmp_path):
    run = run_papermill(
        tmp_path, "-p", "edition", "example", "-p", "conflicts", "ignore", "-p", "out", "made",
        "-y", "tools: [branches, optimist]", name="03_scores",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    assert [line.partition(":")[0] for line in run.stderr.splitlines()] == [
        *("Input Notebook", "Output Notebook", "Executing notebook with kernel")
    ]
    overall = (tmp_path / "made" / "csv" / "overall-regular.csv").read_text()
    assert [line.split(",")[:2] for line in overall.splitlines()] == [
        *(["rank", "tool"], ["1", "optimist"], ["2", "branches"])
    ]
    assert "conflicts: ignore" in (tmp_path / "made" / "tables" / "overall-regular.tex").read_text()


def run_as_jupyterlab(path, folder):
    """Run a notebook in a kernel with a working directory; return the outputs of its cells."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": folder}}
    NotebookClient(notebook, kernel_name="python3", resources=resources).execute()
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "folder"),
    [
        (path, folder)
        if (path.stem, folder) in (("01_runs", "notebooks"), ("02_verdicts", "."))
        else pytest.param(path, folder, marks=LENGTH)
        for path in list_notebooks()
        for folder in ("notebooks", ".")
    ],
    ids=lambda value: value.stem if isinstance(value, Path) else value,
)
def test_a_notebook_runs_from_both_folders_as_in_jupyterlab(path, folder):
    """Top to bottom, without parameters; no warning, nothing written."""
    before = sorted(root().rglob("*.ipynb"))
    outputs = list(itertools.chain(*run_as_jupyterlab(path, root() / folder)))
    assert outputs
    assert {o.output_type for o in outputs} <= {"execute_result", "display_data"}
    assert sorted(root().rglob("*.ipynb")) == before


def png_width(encoded):
    """Return the width that the header of an encoded png file states."""
    return int.from_bytes(base64.b64decode(encoded)[16:20], "big")


@pytest.mark.slow
def test_a_kernel_shows_plain_frames_short_and_figures_sharp(own, tmp_path):
    shows = own(
        "import pandas as pd\npd.set_option('display.max_colwidth', 7)  # somebody's own choice",
        "import vnnanalysis\npd.get_option('display.max_colwidth')",
        "frame = pd.DataFrame({f'c{i}': [1 / 3, 2e-5, 120.0] for i in range(30)})\nframe",
        "frame.to_csv(index=False).splitlines()[1] == ','.join(['0.3333333333333333'] * 30)",
        "from matplotlib.figure import Figure\n"
        "figure = Figure(figsize=(2, 1))\naxes = figure.subplots()\nfigure",
        "from vnnanalysis import analysis, display\n"
        "display.show_figure(analysis.open_analysis(edition='example'), 'plain', figure, 'plain')",
        "display.show_all([None, display.show_text([])])\ndisplay.show_text([])",
    )
    _, [option], [frame], [csv], [figure], [shown], nothing = run_as_jupyterlab(shows, tmp_path)
    assert option.data["text/plain"] == "7"
    cells = re.findall("<t[dh]>(.*?)</t[dh]>", frame.data["text/html"])
    rows = [cells[at : at + 31] for at in range(0, len(cells), 31)]
    assert rows[0] == ["", *[f"c{i}" for i in range(30)]]
    assert rows[1:] == [["0", *["0.33"] * 30], ["1", *["2e-05"] * 30], ["2", *["120.00"] * 30]]
    assert csv.data["text/plain"] == "True"
    width = figure.metadata["image/png"]["width"]
    assert png_width(figure.data["image/png"]) // 2 == width > 150
    assert png_width(shown.data["image/png"]) == 400
    assert 'width="200"' in shown.data["text/html"]
    assert nothing == []


def test_outside_a_kernel_nothing_is_changed():
    options = ("max_columns", "max_colwidth", "float_format")
    before = [pd.get_option(f"display.{name}") for name in options]
    set_display()
    assert [pd.get_option(f"display.{name}") for name in options] == before
    assert before[1:] == [50, None]
    code = "import sys, vnnanalysis; print({'pandas', 'IPython', 'matplotlib'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


@pytest.mark.slow
def test_equal_runs_give_equal_bytes(own, tmp_path, sockets):
    path = own("out = None\nn = 1", "from pathlib import Path\nPath(out).name[:-1], n")
    notebook = nbformat.read(path, as_version=4)
    notebook.nbformat_minor = 4  # of old, when cells had no ids
    for cell in notebook.cells:
        del cell["id"]
    nbformat.write(notebook, path)
    made = []
    for name in ("staging1", "staging2"):
        given = {"out": str(tmp_path / name), "n": 2}
        output = tmp_path / f"{name}.ipynb"
        run_notebook(path, output, given, sockets=sockets, shown_out="reports/ours")
        made.append(output.read_bytes())
    assert made[0] == made[1]
    assert str(tmp_path).encode() not in made[0]
    executed = nbformat.reads(made[0].decode(), as_version=4)
    shown = {"out": "reports/ours", "n": 2}
    assert executed.metadata.papermill == {"parameters": shown, "version": version("papermill")}
    assert executed.cells[1].source == '# Parameters\nout = "reports/ours"\nn = 2\n'
    assert executed.cells[2].outputs[0].data["text/plain"] == "('staging', 2)"  # what ran
    assert [set(cell.metadata) for cell in executed.cells] == [{"tags"}] * 3
    assert [cell.execution_count for cell in executed.cells] == [1, 2, 3]


@pytest.mark.length
def test_the_readmes_examples_of_papermill_run_as_they_are_printed(tmp_path):
    blocks = (root() / "README.md").read_text().split("```")[1::2]
    [block] = [b for b in blocks if "papermill notebooks/" in b]
    assert {"-p", "-y", "-f"} <= set(block.split())
    (tmp_path / "reports").mkdir()
    (tmp_path / "notebooks").symlink_to(root() / "notebooks")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    run = subprocess.run(
        ["bash", "-e", "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert len(list((tmp_path / "reports").glob("*.ipynb"))) == block.count("papermill notebooks/")


@pytest.mark.slow
def test_a_notebook_of_ones_own_may_have_other_parameters(own, tmp_path):
    """Only names that the notebook itself does not declare are refused."""
    own(
        "seed = 1\nedition = 'example'",
        "from vnnanalysis.analysis import open_analysis\n"
        "open_analysis(edition=edition).tools, seed",
    )
    command = [sys.executable, "-m", "papermill", "own.ipynb", "out.ipynb", "--no-progress-bar"]
    run = lambda *more: subprocess.run(
        [*command, *more], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run("-p", "seed", "2").returncode == 0
    wrong = run("-p", "sead", "2")
    assert wrong.returncode != 0
    assert "unknown notebook parameter 'sead': nearest is 'seed'" in wrong.stderr


@pytest.mark.length
@pytest.mark.slow
def test_j4_our_kernel_is_used_whatever_the_notebook_names(copy, tmp_path, sockets):
    path = copy('"name": "python3"', '"name": "conda-of-somebody"')
    run_notebook(path, tmp_path / "out.ipynb", {"edition": "example"}, sockets=sockets)
    cells = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    assert all(c.execution_count for c in cells if c.cell_type == "code")


@pytest.mark.slow
def test_a_kernel_needs_no_port_and_one_that_never_answers_is_an_error(
    own, tmp_path, monkeypatch, sockets
):
    asks = "from ipykernel.kernelapp import IPKernelApp\nIPKernelApp.instance().transport"
    path = own("", asks)
    run_notebook(path, tmp_path / "out.ipynb", {}, sockets=sockets)
    said = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells[-1].outputs[0]
    assert said.data["text/plain"] == "'ipc'"
    (tmp_path / "kernels" / "mute").mkdir(parents=True)
    spec = {"argv": [sys.executable, "-c", "", "{connection_file}"], "display_name": "mute"}
    (tmp_path / "kernels" / "mute" / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setattr("vnnanalysis.notebooks.KERNEL", "mute")
    with pytest.raises(NotebookError, match="Kernel died before replying"):
        run_notebook(path, tmp_path / "out.ipynb", {}, sockets=sockets)


@pytest.mark.slow
def test_a_failing_cell_names_notebook_cell_and_error(copy, tmp_path, sockets):
    path = copy("overview.sizes(", "overview.sizess(")
    with pytest.raises(NotebookError, match="AttributeError: module") as caught:
        run_notebook(path, tmp_path / "out.ipynb", {"edition": "example"}, sockets=sockets)
    assert caught.value.name == "01_runs"
    assert caught.value.cell.startswith("cell 5 (sizes = overview.sizess(")
    kept = nbformat.read(tmp_path / "out.ipynb", as_version=4).metadata.papermill
    assert kept.exception
    assert {"start_time", "input_path"} <= set(kept)


@pytest.mark.length
def test_the_studys_table_2_comes_out_of_the_notebook(tmp_path, sockets):
    given = {"edition": "study", "results": str(raw_of("study")), "out": str(tmp_path / "made")}
    path = root() / "notebooks" / "05_complementarity.ipynb"
    run_notebook(path, tmp_path / "out.ipynb", given, sockets=sockets)
    printed = pd.read_csv(root() / "data" / "published" / "study" / "table2.csv", dtype=str)
    differ = []
    for benchmark, rows in printed.groupby("benchmark"):
        name = f"{slug(f'complementarity-{benchmark}')}.csv"
        ours = pd.read_csv(tmp_path / "made" / "csv" / name).set_index("tool")
        assert set(ours.index) == set(rows["tool"])
        for row, figure in itertools.product(rows.itertuples(), COMPARED):
            text, value = getattr(row, figure), ours.loc[row.tool, figure]
            if abs(value - float(text)) > 0.5 * 10.0 ** -len(text.partition(".")[2]) + 1e-9:
                differ.append((benchmark, row.tool, figure))
    assert differ == [("MNIST ReLU", "Verinet", "avg_time_s")]  # explained: 263.86 for 263


@pytest.mark.length
def test_the_notebook_tells_who_is_third_in_2021(tmp_path, sockets):
    path = root() / "notebooks" / "08_certainty.ipynb"
    given = {"edition": "2021", "results": str(raw_of("2021"))}
    run_notebook(path, tmp_path / "out.ipynb", given, sockets=sockets)
    text = (tmp_path / "out.ipynb").read_text()
    assert "Places 3 and 4: ERAN or oval? Under single / voting ERAN is ahead (ERAN 582.9" in text
    assert "ERAN has more in 56 % of the replicates of instances" in text
