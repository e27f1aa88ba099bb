"""Kinds of reservoir. `Leaky` is the paper's; subclass `Reservoir` to add one of your own."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import jax.numpy as jnp
import numpy as np

from echofold._data.arguments import check_integer, check_number, describe, refuse
from echofold._engine.kind import Reservoir
from echofold._engine.view import view_of
from echofold._engine.weights import Draw, Sparse, draw, prepare
from echofold._machine.programs import scan
from echofold._machine.remembered import remembered

__all__ = ["Leaky", "Reservoir"]
UNROLLED = 64  # connections added up in one fused expression; more are scanned
FEW_INPUTS = 3  # up to this many inputs are cheaper added one by one than as a product


class Leaky(Reservoir):
    """The paper's reservoir: leaky units with a hyperbolic tangent.

    Equation 1::

        x(n) = (1 − a) x(n−1) + a tanh(W_in [1; u(n)] + W x(n−1))

    Leak rate, radius and scalings act on columns, so every step of all candidates is one matrix
    product and one fused elementwise pass.

    Parameters
    ----------
    units : int, default=100
    leak_rate : float in (0, 1], default=1.0
    spectral_radius : float or None, default=0.9
    input_scaling : float or array of shape (inputs,), default=1.0
    bias_scaling : float, default=1.0
    connectivity : float in (0, 1], default=1.0
    W, W_in : arrays, optional
        As in `ESNForecaster`.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster
    >>> from echofold.reservoirs import Leaky
    >>> y = np.sin(np.arange(300) / 5)
    >>> one = ESNForecaster(50, leak_rate=0.5, random_state=0).fit(y)
    >>> other = ESNForecaster(reservoir=Leaky(50, leak_rate=0.5), random_state=0).fit(y)
    >>> bool((one.forecast(9) == other.forecast(9)).all())
    True
    """

    parameters = ("leak_rate", "spectral_radius", "input_scaling", "bias_scaling")
    stored = {"W_in_": ("size", "1 + inputs"), "W_": ("size", "size"), "leak_rate_": ()}

    def __init__(
        self,
        units=100,
        *,
        leak_rate=1.0,
        spectral_radius=0.9,
        input_scaling=1.0,
        bias_scaling=1.0,
        connectivity=1.0,
        W=None,
        W_in=None,
    ):
        self.units = units
        self.leak_rate = leak_rate
        self.spectral_radius = spectral_radius
        self.input_scaling = input_scaling
        self.bias_scaling = bias_scaling
        self.connectivity = connectivity
        self.W = W
        self.W_in = W_in

    @property
    def size(self) -> int:
        """Number of units."""
        return int(self.units)

    def check(self) -> None:
        """Raise for a parameter outside its range, naming it, its value and the remedy."""
        check_integer("units", self.units, 1)
        check_number("leak_rate", self.leak_rate, "a number in (0, 1]", lambda v: 0 < v <= 1)
        if self.spectral_radius is not None:
            expected = "a number of at least 0, or None"
            check_number("spectral_radius", self.spectral_radius, expected, lambda v: v >= 0)
        check_number("bias_scaling", self.bias_scaling, "a finite number")
        check_number("connectivity", self.connectivity, "a number in (0, 1]", lambda v: 0 < v <= 1)
        scaling = np.asarray(self.input_scaling)
        if scaling.dtype.kind not in "iuf" or scaling.ndim > 1 or not np.isfinite(scaling).all():
            refuse("input_scaling", self.input_scaling, "a finite number, or one for each input")
        self._check_given()

    def _check_given(self) -> None:
        """Check the shapes of given weights against each other and against ``units``."""
        for name, value in (("W", self.W), ("W_in", self.W_in)):
            if value is not None and (getattr(value, "ndim", 0) != 2 or not _finite(value)):
                raise ValueError(
                    f"{name} must be a two-dimensional array of finite numbers (NumPy or SciPy "
                    f"sparse), got {describe(value)}."
                )
        if self.W is not None and self.W.shape[0] != self.W.shape[1]:
            raise ValueError(
                f"W must be square, (units, units), got shape {self.W.shape}. Rows are the units "
                "that receive, columns the units that send."
            )
        for name, value in (("W", self.W), ("W_in", self.W_in)):
            if value is not None and value.shape[0] != self.units:
                raise ValueError(
                    f"{name} has {value.shape[0]} rows but units={self.units}. "
                    f"Pass units={value.shape[0]}, or a {name} with one row per unit."
                )

    def shared(self) -> tuple:
        """Equal for candidates that can share a draw: a radius of None leaves ``W`` as it is."""
        given = (None if array is None else id(array) for array in (self.W, self.W_in))
        return self.size, float(self.connectivity), self.spectral_radius is None, *given

    def draw(self, inputs: int, seed: int) -> Draw:
        """Draw the weights, or take the given ones."""
        W_in, W = self.W_in, self.W
        connectivity, rescale = float(self.connectivity), self.spectral_radius is not None
        if W_in is None and W is None:
            return _drawn(self.size, inputs, connectivity, seed, rescale)
        if W_in is None or W is None:
            drawn_in, drawn = draw(self.size, inputs, connectivity, seed)
            W_in, W = (drawn_in if W_in is None else W_in), (drawn if W is None else W)
        if W_in.shape[1] != 1 + inputs:
            raise ValueError(
                f"W_in has {W_in.shape[1]} columns, expected {1 + inputs}: one for the bias and "
                f"one for each of the {inputs} inputs."
            )
        return prepare(W_in.toarray() if hasattr(W_in, "toarray") else W_in, W, rescale=rescale)

    def columns(self, weights: Draw, kinds: Sequence[Leaky], inputs: int) -> dict[str, np.ndarray]:
        """Leak rates, what multiplies ``W``, and the scaled input weights of candidates."""
        scaling = np.empty((1 + inputs, len(kinds)))
        for column, kind in enumerate(kinds):
            given = np.asarray(kind.input_scaling, dtype=float)
            if given.ndim == 1 and len(given) != inputs:
                raise ValueError(
                    f"input_scaling has {len(given)} values, but the network has {inputs} inputs "
                    "(for a forecaster: the outputs, then the columns of X). Give one value, or "
                    f"{inputs}."
                )
            scaling[0, column] = kind.bias_scaling
            scaling[1:, column] = given
        radius = [1.0 if k.spectral_radius is None else float(k.spectral_radius) for k in kinds]
        return leaky_columns(weights, [float(k.leak_rate) for k in kinds], radius, scaling)

    def step(self, weights: Draw, columns, x, u):
        """One update of states ``x (units, columns)`` by inputs ``u (inputs, columns or 1)``."""
        W_in, scaling, driven = weights.W_in, columns["scaling"], columns["bias"]
        if u.shape[0] <= FEW_INPUTS:
            for i in range(u.shape[0]):
                driven = driven + W_in[:, 1 + i : 2 + i] * (scaling[i] * u[i])
        else:
            driven = driven + W_in[:, 1:] @ (scaling * u)
        moved = jnp.tanh(driven + columns["gain"] * _product(weights.W, x))
        return x + columns["leak"] * (moved - x)

    def warmup(self, columns) -> int:
        """Steps after which little is left of the state at rest that a run began with."""
        return int(np.clip(30 / np.min(columns["leak"]), 200, 3000))

    def trained(self, weights: Draw, columns) -> dict[str, Any]:
        """The weights of one candidate, all scalings applied; SciPy's form if sparse."""
        inputs = np.asarray(weights.W_in)[:, 1:] * columns["scaling"][:, 0]
        # In C order, as a loaded network is: a product may round otherwise in another order.
        return {
            "W_in_": np.ascontiguousarray(np.hstack([columns["bias"], inputs])),
            "W_": _scaled(weights.W, columns["gain"][0]),
            "leak_rate_": float(columns["leak"][0]),
        }

    def restored(self, stored: dict[str, Any]) -> tuple[Draw, dict[str, np.ndarray]]:
        """The reservoir of one candidate, ready to run."""
        weights = prepare(stored["W_in_"], stored["W_"], rescale=False)
        ones = np.ones((stored["W_in_"].shape[1], 1))
        return weights, leaky_columns(weights, [stored["leak_rate_"]], [1.0], ones)

    def check_stored(self, stored: dict[str, Any], inputs: int) -> None:
        """Raise unless the leak rate is one, and given weights have an input for each."""
        if self.W_in is not None and self.W_in.shape[1] != 1 + inputs:
            raise ValueError(f"W_in has {self.W_in.shape[1]} columns, expected {1 + inputs}")
        if not 0 < stored["leak_rate_"] <= 1:
            raise ValueError(f"leak_rate_ is {stored['leak_rate_']}, expected a number in (0, 1]")


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


