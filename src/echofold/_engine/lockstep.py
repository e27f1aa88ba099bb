"""Closed-loop validation: every (candidate, run, ridge) trajectory as a column of one matrix.

Where a series is not in memory, columns run along the rows of a few steps at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from echofold._data.problem import Problem
from echofold._data.runs import Runs
from echofold._engine.generate import (
    Course,
    Trajectories,
    begin,
    columns_together,
    outputs_of,
    proceed,
    sums,
)
from echofold._engine.kind import Reservoirs
from echofold._engine.states import States
from echofold._machine.arrays import few_lengths, pad_rows
from echofold._machine.device import engine
from echofold._machine.progress import passing

ROWS = 2**20  # of all intervals together at a time: fewer would leave most of a block unused


def stretch(
    problem: Problem, start, horizon, inverse, first: int, steps: int, tolerance=None
) -> Course:
    """The rows that columns pass in their steps ``first … first + steps``.

    Only those are there, so ``start`` is where a column would have begun among them.
    """
    starts, interval = np.unique(start, return_inverse=True)
    rows = np.minimum(starts[:, None] + np.arange(first, first + steps), problem.rows - 1).ravel()
    length = few_lengths(len(rows))  # of few sizes, because each is compiled once
    known, targets = (
        pad_rows(np.asarray(values[rows]), length)
        for values in (problem.known, problem.scored.targets)
    )
    begin = interval * steps - first
    offset = problem.scored.offset
    return Course(known, targets, begin, horizon, problem.unit, inverse, None, tolerance, offset)


def stretches(
    problem: Problem, start, horizon, along: Course, longest: int
) -> Iterator[tuple[int, int, Course]]:
    """``(first step, steps, what is run along)`` from the second step to the ``longest``."""
    size = steps_together(start, longest)
    for first in range(0, longest, size):
        part = along
        if first:
            part = stretch(problem, start, horizon, along.inverse, first, size, along.tolerance)
        begin, end = max(first, 1), min(first + size, longest)
        if begin < end:
            yield begin, end - begin, part
        passing(end, longest, "steps forecast")


def steps_together(start: np.ndarray, longest: int) -> int:
    """Steps of a stretch: all, if they are few enough."""
    return min(longest, max(1, ROWS // len(np.unique(start))))


LEAST_ROWS = 512  # of a course: no work grows with them
SMALL = 128  # units up to which some more columns cost less than another program


@dataclass(frozen=True)
class Columns:
    """Runs of every candidate at every ridge, flattened: one entry for each column.

    ``candidate``, ``start`` and ``horizon`` are ``(columns,)``; ``readout`` is
    ``(columns, 1 + features, outputs)``; ``rows (columns, inputs + size)`` holds the true inputs
    and states that each starts from.
    """

    candidate: np.ndarray
    start: np.ndarray
    horizon: np.ndarray
    readout: np.ndarray
    rows: np.ndarray

    def part(self, index) -> Columns:
        """Some of the columns."""
        return Columns(
            self.candidate[index],
            self.start[index],
            self.horizon[index],
            self.readout[index],
            self.rows[index],
        )


def flatten(W: np.ndarray, rows: np.ndarray, runs: Runs) -> Columns:
    """Columns of readouts ``W (candidates, splits, ridge, p, outputs)``.

    ``rows (candidates, runs, inputs + size)`` are the true inputs and states at the start of each
    run.
    """
    W = runs.of_splits(W)
    candidate, run, _ = (a.ravel() for a in np.indices(W.shape[:3]))
    return Columns(
        candidate, runs.first[run], runs.steps[run], W.reshape(-1, *W.shape[3:]),
        rows[candidate, run],
    )  # fmt: skip


def blocks(columns: Columns, device: str) -> Iterator[tuple[slice, int]]:
    """Blocks of columns with the width they are padded to, so that few shapes are compiled."""
    count, units = len(columns.candidate), columns.readout.shape[1]
    widest = columns_together(units, device.partition(":")[0])
    narrowest = 8
    if units <= SMALL:
        narrowest = 32 if count <= widest else widest
    for first in range(0, count, widest):
        part = slice(first, min(first + widest, count))
        wide = 1 << (part.stop - part.start - 1).bit_length()
        yield part, min(widest, max(narrowest, wide))


class Sum(NamedTuple):
    """What is summed up along a run: errors that are "squared" and such, or steps "lost".

    Those are lost from the first on whose errors are not inside of the ``tolerance (outputs,)``.
    """

    of: str = "squared"
    tolerance: np.ndarray | None = None


SQUARED = Sum()


def course(problem: Problem, start, horizon, tolerance=None, steps: int | None = None) -> Course:
    """What runs of such starts and horizons go along.

    Of a series that is not in memory it is the first ``steps``.
    """
    inverse = None
    if problem.brought_back:
        inverse = problem.form.inverse(problem.offset, problem.limits)
    if problem.lazy:
        return stretch(problem, start, horizon, inverse, 0, steps or int(horizon.max()), tolerance)
    rows = few_lengths(problem.rows, LEAST_ROWS)  # of few sizes, because each is compiled once
    known, targets = pad_rows(problem.known, rows), pad_rows(problem.scored.targets, rows)
    present = None if problem.present is None else pad_rows(problem.present, rows)
    offset = problem.scored.offset
    return Course(known, targets, start, horizon, problem.unit, inverse, present, tolerance, offset)


def levels_before(problem: Problem, start: np.ndarray) -> np.ndarray:
    """Levels ``(room, outputs, runs)`` before the rows ``start (runs,)``; none if none are used."""
    if not problem.brought_back:
        return np.zeros((0, problem.targets.shape[1], len(start)))
    return problem.form.past(problem.before(start))


def room_of(problem: Problem) -> int:
    """Levels that every column remembers."""
    return problem.form.room if problem.brought_back else 0


def _from_rows(problem: Problem, r: Reservoirs, columns: Columns) -> tuple:
    """Inputs, states and levels that columns start from."""
    rows, inputs = columns.rows.T, columns.rows.shape[1] - r.shape[0]
    return rows[:inputs], rows[inputs:], levels_before(problem, columns.start)


def first_outputs(
    problem: Problem, r: Reservoirs, columns: Columns, readout, along: Course, sum_: str
) -> Trajectories:
    """Columns after their first output, from the true rows that they start from."""
    inputs, states, before = _from_rows(problem, r, columns)
    return begin(r, readout, inputs, states, along, sum_, before)


def _padded(columns: Columns, width: int) -> Columns:
    """Columns padded to ``width`` by repeating the first."""
    index = np.zeros(width, dtype=int)
    index[: len(columns.candidate)] = np.arange(len(columns.candidate))
    return columns.part(index)


def _start(source: States, columns: Columns, tolerance=None) -> tuple:
    """What columns run on and start from."""
    problem, r = source.problem, source.reservoirs.silent().columns(columns.candidate)
    along = course(problem, columns.start, columns.horizon, tolerance)
    readout = np.moveaxis(columns.readout, 0, 2)
    inputs, states, before = _from_rows(problem, r, columns)
    return r, readout, inputs, states, along, before


def _in_stretches(source: States, columns: Columns, sum_: Sum, longest: int):
    """Columns after one output, and what follows it of a series that is not in memory."""
    problem, r = source.problem, source.reservoirs.silent().columns(columns.candidate)
    steps = steps_together(columns.start, longest)
    along = course(problem, columns.start, columns.horizon, sum_.tolerance, steps)
    readout = np.moveaxis(columns.readout, 0, 2)
    going = first_outputs(problem, r, columns, readout, along, sum_.of)
    return r, readout, going, stretches(problem, columns.start, columns.horizon, along, longest)


def closed_loop_sums(source: States, W, starts, runs: Runs, sum_: Sum = SQUARED) -> np.ndarray:
    """Sums of errors ``(candidates, runs, ridge)``, from what `flatten` takes."""
    columns = flatten(W, starts, runs)
    total = np.empty(len(columns.candidate))
    with engine(source.device):
        for part, width in blocks(columns, source.device):
            some = _padded(columns.part(part), width)
            if source.problem.lazy:
                r, readout, going, ahead = _in_stretches(source, some, sum_, runs.longest)
                for first, steps, along in ahead:
                    going, _ = proceed(r, readout, going, along, first, steps, sum_.of)
                error = going.error
            else:
                start = _start(source, some, sum_.tolerance)
                error = sums(*start, steps=runs.longest, sum_=sum_.of)
            total[part] = np.asarray(error)[: part.stop - part.start]
    return total.reshape(len(W), len(runs), -1)


def closed_loop_outputs(source: States, W, starts, runs: Runs) -> np.ndarray:
    """Outputs ``(candidates, runs, steps, ridge, outputs)``, in the units scored in."""
    problem, columns = source.problem, flatten(W, starts, runs)
    shape = len(columns.candidate), runs.longest, problem.targets.shape[1]
    all_outputs = np.empty(shape)
    with engine(source.device):
        for part, width in blocks(columns, source.device):
            some = _padded(columns.part(part), width)
            if problem.lazy:
                r, readout, going, ahead = _in_stretches(source, some, SQUARED, runs.longest)
                parts = [np.asarray(going.y)[None]]
                for first, steps, along in ahead:
                    going, rest = proceed(r, readout, going, along, first, steps, keep=True)
                    parts.append(rest)
                outputs = np.concatenate(parts)
            else:
                outputs = np.asarray(outputs_of(*_start(source, some), steps=runs.longest))
            all_outputs[part] = np.moveaxis(outputs[:, :, : part.stop - part.start], 2, 0)
    if problem.brought_back:
        all_outputs = problem.values(all_outputs, columns.start)
    return np.moveaxis(all_outputs.reshape(len(W), len(runs), -1, *shape[1:]), 2, 3)
