"""How names are printed in figures: as plain text, short where there is little room."""

import textwrap

from vnnanalysis.editions import EXTRA_MARK, Edition
from vnnanalysis.tables import plain_name

LONG_NAME = 28  # characters


def plain_text(text: str) -> str:
    """Keep matplotlib from reading math in a name, or hiding one that begins with _."""
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def label_of(edition: Edition, tool: str) -> str:
    """Return a tool's name as matplotlib shall print it."""
    return plain_text(plain_name(edition, tool))


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
    return "\n".join(plain_text(line) for line in textwrap.wrap(text, width))


def short_name(edition: Edition, tool: str) -> str:
    """Return a tool's name for places with little room, a long one without its middle.

    Tools of the edition that then have the same name are numbered.
    """
    if len(plain_name(edition, tool)) <= LONG_NAME:
        return label_of(edition, tool)
    name = _cut(edition, tool)
    alike = [other for other in edition.tools if _cut(edition, other) == name]
    return plain_text(name if len(alike) < 2 else f"{name} ({alike.index(tool) + 1})")


def _cut(edition: Edition, tool: str) -> str:
    name, mark = plain_name(edition, tool), ""
    if tool in edition.extra_tools:  # the mark that it was not in the competition stays whole
        name, mark = name.removesuffix(EXTRA_MARK), EXTRA_MARK
    return _without_middle(name) + mark


def _without_middle(text: str) -> str:
    return text if len(text) <= LONG_NAME else f"{text[: LONG_NAME - 12]}…{text[-11:]}"


def short_text(text: str) -> str:
    """Return a name as matplotlib shall print it, a long one without its middle."""
    return plain_text(_without_middle(text))
