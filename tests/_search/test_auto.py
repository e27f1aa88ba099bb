"""AutoForecaster: any series has a sound forecast, and what is said of it is true."""

import warnings
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest

from echofold import AutoForecaster, EchofoldWarning, baselines, evaluate, load, save
from echofold._models.combination import NETWORKS, Asked, forecasts_of, priors_for
from echofold._search.auto import unusual
from echofold._search.recipe import recipe_for, stretches

FEW = {"units": 5, "grid": "small", "draws": 1, "k": 4}  # a search that costs little
RNG = np.random.RandomState(0)
T = np.arange(100.0)
MONTHS = pd.Series(
    100 + T[:60] + 20 * np.sin(T[:60] * np.pi / 6) + RNG.normal(size=60),
    pd.date_range("2015-01-01", periods=60, freq="MS", name="month"),
    name="sales",
)
ODD = {
    "one value": [5.0],
    "two values": [5.0, 7.0],
    "constant": np.full(30, 3.0),
    "long constant": np.full(80, 3.0),
    "zeros": np.zeros(50),
    "a spike": np.append(np.zeros(20), [9.0, *np.zeros(13)]),
    "a spike at the end": np.append(np.full(34, 5.0), 50.0),
    "steps": np.repeat([1.0, 5.0, 2.0], 11),
    "alternating": np.tile([1.0, 3.0], 16),
    "random walk": RNG.normal(size=35).cumsum(),
    "white noise": RNG.normal(size=35),
    "huge": 1e99 * (1 + RNG.rand(50)),
    "tiny": 1e-150 * (1 + RNG.rand(50)),
    "far from zero": 1e9 + RNG.normal(size=35),
    "periodic": np.tile([1.0, 5.0, 2.0, 8.0], 8),
    "a line": T[:35],
    "a line to zero": T[35:0:-1],
    "growth": np.exp(T[:35] / 5),
    "counts": RNG.poisson(0.4, 35).astype(float),
    "a few known": np.where(T[:90] % 9 == 4, T[:90], np.nan),
    "missing at both ends": np.array([np.nan] * 5 + list(T[:20]) + [np.nan] * 3),
    "heavy tails": RNG.standard_cauchy(35),
    "negative": -5 - RNG.rand(35),
}


def fitted(y, horizon=6, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EchofoldWarning)  # of missing values
        return AutoForecaster(horizon, **{"search": FEW, "progress": False, **given}).fit(y)


@pytest.fixture(scope="module")
def model():
    return fitted(MONTHS)


@pytest.mark.parametrize("name", ODD)
def test_any_series_has_a_sound_forecast(name):
    y = np.array(ODD[name])
    model = fitted(y)
    mean, lower, upper = model.forecast()
    low, high = np.nanmin(y), np.nanmax(y)
    room = 2 * (high - low) + 1e-9 * abs(high)
    assert np.isfinite(mean).all() and mean.shape == (6,)
    assert (mean >= low - room).all() and (mean <= high + room).all()
    if name == "one value":
        assert np.isnan(lower[0.9]).all() and model.verdict_.error is None
        return
    assert (lower[0.9] <= lower[0.5]).all() and (upper[0.5] <= upper[0.9]).all()
    assert (lower[0.9] <= mean).all() and (mean <= upper[0.9]).all()
    assert low < 0 or (lower[0.9] >= 0).all()
    assert not model.verdict_.words[0].islower() and model.verdict_.words.endswith(".")
    assert model.weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("constant", 3.0), ("zeros", 0.0), ("a line", np.arange(35, 41)), ("two values", 7.0)],
)
def test_what_anyone_would_say(name, expected):
    np.testing.assert_allclose(fitted(np.array(ODD[name])).forecast().mean, expected, rtol=0.02)


def test_numbers_of_the_verdict_are_those_of_the_past(model):
    verdict, past = model.verdict_, model.past_
    assert past.rows.shape == (verdict.stretches, verdict.steps) == (4, 6)
    rmse = np.sqrt(((past.truth - model.outputs_) ** 2).mean(axis=1)).mean()
    assert verdict.error == pytest.approx(rmse)
    for name, rule in (
        ("last value", baselines.last_value),
        ("mean", baselines.mean),
        ("value 12 steps ago", lambda y, h: baselines.seasonal_naive(y, h, 12)),
    ):
        said = np.array([rule(MONTHS.to_numpy()[: rows[0]], 6) for rows in past.rows])
        own = np.sqrt(((past.truth - said) ** 2).mean(axis=1)).mean()
        assert model.baselines_[name] == pytest.approx(own)
    assert verdict.best_error == min(model.baselines_.values())
    assert model.baselines_[verdict.best] == verdict.best_error
    share = round(100 * (1 - verdict.error / verdict.best_error))
    assert verdict.words.startswith(f"{share} % better than repeating last year")
    assert list(model.members_.index) == list(model.names_) and model.names_[0] == NETWORKS


