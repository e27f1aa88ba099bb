"""The paper's kind: leaky units driven by inputs and by each other; and what it shares with others.

States are ``(size, columns)``, inputs ``(inputs, columns or 1)``: candidates side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from echofold._data.arguments import check_integer, check_numbers, check_one_of, describe, refuse
from echofold._engine.kind import PRECISIONS, VIEWS, Reservoir, View, check_each_value
from echofold._engine.weights import (
    OF_CONNECTIVITY,
    SCALES,
    TOPOLOGIES,
    Draw,
    Sparse,
    draw,
    drawn,
    matrix_of,
    prepare,
)
from echofold._machine.arrays import jax, jnp, lax, namespace
from echofold._machine.programs import scan

UNROLLED = 64  # connections added up in one fused expression; more are scanned
FEW_INPUTS = 3  # up to this many inputs are cheaper added one by one than as a product
ACTIVATIONS: dict[str, Callable] = {
    "tanh": lambda x: namespace(x).tanh(x),
    "relu": lambda x: namespace(x).maximum(x, 0.0),
    "identity": lambda x: x,
    "sine": lambda x: namespace(x).sin(x),
}
SHARE = {"expected": "a number in (0, 1]", "above": 0, "most": 1}
NUMBERS: dict[str, dict[str, Any]] = {  # parameters that are numbers, and which
    "units": {"expected": "an integer of at least 1", "least": 1, "kind": Integral},
    "connectivity": SHARE,
    "leak_rate": SHARE,
    "proximity": SHARE,
    "spectral_radius": {"expected": "a number of at least 0, or None", "least": 0},
    "bias_scaling": {"expected": "a finite number"},
    "noise": {"expected": "a number of at least 0", "least": 0},
    "rate": {"expected": "a number of at least 0", "least": 0},
    "mean": {"expected": "a number in (-1, 1)", "above": -1, "below": 1},
    "sigma": {"expected": "a positive number", "above": 0},
    "epochs": {"expected": "an integer of at least 1", "least": 1, "kind": Integral},
}


# --- weights, columns and steps -----------------------------------------------------------------


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
    if namespace(x) is np:
        return matrix_of(W) @ x
    if W.columns.shape[1] <= UNROLLED:
        return sum(W.values[:, j, None] * x[W.columns[:, j]] for j in range(W.columns.shape[1]))

    def add(total, entry):
        columns, values = entry
        return total + values[:, None] * x[columns], None

    return scan(add, namespace(x).zeros_like(x), (W.columns.T, W.values.T))[0]


def _scaled(W, gain: float) -> Any:
    """``W`` times its gain; SciPy's form if sparse."""
    if not isinstance(W, Sparse):
        return W * gain
    scaled = matrix_of(W) * gain
    scaled.eliminate_zeros()
    return scaled


