"""Every split from one factorisation of all rows, for splits that leave few rows out.

For a split that leaves out the rows ``R`` (validation and gap), with ``A = XᵀDX + βP``,
``C = X_R A⁻¹ X_Rᵀ``, ``d = √w_R`` and ``r = Y − XW`` (the paper's equation 11 without its
``Nr × Nr`` matrix for every split)::

    p   = (I − d∘C∘d)⁻¹ (d∘r_R)
    e_R = r_R + C (d∘p)              held-out residuals
    W_R = W − A⁻¹ X_Rᵀ (d∘p)         readout of the split

All ridge values come from one SVD: with ``T = X Q`` (rows in the right singular basis),
``C(β) = T_R diag(1 / (s² + β)) T_Rᵀ``, plus ``1/Σw`` in every entry for an unpenalised bias.
With no more rows than columns the dual form is used, which stays exact at ``β = 0``:
``e_R = S_RR⁻¹ (S Y)_R`` with ``S = (XXᵀ + βI)⁻¹``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrcon

from echofold._naive import naive
from echofold._ridge import Centre, factor, prepare_rows, reduce_rows
from echofold._rows import runs
from echofold._splits import RowSplits

CHUNK = 2**22  # numbers in the largest array made for a group of splits
FEW = 2  # ridge values up to which a QR for each is cheaper than one SVD
SINGULAR = 3e5  # growth of a random vector under (I − dCd)⁻¹ from which a split is solved directly


@dataclass
class LeftOut:
    """What leaving each split's rows out gives; rows are padded to the longest split.

    ``rows (splits, longest)`` holds row numbers, ``n`` where padded; ``residuals``
    ``(splits, longest, ridge, outputs)``; ``W (splits, ridge, 1 + m, outputs)`` where asked for;
    ``refitted (splits, ridge)`` says where the rest was so near rank deficiency that it was solved
    directly; ``condition`` is that of all rows.
    """

    rows: np.ndarray
    residuals: np.ndarray
    W: Any
    refitted: np.ndarray
    condition: float = np.nan

    @property
    def direct(self) -> int:
        """Number of splits that were refitted."""
        return int(self.refitted.any(axis=1).sum())


def large_k(
    X, Y, weights, splits: RowSplits, ridge: np.ndarray, penalised: bool, readouts: bool
) -> LeftOut:
    """Residuals on the rows left out, and the readouts if ``readouts``, for every split."""
    rows = splits.left_out_rows
    A, B, centre = prepare_rows(X, Y, weights, penalised)
    d = np.ones(len(X)) if weights is None else np.sqrt(weights)
    shape = (len(rows), rows.shape[1], len(ridge), Y.shape[1])
    found = LeftOut(
        rows,
        np.empty(shape),
        np.empty((len(rows), len(ridge), 1 + X.shape[1], Y.shape[1])) if readouts else None,
        np.zeros((len(rows), len(ridge)), dtype=bool),
    )
    if len(A) <= A.shape[1] + (not penalised) and (d > 0).all():
        _dual(A, B, d, centre, ridge, found)
    else:
        F, g = reduce_rows(A, B, None if weights is None else d)
        for basis in _bases(A, F, g, ridge, found):
            _primal(basis, B, d, centre, found)
    for split in np.flatnonzero(found.refitted.any(axis=1)).tolist():
        _refit(X, Y, weights, split, ridge, penalised, found)
    return found


@dataclass(frozen=True)
class _Basis:
    """Coordinates in which ``A = XᵀDX + βP`` is diagonal, for the ridge values at ``places``.

    ``T (n + 1, p)`` are all rows and one of zeros for padding, ``back`` leads from these
    coordinates to readouts, ``inverse (ridge, p)`` is the diagonal of ``A⁻¹`` and
    ``inverse ∘ c`` the solution on all rows.
    """

    T: np.ndarray
    back: np.ndarray
    inverse: np.ndarray
    c: np.ndarray
    places: np.ndarray


def _bases(A, F, g, ridge: np.ndarray, found: LeftOut) -> Iterator[_Basis]:
    """One basis for the whole ridge path, by SVD; for few values one each, by a cheaper QR."""
    if len(ridge) > FEW or (ridge == 0).any() or F.shape[0] != F.shape[1]:
        f = factor(F, g)
        found.condition = f.condition
        T = _with_zero_row(A @ f.Qt.T)
        yield _Basis(T, f.Qt.T, f.filters(ridge), f.s[:, None] * f.c, np.arange(len(ridge)))
        return
    found.condition = _condition(F)
    for place, beta in enumerate(ridge):
        R = np.linalg.qr(np.vstack([F, np.sqrt(beta) * np.eye(F.shape[1])]), mode="r")
        back = solve_triangular(R, np.eye(len(R)), check_finite=False)
        inverse, c = np.ones((1, len(R))), back.T @ (F.T @ g)
        yield _Basis(_with_zero_row(A @ back), back, inverse, c, np.array([place]))


def _with_zero_row(T: np.ndarray) -> np.ndarray:
    return np.vstack([T, np.zeros(T.shape[1])])


def _condition(F: np.ndarray) -> float:
    """Condition number (in the 1-norm, estimated) of a square R factor."""
    return float(1 / max(dtrcon(F)[0], np.finfo(float).eps))


def _primal(basis: _Basis, B, d, centre: Centre, found: LeftOut) -> None:
    """The formulas above; padding points at a row of zeros, which changes nothing."""
    T, inverse, c, rows = basis.T, basis.inverse, basis.c, found.rows
    shared = 0.0 if centre.penalised else 1 / (d @ d)
    solution = inverse[:, :, None] * c
    residual = np.zeros((len(inverse), len(T), B.shape[1]))
    residual[:, :-1] = B - T[:-1] @ solution
    d = np.append(d, 0.0)
    leave = _single if rows.shape[1] == 1 else _several
    e, p, bad = leave(T, residual, d, inverse, shared, rows)
    found.residuals[:, :, basis.places] = np.moveaxis(e, 1, 2)
    found.refitted[:, basis.places] = bad
    if found.W is not None:
        if rows.shape[1] == 1:
            change = T[rows[:, 0]][:, None, :, None] * p
        else:
            change = T[rows].swapaxes(1, 2)[:, None] @ p
        w = basis.back @ (solution - inverse[:, :, None] * change)
        less = 0.0 if centre.penalised else shared * p.sum(axis=2)
        found.W[:, basis.places] = _with_bias(w, centre, less)


def _single(T, residual, d, inverse, shared, rows):
    """One row left out of each split: ``C`` is a number."""
    rows = rows[:, 0]
    C = (T[rows] ** 2) @ inverse.T + shared  # (splits, ridge)
    d = d[rows][:, None]
    left = 1 - d * C * d
    bad = ~(left > 1e-6)
    r = residual[:, rows].swapaxes(0, 1)  # (splits, ridge, outputs)
    p = d[..., None] * r / np.where(bad, 1.0, left)[..., None]
    e = r + (C * d)[..., None] * p
    return e[:, :, None], d[..., None, None] * p[:, :, None], bad


def _several(T, residual, d, inverse, shared, rows):
    """Blocks left out: one small system for each split and ridge, in groups that fit the cache."""
    splits, longest = rows.shape
    ridges, _, outputs = residual.shape
    e = np.empty((splits, ridges, longest, outputs))
    p = np.empty_like(e)
    bad = np.zeros((splits, ridges), dtype=bool)
    eye = np.eye(longest)
    probe = np.random.RandomState(0).standard_normal((longest, 2))
    size = max(1, CHUNK // (longest * max(longest, T.shape[1])))
    for start in range(0, splits, size):
        part = slice(start, start + size)
        t, dd = T[rows[part]], d[rows[part]]
        real = (dd > 0)[:, :, None]
        for j in range(ridges):
            C = (t * inverse[j]) @ t.swapaxes(1, 2)
            if shared:
                C += shared * (rows[part] < len(d) - 1)[:, :, None]
            r = residual[j, rows[part]]
            right = np.concatenate(
                [dd[:, :, None] * r, np.broadcast_to(probe, (len(t), *probe.shape)) * real], axis=2
            )
            found, bad[part, j] = _solve(eye - dd[:, :, None] * C * dd[:, None, :], right)
            p[part, j] = dd[:, :, None] * found[:, :, :outputs]
            e[part, j] = r + C @ p[part, j]
    return e, p, bad


def _solve(systems: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve, and tell which systems are near singular from the growth of the last two columns."""
    try:
        found = np.linalg.solve(systems, right)
    except np.linalg.LinAlgError:  # one exactly singular system stops the whole stack
        found = np.full(right.shape, np.nan)
        for i in range(len(systems)):
            try:
                found[i] = np.linalg.solve(systems[i], right[i])
            except np.linalg.LinAlgError:
                continue
    return found, ~(np.abs(found[:, :, -2:]).max(axis=(1, 2)) < SINGULAR)