def test_networks_are_those_of_the_search_and_forecast_the_same_stretches(model):
    search = model.search_
    assert model.results_ is search.results_ and model.networks_ is search.best_estimator_
    np.testing.assert_allclose(
        model.past_.outputs[0], model.past_.truth - model.networks_.residuals_[:, :, 0]
    )
    ahead = model.networks_.forecast(6)
    assert ahead.index[0] == pd.Timestamp("2020-01-01")


def test_seasons_are_those_of_the_calendar_given_or_found():
    assert fitted(MONTHS[:30]).seasons_ == (12,) and fitted(MONTHS[:20]).seasons_ == ()
    assert fitted(MONTHS.to_numpy()[:30], season=12).seasons_ == (12,)
    assert fitted(MONTHS[:30], season=None).seasons_ == ()
    found = fitted(ODD["periodic"])
    assert found.seasons_ == (4,) and "season of 4 steps found in the values." in found.notes_
    long = fitted(MONTHS[:30], season=52)
    assert (
        long.seasons_ == ()
        and "a season of 52 steps is not used: 30 values do not" in long.notes_[0]
    )
    days = pd.Series(RNG.rand(30), pd.date_range("2024-01-01", periods=30))
    assert fitted(days).seasons_ == (7,)


@pytest.mark.parametrize("rows", [24, 28, 32])
def test_a_season_is_followed_from_two_of_them_on(rows):
    ahead = fitted(MONTHS[:rows], 12).forecast().mean
    truth = MONTHS[rows : rows + 12]
    naive = baselines.seasonal_naive(MONTHS[:rows], 12, 12)
    assert ((ahead - truth) ** 2).mean() < ((naive - truth) ** 2).mean()
    assert (ahead.index == truth.index).all()


def test_limits():
    down = ODD["a line to zero"]
    model = fitted(down)
    assert (model.forecast().mean >= 0).all()
    assert any("kept at 0, because no value is negative" in note for note in model.notes_)
    free = fitted(down, minimum=-np.inf)
    assert free.forecast().mean[-1] < -2 and not any("kept at" in note for note in free.notes_)
    share = pd.Series(90 + T[:30] / 3.2, name="share in %")
    assert fitted(share).forecast().upper[0.9].max() == 100
    assert fitted(share.rename("share")).forecast().mean.max() > 100
    assert fitted(share, maximum=100.5).forecast().mean.max() == 100.5
    with pytest.raises(ValueError, match="y holds 90, outside of minimum=95"):
        fitted(share, minimum=95)


def test_a_plain_forecast_is_given_where_it_was_clearly_better():
    jumps = np.where(np.random.RandomState(1).rand(140) < 0.03, 1.0, 0.0).cumsum()
    model = fitted(jumps, 3, search={**FEW, "k": 12})
    assert model.given == "last value" == model.verdict_.best
    assert model.verdict_.words.startswith("This is a plain forecast, repeating the last value: it")
    np.testing.assert_array_equal(model.forecast().mean, jumps[-1])
    assert model.verdict_.error == model.verdict_.best_error == model.baselines_["last value"]


def test_networks_say_nothing_of_stretches_before_their_season_could_be_found():
    t = np.arange(50)
    y = 10 + 3 * np.sin(2 * np.pi * t / 12) + 0.3 * np.random.RandomState(0).normal(size=50)
    told, found = fitted(y, 6, season=12), fitted(y, 6)
    assert told.seasons_ == found.seasons_ == (12,)
    starts = found.past_.rows[:, 0]
    unknown = np.array([found._seasons_before(row) == () for row in starts])
    assert unknown.any() and not unknown.all()
    own, others = found.past_.outputs[0], found.past_.outputs[1:]
    priors = np.array(list(priors_for(y, True, {NETWORKS: 0.2}).values()))[1:]
    mean = np.tensordot(priors / priors.sum(), others, 1)
    np.testing.assert_allclose(own[unknown], mean[unknown])
    # Of a season that was told, networks are believed from the first stretch on.
    both = np.isin(told.past_.rows[:, 0], starts[~unknown])
    np.testing.assert_array_equal(own[~unknown], told.past_.outputs[0][both])


