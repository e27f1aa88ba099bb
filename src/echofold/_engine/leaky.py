"""The paper's reservoir: leaky units, for a batch of candidates that share a draw.

Equation 1::

    x(n) = (1 − a) x(n−1) + a tanh(W_in [1; u(n)] + W x(n−1))

Arrays are neurons first, columns last: states are ``(units, columns)``. Leak rate, radius and
scalings act on columns, so every step is one matrix product and one fused elementwise pass.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from echofold._engine.weights import Draw, Sparse
from echofold._machine.programs import scan

UNROLLED = 64  # connections added up in one fused expression; more are scanned
FEW_INPUTS = 3  # up to this many inputs are cheaper added one by one than as a product


class Reservoirs(NamedTuple):
    """Candidates that share a draw.

    ``W_in`` is ``(units, 1 + inputs)``, ``W`` ``(units, units)`` or `Sparse`; ``leak`` and
    ``gain`` (what multiplies ``W``) are ``(columns,)``, ``scaling`` is ``(1 + inputs, columns)``.
    """

    W_in: Any
    W: Any
    leak: Any
    gain: Any
    scaling: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Units and columns."""
        return self.W_in.shape[-2], self.leak.shape[-1]

    def columns(self, index) -> Reservoirs:
        """The candidates at ``index``, one for each column wanted."""
        return self._replace(
            leak=self.leak[index], gain=self.gain[index], scaling=self.scaling[:, index]
        )

    def constant(self):
        """The part of the drive that never changes, for `step`."""
        return self.W_in[:, :1] * self.scaling[:1]

    def step(self, constant, x, u):
        """One update of states ``x (units, columns)`` by inputs ``u (inputs, columns or 1)``."""
        if u.shape[0] <= FEW_INPUTS:
            driven = constant
            for i in range(u.shape[0]):
                driven = driven + self.W_in[:, 1 + i : 2 + i] * (self.scaling[1 + i] * u[i])
        else:
            driven = constant + self.W_in[:, 1:] @ (self.scaling[1:] * u)
        return x + self.leak * (jnp.tanh(driven + self.gain * _product(self.W, x)) - x)

    def warmup(self) -> int:
        """Steps after which little is left of the state at rest that a run began with."""
        return int(np.clip(30 / np.min(self.leak), 200, 3000))


def reservoirs(draw: Draw, leak, radius, scaling) -> Reservoirs:
    """Combine a draw with the leak rates, radii and scalings of its candidates."""
    leak = np.asarray(leak, dtype=float)
    gain = np.ones_like(leak) if draw.radius is None else np.asarray(radius) / draw.radius
    return Reservoirs(draw.W_in, draw.W, leak, gain, np.asarray(scaling, dtype=float))


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
