"""Prediction intervals from validation residuals (split conformal, step by step)."""

from __future__ import annotations

import math

import numpy as np


def half_widths(residuals: np.ndarray, horizon: int, level: float) -> np.ndarray:
    """Half widths ``(horizon, outputs)`` of intervals that should cover ``level`` of the values.

    ``residuals (count, steps, outputs)`` are those of validation forecasts, NaN where an interval
    was shorter. At each step ahead the half width is the ``⌈(c + 1) level⌉``-th smallest of ``c``
    absolute residuals. When there are too few at one step, those of as many neighbouring steps
    are taken along as are needed; steps beyond the validated ones take the widest of these.

    Examples
    --------
    >>> import numpy as np
    >>> half_widths(np.arange(1.0, 20).reshape(19, 1, 1), 2, 0.9)
    array([[18.],
           [18.]])
    """
    size = np.abs(residuals)
    steps = min(horizon, size.shape[1])
    found = np.empty((horizon, size.shape[2]))
    needed = _ceil(1 / (1 - level)) - 1  # fewer residuals than this cannot reach the level
    for output in range(size.shape[2]):
        for step in range(steps):
            found[step, output] = _quantile(size[:, :, output], step, needed, level)
    found[steps:] = found[:steps].max(axis=0)
    return found


def _quantile(size: np.ndarray, step: int, needed: int, level: float) -> float:
    """The conformal quantile of the residuals at ``step``, with neighbours if they are few."""
    for reach in range(size.shape[1]):
        near = size[:, max(0, step - reach) : step + reach + 1]
        near = near[~np.isnan(near)]
        if len(near) >= needed:
            break
    rank = _ceil((len(near) + 1) * level)
    return float(np.sort(near)[rank - 1]) if rank <= len(near) else math.inf


def _ceil(value: float) -> int:
    """Round up, but not what is a whole number but for rounding, such as 1 / (1 - 0.9)."""
    return math.ceil(value * (1 - 1e-12))
