"""The equation of Kuramoto and Sivashinsky, on Fourier coefficients."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, pi
from typing import Any

import numpy as np

from echofold._data.arguments import check_integer, check_number, refuse
from echofold.systems._common import SUBSTEP, check_times, finite, generator, parts


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
    steps : int
        Rows to make.
    step : float, default=0.25
        Time from one row to the next.
    length : float, default=22.0
        Length of the circle.
    size : int, default=64
        Points on the circle, at least ``length``; two for each unit of length resolve it.
    skip : float, default=200.0
        Time before the first row, in which the state comes to the attractor.
    random_state : int, RandomState, Generator or None, default=0
        Draws the unstable waves of the initial state.

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
    >>> values = kuramoto_sivashinsky(100, skip=20.0)
    >>> values.shape
    (100, 64)
    >>> bool(abs(values.mean(axis=1)).max() < 1e-12)
    True
    """
    check_times(steps, step, skip)
    check_number("length", length, "a positive number", lambda value: value > 0)
    check_integer("size", size, 4)
    if size < length:
        refuse("size", size, f"at least length={length!r}, so that waves are resolved")
    unstable = max(1, floor(length / (2 * pi)))
    spectrum = np.zeros(size // 2 + 1, dtype=complex)
    drawn = generator(random_state).normal(size=(unstable, 2))
    spectrum[1 : unstable + 1] = drawn.view(complex)[:, 0] * size / 2 / np.sqrt(unstable)
    count, h = parts(skip, SUBSTEP["kuramoto_sivashinsky"])
    spectrum = _etdrk4(size, length, h)(spectrum, count)
    count, h = parts(step, SUBSTEP["kuramoto_sivashinsky"])
    advance = _etdrk4(size, length, h)
    rows = np.empty((steps, size))
    for i in range(steps):
        rows[i] = np.fft.irfft(spectrum, size)
        if i < steps - 1:
            spectrum = advance(spectrum, count)
    return finite("kuramoto_sivashinsky", rows, {"length": length, "size": size})


def _etdrk4(size: int, length: float, h: float) -> Callable[[np.ndarray, int], np.ndarray]:
    """A function that moves spectra ``(..., size // 2 + 1)`` on by a number of sub-steps ``h``."""
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
