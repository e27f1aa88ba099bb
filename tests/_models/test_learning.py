"""Learning on: wherever data are cut, the readout is that of one fit, and of the definition."""

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
from kinds import KINDS, PLAIN
from precise import AVAILABLE
from searches import SEQUENCES
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from echofold import ESNClassifier, ESNForecaster, ESNRegressor, ESNSearchCV, KFold, load, save
from echofold._folds import extended
from echofold._models import learning
from echofold._models.learning import Learning, surely_full_rank
from echofold._validation.refit import Triangle
from echofold.reservoirs import Leaky

RNG = np.random.default_rng(8)
ROWS = 240
T = np.arange(ROWS)
Y = np.stack([np.sin(T / 5) + np.sin(T / 3.1), np.cos(T / 4)], axis=1)
Y = 4 + Y + 0.1 * RNG.normal(size=Y.shape)
U = RNG.normal(size=(ROWS, 2))
WEIGHTS = RNG.uniform(0, 2, ROWS) * (RNG.uniform(size=ROWS) < 0.8)
FIXED = {"units": 12, "washout": 15, "scale": None, "random_state": 2}
CUTS = ([100], [17, 18, 90, 239], [60, 61, 62, 150])


def holes(values, share=0.08):
    """The same with missing values, some of them beside each other, and whole rows at a cut."""
    found = values.copy()
    found[np.random.default_rng(3).uniform(size=found.shape) < share] = np.nan
    found[98:103] = np.nan
    found[149] = np.nan
    return found


def weekdays(values):
    """The same without two of every seven values, but for the very last, which ends a fit."""
    found = values.copy()
    found[(T % 7 > 4) & (T < ROWS - 1)] = np.nan
    return found


def parts(data, cuts):
    """Data between cuts, each part as the arguments of a call."""
    edges = [0, *cuts, ROWS]
    for a, b in zip(edges[:-1], edges[1:], strict=True):
        yield {name: None if one is None else one[a:b] for name, one in data.items()}


def learned(model, data, cuts, **options):
    """A model that learned from one part after the other."""
    for part in parts(data, cuts):
        assert model.partial_fit(**part, **options) is model
    return model


def assert_same(model, whole, atol=1e-9):
    """That two models say the same, and stand at the same place."""
    np.testing.assert_allclose(model.readout_, whole.readout_, rtol=0, atol=atol)
    np.testing.assert_allclose(model.state_, whole.state_, rtol=0, atol=atol)
    if isinstance(model, ESNForecaster):
        known = None if model.X_schema_ is None else U[:9]
        found, expected = (one.forecast(9, X=known) for one in (model, whole))
        np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


FORECASTERS = {
    "plain": ({}, {}),
    "bias": ({"penalize_bias": True}, {}),
    "without ridge": ({"ridge": 0}, {}),
    "bias, without ridge": ({"ridge": 0, "penalize_bias": True}, {"known": True}),
    "little ridge, known": ({"ridge": 1e-9}, {"known": True}),
    "weights": ({}, {"weights": True}),
    "weights, bias": ({"penalize_bias": True}, {"weights": True, "known": True}),
    "missing": ({}, {"missing": True}),
    "missing, known": ({"ridge": 1e-6}, {"missing": True, "known": True, "weights": True}),
    "differences": ({"difference": (5, 1)}, {}),
    "differences, missing": ({"difference": (4,)}, {"missing": True, "known": True}),
    "logarithms": ({"log": True, "difference": 1}, {"missing": True}),
    "seasons": ({"season": (12.0, 7.5), "harmonics": 2}, {"missing": True, "known": True}),
    "closed at weekends": ({"season": 7}, {"weekends": True, "known": True}),
    "closed at weekends, differences": ({"difference": 7}, {"weekends": True}),
    "direct": ({"steps": 3}, {}),
    "direct, missing": ({"steps": 4, "difference": 1}, {"missing": True, "weights": True}),
    "squares": ({"readout": "states+squares"}, {}),
    "a range": ({"output_range": (0, 9)}, {"missing": True}),
    "deep": ({"reservoir": KINDS["deep"], "units": 100}, {}),
    "nvar": ({"reservoir": KINDS["nvar"], "units": 100}, {"known": True}),
}


