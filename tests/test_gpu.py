"""The same numbers on an accelerator: ``pytest -m gpu`` on a machine that has one."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import kinds
import numpy as np
import pytest
from devices import equal_the_definition, only_one_fold, rank_in_doubt

from echofold import (
    Accumulative,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    Recycle,
    backtest,
    cross_validate,
)
from echofold.metrics import horizon

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(jax.default_backend() == "cpu", reason="JAX sees no accelerator"),
]

RNG = np.random.RandomState(0)
SERIES = np.sin(np.arange(600) / 5) + 0.1 * RNG.randn(600)


def hidden(u, x):
    """What the state cannot be told from."""
    return jnp.concatenate([u, x[::2] ** 2])


def on(device, estimator):
    return estimator.set_params(device=device, random_state=0)


@pytest.mark.parametrize("connectivity", [1.0, 0.1])
def test_forecasts_agree(connectivity):
    y = np.column_stack([SERIES, np.roll(SERIES, 3)])
    found = [
        on(device, ESNForecaster(100, connectivity=connectivity)).fit(y).forecast(50)
        for device in ("cpu", "gpu")
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-8)


@pytest.mark.parametrize("cv", [KFold(10), Accumulative(5, valid=20)])
def test_cross_validation_agrees(cv):
    found = [
        cross_validate(on(device, ESNForecaster(60)), SERIES, cv=cv, ridge=[1e-6, 1e-2, 1.0])
        for device in ("cpu", "gpu")
    ]
    np.testing.assert_allclose(found[0].nrmse, found[1].nrmse, rtol=1e-7)


def test_regression_and_classification_agree():
    X, sequences = SERIES[:, None], RNG.rand(40, 30)
    labels = np.repeat(["a", "b"], 20)
    one = [on(d, ESNRegressor(50)).fit(X, np.roll(SERIES, 1)).predict(X) for d in ("cpu", "gpu")]
    two = [
        on(d, ESNClassifier(50)).fit(sequences, labels).decision_function(sequences)
        for d in ("cpu", "gpu")
    ]
    np.testing.assert_allclose(one[0], one[1], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(two[0], two[1], rtol=1e-8, atol=1e-8)


def test_classifiers_by_a_bank_agree():
    sequences = [RNG.rand(n, 2) for n in range(10, 50)]
    labels = np.repeat(["a", "b"], 20)
    models = [on(d, ESNClassifier()).fit(sequences, labels) for d in ("cpu", "gpu")]
    assert models[0].ridge_ == models[1].ridge_
    one = [model.decision_function(sequences) for model in models]
    np.testing.assert_allclose(one[0], one[1], rtol=1e-7, atol=1e-7)
    found = [
        ESNSearchCV(on(d, ESNClassifier()), n_draws=2, progress=False).fit(sequences, labels)
        for d in ("cpu", "gpu")
    ]
    assert found[1].best_params_ == found[0].best_params_
    np.testing.assert_allclose(found[1].results_.nrmse, found[0].results_.nrmse, rtol=1e-6)


@pytest.mark.parametrize("prune", [False, True])
def test_searches_agree(prune):
    space = {"leak_rate": [0.2, 0.6, 1.0], "spectral_radius": [0.3, 0.9], "ridge": [1e-6, 1e-2]}
    found = [
        ESNSearchCV(on(device, ESNForecaster(50)), space, cv=KFold(6), prune=prune).fit(SERIES)
        for device in ("cpu", "gpu", "auto")
    ]
    for other in found[1:]:
        assert other.best_params_ == found[0].best_params_
        assert other.best_score_ == pytest.approx(found[0].best_score_, rel=1e-7)


def test_single_precision_has_all_of_its_bits():
    """Products of cards keep 10 bits of 32-bit numbers unless they are told otherwise."""
    models = [
        on("gpu", ESNForecaster(200, precision=name)).fit(SERIES) for name in ("double", "single")
    ]
    off = np.abs(models[0].state_ - models[1].state_).max()
    assert 0 < off < 1e-5
    space = {"leak_rate": [0.2, 0.6, 1.0], "spectral_radius": [0.3, 0.9], "ridge": [1e-6, 1e-2]}
    found = [
        ESNSearchCV(on("gpu", ESNForecaster(50, precision=name)), space, cv=KFold(6)).fit(SERIES)
        for name in ("double", "single")
    ]
    assert found[1].best_params_ == found[0].best_params_
    assert found[1].best_score_ == pytest.approx(found[0].best_score_, rel=1e-4)
    assert found[1].best_score_ != found[0].best_score_


def test_several_series_agree():
    panel = {name: SERIES[: 200 + 30 * name] * (1 + name) for name in range(5)}
    space = {"leak_rate": [0.2, 0.6], "difference": [(), (1,)], "ridge": [1e-6, 1e-2]}
    found = [
        ESNSearchCV(on(device, ESNForecaster(50)), space, cv=KFold(4)).fit(panel)
        for device in ("cpu", "gpu")
    ]
    assert found[1].best_params_ == found[0].best_params_
    assert found[1].best_score_ == pytest.approx(found[0].best_score_, rel=1e-7)
    for name, ahead in found[0].forecast(20).items():
        np.testing.assert_allclose(found[1].forecast(20)[name], ahead, rtol=1e-6)


@pytest.mark.parametrize("variant", [(1, False, False, False), (2, False, True, True)])
def test_the_algebra_equals_the_definition(variant):
    equal_the_definition("gpu", "k-step, no gap", *variant)


def test_a_rank_in_doubt():
    rank_in_doubt("gpu", False)


@pytest.mark.parametrize("leaving", [False, True])
def test_what_only_one_fold_has(leaving):
    only_one_fold("gpu", leaving, False)


@pytest.mark.parametrize("name", kinds.SEARCHED)
def test_every_kind_agrees(name):
    kind, values = kinds.SEARCHED[name]
    space = {f"reservoir__{key}": value for key, value in values.items()} | {"ridge": [1e-6, 1e-2]}
    found = [
        ESNSearchCV(on(device, ESNForecaster(reservoir=kind)), space, cv=KFold(4)).fit(SERIES[:200])
        for device in ("cpu", "gpu")
    ]
    np.testing.assert_allclose(found[1].results_.nrmse, found[0].results_.nrmse, rtol=1e-6)
    np.testing.assert_allclose(found[1].forecast(9), found[0].forecast(9), rtol=1e-6)


def by_jax(y):
    return jnp.sin(2 * y)


def by_numpy(y):
    return np.sin(2 * y)


@pytest.mark.parametrize("model", [by_jax, by_numpy])
def test_a_network_beside_a_model_agrees(model):
    space = {"model": [None, model], "leak_rate": [0.5, 1.0], "ridge": [1e-6, 1e-2]}
    found = [
        ESNSearchCV(on(device, ESNForecaster(12)), space, cv=KFold(4), n_draws=2).fit(SERIES[:200])
        for device in ("cpu", "gpu")
    ]
    np.testing.assert_allclose(found[1].results_.nrmse, found[0].results_.nrmse, rtol=1e-6)
    np.testing.assert_allclose(found[1].forecast(9), found[0].forecast(9), rtol=1e-6)


def test_outputs_that_come_back_agree():
    u, y = SERIES[:200, None], np.roll(np.abs(SERIES[:200]), 3)
    space = {"feedback": [False, True], "feedback_noise": [0.0, 0.1], "ridge": [1e-6, 1e-2]}
    found = [
        ESNSearchCV(on(device, ESNRegressor(12)), space, cv=KFold(4)).fit(u, y)
        for device in ("cpu", "gpu")
    ]
    np.testing.assert_allclose(found[1].results_.nrmse, found[0].results_.nrmse, rtol=1e-6)
    np.testing.assert_allclose(found[1].predict(u), found[0].predict(u), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("readout", ["states", "inputs+states+squares", "polynomial 2", hidden])
def test_every_readout_agrees(readout):
    found = [
        ESNSearchCV(
            on(device, ESNForecaster(12, readout=readout)), {"ridge": [1e-6, 1e-2]}, cv=KFold(4)
        ).fit(SERIES[:200])
        for device in ("cpu", "gpu")
    ]
    np.testing.assert_allclose(found[1].results_.nrmse, found[0].results_.nrmse, rtol=1e-6)


@pytest.mark.parametrize("cv", [KFold(4), Recycle(5, valid=40)])
@pytest.mark.parametrize("prune", [False, True])
def test_horizons_agree(cv, prune):
    space = {"leak_rate": [0.2, 0.6, 1.0], "ridge": [1e-6, 1e-2]}
    found = [
        ESNSearchCV(
            on(device, ESNForecaster(50)), space, cv=cv, prune=prune, metric=horizon(0.3)
        ).fit(SERIES)
        for device in ("cpu", "gpu")
    ]
    assert found[1].best_params_ == found[0].best_params_
    assert found[1].best_score_ == found[0].best_score_


def test_backtests_agree():
    model = on("cpu", ESNForecaster(50)).fit(SERIES[:400])
    for options in ({}, {"washout": 50}, {"refit": True}):
        found = []
        for device in ("cpu", "gpu"):
            model.device = device
            found.append(backtest(model, SERIES, 20, 30, **options))
        np.testing.assert_allclose(found[1].forecast, found[0].forecast, rtol=1e-6, atol=1e-8)


HELD = """
import sys
import jax
jax.numpy.zeros(9).block_until_ready()
print("held", flush=True)
sys.stdin.read()
"""
SEARCHED = """
import sys, warnings
import numpy as np
from echofold import ESNForecaster, ESNSearchCV, KFold
warnings.simplefilter("always")
y = np.sin(np.arange(3000) / 5) + 0.1 * np.random.default_rng(0).normal(size=3000)
space = {"leak_rate": np.linspace(0.1, 1, 40).tolist(), "ridge": np.logspace(-8, 0, 6).tolist()}
model = ESNForecaster(300, random_state=0, device=sys.argv[1])
found = ESNSearchCV(model, space, cv=KFold(5, valid=50), progress=False).fit(y)
print(repr(found.best_score_), found.best_index_)
"""


@pytest.mark.parametrize("share", [0.98, 0.9])
def test_a_card_whose_memory_another_process_holds(share):
    """Nearly all of it: the processor steps in, or an error says so. A part: batches shrink."""
    env = {k: v for k, v in os.environ.items() if k != "XLA_PYTHON_CLIENT_PREALLOCATE"}
    holder = subprocess.Popen(
        [sys.executable, "-c", HELD], text=True,
        env={**env, "XLA_PYTHON_CLIENT_MEM_FRACTION": str(share)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert holder.stdout.readline() == "held\n"
        found = {
            device: subprocess.run(
                [sys.executable, "-c", SEARCHED, device], capture_output=True, text=True, env=env
            )
            for device in ("cpu", "auto", "gpu")
        }
    finally:
        holder.communicate("")
    score, best = found["cpu"].stdout.split()
    assert found["auto"].returncode == 0, found["auto"].stderr
    outputs = [found["auto"].stdout]
    if found["gpu"].returncode:
        assert "its memory is full" in found["gpu"].stderr, found["gpu"].stderr
        assert "processor" in found["auto"].stderr
        assert share > 0.9
    else:
        outputs.append(found["gpu"].stdout)
    for output in outputs:
        assert output.split()[1] == best
        assert float(output.split()[0]) == pytest.approx(float(score), rel=1e-7)
