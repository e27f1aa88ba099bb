"""Single precision beside double: errors of what searches select, times of driving and of loops.

    python benchmarks/precision.py [--device gpu] [case ...]

The same search in both, on the same data: what each selects, validated and on rows that follow;
scores of all candidates compared; and what the search in single precision says of its choice. Times
are CPU seconds, which others at work on the same machine change little, of driving candidates and
of closed loops, in turns, the shortest of several; on an accelerator, seconds.
"""

from __future__ import annotations

import argparse
import time
import warnings

import _common
import numpy as np
from sklearn.base import clone

from echofold import (
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    backtest,
    datasets,
    systems,
)
from echofold._data.rows import Runs
from echofold._engine.kind import drawn
from echofold._engine.lockstep import closed_loop_sums
from echofold._engine.states import rows_of, stacked, states_of
from echofold._machine.device import engine, is_accelerator
from echofold.metrics import nrmse
from echofold.reservoirs import Leaky

PRECISIONS = ("double", "single")
RIDGE = [0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-2, 1, 10, 100, 1000]
GRID = {
    "leak_rate": [round(0.1 * i, 1) for i in range(1, 10)],
    "spectral_radius": [round(0.1 * i, 1) for i in range(15)],
}
SMALL = {"leak_rate": [0.2, 0.4, 0.6, 0.8, 1.0], "spectral_radius": [0.2, 0.5, 0.8, 1.1]}
ECG_ROWS, ECG_TEST = 100_000, 50_000
ROUNDS = 5


def electricity():
    """The electricity grid, 18 splits of 201 steps; tested on the 201 that follow."""
    y = datasets.load_electricity().data.to_numpy(dtype=float)
    y = (y - y.min()) / (y.max() - y.min())
    network = ESNForecaster(50, washout=213, scale=None, random_state=1)
    test = lambda model: nrmse(y[3831:4032], model.forecast(201))  # noqa: E731
    return network, GRID, KFold(18, valid=201), (y[:3831],), test


def mackey_glass(horizon: int, folds: int = 10):
    """Mackey–Glass of delay 17, 200 units; tested on 40 forecasts that begin later."""
    y = np.tanh(systems.mackey_glass(8000) - 1)
    network = ESNForecaster(200, washout=200, random_state=1)

    def test(model):
        found = backtest(model, y, np.linspace(3100, 7900 - horizon, 40).astype(int), horizon)
        return nrmse(found.truth.values.reshape(-1, 1), found.forecast.values.reshape(-1, 1))

    return network, SMALL, KFold(folds, valid=horizon), (y[:3000],), test


def ecg():
    """Normal beats of a recording, from collinear states; tested on the rows that follow."""
    given = datasets.load_ecg()
    X = given.signal[:, :1]
    X, y = (X - X.min()) / (X.max() - X.min()), datasets.beat_target(given, fade=10)
    network = ESNRegressor(50, washout=5000, scale=None, output_range=(0, 1), random_state=1)
    space = {"leak_rate": [0.1, 0.4, 0.7], "spectral_radius": [0.1, 0.45, 0.85]}
    end = 5000 + ECG_ROWS
    after = slice(end, end + ECG_TEST)
    test = lambda model: nrmse(y[after], model.predict(X[after], start="last"))  # noqa: E731
    return network, space, KFold(10), (X[:end], y[:end]), test


CASES = {
    "electricity, 201 steps": electricity,
    "Mackey–Glass, 50 steps": lambda: mackey_glass(50),
    "Mackey–Glass, 500 steps": lambda: mackey_glass(500),
    "Mackey–Glass, 1,200 steps": lambda: mackey_glass(1200, 3),
    "ECG, one step": ecg,
}


def clock_of(device: str):
    """What tells the time."""
    return time.perf_counter if is_accelerator(device) else time.process_time


def searched(case: tuple, precision: str, device: str) -> tuple:
    """A search in one precision, what it says of that, its error on later rows, and its time."""
    network, space, cv, data, test = case
    network = network.set_params(precision=precision, device=device)
    search = ESNSearchCV(network, {**space, "ridge": RIDGE}, cv=cv, progress=False)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        search.fit(*data)
        clock = clock_of(device)
        began = clock()
        clone(search).fit(*data)  # nothing is compiled any more
        took = clock() - began
    said = [note for one in heard for note in getattr(one.message, "args", ()) if "ecision" in note]
    return search, list(dict.fromkeys(said)), float(test(search.best_estimator_)), took


