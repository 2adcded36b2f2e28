"""Property files, VNN-LIB 1.0 and 2.0, to flat arrays.

Files of a regular shape are read by `vnnlib_regular`, all at once; whatever it does not know
is read here, token by token, with a stack of its own, and errors name the token's place.
"""

import math
import re
from pathlib import Path

import numpy as np

from vnnanalysis.errors import RawDataError
from vnnanalysis.formula import (
    Atoms,
    Expression,
    Network,
    Nodes,
    Property,
    Variable,
    assemble,
    v1_variables,
)
from vnnanalysis.texts import LFS_POINTER, NUMBER, SPACE, Token, Tokens, decode, read_bytes
from vnnanalysis.vnnlib_assertions import AssertionReader
from vnnanalysis.vnnlib_regular import (
    read_regular,
    read_regular_assertions,
    without_comments,
)

_V1_TOKEN = re.compile(r"[()]|[^\s();]+|;[^\n]*", re.ASCII)
_V2_TOKEN = re.compile(
    r'"[^"\n]*"|<[0-9.]+>|<=|>=|==|!=|[^\s()\[\],;"<>=!]+|;[^\n]*|[^\s]', re.ASCII
)
_IS_V2 = re.compile(rb"\s*(?:;[^\n]*\n\s*)*\(\s*vnnlib-version")
_V1_NAME = re.compile(r"([XY])_(0|[1-9]\d{0,8})", re.ASCII)
_V2_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
_V2_ELEMENT = re.compile(rb"(?<![\w.+-])([A-Za-z]\w*)\s*\[([^\[\]]*)\]")
_V2_STRING = re.compile(rb'"[^"\n]*;')  # in which a comment seems to begin
_V2_EQUAL = re.compile(rb"(?<![<>=!])==(?![<>=!])")
_MOST_VALUES = 100_000_000  # of all variables
_MOST_DIMENSIONS = 64
_KINDS = {"float32": "float32", "float64": "float64", "real": "real", "Real": "real"}
_OTHER_KINDS = re.compile(r"b?float\d+\w*|u?int\d+|complex\d+|bool|string")


def read_property(path: Path) -> Property:
    """Read a property file.

    Parameters
    ----------
    path : Path
        A ``.vnnlib`` file, or ``.vnnlib.gz``.

    Returns
    -------
    Property

    Raises
    ------
    RawDataError
        With file, line, column and token of what is wrong.
    """
    return parse_property(read_bytes(path), path)


def parse_property(content: bytes, path: Path) -> Property:
    """Read the content of a property file; `path` is for errors only."""
    if content.startswith(LFS_POINTER):
        raise RawDataError(path, 0, "", "a Git LFS pointer", "a property")
    is_v2 = bool(_IS_V2.match(content.removeprefix(b"\xef\xbb\xbf")))
    regular = _read_regular_v2(content, path) if is_v2 else read_regular(content)
    if regular is not None:
        return regular
    return _Reader(decode(content, path), path, is_v2=is_v2).read()


def _read_regular_v2(content: bytes, path: Path) -> Property | None:
    """Read assertions of VNN-LIB 2.0 all at once, with the elements' places for their names."""
    plain = without_comments(content)
    start = plain.find(b"(assert")
    try:
        reader = _Reader(plain[: max(start, 0)].decode(), path, is_v2=True)
        reader.read_declarations()
    except (RawDataError, UnicodeDecodeError):
        return None
    has_scalar = any(not variable.shape for variable in reader.variables.values())
    if reader.assertions is not None or has_scalar or _V2_STRING.search(content):
        return None
    known: dict[bytes, bytes] = {}

    def place(match: re.Match[bytes]) -> bytes:
        if match[0] not in known:
            found = reader.place_of(match[1].decode(), match[2].decode())
            known[match[0]] = b" ? " if found is None else b" X_%d " % found
        return known[match[0]]

    if b"X_" in plain[start:]:
        return None
    body = _V2_EQUAL.sub(b"=", _V2_ELEMENT.sub(place, plain[start:]))
    found = read_regular_assertions(body, reader.n_values)
    return None if found is None else reader.property_of(*found)


