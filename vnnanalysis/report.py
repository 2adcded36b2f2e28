"""The report: run the notebooks, make page, LaTeX, PDF and manifest, put them in place."""

import hashlib
import json
import multiprocessing
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
import nbformat
from nbconvert import HTMLExporter
from tqdm import tqdm

from vnnanalysis import __version__
from vnnanalysis.analysis import Analysis, compare_variants, open_analysis
from vnnanalysis.disputes import dispute_list, judge_by_policy
from vnnanalysis.editions import STATISTICS, Source
from vnnanalysis.errors import NotebookError, UsageError
from vnnanalysis.history import open_editions
from vnnanalysis.latex import HOW_TO_GET, compile_report, has_latex, write_report
from vnnanalysis.notebooks import edition_notebooks, list_notebooks, run_notebook
from vnnanalysis.paths import resource, root
from vnnanalysis.portfolio import complementarity
from vnnanalysis.summary import (
    caveats,
    checks_in_words,
    complementarity_sentences,
    conflict_sentences,
    headline,
    rules_in_words,
    sizes_in_words,
    swap_sentences,
    variant_caveats,
)
from vnnanalysis.tables import csv_bytes
from vnnanalysis.witness_tables import validation_in_words

MANIFEST = "manifest.json"
VERSIONED = ("numpy", "pandas", "scipy", "matplotlib", "seaborn", "papermill", "nbconvert")
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
    _check_target(target)
    if not force and _is_current(target, manifest):
        say(f"{shown}: up to date (--force builds it again)")
        return shown
    staging = _staging(target)
    try:
        times = _fill(analysis, parameters, staging, say)
        manifest["outputs"] = _hashes(staging)
        text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        (staging / MANIFEST).write_text(text, encoding="utf-8")
        _put_in_place(staging, target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    say("; ".join(f"{stage} {seconds:.1f} s" for stage, seconds in times.items()))
    return shown


def _fill(
    analysis: Analysis, parameters: Mapping[str, Any], folder: Path, say: Say
) -> dict[str, float]:
    """Write everything but the manifest; return the seconds of each stage."""
    times: dict[str, float] = {}
    notebooks = edition_notebooks()
    stages = len(notebooks) + 3
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
            _run_all(notebooks, folder, parameters, bar)
        with stage("page"):
            executed = [folder / "notebooks" / notebook.name for notebook in notebooks]
            _write_page(
                folder, executed, title=analysis.edition.title, source=analysis.edition.results,
                tex=True, pdf=has_latex(),
            )  # fmt: skip
        with stage("LaTeX"):
            tex = write_report(analysis, folder, _facts(analysis))
        with stage("PDF"):
            if has_latex():
                compile_report(tex)
        bar.set_description_str("done")
    if not has_latex():
        say(HOW_TO_GET)
    return times


def _run_all(notebooks: list[Path], folder: Path, parameters: Mapping[str, Any], bar: tqdm) -> None:
    """Run the notebooks side by side; the first failure ends it."""
    executed = folder / "notebooks"
    executed.mkdir()
    given = {**parameters, "out": str(folder.resolve())}
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    n_processes = min(len(notebooks), os.cpu_count() or 1)
    with (
        tempfile.TemporaryDirectory(prefix="vnna-", ignore_cleanup_errors=True) as sockets,
        ProcessPoolExecutor(n_processes, context) as pool,
    ):
        jobs = {
            pool.submit(_run_one, nb, executed / nb.name, given, Path(sockets)): nb
            for nb in notebooks
        }
        try:
            for job in as_completed(jobs):
                failure = job.result()
                if failure:
                    raise NotebookError(*failure)
                bar.set_description_str(f"notebooks ({jobs[job].stem} done)")
                bar.update()
        except BrokenProcessPool:
            names = ", ".join(
                nb.stem for job, nb in jobs.items() if not job.done() or job.exception()
            )
            raise NotebookError(names, "kernel", "ended before it was done (killed?)") from None
        except BaseException:
            for child in set(multiprocessing.active_children()) - others:
                child.terminate()  # their kernels notice and end too
            raise


def _run_one(
    path: Path, output: Path, parameters: Mapping[str, Any], sockets: Path
) -> tuple[str, ...] | None:
    """Run in a child process; an error returns as its parts, which can be pickled.

    What the kernel itself logs is kept out of the terminal; its errors are in the notebook.
    """
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 2)
    try:
        run_notebook(path, output, parameters, sockets=sockets)
    except NotebookError as error:
        return error.name, error.cell, error.problem
    return None


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
    _check_target(target)
    staging = _staging(target.resolve())
    try:
        with tqdm(total=1, disable=True) as bar:
            _run_all([notebook], staging, parameters, bar)
        executed = [staging / "notebooks" / notebook.name]
        title = history.edition.title
        _write_page(staging, executed, title=title, source=Source(), tex=False, pdf=False)
        manifest = {
            "editions": [edition.id for edition in history.editions],
            "rules": parameters.get("rules"),
            "inputs": [{"file": path.name, "sha256": _sha256(path)} for path in history.inputs],
            **_made_with(),
            "outputs": _hashes(staging),
        }
        text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        (staging / MANIFEST).write_text(text, encoding="utf-8")
        _put_in_place(staging, target.resolve())
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return target / "index.html"


