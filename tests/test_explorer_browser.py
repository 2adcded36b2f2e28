"""The explorer in headless Chromium: what a reader sees, clicks, types and downloads.

The driver is Debian's, named by its path: nothing is downloaded.
"""

import csv
import io
import json
import shutil
import time
from urllib.parse import quote

import pandas as pd
import pytest
from conftest import contest_of_year
from pandas.testing import assert_frame_equal
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from vnnanalysis.analysis import analyse, open_analysis
from vnnanalysis.curves import quantile_points
from vnnanalysis.explorer import write_explorer
from vnnanalysis.figures import cactus_points
from vnnanalysis.scatter import scatter_points
from vnnanalysis.scoring import instance_table
from vnnanalysis.tables import plain_name

WAIT_S = 10
MISSING = {"run_s": [""], "corrected_s": [""]}
OUTCOMES = ("timeout", "no answer", "undecided", "left out", "incorrect", "did not take part")
MARKUP = "<img src='x' onerror='document.title=1'>"
ODD = f"""tool,benchmark,instance,result,time_s,timeout_s
"a, b",{MARKUP},&{MARKUP},unsat,0.125,20
β & <b>c</b>,{MARKUP},&{MARKUP},sat,0.375,20
"a, b",{MARKUP},"i, ""2\"\"",timeout,,20
β & <b>c</b>,{MARKUP},"i, ""2\"\"",unknown,7,20
"""


class Browser:
    """A page in a browser, and short words for what a reader does with it."""

    def __init__(self, driver, folder):
        self.driver, self.folder = driver, folder

    def open(self, path, fragment=""):
        self.driver.get("about:blank")
        self.driver.get(f"file://{path}#{fragment}")
        self.until(lambda: not self.all("#loading"))

    def go(self, fragment):
        """Change the address, and wait until the page has followed."""
        script = """const [wanted, done] = arguments;
          if (location.hash.slice(1) === wanted) return done();
          addEventListener("hashchange", () => setTimeout(done), { once: true });
          location.hash = wanted;"""
        self.driver.execute_async_script(script, fragment)

    def until(self, test):
        """Wait until something is true, and return it."""
        end = time.monotonic() + WAIT_S
        while not (found := test()):
            assert time.monotonic() < end, test
            time.sleep(0.02)
        return found

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def texts(self, selector):
        script = """return [...document.querySelectorAll(arguments[0])]
          .map((e) => (e.innerText ?? e.textContent).trim())"""
        return self.js(script, selector)

    def table(self, selector):
        """Return the cells that a table shows, as lists of texts."""
        script = """return [...document.querySelectorAll(arguments[0] + " tbody tr")]
          .map((line) => [...line.cells].map((cell) => cell.innerText.trim()))"""
        return self.js(script, selector)

    def hash(self):
        return self.js("return location.hash")

    def choose(self, name, value):
        Select(self.one(f"select[name={name}]")).select_by_value(value)

    def info(self):
        return self.texts("section:not([hidden]) [role=status]")

    def download(self, button):
        """Press a button and return the content of the file that it gives."""
        for path in self.folder.iterdir():
            path.unlink()
        self.one(f"#{button}").click()
        return self.until(self._downloaded)

    def _downloaded(self):
        done = [path for path in self.folder.iterdir() if path.suffix in (".csv", ".svg")]
        return done[0].read_text(encoding="utf-8") if done else ""

    def place(self, trace, point):
        """Scroll to a plot; return where one of its points is on the screen."""
        script = """const plot = document.getElementById("plot");
          plot.scrollIntoView({ block: "center" });
          const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
          const trace = plot.data.find((t) => t.meta === arguments[0]), i = arguments[1];
          return [box.left + xaxis._offset + xaxis.d2p(trace.x[i]),
                  box.top + yaxis._offset + yaxis.d2p(trace.y[i]), trace.x[i], trace.y[i]]"""
        return self.js(script, trace, point)

    def move_to(self, x, y, *, click=False):
        actions = ActionBuilder(self.driver)
        pointer = actions.pointer_action.move_to_location(round(x), round(y))
        if click:
            pointer.click()
        actions.perform()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program, driver_path = shutil.which("chromium"), shutil.which("chromedriver")
    if not program or not driver_path:
        pytest.skip("no browser: chromium and chromedriver are not installed")
    folder = tmp_path_factory.mktemp("downloads")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "window-size=1280,1000"):
        options.add_argument(f"--{argument}")
    options.add_experimental_option(
        "prefs",
        {
            "download.default_directory": str(folder),
            "profile.default_content_setting_values.automatic_downloads": 1,
        },
    )
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=driver_path)
    driver = webdriver.Chrome(options=options, service=service)
    driver.set_script_timeout(WAIT_S)
    yield Browser(driver, folder)
    driver.quit()


