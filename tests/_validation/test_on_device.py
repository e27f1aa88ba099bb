"""What an accelerator does from end to end gives the host's numbers, and the plain definition's.

The processor stands in for the accelerator here; ``pytest -m gpu`` does the same on a real one.
"""

import os
import subprocess
import sys
from itertools import cycle

import numpy as np
import pytest
from cases import INTERVALS, SCHEMES, WITH_GAPS, pairwise
from devices import equal_the_definition, on_both, only_one_fold, rank_in_doubt

from echofold import (
    Accumulative,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    Recycle,
    WalkForward,
    cross_validate,
)
from echofold._engine.states import network_groups
from echofold._folds.algorithms import naive
from echofold._folds.many_rows import ManyRows
from echofold._folds.splits import cut, resolve_cv
from echofold._machine import device
from echofold._machine.arrays import pad_rows
from echofold._machine.device import Work, choose_device, engine
from echofold._machine.notices import EchofoldWarning
from echofold._search import runner
from echofold._validation import plan, settings, validate

RNG = np.random.default_rng(0)
SERIES = np.sin(np.arange(260) / 5) + 0.1 * RNG.normal(size=260)
INPUTS = RNG.random((260, 2))
TARGETS = np.convolve(INPUTS[:, 0], [0.5, 0.3, 0.2])[:260]
PATH = [0, 1e-8, 1e-4, 1.0]


# Each case is compiled, so every scheme has one here, in which any two of gap before, gap after,
# outputs, penalised bias, weights and little memory meet. By `pytest -m slow` the scheme meets each
# of them as well, and every gap of every scheme is taken.
BOTH = (False, True)
GAPS = {BOTH: "gap after", BOTH[::-1]: "gap before", (False,) * 2: "no gap", (True,) * 2: "gaps"}
OTHERS = [scheme for scheme in SCHEMES if scheme not in WITH_GAPS]


def named(scheme, before, after, *variant):
    return f"{scheme}, {GAPS[before, after]}", *variant


def by_turns(schemes, cases):
    """Each scheme with the next of the cases, and each case with the next of the schemes."""
    turns = range(max(len(schemes), len(cases)))
    return [(one, *case) for _, one, case in zip(turns, cycle(schemes), cycle(cases), strict=False)]


TABLE = [named(*case) for case in by_turns(INTERVALS, pairwise(BOTH, BOTH, (1, 3), *[BOTH] * 3))]
TABLE += by_turns(OTHERS, pairwise((1, 3), *[BOTH] * 3))
EVERY = [named(*case) for case in pairwise(INTERVALS, BOTH, BOTH, (1, 3), *[BOTH] * 3)]
EVERY += pairwise(OTHERS, (1, 3), *[BOTH] * 3)
EVERY += [
    (scheme, *variant)
    for scheme in SCHEMES
    for variant in ((1, False, False, False), (3, True, True, True))
]
REST = [case for case in dict.fromkeys(EVERY) if case not in TABLE]


@pytest.mark.parametrize(
    ("scheme", "outputs", "penalised", "weighted", "little"),
    TABLE + [pytest.param(*case, marks=pytest.mark.slow) for case in REST],
)
def test_readouts_and_residuals_equal_the_definition(scheme, outputs, penalised, weighted, little):
    equal_the_definition("cpu", scheme, outputs, penalised, weighted, little)


@pytest.mark.parametrize("penalised", [False, True])
def test_a_rank_in_doubt(penalised):
    rank_in_doubt("cpu", penalised)


@pytest.mark.parametrize("penalised", [False, True])
@pytest.mark.parametrize("leaving", [False, True])
def test_what_only_one_fold_has(leaving, penalised):
    only_one_fold("cpu", leaving, penalised)


FEW_ROWS = pairwise([KFold(5), LeaveOneOut(), Recycle(3, valid=4)], (20, 26), BOTH)
FEWER_ROWS = [(KFold(5), 26, True), (LeaveOneOut(), 20, True), (Recycle(3, valid=4), 20, False)]


