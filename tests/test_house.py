"""The house: who may import whom, and what the sizes are."""

import ast

import pytest

from vnnanalysis.paths import root

ORDER = [
    "errors",
    "terms",
    "paths",
    "toml_file",
    "rows",
    "rules",
    "edition_model",
    "edition_toml",
    "editions",
    "files",
    "layouts",
    "tidy",
    "problems",
    "limits",
    "texts",
    "formula",
    "evaluate",
    "vnnlib_regular",
    "vnnlib_assertions",
    "vnnlib",
    "witness",
    "tasks",
    "replay",
    "measure",
    "verdicts",
    "workers",
    "measured_cache",
    "witness_files",
    "validate",
    "networks",
    "sidecars",
    "checks",
    "known_verdicts",
    "proofs",
    "load",
    "judging",
    "scoring",
    "shapley",
    "times",
    "portfolio",
    "parallel",
    "pairs",
    "bootstrap",
    "ranking",
    "significance",
    "overview",
    "disputes",
    "witness_tables",
    "tables",
    "kernel",
    "analysis",
    "benchmark_table",
    "certainty",
    "summary",
    "story",
    "fonts",
    "names",
    "drawing",
    "figures",
    "scatter",
    "curves",
    "rank_figures",
    "pair_figures",
    "display",
    "display_insight",
    "fetch",
    "history",
    "recurring",
    "published",
    "notebooks",
    "runner",
    "manifest",
    "batch_grid",
    "comparison",
    "batch",
    "latex",
    "explorer_rows",
    "explorer_data",
    "explorer",
    "instance_times",
    "macros",
    "facts",
    "report",
    "explain",
    "cli_several",
    "cli_validate",
    "cli_options",
    "cli_insight",
    "cli_batch",
    "cli",
]
MODULES = sorted((root() / "vnnanalysis").glob("[a-z]*.py"))


def imports(path):
    """Return every module that a file imports, also within functions."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            whole = node.module == "vnnanalysis"
            found += [f"{node.module}.{a.name}" for a in node.names] if whole else [node.module]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return found


def test_every_module_has_a_place():
    assert sorted(ORDER) == [path.stem for path in MODULES]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_imports_point_downward(path):
    above = set(ORDER[ORDER.index(path.stem) :])
    ours = {name.split(".")[1] for name in imports(path) if name.startswith("vnnanalysis.")}
    assert ours & above == set()
    outside = {name for name in imports(path) if not name.startswith("vnnanalysis")}
    assert "matplotlib.pyplot" not in outside
    for modules, package in ((["notebooks"], "papermill"), (["replay", "networks"], "onnx")):
        if path.stem not in modules:
            assert not any(name.startswith(package) for name in outside)
    if path.stem != "replay":
        assert not any(name.startswith("onnxruntime") for name in outside)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_sizes(path):
    """A module at most 400 lines, a function body at most 40 (the docstring not counted)."""
    assert len(path.read_text().splitlines()) <= 400
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            assert not body or body[-1].end_lineno - body[0].lineno < 40, node.name
