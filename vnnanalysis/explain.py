"""One counterexample in words: where it stands against each bound and clause."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vnnanalysis.errors import UsageError
from vnnanalysis.evaluate import excesses, with_expressions
from vnnanalysis.formula import ATOM, COMPARISONS, Property
from vnnanalysis.measure import Library, fit, measure, read_witness
from vnnanalysis.replay import replay, single_precision
from vnnanalysis.tasks import ENGINE, Measurement, Status, Task
from vnnanalysis.terms import Bounds
from vnnanalysis.validate import measured_frame
from vnnanalysis.verdicts import FRAGILE, NAMED, reasons, verdicts

_SHOWN = 8  # of each list


def explain(witness: Path, networks: Sequence[tuple[str, Path]], prop: Path) -> Iterator[str]:
    """Say what a counterexample is worth, line by line.

    Parameters
    ----------
    witness, prop : Path
        The counterexample's file and the property's.
    networks : sequence of (str, Path)
        Names (empty for a single network) and files.

    Raises
    ------
    UsageError
        If a file does not exist.
    """
    for path in (witness, prop, *(path for _, path in networks)):
        if not path.is_file():
            told = "expected a file, found a folder" if path.is_dir() else "no such file"
            raise UsageError(f"{path}: {told}")
    task = Task(str(witness), tuple((name, str(path)) for name, path in networks), str(prop))
    library = Library()
    measurement = measure(task, library)
    yield f"{witness.name}: {_status(measurement)}"
    if measurement.status is Status.MEASURED:
        yield from _compared(task, library, measurement)
    yield ""
    yield "Verdict under the rules of"
    frame = measured_frame([measurement])
    for name, rules in NAMED.items():
        found = verdicts(frame, rules)
        is_measured = measurement.status is Status.MEASURED
        why = f" ({reasons(frame, found, rules)[0]})" if is_measured else ""
        yield f"  {name}: {found.iloc[0]}{why}"


def _status(measurement: Measurement) -> str:
    if measurement.status is not Status.MEASURED:
        return f"{measurement.status} ({measurement.reason})"
    note = f"; {measurement.reason}" if measurement.reason else ""
    return f"read, and its inputs run through the network{note}"


def _compared(task: Task, library: Library, measurement: Measurement) -> Iterator[str]:
    prop, places = fit(task, library)
    witness = read_witness(task, prop)
    replayed = replay(prop, places, witness.inputs)
    is_single = single_precision(prop, places)
    is_output = prop.slots(is_input=False)
    names = _names(prop)
    yield f"Replayed with {ENGINE}."
    if measurement.discontinuous:
        told = "the network has operators whose output can jump: "
        yield f"Discontinuous: {told}{measurement.discontinuous}."
    yield ""
    claimed = replayed.copy()
    if len(witness.outputs) == is_output.sum():
        claimed[is_output] = witness.outputs
        yield from _outputs(names, claimed, replayed, is_output, measurement.numbers)
    else:
        n_outputs = int(is_output.sum())
        yield f"It claims {len(witness.outputs)} outputs, the network has {n_outputs}."
    yield ""
    yield from _inputs(prop, names, replayed, is_single)
    yield ""
    yield "The property, by the network's outputs:"
    each = excesses(prop, replayed)
    yield from _assertions(prop, names, each, replayed)


def _names(prop: Property) -> list[str]:
    """Name every value as the property does."""
    names = []
    for variable in prop.variables:
        for index in np.ndindex(*variable.shape):
            place = ",".join(map(str, index))
            v1 = f"{variable.name}_{place}"
            names.append(v1 if prop.version == "1.0" else f"{variable.name}[{place}]")
    return names


def _outputs(
    names: list[str],
    claimed: NDArray[np.float64],
    replayed: NDArray[np.float64],
    is_output: NDArray[np.bool_],
    numbers: dict[str, float],
) -> Iterator[str]:
    places = np.flatnonzero(is_output)
    distance = np.nan_to_num(np.abs(claimed - replayed), nan=np.inf)
    order = places[np.argsort(-distance[places], kind="stable")][:_SHOWN]
    told = (
        f"{numbers['max_abs_diff']:.3g}, {numbers['max_rel_diff']:.3g} relative to the largest "
        f"that is claimed"
    )
    yield f"Outputs, {len(places)}: claimed and replayed differ by up to {told}."
    for i in order:
        told = f"claimed {claimed[i]:.9g}, replayed {replayed[i]:.9g}"
        yield f"  {names[i]}: {told}, difference {distance[i]:.3g}"
    if len(places) > _SHOWN:
        yield f"  ({len(places) - _SHOWN} more differ by less)"


def _inputs(
    prop: Property, names: list[str], values: NDArray[np.float64], is_single: NDArray[np.bool_]
) -> Iterator[str]:
    for bounds in Bounds:
        each = excesses(prop, values, bounds=bounds, is_single=is_single)
        out = np.flatnonzero(prop.compares_inputs & (each > 0))
        of = f"{int(prop.compares_inputs.sum())} conditions on inputs alone"
        yield f"Of {of}, compared as {bounds}, these are not met: {len(out)}."
        for i in out[np.argsort(-each[out], kind="stable")][:_SHOWN]:
            yield f"  {_atom(prop, names, values, int(i))}: by {each[i]:.3g}"
        if len(out) > _SHOWN:
            yield f"  ({len(out) - _SHOWN} more by less)"


def _atom(prop: Property, names: list[str], values: NDArray[np.float64], i: int) -> str:
    """Write a comparison with the values of its variables."""
    atoms = prop.atoms
    sides = ((atoms.left[i], atoms.left_constant[i]), (atoms.right[i], atoms.right_constant[i]))
    texts = []
    for place, constant in sides:
        if place < 0:
            texts.append(repr(float(constant)))
        elif place < len(names):
            texts.append(f"{names[place]} ({float(values[place])!r})")
        else:
            texts.append(_expression(prop, names, values, place))
    return f"{texts[0]} {COMPARISONS[atoms.comparison[i]]} {texts[1]}"


def _expression(prop: Property, names: list[str], values: NDArray[np.float64], place: int) -> str:
    """Write an arithmetic expression with its value; deep ones are cut short."""
    known = with_expressions(prop, values)

    def text(place: int, constant: float, depth: int) -> str:
        if place < 0:
            return repr(constant)
        if place < len(names):
            return names[place]
        if not depth:
            return "..."
        own = prop.expressions[place - len(names)]
        pairs = zip(own.places, own.constants, strict=True)
        return f"({' '.join([own.operator, *(text(p, c, depth - 1) for p, c in pairs)])})"

    return f"{text(place, 0.0, 4)} ({float(known[place])!r})"


def _assertions(
    prop: Property, names: list[str], each: NDArray[np.float64], values: NDArray[np.float64]
) -> Iterator[str]:
    """Tell, for assertions about outputs, which comparisons hold, clause by clause."""
    is_shown = np.zeros(prop.assertion.max(initial=-1) + 1, dtype=bool)
    is_shown[prop.assertion[~prop.compares_inputs]] = True
    top = [i for i, depth in enumerate(prop.nodes.depth) if depth == 1]
    atom = np.cumsum(prop.nodes.kind == ATOM) - 1
    for number, start in enumerate(top):
        if not is_shown[number]:
            continue
        end = top[number + 1] if number + 1 < len(top) else len(prop.nodes.kind)
        yield f"  assertion {number + 1}:"
        lines = []
        for i in range(start, end):
            indent = "  " * (int(prop.nodes.depth[i]) + 1)
            if prop.nodes.kind[i] != ATOM:
                lines.append(f"{indent}{('and', 'or')[prop.nodes.kind[i]]}")
                continue
            by = each[atom[i]]
            margin = " (fragile)" if abs(by) < FRAGILE and not prop.compares_inputs[atom[i]] else ""
            told = f"holds, by {abs(by):.3g}" if by <= 0 else f"fails, by {by:.3g}"
            lines.append(f"{indent}{_atom(prop, names, values, int(atom[i]))}: {told}{margin}")
        yield from lines[: 5 * _SHOWN]
        if len(lines) > 5 * _SHOWN:
            yield f"    ({len(lines) - 5 * _SHOWN} more lines)"
