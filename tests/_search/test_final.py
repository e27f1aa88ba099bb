"""Final models of the winner, against plain recomputations from the readouts of every split."""

import numpy as np
import pytest
from searches import CV, GRID, INPUTS, OUTPUTS, RIDGE, SEED, SERIES, TASKS, searched
from sklearn.base import clone

from echofold import (
    Accumulative,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    cross_validate,
)
from echofold._engine import states
from echofold._search.final_models import SplitReadouts, final_readout

FINALS = ["retrain", "average", "best", "weighted"]


def winner(search, draw=0):
    """The winner as a plain estimator, its ridge in place."""
    params = {**search.candidates_[search.best_index_], "ridge": search.best_params_["ridge"]}
    return clone(search.estimator).set_params(**params, random_state=SEED + draw)


def split_readouts(search, data, model, cv=None):
    """Readouts ``(split, ridge, feature, output)`` and RMSE ``(split, ridge)`` of the splits."""
    cv = search.cv if cv is None else cv
    found = cross_validate(
        model, *data, cv=cv, ridge=RIDGE, metric="rmse", algorithm="naive", readouts=True
    )
    return found.readout.values, found.rmse.values


def combined(final, W, rmse):
    """Readouts ``(split, feature, output)`` made into one, as the definition says."""
    if final == "average":
        return sum(W) / len(W)
    if final == "best":
        return W[int(np.argmin(rmse))]
    weights = [1 / error**2 for error in rmse]
    return sum(w * each for w, each in zip(weights, W, strict=True)) / sum(weights)


@pytest.fixture(scope="module", params=list(TASKS))
def search(request):
    return searched(request.param)


@pytest.mark.parametrize("final", FINALS[1:])
def test_final_models_of_split_readouts(search, final):
    data = search._reader.data
    model = winner(search)
    W, rmse = split_readouts(search, data, model)
    at = RIDGE.index(search.best_params_["ridge"])
    expected = combined(final, W[:, at], rmse[:, at])
    found = search.finalize(final)
    np.testing.assert_allclose(found.readout_, expected, rtol=1e-6, atol=1e-8)
    assert found.ridge == search.best_params_["ridge"]
    others = [combined(other, W[:, at], rmse[:, at]) for other in FINALS[1:] if other != final]
    assert all(np.abs(found.readout_ - other).max() > 1e-4 for other in others)


