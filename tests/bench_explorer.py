"""Size and speed of the explorer against plain tables of the same rows: ``make bench``.

The folder holds the results repositories of 2021 and 2025. The time until a page can be read
is measured where Chromium and its driver are installed.
"""

import shutil
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from selenium import webdriver

from vnnanalysis.analysis import analyse_variants, open_analysis
from vnnanalysis.explorer import write_explorer
from vnnanalysis.paths import root
from vnnanalysis.scoring import instance_table


def seconds(function):
    """Return the run time of a function."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def write_plain(analysis, path):
    """Write the same rows as one HTML table per variant, as pandas does."""
    variants = [analysis, *(variant for _, variant in analyse_variants(analysis))]
    tables = [instance_table(v.shown, v.edition).to_html(index=False) for v in variants[1:]]
    path.write_text("<!DOCTYPE html><meta charset=utf-8>" + "".join(tables), encoding="utf-8")


def write_itables(analysis, path):
    """Write the rows under one rule set as itables does, offline."""
    from itables import options
    from itables.javascript import generate_init_offline_itables_html, to_html_datatable

    table = instance_table(analysis.shown, analysis.edition)
    shown = to_html_datatable(table, maxBytes=0, connected=False)
    start = generate_init_offline_itables_html(options.dt_bundle)
    path.write_text(f"<!DOCTYPE html><meta charset=utf-8>{start}{shown}", encoding="utf-8")


def seconds_until_read(path, script):
    """Return how long Chromium takes from the address to what a script waits for."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("headless=new", "no-sandbox", "disable-gpu"):
        options.add_argument(f"--{argument}")
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:

        def opened():
            driver.get(path.as_uri())
            while not driver.execute_script(script):
                time.sleep(0.01)

        first = seconds(opened)
        return first if first > 5 else min(first, *(seconds(opened) for _ in range(3)))
    finally:
        driver.quit()


def compare(year, results, folder):
    """Print what one edition takes."""
    analysis = open_analysis(edition=year, results=results)
    ways = {
        "explorer": (write_explorer, "return !document.getElementById('loading')"),
        "pandas' to_html": (write_plain, "return document.readyState === 'complete'"),
        "itables, one rule set": (write_itables, "return !!document.querySelector('td')"),
    }
    base = None
    for name, (write, script) in ways.items():
        path = folder / f"{year}-{name}.html"
        took = [min(seconds(partial(write, analysis, path)) for _ in range(2))]
        if shutil.which("chromium") and shutil.which("chromedriver"):
            took.append(seconds_until_read(path, script))
        facts = [path.stat().st_size / 1e6, *took]
        base = base or facts
        units = ("MB", "s to write", "s to read")
        told = [
            f"{fact:.2f} {unit} (ratio {fact / own:.1f})"
            for fact, unit, own in zip(facts, units[: len(facts)], base, strict=True)
        ]
        print(f"{year}, {name}: {', '.join(told)}")


def main(results):
    """Print sizes and times for two editions."""
    with tempfile.TemporaryDirectory() as folder:
        for year in ("2021", "2025"):
            compare(year, results / f"vnncomp{year}_results", Path(folder))


if __name__ == "__main__":
    default = root().parent / "shared" / "results"
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else default)
