from vnnanalysis import overview
from vnnanalysis.analysis import analyse

TOOLS = ["tool_best", "tool_sound", "tool_wrong", "tool_absent"]


def test_sizes(invented):
    columns = ["benchmark", "scored", "instances", "rows", "tools"]
    assert overview.sizes(invented.runs, invented.edition)[columns].to_numpy().tolist() == [
        ["toy_acas", True, 6, 24, 4],
        ["toy_cnn", True, 5, 20, 3],
        ["toy_extra", False, 2, 6, 3],
    ]


def test_participation_is_missing_where_a_tool_does_not_take_part(invented_analysis):
    table = overview.participation(invented_analysis.judged, invented_analysis.edition, TOOLS)
    assert table.loc["tool_wrong"].tolist() == [6, 3, 1]
    assert table.loc["tool_absent"].isna().tolist() == [False, True, True]


def test_results_and_labels(invented_analysis):
    counts = overview.result_counts(invented_analysis.judged, TOOLS)
    assert counts.columns.tolist() == ["unsat", "sat", "unknown", "timeout", "error"]
    assert counts.loc["tool_wrong"].tolist() == [5, 5, 1, 1, 1]
    labels = overview.label_counts(invented_analysis.runs)
    assert labels["rows"].sum() == 50
    assert ["unknown", "(empty)", 1, "tool_wrong"] in labels.to_numpy().tolist()


def test_gaps(invented_analysis):
    table = overview.gaps(invented_analysis.judged, invented_analysis.edition, TOOLS)
    assert table.to_numpy().tolist() == [["tool_absent", "toy_extra", 2, 2]]


def test_times(invented):
    table = overview.times(invented.runs, TOOLS).set_index("tool")
    assert table.loc["tool_absent", ["rows", "not_run"]].tolist() == [11, 5]
    assert table.loc["tool_best", ["shortest_answer_s", "longest_answer_s"]].tolist() == [2.0, 30.0]
    assert table["longest_run_s"].tolist() == [100.0, 60.2, 100.3, 3.5]
    assert table["late_answers"].tolist() == [0, 0, 0, 0]


def test_late_answers_are_counted_where_a_limit_is_known(tidy):
    from vnnanalysis.load import load_contest

    header = "tool,benchmark,instance,result,time_s,timeout_s\n"
    path = tidy(header + "a,x,i,unsat,9,5\na,x,j,unsat,1,5\nb,x,i,unsat,9,\n")
    contest = load_contest(str(path))
    table = overview.times(contest.runs, ["a", "b"]).set_index("tool")["late_answers"]
    assert table["a"] == 1
    assert table.isna()["b"]


def test_excluded_rows_say_why(contest_2021):
    judged = analyse(contest_2021, contest_2021.edition.rules).judged
    assert overview.excluded(judged).to_numpy().tolist() == [
        ["skipped: RPM on mnistfc, left out by the organisers", 89, 71]
    ]


def test_real_contest_has_no_gaps(contest_2021):
    judged = analyse(contest_2021, contest_2021.edition.rules).judged
    assert overview.gaps(judged, contest_2021.edition, contest_2021.edition.tools).empty
