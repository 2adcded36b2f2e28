"""Measures counterexamples; runs in a process of its own, ``python -m vnnanalysis.measure``.

Such a process reads tasks from its standard input, a list of them on each line, and answers
each with a line. It may die, or be killed, without harm to whoever asked.
"""

import json
import os
import queue
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vnnanalysis.errors import RawDataError
from vnnanalysis.evaluate import TOLERANCE, combine, excesses
from vnnanalysis.formula import Floats, Property
from vnnanalysis.replay import (
    Model,
    NotANetworkError,
    Places,
    ReplayError,
    place,
    replay,
    single_precision,
)
from vnnanalysis.tasks import (
    INF,
    Measurement,
    Status,
    Task,
    excess,
    margin,
    needs,
    needs_on_inputs,
)
from vnnanalysis.terms import Bounds, Outputs
from vnnanalysis.texts import LFS_POINTER, read_bytes
from vnnanalysis.vnnlib import parse_property
from vnnanalysis.witness import Witness, is_empty, parse_witness

SMALLEST_NORM = 1e-6  # of claimed outputs; smaller ones have no relative difference (2023 rules)
_MOST_KEPT = 2
_MOST_BYTES = 20_000_000  # of files that are kept when another one is read


class _Stop(Exception):
    """Ends a measurement early, with what is known."""

    def __init__(self, status: Status, reason: str) -> None:
        self.measurement = Measurement(status, reason)


class Library:
    """Networks and properties, the last ones kept, so far as they are small."""

    def __init__(self) -> None:
        self._models: OrderedDict[str, tuple[int, Model]] = OrderedDict()
        self._properties: OrderedDict[str, tuple[int, Property]] = OrderedDict()

    def model(self, path: str) -> Model:
        """Return a network, ready to run."""
        return self._kept(self._models, path, "network", Model)

    def property(self, path: str) -> Property:
        """Return a property."""
        return self._kept(self._properties, path, "property",
                          lambda content: parse_property(content, Path(path)))  # fmt: skip

    def forget_large(self) -> None:
        """Let go of what is too large to be kept longer than its own group of work."""
        for known in (self._models, self._properties):
            for path in [path for path, (size, _) in known.items() if size > _MOST_BYTES]:
                del known[path]

    def _kept(
        self,
        known: OrderedDict[str, tuple[int, Any]],
        path: str,
        what: str,
        make: Callable[[bytes], Any],
    ) -> Any:
        if path not in known:
            while len(known) >= _MOST_KEPT or sum(n for n, _ in known.values()) > _MOST_BYTES:
                known.popitem(last=False)
            content = _content(path, what)
            if not content or content.isspace():
                raise _Stop(Status.NOT_AVAILABLE, f"the {what} is empty here")
            known[path] = (len(content), make(content))
        known.move_to_end(path)
        return known[path][1]


def _content(path: str, what: str) -> bytes:
    try:
        content = read_bytes(Path(path))
    except RawDataError as error:
        raise _Stop(Status.NOT_AVAILABLE, f"the {what} is damaged here: {_told(error)}") from None
    if content.startswith(LFS_POINTER):
        raise _Stop(Status.NOT_AVAILABLE, f"the {what} is a Git LFS pointer")
    return content


def measure(task: Task, library: Library) -> Measurement:
    """Measure one counterexample; whatever is wrong with its files is the result.

    Parameters
    ----------
    task : Task
        Its files.
    library : Library
        Keeps networks and properties from one call to the next.

    Returns
    -------
    Measurement
    """
    try:
        return _measure(task, library)
    except _Stop as stop:
        return stop.measurement
    except NotANetworkError as error:
        return Measurement(Status.NOT_AVAILABLE, f"the network is damaged here: {error}")
    except ReplayError as error:
        return Measurement(Status.UNSUPPORTED, str(error))
    except RawDataError as error:
        return Measurement(Status.UNSUPPORTED, f"the property cannot be read: {_told(error)}")
    except OSError as error:
        reason = f"{Path(str(error.filename)).name}: {error.strerror}"
        return Measurement(Status.NOT_AVAILABLE, reason, is_lasting=False)
    except Exception as error:  # whatever it is, it may not stop the others
        told = f"cannot be measured here ({type(error).__name__}: {error})"
        return Measurement(Status.NOT_AVAILABLE, told, is_lasting=False)


def _told(error: RawDataError) -> str:
    """Return an error's message without the file, which may have other names elsewhere."""
    place = f"line {error.line}, column {error.column}: " if error.line else ""
    found = error.value if len(error.value) <= 40 else error.value[:37] + "..."
    return f"{place}expected {error.expected}, found {found!r}"


def _measure(task: Task, library: Library) -> Measurement:
    content = _witness_content(task)
    if task.absent:
        if content.lstrip().startswith(b"("):  # as in VNN-LIB 1.0; else there is more to know
            _parsed(content, task, None)
        raise _Stop(Status.NOT_AVAILABLE, task.absent)
    prop = library.property(task.prop)
    if prop.unsupported:
        raise _Stop(Status.UNSUPPORTED, prop.unsupported)
    witness = _parsed(content, task, prop)
    _, places = fit(task, library)
    n_inputs = int(prop.slots(is_input=True).sum())
    if len(witness.inputs) != n_inputs:
        told = f"{len(witness.inputs)} inputs, where the network takes {n_inputs}"
        raise _Stop(Status.WRONG_SHAPE, told)
    numbers = compare(prop, places, witness)
    jumps = sorted({name for p in places for name in p.model.discontinuous})
    return Measurement(Status.MEASURED, witness.repaired, numbers, " ".join(jumps))


