"""Measures of trained networks against plain computations, theory and known systems."""

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from kinds import Ring
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from echofold import ESNForecaster, ESNRegressor, ESNSearchCV, KFold, dynamics, systems
from echofold.dynamics._lyapunov import STRETCH
from echofold.reservoirs import Leaky, Reservoir

WAVE = np.sin(np.arange(400) / 5) + 0.3 * np.sin(np.arange(400) / 3)


class Linear(Reservoir):
    """``x' = A x + B u``, with any ``A`` and ``B``."""

    stored = {"A_": ("size", "size"), "B_": ("size", "inputs")}

    def __init__(self, A=None, B=None):
        self.A = A
        self.B = B

    def size(self, inputs):
        return 1 if self.A is None else len(self.A)

    def check(self):
        """Anything is allowed."""

    def draw(self, inputs, seed):
        return {"A": self.A, "B": self.B}

    def columns(self, weights, kinds, inputs):
        return {"number": np.zeros(len(kinds))}

    def step(self, weights, columns, x, u):
        return weights["A"] @ x + weights["B"] @ u

    def trained(self, weights, columns):
        return {"A_": weights["A"], "B_": weights["B"]}

    def restored(self, stored):
        return {"A": stored["A_"], "B": stored["B_"]}, {"number": np.zeros(1)}


def linear_model(A, B, of_u, of_x):
    """A forecaster of one output ``y' = of_u y + of_x x'`` over a linear reservoir."""
    model = ESNForecaster(reservoir=Linear(A, B), random_state=0, scale=None, ridge=1.0).fit(WAVE)
    model.readout_ = np.concatenate([[0.0], [of_u], of_x])[:, None]
    return model


def first_directions(size, count):
    return np.linalg.qr(np.random.RandomState(0).normal(size=(size, count)))[0]


def exponents_by_hand(step, z, steps, count):
    """Running exponents ``(steps, count)`` by central differences of ``step`` along ``z``."""
    Q, total, found = first_directions(len(z), count), np.zeros(count), []
    for n in range(steps):
        h = 1e-6
        pushed = [(step(z + h * q) - step(z - h * q)) / (2 * h) for q in Q.T]
        Q, R = np.linalg.qr(np.array(pushed).T)
        z, total = step(z), total + np.log(np.abs(np.diag(R)))
        found.append(total / (n + 1))
    return np.array(found)


def by_forecast_and_update(model):
    """One step of the loop as users can make it: forecast a value, and move on over it."""

    def step(z):
        moved = copy(model)
        moved.state_, moved.last_ = z[: len(model.state_)], z[len(model.state_) :]
        moved._move(moved._forecast(1, None), np.zeros((1, 0)))
        return np.concatenate([moved.state_, moved.last_])

    return step


def test_a_linear_loop_has_the_eigenvalues_of_its_matrix():
    rng = np.random.default_rng(0)
    A, B, of_x = rng.normal(size=(5, 5)) / 4, rng.normal(size=(5, 1)), rng.normal(size=5) / 3
    of_u = 0.3
    loop = np.block([[A, B], [of_x @ A, of_x @ B + of_u]])
    sizes = np.sort(np.abs(np.linalg.eigvals(loop)))[::-1]
    assert sizes[0] < 1
    found = dynamics.lyapunov_exponents(linear_model(A, B, of_u, of_x), 4000, step=0.5)
    assert found.exponents.shape == (6,) and found.history.shape == (4000, 6)
    # Two complex numbers turn their plane, whose exponents settle with 1 / steps.
    np.testing.assert_allclose(found.exponents, np.log(sizes) / 0.5, atol=2e-3)
    np.testing.assert_allclose(found.exponents.sum() * 0.5, np.log(abs(np.linalg.det(loop))))
    np.testing.assert_array_equal(found.times[[0, -1]], [0.5, 2000])


def test_real_eigenvalues_are_exact():
    """Of a triangular loop, whose eigenvalues stand on its diagonal."""
    A = np.diag([0.9, -0.7, 0.3]) + np.triu(np.ones((3, 3)), 1)
    model = linear_model(A, np.ones((3, 1)), 0.5, np.zeros(3))
    found = dynamics.lyapunov_exponents(model, 500)
    np.testing.assert_allclose(found.exponents, np.log([0.9, 0.7, 0.5, 0.3]), atol=1e-12)
    few = dynamics.lyapunov_exponents(model, 500, count=2)
    np.testing.assert_allclose(few.exponents, np.log([0.9, 0.7]), atol=1e-12)
    assert found.kaplan_yorke == 0.0


