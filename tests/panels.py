"""Panels to test on, and each of their series by a plain loop over time."""

import numpy as np
import pandas as pd

from echofold import Accumulative, ESNForecaster, KFold, LeaveSeriesOut, WalkForward

RNG = np.random.default_rng(5)
LENGTHS = (62, 45, 70, 53)
PANEL = [
    20.0 * (i + 1) + (i + 1) * np.sin(np.arange(n) / (2 + i)) + 0.3 * RNG.normal(size=n)
    for i, n in enumerate(LENGTHS)
]
HOLES = [y.copy() for y in PANEL]
HOLES[0][[12, 30, 31]] = HOLES[2][50] = np.nan
KNOWN = [RNG.normal(size=(n, 2)) for n in LENGTHS]
WEIGHTS = [RNG.uniform(0.5, 2.0, n) for n in LENGTHS]
MONTHS = pd.date_range("2020-01-01", periods=90, freq="MS", name="month")
DATED = {
    name: pd.Series(y, index=MONTHS[i : i + len(y)], name="sales")
    for i, (name, y) in enumerate(zip("abcd", PANEL, strict=True))
}
SETTINGS = {"units": 12, "random_state": 0, "spectral_radius": 0.7, "input_scaling": 0.5}
RIDGE = [1e-2, 1.0]
CASES = {
    "closed": ({}, {}),
    "differences of logs": ({"log": True, "difference": (1,)}, {}),
    "season, two lags": ({"difference": (3, 1), "season": 6, "harmonics": 2}, {}),
    "missing": ({"difference": (1,)}, {"y": HOLES}),
    "X": ({}, {"X": KNOWN}),
    "weights": ({"log": True}, {"sample_weight": WEIGHTS}),
    "penalised bias": ({"penalize_bias": True, "washout": 3}, {}),
    "minmax": ({"scale": "minmax"}, {}),
    "a range": ({"output_range": (10.0, 100.0), "difference": (1,)}, {}),
    "direct": ({"steps": 4}, {}),
    "direct, differences": ({"steps": "direct", "difference": (1,), "log": True}, {}),
    "direct, missing": ({"steps": 3}, {"y": HOLES}),
}
SCHEMES = {
    "KFold": KFold(3),
    "gaps": KFold(3, valid=5, gap=2),
    "Accumulative": Accumulative(3, valid=6),
    "WalkForward": WalkForward(3, valid=5, min_train=20),
}
BY_SERIES = {"LeaveSeriesOut": LeaveSeriesOut(), "two groups": LeaveSeriesOut(2)}


