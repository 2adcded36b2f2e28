"""Several editions: one tidy table, what recurs, progress, who was first."""

import json
import re

import pandas as pd
import pytest
from click.testing import CliRunner
from conftest import REAL, raw_row, real_path

from vnnanalysis.analysis import open_analysis
from vnnanalysis.cli import main
from vnnanalysis.editions import read_edition
from vnnanalysis.errors import UsageError
from vnnanalysis.history import (
    SCHEMA,
    History,
    _all,
    open_editions,
    parse_editions,
    tidy_frame,
)
from vnnanalysis.judging import judge
from vnnanalysis.load import load_contest
from vnnanalysis.paths import root
from vnnanalysis.recurring import (
    NONE,
    credit_by_tool,
    edition_sizes,
    first_solved,
    percents,
    progress,
    recurring_benchmarks,
    recurring_instances,
    solved_by_edition,
    temporal_credit,
)


@pytest.fixture(scope="session")
def all_years():
    real_path("results")
    return open_editions(editions="2021-2025", results_root=str(REAL / "results"))


def n_raw_rows(year):
    """Count lines of the raw files that are no start-up test, without any of our readers."""
    folder = REAL / "results" / f"vnncomp{year}_results"
    files = list(folder.glob("*/results.csv")) or list(folder.glob("results_csv/*.csv"))
    lines = [line for path in files for line in path.read_text().splitlines()]
    return sum(not re.search(r"/test/\S*test_(nano|tiny)|^test,\./", line) for line in lines)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("2021-2025", ["2021", "2022", "2023", "2024", "2025"]),
        ("2024, 2022", ["2022", "2024"]),
        ("study,2025-2026", ["2025", "2026", "study"]),
        ("all", ["2021", "2022", "2023", "2024", "2025", "2026", "study"]),
    ],
)
def test_a_choice_of_editions(text, ids):
    assert parse_editions(text) == ids


@pytest.mark.parametrize("text", ["2020", "2021-2031", "", "2021;2022", "2023-2021"])
def test_a_wrong_choice_of_editions(text):
    with pytest.raises(UsageError, match=r"unknown edition|the range runs backwards"):
        parse_editions(text)


def test_all_editions_have_one_form(all_years):
    table = all_years.judged
    assert list(table.columns) == list(SCHEMA)
    assert {c: str(t) for c, t in table.dtypes.items()} == SCHEMA
    for year, n_rows in table.groupby("edition").size().items():
        assert n_rows == n_raw_rows(year)
    text = table.select_dtypes("str")
    assert text.notna().all().all()
    assert not table.duplicated(["edition", "benchmark", "instance", "tool"]).any()


def test_points_of_the_table_are_those_of_each_edition(all_years):
    for year in ("2022", "2023"):
        printed = pd.read_csv(real_path("published", year, "instances.csv"))
        ours = all_years.judged[all_years.judged["edition"] == year]
        both = printed.merge(ours, on=["benchmark", "index", "tool"], validate="1:1")
        assert len(both) == len(printed)
        assert (both["points_x"] == both["points_y"]).all()


def test_the_schema_is_documented():
    documented, chapters = {}, (root() / "docs" / "schema.md").read_text().split("\n## ")
    for line in chapters[1].splitlines():
        names, kind = re.match(r"\| ((?:`\w+`(?:, )?)+) \| ([\w ]+) \|", line + " | |").groups() \
            if line.startswith("| `") else ("", "")  # fmt: skip
        for name in re.findall(r"`(\w+)`", names):
            documented[name] = kind
    kinds = {"str": "text", "bool": "true or false", "int64": "whole number", "float64": "number"}
    assert documented == {name: kinds[kind] for name, kind in SCHEMA.items()}


