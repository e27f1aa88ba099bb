"""What the library gives, to the bit: recorded before its text is changed, and compared after.

    python tools/results.py record FILE [--only TEXT]
    python tools/results.py compare BEFORE AFTER [--only TEXT]

``record`` runs a table of small jobs through public names of whichever ``echofold`` is imported,
so that PYTHONPATH says which, and stores every number, error and warning. ``compare`` names jobs
that do not give the same bits, or that only one file has, and exits with 1 if there is any. Where
numbers differ it tells by how much: as it is, relative to the number, and in what one rounding of
the data does (each job runs a second time on data of which every number is off by one).
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import gzip
import json
import os
import random
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from copy import copy
from functools import partial
from io import StringIO
from itertools import product, zip_longest
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

os.environ |= {"ECHOFOLD_CACHE": "off", "COLUMNS": "100", "NO_COLOR": "1"}
os.environ.setdefault(  # most of the time is compiling; XLA_FLAGS="" compiles as for users
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
    "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1",
)

import jax.numpy as jnp
import numpy as np
import pandas as pd
import sklearn.model_selection as sk
import xarray as xr
from scipy import stats
from threadpoolctl import threadpool_limits

import echofold
from echofold import (
    Accumulative,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    Recycle,
    SingleSplit,
    WalkForward,
    datasets,
    dynamics,
    metrics,
    systems,
)
from echofold.long_format import from_long, to_long
from echofold.reservoirs import NVAR, Custom, Deep, EdgeOfStability, Foreign, Leaky

ROWS, UNITS, ROUNDING = 150, 16, np.finfo(float).eps

# --- data ---------------------------------------------------------------------------------------


def data(nudged: bool) -> SimpleNamespace:
    """All that jobs are given; ``nudged`` moves every number by one rounding, up or down."""
    rng, t = np.random.default_rng(0), np.arange(ROWS + 12)
    d = SimpleNamespace()
    d.y = np.sin(t / 4) + 0.3 * np.sin(t / 11) + 0.1 * rng.normal(size=len(t))
    d.two = np.stack([d.y, np.cos(t / 4) * d.y + 0.1 * rng.normal(size=len(t))], axis=1)
    d.growing = np.exp(0.01 * t + 0.3 * np.sin(t * np.pi / 6) + 0.05 * rng.normal(size=len(t)))
    d.X = rng.normal(size=(len(t), 2))
    d.t = np.convolve(d.X[:, 0], [0.5, 0.3, 0.2])[: len(t)] + d.X[:, 1] * np.roll(d.X[:, 0], 1)
    d.T = np.stack([d.t, np.roll(d.X[:, 1], 2) ** 2], axis=1)
    d.w = rng.uniform(0.2, 2, len(t))
    d.w[20:24] = 0.0
    lengths = rng.integers(10, 25, 48)
    d.s = [
        np.sin(np.arange(n) / (2 + i % 3)) + 0.3 * rng.normal(size=n) for i, n in enumerate(lengths)
    ]
    d.S = [np.stack([s, np.roll(s, 1) + 0.1 * rng.normal(size=len(s))], axis=1) for s in d.s]
    d.rectangle = rng.normal(size=(48, 14)) + np.sin(
        np.arange(14) * (1 + np.arange(48)[:, None] % 2)
    )
    d.states = rng.normal(size=(60, 8)) * 10.0 ** -np.arange(8.0)
    if nudged:
        for name, value in vars(d).items():
            some = value if isinstance(value, list) else [value]
            some = [one * (1 + ROUNDING * rng.choice([-1, 1], one.shape)) for one in some]
            setattr(d, name, some if isinstance(value, list) else some[0])
    d.future, d.later, d.past = d.X[ROWS:], d.y[ROWS:].copy(), d.y
    for name in ("y", "two", "growing", "X", "t", "T", "w"):
        setattr(d, name, getattr(d, name)[:ROWS])
    d.gappy, d.holes, d.late = d.y.copy(), d.X.copy(), d.t.copy()
    d.gappy[[3, 40, 41, 42, 90, 149]] = d.holes[50:55, 1] = d.late[60:80] = np.nan
    d.dated = pd.Series(
        d.growing, pd.date_range("2012-01-31", periods=ROWS, freq="ME"), name="sales"
    )
    d.frame = pd.DataFrame(d.two, pd.RangeIndex(ROWS), ["a", "b"])
    d.groups, d.families = np.arange(ROWS) // 7 % 9, np.arange(48) // 5
    d.labels, d.signs = np.array(["low", "mid", "high"] * 16), np.arange(48) % 2
    return d


class Slices:
    """Rows that are only read by slicing, as those of a file."""

    def __init__(self, values):
        self.values, self.shape, self.dtype, self.ndim = (
            values,
            values.shape,
            values.dtype,
            values.ndim,
        )

    def __len__(self):
        return len(self.values)

    def __getitem__(self, at):
        return self.values[at]


class Bucket:
    """A reservoir of nobody's library."""

    units = 10

    def step(self, x, u):
        return np.tanh(0.7 * np.roll(x, 1) + np.outer(np.linspace(-1, 1, len(x)), u).sum(1))


