import re

import pandas as pd
import pytest
from conftest import INVENTED, raw_row, real_path

from vnnanalysis.errors import RawDataError, SchemaError, UsageError
from vnnanalysis.layouts import relative_path
from vnnanalysis.limits import read_limits
from vnnanalysis.load import load_contest
from vnnanalysis.rows import Log
from vnnanalysis.scoring import benchmark_scores

TIDY = "tool,benchmark,instance,result,time_s\n"


def instances(contest):
    runs = contest.runs[~contest.runs["is_test"]]
    return runs.drop_duplicates(["benchmark", "instance"])


# --- identity ---------------------------------------------------------------------------


def test_l1_two_benchmark_years_are_two_instances(raw_edition):
    old = raw_row("tllb", "onnx/a.onnx", "p.vnnlib", "sat", 0.9, "vnncomp2022_benchmarks")
    new = raw_row("tllb", "onnx/a.onnx", "p.vnnlib", "unsat", 0.8, "vnncomp2023_benchmarks")
    edition, folder = raw_edition(
        {"a": old, "b": new}, benchmarks=("2022_tllb", "2023_tllb"),
        benchmark_id="{year}_{category}",
    )  # fmt: skip
    contest = load_contest(edition, folder)
    assert contest.runs["benchmark"].tolist() == ["2022_tllb", "2023_tllb"]
    assert contest.runs["benchmark_year"].tolist() == ["2022", "2023"]
    assert len(instances(contest)) == 2


def test_l2_equal_stems_in_sub_folders_are_two_instances(raw_edition):
    rows = raw_row("nlp", "onnx/med/n.onnx", "vnnlib/med/h_1.vnnlib", "unsat")
    rows += raw_row("nlp", "onnx/rua/n.onnx", "vnnlib/rua/h_1.vnnlib", "sat")
    rows += raw_row("nlp", "onnx/rua/n.onnx", "vnnlib/rua/h_2.vnnlib", "sat")
    edition, folder = raw_edition({"a": rows}, benchmarks=("nlp",))
    names = load_contest(edition, folder).runs["instance"].tolist()
    assert names == [
        "onnx/med/n-vnnlib/med/h_1",
        "onnx/rua/n-vnnlib/rua/h_1",
        "n-h_2",
    ]


def test_l3_instance_listed_twice_counts_twice_and_is_reported(raw_edition):
    twice = [raw_row("acas", "a.onnx", "p.vnnlib", "unsat", t) for t in (6.04, 6.08)]
    other = [raw_row("acas", "a.onnx", "p.vnnlib", "unsat", t) for t in (9.0, 9.5)]
    edition, folder = raw_edition({"a": "".join(twice), "b": "".join(other)})
    contest = load_contest(edition, folder)
    # the k-th occurrence of one tool meets the k-th of the other
    assert contest.runs["instance"].tolist() == ["a-p", "a-p#2", "a-p", "a-p#2"]
    assert contest.runs["index"].tolist() == [0, 1, 0, 1]
    assert contest.problems["problem"].str.contains("counts again for 2 tools").tolist() == [True]
    assert contest.problems[["file", "line"]].to_numpy().tolist() == [["a.csv", 2]]


@pytest.mark.parametrize(("duplicates", "verified"), [("official", 2), ("unique", 1)])
def test_l3_unique_is_an_explicit_option(raw_edition, duplicates, verified):
    from vnnanalysis.judging import judge

    twice = raw_row("acas", "a.onnx", "p.vnnlib", "unsat", 6.04)
    edition, folder = raw_edition({"a": twice + twice.replace("6.04", "6.08")})
    contest = load_contest(edition, folder)
    rules = contest.edition.rules.with_settings({"duplicates": duplicates})
    judged = judge(contest.runs, contest.edition, rules)
    assert len(judged) == 2  # never dropped
    scores = benchmark_scores(judged, contest.edition, rules)
    assert scores["verified"].tolist() == [verified]


def test_l5_test_rows_stand_apart_but_a_benchmark_with_test_in_its_name_stays(raw_edition):
    rows = raw_row("acas", "a.onnx", "p.vnnlib", "unsat")
    rows += "acas,./benchmarks/test/test_nano.onnx,./benchmarks/test/test_nano.vnnlib,.1,holds,.5\n"
    rows += raw_row("my_test_bench", "test_small.onnx", "p.vnnlib", "sat")
    edition, folder = raw_edition({"a": rows}, benchmarks=("acas", "my_test_bench"))
    runs = load_contest(edition, folder).runs
    assert runs["is_test"].tolist() == [False, True, False]
    assert runs["index"].tolist() == [0, pd.NA, 0]


