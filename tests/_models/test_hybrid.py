"""A network beside a model of its series equals its equations, and goes wherever others go."""

import jax.numpy as jnp
import numpy as np
import pytest
import reference
from kinds import KINDS, PLAIN, UNITS, noise
from searches import RIDGE, SEED, SERIES, one_by_one
from sklearn.base import clone

from echofold import ESNForecaster, ESNSearchCV, KFold, backtest, cross_validate, dynamics, save
from echofold.reservoirs import NVAR, Leaky

WASHOUT = 20
Y = np.stack([10 + 3 * SERIES[3:], 0.1 * SERIES[:-3] - 2], axis=1)
X = np.cos(np.arange(len(Y) + 30) / 3)[:, None]


def wrong(xp, y):
    """A model in the units of the data that is no good."""
    turned = xp.tanh((y[0] - 9) / 4) / 10 - 2 + 0.02 * (y[1] + 2) ** 2
    return xp.stack([y[0] + 0.5 * (y[0] - 10) - 8 * (y[1] + 2), turned])


def by_jax(y):
    return wrong(jnp, y)


def by_numpy(y):
    return wrong(np, y)


def plain_rows(model, inputs, training):
    """What the readout sees of ``inputs (T, inputs)``, scaled, and a step after the last state."""
    plain = PLAIN[type(model.reservoir_)](model)
    scaler, x, rows, kind = model.y_scaler_, plain.rest, [], model.reservoir_

    def step(x, u, n):
        said = scaler.scaled(by_numpy(scaler.original(u[:2])))
        both = np.concatenate([u, said])
        x = plain.step(x, both)
        if training and getattr(kind, "noise", 0):
            x = x + kind.noise * noise(model.seed_, n, u, len(x))
        return x, np.concatenate([[1.0], both, plain.look(x, both)])

    for n, u in enumerate(inputs):
        x, row = step(x, u, n)
        rows.append(row)
    return np.array(rows), lambda x, u: step(x, u, None), x


@pytest.mark.parametrize("name", ["leaky", "noise", "nvar, linear", "foreign, held", "bank"])
def test_a_forecaster_equals_the_equations(name):
    model = ESNForecaster(
        reservoir=KINDS[name], model=by_jax, washout=WASHOUT, random_state=SEED
    ).fit(Y, X[: len(Y)])
    y, known = model.y_scaler_.scaled(Y), model.X_scaler_.scaled(X)
    inputs = np.hstack([y[:-1], known[1 : len(y)]])
    rows, *_ = plain_rows(model, inputs, training=True)
    (found,) = model._states(clone(model)._read(Y, X[: len(Y)]), SEED).kept()
    np.testing.assert_allclose(found, rows[WASHOUT:, 1:], rtol=1e-9, atol=1e-10)
    W = reference.ridge(rows[WASHOUT:], y[1 + WASHOUT :], 1e-2, False)
    np.testing.assert_allclose(rows @ model.readout_, rows @ W, rtol=0, atol=1e-9)
    _, step, x = plain_rows(model, inputs, training=False)
    model.readout_, now, expected = W, y[-1], []
    for row in range(len(Y), len(Y) + 30):
        x, seen = step(x, np.concatenate([now, known[row]]))
        now = seen @ W
        expected.append(model.y_scaler_.original(now))
    expected = np.array(expected)
    np.testing.assert_allclose(model.forecast(30, X[len(Y) :]), expected, rtol=0, atol=1e-8)
    later = model.update(expected[:5], X[len(Y) : len(Y) + 5]).forecast(25, X[len(Y) + 5 :])
    np.testing.assert_allclose(later, expected[5:], rtol=0, atol=1e-8)


def scores(model, **options):
    return cross_validate(model, Y, cv=KFold(4), ridge=RIDGE, **options).nrmse.values


@pytest.mark.parametrize("algorithm", ["small_k", "large_k", "naive"])
def test_numpy_and_jax_compiled_and_not_are_the_same(algorithm, request):
    by = {f: ESNForecaster(UNITS, model=f, random_state=SEED) for f in (by_numpy, by_jax)}
    eager = scores(by[by_numpy], algorithm=algorithm), by[by_numpy].fit(Y).forecast(20)
    request.getfixturevalue("compiled")
    for model in by.values():
        np.testing.assert_allclose(scores(model, algorithm=algorithm), eager[0], rtol=1e-7)
        np.testing.assert_allclose(model.fit(Y).forecast(20), eager[1], rtol=1e-9)


@pytest.mark.parametrize("model", [by_jax, by_numpy])
def test_a_search_equals_its_candidates_one_by_one(model, accelerated):
    space = {"model": [None, model], "leak_rate": [0.4, 1.0], "ridge": RIDGE}
    estimator = ESNForecaster(UNITS, random_state=SEED, device="cpu")
    search = ESNSearchCV(estimator, space, cv=KFold(4), n_draws=2, verify=True).fit(Y)
    expected = one_by_one(search, (Y,))["nrmse"]
    np.testing.assert_allclose(search.results_.nrmse.values, expected, rtol=1e-6)
    assert np.abs(expected[:, 0] - expected[:, 2]).min() > 1e-6  # with it and without it
    accelerated(True)
    other = ESNSearchCV(estimator, space, cv=KFold(4), n_draws=2).fit(Y)
    np.testing.assert_allclose(other.results_.nrmse.values, expected, rtol=1e-6)
    pruned = ESNSearchCV(estimator, space, cv=KFold(4), prune=True).fit(Y)
    assert pruned.best_params_["model"] is search.best_params_["model"]
    assert np.isfinite(search.forecast(9, level=0.8).lower[0.8]).all()
    assert np.isfinite(search.finalize("average").forecast(9)).all()


