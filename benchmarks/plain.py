"""A search of large networks on a processor, beside careful plain NumPy.

    python benchmarks/plain.py [--quick] [--cores]

Eight leak rates, ten folds and eight ridge values from 1e-8, 200 to 1,000 units, 2,000 and 20,000
steps, open and closed loop. By hand is what an expert would write: every network driven once, one
Gram matrix for each fold, training sets by subtraction, one ``solve`` for each fold and ridge
value, closed loops step by step for each of them. The same reservoirs, folds, washout and metric;
the errors found are compared. By hand, two of the eight networks are done and taken four times.
``ours`` holds everything that a search does, the winner's final fit included.

Seconds of the processor on one thread, the least of some runs in turns; with ``--cores`` by the
clock, all cores for both (``n_jobs=-1`` here, BLAS threads there).

Then what collinear inputs cost (64 cells of Kuramoto-Sivashinsky beside 64 generic inputs), and a
single fit beside driving its network by hand.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import _common  # first: it sets the number of threads
import numpy as np
from _common import CORES

from echofold import ESNForecaster, ESNRegressor, ESNSearchCV, KFold, cross_validate
from echofold.systems import kuramoto_sivashinsky

FOLDS, WASHOUT = 10, 100
RIDGE = np.logspace(-8, -1, 8)
LEAKS = np.linspace(0.3, 1, 8)
BY_HAND = (0, 4)  # of these
SIZES = (
    (2000, 200, True), (2000, 500, True), (2000, 1000, True),
    (20_000, 200, True), (20_000, 500, True), (20_000, 1000, False),
)  # fmt: skip
CELLS, UNITS = 64, 300
now: Callable[[], float] = time.perf_counter if CORES else time.process_time


def given(steps: int, closed: bool):
    """Inputs and targets; a forecast is of the series itself, one step ahead."""
    rng = np.random.RandomState(0)
    steps += WASHOUT
    if not closed:
        u = rng.rand(steps, 1)
        return u, np.convolve(u[:, 0], [0.5, 0.3, 0.2])[:steps, None] + 0.01 * rng.randn(steps, 1)
    t = np.arange(steps + 1)
    series = np.sin(t / 7) + 0.5 * np.sin(t / 11.3) + 0.02 * rng.randn(steps + 1)
    return series[:-1, None], series[1:, None]


def driven(u, W_in, W, leak: float) -> np.ndarray:
    """Rows ``[1, input, state]`` of all steps, by hand."""
    x, rows = np.zeros(len(W)), np.empty((len(u), 2 + len(W)))
    for n, value in enumerate(u):
        x = (1 - leak) * x + leak * np.tanh(W_in[:, 0] + W_in[:, 1:] @ value + W @ x)
        rows[n, 0], rows[n, 1], rows[n, 2:] = 1, value[0], x
    return rows


def by_hand(u, y, W_in, W, leak: float, closed: bool) -> np.ndarray:
    """Errors ``(folds, ridge)`` of one network."""
    rows, y = driven(u, W_in, W, leak)[WASHOUT:], y[WASHOUT:]
    penalty = np.eye(rows.shape[1])
    penalty[0, 0] = 0
    folds = np.array_split(np.arange(len(rows)), FOLDS)
    grams = [rows[fold].T @ rows[fold] for fold in folds]
    rights = [rows[fold].T @ y[fold] for fold in folds]
    gram, right = sum(grams), sum(rights)
    errors = np.empty((FOLDS, len(RIDGE)))
    for place, valid in enumerate(folds):
        for column, beta in enumerate(RIDGE):
            system = gram - grams[place] + beta * penalty
            readout = np.linalg.solve(system, right - rights[place])
            outputs = rows[valid] @ readout
            if closed:
                x, value = rows[valid[0], 2:], outputs[0]
                for step in range(1, len(valid)):
                    new = np.tanh(W_in[:, 0] + W_in[:, 1:] @ value + W @ x)
                    x = (1 - leak) * x + leak * new
                    value = readout[0] + value @ readout[1:2] + x @ readout[2:]
                    outputs[step] = value
            errors[place, column] = np.sqrt(np.mean((y[valid] - outputs) ** 2))
    return errors


def searched(steps: int, units: int, closed: bool, rounds: int) -> dict[str, Any]:
    """Seconds of both, and how far apart their errors are."""
    u, y = given(steps, closed)
    kind = ESNForecaster if closed else ESNRegressor
    network = kind(
        units, spectral_radius=0.9, washout=WASHOUT, scale=None, random_state=1, device="cpu"
    )
    data = (np.append(u[:, 0], y[-1, 0]),) if closed else (u, y)
    network.fit(*data)
    space = {"leak_rate": LEAKS.tolist(), "ridge": RIDGE.tolist()}

    def ours():
        search = ESNSearchCV(
            network, space, cv=KFold(FOLDS), metric="rmse", progress=False,
            n_jobs=-1 if CORES else None,
        )  # fmt: skip
        errors = search.fit(*data).results_.rmse.values
        return errors.reshape(len(LEAKS), FOLDS, len(RIDGE))[list(BY_HAND)]

    def plain():
        W_in, W = network.W_in_, network.W_
        return np.stack([by_hand(u, y, W_in, W, LEAKS[one], closed) for one in BY_HAND])

    took: dict[Any, Any] = {ours: [], plain: []}
    for _ in range(rounds):
        for work in (ours, plain):
            began = now()
            took[work, "errors"] = work()
            took[work].append(now() - began)
    a, b = took[ours, "errors"], took[plain, "errors"]
    stable = b < 1  # closed loops that run away are nobody's
    apart = np.abs(a - b)[stable] / b[stable]
    seconds, other = min(took[ours]), min(took[plain]) * len(LEAKS) / len(BY_HAND)
    return {
        "seconds": seconds,
        "plain_seconds": other,
        "times": other / seconds,
        "median_difference": float(np.median(apart)),
        "largest_difference": float(apart.max()),
    }


def least(work: Callable[[], Any], rounds: int) -> float:
    """Seconds of the quickest of some runs, after one that warms up."""
    work()
    took = []
    for _ in range(rounds):
        began = now()
        work()
        took.append(now() - began)
    return min(took)


def collinear(readout: str, rounds: int) -> dict[str, Any]:
    """A cross-validation of collinear inputs, of generic ones, and its scores beside naive ones."""
    field = kuramoto_sivashinsky(4000)
    generic = np.random.RandomState(0).randn(*field.shape)
    for n in range(1, len(generic)):
        generic[n] += 0.9 * generic[n - 1]
    network = ESNRegressor(
        UNITS, washout=200, random_state=0, readout=readout, spectral_radius=0.7,
        input_scaling=0.1, device="cpu",
    )  # fmt: skip

    def validated(y, algorithm="auto"):
        return cross_validate(
            network, y[:-1], y[1:], cv=KFold(FOLDS), ridge=RIDGE.tolist(), metric="rmse",
            algorithm=algorithm,
        )  # fmt: skip

    ours, naive = validated(field), validated(field, "naive")
    seconds = {name: least(lambda y=y: validated(y), rounds) for name, y in
               (("collinear", field), ("generic", generic))}  # fmt: skip
    return {
        **seconds,
        "times": seconds["collinear"] / seconds["generic"],
        "refitted": int(ours.attrs["refitted_splits"]),
        "largest_difference": float(np.abs(ours.rmse / naive.rmse - 1).max()),
    }


def fitted(units: int, closed: bool) -> dict[str, Any]:
    """A fit beside driving the same network by hand."""
    u, y = given(2000, closed)
    network = (ESNForecaster if closed else ESNRegressor)(
        units, washout=WASHOUT, scale=None, random_state=1, device="cpu"
    )
    data = (np.append(u[:, 0], y[-1, 0]),) if closed else (u, y)
    network.fit(*data)
    fit = least(lambda: network.fit(*data), 7)
    drive = least(lambda: driven(u, network.W_in_, network.W_, 1.0), 7)
    return {"fit": fit, "drive": drive, "times": fit / drive}


def main() -> None:
    """Measure, print and store."""
    warnings.simplefilter("ignore")
    quick = "--quick" in sys.argv
    results: dict[str, Any] = {"cores": os.cpu_count() if CORES else 1, "searches": {}}
    for steps, units, loops in SIZES[:2] if quick else SIZES:
        for closed in (False, True) if loops else (False,):
            name = f"{steps:,} steps, {units:,} units, {'closed' if closed else 'open'} loop"
            rounds = 3 if steps * units <= 2e6 else 2
            results["searches"][name] = found = searched(steps, units, closed, rounds)
            print(
                f"{name}: {found['seconds']:.2f} s, by hand {found['plain_seconds']:.2f} s, "
                f"{found['times']:.2f} times; errors differ by {found['median_difference']:.0e}, "
                f"at most {found['largest_difference']:.0e}",
                flush=True,
            )
    if CORES or quick:
        return
    results["collinear"] = {}
    for readout in ("inputs+states", "inputs+states+squares"):
        results["collinear"][readout] = found = collinear(readout, 3)
        print(
            f"{readout} of {CELLS} cells: {found['collinear']:.2f} s, generic inputs "
            f"{found['generic']:.2f} s, {found['times']:.2f} times; {found['refitted']} of {FOLDS} "
            f"refitted, scores differ from naive by at most {found['largest_difference']:.0e}",
            flush=True,
        )
    results["fits"] = {}
    for units in (50, 500):
        for closed in (False, True):
            name = f"{units} units, {'forecaster' if closed else 'regressor'}"
            results["fits"][name] = found = fitted(units, closed)
            print(f"a fit of {name}: {found['times']:.2f} times the drive by hand", flush=True)
    _common.store("plain", results)


if __name__ == "__main__":
    main()