@pytest.mark.filterwarnings("ignore:.*missing:UserWarning")
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("name", FORECASTERS)
def test_a_forecaster_that_learns_on_equals_one_fit(name, outputs):
    params, given = FORECASTERS[name]
    y = Y[:, :outputs]
    data = {
        "y": holes(y) if "missing" in given else y,
        "X": (holes(U) if "missing" in given else U) if "known" in given else None,
        "sample_weight": WEIGHTS if "weights" in given else None,
    }
    if "weekends" in given:  # at no time of the season is there a value to fill these with
        data |= {name: weekdays(data[name]) for name in ("y", "X") if data[name] is not None}
    model = ESNForecaster(**(FIXED | params))
    whole = clone(model).fit(**data)
    for cuts in CUTS:
        assert_same(learned(clone(model), data, cuts), whole)
    if outputs == 1:
        assert_same(learned(clone(model), data, range(1, ROWS)), whole)


REGRESSORS = {
    "plain": ({}, {}),
    "bias": ({"penalize_bias": True}, {"missing": True}),
    "without ridge": ({"ridge": 0}, {"weights": True}),
    "ridge of each": ({"ridge": [1e-3, 1.0]}, {"missing": True, "weights": True}),
    "states alone": ({"readout": "states"}, {}),
}


@pytest.mark.filterwarnings("ignore:.*missing:UserWarning")
@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor_that_learns_on_equals_one_fit(name):
    params, given = REGRESSORS[name]
    missing = "missing" in given
    data = {"X": holes(U) if missing else U, "y": holes(Y) if missing else Y}
    data["sample_weight"] = WEIGHTS if "weights" in given else None
    model = ESNRegressor(**(FIXED | params))
    whole = clone(model).fit(**data)
    for cuts in (*CUTS, range(1, ROWS)):
        assert_same(learned(clone(model), data, cuts), whole)


@pytest.mark.parametrize("penalised", [False, True])
@pytest.mark.parametrize("ridge", [0, 1e-2])
@pytest.mark.parametrize("forgetting", [1.0, 0.97, 0.4])
def test_learning_on_equals_the_definition(penalised, ridge, forgetting):
    model = ESNRegressor(**FIXED, ridge=ridge, penalize_bias=penalised)
    learned(model, {"X": U, "y": Y}, range(1, ROWS), forgetting=forgetting)
    plain, x, rows = PLAIN[Leaky](model), np.zeros(12), []
    for u in U:
        x = plain.step(x, u)
        rows.append(np.concatenate([[1.0], u, x]))
    weights = forgetting ** (ROWS - 1.0 - T)
    there = slice(15, None)
    W = reference.ridge(np.array(rows)[there], Y[there], ridge, penalised, weights[there])
    if ridge or forgetting > 0.9:
        np.testing.assert_allclose(model.readout_, W, rtol=0, atol=1e-9)
    whole = clone(model).fit(U, Y, weights)
    last = np.array(rows)[-20:]
    np.testing.assert_allclose(last @ model.readout_, last @ whole.readout_, rtol=0, atol=1e-7)


@pytest.mark.filterwarnings("ignore:.*missing:UserWarning")
@pytest.mark.parametrize("params", [{}, {"penalize_bias": True, "ridge": 1.0}, {"steps": 3}])
def test_forgetting_equals_weights_that_decay(params):
    data = {"y": holes(Y, 0.02), "X": None if params.get("steps") else U, "sample_weight": WEIGHTS}
    model = ESNForecaster(**(FIXED | params))
    weights = WEIGHTS * 0.98 ** (ROWS - 1 - T)
    whole = clone(model).fit(**data | {"sample_weight": weights})
    for cuts in (*CUTS, range(1, ROWS)):
        assert_same(learned(clone(model), data, cuts, forgetting=0.98), whole)


@pytest.mark.filterwarnings("ignore:.*missing:UserWarning")
@pytest.mark.parametrize("seed", range(20))
def test_seasons_are_filled_from_as_if_nothing_were_cut(seed):
    rng = np.random.default_rng(seed)
    y, X = Y[:70].copy(), U[:70].copy()
    for values in (y, X):
        values[rng.uniform(size=values.shape) < 0.3] = np.nan
        start = int(rng.integers(5, 40))
        values[start : start + 15, 0] = np.nan  # longer than a season
    params = {"season": 12.0} if seed % 2 else {"difference": (7,)}
    model = ESNForecaster(**FIXED | {"washout": 1, "ridge": 3.0}, **params)
    whole = clone(model).fit(y, X)
    for row in range(70):
        model.partial_fit(y[[row]], X[[row]])
    assert_same(model, whole)


