"""Fields in space and time: how long forecasts of local reservoirs hold.

Kuramoto-Sivashinsky on circles of length 22 (64 cells) and 200 (512 cells), every 0.25, and Lorenz
96 with 40 and 400 places, every 0.01. Margin, scaling of inputs, spectral radius and ridge, and of
Lorenz 96 whether there is a network at all, are found by an `ESNSearchCV` on the training data
alone, whose folds are closed loops; the winner is trained on all of these data and tested on what
follows, from many starts. A forecast is valid until the root mean square error over all cells
exceeds half of the standard deviation of the field (in Pathak et al. half of its root mean square,
which is the same where the mean is zero). Times are in Lyapunov times.

    python benchmarks/fields.py                   # all of them, one after the other, stored
    python benchmarks/fields.py ks200             # one, which takes its place among those stored
    python benchmarks/fields.py ks200 --device gpu --units 2000 --train 8000
    python benchmarks/fields.py ks22 --smoke      # a minute, not stored
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

from _common import RESULTS, store  # isort: skip  (first: it sets the number of threads)

import numpy as np

from echofold import ESNForecaster, ESNSearchCV, KFold, backtest, systems
from echofold.metrics import horizon
from echofold.reservoirs import NVAR, Leaky, Local

SEED, WASHOUT, STARTS = 0, 200, 100


@dataclass(frozen=True)
class Field:
    """A field, how it is cut, and what is searched.

    ``exponent`` is the largest Lyapunov exponent, ``ahead`` the Lyapunov times of validation and
    of test forecasts.
    """

    title: str
    make: Callable[[int], np.ndarray]
    step: float
    exponent: float
    size: int
    train: int
    test: int
    units: int
    space: list[dict]
    folds: int
    ahead: tuple[int, int]
    published: str

    @property
    def clock(self) -> float:
        """Lyapunov times of a row."""
        return self.step * self.exponent


def leaky(margins, scalings, radii, ridges) -> dict:
    """A space of leaky networks with squares in the readout."""
    return {
        "reservoir__margin": margins,
        "reservoir__kind__input_scaling": scalings,
        "reservoir__kind__spectral_radius": radii,
        "ridge": ridges,
    }


def products(margins, delays, ridges) -> dict:
    """A space of delayed values and their products, without a network, around every single cell."""
    return {
        "readout": ["inputs+states"],
        "reservoir__size": [1],
        "reservoir__margin": margins,
        "reservoir__kind": [NVAR(delays=one) for one in delays],
        "ridge": ridges,
    }


FIELDS = {
    "ks22": Field(
        "Kuramoto-Sivashinsky, L = 22, 64 cells",
        lambda steps: systems.kuramoto_sivashinsky(steps, 0.25, length=22.0, size=64),
        0.25, systems.LYAPUNOV["kuramoto_sivashinsky"], 8, 10_000, 12_000, 500,
        [leaky([6, 10], [0.05, 0.1, 0.2], [0.3, 0.6], [1e-7, 1e-6, 1e-5, 1e-4, 1e-3])],
        6, (8, 14), "about 5 with one reservoir of 5,000 units (Pathak et al., 2018)",
    ),
    "ks200": Field(
        "Kuramoto-Sivashinsky, L = 200, 512 cells",
        lambda steps: systems.kuramoto_sivashinsky(steps, 0.25, length=200.0, size=512),
        0.25, 0.09, 8, 3_000, 9_000, 500,
        [leaky([6, 8], [0.1, 0.2], [0.5, 0.7], [1e-5, 1e-4, 1e-3, 1e-2])],
        3, (6, 10), "",
    ),
    "lorenz40": Field(
        "Lorenz 96, 40 cells",
        lambda steps: systems.lorenz96(steps, 0.01, size=40),
        0.01, systems.LYAPUNOV["lorenz96"], 2, 8_000, 12_000, 500,
        [leaky([2, 4], [0.1, 0.2], [0.2], [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]),
         products([2, 3], [2, 3, 4], [1e-5, 1e-4, 1e-3, 1e-2, 1e-1])],
        5, (14, 18), "",
    ),
    "lorenz400": Field(
        "Lorenz 96, 400 cells",
        lambda steps: systems.lorenz96(steps, 0.01, size=400),
        0.01, systems.LYAPUNOV["lorenz96"], 2, 2_000, 9_000, 500,
        [products([2, 3], [2, 3, 4], [1e-5, 1e-4, 1e-3, 1e-2, 1e-1])],
        2, (14, 18), "",
    ),
}  # fmt: skip


def measured(field: Field, device: str) -> dict:
    """Search, train, test."""
    y = field.make(field.train + field.test)
    past, later = y[: field.train], y[field.train :]
    holds = horizon(0.5, step=field.clock)
    validation, test = (round(times / field.clock) for times in field.ahead)
    connectivity = min(1.0, 10 / field.units)
    local = Local(Leaky(field.units, connectivity=connectivity), cells=field.size)
    model = ESNForecaster(
        reservoir=local, readout="inputs+states+squares", washout=WASHOUT, random_state=SEED,
        device=device,
    )  # fmt: skip
    cv = KFold(field.folds, valid=validation)
    search = ESNSearchCV(model, field.space, cv=cv, metric=holds, progress=True)
    cpu, wall = time.process_time(), time.perf_counter()
    search.fit(past)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    found = backtest(search, later, STARTS, test, washout=WASHOUT, metric=holds).horizon.values
    size = search.best_estimator_.reservoir.size
    scores = search.results_[search.results_.attrs["metric"]]
    return {
        "task": field.title, "units": field.units, "neighbourhoods": y.shape[1] // size,
        "rows": field.train, "device": device, "median": float(np.median(found)),
        "one in ten below": float(np.quantile(found, 0.1)), "most": float(found.max()),
        "starts": STARTS, "validated": float(search.best_score_),
        "networks": int(scores.size), "candidates": len(search.candidates_),
        "cpu": cpu, "wall": wall, "published": field.published,
        "settings": {name: _plain(value) for name, value in search.best_params_.items()},
    }  # fmt: skip


def _plain(value):
    """A setting as JSON has it."""
    return value if isinstance(value, int | float | str) else repr(value)


def enter(task: dict) -> None:
    """Store the result of one field beside those of the others."""
    path = RESULTS / "fields.json"
    tasks = json.loads(path.read_text())["tasks"] if path.exists() else []
    tasks = {one["task"]: one for one in tasks} | {task["task"]: task}
    order = [field.title for field in FIELDS.values() if field.title in tasks]
    store("fields", {"tasks": [tasks[title] for title in order]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*FIELDS, []])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--units", type=int)
    parser.add_argument("--train", type=int)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--cores", action="store_true", help="use all of them")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.names or FIELDS:
        field = FIELDS[name]
        field = replace(field, units=given.units or field.units, train=given.train or field.train)
        if given.smoke:
            few = {key: values[-1:] for key, values in field.space[-1].items()}
            field = replace(field, units=100, train=field.train // 2, test=4_000, space=[few])
        task = measured(field, given.device)
        print(
            f"{task['task']}: {task['median']:.2f} Lyapunov times, one in ten below "
            f"{task['one in ten below']:.2f}; {task['networks']} networks in {task['cpu']:.0f} s "
            f"CPU, {task['wall']:.0f} s; {task['settings']}",
            flush=True,
        )
        if not given.smoke:
            enter(task)


if __name__ == "__main__":
    main()
