"""Which file of a results folder holds which tool's rows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vnnanalysis.editions import Edition, Source
from vnnanalysis.errors import UsageError, nearest
from vnnanalysis.paths import find, raw_folder
from vnnanalysis.rows import Log, lines

_PARTS = {
    r"\{tool\}": "(?P<tool>[^/]+)",
    r"\{benchmark\}": "(?P<benchmark>[^/]+)",
    r"\{dataset\}": "(?P<dataset>[^/]+)",
    r"\*": "[^/]*",
}


@dataclass(frozen=True)
class ToolFile:
    """A file with rows of one tool, and of one benchmark if its folder names one."""

    tool: str
    path: Path
    benchmark: str = ""
    has_rows: bool = True


def results_folder(edition: Edition, results: str | Path | None) -> Path:
    """Return the folder with an edition's raw results.

    Raises
    ------
    UsageError
        If it does not exist, saying what to fetch.
    """
    source = edition.results
    own = edition.own_folder(source) or raw_folder() / source.name
    folder = find(results) if results else own
    if folder.is_dir() if results else has_files(folder):
        return folder
    if source.folder:
        raise UsageError(f"no results of {edition.title}: expected them in {folder}")
    if not source.repository:
        raise UsageError(f"no results of {edition.title}: name their folder with --results")
    raise UsageError(
        f"no results of {edition.title}: expected a checkout of {source.repository} "
        f"(commit {source.commit[:7]}) in {folder}; fetch it with "
        f"'vnnanalysis fetch {edition.id}', or name another place with --results"
    )


def locate(source: Source, edition_id: str, root: Path) -> Path | None:
    """Find the checkout of a repository in a folder of several, or in one beside them.

    It may have the repository's name or the edition's id. A root that is the checkout
    itself is found too.
    """
    candidates = [
        base / name
        for base in (root, root.parent, root.parent / "benchmarks")
        for name in (source.name, edition_id)
    ]
    if not source.name:
        return None
    if root.name == source.name:
        candidates.insert(0, root)
    return next((folder for folder in candidates if has_files(folder)), None)


def has_files(folder: Path) -> bool:
    """Tell whether there is more in a folder than what a broken fetch leaves."""
    return folder.is_dir() and any(path.name != ".git" for path in folder.iterdir())


def tool_files(edition: Edition, folder: Path, log: Log) -> list[ToolFile]:
    """Find every file with rows of a tool, in the edition's order of tools.

    Of the layout's patterns, a tool's files follow the first that has any; the folders
    before ``{tool}`` may be left out. An edition that lists no tools takes every file.

    Raises
    ------
    UsageError
        If there are none, or rows of a tool that the edition does not know.
    """
    layout = edition.layout
    assert layout is not None
    found: dict[str, list[ToolFile]] = {}
    for pattern in layout.files:
        for tool, files in _files_by_tool(edition, folder, pattern, log).items():
            if not any(file.has_rows for file in found.get(tool, [])):
                found[tool] = files
    if not found:
        patterns = " or ".join(layout.files)
        raise UsageError(f"{folder}: expected files {patterns} of {edition.title}, found none")
    for tool in edition.tools:
        if tool not in found:
            name = edition.tool_files.get(tool, tool)
            missing = Path(layout.files[0].replace("{tool}", name))
            log.note(missing, "no results of this tool: judged without it", tool)
    return [file for tool in edition.tools or sorted(found) for file in found.get(tool, [])]


def _files_by_tool(
    edition: Edition, folder: Path, pattern: str, log: Log
) -> dict[str, list[ToolFile]]:
    """Find the files that match one pattern, those with rows if a tool has any."""
    by_name = {edition.tool_files.get(tool, tool): tool for tool in edition.tools}
    matched: dict[str, list[ToolFile]] = {}
    for name, path, benchmark in _matches(folder, pattern):
        has_rows = bool(lines(path))
        tool = by_name.get(name, "" if by_name or _is_no_tool(name) else name)
        if not tool or not (has_rows or by_name):
            _check_stray(name, path, edition, log, has_rows=has_rows)
        else:
            matched.setdefault(tool, []).append(ToolFile(tool, path, benchmark, has_rows))
    return {
        tool: [file for file in files if file.has_rows] or files[:1]
        for tool, files in matched.items()
    }


def _is_no_tool(name: str) -> bool:
    """Tell whether a folder is the organisers' own, which some repositories have."""
    return name.upper().startswith("SCORING")


def _check_stray(name: str, path: Path, edition: Edition, log: Log, *, has_rows: bool) -> None:
    if has_rows and not _is_no_tool(name):
        known = nearest(name, edition.tools)
        raise UsageError(f"{path}: {name!r} is no tool of {edition.title}: {known}")
    what = "no tool of the edition" if has_rows else "an empty file, and no tool of the edition"
    log.note(path, f"{what}: left out", name)


def _matches(folder: Path, pattern: str) -> Iterator[tuple[str, Path, str]]:
    head = pattern.partition("{")[0].rpartition("/")[0]
    if head and not (folder / head).is_dir():
        pattern = pattern.removeprefix(f"{head}/")
    regex = re.escape(pattern)
    for part, group in _PARTS.items():
        regex = regex.replace(part, group)
    glob = re.sub(r"\{\w+\}", "*", pattern)
    for path in sorted(folder.glob(glob)):
        match = re.fullmatch(regex, path.relative_to(folder).as_posix())
        if match:
            yield match["tool"], path, match.groupdict().get("benchmark") or ""
