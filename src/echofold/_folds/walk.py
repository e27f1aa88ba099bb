"""Many splits of a window that grows or slides: one factorisation, then row by row.

From one training set to the next, rows are added and removed one at a time. In whitened
coordinates ``H = (M_zz + βP)⁻¹`` and the readout ``v`` follow by rank-one updates::

    H ← H − s (Hz)(Hz)ᵀ / (1 + s zᵀHz),    v ← v + s Hz (y − zᵀv) / (1 + s zᵀHz)

with ``s = w`` to add and ``s = −w`` to remove a row. The cost is one update a row, whatever the
number of splits. (In the original coordinates the same recursion drifts by 1e-2 in 1,500 rows; in
whitened ones by 1e-11.) Where taking a row away leaves little, ``H`` and ``v`` are computed afresh.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from echofold._data.rows import rows as rows_of
from echofold._folds.algorithms import Algorithm, Size, Solved, Work, naive
from echofold._folds.moments import Whitening
from echofold._folds.splits import RowSplits
from echofold._folds.tolerances import COLLINEAR, LEAST_EIGENVALUE, LEFT_OF_ROW
from echofold._machine.arrays import few_lengths, jax, jnp, pad_rows
from echofold._machine.device import engine
from echofold._machine.programs import loop, program, scan


def walk(
    X, Y, weights, splits: RowSplits, ridge, penalised: bool, white: Whitening
) -> tuple[np.ndarray, int]:
    """Readouts ``(splits, ridge, 1 + m, outputs)``, and how many splits were refitted directly."""
    if (white.size != 1).any():  # columns of unlike size leave a penalty that cannot be balanced
        return naive(X, Y, weights, splits.train, ridge, penalised), len(splits)
    # The penalty of a penalised bias acts on unshifted targets; otherwise a shift costs nothing.
    shift = np.zeros(Y.shape[1]) if penalised else Y.mean(axis=0)
    Z = np.hstack([np.ones((len(X), 1)), white.apply(X)])
    back, penalty = _to_original(white, penalised)
    w = np.ones(len(X)) if weights is None else weights
    first = np.zeros(len(X))
    began = rows_of(splits.train[0])
    first[began] = w[began]
    parts = [rows_of(part) for step in splits.steps for part in step]
    lengths = np.array([len(part) for part in parts], dtype=int).reshape(-1, 2)
    counts = np.append(0, lengths.sum(axis=1))
    rows = np.concatenate([rows_of(()), *parts])
    signed = np.repeat(np.tile([1.0, -1.0], len(lengths)), lengths.ravel()) * w[rows]
    size, steps = (few_lengths(max(1, n), 512) for n in (len(X), len(rows)))  # compiled once each
    rows, signed = pad_rows(rows, steps), pad_rows(signed, steps)
    with engine("cpu"):
        whitened, trusted = _run(
            *(pad_rows(array, size) for array in (Z, Y - shift, first)),
            rows, signed, np.cumsum(counts) - counts, counts, ridge, penalty,
            np.append(False, ~white.held),
        )  # fmt: skip
    W = back @ np.asarray(whitened)
    W[:, :, 0] += shift
    bad = ~np.asarray(trusted) | ~np.isfinite(W).all(axis=(2, 3))
    # Rows cannot be added to a solution of least norm: it drops directions, others for each split.
    bad |= (ridge == 0) & (white.held_condition >= COLLINEAR)
    redo = np.flatnonzero(bad.any(axis=1))
    for split in redo.tolist():
        at = bad[split]
        W[split, at] = naive(X, Y, weights, [splits.train[split]], ridge[at], penalised)[0]
    return W, len(redo)


def _to_original(white: Whitening, penalised: bool) -> tuple[np.ndarray, np.ndarray]:
    """``B`` that leads from readouts ``v`` of ``[1, Z]`` to ``[1, X]``, and ``P`` of ``β vᵀPv``.

    ``P`` is ``BᵀB``, without the row of a free bias. Where directions were dropped, several
    readouts of ``[1, X]`` do the same, with a penalised bias: ``B`` gives the least norm.
    """
    m = len(white.mean)
    B = np.zeros((1 + m, 1 + m))
    if penalised and not white.held.all():
        at = white.places
        Q, R = np.linalg.qr(white.frame[at].T)
        B[:, at] = solve_triangular(R, Q.T, check_finite=False).T
        return B, B.T @ B
    B[0, 0], B[0, 1:], B[1:, 1:] = 1.0, -(white.mean @ white.whiten), white.whiten
    # V is orthogonal: this part of the product is diagonal, and should be so to the last digit.
    P = np.diag(np.append(0.0, white.held * white.sigma**-2.0))
    return B, P + np.outer(B[0], B[0]) * penalised


class Walk(Algorithm):
    """One factorisation of the first training set, then row by row to the others."""

    public = "large_k"

    def solve(self, splits: RowSplits) -> Solved:
        """Readouts of splits that all have different training sets."""
        rows = self.rows
        return Solved(*walk(*rows.data, splits, rows.ridge, rows.penalised, rows.white))

    @staticmethod
    def work(size: Size) -> Work | None:
        """Work for one candidate; there must be rows to spare in every training set.

        Its steps are many and small, so that they need a compiler.
        """
        if size.eager or size.splits.train_sizes.min() <= size.m:
            return None
        changed = size.splits.distinct.changes * size.ridges
        return {
            "call": (7.6e-4, 1),
            "row": (2.4e-7, changed),
            "moments": (1.6e-10, (size.n + size.pilot) * size.p**2),
            "row, squares": (2.5e-10, changed * size.p**2),
            "factor, cubes": (5.8e-10, size.ridges * size.p**3),
            "solve and predict": (7.0e-10, size.solved + size.predicted),
        }


@program
def _run(Z, y, present, rows, signed, starts, counts, ridge, penalty, absent):
    """Readouts ``(splits, ridge, r, outputs)`` after each split's rows, and which can be trusted.

    ``present (n,)`` are the weights of the rows in the first training set, 0 for the others;
    ``absent (r,)`` are columns of zeros, which get no weight.
    """

    def afresh(present):
        """``H``, ``v`` and whether they are sound, from the rows that are present."""
        weighted = Z * present[:, None]
        A = weighted.T @ Z + ridge[:, None, None] * penalty + jnp.diag(absent.astype(float))
        d = jnp.sqrt(jnp.einsum("bii->bi", A))
        d = jnp.where(d > 0, d, 1.0)  # a column that is zero in these rows
        values, vectors = jnp.linalg.eigh(A / (d[:, :, None] * d[:, None, :]))
        sound = values[:, 0] > LEAST_EIGENVALUE * values[:, -1]
        vectors = vectors / d[:, :, None]
        H = (vectors / jnp.where(sound[:, None], values, 1.0)[:, None]) @ vectors.swapaxes(1, 2)
        return H, H @ (weighted.T @ y), sound, jnp.ones(len(ridge))

    def row(i, state):
        H, v, sound, least, present = state
        z, s = Z[rows[i]], signed[i]
        h = H @ z  # (ridge, r)
        room = 1 + s * (h @ z)
        gain = (s / room)[:, None] * h
        v = v + gain[:, :, None] * (y[rows[i]] - jnp.einsum("r,bro->bo", z, v))[:, None]
        H = H - gain[:, :, None] * h[:, None, :]
        return H, v, sound, jnp.minimum(least, room), present.at[rows[i]].add(s)

    def split(state, at):
        start, count = at
        *state, present = loop(start, start + count, row, state)
        worn = (state[2] & ~(state[3] > LEFT_OF_ROW)).any()
        state = jax.lax.cond(worn, lambda: afresh(present), lambda: tuple(state))
        return (*state, present), (state[1], state[2])

    state = (*afresh(jnp.asarray(present)), jnp.asarray(present))
    return scan(split, state, (starts, counts))[1]
