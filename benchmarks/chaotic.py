"""Systems that reservoirs are tested on: echofold and reservoirpy, side by side.

Both sides have the same data, the same number of units and of candidates, drawn from the same
distributions, and one seed. reservoirpy is searched as its guide recommends, at random, each
candidate with a ridge of its own, by the error one step ahead in the last fifth of the training
data (selecting by forecasts there, which run into chaos or away, does worse); ours draws as many
candidates and has a path of ridge values inside of each. The best is trained on all training
data and tested from many starting points (NARMA10: on a series of its own). CPU time is that of the
search with the final training, after a first search that compiles; that one is reported apart.

    python benchmarks/chaotic.py                 # all, stored
    python benchmarks/chaotic.py lorenz narma    # some, printed only
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

from _common import store  # isort: skip  (first: it sets the number of threads)

import numpy as np

from echofold import ESNForecaster, ESNRegressor, ESNSearchCV, KFold, backtest, systems
from echofold.metrics import horizon
from echofold.reservoirs import NVAR

PATH = [1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2]
SEED = 0
WIDTH = {
    "sr": (0.1, 1.5), "lr": (0.05, 1.0), "input_scaling": (0.05, 2.0), "ridge": (1e-12, 1e-2),
}  # fmt: skip


@dataclass(frozen=True)
class Closed:
    """A series to forecast in a closed loop.

    ``score(truth, forecasts)`` of ``(starts, steps, outputs)`` is what is tested; validation is
    over intervals of ``ahead`` steps.
    """

    title: str
    y: np.ndarray
    train: int
    washout: int
    units: int
    candidates: int
    ahead: int
    starts: int
    score: Callable
    words: str
    more: str = ""
    width: dict = field(default_factory=lambda: WIDTH)
    readout: str = "inputs+states"


def mackey_glass() -> Closed:
    y = np.tanh(systems.mackey_glass(9000) - 1)[:, None]

    def score(truth, forecasts):
        error = forecasts[:, -1] - truth[:, -1]
        return float(np.sqrt(np.mean(error**2)) / y.std())

    return Closed(
        "Mackey-Glass, 84 steps ahead", y, 3000, 1000, 400, 20, 84, 60, score, "NRMSE at step 84",
        "Jaeger (2001), 400 units, by hand: 2.8e-4",
    )  # fmt: skip


def lorenz() -> Closed:
    y = systems.lorenz63(9000, 0.02)
    time_ = horizon(0.3, step=0.02 * systems.LYAPUNOV["lorenz63"])

    def score(truth, forecasts):
        pairs = zip(truth, forecasts, strict=True)
        return float(np.median([time_(t, np.nan_to_num(f, nan=1e9)) for t, f in pairs]))

    return Closed(
        "Lorenz 63", y, 3000, 200, 200, 40, 1000, 60, score,
        "median horizon, Lyapunov times (more is better)",
    )  # fmt: skip


def kuramoto_sivashinsky() -> Closed:
    y = systems.kuramoto_sivashinsky(9000)
    time_ = horizon(0.3, step=0.25 * systems.LYAPUNOV["kuramoto_sivashinsky"])

    def score(truth, forecasts):
        pairs = zip(truth, forecasts, strict=True)
        return float(np.median([time_(t, np.nan_to_num(f, nan=1e9)) for t, f in pairs]))

    return Closed(
        "Kuramoto-Sivashinsky, 64 outputs", y, 4000, 200, 300, 12, 150, 30, score,
        "median horizon, Lyapunov times (more is better)", "",
        WIDTH | {"lr": (0.3, 1.0), "input_scaling": (0.03, 0.3)}, "inputs+states+squares",
    )  # fmt: skip


def tested(task: Closed, truth: np.ndarray, forecasts: np.ndarray) -> dict:
    """The score, and from how many starts the forecast runs away from the series."""
    low, high = task.y.min(axis=0), task.y.max(axis=0)
    room = high - low
    inside = (forecasts > low - room) & (forecasts < high + room)
    away = int((~inside.all(axis=(1, 2))).sum())
    return {"error": task.score(truth, forecasts), "ran away": away}


# --- echofold -----------------------------------------------------------------------------------


def space(width: dict) -> dict:
    """The distributions that candidates are drawn from."""
    from scipy.stats import loguniform

    return {
        "spectral_radius": loguniform(*width["sr"]),
        "leak_rate": loguniform(*width["lr"]),
        "input_scaling": loguniform(*width["input_scaling"]),
        "ridge": PATH,
    }


def ours_closed(task: Closed) -> dict:
    """Search, train, test."""
    model = ESNForecaster(
        task.units, washout=task.washout, random_state=SEED, connectivity=0.1, readout=task.readout
    )
    search = ESNSearchCV(
        model, space(task.width), cv=KFold(5, valid=task.ahead), metric="log_mse",
        strategy="random", n_iter=task.candidates, progress=False,
    )  # fmt: skip
    y = task.y[: task.train]
    first, best = _twice(lambda: search.fit(y))
    test = task.y[task.train :]
    found = backtest(search, test, task.starts, task.ahead, washout=task.washout)
    return {"first": first, "cpu": best, **tested(task, found.truth.values, found.forecast.values)}


def _twice(fit: Callable) -> tuple[float, float]:
    """CPU seconds of a first run, which compiles, and of a second."""
    took = []
    for _ in range(2):
        began = time.process_time()
        fit()
        took.append(time.process_time() - began)
    return took[0], took[1]


# --- reservoirpy --------------------------------------------------------------------------------


def drawn(candidates: int, width: dict) -> list[dict[str, float]]:
    """Parameters of candidates, log-uniform."""
    rng = np.random.RandomState(SEED)
    return [
        {name: float(np.exp(rng.uniform(*np.log(ends)))) for name, ends in width.items()}
        for _ in range(candidates)
    ]


def their_model(units: int, sr: float, lr: float, input_scaling: float, ridge: float):
    """A reservoir and its readout, with the inputs beside the states as ours has them."""
    from reservoirpy.nodes import Input, Reservoir, Ridge

    data = Input()
    reservoir = Reservoir(
        units, sr=sr, lr=lr, input_scaling=input_scaling, rc_connectivity=0.1, seed=SEED
    )
    return [data, data >> reservoir] >> Ridge(ridge)


def run_freely(model, y: np.ndarray, start: int, washout: int, steps: int) -> np.ndarray:
    """A forecast from ``start`` on, after a washout from rest."""
    model.reset()
    value = model.run(y[start - washout : start])[-1]
    found = np.empty((steps, y.shape[1]))
    for n in range(steps):
        found[n] = value
        if not np.isfinite(value).all() or np.abs(value).max() > 1e6:
            found[n:] = 1e6
            break
        value = model.step(value)
    return found


def theirs_closed(task: Closed) -> dict:
    """Random search by the last part of the training data; train on all; test."""
    center, unit = task.y[: task.train].mean(axis=0), task.y[: task.train].std(axis=0)
    y = (task.y - center) / unit
    known, begin = y[: task.train], time.process_time()
    until = int(0.8 * task.train)
    scores = []
    every = drawn(task.candidates, task.width)
    for one in every:
        model = their_model(task.units, **one)
        model.fit(known[: until - 1], known[1:until], warmup=task.washout)
        scores.append(np.mean((model.run(known[until:-1]) - known[until + 1 :]) ** 2))
    model = their_model(task.units, **every[int(np.nanargmin(scores))])
    model.fit(known[:-1], known[1:], warmup=task.washout)
    cpu = time.process_time() - begin
    first = task.washout + 1
    last = len(y) - task.train - task.ahead
    starts = task.train + np.linspace(first, last, task.starts).round().astype(int)
    forecasts = np.stack([run_freely(model, y, s, task.washout, task.ahead) for s in starts])
    truth = np.stack([task.y[s : s + task.ahead] for s in starts])
    return {"cpu": cpu, **tested(task, truth, forecasts * unit + center)}


# --- open loop, and networks without recurrence -------------------------------------------------


def narma() -> tuple[str, str, dict, dict, str]:
    """NARMA10: 2,000 rows to train on, 2,000 to test on, NMSE."""
    (u, y), (v, z) = systems.narma10(2000), systems.narma10(2000, random_state=1)
    u, v, units, candidates, washout = u.reshape(-1, 1), v.reshape(-1, 1), 200, 40, 200

    def nmse(outputs):
        error = z[washout:].ravel() - np.ravel(outputs)[washout:]
        return float(np.mean(error**2) / z[washout:].var())

    search = ESNSearchCV(
        ESNRegressor(units, washout=washout, random_state=SEED, connectivity=0.1), space(WIDTH),
        cv=KFold(10), strategy="random", n_iter=candidates, progress=False,
    )  # fmt: skip
    first, cpu = _twice(lambda: search.fit(u, y.ravel()))
    ours = {"first": first, "cpu": cpu, "error": nmse(search.predict(v))}
    center, unit = u.mean(), u.std()
    a, b, target = (u - center) / unit, (v - center) / unit, y.reshape(-1, 1)
    began, scores, until = time.process_time(), [], 1600
    every = drawn(candidates, WIDTH)
    for one in every:
        model = their_model(units, **one)
        model.fit(a[:until], target[:until], warmup=washout)
        scores.append(np.mean((model.run(a)[until:] - target[until:]) ** 2))
    model = their_model(units, **every[int(np.nanargmin(scores))])
    model.fit(a, target, warmup=washout)
    cpu = time.process_time() - began
    model.reset()
    theirs = {"cpu": cpu, "error": nmse(model.run(b))}
    return "NARMA10, 200 units, 40 candidates", "NMSE", ours, theirs, ""


def nvar() -> tuple[str, str, dict, dict, str]:
    """Gauthier et al. (2021): Lorenz 63 every 0.025, 400 rows, two delays, quadratic, one ridge.

    On both sides the series is standardised, without which forecasts of either run away.
    """
    from reservoirpy.nodes import NVAR as TheirNVAR
    from reservoirpy.nodes import Ridge

    step, train, ridge, starts = 0.025, 402, 2.5e-6, 50
    ahead = round(1 / systems.LYAPUNOV["lorenz63"] / step)
    y = systems.lorenz63(train + 4000, step)

    def score(truth, forecasts):
        error = np.sqrt((((forecasts - truth) ** 2).mean(axis=1) / y.var(axis=0)).mean(axis=1))
        return float(np.median(np.where(np.isfinite(error), error, 1e9)))

    model = ESNForecaster(reservoir=NVAR(delays=2), ridge=ridge, washout=2, random_state=SEED)
    first, cpu = _twice(lambda: model.fit(y[:train]))
    found = backtest(model, y[train:], starts, ahead, washout=10)
    ours = {
        "first": first, "cpu": cpu, "error": score(found.truth.values, found.forecast.values),
    }  # fmt: skip
    began = time.process_time()
    features, readout = TheirNVAR(delay=2, order=2, strides=1), Ridge(ridge)
    theirs_model = features >> readout
    center, unit = y[:train].mean(axis=0), y[:train].std(axis=0)
    series = (y - center) / unit
    known = series[:train]
    theirs_model.fit(known[:-1], np.diff(known, axis=0), warmup=2)
    cpu = time.process_time() - began
    at, forecasts = found.start.values, []
    for start in at:
        history = series[train + start - 11 : train + start]
        theirs_model.reset()
        value = history[-1] + theirs_model.run(history)[-1]
        run = [value]
        for _ in range(ahead - 1):
            value = value + theirs_model.step(value)
            run.append(value)
        forecasts.append(run)
    theirs = {"cpu": cpu, "error": score(found.truth.values, np.array(forecasts) * unit + center)}
    words = "NRMSE over one Lyapunov time, median"
    return "NVAR on Lorenz 63, 400 rows", words, ours, theirs, "Gauthier et al. (2021): 2.1e-3"


CLOSED = {"mackey": mackey_glass, "lorenz": lorenz, "ks": kuramoto_sivashinsky}
OTHERS = {"narma": narma, "nvar": nvar}


def main() -> None:
    chosen = sys.argv[1:] or [*CLOSED, *OTHERS]
    warnings.simplefilter("ignore")
    results = []
    for name in chosen:
        if name in CLOSED:
            task = CLOSED[name]()
            title = f"{task.title}, {task.units} units, {task.candidates} candidates"
            words, more = task.words, task.more
            ours, theirs = ours_closed(task), theirs_closed(task)
        else:
            title, words, ours, theirs, more = OTHERS[name]()
        results.append({
            "task": title, "measure": words, "echofold": ours, "reservoirpy": theirs,
            "published": more,
        })  # fmt: skip
        print(f"{title}; {words}: echofold {ours['error']:.3g} in {ours['cpu']:.1f} s CPU (first "
              f"{ours['first']:.1f}), reservoirpy {theirs['error']:.3g} in {theirs['cpu']:.1f} s"
              f"{'; ' if more else ''}{more}; ran away: {ours.get('ran away', 0)} and "
              f"{theirs.get('ran away', 0)}", flush=True)  # fmt: skip
    if len(sys.argv) == 1:
        store("chaotic", {"tasks": results})


if __name__ == "__main__":
    main()
