"""Time limits by identity, and their enforcement (rules of 2026)."""

import pytest
from conftest import raw_row, real_path

from vnnanalysis.analysis import open_analysis
from vnnanalysis.errors import RawDataError, UsageError
from vnnanalysis.load import load_contest
from vnnanalysis.paths import root
from vnnanalysis.summary import caveats

FIXTURES = root() / "tests" / "fixtures"
RESULTS = FIXTURES / "vnncomp2026_results"
BENCHMARKS = FIXTURES / "vnncomp2026_benchmarks"


def open_2026(**options):
    return open_analysis(
        edition="2026", results=str(RESULTS), benchmarks_dir=str(BENCHMARKS), **options
    )


def test_a_contest_in_the_2026_layout():
    """Two versions, a subset in another order, late answers, several networks, side-cars."""
    analysis = open_2026()
    table = analysis.judged.set_index(["benchmark", "index", "tool"])
    acas, twin = "2026_toy_acas", "2026_twin_nets"
    assert table["points"].to_dict() == {
        (acas, 0, "exact"): 10, (acas, 0, "quick"): 10, (acas, 0, "sampler"): 0,
        (acas, 1, "exact"): 10, (acas, 1, "quick"): -150, (acas, 1, "sampler"): -150,
        (acas, 2, "exact"): 10, (acas, 2, "sampler"): -150,
        (acas, 3, "exact"): 0, (acas, 3, "quick"): 0, (acas, 3, "sampler"): 10,
        (twin, 0, "exact"): 10, (twin, 0, "quick"): 0,
        (twin, 1, "exact"): 0, (twin, 1, "quick"): 10,
    }  # fmt: skip
    assert table.loc[(acas, 0, "exact"), "run_s"] == 30.0  # at the limit, not over it
    assert table.loc[(acas, 3, "quick"), "reason"] == "late unsat: run 30.001 s over the 30 s limit"
    assert table.loc[(twin, 0, "quick"), "result"] == "timeout"
    assert table.loc[(twin, 0, "quick"), "result_raw"] == "violated"
    assert "manual review" in table.loc[(twin, 1, "exact"), "reason"]
    assert table.loc[(twin, 1, "exact"), "network"] == "f=onnx/f2.onnx & g=onnx/g2.onnx"
    versions = analysis.judged.groupby(["tool", "benchmark"])["vnnlib_version"].unique().str[0]
    assert versions.to_dict() == {
        ("exact", acas): "1.0", ("exact", twin): "2.0", ("quick", acas): "2.0",
        ("quick", twin): "2.0", ("sampler", acas): "1.0",
    }  # fmt: skip
    [note] = analysis.contest.problems.to_dict("records")
    assert (note["value"], note["file"]) == ("SCORING", "SCORING/latex/results.csv")
    overall = analysis.overall.set_index("tool")
    assert overall["score"].to_dict() == {"exact": 200.0, "quick": 100.0, "sampler": 0.0}


def test_2026_without_limits_is_refused_and_can_be_switched_off():
    with pytest.raises(UsageError, match="limits are enforced, and none is known: name the"):
        open_analysis(edition="2026", results=str(RESULTS))
    lax = open_analysis(
        edition="2026", results=str(RESULTS), settings={"enforce_timeouts": "false"}
    )
    late = lax.judged.set_index(["benchmark", "index", "tool"])
    assert late.loc[("2026_toy_acas", 3, "quick"), "verdict"] == "incorrect"  # a wrong late answer
    assert late.loc[("2026_twin_nets", 0, "quick"), "result"] == "sat"


@pytest.mark.parametrize(
    ("enforce", "points", "results"),
    [
        ("true", [10, 0, 0, 0], ["unsat", "timeout", "timeout", "timeout"]),
        ("false", [10, 10, 10, -150], ["unsat", "unsat", "unsat", "sat"]),
    ],
)
def test_s8_strict_and_legacy(tidy, enforce, points, results):
    rows = "a,x,i,unsat,30.000,30\na,x,j,unsat,30.001,30\na,x,k,unsat,89,30\na,x,l,sat,89,30\n"
    analysis = open_analysis(
        edition=str(tidy("tool,benchmark,instance,result,time_s,timeout_s\n" + rows)),
        rules="2026", settings={"enforce_timeouts": enforce, "unchecked": "penalised"},
    )  # fmt: skip
    assert analysis.judged["points"].tolist() == points
    assert analysis.judged["result"].tolist() == results


def copied(tmp_path, old="", new="", file="quick/2026_toy_acas/results.csv"):
    """Copy the contest with something replaced in one of its files."""
    for path in FIXTURES.rglob("*"):
        if path.is_file():
            copy = tmp_path / path.relative_to(FIXTURES)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    path = tmp_path / "vnncomp2026_results" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return tmp_path / "vnncomp2026_results", tmp_path / "vnncomp2026_benchmarks"


