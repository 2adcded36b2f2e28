"""Assertions of a property, token by token; a stack of open parentheses stands in for recursion."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from vnnanalysis.formula import AND, ATOM, COMPARISONS, OR, Atoms, Expression, Nodes
from vnnanalysis.texts import Token, Tokens

Operand = tuple[int, float]  # place of a variable or expression, or -1 and a constant

_BOOLEAN, _NUMERIC = "a comparison, and, or", "a number, a variable or an arithmetic expression"


@dataclass
class _Frame:
    """An open parenthesis: what it is, and what it holds so far."""

    kind: str  # assert, and, or, group, or an operator
    expects: str  # _BOOLEAN or _NUMERIC
    token: Token
    operands: list[Operand] = field(default_factory=list)
    n_parts: int = 0
    atom: int = -1


class AssertionReader:
    """Reads assertions and keeps what they hold, in the order of the text.

    Parameters
    ----------
    tokens : Tokens
        The text.
    operand : callable
        Returns what a name or number stands for; raises if it stands for nothing.
    n_values : int
        How many values there are; expressions follow them.
    """

    def __init__(self, tokens: Tokens, operand: Callable[[Token], Operand], n_values: int) -> None:
        self.tokens, self.operand, self.n_values = tokens, operand, n_values
        self.kinds: list[int] = []
        self.depths: list[int] = []
        self.comparisons: list[int] = []
        self.sides: list[list[Operand]] = []
        self.expressions: list[Expression] = []

    def result(self) -> tuple[Atoms, Nodes]:
        """Return all comparisons and their nest."""
        places = np.array([[p for p, _ in side] for side in self.sides], dtype=np.int32)
        constants = np.array([[c for _, c in side] for side in self.sides], dtype=np.float64)
        kinds = np.array(self.comparisons, dtype=np.int8)
        sides = ((places[:, i], constants[:, i]) for i in (0, 1))
        nodes = Nodes(np.array(self.kinds, dtype=np.int8), np.array(self.depths, dtype=np.int32))
        return Atoms.of(kinds, *sides), nodes

    def read(self, opened: Token) -> None:
        """Read the rest of ``(assert ...)``."""
        tokens, stack = self.tokens, [_Frame("assert", _BOOLEAN, opened)]
        depth = 1
        while stack:
            token, frame = tokens.take(), stack[-1]
            if token.text == "(":
                stack.append(self._opened(token, frame, depth))
                depth += stack[-1].kind in ("and", "or")
            elif token.text == ")":
                depth -= frame.kind in ("and", "or")
                self._close(stack.pop(), token, stack)
            elif frame.expects is _NUMERIC and token.text:
                self._put(frame, self.operand(token), token)
            else:
                line = tokens.text.count("\n", 0, frame.token.offset) + 1
                told = f"( with {frame.expects}, or )"
                tokens.fail(token, told if token.text else f") for the ( in line {line}")

    def _opened(self, token: Token, frame: _Frame, depth: int) -> _Frame:
        """Return the frame of an open parenthesis; nodes are noted in the order of the text."""
        if frame.kind in ("assert", "group") and frame.n_parts:
            self.tokens.fail(token, ")")
        if self.tokens.next.text == "(":
            return _Frame("group", frame.expects, token)
        head = self.tokens.take()
        operator = "=" if head.text == "==" else head.text
        if frame.expects is _NUMERIC and operator not in ("+", "-", "*"):
            self.tokens.fail(head, "an operator: + - *")
        if frame.expects is _BOOLEAN and operator not in (*COMPARISONS, "and", "or"):
            self.tokens.fail(head, f"an operator: and or {' '.join(COMPARISONS)}")
        if operator in ("and", "or"):
            self.kinds.append(AND if operator == "and" else OR)
            self.depths.append(depth)
            return _Frame(operator, _BOOLEAN, token)
        opened = _Frame(operator, _NUMERIC, token)
        if operator in COMPARISONS:
            self.kinds.append(ATOM)
            self.depths.append(depth)
            opened.atom = len(self.comparisons)
            self.comparisons.append(COMPARISONS.index(operator))
            self.sides.append([])
        return opened

    def _put(self, frame: _Frame, operand: tuple[int, float], token: Token) -> None:
        if frame.kind in COMPARISONS and len(frame.operands) == 2:
            self.tokens.fail(token, f") after two operands of {frame.kind}")
        if frame.kind == "group" and frame.operands:
            self.tokens.fail(token, ")")
        frame.operands.append(operand)
        frame.n_parts += 1

    def _close(self, frame: _Frame, token: Token, stack: list[_Frame]) -> None:
        if frame.kind in COMPARISONS and len(frame.operands) < 2:
            self.tokens.fail(token, f"two operands of {frame.kind}")
        if not frame.n_parts:
            self.tokens.fail(token, frame.expects)
        if frame.kind in COMPARISONS:
            self.sides[frame.atom] = frame.operands
        if not stack:
            return
        if frame.kind in ("+", "-", "*") or (frame.kind == "group" and frame.operands):
            self._put(stack[-1], self._value(frame, token), token)
        else:
            stack[-1].n_parts += 1

    def _value(self, frame: _Frame, token: Token) -> tuple[int, float]:
        """Return what an arithmetic expression is: a constant, or a place behind the variables."""
        if frame.kind == "group":
            return frame.operands[0]
        places, constants = zip(*frame.operands, strict=True)
        expression = Expression(frame.kind, places, constants)
        if max(places) < 0:
            constant = float(expression.value(np.empty(0)))
            if not np.isfinite(constant):
                self.tokens.fail(token, "a finite value")
            return -1, constant
        self.expressions.append(expression)
        return self.n_values + len(self.expressions) - 1, 0.0
