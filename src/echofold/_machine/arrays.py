"""Arrays of the host and of a device by one text, and few shapes for many lengths.

JAX compiles a program for every shape that it meets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

SHORTEST = 8  # lengths up to this many steps run as one shape


def few_lengths(steps: int, shortest: int = SHORTEST, bits: int = 3) -> int:
    """``steps`` rounded up to one of few numbers, because each is compiled once.

    The first ``bits`` of it are kept: the work grows by a quarter at most, beyond the shortest, or
    by a sixteenth with five.

    Examples
    --------
    >>> [few_lengths(n) for n in (1, 8, 33, 100, 1000)]
    [8, 8, 40, 112, 1024]
    """
    grain = max(shortest, 1 << max(steps.bit_length() - bits, 0))
    return -(-steps // grain) * grain


def equal_parts(count: int, most: int) -> Iterator[tuple[int, slice]]:
    """Consecutive parts of ``count`` things, all equally large because each size is compiled once.

    The last may overlap the one before: by how many is told beside each.

    Examples
    --------
    >>> list(equal_parts(5, 3))
    [(0, slice(0, 3, None)), (1, slice(2, 5, None))]
    """
    size = -(-count // -(-count // most))
    for first in range(0, count, size):
        begin = min(first, count - size)
        yield first - begin, slice(begin, begin + size)


def pad_rows(rows, size: int):
    """``rows`` followed by zeros up to ``size``."""
    if len(rows) == size:
        return np.asarray(rows)
    padded = np.zeros((size, *np.shape(rows)[1:]), dtype=np.asarray(rows).dtype)
    padded[: len(rows)] = rows
    return padded


def namespace(array: Any) -> Any:
    """NumPy for its arrays, `jax.numpy` for all others."""
    if isinstance(array, np.ndarray):
        return np
    import jax.numpy as jnp

    return jnp