def test_who_knows_the_system_forecasts_it():
    """A model that is right is all that a readout needs, however poor the network is."""
    a = np.array([[0.9, -0.4], [0.4, 0.9]])
    y = [np.array([1.0, 0.0])]
    for _ in range(300):
        y.append(a @ y[-1] / np.linalg.norm(y[-1]) ** 0.1)
    y = np.array(y)
    options = {"units": 5, "ridge": 1e-12, "random_state": SEED}
    alone, both = (
        np.abs(ESNForecaster(**options, model=f).fit(y[:200]).forecast(60) - y[200:260]).max()
        for f in (None, lambda y: a @ y / np.linalg.norm(y, axis=0) ** 0.1)
    )
    assert both < 1e-6 < 1e-3 < alone


def test_series_that_are_alike_in_scale_share_a_model():
    each = [Y[:80], Y[60:]]
    options = {"units": UNITS, "random_state": SEED, "model": by_jax, "washout": 10}
    with pytest.raises(ValueError, match=r"each of several series is scaled.*Use scale=None"):
        ESNForecaster(**options).fit(each)
    model = ESNForecaster(**options, scale=None).fit(each)
    alone = ESNForecaster(**options, scale=None).fit(each[1])
    np.testing.assert_allclose(model.series_[1].state_, alone.state_, rtol=1e-12)
    assert np.isfinite(model.forecast(5)[0]).all()


def test_other_series_are_scaled_by_their_own():
    model = ESNForecaster(UNITS, random_state=SEED, model=by_jax).fit(Y)
    other = Y[30:] * 1.5
    found = model.forecast(1, y=other)
    own = clone(model).fit(other)
    own.readout_ = model.readout_
    np.testing.assert_allclose(found, own.forecast(1), rtol=1e-12)


def test_learning_on_states_and_backtests():
    settings = {"units": UNITS, "random_state": SEED, "scale": None, "washout": WASHOUT}
    whole = ESNForecaster(**settings, model=by_numpy).fit(Y)
    model = ESNForecaster(**settings, model=by_numpy).fit(Y[:100])
    for row in Y[100:]:
        model = model.partial_fit(row[None])
    np.testing.assert_allclose(model.forecast(9), whole.forecast(9), rtol=1e-9)
    states = whole.states(Y)
    np.testing.assert_allclose(states[:, :2], by_numpy(Y.T).T, rtol=1e-12)  # what it says is seen
    assert states.shape == (len(Y), 2 + UNITS)
    tested = backtest(whole, Y, starts=3, horizon=5, washout=None)
    again = clone(whole).fit(Y[: int(tested.start[1])])
    again.readout_ = whole.readout_
    np.testing.assert_allclose(tested.forecast[1], again.forecast(5), rtol=1e-9)


def test_exponents_of_a_loop_with_a_model():
    exponents = [
        dynamics.lyapunov_exponents(model, 50, count=2, washout=5).exponents
        for model in (
            ESNForecaster(UNITS, random_state=SEED, model=by_jax, leak_rate=0.3).fit(Y),
            ESNForecaster(UNITS, random_state=SEED, leak_rate=0.3).fit(Y),
        )
    ]
    assert np.isfinite(exponents).all()
    with pytest.raises(ValueError, match=r"cannot differentiate. Make it of jax.numpy"):
        dynamics.lyapunov_exponents(ESNForecaster(UNITS, model=by_numpy).fit(Y))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "lorenz"}, "model='lorenz' is not allowed: it must be a function"),
        (
            {"model": lambda y: y[:1]},
            r"gave shape \(1, 3\) for y of shape \(2, 3\).*of the same shape",
        ),
        ({"model": lambda y: np.linalg.inv(y)}, r"failed for y of shape \(2, 3\)"),
        ({"model": lambda y: np.sin(y) - np.asarray(y).mean()}, "a column other values beside"),
        ({"model": by_jax, "difference": (1,)}, "the network sees others. Leave these out"),
        ({"model": by_jax, "log": True}, "log=True"),
        ({"model": by_jax, "reservoir": Leaky(9, input_scaling=[1.0, 2.0])}, "has 4 inputs"),
    ],
)
def test_what_is_no_model_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ESNForecaster(random_state=SEED, **options).fit(np.abs(Y))


def test_a_function_is_in_no_file(tmp_path):
    model = ESNForecaster(reservoir=NVAR(), model=by_jax).fit(Y)
    with pytest.raises(TypeError, match="model holds a function, which cannot be saved"):
        save(model, tmp_path / "kept.echofold")
    assert not list(tmp_path.iterdir())
