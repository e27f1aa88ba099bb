"""Chaotic and other systems to test on, made by our own code.

Flows are given at times ``skip + i * step`` and integrated in equal sub-steps, short enough for
an error of about 1e-8 of the values over one Lyapunov time. The same seed gives the same bits on
the same machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from math import ceil, exp, floor, inf, pi
from typing import Any

import numpy as np

from echofold._data.arguments import check_count, check_integer, check_number, refuse, seed_of

__all__ = [
    "LYAPUNOV", "henon", "kuramoto_sivashinsky", "lorenz63", "lorenz96", "mackey_glass", "narma10",
    "rossler", "superimposed_oscillators",
]  # fmt: skip

#: Largest Lyapunov exponents at the default parameters, by the name of the function, for each unit
#: of the system's time (each step of a map). Small errors grow by e in ``1 / LYAPUNOV[name]``.
LYAPUNOV = {
    "lorenz63": 0.9056,  # Sprott 2003
    "lorenz96": 1.68,  # measured; Lorenz and Emanuel 1998: errors double in 2.1 days, 1.65
    "rossler": 0.0714,  # Sprott 2003
    "mackey_glass": 0.0051,  # measured; 0.006 and 0.007 are quoted too
    "kuramoto_sivashinsky": 0.048,  # Cvitanović, Davidchack and Siminos 2010
    "henon": 0.4192,  # Sprott 2003
}

_SUBSTEP = {  # the longest
    "lorenz63": 0.001,
    "lorenz96": 0.002,
    "rossler": 0.004,
    "mackey_glass": 0.1,
    "kuramoto_sivashinsky": 0.01,
}
_FREQUENCIES = (0.2, 0.331, 0.42, 0.51, 0.63, 0.74, 0.85, 0.97)
_LIMIT = 0.7 + 0.29**0.5  # a constant output of NARMA10 above it grows even without inputs
_DRAWS = 10
_State = Sequence[Any]  # components: floats, or arrays of one shape
_Advance = Callable[[Any, int], Any]  # moves a state on by a number of sub-steps


def lorenz63(
    steps: int,
    step: float = 0.01,
    *,
    sigma: float = 10.0,
    rho: float = 28.0,
    beta: float = 8 / 3,
    skip: float = 20.0,
    random_state: Any = 0,
) -> np.ndarray:
    """The three equations of Lorenz (1963), convection in a fluid heated from below.

    Parameters
    ----------
    steps : int
        Rows to make.
    step : float, default=0.01
        Time from one row to the next.
    sigma, rho, beta : float
        Parameters of the equations.
    skip : float, default=20.0
        Time before the first row, in which the state comes to the attractor.
    random_state : int, RandomState, Generator or None, default=0
        Draws the initial state.

    Returns
    -------
    ndarray of shape (steps, 3)

    Notes
    -----
    ``x' = sigma (y - x)``, ``y' = x (rho - z) - y``, ``z' = x y - beta z``, by RK4 in
    sub-steps of at most 0.001.

    Examples
    --------
    >>> from echofold.systems import lorenz63
    >>> lorenz63(1000).shape
    (1000, 3)
    """
    parameters = _numbers(sigma=sigma, rho=rho, beta=beta)
    sigma, rho, beta = parameters.values()
    start = _generator(random_state).uniform([-10, -10, 15], [10, 10, 35]).tolist()
    moving = partial(_rk4, lambda x, y, z: (sigma * (y - x), x * (rho - z) - y, x * y - beta * z))
    return _flow("lorenz63", moving, start, (steps, step, skip), parameters)


def lorenz96(
    steps: int,
    step: float = 0.01,
    *,
    size: int = 40,
    forcing: float = 8.0,
    skip: float = 20.0,
    random_state: Any = 0,
) -> np.ndarray:
    """The ring of equations of Lorenz (1996), a quantity of the weather along a circle.

    Parameters
    ----------
    steps, step, skip, random_state
        As of `lorenz63`; a ``step`` of 0.05 stands for six hours.
    size : int, default=40
        Places on the circle, at least 4.
    forcing : float, default=8.0
        What drives each of them.

    Returns
    -------
    ndarray of shape (steps, size)

    Notes
    -----
    ``x[i]' = (x[i + 1] - x[i - 2]) x[i - 1] - x[i] + forcing``, with indices modulo ``size``, by
    RK4 in sub-steps of at most 0.002.

    Examples
    --------
    >>> from echofold.systems import lorenz96
    >>> lorenz96(100, size=10).shape
    (100, 10)
    """
    check_integer("size", size, 4)
    parameters = _numbers(forcing=forcing)
    forcing = parameters["forcing"]
    start = [forcing + _generator(random_state).normal(size=size)]
    next_, last, before = ((np.arange(size) + shift) % size for shift in (1, -1, -2))
    moving = partial(_rk4, lambda x: ((x[next_] - x[before]) * x[last] - x + forcing,))
    return _flow("lorenz96", moving, start, (steps, step, skip), parameters)


def rossler(
    steps: int,
    step: float = 0.1,
    *,
    a: float = 0.2,
    b: float = 0.2,
    c: float = 5.7,
    skip: float = 200.0,
    random_state: Any = 0,
) -> np.ndarray:
    """The three equations of Rössler (1976), a spiral that folds back into itself.

    Parameters
    ----------
    steps, step, skip, random_state
        As of `lorenz63`; a turn takes a time of about 6.
    a, b, c : float
        Parameters of the equations.

    Returns
    -------
    ndarray of shape (steps, 3)

    Notes
    -----
    ``x' = -y - z``, ``y' = x + a y``, ``z' = b + z (x - c)``, by RK4 in sub-steps of at most
    0.004.

    Examples
    --------
    >>> from echofold.systems import rossler
    >>> rossler(1000).shape
    (1000, 3)
    """
    parameters = _numbers(a=a, b=b, c=c)
    a, b, c = parameters.values()
    start = _generator(random_state).uniform([-5, -5, 0], [5, 5, 1]).tolist()
    moving = partial(_rk4, lambda x, y, z: (-y - z, x + a * y, b + z * (x - c)))
    return _flow("rossler", moving, start, (steps, step, skip), parameters)


def _flow(
    name: str,
    moving: Callable[[float], _Advance],
    state: Any,
    times: tuple[int, float, float],
    parameters: dict[str, Any],
) -> np.ndarray:
    """The components ``(steps, components)`` of a flow at multiples of ``step`` after ``skip``.

    ``moving`` makes, of the length of a sub-step, what moves a state on by a number of them.
    """
    _check_times(*times)
    steps, step, skip = times
    count, h = _parts(skip, _SUBSTEP[name])
    rows = [moving(h)(state, count)]
    count, h = _parts(step, _SUBSTEP[name])
    advance = moving(h)
    for _ in range(steps - 1):
        rows.append(advance(rows[-1], count))
    values = np.array(rows).reshape(steps, -1)
    return _finite(name, values, parameters)


def _rk4(right: Callable[..., _State], h: float) -> _Advance:
    """The classical method of Runge and Kutta, of the derivatives of the components."""

    def advance(state: _State, count: int) -> _State:
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(count):
                a = right(*state)
                b = right(*[x + h / 2 * d for x, d in zip(state, a, strict=True)])
                c = right(*[x + h / 2 * d for x, d in zip(state, b, strict=True)])
                d = right(*[x + h * d for x, d in zip(state, c, strict=True)])
                slopes = zip(state, a, b, c, d, strict=True)
                state = [x + h / 6 * (p + 2 * (q + r) + s) for x, p, q, r, s in slopes]
        return state

    return advance


def mackey_glass(
    steps: int,
    step: float = 1.0,
    *,
    tau: float = 17.0,
    beta: float = 0.2,
    gamma: float = 0.1,
    power: float = 10,
    skip: float = 1000.0,
    random_state: Any = 0,
) -> np.ndarray:
    """The delay equation of Mackey and Glass (1977), the making of blood cells.

    Parameters
    ----------
    steps, step, skip, random_state
        As of `lorenz63`; what is drawn is the value that all times before the start have.
    tau, beta, gamma, power : float
        Delay and parameters of the equation, all positive.

    Returns
    -------
    ndarray of shape (steps,)

    Notes
    -----
    ``x'(t) = beta x(t - tau) / (1 + x(t - tau) ** power) - gamma x(t)``. Production is known over
    the next ``tau``, and decay is linear: RK4 with the integrating factor ``exp(gamma t)`` is
    Simpson's rule. Delayed values are cubic Hermite interpolations, of the same order, and
    sub-steps at most 0.1.

    Examples
    --------
    >>> from echofold.systems import mackey_glass
    >>> values = mackey_glass(1000)
    >>> bool(values.min() > 0.2), bool(values.max() < 1.4)
    (True, True)
    """
    _check_times(steps, step, skip)
    given = _numbers("a positive number", 0, tau=tau, beta=beta, gamma=gamma, power=power)
    start = _generator(random_state).uniform(0.5, 1.3)
    times = skip + step * np.arange(steps)
    return _mackey_glass(start, times, **given)


def _mackey_glass(
    start: float, times: np.ndarray, tau: float, beta: float, gamma: float, power: float
) -> np.ndarray:
    """Values at ascending times, computed in blocks of one delay, at whose ends kinks may be.

    A block is ``count`` sub-steps ``h`` long; ``x`` are its values and ``slope`` is ``h x'``.
    """
    count, h = _parts(tau, _SUBSTEP["mackey_glass"])
    decay, half = exp(-gamma * h), exp(-gamma * h / 2)

    def production(x: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return beta * x / (1 + x**power)

    positions, values, done, end = times / h, np.empty(len(times)), 0, 0
    x, slope = np.full(count + 1, start), np.zeros(count + 1)
    while done < len(times):
        made = production(x)
        between = production((x[:-1] + x[1:]) / 2 + (slope[:-1] - slope[1:]) / 8)
        gain = h / 6 * (decay * made[:-1] + 4 * half * between + made[1:])
        grown = accumulate(gain.tolist(), lambda x, g: decay * x + g, initial=x[-1].item())
        x = np.fromiter(grown, float, count + 1)
        slope = h * (made - gamma * x)
        inside = positions[done : np.searchsorted(positions, end + count, "right")] - end
        values[done : done + len(inside)] = _hermite(x, slope, inside)
        done, end = done + len(inside), end + count
    return values


def _hermite(x: np.ndarray, slope: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The cubic through values and slopes at 0, 1, ..., at positions between them."""
    i = np.minimum(positions.astype(int), len(x) - 2)
    s = positions - i
    ends = (1 + 2 * s) * x[i] + s * slope[i], (3 - 2 * s) * x[i + 1] + (s - 1) * slope[i + 1]
    return (1 - s) ** 2 * ends[0] + s**2 * ends[1]


