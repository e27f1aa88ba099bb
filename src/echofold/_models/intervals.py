"""Prediction intervals from the errors of validation forecasts.

Errors at a step are divided by the error that is typical there, which grows with the steps ahead,
and then pooled over all steps and splits: a few splits say little about one step, and much about
all of them together. Quantiles of what is pooled, times the typical error, are the intervals. Two
things are uncertain where there are few independent forecasts: the size of errors, so intervals
are widened as those of Student's t are; and their sign, so that errors also count with the other
sign.
"""

from __future__ import annotations

import numpy as np
from scipy import stats
from sklearn.isotonic import isotonic_regression

MIRRORED = 2.0  # forecasts, divided by how many there are: what the other sign of an error counts


def interval(
    errors: np.ndarray, horizon: int, level: float, runs: float
) -> tuple[np.ndarray, np.ndarray]:
    """Errors ``(horizon, outputs)`` below and above which ``1 − level`` of all should lie, in all.

    ``errors (count, steps, outputs)``, true value minus forecast, are those of validation
    forecasts, NaN where one was shorter; those that are infinite are left out. ``runs`` is the
    number of forecasts that do not overlap. Beyond the validated steps the last one holds.

    Examples
    --------
    >>> import numpy as np
    >>> errors = np.random.RandomState(0).normal(size=(500, 2, 1)) * [[1.0], [3.0]]
    >>> low, high = interval(errors, 3, 0.9, 500)
    >>> high[:, 0].round(1).tolist()
    [1.6, 4.9, 4.9]
    """
    found = np.where(np.isfinite(errors), errors, np.nan)
    low, high = np.empty((2, horizon, errors.shape[2]))
    for output in range(errors.shape[2]):
        typical = _typical(found[:, :, output])
        ends = _ends(found[:, :, output], typical, level, runs)
        ahead = typical[np.minimum(np.arange(horizon), len(typical) - 1)]
        low[:, output], high[:, output] = ahead * ends[0], ahead * ends[1]
    return low, high


def _typical(errors: np.ndarray) -> np.ndarray:
    """The root mean squared error at every step of ``(count, steps)``, never falling."""
    size = np.abs(errors)
    count = (~np.isnan(size)).sum(axis=0)
    if not count.any():
        raise ValueError(
            "no validation forecast is finite, so that nothing is known about errors. Search "
            "larger ridge values or smaller spectral radii."
        )
    last = int(np.flatnonzero(count)[-1]) + 1
    size, count = np.nan_to_num(size[:, :last]), count[:last]
    largest = size.max(axis=0)  # of which squares might be infinite
    share = size / np.where(largest > 0, largest, 1.0)
    found = largest * np.sqrt((share**2).sum(axis=0) / np.maximum(count, 1))
    whole = found.max() or 1.0
    return whole * isotonic_regression(found / whole, sample_weight=np.maximum(count, 1e-9))


def _ends(errors: np.ndarray, typical: np.ndarray, level: float, runs: float):
    """Ends of the interval, in units of the typical error."""
    with np.errstate(invalid="ignore", divide="ignore"):
        pooled = errors[:, : len(typical)] / typical
    pooled = pooled[np.isfinite(pooled)]  # not 0 / 0, where every forecast was exact
    if not len(pooled):
        return 0.0, 0.0
    signs = np.concatenate([pooled, -pooled])
    weights = np.repeat([1.0, min(1.0, MIRRORED / runs)], len(pooled))
    upper = (1 + level) / 2
    low, middle, high = _quantiles(signs, weights, np.array([1 - upper, 0.5, upper]))
    wider = stats.t.ppf(upper, max(runs, 2.0)) / stats.norm.ppf(upper)
    return middle + wider * (low - middle), middle + wider * (high - middle)


def _quantiles(values: np.ndarray, weights: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Weighted quantiles, on straight lines between the middles of the weights."""
    order = np.lexsort((weights, values))
    weights = weights[order]
    middles = (np.cumsum(weights) - weights / 2) / weights.sum()
    return np.interp(shares, middles, values[order])
