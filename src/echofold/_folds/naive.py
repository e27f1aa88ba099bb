"""The plain definition: refit every split from its own rows, by QR."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from echofold._data.rows import Intervals
from echofold._data.rows import rows as rows_of
from echofold._folds import extended
from echofold._folds.algorithm import Algorithm, Readouts, Size
from echofold._folds.ridge import prepare_rows, reduce_rows, solve_each
from echofold._folds.splits import RowSplits
from echofold._folds.tolerances import UNLIKE_ROWS


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
    if (ridge > 0).any() and extended.are_unlike(X, UNLIKE_ROWS):
        W[ridge > 0] = extended.refined(X, Y, weights, ridge[ridge > 0], penalised)
    return W


class Naive(Algorithm):
    """Every split from its own rows."""

    public = "naive"
    SECONDS = {
        "call": 0.0,
        "split": 2.1e-4,
        "system": 2.3e-5,
        "rows": 1.5e-10,
        "factor, squares": 2.0e-8,
        "factor, cubes": 3.2e-11,
        "solve and predict": 3.7e-10,
    }

    def solve(self, splits: RowSplits) -> Readouts:
        """Readouts of splits that all have different training sets."""
        rows = self.rows
        return Readouts(naive(*rows.data, splits.train, rows.ridge, rows.penalised), 0)

    @staticmethod
    def work(size: Size) -> dict[str, float]:
        """Counts of work for one candidate."""
        return {
            "call": 1,
            "split": size.sets,
            "system": size.sets * size.ridges,
            "rows": float(size.splits.distinct.train_sizes.sum()) * size.p**2,
            "factor, squares": size.sets * size.p**2,
            "factor, cubes": size.sets * size.ridges * size.p**3,
            "solve and predict": size.solved + size.predicted,
        }


class Refitting(Naive):
    """The plain way in place of another, for rows that no other is good enough for."""

    def solve(self, splits: RowSplits) -> Readouts:
        """Readouts of splits that all have different training sets."""
        return super().solve(splits)._replace(refitted=len(splits))
