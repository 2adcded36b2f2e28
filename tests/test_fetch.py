"""Fetching with real git, from a local bare repository."""

import os
import subprocess

import pytest
from click.testing import CliRunner

from vnnanalysis import cli_several
from vnnanalysis import fetch as fetching
from vnnanalysis.cli import main
from vnnanalysis.editions import Source
from vnnanalysis.errors import UsageError
from vnnanalysis.fetch import FetchError, fetch, state


def git(folder, *arguments):
    identity = {"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e", "GIT_COMMITTER_NAME": "n",
                "GIT_COMMITTER_EMAIL": "e"}  # fmt: skip
    run = subprocess.run(
        ["git", "-C", str(folder), *arguments], env=os.environ | identity, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    return run.stdout.strip()


@pytest.fixture
def raw(tmp_path, monkeypatch):
    folder = tmp_path / "raw"
    monkeypatch.setattr(fetching, "raw_folder", lambda: folder)
    return folder


@pytest.fixture
def upstream(tmp_path):
    """A bare repository of three commits; the pinned one is not the last."""
    work, bare = tmp_path / "work", tmp_path / "upstream.git"
    work.mkdir()
    git(work, "init", "--quiet")
    commits = []
    for text in ("one\r\n", "two\r\n", "three\r\n"):
        (work / "results.csv").write_bytes(text.encode())
        (work / "lines.txt").write_bytes(b"a\nb\n")
        git(work, "add", "results.csv", "lines.txt")
        git(work, "commit", "--quiet", "-m", text.strip())
        commits.append(git(work, "rev-parse", "HEAD"))
    subprocess.run(["git", "clone", "--quiet", "--bare", str(work), str(bare)], check=True)
    return bare, Source("owner/contest_results", commits[1])


def test_the_pinned_commit_is_checked_out_and_nothing_else(raw, upstream):
    bare, source = upstream
    news = []
    folder = fetch(source, mirror=str(bare), say=news.append)
    assert folder == raw / "contest_results"
    assert (folder / "results.csv").read_bytes() == b"two\r\n"
    assert git(folder, "rev-parse", "HEAD") == source.commit
    assert git(folder, "rev-list", "--count", "HEAD") == "1"  # shallow
    assert state(folder, source) == "complete"
    assert news[-1].endswith("verified")


def test_a_complete_folder_needs_no_network(raw, upstream):
    bare, source = upstream
    folder = fetch(source, mirror=str(bare))
    bare.rename(bare.with_name("gone"))
    news = []
    assert fetch(source, mirror=str(bare), say=news.append) == folder
    assert news == [f"{folder}: commit {source.commit[:7]} is there already"]


def test_an_interrupted_fetch_is_taken_up_again(raw, upstream):
    """Git was killed between its steps, and left its lock."""
    bare, source = upstream
    folder = raw / "contest_results"
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    git(folder, "fetch", "--quiet", "--depth", "1", str(bare), source.commit)
    for lock in ("shallow.lock", "index.lock"):
        (folder / ".git" / lock).touch()
    assert state(folder, source) == "missing files"
    fetch(source, mirror=str(bare))
    assert state(folder, source) == "complete"


def test_missing_files_are_noticed_and_mended(raw, upstream):
    bare, source = upstream
    folder = fetch(source, mirror=str(bare))
    (folder / "results.csv").unlink()
    assert state(folder, source) == "missing files"
    fetch(source, mirror=str(bare))
    assert (folder / "results.csv").read_bytes() == b"two\r\n"


@pytest.mark.parametrize("name", ["results.csv", "added.csv"])
@pytest.mark.parametrize("other_commit", [False, True])
def test_what_somebody_changed_or_added_is_never_discarded(raw, upstream, name, other_commit):
    bare, source = upstream
    folder = fetch(source, mirror=str(bare))
    (folder / name).write_text("mine")
    wanted = Source(source.repository, git(bare, "rev-parse", "HEAD")) if other_commit else source
    assert state(folder, wanted) == "changed files"
    with pytest.raises(UsageError, match=f"changed or added files \\({name}, ...\\)"):
        fetch(wanted, mirror=str(bare))
    assert (folder / name).read_text() == "mine"


def test_a_broken_checkout_is_not_taken_for_the_repository_around_it(raw, upstream, tmp_path):
    bare, source = upstream
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "fetch", "--quiet", str(bare), source.commit)
    git(tmp_path, "reset", "--quiet", source.commit)
    folder = raw / "contest_results"
    (folder / ".git").mkdir(parents=True)
    assert state(folder, source) == "missing files"
    fetch(source, mirror=str(bare))
    assert state(folder, source) == "complete"


def test_bytes_are_those_of_the_repository_whatever_git_is_set_to(raw, upstream, monkeypatch):
    bare, source = upstream
    for name, value in (("COUNT", "1"), ("KEY_0", "core.autocrlf"), ("VALUE_0", "true")):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # of a hook that calls us
    folder = fetch(source, mirror=str(bare))
    assert (folder / "results.csv").read_bytes() == b"two\r\n"
    assert (folder / "lines.txt").read_bytes() == b"a\nb\n"
    assert state(folder, source) == "complete"


