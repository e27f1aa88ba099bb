"""Forecasts of several steps at once: against a loop over rows, and one readout for each step."""

import numpy as np
import pandas as pd
import pytest
from devices import on_both

from echofold import (
    Accumulative,
    ESNForecaster,
    ESNSearchCV,
    KFold,
    backtest,
    cross_validate,
    load,
    save,
)

RNG = np.random.default_rng(3)
SERIES = np.sin(np.arange(160) / 4) + 0.1 * RNG.normal(size=160)
PAIR = np.column_stack([SERIES, np.cos(np.arange(160) / 5)])
SETTINGS = {"units": 12, "random_state": 0, "scale": None, "washout": 10, "ridge": 1e-3}


def states(model, y):
    """Rows ``[1, y, x]`` after each value of a series, by a loop over time."""
    x, rows = np.zeros(len(model.state_)), []
    for u in y.reshape(len(y), -1):
        x = np.tanh(model.W_in_ @ [1.0, *u] + model.W_ @ x)
        rows.append(np.concatenate([[1.0], u, x]))
    return np.array(rows)


def learned(rows, y, steps, ridge, train):
    """A readout for each step, from the pairs that are ``train`` and have such targets."""
    y = y.reshape(len(y), -1)
    penalty = ridge * np.eye(rows.shape[1])
    penalty[0, 0] = 0
    readouts = []
    at = [t for t in train if all(t + step in train for step in range(steps))]
    for step in range(steps):
        A, b = rows[at], y[np.array(at) + 1 + step]
        readouts.append(np.linalg.solve(A.T @ A + penalty, A.T @ b))
    return readouts


def ahead(model, readouts, y, horizon):
    """Forecasts from the end of ``y``, of which each plan is fed back before the next is made."""
    y = y.reshape(len(y), -1)
    found = y
    while len(found) < len(y) + horizon:
        last = states(model, found)[-1]
        found = np.concatenate([found, [last @ W for W in readouts]])
    return found[len(y) : len(y) + horizon]


@pytest.mark.parametrize("y", [SERIES, PAIR], ids=["one", "two"])
def test_a_fit_equals_a_readout_for_each_step(y):
    model = ESNForecaster(**SETTINGS, steps=4).fit(y)
    rows = states(model, y)
    expected = learned(rows, y, 4, 1e-3, set(range(10, len(y) - 1)))
    assert np.allclose(model.readout_, np.hstack(expected), atol=1e-9)
    for horizon in (1, 3, 4, 5, 11):
        forecast = ahead(model, expected, y, horizon)
        assert np.allclose(np.reshape(model.forecast(horizon), (horizon, -1)), forecast, atol=1e-8)


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("scheme", ["SV", "CV", "AV, gaps", "FV"])
def test_validation_equals_a_loop_over_splits(scheme, outputs):
    y = SERIES if outputs == 1 else PAIR
    cv = {
        "SV": KFold(3, valid=20), "CV": KFold(5), "AV, gaps": Accumulative(3, valid=9, gap=2),
        "FV": Accumulative(4, valid=10, min_train=60),
    }[scheme]  # fmt: skip
    model = ESNForecaster(**SETTINGS, steps=4)
    found = cross_validate(model, y, cv=cv, ridge=[1e-3, 1.0], metric="mse").mse.values
    fitted = model.fit(y)
    rows = states(fitted, y)
    for split, one in enumerate(cv.splits(len(y) - 1 - 10)):
        train = {10 + t for a, b in one.train for t in range(a, b)}
        first, end = 10 + one.valid[0], 10 + one.valid[1]
        for place, ridge in enumerate([1e-3, 1.0]):
            readouts = learned(rows, y, 4, ridge, train)
            forecast = ahead(fitted, readouts, y[: first + 1], end - first)
            truth = y[first + 1 : end + 1].reshape(end - first, -1)
            assert found[split, place] == pytest.approx(((forecast - truth) ** 2).mean(), rel=1e-7)


@pytest.mark.parametrize("algorithm", ["small_k", "large_k"])
@pytest.mark.parametrize("cv", [KFold(6), Accumulative(6, valid=12)], ids=str)
def test_algorithms_agree(algorithm, cv):
    model = ESNForecaster(**SETTINGS | {"difference": 5, "log": True}, steps=6)
    y = np.exp(SERIES)
    one, other = (
        cross_validate(model, y, cv=cv, ridge=[1e-6, 1e-2], algorithm=name).nrmse.values
        for name in ("naive", algorithm)
    )
    assert np.allclose(one, other, rtol=1e-8)


def test_differences_are_summed_up():
    y = 10 + np.cumsum(SERIES)
    own = ESNForecaster(**SETTINGS | {"washout": 11}, steps=5, difference=1).fit(y)
    inner = ESNForecaster(**SETTINGS, steps=5).fit(np.diff(y))
    assert np.allclose(own.forecast(12), y[-1] + np.cumsum(inner.forecast(12)), atol=1e-8)


def test_one_step_is_the_closed_loop():
    one = ESNForecaster(**SETTINGS, steps=1).fit(SERIES)
    other = ESNForecaster(**SETTINGS).fit(SERIES)
    assert np.array_equal(one.forecast(20), other.forecast(20))


