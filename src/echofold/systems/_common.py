"""What the systems share: sub-steps, checked arguments, a generator of starts."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from echofold._data.arguments import check_count, check_number, seed_of

SUBSTEP = {  # the longest
    "lorenz63": 0.001,
    "lorenz96": 0.002,
    "rossler": 0.004,
    "mackey_glass": 0.1,
    "kuramoto_sivashinsky": 0.01,
}


def generator(random_state: Any) -> np.random.RandomState:
    """What draws the start of a system."""
    return np.random.RandomState(seed_of(random_state) % 2**32)


def check_times(steps: Any, step: Any, skip: Any) -> None:
    """Raise unless the times of a flow are allowed."""
    check_count("steps", steps)
    check_number("step", step, "a positive number", lambda value: value > 0)
    check_number("skip", skip, "a number of at least 0", lambda value: value >= 0)


def numbers(**parameters: Any) -> dict[str, float]:
    """Parameters as floats, which are faster than the scalars of NumPy."""
    for name, value in parameters.items():
        check_number(name, value, "a finite number")
    return {name: float(value) for name, value in parameters.items()}


def parts(duration: float, largest: float) -> tuple[int, float]:
    """The number and the length of equal parts of a duration, none longer than ``largest``."""
    count = ceil(duration / largest)
    return count, float(duration) / max(count, 1)


def finite(name: str, values: np.ndarray, parameters: dict[str, Any]) -> np.ndarray:
    """The values, unless they ran away."""
    if not np.isfinite(values).all():
        given = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
        raise ValueError(
            f"{name} runs away to infinity with {given}; use parameters near the defaults, "
            "or another random_state."
        )
    return values