def test_the_derivative_is_that_of_the_equations():
    """A network on Lorenz's attractor, by its weights and the derivative written out."""
    y = systems.lorenz63(1500, 0.02)
    model = ESNForecaster(
        40, leak_rate=0.7, spectral_radius=0.4, input_scaling=0.3, ridge=1e-6, random_state=1
    ).fit(y)
    found = dynamics.lyapunov_exponents(model, 300, washout=0, count=5)
    a, W, V = model.leak_rate_, model.W_, model.W_in_
    of_u, of_x = model.readout_[1:4].T, model.readout_[4:].T
    x, u, Q, total = model.state_, model.last_, first_directions(43, 5), 0.0
    for n in range(300):
        moved = np.tanh(V[:, 0] + V[:, 1:] @ u + W @ x)
        slope = a * (1 - moved**2)[:, None]
        upper = np.hstack([(1 - a) * np.eye(40) + slope * W, slope * V[:, 1:]])
        J = np.vstack([upper, of_x @ upper + np.hstack([np.zeros((3, 40)), of_u])])
        x = (1 - a) * x + a * moved
        u = model.readout_[0] + of_u @ u + of_x @ x
        Q, R = np.linalg.qr(J @ Q)
        total = total + np.log(np.abs(np.diag(R)))
        if n in (0, 9, 99):
            order = np.argsort(-found.exponents)
            np.testing.assert_allclose(found.history[n, order], total / (n + 1), atol=1e-9)
    np.testing.assert_allclose(found.exponents, np.sort(total / 300)[::-1], atol=1e-6)


LOOPS = {
    "leaky": {"leak_rate": 0.6, "units": 8},
    "sparse": {"units": 8, "connectivity": 0.4},
    "ring": {"reservoir": Ring(8)},
    "sine": {"reservoir": Ring(8, activation="sine", squares=False)},
    "minmax": {"units": 8, "scale": "minmax"},
    "log": {"units": 8, "log": True},
    "differences": {"units": 8, "difference": (2, 1)},
    "held": {"units": 8, "output_range": (1, 5)},
    "log held": {"units": 8, "output_range": (1, 5), "log": True},
}


@pytest.mark.parametrize("name", LOOPS)
def test_any_loop_is_the_one_of_forecast_and_update(name):
    """The derivative of what users can do step by step, by differences."""
    model = ESNForecaster(**LOOPS[name], random_state=3, ridge=1e-3).fit(3 + WAVE)
    free = dynamics.lyapunov_exponents(model, 40, washout=0, count=3)
    if "held" in name:
        model.output_range_ = np.array([[2.6], [3.4]])  # narrower than the data
    found = dynamics.lyapunov_exponents(model, 40, washout=0, count=3)
    z = np.concatenate([model.state_, model.last_])
    expected = exponents_by_hand(by_forecast_and_update(model), z, 40, 3)
    order = np.argsort(-expected[-1], kind="stable")
    np.testing.assert_allclose(found.history, expected[:, order], atol=1e-6)
    assert ("held" in name) == (np.abs(free.exponents - found.exponents).max() > 1e-2)


def test_a_long_run_is_one_run():
    """Stretches go on where the last ended, and a washout is the beginning of a longer run."""
    model = ESNForecaster(10, random_state=0).fit(WAVE)
    whole = dynamics.lyapunov_exponents(model, 2 * STRETCH + 100, washout=0, count=3)
    later = dynamics.lyapunov_exponents(model, STRETCH + 600, washout=STRETCH - 500, count=3)
    steps = np.arange(1, 2 * STRETCH + 101)[:, None]
    total = whole.history * steps
    expected = (total[-1] - total[STRETCH - 501]) / (STRETCH + 600)
    np.testing.assert_allclose(np.sort(later.exponents), np.sort(expected), atol=1e-12)


def test_a_loop_may_start_after_another_series():
    model = ESNForecaster(30, spectral_radius=0.4, ridge=1e-6, random_state=0).fit(WAVE[:200])
    other = copy(model)
    other.state_ = np.zeros(30)
    other.last_ = model.y_scaler_.scaled(WAVE[:1])
    other.update(WAVE[1:350])
    expected = dynamics.lyapunov_exponents(other, 50, washout=0)
    found = dynamics.lyapunov_exponents(model, 50, washout=0, y=WAVE[:350])
    np.testing.assert_allclose(found.history, expected.history, atol=1e-12)
    usual = dynamics.lyapunov_exponents(model, 50, washout=0)
    assert np.abs(usual.history - found.history).max() > 1e-3


