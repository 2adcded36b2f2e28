"""The example's tables and csv files, byte by byte; `make golden` rewrites them."""

import shutil
from pathlib import Path

import pytest

from vnnanalysis import disputes, portfolio, scoring
from vnnanalysis.analysis import compare_variants, open_analysis
from vnnanalysis.display import show_table, show_tables
from vnnanalysis.ranking import rank_table

GOLDEN = Path(__file__).parent / "golden"


def write_tables(out):
    a = open_analysis(edition="example", out=out)
    show_tables(a, "benchmark", a.scores.drop(columns="track"), "benchmark", by_rules=True)
    show_table(a, "overall", a.overall, "overall score", by_rules=True)
    statistics = scoring.statistics(a.scores, a.overhead, a.edition)
    short = scoring.SHORT_NAMES
    show_tables(a, "statistic", statistics, "", by="statistic", short=short, by_rules=True)
    show_table(a, "variants", rank_table(compare_variants(a)), "overall scores")
    table = portfolio.complementarity(a.judged, a.tools)
    show_table(a, "complementarity", table, "complementarity")
    disputed = disputes.dispute_list(a.contest.runs, a.edition, a.rules, a.benchmarks)
    show_table(a, "disputes", disputed, "disputed", widths={"unsat": "p{3cm}", "sat": "p{3cm}"})
    instances = scoring.instance_table(a.judged, a.edition)
    show_table(a, "instances", instances, "judged rows", in_latex=False)


def test_golden(tmp_path, request):
    rewrite = request.config.getoption("--rewrite-golden")
    out = GOLDEN if rewrite else tmp_path
    if rewrite:
        shutil.rmtree(GOLDEN, ignore_errors=True)
    write_tables(out)
    made = {p.relative_to(out) for kind in ("csv", "tables") for p in (out / kind).iterdir()}
    known = {p.relative_to(GOLDEN) for p in GOLDEN.rglob("*.*")}
    assert made == known
    assert len(made) == 27
    for name in sorted(made):
        assert (out / name).read_bytes() == (GOLDEN / name).read_bytes(), name
    if rewrite:
        pytest.skip("tests/golden was rewritten")
