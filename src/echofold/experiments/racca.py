"""How chaotic systems are validated: the Lorenz experiment of Racca and Magri, and beyond it.

A. Racca and L. Magri, "Robust Optimization and Validation of Echo State Networks for learning
chaotic dynamics", Neural Networks 142 (2021), doi 10.1016/j.neunet.2021.05.004. Networks of 100
units learn 11 Lyapunov times of the Lorenz system. Seven strategies select spectral radius and
input scaling, from a grid of 7 × 7, by the mean over validation intervals of 3 Lyapunov times of
the logarithm of the squared error. The winner, retrained on everything, forecasts from 100 starts;
what counts is the mean time until its error exceeds a fifth of the size of the values.

Data and networks are theirs, by what the paper and its published code say: forward Euler in steps
of 0.01, 111 of which are a Lyapunov time; weights by the seeds 1, 2, …; a readout of the states
alone, with a penalised bias. Two things differ. Their validation intervals begin one row before
the rows that they leave out of training, ours do not. And they solve normal equations, whose
rounding at a ridge of 1e-11 is itself a kind of noise; ours come from orthogonal factors.

What the paper could not afford follows: a path of ridge values down to zero, leave-one-out, and
every candidate tested, to see which strategy tells good ones from bad.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from echofold import (
    ESNForecaster,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    Recycle,
    SingleSplit,
    WalkForward,
    backtest,
)
from echofold.experiments import _tables as tables
from echofold.metrics import horizon

LYAPUNOV_TIME = 111  # rows
WASHOUT, ROWS, VALID = LYAPUNOV_TIME, 12 * LYAPUNOV_TIME, 3 * LYAPUNOV_TIME
TESTS, FIRST_TEST, LONGEST = 100, 24 * LYAPUNOV_TIME, 15 * LYAPUNOV_TIME
START = (7.432487609628195, 10.02071718705213, 29.62297428638419)
SPREAD = (35.23020746, 45.09776766, 36.07598481)  # what inputs are divided by, in their code
RADII = np.linspace(0.1, 1.0, 7).tolist()
SCALINGS = np.linspace(0.5, 5.0, 7).tolist()
RIDGE = 1e-11
PATH = [0.0, 1e-17, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7]
UNITS, CONNECTIONS = 100, 3

STRATEGIES = {
    "SSV": SingleSplit(VALID),
    "WFV": WalkForward(2, valid=VALID, min_train=5 * LYAPUNOV_TIME, step=VALID),
    "WFVc": WalkForward(3, valid=VALID, min_train=6 * LYAPUNOV_TIME, step=LYAPUNOV_TIME),
    "KFV": KFold(3, valid=VALID, start=2 * LYAPUNOV_TIME, step=VALID),
    "KFVc": KFold(9, valid=VALID, step=LYAPUNOV_TIME),
    "RV": Recycle(3, valid=VALID, start=2 * LYAPUNOV_TIME, step=VALID),
    "RVc": Recycle(9, valid=VALID, step=LYAPUNOV_TIME),
    "LOO": LeaveOneOut(),
}
SCHEMES = tuple(STRATEGIES)
PARTS = {  # ridge values, in words
    "as published": ([RIDGE], "as published: one ridge"),
    "ridge path": (PATH, "a path of ridge values"),
}


def lorenz(rows: int) -> np.ndarray:
    """The Lorenz system by forward Euler, ``(rows, 3)``, as the paper has it."""
    values = np.empty((rows, 3))
    x, y, z = START
    for row in values:
        row[:] = x, y, z
        x, y, z = (
            x + 0.01 * 10 * (y - x),
            y + 0.01 * (x * (28 - z) - y),
            z + 0.01 * (x * y - 8 / 3 * z),
        )
    return values


def weights(seed: int) -> dict[str, Any]:
    """Weights of a draw: each unit hears one input or the bias, and three units on average."""
    rng = np.random.RandomState(seed)
    W_in = np.zeros((UNITS, 4))
    for unit in range(UNITS):
        heard = rng.randint(0, 4)  # the inputs come first there, the bias last
        W_in[unit, (heard + 1) % 4] = rng.uniform(-1, 1)
    W = rng.uniform(-1, 1, (UNITS, UNITS))
    W = W * (rng.rand(UNITS, UNITS) < CONNECTIONS / (UNITS - 1))
    W_in[:, 1:] /= SPREAD
    return {"W_in": W_in, "W": W.T}


def network(seed: int, **options: Any) -> ESNForecaster:
    """A network of a draw; its inputs are divided by their ranges, which is part of ``W_in``."""
    return ESNForecaster(
        UNITS, **weights(seed), scale=None, penalize_bias=True, washout=WASHOUT - 1,
        readout="states", random_state=seed, **options,
    )  # fmt: skip


def space(ridge: list[float]) -> list[dict[str, Any]]:
    """The grid: input and bias scaling are one parameter."""
    return [
        {"input_scaling": [s], "bias_scaling": [s], "spectral_radius": RADII, "ridge": ridge}
        for s in SCALINGS
    ]


def search(seed: int, ridge: list[float], schemes, y: np.ndarray) -> ESNSearchCV:
    """Select by all strategies, over one pass of the networks."""
    return ESNSearchCV(
        network(seed), space(ridge), cv={name: STRATEGIES[name] for name in schemes},
        metric="log_mse", progress=False,
    ).fit(y[:ROWS])  # fmt: skip


def tested(model: ESNForecaster, y: np.ndarray) -> float:
    """Mean prediction horizon over the test starts, in Lyapunov times."""
    starts = FIRST_TEST + VALID * np.arange(TESTS)
    metric = horizon(0.2, normalise="rms", step=1 / LYAPUNOV_TIME)
    found = backtest(model, y, starts, LONGEST, washout=WASHOUT - 1, metric=metric)
    return float(found.horizon.mean())


def one_draw(seed: int, name: str, schemes: list[str], y: np.ndarray) -> list[dict[str, Any]]:
    """A row for every strategy: its winner, its test, and how well it ranks all candidates."""
    ridge, _ = PARTS[name]
    found = search(seed, ridge, schemes, y)
    every: dict[tuple, float] = {}
    if len(ridge) == 1:
        for candidate in found.candidates_:
            model = network(seed, ridge=ridge[0]).set_params(**candidate)
            every[tuple(candidate.values())] = tested(model.fit(y[:ROWS]), y)
    rows = []
    for scheme in schemes:
        model = found.finalize("retrain", scheme)
        key = (model.input_scaling, model.bias_scaling, model.spectral_radius)
        score = found.results_[scheme].log_mse.mean("split").values[0]
        row = {
            "draw": seed, "part": name, "scheme": scheme, "validation": float(score.min()),
            "test": every[key] if every else tested(model, y), "spectral_radius": key[2],
            "input_scaling": key[0], "ridge": model.ridge,
        }  # fmt: skip
        if every:
            tests = pd.Series([every[tuple(one.values())] for one in found.candidates_])
            row["rank_correlation"] = float(tests.corr(pd.Series(-score[:, 0]), method="spearman"))
        rows.append(row)
    return rows


class Racca(tables.Experiment):
    """The table of strategies, with one ridge as published, and with a path of them."""

    name = "racca"
    DRAWS = 50
    KEYS = ("draw", "part", "scheme")
    SCHEMES = SCHEMES
    CELLS = {"part": PARTS, "scheme": SCHEMES}

    def settings(self) -> dict[str, Any]:
        """What rows depend on."""
        return {
            "radii": RADII, "scalings": SCALINGS, "ridge": RIDGE, "path": PATH, "tests": TESTS
        }  # fmt: skip

    def compute(self, rows: tables.Rows, draws: int, schemes: list[str]) -> None:
        """Compute the draws that are missing."""
        y = lorenz(FIRST_TEST + TESTS * VALID + LONGEST)
        for seed, name in product(range(1, draws + 1), PARTS):
            if missing := rows.missing(schemes, [seed], part=name):
                with tables.expecting_collinear_states():
                    rows.add(one_draw(seed, name, missing, y))
                tests = rows.where(draw=seed, part=name).test
                ends = f"{tests.min():.2f} to {tests.max():.2f} Lyapunov times"
                rows.say(f"racca, draw {seed} of {draws}, {name}: {ends}", timed=True)

    def line(self, cell: pd.DataFrame, part: str, scheme: str) -> dict[str, float]:
        """Medians and quartiles over draws beside the published medians."""
        low, median, high = cell.test.quantile([0.25, 0.5, 0.75])
        line = {"median": median, "low": low, "high": high}
        line["published"] = tables.published(self.name, "", scheme, "", "median")[0]
        if cell.rank_correlation.notna().any():
            line["rank_correlation"] = cell.rank_correlation.mean()
            line["rank_correlation_deviation"] = cell.rank_correlation.std(ddof=0)
        return line

    def describe(self, table: pd.DataFrame, draws: int) -> str:
        """The table in Markdown, each part by itself."""
        parts = [
            "Prediction horizon on the Lorenz system, in Lyapunov times: mean over "
            f"{TESTS} starts, median (quartiles) over {draws} draw{'s' if draws > 1 else ''}. "
            "Published: medians over 50 draws, model-free, by Bayesian optimisation. Rank "
            "correlation: Spearman's, between validation error and test horizon of the 49 "
            "candidates, mean ± standard deviation over draws."
        ]
        for name, (_, words) in PARTS.items():
            header, lines = ["strategy", "test horizon"], []
            theirs = name == "as published"
            for row in table[table.part == name].itertuples() if len(table) else ():
                line = [row.scheme, f"{row.median:.2f} ({row.low:.2f} to {row.high:.2f})"]
                if theirs:
                    mean, deviation = row.rank_correlation, row.rank_correlation_deviation
                    line.append("" if np.isnan(row.published) else f"{row.published:.2f}")
                    line.append(f"{mean:.2f} ± {deviation:.2f}")
                lines.append(line)
            header += ["published", "rank correlation"] if theirs else []
            if lines:
                parts += [f"## {words[0].upper()}{words[1:]}", tables.markdown(header, lines, 1)]
        return tables.page("Validation of chaotic systems", *parts)


racca = Racca()
