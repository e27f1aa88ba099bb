"""Several draws side by side on a device: their rows, and closed loops from their readouts.

A step of an accelerator takes 4 to 8 µs however narrow it is, so all candidates of all draws take
it together. ``r`` are `Reservoirs` whose arrays have the draws as their first axis (`stacked`).
Callers hold `_machine.device.engine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from echofold._data.problem import Problem
from echofold._data.runs import Runs
from echofold._engine.drive import sums_of_sequences
from echofold._engine.generate import (
    ACCELERATOR_COLUMNS,
    Course,
    Trajectories,
    closed_step,
    first_output,
)
from echofold._engine.kind import Reservoirs
from echofold._engine.lockstep import Sum, course, levels_before
from echofold._machine.arrays import few_lengths, pad_rows
from echofold._machine.programs import loop, program, scan, turns

FEW_COLUMNS = 2**12  # of those that are run alone: a program for these, and one for many
UNROLLED = 8  # steps written out for each turn of a loop
FINE = 5  # bits of a length that are kept: the device steps through padding too


def stacked(draws: Sequence[Reservoirs]) -> Reservoirs:
    """Reservoirs of equal shapes as one, with an axis more."""
    return jax.tree.map(lambda *arrays: np.stack(arrays), *draws)


def some(r: Reservoirs, draws: slice, candidates: slice) -> Reservoirs:
    """Some candidates of some draws."""
    chosen = jax.tree.map(lambda array: array[draws], r)
    return chosen.columns(np.arange(r.shape[1])[candidates])


def room_of_rows(rows: int) -> int:
    """Rows that are made room for, because each number of them is compiled once."""
    return few_lengths(rows, 64, FINE)


def rows_of(r: Reservoirs, problem: Problem, begins: np.ndarray) -> tuple[Any, Any]:
    """Rows of every candidate of every draw, ``(draws · candidates, room, m)``.

    And the inputs and states ``(draws · candidates, len(begins), inputs + size)`` at the rows that
    closed loops begin with.
    """
    segments, room = problem.segments, room_of_rows(problem.rows)
    if segments.take is not None:
        steps = few_lengths(segments.longest)
        most = min(steps, segments.longest)
        sequences = np.zeros((room, steps, segments.inputs))
        take = np.zeros((segments.positions, steps, room))
        sequences[: problem.rows, :most] = segments.padded[:, :most]
        take[:, :most, : problem.rows] = segments.take[:, :most]
        return _rows_of_sequences(r, sequences, take, pad_rows(segments.beside, room)), None
    washout = few_lengths(len(problem.washout), 64, FINE) if len(problem.washout) else 0
    inputs = np.concatenate([problem.washout, problem.inputs])
    inputs = pad_rows(inputs, washout + room)
    return _rows_of_series(r, inputs, len(problem.washout), problem.rows, begins, room=room)


@program
def _rows_of_series(r: Reservoirs, inputs, washout, n, begins, *, room: int):
    def drive(r: Reservoirs):
        def step(x, u):
            x = r.step(x, u[:, None])
            return x, r.keep(x, u[:, None])

        return scan(step, jnp.zeros(r.shape), inputs, UNROLLED)[1]

    kept = jax.vmap(drive)(r)  # (draws, steps, kept, candidates)
    kept = lax.dynamic_slice_in_dim(kept, washout, room, axis=1)
    beside = lax.dynamic_slice_in_dim(inputs, washout, room, axis=0)
    start = _beside(beside[begins], _network_first(r.state_in(kept[:, begins])))
    rows = _network_first(kept[:, :, : r.looks])
    rows = _beside(beside, rows) if r.beside else rows
    there = (jnp.arange(room) < n)[:, None]
    return jnp.where(there, rows, 0.0), start


def _network_first(values):
    """``(draws, rows, values, candidates)`` as ``(draws · candidates, rows, values)``."""
    draws, rows, width, candidates = values.shape
    return jnp.transpose(values, (0, 3, 1, 2)).reshape(draws * candidates, rows, width)


def _beside(inputs, values):
    """Inputs ``(rows, inputs)`` beside the ``values (networks, rows, …)`` of every network."""
    inputs = jnp.broadcast_to(inputs, (len(values), *inputs.shape))
    return jnp.concatenate([inputs, values], axis=2)


@program
def _rows_of_sequences(r: Reservoirs, sequences, take, beside):
    sums = jax.vmap(lambda one: sums_of_sequences(one, sequences, take))(r)
    draws, _, _, candidates, rows = sums.shape  # (draws, positions, looks, candidates, rows)
    states = jnp.transpose(sums, (0, 3, 4, 1, 2)).reshape(draws * candidates, rows, -1)
    return _beside(beside, states) if r.beside else states


def closed_sums(r: Reservoirs, problem: Problem, W, starts, first: int, runs: Runs, sum_: Sum):
    """Sums of errors ``(networks, runs, ridge)``.

    ``W (networks, runs, ridge, p, outputs)`` are readouts, ``starts (networks, runs, inputs +
    size)`` what each run starts from, inputs and states; those of the networks ``r``, draws times
    candidates, begin at ``first``.
    """
    along = _along(problem, runs, sum_.tolerance)
    return _sums(r.silent(), W, starts, first, *along, steps=runs.longest, sum_=sum_.of)


def closed_outputs(r: Reservoirs, problem: Problem, W, starts, first: int, runs: Runs):
    """Outputs ``(networks, runs, ridge, steps, outputs)`` of the same."""
    return _outputs(r.silent(), W, starts, first, *_along(problem, runs), steps=runs.longest)


def _along(problem: Problem, runs: Runs, tolerance=None) -> tuple[Course, Any]:
    """What runs go along, and the levels before each."""
    along = course(problem, runs.first, runs.steps, tolerance)
    return along, levels_before(problem, runs.first)


class _Columns(NamedTuple):
    """Every (candidate, run, ridge) of one draw, ready to go."""

    r: Reservoirs
    readout: Any
    rows: Any
    along: Course
    run: Any

    def begin(self, before, sum_: str) -> Trajectories:
        """After their first output."""
        inputs = self.rows.shape[0] - self.r.shape[0]
        true = self.rows[:inputs], self.rows[inputs:]
        before = before[..., self.run]
        return first_output(self.r, self.readout, *true, self.along, before, sum_)

    def step(self, sum_: str):
        """One step of a loop: of its number, and the trajectories."""
        return partial(closed_step, self.r, self.readout, self.along, sum_)


def _of_columns(r: Reservoirs, along: Course, column, shape) -> tuple[Reservoirs, Course]:
    """Reservoirs and course of columns of ``shape`` (candidates, runs, ridge)."""
    run = (column // shape[2]) % shape[1]
    along = along._replace(start=along.start[run], horizon=along.horizon[run])
    return r.columns(column // (shape[1] * shape[2])), along


def _columns(r: Reservoirs, W, starts, along: Course) -> _Columns:
    candidates, runs, ridges = W.shape[:3]
    column = jnp.arange(candidates * runs * ridges)
    readout = jnp.moveaxis(W.reshape(len(column), *W.shape[3:]), 0, 2)
    rows = jnp.repeat(starts.reshape(candidates * runs, -1), ridges, axis=0).T
    r, along = _of_columns(r, along, column, W.shape)
    return _Columns(r, readout, rows, along, (column // ridges) % runs)


def _for_each_draw(r: Reservoirs, W, starts, first, run):
    """``run`` on every draw; what it gives for each column, as ``(networks, runs, ridge, …)``."""
    draws = jax.tree.leaves(r)[0].shape[0]
    count = draws * r.shape[1]

    def apart(array):
        array = lax.dynamic_slice_in_dim(array, first, count)
        return array.reshape(draws, -1, *array.shape[1:])

    found = jax.vmap(run)(r, apart(W), apart(starts))  # (draws, columns, …)
    return found.reshape(count, *W.shape[1:3], *found.shape[2:])


@program
def _sums(r: Reservoirs, W, starts, first, along: Course, before, *, steps: int, sum_: str):
    def run(r, W, starts):
        columns = _columns(r, W, starts, along)
        going = columns.begin(before, sum_)
        return turns(1, steps, columns.step(sum_), going, UNROLLED).error

    return _for_each_draw(r, W, starts, first, run)


@program
def _outputs(r: Reservoirs, W, starts, first, along: Course, before, *, steps: int):
    def run(r, W, starts):
        columns = _columns(r, W, starts, along)
        step = columns.step("squared")

        def keep(going: Trajectories, n):
            return step(n, going), going.y

        # The output before each step
        outputs = scan(keep, columns.begin(before, "squared"), 1 + jnp.arange(steps))[1]
        return jnp.moveaxis(outputs, 2, 0)

    return _for_each_draw(r, W, starts, first, run)


class Held:
    """Columns of one draw that stay on the device, to be run some at a time.

    ``W (candidates, runs, ridge, p, outputs)`` and ``starts`` are as in `closed_sums`; ``error
    (columns,)`` are the errors so far, on the host. Every column has made its first output.
    """

    def __init__(self, r: Reservoirs, problem: Problem, W, starts, runs: Runs, sum_: Sum):
        self.r, self.sum = r.silent(), sum_
        self.shape = W.shape[:3]
        self.along, before = _along(problem, runs, sum_.tolerance)
        self.readout, self.going = _begun(self.r, W, starts, self.along, before, sum_=sum_.of)
        self.error = np.array(self.going.error)

    def advance(self, columns: np.ndarray, first: int, to: int) -> None:
        """Run some columns, which are before step ``first``, up to step ``to``."""
        count = len(self.error)
        for begin in range(0, len(columns), ACCELERATOR_COLUMNS):
            part = columns[begin : begin + ACCELERATOR_COLUMNS]
            width = FEW_COLUMNS if len(part) <= FEW_COLUMNS else ACCELERATOR_COLUMNS
            index = np.full(width, count)  # beyond the end: is dropped
            index[: len(part)] = part
            self.going = _advanced(
                self.r, self.readout, self.going, self.along, index, first, to,
                shape=self.shape, sum_=self.sum.of,
            )  # fmt: skip
        self.error = np.array(self.going.error)


@program
def _begun(r: Reservoirs, W, starts, along: Course, before, *, sum_: str):
    """Readouts with the columns last, and all columns after their first output."""
    columns = _columns(r, W, starts, along)
    return columns.readout, columns.begin(before, sum_)


@program
def _advanced(
    r: Reservoirs, readout, going: Trajectories, along: Course, index, first, to, *, shape, sum_
) -> Trajectories:
    """The columns at ``index`` from step ``first`` up to ``to``; the others as they were."""
    at = jnp.minimum(index, readout.shape[-1] - 1)
    r, along = _of_columns(r, along, at, shape)
    some = jax.tree.map(lambda array: array[..., at], going)
    step = partial(closed_step, r, readout[..., at], along, sum_)
    some = loop(first, to, step, some)
    return jax.tree.map(lambda all_, new: all_.at[..., index].set(new, mode="drop"), going, some)
