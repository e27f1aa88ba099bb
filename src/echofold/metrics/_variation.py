"""How much targets vary: what relative errors are divided by."""

from __future__ import annotations

from collections.abc import Sequence

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
