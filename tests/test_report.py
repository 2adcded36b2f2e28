"""The report itself: real kernels, real LaTeX, a wheel in an empty folder."""

import hashlib
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from conftest import raw_of, real_path
from nbconvert import LatexExporter

from vnnanalysis import manifest as manifest_of
from vnnanalysis import report
from vnnanalysis.analysis import open_analysis
from vnnanalysis.display import show_table
from vnnanalysis.errors import NotebookError, UsageError, VnnAnalysisError
from vnnanalysis.facts import report_facts
from vnnanalysis.latex import PIECES, compile_report, has_latex, write_report
from vnnanalysis.paths import root
from vnnanalysis.tables import plain_name, slug

pytestmark = pytest.mark.slow
needs_latex = pytest.mark.skipif(not has_latex(), reason="no pdflatex")
GOLDEN = Path(__file__).parent / "golden"
PARAMETERS = {"edition": "example", "benchmarks": [], "tools": [], "extra": []}


def pdf_text(path):
    if not shutil.which("pdftotext"):
        pytest.skip("no pdftotext")
    command = ["pdftotext", "-layout", str(path), "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def hashes(folder, *kinds):
    files = [path for kind in kinds for path in sorted(folder.rglob(f"*.{kind}"))]
    return {
        path.relative_to(folder): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.is_file()
    }


def test_everything_is_there(example_report):
    made = {path.name for path in example_report.iterdir()}
    assert made - {"report.pdf"} == {
        *("index.html", "report.tex", "preamble.tex", "macros.tex", "pieces", "manifest.json"),
        *("explorer.html", "tables", "figures", "csv", "notebooks"),
    }
    assert ("report.pdf" in made) == has_latex()
    stems = {path.stem for path in (example_report / "figures").iterdir()}
    assert {"cactus", "benchmarks-cactus", "cactus-avoid", "scatter", "scatter-grid"} <= stems
    for stem in stems:
        kinds = {path.suffix for path in (example_report / "figures").glob(f"{stem}.*")}
        assert kinds == {".pdf", ".svg", ".png"}
    assert len(list((example_report / "notebooks").glob("*.ipynb"))) == 7


def test_the_csv_files_hold_the_scores(example_report):
    """Against the scores of `open_analysis`, which test_example.py checks by a second method."""
    overall = open_analysis(edition="example").overall
    for track, rows in overall.groupby("track"):
        made = pd.read_csv(example_report / "csv" / f"overall-{track}.csv")
        again = rows.drop(columns="track").reset_index(drop=True)
        pd.testing.assert_frame_equal(made, again, check_exact=True)
    assert len((example_report / "csv" / "instances.csv").read_text().splitlines()) == 1 + 6 * 74


def test_golden(example_report, request):
    """Every table and csv file of the example, byte by byte; `make golden` rewrites them."""
    made = {
        path.relative_to(example_report): path.read_bytes()
        for kind in ("csv", "tables")
        for path in sorted((example_report / kind).iterdir())
    }
    if request.config.getoption("--rewrite-golden"):
        shutil.rmtree(GOLDEN, ignore_errors=True)
        for name, content in made.items():
            (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / name).write_bytes(content)
        pytest.skip("tests/golden was rewritten")
    known = {path.relative_to(GOLDEN): path.read_bytes() for path in GOLDEN.rglob("*.*")}
    assert set(made) == set(known)
    assert len(made) > 50
    for name, content in made.items():
        assert content == known[name], name


def test_t1_labels_are_unique(example_report):
    tables = sorted((example_report / "tables").glob("*.tex"))
    text = "".join(path.read_text() for path in [*tables, example_report / "report.tex"])
    labels = re.findall(r"\\label\{([^}]*)\}", text)
    assert len(labels) > 20
    assert len(set(labels)) == len(labels)


def test_manifest_says_what_the_report_is_made_of(example_report):
    manifest = json.loads((example_report / "manifest.json").read_text())
    assert manifest["edition"] == "example"
    data = root() / "data" / "example"
    inputs = sorted((entry["file"], entry["sha256"]) for entry in manifest["inputs"])
    files = [*data.glob("results/*/results.csv"), *data.glob("benchmarks/*/instances.csv")]
    assert inputs == sorted(
        (path.name, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in [*files, data / "example.toml"]
    )
    assert manifest["counterexamples"]["sats"] > 80
    assert {"vnnanalysis", "python", "pandas", "matplotlib"} <= set(manifest["versions"])
    page = hashlib.sha256((example_report / "index.html").read_bytes()).hexdigest()
    assert manifest["outputs"]["index.html"] == page


class _Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.titles, self.alts, self.ids = [], [], [], []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.links += [given[k] for k in ("src", "href") if k in given]
        self.ids += [given["id"]] if "id" in given else []
        if tag == "img":
            self.alts.append(given.get("alt", ""))


def test_the_page_stands_alone(example_report):
    page = (example_report / "index.html").read_text()
    parser = _Links()
    parser.feed(page)
    outside = [link for link in parser.links if re.match(r"(https?:)?//", link)]
    assert outside == []
    assert "<script" not in page
    assert all(parser.alts)
    for link in parser.links:
        if link.startswith("#"):
            assert link[1:] in parser.ids
        elif not link.startswith("data:"):
            assert (example_report / link).exists(), link
    assert len(set(parser.ids)) == len(parser.ids)
    assert page.index('id="06_report"') < page.index('id="01_runs"')
    assert "Big-M and Branches change places with the rules (" in page
    assert "<pre>" not in page


@needs_latex
def test_the_pdf_shows_the_numbers(example_report):
    text = pdf_text(example_report / "report.pdf")
    analysis = open_analysis(edition="example")
    for row in analysis.overall.itertuples():
        name = plain_name(analysis.edition, row.tool).replace("M", ".")  # a letter of mathematics
        assert re.search(rf"{row.rank}\s+{name}\s+{row.score:.1f}", text)
    row = analysis.scores.set_index(["benchmark", "tool"]).loc["glyphs", "optimist"]
    counts = [row["verified"], row["falsified"], row["fastest"], row["incorrect"], row["points"]]
    assert re.search(r"6\s+Optimist\s+" + r"\s+".join(map(str, counts)) + r"\s+0%", text)


@needs_latex
def test_latex_sources_compile_again_without_complaints(example_report, tmp_path):
    copy = shutil.copytree(example_report, tmp_path / "copy")
    assert compile_report(copy / "report.tex") == []
    assert (copy / "report.pdf").read_bytes() == (example_report / "report.pdf").read_bytes()
    piece = copy / "pieces" / "rules.tex"
    piece.write_text(
        piece.read_text() + "See \\ref{nowhere}.\n\\hbox to 20cm{x}\\label{a}\\label{a}"
    )
    told = " ".join(compile_report(copy / "report.tex"))
    assert "Reference `nowhere' on page" in told
    assert "Label `a' multiply defined" in told
    assert "too wide" in told


@needs_latex
def test_a_table_drops_into_another_report(example_report, tmp_path):
    shutil.copy(example_report / "tables" / "overall-regular.tex", tmp_path)
    (tmp_path / "mine.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs,graphicx}\begin{document}"
        r"See Table~\ref{tab:example-overall-regular}.\input{overall-regular}\end{document}"
    )
    assert compile_report(tmp_path / "mine.tex") == []
    assert (tmp_path / "mine.pdf").stat().st_size > 5000


@needs_latex
def test_pieces_and_macros_drop_into_a_main_file_elsewhere(example_report, tmp_path):
    pieces = sorted(path.stem for path in (example_report / "pieces").iterdir())
    assert sorted(PIECES) == pieces
    (tmp_path / "mine.tex").write_text(
        f"\\documentclass{{article}}\\newcommand{{\\vnnpath}}{{{example_report}/}}"
        "\\input{\\vnnpath preamble}\\input{\\vnnpath macros}\\begin{document}"
        "The best has \\vnnOverallRegularBranchesScore{} points.\n"
        + "".join(f"\\input{{\\vnnpath pieces/{piece}}}\n" for piece in pieces)
        + "\\end{document}"
    )
    best = open_analysis(edition="example").overall["score"].iloc[0]
    told = compile_report(tmp_path / "mine.tex")
    assert [line for line in told if "Warning" in line] == []
    text = pdf_text(tmp_path / "mine.pdf")
    assert f"The best has {best:.1f} points." in text
    assert "Disputed instances" in text


@needs_latex
def test_the_long_table_and_the_variants_are_in_the_pdf(example_report):
    text = " ".join(pdf_text(example_report / "report.pdf").split())
    assert "every instance of avoid (single overhead, conflicts: per-tool" in text
    assert "bold: fastest with this answer (bonus 2)" in text
    variants = open_analysis(edition="example").edition.variant_grid()
    for letter, variant in zip("abcdefgh", variants, strict=True):
        assert f"({letter}) overhead: {variant['overhead']}, conflicts:" in text


@pytest.mark.skipif(not shutil.which("pandoc"), reason="no pandoc, which nbconvert needs")
def test_j8_j9_latex_export_has_real_tables_and_pictures(example_report):
    """nbconvert --to latex of an executed notebook: tabular and png, no HTML left over."""
    notebook = nbformat.read(example_report / "notebooks" / "01_runs.ipynb", as_version=4)
    latex, resources = LatexExporter().from_notebook_node(notebook)
    assert latex.count(r"\begin{tabular}") >= 2
    assert "<table" not in latex
    images = resources["outputs"]
    assert images
    assert all(name.endswith(".png") for name in images)
    for name in images:
        assert name in latex


def test_executed_notebooks_hold_no_error(example_report):
    for path in sorted((example_report / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text())
        kinds = [o["output_type"] for c in notebook["cells"] for o in c.get("outputs", [])]
        assert set(kinds) <= {"execute_result", "display_data"}


def test_nothing_changed_is_quick_and_said(example_report):
    said = []
    built = report.build_report(PARAMETERS, example_report, say=said.append)
    assert built == example_report
    assert said == [f"{example_report}: up to date (--force builds it again)"]


def test_a_changed_output_is_noticed(example_report, tmp_path):
    copy = shutil.copytree(example_report, tmp_path / "copy")
    manifest = json.loads((copy / "manifest.json").read_text())
    del manifest["outputs"]
    assert manifest_of.is_current(copy, manifest)
    (copy / "csv" / "overall-regular.csv").write_text("")
    assert not manifest_of.is_current(copy, manifest)


def test_a_failing_cell_leaves_the_earlier_report_in_place(example_report, tmp_path, monkeypatch):
    copy = shutil.copytree(example_report, tmp_path / "copy")
    before = hashes(copy, "*")
    broken = tmp_path / "02_verdicts.ipynb"
    text = (root() / "notebooks" / "02_verdicts.ipynb").read_text()
    broken.write_text(text.replace("disputes.penalties(", "disputes.penaltiess("))
    monkeypatch.setattr(report, "edition_notebooks", lambda: [broken])
    with pytest.raises(
        NotebookError, match=r"notebook 02_verdicts, cell 10 \(penalties = .*: Attribute"
    ):
        report.build_report(PARAMETERS, copy, force=True)
    assert hashes(copy, "*") == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["02_verdicts.ipynb", "copy"]


def test_a_folder_that_is_no_report_is_not_overwritten(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="is no report of ours"):
        report.build_report(PARAMETERS, tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_bad_row_is_told_before_any_notebook_runs(tmp_path):
    csv = tmp_path / "mine.csv"
    csv.write_text("tool,benchmark,instance,result,time_s\na,b,i,mabye,1\n")
    run = subprocess.run(
        [sys.executable, "-m", "vnnanalysis.cli", "report", "mine.csv"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 1
    assert "mine.csv, line 2, column 4 (result)" in run.stderr
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "reports").exists()


def test_labels_of_two_variants_differ(tmp_path):
    tables = []
    for overhead in ("single", "none"):
        analysis = open_analysis(edition="example", overhead=overhead, out=tmp_path)
        show_table(analysis, "overall", analysis.overall, "overall")
        tables.append((tmp_path / "tables" / "overall.tex").read_text())
    labels = [re.search(r"\\label\{(.*)\}", table)[1] for table in tables]
    assert labels == [*("tab:example-overall", "tab:example-none-per-tool-small-overall")]


NASTY = (
    "<script>document.title='x'</script>", 'a"b', "c d", "c-d", "c&d", "50%", "$x$", "_u", "grid",
    r"\input{x}", "Δ漢",
)  # fmt: skip


@pytest.mark.length
def test_odd_names_in_a_whole_report(tmp_path):
    """Escaped in page and LaTeX, and no file overwrites another's."""
    csv = tmp_path / "odd.csv"
    rows = [["tool", "benchmark", "instance", "result", "time_s"]]
    rows += [[tool, name, name, "unsat", 1 + k] for name in NASTY for k, tool in enumerate(NASTY)]
    rows[5][3] = "sat"
    text = "\n".join(
        ",".join('"' + cell.replace('"', '""') + '"' for cell in map(str, row)) for row in rows
    )
    csv.write_text(text + "\n")
    folder = report.build_report(PARAMETERS | {"edition": str(csv)}, tmp_path / "made")
    for kind in ("benchmark", "complementarity"):
        assert len(list((folder / "tables").glob(f"{kind}-*.tex"))) == len(NASTY)
    assert len(list((folder / "figures").glob("cactus-*.pdf"))) == len(NASTY)
    page = (folder / "index.html").read_text()
    parser = _Links()
    parser.feed(page)
    assert "<script" not in page
    assert any(NASTY[1] in alt for alt in parser.alts)
    assert (folder / "report.pdf").exists() == has_latex()
    # every benchmark's table and figure is in the LaTeX report, under its own name
    tex = (folder / "pieces" / "benchmarks.tex").read_text()
    for name in NASTY:
        assert f"\\input{{\\vnnpath tables/{slug(f'benchmark-{name}')}}}" in tex
        assert f"\\vnngraphics{{{slug(f'cactus-{name}')}.pdf}}" in tex


def test_a_report_without_a_table_it_needs_is_refused(example_report, tmp_path):
    copy = shutil.copytree(example_report, tmp_path / "copy")
    (copy / "tables" / "benchmark-glyphs.tex").unlink()
    (copy / "csv" / "benchmark-glyphs.csv").unlink()
    analysis = open_analysis(edition="example")
    with pytest.raises(VnnAnalysisError, match=r"needs tables/benchmark-glyphs.tex: no notebook"):
        write_report(analysis, copy, report_facts(analysis))


def test_the_earlier_report_comes_back_if_the_new_one_cannot_be_put_in_place(tmp_path):
    target = tmp_path / "made"
    target.mkdir()
    (target / "manifest.json").write_text("{}")
    with pytest.raises(OSError, match="No such file"):
        manifest_of.put_in_place(tmp_path / "gone", target)
    assert (target / "manifest.json").read_text() == "{}"


@pytest.mark.length
def test_a_terminated_build_cleans_up(tmp_path, sockets):
    command = [sys.executable, "-m", "vnnanalysis.cli", "report", "example", "--out", "made"]
    env = os.environ | {"TMPDIR": str(sockets)}
    build = subprocess.Popen(
        command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".made-*/notebooks")) and time.monotonic() < deadline:
        time.sleep(0.1)
    while not list(sockets.glob("vnna-*/*")) and time.monotonic() < deadline:
        time.sleep(0.1)  # until a kernel is there
    build.terminate()
    _, errors = build.communicate(timeout=60)
    assert build.returncode == 143
    assert b"Traceback" not in errors
    assert list(tmp_path.iterdir()) == []
    assert list(sockets.glob("vnna-*")) == []


def test_a_link_to_a_report_stays_a_link(example_report, tmp_path):
    copy = shutil.copytree(example_report, tmp_path / "real")
    (tmp_path / "link").symlink_to(copy)
    said = []
    report.build_report(PARAMETERS, tmp_path / "link", say=said.append)
    assert said == [f"{tmp_path / 'link'}: up to date (--force builds it again)"]
    assert (tmp_path / "link").is_symlink()


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A plain install of the wheel, away from the checkout; returns its environment."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(root())]
    subprocess.run(build, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    site = folder / "site"
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(wheel)], check=True)
    return os.environ | {"PYTHONPATH": str(site)}, site


@pytest.mark.length
def test_two_builds_give_equal_bytes_the_second_from_the_wheel(example_report, installed, tmp_path):
    env, _ = installed
    run = subprocess.run(
        [sys.executable, "-m", "vnnanalysis.cli", "report", "example", "--out", "again"],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    kinds = ("csv", "tex", "svg", "pdf", "png", "html")
    first, second = hashes(example_report, *kinds), hashes(tmp_path / "again", *kinds)
    assert len(first) > 80
    assert {name for name in first if first[name] != second.get(name)} == set()
    assert set(first) == set(second)
    manifest = json.loads((tmp_path / "again" / "manifest.json").read_text())
    assert manifest["commit"] is None  # it ran from the wheel, not from the checkout
    before = hashes(tmp_path / "again", "*")  # executed notebooks and manifest too
    run = subprocess.run(
        [sys.executable, "-m", "vnnanalysis.cli", "report", "example", "--out", "again", "--force"],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert hashes(tmp_path / "again", "*") == before


def test_every_command_works_from_the_wheel(installed, tmp_path):
    env, site = installed
    run = lambda *arguments: subprocess.run(
        [sys.executable, "-m", "vnnanalysis.cli", *arguments],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    where = [sys.executable, "-c", "import vnnanalysis; print(vnnanalysis.__file__)"]
    used = subprocess.run(where, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert used.stdout.startswith(str(site))
    assert run("score", "example", "--format", "csv").stdout.startswith("track,rank,tool,score\n")
    unknown = run("check", "2021")
    assert unknown.returncode == 1
    assert "expected a checkout of stanleybak/vnncomp2021_results" in unknown.stderr


SEED_TABLE = re.compile(r"^Table (\d+): (?:Benchmark )?(.*)$")


def seed_tables():
    """Read Tables 4 to 19 of the report of 2021: title to rows of cells without rank."""
    text = real_path("seeds", "000_d99edb756851bec4.txt").read_text()
    tables, title, sub = {}, None, ""
    for line in text.splitlines():
        cells = line.split("\t")
        if found := SEED_TABLE.match(line):
            title, sub = (found[2], "") if int(found[1]) >= 4 else (None, "")
        elif re.match(r"\([ab]\) (Single|Multi)", line):
            sub = f", {line[4:10].strip(' -').lower()}"
        elif title and len(cells) > 2 and cells[0].isdigit():
            tables.setdefault(title + sub, []).append([c.strip() for c in cells[1:]])
    return tables


@pytest.mark.length
@needs_latex
def test_the_pdf_of_2021_has_the_rows_of_the_organisers_tables(tmp_path):
    """Tables 4 to 19 of the seed report, row by row, in a PDF that LaTeX does not complain of."""
    raw = raw_of("2021")
    said = []
    parameters = {**PARAMETERS, "edition": "2021", "results": str(raw)}
    built = report.build_report(parameters, tmp_path / "2021", say=said.append)
    assert [line for line in said if line.startswith("report.pdf")] == []
    lines = [
        re.sub("α,\\s*β", "$\\\\alpha$,$\\\\beta$", line)
        for line in pdf_text(built / "report.pdf").splitlines()
    ]
    wanted = seed_tables()
    assert len(wanted) == 17  # 16 tables, the first of two parts
    for title, rows in wanted.items():
        caption = CAPTIONS.get(title, title)
        [start] = [i for i, line in enumerate(lines) if re.search(f"Table .*: .*{caption}", line)]
        for row in rows:
            cells = [re.escape(c) for c in row if c != "-"]
            gaps = [
                r"\s+\d+\s+" if i == 3 and len(cells) == 6 else r"\s+" for i in range(len(cells))
            ]
            gaps[-1] = r"(?![\w.])"  # our tables of benchmarks have one more column, incorrect
            pattern = r"(?<![\w.])" + "".join(c + g for c, g in zip(cells, gaps, strict=True))
            near = lines[start : start + 75]
            assert any(re.search(pattern, line) for line in near), (title, row)


CAPTIONS = {  # ours, where they are not those of the report of 2021
    "VNN-COMP 2021 Overall Score, single": "overall score, by rules$",
    "VNN-COMP 2021 Overall Score, multi": "overall score, track main",
    "Num Benchmarks Participated": "Num Benchmarks",
    "Num Instances Verified": "Num Instances Veri",
    "Mismatched (Incorrect) Results": "Mismatched",
    **{b: f"benchmark {b} " for b in ("acasxu", "cifar2020", "eran", "mnistfc", "nn4sys")},
    **{b: f"benchmark {b} " for b in ("marabou-cifar10", "oval21", "verivital")},
    "cifar10-resnet": "benchmark cifar10_resnet ",
}