def test_l6_empty_results_beside_the_tools_are_no_tool(raw_edition):
    row = raw_row("acas", "a.onnx", "p.vnnlib", "unsat")
    edition, folder = raw_edition({"a": row, "SCORING-X": ""}, files="{tool}/results.csv")
    contest = load_contest(edition, folder)
    assert contest.edition.tools == ("a",)
    assert contest.problems["value"].tolist() == ["SCORING-X"]
    assert contest.problems["problem"].str.contains("no tool of the edition").all()


def test_results_of_an_unknown_tool_are_refused(raw_edition):
    row = raw_row("acas", "a.onnx", "p.vnnlib", "unsat")
    edition, folder = raw_edition({"nnenum": row})
    (folder / "nnenumm.csv").write_text(row)
    with pytest.raises(UsageError, match="'nnenumm' is no tool of Small: nearest is 'nnenum'"):
        load_contest(edition, folder)


def test_missing_tool_is_reported(raw_edition):
    row = raw_row("acas", "a.onnx", "p.vnnlib", "unsat")
    edition, folder = raw_edition({"a": row, "b": row})
    (folder / "b.csv").unlink()
    assert load_contest(edition, folder).problems["file"].tolist() == ["b.csv"]


def test_l7_limits_with_crlf_prefixes_and_no_final_newline(tmp_path):
    path = tmp_path / "instances.csv"
    path.write_bytes(b"./onnx/a.onnx.gz,vnnlib/p.vnnlib.gz,30.0\r\nonnx/b.onnx,vnnlib/q.vnnlib,30")
    assert read_limits(path, Log()).to_numpy().tolist() == [
        ["onnx/a.onnx", "vnnlib/p.vnnlib", 30.0],
        ["onnx/b.onnx", "vnnlib/q.vnnlib", 30.0],
    ]


def test_limits_meet_the_runs_by_identity(raw_edition, tmp_path):
    rows = raw_row("acas", "onnx/b.onnx", "vnnlib/q.vnnlib", "sat")
    rows += raw_row("acas", "onnx/a.onnx", "vnnlib/p.vnnlib", "unsat")
    edition, folder = raw_edition({"t": rows})
    limits = tmp_path / "repo" / "benchmarks" / "acas" / "instances.csv"
    limits.parent.mkdir(parents=True)
    limits.write_bytes(b"./onnx/a.onnx.gz,vnnlib/p.vnnlib.gz,30.0\r\nonnx/b.onnx,vnnlib/q.vnnlib,7")
    runs = load_contest(edition, folder, benchmarks=tmp_path / "repo").runs
    assert dict(zip(runs["instance"], runs["timeout_s"], strict=True)) == {"b-q": 7.0, "a-p": 30.0}
    mine = tmp_path / "mine.csv"
    mine.write_text(TIDY + "mine,acas,b-q,sat,1\n")
    both = load_contest(edition, folder, benchmarks=tmp_path / "repo", extra=[mine]).runs
    assert both.loc[both["tool"] == "mine", "timeout_s"].tolist() == [7.0]
    assert both["timeout_s"].notna().all()


def test_a_tidy_file_keeps_its_own_limits(tmp_path):
    with pytest.raises(UsageError, match="limits of a tidy file are its own timeout_s"):
        load_contest(INVENTED, benchmarks=tmp_path)


def test_crlf_leaves_no_trace(raw_edition):
    row = raw_row("acas", "a.onnx", "p.vnnlib", "unsat").replace("\n", "\r\n").encode()
    edition, folder = raw_edition({"a": row})
    runs = load_contest(edition, folder).runs
    assert not runs.astype(str).apply(lambda c: c.str.contains("\r")).any(axis=None)


def test_l9_no_header_short_numbers_empty_label(raw_edition):
    rows = "".join(
        f"acas,./benchmarks/acas/{n}.onnx,./benchmarks/acas/p.vnnlib,.003,{label},{run}\n"
        for n, label, run in (("a", "unsat", ".5"), ("b", "", "2"), ("c", "sat", "1e1"))
    )
    edition, folder = raw_edition({"a": rows})
    runs = load_contest(edition, folder).runs
    assert runs["result"].tolist() == ["unsat", "unknown", "sat"]
    assert runs["run_s"].tolist() == [0.5, 2.0, 10.0]
    assert runs["prepare_s"].tolist() == [0.003] * 3
    assert runs["result_raw"].tolist() == ["unsat", "", "sat"]


