"""Learning on row by row: how exact, how long a row takes, and what forgetting does for a drift.

    python benchmarks/learning.py

A network of 50 to 1,000 units learns 1,000 rows one by one after a fit of 2,000, with and without
forgetting. It is compared with one fit of all 3,000, whose rows are weighted alike: the largest
difference of what is predicted for these rows, relative to their spread, and CPU time of a row
beside that of a fit, which is what each row would take without learning on; the same for nearly
collinear states, at several ridges, beside what a QR in extended precision gives.

Then the Mackey-Glass equation with a delay that drifts from 17 to 22 over 24,000 steps. After a fit
of 4,000 rows, 50 are forecast in closed loop, and one at a time, and then learned: not at all
(`update`), all alike, with forgetting, or by a new fit of the last 1,000 to 4,000 rows.
"""

from __future__ import annotations

import time
import warnings

import _common  # first: it sets the number of threads
import numpy as np

from echofold import EchofoldWarning, ESNForecaster, ESNRegressor
from echofold._folds import extended

SIZES = (50, 100, 200, 500, 1000)
FIRST, ROWS = 2000, 1000
KEEP = 0.999
RIDGES = (0.0, 1e-12, 1e-8, 1e-4)
DELAY, STEPS, TOGETHER = (17.0, 22.0), 24_000, 50
FACTORS = (1.0, 0.9999, 0.9995, 0.999, 0.998, 0.996)
WINDOWS = (1000, 2000, 4000)
SUBSTEPS, LONGEST = 10, 40


def drifting(steps: int, first: float, last: float, settled: int = 1000) -> np.ndarray:
    """Values of the Mackey-Glass equation whose delay moves from one number to another."""
    h, rows = 1 / SUBSTEPS, (settled + steps) * SUBSTEPS
    past = LONGEST * SUBSTEPS
    x = np.full(past + rows, 1.2)
    share = np.clip((np.arange(rows + 1) * h - settled) / steps, 0, 1)
    delay = first + (last - first) * share

    def before(at: float) -> float:
        """The value at a time counted in substeps, on a straight line between two."""
        low = int(at)
        return x[low] + (at - low) * (x[low + 1] - x[low])

    def slope(value: float, old: float) -> float:
        return 0.2 * old / (1 + old**10) - 0.1 * value

    for n in range(rows - 1):
        at, value = past + n, x[past + n]
        old = [before(at - delay[n] / h + part) for part in (0.0, 0.5, 1.0)]
        k1 = slope(value, old[0])
        k2 = slope(value + h / 2 * k1, old[1])
        k3 = slope(value + h / 2 * k2, old[1])
        k4 = slope(value + h * k3, old[2])
        x[at + 1] = value + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x[past + settled * SUBSTEPS :: SUBSTEPS]


def cpu(function) -> float:
    """CPU seconds of one call."""
    began = time.process_time()
    function()
    return time.process_time() - began


def one_by_one(model, data, rows, forgetting) -> float:
    """CPU seconds of learning a row, the median: the first one also makes a factor."""
    return float(np.median([
        cpu(lambda: model.partial_fit(*(one[row : row + 1] for one in data), forgetting=forgetting))
        for row in rows
    ]))  # fmt: skip


def times(y: np.ndarray) -> list[dict]:
    """Equality and time of a row by the size of a network."""
    found, spread = [], float(y.std())
    for units in SIZES:
        settings = {"units": units, "washout": 100, "scale": None, "ridge": 1e-2}
        settings |= {"spectral_radius": 0.9, "leak_rate": 0.5, "random_state": 0}
        row: dict = {"units": units}
        for name, forgetting in (("learned", 1.0), ("forgetting", KEEP)):
            weights = forgetting ** np.arange(FIRST + ROWS - 1, -1, -1.0)
            first = weights[:FIRST] / weights[FIRST - 1]
            model = ESNForecaster(**settings).fit(y[:FIRST], sample_weight=first)
            model.partial_fit(y[FIRST : FIRST + 1], forgetting=forgetting)
            rows = range(FIRST + 1, FIRST + ROWS)
            row[f"row, {name}"] = one_by_one(model, (y,), rows, forgetting)
            whole = ESNForecaster(**settings)
            data = y[: FIRST + ROWS]
            row["fit"] = cpu(lambda whole=whole, data=data, w=weights: whole.fit(
                data, sample_weight=w
            ))  # fmt: skip
            states = whole.states(data).values
            outputs = [
                one.readout_[0] + data[:, None] * one.readout_[1] + states @ one.readout_[2:]
                for one in (model, whole)
            ]
            row[f"apart, {name}"] = float(np.abs(outputs[0] - outputs[1]).max()) / spread
        moved = ESNForecaster(**settings).fit(y[:FIRST])
        row["row, moved alone"] = float(
            np.median([cpu(lambda at=at: moved.update(y[at : at + 1])) for at in rows[:200]])
        )
        row["fit / row"] = row["fit"] / row["row, learned"]
        found.append(row)
    return found


