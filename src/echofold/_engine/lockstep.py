"""Closed-loop validation: every (candidate, split, ridge) trajectory as a column of one matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from echofold._data.problem import Problem
from echofold._engine.generate import (
    Course,
    Trajectories,
    begin,
    columns_together,
    outputs_of,
    proceed,
    room_for,
    sums,
    way_of,
)
from echofold._engine.kind import Reservoirs
from echofold._engine.states import States
from echofold._engine.stretches import steps_together, stretch, stretches
from echofold._machine.device import engine
from echofold._machine.shapes import few_lengths, pad_rows

LEAST_ROWS = 512  # of a course: no work grows with them
SMALL = 128  # units up to which some more columns cost less than another program


@dataclass(frozen=True)
class Runs:
    """Trajectories to run, flattened: one entry for each column.

    ``candidate``, ``start`` and ``horizon`` are ``(columns,)``; ``readout`` is
    ``(columns, 1 + features, outputs)``; ``rows (columns, inputs + size)`` holds the true inputs
    and states that each starts from.
    """

    candidate: np.ndarray
    start: np.ndarray
    horizon: np.ndarray
    readout: np.ndarray
    rows: np.ndarray

    def part(self, index) -> Runs:
        """Some of the columns."""
        return Runs(
            self.candidate[index],
            self.start[index],
            self.horizon[index],
            self.readout[index],
            self.rows[index],
        )


def flatten(W: np.ndarray, rows: np.ndarray, valid: np.ndarray) -> Runs:
    """Columns of readouts ``W (candidates, splits, ridge, p, outputs)``.

    ``rows (candidates, splits, inputs + size)`` are the true inputs and states at the start of each
    validation interval ``valid (splits, 2)``.
    """
    candidates, splits, ridges = W.shape[:3]
    candidate, split, _ = (a.ravel() for a in np.indices((candidates, splits, ridges)))
    return Runs(
        candidate,
        valid[split, 0],
        (valid[:, 1] - valid[:, 0])[split],
        W.reshape(-1, *W.shape[3:]),
        rows[candidate, split],
    )


def blocks(runs: Runs, device: str) -> Iterator[tuple[slice, int]]:
    """Blocks of columns with the width they are padded to, so that few shapes are compiled."""
    columns, units = len(runs.candidate), runs.readout.shape[1]
    widest = columns_together(units, device.partition(":")[0])
    narrowest = 8
    if units <= SMALL:
        narrowest = 32 if columns <= widest else widest
    for first in range(0, columns, widest):
        part = slice(first, min(first + widest, columns))
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
    way = None
    if problem.brought_back:
        way = way_of(problem.form, problem.offset, problem.limits)
    if problem.lazy:
        return stretch(problem, start, horizon, way, 0, steps or int(horizon.max()), tolerance)
    rows = few_lengths(problem.rows, LEAST_ROWS)  # of few sizes, because each is compiled once
    known, targets = pad_rows(problem.known, rows), pad_rows(problem.scored.targets, rows)
    present = None if problem.present is None else pad_rows(problem.present, rows)
    offset = problem.scored.offset
    return Course(known, targets, start, horizon, problem.unit, way, present, tolerance, offset)


def levels_before(problem: Problem, start: np.ndarray) -> np.ndarray:
    """Levels ``(room, outputs, runs)`` before the rows ``start (runs,)``; none if none are used."""
    outputs = problem.targets.shape[1]
    before = np.zeros((room_of(problem), outputs, len(start)))
    if problem.brought_back and problem.form.lags:
        before[-problem.form.lost :] = np.moveaxis(problem.before(start), 0, 2)
    return before


def room_of(problem: Problem) -> int:
    """Levels that every column remembers."""
    return room_for(problem.form) if problem.brought_back else 0


def _from_rows(problem: Problem, r: Reservoirs, runs: Runs) -> tuple:
    """Inputs, states and levels that columns start from."""
    rows, inputs = runs.rows.T, runs.rows.shape[1] - r.shape[0]
    return rows[:inputs], rows[inputs:], levels_before(problem, runs.start)


def first_outputs(
    problem: Problem, r: Reservoirs, runs: Runs, readout, along: Course, sum_: str
) -> Trajectories:
    """Columns after their first output, from the true rows that they start from."""
    inputs, states, before = _from_rows(problem, r, runs)
    return begin(r, readout, inputs, states, along, sum_, before)


def _padded(runs: Runs, width: int) -> Runs:
    """Columns padded to ``width`` by repeating the first."""
    index = np.zeros(width, dtype=int)
    index[: len(runs.candidate)] = np.arange(len(runs.candidate))
    return runs.part(index)


def _start(source: States, runs: Runs, tolerance=None) -> tuple:
    """What columns run on and start from."""
    problem, r = source.problem, source.reservoirs.silent().columns(runs.candidate)
    along = course(problem, runs.start, runs.horizon, tolerance)
    readout = np.moveaxis(runs.readout, 0, 2)
    inputs, states, before = _from_rows(problem, r, runs)
    return r, readout, inputs, states, along, before


def _in_stretches(source: States, runs: Runs, sum_: Sum, longest: int):
    """Columns after one output, and what follows it of a series that is not in memory."""
    problem, r = source.problem, source.reservoirs.silent().columns(runs.candidate)
    steps = steps_together(runs.start, longest)
    along = course(problem, runs.start, runs.horizon, sum_.tolerance, steps)
    readout = np.moveaxis(runs.readout, 0, 2)
    going = first_outputs(problem, r, runs, readout, along, sum_.of)
    return r, readout, going, stretches(problem, runs.start, runs.horizon, along, longest)


def closed_loop_sums(source: States, runs: Runs, sum_: Sum = SQUARED) -> np.ndarray:
    """Sum of errors of every column over its horizon."""
    total = np.empty(len(runs.candidate))
    longest = int(runs.horizon.max())
    with engine(source.device):
        for part, width in blocks(runs, source.device):
            some = _padded(runs.part(part), width)
            if source.problem.lazy:
                r, readout, going, ahead = _in_stretches(source, some, sum_, longest)
                for first, steps, along in ahead:
                    going, _ = proceed(r, readout, going, along, first, steps, sum_.of)
                error = going.error
            else:
                start = _start(source, some, sum_.tolerance)
                error = sums(*start, steps=longest, sum_=sum_.of)
            total[part] = np.asarray(error)[: part.stop - part.start]
    return total


def closed_loop_outputs(source: States, runs: Runs) -> np.ndarray:
    """Outputs ``(columns, longest horizon, outputs)`` of every column, in the units scored in."""
    longest = int(runs.horizon.max())
    all_outputs = np.empty((len(runs.candidate), longest, source.problem.targets.shape[1]))
    with engine(source.device):
        for part, width in blocks(runs, source.device):
            some = _padded(runs.part(part), width)
            if source.problem.lazy:
                r, readout, going, ahead = _in_stretches(source, some, SQUARED, longest)
                parts = [np.asarray(going.y)[None]]
                for first, steps, along in ahead:
                    going, rest = proceed(r, readout, going, along, first, steps, keep=True)
                    parts.append(rest)
                outputs = np.concatenate(parts)
            else:
                outputs = np.asarray(outputs_of(*_start(source, some), steps=longest))
            all_outputs[part] = np.moveaxis(outputs[:, :, : part.stop - part.start], 2, 0)
    problem = source.problem
    return problem.values(all_outputs, runs.start) if problem.brought_back else all_outputs
