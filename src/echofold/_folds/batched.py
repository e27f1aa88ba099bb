"""The algebra of splits for many candidates at once, where their states are: on a device.

The same coordinates, systems and formulas as on the host, from which it takes its text
(`_folds.whitened`). What differs is how the coordinates come about: QR and SVD of many matrices are
slow on an accelerator, products are not. ``X (candidates, rows, m)`` may have more rows than there
are; those from ``n`` on are zeros.

Callers hold `_machine.device.engine`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from echofold._folds.leaving import leave_one, leave_several
from echofold._folds.moments import Whitening
from echofold._folds.pieces import Pieces
from echofold._folds.ridge import are_balanced
from echofold._folds.tolerances import ALIKE_COLUMNS, EPS, FULL_RANK, POOR, negligible
from echofold._folds.whitened import (
    PROBES,
    Coordinates,
    Path,
    cholesky,
    lead_back,
    solve_lower,
    solve_path,
    solve_twice,
    systems,
    units,
    with_penalty,
)
from echofold._machine.device import in_threads
from echofold._machine.programs import program, scan
from echofold._machine.shapes import few_lengths

ROUNDS = 3  # of whitening by products: each sees 7 digits more of the smallest directions
SHORTEST = 32  # rows of a part, of which moments are made


@program
def _factor(X, n):
    """Mean, and R factor of the centred rows over the root of their number, from products alone.

    A Gram matrix sees directions down to ``√eps`` of the largest. What is smaller is raised to that
    floor, and found when the whitened rows are looked at again.
    """
    m = X.shape[2]
    there = (jnp.arange(X.shape[1]) < n)[:, None]
    # From the first row, so that a constant column becomes zero and not rounding.
    A = jnp.where(there, X - X[:, :1], 0.0)
    mean = A.sum(axis=1, keepdims=True) / n
    Z = jnp.where(there, A - mean, 0.0)
    R = jnp.broadcast_to(jnp.eye(m), (len(X), m, m))
    for _ in range(ROUNDS):
        G = jnp.swapaxes(Z, 1, 2) @ Z
        d = jnp.sqrt(jnp.einsum("cii->ci", G))
        d = jnp.where(d == 0, 1.0, d)[:, :, None]
        values, Q = lax.linalg.eigh(G / d / jnp.swapaxes(d, 1, 2), symmetrize_input=False)[::-1]
        s = jnp.sqrt(jnp.maximum(values, 4 * m * EPS * values[:, -1:]))[:, :, None]
        R = (s * jnp.swapaxes(Q, 1, 2) * jnp.swapaxes(d, 1, 2)) @ R
        Z = Z @ (Q / d / jnp.swapaxes(s, 1, 2))
    return (X[:, :1] + mean)[:, 0], R / jnp.sqrt(n)


@dataclass(frozen=True)
class Whitenings:
    """`Whitening` of every candidate, ``unlike`` where its columns differ too much in size.

    ``mean (candidates, m)``, ``V (candidates, m, m)``, ``sigma`` and ``held (candidates, m)``.
    """

    mean: np.ndarray
    V: np.ndarray
    sigma: np.ndarray
    held: np.ndarray
    unlike: np.ndarray

    def one(self, candidate: int) -> Whitening:
        """The coordinates of one candidate."""
        mean, V, sigma, held = (
            array[candidate] for array in (self.mean, self.V, self.sigma, self.held)
        )
        return Whitening(mean, np.ones_like(mean), V, sigma, held)

    @property
    def condition(self) -> np.ndarray:
        """Condition numbers, ``1/eps`` where some direction holds only rounding."""
        s = np.where(self.held, self.sigma, self.sigma[:, :1])
        return np.where(self.held.all(axis=1), s[:, 0] / s.min(axis=1), 1 / EPS)

    def full_rank(self, ridge: np.ndarray) -> np.ndarray:
        """`_folds.solve.full_rank`, as ``(candidates, ridge)``."""
        sigma = np.where(self.held, self.sigma, np.inf)
        least = FULL_RANK * negligible(self.sigma[:, 0], self.mean.shape[1])
        return (ridge > 0) | (sigma.min(axis=1) > least)[:, None]

    def coordinates(self) -> Coordinates:
        """Room for all directions in each candidate."""
        V, rest = self.V, np.zeros_like(self.mean)
        if not self.held.all():
            V = V * self.held[:, None]
            rest = self.mean - (V @ (np.swapaxes(V, 1, 2) @ self.mean[:, :, None]))[:, :, 0]
            rest = rest - (V @ (np.swapaxes(V, 1, 2) @ rest[:, :, None]))[:, :, 0]
            rest[self.held.all(axis=1)] = 0.0
        back = V / self.sigma[:, None]
        return Coordinates(self.mean, back, self.held / self.sigma**2, rest, 1.0 - self.held)


def whitenings(X, n: int) -> Whitenings:
    """Coordinates of every candidate; the SVDs of the small factors run in threads of the host."""
    mean, R = (np.asarray(array) for array in _factor(X, n))
    count, m = mean.shape
    V, sigma, unlike = np.empty_like(R), np.empty((count, m)), np.empty(count, dtype=bool)

    def decompose(part: slice) -> None:
        _, sigma[part], Vt = np.linalg.svd(R[part])
        V[part] = np.swapaxes(Vt, 1, 2)
        unlike[part] = ~are_balanced(R[part], ALIKE_COLUMNS)

    in_threads(decompose, [slice(a, a + size) for a, size in _shares(count)])
    nothing = sigma[:, :1] == 0
    sigma = np.where(nothing, 1.0, sigma)
    least = negligible(sigma[:, :1], m)
    held = ~(sigma < 1.001 * least) | nothing
    return Whitenings(mean, V, np.maximum(sigma, least), held, unlike)


def _shares(count: int) -> list[tuple[int, int]]:
    """Where the share of each thread begins, and how large it is."""
    size = -(-count // (os.cpu_count() or 1))
    return [(first, size) for first in range(0, count, size)]


@program
def taken(array, candidates):
    """Some candidates."""
    return array[candidates]


@program
def sums(moments, candidates, members):
    """Moments ``(candidates, sets, a, a)`` of some, for sets that are sums of parts."""
    return jnp.einsum("sj,cjab->csab", members, moments[candidates])


@program
def replaced(array, candidates, values):
    """With other values for some candidates; those beyond the last are dropped."""
    return array.at[candidates].set(values, mode="drop")


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
    label = np.asarray(pieces.label)
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
    """``[1, Z, Y]ᵀ diag(w) [1, Z, Y]`` of each part, ``(candidates, parts, a, a)``."""
    shape = (*X.shape[:2], 1)
    Z = (X - at.mean[:, None]) @ at.back
    targets = jnp.broadcast_to(Y, (X.shape[0], *Y.shape))
    A = jnp.concatenate([jnp.ones(shape), Z, targets], axis=2)[:, rows]
    w = jnp.where(rows < 0, 0.0, weights[rows])[:, :, None]
    return jnp.swapaxes(A, -1, -2) @ (A * w)


@program
def readouts(moments, members, at: Coordinates, shift, ridge, *, penalised: bool) -> Path:
    """Readouts of the training sets that are sums of parts."""
    M = jnp.einsum("sj,cjab->csab", members, moments)
    return solve_path(M, at, shift, ridge, penalised)


@program
def residuals(X, Y, rows, W):
    """Target minus output on ``rows (splits, longest)``, as ``(candidates, splits, …)``."""
    outputs = W[..., :1, :] + X[:, rows][:, :, None] @ W[..., 1:, :]
    return Y[rows][:, :, None] - jnp.moveaxis(outputs, 2, 3)


class Left(NamedTuple):
    """What leaving rows out gives for every candidate and split.

    ``residuals (candidates, splits, longest, ridge, outputs)``; readouts ``W (candidates, splits,
    ridge, 1 + m, outputs)`` where asked for; ``bad (candidates, splits, ridge)`` is what the host
    must solve.
    """

    residuals: Any
    W: Any
    bad: Any


@program
def left_out(
    X, at: Coordinates, Y, weights, moments, rows, shift, ridge, *, penalised: bool, wanted: bool
) -> Left:
    """Residuals on ``rows (splits, longest)`` of all parts that are left out, −1 where padded.

    The formulas of `_folds.leaving`, with a Cholesky factor of all rows for each ridge value.
    """
    given = systems(moments.sum(axis=1)[:, None], at, shift, penalised)
    A, B = (X - at.mean[:, None]) @ at.back, Y - shift
    if penalised:
        A, B, shared = jnp.concatenate([jnp.ones((*A.shape[:2], 1)), A], axis=2), Y, 0.0
    else:
        A, B = A - jnp.swapaxes(given.z[:, 0], 1, 2), B - given.b[:, 0]
        shared = 1 / weights.sum()
    d = jnp.where(rows < 0, 0.0, jnp.sqrt(weights[rows]))
    p = given.gram.shape[-1]
    probe = np.random.RandomState(0).standard_normal((p, PROBES))
    most = PROBES * (POOR + 10 * p)

    def step(carry, beta):
        path = beta[None]
        L = cholesky(with_penalty(given, path)[:, 0, 0])
        v = solve_twice(L, given.right[:, 0])
        probes = units(given, path)[:, 0, 0, :, None] * probe
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
