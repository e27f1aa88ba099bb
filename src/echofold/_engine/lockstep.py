"""Closed-loop validation: every (candidate, run, ridge) trajectory as a column of one matrix.

The host flattens columns itself, and runs blocks of them that stay in its cache; where a series is
not in memory, along the rows of a few steps at a time. Readouts that are on a device stay there,
and its columns, of all draws side by side, are made by the program that runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from echofold._data.problem import Problem
from echofold._data.rows import Runs
from echofold._engine.drive import UNROLLED
from echofold._engine.generate import (
    ACCELERATOR_COLUMNS,
    Course,
    Trajectories,
    begin,
    closed_step,
    columns_together,
    first_output,
    outputs_of,
    proceed,
    sums,
)
from echofold._engine.kind import Reservoirs
from echofold._engine.states import States, network_groups, some
from echofold._machine.arrays import few_lengths, jax, jnp, lax, of_each, pad_rows
from echofold._machine.device import EAGER, engine
from echofold._machine.programs import loop, program, scan, turns
from echofold._machine.progress import passing

ROWS = 2**20  # of all intervals together at a time: fewer would leave most of a block unused
LEAST_ROWS = 512  # of a course: no work grows with them
SMALL = 128  # units up to which some more columns cost less than another program
FEW_COLUMNS = 2**12  # of a device that are run alone: a program for these, and one for many


class Sum(NamedTuple):
    """What is summed up along a run: errors that are "squared" and such, or steps "lost".

    Those are lost from the first on whose errors are not inside of the ``tolerance (outputs,)``,
    or ``(series, outputs)`` of several.
    """

    of: str = "squared"
    tolerance: np.ndarray | None = None


SQUARED = Sum()


def closed_loop_sums(source: States, W, starts, runs: Runs, sum_: Sum = SQUARED) -> np.ndarray:
    """Sums of errors ``(candidates, runs, ridge)``.

    ``W (candidates, splits or runs, ridge, p, outputs)`` are readouts, ``starts (candidates, runs,
    inputs + size)`` the true inputs and states at the start of each run; on a device, of all
    candidates of each draw of ``source.reservoirs``.
    """
    if not isinstance(W, np.ndarray):
        along = _along(source.problem, runs, sum_.tolerance)
        run = partial(_sums, steps=runs.longest, sum_=sum_.of)
        groups = list(_in_networks(source, W, starts, runs, run, along))  # under way, all of them
        return np.concatenate([np.asarray(found)[skip:] for skip, found in groups])
    columns = Columns(W, starts, runs)
    order, total = columns.order(source.problem), np.empty(len(columns))
    with engine(source.device):
        for part, index in blocks(len(columns), W.shape[3], source):
            padded, here = columns.part(order[index]), order[part]
            if source.problem.lazy:
                r, readout, going, ahead = _in_stretches(source, padded, sum_, runs.longest)
                for first, steps, along in ahead:
                    going, _ = proceed(r, readout, going, along, first, steps, sum_.of)
                error = going.error
            else:
                start = _start(source, padded, sum_.tolerance)
                error = sums(*start, steps=columns.longest(padded, source), sum_=sum_.of)
            total[here] = np.asarray(error)[: part.stop - part.start]
    return total.reshape(len(W), len(runs.first), -1)


def closed_loop_outputs(source: States, W, starts, runs: Runs) -> Any:
    """Outputs ``(runs, steps, ridge, outputs)`` of every candidate, in the units scored in.

    An array of all candidates; those of a device come one by one.
    """
    if not isinstance(W, np.ndarray):
        return _device_candidates(source, W, starts, runs)
    problem, columns = source.problem, Columns(W, starts, runs)
    shape = len(columns), runs.longest, len(problem.unit)
    all_outputs = np.empty(shape)
    with engine(source.device):
        for part, index in blocks(len(columns), W.shape[3], source):
            padded = columns.part(index)
            if problem.lazy:
                r, readout, going, ahead = _in_stretches(source, padded, SQUARED, runs.longest)
                parts = [np.asarray(going.y)[None]]
                for first, steps, along in ahead:
                    going, rest = proceed(r, readout, going, along, first, steps, keep=True)
                    parts.append(rest)
                outputs = np.concatenate(parts)
            else:
                outputs = np.asarray(outputs_of(*_start(source, padded), steps=runs.longest))
            all_outputs[part] = np.moveaxis(outputs[:, :, : part.stop - part.start], 2, 0)
    if problem.brought_back:
        all_outputs = problem.values(all_outputs, columns.each(runs.first))
    return np.moveaxis(all_outputs.reshape(len(W), len(runs.first), -1, *shape[1:]), 2, 3)


# --- what runs go along ---------------------------------------------------------------------------


def course(
    problem: Problem, start, horizon, tolerance=None, first: int = 0, steps: int | None = None
) -> Course:
    """What runs of such starts and horizons go along.

    Of a series that is not in memory only the rows that they pass in their steps ``first … first +
    steps`` are there, and a run starts where it would have begun among these.
    """
    inverse, unit = None, _columnwise(problem.unit_at(start))
    offset = _columnwise(problem.scored.offset_at(start))
    if problem.brought_back:
        own = _columnwise(problem.offset_at(start))
        inverse = problem.form.inverse(own, problem.limits)
    if tolerance is not None:
        of_series = tolerance[problem.series_of(start)] if problem.each else tolerance
        tolerance = _columnwise(of_series)
    known, targets, present = problem.known, problem.scored.targets, problem.present
    if problem.lazy:
        steps = steps or int(horizon.max())
        starts, interval = np.unique(start, return_inverse=True)
        at = starts[:, None] + np.arange(first, first + steps)
        rows = np.minimum(at, problem.rows - 1).ravel()
        known, targets, start = known[rows], targets[rows], interval * steps - first
    length = few_lengths(len(targets), LEAST_ROWS)  # of few sizes, because each is compiled once
    present = None if present is None else pad_rows(present, length)
    return Course(
        pad_rows(known, length), pad_rows(targets, length), start, horizon, unit, inverse, present,
        tolerance, offset,
    )  # fmt: skip


def _columnwise(values: np.ndarray) -> np.ndarray:
    """Values ``(outputs,)``, or ``(columns, outputs)``, as ``(outputs, 1 or columns)``."""
    return np.atleast_2d(values).T


def _in_stretches(source: States, columns: Part, sum_: Sum, longest: int):
    """Columns after one output, and what follows it of a series that is not in memory."""
    problem, start, horizon = source.problem, columns.start, columns.horizon
    size = min(longest, max(1, ROWS // len(np.unique(start))))
    begun = _start(source, columns, sum_.tolerance, size)
    r, readout, *_, along, _ = begun
    going = begin(*begun, sum_=sum_.of)

    def ahead() -> Iterator[tuple[int, int, Course]]:
        """``(first step, steps, what is run along)`` from the second step to the longest."""
        for first in range(0, longest, size):
            part = along
            if first:
                part = course(problem, start, horizon, sum_.tolerance, first, size)
            begin, end = max(first, 1), min(first + size, longest)
            if begin < end:
                yield begin, end - begin, part
            passing(end, longest, "steps forecast")

    return r, readout, going, ahead()


def levels_before(problem: Problem, start: np.ndarray) -> np.ndarray:
    """Levels ``(room, outputs, runs)`` before the rows ``start (runs,)``; none if none are used."""
    if not problem.brought_back:
        return np.zeros((0, len(problem.unit), len(start)))
    return problem.form.past(problem.before(start))


# --- columns of the host --------------------------------------------------------------------------


class Part(NamedTuple):
    """Some columns: what each runs with, and from where.

    ``candidate``, ``start`` and ``horizon`` are ``(columns,)``; ``readout`` is
    ``(columns, 1 + features, outputs)``; ``rows (columns, inputs + size)`` holds the true inputs
    and states that each starts from.
    """

    candidate: np.ndarray
    start: np.ndarray
    horizon: np.ndarray
    readout: np.ndarray
    rows: np.ndarray


@dataclass(frozen=True)
class Columns:
    """Runs of every candidate at every ridge, each a column, of what `closed_loop_sums` takes.

    No array of all readouts is made: many runs may share that of their split.
    """

    W: np.ndarray
    rows: np.ndarray
    runs: Runs

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """Candidates, runs and ridges."""
        return len(self.W), len(self.runs), self.W.shape[2]

    def __len__(self) -> int:
        return prod(self.shape)

    def part(self, index: np.ndarray) -> Part:
        """Some of the columns."""
        runs, shape = self.runs, self.shape
        candidate, run, ridge = np.unravel_index(index, shape)
        own = self.W.shape[1] == shape[1]  # a readout for each run
        readout = self.W[candidate, run if own else runs.split[run], ridge]
        rows = self.rows[candidate, run]
        return Part(candidate, runs.first[run], runs.steps[run], readout, rows)

    def order(self, problem: Problem) -> np.ndarray:
        """Numbers of the columns as they are run: of several series, the shortest runs first."""
        if not problem.each:
            return np.arange(len(self))
        return np.argsort(self.each(self.runs.steps), kind="stable")

    def each(self, of_runs: np.ndarray) -> np.ndarray:
        """Values ``(runs,)`` for every column."""
        return np.broadcast_to(of_runs[:, None], self.shape).ravel()

    def longest(self, part: Part, source: States) -> int:
        """Steps to run: of several series, those of the longest run among these."""
        return int(part.horizon.max()) if source.problem.each else self.runs.longest


def blocks(count: int, units: int, source: States) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of so many columns, and their numbers: as many in each block.

    The first is there again where there are fewer, so that few shapes are compiled.
    """
    device, parts = source.device, source.reservoirs.parts
    widest, narrowest = max(1, columns_together(units, device) // parts), max(1, 8 // parts)
    if units <= SMALL and parts == 1:
        narrowest = 32 if count <= widest else widest
    for first in range(0, count, widest):
        part = slice(first, min(first + widest, count))
        wide = max(narrowest, 1 << (part.stop - part.start - 1).bit_length())
        if device == EAGER:
            wide = part.stop - part.start
        index = np.full(min(widest, wide), first)
        index[: part.stop - first] = np.arange(first, part.stop)
        yield part, index


def _start(source: States, columns: Part, tolerance=None, steps: int | None = None) -> tuple:
    """What columns run on and start from: reservoirs, readouts, inputs, states, course, levels.

    Of a series that is not in memory, the course is that of the first ``steps``.
    """
    problem, r = source.problem, source.reservoirs.silent().take(columns.candidate)
    along = course(problem, columns.start, columns.horizon, tolerance, steps=steps)
    rows, inputs = columns.rows.T, columns.rows.shape[1] - r.shape[0]
    before = levels_before(problem, columns.start)
    return r, np.moveaxis(columns.readout, 0, 2), rows[:inputs], rows[inputs:], along, before


class Paused:
    """Columns that are run some at a time; on the host, none has made its first output yet."""

    going: Trajectories

    def __init__(self, source: States, W, starts, runs: Runs, sum_: Sum):
        self.source, self.sum, problem = source, sum_, source.problem
        self.columns = Columns(W, starts, runs)
        count, outputs = len(self.columns), len(problem.unit)
        x = np.zeros((source.reservoirs.shape[0], count), source.reservoirs.dtype)
        y = np.zeros((outputs, count))
        past = np.zeros((problem.form.room if problem.brought_back else 0, outputs, count))
        plan = np.zeros((problem.steps, outputs, count)) if problem.steps > 1 else None
        self.going = Trajectories(x, y, np.zeros(count), past, plan)

    @property
    def error(self) -> np.ndarray:
        """Errors ``(columns,)`` so far."""
        return np.asarray(self.going.error)

    def advance(self, columns: np.ndarray, first: int, to: int) -> None:
        """Run some columns, all before step ``first``, up to step ``to``."""
        width = self.columns.W.shape[3]
        for part, index in blocks(len(columns), width, self.source):
            at, index = columns[part], columns[index]
            begun = _start(self.source, self.columns.part(index), self.sum.tolerance)
            r, readout, *_, along, _ = begun
            if first == 0:
                going = begin(*begun, sum_=self.sum.of)
            else:
                going = of_each(partial(np.take, indices=index, axis=-1), self.going)
            start = max(first, 1)
            if to > start:
                going, _ = proceed(r, readout, going, along, start, to - start, self.sum.of)
            of_each(partial(_enter, at), self.going, going)


def _enter(at: np.ndarray, whole: np.ndarray, new: Any) -> None:
    """Put the first columns of ``new`` in their places ``at``; the others were there for size."""
    whole[..., at] = np.asarray(new)[..., : len(at)]


def paused(source: States, W, starts, runs: Runs, sum_: Sum) -> Paused:
    """Columns of what `closed_loop_sums` takes, of one draw, where their readouts are."""
    return (Paused if isinstance(W, np.ndarray) else PausedOnDevice)(source, W, starts, runs, sum_)


# --- columns of a device --------------------------------------------------------------------------


def _along(problem: Problem, runs: Runs, tolerance=None) -> tuple[Course, Any]:
    """What runs go along, and the levels before each."""
    along = course(problem, runs.first, runs.steps, tolerance)
    return along, levels_before(problem, runs.first)


def _in_networks(
    source: States, W, starts, runs: Runs, run: Callable, along: tuple
) -> Iterator[tuple[int, Any]]:
    """What ``run`` gives for networks, some at a time: ``(some networks, runs, ridge, …)``.

    Groups may overlap: how many of the first were there before stands beside each.
    """
    W, r = _of_runs(W, runs), source.reservoirs
    candidates, done = r.shape[1], 0
    most = max(1, ACCELERATOR_COLUMNS // (len(runs) * W.shape[2] * r.parts))
    for first, *part in network_groups(len(W) // candidates, candidates, most):
        found = run(some(r, *part).silent(), W, starts, first, *along)
        yield done - first, found
        done = first + len(found)


def _of_runs(W, runs: Runs) -> Any:
    """For every run the readouts of its split."""
    return W if runs.single else _chosen(W, runs.split)


@program
def _chosen(W, splits):
    """Readouts of ``splits (runs,)``."""
    return jnp.take(W, splits, axis=1)


def _device_candidates(source: States, W, starts, runs: Runs) -> Iterator[np.ndarray]:
    """`closed_loop_outputs` of one network after the other."""
    problem, ridges = source.problem, W.shape[2]
    run, along = partial(_outputs, steps=runs.longest), _along(problem, runs)
    for skip, found in _in_networks(source, W, starts, runs, run, along):
        outputs = np.asarray(found)[skip:]
        if problem.brought_back:
            flat = outputs.reshape(-1, *outputs.shape[3:])
            start = np.tile(np.repeat(runs.first, ridges), len(outputs))
            outputs = problem.values(flat, start).reshape(outputs.shape)
        yield from np.moveaxis(outputs, 3, 2)


class _DeviceColumns(NamedTuple):
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
        return first_output(self.r, self.readout, *true, self.along, before, sum_=sum_)

    def step(self, sum_: str):
        """One step of a loop: of its number, and the trajectories."""
        return partial(closed_step, self.r, self.readout, self.along, sum_)


def _of_columns(r: Reservoirs, along: Course, column, shape) -> tuple[Reservoirs, Course]:
    """Reservoirs and course of columns of ``shape`` (candidates, runs, ridge)."""
    run = (column // shape[2]) % shape[1]

    def own(values):
        """Of several series, what is of the runs."""
        return values if values is None or values.shape[1] == 1 else values[:, run]

    inverse = along.inverse
    if inverse is not None:
        ends = (own(one) for one in (inverse.offset, inverse.low, inverse.high))
        inverse = inverse._replace(**dict(zip(("offset", "low", "high"), ends, strict=True)))
    along = along._replace(
        start=along.start[run], horizon=along.horizon[run], unit=own(along.unit), inverse=inverse,
        tolerance=own(along.tolerance), offset=own(along.offset),
    )  # fmt: skip
    return r.take(column // (shape[1] * shape[2])), along


def _columns(r: Reservoirs, W, starts, along: Course) -> _DeviceColumns:
    candidates, runs, ridges = W.shape[:3]
    column = jnp.arange(candidates * runs * ridges)
    readout = jnp.moveaxis(W.reshape(len(column), *W.shape[3:]), 0, 2)
    rows = jnp.repeat(starts.reshape(candidates * runs, -1), ridges, axis=0).T
    r, along = _of_columns(r, along, column, W.shape)
    return _DeviceColumns(r, readout, rows, along, (column // ridges) % runs)


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
    """Sums of errors ``(networks, runs, ridge)`` of the networks ``r``, from ``first`` on."""

    def run(r, W, starts):
        columns = _columns(r, W, starts, along)
        going = columns.begin(before, sum_)
        return turns(1, steps, columns.step(sum_), going, UNROLLED).error

    return _for_each_draw(r, W, starts, first, run)


@program
def _outputs(r: Reservoirs, W, starts, first, along: Course, before, *, steps: int):
    """Outputs ``(networks, runs, ridge, steps, outputs)`` of the same."""

    def run(r, W, starts):
        columns = _columns(r, W, starts, along)
        step = columns.step("squared")

        def keep(going: Trajectories, n):
            return step(n, going), going.y

        # The output before each step
        outputs = scan(keep, columns.begin(before, "squared"), 1 + jnp.arange(steps))[1]
        return jnp.moveaxis(outputs, 2, 0)

    return _for_each_draw(r, W, starts, first, run)


class PausedOnDevice(Paused):
    """The same where their readouts are: every column has made its first output."""

    def __init__(self, source: States, W, starts, runs: Runs, sum_: Sum):
        self.source, self.r, self.sum = source, source.reservoirs.silent(), sum_
        self.along, before = _along(source.problem, runs, sum_.tolerance)
        with engine(source.device):
            W = _of_runs(W, runs)
            self.shape = W.shape[:3]
            self.readout, self.going = _begun(self.r, W, starts, self.along, before, sum_=sum_.of)

    def advance(self, columns: np.ndarray, first: int, to: int) -> None:
        """Run some columns, all before step ``first``, up to step ``to``."""
        count, first = self.readout.shape[-1], max(first, 1)
        for place in range(0, len(columns) if to > 1 else 0, ACCELERATOR_COLUMNS):
            part = columns[place : place + ACCELERATOR_COLUMNS]
            width = FEW_COLUMNS if len(part) <= FEW_COLUMNS else ACCELERATOR_COLUMNS
            index = np.full(width, count)  # beyond the end: is dropped
            index[: len(part)] = part
            self.going = _advanced(
                self.r, self.readout, self.going, self.along, index, first, to,
                shape=self.shape, sum_=self.sum.of,
            )  # fmt: skip


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
