"""Networks at the edge of stability: leaky ones whose leak is a rotation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from echofold._engine.kind import Reservoir
from echofold._engine.weights import Draw, orthogonal
from echofold._machine.available import remembered
from echofold.reservoirs._leaky import Weighted


@dataclass(eq=False, repr=False)
class EdgeOfStability(Weighted, Reservoir):
    """Edge of stability echo state network (ES²N): part network, part rotation.

    ::

        x(n) = β tanh(W_in [1; u(n)] + W x(n−1)) + (1 − β) O x(n−1)

    with a random orthogonal matrix ``O`` in place of the leak of `Leaky` [1]_. A rotation forgets
    nothing, so a small ``β`` lets the network remember inputs for long, close to the edge beyond
    which it would be unstable.

    Parameters
    ----------
    units : int, default=100
    proximity : float in (0, 1], default=0.5
        ``β``: how far the state is from a pure rotation. At 1 this is `Leaky` without leak.
    spectral_radius : float or None, default=0.9
    input_scaling : float or array of shape (inputs,), default=1.0
    bias_scaling : float, default=1.0
    connectivity : float in (0, 1], default=1.0
    activation, topology, jump
        As in `Leaky`; ``O`` is dense whatever they are.

    References
    ----------
    .. [1] A. Ceni and C. Gallicchio, "Edge of stability echo state network", IEEE Transactions on
       Neural Networks and Learning Systems 36(4), 2024 (first as arXiv:2308.02902, 2023).

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster, ESNSearchCV, KFold
    >>> from echofold.reservoirs import EdgeOfStability
    >>> y = np.sin(np.arange(300) / 5)
    >>> model = ESNForecaster(reservoir=EdgeOfStability(50), random_state=0)
    >>> space = {"reservoir__proximity": [0.1, 0.5], "ridge": [1e-6, 1e-2]}
    >>> found = ESNSearchCV(model, space, cv=KFold(4)).fit(y)
    >>> bool(found.best_score_ < 0.01)
    True
    """

    parameters = ("proximity", "spectral_radius", "input_scaling", "bias_scaling")
    stored = {
        "W_in_": ("size", "1 + inputs"),
        "W_": ("size", "size"),
        "orthogonal_": ("size", "size"),
        "proximity_": (),
    }
    _leak = "proximity"

    units: int = 100
    _: KW_ONLY
    proximity: float = 0.5
    spectral_radius: float | None = 0.9
    input_scaling: Any = 1.0
    bias_scaling: float = 1.0
    connectivity: float = 1.0
    activation: str | Callable = "tanh"
    topology: str = "uniform"
    jump: int = 5

    def draw(self, inputs: int, seed: int) -> Draw:
        """Draw the weights as those of `Leaky`, and a rotation."""
        return self._drawn(inputs, seed)._replace(rotation=_rotation(int(self.units), seed))

    def step(self, weights: Draw, columns, x, u):
        return self._update(weights, columns, x, u, kept=weights.rotation @ x)

    def trained(self, weights: Draw, columns) -> dict[str, Any]:
        """The weights of one candidate, all scalings applied, and the rotation."""
        found = super().trained(weights, columns) | {"orthogonal_": weights.rotation}
        return {name: found[name] for name in self.stored}

    def restored(self, stored: dict[str, Any]) -> tuple[Draw, dict[str, Any]]:
        weights, columns = super().restored(stored)
        return weights._replace(rotation=stored["orthogonal_"]), columns

    def check_stored(self, stored: dict[str, Any], inputs: int) -> None:
        """Raise unless the proximity is one, and the rotation is dense, as it is run."""
        super().check_stored(stored, inputs)
        if not isinstance(stored["orthogonal_"], np.ndarray):
            raise ValueError("orthogonal_ is a sparse matrix, expected a dense one")


@remembered(size=lambda rotation: rotation.nbytes)
def _rotation(units: int, seed: int) -> np.ndarray:
    """A random orthogonal matrix, from another stream than the weights of the same seed."""
    words = np.random.SeedSequence([seed % 2**32, 2]).generate_state(4)
    return orthogonal(np.random.RandomState(words), units)
