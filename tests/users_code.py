"""Code of users, for type checkers alone: `tests/test_typing.py` has them read it, it is not run.

No line may be an error, and each `assert_type` says what a user's editor knows. What is forecast
is of the kind of ``y``, and no ``Any``.
"""

from typing import Any, assert_type

import numpy as np
import pandas as pd
import xarray as xr

from echofold import (
    Accumulative,
    AutoForecaster,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    LeaveSeriesOut,
    Recycle,
    SingleSplit,
    WalkForward,
    backtest,
    baselines,
    cross_validate,
    cross_validate_readout,
    datasets,
    evaluate,
    load,
    metrics,
    reservoirs,
    save,
    systems,
)

Series = pd.Series[float]
Array = np.ndarray[Any, np.dtype[np.float64]]

# --- data and forecasts ---------------------------------------------------------------------------

y = datasets.load_gasoline().data
assert_type(y, Series)
assert_type(datasets.load_labor().data[:-12], Series)
assert_type(datasets.load_ecg().signal, np.ndarray)
assert_type(datasets.load_japanese_vowels().train, list[np.ndarray])

auto = AutoForecaster(12, level=0.9, season=52).fit(y)
assert_type(auto, AutoForecaster[Series])
ahead = auto.forecast()
assert_type(ahead.mean, Series)
assert_type(ahead.upper[0.9], Series)
assert_type(ahead.to_frame(), pd.DataFrame)
assert_type(auto.update(y[-1:]), AutoForecaster[Series])
assert_type(auto.members_, pd.DataFrame)
assert_type(auto.verdict_.words, str)
assert_type(abs(ahead.mean - y[-12:]).mean(), float)

stores = {"north": y, "south": y}
assert_type(AutoForecaster(12).fit(stores).forecast().mean, dict[str, Series])
long = pd.DataFrame({"store": ["north"], "date": [pd.Timestamp("2024-01-01")], "sold": [1.0]})
by_store = AutoForecaster(12).fit(long, id="store", time="date", target="sold")
assert_type(by_store.forecast(), pd.DataFrame)

model = ESNForecaster(units=50, difference=(52,), season=52.18, random_state=0).fit(y)
assert_type(model, ESNForecaster[Series])
assert_type(model.forecast(12), Series)
assert_type(model.forecast(12, y=[1.0, 2.0]), list[float])
assert_type(model.update(y).partial_fit(y), ESNForecaster[Series])
assert_type(ESNForecaster().fit(np.arange(50)).forecast(3), Array)
assert_type(ESNForecaster().fit([1, 2, 3.5]).forecast(3), Array)
assert_type(ESNForecaster().fit(pd.Series([1, 2, 3])).forecast(3), Series)
assert_type(ESNForecaster().fit(y.to_frame()).forecast(3), pd.DataFrame)
assert_type(ESNForecaster().fit([y, y]).forecast(3), list[Series])
assert_type(model.set_params(leak_rate=0.3), ESNForecaster[Series])

# --- searches -------------------------------------------------------------------------------------

space = {"leak_rate": [0.1, 0.3, 1.0], "ridge": [1e-8, 1e-4, 1]}
search = ESNSearchCV(ESNForecaster(50), space, cv=KFold(5, valid=12), metric=["rmse", "mae"])
assert_type(search, ESNSearchCV[ESNForecaster[Any]])
found = search.fit(y)
assert_type(found, ESNSearchCV[ESNForecaster[Series]])
assert_type(found.best_params_, dict[str, Any])
assert_type(found.best_score_, float)
assert_type(found.best_estimator_.forecast(12), Series)
assert_type(found.forecast(12), Series)
assert_type(found.forecast(12, level=[0.5, 0.9]).lower[0.5], Series)
assert_type(found.finalize("average"), ESNForecaster[Series])
assert_type(found.summary(), str)
assert_type(search.fit(np.zeros(50)).forecast(3), Array)
again = ESNForecaster(**found.best_params_).fit(y)
assert_type(again.forecast(3), Series)


def by_name(name: str, model: ESNForecaster, search: ESNSearchCV, auto: AutoForecaster) -> float:
    ahead = auto.forecast(3)  # of a kind that is not said
    return float(model.forecast(3)[0] + search.fit(y).forecast(3)[0] + ahead.mean[0])


u, target = systems.narma10(500)
regression = ESNSearchCV(ESNRegressor(50, ridge=1e-6), {"leak_rate": [0.3, 1.0]}).fit(u, target)
assert_type(regression, ESNSearchCV[ESNRegressor])
assert_type(regression.predict(u), np.ndarray)
assert_type(regression.best_estimator_.predict(u), np.ndarray)
assert_type(regression.score(u, target), float)
assert_type(ESNRegressor(50).fit(u, target).predict(u), np.ndarray)

vowels = datasets.load_japanese_vowels()
classes = ESNClassifier(50).fit(vowels.train, vowels.train_labels)
assert_type(classes, ESNClassifier)
assert_type(classes.predict(vowels.test), np.ndarray)
assert_type(classes.predict_proba(vowels.test), np.ndarray)

# --- validation -----------------------------------------------------------------------------------

schemes = {"folds": KFold(10, gap=(1, 2)), "walk": WalkForward(5, valid=0.1, min_train=100)}
others = [Accumulative(5), LeaveOneOut(gap=1), LeaveSeriesOut(5), Recycle(5), SingleSplit(0.2)]
assert_type(cross_validate(model, y, cv=KFold(5), ridge=[0.1, 1]), xr.Dataset)
assert_type(cross_validate(model, y, cv=schemes), dict[str, xr.Dataset])
assert_type(cross_validate_readout(u, target, cv=LeaveOneOut()), xr.Dataset)
assert_type(evaluate(found, y, origins=3, horizon=12), xr.Dataset)
assert_type(backtest(model, y, starts=range(100, 200), horizon=12), xr.Dataset)

assert_type(metrics.rmse(y, y), float)
assert_type(metrics.nrmse([1.0, 2.0], np.zeros(2)), float)
assert_type(metrics.mase(12)(y, y), float)
assert_type(baselines.seasonal_naive(y, 12, 52), np.ndarray)
for kind in (reservoirs.Leaky(50), reservoirs.Deep(20), reservoirs.NVAR(2), reservoirs.Bank()):
    ESNForecaster(reservoir=kind).fit(y)

# --- files ----------------------------------------------------------------------------------------

save(model, "model.echofold")
assert_type(load("model.echofold", ESNForecaster), ESNForecaster[Any])
assert_type(load("model.echofold", ESNForecaster[pd.Series]).forecast(12), pd.Series)
assert_type(load("model.echofold", ESNRegressor).predict(u), np.ndarray)
assert_type(load("model.echofold").predict(u), np.ndarray)
load("model.echofold").forecast(12)
