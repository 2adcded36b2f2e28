"""What networks are made of: operators, parameters, inputs and outputs, read with onnx.

Shapes are enough for all of it, so that weights are not looked at, and files with external
data are counted without them.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import onnx
import pandas as pd

from vnnanalysis.editions import Edition
from vnnanalysis.errors import RawDataError
from vnnanalysis.layouts import networks_of_text
from vnnanalysis.limits import benchmark_folders
from vnnanalysis.measured_cache import Store, default_place, digests
from vnnanalysis.texts import LFS_POINTER, read_bytes

SCHEMA = 1  # raise it when the same file gives other facts
NOT_HERE = "not here"
COLUMNS = ["benchmark", "files", "networks_read", "operators", "parameters_min",
           "parameters_max", "inputs", "outputs", "gaps"]  # fmt: skip

_FLOATS = frozenset(
    number
    for name, number in onnx.TensorProto.DataType.items()
    if name.startswith(("FLOAT", "BFLOAT", "DOUBLE"))
)
# Operators whose constants are settings or scale the input, and no weights.
_SETTINGS = frozenset({
    "Clip", "ConstantOfShape", "Div", "Dropout", "Equal", "Greater", "GreaterOrEqual", "Less",
    "LessOrEqual", "Max", "Min", "Mod", "OneHot", "Pad", "Pow", "Range", "Resize", "Sub",
    "Upsample", "Where",
})  # fmt: skip
# Where layers take their weights and biases.
_WEIGHTS = {
    **dict.fromkeys(("Conv", "ConvTranspose", "Gemm"), (1, 2)),
    **dict.fromkeys(("InstanceNormalization", "LayerNormalization"), (1, 2)),
    **dict.fromkeys(("MatMul", "PRelu"), (1,)),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), (1, 2, 3)),
    "BatchNormalization": (1, 2, 3, 4),
}


@dataclass(frozen=True)
class NetworkFacts:
    """What a network is made of.

    Attributes
    ----------
    operators : tuple of str
        The types of all its nodes, sorted; also of those in graphs within nodes and in the
        network's own functions, and of those that only reshape or are constants.
    parameters : int or None
        Elements of its weights, see `network_facts`.
    inputs, outputs : int or None
        How many elements it takes and gives. A first dimension that is not fixed counts as 1;
        None if another is not fixed, or no shape is given.
    problem : str
        Why nothing of this is known, or empty.
    """

    operators: tuple[str, ...] = ()
    parameters: int | None = None
    inputs: int | None = None
    outputs: int | None = None
    problem: str = ""

    def as_text(self) -> str:
        """Return it as JSON, on one line."""
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> "NetworkFacts":
        """Read what `as_text` wrote.

        Raises
        ------
        ValueError
            If it is something else.
        """
        content = json.loads(text)
        if not isinstance(content, dict) or content.keys() != asdict(cls()).keys():
            raise ValueError(f"no facts of a network: {text[:80]}")
        names, counts = content["operators"], ("parameters", "inputs", "outputs")
        is_text = [isinstance(value, str) for value in (*names, content["problem"])]
        is_count = [content[c] is None or type(content[c]) is int for c in counts]
        if not isinstance(names, list) or not all(is_text + is_count):
            raise ValueError(f"no facts of a network: {text[:80]}")
        return cls(**(content | {"operators": tuple(names)}))


def network_facts(path: Path) -> NetworkFacts:
    """Read what a network is made of; a file that cannot be read has a `problem`.

    A parameter is an element of a floating-point tensor that stands in the file as an
    initialiser, whoever reads it, but for operators whose constants are settings (``Clip``,
    ``Resize``, ...) or shift and scale the input (``Sub``, ``Div``); or as a ``Constant`` that
    a layer takes as weights or bias (``Conv``, ``Gemm``, the second factor of ``MatMul``, ...).
    A tensor that several nodes share counts once, one that nobody reads does not; mean and
    variance of a batch normalisation count, quantised weights (integers) do not. ACAS Xu has
    13,305: its file's mean image of 5 pixels, which ``Sub`` takes, is none.

    Parameters
    ----------
    path : Path
        An ``.onnx`` or ``.onnx.gz`` file.
    """
    try:
        content = read_bytes(path)
        return _facts(content)
    except RawDataError:
        return NetworkFacts(problem="damaged gzip files")
    except (OSError, MemoryError):
        return NetworkFacts(problem="cannot be read")


def _facts(content: bytes) -> NetworkFacts:
    if content.startswith(LFS_POINTER):
        return NetworkFacts(problem="git-lfs pointers")
    try:
        made = onnx.load_model_from_string(content)
    except Exception:  # protobuf's own, which onnx does not name
        return NetworkFacts(problem="no ONNX files")
    if not made.graph.node and not made.graph.output:
        return NetworkFacts(problem="no ONNX files")
    scopes = [_with_inner(top) for top in (made.graph, *made.functions)]
    own = {function.name for function in made.functions}
    operators = {node.op_type for scope in scopes for node in _nodes(scope)} - own
    constant = {tensor.name for tensor in made.graph.initializer}
    return NetworkFacts(
        operators=tuple(sorted(operators)),
        parameters=sum(map(_n_parameters, scopes)),
        inputs=_n_values([v for v in made.graph.input if v.name not in constant]),
        outputs=_n_values(made.graph.output),
    )


def _with_inner(top: Any) -> list[Any]:
    """Return a graph or function with the graphs within its nodes, which share its names."""
    graphs = [top]
    for graph in graphs:  # which grows
        for node in graph.node:
            for attribute in node.attribute:
                graphs += [attribute.g] if attribute.HasField("g") else []
                graphs += attribute.graphs
    return graphs


def _nodes(graphs: Iterable[Any]) -> Iterator[onnx.NodeProto]:
    for graph in graphs:
        yield from graph.node


def _n_parameters(graphs: Sequence[Any]) -> int:
    """Count the parameters of graphs that share their names; see `network_facts`."""
    tensors = [t for graph in graphs for t in getattr(graph, "initializer", ())]
    sparse = [t for graph in graphs for t in getattr(graph, "sparse_initializer", ())]
    tensors += [tensor.values for tensor in sparse]  # noqa: PD011 (a field of protobuf)
    initial = {t.name: math.prod(t.dims) for t in tensors if t.data_type in _FLOATS}
    coded = {
        node.output[0]: math.prod(attribute.t.dims)
        for node in _nodes(graphs)
        for attribute in node.attribute
        if node.op_type == "Constant" and attribute.t.data_type in _FLOATS
    }
    counted = {}
    for node in _nodes(graphs):
        for position, name in enumerate(node.input):
            if name in initial and node.op_type not in _SETTINGS:
                counted[name] = initial[name]
            elif name in coded and position in _WEIGHTS.get(node.op_type, ()):
                counted[name] = coded[name]
    return sum(counted.values())


def _n_values(values: Iterable[onnx.ValueInfoProto]) -> int | None:
    sizes = [_n_elements(value.type) for value in values]
    return None if None in sizes or not sizes else sum(size or 0 for size in sizes)


def _n_elements(kind: onnx.TypeProto) -> int | None:
    if not kind.HasField("tensor_type") or not kind.tensor_type.HasField("shape"):
        return None
    first, *others = [d.dim_value for d in kind.tensor_type.shape.dim] or [1]
    return None if not all(others) else math.prod([first or 1, *others])


def benchmark_facts(
    runs: pd.DataFrame, edition: Edition, folder: Path | None, *, store: Store | None = None
) -> pd.DataFrame:
    """Say what the networks of every benchmark are made of, as far as they are at hand.

    Facts are kept by the content of the file, since some unpack to hundreds of megabytes.

    Parameters
    ----------
    runs : DataFrame
        Requires benchmark, category, benchmark_year, vnnlib_version, network, tool and
        is_test.
    edition : Edition
        For the order of the benchmarks, and the repository of their files.
    folder : Path or None
        The benchmark repository, or a folder of several; see `load.benchmark_folder`.
    store : Store, optional
        Where facts are kept; the user's own by default.

    Returns
    -------
    DataFrame
        Columns `COLUMNS`, one row per benchmark in the edition's order: the network files
        that the runs name (0 where they name none) and how many of them could be read; of
        these, all operators ("Add, MatMul, Relu"), the least and the greatest number of
        parameters, and the elements of input and output ("5", or "784 to 3,072"). What is not
        known is missing, and `gaps` says why ("3 not here, 1 git-lfs pointers").
    """
    files = _network_files(runs, edition, folder)
    facts = _read({path for paths in files.values() for path in paths if path}, store)
    absent = NetworkFacts(problem=NOT_HERE)
    rows = [
        [benchmark, *_summary([facts[path] if path else absent for path in files[benchmark]])]
        for benchmark in edition.benchmarks
        if benchmark in files
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    texts = dict.fromkeys(("benchmark", "operators", "inputs", "outputs", "gaps"), "str")
    counts = dict.fromkeys(("parameters_min", "parameters_max"), "Int64")
    return table.astype(texts | counts | {"files": "int64", "networks_read": "int64"})


def _network_files(
    runs: pd.DataFrame, edition: Edition, folder: Path | None
) -> dict[str, list[Path | None]]:
    """Return every benchmark's network files; None for one that is not here."""
    real = runs[~runs["is_test"] & ~runs["tool"].isin(edition.extra_tools)]
    files: dict[str, list[Path | None]] = {b: [] for b in dict.fromkeys(real["benchmark"])}
    if edition.layout is None or edition.layout.kind != "competition":
        return files  # whose rows name instances, but no files
    keys = ["benchmark", "benchmark_year", "category", "vnnlib_version", "network"]
    for row in real[keys].drop_duplicates().itertuples():
        year = row.benchmark_year
        yearly = f"vnncomp{year}_benchmarks" if year else edition.benchmark_files.name
        for _, path in networks_of_text(row.network):
            place = folder and _find(folder, (yearly, row.category, row.vnnlib_version), path)
            files[row.benchmark].append(place or None)
    return files


