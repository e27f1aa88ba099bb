"""MASE, MAPE, sMAPE and R²: by hand, beside scikit-learn, and in every way of validating."""

import numpy as np
import pytest
from devices import on_both
from searches import GRID, INPUTS, OUTPUTS, SEED, SERIES, searched
from sklearn.metrics import mean_absolute_percentage_error, r2_score

from echofold import (
    Accumulative,
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    WalkForward,
    backtest,
    cross_validate,
    evaluate,
    metrics,
)
from echofold.metrics import mae, mape, mase, nrmse, r2, smape
from echofold.metrics._metric import resolve
from echofold.metrics._targets import spread_in_blocks

LEVEL = SERIES + 5  # far from zero
PAIR = np.stack([LEVEL, 3 * np.roll(LEVEL, 4) + 20], axis=1)
NAMES = ["mase", "mape", "smape", "r2"]
rng = np.random.default_rng(1)


def plain(name, rows):
    """The definition, written as a function that is called with predictions."""

    def of_predictions(t, y):
        t, y = t.reshape(len(t), -1), y.reshape(len(y), -1)
        if name == "mape":
            return np.mean(np.abs((y - t) / t))
        if name == "smape":
            return np.mean(2 * np.abs(y - t) / (np.abs(y) + np.abs(t)))
        if name == "mase":
            every = rows.reshape(len(rows), -1)
            return np.mean(np.abs(y - t)) / np.nanmean(np.abs(every[1:] - every[:-1]))
        return 1 - np.sum((y - t) ** 2) / np.sum((t - t.mean(axis=0)) ** 2)

    of_predictions.higher_is_better = name == "r2"
    return of_predictions


@pytest.mark.parametrize("y", [LEVEL, PAIR], ids=["one", "two"])
def test_as_in_scikit_learn(y):
    outputs = y + rng.normal(size=y.shape)
    assert mape(y, outputs) == pytest.approx(mean_absolute_percentage_error(y, outputs), rel=1e-13)
    expected = r2_score(y, outputs, multioutput="variance_weighted")
    assert r2(y, outputs) == pytest.approx(expected, rel=1e-13)
    assert r2(y, outputs) == pytest.approx(1 - nrmse(y, outputs) ** 2, rel=1e-13)


def test_by_hand():
    assert mape([1, -2], [2, -1]) == 0.75
    assert smape([1, 2], [-1, 6]) == pytest.approx((2 + 1) / 2)
    assert smape([0.0, 0.0], [0.0, 3.0]) == 1.0  # 0 beside 0 is right, 0 beside anything is 2
    assert mase(2)([4, 4], [5, 1], y_train=[1, 1, 2, 4]) == 2 / 2
    assert mase()([4, 4], [5, 1], scale=4) == 0.5
    assert r2([2, 2], [2, 4], scale=4) == 0.5
    assert repr(mase(season=12)) == "mase(season=12)"


def test_what_runs_away_is_infinitely_wrong():
    for metric in (mape, smape):
        assert metric([1.0, 2.0], [1.0, np.inf]) == np.inf
        assert metric([1.0, 2.0], [1.0, np.nan]) == np.inf
    assert r2([1.0, 2.0], [1.0, np.inf]) == -np.inf
    assert mase()([1.0, 2.0], [1.0, np.inf], scale=1.0) == np.inf


def test_nothing_to_divide_by():
    with pytest.raises(ValueError, match="y_true is 0 in row 1, which relative errors.*'smape'"):
        mape([1.0, 0.0], [1.0, 1.0])
    with pytest.raises(ValueError, match="R² has nothing to divide by; pass scale="):
        r2([2.0, 2.0], [1.0, 1.0])
    with pytest.raises(ValueError, match="never changes over 2 steps"):
        mase(2)([1.0], [1.0], y_train=[1, 2, 1, 2])
    with pytest.raises(ValueError, match="no two values that are 4 steps apart.*shorter season"):
        mase(4)([1.0], [1.0], y_train=[1, 2, 1, 2])
    with pytest.raises(ValueError, match="needs either y_train"):
        mase()([1.0], [1.0])
    with pytest.raises(ValueError, match="season=0"):
        mase(0)