def _dual(A, B, d, centre: Centre, ridge, found: LeftOut) -> None:
    """No more rows than columns: work with the ``n × n`` matrix of inner products."""
    n = len(B)
    U, s, Qt = np.linalg.svd(A * d[:, None], full_matrices=False)
    if not centre.penalised:  # centred rows are orthogonal to d; that direction carries nothing
        U, s, Qt = U[:, : n - 1], s[: n - 1], Qt[: n - 1]
    c = U.T @ (d[:, None] * B)
    found.condition = float(s[0] / max(s[-1], np.finfo(float).eps * s[0], np.finfo(float).tiny))
    found.residuals[:] = 0.0
    for j, beta in enumerate(ridge):
        with np.errstate(divide="ignore"):
            inverse = 1 / (s**2 + beta)
        if beta == 0 and (s <= (1 + Qt.shape[1]) * np.finfo(float).eps * s[0]).any():
            found.refitted[:, j] = True
            continue
        alpha = U @ (inverse[:, None] * c)
        for split, at in enumerate(found.rows):
            R = at[at < n]
            S = (U[R] * inverse) @ U[R].T
            if len(R) >= n - (not centre.penalised) or not np.linalg.cond(S) < 1e12:
                found.refitted[split, j] = True
                continue
            q = np.linalg.solve(S, alpha[R])
            found.residuals[split, : len(R), j] = q / d[R, None]
            if found.W is not None:
                w = Qt.T @ ((s * inverse)[:, None] * (c - U[R].T @ q))
                found.W[split, j] = _with_bias(w, centre, -_mean_left(A, B, d, R, w))


def _mean_left(A, B, d, left_out, w) -> np.ndarray:
    """What the readout ``w`` leaves of the targets on average, over the rows not left out."""
    kept = np.ones(len(B), dtype=bool)
    kept[left_out] = False
    return np.average(B[kept] - A[kept] @ w, axis=0, weights=d[kept] ** 2)


def _with_bias(w: np.ndarray, centre: Centre, less) -> np.ndarray:
    """Readouts on ``[1, X]``; ``less (splits, ridge, outputs)`` lowers the centred bias."""
    W = centre.readout(w)
    if not centre.penalised:
        W[..., 0, :] -= less
    return W


def _refit(X, Y, weights, split: int, ridge, penalised: bool, found: LeftOut) -> None:
    """Solve a split that leaves a (nearly) rank deficient rest directly, in place."""
    R = found.rows[split][found.rows[split] < len(X)]
    kept = np.setdiff1d(np.arange(len(X)), R)
    chosen = found.refitted[split]
    W = naive(X, Y, weights, [runs(kept)], ridge[chosen], penalised)[0]
    residuals = Y[R] - (W[:, :1] + X[R] @ W[:, 1:])
    found.residuals[split, : len(R), chosen] = residuals
    if found.W is not None:
        found.W[split, chosen] = W
