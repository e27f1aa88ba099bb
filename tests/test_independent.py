"""Random problems of every sort against `independent`, in what one rounding of the data does.

``pytest -m fuzz tests/test_independent.py -n auto`` runs 2,000 of them, ``ECHOFOLD_FUZZ`` sets
another number. A failure names its seed: ``python tests/test_independent.py SEED`` repeats it.
Problems of the same tens share their shapes, so that little is compiled.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import independent
import kinds
import numpy as np
import pandas as pd
import pytest
import sklearn.model_selection as sk
from independent import Classification, Net, Regression, Series, Validation, crossed, worst
from scipy import stats
from sklearn.base import clone

import echofold
from echofold import ESNClassifier, ESNForecaster, ESNRegressor, ESNSearchCV, metrics
from echofold.reservoirs import NVAR, Deep, EdgeOfStability, Foreign, Leaky

COUNT = int(os.environ.get("ECHOFOLD_FUZZ", "2000"))
CHUNK, ALIKE = 50, 10  # problems of a test; of one shape
MOST_ROUNDINGS, RELATIVE = 100, 1e-9  # as in test_trust: beyond both, a number is wrong
CHAOTIC = 1e-3  # change of a value by one rounding of the data, from which it says nothing
AHEAD, NEW = 6, 4  # rows to forecast, and to update with

TOPOLOGIES = ["uniform", "normal", "ring", "ring with jumps", "delay line", "orthogonal"]
TOPOLOGIES += ["small world"]
VIEWS = ["inputs+states", "states", "inputs+states+squares", "states+squares", "polynomial 2"]
WAYS = [{"algorithm": one} for one in ("auto", "small_k", "large_k", "naive")]
WAYS += [{"memory": one} for one in ("states", "pieces", "fold", "frugal")]
LABELS = ["error_rate", "accuracy"]
OF_VALUES = ["nrmse", "rmse", "mse", "mae", "log_mse", "mape", "smape", "mase", "r2", "worst"]
GIVEN = {
    "worst": worst,
    "horizon": metrics.horizon(0.4),
    "horizon each": metrics.horizon(0.4, normalise="each"),
}
EXTRAS = {
    "forecast": ["update", "backtest", "refit", "search", "optuna", "threads", "dask", "polars",
                 "parquet", "memmap", "zarr", "sktime", "file"],
    "regress": ["last", "search", "optuna", "threads", "dask", "polars", "parquet", "memmap",
                "zarr", "file"],
    "classify": ["search", "optuna", "threads", "dask", "file"],
}  # fmt: skip
NEEDS = {"dask": "distributed", "parquet": "pyarrow"}  # others have the names of packages
NEEDS |= {name: name for name in ("optuna", "polars", "zarr", "sktime")}


# --- problems -----------------------------------------------------------------------------------


def pick(rng, values, p=None):
    """One of some values, as it is."""
    return values[rng.choice(len(values), p=p)]


def shape(number, fixed=None):
    """What problems of one shape share: all that programs are compiled for."""
    rng = np.random.default_rng([number, 1])
    s = {
        "task": pick(rng, ["forecast", "forecast", "regress", "classify"]),
        "kind": pick(rng, ["flat", "leaky", "deep", "edge", "nvar", "custom", "foreign"],
                     [0.15, 0.38, 0.12, 0.12, 0.11, 0.1, 0.02]),
        "units": int(pick(rng, [3, 8, 25])),
        "activation": pick(rng, [*kinds.ACTIVATIONS]),
        "topology": pick(rng, TOPOLOGIES),
        "noisy": rng.random() < 0.3,
        "readout": pick(rng, [*VIEWS, crossed], [0.5, 0.1, 0.1, 0.1, 0.1, 0.1]),
        "rows": int(pick(rng, [16, 40, 90, 150])),
        "outputs": int(rng.integers(1, 3)),
        "inputs": int(rng.integers(0, 3)),
        "season": pick(rng, [None, None, None, 4, 7, (4, 9.5)]),
        "states": pick(rng, ["mean", "last", 1, 3]),
    }  # fmt: skip
    intervals = ["SingleSplit", "KFold", "Accumulative", "WalkForward", "Recycle", "LeaveOneOut"]
    others = ["shuffled", "groups"] if s["task"] != "forecast" else ["time series"]
    s["scheme"] = pick(rng, [*intervals, *others, "pairs"])
    s |= fixed or {}
    if s["readout"] == "polynomial 2":  # of few columns
        s["units"] = min(s["units"], 8)
    values = [*OF_VALUES[:5], "smape", "r2", "worst", *LABELS]
    if s["task"] != "classify":
        values = [*OF_VALUES, pick(rng, ["horizon", "horizon each"])]
    if s["scheme"] in ("shuffled", "groups", "pairs") and s["task"] != "forecast":
        values = [name for name in values if "horizon" not in name]
    s["metrics"] = [str(name) for name in rng.choice(values, 3, replace=False)]
    s["alike"] = rng.integers(2**31)
    return s | (fixed or {})


def reservoir(s, rng):
    """A kind of reservoir, and values of a parameter to search."""
    share = round(rng.uniform(0.2, 1), 3)
    w = {"spectral_radius": round(rng.uniform(0.2, 1.1), 3), "bias_scaling": rng.uniform(0, 1)}
    w["input_scaling"] = round(rng.uniform(0.1, 1), 3)
    units, other = s["units"], round(rng.uniform(0.2, 1), 3)
    if s["kind"] == "flat":
        return {"units": units, "leak_rate": share, **w}, "leak_rate", other
    if s["kind"] == "leaky":
        w |= {"activation": s["activation"], "topology": s["topology"], "jump": 2}
        w["connectivity"] = 0.5 if s["topology"] == "small world" else 1.0
        units = max(units, 8) if s["topology"] in TOPOLOGIES[3:] else units
        kind = Leaky(units, leak_rate=share, noise=0.05 * share * s["noisy"], **w)
        return {"reservoir": kind}, "reservoir__leak_rate", other
    if s["kind"] == "deep":
        kind = Deep(max(units // 2, 2), leak_rate=share, inter_scaling=other, **w)
        return {"reservoir": kind}, "reservoir__inter_scaling", share
    if s["kind"] == "edge":
        kind = EdgeOfStability(units, proximity=share, **w)
        return {"reservoir": kind}, "reservoir__proximity", other
    if s["kind"] == "nvar":
        few = s["inputs"] + s["outputs"] > 2 or s["season"] or s["readout"] == "polynomial 2"
        many = [NVAR(2, degree=2), NVAR(3, spacing=2, degree=(2, 3))]
        return {"reservoir": NVAR(2, degree=1) if few else pick(rng, many)}, "reservoir__delays", 3
    if s["kind"] == "custom":
        kind = pick(rng, [kinds.KINDS["custom"], kinds.KINDS["custom, looked at"]])
        kind = clone(kind).set_params(parameters={"strength": share})
        return {"reservoir": kind}, "reservoir__parameters", {"strength": other}
    return {"reservoir": Foreign(kinds.Bucket(share))}, "reservoir__node", kinds.Bucket(other)


def sizes(s, rng):
    """Arguments of a scheme."""
    v = {16: 2, 40: 5, 90: 8, 150: 20}[s["rows"]] if s["task"] != "classify" else 4
    gap = pick(rng, [0, 1, (2, 0), (0, 1), 0.05])
    before = {"min_train": pick(rng, [0.5, 6]), "gap": pick(rng, [0, (1, 3)])}
    return pick(rng, {
        "SingleSplit": [{"valid": v, "gap": gap}, {"valid": 0.2}],
        "KFold": [{"k": 3}, {"k": 4, "gap": gap}, {"k": 3, "valid": v, "gap": gap},
                  {"k": None, "valid": v, "start": 1, "step": v}],
        "Accumulative": [{"k": 2, **before}, {"k": 3, "valid": 2, **before}, {"k": 1, "valid": v}],
        "WalkForward": [{"k": 2, **before}, {"k": 3, "valid": 2, **before}],
        "Recycle": [{"k": 3, "valid": v}, {"k": None, "valid": v, "step": 3},
                    {"k": 1, "valid": 0.3}],
        "LeaveOneOut": [{}, {"gap": gap}],
        "shuffled": [{"k": 3, "shuffle": True, "random_state": int(rng.integers(99))}],
        "time series": [sk.TimeSeriesSplit(3), sk.TimeSeriesSplit(2, gap=1)],
        "groups": [sk.GroupKFold(3), sk.ShuffleSplit(3, random_state=int(rng.integers(99)))],
        "pairs": [None],
    }[s["scheme"]])  # fmt: skip


def scattered(rng, values, share):
    """Values of which some are missing: here and there, in a row, and at the end."""
    values = values.copy()
    values[rng.random(values.shape) < share] = np.nan
    first = int(rng.integers(len(values)))
    values[first : first + int(rng.integers(4))] = np.nan
    if rng.random() < 0.3:
        values[len(values) - int(rng.integers(1, 4)) :] = np.nan
    return values


def waving(rng, rows, columns):
    """Series that wave, drift and shake, in units of their own."""
    t = np.arange(rows)[:, None] + rng.uniform(0, 9, columns)
    y = np.sin(t / rng.uniform(1, 6)) + rng.uniform(0, 0.02) * t + rng.uniform(0, 0.3) * np.sin(t)
    y += 10.0 ** rng.uniform(-4, -0.5) * rng.normal(size=y.shape)
    return (y - y.min(axis=0) + rng.uniform(0.1, 3)) * 10.0 ** rng.uniform(-2, 3, columns)


class Problem:
    """A problem of a seed: an estimator, data, splits, a ridge path and metrics."""

    def __init__(self, seed, fixed=None):
        self.seed, self.rng = seed, np.random.default_rng([seed, 2])
        self.s = s = shape(seed // ALIKE, fixed)
        path = [0.0, 1e-8, 1e-4, 1e-2, 1.0, 1e3]
        self.path = np.sort(self.rng.choice(path, 3, replace=False))
        of, self.name, self.other = reservoir(s, self.rng)
        self.p = {
            "ridge": float(pick(self.rng, self.path)), "readout": s["readout"],
            "penalize_bias": bool(self.rng.integers(2)),
            "scale": pick(self.rng, ["standard", "minmax", None]),
            "random_state": int(self.rng.integers(1000)),
        }  # fmt: skip
        for careful in range(20):  # problems that cannot be are drawn again, with less missing
            getattr(self, s["task"])(s.get("share", max(0.0, 0.1 - careful / 100)))
            if self.feasible():
                break
        else:
            raise AssertionError(f"seed {seed}: no feasible problem of {s}")
        classes = {"forecast": ESNForecaster, "regress": ESNRegressor, "classify": ESNClassifier}
        self.model = classes[s["task"]](**self.p, **of)
        drawn = [str(extra) for extra in self.rng.choice(EXTRAS[s["task"]], 2, replace=False)]
        wanted = s.get("extras", drawn)
        self.extras = [extra for extra in wanted if find_spec(NEEDS.get(extra, "numpy"))]
        streamed = s["scheme"] not in ("shuffled", "groups", "pairs") and s["task"] != "classify"
        looped = s["task"] == "forecast" and s["scheme"] != "LeaveOneOut"
        streamed &= looped or not {"worst", "horizon", "horizon each"} & {*s["metrics"]}
        ways = WAYS if streamed else WAYS[:-2]  # without "fold" and "frugal"
        self.ways = [ways[i] for i in self.rng.choice(len(ways), 2, replace=False)]

    @property
    def words(self):
        """The problem as one would tell it."""
        nan = [k for k, v in self.data.items() if k != "sequences" and np.isnan(v).any()]
        return (
            f"seed {self.seed}: {self.model!r} cv={self.scheme} {self.options!s:.99} "
            f"path={self.path} metrics={self.s['metrics']} weights={self.weight is not None} "
            f"rows={self.s['rows']} missing in {nan} {self.extras} {self.ways}"
        )

    def forecast(self, share):
        """A series to forecast."""
        rng, s = self.rng, self.s
        rows, columns = s["rows"] + NEW + AHEAD, s["inputs"]
        y, lags = waving(rng, rows, s["outputs"]), [(), (), (1,), (4,), (3, 1)]
        self.p |= {
            "log": rng.random() < 0.3, "difference": pick(rng, lags[: 5 - s["noisy"]]),
            "season": s["season"],
            "harmonics": 2, "washout": pick(rng, ["auto", "auto", 0, 3]), "output_range": None,
        }  # fmt: skip
        if rng.random() < 0.3:
            room = 0.02 * np.ptp(y, axis=0)
            high = pick(rng, [(y.max(axis=0) + room).tolist(), np.inf])
            self.p["output_range"] = ((y.min(axis=0) - room).clip(1e-9).tolist(), high)
        if not self.p["log"] and not self.p["output_range"] and rng.random() < 0.3:
            y = y - y.mean(axis=0)
        X = rng.normal(size=(rows, columns)) * 10.0 ** rng.uniform(-1, 2, columns)
        if rng.random() < 0.4 and share:
            y[: s["rows"] + NEW] = scattered(rng, y[: s["rows"] + NEW], share)
        if rng.random() < 0.4 and share and columns:
            X = scattered(rng, X, share)
            X[rows - 1] = X[s["rows"]] = rng.normal(size=columns)
        self.data = {"y": y, "X": X} if columns else {"y": y}
        self.weight = pick(rng, [None, rng.uniform(0.1, 2, s["rows"])])

    def regress(self, share):
        """Inputs to map to outputs."""
        rng, rows = self.rng, self.s["rows"] + AHEAD
        X = waving(rng, rows, max(1, self.s["inputs"])) + rng.normal(size=(rows, 1))
        y = 2 + np.roll(X[:, :1], 1, axis=0) * X[:, -1:]
        y = y + rng.normal(size=(rows, self.s["outputs"]))
        y *= 10.0 ** rng.uniform(-2, 2, self.s["outputs"])
        self.p |= {"washout": pick(rng, ["auto", 0, 3]), "output_range": None}
        if rng.random() < 0.4:
            low, high = np.quantile(y, [0.1, 0.9], axis=0)
            ranges = [(low.tolist(), high.tolist()), (-np.inf, float(high.min()))]
            self.p["output_range"] = pick(rng, ranges)
        if rng.random() < 0.4 and share:
            y = scattered(rng, y, share)
        if rng.random() < 0.4 and share:
            X = scattered(rng, X, share)
            X[-1] = X[0] = 1.0
        self.data = {"X": X, "y": y}
        self.weight = pick(rng, [None, rng.uniform(0.1, 2, self.s["rows"])])

    def classify(self, share):
        """Sequences to tell apart."""
        rng, slow = self.rng, {"a": 1.0, "b": 2.0, "c": 3.0}
        self.labels, self.weight = np.array([*slow])[np.arange(24) % (2 + self.seed % 2)], None
        shapes = [(5 + i % 4, max(1, self.s["inputs"])) for i in range(24)]
        waves = [
            np.sin(np.arange(steps)[:, None] / slow[label] + rng.normal(size=inputs))
            for (steps, inputs), label in zip(shapes, self.labels, strict=True)
        ]
        self.data = {"sequences": [wave + 0.3 * rng.normal(size=wave.shape) for wave in waves]}
        self.p |= {"states": self.s["states"]}

    def read(self, data, first=None, p=None):
        """The data of `fit` as a task of the transcription."""
        p, rows = {**self.p, **(p or {})}, self.s["rows"]
        if "sequences" in data:
            return Classification(p, data["sequences"], self.labels)
        X, y = data.get("X"), data["y"][:rows]
        X = X if X is None else X[:rows]
        if self.s["task"] == "regress":
            return Regression(p, X, y, self.weight)
        return Series(p, y, X, self.weight, first)

    def feasible(self):
        """Draw the splits; whether each has rows to learn from, and some a row to be scored on."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            try:
                self.task = task = self.read(self.data)
            except (RuntimeWarning, IndexError, ValueError):  # of a column without a value
                return False
        n, rng = len(task.Y), self.rng
        if n < 6:
            return False
        called = {"time series": "sklearn", "groups": "sklearn", "shuffled": "KFold"}
        self.scheme = called.get(self.s["scheme"], self.s["scheme"])
        self.options = sizes(self.s, np.random.default_rng(self.s["alike"]))
        self.groups = rng.integers(5, size=n + 99)
        if self.scheme == "pairs":
            self.options = [self.pair(n) for _ in range(3)]
        try:
            groups = self.of_rows(n) if isinstance(self.options, sk.GroupKFold) else None
            self.splits = independent.splits(self.scheme, self.options, n, groups=groups)
        except (IndexError, ZeroDivisionError, ValueError):
            return False
        there = ~np.isnan(task.truth).any(axis=1)
        enough = all((task.weights[t] > 0).sum() > 1 and len(v) for t, v in self.splits)
        spread = all(np.ptp(task.truth[there], axis=0) > 0) if there.sum() > 3 else False
        return enough and spread and any(there[v].any() for _, v in self.splits)

    def of_rows(self, n):
        """Groups of the rows that are split."""
        first = (
            0 if self.s["task"] == "classify" else self.task.first + (self.s["task"] == "forecast")
        )
        return self.groups[first : first + n]

    def pair(self, n):
        """Indices of one split."""
        valid = self.rng.choice(n, 3, replace=False)
        if self.s["task"] == "forecast":
            valid = np.arange(3) + self.rng.integers(n - 3)
        train = np.setdiff1d(np.arange(n), valid)
        return train[self.rng.random(len(train)) < 0.8], np.sort(valid)

    @property
    def cv(self):
        """The splits as the library is told them."""
        if self.scheme in ("sklearn", "pairs"):
            return self.options
        return getattr(echofold, self.scheme)(**self.options)

    def moved(self):
        """The data off by one rounding, in a random way."""

        def near(values):
            return values * (1 + independent.EPS * self.rng.choice([-1, 1], size=values.shape))

        return {
            name: [near(one) for one in part] if name == "sequences" else near(part)
            for name, part in self.data.items()
        }


