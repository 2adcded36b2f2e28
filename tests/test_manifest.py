"""What something was made from, and how it comes into its place."""

import hashlib
import json
from pathlib import Path

import pytest
from conftest import INVENTED

from vnnanalysis.analysis import open_analysis
from vnnanalysis.manifest import (
    chosen,
    hashes,
    is_current,
    made_from,
    put_in_place,
    write_manifest,
    write_whole,
)


@pytest.fixture
def made(tmp_path):
    folder = tmp_path / "made"
    (folder / "csv").mkdir(parents=True)
    (folder / "csv" / "a.csv").write_text("a\n1\n")
    (folder / "n.ipynb").write_text("{}")
    write_manifest(folder, {"of": ("x", 1)})
    return folder


def test_a_manifest_names_every_file(made):
    manifest = json.loads((made / "manifest.json").read_text())
    digest = hashlib.sha256(b"a\n1\n").hexdigest()
    assert manifest["outputs"]["csv/a.csv"] == digest
    assert set(manifest["outputs"]) == {"csv/a.csv", "n.ipynb"}
    assert sorted(path.name for path in made.iterdir()) == ["csv", "manifest.json", "n.ipynb"]
    assert hashes(made) == manifest["outputs"]


DAMAGE = {
    "changed": lambda folder: (folder / "csv" / "a.csv").write_text("a\n2\n"),
    "notebook": lambda folder: (folder / "n.ipynb").write_text("[]"),
    "missing": lambda folder: (folder / "csv" / "a.csv").unlink(),
    "added": lambda folder: (folder / "csv" / "b.csv").write_text(""),
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "half a manifest": lambda folder: (folder / "manifest.json").write_text('{"of":'),
    "another text": lambda folder: (folder / "manifest.json").write_text("[1]"),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damage_is_noticed(made, how):
    assert is_current(made, {"of": ("x", 1)})
    assert not is_current(made, {"of": ("x", 2)})
    DAMAGE[how](made)
    assert not is_current(made, {"of": ("x", 1)})


def test_what_a_contest_was_read_from(invented, tidy):
    facts = made_from(invented)
    named = {entry["file"]: entry["sha256"] for entry in facts["inputs"]}
    assert named == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (Path(INVENTED), Path(INVENTED).with_suffix(".toml"))
    }
    rows = "tool,benchmark,instance,result,time_s\na,b,i,sat,"
    facts = [made_from(open_analysis(edition=str(tidy(rows + end))).contest) for end in ("1", "2")]
    assert facts[0]["inputs"] != facts[1]["inputs"]
    assert facts[0]["edition"] == facts[1]["edition"] == "contest"


def test_what_an_analysis_chose(invented_analysis):
    facts = chosen(invented_analysis)
    assert facts["rules"]["conflicts"] == "odd-one-out"
    assert facts["rules"]["tie_s"] == "0.2"
    assert facts["track"] == "all"
    other = chosen(open_analysis(edition=INVENTED, tools="tool_best", conflicts="voting"))
    assert {name for name in facts if facts[name] != other[name]} == {"rules", "tools"}


def test_an_earlier_result_is_replaced_whole(made, tmp_path):
    staging = tmp_path / "staging"
    staging.mkdir()
    (staging / "new").write_text("")
    put_in_place(staging, made)
    assert [path.name for path in made.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [made]


def test_an_earlier_result_comes_back(made, tmp_path):
    before = hashes(made)
    with pytest.raises(OSError, match="No such file"):
        put_in_place(tmp_path / "gone", made)
    assert hashes(made) == before
    assert list(tmp_path.iterdir()) == [made]


def test_a_file_is_written_whole(tmp_path):
    path = tmp_path / "a.csv"
    write_whole(path, b"1")
    write_whole(path, b"2")
    assert path.read_bytes() == b"2"
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o644
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_whole(tmp_path / "folder", b"3")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "folder"]
