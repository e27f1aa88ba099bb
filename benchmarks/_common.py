"""What the benchmarks share: one thread, repeated timing, results stored with the machine.

Import this before NumPy or JAX: it sets the number of threads, unless ``--cores`` is given, and
that no compilation is kept.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from pathlib import Path

CORES = "--cores" in sys.argv  # all of them, for what asks for it
os.environ.setdefault("ECHOFOLD_CACHE", "off")  # a first run compiles, whoever ran before
if not CORES:
    for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[_variable] = "1"
    os.environ["XLA_FLAGS"] = (
        "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1 "
        + os.environ.get("XLA_FLAGS", "")
    )
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

RESULTS = Path(__file__).parent / "results"


def seconds(function, *, least: float = 0.3, most_runs: int = 50) -> float:
    """The shortest of several runs, after one that warms up (and compiles).

    On a shared machine the shortest is the least disturbed.
    """
    function()
    best, spent, runs = float("inf"), 0.0, 0
    while (spent < least and runs < most_runs) or runs < 2:
        began = time.perf_counter()
        function()
        took = time.perf_counter() - began
        best, spent, runs = min(best, took), spent + took, runs + 1
    return best


def once(function) -> float:
    """One run, for what takes long."""
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def stretched(sequences, steps: int):
    """Raw values ``(n, steps * channels)``, interpolated to the same number of steps."""
    import numpy as np

    rows = []
    for one in sequences:
        at = np.linspace(0, len(one) - 1, steps)
        rows.append([np.interp(at, np.arange(len(one)), channel) for channel in one.T])
    return np.array(rows).reshape(len(sequences), -1)


def machine() -> dict[str, str]:
    """A description of this machine and of the versions measured."""
    import jax
    import numpy
    import scipy

    import echofold

    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {
        "cpu": model,
        "threads": "1",
        "python": sys.version.split()[0],
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "jax": jax.__version__,
        "echofold": echofold.__version__,
    }


def store(name: str, results: dict) -> None:
    """Write results as JSON beside the scripts."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"machine": machine(), **results}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n")
