"""Backtests equal one forecast after the other, with and without refitting."""

import warnings
from contextlib import nullcontext as nothing
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
import reference
from sklearn.base import clone

from echofold import (
    AutoForecaster,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    backtest,
    load,
    save,
)
from echofold._machine.notices import EchofoldWarning
from echofold.long_format import LongFrame
from echofold.metrics import horizon, nrmse
from echofold.reservoirs import NVAR, Leaky

T = np.arange(260)
RNG = np.random.default_rng(3)
SERIES = 5 + np.sin(T / 4) + 0.3 * np.sin(T / 1.7) + 0.02 * RNG.normal(size=260)
PAIR = np.stack([SERIES, 3 * np.roll(SERIES, 2)], axis=1)
KNOWN = np.cos(T / 3)[:, None] + RNG.normal(size=(260, 2)) / 5
FITTED, HORIZON = 150, 12
STARTS = [201, 150, 151, 248, 180]  # in any order

FORMS = [
    {},
    {"difference": (1,)},
    {"log": True, "difference": (4,)},
    {"season": 25, "harmonics": 2},
    {"output_range": (3.6, 6.35)},
    {"readout": "states+squares"},
]


def plain(model, y, start, X=None):
    """One forecast: move on over the data before it, then run ahead."""
    moved = deepcopy(model)
    more = {} if X is None else {"X": X[FITTED:start]}
    if start > FITTED:
        moved.update(y[FITTED:start], **more)
    ahead = {} if X is None else {"X": X[start : start + HORIZON]}
    return moved.forecast(HORIZON, **ahead)


@pytest.mark.parametrize("options", FORMS, ids=str)
def test_without_refitting(options):
    model = ESNForecaster(15, random_state=1, **options).fit(SERIES[:FITTED])
    found = backtest(model, SERIES, STARTS, HORIZON, first=0)
    assert found.start.values.tolist() == STARTS
    for start, forecast in zip(STARTS, found.forecast.values, strict=True):
        np.testing.assert_allclose(forecast[:, 0], plain(model, SERIES, start), rtol=1e-9)
    truth = np.array([SERIES[start : start + HORIZON] for start in STARTS])
    np.testing.assert_array_equal(found.truth[..., 0], truth)
    np.testing.assert_allclose(found.error, np.abs(found.forecast[..., 0] - truth), rtol=1e-12)
    expected = [nrmse(a, b) for a, b in zip(truth, found.forecast.values[..., 0], strict=True)]
    np.testing.assert_allclose(found.nrmse, expected, rtol=1e-12)


def test_several_outputs_and_known_inputs():
    model = ESNForecaster(15, random_state=1).fit(PAIR[:FITTED], KNOWN[:FITTED])
    found = backtest(model, PAIR, STARTS, HORIZON, X=KNOWN)
    for start, forecast in zip(STARTS, found.forecast.values, strict=True):
        np.testing.assert_allclose(forecast, plain(model, PAIR, start, KNOWN), rtol=1e-9)


@pytest.mark.parametrize("washout", [0, 1, 30])
def test_each_start_has_its_own_washout(washout):
    model = ESNForecaster(15, leak_rate=0.4, random_state=1, scale=None).fit(PAIR[:FITTED])
    found = backtest(model, PAIR[100:], [50, 120, 99], HORIZON, washout=washout)
    for start, forecast in zip([150, 220, 199], found.forecast.values, strict=True):
        x = np.zeros(15)
        for n in range(start - 1 - washout, start):
            x = reference.update(model.W_in_, model.W_, model.leak_rate_, PAIR[n], x)
        y, expected = PAIR[start - 1], []
        for step in range(HORIZON):
            if step:
                x = reference.update(model.W_in_, model.W_, model.leak_rate_, y, x)
            y = np.concatenate([[1.0], y, x]) @ model.readout_
            expected.append(y)
        np.testing.assert_allclose(forecast, expected, rtol=1e-9)