def test_retrain_is_a_fit_of_the_winner_on_all_data(search):
    fitted = winner(search).fit(*search._reader.data)
    for found in (search.finalize("retrain"), search.best_estimator_):
        np.testing.assert_allclose(found.readout_, fitted.readout_, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(found.W_in_, fitted.W_in_)
        np.testing.assert_array_equal(found.W_, fitted.W_)
        np.testing.assert_allclose(found.state_, fitted.state_, rtol=1e-12, atol=1e-15)
        assert (found.seed_, found.ridge) == (SEED, fitted.ridge)
        assert found.condition_ == pytest.approx(fitted.condition_, rel=1e-4)


@pytest.mark.parametrize("final", FINALS)
def test_the_model_asked_for_is_the_one_kept(final):
    search = searched("regression", final=final)
    np.testing.assert_array_equal(search.best_estimator_.readout_, search.finalize(final).readout_)
    np.testing.assert_array_equal(
        search.predict(INPUTS[:9]), search.finalize(final).predict(INPUTS[:9])
    )


@pytest.mark.parametrize("final", FINALS)
def test_individual_ridges(final):
    search = searched("regression", ridge_per="split")
    data = (INPUTS, OUTPUTS)
    scores = search.results_.nrmse.values[0, search.best_index_]
    at = scores.argmin(axis=1)
    assert len(set(at)) > 1  # the splits disagree
    ridges = np.array(RIDGE)[at]
    found = search.finalize(final)
    if final == "retrain":
        assert found.ridge == pytest.approx(ridges.mean(), rel=1e-15)
        assert search.best_params_["ridge"] == found.ridge
        expected = winner(search).fit(*data).readout_
    else:
        W, rmse = split_readouts(search, data, winner(search))
        splits = np.arange(len(at))
        expected = combined(final, W[splits, at], rmse[splits, at])
        best = ridges[rmse[splits, at].argmin()]
        assert found.ridge == pytest.approx(best if final == "best" else ridges.mean())
    np.testing.assert_allclose(found.readout_, expected, rtol=1e-6, atol=1e-8)


def test_the_ridge_grows_with_the_training_set_when_asked_to():
    search = searched("regression", cv=Accumulative(2, valid=36, min_train=50))
    rows = np.mean([50, 108])
    ridge = search.best_params_["ridge"]
    found = search.finalize("retrain", correct_ridge=True)
    assert found.ridge == pytest.approx(ridge * 144 / rows, rel=1e-14)
    expected = winner(search).set_params(ridge=ridge * 144 / rows).fit(INPUTS, OUTPUTS)
    np.testing.assert_allclose(found.readout_, expected.readout_, rtol=1e-9, atol=1e-12)
    assert search.finalize("retrain").ridge == ridge
    assert search.finalize("average", correct_ridge=True).ridge == ridge


@pytest.mark.parametrize("k", [3, 4, 6, 7, 10])
@pytest.mark.parametrize("ridge", [1e-6, 0.1, 0.7])
def test_the_ridge_reported_is_exactly_the_one_of_the_path(k, ridge):
    readouts = SplitReadouts(
        np.zeros((k, 3, 1)), np.ones(k), np.full((k, 1), ridge), np.full(k, 9), None
    )
    for final in FINALS[1:]:
        assert final_readout(final, None, readouts, False, False)[1] == ridge


# --- draws and schemes ----------------------------------------------------------------------------


def test_the_weights_are_those_of_the_best_draw_or_of_the_one_asked_for():
    search = searched(n_draws=3)
    at = RIDGE.index(search.best_params_["ridge"])
    scores = search.results_.nrmse.values[:, search.best_index_, :, at].mean(axis=1)
    best = int(scores.argmin())
    assert search.best_estimator_.seed_ == SEED + best
    expected = winner(search, best).fit(SERIES)
    np.testing.assert_allclose(search.best_estimator_.readout_, expected.readout_, rtol=1e-9)
    np.testing.assert_array_equal(search.best_estimator_.W_in_, expected.W_in_)

    other = (best + 1) % 3
    within = search.results_.nrmse.values[other].mean(axis=1)
    candidate, ridge = np.unravel_index(within.argmin(), within.shape)
    params = {**search.candidates_[candidate], "ridge": RIDGE[ridge], "random_state": SEED + other}
    expected = clone(search.estimator).set_params(**params).fit(SERIES)
    found = search.finalize("retrain", draw=other)
    np.testing.assert_allclose(found.readout_, expected.readout_, rtol=1e-9)
    np.testing.assert_allclose(found.forecast(5), expected.forecast(5), rtol=1e-9)


def test_individual_ridges_belong_to_the_draw_used():
    search = searched("regression", ridge_per="split", n_draws=2)
    best = search.best_estimator_.seed_ - SEED
    at = search.results_.nrmse.values[best, search.best_index_].argmin(axis=1)
    W, _ = split_readouts(search, (INPUTS, OUTPUTS), winner(search, best))
    np.testing.assert_allclose(
        search.finalize("average").readout_, W[np.arange(4), at].mean(axis=0), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("final", FINALS)
def test_individual_ridges_may_be_asked_for_later(final):
    common, individual = (
        searched("regression", n_draws=2, ridge_per="split" if own else "all")
        for own in (False, True)
    )
    for search, own in ((common, True), (individual, False)):
        other = individual if own else common
        found = search.finalize(final, ridge_per="split" if own else "all")
        np.testing.assert_array_equal(found.readout_, other.finalize(final).readout_)
        assert found.ridge == other.finalize(final).ridge
        assert found.seed_ == other.finalize(final).seed_
    assert common.finalize(final).ridge != individual.finalize(final).ridge


def test_the_best_draw_is_the_one_with_the_best_individual_ridges():
    search = searched("regression", {"ridge": RIDGE}, n_draws=2, ridge_per="split")
    scores = np.full((2, 1, 4, 3), 5.0)
    scores[0, 0, :, 0] = 2.0  # on the average over draws everyone prefers this ridge
    scores[1, 0, :, 0] = 4.0
    scores[1, 0, :, 2] = 1.0
    scores[0, 0, :, 2] = 9.0
    search.results_["nrmse"] = (("draw", "candidate", "split", "ridge"), scores)
    found = search.finalize("average")
    assert found.seed_ == SEED + 1
    assert found.ridge == RIDGE[2]


def test_each_scheme_makes_its_own_final_models():
    schemes = {"CV": CV, "AV": Accumulative(2, valid=36, min_train=50)}
    search = searched(cv=schemes)
    for name, scheme in schemes.items():
        alone = searched(cv=scheme)
        for final in ("retrain", "average"):
            np.testing.assert_allclose(
                search.finalize(final, scheme=name).readout_,
                alone.finalize(final).readout_,
                rtol=1e-6,
                atol=1e-9,
            )
        splits = len(search.results_[name].split)
        assert search.finalize("average", scheme=name).residuals_.shape == (splits, 36, 1)
    assert not np.allclose(
        search.finalize("average", scheme="CV").readout_,
        search.finalize("average", scheme="AV").readout_,
    )


def test_candidates_that_shape_the_problem():
    space = {"washout": [30], "scale": ["minmax"], "penalize_bias": [True], "ridge": [1e-2]}
    search = ESNSearchCV(TASKS["forecast"][0], space, cv=CV).fit(SERIES)
    params = {**search.best_params_, "random_state": SEED}
    expected = clone(search.estimator).set_params(**params).fit(SERIES)
    np.testing.assert_allclose(search.forecast(6), expected.forecast(6), rtol=1e-9)
    found = cross_validate(
        clone(expected), SERIES, cv=CV, algorithm="naive", readouts=True
    ).readout.values
    np.testing.assert_allclose(
        search.finalize("average").readout_, found[:, 0].mean(axis=0), rtol=1e-6, atol=1e-9
    )


# --- residuals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", [CV, KFold(5), LeaveOneOut()], ids=["equal", "unequal", "one"])
def test_forecasters_keep_the_residuals_of_their_validation(cv):
    search = searched(space={"leak_rate": [0.3], "ridge": RIDGE}, cv=cv)
    residuals = search.best_estimator_.residuals_
    sizes = (search.results_.valid_stop - search.results_.valid_start).values
    assert residuals.shape == (len(sizes), sizes.max(), 1)
    assert (np.isfinite(residuals).sum(axis=1)[:, 0] == sizes).all()
    _, rmse = split_readouts(search, (SERIES,), winner(search))
    at = RIDGE.index(search.best_params_["ridge"])
    own = np.sqrt(np.nanmean(residuals**2, axis=(1, 2)))
    np.testing.assert_allclose(own, rmse[:, at], rtol=1e-6)
    assert not hasattr(searched("regression", {"ridge": RIDGE}).best_estimator_, "residuals_")


# --- no second search -----------------------------------------------------------------------------


def test_finalize_never_repeats_the_search(monkeypatch):
    search = searched(n_draws=2)

    def refused(*_, **__):
        raise AssertionError("searched again")

    monkeypatch.setattr("echofold._search.runner.Runner.run", refused)
    monkeypatch.setattr("echofold._search.blocks.run_block", refused)
    driven = []
    drive_blocks = states.drive_blocks

    def counted(reservoirs, inputs, *rest):
        driven.append((reservoirs.shape[1], len(inputs)))
        return drive_blocks(reservoirs, inputs, *rest)

    monkeypatch.setattr(states, "drive_blocks", counted)
    for final in FINALS:
        search._winners._validated.clear()
        for passes in (1, 0):  # once to validate the winner, which is remembered
            driven.clear()
            search.finalize(final)
            assert {columns for columns, _ in driven} <= {1}  # the winner alone
            passes = passes or final == "retrain"  # to train on the same states, or on new ones
            assert sum(rows for _, rows in driven) == passes * 144


def test_finalize_leaves_the_search_as_it_was():
    search = searched("regression")
    before, readout = search.results_.copy(deep=True), search.best_estimator_.readout_.copy()
    search.finalize("average", correct_ridge=True)
    assert search.results_.identical(before)
    np.testing.assert_array_equal(search.best_estimator_.readout_, readout)


# --- odd errors -----------------------------------------------------------------------------------


def made(final, rmse):
    W = np.arange(1.0, 4)[:, None, None] * np.ones((3, 2, 1))
    readouts = SplitReadouts(W, np.array(rmse), np.array([[1.0], [2], [6]]), np.full(3, 9), None)
    (readout, *_), ridge = final_readout(final, None, readouts, False, False)
    return readout[0, 0], ridge


@pytest.mark.parametrize(
    ("final", "rmse", "expected", "ridge"),
    [
        ("average", [1, 2, np.inf], 2.0, 3.0),
        ("best", [3, 2, 4], 2.0, 2.0),
        ("best", [np.nan, np.inf, 4], 3.0, 6.0),
        ("weighted", [1, 2, 2], (1 + 2 / 4 + 3 / 4) / 1.5, 3.0),
        ("weighted", [1, np.inf, 1], 2.0, 3.0),
        ("weighted", [np.nan, 1, 1], 2.5, 3.0),
        ("weighted", [0, 1, 0], 2.0, 3.0),
        ("weighted", [1e-200, 1e-200, 1], 1.5, 3.0),
        ("weighted", [np.inf] * 3, 2.0, 3.0),
    ],
)
def test_odd_errors_of_splits(final, rmse, expected, ridge):
    assert made(final, rmse) == (pytest.approx(expected), pytest.approx(ridge))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"final": "mean"}, "final='mean' is unknown: it must be 'retrain', 'average', 'best'"),
        ({"final": "best", "scheme": "AV"}, "scheme='AV' is not one of this search: cv"),
        ({"final": "best", "draw": 2}, "draw=2: this search has draws 0 to 1"),
        ({"final": "best", "draw": -1}, "draw=-1: this search has draws 0 to 1"),
    ],
)
def test_bad_arguments(arguments, message):
    search = searched("regression", n_draws=2)
    with pytest.raises(ValueError, match=message):
        search.finalize(**arguments)