@pytest.mark.length
def test_export_writes_the_same_table_in_both_forms(tmp_path):
    arguments = ["export", "--editions", "2022-2023", "--results-root", str(real_path("results"))]
    tables = {}
    for form in ("csv", "parquet"):
        out = tmp_path / "new" / f"table.{form}"
        run = CliRunner().invoke(main, [*arguments, "--format", form, "--out", str(out)])
        assert run.exit_code == 0, run.output
        n_rows = n_raw_rows("2022") + n_raw_rows("2023")
        assert run.stdout == f"{out}: {n_rows} rows of 2022, 2023\n"
        tables[form] = out
    with tables["csv"].open() as file:
        assert file.readline() == ",".join(SCHEMA) + "\n"
    csv = pd.read_csv(tables["csv"], dtype=SCHEMA, keep_default_na=False, na_values={
        c: [""] for c, kind in SCHEMA.items() if kind == "float64"})  # fmt: skip
    parquet = pd.read_parquet(tables["parquet"])
    pd.testing.assert_frame_equal(csv, parquet.astype(SCHEMA))
    again = tmp_path / "again.parquet"
    CliRunner().invoke(main, [*arguments, "--format", "parquet", "--out", str(again)])
    assert again.read_bytes() == tables["parquet"].read_bytes()


def test_columns_never_vanish(raw_edition):
    """Also of a contest without a sat, a limit, a version or a second tool."""
    edition, folder = raw_edition({"t": raw_row("acas", "a.onnx", "p.vnnlib", "timeout")})
    contest = load_contest(edition, folder)
    table = tidy_frame(contest.edition, judge(contest.runs, contest.edition, contest.edition.rules))
    assert {c: str(t) for c, t in table.dtypes.items()} == SCHEMA


def test_limits_and_one_rule_set_for_all():
    options = {"editions": "2022", "results_root": str(real_path("results"))}
    history = open_editions(**options, benchmarks_root=str(real_path("benchmarks")), rules="2026")
    assert history.judged["timeout_s"].notna().all()
    assert history.judged["reason"].str.startswith("late ").any()


def test_editions_without_results(tmp_path):
    with pytest.raises(UsageError, match="no results of any edition in"):
        open_editions(results_root=str(tmp_path))
    with pytest.raises(UsageError, match="fetch them with 'vnnanalysis fetch 2021'"):
        open_editions(editions="2021", results_root=str(tmp_path))


def test_sizes_of_the_editions(all_years):
    sizes = edition_sizes(all_years).set_index("edition")
    assert sizes["tools"].to_dict() == {"2021": 13, "2022": 11, "2023": 7, "2024": 8, "2025": 7}
    assert sizes.loc["2025", ["benchmarks", "instances"]].tolist() == [25, 3448]


def test_solved_counts_are_those_of_the_statistics(all_years):
    """Printed: instances verified, scored track of 2022 and regular track of 2025."""
    solved = solved_by_edition(all_years).set_index(["edition", "tool"])["solved"]
    assert solved["2025", "alpha_beta_crown"] == 3181
    rows = all_years.judged
    for year, track in (("2022", "scored"), ("2023", "scored"), ("2025", "regular")):
        printed = pd.read_csv(real_path("published", year, "stats.csv"))
        printed = printed[printed["statistic"] == "Num Instances Verified"]
        here = rows[(rows["edition"] == year) & (rows["track"] == track)]
        ours = here[here["verdict"] == "correct"].groupby("tool").size()
        assert ours.to_dict() == printed.set_index("tool")["value"].to_dict()


def test_what_recurs(all_years):
    table = recurring_benchmarks(all_years).set_index("benchmark")
    assert table.loc["acasxu"].tolist() == [186] * 6
    assert table.loc["collinsrulcnn"].tolist()[1:] == [62] * 5
    assert pd.isna(table.loc["collinsrulcnn", "2021"])
    assert "malbeware" not in table.index  # new in 2025
    rows = recurring_instances(all_years)
    assert rows.groupby("identity")["edition"].nunique().min() == 2


def test_progress_on_a_recurring_benchmark(all_years):
    chosen, table = progress(all_years)
    assert chosen == "acasxu"  # the most widespread
    assert list(table.columns) == ["2021", "2022", "2023", "2024", "2025"]
    assert table.loc["nnenum"].round(1).tolist() == [99.5, 100.0, 100.0, 99.5, 100.0]
    assert pd.isna(table.loc["nnv", "2022"])  # did not take part
    with pytest.raises(UsageError, match="benchmark 'acasx': nearest is 'acasxu'"):
        progress(all_years, "acasx")