def kuramoto_sivashinsky(
    steps: int,
    step: float = 0.25,
    *,
    length: float = 22.0,
    size: int = 64,
    skip: float = 200.0,
    random_state: Any = 0,
) -> np.ndarray:
    """The equation of Kuramoto (1978) and Sivashinsky (1977), a front of flames on a circle.

    Parameters
    ----------
    steps, step, skip, random_state
        As of `lorenz63`; what is drawn are the unstable waves of the initial state.
    length : float, default=22.0
        Length of the circle.
    size : int, default=64
        Points on the circle, at least ``length``; two for each unit of length resolve it.

    Returns
    -------
    ndarray of shape (steps, size)
        At ``length * j / size``, with a mean of 0 over the circle.

    Notes
    -----
    ``u_t = -u u_x - u_xx - u_xxxx``, by ETDRK4 on Fourier coefficients (Kassam and Trefethen
    2005), in sub-steps of at most 0.01.

    Examples
    --------
    >>> from echofold.systems import kuramoto_sivashinsky
    >>> kuramoto_sivashinsky(100, skip=20.0).shape
    (100, 64)
    """
    check_number("length", length, "a positive number", above=0)
    check_integer("size", size, 4)
    if size < length:
        refuse("size", size, f"at least length={length!r}, so that waves are resolved")
    unstable = max(1, floor(length / (2 * pi)))
    spectrum = np.zeros(size // 2 + 1, dtype=complex)
    drawn = _generator(random_state).normal(size=(unstable, 2))
    spectrum[1 : unstable + 1] = drawn.view(complex)[:, 0] * size / 2 / np.sqrt(unstable)
    parameters = {"length": length, "size": size}
    moving = partial(_etdrk4, size, length)
    spectra = _flow("kuramoto_sivashinsky", moving, spectrum, (steps, step, skip), parameters)
    return np.array([np.fft.irfft(one, size) for one in spectra])


def _etdrk4(size: int, length: float, h: float) -> _Advance:
    """Exponential time differencing of spectra ``(..., size // 2 + 1)``."""
    k = 2 * pi / length * np.arange(size // 2 + 1)
    linear = h * (k**2 - k**4)
    # Means over a circle: near 0 the fractions themselves lose all digits to cancellation.
    z = linear[:, None] + np.exp(1j * pi * (np.arange(32) + 0.5) / 32)
    e = np.exp(z)
    fractions = (
        (np.exp(z / 2) - 1) / z,
        (-4 - z + e * (4 - 3 * z + z**2)) / z**3,
        (4 + 2 * z + e * (2 * z - 4)) / z**3,
        (-4 - 3 * z - z**2 + e * (4 - z)) / z**3,
    )
    q, f1, f2, f3 = (h * fraction.mean(axis=1).real for fraction in fractions)
    whole, half = np.exp(linear), np.exp(linear / 2)
    factor = -0.5j * k
    if size % 2 == 0:
        factor[-1] = 0  # the highest wave of an even number of points has no derivative there

    def nonlinear(v: np.ndarray) -> np.ndarray:
        return factor * np.fft.rfft(np.fft.irfft(v, size) ** 2)

    def advance(v: np.ndarray, count: int) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(count):
                at_v = nonlinear(v)
                a = half * v + q * at_v
                at_a = nonlinear(a)
                at_b = nonlinear(half * v + q * at_a)
                at_c = nonlinear(half * a + q * (2 * at_b - at_v))
                v = whole * v + f1 * at_v + f2 * (at_a + at_b) + f3 * at_c
        return v

    return advance


def narma10(steps: int, *, skip: int = 200, random_state: Any = 0) -> tuple[np.ndarray, np.ndarray]:
    """The nonlinear moving average of order 10 of Atiya and Parlos (2000), with its inputs.

    Parameters
    ----------
    steps : int
        Values to make.
    skip : int, default=200
        Steps before the first value; the recursion starts at 0.
    random_state : int, RandomState, Generator or None, default=0
        Draws the inputs.

    Returns
    -------
    inputs : ndarray of shape (steps,)
        Uniform in [0, 0.5].
    outputs : ndarray of shape (steps,)

    Raises
    ------
    ValueError
        If ten draws of the inputs diverge.

    Notes
    -----
    ``y[t + 1] = 0.3 y[t] + 0.05 y[t] (y[t] + ... + y[t - 9]) + 1.5 u[t - 9] u[t] + 0.1``. Some
    inputs make it diverge; all of them are then drawn again, by the same generator.

    Examples
    --------
    >>> from echofold.systems import narma10
    >>> inputs, outputs = narma10(1000)
    >>> bool(outputs.max() < 1)
    True
    """
    check_count("steps", steps)
    check_integer("skip", skip, 0)
    drawing = _generator(random_state)
    for _ in range(_DRAWS):
        u = drawing.uniform(0, 0.5, size=skip + steps)
        y = _narma10(u)
        if y.max() < _LIMIT:
            return u[skip:], y[skip:]
    raise ValueError(
        f"narma10 diverged for {_DRAWS} draws of steps={steps} and skip={skip} inputs; "
        "ask for fewer steps, or for another random_state."
    )


def _narma10(u: np.ndarray) -> np.ndarray:
    """Outputs for inputs; the first ten are 0."""
    inputs = u.tolist()
    y = [0.0] * 10
    for t in range(9, len(inputs) - 1):
        y.append(0.3 * y[t] + 0.05 * y[t] * sum(y[-10:]) + 1.5 * inputs[t - 9] * inputs[t] + 0.1)
    return np.array(y[: len(inputs)])


def henon(
    steps: int, *, a: float = 1.4, b: float = 0.3, skip: int = 1000, random_state: Any = 0
) -> np.ndarray:
    """The map of Hénon (1976).

    Parameters
    ----------
    steps, random_state
        As of `lorenz63`.
    a, b : float
        Parameters of the map.
    skip : int, default=1000
        Steps before the first row, in which the state comes to the attractor.

    Returns
    -------
    ndarray of shape (steps, 2)

    Notes
    -----
    ``x[t + 1] = 1 - a x[t] ** 2 + y[t]``, ``y[t + 1] = b x[t]``.

    Examples
    --------
    >>> from echofold.systems import henon
    >>> x, y = henon(1000).T
    >>> bool(abs(y[1:] - 0.3 * x[:-1]).max() < 1e-15)
    True
    """
    check_count("steps", steps)
    check_integer("skip", skip, 0)
    parameters = _numbers(a=a, b=b)
    a, b = parameters.values()
    x, y = _generator(random_state).uniform(-0.1, 0.1, size=2).tolist()
    rows = []
    for _ in range(skip + steps):
        rows.append((x, y))
        x, y = 1 - a * x * x + y, b * x
    return _finite("henon", np.array(rows[skip:]), parameters)


def superimposed_oscillators(
    steps: int, *, frequencies: Sequence[float] = _FREQUENCIES
) -> np.ndarray:
    """The sum of sine waves whose periods have no common multiple, known as MSO.

    Parameters
    ----------
    steps : int
        Values to make.
    frequencies : sequence of float
        Of each wave, in radians a step. The usual tasks take the first 2, 5 or 8 of 0.2, 0.331,
        0.42, 0.51, 0.63, 0.74, 0.85 and 0.97, which are the default.

    Returns
    -------
    ndarray of shape (steps,)
        ``sum(sin(frequency * t))`` for ``t = 0, 1, ...``.

    Examples
    --------
    >>> from echofold.systems import superimposed_oscillators
    >>> superimposed_oscillators(3, frequencies=[0.2, 0.331]).round(3)
    array([0.   , 0.524, 1.004])
    """
    check_count("steps", steps)
    try:
        waves = np.asarray(frequencies, dtype=float)
    except (TypeError, ValueError):
        waves = np.empty(0)
    if waves.ndim != 1 or waves.size == 0 or not np.isfinite(waves).all():
        refuse("frequencies", frequencies, "a sequence of finite numbers, one at least")
    return np.sin(np.outer(np.arange(steps), waves)).sum(axis=1)


def _generator(random_state: Any) -> np.random.RandomState:
    """What draws the start of a system."""
    return np.random.RandomState(seed_of(random_state) % 2**32)


def _check_times(steps: Any, step: Any, skip: Any) -> None:
    """Raise unless the times of a flow are allowed."""
    check_count("steps", steps)
    check_number("step", step, "a positive number", above=0)
    check_number("skip", skip, "a number of at least 0", least=0)


def _numbers(
    expected: str = "a finite number", above: float = -inf, **parameters: Any
) -> dict[str, float]:
    """Parameters as floats, which are faster than the scalars of NumPy."""
    for name, value in parameters.items():
        check_number(name, value, expected, above=above)
    return {name: float(value) for name, value in parameters.items()}


def _parts(duration: float, largest: float) -> tuple[int, float]:
    """The number and the length of equal parts of a duration, none longer than ``largest``."""
    count = ceil(duration / largest)
    return count, float(duration) / max(count, 1)


def _finite(name: str, values: np.ndarray, parameters: dict[str, Any]) -> np.ndarray:
    """The values, unless they ran away."""
    if not np.isfinite(values).all():
        given = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
        raise ValueError(
            f"{name} runs away to infinity with {given}; use parameters near the defaults, "
            "or another random_state."
        )
    return values
