"""Texts of properties and counterexamples: unpacked in memory, read token by token."""

import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

from vnnanalysis.errors import RawDataError

LFS_POINTER = b"version https://git-lfs"
_GZIP = 31  # zlib's word for the format, with a checksum
SPACE = " \t\r\n\f\v"
NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


class Token(NamedTuple):
    """A piece of text and where it begins."""

    text: str
    offset: int


def read_bytes(path: Path) -> bytes:
    """Return a file's content, unpacked in memory if its name ends in ``.gz``.

    Raises
    ------
    OSError
        If it cannot be read.
    RawDataError
        If it is not what its name says.
    """
    content = path.read_bytes()
    if path.suffix != ".gz" or not content or content.startswith(LFS_POINTER):
        return content
    size = int.from_bytes(content[-4:], "little")  # modulo 4 GiB
    try:
        with suppress(zlib.error):  # several parts, or damage: gzip knows which
            unpacked = zlib.decompress(content, _GZIP, bufsize=max(size, 1))
            if len(unpacked) % 2**32 == size:
                return unpacked
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        found = " ".join(str(error).split())
        raise RawDataError(path, 0, "", found, "a complete gzip file") from None


def decode(content: bytes, path: Path) -> str:
    """Return a file's text.

    Raises
    ------
    RawDataError
        With the place of the first byte that is no UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        found = repr(content[error.start : error.start + 10])[2:-1]
        raise RawDataError(path, line, str(column), found, "text in UTF-8") from None


class Tokens:
    """The tokens of a text, read one by one, without its comments if it can have any."""

    def __init__(
        self, text: str, path: Path, pattern: re.Pattern[str], *, comment: str = ""
    ) -> None:
        self.text, self.path, self.comment = text, path, comment
        self._found = self._scan(pattern)
        self.next = next(self._found)

    def _scan(self, pattern: re.Pattern[str]) -> Iterator[Token]:
        for match in pattern.finditer(self.text):
            if not self.comment or match[0][0] != self.comment:
                yield Token(match[0], match.start())
        while True:
            yield Token("", len(self.text.rstrip(SPACE)))

    def take(self, wanted: str = "", expected: str = "") -> Token:
        """Return the next token and step behind it; it must be the wanted one, if there is one."""
        token = self.next
        if wanted and token.text != wanted:
            self.fail(token, expected or repr(wanted)[1:-1])
        if token.text:
            self.next = next(self._found)
        return token

    def fail(self, token: Token, expected: str) -> NoReturn:
        """Raise the error that points to a token."""
        line = self.text.count("\n", 0, token.offset) + 1
        column = token.offset - self.text.rfind("\n", 0, token.offset)
        found = token.text or "the end of the file"
        raise RawDataError(self.path, line, str(column), found, expected)
