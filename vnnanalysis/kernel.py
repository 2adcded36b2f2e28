"""What only matters inside a Jupyter kernel."""

import ast
from typing import Any

import pandas as pd
from IPython.core.getipython import get_ipython

from vnnanalysis.errors import check_known

INJECTED = "# Parameters\n"  # how papermill begins the cell it injects


def short_number(value: float) -> str:
    """Write a number with two decimals, or two digits where that would leave less of it.

    Examples
    --------
    >>> [short_number(x) for x in (779.705019, 120.0, 0.25, 0.0074623, 1.2e-7, 0.0)]
    ['779.71', '120.00', '0.25', '0.0075', '1.2e-07', '0.00']
    """
    return f"{value:.2f}" if value == 0 or abs(value) >= 0.1 else f"{value:.2g}"


_SHOWN: dict[str, tuple[Any, Any]] = {  # option of pandas: its default, and ours
    "display.max_columns": (20, None),
    "display.max_colwidth": (50, 80),  # an instance's name in full
    "display.float_format": (None, short_number),
}


def set_display() -> None:
    """Make a kernel show plain frames short and rounded, and plain figures sharp.

    Frames keep their values and figures their size: only what is displayed changes, by the
    options of pandas and of IPython's inline backend, where these still have their defaults.
    Outside a kernel nothing happens.
    """
    shell: Any = get_ipython()
    if getattr(shell, "kernel", None) is None:
        return
    for option, (default, ours) in _SHOWN.items():
        if pd.get_option(option) == default:
            pd.set_option(option, ours)
    # Here, since it shows figures in a kernel as soon as it is imported.
    from matplotlib_inline.config import InlineBackend

    inline = InlineBackend.instance(parent=shell)
    if inline.figure_formats == {"png"}:
        inline.figure_formats = {"retina"}  # twice the pixels


def check_injected() -> None:
    """Refuse parameters that papermill injected although the notebook does not declare them.

    The plain ``papermill`` command only warns of a misspelt name and runs on with the
    default (papermill issue 667). Inside a kernel the injected cell stands in the input
    history, so that the misspelling can be refused here. Outside a kernel nothing happens.

    Raises
    ------
    UsageError
        Naming an injected parameter that does not exist, and the nearest that does.
    """
    shell: Any = get_ipython()
    if shell is None:
        return
    declared: list[str] = []
    for cell in shell.user_ns.get("In", []):
        if cell.startswith(INJECTED):
            check_known("notebook parameter", _assigned(cell), declared)
        declared += _assigned(cell)


def _assigned(cell: str) -> list[str]:
    """Return the names that a cell assigns at its top level."""
    try:
        body = ast.parse(cell).body
    except SyntaxError:  # magics
        return []
    targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    return [target.id for target in targets if isinstance(target, ast.Name)]
