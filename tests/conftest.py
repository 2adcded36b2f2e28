"""Shared by all tests: the invented contest, small raw folders, the organisers' real files."""

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from vnnanalysis.analysis import Analysis, open_analysis
from vnnanalysis.cli import main
from vnnanalysis.load import Contest, load_contest
from vnnanalysis.paths import root

# Tests leave the user's own measurements alone.
os.environ["VNNANALYSIS_CACHE"] = str(Path(tempfile.mkdtemp(prefix="vnnanalysis-")) / "c.sqlite")

INVENTED = str(Path(__file__).parent / "fixtures" / "invented" / "invented.csv")
REAL = Path(os.environ.get("VNNANALYSIS_REAL_DATA", root().parent / "shared"))
REQUIRED = os.environ.get("VNNANALYSIS_REQUIRE_REAL_DATA") == "1"


def pytest_addoption(parser):
    parser.addoption("--rewrite-golden", action="store_true", help="rewrite tests/golden")


LONG_FILES = (
    *("test_report", "test_notebooks", "test_batch", "test_validate", "test_explorer_browser"),
    *("test_explorer", "test_cli_insight", "test_history"),
)


def pytest_collection_modifyitems(config, items):
    """Long files first, so that two processes end together; what takes long only if asked for."""
    items.sort(key=lambda item: item.path.stem not in LONG_FILES)
    if os.environ.get("VNNANALYSIS_FUZZ") != "1":
        late = [item for item in items if item.get_closest_marker("length")]
        config.hook.pytest_deselected(items=late)
        items[:] = [item for item in items if item not in late]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Where real data are required, as in CI, nothing may be skipped."""
    report = yield
    if REQUIRED and report.skipped and not item.config.getoption("--rewrite-golden"):
        report.outcome = "failed"
        report.longrepr = f"skipped, although nothing may be: {report.longrepr}"
    return report


@pytest.fixture
def sockets():
    """Return a folder with a path short enough for the sockets of a kernel."""
    with tempfile.TemporaryDirectory(prefix="s-") as folder:
        yield Path(folder)


def real_path(*parts: str) -> Path:
    """Return a path below the organisers' files, or skip the test."""
    path = REAL.joinpath(*parts)
    if path.exists():
        return path
    pytest.skip(f"no real data: {path} does not exist (set VNNANALYSIS_REAL_DATA)")


def raw_of(edition: str) -> Path:
    """Return the folder with an edition's raw results, or skip the test."""
    if edition == "study":
        return real_path("study")
    return real_path("results", f"vnncomp{edition}_results")


@functools.cache
def contest_of_year(edition: str) -> Contest:
    """Load an edition once per test process."""
    return load_contest(edition, raw_of(edition))


@pytest.fixture(scope="session")
def invented() -> Contest:
    """The invented contest."""
    return load_contest(INVENTED)


@pytest.fixture(scope="session")
def invented_analysis() -> Analysis:
    return open_analysis(edition=INVENTED)


@pytest.fixture(scope="session")
def contest_2021() -> Contest:
    return contest_of_year("2021")


@pytest.fixture
def raw_edition(tmp_path):
    """Write a small edition in the competition's layout; returns a function.

    ``write({"a": lines}, files="{tool}.csv")`` returns edition file and results folder.
    """

    def write(
        tools: dict[str, str | bytes],
        *,
        benchmarks: tuple[str, ...] = ("acas",),
        files: str = "{tool}.csv",
        benchmark_id: str = "{category}",
        more: str = "",
    ) -> tuple[str, Path]:
        folder = tmp_path / "results"
        for tool, lines in tools.items():
            path = folder / files.replace("{tool}", tool)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(lines if isinstance(lines, bytes) else lines.encode())
        listed = ", ".join(f'"{b}"' for b in benchmarks)
        sections = "".join(
            f'[tools."{tool}"]\n' for tool in tools if not tool.startswith("SCORING")
        )
        toml = tmp_path / "small.toml"
        toml.write_text(
            f'title = "Small"\n[layout]\nfiles = "{files}"\nbenchmark_id = "{benchmark_id}"\n'
            f"[tracks.main]\nbenchmarks = [{listed}]\n{sections}{more}"
        )
        return str(toml), folder

    return write


def raw_row(
    benchmark: str, network: str, prop: str, result: str, run: str | float = 1.5, root: str = "."
) -> str:
    """Return one line in the competition's layout."""
    base = f"{root}/benchmarks/{benchmark}"
    return f"{benchmark},{base}/{network},{base}/{prop},.1,{result},{run}\n"


@pytest.fixture
def tidy(tmp_path):
    """Write a tidy csv file from lines of text; returns its path."""

    def write(text: str, name: str = "contest.csv") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture(scope="session")
def example_report(tmp_path_factory) -> Path:
    """The report of the example, built by the command line in an empty folder."""
    folder = tmp_path_factory.mktemp("example")
    command = [sys.executable, "-m", "vnnanalysis.cli", "report", "example"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "reports/example/index.html"
    return folder / "reports" / "example"


@pytest.fixture
def cli():
    """Run the command line, with options for `subprocess.run` in a process of its own."""

    def run(*arguments, **options):
        texts = [str(argument) for argument in arguments]
        if options:
            command = [sys.executable, "-m", "vnnanalysis.cli", *texts]
            return subprocess.run(command, capture_output=True, text=True, check=False, **options)
        done = CliRunner().invoke(main, texts, catch_exceptions=False)
        return SimpleNamespace(returncode=done.exit_code, stdout=done.stdout, stderr=done.stderr)

    return run


@pytest.fixture
def git():
    """Run git in a folder; returns a function."""

    def run(folder, *arguments):
        named = ["-c", "user.name=t", "-c", "user.email=t@t"]
        subprocess.run(["git", "-C", str(folder), *named, *arguments], check=True)

    return run
