"""The forecaster of sktime: sktime's own checks, and the same numbers as without it."""

import warnings

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sktime", reason="needs the extra sktime: nox -s sktime")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning:sktime")

from sktime.datasets import load_airline  # noqa: E402
from sktime.forecasting.compose import TransformedTargetForecaster  # noqa: E402
from sktime.forecasting.model_evaluation import evaluate  # noqa: E402
from sktime.forecasting.model_selection import ForecastingGridSearchCV  # noqa: E402
from sktime.performance_metrics.forecasting import (  # noqa: E402
    MeanAbsolutePercentageError,
    MeanAbsoluteScaledError,
)
from sktime.split import ExpandingWindowSplitter, temporal_train_test_split  # noqa: E402
from sktime.transformations.series.detrend import Detrender  # noqa: E402
from sktime.utils.estimator_checks import check_estimator  # noqa: E402

from echofold import (  # noqa: E402
    AutoForecaster,
    ESNForecaster,
    ESNSearchCV,
    WalkForward,
    metrics,
)
from echofold.sktime import EchoStateForecaster  # noqa: E402

SMALL = ESNForecaster(20, random_state=0, log=True, difference=(12,))
SEARCH = ESNSearchCV(SMALL, {"ridge": [1e-4, 1e-2, 1]}, cv=WalkForward(8, valid=12), metric="rmse")
AIRLINE = load_airline()
TRAIN, TEST = temporal_train_test_split(AIRLINE, test_size=24)
FH = np.arange(1, 25)


@pytest.mark.slow
def test_checks_of_sktime():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(EchoStateForecaster, verbose=False)
    assert {name: found for name, found in results.items() if found != "PASSED"} == {}
    assert len(results) > 500


@pytest.mark.parametrize("estimator", [SMALL, SEARCH], ids=["forecaster", "search"])
@pytest.mark.parametrize("kind", ["periods", "dates", "numbers"])
def test_forecasts_are_those_of_the_estimator(estimator, kind):
    y = TRAIN.copy()
    if kind == "dates":
        y.index = y.index.to_timestamp()
    elif kind == "numbers":
        y.index = pd.RangeIndex(len(y))
    direct = estimator.fit(y).forecast(24)
    found = EchoStateForecaster(estimator).fit(y).predict(fh=FH)
    np.testing.assert_allclose(found, direct, rtol=1e-12)
    assert (found.index == direct.index).all()
    assert found.name == y.name
    some = EchoStateForecaster(estimator).fit(y).predict(fh=[3, 24])
    np.testing.assert_array_equal(some, found.iloc[[2, 23]])
    assert (some.index == found.index[[2, 23]]).all()


def test_several_series_and_known_inputs():
    y = pd.DataFrame({"a": TRAIN, "b": np.sqrt(TRAIN)})
    X = pd.DataFrame({"wave": np.sin(np.arange(144) / 3)}, index=AIRLINE.index)
    model = ESNForecaster(20, random_state=0)
    direct = model.fit(y, X=X.loc[y.index]).forecast(24, X=X.loc[TEST.index])
    found = EchoStateForecaster(model).fit(y, X=X.loc[y.index]).predict(FH, X=X.loc[TEST.index])
    pd.testing.assert_frame_equal(found, direct, check_freq=False, check_names=False, rtol=1e-12)
    again = EchoStateForecaster(model).fit(y, X=X.loc[y.index]).predict([20, 24], X=X)
    np.testing.assert_array_equal(again, found.iloc[[19, 23]])


def test_known_inputs_are_needed_for_every_step_up_to_the_last():
    month = pd.DataFrame({"month": AIRLINE.index.month}, index=AIRLINE.index)
    model = EchoStateForecaster(ESNForecaster(20, random_state=0)).fit(TRAIN, X=month.iloc[:-24])
    with pytest.raises(ValueError, match="X has no row for .* of the 4 steps"):
        model.predict(fh=[2, 4], X=month.iloc[[-23, -21]])
    found = model.predict(fh=[2, 4], X=month.iloc[-24:])
    pd.testing.assert_series_equal(found, model.predict(fh=FH, X=month.iloc[-24:]).iloc[[1, 3]])


def test_intervals_and_quantiles():
    model = EchoStateForecaster(SEARCH).fit(TRAIN)
    found = model.predict_interval(FH, coverage=[0.5, 0.9])[TRAIN.name]
    mean = model.predict(FH)
    ends = [found[0.9]["lower"], found[0.5]["lower"], mean, found[0.5]["upper"]]
    for low, high in zip(ends, [*ends[1:], found[0.9]["upper"]][:4], strict=True):
        assert (low <= high).all()
    assert (found[0.9]["lower"] < found[0.5]["lower"]).all()
    direct = SEARCH.fit(TRAIN).forecast(24, level=0.9)
    np.testing.assert_allclose(found[0.9]["lower"], direct.lower[0.9], rtol=1e-12)
    np.testing.assert_allclose(found[0.9]["upper"], direct.upper[0.9], rtol=1e-12)
    quantiles = model.predict_quantiles(FH, alpha=[0.05, 0.5, 0.95])[TRAIN.name]
    np.testing.assert_allclose(quantiles[0.05], direct.lower[0.9], rtol=1e-9)
    np.testing.assert_allclose(quantiles[0.5], mean)


