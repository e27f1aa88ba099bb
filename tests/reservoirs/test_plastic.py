"""Units adapt by the published equations, wherever they run, and before anything else is done."""

import numpy as np
import pytest
from kinds import UNITS, dense
from searches import INPUTS, LABELS, OUTPUTS, SEED, SEQUENCES, SERIES, one_by_one
from sklearn.base import clone

from echofold import (
    ESNClassifier,
    ESNForecaster,
    ESNRegressor,
    ESNSearchCV,
    KFold,
    backtest,
    cross_validate,
)
from echofold._machine import device
from echofold.reservoirs import Leaky, Plastic

OWN = {"rate": 2e-3, "mean": 0.1, "sigma": 0.25, "epochs": 2}
SHARED = {"leak_rate": 0.6, "spectral_radius": 0.8, "input_scaling": 0.7, "bias_scaling": 0.3}


def published(model, each, rate, mean, sigma, epochs):
    """Weights of a leaky network after its units adapted to segments ``(steps, inputs)``.

    Equations 8 and 9 of Schrauwen et al. (2008), of tanh units and a normal distribution.
    """
    W_in, W, leak = model.W_in_, dense(model.W_), model.leak_rate_
    a, b = np.ones(len(W)), np.zeros(len(W))
    for _ in range(epochs):
        for segment in each:
            state = np.zeros(len(W))
            for u in segment:
                x = W_in @ np.concatenate([[1.0], u]) + W @ state
                y = np.tanh(a * x + b)
                change = -rate * (
                    -mean / sigma**2 + (y / sigma**2) * (2 * sigma**2 + 1 - y**2 + mean * y)
                )
                a, b = a + rate / a + change * x, b + change
                state = (1 - leak) * state + leak * y
    W_in = a[:, None] * W_in
    W_in[:, 0] += b
    return W_in, a[:, None] * W


def both(cls, *data, connectivity=1.0, **options):
    """A network that does not adapt, and one that does."""
    shared = SHARED | {"connectivity": connectivity}
    return [
        cls(reservoir=kind, random_state=SEED, **options).fit(*data)
        for kind in (Leaky(UNITS, **shared), Plastic(UNITS, **shared, **OWN))
    ]