class Weighted:
    """What kinds share that are made of ``W_in`` and ``W``, beside the methods of a `Reservoir`."""

    compiled_in: ClassVar[tuple[str, ...]] = ("activation",)
    _leak = "leak_rate"  # the parameter that tells how much of a new state is new
    units: Any
    spectral_radius: Any
    input_scaling: Any
    connectivity: Any
    activation: Any
    topology: Any
    jump: Any

    def size(self, inputs: int) -> int:
        """Number of units."""
        return int(self.units)

    @property
    def eager(self) -> bool:
        """Whether it is without functions of JAX."""
        return isinstance(self.activation, str)

    def check(self) -> None:
        """Raise for a parameter outside its range, naming it, its value and the remedy."""
        values = {name: getattr(self, name) for name in NUMBERS if hasattr(self, name)}
        if values.get("spectral_radius", 0) is None:
            del values["spectral_radius"]
        check_numbers(values, NUMBERS)
        scaling = np.asarray(self.input_scaling)
        if scaling.dtype.kind not in "iuf" or scaling.ndim > 1 or not np.isfinite(scaling).all():
            refuse("input_scaling", self.input_scaling, "a finite number, or one for each input")
        self._check_activation()
        self._check_topology()

    def _check_activation(self) -> None:
        activation = self.activation
        if isinstance(activation, str) and activation in ACTIVATIONS:
            return
        if not callable(activation):
            expected = f"{', '.join(map(repr, ACTIVATIONS))}, or a function of jax.numpy arrays"
            refuse("activation", activation, expected)
        check_each_value("activation", activation)

    def _check_topology(self) -> None:
        topology = self.topology
        if not isinstance(topology, str) or topology not in TOPOLOGIES:
            refuse("topology", topology, f"one of {', '.join(map(repr, TOPOLOGIES))}")
        if topology not in OF_CONNECTIVITY and self.connectivity != 1:
            raise ValueError(
                f"connectivity={self.connectivity!r} has no meaning for topology={topology!r}, "
                "which says itself who is connected. Leave it out, or use another topology: "
                f"{', '.join(map(repr, OF_CONNECTIVITY))}."
            )
        if topology == "small world" and (self.connectivity == 1 or self.units < 3):
            raise ValueError(
                "topology='small world' needs neighbours that are not all units, but connectivity="
                f"{self.connectivity!r} with units={self.units}. Give a connectivity below 1, such "
                "as 0.1, which says how many neighbours there are, and 3 units or more."
            )
        if topology == "ring with jumps":
            check_integer("jump", self.jump, 2)
            if self.jump > self.units // 2:
                raise ValueError(
                    f"jump={self.jump} is more than half way around a ring of units={self.units}. "
                    f"Give a jump from 2 to {self.units // 2}, or more units."
                )

    def shared(self) -> tuple:
        """Equal for candidates that can share a draw: a radius of None leaves ``W`` as it is."""
        how = self.spectral_radius is None, self.activation, self.topology, self.jump
        return int(self.units), float(self.connectivity), *how

    def _drawn(self, inputs: int, seed: int) -> Draw:
        """Drawn weights, as the engine runs them."""
        rescale, how = self.spectral_radius is not None, (self.topology, self.jump)
        return drawn(int(self.units), inputs, float(self.connectivity), seed, rescale, *how)

    def columns(self, weights: Draw, kinds: Sequence[Any], inputs: int) -> dict[str, Any]:
        """Leak rates, what multiplies ``W``, and the scaled input weights of candidates."""
        leak = [getattr(kind, self._leak) for kind in kinds]
        radius = [float(kind.spectral_radius or 0.0) for kind in kinds]
        scaling = np.empty((1 + inputs, len(kinds)))
        for column, kind in enumerate(kinds):
            given = np.asarray(kind.input_scaling, dtype=float)
            if given.ndim == 1 and len(given) != inputs:
                raise ValueError(
                    f"input_scaling has {len(given)} values, but the network has {inputs} inputs "
                    "(for a forecaster: the outputs, then the columns of X). Give one value, or "
                    f"{inputs}."
                )
            scaling[0, column], scaling[1:, column] = kind.bias_scaling, given
        return leaky_columns(weights, leak, radius, scaling)

    def _driven(self, weights: Draw, columns, x, u):
        """What drives units: ``W_in [1; u] + W x``.

        Leak rate, radius and scalings act on columns, so a step of all candidates is one matrix
        product and one fused elementwise pass.
        """
        W_in, scaling, driven = weights.W_in, columns["scaling"], columns["bias"]
        if u.shape[0] <= FEW_INPUTS:
            for i in range(u.shape[0]):
                driven = driven + W_in[:, 1 + i : 2 + i] * (scaling[i] * u[i])
        else:
            driven = driven + W_in[:, 1:] @ (scaling * u)
        return driven + columns["gain"] * _product(weights.W, x)

    def _update(self, weights: Draw, columns, x, u, kept=None):
        """Equation 1: ``(1 − a) x + a f(W_in [1; u] + W x)``, its first ``x`` what is ``kept``."""
        f = self.activation if callable(self.activation) else ACTIVATIONS[self.activation]
        kept = x if kept is None else kept
        new = f(self._driven(weights, columns, x, u))
        return kept + columns["leak"] * (new - kept)

    def warmup(self, columns) -> int:
        """Steps after which little is left of the state at rest that a run began with."""
        return int(np.clip(30 / np.min(columns["leak"]), 200, 3000))

    def trained(self, weights: Draw, columns) -> dict[str, Any]:
        """The weights of one candidate, all scalings applied; ``W`` in SciPy's form if sparse."""
        inputs = np.asarray(weights.W_in)[:, 1:] * columns["scaling"][:, 0]
        # In C order, as a loaded network is: a product may round otherwise in another order.
        W_in = np.ascontiguousarray(np.hstack([columns["bias"], inputs]))
        W = _scaled(weights.W, columns["gain"][0])
        return {"W_in_": W_in, "W_": W, f"{self._leak}_": float(columns["leak"][0])}

    def restored(self, stored: dict[str, Any]) -> tuple[Draw, dict[str, Any]]:
        """Weights and columns of what was `trained`, ready to run."""
        leak, scaling = stored[f"{self._leak}_"], np.ones((stored["W_in_"].shape[1], 1))
        weights = prepare(stored["W_in_"], stored["W_"], rescale=False)
        return weights, leaky_columns(weights, [leak], [1.0], scaling)

    def check_stored(self, stored: dict[str, Any], inputs: int) -> None:
        """Raise unless the leak rate is one."""
        name = f"{self._leak}_"
        if not 0 < stored[name] <= 1:
            raise ValueError(f"{name} is {stored[name]}, expected a number in (0, 1]")


