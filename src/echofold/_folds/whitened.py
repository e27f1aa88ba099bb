"""Readouts over a ridge path in whitened coordinates, by a Cholesky factor for each ridge value.

One text for two machines: arrays are NumPy's on the host and JAX's on a device; leading axes
``(…)`` are candidates. In coordinates ``Z = (X − μ) V Σ⁻¹`` a ridge ``β`` means
``(M_zz + β diag(σ⁻²)) v = M_zy``, and the readout is ``V Σ⁻¹ v``. A Cholesky factorisation is as
accurate as an SVD here, because it is indifferent to the units of rows and columns and the penalty
has no other entries than the diagonal. A penalised bias adds ``β q qᵀ`` (see `solve_path`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv

from echofold._folds.tolerances import POOR
from echofold._machine.arrays import namespace

PROBES = 2  # random vectors whose growth tells how well conditioned a system is


class Coordinates(NamedTuple):
    """Where ``m`` columns are described by ``r`` white ones.

    ``mean (…, m)`` is subtracted, ``back (…, m, r)`` is ``V Σ⁻¹``, ``penalty (…, r)`` is ``σ⁻²``;
    ``rest (…, m)`` is the part of the mean that lies in none of the directions. ``empty (…, r)`` is
    1, and ``back`` and ``penalty`` 0, where there are fewer directions than there is room for.
    """

    mean: Any
    back: Any
    penalty: Any
    rest: Any
    empty: Any


class Path(NamedTuple):
    """Readouts of training sets over a ridge path.

    ``W (…, sets, ridge, 1 + m, outputs)`` acts on ``[1, X]``, ``v`` with ``1 + r`` in place of it
    on ``[1, Z]``, where it predicts ``Y − shift``; ``sound (…, sets, ridge)`` tells which systems
    were so well conditioned that rounding has done little.
    """

    W: Any
    v: Any
    sound: Any


def solve_path(M, at: Coordinates, shift, ridge, penalised: bool) -> Path:
    """Readouts from moments ``M (…, sets, 1 + r + outputs, same)`` of shifted targets.

    A free bias is the same problem on centred moments. A penalised one is part of it: with
    ``a = Σ⁻¹ Vᵀ μ`` and ``τ = 1 + ‖rest‖²``, the least squared norm of a readout that does what
    ``[b; v]`` does on ``[1, Z]`` is ``vᵀ diag(σ⁻²) v + (b − aᵀv)² / τ``.
    """
    xp, p = namespace(M), 1 + at.penalty.shape[-1]
    gram, cross = M[..., :p, :p], M[..., :p, p:]
    size = xp.einsum("...ii->...i", gram)
    a = (xp.swapaxes(at.back, -1, -2) @ at.mean[..., None])[..., None, None, :, :]
    back = at.back[..., None, None, :, :]
    if penalised:
        cross = cross + gram[..., :, :1] * shift  # the penalty acts on a bias of unshifted targets
        tau = 1 + (at.rest * at.rest).sum(axis=-1)[..., None]
        first = xp.ones_like(tau)
        q = xp.concatenate([first, -a[..., 0, 0, :, 0]], axis=-1) / xp.sqrt(tau)
        penalty = xp.concatenate([0 * first, at.penalty], axis=-1)
        empty = xp.concatenate([0 * first, at.empty], axis=-1)
        v, sound = _solve_each(gram, size, cross, ridge, penalty, empty, q)
        free = v[..., :1, :] - (a * v[..., 1:, :]).sum(axis=-2, keepdims=True)
        free = free / tau[..., None, None, None]
        w = back @ v[..., 1:, :] + at.rest[..., None, None, :, None] * free
        v = xp.concatenate([v[..., :1, :] - shift, v[..., 1:, :]], axis=-2)
        return Path(xp.concatenate([free, w], axis=-2), v, sound)
    weight = gram[..., :1, :1]
    z, b = gram[..., 1:, :1] / weight, cross[..., :1, :] / weight
    centred = gram[..., 1:, 1:] - weight * z * xp.swapaxes(z, -1, -2)
    right = cross[..., 1:, :] - weight * z * b
    inner, sound = _solve_each(centred, size[..., 1:], right, ridge, at.penalty, at.empty)
    bias = b[..., None, :, :] - xp.swapaxes(z, -1, -2)[..., None, :, :] @ inner
    w = back @ inner
    # By the readout itself, so that what rounding has done to it is undone at the mean.
    first = shift + bias - at.mean[..., None, None, None, :] @ w
    v = xp.concatenate([bias, inner], axis=-2)
    return Path(xp.concatenate([first, w], axis=-2), v, sound)


def _solve_each(gram, size, right, ridge, penalty, empty, q=None):
    """Solutions ``(…, sets, ridge, p, outputs)`` of ``gram + β (diag(penalty) + q qᵀ)``.

    Rounding is proportional to the diagonal before anything was subtracted from it, ``size``. In
    units of that, the trace of the inverse is the condition of a system but for the number of
    columns; the growth of random vectors estimates it. Also returns where it is small.
    """
    xp, p = namespace(gram), gram.shape[-1]
    probe = np.random.RandomState(0).standard_normal((p, PROBES))
    most = PROBES * (POOR + 10 * p)
    added = penalty if q is None else penalty + q * q
    # (…, sets, ridge, p): the diagonals, and the units of the columns
    units = (
        size[..., None, :]
        + (ridge[:, None] * added[..., None, :] + empty[..., None, :])[..., None, :, :]
    )
    units = xp.sqrt(xp.maximum(units, np.finfo(float).tiny))
    probes = units[..., None] * probe
    if xp is np:
        return _one_by_one(gram, right, ridge, penalty, q, probes, most)
    diagonal = ridge[:, None] * penalty[..., None, :] + empty[..., None, :]
    H = gram[..., None, :, :] + (diagonal[..., None] * xp.eye(p))[..., None, :, :, :]
    if q is not None:
        outer = q[..., :, None] * q[..., None, :]
        H = H + (ridge[:, None, None] * outer[..., None, :, :])[..., None, :, :, :]
    wide = xp.broadcast_to(right[..., None, :, :], (*probes.shape[:-1], right.shape[-1]))
    solutions = solve_positive(H, xp.concatenate([wide, probes], axis=-1))
    grown = (probes * solutions[..., right.shape[-1] :]).sum(axis=(-1, -2))
    return solutions[..., : right.shape[-1]], grown < most


def _one_by_one(gram, right, ridge, penalty, q, probes, most):
    """`_solve_each` by LAPACK, for ``gram (sets, p, p)``: no more than one system in memory."""
    sets, p, outputs = right.shape
    solutions = np.zeros((sets, len(ridge), p, outputs))
    sound = np.zeros((sets, len(ridge)), dtype=bool)
    outer = None if q is None else np.outer(q, q)
    system, both = np.empty((p, p)), np.empty((outputs + PROBES, p))
    for one in range(sets):
        for place, beta in enumerate(ridge):
            np.copyto(system, gram[one])
            if outer is not None:
                system += beta * outer
            system.flat[:: p + 1] += beta * penalty
            both[:outputs], both[outputs:] = right[one].T, probes[one, place].T
            # A symmetric matrix, and columns as rows, lie as LAPACK wants them.
            _, found, failed = dposv(system.T, both.T, overwrite_a=True, overwrite_b=True)
            grown = np.vdot(probes[one, place], found[:, outputs:])
            sound[one, place] = not failed and grown < most
            solutions[one, place] = found[:, :outputs]
    return solutions, sound


def solve_positive(H, B):
    """Solutions of symmetric systems on a device; NaN where one is not positive definite."""
    from jax import lax

    L = lax.linalg.cholesky(H, symmetrize_input=False)
    half = lax.linalg.triangular_solve(L, B, left_side=True, lower=True)
    return lax.linalg.triangular_solve(L, half, left_side=True, lower=True, transpose_a=True)


def squared_errors(M, v):
    """Squared error of readouts ``v`` on rows of moments ``M (…, sets, a, a)``, for each output.

    ``ΣY² − 2⟨v, ZᵀY⟩ + ⟨v, ZᵀZ v⟩``, as ``(…, sets, ridge, outputs)``; NaN where so little is left
    of ``ΣY²`` that the difference is mostly rounding.
    """
    xp, r = namespace(M), v.shape[-2]
    gram, cross = M[..., None, :r, :r], M[..., None, :r, r:]
    total = xp.einsum("...ii->...i", M[..., r:, r:])[..., None, :]
    error = total + (v * (gram @ v - 2 * cross)).sum(axis=-2)
    return xp.where(error < 1e-8 * total, np.nan, error)