@pytest.fixture(scope="module")
def analysis():
    contest = contest_of_year("2021")
    return analyse(contest, contest.edition.rules)


@pytest.fixture(scope="module")
def path(analysis, tmp_path_factory):
    return write_explorer(analysis, tmp_path_factory.mktemp("explorer") / "explorer 2021.html")


@pytest.fixture(scope="module")
def variants(analysis):
    wanted = ({"overhead": "single", "conflicts": c} for c in ("voting", "odd-one-out"))
    rules = [analysis.rules.with_settings(settings) for settings in wanted]
    return [analyse(analysis.contest, each) for each in rules]


@pytest.fixture
def page(browser, path):
    """The page of 2021 in its first state."""
    if quote(path.name) not in browser.driver.current_url:
        browser.open(path)
    browser.go("")
    return browser


def ranking(analysis):
    rows = analysis.overall.itertuples()
    return [[f"{r.rank}", plain_name(analysis.edition, r.tool), f"{r.score:.1f}"] for r in rows]


def frame_of(text):
    return pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=MISSING)


def test_the_ranking_follows_the_rules(page, analysis, variants):
    assert page.table("#rankings table") == ranking(analysis)
    assert page.texts("#rankings .ytick") == [row[1] for row in ranking(analysis)]
    assert not page.one("#other-rules").is_displayed()
    for variant, third, fourth in zip(
        variants, (["ERAN", "582.9"], ["oval", "582.0"]), (["oval", "581.4"], ["ERAN", "581.1"]),
        strict=True,
    ):  # fmt: skip
        rules = f"single-{variant.rules.conflicts}"
        page.choose("rules", rules)
        page.until(lambda rules=rules: page.hash() == f"#rules={rules}")
        found = page.until(lambda: page.table("#rankings table"))
        assert found == ranking(variant)
        assert [line[1:] for line in found[2:4]] == [third, fourth]  # as published
        assert page.one("#other-rules").is_displayed()
    page.one("#rules-in-words summary").click()
    assert "a tool that stands alone" in page.one("#rules-in-words ul").text
    page.driver.back()
    assert page.until(lambda: page.table("#rankings table") == ranking(variants[0]))


def test_a_benchmark_has_its_scores_and_its_cactus(page, analysis):
    page.go("view=benchmarks&scope=benchmark%3Amnistfc")
    scores = analysis.scores[analysis.scores["benchmark"] == "mnistfc"]
    expected = [
        ["mnistfc", f"{r.rank}", plain_name(analysis.edition, r.tool), f"{r.verified}",
         f"{r.falsified}", f"{r.fastest}", f"{r.incorrect}", f"{r.points}",
         f"{r.percent:.1f}%" if r.percent else "0%", f"{r.solved_percent:.1f}"]
        for r in scores.itertuples()
    ]  # fmt: skip
    assert page.table("#scores") == expected
    judged = analysis.judged[analysis.judged["benchmark"] == "mnistfc"]
    n = judged["instance"].nunique()
    assert f"{n} instances in benchmark mnistfc. Time limits are not" in page.one("#facts").text
    found = frame_of(page.download("csv"))
    assert_frame_equal(found, scores.reset_index(drop=True), check_exact=True, check_dtype=False)
    curves = page.js("return document.getElementById('benchmark-plot').data")
    assert {curve["meta"] for curve in curves} == set(
        judged.loc[judged["verdict"] == "correct", "tool"]
    )
    for curve in curves:
        assert curve["y"] == cactus_points(judged, curve["meta"], 1.0).tolist()
        assert curve["x"] == list(range(1, len(curve["y"]) + 1))


