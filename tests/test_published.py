import dataclasses
import shutil

import pandas as pd
import pytest
from conftest import contest_of_year, real_path

from vnnanalysis.analysis import analyse
from vnnanalysis.errors import SchemaError, UsageError
from vnnanalysis.load import load_contest
from vnnanalysis.paths import resource
from vnnanalysis.published import _like, compare, report_lines

OVERALL = "overhead,conflicts,track,rank,tool,score\n"
BEST = "multi,odd-one-out,main,1,tool_best,193.8\n"
REST = """multi,odd-one-out,main,2,tool_sound,150.0
multi,odd-one-out,main,3,tool_wrong,0
multi,odd-one-out,main,4,tool_absent,0
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "overall.csv").write_text(OVERALL + BEST + REST)
    return tmp_path


def test_equal_to_the_digit_that_was_printed(invented, folder):
    figures = compare(invented, folder)
    assert figures["status"].tolist() == ["equal"] * 4
    assert report_lines(figures) == [
        "overall main, multi / odd-one-out: 4 of 4 figures equal",
        "all tables: 4 of 4 figures equal",
    ]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("193.8", "193.6", "  tool_best, score: ours 193.8, published 193.6: not explained"),
        ("193.8", "193.76", "  tool_best, score: ours 193.75, published 193.76: not explained"),
        (BEST, "", "  tool_best, score: ours 194, published nothing: not explained"),
        ("tool_absent", "tool_other", "  tool_other, score: ours nothing, published 0: not"),
    ],
)
def test_a_planted_fault_is_found(invented, folder, old, new, line):
    (folder / "overall.csv").write_text((OVERALL + BEST + REST).replace(old, new))
    lines = report_lines(compare(invented, folder))
    assert any(told.startswith(line) for told in lines), lines


def test_l10_tables_older_than_the_inputs_are_explained(invented, folder):
    (folder / "overall.csv").write_text((OVERALL + BEST + REST).replace("193.8", "150.1"))
    (folder / "explained.toml").write_text(
        '[[explained]]\ntables = ["overall"]\ntools = ["tool_best"]\n'
        'reason = "inputs newer than the table"\ntable = "2024-07"\ninputs = "2024-10"\n'
    )
    figures = compare(invented, folder)
    assert figures["status"].tolist() == ["explained", "equal", "equal", "equal"]
    assert report_lines(figures) == [
        "overall main, multi / odd-one-out: 3 of 4 figures equal, 1 explained",
        "  tool_best, score: ours 193.8, published 150.1: inputs newer than the table "
        "(table of 2024-07, inputs of 2024-10)",
        "all tables: 3 of 4 figures equal, 1 explained",
    ]


def test_an_explanation_covers_only_what_it_names(invented, folder):
    (folder / "overall.csv").write_text((OVERALL + BEST + REST).replace("150.0", "150.1"))
    (folder / "explained.toml").write_text('[[explained]]\ntools = ["tool_best"]\nreason = "x"\n')
    assert "different" in set(compare(invented, folder)["status"])


def test_wrong_files_are_refused(invented, folder, tmp_path):
    with pytest.raises(UsageError, match="no published figures of Invented contest"):
        compare(invented)
    for text, expected in (
        ("overhead,conflicts,tool,score\nmulti,voting,a,1\n", "needed column 'track'"),
        (OVERALL.replace("score", "scroe") + BEST, "'scroe': nearest is 'score'"),
        (OVERALL.replace(",score", "") + "multi,voting,main,1,a\n", "needed column 'score'"),
        (OVERALL + BEST + REST + BEST, "line 6: this figure stands there already"),
    ):
        (folder / "overall.csv").write_text(text)
        with pytest.raises(SchemaError, match=expected):
            compare(invented, folder)
    (folder / "overall.csv").write_text(OVERALL + BEST)
    (folder / "explained.toml").write_text('[[explained]]\ntools = ["a"]\n')
    with pytest.raises(SchemaError, match="without reason"):
        compare(invented, folder)


# --- 2021 -------------------------------------------------------------------------------


def test_2021_every_published_figure(contest_2021):
    figures = compare(contest_2021)
    assert figures["status"].eq("equal").all(), figures[figures["status"] != "equal"]
    assert len(figures) == 935
    n_figures = figures["table"].str.partition(" ")[0].value_counts().to_dict()
    assert n_figures == {"benchmark": 710, "statistic": 147, "overall": 78}


def test_2021_transcription_agrees_with_the_organisers_files():
    """Our copy of the benchmark tables against the source, cell by cell."""
    ours = pd.read_csv(resource("data", "published", "2021", "benchmarks.csv"))
    for mode in ("single", "multi"):
        theirs = pd.read_csv(real_path("published", f"2021-{mode}", "benchmarks.csv"))
        theirs["benchmark"] = theirs["benchmark"].replace("cifar10-resnet", "cifar10_resnet")
        columns = ["track", "benchmark", "rank", "tool", "verified", "falsified", "fastest",
                   "points", "percent"]  # fmt: skip
        own = ours[ours["overhead"] == mode].reset_index(drop=True)
        pd.testing.assert_frame_equal(own[columns], theirs[columns])


def test_2021_transcription_of_the_totals_and_statistics():
    """Every variant, and every statistic, as the organisers' files have them."""
    folder = resource("data", "published", "2021")
    ours = pd.read_csv(folder / "overall.csv").drop(columns="track")
    theirs = pd.read_csv(real_path("published", "2021-variants.csv"))
    theirs["conflicts"] = theirs["conflicts"].str.replace("_", "-")
    pd.testing.assert_frame_equal(ours, theirs)
    statistics = pd.read_csv(folder / "statistics.csv")
    for mode in ("single", "multi"):
        theirs = pd.read_csv(real_path("published", f"2021-{mode}", "stats.csv"))
        chosen = (statistics["overhead"] == mode) & (statistics["conflicts"] == "odd-one-out")
        own = statistics.loc[chosen, ["statistic", "rank", "tool", "value", "cpu_mode"]]
        pd.testing.assert_frame_equal(own.reset_index(drop=True), theirs.drop(columns="track"))
    theirs = pd.read_csv(real_path("published", "2021-variants-mismatched.csv"))
    theirs = theirs[theirs["conflicts"] == "voting"].rename(columns={"count": "value"})
    own = statistics[statistics["conflicts"] == "voting"]
    columns = ["overhead", "rank", "tool", "value"]
    assert own[columns].astype(str).to_numpy().tolist() == [
        [o, str(r), t, f"{v}.0"] for o, r, t, v in theirs[columns].to_numpy().tolist()
    ]