def _product(W, x):
    """``W @ x``; for a sparse ``W`` over its stored entries only."""
    if not isinstance(W, Sparse):
        return W @ x
    if W.columns.shape[1] <= UNROLLED:
        return sum(W.values[:, j, None] * x[W.columns[:, j]] for j in range(W.columns.shape[1]))

    def add(total, entry):
        columns, values = entry
        return total + values[:, None] * x[columns], None

    return scan(add, jnp.zeros_like(x), (W.columns.T, W.values.T))[0]


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


def _bytes(draw: Draw) -> int:
    """Memory that a draw takes."""
    arrays = (draw.W_in, *(draw.W if isinstance(draw.W, Sparse) else (draw.W,)))
    return sum(array.nbytes for array in arrays)


@remembered(size=_bytes)
def _drawn(units: int, inputs: int, connectivity: float, seed: int, rescale: bool) -> Draw:
    """A draw, kept because blocks of candidates that share it come one after the other."""
    return prepare(*draw(units, inputs, connectivity, seed), rescale=rescale)


def _finite(value) -> bool:
    """Whether a matrix, dense or sparse, holds finite numbers."""
    data = value.tocsr().data if hasattr(value, "tocsr") else np.asarray(value)
    return data.dtype.kind in "iuf" and bool(np.isfinite(data).all())


FLAT = Leaky._get_param_names()  # parameters that estimators take by themselves


def reservoir_of(params: dict[str, Any]) -> Reservoir:
    """The reservoir of an estimator's parameters: the given one, or the paper's by flat ones."""
    given = params["reservoir"]
    if given is None:
        given = Leaky(**{name: params[name] for name in FLAT})
        given._view = view_of(params["readout"])
        return given
    if not isinstance(given, Reservoir):
        raise TypeError(
            f"reservoir={given!r} is no reservoir: give an object of echofold.reservoirs, or None "
            "for the leaky network of the other parameters."
        )
    default = Leaky().get_params(deep=False)
    for name in FLAT:
        if params[name] is not default[name] and not np.array_equal(params[name], default[name]):
            raise ValueError(
                f"{name}={describe(params[name])} belongs to the network that reservoir=None "
                f"stands for, but reservoir is a {type(given).__name__}. Give it to the reservoir, "
                f"or leave it out."
            )
    given = copy(given)
    given._view = view_of(params["readout"])
    return given
