"""Lines of csv files, each with its place, so that every error can name it."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vnnanalysis.errors import RawDataError, UsageError

_NUMBER = re.compile(r"[+]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NOT_RUN = re.compile(r"|-1(\.0*)?")


class Row(NamedTuple):
    """The fields of one line and where it stands."""

    path: Path
    line: int
    names: tuple[str, ...]
    fields: list[str]

    def raw(self, name: str) -> str:
        """Return a field as it stands in the file."""
        return self.fields[self.names.index(name)]

    def error(self, name: str, expected: str) -> RawDataError:
        """Return the error that points to a field of this row."""
        column = f"{self.names.index(name) + 1} ({name})"
        return RawDataError(self.path, self.line, column, self.raw(name), expected)

    def text(self, name: str) -> str:
        """Return a field that may not be empty."""
        value = self.raw(name).strip()
        if not value:
            raise self.error(name, "a name")
        return value

    def seconds(self, name: str, *, needed: bool = False) -> float:
        """Return a time in seconds; NaN for an empty field or -1, which mean "not run"."""
        text = self.raw(name).strip()
        if _NUMBER.fullmatch(text) and np.isfinite(float(text)):
            return float(text)
        if needed or not _NOT_RUN.fullmatch(text):
            raise self.error(name, "seconds" + ("" if needed else ", or -1 for not run"))
        return np.nan


@dataclass
class Log:
    """What was read, and what was odd about it.

    Attributes
    ----------
    notes : list of dict
        Columns file, line, column, value and problem of `Contest.problems`.
    bad : list of RawDataError
        Rows that could not be read.
    inputs : list of Path
        Files that were read.
    folder : Path or None
        The results folder, to which file names in `notes` are relative.
    """

    notes: list[dict[str, Any]] = field(default_factory=list)
    bad: list[RawDataError] = field(default_factory=list)
    inputs: list[Path] = field(default_factory=list)
    folder: Path | None = None

    def shown(self, path: Path) -> str:
        """Return a file's name as it is told: below the results folder, or its own."""
        if self.folder is not None and path.is_relative_to(self.folder):
            return path.relative_to(self.folder).as_posix()
        return path.as_posix() if not path.is_absolute() else path.name

    def note(self, path: Path, problem: str, value: str = "", *, line: int = 0) -> None:
        """Remember an oddity that does not keep a row from being read."""
        self.notes.append(
            {
                "file": self.shown(path),
                "line": line,
                "column": "",
                "value": value,
                "problem": problem,
            }
        )

    def set_aside(self, error: RawDataError) -> None:
        """Remember a bad row."""
        self.bad.append(error)
        self.note(error.path, f"bad row: expected {error.expected}", error.value, line=error.line)
        self.notes[-1]["column"] = error.column

    def check(self, *, lenient: bool) -> None:
        """Raise the first bad row, saying how many more there are, unless lenient."""
        if lenient or not self.bad:
            return
        first, more = self.bad[0], len(self.bad) - 1
        advice = "--lenient sets bad rows aside and lists them"
        counted = f"{more} more bad row{'s' * (more > 1)}; " if more else ""
        first.args = (f"{first} ({counted}{advice})",)
        raise first

    def rows(self, path: Path, names: tuple[str, ...], *, skip: int = 0) -> Iterator[Row]:
        """Yield every row of a csv file that has as many fields as there are names."""
        self.inputs.append(path)
        for number, text in lines(path)[skip:]:
            try:
                yield Row(path, number, names, _split(path, number, text, names))
            except RawDataError as error:
                self.set_aside(error)


def lines(path: Path) -> list[tuple[int, bytes]]:
    """Return number and bytes of every line that is not blank."""
    try:
        content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    return [(n, line) for n, line in enumerate(content.split(b"\n"), 1) if line.strip()]


def _split(path: Path, number: int, line: bytes, names: tuple[str, ...]) -> list[str]:
    fields = split_line(path, number, line)
    if len(fields) != len(names):
        expected = f"{len(names)} fields ({', '.join(names)})"
        column = str(min(len(fields), len(names) + 1))
        raise RawDataError(path, number, column, ",".join(fields), expected)
    return fields


def split_line(path: Path, number: int, line: bytes, delimiter: str = ",") -> list[str]:
    """Split one line of a csv file into its fields."""
    try:
        return next(
            csv.reader([line.decode("utf-8").rstrip("\r")], strict=True, delimiter=delimiter)
        )
    except UnicodeDecodeError:
        raise RawDataError(path, number, "1", repr(line[:40])[2:-1], "text in UTF-8") from None
    except csv.Error as error:
        text = line.decode("utf-8").rstrip("\r")
        raise RawDataError(path, number, "1", text, f"a csv row ({error})") from None
