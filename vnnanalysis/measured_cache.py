"""Measurements that were made before, by the contents they depend on.

An SQLite database: several runs may use it at once, and one that is killed while it writes
leaves it as it was.
"""

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import platformdirs

from vnnanalysis.tasks import Measurement

_PART = 500  # keys in one question
_WAIT_S = 30.0  # for another run that writes


def default_place() -> Path:
    """Return where measurements are kept: ``$VNNANALYSIS_CACHE``, or the user's cache folder."""
    named = os.environ.get("VNNANALYSIS_CACHE")
    return Path(named) if named else platformdirs.user_cache_path("vnnanalysis") / "measured.sqlite"


class Cache:
    """Measurements by key; without a file, or if it cannot be used, there are none.

    Parameters
    ----------
    path : Path or None
        The database; made if it does not exist.

    Attributes
    ----------
    problem : str
        Why it cannot be used, or empty.
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.problem = path, ""
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as database:
                database.execute(
                    "create table if not exists measured (key text primary key, content text)"
                )
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(str(self.path), timeout=_WAIT_S)
        try:
            with database:
                yield database
        finally:
            database.close()

    def _give_up(self, error: Exception) -> None:
        is_broken = isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, sqlite3.OperationalError
        )
        advice = "; delete it to start anew" * is_broken
        self.problem = f"{self.path}: {error}; measurements are not kept{advice}"
        self.path = None

    def get(self, keys: Iterable[str]) -> dict[str, Measurement]:
        """Return the measurements that are known, by key."""
        wanted, known = list(dict.fromkeys(keys)), dict[str, Measurement]()
        if self.path is None:
            return known
        try:
            with self._open() as database:
                for first in range(0, len(wanted), _PART):
                    part = wanted[first : first + _PART]
                    marks = ",".join("?" * len(part))
                    question = f"select key, content from measured where key in ({marks})"
                    for key, content in database.execute(question, part):
                        with suppress(ValueError, TypeError):  # measured again, and replaced
                            known[key] = Measurement.of_text(content)
        except sqlite3.Error as error:
            self._give_up(error)
            return {}
        return known

    def put(self, measured: Mapping[str, Measurement]) -> None:
        """Keep measurements; those that may not come out the same again are left out."""
        rows = [(key, m.as_text()) for key, m in measured.items() if m.is_lasting]
        if self.path is None or not rows:
            return
        try:
            with self._open() as database:
                database.executemany("insert or replace into measured values (?, ?)", rows)
        except sqlite3.Error as error:
            self._give_up(error)


def digests(files: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of the content of every file that can be read."""
    found = {}
    for path in dict.fromkeys(files):
        try:
            with open(path, "rb") as stream:
                found[path] = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError:
            continue
    return found
