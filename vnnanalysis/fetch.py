"""Fetch an edition's raw files with git, at the commit its edition file names."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from vnnanalysis.editions import Source
from vnnanalysis.errors import UsageError, VnnAnalysisError
from vnnanalysis.paths import raw_folder

_EDITED = ("M", "A", "R", "C", "T", "U", "??", "AM", "MM", "UU")
_OWN_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
               "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX")  # fmt: skip
_UNDER_WAY = ".git/vnnanalysis-fetch"
HOST = "https://github.com"
Say = Callable[[str], None]


class FetchError(VnnAnalysisError):
    """Files that could not be fetched: which, from where, and what git said."""

    def __init__(self, source: Source, url: str, problem: str) -> None:
        self.source, self.url, self.problem = source, url, problem
        super().__init__(f"cannot fetch {source.repository} from {url}: {problem}")


def fetch(source: Source, *, mirror: str = "", say: Say = lambda _: None) -> Path:
    """Check out the pinned commit of a repository in the folder of raw files.

    Only that commit is fetched. What an interrupted run left is used again; a folder that
    is complete is only verified.

    Parameters
    ----------
    source : Source
        Repository and commit.
    mirror : str
        Where to fetch from instead of `HOST`: a URL or path of a clone of this repository.
    say : callable
        Called with one line of news at a time.

    Returns
    -------
    Path
        The folder, ``data/raw/<repository>``.

    Raises
    ------
    FetchError
        If git fails, saying what to do.
    UsageError
        If there is no git, nothing to fetch, or something else in the folder.
    """
    if not source.commit:
        raise UsageError(
            "nothing to fetch: the edition file names no such repository, or no commit of it"
        )
    if shutil.which("git") is None:
        raise UsageError("fetching needs git; on Debian: apt install git")
    folder = raw_folder() / source.name
    url = mirror or f"{HOST}/{source.repository}"
    if Path(url).exists():
        url = str(Path(url).resolve())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            _fetch(folder, source, url, say)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror}") from None
    return folder


def _fetch(folder: Path, source: Source, url: str, say: Say) -> None:
    found = state(folder, source)
    if found == "complete":
        (folder / _UNDER_WAY).unlink(missing_ok=True)
        say(f"{folder}: commit {source.commit[:7]} is there already")
        return
    if found == "no checkout" and any(folder.iterdir()):
        raise UsageError(f"{folder} holds files that no fetch brought; move them away first")
    if found == "changed files" and not (folder / _UNDER_WAY).exists():
        raise UsageError(
            f"{folder} holds changed or added files ({_changes(folder)[0]}, ...), which a fetch "
            "would discard; move the folder away first"
        )
    say(f"{folder}: fetching commit {source.commit[:7]} of {source.repository}")
    _bring(folder, source, url)
    (folder / _UNDER_WAY).touch()  # a checkout that is killed leaves changed files of its own
    _check_out(folder, source, url)
    (folder / _UNDER_WAY).unlink()
    if state(folder, source) != "complete":
        raise FetchError(source, url, f"what was fetched is not commit {source.commit}")
    say(f"{folder}: commit {source.commit[:7]}, verified")


def state(folder: Path, source: Source) -> str:
    """Say what a folder holds of a repository.

    Returns
    -------
    str
        ``absent``; ``complete`` (the pinned commit, nothing changed, missing or added);
        ``missing files`` (as an interrupted fetch leaves them), ``other commit``, ``changed
        files`` (edited or added by somebody); ``no checkout`` for plain files.
    """
    if not folder.is_dir():
        return "absent"
    if not (folder / ".git").exists():
        return "no checkout"
    head = _git(folder, "rev-parse", "--verify", "--quiet", "HEAD").stdout.strip()
    if not head:
        return "missing files"  # nothing was ever checked out
    if _changes(folder):
        return "changed files"
    if head != source.commit:
        return "other commit"
    return "missing files" if _changes(folder, deleted=True) else "complete"


def _changes(folder: Path, *, deleted: bool = False) -> list[str]:
    """List files that are not as in the checked-out commit: changed and added, or missing ones."""
    listed = _git(folder, "status", "--porcelain", "--untracked-files=normal").stdout.splitlines()
    return [line[3:] for line in listed if line[:2].strip() in (("D",) if deleted else _EDITED)]


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep a second fetch out of the folder; the lock ends with this process."""
    import fcntl

    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"{folder}: another fetch is at work here") from None
        yield


def _bring(folder: Path, source: Source, url: str) -> None:
    """Fetch the commit into the repository; no file of the folder changes."""
    for lock in (folder / ".git").glob("*.lock"):  # left by a git that was killed
        lock.unlink()
    fetch_it = ("fetch", "--quiet", "--depth", "1", "--no-tags", url, source.commit)
    for step in (("init", "--quiet"), fetch_it):
        _run(folder, source, url, *step)


def _check_out(folder: Path, source: Source, url: str) -> None:
    _run(folder, source, url, "checkout", "--quiet", "--force", "--detach", source.commit)


def _run(folder: Path, source: Source, url: str, *step: str) -> None:
    run = _git(folder, *step)
    if run.returncode:
        raise FetchError(source, url, _problem(run.stderr))


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    silent = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "GIT_LFS_SKIP_SMUDGE": "1"}
    silent["GIT_CEILING_DIRECTORIES"] = str(folder.parent)  # never the repository around it
    env = {name: value for name, value in os.environ.items() if name not in _OWN_PLACES}
    as_stored = ("-c", "core.autocrlf=false", "-c", "core.eol=lf")  # bytes of the repository
    command = ["git", "-C", str(folder), *as_stored, *arguments]
    return subprocess.run(
        command, env=env | silent | {"LC_ALL": "C"}, capture_output=True, text=True, check=False
    )


def _problem(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    fatal = [line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")]
    told = (fatal or lines or ["git failed"])[0]
    if "Could not resolve host" in told or "unable to access" in told:
        return (
            f"{told.rstrip(': ')}; are you offline? A clone that you have can be named with "
            "--mirror, or its folder with --results"
        )
    return told
