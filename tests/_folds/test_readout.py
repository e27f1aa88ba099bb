"""Readouts of states from anywhere, against scikit-learn and with states from reservoirpy."""

import warnings

import numpy as np
import pandas as pd
import pytest
from cases import same_scores
from sklearn.linear_model import LinearRegression, Ridge, RidgeCV
from sklearn.model_selection import GroupKFold, ShuffleSplit, cross_val_predict

from echofold import (
    Accumulative,
    ESNRegressor,
    KFold,
    LeaveOneOut,
    WalkForward,
    cross_validate,
    cross_validate_readout,
)
from echofold._machine.notices import EchofoldWarning

ALPHAS = np.logspace(-6, 4, 11)
ALGORITHMS = ["naive", "small_k", "large_k", "auto"]
_rng = np.random.default_rng(7)
STATES = _rng.normal(size=(90, 12)) @ _rng.normal(size=(12, 12)) + 3
TARGETS = STATES[:, :2] + 4 * _rng.normal(size=(90, 2)) + [10, -20]
WEIGHTS = _rng.uniform(0.2, 3, size=90)


# --- scikit-learn -------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("rows", [90, 8], ids=["tall", "wide"])
def test_leave_one_out_is_that_of_ridge_cv(algorithm, weights, rows):
    X, y = STATES[:rows], TARGETS[:rows, 0]
    weights = None if weights is None else weights[:rows]
    # With fewer rows than columns theirs come from inner products and lose digits below 1e-2.
    alphas = ALPHAS if rows == 90 else ALPHAS[4:]
    theirs = RidgeCV(alphas, store_cv_results=True).fit(X, y, sample_weight=weights)
    found = cross_validate_readout(
        X,
        y,
        cv=LeaveOneOut(),
        ridge=alphas,
        metric="mse",
        sample_weight=weights,
        algorithm=algorithm,
    )
    # Theirs weigh the errors too, which is why those of the choice are compared without weights.
    errors = theirs.cv_results_ if weights is None else theirs.cv_results_ / weights[:, None]
    same_scores(found.mse, errors)
    if weights is None:
        best = float(found.mse.mean("split").idxmin("ridge"))
        assert best == theirs.alpha_
        assert rows < 90 or ALPHAS[0] < best < ALPHAS[-1]
        assert float(found.mse.mean("split").min()) == pytest.approx(-theirs.best_score_)


def test_several_outputs_choose_as_ridge_cv_does():
    theirs = RidgeCV(ALPHAS, store_cv_results=True).fit(STATES, TARGETS)
    found = cross_validate_readout(STATES, TARGETS, cv=LeaveOneOut(), ridge=ALPHAS, metric="mse")
    same_scores(found.mse, theirs.cv_results_.mean(axis=1))
    assert float(found.mse.mean("split").idxmin("ridge")) == theirs.alpha_


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("penalised", [False, True])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    "cv",
    [
        KFold(6),
        KFold(5, valid=20, gap=(4, 1)),
        Accumulative(4, gap=3),
        WalkForward(5, valid=8),
        ShuffleSplit(4, random_state=0),
    ],
    ids=repr,
)
def test_a_loop_of_ridge(cv, weights, penalised, algorithm):
    alphas = [1e-3, 1.0, 100.0]
    found = cross_validate_readout(
        STATES,
        TARGETS,
        cv=cv,
        ridge=alphas,
        metric="mse",
        penalize_bias=penalised,
        sample_weight=weights,
        algorithm=algorithm,
        readouts=True,
    )
    X = np.insert(STATES, 0, 1.0, axis=1) if penalised else STATES
    for split, (train, valid) in enumerate(cv.split(STATES)):
        for place, alpha in enumerate(alphas):
            ridge = Ridge(alpha, fit_intercept=not penalised)
            w = None if weights is None else weights[train]
            ridge.fit(X[train], TARGETS[train], sample_weight=w)
            error = np.mean((TARGETS[valid] - ridge.predict(X[valid])) ** 2)
            assert float(found.mse[split, place]) == pytest.approx(error, rel=1e-8)
            if not penalised:
                ours = found.readout.values[split, place]
                np.testing.assert_allclose(ours[0], ridge.intercept_, rtol=1e-8)
                np.testing.assert_allclose(ours[1:], ridge.coef_.T, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_ridge_of_zero_is_linear_regression(algorithm):
    found = cross_validate_readout(
        STATES, TARGETS, cv=KFold(6), ridge=0, metric="mse", algorithm=algorithm
    )
    predicted = cross_val_predict(LinearRegression(), STATES, TARGETS, cv=KFold(6))
    expected = ((predicted - TARGETS) ** 2).reshape(6, -1).mean(axis=1)
    same_scores(found.mse[:, 0], expected)


# --- reservoirpy --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def foreign():
    """States of another library's reservoir, driven by noise, and what to remember of it."""
    nodes = pytest.importorskip("reservoirpy.nodes")
    signal = np.random.default_rng(0).uniform(-0.5, 0.5, size=(400, 1))
    states = nodes.Reservoir(
        40, lr=0.7, sr=0.9, input_connectivity=1.0, rc_connectivity=0.5, seed=1
    ).run(signal)
    return signal[50:], states[50:], np.roll(signal, 2, axis=0)[50:]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_states_of_reservoirpy(foreign, algorithm):
    _, states, target = foreign
    found = cross_validate_readout(
        states, target, cv=KFold(10, gap=5), ridge=[0.0, 1e-6, 1e-2], algorithm=algorithm
    )
    plain = cross_validate_readout(
        states, target, cv=KFold(10, gap=5), ridge=[0.0, 1e-6, 1e-2], algorithm="naive"
    )
    same_scores(found.nrmse, plain.nrmse)
    mean = found.nrmse.mean("split").values
    assert mean[0] < 0.2  # it remembers
    assert 1 < float(found.condition) < 1e6


def test_readouts_of_reservoirpy(foreign):
    nodes = pytest.importorskip("reservoirpy.nodes")
    _, states, target = foreign
    found = cross_validate_readout(
        states, target, cv=KFold(5), ridge=1e-2, readouts=True, metric="rmse"
    )
    for split, (train, valid) in enumerate(KFold(5).split(states)):
        # Their bias is not penalised either.
        theirs = nodes.Ridge(ridge=1e-2).fit(states[train], target[train])
        error = np.sqrt(np.mean((theirs.run(states[valid]) - target[valid]) ** 2))
        assert float(found.rmse[split, 0]) == pytest.approx(error, rel=1e-6)
        np.testing.assert_allclose(
            found.readout.values[split, 0, 1:], theirs.Wout, rtol=1e-5, atol=1e-9
        )


# --- our own states -----------------------------------------------------------------------------


def test_states_of_the_same_reservoir_give_what_cross_validate_gives():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(220, 2))
    y = np.roll(X[:, 0], 1) + 0.1 * rng.normal(size=220)
    model = ESNRegressor(10, random_state=0, washout=20, scale=None, spectral_radius=0.8)
    whole = cross_validate(model, X, y, cv=KFold(8, gap=2), ridge=ALPHAS, readouts=True)
    fitted = model.fit(X, y)
    states, x = [], np.zeros(10)
    for u in X:
        x = np.tanh(fitted.W_in_ @ np.concatenate([[1.0], u]) + fitted.W_ @ x)
        states.append(np.concatenate([u, x]))
    parts = cross_validate_readout(
        states[20:], y[20:], cv=KFold(8, gap=2), ridge=ALPHAS, readouts=True
    )
    same_scores(parts.nrmse, whole.nrmse)
    np.testing.assert_allclose(parts.readout, whole.readout, rtol=1e-6, atol=1e-9)