def test_temporal_credit_sums_to_what_was_ever_solved(all_years):
    credit = temporal_credit(all_years)
    rows = recurring_instances(all_years)
    ever = rows[rows["verdict"] == "correct"].groupby("family")["identity"].nunique()
    sums = credit.groupby("benchmark")["shapley"].sum().round(9)
    assert sums.to_dict() == {b: ever.get(b, 0) for b in sums.index}
    first = first_solved(credit)
    assert first.loc["acasxu"].tolist() == [185, 1, 0, 0, 0]
    tools = credit_by_tool(credit)
    assert tools["total"].sum() == pytest.approx(credit["shapley"].sum())
    assert tools["total"].is_monotonic_decreasing
    assert temporal_credit(all_years, ["acasxu"])["benchmark"].unique().tolist() == ["acasxu"]


def test_a_tool_has_one_name_in_all_editions(all_years):
    families = all_years.judged.groupby("tool_family")["edition"].nunique()
    assert families["alpha_beta_crown"] == 5
    assert families["marabou"] == 4
    assert percents(solved_by_edition(all_years)).loc["nnv"].notna().tolist() == [
        True, False, True, True, True,
    ]  # fmt: skip
    assert all_years.edition.display["alpha_beta_crown"].startswith("$")


def test_instances_of_other_benchmarks_do_not_meet():
    """Equal file names under other benchmark names are other instances."""
    edition = read_edition("2022")
    judged = pd.DataFrame(
        [("1", "a", "x"), ("2", "a_2023", "x"), ("2", "b", "x")],
        columns=["edition", "category", "stem"],
    )
    rows = pd.DataFrame(
        {
            "edition": judged["edition"], "family": ["a", "a", "b"], "network": judged["stem"],
            "property": "p", "excluded": "", "benchmark": judged["category"], "occurrence": 1,
        }
    )  # fmt: skip
    history = History((), rows, _all([edition]))
    assert recurring_instances(history)["identity"].tolist() == ["a/x-p", "a/x-p"]


def test_equal_names_in_several_folders_are_several_instances(all_years):
    """safenlp has equal file names under medical/ and ruarobot/; sat_relu lists two twice."""
    rows = recurring_instances(all_years)
    safenlp = rows[(rows["family"] == "safenlp") & (rows["edition"] == "2025")]
    per_identity = safenlp.groupby("identity")["instance"].nunique()
    assert set(per_identity) == {1}
    assert per_identity.index.str.contains("medical/medical").any()
    for _, group in rows.groupby(["edition", "benchmark"]):
        assert set(group.groupby("identity")["instance"].nunique()) == {1}
    # nor across the years: medical/ of one is not ruarobot/ of the other
    safenlp = rows[rows["family"] == "safenlp"]
    folder = safenlp["network"].str.split("/").str[1]
    assert set(folder.groupby(safenlp["identity"]).nunique()) == {1}
    assert safenlp["identity"].nunique() == 101


def test_identities_of_a_small_history():
    """By folder within a family that needs it, and by occurrence; other families by name."""
    made = pd.DataFrame(
        [
            ("1", "s", "s", "m/n", "m/p", 1), ("1", "s", "s", "r/n", "r/p", 1),
            ("2", "s", "s_2024", "r/n", "r/p", 1), ("1", "a", "a", "x/n", "x/p", 1),
            ("2", "a", "a", "y/n", "y/p", 1), ("2", "a", "a", "y/n", "y/p", 2),
            ("1", "c", "c_2022", "z/n", "z/p", 1), ("1", "c", "c_2023", "w/n", "w/p", 1),
        ],
        columns=["edition", "family", "benchmark", "network", "property", "occurrence"],
    )  # fmt: skip
    history = History((), made.assign(excluded=""), _all([read_edition("2022")]))
    rows = recurring_instances(history)
    assert rows["identity"].tolist() == ["s/r/r/n-p", "s/r/r/n-p", "a/n-p", "a/n-p"]


