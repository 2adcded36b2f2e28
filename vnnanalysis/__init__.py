"""Regenerate and question the rankings of the neural-network verification competition."""

import sys

__version__ = "0.1.0"

if "ipykernel" in sys.modules:  # a notebook: how frames and figures are shown there
    from vnnanalysis.kernel import set_display

    set_display()
