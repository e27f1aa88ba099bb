"""An honest error: every choice is made on the beginning, and scored on what follows."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from searches import CV, INPUTS, LABELS, OUTPUTS, RIDGE, SEED, SEQUENCES, SERIES, TASKS
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import GroupKFold

from echofold import (
    ESNClassifier,
    ESNForecaster,
    ESNSearchCV,
    KFold,
    backtest,
    evaluate,
)
from echofold._machine.notices import EchofoldWarning
from echofold._search.evaluate import _default_horizon, _interleaved
from echofold._validation.score import score_given, spread_of
from echofold.metrics import error_rate, nrmse, rmse
from echofold.metrics._metric import resolve

SPACE = {"leak_rate": [0.3, 1.0], "ridge": RIDGE}


def search(task="forecast", **options):
    return ESNSearchCV(TASKS[task][0], SPACE, **{"cv": KFold(3, valid=12), **options})


def variation(y):
    y = np.asarray(y).reshape(len(y), -1)
    return float(((y - y.mean(axis=0)) ** 2).sum(axis=1).mean())


# --- the same by hand -----------------------------------------------------------------------------


def test_a_forecast_by_hand():
    found = evaluate(search(metric=["nrmse", "rmse"]), SERIES, origins=2, horizon=12, level=0.8)
    assert found.start.values.tolist() == [137, 149]
    expected = {"horizon": 12, "level": 0.8, "metric": "nrmse", "better": "lower"}
    assert found.attrs == expected
    for origin, start in enumerate([137, 149]):
        fitted = search().fit(SERIES[:start])
        mean, lower, upper = fitted.forecast(12, level=0.8)
        truth = SERIES[start : start + 12]
        assert found.nrmse[origin] == pytest.approx(nrmse(truth, mean), rel=1e-12)
        assert found.rmse[origin] == pytest.approx(rmse(truth, mean), rel=1e-12)
        assert found.validation[origin] == fitted.best_score_
        covered = np.mean((lower[0.8] <= truth) & (truth <= upper[0.8]))
        assert found.coverage[origin] == pytest.approx(covered)
    assert 0 < found.coverage.mean() <= 1


def test_known_inputs_weights_and_several_outputs_by_hand():
    y = np.stack([SERIES, np.roll(SERIES, 3)], axis=1)
    known = pd.DataFrame({"wind": np.cos(np.arange(161) / 4)})
    weight = np.linspace(0.1, 1, 161)
    found = evaluate(search(), y, X=known, sample_weight=weight, origins=2, horizon=12)
    by_position = evaluate(search(), y, known, weight, origins=2, horizon=12)
    assert found.nrmse.values.tolist() == by_position.nrmse.values.tolist()
    for origin, start in enumerate([137, 149]):
        fitted = search().fit(y[:start], X=known[:start], sample_weight=weight[:start])
        mean, lower, upper = fitted.forecast(12, X=known[start : start + 12], level=0.9)
        truth = y[start : start + 12]
        assert found.nrmse[origin] == pytest.approx(nrmse(truth, mean), rel=1e-12)
        covered = np.mean((lower[0.9] <= truth) & (truth <= upper[0.9]))
        assert found.coverage[origin] == pytest.approx(covered)


def test_a_regression_by_hand():
    found = evaluate(search("regression"), INPUTS, OUTPUTS, origins=2, horizon=12)
    assert "coverage" not in found
    for origin, start in enumerate([136, 148]):
        fitted = search("regression").fit(INPUTS[:start], OUTPUTS[:start])
        outputs = fitted.predict(INPUTS[start : start + 12], start="last")
        expected = nrmse(OUTPUTS[start : start + 12], outputs)
        assert found.nrmse[origin] == pytest.approx(expected, rel=1e-12)
        assert found.validation[origin] == fitted.best_score_


def test_sequences_sorted_by_class_are_no_trap():
    order = np.argsort(LABELS, kind="stable")
    data = [SEQUENCES[i] for i in order], LABELS[order]
    found = evaluate(search("classification", metric="error_rate"), *data, origins=2, horizon=5)
    assert (found.error_rate < 0.7).all()  # by order, every stretch is a class never seen: 1.0
    (_, labels), more = _interleaved(data, {"groups": np.arange(30), "other": 3}, data[1])
    for end in range(3, 31, 3):  # every beginning has all classes
        counts = np.unique(labels[:end], return_counts=True)[1]
        assert len(counts) == 3 and np.ptp(counts) <= 2
    np.testing.assert_array_equal(data[1][more["groups"]], labels)
    assert more["other"] == 3


def test_groups_of_sequences_are_not_both_searched_on_and_scored(monkeypatch):
    groups, seen = np.arange(30) // 3 * 7 % 11, []  # three neighbours each, of one class or several
    fit = ESNSearchCV.fit

    def spy(self, X, y, groups):
        seen.append(set(groups))
        return fit(self, X, y, groups=groups)

    monkeypatch.setattr(ESNSearchCV, "fit", spy)
    search = ESNSearchCV(ESNClassifier(8, random_state=0), {"ridge": [1e-6]}, metric="error_rate")
    scored = evaluate(search, SEQUENCES, LABELS, origins=2, horizon=4, groups=groups)
    assert len(seen) == 2 and np.isfinite(scored.error_rate).all()
    (_, labels), more = _interleaved((SEQUENCES, LABELS), {"groups": groups}, LABELS)
    ordered = more["groups"]
    assert len(np.flatnonzero(np.diff(ordered))) == len(set(groups)) - 1  # together
    for start, trained in zip(scored.start.values, seen, strict=True):
        held = set(ordered[start : start + 4])
        assert not trained & held
        assert trained == set(ordered[:start]) - held


def test_a_classification_by_hand():
    metric = ["error_rate", "rmse"]
    model = search("classification", metric=metric)
    found = evaluate(model, SEQUENCES, LABELS, origins=2, horizon=5)
    assert found.start.values.tolist() == [20, 25]
    (sequences, labels), _ = _interleaved((SEQUENCES, LABELS), {}, LABELS)
    labels = np.array(labels)
    for origin, start in enumerate([20, 25]):
        fitted = search("classification", metric=metric).fit(sequences[:start], labels[:start])
        rest = slice(start, start + 5)
        wrong = error_rate(labels[rest], fitted.predict(sequences[rest]))
        assert found.error_rate[origin] == wrong
        truth = labels[rest][:, None] == fitted.best_estimator_.classes_
        outputs = fitted.decision_function(sequences[rest])
        assert found.rmse[origin] == pytest.approx(rmse(truth.astype(float), outputs), rel=1e-12)


def test_two_classes():
    labels = np.where(LABELS == "mid", 1, 0)
    model = ESNSearchCV(ESNClassifier(12, random_state=SEED), SPACE, cv=3, metric="error_rate")
    found = evaluate(model, SEQUENCES, labels, origins=2, horizon=5)
    fitted = model.fit(SEQUENCES[:25], labels[:25])
    assert found.error_rate[1] == error_rate(labels[25:], fitted.predict(SEQUENCES[25:]))


# --- honest ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["forecast", "regression"])
def test_what_comes_later_changes_nothing(task):
    data = TASKS[task][1]
    before = evaluate(search(task), *data, origins=2, horizon=12)
    start = int(before.start[1])
    changed = [np.concatenate([d[:start], d[start:] * 3 + 1]) for d in data]
    after = evaluate(search(task), *changed, origins=2, horizon=12)
    assert before.nrmse[0] == after.nrmse[0]  # chosen and scored before the change
    assert before.validation[1] == after.validation[1]  # chosen before it, scored after
    assert before.nrmse[1] != after.nrmse[1]
    changed = [np.concatenate([d[: start - 5], d[start - 5 :] * 3 + 1]) for d in data]
    assert (
        evaluate(search(task), *changed, origins=2, horizon=12).validation[1]
        != (before.validation[1])
    )


# --- what stays and what is kept ------------------------------------------------------------------


def test_a_fitted_search_keeps_the_evaluation_and_shows_it():
    fitted = search().fit(SERIES)
    results, best = fitted.results_, fitted.best_estimator_
    assert fitted.evaluation_ is None and "honest nrmse" not in fitted.summary()
    found = evaluate(fitted, SERIES, origins=2, horizon=12)
    assert fitted.evaluation_ is found
    assert fitted.results_ is results and fitted.best_estimator_ is best
    text = fitted.summary().splitlines()[-1]
    assert f"on 2 stretches it had not seen: {float(found.nrmse.mean()):.4f}" in text
    assert f"validation: {fitted.best_score_:.4f}" in text
    assert fitted.fit(SERIES).evaluation_ is None


def test_a_search_that_was_not_fitted_stays_so(tmp_path):
    unfitted = search(checkpoint=tmp_path / "checkpoint")
    evaluate(unfitted, SERIES, origins=1, horizon=12)
    assert not hasattr(unfitted, "results_")
    assert not (tmp_path / "checkpoint").exists()  # every beginning is another search
    assert unfitted.checkpoint == tmp_path / "checkpoint"


def test_with_an_executor():
    with ThreadPoolExecutor(2) as executor:
        found = evaluate(search(executor=executor), SERIES, origins=1, horizon=12)
    assert found.identical(evaluate(search(), SERIES, origins=1, horizon=12))


def test_pandas_and_other_finals_and_draws():
    y = pd.Series(SERIES, index=pd.date_range("2024-01-01", periods=161, freq="D"))
    options = {"final": "average", "n_draws": 2, "select": "draw"}
    found = evaluate(search(**options), y, origins=1, horizon=12)
    fitted = search(**options).fit(SERIES[:149])
    assert found.nrmse[0] == pytest.approx(nrmse(SERIES[149:], fitted.forecast(12)), rel=1e-9)


def test_the_default_horizon_is_that_of_validation():
    assert evaluate(search(), SERIES, origins=1).attrs["horizon"] == 12
    assert _default_horizon(search(cv=CV), (SERIES,), {}, 161) == 16  # a tenth of the data at most
    grouped = search("regression", cv=GroupKFold(4))
    more = {"sample_weight": np.ones(160), "groups": np.arange(160) % 4}
    assert _default_horizon(grouped, (INPUTS, OUTPUTS), more, 400) == 36


def test_stretches_of_one_row_are_measured_against_all_data():
    found = evaluate(search(), SERIES, origins=1, horizon=1)
    fitted = search().fit(SERIES[:160])
    expected = abs(SERIES[160] - fitted.forecast(1)[0]) / np.sqrt(variation(SERIES))
    assert found.nrmse[0] == pytest.approx(expected, rel=1e-12)


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "options", "error", "message"),
    [
        ((SERIES,), {"origins": 0}, ValueError, "origins=0 is not allowed"),
        ((SERIES,), {"horizon": 0}, ValueError, "horizon=0 is not allowed"),
        ((SERIES,), {"horizon": 2.5}, ValueError, "horizon=2.5 is not allowed"),
        (
            (SERIES,),
            {"origins": 10, "horizon": 15},
            ValueError,
            "origins=10 stretches of horizon=15 leave 11 of 161 rows.*at least 20.*fewer origins",
        ),
        (
            (SERIES,),
            {"horizon": 12, "origins": 2, "level": 2},
            ValueError,
            "level=2 is not allowed",
        ),
        ((), {"horizon": 9}, TypeError, r"evaluate got 0 data sets .*evaluate\(search, y, ...\)"),
    ],
)
def test_bad_arguments(data, options, error, message):
    with pytest.raises(error, match=message):
        evaluate(search(), *data, **options)


def test_targets_must_be_given_by_position():
    with pytest.raises(TypeError, match="got 1 data sets by position and needs X, y"):
        evaluate(search("regression"), INPUTS, y=OUTPUTS, horizon=9)


def test_a_warning_is_given_once_for_all_beginnings():
    y = np.sin(np.arange(120) / 4)
    y[[20, 45]] = np.nan
    search = ESNSearchCV(ESNForecaster(8, random_state=0), {"ridge": [1e-3]}, cv=KFold(3))
    with pytest.warns(EchofoldWarning, match="2 values of 90 are missing") as said:
        evaluate(search, y, origins=3, horizon=10)
    assert len(said) == 1 and str(said[0].message).count("values of") == 1
    assert said[0].filename == __file__


def test_a_function_is_not_shown_a_forecast_that_runs_away():
    truth, metric = SERIES[:5], resolve(mean_absolute_error)  # which takes finite numbers alone
    away = np.where(np.arange(5) < 3, truth, np.inf)
    assert score_given(metric, truth, truth + 1, spread_of(SERIES)) == pytest.approx(1)
    assert score_given(metric, truth, away, spread_of(SERIES)) == np.inf


def test_a_zero_is_named_by_its_row_of_the_data():
    y = 2 + np.sin(np.arange(120) / 4)
    y[107] = 0.0
    model = ESNForecaster(8, random_state=0)
    search = ESNSearchCV(model, {"ridge": [1e-3]}, cv=KFold(3), metric="mape")
    with pytest.raises(ValueError, match="y_true is 0 in row 107"):
        evaluate(search, y, origins=2, horizon=10)
    with pytest.raises(ValueError, match="y_true is 0 in row 107"):
        backtest(model.fit(y[:90]), y, [100, 104], 10, metric="mape")
