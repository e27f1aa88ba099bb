"""Readouts over a ridge path in whitened coordinates, by a Cholesky factor for each ridge value.

A training set that has most of the rows is not far from a multiple of the identity there. The host
solves all ridge values of such a set at once by conjugate gradients (`solve_together`): some 20
products with one matrix, a tenth of what a factor for each value costs.

One text for two machines: arrays are NumPy's on the host and JAX's on a device; leading axes
``(…)`` are candidates. In coordinates ``Z = (X − μ) V Σ⁻¹`` a ridge ``β`` means
``(M_zz + β diag(σ⁻²)) v = M_zy``, and the readout is ``V Σ⁻¹ v``. A Cholesky factorisation is as
accurate as an SVD here, because it is indifferent to the units of rows and columns and the penalty
has no other entries than the diagonal. A free bias means the same on centred moments; a penalised
one adds ``β q qᵀ`` (see `systems`).

What leaving rows out does to their residuals has one text, too (`leave_one`, `leave_several`). With
``C = X_R A⁻¹ X_Rᵀ`` of the rows ``R`` left out, ``d = √w_R`` and residuals ``r`` of the solution on
all rows::

    p = (I − d∘C∘d)⁻¹ (d∘r),    e = r + C (d∘p)

How much this magnifies rounding is seen from the growth of a random vector under
``(I − dCd)⁻¹``. Rows of ``d = 0`` are padding.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrs

from echofold._folds.tolerances import GROWTH, POOR, PROBES, probe
from echofold._machine.arrays import lax, namespace

CACHED = 2**17  # numbers in the systems that the host factors together
FEWEST = 4  # ridge values that are worth conjugate gradients
MOST = 60  # products of these, after which factors would have been cheaper
LOSS = 1e-11  # of the first residual, below which the recursion for it is no longer believed
END = 1e-16
ENOUGH = 1  # sets that conjugate gradients do not solve, until they are given up
LARGE = 32  # rows from which the host solves systems one by one, as positive definite ones


class Coordinates(NamedTuple):
    """Where ``m`` columns are described by ``r`` white ones.

    ``mean (…, m)`` is subtracted, ``whiten (…, m, r)`` is ``V Σ⁻¹``, ``penalty (…, r)`` is ``σ⁻²``;
    ``rest (…, m)`` is the part of the mean that lies in none of the directions. ``empty (…, r)`` is
    1, and ``whiten`` and ``penalty`` 0, where there are fewer directions than there is room for.
    """

    mean: Any
    whiten: Any
    penalty: Any
    rest: Any
    empty: Any


class Readouts(NamedTuple):
    """Readouts of training sets over a ridge path.

    ``W (…, sets, ridge, 1 + m, outputs)`` acts on ``[1, X]``, ``v`` with ``1 + r`` in place of it
    on ``[1, Z]``, where it predicts ``Y − shift``; ``sound (…, sets, ridge)`` tells which systems
    were so well conditioned that rounding has done little.
    """

    W: Any
    v: Any
    sound: Any

    @property
    def trusted(self) -> np.ndarray:
        """The sets ``(…, sets)`` of which all readouts are sound."""
        return np.all(np.asarray(self.sound), axis=-1)


class Systems(NamedTuple):
    """What is solved for a ridge path: ``gram + β (diag(penalty) + q qᵀ)``, on the right ``right``.

    ``size`` is the diagonal of ``gram`` before anything was subtracted, which rounding is
    proportional to. For a free bias rows are centred by ``z (…, sets, r, 1)`` and targets by
    ``b (…, sets, 1, outputs)``; for a penalised one the column of ones is part of the system.
    """

    gram: Any
    size: Any
    right: Any
    penalty: Any
    empty: Any
    q: Any
    z: Any
    b: Any


def solve_path(M, at: Coordinates, shift, ridge, penalised: bool) -> Readouts:
    """Readouts from moments ``M (…, sets, 1 + r + outputs, same)`` of shifted targets."""
    given = systems(M, at, shift, penalised)
    v, sound = _solve_each(given, ridge)
    W, v = lead_back(v, given, at, shift)
    return Readouts(W, v, sound)


def systems(M, at: Coordinates, shift, penalised: bool) -> Systems:
    """From moments ``M (…, sets, 1 + r + outputs, same)`` of shifted targets.

    A penalised bias is part of the problem: with ``a = Σ⁻¹ Vᵀ μ`` and ``τ = 1 + ‖rest‖²``, the
    least squared norm of a readout that does what ``[b; v]`` does on ``[1, Z]`` is
    ``vᵀ diag(σ⁻²) v + (b − aᵀv)² / τ``.
    """
    xp, p = namespace(M), 1 + at.penalty.shape[-1]
    gram, cross = M[..., :p, :p], M[..., :p, p:]
    size = xp.einsum("...ii->...i", gram)
    if penalised:
        right = cross + gram[..., :, :1] * shift  # the penalty acts on a bias of unshifted targets
        a, tau = _mean_inside(at)
        first = xp.ones_like(tau)
        q = xp.concatenate([first, -a], axis=-1) / xp.sqrt(tau)
        penalty = xp.concatenate([0 * first, at.penalty], axis=-1)
        empty = xp.concatenate([0 * first, at.empty], axis=-1)
        return Systems(gram, size, right, penalty, empty, q, None, None)
    weight = gram[..., :1, :1]
    z, b = gram[..., 1:, :1] / weight, cross[..., :1, :] / weight
    means = weight * z * xp.swapaxes(z, -1, -2)
    # On the host in place: of large networks these are many megabytes, slow to come by.
    centred = xp.subtract(gram[..., 1:, 1:], means, **({"out": means} if xp is np else {}))
    right = cross[..., 1:, :] - weight * z * b
    return Systems(centred, size[..., 1:], right, at.penalty, at.empty, None, z, b)


def _mean_inside(at: Coordinates):
    """``a = Σ⁻¹ Vᵀ μ (…, r)`` and ``τ = 1 + ‖rest‖² (…, 1)``."""
    xp = namespace(at.mean)
    a = (xp.swapaxes(at.whiten, -1, -2) @ at.mean[..., None])[..., 0]
    return a, 1 + (at.rest * at.rest).sum(axis=-1)[..., None]


def lead_back(v, given: Systems, at: Coordinates, shift, less=0.0):
    """Readouts of ``[1, X]`` and of ``[1, Z]`` from solutions ``v (…, sets, ridge, p, outputs)``.

    A free bias, which they are without, is lower by ``less``.
    """
    xp = namespace(v)
    if given.q is None:
        bias = given.b[..., None, :, :] - xp.swapaxes(given.z, -1, -2)[..., None, :, :] @ v - less
        w = at.whiten[..., None, None, :, :] @ v
        # By the readout itself, so that what rounding has done to it is undone at the mean.
        first = shift + bias - at.mean[..., None, None, None, :] @ w
    else:
        first, v = v[..., :1, :], v[..., 1:, :]
        bias = first - shift
        a, tau = _mean_inside(at)
        inside = (a[..., None, None, :, None] * v).sum(axis=-2, keepdims=True)
        first = (first - inside) / tau[..., None, None, None]
        w = at.whiten[..., None, None, :, :] @ v + at.rest[..., None, None, :, None] * first
    return xp.concatenate([first, w], axis=-2), xp.concatenate([bias, v], axis=-2)


def _solve_each(given: Systems, ridge):
    """Solutions ``(…, sets, ridge, p, outputs)``, and where they are sound.

    In units of ``size``, the trace of the inverse is the condition of a system but for the number
    of columns; the growth of random vectors estimates it.
    """
    xp, p = namespace(given.gram), given.gram.shape[-1]
    probes = units(given, ridge)[..., None] * probe(p)
    most = PROBES * (POOR + 10 * p)
    if xp is np:
        return _one_by_one(given, ridge, probes, most)
    outputs = given.right.shape[-1]
    wide = xp.broadcast_to(given.right[..., None, :, :], (*probes.shape[:-1], outputs))
    L = cholesky(penalised_systems(given, ridge))
    solutions = solve_twice(L, xp.concatenate([wide, probes], axis=-1))
    grown = (probes * solutions[..., outputs:]).sum(axis=(-1, -2))
    return solutions[..., :outputs], grown < most


def units(given: Systems, ridge):
    """Roots of the diagonals ``(…, sets, ridge, p)`` before anything was subtracted from them."""
    xp, added = namespace(given.gram), given.penalty
    if given.q is not None:
        added = added + given.q * given.q
    filled = ridge[:, None] * added[..., None, :] + given.empty[..., None, :]
    diagonal = given.size[..., None, :] + filled[..., None, :, :]
    return xp.sqrt(xp.maximum(diagonal, np.finfo(float).tiny))


def penalised_systems(given: Systems, ridge):
    """All systems ``(…, sets, ridge, p, p)``."""
    xp = namespace(given.gram)
    diagonal = ridge[:, None] * given.penalty[..., None, :] + given.empty[..., None, :]
    added = diagonal[..., None] * xp.eye(given.gram.shape[-1])
    if given.q is not None:
        outer = given.q[..., :, None] * given.q[..., None, :]
        added = added + ridge[:, None, None] * outer[..., None, :, :]
    return given.gram[..., None, :, :] + added[..., None, :, :, :]


def _one_by_one(given: Systems, ridge, probes, most):
    """`_solve_each` by the host, for one candidate: few systems in memory at a time.

    No system is worse conditioned, in units of its diagonal, than both those of the least and the
    largest ridge value, so random vectors need to be asked there only.
    """
    sets, p, outputs = given.right.shape
    solutions = np.zeros((sets, len(ridge), p, outputs))
    sound = np.zeros((sets, len(ridge)), dtype=bool)
    if given.q is None and is_cheaper(p, len(ridge), outputs):
        _by_products(given, ridge, probes, most, solutions, sound)
    outer = None if given.q is None else np.outer(given.q, given.q)
    together, at = max(1, CACHED // p**2), np.arange(p)
    order = np.roll(np.argsort(ridge), 1)
    ends = order[:2]
    for one in np.flatnonzero(~sound.all(axis=1)):
        right, well = np.asfortranarray(given.right[one]), False
        for first in range(0, len(ridge), together):
            places = order[first : first + together]
            systems = np.repeat(given.gram[one][None], len(places), axis=0)
            if outer is not None:
                systems += ridge[places][:, None, None] * outer
            systems[:, at, at] += ridge[places][:, None] * given.penalty
            factors, there = factored(systems)
            for found_at in np.flatnonzero(there):
                place, factor = places[found_at], factors[found_at]
                random = probes[one, place]
                wide = right if well else np.asfortranarray(np.hstack([right, random]))
                # Columns as rows, and a lower factor as an upper one, lie as LAPACK wants them.
                found = dpotrs(factor.T, wide)[0]
                sound[one, place] = well or np.vdot(random, found[:, outputs:]) < most
                solutions[one, place] = found[:, :outputs]
                well = bool(sound[one, ends].all())
    return solutions, sound


def _by_products(given: Systems, ridge, probes, most, solutions, sound) -> None:
    """The sets that conjugate gradients solve for all ridge values at once, in place."""
    sets, p, outputs = given.right.shape
    least = int(np.argmin(ridge))
    path = np.append(np.repeat(ridge, outputs), np.full(PROBES, ridge[least]))
    diagonals = given.penalty[:, None] * path
    failed = 0
    for one in range(sets):
        right = np.hstack([np.tile(given.right[one], (1, len(ridge))), probes[one, least]])
        found = solve_together(given.gram[one], diagonals, right)
        if found is None:
            failed += 1
            if failed > ENOUGH:  # so it will be for the others
                return
            continue
        sound[one] = np.vdot(probes[one, least], found[:, -PROBES:]) < most
        each = found[:, :-PROBES].reshape(p, len(ridge), outputs)
        solutions[one] = np.moveaxis(each, 0, 1)


def is_cheaper(p: int, ridges: int, outputs: int) -> bool:
    """Whether 20 products cost less than a factor for each ridge value, of half their speed."""
    return ridges >= FEWEST and 90 * (ridges * outputs + PROBES) < ridges * p


def solve_together(gram, diagonals, right) -> np.ndarray | None:
    """Solutions of ``(gram + diag(d)) x = b`` for columns ``d`` and ``b (p, systems)``.

    None where the products do not suffice.
    """
    scale = 1 / (np.diag(gram)[:, None] + diagonals)
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        return None
    x, r = np.zeros_like(right), right.copy()
    z = scale * r
    step, size = z.copy(), np.einsum("pc,pc->c", r, z)
    first, anew = size.copy(), True
    for _ in range(MOST):
        if (size <= END**2 * first).all():
            return x
        product = gram @ step
        product += diagonals * step
        along = np.einsum("pc,pc->c", step, product)
        if not (along >= 0).all():
            return None
        ahead = np.divide(size, along, out=np.zeros_like(size), where=along > 0)
        x += ahead * step
        if anew and (size < LOSS**2 * first).all():
            anew = False
            r = right - gram @ x - diagonals * x
            z = scale * r
            step, size = z.copy(), np.einsum("pc,pc->c", r, z)
            continue
        r -= ahead * product
        z = scale * r
        before, size = size, np.einsum("pc,pc->c", r, z)
        step *= np.divide(size, before, out=np.zeros_like(size), where=before > 0)
        step += z
    return None


def factored(systems: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower Cholesky factors of a stack on the host, and which there are.

    By NumPy, which lets other threads run meanwhile, as SciPy does not.
    """
    there = np.ones(len(systems), dtype=bool)
    try:
        return np.linalg.cholesky(systems), there
    except np.linalg.LinAlgError:  # one that has none stops the whole stack
        pass
    factors = np.broadcast_to(np.eye(systems.shape[-1]), systems.shape).copy()
    for place, one in enumerate(systems):
        try:
            factors[place] = np.linalg.cholesky(one)
        except np.linalg.LinAlgError:
            there[place] = False
    return factors, there


