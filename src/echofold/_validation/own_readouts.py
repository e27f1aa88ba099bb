"""Readouts of single series: from their own rows alone, or a common one with corrections.

With ``pool="none"`` each of several series is solved as if it were alone. With ``pool="shrunk"``
its readout is ``w + δ``: ``w`` is that of the rows that all series train on, and ``δ`` minimises
``‖(Y − X w) − X δ‖² + shrink ‖δ‖²`` over those of its own, or is zero where there are none. The
bias of ``δ`` is always penalised: as ``shrink`` grows, all series come to have the common readout,
and no bias of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from echofold._data.rows import Intervals
from echofold._data.rows import rows as rows_of
from echofold._engine.states import States
from echofold._folds.algorithms import KeptRows, Naive, Size, SmallK, fit_rows
from echofold._folds.choose import VARIANTS, Choice, choose, cost
from echofold._folds.moments import solve
from echofold._folds.splits import RowSplits, add_up, cut
from echofold._folds.tolerances import EPS
from echofold._machine.device import EAGER, one_blas_thread
from echofold._validation.record import Validated
from echofold._validation.settings import Settings, check_pool


def enter_own(
    source: States, one: Validated, settings: Settings, kept: list[np.ndarray] | None = None
) -> None:
    """Put readouts ``(candidates, runs, ridge, 1 + m, outputs)`` into ``one``.

    Each is of a series and a split. Common ones that are there, of splits, are corrected. States
    pass by unless they are ``kept``.
    """
    problem, bounds, common = source.problem, source.problem.bounds, one.W
    shape = source.candidates, len(one.splits.runs), len(settings.ridge)
    W = np.empty((*shape, 1 + source.columns, problem.targets.shape[1]))
    condition = np.ones(source.candidates)
    parts = {part.series: part for part in one.splits.of_series}
    for first, block in source.blocks() if kept is None else [(0, kept)]:
        begin, end = np.searchsorted(bounds, [first, first + len(block[0])]).tolist()
        for part in (parts[series] for series in range(begin, end) if series in parts):
            rows = slice(*bounds[part.series : part.series + 2])
            Y, weights = problem.targets[rows], problem.weights
            weights = None if weights is None else weights[rows]
            solver = _Solver(
                one.splits.trained_alone(part), weights, settings, source.device == EAGER
            )
            for candidate, X in enumerate(block):
                X = X[rows.start - first : rows.stop - first]
                if common is None:
                    found, refitted, seen = solver.alone(X, Y)
                    condition[candidate] = max(condition[candidate], seen)
                else:
                    found, refitted = solver.corrected(X, Y, common[candidate, part.places])
                W[candidate, part.runs] = found
                one.refitted += refitted
    one.W = W
    if common is None:  # that of the worst series
        one.condition = condition


def fit_own(
    source: States, common: np.ndarray | None, settings: Settings
) -> tuple[np.ndarray, float]:
    """Readouts ``(1 + series, 1 + m, outputs)`` of all rows, and a condition.

    The first is the ``common`` one, or zeros. The condition is that of the worst series, if there
    is none in common.
    """
    problem = source.problem
    whole = tuple(pairwise(problem.bounds.tolist()))
    splits = RowSplits("", problem.rows, [whole], [whole], bounds=problem.bounds)
    check_pool(problem, {"": splits}, settings)
    one = Validated(
        splits, Choice("naive", {}, ""), W=None if common is None else common[None, None, None]
    )
    with one_blas_thread():
        enter_own(source, one, settings)
    own = one.W[0, :, 0]
    first = np.zeros_like(own[:1]) if common is None else common[None]
    return np.concatenate([first, own]), 1.0 if common is not None else float(one.condition[0])


class _Solver:
    """Readouts of one series, for every candidate."""

    def __init__(self, splits: RowSplits, weights, settings: Settings, eager: bool):
        self.splits, self.weights, self.settings, self.eager = splits, weights, settings, eager

    def alone(self, X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, int, float]:
        """Readouts ``(splits, ridge, 1 + m, outputs)``, how many were refitted, and a condition."""
        path, splits = self.settings.ridge, self.splits
        size = Size(splits, X.shape[1], Y.shape[1], len(path), closed=True, eager=self.eager)
        variant = VARIANTS[choose(size, self.settings.algorithm).variant]
        pieces = cut(splits.n, [splits] if variant is SmallK else [])
        rows = KeptRows(X, Y, self.weights, path, self.settings.penalised, pieces)
        W, refitted = variant.on(rows).readouts(splits)[:2]
        return W, refitted, rows.condition if len(X) > X.shape[1] else 1 / EPS

    def corrected(self, X: np.ndarray, Y: np.ndarray, common: np.ndarray) -> tuple[np.ndarray, int]:
        """Readouts ``common (splits, ridge, 1 + m, outputs)`` with their corrections.

        And how many of these were refitted.
        """
        splits, (ridges, p, outputs) = self.splits, common.shape[1:]
        size = Size(splits, p - 1, ridges * outputs, 1, closed=True, eager=self.eager)
        plain = self.settings.algorithm == "naive"
        if not plain and self.settings.algorithm != "small_k":
            plain = cost(Naive, size) <= cost(SmallK, size)
        pieces = cut(splits.n, [] if plain else [splits])
        rows = KeptRows(X, Y, self.weights, np.array([self.settings.shrink]), True, pieces)
        # The ridge path are outputs here, (splits, 1 + m, ridge * outputs), with one factor for all
        given = np.moveaxis(common, 1, 2).reshape(len(splits), p, -1)
        solved = _plain if plain or rows.spoiled else _from_moments
        found, refitted = solved(rows, splits.train, given)
        found = found.reshape(len(splits), p, ridges, outputs)
        return common + np.moveaxis(found, 2, 1), refitted


def _plain(rows: KeptRows, train: Sequence[Intervals], given: np.ndarray) -> tuple[np.ndarray, int]:
    """Corrections of readouts ``given (splits, 1 + m, ridge * outputs)``, by the definition."""
    X, Y, weights = rows.data
    found = np.empty_like(given)
    for place, (intervals, W) in enumerate(zip(train, given, strict=True)):
        at = rows_of(intervals)
        left = np.tile(Y[at], given.shape[2] // Y.shape[1]) - (W[0] + X[at] @ W[1:])
        own = None if weights is None else weights[at]
        found[place] = fit_rows(X[at], left, own, rows.ridge, rows.penalised)[0]
    return found, 0


def _from_moments(
    rows: KeptRows, train: Sequence[Intervals], given: np.ndarray
) -> tuple[np.ndarray, int]:
    """The same of the moments ``M`` of pieces, in coordinates ``Z`` in which readouts are ``V``.

    Of the residuals ``Y − [1, Z] V`` they are ``M_zy − M_zz V``.
    """
    white, p, count = rows.white, given.shape[1], given.shape[2]
    times = count // rows.Y.shape[1]
    M = add_up(rows.leaves, [rows.pieces.runs[intervals] for intervals in train])
    V = np.concatenate([given[:, :1], white.unwhiten @ given[:, 1:]], axis=1)
    V[:, 0] += white.mean @ given[:, 1:] - np.tile(rows.shift, times)
    left = np.zeros((len(train), p + count, p + count))
    left[:, :p, :p] = M[:, :p, :p]
    left[:, :p, p:] = np.tile(M[:, :p, p:], times) - M[:, :p, :p] @ V
    nothing = np.zeros(count)  # that residuals are shifted by
    solved = solve(left, white, nothing, rows.ridge, rows.penalised, whitened=False)
    found, again = solved.W[:, 0], np.flatnonzero(~solved.trusted).tolist()
    if again:
        found[again] = _plain(rows, [train[split] for split in again], given[again])[0]
    return found, len(again)
