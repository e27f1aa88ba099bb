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
    widths = np.empty((horizon, size.shape[2]))
    for output in range(size.shape[2]):
        widths[:steps, output] = _quantiles(size[:, :, output], steps, level)
    widths[steps:] = widths[:steps].max(axis=0)
    return widths


def _quantiles(size: np.ndarray, steps: int, level: float) -> np.ndarray:
    """Conformal quantiles at the first ``steps`` of ``size (count, all steps)``."""
    before = np.append(0, np.cumsum((~np.isnan(size)).sum(axis=0)))  # residuals before each step
    needed = _ceil(1 / (1 - level)) - 1  # fewer residuals than this cannot reach the level
    first, stop = _neighbourhoods(before, steps, needed)
    counts = (before[stop] - before[first]).tolist()
    # How many from the top: few wherever steps are pooled, so that few of each step matter.
    places = [count + 1 - _ceil((count + 1) * level) for count in counts]
    largest = _largest(size, max(places))
    seen: dict[tuple[int, int], float] = {}  # at high levels, most steps take all there is
    quantiles = np.empty(steps)
    for step, (window, place) in enumerate(
        zip(zip(first.tolist(), stop.tolist(), strict=True), places, strict=True)
    ):
        if window not in seen:
            seen[window] = _from_top(largest[:, slice(*window)], place) if place else math.inf
        quantiles[step] = seen[window]
    return quantiles


def _neighbourhoods(before: np.ndarray, steps: int, needed: int) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the fewest steps around each that hold ``needed`` residuals; all if none do."""
    everything = len(before) - 1
    step = np.arange(steps)
    low, high = np.zeros(steps, dtype=int), np.full(steps, everything - 1)
    while (low < high).any():  # bisection, for every step at once
        reach = (low + high) // 2
        held = (
            before[np.minimum(step + reach + 1, everything)] - before[np.maximum(step - reach, 0)]
        )
        enough = held >= needed
        low, high = (
            np.where(enough, low, np.minimum(reach + 1, high)),
            np.where(enough, reach, high),
        )
    return np.maximum(step - low, 0), np.minimum(step + low + 1, everything)


def _largest(size: np.ndarray, most: int) -> np.ndarray:
    """The ``most`` largest of each step, in any order; those missing count as the smallest."""
    size = np.where(np.isnan(size), -np.inf, size)
    if not 0 < most < len(size):
        return size
    return np.partition(size, len(size) - most, axis=0)[len(size) - most :]


def _from_top(values: np.ndarray, place: int) -> float:
    """The value that is ``place``-th from the top."""
    return float(np.partition(values, values.size - place, axis=None)[values.size - place])


def _ceil(value: float) -> int:
    """Round up, but not what is a whole number but for rounding, such as 1 / (1 - 0.9)."""
    return math.ceil(value * (1 - 1e-12))
