"""Additive, whitened summaries of rows: the numerical heart.

States of a reservoir are nearly collinear: ``cond(X)`` of 1e11 is common, so ``XᵀX`` is singular
to working precision and readouts computed from it are noise at a small ridge. Moments are
therefore taken in coordinates in which a *pilot* of the states has mean zero and unit covariance::

    Z = (X − μ) D⁻¹ V Σ⁻¹,    V, Σ from the SVD of the centred pilot's R factor over √length

``D`` is one, unless the sizes of columns differ so much that the small ones would drown: then it
holds these sizes. The moments of a set of rows are one matrix, ``[1, Z, Y]ᵀ diag(w) [1, Z, Y]``.
They add. Solving for the readout of a training set says whether the result can be trusted: where a
set is much worse conditioned than the pilot was, its rows must be asked again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from echofold._folds.pieces import Pieces
from echofold._folds.ridge import (
    Factored,
    column_sizes,
    condition_of,
    factor,
    is_balanced,
    solve_each,
    triangle_of,
)
from echofold._folds.tolerances import EPS, NOISE, POOR

LONG = 50  # rows for each column from which coordinates are learned from a pilot
FEW_RIDGES = 4  # ridge values up to which a QR for each is cheaper than one SVD


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
    if not is_balanced(R):
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


@dataclass(frozen=True)
class MomentReadouts:
    """Readouts of training sets over a ridge path, in original and in whitened coordinates.

    ``W (sets, ridge, 1 + m, outputs)`` acts on ``[1, X]``, ``v`` of the same shape on ``[1, Z]``
    and predicts ``Y − shift`` (None unless asked for). ``trusted (sets,)`` tells where they can be
    believed: the condition of the moments bounds what rounding has done to them.
    """

    W: np.ndarray
    trusted: np.ndarray
    v: Any = None


def solve(
    M: np.ndarray,
    white: Whitening,
    shift: np.ndarray,
    ridge: np.ndarray,
    penalised: bool,
    whitened: bool = True,
) -> MomentReadouts:
    """Readouts from the moments ``M (sets, a, a)`` of training sets; targets were shifted.

    With ``M_zz = LLᵀ`` and ``[1, X] = [1, Z] S``, the R factor of the rows is ``F = LᵀS`` and
    ``g = L⁻¹ M_zy``. An unpenalised bias means the same on centred moments, without the ones.
    ``whitened`` tells whether ``v`` is wanted too.
    """
    at, Z = white.places, slice(1 + len(white.mean))
    gram, cross = M[:, Z, Z], M[:, Z, Z.stop :]
    if len(at) < Z.stop:  # the others are zero
        gram, cross = gram[:, at[:, None], at], cross[:, at]
    if penalised:
        cross = cross + gram[:, :, :1] * shift  # the penalty acts on the bias of unshifted targets
        root = _root(gram, _diagonal(gram), cross)
        f = _solved(np.swapaxes(root.L, 1, 2) @ white.frame[at], root.g, ridge)
        W, inner = f.W, root.back(f.fitted) if whitened else None
    else:
        weight = gram[:, :1, :1]
        z, b = gram[:, 1:, :1] / weight, cross[:, :1] / weight
        centred = gram[:, 1:, 1:] - weight * z @ np.swapaxes(z, 1, 2)
        root = _root(centred, _diagonal(gram)[:, 1:], cross[:, 1:] - weight * z @ b)
        S = white.there[white.held]
        f = _solved(np.swapaxes(root.L, 1, 2) @ S, root.g, ridge)
        mean = white.mean + z[:, :, 0] @ S
        W = np.concatenate([shift + b[:, None] - mean[:, None, None] @ f.W, f.W], axis=2)
        if whitened:
            inner = root.back(f.fitted)
            bias = shift + b[:, None] - np.swapaxes(z, 1, 2)[:, None] @ inner
            inner = np.concatenate([bias, inner], axis=2)
    if not whitened:
        return MomentReadouts(W, root.trusted)
    v = np.zeros_like(W)
    v[:, :, at] = inner
    v[..., 0, :] -= shift
    return MomentReadouts(W, root.trusted, v)


@dataclass(frozen=True)
class _Solved:
    """Solutions ``W (sets, ridge, columns, outputs)`` and ``fitted = F W``."""

    W: np.ndarray
    F: np.ndarray
    f: Factored | None
    ridge: np.ndarray

    @property
    def fitted(self) -> np.ndarray:
        """``F W``; by the SVD, going through ``W`` would lose as many digits as ``cond(X)`` has."""
        if self.f is None:
            return self.F[:, None] @ self.W
        scaled = (self.f.filters(self.ridge) * self.f.s[:, None] ** 2)[..., None]
        return self.f.U[:, None] @ (scaled * self.f.c[:, None])


def _solved(F: np.ndarray, g: np.ndarray, ridge: np.ndarray) -> _Solved:
    """Minimisers of ``‖F w − g‖² + β ‖w‖²`` for every set; see `_folds.ridge` for the two ways."""
    if len(ridge) > FEW_RIDGES and is_balanced(F):
        f = factor(F, g)
        return _Solved(f.solve(ridge), F, f, ridge)
    p = F.shape[2]
    R = triangle_of(np.concatenate([F, g], axis=2))
    W = np.stack([solve_each(r[:p, :p], r[:p, p:], ridge) for r in R])
    return _Solved(W, F, None, ridge)


@dataclass(frozen=True)
class _Root:
    """``L`` with ``LLᵀ`` a stack of Gram matrices, ``g = L⁻¹ B``, and which can be trusted."""

    L: np.ndarray
    g: np.ndarray
    trusted: np.ndarray

    def back(self, fitted: np.ndarray) -> np.ndarray:
        """Solutions in whitened coordinates, ``L⁻ᵀ F w``."""
        sets, ridges, p, outputs = fitted.shape
        flat = np.moveaxis(fitted, 1, 2).reshape(sets, p, ridges * outputs)
        solutions = np.linalg.solve(np.swapaxes(self.L, 1, 2), flat)
        return np.moveaxis(solutions.reshape(sets, p, ridges, outputs), 2, 1)


def _diagonal(gram: np.ndarray) -> np.ndarray:
    """Diagonals ``(sets, a)`` of ``(sets, a, a)``."""
    return np.einsum("...ii->...i", gram)


def _root(gram: np.ndarray, size: np.ndarray, B: np.ndarray) -> _Root:
    """Factor Gram matrices after scaling by ``size``, the diagonal before anything was subtracted.

    That is what rounding is proportional to, so the condition of the scaled matrix bounds what
    rounding does to a solution. The trace of its inverse, estimated by the growth of two random
    vectors under ``L⁻¹``, is that condition, but for the number of columns.
    """
    d = np.sqrt(np.maximum(size, np.finfo(float).tiny))[:, :, None]
    L, trusted = _cholesky(gram / (d * np.swapaxes(d, 1, 2)))
    probe = np.random.RandomState(0).standard_normal((gram.shape[1], 2))
    probe = np.broadcast_to(probe, (len(L), *probe.shape))
    grown = np.linalg.solve(L, np.concatenate([B / d, probe], axis=2))
    with np.errstate(over="ignore"):
        trusted &= (grown[:, :, -2:] ** 2).sum(axis=(1, 2)) / 2 < POOR + 10 * gram.shape[1]
    return _Root(d * L, grown[:, :, :-2], trusted)


def _cholesky(scaled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cholesky factors of a stack, the identity where there is none, and where there is one."""
    try:
        return np.linalg.cholesky(scaled), np.ones(len(scaled), dtype=bool)
    except np.linalg.LinAlgError:  # one of them stops the whole stack
        pass
    L, there = np.empty_like(scaled), np.zeros(len(scaled), dtype=bool)
    for i, one in enumerate(scaled):
        try:
            L[i], there[i] = np.linalg.cholesky(one), True
        except np.linalg.LinAlgError:
            L[i] = np.eye(len(one))
    return L, there


def squared_errors(M: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Squared error of readouts ``v`` on rows of moments ``M (sets, a, a)``, for each output.

    ``ΣY² − 2⟨v, ZᵀY⟩ + ⟨v, ZᵀZ v⟩``, as ``(sets, ridge, outputs)``; NaN where so little is left
    of ``ΣY²`` that the difference is mostly rounding.
    """
    r = v.shape[2]
    gram, cross = M[:, None, :r, :r], M[:, None, :r, r:]
    total = np.einsum("...ii->...i", M[:, r:, r:])[:, None]
    error = total + (v * (gram @ v - 2 * cross)).sum(axis=2)
    return np.where(error < 1e-8 * total, np.nan, error)