def test_measuring_changes_nothing():
    model = ESNForecaster(10, random_state=0).fit(WAVE)
    before = model.forecast(5)
    dynamics.lyapunov_exponents(model, 100, y=WAVE[:50])
    np.testing.assert_array_equal(model.forecast(5), before)


def test_a_search_is_measured_by_its_final_model():
    search = ESNSearchCV(ESNForecaster(10, random_state=0), {"ridge": [1e-6]}, cv=KFold(3))
    with pytest.raises(NotFittedError):
        dynamics.lyapunov_exponents(search)
    search.fit(pd.Series(WAVE))
    found = dynamics.lyapunov_exponents(search, 50)
    expected = dynamics.lyapunov_exponents(search.best_estimator_, 50)
    np.testing.assert_array_equal(found.exponents, expected.exponents)


def test_henon_is_learned_with_its_exponent():
    y = systems.henon(3000)
    options = {"spectral_radius": 0.3, "input_scaling": 0.6, "ridge": 1e-6}
    model = ESNForecaster(100, **options, random_state=2).fit(y)
    found = dynamics.lyapunov_exponents(model, 10_000)
    assert found.exponents[0] == pytest.approx(systems.LYAPUNOV["henon"], rel=0.05)
    assert found.exponents[1] < -0.1


def test_lorenz_is_learned_with_its_exponents():
    y = systems.lorenz63(10_000, 0.02)
    model = ESNForecaster(
        150, spectral_radius=0.4, input_scaling=0.3, bias_scaling=0.5, ridge=1e-8, random_state=0
    ).fit(y)
    found = dynamics.lyapunov_exponents(model, 25_000, count=4, step=0.02)
    assert found.exponents[0] == pytest.approx(systems.LYAPUNOV["lorenz63"], rel=0.05)
    assert abs(found.exponents[1]) < 0.02
    # Volumes shrink by -(sigma + 1 + beta), exactly, of which this one is the rest. It is hard to
    # learn: the data leave the sheets of the attractor nowhere.
    assert found.exponents[2] == pytest.approx(-41 / 3 - systems.LYAPUNOV["lorenz63"], rel=0.1)
    assert found.kaplan_yorke == pytest.approx(2.06, abs=0.02)


def test_the_dimension_of_kaplan_and_yorke():
    def dimension(*exponents):
        found = np.array(exponents)
        return dynamics.LyapunovExponents(found, found[None], np.ones(1)).kaplan_yorke

    assert dimension(0.4, -1.6) == pytest.approx(1.25)
    assert dimension(0.3, 0.1, -0.2, -0.4) == pytest.approx(3.5)
    assert dimension(0.3, -np.inf) == 1.0
    assert dimension(-0.3) == 0.0
    assert np.isnan(dimension(0.3, 0.0))


def test_a_loop_that_runs_away_is_an_error_and_one_far_off_a_warning():
    model = linear_model(np.array([[0.5]]), np.ones((1, 1)), 1.5, np.zeros(1))
    with pytest.raises(ValueError, match="runs away to infinity .* larger ridge"):
        dynamics.lyapunov_exponents(model)
    model = linear_model(np.array([[0.5]]), np.ones((1, 1)), 0.9, np.zeros(1))
    model.last_ = np.array([50.0])
    with pytest.warns(UserWarning, match="at step 1 the network is far outside"):
        dynamics.lyapunov_exponents(model)