def test_a_factor_may_differ_from_call_to_call():
    model, factors = ESNRegressor(**FIXED), np.repeat([1.0, 0.9, 0.5, 0.99], 60)
    for row in range(ROWS):
        model.partial_fit(U[[row]], Y[[row]], forgetting=factors[row])
    weights = np.append(np.cumprod(factors[:0:-1])[::-1], 1.0)
    assert_same(model, ESNRegressor(**FIXED).fit(U, Y, weights))


def test_a_thousand_rows_of_collinear_states_one_by_one():
    t = np.arange(1300)
    u = (0.5 * np.sin(t / 9) + 0.3 * np.sin(t / 2.3))[:, None]
    weak = {"units": 50, "spectral_radius": 0.01, "leak_rate": 0.2, "input_scaling": 0.3}
    settings = {**weak, "washout": 50, "scale": None, "random_state": 0}
    clean = np.roll(u[:, 0], 1)
    noisy = np.roll(u[:, 0], 3) ** 2 + 0.01 * RNG.normal(size=len(t))
    for y, ridges in ((clean, (0.0, 1e-12, 1e-6)), (noisy, (0.0, 1e-12, 1e-6))):
        for ridge in ridges:
            whole = ESNRegressor(**settings, ridge=ridge).fit(u, y)
            assert whole.condition_ > 1e12
            model = ESNRegressor(**settings, ridge=ridge).fit(u[:300], y[:300])
            for row in range(300, 1300):
                model.partial_fit(u[[row]], y[[row]])
            states = np.hstack([np.ones_like(u), u, whole.states(u)])[50:]
            found, expected = states @ model.readout_, states @ whole.readout_
            if ridge or y is clean:
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
            elif AVAILABLE:  # both are off by rounding times the condition, in what is noise
                given = states[:, 1:], y[50:, None], None, np.array([1e-32]), False
                exact = states @ extended.readouts(*given)[0]
                off = [float(np.abs(one - exact).max()) for one in (found, expected)]
                assert off[0] < 30 * off[1] < 1e-3


@pytest.mark.parametrize("penalised", [False, True])
@pytest.mark.parametrize("ridge", [1e-1, 1e-6, 1e-12, 0])
def test_columns_that_say_nothing_new_are_no_harm(ridge, penalised):
    X = np.column_stack([U, U[:, 0], np.full(ROWS, 0.3), np.zeros(ROWS)])
    settings = FIXED | {"ridge": ridge, "penalize_bias": penalised}
    model = ESNRegressor(**settings)
    other = RNG.normal(size=(40, 5))  # where they do
    for row in range(80):
        model.partial_fit(X[[row]], Y[[row]])
        if row in (17, 22, 30, 45, 79):  # fewer rows than features, and more
            whole = ESNRegressor(**settings).fit(X[: row + 1], Y[: row + 1])
            for inputs in (X[:80], other):
                found, expected = model.predict(inputs), whole.predict(inputs)
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_a_row_costs_no_factorisation(monkeypatch):
    model = ESNForecaster(**FIXED | {"units": 40}).fit(Y[:150])
    plainly, made = [], []
    monkeypatch.setattr(Triangle, "readouts", lambda *given: plainly.append(1))
    below = learning.dtpqrt
    monkeypatch.setattr(learning, "dtpqrt", lambda *g, **o: made.append(1) or below(*g, **o))
    for row in range(150, ROWS):
        model.partial_fit(Y[[row]])
    assert not plainly and len(made) == 1  # of the first row
    for row in range(150, ROWS):
        model.partial_fit(Y[[row]], forgetting=0.98)
    assert not plainly and 2 <= len(made) <= 4  # where less than half of the penalty is left


def test_memory_does_not_grow_with_rows():
    model = ESNForecaster(**FIXED | {"steps": 3, "difference": (3,)}).fit(Y[:100])
    sizes = set()
    for row in range(100, ROWS):
        model.partial_fit(Y[[row]])
        sizes.add(len(pickle.dumps(model)))
    assert max(sizes) - min(sizes) < 200
    assert model.learning_.rows.R.size == (1 + 2 + 12 + 6) ** 2


