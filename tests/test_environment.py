import re
import tomllib

import pytest
import yaml

from vnnanalysis import __version__
from vnnanalysis.paths import root

CONDA_NAMES = {  # the same packages, without GUI back ends or a browser engine
    "matplotlib-base": "matplotlib",
    "nbconvert-core": "nbconvert",
    "seaborn-base": "seaborn",
}
pytestmark = pytest.mark.skipif(not (root() / "pyproject.toml").is_file(), reason="not a checkout")


@pytest.fixture
def project():
    return tomllib.loads((root() / "pyproject.toml").read_text())["project"]


def split(requirement):
    name, bound = re.fullmatch(r"([A-Za-z0-9_.-]+)([>=]=[\d.]+)", requirement).groups()
    return name, bound


def test_environment_agrees_with_pyproject(project):
    conda = yaml.safe_load((root() / "environment.yml").read_text())["dependencies"]
    named = dict(split(entry) for entry in conda if isinstance(entry, str) and ">=" in entry)
    assert named.pop("python") == project["requires-python"]
    # conda passes these lines to pip as a requirements file, one requirement a line
    assert [entry["pip"] for entry in conda if isinstance(entry, dict)] == [["-e ."]]
    ours = {CONDA_NAMES.get(name, name): bound for name, bound in named.items()}
    assert ours == dict(split(entry) for entry in project["dependencies"])


def test_constraints_are_versions_only_and_cover_every_dependency(project):
    lines = (root() / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9_.\-\[\]]+==[A-Za-z0-9_.+!]+", pin) for pin in pins)
    pinned = {pin.partition("==")[0].lower().replace("_", "-") for pin in pins}
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    assert {split(entry)[0] for entry in wanted} <= pinned


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load((root() / "CITATION.cff").read_text())
    assert citation["version"] == __version__
    assert f"## {__version__}" in (root() / "CHANGELOG.md").read_text()


def test_ci_calls_the_readme_test_command():
    assert "make test" in (root() / "README.md").read_text()
    assert "\nmake test" in (root() / ".ci" / "run").read_text()
