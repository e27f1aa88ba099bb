"""Run reservoirs: teacher forced (`drive`) or on their own output (`generate`).

The paper's equation 1, for a batch of candidates that share a draw::

    x(n) = (1 − a) x(n−1) + a tanh(W_in [1; u(n)] + W x(n−1))

Arrays are neurons first, columns last: states are ``(units, columns)``. While driving, a column
is a candidate; while generating, a (candidate, split, ridge) trajectory. Leak rate, radius and
scalings act on columns, so every step is one matrix product and one fused elementwise pass.
Nothing here knows about folds. Callers hold `_device.engine`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from echofold._device import accelerated
from echofold._programs import loop, program, scan
from echofold._weights import Draw, Sparse

SHORTEST = 8  # lengths up to this many steps run as one shape
UNROLLED = 64  # connections added up in one fused expression; more are scanned
FEW_INPUTS = 3  # up to this many inputs are cheaper added one by one than as a product
SILENT_STEPS = 2**12  # steps driven at a time when no states are kept
BLOCK_BYTES = 2**21  # states of one block of time steps: they are read again from the cache
COLUMNS = 128  # of small reservoirs run together on a CPU: they stay in its L2 cache
WIDE_COLUMNS = 512  # of large ones, whose W must be read again for every block
ACCELERATOR_COLUMNS = 2**15


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


def reservoirs(draw: Draw, leak, radius, scaling) -> Reservoirs:
    """Combine a draw with the leak rates, radii and scalings of its candidates."""
    leak = np.asarray(leak, dtype=float)
    gain = np.ones_like(leak) if draw.radius is None else np.asarray(radius) / draw.radius
    return Reservoirs(draw.W_in, draw.W, leak, gain, np.asarray(scaling, dtype=float))


def _step(r: Reservoirs, bias, x, u):
    """One update of states ``x (units, columns)`` by inputs ``u (inputs, columns or 1)``."""
    if u.shape[0] <= FEW_INPUTS:
        driven = bias
        for i in range(u.shape[0]):
            driven = driven + r.W_in[:, 1 + i : 2 + i] * (r.scaling[1 + i] * u[i])
    else:
        driven = bias + r.W_in[:, 1:] @ (r.scaling[1:] * u)
    return x + r.leak * (jnp.tanh(driven + r.gain * _product(r.W, x)) - x)


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


def _bias(r: Reservoirs):
    """The part of the drive that never changes."""
    return r.W_in[:, :1] * r.scaling[:1]


def columns_together(units: int, platform: str) -> int:
    """Columns to run side by side, as measured for 50 to 500 units."""
    if platform != "cpu":
        return ACCELERATOR_COLUMNS
    return COLUMNS if units <= 128 else WIDE_COLUMNS


def few_lengths(steps: int) -> int:
    """``steps`` rounded up to one of few numbers, because each is compiled once.

    The work grows by a quarter at most, beyond the shortest.

    Examples
    --------
    >>> [few_lengths(n) for n in (1, 8, 33, 100, 1000)]
    [8, 8, 40, 112, 1024]
    """
    grain = max(SHORTEST, 1 << max(steps.bit_length() - 3, 0))
    return -(-steps // grain) * grain


def pad_rows(rows, size: int):
    """``rows`` followed by zeros up to ``size``."""
    if len(rows) == size:
        return np.asarray(rows)
    padded = np.zeros((size, *np.shape(rows)[1:]), dtype=np.asarray(rows).dtype)
    padded[: len(rows)] = rows
    return padded


# --- driving ------------------------------------------------------------------------------------


@program
def _drive(r: Reservoirs, inputs, x, length):
    bias = _bias(r)

    def step(x, u):
        x = _step(r, bias, x, u[:, None])
        return x, x

    _, states = scan(step, x, inputs)
    return states, states[length - 1]


@program
def _drive_silent(r: Reservoirs, inputs, x, length, *, whole: bool):
    """Only the last state; rows from ``length`` on are padding, run idly if ``whole``."""
    bias = _bias(r)

    def step(n, x):
        return _step(r, bias, x, inputs[n][:, None])

    if not whole:
        return loop(0, length, step, x)
    return loop(0, inputs.shape[0], lambda n, x: jnp.where(n < length, step(n, x), x), x)


def drive(r: Reservoirs, inputs, x=None):
    """Drive with ``inputs (T, inputs)`` from state ``x``.

    Returns the states ``(T, units, columns)`` and the last one. With arrays of `Reservoirs`
    stacked along a leading axis, several draws run in one call and results gain that axis.
    """
    x = np.zeros((*r.leak.shape[:-1], *r.shape)) if x is None else x
    if r.leak.ndim == 2:
        return jax.vmap(_drive, in_axes=(0, None, 0, None))(r, inputs, x, len(inputs))
    return _drive(r, inputs, x, len(inputs))


def advance(r: Reservoirs, inputs, x=None):
    """The state after driving with ``inputs``, in memory that does not grow with their length."""
    x = np.zeros(r.shape) if x is None else x
    size = max(1, min(few_lengths(len(inputs)), SILENT_STEPS))
    for start in range(0, len(inputs), size):
        part = inputs[start : start + size]
        x = _drive_silent(r, pad_rows(part, size), x, len(part), whole=accelerated())
    return x


def drive_blocks(r: Reservoirs, inputs, x=None, size: int | None = None) -> Iterator[tuple]:
    """Yield ``(start, states, last)`` for consecutive blocks of rows, so that none need be kept.

    ``states`` is ``(rows, units, columns)``; the final, shorter block is cut to its rows.
    """
    x = np.zeros(r.shape) if x is None else x
    size = size or block_length(r.shape, len(inputs))
    for start in range(0, len(inputs), size):
        part = inputs[start : start + size]
        states, x = _drive(r, pad_rows(part, size), x, len(part))
        yield start, np.asarray(states)[: len(part)], x


def block_length(shape: tuple[int, int], steps: int) -> int:
    """Rows in a block: as even as possible, a multiple of 64 so that few shapes are compiled."""
    most = max(64, BLOCK_BYTES // (8 * shape[0] * shape[1]))
    blocks = max(1, -(-steps // most))
    return min(-(-steps // blocks // 64) * 64 if steps > 64 else steps, -(-most // 64) * 64) or 1


@program
def drive_sequences(r: Reservoirs, inputs, take):
    """Drive every candidate with every sequence at once, keeping weighted sums of states.

    ``inputs`` is ``(sequences, steps, inputs)``, padded at the end; ``take`` is
    ``(features, steps, sequences)``. Returns ``(features, units, columns, sequences)``:
    ``Σ_t take[f, t, s] x_t``, which is the state at one position for a row of ``take`` with a
    single one, and a mean for a row of equal weights.
    """
    units, candidates = r.shape
    sequences = inputs.shape[0]
    index = jnp.repeat(jnp.arange(candidates), sequences)
    wide = r.columns(index)
    bias = _bias(wide)

    def step(carry, row):
        x, total = carry
        u, weights = row  # (inputs, sequences), (features, sequences)
        x = _step(wide, bias, x, jnp.tile(u, (1, candidates)))
        return (x, total + jnp.tile(weights, (1, candidates))[:, None] * x), None

    zero = jnp.zeros((units, candidates * sequences))
    rows = (jnp.transpose(inputs, (1, 2, 0)), jnp.transpose(take, (1, 0, 2)))
    (_, total), _ = scan(step, (zero, jnp.zeros((take.shape[0], *zero.shape))), rows)
    return total.reshape(take.shape[0], units, candidates, sequences)


# --- generating ---------------------------------------------------------------------------------


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


def _readout(readout, u, x):
    """``y = W_out [1; u; x]`` with a readout ``(1 + inputs + units, outputs)`` for each column."""
    i = 1 + u.shape[0]
    y = readout[0] + (readout[i:] * x[:, None]).sum(axis=0)
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
def _begin(readout, inputs, x, course: Course, *, absolute: bool) -> Trajectories:
    y = _readout(readout, inputs, x)
    return Trajectories(x, y, _mistake(course, y, 0, absolute))


def begin(readout, inputs, x, course: Course, absolute: bool = False) -> Trajectories:
    """First output of every column, from true states and true ``inputs (inputs, columns)``."""
    return _begin(readout, inputs, x, course, absolute=absolute)


def _closed_step(r: Reservoirs, bias, readout, course: Course, absolute: bool, n, going):
    """One step of every column on its own output."""
    row = jnp.minimum(course.start + n, course.known.shape[0] - 1)
    u = jnp.concatenate([going.y, course.known[row].T])
    x = _step(r, bias, going.x, u)
    y = _readout(readout, u, x)
    return Trajectories(x, y, going.error + _mistake(course, y, n, absolute))


@program
def _proceed(r: Reservoirs, readout, going, course: Course, first, stop, *, absolute, steps):
    """The trajectories before step ``stop``; ``steps``, if not None, are compiled in."""
    step = partial(_closed_step, r, _bias(r), readout, course, absolute)
    count = stop - first if steps is None else steps
    return loop(0, count, lambda n, going: step(first + n, going), going)


@program
def _proceed_keeping(r: Reservoirs, readout, going, course: Course, first, *, steps: int):
    """The trajectories after ``steps`` more, and their outputs."""
    one = partial(_closed_step, r, _bias(r), readout, course, False)

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
    ``(1 + inputs + units, outputs, columns)``; row ``j`` of ``known (steps, known inputs)`` stands
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
    going = begin(readout, inputs, x, course)
    first = np.asarray(going.y)[None]
    if steps == 1:
        return first
    _, rest = proceed(r, readout, going, course, 1, steps - 1, keep=True)
    return np.concatenate([first, rest])
