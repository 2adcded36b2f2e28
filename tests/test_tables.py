import re
import shutil
import subprocess

import pandas as pd
import pytest

from vnnanalysis.editions import Edition
from vnnanalysis.latex import compile_report, has_latex
from vnnanalysis.tables import (
    Table,
    latex_name,
    latex_text,
    plain_name,
    slug,
    to_html,
    to_latex,
    to_text,
)

NAMES = {"alpha": r"$\alpha$-$\beta$-CROWN"}
TOOLS = ("alpha", "a_b", "c&d", "50%", "x$y$z")


@pytest.fixture
def edition(tmp_path):
    return Edition("e_1", "E & co", tmp_path, tools=TOOLS, display=NAMES)


@pytest.fixture
def table(edition):
    frame = pd.DataFrame(
        {"tool": TOOLS[:4], "score": [779.2, 12.34, 0.0, float("nan")], "a_b#c": [1, 2, 3, 4]}
    )
    frame.index.name = "index_name"
    return Table("over_all", "50% of α_x & more", frame, edition)


def test_t2_everything_is_escaped(table):
    latex = to_latex(table)
    body = re.sub(r"\\label\{[^}]*\}", "", latex)
    assert "a\\_b & 12.3 & 2 \\\\" in body
    assert "c\\&d & 0.0 & 3 \\\\" in body
    assert "50\\% & - & 4 \\\\" in body
    assert "A b\\#c" in body
    assert "index" not in body
    assert r"\caption{50\% of \ensuremath{\alpha}\_x \& more}" in body
    # no special character is left unescaped outside math
    unescaped = re.compile(r"(?<!\\)[%#_]")
    assert not unescaped.search(re.sub(r"\$[^$]*\$", "", body))


def test_t3_mathematics_stays_mathematics(table):
    assert r"$\alpha$-$\beta$-CROWN & 779.2 & 1 \\" in to_latex(table)
    assert "α-β-CROWN" in to_html(table)
    assert "α-β-CROWN" in to_text(table)


def test_booktabs_with_label(table):
    latex = to_latex(table)
    assert [latex.count(f"\\{rule}rule") for rule in ("top", "mid", "bottom")] == [1, 1, 1]
    assert r"\label{tab:e_1-over_all}" in latex
    assert r"\begin{tabular}{lrr}" in latex


def test_html_is_escaped_and_numbers_are_on_the_right(table):
    html = to_html(table)
    assert "c&amp;d" in html
    assert "<caption>50% of α_x &amp; more</caption>" in html
    assert "td.col1" in html


def test_equal_tables_give_equal_bytes(table):
    assert to_html(table) == to_html(table)
    assert to_latex(table) == to_latex(table)


def test_text_is_aligned(table):
    lines = to_text(table).splitlines()
    assert lines[2] == "Tool       Score  A b#c"
    assert lines[3] == "α-β-CROWN  779.2      1"
    assert lines[6] == "50%            -      4"


def test_lists_of_tools_are_shown_by_name(edition):
    frame = pd.DataFrame({"unsat": ["alpha, a_b"], "sat": ["c&d"]})
    assert r"$\alpha$-$\beta$-CROWN, a\_b & c\&d" in to_latex(Table("t", "c", frame, edition))


def test_grouped_headers(edition):
    frame = pd.DataFrame({"tool": ["a_b"], "x / y": [1.0], "x / z": [2.0]})
    latex = to_latex(Table("t", "c", frame, edition))
    assert r"\multicolumn{2}{c}{X}" in latex
    assert "Tool & y & z" in latex


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a_b", r"a\_b"),
        ("α,β", r"\ensuremath{\alpha},\ensuremath{\beta}"),
        ("$x^2$ & y", r"\$x{\textasciicircum}2\$ \& y"),  # a raw name is never mathematics
        (r"$\input{x}$", r"\${\textbackslash}input\{x\}\$"),
        ("~^\\{}", r"{\textasciitilde}{\textasciicircum}{\textbackslash}\{\}"),
        ("5 $", r"5 \$"),
    ],
)
def test_latex_text(text, expected):
    assert latex_text(text) == expected


def test_only_display_names_may_hold_mathematics(edition):
    assert plain_name(edition, "alpha") == "α-β-CROWN"
    assert latex_name(edition, "alpha") == r"$\alpha$-$\beta$-CROWN"
    assert plain_name(edition, "x$y$z") == "x$y$z"
    assert latex_name(edition, "x$y$z") == r"x\$y\$z"


def test_slugs_of_different_names_differ():
    names = ["a_b", "a-b", "c&d", "c-d", "c d", "c%d", "c(d)", "-c-d", "c-d-", "50%", "grid"]
    assert len({slug(name) for name in names}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", slug(name)) for name in names)


@pytest.mark.slow
def test_odd_names_compile(table, edition, tmp_path):
    """Real LaTeX reads what we escape: every printable ASCII character, Greek, and worse."""
    if not shutil.which("pdflatex"):
        pytest.skip("no pdflatex")
    odd = pd.DataFrame({"tool": ["".join(map(chr, range(33, 127))), "Δ≤é漢–", "$\\alpha$ $5"]})
    long = Table("long", "x_y", odd, edition, widths={"tool": 4}, is_long=True)
    text = "\n".join(to_latex(t) for t in (table, Table("odd", "$", odd, edition), long))
    (tmp_path / "t.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{amsmath,graphicx,booktabs,"
        f"longtable,array}}\\begin{{document}}{text}\\end{{document}}"
    )
    command = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "t"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert run.returncode == 0, run.stdout.decode("latin-1")[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("size", [r"\normalsize", r"\scriptsize"])
def test_wide_tables_fit_the_line(edition, tmp_path, size):
    """Short tables are made smaller; of long ones, columns share the line and words break."""
    if not has_latex():
        pytest.skip("no pdflatex")
    wide = pd.DataFrame({f"a_wide_column_{i}": [12345.6, 7.8] for i in range(12)})
    words = {"benchmark": ["cifar100_tinyimagenet" * 3, "x"], "reason": ["a word " * 40, "y"]}
    long = pd.DataFrame(words | {f"policy_{i}": ["unknown", "unsat"] for i in range(4)})
    tables = [
        Table("wide", "wide", wide, edition),
        Table("long", "long", long, edition, widths={"benchmark": 1, "reason": 2}, is_long=True),
    ]
    text = "".join(f"{{{size} {to_latex(table)}}}" for table in tables)
    (tmp_path / "t.tex").write_text(
        r"\documentclass{article}\usepackage{graphicx,booktabs,longtable,array}\begin{document}"
        rf"{text}See \ref{{tab:e_1-wide}} and \ref{{tab:e_1-long}}.\end{{document}}"
    )
    assert compile_report(tmp_path / "t.tex") == []
    natural = re.sub(r"\\resizebox.*?\{!\}", "", text)
    (tmp_path / "n.tex").write_text((tmp_path / "t.tex").read_text().replace(text, natural))
    assert "too wide" in " ".join(compile_report(tmp_path / "n.tex"))