def swish(x):
    return x / (1 + jnp.exp(-x))


def phases(inputs, seed):
    rng = np.random.default_rng(seed)
    return {"V": rng.normal(size=(UNITS, inputs)), "phase": rng.uniform(0, 6, (UNITS, 1))}


def turn(weights, parameters, x, u):
    return jnp.sin(
        weights["V"] @ u + weights["phase"] + parameters["echo"] * jnp.roll(x, 1, axis=0)
    )


def products(u, x):
    return jnp.concatenate([x, u[:1] * x[:4]])


def largest(y_true, y_pred):
    return float(np.abs(y_true - y_pred).max())


# --- what stands in -----------------------------------------------------------------------------


@contextmanager
def patched(values, homes=lambda module: True):
    """Set names in all modules of the library that have them; a name that none has is an error."""
    with ExitStack() as stack:
        for name, value in values.items():
            found = [m for key, m in list(sys.modules.items()) if key.startswith("echofold")]
            found = [m for m in found if name in vars(m) and homes(m)]
            if not found:
                raise LookupError(f"no module of echofold has {name}")
            for module in found:
                stack.enter_context(patch.object(module, name, value))
        yield


def accelerated():
    """Let the processor be taken for an accelerator."""
    return patched({"is_accelerator": lambda device: True, "COMPILING": -1.0})


@contextmanager
def little_memory():
    """Let few rows count as longer than memory, and blocks be short."""
    sizes = {"SMALL": 400, "BLOCK": 8 * 50, "REMEMBERED": 8 * 200}
    with (
        patched(sizes, lambda module: sizes.keys() <= vars(module).keys()),
        patched({"AT_ONCE": 8 * 70, "FEW_ROWS": 128, "BLOCK_ROWS": 33, "BLOCK_BYTES": 2**12}),
    ):
        yield


# --- jobs ---------------------------------------------------------------------------------------

F, R, C = (
    partial(kind, UNITS, random_state=0) for kind in (ESNForecaster, ESNRegressor, ESNClassifier)
)
SPACE = {"leak_rate": [0.4, 1.0], "ridge": [0.0, 1e-6, 1e-2]}
RIDGE = {"ridge": [1e-6, 1e-2]}
TASKS = {  # an estimator, and data of one and of two outputs or inputs
    "forecast": (F, "y", "two"),
    "regress": (R, "X t", "X T"),
    "classify": (C, "s labels", "S labels"),
}  # fmt: skip
SCHEMES = {
    "k-fold": KFold(5), "k-fold, valid and gap": KFold(4, valid=12, gap=(2, 3)),
    "shuffled": KFold(5, shuffle=True, random_state=0), "accumulative": Accumulative(4),
    "walk": WalkForward(4, valid=9), "steps": Accumulative(None, valid=8, step=9, gap=1),
    "leave one out": LeaveOneOut(), "leave one out, gap": LeaveOneOut(gap=2), "recycle": Recycle(3),
    "single": SingleSplit(0.2, gap=2), "default": None, "number": 4, "sklearn": sk.KFold(4),
    "groups": sk.GroupKFold(3), "groups, number": 3, "time series": sk.TimeSeriesSplit(3),
    "random": sk.ShuffleSplit(3, random_state=0), "stratified": sk.StratifiedKFold(3),
    "pairs": [(np.arange(20), np.arange(20, 30)), (np.arange(10, 40), np.arange(5))],
}  # fmt: skip
FINALS = ("retrain", "average", "best", "weighted", "ensemble")
FITTED = ("readout_", "state_", "residuals_", "range_", "W_", "W_in_", "leak_rate_", "condition_")


def given(d, names, by_name):
    """Data by their names, in order and as keywords."""
    return [getattr(d, name) for name in names.split()], {
        k: getattr(d, v) for k, v in by_name.items()
    }


def outputs(model, d, first, known=False):
    """What a fitted estimator holds and gives."""
    found = [{name: getattr(model, name) for name in FITTED if hasattr(model, name)}]
    if hasattr(model, "forecast"):
        level = [0.5, 0.9] if getattr(model, "residuals_", None) is not None else None
        return [*found, model.forecast(12, X=d.future if known else None, level=level)]
    if hasattr(model, "predict_proba"):
        new = first[:9]
        return [*found, model.predict(new), model.predict_proba(new), model.decision_function(new)]
    return [*found, model.predict(d.future), model.predict(d.future, start="last")]


def search(model, names, space=SPACE, finals=(), by_name=None, **options):
    """A job: a search, all that it says of itself, and its final models."""

    def job(d):
        data, more = given(d, names, by_name or {})
        found = ESNSearchCV(model, space, progress=False, **options).fit(*data, **more)
        known = "X" in more or (len(data) > 1 and hasattr(found.best_estimator_, "forecast"))
        models = [found.best_estimator_, *(attempt(lambda f=f: found.finalize(*f)) for f in finals)]
        return [
            found.results_, found.best_params_, found.best_score_, found.best_index_,
            found.to_frame(), found.cv_results_, found.summary(),
            [one if isinstance(one, str) else outputs(one, d, data[0], known) for one in models],
        ]  # fmt: skip

    return job