def test_n4_failed_preparation_has_no_run_time(raw_edition):
    row = "acas,./benchmarks/acas/a.onnx,./benchmarks/acas/p.vnnlib,600.003,"
    edition, folder = raw_edition({"a": row + "prepare_instance_timeout,-1\n"})
    runs = load_contest(edition, folder).runs
    assert runs["result"].tolist() == ["timeout"]
    assert runs["run_s"].isna().all()


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("./benchmarks/verivital/./specs/p.vnnlib", ("", "verivital", "", "specs/p.vnnlib")),
        (
            "vnncomp2023_benchmarks/benchmarks/nn4sys/onnx/a.onnx",
            ("2023", "nn4sys", "", "onnx/a.onnx"),
        ),
        (
            "x/vnncomp2026_benchmarks/benchmarks/a_b/2.0/o/a.onnx.gz",
            ("2026", "a_b", "2.0", "o/a.onnx"),
        ),
        ("./benchmarks/rl_benchmarks/onnx/a.onnx", ("", "rl_benchmarks", "", "onnx/a.onnx")),
        ("./benchmarks/a/it's=1.onnx", ("", "a", "", "it's=1.onnx")),
        ("onnx/a.onnx", None),
    ],
)
def test_relative_path(path, parts):
    assert relative_path(path) == parts


def test_positions_follow_the_longest_file(raw_edition):
    rows = [raw_row("acas", f"{n}.onnx", "p.vnnlib", "unsat") for n in "abc"]
    edition, folder = raw_edition({"short": rows[2], "whole": "".join(rows)})
    runs = load_contest(edition, folder).runs
    position = dict(zip(runs["instance"], runs["index"], strict=True))
    assert position == {"a-p": 0, "b-p": 1, "c-p": 2}


# --- bad rows ---------------------------------------------------------------------------

GOOD = "acas,./benchmarks/acas/a.onnx,./benchmarks/acas/p.vnnlib,.1,unsat,1.5\n"


@pytest.mark.parametrize(
    ("line", "column", "found", "expected"),
    [
        (GOOD.replace("unsat", "satisfiable?"), "5 (result)", "satisfiable?", "a label"),
        (GOOD.replace("unsat", "unsatcore"), "5 (result)", "unsatcore", "nearest is 'unsat'"),
        (GOOD.replace("unsat", "sat((X_0 1))"), "5 (result)", "sat((X_0 1))", "nearest is 'sat'"),
        (GOOD.replace("1.5", "fast"), "6 (run time)", "fast", "seconds"),
        (GOOD.replace("1.5", "nan"), "6 (run time)", "nan", "seconds"),
        (GOOD.replace("unsat,1.5", "timeout,nan"), "6 (run time)", "nan", "-1 for not run"),
        (GOOD.replace("acas/a", "test/test_small"), "2 (network)", None, "benchmarks/acas/"),
        (GOOD.replace("1.5", "1_0"), "6 (run time)", "1_0", "seconds"),
        (GOOD.replace("1.5", "-1"), "6 (run time)", "-1", "seconds"),  # an answer needs a time
        (GOOD.replace(",.1,", ",-2,"), "4 (prepare time)", "-2", "seconds, or -1"),
        (GOOD.replace("acas,", "acass,"), "1 (category)", "acass", "nearest is 'acas'"),
        (GOOD.replace("acas,", ",", 1), "1 (category)", "", "a name"),
        (GOOD.replace("./benchmarks/acas/a", "acas/a"), "2 (network)", "acas/a.onnx", "a path"),
        (GOOD.replace("acas/a", "dist/a"), "2 (network)", "./benchmarks/dist/a.onnx", "acas/"),
        (GOOD.replace("./benchmarks/acas/p", "p"), "3 (property)", "p.vnnlib", "a path"),
        (GOOD.replace(",1.5", ""), "5", None, "6 fields"),
        (GOOD.replace("1.5", "1.5,x"), "7", None, "6 fields"),
        (GOOD.replace("1.5", '"1.5'), "1", None, "a csv row"),
    ],
)
def test_bad_row_names_file_line_column_and_text(raw_edition, line, column, found, expected):
    edition, folder = raw_edition({"tool": GOOD + "\n" + line})
    with pytest.raises(RawDataError, match=re.escape(expected)) as caught:
        load_contest(edition, folder)
    error = caught.value
    assert (error.path.name, error.line, error.column) == ("tool.csv", 3, column)
    if found is not None:
        assert error.value == found
        assert f"tool.csv, line 3, column {column}: expected" in str(error)