@pytest.mark.parametrize("options", FORMS, ids=str)
@pytest.mark.parametrize("penalised", [False, True])
@pytest.mark.parametrize("starts", [[120, 248, 121, 122, 200, 120], [200, 130, 200]], ids=len)
def test_refitting_equals_fitting_anew(options, penalised, starts):
    options = options | {"scale": None, "penalize_bias": penalised, "ridge": 1e-4, "washout": 20}
    model = ESNForecaster(15, random_state=1, **options).fit(SERIES[:FITTED])
    found = backtest(model, SERIES, starts, HORIZON, refit=True, first=0)
    for start, forecast in zip(starts, found.forecast.values, strict=True):
        alone = ESNForecaster(15, random_state=1, **options).fit(SERIES[:start])
        np.testing.assert_allclose(forecast[:, 0], alone.forecast(HORIZON), rtol=1e-6)


def test_few_starts_are_refitted_by_adding_rows(monkeypatch):
    model = ESNForecaster(15, random_state=1, scale=None, washout=20).fit(SERIES[:FITTED])
    expected = backtest(model, SERIES, [150, 200], HORIZON, refit=True).forecast

    def fails(*given, **options):
        raise AssertionError("these are refitted otherwise")

    monkeypatch.setattr("echofold._search.backtest.readouts_by_ridge", fails)
    found = backtest(model, SERIES, [150, 200], HORIZON, refit=True).forecast
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(AssertionError, match="refitted otherwise"):
        backtest(model, SERIES, np.arange(150, 200), HORIZON, refit=True)


def test_refitting_from_every_row_adds_rows_one_by_one():
    model = ESNForecaster(15, random_state=1, scale=None, washout=20).fit(SERIES[:FITTED])
    found = backtest(model, SERIES, np.arange(60, 248), HORIZON, refit=True)
    for start in (60, 61, 150, 247):
        alone = ESNForecaster(15, random_state=1, scale=None, washout=20).fit(SERIES[:start])
        forecast = found.forecast.sel(start=start)[:, 0]
        np.testing.assert_allclose(forecast, alone.forecast(HORIZON), rtol=1e-6)


def test_missing_values_are_filled_and_not_scored():
    y = SERIES.copy()
    y[[205, 206, 230]] = np.nan
    model = ESNForecaster(15, random_state=1).fit(SERIES[:FITTED])
    found = backtest(model, y, [200, 229], HORIZON, metric=["mae", horizon(1e9)])
    assert np.isnan(found.error.values).sum() == 3
    assert np.isfinite(found.mae).all()
    whole = backtest(model, SERIES, [200], HORIZON)
    np.testing.assert_allclose(found.forecast[0], whole.forecast[0], rtol=1e-12)


def test_runs_that_diverge_score_worst_and_do_not_warn():
    y = 1e80 * SERIES  # finite values of the network overflow in these units
    model = ESNForecaster(reservoir=NVAR(2), ridge=1e-12, random_state=1, washout=2)
    model.fit(y[:FITTED])
    model.readout_ = 50 * model.readout_
    starts = np.arange(FITTED, 210)
    found = backtest(model, y, starts, 50, metric=["nrmse", "log_mse", horizon(0.1)])
    assert not np.isfinite(found.forecast).all("output").all("step").any()
    assert np.isinf(found.nrmse).all() and np.isinf(found.log_mse).all()
    assert (found.horizon <= 1).all()


def test_searches_ensembles_and_loaded_models(tmp_path):
    space = {"difference": [(), (1,)], "ridge": [1e-6, 1e-2]}
    search = ESNSearchCV(
        ESNForecaster(12, random_state=0), space, cv=KFold(4), final="ensemble"
    ).fit(SERIES[:FITTED])
    found = backtest(search, SERIES, [FITTED, 190], HORIZON)
    np.testing.assert_allclose(found.forecast[0, :, 0], search.forecast(HORIZON), rtol=1e-9)
    moved = deepcopy(search.best_estimator_).update(SERIES[FITTED:190]).forecast(HORIZON)
    np.testing.assert_allclose(found.forecast[1, :, 0], moved, rtol=1e-9)
    save(search.best_estimator_, tmp_path / "model.echofold")
    again = backtest(load(tmp_path / "model.echofold"), SERIES, [FITTED, 190], HORIZON)
    np.testing.assert_array_equal(again.forecast, found.forecast)