@dataclass(eq=False, repr=False)
class Leaky(Weighted, Reservoir):
    """The paper's reservoir: leaky units with a hyperbolic tangent.

    Equation 1::

        x(n) = (1 − a) x(n−1) + a tanh(W_in [1; u(n)] + W x(n−1))

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
    activation : {"tanh", "relu", "identity", "sine"} or callable, default="tanh"
        What takes the place of the hyperbolic tangent. A function of ``jax.numpy`` arrays gives
        each value by itself; a network that has one cannot be saved.
    noise : float, default=0.0
        Standard deviation of normal noise that is added to every new state while states are
        collected for training and validation, which makes readouts less dependent on small
        differences [1]_. Closed loops run without. A trained network has none: its forecasts and
        predictions begin with the state that data leave in it without noise.
    topology : str, default="uniform"
        Who hears whom: see below.
    jump : int, default=5
        Units between two that are connected across a ring; of "ring with jumps" alone.

    Notes
    -----
    Topologies of ``W``, before it is rescaled to ``spectral_radius``:

    - "uniform", "normal": weights of that distribution, from ``connectivity`` times all units;
    - "ring": each unit hears the one before it, by one and the same weight [2]_;
    - "ring with jumps": a ring, and every ``jump``-th unit hears the next of these and the one
      before it, by that weight too [3]_;
    - "delay line": a ring that is cut. It has no eigenvalues but zero, so ``spectral_radius`` is
      the weight of its connections;
    - "orthogonal": a random rotation; all eigenvalues are equally large;
    - "small world": each unit hears ``connectivity`` times all units, its neighbours on a ring, of
      which one in ten is replaced by a unit drawn at random [4]_; weights are uniform.

    A step of a ring or a delay line takes a time in proportion to the units, not to their square.

    The noise of a step is a function of the seed, the number of the step and the inputs: candidates
    that are compared meet the same noise, and sequences of a classifier each their own.

    References
    ----------
    .. [1] H. Jaeger, "The echo state approach to analysing and training recurrent neural
       networks", GMD Report 148, 2001.
    .. [2] A. Rodan and P. Tiňo, "Minimum complexity echo state network", IEEE Transactions on
       Neural Networks 22(1), 2011.
    .. [3] A. Rodan and P. Tiňo, "Simple deterministically constructed cycle reservoirs with
       regular jumps", Neural Computation 24(7), 2012.
    .. [4] D. J. Watts and S. H. Strogatz, "Collective dynamics of 'small-world' networks",
       Nature 393, 1998.

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
    >>> ring = ESNForecaster(reservoir=Leaky(50, topology="ring", noise=1e-4), random_state=0)
    >>> ring.fit(y).W_.nnz
    50
    """

    parameters = ("leak_rate", "spectral_radius", "input_scaling", "bias_scaling", "noise")
    stored = {"W_in_": ("size", "1 + inputs"), "W_": ("size", "size"), "leak_rate_": ()}

    units: int = 100
    _: KW_ONLY
    leak_rate: float = 1.0
    spectral_radius: float | None = 0.9
    input_scaling: Any = 1.0
    bias_scaling: float = 1.0
    connectivity: float = 1.0
    W: Any = None
    W_in: Any = None
    activation: str | Callable = "tanh"
    noise: float = 0.0
    topology: str = "uniform"
    jump: int = 5

    def size(self, inputs: int) -> int:
        """Number of units; where there is noise, the last value counts steps."""
        return int(self.units) + bool(self.noise)

    @property
    def shows(self) -> bool:
        """Whether all of a state is seen, as it is unless steps are counted in it."""
        return not self.noise

    @property
    def eager(self) -> bool:
        """Whether it is without functions of JAX and without its random numbers."""
        return not self.noise and super().eager

    def look(self, x, u):
        """The units."""
        return x[:-1] if self.noise else x

    def looks(self, inputs: int) -> int:
        return int(self.units)

    def constants(self, inputs: int) -> dict[str, Any]:
        """The activation, and whether there is noise: how much of it differs between columns."""
        read = {name: getattr(self, name) for name in self.compiled_in}
        return read | ({"noise": 1.0} if self.noise else {})

    def check(self) -> None:
        """Raise for a parameter outside its range, and for weights that do not fit each other."""
        super().check()
        for name, value in (("W", self.W), ("W_in", self.W_in)):
            if value is None:
                continue
            if getattr(value, "ndim", 0) != 2 or not _finite(value):
                raise ValueError(
                    f"{name} must be a two-dimensional array of finite numbers (NumPy or SciPy "
                    f"sparse), got {describe(value)}."
                )
            if name == "W" and value.shape[0] != value.shape[1]:
                raise ValueError(
                    f"W must be square, (units, units), got shape {value.shape}. Rows are the "
                    "units that receive, columns the units that send."
                )
            if value.shape[0] != self.units:
                raise ValueError(
                    f"{name} has {value.shape[0]} rows but units={self.units}. "
                    f"Pass units={value.shape[0]}, or a {name} with one row per unit."
                )
        if self.W is not None and self.topology != "uniform":
            raise ValueError(
                f"topology={self.topology!r} is of a W that is drawn, but W is given. Leave one of "
                "them out."
            )

    def shared(self) -> tuple:
        given = (None if array is None else id(array) for array in (self.W, self.W_in))
        return *super().shared(), bool(self.noise), *given

    def draw(self, inputs: int, seed: int) -> Draw:
        """Draw the weights, or take the given ones."""
        weights = self._weights(inputs, seed)
        if not self.noise:
            return weights
        # Another stream than that of the weights, which begins with the seed itself.
        return weights._replace(key=np.random.SeedSequence([seed % 2**32, 1]).generate_state(2))

    def _weights(self, inputs: int, seed: int) -> Draw:
        """Drawn or given weights, as the engine runs them."""
        W_in, W = self.W_in, self.W
        if W_in is None and W is None:
            return self._drawn(inputs, seed)
        if W_in is None or W is None:
            size = int(self.units), inputs, float(self.connectivity), seed
            drawn_in, drawn_W = draw(*size, self.topology, self.jump)
            W_in, W = (drawn_in if W_in is None else W_in), (drawn_W if W is None else W)
        if W_in.shape[1] != 1 + inputs:
            raise ValueError(
                f"W_in has {W_in.shape[1]} columns, expected {1 + inputs}: one for the bias and "
                f"one for each of the {inputs} inputs."
            )
        W_in = W_in.toarray() if hasattr(W_in, "toarray") else W_in
        # A given W goes with the topology "uniform" alone, whose scale nobody knows.
        rescale, scale = self.spectral_radius is not None, SCALES.get(self.topology)
        return prepare(W_in, W, rescale=rescale, scale=scale)

    def columns(self, weights: Draw, kinds: Sequence[Leaky], inputs: int) -> dict[str, np.ndarray]:
        """Leak rates, what multiplies ``W``, the scaled input weights, and noise, if there is."""
        columns = super().columns(weights, kinds, inputs)
        if self.noise:
            columns["noise"] = np.array([float(kind.noise) for kind in kinds])
        return columns

    def free(self) -> Leaky:
        """The same without noise, and so without a count of steps in the state."""
        if not self.noise:
            return self
        quiet = copy(self)
        quiet.noise = 0.0
        return quiet

    def silent(self, columns: Mapping[str, Any]) -> Mapping[str, Any]:
        """Columns without noise."""
        return {name: array for name, array in columns.items() if name != "noise"}

    def step(self, weights: Draw, columns, x, u):
        if not self.noise:
            return self._update(weights, columns, x, u)
        x, count = x[:-1], x[-1:]
        x = self._update(weights, columns, x, u)
        if "noise" in columns:
            data = u[: self._given]
            noise = _noise(weights.key, count[0, : u.shape[1]], data, x.shape[0])
            x = x + columns["noise"] * noise
        return jnp.concatenate([x, count + 1])

    def check_stored(self, stored: dict[str, Any], inputs: int) -> None:
        """Raise unless the leak rate is one, and given weights have an input for each."""
        if self.W_in is not None and self.W_in.shape[1] != 1 + inputs:
            raise ValueError(f"W_in has {self.W_in.shape[1]} columns, expected {1 + inputs}")
        super().check_stored(stored, inputs)


