"""Notebooks: find them, check their parameters, run them (the only importer of papermill)."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import papermill
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError
from papermill.translators import translate_parameters
from traitlets.config import Config

from vnnanalysis.errors import NotebookError, check_known, nearest
from vnnanalysis.paths import resource

TAG = "parameters"
INJECTED = "injected-parameters"  # papermill's tag of the cell it adds
KERNEL = "python3"
START_TIMEOUT = 600  # seconds; papermill's 60 are not enough on a machine that is busy
SOCKET_PATH_LIMIT = 90  # bytes; the shortest limit of a system is 104, with a number behind


def list_notebooks() -> list[Path]:
    """Return the project's notebooks in their order."""
    return sorted(resource("notebooks").glob("[0-9]*.ipynb"))


def edition_notebooks() -> list[Path]:
    """Return the notebooks that are about one edition: those that declare which."""
    return [path for path in list_notebooks() if "edition" in papermill.inspect_notebook(str(path))]


def check_parameters(path: Path, parameters: Mapping[str, Any]) -> None:
    """Refuse a notebook without a parameters cell, and names it does not declare.

    Raises
    ------
    NotebookError
        Naming the notebook and the nearest valid tag or parameter.
    """
    cells = nbformat.read(path, as_version=4).cells
    tagged = [cell for cell in cells if TAG in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        tags = sorted({tag for cell in cells for tag in cell.metadata.get("tags", [])})
        hint = nearest(TAG, tags) if tags else "no cell has a tag"
        problem = f"expected one cell with the tag {TAG!r}, found {len(tagged)} ({hint})"
        raise NotebookError(path.stem, "parameters", problem)
    declared = papermill.inspect_notebook(str(path))
    try:
        check_known("notebook parameter", parameters, declared)
    except ValueError as error:
        raise NotebookError(path.stem, "parameters", str(error)) from None


def run_notebook(
    path: Path,
    output: Path,
    parameters: Mapping[str, Any],
    *,
    sockets: Path,
    shown_out: str | Path | None = None,
) -> None:
    """Run a notebook with papermill, in the kernel of this Python, and store the result.

    Equal inputs give equal bytes: a notebook that succeeded carries no times, places or random
    ids. One that failed keeps all that papermill writes.

    Parameters
    ----------
    path : Path
        The notebook.
    output : Path
        Where the executed notebook goes.
    parameters : mapping
        Values for its parameters cell.
    sockets : Path
        A folder with a short path for the sockets between notebook and kernel, the caller's to
        remove.
    shown_out : str or Path, optional
        What the executed notebook names as its parameter `out`, where it wrote to a folder that
        is moved later.

    Raises
    ------
    NotebookError
        Naming notebook, cell and error if a cell fails or the kernel does not start.
    """
    check_parameters(path, parameters)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # the kernel of this environment, not a user's
    cell = "kernel"
    try:
        papermill.execute_notebook(
            str(path), str(output), dict(parameters), kernel_name=KERNEL, progress_bar=False,
            start_timeout=START_TIMEOUT, config=_connection(sockets, path.stem),
        )  # fmt: skip
    except PapermillExecutionError as error:
        # papermill counts from 0, with the cell it injects: from 1 in the source
        cell = f"cell {error.cell_index} ({error.source.strip().splitlines()[0]})"
        raise NotebookError(path.stem, cell, f"{error.ename}: {error.evalue}") from None
    except DeadKernelError as error:
        raise NotebookError(path.stem, cell, f"{error} (killed, or out of memory?)") from None
    except RuntimeError as error:  # what jupyter_client raises for a kernel that does not start
        raise NotebookError(path.stem, cell, str(error)) from None
    moved = {"out": str(shown_out)} if shown_out and "out" in parameters else {}
    _drop_what_varies(output, nbformat.read(path, as_version=4), {**parameters, **moved})


def _drop_what_varies(
    output: Path, source: nbformat.NotebookNode, parameters: dict[str, Any]
) -> None:
    """Rewrite an executed notebook without what differs from run to run.

    That is when, where and how long it ran, the ids of cells that have none in the source, and
    folders that are moved later, as `parameters` name them.
    """
    executed = nbformat.read(output, as_version=4)
    kept = {cell.get("id") for cell in source.cells}
    for number, cell in enumerate(executed.cells):
        for timed in ("papermill", "execution"):
            cell.metadata.pop(timed, None)
        if cell.id not in kept:
            cell.id = f"added-{number}"
        if INJECTED in cell.metadata.get("tags", []) and parameters:
            cell.source = translate_parameters(KERNEL, "python", parameters, "Parameters")
    version = executed.metadata.papermill.version
    executed.metadata.papermill = {"parameters": parameters, "version": version}
    output.write_text(nbformat.writes(executed) + "\n", encoding="utf-8", newline="\n")


def _connection(sockets: Path, name: str) -> Config:
    """Let notebook and kernel talk over files where there are such sockets.

    Ports are chosen before the kernel opens them: of kernels that start side by side, two can be
    given the same one, and one then never answers (papermill's issue 511).
    """
    address = str(sockets / name)
    if os.name == "posix" and len(os.fsencode(address)) <= SOCKET_PATH_LIMIT:
        return Config({"KernelManager": {"transport": "ipc", "ip": address}})
    return Config()
