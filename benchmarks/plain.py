"""500 units, 10 folds, 8 ridge values: this library and careful plain NumPy, on one thread.

    python benchmarks/plain.py

What many would write by hand: reservoirs driven once, normal equations for each fold, one solve for
each ridge value, closed loops step by step for each of the 80 networks. The same reservoir, folds,
washout and metric in both; the errors found are compared. Shortest of some runs in turns.
"""

from __future__ import annotations

import time

import _common  # first: it sets the number of threads
import numpy as np

from echofold import ESNForecaster, ESNRegressor, KFold, cross_validate

STEPS, UNITS, FOLDS, WASHOUT = 2000, 500, 10, 100
RIDGE = np.logspace(-6, 1, 8)
ROUNDS = 5


def given(closed: bool):
    """Inputs and targets; a forecast is of the series itself, one step ahead."""
    rng = np.random.RandomState(0)
    steps = WASHOUT + STEPS
    if not closed:
        u = rng.rand(steps, 1)
        return u, np.convolve(u[:, 0], [0.5, 0.3, 0.2])[:steps, None] + 0.01 * rng.randn(steps, 1)
    t = np.arange(steps + 1)
    series = np.sin(t / 7) + 0.5 * np.sin(t / 11.3) + 0.02 * rng.randn(steps + 1)
    return series[:-1, None], series[1:, None]


def plain(u, y, W_in, W, closed: bool) -> np.ndarray:
    """Errors ``(folds, ridge)``, by hand."""
    x, rows = np.zeros(UNITS), np.empty((len(u), 2 + UNITS))
    for n, now in enumerate(u):
        x = np.tanh(W_in[:, 0] + W_in[:, 1:] @ now + W @ x)
        rows[n, 0], rows[n, 1], rows[n, 2:] = 1, now[0], x
    rows, y = rows[WASHOUT:], y[WASHOUT:]
    penalty = np.eye(2 + UNITS)
    penalty[0, 0] = 0
    errors = np.empty((FOLDS, len(RIDGE)))
    for fold, valid in enumerate(np.array_split(np.arange(STEPS), FOLDS)):
        train = np.r_[0 : valid[0], valid[-1] + 1 : STEPS]
        A = rows[train]
        gram, right = A.T @ A, A.T @ y[train]
        for place, beta in enumerate(RIDGE):
            readout = np.linalg.solve(gram + beta * penalty, right)
            outputs = rows[valid] @ readout
            if closed:
                x, now = rows[valid[0], 2:], outputs[0]
                for step in range(1, len(valid)):
                    x = np.tanh(W_in[:, 0] + W_in[:, 1:] @ now + W @ x)
                    now = readout[0] + now @ readout[1:2] + x @ readout[2:]
                    outputs[step] = now
            errors[fold, place] = np.sqrt(np.mean((y[valid] - outputs) ** 2))
    return errors


def measure(closed: bool) -> dict[str, float]:
    """Seconds of both, and how far apart their errors are."""
    u, y = given(closed)
    kind = ESNForecaster if closed else ESNRegressor
    network = kind(
        UNITS, spectral_radius=0.9, washout=WASHOUT, scale=None, random_state=1, device="cpu"
    )
    data = (np.append(u[:, 0], y[-1, 0]),) if closed else (u, y)
    network.fit(*data)
    W_in, W = network.W_in_, network.W_

    def ours():
        return cross_validate(
            network, *data, cv=KFold(FOLDS), ridge=list(RIDGE), metric="rmse"
        ).rmse.values.reshape(FOLDS, len(RIDGE))

    def by_hand():
        return plain(u, y, W_in, W, closed)

    took: dict = {}
    for _ in range(ROUNDS):
        for work in (ours, by_hand):
            began = time.perf_counter()
            found = work()
            took.setdefault(work, []).append(time.perf_counter() - began)
            took[work, "errors"] = found
    a, b = took[ours, "errors"], took[by_hand, "errors"]
    stable = b < 1
    return {
        "seconds": min(took[ours]),
        "plain_seconds": min(took[by_hand]),
        "times": min(took[by_hand]) / min(took[ours]),
        "median_difference": float(np.median(np.abs(a - b)[stable] / b[stable])),
        "largest_difference": float((np.abs(a - b)[stable] / b[stable]).max()),
    }


def main() -> None:
    """Measure, print and store."""
    results = {}
    for closed in (False, True):
        name = "closed loop" if closed else "open loop"
        results[name] = found = measure(closed)
        print(
            f"{name}: {found['seconds']:.3f} s, plain NumPy {found['plain_seconds']:.3f} s "
            f"({found['times']:.1f} times); errors differ by {found['median_difference']:.1e}, at "
            f"most {found['largest_difference']:.1e}",
            flush=True,
        )
    _common.store("plain", results)


if __name__ == "__main__":
    main()