@pytest.mark.parametrize("overhead", ["single", "multi"])
def test_2021_points_of_every_instance(contest_2021, overhead):
    published = pd.read_csv(real_path("published", f"2021-{overhead}", "instances.csv"))
    rules = contest_2021.edition.rules.with_settings({"overhead": overhead})
    judged = analyse(contest_2021, rules).judged
    keys = ["benchmark", "index", "tool"]
    both = judged.merge(
        published, how="outer", on=keys, suffixes=("", "_published"), indicator=True,
        validate="one_to_one",
    )  # fmt: skip
    assert len(published) == 7330
    assert not (both["_merge"] == "right_only").any()
    matched = both[both["_merge"] == "both"]
    assert matched["points"].eq(matched["points_published"]).all()
    assert matched["instance"].eq(matched["instance_published"]).all()
    # what they do not list are the rows of tools that do not take part
    unlisted = both[both["_merge"] == "left_only"]
    assert not unlisted["takes_part"].any()
    assert unlisted["points"].eq(0).all()


def test_2021_check_fails_on_a_planted_fault(tmp_path):
    source = real_path("results", "vnncomp2021_results", "results_csv")
    shutil.copytree(source, tmp_path / "results_csv")
    path = tmp_path / "results_csv" / "ERAN.csv"
    path.chmod(0o644)
    lines = path.read_text().splitlines()
    number = next(i for i, line in enumerate(lines) if "acasxu" in line and ",holds," in line)
    lines[number] = lines[number].replace(",holds,", ",violated,")
    path.unlink()
    path.write_text("\n".join(lines) + "\n")
    figures = compare(load_contest("2021", tmp_path))
    wrong = figures[figures["status"] == "different"]
    assert {"overall", "benchmark", "statistic"} <= set(wrong["table"].str.partition(" ")[0])
    assert "ERAN" in set(wrong["tool"])