def test_text_that_is_not_utf8_is_a_bad_row(raw_edition):
    edition, folder = raw_edition({"tool": GOOD.encode() + b"acas,\xff\xfe\n"})
    with pytest.raises(RawDataError, match=r"line 2, column 1: expected text in UTF-8"):
        load_contest(edition, folder)


def test_the_first_bad_row_counts_the_others(raw_edition):
    bad = GOOD.replace("unsat", "yes")
    edition, folder = raw_edition({"a": bad + bad, "b": bad})
    with pytest.raises(RawDataError, match=r"2 more bad rows; --lenient sets bad rows aside"):
        load_contest(edition, folder)


def test_lenient_reports_and_excludes_bad_rows(raw_edition):
    bad_label = GOOD.replace("unsat", "unsatcore").replace("a.onnx", "b.onnx")
    edition, folder = raw_edition({"tool": GOOD + bad_label + "acas,x\n"})
    contest = load_contest(edition, folder, lenient=True)
    # a row whose instance is known stays as an excluded row, the other cannot
    assert contest.runs["excluded"].tolist() == ["", "bad row: column 5 (result): 'unsatcore'"]
    assert contest.runs["result"].tolist() == ["unsat", "unknown"]
    assert contest.problems["line"].tolist() == [2, 3]
    assert contest.problems["column"].tolist() == ["5 (result)", "2"]


# --- tidy files -------------------------------------------------------------------------


def test_tidy_contest_needs_nothing_but_itself(tidy):
    path = tidy(TIDY + "a,b1,i1,unsat,1.5\na,b2,i1,sat,2\nb,b1,i1,timeout,\n")
    contest = load_contest(str(path))
    assert contest.edition.tools == ("a", "b")
    assert contest.edition.benchmarks == ("b1", "b2")
    assert list(contest.edition.tracks) == ["main"]
    assert contest.runs["index"].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tool,benchmark,instance,result\n", "line 1, column 4: expected a header of"),
        ("tool,benchmark,instance,reslt,time_s\n", "column 4: .* found 'reslt'"),
        ("tool,tool,benchmark,instance,result,time_s\n", "column 2: .* found 'tool'"),
        ("", "expected a header of"),
        (TIDY + "a,b,i,unsat,\n", r"line 2, column 5 \(time_s\): expected seconds, found ''"),
        (TIDY + ",b,i,unsat,1\n", r"line 2, column 1 \(tool\): expected a name"),
        (TIDY + "a,b,i,unsat,1\na,b,i,sat,2\n", r"line 3, column 3 .*it stands in line 2"),
        (TIDY + "a,b,i,unsat,1e999x\n", r"column 5 \(time_s\)"),
        (TIDY + "a,b,i,unsat,1e400\n", r"column 5 \(time_s\): expected seconds, found '1e400'"),
    ],
)
def test_bad_tidy_file(tidy, text, expected):
    with pytest.raises(RawDataError, match=expected):
        load_contest(str(tidy(text)))


def test_tidy_columns_in_any_order_with_bom_and_crlf(tidy):
    text = "\ufefftime_s,result,tool,instance,benchmark,timeout_s\r\n1,sat,a,i,b,30\r\n"
    runs = load_contest(str(tidy(text))).runs
    columns = ["tool", "benchmark", "instance", "result", "run_s", "timeout_s"]
    assert runs[columns].to_numpy().tolist() == [["a", "b", "i", "sat", 1.0, 30.0]]


def test_minus_one_as_pandas_writes_it(tidy):
    rows = "a,b,i,unsat,1\na,b,j,timeout,-1.0\na,b,k,timeout,-1\n"
    runs = load_contest(str(tidy(TIDY + rows))).runs
    assert runs["run_s"].isna().tolist() == [False, True, True]


