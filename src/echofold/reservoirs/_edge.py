"""Networks at the edge of stability: leaky ones whose leak is a rotation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from echofold._data.arguments import check_number
from echofold._engine.kind import Reservoir
from echofold._engine.weights import Draw, drawn, orthogonal, prepare
from echofold._machine.available import remembered
from echofold.reservoirs._weighted import (
    check_input_scaling,
    check_radius,
    check_share,
    check_weighted,
    leaky_columns,
    moved,
    radii,
    scalings,
    trained_weights,
)


class _Turned(NamedTuple):
    """Weights of a network, and the rotation ``O (units, units)`` of its state."""

    draw: Draw
    O: np.ndarray  # noqa: E741 (the paper's letter)


class EdgeOfStability(Reservoir):
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
    compiled_in = ("activation",)
    stored = {
        "W_in_": ("size", "1 + inputs"),
        "W_": ("size", "size"),
        "orthogonal_": ("size", "size"),
        "proximity_": (),
    }

    def __init__(
        self,
        units=100,
        *,
        proximity=0.5,
        spectral_radius=0.9,
        input_scaling=1.0,
        bias_scaling=1.0,
        connectivity=1.0,
        activation="tanh",
        topology="uniform",
        jump=5,
    ):
        self.units = units
        self.proximity = proximity
        self.spectral_radius = spectral_radius
        self.input_scaling = input_scaling
        self.bias_scaling = bias_scaling
        self.connectivity = connectivity
        self.activation = activation
        self.topology = topology
        self.jump = jump

    def size(self, inputs: int) -> int:
        """Number of units."""
        return int(self.units)

    def check(self) -> None:
        """Raise for a parameter outside its range, naming it, its value and the remedy."""
        check_weighted(self)
        check_share("proximity", self.proximity)
        check_radius(self.spectral_radius)
        check_number("bias_scaling", self.bias_scaling, "a finite number")
        check_input_scaling(self.input_scaling)

    def shared(self) -> tuple:
        """Equal for candidates that can share a draw: a radius of None leaves ``W`` as it is."""
        return *super().shared(), self.spectral_radius is None

    def draw(self, inputs: int, seed: int) -> _Turned:
        """Draw the weights as those of `Leaky`, and a rotation."""
        units, connectivity = int(self.units), float(self.connectivity)
        rescale = self.spectral_radius is not None
        weights = drawn(units, inputs, connectivity, seed, rescale, self.topology, self.jump)
        return _Turned(weights, _rotation(units, seed))

    def columns(
        self, weights: _Turned, kinds: Sequence[EdgeOfStability], inputs: int
    ) -> dict[str, np.ndarray]:
        """Proximities, what multiplies ``W``, and the scaled input weights of candidates."""
        proximity = [float(kind.proximity) for kind in kinds]
        scaling = scalings(kinds, inputs, [float(kind.bias_scaling) for kind in kinds])
        return leaky_columns(weights.draw, proximity, radii(kinds), scaling)

    def step(self, weights: _Turned, columns, x, u):
        """One update of states ``x (units, columns)`` by inputs ``u (inputs, columns or 1)``."""
        turned, share = weights.O @ x, columns["leak"]
        return turned + share * (moved(self.activation, weights.draw, columns, x, u) - turned)

    def warmup(self, columns) -> int:
        """Steps after which little is left of the state at rest that a run began with."""
        return int(np.clip(30 / np.min(columns["leak"]), 200, 3000))

    def trained(self, weights: _Turned, columns) -> dict[str, Any]:
        """The weights of one candidate, all scalings applied; ``W`` in SciPy's form if sparse."""
        W_in, W = trained_weights(weights.draw, columns)
        proximity = float(columns["leak"][0])
        return {"W_in_": W_in, "W_": W, "orthogonal_": weights.O, "proximity_": proximity}

    def restored(self, stored: dict[str, Any]) -> tuple[_Turned, dict[str, np.ndarray]]:
        """The reservoir of one candidate, ready to run."""
        weights = prepare(stored["W_in_"], stored["W_"], rescale=False)
        turn = stored["orthogonal_"]
        ones = np.ones((stored["W_in_"].shape[1], 1))
        columns = leaky_columns(weights, [stored["proximity_"]], [1.0], ones)
        return _Turned(weights, turn), columns

    def check_stored(self, stored: dict[str, Any], inputs: int) -> None:
        """Raise unless the proximity is one, and the rotation is dense, as it is run."""
        if not 0 < stored["proximity_"] <= 1:
            raise ValueError(f"proximity_ is {stored['proximity_']}, expected a number in (0, 1]")
        if not isinstance(stored["orthogonal_"], np.ndarray):
            raise ValueError("orthogonal_ is a sparse matrix, expected a dense one")


@remembered(size=lambda rotation: rotation.nbytes)
def _rotation(units: int, seed: int) -> np.ndarray:
    """A random orthogonal matrix, from another stream than the weights of the same seed."""
    words = np.random.SeedSequence([seed % 2**32, 2]).generate_state(4)
    return orthogonal(np.random.RandomState(words), units)
