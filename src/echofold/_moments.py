"""Additive, whitened summaries of rows: the numerical heart.

States of a reservoir are nearly collinear: ``cond(X)`` of 1e11 is common, so ``XᵀX`` is singular
to working precision and readouts computed from it are noise at a small ridge. Moments are
therefore taken in coordinates in which a *pilot* of the states has mean zero and unit covariance::

    Z = (X − μ) V Σ⁻¹,    V, Σ from the SVD of the centred pilot's R factor over √length

The moments of a set of rows are one matrix, ``[1, Z, Y]ᵀ diag(w) [1, Z, Y]``. They add.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from echofold._pieces import Pieces
from echofold._ridge import Factored, factor

POOR = 1e5  # condition of the whitened moments from which the pilot did not do its work


@dataclass(frozen=True)
class Whitening:
    """``Z = (X − mean) V / sigma``; ``V (m, m)`` is orthogonal, no direction is ever dropped."""

    mean: np.ndarray
    V: np.ndarray
    sigma: np.ndarray

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Whitened rows ``(rows, m)``."""
        return (X - self.mean) @ (self.V / self.sigma)

    @property
    def condition(self) -> float:
        """Condition number of the centred pilot; where ``σ`` was raised to its floor, ``1/eps``."""
        eps = np.finfo(float).eps
        smallest = self.sigma[-1] / self.sigma[0]
        floor = (1 + len(self.sigma)) * eps
        return float(1 / (eps if smallest < 1.001 * floor else smallest))

    @property
    def frame(self) -> np.ndarray:
        """``S`` with ``[1, X] = [1, Z] S``: ``[[1, μᵀ], [0, ΣVᵀ]]``."""
        m = len(self.mean)
        S = np.zeros((1 + m, 1 + m))
        S[0, 0], S[0, 1:] = 1.0, self.mean
        S[1:, 1:] = self.sigma[:, None] * self.V.T
        return S


def whitening(pilot: np.ndarray) -> Whitening:
    """Learn the coordinates from a pilot of states ``(rows, m)``."""
    mean = pilot.mean(axis=0)
    return _from_factor(np.linalg.qr(pilot - mean, mode="r") / np.sqrt(len(pilot)), mean)


def _from_factor(R: np.ndarray, mean: np.ndarray) -> Whitening:
    """Coordinates in which rows with R factor ``R`` have unit covariance.

    An input that is zero all through the pilot would be lost if its direction were dropped, so
    small ``σ`` are raised to a floor instead.
    """
    m = len(mean)
    _, s, Vt = np.linalg.svd(R, full_matrices=True)
    sigma = np.zeros(m)
    sigma[: len(s)] = s[:m]
    if sigma[0] == 0:
        return Whitening(mean, Vt.T, np.ones(m))
    return Whitening(mean, Vt.T, np.maximum(sigma, (1 + m) * np.finfo(float).eps * sigma[0]))


def whiten_again(before: Whitening, total: np.ndarray) -> Whitening:
    """Better coordinates from the moments of all rows in the present ones."""
    m = len(before.mean)
    z = total[0, 1 : 1 + m] / total[0, 0]
    covariance = total[1 : 1 + m, 1 : 1 + m] / total[0, 0] - np.outer(z, z)
    # Scale the diagonal first: directions the pilot missed may be 1e20 larger than the rest.
    d = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(covariance / np.outer(d, d))
    R = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T * d
    return _from_factor(
        (R * before.sigma) @ before.V.T, before.mean + (before.sigma * z) @ before.V.T
    )


def held(white: Whitening, total: np.ndarray) -> np.ndarray:
    """Columns of ``[1, Z]`` that hold something; at the floor, most hold rounding only."""
    m = len(white.mean)
    real = np.append(True, white.sigma > 100 * white.sigma[0] * (1 + m) * np.finfo(float).eps)
    covered = np.append(True, np.diag(total)[1 : 1 + m] > total[0, 0] / POOR)
    missed = np.append(False, np.diag(total)[1 : 1 + m] > total[0, 0] * POOR)
    return np.flatnonzero((real & covered) | missed)


