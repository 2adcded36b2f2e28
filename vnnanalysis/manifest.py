"""What something was made from and with, and how it replaces what was there before."""

import hashlib
import json
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from vnnanalysis import __version__
from vnnanalysis.analysis import Analysis
from vnnanalysis.benchmark_table import benchmark_overview
from vnnanalysis.errors import UsageError
from vnnanalysis.load import Contest
from vnnanalysis.notebooks import list_notebooks
from vnnanalysis.paths import resource, root
from vnnanalysis.tables import csv_bytes

MANIFEST = "manifest.json"
STAGING = ".staging-"  # how names begin of what a process that was killed may leave
OLD = "-old"  # how the name of an earlier result ends while another takes its place
VERSIONED = (
    *("numpy", "pandas", "scipy", "matplotlib", "seaborn", "papermill", "nbconvert"),
    *("plotly", "itables"),
)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def hashes(folder: Path) -> dict[str, str]:
    """Hash every file in a folder but its manifest."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    named = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: sha256(path) for name, path in named.items() if name != MANIFEST}


def made_from(contest: Contest) -> dict[str, Any]:
    """State what a contest was read from: its files, settings and validated counterexamples."""
    edition, measured = contest.edition, contest.measurements
    settings = edition.path.with_suffix(".toml")
    inputs = [*contest.inputs, *([settings] if settings.is_file() else [])]
    digest = hashlib.sha256(csv_bytes(measured)).hexdigest()
    return {
        "edition": edition.id,
        "counterexamples": {"sats": len(measured), "sha256": digest} if len(measured) else {},
        "extra_tools": edition.extra_tools,
        "lenient": contest.is_lenient,
        "inputs": [{"file": path.name, "sha256": sha256(path)} for path in inputs],
        "source": {"repository": edition.results.repository, "commit": edition.results.commit},
    }


def chosen(analysis: Analysis, benchmarks_dir: str | Path | None = None) -> dict[str, Any]:
    """State what an analysis chose of a contest: the rules in force, and the selection.

    What is known of the selected benchmarks, also from their networks, is told by its hash.
    """
    overview = benchmark_overview(analysis, benchmarks_dir)
    return {
        "benchmark_files": hashlib.sha256(csv_bytes(overview)).hexdigest(),
        "rules": {name: str(value) for name, value in vars(analysis.rules).items()},
        "track": analysis.track,
        "benchmarks": analysis.benchmarks,
        "tools": analysis.tools,
    }


def made_with() -> dict[str, Any]:
    """State which code, and which libraries, something is made with."""
    own = sorted(Path(__file__).parent.glob("*.py"))
    templates = resource("reports", "templates").rglob("*")
    own += [*list_notebooks(), *sorted(path for path in templates if path.is_file())]
    own += sorted(resource("data", "editions").glob("*.toml"))
    digest = hashlib.sha256("".join(sha256(path) for path in own).encode())
    return {
        "versions": {
            "vnnanalysis": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in VERSIONED},
        },
        "commit": _commit(),
        "code": digest.hexdigest(),
    }


def _commit() -> str | None:
    """Return the commit of the checkout this runs from, if it is one."""
    if not (root() / ".git").exists():
        return None
    command = ["git", "-C", str(root()), "rev-parse", "HEAD"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return run.stdout.strip() or None


def is_current(target: Path, manifest: Mapping[str, Any]) -> bool:
    """Whether the report in place was made from the same things and is still whole."""
    try:
        old = json.loads((target / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if not isinstance(old, dict):
        return False
    outputs = old.pop("outputs", None)
    return old == json.loads(json.dumps(manifest)) and outputs == hashes(target)


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write a manifest, with the hashes of what is in the folder."""
    whole = {**manifest, "outputs": hashes(folder)}
    text = json.dumps(whole, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_whole(folder / MANIFEST, text.encode())


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there with all its content, or as it was before."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=STAGING, delete=False) as file:
        staging = Path(file.name)
        try:
            file.write(content)
            file.close()
            staging.chmod(0o644)
            staging.replace(path)
        except BaseException:
            staging.unlink(missing_ok=True)
            raise


def check_target(target: Path) -> None:
    """Refuse to replace something that no report of ours is."""
    if target.exists() and not target.is_dir():
        raise UsageError(f"{target} is a file; name a folder for the report")
    if target.exists() and not (target / MANIFEST).is_file() and any(target.iterdir()):
        raise UsageError(f"{target} holds something that is no report of ours; name another folder")


def staging_folder(target: Path) -> Path:
    """Make the folder beside the target in which the report is built."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise UsageError(f"cannot write the report to {target}: {error.strerror}") from None


def put_in_place(staging: Path, target: Path) -> None:
    """Replace the earlier report; if that fails, it is put back."""
    old = staging.with_name(staging.name + OLD)
    try:
        if target.exists():
            target.rename(old)
        staging.chmod(0o755)
        staging.rename(target)
    except BaseException:
        if old.exists() and not target.exists():
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