def test_models_that_have_no_loop_of_their_own_are_refused():
    X = WAVE[:, None]
    for wrong in (ESNRegressor(5).fit(X, WAVE), WAVE, ESNForecaster):
        with pytest.raises(TypeError, match="expected a fitted ESNForecaster"):
            dynamics.lyapunov_exponents(wrong)
    with pytest.raises(NotFittedError):
        dynamics.lyapunov_exponents(ESNForecaster())
    with pytest.raises(ValueError, match="fitted with X: .* without X"):
        dynamics.lyapunov_exponents(ESNForecaster(5).fit(WAVE, X))
    with pytest.raises(ValueError, match="fitted with season: .* without season"):
        dynamics.lyapunov_exponents(ESNForecaster(5, season=31).fit(WAVE))
    both = ESNForecaster(5, difference=(1,), output_range=(-2, 2)).fit(WAVE)
    with pytest.raises(ValueError, match=r"difference=\(1,\) and output_range: .* without"):
        dynamics.lyapunov_exponents(both)
    search = ESNSearchCV(
        ESNForecaster(5, random_state=0), {"ridge": [1e-6]}, cv=KFold(3), final="ensemble"
    ).fit(WAVE)
    with pytest.raises(TypeError, match=r"ensemble of .*\.members\[0\]"):
        dynamics.lyapunov_exponents(search)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steps": 0}, "steps=0 .* at least 1"),
        ({"washout": -1}, "washout=-1 .* at least 0"),
        ({"step": 0}, "step=0 .* a positive number"),
        ({"count": 7}, "count=7 .* 1 to 6"),
        ({"count": 2.0}, r"count=2\.0 .* 1 to 6"),
        ({"y": [1.0]}, "y has 1 rows, expected at least 2"),
        ({"y": np.ones((9, 2))}, "y has 2 columns, expected the 1"),
        ({"y": [1.0, np.nan, 2.0]}, "y"),
    ],
)
def test_arguments_of_exponents_are_checked(options, words):
    model = ESNForecaster(5, random_state=0).fit(WAVE)
    with pytest.raises(ValueError, match=words):
        dynamics.lyapunov_exponents(model, **options)


def ring_of_delays(units, radius, scaling=1e-3):
    """Units that hand the input on in a circle, so faint that they are linear."""
    W_in = np.zeros((units, 2))
    W_in[0, 1] = 1.0
    W = radius * np.roll(np.eye(units), 1, axis=0)
    return Leaky(units, W=W, W_in=W_in, spectral_radius=None, input_scaling=scaling)


def test_memory_of_a_ring_is_that_of_theory():
    """Unit ``i`` holds ``Σ_j r^(jN) u(n − i − jN)``, of which squares of weights are the shares.

    The input itself is seen beside the states, and leaves the unit that it drives to the past.
    """
    units, r = 8, 0.9
    delays = np.arange(1, 41)
    turns = np.where(delays % units == 0, delays // units - 1, delays // units)
    expected = r ** (2 * units * turns) * (1 - r ** (2 * units))
    found = dynamics.memory_capacity(ring_of_delays(units, r), 40, steps=50_000)
    assert found.by_delay.shape == (40,)
    np.testing.assert_allclose(found.by_delay, expected, atol=0.012)
    assert found.total == pytest.approx(units, rel=0.02)
    assert found.total == found.by_delay.sum()


@pytest.mark.parametrize("units", [20, 50])
def test_an_orthogonal_network_remembers_as_many_steps_as_it_has_units(units):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(units, units)))[0]
    kind = Leaky(units, W=0.97 * Q, spectral_radius=None, input_scaling=1e-3, bias_scaling=0.0)
    found = dynamics.memory_capacity(kind, 5 * units)
    assert 0.93 * units < found.total < 1.01 * units
    assert found.by_delay[:5].min() > 0.5 and found.by_delay[-10:].max() < 0.2


def test_memory_by_plain_least_squares():
    """One delay after the other, with states from a loop."""
    kind = Leaky(12, spectral_radius=0.8, input_scaling=0.5, leak_rate=0.9)
    model = ESNRegressor(reservoir=kind, random_state=4, scale=None)
    found = dynamics.memory_capacity(model, 15, steps=500, random_state=7)
    u = np.random.default_rng([7, 1]).uniform(-1, 1, size=15 + 200 + 1000)
    trained = model.fit(np.zeros((9, 1)), np.zeros(9))
    x, rows = np.zeros(12), []
    for value in u[15:]:
        moved = np.tanh(trained.W_in_ @ [1.0, value] + trained.W_ @ x)
        x = 0.1 * x + 0.9 * moved
        rows.append([1.0, value, *x])
    rows, now = np.array(rows)[200:], 15 + 200 + np.arange(1000)
    for d in (1, 2, 8, 15):
        target = u[now - d]
        readout = np.linalg.lstsq(rows[:500], target[:500], rcond=None)[0]
        share = np.corrcoef(rows[500:] @ readout, target[500:])[0, 1] ** 2
        assert found.by_delay[d - 1] == pytest.approx(share, abs=1e-9)


