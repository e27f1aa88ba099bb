"""Checks of single arguments, and seeds from any kind of random state."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np


def refuse(name: str, value: Any, expected: str) -> NoReturn:
    """Raise for a value outside of what is allowed."""
    raise ValueError(f"{name}={value!r} is not allowed: it must be {expected}.")


def is_integer(value: Any) -> bool:
    """Whether a value is an integer, and no boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_integer(name: str, value: Any, least: int, otherwise: str = "") -> None:
    """Raise unless ``value`` is an integer of at least ``least``."""
    if not is_integer(value) or value < least:
        refuse(name, value, f"an integer of at least {least}{otherwise}")


def check_number(
    name: str, value: Any, expected: str, allowed: Callable[[Any], bool] = lambda value: True
) -> None:
    """Raise unless ``value`` is a finite number that is ``allowed``."""
    if (
        not isinstance(value, Real)
        or isinstance(value, bool)
        or not np.isfinite(float(value))
        or not allowed(value)
    ):
        refuse(name, value, expected)


def check_count(name: str, value: Any, why: str = "") -> None:
    """Raise unless ``value`` is a positive integer."""
    if not is_integer(value) or value < 1:
        refuse(name, value, f"a positive integer{f' ({why})' if why else ''}")


def describe(value: Any) -> str:
    """A value in a few words, whatever its size."""
    shape = getattr(value, "shape", None)
    return f"{type(value).__name__} of shape {shape}" if shape is not None else repr(value)


def read_range(given: Any, outputs: int) -> np.ndarray | None:
    """Check an output range and give it as ``(2, outputs)``."""
    if given is None:
        return None
    try:
        low, high = (np.broadcast_to(np.asarray(end, dtype=float), outputs) for end in given)
    except (TypeError, ValueError):
        low, high = np.ones(1), np.zeros(1)
    if not (low < high).all():
        raise ValueError(
            f"output_range={given!r} is not allowed: it must be a pair (low, high) with low below "
            f"high, each a number or one for each of the {outputs} outputs, or None."
        )
    return np.stack([low, high])


def seed_of(random_state) -> int:
    """One integer seed from an integer, a RandomState, a Generator or None."""
    if is_integer(random_state):
        return int(random_state)
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0] % 2**31)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    raise TypeError(
        f"random_state must be an integer, a numpy RandomState or Generator, or None; "
        f"got {describe(random_state)}."
    )


def candidate_seed(candidate: dict[str, Any], default: int) -> int:
    """The seed of a candidate's first draw: its own, or that of the search.

    None stands for the search's, as if the candidate did not name it: a fresh seed for each
    candidate could not be told apart from the effect of its other parameters.
    """
    given = candidate.get("random_state")
    if given is None:
        return default
    if not is_integer(given):
        raise TypeError(
            f"space['random_state'] has {describe(given)}: candidates take an integer, or None "
            "for the seed of the search."
        )
    return int(given)
