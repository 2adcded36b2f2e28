"""The organisers' side-cars: a json file beside each counterexample, with its verdict."""

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from vnnanalysis import __version__
from vnnanalysis.errors import UsageError
from vnnanalysis.measured_cache import digests
from vnnanalysis.tasks import PROVIDER, Status
from vnnanalysis.terms import Check
from vnnanalysis.witness_files import CHECKED, Sat

CHECKER = f"vnnanalysis {__version__}"
_CLASSES = {Check.CORRECT: "correct", Check.UP_TO_TOLERANCE: "correct_with_tolerance",
            Check.NO_CE: "missing", Check.MALFORMED: "malformed",
            Check.UNSUPPORTED: "unsupported"}  # fmt: skip


def sidecar_path(witness: Path) -> Path:
    """Return where the side-car of a counterexample lies."""
    return witness.with_name(f"{witness.name.removesuffix('.gz')}{CHECKED}")


def write_sidecars(sats: list[Sat], table: pd.DataFrame) -> int:
    """Write the verdict on every counterexample whose file is here beside it.

    Parameters
    ----------
    sats : list of Sat
        What was validated.
    table : DataFrame
        From `validate.verdict_table`, the same rows.

    Returns
    -------
    int
        How many were written. One that says the same already is left as it is.

    Raises
    ------
    UsageError
        If the folder cannot be written to.
    """
    content = digests(sat.task.witness for sat in sats)
    pairs = [
        (sat, row) for sat, row in zip(sats, table.to_dict("records"), strict=True)
        if sat.task.witness and row["verdict"] != Status.NOT_AVAILABLE
    ]  # fmt: skip
    n_written = 0
    for sat, row in pairs:
        path = sidecar_path(Path(sat.task.witness))
        check = _check(sat, row, content[sat.task.witness])
        text = json.dumps(check, indent=2, sort_keys=True) + "\n"
        try:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
                n_written += 1
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from None
    return n_written


def check_sidecars(sats: list[Sat]) -> None:
    """Refuse to write where another checker has written.

    Raises
    ------
    UsageError
        Naming the first such side-car.
    """
    for sat in sats:
        if sat.task.witness:
            _check_ours(sidecar_path(Path(sat.task.witness)))


def _check_ours(path: Path) -> None:
    if not path.exists():
        return
    try:
        checker = json.loads(path.read_text(encoding="utf-8")).get("checker_version", "")
    except (OSError, ValueError, AttributeError):
        checker = "unknown"
    if not str(checker).startswith("vnnanalysis"):
        raise UsageError(f"{path}: a side-car of another checker ({checker}) is not replaced")


def _check(sat: Sat, row: dict[str, Any], digest: str) -> dict[str, Any]:
    verdict = Check(row["verdict"])
    word = "malformed_ce" if verdict is Check.MALFORMED else str(verdict)
    return {
        "schema_version": 1,
        "checker_version": CHECKER,
        "dependency_versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("onnx", "onnxruntime")},
        },
        "provider": PROVIDER,
        "benchmark": {
            "category": sat.benchmark,
            "version": sat.task.version or None,
            "network_field": sat.network,
            "property_field": sat.property,
        },
        "witness_path": Path(sat.task.witness).name,
        "witness_sha256": digest,
        "result": word,
        "classification": _CLASSES.get(verdict, "incorrect"),
        "establishes_sat": verdict is Check.CORRECT,
        "score_credit": verdict in (Check.CORRECT, Check.UP_TO_TOLERANCE),
        "rationale": row["reason"],
        "rules": {name: row[name] for name in ("outputs", "tolerance", "bounds")},
    }