@pytest.mark.parametrize(
    ("old", "new", "place", "expected"),
    [
        ("vnnlib/p2.vnnlib,.2,unsat,30.001", "vnnlib/p9.vnnlib,.2,unsat,30.001", "line 1",
         "stands in the instances.csv of toy_acas of version 2.0"),
        ("toy_acas,vnn", "toy_acs,vnn", "line 1", "a row of 2026_toy_acas, as the file's folder"),
    ],
)  # fmt: skip
def test_an_unknown_instance_names_file_and_row(tmp_path, old, new, place, expected):
    results, benchmarks = copied(tmp_path, old, new)
    options = {"edition": "2026", "results": results, "benchmarks_dir": benchmarks}
    with pytest.raises(RawDataError) as caught:
        open_analysis(**options)
    assert place in str(caught.value)
    assert expected in str(caught.value)
    assert "quick/2026_toy_acas/results.csv" in str(caught.value)


def test_a_benchmark_without_its_instances_csv(tmp_path):
    results, benchmarks = copied(tmp_path)
    (benchmarks / "benchmarks" / "toy_acas" / "1.0" / "instances.csv").unlink()
    options = {"edition": "2026", "results": results, "benchmarks_dir": benchmarks}
    with pytest.raises(UsageError, match=r"expected an instances.csv of toy_acas of version 1\.0"):
        open_analysis(**options)
    lax = open_analysis(**options, settings={"enforce_timeouts": "false"})
    assert lax.judged["timeout_s"].isna().any()
    lenient = open_analysis(**options, lenient=True)
    [told] = caveats(lenient.judged, lenient.contest.checks, lenient.rules)
    assert told.startswith("The time limits of")


def test_rows_that_no_instances_csv_lists(tmp_path):
    """A repository was named, but lists other instances."""
    results, benchmarks = copied(tmp_path)
    for path in benchmarks.rglob("instances.csv"):
        path.write_text("onnx/other.onnx,vnnlib/other.vnnlib,30\n")
    with pytest.raises(RawDataError, match=r"stands in the instances\.csv of toy_acas"):
        open_analysis(edition="2026", results=results, benchmarks_dir=benchmarks)


def test_contradictory_limits_are_noted(tmp_path):
    results, benchmarks = copied(tmp_path)
    path = benchmarks / "benchmarks" / "toy_acas" / "2.0" / "instances.csv"
    path.write_text(path.read_text() + "./onnx/n1.onnx.gz,vnnlib/p1.vnnlib,60\n")
    contest = load_contest("2026", results, benchmarks=benchmarks)
    [note] = contest.problems[contest.problems["problem"].str.contains("another limit")].to_dict(
        "records"
    )
    assert note["value"] == "onnx/n1.onnx, vnnlib/p1.vnnlib: 60 s"


def test_a_late_answer_is_told_by_its_raw_time(tidy):
    """Start-up time is subtracted from times, not added to limits."""
    rows = "a,x,i,unsat,35,30\na,x,j,unsat,10,30\n"
    analysis = open_analysis(
        edition=str(tidy("tool,benchmark,instance,result,time_s,timeout_s\n" + rows)),
        settings={"enforce_timeouts": "true"},
    )
    assert analysis.judged["corrected_s"].tolist() == [25.0, 1.0]
    assert analysis.judged["result"].tolist() == ["timeout", "unsat"]


def test_rover_and_the_test_category_are_left_out_of_2026_too(tmp_path):
    results, benchmarks = copied(tmp_path)
    (results / "quick").rename(results / "rover")
    base = "vnncomp2026_benchmarks/benchmarks/test/1.0"
    row = f"test,{base}/onnx/a.onnx,{base}/vnnlib/p.vnnlib,1,sat,1\n"
    folder = results / "exact" / "2026_test"
    folder.mkdir()
    (folder / "results.csv").write_text(row)
    analysis = open_analysis(edition="2026", results=results, benchmarks_dir=benchmarks)
    assert analysis.edition.in_track("unscored") == ("2026_test",)
    assert analysis.overall["tool"].tolist() == ["exact", "sampler"]
    assert "rover" in analysis.listed


def test_a_flat_file_beside_folders_is_read_in_2026_too(tmp_path):
    results, benchmarks = copied(tmp_path)
    flat = results / "sampler" / "results.csv"
    (results / "sampler" / "2026_toy_acas" / "results.csv").rename(flat)
    scoring = results / "SCORING" / "results.csv"
    scoring.write_text(flat.read_text())
    ours = open_analysis(edition="2026", results=results, benchmarks_dir=benchmarks)
    assert ours.judged["points"].tolist() == open_2026().judged["points"].tolist()
    assert "SCORING" not in ours.edition.tools


