"""Maps and other tasks in steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from echofold._data.arguments import check_count, check_integer, refuse
from echofold.systems._common import finite, generator, numbers

_FREQUENCIES = (0.2, 0.331, 0.42, 0.51, 0.63, 0.74, 0.85, 0.97)
_LIMIT = 0.7 + 0.29**0.5  # a constant output of NARMA10 above it grows even without inputs
_DRAWS = 10


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
    drawing = generator(random_state)
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
    steps : int
        Rows to make.
    a, b : float
        Parameters of the map.
    skip : int, default=1000
        Steps before the first row, in which the state comes to the attractor.
    random_state : int, RandomState, Generator or None, default=0
        Draws the initial state.

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
    parameters = numbers(a=a, b=b)
    a, b = parameters.values()
    x, y = generator(random_state).uniform(-0.1, 0.1, size=2).tolist()
    rows = []
    for _ in range(skip + steps):
        rows.append((x, y))
        x, y = 1 - a * x * x + y, b * x
    return finite("henon", np.array(rows[skip:]), parameters)


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
