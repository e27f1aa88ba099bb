"""A regressor whose outputs come back is a forecaster along known inputs."""

import numpy as np
import pytest
import reference
from kinds import KINDS, PLAIN, UNITS
from searches import INPUTS as X
from searches import RIDGE, SEED, one_by_one
from sklearn.base import clone

from echofold import (
    Accumulative,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    SingleSplit,
    WalkForward,
    cross_validate,
    evaluate,
    load,
    save,
)
from echofold._data import lazy

WASHOUT, NOISE = 20, 0.05
Y = np.zeros((len(X), 2))
for _t in range(1, len(X)):
    Y[_t, 0] = 0.7 * Y[_t - 1, 0] + 0.3 * X[_t, 0] - 0.2 * Y[_t - 1, 1]
    Y[_t, 1] = np.tanh(Y[_t - 1, 0] + X[_t, 1])
Y += 5
BEFORE = np.vstack([np.zeros((1, 2)), Y]), np.vstack([np.ones((1, 2)), X])  # of a forecaster
NEW = np.random.default_rng(0).normal(size=(30, 2))
SETTINGS = {"units": UNITS, "washout": WASHOUT, "random_state": SEED, "leak_rate": 0.7}
HOLES = Y.copy()
HOLES[[0, 40, 41, 90], [0, 1, 0, 1]] = np.nan


def regressor(**options):
    return ESNRegressor(**{**SETTINGS, "feedback": True, **options})


def pairs(model, noise):
    """Inputs of every step, in training and without noise."""
    y, u = model.y_scaler_.scaled(Y), model.X_scaler_.scaled(X)
    before = np.vstack([np.zeros((1, 2)), y[:-1]])
    drawn = np.random.default_rng([SEED, 4]).normal(size=y.shape)
    return np.hstack([before + noise * drawn, u]), np.hstack([before, u])


