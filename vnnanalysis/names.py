"""How names are printed in figures: as plain text, short where there is little room."""

import textwrap

from vnnanalysis.editions import EXTRA_MARK, Edition
from vnnanalysis.fonts import printable
from vnnanalysis.tables import plain_name

LONG_NAME = 28  # characters


def plain_text(text: str) -> str:
    """Keep matplotlib from reading math in a name, or hiding one that begins with _.

    Characters that no font has are written as their number (see `fonts.printable`).
    """
    return (" " if text.startswith("_") else "") + printable(text).replace("$", r"\$")


def wrapped(text: str, width: int) -> str:
    r"""Break a text into lines that fit beside a plot, as matplotlib shall print them.

    Parameters
    ----------
    text : str
        Plain text.
    width : int
        Characters in a line.

    Examples
    --------
    >>> wrapped("two words", 5)
    'two\nwords'
    """
    return "\n".join(plain_text(line) for line in textwrap.wrap(printable(text), width))


def brief_name(edition: Edition, tool: str) -> str:
    """Return a tool's name as plain text, a long one without its middle.

    Tools of the edition that then have the same name are numbered.
    """
    name = printable(plain_name(edition, tool))
    if len(name) <= LONG_NAME:
        return name
    name = _cut(edition, tool)
    alike = [other for other in edition.tools if _cut(edition, other) == name]
    return name if len(alike) < 2 else f"{name} ({alike.index(tool) + 1})"


def short_name(edition: Edition, tool: str) -> str:
    """Return `brief_name` as matplotlib shall print it."""
    return plain_text(brief_name(edition, tool))


def _cut(edition: Edition, tool: str) -> str:
    name, mark = plain_name(edition, tool), ""
    if tool in edition.extra_tools:  # the mark that it was not in the competition stays whole
        name, mark = name.removesuffix(EXTRA_MARK), EXTRA_MARK
    return shortened(printable(name)) + mark


def shortened(text: str, longest: int = LONG_NAME) -> str:
    """Return a text, a long one without its middle, so that both ends can be read."""
    end = 2 * longest // 5
    return text if len(text) <= longest else f"{text[: longest - end - 1]}…{text[-end:]}"


def short_text(text: str, longest: int = LONG_NAME) -> str:
    """Return a name as matplotlib shall print it, a long one without its middle."""
    return plain_text(shortened(printable(text), longest))
