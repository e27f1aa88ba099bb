"""The delay equation of Mackey and Glass."""

from __future__ import annotations

from itertools import accumulate
from math import exp
from typing import Any

import numpy as np

from echofold._data.arguments import check_number
from echofold.systems._common import SUBSTEP, check_times, generator, parts


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
    steps : int
        Values to make.
    step : float, default=1.0
        Time from one value to the next.
    tau, beta, gamma, power : float
        Delay and parameters of the equation, all positive.
    skip : float, default=1000.0
        Time before the first value, in which it comes to the attractor.
    random_state : int, RandomState, Generator or None, default=0
        Draws the value that all times before the start have.

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
    check_times(steps, step, skip)
    given = {"tau": tau, "beta": beta, "gamma": gamma, "power": power}
    for name, value in given.items():
        check_number(name, value, "a positive number", lambda value: value > 0)
    start = generator(random_state).uniform(0.5, 1.3)
    times = skip + step * np.arange(steps)
    return _mackey_glass(start, times, **{name: float(value) for name, value in given.items()})


def _mackey_glass(
    start: float, times: np.ndarray, tau: float, beta: float, gamma: float, power: float
) -> np.ndarray:
    """Values at ascending times, computed in blocks of one delay, at whose ends kinks may be.

    A block is ``count`` sub-steps ``h`` long; ``x`` are its values and ``slope`` is ``h x'``.
    """
    count, h = parts(tau, SUBSTEP["mackey_glass"])
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