def assert_adapted(plain, adapted, each):
    W_in, W = published(plain, each, **OWN)
    np.testing.assert_allclose(adapted.W_in_, W_in, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(dense(adapted.W_), W, rtol=1e-10, atol=1e-12)
    assert np.abs(W - dense(plain.W_)).max() > 0.01


@pytest.mark.parametrize("connectivity", [1.0, 0.1])
@pytest.mark.parametrize("way", ["eager", "compiled", "in blocks", "as on a device"])
def test_units_adapt_by_the_published_equations(way, connectivity, monkeypatch):
    if way != "eager":
        monkeypatch.setattr(device, "COMPILING", -1.0)
    if way == "in blocks":
        monkeypatch.setattr("echofold._engine.drive.SILENT_STEPS", 64)
    if way == "as on a device":
        monkeypatch.setattr("echofold._engine.drive.accelerated", lambda: True)
    plain, adapted = both(ESNForecaster, SERIES, np.cos(SERIES), connectivity=connectivity)
    y, X = plain.y_scaler_.scaled(SERIES[:, None]), plain.X_scaler_.scaled(np.cos(SERIES)[:, None])
    assert_adapted(plain, adapted, [np.hstack([y[:-1], X[1:]])])


def test_each_of_several_series_and_sequences_begins_at_rest():
    each = [INPUTS[:70], INPUTS[60:]]
    plain, adapted = both(ESNRegressor, each, [OUTPUTS[:70], OUTPUTS[60:]])
    assert_adapted(plain, adapted, [plain.X_scaler_.scaled(one) for one in each])
    plain, adapted = both(ESNClassifier, SEQUENCES, LABELS, normalize=False)
    assert_adapted(plain, adapted, [plain.X_scaler_.scaled(one) for one in SEQUENCES])


def test_a_model_of_the_series_is_adapted_to_as_well():
    plain, adapted = both(ESNForecaster, SERIES, scale=None, model=np.sin)
    assert_adapted(plain, adapted, [np.stack([SERIES[:-1], np.sin(SERIES[:-1])], axis=1)])


def test_outputs_that_come_back_are_adapted_to_with_their_noise():
    plain, adapted = both(ESNRegressor, INPUTS, OUTPUTS, feedback=True, feedback_noise=0.1)
    inputs = clone(plain)._read(INPUTS, OUTPUTS).segments.steps
    assert_adapted(plain, adapted, [inputs])


def test_units_that_do_not_adapt_are_those_of_the_leaky_kind():
    one, other = (
        ESNForecaster(reservoir=kind, random_state=SEED).fit(SERIES).forecast(20)
        for kind in (Leaky(UNITS, **SHARED), Plastic(UNITS, **SHARED, rate=0.0))
    )
    assert (one == other).all()


@pytest.mark.parametrize("accelerator", [False, True])
def test_many_candidates_at_once_are_those_one_by_one(accelerator, accelerated, monkeypatch):
    accelerated(accelerator)
    if accelerator:
        monkeypatch.setattr("echofold._engine.drive.accelerated", lambda: True)
    space = {
        "reservoir__rate": [0.0, 1e-3], "reservoir__mean": [-0.1, 0.2],
        "reservoir__sigma": [0.2, 0.5], "reservoir__leak_rate": [0.5, 1.0], "ridge": [1e-4, 1e-1],
        "washout": [16, 20],
    }  # fmt: skip
    model = ESNForecaster(reservoir=Plastic(UNITS, epochs=2), random_state=SEED, device="cpu")
    search = ESNSearchCV(model, space, cv=KFold(4), n_draws=2, verify=True).fit(SERIES)
    expected = one_by_one(search, (SERIES,))["nrmse"]
    np.testing.assert_allclose(search.results_.nrmse.values, expected, rtol=1e-7)
    assert len(np.unique(expected[0, ::2, 0, 0].round(9))) == 10  # mean and sigma need a rate
    again = search.best_estimator_
    W = clone(again).set_params(random_state=again.seed_).fit(SERIES).W_
    np.testing.assert_allclose(again.W_, W, rtol=1e-10)


def test_values_come_close_to_the_distribution_asked_for():
    u = np.random.default_rng(1).uniform(-1, 1, (3000, 1))
    settings = {"input_scaling": 3.0, "bias_scaling": 2.0}
    for mean, sigma in ((0.0, 0.2), (0.3, 0.2), (0.0, 0.3)):
        kind = Plastic(30, **settings, mean=mean, sigma=sigma, epochs=10)
        model = ESNRegressor(reservoir=kind, random_state=SEED).fit(u, u[:, 0])
        values = model.states(u).values[100:]
        np.testing.assert_allclose(values.mean(axis=0), mean, atol=0.05)
        np.testing.assert_allclose(values.std(axis=0), sigma, atol=0.06)
    wide = ESNRegressor(reservoir=Leaky(30, **settings), random_state=SEED).fit(u, u[:, 0])
    assert wide.states(u).values[100:].mean(axis=0).std() > 0.3


def test_a_trained_network_adapts_no_more():
    settings = {"reservoir": Plastic(UNITS, **OWN), "random_state": SEED, "scale": None}
    model = ESNForecaster(**settings, washout=20).fit(SERIES[:120])
    before = model.W_
    later = clone(model).fit(SERIES[:120]).update(SERIES[120:])
    learned = model.partial_fit(SERIES[120:])
    assert (before == later.W_).all()
    assert (before == learned.W_).all()
    rows, *_ = model._driven(model._reservoirs(), [SERIES[:-1, None]])
    seen = np.hstack([np.ones((140, 1)), SERIES[20:-1, None], rows[20:]])
    penalty = 0.1 * np.eye(2 + UNITS)
    penalty[0, 0] = 0
    W = np.linalg.lstsq(
        np.vstack([seen, penalty]), np.append(SERIES[21:], np.zeros(2 + UNITS)), rcond=None
    )[0]
    np.testing.assert_allclose(learned.readout_[:, 0], W, atol=1e-9)
    tested = backtest(later, SERIES, starts=3, horizon=5, washout=None, refit=True)
    assert np.isfinite(tested.forecast.values).all()


def test_single_precision_adapts_nearly_the_same():
    models = [
        ESNForecaster(reservoir=Plastic(UNITS, **OWN), random_state=SEED, precision=precision)
        for precision in ("double", "single")
    ]
    one, two = (cross_validate(m, SERIES, cv=KFold(4)).nrmse.values for m in models)
    np.testing.assert_allclose(one, two, rtol=1e-3)
    assert (one != two).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": -1.0}, "rate=-1.0 is not allowed: it must be a number of at least 0"),
        ({"mean": 1.0}, r"mean=1.0 is not allowed: it must be a number in \(-1, 1\)"),
        ({"sigma": 0.0}, "sigma=0.0"),
        ({"epochs": 0}, "epochs=0"),
        ({"sigma": 1e-200}, "adapts without bounds. Use a lower rate or a larger sigma"),
    ],
)
def test_what_is_not_allowed_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ESNForecaster(reservoir=Plastic(UNITS, **options)).fit(SERIES)
