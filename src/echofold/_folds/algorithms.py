"""Algorithms for splits: readouts or residuals of every split of rows that are in memory.

`Naive` is the plain definition, a QR of every split's own rows, and `SmallK` has one factorisation
for each split, of the moments of its pieces. `_folds.leave_out` and `_folds.walk` have those for
many splits, and `_folds.choose` says which one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from echofold._data.rows import Intervals
from echofold._data.rows import rows as rows_of
from echofold._folds import extended
from echofold._folds.moments import (
    MANY_RIDGES,
    TOGETHER,
    Readouts,
    Whitening,
    add_pieces,
    corrected,
    full_rank,
    is_poor,
    solve,
    whitening,
)
from echofold._folds.ridge import prepare_rows, reduce_rows, solve_each
from echofold._folds.splits import Pieces, RowSplits, add_up
from echofold._folds.tolerances import PROBES, SPOILED_ROWS, UNLIKE_ROWS
from echofold._folds.whitened import is_cheaper

LONG = 15  # rows for each column from which coordinates are learned from a pilot
PILOT = 6  # rows a column, about, spread evenly over a long series
GATHERED = 2**21  # numbers up to which the validation rows of all splits are gathered at once


Work = dict[str, tuple[float, float]]


class Solved(NamedTuple):
    """What was found for the splits of a scheme; networks stand first where there are many.

    Readouts ``W (splits, ridge, 1 + m, outputs)``, how many splits were ``refitted`` plainly, and
    ``residuals (splits, longest, ridge, outputs)`` on the rows ``at (splits, longest)``, ``n`` if
    padded; None for what was not asked for.
    """

    W: Any = None
    refitted: int = 0
    at: Any = None
    residuals: Any = None


class Algorithm(ABC):
    """A way to the readouts of splits, on rows that several schemes share.

    ``public`` is the name users ask for it by. ``work`` says by name what one thing takes in
    seconds, on one thread of a CPU (``benchmarks/calibrate.py``), and how many there are; None
    where it cannot be chosen. What is ``shared`` is done once for all schemes.
    """

    public: ClassVar[str]
    shared: ClassVar[tuple[str, ...]] = ()

    def __init__(self, rows: KeptRows):
        self.rows = rows

    @classmethod
    def on(cls, rows: KeptRows) -> Algorithm:
        """The algorithm at work on these rows, or the plain one where no other is good enough."""
        return (Refitting if rows.spoiled and cls is not Naive else cls)(rows)

    @abstractmethod
    def solve(self, splits: RowSplits) -> Solved:
        """Readouts of splits that all have different training sets."""

    def readouts(self, splits: RowSplits) -> Solved:
        """Readouts of every split; those that train on the same rows are solved once.

        Schemes share rows, too: what another has solved is not solved again.
        """
        known, distinct = self.rows.known, splits.distinct
        if known is None:
            found = self.solve(distinct)
            return found if distinct is splits else found._replace(W=splits.spread(found.W))
        new = [number for number, train in enumerate(distinct.train) if train not in known]
        refitted = 0
        if new:
            todo = distinct.part(new)
            W, refitted = self.solve(todo)[:2]
            known |= dict(zip(todo.train, W, strict=True))
        return Solved(np.stack([known[train] for train in splits.train]), refitted)

    def residuals(self, splits: RowSplits, readouts: bool = False) -> Solved:
        """Residuals of every split on its validation rows, and its readouts if asked for."""
        found, at = self.readouts(splits), splits.valid_rows
        residuals = predict(self.rows.X, self.rows.Y, at, found.W)
        return Solved(found.W if readouts else None, found.refitted, at, residuals)

    @staticmethod
    @abstractmethod
    def work(size: Size) -> Work | None:
        """Work for one candidate."""


class KeptRows:
    """``X (n, m)``, ``Y (n, outputs)`` and weights, a ridge path, and work that is done once.

    They are the rows of one network; `_folds.many_rows` has those of many, on a device. ``pieces``
    are those of every scheme that is solved from moments of pieces. If there are ``several``
    schemes, readouts are kept in ``known`` by the rows that they were trained on. Targets are
    less by ``shift`` where they enter moments.
    """

    def __init__(
        self, X, Y, weights, ridge: np.ndarray, penalised: bool, pieces: Pieces,
        several: bool = False,
    ):  # fmt: skip
        self.X, self.Y, self.weights = self.data = X, Y, weights
        self.ridge, self.penalised, self.pieces = ridge, penalised, pieces
        self.known: dict[Intervals, np.ndarray] | None = {} if several else None
        self.shift = Y.mean(axis=0)

    def solved(
        self, way: type[Algorithm], splits: RowSplits, readouts: bool, residuals: bool
    ) -> Solved:
        """What is wanted of every split, by an algorithm."""
        by = way.on(self)
        return by.residuals(splits, readouts) if residuals else by.readouts(splits)

    @cached_property
    def spoiled(self) -> bool:
        """Whether rows differ so much in size that sums of them lose the small ones."""
        return are_unlike(self.X, SPOILED_ROWS)

    @cached_property
    def condition(self) -> float:
        """Condition number of the centred rows; an algorithm that factors them sets it."""
        return self.white.condition

    @property
    def white(self) -> Whitening:
        """Coordinates of the rows."""
        return self._learned[0]

    @cached_property
    def leaves(self) -> np.ndarray:
        """The moments of every piece, in these coordinates."""
        white, leaves = self._learned
        return self._sum_pieces(white) if leaves is None else leaves

    @cached_property
    def _learned(self) -> tuple[Whitening, np.ndarray | None]:
        """Coordinates learned from all rows, or from rows spread evenly over a long series.

        Then with the moments by which rows between those of the pilot are found out.
        """
        n = len(self.X)
        step = round(n / pilot_rows(n, 1 + self.X.shape[1]))
        white = whitening(self.X[::step])
        if step == 1:
            return white.settled(), None
        leaves = self._sum_pieces(white)
        total = leaves.sum(axis=0)
        if is_poor(white, total):
            return whitening(self.X).settled(), None
        return white.settled(total), leaves

    def _sum_pieces(self, white: Whitening) -> np.ndarray:
        size = 1 + self.X.shape[1] + self.Y.shape[1]
        leaves = np.zeros((self.pieces.count, size, size))
        for start in range(0, len(self.X), TOGETHER):
            rows = slice(start, start + TOGETHER)
            weights = None if self.weights is None else self.weights[rows]
            Z = white.apply(self.X[rows])
            add_pieces(leaves, self.pieces, start, Z, self.Y[rows] - self.shift, weights)
        return leaves


def pilot_rows(n: int, columns: float, each: int = PILOT) -> int:
    """Rows to learn coordinates from: all of a short series, ``each`` a column of a long one."""
    return n if n < LONG * columns else int(each * columns)


def predict(X, Y, rows: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Residuals ``(splits, longest, ridge, outputs)`` of each split's readouts on its rows."""
    splits, ridges, p, outputs = W.shape
    flat = np.moveaxis(W, 1, 2).reshape(splits, p, ridges * outputs)
    if rows.size * p <= GATHERED:
        at = np.minimum(rows, len(X) - 1)
        outcome = X[at] @ flat[:, 1:] + flat[:, :1]
        return Y[at][:, :, None] - outcome.reshape(*rows.shape, ridges, outputs)
    residuals = np.empty((splits, rows.shape[1], ridges, outputs))
    for split in range(splits):
        at = np.minimum(rows[split], len(X) - 1)
        if at[-1] - at[0] == len(at) - 1 and (np.diff(at) == 1).all():
            at = slice(at[0], at[-1] + 1)  # a view, where the rows lie together
        outcome = X[at] @ flat[split, 1:]
        outcome += flat[split, 0]
        residuals[split] = Y[at][:, None] - outcome.reshape(-1, ridges, outputs)
    return residuals


