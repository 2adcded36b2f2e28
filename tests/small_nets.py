"""Small real networks and contests: what the tests on counterexamples are made of."""

import gzip
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save_model

KINDS = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "int64": TensorProto.INT64,
         "float16": TensorProto.FLOAT16, "string": TensorProto.STRING}  # fmt: skip


def model(nodes, inputs, outputs, constants=(), *, listed=False):
    """Return a model; inputs and outputs map names to (kind, shape), constants to arrays.

    ``listed`` puts the constants among the inputs too, as some exporters do.
    """
    values = [
        [helper.make_tensor_value_info(n, KINDS[kind], shape) for n, (kind, shape) in of.items()]
        for of in (inputs, outputs)
    ]
    arrays = dict(constants)
    initializers = [numpy_helper.from_array(np.asarray(a), n) for n, a in arrays.items()]
    if listed:
        values[0] += [helper.make_tensor_value_info(t.name, t.data_type, t.dims)
                      for t in initializers]  # fmt: skip
    graph = helper.make_graph(nodes, "g", *values, initializers)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    made.ir_version = 8
    return made


def linear(weights, bias, *, kind="float32", relu=False, **more):
    """Return y = W x + b, or max(0, ...), over one batch."""
    weights, bias = np.array(weights, dtype=kind), np.array(bias, dtype=kind)
    out = "z" if relu else "y"
    nodes = [helper.make_node("Gemm", ["x", "W", "b"], [out], transB=1)]
    if relu:
        nodes.append(helper.make_node("Relu", ["z"], ["y"]))
    inputs = {"x": (kind, [1, weights.shape[1]])}
    outputs = {"y": (kind, [1, weights.shape[0]])}
    return model(nodes, inputs, outputs, {"W": weights, "b": bias}, **more)


def sign(n=1):
    """Return a network that jumps: y = sign(x)."""
    node = helper.make_node("Sign", ["x"], ["y"])
    return model([node], {"x": ("float32", [1, n])}, {"y": ("float32", [1, n])})


def write_model(path, made):
    """Write a model, packed if the name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(made.SerializeToString(), mtime=0))
    else:
        save_model(made, str(path))
    return path


def write_text(path, text):
    """Write a text (or bytes), packed if the name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    return path


def witness_text(inputs, outputs=()):
    """Return a counterexample in the form of VNN-LIB 1.0, values as given."""
    lines = [f"(X_{i} {v})" for i, v in enumerate(inputs)]
    return "(" + "\n ".join(lines + [f"(Y_{i} {v})" for i, v in enumerate(outputs)]) + ")"


def declared(n_inputs, n_outputs):
    """Return the declarations of a VNN-LIB 1.0 property."""
    names = [f"X_{i}" for i in range(n_inputs)] + [f"Y_{i}" for i in range(n_outputs)]
    return "".join(f"(declare-const {name} Real)\n" for name in names)


class Contest:
    """A contest in the layout of 2023, with benchmark files, below one folder.

    Benchmark ``toy`` has the identity network ``same`` (one input, one output).
    """

    def __init__(self, folder: Path, year: str = "2023") -> None:
        self.year, self.folder = year, folder
        self.results = folder / f"vnncomp{year}_results"
        self.benchmarks = folder / f"vnncomp{year}_benchmarks"
        self.rows: dict[str, list[str]] = {}

    def network(self, name, made, end=".onnx.gz", benchmark="toy"):
        """Add a network to a benchmark."""
        place = self.benchmarks / "benchmarks" / benchmark / "onnx"
        return write_model(place / f"{name}{end}", made)

    def property(self, name, text, end=".vnnlib.gz", benchmark="toy"):
        """Add a property to a benchmark."""
        place = self.benchmarks / "benchmarks" / benchmark / "vnnlib"
        return write_text(place / f"{name}{end}", text)

    def answer(self, tool, network, prop, result="sat", witness=None, benchmark="toy", name=None):
        """Add a row to a tool's results, and a counterexample's file if there is one."""
        base = f"vnncomp{self.year}_benchmarks/benchmarks/{benchmark}"
        row = f"{benchmark},{base}/onnx/{network}.onnx,{base}/vnnlib/{prop}.vnnlib,.1,{result},1.5"
        self.rows.setdefault(tool, []).append(row)
        if witness is not None:
            stem = name or f"{network}_{prop}"
            place = self.results / tool / f"{self.year}_{benchmark}"
            return write_text(place / f"{stem}.counterexample.gz", witness)
        return None

    def edition(self, **rules):
        """Write the results and an edition file; return its path."""
        listed: dict[str, set[str]] = {}
        for tool, rows in self.rows.items():
            write_text(self.results / tool / "results.csv", "\n".join(rows) + "\n")
            for benchmark, network, prop, *_ in (row.split(",") for row in rows):
                base = f"vnncomp{self.year}_benchmarks/benchmarks/{benchmark}/"
                names = (network.removeprefix(base), prop.removeprefix(base))
                listed.setdefault(benchmark, set()).add(f"{names[0]},{names[1]},60\n")
        for benchmark, lines in listed.items():
            place = self.benchmarks / "benchmarks" / benchmark / "instances.csv"
            write_text(place, "".join(sorted(lines)))
        settings = {"conflicts": '"per-tool"', "tolerance": '"zero"', "incorrect_points": "-150"}
        settings |= {"fastest_bonus": "0", "second_bonus": "0", "easy_sat_tool": '""', **rules}
        lines = "".join(f"{name} = {value}\n" for name, value in settings.items())
        path = self.folder / "toy.toml"
        path.write_text(
            f'title = "Toy"\n[source]\nrepository = "o/vnncomp{self.year}_results"\n'
            f'commit = "{"0" * 40}"\n[benchmark_source]\n'
            f'repository = "o/vnncomp{self.year}_benchmarks"\n[layout]\n'
            f'files = ["{{tool}}/results.csv"]\nbenchmark_id = "{{year}}_{{category}}"\n'
            f"[rules]\n{lines}"
        )
        return path
