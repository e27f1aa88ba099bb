"""Readouts of one training set with the help of extended precision.

NumPy's long double has eleven bits more than a double on most processors, and no more on some.
`refined` needs it for sums only and is used wherever rows differ so much in size that a QR in
doubles loses the small ones. `readouts` is a reference of another kind: a QR in long doubles, which
LAPACK does not know, so it is written out here, and only small problems are given to it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgeqp3, dormqr, dtrtrs

from echofold._folds.tolerances import EPS

LONG = np.longdouble
AVAILABLE = bool(np.finfo(LONG).eps < EPS / 100)
STEPS = 4  # of correction; the first is the solution itself
TOGETHER = 2**20  # numbers that are in long doubles at a time
MOST = 5e7  # rows times squared columns of a training set: about a second


def affordable(rows: int, columns: int) -> bool:
    """Whether a training set is small enough, on a processor that knows extended precision."""
    return AVAILABLE and rows * float(columns) ** 2 <= MOST


def readouts(X, Y, weights, ridge: np.ndarray, penalised: bool) -> np.ndarray:
    """Readouts ``(ridge, 1 + m, outputs)``, in extended precision, for positive ridge values.

    Minimisers of ``‖√D (X w + b − Y)‖² + β ‖w‖²``, the bias in the penalty if ``penalised``, by a
    QR of the rows ``[1, X, Y]`` and another of its triangle above ``√β P``.
    """
    A = np.hstack([np.ones((len(X), 1)), X, Y]).astype(LONG)
    if weights is not None:
        A *= np.sqrt(np.asarray(weights, dtype=LONG))[:, None]
    p = 1 + X.shape[1]
    R = _triangle(A)[:, : p + Y.shape[1]]
    F, g = R[:p, :p], R[:p, p:]
    found = []
    for beta in ridge:
        penalty = np.sqrt(LONG(beta)) * np.eye(p, dtype=LONG)
        penalty[0, 0] *= penalised
        both = _triangle(np.block([[F, g], [penalty, np.zeros_like(g)]]))
        found.append(_back(both[:p, :p], both[:p, p:]))
    return np.stack(found)


def refined(X, Y, weights, ridge: np.ndarray, penalised: bool) -> np.ndarray:
    """What `readouts` gives, by a QR in doubles that is corrected until rounding is gone.

    The rows and those of ``√β P`` go into one QR, large rows first and with pivots, as rows of any
    size need it. The residual and the readout then solve ``r + A w = y``, ``Aᵀ r = 0``; what they
    leave of these equations, in long doubles, is solved for again.
    """
    A = np.hstack([np.ones((len(X), 1)), X])
    if weights is not None:
        root = np.sqrt(weights)[:, None]
        A, Y = root * A, root * Y
    p, outputs = A.shape[1], Y.shape[1]
    found = np.zeros((len(ridge), p, outputs))
    for place, beta in enumerate(ridge):
        penalty = beta**0.5 * np.eye(p)
        penalty[0, 0] *= penalised
        rows, y = np.vstack([A, penalty]), np.vstack([Y, np.zeros((p, outputs))])
        size = np.exp2(np.round(np.log2(np.sqrt((rows**2).sum(axis=0)))))  # exact to divide by
        rows /= size
        down = np.argsort(-np.abs(rows).max(axis=1), kind="stable")
        rows, y = rows[down], y[down]
        QR, pivots, tau, _, _ = dgeqp3(np.asfortranarray(rows))
        rows, R = rows[:, pivots - 1], np.triu(QR[:p])
        r, w = np.zeros(y.shape, dtype=LONG), np.zeros((p, outputs), dtype=LONG)
        for _ in range(STEPS):
            left, normal = _left(rows, y, r, w)
            turned = _turn(QR, tau, left, "T")
            part = dtrtrs(R, normal, trans=1)[0]
            w += dtrtrs(R, turned[:p] - part)[0]
            turned[:p] = part
            r += _turn(QR, tau, turned, "N")
        found[place, pivots - 1] = w
        found[place] /= size[:, None]
    return found


def _left(A: np.ndarray, y: np.ndarray, r: np.ndarray, w: np.ndarray):
    """``y − r − A w`` and ``−Aᵀ r``, summed in long doubles."""
    left, normal = np.empty(y.shape), np.zeros(w.shape, dtype=LONG)
    size = max(1, TOGETHER // A.shape[1])  # rows of which a copy in long doubles is small
    for first in range(0, len(A), size):
        part = slice(first, first + size)
        exact = A[part].astype(LONG)
        left[part] = y[part] - r[part] - exact @ w
        normal -= exact.T @ r[part]
    return left, normal.astype(float)


def _turn(QR: np.ndarray, tau: np.ndarray, values: np.ndarray, trans: str) -> np.ndarray:
    """``Qᵀ`` or ``Q`` times values."""
    lwork = max(1, 64 * values.shape[1])
    return dormqr("L", trans, QR, tau, np.asfortranarray(values), lwork)[0]


def objectives(W, X, Y, weights, ridge: np.ndarray, penalised: bool) -> np.ndarray:
    """What readouts ``(ridge, 1 + m, outputs)`` minimise, ``(ridge, outputs)``."""
    W = np.asarray(W, dtype=LONG)
    rest = np.asarray(Y, dtype=LONG) - (W[:, :1] + np.asarray(X, dtype=LONG) @ W[:, 1:])
    share = 1.0 if weights is None else np.asarray(weights)[:, None]
    first = 0 if penalised else 1
    return (share * rest**2).sum(axis=1) + ridge[:, None] * (W[:, first:] ** 2).sum(axis=1)


def _triangle(A: np.ndarray) -> np.ndarray:
    """The R factor of ``A (rows, columns)``, by Householder reflections; at least square."""
    A = np.vstack([A, np.zeros((max(0, A.shape[1] - len(A)), A.shape[1]), dtype=LONG)])
    for j in range(A.shape[1]):
        v = A[j:, j].copy()
        norm = np.sqrt((v * v).sum())
        if norm:
            v[0] += norm if v[0] >= 0 else -norm
            part = A[j:, j:]
            part -= (2 / (v * v).sum() * v)[:, None] * (v[:, None] * part).sum(axis=0)
    return np.triu(A[: A.shape[1]])


def _back(R: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve ``R x = b`` for an upper triangle; a direction without any size gets no weight."""
    x = np.zeros_like(b)
    for j in range(len(R) - 1, -1, -1):
        if R[j, j]:
            x[j] = (b[j] - (R[j, j + 1 :, None] * x[j + 1 :]).sum(axis=0)) / R[j, j]
    return x