def fit(model, names, by_name=None, then=None):
    """A job: an estimator fitted, what it gives, and what ``then(model, d)`` does."""

    def job(d):
        data, more = given(d, names, by_name or {})
        one = copy(model).fit(*data, **more)
        return [outputs(one, d, data[0], "X" in more), then(one, d) if then else None]

    return job


def validation(model, names, by_name=None, **options):
    """A job: `cross_validate`, with the readouts of splits."""

    def job(d):
        data, more = given(d, names, by_name or {})
        return echofold.cross_validate(model, *data, readouts=True, **more, **options)

    return job


def evaluation(honest, names, d):
    return echofold.evaluate(honest, *given(d, names, {})[0], origins=2, horizon=9)


def inside(context, job):
    """A job inside of a context."""

    def enclosed(d):
        with context():
            return job(d)

    return enclosed


def searches():
    """Task, scheme and algorithm, each with options that are drawn by its name."""
    for task, (scheme, cv), algorithm in product(
        TASKS, SCHEMES.items(), ("auto", "naive", "small_k", "large_k")
    ):
        make, one, two = TASKS[task]
        name = f"search: {task}, {scheme}, {algorithm}"
        draw = random.Random(name)
        more = (
            {"groups": "families" if task == "classify" else "groups"} if "group" in scheme else {}
        )
        if task != "classify" and draw.random() < 0.4:
            more["sample_weight"] = "w"
        model = make(penalize_bias=draw.random() < 0.4)
        names = draw.choice([one, two])
        yield name, search(model, names, by_name=more, cv=cv, algorithm=algorithm)


def memories():
    ways = ("states", "pieces", "fold", "frugal", "20KB", 1e9)
    few = ("k-fold", "k-fold, valid and gap", "accumulative", "walk", "leave one out", "single")
    for (task, (make, one, two)), memory, scheme in product(TASKS.items(), ways, few):
        name = f"memory: {task}, {memory}, {scheme}"
        names = random.Random(name).choice([one, two])
        yield name, search(make(), names, RIDGE, cv=SCHEMES[scheme], memory=memory)


def measures():
    named = ["nrmse", "rmse", "mse", "log_mse", "mae", "mase", "mape", "smape", "r2"]
    named += ["error_rate", "accuracy"]
    others = {"mase of 12": metrics.mase(12), "horizon": metrics.horizon(0.5, step=0.1)}
    others |= {"function": largest, "several": [*named[:5], "r2"]}
    for (task, (make, _, two)), (name, metric) in product(
        TASKS.items(), ({name: name for name in named} | others).items()
    ):
        yield f"metric: {task}, {name}", search(make(), two, RIDGE, cv=KFold(4), metric=metric)
    y, z = np.arange(1.0, 13).reshape(6, 2), np.arange(1.0, 13).reshape(6, 2) ** 1.1
    for name in (*named[:8], "r2"):
        function = getattr(metrics, name)
        yield (
            f"metric: {name} itself",
            lambda d, f=function: f()(y, z) if f is metrics.mase else f(y, z),
        )
    yield (
        "metric: intervals",
        lambda d: metrics.interval_score(d.y, d.y - 0.1, d.past[1 : ROWS + 1], 0.8),
    )


def choices():
    """Ridges, draws, final models, pruning, strategies, and who does the work."""
    cv, draws = KFold(4), {"n_draws": 2, "random_state": 3}
    for (task, (make, _, two)), per, scheme in product(
        TASKS.items(), ("all", "split", "output"), ("k-fold", "walk", "leave one out")
    ):
        finals = [(final,) for final in FINALS]
        job = search(
            make(), two, SPACE, finals, cv=SCHEMES[scheme], ridge_per=per, final="weighted"
        )
        yield f"choice: {task}, finals, ridge per {per}, {scheme}", job
    both = {"CV": KFold(4), "FV": WalkForward(3, valid=10)}
    wide = {
        "leak_rate": stats.uniform(0.1, 0.9),
        "spectral_radius": stats.loguniform(0.1, 1),
        "ridge": [1e-4, 1],
    }
    forms = {"log": [False, True], "difference": [(), (1,)], **RIDGE}
    for task, (make, one, two) in TASKS.items():
        yield f"choice: {task}, draws", search(make(), one, cv=cv, finals=[("best",)], **draws)
        yield f"choice: {task}, by draw", search(make(), two, cv=cv, select="draw", **draws)
        yield f"choice: {task}, schemes", search(make(), one, finals=[("average", "FV")], cv=both)
        yield f"choice: {task}, threads", search(make(), two, cv=cv, n_jobs=2, **draws)
        yield f"choice: {task}, verify", search(make(), two, cv=cv, verify=True)
        for strategy in ("random", "halving", "optuna"):
            options = {"strategy": strategy, "n_iter": 5, "cv": KFold(6)}
            yield f"choice: {task}, {strategy}", search(make(), one, wide, **options)
        yield (
            f"choice: {task}, halving a grid",
            search(make(), one, cv=KFold(6), strategy="halving"),
        )
        yield (
            f"choice: {task}, seeds",
            search(make(), one, {"random_state": [1, None], **RIDGE}, cv=cv),
        )
        yield (
            f"choice: {task}, list of spaces",
            search(make(), one, [SPACE, {"units": [9], "ridge": SPACE["ridge"]}], cv=cv),
        )
    many = {"leak_rate": [0.1, 0.4, 0.7, 1.0], "spectral_radius": [0.1, 0.9, 1.4], **RIDGE}
    for name, more in {
        "one draw": {},
        "two draws": draws,
        "by draw": {"select": "draw", **draws},
    }.items():
        yield f"choice: prune, {name}", search(F(), "two", many, cv=KFold(5), prune=True, **more)
    yield (
        "choice: prune, horizon",
        search(F(), "y", many, cv=cv, prune=True, metric=metrics.horizon(0.4)),
    )
    yield (
        "choice: ensemble of forms",
        search(F(), "growing", forms, cv=WalkForward(4), final="ensemble", **draws),
    )
    yield "choice: washouts", search(F(), "y", {"washout": [5, 20], **RIDGE}, cv=cv)
    pool = partial(ThreadPoolExecutor, 2)
    yield "choice: executor", lambda d: search(F(), "y", cv=cv, executor=pool())(d)

    def resumed(d):
        with tempfile.TemporaryDirectory() as folder:
            job = search(F(), "y", cv=cv, checkpoint=folder)
            return [job(d), job(d)]

    yield "choice: checkpoint", resumed