def test_no_plain_forecast_that_was_better_goes_without_a_reason():
    noise = fitted(RNG.normal(size=30))
    assert noise.given == "all members together"
    if noise.verdict_.error > noise.verdict_.best_error:
        assert "too little to tell" in noise.verdict_.words


@pytest.mark.parametrize(
    "y", [MONTHS, MONTHS[:20], MONTHS[:30], np.array(ODD["counts"]), np.array([4.0])]
)
def test_a_file_holds_the_same_model(tmp_path, y):
    model = fitted(y)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model", AutoForecaster)
    for one, other in zip(model.forecast(), again.forecast(), strict=True):
        if isinstance(one, dict):
            for level in one:
                np.testing.assert_array_equal(one[level], other[level])
        else:
            np.testing.assert_array_equal(one, other)
    assert again.verdict_ == model.verdict_ and again.notes_ == model.notes_
    pd.testing.assert_frame_equal(again.members_, model.members_)
    with pytest.raises(ValueError, match="a model from a file has no data"):
        again.report(tmp_path / "report.html")


def test_it_moves_on(model):
    new = pd.Series([170.0, 171.0], model.forecast(2).mean.index, name="sales")
    moved = load_copy(model).update(new)
    ahead = moved.forecast(3)
    assert ahead.mean.index[0] == pd.Timestamp("2020-03-01") and moved.rows_ == 62
    with pytest.raises(ValueError, match="does not follow"):
        moved.update(new)
    assert moved.forecast(3).mean.equals(ahead.mean)  # as it was
    short = fitted(MONTHS[:20])
    with_more = fitted(MONTHS[:22])
    short.update(MONTHS[20:22]).weights_ = with_more.weights_
    np.testing.assert_allclose(short.forecast().mean, with_more.forecast().mean)


def load_copy(model):
    from copy import copy

    return copy(model)


def test_inputs_are_learned_by_networks_alone():
    X = pd.DataFrame({"promotion": RNG.rand(60) > 0.7}, MONTHS.index)
    y = MONTHS + 30 * X.promotion
    ahead = pd.DataFrame({"promotion": [True] * 6}, fitted(MONTHS[:20]).forecast().mean.index)
    model = AutoForecaster(6, search=FEW, progress=False).fit(y, X)
    index = pd.date_range("2020-01-01", periods=6, freq="MS", name="month")
    ahead = pd.DataFrame({"promotion": [True, False] * 3}, index)
    with_it, without = model.forecast(X=ahead).mean, model.forecast(X=~ahead).mean
    assert ((with_it - without)[::2] > 2).all()
    for given, words in ((None, "X was given to fit but not to forecast"),):
        with pytest.raises(ValueError, match=words):
            model.forecast(X=given)
    few = AutoForecaster(6, progress=False).fit(y[:20], X[:20])
    assert any("inputs known in advance are not used" in note for note in few.notes_)
    few.forecast()
    with pytest.raises(ValueError, match="X has 59 rows and y has 60"):
        AutoForecaster(6).fit(y, X[1:])


def test_values_at_the_end_that_are_far_off_are_named():
    calm = 20 + RNG.normal(size=60)
    assert unusual(calm, (), None) == []
    assert "the last value, 60, is far from the" in unusual(np.append(calm, 60.0), (), None)[0]
    at = unusual(np.append(calm, [60.0, 20.5, 19.0]), (), None)
    assert len(at) == 1 and at[0].startswith("the value in row 60, 60, is far")
    shifted = unusual(np.append(calm, calm[:5] + 25), (), None)
    assert shifted[0].startswith("the last 5 values are all far above what came before")
    dated = pd.date_range("2024-01-01", periods=61)
    assert "the value of 2024-03-01, 60" in unusual(np.append(calm, 60.0), (), dated)[0]
    assert unusual(T, (), None) == unusual(np.exp(T / 10), (), None) == []


def test_evaluate_repeats_the_whole_recipe(model):
    found = evaluate(model, MONTHS[:30], origins=2)
    assert found.sizes["origin"] == 2 and found.attrs["horizon"] == 6
    first = fitted(MONTHS[:18]).forecast().mean
    error = np.sqrt(((first - MONTHS[18:24]) ** 2).mean())
    assert float(found.rmse[0]) == pytest.approx(float(error))
    assert model.evaluation_ is found
    model.evaluation_ = None


