"""Targets: read beside predictions, and how much they vary, which relative errors are divided by.

Arrays are ``(T,)`` or ``(T, outputs)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from echofold._data.scaling import merged

# Variation below 1e-12 of the size of the values is rounding left by whatever computed them.
_CONSTANT = 1e-24
_BLOCK = 2**14  # rows looked at together where a copy of all would be large


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


class Spread(NamedTuple):
    """How far values of each output spread: mean squared deviation and mean square, (outputs,).

    ``rows`` are the values themselves, where they are at hand.
    """

    deviation: np.ndarray
    square: np.ndarray
    rows: np.ndarray | None = None

    @property
    def total(self) -> float:
        """Mean squared deviation, summed over outputs."""
        return float(self.deviation.sum())


def spread_in_blocks(blocks: Iterable[np.ndarray]) -> Spread:
    """The spread of rows ``(rows, outputs)`` that come in blocks; rows with NaN are left out."""
    rows, mean, squares = 0, 0.0, 0.0
    for block in blocks:
        block = block[~np.isnan(block).any(axis=1)]
        if not len(block):
            continue
        mean, squares = merged(rows, mean, squares, block)
        rows += len(block)
    variance = np.asarray(squares) / max(rows, 1)
    return Spread(variance, variance + np.asarray(mean) ** 2)


def variation(t: np.ndarray) -> float:
    """Sum of squared deviations from the mean of each output, 0 for constant (T, outputs) rows."""
    return float(_variations(t[None], np.ones((1, len(t)), dtype=bool))[0])


def _variations(t: np.ndarray, real: np.ndarray) -> np.ndarray:
    """`variation` of sets of rows ``t (sets, rows, outputs)``, where ``real (sets, rows)``."""
    mask = real[:, :, None]
    # Measuring from the first row makes the deviations of constant rows exactly zero; the mean of
    # many equal numbers, summed down a column, is off by far more than one rounding.
    d = np.where(mask, t - t[:, :1], 0.0)
    mean = d.sum(axis=1, keepdims=True) / mask.sum(axis=1, keepdims=True)
    each = np.sum(np.where(mask, d - mean, 0.0) ** 2, axis=1)
    # Output by output: a large constant output must not hide a small one that varies.
    constant = each <= _CONSTANT * np.sum(np.where(mask, t, 0.0) ** 2, axis=1)
    return np.where(constant.all(axis=1), 0.0, each.sum(axis=1))


def _variation_in_blocks(t: np.ndarray, unit: np.ndarray) -> float:
    """`variation` of ``t * unit`` in memory that does not grow with its rows."""
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


def denominators(targets: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the NRMSE denominator of each validation set of ``targets`` (n, outputs).

    ``at`` (sets, longest) holds row numbers, n where padded. One row or constant rows give
    rows × s², with s² the mean squared deviation, summed over outputs, of all n rows.
    """
    n, found = len(targets), np.zeros(len(at))
    if at.shape[1] > 1:
        found = _variations(targets[np.minimum(at, n - 1)], at < n)
    if (found == 0).any():
        found = _without_zeros(found, (at < n).sum(axis=1), variation(targets), n)
    return found


def interval_denominators(
    targets: np.ndarray, unit: np.ndarray, intervals: Sequence[tuple[int, int]]
) -> np.ndarray:
    """Return `denominators` of intervals of ``targets * unit``, without copies of the data."""
    found = np.array([_variation_in_blocks(targets[a:b], unit) for a, b in intervals])
    if (found == 0).any():
        of_all = _variation_in_blocks(targets, unit)
        found = _without_zeros(found, np.diff(intervals)[:, 0], of_all, len(targets))
    return found


def _without_zeros(found: np.ndarray, rows: np.ndarray, of_all: float, n: int) -> np.ndarray:
    """Replace the zeros of constant sets by rows times the mean variation of all the data."""
    if of_all == 0:
        raise ValueError(
            f"the targets are constant over all n={n} rows, so a relative error has "
            "nothing to divide by; use metric='rmse'."
        )
    return np.where(found == 0, rows * of_all / n, found)
