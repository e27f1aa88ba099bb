"""What closed loops run along where a series is not in memory: rows of a few steps at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from echofold._data.problem import Problem
from echofold._engine.generate import Course, Way
from echofold._machine.progress import passing
from echofold._machine.shapes import few_lengths, pad_rows

ROWS = 2**20  # of all intervals together at a time: fewer would leave most of a block unused


def stretch(
    problem: Problem, start, horizon, way: Way | None, first: int, steps: int, tolerance=None
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
    return Course(known, targets, begin, horizon, problem.unit, way, None, tolerance, offset)


def stretches(
    problem: Problem, start, horizon, along: Course, longest: int
) -> Iterator[tuple[int, int, Course]]:
    """``(first step, steps, what is run along)`` from the second step to the ``longest``."""
    size = steps_together(start, longest)
    for first in range(0, longest, size):
        part = along
        if first:
            part = stretch(problem, start, horizon, along.way, first, size, along.tolerance)
        begin, end = max(first, 1), min(first + size, longest)
        if begin < end:
            yield begin, end - begin, part
        passing(end, longest, "steps forecast")


def steps_together(start: np.ndarray, longest: int) -> int:
    """Steps of a stretch: all, if they are few enough."""
    return min(longest, max(1, ROWS // len(np.unique(start))))