def collinear() -> list[dict]:
    """How far learning on, and one fit, are from a QR in extended precision."""
    t, found = np.arange(1300), []
    u = (0.5 * np.sin(t / 9) + 0.3 * np.sin(t / 2.3))[:, None]
    y = np.roll(u[:, 0], 3) ** 2 + 0.01 * np.random.default_rng(0).normal(size=len(t))
    weak = {"units": 50, "spectral_radius": 0.01, "leak_rate": 0.2, "input_scaling": 0.3}
    for ridge in RIDGES:
        settings = {**weak, "washout": 50, "scale": None, "random_state": 0, "ridge": ridge}
        whole = ESNRegressor(**settings).fit(u, y)
        model = ESNRegressor(**settings).fit(u[:300], y[:300])
        one_by_one(model, (u, y), range(300, 1300), 1.0)
        X = np.hstack([u, whole.states(u).values])[50:]
        exact = extended.readouts(X, y[50:, None], None, np.array([ridge or 1e-32]), False)[0]
        says = [
            np.asarray(W[0] + X @ W[1:], dtype=float)
            for W in (model.readout_, whole.readout_, exact)
        ]
        found.append({
            "condition": whole.condition_, "ridge": ridge,
            "learned and fitted apart": float(np.abs(says[0] - says[1]).max()),
            "learned off": float(np.abs(says[0] - says[2]).max()),
            "fitted off": float(np.abs(says[1] - says[2]).max()),
        })  # fmt: skip
    return found


def drift() -> dict[str, dict]:
    """Errors along a drift, by how rows that follow are learned."""
    y, first = drifting(STEPS, *DELAY), 4000
    settings = {"units": 300, "washout": 200, "scale": "standard", "ridge": 1e-4}
    settings |= {"spectral_radius": 1.1, "leak_rate": 0.4, "random_state": 0}

    def learned(model, at, factor):
        return model.partial_fit(y[at : at + TOGETHER], forgetting=factor)

    def fitted_anew(model, at, window):
        end = at + TOGETHER
        return ESNForecaster(**settings).fit(y[end - window : end])

    ways = {"not at all": (lambda model, at, _: model.update(y[at : at + TOGETHER]), None)}
    ways |= {f"forgetting={factor}": (learned, factor) for factor in FACTORS}
    ways |= {f"fit of the last {window:,}": (fitted_anew, window) for window in WINDOWS}
    found = {}
    for name, (way, given) in ways.items():
        model = ESNForecaster(**settings).fit(y[:first])
        ahead, single, spent = [], [], 0.0
        for at in range(first, STEPS - TOGETHER + 1, TOGETHER):
            truth = y[at : at + TOGETHER]
            ahead.append((model.forecast(TOGETHER) - truth) ** 2)
            given_so_far = y[at - 200 : at + TOGETHER - 1]
            states = model.states(given_so_far).values[199:]
            u = model.y_scaler_.scaled(given_so_far[199:, None])
            W = model.readout_
            outputs = model.y_scaler_.original(W[0] + u * W[1] + states @ W[2:])
            single.append((outputs[:, 0] - truth) ** 2)
            began = time.process_time()
            model = way(model, at, given)
            spent += time.process_time() - began
        ahead, single = np.array(ahead), np.array(single)
        blocks, size = len(ahead) // 2, np.sqrt(ahead.mean(axis=1)) / y.std()
        found[name] = {
            "median": float(np.median(size)),
            "nine in ten": float(np.quantile(size, 0.9)),
            "median, second half": float(np.median(size[blocks:])),
            "nrmse, one step": float(np.sqrt(single.mean()) / y.std()),
            "CPU ms for 50 rows": 1e3 * spent / len(ahead),
        }
        print(name, found[name], flush=True)
    return found


def main() -> None:
    warnings.simplefilter("ignore", EchofoldWarning)  # of forecasts that run away
    y = drifting(FIRST + ROWS, 17.0, 17.0)
    found = {"times": times(y), "collinear": collinear()}
    for row in [*found["times"], *found["collinear"]]:
        print(row, flush=True)
    _common.store("learning", {**found, "drift": drift()})


if __name__ == "__main__":
    main()
