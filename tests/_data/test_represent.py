"""Representations against a plain loop that transforms, refits, generates and inverts by split."""

from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import reference
from cases import pairwise
from model_files import archive, members_of, with_fitted
from representations import Plain, there, waves
from searches import identical

from echofold import (
    Accumulative,
    ESNForecaster,
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
from echofold._data.represent import Form
from echofold._machine.device import engine
from echofold.metrics import mae, nrmse, rmse

UNITS, RIDGE = 12, [1e-4, 1.0]
ROWS = 90
_rng = np.random.default_rng(3)
_t = np.arange(ROWS)
Y = np.stack(
    [
        np.exp(0.01 * _t + 0.3 * np.sin(_t * np.pi / 3) + 0.05 * _rng.normal(size=ROWS)),
        5 + 0.05 * _t + np.cos(_t * np.pi / 3) + 0.1 * _rng.normal(size=ROWS),
    ],
    axis=1,
)
X = _rng.normal(size=(ROWS, 2))
WEIGHTS = _rng.uniform(0.5, 2, size=ROWS)
FORMS = {
    "log": {"log": True},
    "trend": {"difference": (1,)},
    "season": {"difference": (6,)},
    "both": {"log": True, "difference": (6, 1)},
    "twice": {"difference": (1, 1)},
    "waves": {"season": 6, "harmonics": 3},
    "all": {"log": True, "difference": (1,), "season": (6, 9.5), "harmonics": 2},
}
SCHEMES = {
    "single": SingleSplit(12),
    "k-fold": KFold(4),
    "gaps": KFold(3, valid=9, gap=2),
    "accumulative": Accumulative(3, valid=8, min_train=0.4),
    "walk forward": WalkForward(3, valid=8, min_train=0.4),
    "one": LeaveOneOut(),
}


def model_of(form, **options):
    return ESNForecaster(UNITS, random_state=2, washout=10, leak_rate=0.7, **form, **options)


def data_of(outputs, known):
    y = Y[:, :outputs]
    return (y, X) if known else (y,), (X if known else np.zeros((ROWS, 0)))


def expected_scores(plain, splits, first, metric):
    scores = []
    for split in splits:
        train = np.concatenate([np.arange(a, b) for a, b in split.train]) + first
        a, b = split.valid
        row = []
        for ridge in RIDGE:
            found = plain.run(plain.fit(train, ridge), a + first, b - a)
            truth = plain.y[a + first + 1 : b + first + 1]
            scale = ((plain.y[first + 1 :] - plain.y[first + 1 :].mean(axis=0)) ** 2).sum(axis=1)
            options = {"scale": scale.mean()} if metric is nrmse else {}
            row.append(metric(truth, found, **options))
        scores.append(row)
    return np.array(scores)


# --- there and back -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMS)
def test_there_and_back(name):
    form = Form(FORMS[name].get("log", False), FORMS[name].get("difference", ()))
    levels = form.levels(Y)
    z, w = there(Y, FORMS[name])
    np.testing.assert_array_equal(levels, z)
    np.testing.assert_allclose(form.differences(levels), w, rtol=0, atol=1e-13)
    for start in (form.lost, 40):
        found = form.values(form.back(w[start - form.lost :], levels[start - form.lost : start]))
        np.testing.assert_allclose(found, Y[start:], rtol=1e-11)
    seasons = tuple((float(length), 2) for length in (6, 9.5))
    waves = Form(seasons=seasons).waves
    np.testing.assert_allclose(waves(20, 50), waves(0, 50)[20:], rtol=0, atol=1e-12)


class Square(NamedTuple):
    """Values of roots."""

    def value(self, level):
        return level * level


class Roots(Form):
    """A representation of one's own."""

    curve = Square()

    def __init__(self, lags):
        super().__init__(lags=lags)

    def levels(self, y, first=0):
        return np.sqrt(y)

    def values(self, z):
        return z * z

    def limits(self, ends):
        return tuple(np.sqrt(ends))


@pytest.mark.parametrize("lags", [(), (1,), (6, 1)])
@pytest.mark.parametrize("make", [partial(Form, False), partial(Form, True), Roots])
def test_a_closed_loop_brings_back_step_by_step_what_is_brought_back_at_once(make, lags):
    form, steps = make(lags), 20
    unit, offset = np.array([2.0, 0.5]), np.array([0.1, -0.2])
    levels = form.levels(Y)
    w = (form.differences(levels)[:steps] - offset) / unit
    before = levels[: form.lost]
    inverse, past = form.inverse(offset), form.past(before[None])
    with engine():
        found = []
        for n, y in enumerate(w):
            same, value, past = inverse.step(unit[:, None], y[:, None], past, n)
            np.testing.assert_array_equal(same[:, 0], y)  # there are no limits
            found.append(np.asarray(value)[:, 0])
    at_once = form.values(form.back(offset + unit * w, before))
    np.testing.assert_allclose(found, at_once, rtol=1e-12)
    np.testing.assert_allclose(found, Y[form.lost : form.lost + steps], rtol=1e-10)


# --- validation ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("log", "difference", "waved", "scheme", "both"),
    pairwise(
        (False, True),
        [(), (1,), (6,), (6, 1), (1, 1)],
        [{}, {"season": 6, "harmonics": 3}, {"season": (6, 9.5), "harmonics": 2}],
        SCHEMES,
        (False, True),
    ),
)
def test_every_form_and_scheme_equals_the_plain_loop(log, difference, waved, scheme, both):
    form, cv = {"log": log, "difference": difference, **waved}, SCHEMES[scheme]
    data, inputs = data_of(2 if both else 1, both)
    plain = Plain(model_of(form).fit(*data), data[0], inputs, form)
    first = max(10, plain.lost)
    splits = cv.splits(ROWS - 1 - first)
    metric = mae if scheme == "gaps" else nrmse
    expected = expected_scores(plain, splits, first, metric)
    for algorithm in ("naive", "auto", "small_k", "large_k"):
        found = cross_validate(
            model_of(form), *data, cv=cv, ridge=RIDGE, algorithm=algorithm, metric=metric.__name__
        )
        np.testing.assert_allclose(found[metric.__name__].values, expected, rtol=1e-8)


