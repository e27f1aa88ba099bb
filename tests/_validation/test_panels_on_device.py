"""Several series in one network, validated by a device as by the host."""

import numpy as np
import pytest
from devices import on_both

from echofold import (
    Accumulative,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    LeaveSeriesOut,
    WalkForward,
    cross_validate,
)

PATH = [1e-8, 1e-4, 1e-1]
LENGTHS = (60, 95, 41, 80)


def panel(outputs=1):
    rng = np.random.default_rng(5)
    found = {}
    for place, length in enumerate(LENGTHS):
        t = np.arange(length)[:, None] + 3 * place + np.arange(outputs)
        y = np.sin(t / 4) * (1 + place) + 0.1 * rng.normal(size=(length, outputs)) + 5
        found[f"s{place}"] = y[:, 0] if outputs == 1 else y
    return found


@pytest.mark.parametrize(
    ("cv", "form", "metric", "outputs"),
    [
        (KFold(4), {"log": True, "difference": 1}, "mase", 1),
        (Accumulative(3, valid=8), {"washout": 7, "penalize_bias": True}, ["nrmse", "mae"], 2),
        (WalkForward(3, valid=8), {"difference": 1}, ["nrmse", "mae"], 1),
        (LeaveSeriesOut(2), {}, "mase", 2),
    ],
    ids=repr,
)
def test_forecasts(accelerated, cv, form, metric, outputs):
    def work():
        network = ESNForecaster(15, random_state=0, device="cpu", **form)
        return cross_validate(network, panel(outputs), cv=cv, ridge=PATH, metric=metric)

    host, device = on_both(accelerated, work)
    assert device.attrs != host.attrs
    for name in [one for one in host.data_vars if one != "condition"]:
        np.testing.assert_allclose(device[name], host[name], rtol=1e-7)


def test_regression(accelerated):
    rng = np.random.default_rng(2)
    X = [rng.normal(size=(length, 2)) for length in LENGTHS]
    y = [np.cumsum(one[:, 0]) - one[:, 1] for one in X]

    def work():
        network = ESNRegressor(12, random_state=0, device="cpu")
        return cross_validate(network, X, y, cv=KFold(5), ridge=PATH, metric=["nrmse", "mae"])

    host, device = on_both(accelerated, work)
    for name in ("nrmse", "mae"):
        np.testing.assert_allclose(device[name], host[name], rtol=1e-7)


@pytest.mark.parametrize("options", [{"prune": True}, {"n_draws": 2}], ids=repr)
def test_searches(accelerated, options):
    known = {name: np.arange(len(y))[:, None] % 7 for name, y in panel().items()}

    def work():
        network = ESNForecaster(12, random_state=0, device="cpu")
        space = {"leak_rate": [0.3, 0.6, 1.0], "ridge": PATH}
        search = ESNSearchCV(network, space, cv=KFold(4), progress=False, **options)
        return search.fit(panel(), known)

    host, device = on_both(accelerated, work)
    assert device.best_params_ == host.best_params_
    assert device.best_score_ == pytest.approx(host.best_score_, rel=1e-8)
    ahead = {name: np.zeros((5, 1)) for name in known}
    for name, own in host.forecast(5, ahead).items():
        np.testing.assert_allclose(device.forecast(5, ahead)[name], own, rtol=1e-6)