def test_files_without_rows(tidy, raw_edition):
    with pytest.raises(UsageError, match="expected results of contest, found no row"):
        load_contest(str(tidy(TIDY)))
    with pytest.raises(UsageError, match="expected results of a tool, found no row"):
        load_contest(INVENTED, extra=[tidy(TIDY, "mine.csv")])
    bad = tidy(TIDY + "mine,toy_acas,nowhere,sat,1\n", "mine.csv")
    with pytest.raises(UsageError, match="expected results of a tool, found no row"):
        load_contest(INVENTED, extra=[bad], lenient=True)
    row = raw_row("acas", "a.onnx", "p.vnnlib", "unsat")
    edition, folder = raw_edition({"a": row, "b": ""})
    assert load_contest(edition, folder).problems["problem"].tolist() == [
        "no rows: judged without this tool"
    ]
    (folder / "c.csv").mkdir()
    with pytest.raises(UsageError, match=r"c\.csv: Is a directory"):
        load_contest(edition, folder)


def test_benchmarks_of_a_tidy_file_must_be_those_beside_it(tidy):
    path = tidy(TIDY + "a,acas,i,unsat,1\n")
    path.with_suffix(".toml").write_text('title = "T"\n[tracks.main]\nbenchmarks = ["acass"]\n')
    with pytest.raises(RawDataError, match=r"column 2 \(benchmark\): .*nearest is 'acass'"):
        load_contest(str(path))


def test_extra_tool_beside_a_contest(tidy, invented):
    mine = tidy(TIDY + "mine,toy_acas,a3,sat,1.0\nmine,toy_cnn,c3,unsat,9\n", "mytool.csv")
    contest = load_contest(INVENTED, extra=[mine])
    added = contest.runs[contest.runs["tool"] == "mine"]
    assert contest.edition.extra_tools == ("mine",)
    assert contest.edition.name("mine") == "mine (not in competition)"
    assert added["index"].tolist() == [2, 2]
    assert added["timeout_s"].tolist() == [60.0, 100.0]  # the contest's limits
    assert len(contest.runs) == len(invented.runs) + 2


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("tool_best,toy_acas,a1,sat,1", r"column 1 \(tool\): expected a name that no other"),
        ("mine,toy_acass,a1,sat,1", "nearest is 'toy_acas'"),
        ("mine,toy_acas,a11,sat,1", r"an instance of toy_acas \(nearest is 'a1'\)"),
    ],
)
def test_extra_tool_must_fit_the_contest(tidy, row, expected):
    with pytest.raises(RawDataError, match=expected):
        load_contest(INVENTED, extra=[tidy(TIDY + row + "\n")])


# --- wrong places -----------------------------------------------------------------------


def test_wrong_names_and_folders(tmp_path, raw_edition):
    with pytest.raises(UsageError, match=r"unknown edition '2012': nearest is '20"):
        load_contest("2012")
    with pytest.raises(UsageError, match="no such file"):
        load_contest(str(tmp_path / "none.csv"))
    with pytest.raises(UsageError, match="expected a checkout of stanleybak/vnncomp2021_results"):
        load_contest("2021", tmp_path / "none")
    with pytest.raises(UsageError, match=r"expected files .*, found none"):
        load_contest("2021", tmp_path)
    with pytest.raises(UsageError, match="no such file"):
        load_contest(INVENTED, extra=[tmp_path / "none.csv"])
    only = tmp_path / "only.toml"
    only.write_text('title = "x"\n')
    with pytest.raises(UsageError, match=r"expected a section \[layout\]"):
        load_contest(str(only))
    only.write_text('title = "x\n')
    with pytest.raises(SchemaError, match="line 1"):
        load_contest(str(only))


# --- real data --------------------------------------------------------------------------


def test_real_2021_is_read_whole(contest_2021):
    runs = contest_2021.runs
    assert len(runs) == 11357
    assert runs["tool"].nunique() == 13
    assert runs["run_s"].isna().sum() == 591 + 515 + 316 + 222 + 73 + 9  # the rows with -1
    assert contest_2021.problems.empty
    real = runs[~runs["is_test"]]
    assert len(real) == 13 * 859
    assert (runs.loc[runs["tool"] == "RPM", "excluded"] != "").sum() >= 89


def test_real_2021_files_may_be_named_directly(contest_2021):
    folder = real_path("results", "vnncomp2021_results", "results_csv")
    named = load_contest("2021", folder).runs
    assert named["source"].iloc[0] == "DNNF.csv:7"
    assert contest_2021.runs["source"].iloc[0] == "results_csv/DNNF.csv:7"
    whole = contest_2021.runs.drop(columns="source")
    pd.testing.assert_frame_equal(named.drop(columns="source"), whole)
