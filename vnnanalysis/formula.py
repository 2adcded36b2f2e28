"""A property as flat arrays.

A property says what a counterexample must satisfy: the conjunction of its assertions, each a
nest of ``and``, ``or`` and comparisons. It keeps that shape: nothing is expanded.
"""

import math
import operator
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

COMPARISONS = ("<=", "<", "=", "!=", ">=", ">")  # the last two are turned into the first two
AND, OR, ATOM = 0, 1, 2  # kinds of a node
_ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
LESS, EQUAL, DIFFERENT, _TURNED = 1, 2, 3, 4


@dataclass(frozen=True)
class Variable:
    """A tensor that a property declares, and its place among all values.

    Attributes
    ----------
    name, network : str
        Its name and that of its network (empty in VNN-LIB 1.0).
    is_input : bool
        Whether it is an input.
    kind : str
        Element type as declared: ``float32``, ``float64``, ``real`` (the network's own), or
        another one, with which the property is unsupported.
    shape : tuple of int
        Its shape.
    start : int
        Where its values begin in an assignment; they follow in C order.
    onnx_name : str
        The node of the network, where the property names one.
    """

    name: str
    network: str
    is_input: bool
    kind: str
    shape: tuple[int, ...]
    start: int
    onnx_name: str = ""

    @property
    def size(self) -> int:
        """How many values it has."""
        return math.prod(self.shape)

    @property
    def slots(self) -> slice:
        """Its place in an assignment."""
        return slice(self.start, self.start + self.size)


@dataclass(frozen=True)
class Network:
    """A network that a property declares; ``equal_to`` names the one whose file it shares."""

    name: str
    equal_to: str = ""


@dataclass(frozen=True)
class Atoms:
    """Comparisons as arrays, one element each.

    An operand is a variable's place, a place behind all variables (an expression), or -1 for
    the constant beside it.
    """

    comparison: NDArray[np.int8]  # index into COMPARISONS, at most that of !=
    left: NDArray[np.int32]
    left_constant: Floats
    right: NDArray[np.int32]
    right_constant: Floats

    def __len__(self) -> int:
        return len(self.comparison)

    @classmethod
    def of(
        cls,
        comparison: NDArray[np.int8],
        left: tuple[NDArray[np.int32], Floats],
        right: tuple[NDArray[np.int32], Floats],
    ) -> "Atoms":
        """Make them of indices into `COMPARISONS` and of places and constants of two sides."""
        is_turned = comparison >= _TURNED
        places = [np.where(is_turned, a[0], b[0]) for a, b in ((right, left), (left, right))]
        constants = [np.where(is_turned, a[1], b[1]) for a, b in ((right, left), (left, right))]
        turned = np.where(is_turned, comparison - _TURNED, comparison).astype(np.int8)
        return cls(turned, places[0].astype(np.int32), constants[0],
                   places[1].astype(np.int32), constants[1])  # fmt: skip


@dataclass(frozen=True)
class Nodes:
    """The nest of a property in the order of its text, one element per node.

    ``depth`` counts from 1, for what an ``assert`` holds.
    """

    kind: NDArray[np.int8]
    depth: NDArray[np.int32]


@dataclass(frozen=True)
class Expression:
    """A sum, difference or product: operator, and its operands' places and constants."""

    operator: str
    places: tuple[int, ...]
    constants: tuple[float, ...]

    def value(self, values: Floats) -> float:
        """Return the value; operands are taken from left to right."""
        operands = [
            values[p] if p >= 0 else c for p, c in zip(self.places, self.constants, strict=True)
        ]
        if self.operator == "-" and len(operands) == 1:
            return -operands[0]
        return reduce(_ARITHMETIC[self.operator], operands)  # sum() differs with Python's version


@dataclass(frozen=True)
class Level:
    """The nodes of one depth: which are comparisons, and where the others' children begin."""

    is_atom: NDArray[np.bool_]
    atoms: NDArray[np.intp]  # indices of the comparisons
    children: NDArray[np.intp]  # of the others: first child in the next level
    is_and: NDArray[np.bool_]  # of the others


