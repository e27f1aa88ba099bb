"""Readouts of every split: naive, small k, large k, and the choice between them.

All three give the same readouts. *Naive* refits each split from its own rows. *Small k* adds up
the whitened moments of pieces, one factorisation for each split. *Large k* factors once and leaves
rows out of that (`_large_k`), or walks from split to split row by row (`_chain`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from echofold._chain import chain
from echofold._costs import seconds
from echofold._large_k import large_k
from echofold._moments import Whitening, add_pieces, is_poor, moments, solve, whitening
from echofold._naive import naive
from echofold._pieces import Pieces, add_up
from echofold._splits import RowSplits

SMALL = 2**21  # numbers up to which the rows of all splits are gathered at once
ALGORITHMS = ("naive", "small_k", "large_k")


@dataclass(frozen=True)
class Choice:
    """An algorithm, and the estimated seconds of each for one candidate."""

    algorithm: str
    costs: dict[str, float]
    reason: str
    walk: bool = False  # large k from split to split, rather than leaving rows out of everything


def choose(
    splits: RowSplits, m: int, outputs: int, ridges: int, algorithm: str, readouts: bool = True
) -> Choice:
    """Pick the algorithm with the lowest estimated cost, unless one is asked for.

    ``readouts`` says whether the readouts of splits are needed, or only their residuals.
    """
    estimated = seconds(splits, m, outputs, ridges, readouts)
    out, walk = estimated.pop("left_out"), estimated.pop("walk", np.inf)
    costs = {**estimated, "large_k": min(out, walk)}
    if algorithm != "auto":
        return Choice(algorithm, costs, f"{algorithm} was asked for", walk < out)
    best = min(costs, key=costs.__getitem__)
    reason = (
        f"{best} has the lowest estimated cost for k={len(splits)} splits of n={splits.n} rows "
        f"with {1 + m} columns"
    )
    return Choice(best, costs, reason, walk < out)


class KeptRows:
    """Rows of one candidate, with what several schemes share of the work on them."""

    def __init__(self, X, Y, weights, ridge: np.ndarray, penalised: bool, pieces: Pieces | None):
        self.X, self.Y, self.weights = X, Y, weights
        self.ridge, self.penalised, self.pieces = ridge, penalised, pieces
        self._white: Whitening | None = None
        self._leaves: np.ndarray | None = None
        self._condition: float | None = None

    def _whiten(self, summed: Callable[[np.ndarray], np.ndarray]) -> Whitening:
        """Coordinates learned from all rows, or from rows spread evenly over a long series.

        ``summed`` gives the moments of all whitened rows, by which rows between those of the pilot
        are found out.
        """
        if self._white is None:
            n, p = len(self.X), 1 + self.X.shape[1]
            step = 1 if n < 50 * p else n // (10 * p)
            white, total = whitening(self.X[::step]), None
            if step > 1:
                total = summed(white.apply(self.X))
                if is_poor(white, total):
                    white, total, self._leaves = whitening(self.X), None, None
            self._white = white.settled(total)
        return self._white

    @property
    def condition(self) -> float:
        """Condition number of the centred rows, from whichever factorisation there is."""
        if self._condition is None:
            self._condition = self._whiten(self._total).condition
        return self._condition

    @property
    def shift(self) -> np.ndarray:
        """Subtracted from targets before they enter moments."""
        return self.Y.mean(axis=0)

    def readouts(self, splits: RowSplits, choice: Choice, offset: int) -> tuple[np.ndarray, int]:
        """Readouts ``(splits, ridge, 1 + m, outputs)``, and how many splits were refitted directly.

        ``offset`` is where these splits begin among those that the pieces were cut for.
        """
        data = (self.X, self.Y, self.weights)
        if choice.algorithm == "naive":
            return naive(*data, splits.train, self.ridge, self.penalised), 0
        if choice.algorithm == "small_k":
            return self._small_k(splits, slice(offset, offset + len(splits)))
        if choice.walk:
            white = self._whiten(self._total)
            return chain(*data, splits, self.ridge, self.penalised, white)
        found = large_k(*data, splits, self.ridge, self.penalised, readouts=True)
        self._condition = found.condition
        return found.W, found.direct

    def _small_k(self, splits: RowSplits, which: slice) -> tuple[np.ndarray, int]:
        """One factorisation for each split, of the moments of its pieces."""
        assert self.pieces is not None
        white = self._whiten(self._summed)
        if self._leaves is None:
            self._summed(white.apply(self.X))
        assert self._leaves is not None
        M = add_up(self._leaves, self.pieces.train[which])
        found = solve(M, white, self.shift, self.ridge, self.penalised, whitened=False)
        W, again = found.W, np.flatnonzero(~found.trusted)
        if len(again):
            train = [splits.train[split] for split in again]
            data = (self.X, self.Y, self.weights)
            W[again] = naive(*data, train, self.ridge, self.penalised)
        return W, len(again)

    def _summed(self, Z: np.ndarray) -> np.ndarray:
        """Moments of all rows; those of the pieces are kept."""
        assert self.pieces is not None
        size = 1 + self.X.shape[1] + self.Y.shape[1]
        self._leaves = np.zeros((self.pieces.count, size, size))
        add_pieces(self._leaves, self.pieces, 0, Z, self.Y - self.shift, self.weights)
        return self._leaves.sum(axis=0)

    def _total(self, Z: np.ndarray) -> np.ndarray:
        """Moments of all rows, where no pieces are needed."""
        return moments(Z, self.Y[:, :0], self.weights)

    def residuals(
        self, splits: RowSplits, choice: Choice, offset: int
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Validation rows, residuals ``(splits, longest, ridge, outputs)``, splits refitted."""
        if choice.algorithm == "large_k" and not choice.walk:
            data = (self.X, self.Y, self.weights)
            found = large_k(*data, splits, self.ridge, self.penalised, readouts=False)
            self._condition = found.condition
            return _only_valid(found.rows, splits), found.residuals, found.direct
        W, direct = self.readouts(splits, choice, offset)
        return splits.valid_rows, predict_residuals(self.X, self.Y, splits.valid_rows, W), direct


