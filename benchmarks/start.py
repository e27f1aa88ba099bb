"""Seconds of the first and of the second process of a command, with an empty folder of programs.

    python benchmarks/start.py [--quick]

What the first process compiles is kept for the second (`echofold.keep_compilations`). Both are
started anew on one thread, several times, each time from an empty folder; they must print the same
numbers. What a process does without compiling, most of it importing and searching, is in both.
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


def monthly(path: Path) -> None:
    """Months with a trend, a season and noise, as a CSV file."""
    n = np.arange(MONTHS)
    season = 0.15 * np.sin(2 * np.pi * n / 12) + 0.08 * np.cos(4 * np.pi * n / 12)
    noise = 0.03 * np.random.default_rng(0).standard_normal(MONTHS)
    months = pd.date_range("2000-01-01", periods=MONTHS, freq="MS").strftime("%Y-%m-%d")
    values = np.exp(4.8 + 0.01 * n + season + noise).round(1)
    pd.DataFrame({"month": months, "passengers": values}).to_csv(path, index=False)


def process(arguments: list[str], folder: Path) -> tuple[dict[str, float], dict]:
    """Seconds by the clock and of the processor, and what was printed."""
    env = os.environ | {"ECHOFOLD_CACHE": str(folder)}
    before, began = os.times(), time.perf_counter()
    command = [sys.executable, "-c", PROGRAM, *arguments, "--quiet", "--json"]
    done = subprocess.run(command, env=env, cwd=folder.parent, check=True, capture_output=True)
    wall, after = time.perf_counter() - began, os.times()
    processor = after.children_user + after.children_system
    processor -= before.children_user + before.children_system
    printed = json.loads(done.stdout)
    printed.pop("seconds")
    return {"wall": wall, "processor": processor}, printed


def command(arguments: list[str], repeats: int) -> dict:
    """Both processes of a command, repeated: medians, all of them, and the ratio."""
    times: dict[str, list[dict[str, float]]] = {"first": [], "second": []}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "programs"
            monthly(Path(name) / "months.csv")
            first, printed = process(arguments, folder)
            programs = len(list(folder.iterdir()))
            second, again = process(arguments, folder)
            assert printed == again, "the second process gives other numbers"
        times["first"].append(first)
        times["second"].append(second)
    row: dict = {"command": " ".join(["echofold", *arguments]), "programs": programs}
    for clock in ("wall", "processor"):
        each = {name: [one[clock] for one in runs] for name, runs in times.items()}
        middle = {name: median(seconds) for name, seconds in each.items()}
        ratio = middle["first"] / middle["second"]
        row[clock] = middle | {"ratio": ratio, "each": each}
        print(
            f"{row['command']}: {middle['first']:.1f} s, then {middle['second']:.1f} s "
            f"({clock}), {ratio:.2f} times faster; {programs} programs"
        )
    return row


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="once each, nothing stored")
    quick = parser.parse_args().quick
    commands = [["demo"], ["forecast", "months.csv", "--horizon", "12"]]
    rows = [command(arguments, 1 if quick else 3) for arguments in commands]
    if not quick:
        _common.store("start", {"rows": rows})


if __name__ == "__main__":
    main()