def kinds():
    """Kinds of reservoir, topologies, and what readouts see."""
    small = {"topology": "small world", "connectivity": 0.2}
    reservoirs = {
        **{one: Leaky(UNITS, activation=one) for one in ("relu", "identity", "sine")},
        **{one: Leaky(20, topology=one) for one in ("normal", "ring", "delay line", "orthogonal")},
        "swish": Leaky(UNITS, activation=swish), "jumps": Leaky(20, topology="ring with jumps"),
        "small world": Leaky(20, **small), "sparse": Leaky(30, connectivity=0.1),
        "noise": Leaky(UNITS, noise=0.05), "few": Leaky(30, topology="normal", connectivity=0.1),
        "deep": Deep(8, inter_scaling=0.2), "deeper": Deep(6, layers=3, leak_rate=(1.0, 0.5, 0.2)),
        "deep ring": Deep(10, topology="ring"), "edge": EdgeOfStability(UNITS, proximity=0.3),
        "edge, relu": EdgeOfStability(UNITS, activation="relu", input_scaling=0.1), "nvar": NVAR(),
        "nvar, spaced": NVAR(3, spacing=2, degree=(2, 3)), "foreign": Foreign(Bucket()),
        "custom": Custom(UNITS, init=phases, step=turn, parameters={"echo": 0.6}),
    }  # fmt: skip
    for (name, kind), (task, (make, one, _)) in product(reservoirs.items(), TASKS.items()):
        model = make.func(reservoir=kind, random_state=0)
        yield f"kind: {name}, {task}", search(model, one, RIDGE, cv=KFold(4))
    for readout in (
        "states",
        "inputs+states",
        "states+squares",
        "inputs+states+squares",
        "polynomial 2",
        products,
    ):
        for task, (make, _, two) in TASKS.items():
            label = getattr(readout, "__name__", readout)
            job = search(make.func(6, random_state=0, readout=readout), two, RIDGE, cv=KFold(4))
            yield f"kind: readout {label}, {task}", job
    for name, options in {
        "minmax": {"scale": "minmax"}, "no scaling": {"scale": None},
        "connected": {"connectivity": 0.2}, "weights": {"W": np.eye(UNITS) / 2},
        "no radius": {"spectral_radius": None}, "inputs": {"input_scaling": 0.3, "bias_scaling": 2},
    }.items():  # fmt: skip
        for task, (make, _, two) in TASKS.items():
            yield f"kind: {name}, {task}", search(make(**options), two, RIDGE, cv=KFold(4))
    edges = {"reservoir__proximity": [0.2, 0.8], **RIDGE}
    yield (
        "kind: searched",
        search(ESNRegressor(reservoir=EdgeOfStability(9), random_state=0), "X t", edges),
    )


def series():
    """Representations of series, known inputs, missing values."""
    forms = {
        "plain": {}, "log": {"log": True}, "difference": {"difference": (1,)},
        "lags": {"difference": (12, 1)}, "season": {"season": 12},
        "seasons": {"season": (12, 5.5), "harmonics": 2}, "range": {"output_range": (0.6, 5.7)},
        "all": {"log": True, "difference": (1,), "season": 12},
        "log and range": {"log": True, "output_range": (0, 5.7)},
    }  # fmt: skip
    for (name, form), known in product(
        forms.items(), ({}, {"X": "X"}, {"X": "holes", "sample_weight": "w"})
    ):
        label = f"{name}, {' '.join(known.values()) or 'alone'}"
        for cv in (KFold(4), WalkForward(4, valid=12)):
            job = search(F(**form), "growing", RIDGE, [("average",)], known, cv=cv, metric="rmse")
            yield f"series: {label}, {type(cv).__name__}", job
    for names, form in product(
        ("gappy", "dated", "frame"), ({}, {"difference": (1,)}, {"season": 12})
    ):
        yield (
            f"series: {names}, {form}",
            search(F(**form), names, RIDGE, [("best",)], cv=KFold(4, valid=14)),
        )
    for memory in ("states", "pieces", "frugal"):
        yield (
            f"series: gappy, {memory}",
            search(F(), "gappy", RIDGE, cv=Accumulative(3), memory=memory),
        )
        yield (
            f"series: late, {memory}",
            search(R(), "holes late", RIDGE, cv=KFold(5), memory=memory),
        )