def test_what_a_season_is_made_of_may_come_in_blocks():
    y = rng.normal(size=(50, 2))
    y[7] = np.nan
    expected = np.nanmean(np.abs(y[6:] - y[:-6]))
    for cuts in ([], [3, 5, 20], [1, 2, 48]):
        assert mase(6).scale(np.split(y, cuts)) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cv", [KFold(4), WalkForward(3, min_train=60)], ids=["KFold", "Walk"])
@pytest.mark.parametrize(
    "options",
    [{}, {"log": True, "difference": (1,)}, {"output_range": (2, 50)}],
    ids=["plain", "log", "limits"],
)
def test_closed_loops_equal_the_definition(name, cv, options):
    model = ESNForecaster(15, random_state=SEED, ridge=1e-4, **options)
    found = cross_validate(model, PAIR, cv=cv, ridge=[1e-6, 1e-2], metric=name)
    by_hand = plain(name, PAIR[-found.attrs["rows"] :])
    expected = cross_validate(model, PAIR, cv=cv, ridge=[1e-6, 1e-2], metric=by_hand)
    np.testing.assert_allclose(found[name], expected.of_predictions, rtol=1e-9)
    assert found.attrs["better"] == ("higher" if name == "r2" else "lower")
    both = cross_validate(model, PAIR, cv=cv, ridge=[1e-6, 1e-2], metric=[name, "rmse", "mae"])
    np.testing.assert_allclose(both[name], found[name], rtol=1e-9)


@pytest.mark.parametrize("memory", ["states", "pieces", "fold", "frugal"])
@pytest.mark.parametrize("task", ["forecast", "regression"])
def test_every_way_of_using_memory(memory, task):
    model = {"forecast": ESNForecaster, "regression": ESNRegressor}[task](15, random_state=SEED)
    data = (LEVEL,) if task == "forecast" else (INPUTS, OUTPUTS + 9)
    options = {"cv": KFold(4), "ridge": [1e-6, 1.0], "metric": NAMES}
    expected = cross_validate(model, *data, algorithm="naive", **options)
    found = cross_validate(model, *data, memory=memory, **options)
    for name in NAMES:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-7)
        assert np.isfinite(found[name]).all()


