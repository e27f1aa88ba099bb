"""Forecasts of sums and of what they are sums of, made to add up: minimum trace, or bottom-up.

Sums are made of series by ``A (sums, series)``, ones and zeros. Of forecasts ``y = [s; b]``, of
sums and of series, ``C y = s - A b`` is what they do not add up by, ``C = [I, -A]``. Where errors
have the covariance ``W``, the forecasts that add up with the least expected squared error are

    y - W C' (C W C')⁻¹ C y

(Wickramasuriya, Athanasopoulos and Hyndman, 2019), which is their ``S (S' W⁻¹ S)⁻¹ S' W⁻¹ y``, but
asks for nothing that has a row and a column for each series: ``W`` is a diagonal and the products
of a few past errors, so that ``C W C'`` is sparse but for these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import splu

LEAST = 1e-3  # of the diagonal in a covariance: with less, equal errors leave nothing to divide by
FLOOR = 1e-6  # variance of a sum, as a share of those of its series: past luck is no certainty
SYMMETRIC = {
    "permc_spec": "MMD_AT_PLUS_A",
    "diag_pivot_thresh": 0.0,
    "options": {"SymmetricMode": True},
}


@dataclass(frozen=True)
class Covariance:
    """``diag(diagonal) + factor' factor``, of shape ``(n, n)``, which is never formed.

    ``share`` is that of the diagonal matrix of variances, which the rest is shrunk to.
    """

    diagonal: np.ndarray
    factor: np.ndarray
    share: float

    def times(self, x: np.ndarray) -> np.ndarray:
        """Its product with ``x (n, columns)``."""
        return self.diagonal[:, None] * x + self.factor.T @ (self.factor @ x)


def shrunk(errors: np.ndarray, runs: np.ndarray, unknown: np.ndarray, A: Any) -> Covariance:
    """The covariance of ``errors (dates, n)``, NaN where there are none, shrunk to its diagonal.

    ``runs (dates,)`` numbers the stretches that were forecast at once, whose errors hang together:
    stretches, not dates, tell how sure correlations are. ``unknown (n,)`` stands for the errors of
    series that have none.

    Notes
    -----
    With correlations ``r`` and ``w_b`` their parts from each of ``B`` stretches, whose mean they
    are, the share of the diagonal is that of Schäfer and Strimmer (2005), sums over all pairs:
    ``Σ Var(r) / Σ r²``, ``Var(r) = Σ_b (w_b - r)² / (B (B - 1))``. Sums over pairs of squared
    products of columns are those over pairs of rows, of which there are few.
    """
    there = np.isfinite(errors)
    count, dates = there.sum(axis=0), len(errors)
    found = np.where(there, errors, 0.0)
    variance = np.where(
        count > 0, (found**2).sum(axis=0) / np.maximum(count, 1), np.asarray(unknown) ** 2
    )
    # A date at which one of two has no error says nothing of both, and variances are as they are.
    found *= np.sqrt(1 / np.maximum(count, 1))
    size = np.sqrt((found**2).sum(axis=0))
    x = np.divide(found, size, out=np.zeros_like(found), where=size > 0)
    share = _share(x, np.unique(runs, return_inverse=True)[1]) if dates else 1.0
    factor = np.sqrt(1 - share) * found
    sums = A.shape[0]
    variance[:sums] = np.maximum(variance[:sums], FLOOR * (A @ variance[sums:]))
    return Covariance(variance - (factor**2).sum(axis=0), factor, share)


def _share(x: np.ndarray, run: np.ndarray) -> float:
    """The share of the diagonal for ``x (dates, n)``, whose columns have squares that sum to 1."""
    runs = run.max() + 1
    pairs = ((x @ x.T) ** 2).sum() - ((x**2).sum(axis=0) ** 2).sum()
    if runs < 2 or pairs <= 0:
        return 1.0
    by_run = 0.0
    for one in range(runs):
        own = runs * x[run == one] @ x[run == one].T
        by_run += (own**2).sum() - ((runs * (x[run == one] ** 2).sum(axis=0)) ** 2).sum()
    spread = (by_run - runs * pairs) / (runs * (runs - 1))
    return float(np.clip(spread / pairs, LEAST, 1.0))


def minimum_trace(A: Any, W: Covariance) -> Any:
    """A function from ``y (n, columns)``, sums first, to series ``(series, columns)`` that add up.

    Sums without any variance, nor any of their series, move nothing.
    """
    A = csr_array(A, dtype=float)
    sums, own = A.shape[0], W.diagonal
    sparse = diags_array(own[:sums]) + A @ diags_array(own[sums:]) @ A.T
    moves = np.flatnonzero(sparse.diagonal() > 0)
    if not len(moves):
        return lambda y: y[sums:]
    unit = 1 / np.sqrt(sparse.diagonal()[moves])
    scaled = diags_array(unit) @ sparse.tocsr()[moves][:, moves] @ diags_array(unit)
    lu = splu(scaled.tocsc(), **SYMMETRIC)
    H = (W.factor[:, :sums] - (A @ W.factor[:, sums:].T).T)[:, moves].T * unit[:, None]
    Z = lu.solve(H)
    inner = np.eye(H.shape[1]) + H.T @ Z  # of no rows, where there are no past errors

    def solved(right: np.ndarray) -> np.ndarray:
        """``(scaled + H H')⁻¹ right``, by Woodbury."""
        first = lu.solve(right)
        return first - Z @ np.linalg.solve(inner, H.T @ first)

    def reconciled(y: np.ndarray) -> np.ndarray:
        apart = (y[:sums] - A @ y[sums:])[moves] * unit[:, None]
        first = solved(apart)
        first += solved(apart - scaled @ first - H @ (H.T @ first))
        x = np.zeros((sums, y.shape[1]))
        x[moves] = first * unit[:, None]
        return y[sums:] - W.times(np.concatenate([x, -(A.T @ x)]))[sums:]

    return reconciled
