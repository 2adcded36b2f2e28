"""By how much an assignment misses a property.

The excess of a comparison is the smallest tolerance that accepts it (not positive where it
holds); that of a conjunction is the largest of its parts, that of a disjunction the smallest.
"""

import math

import numpy as np
from numpy.typing import NDArray

from vnnanalysis.formula import DIFFERENT, EQUAL, LESS, Atoms, Floats, Property
from vnnanalysis.terms import Bounds

TOLERANCE = 1e-4  # on inputs and outputs, in every edition
SMALL_TOLERANCE = 1e-7  # 2025


def combine(prop: Property, excess: Floats) -> Floats:
    """Return the excess of a property from those of its comparisons.

    Parameters
    ----------
    prop : Property
        The property.
    excess : ndarray, shape (..., n_comparisons)
        From `excesses`, or a selection of it with infinities elsewhere; several at once are
        faster than one by one.

    Returns
    -------
    ndarray, shape (...)
        -inf for a property without assertions.
    """
    below: Floats = np.empty((*excess.shape[:-1], 0))
    for level in reversed(prop.levels):
        values = np.empty((*excess.shape[:-1], len(level.is_atom)))
        values[..., level.is_atom] = excess[..., level.atoms]
        if len(level.children):
            largest = np.maximum.reduceat(below, level.children, axis=-1)
            if not level.is_and.all():
                smallest = np.minimum.reduceat(below, level.children, axis=-1)
                largest = np.where(level.is_and, largest, smallest)
            values[..., ~level.is_atom] = largest
        below = values
    return np.asarray(below.max(axis=-1, initial=-math.inf))


def excesses(
    prop: Property,
    values: Floats,
    *,
    bounds: Bounds = Bounds.FLOAT64,
    is_single: NDArray[np.bool_] | None = None,
) -> Floats:
    """Return the smallest tolerance with which each comparison holds.

    Parameters
    ----------
    prop : Property
        The property.
    values : ndarray, shape (n_values,)
        The assignment, in the order of `Property.variables`.
    bounds : Bounds
        Whether inputs and the constants they are compared with are taken as written, or
        rounded to the element type of the network; in version 2.0 also outputs [1]_.
    is_single : ndarray of bool, shape (n_values,), optional
        The values whose element type is float32; needed for ``input-type``.

    Returns
    -------
    ndarray, shape (n_comparisons,)
        Not positive where it holds; just above 0 where a strict comparison is met with
        equality; inf where no tolerance helps (``!=`` of equal values, a value that is nan).

    Raises
    ------
    ValueError
        If ``input-type`` is asked for without element types.

    References
    ----------
    .. [1] VNN-COMP 2026: the organisers' checker compares in the type that NumPy 2 promotes
       to, which is that of the variable.
    """
    atoms, rounded = prop.atoms, np.zeros(prop.n_values + len(prop.expressions) + 1, dtype=bool)
    if bounds is Bounds.INPUT_TYPE:
        if is_single is None:
            raise ValueError("input-type: expected the element types of the values")
        typed = is_single if prop.version == "2.0" else is_single & prop.slots(is_input=True)
        rounded[: prop.n_values] = typed
        values = np.where(typed, _single(values), values)
    known = with_expressions(prop, values)
    left = _operand(known, atoms.left, atoms.left_constant, rounded[atoms.right])
    right = _operand(known, atoms.right, atoms.right_constant, rounded[atoms.left])
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.where(left == right, 0.0, left - right)
    excess = _settled(difference, left, right, atoms, TOLERANCE)
    excess = _settled(excess, left, right, atoms, SMALL_TOLERANCE)
    if atoms.comparison.any():
        distance = np.abs(difference)
        excess = np.select(
            [atoms.comparison == LESS, atoms.comparison == EQUAL, atoms.comparison == DIFFERENT],
            [np.nextafter(excess, np.inf), distance, np.where(distance > 0, -distance, np.inf)],
            excess,
        )
    return np.where(np.isnan(excess), np.inf, excess)


def _settled(excess: Floats, left: Floats, right: Floats, atoms: Atoms, tolerance: float) -> Floats:
    """Let an excess that rounding puts on the wrong side of a tolerance be on the right one.

    The organisers' checkers add the tolerance to the constant, and then compare.
    """
    is_met = np.where(
        atoms.right < 0,
        left <= right + tolerance,
        np.where(atoms.left < 0, right >= left - tolerance, excess <= tolerance),
    )
    excess = np.where(is_met & (excess > tolerance), tolerance, excess)
    return np.where(~is_met & (excess <= tolerance), np.nextafter(tolerance, np.inf), excess)


def _single(values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return values.astype(np.float32).astype(np.float64)


def with_expressions(prop: Property, values: Floats) -> Floats:
    """Return the values, and behind them those of the property's expressions."""
    if not prop.expressions:
        return values
    known = np.empty(len(values) + len(prop.expressions))
    known[: len(values)] = values
    with np.errstate(invalid="ignore", over="ignore"):
        for place, expression in enumerate(prop.expressions, len(values)):
            known[place] = expression.value(known)
    return known


def _operand(
    known: Floats, places: NDArray[np.int32], constants: Floats, is_rounded: NDArray[np.bool_]
) -> Floats:
    is_constant = places < 0
    if is_rounded.any():
        constants = np.where(is_rounded, _single(constants), constants)
    if not len(known):
        return constants
    return np.where(is_constant, constants, known[places])
