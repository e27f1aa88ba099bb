"""Few shapes for many lengths: JAX compiles a program for every shape it meets."""

from __future__ import annotations

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


def pad_rows(rows, size: int):
    """``rows`` followed by zeros up to ``size``."""
    if len(rows) == size:
        return np.asarray(rows)
    padded = np.zeros((size, *np.shape(rows)[1:]), dtype=np.asarray(rows).dtype)
    padded[: len(rows)] = rows
    return padded