def _facts(analysis: Analysis) -> dict[str, Any]:
    """Collect the sentences of the LaTeX report."""
    edition, judged = analysis.edition, analysis.judged
    variants = compare_variants(analysis)
    by_policy = judge_by_policy(analysis.contest, analysis.rules, analysis.benchmarks)
    disputed = dispute_list(by_policy, edition)
    adds = complementarity(judged, analysis.tools)
    return {
        "version": __version__,
        "statistics": list(STATISTICS),
        "tracks": list(dict.fromkeys(analysis.overall["track"])),
        "sizes": sizes_in_words(judged, edition),
        "rules": rules_in_words(analysis.rules, edition),
        "checks": [
            *checks_in_words(judged, analysis.rules),
            *validation_in_words(analysis.contest, analysis.benchmarks),
            *caveats(judged, analysis.contest.checks, analysis.rules),
        ],
        "headline": headline(analysis.overall, edition),
        "swaps": [
            *swap_sentences(variants, edition),
            *variant_caveats(variants, analysis.contest.checks, analysis.rules),
        ],
        "conflicts": conflict_sentences(disputed, judged, edition),
        "adds": complementarity_sentences(adds, edition),
    }


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _hashes(folder: Path) -> dict[str, str]:
    """Hash every file of a report but the executed notebooks, which carry times."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    named = {path.relative_to(folder).as_posix(): path for path in files}
    return {n: _sha256(p) for n, p in named.items() if n != MANIFEST and not n.endswith(".ipynb")}


def _manifest(analysis: Analysis, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """State what the report is made from: inputs, parameters, versions, commit."""
    settings = analysis.edition.path.with_suffix(".toml")
    inputs = [*analysis.contest.inputs, *([settings] if settings.is_file() else [])]
    return {
        "edition": analysis.edition.id,
        "rules": {name: str(value) for name, value in vars(analysis.rules).items()},
        "track": analysis.track,
        "benchmarks": analysis.benchmarks,
        "tools": analysis.tools,
        "counterexamples": _measured(analysis),
        "extra_tools": analysis.edition.extra_tools,
        "lenient": bool(parameters.get("lenient")),
        "inputs": [{"file": path.name, "sha256": _sha256(path)} for path in inputs],
        "source": {
            "repository": analysis.edition.results.repository,
            "commit": analysis.edition.results.commit,
        },
        **_made_with(),
        "latex": has_latex(),
    }


def _measured(analysis: Analysis) -> dict[str, Any]:
    """State how many counterexamples were validated, and what came out."""
    measured = analysis.contest.measurements
    digest = hashlib.sha256(csv_bytes(measured)).hexdigest()
    return {"sats": len(measured), "sha256": digest} if len(measured) else {}


def _made_with() -> dict[str, Any]:
    """State which code, and which libraries, something is made with."""
    own = sorted(Path(__file__).parent.glob("*.py"))
    own += [*list_notebooks(), *sorted(resource("reports", "templates").glob("*.j2"))]
    own += sorted(resource("data", "editions").glob("*.toml"))
    digest = hashlib.sha256("".join(_sha256(path) for path in own).encode())
    return {
        "versions": {
            "vnnanalysis": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in VERSIONED},
        },
        "commit": _commit(),
        "code": digest.hexdigest(),
    }


def _commit() -> str | None:
    """Return the commit of the checkout this runs from, if it is one."""
    if not (root() / ".git").exists():
        return None
    command = ["git", "-C", str(root()), "rev-parse", "HEAD"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return run.stdout.strip() or None


def _is_current(target: Path, manifest: Mapping[str, Any]) -> bool:
    """Whether the report in place was made from the same things and is still whole."""
    try:
        old = json.loads((target / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    outputs = old.pop("outputs", None)
    return old == json.loads(json.dumps(manifest)) and outputs == _hashes(target)


def _check_target(target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise UsageError(f"{target} is a file; name a folder for the report")
    if target.exists() and not (target / MANIFEST).is_file() and any(target.iterdir()):
        raise UsageError(f"{target} holds something that is no report of ours; name another folder")


def _staging(target: Path) -> Path:
    """Make the folder beside the target in which the report is built."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise UsageError(f"cannot write the report to {target}: {error.strerror}") from None


def _put_in_place(staging: Path, target: Path) -> None:
    """Replace the earlier report; if that fails, it is put back."""
    old = staging.with_name(staging.name + "-old")
    had_report = target.exists()
    if had_report:
        target.rename(old)
    try:
        staging.chmod(0o755)
        staging.rename(target)
    except BaseException:
        if had_report:
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