@pytest.mark.parametrize("name", ["both", "all"])
def test_ways_to_use_memory_and_weights_give_the_same(name):
    form, (data, inputs) = FORMS[name], data_of(2, True)
    options = {"cv": KFold(3), "ridge": RIDGE, "sample_weight": WEIGHTS}
    plain = Plain(model_of(form).fit(*data, sample_weight=WEIGHTS), data[0], inputs, form, WEIGHTS)
    first = max(10, plain.lost)
    expected = expected_scores(plain, KFold(3).splits(ROWS - 1 - first), first, nrmse)
    for way in ("states", "pieces", "fold", "frugal"):
        found = cross_validate(model_of(form), *data, memory=way, **options)
        np.testing.assert_allclose(found.nrmse.values, expected, rtol=1e-8)


def test_metrics_of_predictions_are_in_original_units():
    def largest(y_true, y_pred):
        assert y_true.min() > 0.5 and y_pred.min() > 0
        return np.abs(y_true - y_pred).max()

    form, (data, inputs) = FORMS["both"], data_of(1, False)
    plain = Plain(model_of(form).fit(*data), data[0], inputs, form)
    first = max(10, plain.lost)
    expected = expected_scores(
        plain, KFold(4).splits(ROWS - 1 - first), first, lambda t, y: np.abs(t - y).max()
    )
    found = cross_validate(model_of(form), *data, cv=KFold(4), ridge=RIDGE, metric=largest)
    np.testing.assert_allclose(found.largest.values, expected, rtol=1e-8)


