"""A second validator, one witness at a time, from the organisers' rules as they are told.

Regular expressions for the witness, `sexpr` for the property, onnxruntime with its defaults.
"""

import gzip
import re
from functools import cache

import numpy as np
import onnxruntime
import sexpr


@cache
def unpacked(path):
    content = path.read_bytes()
    return gzip.decompress(content) if content and path.suffix == ".gz" else content


def read_witness(path):
    """Return inputs and outputs as text says."""
    text = unpacked(path).decode()
    found = re.findall(r"\(\s*([XY])_\d+\s+([^\s()]+)\s*\)", text + ")")
    return [[float(v) for n, v in found if n == name] for name in "XY"]


@cache
def formulas_of(path):
    return sexpr.assertions(unpacked(path).decode())[0]


@cache
def rounded_formulas_of(path, kind):
    return [rounded(f, kind) for f in formulas_of(path)]


@cache
def loaded(network):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    providers = ["CPUExecutionProvider"]
    return onnxruntime.InferenceSession(unpacked(network), options, providers=providers)


def run(network, inputs):
    """Return the network's outputs."""
    session = loaded(network)
    [node] = session.get_inputs()
    shape = [d if isinstance(d, int) and d > 0 else 1 for d in node.shape]
    kind = {"tensor(float)": np.float32, "tensor(double)": np.float64}[node.type]
    if np.prod(shape) != len(inputs):
        return None, kind
    fed = np.array(inputs, dtype=kind).reshape(shape)
    [output] = session.run(None, {node.name: fed})
    return output.ravel(), kind


def is_met(formulas, inputs, outputs, on_inputs, on_outputs):
    values = {f"X_{i}": v for i, v in enumerate(inputs)}
    values |= {f"Y_{i}": float(v) for i, v in enumerate(outputs)}
    return all(sexpr.holds(f, values, on_inputs, on_outputs) for f in formulas)


def rounded(formula, kind):
    """Round the numbers that inputs are compared with to the type of the input."""
    if isinstance(formula, str):
        return formula
    names = sexpr.variables(formula)
    if formula[0] in sexpr.OPERATORS and names and all(name[0] == "X" for name in names):
        return [p if p in names or p in sexpr.OPERATORS else repr(float(kind(float(p))))
                for p in formula]  # fmt: skip
    return [rounded(part, kind) for part in formula]


def verdict(witness, network, prop, rules, *, rounds=None):
    """Judge one witness as the rules of an edition do.

    ``rounds`` says whether bounds are rounded to the input's type; only 2026 does by default.
    """
    if len(unpacked(witness).strip()) < 2:
        return "no_ce"
    inputs, claimed = read_witness(witness)
    replayed, kind = run(network, inputs)
    if replayed is None:
        return "wrong_shape"
    formulas = formulas_of(prop)
    if rounds if rounds is not None else rules == "2026":
        inputs = [float(kind(v)) for v in inputs]
        formulas = rounded_formulas_of(prop, kind)
    if rules == "2026":
        if is_met(formulas, inputs, replayed, 0.0, 0.0):
            return "correct"
        near = is_met(formulas, inputs, replayed, 1e-4, 0.0)
        return "correct_up_to_tolerance" if near else "spec_not_violated"
    if len(claimed) != len(replayed):
        return "exec_doesnt_match"
    difference = np.abs(replayed - np.array(claimed)).max()
    norm = np.abs(claimed).max()
    relative = 0.0 if norm < 1e-6 else difference / norm
    if difference > 1e-4 if rules == "2022" else relative > 1e-3:
        return "exec_doesnt_match"
    if not is_met(formulas, inputs, claimed, 1e-4, 1e-4):
        return "spec_not_violated"
    exact = {"2022": None, "2023": None, "2024": (0.0, 0.0), "2025-zero": (0.0, 0.0),
             "2025-small": (1e-6, 1e-7), "2024-as-committed": (-1.0, 0.0)}[rules]  # fmt: skip
    if exact is None:
        return "correct"
    is_exact = relative <= exact[0] and is_met(formulas, inputs, claimed, exact[1], exact[1])
    return "correct" if is_exact else "correct_up_to_tolerance"
