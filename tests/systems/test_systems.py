"""Systems to test on follow their equations, and are as chaotic as is known."""

from functools import partial

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from echofold import systems
from echofold.systems import _SUBSTEP as SUBSTEP
from echofold.systems import LYAPUNOV

SHAPES = {
    "lorenz63": (3,),
    "lorenz96": (40,),
    "rossler": (3,),
    "mackey_glass": (),
    "kuramoto_sivashinsky": (64,),
    "henon": (2,),
    "narma10": (),
}
FLOWS = ["lorenz63", "lorenz96", "rossler", "mackey_glass", "kuramoto_sivashinsky"]


def made(name, steps=5, **options):
    """Values of a system after a short transient; of NARMA10, inputs and outputs as columns."""
    values = getattr(systems, name)(steps, **{"skip": 10, **options})
    return np.stack(values, axis=-1) if name == "narma10" else values


def halved(monkeypatch, name):
    monkeypatch.setitem(SUBSTEP, name, SUBSTEP[name] / 2)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_and_seeds(name):
    early = partial(made, name, skip=2)
    values = early()
    shape = (2,) if name == "narma10" else SHAPES[name]
    assert values.shape == (5, *shape) and values.dtype == float
    assert early(1).shape == (1, *shape)
    np.testing.assert_array_equal(values, early(np.int64(5), random_state=0))
    assert (values != early(random_state=1)).any()
    drawn = [early(random_state=np.random.RandomState(7)) for _ in range(2)]
    np.testing.assert_array_equal(*drawn)
    generator = np.random.RandomState(7)
    assert (early(random_state=generator) != early(random_state=generator)).any()


@pytest.mark.parametrize("name", FLOWS)
def test_more_rows_go_on_and_later_rows_are_skipped_to(name):
    values = made(name, 21, step=0.5)
    np.testing.assert_array_equal(made(name, 11, step=0.5), values[:11])
    np.testing.assert_allclose(made(name, 6, step=1.0), values[:11:2], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(made(name, 21, step=0.5, skip=10.5)[:4], values[1:5], atol=1e-6)


@pytest.mark.parametrize("name", ["narma10", "henon"])
def test_steps_of_maps_are_skipped_to(name):
    np.testing.assert_array_equal(made(name, 5, skip=15), made(name, 10)[5:])


@pytest.mark.parametrize("name", [*SHAPES, "superimposed_oscillators"])
@pytest.mark.parametrize("steps", [0, -1, 2.0, True, None])
def test_steps_must_be_a_positive_integer(name, steps):
    with pytest.raises(ValueError, match=r"^steps=.* must be a positive integer\.$"):
        getattr(systems, name)(steps)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        *[(name, {"step": 0.0}, "step=0.0 .* a positive number") for name in FLOWS],
        *[(name, {"step": np.inf}, "step=inf .* a positive number") for name in FLOWS],
        *[(name, {"skip": -1}, "skip=-1 .* at least 0") for name in SHAPES],
        *[(name, {"skip": np.nan}, "skip=nan .* at least 0") for name in SHAPES],
        ("narma10", {"skip": 1.5}, "skip=1.5 .* an integer of at least 0"),
        ("lorenz63", {"rho": np.nan}, "rho=nan .* a finite number"),
        ("lorenz63", {"sigma": "10"}, "sigma='10' .* a finite number"),
        ("lorenz96", {"forcing": np.inf}, "forcing=inf .* a finite number"),
        ("lorenz96", {"size": 3}, "size=3 .* an integer of at least 4"),
        ("rossler", {"c": None}, "c=None .* a finite number"),
        ("mackey_glass", {"tau": 0}, "tau=0 .* a positive number"),
        ("mackey_glass", {"power": -1}, "power=-1 .* a positive number"),
        ("kuramoto_sivashinsky", {"length": 0}, "length=0 .* a positive number"),
        ("kuramoto_sivashinsky", {"size": 64.0}, "size=64.0 .* an integer"),
        ("kuramoto_sivashinsky", {"size": 21}, r"size=21 .* at least length=22\.0"),
        ("henon", {"b": np.inf}, "b=inf .* a finite number"),
    ],
)
def test_bad_arguments_are_named(name, options, message):
    with pytest.raises(ValueError, match=message):
        getattr(systems, name)(5, **options)


@pytest.mark.parametrize("name", SHAPES)
def test_bad_random_states_are_refused(name):
    with pytest.raises(TypeError, match="random_state must be an integer"):
        getattr(systems, name)(5, random_state="seed")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("henon", {"a": 3.0}),
        ("rossler", {"c": -5.0, "a": 2.0}),
        ("lorenz96", {"forcing": 1e6}),
    ],
)
def test_running_away_is_an_error_that_names_the_parameters(name, options):
    key, value = next(iter(options.items()))
    with pytest.raises(ValueError, match=f"{name} runs away to infinity with .*{key}={value!r}"):
        getattr(systems, name)(50, **options)