# --- output range -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["as it is", "log", "season", "both", "waves"])
@pytest.mark.parametrize("scheme", ["k-fold", "accumulative", "one"])
def test_outputs_are_kept_inside_of_their_range_before_they_are_fed_back(name, scheme):
    form, (data, inputs) = FORMS.get(name, {}), data_of(2, True)
    limits = np.quantile(Y, (0.1, 0.9), axis=0)
    data = (np.clip(data[0], *limits), *data[1:])
    model = model_of(form, output_range=limits)
    plain = Plain(model.fit(*data), data[0], inputs, form, limits=limits)
    first = max(10, plain.lost)
    splits = SCHEMES[scheme].splits(ROWS - 1 - first)
    expected = expected_scores(plain, splits, first, rmse)
    plain.limits = None
    free = expected_scores(plain, splits, first, rmse)
    assert scheme == "one" or not np.allclose(expected, free)  # the limits are reached
    for algorithm in ("auto", "naive", "small_k", "large_k"):
        found = cross_validate(
            model, *data, cv=SCHEMES[scheme], ridge=RIDGE, metric="rmse", algorithm=algorithm
        )
        # What lies on a limit is off by a rounding of its logarithm, or by none.
        np.testing.assert_allclose(found.rmse.values, expected, rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("name", ["as it is", "trend", "both"])
def test_a_model_with_an_output_range(name, tmp_path):
    form, limits = FORMS.get(name, {}), (Y[:, 0].min(), 2.2)
    y = Y[Y[:, 0].cumsum() < 75, 0]
    with pytest.raises(ValueError, match=r"y holds .* in row .*outside of output_range=\(0, 1\)"):
        model_of(form, output_range=(0, 1)).fit(y)
    limits = (y.min(), y.max())
    model = model_of(form, output_range=limits, ridge=1e-4).fit(y)
    plain = Plain(model, y[:, None], np.zeros((len(y), 0)), form, limits=limits)
    expected = plain.run(model.readout_, len(y) - 2, 1)
    np.testing.assert_allclose(model.forecast(40).min() >= limits[0], True)
    assert model.forecast(40).max() <= limits[1]
    save(model, tmp_path / "limited.echofold")
    loaded = load(tmp_path / "limited.echofold")
    np.testing.assert_array_equal(loaded.forecast(40), model.forecast(40))
    assert expected.shape == (1, 1)
    pruned, whole = (
        ESNSearchCV(
            model_of(form, output_range=limits), {"leak_rate": [0.4, 1.0], "ridge": RIDGE},
            cv=KFold(3), metric="rmse", prune=prune,
        ).fit(y)
        for prune in (True, False)
    )  # fmt: skip
    assert pruned.best_params_ == whole.best_params_
    assert pruned.best_score_ == pytest.approx(whole.best_score_, rel=1e-10)
    assert whole.forecast(30).max() <= limits[1]
    with pytest.raises(ValueError, match=r"y holds .*outside of output_range"):
        loaded.update(y[:3] + 100)
    with pytest.raises(ValueError, match=r"output_range=\(2, 1\) is not allowed"):
        model_of(form, output_range=(2, 1)).fit(y)


# --- searches -----------------------------------------------------------------------------------

SPACE = {
    "log": [False, True],
    "difference": [(), (1,), (6, 1)],
    "season": [None, 6],
    "leak_rate": [0.4, 1.0],
    "ridge": RIDGE,
}


@pytest.fixture(scope="module")
def search():
    return ESNSearchCV(
        ESNForecaster(UNITS, random_state=2, washout=3), SPACE, cv=KFold(4), n_draws=2
    ).fit(Y[:, 0])


def test_all_forms_are_scored_on_the_same_rows(search):
    assert search.results_.attrs["rows"] == ROWS - 1 - 7  # what (6, 1) loses, more than the washout
    assert search.results_.sizes["candidate"] == 24
    for place, candidate in enumerate(search.candidates_):
        if candidate["leak_rate"] == 1.0:
            continue
        for draw in range(2):
            model = ESNForecaster(UNITS, random_state=2 + draw, washout=7).set_params(**candidate)
            one = cross_validate(model, Y[:, 0], cv=KFold(4), ridge=RIDGE, algorithm="naive")
            found = search.results_.nrmse.values[draw, place]
            np.testing.assert_allclose(found, one.nrmse.values, rtol=1e-8)


def test_pruning_keeps_the_winner(search):
    pruned = ESNSearchCV(
        ESNForecaster(UNITS, random_state=2, washout=3), SPACE, cv=KFold(4), n_draws=2, prune=True
    ).fit(Y[:, 0])
    assert pruned.best_params_ == search.best_params_
    assert pruned.best_score_ == pytest.approx(search.best_score_, rel=1e-10)
    assert pruned.results_.pruned.values.any()


def test_final_models_and_their_residuals(search):
    form = {k: search.best_params_[k] for k in ("log", "difference", "season")}
    assert form["difference"] or form["season"]  # the series has a trend and a season
    for final in ("retrain", "average", "best", "weighted"):
        model = search.finalize(final)
        assert model.forecast(4).shape == (4,)
        assert model.residuals_.shape == (4, 21, 1)
    scores = search.results_.nrmse.values[:, search.best_index_].mean(axis=1)
    draw = scores.min(axis=1).argmin()
    errors = np.sqrt(np.nanmean(search.best_estimator_.residuals_**2, axis=(1, 2)))
    spread = [np.sqrt(Y[8 + a : 8 + b, 0].var()) for a, b in (s.valid for s in KFold(4).splits(82))]
    place = RIDGE.index(search.best_params_["ridge"])
    found = search.results_.nrmse.values[draw, search.best_index_, :, place]
    np.testing.assert_allclose(errors / spread, found, rtol=1e-8)


def test_an_honest_error_and_intervals(search):
    found = evaluate(search, Y[:, 0], origins=2, horizon=6)
    assert np.isfinite(found.nrmse.values).all()
    _, low, high = search.forecast(6, level=0.8)
    assert (low[0.8] < high[0.8]).all()


def test_a_checkpoint_tells_forms_apart(tmp_path):
    def run(**options):
        return ESNSearchCV(
            model_of({}), {"ridge": RIDGE, **options}, cv=KFold(4), checkpoint=tmp_path
        ).fit(Y[:, 0])

    identical(run(difference=[(1,), (6,)]), run(difference=[(1,), (6,)]))
    with pytest.raises(ValueError, match="another search"):
        run(difference=[(1,), (5,)])


# --- one forecaster -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMS)
def test_a_forecast_continues_the_series(name):
    form, (data, inputs) = FORMS[name], data_of(2, True)
    model = model_of(form, ridge=1e-2).fit(*(part[:70] for part in data))
    plain = Plain(model, data[0][:70], inputs[:70], form)
    first = max(10, plain.lost)
    readout = plain.fit(np.arange(first, 69), 1e-2)
    scaled = (X - X[:70].mean(axis=0)) / X[:70].std(axis=0)
    plain.known = np.hstack([scaled, waves(form, ROWS)])
    u = np.concatenate([plain.targets[-1], plain.known[70]])
    x = reference.update(model.W_in_, model.W_, model.leak_rate_, u, plain.states[-1])
    plain.inputs, plain.states = np.vstack([plain.inputs, u]), np.vstack([plain.states, x])
    plain.z = np.vstack([plain.z, np.nan * plain.z[:1]])
    expected = plain.run(readout, 69, 20)
    np.testing.assert_allclose(model.forecast(20, X=X[70:]), expected, rtol=1e-8)
    model.update(data[0][70:80], X=X[70:80])
    whole = model_of(form, ridge=1e-2).fit(*(part[:70] for part in data))
    for t in range(70, 80):  # one by one is the same
        whole.update(data[0][t : t + 1], X=X[t : t + 1])
    after = model.forecast(10, X=X[80:])
    np.testing.assert_allclose(whole.forecast(10, X=X[80:]), after, rtol=1e-9)


@pytest.mark.parametrize("name", [*FORMS, None])
def test_a_saved_forecaster_goes_on_with_the_same_bits(name, tmp_path):
    y = pd.Series(Y[:, 0], index=pd.date_range("2020", periods=ROWS, freq="MS"), name="sales")
    model = model_of(FORMS.get(name, {})).fit(y)
    save(model, tmp_path / "model.echofold")
    loaded = load(tmp_path / "model.echofold")
    pd.testing.assert_series_equal(loaded.forecast(8), model.forecast(8))
    later = pd.Series([3.0, 4.0], index=model.forecast(2).index, name="sales")
    pd.testing.assert_series_equal(
        loaded.update(later).forecast(8), model.update(later).forecast(8)
    )


def test_files_with_wrong_representations_are_refused(tmp_path):
    path = tmp_path / "model.echofold"
    save(model_of(FORMS["all"]).fit(Y[:, 0]), path)
    members = members_of(path)
    yes, lags = True, {"tuple": [1]}
    seasons = {"tuple": [{"tuple": [6.0, 2]}, {"tuple": [9.5, 2]}]}
    for wrong in (
        None, {"tuple": [yes, lags]}, {"tuple": [1, lags, seasons]}, {"tuple": [yes, 1, seasons]},
        {"tuple": [yes, {"tuple": [-1]}, seasons]}, {"tuple": [yes, {"tuple": [2]}, seasons]},
        {"tuple": [yes, lags, {"tuple": [{"tuple": [6.0, 4]}]}]},
        {"tuple": [yes, {"tuple": [10**9]}, seasons]},
        {"tuple": [yes, lags, {"tuple": [{"tuple": [1e9, 10**8]}]}]},
    ):  # fmt: skip
        path.write_bytes(archive(with_fitted(members, represented_=wrong)))
        with pytest.raises(ValueError, match="is not a file saved by echofold"):
            load(path)


def test_refitting_forgets_an_earlier_representation():
    model = model_of(FORMS["both"]).fit(Y[:, 0])
    before = model.forecast(5)
    model.set_params(log=False, difference=())  # without fitting again nothing changes
    np.testing.assert_array_equal(model.forecast(5), before)
    model.fit(Y[:, 0])
    np.testing.assert_array_equal(model.forecast(5), model_of({}).fit(Y[:, 0]).forecast(5))
    assert not {"represented_", "levels_", "steps_"} & vars(model).keys()


def test_a_trend_and_a_season_are_continued():
    t = np.arange(120)
    y = np.exp(0.01 * t) * (2 + np.sin(2 * np.pi * t / 12))
    model = ESNForecaster(20, log=True, difference=(12,), random_state=0).fit(y[:96])
    assert rmse(y[96:], model.forecast(24)) < 0.05
    assert rmse(y[96:], ESNForecaster(20, random_state=0).fit(y[:96]).forecast(24)) > 0.3


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"log": 1}, Y, "log=1 is not allowed: it must be True or False"),
        ({"log": True}, Y - 3, "log=True needs positive values, but y holds -"),
        ({"difference": (0,)}, Y, r"difference=\(0,\) is not allowed"),
        ({"difference": "1"}, Y, "difference='1' is not allowed"),
        ({"difference": (50, 40)}, Y, r"y has 90 values, of which difference=\(50, 40\) loses 90"),
        ({"season": 1}, Y, "season=1 is not allowed: it must be lengths of at least 2"),
        ({"season": "year"}, Y, "season='year' is not allowed"),
        ({"season": 12, "harmonics": 0}, Y, "harmonics=0 is not allowed"),
    ],
)
def test_wrong_representations_are_named(options, y, message):
    with pytest.raises(ValueError, match=message):
        ESNForecaster(UNITS, **options).fit(y)


