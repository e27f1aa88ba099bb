"""Local reservoirs equal neighbourhoods that are written out one by one, wherever they go."""

import warnings
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import reference
from devices import on_both
from kinds import KINDS, PLAIN

from echofold import (
    Accumulative,
    EchofoldWarning,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    SingleSplit,
    WalkForward,
    backtest,
    cross_validate,
    dynamics,
    evaluate,
    load,
    save,
)
from echofold.metrics import horizon
from echofold.reservoirs import NVAR, Deep, EdgeOfStability, Leaky, Local, Plastic

T, WASHOUT, RIDGE = 130, 10, [1e-2, 1.0]
UNITS = 6
_rng = np.random.default_rng(3)
_place = np.arange(48) * 2 * np.pi / 12
_time = np.arange(T)[:, None]
WAVES = np.sin(_place + _time / 4) + np.cos(2 * _place - _time / 3) / 2
WAVES = 3 + WAVES * np.linspace(1, 2, 48) + 0.1 * _rng.normal(size=(T, 48))


def field(*shape):
    """So many values along the axes after time."""
    return WAVES[:, : int(np.prod(shape))].reshape(T, *shape)


LEAKY = Leaky(UNITS, leak_rate=0.7, input_scaling=0.4)
CASES = {
    "shared": (Local(LEAKY, cells=3, margin=2), field(12), {}),
    "own": (Local(LEAKY, cells=4, margin=1, readouts="own"), field(12), {}),
    "open": (Local(LEAKY, cells=2, margin=3, border="open"), field(6), {"readout": "states"}),
    "one cell": (
        Local(LEAKY, cells=1, margin=0, readouts="own"), field(4, 1), {"readout": "polynomial 2"},
    ),
    "variables": (
        Local(Deep(UNITS, leak_rate=0.5), cells=2, margin=1), field(6, 2),
        {"readout": "inputs+states+squares", "penalize_bias": True},
    ),
    "own, open, variables": (
        Local(EdgeOfStability(UNITS), cells=3, margin=4, border="open", readouts="own"),
        field(6, 3), {"scale": None},
    ),
    "rows and columns": (Local(LEAKY, cells=(2, 3), margin=1), field(4, 6), {"difference": 1}),
    "own, rows and columns": (
        Local(NVAR(2, spacing=2), cells=(1, 2), margin=(0, 1), border="open", readouts="own"),
        field(3, 4), {"ridge": 3.0},
    ),
    "rows, columns and variables": (
        Local(LEAKY, cells=(3, 2), margin=(0, 2), border="periodic"), field(3, 8, 2),
        {"log": True, "scale": "minmax"},
    ),
}  # fmt: skip


