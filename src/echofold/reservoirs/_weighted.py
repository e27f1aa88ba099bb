"""What kinds share that are made of ``W_in`` and ``W``: checks, scalings, the step itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from echofold._data.arguments import check_integer, check_number, refuse
from echofold._engine.kind import of_shape, tried
from echofold._engine.weights import OF_CONNECTIVITY, TOPOLOGIES, Draw, Sparse
from echofold._machine.programs import scan

UNROLLED = 64  # connections added up in one fused expression; more are scanned
FEW_INPUTS = 3  # up to this many inputs are cheaper added one by one than as a product
ACTIVATIONS: dict[str, Callable] = {
    "tanh": jnp.tanh,
    "relu": lambda x: jnp.maximum(x, 0.0),
    "identity": lambda x: x,
    "sine": jnp.sin,
}


# --- checks -------------------------------------------------------------------------------------


def check_weighted(kind: Any) -> None:
    """Raise for sizes, topologies and activations that are not allowed."""
    check_integer("units", kind.units, 1)
    check_number("connectivity", kind.connectivity, "a number in (0, 1]", lambda v: 0 < v <= 1)
    _check_activation(kind.activation)
    _check_topology(kind)


def check_radius(value: Any, name: str = "spectral_radius") -> None:
    """Raise unless a value is a spectral radius, or None for a ``W`` that is left as it is."""
    if value is not None:
        check_number(name, value, "a number of at least 0, or None", lambda v: v >= 0)


def check_share(name: str, value: Any) -> None:
    """Raise unless a value is in (0, 1], as leak rates are."""
    check_number(name, value, "a number in (0, 1]", lambda v: 0 < v <= 1)


def check_input_scaling(value: Any) -> None:
    """Raise unless a value is a number, or one for each input."""
    scaling = np.asarray(value)
    if scaling.dtype.kind not in "iuf" or scaling.ndim > 1 or not np.isfinite(scaling).all():
        refuse("input_scaling", value, "a finite number, or one for each input")


def _check_topology(kind: Any) -> None:
    topology, names = kind.topology, ", ".join(map(repr, TOPOLOGIES))
    if not isinstance(topology, str) or topology not in TOPOLOGIES:
        refuse("topology", topology, f"one of {names}")
    if topology not in OF_CONNECTIVITY and kind.connectivity != 1:
        raise ValueError(
            f"connectivity={kind.connectivity!r} has no meaning for topology={topology!r}, which "
            "says itself who is connected. Leave it out, or use another topology: "
            f"{', '.join(map(repr, OF_CONNECTIVITY))}."
        )
    if topology == "small world" and (kind.connectivity == 1 or kind.units < 3):
        raise ValueError(
            f"topology='small world' needs neighbours that are not all units, but connectivity="
            f"{kind.connectivity!r} with units={kind.units}. Give a connectivity below 1, such as "
            "0.1, which says how many neighbours there are, and 3 units or more."
        )
    if topology == "ring with jumps":
        check_integer("jump", kind.jump, 2)
        if kind.jump > kind.units // 2:
            raise ValueError(
                f"jump={kind.jump} is more than half way around a ring of units={kind.units}. "
                f"Give a jump from 2 to {kind.units // 2}, or more units."
            )


def _check_activation(activation: Any) -> None:
    if isinstance(activation, str) and activation in ACTIVATIONS:
        return
    expected = f"{', '.join(map(repr, ACTIVATIONS))}, or a function of jax.numpy arrays"
    if not callable(activation):
        refuse("activation", activation, expected)
    rule = "made of jax.numpy operations, each value by itself"
    given = "an array of shape (2, 3)"
    found = tried("activation", activation, given, of_shape(2, 3), rule=rule)
    if getattr(found, "shape", None) != (2, 3):
        raise ValueError(
            f"activation={activation!r} gave {found} for an array of shape (2, 3): it must give "
            "an array of the same shape, each value by itself."
        )


# --- columns ------------------------------------------------------------------------------------


def scalings(kinds: Sequence[Any], inputs: int, bias: Sequence[float]) -> np.ndarray:
    """Scalings ``(1 + inputs, candidates)`` of bias and inputs."""
    scaling = np.empty((1 + inputs, len(kinds)))
    scaling[0] = bias
    for column, kind in enumerate(kinds):
        given = np.asarray(kind.input_scaling, dtype=float)
        if given.ndim == 1 and len(given) != inputs:
            raise ValueError(
                f"input_scaling has {len(given)} values, but the network has {inputs} inputs "
                "(for a forecaster: the outputs, then the columns of X). Give one value, or "
                f"{inputs}."
            )
        scaling[1:, column] = given
    return scaling


def leaky_columns(weights: Draw, leak, radius, scaling) -> dict[str, np.ndarray]:
    """Columns of leak rates, radii ``(candidates,)`` and scalings ``(1 + inputs, candidates)``."""
    leak, scaling = np.asarray(leak, dtype=float), np.asarray(scaling, dtype=float)
    rescaled = weights.radius is not None
    return {
        "leak": leak,
        "gain": np.asarray(radius) / weights.radius if rescaled else np.ones_like(leak),
        "bias": np.asarray(weights.W_in)[:, :1] * scaling[:1],
        "scaling": scaling[1:],
    }


def radii(kinds: Sequence[Any]) -> list[float]:
    """Spectral radii of candidates; those of None are not used."""
    return [1.0 if k.spectral_radius is None else float(k.spectral_radius) for k in kinds]


# --- steps --------------------------------------------------------------------------------------


def moved(activation: str | Callable, weights: Draw, columns: Mapping[str, Any], x, u):
    """``f(W_in [1; u] + W x)`` of states ``x`` and inputs ``u (inputs, columns or 1)``."""
    W_in, scaling, driven = weights.W_in, columns["scaling"], columns["bias"]
    if u.shape[0] <= FEW_INPUTS:
        for i in range(u.shape[0]):
            driven = driven + W_in[:, 1 + i : 2 + i] * (scaling[i] * u[i])
    else:
        driven = driven + W_in[:, 1:] @ (scaling * u)
    f = ACTIVATIONS[activation] if isinstance(activation, str) else activation
    return f(driven + columns["gain"] * product(weights.W, x))


def leaky_step(activation: str | Callable, weights: Draw, columns: Mapping[str, Any], x, u):
    """Equation 1: ``(1 − a) x + a f(W_in [1; u] + W x)``."""
    return x + columns["leak"] * (moved(activation, weights, columns, x, u) - x)


def product(W, x):
    """``W @ x``; for a sparse ``W`` over its stored entries only."""
    if not isinstance(W, Sparse):
        return W @ x
    if W.columns.shape[1] <= UNROLLED:
        return sum(W.values[:, j, None] * x[W.columns[:, j]] for j in range(W.columns.shape[1]))

    def add(total, entry):
        columns, values = entry
        return total + values[:, None] * x[columns], None

    return scan(add, jnp.zeros_like(x), (W.columns.T, W.values.T))[0]


# --- trained ------------------------------------------------------------------------------------


def trained_weights(weights: Draw, columns: Mapping[str, Any]) -> tuple[np.ndarray, Any]:
    """``W_in`` and ``W`` of one candidate, all scalings applied; SciPy's form if sparse."""
    inputs = np.asarray(weights.W_in)[:, 1:] * columns["scaling"][:, 0]
    # In C order, as a loaded network is: a product may round otherwise in another order.
    W_in = np.ascontiguousarray(np.hstack([columns["bias"], inputs]))
    return W_in, _scaled(weights.W, columns["gain"][0])


def _scaled(W, gain: float):
    """``W`` multiplied by ``gain``; SciPy's form if it is sparse."""
    if not isinstance(W, Sparse):
        return W * gain
    from scipy.sparse import csr_array

    units, connections = W.columns.shape
    starts = np.arange(0, units * connections + 1, connections)
    values = (W.values * gain).ravel()
    scaled = csr_array((values, W.columns.ravel(), starts), shape=(units, units))
    scaled.eliminate_zeros()
    return scaled