def test_quantile_curves_are_those_of_the_figure(page, analysis):
    page.go("view=plots&plot=quantile")
    curves = page.js("return document.getElementById('plot').data")
    assert len(curves) == 13
    for curve in curves:
        points = quantile_points(analysis.judged, analysis.scores, analysis.edition, curve["meta"])
        assert curve["x"] == pytest.approx(points["x"].tolist())
        assert curve["y"] == points["time_s"].clip(lower=1.0).tolist()


def test_scatter_has_every_instance_and_its_rails(page, analysis):
    page.go("view=plots&plot=scatter&x=NV.jl&y=ERAN&scope=benchmark%3Aacasxu")
    judged = analysis.judged[analysis.judged["benchmark"] == "acasxu"]
    points = scatter_points(judged, "NV.jl", "ERAN")
    found = frame_of(page.download("csv"))
    keys = ["benchmark", "instance"]
    found, points = (f.sort_values(keys, ignore_index=True, kind="stable") for f in (found, points))
    for name in ("x_s", "y_s"):
        found[name] = pd.to_numeric(found[name])
    assert_frame_equal(found, points, check_exact=True, check_dtype=False)
    drawn = page.js("return document.getElementById('plot').data.flatMap((t) => t.x)")
    assert len(drawn) == len(points)
    assert {"timeout", "no answer", "undecided", "left out", "incorrect"} <= set(
        page.texts("#plot .ytick")
    )


def test_pointing_names_the_instance_and_a_click_goes_to_its_rows(page, analysis):
    page.go("view=plots&scope=benchmark%3Amnistfc")
    rows = analysis.judged[analysis.judged["benchmark"] == "mnistfc"]
    solved = rows[(rows["tool"] == "oval") & (rows["verdict"] == "correct")]
    expected = solved.sort_values("corrected_s", kind="stable").iloc[-2]
    x, y, number, seconds = page.place("oval", len(solved) - 2)
    assert (number, seconds) == (len(solved) - 1, expected["corrected_s"])
    page.move_to(x - 3, y)
    page.move_to(x, y)
    told = page.until(lambda: page.texts("#plot .hoverlayer .hovertext"))[0]
    for text in (expected["instance"], expected["benchmark"], f"{seconds:.2f} s", "oval: "):
        assert text in told
    page.move_to(x, y, click=True)
    page.until(lambda: "view=instances" in page.hash())
    cells = page.until(lambda: page.table("#instance-table"))
    of = analysis.judged[analysis.judged["instance"] == expected["instance"]]
    assert {(line[0], line[1]) for line in cells} == {(expected["benchmark"], expected["instance"])}
    assert len(cells) == len(of) == 13
    assert page.js("return document.activeElement.id") == "main"
    page.one("#one-instance a").click()
    page.until(lambda: f"of {len(rows)}" in page.info()[0].replace(",", ""))


def test_the_legend_hides_tools_and_the_address_keeps_it(page, path):
    page.go("view=plots")
    page.js("document.getElementById('plot').scrollIntoView({ block: 'center' })")
    page.all("#plot .legendtoggle")[1].click()
    page.until(lambda: page.hash().endswith("hide=VeriNet"))
    hidden = "return document.getElementById('plot').data.filter((t) => t.visible !== true)"
    page.until(lambda: [trace["meta"] for trace in page.js(hidden)] == ["VeriNet"])
    assert "VeriNet" not in set(frame_of(page.download("csv"))["tool"])
    page.one("#tools summary").click()
    page.one("#tools input[value=VeriNet]").send_keys(Keys.SPACE)
    page.until(lambda: "hide" not in page.hash() and not page.js(hidden))
    page.one("#tools summary").click()


