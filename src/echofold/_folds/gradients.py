"""A whole ridge path of one training set at once, by conjugate gradients on the host.

In whitened coordinates a training set that has most of the rows is not far from a multiple of the
identity, and its penalties are diagonal. Scaled by the diagonal, such systems need some 20 products
with one matrix, which all ridge values share: a tenth of what a Cholesky factor for each costs.
"""

from __future__ import annotations

import numpy as np

from echofold._folds.tolerances import PROBES

FEWEST = 4  # ridge values that are worth it
MOST = 60  # products, after which factors would have been cheaper
LOSS = 1e-11  # of the first residual, below which the recursion for it is no longer believed
END = 1e-16


def is_cheaper(p: int, ridges: int, outputs: int) -> bool:
    """Whether 20 products cost less than a factor for each ridge value, of half their speed."""
    return ridges >= FEWEST and 90 * (ridges * outputs + PROBES) < ridges * p


def solve_together(gram, diagonals, right) -> np.ndarray | None:
    """Solutions of ``(gram + diag(d)) x = b`` for columns ``d`` and ``b (p, systems)``.

    None where the products do not suffice.
    """
    scale = 1 / (np.diag(gram)[:, None] + diagonals)
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        return None
    x, r = np.zeros_like(right), right.copy()
    z = scale * r
    step, size = z.copy(), np.einsum("pc,pc->c", r, z)
    first, anew = size.copy(), True
    for _ in range(MOST):
        if (size <= END**2 * first).all():
            return x
        product = gram @ step
        product += diagonals * step
        along = np.einsum("pc,pc->c", step, product)
        if not (along >= 0).all():
            return None
        ahead = np.divide(size, along, out=np.zeros_like(size), where=along > 0)
        x += ahead * step
        if anew and (size < LOSS**2 * first).all():
            anew = False
            r = right - gram @ x - diagonals * x
            z = scale * r
            step, size = z.copy(), np.einsum("pc,pc->c", r, z)
            continue
        r -= ahead * product
        z = scale * r
        before, size = size, np.einsum("pc,pc->c", r, z)
        step *= np.divide(size, before, out=np.zeros_like(size), where=before > 0)
        step += z
    return None
