"""From an estimator's parameters to reservoirs: checked, grouped by the draw they share."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from echofold._engine.leaky import Reservoirs, reservoirs
from echofold._engine.weights import Draw, Sparse, draw, prepare
from echofold._machine.remembered import remembered


def check_parameters(params: dict[str, Any]) -> None:
    """Raise for a parameter outside its range, naming it, its value and the remedy."""
    _integer(params, "units", 1)
    _number(params, "leak_rate", lambda v: 0 < v <= 1, "a number in (0, 1]")
    if params["spectral_radius"] is not None:
        _number(params, "spectral_radius", lambda v: v >= 0, "a number of at least 0, or None")
    _number(params, "bias_scaling", lambda v: True, "a finite number")
    _number(params, "connectivity", lambda v: 0 < v <= 1, "a number in (0, 1]")
    _number(params, "ridge", lambda v: v >= 0, "a number of at least 0")
    if not isinstance(params["penalize_bias"], bool | np.bool_):
        _refuse(params, "penalize_bias", "True or False")
    scaling = np.asarray(params["input_scaling"])
    if scaling.dtype.kind not in "iuf" or scaling.ndim > 1 or not np.isfinite(scaling).all():
        _refuse(params, "input_scaling", "a finite number, or one for each input")
    if params.get("washout", "auto") != "auto":
        _integer(params, "washout", 0)
    if params["scale"] not in ("standard", "minmax", None):
        _refuse(params, "scale", "'standard', 'minmax' or None")
    states = params.get("states", "last")
    if states not in ("last", "mean") and not (_is_integer(states) and states >= 1):
        _refuse(params, "states", "'last', 'mean' or a positive integer")
    _check_given(params)


def _check_given(params: dict[str, Any]) -> None:
    """Check the shapes of given weights against each other and against ``units``."""
    for name in ("W", "W_in"):
        value = params[name]
        if value is not None and (getattr(value, "ndim", 0) != 2 or not _finite(value)):
            raise ValueError(
                f"{name} must be a two-dimensional array of finite numbers (NumPy or SciPy "
                f"sparse), got {_describe(value)}."
            )
    W, W_in = params["W"], params["W_in"]
    if W is not None and W.shape[0] != W.shape[1]:
        raise ValueError(
            f"W must be square, (units, units), got shape {W.shape}. Rows are the units that "
            "receive, columns the units that send."
        )
    for name, value in (("W", W), ("W_in", W_in)):
        if value is not None and value.shape[0] != params["units"]:
            raise ValueError(
                f"{name} has {value.shape[0]} rows but units={params['units']}. "
                f"Pass units={value.shape[0]}, or a {name} with one row per unit."
            )


def draw_for(params: dict[str, Any], inputs: int, seed: int) -> Draw:
    """Draw the weights of these parameters, or take the given ones."""
    W_in, W = params["W_in"], params["W"]
    if W_in is None and W is None:
        rescale = params["spectral_radius"] is not None
        return _drawn(int(params["units"]), inputs, float(params["connectivity"]), seed, rescale)
    if W_in is None or W is None:
        drawn_in, drawn = draw(int(params["units"]), inputs, float(params["connectivity"]), seed)
        W_in, W = (drawn_in if W_in is None else W_in), (drawn if W is None else W)
    if W_in.shape[1] != 1 + inputs:
        raise ValueError(
            f"W_in has {W_in.shape[1]} columns, expected {1 + inputs}: one for the bias and one "
            f"for each of the {inputs} inputs."
        )
    dense = W_in.toarray() if hasattr(W_in, "toarray") else W_in
    return prepare(dense, W, rescale=params["spectral_radius"] is not None)


def _bytes(draw: Draw) -> int:
    """Memory that a draw takes."""
    arrays = (draw.W_in, *(draw.W if isinstance(draw.W, Sparse) else (draw.W,)))
    return sum(array.nbytes for array in arrays)


@remembered(size=_bytes)
def _drawn(units: int, inputs: int, connectivity: float, seed: int, rescale: bool) -> Draw:
    """A draw, kept because blocks of candidates that share it come one after the other."""
    return prepare(*draw(units, inputs, connectivity, seed), rescale=rescale)


def batch(draw: Draw, candidates: Sequence[dict[str, Any]], inputs: int) -> Reservoirs:
    """Reservoirs of candidates that share ``draw``."""
    scaling = np.empty((1 + inputs, len(candidates)))
    for column, params in enumerate(candidates):
        given = np.asarray(params["input_scaling"], dtype=float)
        if given.ndim == 1 and len(given) != inputs:
            raise ValueError(
                f"input_scaling has {len(given)} values, but the network has {inputs} inputs "
                "(for a forecaster: the outputs, then the columns of X). Give one value, or "
                f"{inputs}."
            )
        scaling[0, column] = params["bias_scaling"]
        scaling[1:, column] = given
    leak = [float(p["leak_rate"]) for p in candidates]
    radius = [
        1.0 if p["spectral_radius"] is None else float(p["spectral_radius"]) for p in candidates
    ]
    return reservoirs(draw, leak, radius, scaling)


def draw_key(params: dict[str, Any], seed: int) -> tuple:
    """Equal for candidates of a seed that can share a draw and a reservoir pass."""
    given = tuple(None if params[name] is None else id(params[name]) for name in ("W", "W_in"))
    return (
        int(params["units"]),
        float(params["connectivity"]),
        params["spectral_radius"] is None,
        seed,
        *given,
    )


def seed_of(random_state) -> int:
    """One integer seed from an integer, a RandomState, a Generator or None."""
    if _is_integer(random_state):
        return int(random_state)
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0] % 2**31)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    raise TypeError(
        f"random_state must be an integer, a numpy RandomState or Generator, or None; "
        f"got {_describe(random_state)}."
    )


def candidate_seed(candidate: dict[str, Any], default: int) -> int:
    """The seed of a candidate's first draw: its own, or that of the search.

    None stands for the search's, as if the candidate did not name it: a fresh seed for each
    candidate could not be told apart from the effect of its other parameters.
    """
    given = candidate.get("random_state")
    if given is None:
        return default
    if not _is_integer(given):
        raise TypeError(
            f"space['random_state'] has {_describe(given)}: candidates take an integer, or None "
            "for the seed of the search."
        )
    return int(given)


def check_count(name: str, value: Any, why: str = "") -> None:
    """Raise unless ``value`` is a positive integer."""
    if not _is_integer(value) or value < 1:
        because = f" ({why})" if why else ""
        raise ValueError(
            f"{name}={value!r} is not allowed: it must be a positive integer{because}."
        )


def _is_integer(value) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _integer(params, name: str, least: int) -> None:
    if not _is_integer(params[name]) or params[name] < least:
        auto = ", or 'auto'" if name == "washout" else ""
        _refuse(params, name, f"an integer of at least {least}{auto}")


def _number(params, name: str, allowed, expected: str) -> None:
    value = params[name]
    if (
        not isinstance(value, Real)
        or isinstance(value, bool)
        or not np.isfinite(float(value))
        or not allowed(value)
    ):
        _refuse(params, name, expected)


def _refuse(params, name: str, expected: str) -> None:
    raise ValueError(f"{name}={params[name]!r} is not allowed: it must be {expected}.")


def _finite(value) -> bool:
    data = value.tocsr().data if hasattr(value, "tocsr") else np.asarray(value)
    return data.dtype.kind in "iuf" and bool(np.isfinite(data).all())


def _describe(value) -> str:
    shape = getattr(value, "shape", None)
    return f"{type(value).__name__} of shape {shape}" if shape is not None else repr(value)