class Plain:
    """A field forecast by neighbourhoods, one after the other, in the words of the paper."""

    def __init__(self, model, y):
        self.local, self.model = model.reservoir_, model
        self.y = y.reshape(*y.shape, *(1,) * (len(self.sizes) + 2 - y.ndim))
        self.cells = list(np.ndindex(self.y.shape[1:-1]))
        levels = np.log(self.y) if model.log else self.y
        self.levels, z = levels, np.diff(levels, axis=0) if model.difference else levels
        flat = z.reshape(-1, z.shape[-1])
        self.centre, self.unit = np.zeros(z.shape[-1]), np.ones(z.shape[-1])
        if model.scale == "standard":
            self.centre, self.unit = flat.mean(axis=0), flat.std(axis=0)
        elif model.scale == "minmax":
            self.centre, self.unit = flat.min(axis=0), np.ptp(flat, axis=0)
        self.z = (z - self.centre) / self.unit
        self.lost = int(bool(model.difference))
        arrays = {name: getattr(model, name) for name in self.local.stored}
        inside = SimpleNamespace(reservoir_=self.local.kind, **arrays)
        self.kind = PLAIN[type(self.local.kind)](inside)

    @property
    def sizes(self):
        cells = self.local.cells
        return cells if isinstance(cells, tuple) else (cells,)

    @property
    def parts(self):
        """Cells of every neighbourhood, and those that it sees, None for one beyond the border."""
        shape, margin = self.y.shape[1:-1], self.local.margin
        margins = margin if isinstance(margin, tuple) else (margin,) * len(shape)
        found = []
        for corner in product(*(range(0, n, s) for n, s in zip(shape, self.sizes, strict=True))):
            own = [range(a, a + s) for a, s in zip(corner, self.sizes, strict=True)]
            wide = [
                range(a - m, a + s + m) for a, s, m in zip(corner, self.sizes, margins, strict=True)
            ]
            seen = []
            for cell in product(*wide):
                around = tuple(place % n for place, n in zip(cell, shape, strict=True))
                inside = around == cell or self.local.border == "periodic"
                seen.append(around if inside else None)
            found.append((list(product(*own)), seen))
        return found

    def around(self, z, seen):
        """Inputs of a neighbourhood of the scaled field ``z`` of a time."""
        beyond = np.zeros(z.shape[-1])
        return np.concatenate([beyond if cell is None else z[cell] for cell in seen])

    def see(self, x, u):
        """A row of one neighbourhood."""
        words, look = self.model.readout, self.kind.look(x, u)
        beside = u if words.startswith(("inputs", "polynomial")) else []
        more = look**2 if words.endswith("squares") else []
        if words == "polynomial 2":
            both = np.concatenate([u, look])
            more = [both[i] * both[j] for i in range(len(both)) for j in range(i, len(both))]
        return np.concatenate([[1.0], beside, look, more])

    def driven(self):
        """States before each row, and rows, of all neighbourhoods along the field."""
        states, rows = [[self.kind.rest] * len(self.parts)], []
        for z in self.z[:-1]:
            us = [self.around(z, seen) for _, seen in self.parts]
            xs = [self.kind.step(x, u) for x, u in zip(states[-1], us, strict=True)]
            rows.append([self.see(x, u) for x, u in zip(xs, us, strict=True)])
            states.append(xs)
        return states, np.array(rows)

    def trained(self, rows, train, ridge, weights=None):
        """A readout for every neighbourhood, from the pairs ``train``."""
        targets = [
            np.array([[z[cell] for cell in own] for z in self.z[1:]]).reshape(len(rows), -1)
            for own, _ in self.parts
        ]
        weights = np.ones(len(rows)) if weights is None else weights
        fit = [ridge, bool(self.model.penalize_bias)]
        if self.local.readouts == "own":
            fit.append(weights[train])
            each = enumerate(targets)
            return [reference.ridge(rows[train, g], Y[train], *fit) for g, Y in each]
        fit.append(np.tile(weights[train], len(targets)))
        X = np.concatenate([rows[train, g] for g in range(len(targets))])
        Y = np.concatenate([Y[train] for Y in targets])
        return [reference.ridge(X, Y, *fit)] * len(targets)

    def forecast(self, W, xs, z, level, steps):
        """Values of a closed loop after the scaled field ``z``, with states before it."""
        found = []
        for _ in range(steps):
            us = [self.around(z, seen) for _, seen in self.parts]
            xs = [self.kind.step(x, u) for x, u in zip(xs, us, strict=True)]
            z = np.empty_like(z)
            for (own, _), x, u, w in zip(self.parts, xs, us, W, strict=True):
                values = (self.see(x, u) @ w).reshape(len(own), -1)
                for cell, value in zip(own, values, strict=True):
                    z[cell] = value
            value = z * self.unit + self.centre
            level = level + value if self.lost else value
            found.append(np.exp(level) if self.model.log else level)
        return np.array(found)


def fitted(name, **options):
    kind, y, more = CASES[name]
    settings = {"ridge": 1e-2, "washout": WASHOUT, "random_state": 4} | more | options
    return ESNForecaster(reservoir=kind, **settings), y


