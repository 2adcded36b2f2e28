"""Counterexample files to arrays, in the forms of VNN-LIB 1.0 and 2.0."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from vnnanalysis.errors import RawDataError
from vnnanalysis.formula import Property, Variable
from vnnanalysis.texts import NUMBER, Token, Tokens, decode

_NUMBER = NUMBER.pattern
_ITEM = re.compile(rf"\(\s*([XY])_(\d+)\s+({_NUMBER})\s*\)", re.ASCII)
_WHOLE = re.compile(rf"\s*\(\s*(?:\(\s*[XY]_\d{{1,9}}\s+{_NUMBER}\s*\)\s*)*(\)\s*)?", re.ASCII)
_NAME = re.compile(r"([XY])_(\d{1,9})", re.ASCII)
_TOKEN = re.compile(r"[()]|[^\s()]+", re.ASCII)
_HEADER = re.compile(r"(\S+)\s+(\S+)\s+\[([0-9,\s]*)\]", re.ASCII)
_LEAST = 2  # characters; the organisers take less for no counterexample


@dataclass(frozen=True)
class Witness:
    """What a counterexample file says.

    Attributes
    ----------
    inputs, outputs : ndarray of float64, shape (n,)
        The values as written. With several variables (VNN-LIB 2.0) those of all inputs and of
        all outputs, in the order of the property.
    repaired : str
        What was put right to read it, or empty.
    """

    inputs: NDArray[np.float64]
    outputs: NDArray[np.float64]
    repaired: str = ""


def is_empty(content: bytes) -> bool:
    """Tell whether a file holds no counterexample: nothing, or a single character."""
    return len(content.removeprefix(b"\xef\xbb\xbf").strip()) < _LEAST


def parse_witness(content: bytes, path: Path, prop: Property | None = None) -> Witness:
    """Read the content of a counterexample file.

    Parameters
    ----------
    content : bytes
        The content, unpacked.
    path : Path
        For errors only.
    prop : Property, optional
        The property; one of VNN-LIB 2.0 says which variables the file assigns. Without it,
        the form of VNN-LIB 1.0 is expected.

    Returns
    -------
    Witness
        A last parenthesis that is missing is repaired; everything else must be as it should.

    Raises
    ------
    RawDataError
        With line, column and token of what is wrong.
    """
    text = decode(content, path)
    if prop is not None and prop.version == "2.0":
        return _Assignment(text, path).read(prop)
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        _explain(text, path)
    items = _ITEM.findall(text)
    inputs, outputs = (_values(items, name) for name in "XY")
    if inputs is None or outputs is None:
        _explain(text, path)
    return Witness(inputs, outputs, "" if whole[1] else "the last ) was missing")


def _values(items: list[tuple[str, str, str]], name: str) -> NDArray[np.float64] | None:
    """Return the values of one variable; None if not numbered from 0, or not finite."""
    own = [(int(index), float(value)) for letter, index, value in items if letter == name]
    values = np.array([value for _, value in own], dtype=np.float64)
    is_running = [index for index, _ in own] == list(range(len(own)))
    return values if is_running and np.isfinite(values).all() else None


def _explain(text: str, path: Path) -> NoReturn:
    """Raise the error that tells what is wrong with a witness; something is."""
    tokens = Tokens(text, path, _TOKEN)
    tokens.take("(", "( before the first value")
    counts = {"X": 0, "Y": 0}
    while tokens.next.text == "(":
        tokens.take()
        name = tokens.take()
        match = _NAME.fullmatch(name.text)
        if match is None:
            tokens.fail(name, "X_<number> or Y_<number>")
        if int(match[2]) != counts[match[1]]:
            tokens.fail(name, f"{match[1]}_{counts[match[1]]}")
        counts[match[1]] += 1
        _number(tokens, tokens.take())
        tokens.take(")", f") after the value of {name.text}")
    tokens.take(")", "( or )")
    tokens.fail(tokens.next, "the end of the file")


def _number(tokens: Tokens, token: Token) -> float:
    if not NUMBER.fullmatch(token.text) or abs(float(token.text)) == np.inf:
        tokens.fail(token, "a decimal number")
    return float(token.text)


class _Assignment:
    """Reads the assignment of VNN-LIB 2.0: for each variable a header, then a value a line."""

    def __init__(self, text: str, path: Path) -> None:
        lines = enumerate(text.split("\n"), 1)
        self.lines = [
            (number, len(line) - len(line.lstrip()) + 1, line.strip())
            for number, line in lines if line.strip()
        ]  # fmt: skip
        self.end = text.rstrip().count("\n") + 1
        self.path = path
        if self.lines and self.lines[0][-1] == "sat":
            self.lines.pop(0)
        self.lines.reverse()

    def read(self, prop: Property) -> Witness:
        values = [(v.is_input, self._values(v)) for v in prop.variables]
        if self.lines:
            self._fail(self.lines.pop(), "the end of the file")
        inputs, outputs = (
            np.array([x for is_input, of in values if is_input == wanted for x in of])
            for wanted in (True, False)
        )
        return Witness(inputs, outputs)

    def _fail(self, place: tuple[int, int, str], expected: str) -> NoReturn:
        line, column, found = place
        raise RawDataError(self.path, line, str(column), found or "the end of the file", expected)

    def _take(self) -> tuple[int, int, str]:
        return self.lines.pop() if self.lines else (self.end, 1, "")

    def _values(self, variable: Variable) -> list[float]:
        shape = ",".join(map(str, variable.shape))
        expected = f"{variable.name} {variable.kind} [{shape}]"
        place = self._take()
        match = _HEADER.fullmatch(place[-1])
        if match is None or match[1] != variable.name:
            self._fail(place, expected)
        kinds = {variable.kind, "real"} if variable.kind.startswith("float") else {variable.kind}
        dimensions = [d.strip() for d in match[3].split(",")] if match[3].strip() else []
        if match[2].lower() not in kinds or ",".join(dimensions) != shape:
            self._fail(place, expected)
        return [self._value(variable) for _ in range(variable.size)]

    def _value(self, variable: Variable) -> float:
        place = self._take()
        if not NUMBER.fullmatch(place[-1]) or abs(float(place[-1])) == np.inf:
            self._fail(place, f"a decimal number, a value of {variable.name}")
        return float(place[-1])