def naive(
    X, Y, weights, train: Sequence[Intervals], ridge: np.ndarray, penalised: bool
) -> np.ndarray:
    """Readouts ``(splits, ridge, 1 + m, outputs)``, each from the rows of its split alone."""
    W = np.empty((len(train), len(ridge), 1 + X.shape[1], Y.shape[1]))
    for split, intervals in enumerate(train):
        rows = rows_of(intervals)
        W[split] = fit_rows(
            X[rows], Y[rows], None if weights is None else weights[rows], ridge, penalised
        )
    return W


def fit_rows(X, Y, weights, ridge: np.ndarray, penalised: bool) -> np.ndarray:
    """Readouts ``(ridge, 1 + m, outputs)`` from one set of rows."""
    A, B, centre = prepare_rows(X, Y, weights, penalised)
    root = None if weights is None else np.sqrt(weights)
    W = centre.readout(solve_each(*reduce_rows(A, B, root), ridge))
    if (ridge > 0).any() and are_unlike(X, UNLIKE_ROWS):
        W[ridge > 0] = extended.refined(X, Y, weights, ridge[ridge > 0], penalised)
    return W


def are_unlike(X: np.ndarray, times: float) -> bool:
    """Whether the largest row is more than so many times as large as the smallest.

    The size of a row is its largest number in units of columns; rows of zeros do not count.
    """
    rows = np.maximum(X.max(axis=1, initial=0.0), -X.min(axis=1, initial=0.0))
    # In units of the largest column rows are no larger, so this is quick for most.
    if rows.max(initial=0.0) <= times * rows.min(initial=np.inf):
        return False
    A = np.abs(X)
    largest = A.max(axis=0)
    rows = (A / np.where(largest > 0, largest, 1.0)).max(axis=1)
    rows = rows[rows > 0]
    return bool(rows.size and rows.max() > times * rows.min())


