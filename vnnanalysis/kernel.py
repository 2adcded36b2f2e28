"""What only matters inside a Jupyter kernel."""

from collections.abc import Iterable
from typing import Any

from IPython.core.getipython import get_ipython

from vnnanalysis.errors import check_known

INJECTED = "# Parameters\n"  # how papermill begins the cell it injects


def check_injected(parameters: Iterable[str]) -> None:
    """Refuse parameters that papermill injected although no notebook has them.

    The plain ``papermill`` command only warns of a misspelt name and runs on with the
    default (papermill issue 667). Inside a kernel the injected cell stands in the input
    history, so that the misspelling can be refused here. Outside a kernel nothing happens.

    Parameters
    ----------
    parameters : iterable of str
        The names that a notebook declares.

    Raises
    ------
    UsageError
        Naming an injected parameter that does not exist, and the nearest that does.
    """
    shell: Any = get_ipython()
    if shell is None:
        return
    for cell in shell.user_ns.get("In", []):
        if cell.startswith(INJECTED):
            names = [line.partition(" = ")[0] for line in cell.splitlines() if " = " in line]
            check_known("notebook parameter", filter(str.isidentifier, names), parameters)
