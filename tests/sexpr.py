"""A slow, obvious evaluator of VNN-LIB: nested lists, one number at a time, recursion.

Written from the format's description alone, to check the package's readers against.
"""

import gc
import math
import re

OPERATORS = {
    "<=": lambda a, b, t: a <= b + t,
    ">=": lambda a, b, t: a >= b - t,
    "<": lambda a, b, t: a < b + t,
    ">": lambda a, b, t: a > b - t,
    "=": lambda a, b, t: abs(a - b) <= t,
}


def parse(text):
    """Return the text as nested lists of words."""
    text = re.sub(r";[^\n]*", "", text)
    gc.disable()  # nested lists make it slow
    stack = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            closed = stack.pop()
            stack[-1].append(closed)
        else:
            stack[-1].append(token)
    gc.enable()
    assert len(stack) == 1
    return stack[0]


def assertions(text):
    """Return the formulas that a VNN-LIB 1.0 text asserts, and its variables in order."""
    statements = parse(text)
    names = [s[1] for s in statements if s[0] == "declare-const"]
    return [s[1] for s in statements if s[0] == "assert"], names


def value(expression, values):
    """Return the value of an arithmetic expression."""
    if isinstance(expression, str):
        return values[expression] if expression[0] in "XY" else float(expression)
    if len(expression) == 1:
        return value(expression[0], values)
    operator, *operands = expression
    parts = [value(part, values) for part in operands]
    if operator == "*":
        return math.prod(parts)
    if operator == "+":
        return sum(parts)
    return -parts[0] if len(parts) == 1 else parts[0] - sum(parts[1:])


def variables(expression):
    """Return the names of the variables in an expression."""
    if isinstance(expression, str):
        return {expression} if expression[0] in "XY" else set()
    return set().union(*map(variables, expression))


def holds(formula, values, on_inputs=0.0, on_outputs=0.0):
    """Tell whether a formula holds, with a tolerance for comparisons of inputs alone."""
    if len(formula) == 1:
        return holds(formula[0], values, on_inputs, on_outputs)
    operator, *parts = formula
    if operator == "and":
        return all(holds(part, values, on_inputs, on_outputs) for part in parts)
    if operator == "or":
        return any(holds(part, values, on_inputs, on_outputs) for part in parts)
    names = variables(formula[1:])
    is_input = bool(names) and all(name[0] == "X" for name in names)
    left, right = (value(part, values) for part in parts)
    return OPERATORS[operator](left, right, on_inputs if is_input else on_outputs)