def test_capacity_falls_with_nonlinearity_and_noise_and_stays_below_the_units():
    totals = [
        dynamics.memory_capacity(Leaky(30, input_scaling=scaling, bias_scaling=0.0)).total
        for scaling in (0.01, 0.1, 1.0, 5.0)
    ]
    assert 30 > totals[0] > totals[1] > totals[2] > totals[3] > 1
    kind = Leaky(30, input_scaling=0.01, bias_scaling=0.0)
    assert dynamics.memory_capacity(kind, ridge=1.0).total < totals[0] / 2


def test_an_estimator_is_measured_with_the_weights_it_has():
    model = ESNForecaster(15, spectral_radius=0.7, random_state=3)
    expected = dynamics.memory_capacity(model)
    fitted = ESNForecaster(15, spectral_radius=0.7).set_params(random_state=3).fit(WAVE)
    fitted.set_params(random_state=None, spectral_radius=0.1)
    np.testing.assert_array_equal(dynamics.memory_capacity(fitted).by_delay, expected.by_delay)
    other = dynamics.memory_capacity(Leaky(15, spectral_radius=0.7), random_state=1)
    assert np.abs(other.by_delay - expected.by_delay).max() > 1e-3
    again = dynamics.memory_capacity(Leaky(15, spectral_radius=0.7), random_state=1)
    np.testing.assert_array_equal(again.by_delay, other.by_delay)
    search = ESNSearchCV(model, {"ridge": [1e-6]}, cv=KFold(3)).fit(WAVE)
    np.testing.assert_array_equal(dynamics.memory_capacity(search).by_delay, expected.by_delay)


def test_a_reservoir_of_any_kind_has_a_capacity_and_one_that_is_silent_none():
    assert 1 < dynamics.memory_capacity(Ring(8)).total < 8
    silent = Leaky(4, W=np.eye(4), W_in=np.zeros((4, 2)), spectral_radius=None)
    assert dynamics.memory_capacity(silent, 3, steps=4000).total < 0.01


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delays": 0}, "delays=0 .* a positive integer"),
        ({"steps": 7}, "steps=7 .* at least 8"),
        ({"ridge": -1}, "ridge=-1 .* at least 0"),
    ],
)
def test_arguments_of_memory_are_checked(options, words):
    with pytest.raises(ValueError, match=words):
        dynamics.memory_capacity(Leaky(5), **options)


def test_what_has_no_reservoir_is_refused():
    for wrong in (7, WAVE, Leaky):
        with pytest.raises(TypeError, match="expected a reservoir"):
            dynamics.memory_capacity(wrong)
    with pytest.raises(ValueError, match="units=0"):
        dynamics.memory_capacity(Leaky(0))
    with pytest.raises(ValueError, match="W_in has 3 columns, expected 2"):
        dynamics.memory_capacity(Leaky(5, W_in=np.ones((5, 3))))


@pytest.fixture(scope="module")
def lorenz():
    return [systems.lorenz63(6000, 0.05, random_state=seed) for seed in (0, 1)]


def test_the_same_climate_is_as_near_as_halves_of_the_truth(lorenz):
    found = dynamics.climate(*lorenz, step=0.05)
    assert (found.histogram_distance < 2 * found.histogram_baseline).all()
    assert (found.spectrum_distance < 2 * found.spectrum_baseline).all()
    itself = dynamics.climate(lorenz[0], lorenz[0], step=0.05)
    assert (itself.histogram_distance == 0).all() and (itself.spectrum_distance == 0).all()
    np.testing.assert_array_equal(itself.histogram_baseline, found.histogram_baseline)
    np.testing.assert_array_equal(itself.spectrum_baseline, found.spectrum_baseline)
    assert (found.histogram_baseline > 0).all() and (found.spectrum_baseline > 0).all()


def test_distances_grow_with_the_difference(lorenz):
    truth, other = lorenz
    found = [dynamics.climate(truth, other + by) for by in (0, 5, 20, 100)]
    distances = np.array([one.histogram_distance for one in found])
    assert (np.diff(distances, axis=0) > 0).all()
    np.testing.assert_allclose(distances[3] - distances[2], 80 / truth.std(axis=0), rtol=1e-6)
    np.testing.assert_allclose(found[3].spectrum_distance, found[0].spectrum_distance, rtol=1e-6)
    rng = np.random.default_rng(0)
    noise = rng.normal(size=other.shape) * other.std(axis=0)
    noisy = np.array(
        [dynamics.climate(truth, other + s * noise).spectrum_distance for s in (0, 0.01, 0.1, 1)]
    )
    assert (np.diff(noisy, axis=0) > 0).all()
    assert (noisy[1] > 2 * found[0].spectrum_baseline).all()