def test_solved_counts_leave_out_what_is_excluded(all_years):
    solved = solved_by_edition(all_years).set_index(["edition", "tool"])
    sizes = edition_sizes(all_years).set_index("edition")
    assert solved.loc[("2022", "alpha_beta_crown"), "instances"] == sizes.loc["2022", "instances"]
    assert solved["percent"].between(0, 100).all()
    part = all_years.judged.query("edition == '2022' and tool == 'averinn' and takes_part")
    assert solved.loc[("2022", "averinn"), "instances"] == len(part)


def test_unscored_benchmarks_are_marked(all_years):
    scored = all_years.judged.groupby("edition")["is_scored"].agg(["any", "all"])
    assert scored["any"].all()
    assert scored["all"].to_dict() == {
        "2021": False, "2022": False, "2023": False, "2024": True, "2025": False,
    }  # fmt: skip


@pytest.mark.slow
def test_the_example_is_an_edition_and_years_may_be_numbers():
    """What the notebook opens with, and what papermill's -p makes of 2021."""
    assert [e.id for e in open_editions(editions="example").editions] == ["example"]
    one = open_editions(editions=2021, results_root=str(real_path("results")), rules=2026)
    assert set(one.judged["edition"]) == {"2021"}
    assert open_analysis(edition="example", rules=2026).rules == read_edition("2026").rules


@pytest.mark.length
def test_nothing_recurs_in_one_edition(tmp_path):
    history = open_editions(editions="2021", results_root=str(real_path("results")))
    assert recurring_benchmarks(history).empty
    assert progress(history)[0] == NONE
    with pytest.raises(UsageError, match="unknown recurring benchmark 'acasxu'"):
        progress(history, "acasxu")
    assert temporal_credit(history).empty
    out = tmp_path / "one"
    fixtures = str(root() / "tests" / "fixtures")
    arguments = ["history", "--editions", "2026", "--results-root", fixtures]
    run = CliRunner().invoke(main, [*arguments, "--benchmarks-root", fixtures, "--out", str(out)])
    assert run.exit_code == 0, run.output


def test_a_folder_of_benchmarks_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match="no such folder"):
        open_editions(editions="2022", results_root=str(real_path("results")),
                      benchmarks_root="/none")  # fmt: skip


def test_an_edition_that_needs_limits_can_be_exported(tmp_path):
    fixtures = root() / "tests" / "fixtures"
    arguments = ["export", "--editions", "2026", "--results-root", str(fixtures)]
    out = tmp_path / "t.parquet"
    run = CliRunner().invoke(
        main, [*arguments, "--benchmarks-root", str(fixtures), "--out", str(out)]
    )
    assert run.exit_code == 0, run.output
    assert len(pd.read_parquet(out)) == 15  # the form is that of the file's name
    without = CliRunner().invoke(main, [*arguments, "--out", str(out)])
    assert "--benchmarks-root" in without.stderr


@pytest.mark.slow
@pytest.mark.length
def test_the_command_builds_a_page(tmp_path):
    out = tmp_path / "several"
    arguments = ["history", "--editions", "2024-2025", "--results-root", str(real_path("results"))]
    run = CliRunner().invoke(main, [*arguments, "--benchmark", "safenlp", "--out", str(out)])
    assert run.exit_code == 0, run.output
    assert run.stdout == f"{out / 'index.html'}\n"
    page = (out / "index.html").read_text()
    assert "Who was first" in page
    assert "report.tex" not in page
    for name in ("tables/recurring.tex", "csv/temporal-shapley.csv", "figures/progress.pdf"):
        assert (out / name).is_file()
    assert "recurring instances of safenlp" in page
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["editions"] == ["2024", "2025"]
    assert len(manifest["inputs"]) > 16
    other = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path)])
    assert other.exit_code == 1
    assert "holds something that is no report of ours" in other.stderr
