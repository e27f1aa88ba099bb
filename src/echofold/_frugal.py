"""Validation split by split, in memory that does not grow with the data or the number of splits.

The paper's frugal implementation, in whitened coordinates. Where a split leaves out one interval
(and its gaps), its training moments are the total less those of the interval; where it trains on a
window, rows are added at the window's head and taken away at its tail as it moves. Keeping the
states of one fold saves the pass that would make them again for prediction.
"""

from __future__ import annotations

import numpy as np

from echofold._moments import Whitening, moments, solve
from echofold._scores import error_sums, finish_sums, kinds, runs_closed_loop
from echofold._splits import RowSplits
from echofold._states import States
from echofold._streamed import learn_whitening
from echofold._validated import Settings, Validated


def fold_by_fold(source: States, one: Validated, settings: Settings, keep_fold: bool) -> None:
    """Readouts and scores of one scheme, a split at a time."""
    problem, splits = source.problem, one.splits
    _check(splits, settings)
    shift = problem.targets.mean(axis=0)
    whites, total = learn_whitening(source, shift)
    closed = runs_closed_loop(problem, splits)
    shape = (source.candidates, len(splits), len(settings.ridge))
    if closed or settings.readouts:
        one.W = np.empty((*shape, 1 + source.columns, problem.targets.shape[1]))
    if closed:
        one.starts = np.empty((source.candidates, len(splits), source.columns))
    sums = {kind: np.zeros(shape) for kind in kinds(settings.metrics)}
    one.condition = np.array([white.condition for white in whites])
    train = _Training(source, splits, whites, total, shift)
    for split, ((a, b),) in enumerate(splits.valid):
        W = [
            solve(M[None], white, shift, settings.ridge, settings.penalised).W[0]
            for M, white in zip(train.moments(split, keep_fold), whites, strict=True)
        ]
        if one.W is not None:
            one.W[:, split] = W
        if closed:
            one.starts[:, split] = [X[0] for _, block in train.again(a, a + 1) for X in block]
            continue
        for first, block in train.again(a, b):
            rows = np.arange(first, first + len(block[0]))
            for candidate, X in enumerate(block):
                w = W[candidate]
                outputs = w[:, 0][:, None] + X @ w[:, 1:]
                e = np.moveaxis(problem.targets[rows] - outputs, 0, 1)
                for kind, value in error_sums(problem, rows[None], e[None], tuple(sums)).items():
                    sums[kind][candidate, split] += value[0]
    if not closed:
        one.scores = finish_sums(problem, splits, sums, settings.metrics)


def _check(splits: RowSplits, settings: Settings) -> None:
    """Raise for what this way of validating cannot do."""
    single = all(len(left) == 1 for left in splits.left_out)
    if not splits.intervals or not (single or _moves(splits)):
        raise ValueError(
            f"cv={splits.name} neither leaves out one interval at a time nor trains on one window "
            "that moves forward, which memory='fold' and 'frugal' need. Use memory='states' or "
            "'pieces', or another scheme."
        )
    for metric in settings.metrics:
        if metric.needs == "predictions":
            raise ValueError(
                f"metric={metric.name!r} needs all predictions of a split at once, which "
                "memory='fold' and 'frugal' do not keep. Use memory='states' or 'pieces', or one "
                "of nrmse, rmse, mse, mae."
            )


def _moves(splits: RowSplits) -> bool:
    """Whether every split trains on one window, and no end of it ever moves back."""
    if any(len(train) != 1 for train in splits.train):
        return False
    return bool((np.diff([train[0] for train in splits.train], axis=0) >= 0).all())


class _Training:
    """Training moments of one split after the other, ``(candidates, a, a)``."""

    def __init__(self, source: States, splits: RowSplits, whites: list[Whitening], total, shift):
        self.source, self.splits, self.whites, self.shift = source, splits, whites, shift
        self.total = total
        # Windows move; everything else leaves one interval out of the total.
        self.moving = _moves(splits)
        self.window = np.zeros_like(total)
        self.at = (splits.train[0][0][0],) * 2
        self.fold: list | None = None

    def moments(self, split: int, keep: bool) -> np.ndarray:
        """Moments of this split's training rows; keeps the states passed over if ``keep``."""
        if not self.moving:
            (a, b) = self.splits.left_out[split][0][0], self.splits.left_out[split][-1][1]
            self.fold = [] if keep else None
            return self.total - self._sum(a, b)
        (a, b), (tail, head) = self.splits.train[split][0], self.at
        self.window = self.window + self._sum(head, b) - self._sum(tail, a)
        self.at = (a, b)
        self.fold = None
        return self.window

    def _sum(self, a: int, b: int) -> np.ndarray:
        """Moments of the rows ``a … b``."""
        problem = self.source.problem
        found = np.zeros_like(self.total)
        for first, block in self.source.blocks(a, b) if b > a else ():
            rows = slice(first, first + len(block[0]))
            w = None if problem.weights is None else problem.weights[rows]
            for candidate, X in enumerate(block):
                Z = self.whites[candidate].apply(X)
                found[candidate] += moments(Z, problem.targets[rows] - self.shift, w)
            if self.fold is not None:
                self.fold.append((first, block))
        return found

    def again(self, a: int, b: int):
        """The rows ``a … b``: those kept from computing the moments, or driven once more."""
        if self.fold is None:
            yield from self.source.blocks(a, b)
            return
        for first, block in self.fold:
            low, high = max(a, first), min(b, first + len(block[0]))
            if low < high:
                yield low, [X[low - first : high - first] for X in block]
