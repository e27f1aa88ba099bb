"""Every split from one factorisation of all rows, for splits that leave few rows out.

For a split that leaves out the rows ``R`` (validation and gap), with ``A = XᵀDX + βP``,
``C = X_R A⁻¹ X_Rᵀ``, ``d = √w_R`` and ``r = Y − XW`` (the paper's equation 11 without its
``Nr × Nr`` matrix for every split)::

    p   = (I − d∘C∘d)⁻¹ (d∘r_R)
    e_R = r_R + C (d∘p)              held-out residuals
    W_R = W − A⁻¹ X_Rᵀ (d∘p)         readout of the split

All ridge values come from one SVD ``F = U s Qᵀ`` of the R factor of the rows: with
``T = X F⁻¹ U``, orthonormal, ``C(β) = T_R diag(s² / (s² + β)) T_Rᵀ``, plus ``1/Σw`` in every entry
for an unpenalised bias. (``X Q / s`` is the same, but orthonormal only to ``eps · s₁ / s``.)
With no more rows than columns the dual form is used, which stays exact at ``β = 0``:
``e_R = S_RR⁻¹ (S Y)_R`` with ``S = (XXᵀ + βI)⁻¹``, found by least squares from a root of ``S``.

How much leaving rows out magnifies rounding is seen from the growth of a random vector under
``(I − dCd)⁻¹``; splits where it is large are refitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from echofold._folds.algorithms import Algorithm, Size, Solved, Work, naive
from echofold._folds.ridge import (
    Centre,
    Factored,
    condition_of,
    condition_of_rows,
    factor,
    is_balanced,
    prepare_rows,
    reciprocal_condition,
    reduce_rows,
    row_space,
    stack_penalty,
    triangle_of,
)
from echofold._folds.splits import RowSplits
from echofold._folds.tolerances import ALIKE, ALIKE_COLUMNS, EPS, GROWTH_OF_ROOT, negligible
from echofold._folds.whitened import LARGE, leave_one, leave_several
from echofold._machine.lapack import solve_triangular

CHUNK = 2**22  # numbers in the largest array made for a group of splits
FEW_RIDGES = 2  # ridge values up to which a QR for each is cheaper than one SVD


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


def leave_out(
    X, Y, weights, splits: RowSplits, ridge: np.ndarray, penalised: bool, readouts: bool
) -> LeftOut:
    """Residuals on the rows left out, and the readouts if ``readouts``, for every split."""
    rows = splits.left_out_rows
    A, B, centre = prepare_rows(X, Y, weights, penalised)
    d = np.ones(len(X)) if weights is None else np.sqrt(weights)
    shape = (len(rows), rows.shape[1], len(ridge), Y.shape[1])
    left_out = LeftOut(
        rows,
        np.empty(shape),
        np.empty((len(rows), len(ridge), 1 + X.shape[1], Y.shape[1])) if readouts else None,
        np.zeros((len(rows), len(ridge)), dtype=bool),
    )
    if len(A) <= A.shape[1] + (not penalised) and (d > 0).all():
        _dual(A, B, d, centre, ridge, left_out)
    else:
        F, g = reduce_rows(A, B, None if weights is None else d)
        for basis in _bases(A, F, g, ridge, left_out):
            _primal(basis, B, d, centre, left_out)
    for split in np.flatnonzero(left_out.refitted.any(axis=1)).tolist():
        R, chosen = rows[split][rows[split] < len(X)], left_out.refitted[split]
        W = naive(X, Y, weights, splits.train[split : split + 1], ridge[chosen], penalised)[0]
        left_out.residuals[split, : len(R), chosen] = Y[R] - (W[:, :1] + X[R] @ W[:, 1:])
        if readouts:
            left_out.W[split, chosen] = W
    return left_out


@dataclass(frozen=True)
class _Basis:
    """Coordinates in which ``A = XᵀDX + βP`` is diagonal, for the ridge values at ``places``.

    ``T (n + 1, p)`` are all rows and one of zeros for padding, ``back`` leads from these
    coordinates to readouts, ``share (ridge, p)`` is the diagonal of ``A⁻¹`` and ``share ∘ c`` the
    solution on all rows.
    """

    T: np.ndarray
    back: np.ndarray
    share: np.ndarray
    c: np.ndarray
    places: np.ndarray


def _bases(A, F, g, ridge: np.ndarray, left_out: LeftOut) -> Iterator[_Basis]:
    """One basis for the whole ridge path, by SVD; one for each value, by QR, where that is better.

    It is better for few values, and for columns of unlike size, which an SVD would spoil. A ridge
    of 0 that leaves directions out needs the SVD.
    """
    columns = A, F, g  # as they are given
    L, h, space = row_space(F, g)
    if space is not None:
        A, R = A @ space, triangle_of(np.hstack([L, h]))
        F, g = R[: len(L), : len(L)], R[: len(L), len(L) :]
    zero, s = ridge == 0, None
    if zero.any():
        s = np.linalg.svd(F, compute_uv=False)
    least = s is not None and bool((s <= 8 * negligible(s[:1], len(F))).any())
    if (len(ridge) > FEW_RIDGES or least) and is_balanced(F):
        f = factor(F, g)
        left_out.condition = condition_of(f.s) if space is None else 1 / EPS
        yield _by_svd(A, F, f, space, ridge, np.arange(len(ridge)), least)
        return
    if space is None:
        left_out.condition = 1 / reciprocal_condition(F) if s is None else condition_of(s)
    else:
        left_out.condition = 1 / EPS
    if least and is_balanced(columns[1], ALIKE_COLUMNS):
        f = factor(*columns[1:])
        yield _by_svd(*columns[:2], f, None, ridge, np.flatnonzero(zero), least)
    elif least:  # an R factor drops no directions
        left_out.refitted[:, zero] = True
    for place in np.flatnonzero(~(zero & least)):
        R, c = stack_penalty(F, g, ridge[place]) if ridge[place] > 0 else (F, g)
        inner = _solve_triangle(R, np.eye(len(R)))
        yield _basis(A, inner, space, np.ones((1, len(R))), c, np.array([place]))


def _by_svd(A, F, f: Factored, space, ridge: np.ndarray, places, least: bool) -> _Basis:
    """The basis for some ridge values at once; ``least`` drops negligible directions."""
    if least:  # F⁻¹ would fill readouts with directions that should have no weight
        kept = f.s > negligible(f.s[:1], len(F))
        inner = f.Qt.T * np.where(kept, 1 / np.where(kept, f.s, 1.0), 0.0)
    else:
        inner = f.Qt.T / f.s
        small = slice(int((f.s > f.s[:1] / ALIKE).sum()), None)
        inner[:, small] = _solve_triangle(F, f.U[:, small])
    return _basis(A, inner, space, f.s**2 * f.filters(ridge[places]), f.c, places)


def _basis(A, inner: np.ndarray, space: np.ndarray | None, share, c, places) -> _Basis:
    """Coordinates to which ``inner`` leads from rows, or from these in a ``space``."""
    T = np.empty((len(A) + 1, inner.shape[1]))
    np.matmul(A, inner, out=T[:-1])
    T[-1] = 0.0
    return _Basis(T, inner if space is None else space @ inner, share, c, places)


def _solve_triangle(F: np.ndarray, B: np.ndarray) -> np.ndarray:
    """``F⁻¹ B``; with nothing to solve for, older versions of SciPy raise an error."""
    return solve_triangular(F, B) if B.size else B


def _primal(basis: _Basis, B, d, centre: Centre, left_out: LeftOut) -> None:
    """The formulas above; padding points at a row of zeros, which changes nothing."""
    T, share, c, rows = basis.T, basis.share, basis.c, left_out.rows
    shared = 0.0 if centre.penalised else 1 / (d @ d)
    solution = share[:, :, None] * c
    residual = np.zeros((len(share), len(T), B.shape[1]))
    residual[:, :-1] = B - T[:-1] @ solution
    d = np.append(d, 0.0)
    leave = _single if rows.shape[1] == 1 else _several
    e, p, bad = leave(T, residual, d, share, shared, rows)
    left_out.residuals[:, :, basis.places] = np.moveaxis(e, 1, 2)
    left_out.refitted[:, basis.places] = bad
    if left_out.W is not None:
        if rows.shape[1] == 1:
            change = T[rows[:, 0]][:, None, :, None] * p
        else:
            change = T[rows].swapaxes(1, 2)[:, None] @ p
        w = basis.back @ (solution - share[:, :, None] * change)
        left_out.W[:, basis.places] = centre.readout(w, shared * p.sum(axis=2))


def _single(T, residual, d, share, shared, rows):
    """One row left out of each split: ``C`` is a number."""
    rows = rows[:, 0]
    C = (T[rows] ** 2) @ share.T + shared  # (splits, ridge)
    r = residual[:, rows].swapaxes(0, 1)  # (splits, ridge, outputs)
    e, p, bad = leave_one(C, r, np.broadcast_to(d[rows][:, None], C.shape))
    return e[:, :, None], p[:, :, None], bad


def _several(T, residual, d, share, shared, rows):
    """Blocks left out: one small system for each split and ridge, in groups that fit the cache."""
    splits, longest = rows.shape
    ridges, _, outputs = residual.shape
    e = np.empty((splits, ridges, longest, outputs))
    p = np.empty_like(e)
    bad = np.zeros((splits, ridges), dtype=bool)
    roots = np.sqrt(share)
    size = max(1, CHUNK // (longest * max(longest, T.shape[1])))
    for start in range(0, splits, size):
        part = slice(start, start + size)
        t, dd = T[rows[part]], d[rows[part]]
        for j in range(ridges):
            root = t * roots[j]
            C = root @ root.swapaxes(1, 2)
            if shared:
                C += shared * (rows[part] < len(d) - 1)[:, :, None]
            r = residual[j, rows[part]]
            e[part, j], p[part, j], bad[part, j] = leave_several(C, r, dd)
    return e, p, bad


def _dual(A, B, d, centre: Centre, ridge, left_out: LeftOut) -> None:
    """No more rows than columns: a root of ``S = (AAᵀ + βI)⁻¹``, ``n × n`` at most.

    With ``dA = U s Qᵀ``, ``V = diag(1/√(s²+β)) Uᵀ`` is a root, ``S = VᵀV``, and the weighted
    residuals ``q`` of the rows left out are least squares: ``‖V_R q − V dY‖`` is smallest. What is
    left over leads to the readout. Centred rows are orthogonal to ``d``, so ``U`` spans the rest.
    """
    rest = np.eye(len(d))
    if not centre.penalised:
        rest = np.linalg.qr(np.hstack([d[:, None], rest]))[0][:, 1 : len(d)]
    U, s, Qt = np.linalg.svd(rest.T @ (A * d[:, None]), full_matrices=False)
    U = rest @ U
    c = U.T @ (d[:, None] * B)
    left_out.condition = condition_of(s) if len(s) else 1 / EPS
    left_out.residuals[:] = 0.0
    if not is_balanced(A):
        left_out.refitted[:] = True
        return
    deficient = (s <= 8 * negligible(s[:1], Qt.shape[1])).any()
    single = left_out.rows.shape[1] == 1 and left_out.W is None and U.shape[1] > 1
    for j, beta in enumerate(ridge):
        if beta == 0 and deficient:
            left_out.refitted[:, j] = True
            continue
        root = 1 / np.sqrt(s**2 + beta)
        if single:  # of every split at once
            R = left_out.rows[:, 0]
            V = U[R] * root
            q = (V @ (root[:, None] * c)) / (V**2).sum(axis=1)[:, None]
            left_out.residuals[:, 0, j] = q / d[R, None]
            continue
        for split, at in enumerate(left_out.rows):
            R = at[at < len(d)]
            if len(R) >= U.shape[1]:
                left_out.refitted[split, j] = True
                continue
            V, right = root[:, None] * U[R].T, root[:, None] * c
            basis, T = np.linalg.qr(V)
            size = np.abs(np.diag(T))
            left_out.refitted[split, j] = not (size > size.max(initial=0) / GROWTH_OF_ROOT).all()
            if left_out.refitted[split, j]:
                continue
            q = _solve_triangle(T, basis.T @ right)
            left_out.residuals[split, : len(R), j] = q / d[R, None]
            if left_out.W is not None:
                w = Qt.T @ ((s * root)[:, None] * (right - V @ q))
                left_out.W[split, j] = centre.readout(w, -_mean_left(A, B, d, R, w))


def _mean_left(A, B, d, left_out, w) -> np.ndarray:
    """What the readout ``w`` leaves of the targets on average, over the rows not left out."""
    kept = np.ones(len(B), dtype=bool)
    kept[left_out] = False
    return np.average(B[kept] - A[kept] @ w, axis=0, weights=d[kept] ** 2)


class Decomposed:
    """All rows by their singular values ``X = T s Qᵀ``, which are known; of equal weights.

    ``T (n, r)`` is orthonormal, and ``X`` centred. What a ridge leaves of direction ``j`` is
    ``f = β / (s² + β)``, so of the targets ``Y`` less their means ``S Y`` is left, and a row left
    out alone has the residual ``(S Y)_i / S_ii``, with::

        S = T diag(f) Tᵀ + (I − T Tᵀ − 1 1ᵀ/n),    (S Y)_i = Σ_j T_ij f_j c_j + (Y − T c)_i

    What stands in brackets is nothing where ``r = n − 1``: all that is left is a sum of positive
    numbers then, exact however little of a row a ridge leaves. A penalised bias is one more
    direction, ``1/√n`` with ``s = √n``.
    """

    def __init__(self, T, s, Qt, Y: np.ndarray, penalised: bool):
        self.mean = Y.mean(axis=0)
        self.T, self.Y, self.penalised = T, Y - self.mean, penalised
        self.factored = Factored(T, s, Qt, T.T @ self.Y)

    @property
    def condition(self) -> float:
        """Condition number of the rows."""
        return condition_of_rows(self.factored.s)

    def readouts(self, ridge: np.ndarray) -> np.ndarray:
        """Readouts ``(ridge, 1 + m, outputs)`` on all rows."""
        w = self.factored.solve(ridge)
        bias = (1 - self._left_of_bias(ridge))[:, None, None] * self.mean
        return np.concatenate([bias, w], axis=1)

    def residuals(self, ridge: np.ndarray) -> np.ndarray:
        """Residuals ``(n, ridge, outputs)`` of each row, left out alone, at positive ridges."""
        T, c, n = self.T, self.factored.c, len(self.T)
        left, bias = ridge[:, None] * self.factored.filters(ridge), self._left_of_bias(ridge)
        squares = T**2
        S = squares @ left.T + bias / n
        residuals = np.empty((n, len(ridge), c.shape[1]))
        for place, f in enumerate(left):
            residuals[:, place] = T @ (f[:, None] * c) + bias[place] * self.mean
        if T.shape[1] < n - 1:
            S += np.maximum(1 - 1 / n - squares.sum(axis=1), 0.0)[:, None]
            residuals += (self.Y - T @ c)[:, None]
        return residuals / S[:, :, None]

    def _left_of_bias(self, ridge: np.ndarray) -> np.ndarray:
        """The same ``f (ridge,)`` of the bias."""
        return self.penalised * ridge / (len(self.T) + ridge)


class LeaveOut(Algorithm):
    """One factorisation of all rows, from which each split's rows are left out."""

    public = "large_k"

    def solve(self, splits: RowSplits) -> Solved:
        """Readouts of splits that all have different training sets."""
        return self._found(splits, readouts=True)

    def residuals(self, splits: RowSplits, readouts: bool = False) -> Solved:
        """Residuals of every split, from its readouts only where validation rows are trained on."""
        if splits.held_out:
            return self._found(splits, readouts)
        return super().residuals(splits, readouts)

    def _found(self, splits: RowSplits, readouts: bool) -> Solved:
        rows = self.rows
        found = leave_out(*rows.data, splits, rows.ridge, rows.penalised, readouts=readouts)
        rows.condition, refitted = found.condition, int(found.refitted.any(axis=1).sum())
        return Solved(found.W, refitted, only_valid(found.rows, splits), found.residuals)

    @staticmethod
    def work(size: Size) -> Work:
        """Work for one candidate."""
        n, k, p, ridges = size.n, size.sets, size.p, size.ridges
        factored = ridges if ridges <= FEW_RIDGES else 1
        longest, held_out = float((n - size.splits.train_sizes).max()), size.splits.held_out
        predicted = 0 if held_out else size.predicted
        # What is counted by rows left out was fitted by hand, to blocks of 12 to 200 rows.
        return {
            "call": (6.0e-4, 1),
            "split": (2.0e-5, k * ridges * (0 if longest <= 1 else 0.2 if longest < LARGE else 1)),
            "factor, rows": (3.0e-11, n * p**2 * (2 + factored)),
            "factor, squares": (9.3e-8, 0 if ridges <= FEW_RIDGES else p**2),
            "factor, cubes": (1.8e-10, p**3 * factored),
            "left out, squares": (1.3e-8, k * longest**2 * ridges * (longest > 1)),
            "left out, products": (2.4e-11, k * longest**2 * p * ridges),
            "left out, cubes": (2.0e-11, k * longest**3 * ridges),
            "residuals": (1.0e-9, n * p * ridges * size.outputs + predicted),
            "solve": (1.9e-10, size.solved if size.readouts or not held_out else 0),
        }


def only_valid(rows: np.ndarray, splits: RowSplits) -> np.ndarray:
    """Rows left out, with ``n`` in place of those that are in a gap."""
    if rows.shape == splits.valid_rows.shape and (rows == splits.valid_rows).all():
        return rows
    if splits.intervals:
        spans = np.array([valid[0] for valid in splits.valid])
        return np.where((rows >= spans[:, :1]) & (rows < spans[:, 1:]), rows, splits.n)
    inside = [np.isin(a, b) for a, b in zip(rows, splits.valid_rows, strict=True)]
    return np.where(inside, rows, splits.n)