def _only_valid(rows: np.ndarray, splits: RowSplits) -> np.ndarray:
    """Rows left out, with ``n`` in place of those that are in a gap."""
    if rows.shape == splits.valid_rows.shape and (rows == splits.valid_rows).all():
        return rows
    if splits.intervals:
        spans = np.array([valid[0] for valid in splits.valid])
        return np.where((rows >= spans[:, :1]) & (rows < spans[:, 1:]), rows, splits.n)
    inside = [np.isin(a, b) for a, b in zip(rows, splits.valid_rows, strict=True)]
    return np.where(inside, rows, splits.n)


def predict_residuals(X, Y, rows: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Residuals ``(splits, longest, ridge, outputs)`` of each split's readouts on its rows."""
    splits, ridges, p, outputs = W.shape
    flat = np.moveaxis(W, 1, 2).reshape(splits, p, ridges * outputs)
    if rows.size * p <= SMALL:
        at = np.minimum(rows, len(X) - 1)
        outcome = X[at] @ flat[:, 1:] + flat[:, :1]
        return Y[at][:, :, None] - outcome.reshape(*rows.shape, ridges, outputs)
    found = np.empty((splits, rows.shape[1], ridges, outputs))
    for split in range(splits):
        at = np.minimum(rows[split], len(X) - 1)
        if at[-1] - at[0] == len(at) - 1 and (np.diff(at) == 1).all():
            at = slice(at[0], at[-1] + 1)  # a view, where the rows lie together
        outcome = X[at] @ flat[split, 1:]
        outcome += flat[split, 0]
        found[split] = Y[at][:, None] - outcome.reshape(-1, ridges, outputs)
    return found
