"""Networks and their outputs: the only module that imports onnx and onnxruntime."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from vnnanalysis.errors import VnnAnalysisError
from vnnanalysis.formula import Property, Variable
from vnnanalysis.tasks import PROVIDER

# Operators whose output can jump: a rounding difference before them is not one after them.
DISCONTINUOUS = frozenset({
    "ArgMax", "ArgMin", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "CastLike", "Ceil",
    "DynamicQuantizeLinear", "Equal", "Floor", "Greater", "GreaterOrEqual", "Hardmax", "Less",
    "LessOrEqual", "Mod", "NonMaxSuppression", "NonZero", "QuantizeLinear", "Round", "RoiAlign",
    "Shrink", "Sign", "ThresholdedRelu", "TopK", "Unique",
})  # fmt: skip

_DTYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64}
_DECLARED = {"float32": "tensor(float)", "float64": "tensor(double)"}
_INTEGERS = (onnx.TensorProto.BOOL, *range(onnx.TensorProto.UINT8, onnx.TensorProto.STRING),
             onnx.TensorProto.UINT32, onnx.TensorProto.UINT64)  # fmt: skip


class ReplayError(VnnAnalysisError):
    """A network that cannot be loaded or run, or that does not fit its property."""


class NotANetworkError(ReplayError):
    """A file that is no ONNX file at all."""


class Value(NamedTuple):
    """An input or output of a network; a dimension that is not fixed is 0."""

    name: str
    type: str
    dimensions: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape; dimensions that are not fixed count as 1."""
        return tuple(d or 1 for d in self.dimensions)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Tell whether a tensor has the fixed dimensions, and as many."""
        if len(shape) != len(self.dimensions):
            return False
        return all(d in (0, n) for d, n in zip(self.dimensions, shape, strict=True))


class Model:
    """A network ready to run: one thread, the CPU, onnxruntime's default optimisations.

    Parameters
    ----------
    content : bytes
        The content of an ``.onnx`` file.

    Attributes
    ----------
    inputs, outputs : tuple of Value
        What the network takes and gives; initialisers are no inputs.
    discontinuous : tuple of str
        Its operators whose output can jump, sorted.

    Raises
    ------
    NotANetworkError
        If it is no ONNX file.
    ReplayError
        If onnxruntime does not load it.
    """

    def __init__(self, content: bytes) -> None:
        self.discontinuous = _jumps(content)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        try:
            session = onnxruntime.InferenceSession(content, options, providers=[PROVIDER])
        except Exception as error:  # the engine's exceptions have no common base
            raise ReplayError(f"the network cannot be loaded: {_short(error)}") from None
        self._session = session
        self.inputs = tuple(_value(node) for node in session.get_inputs())
        self.outputs = tuple(_value(node) for node in session.get_outputs())

    def run(self, values: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
        """Return the outputs for some inputs, flat in C order.

        Parameters
        ----------
        values : mapping of str to ndarray
            For each input, an array of its shape.

        Raises
        ------
        ReplayError
            If onnxruntime fails, or gives something that is no number.
        """
        with np.errstate(over="ignore"):
            feeds = {n.name: values[n.name].astype(_DTYPES[n.type]) for n in self.inputs}
        names = [node.name for node in self.outputs]
        try:
            found = self._session.run(names, feeds)
        except Exception as error:
            raise ReplayError(f"the network cannot be run: {_short(error)}") from None
        for name, output in zip(names, found, strict=True):
            if not isinstance(output, np.ndarray) or output.dtype.kind not in "fiub":
                raise ReplayError(f"the network's output {name!r} is no tensor of numbers")
        return {n: o.astype(np.float64).ravel() for n, o in zip(names, found, strict=True)}


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _value(node: Any) -> Value:
    fixed = tuple(d if isinstance(d, int) and d > 0 else 0 for d in node.shape)
    return Value(node.name, node.type, fixed)


def _jumps(content: bytes) -> tuple[str, ...]:
    """Return the operators whose output can jump; what was read for that is freed at once."""
    try:
        made = onnx.load_model_from_string(content)
    except Exception as error:  # protobuf's own, which onnx does not name
        raise NotANetworkError(f"expected an ONNX file ({_short(error)})") from None
    if not made.graph.node and not made.graph.output:
        raise NotANetworkError("expected an ONNX file, found one without a graph")
    nodes = _nodes([made.graph, *made.functions])
    return tuple(sorted({node.op_type for node in nodes if _can_jump(node)}))


def _nodes(graphs: list[Any]) -> Iterable[onnx.NodeProto]:
    """Yield all nodes of graphs and functions, also those of graphs within nodes."""
    while graphs:
        for node in graphs.pop().node:
            yield node
            for attribute in node.attribute:
                graphs += [attribute.g, *attribute.graphs]


def _can_jump(node: onnx.NodeProto) -> bool:
    if node.op_type != "Cast":
        return node.op_type in DISCONTINUOUS
    return any(a.name == "to" and a.i in _INTEGERS for a in node.attribute)


class Places(NamedTuple):
    """Where a network's inputs and outputs stand in an assignment, and the inputs' shapes."""

    model: Model
    slots: dict[str, slice]
    shapes: dict[str, tuple[int, ...]]


def place(prop: Property, models: Mapping[str, Model]) -> list[Places]:
    """Match the variables of a property with the inputs and outputs of its networks.

    Parameters
    ----------
    prop : Property
        The property.
    models : mapping of str to Model
        By the name of each network that the property declares.

    Returns
    -------
    list of Places

    Raises
    ------
    ReplayError
        If they do not fit: in number, in size, or in element type.
    """
    return [_place(prop, network.name, models[network.name]) for network in prop.networks]


def _place(prop: Property, network: str, model: Model) -> Places:
    slots: dict[str, slice] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for is_input, nodes in ((True, model.inputs), (False, model.outputs)):
        what = "input" if is_input else "output"
        own = [v for v in prop.variables if (v.network, v.is_input) == (network, is_input)]
        if len(own) != len(nodes):
            told = f"the network has {len(nodes)} {what}s, the property declares {len(own)}"
            raise ReplayError(told)
        for position, variable in enumerate(own):
            node = _node(variable, nodes, position, what)
            if node.name in slots:
                raise ReplayError(f"two variables of the property are the {what} {node.name!r}")
            slots[node.name] = variable.slots
            if is_input:
                shapes[node.name] = _shape(node, variable, prop.version)
    return Places(model, slots, shapes)


def _shape(node: Value, variable: Variable, version: str) -> tuple[int, ...]:
    """Return the shape in which a variable is fed to a network."""
    if version == "2.0" and node.takes(variable.shape):
        return variable.shape
    if node.size != variable.size:
        told = f"{variable.name} has {variable.size} elements, the network's {node.name!r} takes "
        raise ReplayError(told + str(node.size))
    return node.shape


def _node(variable: Variable, nodes: tuple[Value, ...], position: int, what: str) -> Value:
    """Return the node of a variable: the one it names, or the one at its position."""
    named = [node for node in nodes if node.name == variable.onnx_name]
    if variable.onnx_name and not named:
        raise ReplayError(f"the network has no {what} {variable.onnx_name!r}")
    node = named[0] if named else nodes[position]
    if what == "input" and node.type not in _DTYPES:
        raise ReplayError(f"the network's input {node.name!r} has element type {node.type}")
    declared = _DECLARED.get(variable.kind, node.type)
    if node.type != declared:
        told = f"{variable.name} is declared {variable.kind}, the network's {node.name!r} is "
        raise ReplayError(told + node.type)
    return node


def replay(
    prop: Property, places: list[Places], inputs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return an assignment with the outputs that the networks give for its inputs.

    Parameters
    ----------
    prop : Property
        The property.
    places : list of Places
        From `place`.
    inputs : ndarray, shape (n_inputs,)
        All inputs, in the order of the property's variables.

    Returns
    -------
    ndarray, shape (n_values,)

    Raises
    ------
    ReplayError
        If a network cannot be run, or gives another number of outputs than declared.
    """
    values = np.full(prop.n_values, np.nan)
    values[prop.slots(is_input=True)] = inputs
    for model, slots, shapes in places:
        found = model.run({name: values[slots[name]].reshape(shapes[name]) for name in shapes})
        for name, outputs in found.items():
            wanted = slots[name].stop - slots[name].start
            if len(outputs) != wanted:
                told = f"the network gives {len(outputs)} outputs, the property declares {wanted}"
                raise ReplayError(told)
            values[slots[name]] = outputs
    return values


def single_precision(prop: Property, places: list[Places]) -> NDArray[np.bool_]:
    """Mark the values of an assignment whose element type is float32."""
    is_single = np.zeros(prop.n_values, dtype=bool)
    for model, slots, _ in places:
        for node in (*model.inputs, *model.outputs):
            is_single[slots[node.name]] = node.type == "tensor(float)"
    return is_single