def test_dates_and_names_come_along():
    index = pd.date_range("2024-01-01", periods=260, freq="D")
    frame = pd.DataFrame(PAIR, index=index, columns=["a", "b"])
    model = ESNForecaster(15, random_state=1).fit(frame.iloc[:FITTED])
    found = backtest(model, frame, 5, HORIZON, metric=[horizon(0.3, step=0.5), "rmse"])
    assert found.output.values.tolist() == ["a", "b"]
    assert found.start.values[0] == 1 and found.start.values[-1] == 260 - HORIZON
    assert pd.Timestamp(found.time.values[-1]) == index[260 - HORIZON]
    assert found.attrs["metric"] == "horizon" and found.attrs["better"] == "higher"
    for start in range(5):
        forecast, truth = found.forecast.values[start], found.truth.values[start]
        unit = np.sqrt(PAIR.var(axis=0).mean())
        wrong = np.sqrt(((forecast - truth) ** 2).mean(axis=1)) / unit > 0.3
        expected = 0.5 * (wrong.argmax() if wrong.any() else HORIZON)
        assert float(found.horizon[start]) == expected


def test_wrong_arguments_are_named():
    model = ESNForecaster(9, random_state=0).fit(SERIES[:FITTED])
    seasonal = ESNForecaster(9, random_state=0, season=25).fit(SERIES[:FITTED])
    for arguments, options, error, message in [
        ((model, SERIES, [0], 5), {}, ValueError, "starts holds 0, .* rows 1 to 255"),
        ((model, SERIES, [256], 5), {}, ValueError, "starts holds 256"),
        ((model, SERIES, [30], 5), {"washout": 30}, ValueError, "rows 31 to 255"),
        ((model, SERIES, 300, 5), {}, ValueError, "starts=300: y has 255 rows"),
        ((model, SERIES, [1.5], 5), {}, TypeError, "expected rows of y as integers"),
        ((model, SERIES, 3, 0), {}, ValueError, "horizon=0"),
        ((model, SERIES, 3, 5), {"washout": -1}, ValueError, "washout=-1"),
        ((model, SERIES[:9], 3, 20), {}, ValueError, "y has 9 rows, too few"),
        ((model, PAIR, 3, 5), {}, ValueError, "y has"),
        ((model, SERIES, 3, 5), {"X": KNOWN}, ValueError, "X was given to backtest but not to fit"),
        ((seasonal, SERIES, 3, 5), {}, ValueError, "first=None, but the model has a season"),
        ((model, SERIES, 3, 5), {"metric": "nmse"}, ValueError, "did you mean"),
        ((ESNRegressor(), SERIES, 3, 5), {}, TypeError, "expected a fitted ESNForecaster"),
    ]:
        with pytest.raises(error, match=message):
            backtest(*arguments, **options)
    with pytest.raises(Exception, match="not fitted"):
        backtest(ESNForecaster(), SERIES, 3, 5)


def test_noise_is_in_what_is_learned_and_in_nothing_else():
    """Refitting learns from states with noise, as a fit does; every forecast begins without it."""
    model = ESNForecaster(reservoir=Leaky(15, noise=0.05), ridge=1e-4, random_state=0, scale=None)
    given = model.fit(SERIES - 5)
    again = backtest(given, SERIES - 5, STARTS, HORIZON, refit=True, washout=10)
    as_it_is = backtest(given, np.append(SERIES - 5, np.zeros(HORIZON)), [len(T)], HORIZON)
    np.testing.assert_allclose(as_it_is.forecast[0, :, 0], given.forecast(HORIZON), rtol=1e-9)
    assert given.state_.shape == (15,)
    for start, found in zip(STARTS, again.forecast.values[:, :, 0], strict=True):
        by_hand = clone(model).set_params(washout=10).fit(SERIES[:start] - 5)
        np.testing.assert_allclose(found, by_hand.forecast(HORIZON), rtol=1e-7)
        quiet = clone(by_hand).set_params(reservoir__noise=0.0).fit(SERIES[:start] - 5)
        np.testing.assert_allclose(by_hand.state_, quiet.state_, atol=1e-12)
        assert np.abs(by_hand.readout_ - quiet.readout_).max() > 1e-3