def test_a_test_row_needs_no_year(tmp_path):
    results, benchmarks = copied(tmp_path)
    path = results / "sampler" / "2026_toy_acas" / "results.csv"
    text = (
        path.read_text()
        + "toy_acas,./benchmarks/test/test_nano.onnx,./benchmarks/test/t.vnnlib,.1,sat,.4\n"
    )
    path.write_text(
        text.replace("vnncomp2026_benchmarks/benchmarks/toy_acas", "./benchmarks/toy_acas")
    )
    ours = open_analysis(edition="2026", results=results, benchmarks_dir=benchmarks)
    assert ours.judged["points"].tolist() == open_2026().judged["points"].tolist()
    assert ours.overhead.set_index("tool").loc["sampler", "overhead_s"] == 0.4


def test_a_mixture_of_versions_is_flagged(tmp_path):
    results, benchmarks = copied(
        tmp_path, "toy_acas/2.0/onnx/n1.onnx,vnncomp2026_benchmarks/benchmarks/toy_acas/2.0",
        "toy_acas/1.0/onnx/n1.onnx,vnncomp2026_benchmarks/benchmarks/toy_acas/1.0",
    )  # fmt: skip
    contest = load_contest("2026", results, benchmarks=benchmarks)
    assert (
        contest.problems["problem"]
        .str.contains("quick ran 2026_toy_acas in a mixture of VNN-LIB versions")
        .any()
    )
    assert contest.problems["value"].isin(["1.0 and 2.0"]).any()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", 'a json object with a member "result"'),
        ('{"verdict": "correct"}', 'a json object with a member "result"'),
        ('{"result": "corect"}', "nearest is 'correct'"),
    ],
)
def test_a_wrong_side_car_is_refused(tmp_path, text, expected):
    results, _ = copied(tmp_path)
    path = results / "exact" / "2026_toy_acas" / "n1_p2.counterexample.check.json"
    path.write_text(text)
    with pytest.raises(RawDataError, match=expected) as caught:
        load_contest("2026", results)
    assert caught.value.path == path


def test_a_side_car_that_belongs_to_no_sat_is_noted(tmp_path):
    results, _ = copied(tmp_path)
    folder = results / "quick" / "2026_toy_acas"
    for stem in "hgfedcba":
        (folder / f"{stem}.counterexample.check.json").write_text('{"result": "malformed_ce"}')
    contest = load_contest("2026", results)
    told = [name for name in contest.problems["file"] if name.startswith("quick")]
    assert told == [f"quick/2026_toy_acas/{s}.counterexample.check.json" for s in "abcdefgh"]


def test_a_side_car_in_a_folder_of_its_own(raw_edition):
    """Case L2: equal stems in sub-folders; the witness has the folder before its name."""
    rows = "".join(
        raw_row("acas", f"onnx/{d}/n.onnx", f"vnnlib/{d}/h.vnnlib", "sat", root="./")
        for d in ("med", "rua")
    )
    edition, folder = raw_edition({"t": rows}, files="{tool}/{benchmark}.csv".replace(
        "{benchmark}", "acas"))  # fmt: skip
    beside = folder / "t" / "acas"
    beside.mkdir(parents=True)
    (beside / "rua_n_h.counterexample.check.json").write_text('{"result": "no_ce"}')
    contest = load_contest(edition, folder)
    assert contest.checks[["instance", "verdict"]].to_numpy().tolist() == [
        ["onnx/rua/n-vnnlib/rua/h", "no_ce"]
    ]
    # the name with the folder comes first, whichever row does
    (beside / "n_h.counterexample.check.json").write_text('{"result": "correct"}')
    path = folder / "t" / "acas.csv"
    for text in (rows, "".join(sorted(rows.splitlines(keepends=True), reverse=True))):
        path.write_text(text)
        found = load_contest(edition, folder).checks.set_index("instance")["verdict"]
        assert found["onnx/rua/n-vnnlib/rua/h"] == "no_ce"
        assert found["onnx/med/n-vnnlib/med/h"] == "correct"


def test_an_instance_listed_twice_has_one_witness(tmp_path):
    results, benchmarks = copied(tmp_path)
    path = results / "sampler" / "2026_toy_acas" / "results.csv"
    path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")
    analysis = open_analysis(edition="2026", results=results, benchmarks_dir=benchmarks)
    twice = analysis.judged[analysis.judged["instance"].str.startswith("n1-p2")]
    assert twice[twice["tool"] == "sampler"]["check"].tolist() == ["no_ce", "no_ce"]


