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
from vnnanalysis.tables import latex_text, short_latex, slug

HOW_TO_GET = (
    "no pdflatex found, so there is report.tex but no report.pdf; on Debian: "
    "apt install texlive-latex-recommended texlive-fonts-recommended lmodern"
)
PIECES = (  # in this order
    *("measured", "rules", "overall", "statistics", "benchmarks", "pairs", "certainty"),
    *("complementarity", "disputes", "instances"),
)
WIDEST_PT = 10  # a box may be that much too wide
_OVERFULL = re.compile(r"Overfull \\hbox \(([\d.]+)pt too wide\).*")
_REFERENCES = re.compile(r"LaTeX Warning: (?:Reference|Citation|Label|There were).*")
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
    # every name passes through one of these
    env.filters |= {"latex": latex_text, "slug": slug, "toolname": short_latex, "letter": _letter}
    return env


def _letter(number: int) -> str:
    """Count in letters: a to z, then aa, ab, ..."""
    before, last = divmod(number - 1, 26)
    return (_letter(before) if before else "") + chr(ord("a") + last)


def write_report(analysis: Analysis, folder: Path, facts: dict[str, Any]) -> Path:
    """Write ``report.tex``, its preamble and its pieces beside the tables and figures they use.

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

        def is_made(name: str, is_optional: bool = False) -> bool:
            file = folder / kind / f"{slug(name)}.{suffix}"
            empty = folder / "csv" / f"{slug(name)}.csv"
            is_empty = is_optional or (kind == "tables" and empty.is_file())
            if not file.is_file() and not is_empty:
                raise VnnAnalysisError(f"report.tex needs {kind}/{file.name}: no notebook wrote it")
            return file.is_file()

        return is_made

    env = environment()
    env.globals |= {
        "analysis": analysis, "edition": analysis.edition, "tables": made("tables", "tex"),
        "figures": made("figures", "pdf"), "pieces": PIECES, **facts,
    }  # fmt: skip
    (folder / "pieces").mkdir(exist_ok=True)
    for name in ("preamble", *(f"pieces/{piece}" for piece in PIECES), "report"):
        text = env.get_template(f"{name}.tex.j2").render()
        (folder / f"{name}.tex").write_text(text, encoding="utf-8", newline="\n")
    return folder / "report.tex"


def compile_report(tex: Path) -> list[str]:
    """Compile with pdflatex, shell escape off, until references are settled.

    The same sources give the same bytes: no dates, no identifiers.

    Returns
    -------
    list of str
        What LaTeX complains of: references, labels, boxes much too wide. Empty for our own
        editions; very long names can cause some.

    Raises
    ------
    VnnAnalysisError
        With LaTeX's first error line if it fails.
    """
    env = os.environ | {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
    env["max_print_line"] = "1000"  # the log's lines whole
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
    return complaints(log.decode("utf-8", "replace"))


def complaints(log: str) -> list[str]:
    r"""Find what LaTeX's log says of references, labels, and boxes over 10 pt too wide.

    Examples
    --------
    >>> complaints("Overfull \\hbox (12.5pt too wide) in paragraph at lines 3--4")
    ['Overfull \\hbox (12.5pt too wide) in paragraph at lines 3--4']
    >>> complaints("Overfull \\hbox (2.5pt too wide) in paragraph at lines 3--4")
    []
    """
    wide = [hit[0] for hit in _OVERFULL.finditer(log) if float(hit[1]) > WIDEST_PT]
    return [*(hit[0] for hit in _REFERENCES.finditer(log)), *wide]