@pytest.mark.parametrize("name", NAMES)
def test_open_loops_with_limits_and_missing_values(name):
    y = OUTPUTS + 9
    y[40:50] = np.nan
    model = ESNRegressor(15, random_state=SEED, output_range=(8, 10.5))
    y = np.clip(y, 8, 10.5)
    options = {"cv": KFold(4), "ridge": [1e-6, 1.0]}
    with pytest.warns(UserWarning, match="missing"):
        found = cross_validate(model, INPUTS, y, metric=name, **options)
        by_hand = plain(name, y[-found.attrs["rows"] :])
        expected = cross_validate(model, INPUTS, y, metric=by_hand, algorithm="naive", **options)
    np.testing.assert_allclose(found[name], expected.of_predictions, rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_pruning_is_exact(name, monkeypatch):
    monkeypatch.setattr("echofold._search.prune.SEGMENTS", 4)
    model = ESNForecaster(12, random_state=SEED)
    full, pruned = (
        ESNSearchCV(model, GRID, cv=KFold(4), metric=name, prune=prune).fit(LEVEL)
        for prune in (False, True)
    )
    assert pruned.best_params_ == full.best_params_
    assert pruned.best_score_ == pytest.approx(full.best_score_, rel=1e-12)
    dropped = pruned.results_.pruned.values[0]
    assert dropped.any()
    mean, bound = (s.results_[name].mean(["draw", "split"]).values for s in (full, pruned))
    np.testing.assert_allclose(bound[~dropped], mean[~dropped], rtol=1e-12)
    sign = -1 if name == "r2" else 1
    assert (sign * bound[dropped] <= sign * mean[dropped] + 1e-12).all()
    assert (sign * bound[dropped] < sign * mean[dropped]).any()


@pytest.mark.parametrize("name", NAMES)
def test_on_a_device(accelerated, name):
    model = ESNForecaster(12, random_state=SEED)
    search = ESNSearchCV(model, GRID, cv=Accumulative(3, min_train=60), metric=name)
    host, device = on_both(accelerated, lambda: search.fit(LEVEL).results_[name].values)
    np.testing.assert_allclose(device, host, rtol=1e-6)


def test_the_winner_by_mase_is_that_by_mae():
    by_mae, by_mase, seasonal = (searched(metric=m) for m in ("mae", "mase", mase(season=12)))
    assert by_mae.best_params_ == by_mase.best_params_ == seasonal.best_params_
    rows = SERIES[-by_mase.results_.attrs["rows"] :]
    for search, season in ((by_mase, 1), (seasonal, 12)):
        unit = np.abs(rows[season:] - rows[:-season]).mean()
        np.testing.assert_allclose(search.results_.mase * unit, by_mae.results_.mae, rtol=1e-12)


def test_the_highest_r2_wins():
    by_r2, by_mse = searched(metric="r2"), searched(metric=["r2", "nrmse"])
    scores = by_r2.results_.r2.mean(["draw", "split"])
    assert by_r2.best_score_ == pytest.approx(float(scores.max()))
    np.testing.assert_allclose(by_mse.results_.r2, 1 - by_mse.results_.nrmse**2, rtol=1e-12)


def test_honest_errors_and_backtests():
    model = ESNForecaster(12, random_state=SEED)
    given = ["mae", mase(season=3), "mape", "smape", "r2", "nrmse"]
    search = ESNSearchCV(model, {"ridge": [1e-6, 1e-2]}, cv=KFold(4), metric=given)
    honest = evaluate(search, LEVEL, origins=2, horizon=12)
    tested = backtest(search.fit(LEVEL).best_estimator_, LEVEL, 5, 12, metric=given)
    unit = np.abs(LEVEL[3:] - LEVEL[:-3]).mean()
    for found in (honest, tested):
        np.testing.assert_allclose(found.mase * unit, found.mae, rtol=1e-12)
        np.testing.assert_allclose(found.r2, 1 - found.nrmse**2, rtol=1e-12)
    for start in range(5):
        pair = tested.truth[start].values, tested.forecast[start].values
        assert float(tested.mape[start]) == pytest.approx(mape(*pair))
        assert float(tested.smape[start]) == pytest.approx(smape(*pair))


def test_zeros_are_refused_before_anything_is_computed():
    y = LEVEL.copy()
    y[100] = 0.0
    for options in ({}, {"difference": (1,)}):
        model = ESNForecaster(12, random_state=SEED, **options)
        with pytest.raises(ValueError, match="metric 'mape': y_true is 0 in row 100"):
            cross_validate(model, y, cv=KFold(4), metric="mape")
    late = WalkForward(1, min_train=130)
    assert np.isfinite(cross_validate(model, y, cv=late, metric="mape").mape).all()
    assert np.isfinite(cross_validate(model, y, cv=KFold(4), metric="smape").smape).all()


def test_classes_are_no_series():
    sequences, labels = [np.ones((4, 1)) * i for i in range(8)], list("abababab")
    model = ESNClassifier(9, random_state=0)
    for name in ("mape", "mase"):
        with pytest.raises(ValueError, match=f"metric='{name}' is for series"):
            cross_validate(model, sequences, labels, cv=2, metric=name)


def test_scores_of_scikit_learn_are_maximised():
    r2_score = pytest.importorskip("sklearn.metrics").r2_score
    model = ESNForecaster(12, random_state=0)
    found = cross_validate(model, LEVEL, cv=KFold(4), ridge=[1e-6, 1e2], metric=[r2_score, "r2"])
    assert found.attrs["better"] == "higher"
    np.testing.assert_allclose(found.r2_score, found.r2, rtol=1e-9)


def test_labels_are_not_forecast():
    model = ESNForecaster(12, random_state=0).fit(LEVEL)
    with pytest.raises(ValueError, match="'accuracy' counts wrong labels and needs a classifier"):
        backtest(model, LEVEL, starts=3, horizon=5, washout=20, metric="accuracy")


def test_names_functions_and_objects():
    for name in ("mape", "smape", "r2"):
        assert resolve(getattr(metrics, name)) is resolve(name)
    assert resolve(mase) == resolve("mase") == resolve(mase())
    assert resolve(mase(7)) != resolve(mase())
    with pytest.raises(ValueError, match="2 entries named 'mase'"):
        searched(metric=["mase", mase(7)])
    assert resolve("r2").times(-0.5, 2.0) == 1.0  # half unexplained; twice the errors, four times
    assert resolve("mase").measure([1.0], [2.0], spread_in_blocks([])._replace(
        rows=np.array([[0.0], [2.0]])
    )) == mae([1.0], [2.0]) / 2  # fmt: skip
