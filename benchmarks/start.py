"""Seconds of the first and of the second process of a command, with an empty folder of programs.

    python benchmarks/start.py [--quick]

What the first process compiles is kept for the second (`echofold.keep_compilations`). Both are
started anew on one thread, several times, each time from an empty folder; they must print the same
numbers. What a process does without compiling, most of it importing and searching, is in both.
The second is compared with a process that only imports the packages that a forecast is made with.
And the first forecast of a small network in a process, after imports, with the second one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import _common  # first: it sets the number of threads
import numpy as np
import pandas as pd

MONTHS = 200
PROGRAM = "import sys; from echofold.cli import main; sys.exit(main())"
IMPORTS = "import numpy, scipy, jax, pandas, xarray, sklearn, matplotlib, rich"
SMALL = """
import json, time
import numpy as np
from echofold import ESNForecaster
y, seconds = np.sin(np.arange(200) / 5), []
for _ in range(2):
    began = time.perf_counter()
    ESNForecaster(random_state=0).fit(y).forecast(12)
    seconds.append(time.perf_counter() - began)
print(json.dumps(seconds))
"""


def monthly(path: Path) -> None:
    """Months with a trend, a season and noise, as a CSV file."""
    n = np.arange(MONTHS)
    season = 0.15 * np.sin(2 * np.pi * n / 12) + 0.08 * np.cos(4 * np.pi * n / 12)
    noise = 0.03 * np.random.default_rng(0).standard_normal(MONTHS)
    months = pd.date_range("2000-01-01", periods=MONTHS, freq="MS").strftime("%Y-%m-%d")
    values = np.exp(4.8 + 0.01 * n + season + noise).round(1)
    pd.DataFrame({"month": months, "passengers": values}).to_csv(path, index=False)


def process(command: list[str], folder: Path) -> tuple[dict[str, float], str]:
    """Seconds by the clock and of the processor, and what was printed."""
    env = os.environ | {"ECHOFOLD_CACHE": str(folder)}
    before, began = os.times(), time.perf_counter()
    command = [sys.executable, "-c", *command]
    done = subprocess.run(command, env=env, cwd=folder.parent, check=True, capture_output=True)
    wall, after = time.perf_counter() - began, os.times()
    processor = after.children_user + after.children_system
    processor -= before.children_user + before.children_system
    return {"wall": wall, "processor": processor}, done.stdout


def numbers(printed: str) -> dict:
    """What a command found, but for how long it took."""
    return {name: found for name, found in json.loads(printed).items() if name != "seconds"}


def command(arguments: list[str], repeats: int) -> dict:
    """Both processes of a command, repeated: medians, all of them, and the ratio."""
    times: dict[str, list[dict[str, float]]] = {"first": [], "second": [], "imports": []}
    command = [PROGRAM, *arguments, "--quiet", "--json"]
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "programs"
            monthly(Path(name) / "months.csv")
            first, printed = process(command, folder)
            programs = len(list(folder.iterdir()))
            second, again = process(command, folder)
            assert numbers(printed) == numbers(again), "the second process gives other numbers"
            imports, _ = process([IMPORTS], folder)
        for name, one in zip(times, (first, second, imports), strict=True):
            times[name].append(one)
    row: dict = {"command": " ".join(["echofold", *arguments]), "programs": programs}
    for clock in ("wall", "processor"):
        each = {name: [one[clock] for one in runs] for name, runs in times.items()}
        middle = {name: median(seconds) for name, seconds in each.items()}
        ratio = middle["first"] / middle["second"]
        beyond = middle["second"] / middle["imports"]
        row[clock] = middle | {"ratio": ratio, "times imports": beyond, "each": each}
        print(
            f"{row['command']}: {middle['first']:.1f} s, then {middle['second']:.1f} s "
            f"({clock}), {ratio:.2f} times faster; {programs} programs; the second takes "
            f"{beyond:.2f} times the imports"
        )
    return row


def small(repeats: int) -> dict:
    """Seconds of the first and of the second small forecast in a process: medians."""
    with tempfile.TemporaryDirectory() as name:
        each = [json.loads(process([SMALL], Path(name) / "programs")[1]) for _ in range(repeats)]
    first, second = map(median, zip(*each, strict=True))
    print(f"a small forecast: {first:.3f} s, then {second:.3f} s")
    return {"first": first, "second": second, "each": each}


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="once each, nothing stored")
    quick = parser.parse_args().quick
    commands = [["demo"], ["forecast", "months.csv", "--horizon", "12"]]
    rows = [command(arguments, 1 if quick else 3) for arguments in commands]
    first = small(1 if quick else 5)
    if not quick:
        _common.store("start", {"rows": rows, "small": first})


if __name__ == "__main__":
    main()
