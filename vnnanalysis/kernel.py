"""What only matters inside a Jupyter kernel."""

import ast
from typing import Any

from IPython.core.getipython import get_ipython

from vnnanalysis.errors import check_known

INJECTED = "# Parameters\n"  # how papermill begins the cell it injects


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
