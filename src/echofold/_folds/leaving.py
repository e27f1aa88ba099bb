"""What leaving rows out does to their residuals: one text for the host and for a device.

With ``C = X_R A⁻¹ X_Rᵀ`` of the rows ``R`` left out, ``d = √w_R`` and residuals ``r`` of the
solution on all rows::

    p = (I − d∘C∘d)⁻¹ (d∘r),    e = r + C (d∘p)

How much this magnifies rounding is seen from the growth of a random vector under
``(I − dCd)⁻¹``. Rows of ``d = 0`` are padding.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrs

from echofold._folds.tolerances import GROWTH, PROBES, probe
from echofold._folds.whitened import cholesky, factored, solve_twice
from echofold._machine.arrays import namespace

LARGE = 32  # rows from which the host solves systems one by one, as positive definite ones


def leave_one(C, r, d):
    """One row left out of each split: ``C (…)``, ``r (…, outputs)``, ``d (…)``.

    Returns held-out residuals, ``d∘p``, and where the rest cannot be trusted.
    """
    xp = namespace(C)
    left = 1 - d * C * d
    bad = ~(left > 1 / GROWTH)
    p = d[..., None] * r / xp.where(bad, 1.0, left)[..., None]
    return r + (C * d)[..., None] * p, d[..., None] * p, bad


def leave_several(C, r, d):
    """Rows left out together: ``C (…, rows, rows)``, ``r (…, rows, outputs)``, ``d (…, rows)``."""
    xp, (rows, outputs) = namespace(C), r.shape[-2:]
    random = probe(rows) * (d > 0)[..., None]
    right = xp.concatenate([d[..., None] * r, xp.broadcast_to(random, (*r.shape[:-1], PROBES))], -1)
    system = xp.eye(rows) - d[..., None] * C * d[..., None, :]
    solutions = _solve(system, right) if xp is np else solve_twice(cholesky(system), right)
    bad = ~(xp.abs(solutions[..., outputs:]).max(axis=(-1, -2)) < GROWTH)
    p = d[..., None] * solutions[..., :outputs]
    return r + C @ p, p, bad


def _solve(systems: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solutions of a stack; NaN for systems that have none."""
    if systems.shape[1] < LARGE:
        try:
            return np.linalg.solve(systems, right)
        except np.linalg.LinAlgError:  # one exactly singular system stops the whole stack
            pass
    solutions = np.full(right.shape, np.nan)
    factors, there = factored(systems)
    for i in np.flatnonzero(there):
        solutions[i] = dpotrs(factors[i].T, right[i])[0]
    return solutions
