"""Properties of a regular shape, read all at once with array operations.

Whole files of VNN-LIB 1.0, and the assertions of 2.0 files once places stand for elements.
Regular are declarations ``(declare-const X_0 Real)`` and assertions that nest ``and``, ``or``
and comparisons of two names or numbers, in any depth and layout. Whatever else a file has,
arithmetic or a mistake, is left to the reader in `vnnlib`: here nothing is guessed.
"""

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vnnanalysis.formula import (
    AND,
    ATOM,
    OR,
    Atoms,
    Network,
    Nodes,
    Property,
    assemble,
    v1_variables,
)

_COMMENT = re.compile(rb";[^\n]*")
_SPACE, _OPEN, _CLOSE, _WORD = range(4)  # classes of a byte
_CLASS = np.full(256, _WORD, dtype=np.uint8)
_CLASS[list(b" \t\r\n\f\v")] = _SPACE
_CLASS[ord("(")], _CLASS[ord(")")] = _OPEN, _CLOSE

# Kinds of a token: the first are the comparisons, in the order of `formula.COMPARISONS`.
_LE, _LT, _EQ, _NE, _GE, _GT, _AND, _OR, _ASSERT, _DECLARE, _REAL = range(11)
_X, _Y, _NUMBER, _LEFT, _RIGHT, _OTHER = range(11, 17)
_WORDS = {b"<=": _LE, b"<": _LT, b"=": _EQ, b"!=": _NE, b">=": _GE, b">": _GT, b"and": _AND,
          b"or": _OR, b"assert": _ASSERT, b"declare-const": _DECLARE, b"Real": _REAL}  # fmt: skip
_OPENS = [_LE, _LT, _EQ, _NE, _GE, _GT, _AND, _OR, _ASSERT, _DECLARE]  # what a ( stands before
_LONGEST_INDEX = 8  # digits


@dataclass(frozen=True)
class _Tokens:
    """Kind, place and length of every token of a text."""

    text: NDArray[np.uint8]
    kind: NDArray[np.uint8]
    start: NDArray[np.int64]
    length: NDArray[np.int64]


def read_regular(content: bytes) -> Property | None:
    """Read a property of a regular shape.

    Parameters
    ----------
    content : bytes
        The file's content.

    Returns
    -------
    Property or None
        None if its shape is not regular, or if something is wrong with it.
    """
    found = _parse(without_comments(content))
    if found is None:
        return None
    kind, index, numbers = found
    if np.flatnonzero(kind == _ASSERT)[0] < np.flatnonzero(kind == _DECLARE).max(initial=-1):
        return None  # declarations come first in a regular file
    sizes = [_declared(kind, index, name) for name in (_X, _Y)]
    if None in sizes or not any(sizes):
        return None
    n_inputs, n_outputs = (size or 0 for size in sizes)
    for name, size in ((_X, n_inputs), (_Y, n_outputs)):
        if index[kind == name].max(initial=-1) >= size:
            return None
    index[kind == _Y] += n_inputs
    atoms = _atoms(kind, index, numbers)
    variables = v1_variables(n_inputs, n_outputs)
    return assemble("1.0", (Network(""),), variables, atoms, _nodes(kind))


def read_regular_assertions(content: bytes, n_values: int) -> tuple[Atoms, Nodes] | None:
    """Read assertions about values ``X_0``, ``X_1``, ...; None if they are not regular.

    Parameters
    ----------
    content : bytes
        The assertions, without comments.
    n_values : int
        How many values there are.
    """
    found = _parse(content)
    if found is None:
        return None
    kind, index, numbers = found
    if _among(kind, (_Y, _DECLARE)).any() or index.max(initial=-1) >= n_values:
        return None
    return _atoms(kind, index, numbers), _nodes(kind)


def without_comments(content: bytes) -> bytes:
    """Return a file's content without its comments; nothing if it is no text."""
    if not content.isascii():
        try:
            content.decode()
        except UnicodeDecodeError:
            return b""
    return _COMMENT.sub(b"", content) if b";" in content else content


def _parse(
    content: bytes,
) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.float64]] | None:
    """Return the kinds of the tokens, the numbers in their names, and the numbers."""
    tokens = _tokens(np.frombuffer(content, dtype=np.uint8))
    if tokens is None or not _is_well_formed(tokens.kind):
        return None
    index = _indices(tokens)
    numbers = None if index is None else _numbers(tokens)
    if index is None or numbers is None:
        return None
    return tokens.kind, index, numbers


def _among(values: NDArray[np.uint8], wanted: Iterable[int]) -> NDArray[np.bool_]:
    """Mark the values that are among some; faster than ``np.isin`` for so few."""
    is_wanted = np.zeros(256, dtype=bool)
    is_wanted[list(wanted)] = True
    return is_wanted[values]


def _tokens(text: NDArray[np.uint8]) -> _Tokens | None:
    """Find the tokens and what they are; None if one is not known."""
    classes = _CLASS[text]
    is_word = classes == _WORD
    begins = is_word.copy()
    begins[1:] &= ~is_word[:-1]
    start = np.flatnonzero(begins | (classes == _OPEN) | (classes == _CLOSE))
    ends = is_word
    ends[:-1] &= ~is_word[1:]
    is_name = begins[start]
    length = np.ones(len(start), dtype=np.int64)
    length[is_name] = np.flatnonzero(ends) + 1 - start[is_name]
    kind = np.full(len(start), _OTHER, dtype=np.uint8)
    first = text[start]
    kind[first == ord("(")], kind[first == ord(")")] = _LEFT, _RIGHT
    for word, code in _WORDS.items():
        found = np.flatnonzero((first == word[0]) & (length == len(word)))
        for i, byte in enumerate(word[1:], 1):
            found = found[text[start[found] + i] == byte]
        kind[found] = code
    for letter, code in ((b"X", _X), (b"Y", _Y)):
        named = np.flatnonzero((first == letter[0]) & (length > 2))
        kind[named[text[start[named] + 1] == ord("_")]] = code
    kind[_among(first, b"0123456789") | (_among(first, b"+-.") & (length > 1))] = _NUMBER
    return None if (kind == _OTHER).any() or not len(kind) else _Tokens(text, kind, start, length)