def is_poor(white: Whitening, total: np.ndarray) -> bool:
    """Whether all rows together are badly conditioned in coordinates that should whiten them."""
    at = held(white, total)
    gram = total[np.ix_(at, at)]
    d = np.sqrt(np.diag(gram))
    values = np.linalg.eigvalsh(gram / np.outer(d, d))
    return bool(values[-1] > POOR * values[0])


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
    and predicts ``Y − shift`` (None unless asked for).
    """

    W: np.ndarray
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
    m = len(white.mean)
    gram, cross = M[:, : 1 + m, : 1 + m], M[:, : 1 + m, 1 + m :]
    if penalised:
        cross = cross + gram[:, :, :1] * shift  # the penalty acts on the bias of unshifted targets
        root = _root(gram, _diagonal(gram))
        f = factor(np.swapaxes(root.L, 1, 2) @ white.frame, root.divide(cross))
        W = f.solve(ridge)
        if not whitened:
            return MomentReadouts(W)
        v = root.whitened(f, ridge) if root.regular else white.frame @ W
        v[..., 0, :] -= shift
        return MomentReadouts(W, v)
    weight = gram[:, :1, :1]
    z, y = gram[:, 1:, :1] / weight, cross[:, :1] / weight
    centred = gram[:, 1:, 1:] - weight * z @ np.swapaxes(z, 1, 2)
    root = _root(centred, _diagonal(gram)[:, 1:])
    S = white.sigma[:, None] * white.V.T
    f = factor(np.swapaxes(root.L, 1, 2) @ S, root.divide(cross[:, 1:] - weight * z @ y))
    w = f.solve(ridge)
    mean = white.mean + (white.sigma * z[:, :, 0]) @ white.V.T
    b = shift + y[:, None] - mean[:, None, None] @ w
    W = np.concatenate([b, w], axis=2)
    if not whitened:
        return MomentReadouts(W)
    v = root.whitened(f, ridge) if root.regular else S @ w
    a = y[:, None] - np.swapaxes(z, 1, 2)[:, None] @ v
    return MomentReadouts(W, np.concatenate([a, v], axis=2))


@dataclass(frozen=True)
class _Root:
    """``L`` with ``LLᵀ`` a stack of Gram matrices; a pseudo-inverse of it where one is needed."""

    L: np.ndarray
    inverse: np.ndarray | None = None

    @property
    def regular(self) -> bool:
        return self.inverse is None

    def divide(self, B: np.ndarray) -> np.ndarray:
        """``L⁻¹ B``."""
        return np.linalg.solve(self.L, B) if self.inverse is None else self.inverse @ B

    def whitened(self, f: Factored, ridge: np.ndarray) -> np.ndarray:
        """Solutions in whitened coordinates: ``L⁻ᵀ U diag(s² / (s² + β)) Uᵀ g``.

        Going through the original ones would lose as many digits as ``cond(X)`` has.
        """
        back = np.linalg.solve(np.swapaxes(self.L, 1, 2), f.U)
        scaled = (f.filters(ridge) * f.s[:, None] ** 2)[..., None] * f.c[:, None]
        return back[:, None] @ scaled


def _diagonal(gram: np.ndarray) -> np.ndarray:
    """Diagonals ``(sets, a)`` of ``(sets, a, a)``."""
    return np.einsum("...ii->...i", gram)


def _root(gram: np.ndarray, size: np.ndarray) -> _Root:
    """Factor Gram matrices.

    Cholesky after scaling by ``size``, the diagonal before anything was subtracted, because that
    is what rounding is proportional to; where it comes near its limits (fewer rows than columns,
    say) the symmetric square root, without the directions that hold only rounding.
    """
    d = np.sqrt(np.maximum(size, np.finfo(float).tiny))
    scaled = gram / (d[:, :, None] * d[:, None, :])
    try:
        L = np.linalg.cholesky(scaled)
        if _diagonal(L).min(initial=1.0) > 1e-4:
            return _Root(d[:, :, None] * L)
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(scaled)
    keep = values > 4 * gram.shape[-1] * np.finfo(float).eps * np.maximum(values[:, -1:], 1.0)
    root = np.sqrt(np.where(keep, values, 0.0))
    inverse = np.where(keep, 1 / np.where(keep, root, 1.0), 0.0)[:, :, None]
    return _Root(
        d[:, :, None] * vectors * root[:, None],
        inverse * np.swapaxes(vectors, 1, 2) / d[:, None, :],
    )


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
