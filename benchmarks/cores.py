"""Large networks on all cores of a machine, beside one core, with the same numbers.

    python benchmarks/cores.py

Forty networks of 1,000 units, 10 folds, 8 ridge values, 2,000 steps, open loop; seconds by the
clock of `ESNSearchCV.fit`, the shorter of two in a process, so that neither side compiles: with
``n_jobs=-1`` in a process that has all cores, as a user starts it, and in one that is given one
core with eight of the forty, taken five times. Blocks are cut by their work and not by the number
of cores, so that the scores of these eight must be equal to the bit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

if __name__ == "__main__" and "--one" not in sys.argv:
    sys.argv.append("--cores")

import _common  # first: with --one it sets one thread for each product, and one core
import numpy as np

from echofold import ESNRegressor, ESNSearchCV, KFold

LEAKS = np.linspace(0.3, 1, 8)
RADII = (0.5, 0.7, 0.9, 1.0, 1.1)
RIDGE = np.logspace(-8, -1, 8)


def search(radii, n_jobs: int | None) -> tuple[float, list]:
    """Seconds of the shorter of two, and the scores of the networks of the first radius."""
    rng = np.random.RandomState(0)
    u = rng.rand(2100, 1)
    y = np.convolve(u[:, 0], [0.5, 0.3, 0.2])[:2100] + 0.01 * rng.randn(2100)
    space = {"spectral_radius": list(radii), "leak_rate": list(LEAKS), "ridge": RIDGE}
    network = ESNRegressor(1000, random_state=0, washout=100, device="cpu")
    took = []
    for _ in range(2):
        began = time.perf_counter()
        found = ESNSearchCV(network, space, cv=KFold(10), n_jobs=n_jobs, progress=False).fit(u, y)
        took.append(time.perf_counter() - began)
    return min(took), found.results_.nrmse.values[:, : len(LEAKS)].tolist()


def main() -> None:
    """Measure, print and store."""
    if "--one" in sys.argv:
        print(json.dumps(search(RADII[:1], None)))
        return
    one = subprocess.run([sys.executable, __file__, "--one"], check=True, capture_output=True)
    alone, scores = json.loads(one.stdout.splitlines()[-1])
    together, same = search(RADII, -1)
    assert scores == same, "scores depend on the number of cores"
    alone *= len(RADII)
    cores = os.cpu_count()
    print(f"one core {alone:.1f} s, {cores} cores {together:.1f} s: {alone / together:.1f} times")
    results = {"machine": _common.machine() | {"threads": str(cores)}, "cores": cores}
    _common.store("cores", results | {"one": alone, "all": together, "times": alone / together})


if __name__ == "__main__":
    main()
