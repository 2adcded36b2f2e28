"""Editions as data: find and read the files of every year.

An edition is one TOML file in ``data/editions``; a contest in the tidy layout is a csv
file, with a TOML file of the same name beside it where its defaults do not fit.
"""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache

from vnnanalysis.edition_model import (
    ALL_TRACKS,
    EXTRA_MARK,
    MAIN_TRACK,
    SCORED,
    STATISTICS,
    UNSCORED,
    About,
    Edition,
    Layout,
    Skip,
    Source,
    TitleBlock,
    Track,
)
from vnnanalysis.edition_toml import edition_from_toml
from vnnanalysis.errors import UsageError, check_known, nearest
from vnnanalysis.paths import find, resource
from vnnanalysis.rules import ScoringRules, settings_of_words

__all__ = [
    "ALL_TRACKS",
    "EXAMPLE",
    "EXTRA_MARK",
    "MAIN_TRACK",
    "SCORED",
    "STATISTICS",
    "UNSCORED",
    "About",
    "Edition",
    "Layout",
    "Skip",
    "Source",
    "TitleBlock",
    "Track",
    "list_editions",
    "read_edition",
    "read_rules",
    "split_tools",
    "tool_slots",
]

EXAMPLE = "example"  # the edition that comes with its results


def list_editions() -> list[str]:
    """Return the ids of all known editions."""
    return sorted(path.stem for path in resource("data", "editions").glob("*.toml"))


def read_edition(name: str) -> Edition:
    """Read an edition by id, ``example``, or the path of a tidy csv or an edition file.

    Raises
    ------
    UsageError
        If there is no such edition or file.
    SchemaError
        If the edition's file is not of the documented form.
    """
    known = list_editions()
    if name in known:
        return edition_from_toml(resource("data", "editions", f"{name}.toml"), name)
    if name == EXAMPLE:
        return edition_from_toml(resource("data", "example", "example.toml"), name)
    csv = find(name)
    if csv.suffix == ".toml":
        if not csv.is_file():
            raise UsageError(f"no such file: {csv}")
        return edition_from_toml(csv, csv.stem)
    if csv.suffix != ".csv":
        raise UsageError(
            f"unknown edition {name!r}: {nearest(name, [*known, EXAMPLE])}, "
            "or the path of a tidy .csv file or an edition's .toml file"
        )
    if not csv.is_file():
        raise UsageError(f"no such file: {csv}")
    settings = csv.with_suffix(".toml")
    if settings.is_file():
        return dataclasses.replace(edition_from_toml(settings, csv.stem), path=csv)
    return Edition(id=csv.stem, title=csv.stem, path=csv)


def read_rules(name: str) -> ScoringRules:
    """Return the rules of an edition, or a variant of them.

    Parameters
    ----------
    name : str
        An edition's id, and values of switches joined by hyphens: ``2023``,
        ``2023-per-tool``, ``2021-single-voting``.

    Raises
    ------
    UsageError
        For an unknown edition or value.
    """
    edition, _, words = name.partition("-")
    check_known("edition for --rules", [edition], list_editions())
    return read_edition(edition).rules.with_settings(settings_of_words(words))


def split_tools(text: str, known: Collection[str], n: int | None = None) -> list[str]:
    """Split names of tools that are joined by ``, ``; some may have a comma themselves.

    Parameters
    ----------
    text : str
        The joined names.
    known : collection of str
        Names that may be among them; the longest are looked for first.
    n : int, optional
        How many different names there are.

    Examples
    --------
    >>> split_tools("a, b, c, d", {"a", "b, c", "d"})
    ['a', 'b, c', 'd']
    >>> split_tools("a, b", {"a, b", "a", "b"}, n=2)
    ['a', 'b']
    """
    splits = _splits(text.split(", "), known)
    if n is None:
        return next(splits)
    return next(names for names in splits if len(names) == n == len(set(names)))


def _splits(parts: list[str], known: Collection[str]) -> Iterator[list[str]]:
    if not parts:
        yield []
    for k in range(len(parts), 0, -1):
        name = ", ".join(parts[:k])
        if k == 1 or name in known:
            yield from ([name, *rest] for rest in _splits(parts[k:], known))


@cache
def _family_slots() -> dict[str, int]:
    """Give every tool of all editions a number that no other of the same edition has.

    Those that came more than once have numbers of their own.
    """
    casts = [[e.family(t) for t in e.tools] for e in map(read_edition, list_editions())]
    counts = Counter(f for cast in casts for f in cast)
    casts.append([f for f in counts if counts[f] > 1])
    slots: dict[str, int] = {}
    for family in dict.fromkeys(f for cast in reversed(casts) for f in cast):
        rivals = {slots[f] for cast in casts if family in cast for f in cast if f in slots}
        slots[family] = next(i for i in itertools.count() if i not in rivals)
    return slots


def tool_slots(edition: Edition) -> dict[str, int]:
    """Return a number for each tool, by which it has its colour: the same in all editions."""
    known = _family_slots()
    slots = {t: known[edition.family(t)] for t in edition.tools if edition.family(t) in known}
    free = (i for i in itertools.count() if i not in slots.values())
    return slots | {tool: next(free) for tool in edition.tools if tool not in slots}
