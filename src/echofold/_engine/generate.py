"""Run reservoirs on their own output: closed loops, with the errors they make on the way.

A column is a (candidate, split, ridge) trajectory. Nothing here knows what a step of a reservoir
is. Callers hold `_machine.device.engine`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from echofold._data.represent import Form
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
    """Columns under way.

    ``x (units, columns)``, ``y (outputs, columns)``, ``error (columns,)``; ``past`` are the levels
    ``(lost, outputs, columns)`` before the next step, the one of step ``n`` at ``n % lost``.
    """

    x: Any
    y: Any
    error: Any
    past: Any


class Course(NamedTuple):
    """What trajectories run along: rows of ``known`` inputs and ``targets``, from ``start``.

    ``known`` is ``(T, known inputs)``, ``targets`` ``(T, outputs)``; ``start`` and ``horizon`` are
    ``(columns,)``; ``unit`` and ``offset`` are ``(outputs,)``, what one scaled unit and a scaled
    zero of each output are worth. Outputs that represent a series by a form are brought back before
    they are compared, and ``targets`` are values of that series.
    """

    known: Any
    targets: Any
    start: Any
    horizon: Any
    unit: Any
    offset: Any = None


def _readout(r: Reservoirs, readout, u, x):
    """``y = W_out [1; u; x]`` with a readout ``(1 + inputs + seen, outputs)`` for each column."""
    i = 1 + u.shape[0]
    y = readout[0] + (readout[i:] * r.look(x, u)[:, None]).sum(axis=0)
    for j in range(u.shape[0]):
        y = y + readout[1 + j] * u[j]
    return jnp.where(jnp.isfinite(y), y, jnp.inf)


def _mistake(course: Course, form: Form, y, past, step, absolute: bool):
    """Error of this step in original units, zero past a column's horizon; and the new past."""
    row = jnp.minimum(course.start + step, course.targets.shape[0] - 1)
    if form:
        z = y * course.unit[:, None] + course.offset[:, None]
        for lag, c in form.terms:
            z = z - c * lax.dynamic_index_in_dim(past, (step - lag) % form.lost, keepdims=False)
        if form.lags:
            past = lax.dynamic_update_index_in_dim(past, z, step % form.lost, 0)
        e = (jnp.exp(z) if form.log else z) - course.targets[row].T
    else:
        e = (y - course.targets[row].T) * course.unit[:, None]
    e = jnp.abs(e).sum(axis=0) if absolute else (e * e).sum(axis=0)
    e = jnp.where(jnp.isnan(e), jnp.inf, e)
    return jnp.where(step < course.horizon, e, 0.0), past


@program
def _begin(r: Reservoirs, readout, inputs, x, course: Course, past, *, form, absolute):
    y = _readout(r, readout, inputs, x)
    error, past = _mistake(course, form, y, past, 0, absolute)
    return Trajectories(x, y, error, past)


def begin(
    r: Reservoirs,
    readout,
    inputs,
    x,
    course: Course,
    absolute: bool = False,
    past=None,
    form: Form | None = None,
) -> Trajectories:
    """First output of every column, from true states and true ``inputs (inputs, columns)``."""
    form = form or Form()
    past = np.zeros((0, *readout.shape[1:])) if past is None else past
    return _begin(r, readout, inputs, x, course, past, form=form, absolute=absolute)


def _closed_step(r: Reservoirs, readout, course: Course, form: Form, absolute: bool, n, going):
    """One step of every column on its own output."""
    row = jnp.minimum(course.start + n, course.known.shape[0] - 1)
    u = jnp.concatenate([going.y, course.known[row].T])
    x = r.step(going.x, u)
    y = _readout(r, readout, u, x)
    error, past = _mistake(course, form, y, going.past, n, absolute)
    return Trajectories(x, y, going.error + error, past)


@program
def _proceed(r: Reservoirs, readout, going, course, first, stop, *, form, absolute, steps):
    """The trajectories before step ``stop``; ``steps``, if not None, are compiled in."""
    step = partial(_closed_step, r, readout, course, form, absolute)
    count = stop - first if steps is None else steps
    return loop(0, count, lambda n, going: step(first + n, going), going)


@program
def _proceed_keeping(r: Reservoirs, readout, going, course: Course, first, *, steps: int):
    """The trajectories after ``steps`` more, and their outputs."""
    one = partial(_closed_step, r, readout, course, Form(), False)

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
    form: Form | None = None,
):
    """Advance by ``steps`` on the columns' own output; step ``first`` is the next one.

    Returns the trajectories, and the outputs ``(steps, outputs, columns)`` if ``keep`` (errors are
    then squares, and of outputs that are not brought back).
    """
    if keep:
        return _proceed_keeping(r, readout, going, course, first, steps=steps)
    # A CPU runs any number of steps by one program. An accelerator that does not know the number
    # asks the host after every step.
    known = steps if accelerated() else None
    stop = first + steps
    options = {"form": form or Form(), "absolute": absolute, "steps": known}
    return _proceed(r, readout, going, course, first, stop, **options), None


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
        np.zeros(outputs),
    )
    going = begin(r, readout, inputs, x, course)
    first = np.asarray(going.y)[None]
    if steps == 1:
        return first
    _, rest = proceed(r, readout, going, course, 1, steps - 1, keep=True)
    return np.concatenate([first, rest])