class Naive(Algorithm):
    """Every split from its own rows."""

    public = "naive"

    def solve(self, splits: RowSplits) -> Solved:
        """Readouts of splits that all have different training sets."""
        rows = self.rows
        return Solved(naive(*rows.data, splits.train, rows.ridge, rows.penalised), 0)

    @staticmethod
    def work(size: Size) -> Work:
        """Work for one candidate."""
        return {
            "call": (0.0, 1),
            "split": (2.1e-4, size.sets),
            "system": (2.3e-5, size.sets * size.ridges),
            "rows": (1.5e-10, float(size.splits.distinct.train_sizes.sum()) * size.p**2),
            "factor, squares": (2.0e-8, size.sets * size.p**2),
            "factor, cubes": (3.2e-11, size.sets * size.ridges * size.p**3),
            "solve and predict": (3.7e-10, size.solved + size.predicted),
        }


class Refitting(Naive):
    """The plain way in place of another, for rows that no other is good enough for."""

    def solve(self, splits: RowSplits) -> Solved:
        """Readouts of splits that all have different training sets."""
        return super().solve(splits)._replace(refitted=len(splits))


class SmallK(Algorithm):
    """The whitened moments of pieces, added up for each split (the paper's section 3.2).

    Readouts that the moments of a split cannot be trusted for are corrected by its rows, or the
    split is refitted from these.
    """

    public = "small_k"
    shared = ("moments", "whiten")

    def solve(self, splits: RowSplits) -> Solved:
        """Readouts of splits that all have different training sets."""
        rows = self.rows
        M = add_up(rows.leaves, [rows.pieces.runs[train] for train in splits.train])
        solved = solve(M, rows.white, rows.shift, rows.ridge, rows.penalised, whitened=False)
        W, again = solved.W, np.flatnonzero(~solved.trusted)
        if len(again):
            again = again[self._correct(splits, M, solved, again) :]
            train = [splits.train[split] for split in again]
            W[again] = naive(*rows.data, train, rows.ridge, rows.penalised)
        return Solved(W, len(again))

    def _correct(self, splits: RowSplits, M, solved: Readouts, again: np.ndarray) -> int:
        """Correct readouts that are not sound, and say of how many splits, from the first on."""
        rows, white = self.rows, self.rows.white
        known = full_rank(white, rows.ridge) & (white.size == 1).all()
        if rows.penalised or not known.any():
            return 0
        Z = (rows.X - white.mean) @ white.coordinates.whiten
        for done, split in enumerate(again):
            at, unsound = rows_of(splits.train[split]), ~np.asarray(solved.sound[split])
            weights = None if rows.weights is None else rows.weights[at]
            found = None
            if known[unsound].all():
                found = corrected(
                    M[split], white, rows.shift, rows.ridge[unsound], Z[at], rows.Y[at], weights
                )
            if found is None:  # so it will be for the others
                return done
            solved.W[split, unsound] = found
        return len(again)

    @staticmethod
    def work(size: Size) -> Work:
        """Work for one candidate."""
        k, p, ridges = size.sets, size.p, size.ridges
        svd = ridges > MANY_RIDGES
        # Sets with few of the rows are far from white, where conjugate gradients need long.
        near = 2 * size.splits.train_sizes.min() > size.n
        together = not svd and near and is_cheaper(int(p), ridges, size.outputs)
        systems = 0 if svd or together else k * ridges
        return {
            "call": (6.0e-4, 1),
            "split": (6.0e-5, k),
            "moments": (8.0e-11, (size.n + size.pilot) * p**2),
            "whiten": (4.1e-10, p**3),
            "system": (1.2e-5, systems),
            "factor": (1.9e-11, systems * p**3),
            "products": (3.2e-9, k * (ridges * size.outputs + PROBES) * p**2 * together),
            "decompose": (8.8e-10, k * p**3 * svd),
            "predict": (4.5e-10, size.predicted),
        }


@dataclass
class Size:
    """How large a problem is: what costs are estimated from.

    ``n`` rows, ``k`` splits of which ``sets`` have training sets of their own, ``p`` columns with
    that of ones, ``pilot`` rows that a whitening is learned from; ``solved`` are the products of
    making all readouts from a factorisation, ``predicted`` those of predicting all validation rows.
    """

    splits: RowSplits
    m: int
    outputs: int
    ridges: int
    asked: bool = True  # whether readouts are asked for
    closed: bool = False  # or needed to run closed loops, and not only residuals
    eager: bool = False  # whether nothing is compiled

    def __post_init__(self):
        splits, self.readouts = self.splits, self.asked or self.closed
        self.n, self.k, self.sets = splits.n, len(splits.train), len(splits.distinct.train)
        self.p = 1.0 + self.m
        self.pilot = pilot_rows(self.n, self.p)
        self.solved = self.sets * self.ridges * self.outputs * self.p**2
        self.predicted = float(self.splits.sizes.sum()) * self.p * self.ridges * self.outputs
