"""Exceptions: what was expected, what was found, and where."""

import difflib
from collections.abc import Iterable
from pathlib import Path


class VnnAnalysisError(Exception):
    """Anything this package reports to its user without a traceback."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in a notebook: one line, none of our frames."""
        return [f"{type(self).__name__}: {self}"]


class UsageError(VnnAnalysisError, ValueError):
    """A name, parameter or setting that does not exist or has a wrong value."""


class SchemaError(VnnAnalysisError):
    """A table or settings file that does not have the form it must have."""

    def __init__(self, table: str | Path, problem: str) -> None:
        self.table, self.problem = table, problem
        super().__init__(f"{table}: {problem}")


class RawDataError(VnnAnalysisError):
    """One place in a raw file that cannot be read.

    Parameters
    ----------
    path : Path
        The file.
    line : int
        Line in the file, from 1; 0 where the whole file is meant.
    column : str
        Position and name of the field, such as ``5 (result)``.
    value : str
        The text found there.
    expected : str
        What should have stood there.
    """

    def __init__(self, path: Path, line: int, column: str, value: str, expected: str) -> None:
        self.path, self.line, self.column = path, line, column
        self.value, self.expected = value, expected
        place = f"{path}, line {line}, column {column}" if line else f"{path}"
        shown = value if len(value) <= 80 else value[:77] + "..."
        super().__init__(f"{place}: expected {expected}, found {shown!r}")


class NotebookError(VnnAnalysisError):
    """A notebook that cannot be run, or a cell of it that failed."""

    def __init__(self, name: str, cell: str, problem: str) -> None:
        self.name, self.cell, self.problem = name, cell, problem
        super().__init__(f"notebook {name}, {cell}: {problem}")


def nearest(name: str, known: Iterable[str]) -> str:
    """Say which of the known names is nearest to a misspelt one.

    Parameters
    ----------
    name : str
        The name that was not found.
    known : iterable of str
        The names that exist.

    Returns
    -------
    str
        ``nearest is 'x'; known: ...`` or just the known names.

    Examples
    --------
    >>> nearest("acasxuu", ["acasxu", "eran"])
    "nearest is 'acasxu'; known: acasxu, eran"
    """
    names = list(known)
    by_fold = {str(n).casefold(): n for n in names}
    close = difflib.get_close_matches(str(name).casefold(), list(by_fold), n=1, cutoff=0.0)
    listed = "known: " + ", ".join(n or "(empty)" for n in names)
    return f"nearest is {by_fold[close[0]]!r}; {listed}" if close else listed


def check_known(kind: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise for the first name that is not known.

    Raises
    ------
    UsageError
        Naming the kind, the name and the nearest known one.
    """
    known = list(known)
    for name in names:
        if name not in known:
            raise UsageError(f"unknown {kind} {name!r}: {nearest(name, known)}")
