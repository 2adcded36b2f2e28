"""Rules as data: the switches of a rule set, and how text sets them."""

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, get_type_hints

from vnnanalysis.errors import UsageError, check_known
from vnnanalysis.terms import Bounds, Conflicts, Duplicates, Outputs, Overhead, Tolerance, Unchecked

MOST_POINTS = 1_000_000  # for one answer; sums stay exact


@dataclass(frozen=True)
class ScoringRules:
    """The switches of a rule set; the defaults are those of VNN-COMP 2021.

    Sources: VNN-COMP 2021 report, section 0.2 (points, bonus, overhead) and 0.5.1
    (voting and odd-one-out); the rules of 2026 (timeouts, ties); each edition's file in
    ``data/editions`` cites its own.
    """

    overhead: Overhead = Overhead.MULTI
    overhead_by_track: bool = False  # measured in each track on its own
    conflicts: Conflicts = Conflicts.ODD_ONE_OUT
    tolerance: Tolerance = Tolerance.ANY  # which counterexamples prove sat
    outputs: Outputs = Outputs.CLAIMED  # by which a counterexample is judged
    bounds: Bounds = Bounds.FLOAT64  # how its inputs are compared with theirs
    unchecked: Unchecked = Unchecked.CREDITED  # a sat whose counterexample nobody checked
    enforce_timeouts: bool = False  # an answer after the instance's limit is a timeout
    duplicates: Duplicates = Duplicates.OFFICIAL
    correct_points: int = 10
    easy_sat_points: int = 1  # a correct sat that random generation finds too
    easy_sat_tool: str = "randgen"  # the tool that is the random generation; "" for none
    incorrect_points: int = -100
    fastest_bonus: int = 2
    second_bonus: int = 1
    tie_s: float = 0.2  # run times closer than this are equal
    bonus_floor_s: float = 1.0  # for the bonus, shorter run times count as this
    time_floor_s: float = 1.0  # in plots and tables, shorter run times count as this
    floor_percent: bool = True  # a negative benchmark percent counts as zero
    ties_by_time: bool = False  # equal scores: less run time on solved instances is ahead

    @property
    def has_bonus(self) -> bool:
        """Whether speed earns points."""
        return bool(self.fastest_bonus or self.second_bonus)

    def with_settings(self, settings: Mapping[str, Any]) -> "ScoringRules":
        """Return these rules with some switches set otherwise.

        Parameters
        ----------
        settings : mapping of str to str, number or bool
            Field names and values, text as it stands on a command line or in TOML.

        Raises
        ------
        UsageError
            For an unknown name or value, with the nearest valid one.
        """
        types = get_type_hints(type(self))
        check_known("rule setting", settings, types)
        parsed = {name: _parse(name, types[name], value) for name, value in settings.items()}
        return dataclasses.replace(self, **parsed)

    def texts(self, names: Iterable[str]) -> dict[str, str]:
        """Return some settings as text, as `with_settings` takes them."""
        return {name: as_text(getattr(self, name)) for name in names}

    def changes(self, other: "ScoringRules") -> dict[str, str]:
        """Return the settings, as text, that turn the other rules into these."""
        theirs = vars(other)
        return {n: as_text(v) for n, v in vars(self).items() if v != theirs[n]}


def as_text(value: Any) -> str:
    """Return a setting as text, as it stands on a command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _parse(name: str, kind: Any, value: Any) -> Any:
    if issubclass(kind, StrEnum):
        text = str(value).strip().lower().replace("_", "-")
        check_known(f"value for {name}", [text], [str(v) for v in kind])
        return kind(text)
    if kind is bool:
        text = str(value).strip().lower()
        check_known(f"value for {name}", [text], ["true", "false"])
        return text == "true"
    try:
        if isinstance(value, bool) or (kind is int and isinstance(value, float)):
            raise ValueError
        parsed = kind(value)
    except (ValueError, TypeError):
        raise UsageError(f"{name}: expected {kind.__name__}, found {value!r}") from None
    if kind is float and not 0 <= parsed < math.inf:
        raise UsageError(f"{name}: expected seconds, found {value!r}")
    if kind is int and abs(parsed) > MOST_POINTS:
        raise UsageError(f"{name}: expected at most {MOST_POINTS} points, found {value!r}")
    return parsed


def words() -> dict[str, str]:
    """Return every value that names one switch by itself, such as ``voting``, and the switch.

    Examples
    --------
    >>> words()["per-tool"], words()["zero"]
    ('conflicts', 'tolerance')
    """
    types = get_type_hints(ScoringRules)
    enums = {name: kind for name, kind in types.items() if issubclass(kind, StrEnum)}
    return {str(value): name for name, kind in enums.items() for value in kind}


def settings_of_words(text: str) -> dict[str, str]:
    """Read values joined by hyphens as settings.

    Raises
    ------
    UsageError
        For a word that is no value of a switch.

    Examples
    --------
    >>> settings_of_words("single-odd-one-out")
    {'overhead': 'single', 'conflicts': 'odd-one-out'}
    """
    known, settings = words(), dict[str, str]()
    rest = text
    while rest:
        hits = [w for w in known if rest == w or rest.startswith(f"{w}-")]
        if not hits:
            check_known("word for a rule", [rest], known)
        word = max(hits, key=len)
        if known[word] in settings:
            told = f"{settings[known[word]]} and {word}"
            raise UsageError(f"{known[word]}: expected one value, found {told}")
        settings[known[word]] = word
        rest = rest[len(word) + 1 :]
    return settings
