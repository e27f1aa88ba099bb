"""What a search over eight representations costs, against one over the series as it is.

    python benchmarks/forms.py

A made series of 200 months with a trend and a season; 24 networks of 50 units, 5 ridge values, 20
accumulative splits of 24 steps. Processor time of one thread, the shortest of several runs, after
one that compiles; and that first one by itself.
"""

from __future__ import annotations

import time

import _common  # first: it sets the number of threads
import numpy as np

from echofold import Accumulative, ESNForecaster, ESNSearchCV

NETWORKS = {
    "leak_rate": [0.1, 0.3, 0.6, 1.0],
    "spectral_radius": [0.4, 0.7, 0.9],
    "input_scaling": [0.2, 1.0],
    "ridge": [1e-6, 1e-3, 1e-1, 1.0, 10.0],
}
EIGHT = {"log": [False, True], "difference": [(), (1,), (12,), (12, 1)]}


def series() -> np.ndarray:
    """Months that grow, with a year in them."""
    t = np.arange(200)
    noise = 0.05 * np.random.default_rng(0).normal(size=len(t))
    return np.exp(0.01 * t + 0.3 * np.sin(2 * np.pi * t / 12) + noise)


def seconds(space: dict, runs: int = 5) -> tuple[float, float]:
    """Processor time of the first search, and the shortest of the others."""
    y, found = series(), []
    for _ in range(1 + runs):
        search = ESNSearchCV(
            ESNForecaster(50, random_state=0, washout=20), space,
            cv=Accumulative(20, valid=24), metric="rmse", progress=False,
        )  # fmt: skip
        began = time.process_time()
        search.fit(y)
        found.append(time.process_time() - began)
    return found[0], min(found[1:])


def main() -> None:
    """Measure, print and store."""
    first_of_one, one = seconds(NETWORKS)
    first_of_eight, eight = seconds({**NETWORKS, **EIGHT})
    row = {
        "one_seconds": one,
        "eight_seconds": eight,
        "ratio": eight / one,
        "ratio_with_compiling": first_of_eight / first_of_one,
    }
    print("  ".join(f"{name} {value:.3g}" for name, value in row.items()))
    _common.store("forms", {"forms": row})


if __name__ == "__main__":
    main()
