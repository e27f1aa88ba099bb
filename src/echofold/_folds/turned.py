"""Coordinates of many candidates at once, on a device: columns turned until they are orthogonal.

QR and SVD of many matrices are slow on an accelerator; products and eigenvectors of symmetric
matrices are not. The eigenvectors of a Gram matrix are the directions of an SVD, but see those
below ``√eps`` of the largest badly. So columns that have come out small are turned again, among
themselves, until rounding of the rows is all that is left to see.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from echofold._folds.tolerances import ALIKE_COLUMNS, EPS, negligible
from echofold._folds.whitened import Coordinates
from echofold._machine.programs import program


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
    back = V / white.sigma[:, None]
    return Coordinates(mean, back, white.held / white.sigma**2, rest, 1.0 - white.held)
