"""The search of Racca and Magri's Lorenz experiment, and the same written plainly in NumPy.

The plain one follows the published description and does what it does: for each of the seven
strategies and each candidate the network is run anew in a loop over time, normal equations are
formed once, what a fold leaves out is subtracted, and every validation interval is a loop. Grid,
draws, data and folds are those of `echofold reproduce racca`. Both sides select by the mean
logarithm of squared errors; where they select otherwise it is rounding, which at a ridge of 1e-11
normal equations have much of.

    python benchmarks/racca.py            # 3 draws
    python benchmarks/racca.py --draws 50
"""

from __future__ import annotations

import argparse
import time
import warnings

from _common import store  # isort: skip  (first: it sets the number of threads)

import numpy as np

from echofold.experiments import racca
from echofold.experiments.racca import LYAPUNOV_TIME, RIDGE, ROWS, VALID, WASHOUT

FOLDS = {  # rows of training that go before the first interval, folds, rows from one to the next
    "SSV": (8 * LYAPUNOV_TIME, 1, VALID),
    "WFV": (5 * LYAPUNOV_TIME, 2, VALID),
    "WFVc": (6 * LYAPUNOV_TIME, 3, LYAPUNOV_TIME),
    "KFV": (2 * LYAPUNOV_TIME, 3, VALID),
    "KFVc": (0, 9, LYAPUNOV_TIME),
    "RV": (2 * LYAPUNOV_TIME, 3, VALID),
    "RVc": (0, 9, LYAPUNOV_TIME),
}


class Plain:
    """One candidate of one draw, strategy by strategy."""

    def __init__(self, W_in, W, radius, scaling, y):
        self.W_in, self.W, self.y = W_in * scaling, W * radius, y

    def step(self, x, u):
        return np.tanh(self.W_in[:, 0] + self.W_in[:, 1:] @ u + self.W @ x)

    def driven(self):
        """States with a one, of all rows after the washout."""
        x = np.zeros(len(self.W))
        for u in self.y[: WASHOUT - 1]:
            x = self.step(x, u)
        rows = np.empty((ROWS - WASHOUT, len(x) + 1))
        for n, u in enumerate(self.y[WASHOUT - 1 : ROWS - 1]):
            x = self.step(x, u)
            rows[n, :-1], rows[n, -1] = x, 1.0
        return rows

    def forecast(self, row, readout):
        """A closed loop over one validation interval."""
        found = np.empty((VALID, 3))
        for n in range(VALID):
            if n:
                row = np.append(self.step(row[:-1], found[n - 1]), 1.0)
            found[n] = row @ readout
        return found

    def score(self, strategy):
        """Mean over folds of the logarithm of squared errors."""
        X, Y = self.driven(), self.y[WASHOUT:ROWS]
        before, folds, shift = FOLDS[strategy]
        left, right = X.T @ X + RIDGE * np.eye(X.shape[1]), X.T @ Y
        scores = []
        for fold in range(folds):
            a = before + fold * shift
            out = _left_out(strategy, a, before, len(X))
            A = left - sum(X[part].T @ X[part] for part in out)
            b = right - sum(X[part].T @ Y[part] for part in out)
            found = self.forecast(X[a], np.linalg.solve(A, b))
            scores.append(np.log10(np.mean((found - Y[a : a + VALID]) ** 2)))
        return 10.0 if np.isnan(scores).any() else float(np.mean(scores))


def _left_out(strategy: str, a: int, before: int, n: int) -> list[slice]:
    """Rows that a fold does not train on."""
    if strategy.startswith("RV"):
        return []
    if strategy.startswith("KFV"):
        return [slice(a, a + VALID)]
    return [slice(0, a - before), slice(a, n)]


def plain_search(seed: int, y) -> dict[str, np.ndarray]:
    """Scores of the whole grid by every strategy, ``(scalings, radii)`` each."""
    drawn = racca.weights(seed)
    W = drawn["W"] / np.abs(np.linalg.eigvals(drawn["W"])).max()
    return {
        strategy: np.array(
            [
                [Plain(drawn["W_in"], W, r, s, y).score(strategy) for r in racca.RADII]
                for s in racca.SCALINGS
            ]
        )
        for strategy in FOLDS
    }


def ours(seed: int, y):
    """The same by one search."""
    return racca.search(seed, [RIDGE], list(FOLDS), y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=3)
    draws = parser.parse_args().draws
    y = racca.lorenz(ROWS)
    warnings.simplefilter("ignore")
    seconds: dict[str, list[float]] = {"plain": [], "echofold": []}
    same, apart = [], []
    for seed in range(1, draws + 1):
        began = time.process_time()
        found = ours(seed, y)
        seconds["echofold"].append(time.process_time() - began)
        began = time.process_time()
        scores = plain_search(seed, y)
        seconds["plain"].append(time.process_time() - began)
        for strategy, plain in scores.items():
            mine = found.results_[strategy].log_mse.mean("split").values[0, :, 0]
            same.append(int(mine.argmin() == plain.ravel().argmin()))
            apart.append(float(np.median(np.abs(mine - plain.ravel()))))
        ratio = seconds["plain"][-1] / seconds["echofold"][-1]
        print(f"draw {seed}: {seconds['plain'][-1]:.1f} s plain, "
              f"{seconds['echofold'][-1]:.2f} s echofold, {ratio:.0f} times")  # fmt: skip
    result = {
        "draws": draws,
        "plain NumPy, CPU s a draw": float(np.median(seconds["plain"])),
        "echofold, CPU s a draw": float(np.median(seconds["echofold"])),
        "times": float(np.median(seconds["plain"]) / np.median(seconds["echofold"])),
        "times, all draws, compiling included": sum(seconds["plain"]) / sum(seconds["echofold"]),
        "same candidate selected": f"{sum(same)} of {len(same)}",
        "median difference of log_mse": float(np.median(apart)),
    }
    for name, value in result.items():
        print(f"{name}: {value}")
    store("racca", result)


if __name__ == "__main__":
    main()
