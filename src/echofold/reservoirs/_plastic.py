"""Networks whose units adapt to the data: intrinsic plasticity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from echofold._engine.kind import Reservoir, side_by_side
from echofold._engine.weights import Draw
from echofold._machine.arrays import namespace
from echofold.reservoirs._leaky import Weighted

ADAPTING = ("rate", "mean", "sigma")


@dataclass(eq=False, repr=False)
class Plastic(Weighted, Reservoir):
    """Leaky units that adapt to the data, by intrinsic plasticity [1]_, [2]_.

    Every unit has a gain and a shift of its own, ``y = tanh(g z + s)`` with ``z`` what drives it::

        z(n) = W_in [1; u(n)] + W x(n−1),    x(n) = (1 − a) x(n−1) + a tanh(g z(n) + s)

    Before anything is trained they adapt to the inputs, step by step, so that the values ``y`` that
    a unit takes in time are close to normal, of a given mean and standard deviation.

    Parameters
    ----------
    units : int, default=100
    leak_rate : float in (0, 1], default=1.0
    spectral_radius : float or None, default=0.9
        Of ``W`` before units adapt, which then multiply its rows by their gains.
    input_scaling : float or array of shape (inputs,), default=1.0
    bias_scaling : float, default=1.0
    connectivity : float in (0, 1], default=1.0
    topology, jump
        As in `Leaky`.
    rate : float, default=1e-4
        How fast units adapt; 0 leaves them as they are, and then this is `Leaky`.
    mean : float in (-1, 1), default=0.0
        Mean of the values that a unit should take.
    sigma : float, default=0.3
        Their standard deviation.
    epochs : int, default=5
        How often units adapt to all inputs from the first to the last.

    Notes
    -----
    With ``δ = −η (−μ / σ² + (y / σ²) (2σ² + 1 − y² + μ y))``, ``η`` the rate, ``μ`` the mean and
    ``σ`` the standard deviation, a step changes ``s`` by ``δ`` and ``g`` by ``η / g + δ z``, from
    ``s = 0`` and ``g = 1`` on: stochastic descent of the divergence between the distribution of
    ``y`` and the normal one. Each pass begins at rest, and so does each of several series or
    sequences, which units adapt to one after the other. Slow data want a small rate, or shifts
    follow the data themselves.

    Units adapt once, to all inputs given to `fit`, and are the same for every split. As with the
    scale of data, inputs of validation rows have been seen then; of forecasters, whose inputs are
    the values themselves, that is the whole series. A trained network carries weights that have
    adapted (``W_in_`` and ``W_``, of units without gain and shift), which no new data change.

    References
    ----------
    .. [1] B. Schrauwen, M. Wardermann, D. Verstraeten, J. J. Steil and D. Stroobandt, "Improving
       reservoirs using intrinsic plasticity", Neurocomputing 71(7-9), 2008.
    .. [2] J. J. Steil, "Online reservoir adaptation by intrinsic plasticity for
       backpropagation-decorrelation and echo state learning", Neural Networks 20(3), 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster
    >>> from echofold.reservoirs import Leaky, Plastic
    >>> y = np.sin(np.arange(1000) / 5)
    >>> for kind in (Leaky(50), Plastic(50, sigma=0.2)):
    ...     model = ESNForecaster(reservoir=kind, random_state=0).fit(y)
    ...     print(float(np.abs(model.states(y)[100:].mean("time")).mean().round(1)))
    0.3
    0.0
    """

    parameters = ("leak_rate", "spectral_radius", "input_scaling", "bias_scaling", *ADAPTING)
    compiled_in = ()
    stored = {"W_in_": ("size", "1 + inputs"), "W_": ("size", "size"), "leak_rate_": ()}
    activation = "tanh"

    units: int = 100
    _: KW_ONLY
    leak_rate: float = 1.0
    spectral_radius: float | None = 0.9
    input_scaling: Any = 1.0
    bias_scaling: float = 1.0
    connectivity: float = 1.0
    topology: str = "uniform"
    jump: int = 5
    rate: float = 1e-4
    mean: float = 0.0
    sigma: float = 0.3
    epochs: int = 5

    def shared(self) -> tuple:
        return *super().shared(), int(self.epochs)

    def draw(self, inputs: int, seed: int) -> Draw:
        return self._drawn(inputs, seed)

    def columns(self, weights: Draw, kinds: Sequence[Plastic], inputs: int) -> dict[str, Any]:
        """Those of `Leaky`, how units adapt, and their gains and shifts before they do."""
        columns = super().columns(weights, kinds, inputs)
        columns |= side_by_side(
            [{name: getattr(kind, name) for name in ADAPTING} for kind in kinds]
        )
        shape = int(self.units), len(kinds)
        return columns | {"unit gain": np.ones(shape), "unit shift": np.zeros(shape)}

    def _driven(self, weights: Draw, columns, x, u):
        z = super()._driven(weights, columns, x, u)
        return columns["unit gain"] * z + columns["unit shift"] if "unit gain" in columns else z

    def step(self, weights: Draw, columns, x, u):
        return self._update(weights, columns, x, u)

    def adapts(self) -> int:
        return int(self.epochs)

    def adapted(self, weights: Draw, columns, x, u):
        rate, mean, sigma = (columns[name] for name in ADAPTING)
        g, s, z = (
            columns["unit gain"],
            columns["unit shift"],
            super()._driven(weights, columns, x, u),
        )
        y, square = namespace(z).tanh(g * z + s), sigma * sigma
        d = -rate * (-mean / square + y / square * (2 * square + 1 - y * y + mean * y))
        changed = {"unit gain": g + rate / g + d * z, "unit shift": s + d}
        return x + columns["leak"] * (y - x), columns | changed

    def trained(self, weights: Draw, columns) -> dict[str, Any]:
        """The weights of one candidate that have adapted, all scalings applied."""
        found, g = super().trained(weights, columns), columns["unit gain"]
        W_in, W = g * found["W_in_"], found["W_"]
        W_in[:, :1] += columns["unit shift"]
        return found | {
            "W_in_": W_in,
            "W_": W.multiply(g).tocsr() if hasattr(W, "tocsr") else g * W,
        }
