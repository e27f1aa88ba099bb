"""A network beside an imperfect model of the system that it forecasts, after Pathak et al. (2018).

The system is Lorenz 63, the model the same equations with one parameter (rho) 5 % too large. The
network alone and the two together are searched alike: the same candidates, drawn at random, the
same ridge path, the same intervals of validation, one seed. All three are then tested from the same
starting points; valid is a forecast until its error exceeds 0.3 of the spread of the series, in
Lyapunov times. CPU time is that of a search with the final training, after a first one that
compiles.

    python benchmarks/hybrid.py              # all, stored
    python benchmarks/hybrid.py 50 1000      # so many units and rows to learn from, printed only
"""

from __future__ import annotations

import sys
import time

from _common import store  # isort: skip  (first: it sets the number of threads)

import numpy as np
from scipy.stats import loguniform

from echofold import ESNForecaster, ESNSearchCV, KFold, backtest, systems
from echofold.metrics import horizon

STEP, AHEAD, STARTS, WASHOUT, SEED, CANDIDATES = 0.02, 1000, 60, 100, 0, 20
WRONG = 1.05  # times the true rho
SIZES = [(50, 500), (50, 3000), (200, 500), (200, 3000)]  # units, rows to learn from
SPACE = {
    "spectral_radius": loguniform(0.1, 1.5),
    "leak_rate": loguniform(0.05, 1.0),
    "input_scaling": loguniform(0.05, 2.0),
    "ridge": [1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2],
}
VALID = horizon(0.3, step=STEP * systems.LYAPUNOV["lorenz63"])


def model(y, rho=28.0 * WRONG, sigma=10.0, beta=8 / 3, parts=4):
    """The values ``(3, columns)`` one step later, by RK4: a function of any library's arrays."""
    import jax.numpy as jnp

    xp = np if isinstance(y, np.ndarray) else jnp

    def slope(v):
        return xp.stack(
            [sigma * (v[1] - v[0]), v[0] * (rho - v[2]) - v[1], v[0] * v[1] - beta * v[2]]
        )

    h = STEP / parts
    for _ in range(parts):
        a = slope(y)
        b = slope(y + h / 2 * a)
        c = slope(y + h / 2 * b)
        d = slope(y + h * c)
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
    return y


def quartiles(truth: np.ndarray, forecasts: np.ndarray) -> list[float]:
    """Quartiles over starting points of the time that forecasts are valid."""
    each = [VALID(t, np.nan_to_num(f, nan=1e9)) for t, f in zip(truth, forecasts, strict=True)]
    return np.percentile(each, [25, 50, 75]).tolist()


def searched(units: int, y: np.ndarray, rows: int, beside) -> tuple[dict, np.ndarray]:
    """What a search finds with or without the model, and its test."""
    estimator = ESNForecaster(
        units, washout=WASHOUT, random_state=SEED, connectivity=0.1, model=beside
    )
    cv = KFold(5, valid=min(AHEAD, rows // 5))
    search = ESNSearchCV(
        estimator, SPACE, cv=cv, metric="log_mse", strategy="random", n_iter=CANDIDATES,
        progress=False,
    )  # fmt: skip
    for _ in range(2):
        began = time.process_time()
        search.fit(y[:rows])
        cpu = time.process_time() - began
    found = backtest(search, y[3000:], STARTS, AHEAD, washout=WASHOUT)
    own = quartiles(found.truth.values, found.forecast.values)
    return {"valid": own, "cpu": cpu}, found.truth.values


def alone(truth: np.ndarray, y: np.ndarray) -> list[float]:
    """The model by itself, from the value before each start."""
    at = [int(np.flatnonzero((y == one[0]).all(axis=1))[0]) for one in truth]
    values, found = y[np.array(at) - 1].T, []
    for _ in range(truth.shape[1]):
        values = model(values)
        found.append(values.T)
    return quartiles(truth, np.stack(found, axis=1))


def main() -> None:
    sizes = [tuple(map(int, sys.argv[1:3]))] if len(sys.argv) > 1 else SIZES
    y, results = systems.lorenz63(9000, STEP), []
    for units, rows in sizes:
        network, truth = searched(units, y, rows, None)
        both, again = searched(units, y, rows, model)
        assert (truth == again).all()
        found = {"model": {"valid": alone(truth, y)}, "network": network, "both": both}
        results.append({"units": units, "rows": rows, **found})
        words = ", ".join(
            f"{name} {one['valid'][1]:.2f} ({one['valid'][0]:.2f} to {one['valid'][2]:.2f})"
            for name, one in found.items()
        )
        print(f"{units} units, {rows} rows: {words} Lyapunov times; CPU {network['cpu']:.1f} s and "
              f"{both['cpu']:.1f} s", flush=True)  # fmt: skip
    if len(sys.argv) == 1:
        store("hybrid", {"wrong": WRONG, "sizes": results})


if __name__ == "__main__":
    main()