def test_a_spectrum_that_is_louder_throughout_is_so_many_decibels_apart():
    rng = np.random.default_rng(0)
    y = rng.normal(size=4000)
    found = dynamics.climate(y, 10 * y, bins=20, segment=100)
    assert found.spectrum_distance[0] == pytest.approx(20, abs=0.01)
    np.testing.assert_allclose(found.spectra[1], 100 * found.spectra[0])
    assert found.frequencies.shape == (50,) and found.frequencies[0] == pytest.approx(0.01)


def test_the_baseline_compares_the_halves_of_the_truth():
    half = np.random.default_rng(0).normal(size=2000)
    truth = np.concatenate([half, 10 * half])
    found = dynamics.climate(truth, half)
    assert found.spectrum_baseline[0] == pytest.approx(20, abs=0.01)
    assert found.histogram_baseline[0] == pytest.approx(9 * np.abs(half).mean() / truth.std())
    other = dynamics.climate(truth, 3 * truth)
    assert other.spectrum_baseline[0] == found.spectrum_baseline[0]
    assert other.histogram_baseline[0] == found.histogram_baseline[0]


def test_waves_are_found_at_their_frequency_and_values_in_their_bins():
    t = np.arange(8000) * 0.1
    wave = np.sin(2 * np.pi * 0.7 * t)
    table = pd.DataFrame({"a": wave, "b": np.arange(8000) % 4 + 0.5})
    found = dynamics.climate(table, table.iloc[:5000], step=0.1, bins=4)
    at = found.frequencies[found.spectra[0, :, 0].argmax()]
    assert at == pytest.approx(0.7, abs=0.02)
    np.testing.assert_allclose(found.histograms[:, :, 1], 0.25)
    np.testing.assert_allclose(found.histograms.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.edges[:, 1], np.linspace(0.5, 3.5, 5))
    frame = found.to_frame()
    assert list(frame.index) == ["a", "b"]
    np.testing.assert_array_equal(frame["spectrum_baseline"], found.spectrum_baseline)
    assert frame.shape == (2, 4)


def test_a_forecast_that_came_to_rest_is_far_away(lorenz):
    rest = np.tile(lorenz[0][-1], (500, 1))
    found = dynamics.climate(lorenz[0], rest)
    assert (found.spectrum_distance > 10).all()
    assert (found.histogram_distance > 0.5).all()


def test_series_that_cannot_be_compared_are_refused():
    y = WAVE
    for pair, words in (
        ((y, y[:50]), "forecast has 50 rows, expected at least 64"),
        ((y[:50], y), "truth has 50 rows, expected at least 64"),
        ((y, np.stack([y, y], 1)), "forecast has 2 columns, expected the 1 of truth"),
        ((np.ones(99), y), "truth is constant in column 0"),
        ((y, np.where(y > 1, np.inf, y)), "forecast"),
    ):
        with pytest.raises(ValueError, match=words):
            dynamics.climate(*pair)
    for options, words in (
        ({"bins": 1}, "bins=1 .* at least 2"),
        ({"step": -1}, "step=-1 .* a positive number"),
        ({"segment": 300}, "segment=300 .* 2 to 200"),
    ):
        with pytest.raises(ValueError, match=words):
            dynamics.climate(y, y, **options)


def test_results_are_read_only(lorenz):
    found = dynamics.climate(*lorenz)
    with pytest.raises(AttributeError):
        found.names = ("a", "b", "c")
    assert replace(found, names=("a", "b", "c")).to_frame().index[1] == "b"


def test_noise_adds_no_direction():
    """A reservoir with noise counts steps while it is trained; the count is no exponent of 0."""
    model = ESNForecaster(reservoir=Leaky(8, noise=1e-9, spectral_radius=0.4), random_state=0)
    found = dynamics.lyapunov_exponents(model.fit(WAVE), 300, count=9)
    plain = clone(model).set_params(reservoir__noise=0.0).fit(WAVE)
    expected = dynamics.lyapunov_exponents(plain, 300, count=9)
    np.testing.assert_allclose(found.exponents, expected.exponents, atol=1e-4)
    with pytest.raises(ValueError, match="integer of 1 to 9"):
        dynamics.lyapunov_exponents(model, 10, count=10)