@pytest.mark.filterwarnings("ignore:.*missing:UserWarning")
@pytest.mark.parametrize("missing", [False, True])
def test_rows_that_update_passed_are_inputs_alone(missing):
    y = holes(Y, 0.02) if missing else Y
    weights = np.ones(ROWS)
    weights[100:130] = 0
    whole = ESNForecaster(**FIXED, difference=1).fit(y, sample_weight=weights)
    model = ESNForecaster(**FIXED, difference=1).fit(y[:100])
    model.update(y[100:110]).update(y[110:130]).partial_fit(y[130:])
    np.testing.assert_allclose(model.readout_, whole.readout_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.forecast(9), whole.forecast(9), rtol=0, atol=1e-9)


def test_several_steps_wait_for_their_targets_after_an_update():
    weights = np.ones(ROWS)
    weights[100:110] = 0
    whole = ESNForecaster(**FIXED, steps=3).fit(Y, sample_weight=weights)
    model = ESNForecaster(**FIXED, steps=3).fit(Y[:100]).update(Y[100:110])
    for row in range(110, ROWS):
        model.partial_fit(Y[[row]])
    assert_same(model, whole)


def test_scale_and_washout_stay_those_of_the_first_part():
    model = ESNForecaster(12, random_state=2, scale="standard").fit(Y[:100])
    before = model.y_scaler_
    model.partial_fit(Y[100:])
    assert model.y_scaler_ is before
    scaled = (Y - before.center) / before.unit
    whole = ESNForecaster(12, random_state=2, scale=None, washout=9).fit(scaled)
    np.testing.assert_allclose(model.readout_, whole.readout_, rtol=0, atol=1e-9)


def test_a_ridge_that_was_changed_is_that_of_all_rows():
    model = ESNForecaster(**FIXED).fit(Y[:100]).partial_fit(Y[100:150])
    model.set_params(ridge=0.3, penalize_bias=True).partial_fit(Y[150:])
    assert_same(model, ESNForecaster(**FIXED, ridge=0.3, penalize_bias=True).fit(Y))


def test_first_rows_wait_until_there_are_enough():
    model = ESNForecaster(**FIXED)
    for row in range(17):
        model.partial_fit(Y[[row]])
        with pytest.raises(NotFittedError):
            model.forecast(3)
    assert_same(model.partial_fit(Y[[17]]), ESNForecaster(**FIXED).fit(Y[:18]))
    with pytest.raises(ValueError, match="at least 2 are needed"):
        ESNForecaster(12).partial_fit(Y[[0]])  # of which a scale cannot be learned
    X = U.copy()
    X[:30, 0] = np.nan  # nor can a column without a value be filled
    model = ESNRegressor(**FIXED)
    with pytest.warns(match="missing"):
        for row in range(32):
            model.partial_fit(X[[row]], Y[[row]])
            assert hasattr(model, "readout_") == (row >= 30)
        assert_same(model, ESNRegressor(**FIXED).fit(X[:32], Y[:32]))
    waiting = ESNForecaster(**FIXED).partial_fit(Y[:5])
    assert_same(waiting.fit(Y[50:]), ESNForecaster(**FIXED).fit(Y[50:]))
    waiting = ESNForecaster(**FIXED).partial_fit(Y[:5])
    with pytest.raises(ValueError, match="X was given for a part of the data only"):
        waiting.partial_fit(Y[5:], U[5:])
    with pytest.raises(TypeError, match="a DataFrame, but the rows before are a ndarray"):
        waiting.partial_fit(pd.DataFrame(Y[5:]))


