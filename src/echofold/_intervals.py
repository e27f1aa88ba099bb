"""Prediction intervals from validation residuals (split conformal, step by step)."""

from __future__ import annotations

import math
from bisect import bisect_left

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
        upto = np.r_[0, np.cumsum((~np.isnan(size[:, :, output])).sum(axis=0))]
        for step in range(steps):
            reach = _reach(upto, step, needed)
            near = size[:, max(0, step - reach) : step + reach + 1, output]
            found[step, output] = _quantile(near[~np.isnan(near)], level)
    found[steps:] = found[:steps].max(axis=0)
    return found


def _reach(upto: np.ndarray, step: int, needed: int) -> int:
    """How many steps to either side of ``step`` hold enough residuals, or all steps.

    ``upto[i]`` residuals belong to the first ``i`` steps. Looked up by halving, because there may
    be many steps and almost no residuals.
    """
    steps = len(upto) - 1

    def held(reach: int) -> int:
        return upto[min(steps, step + reach + 1)] - upto[max(0, step - reach)]

    return min(bisect_left(range(steps), needed, key=held), steps - 1)


def _quantile(size: np.ndarray, level: float) -> float:
    """The conformal quantile of these sizes."""
    rank = _ceil((len(size) + 1) * level)
    return float(np.sort(size)[rank - 1]) if rank <= len(size) else math.inf


def _ceil(value: float) -> int:
    """Round up, but not what is a whole number but for rounding, such as 1 / (1 - 0.9)."""
    return math.ceil(value * (1 - 1e-12))
