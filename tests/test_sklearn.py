import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from echofold import ESNClassifier, ESNForecaster, ESNRegressor

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