def figures_of(name):
    return compare(contest_of_year(name))


@pytest.mark.parametrize(
    ("year", "counts"),
    [
        ("2022", {"points": 6227, "benchmark": 564, "statistic": 59, "overall": 11}),
        ("2023", {"points": 6912, "benchmark": 672, "statistic": 41, "overall": 7}),
        ("2025", {"points": 13174, "benchmark": 854, "statistic": 40, "overall": 7}),
    ],
)
def test_every_published_figure_of_a_year(year, counts):
    """Overall, benchmark and statistics tables, and the points of every instance and tool."""
    figures = figures_of(year)
    assert figures["status"].eq("equal").all(), figures[figures["status"] != "equal"]
    assert figures["table"].str.partition(" ")[0].value_counts().to_dict() == counts


def test_2024_is_equal_but_for_the_tools_that_were_rerun():
    figures = figures_of("2024")
    assert not (figures["status"] == "different").any()
    explained = figures[figures["status"] == "explained"]
    assert set(explained["tool"]) == {"neuralsat", "cora"}
    assert explained["reason"].str.startswith("inputs newer than the table").all()
    others = figures[~figures["tool"].isin(["neuralsat", "cora"])]
    assert set(others["status"]) == {"equal"}
    marabou = others[(others["tool"] == "marabou") & others["table"].str.contains("safenlp")]
    assert marabou.set_index("figure")["ours"]["incorrect"] == "402"


def test_the_study_and_its_two_odd_figures():
    figures = figures_of("study")
    assert not (figures["status"] == "different").any()
    odd = figures[figures["status"] == "explained"]
    assert odd[["table", "figure", "tool", "ours", "published"]].to_numpy().tolist() == [
        ["Table 2 MNIST ReLU", "avg_time_s", "Verinet", "264", "263"],
        ["portfolio MNIST ReLU", "solved", "Verinet, nnenum", "1818", "1817"],
    ]
    assert len(figures) == 98


@pytest.mark.parametrize("name", ["2022", "2023", "2024", "2025", "study"])
def test_a_planted_fault_in_any_year_is_found(name):
    """One answer of one tool turned round: points, benchmark table, statistics, total differ."""
    contest = contest_of_year(name)
    benchmarks = {"2022": "mnist_fc", "2023": "2023_acasxu", "study": "CIFAR ReLU"}
    benchmark = benchmarks.get(name, f"{name}_acasxu_2023")
    tool = "Neurify" if name == "study" else "nnenum"
    runs = contest.runs
    hit = (runs["tool"] == tool) & (runs["benchmark"] == benchmark) & (runs["result"] == "unsat")
    first = runs.index[hit & ~runs["is_test"]][0]
    faulty = runs.assign(result=runs["result"].mask(runs.index == first, "unknown"))
    figures = compare(dataclasses.replace(contest, runs=faulty))
    wrong = figures[figures["status"] == "different"]
    assert tool in set(wrong["tool"])
    assert len(wrong) >= 2


