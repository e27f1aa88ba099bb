"""Run reservoirs on their own output: closed loops, with the errors they make on the way.

A column is a (candidate, split, ridge) trajectory. Nothing here knows what a step of a reservoir
is. Callers hold `_machine.device.engine`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from echofold._engine.kind import Reservoirs
from echofold._machine.device import accelerated
from echofold._machine.programs import loop, program, scan

COLUMNS = 128  # of small reservoirs run together on a CPU: they stay in its L2 cache
WIDE_COLUMNS = 512  # of large ones, whose W must be read again for every block
ACCELERATOR_COLUMNS = 2**15


def columns_together(units: int, platform: str) -> int:
    """Columns to run side by side, as measured for 50 to 500 units."""
    if platform != "cpu":
        return ACCELERATOR_COLUMNS
    return COLUMNS if units <= 128 else WIDE_COLUMNS


class Trajectories(NamedTuple):
    """Columns under way. ``x (units, columns)``, ``y (outputs, columns)``, ``error (columns,)``."""

    x: Any
    y: Any
    error: Any


class Course(NamedTuple):
    """What trajectories run along: rows of ``known`` inputs and ``targets``, from ``start``.

    ``known`` is ``(T, known inputs)``, ``targets`` ``(T, outputs)``; ``start`` and ``horizon`` are
    ``(columns,)``; ``unit`` is ``(outputs,)``, what one scaled unit of each output is worth.
    """

    known: Any
    targets: Any
    start: Any
    horizon: Any
    unit: Any


def _readout(r: Reservoirs, readout, u, x):
    """``y = W_out [1; u; x]`` with a readout ``(1 + inputs + seen, outputs)`` for each column."""
    i = 1 + u.shape[0]
    y = readout[0] + (readout[i:] * r.look(x, u)[:, None]).sum(axis=0)
    for j in range(u.shape[0]):
        y = y + readout[1 + j] * u[j]
    return jnp.where(jnp.isfinite(y), y, jnp.inf)


def _mistake(course: Course, y, step, absolute: bool):
    """Error of this step in original units, zero past a column's horizon."""
    row = jnp.minimum(course.start + step, course.targets.shape[0] - 1)
    e = (y - course.targets[row].T) * course.unit[:, None]
    e = jnp.abs(e).sum(axis=0) if absolute else (e * e).sum(axis=0)
    e = jnp.where(jnp.isnan(e), jnp.inf, e)
    return jnp.where(step < course.horizon, e, 0.0)


@program
def _begin(r: Reservoirs, readout, inputs, x, course: Course, *, absolute) -> Trajectories:
    y = _readout(r, readout, inputs, x)
    return Trajectories(x, y, _mistake(course, y, 0, absolute))


def begin(
    r: Reservoirs, readout, inputs, x, course: Course, absolute: bool = False
) -> Trajectories:
    """First output of every column, from true states and true ``inputs (inputs, columns)``."""
    return _begin(r, readout, inputs, x, course, absolute=absolute)


def _closed_step(r: Reservoirs, readout, course: Course, absolute: bool, n, going):
    """One step of every column on its own output."""
    row = jnp.minimum(course.start + n, course.known.shape[0] - 1)
    u = jnp.concatenate([going.y, course.known[row].T])
    x = r.step(going.x, u)
    y = _readout(r, readout, u, x)
    return Trajectories(x, y, going.error + _mistake(course, y, n, absolute))


@program
def _proceed(r: Reservoirs, readout, going, course: Course, first, stop, *, absolute, steps):
    """The trajectories before step ``stop``; ``steps``, if not None, are compiled in."""
    step = partial(_closed_step, r, readout, course, absolute)
    count = stop - first if steps is None else steps
    return loop(0, count, lambda n, going: step(first + n, going), going)


@program
def _proceed_keeping(r: Reservoirs, readout, going, course: Course, first, *, steps: int):
    """The trajectories after ``steps`` more, and their outputs."""
    one = partial(_closed_step, r, readout, course, False)

    def step(going, n):
        going = one(n, going)
        return going, going.y

    return scan(step, going, first + jnp.arange(steps))


def proceed(
    r: Reservoirs,
    readout,
    going: Trajectories,
    course: Course,
    first: int,
    steps: int,
    absolute: bool = False,
    keep: bool = False,
):
    """Advance by ``steps`` on the columns' own output; step ``first`` is the next one.

    Returns the trajectories, and the outputs ``(steps, outputs, columns)`` if ``keep`` (the errors
    are then squares).
    """
    if keep:
        return _proceed_keeping(r, readout, going, course, first, steps=steps)
    # A CPU runs any number of steps by one program. An accelerator that does not know the number
    # asks the host after every step.
    known = steps if accelerated() else None
    stop = first + steps
    return _proceed(r, readout, going, course, first, stop, absolute=absolute, steps=known), None


def generate(r: Reservoirs, readout, inputs, x, known, steps: int):
    """Outputs ``(steps, outputs, columns)`` of a closed loop.

    ``x (units, columns)`` is the state after the true ``inputs (inputs, columns)``; ``readout`` is
    ``(1 + inputs + seen, outputs, columns)``; row ``j`` of ``known (steps, known inputs)`` stands
    beside the fed-back output at step ``j`` (row 0 is already part of ``inputs``). A diverging
    column turns infinite and disturbs no other.
    """
    outputs, columns = readout.shape[1:]
    course = Course(
        np.reshape(known, (steps, -1)),
        np.zeros((1, outputs)),
        np.zeros(columns, dtype=int),
        np.zeros(columns, dtype=int),
        np.ones(outputs),
    )
    going = begin(r, readout, inputs, x, course)
    first = np.asarray(going.y)[None]
    if steps == 1:
        return first
    _, rest = proceed(r, readout, going, course, 1, steps - 1, keep=True)
    return np.concatenate([first, rest])