def test_first_rows_that_do_not_match_say_so():
    model = ESNForecaster(**FIXED).partial_fit(Y[:3])
    with pytest.raises(ValueError, match="y has 1 column, expected the 2 of the rows before"):
        model.partial_fit(Y[3:6, :1])
    with pytest.raises(ValueError, match="y must be one- or two-dimensional"):
        model.partial_fit(3.0)
    frame = pd.DataFrame(Y, columns=["a", "b"])
    model = ESNForecaster(**FIXED).partial_fit(frame[:3])
    with pytest.raises(ValueError, match=r"lacks \['b'\] and has the unexpected \['c'\]"):
        model.partial_fit(frame[3:6].rename(columns={"b": "c"}))
    with pytest.raises(TypeError, match="what follows is a ndarray"):
        model.partial_fit(Y[3:6])
    flat = ESNForecaster(**FIXED).partial_fit(Y[:3, 0])
    whole = ESNForecaster(**FIXED).fit(Y[:60, 0])
    np.testing.assert_allclose(flat.partial_fit(Y[3:60, :1]).readout_, whole.readout_, atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*missing:UserWarning")
@pytest.mark.parametrize("ridge", [0, 1e-2])
def test_what_is_wholly_forgotten_says_so(ridge):
    model = ESNForecaster(**FIXED | {"ridge": ridge}).fit(Y)
    before = model.readout_
    with pytest.raises(ValueError, match="forgetting leaves no weight"):
        model.partial_fit(np.full((3000, 2), np.nan), forgetting=0.5)
    assert model.readout_ is before


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_tables_of_any_kind_follow(kind):
    if kind == "pandas":
        days = pd.date_range("2024-01-01", periods=ROWS, freq="D")
        y = pd.DataFrame(Y, index=days, columns=["a", "b"])
    else:
        y = pl.DataFrame({"a": Y[:, 0], "b": Y[:, 1]})
    whole = ESNForecaster(**FIXED).fit(y)
    model = ESNForecaster(**FIXED)
    for a, b in ((0, 7), (7, 90), (90, 91), (91, ROWS)):
        model.partial_fit(y[a:b])
    found, expected = model.forecast(4), whole.forecast(4)
    assert type(found) is type(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    if kind == "pandas":
        assert (found.index == expected.index).all()
        with pytest.raises(ValueError, match="does not follow"):
            model.partial_fit(y[5:9])


@pytest.mark.filterwarnings("ignore:.*missing:UserWarning")
@pytest.mark.parametrize("wrap", [list, lambda each: dict(zip("abc", each, strict=True))])
def test_several_series_learn_on_in_one_readout(wrap):
    y = [holes(Y[:, :1], 0.02), 3 * Y[:200, 1:], Y[::-1, :1]]
    whole = ESNForecaster(**FIXED).fit(wrap(y))
    model = ESNForecaster(**FIXED).partial_fit(wrap([one[:80] for one in y]))
    before = model.series_
    model.partial_fit(wrap([one[80:99] for one in y])).partial_fit(wrap([one[99:] for one in y]))
    np.testing.assert_allclose(model.readout_, whole.readout_, rtol=0, atol=1e-9)
    for name, view in model.series_.items():
        assert view is not before[name]
        np.testing.assert_allclose(view.forecast(5), whole.series_[name].forecast(5), atol=1e-9)
    with pytest.raises(ValueError, match="forgetting=0.9 counts rows back"):
        model.partial_fit(wrap(y), forgetting=0.9)
    X = [U, U[:120], U[::-1]]
    y = [Y, Y[:120], Y[::-1]]
    whole = ESNRegressor(**FIXED).fit(wrap(X), wrap(y))
    model = ESNRegressor(**FIXED).fit(X[:2], y[:2]).partial_fit(X[2:], y[2:])
    assert_same(model, whole)


def test_some_series_of_a_dict_learn_on():
    y = {"a": Y[:, 0], "b": Y[:, 1]}
    model = ESNForecaster(**FIXED).fit({"a": y["a"], "b": y["b"][:150]})
    model.partial_fit({"b": y["b"][150:]})
    whole = ESNForecaster(**FIXED).fit(y)
    np.testing.assert_allclose(model.readout_, whole.readout_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.forecast(5)["a"], whole.forecast(5)["a"], atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*missing:UserWarning")
@pytest.mark.parametrize("states", ["mean", "last", 3])
def test_sequences_with_a_number_each_learn_on(states):
    numbers = np.array([one[:, 0].max() for one in SEQUENCES])
    numbers[7] = np.nan
    settings = {"units": 12, "scale": None, "random_state": 2, "states": states, "ridge": 0.01}
    model = ESNRegressor(**settings).fit(SEQUENCES[:12], numbers[:12])
    for row in range(12, 30):
        model.partial_fit(SEQUENCES[row : row + 1], numbers[row : row + 1], forgetting=0.9)
    weights = 0.9 ** np.minimum(np.arange(29, -1, -1), 18)
    whole = ESNRegressor(**settings).fit(SEQUENCES, numbers, weights)
    np.testing.assert_allclose(
        model.predict(SEQUENCES), whole.predict(SEQUENCES), rtol=0, atol=1e-9
    )


def test_a_ridge_that_was_chosen_stays_and_summaries_in_their_spread_do_not_learn_on():
    numbers = np.array([one[:, 0].max() for one in SEQUENCES])
    settings = {"units": 12, "scale": None, "random_state": 2}
    model = ESNRegressor(**settings, states="mean").fit(SEQUENCES[:12], numbers[:12])
    fixed = ESNRegressor(**settings, states="mean", ridge=model.ridge_).fit(SEQUENCES, numbers)
    model.partial_fit(SEQUENCES[12:], numbers[12:])
    np.testing.assert_allclose(model.predict(SEQUENCES), fixed.predict(SEQUENCES), atol=1e-9)
    with pytest.raises(ValueError, match="units of their spread, which states='mean' does not"):
        ESNRegressor(**settings).fit(SEQUENCES, numbers).partial_fit(SEQUENCES, numbers)


def test_a_regressor_goes_on_from_where_it_stands():
    model = ESNRegressor(**FIXED).fit(U[:100], Y[:100]).partial_fit(U[100:], Y[100:])
    whole = ESNRegressor(**FIXED).fit(U, Y)
    found = model.predict(U[:20], start="last")
    np.testing.assert_allclose(found, whole.predict(U[:20], start="last"), rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*missing:UserWarning")
@pytest.mark.parametrize("name", ["forecaster", "direct, at a gap", "regressor", "series"])
def test_a_file_holds_it_if_asked_to(name, tmp_path):
    y, more = (Y[:100], U[:100]), (Y[100:], U[100:])
    model = ESNForecaster(**FIXED, difference=2, season=6)
    if name == "direct, at a gap":
        model, y, more = ESNForecaster(**FIXED, steps=3), (holes(Y)[:101],), (Y[101:],)
    elif name == "regressor":
        model, y, more = ESNRegressor(**FIXED), y[::-1], more[::-1]
    elif name == "series":
        y, more = ([Y[:60], Y[60:100]], [U[:60], U[60:100]]), ([Y[100:]], [U[100:]])
        model, y, more = ESNRegressor(**FIXED), y[::-1], more[::-1]
    model.fit(*y)
    save(model, tmp_path / "small")
    save(model, tmp_path / "large", learning=True)
    small, large = load(tmp_path / "small"), load(tmp_path / "large")
    model.partial_fit(*more)
    large.partial_fit(*more)
    np.testing.assert_array_equal(large.readout_, model.readout_)
    np.testing.assert_array_equal(large.state_, model.state_)
    assert (tmp_path / "small").stat().st_size < (tmp_path / "large").stat().st_size
    assert not hasattr(small, "learning_")
    with pytest.raises(ValueError, match=r"save\(model, path, learning=True\), or fit it"):
        small.partial_fit(*more)
    with pytest.raises(
        ValueError, match=r"save\(\.\.\., learning=True\) has nothing to go on from"
    ):
        save(small, tmp_path / "again", learning=True)


def test_what_cannot_learn_on_says_so(tmp_path):
    y = [Y[:, 0], Y[:, 1]]
    for pool in ("none", "shrunk"):
        model = ESNForecaster(**FIXED, pool=pool).fit(y)
        with pytest.raises(ValueError, match="series with readouts of their own"):
            model.partial_fit(y)
    with pytest.raises(ValueError, match="noisy in training"):
        ESNForecaster(reservoir=Leaky(12, noise=0.1), washout=5).fit(Y).partial_fit(Y)
    with pytest.raises(ValueError, match="several series learns one step at a time"):
        ESNForecaster(**FIXED, steps=3).fit(y).partial_fit(y)
    with pytest.raises(ValueError, match="fit was given one series, and X is not"):
        ESNRegressor(**FIXED).fit(U, Y).partial_fit([U, U], [Y, Y])
    with pytest.raises(ValueError, match="fit was given several series or sequences, and X is not"):
        ESNRegressor(**FIXED).fit([U, U], [Y, Y]).partial_fit(U, Y)
    with pytest.raises(ValueError, match=r"forgetting=1.5 is not allowed: .* in \(0, 1\]"):
        ESNForecaster(**FIXED).fit(Y).partial_fit(Y, forgetting=1.5)
    with pytest.raises(ValueError, match="y has 1 column, expected the 2"):
        ESNForecaster(**FIXED).fit(Y).partial_fit(Y[:, 0])
    with pytest.raises(ValueError, match="X has 3 rows and y has 4"):
        ESNRegressor(**FIXED).fit(U, Y).partial_fit(U[:3], Y[:4])
    labels = np.arange(30) % 2
    classifier = ESNClassifier(12).fit(SEQUENCES, labels)
    assert not hasattr(classifier, "learning_")
    with pytest.raises(TypeError, match="learning=True is for an ESNForecaster or an ESNRegressor"):
        save(classifier, tmp_path / "model", learning=True)
    with pytest.raises(ValueError, match="learning=True is for a model of one series"):
        save(ESNForecaster(**FIXED).fit(y), tmp_path / "model", learning=True)


def test_a_call_that_fails_leaves_the_model_as_it_was():
    model = ESNForecaster(**FIXED).fit([Y[:, 0], Y[:, 1]])
    before, views = dict(vars(model)), deepcopy(model)
    with pytest.raises(ValueError, match="series 1"):
        model.partial_fit([Y[:, 0], np.full(5, np.inf)])
    assert vars(model) == before
    for name, forecast in enumerate(views.forecast(5)):
        np.testing.assert_array_equal(model.forecast(5)[name], forecast)


def test_winners_of_a_search_learn_on_if_they_were_trained_again():
    space = {"leak_rate": [0.4, 1.0], "ridge": [1e-3, 1e-1]}
    search = ESNSearchCV(ESNForecaster(**FIXED), space, cv=KFold(3)).fit(Y[:100])
    model = search.best_estimator_.partial_fit(Y[100:])
    assert_same(model, ESNForecaster(**model.get_params()).fit(Y))
    average = search.finalize("average")
    with pytest.raises(ValueError, match="as that of an average"):
        average.partial_fit(Y[100:])
    ensemble = search.finalize("ensemble")
    assert not any(hasattr(member, "learning_") for member in ensemble.members)


def test_full_rank_is_told_from_rounding():
    for size in (5, 60):
        Q = np.linalg.qr(RNG.normal(size=(size, size)))[0]
        for smallest, expected in ((1e-3, True), (1e-9, True), (1e-15, False), (0.0, False)):
            s = np.geomspace(1, max(smallest, 1e-300), size)
            R = np.triu(np.linalg.qr((Q * s) @ np.linalg.qr(RNG.normal(size=(size, size)))[0])[1])
            R[-1, -1] *= smallest > 0
            assert surely_full_rank(R, units=False) is expected
            assert surely_full_rank(R, units=True) is expected
    assert not surely_full_rank(np.zeros((3, 3)), units=True)
    assert not surely_full_rank(np.zeros((0, 0)), units=True)


def test_nothing_to_learn_from_changes_nothing():
    model = ESNForecaster(**FIXED).fit(Y)
    before = model.readout_
    model.partial_fit(Y[:3], sample_weight=np.zeros(3))
    np.testing.assert_allclose(model.readout_, before, rtol=0, atol=1e-11)
    assert Learning().rows is None


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_condition_is_that_of_the_fit_whenever_it_is_asked_for(weights, tmp_path):
    model = ESNForecaster(**FIXED).fit(
        Y[:100], sample_weight=None if weights is None else weights[:100]
    )
    X = np.hstack([Y[:100], model.states(Y[:100]).values])[FIXED["washout"] : -1]
    s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    later, copied = deepcopy(model), pickle.loads(pickle.dumps(model))
    assert "condition_" not in vars(model)  # it takes as long as the readout of a large network
    later.partial_fit(Y[100:])
    path = tmp_path / "model.echofold"
    save(copied, path)
    for one in (model, later, copied, load(path)):
        assert one.condition_ == pytest.approx(s[0] / s[-1], rel=1e-6)
    assert model.fit(Y).condition_ != later.condition_
    with pytest.raises(AttributeError):
        ESNForecaster().condition_  # noqa: B018