def lorenz63(t, v):
    x, y, z = v
    return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]


def lorenz96(t, x):
    return (np.roll(x, -1, 0) - np.roll(x, 2, 0)) * np.roll(x, 1, 0) - x + 8


def rossler(t, v):
    x, y, z = v
    return [-y - z, x + 0.2 * y, 0.2 + z * (x - 5.7)]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("right", [lorenz63, lorenz96, rossler], ids=lambda f: f.__name__)
def test_flows_are_exact_over_a_lyapunov_time(right, seed):
    name = right.__name__
    times = np.linspace(0, 1 / LYAPUNOV[name], 12)
    found = getattr(systems, name)(12, times[1], random_state=seed)
    exact = solve_ivp(
        right, times[[0, -1]], found[0], "DOP853", t_eval=times, rtol=1e-12, atol=1e-12
    ).y.T
    assert np.abs(found - exact).max() < 2e-8 * np.abs(exact).max()
    assert np.abs(found[0] - found[-1]).max() > 0.1


def test_parameters_of_flows_are_those_of_their_equations():
    """Derivatives by central differences, at parameters that are not the defaults."""
    h = 1e-3
    x, y, z = (rows := made("lorenz63", 3, step=h, sigma=9.0, rho=30.0, beta=2.0)).T
    change = (rows[2] - rows[0]) / (2 * h)
    expected = 9 * (y - x), x * (30 - z) - y, x * y - 2 * z
    np.testing.assert_allclose(change, np.array(expected)[:, 1], atol=0.05)
    x, y, z = (rows := made("rossler", 3, step=h, a=0.1, b=0.3, c=4.0)).T
    change = (rows[2] - rows[0]) / (2 * h)
    np.testing.assert_allclose(
        change, np.array([-y - z, x + 0.1 * y, 0.3 + z * (x - 4)])[:, 1], atol=1e-4
    )
    rows = made("lorenz96", 3, step=h, size=7, forcing=5.0)
    x = rows[1]
    expected = [(x[(i + 1) % 7] - x[i - 2]) * x[i - 1] - x[i] + 5 for i in range(7)]
    np.testing.assert_allclose((rows[2] - rows[0]) / (2 * h), expected, atol=0.05)


def test_lorenz63_stays_at_the_origin_below_its_first_bifurcation():
    assert np.abs(made("lorenz63", rho=0.5, skip=70)).max() < 1e-12


@pytest.mark.parametrize(("tau", "step"), [(17.0, 1.0), (17.33, 0.7), (0.03, 1.0)])
def test_mackey_glass_does_not_depend_on_its_sub_step(monkeypatch, tau, step):
    options = {"step": step, "tau": tau, "skip": 0}
    found = systems.mackey_glass(200, **options)
    halved(monkeypatch, "mackey_glass")
    finer = systems.mackey_glass(200, **options)
    assert np.abs(found - finer).max() < 3e-9
    if tau > SUBSTEP["mackey_glass"]:
        assert np.abs(found - finer).max() > 0
        halved(monkeypatch, "mackey_glass")
        finest = systems.mackey_glass(200, **options)
        assert np.abs(finer - finest).max() < np.abs(found - finer).max() / 10


def test_mackey_glass_follows_its_equation():
    """The first two delays by an adaptive method, from a history that is constant."""
    beta, gamma, power, tau = 0.3, 0.15, 8, 5.3
    options = {"beta": beta, "gamma": gamma, "power": power, "tau": tau, "skip": 0}
    found = systems.mackey_glass(100, tau / 50, **options)
    first = found[0]
    assert 0.5 <= first <= 1.3
    history = [lambda t: first]
    times = np.linspace(0, tau, 51)
    for part in (found[:51], found[50:]):

        def right(t, x, before=history[-1]):
            delayed = before(t)
            return beta * delayed / (1 + delayed**power) - gamma * x

        solved = solve_ivp(
            right, (0, tau), part[:1], "DOP853", rtol=1e-11, atol=1e-11, dense_output=True
        ).sol
        history.append(lambda t, solved=solved: solved(t)[0])
        np.testing.assert_allclose(part, solved(times[: len(part)])[0], atol=1e-8)


def test_mackey_glass_at_its_fixed_point_and_in_its_range():
    values = systems.mackey_glass(3000, random_state=3)
    assert 0.2 < values.min() < 0.5 and 1.2 < values.max() < 1.4
    # Below tau of about 4.7 the fixed point beta / (1 + x ** power) = gamma is stable.
    np.testing.assert_allclose(systems.mackey_glass(50, tau=2.0), 1.0, atol=1e-12)
    np.testing.assert_allclose(
        systems.mackey_glass(50, tau=2.0, beta=0.3), 2**0.1, rtol=0, atol=1e-12
    )