def test_one_lag_may_be_given_as_a_number():
    one = ESNForecaster(UNITS, difference=1, random_state=0).fit(Y[:, 0])
    other = ESNForecaster(UNITS, difference=(1,), random_state=0).fit(Y[:, 0])
    np.testing.assert_array_equal(one.forecast(5), other.forecast(5))


def test_logarithms_are_scored_against_the_values_themselves():
    """Near 2**60 a logarithm cannot tell values apart that differ by thousands: errors can."""
    y = 2.0**60 + 1000 * np.sign(np.sin(np.arange(120) * 2.3)) * np.arange(1, 121) % 5000
    search = ESNSearchCV(
        ESNForecaster(10, log=True, random_state=0, washout=5), {"ridge": [1e-2]},
        cv=KFold(5, valid=10), metric=["rmse", "mae"],
    ).fit(y)  # fmt: skip
    found = search._winners.outputs("cv")
    np.testing.assert_array_equal(found.truth[..., 0], y[found.rows])
    errors = (found.truth - found.outputs)[..., 0]
    expected = np.sqrt((errors**2).mean(axis=1)).mean()
    assert search.best_score_ == pytest.approx(expected, rel=1e-12) and expected > 500
    _, low, high = search.forecast(3, level=0.9)
    assert (high[0.9] - low[0.9] > 500).all()


def test_errors_of_logarithms_keep_their_digits():
    from echofold._search.final_models import log_errors

    truth, errors = np.array([2.0**60, 2.0, 1.0]), np.array([256.0, 1.0, 3.0])
    found = log_errors(truth, errors)
    np.testing.assert_allclose(found[:2], [256 / 2.0**60, np.log(2.0)], rtol=1e-12)
    assert np.isnan(found[2])  # of an output below zero there is none