def _find(folder: Path, where: tuple[str, str, str], path: str) -> Path | None:
    for place in benchmark_folders(folder, *where):
        for file in (place / path, place / f"{path}.gz"):
            with suppress(OSError):  # in a folder that may not be read
                if file.is_file():
                    return file
    return None


def _read(paths: Iterable[Path], store: Store | None) -> dict[Path, NetworkFacts]:
    """Return the facts of every file, known or new; equal files are read once."""
    content = digests(map(str, sorted(paths)))
    keys = {Path(name): _key(name, digest) for name, digest in content.items()}
    store = store or Store(default_place() if keys else None, "networks")
    known = {}
    for key, text in store.texts(keys.values()).items():
        with suppress(ValueError, TypeError):  # read again, and replaced
            known[key] = NetworkFacts.of_text(text)
    new: dict[str, NetworkFacts] = {}
    for path, key in keys.items():
        if key not in known and key not in new:
            new[key] = network_facts(path)
    lasting = {k: f.as_text() for k, f in new.items() if f.problem != "cannot be read"}
    store.keep(lasting)
    found = known | new
    return {p: found[keys[p]] if p in keys else NetworkFacts(problem="cannot be read")
            for p in paths}  # fmt: skip


def _key(name: str, digest: str) -> str:
    parts = [SCHEMA, onnx.__version__, digest, name.rpartition(".")[2]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _summary(facts: Sequence[NetworkFacts]) -> list[object]:
    """Return a row of `benchmark_facts`, without the benchmark."""
    read = [f for f in facts if not f.problem]
    sizes = [f.parameters for f in read if f.parameters is not None]
    operators = sorted({name for f in read for name in f.operators})
    problems = Counter(f.problem for f in facts if f.problem)
    gaps = [f"{count} {problem}" for problem, count in sorted(problems.items())]
    inputs, outputs = ([getattr(f, end) for f in read] for end in ("inputs", "outputs"))
    return [len(facts), len(read), ", ".join(operators) or None, min(sizes, default=None),
            max(sizes, default=None), span(inputs), span(outputs), ", ".join(gaps)]  # fmt: skip


def span(values: Iterable[float | None]) -> str | None:
    """Write the least and the greatest of some numbers; missing ones are left out.

    Examples
    --------
    >>> span([3072, 784, 784]), span([116.0]), span([0.5, None, 300.0]), span([None])
    ('784 to 3,072', '116', '0.5 to 300', None)
    """
    known = [value for value in values if value is not None and value == value]
    ends = dict.fromkeys(f"{value:,.12g}" for value in (min(known), max(known))) if known else {}
    return " to ".join(ends) or None