def test_missing_values_are_scored_as_in_a_validation():
    """Steps without a value count to a horizon, and rows that lack an output to no unit."""
    y = PAIR.copy()
    y[[205, 206], 0] = np.nan
    model = ESNForecaster(12, random_state=0, ridge=1e-4)
    with pytest.warns(EchofoldWarning):
        model.fit(y)
    found = backtest(model, y, [200], HORIZON, metric=[horizon(50.0), "mase"])
    assert float(found.horizon[0]) == HORIZON  # never lost
    steps = np.diff(np.where(np.isnan(y).any(axis=1)[:, None], np.nan, y), axis=0)
    there = ~np.isnan(y[200 : 200 + HORIZON]).any(axis=1)
    errors = np.abs(found.forecast.values[0] - y[200 : 200 + HORIZON])[there]
    assert float(found.mase[0]) == pytest.approx(errors.mean() / np.nanmean(np.abs(steps)))


def test_a_start_without_anything_to_train_on_is_refused():
    y = SERIES.copy()
    y[2:20] = np.nan
    model = ESNForecaster(10, random_state=0, washout=2).fit(SERIES)
    with pytest.raises(ValueError, match="y is missing.* for every training row of split 1"):
        backtest(model, y, [10], 3, refit=True)


# --- several series in one model ------------------------------------------------------------------

DAYS = pd.date_range("2024-01-01", periods=150, freq="D")
SPANS = {"a": (0, 130), "b": (20, 150), "c": (5, 95), "d": (0, 150)}  # of these days
MANY = {
    name: pd.Series((i + 2) * SERIES[i * 9 + a : i * 9 + b] + RNG.normal(size=b - a) / 9, DAYS[a:b])
    for i, (name, (a, b)) in enumerate(SPANS.items())
}
BESIDE = {name: pd.DataFrame(RNG.normal(size=(len(y), 2)), y.index) for name, y in MANY.items()}
PANELS = {
    "dict": (MANY, BESIDE),
    "list": tuple([one.to_numpy() for one in each.values()] for each in (MANY, BESIDE)),
    "frame": tuple(pd.concat(each, names=["place", "day"]) for each in (MANY, BESIDE)),
}
SMALL = {"units": 12, "random_state": 1, "washout": 10, "ridge": 1e-3}


def cut_of(panel, at):
    """The panel before some rows of each series."""
    if isinstance(panel, dict):
        return {name: y[:row] for (name, y), row in zip(panel.items(), at, strict=True)}
    return [y[:row] for y, row in zip(panel, at, strict=True)]


PANELS["long"] = tuple(
    LongFrame(one.reset_index(names=["place", "day"]), "place", "day", columns)
    for one, columns in (
        (PANELS["frame"][0].rename("value").to_frame(), "value"),
        (PANELS["frame"][1], [0, 1]),
    )
)


def values_of(found):
    return list(found.values()) if isinstance(found, dict) else found


@pytest.mark.parametrize("kind", PANELS)
def test_each_of_several_series_is_forecast_as_if_alone(kind):
    y, X = PANELS[kind]
    model = ESNForecaster(**SMALL).fit(y, X)
    found = backtest(model, y, 4, HORIZON, X=X, metric=["mae", "nrmse"])
    assert type(found) is (list if kind == "list" else dict)
    assert list(found) == list(MANY) if kind != "list" else len(found) == 4
    views = model.series_.values()
    for view, one, name in zip(views, values_of(found), MANY, strict=True):
        own = [MANY[name], BESIDE[name]]
        own = [data.to_numpy() for data in own] if kind == "list" else own
        own[0] = own[0].rename("value") if kind == "long" else own[0]
        alone = backtest(view, own[0], 4, HORIZON, X=own[1], metric=["mae", "nrmse"])
        assert one.identical(alone)
        start = int(one.start[2])
        ahead = model.forecast(HORIZON, y=own[0][:start], X=BESIDE[name][: start + HORIZON])
        assert ahead.shape == one.forecast[2, :, 0].shape