# --- both sides ---------------------------------------------------------------------------------


class Trial:
    """A problem as the library solves it, and as the transcription does."""

    def __init__(self, problem, folder, client=None):
        self.q, self.folder, self.client, self.candidates = problem, folder, client, []
        self.metrics = [GIVEN.get(name, name) for name in problem.s["metrics"]]
        self.task, self.rows = problem.s["task"], problem.s["rows"]

    def fitted(self, **params):
        """The model of some parameters, fitted, beside a net of its weights."""
        model = clone(self.q.model).set_params(**params)
        model.fit(*self.given(), **self.options())
        return model, Net(model)

    def given(self, to=lambda values: values):
        """The data of `fit`, in its order."""
        q = self.q
        if self.task == "classify":
            return q.data["sequences"], q.labels
        parts = [to(q.data[name][: self.rows]) for name in ("X", "y") if name in q.data]
        return tuple(parts if self.task == "regress" else parts[::-1])

    def options(self):
        """Weights, if there are any."""
        return {} if self.q.weight is None else {"sample_weight": self.q.weight}

    def validate(self, model, given, **way):
        """Scores ``(metrics, splits, ridge)`` by the library."""
        groups = {"groups": self.groups()} if self.q.scheme == "sklearn" else {}
        found = echofold.cross_validate(
            model, *given, cv=self.q.cv, ridge=self.q.path, metric=self.metrics,
            **self.options(), **groups, **way,
        )  # fmt: skip
        return np.array([found[name.split()[0]].values for name in self.q.s["metrics"]])

    def groups(self):
        """Groups of all rows of the data."""
        return self.q.groups[: len(self.given()[0])]

    def library(self):
        """What the library finds, by name; names before a colon are those of `plain`."""
        found, q = {}, self.q
        for way in q.ways:
            found[f"scores: {way}"] = self.validate(q.model, self.given(), **way)
        self.model, self.net = self.fitted()
        found["fit"] = self.used(self.model)
        for extra in q.extras:
            found |= getattr(self, f"by_{extra}")() or {}
        return found

    def future(self, first=0):
        """Known inputs of the rows to forecast."""
        return {"X": self.q.data["X"][self.rows + first :][:AHEAD]} if "X" in self.q.data else {}

    def used(self, model, start="zero"):
        """What a fitted model says."""
        if self.task == "classify":
            return model.decision_function(self.q.data["sequences"][:5])
        if self.task == "regress":
            return model.predict(self.q.data["X"][self.rows :], start=start)
        return np.asarray(model.forecast(AHEAD, **self.future()))

    def by_last(self):
        return {"last": self.used(self.model, "last")}

    def by_update(self):
        new = {"X": self.q.data["X"][self.rows :][:NEW]} if "X" in self.q.data else {}
        model, _ = self.fitted()
        model.update(self.q.data["y"][self.rows :][:NEW], **new)
        return {"update": np.asarray(model.forecast(AHEAD, **self.future(NEW)))}

    def by_backtest(self, refit=False):
        y, first = self.q.data["y"][: self.rows + NEW], {"first": 0} if self.q.p["season"] else {}
        first |= {"X": self.q.data["X"][: len(y)]} if "X" in self.q.data else {}
        names = self.q.s["metrics"]
        found = echofold.backtest(
            self.model, y, self.starts, NEW, metric=self.metrics, refit=refit, **first
        )
        scores = np.array([found[name.split()[0]].values for name in names])
        name = "refit" if refit else "backtest"
        return {name: found.forecast.values, f"{name} scores": scores}

    def by_refit(self):
        return self.by_backtest(True)

    @property
    def starts(self):
        """Rows that backtests forecast from, each after some that can be trained on."""
        longer = self.longer(self.q.task, self.q.data)
        learned = np.flatnonzero(longer.weights)[1]
        return np.linspace(learned + longer.first + 2, self.rows, 3).round().astype(int)

    def longer(self, task, data):
        """The series of a backtest, in the units of another."""
        X, y = data.get("X"), data["y"][: self.rows + NEW]
        return Series(task.p, y, None if X is None else X[: len(y)], like=task)

    def search(self, **options):
        """A search of two candidates, or of more, and its final models."""
        q = self.q
        values = [q.model.get_params()[q.name], q.other]
        if options.get("strategy") == "optuna" and isinstance(q.other, float):
            values = stats.uniform(0.2, 0.8)
        space = {q.name: values, "ridge": q.path.tolist()}
        if "difference" in q.p and options.get("strategy") != "optuna":
            space["difference"] = [q.p["difference"], ()]
        found = ESNSearchCV(q.model, space, cv=q.cv, metric=self.metrics, progress=False, **options)
        groups = {"groups": self.groups()} if q.scheme == "sklearn" else {}
        return found.fit(*self.given(), **self.options(), **groups)

    def by_search(self, **options):
        self.searched = s = self.search(**options)
        self.candidates = [self.fitted(**params) for params in s.candidates_]
        scores = [s.results_[name.split()[0]].values[0] for name in self.q.s["metrics"]]
        found = {"search": np.array(scores), "best score": np.array([s.best_score_])}
        found["best"] = np.array([float(s.best_index_)])
        finals = ["retrain", "average", "best", "weighted"]
        return found | {f"final {how}": self.used(s.finalize(how)) for how in finals}

    def by_optuna(self):
        return self.by_search(strategy="optuna", n_iter=6)

    def by_threads(self):
        with ThreadPoolExecutor(2) as pool:
            self.same(self.search(), self.search(executor=pool))

    def by_dask(self):
        if self.client is not None:
            self.same(self.search(), self.search(executor=self.client.get_executor()))

    def same(self, one, other):
        """Two searches of the same results, to the last bit."""
        for name in self.q.s["metrics"]:
            np.testing.assert_array_equal(*(s.results_[name.split()[0]] for s in (one, other)))
        np.testing.assert_array_equal(
            self.used(one.best_estimator_), self.used(other.best_estimator_)
        )

    def by_polars(self):
        import polars

        frames = self.given(
            lambda v: polars.DataFrame(v, schema=[f"c{i}" for i in range(v.shape[1])])
        )
        way = self.q.ways[0]
        found = self.validate(self.q.model, frames, **way)
        np.testing.assert_array_equal(found, self.validate(self.q.model, self.given(), **way))

    def by_file(self):
        if self.q.s["kind"] in ("custom", "foreign") or callable(self.q.s["readout"]):
            return
        if self.q.s["kind"] == "leaky" and callable(self.q.s["activation"]):
            return
        echofold.save(self.model, self.folder / "model")
        loaded = echofold.load(self.folder / "model")
        np.testing.assert_array_equal(self.used(loaded), self.used(self.model))

    def by_memmap(self):
        def mapped(values):
            path = self.folder / f"{len(list(self.folder.iterdir()))}.npy"
            np.save(path, values)
            return np.load(path, mmap_mode="r")

        return self.in_blocks(mapped)

    def by_parquet(self):
        def stored(values):
            names = [f"c{i}" for i in range(values.shape[1])]
            path = self.folder / f"{len(list(self.folder.iterdir()))}.parquet"
            pd.DataFrame(values, columns=names).to_parquet(path, row_group_size=11)
            return echofold.ParquetColumns(path, names)

        return self.in_blocks(stored)

    def by_zarr(self):
        import zarr

        return self.in_blocks(lambda values: zarr.array(values, chunks=(7, values.shape[1])))

    def by_sktime(self):
        from echofold.sktime import EchoStateForecaster

        y, *X = (pd.DataFrame(values).add_prefix("c") for values in self.given())
        future = {name: pd.DataFrame(v).add_prefix("c") for name, v in self.future().items()}
        for frame in future.values():
            frame.index += self.rows
        found = EchoStateForecaster(self.q.model).fit(y, *X).predict(range(1, AHEAD + 1), **future)
        plain = clone(self.q.model).fit(*self.given())
        np.testing.assert_array_equal(found, self.used(plain))

    def in_blocks(self, stored):
        """Scores and outputs from data that are stored, and read a few rows at a time."""
        small = {
            "_data.lazy.SMALL": 64, "_data.lazy.BLOCK": 8 * 13, "_data.lazy.FEW_ROWS": 16,
            "_data.lazy.BLOCK_ROWS": 11, "metrics._targets._BLOCK": 7,
            "_engine.lockstep.ROWS": 16,
        }  # fmt: skip
        given = [values[: self.rows] for values in self.q.data.values()]
        # The noise of a step depends on every bit of its inputs, which are scaled otherwise here.
        apart = self.q.s["scheme"] in ("shuffled", "groups", "pairs") or self.net.noise
        if apart or any(np.isnan(values).any() for values in given):
            return None
        with ExitStack() as stack:
            for name, value in small.items():
                stack.enter_context(patch(f"echofold.{name}", value))
            given = self.given(stored)
            model = clone(self.q.model).fit(*given, **self.options())
            return {
                "scores: stored": self.validate(self.q.model, given),
                "fit: stored": self.used(model),
            }

    # --- by the transcription -------------------------------------------------------------------

    def plain(self, data, limit=1.0, shaken=None):
        """What the definitions give, by name."""
        q, found = self.q, {}
        for net in (self.net, *(net for _, net in self.candidates)):
            net.shaken = shaken
        self.limit, task = limit, q.read(data).driven(self.net)
        validated = Validation(task, q.splits, q.path, limit)
        found["scores"] = validated.scores(q.s["metrics"])
        W = task.fit(slice(None), np.array([q.p["ridge"]]), limit)[0]
        found["fit"] = self.said(task, W, data)
        if "last" in q.extras:
            found["last"] = task.predicted(W, data["X"][self.rows :], "last")
        if "update" in q.extras:
            X = data.get("X")
            known = task.known_of(None if X is None else X[self.rows :][:NEW], self.rows, NEW)
            end = task.moved(W, task.end(W), data["y"][self.rows :][:NEW], known)
            X = None if X is None else X[self.rows + NEW :][:AHEAD]
            found["update"] = task.ahead(W, end, task.known_of(X, self.rows + NEW, AHEAD))
        for name in {"backtest", "refit"} & set(q.extras):
            found |= self.backtested(name, task, W, data)
        if {"search", "optuna"} & set(q.extras):
            found |= self.won(data)
        return found

    def said(self, task, W, data):
        """What a model with a readout says."""
        if self.task == "classify":
            outputs = task.predicted(W, data["sequences"][:5])
            return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs
        X = data.get("X")
        if self.task == "regress":
            return task.predicted(W, X[self.rows :], "zero")
        X = None if X is None else X[self.rows :][:AHEAD]
        return task.ahead(W, task.end(W), task.known_of(X, self.rows, AHEAD))

    def backtested(self, name, task, W, data):
        """Forecasts from rows of a longer series, with the same readout or with others."""
        longer, runs = self.longer(task, data).driven(self.net, "longer"), []
        y = longer.y
        for start in self.starts:
            row = start - 1 - longer.first
            if name == "refit":
                W = longer.fit(np.arange(row), np.array([task.p["ridge"]]), self.limit)[0]
            runs.append(longer.run(W, row, NEW, silent=True))
        names = self.q.s["metrics"]
        whole = [y[start : start + NEW] for start in self.starts]
        scores = [
            [independent.score(one, t, v, y) if (~np.isnan(t).any(axis=1)).any() else np.nan
             for t, v in zip(whole, runs, strict=True)]
            for one in names
        ]  # fmt: skip
        scores = np.reshape(scores, (len(names), len(runs)))  # there may be none
        return {name: np.array(runs), f"{name} scores": scores}

    def won(self, data):
        """Scores of the candidates of a search, who wins, and the final models of it."""
        q, s = self.q, self.searched
        own = [q.read(data, p=self.form(params)) for params in s.candidates_]
        first = max(one.first for one in own) if self.task != "classify" else None
        alike = [q.read(data, first, self.form(params)) for params in s.candidates_]
        n = len(alike[0].Y)
        rows = q.splits if n == len(q.task.Y) else independent.splits(q.scheme, q.options, n)
        each = [
            Validation(task.driven(net), rows, q.path, self.limit)
            for task, (_, net) in zip(alike, self.candidates, strict=True)
        ]
        scores = np.array([one.scores(q.s["metrics"]) for one in each])
        higher = q.s["metrics"][0].startswith(("horizon", "r2", "accuracy"))
        means = scores[:, 0].mean(axis=1) * (-1 if higher else 1)
        found = {"search": np.swapaxes(scores, 0, 1)}
        best, place = np.unravel_index(means.argmin(), means.shape)
        margin = np.sort(means.ravel())[1] - means.min()
        if not np.isfinite(means.min()) or margin < 1e-7 * abs(means.min()):
            return found  # nobody wins by more than rounding
        best_score = np.array([-means.min() if higher else means.min()])
        found |= {"best score": best_score, "best": np.array([float(best)])}
        task, validated = own[best].driven(self.candidates[best][1]), each[best]
        for how in ("average", "best", "weighted"):
            found[f"final {how}"] = self.said(task, validated.final(how, place), data)
        validated.task = task
        return found | {"final retrain": self.said(task, validated.final("retrain", place), data)}

    def form(self, params):
        """Those parameters of a candidate that are not of its reservoir."""
        return {name: value for name, value in params.items() if name in self.q.p}