class Series:
    """One series by a loop over time: rows, targets and weights of all pairs after the washout."""

    def __init__(self, model, y, X=None, sample_weight=None, learned=None):
        self.model, self.W_in, self.W = model, model.W_in_, model.W_
        self.lags = model.difference
        present = ~np.isnan(y)
        season = round(model.season) if model.season else next((k for k in self.lags if k > 1), 0)
        full = y.copy()
        for t in np.flatnonzero(~present):
            back = t - season
            full[t] = y[back] if season and back >= 0 and present[back] else full[t - 1]
        self.y, self.z = y, np.log(full) if model.log else full
        raw, w = np.log(y) if model.log else y, self.z
        for lag in self.lags:
            raw, w = raw[lag:] - raw[:-lag], w[lag:] - w[:-lag]
        lost = len(y) - len(w)
        learned = learned or len(y)  # rows that scales are learned from
        seen = raw[: learned - lost]
        self.center, self.unit = np.nanmean(seen), np.nanstd(seen)
        if model.scale == "minmax":
            self.center, self.unit = np.nanmin(seen), np.ptp(seen)
        w = (w - self.center) / self.unit
        X = np.zeros((len(y), 0)) if X is None else X
        self.known = (X - X[:learned].mean(0)) / X[:learned].std(0)
        if model.season:
            t = 2 * np.pi * np.arange(len(y))[:, None] / model.season
            waves = np.arange(1, model.harmonics + 1)
            waves = np.hstack([np.sin(t * waves), np.cos(t * waves)])
            self.known = np.hstack([self.known, waves])
        pairs = len(y) - 1
        washout = min(200, pairs // 10) if model.washout == "auto" else model.washout
        self.first = max(washout, lost) + 1  # row of y with the first target
        x, rows = np.zeros(len(self.W)), []
        for t in range(len(w) - 1):
            u = np.concatenate([[w[t]], self.known[t + 1 + lost]])
            x = np.tanh(self.W_in @ np.concatenate([[1.0], u]) + self.W @ x)
            rows.append((u, x))
        self.rows = rows[self.first - 1 - lost :]
        self.targets = w[self.first - lost :]
        whole = ~np.isnan(raw)[self.first - lost :]
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        self.weights = whole * weights[self.first :]
        self.present = present[self.first :]
        self.n = len(self.rows)

    def trained(self, train, steps):
        """Rows, targets and weights of pairs that are trained on, all of whose targets are too."""
        there = np.zeros(self.n + steps, dtype=bool)
        there[list(train)] = self.weights[list(train)] > 0
        at = [t for t in range(self.n) if there[t : t + steps].all()]
        width = 1 + sum(map(len, self.rows[0]))
        A = np.array([np.concatenate([[1.0], *self.rows[t]]) for t in at]).reshape(-1, width)
        B = np.array([self.targets[t : t + steps] for t in at]).reshape(-1, steps)
        return A, B, np.array([self.weights[t : t + steps].mean() for t in at])

    def forecast(self, W, first, horizon):
        """Values of a closed loop from the true state at row ``first`` on."""
        limits = self.model.output_range or (-np.inf, np.inf)
        (u, x), z = self.rows[first], list(self.z[: self.first + first])
        found = []
        while len(found) < horizon:
            for out in np.concatenate([[1.0], u, x]) @ W:
                phi = np.ones(1)
                for lag in self.lags:
                    phi = np.convolve(phi, np.concatenate([[1.0], np.zeros(lag - 1), [-1.0]]))
                before = sum(c * z[-j] for j, c in enumerate(phi) if j and c)
                level = self.center + self.unit * out - before
                value = np.clip(np.exp(level) if self.model.log else level, *limits)
                level = np.log(value) if self.model.log else value
                z.append(level)
                found.append(value)
                if len(found) == horizon:
                    break
                place = self.first + first + len(found)
                out = (level + before - self.center) / self.unit
                u = np.concatenate([[out], self.known[min(place, len(self.known) - 1)]])
                x = np.tanh(self.W_in @ np.concatenate([[1.0], u]) + self.W @ x)
        return np.array(found)

    def score(self, W, a, b):
        """NRMSE of the rows ``a … b``."""
        there = self.present[a:b]
        truth = self.y[self.first + a : self.first + b][there]
        error = self.forecast(W, a, b - a)[there] - truth
        return np.sqrt((error**2).sum() / ((truth - truth.mean()) ** 2).sum())


def read(params, y=PANEL, X=None, sample_weight=None):
    """A fitted model and its series, each by a loop."""
    model = ESNForecaster(**SETTINGS, ridge=RIDGE[0], **params)
    model.fit(y, X=X, sample_weight=sample_weight)
    none = [None] * len(y)
    given = zip(y, X or none, sample_weight or none, strict=True)
    return model, [Series(model, *one) for one in given]


def solved(model, each, train, ridge):
    """The readout of the rows that each series trains on, stacked."""
    steps = getattr(model.series_[0], "plan_", 1)
    parts = [one.trained(rows, steps) for one, rows in zip(each, train, strict=True)]
    A, B, w = (np.concatenate(part) for part in zip(*parts, strict=True))
    penalty = ridge * np.eye(A.shape[1])
    penalty[0, 0] *= model.penalize_bias
    return np.linalg.solve(A.T @ (w[:, None] * A) + penalty, A.T @ (w[:, None] * B))


def splits_of(cv, each):
    """For every split, what each series trains on, and its interval of validation or None."""
    if isinstance(cv, LeaveSeriesOut):
        for train, valid in cv._sets_of_series(len(each)):
            yield (
                [range(one.n) if i in train else [] for i, one in enumerate(each)],
                [(0, one.n) if i in valid else None for i, one in enumerate(each)],
            )
        return
    for split in zip(*(cv.splits(one.n) for one in each), strict=True):
        yield (
            [[t for a, b in one.train for t in range(a, b)] for one in split],
            [one.valid for one in split],
        )
