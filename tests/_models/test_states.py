"""States as users get them: against the equations of every kind, and the rows that `fit` saw."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from kinds import KINDS, PLAIN, swish
from searches import INPUTS, LABELS, OUTPUTS, SEQUENCES, SERIES
from sklearn.base import clone

from echofold import ESNClassifier, ESNForecaster, ESNRegressor, ESNSearchCV, KFold
from echofold.reservoirs import Leaky

KNOWN = np.random.default_rng(2).normal(size=(len(SERIES) + 1, 2))
FIXED = {"scale": None, "random_state": 4}


def along(model, inputs):
    """What is seen of the states along inputs, by a loop over the equations of a kind."""
    plain = PLAIN[type(model.reservoir_)](model)
    x, found = plain.rest, []
    for u in inputs:
        x = plain.step(x, u)
        found.append(plain.look(x, u))
    return np.array(found)


@pytest.mark.parametrize("name", KINDS)
def test_states_equal_the_equations_of_every_kind(name):
    model = ESNForecaster(reservoir=KINDS[name], washout=7, **FIXED).fit(SERIES)
    found = model.states(SERIES)
    assert found.dims == ("time", "state") and found.washout == 7
    assert found.time.values.tolist() == list(range(len(SERIES)))
    np.testing.assert_allclose(found, along(model, SERIES[:, None]), rtol=1e-10, atol=1e-10)
    model = ESNRegressor(reservoir=KINDS[name], **FIXED).fit(INPUTS, OUTPUTS)
    np.testing.assert_allclose(model.states(INPUTS), along(model, INPUTS), rtol=1e-10, atol=1e-10)


REPRESENTED = {
    "plain": {},
    "standard": {"scale": "standard"},
    "differences": {"difference": (4, 1), "washout": 3, "scale": "minmax"},
    "logarithms": {"log": True, "scale": "standard", "washout": 11},
    "season": {"season": 12.0, "harmonics": 2},
    "squares": {"readout": "inputs+states+squares"},
    "products": {"readout": "polynomial 2", "units": 6},
    "direct": {"steps": 3},
    "states alone": {"readout": "states"},
}


@pytest.mark.parametrize("name", REPRESENTED)
@pytest.mark.parametrize("known", [False, True])
def test_states_are_those_that_the_readout_saw_in_fit(name, known):
    given = {"units": 10, **FIXED, **REPRESENTED[name]}
    if known and "steps" in given:
        given |= {"steps": "closed"}
    y = SERIES - SERIES.min() + 1
    y[[20, 21, 50]] = np.nan
    X = KNOWN[: len(y)] if known else None
    model = ESNForecaster(**given)
    with pytest.warns(match="missing"):
        problem = clone(model)._read(y, X)
        model.fit(y, X)
        (rows,) = model._states(problem, 4).kept()
        found = model.states(y, X, first=0)
    seen = rows[:, rows.shape[1] - found.sizes["state"] :]
    last = None if known else -1  # of which the target is not known yet
    np.testing.assert_allclose(found[found.washout : last], seen, rtol=1e-12, atol=1e-12)
    assert found.time[0] == sum(given.get("difference", ()))
    assert found.time[-1] == len(y) - 1 - known
    readout, inputs = model.readout_, rows.shape[1] - found.sizes["state"]
    outputs = readout[0] + rows[:, :inputs] @ readout[1 : 1 + inputs]
    outputs = outputs + found.values[found.washout : last] @ readout[1 + inputs :]
    expected = readout[0] + rows @ readout[1:]
    np.testing.assert_allclose(outputs, expected, rtol=0, atol=1e-11)


def test_one_more_row_of_known_inputs_gives_the_last_state():
    X = KNOWN[: len(SERIES)]
    model = ESNForecaster(10, **FIXED).fit(SERIES, X)
    more = model.states(SERIES, KNOWN)
    assert len(more) == len(SERIES)
    np.testing.assert_array_equal(more[:-1], model.states(SERIES, X))
    inputs = np.column_stack([SERIES, KNOWN[1:]])
    np.testing.assert_allclose(more, along(model, inputs), rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match=r"X has \d+ rows and y has \d+.*one more for the state"):
        model.states(SERIES, KNOWN[:-5])
    with pytest.raises(ValueError, match="X was given to fit but not to states"):
        model.states(SERIES)


def test_states_have_the_index_of_the_data():
    days = pd.date_range("2024-01-01", periods=len(SERIES), freq="D")
    model = ESNForecaster(10, difference=1, **FIXED).fit(pd.Series(SERIES, days))
    found = model.states(pd.Series(SERIES, days)[5:50])
    assert (found.time.values == days[6:50].values).all()
    frame = pd.DataFrame(INPUTS, index=np.arange(len(INPUTS)) + 1000).rename(columns=str)
    model = ESNRegressor(10, **FIXED).fit(frame, OUTPUTS)
    assert model.states(frame).time.values[[0, -1]].tolist() == [1000, 999 + len(INPUTS)]


def test_the_regressor_goes_on_from_its_last_state_if_asked_to():
    model = ESNRegressor(10, **FIXED).fit(INPUTS[:80], OUTPUTS[:80])
    whole = model.states(INPUTS[:100])
    on = model.states(INPUTS[80:100], start="last")
    np.testing.assert_allclose(on, whole[80:], rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="start='first' is not allowed"):
        model.states(INPUTS, start="first")


@pytest.mark.parametrize("wrap", [list, tuple, lambda each: dict(zip("abc", each, strict=True))])
def test_several_series_have_states_in_their_kind(wrap):
    parts = [SERIES[:60], 10 + 3 * SERIES[20:70], SERIES[::-1]]
    model = ESNForecaster(10, random_state=4).fit(wrap(parts))
    found = model.states(wrap(parts))
    assert type(found) is type(wrap(parts))
    names = list(found) if isinstance(found, dict) else range(3)
    for name, part in zip(names, parts, strict=True):
        view = model.series_[name]  # each with its own scale
        inputs = view.y_scaler_.scaled(part[:, None])
        np.testing.assert_allclose(found[name], along(view, inputs), rtol=1e-10, atol=1e-10)
    with pytest.raises(ValueError, match="the model has 3 series"):
        model.states(SERIES)
    u = [INPUTS[:50], INPUTS[40:77], INPUTS]
    model = ESNRegressor(10, **FIXED).fit(wrap(u), wrap([OUTPUTS[: len(one)] for one in u]))
    found = model.states(wrap(u))
    for name, part in zip(names, u, strict=True):
        np.testing.assert_allclose(found[name], along(model, part), rtol=1e-10, atol=1e-10)


def test_series_of_a_frame_have_states_by_name():
    days = pd.date_range("2024-01-01", periods=50, freq="D")
    parts = {name: pd.Series(SERIES[a : a + 50], days) for name, a in (("a", 0), ("b", 30))}
    frame = pd.concat(parts, names=["series", "time"])
    found = ESNForecaster(10, **FIXED).fit(frame).states(frame)
    assert list(found) == ["a", "b"]
    assert all(isinstance(one, xr.DataArray) and one.time[0] == days[0] for one in found.values())


def test_sequences_have_their_states_one_by_one_or_together():
    model = ESNClassifier(10, states="last", **FIXED).fit(SEQUENCES, LABELS)
    found = model.states(SEQUENCES)
    assert isinstance(found, list) and len(found) == len(SEQUENCES)
    for own, sequence in zip(found, SEQUENCES, strict=True):
        np.testing.assert_allclose(own, along(model, sequence), rtol=1e-10, atol=1e-10)
    last = np.stack(
        [np.concatenate([u[-1], own[-1]]) for u, own in zip(SEQUENCES, found, strict=True)]
    )
    outputs = model.readout_[0] + last @ model.readout_[1:]
    np.testing.assert_allclose(outputs[:, 1] - outputs[:, 0], _decided(model), atol=1e-10)
    several = np.stack([one[:5] for one in SEQUENCES])
    together = model.states(several)
    assert together.dims == ("sequence", "time", "state")
    np.testing.assert_allclose(together[1], found[1][:5], rtol=1e-10, atol=1e-10)
    numbers = np.arange(len(SEQUENCES)) / 3
    model = ESNRegressor(10, **FIXED).fit(SEQUENCES, numbers)
    for own, sequence in zip(model.states(SEQUENCES), SEQUENCES, strict=True):
        np.testing.assert_allclose(own, along(model, sequence), rtol=1e-10, atol=1e-10)


def _decided(model):
    """Outputs of the second class less those of the first."""
    outputs = model.decision_function(SEQUENCES)
    return outputs if outputs.ndim == 1 else outputs[:, 1] - outputs[:, 0]


def test_noise_is_not_in_states():
    kind = Leaky(12, noise=0.1, activation=swish)
    model = ESNForecaster(reservoir=kind, **FIXED).fit(SERIES)
    np.testing.assert_allclose(model.states(SERIES)[-2], model.state_, rtol=1e-12, atol=1e-12)


def test_states_of_a_search_are_those_of_its_winner():
    search = ESNSearchCV(ESNForecaster(10, **FIXED), {"leak_rate": [0.3, 1.0]}, cv=KFold(3))
    search.fit(SERIES)
    np.testing.assert_array_equal(
        search.states(SERIES[:40]), search.best_estimator_.states(SERIES[:40])
    )


def test_the_parameter_of_the_same_name_stays_one():
    model = ESNClassifier(10, states=3, random_state=0)
    assert model.get_params()["states"] == 3 and clone(model).get_params()["states"] == 3
    assert "states=3" in repr(model)
    assert model.set_params(states="last").get_params()["states"] == "last"
    with pytest.raises(ValueError, match="states='first' is not allowed"):
        model.set_params(states="first").fit(SEQUENCES, LABELS)


def test_states_before_fit_and_of_other_data_are_errors():
    with pytest.raises(ValueError, match="not fitted"):
        ESNForecaster(10).states(SERIES)
    model = ESNForecaster(10, season=12, **FIXED).fit(SERIES)
    with pytest.raises(ValueError, match="first=None, but the model has a season"):
        model.states(SERIES)
    with pytest.raises(ValueError, match="y has 2 columns, expected the 1"):
        model.states(np.column_stack([SERIES, SERIES]), first=0)