def test_starts_seasons_and_washouts_of_each_series():
    model = ESNForecaster(**SMALL, season=7, harmonics=2).fit(MANY)
    starts = {"a": [100, 60], "b": [50], "c": [40, 41, 78], "d": [138]}
    first = dict.fromkeys("abcd", 0) | {"b": 3}
    found = backtest(model, MANY, starts, HORIZON, first=first, washout=15)
    for name, one in found.items():
        view = model.series_[name]
        alone = backtest(view, MANY[name], starts[name], HORIZON, first=first[name], washout=15)
        assert one.identical(alone)
    found = backtest(model, MANY, [30, 50], HORIZON, first=0)
    assert all(one.start.values.tolist() == [30, 50] for one in found.values())


@pytest.mark.parametrize("options", [*FORMS, {"steps": 4}, {"steps": 3, "log": True}], ids=str)
def test_refitting_several_series_equals_fitting_them_anew(options):
    panel = {name: y[:60] + 5 for name, y in MANY.items()} if "output_range" in options else MANY
    options = options | {"scale": None}
    if "output_range" in options:
        options["output_range"] = (0, 60)
    model = ESNForecaster(**SMALL, **options).fit(panel)
    found = backtest(model, panel, 3, HORIZON, refit=True, first=0)
    dates = {tuple(one.time.values) for one in found.values()}
    assert len(dates) == 1  # all are cut at the same
    for start in (1, 2):  # a fit needs more rows than the first leaves of one
        at = [int(one.start[start]) for one in found.values()]
        alone = ESNForecaster(**SMALL, **options).fit(cut_of(panel, at)).forecast(HORIZON)
        for name, one in found.items():
            np.testing.assert_allclose(one.forecast[start, :, 0], alone[name], rtol=1e-6)


def test_without_dates_series_are_cut_as_many_rows_before_their_ends():
    panel = [y.to_numpy().copy() for y in MANY.values()]
    panel[1][[30, 90]] = np.nan
    known = PANELS["list"][1]
    model = ESNForecaster(**SMALL, scale=None)
    with pytest.warns(EchofoldWarning, match="missing"):
        model.fit(panel, known)
    found = backtest(model, panel, 3, HORIZON, X=known, refit=True, washout=20)
    back = np.array([[len(y) - one.start.values for y, one in zip(panel, found, strict=True)]])
    assert (back == back[:, :1]).all() and back.min() == HORIZON
    model = ESNForecaster(**SMALL | {"washout": 20}, scale=None)
    for start in (1, 2):
        at = [int(one.start[start]) for one in found]
        with pytest.warns(EchofoldWarning, match="missing") if at[1] > 30 else nothing():
            model.fit(cut_of(panel, at), cut_of(known, at))
        ahead = [X[row : row + HORIZON] for X, row in zip(known, at, strict=True)]
        for one, alone in zip(found, model.forecast(HORIZON, ahead), strict=True):
            np.testing.assert_allclose(one.forecast[start, :, 0], alone, rtol=1e-6)


def test_no_series_is_seen_beyond_the_start_of_another():
    model = ESNForecaster(**SMALL).fit(MANY)
    found = backtest(model, MANY, 2, HORIZON, refit=True)
    later = {name: y.copy() for name, y in MANY.items()}
    for name, y in later.items():
        y[y.index >= pd.Timestamp(found[name].time.values[0])] += 7 * RNG.normal()
    again = backtest(model, later, 2, HORIZON, refit=True)
    for name, one in found.items():
        np.testing.assert_allclose(again[name].forecast[0], one.forecast[0], rtol=1e-7)
        assert not np.allclose(again[name].forecast[1], one.forecast[1], rtol=1e-3)