def _noise(key, count, u, units: int):
    """Normal numbers ``(units, columns)`` for step ``count (columns,)`` under inputs ``u``."""
    words = lax.bitcast_convert_type(u.astype(jnp.float64), jnp.uint32)  # (inputs, columns, 2)
    mixed = jnp.zeros(words.shape[1], jnp.uint32)
    for word in jnp.moveaxis(words, 1, 2).reshape(-1, words.shape[1]):
        mixed = (mixed ^ word) * jnp.uint32(0x9E3779B1)  # an odd number that spreads bits
        mixed = mixed ^ (mixed >> jnp.uint32(15))

    def of_one(count, word):
        one = jax.random.wrap_key_data(key, impl="threefry2x32")
        one = jax.random.fold_in(jax.random.fold_in(one, count), word)
        return jax.random.normal(one, (units,), jnp.float64)

    return jax.vmap(of_one, out_axes=1)(count.astype(jnp.uint32), mixed)


def _finite(value) -> bool:
    """Whether a matrix, dense or sparse, holds finite numbers."""
    data = value.tocsr().data if hasattr(value, "tocsr") else np.asarray(value)
    return data.dtype.kind in "iuf" and bool(np.isfinite(data).all())


# Parameters that estimators take by themselves; others belong to the kind alone.
FLAT = (
    "units", "leak_rate", "spectral_radius", "input_scaling", "bias_scaling", "connectivity",
    "W", "W_in",
)  # fmt: skip
EXPECTED = (
    "'states', 'inputs+states', either of them followed by '+squares', 'polynomial 2' (or another "
    "degree up to 5), or a function of (u, x)"
)


