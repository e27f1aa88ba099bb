"""What an installation weighs, and what importing it costs beside its dependencies.

    python -m venv bare && bare/bin/pip install . && bare/bin/python benchmarks/weight.py [--quick]

Sizes are those of the files that pip wrote, compiled Python included, for echofold and all that it
requires, directly or not. Imports are timed in processes of their own, in turns, by seconds of the
processor; an empty process is taken off before ratios are made.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from importlib import metadata
from statistics import median
from typing import Any

import _common  # first: it sets the number of threads, and one core

DEPENDENCIES = "numpy, scipy, pandas, sklearn, jax, xarray, threadpoolctl"
FORECAST = (
    "import numpy; from echofold import ESNForecaster; "
    "ESNForecaster(random_state=0).fit(numpy.sin(numpy.arange(200) / 5)).forecast(12)"
)
CASES = {
    "nothing": "pass",
    "its dependencies": f"import {DEPENDENCIES}",
    "import echofold": "import echofold",
    "every public name": "import echofold; [getattr(echofold, name) for name in echofold.__all__]",
    "and a first forecast": FORECAST,
}


def megabytes(name: str) -> float:
    """Size of the files of a distribution."""
    places = [one.locate() for one in metadata.files(name) or ()]
    return sum(os.path.getsize(one) for one in places if os.path.exists(one)) / 1e6


def required() -> dict[str, list[str]]:
    """Distributions that echofold requires, directly or not, each with those that require it."""
    from packaging.requirements import Requirement

    found: dict[str, list[str]] = {"echofold": []}
    open_ = ["echofold"]
    while open_:
        name = open_.pop(0)
        for one in map(Requirement, metadata.requires(name) or ()):
            if one.marker is not None and not one.marker.evaluate({"extra": ""}):
                continue
            other = one.name.lower().replace("-", "_")
            if other not in found:
                open_.append(other)
            found.setdefault(other, []).append(name)
    return found


def processor(code: str) -> float:
    """Seconds of the processor of a process that runs some code."""
    before = os.times()
    subprocess.run([sys.executable, "-c", code], check=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def imports(repeats: int) -> dict[str, Any]:
    """Medians, ratios to the dependencies, and which of these are not imported."""
    times: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(repeats):
        for name, code in CASES.items():
            times[name].append(processor(code))
    seconds = {name: median(found) for name, found in times.items()}
    nothing = seconds["nothing"]
    whole = seconds["its dependencies"] - nothing
    names = DEPENDENCIES.split(", ")
    left = {}
    for name, code in CASES.items():
        shown = f"{code}\nimport sys; print(*[one for one in {names} if one not in sys.modules])"
        command = [sys.executable, "-c", shown]
        left[name] = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {
        "seconds": seconds,
        "ratio": {name: (found - nothing) / whole for name, found in seconds.items()},
        "not imported": {name: words.split() for name, words in left.items()},
        "each": times,
    }


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few repeats, nothing stored")
    quick = parser.parse_args().quick
    packages = [
        {"package": name, "megabytes": megabytes(name), "because of": because}
        for name, because in required().items()
    ]
    packages.sort(key=lambda row: -row["megabytes"])
    for row in packages:
        print(f"{row['package']:18}{row['megabytes']:8.1f} MB  {', '.join(row['because of'])}")
    print(f"{'together':18}{sum(row['megabytes'] for row in packages):8.1f} MB")
    told = imports(3 if quick else 11)
    for name, ratio in told["ratio"].items():
        without = ", ".join(told["not imported"][name])
        print(f"{name}: {told['seconds'][name]:.2f} s, {ratio:.2f} of all; without {without}")
    if not quick:
        _common.store("weight", {"packages": packages, "imports": told})


if __name__ == "__main__":
    main()
