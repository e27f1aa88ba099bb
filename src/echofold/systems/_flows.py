"""Flows of few equations, by the classical method of Runge and Kutta."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from echofold._data.arguments import check_integer
from echofold.systems._common import SUBSTEP, check_times, finite, generator, numbers, parts

_State = Sequence[Any]  # components: floats, or arrays of one shape
_Right = Callable[..., _State]  # derivatives of the components


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
    >>> values = lorenz63(1000)
    >>> values.shape
    (1000, 3)
    >>> bool(values[:, 2].min() > 0)
    True
    """
    parameters = numbers(sigma=sigma, rho=rho, beta=beta)
    start = generator(random_state).uniform([-10, -10, 15], [10, 10, 35]).tolist()
    return _flow("lorenz63", _lorenz63(**parameters), start, steps, step, skip, parameters)


def _lorenz63(sigma: float, rho: float, beta: float) -> _Right:
    return lambda x, y, z: (sigma * (y - x), x * (rho - z) - y, x * y - beta * z)


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
    steps : int
        Rows to make.
    step : float, default=0.01
        Time from one row to the next; 0.05 stands for six hours.
    size : int, default=40
        Places on the circle, at least 4.
    forcing : float, default=8.0
        What drives each of them.
    skip : float, default=20.0
        Time before the first row, in which the state comes to the attractor.
    random_state : int, RandomState, Generator or None, default=0
        Draws the initial state.

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
    parameters = numbers(forcing=forcing)
    start = [parameters["forcing"] + generator(random_state).normal(size=size)]
    right = _lorenz96(size, **parameters)
    return _flow("lorenz96", right, start, steps, step, skip, parameters)


def _lorenz96(size: int, forcing: float) -> _Right:
    next_, last, before = ((np.arange(size) + shift) % size for shift in (1, -1, -2))
    return lambda x: ((x[next_] - x[before]) * x[last] - x + forcing,)


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
    steps : int
        Rows to make.
    step : float, default=0.1
        Time from one row to the next; a turn takes about 6.
    a, b, c : float
        Parameters of the equations.
    skip : float, default=200.0
        Time before the first row, in which the state comes to the attractor.
    random_state : int, RandomState, Generator or None, default=0
        Draws the initial state.

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
    >>> values = rossler(1000)
    >>> values.shape
    (1000, 3)
    >>> bool(values[:, 2].min() > 0)
    True
    """
    parameters = numbers(a=a, b=b, c=c)
    start = generator(random_state).uniform([-5, -5, 0], [5, 5, 1]).tolist()
    return _flow("rossler", _rossler(**parameters), start, steps, step, skip, parameters)


def _rossler(a: float, b: float, c: float) -> _Right:
    return lambda x, y, z: (-y - z, x + a * y, b + z * (x - c))


def _flow(
    name: str,
    right: _Right,
    start: _State,
    steps: int,
    step: float,
    skip: float,
    parameters: dict[str, float],
) -> np.ndarray:
    """The components ``(steps, components)`` of a flow at multiples of ``step`` after ``skip``."""
    check_times(steps, step, skip)
    state = _rk4(right, start, *parts(skip, SUBSTEP[name]))
    sub_steps = parts(step, SUBSTEP[name])
    rows = [state]
    for _ in range(steps - 1):
        rows.append(_rk4(right, rows[-1], *sub_steps))
    return finite(name, np.array(rows).reshape(steps, -1), parameters)


def _rk4(right: _Right, state: _State, count: int, h: float) -> _State:
    """A state after ``count`` sub-steps ``h`` of the classical method of Runge and Kutta."""
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(count):
            a = right(*state)
            b = right(*[x + h / 2 * d for x, d in zip(state, a, strict=True)])
            c = right(*[x + h / 2 * d for x, d in zip(state, b, strict=True)])
            d = right(*[x + h * d for x, d in zip(state, c, strict=True)])
            slopes = zip(state, a, b, c, d, strict=True)
            state = [x + h / 6 * (p + 2 * (q + r) + s) for x, p, q, r, s in slopes]
    return state
