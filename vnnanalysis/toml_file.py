"""TOML files whose errors name file and line, which `tomllib` gives for its own alone."""

import itertools
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vnnanalysis.errors import SchemaError, UsageError


@dataclass(frozen=True)
class TomlFile:
    """A file of TOML.

    Attributes
    ----------
    path : Path
        The file.
    text : str
        What it says, to find out where.
    table : mapping
        The same, read.
    """

    path: Path
    text: str = field(repr=False)
    table: Mapping[str, Any] = field(repr=False)

    def error(self, problem: str, *keys: str, value: Any = None, nth: int = 1) -> SchemaError:
        """Return an error that names the line of a key, or of the n-th equal value in its list."""
        line = line_of(self.text, *keys, value=value, nth=nth) if keys else 0
        return SchemaError(f"{self.path}, line {line}" if line else self.path, problem)

    @contextmanager
    def at(self, *keys: str, value: Any = None) -> Iterator[None]:
        """Add the line of a key, or of a value in its list, to what goes wrong within."""
        try:
            yield
        except UsageError as error:
            raise self.error(str(error), *keys, value=value) from None

    def beside(self, text: str) -> Path:
        """Return a path that is named in the file: relative to it, or absolute."""
        try:
            return (self.path.parent / Path(text).expanduser()).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise SchemaError(self.path, f"{text!r} is no path: {error}") from None


def read_toml(path: Path) -> TomlFile:
    """Read a file of TOML, with or without a byte order mark.

    Raises
    ------
    UsageError
        If it cannot be read.
    SchemaError
        With the line, if it is no TOML.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    try:
        text = content.decode("utf-8-sig")
        return TomlFile(path, text, tomllib.loads(text))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SchemaError(f"{path}, line {line}", "expected text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(path, str(error)) from None


def line_of(text: str, *keys: str, value: Any = None, nth: int = 1) -> int:
    r"""Return the line of a TOML text in which a key stands, or a value of its list.

    That is the first line up to which the text already says it.

    Parameters
    ----------
    text : str
        The TOML.
    *keys : str
        The key, after the names of the tables that it is in.
    value : optional
        A value in the key's list; the key itself by default.
    nth : int
        Which of several equal values.

    Returns
    -------
    int
        From 1; 0 if it stands nowhere.

    Examples
    --------
    >>> line_of('a = [\n"x",\n"y",\n]\n[t]\nb = 1', "a", value="y")
    3
    >>> line_of('a = [\n"x",\n"y",\n]\n[t]\nb = 1', "t", "b")
    6
    """
    lines = text.split("\n")
    for number, closing in itertools.product(range(1, len(lines) + 1), ("", "\n]")):
        try:
            found: Any = tomllib.loads("\n".join(lines[:number]) + closing)
            for key in keys:
                found = found[key]
        except (ValueError, KeyError, TypeError):
            continue
        if value is None or (isinstance(found, list) and found.count(value) >= nth):
            return number
    return 0