def test_searches_and_noise_of_several_series():
    search = ESNSearchCV(ESNForecaster(**SMALL), {"ridge": [1e-2, 10.0]}, cv=KFold(3)).fit(MANY)
    model = search.best_estimator_
    found = backtest(search, MANY, 2, HORIZON, refit=True)
    assert found["a"].identical(backtest(model, MANY, 2, HORIZON, refit=True)["a"])
    noisy = ESNForecaster(
        reservoir=Leaky(12, noise=0.05), ridge=1e-3, random_state=0, scale=None, washout=10
    ).fit(MANY)
    found = backtest(noisy, MANY, 2, HORIZON, refit=True)
    alone = clone(noisy).fit(cut_of(MANY, [int(one.start[1]) for one in found.values()]))
    for name, ahead in alone.forecast(HORIZON).items():
        np.testing.assert_allclose(found[name].forecast[1, :, 0], ahead, rtol=1e-6)


def test_wrong_arguments_for_several_series_are_named():
    model = ESNForecaster(**SMALL).fit(MANY)
    apart = {"a": MANY["a"][:30], "b": MANY["b"][60:], "c": MANY["c"], "d": MANY["d"]}
    short = MANY | {"c": MANY["c"][:5]}
    for arguments, options, error, message in [
        ((model, list(MANY.values()), 2, 5), {}, TypeError, "y is a list of series, but the model"),
        ((model, {"a": MANY["a"]}, 2, 5), {}, ValueError, "y lacks series 'b' and 2 more"),
        ((model, MANY["a"], 2, 5), {}, ValueError, "the model has 4 series"),
        ((model, MANY, 2, 5), {"X": BESIDE}, ValueError, "series 'a': X was given to backtest"),
        ((model, short, 2, 5), {}, ValueError, "series 'c': y has 5 rows, too few"),
        ((model, MANY, {"a": [50]}, 5), {}, ValueError, "starts lacks series 'b'"),
        ((model, short, 2, 5), {"refit": True}, ValueError, "series 'c': y "),
        ((model, MANY, 2, 85), {"refit": True}, ValueError, "series 'c': y has 90 rows, too few"),
        ((model, MANY, [90], 5), {}, ValueError, "series 'c': starts holds 90"),
        ((model, MANY, [50], 5), {"refit": True}, ValueError, "starts=.* are cut alike"),
        ((model, apart, 2, 5), {"refit": True}, ValueError, "starts=2: there are 0 dates, from"),
        ((model, MANY, 200, 5), {"refit": True}, ValueError, "starts=200: there are 59 dates"),
    ]:
        with pytest.raises(error, match=message):
            backtest(*arguments, **options)


