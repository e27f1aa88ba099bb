"""How right the time left is that long work shows: what was said beside what happened.

    python benchmarks/progress.py [case ...]

Each case is a whole command or search, in a process of its own that finds nothing compiled.
Whenever a time left is told, it is kept with the moment; when all has ended (for a command its
report, too), the one that was on the screen after a tenth, a quarter and a half of the time is
divided by what was left in fact. The aim is a ratio between 2/3 and 1.5 from the first tenth on.
Beside them are the share of the time after which anything was said first, and the worst ratio of
all between a tenth and nine tenths. Time is that of one processor, which is what passes where
nothing else runs: others on the machine slow both sides down, but not alike from minute to minute.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import _common  # (first: it sets the number of threads)

AT = (0.1, 0.25, 0.5)
AIM = 1.5


def series(rows: int, seed: int = 0):
    """Hours with the season of a day, and noise."""
    import numpy as np
    import pandas as pd

    chance = np.random.default_rng(seed)
    values = 50 + 10 * np.sin(np.arange(rows) * np.pi / 12) + chance.normal(size=rows).cumsum() / 5
    index = pd.date_range("2020-01-01", periods=rows, freq="h", name="hour")
    return pd.Series(values, index, name="load").round(3)


def candidates(strategy: str, rows: int = 1000):
    """200 networks of four sizes, on a series of so many values."""
    from echofold import ESNForecaster, ESNSearchCV, KFold

    space = {
        "units": [25, 50, 100, 200],
        "leak_rate": [0.2, 0.4, 0.6, 0.8, 1.0],
        "spectral_radius": [0.5, 0.7, 0.9, 1.0, 1.1],
        "input_scaling": [0.3, 1.0],
        "ridge": [1e-8, 1e-6, 1e-4, 1e-2],
    }
    search = ESNSearchCV(
        ESNForecaster(random_state=0), space, cv=KFold(10), strategy=strategy, progress=True
    )
    y = series(rows).to_numpy()
    return lambda: search.fit(y)


def command(*args: str, rows: int = 0, panel: int = 0):
    """A command on a file of so many values, or of a panel of so many series of 100 months."""
    import pandas as pd

    from echofold.cli.app import app

    folder = Path(tempfile.mkdtemp())
    if rows:
        series(rows).to_csv(folder / "data.csv")
    else:
        months = pd.date_range("2015-01-01", periods=100, freq="MS", name="month")
        each = {f"s{one}": series(100, one).set_axis(months) for one in range(panel)}
        pd.concat(each, names=["id", "month"]).to_csv(folder / "data.csv")
    out = ["--out", str(folder)] if args[0] == "forecast" else []
    line = [args[0], str(folder / "data.csv"), *args[1:], *out]
    return lambda: app.main(line, standalone_mode=False)


CASES = {
    "200 candidates of four sizes": lambda: candidates("grid"),
    "the same, by halving": lambda: candidates("halving"),
    "200 candidates, 10,000 values": lambda: candidates("grid", 10_000),
    "the same, 10,000 values, by halving": lambda: candidates("halving", 10_000),
    "echofold forecast, 3,000 values": lambda: command("forecast", "--horizon", "24", rows=3000),
    "echofold forecast, 20,000 values": lambda: command("forecast", "--horizon", "24", rows=20000),
    "echofold forecast, 500 series": lambda: command(
        "forecast", "--id", "id", "--horizon", "12", panel=500
    ),
    "echofold validate, 1,000 values": lambda: command("validate", "--test", "24", rows=1000),
}


def recorded(case: str) -> dict:
    """What one case said of its time left, and what was true."""
    from echofold._machine import progress

    said: list[tuple[float, float]] = []
    real = progress.Progress.left

    def left(self, *done):
        seconds = real(self, *done)
        if seconds is not None:
            said.append((time.process_time(), seconds))
        return seconds

    progress.Progress.left = left
    progress.time = SimpleNamespace(monotonic=time.process_time)
    progress._seen = lambda: True  # someone looks
    progress._Bar = progress._Lines
    run = CASES[case]()
    began = time.process_time()
    run()
    took = time.process_time() - began
    each = [((at - began) / took, seconds / (began + took - at)) for at, seconds in said]
    shown = {}
    for share in AT:
        before = [ratio for at, ratio in each if at <= share]
        shown[f"{share:.0%}"] = round(before[-1], 3) if before else None
    later = [ratio for at, ratio in each if 0.1 <= at <= 0.9]
    off = max(later, key=lambda ratio: max(ratio, 1 / max(ratio, 1e-9)), default=None)
    return {
        **shown,
        "first said": round(each[0][0], 3) if each else None,
        "worst": None if off is None else round(off, 3),
        "said": len(each),
        "seconds": round(took, 1),
    }


def main() -> None:
    """Run cases, print and store the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", nargs="*", help="cases by words in their names")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(recorded(given.one)))
        return
    chosen = [one for one in CASES if not given.case or any(word in one for word in given.case)]
    found = {}
    for case in chosen:
        line = [sys.executable, __file__, "--one", case]
        done = subprocess.run(line, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        found[case] = json.loads(done.stdout.splitlines()[-1])
        print(case, found[case], flush=True)
    if not given.case:
        _common.store("progress", {"aim": AIM, "cases": found})


if __name__ == "__main__":
    main()
