"""A ridge for each output of an open loop: chosen by validation, fitted, stored, refused."""

import numpy as np
import pytest
from sklearn.base import clone

from echofold import (
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    cross_validate,
    load,
    save,
)
from echofold.metrics import rmse

PATH = [1e-8, 1e-4, 1e-1, 10.0, 1e3]
RNG = np.random.default_rng(0)
U = RNG.normal(size=(300, 2))
# The first output is a clean function of the past, the second one almost only noise.
Y = np.column_stack([np.roll(U[:, 0], 1), 0.1 * U[:, 1] + RNG.normal(size=300)])


def searched(data=(U, Y), **options):
    model = ESNRegressor(40, washout=20, random_state=0)
    settings = {"cv": KFold(5), "metric": "rmse", "ridge_per": "output"} | options
    space = {"leak_rate": [0.5, 1.0], "ridge": PATH}
    return ESNSearchCV(model, space, **settings).fit(*data)


def best_alone(search, output):
    """The ridge that a search for one output would find, with the winner's other parameters."""
    model = clone(search.best_estimator_).set_params(ridge=1.0)
    alone = ESNSearchCV(model, {"ridge": PATH}, cv=KFold(5), metric="mse")
    return alone.fit(U, Y[:, output]).best_params_["ridge"]


def test_each_output_gets_the_ridge_of_a_search_for_it_alone():
    search = searched()
    expected = [best_alone(search, output) for output in (0, 1)]
    assert expected[0] < expected[1]
    assert search.best_params_["ridge"] == expected
    assert search.best_score_ < searched(ridge_per="all").best_score_


@pytest.mark.parametrize("final", ["retrain", "average", "best", "weighted"])
def test_final_models_are_made_of_columns_with_ridges_of_their_own(final):
    search = searched()
    model = search.finalize(final)
    own = search.best_params_["ridge"]
    for output, ridge in enumerate(own):
        common = ESNSearchCV(
            clone(model).set_params(ridge=1.0), {"ridge": [ridge]}, cv=KFold(5), metric="rmse"
        ).fit(U, Y)
        if final in ("retrain", "average"):
            column = common.finalize(final).readout_[:, output]
            np.testing.assert_allclose(model.readout_[:, output], column, rtol=1e-7, atol=1e-10)
    assert model.ridge == own


def test_the_score_is_that_of_the_validation_outputs():
    search = searched()
    found = search._winners.outputs("cv")
    errors = [rmse(truth, given) for truth, given in zip(found.truth, found.outputs, strict=True)]
    np.testing.assert_allclose(search.best_score_, np.mean(errors), rtol=1e-10)


def test_an_estimator_takes_one_for_each_output_and_keeps_it_in_its_file(tmp_path):
    both = ESNRegressor(30, ridge=[1e-4, 10.0], random_state=0).fit(U, Y)
    for output, ridge in enumerate(both.ridge):
        one = ESNRegressor(30, ridge=ridge, random_state=0).fit(U, Y)
        np.testing.assert_allclose(both.readout_[:, output], one.readout_[:, output], rtol=1e-9)
    save(both, tmp_path / "both.echofold")
    again = load(tmp_path / "both.echofold")
    assert list(again.ridge) == [1e-4, 10.0]
    np.testing.assert_array_equal(again.predict(U), both.predict(U))


def test_summary_and_report_tell_of_it(tmp_path):
    search = searched()
    assert f"each has its own: {search.best_score_:.4f}" in search.summary()
    assert search.report(tmp_path / "report.html").exists()


def test_a_classifier_has_one_for_each_class():
    sequences = [RNG.normal(size=(12, 2)) + label for label in (0, 1, 2) for _ in range(15)]
    labels = np.repeat([0, 1, 2], 15)
    model = ESNClassifier(20, random_state=0)
    search = ESNSearchCV(model, {"ridge": PATH}, cv=5, metric="error_rate", ridge_per="output").fit(
        sequences, labels
    )
    assert len(search.best_params_["ridge"]) == 3
    found = search._winners.outputs("cv")
    wrong = found.outputs.argmax(axis=2) != found.truth.argmax(axis=2)
    there = ~np.isnan(found.truth[:, :, 0])
    expected = np.mean([w[t].mean() for w, t in zip(wrong, there, strict=True)])
    np.testing.assert_allclose(search.best_score_, expected)


def test_one_output_is_the_common_ridge():
    alone = searched(data=(U, Y[:, 0]), metric="mse")
    common = searched(data=(U, Y[:, 0]), metric="mse", ridge_per="all")
    assert alone.best_params_ == common.best_params_
    np.testing.assert_allclose(alone.best_score_, common.best_score_, rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ESNRegressor(9, ridge=[1.0, 2.0, 3.0]).fit(U, Y), "3 values for 2 outputs"),
        (lambda: ESNRegressor(9, ridge=[1.0, -2.0]).fit(U, Y), r"ridge=-2.0 .*one for each output"),
        (lambda: ESNRegressor(9, ridge=[]).fit(U, Y), r"ridge=\[\]"),
        (lambda: ESNRegressor(9, ridge="12").fit(U, Y), "ridge='12'"),
        (lambda: ESNForecaster(9, ridge=[1.0, 2.0]).fit(Y), r"ridge=\[1.0, 2.0\]"),
        (lambda: searched(ridge_per="each"), "must be 'all', 'split', 'output'"),
        (lambda: searched().finalize("average", ridge_per="split"), "for each output is found"),
        (
            lambda: ESNSearchCV(ESNForecaster(9), {"units": [9]}, ridge_per="output").fit(Y),
            "needs a regressor or a classifier",
        ),
        (
            lambda: ESNSearchCV(ESNRegressor(9, ridge=[1.0, 2.0]), {"units": [9]}).fit(U, Y),
            r"give space\['ridge'\]",
        ),
        (lambda: cross_validate(ESNRegressor(9, ridge=[1.0, 2.0]), U, Y), "give ridge=... a path"),
    ],
)  # fmt: skip
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