def test_kuramoto_sivashinsky_follows_its_equation():
    found = systems.kuramoto_sivashinsky(5, 0.25, skip=50)
    k = 2 * np.pi / 22 * np.fft.fftfreq(64, 1 / 64)

    def right(t, u):
        derivatives = np.fft.ifft(np.fft.fft(u) * (1j * k)[:, None].T ** np.array([[1], [2], [4]]))
        first, second, fourth = derivatives.real
        return -u * first - second - fourth

    times = np.arange(5) * 0.25
    exact = solve_ivp(right, (0, 1), found[0], "DOP853", t_eval=times, rtol=1e-10, atol=1e-10).y.T
    np.testing.assert_allclose(found, exact, atol=1e-7)
    assert np.abs(found[-1] - found[0]).max() > 0.1


def test_kuramoto_sivashinsky_on_a_finer_step_and_circle(monkeypatch):
    found = systems.kuramoto_sivashinsky(11, 1.0, skip=0)
    odd = systems.kuramoto_sivashinsky(11, 1.0, skip=0, size=65)
    halved(monkeypatch, "kuramoto_sivashinsky")
    finer = systems.kuramoto_sivashinsky(11, 1.0, skip=0, size=128)
    np.testing.assert_allclose(found, finer[:, ::2], atol=1e-7)
    np.testing.assert_allclose(odd[:, 0], finer[:, 0], atol=1e-7)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_kuramoto_sivashinsky_is_exact_over_a_lyapunov_time(seed):
    """Against RK4 with an integrating factor, on twice the points and a quarter of the sub-step."""
    time = 1 / LYAPUNOV["kuramoto_sivashinsky"]
    found = systems.kuramoto_sivashinsky(2, time, skip=50, random_state=seed)
    k = 2 * np.pi / 22 * np.arange(65)
    count = 4 * round(time / SUBSTEP["kuramoto_sivashinsky"])
    h = time / count
    half = np.exp(h / 2 * (k**2 - k**4))

    def product(v):
        return h * -0.5j * k * np.fft.rfft(np.fft.irfft(v, 128) ** 2)

    v = np.zeros(65, dtype=complex)
    v[:32] = 2 * np.fft.rfft(found[0])[:32]
    for _ in range(count):
        a = product(v)
        b = product(half * (v + a / 2))
        c = product(half * v + b / 2)
        d = product(half * (half * v + c))
        v = half * (half * (v + a / 6) + (b + c) / 3) + d / 6
    exact = np.fft.irfft(v, 128)[::2]
    assert np.abs(found[1] - exact).max() < 6e-8 * np.abs(exact).max()
    assert np.abs(found[1] - found[0]).max() > 0.1


@pytest.fixture(scope="module")
def front():
    return systems.kuramoto_sivashinsky(100, 1.5, skip=100)


def test_kuramoto_sivashinsky_keeps_its_mean_and_bounds_its_energy(front):
    assert np.abs(front.mean(axis=1)).max() < 1e-14
    energy = (front**2).mean(axis=1)
    assert energy.min() > 0.5 and energy.max() < 4 and 1.2 < energy.mean() < 1.7
    # A circle too short for an unstable wave comes to rest.
    assert np.abs(systems.kuramoto_sivashinsky(2, length=5.0, size=16, skip=60)).max() < 1e-12


def test_narma10_by_a_plain_loop():
    u, y = systems.narma10(300, skip=0, random_state=5)
    assert 0 <= u.min() < 0.01 and 0.49 < u.max() <= 0.5
    expected = np.zeros(300)
    for t in range(9, 299):
        total = sum(expected[t - i] for i in range(10))
        product = u[t - 9] * u[t]
        expected[t + 1] = 0.3 * expected[t] + 0.05 * expected[t] * total + 1.5 * product + 0.1
    np.testing.assert_allclose(y, expected, rtol=1e-12)
    assert (y[:10] == 0).all() and (y[10:] > 0.1).all()


def test_narma10_draws_again_where_it_diverges(monkeypatch):
    diverging = np.random.RandomState(142)
    first = diverging.uniform(0, 0.5, size=2200)
    with np.errstate(over="ignore"):
        assert systems._narma10(first).max() > 1e6
    u, y = systems.narma10(2000, random_state=142)
    assert y.max() < 1.2
    np.testing.assert_array_equal(u, diverging.uniform(0, 0.5, size=2200)[200:])
    monkeypatch.setattr(systems, "_DRAWS", 1)
    with pytest.raises(ValueError, match="diverged for 1 draws of steps=2000 .* fewer steps"):
        systems.narma10(2000, random_state=142)


