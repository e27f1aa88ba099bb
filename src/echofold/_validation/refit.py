"""Fits, and plain refits of splits, of rows that pass by: R factors that grow with them.

The definition of `_folds.algorithms.naive`, in memory that does not depend on the number of rows,
and for one training set quicker than with all rows at hand. A QR of ``[1, X − x₀, Y − y₀]`` with
``x₀, y₀`` the first row that counts holds the means in its first row, and below it the R factor of
the centred rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from echofold._data.rows import Interval, Intervals
from echofold._engine.states import States
from echofold._folds.algorithms import fit_rows
from echofold._folds.ridge import QR_BLOCK, Centre, condition_of_rows, solve_each
from echofold._folds.tolerances import EPS
from echofold._machine.lapack import dtpqrt

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


def _gatherer(source: States, train: Intervals, penalised: bool) -> Growing | Kept:
    """What takes in the rows of a training set."""
    few = sum(b - a for a, b in train) * source.columns <= SMALL
    return (Kept if few else Growing)(source.problem, source.columns, penalised)


class Kept:
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

    @property
    def condition(self) -> float:
        """Condition number of the centred states, where rows are fewer than columns."""
        rows = np.concatenate([X for X, _ in self.kept])
        return 1.0 if (rows == rows[0]).all() else 1 / EPS


class Triangle:
    """The R factor of ``[1, X − x₀, Y − y₀]`` of rows that are added to it, ``x₀, y₀`` the first.

    With a bias that is ``penalised`` too, these are zero.
    """

    def __init__(
        self, columns: int, penalised: bool, R: np.ndarray, first: np.ndarray | None = None
    ):
        self.columns, self.penalised, self.R, self.first = columns, penalised, R, first

    @staticmethod
    def empty(columns: int, outputs: int, penalised: bool) -> Triangle:
        """That of no rows."""
        size = 1 + columns + outputs
        return Triangle(columns, penalised, np.zeros((size, size), order="F"))

    def add_rows(self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray | None) -> None:
        """Take in rows; those of weight zero do not count."""
        m = self.columns
        if weights is not None:
            X, Y, weights = X[weights > 0], Y[weights > 0], weights[weights > 0]
            if not len(X):
                return
        if self.first is None:
            self.first = np.concatenate([X[0], Y[0]]) * (not self.penalised)
        A = np.empty((len(X), len(self.R)), order="F")  # as LAPACK wants them
        A[:, 0] = 1.0
        # Rows of the transpose: columns that lie a power of two apart share places in a cache.
        np.subtract(X.T, self.first[:m, None], out=A.T[1 : 1 + m])
        np.subtract(Y.T, self.first[m:, None], out=A.T[1 + m :])
        if weights is not None:
            A *= np.sqrt(weights)[:, None]
        reflected = min(len(self.R), FEW if len(self.R) < WIDE else QR_BLOCK)
        self.R = dtpqrt(0, reflected, self.R, A, overwrite_a=True, overwrite_b=True)[0]

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
        return condition_of_rows(np.linalg.svd(self.centred()[0], compute_uv=False))

    def freedom(self, ridge: float) -> float:
        """Effective degrees of freedom, ``1 + Σ s² / (s² + β)`` of the centred states."""
        R = self.centred()[0]
        sizes = np.abs(R).max(axis=1, initial=0.0)
        some = R[sizes > EPS * sizes.max(initial=0.0)]  # as many as rows of data; others rounding
        s = np.linalg.svd(some, compute_uv=False)
        return 1.0 + float((s[s > 0] ** 2 / (s[s > 0] ** 2 + ridge)).sum())

    def readouts(self, ridge: np.ndarray) -> np.ndarray:
        """Readouts from all rows that were added."""
        p = 1 + self.columns
        if self.penalised:
            return solve_each(self.R[:p, :p], self.R[:p, p:], ridge)
        return self.with_bias(solve_each(self.R[1:p, 1:p], self.R[1:p, p:], ridge))

    def with_penalty_on_bias(self) -> Triangle:
        """The same factor where the bias is penalised, too: of the rows as they are."""
        if self.penalised:
            return self
        assert self.first is not None
        same = copy(self)
        same.R = np.array(self.R, order="F")
        same.R[0, 1:] += self.R[0, 0] * self.first
        same.first, same.penalised = np.zeros_like(self.first), True
        return same

    def with_bias(self, w: np.ndarray) -> np.ndarray:
        """Readouts ``(..., 1 + m, outputs)`` of solutions for centred rows."""
        return Centre(self.mean[: self.columns], self.mean[self.columns :], False).readout(w)


class Growing(Triangle):
    """That of one set of rows of a problem, which come block by block."""

    def __init__(self, problem, columns: int, penalised: bool):
        empty = Triangle.empty(columns, problem.targets.shape[1], penalised)
        super().__init__(columns, penalised, empty.R)
        self.problem = problem

    def add(self, X: np.ndarray, rows: slice) -> None:
        """Take in rows, few enough at a time to stay in the cache."""
        targets, weights = self.problem.targets, self.problem.weights
        for start in range(0, len(X), TOGETHER):
            part = X[start : start + TOGETHER]
            at = slice(rows.start + start, rows.start + start + len(part))
            own = None if weights is None else weights[at]
            self.add_rows(part, np.asarray(targets[at]), own)

    def alone(self) -> Triangle:
        """The factor without the data that it was made of."""
        return Triangle(self.columns, self.penalised, self.R, self.first)


def of_outputs(W: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Readouts ``(..., 1 + m, outputs)`` whose outputs have ridges of their own.

    ``W (..., ridge, 1 + m, outputs)`` has those of a path, ``place (..., 1 or outputs)`` says which
    of its values each output takes.
    """
    return np.take_along_axis(W, place[..., None, None, :], axis=-3)[..., 0, :, :]