def classes():
    for states, (names, label) in product(
        ("mean", "last", 3), {"s": "labels", "S": "labels", "rectangle": "signs"}.items()
    ):
        for metric, cv in product(
            ("error_rate", "nrmse"), (None, LeaveOneOut(), sk.StratifiedKFold(3))
        ):
            job = search(
                C(states=states), f"{names} {label}", SPACE, [("average",)], cv=cv, metric=metric
            )
            yield f"classes: {names}, {states}, {metric}, {cv}", job


def readouts():
    """Readouts of states from elsewhere, also where these leave little to learn."""
    shapes = {
        "plain": lambda X: X, "one": lambda X: X[:, :1], "twins": lambda X: X[:, [0, 1, 0, 2, 1]],
        "constant column": lambda X: X * [1, 0, 1, 1, 0, 1, 1, 1] + [0, 3, 0, 0, 0, 0, 0, 0],
        "few rows": lambda X: np.hstack([X[:12], X[12:24], X[24:36]]),
        "event": lambda X: X * (np.arange(60)[:, None] < [60, 60, 4, 60, 2, 60, 60, 60]),
    }  # fmt: skip
    cvs = {
        "5": KFold(5),
        "all but one": LeaveOneOut(),
        "walk": WalkForward(3),
        "gap": KFold(3, gap=1),
    }
    for (shape, of), (name, cv), algorithm, penalised in product(
        shapes.items(), cvs.items(), ("auto", "naive", "small_k", "large_k"), (False, True)
    ):

        def job(
            d, of=of, cv=cv, algorithm=algorithm, penalised=penalised, weighted=name in ("5", "gap")
        ):
            X = of(d.states)
            n = len(X)
            return echofold.cross_validate_readout(
                X, d.two[:n], cv=cv, ridge=[0, 1e-8, 1.0], algorithm=algorithm, readouts=True,
                penalize_bias=penalised, sample_weight=d.w[:n] if weighted else None,
            )  # fmt: skip

        yield f"readout: {shape}, {name}, {algorithm}{', penalised' * penalised}", job


def judges():
    """Validation of one candidate, the honest error, backtests."""
    for (task, (make, one, two)), (scheme, cv) in product(TASKS.items(), SCHEMES.items()):
        if "group" not in scheme:
            job = validation(make(), two, cv=cv, ridge=[0, 1e-3], metric=["rmse", "mae"])
            yield f"judge: {task}, {scheme}", job
        if scheme in ("k-fold", "walk"):
            honest = ESNSearchCV(make(), RIDGE, cv=cv, progress=False)
            yield f"judge: {task}, evaluate, {scheme}", partial(evaluation, honest, one)
    forms = {"plain": {}, "log": {"log": True, "difference": (1,)}, "season": {"season": 12}}
    for (name, form), refit, known, many in product(
        forms.items(), (False, True), (False, True), (False, True)
    ):

        def job(d, form=form, refit=refit, known=known, many=many):
            X = {"X": d.X} if known else {}
            model = F(**form)
            if many:
                options = {"cv": KFold(3), "n_draws": 2, "final": "ensemble", "progress": False}
                model = ESNSearchCV(model, RIDGE, **options)
            model.fit(d.growing[:100], **{k: v[:100] for k, v in X.items()})
            options = {
                "refit": refit,
                "metric": ["nrmse", "mae"],
                "first": 0 if form.get("season") else None,
            }
            return [
                echofold.backtest(model, d.growing, starts, 6, washout=washout, **X, **options)
                for starts, washout in ((5, None), ([60, 100, 120], 30))
            ]

        yield f"judge: backtest {name}, {refit=}, {known=}, ensemble={many}", job


