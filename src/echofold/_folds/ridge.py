"""Readouts over a whole ridge path, from one factorisation of a training set.

A training set enters as the R factor of its rows: ``F`` and ``g`` with
``‖X w − y‖² = ‖F w − g‖² + constant``, however they were obtained (a QR of the rows, or whitened
moments). Two ways lead from there to the readouts of a ridge path:

- `solve_each`, a QR for each value: the plain way. It is stable column by column: what happens to a
  column is as small as one rounding of that column, whatever the units of the others.
- `factor` and `Factored.solve`, one SVD for all values: quicker for long paths of small problems,
  and stable only against the largest column, so for columns of like size.

Nothing here knows about time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.linalg.lapack import dgecon, dgejsv, dgeqp3, dgeqrf, dormqr

from echofold._folds.tolerances import BALANCED, EPS, NEARLY_SINGULAR, negligible
from echofold._machine.lapack import dtrtrs, stacked

QR_BLOCK = 32  # columns that LAPACK reflects together


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

    def filters(self, ridge: np.ndarray) -> np.ndarray:
        """``1 / (s² + β)``, as ``(..., ridge, p)``; at ``β = 0`` zero for negligible ``s``.

        Leaving out ``s ≤ columns · eps · s₁`` makes the solution at ``β = 0`` the one of least
        norm.
        """
        s = self.s[..., None, :]
        limit = negligible(s[..., :1], self.Qt.shape[-1])
        with np.errstate(divide="ignore", over="ignore"):
            inverse = 1 / (s**2 + ridge[:, None])
        return np.where((ridge[:, None] == 0) & (s <= limit), 0.0, inverse)

    def solve(self, ridge: np.ndarray) -> np.ndarray:
        """Minimisers of ``‖F w − g‖² + β ‖w‖²``: ``Q diag(s / (s² + β)) Uᵀ g``.

        Returns ``(..., ridge, columns, outputs)``; the paper's equation 5 for every ``β``.
        """
        scaled = (self.filters(ridge) * self.s[..., None, :])[..., None] * self.c[..., None, :, :]
        return np.swapaxes(self.Qt, -1, -2)[..., None, :, :] @ scaled

    def fitted(self, ridge: np.ndarray) -> np.ndarray:
        """``F w`` of these; going through ``w`` would lose as many digits as ``cond(F)`` has."""
        scaled = (self.filters(ridge) * self.s[..., None, :] ** 2)[..., None]
        return self.U[..., None, :, :] @ (scaled * self.c[..., None, :, :])


def factor(F: np.ndarray, g: np.ndarray) -> Factored:
    """Decompose ``F (..., rows, columns)`` with right-hand sides ``g (..., rows, outputs)``."""
    U, s, Qt = np.linalg.svd(F, full_matrices=False)  # lets other threads run, as SciPy does not
    return Factored(U, s, Qt, np.swapaxes(U, -1, -2) @ g)


def condition_of(s: np.ndarray) -> float:
    """Condition number from singular values, as far as it can be told from rounding."""
    return float(s[0] / max(s[-1], EPS * s[0], np.finfo(float).tiny))


def condition_of_rows(s: np.ndarray) -> float:
    """That of centred rows: ``1/eps`` if some direction is only rounding, 1 if all are equal."""
    if not s.any():
        return 1.0
    return 1 / EPS if s[-1] <= negligible(s[0], len(s)) else condition_of(s)


def reciprocal_condition(F: np.ndarray) -> float:
    """An estimate (in the 1-norm) for an upper triangle, which is its own LU factorisation."""
    return max(float(dgecon(F, np.abs(F).sum(axis=0).max())[0]), EPS)


def column_sizes(F: np.ndarray) -> np.ndarray:
    """Norms ``(..., columns)`` of columns."""
    return np.sqrt(np.einsum("...ij,...ij->...j", F, F))


def is_balanced(F: np.ndarray, most: float = BALANCED) -> bool:
    """Whether columns, but for those of zeros, are so alike in size that an SVD spoils none."""
    sizes = column_sizes(F)
    smallest = np.where(sizes > 0, sizes, np.inf).min(axis=-1, initial=np.inf)
    return bool((sizes.max(axis=-1, initial=0.0) <= most * smallest).all())


def solve_each(F: np.ndarray, g: np.ndarray, ridge: np.ndarray) -> np.ndarray:
    """`Factored.solve` for one upper trapezoidal ``F (rows, columns)``, by a QR for each ``β``.

    The R factor of ``[√β I; F]`` comes from LAPACK's QR of a triangle on a triangle. Columns that
    are collinear to rounding are made so exactly first, and the readout is sought in the space of
    the rows that is left: rounding in a direction that no row has would be divided by ``β``.
    """
    triangle, g, space = row_space(F, g)
    solutions = np.empty((len(ridge), triangle.shape[1], g.shape[1]))
    for place, beta in enumerate(ridge if triangle.size else ()):
        if beta > 0:
            R, h = stack_penalty(triangle, g, beta, triangular=space is None)
            solutions[place] = dtrtrs(R, h, overwrite_b=True)[0]
        else:
            solutions[place] = _least_norm(triangle, g, F.shape[1])
    return solutions if space is None else space @ solutions


def row_space(F: np.ndarray, g: np.ndarray):
    """``L, h, Q`` with ``F = U L Qᵀ`` and ``h = Uᵀ g``; ``F, g, None`` where it has full rank.

    The rank is that of columns in units of their size: a QR with pivoting puts what is only
    rounding of a column last.
    """
    columns, size = F.shape[1], column_sizes(F)
    if not F.any():
        return np.zeros((0, 0)), g[:0], np.zeros((columns, 0))
    unit = F / np.where(size > 0, size, 1.0)
    if F.shape[0] == columns and reciprocal_condition(unit) > NEARLY_SINGULAR:
        return F, g, None
    R, pivots, tau, _, _ = dgeqp3(unit)
    pivots -= 1
    diagonal = np.abs(np.diag(R))
    rank = int((diagonal > (1 + columns) * EPS * diagonal[0]).sum())
    if rank == columns:
        return F, g, None
    G = np.zeros((rank, columns))
    G[:, pivots] = np.triu(R[:rank])
    G *= size
    h = dormqr("L", "T", R[:, : len(tau)], tau, g, lwork=max(1, 64 * g.shape[1]))[0][:rank]
    # Columns in other units are rows of Gᵀ: large ones first, and pivots, keep small ones right.
    down = np.argsort(-size, kind="stable")
    Q = np.zeros((columns, rank))
    Q[down], R, pivots = qr(G.T[down], mode="economic", pivoting=True, check_finite=False)
    Q[size == 0] = 0.0  # exactly no weight for a column of zeros
    return R.T, h[pivots], Q


def stack_penalty(F: np.ndarray, g: np.ndarray, beta: float, triangular: bool = True):
    """``R, h`` with ``‖F w − g‖² + β ‖w‖² = ‖R w − h‖² + constant``, ``R`` upper triangular.

    ``F`` is square or, if ``triangular``, upper trapezoidal. The penalty stands above the data,
    because small rows keep their digits below large ones and not above.
    """
    columns, rows = F.shape[1], len(F) if triangular else 0
    if not columns:  # of states that never change; LAPACK refuses them
        return F[:0], g[:0]
    penalty = np.diag(np.full(columns, beta**0.5))
    h = np.zeros((columns, g.shape[1]))
    return stacked(rows, min(QR_BLOCK, columns), penalty, F, h, g)


def _least_norm(F: np.ndarray, g: np.ndarray, columns: int) -> np.ndarray:
    """The solution at ``β = 0``, without singular values that ``columns`` make negligible."""
    s = np.linalg.svd(F, compute_uv=False)
    if s[-1] > 8 * negligible(s[0], columns):
        return np.linalg.solve(F, g)
    if is_balanced(F):
        U, s, Vt = np.linalg.svd(F)
    else:
        # Near the limit, singular values must then be right relative to themselves and not to the
        # largest: Jacobi rotations do that, for columns in any units, at ten times the cost.
        s, U, V, work, *_ = dgejsv(F, joba=2)
        s, Vt = s * (work[0] / work[1]), V.T
    keep = s > negligible(s[0], columns)
    return Vt[keep].T @ ((U[:, : len(s)].T @ g)[keep] / s[keep, None])


@dataclass(frozen=True)
class Centre:
    """How rows are centred for an unpenalised bias; a penalised one leaves them as they are."""

    x: np.ndarray
    y: np.ndarray
    penalised: bool

    def readout(self, w: np.ndarray, less: Any = 0.0) -> np.ndarray:
        """Readouts ``(..., 1 + m, outputs)`` from solutions ``w``; ``less`` lowers a free bias."""
        if self.penalised:
            return w
        return np.concatenate([(self.y - self.x @ w - less)[..., None, :], w], axis=-2)


def prepare_rows(X, Y, weights, penalised: bool) -> tuple[np.ndarray, np.ndarray, Centre]:
    """Rows ready for a least-squares fit: with their ones or centred, and not yet weighted.

    Centring by the weighted means is what an unpenalised bias amounts to. Means are measured from
    the first row that counts, so that a constant column becomes zero and not rounding.
    """
    if penalised:
        return np.hstack([np.ones((len(X), 1)), X]), Y, Centre(X[:0], Y[:0], True)
    first = 0 if weights is None else int(np.argmax(weights > 0))
    A, B = X - X[first], Y - Y[first]
    share = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
    a, b = share @ A, share @ B
    A -= a
    B -= b
    return A, B, Centre(X[first] + a, Y[first] + b, False)


def reduce_rows(X, Y, root_weights=None) -> tuple[np.ndarray, np.ndarray]:
    """``F, g`` of rows by a QR of ``[X, Y]``: as accurate as the rows themselves."""
    p = X.shape[1]
    rows = np.empty((len(X), p + Y.shape[1]), order="F")  # as LAPACK wants them
    rows[:, :p], rows[:, p:] = X, Y
    if root_weights is not None:
        rows *= root_weights[:, None]
    R = triangle_of(rows)
    return R[:p, :p], R[:p, p:]  # the rows below hold only what no readout can fit


def triangle_of(rows: np.ndarray) -> np.ndarray:
    """The R factor of ``(..., rows, columns)``; the rows may be overwritten."""
    if rows.ndim > 2 or not rows.size:
        return np.linalg.qr(rows, mode="r")  # type: ignore[return-value]
    R = dgeqrf(rows, lwork=QR_BLOCK * rows.shape[1], overwrite_a=True)[0]
    return np.triu(R[: rows.shape[1]])


def check_ridge(ridge) -> np.ndarray:
    """A path of ridge values from a number or several."""
    try:
        values = np.atleast_1d(np.asarray(ridge, dtype=float))
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(
            f"ridge={ridge!r} is not allowed: it must be a finite number of at least 0, or a list "
            "of them."
        )
    return values