def compared(name: str, device: str) -> dict:
    """Both searches of one case."""
    case = CASES[name]()
    double, single = (searched(case, precision, device) for precision in PRECISIONS)
    a, b = (one.results_.nrmse.values[0].mean(axis=1) for one, *_ in (double, single))
    place = single[0].best_index_, RIDGE.index(single[0].best_params_["ridge"])
    good = np.isfinite(a) & np.isfinite(b) & (a < 1)
    with np.errstate(all="ignore"):
        apart = np.abs(a - b) / a
    attrs = single[0].results_.attrs
    result = {
        "double": {"selected": double[0].best_params_, "validation": double[0].best_score_,
                   "test": double[2], "seconds": double[3]},
        "single": {"selected": single[0].best_params_, "validation": single[0].best_score_,
                   "test": single[2], "seconds": single[3],
                   "validation_in_double": float(a[place])},
        "median_difference": float(np.median(apart[good])),
        "largest_difference": float(apart[good].max()),
        "largest_where_ridge_is_1e-6_or_more": float(
            np.where(good, apart, 0)[:, np.array(RIDGE) >= 1e-6].max()
        ),
        "compared_in_double": attrs["compared_in_double"],
        "moved_by_single": attrs["moved_by_single"],
        "said": single[1],
    }  # fmt: skip
    print(
        f"{name}: validation {double[0].best_score_:.6g} (double) and {single[0].best_score_:.6g} "
        f"(single; that choice in double: {a[place]:.6g}), later rows {double[2]:.6g} and "
        f"{single[2]:.6g}; scores differ by {result['median_difference']:.1e}, at most "
        f"{result['largest_difference']:.1e}; {double[3]:.2f} and {single[3]:.2f} s. "
        f"{double[0].best_params_} {single[0].best_params_} {single[1]}",
        flush=True,
    )
    return result


def times(units: int, candidates: int, rows: int, columns: int, steps: int, device: str) -> dict:
    """Seconds of driving candidates, and of so many columns in closed loops, in both precisions."""
    clock = clock_of(device)
    y = np.tanh(systems.mackey_glass(rows) - 1)
    rng = np.random.RandomState(0)
    work = {}
    for precision in PRECISIONS:
        network = ESNForecaster(units, washout=0, random_state=1, precision=precision)
        problem = network._read(y)
        kinds = [Leaky(units, leak_rate=1 - one / candidates / 2) for one in range(candidates)]
        for kind in kinds:
            kind._precision = precision
        source = states_of(problem, drawn(kinds, 1, 1), device)
        runs = columns // candidates
        first = np.linspace(0, problem.rows - steps, runs).astype(int)
        along = Runs(np.arange(runs), first, np.full(runs, steps), problem.rows, runs)
        W = rng.rand(candidates, runs, 1, 2 + units, 1) * 0.02
        starts = rng.rand(candidates, runs, 1 + units)
        work[precision] = _drive(source, device), _loops(source, W, starts, along, device)
    found = {}
    for place, stage in enumerate(("drive", "closed loops")):
        taken: dict[str, list[float]] = {name: [] for name in PRECISIONS}
        for turn in range(1 + ROUNDS):
            for name in PRECISIONS:
                began = clock()
                work[name][place]()
                taken[name] += [clock() - began] if turn else []
        best = {name: min(each) for name, each in taken.items()}
        found[stage] = {**best, "times_faster": best["double"] / best["single"]}
    print(f"{units} units: " + ", ".join(
        f"{stage} {one['double']:.3g} s and {one['single']:.3g} s ({one['times_faster']:.2f} times)"
        for stage, one in found.items()
    ), flush=True)  # fmt: skip
    return {"units": units, "candidates": candidates, "columns": columns, **found}


def _drive(source, device: str):
    """Driving of all candidates over all rows."""
    if not is_accelerator(device):
        return lambda: type(source)(source.problem, source.reservoirs, device).kept()
    r = stacked([source.reservoirs])

    def work():
        with engine(device):
            rows_of(r, source.problem, np.zeros(1, dtype=int))[0].block_until_ready()

    return work


def _loops(source, W, starts, runs, device: str):
    """Closed loops of all columns, from arrays where they run."""
    if not is_accelerator(device):
        return lambda: closed_loop_sums(source, W, starts, runs)
    import jax

    with engine(device):
        W, starts = jax.device_put((W, starts))
    source = states_of(source.problem, stacked([source.reservoirs]), device)

    def work():
        with engine(device):
            closed_loop_sums(source, W, starts, runs)

    return work


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("cases", nargs="*")
    given = parser.parse_args()
    results: dict = {"device": given.device, "machine": _common.machine(), "cases": {}, "times": []}
    if is_accelerator(given.device):
        import jax

        results["machine"]["gpu"] = jax.devices()[0].device_kind
    wide = is_accelerator(given.device)
    for units, candidates, rows, columns, steps in (
        (50, 135, 2000, 2160, 200), (200, 40, 1000, 1280, 100), (500, 32, 500, 512, 50),
    ):  # fmt: skip
        columns *= 16 if wide else 1
        results["times"].append(times(units, candidates, rows, columns, steps, given.device))
    for name in CASES:
        if not given.cases or any(word in name for word in given.cases):
            results["cases"][name] = compared(name, given.device)
    _common.store("precision" + "_gpu" * wide, results)


if __name__ == "__main__":
    main()
