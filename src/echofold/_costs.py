"""Estimated cost of each algorithm: counts of work, times seconds measured for each count.

``benchmarks/calibrate.py`` measures the seconds, on one thread of a CPU.
"""

from __future__ import annotations

import numpy as np

from echofold._splits import RowSplits

# Seconds for each unit of work counted below, in the same order. (The cube of the rows left out was
# raised by hand from 3.7e-11: the choices of benchmarks/folds.py showed large blocks to cost more.)
SECONDS: dict[str, tuple[float, ...]] = {
    "naive": (0.0, 1.5e-4, 1.9e-10, 1.3e-7, 0.0, 3.7e-10),
    "small_k": (3.6e-4, 4.7e-5, 6.7e-11, 2.0e-7, 7.0e-12, 0.0, 2.8e-10),
    "left_out": (4.9e-4, 0.0, 4.1e-11, 1.6e-8, 7.8e-10, 2.3e-10, 1.2e-10, 1.1e-9, 1.8e-10),
    "walk": (7.6e-4, 2.4e-7, 1.6e-10, 2.5e-10, 5.8e-10, 7.0e-10),
}


def work(
    splits: RowSplits, m: int, outputs: int, ridges: int, readouts: bool
) -> dict[str, np.ndarray]:
    """Counts of work of every algorithm for one candidate.

    The first entry is one (what a call costs), then come entries that grow with the number of
    splits, the rows, the columns ``p = 1 + m``, the ridge values and the outputs.
    """
    p, n, k = 1.0 + m, splits.n, len(splits)
    valid = splits.sizes.sum() * p * ridges * outputs
    solved = k * ridges * outputs * p**2
    left = (n - splits.train_sizes).astype(float)
    pilot = n if n < 50 * p else 10 * p
    few = ridges <= 2
    longest = float(left.max())
    return {
        "naive": np.array(
            [1, k, splits.train_sizes.sum() * p**2, k * p**2, k * p**3, solved + valid]
        ),
        "small_k": np.array(
            [1, k, (n + pilot) * p**2, (1 + k) * p**2, (1 + k) * p**3, solved, valid]
        ),
        "left_out": np.array(
            [
                1,
                k * ridges,
                n * p**2 * (2 + (ridges if few else 1)),
                0 if few else p**2,
                p**3 * (ridges if few else 1),
                k * longest**2 * p * ridges,
                k * longest**3 * ridges,
                n * p * ridges * outputs,
                solved if readouts else 0,
            ]
        ),
        "walk": np.array(
            [
                1,
                splits.changes * ridges,
                (n + pilot) * p**2,
                splits.changes * ridges * p**2,
                ridges * p**3,
                solved + valid,
            ]
        ),
    }


def seconds(
    splits: RowSplits, m: int, outputs: int, ridges: int, readouts: bool
) -> dict[str, float]:
    """Estimated seconds of every algorithm for one candidate; walking needs rows to spare."""
    counts = work(splits, m, outputs, ridges, readouts)
    found = {name: float(counts[name] @ np.array(SECONDS[name])) for name in counts}
    if splits.train_sizes.min() <= m:
        del found["walk"]
    return found
