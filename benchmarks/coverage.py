"""How many values lie inside the intervals of the default forecast, on R's series.

    pip install -e ".[cli,accuracy]"
    python benchmarks/coverage.py [processes]

The series, their seasons and what is held out of them are those of ``accuracy.py``; the forecast
and its intervals are those of `AutoForecaster` with its defaults. Shares are means over
series, each of which has one stretch that is forecast: the values of a stretch miss together, so
that the uncertainty is the spread over series, not over values.
"""

from __future__ import annotations

import multiprocessing
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor

import accuracy  # first: it sets the number of threads
import numpy as np

from echofold import AutoForecaster

LEVELS = (0.5, 0.8, 0.9, 0.95)
PARTS = {"first third": 0, "second third": 1, "last third": 2}


def one(job) -> tuple[str, dict[float, list[float]]]:
    """The share inside, by level, of a whole stretch and of its thirds."""
    warnings.simplefilter("ignore")
    name, (values, seasons, horizon) = job
    y, truth = values[:-horizon][-accuracy.LONGEST :], values[-horizon:]
    model = AutoForecaster(horizon, level=LEVELS, season=seasons, progress=False)
    ahead = model.fit(y).forecast()
    third = np.minimum(3 * np.arange(horizon) // horizon, 2)
    found = {}
    for level in LEVELS:
        inside = (truth >= np.asarray(ahead.lower[level])) & (
            truth <= np.asarray(ahead.upper[level])
        )
        thirds = [inside[third == part].mean() for part in PARTS.values() if (third == part).any()]
        thirds += [float("nan")] * (len(PARTS) - len(thirds))
        found[level] = [float(share) for share in (inside.mean(), *thirds)]
    return name, found


def main() -> None:
    """Forecast everything, print the table and store it."""
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    jobs = sorted(accuracy.series().items(), key=lambda job: -len(job[1][0]))
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=spawn) as pool:
        results = dict(pool.map(one, jobs))
    rows = []
    for level in LEVELS:
        shares = np.array([found[level] for found in results.values()])
        row = {
            "level": level,
            "series": len(shares),
            "coverage": float(shares[:, 0].mean()),
            "standard_error": float(shares[:, 0].std(ddof=1) / np.sqrt(len(shares))),
            **{name: float(np.nanmean(shares[:, 1 + part])) for name, part in PARTS.items()},
            "below half of the level": int((shares[:, 0] < level / 2).sum()),
        }
        rows.append(row)
        print("  ".join(f"{k} {v:.3g}" for k, v in row.items()))
    import _common  # here: it binds a process to one core

    _common.store("coverage", {"coverage": rows, "series": results})


if __name__ == "__main__":
    main()