def test_instances_can_be_filtered_searched_sorted_and_saved(page, analysis):
    page.one("nav a[data-view=instances]").click()
    page.until(lambda: page.table("#instance-table"))
    table = instance_table(analysis.judged, analysis.edition)
    for name, value, column in (
        ("scope", "benchmark:acasxu", "benchmark"), ("tool", "NV.jl", "tool"),
        ("verdict", "incorrect", "verdict"),
    ):  # fmt: skip
        page.choose(name, value)
        table = table[table[column] == value.removeprefix("benchmark:")]
        told = f"of {len(table)}"
        page.until(lambda told=told: page.info()[0].replace(",", "").endswith(told))
    assert len(table) == 5
    found = frame_of(page.download("csv"))
    assert_frame_equal(found, table.reset_index(drop=True), check_exact=True, check_dtype=False)
    page.one("section[data-view=instances] input").send_keys("prop_4")
    page.until(lambda: page.info()[0].endswith("of 3"))
    page.until(lambda: page.hash().endswith("search=prop_4"))
    page.all("#instance-table thead th")[5].click()
    times = table.loc[table["instance"].str.contains("prop_4"), "corrected_s"].sort_values()
    cells = page.table("#instance-table")
    assert [line[5] for line in cells] == [f"{seconds:.2f}" for seconds in times]
    assert {line[4] for line in cells} == {"incorrect"}
    assert {line[6] for line in cells} == {"-100"}
    saved = frame_of(page.download("csv"))
    assert saved["corrected_s"].tolist() == times.tolist()
    svg = page.download("picture")
    assert svg.startswith("<svg")
    assert "Nothing was solved here." in svg  # incorrect answers are on no curve


def test_differing_and_conflicting_instances(page, analysis):
    data = page.js("return JSON.parse(document.getElementById('data').textContent).variants[0]")
    page.go("view=differing")
    assert page.info()[0].endswith(f"of {len(data['differing'])}")
    lines = list(csv.reader(io.StringIO(page.download("csv"))))
    assert lines[0][:3] == ["benchmark", "index", "instance"]
    judged = analysis.judged.set_index(["benchmark", "instance", "tool"])
    for line in (lines[1], lines[-1]):
        for tool, cell in zip(lines[0][3:], line[3:], strict=True):
            row = judged.loc[line[0], line[2], tool]
            if row["verdict"] == "correct":
                assert float(cell) == row["corrected_s"]
            else:
                assert cell in OUTCOMES
    page.go("view=conflicting&scope=benchmark%3Aacasxu&searchConflicting=prop_4")
    cells = page.table("#conflicting-table")
    assert [line[5] for line in cells] == ["NV.jl"] * 3
    assert {(line[3], line[4]) for line in cells} == {("NV.jl", "unsat")}
    assert "α,β-CROWN" in cells[0][2]
    svg = page.download("picture")
    assert "answers to 3 conflicting instances" in svg
    assert ">3<" in svg


def test_an_address_opens_what_it_was_taken_from(page, path, variants):
    state = {
        "rules": "single-voting", "view": "instances", "scope": "benchmark:eran", "tool": "DNNF",
        "result": "error", "search": "idx_9",
    }  # fmt: skip
    page.open(path, "&".join(f"{key}={quote(value)}" for key, value in state.items()))
    shown = {name: page.js("return document.querySelector(arguments[0]).value", f"[name={name}]")
             for name in ("rules", "scope", "tool", "result", "verdict")}  # fmt: skip
    assert shown == {**{k: state[k] for k in ("rules", "scope", "tool", "result")}, "verdict": ""}
    found = page.table("#instance-table")
    rows = instance_table(variants[0].judged, variants[0].edition)
    expected = rows[
        (rows["benchmark"] == "eran") & (rows["tool"] == "DNNF") & (rows["result"] == "error")
        & rows["instance"].str.contains("idx_9")
    ]  # fmt: skip
    assert [line[1] for line in found] == expected["instance"].tolist() != []
    page.go("view=instances&rules=single-voting")
    saved = frame_of(page.download("csv"))
    assert_frame_equal(saved, rows, check_exact=True, check_dtype=False)
    page.go("view=plots&plot=scatter&x=ERAN&y=oval&rules=nonsense&scope=benchmark%3Agone")
    assert page.js("return document.getElementById('rules').value") == "own"
    assert "ERAN [s]" in page.texts("#plot .xtitle")[0]
    page.driver.back()
    page.driver.back()
    page.until(lambda: page.table("#instance-table") == found)


