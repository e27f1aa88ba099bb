"""The algebra of splits for many candidates at once, where their states are: on a device.

The same systems and formulas as on the host, from which it takes its text (`_folds.whitened`).
Coordinates are found otherwise. QR and SVD of many matrices are slow on an accelerator; products
and eigenvectors of symmetric matrices are not. The eigenvectors of a Gram matrix are the directions
of an SVD, but see those below ``√eps`` of the largest badly. So columns that have come out small
are turned again, among themselves, until rounding of the rows is all that is left (`turned`).

``X (candidates, rows, m)`` may have more rows than there are; these have no weight. Callers hold
`_machine.device.engine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from echofold._folds.splits import Pieces
from echofold._folds.tolerances import (
    ALIKE_COLUMNS,
    EPS,
    FAR,
    POOR,
    POWERS,
    PROBES,
    negligible,
    probe,
)
from echofold._folds.whitened import (
    Coordinates,
    Readouts,
    cholesky,
    lead_back,
    leave_one,
    leave_several,
    penalised_systems,
    solve_lower,
    solve_path,
    solve_twice,
    systems,
    units,
    with_free_bias,
)
from echofold._machine.arrays import few_lengths
from echofold._machine.programs import program, scan


class Turned(NamedTuple):
    """`_folds.moments.Whitening` of many; ``unlike`` where columns differ too much in size.

    ``mean (candidates, m)``, ``V (candidates, m, m)``, ``sigma`` and ``held (candidates, m)``.
    """

    mean: Any
    V: Any
    sigma: Any
    held: Any
    unlike: Any


def _windows(m: int) -> list[float]:
    """Shares of the largest column below which columns are turned again.

    Among columns up to ``w``, one of size ``s`` leaves ``eps w² / s`` of itself in the smallest.
    That stays below a third of what is `negligible` if those down to ``3 w² / m`` come again.
    """
    windows, share = [], 1.0
    while (share := min(3 / (1 + m), 1 / 4) * share**2) > m * EPS:
        windows.append(share)
    return windows


@program
def turned(X, there) -> Turned:
    """Coordinates in which the centred rows are white; ``there (candidates or 1, rows)`` is 0 or 1.

    Directions that hold nothing but rounding are not held; small ``sigma`` are raised to a floor.
    """
    m = X.shape[2]
    n = there.sum(axis=1)[:, None]
    inside = there[:, :, None] > 0
    # From a row that is there, so that a constant column becomes zero and not rounding.
    begin = jnp.take_along_axis(X, jnp.argmax(there, axis=1)[:, None, None], axis=1)
    A = jnp.where(inside, X - begin, 0.0)
    mean = A.sum(axis=1) / n
    Z = jnp.where(inside, A - mean[:, None], 0.0)
    sizes = jnp.sqrt((Z * Z).sum(axis=1))
    smallest = jnp.where(sizes > 0, sizes, jnp.inf).min(axis=1)
    unlike = sizes.max(axis=1) > ALIKE_COLUMNS * smallest
    V = _eigenvectors(jnp.swapaxes(Z, 1, 2) @ Z)
    Z = Z @ V
    for share in _windows(m):
        G = jnp.swapaxes(Z, 1, 2) @ Z
        Q = _turn_small(G, share)
        V, Z = V @ Q, Z @ Q
    sigma = jnp.sqrt((Z * Z).sum(axis=1) / n)
    largest = sigma.max(axis=1, keepdims=True)
    nothing = largest == 0
    sigma = jnp.where(nothing, 1.0, sigma)
    least = negligible(jnp.where(nothing, 1.0, largest), m)
    held = ~(sigma < 1.001 * least) | nothing
    return Turned(begin[:, 0] + mean, V, jnp.maximum(sigma, least), held, unlike)


def _eigenvectors(G):
    """Those of symmetric matrices, the largest first."""
    return lax.linalg.eigh(G, symmetrize_input=False)[0][..., ::-1]


def _turn_small(G, share: float):
    """A rotation of the columns below ``share`` of the largest; larger ones come before them."""
    m = G.shape[-1]
    squares = jnp.einsum("cii->ci", G)
    small = lax.cummax((squares < share**2 * squares[:, :1]).astype(int), axis=1) > 0
    both = small[:, :, None] & small[:, None, :]
    scale = jnp.where(small, squares, 0.0).sum(axis=1)[:, None, None]
    block = jnp.where(both, G / jnp.where(scale == 0, 1.0, scale), 0.0)
    # The others stay: above every eigenvalue of the block, in the order in which they are.
    rest = jnp.where(small, 0.0, 3.0 - np.arange(m) / m)
    Q = _eigenvectors(block + rest[:, :, None] * jnp.eye(m))
    return jnp.where(both, Q, jnp.eye(m))


@program
def coordinates(white: Turned) -> Coordinates:
    """Room for all directions in each candidate."""
    mean, V = white.mean, white.V * white.held[:, None]

    def outside(x):
        return x - (V @ (jnp.swapaxes(V, 1, 2) @ x[:, :, None]))[:, :, 0]

    # Twice, without what rounding has left of the mean, and exactly zero where all is held.
    rest = jnp.where(white.held.all(axis=1, keepdims=True), 0.0, outside(outside(mean)))
    whiten = V / white.sigma[:, None]
    return Coordinates(mean, whiten, white.held / white.sigma**2, rest, 1.0 - white.held)


SHORTEST = 32  # rows of a part, of which moments are made


@program
def taken(arrays, places, *, axis: int = 0):
    """Some candidates, or of some other axis."""
    return jax.tree.map(lambda array: jnp.take(array, places, axis=axis), arrays)


@program
def replaced(array, index, values):
    """With other values for some entries, by a tuple of arrays of where they are."""
    return array.at[index].set(values)


@dataclass(frozen=True)
class Parts:
    """Pieces cut into parts of equal length, so that their moments are one batch of products.

    ``rows (parts, length)`` are row numbers, −1 where padded; ``piece (parts,)`` is the piece of
    each.
    """

    rows: np.ndarray
    piece: np.ndarray

    def members(self, sets: Sequence) -> np.ndarray:
        """``(sets, parts)``: 1 for the parts whose piece is in one of the runs of a set."""
        inside = np.zeros((len(sets), len(self.piece)))
        for place, runs in enumerate(sets):
            for a, b in runs:
                inside[place, (self.piece >= a) & (self.piece < b)] = 1.0
        return inside


def cut_parts(pieces: Pieces) -> Parts:
    """Parts of about the length of a typical piece."""
    label = pieces.labels(0, int(pieces.starts[-1]))
    typical = len(label) // max(pieces.count, 1)
    length = max(SHORTEST, 1 << max(typical.bit_length() - 1, 0))
    order = np.argsort(label, kind="stable")
    bounds = np.flatnonzero(np.diff(label[order], prepend=-1, append=pieces.count))
    rows, owners = [], []
    for a, b in zip(bounds[:-1], bounds[1:], strict=True):
        for first in range(a, b, length):
            one = np.full(length, -1)
            one[: min(length, b - first)] = order[first : min(first + length, b)]
            rows.append(one)
            owners.append(label[order[a]])
    count = few_lengths(len(rows))
    padding = [np.full(length, -1)] * (count - len(rows))
    return Parts(np.stack(rows + padding), np.array(owners + [-1] * len(padding)))


@program
def part_moments(X, at: Coordinates, Y, weights, rows):
    """``[1, Z, Y]ᵀ diag(w) [1, Z, Y]`` of each part, ``(candidates, parts, a, a)``.

    ``weights (candidates or 1, rows)``.
    """
    shape = (*X.shape[:2], 1)
    Z = (X - at.mean[:, None]) @ at.whiten
    targets = jnp.broadcast_to(Y, (X.shape[0], *Y.shape))
    A = jnp.concatenate([jnp.ones(shape), Z, targets], axis=2)[:, rows]
    w = jnp.where(rows < 0, 0.0, weights[:, rows])[..., None]
    return jnp.swapaxes(A, -1, -2) @ (A * w)


@program
def readouts(moments, members, at: Coordinates, shift, ridge, *, penalised: bool) -> Readouts:
    """Readouts of the training sets that are sums of parts."""
    M = jnp.einsum("sj,cjab->csab", members, moments)
    return solve_path(M, at, shift, ridge, penalised)._replace(v=None)


@program
def least_norm(moments, members, at: Coordinates, sigma, shift, *, tail: int):
    """Readouts at a ridge of 0 with a free bias, without directions negligible in a training set.

    With ``M_zz = LLᵀ``, the rows have the R factor ``F = Lᵀ diag(σ)``, whose columns get ever
    smaller: whatever is negligible lies in the last, at most ``tail``, but for a rotation by less
    than ``1 / FAR``. The eigenvectors of these alone see far enough below it.
    """
    given = systems(jnp.einsum("sj,cjab->csab", members, moments), at, shift, False)
    L = cholesky(penalised_systems(given, jnp.zeros(1))[:, :, 0])
    g, s, Lt = solve_lower(L, given.right), sigma[:, None, :, None], jnp.swapaxes(L, -1, -2)
    m = sigma.shape[1]

    def power(x, _):
        x = s * (L @ (Lt @ (s * x)))
        return x / jnp.sqrt((x * x).sum(axis=-2, keepdims=True)), None

    x = jnp.broadcast_to(probe(m, 1), (*L.shape[:-1], 1))
    x = scan(power, x, jnp.arange(POWERS))[0]
    norm = jnp.sqrt(((Lt @ (s * x)) ** 2).sum(axis=(-1, -2)))
    unit = FAR * negligible(norm, m)[..., None]
    large = sigma[:, None] * jnp.einsum("csii->csi", L) > unit
    lead = (lax.cummin(large.astype(int), axis=2) > 0) | (np.arange(m) < m - tail)
    last = ~lead[..., m - tail :, None]
    F = Lt[..., m - tail :, m - tail :] * jnp.swapaxes(s[..., m - tail :, :], -1, -2)
    F = jnp.where(last & jnp.swapaxes(last, -1, -2), F / unit[..., None], 0.0)
    U, squares = lax.linalg.eigh(F @ jnp.swapaxes(F, -1, -2), symmetrize_input=False)
    inverse = jnp.where(squares > FAR**-2, 1 / squares, 0.0)[..., None]
    c = U @ (inverse * (jnp.swapaxes(U, -1, -2) @ jnp.where(last, g[..., m - tail :, :], 0.0)))
    small = s[..., m - tail :, :] * (jnp.swapaxes(F, -1, -2) @ c) / unit[..., None]
    small = jnp.concatenate([jnp.zeros_like(g[..., : m - tail, :]), small], axis=-2)
    lead = lead[..., None]
    inner = jnp.where(lead & jnp.swapaxes(lead, -1, -2), L, jnp.eye(m))
    v = solve_lower(inner, jnp.where(lead, g - Lt @ small, small), transposed=True)
    return lead_back(with_free_bias(v[:, :, None], given), at, shift, False)[:, :, 0]


@program
def residuals(X, Y, candidates, rows, W):
    """Target minus output ``(…, longest, ridge, outputs)`` on ``rows (…, longest)``.

    They are those of ``candidates (…, 1)``, who have readouts ``W (…, ridge, 1 + m, outputs)``.
    """
    outputs = W[..., :1, :] + X[candidates, rows][..., None, :, :] @ W[..., 1:, :]
    return Y[rows][..., None, :] - jnp.swapaxes(outputs, -3, -2)


class Left(NamedTuple):
    """What leaving rows out gives for every candidate and split.

    ``residuals (candidates, splits, longest, ridge, outputs)``; readouts ``W (candidates, splits,
    ridge, 1 + m, outputs)`` where asked for; ``bad (candidates, splits, ridge)`` is not
    sound, and refitted.
    """

    residuals: Any
    W: Any
    bad: Any


@program
def left_out(
    X, at: Coordinates, Y, weights, moments, rows, shift, ridge, *, penalised: bool, wanted: bool
) -> Left:
    """Residuals on ``rows (splits, longest)`` of all parts that are left out, −1 where padded.

    The formulas of `_folds.whitened`, with a Cholesky factor of all rows for each ridge value.
    """
    given = systems(moments.sum(axis=1)[:, None], at, shift, penalised)
    A, B = (X - at.mean[:, None]) @ at.whiten, Y - shift
    if penalised:
        A, B, shared = jnp.concatenate([jnp.ones((*A.shape[:2], 1)), A], axis=2), Y, 0.0
    else:
        A, B = A - jnp.swapaxes(given.z[:, 0], 1, 2), B - given.b[:, 0]
        shared = 1 / weights.sum()
    d = jnp.where(rows < 0, 0.0, jnp.sqrt(weights[rows]))
    p = given.gram.shape[-1]
    most = PROBES * (POOR + 10 * p)

    def step(carry, beta):
        path = beta[None]
        L = cholesky(penalised_systems(given, path)[:, 0, 0])
        v = solve_twice(L, given.right[:, 0])
        probes = units(given, path)[:, 0, 0, :, None] * probe(p)
        grown = (probes * solve_twice(L, probes)).sum(axis=(1, 2))
        T = jnp.swapaxes(solve_lower(L, jnp.swapaxes(A, 1, 2)), 1, 2)[:, rows]
        r = (B - A @ v)[:, rows]
        if rows.shape[1] == 1:
            e, left, bad = leave_one((T * T).sum(axis=-1) + shared, r, d)
            bad = bad[..., 0]
        else:
            C = T @ jnp.swapaxes(T, -1, -2) + shared * (rows >= 0)[:, :, None]
            e, left, bad = leave_several(C, r, d)
        W = None
        if wanted:
            change = jnp.moveaxis(
                jnp.swapaxes(T, -1, -2) @ left, 1, 2
            )  # (candidates, p, splits, …)
            flat = solve_lower(L, change.reshape(*change.shape[:2], -1), transposed=True)
            inner = v[:, None] - jnp.moveaxis(flat.reshape(change.shape), 2, 1)
            if not penalised:
                first = given.b - jnp.swapaxes(given.z, -1, -2) @ inner
                first = first - shared * left.sum(axis=2, keepdims=True)
                inner = jnp.concatenate([first, inner], axis=2)
            W = lead_back(inner[:, :, None], at, shift, penalised)[:, :, 0]
        return carry, Left(e, W, bad | ~(grown < most)[:, None])

    e, W, bad = scan(step, 0, ridge)[1]
    W = None if W is None else jnp.moveaxis(W, 0, 2)
    return Left(jnp.moveaxis(e, 0, 3), W, jnp.moveaxis(bad, 0, 2))
