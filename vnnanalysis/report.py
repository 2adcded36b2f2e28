"""The report: run the notebooks, make page, LaTeX, PDF and manifest, put them in place."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import jinja2
import nbformat
from nbconvert import HTMLExporter
from tqdm import tqdm

from vnnanalysis import __version__
from vnnanalysis.analysis import Analysis, open_analysis
from vnnanalysis.editions import Source
from vnnanalysis.explorer import write_explorer
from vnnanalysis.facts import report_facts
from vnnanalysis.history import open_editions
from vnnanalysis.instance_times import instance_latex, instance_marks
from vnnanalysis.latex import HOW_TO_GET, compile_report, has_latex, write_report
from vnnanalysis.macros import to_tex
from vnnanalysis.manifest import (
    check_target,
    chosen,
    is_current,
    made_from,
    made_with,
    put_in_place,
    sha256,
    staging_folder,
    write_manifest,
)
from vnnanalysis.notebooks import edition_notebooks, list_notebooks
from vnnanalysis.paths import resource
from vnnanalysis.runner import Job, run_jobs

Say = Callable[[str], None]


def build_report(
    parameters: Mapping[str, Any], target: Path, *, force: bool = False, say: Say = lambda _: None
) -> Path:
    """Build the report of one edition under one rule variant.

    Parameters
    ----------
    parameters : mapping
        Parameters of the notebooks, without ``out``.
    target : Path
        The report's folder. An earlier report there is replaced, but only by a complete one.
    force : bool
        Build even if nothing changed since the report that is there.
    say : callable
        Called with one line of news at a time.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    VnnAnalysisError
        If inputs, a notebook or LaTeX fail; the earlier report is then untouched.
    """
    analysis = open_analysis(**parameters)
    manifest = _manifest(analysis, parameters)
    shown, target = target, target.resolve()
    check_target(target)
    if not force and is_current(target, manifest):
        say(f"{shown}: up to date (--force builds it again)")
        return shown
    staging = staging_folder(target)
    try:
        times = _fill(analysis, parameters, staging, target, say)
        write_manifest(staging, manifest)
        put_in_place(staging, target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    say("; ".join(f"{stage} {seconds:.1f} s" for stage, seconds in times.items()))
    return shown


def _fill(
    analysis: Analysis, parameters: Mapping[str, Any], folder: Path, target: Path, say: Say
) -> dict[str, float]:
    """Write everything but the manifest; return the seconds of each stage."""
    times: dict[str, float] = {}
    notebooks = edition_notebooks()
    stages = len(notebooks) + 4
    bar_format = "{bar:30} {n}/{total} {desc}"
    with tqdm(total=stages, bar_format=bar_format, disable=None) as bar:  # none without a terminal

        @contextmanager
        def stage(name: str, steps: int = 1) -> Iterator[None]:
            bar.set_description_str(name)
            start = time.perf_counter()
            yield
            times[name] = time.perf_counter() - start
            bar.update(steps)

        with stage("notebooks", steps=0):
            _run_all(notebooks, folder, parameters, target, bar)
        with stage("page"):
            executed = [folder / "notebooks" / notebook.name for notebook in notebooks]
            _write_page(
                folder, executed, title=analysis.edition.title, source=analysis.edition.results,
                tex=True, pdf=has_latex(),
            )  # fmt: skip
        with stage("explorer"):
            write_explorer(analysis, folder / "explorer.html")
        with stage("LaTeX"):
            facts = report_facts(analysis)
            _write_numbers(analysis, folder, facts["macros"])
            tex = write_report(analysis, folder, facts)
        with stage("PDF"):
            complaints = compile_report(tex) if has_latex() else []
        bar.set_description_str("done")
    if not has_latex():
        say(HOW_TO_GET)
    for complaint in complaints:
        say(f"report.pdf: {complaint}")
    return times


def _write_numbers(analysis: Analysis, folder: Path, macros: Mapping[str, str]) -> None:
    """Write the macros, and the long table of all instances."""
    edition, rules = analysis.edition, analysis.rules
    marks = instance_marks(analysis.shown, edition, rules)
    table = instance_latex(marks, edition, rules, analysis.listed, label=analysis.label)
    for name, text in (("macros", to_tex(macros)), ("tables/instances", table)):
        (folder / f"{name}.tex").write_text(text, encoding="utf-8", newline="\n")


def _run_all(
    notebooks: list[Path], folder: Path, parameters: Mapping[str, Any], target: Path, bar: tqdm
) -> None:
    """Run the notebooks side by side; the first failure ends it."""
    given = {**parameters, "out": str(folder.resolve())}
    jobs = [Job(nb, folder / "notebooks" / nb.name, given, target.resolve()) for nb in notebooks]
    with closing(run_jobs(jobs)) as runs:
        for job, failure in runs:
            if failure:
                raise failure
            bar.set_description_str(f"notebooks ({job.notebook.stem} done)")
            bar.update()


def _write_page(folder: Path, executed: list[Path], **head: Any) -> None:
    """Write one self-contained page with what every notebook shows, without its code."""
    exporter = HTMLExporter(
        template_name="basic", exclude_input=True, exclude_output_prompt=True,
        exclude_anchor_links=True,
    )  # fmt: skip
    parts = []
    for path in executed:
        notebook = nbformat.read(path, as_version=4)
        shown = [
            c for c in notebook.cells if "injected-parameters" not in c.metadata.get("tags", [])
        ]
        for number, cell in enumerate(shown):
            cell.id = f"{path.stem}-{number}"
        notebook.cells = shown
        heading = notebook.cells[0].source.partition("\n")[0].lstrip("# ")
        body, _ = exporter.from_notebook_node(notebook)
        parts.append({"name": path.stem, "title": heading, "body": body})
    parts.sort(key=lambda part: (part["name"] != "06_report", part["name"]))
    loader = jinja2.FileSystemLoader(resource("reports", "templates"))
    env = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    page = env.get_template("index.html.j2").render(
        parts=parts, version=__version__, **head
    )  # fmt: skip
    (folder / "index.html").write_text(page, encoding="utf-8", newline="\n")


def build_history(parameters: Mapping[str, Any], target: Path) -> Path:
    """Run the notebook that compares editions, and write its page.

    Parameters
    ----------
    parameters : mapping
        Parameters of the notebook, without ``out``.
    target : Path
        The folder for the page, the executed notebook, tables, figures and csv files.

    Returns
    -------
    Path
        The page.
    """
    history = open_editions(**{k: v for k, v in parameters.items() if k != "benchmark"})
    [notebook] = [path for path in list_notebooks() if path not in edition_notebooks()]
    check_target(target)
    staging = staging_folder(target.resolve())
    try:
        with tqdm(total=1, disable=True) as bar:
            _run_all([notebook], staging, parameters, target, bar)
        executed = [staging / "notebooks" / notebook.name]
        title = history.edition.title
        _write_page(staging, executed, title=title, source=Source(), tex=False, pdf=False)
        manifest = {
            "editions": [edition.id for edition in history.editions],
            "rules": parameters.get("rules"),
            "inputs": [{"file": path.name, "sha256": sha256(path)} for path in history.inputs],
            **made_with(),
        }
        write_manifest(staging, manifest)
        put_in_place(staging, target.resolve())
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return target / "index.html"


def _manifest(analysis: Analysis, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """State what the report is made from: inputs, parameters, versions, commit."""
    return {
        **made_from(analysis.contest),
        **chosen(analysis, parameters.get("benchmarks_dir")),
        **made_with(),
        "latex": has_latex(),
    }
