"""What was measured before, by the contents it depends on.

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


class Store:
    """Texts by key; without a file, or if it cannot be used, there are none.

    Parameters
    ----------
    path : Path or None
        The database; made if it does not exist.
    table : str
        The database's table.

    Attributes
    ----------
    problem : str
        Why it cannot be used, or empty.
    """

    def __init__(self, path: Path | None, table: str) -> None:
        self.path, self.problem, self.table = path, "", table
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as database:
                database.execute(
                    f"create table if not exists {table} (key text primary key, content text)"
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

    def texts(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the texts that are known, by key."""
        wanted, known = list(dict.fromkeys(keys)), dict[str, str]()
        if self.path is None:
            return known
        try:
            with self._open() as database:
                for first in range(0, len(wanted), _PART):
                    part = wanted[first : first + _PART]
                    marks = ",".join("?" * len(part))
                    question = f"select key, content from {self.table} where key in ({marks})"
                    known |= dict(database.execute(question, part).fetchall())
        except sqlite3.Error as error:
            self._give_up(error)
            return {}
        return known

    def keep(self, texts: Mapping[str, str]) -> None:
        """Keep texts, instead of those that were there."""
        if self.path is None or not texts:
            return
        try:
            with self._open() as database:
                question = f"insert or replace into {self.table} values (?, ?)"
                database.executemany(question, texts.items())
        except sqlite3.Error as error:
            self._give_up(error)


class Cache(Store):
    """Measurements by key; see `Store`."""

    def __init__(self, path: Path | None) -> None:
        super().__init__(path, "measured")

    def get(self, keys: Iterable[str]) -> dict[str, Measurement]:
        """Return the measurements that are known, by key."""
        known = {}
        for key, text in self.texts(keys).items():
            with suppress(ValueError, TypeError):  # measured again, and replaced
                known[key] = Measurement.of_text(text)
        return known

    def put(self, measured: Mapping[str, Measurement]) -> None:
        """Keep measurements; those that may not come out the same again are left out."""
        self.keep({key: m.as_text() for key, m in measured.items() if m.is_lasting})


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