# --- comparing ----------------------------------------------------------------------------------


class Largest:
    """The largest deviation so far, and how much was compared.

    In ``roundings``, ``relative`` to the numbers, and in roundings ``beyond`` those that are minute
    against the numbers; ``at`` is where the last is, or else the first.
    """

    def __init__(self):
        self.roundings = self.relative = self.beyond = 0.0
        self.compared = self.chaotic = self.problems = 0
        self.at = ""

    def compare(self, name, found, expected, moved, least=None):
        """Add a comparison; what is wrong with it, in words.

        The last axes are steps and outputs, unless numbers are compared each by itself, which
        count as ``least`` if they are smaller.
        """
        found = np.asarray(found, dtype=float)
        assert found.shape == expected.shape, f"{name}: {found.shape}, not {expected.shape}"
        with np.errstate(all="ignore"):
            change = np.max([np.abs(one - expected) for one in moved], axis=0)
            size = np.abs(expected) if least is None else np.maximum(np.abs(expected), least)
            if least is None and expected.ndim > 1:  # of a column; loops forget nothing
                size = np.max(size, axis=-2, keepdims=True) + 0 * size
                change = np.maximum.accumulate(change, axis=-2)
            finite = np.isfinite([expected, *moved])
            sure = finite.all(axis=0) & (change <= CHAOTIC * size)
            off = np.where(sure & (found != expected), np.abs(found - expected), 0.0)
            off = np.where(np.isfinite(off), off, np.inf)
            relative = np.where(off > 0, off / size, 0.0)
            roundings = np.where(off > 0, off / np.maximum(change, independent.EPS * size), 0.0)
        self.add(name, roundings, relative)
        self.compared += int(sure.sum())
        self.chaotic += int((~sure & finite.any(axis=0)).sum())
        wrong = (roundings > MOST_ROUNDINGS) & (relative > RELATIVE)
        wrong |= ~finite.any(axis=0) & np.isfinite(found)
        if not wrong.any():
            return []
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        return [
            f"{name} at {at}: {found[at]!r}, expected {expected[at]!r}, "
            f"{roundings[at]:.3g} roundings, {wrong.sum()} of {wrong.size} numbers"
        ]

    def add(self, name, roundings, relative):
        """Remember what is largest."""
        beyond = float(np.where(relative > RELATIVE, roundings, 0.0).max(initial=0.0))
        most = float(roundings.max(initial=0.0))
        if beyond > self.beyond or (not self.beyond and most > self.roundings):
            self.at = name
        self.roundings, self.beyond = max(self.roundings, most), max(self.beyond, beyond)
        self.relative = max(self.relative, float(relative.max(initial=0.0)))


