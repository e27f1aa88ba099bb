"""How many true values lie inside prediction intervals, on half-hourly electricity demand.

    python benchmarks/coverage.py                 # all of it, half an hour
    python benchmarks/coverage.py --part CV-48    # one part; the others are kept

`echofold.evaluate` repeats a whole search (18 candidates of 100 units, 4 ridge values) on growing
beginnings of the series and counts how many of the values that follow lie inside the 90 %
intervals. Horizons: a day (48 half hours, 40 beginnings) and about four days (201, 10 beginnings).
The values of one stretch are forecast from one state, so they miss together: the uncertainty is the
spread over beginnings, not over values.

Parts that end in "fixed" choose nothing: six of the 72 networks, drawn at random, are taken as they
are, and coverage is the mean over them.
"""

from __future__ import annotations

import argparse
import itertools
import json

import _common  # first: it sets the number of threads
import numpy as np

from echofold import (
    Accumulative,
    ESNForecaster,
    ESNSearchCV,
    KFold,
    WalkForward,
    datasets,
    evaluate,
)

LEVEL = 0.9
ORIGINS = {48: 40, 201: 10}
SCHEMES = {"CV": KFold, "AV": Accumulative, "FV": WalkForward}
PARTS = [  # scheme, steps ahead, splits, whether the network is searched for
    *((scheme, 201, 20, True) for scheme in SCHEMES),
    *((scheme, 48, 20, True) for scheme in SCHEMES),
    ("CV", 48, 60, True),
    ("CV", 48, 20, False),
    ("FV", 48, 20, False),
]
SPACE = {
    "leak_rate": [0.2, 0.5, 0.8],
    "spectral_radius": [0.4, 0.8, 1.2],
    "input_scaling": [0.3, 1.0],
    "ridge": [1e-8, 1e-6, 1e-4, 1e-2],
}


def name(scheme: str, horizon: int, splits: int, searched: bool) -> str:
    """The name of a part."""
    more = f"-{splits}" if splits != 20 else ""
    return f"{scheme}-{horizon}{more}{'' if searched else '-fixed'}"


def spaces(searched: bool) -> list[dict]:
    """The whole grid, or single networks of it."""
    if searched:
        return [SPACE]
    grid = list(itertools.product(*SPACE.values()))
    chosen = np.random.default_rng(0).choice(len(grid), 6, replace=False)
    return [{key: [v] for key, v in zip(SPACE, grid[i], strict=True)} for i in chosen]


def measure(scheme: str, horizon: int, splits: int, searched: bool) -> dict:
    """Coverage and errors of one part."""
    y = datasets.load_electricity().data
    found = [
        evaluate(
            ESNSearchCV(
                ESNForecaster(100, random_state=0), space,
                cv=SCHEMES[scheme](splits, valid=horizon), progress=False,
            ),
            y, origins=ORIGINS[horizon], horizon=horizon, level=LEVEL,
        )
        for space in spaces(searched)
    ]  # fmt: skip
    covered = np.mean([one.coverage.values for one in found], axis=0)
    error = np.array([one.nrmse.values for one in found])
    return {
        "scheme": scheme,
        "horizon": horizon,
        "splits": splits,
        "searched": searched,
        "origins": len(covered),
        "level": LEVEL,
        "coverage": float(covered.mean()),
        "standard_error": float(covered.std(ddof=1) / np.sqrt(len(covered))),
        "coverage_by_origin": covered.tolist(),
        "nrmse_median": float(np.median(error)),
        "nrmse_largest": float(error.max()),
    }


def main() -> None:
    """Measure, print and store."""
    parts = {name(*part): part for part in PARTS}
    parser = argparse.ArgumentParser(description="Coverage of prediction intervals.")
    parser.add_argument("--part", choices=parts)
    given = parser.parse_args().part
    file = _common.RESULTS / "coverage.json"
    rows = json.loads(file.read_text())["coverage"] if file.exists() else []
    found = {name(r["scheme"], r["horizon"], r["splits"], r["searched"]): r for r in rows}
    for one in parts if given is None else (given,):
        row = found[one] = measure(*parts[one])
        print(
            f"{one}: {row['coverage']:.1%} ± {row['standard_error']:.1%} of the values inside "
            f"{LEVEL:.0%} intervals ({row['origins']} beginnings); NRMSE "
            f"{row['nrmse_median']:.3f} (median), {row['nrmse_largest']:.3g} (largest)",
            flush=True,
        )
        _common.store("coverage", {"coverage": [found[key] for key in parts if key in found]})


if __name__ == "__main__":
    main()
