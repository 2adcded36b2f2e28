"""Evaluates VNN-LIB 2.0 queries with the official package's parser; run as a script.

Reads a list of texts and points as JSON, writes the truth of each text at its points.
"""

import json
import math
import sys

import vnnlib

COMPARISONS = {
    "LessEqual": lambda a, b: a <= b,
    "GreaterEqual": lambda a, b: a >= b,
    "LessThan": lambda a, b: a < b,
    "GreaterThan": lambda a, b: a > b,
    "Equal": lambda a, b: a == b,
    "NotEqual": lambda a, b: a != b,
}


def value(node, values):
    kind = type(node).__name__
    if kind == "Var":
        return values[node.name, tuple(node.indices)]
    if kind == "Negate":
        return -value(node.expr, values)
    if kind == "Plus":
        return sum(value(arg, values) for arg in node.args)
    if kind == "Multiply":
        return math.prod(value(arg, values) for arg in node.args)
    if kind == "Minus":
        return value(node.head, values) - sum(value(arg, values) for arg in node.rest)
    return float(node.lexeme) if kind == "Literal" else node.value


def truth(node, values):
    kind = type(node).__name__
    if kind == "And":
        return all(truth(arg, values) for arg in node.args)
    if kind == "Or":
        return any(truth(arg, values) for arg in node.args)
    return bool(COMPARISONS[kind](value(node.lhs, values), value(node.rhs, values)))


def elements(query):
    for network in query.networks:
        for variable in (*network.inputs, *network.hidden, *network.outputs):
            places = [()]
            for size in variable.shape:
                places = [(*place, i) for place in places for i in range(size)]
            for place in places:
                yield variable.name, place


def truths(case):
    try:
        query = vnnlib.parse_query_string(case["text"])
    except vnnlib.VNNLibException as error:
        return str(error)
    names = list(elements(query))
    points = [dict(zip(names, point, strict=True)) for point in case["points"]]
    return [all(truth(a.expr, values) for a in query.assertions) for values in points]


if __name__ == "__main__":
    json.dump([truths(case) for case in json.load(sys.stdin)], sys.stdout)
