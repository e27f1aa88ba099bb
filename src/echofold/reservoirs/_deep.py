"""Layers of leaky units, each driven by the one below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from echofold._data.arguments import check_integer, check_number, refuse
from echofold._engine.kind import Reservoir
from echofold._engine.weights import Draw
from echofold._machine.arrays import namespace
from echofold.reservoirs._leaky import Leaky

MOST_LAYERS = 100
OF_LAYERS = (
    "leak_rate", "spectral_radius", "bias_scaling", "connectivity", "activation", "topology",
    "jump",
)  # fmt: skip


@dataclass(eq=False, repr=False)
class Deep(Reservoir):
    """Several layers of leaky units, each driven by the new state of the layer below [1]_.

    With ``x₀(n) = u(n)``, and all layers seen by the readout::

        xₗ(n) = (1 − aₗ) xₗ(n−1) + aₗ tanh(W_inₗ [1; xₗ₋₁(n)] + Wₗ xₗ(n−1))

    Higher layers change more slowly and see inputs further back. With one layer this is `Leaky`,
    to the last bit.

    Parameters
    ----------
    units : int, default=100
        Units of each layer.
    layers : int, default=2
    leak_rate : float in (0, 1] or tuple, default=1.0
        One for all layers, or one for each, the lowest first.
    spectral_radius : float, None or tuple of float, default=0.9
        The same.
    input_scaling : float or array of shape (inputs,), default=1.0
        Multiplies the weights of inputs, which drive the lowest layer alone.
    inter_scaling : float or tuple, default=1.0
        Multiplies the weights from one layer to the next: one for all, or one for each layer but
        the lowest.
    bias_scaling : float or tuple, default=1.0
        As ``leak_rate``.
    connectivity : float in (0, 1], default=1.0
        Share of the units of its layer that each unit is connected to.
    activation, topology, jump
        As in `Leaky`, for all layers.

    References
    ----------
    .. [1] C. Gallicchio, A. Micheli and L. Pedrelli, "Deep reservoir computing: a critical
       experimental analysis", Neurocomputing 268, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster
    >>> from echofold.reservoirs import Deep
    >>> y = np.sin(np.arange(300) / 5)
    >>> deep = Deep(30, layers=3, leak_rate=(1.0, 0.5, 0.2))
    >>> model = ESNForecaster(reservoir=deep, random_state=0).fit(y)
    >>> model.state_.shape
    (90,)
    """

    parameters = (
        "leak_rate", "spectral_radius", "input_scaling", "inter_scaling", "bias_scaling",
    )  # fmt: skip
    compiled_in = ("activation",)

    units: int = 100
    _: KW_ONLY
    layers: int = 2
    leak_rate: Any = 1.0
    spectral_radius: Any = 0.9
    input_scaling: Any = 1.0
    inter_scaling: Any = 1.0
    bias_scaling: Any = 1.0
    connectivity: float = 1.0
    activation: str | Callable = "tanh"
    topology: str = "uniform"
    jump: int = 5

    @property
    def stored(self) -> Mapping[str, tuple[str, ...]]:
        """Weights of every layer, numbered from 1, and their leak rates."""
        names: dict[str, tuple[str, ...]] = {"leak_rates_": ("layers",)}
        for layer in range(1, int(self.layers) + 1):
            names[f"W_in_{layer}_"] = ("units", "1 + inputs" if layer == 1 else "1 + units")
            names[f"W_{layer}_"] = ("units", "units")
        return names

    @property
    def eager(self) -> bool:
        return self._layer(0).eager

    def axes(self, inputs: int) -> dict[str, int]:
        units = int(self.units)
        return {"units": units, "1 + units": 1 + units, "layers": int(self.layers)}

    def size(self, inputs: int) -> int:
        """Number of units of all layers."""
        return int(self.units) * int(self.layers)

    def check(self) -> None:
        check_integer("layers", self.layers, 1)
        if self.layers > MOST_LAYERS:
            refuse("layers", self.layers, f"at most {MOST_LAYERS}")
        for value in self._each("inter_scaling"):
            check_number("inter_scaling", value, "a finite number")
        for place in range(int(self.layers)):
            self._layer(place).check()
        radius = self.spectral_radius
        if isinstance(radius, tuple) and None in radius:
            raise ValueError(
                f"spectral_radius={radius!r} leaves some layers as they are drawn: give None for "
                "all of them, or a number for each."
            )

    def _each(self, name: str) -> tuple:
        """The values of a parameter: one for all layers, or one for each."""
        value, count = getattr(self, name), int(self.layers) - (name == "inter_scaling")
        if not isinstance(value, tuple) or name not in self.parameters:
            return (value,) * max(count, 1)
        if len(value) != count:
            raise ValueError(
                f"{name}={value!r} has {len(value)} values, but layers={self.layers}. Give one "
                f"number for all layers, or a tuple of {count}."
            )
        return value

    def _layer(self, place: int) -> Leaky:
        """The layer at a place, whose inputs are the states of the layer below."""
        scaling = self._each("inter_scaling")[place - 1] if place else self.input_scaling
        own = {name: self._each(name)[place] for name in OF_LAYERS}
        return Leaky(self.units, input_scaling=scaling, **own)

    def shared(self) -> tuple:
        return *self._layer(0).shared(), int(self.layers)

    def draw(self, inputs: int, seed: int) -> tuple[Draw, ...]:
        """Weights of every layer, the first as those of `Leaky`."""
        each = enumerate([inputs, *[int(self.units)] * (int(self.layers) - 1)])
        return tuple(self._layer(place).draw(n, _seed(seed, place)) for place, n in each)

    def columns(
        self, weights: tuple[Draw, ...], kinds: Sequence[Deep], inputs: int
    ) -> dict[str, Any]:
        """Leak rates, what multiplies ``W``, and the scaled input weights, layer by layer."""
        columns = {}
        for place, one in enumerate(weights):
            layers = [kind._layer(place) for kind in kinds]
            columns[f"layer {place}"] = layers[0].columns(one, layers, one.W_in.shape[1] - 1)
        return columns

    def step(self, weights: tuple[Draw, ...], columns, x, u):
        """One update of all layers ``x (size, columns)``, from the lowest to the highest."""
        states, units = [], x.shape[0] // len(weights)
        for layer, one in enumerate(weights):
            own = x[layer * units : (layer + 1) * units]
            u = self._layer(0).step(one, columns[f"layer {layer}"], own, u)
            states.append(u)
        return namespace(x).concatenate(states)

    def warmup(self, columns) -> int:
        slowest = min(np.min(one["leak"]) for one in columns.values())
        return int(np.clip(len(columns) * 30 / slowest, 200, 3000))

    def trained(self, weights: tuple[Draw, ...], columns) -> dict[str, Any]:
        """The weights of one candidate, all scalings applied; SciPy's form if sparse."""
        found: dict[str, Any] = {"leak_rates_": np.empty(len(weights))}
        for layer, one in enumerate(weights):
            own = self._layer(0).trained(one, columns[f"layer {layer}"])
            found["leak_rates_"][layer] = own["leak_rate_"]
            found |= {f"W_in_{layer + 1}_": own["W_in_"], f"W_{layer + 1}_": own["W_"]}
        return found

    def restored(self, stored: dict[str, Any]) -> tuple[tuple[Draw, ...], dict[str, Any]]:
        weights, columns = [], {}
        for layer, leak in enumerate(stored["leak_rates_"]):
            W_in, W = stored[f"W_in_{layer + 1}_"], stored[f"W_{layer + 1}_"]
            own = {"W_in_": W_in, "W_": W, "leak_rate_": leak}
            one, columns[f"layer {layer}"] = self._layer(0).restored(own)
            weights.append(one)
        return tuple(weights), columns

    def check_stored(self, stored: dict[str, Any], inputs: int) -> None:
        """Raise unless leak rates are such."""
        leaks = stored["leak_rates_"]
        if not ((leaks > 0) & (leaks <= 1)).all():
            raise ValueError(f"leak_rates_ are {leaks}, expected numbers in (0, 1]")


def _seed(seed: int, layer: int) -> int:
    """The seed of a layer: the first has that of the network, the others none that a draw has."""
    if layer == 0:
        return seed
    return int(np.random.SeedSequence([seed % 2**32, 3, layer]).generate_state(1)[0])