@pytest.mark.parametrize(
    ("cv", "n", "penalised"),
    [
        pytest.param(*case, marks=[] if case in FEWER_ROWS else pytest.mark.slow)
        for case in FEW_ROWS
    ],
    ids=repr,
)
def test_fewer_rows_than_columns(cv, n, penalised):
    """Random states, a constant among them, and states of zeros."""
    X, Y = RNG.normal(size=(n, 25)), RNG.normal(size=(n, 2))
    constant = np.hstack([np.full((n, 1), 3.0), X[:, 1:]])
    many, splits, ridge = [X, constant, 0 * X], resolve_cv(cv, n), np.array([0.0, 1e-6, 1.0])
    with engine("cpu"):
        padded = np.stack([pad_rows(one, n + 4) for one in many])
        rows = ManyRows(padded, Y, None, ridge, penalised, cut(n, [splits]), 2**30)
        found = [rows.solved(way, splits, True, False).W for way in ("small_k", "leave_out")]
    for one, states in enumerate(many):
        extended = np.hstack([np.ones((n, 1)), states])
        expected = extended @ naive(states, Y, None, splits.train, ridge, penalised)
        close = {"atol": 1e-10 * np.abs(expected).max(), "rtol": 0}
        for W in found:
            np.testing.assert_allclose(extended @ np.asarray(W[one]), expected, **close)


FORECAST = [
    KFold(4),
    KFold(4, valid=20, gap=3),
    Accumulative(4, valid=20),
    WalkForward(4, valid=20),
    LeaveOneOut(),
    Recycle(4, valid=20),
]


@pytest.mark.parametrize("cv", FORECAST, ids=repr)
def test_forecasts(accelerated, cv):
    host, device = forecasts_on_both(accelerated, cv)
    # Leaving rows out, the host counts a penalised bias in; here there is none.
    assert float(device.condition) == pytest.approx(float(host.condition), rel=1e-6)


@pytest.mark.parametrize(
    "cv", [KFold(4), *(pytest.param(cv, marks=pytest.mark.slow) for cv in FORECAST[1:])], ids=repr
)
def test_forecasts_of_differences_with_a_penalised_bias(accelerated, cv):
    forecasts_on_both(accelerated, cv, penalize_bias=True, difference=1)


def forecasts_on_both(accelerated, cv, **options):
    def work():
        network = ESNForecaster(20, random_state=0, device="cpu", **options)
        return cross_validate(network, SERIES, cv=cv, ridge=PATH, metric=["nrmse"])

    host, device = on_both(accelerated, work)
    np.testing.assert_allclose(device.nrmse, host.nrmse, rtol=1e-8)
    return host, device


def largest(y_true, y_pred):
    return np.abs(y_true - y_pred).max()


@pytest.mark.parametrize("metric", ["mae", ["nrmse", "mae"], [largest]])
def test_metrics_of_forecasts(accelerated, metric):
    def work():
        network = ESNForecaster(20, random_state=0, device="cpu", output_range=(-2, 2))
        return cross_validate(network, SERIES, cv=KFold(4), ridge=PATH, metric=metric)

    host, device = on_both(accelerated, work)
    for name in host.data_vars:
        np.testing.assert_allclose(device[name], host[name], rtol=1e-6)


