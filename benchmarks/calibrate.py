"""Measure the constants of the cost model that ``algorithm="auto"`` chooses by.

    python benchmarks/calibrate.py

Times every algorithm on random rows over a grid of sizes and fits seconds to counts of work
(non-negative least squares on relative errors). The result is pasted into the ``work`` of the
algorithms in ``src/echofold/_folds``, some of it mended by hand where states of networks took other
times than random rows.
"""

from __future__ import annotations

import itertools
import sys

import _common  # first: it sets the number of threads
import numpy as np
from scipy.optimize import nnls

from echofold import Accumulative, KFold, LeaveOneOut, WalkForward
from echofold._folds.algorithms import KeptRows, Size
from echofold._folds.choose import VARIANTS, cost
from echofold._folds.splits import cut, resolve_cv
from echofold._machine.device import one_blas_thread

LONGEST = 0.25  # seconds of one measurement, by the present constants


def problems():
    """Schemes and sizes to measure."""
    for n, m in itertools.product((300, 1260, 4000), (20, 50, 200, 450)):
        for k in (2, 5, 10, 30, 100):
            yield n, m, KFold(k)
        for k in (5, 50):
            if n // 2 > m:
                yield n, m, Accumulative(k)
                yield n, m, WalkForward(k)
        yield n, m, LeaveOneOut()


def measure() -> dict[str, list]:
    """Pairs of counts of work and seconds for every algorithm."""
    found: dict[str, list] = {name: [] for name in VARIANTS}
    rng = np.random.RandomState(0)
    for (n, m, scheme), (ridges, outputs) in itertools.product(
        problems(), ((1, 1), (12, 1), (6, 3), (24, 1))
    ):
        splits = resolve_cv(scheme, n)
        X, Y = rng.standard_normal((n, m)), rng.standard_normal((n, outputs))
        ridge = np.logspace(-6, 0, ridges)
        for readouts in (False, True):
            size = Size(splits, m, outputs, ridges, readouts)
            for name, way in VARIANTS.items():
                if cost(way, size) > LONGEST:
                    continue
                if name == "walk" and isinstance(scheme, KFold | LeaveOneOut):
                    continue
                if name == "naive" and readouts:
                    continue

                def run():
                    pieces = cut(n, [splits] if name == "small_k" else [])
                    algorithm = way(KeptRows(X, Y, None, ridge, False, pieces))
                    (algorithm.readouts if readouts else algorithm.residuals)(splits)

                with one_blas_thread():
                    count = {unit: n for unit, (_, n) in way.work(size).items()}
                    found[name].append((count, _common.seconds(run, least=0.01)))
        print(n, m, scheme, file=sys.stderr, flush=True)
    return found


def main() -> None:
    """Measure, fit and print."""
    found = measure()
    for name, pairs in found.items():
        counts, took = (
            np.array([list(c.values()) for c, _ in pairs]),
            np.array([t for _, t in pairs]),
        )
        constants, _ = nnls(counts / took[:, None], np.ones(len(took)))
        error = counts @ constants / took
        low, high = np.quantile(error, [0.05, 0.95])
        print(name)
        for unit, constant in zip(pairs[0][0], constants, strict=True):
            print(f'        "{unit}": {constant:.1e},')
        print(f"    # estimate over time: 90 % between {low:.2f} and {high:.2f}")


if __name__ == "__main__":
    main()