def models():
    """Fitting, going on, saving and loading."""

    def moved(model, d):
        return [
            model.update(part).forecast(9) for part in (d.later[:5], d.later[5:7], [np.nan, 0.2])
        ]

    def again(model, d):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.echofold"
            echofold.save(model, path)
            first = d.s if hasattr(model, "predict_proba") else None
            return outputs(echofold.load(path), d, first)

    for task, (make, one, two) in TASKS.items():
        yield f"model: {task}, two", fit(make(), two)
        yield f"model: {task}, saved", fit(make(), one, then=again)
        yield f"model: {task}, ridge 0", fit(make(ridge=0.0, penalize_bias=True), two)
    yield "model: ridge of each output", fit(R(ridge=[1e-6, 1.0]), "X T")
    yield "model: weighted", fit(R(), "X T", {"sample_weight": "w"})
    yield "model: long forecast", fit(F(), "two", then=lambda model, d: model.forecast(500))
    for name, form in {"plain": {}, "log": {"difference": (1,)}, "season": {"season": 12}}.items():
        yield f"model: moved on, {name}", fit(F(**form), "y", then=moved)
        yield f"model: saved, {name}", fit(F(**form), "dated", then=again)
    for kind in (Leaky(20, topology="ring"), Deep(6), EdgeOfStability(9), NVAR()):
        yield (
            f"model: saved, {kind}",
            fit(ESNForecaster(reservoir=kind, random_state=0), "y", then=again),
        )

    def ensemble(d):
        options = {"cv": KFold(3), "final": "ensemble", "n_draws": 2, "progress": False}
        found = ESNSearchCV(F(), {"difference": [(), (1,)], **RIDGE}, **options).fit(d.y)
        return [again(found.best_estimator_, d), moved(found.best_estimator_, d)]

    yield "model: ensemble", ensemble

    def long_frame(d):
        frame = to_long({"a": d.dated, "b": d.dated[::2]})
        return [frame, *(one.y for one in from_long(frame, value="ESN").values())]

    yield "model: long frame", long_frame


def dynamic():
    """Dynamics of networks, systems and embedded data."""

    def exponents(model, d):
        return dynamics.lyapunov_exponents(model, 200, count=3, washout=20)

    for name, model in {"leaky": F(), "difference": F(difference=(1,)), "log": F(log=True)}.items():
        yield f"dynamics: {name}", fit(model, "growing", then=exponents)
    for kind in (Leaky(UNITS), Leaky(UNITS, topology="orthogonal"), Deep(6), NVAR(3)):
        yield (
            f"dynamics: memory of {kind}",
            lambda d, k=kind: dynamics.memory_capacity(k, 12, steps=300),
        )
    yield "dynamics: climate", lambda d: dynamics.climate(d.two, d.two[::-1], bins=9, segment=32)
    for name in [name for name in systems.__all__ if name.islower()]:
        yield f"dynamics: {name}", lambda d, name=name: getattr(systems, name)(60)
    for name in ("electricity", "gasoline", "labor", "sunspots"):
        yield (
            f"dynamics: {name}",
            lambda d, name=name: getattr(datasets, f"load_{name}")().data[:500],
        )


def long_series():
    """Series that are read in blocks."""

    def mapped(values, path):
        np.save(path, values)
        return np.load(path.with_suffix(".npy"), mmap_mode="r")

    def parquet(values, path):
        table = pd.DataFrame(values.reshape(len(values), -1)).rename(columns=str)
        table.to_parquet(path, row_group_size=40)
        return echofold.ParquetColumns(path, list(table) if values.ndim > 1 else "0")

    def stored(job, store):
        def on_disk(d):
            with tempfile.TemporaryDirectory() as folder, little_memory():
                far = {
                    k: store(getattr(d, k), Path(folder) / k)
                    for k in ("X", "T", "t", "y", "two", "growing")
                }
                return job(SimpleNamespace(**{**vars(d), **far}))

        return on_disk

    jobs = {}
    for memory, scheme in product(
        (None, "pieces", "fold", "frugal"), ("k-fold", "accumulative", "walk")
    ):
        for task in ("forecast", "regress"):
            make, _, two = TASKS[task]
            options = {"cv": SCHEMES[scheme], "memory": memory, "metric": "rmse"}
            jobs[f"{task}, {memory}, {scheme}"] = search(
                make(), two, RIDGE, [("average",)], **options
            )
    jobs["known"] = search(
        F(log=True, difference=(1,)), "growing X", RIDGE, cv=WalkForward(3, valid=12)
    )
    jobs["fit"], jobs["regress"] = fit(F(season=12), "y"), fit(R(), "X t")
    for (kind, store), (name, job) in product(
        {
            "slices": lambda values, path: Slices(values),
            "memmap": mapped,
            "parquet": parquet,
        }.items(),
        jobs.items(),
    ):
        if kind == "slices" or ", " not in name or "None" in name:
            yield f"long: {kind}, {name}", stored(job, store)


def commands():
    """The command line, and the files that it writes."""
    few = "--units 8 --grid small --draws 1"
    for name, args in {
        "monthly": "forecast month.csv --horizon 12 --units 10 --origins 1",
        "levels": f"forecast month.csv --horizon 3 --level 0.5,0.9 --origins 1 {few}",
        "inputs": f"forecast inputs.csv --horizon 4 --column sales --input price --origins 1 {few}",
        "retrain": f"forecast month.csv --horizon 3 --final retrain --minimum 0 {few}",
        "short": "forecast short.csv --horizon 2",
        "panel": f"forecast panel.csv --horizon 3 --id shop --origins 1 {few}",
        "json": f"forecast month.csv --horizon 4 --json --origins 1 {few}",
        "validate": f"validate month.csv --test 10 {few}",
        "validate json": f"validate month.csv --scheme k-fold --json {few}",
        "schemes": "schemes --n 60 --k 4",
        "schemes json": "schemes --n 50 --valid 5 --step 9 --json",
        "help": "forecast --help",
        "no such file": "forecast gone.csv --horizon 4",
        "no horizon": "forecast month.csv",
    }.items():
        yield f"command: {name}", lambda d, args=args: command(d, args.split())