def fit(task: Task, library: Library) -> tuple[Property, list[Places]]:
    """Return a task's property, and how it fits its networks.

    Raises
    ------
    ReplayError
        If it does not, or if it cannot be evaluated.
    RawDataError
        If the property cannot be read.
    """
    prop = library.property(task.prop)
    if prop.unsupported:
        raise ReplayError(prop.unsupported)
    return prop, place(prop, _models(task, prop, library))


def read_witness(task: Task, prop: Property) -> Witness:
    """Read a task's counterexample, see `witness.parse_witness`."""
    return parse_witness(_content(task.witness, "counterexample"), Path(task.witness), prop)


def _witness_content(task: Task) -> bytes:
    content = _content(task.witness, "counterexample")
    if is_empty(content):
        raise _Stop(Status.NO_CE, "the file is empty")
    return content


def _parsed(content: bytes, task: Task, prop: Property | None) -> Witness:
    try:
        return parse_witness(content, Path(task.witness), prop)
    except RawDataError as error:
        raise _Stop(Status.MALFORMED, _told(error)) from None


def _models(task: Task, prop: Property, library: Library) -> dict[str, Model]:
    """Return the model of every network that a property declares.

    Raises
    ------
    ReplayError
        If the names do not fit, or one cannot be loaded.
    """
    given = dict(task.networks)
    if "" in given:
        own = [network.name for network in prop.networks if not network.equal_to]
        if len(own) != 1:
            raise ReplayError(f"one network is given, the property declares {len(own)}")
        given = {own[0]: given[""]}
    for name in given.keys() - {network.name for network in prop.networks}:
        raise ReplayError(f"the property declares no network {name!r}")
    models: dict[str, Model] = {}
    for network in prop.networks:
        if network.name not in given and network.equal_to not in models:
            raise ReplayError(f"no file is given for the network {network.name!r}")
        files = {given[n] for n in (network.name, network.equal_to) if n in given}
        if len(files) > 1:
            raise ReplayError(f"{network.name!r} has another file than {network.equal_to!r}")
        path = given.get(network.name)
        models[network.name] = library.model(path) if path else models[network.equal_to]
    return models


def compare(prop: Property, places: list[Places], witness: Witness) -> dict[str, float]:
    """Measure a witness that could be read and has the right number of inputs.

    Parameters
    ----------
    prop : Property
        The property.
    places : list of Places
        From `replay.place`.
    witness : Witness
        The counterexample.

    Returns
    -------
    dict of str to float
        By the names in `tasks.NUMBERS`; what concerns claimed outputs is missing if their
        number is wrong.

    Raises
    ------
    ReplayError
        If a network cannot be run.
    """
    replayed = replay(prop, places, witness.inputs)
    is_single = single_precision(prop, places)
    numbers = _tolerances(prop, replayed, Outputs.REPLAYED, is_single)
    is_output = prop.slots(is_input=False)
    if len(witness.outputs) == is_output.sum():
        claimed = replayed.copy()
        claimed[is_output] = witness.outputs
        numbers |= _tolerances(prop, claimed, Outputs.CLAIMED, is_single)
        numbers |= _differences(witness.outputs, replayed[is_output])
    return numbers


def _differences(claimed: Floats, replayed: Floats) -> dict[str, float]:
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(replayed - claimed)
    largest = float(np.where(np.isnan(distance), INF, distance).max(initial=0.0))
    norm = float(np.abs(claimed).max(initial=0.0))
    relative = largest / norm if norm >= SMALLEST_NORM else 0.0 if largest < INF else INF
    return {"max_abs_diff": largest, "max_rel_diff": relative}


def _tolerances(
    prop: Property, values: Floats, outputs: Outputs, is_single: NDArray[np.bool_]
) -> dict[str, float]:
    numbers, own = {}, prop.compares_inputs
    for bounds in Bounds:
        each = excesses(prop, values, bounds=bounds, is_single=is_single)
        over = np.where(own, each, -INF)
        exact = np.where(prop.is_input, each, np.where(each <= 0, -INF, INF))
        inputs, need, on_inputs = combine(prop, np.stack([over, each, exact]))
        granted = np.where(each <= max(TOLERANCE, inputs), -INF, INF)
        numbers[needs(outputs, bounds)] = float(need)
        only_outputs = np.where(own, granted, each)
        numbers[margin(outputs, bounds)] = float(combine(prop, only_outputs))
        if outputs is Outputs.REPLAYED:
            numbers[needs_on_inputs(bounds)] = float(on_inputs)
            numbers[excess(bounds)] = max(float(inputs), 0.0)
            numbers |= _relative(prop, over, excess(bounds, is_relative=True))
    return numbers


def _relative(prop: Property, over: Floats, name: str) -> dict[str, float]:
    """Measure the excess of the inputs over their bounds relative to the widths of their boxes.

    Nothing where an input is out of a box that has no width: one with a single end.
    """
    is_over = over > 0
    if (is_over & np.isinf(prop.widths)).any():
        return {}
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(is_over, over / prop.widths, np.where(over > -INF, 0.0, -INF))
    return {name: max(float(combine(prop, relative)), 0.0)}


def _serve() -> None:
    """Answer every task with a line; nothing else may get in between."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints goes to standard error
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    library = Library()
    while True:
        for content in json.loads(lines.get()):
            networks = tuple((name, path) for name, path in content.pop("networks"))
            answers.write(measure(Task(networks=networks, **content), library).as_text() + "\n")
            answers.flush()
        library.forget_large()


def _listen(lines: "queue.SimpleQueue[str]") -> None:
    """Pass lines on; end the process when there is nobody left to answer."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


if __name__ == "__main__":
    _serve()