@dataclass(frozen=True)
class Property:
    """What a counterexample must satisfy.

    Attributes
    ----------
    version : str
        ``1.0`` or ``2.0``, of VNN-LIB.
    networks : tuple of Network
        Those declared; a single one without a name in version 1.0.
    variables : tuple of Variable
        Those declared, in order.
    atoms : Atoms
        All comparisons, in order.
    assertion : ndarray of int
        The assertion that each comparison belongs to, from 0.
    nodes : Nodes
        The nest of all assertions.
    compares_inputs : ndarray of bool
        Whether a comparison has inputs and no outputs.
    is_input : ndarray of bool
        Whether the input tolerance applies to a comparison: in version 1.0 where it compares
        inputs only, in 2.0 where its whole assertion does [1]_.
    levels : tuple of Level
        The same nest by depth.
    expressions : tuple of Expression
        Values behind those of the variables.
    unsupported : str
        Why it cannot be evaluated, or empty.

    References
    ----------
    .. [1] VNN-COMP 2026, scoring of counterexamples.
    """

    version: str
    networks: tuple[Network, ...]
    variables: tuple[Variable, ...]
    atoms: Atoms
    nodes: Nodes
    assertion: NDArray[np.intp]
    compares_inputs: NDArray[np.bool_]
    is_input: NDArray[np.bool_]
    expressions: tuple[Expression, ...]
    levels: tuple[Level, ...]
    unsupported: str = ""

    @property
    def n_values(self) -> int:
        """How many values an assignment has."""
        return sum(variable.size for variable in self.variables)

    def slots(self, *, is_input: bool) -> NDArray[np.bool_]:
        """Mark the places of the inputs, or of the outputs, in an assignment."""
        marked = np.zeros(self.n_values, dtype=bool)
        for variable in self.variables:
            marked[variable.slots] = variable.is_input == is_input
        return marked

    @cached_property
    def widths(self) -> Floats:
        """How wide the box is, in the input that each comparison bounds; inf if it has no end.

        The box is that of the comparison's own ``and``, completed by the bounds that hold
        for all.
        """
        atoms, n_values = self.atoms, self.n_values
        is_upper = (atoms.right < 0) & (atoms.left >= 0) & (atoms.left < n_values)
        is_lower = (atoms.left < 0) & (atoms.right >= 0) & (atoms.right < n_values)
        place = np.where(is_upper, atoms.left, atoms.right).astype(np.int64)
        key = _parents(self.nodes) * n_values + place  # below n_values: bounds that hold for all
        ends = np.full((2, n_values), math.inf)
        keys, group = np.unique(key, return_inverse=True)
        found = np.full((2, len(keys)), math.inf)  # of upper ends, and of negated lower ends
        sides = ((is_upper, atoms.right_constant), (is_lower, -atoms.left_constant))
        for end, whole, (is_end, constant) in zip(found, ends, sides, strict=True):
            np.minimum.at(end, group[is_end], constant[is_end])
            for_all = is_end & (key < n_values)
            np.minimum.at(whole, place[for_all], constant[for_all])
        own = found[:, group]
        own = np.where(np.isinf(own), ends[:, np.minimum(place, n_values - 1)], own)
        return np.where(is_upper | is_lower, own[0] + own[1], math.inf)


def v1_variables(n_inputs: int, n_outputs: int) -> tuple[Variable, Variable]:
    """Return the variables of a VNN-LIB 1.0 property: X and Y."""
    return (
        Variable("X", "", True, "real", (n_inputs,), 0),
        Variable("Y", "", False, "real", (n_outputs,), n_inputs),
    )


