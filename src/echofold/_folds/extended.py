"""Readouts of one training set in extended precision: a reference of another kind than doubles.

NumPy's long double has eleven bits more than a double on most processors, and no more on some.
LAPACK does not know it, so the QR is written out here, and only small problems are given to it.
"""

from __future__ import annotations

import numpy as np

from echofold._folds.tolerances import EPS

LONG = np.longdouble
AVAILABLE = bool(np.finfo(LONG).eps < EPS / 100)
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
