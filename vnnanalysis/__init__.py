"""Regenerate and question the rankings of the neural-network verification competition."""

__version__ = "0.1.0"