def test_a_move_to_another_commit_that_was_interrupted_is_taken_up(raw, upstream, monkeypatch):
    """Killed after the first files of the new commit were written."""
    bare, source = upstream
    folder = fetch(source, mirror=str(bare))
    newer = Source(source.repository, git(bare, "rev-parse", "HEAD"))

    def killed(*_):
        (folder / "results.csv").write_bytes(b"three\r\n")
        (folder / ".git" / "index.lock").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(fetching, "_check_out", killed)
    with pytest.raises(KeyboardInterrupt):
        fetch(newer, mirror=str(bare))
    monkeypatch.undo()
    monkeypatch.setattr(fetching, "raw_folder", lambda: raw)
    fetch(newer, mirror=str(bare))
    assert (folder / "results.csv").read_bytes() == b"three\r\n"
    assert state(folder, newer) == "complete"


def test_a_fetch_that_failed_does_not_license_the_next_to_discard_edits(raw, upstream):
    bare, source = upstream
    folder = fetch(source, mirror=str(bare))
    newer = Source(source.repository, git(bare, "rev-parse", "HEAD"))
    with pytest.raises(FetchError):
        fetch(newer, mirror=str(bare.with_name("gone")))
    (folder / "results.csv").write_text("mine")
    with pytest.raises(UsageError, match="changed or added files"):
        fetch(newer, mirror=str(bare))
    assert (folder / "results.csv").read_text() == "mine"


def test_a_mark_left_on_a_complete_checkout_is_taken_away(raw, upstream):
    """Killed after the checkout was done."""
    bare, source = upstream
    folder = fetch(source, mirror=str(bare))
    (folder / fetching._UNDER_WAY).touch()
    fetch(source, mirror=str(bare))
    (folder / "results.csv").write_text("mine")
    with pytest.raises(UsageError, match="changed or added files"):
        fetch(source, mirror=str(bare))


def test_a_file_in_the_place_of_the_folder(raw, upstream):
    bare, source = upstream
    raw.mkdir()
    (raw / "contest_results").touch()
    with pytest.raises(UsageError, match="cannot write"):
        fetch(source, mirror=str(bare))


def test_a_new_pinned_commit_replaces_the_old(raw, upstream):
    bare, source = upstream
    fetch(source, mirror=str(bare))
    newer = Source(source.repository, git(bare, "rev-parse", "HEAD"))
    folder = fetch(newer, mirror=str(bare))
    assert state(folder, source) == "other commit"
    assert (folder / "results.csv").read_bytes() == b"three\r\n"


def test_offline_is_said_clearly(raw, upstream, monkeypatch):
    _, source = upstream
    monkeypatch.setattr(fetching, "HOST", "https://host.invalid")
    with pytest.raises(FetchError, match="are you offline\\? A clone that you have can be named"):
        fetch(source)


@pytest.mark.parametrize(
    ("commit", "expected"),
    [("0" * 40, "not our ref"), ("", "names no such repository, or no commit of it")],
)
def test_a_commit_that_is_not_there(raw, upstream, commit, expected):
    bare, source = upstream
    with pytest.raises((FetchError, UsageError), match=expected):
        fetch(Source(source.repository, commit), mirror=str(bare))


def test_files_of_ones_own_are_not_overwritten(raw, upstream):
    bare, source = upstream
    own = raw / "contest_results" / "mine.csv"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    with pytest.raises(UsageError, match="holds files that no fetch brought"):
        fetch(source, mirror=str(bare))
    assert own.read_text() == "mine"


def test_two_at_once_do_not_meet(raw, upstream):
    bare, source = upstream
    raw.mkdir()
    with (
        fetching._alone(raw / "contest_results"),
        pytest.raises(UsageError, match="another fetch is at work here"),
    ):
        fetch(source, mirror=str(bare))
    fetch(source, mirror=str(bare))


def test_the_command_line(raw, tmp_path, upstream):
    bare, _ = upstream
    run = CliRunner().invoke(main, ["fetch", "2021", "--mirror", str(bare)])
    assert run.exit_code == 1
    assert "cannot fetch stanleybak/vnncomp2021_results from" in run.stderr
    nothing = CliRunner().invoke(main, ["fetch", "2026", "--benchmarks", "--mirror", str(bare)])
    assert nothing.exit_code == 1


def test_what_is_on_disk_is_listed(raw, monkeypatch):
    monkeypatch.setattr(cli_several, "raw_folder", lambda: raw)
    (raw / "vnncomp2021_results").mkdir(parents=True)
    (raw / "vnncomp2021_results" / "file").touch()
    listed = CliRunner().invoke(main, ["editions"]).stdout
    assert "2021  VNN-COMP 2021\n  13 tools, 9 benchmarks in main\n" in listed
    assert f"at a83b9da; {raw / 'vnncomp2021_results'} (no checkout)" in listed
    assert "vnncomp2022_results at 4a25704; not on disk" in listed