def test_henon_is_its_recursion():
    x, y = systems.henon(1000, a=1.2, b=0.25, random_state=2).T
    np.testing.assert_allclose(x[1:], 1 - 1.2 * x[:-1] ** 2 + y[:-1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(y[1:], 0.25 * x[:-1], rtol=0, atol=1e-15)
    x, y = systems.henon(1000).T
    assert -1.3 < x.min() < -1.2 and 1.2 < x.max() < 1.3


def test_superimposed_oscillators_are_sums_of_sines():
    usual = [0.2, 0.331, 0.42, 0.51, 0.63, 0.74, 0.85, 0.97]
    for values, waves in (
        (systems.superimposed_oscillators(400), usual),
        (systems.superimposed_oscillators(400, frequencies=usual[:2]), usual[:2]),
    ):
        expected = [sum(np.sin(wave * t) for wave in waves) for t in range(400)]
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
    for wrong in ([], [np.nan], [[0.2]], 0.2, ["a"], None):
        with pytest.raises(ValueError, match="frequencies=.* a sequence of finite numbers"):
            systems.superimposed_oscillators(5, frequencies=wrong)


def growth(advance, states, rounds, time, leave):
    """Rate at which pairs of trajectories part, brought near again after each round (Benettin).

    ``advance`` moves ``states (components, trajectories)`` on by ``time``; the first ``leave``
    rounds turn differences into the direction that grows fastest.
    """
    size = 1e-7
    d = np.random.RandomState(0).normal(size=states.shape)
    rates = []
    for _ in range(rounds):
        others = states + d * (size / np.linalg.norm(d, axis=0))
        states, others = advance(states), advance(others)
        d = others - states
        rates.append(np.log(np.linalg.norm(d, axis=0) / size).mean() / time)
    return np.mean(rates[leave:])


def test_exponent_of_lorenz63():
    advance = systems._rk4(lambda *v: lorenz63(0, v), 0.01)
    states = systems.lorenz63(300, 0.3).T
    rate = growth(lambda s: np.array(advance(s, 50)), states, 80, 0.5, 10)
    assert rate == pytest.approx(LYAPUNOV["lorenz63"], rel=0.03)


def test_exponent_of_lorenz96():
    advance = systems._rk4(lambda x: [lorenz96(0, x)], 0.01)
    states = systems.lorenz96(100, 0.3).T
    rate = growth(lambda s: advance([s], 20)[0], states, 150, 0.2, 50)
    assert rate == pytest.approx(LYAPUNOV["lorenz96"], rel=0.05)


def test_exponent_of_rossler():
    advance = systems._rk4(lambda *v: rossler(0, v), 0.04)
    states = systems.rossler(300, 1.5).T
    rate = growth(lambda s: np.array(advance(s, 125)), states, 70, 5.0, 25)
    assert rate == pytest.approx(LYAPUNOV["rossler"], rel=0.1)


def test_exponent_of_henon():
    states = systems.henon(500).T
    rate = growth(lambda s: np.array([1 - 1.4 * s[0] ** 2 + s[1], 0.3 * s[0]]), states, 600, 1, 50)
    assert rate == pytest.approx(LYAPUNOV["henon"], rel=0.02)


def test_exponent_of_kuramoto_sivashinsky(front):
    advance = systems._etdrk4(64, 22.0, 0.25)
    rate = growth(
        lambda s: np.fft.irfft(advance(np.fft.rfft(s.T), 40), 64).T, front[::2].T, 80, 10.0, 10
    )
    assert rate == pytest.approx(LYAPUNOV["kuramoto_sivashinsky"], rel=0.1)


def test_exponent_of_mackey_glass():
    """A small difference along a trajectory obeys a linear equation; by the trapezoidal rule."""
    h, delay, rows = 0.1, 170, 800_000
    q = systems.mackey_glass(rows, h) ** 10
    slope = (0.2 * (1 - 9 * q) / (1 + q) ** 2).tolist()
    d, grown, since = [1.0] * (delay + 1), 0.0, 0
    c = 0.1 * h / 2
    for i in range(delay, rows - 1):
        delayed = slope[i - delay] * d[-delay - 1] + slope[i - delay + 1] * d[-delay]
        d.append(((1 - c) * d[-1] + h / 2 * delayed) / (1 + c))
        if len(d) == 3000:
            d = d[-delay - 1 :]
            size = max(map(abs, d))
            d = [value / size for value in d]
            grown, since = (grown + np.log(size), since) if since else (0.0, i)
            until = i
    rate = grown / ((until - since) * h)
    assert rate == pytest.approx(LYAPUNOV["mackey_glass"], rel=0.1)