@pytest.mark.parametrize("name", ["leaky", "noise", "nvar, linear", "deeper"])
def test_training_and_predictions_equal_the_equations(name):
    options = {"random_state": SEED, "washout": WASHOUT, "feedback_noise": NOISE, "ridge": 1e-2}
    model = ESNRegressor(reservoir=KINDS[name], feedback=True, **options).fit(X, Y)
    plain, rows = PLAIN[type(model.reservoir_)](model), []
    noisy, true = pairs(model, NOISE)
    x = plain.rest
    for n, u in enumerate(noisy):
        x = plain.step(x, u, n)
        rows.append([1.0, *u, *plain.look(x, u)])
    rows, y = np.array(rows)[WASHOUT:], model.y_scaler_.scaled(Y)
    (found,) = model._states(clone(model)._read(X, Y), SEED).kept()
    np.testing.assert_allclose(found, rows[:, 1:], rtol=1e-10, atol=1e-10)
    W = reference.ridge(rows, y[WASHOUT:], 1e-2, False)
    np.testing.assert_allclose(rows @ model.readout_, rows @ W, rtol=0, atol=1e-9)
    x = plain.rest
    for u in true:
        x = plain.step(x, u)
    model.readout_ = W
    for start, state, back in (("zero", plain.rest, np.zeros(2)), ("last", x, y[-1])):
        expected = []
        for u in model.X_scaler_.scaled(NEW):
            both = np.concatenate([back, u])
            state = plain.step(state, both)
            back = np.concatenate([[1.0], both, plain.look(state, both)]) @ W
            expected.append(model.y_scaler_.original(back))
        np.testing.assert_allclose(model.predict(NEW, start), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("algorithm", ["auto", "small_k", "large_k", "naive"])
@pytest.mark.parametrize("range_", [None, ([4.9, -np.inf], [5.2, 5.5])])
def test_it_is_the_forecaster_with_these_inputs_to_the_last_bit(algorithm, range_):
    options = {"scale": None, "ridge": 1e-2}
    if range_ is not None:  # a forecaster's data lie inside
        range_ = ([-1, -np.inf], [5.2, 5.9])
    data = (np.clip(Y, -9, [5.2, 5.9]), np.clip(BEFORE[0], -9, [5.2, 5.9]))
    model = regressor(output_range=range_, **options).fit(X, data[0])
    other = ESNForecaster(**SETTINGS, output_range=range_, **options).fit(data[1], BEFORE[1])
    assert (model.readout_ == other.readout_).all()
    assert (model.predict(NEW, start="last") == other.forecast(30, NEW)).all()
    schemes = {
        "folds": KFold(5, gap=2), "short": KFold(6, valid=9), "grow": Accumulative(3),
        "walk": WalkForward(3), "one": SingleSplit(0.2), "all": LeaveOneOut(),
    }  # fmt: skip
    metrics = ["nrmse", "mae", "mse"]
    one, two = (
        cross_validate(each, *data, cv=schemes, ridge=RIDGE, algorithm=algorithm, metric=metrics)
        for each, data in ((model, (X, data[0])), (other, (data[1], BEFORE[1])))
    )
    for name in schemes:
        for metric in metrics:
            assert (one[name][metric].values == two[name][metric].values).all()


def test_all_schemes_equal_plain_refits_in_a_closed_loop():
    model = regressor().fit(X, Y)
    plain, y = PLAIN[type(model.reservoir_)](model), model.y_scaler_.scaled(Y)
    inputs, states, x = pairs(model, 0.0)[1], [], plain.rest
    for u in inputs:
        x = plain.step(x, u)
        states.append(x)
    rows = np.hstack([np.ones((len(y), 1)), inputs, states])
    for scheme in (KFold(4), Accumulative(3), WalkForward(3, valid=15)):
        found = cross_validate(model, X, Y, cv=scheme, ridge=[1e-4], metric="mse").mse.values
        for split, (train, valid) in enumerate(scheme.split(rows[WASHOUT:])):
            train, valid = train + WASHOUT, valid + WASHOUT
            W = reference.ridge(rows[train], y[train], 1e-4, False)
            back, x, errors = rows[valid[0]] @ W, states[valid[0]], []
            for row in valid:
                if row > valid[0]:
                    both = np.concatenate([back, inputs[row, 2:]])
                    x = plain.step(x, both)
                    back = np.concatenate([[1.0], both, x]) @ W
                errors.append((model.y_scaler_.original(back) - Y[row]) ** 2)
            np.testing.assert_allclose(found[split], np.mean(errors), rtol=1e-8)


@pytest.mark.parametrize("algorithm", ["auto", "naive"])
def test_missing_values_and_weights_are_those_of_the_forecaster(algorithm):
    weights = np.linspace(0, 1, len(Y))
    model = regressor(scale=None)
    other = ESNForecaster(**SETTINGS, scale=None)
    before = np.vstack([np.zeros((1, 2)), HOLES]), BEFORE[1], np.append(1.0, weights)
    options = {"cv": KFold(4), "ridge": RIDGE, "algorithm": algorithm}
    with pytest.warns(UserWarning, match=r"missing.*As an input"):
        one = cross_validate(model, X, HOLES, weights, **options).nrmse.values
    with pytest.warns(UserWarning, match="missing"):
        two = cross_validate(other, *before, **options).nrmse.values
    assert (one == two).all()


@pytest.mark.parametrize("device", [False, True])
def test_a_search_equals_its_candidates_one_by_one(device, accelerated):
    accelerated(device)
    space = {
        "feedback": [False, True], "feedback_noise": [0.0, NOISE], "leak_rate": [0.4, 1.0],
        "ridge": RIDGE,
    }  # fmt: skip
    search = ESNSearchCV(
        ESNRegressor(UNITS, random_state=SEED, device="cpu"), space, cv=KFold(4), verify=True
    ).fit(X, Y)
    expected = one_by_one(search, (X, Y))["nrmse"]
    np.testing.assert_allclose(search.results_.nrmse.values, expected, rtol=1e-7)
    assert search.best_params_["feedback"] is True
    assert len(np.unique(expected[0, :, 0, 0].round(9))) == 6  # noise says nothing without


def test_final_models_pruning_and_what_is_made_of_a_search(tmp_path, undrawn):
    space = {"leak_rate": [0.4, 1.0], "ridge": RIDGE}
    search = ESNSearchCV(regressor(), space, cv=KFold(4)).fit(X, Y)
    for final in ("retrain", "average", "best", "weighted"):
        model = search.finalize(final)
        assert model.score(X, Y) > 0.9
        assert not hasattr(model, "residuals_")
        save(model, tmp_path / "kept.echofold")
        assert (load(tmp_path / "kept.echofold").predict(NEW) == model.predict(NEW)).all()
    whole = regressor(leak_rate=search.best_params_["leak_rate"]).set_params(
        ridge=search.best_params_["ridge"]
    )
    np.testing.assert_allclose(search.predict(X), whole.fit(X, Y).predict(X), rtol=1e-9)
    pruned = ESNSearchCV(regressor(), space, cv=KFold(4), prune=True).fit(X, Y)
    assert pruned.best_params_ == search.best_params_
    search.report(tmp_path / "report.html")
    assert "Inputs known in advance" in (tmp_path / "report.html").read_text()
    found = evaluate(search, X, Y, origins=2, horizon=20)
    assert np.isfinite(found.nrmse.values).all()
    with pytest.raises(ValueError, match="needs a search of an ESNForecaster"):
        search.finalize("ensemble")


@pytest.mark.parametrize("data", [Y, HOLES])
@pytest.mark.filterwarnings("ignore:.*missing")
def test_learning_on_equals_one_fit(data, tmp_path):
    settings = {"scale": None, "ridge": 1e-4}
    whole = regressor(**settings).fit(X, data)
    model = regressor(**settings).fit(X[:100], data[:100])
    save(model, tmp_path / "kept.echofold", learning=True)
    model = load(tmp_path / "kept.echofold")
    for cut in range(100, len(X), 12):
        model = model.partial_fit(X[cut : cut + 12], data[cut : cut + 12])
    np.testing.assert_allclose(model.predict(NEW, "last"), whole.predict(NEW, "last"), atol=1e-9)


def test_states_are_those_along_its_own_outputs():
    model = regressor().fit(X, Y)
    states, outputs = model.states(NEW), model.y_scaler_.scaled(model.predict(NEW))
    beside = np.hstack([np.vstack([np.zeros((1, 2)), outputs[:-1]]), model.X_scaler_.scaled(NEW)])
    seen = reference.extended(beside, states.values) @ model.readout_
    np.testing.assert_allclose(seen, outputs, rtol=1e-9)
    assert not np.allclose(model.states(NEW, start="last")[0], states[0])


def test_the_ridge_is_that_of_what_feeds_on_itself():
    own = regressor().fit(X, Y).readout_
    assert (own == regressor(ridge=1e-2).fit(X, Y).readout_).all()
    both = regressor(ridge=[1e-2, 1.0]).fit(X, Y).readout_
    np.testing.assert_allclose(both[:, 0], own[:, 0], atol=1e-9)
    assert not np.allclose(both[:, 1], own[:, 1])
    np.testing.assert_array_equal(
        cross_validate(regressor(), X, Y, cv=KFold(3)).ridge.values, [1e-2]
    )


def test_what_does_not_fit_is_refused(tmp_path, monkeypatch):
    for several in ([X, X], X[None]):
        with pytest.raises(ValueError, match=r"feedback=True is for one series.*for each series"):
            regressor().fit(several, [Y, Y] if isinstance(several, list) else Y[None])
    with pytest.raises(ValueError, match="feedback=True is for one series"):
        ESNRegressor(feedback=True).fit([X[:9], X[:8]], [0.0, 1.0])
    stored = np.memmap(tmp_path / "X", dtype=float, shape=X.shape, mode="w+")
    stored[:] = X
    monkeypatch.setattr(lazy, "SMALL", 100)
    with pytest.raises(ValueError, match=r"read in blocks, and feedback=True"):
        regressor().fit(stored, Y)
    with pytest.raises(ValueError, match=r"X is so long.*feedback=True runs along what is in mem"):
        regressor().fit(X, Y).predict(stored)
    with pytest.raises(ValueError, match=r"partial_fit cannot go on with feedback_noise=0.1"):
        regressor(feedback_noise=0.1).fit(X, Y).partial_fit(NEW, NEW)
    with pytest.raises(ValueError, match="feedback='yes' is not allowed: it must be True or Fal"):
        regressor(feedback="yes").fit(X, Y)
    with pytest.raises(ValueError, match="feedback_noise=-1"):
        regressor(feedback_noise=-1).fit(X, Y)
    with pytest.raises(ValueError, match=r"ridge_per='output'.*come back as inputs"):
        ESNSearchCV(regressor(), {"ridge": RIDGE}, ridge_per="output").fit(X, Y)
    with pytest.raises(ValueError, match="not one interval each"):
        cross_validate(regressor(), X, Y, cv=KFold(3, shuffle=True, random_state=0))


def test_noise_is_of_the_seed_and_its_size():
    one, again, other, none = (
        regressor(feedback_noise=noise, random_state=seed)._read(X, Y).segments.steps
        for noise, seed in ((0.1, 1), (0.1, np.random.RandomState(0)), (0.1, 2), (0.0, 1))
    )
    assert 0.09 < (one - none)[:, :2].std() < 0.11
    assert (one[:, 2:] == none[:, 2:]).all()
    assert not np.allclose(one, other)
    assert not np.allclose(one, again)
    unseeded = (regressor(feedback_noise=0.1, random_state=None)._read(X, Y) for _ in range(2))
    assert np.ptp([each.segments.steps for each in unseeded], axis=0).max() == 0
