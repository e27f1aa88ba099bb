"""Readouts over a whole ridge path, from one factorisation of a training set.

A training set enters as the R factor of its rows: ``F`` and ``g`` with
``‖X w − y‖² = ‖F w − g‖² + constant``, however they were obtained (a QR of the rows, or whitened
moments). Factoring once (`factor`) is apart from solving for every ridge value (`Factored.solve`).
Nothing here knows about time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Factored:
    """Singular value decomposition of ``F``, and ``g`` in its left basis.

    ``s (..., p)``, ``Qt (..., p, columns)``, ``c (..., p, outputs)``; leading axes are training
    sets. ``U (..., rows, p)`` is kept for those who need ``g``'s side.
    """

    U: np.ndarray
    s: np.ndarray
    Qt: np.ndarray
    c: np.ndarray

    @property
    def condition(self) -> float:
        """Condition number of ``F``, as far as it can be told from rounding."""
        smallest = max(self.s[-1], np.finfo(float).eps * self.s[0], np.finfo(float).tiny)
        return float(self.s[0] / smallest)

    def filters(self, ridge: np.ndarray) -> np.ndarray:
        """``1 / (s² + β)``, as ``(..., ridge, p)``; at ``β = 0`` zero for negligible ``s``.

        Leaving out ``s ≤ columns · eps · s₁`` makes the solution at ``β = 0`` the one of least
        norm.
        """
        s = self.s[..., None, :]
        negligible = (1 + self.Qt.shape[-1]) * np.finfo(float).eps * s[..., :1]
        with np.errstate(divide="ignore"):
            inverse = 1 / (s**2 + ridge[:, None])
        return np.where((ridge[:, None] == 0) & (s <= negligible), 0.0, inverse)

    def solve(self, ridge: np.ndarray) -> np.ndarray:
        """Minimisers of ``‖F w − g‖² + β ‖w‖²``: ``Q diag(s / (s² + β)) Uᵀ g``.

        Returns ``(..., ridge, columns, outputs)``; the paper's equation 5 for every ``β``.
        """
        scaled = (self.filters(ridge) * self.s[..., None, :])[..., None] * self.c[..., None, :, :]
        return np.swapaxes(self.Qt, -1, -2)[..., None, :, :] @ scaled


def factor(F: np.ndarray, g: np.ndarray) -> Factored:
    """Decompose ``F (..., rows, columns)`` with right-hand sides ``g (..., rows, outputs)``."""
    U, s, Qt = np.linalg.svd(F, full_matrices=False)
    return Factored(U, s, Qt, np.swapaxes(U, -1, -2) @ g)


@dataclass(frozen=True)
class Centre:
    """How rows are centred for an unpenalised bias; a penalised one leaves them as they are."""

    x: np.ndarray
    y: np.ndarray
    penalised: bool

    def readout(self, w: np.ndarray) -> np.ndarray:
        """Readouts ``(..., 1 + m, outputs)`` from solutions ``w`` in centred coordinates."""
        if self.penalised:
            return w
        return np.concatenate([(self.y - self.x @ w)[..., None, :], w], axis=-2)


def prepare_rows(X, Y, weights, penalised: bool) -> tuple[np.ndarray, np.ndarray, Centre]:
    """Rows ready for a least-squares fit: with their ones or centred, and not yet weighted.

    Centring by the weighted means is what an unpenalised bias amounts to. Means are measured from
    the first row, so that a constant column becomes zero and not rounding.
    """
    if penalised:
        return np.hstack([np.ones((len(X), 1)), X]), Y, Centre(X[:0], Y[:0], True)
    A, B = X - X[0], Y - Y[0]
    share = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
    a, b = share @ A, share @ B
    A -= a
    B -= b
    return A, B, Centre(X[0] + a, Y[0] + b, False)


def reduce_rows(X, Y, root_weights=None) -> tuple[np.ndarray, np.ndarray]:
    """``F, g`` of rows by a QR of ``[X, Y]``: as accurate as the rows themselves."""
    rows = np.hstack([X, Y])
    if root_weights is not None:
        rows *= root_weights[:, None]
    R: np.ndarray = np.linalg.qr(rows, mode="r")  # type: ignore[assignment]
    p = X.shape[1]
    return R[:p, :p], R[:p, p:]  # the rows below hold only what no readout can fit