def _is_well_formed(kind: NDArray[np.uint8]) -> bool:
    """Tell whether every token stands where it may, by counts and neighbours."""
    is_left, is_right = kind == _LEFT, kind == _RIGHT
    depth = np.cumsum(is_left.astype(np.int32) - is_right)
    if depth[-1] or depth.min() < 0 or is_left[-1]:
        return False
    if not _among(kind[1:][is_left[:-1]], _OPENS).all():
        return False
    opening = _among(kind, _OPENS)
    if opening.sum() != is_left.sum():
        return False
    padded = np.concatenate([kind, np.full(4, _RIGHT, dtype=np.uint8)])
    after = [padded[k : k + len(kind)] for k in range(4)]
    is_operand = _among(kind, (_X, _Y, _NUMBER))
    is_comparison, is_declare = kind <= _GT, kind == _DECLARE
    is_connective = _among(kind, (_AND, _OR, _ASSERT))
    names = _among(after[1], (_X, _Y))
    operands = _among(after[1], (_X, _Y, _NUMBER)) & _among(after[2], (_X, _Y, _NUMBER))
    fits_comparison = operands & (after[3] == _RIGHT)
    fits_declare = names & (after[2] == _REAL) & (after[3] == _RIGHT)
    outermost = _among(kind, (_ASSERT, _DECLARE))
    return bool(
        fits_comparison[is_comparison].all()
        and fits_declare[is_declare].all()
        and (after[1] == _LEFT)[is_connective].all()
        and is_operand.sum() == 2 * is_comparison.sum() + is_declare.sum()
        and (kind == _REAL).sum() == is_declare.sum()
        and ((depth == 1) == outermost)[opening].all()
        and _have_one_part(kind, depth)
        and is_comparison.any()
    )


def _have_one_part(kind: NDArray[np.uint8], depth: NDArray[np.int32]) -> bool:
    """Tell whether every ``assert`` holds exactly one formula."""
    return bool(((kind == _LEFT) & (depth == 2)).sum() == (kind == _ASSERT).sum())


def _indices(tokens: _Tokens) -> NDArray[np.int32] | None:
    """Return the number of every ``X_`` and ``Y_``; None if one is no plain number."""
    index = np.full(len(tokens.kind), -1, dtype=np.int32)
    named = np.flatnonzero((tokens.kind == _X) | (tokens.kind == _Y))
    digits = tokens.length[named] - 2
    if digits.max(initial=0) > _LONGEST_INDEX:
        return None
    value = np.zeros(len(named), dtype=np.int32)
    for i in range(int(digits.max(initial=0))):
        more = digits > i
        digit = tokens.text[tokens.start[named[more]] + 2 + i].astype(np.int32) - ord("0")
        if ((digit < 0) | (digit > 9)).any():
            return None
        value[more] = value[more] * 10 + digit
    leading_zero = (tokens.text[tokens.start[named] + 2] == ord("0")) & (digits > 1)
    index[named] = value
    return None if leading_zero.any() else index


def _numbers(tokens: _Tokens) -> NDArray[np.float64] | None:
    """Return the value of every number, in order; None if one is malformed or not finite."""
    is_number = tokens.kind == _NUMBER
    text = tokens.text.copy()
    start, length = tokens.start[~is_number], tokens.length[~is_number]
    for i in range(int(length.max(initial=0))):
        text[start[length > i] + i] = ord(" ")
    count = int(is_number.sum())
    if not count:
        return np.empty(0)
    if not _among(text, b"0123456789+-.eE \t\r\n\f\v").all():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            values = np.fromstring(text.tobytes(), dtype=np.float64, sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    return values if len(values) == count and np.isfinite(values).all() else None


def _declared(kind: NDArray[np.uint8], index: NDArray[np.int32], name: int) -> int | None:
    """Return how many inputs or outputs are declared; None if not in order from 0."""
    places = np.flatnonzero(kind == _DECLARE) + 1
    found = index[places[kind[places] == name]]
    return len(found) if (found == np.arange(len(found))).all() else None


def _atoms(
    kind: NDArray[np.uint8], index: NDArray[np.int32], numbers: NDArray[np.float64]
) -> Atoms:
    comparisons = np.flatnonzero(kind <= _GT)
    values = np.zeros(len(kind))
    values[kind == _NUMBER] = numbers
    left, right = ((index[comparisons + i], values[comparisons + i]) for i in (1, 2))
    return Atoms.of(kind[comparisons].astype(np.int8), left, right)


def _nodes(kind: NDArray[np.uint8]) -> Nodes:
    is_left, is_right = kind == _LEFT, kind == _RIGHT
    depth = np.cumsum(is_left.astype(np.int32) - is_right, dtype=np.int32)
    places = np.flatnonzero(kind <= _OR)
    of_kind = np.full(_OR + 1, ATOM, dtype=np.int8)
    of_kind[_AND], of_kind[_OR] = AND, OR
    return Nodes(of_kind[kind[places]], depth[places] - 1)