def test_steps_beyond_what_was_validated_are_said():
    model = fitted(MONTHS[:20], 12)
    assert any("intervals beyond step 6" in note for note in model.notes_)
    short = fitted(MONTHS[:30], 3)
    with pytest.warns(EchofoldWarning, match="beyond step 3"):
        far = short.forecast(9)
    width = far.upper[0.9] - far.lower[0.9]
    assert width.iloc[-1] > width.iloc[2]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"horizon": 0}, "horizon=0"),
        ({"level": 1.5}, "level=1.5"),
        ({"season": "weekly"}, "season='weekly'"),
        ({"season": 2.5}, "season=2.5"),
        ({"effort": "much"}, "effort='much' is not allowed.*'fast', 'normal' or 'high'"),
        ({"minimum": "zero"}, "minimum='zero'"),
        ({"search": {"unit": 5}}, "no argument 'unit'. Did you mean 'units'"),
        ({"search": {"scheme": "best"}}, "scheme='best'"),
        ({"search": {"k": 0}}, "k=0"),
        ({"search": {"log": True}, "minimum": -np.inf}, "log=True needs positive values"),
    ],
)
def test_errors(given, words):
    y = T[:40] - 3
    with pytest.raises(ValueError, match=words):
        AutoForecaster(**{"horizon": 3, "progress": False, **given}).fit(y)


def test_several_columns_are_refused():
    with pytest.raises(ValueError, match="y has 2 columns, expected one series"):
        AutoForecaster(3).fit(np.ones((30, 2)))
    with pytest.raises(ValueError, match="y has no value"):
        AutoForecaster(3).fit(np.full(9, np.nan))
    with pytest.raises(ValueError, match=r"y holds 1e120, too large.*up to 1e\+100 will do"):
        AutoForecaster(3).fit([1.0, 1e120])


def test_stretches_lie_in_the_later_half():
    for length in (2, 3, 5, 10, 24, 50, 200):
        for horizon in (1, 6, 24):
            rows = stretches(length, horizon)
            assert rows.min() >= 1 and rows.max() == length - 1
            assert rows.shape[1] <= horizon and len(rows) <= 20
            assert rows[0, 0] >= length // 2 - rows.shape[1]
    assert len(stretches(1, 3)) == 0
    assert stretches(40, 6, 24)[0, 0] == 24 and stretches(24, 6, 24)[0, 0] == 18


def test_a_season_that_was_seen_once_is_repeated_in_part():
    model = fitted(MONTHS[:18], 6)
    assert model.once_ == 12 and model.names_[-1] == "last season" and model.seasons_ == ()
    np.testing.assert_array_equal(model.next_[-1], MONTHS[6:12])
    truth = MONTHS[18:24]
    without = fitted(MONTHS[:18], 6, season=None).forecast().mean
    assert ((model.forecast().mean - truth) ** 2).mean() < ((without - truth) ** 2).mean()
    assert fitted(MONTHS[:11]).once_ is fitted(MONTHS[:24]).once_ is None


def test_members_and_plain_forecasts_are_compared_where_both_know_the_seasons():
    hours = np.arange(240.0)
    y = 50 + 9 * np.sin(hours * np.pi / 6) + 20 * (hours % 48 < 6) + RNG.normal(size=240)
    model = fitted(y, season=(12, 48), search={**FEW, "k": 8})
    assert (model.past_.rows[:, 0] >= 96).all() and model.past_.outputs.shape[1] < 9
    # of 24 months, all repeat the first year where only that was seen
    short = fitted(MONTHS[:24])
    first = short.past_.rows[:, 0]
    for place in np.flatnonzero(first < 24):
        np.testing.assert_array_equal(np.ptp(short.past_.outputs[:, place], axis=0), 0)
    width = short.forecast().upper[0.9] - short.forecast().lower[0.9]
    assert width.max() < np.ptp(MONTHS[:24])


def test_a_pure_season_and_nothing_to_validate_on():
    wave = 100 + 10 * np.sin(2 * np.pi * T / 12)
    np.testing.assert_allclose(
        fitted(wave, 2).forecast().mean, [110 - 10 + 8.66025, 105], rtol=1e-3
    )
    unknown = fitted([1.0, 2.0, np.nan], 2)
    assert np.isnan(unknown.forecast().lower[0.9]).all() and unknown.verdict_.error is None
    assert evaluate(AutoForecaster(1), [1.0, 2.0], origins=1).coverage.values == 0


