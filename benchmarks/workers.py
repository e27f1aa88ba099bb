"""How much faster several workers forecast many series than one does, and in how much memory.

    python benchmarks/workers.py [--series 4000] [--workers 4] [--by dask]

Made-up series of 100 months by `AutoForecaster`, fit and forecast, by one worker and by several of
one thread each: of a Dask cluster, or processes of joblib (``n_jobs``) where Dask is not installed
or ``--by processes`` asks for them. Forecasts must be the same to the bit. Workers are started, and
forecast a few series, before time is taken. Seconds of CPU are those of all processes, memory that
of this process and of the largest other one.

``--command`` forecasts a file of so many series by ``echofold forecast`` instead, by one process,
and tells seconds of CPU and memory: what the largest panels take.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import numpy as np  # noqa: E402 (which reads how many threads it may have)
import pandas as pd  # noqa: E402

PROGRAM = "import sys; from echofold.cli import main; sys.exit(main())"
# Dask's workers give memory back at once, and asking for it again takes as long as the work.
SPARE = {"MALLOC_TRIM_THRESHOLD_": 2**27, "MALLOC_MMAP_THRESHOLD_": 2**25}
HORIZON, LENGTH, FEW = 12, 100, 64


def made_up(count: int) -> Iterator[np.ndarray]:
    """Series of months with trends, seasons and noise of many sizes; always the same."""
    rng, t = np.random.default_rng(0), np.arange(LENGTH)
    for n in range(count):
        yield np.exp(
            rng.normal(4, 1) + rng.normal(0, 0.004) * t
            + rng.uniform(0, 0.3) * np.sin(2 * np.pi * (t + n) / 12)
            + np.cumsum(rng.normal(0, 0.03, LENGTH)) + rng.normal(0, 0.05, LENGTH)
        )  # fmt: skip


def written(path: Path, count: int) -> None:
    """A file of made-up series below each other."""
    dates = pd.date_range("1980-01-01", periods=LENGTH, freq="MS").strftime("%Y-%m-%d")
    series = enumerate(made_up(count))
    with open(path, "w", encoding="utf-8") as file:
        file.write("series,value,date\n")
        for n, values in series:
            rows = zip(values.tolist(), dates, strict=True)
            file.write("".join(f"s{n},{value!r},{date}\n" for value, date in rows))


@contextmanager
def workers(count: int, by: str) -> Iterator[dict[str, Any]]:
    """What an `AutoForecaster` is told to have so many workers."""
    if by == "processes":
        from joblib.externals.loky import get_reusable_executor

        yield {"n_jobs": count}
        get_reusable_executor().shutdown(wait=True)  # so that their seconds are known
        return
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set(
            {f"distributed.nanny.pre-spawn-environ.{one}": SPARE[one] for one in SPARE}
        ),
        LocalCluster(count, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield {"executor": client.get_executor()}


def used() -> float:
    """Seconds of CPU of this process, and of others that have ended."""
    return sum(os.times()[:4])


def largest(who: int) -> float:
    """MiB that a process has held at most."""
    return resource.getrusage(who).ru_maxrss / 2**10


def by_workers(count: int, many: int, by: str) -> tuple[np.ndarray, dict[str, float]]:
    """Forecasts of so many series, and what they took."""
    from echofold import AutoForecaster

    dates = pd.date_range("1980-01-01", periods=LENGTH, freq="MS")
    data = {f"s{n}": pd.Series(values, dates) for n, values in enumerate(made_up(many))}
    began = used()
    with workers(count, by) as told:
        model = AutoForecaster(HORIZON, progress=False, **told)
        few = FEW * count
        model.fit(dict(list(data.items())[:few])).forecast()
        start = time.perf_counter()
        forecast = model.fit(data).forecast()
        seconds = time.perf_counter() - start
    found = np.array([*forecast.mean.values(), *forecast.upper[0.9].values()])
    row = {"workers": count, "seconds": seconds, "CPU": used() - began}
    return found, row | {"MiB": largest(resource.RUSAGE_SELF)}


def command(count: int, folder: Path) -> None:
    """Seconds of CPU and memory of the command on a file of so many series."""
    path, out = folder / "series.csv", folder / "out"
    written(path, count)
    asked = ["forecast", str(path), "--id", "series", "--horizon", str(HORIZON), "--out", str(out)]
    began = used()
    subprocess.run([sys.executable, "-c", PROGRAM, *asked, "--quiet"], check=True)
    took, sizes = used() - began, [f"{file.name} {file.stat().st_size:,}" for file in out.iterdir()]
    print(
        f"{count:,} series by the command: {took:.0f} s of CPU, {took / count:.4f} s each, "
        f"{largest(resource.RUSAGE_CHILDREN):.0f} MiB; bytes of {', '.join(sorted(sizes))}"
    )


def main() -> None:
    """Forecast by one and by several workers, and print how they compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=int, default=4000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--by", choices=["dask", "processes"])
    parser.add_argument("--command", action="store_true")
    asked = parser.parse_args()
    if asked.command:
        with tempfile.TemporaryDirectory() as name:
            command(asked.series, Path(name))
        return
    warnings.simplefilter("ignore")
    dask = importlib.util.find_spec("distributed") is not None
    by = asked.by or ("dask" if dask else "processes")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"{asked.series:,} series of {LENGTH} values, by workers of {by}, on {cores} cores")
    (one, alone), (several, together) = (
        by_workers(count, asked.series, by) for count in (1, asked.workers)
    )
    for row in (alone, together):
        print(", ".join(f"{name} {value:.0f}" for name, value in row.items()))
    same = "the same to the bit" if np.array_equal(one, several) else "NOT THE SAME"
    print(f"{alone['seconds'] / together['seconds']:.2f} times as fast; forecasts are {same}")
    print(f"largest worker that has ended: {largest(resource.RUSAGE_CHILDREN):.0f} MiB")


if __name__ == "__main__":
    main()
