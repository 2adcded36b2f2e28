"""The vocabulary: what a tool can say, and what we can say of it."""

import re
from enum import StrEnum


class Result(StrEnum):
    """What a tool said about an instance."""

    UNSAT = "unsat"  # the property holds: no counterexample exists ("holds")
    SAT = "sat"  # the property is violated: a counterexample exists ("violated")
    UNKNOWN = "unknown"  # the tool gave up, or said nothing
    TIMEOUT = "timeout"  # the limit passed, in preparation or in the run
    ERROR = "error"  # the tool failed


class Verdict(StrEnum):
    """Our judgement of a result."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    IGNORED = "ignored"  # an answer that a rule leaves out of scoring
    UNSOLVED = "unsolved"  # no sat and no unsat


class Overhead(StrEnum):
    """Which start-up time is subtracted from a tool's run times."""

    SINGLE = "single"  # one minimum over everything the tool solved
    MULTI = "multi"  # one minimum for each mode (CPU, GPU) the edition lists
    NONE = "none"


class Conflicts(StrEnum):
    """Who is right where some tools say unsat and others sat."""

    VOTING = "voting"  # the majority
    ODD_ONE_OUT = "odd-one-out"  # the others, if exactly one tool stands alone
    IGNORE = "ignore"  # nobody: the instance does not count


class Duplicates(StrEnum):
    """What an instance that a benchmark lists twice counts."""

    OFFICIAL = "official"  # twice, as published
    UNIQUE = "unique"  # once: the first occurrence


ANSWERS = (Result.UNSAT, Result.SAT)

LABELS = {
    "holds": Result.UNSAT,
    "unsat": Result.UNSAT,
    "violated": Result.SAT,
    "sat": Result.SAT,
    "timeout": Result.TIMEOUT,
    "timed-out": Result.TIMEOUT,
    "run_instance_timeout": Result.TIMEOUT,
    "prepare_instance_timeout": Result.TIMEOUT,
    "error": Result.ERROR,
    "": Result.UNKNOWN,
    "unknown": Result.UNKNOWN,
    "no_result_in_file": Result.UNKNOWN,
    "error_nonmaximal": Result.UNKNOWN,
}
LABEL_FAMILIES = (
    (re.compile(r"error_exit_code_-?\d+"), Result.ERROR),
    (re.compile(r"prepare_instance_error_-?\d+"), Result.UNKNOWN),
)


def parse_label(text: str) -> Result | None:
    """Map a raw label to a result.

    Case and surrounding blanks do not matter. A label with a witness glued to it
    (``timeout((X_0 ...``, seen in 2022) keeps its prefix, but never where that would
    make an answer of it.

    Parameters
    ----------
    text : str
        The label as it stands in the file.

    Returns
    -------
    Result or None
        None if the label is not known; nothing is guessed.

    Examples
    --------
    >>> parse_label(" SAT"), parse_label("error_exit_code_7"), parse_label("unsatcore")
    (<Result.SAT: 'sat'>, <Result.ERROR: 'error'>, None)
    """
    label = text.strip().lower()
    prefix, glued, _ = label.partition("(")
    known = _known_label(prefix.strip() if glued and prefix.strip() else label)
    return None if glued and known in ANSWERS else known


def _known_label(label: str) -> Result | None:
    if label in LABELS:
        return LABELS[label]
    return next((result for pattern, result in LABEL_FAMILIES if pattern.fullmatch(label)), None)
