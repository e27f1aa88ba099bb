"""A closed loop and small differences from it, side by side.

The state of a loop is ``z = (x, y)``: the reservoir's state and the output that is fed back next.
One step of it is ``x' = step(x, y)``, ``y' = W_out [1; y; x']``. Callers hold
`_machine.device.engine`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from echofold._engine.generate import Course, Trajectories, closed_step
from echofold._engine.kind import Reservoirs
from echofold._machine.programs import program, scan
from echofold._machine.shapes import few_lengths

STRETCH = 1024  # steps of one program run: what it gives is small, and a loop that diverges stops


class Loop(NamedTuple):
    """A reservoir, its readout ``(1 + features, outputs, 1)``, and what limits its outputs.

    ``past`` are the levels that a ``course.way`` reads; without differences it reads none.
    """

    reservoirs: Reservoirs
    readout: Any
    course: Course
    past: Any

    def step(self, z):
        """``z (size + outputs,)`` after one step."""
        size = self.reservoirs.shape[0]
        going = Trajectories(z[:size, None], z[size:, None], jnp.zeros(1), self.past)
        going = closed_step(self.reservoirs, self.readout, self.course, "squared", 0, going)
        return jnp.concatenate([going.x, going.y])[:, 0]


def loop_of(r: Reservoirs, readout: np.ndarray, unit=1.0, way=None, before=None) -> Loop:
    """The loop of a ``readout (1 + features, outputs)``; options as `generate` takes them."""
    outputs = readout.shape[1]
    nothing = np.zeros(1, dtype=int)
    course = Course(
        np.zeros((1, 0)), np.zeros((1, outputs)), nothing, nothing, np.ones(outputs) * unit, way
    )
    past = np.zeros((0, outputs, 1)) if before is None else before
    return Loop(r, readout[:, :, None], course, past)


@program
def _push(loop: Loop, z, Q, stop, *, steps: int):
    """``Q R = J Q`` along the loop: the last ``z`` and ``Q``, ``log |diag R|`` and outputs.

    ``J`` is the derivative of a step at ``z``. It is never made: its products with the columns of
    ``Q (size + outputs, count)`` come from one pass, with the step itself computed once. Vectors
    are made orthogonal after every step, because those of strongly contracting directions would be
    lost to rounding in the others within a few.
    """

    def step(carry, _):
        z, Q = carry
        z, pushed = jax.vmap(
            lambda v: jax.jvp(loop.step, (z,), (v,)), in_axes=1, out_axes=(None, 1)
        )(Q)
        Q, R = jnp.linalg.qr(pushed)
        return (z, Q), (jnp.log(jnp.abs(jnp.diagonal(R))), z[loop.reservoirs.shape[0] :])

    (z, Q), rows = scan(step, (z, Q), jnp.arange(steps), stop=stop)
    return z, Q, rows


def first_directions(size: int, count: int) -> np.ndarray:
    """Orthonormal columns ``(size, count)`` to begin with, the same every time."""
    return np.linalg.qr(np.random.RandomState(0).normal(size=(size, count)))[0]


def growth(loop: Loop, z: np.ndarray, steps: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Logarithms ``(steps, count)`` of the growth of each direction, and outputs of each step.

    A loop that leaves all bounds ends early: its last output is not finite.
    """
    Q: Any = first_directions(len(z), count)
    logs, outputs = [], []
    length = min(few_lengths(steps), STRETCH)
    for done in range(0, steps, length):
        rows = min(length, steps - done)
        z, Q, (grown, y) = _push(loop, z, Q, rows, steps=length)
        logs.append(np.asarray(grown)[:rows])
        outputs.append(np.asarray(y)[:rows])
        if not np.isfinite(outputs[-1]).all():
            break
    return np.concatenate(logs), np.concatenate(outputs)