@pytest.mark.parametrize(
    ("cv", "metric", "algorithm"),
    pairwise(
        [KFold(4), KFold(4, shuffle=True, random_state=0), LeaveOneOut(), Recycle(4, valid=20)],
        [["nrmse", "mae"], [largest]],
        ["small_k", "large_k"],
    ),
)
def test_regression(accelerated, cv, metric, algorithm):
    weights = RNG.random(260)
    y = np.column_stack([TARGETS, TARGETS**2])
    y[50:60] = np.nan

    def work():
        network = ESNRegressor(15, random_state=0, device="cpu", output_range=(0.1, 0.9))
        options = {"cv": cv, "ridge": PATH, "metric": metric, "readouts": True}
        options["algorithm"] = algorithm
        with pytest.warns(UserWarning, match="missing"):
            return cross_validate(network, INPUTS, y, sample_weight=weights, **options)

    host, device = on_both(accelerated, work)
    for name in host.data_vars:
        if name != "condition":
            np.testing.assert_allclose(device[name], host[name], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("states", ["last", "mean", 3])
def test_classification_with_several_draws(accelerated, states):
    rng = np.random.default_rng(3)
    sequences = [rng.random((rng.integers(5, 16), 2)) + 0.1 * (i % 3) for i in range(45)]

    def work():
        network = ESNClassifier(12, random_state=0, states=states, device="cpu")
        space = {"leak_rate": [0.3, 1.0], "ridge": PATH}
        options = {"cv": 4, "n_draws": 2, "metric": ["error_rate", "rmse"], "progress": False}
        return ESNSearchCV(network, space, **options).fit(sequences, np.arange(45) % 3)

    host, device = on_both(accelerated, work)
    np.testing.assert_array_equal(device.results_.error_rate, host.results_.error_rate)
    np.testing.assert_allclose(device.results_.rmse, host.results_.rmse, rtol=1e-9)


@pytest.mark.parametrize("states", ["last", "mean", 3])
def test_numbers_of_sequences_with_several_draws(accelerated, states):
    rng = np.random.default_rng(3)
    sequences = [rng.random((rng.integers(5, 16), 2)) + 0.1 * (i % 3) for i in range(45)]
    y = np.array([[one.mean(), one[-1, 0]] for one in sequences])
    y[7], weights = np.nan, rng.random(45)

    def work():
        network = ESNRegressor(12, random_state=0, states=states, output_range=(0.3, 1.0))
        space = {"leak_rate": [0.3, 1.0], "ridge": PATH}
        options = {"n_draws": 2, "metric": ["mae", "rmse"], "progress": False}
        with pytest.warns(UserWarning, match="missing"):
            return ESNSearchCV(network, space, **options).fit(sequences, y, sample_weight=weights)

    host, device = on_both(accelerated, work)
    np.testing.assert_allclose(device.results_.rmse, host.results_.rmse, rtol=1e-9)
    np.testing.assert_allclose(device.results_.mae, host.results_.mae, rtol=1e-9)


SPACE = {"leak_rate": [0.2, 0.6, 1.0], "spectral_radius": [0.3, 0.9, 1.4], "ridge": PATH}
FEWER = {"leak_rate": [0.2, 0.6, 1.0], "ridge": PATH}


@pytest.mark.parametrize(
    "options",
    [
        {"verify": True},
        {"prune": True},
        {"cv": {"CV": KFold(4), "RV": Recycle(4, valid=40), "AV": Accumulative(4, valid=40)}},
        {"strategy": "halving", "space": FEWER},
    ],
    ids=lambda options: next(iter(options)),
)
def test_searches(accelerated, options):
    def work():
        network = ESNForecaster(15, random_state=0, device="cpu")
        options_ = {"space": SPACE, "cv": KFold(4), "n_draws": 2, "progress": False, **options}
        return ESNSearchCV(network, **options_).fit(SERIES)

    host, device = on_both(accelerated, work)
    assert device.best_params_ == host.best_params_
    assert device.best_score_ == pytest.approx(host.best_score_, rel=1e-9)
    results = [one.results_ for one in (host, device)]
    if isinstance(results[0], dict):
        results = [one["AV"] for one in results]
    if "pruned" in results[0]:
        np.testing.assert_array_equal(results[1].pruned, results[0].pruned)
        assert results[1].attrs["column_steps"] == results[0].attrs["column_steps"]
    else:
        np.testing.assert_allclose(results[1].nrmse, results[0].nrmse, rtol=1e-7)


APART = [np.r_[30:50, 60:80], np.r_[120:125, 150:190, 200:201]]
APART = [(np.setdiff1d(np.arange(249), rows), rows) for rows in APART]


@pytest.mark.parametrize("options", [{}, {"metric": ["nrmse", "mae"]}, {"prune": True}])
def test_splits_of_several_forecasts(accelerated, options, monkeypatch):
    monkeypatch.setattr(settings, "check_one_run", lambda splits: None)

    def work():
        model = ESNForecaster(10, random_state=0, washout=10)
        space = {"leak_rate": [0.3, 1.0], "ridge": [1e-6, 1e-2]}
        return ESNSearchCV(model, space, cv=APART, n_draws=2, **options).fit(SERIES)

    host, there = on_both(accelerated, work)
    assert host.best_params_ == there.best_params_
    np.testing.assert_allclose(there.best_score_, host.best_score_, rtol=1e-9)
    np.testing.assert_allclose(there.forecast(5), host.forecast(5), rtol=1e-8)
    if "prune" in options:  # the winner's cost is that of a search without
        options.clear()
        assert work().best_score_ == pytest.approx(host.best_score_, rel=1e-12)


def test_draws_share_a_block_and_memory_cuts_it(accelerated, monkeypatch):
    """One call to the device for all draws; several where its memory is small."""
    accelerated(True)
    calls = []
    rows_of = validate.rows_of
    monkeypatch.setattr(
        validate, "rows_of", lambda r, *rest: calls.append(r.shape) or rows_of(r, *rest)
    )

    def scores():
        network = ESNForecaster(15, random_state=0, device="cpu")
        search = ESNSearchCV(
            network, SPACE, cv=KFold(4), n_draws=2, progress=False, final="average"
        )
        return search.fit(SERIES).results_.nrmse.values

    whole = scores()
    together = len(calls)
    calls.clear()
    monkeypatch.setattr(validate, "memory_of", lambda device: 2**21)
    parts = scores()
    assert len(calls) > together
    np.testing.assert_allclose(parts, whole, rtol=1e-9)


def full(words="RESOURCE_EXHAUSTED: Out of memory while trying to allocate"):
    """The error of a device that is full, as JAX gives it."""
    import jax

    return jax.errors.JaxRuntimeError(words)


def test_a_batch_that_does_not_fit_is_halved(accelerated, monkeypatch):
    """Nothing is lost: fewer networks at a time give the same scores."""
    accelerated(True)
    monkeypatch.setattr(device, "is_accelerator", lambda name: True)
    rows_of, tried = validate.rows_of, []

    def small(r, *rest):
        tried.append(r.shape[1])
        if room is not None and tried[-1] > room:
            raise full()
        return rows_of(r, *rest)

    monkeypatch.setattr(validate, "rows_of", small)

    def scores(where="cpu"):
        network = ESNForecaster(15, random_state=0, device=where)
        search = ESNSearchCV(network, SPACE, cv=KFold(4), progress=False, final="average")
        return search.fit(SERIES).results_.nrmse.values

    room = None
    whole = scores()
    tried.clear()
    room = 1
    np.testing.assert_allclose(scores(), whole, rtol=1e-9)
    assert len({size for size in tried if size > room}) > 1  # halved, and halved again
    room = 0
    with pytest.raises(device.DeviceFull, match="device='cpu': its memory is full.*nvidia-smi"):
        scores()
    monkeypatch.setattr(runner.Runner, "_device", lambda self, name, work: "cpu:0")
    monkeypatch.setattr(device, "is_accelerator", lambda name: name != "cpu")
    monkeypatch.setattr(plan, "is_accelerator", lambda name: name != "cpu")
    with pytest.warns(EchofoldWarning, match="memory is full.*done on the processor"):
        np.testing.assert_allclose(scores("auto"), whole, rtol=1e-7)


@pytest.mark.parametrize(
    "words", ["INTERNAL: gpusolverDnCreate(&handle) failed: internal error", "out of memory"]
)
def test_a_device_without_memory_is_left_alone(monkeypatch, words):
    monkeypatch.setattr(device, "is_accelerator", lambda name: True)
    with pytest.raises(device.DeviceFull), device.engine("cpu"):
        raise full(words)
    monkeypatch.setattr(device, "memory_of", lambda name: 2**40)
    with pytest.raises(Exception, match="something else"), device.engine("cpu"):
        raise full("INTERNAL: something else")
    monkeypatch.setattr(device, "is_accelerator", lambda name: True)
    monkeypatch.setattr(device, "is_usable", lambda name: False)
    with pytest.warns(EchofoldWarning, match="is full, so the work is done on the processor"):
        assert device.choose_device("auto", device.Work(10**9, 10**9, 10**3)) == "cpu"


@pytest.mark.parametrize("shape", [(1, 1), (1, 12), (3, 4), (5, 1), (4, 3)])
def test_groups_cover_every_network(shape):
    draws, candidates = shape
    for most in range(1, 14):
        seen = np.zeros(shape, dtype=int)
        sizes = set()
        for first, of_draws, of_candidates in network_groups(*shape, most):
            seen[of_draws, of_candidates] += 1
            size = seen[of_draws, of_candidates].size
            assert size <= most
            assert first == of_draws.start * candidates + of_candidates.start
            sizes.add(size)
        assert (seen > 0).all(), most
        assert len(sizes) == 1, most


def test_what_an_accelerator_is_worth():
    small, wide = Work(1000, 1, 50), Work(4000, 10_000, 50, algebra=100.0)
    assert small.on_processor < small.on_accelerator
    assert wide.on_accelerator < wide.on_processor / 100
    assert choose_device("auto", small) == "cpu"
    with pytest.raises(ValueError, match="device='tpu:9' is not available"):
        choose_device("tpu:9", small)


TWO = """
import numpy as np
from echofold import ESNForecaster, ESNSearchCV, KFold
from echofold._machine import device
from echofold._search import blocks, runner
from echofold._validation import plan, settings, validate

device.COMPILING = -1.0
for module in (device, runner, plan):
    module.is_accelerator = lambda name: True
used = set()
run = blocks.run_block
blocks.run_block = lambda block: used.add(block.device) or run(block)
y = np.sin(np.arange(200) / 5) + 0.1 * np.random.RandomState(0).randn(200)
space = {"leak_rate": [0.2, 0.5, 1.0], "spectral_radius": [0.3, 0.9], "ridge": [1e-6, 1.0]}
network = ESNForecaster(10, random_state=0, device="cpu")
found = ESNSearchCV(network, space, cv=KFold(4), n_draws=2, progress=False).fit(y)
print(sorted(used), *found.results_.nrmse.values.ravel().tolist())
"""


def test_candidates_are_shared_out_among_devices():
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"
    environment = {**os.environ, "XLA_FLAGS": flags}
    command = [sys.executable, "-W", "ignore", "-c", TWO]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.startswith("['cpu:0', 'cpu:1']")
    y = np.sin(np.arange(200) / 5) + 0.1 * np.random.RandomState(0).randn(200)
    space = {"leak_rate": [0.2, 0.5, 1.0], "spectral_radius": [0.3, 0.9], "ridge": [1e-6, 1.0]}
    network = ESNForecaster(10, random_state=0, device="cpu")
    host = ESNSearchCV(network, space, cv=KFold(4), n_draws=2, progress=False).fit(y)
    scores = np.array(told.stdout.split("]")[1].split(), dtype=float)
    np.testing.assert_allclose(scores, host.results_.nrmse.values.ravel(), rtol=1e-8)