def test_direct_is_a_season_at_once():
    def at_once(**given):
        return ESNForecaster(**SETTINGS | given, steps="direct").fit(SERIES)._steps_at_once

    assert at_once() == 12
    assert at_once(season=7) == at_once(difference=(1, 7)) == 7
    assert at_once(season=120) == 37  # a quarter of the rows


def test_a_row_learns_from_whole_targets_alone():
    y = SERIES.copy()
    y[[50, 90]] = np.nan
    with pytest.warns(UserWarning, match="missing"):
        model = ESNForecaster(**SETTINGS, steps=4).fit(y)
    filled = np.where(np.isnan(y), np.roll(y, 1), y)
    rows = states(model, filled)
    train = set(range(10, len(y) - 1)) - {49, 89}
    expected = learned(rows, filled, 4, 1e-3, train)
    assert np.allclose(model.readout_, np.hstack(expected), atol=1e-9)


@pytest.mark.parametrize("prune", [False, True])
def test_a_search_chooses_how_many_steps(prune):
    space = {"steps": ["closed", 4, "direct"], "ridge": [1e-6, 1e-2]}
    cv = Accumulative(4, valid=13)
    model = ESNForecaster(**SETTINGS)
    found = ESNSearchCV(model, space, cv=cv, prune=prune, progress=False).fit(SERIES)
    for at, steps in enumerate(found.results_.steps.values):
        steps = int(steps) if str(steps).isdigit() else str(steps)
        one = model.set_params(steps=steps)
        alone = cross_validate(one, SERIES, cv=cv, ridge=[1e-6, 1e-2]).nrmse.values
        score = found.results_.nrmse.values[0, at]
        ran = np.isfinite(score)
        assert ran.any()
        assert np.allclose(score[ran], alone[ran], rtol=1e-9)
    assert found.best_params_["steps"] in ("closed", 4, "direct")
    assert np.isfinite(found.forecast(13)).all()


@pytest.mark.parametrize("final", ["average", "best", "weighted", "ensemble"])
def test_final_models_forecast_several_steps(final):
    space = {"steps": [4], "leak_rate": [0.5, 1.0]}
    found = ESNSearchCV(ESNForecaster(**SETTINGS), space, cv=3, final=final, progress=False)
    lower = found.fit(SERIES).forecast(9, level=0.9).lower[0.9]
    assert lower.shape == (9,)


@pytest.mark.parametrize("prune", [False, True])
def test_an_accelerator_agrees(accelerated, prune):
    space = {"steps": [4], "leak_rate": [0.4, 1.0], "ridge": [1e-4, 1e-2]}
    how = {"cv": Accumulative(3, valid=10), "n_draws": 2, "prune": prune, "progress": False}

    def search():
        return ESNSearchCV(ESNForecaster(**SETTINGS), space, **how).fit(SERIES).results_

    host, device = (found.nrmse.values for found in on_both(accelerated, search))
    assert np.allclose(host, device, rtol=1e-8)


def test_backtests_refit_as_a_fit_does():
    model = ESNForecaster(**SETTINGS, steps=4).fit(SERIES)
    found = backtest(model, SERIES, [80, 120], 6, refit=True, washout=10)
    for place, start in enumerate((80, 120)):
        alone = ESNForecaster(**SETTINGS, steps=4).fit(SERIES[:start]).forecast(6)
        assert np.allclose(found.forecast.values[place, :, 0], alone, atol=1e-8)


def test_update_and_files_go_on(tmp_path):
    model = ESNForecaster(**SETTINGS, steps=4).fit(PAIR)
    save(model, tmp_path / "model.echofold")
    again = load(tmp_path / "model.echofold")
    assert np.array_equal(again.forecast(7), model.forecast(7))
    rows, forecast = model.readout_.reshape(-1, 4, 2), model.update(PAIR[:5]).forecast(7)
    every = np.concatenate([PAIR, PAIR[:5]])
    expected = ahead(model, [rows[:, step] for step in range(4)], every, 7)
    assert np.allclose(forecast, expected, atol=1e-8)


def test_dates_go_on():
    index = pd.period_range("2020-01", periods=160, freq="M")
    model = ESNForecaster(**SETTINGS, steps="direct").fit(pd.Series(SERIES, index=index))
    assert model.forecast(14).index[-1] == index[-1] + 14


@pytest.mark.parametrize(
    ("given", "data", "words"),
    [
        ({"steps": "open"}, {}, "steps='open'.*'closed', 'direct' or a number"),
        ({"steps": 0}, {}, "steps=0"),
        ({"steps": True}, {}, "steps=True"),
        ({"steps": 3}, {"X": SERIES}, "steps=3 is not for X; use steps='closed'"),
        ({"steps": 149}, {}, "steps=149 needs rows that are followed by as many values"),
    ],
)
def test_what_cannot_be_is_refused(given, data, words):
    with pytest.raises(ValueError, match=words):
        ESNForecaster(**SETTINGS | given).fit(SERIES, **data)


def test_a_scheme_with_too_short_training_is_refused():
    cv = Accumulative(3, valid=10, min_train=5)
    with pytest.raises(ValueError, match="split 1 of 3 .* trains on at most 5 rows in a row"):
        cross_validate(ESNForecaster(**SETTINGS, steps=12), SERIES, cv=cv)
