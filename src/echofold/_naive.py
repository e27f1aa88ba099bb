"""The plain definition: refit every split from its own rows, by QR."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from echofold._ridge import prepare_rows, reduce_rows, solve_each
from echofold._rows import Intervals
from echofold._rows import rows as rows_of


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
    return centre.readout(solve_each(*reduce_rows(A, B, root), ridge))