def test_the_keyboard_is_enough(page):
    page.go("view=plots")

    def press(*keys):
        ActionChains(page.driver).send_keys(*keys).perform()
        return page.js("const e = document.activeElement; return e.id || e.dataset.view || e.name")

    page.js("document.body.tabIndex = -1; document.body.focus()")
    assert press(Keys.TAB) == "skip"
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert page.js(outline) == "solid"
    assert press(Keys.ENTER) == "main"
    assert page.hash() == "#view=plots"
    assert press(Keys.TAB) == "scope"
    page.js("document.body.focus()")
    assert press(Keys.TAB, Keys.TAB) == "rules"
    press(Keys.ARROW_DOWN)
    page.until(lambda: page.hash() == "#view=plots&rules=single-voting")
    stops = [press(Keys.TAB) for _ in range(6)]
    assert stops[-4:] == ["overall", "benchmarks", "plots", "instances"]
    press(Keys.ENTER)
    page.until(lambda: page.table("#instance-table"))
    assert page.js("return document.activeElement.dataset.view") == "instances"
    first = page.table("#instance-table")[0]
    page.js("document.querySelector('#instance-table thead [tabindex=\"0\"]').focus()")
    press(Keys.ENTER)
    press(Keys.ENTER)
    page.until(lambda: page.table("#instance-table")[0] != first)
    assert page.js("return document.querySelector('#instance-table th').ariaSort") == "descending"


def test_everything_has_a_name_and_counts_are_announced(page):
    page.go("view=instances")
    script = """return [...document.querySelectorAll("select, input, button, a, caption")]
      .filter((e) => e.checkVisibility())
      .filter((e) => !(e.matches("select, input") ? e.labels.length : e.innerText.trim()))
      .map((e) => e.outerHTML)"""
    assert page.js(script) == []
    [status] = page.all("section:not([hidden]) [role=status]")
    assert status.get_attribute("aria-live") == "polite"
    assert page.texts("nav a[aria-current=page]") == ["Instances"]


def test_pictures_say_which_rules_they_show(page):
    page.go("rules=single-ignore")
    svg = page.download("picture")
    assert svg.startswith("<svg")
    for text in ("VNN-COMP 2021: overall score", "single overhead, conflicts: ignore", "venus2"):
        assert text in svg
    saved = frame_of(page.download("csv"))
    assert list(saved.columns) == ["track", "rank", "tool", "score"]
    assert len(saved) == 13


def test_odd_names_are_shown_as_text(browser, tidy, tmp_path):
    analysis = open_analysis(edition=str(tidy(ODD)))
    odd = write_explorer(analysis, tmp_path / "odd.html")
    browser.open(odd)
    for view in ("overall", "benchmarks", "plots", "instances", "differing", "conflicting"):
        browser.go(f"view={view}&search=%26%3Cimg")
        assert browser.driver.title == f"contest: {view}"
        assert not browser.all("main img, main b:not(#one-instance b), main script")
    [line] = browser.table("#conflicting-table")
    assert line[:4] == [MARKUP, f"&{MARKUP}", "a, b", "β & <b>c</b>"]
    browser.go("view=instances&search=%26%3Cimg")
    assert len(browser.table("#instance-table")) == 2
    browser.go("view=instances")
    rows = browser.table("#instance-table")
    assert [line[5] for line in rows] == ["1.00", "1.00", "–", "6.62"]  # 7 - 0.375, half to even
    browser.all("#instance-table thead th")[5].click()
    assert [line[5] for line in browser.table("#instance-table")] == ["1.00", "1.00", "6.62", "–"]
    for _ in range(2):
        browser.all("#instance-table thead th")[5].click()
    found = frame_of(browser.download("csv"))
    expected = instance_table(analysis.judged, analysis.edition)
    assert found["instance"].tolist() == expected["instance"].tolist()
    browser.go("view=plots&plot=scatter")
    assert "Neither solved anything here." in browser.texts("#plot .annotation")
    browser.go("view=plots&plot=quantile")
    assert "No score here" in browser.texts("#plot .annotation")[0]


def test_no_error_and_no_request(page):
    """Last: over all that the other tests did."""
    assert page.driver.get_log("browser") == []
    asked = set()
    for entry in page.driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.add(message["params"]["request"]["url"])
    files = {url.partition("?")[0] for url in asked if not url.startswith(("data:", "blob:"))}
    assert files
    assert all(url.startswith("file:///") and url.endswith(".html") for url in files)