def reservoir_of(params: dict[str, Any], check: bool = False) -> Reservoir:
    """The reservoir of an estimator's parameters: the given one, or the paper's by flat ones."""
    given = params["reservoir"]
    kind = Leaky(**{name: params[name] for name in FLAT}) if given is None else _alone(params)
    kind._view = _view_of(params["readout"])
    kind._precision = params.get("precision", "double")  # which older files lack
    if check:
        check_one_of("precision", kind._precision, tuple(PRECISIONS))
        kind.check()
    return kind


def _view_of(readout: Any) -> View:
    """The view that ``readout=`` of an estimator asks for."""
    if callable(readout):
        return View(inputs=False, function=readout)
    words = readout if isinstance(readout, str) else ""
    name = "+".join(" ".join(part.split()) for part in words.split("+"))
    return VIEWS[name] if name in VIEWS else refuse("readout", readout, EXPECTED)


def _alone(params: dict[str, Any]) -> Reservoir:
    """A copy of the given reservoir, beside which no flat parameter is given."""
    given = params["reservoir"]
    if not isinstance(given, Reservoir):
        raise TypeError(
            f"reservoir={given!r} is no reservoir: give an object of echofold.reservoirs, or None "
            "for the leaky network of the other parameters. An object of another library goes "
            "into echofold.reservoirs.Foreign."
        )
    for name in flat_given(params)[:1]:
        raise ValueError(
            f"{name}={describe(params[name])} belongs to the network that reservoir=None "
            f"stands for, but reservoir is a {type(given).__name__}. Give it to the reservoir, "
            f"or leave it out."
        )
    return copy(given)


def flat_given(params: Mapping[str, Any]) -> list[str]:
    """Which parameters of the leaky network are not at their defaults."""
    default = Leaky().get_params(deep=False)
    return [
        name for name in FLAT
        if params[name] is not default[name] and not np.array_equal(params[name], default[name])
    ]  # fmt: skip
