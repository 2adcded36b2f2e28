import functools
import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from conftest import INVENTED, contest_of_year
from pandas.testing import assert_frame_equal

from vnnanalysis.analysis import analyse, open_analysis
from vnnanalysis.disputes import dispute_list
from vnnanalysis.explorer import write_explorer
from vnnanalysis.explorer_data import explorer_data, explorer_variants
from vnnanalysis.explorer_rows import ABSENT, packed
from vnnanalysis.figures import tool_style
from vnnanalysis.scatter import RAILS, scatter_points
from vnnanalysis.scoring import INSTANCE_COLUMNS, instance_table
from vnnanalysis.tables import plain_name

HEADER = "tool,benchmark,instance,result,time_s,timeout_s\n"
HOSTILE = '</script><script>document.title="gone"</script>'


class Page(HTMLParser):
    """What a browser makes of a page: its elements, and the text of each script."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts, self.inside = [], [], None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), []))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1][1].append(data)

    @property
    def data(self):
        [text] = ["".join(text) for attrs, text in self.scripts if attrs.get("id") == "data"]
        return json.loads(text)


@functools.cache
def analysis_of(edition):
    if edition == "invented":
        return open_analysis(edition=INVENTED)
    contest = contest_of_year(edition)
    return analyse(contest, contest.edition.rules)


@functools.cache
def variants_of(edition):
    return explorer_variants(analysis_of(edition))


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
    """Write the explorer of an edition once, and parse it."""

    @functools.cache
    def page(edition):
        path = tmp_path_factory.mktemp("explorer") / "explorer.html"
        assert write_explorer(analysis_of(edition), path) == path
        return path, Page(path.read_text(encoding="utf-8"))

    return page


def column(forms, place):
    form = forms[place]
    if "like" not in form:
        return form["values"]
    values = list(column(forms, form["like"]))
    for row, value in zip(form["rows"], form["values"], strict=True):
        values[row] = value
    return values


def rows_of(data, variant):
    """Undo what makes the page small: judged rows as a frame, with outcomes."""
    instances = pd.DataFrame(data["instances"]).loc[data["rows"]["instance"]].reset_index(drop=True)
    found = {
        "benchmark": [data["benchmarks"][i]["id"] for i in instances["benchmark"]],
        "index": instances["index"],
        "instance": instances["name"],
        "tool": [data["tools"][i]["id"] for i in data["rows"]["tool"]],
        "run_s": column(data["columns"]["seconds"], 0),
        "corrected_s": column(data["columns"]["seconds"], variant["columns"]["seconds"]),
        "points": column(data["columns"]["points"], variant["columns"]["points"]),
    }
    for name, words in data["words"].items():
        codes = column(data["columns"][name], variant["columns"][name])
        found[name] = [words[code] for code in codes]
    return pd.DataFrame(found)


@pytest.mark.parametrize("edition", ["invented", "2021"])
def test_the_page_holds_exactly_what_every_variant_gives(page_of, edition):
    data, variants = page_of(edition)[1].data, variants_of(edition)
    assert len(data["variants"]) == len(variants) == 6
    for given, variant in zip(data["variants"], variants, strict=True):
        expected = instance_table(variant.shown, variant.edition)
        found = rows_of(data, given)[INSTANCE_COLUMNS]
        assert_frame_equal(found, expected, check_dtype=False, check_exact=True)
        overall = pd.DataFrame(given["overall"])
        assert_frame_equal(overall, variant.overall, check_dtype=False, check_exact=True)
        scores = pd.DataFrame(given["scores"]).drop(columns="worth")
        assert_frame_equal(scores, variant.scores, check_dtype=False, check_exact=True)


@pytest.mark.parametrize("edition", ["invented", "2021"])
def test_points_times_worth_sum_up_to_the_overall_score(page_of, edition):
    data = page_of(edition)[1].data
    for given in data["variants"]:
        worth = pd.DataFrame(given["scores"])[["benchmark", "tool", "worth"]]
        rows = rows_of(data, given).merge(worth, how="left", validate="many_to_one")
        sums = (rows["points"] * rows["worth"].astype(float)).groupby(rows["tool"]).sum()
        for tool, score in zip(given["overall"]["tool"], given["overall"]["score"], strict=True):
            assert sums[tool] == pytest.approx(score, abs=1e-6)


def test_outcomes_are_the_rails_of_the_scatter_plot(page_of):
    variant, data = variants_of("2021")[0], page_of("2021")[1].data
    rows = rows_of(data, data["variants"][0]).set_index(["benchmark", "instance", "tool"])
    assert set(rows["outcome"]) <= {"solved", ABSENT, *RAILS}
    for pair in (("ERAN", "RPM"), ("NV.jl", "randgen")):
        points = scatter_points(variant.judged, *pair)
        for side, tool in zip("xy", pair, strict=True):
            keys = pd.MultiIndex.from_frame(points[["benchmark", "instance"]].assign(tool=tool))
            found = rows["outcome"].reindex(keys).replace({"solved": "", ABSENT: "no answer"})
            assert found.fillna("no answer").tolist() == points[f"{side}_rail"].tolist()


@pytest.mark.parametrize("edition", ["invented", "2021"])
def test_differing_and_conflicting_instances(page_of, edition):
    """Against loops over the judged rows, and the report's list of disputes."""
    data = page_of(edition)[1].data
    names = [tool["id"] for tool in data["tools"]]
    keys = list(
        zip(
            [data["benchmarks"][i]["id"] for i in data["instances"]["benchmark"]],
            data["instances"]["name"],
            strict=True,
        )
    )
    for given, variant in zip(data["variants"], variants_of(edition), strict=True):
        solved, wrong = {}, {}
        for row in variant.judged.itertuples():
            key = row.benchmark, row.instance
            if row.takes_part and not row.excluded:
                solved.setdefault(key, set()).add(row.verdict == "correct")
            if row.verdict == "incorrect":
                wrong.setdefault(key, []).append(row.tool)
        differing = [keys[i] for i in given["differing"]]
        assert differing == [key for key in keys if len(solved.get(key, ())) == 2]
        found = given["conflicts"]
        disputes = dispute_list({"truth": variant.judged}, variant.edition)
        listed = disputes.set_index(["benchmark", "instance"])
        assert [keys[i] for i in found["instance"]] == [
            key for key in keys if key in wrong or key in listed.index
        ]
        for k, i in enumerate(found["instance"]):
            tools = {
                name: [names[j] for j in found[name][k]] for name in ("unsat", "sat", "incorrect")
            }
            assert tools["incorrect"] == wrong.get(keys[i], [])
            if keys[i] in listed.index:
                row = listed.loc[keys[i]]
                assert (", ".join(tools["unsat"]), ", ".join(tools["sat"])) == (row.unsat, row.sat)
                assert found["truth"][k] == row.truth