@pytest.mark.parametrize("name", CASES)
def test_a_forecast_equals_neighbourhoods_written_out(name):
    model, y = fitted(name)
    model.fit(y[:-5])
    plain = Plain(model, y[:-5])
    states, rows = plain.driven()
    first = WASHOUT - plain.lost
    W = plain.trained(rows, np.arange(first, len(rows)), model.ridge)
    expected = plain.forecast(W, states[-1], plain.z[-1], plain.levels[-1], 8)
    found = model.forecast(8)
    assert found.shape == (8, *y.shape[1:])
    np.testing.assert_allclose(found, expected.reshape(found.shape), rtol=0, atol=1e-8)
    later = model.update(y[-5:]).forecast(4)
    assert later.shape == (4, *y.shape[1:])
    other = model.forecast(4, y=y)  # scaled by itself
    assert other.shape == later.shape


@pytest.mark.parametrize(
    "inside", ["swish", "ring", "deeper", "bank", "custom, looked at", "foreign, held"]
)
def test_any_kind_may_be_inside(inside):
    y = field(6)
    local = Local(KINDS[inside], cells=3, margin=1)
    model = ESNForecaster(reservoir=local, ridge=1.0, washout=WASHOUT, random_state=4).fit(y)
    plain = Plain(model, y)
    states, rows = plain.driven()
    W = plain.trained(rows, np.arange(WASHOUT, len(rows)), 1.0)
    expected = plain.forecast(W, states[-1], plain.z[-1], plain.levels[-1], 6)
    np.testing.assert_allclose(model.forecast(6), expected[..., 0], rtol=0, atol=1e-8)


SCHEMES = {
    "folds": KFold(4, valid=12),
    "gaps": KFold(3, valid=9, gap=2),
    "growing": Accumulative(3, valid=12),
    "walking": WalkForward(3, valid=12),
    "single": SingleSplit(valid=14),
    "one step": KFold(3, valid=1),
}


@pytest.mark.parametrize("name", CASES)
def test_every_split_equals_neighbourhoods_written_out(name):
    model, y = fitted(name)
    plain = Plain(model.fit(y), y)
    states, rows = plain.driven()
    first = WASHOUT - plain.lost
    for scheme in SCHEMES if name in ("shared", "own") else ("folds", "walking"):
        cv = SCHEMES[scheme]
        found = cross_validate(model, y, cv=cv, ridge=RIDGE, metric="rmse")
        for split, (train, valid) in enumerate(cv.split(np.zeros(len(rows) - first))):
            at = first + valid[0]
            truth = plain.y[1 + plain.lost + at : 1 + plain.lost + at + len(valid)]
            for ridge in RIDGE:
                W = plain.trained(rows, first + np.asarray(train), ridge)
                level = plain.levels[at + plain.lost]
                values = plain.forecast(W, states[at], plain.z[at], level, len(valid))
                error = float(found.rmse.sel(ridge=ridge)[split])
                assert error == pytest.approx(np.sqrt(((values - truth) ** 2).mean()), rel=1e-8)


@pytest.mark.parametrize("name", ["shared", "own"])
def test_weights_are_those_of_times(name):
    model, y = fitted(name)
    weights = np.where(np.arange(T) % 7 == 3, 0.0, 1 + np.arange(T) % 5)
    plain = Plain(model.fit(y, sample_weight=weights), y)
    states, rows = plain.driven()
    W = plain.trained(rows, np.arange(WASHOUT, len(rows)), 1e-2, weights[1:])
    expected = plain.forecast(W, states[-1], plain.z[-1], plain.levels[-1], 6)
    np.testing.assert_allclose(model.forecast(6), expected[..., 0], rtol=0, atol=1e-8)
    cv = SCHEMES["single"]
    ((train, valid),) = cv.split(np.zeros(len(rows) - WASHOUT))
    at = WASHOUT + valid[0]
    W = plain.trained(rows, WASHOUT + np.asarray(train), 1e-2, weights[1:])
    values = plain.forecast(W, states[at], plain.z[at], plain.levels[at], len(valid))
    error = np.sqrt(((values[..., 0] - y[1 + at : 1 + at + len(valid)]) ** 2).mean())
    for algorithm in ("naive", "small_k", "large_k"):
        found = cross_validate(
            model, y, cv=cv, metric="rmse", sample_weight=weights, algorithm=algorithm
        )
        assert float(found.rmse[0, 0]) == pytest.approx(error, rel=1e-8)