def assemble(
    version: str,
    networks: tuple[Network, ...],
    variables: tuple[Variable, ...],
    atoms: Atoms,
    nodes: Nodes,
    expressions: tuple[Expression, ...] = (),
    unsupported: str = "",
) -> Property:
    """Put a property together from what a reader found."""
    assertion = np.cumsum(nodes.depth == 1)[nodes.kind == ATOM] - 1
    has_input, has_output = _variables_of(variables, atoms, expressions)
    compares_inputs = has_input & ~has_output
    if version == "2.0" and len(atoms):
        first = np.flatnonzero(np.diff(assertion, prepend=-1))
        has_input = np.logical_or.reduceat(has_input, first)[assertion]
        has_output = np.logical_or.reduceat(has_output, first)[assertion]
    return Property(version, networks, variables, atoms, nodes, assertion, compares_inputs,
                    has_input & ~has_output, expressions, _levels(nodes), unsupported)  # fmt: skip


def _variables_of(
    variables: tuple[Variable, ...], atoms: Atoms, expressions: tuple[Expression, ...]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Mark the comparisons that have inputs, and those that have outputs."""
    n_values = sum(variable.size for variable in variables)
    has = np.zeros((2, n_values + len(expressions) + 1), dtype=bool)  # the last for constants
    for variable in variables:
        has[0 if variable.is_input else 1, variable.slots] = True
    for place, expression in enumerate(expressions, n_values):
        has[:, place] = has[:, list(expression.places)].any(axis=1)
    inputs, outputs = has[:, atoms.left] | has[:, atoms.right]
    return inputs, outputs


def _levels(nodes: Nodes) -> tuple[Level, ...]:
    """Sort the nodes by depth; children of one node stay together, in order."""
    nodes = _flattened(nodes)
    order = np.argsort(nodes.depth, kind="stable")
    is_atom = nodes.kind == ATOM
    atom_index = np.cumsum(is_atom) - 1
    ends = np.searchsorted(nodes.depth[order], np.arange(1, nodes.depth.max(initial=0) + 2))
    levels = []
    for here, below, end in zip(ends[:-1], ends[1:], [*ends[2:], len(order)], strict=True):
        own, children = order[here:below], order[below:end]
        inner = own[~is_atom[own]]
        first = np.searchsorted(children, inner)
        levels.append(
            Level(is_atom[own], atom_index[own[is_atom[own]]], first, nodes.kind[inner] == AND)
        )
    return tuple(levels)


_DEEP = 64  # levels; deeper nests are flattened first


def _parents(nodes: Nodes) -> NDArray[np.int64]:
    """Return a number of the node around each comparison; 0 where only an ``assert`` is."""
    order = np.argsort(nodes.depth, kind="stable")
    ends = np.searchsorted(nodes.depth[order], np.arange(1, nodes.depth.max(initial=0) + 2))
    parent = np.zeros(len(nodes.depth), dtype=np.int64)
    for above, here, below in zip(ends[:-2], ends[1:-1], ends[2:], strict=True):
        outer, own = order[above:here], order[here:below]
        parent[own] = outer[np.searchsorted(outer, own) - 1] + 1
    return parent[nodes.kind == ATOM]


def _flattened(nodes: Nodes) -> Nodes:
    """Merge, in a deep nest, an ``and`` into an ``and`` around it, and an ``or`` likewise.

    Those with a single part are merged into whatever is around them.
    """
    if nodes.depth.max(initial=0) <= _DEEP:
        return nodes
    is_single = _have_one_child(nodes)
    kept, depths = [], []
    open_kinds, open_depths = [AND], [0]  # of the nodes around, the conjunction of all first
    for i, (kind, depth) in enumerate(zip(nodes.kind.tolist(), nodes.depth.tolist(), strict=True)):
        del open_kinds[depth:], open_depths[depth:]
        is_merged = kind == open_kinds[-1] or is_single[i]
        new = open_depths[-1] + (not is_merged)
        if not is_merged:
            kept.append(i)
            depths.append(new)
        open_kinds.append(open_kinds[-1] if is_merged else kind)
        open_depths.append(new)
    return Nodes(nodes.kind[kept], np.array(depths, dtype=np.int32))


def _have_one_child(nodes: Nodes) -> list[bool]:
    counts, around = [0] * len(nodes.depth), [-1]
    for i, depth in enumerate(nodes.depth.tolist()):
        del around[depth:]
        if around[-1] >= 0:
            counts[around[-1]] += 1
        around.append(i)
    return [count == 1 for count in counts]