@pytest.mark.parametrize(
    "field", ["[('f', 'a.onnx')", "['a.onnx']", "[]", "[(1, 'a.onnx')]", "(5)"]
)
def test_a_wrong_list_of_networks_is_refused(tmp_path, field):
    results, benchmarks = copied(tmp_path)
    path = results / "quick" / "2026_twin_nets" / "results.csv"
    path.write_text(
        f'twin_nets,"{field}",vnncomp2026_benchmarks/benchmarks/twin_nets/2.0/p,1,sat,1\n'
    )
    with pytest.raises(RawDataError, match=r"line 1, column 2 \(network\)"):
        load_contest("2026", results, benchmarks=benchmarks)


def test_networks_in_another_order_are_the_same_instance(tmp_path):
    """Its witness has the names in the order of the row."""
    results, benchmarks = copied(tmp_path)
    path = results / "exact" / "2026_twin_nets" / "results.csv"
    base = "vnncomp2026_benchmarks/benchmarks/twin_nets/2.0/onnx"
    turned = [
        f"('f', '{base}/f2.onnx'), ('g', '{base}/g2.onnx')",
        f"('g', '{base}/g2.onnx'), ('f', '{base}/f2.onnx')",
    ]
    assert turned[0] in path.read_text()
    path.write_text(path.read_text().replace(*turned))
    witness = path.with_name("f_g_equal_2.counterexample.check.json")
    witness.rename(path.with_name("g_f_equal_2.counterexample.check.json"))
    ours = open_analysis(edition="2026", results=results, benchmarks_dir=benchmarks)
    assert ours.judged["points"].tolist() == open_2026().judged["points"].tolist()
    assert ours.judged["check"].tolist() == open_2026().judged["check"].tolist()


def test_a_network_list_of_one_is_that_network(tmp_path):
    base = "vnncomp2026_benchmarks/benchmarks/toy_acas/2.0"
    results, benchmarks = copied(
        tmp_path, f"{base}/onnx/n2.onnx", f"\"[('n', '{base}/onnx/n2.onnx')]\""
    )
    whole = load_contest("2026", RESULTS, benchmarks=BENCHMARKS).runs
    one = load_contest("2026", results, benchmarks=benchmarks).runs
    assert one.drop(columns="witness").equals(whole.drop(columns="witness"))


def test_limits_of_two_years_meet_their_own_rows():
    runs = load_contest(
        "2023", real_path("results", "vnncomp2023_results"), benchmarks=real_path("benchmarks"),
        validate=False,
    ).runs  # fmt: skip
    real = runs[~runs["is_test"]]
    assert real["timeout_s"].notna().all()
    only_2023 = load_contest(
        "2023", real_path("results", "vnncomp2023_results"),
        benchmarks=real_path("benchmarks", "vnncomp2023_benchmarks"), validate=False,
    ).runs  # fmt: skip
    missing = only_2023[only_2023["timeout_s"].isna() & ~only_2023["is_test"]]
    assert set(missing["benchmark_year"]) == {"2022"}
    assert len(missing) == (real["benchmark_year"] == "2022").sum()


@pytest.mark.parametrize("year", ["2022", "2023", "2024"])
def test_2026_rules_on_earlier_years(year):
    """Any rules on any edition: late answers are timeouts, the others stay what they were."""
    options = {"edition": year, "results": str(real_path("results", f"vnncomp{year}_results")),
               "benchmarks_dir": str(real_path("benchmarks")), "validate": False}  # fmt: skip
    strict = open_analysis(**options, rules="2026").judged
    lax = open_analysis(**options, rules="2026", settings={"enforce_timeouts": "false"}).judged
    late = lax["result"].isin(["sat", "unsat"]) & (lax["run_s"] > lax["timeout_s"])
    assert late.any()
    assert (strict.loc[late, "points"] == 0).all()
    assert (strict.loc[late, "result"] == "timeout").all()
    assert strict.loc[~late, "result"].equals(lax.loc[~late, "result"])


def test_2021_under_2026_rules_without_limits():
    """No benchmark files of 2021 are needed: what is not known is not enforced, and stays told."""
    results = str(real_path("results", "vnncomp2021_results"))
    analysis = open_analysis(edition="2021", results=results, rules="2026")
    assert analysis.rules.enforce_timeouts
    assert set(analysis.judged["check"]) == {"", "unchecked"}
    told = caveats(analysis.judged, analysis.contest.checks, analysis.rules)
    assert told[0].startswith("The counterexamples of")
    assert told[1].startswith("The time limits of 859 of 859 instances are not known")
    assert analysis.overall["score"].notna().all()
