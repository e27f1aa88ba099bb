"""Additive, whitened summaries of rows, and readouts from them: the numerical heart.

States of a reservoir are nearly collinear: ``cond(X)`` of 1e11 is common, so ``XᵀX`` is singular
to working precision and readouts computed from it are noise at a small ridge. Moments are
therefore taken in coordinates in which a *pilot* of the states has mean zero and unit covariance::

    Z = (X − μ) D⁻¹ V Σ⁻¹,    V, Σ from the SVD of the centred pilot's R factor over √length

``D`` is one, unless the sizes of columns differ so much that the small ones would drown: then it
holds these sizes. The moments of a set of rows are one matrix, ``[1, Z, Y]ᵀ diag(w) [1, Z, Y]``.
They add.

Three ways lead from there to readouts: a Cholesky factor for each ridge value (`_folds.whitened`),
one SVD for a long path, and a QR for each value where columns are of unlike size (`_folds.ridge`
has both). Where a set is much worse conditioned than the pilot was, its rows must be asked again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from echofold._folds.ridge import (
    column_sizes,
    condition_of,
    factor,
    is_balanced,
    solve_each,
    triangle_of,
)
from echofold._folds.splits import Pieces
from echofold._folds.tolerances import (
    ALIKE_COLUMNS,
    BALANCED,
    CORRECTED,
    CORRECTIONS,
    EPS,
    FAR,
    FULL_RANK,
    MISSING,
    NOISE,
    POOR,
    POWERS,
    PROBES,
    WELL,
    negligible,
    probe,
)
from echofold._folds.whitened import (
    Coordinates,
    Readouts,
    Systems,
    factored,
    lead_back,
    solve_factored,
    solve_path,
    systems,
)


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
        return (X - self.mean) @ self.whiten

    @cached_property
    def whiten(self) -> np.ndarray:
        """``D⁻¹ V Σ⁻¹ (m, m)``, which also leads from readouts ``v`` of ``Z`` to those of ``X``."""
        return self.V * (self.held / self.sigma) / self.size[:, None]

    @cached_property
    def unwhiten(self) -> np.ndarray:
        """``Σ Vᵀ D (m, m)``, with ``X − mean = Z @ unwhiten``."""
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
            s = np.linalg.svd(self.unwhiten[self.held], compute_uv=False)
        return condition_of(s) if s.size else 1.0

    @property
    def at_floor(self) -> np.ndarray:
        """Directions in which the pilot held nothing."""
        return self.sigma < 1.001 * negligible(self.sigma[0], len(self.sigma))

    @property
    def frame(self) -> np.ndarray:
        """``S`` with ``[1, X] = [1, Z] S``: ``[[1, μᵀ], [0, ΣVᵀD]]``."""
        m = len(self.mean)
        S = np.zeros((1 + m, 1 + m))
        S[0, 0], S[0, 1:], S[1:, 1:] = 1.0, self.mean, self.unwhiten
        return S

    @property
    def places(self) -> np.ndarray:
        """Columns of ``[1, Z]`` that hold something."""
        return np.append(0, 1 + np.flatnonzero(self.held))

    @cached_property
    def coordinates(self) -> Coordinates:
        """The directions that hold something, for columns of like size."""
        whiten, V = self.whiten[:, self.held], self.V[:, self.held]
        penalty = self.sigma[self.held] ** -2.0
        rest = np.zeros_like(self.mean)  # exactly, where every direction is held
        if not self.held.all():
            rest = self.mean - V @ (V.T @ self.mean)
            rest = rest - V @ (V.T @ rest)  # without what rounding has left of the mean
        return Coordinates(self.mean, whiten, penalty, rest, np.zeros_like(penalty))

    def settled(self, total: np.ndarray | None = None) -> Whitening:
        """Without directions that hold rounding only, by the moments of all rows in them.

        With no ``total``, the pilot was all rows.
        """
        noise = self.at_floor
        if total is not None and noise.any():
            noise = noise & (np.diag(total)[1 : 1 + len(noise)] <= NOISE * total[0, 0])
        return replace(self, held=~noise) if noise.any() else self


def whitening(pilot: np.ndarray) -> Whitening:
    """Learn the coordinates from a pilot of states ``(rows, m)``."""
    starts = range(0, len(pilot), TOGETHER)
    # From the first row, so that a constant column becomes zero and not rounding.
    mean = sum((pilot[at : at + TOGETHER] - pilot[0]).sum(axis=0) for at in starts) / len(pilot)
    gram = np.zeros((len(mean), len(mean)))
    for at in starts:
        A = pilot[at : at + TOGETHER] - pilot[0] - mean
        gram += A.T @ A
    gram /= len(pilot)
    squares = np.diag(gram)
    if squares.max() <= BALANCED**2 * squares.min() and squares.min() > 0:
        values, V = np.linalg.eigh(gram)
        if values[0] > WELL**2 * values[-1]:  # none of them is off by more than 1e-4 of itself
            ones = np.ones(len(mean))
            return Whitening(
                pilot[0] + mean, ones, V[:, ::-1], np.sqrt(values[::-1]), ones.astype(bool)
            )
    A = pilot - pilot[0] - mean
    return from_factor(triangle_of(A) / np.sqrt(len(pilot)), pilot[0] + mean)


def from_factor(R: np.ndarray, mean: np.ndarray) -> Whitening:
    """Coordinates in which rows with R factor ``R`` and ``mean`` have unit covariance.

    An input that is zero all through the pilot would be lost if its direction were dropped, so
    small ``σ`` are raised to what is negligible instead.
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
    return Whitening(mean, size, Vt.T, np.maximum(sigma, negligible(sigma[0], m)), everything)


