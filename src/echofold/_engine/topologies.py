"""Recurrent matrices by name: who hears whom, and how loud.

Each is drawn raw, as an array of NumPy or SciPy, by a generator that has drawn ``W_in`` before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from echofold._machine.device import one_blas_thread

REWIRED = 0.1  # share of a small world's connections that are moved: few, but enough to be small


def uniform(rng, units: int, connectivity: float, jump: int) -> Any:
    """Weights uniform on (-0.5, 0.5), from ``connectivity * units`` distinct units to each."""
    if connectivity == 1:
        return rng.rand(units, units) - 0.5
    columns = _senders(rng, units, connectivity)
    return _sparse(columns, rng.rand(*columns.shape) - 0.5)


def normal(rng, units: int, connectivity: float, jump: int) -> Any:
    """The same with normal weights."""
    if connectivity == 1:
        return rng.normal(size=(units, units))
    columns = _senders(rng, units, connectivity)
    return _sparse(columns, rng.normal(size=columns.shape))


def ring(rng, units: int, connectivity: float, jump: int) -> Any:
    """Each unit hears the one before it, the first the last: eigenvalues are roots of one."""
    return _sparse((np.arange(units) - 1)[:, None] % units, np.ones((units, 1)))


def ring_with_jumps(rng, units: int, connectivity: float, jump: int) -> Any:
    """A ring, and connections both ways between every ``jump``-th unit and the next of these.

    The last of these jumps back to the first unit only if ``jump`` divides the number of units.
    """
    from scipy.sparse import csr_array

    stops = np.arange(0, units + 1, jump)
    some, others = stops[:-1], stops[1:] % units
    rows = np.concatenate([np.arange(units), some, others])
    columns = np.concatenate([(np.arange(units) - 1) % units, others, some])
    pairs = np.unique(np.stack([rows, columns]), axis=1)  # a jump may lie on another
    return csr_array((np.ones(pairs.shape[1]), tuple(pairs)), shape=(units, units))


def delay_line(rng, units: int, connectivity: float, jump: int) -> Any:
    """Each unit hears the one before it, the first nobody; all eigenvalues are zero."""
    columns = np.maximum(np.arange(units) - 1, 0)[:, None]
    line = _sparse(columns, (np.arange(units) > 0)[:, None].astype(float))
    line.eliminate_zeros()
    return line


def orthogonal(rng, units: int, connectivity: float = 1.0, jump: int = 0) -> Any:
    """A rotation or reflection, all equally likely; all eigenvalues lie on the unit circle.

    The factor Q of a normal matrix, with the signs that make the diagonal of R positive.
    """
    with one_blas_thread():  # more threads round otherwise
        Q, R = np.linalg.qr(rng.normal(size=(units, units)))
    return Q * np.where(np.diag(R) < 0, -1.0, 1.0)


def small_world(rng, units: int, connectivity: float, jump: int) -> Any:
    """Each unit hears its neighbours on a ring, of which a few are replaced by units anywhere.

    There are about ``connectivity * units`` neighbours, as many on either side. Weights are
    uniform on (-0.5, 0.5).
    """
    reach = int(np.clip(round(connectivity * units / 2), 1, (units - 1) // 2))
    offsets = np.concatenate([np.arange(-reach, 0), np.arange(1, reach + 1)])
    columns = (np.arange(units)[:, None] + offsets) % units
    if 2 * reach < units - 1:  # or there is nobody else to hear
        for unit, heard in enumerate(columns):
            for place in np.flatnonzero(rng.rand(2 * reach) < REWIRED):
                while (other := rng.randint(units)) == unit or other in heard:
                    pass
                heard[place] = other
    return _sparse(np.sort(columns, axis=1), rng.rand(*columns.shape) - 0.5)


TOPOLOGIES: dict[str, Callable[..., Any]] = {
    "uniform": uniform,
    "normal": normal,
    "ring": ring,
    "ring with jumps": ring_with_jumps,
    "delay line": delay_line,
    "orthogonal": orthogonal,
    "small world": small_world,
}
# What ``spectral_radius`` is relative to, where that is known: to find it takes a time that grows
# with the cube of the units, and rings are meant for many of them.
SCALES = {"ring": 1.0, "delay line": 1.0, "orthogonal": 1.0}
OF_CONNECTIVITY = ("uniform", "normal", "small world")  # those that it says something about


def _senders(rng, units: int, connectivity: float) -> np.ndarray:
    """The distinct units ``(units, connections)`` that each unit hears, in order."""
    connections = max(1, round(connectivity * units))
    columns = np.empty((units, connections), dtype=np.int32)
    for unit in range(units):  # row by row: a units × units permutation would not fit for 1e5 units
        columns[unit] = np.sort(rng.choice(units, connections, replace=False))
    return columns


def _sparse(columns: np.ndarray, values: np.ndarray):
    """A SciPy sparse matrix of equally many ``columns (units, connections)`` in each row."""
    from scipy.sparse import csr_array

    units, connections = columns.shape
    starts = np.arange(0, units * connections + 1, connections)
    indices = columns.astype(np.int32).ravel()
    return csr_array((values.ravel(), indices, starts), shape=(units, units))
