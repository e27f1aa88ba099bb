"""How far every way to the readouts of splits is from extended precision, in roundings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import precise
from cases import CHOICES, at_work
from passing import Passing

from echofold._data.problem import REGRESSION, Problem, Segments
from echofold._data.rows import rows
from echofold._folds.algorithms import KeptRows
from echofold._folds.splits import RowSplits, cut
from echofold._validation.settings import Settings
from echofold._validation.validate import validate
from echofold.metrics._metric import resolve

WAYS = ("pieces", "fold", "frugal")
FEW, MANY = 10, 100  # roundings: what the plain definition in doubles needs, and what is beyond it


class Deviation(NamedTuple):
    """The largest deviation of an output on validation rows, and how many splits were refitted.

    ``roundings`` is in units of what one rounding of the data does to the outputs of that split and
    ridge; ``relative``, in units of the outputs and targets, is that of splits off by many of them.
    """

    roundings: float
    relative: float
    refitted: int


def on_validation(W: np.ndarray, X: np.ndarray, splits: RowSplits) -> np.ndarray:
    """Outputs ``(splits, ridge, longest, outputs)`` on validation rows, 0 where padded."""
    at = splits.valid_rows
    real = (at < len(X))[:, None, :, None]
    outputs = W[:, :, :1] + X[np.minimum(at, len(X) - 1)][:, None] @ W[:, :, 1:]
    return np.where(real, outputs, 0.0)


def readouts(way, X, Y, weights, splits: RowSplits, ridge, penalised: bool):
    """Readouts by an algorithm or memory way, splits refitted; None where it does not apply."""
    if way in WAYS:
        if way != "pieces" and not splits.intervals:
            return None
        ones = np.ones(Y.shape[1])
        task = Problem(REGRESSION, Y, Segments.series(X), ones, 0 * ones, weights=weights)
        asked = Settings(ridge, penalised, [resolve("mse")], memory=way, readouts=True)
        found = validate(Passing(task, 7, np.arange(len(X))), {"cv": splits}, asked)["cv"]
        return found.W[0], found.refitted
    if CHOICES[way].variant == "walk" and splits.train_sizes.min() <= X.shape[1]:
        return None
    kept = KeptRows(X, Y, weights, ridge, penalised, cut(len(X), [splits]))
    return at_work(CHOICES[way], kept).readouts(splits)[:2]


def deviations(X, Y, weights, splits, ridge, penalised, ways, trials=4) -> dict[str, Deviation]:
    """How far each way is off; weights are left out where a split would have none."""
    if weights is not None and any(not weights[rows(train)].any() for train in splits.train):
        weights = None
    exact, change = precise.one_rounding(X, Y, weights, splits, ridge, penalised, trials)
    size = np.abs(exact).max(axis=(2, 3)) + np.abs(Y).max()
    found = {}
    for way in ways:
        solved = readouts(way, X, Y, weights, splits, ridge, penalised)
        if solved is None:
            continue
        W, refitted = solved
        off = np.abs(on_validation(W, X, splits) - exact).max(axis=(2, 3))
        off = np.where(np.isnan(off), np.inf, off)
        roundings = np.where(off > 0, off / np.where(off > 0, change, 1.0), 0.0)
        relative = np.where(roundings > MANY, off / np.where(off > 0, size, 1.0), 0.0)
        found[way] = Deviation(float(roundings.max()), float(relative.max()), refitted)
    return found