# --- what goes in and comes out -----------------------------------------------------------------


def test_frames_and_lists_are_as_good_as_arrays():
    expected = cross_validate_readout(STATES, TARGETS[:, 0], cv=5).nrmse
    frame = cross_validate_readout(pd.DataFrame(STATES), pd.Series(TARGETS[:, 0]), cv=5).nrmse
    lists = cross_validate_readout(STATES.tolist(), TARGETS[:, :1].tolist(), cv=5).nrmse
    same_scores(frame, expected)
    same_scores(lists, expected)


def test_what_the_result_holds():
    found = cross_validate_readout(
        STATES,
        TARGETS,
        cv={"CV": KFold(5), "groups": GroupKFold(3)},
        ridge=ALPHAS,
        groups=np.arange(90) % 4,
    )
    assert list(found) == ["CV", "groups"]
    assert found["CV"].nrmse.shape == (5, len(ALPHAS))
    assert found["groups"].sizes["split"] == 3
    attrs = found["CV"].attrs
    assert attrs["steps_driven"] == 0
    assert attrs["memory"] == "states"
    assert attrs["algorithm"] in ("naive", "small_k", "large_k")
    assert attrs["reason"]
    assert float(found["CV"].condition) == pytest.approx(
        np.linalg.cond(STATES - STATES.mean(axis=0)), rel=1e-6
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_collinear_states_give_the_readout_of_least_norm_and_one_warning(algorithm):
    X = np.hstack([STATES, STATES[:, :3]])
    with pytest.warns(EchofoldWarning, match="collinear to working precision") as caught:
        found = cross_validate_readout(
            X, TARGETS, cv=KFold(6), ridge=0, readouts=True, algorithm=algorithm
        )
    assert len(caught) == 1
    assert float(found.condition) > 1e14
    for split, (train, _) in enumerate(KFold(6).split(X)):
        x, y = X[train].mean(axis=0), TARGETS[train].mean(axis=0)
        w = np.linalg.lstsq(X[train] - x, TARGETS[train] - y, rcond=1e-12)[0]
        ours = found.readout.values[split, 0]
        np.testing.assert_allclose(ours[1:], w, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(ours[0], y - x @ w, rtol=1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_validate_readout(X, TARGETS, cv=KFold(6), ridge=1e-6, algorithm=algorithm)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"targets": TARGETS[:-1]}, ValueError, "states has 90 rows but targets has 89"),
        ({"states": STATES * np.nan}, ValueError, "states contains NaN"),
        ({"targets": None}, (TypeError, ValueError), "targets"),
        ({"sample_weight": WEIGHTS[:-1]}, ValueError, r"sample_weight has shape \(89,\)"),
        ({"sample_weight": -WEIGHTS}, ValueError, "sample_weight is -"),
        ({"groups": np.arange(89), "cv": GroupKFold(3)}, ValueError, r"groups has shape \(89,\)"),
        ({"ridge": -1}, ValueError, "ridge=-1 is not allowed"),
        ({"metric": "error_rate"}, ValueError, "needs a classifier"),
        ({"metric": ["mse", "mse"]}, ValueError, "2 entries named 'mse'"),
        ({"algorithm": "quick"}, ValueError, "algorithm='quick' is unknown"),
        ({"cv": 1}, ValueError, "k=1 is not allowed: it must be an integer of at least 2"),
        ({"cv": 91}, ValueError, "k=91 folds need at least 91 rows"),
    ],
)
def test_bad_arguments(change, error, message):
    with pytest.raises(error, match=message):
        cross_validate_readout(**{"states": STATES, "targets": TARGETS, **change})