def command(d, args):
    """Run a command beside tables: what it says, and the text that it writes."""
    from echofold.cli import main

    dates = [f"{2012 + i // 12}-{1 + i % 12:02}-01" for i in range(84)]
    rows = [f"{date},{100 * value:.3f}" for date, value in zip(dates, d.growing, strict=False)]
    tables = {"month": ["month,sales", *rows], "short": ["month,sales", *rows[:7]]}
    tables["panel"] = ["shop,month,sales", *(f"{shop},{row}" for shop in "ab" for row in rows[:40])]
    bare = [*rows[:60], *(f"{date}," for date in dates[60:64])]
    tables["inputs"] = ["month,sales,price", *(f"{row},{i * i % 7}" for i, row in enumerate(bare))]
    with tempfile.TemporaryDirectory() as folder, chdir(folder), StringIO() as shown:
        for name, lines in tables.items():
            Path(f"{name}.csv").write_text("\n".join(lines) + "\n")
        with redirect_stdout(shown), redirect_stderr(shown), patch("sys.argv", ["echofold", *args]):
            try:
                main()
            except SystemExit as end:
                print("exit", end.code)
        written = sorted(Path(folder).rglob("*.csv")) + sorted(Path(folder).rglob("*.html"))
        texts = {path.relative_to(folder).as_posix(): path.read_text() for path in written}
        return [shown.getvalue(), {k: v for k, v in texts.items() if Path(k).stem not in tables}]


GROUPS = (
    searches, memories, measures, choices, kinds, series, classes, readouts, judges, models,
    dynamic, long_series, commands,
)  # fmt: skip


def table():
    """All jobs by name; some of them once more with the processor in an accelerator's place."""
    jobs = {}
    for group in GROUPS:
        for name, job in group():
            assert name not in jobs, name
            jobs[name] = job
    hard = re.compile(
        r"search: .*, auto$|metric: .*, |judge: .*, evaluate"
        r"|choice: \w+, (finals, ridge per (split|output), k-fold|draws|schemes|halving)$"
        r"|choice: prune, two draws$|kind: (deep|nvar|noise|swish|readout polynomial 2), forecast$"
        r"|series: (all|log|range|lags), (X|holes w), KFold$|series: gappy, {}$"
        r"|classes: S, (3|last), error_rate"
    )
    chosen = {name: job for name, job in jobs.items() if hard.match(name)}
    return jobs | {f"accelerated {name}": inside(accelerated, job) for name, job in chosen.items()}


# --- recording ----------------------------------------------------------------------------------

PASSING = (  # what differs from run to run
    (re.compile(r"/\S*?/tmp\w+|/tmp/\w+"), "FOLDER"),
    (re.compile(r"0x[0-9a-f]+"), "ADDRESS"),
    (re.compile(r"\b[\d.,]+ ?(s|ms|seconds?|minutes?)\b"), "TIME"),
    (re.compile(r'"seconds": [\d.e+-]+'), '"seconds": TIME'),
    (re.compile(r"(Seconds</th><td>)[\d.,]+"), r"\1TIME"),
    (re.compile(r", about TIME left"), ""),
    (re.compile(re.escape(echofold.__version__)), "VERSION"),
    (re.compile(time.strftime("%Y-%m-%d|%-d %B %Y")), "TODAY"),
)


def plain(text: str) -> str:
    for pattern, word in PASSING:
        text = pattern.sub(word, text)
    return text


def attempt(work):
    """What ``work()`` gives, or the error that it raises in words."""
    try:
        return work()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def flat(value, name=""):
    """Numbers and texts of results of any kind, as ``(name, array or text)``."""
    if hasattr(value, "to_frame") and not isinstance(value, pd.Series | pd.Index | xr.DataArray):
        value = value._asdict() if hasattr(value, "_asdict") else vars(value)
    if isinstance(value, xr.Dataset):
        value = {"": dict(value.data_vars), "at ": dict(value.coords), "attrs ": value.attrs}
    elif isinstance(value, xr.DataArray | pd.Index):
        value = value.values
    elif isinstance(value, pd.DataFrame | pd.Series):
        columns = dict(value.items()) if isinstance(value, pd.DataFrame) else {"": value}
        value = {"index": value.index, **{str(k): v.values for k, v in columns.items()}}
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = vars(value)
    if isinstance(value, dict):
        for key, one in value.items():
            if key != "seconds" and not str(key).endswith("_time"):
                yield from flat(one, f"{name}.{key}")
    elif isinstance(value, list | tuple):
        for place, one in enumerate(value):
            yield from flat(one, f"{name}.{place}")
    elif hasattr(value, "toarray"):
        yield from flat(value.toarray(), name)
    elif (array := np.asarray(value)).dtype.kind in "biufc":
        yield name, array
    else:
        yield name, plain(str(value) if array.ndim == 0 else str(array.tolist()))


