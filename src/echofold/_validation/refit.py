"""Fits, and plain refits of splits, of rows that pass by: R factors that grow with them.

The definition of `_folds.algorithms.naive`, in memory that does not depend on the number of rows,
and for one training set quicker than with all rows at hand. A QR of ``[1, X − x₀, Y − y₀]`` with
``x₀, y₀`` the first row that counts holds the means in its first row, and below it the R factor of
the centred rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg.lapack import dtpqrt

from echofold._data.rows import Interval, Intervals
from echofold._engine.states import States
from echofold._folds.algorithms import fit_rows
from echofold._folds.ridge import QR_BLOCK, Centre, condition_of, solve_each
from echofold._folds.tolerances import EPS, negligible

FACTORS = 2**26  # bytes of R factors that grow in one pass
SMALL = 2**16  # numbers of a training set that is kept as it is
TOGETHER = 1024  # rows that are taken in at a time
FEW, WIDE = 8, 128  # columns that LAPACK reflects together, of fewer than this many


def refit(
    source: States, todo: Sequence[tuple[int, Intervals]], ridge: np.ndarray, penalised: bool
) -> list[np.ndarray]:
    """Readouts ``(ridge, 1 + m, outputs)`` of each ``(candidate, training rows)``."""
    width = 1 + source.columns + source.problem.targets.shape[1]
    size = max(1, FACTORS // (8 * width**2))
    readouts = []
    for first in range(0, len(todo), size):
        part = todo[first : first + size]
        grown = [_gatherer(source, train, penalised) for _, train in part]
        for row, block in source.blocks():
            for one, (candidate, train) in zip(grown, part, strict=True):
                for a, b in _inside(train, row, row + len(block[0])):
                    one.add(block[candidate][a - row : b - row], slice(a, b))
        readouts += [one.readouts(ridge) for one in grown]
    return readouts


def factor_all(source: States) -> list[tuple[np.ndarray, np.ndarray]]:
    """R factor of the centred rows ``(m, m)`` and their mean, of every candidate, in one pass."""
    problem = replace(source.problem, weights=None)
    grown = [Growing(problem, source.columns, False) for _ in range(source.candidates)]
    for row, block in source.blocks():
        for one, X in zip(grown, block, strict=True):
            one.add(X, slice(row, row + len(X)))
    return [one.centred() for one in grown]


def _inside(intervals: Intervals, start: int, stop: int) -> Iterable[Interval]:
    """The parts of intervals between two rows."""
    for a, b in intervals:
        if max(a, start) < min(b, stop):
            yield max(a, start), min(b, stop)


def _gatherer(source: States, train: Intervals, penalised: bool) -> Growing | _Few:
    """What takes in the rows of a training set."""
    few = sum(b - a for a, b in train) * source.columns <= SMALL
    return (_Few if few else Growing)(source.problem, source.columns, penalised)


class _Few:
    """Rows so few that they are kept and refitted as `naive` does it, whatever their sizes."""

    def __init__(self, problem, columns: int, penalised: bool):
        self.problem, self.penalised = problem, penalised
        self.kept: list[tuple[np.ndarray, slice]] = []

    def add(self, X: np.ndarray, rows: slice) -> None:
        """Take in rows."""
        self.kept.append((np.array(X), rows))

    def readouts(self, ridge: np.ndarray) -> np.ndarray:
        """Readouts from all rows that were added."""
        X = np.concatenate([X for X, _ in self.kept])
        Y = np.concatenate([np.asarray(self.problem.targets[rows]) for _, rows in self.kept])
        weights = self.problem.weights
        if weights is not None:
            weights = np.concatenate([weights[rows] for _, rows in self.kept])
        return fit_rows(X, Y, weights, ridge, self.penalised)


class Growing:
    """The R factor of ``[1, X − x₀, Y − y₀]`` of one set of rows, which come block by block."""

    def __init__(self, problem, columns: int, penalised: bool):
        self.problem, self.columns, self.penalised = problem, columns, penalised
        self.first: np.ndarray | None = None
        size = 1 + columns + problem.targets.shape[1]
        self.R = np.zeros((size, size), order="F")
        self._reflected = min(size, FEW if size < WIDE else QR_BLOCK)

    def add(self, X: np.ndarray, rows: slice) -> None:
        """Take in rows, few enough at a time to stay in the cache."""
        for start in range(0, len(X), TOGETHER):
            part = X[start : start + TOGETHER]
            self._add(part, slice(rows.start + start, rows.start + start + len(part)))

    def _add(self, X: np.ndarray, rows: slice) -> None:
        m, weights = self.columns, self.problem.weights
        Y = np.asarray(self.problem.targets[rows])
        if weights is not None:
            weights = weights[rows]
            X, Y, weights = X[weights > 0], Y[weights > 0], weights[weights > 0]
            if not len(X):
                return
        if self.first is None:
            self.first = np.concatenate([X[0], Y[0]]) * (not self.penalised)
        A = np.empty((len(X), len(self.R)), order="F")  # as LAPACK wants them
        A[:, 0] = 1.0
        np.subtract(X, self.first[:m], out=A[:, 1 : 1 + m])
        np.subtract(Y, self.first[m:], out=A[:, 1 + m :])
        if weights is not None:
            A *= np.sqrt(weights)[:, None]
        self.R = dtpqrt(0, self._reflected, self.R, A, overwrite_a=True, overwrite_b=True)[0]

    @property
    def mean(self) -> np.ndarray:
        """Weighted means of states and targets."""
        assert self.first is not None
        return self.first + self.R[0, 1:] / self.R[0, 0]

    def centred(self) -> tuple[np.ndarray, np.ndarray]:
        """R factor of the centred states, and their mean."""
        m = self.columns
        return self.R[1 : 1 + m, 1 : 1 + m], self.mean[:m]

    @property
    def condition(self) -> float:
        """Condition number of the centred states; ``1/eps`` if some direction is only rounding."""
        s = np.linalg.svd(self.centred()[0], compute_uv=False)
        if not s[0]:
            return 1.0
        return 1 / EPS if s[-1] <= negligible(s[0], len(s)) else condition_of(s)

    def readouts(self, ridge: np.ndarray) -> np.ndarray:
        """Readouts from all rows that were added."""
        p = 1 + self.columns
        if self.penalised:
            return solve_each(self.R[:p, :p], self.R[:p, p:], ridge)
        w = solve_each(self.R[1:p, 1:p], self.R[1:p, p:], ridge)
        return Centre(self.mean[: p - 1], self.mean[p - 1 :], False).readout(w)
