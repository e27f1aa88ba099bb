"""How near each stage of a search comes to what the machine can do.

    python benchmarks/roofline.py [--device gpu]

The grid of half-hourly electricity demand of `device.py`: 135 networks of 50 units, 12 ridge
values, 18 splits of 201 steps. For every stage its seconds in a warm search, its floating-point
operations and the bytes that it must move, by count, and both as shares of what the same machine
reaches in a large product of 64-bit matrices and in a large copy. The larger share says what a
stage is bound by; where both are small it waits: for the step before, or for many small calls.

On the processor one thread does all, in seconds of the processor; stages are timed by the functions
that do them. On an accelerator these are its programs, one after the other.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import defaultdict
from functools import wraps
from typing import Any

import _common
import device as grid
import jax
import numpy as np

from echofold import ESNSearchCV
from echofold._engine import drive, lockstep
from echofold._folds import algorithms
from echofold._folds.many_rows import _windows
from echofold._machine import programs

GPU = "--device" in sys.argv
now = time.perf_counter if GPU else time.process_time
ELEMENTWISE = 10  # operations of a unit in a step beside products, its tanh among them
STAGES = {  # what is timed as what
    "rows_of_series": "drive",
    "turned": "coordinates", "coordinates": "coordinates", "whitening": "coordinates",
    "part_moments": "moments", "_sum_pieces": "moments",
    "readouts_of": "solves", "least_norm": "solves", "solve": "solves",
    "_sums": "closed loops", "sums": "closed loops", "_drive": "drive",
}  # fmt: skip


def counted(units: int, steps: int, washout: int) -> dict[str, tuple[float, float]]:
    """Operations and bytes of each stage."""
    networks = len(grid.GRID["leak_rate"]) * len(grid.GRID["spectral_radius"])
    splits, horizon, ridges = grid.STEPS.k, grid.STEPS.valid, len(grid.RIDGE)
    m, number = units + 1, 8
    a, rows = m + 2, networks * steps
    update = 2 * units**2 + 4 * units + ELEMENTWISE * units
    driven = (steps + washout) * networks
    # A turn of all rows: a Gram matrix, and the rows in its directions.
    turns = 1 + len(_windows(m)) if GPU else 0.5  # of a QR, which reflects each column once
    systems, columns = networks * splits * ridges, networks * splits * ridges
    loop = columns * (horizon - 1)
    state = units + m + 1 if GPU else 0  # of a column and its readout; in the cache of a processor
    return {
        "drive": (driven * update, driven * units * number),
        "coordinates": (turns * 4 * rows * m**2, turns * 3 * rows * m * number),
        "moments": (2 * rows * (m**2 + a**2), 3 * rows * a * number),
        "solves": (systems * (m**3 / 3 + 4 * m**2), 3 * systems * m**2 * number),
        "closed loops": (loop * (update + 2 * m), loop * (units + state) * number),
    }


def shortest(function: Any) -> float:
    """Seconds of the shortest of five runs."""
    took = []
    for _ in range(6):
        began = now()
        function()
        took.append(now() - began)
    return min(took[1:])


def peaks() -> tuple[float, float]:
    """Operations of a large product, and bytes of a large copy, in a second."""
    if not GPU:
        A, big = np.random.default_rng(0).random((2000, 2000)), np.ones(2**26)
        into = np.empty_like(big)
        product = 2 * 2000**3 / shortest(lambda: A @ A)
        return product, 2 * big.nbytes / shortest(lambda: np.copyto(into, big))
    import jax.numpy as jnp

    with jax.enable_x64(True):
        A, big = jnp.ones((8192, 8192)) + jnp.eye(8192), jnp.ones(2**29)
        product, copied = jax.jit(jnp.matmul), jax.jit(lambda x: x + 1.0)
        by_product = shortest(lambda: product(A, A).block_until_ready())
        return 2 * 8192**3 / by_product, 2 * big.nbytes / shortest(
            lambda: copied(big).block_until_ready()
        )


def timed(function: Any, name: str, spent: dict[str, float]) -> Any:
    """A function that waits for what it gives, and adds its seconds."""

    @wraps(function)
    def run(*args, **options):
        began = now()
        found = jax.block_until_ready(function(*args, **options))
        spent[STAGES[name]] += now() - began
        return found

    return run


def watch(spent: dict[str, float]) -> None:
    """Time all stages from now on."""
    if GPU:
        for key, one in list(programs._kept.items()):
            if (name := key[1].__name__) in STAGES:
                one.run = timed(one.run, name, spent)
        return
    algorithms.whitening = timed(algorithms.whitening, "whitening", spent)
    algorithms.solve = timed(algorithms.solve, "solve", spent)
    rows = algorithms.KeptRows
    rows._sum_pieces = timed(rows._sum_pieces, "_sum_pieces", spent)
    drive._drive = timed(drive._drive, "_drive", spent)
    lockstep.sums = timed(lockstep.sums, "sums", spent)


def main() -> None:
    """Measure, print and store."""
    warnings.simplefilter("ignore")
    given, units = grid.electricity(), 50
    network = grid.forecaster(units).set_params(device="gpu" if GPU else "cpu")
    space = {**grid.GRID, "ridge": grid.RIDGE}

    def search() -> float:
        began = now()
        found = ESNSearchCV(network, space, cv=grid.STEPS, progress=False).fit(*given)
        assert found.results_.sizes["candidate"] == 135
        return now() - began

    search()
    whole = min(search() for _ in range(3))
    spent: dict[str, float] = defaultdict(float)
    watch(spent)
    each = []
    for _ in range(3):
        spent.clear()
        took = search()
        each.append((took, dict(spent)))
    took, stages = min(each, key=lambda one: one[0])
    product, copy = peaks()
    counts = counted(units, len(given[0]) - 1 - network.washout, network.washout)
    results: dict[str, Any] = {
        "machine": _common.machine(), "device": "gpu" if GPU else "cpu",
        "product": product, "copy": copy, "search": whole, "timed": took, "stages": {},
    }  # fmt: skip
    for name, (operations, moved) in counts.items():
        seconds = stages[name]
        results["stages"][name] = {
            "seconds": seconds, "operations": operations, "bytes": moved,
            "of_product": operations / seconds / product, "of_copy": moved / seconds / copy,
        }  # fmt: skip
        print(
            f"{name}: {seconds:.4f} s, {operations / 1e9:.1f} Gflop, {moved / 1e9:.2f} GB; "
            f"{operations / seconds / product:.1%} of a product, "
            f"{moved / seconds / copy:.1%} of a copy"
        )
    print(
        f"search {whole:.3f} s ({took:.3f} timed, {took - sum(stages.values()):.3f} of it other); "
        f"product {product / 1e9:.0f} Gflop/s, copy {copy / 1e9:.0f} GB/s"
    )
    if GPU:
        results["machine"]["gpu"] = jax.devices()[0].device_kind
    _common.store("roofline_gpu" if GPU else "roofline", results)


if __name__ == "__main__":
    main()