def overall_condition(white: Whitening, total: np.ndarray) -> float:
    """Condition number of all rows, from their moments: a pilot may have missed something."""
    m = len(white.mean)
    z = total[0, 1 : 1 + m] / total[0, 0]
    covariance = total[1 : 1 + m, 1 : 1 + m] / total[0, 0] - np.outer(z, z)
    # Scale the diagonal first: directions the pilot missed may be 1e20 larger than the rest.
    d = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(covariance / np.outer(d, d))
    R = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T * d
    return condition_of(np.linalg.svd(R @ white.unwhiten, compute_uv=False))


def is_poor(white: Whitening, total: np.ndarray) -> bool:
    """Whether all rows together are badly conditioned in coordinates that should whiten them."""
    at = white.settled(total).places
    gram = total[np.ix_(at, at)]
    d = np.sqrt(np.maximum(np.diag(gram), np.finfo(float).tiny))
    values = np.linalg.eigvalsh(gram / np.outer(d, d))
    return not values[-1] < POOR * values[0]


def moments(Z: np.ndarray, Y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """``[1, Z, Y]ᵀ diag(w) [1, Z, Y]`` of some rows."""
    A = np.hstack([np.ones((len(Z), 1)), Z, Y])
    return A.T @ (A if weights is None else A * weights[:, None])


def add_pieces(total: np.ndarray, pieces: Pieces, start: int, Z, Y, weights=None) -> None:
    """Add rows ``start …`` to the moments of their pieces, ``total (pieces, a, a)``, in place."""
    A = np.hstack([np.ones((len(Z), 1)), Z, Y])
    for piece, rows in pieces.parts(start, start + len(Z)):
        part = A[rows]
        total[piece] += part.T @ (part if weights is None else part * weights[rows, None])


TOGETHER = 1024  # rows whose moments are taken at a time, in the cache
MANY_RIDGES = 20  # ridge values from which one SVD is cheaper than a Cholesky factor for each
LARGE = 128  # columns from which an SVD of all of them is worth avoiding
FEW_RIDGES = 4  # up to which a QR for each is cheaper than one SVD


def solve(
    M: np.ndarray,
    white: Whitening,
    shift: np.ndarray,
    ridge: np.ndarray,
    penalised: bool,
    whitened: bool = True,
    alike: float = BALANCED,
) -> Readouts:
    """Readouts from the moments ``M (sets, a, a)`` of training sets; targets were shifted.

    ``whitened`` tells whether ``v`` is wanted too; columns whose sizes differ by a factor of up to
    ``alike`` are solved by an SVD at a ridge of 0.
    """
    at, m, M = white.places, len(white.mean), _held(M, white)
    alone = full_rank(white, ridge) & (white.size == 1).all() & (len(ridge) <= MANY_RIDGES)
    found = []
    if alone.any():
        one = solve_path(M, white.coordinates, shift, ridge[alone], penalised)
        found.append(one if whitened else one._replace(v=None))
    if not alone.all():
        found.append(_by_root(M, white, shift, ridge[~alone], penalised, whitened, alike))
    W, v, sound = found[0]
    if len(found) > 1:
        order = np.argsort(np.append(np.flatnonzero(alone), np.flatnonzero(~alone)))
        W, v, sound = (
            None if both[0] is None else np.concatenate(both, axis=1)[:, order]
            for both in zip(*found, strict=True)
        )
    if whitened and len(at) <= m:
        inner, v = v, np.zeros_like(W)
        v[:, :, at] = inner
    return Readouts(W, v, sound)


def _held(M: np.ndarray, white: Whitening) -> np.ndarray:
    """Moments without the directions that hold nothing, which are zero."""
    at, m = white.places, len(white.mean)
    if len(at) > m:
        return M
    kept = np.append(at, np.arange(1 + m, M.shape[-1]))
    return M[:, kept[:, None], kept]


def corrected(
    M: np.ndarray, white: Whitening, shift: np.ndarray, ridge: np.ndarray, Z, Y, weights=None
) -> np.ndarray | None:
    """Readouts ``(ridge, 1 + m, outputs)`` of a training set whose moments ``M`` are not trusted.

    What is lost is in the Gram matrix, and not in the rows ``Z`` of directions that are held: with
    ``A`` the system of a ridge value, as far as it is known, and ``r`` the residuals of its readout
    ``v``, repeated ::

        v ← v + A⁻¹ (Zᵀ D r − β diag(σ⁻²) v)

    leads to the readout of the rows, as near as a QR of them comes (corrected seminormal equations,
    Björck 1987). Each time the error shrinks by as much as ``A`` is off, and the first correction
    is what that was. None where it does not become small. For a free bias and columns of like size.
    """
    given, at = systems(_held(M[None], white), white.coordinates, shift, False), white.coordinates
    # A direction that no row has, but for rounding, is left out by the definition.
    _, _, sound = _root(given, MISSING)
    penalty = ridge[:, None] * at.penalty
    L, there = factored(given.gram + penalty[:, :, None] * np.eye(len(at.penalty)))
    if not (sound.all() and there.all()):
        return None
    z = given.z[0]
    B = np.tile(Y - (shift + given.b[0]), len(ridge))
    v = solve_factored(L, given.right)
    for _ in range(CORRECTIONS):
        flat = np.concatenate(list(v), axis=1)
        residuals = B - Z @ flat + z.T @ flat
        if weights is not None:
            residuals *= weights[:, None]
        gradient = Z.T @ residuals - z * residuals.sum(axis=0)
        gradient = np.stack(np.split(gradient, len(ridge), axis=1)) - penalty[:, :, None] * v
        step = solve_factored(L, gradient)
        v = v + step
        if not (np.linalg.norm(step, axis=1) > CORRECTED * np.linalg.norm(v, axis=1)).any():
            W = lead_back(v[None], given, at, shift)[0][0]
            return W if np.isfinite(W).all() else None
    return None


def full_rank(white: Whitening, ridge: np.ndarray) -> np.ndarray:
    """The ridge values at which no direction is left out: all, but perhaps zero."""
    sigma = white.sigma[white.held]
    least, most = sigma.min(initial=np.inf), sigma.max(initial=0.0)
    return (ridge > 0) | bool(least > FULL_RANK * negligible(most, len(white.mean)))


def _by_root(
    M, white: Whitening, shift, ridge, penalised: bool, whitened: bool, alike: float
) -> Readouts:
    """The same by a root of the moments.

    With ``M_zz = LLᵀ`` and ``[1, X] = [1, Z] S``, the R factor of the rows is ``F = LᵀS`` and
    ``g = L⁻¹ M_zy``. An unpenalised bias means the same on centred moments, without the ones.
    """
    given = systems(M, white.coordinates, shift, penalised)
    L, g, trusted = _root(given)
    S = white.frame[white.places] if penalised else white.unwhiten[white.held]
    v: Any = None
    if not (ridge.any() or penalised) and (white.size == 1).all() and len(S) >= LARGE:
        each = zip(L, g, strict=True)
        v = np.stack([_least_norm(*one, white) for one in each])[:, None]
        w = white.whiten[:, white.held] @ v
    else:
        w, fitted = _solved(np.swapaxes(L, 1, 2) @ S, g, ridge, alike, whitened)
        v = _solved_back(L, fitted) if whitened else None
    W = w
    if not penalised:
        mean = white.mean + given.z[..., 0] @ S
        W = np.concatenate([shift + given.b[:, None] - mean[:, None, None] @ w, w], axis=2)
        if v is not None:
            bias = shift + given.b[:, None] - np.swapaxes(given.z, 1, 2)[:, None] @ v
            v = np.concatenate([bias, v], axis=2)
    if v is not None:
        v[..., 0, :] -= shift
    return Readouts(W, v, np.repeat(trusted[:, None], len(ridge), axis=1))


def _least_norm(L: np.ndarray, g: np.ndarray, white: Whitening) -> np.ndarray:
    """The solution ``v`` at a ridge of 0, without directions that are negligible in this set.

    The columns of ``F = Lᵀ diag(σ)`` get ever smaller, so whatever is negligible lies in the last
    ones alone, but for a rotation by less than ``1 / FAR``. The eigenvectors of these alone see far
    enough below it (`_folds.many_rows.least_norm` is the same for many sets).
    """
    sigma = white.sigma[white.held]
    least = negligible(_norm(L.T * sigma), len(white.mean))
    lead = int(np.argmin(np.append(sigma * np.abs(np.diag(L)) > FAR * least, False)))
    F = L[lead:, lead:].T * (sigma[lead:] / (FAR * least))
    squares, U = np.linalg.eigh(F @ F.T)
    kept = squares > FAR**-2
    c = U[:, kept] @ ((U[:, kept].T @ g[lead:]) / squares[kept, None])
    last = sigma[lead:, None] * (F.T @ c) / (FAR * least)
    first = g[:lead] - L[lead:, :lead].T @ last
    first = np.linalg.solve(L[:lead, :lead].T, first)  # not SciPy's, which lets no thread beside it
    return np.concatenate([first, last])


def _norm(F: np.ndarray) -> float:
    """The largest singular value, by power iteration."""
    x = probe(F.shape[1], 1)
    for _ in range(POWERS):
        x = F.T @ (F @ x)
        x = x / np.linalg.norm(x)
    return float(np.linalg.norm(F @ x))


def _solved(F: np.ndarray, g: np.ndarray, ridge: np.ndarray, alike: float, fitted: bool):
    """Minimisers ``w`` of ``‖F w − g‖² + β ‖w‖²`` for every set, and if wanted ``F w``.

    See `_folds.ridge` for the two ways.
    """
    # At 0, directions are left out by their singular values anyway.
    few = len(ridge) <= FEW_RIDGES and ridge.any()
    if not few and is_balanced(F, BALANCED if ridge.any() else alike):
        f = factor(F, g)
        return f.solve(ridge), f.fitted(ridge) if fitted else None
    p = F.shape[2]
    R = triangle_of(np.concatenate([F, g], axis=2))
    w = np.stack([solve_each(r[:p, :p], r[:p, p:], ridge) for r in R])
    return w, F[:, None] @ w if fitted else None


def _solved_back(L: np.ndarray, fitted: np.ndarray) -> np.ndarray:
    """Solutions in whitened coordinates, ``L⁻ᵀ F w``."""
    sets, ridges, p, outputs = fitted.shape
    flat = np.moveaxis(fitted, 1, 2).reshape(sets, p, ridges * outputs)
    solutions = np.linalg.solve(np.swapaxes(L, 1, 2), flat)
    return np.moveaxis(solutions.reshape(sets, p, ridges, outputs), 2, 1)


def _root(given: Systems, most: float = POOR) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``L`` with ``LLᵀ`` a stack of Gram matrices, ``g = L⁻¹ right``, and which can be trusted.

    They are scaled by the diagonal before anything was subtracted, because rounding is proportional
    to that: the condition of the scaled matrix bounds what rounding does to a solution. The trace
    of its inverse, estimated by the growth of two random vectors under ``L⁻¹``, is that condition,
    but for the number of columns.
    """
    d = np.sqrt(np.maximum(given.size, np.finfo(float).tiny))[:, :, None]
    L, trusted = factored(given.gram / (d * np.swapaxes(d, 1, 2)))
    random = np.broadcast_to(probe(d.shape[1]), (*d.shape[:2], PROBES))
    grown = np.linalg.solve(L, np.concatenate([given.right / d, random], axis=2))
    with np.errstate(over="ignore"):
        growth = (grown[:, :, -PROBES:] ** 2).sum(axis=(1, 2)) / PROBES
    return d * L, grown[:, :, :-PROBES], trusted & (growth < most + 10 * d.shape[1])