def test_packed_columns_unpack_to_what_they_were():
    rng = np.random.default_rng(7)
    base = rng.integers(0, 3, 200).astype(float)
    base[::9] = np.nan
    columns = [base, base.copy(), rng.normal(size=200)]
    for share in (0.05, 0.4, 0.6):
        columns.append(np.where(rng.random(200) < share, rng.normal(size=200), base))
    forms, places = packed(columns)
    assert places[0] == places[1]
    assert len(forms) == 5
    assert [k for k, form in enumerate(forms) if "like" in form] == [2, 3]
    for values, place in zip(columns, places, strict=True):
        found = np.array(column(forms, place), dtype=float)
        assert np.array_equal(found, values, equal_nan=True)


def test_two_builds_have_equal_bytes(page_of, tmp_path):
    again = write_explorer(open_analysis(edition=INVENTED), tmp_path / "again.html")
    assert again.read_bytes() == page_of("invented")[0].read_bytes()


def test_the_page_asks_no_network(page_of):
    page = page_of("2021")[1]
    [policy] = [a["content"] for _, a in page.elements if "http-equiv" in a]
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    assert "unsafe-eval" not in policy
    links = [a.get(name, "#") for _, a in page.elements for name in ("src", "href", "action")]
    assert all(link.startswith(("#", "data:")) for link in links)
    assert len(page.scripts) == 4


