"""The LaTeX report: fill the template, compile it where a LaTeX is found."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2

from vnnanalysis.analysis import Analysis
from vnnanalysis.errors import VnnAnalysisError
from vnnanalysis.paths import resource
from vnnanalysis.tables import latex_text, slug

HOW_TO_GET = (
    "no pdflatex found, so there is report.tex but no report.pdf; on Debian: "
    "apt install texlive-latex-recommended texlive-fonts-recommended lmodern"
)
_RERUN = re.compile(rb"Rerun to get|Rerun LaTeX|Table widths have changed")


def has_latex() -> bool:
    """Whether a pdflatex is on the path."""
    return shutil.which("pdflatex") is not None


def environment() -> jinja2.Environment:
    """Return the jinja2 environment of the LaTeX templates (``<<value>>``, ``<%block%>``)."""
    loader = jinja2.FileSystemLoader(resource("reports", "templates"))
    env = jinja2.Environment(
        loader=loader, block_start_string="<%", block_end_string="%>",
        variable_start_string="<<", variable_end_string=">>", comment_start_string="<#",
        comment_end_string="#>", trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined, autoescape=False,
    )  # fmt: skip
    env.filters |= {"latex": latex_text, "slug": slug}  # every name passes through one
    return env


def write_report(analysis: Analysis, folder: Path, facts: dict[str, Any]) -> Path:
    """Write ``report.tex`` beside the tables and figures it takes in.

    Parameters
    ----------
    analysis : Analysis
        For names and the order of benchmarks.
    folder : Path
        The report's folder, with ``tables`` and ``figures`` in it.
    facts : dict
        What else the template uses.
    """

    def made(kind: str, suffix: str) -> Callable[[str], bool]:
        """Tell whether a notebook wrote the thing; a table that is empty has a csv file only."""

        def is_made(name: str) -> bool:
            file = folder / kind / f"{slug(name)}.{suffix}"
            empty = folder / "csv" / f"{slug(name)}.csv"
            if not file.is_file() and not (kind == "tables" and empty.is_file()):
                raise VnnAnalysisError(f"report.tex needs {kind}/{file.name}: no notebook wrote it")
            return file.is_file()

        return is_made

    text = environment().get_template("report.tex.j2").render(
        analysis=analysis, edition=analysis.edition, tables=made("tables", "tex"),
        figures=made("figures", "pdf"), **facts
    )  # fmt: skip
    path = folder / "report.tex"
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def compile_report(tex: Path) -> Path:
    """Compile with pdflatex, shell escape off, until references are settled.

    The same sources give the same bytes: no dates, no identifiers.

    Raises
    ------
    VnnAnalysisError
        With LaTeX's first error line if it fails.
    """
    env = os.environ | {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
    command = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error"]
    for _ in range(5):
        run = subprocess.run(
            [*command, tex.name], cwd=tex.parent, env=env, capture_output=True, check=False
        )
        log = tex.with_suffix(".log").read_bytes() if tex.with_suffix(".log").exists() else b""
        if run.returncode:
            lines = log.decode("utf-8", "replace").splitlines()
            first = next((i for i, line in enumerate(lines) if line.startswith("!")), None)
            told = " ".join(lines[first : first + 3]) if first is not None else "no log"
            raise VnnAnalysisError(f"pdflatex failed on {tex.name}: {told}")
        if not _RERUN.search(log):
            break
    for suffix in (".aux", ".log", ".out", ".toc"):
        tex.with_suffix(suffix).unlink(missing_ok=True)
    return tex.with_suffix(".pdf")