def told(model, y, starts, **options):
    """What is said of rows that a model was trained on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        backtest(model, y, starts, HORIZON, **options)
    return " ".join(str(one.message) for one in caught)


@pytest.mark.parametrize("form", [{}, {"difference": (4, 1)}, {"steps": 4}])
def test_rows_that_were_trained_on_are_told(form, tmp_path):
    model = ESNForecaster(20, random_state=0, **form).fit(SERIES[:FITTED])
    later = told(model, SERIES, [FITTED, 190])
    assert not later and not told(model, SERIES[FITTED:], 3) and not told(model, 2 * SERIES, 3)
    assert not told(model, SERIES, [60, 90], refit=True)
    words = told(model, SERIES, [60, FITTED - HORIZON + 1, FITTED - 1, FITTED])
    assert words.startswith("3 forecasts are of rows that the model was trained on, 0 to 149 of y")
    assert f"Begin with row {FITTED} or later, or use refit=True" in words
    assert "1 forecast is of rows" in told(model, SERIES, [FITTED - 1, FITTED])
    assert "Give rows that came later" in told(model, SERIES[:FITTED], 2)
    assert "0 to 99 of y" in told(model, SERIES[:100], 2)  # the end is not there
    assert "0 to 109 of y" in told(model, SERIES[40:], [60])  # nor the beginning
    save(model, tmp_path / "model")
    assert told(load(tmp_path / "model"), SERIES[:FITTED], 2) == told(model, SERIES[:FITTED], 2)
    frame = pd.DataFrame({"x": SERIES})
    assert "2 forecasts are" in told(ESNForecaster(9).fit(frame[:FITTED]), frame, [40, 50])


def test_rows_that_a_search_or_partial_fit_learned_from_are_told():
    y = np.where(np.arange(260) == 70, np.nan, SERIES)
    for final in ("retrain", "average", "ensemble"):
        estimator = ESNForecaster(9, random_state=0)
        search = ESNSearchCV(estimator, {"ridge": [1e-2, 1]}, cv=KFold(3), final=final)
        assert "0 to 149 of y" in told(search.fit(y[:FITTED]), y, [60])
    model = ESNForecaster(9, random_state=0).fit(SERIES[:100])
    model.partial_fit(SERIES[100:105]).partial_fit(SERIES[105:FITTED])
    assert "0 to 149 of y" in told(model, SERIES, [140])
    model.update(SERIES[FITTED:200])
    assert not told(model, SERIES, [FITTED])
    panel = {"a": SERIES[:FITTED], "b": PAIR[:120, 1]}
    words = told(ESNForecaster(9, random_state=0).fit(panel), {"a": SERIES, "b": PAIR[:, 1]}, [130])
    assert words.startswith("series 'a': 1 forecast is of rows") and "'b'" not in words


def test_rows_that_are_alike_do_not_pass_for_others():
    y = np.tile([1.0, 2.0, 4.0, 3.0], 40)
    assert not told(ESNForecaster(5, random_state=0).fit(y[:80]), y, [100])
    flat = np.append(np.zeros(40), SERIES)
    model = ESNForecaster(5, random_state=0).fit(flat[:120])
    assert "0 to 119 of y" in told(model, flat, [60])


RECIPE = {"search": {"units": 9, "grid": "small", "draws": 1, "k": 4}, "progress": False}


@pytest.mark.parametrize("form", ["array", "dates", "what came alone"])
def test_an_automatic_forecast_is_moved_on_from_start_to_start(form):
    y = SERIES if form == "array" else pd.Series(SERIES, pd.date_range("2020", periods=260))
    model = AutoForecaster(HORIZON, **RECIPE).fit(y[:FITTED])
    before = np.asarray(model.forecast().mean)
    given, first = (y[FITTED:], FITTED) if form == "what came alone" else (y, 0)
    starts = [start - first for start in STARTS]
    found = backtest(model, given, starts, HORIZON, metric="mae")
    for place, start in enumerate(STARTS):
        expected = plain(model, y, start).mean
        assert np.array_equal(found.forecast[place, :, 0], expected)
        truth = SERIES[start : start + HORIZON]
        assert np.array_equal(found.truth[place, :, 0], truth)
        assert found.mae[place] == pytest.approx(np.abs(truth - expected).mean(), rel=1e-12)
    assert np.array_equal(model.forecast().mean, before)  # which stays where it is
    assert backtest(model, given, 3, HORIZON).start[0] == FITTED - first


def test_automatic_forecasts_with_inputs_and_of_several_series(tmp_path):
    model = AutoForecaster(HORIZON, **RECIPE).fit(SERIES[:FITTED], KNOWN[:FITTED])
    save(model, tmp_path / "model")
    found = backtest(load(tmp_path / "model"), SERIES, STARTS, HORIZON, X=KNOWN)
    for place, start in enumerate(STARTS):
        expected = plain(model, SERIES, start, KNOWN).mean
        assert np.array_equal(found.forecast[place, :, 0], expected)
    both = {"a": SERIES, "b": SERIES[20:] * 2}
    several = AutoForecaster(HORIZON, **RECIPE).fit({"a": SERIES[:FITTED], "b": both["b"][:99]})
    found = backtest(several, both, 2, HORIZON)
    assert list(found["b"].start) == [99, 228]
    alone = backtest(several.series_["b"], both["b"], 2, HORIZON)
    assert found["b"].equals(alone)


def test_what_an_automatic_forecast_is_not_asked_for():
    model = AutoForecaster(HORIZON, progress=False).fit(SERIES[:30])
    for options in ({"refit": True}, {"washout": 9}, {"first": 0}):
        with pytest.raises(ValueError, match="are for networks.*evaluate"):
            backtest(model, SERIES, 3, HORIZON, **options)
    with pytest.raises(ValueError, match="rows 30 to 248"):
        backtest(model, SERIES, [29], HORIZON)
    with pytest.raises(Exception, match="not fitted"):
        backtest(AutoForecaster(2), SERIES, 3, 5)