def test_rules_are_named_and_the_chosen_come_first(invented):
    chosen = invented.edition.rules.with_settings({"incorrect_points": -150})
    data = explorer_data(analyse(invented, chosen))
    assert data["variants"][0]["id"] == "multi-odd-one-out-incorrect_points=-150"
    assert "worth 10 points, an incorrect one -150." in data["variants"][0]["rules"][0]
    ids = [variant["id"] for variant in data["variants"]]
    names = [variant["name"] for variant in data["variants"]]
    assert len(set(ids)) == len(set(names)) == len(ids) == 6
    assert all("incorrect_points=-150" in name for name in names)


def test_tools_look_as_in_the_figures(page_of):
    data, edition = page_of("2021")[1].data, analysis_of("2021").edition
    names = {tool["id"]: tool["name"] for tool in data["tools"]}
    assert names["a-b-CROWN"] == "α,β-CROWN"
    assert names == {tool: plain_name(edition, tool) for tool in names}
    solid = {tool["id"] for tool in data["tools"] if tool["dash"] == "solid"}
    assert solid == {tool for tool in names if tool_style(edition, tool).linestyle == "-"}
    looks = {(tool["color"], tool["dash"], tool["symbol"]) for tool in data["tools"]}
    assert len(looks) == len(names)


def test_names_cannot_leave_the_data(tidy, tmp_path):
    quoted = HOSTILE.replace('"', '""')
    lines = f'"{quoted}",b & b,"i\u2028""1""",unknown,,\nβ,b & b,"i\u2028""1""",sat,3,\n'
    analysis = open_analysis(edition=str(tidy(HEADER + lines)))
    page = Page(write_explorer(analysis, tmp_path / "x.html").read_text(encoding="utf-8"))
    assert len(page.scripts) == 4
    assert {tool["id"] for tool in page.data["tools"]} == {HOSTILE, "β"}
    assert page.data["instances"]["name"] == ['i\u2028"1"']
    assert page.data["instances"]["limit_s"] == [None]
    assert page.data["columns"]["seconds"][0]["values"] == [None, 3.0]


def test_tools_outside_the_competition_and_selections_are_told(tidy):
    more = "new,toy_acas,a1,unsat,1,\n"
    analysis = open_analysis(
        edition=INVENTED, extra=[str(tidy(HEADER + more))], tools=["new", "tool_best"],
        benchmarks=["toy_acas"],
    )  # fmt: skip
    data = explorer_data(analysis)
    names = {tool["id"]: tool["name"] for tool in data["tools"] if tool["is_listed"]}
    assert names == {"new": "new (not in competition)", "tool_best": "α-Best"}
    notes = " ".join(data["variants"][0]["notes"])
    assert "Not part of the competition: new" in notes
    assert "Shown are 2 of " in notes
    assert "Shown are 1 of 3 benchmarks" in notes
    assert {tool["id"] for tool in data["tools"]} > set(names)  # conflicts name them all
    assert set(rows_of(data, data["variants"][0])["tool"]) == set(names)


def test_2025_is_small_and_has_penalties_without_a_dispute(page_of):
    path, page = page_of("2025")
    judged, data = analysis_of("2025").judged, page.data
    wrong = judged[judged["verdict"] == "incorrect"]
    disputed = (wrong["n_sat"] > 0) & (wrong["n_unsat"] > 0)
    alone = set(wrong.loc[~disputed, "instance"])
    assert alone
    listed = data["variants"][0]["conflicts"]["instance"]
    assert alone <= {data["instances"]["name"][i] for i in listed}
    assert path.stat().st_size < 7.5e6
    assert len(page.data["rows"]["tool"]) == 23483
    [rover] = [i for i, tool in enumerate(page.data["tools"]) if tool["id"] == "rover"]
    assert page.data["rows"]["tool"].count(rover) > 1000
    assert len({variant["name"] for variant in page.data["variants"]}) == 4
    assert any("have not been checked" in told for told in page.data["variants"][0]["caveats"])
