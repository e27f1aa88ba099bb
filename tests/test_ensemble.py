"""An ensemble: who is in it, how its forecasts and errors are combined, and that it can be kept."""

from copy import copy

import numpy as np
import pandas as pd
import pytest
from model_files import archive, members_of
from searches import INPUTS, OUTPUTS

from echofold import ESNForecaster, ESNRegressor, ESNSearchCV, KFold, cross_validate, load, save
from echofold._models.ensemble import ForecastEnsemble, combined

ROWS = 96
_t = np.arange(ROWS)
VALUES = np.exp(0.01 * _t + 0.3 * np.sin(_t * np.pi / 3))
VALUES += 0.05 * np.random.default_rng(0).normal(size=ROWS)
Y = pd.Series(VALUES, index=pd.date_range("2015", periods=ROWS, freq="MS"), name="sales")
SPACE = {
    "log": [False, True],
    "difference": [(), (1,), (6,)],
    "leak_rate": [0.4, 1.0],
    "ridge": [1e-4, 1.0],
}


@pytest.fixture(scope="module")
def search():
    return ESNSearchCV(
        ESNForecaster(12, random_state=3), SPACE, cv=KFold(4), n_draws=3, metric="rmse",
        final="ensemble",
    ).fit(Y)  # fmt: skip


def chosen_by_definition(search):
    """Score, candidate and ridge of the members, by the definition."""
    mean = search.results_.rmse.values.mean(axis=(0, 2))  # (candidate, ridge)
    found = {}
    for place, candidate in enumerate(search.candidates_):
        form = candidate["log"], candidate["difference"]
        one = mean[place].min(), place, int(mean[place].argmin())
        found.setdefault(form, []).append((*one, len(candidate["difference"]) == 1))
    best = [one for each in found.values() for one in sorted(each)[:2]]
    lowest = min(one[0] for one in best if one[3])
    return sorted(one[:3] for one in best if one[0] <= (2.0 if one[3] else 0.9) * lowest)


def trimmed(values):
    ordered = np.sort(values, axis=0)
    cut = int(0.2 * len(ordered))
    return ordered[cut : len(ordered) - cut].mean(axis=0)


def test_members_are_the_best_of_each_form_with_every_draw(search):
    chosen = chosen_by_definition(search)
    assert 4 <= len(chosen) < 12  # some are left out here, and some are not
    model = search.best_estimator_
    assert isinstance(model, ForecastEnsemble)
    assert len(model.members) == 3 * len(chosen)
    expected = []
    for _, place, ridge in chosen:
        for draw in range(3):
            params = {**search.candidates_[place], "ridge": SPACE["ridge"][ridge]}
            one = ESNForecaster(12, random_state=3 + draw).set_params(**params).fit(Y)
            expected.append(one.forecast(7))
    found = search.forecast(7)
    pd.testing.assert_series_equal(found, expected[0] * 0 + trimmed(np.array(expected)))


def test_its_errors_are_those_of_its_own_validation(search):
    outputs = []
    for _, place, ridge in chosen_by_definition(search):
        for draw in range(3):
            params = {**search.candidates_[place], "ridge": SPACE["ridge"][ridge]}
            model = ESNForecaster(12, random_state=3 + draw)
            alone = ESNSearchCV(model, {k: [v] for k, v in params.items()}, cv=KFold(4))
            alone.fit(Y)
            outputs.append(alone.best_estimator_.residuals_)
    each = np.array(outputs)
    expected = trimmed(each)
    np.testing.assert_allclose(search.best_estimator_.residuals_, expected, rtol=1e-7, atol=1e-10)
    _, low, high = search.forecast(5, level=0.7)
    assert (low[0.7] < high[0.7]).all()


def test_several_finals_of_one_search_agree(search):
    one, other = search.finalize("ensemble"), search.best_estimator_
    pd.testing.assert_series_equal(one.forecast(9), other.forecast(9))
    single = search.finalize("ensemble", draw=1)
    assert {member.seed_ for member in single.members} == {4}
    assert isinstance(search.finalize("retrain"), ESNForecaster)
    assert search.best_params_["ridge"] in SPACE["ridge"]


def test_it_moves_on_as_its_members_do(search, tmp_path):
    later = pd.Series([4.0, 5.0, 4.5], index=search.forecast(3).index, name="sales")
    ensemble = search.finalize("ensemble")
    before = ensemble.forecast(4)
    path = tmp_path / "ensemble.echofold"
    save(ensemble, path)
    loaded = load(path)
    pd.testing.assert_series_equal(loaded.forecast(4), before)
    each = [member.forecast(4) for member in ensemble.members]
    ensemble.update(later)
    moved = [member.forecast(4).to_numpy() for member in ensemble.members]
    assert not np.allclose(moved[0], each[0])
    np.testing.assert_allclose(ensemble.forecast(4), trimmed(np.array(moved)), rtol=1e-12)
    pd.testing.assert_series_equal(loaded.update(later).forecast(4), ensemble.forecast(4))
    found, expected = (one.forecast(4, level=0.8).to_frame() for one in (loaded, ensemble))
    pd.testing.assert_frame_equal(found, expected)


def test_a_failed_update_leaves_it_as_it_was(search):
    ensemble = search.finalize("ensemble")
    before = ensemble.forecast(4)
    with pytest.raises(ValueError, match="follow"):
        ensemble.update(Y[:3])
    pd.testing.assert_series_equal(ensemble.forecast(4), before)


