"""Run reservoirs on their own output: closed loops, with the errors they make on the way.

A column is a (candidate, split, ridge) trajectory. A readout may say several steps at once, its
plan: it is asked again when these are over. Nothing here knows what a step of a reservoir is.
Callers hold `_machine.device.engine`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from echofold._data.represent import Inverse
from echofold._engine.kind import Reservoirs
from echofold._machine.arrays import namespace
from echofold._machine.device import EAGER, accelerated
from echofold._machine.programs import entry, loop, program, scan, when
from echofold.metrics._metric import SIZES

COLUMNS = 128  # of small reservoirs run together on a CPU: they stay in its L2 cache
WIDE_COLUMNS = 512  # of large ones, whose W must be read again for every block
ACCELERATOR_COLUMNS = 2**15


def columns_together(units: int, device: str) -> int:
    """Columns to run side by side, as measured for 50 to 500 units."""
    if device == EAGER:
        return WIDE_COLUMNS
    if not device.startswith("cpu"):
        return ACCELERATOR_COLUMNS
    return COLUMNS if units <= 128 else WIDE_COLUMNS


class Trajectories(NamedTuple):
    """Columns under way.

    ``x (units, columns)``, ``y (outputs, columns)``, ``error (columns,)``; ``past`` are the levels
    ``(room, outputs, columns)`` before the next step, the one of step ``n`` at ``n % room``;
    ``plan (steps, outputs, columns)`` is what the readout last said, None if that is one step.
    """

    x: Any
    y: Any
    error: Any
    past: Any
    plan: Any = None


class Course(NamedTuple):
    """What trajectories run along: rows of ``known`` inputs and ``targets``, from ``start``.

    ``known`` is ``(T, known inputs)``, ``targets`` ``(T, outputs)``; ``start`` and ``horizon`` are
    ``(columns,)``; ``unit (outputs, columns or 1)`` is what one scaled unit of each output is
    worth. With an ``inverse`` outputs are brought back before they are compared, and ``targets``
    are original values. If ``present (T,)`` is not None, other rows are not compared. Where steps
    are counted until a run is lost, ``tolerance`` says what errors it may have. ``offset`` is the
    original value of a target of zero, for errors relative to the values. Both have the shape of
    ``unit``.
    """

    known: Any
    targets: Any
    start: Any
    horizon: Any
    unit: Any
    inverse: Inverse | None = None
    present: Any = None
    tolerance: Any = None
    offset: Any = None


def _readout(r: Reservoirs, readout, u, x):
    """``y = W_out [1; u; x]`` with a readout ``(1 + features, outputs)`` for each column."""
    y = r.compiled.kind._outputs(readout, u if r.beside else u[:0], r.look(x, u))
    xp = namespace(y)
    return xp.where(xp.isfinite(y), y, xp.inf)


def _output(course: Course, y, before, past, step, sum_: str):
    """The output that is fed back, the errors up to this step, and the new past.

    Errors are in original units. Those ``before`` grow by none past a column's horizon, and without
    a value. What is summed up are errors of one of the `SIZES`, or steps "lost": none before an
    error is not tolerated, and from then on all that are left.
    """
    xp = namespace(y)
    row = xp.minimum(course.start + step, course.targets.shape[0] - 1)
    truth = course.targets[row].T
    if course.inverse is None:
        e = (y - truth) * course.unit
        truth = truth * course.unit
    else:
        y, value, past = course.inverse.step(course.unit, y, past, step)
        e = value - truth
    if sum_ == "lost":
        beyond = ~(((e / course.tolerance) ** 2).sum(axis=0) <= 1)
        e = xp.where(beyond & (before == 0), course.horizon - step, 0).astype(before.dtype)
    else:
        truth = truth if course.offset is None else truth + course.offset
        e = SIZES[sum_](e, truth).sum(axis=0)
        e = xp.where(xp.isnan(e), xp.inf, e)
    if course.present is not None:
        e = xp.where(course.present[row], e, 0.0)
    return y, before + xp.where(step < course.horizon, e, 0.0), past


def first_output(
    r: Reservoirs, readout, inputs, x, course: Course, past=None, *, sum_: str = "squared"
) -> Trajectories:
    """Columns after their first output, from true states and true ``inputs (inputs, columns)``.

    ``past (room, outputs, columns)`` are the levels before it, the last one last; None if outputs
    are not brought back.
    """
    x, plan = r.state(x), None
    y = _readout(r, readout, inputs, x)
    outputs, columns = course.targets.shape[1], y.shape[1]
    if len(y) > outputs:
        plan = y.reshape(-1, outputs, columns)
        y = plan[0]
    y, error, past = _output(course, y, namespace(y).zeros(columns), past, 0, sum_)
    return Trajectories(x, y, error, past, plan)


def closed_step(r: Reservoirs, readout, course: Course, sum_: str, n, going):
    """One step of every column on its own output."""
    xp = namespace(going.y)
    row = xp.minimum(course.start + n, course.known.shape[0] - 1)
    u = xp.concatenate([going.y, course.known[row].T])
    x = r.step(going.x, u)
    plan = going.plan
    if plan is None:
        y = _readout(r, readout, u, x)
    else:
        place = n % len(plan)
        again = partial(_readout, r, readout, u, x)
        plan = when(place == 0, lambda: again().reshape(plan.shape), lambda: going.plan)
        y = entry(plan, place)
    y, error, past = _output(course, y, going.error, going.past, n, sum_)
    return Trajectories(x, y, error, past, plan)


def _steps(r: Reservoirs, readout, course: Course, sum_: str, going, first, count):
    """The trajectories after ``count`` steps from ``first`` on."""
    step = partial(closed_step, r, readout, course, sum_)
    return loop(0, count, lambda n, going: step(first + n, going), going)


def _kept_steps(r: Reservoirs, readout, course: Course, going, first, steps: int):
    """The trajectories after ``steps`` from ``first`` on, and their outputs."""

    def step(going, n):
        going = closed_step(r, readout, course, "squared", n, going)
        return going, going.y

    return scan(step, going, first + namespace(going.y).arange(steps))


begin, _proceed_keeping = program(first_output), program(_kept_steps)


@program
def _proceed(r: Reservoirs, readout, going, course, first, stop, *, sum_, steps):
    # A CPU runs any number of steps by one program. An accelerator that does not know the number
    # asks the host after every step, so that ``steps`` are compiled in.
    return _steps(r, readout, course, sum_, going, first, stop - first if steps is None else steps)


@program
def _sums(r: Reservoirs, readout, inputs, x, course: Course, past, stop, *, sum_, steps):
    going = first_output(r, readout, inputs, x, course, past, sum_=sum_)
    return _steps(r, readout, course, sum_, going, 1, (stop if steps is None else steps) - 1).error


def proceed(
    r: Reservoirs, readout, going: Trajectories, course: Course, first: int, steps: int,
    sum_: str = "squared", keep: bool = False,
):  # fmt: skip
    """Advance by ``steps`` on the columns' own output; step ``first`` is the next one.

    Returns the trajectories, and the outputs ``(steps, outputs, columns)`` if ``keep`` (errors are
    then squares).
    """
    if keep:
        return _proceed_keeping(r, readout, course, going, first, steps=steps)
    options = {"sum_": sum_, "steps": steps if accelerated() else None}
    return _proceed(r, readout, going, course, first, first + steps, **options), None


def sums(r: Reservoirs, readout, inputs, x, course: Course, before, *, steps: int, sum_: str):
    """Errors ``(columns,)`` of ``steps`` steps from what `begin` takes, by one program."""
    options = {"sum_": sum_, "steps": steps if accelerated() else None}
    return _sums(r, readout, inputs, x, course, before, steps, **options)


@program
def outputs_of(
    r: Reservoirs, readout, inputs, x, course: Course, past, *, steps: int, behind: bool = False
):
    """Outputs ``(steps, outputs, columns)`` from what `begin` takes, by one program.

    If ``behind``, the state ``x`` is the one before the ``inputs``.
    """
    x = r.step(x, inputs) if behind else x
    going = first_output(r, readout, inputs, x, course, past)
    if steps == 1:
        return going.y[None]
    _, rest = _kept_steps(r, readout, course, going, 1, steps - 1)
    return namespace(rest).concatenate([going.y[None], rest])


def generate(
    r: Reservoirs, readout, inputs, x, known, steps: int, unit=1.0, inverse=None, before=None,
    behind: bool = False,
) -> np.ndarray:  # fmt: skip
    """Outputs ``(steps, outputs, columns)`` of a closed loop.

    ``x (units, columns)`` is the state after the true ``inputs (inputs, columns)``, or before them
    if ``behind``; ``readout`` is ``(1 + features, outputs, columns)``, of as many steps as it says
    at once; row ``j`` of ``known (steps, known inputs)`` stands beside the fed-back output at step
    ``j`` (row 0 is already part of ``inputs``). A diverging column turns infinite and disturbs no
    other. An ``inverse`` with limits needs the ``unit`` of outputs, and the levels ``before`` as
    `begin` takes them.
    """
    nowhere, known = np.zeros(readout.shape[2], dtype=int), np.reshape(known, (steps, -1))
    outputs = len(inputs) - known.shape[1]
    targets = np.zeros((1, outputs))
    course = Course(known, targets, nowhere, nowhere, (np.ones(outputs) * unit)[:, None], inverse)
    return np.asarray(outputs_of(r, readout, inputs, x, course, before, steps=steps, behind=behind))
