"""Ridge readouts of many training sets in extended precision: the second reference.

NumPy's long double has 64 bits of mantissa on x86, eleven more than a double. LAPACK does not know
it, so QR (Householder) and SVD (one-sided Jacobi) are written out here, over a leading axis of
problems that are solved side by side.
"""

from __future__ import annotations

import numpy as np

from echofold._data.rows import rows as rows_of

LONG = np.longdouble
AVAILABLE = np.finfo(LONG).eps < 1e-18
UNIT = np.finfo(float).eps  # one rounding: to the next double


def _triangular(A: np.ndarray) -> np.ndarray:
    """R factors ``(sets, p, p)`` of ``A (sets, rows, p)``, by Householder reflections."""
    A = np.array(A)
    sets, n, p = A.shape
    if n < p:
        A = np.concatenate([A, np.zeros((sets, p - n, p), dtype=LONG)], axis=1)
    for j in range(p):
        x = A[:, j:, j]
        norm = np.sqrt((x * x).sum(axis=1))
        v = x.copy()
        v[:, 0] += np.where(x[:, 0] < 0, -norm, norm)
        length = (v * v).sum(axis=1)
        scale = 2 / np.where(length > 0, length, LONG(1))
        part = A[:, j:, j:]
        part -= (scale[:, None] * v)[:, :, None] * (v[:, :, None] * part).sum(axis=1)[:, None]
    return np.triu(A[:, :p])