def solve_factored(L: np.ndarray, right: np.ndarray) -> np.ndarray:
    """``(L Lᵀ)⁻¹ right`` of lower factors on the host; one right side for all, or one for each."""
    right = np.broadcast_to(right, (len(L), *right.shape[1:]))
    return np.stack([dpotrs(one.T, b)[0] for one, b in zip(L, right, strict=True)])


def cholesky(H):
    """Lower factors on a device; NaN where a matrix is not positive definite."""
    return lax.linalg.cholesky(H, symmetrize_input=False)


def solve_lower(L, B, transposed: bool = False):
    """``L⁻¹ B`` or ``L⁻ᵀ B`` on a device."""
    return lax.linalg.triangular_solve(L, B, left_side=True, lower=True, transpose_a=transposed)


def solve_twice(L, B):
    """``(L Lᵀ)⁻¹ B`` on a device."""
    return solve_lower(L, solve_lower(L, B), transposed=True)


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


def leave_one(C, r, d):
    """One row left out of each split: ``C (…)``, ``r (…, outputs)``, ``d (…)``.

    Returns held-out residuals, ``d∘p``, and where the rest cannot be trusted.
    """
    xp = namespace(C)
    left = 1 - d * C * d
    bad = ~(left > 1 / GROWTH)
    p = d[..., None] * r / xp.where(bad, 1.0, left)[..., None]
    return r + (C * d)[..., None] * p, d[..., None] * p, bad


def leave_several(C, r, d):
    """Rows left out together: ``C (…, rows, rows)``, ``r (…, rows, outputs)``, ``d (…, rows)``."""
    xp, (rows, outputs) = namespace(C), r.shape[-2:]
    random = probe(rows) * (d > 0)[..., None]
    right = xp.concatenate([d[..., None] * r, xp.broadcast_to(random, (*r.shape[:-1], PROBES))], -1)
    system = xp.eye(rows) - d[..., None] * C * d[..., None, :]
    solutions = _solve(system, right) if xp is np else solve_twice(cholesky(system), right)
    bad = ~(xp.abs(solutions[..., outputs:]).max(axis=(-1, -2)) < GROWTH)
    p = d[..., None] * solutions[..., :outputs]
    return r + C @ p, p, bad


def _solve(systems: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solutions of a stack; NaN for systems that have none."""
    if systems.shape[1] < LARGE:
        try:
            return np.linalg.solve(systems, right)
        except np.linalg.LinAlgError:  # one exactly singular system stops the whole stack
            pass
    solutions = np.full(right.shape, np.nan)
    factors, there = factored(systems)
    for i in np.flatnonzero(there):
        solutions[i] = dpotrs(factors[i].T, right[i])[0]
    return solutions