def tried(seed, largest, fixed=None, client=None):
    """Try the problem of a seed; what is wrong, in words."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trial = Trial(Problem(seed, fixed), Path(folder), client)
        q, wrong = trial.q, []
        try:
            found = trial.library()
        except Exception as error:
            return [f"{type(error).__name__}: {error}", q.words]
        expected = trial.plain(q.data)
        moved = [trial.plain(q.moved(), limit, q.rng) for limit in (0.25, 4.0, 1.0)]
    least = np.array([float(name in ("r2", "log_mse", *LABELS)) for name in q.s["metrics"]])
    for name, values in found.items():
        of = name.split(":")[0]
        if of not in expected or any(of not in one for one in moved):
            continue  # nobody wins a search by more than rounding
        own = None
        if of in ("scores", "search"):
            own = least.reshape(-1, *[1] * (np.ndim(values) - 1))
        elif "scor" in of or of == "best" or trial.task == "classify":
            own = 1.0  # of classes, too: outputs are shares
        words = f"seed {seed}, {name}"
        wrong += largest.compare(words, values, expected[of], [one[of] for one in moved], own)
    largest.problems += 1
    return [*wrong, q.words] if wrong else []


@pytest.fixture(scope="module")
def client():
    """A cluster of threads, where Dask is installed."""
    if not find_spec("distributed"):
        yield None
        return
    import distributed

    with (
        distributed.LocalCluster(
            1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as c,
        distributed.Client(c) as client,
    ):
        yield client


FEW = [  # every value of every dimension at least once, and little of each
    {"kind": "flat", "topology": "uniform", "scheme": "KFold", "readout": "inputs+states",
     "rows": 40, "season": 4, "metrics": ["nrmse"], "extras": ["update", "backtest"]},
    {"kind": "leaky", "topology": "ring", "activation": "relu", "scheme": "Accumulative",
     "readout": "states", "rows": 40, "season": (4, 9.5), "metrics": ["mase"], "extras": ["refit"]},
    {"kind": "edge", "scheme": "SingleSplit", "readout": crossed, "rows": 16, "units": 25,
     "season": 7, "metrics": ["log_mse"], "extras": ["file"]},
    {"kind": "nvar", "scheme": "Recycle", "readout": "polynomial 2", "rows": 40, "outputs": 1,
     "season": None, "metrics": ["horizon"], "extras": ["sktime"]},
    {"task": "regress", "kind": "deep", "scheme": "WalkForward", "rows": 90, "share": 0,
     "readout": "inputs+states+squares", "metrics": ["rmse", "mse"], "extras": ["memmap", "zarr"]},
    {"task": "regress", "kind": "custom", "scheme": "time series", "readout": "states+squares",
     "rows": 40, "metrics": ["smape"], "extras": ["polars"]},
    {"task": "regress", "kind": "foreign", "scheme": "KFold", "rows": 16,
     "metrics": ["horizon each"], "extras": ["last"]},
    {"task": "regress", "kind": "leaky", "topology": "normal", "activation": "tanh", "units": 3,
     "noisy": True, "scheme": "LeaveOneOut", "rows": 40, "metrics": ["mape"], "extras": []},
    {"task": "regress", "kind": "leaky", "topology": "ring with jumps", "activation": "sine",
     "scheme": "shuffled", "rows": 150, "readout": "inputs+states", "metrics": ["mae", "worst"],
     "extras": ["optuna", "search"]},
    {"task": "regress", "kind": "leaky", "topology": "delay line", "activation": "identity",
     "scheme": "KFold", "units": 8, "readout": "states", "share": 0, "metrics": ["r2"],
     "extras": ["parquet"]},
    {"task": "classify", "kind": "leaky", "topology": "orthogonal", "activation": kinds.swish,
     "states": "mean", "scheme": "groups", "metrics": ["error_rate"], "extras": ["threads"]},
    {"task": "classify", "kind": "leaky", "topology": "small world", "activation": "tanh",
     "states": 3, "scheme": "KFold", "metrics": ["accuracy"], "extras": ["dask"]},
    {"task": "classify", "kind": "flat", "states": "last", "scheme": "pairs", "units": 3,
     "metrics": ["nrmse"], "extras": []},
]  # fmt: skip
FEW = [{"task": "forecast", "noisy": False, **one} for one in FEW]
SEEDS = [7000 + ALIKE * place for place in range(len(FEW))]  # that draw everything else, too


def test_a_few_problems_are_of_every_sort():
    few = [Problem(seed, fixed) for seed, fixed in zip(SEEDS, FEW, strict=True)]
    shapes = {name: {str(q.s.get(name)) for q in few} for name in few[0].s}
    counts = {"kind": 7, "rows": 4, "units": 3, "outputs": 2, "inputs": 3, "season": 4}
    counts |= {"activation": 5, "topology": 7, "readout": 6, "scheme": 10}
    for name, count in counts.items():
        assert len(shapes[name]) == count, (name, shapes[name])
    for name, values in {"penalize_bias": 2, "scale": 3, "log": 2, "difference": 4}.items():
        assert len({str(q.p[name]) for q in few if name in q.p}) == values, name
    assert {name for q in few for name in q.s["metrics"]} == {*OF_VALUES, *GIVEN, *LABELS}
    assert {extra for one in FEW for extra in one["extras"]} == {
        e for of in EXTRAS.values() for e in of
    }
    assert {str(way) for q in few for way in q.ways} == {str(way) for way in WAYS}
    assert len({beta for q in few for beta in q.path}) == 6
    assert len({q.weight is None for q in few}) == 2
    missing = [{n for n, v in q.data.items() if np.isnan(np.concatenate([*v])).any()} for q in few]
    assert set().union(*missing) == {"X", "y"}


@pytest.mark.parametrize("place", range(len(FEW)))
def test_a_few_problems_are_right(place, client):
    largest = Largest()
    wrong = tried(SEEDS[place], largest, FEW[place], client)
    assert not wrong, "\n".join(wrong)
    assert largest.compared > 5 * largest.chaotic


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", range(-(-COUNT // CHUNK)))
def test_problems_are_right(chunk, client, record_property):
    largest, wrong = Largest(), []
    for seed in range(chunk * CHUNK, min((chunk + 1) * CHUNK, COUNT)):
        wrong += tried(seed, largest, None, client)
    record_property("independent", vars(largest))
    assert not wrong, "\n".join(wrong)
    assert largest.compared > 5 * largest.chaotic


if __name__ == "__main__":
    total = Largest()
    for one in range(*map(int, sys.argv[1].split(":"))) if ":" in sys.argv[1] else sys.argv[1:]:
        print("\n".join(tried(int(one), total)) or f"seed {one} is right", flush=True)
    print(vars(total))