def test_why_no_networks_are_searched():
    for y, seasons, words in (
        (T[:20], (), "20 values are too few for networks"),
        (np.ones(50), (), "all values are equal"),
        (1e-120 * T[:50], (), "vary by too little"),
        (T[:50], (24,), "a season of 24 steps, which they must have seen 3 times"),
    ):
        assert words in recipe_for(y, seasons, 6)
    assert recipe_for(T[:50], (12,), 6).units == 15


@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 3000), marks=pytest.mark.fuzz)], ids=["few", "many"]
)
def test_random_series_have_sound_forecasts(seeds):
    """Of any kind, size and length without networks, with values missing, for any season."""
    for seed in seeds:
        rng = np.random.RandomState(seed)
        length = rng.choice([1, 2, 3, 5, 9, 13, 14, 23, 24, 25, 35])
        y = [
            rng.normal(size=length),
            rng.normal(size=length).cumsum(),
            np.exp(3 * rng.normal(size=length)),
            rng.poisson(0.5, length).astype(float),
            rng.standard_cauchy(length),
            np.resize(rng.normal(size=4), length),
        ][rng.randint(6)]
        y = y * 10.0 ** rng.randint(-30, 30) + rng.choice([0.0, 1e6])
        y[rng.rand(length) < rng.choice([0.0, 0.0, 0.6])] = np.nan
        y[rng.randint(length)] = 1.0
        season = [None, "auto", 4, 12, (4, 12)][rng.randint(5)]
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            model = fitted(y, int(rng.choice([1, 6, 40])), season=season)
            mean, lower, upper = model.forecast()
        low, high = np.nanmin(y), np.nanmax(y)
        room = 2 * (high - low) + 1e-6 * max(abs(low), abs(high))
        assert ((mean >= low - room) & (mean <= high + room)).all(), seed
        known = np.isfinite(lower[0.9]) & np.isfinite(upper[0.9])
        assert known.all() or not known.any(), seed
        rounding = 1e-9 * max(abs(low), abs(high))
        assert (~known | (lower[0.9] <= mean + rounding) & (mean <= upper[0.9] + rounding)).all()


@pytest.mark.filterwarnings("ignore::echofold.EchofoldWarning")
@pytest.mark.parametrize("missing", [0, 1, 2, 5])
def test_missing_values_at_the_end_leave_networks(missing):
    y = MONTHS.copy()
    y.iloc[len(y) - missing :] = np.nan
    model = AutoForecaster(6, progress=False).fit(y)
    assert NETWORKS in model.names_
    assert model.forecast().mean.index[0] == pd.Timestamp("2020-01-01")


def test_intervals_beyond_what_was_validated_are_told_in_python(tmp_path):
    y = [3.0, 5.0, 4.0, 6.0, 5.0, 7.0, 6.0]
    model = AutoForecaster(5, progress=False).fit(y)
    steps = model.residuals_.shape[1]
    assert steps < 5
    save(model, tmp_path / "model")
    for one in (model, load(tmp_path / "model")):
        with pytest.warns(EchofoldWarning, match=f"intervals beyond step {steps}, the last that"):
            one.forecast()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            one.forecast(steps)
            AutoForecaster(3, progress=False).fit([5.0]).forecast()  # there are none


def test_intervals_of_several_series_beyond_what_was_validated_name_them():
    panel = {"short": [3.0, 5.0, 4.0, 6.0, 5.0, 7.0, 6.0], "long": MONTHS.tolist()}
    model = AutoForecaster(5, progress=False, pool="none", search=FEW).fit(panel)
    with pytest.warns(EchofoldWarning, match="^series 'short': intervals beyond step") as said:
        model.forecast()
    assert "'long'" not in str(said[0].message)


def test_what_it_says_after_it_moved_on_is_that_of_its_members():
    """Networks moved on by themselves, other members on all values, mixed by the old weights."""
    model = AutoForecaster(4, search=FEW, progress=False).fit(MONTHS[:50])
    assert model.given_ is None and model.names_[0] == NETWORKS
    moved = deepcopy(model).update(MONTHS[50:53])
    values = MONTHS.to_numpy()[:53]
    asked = Asked(model.names_[1:], values, np.array([53]), lambda _: model.seasons_)
    networks = deepcopy(model.networks_).update(MONTHS[50:53]).forecast(4)
    each = np.vstack([np.ravel(networks), forecasts_of([asked], 4)[0][:, 0]])
    np.testing.assert_allclose(moved.forecast().mean, model.weights_ @ each, rtol=1e-12)
    assert not np.allclose(model.forecast().mean, moved.forecast().mean)
