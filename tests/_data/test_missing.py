"""Missing values against a plain loop that drops rows, refits, generates and scores by split."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
from cases import pairwise, same_scores
from representations import Plain as Complete
from representations import there, waves
from searches import identical
from sklearn.metrics import r2_score
from sklearn.model_selection import GroupKFold

from echofold import (
    Accumulative,
    EchofoldWarning,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    LeaveOneOut,
    Recycle,
    SingleSplit,
    WalkForward,
    cross_validate,
    cross_validate_readout,
    evaluate,
    load,
    plots,
    save,
)
from echofold._data.missing import filled, words_of
from echofold._data.represent import Form
from echofold.metrics import mae, nrmse, rmse

pytestmark = pytest.mark.filterwarnings("ignore:.*missing .NaN.*:echofold.EchofoldWarning")

UNITS, RIDGE, WASHOUT = 12, [1e-4, 1.0], 10
ROWS = 96
_rng = np.random.default_rng(3)
_t = np.arange(ROWS)
COMPLETE = np.stack(
    [
        np.exp(0.01 * _t + 0.3 * np.sin(_t * np.pi / 3) + 0.05 * _rng.normal(size=ROWS)),
        5 + 0.05 * _t + np.cos(_t * np.pi / 3) + 0.1 * _rng.normal(size=ROWS),
    ],
    axis=1,
)
WEIGHTS = _rng.uniform(0.5, 2, size=ROWS)
NAN = np.nan
Y = COMPLETE.copy()
Y[[0, 1, 11, 25, 26, 27, 40, 55, 70, 71], 0] = NAN  # at the start, at the first row that is scored
Y[[25, 33, 56, 57, 58, 59, 60, 61, 62, 90], 1] = NAN  # longer than a season
LATER = Y.copy()
LATER[93:, 0] = NAN  # at the end
LATER[94:, 1] = NAN
X = _rng.normal(size=(ROWS, 2))
X[[0, 30, 31, 32, 44], 0] = NAN
X[94:, 1] = NAN

FORMS = {
    "plain": {},
    "log": {"log": True},
    "trend": {"difference": (1,)},
    "season": {"difference": (6,)},
    "both": {"log": True, "difference": (6, 1)},
    "waves": {"season": 6, "harmonics": 3},
    "all": {"log": True, "difference": (1,), "season": (6.4, 9.5), "harmonics": 2},
}
SEASON = {"season": 6, "both": 6, "waves": 6, "all": 6}  # by which a form is filled
SCHEMES = {
    "single": SingleSplit(12),
    "k-fold": KFold(4),
    "gaps": KFold(3, valid=9, gap=2),
    "accumulative": Accumulative(3, valid=8, min_train=0.4),
    "walk forward": WalkForward(3, valid=8, min_train=0.4),
    "one": LeaveOneOut(),
    "recycle": Recycle(3, valid=9),
}
ALGORITHMS = ("naive", "auto", "small_k", "large_k")


def plainly_filled(values, season=None):
    """Value by value: of the season, else the last known, else the first."""
    whole = values.copy()
    for column in range(values.shape[1]):
        known = [t for t in range(len(values)) if not np.isnan(values[t, column])]
        for t in range(len(values)):
            if t in known:
                continue
            before = [s for s in known if s < t]
            seasonal = [s for s in before if season and (t - s) % season == 0]
            at = seasonal[-1] if seasonal else before[-1] if before else known[0]
            whole[t, column] = values[at, column]
    return whole


def scaled_columns(values):
    """Columns in units of what is known of them."""
    return (values - np.nanmean(values, axis=0)) / np.nanstd(values, axis=0)


class Plain(Complete):
    """The same, of what is known of a series."""

    def __init__(self, model, y, known, form, season, weights=None):
        present = ~np.isnan(y).any(axis=1)
        self.rows = int(np.flatnonzero(present)[-1]) + 1
        self.known = np.hstack([plainly_filled(scaled_columns(known), season), waves(form, len(y))])
        y, self.model, self.form, self.limits = y[: self.rows], model, form, None
        self.y, self.present = y, present[: self.rows]
        w = there(y, form)[1]
        self.lost, self.trained = len(y) - len(w), ~np.isnan(w).any(axis=1)
        self.center, self.unit = np.nanmean(w, axis=0), np.nanstd(w, axis=0)
        self.z, w = there(plainly_filled(y, season), form)
        scaled = (w - self.center) / self.unit
        self.inputs = np.hstack([scaled[:-1], self.known[self.lost + 1 : self.rows]])
        self.targets, self.trained = scaled[1:], self.trained[1:]
        self.states = reference.run(model.W_in_, model.W_, model.leak_rate_, self.inputs)
        self.weights = None if weights is None else weights[self.lost + 1 : self.rows]

    def fit(self, pairs, ridge):
        """A readout from those of the pairs at these times that have a target."""
        pairs = np.asarray(pairs)
        return super().fit(pairs[self.trained[pairs - self.lost]], ridge)

    def scores(self, splits, first, metric):
        """Scores of the splits that have a value to be scored."""
        scores = []
        for split in splits:
            a, b = (end + first + 1 for end in split.valid)
            rows = np.flatnonzero(self.present[a:b])
            if not len(rows):
                continue
            train = np.concatenate([np.arange(*run) for run in split.train]) + first
            row = []
            for ridge in RIDGE:
                found = self.run(self.fit(train, ridge), a - 1, b - a)
                row.append(metric(self.y[a:b][rows], found[rows], **self.options(first, metric)))
            scores.append(row)
        return np.array(scores)

    def options(self, first, metric):
        """The scale of sets that are constant."""
        y = self.y[first + 1 :][self.present[first + 1 :]]
        scale = ((y - y.mean(axis=0)) ** 2).sum(axis=1).mean()
        return {"scale": scale} if metric is nrmse else {}


def model_of(form, **options):
    return ESNForecaster(UNITS, random_state=2, washout=WASHOUT, leak_rate=0.7, **form, **options)


def plain_of(form, y, known=None, season=None, **options):
    """Data, and their plain loop, of a form or of the name of one."""
    form, season = (FORMS[form], SEASON.get(form)) if isinstance(form, str) else (form, season)
    data = (y,) if known is None else (y, known)
    known = np.zeros((len(y), 0)) if known is None else known
    return data, Plain(model_of(form).fit(*data), y, known, form, season, **options)


def from_plain(plain, cv, metric=nrmse):
    first = max(WASHOUT, plain.lost)
    return plain.scores(cv.splits(plain.rows - 1 - first), first, metric)


# --- what is filled in --------------------------------------------------------------------------


@pytest.mark.parametrize("season", [None, 2, 5, 6, 200])
def test_filling_equals_value_by_value(season):
    for values in (Y, LATER, X, COMPLETE):
        np.testing.assert_array_equal(filled(values, season), plainly_filled(values, season))
    assert filled(COMPLETE, season) is COMPLETE


def test_rows_whose_difference_is_whole():
    present = ~np.isnan(Y).any(axis=1)
    for form in FORMS.values():
        one = Form(form.get("log", False), form.get("difference", ()))
        w = there(Y, form)[1]
        np.testing.assert_array_equal(one.whole(present)[one.lost :], ~np.isnan(w).any(axis=1))


# --- forecasting --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("log", "difference", "waved", "scheme", "both"),
    pairwise(
        (False, True),
        [(), (1,), (6,), (6, 1)],
        [{}, {"season": 6, "harmonics": 3}, {"season": (6.4, 9.5), "harmonics": 2}],
        SCHEMES,
        (False, True),
    ),
)
def test_every_form_and_scheme_equals_the_plain_loop(log, difference, waved, scheme, both):
    form, cv = {"log": log, "difference": difference, **waved}, SCHEMES[scheme]
    y, known = (LATER, X) if both else (LATER[:, :1], None)
    season = 6 if waved or 6 in difference else None
    data, plain = plain_of(form, y, known, season)
    metric = mae if scheme == "gaps" else nrmse
    expected = from_plain(plain, cv, metric)
    for algorithm in ALGORITHMS:
        found = cross_validate(
            model_of(form), *data, cv=cv, ridge=RIDGE, algorithm=algorithm, metric=metric.__name__
        )
        same_scores(found[metric.__name__].values, expected)


@pytest.mark.parametrize(
    ("name", "memory", "weighted"),
    pairwise(["plain", "both", "all"], ["states", "pieces", "fold", "frugal"], (False, True)),
)
def test_ways_to_use_memory_and_weights_give_the_same(name, memory, weighted):
    weights = WEIGHTS if weighted else None
    data, plain = plain_of(name, Y, X, weights=weights)
    forward, recycled = WalkForward(3, valid=8, min_train=0.4), Recycle(3, valid=9)
    for cv in (KFold(3), forward, LeaveOneOut(), recycled):
        found = cross_validate(
            model_of(FORMS[name]), *data, cv=cv, ridge=RIDGE, memory=memory,
            metric=["nrmse", "rmse"], sample_weight=weights, verify=True,
        )  # fmt: skip
        same_scores(found.nrmse.values, from_plain(plain, cv))
        same_scores(found.rmse.values, from_plain(plain, cv, rmse))


@pytest.mark.parametrize("name", ["plain", "both"])
def test_metrics_of_predictions_get_rows_that_have_a_value(name):
    def largest(y_true, y_pred):
        assert np.isfinite(y_true).all() and y_true.shape == y_pred.shape
        return np.abs(y_true - y_pred).max() / len(y_true)

    data, plain = plain_of(name, LATER[:, 0:1])
    expected = from_plain(plain, KFold(4), largest)
    for memory in ("states", "pieces"):
        found = cross_validate(
            model_of(FORMS[name]), *data, cv=KFold(4), ridge=RIDGE, metric=largest, memory=memory
        )
        same_scores(found.largest.values, expected)


# --- regression ---------------------------------------------------------------------------------

TARGETS = np.stack([np.roll(filled(X)[:, 0], 2), filled(X)[:, 1] * np.roll(filled(X)[:, 0], 1)], 1)
TARGETS[[0, 12, 13, 30, 31, 50, 95], 0] = NAN
TARGETS[[13, 14, 60, 61, 62, 63, 64, 65], 1] = NAN
LIMITS = (-0.5, 0.8)


def regressor(**options):
    return ESNRegressor(UNITS, random_state=1, washout=WASHOUT, spectral_radius=0.6, **options)


def plain_regression(targets, cv, metric, weights=None, limits=None, penalize_bias=False):
    model = regressor(penalize_bias=penalize_bias).fit(X, targets)
    inputs = plainly_filled(scaled_columns(X))
    states = reference.run(model.W_in_, model.W_, model.leak_rate_, inputs)
    rows = reference.extended(inputs, states)[WASHOUT:]
    y = targets.reshape(ROWS, -1)
    center, unit = np.nanmean(y, axis=0), np.nanstd(y, axis=0)
    y = y[WASHOUT:]
    present = ~np.isnan(y).any(axis=1)
    weights = np.ones(ROWS) if weights is None else weights
    spread = ((y[present] - y[present].mean(axis=0)) ** 2).sum(axis=1).mean()
    options = {"scale": spread} if metric is nrmse else {}
    scores = []
    for split in cv.splits(len(y)):
        train = np.concatenate([np.arange(*run) for run in split.train])
        train, valid = train[present[train]], np.arange(*split.valid)
        valid = valid[present[valid]]
        if not len(valid):
            continue
        row = []
        for ridge in RIDGE:
            scaled = (y[train] - center) / unit
            fit = reference.ridge(
                rows[train], scaled, ridge, penalize_bias, weights[WASHOUT:][train]
            )
            found = center + unit * (rows[valid] @ fit)
            found = found if limits is None else np.clip(found, *limits)
            row.append(metric(y[valid], found, **options))
        scores.append(row)
    return np.array(scores)


@pytest.mark.parametrize(  # what one output has to itself does not hang on the scheme
    ("scheme", "outputs"),
    [
        *((scheme, 2) for scheme in SCHEMES),
        *(
            pytest.param(one, 1, marks=[] if one in ("k-fold", "gaps") else pytest.mark.slow)
            for one in SCHEMES
        ),
    ],
)
def test_regression_equals_the_plain_loop(scheme, outputs):
    y, cv = TARGETS[:, 0] if outputs == 1 else TARGETS, SCHEMES[scheme]
    metric = mae if scheme == "gaps" else nrmse
    for weights, bias in ((None, False), (WEIGHTS, True)):
        expected = plain_regression(y, cv, metric, weights, penalize_bias=bias)
        validated = partial(
            cross_validate, regressor(penalize_bias=bias), X, y, cv=cv, ridge=RIDGE,
            metric=metric.__name__, sample_weight=weights, verify=True,
        )  # fmt: skip
        for algorithm in ALGORITHMS:
            same_scores(validated(algorithm=algorithm)[metric.__name__].values, expected)
        for memory in ("pieces", "fold", "frugal"):
            same_scores(validated(memory=memory)[metric.__name__].values, expected)


def test_clipped_outputs_and_functions_of_a_regression():
    def worst(y_true, y_pred):
        return float(np.abs(y_true - y_pred).max())

    for metric in (nrmse, worst):
        expected = plain_regression(TARGETS, KFold(4), metric, limits=LIMITS)
        for memory in ("states", "pieces"):
            found = cross_validate(
                regressor(output_range=LIMITS), X, TARGETS, cv=KFold(4), ridge=RIDGE,
                metric=metric.__name__ if metric is nrmse else metric, memory=memory,
            )  # fmt: skip
            same_scores(found[metric.__name__].values, expected)


def test_many_rows_of_which_the_first_are_missing():
    # A pilot of a long series, and denominators of long intervals.
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(9000, 1))
    y = np.roll(inputs[:, 0], 1) + 0.1 * rng.normal(size=9000)
    gone = rng.random(9000) < 0.2
    gone[:20] = gone[4000:4300] = True
    y[gone] = NAN
    model = ESNRegressor(8, random_state=0, washout=5)
    found = [
        cross_validate(model, inputs, y, cv=KFold(2), ridge=RIDGE, memory=memory).nrmse.values
        for memory in ("states", "pieces", "frugal")
    ]
    plainly = cross_validate(model, inputs, y, cv=KFold(2), ridge=RIDGE, algorithm="naive")
    for one in found:
        same_scores(one, plainly.nrmse.values)


def test_prediction_and_score_skip_what_is_missing():
    model = regressor().fit(X, TARGETS)
    whole = plainly_filled(X)
    np.testing.assert_array_equal(model.predict(X), model.predict(whole))
    present = ~np.isnan(TARGETS).any(axis=1)
    predicted = model.predict(whole)[present]
    assert model.score(X, TARGETS) == pytest.approx(r2_score(TARGETS[present], predicted))
    weighted = r2_score(TARGETS[present], predicted, sample_weight=WEIGHTS[present])
    assert model.score(X, TARGETS, WEIGHTS) == pytest.approx(weighted)
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}).fill_nan(None)
    np.testing.assert_array_equal(regressor().fit(frame, TARGETS).readout_, model.readout_)


def test_an_estimator_has_the_readout_of_the_rows_that_are_left():
    model = regressor(ridge=1e-2).fit(X, TARGETS)
    present = (~np.isnan(TARGETS).any(axis=1)).astype(float)
    zeros = np.where(np.isnan(TARGETS), np.nanmean(TARGETS, axis=0), TARGETS)
    other = regressor(ridge=1e-2, scale=None)
    inputs = plainly_filled(scaled_columns(X))
    center, unit = np.nanmean(TARGETS, axis=0), np.nanstd(TARGETS, axis=0)
    other.fit(inputs, (zeros - center) / unit, sample_weight=present)
    np.testing.assert_allclose(model.readout_, other.readout_, rtol=1e-9, atol=1e-12)


# --- searches -----------------------------------------------------------------------------------

SPACE = {
    "difference": [(), (6, 1)],
    "season": [None, 6],
    "leak_rate": [0.4, 1.0],
    "ridge": RIDGE,
}


def searched(y=LATER[:, 0], space=SPACE, **options):
    return ESNSearchCV(
        ESNForecaster(UNITS, random_state=2, washout=3), space, **{"cv": KFold(4), **options}
    ).fit(y)


@pytest.fixture(scope="module")
def search():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return searched(n_draws=2)


def test_a_search_equals_its_candidates_one_by_one(search):
    assert search.results_.attrs["rows"] == 93 - 1 - 7
    for place, candidate in enumerate(search.candidates_):
        for draw in range(2):
            model = ESNForecaster(UNITS, random_state=2 + draw, washout=7).set_params(**candidate)
            one = cross_validate(model, LATER[:, 0], cv=KFold(4), ridge=RIDGE, algorithm="naive")
            same_scores(search.results_.nrmse.values[draw, place], one.nrmse.values)


@pytest.mark.parametrize("metric", ["nrmse", "mae"])
def test_pruning_finds_the_same_winner(metric):
    whole, pruned = (searched(metric=metric, prune=prune, n_draws=2) for prune in (False, True))
    assert pruned.best_params_ == whole.best_params_
    assert pruned.best_score_ == pytest.approx(whole.best_score_, rel=1e-12)
    there = ~pruned.results_.pruned.values[:, :, None].repeat(4, axis=2)
    same_scores(pruned.results_[metric].values[there], whole.results_[metric].values[there])


@pytest.mark.parametrize("options", [{"strategy": "halving"}, {"ridge_per": "split"}])
def test_other_searches_run(options):
    assert np.isfinite(searched(**options).best_score_)


@pytest.mark.parametrize("final", ["retrain", "average", "best", "weighted", "ensemble"])
def test_final_models_and_their_residuals(search, final):
    model = search.finalize(final)
    ahead = model.forecast(5, level=0.8)
    lower, upper = ahead.lower[0.8], ahead.upper[0.8]
    assert np.isfinite([ahead.mean, lower, upper]).all() and (lower < upper).all()
    missing = np.full((4, 22), True)
    for split, one in enumerate(KFold(4).splits(85)):
        a, b = one.valid
        missing[split, : b - a] = np.isnan(LATER[8 + a : 8 + b, 0])
    np.testing.assert_array_equal(np.isnan(model.residuals_[:, :, 0]), missing)


def test_residuals_are_those_that_were_scored(search):
    place = RIDGE.index(search.best_params_["ridge"])
    draw = search.results_.nrmse.values[:, search.best_index_, :, place].mean(axis=1).argmin()
    errors = np.sqrt(np.nanmean(search.best_estimator_.residuals_**2, axis=(1, 2)))
    spans = [one.valid for one in KFold(4).splits(85)]
    spread = [np.nanstd(LATER[8 + a : 8 + b, 0]) for a, b in spans]
    found = search.results_.nrmse.values[draw, search.best_index_, :, place]
    np.testing.assert_allclose(errors / spread, found, rtol=1e-8)


def test_an_honest_error_skips_what_is_missing(search):
    found = evaluate(search, LATER[:, 0], origins=3, horizon=8)
    for place, start in enumerate(found.start.values):
        one = searched(LATER[:start, 0], n_draws=2)
        truth, ahead = LATER[start : start + 8, 0], one.forecast(8, level=0.9)
        at = ~np.isnan(truth)
        assert found.nrmse.values[place] == pytest.approx(nrmse(truth[at], ahead.mean[at]))
        inside = (truth >= ahead.lower[0.9]) & (truth <= ahead.upper[0.9])
        assert found.coverage.values[place] == pytest.approx(inside[at].mean())
    found = evaluate(
        ESNSearchCV(regressor(), {"ridge": RIDGE}, cv=KFold(3)), X, TARGETS, origins=2, horizon=16
    )
    assert np.isfinite(found.nrmse.values).all()
    with pytest.raises(
        ValueError, match=r"y is missing \(NaN\) in all rows from 93 to 95.*horizon=3"
    ):
        evaluate(search, LATER[:, 0], origins=2, horizon=3)


def test_inputs_known_in_advance_may_be_missing_in_an_honest_error():
    space = {"ridge": RIDGE}
    one = ESNSearchCV(model_of({}), space, cv=KFold(3))
    assert np.isfinite(evaluate(one, Y[:, 0], X, origins=2, horizon=8).nrmse.values).all()


def test_a_checkpoint_tells_where_values_are_missing(tmp_path):
    space = {"difference": [(), (1,)], "ridge": RIDGE}
    identical(
        searched(space=space, checkpoint=tmp_path / "a"),
        searched(space=space, checkpoint=tmp_path / "a"),
    )
    # The same numbers, of which only the weights say that they are not scored.
    model = ESNForecaster(UNITS, random_state=2, washout=3, scale=None)
    whole, weights = filled(Y[:, :1])[:, 0], (~np.isnan(Y[:, 0])).astype(float)
    unscaled = ESNSearchCV(model, {"ridge": RIDGE}, cv=KFold(4), checkpoint=tmp_path / "e")
    unscaled.fit(whole, sample_weight=weights)
    with pytest.raises(ValueError, match="another search"):
        unscaled.fit(Y[:, 0])
    whole = filled(LATER[:, :1])[:, 0]
    for name, (first, second) in {
        "b": (LATER[:, 0], whole),
        "c": (whole, LATER[:, 0]),
        "d": (LATER[:, 0], LATER[:-1, 0]),
    }.items():
        searched(first, space, checkpoint=tmp_path / name)
        with pytest.raises(ValueError, match="another search"):
            searched(second, space, checkpoint=tmp_path / name)


def test_groups_and_several_schemes():
    groups = np.arange(ROWS) // 20
    with pytest.raises(ValueError, match=r"expected \(96,\)"):
        cross_validate(regressor(), X, TARGETS, cv=GroupKFold(3), groups=groups[1:])
    found = cross_validate(regressor(), X, TARGETS, cv=GroupKFold(3), groups=groups)
    plainly = cross_validate(
        regressor(), X, TARGETS, cv=GroupKFold(3), groups=groups, algorithm="naive"
    )
    same_scores(found.nrmse.values, plainly.nrmse.values)
    both = {"CV": KFold(4), "one": LeaveOneOut()}
    found = cross_validate(model_of({}), LATER[:, 0], cv=both, ridge=RIDGE)
    for name, cv in both.items():
        same_scores(found[name].nrmse.values, from_plain(plain_of("plain", LATER[:, :1])[1], cv))
    runs = [(np.arange(30), np.arange(30, 40)), (np.arange(40), np.arange(40, 50))]
    groups = np.arange(ROWS)  # of all rows of y, those after its last value too
    cross_validate(model_of({}), LATER[:, 0], cv=runs, groups=groups)


# --- one forecaster -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMS)
def test_a_forecast_continues_after_the_last_row(name):
    form = FORMS[name]
    model = model_of(form, ridge=1e-2).fit(LATER[:, :1], X)
    plain = Plain(model, LATER[:, :1], X, form, SEASON.get(name))
    readout = plain.fit(np.arange(max(WASHOUT, plain.lost), 92), 1e-2)
    future = np.random.default_rng(1).normal(size=(8, 2))
    scaled = (future - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    plain.known = np.vstack([plain.known, np.hstack([scaled, waves(form, ROWS + 8)[ROWS:]])])
    u = np.concatenate([plain.targets[-1], plain.known[93]])
    x = reference.update(model.W_in_, model.W_, model.leak_rate_, u, plain.states[-1])
    plain.inputs, plain.states = np.vstack([plain.inputs, u]), np.vstack([plain.states, x])
    expected = plain.run(readout, 92, 11)[3:]
    np.testing.assert_allclose(model.forecast(8, X=future), expected, rtol=1e-8)


@pytest.mark.parametrize("name", ["plain", "both", "all"])
def test_an_update_runs_on_its_own_forecasts(name):
    fitted = model_of(FORMS[name]).fit(COMPLETE[:80])
    new = COMPLETE[80:90].copy()
    new[[0, 4, 5, 9], 0] = new[[5, 9], 1] = NAN
    updated = model_of(FORMS[name]).fit(COMPLETE[:80]).update(new)
    for row in new:
        fitted.update(np.where(np.isnan(row), fitted.forecast(1), row[None]))
    np.testing.assert_allclose(updated.forecast(6), fitted.forecast(6), rtol=1e-9)


def test_an_update_and_a_fit_bridge_the_end_alike():
    y = LATER[:, 0]
    fitted = model_of({}).fit(y).forecast(5)
    np.testing.assert_allclose(model_of({}).fit(y[:93]).update(y[93:]).forecast(5), fitted)
    np.testing.assert_allclose(model_of({}).fit(y[:93]).forecast(8)[3:], fitted)


def test_dates_and_files(tmp_path, search):
    days = pd.date_range("2024-01-01", periods=ROWS, freq="D")
    y = pd.Series(LATER[:, 0], index=days, name="sales")
    model = model_of(FORMS["both"]).fit(y)
    assert model.forecast(2).index[0] == pd.Timestamp("2024-04-06")
    save(model, tmp_path / "model.echofold")
    loaded = load(tmp_path / "model.echofold")
    pd.testing.assert_series_equal(loaded.forecast(8), model.forecast(8))
    whole = pd.Series(LATER[:, 0]).astype("Float64")
    np.testing.assert_array_equal(
        model_of({}).fit(whole).readout_, model_of({}).fit(LATER[:, 0]).readout_
    )
    save(search.finalize("ensemble"), tmp_path / "ensemble.echofold")
    again = load(tmp_path / "ensemble.echofold")
    np.testing.assert_array_equal(again.residuals_, search.finalize("ensemble").residuals_)


def test_complete_data_have_no_mask():
    problem = model_of({})._read(COMPLETE, filled(X))
    assert problem.present is problem.weights is problem.later is None and problem.notes == ()
    early = COMPLETE.copy()
    early[:5] = NAN  # in the washout only
    problem = model_of({})._read(early)
    assert problem.present is problem.weights is None


def test_plots_and_a_report_show_gaps(search, tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    axes = plots.forecasts(search)
    assert not axes.texts  # nothing diverges
    drawn = axes.lines[0].get_ydata()
    assert np.isnan(np.asarray(drawn, dtype=float)).any()
    plots.forecast(LATER[:, 0], search.forecast(5))
    plots.error_by_step(search)
    plt.close("all")
    page = search.report(tmp_path / "report.html")
    assert "13 of 96 values" in (tmp_path / "report.html").read_text(), page


# --- what is said -------------------------------------------------------------------------------


def test_fit_says_how_many_are_missing_and_where():
    days = pd.date_range("2024-01-01", periods=ROWS, freq="D")
    y = pd.DataFrame(LATER, index=days, columns=["a", "b"])
    known = pd.DataFrame(X, index=days, columns=["wind", "sun"])
    with pytest.warns(EchofoldWarning) as caught:
        model_of({}).fit(y, known)
    assert len(caught) == 1 and caught[0].filename == __file__
    text = str(caught[0].message)
    assert text.startswith(
        "y: 25 values of 192 are missing (NaN), in columns 'a', 'b', in rows "
        "0 to 1 (2024-01-01 to 2024-01-02), 11 (2024-01-12), 25 to 27 (2024-01-26 to 2024-01-28), "
        "…, 93 to 95 (2024-04-03 to 2024-04-05). Rows without a value are neither trained on nor "
        "scored."
    )
    assert "X: 7 values of 192 are missing (NaN), in columns 'wind', 'sun', in rows 0" in text
    assert text.endswith("After row 92 of y the network runs on its own forecasts.")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: cross_validate(model_of({}), LATER[:, 0]), "y: 13 values of 96"),
        (lambda: searched(n_draws=2), "y: 13 values of 96"),
        (lambda: regressor().fit(X, TARGETS), "y: 15 values of 192.*X: 7 values of 192"),
    ],
)
@pytest.mark.filterwarnings("default::echofold.EchofoldWarning")
def test_there_is_one_warning(call, says):
    with pytest.warns(EchofoldWarning, match=says) as caught:
        call()
    assert len(caught) == 1 and caught[0].filename == __file__


@pytest.mark.filterwarnings("default::echofold.EchofoldWarning")
def test_later_calls_warn_once_too(search):
    with pytest.warns(
        EchofoldWarning, match=r"y: 1 value of 2 is missing.*row 0\. The network's own"
    ):
        model_of({}).fit(COMPLETE).update([[NAN, 1.0]])
    ensemble = search.finalize("ensemble")
    with pytest.warns(EchofoldWarning) as caught:
        ensemble.update([1.0, NAN])
    assert len(caught) == 1 and caught[0].filename == __file__
    model = model_of({}).fit(COMPLETE, filled(X))
    with pytest.warns(EchofoldWarning, match="X: 1 value of 6 is missing") as caught:
        model.forecast(3, X=[[1.0, 2.0], [NAN, 1.0], [2.0, 2.0]])
    assert len(caught) == 1 and caught[0].filename == __file__
    model = regressor().fit(filled(X), filled(TARGETS))
    with pytest.warns(EchofoldWarning, match="X: 7 values of 192") as caught:
        model.predict(X)
    assert len(caught) == 1 and caught[0].filename == __file__


@pytest.mark.filterwarnings("error::echofold.EchofoldWarning")
def test_complete_data_are_not_spoken_of():
    model = model_of({}).fit(COMPLETE, filled(X))
    model.update(COMPLETE[:3], filled(X)[:3]).forecast(2, X=filled(X)[:2])
    cross_validate(model_of({}), COMPLETE, cv=KFold(3))
    regressor().fit(filled(X), filled(TARGETS)).predict(filled(X))


@pytest.mark.filterwarnings("default::echofold.EchofoldWarning")
def test_splits_without_a_value_are_left_out_and_told():
    y = COMPLETE[:, 0].copy()
    y[30:60] = NAN
    with pytest.warns(EchofoldWarning, match=r"1 of 4 splits of cv=KFold\(k=4.* are left out"):
        found = cross_validate(model_of({}), y, cv=KFold(4), ridge=RIDGE)
    assert found.valid_start.values.tolist() == [0, 43, 64]
    plain = plain_of("plain", y[:, None])[1]
    same_scores(found.nrmse.values, from_plain(plain, KFold(4)))
    y[60:] = NAN
    y[-1] = 1.0
    with pytest.raises(
        ValueError, match=r"all validation rows of cv=1 given splits.*20 of 85 rows"
    ):
        cross_validate(model_of({}), y, cv=[(np.arange(15), np.arange(30, 40))])
    with pytest.raises(ValueError, match="y is missing.* for every training row of split 1 of 1"):
        cross_validate(model_of({}), y, cv=[(np.arange(30, 40), np.arange(15))])


def gone(values, at):
    copy = np.array(values, dtype=float)
    copy[at] = NAN
    return copy


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: model_of({}).fit(NAN * COMPLETE),
            r"y has no value in column 0: all of its 96 rows",
        ),
        (
            lambda: model_of({}).fit(gone(COMPLETE, (slice(None), 1))),
            "y has no value in column 1.*Leave the column out",
        ),
        (
            lambda: model_of({}).fit(np.where(np.eye(2)[_t % 2] > 0, NAN, COMPLETE)),
            "y has a missing value .* in each of its 96 rows.*one by one",
        ),
        (
            lambda: model_of({}).fit(gone(COMPLETE, slice(11, 95))),
            "y leaves 1 of 85 rows after the washout to train on, at least 2 are needed",
        ),
        (
            lambda: model_of({"difference": (1,)}).fit(gone(COMPLETE, slice(0, 95, 2))),
            "y leaves 0 of 96 rows to train on.*a difference from one that is missing",
        ),
        (
            lambda: model_of({}).fit(COMPLETE, gone(X, (slice(None), 1))),
            "X has no value in column 1",
        ),
        (
            lambda: model_of({}).fit(COMPLETE, filled(X)).forecast(2, X=[[NAN, 1], [NAN, 2]]),
            "X has no value in column 0: all of its 2 rows",
        ),
        (
            lambda: regressor().fit(X, gone(TARGETS, slice(1, None))),
            "y (leaves|has a missing value|has no value)",
        ),
        (lambda: regressor().fit(gone(X, slice(None)), TARGETS), "X has no value in column 0"),
        (
            lambda: regressor().fit(filled(X), filled(TARGETS)).predict([[1.0, NAN]]),
            "X has no value in column 1: all of its 1 rows",
        ),
        (lambda: cross_validate_readout(X, filled(TARGETS)), "states contains NaN in column 0"),
        (lambda: cross_validate_readout(filled(X), TARGETS), "targets contains NaN in column 0"),
        (
            lambda: model_of({"log": True}).fit(np.where(_t == 5, -1.0, LATER[:, 0])),
            "log=True needs positive values, but y holds -1 in row 5",
        ),
    ],
)
def test_too_little_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_words_of_an_index():
    values = gone(np.arange(8.0), [2, 3, 7])[:, None]
    periods = pd.period_range("2024-01", periods=8, freq="M")
    (text,) = words_of(values, "y", "", None, periods)
    assert "rows 2 to 3 (2024-03 to 2024-04), 7 (2024-08)" in text
    (text,) = words_of(values, "y", "", None, pd.RangeIndex(8))
    assert "rows 2 to 3, 7." in text
    (text,) = words_of(values[:3], "y", "", None, pd.Index(["a", "b", "c"]))
    assert "row 2 (c)." in text
    assert words_of(values[:2], "y", "", None, None) == ()