def test_a_plain_forecaster_has_no_intervals_and_says_so():
    model = EchoStateForecaster(SMALL).fit(TRAIN)
    assert not model.get_tag("capability:pred_int")
    assert EchoStateForecaster(SEARCH).get_tag("capability:pred_int")
    with pytest.raises(NotImplementedError):
        model.predict_interval(FH)


def test_update_moves_on_over_new_and_missing_values():
    whole = SMALL.fit(TRAIN.iloc[:100]).update(TRAIN.iloc[100:]).forecast(5)
    for params in (True, False):
        model = EchoStateForecaster(SMALL).fit(TRAIN.iloc[:100])
        model.update(TRAIN.iloc[95:], update_params=params)  # what was seen before is left out
        np.testing.assert_allclose(model.predict([1, 2, 3, 4, 5]), whole, rtol=1e-12)
    with_gap = TRAIN.iloc[100:].copy()
    with_gap.iloc[:4] = np.nan
    with pytest.warns(UserWarning, match="missing"):
        expected = SMALL.fit(TRAIN.iloc[:100]).update(with_gap).forecast(5)
        model = EchoStateForecaster(SMALL).fit(TRAIN.iloc[:100]).update(TRAIN.iloc[104:])
    np.testing.assert_allclose(model.predict([1, 2, 3, 4, 5]), expected, rtol=1e-12)


def test_in_grid_searches_pipelines_and_evaluations():
    cv = ExpandingWindowSplitter(fh=[1, 2, 3], initial_window=80, step_length=20)
    grid = {"estimator__ridge": [1e-4, 1e4], "estimator__units": [10]}
    chosen = ForecastingGridSearchCV(EchoStateForecaster(SMALL), cv=cv, param_grid=grid).fit(TRAIN)
    assert chosen.best_params_["estimator__ridge"] == 1e-4
    pipeline = TransformedTargetForecaster(
        [
            ("trend", Detrender()),
            ("network", EchoStateForecaster(ESNForecaster(20, random_state=0))),
        ]
    )
    found = pipeline.fit(TRAIN).predict(FH)
    assert (found.index == TEST.index).all() and np.isfinite(found).all()
    table = evaluate(EchoStateForecaster(SMALL), cv=cv, y=TRAIN, strategy="update")
    assert np.isfinite(table.filter(like="test_").to_numpy()).all()


def test_without_an_estimator_it_is_an_automatic_forecaster():
    model = EchoStateForecaster(sp=12).fit(TRAIN, fh=FH)
    assert model.get_tag("capability:pred_int") and not model.get_tag("capability:multivariate")
    found, held = model.predict(), model.predict_interval(coverage=0.9)[TRAIN.name][0.9]
    direct = AutoForecaster(24, season=12, progress=False).fit(TRAIN)
    ahead = direct.forecast()
    np.testing.assert_array_equal(found, ahead.mean)
    assert (found.index == TEST.index).all() and found.name == TRAIN.name
    np.testing.assert_array_equal(held["lower"], ahead.lower[0.9])
    np.testing.assert_array_equal(held["upper"], ahead.upper[0.9])
    naive = TRAIN.iloc[-12:].to_numpy().tolist() * 2
    assert metrics.rmse(TEST, found) < 0.6 * metrics.rmse(TEST, naive)
    with pytest.warns(UserWarning, match="missing"):
        model.update(TEST.iloc[1:])  # a month is left out
        later = direct.update(TEST.where(np.arange(24) > 0)).forecast(2)
    np.testing.assert_allclose(model.predict([1, 2]), later.mean, rtol=1e-12)


def test_parameters_of_the_automatic_forecaster():
    short = TRAIN.iloc[:30]  # too few for networks
    for sp, seasons in ((None, (12,)), (12, (12,)), ([3, 12], (3, 12)), (1, ())):
        model = EchoStateForecaster(sp=sp).fit(short, fh=[1, 3]).model_
        assert model.seasons_ == seasons and model.horizon == 3
    numbered = pd.Series(short.to_numpy())  # neither dates nor a horizon
    model = EchoStateForecaster(random_state=5).fit(numbered).model_
    assert (model.horizon, model.random_state) == (1, 5)
    small = AutoForecaster(3, search={"units": 5, "grid": "small", "draws": 1}, progress=False)
    direct = small.fit(TRAIN).forecast(level=0.5)
    model = EchoStateForecaster(small).fit(TRAIN)
    np.testing.assert_array_equal(model.predict([1, 2, 3]), direct.mean)
    held = model.predict_interval([1, 2, 3], coverage=0.5)[TRAIN.name][0.5]
    np.testing.assert_array_equal(held["upper"], direct.upper[0.5])


def test_metrics_agree_with_those_of_sktime():
    found = EchoStateForecaster(SMALL).fit(TRAIN).predict(FH)
    expected = MeanAbsoluteScaledError(sp=12)(TEST, found, y_train=TRAIN)
    assert metrics.mase(season=12)(TEST, found, TRAIN) == pytest.approx(expected, rel=1e-12)
    expected = MeanAbsolutePercentageError(symmetric=True)(TEST, found)
    assert metrics.smape(TEST, found) == pytest.approx(expected, rel=1e-12)
    expected = MeanAbsolutePercentageError(symmetric=False)(TEST, found)
    assert metrics.mape(TEST, found) == pytest.approx(expected, rel=1e-12)
