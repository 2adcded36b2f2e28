"""One counterexample to measure, what is measured of it, and what the result depends on."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from importlib.metadata import version

from vnnanalysis.terms import Bounds, Outputs

SCHEMA = 1  # raise it when a measurement comes out otherwise for the same files
PROVIDER = "CPUExecutionProvider"
ENGINE = f"onnxruntime {version('onnxruntime')}, {PROVIDER}, 1 thread, all optimisations"

INF = float("inf")


class Status(StrEnum):
    """How far the measurement of a counterexample came."""

    MEASURED = "measured"
    NO_CE = "no_ce"  # none was given
    MALFORMED = "malformed"
    WRONG_SHAPE = "wrong_shape"
    UNSUPPORTED = "unsupported"  # the network or the property cannot be used
    NOT_AVAILABLE = "not_available"  # a file is absent here


def _ending(path: str) -> str:
    """Return what says whether a file is packed."""
    return path.rpartition(".")[2]


@dataclass(frozen=True)
class Task:
    """The files of one counterexample.

    Attributes
    ----------
    witness, prop : str
        Paths; the witness may be empty if there is none.
    networks : tuple of (str, str)
        Names (empty for a single network) and paths.
    version : str
        Of VNN-LIB, as the results say; may be empty.
    absent : str
        What is not here, and therefore was not measured, or empty.
    status : Status
        What is known without looking into the files; ``measured`` if that is to be found out.
    """

    witness: str
    networks: tuple[tuple[str, str], ...]
    prop: str
    version: str = ""
    absent: str = ""
    status: Status = Status.MEASURED

    @property
    def files(self) -> list[str]:
        """Every file that is read."""
        return [path for path in (self.witness, self.prop, *(p for _, p in self.networks)) if path]

    def key(self, digests: dict[str, str]) -> str:
        """Return what a measurement depends on: contents, engine and our own schema."""
        networks = [(name, digests.get(path, ""), _ending(path)) for name, path in self.networks]
        own = [(digests.get(path, ""), _ending(path)) for path in (self.witness, self.prop)]
        parts = [SCHEMA, ENGINE, self.version, self.absent, *own, networks]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def needs(outputs: Outputs, bounds: Bounds) -> str:
    """Name the measured tolerance, on inputs and outputs alike, that accepts a witness."""
    return f"need_{_side(outputs)}_{bounds}".replace("-", "_")


def needs_on_inputs(bounds: Bounds) -> str:
    """Name the measured tolerance on inputs that accepts a witness with exact outputs."""
    return f"need_inputs_{bounds}".replace("-", "_")


def margin(outputs: Outputs, bounds: Bounds) -> str:
    """Name the measured tolerance on outputs that accepts a witness, its inputs granted."""
    return f"margin_{_side(outputs)}_{bounds}".replace("-", "_")


def excess(bounds: Bounds, *, is_relative: bool = False) -> str:
    """Name the measured excess of the inputs over their bounds."""
    return f"excess{'_rel' * is_relative}_{bounds}".replace("-", "_")


def _side(outputs: Outputs) -> str:
    return "replayed" if outputs is Outputs.REPLAYED else "claimed"


NUMBERS = (
    "max_abs_diff",
    "max_rel_diff",
    *(name(o, b) for name in (needs, margin) for o in (Outputs.CLAIMED, Outputs.REPLAYED)
      for b in Bounds),
    *(needs_on_inputs(b) for b in Bounds),
    *(excess(b, is_relative=r) for b in Bounds for r in (False, True)),
)  # fmt: skip


_OF_EVERY_ONE = tuple(
    n for n in NUMBERS if not n.startswith("max_") and "claimed" not in n and "_rel_" not in n
)


@dataclass
class Measurement:
    """What was measured of one counterexample; no rule has been applied.

    Attributes
    ----------
    status : Status
        How far it came.
    reason : str
        What went wrong, with its place; or what was repaired.
    numbers : dict of str to float
        By the names in `NUMBERS`; those that could not be measured are missing.
    discontinuous : str
        Operators of the network whose output can jump.
    is_lasting : bool
        Whether the same files give the same result again.
    """

    status: Status
    reason: str = ""
    numbers: dict[str, float] = field(default_factory=dict)
    discontinuous: str = ""
    is_lasting: bool = True

    def as_text(self) -> str:
        """Return it as JSON, on one line."""
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> "Measurement":
        """Read what `as_text` wrote.

        Raises
        ------
        ValueError
            If it is something else.
        """
        content = json.loads(text)
        kinds = {"status": str, "reason": str, "numbers": dict, "discontinuous": str,
                 "is_lasting": bool}  # fmt: skip
        is_whole = isinstance(content, dict) and content.keys() == kinds.keys()
        if not is_whole or not all(isinstance(content[n], kind) for n, kind in kinds.items()):
            raise ValueError(f"no measurement: {text[:80]}")
        numbers = content["numbers"]
        expected = set(_OF_EVERY_ONE) if content["status"] == Status.MEASURED else set()
        is_number = [type(v) in (int, float) and v == v for v in numbers.values()]
        if not expected <= numbers.keys() <= set(NUMBERS) or not all(is_number):
            raise ValueError(f"no numbers of a measurement: {text[:80]}")
        return cls(**(content | {"status": Status(content["status"])}))