class _Reader:
    """Reads declarations and assertions; its stack stands in for recursion."""

    def __init__(self, text: str, path: Path, *, is_v2: bool) -> None:
        self.tokens = Tokens(text, path, _V2_TOKEN if is_v2 else _V1_TOKEN, comment=";")
        self.is_v2 = is_v2
        self.variables: dict[str, Variable] = {}
        self.networks: dict[str, Network] = {}
        self.declared = {"X": 0, "Y": 0}  # in version 1.0
        plain = "" if is_v2 else re.sub(r";[^\n]*", "", text)
        self.n_inputs = len(re.findall(r"\(\s*declare-const\s+X_", plain))  # that will be
        self.n_values = self.n_inputs + len(re.findall(r"\(\s*declare-const\s+Y_", plain))
        self.assertions: AssertionReader | None = None  # once there is one
        self.unsupported = ""

    def read(self) -> Property:
        tokens = self.tokens
        if not tokens.next.text:
            tokens.fail(tokens.next, "a property")
        if self.is_v2:
            self._read_version()
        while tokens.next.text:
            opened = tokens.take("(", "(declare-network or (assert" if self.is_v2 else
                                 "(declare-const or (assert")  # fmt: skip
            self._statement(tokens.take(), opened)
        if self.assertions is None:
            tokens.fail(tokens.next, "an assertion")
        return self.property_of(*self.assertions.result(), tuple(self.assertions.expressions))

    def read_declarations(self) -> None:
        """Read a text of VNN-LIB 2.0 up to its first assertion."""
        self._read_version()
        while self.tokens.next.text:
            self.tokens.take("(")
            self._statement(self.tokens.take(), self.tokens.next)

    def _statement(self, keyword: Token, opened: Token) -> None:
        if keyword.text == "assert":
            if not self.n_values:
                self.tokens.fail(keyword, "declarations of variables first")
            if self.assertions is None:
                self.assertions = AssertionReader(self.tokens, self._operand, self.n_values)
            self.assertions.read(opened)
        elif self.is_v2 and keyword.text == "declare-network":
            self._network()
        elif not self.is_v2 and keyword.text == "declare-const":
            self._constant()
        else:
            declared = "declare-network" if self.is_v2 else "declare-const"
            self.tokens.fail(keyword, f"{declared} or assert")

    def property_of(
        self, atoms: Atoms, nodes: Nodes, expressions: tuple[Expression, ...] = ()
    ) -> Property:
        """Put comparisons and nests together with what is declared."""
        variables = tuple(self.variables.values())
        networks: tuple[Network, ...] = tuple(self.networks.values())
        if not self.is_v2:
            variables = v1_variables(self.declared["X"], self.declared["Y"])
            networks = (Network(""),)
        return assemble("2.0" if self.is_v2 else "1.0", networks, variables, atoms, nodes,
                        expressions, self.unsupported)  # fmt: skip

    # Declarations

    def _read_version(self) -> None:
        tokens = self.tokens
        tokens.take("("), tokens.take("vnnlib-version")
        version = tokens.take()
        if not re.fullmatch(r"<2\.\d+>", version.text):
            tokens.fail(version, "version <2.0>")
        tokens.take(")")

    def _constant(self) -> None:
        """Read the rest of ``(declare-const X_0 Real)``."""
        tokens = self.tokens
        name = tokens.take()
        match = _V1_NAME.fullmatch(name.text)
        if match is None:
            tokens.fail(name, "X_<number> or Y_<number>")
        if int(match[2]) != self.declared[match[1]]:
            tokens.fail(name, f"{match[1]}_{self.declared[match[1]]}")
        tokens.take("Real")
        tokens.take(")")
        self.declared[match[1]] += 1

    def _network(self) -> None:
        """Read the rest of ``(declare-network f (declare-input X float32 [1,5]) ...)``."""
        tokens = self.tokens
        if self.assertions is not None:
            tokens.fail(tokens.next, "networks before the first assertion")
        name = self._new_name(self.networks)
        like, seen = Network(""), set[str]()
        while tokens.next.text == "(":
            tokens.take()
            keyword = tokens.take()
            if keyword.text in ("equal-to", "isomorphic-to") and not seen and not like.name:
                like = self._relation(is_equal=keyword.text == "equal-to")
            elif keyword.text in ("declare-input", "declare-hidden", "declare-output"):
                seen.add(keyword.text)
                self._tensor(keyword.text, name)
            else:
                tokens.fail(keyword, "declare-input, declare-hidden or declare-output")
        closing = tokens.take(")", "a declaration or )")
        for wanted in ("declare-input", "declare-output"):
            if wanted not in seen:
                tokens.fail(closing, f"a {wanted} in network {name}")
        if like.name and self._signature(like.name) != self._signature(name):
            tokens.fail(closing, f"the inputs and outputs of network {like.name}, and no others")
        self.networks[name] = Network(name, like.equal_to)

    def _relation(self, *, is_equal: bool) -> Network:
        """Read the rest of ``(equal-to f)`` or ``(isomorphic-to f)``."""
        other = self.tokens.take()
        if other.text not in self.networks:
            declared = ", ".join(self.networks)
            self.tokens.fail(other, f"a network declared before ({declared})")
        self.tokens.take(")")
        return Network(other.text, other.text if is_equal else "")

    def _signature(self, network: str) -> list[tuple[bool, str, tuple[int, ...]]]:
        """Return kind, type and shape of a network's variables."""
        own = [v for v in self.variables.values() if v.network == network]
        return [(v.is_input, v.kind, v.shape) for v in own]

    def _new_name(self, known: dict[str, Network] | dict[str, Variable]) -> str:
        token = self.tokens.take()
        if not _V2_NAME.fullmatch(token.text) or token.text in known:
            self.tokens.fail(token, "a name that is not declared yet"
                             if token.text in known else "a name")  # fmt: skip
        return token.text

    def _tensor(self, keyword: str, network: str) -> None:
        name = self._new_name(self.variables)
        kind = self.tokens.take()
        if kind.text not in _KINDS and not _OTHER_KINDS.fullmatch(kind.text):
            self.tokens.fail(kind, "an element type, such as float32 or real")
        shape = tuple(self._numbers(kind))
        if self.n_values + math.prod(shape) > _MOST_VALUES or len(shape) > _MOST_DIMENSIONS:
            self.tokens.fail(kind, f"a shape with at most {_MOST_VALUES} values in all")
        has_name = re.fullmatch('"[^"]*"', self.tokens.next.text) is not None
        onnx_name = self.tokens.take().text[1:-1] if has_name else ""
        self.tokens.take(")")
        if keyword == "declare-hidden" and not self.unsupported:
            self.unsupported = f"hidden variable {name} of network {network}"
        elif kind.text not in _KINDS and not self.unsupported:
            self.unsupported = f"element type {kind.text} of {name}"
        known_kind = _KINDS.get(kind.text, kind.text)
        is_input = keyword == "declare-input"
        variable = Variable(name, network, is_input, known_kind, shape, self.n_values, onnx_name)
        self.n_values += variable.size
        self.variables[name] = variable

    def _numbers(self, before: Token) -> list[int]:
        """Read ``[1, 5]`` or ``[]``: a shape, or the place of an element."""
        tokens, numbers = self.tokens, list[int]()
        tokens.take("[", f"[ after {before.text}")
        while tokens.next.text != "]":
            if numbers:
                tokens.take(",", ", or ]")
            number = tokens.take()
            if not re.fullmatch("[0-9]{1,9}", number.text):
                tokens.fail(number, "a number of elements")
            numbers.append(int(number.text))
        tokens.take()
        return numbers

    def _operand(self, token: Token) -> tuple[int, float]:
        """Return place and constant of a number or a variable."""
        if NUMBER.fullmatch(token.text):
            constant = float(token.text)
            if not np.isfinite(constant):
                self.tokens.fail(token, "a finite number")
            return -1, constant
        if self.is_v2 and token.text in self.variables:
            return self._element(token), 0.0
        match = None if self.is_v2 else _V1_NAME.fullmatch(token.text)
        if match is None:
            self.tokens.fail(token, "a number or a declared variable")
        declared = self.declared[match[1]]
        if int(match[2]) >= declared:
            self.tokens.fail(token, f"a declared variable ({declared} {match[1]} are)")
        return int(match[2]) + (match[1] == "Y") * self.n_inputs, 0.0

    def _element(self, token: Token) -> int:
        variable = self.variables[token.text]
        is_scalar = not variable.shape and self.tokens.next.text != "["
        place = _place(variable, [] if is_scalar else self._numbers(token))
        if place is None:
            self.tokens.fail(token, f"an element of {token.text} {list(variable.shape)}")
        return place

    def place_of(self, name: str, indices: str) -> int | None:
        """Return the place of an element, its indices as text; None if there is none."""
        parts = [p.strip(SPACE) for p in indices.split(",")] if indices.strip(SPACE) else []
        if name not in self.variables or not all(re.fullmatch("[0-9]{1,9}", p) for p in parts):
            return None
        return _place(self.variables[name], [int(part) for part in parts])


def _place(variable: Variable, indices: list[int]) -> int | None:
    """Return the place of an element among all values; None if there is no such element."""
    if len(indices) != len(variable.shape):
        return None
    place = 0
    for index, size in zip(indices, variable.shape, strict=True):
        if index >= size:
            return None
        place = place * size + index
    return variable.start + place
