"""Series longer than memory: peak memory and time, read in blocks and from an array.

    python benchmarks/longer.py [rows [rows ...]]

One input, 100 units: a fit, and a search with ten folds and three ridge values. Each side runs in a
process of its own on the same file, and it is checked that both give the same readout. Stored
results of other lengths stay. Linux only.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import _common  # first: it sets the number of threads
import numpy as np

ROWS = (1_000_000, 4_000_000, 50_000_000)
IN_MEMORY = 10_000_000  # rows up to which an array is measured, too
JOBS = ("regression fit", "forecast fit", "regression search", "forecast search")
UNITS = 100
SPACE = {"ridge": [1e-4, 1e-2, 1.0]}


def write(path: Path, rows: int) -> None:
    """A series and its input, a part at a time."""
    data, rng = np.memmap(path, float, "w+", shape=(rows, 2)), np.random.default_rng(0)
    for a in range(0, rows, 2**18):
        t = np.arange(a, min(a + 2**18, rows))[:, None]
        waves = np.sin(t / 9) + 0.5 * np.sin(t / 31)
        data[a : a + len(t)] = waves + 0.3 * rng.normal(size=(len(t), 2))
    data.flush()


def peak() -> float:
    """Most memory of this process so far, in megabytes.

    Not `resource.getrusage`, which counts what the process that started this one had, too.
    """
    (line,) = (one for one in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in one)
    return int(line.split()[1]) / 2**10


def measure(path: str, rows: int, job: str, side: str) -> dict:
    """One job in this process: seconds, peak memory, and some numbers to compare."""
    from echofold import ESNForecaster, ESNRegressor, ESNSearchCV, KFold
    from echofold._data import lazy

    lazy.SMALL = 2**20
    data = np.memmap(path, float, "r", shape=(rows, 2))
    if side == "array":
        data = np.array(data)
    regression = job.startswith("regression")
    model = (ESNRegressor if regression else ESNForecaster)(UNITS, ridge=1e-2, random_state=0)
    if job.endswith("search"):
        model = ESNSearchCV(model, SPACE, cv=KFold(10))
    before = peak()
    began = time.perf_counter()
    model.fit(*((data[:, :1], data[:, 1]) if regression else (data[:, 0],)))
    took = time.perf_counter() - began
    fitted = getattr(model, "best_estimator_", model)
    return {
        "seconds": took,
        "megabytes": peak(),
        "before": before,
        "readout": fitted.readout_[:, 0].tolist(),
    }


def apart(*arguments: object) -> dict:
    """`measure` in a process of its own."""
    command = [sys.executable, __file__, "--measure", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    """Measure growing series and store the results."""
    lengths = [int(float(rows)) for rows in sys.argv[1:]] or ROWS
    stored = _common.RESULTS / "longer.json"
    found = json.loads(stored.read_text())["longer"] if stored.exists() else []
    found = [row for row in found if row["rows"] not in lengths or row["job"] not in JOBS]
    for rows in lengths:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "series"
            write(path, rows)
            for job in JOBS:
                sides = ("blocks", "array") if rows <= IN_MEMORY else ("blocks",)
                told = {side: apart(path, rows, job, side) for side in sides}
                readouts = [one.pop("readout") for one in told.values()]
                off = np.abs(np.subtract(readouts[0], readouts[-1])).max()
                assert off < 1e-8, off
                found.append({"job": job, "rows": rows, "array": None, **told})
                for side, one in told.items():
                    print(
                        f"{job}, {rows:,} rows, {side}: {one['seconds']:.1f} s, "
                        f"{one['megabytes']:.0f} MB, {one['before']:.0f} before",
                        flush=True,
                    )
                _common.store("longer", {"longer": found})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]), *sys.argv[4:])))
    else:
        main()