def test_damaged_ensembles_are_refused(search, tmp_path):
    path = tmp_path / "ensemble.echofold"
    save(search.best_estimator_, path)
    members = members_of(path)
    about = members["echofold.json"]
    for wrong in (
        about.replace(b'"members":', b'"numbers":'),
        about.replace(b'"class": "ForecastEnsemble"', b'"class": "ESNForecaster"'),
        about.replace(b'"seed_": 3', b'"seed_": "3"', 1),
        about.replace(b"0.readout_.npy", b"1.readout_.npy", 1),
    ):
        assert wrong != about
        path.write_bytes(archive(members | {"echofold.json": wrong}))
        with pytest.raises(ValueError, match="is not a file saved by echofold"):
            load(path)


def test_diverging_members_do_not_spoil_it():
    span = np.array([[0.0], [6.0]])
    each = np.array([[1.0, 2.0], [np.inf, 2.0], [3.0, np.nan], [5.0, 4.0], [19.0, 1.0]])[:, :, None]
    np.testing.assert_array_equal(combined(each, span)[:, 0], [3.0, 3.0])
    assert not np.isfinite(combined(each[1:3], span)).all()  # none is sound, so none is better
    np.testing.assert_array_equal(combined(each[4:], span)[:, 0], [19.0, 1.0])
    np.testing.assert_array_equal(combined(np.arange(10.0)[:, None, None], span), [[4.5]])
    fifth = np.array([0.0] * 4 + [10.0])[:, None, None]
    assert combined(fifth, span) == 0  # a fifth at either end is left out
    signed = np.array([-1.0, 2.0, 4.0])[:, None, None]
    assert combined(signed, span, positive=True) == 3.0


def test_a_member_that_runs_away_is_left_out(search, monkeypatch):
    ensemble = search.finalize("ensemble")
    wild = copy(ensemble.members[0])
    wild.readout_ = 1e6 * wild.readout_
    assert not np.isfinite(wild._forecast(200, None)).all()
    others = ForecastEnsemble(ensemble.members[1:])
    both = ForecastEnsemble([wild, *ensemble.members[1:]])
    pd.testing.assert_series_equal(both.forecast(200), others.forecast(200))
    with pytest.raises(ValueError, match="horizon=0"):
        both.forecast(0)
    with pytest.raises(ValueError, match="level needs validation errors"):
        both.forecast(3, level=0.9)


def test_the_first_steps_do_not_depend_on_how_far_is_forecast():
    span = np.array([[0.0], [1.0]])
    away = np.array([[0.5, 0.6, 9.0], [0.4, 0.5, 0.6], [0.6, 0.4, 0.2]])[:, :, None]
    np.testing.assert_allclose(combined(away, span)[:2, 0], combined(away[:, :2], span)[:, 0])
    assert combined(away, span)[2, 0] == pytest.approx(0.4)


def test_members_are_judged_by_all_that_they_have_seen():
    level = np.concatenate([np.full(100, 10.0), np.full(60, 40.0)]) + 0.1 * np.sin(np.arange(160))
    space = {"difference": [(), (1,)], "ridge": [1e-2]}
    search = ESNSearchCV(ESNForecaster(10, random_state=0), space, cv=KFold(4), final="ensemble")
    ensemble = search.fit(level[:100]).best_estimator_
    ensemble.update(level[100:])
    assert ensemble.range_.max() > 40
    members = np.stack([one._forecast(3, None) for one in ensemble.members])
    np.testing.assert_allclose(ensemble.forecast(3), combined(members, ensemble.range_)[:, 0])
    near = ESNForecaster(10, random_state=0, difference=(1,)).fit(level[:100])
    assert abs(near.update(level[100:]).forecast(1)[0] - 40) < 2  # and does not warn


def test_pruned_searches_leave_out_what_they_dropped():
    options = {"cv": KFold(4), "metric": "rmse", "n_draws": 2}
    model = ESNForecaster(12, random_state=3)
    pruned = ESNSearchCV(model, SPACE, prune=True, final="ensemble", **options).fit(Y)
    whole = ESNSearchCV(model, SPACE, **options).fit(Y)
    best = whole.finalize("ensemble").members[0]
    found = pruned.best_estimator_.members[0]
    np.testing.assert_allclose(found.readout_, best.readout_, rtol=1e-9)


def test_only_forecasters_have_one():
    options = {"space": {"ridge": [1e-3, 1]}, "cv": KFold(3)}
    with pytest.raises(ValueError, match="needs a search of an ESNForecaster"):
        ESNSearchCV(ESNRegressor(10), final="ensemble", **options).fit(INPUTS, OUTPUTS)
    with pytest.raises(ValueError, match="at least one forecaster"):
        ForecastEnsemble([]).forecast(2)
    search = ESNSearchCV(ESNRegressor(10, random_state=0), **options)
    search.fit(INPUTS, OUTPUTS)
    with pytest.raises(ValueError, match="needs a search of an ESNForecaster"):
        search.finalize("ensemble")


def test_a_report_of_an_ensemble(search, tmp_path):
    text = search.report(tmp_path / "report.html").read_text()
    assert "mean of the best networks of representations and draws" in text


def test_cross_validation_of_its_members_is_that_of_the_search(search):
    _, place, _ = chosen_by_definition(search)[0]
    model = ESNForecaster(12, random_state=3).set_params(**search.candidates_[place])
    found = cross_validate(model, Y, cv=KFold(4), ridge=SPACE["ridge"], metric="rmse")
    expected = search.results_.rmse.values[0, place]
    np.testing.assert_allclose(found.rmse.values, expected, rtol=1e-8)
