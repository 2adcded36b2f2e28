"""The vocabulary: what a tool can say, and what we can say of it."""

import re
from collections.abc import Mapping
from enum import StrEnum
from fnmatch import fnmatchcase


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
    ALL_UNSAT = "all-unsat"  # taken as unsat, and every answer as if it had said so
    ON_CONFLICT = "on-conflict"  # any tool's valid counterexample, looked at on conflict only
    AS_PRESENTED = "as-presented"  # any tool's valid counterexample, every sat needs one
    FIRST_VALID = "first-valid"  # as presented, but only the first tool with one has credit
    PER_TOOL = "per-tool"  # a sat is worth what its own counterexample is

    @property
    def uses_checks(self) -> bool:
        """Whether counterexamples decide, and not votes."""
        return self in (self.ON_CONFLICT, self.AS_PRESENTED, self.FIRST_VALID, self.PER_TOOL)


class Check(StrEnum):
    """What became of checking a counterexample; the organisers' words where they have one."""

    CORRECT = "correct"
    UP_TO_TOLERANCE = "correct_up_to_tolerance"
    NO_CE = "no_ce"  # none was given
    EXEC_DOESNT_MATCH = "exec_doesnt_match"  # the network's output is another than claimed
    SPEC_NOT_VIOLATED = "spec_not_violated"
    MALFORMED = "malformed"
    WRONG_SHAPE = "wrong_shape"
    INVALID = "invalid"  # one of the four above; the source does not say which
    UNSUPPORTED = "unsupported"  # we cannot check it
    NOT_AVAILABLE = "not_available"  # a file is absent here
    UNCHECKED = "unchecked"  # no verdict is known


class Tolerance(StrEnum):
    """How exact a counterexample must be to prove sat, the laxest first."""

    ANY = "any"  # valid within the competition's tolerances
    SMALL = "small"  # 1e-7 on constraints and 1e-6 on outputs, relative (2025)
    ZERO = "zero"  # exactly
    AS_COMMITTED = "as-committed"  # none proves sat (what the code of 2024 does)


class Outputs(StrEnum):
    """Which outputs a counterexample is judged by, and how they must match the network's."""

    CLAIMED_ABS = "claimed-abs"  # those in its file, within 1e-4 of the network's (2022)
    CLAIMED = "claimed"  # those in its file, within 1e-3 relative to their maximum (2023 on)
    REPLAYED = "replayed"  # the network's; those in the file are ignored (2026)


class Bounds(StrEnum):
    """How the bounds of an input are compared with it."""

    FLOAT64 = "float64"  # as written in both files (until 2025)
    INPUT_TYPE = "input-type"  # both rounded to the element type of the network's input (2026)


class Unchecked(StrEnum):
    """What a sat is worth whose counterexample nobody has checked."""

    CREDITED = "credited"  # as if valid within tolerance: points, but it proves nothing
    PENALISED = "penalised"  # as if no counterexample had been given


class Duplicates(StrEnum):
    """What an instance that a benchmark lists twice counts."""

    OFFICIAL = "official"  # twice, as published
    UNIQUE = "unique"  # once: the first occurrence


class Missing(StrEnum):
    """What a benchmark counts that one of the compared tools did not take part in."""

    ZERO = "zero"  # absent = 0: nothing is solved there
    COMMON = "common"  # nothing: only benchmarks in which all compared tools take part


class Unsolved(StrEnum):
    """What an unsolved instance counts in a mean of run times."""

    LIMIT = "limit"  # its time limit
    PENALISED = "penalised"  # a multiple of its time limit (PAR)
    LEFT_OUT = "left-out"  # nothing: the mean is over the instances that the tool solved


class Design(StrEnum):
    """What a bootstrap of a ranking resamples."""

    INSTANCES = "instances"  # instances within each benchmark
    BENCHMARKS = "benchmarks"  # benchmarks of a track, then instances within each


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


def parse_label(text: str, table: Mapping[str, Result] | None = None) -> Result | None:
    """Map a raw label to a result.

    Case and surrounding blanks do not matter. A label with a witness glued to it
    (``timeout((X_0 ...``, seen in 2022) keeps its prefix, but never where that would
    make an answer of it.

    Parameters
    ----------
    text : str
        The label as it stands in the file.
    table : mapping of str to Result, optional
        Further labels, in lower case, that an edition knows; a ``*`` stands for any text.

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
    for pattern, result in (table or {}).items():
        if fnmatchcase(label, pattern):
            return result
    prefix, glued, _ = label.partition("(")
    known = _known_label(prefix.strip() if glued and prefix.strip() else label)
    return None if glued and known in ANSWERS else known


def _known_label(label: str) -> Result | None:
    if label in LABELS:
        return LABELS[label]
    return next((result for pattern, result in LABEL_FAMILIES if pattern.fullmatch(label)), None)
