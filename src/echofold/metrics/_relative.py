"""Errors relative to the values themselves: MAPE and sMAPE."""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold._machine.arrays import namespace
from echofold.metrics._errors import pair

ROUNDING = 1e-13  # a value that is smaller, beside what it was computed from, may as well be zero
NOT_ZERO = "which relative errors cannot be divided by; use 'smape', 'mae' or 'mase'."


def relative(e, truth, of: str):
    """Sizes of errors ``e``, value minus ``truth``, that are "relative" or "symmetric".

    ``|e| / |truth|``, or ``2 |e| / (|truth| + |truth + e|)``: at most 2, and 0 where both values
    are 0. An infinite value has an infinite error in either case. Arrays are those of the host or
    of a device.
    """
    xp = namespace(e)
    size, below = xp.abs(e), xp.abs(truth)
    if of == "symmetric":
        below = (below + xp.abs(truth + e)) / 2
    right = size == 0
    quotient = size / xp.where(right, 1.0, below)
    return xp.where(right, 0.0, xp.where(xp.isfinite(size), quotient, xp.inf))


def mape(y_true: Any, y_pred: Any) -> float:
    """Mean absolute percentage error over rows and outputs, as a fraction: 0.1 is 10 %.

    True values must not be zero.

    Parameters
    ----------
    y_true, y_pred : array of shape (T,) or (T, outputs)
        Targets and predictions.

    Returns
    -------
    float
        The mean of ``|y - t| / |t|``.

    Examples
    --------
    >>> from echofold.metrics import mape
    >>> mape([1.0, 4.0], [1.5, 3.0])
    0.375
    """
    t, y = pair(y_true, y_pred)
    check_not_zero(t, t)
    return _mean(t, y, "relative")


def smape(y_true: Any, y_pred: Any) -> float:
    """Symmetric mean absolute percentage error over rows and outputs, as a fraction from 0 to 2.

    That of the M4 competition, divided by 100.

    Parameters
    ----------
    y_true, y_pred : array of shape (T,) or (T, outputs)
        Targets and predictions.

    Returns
    -------
    float
        The mean of ``2 |y - t| / (|t| + |y|)``, which is 0 where both are 0.

    Examples
    --------
    >>> from echofold.metrics import smape
    >>> smape([1.0, 0.0], [3.0, 0.0])
    0.5
    """
    return _mean(*pair(y_true, y_pred), "symmetric")


def _mean(t: np.ndarray, y: np.ndarray, of: str) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.mean(relative(y - t, t, of)))


def check_not_zero(t: np.ndarray, made_of: np.ndarray, rows: np.ndarray | None = None) -> None:
    """Raise for true values ``t (T, outputs)`` that are zero, up to the rounding of ``made_of``.

    ``rows (T,)`` are the numbers of the rows in the data, if they are others than here.
    """
    zero = np.abs(t) <= ROUNDING * np.abs(made_of)
    if zero.any():
        row = int(np.argwhere(zero)[0][0])
        row = row if rows is None else int(rows[row])
        raise ValueError(f"metric 'mape': y_true is 0 in row {row}, {NOT_ZERO}")
