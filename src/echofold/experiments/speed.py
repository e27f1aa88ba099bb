"""The paper's speed experiment: seconds of one k-fold cross-validation against the number of folds.

Random data of 1,260 pairs, validated in generative mode, with small and large reservoirs and every
algorithm. "Naive" refits every split from its own rows, with the states computed once. Where an
algorithm takes much longer than the others it is not measured; its cost goes on in a line.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd

from echofold import ESNForecaster, KFold, __version__, cross_validate
from echofold.experiments import _tables
from echofold.experiments._tables import Say

PAIRS = 1260
UNITS = (50, 500)
FOLDS = (2, 3, 5, 10, 20, 42, 90, 210, 420, 1260)
UP_TO = {("naive", 50): 420, ("naive", 500): 20, ("small_k", 500): 42}  # folds
ALGORITHMS = ("naive", "small_k", "large_k", "auto")


def seconds(units: int, k: int, algorithm: str, draws: int) -> list[float]:
    """Times of one cross-validation with different data, after one to compile."""
    taken = []
    for seed in range(draws + 1):
        y = np.random.RandomState(seed).rand(PAIRS + 1)
        model = ESNForecaster(units, washout=0, scale=None, random_state=seed)
        began = time.perf_counter()
        cross_validate(model, y, cv=KFold(k), ridge=1e-4, algorithm=algorithm)
        taken.append(time.perf_counter() - began)
    return taken[1:]


def run(out: Path, draws: int = 5, quiet: bool = False) -> list[Path]:
    """Measure what is missing, and write the table."""
    say = Say(quiet)
    settings = {"echofold": __version__, "pairs": PAIRS}
    rows = _tables.Rows(out / "speed.csv", settings, ("units", "k", "algorithm"), say)
    for units in UNITS:
        for k in FOLDS:
            parts = [
                algorithm for algorithm in ALGORITHMS
                if k <= UP_TO.get((algorithm, units), PAIRS)
                and not len(rows.where(units=units, k=k, algorithm=algorithm))
            ]  # fmt: skip
            for algorithm in parts:
                taken = seconds(units, k, algorithm, draws)
                rows.add([{
                    "units": units, "k": k, "algorithm": algorithm,
                    "seconds": float(np.median(taken)), "fastest": min(taken),
                }])  # fmt: skip
            if parts:
                say(f"speed, {units} units, {k} folds: finished", timed=True)
    return [rows.path, _tables.write(out / "speed.md", describe(rows.frame))]


def describe(frame: pd.DataFrame) -> str:
    """Milliseconds for every reservoir, number of folds and algorithm."""
    table = frame.pivot(index=["units", "k"], columns="algorithm", values="seconds")
    lines = [
        [str(units), str(k), *("" if np.isnan(s) else f"{1e3 * s:.1f}" for s in times)]
        for (units, k), times in zip(table.index, table[list(ALGORITHMS)].to_numpy(), strict=True)
    ]
    return "\n".join([
        "# Speed experiment", "",
        f"Milliseconds of one k-fold cross-validation in generative mode, {PAIRS} pairs, median "
        "over draws.", "",
        _tables.markdown(["units", "folds", *ALGORITHMS], lines, left=0), "",
    ])  # fmt: skip
