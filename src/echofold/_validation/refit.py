"""Plain refits of splits whose states are not kept: R factors that grow as the rows pass by.

The definition of `_folds.naive`, in memory that does not depend on the number of rows. A QR of
``[1, X − x₀, Y − y₀]`` with ``x₀, y₀`` the first row that counts holds the means in its first row,
and below it the R factor of the centred rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from echofold._data.rows import Interval, Intervals
from echofold._engine.states import States
from echofold._folds.ridge import Centre, solve_each, triangle_of

TOGETHER = 2**26  # bytes of R factors and waiting rows that grow in one pass
WAITING = 2  # rows that wait to be factored, in units of the columns


def refit(
    source: States,
    todo: Sequence[tuple[int, Intervals]],
    ridge: np.ndarray,
    penalised: bool,
) -> list[np.ndarray]:
    """Readouts ``(ridge, 1 + m, outputs)`` of each ``(candidate, training rows)``."""
    width = 1 + source.columns + source.problem.targets.shape[1]
    size = max(1, TOGETHER // (8 * (1 + WAITING) * width**2))
    readouts = []
    for first in range(0, len(todo), size):
        part = todo[first : first + size]
        grown = [_Growing(source.problem, source.columns, penalised) for _ in part]
        for row, block in source.blocks():
            for one, (candidate, train) in zip(grown, part, strict=True):
                for a, b in _inside(train, row, row + len(block[0])):
                    one.add(block[candidate][a - row : b - row], slice(a, b))
        readouts += [one.readouts(ridge) for one in grown]
    return readouts


def factor_all(source: States) -> list[tuple[np.ndarray, np.ndarray]]:
    """R factor of the centred rows ``(m, m)`` and their mean, of every candidate, in one pass."""
    problem = replace(source.problem, weights=None)
    grown = [_Growing(problem, source.columns, False) for _ in range(source.candidates)]
    for row, block in source.blocks():
        for one, X in zip(grown, block, strict=True):
            one.add(X, slice(row, row + len(X)))
    return [one.centred() for one in grown]


def _inside(intervals: Intervals, start: int, stop: int) -> Iterable[Interval]:
    """The parts of intervals between two rows."""
    for a, b in intervals:
        if max(a, start) < min(b, stop):
            yield max(a, start), min(b, stop)


class _Growing:
    """The R factor of one training set."""

    def __init__(self, problem, columns: int, penalised: bool):
        self.problem, self.columns, self.penalised = problem, columns, penalised
        self.first: np.ndarray | None = None
        self.R = np.zeros((0, 1 + columns + problem.targets.shape[1]))
        self.waiting: list[np.ndarray] = []

    def add(self, X: np.ndarray, rows: slice) -> None:
        """Take in rows; they are factored when enough have come."""
        A = np.hstack([np.ones((len(X), 1)), X, self.problem.targets[rows]])
        weights = self.problem.weights
        if weights is not None:
            A, weights = A[weights[rows] > 0], weights[rows][weights[rows] > 0]
            if not len(A):
                return
        if self.first is None:
            self.first = np.append(0.0, A[0, 1:] * (not self.penalised))
        A -= self.first
        if weights is not None:
            A *= np.sqrt(weights)[:, None]
        self.waiting.append(A)
        if sum(map(len, self.waiting)) >= WAITING * A.shape[1]:
            self._factor()

    def _factor(self) -> None:
        self.R = triangle_of(np.vstack([self.R, *self.waiting]))
        self.waiting = []

    @property
    def mean(self) -> np.ndarray:
        """Weighted means of states and targets."""
        assert self.first is not None
        return self.first[1:] + self.R[0, 1:] / self.R[0, 0]

    def centred(self) -> tuple[np.ndarray, np.ndarray]:
        """R factor of the centred states, and their mean."""
        self._factor()
        m = self.columns
        return self.R[1 : 1 + m, 1 : 1 + m], self.mean[:m]

    def readouts(self, ridge: np.ndarray) -> np.ndarray:
        """Readouts from all rows that were added."""
        self._factor()
        p = 1 + self.columns
        if self.penalised:
            return solve_each(self.R[:p, :p], self.R[:p, p:], ridge)
        below = self.R[1:p]
        w = solve_each(below[:, 1:p], below[:, p:], ridge)
        return Centre(self.mean[: p - 1], self.mean[p - 1 :], False).readout(w)