def test_individual_ridges_of_a_pruned_search_are_not_known():
    search = searched(prune=True)
    with pytest.raises(ValueError, match="ridge_per='split': prune=True dropped ridge values"):
        search.finalize("average", ridge_per="split")


def test_a_search_must_be_fitted_first():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        ESNSearchCV(ESNRegressor(), GRID).finalize("retrain")


def test_an_ensemble_of_draws_that_were_pruned_apart_is_refused():
    """No candidate may be left in all of them; a single draw has its own."""
    options = {"n_draws": 2, "prune": True, "select": "draw"}
    with pytest.raises(ValueError, match="final='ensemble' combines all draws.*select='mean'"):
        searched(final="ensemble", **options)
    search = searched(**options)
    with pytest.raises(ValueError, match="final='ensemble' combines all draws.*prune=False"):
        search.finalize("ensemble")
    assert search.finalize("ensemble", draw=0).members


def test_data_are_read_once_for_candidates_and_their_final_models(monkeypatch):
    """Each representation by itself; what is washed out for equal rows alone is read again."""
    read, count = ESNForecaster._read_series, []
    monkeypatch.setattr(
        ESNForecaster, "_read_series", lambda *data, **more: count.append(1) or read(*data, **more)
    )
    model, y = ESNForecaster(9, random_state=0), np.sin(np.arange(80.0) / 3)
    for space, readings in (({"leak_rate": [0.5, 1.0]}, 1), ({"scale": ["standard", None]}, 2)):
        count.clear()
        search = ESNSearchCV(model, space, cv=KFold(3)).fit(y)
        assert search.finalize("average") is not search.best_estimator_
        assert len(count) == readings
    count.clear()
    ESNSearchCV(model, {"difference": [(), (5,)], "washout": [0, 9]}, cv=KFold(3)).fit(y)
    assert len(count) == 4 + 2 + 1


def test_final_models_of_several_series_share_nothing():
    y = {"a": np.sin(np.arange(60.0) / 3), "b": np.sin(np.arange(50.0) / 4)}
    model = ESNForecaster(9, random_state=0)
    search = ESNSearchCV(model, {"units": [5, 9]}, cv=KFold(3)).fit(y)
    one, other = search.best_estimator_, search.finalize("average")
    units = search.best_params_["units"]
    assert {view.units for view in one.series_.values()} == {one.units} == {units}
    before = one.forecast(4)
    other.update({"a": np.zeros(3)})
    for name, expected in before.items():
        np.testing.assert_array_equal(one.forecast(4)[name], expected)
        assert one.series_[name] is not other.series_[name]
