"""Errors of predictions, and how much targets vary, which relative ones are divided by.

Arrays are ``(T,)`` or ``(T, outputs)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

# Variation below 1e-12 of the size of the values is rounding left by whatever computed them.
_CONSTANT = 1e-24
_BLOCK = 2**14  # rows looked at together where a copy of all would be large


def _variations(t: np.ndarray, real: np.ndarray) -> np.ndarray:
    """Sums of squared deviations from the means of sets of rows ``t (sets, rows, outputs)``.

    Only rows that are ``real (sets, rows)`` count; the sum of a constant set is exactly 0.
    """
    mask = real[:, :, None]
    # Measuring from the first row makes the deviations of constant rows exactly zero; the mean of
    # many equal numbers, summed down a column, is off by far more than one rounding.
    d = np.where(mask, t - t[:, :1], 0.0)
    mean = d.sum(axis=1, keepdims=True) / mask.sum(axis=1, keepdims=True)
    each = np.sum(np.where(mask, d - mean, 0.0) ** 2, axis=1)
    # Output by output: a large constant output must not hide a small one that varies.
    constant = each <= _CONSTANT * np.sum(np.where(mask, t, 0.0) ** 2, axis=1)
    return np.where(constant.all(axis=1), 0.0, each.sum(axis=1))


def variation(t: np.ndarray) -> float:
    """Sum of squared deviations from the mean of each output, 0 for constant (T, outputs) rows."""
    return float(_variations(t[None], np.ones((1, len(t)), dtype=bool))[0])


def denominators(targets: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the NRMSE denominator of each validation set of ``targets`` (n, outputs).

    ``at`` (sets, longest) holds row numbers, n where padded. One row or constant rows give
    rows × s², with s² the mean squared deviation, summed over outputs, of all n rows.
    """
    real = at < len(targets)
    rows = real.sum(axis=1).astype(float)
    variations = np.zeros(len(at))
    if at.shape[1] > 1:
        variations = _variations(targets[np.minimum(at, len(targets) - 1)], real)
    if (variations == 0).any():
        variations = _without_zeros(variations, rows, variation(targets), len(targets))
    return variations


def interval_denominators(
    targets: np.ndarray, unit: np.ndarray, intervals: Sequence[tuple[int, int]]
) -> np.ndarray:
    """Return `denominators` of intervals of ``targets * unit``, without copies of the data."""
    variations = np.array([_variation_in_blocks(targets[a:b], unit) for a, b in intervals])
    if (variations == 0).any():
        rows = np.array([b - a for a, b in intervals], dtype=float)
        variations = _without_zeros(
            variations, rows, _variation_in_blocks(targets, unit), len(targets)
        )
    return variations


def _variation_in_blocks(t: np.ndarray, unit: np.ndarray) -> float:
    """`_variation` of ``t * unit`` in memory that does not grow with its rows."""
    starts, first = range(0, len(t), _BLOCK), t[0]
    mean = each = size = np.zeros(t.shape[1])
    for row in starts:
        mean = mean + ((np.asarray(t[row : row + _BLOCK]) - first) * unit).sum(axis=0)
    mean = mean / len(t)
    for row in starts:
        block = np.asarray(t[row : row + _BLOCK])
        each = each + (((block - first) * unit - mean) ** 2).sum(axis=0)
        size = size + ((block * unit) ** 2).sum(axis=0)
    return 0.0 if (each <= _CONSTANT * size).all() else float(each.sum())


def _without_zeros(
    variations: np.ndarray, rows: np.ndarray, variation: float, n: int
) -> np.ndarray:
    """Replace the zeros of constant sets by rows times the mean variation of all the data."""
    if variation == 0:
        raise ValueError(
            f"the targets are constant over all n={n} rows, so a relative error has "
            "nothing to divide by; use metric='rmse'."
        )
    return np.where(variations == 0, rows * variation / n, variations)


def accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Share of labels that are right; the higher the better.

    Examples
    --------
    >>> from echofold.metrics import accuracy
    >>> accuracy(["a", "b", "b", "a"], ["a", "b", "a", "a"])
    0.75
    """
    return 1.0 - error_rate(labels_true, labels_pred)


TINY = float(np.finfo(float).tiny)  # stands for an error of zero where logarithms are taken


def pair(y_true: Any, y_pred: Any) -> tuple[np.ndarray, np.ndarray]:
    """Check targets and predictions and return both as (T, outputs)."""
    arrays = []
    for name, values in (("y_true", y_true), ("y_pred", y_pred)):
        try:
            array = np.asarray(values, dtype=float)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name}: expected an array of real numbers; {error}.") from error
        if array.ndim not in (1, 2) or array.size == 0:
            raise ValueError(
                f"{name}: got an array of shape {array.shape}, expected (T,) or (T, outputs) "
                "with at least one row and one output."
            )
        arrays.append(array.reshape(len(array), -1))
    t, y = arrays
    if t.shape != y.shape:
        raise ValueError(
            f"y_true has shape {t.shape} and y_pred {y.shape} as (rows, outputs); "
            "expected the same shape."
        )
    if not np.isfinite(t).all():
        raise ValueError("y_true holds NaN or infinity; remove or fill those rows first.")
    return t, y


def squared(t: np.ndarray, y: np.ndarray) -> float:
    """Sum of squared errors; a diverged prediction may overflow to infinity."""
    with np.errstate(over="ignore"):
        return float(np.sum((y - t) ** 2))


def nrmse(y_true: Any, y_pred: Any, *, scale: float | None = None) -> float:
    """Root of the squared error divided by the variation of the targets.

    Parameters
    ----------
    y_true, y_pred : array of shape (T,) or (T, outputs)
        Targets and predictions.
    scale : float, optional
        Mean squared deviation, summed over outputs, of all the data the rows were taken from.
        It is needed, and used, only where the targets here are one row or constant.

    Returns
    -------
    float

    Notes
    -----
    ``sqrt(sum ||y - t||^2 / sum ||t - mean(t)||^2)`` over all outputs, each with its own mean.
    The denominator is ``T * scale`` for one row or constant targets.

    Examples
    --------
    >>> from echofold.metrics import nrmse
    >>> nrmse([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    1.0
    >>> nrmse([3.0], [2.0], scale=4.0)
    0.5
    """
    return float(np.sqrt(_of_variation(y_true, y_pred, scale, "the NRMSE")))


def r2(y_true: Any, y_pred: Any, *, scale: float | None = None) -> float:
    """Coefficient of determination: the share of the variation that is explained.

    Higher is better: 1 is perfect, 0 as good as the mean of the targets.

    Parameters
    ----------
    y_true, y_pred : array of shape (T,) or (T, outputs)
        Targets and predictions.
    scale : float, optional
        As in `nrmse`: needed, and used, only where the targets are one row or constant.

    Returns
    -------
    float

    Notes
    -----
    ``1 - sum ||y - t||^2 / sum ||t - mean(t)||^2`` over all outputs, ``1 - nrmse ** 2``. Of several
    outputs it is scikit-learn's ``r2_score(..., multioutput="variance_weighted")``.

    Examples
    --------
    >>> from echofold.metrics import r2
    >>> r2([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])
    0.5
    """
    return 1.0 - _of_variation(y_true, y_pred, scale, "R²")


def _of_variation(y_true: Any, y_pred: Any, scale: float | None, what: str) -> float:
    """Squared error divided by the variation of the targets, or by rows times ``scale``."""
    t, y = pair(y_true, y_pred)
    if scale is not None and not (isinstance(scale, Real) and 0 < scale < np.inf):
        raise ValueError(
            f"scale={scale!r}: expected a positive number, the mean squared deviation of the data."
        )
    denominator = variation(t)
    if denominator == 0:
        if scale is None:
            raise ValueError(
                f"y_true is constant over its T={len(t)} rows, so {what} has nothing to divide "
                "by; pass scale=, the mean squared deviation of all the data, or use rmse."
            )
        denominator = len(t) * float(scale)
    with np.errstate(over="ignore"):
        return float(np.divide(squared(t, y), denominator))


def mse(y_true: Any, y_pred: Any) -> float:
    """Mean squared error over rows and outputs.

    Examples
    --------
    >>> from echofold.metrics import mse
    >>> mse([1.0, 2.0], [1.0, 4.0])
    2.0
    """
    t, y = pair(y_true, y_pred)
    return squared(t, y) / t.size


def rmse(y_true: Any, y_pred: Any) -> float:
    """Root of the mean squared error over rows and outputs.

    Examples
    --------
    >>> from echofold.metrics import rmse
    >>> rmse([1.0, 2.0], [3.0, 4.0])
    2.0
    """
    return float(np.sqrt(mse(y_true, y_pred)))


def log_mse(y_true: Any, y_pred: Any) -> float:
    """Logarithm to base 10 of the mean squared error.

    A candidate's score is the mean over splits, so runs that fail early do not outweigh all
    others, as they do in a mean of errors: for chaotic systems, whose errors differ by orders of
    magnitude. An error of zero counts as the smallest normal number, about 10^-308.

    Examples
    --------
    >>> from echofold.metrics import log_mse
    >>> round(log_mse([1.0, 2.0], [1.1, 2.1]), 6)
    -2.0
    """
    return float(np.log10(max(mse(y_true, y_pred), TINY)))


def mae(y_true: Any, y_pred: Any) -> float:
    """Mean absolute error over rows and outputs.

    Examples
    --------
    >>> from echofold.metrics import mae
    >>> mae([1.0, 2.0], [1.0, 4.0])
    1.0
    """
    t, y = pair(y_true, y_pred)
    with np.errstate(over="ignore"):
        return float(np.mean(np.abs(y - t)))


def error_rate(labels_true: Any, labels_pred: Any) -> float:
    """Share of labels that are wrong.

    Examples
    --------
    >>> from echofold.metrics import error_rate
    >>> error_rate(["a", "b", "b", "a"], ["a", "b", "a", "a"])
    0.25
    """
    true, pred = np.asarray(labels_true), np.asarray(labels_pred)
    if true.ndim != 1 or true.size == 0 or true.shape != pred.shape:
        raise ValueError(
            f"labels_true has shape {true.shape} and labels_pred {pred.shape}; "
            "expected two one-dimensional arrays of the same length, at least 1."
        )
    texts = [array.dtype.kind in "US" for array in (true, pred)]
    if texts[0] != texts[1] and object not in (true.dtype, pred.dtype):
        raise TypeError(
            f"labels_true is an array of {true.dtype} and labels_pred of {pred.dtype}, which are "
            "never equal; give both as text or both as numbers."
        )
    return float(np.mean(true != pred))
