"""Additive, whitened summaries of rows: the numerical heart.

States of a reservoir are nearly collinear: ``cond(X)`` of 1e11 is common, so ``XᵀX`` is singular
to working precision and readouts computed from it are noise at a small ridge. Moments are
therefore taken in coordinates in which a *pilot* of the states has mean zero and unit covariance::

    Z = (X − μ) D⁻¹ V Σ⁻¹,    V, Σ from the SVD of the centred pilot's R factor over √length

``D`` is one, unless the sizes of columns differ so much that the small ones would drown: then it
holds these sizes. The moments of a set of rows are one matrix, ``[1, Z, Y]ᵀ diag(w) [1, Z, Y]``.
They add. `_folds.solve` has what leads from there to readouts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from echofold._folds.pieces import Pieces
from echofold._folds.ridge import column_sizes, condition_of, is_balanced, triangle_of
from echofold._folds.tolerances import ALIKE_COLUMNS, EPS, NOISE, POOR
from echofold._folds.whitened import Coordinates

LONG = 50  # rows for each column from which coordinates are learned from a pilot


@dataclass(frozen=True)
class Whitening:
    """``Z = (X − mean) / size @ V / sigma``; ``V (m, m)`` is orthogonal.

    ``held (m,)`` is False for directions that hold nothing but rounding in any row: there ``Z`` is
    exactly zero. No other direction is ever dropped.
    """

    mean: np.ndarray
    size: np.ndarray
    V: np.ndarray
    sigma: np.ndarray
    held: np.ndarray

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Whitened rows ``(rows, m)``."""
        return (X - self.mean) @ self.back

    @cached_property
    def back(self) -> np.ndarray:
        """``D⁻¹ V Σ⁻¹ (m, m)``, which also leads from readouts ``v`` of ``Z`` to those of ``X``."""
        return self.V * (self.held / self.sigma) / self.size[:, None]

    @cached_property
    def there(self) -> np.ndarray:
        """``Σ Vᵀ D (m, m)``, with ``X − mean = Z @ there``."""
        return (self.held * self.sigma)[:, None] * self.V.T * self.size

    @property
    def condition(self) -> float:
        """Condition number of the centred pilot; where ``σ`` was raised to its floor, ``1/eps``."""
        return 1 / EPS if self.at_floor.any() else self.held_condition

    @property
    def held_condition(self) -> float:
        """Condition number of the centred pilot in the directions that are held."""
        s = self.sigma[self.held]
        if (self.size != 1).any():
            s = np.linalg.svd(self.there[self.held], compute_uv=False)
        return condition_of(s) if s.size else 1.0

    @property
    def at_floor(self) -> np.ndarray:
        """Directions in which the pilot held nothing."""
        return self.sigma < 1.001 * _floor(self.sigma)

    @property
    def frame(self) -> np.ndarray:
        """``S`` with ``[1, X] = [1, Z] S``: ``[[1, μᵀ], [0, ΣVᵀD]]``."""
        m = len(self.mean)
        S = np.zeros((1 + m, 1 + m))
        S[0, 0], S[0, 1:], S[1:, 1:] = 1.0, self.mean, self.there
        return S

    @property
    def places(self) -> np.ndarray:
        """Columns of ``[1, Z]`` that hold something."""
        return np.append(0, 1 + np.flatnonzero(self.held))

    @cached_property
    def coordinates(self) -> Coordinates:
        """The directions that hold something, for columns of like size."""
        back, V = self.back[:, self.held], self.V[:, self.held]
        penalty = self.sigma[self.held] ** -2.0
        rest = np.zeros_like(self.mean)  # exactly, where every direction is held
        if not self.held.all():
            rest = self.mean - V @ (V.T @ self.mean)
            rest = rest - V @ (V.T @ rest)  # without what rounding has left of the mean
        return Coordinates(self.mean, back, penalty, rest, np.zeros_like(penalty))

    def settled(self, total: np.ndarray | None = None) -> Whitening:
        """Without directions that hold rounding only, by the moments of all rows in them.

        With no ``total``, the pilot was all rows.
        """
        noise = self.at_floor
        if total is not None and noise.any():
            noise = noise & (np.diag(total)[1 : 1 + len(noise)] <= NOISE * total[0, 0])
        return replace(self, held=~noise) if noise.any() else self


def _floor(sigma: np.ndarray) -> float:
    """Below this a direction of the pilot holds only rounding."""
    return (1 + len(sigma)) * EPS * sigma[0]


def pilot_rows(n: int, columns: float, each: int) -> int:
    """Rows to learn coordinates from: all of a short series, ``each`` a column of a long one."""
    return n if n < LONG * columns else int(each * columns)


def whitening(pilot: np.ndarray) -> Whitening:
    """Learn the coordinates from a pilot of states ``(rows, m)``."""
    # From the first row, so that a constant column becomes zero and not rounding.
    A = pilot - pilot[0]
    mean = A.mean(axis=0)
    R = triangle_of(A - mean) / np.sqrt(len(pilot))
    return from_factor(R, pilot[0] + mean)


def from_factor(R: np.ndarray, mean: np.ndarray) -> Whitening:
    """Coordinates in which rows with R factor ``R`` and ``mean`` have unit covariance.

    An input that is zero all through the pilot would be lost if its direction were dropped, so
    small ``σ`` are raised to a floor instead.
    """
    m = len(mean)
    size = np.ones(m)
    if not is_balanced(R, ALIKE_COLUMNS):
        size = column_sizes(R)
        size[size == 0] = 1.0
    _, s, Vt = np.linalg.svd(R / size, full_matrices=True)
    sigma = np.zeros(m)
    sigma[: len(s)] = s[:m]
    everything = np.ones(m, dtype=bool)
    if sigma[0] == 0:
        return Whitening(mean, size, Vt.T, np.ones(m), everything)
    return Whitening(mean, size, Vt.T, np.maximum(sigma, _floor(sigma)), everything)


def overall_condition(white: Whitening, total: np.ndarray) -> float:
    """Condition number of all rows, from their moments: a pilot may have missed something."""
    m = len(white.mean)
    z = total[0, 1 : 1 + m] / total[0, 0]
    covariance = total[1 : 1 + m, 1 : 1 + m] / total[0, 0] - np.outer(z, z)
    # Scale the diagonal first: directions the pilot missed may be 1e20 larger than the rest.
    d = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(covariance / np.outer(d, d))
    R = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T * d
    return condition_of(np.linalg.svd(R @ white.there, compute_uv=False))


def is_poor(white: Whitening, total: np.ndarray) -> bool:
    """Whether all rows together are badly conditioned in coordinates that should whiten them."""
    at = white.settled(total).places
    gram = total[np.ix_(at, at)]
    d = np.sqrt(np.maximum(np.diag(gram), np.finfo(float).tiny))
    values = np.linalg.eigvalsh(gram / np.outer(d, d))
    return not values[-1] < POOR * values[0]


def moments(Z: np.ndarray, Y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """``[1, Z, Y]ᵀ diag(w) [1, Z, Y]`` of some rows."""
    return _gram(np.hstack([np.ones((len(Z), 1)), Z, Y]), weights)


def _gram(A: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    return A.T @ (A if weights is None else A * weights[:, None])


def add_pieces(total: np.ndarray, pieces: Pieces, start: int, Z, Y, weights=None) -> None:
    """Add rows ``start …`` to the moments of their pieces, ``total (pieces, a, a)``, in place."""
    A = np.hstack([np.ones((len(Z), 1)), Z, Y])
    for piece, rows in pieces.parts(start, start + len(Z)):
        total[piece] += _gram(A[rows], None if weights is None else weights[rows])