def run(job, d):
    """What a job gives and warns of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = dict(flat(attempt(lambda: job(d))))
    ours = [str(one.message) for one in said if one.category.__name__ == "EchofoldWarning"]
    return found | dict(flat(ours, "warning"))


def apart(a, b):
    """Sizes of the differences of two arrays: 0 where both are the same, also infinite or NaN."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    with np.errstate(invalid="ignore"):
        size = np.abs(a - b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.where(same, 0.0, np.where(np.isnan(size), np.inf, size))


def record(path: Path, only: str) -> None:
    """Run all jobs whose names hold ``only``, and store what they give."""
    jobs = {name: job for name, job in table().items() if only in name}
    exact, nudged = data(False), data(True)
    results, seconds, numbers = {}, Counter(), 0
    with threadpool_limits(1):
        for name, job in jobs.items():
            began, results[name] = time.process_time(), {}
            found, moved = run(job, exact), run(job, nudged)
            for key, value in found.items():
                if isinstance(value, str):
                    results[name][key] = value
                    continue
                other = moved.get(key)
                comparable = (
                    isinstance(other, np.ndarray) and other.shape == value.shape and value.size
                )
                bits = base64.b64encode(value.tobytes()).decode()
                move = float(apart(value, other).max()) if comparable else 0.0
                results[name][key] = [value.dtype.str, value.shape, bits, move]
                numbers += value.size
            seconds[name.partition(":")[0]] += time.process_time() - began
    path.write_bytes(gzip.compress(json.dumps(results).encode(), 4, mtime=0))
    failed = sum("Error" in str(one.get("", ""))[:40] for one in results.values())
    for group, spent in seconds.items():
        count = sum(name.startswith(f"{group}:") for name in results)
        print(f"{group:<22}{count:>5} jobs {spent:>7.1f} s of CPU")
    print(
        f"{len(results)} jobs ({failed} are errors), {numbers} numbers, "
        f"{time.process_time():.0f} s of CPU"
    )


# --- comparing ----------------------------------------------------------------------------------


def difference(a, b) -> tuple[float, str] | None:
    """How far two entries are apart, and in words; None if they are equal to the bit."""
    if a is None or b is None:
        return np.inf, "only in the " + ("second" if a is None else "first")
    if isinstance(a, str) or isinstance(b, str):
        if a == b:
            return None
        if isinstance(a, str) and isinstance(b, str):
            lines = zip_longest(a.splitlines(), b.splitlines(), fillvalue="")
            a, b = next(pair for pair in lines if pair[0] != pair[1])
        return np.inf, f"{str(a)[:150]!r} is now {str(b)[:150]!r}"
    if a[:2] != b[:2]:
        return np.inf, f"{a[0]} of shape {a[1]} is now {b[0]} of shape {b[1]}"
    if a[2] == b[2]:
        return None
    one, other = (np.frombuffer(base64.b64decode(entry[2]), entry[0]) for entry in (a, b))
    sizes = apart(one, other)
    place, largest = int(sizes.argmax()), float(np.abs(one[np.isfinite(one)]).max(initial=0))
    rounding = max(a[3], b[3], ROUNDING * largest)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.nanmax(sizes / np.abs(one))
        roundings = np.divide(sizes[place], rounding)
    words = f"{sizes[place]:.2g}, relative {relative:.2g}, {roundings:.2g} roundings of the data"
    return float(roundings), f"{(sizes > 0).sum()} of {one.size} numbers, by up to {words}"


def compare(before: Path, after: Path, only: str) -> int:
    """Print the jobs that differ; 1 if there are any."""
    files = [json.loads(gzip.decompress(path.read_bytes())) for path in (before, after)]
    files = [{name: job for name, job in file.items() if only in name} for file in files]
    wrong = 0
    for name in dict.fromkeys([*files[0], *files[1]]):
        jobs = [file.get(name) for file in files]
        if None in jobs:
            print(f"{name}: only in {after if jobs[0] is None else before}")
            wrong += 1
            continue
        keys = dict.fromkeys([*jobs[0], *jobs[1]])
        found = {key: difference(*(job.get(key) for job in jobs)) for key in keys}
        found = {key: one for key, one in found.items() if one}
        if found:
            worst = max(found, key=lambda key: found[key][0])
            print(
                f"{name}: {len(found)} of {len(keys)} entries; largest in {worst or 'all'}: "
                f"{found[worst][1]}"
            )
            wrong += 1
    print(f"{wrong} of {len(files[0] | files[1])} jobs differ")
    return int(wrong > 0)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--only", default="", help="only jobs whose names hold this")
    options = parser.parse_args()
    if len(options.files) != (1 if options.action == "record" else 2):
        parser.error("record takes one file, and compare two")
    if options.action == "compare":
        return compare(*options.files, options.only)
    print(f"echofold of {Path(echofold.__file__).parent}", flush=True)
    record(*options.files, options.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
