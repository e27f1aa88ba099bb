"""Seconds of the first work that a user sees done: in the first process, and in the second.

    python benchmarks/first.py [--device gpu] [--all-cores] [--quick] [case ...]

Each case runs twice in a process that starts from an empty folder of kept programs, then twice in
one that finds the folder filled; all processes must give the same numbers. Time is taken beyond
imports: a process before these tells which modules the case loads, and the others import all of
them before they begin, which is timed apart. The aims are those of the project: a forecast of 200
values at once, a search of 24 candidates well under a second, and a large search in 1.5 times of
what it takes when all is compiled, and a second.

Then whole commands, first and second process, beside one that imports what they are made with.

On the processor all is done by one thread, or as many as there are with ``--all-cores``;
``--device gpu`` runs large searches on an accelerator instead, and no commands.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
flags = os.environ.get("XLA_FLAGS")

import _common  # noqa: E402  (first: it sets the number of threads, and one core)

MONTHS = 200
PROGRAM = "import sys; from echofold.cli import main; sys.exit(main())"
IMPORTS = "import numpy, scipy, jax, pandas, xarray, sklearn, matplotlib, rich"
TIMED = ("imports", "first", "second")  # in a process


def wave(rows: int):
    """A sine with noise."""
    import numpy as np

    return np.sin(np.arange(rows) / 5) + 0.1 * np.random.default_rng(0).normal(size=rows)


def forecast(device: str):
    """A forecast of 200 values: all defaults but the seed."""
    from echofold import ESNForecaster

    y = wave(200)
    return lambda: ESNForecaster(random_state=0).fit(y).forecast(12)[-1]


def small(**network: float):
    """A search of 24 small networks by 4 ridge values, and its forecast."""

    def prepare(device: str):
        from echofold import ESNForecaster, ESNSearchCV

        y = wave(300)
        space = {
            "leak_rate": [0.25, 0.5, 0.75, 1.0],
            "spectral_radius": [0.2, 0.4, 0.6, 0.8, 1.0, 1.2],
            "ridge": [1e-6, 1e-4, 1e-2, 1.0],
        }

        def work():
            estimator = ESNForecaster(random_state=0, **network)
            return ESNSearchCV(estimator, space, progress=False).fit(y).forecast(12)[-1]

        return work

    return prepare


def large(space: str, units: int):
    """A search of half-hourly electricity demand, as of `device.py`."""

    def prepare(device: str):
        import device as other

        from echofold import ESNSearchCV

        given = other.electricity()
        network = other.forecaster(units).set_params(device=device)
        candidates = {**getattr(other, space), "ridge": other.RIDGE}

        def work():
            search = ESNSearchCV(network, candidates, cv=other.STEPS, progress=False)
            return search.fit(*given).best_score_

        return work

    return prepare


# name: what is prepared outside of the time, and aims for the first process and for the second,
# each so many times of the shortest run and so many seconds
BOTH = ((1.5, 1.0), (1.5, 1.0))
CASES: dict[str, dict[str, tuple]] = {
    "cpu": {
        "forecast": (forecast, ((0, 0.05), (0, 0.05))),
        "search": (small(units=50), ((0, 0.6), (0, 0.6))),
        "sparse": (small(units=100, connectivity=0.1), ((0, 0.6), (0, 0.6))),
        "grid": (large("GRID", 50), BOTH),
    },
    "gpu": {
        "grid": (large("GRID", 50), ((0, 6.0), (0, 3.0))),
        "500 units": (large("FORTY", 500), ((0, 6.0), (0, 3.0))),
        "10,000 candidates": (large("MANY", 50), ((0, 6.0), (0, 3.0))),
    },
}


def clocks() -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    return time.perf_counter(), time.process_time()


def inside(name: str, device: str) -> dict[str, Any]:
    """What a process does: import, then the case twice; with the modules that it came to load."""
    import warnings

    warnings.simplefilter("ignore")
    modules = json.loads(sys.stdin.read())
    before, told = clocks(), {}
    for module in modules:
        with suppress(Exception):  # some are parts that others make
            import_module(module)
    work = CASES[device][name][0](device)
    for step in TIMED:
        found = None if step == "imports" else float(work())
        now = clocks()
        told[step] = {
            clock: b - a for clock, a, b in zip(("wall", "processor"), before, now, strict=True)
        }
        before = clocks()
    return {"seconds": told, "found": found, "modules": list(sys.modules)}


def process(command: list[str], folder: Path, given: str = "", **more: str) -> dict[str, Any]:
    """Seconds by the clock and of the processor, and what was printed."""
    env = os.environ | {"ECHOFOLD_CACHE": str(folder)} | more
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *command], input=given, env=env, cwd=folder.parent, check=True,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    wall, after = time.perf_counter() - began, os.times()
    processor = after.children_user + after.children_system
    processor -= before.children_user + before.children_system
    return {"wall": wall, "processor": processor, "printed": done.stdout}


def case(name: str, device: str, repeats: int) -> dict[str, Any]:
    """Both processes of a case, repeated: medians of each step, by both clocks, and its aims."""
    command = [__file__, "--inside", name, "--device", device]
    if cores and os.sched_getaffinity(0) == cores:
        command.append("--all-cores")

    def one(folder: Path, modules: list[str]) -> dict[str, Any]:
        return json.loads(process(command, folder, json.dumps(modules))["printed"])

    with tempfile.TemporaryDirectory() as empty:
        modules = one(Path(empty) / "programs", [])["modules"]
    times: dict[str, dict[str, list]] = {"first process": {}, "second process": {}}
    numbers = set()
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as empty:
            folder = Path(empty) / "programs"
            for steps in times.values():
                told = one(folder, modules)
                numbers.add(told["found"])
                for step in TIMED:
                    steps.setdefault(step, []).append(told["seconds"][step])
            kept = len(list(folder.rglob("*.program"))) if folder.exists() else 0
    assert len(numbers) == 1, "processes give other numbers"
    row: dict[str, Any] = {"programs": kept}
    for clock in ("wall", "processor"):
        row[clock] = {
            which: {step: median(each[clock] for each in runs) for step, runs in steps.items()}
            for which, steps in times.items()
        }
        warm = min(steps["second"] for steps in row[clock].values())
        aims = CASES[device][name][1]
        for steps, (times_warm, more) in zip(row[clock].values(), aims, strict=True):
            steps["aim"] = times_warm * warm + more
        told = "; ".join(
            f"{which} {steps['first']:.3f} s (aim {steps['aim']:.2f}), then {steps['second']:.3f}"
            for which, steps in row[clock].items()
        )
        print(f"{name} ({clock}): {told}; {kept} programs", flush=True)
    return row | {"each": times}


def monthly(path: Path) -> None:
    """Months with a trend, a season and noise, as a CSV file."""
    import numpy as np
    import pandas as pd

    n = np.arange(MONTHS)
    season = 0.15 * np.sin(2 * np.pi * n / 12) + 0.08 * np.cos(4 * np.pi * n / 12)
    noise = 0.03 * np.random.default_rng(0).standard_normal(MONTHS)
    months = pd.date_range("2000-01-01", periods=MONTHS, freq="MS").strftime("%Y-%m-%d")
    values = np.exp(4.8 + 0.01 * n + season + noise).round(1)
    pd.DataFrame({"month": months, "passengers": values}).to_csv(path, index=False)


def numbers_of(printed: str) -> dict:
    """What a command found, but for how long it took."""
    return {name: found for name, found in json.loads(printed).items() if name != "seconds"}


def command(arguments: list[str], repeats: int) -> dict[str, Any]:
    """Both processes of a command, and one that only imports, repeated: medians."""
    steps: dict[str, list] = {"first": [], "second": [], "imports": []}
    words = ["-c", PROGRAM, *arguments, "--quiet", "--json"]
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "programs"
            monthly(Path(name) / "months.csv")
            both = [process(words, folder) for _ in range(2)]
            first, second = (numbers_of(one["printed"]) for one in both)
            assert first == second, "the second process gives other numbers"
            for runs, one in zip(
                steps.values(), [*both, process(["-c", IMPORTS], folder)], strict=True
            ):
                runs.append({clock: one[clock] for clock in ("wall", "processor")})
    row: dict[str, Any] = {"command": " ".join(["echofold", *arguments])}
    for clock in ("wall", "processor"):
        row[clock] = {step: median(one[clock] for one in runs) for step, runs in steps.items()}
        told = ", ".join(f"{step} {value:.2f} s" for step, value in row[clock].items())
        print(f"{row['command']} ({clock}): {told}", flush=True)
    return row | {"each": steps}


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="some of the cases only, nothing stored")
    parser.add_argument("--device", choices=list(CASES), default="cpu")
    parser.add_argument("--all-cores", action="store_true")
    parser.add_argument("--quick", action="store_true", help="once each, nothing stored")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if cores and (asked.all_cores or asked.device != "cpu"):
        os.sched_setaffinity(0, cores)
        os.environ["XLA_FLAGS"] = flags or ""
    if asked.inside:
        print(json.dumps(inside(asked.inside, asked.device)))
        return
    repeats = 1 if asked.quick else 3
    chosen = [name for name in CASES[asked.device] if not asked.cases or name in asked.cases]
    results: dict[str, Any] = {"device": asked.device}
    results["cases"] = {name: case(name, asked.device, repeats) for name in chosen}
    if asked.device == "cpu" and not asked.cases:
        commands = [["demo"], ["forecast", "months.csv", "--horizon", "12"]]
        results["commands"] = [command(arguments, repeats) for arguments in commands]
    if asked.quick or asked.cases:
        return
    if asked.device != "cpu":
        import jax

        gpu = {"gpu": jax.devices()[0].device_kind, "threads": str(os.cpu_count())}
        results["machine"] = _common.machine() | gpu
    elif asked.all_cores:
        results["machine"] = _common.machine() | {"threads": str(len(cores or ()))}
    name = "first" if asked.device == "cpu" else "first_device"
    _common.store(f"{name}_all_cores" if asked.all_cores else name, results)


if __name__ == "__main__":
    main()
