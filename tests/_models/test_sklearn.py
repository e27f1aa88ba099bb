import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.metrics import get_scorer, r2_score
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from echofold import ESNClassifier, ESNForecaster, ESNRegressor, ESNSearchCV, load, save

AGAINST_TIME_ORDER = {
    "check_methods_sample_order_invariance": "a prediction depends on the rows before it",
    "check_methods_subset_invariance": "a prediction depends on the rows before it",
    "check_sample_weight_equivalence_on_dense_data": "removing or repeating a row changes the "
    "states of all later rows",
}


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [(ESNRegressor(units=20), AGAINST_TIME_ORDER), (ESNClassifier(units=20), {})],
)
@pytest.mark.filterwarnings("ignore")
def test_check_estimator(estimator, expected):
    results = check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
    failed = {r["check_name"] for r in results if r["status"] not in ("passed", "skipped")}
    assert failed == set(expected)
    assert len(results) > 40


@pytest.mark.parametrize("cls", [ESNForecaster, ESNRegressor, ESNClassifier])
def test_parameters_survive_clone_and_show_in_repr(cls):
    model = cls(30, leak_rate=0.5, W=np.eye(30))
    copy = clone(model)
    assert copy.get_params()["leak_rate"] == 0.5
    assert np.array_equal(copy.W, np.eye(30))
    assert "leak_rate=0.5" in repr(model)
    assert "leak_rate" in model._repr_html_()


def test_grid_search_and_pipeline_take_a_regressor():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = X[:, 0] + np.roll(X[:, 1], 1)
    pipeline = make_pipeline(StandardScaler(), ESNRegressor(units=20, random_state=0))
    grid = {"esnregressor__ridge": [1e-4, 1e6]}
    search = GridSearchCV(pipeline, grid, cv=TimeSeriesSplit(2)).fit(X, y)
    assert search.best_params_ == {"esnregressor__ridge": 1e-4}
    assert search.best_score_ > 0.5


def test_score_is_r2_from_a_zero_state():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    Y = np.column_stack([X[:, 0], np.roll(X[:, 1], 1)])
    model = ESNRegressor(units=20, random_state=0).fit(X, Y)
    assert model.score(X, Y) == pytest.approx(r2_score(Y, model.predict(X, start="zero")))
    assert model.score(X, Y) != model.score(X[5:], Y[5:])


def test_regressor_keeps_and_checks_column_names():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    model = ESNRegressor(units=20, random_state=0).fit(frame, frame["a"])
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a"]])


def tables(classes=2, rows=60):
    """Sequences as rows of a table, of so many frequencies, with noise."""
    rng, of = np.random.default_rng(0), np.arange(rows) % classes
    waves = np.sin(np.arange(30) * (1 + of)[:, None] / 4)
    return waves + 0.7 * rng.normal(size=waves.shape), np.array(list("cab"))[of]


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "neg_brier_score", "accuracy"])
def test_scorers_take_a_classifier_and_a_search_of_one(scoring):
    X, y = tables()
    y = (y == "c").astype(int)
    model = ESNClassifier(units=20, random_state=0)
    scores = cross_val_score(model, X, y, cv=3, scoring=scoring)
    assert np.isfinite(scores).all()
    search = ESNSearchCV(model, {"ridge": [1e-2]}, cv=3, metric="accuracy", progress=False)
    searched = cross_val_score(search, X, y, cv=3, scoring=scoring)
    alone = cross_val_score(clone(model).set_params(ridge=1e-2), X, y, cv=3, scoring=scoring)
    assert searched == pytest.approx(alone)


def test_other_ensembles_and_calibration_take_a_classifier():
    X, y = tables(classes=3)
    model = ESNClassifier(units=20, random_state=0)
    calibrated = CalibratedClassifierCV(model, cv=3).fit(X, y)
    assert np.allclose(calibrated.predict_proba(X).sum(axis=1), 1)
    assert calibrated.score(X, y) > 0.6
    members = [("a", model), ("b", clone(model).set_params(random_state=1))]
    voting = VotingClassifier(members, voting="soft").fit(X, y)
    mean = np.mean([one.predict_proba(X) for one in voting.estimators_], axis=0)
    assert np.allclose(voting.predict_proba(X), mean)
    auc = get_scorer("roc_auc_ovr")(model.fit(X, y), X, y)
    assert auc > 0.8


def test_a_search_is_scored_as_what_it_searches(tmp_path):
    X, y = tables(classes=3)
    space = {"spectral_radius": [0.3, 0.9], "ridge": [1e-4, 1.0]}
    model = ESNClassifier(units=20, random_state=0)
    search = ESNSearchCV(model, space, cv=3, metric="accuracy", progress=False).fit(X, y)
    wrong = ESNSearchCV(model, space, cv=3, metric="error_rate", progress=False).fit(X, y)
    assert is_classifier(search)
    assert not is_regressor(search)
    assert np.allclose(search.results_.accuracy, 1 - wrong.results_.error_rate)
    assert search.best_params_ == wrong.best_params_
    assert search.best_score_ == pytest.approx(1 - wrong.best_score_)
    assert search.score(X, y) == (search.predict(X) == y).mean()
    assert search.classes_.tolist() == ["a", "b", "c"]
    for final in ("retrain", "average"):
        one = search.finalize(final)
        save(one, tmp_path / "model")
        assert np.array_equal(load(tmp_path / "model").predict_proba(X), one.predict_proba(X))
    forecast = ESNSearchCV(ESNForecaster(20), {"ridge": [1.0]})
    assert not is_classifier(forecast)
    assert not hasattr(forecast, "predict_proba")