def _back(R: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve ``R x = b`` for upper triangular ``R (sets, p, p)`` and ``b (sets, p, outputs)``."""
    x = np.zeros_like(b)
    for j in range(R.shape[1] - 1, -1, -1):
        known = (R[:, j, j + 1 :, None] * x[:, j + 1 :]).sum(axis=1)
        x[:, j] = (b[:, j] - known) / R[:, j, j, None]
    return x


def _jacobi(R: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``U s`` , ``s`` and ``V`` of square matrices, by rotating pairs of columns."""
    G, p = np.array(R), R.shape[1]
    V = np.broadcast_to(np.eye(p, dtype=LONG), G.shape).copy()
    for _ in range(40):
        rotated = False
        for i in range(p - 1):
            for j in range(i + 1, p):
                a, b = G[:, :, i], G[:, :, j]
                aa, bb, ab = (a * a).sum(axis=1), (b * b).sum(axis=1), (a * b).sum(axis=1)
                turn = np.abs(ab) > 4 * np.finfo(LONG).eps * np.sqrt(aa * bb)
                if not turn.any():
                    continue
                rotated = True
                zeta = (bb - aa) / np.where(turn, 2 * ab, LONG(1))
                t = np.where(zeta < 0, LONG(-1), LONG(1)) / (
                    np.abs(zeta) + np.sqrt(1 + zeta * zeta)
                )
                c = np.where(turn, 1 / np.sqrt(1 + t * t), LONG(1))
                s = np.where(turn, c * t, LONG(0))
                for M in (G, V):
                    x, y = M[:, :, i].copy(), M[:, :, j].copy()
                    M[:, :, i] = c[:, None] * x - s[:, None] * y
                    M[:, :, j] = s[:, None] * x + c[:, None] * y
        if not rotated:
            break
    return G, np.sqrt((G * G).sum(axis=1)), V


def readouts(X, Y, weights, ridge, penalised: bool, limit: float = 1.0) -> np.ndarray:
    """Readouts ``(sets, ridge, 1 + m, outputs)`` of ``X (sets, rows, m)``, ``Y``, ``weights``.

    A row that does not belong to a set has weight 0 there. At a ridge of 0 the solution of least
    norm, without singular values up to ``limit · columns · eps · s₁`` (eps of a double).
    """
    X, Y, weights = (np.asarray(part, dtype=LONG) for part in (X, Y, weights))
    sets, n, m = X.shape
    if penalised:
        A, B = np.concatenate([np.ones((sets, n, 1), dtype=LONG), X], axis=2), Y
    else:
        share = (weights / weights.sum(axis=1, keepdims=True))[:, :, None]
        x0, y0 = X[:, :1], Y[:, :1]
        x, y = (
            x0 + (share * (X - x0)).sum(axis=1, keepdims=True),
            y0 + (share * (Y - y0)).sum(axis=1, keepdims=True),
        )
        A, B = X - x, Y - y
    p, root = A.shape[2], np.sqrt(weights)[:, :, None]
    R = _triangular(np.concatenate([A, B], axis=2) * root)
    F, g = R[:, :p, :p], R[:, :p, p:]
    found = []
    for beta in ridge:
        if beta > 0:
            eye = np.broadcast_to(np.sqrt(LONG(beta)) * np.eye(p, dtype=LONG), F.shape)
            more = np.concatenate([eye, np.zeros_like(g)], axis=2)
            T = _triangular(np.concatenate([np.concatenate([F, g], axis=2), more], axis=1))
            found.append(_back(T[:, :p, :p], T[:, :p, p:]))
            continue
        G, s, V = _jacobi(F)
        keep = s > limit * (1 + p) * np.finfo(float).eps * s.max(axis=1, keepdims=True)
        inverse = np.where(keep, 1 / np.where(keep, s * s, LONG(1)), LONG(0))
        found.append(V @ (inverse[:, :, None] * (np.swapaxes(G, 1, 2) @ g)))
    w = np.stack(found, axis=1)
    if penalised:
        return w
    return np.concatenate([y[:, None] - x[:, None] @ w, w], axis=2)


def of_splits(X, Y, weights, splits, ridge, penalised: bool, limit: float = 1.0) -> np.ndarray:
    """Readouts of every split of one data set."""
    masks = np.zeros((len(splits), len(X)))
    for mask, train in zip(masks, splits.train, strict=True):
        mask[rows_of(train)] = 1.0 if weights is None else weights[rows_of(train)]
    count = len(splits)
    return readouts(
        np.broadcast_to(X, (count, *X.shape)), np.broadcast_to(Y, (count, *Y.shape)), masks,
        ridge, penalised, limit,
    )  # fmt: skip


def predictions(W: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Outputs ``(splits, ridge, rows, outputs)`` on all rows."""
    return W[:, :, :1] + np.asarray(X, dtype=LONG) @ W[:, :, 1:]


def one_rounding(X, Y, weights, splits, ridge, penalised: bool, trials: int = 6, seed: int = 0):
    """Predictions ``(splits, ridge, rows, outputs)``, and what one rounding of the data does.

    The second is ``(splits, ridge)``: the largest change of any prediction on a split's validation
    rows when every number of the data is off by one rounding, in any of some random ways; at least
    one rounding of the prediction itself, and of the largest target that it is compared with. At a
    ridge of 0 a rounding may also move a singular value over the limit from which it counts, so the
    limit is tried at half and twice its size.
    """
    rng = np.random.default_rng(seed)
    truth = predictions(of_splits(X, Y, weights, splits, ridge, penalised), X)
    at = splits.valid_rows
    real = (at < len(X))[:, None, :, None]
    chosen = np.minimum(at, len(X) - 1)
    pick = np.arange(len(splits))[:, None]

    def valid(outputs):
        return np.where(real, np.moveaxis(outputs, 1, 2)[pick, chosen].swapaxes(1, 2), LONG(0))

    exact = valid(truth)
    change = np.abs(exact).max(axis=(2, 3)) * UNIT + np.abs(Y).max() * UNIT
    for limit in (0.5, 2.0) if 0 in ridge else ():
        W = of_splits(X, Y, weights, splits, ridge, penalised, limit)
        change = np.maximum(change, np.abs(valid(predictions(W, X)) - exact).max(axis=(2, 3)))
    for _ in range(trials):
        near = [
            part * (1 + UNIT * rng.choice([-1, 1], size=part.shape).astype(LONG))
            for part in (np.asarray(X, dtype=LONG), np.asarray(Y, dtype=LONG))
        ]
        moved = predictions(of_splits(*near, weights, splits, ridge, penalised), near[0])
        change = np.maximum(change, np.abs(valid(moved) - exact).max(axis=(2, 3)))
    return exact, change