@pytest.mark.parametrize("readouts", ["shared", "own"])
def test_a_fit_of_many_blocks_is_that_of_all_rows(readouts):
    y = np.concatenate([field(12)] * 7)
    local = Local(Leaky(60), cells=3, margin=1, readouts=readouts)
    model = ESNForecaster(reservoir=local, ridge=1e-2, random_state=4)
    weights = 1 + np.arange(len(y)) % 4
    source = model._states(model._read(y, sample_weight=weights), 4)
    assert len(list(source.blocks())) > 1
    expected = []
    for part in model._states(source.problem, 4).parts:
        X = np.hstack([np.ones((part.problem.rows, 1)), part.kept()[0]])
        given = part.problem.targets, 1e-2, False, part.problem.weights
        expected.append(reference.ridge(X, *given))
    found = model.fit(y, sample_weight=weights).readout_
    np.testing.assert_allclose(found, np.concatenate(expected, axis=1), rtol=0, atol=1e-8)


WAYS = [
    *({"algorithm": one} for one in ("small_k", "large_k", "auto")),
    *({"memory": one} for one in ("states", "pieces", "fold", "frugal")),
]


@pytest.mark.filterwarnings("ignore:The candidate has states that are collinear")
@pytest.mark.parametrize("name", ["shared", "own, open, variables", "rows and columns"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: next(iter(way.values())))
def test_all_ways_give_what_the_plain_one_gives(name, way):
    model, y = fitted(name)
    weights = np.where(np.arange(T) % 7 == 3, 0.0, 1 + np.arange(T) / T)
    options = {"cv": KFold(4, valid=12), "ridge": [0.0, *RIDGE], "sample_weight": weights}
    plain = cross_validate(model, y, algorithm="naive", **options)
    found = cross_validate(model, y, verify=True, **options, **way)
    np.testing.assert_allclose(found.nrmse, plain.nrmse, rtol=1e-7)


@pytest.mark.parametrize(
    ("name", "cv"),
    [
        ("shared", "folds"),
        ("own", "walking"),
        ("rows and columns", "folds"),
        pytest.param("shared", "walking", marks=pytest.mark.slow),
        pytest.param("own", "folds", marks=pytest.mark.slow),
        pytest.param("rows and columns", "walking", marks=pytest.mark.slow),
    ],
)
def test_a_device_gives_what_the_host_gives(accelerated, name, cv):
    model, y = fitted(name)

    def work():
        space = {"reservoir__kind__leak_rate": [0.5, 1.0], "ridge": RIDGE}
        options = {"cv": SCHEMES[cv], "n_draws": 2, "progress": False}
        if name == "own":
            options["metric"] = horizon(0.3)
        model.set_params(device="cpu")
        if name == "rows and columns":
            space = {"reservoir__kind": [LEAKY, EdgeOfStability(UNITS)], "ridge": RIDGE}
        return ESNSearchCV(model, space, **options).fit(y)

    host, device = on_both(accelerated, work)
    assert host.best_params_["ridge"] == device.best_params_["ridge"]
    metric = host.results_.attrs["metric"]
    np.testing.assert_allclose(device.results_[metric], host.results_[metric], rtol=1e-7)
    np.testing.assert_allclose(device.forecast(5), host.forecast(5), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["own", "variables", "rows and columns"])
def test_programs_give_what_numpy_gives(name, compiled, monkeypatch):
    from echofold._machine import device

    model, y = fitted(name)
    options = {"cv": SCHEMES["folds"], "ridge": RIDGE}
    found = model.fit(y).forecast(6), cross_validate(model, y, **options).nrmse
    monkeypatch.setattr(device, "COMPILING", np.inf)
    plain = model.fit(y).forecast(6), cross_validate(model, y, **options).nrmse
    for one, other in zip(found, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("readouts", ["shared", "own"])
def test_one_neighbourhood_is_the_reservoir_inside(readouts):
    y = field(4)
    local = Local(LEAKY, cells=4, margin=0, readouts=readouts)
    options = {"ridge": 1e-2, "scale": None, "random_state": 4}
    one, other = (ESNForecaster(reservoir=kind, **options).fit(y) for kind in (local, LEAKY))
    np.testing.assert_allclose(one.forecast(20), other.forecast(20), rtol=0, atol=1e-10)
    np.testing.assert_allclose(one.readout_, other.readout_, rtol=0, atol=1e-10)
    found = [cross_validate(model, y, cv=KFold(4), ridge=RIDGE).nrmse for model in (one, other)]
    np.testing.assert_allclose(*found, rtol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_a_file_gives_the_same_bits(name, tmp_path):
    model, y = fitted(name)
    save(model.fit(y[:-3]), tmp_path / "model.esn")
    loaded = load(tmp_path / "model.esn")
    assert (loaded.forecast(9) == model.forecast(9)).all()
    assert (loaded.update(y[-3:]).forecast(9) == model.update(y[-3:]).forecast(9)).all()
    assert repr(loaded.reservoir) == repr(model.reservoir)


@pytest.mark.parametrize("readouts", ["shared", "own"])
def test_a_search_over_margins_and_what_is_inside(readouts):
    model, y = fitted("shared")
    model.reservoir = Local(LEAKY, cells=3, margin=1, readouts=readouts)
    space = {
        "reservoir__margin": [0, 2],
        "reservoir__kind__spectral_radius": [0.3, 0.9],
        "ridge": RIDGE,
    }
    search = ESNSearchCV(model, space, cv=KFold(4, valid=12), progress=False, verify=True).fit(y)
    assert search.results_.sizes["candidate"] == 4
    best = dict(search.best_params_)
    ridge = best.pop("ridge")
    alone = cross_validate(
        model.set_params(**best, random_state=search.seed_), y, cv=KFold(4, valid=12), ridge=ridge
    )
    assert search.best_score_ == pytest.approx(float(alone.nrmse.mean()), rel=1e-9)
    again = model.set_params(ridge=ridge).fit(y)
    np.testing.assert_allclose(search.forecast(6), again.forecast(6), rtol=0, atol=1e-9)
    ends = search.forecast(6, level=0.9)
    assert (ends.lower[0.9] <= ends.mean).all() and ends.mean.shape == (6, 12)


@pytest.mark.parametrize("name", ["shared", "own", "rows, columns and variables"])
def test_backtests_run_on_and_are_trained_anew(name):
    model, y = fitted(name)
    model.fit(y)
    starts = np.array([60, 90])
    found = backtest(model, y, starts, 5)
    again = backtest(model, y, starts, 5, refit=True)
    plain = Plain(model, y)
    states, rows = plain.driven()
    everything = plain.trained(rows, np.arange(WASHOUT, len(rows)), 1e-2)
    for place, start in enumerate(starts):
        at, level = start - 1, plain.levels[start - 1]
        until = plain.trained(rows, np.arange(WASHOUT, at), 1e-2)
        for one, W in ((found, everything), (again, until)):
            values = plain.forecast(W, states[at], plain.z[at], level, 5)
            shown = one.forecast[place].values
            np.testing.assert_allclose(shown, values.reshape(shown.shape), rtol=0, atol=1e-8)


def test_states_are_rows_of_neighbourhoods():
    model, y = fitted("variables")
    states = model.fit(y).states(y)
    assert states.dims == ("time", "neighbourhood", "state")
    outputs = model.readout_[0] + states.values[-1] @ model.readout_[1:]  # (neighbourhoods, 4)
    flat = outputs.reshape(-1, 2) * model.y_scaler_.unit[:2] + model.y_scaler_.center[:2]
    np.testing.assert_allclose(flat.reshape(6, 2), model.forecast(1)[0], rtol=0, atol=1e-10)


def test_known_inputs_go_to_every_neighbourhood():
    model, y = fitted("shared")
    X = np.random.default_rng(0).normal(size=(T + 4, 1))
    y = y + np.cumsum(X[:T], axis=0) % 1
    model.fit(y, X=X[:T])
    assert model.readout_.shape == (1 + 7 + 1 + UNITS, 3)
    assert np.abs(model.forecast(4, X=X[T:]) - model.forecast(4, X=-X[T:])).max() > 0.1


def test_all_cells_of_a_variable_are_scaled_alike():
    model, y = fitted("variables")
    scaler = model.fit(y).y_scaler_
    np.testing.assert_allclose(scaler.unit.reshape(6, 2)[:, 0], y[..., 0].std(), rtol=1e-12)
    np.testing.assert_allclose(scaler.center.reshape(6, 2)[3], y.mean(axis=(0, 1)), rtol=1e-12)


def test_what_is_missing_is_left_out():
    model, y = fitted("shared")
    holes = y.copy()
    holes[50:52, 3] = np.nan
    with pytest.warns(UserWarning, match="missing"):
        found = model.fit(holes).readout_
    filled = holes.copy()
    filled[50:52, 3] = y[49, 3]
    weights = np.ones(T)
    weights[50:52] = 0
    model.fit(filled, sample_weight=weights)
    np.testing.assert_allclose(found, model.readout_, rtol=0.02, atol=0.02)  # but for the scale


FIELD = field(12)
REFUSED = {
    "not divided": ({"cells": 5}, FIELD, "one of 1, 2, 3, 4, 6, 12"),
    "too wide": ({"cells": 4, "margin": 5}, FIELD, "at most 4"),
    "beyond": ({"cells": 4, "margin": 13, "border": "open"}, FIELD, "at most 12"),
    "pair": ({"cells": (2, 2)}, FIELD, "an integer for"),
    "axes": ({"cells": 2}, field(2, 4, 3), "a pair as cells"),
    "triple": ({"cells": (2, 2, 2)}, FIELD, "cells="),
    "none": ({"cells": 0}, FIELD, "cells=0"),
    "margins": ({"margin": (1, 1)}, FIELD, "margin="),
    "less": ({"margin": -1}, FIELD, "margin=-1"),
    "border": ({"border": "wall"}, FIELD, "border='wall'"),
    "readouts": ({"readouts": "some"}, FIELD, "readouts='some'"),
    "kind": ({"kind": "leaky"}, FIELD, "kind='leaky'"),
    "twice": ({"kind": Local()}, FIELD, "neighbourhoods are cut once"),
    "inside": ({"kind": Leaky(0)}, FIELD, "units=0"),
    "adapting": ({"kind": Plastic(UNITS)}, FIELD, "adapts"),
    "several": ({}, [FIELD, FIELD], "for one field"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_said(name):
    params, y, words = REFUSED[name]
    local = Local(**{"kind": LEAKY, "cells": 2, "margin": 1} | params)
    with pytest.raises(ValueError, match="(?s)" + words.replace("(", r"\(")):
        ESNForecaster(reservoir=local).fit(y)


def test_what_is_not_for_fields_is_said():
    model, y = fitted("variables")
    with pytest.raises(ValueError, match="steps=3"):
        ESNForecaster(reservoir=model.reservoir, steps=3).fit(y)
    with pytest.raises(ValueError, match="model=.*their own"):
        ESNForecaster(reservoir=model.reservoir, model=lambda y: y).fit(y)
    with pytest.raises(ValueError, match="partial_fit"):
        model.fit(y).partial_fit(y[:3])
    with pytest.raises(ValueError, match=r"axes \(time, 3, 2\)"):
        model.update(y[:3, :3])
    with pytest.raises(ValueError, match="Local"):
        ESNForecaster(5).fit(y)
    with pytest.raises(ValueError, match="that an ESNForecaster forecasts"):
        ESNRegressor(reservoir=model.reservoir).fit(WAVES[:, :2], WAVES[:, 0])
    search = ESNSearchCV(ESNForecaster(), {"reservoir": [Local(LEAKY, cells=3, margin=0)]})
    with pytest.raises(ValueError, match="as its own reservoir"):
        search.fit(FIELD)
    search = ESNSearchCV(ESNForecaster(reservoir=Local(LEAKY, cells=3)), {"reservoir": [LEAKY]})
    with pytest.raises(ValueError, match="reservoir__kind"):
        search.fit(FIELD)


def test_weights_and_rows_are_those_of_one_readout():
    y = field(12)[:60]
    local = Local(Leaky(40), cells=2, margin=1)  # 45 weights for 6 · 53 rows, or for 53
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ESNForecaster(reservoir=local, random_state=0).fit(y)
    own = Local(Leaky(60), cells=2, margin=1, readouts="own")
    with pytest.warns(EchofoldWarning, match="65 weights .* to 54 rows"):
        ESNForecaster(reservoir=own, random_state=0).fit(y)


@pytest.mark.parametrize("readouts", ["shared", "own"])
def test_noise_is_for_training_alone(readouts, tmp_path):
    y = field(6, 2)
    noisy = Local(Leaky(UNITS, noise=1e-2), cells=2, margin=1, readouts=readouts)
    model = ESNForecaster(reservoir=noisy, random_state=4).fit(y)
    quiet = ESNForecaster(
        reservoir=Local(Leaky(UNITS), cells=2, margin=1, readouts=readouts), random_state=4
    ).fit(y)
    np.testing.assert_allclose(model.state_, quiet.state_, rtol=1e-12)
    assert np.abs(model.readout_ - quiet.readout_).max() > 1e-4
    save(model, tmp_path / "model.esn")
    assert (load(tmp_path / "model.esn").forecast(4) == model.forecast(4)).all()


def test_what_is_done_with_a_fitted_search():
    model, y = fitted("variables")
    model.reservoir = Local(LEAKY, cells=2, margin=1)
    space = {"reservoir__kind__leak_rate": [0.5, 1.0], "ridge": RIDGE}
    search = ESNSearchCV(model, space, cv=KFold(4, valid=12), progress=False).fit(y)
    table = search.forecast(3, level=0.9).to_frame()
    assert table.shape == (3, 36)  # a forecast and two ends of twelve
    found = evaluate(search, y, origins=2, horizon=5)
    assert np.isfinite(found.nrmse).all()
    exponents = dynamics.lyapunov_exponents(search, 30, count=2, washout=10).exponents
    assert exponents.shape == (2,)
    again = dynamics.lyapunov_exponents(search, 30, count=2, washout=0, y=y)
    assert np.isfinite(again.exponents).all()
    with pytest.raises(ValueError, match="kind inside"):
        dynamics.memory_capacity(model)
    pruned = ESNSearchCV(model, space, cv=KFold(4, valid=12), prune=True, progress=False).fit(y)
    assert pruned.best_params_ == search.best_params_


def test_states_of_all_neighbourhoods_count_as_memory():
    y = field(12)
    local = Local(LEAKY, cells=1, margin=1, readouts="own")
    model = ESNForecaster(reservoir=local, ridge=1e-2, washout=WASHOUT, random_state=4)
    kept = 8 * (T - 1 - WASHOUT) * 12 * (3 + UNITS)
    found = [
        cross_validate(model, y, cv=KFold(4, valid=12), memory=memory)
        for memory in (2 * kept, kept // 2)
    ]
    assert found[0].attrs["memory"] == "states" and found[1].attrs["memory"] != "states"
    np.testing.assert_allclose(found[0].nrmse, found[1].nrmse, rtol=1e-8)