def test_an_explanation_may_name_the_value_it_explains(invented, folder):
    (folder / "overall.csv").write_text((OVERALL + BEST + REST).replace("193.8", "150.1"))
    entry = '[[explained]]\ntools = ["tool_best"]\nreason = "x"\nours = "{}"\nfigures = ["score"]\n'
    for tables, status in (('"overall"', "explained"), ('"benchmark"', "different")):
        more = f"tables = [{tables}]\n"
        (folder / "explained.toml").write_text(entry.format("193.8") + more)
        assert compare(invented, folder)["status"].iloc[0] == status
    for n, status in ((1, "explained"), (2, "different")):
        (folder / "explained.toml").write_text(entry.format("193.8") + f"n = {n}\n")
        assert compare(invented, folder)["status"].iloc[0] == status
    for ours, status in (("193.8", "explained"), ("193.7", "different")):
        (folder / "explained.toml").write_text(entry.format(ours))
        assert compare(invented, folder)["status"].iloc[0] == status


def test_a_figure_may_stand_in_two_tracks_but_not_twice_in_one(invented, folder):
    text = "track,statistic,rank,tool,value\nmain,Overhead,1,tool_best,2.0\n"
    (folder / "statistics.csv").write_text(text + "more,Overhead,1,tool_best,2.0\n")
    compare(invented, folder)
    (folder / "statistics.csv").write_text(text + "main,Overhead,2,tool_best,2.0\n")
    with pytest.raises(SchemaError, match="line 3: this figure stands there already"):
        compare(invented, folder)


def test_a_rounded_negative_is_not_minus_zero():
    assert _like(-0.04, "0.0") == "0.0"
    assert _like(-0.06, "-0.1") == "-0.1"
    assert [_like(116.5, text) for text in ("116", "117", "118")] == ["116", "117", "116"]


def test_a_count_of_nothing_is_zero_and_the_least_of_nothing_infinite(invented, folder):
    (folder / "statistics.csv").write_text(
        "track,statistic,rank,tool,value\nmain,Num Violated,1,tool_none,0\n"
        "main,Overhead,1,tool_none,inf\nmain,Overhead,2,tool_best,inf\n"
    )
    figures = compare(invented, folder)
    odd = figures[figures["published"].isin(["0", "inf"]) & figures["table"].str.contains("statis")]
    assert odd.set_index(["table", "tool"])["status"].to_dict() == {
        ("statistic Num Violated main", "tool_none"): "equal",
        ("statistic Overhead main", "tool_none"): "equal",
        ("statistic Overhead main", "tool_best"): "different",
    }


@pytest.mark.parametrize("year", ["2022", "2023", "2024", "2025"])
def test_transcriptions_agree_with_the_organisers_files(year):
    """Our copies against the source, cell by cell."""
    for ours, theirs, names in (
        ("overall.csv", "overall.csv", {}),
        ("benchmarks.csv", "benchmarks.csv", {"penalties": "incorrect"}),
        ("statistics.csv", "stats.csv", {}),
        ("instances.csv", "instances.csv", {}),
    ):
        path = resource("data", "published", year, ours)
        if not path.is_file():
            assert (year, ours) == ("2024", "instances.csv")
            continue
        own = pd.read_csv(path, dtype=str, keep_default_na=False)
        source = pd.read_csv(
            real_path("published", year, theirs), dtype=str, keep_default_na=False
        ).rename(columns=names)
        if ours == "instances.csv":
            source = source[source["points"] != "0"]
        left_out = [c for c in source.columns if c not in own]
        if ours != "instances.csv":
            assert (source[left_out] == "").all().all()
        assert own.to_numpy().tolist() == source[list(own.columns)].to_numpy().tolist()


def test_the_transcription_of_the_study_agrees():
    for ours, theirs in (("table1", "study-table1"), ("table2", "study-table2")):
        own = pd.read_csv(resource("data", "published", "study", f"{ours}.csv"), dtype=str)
        source = pd.read_csv(real_path("published", f"{theirs}.csv"), dtype=str)
        assert own["benchmark"].tolist() == (source["dataset"] + " " + source["category"]).tolist()
        numbers = [c for c in own if c not in ("benchmark", "tool", "tools")]
        names = {"instances": "total", "avg_time_s": "avg_time"}
        for column in numbers:
            assert own[column].tolist() == source[names.get(column, column)].tolist()
