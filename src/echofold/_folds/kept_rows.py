"""Rows of one candidate that are all in memory, with what algorithms and schemes share on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from echofold._data.rows import Intervals
from echofold._folds import extended
from echofold._folds.moments import (
    Whitening,
    add_pieces,
    is_poor,
    moments,
    pilot_rows,
    whitening,
)
from echofold._folds.pieces import Pieces
from echofold._folds.tolerances import SPOILED_ROWS

PILOT = 10  # rows a column, spread evenly over a long series


class KeptRows:
    """``X (n, m)``, ``Y (n, outputs)`` and weights, a ridge path, and work that is done once.

    ``pieces`` are those of every scheme that is solved from moments of pieces. If there are
    ``several`` schemes, readouts are kept in ``solved`` by the rows that they were trained on.
    """

    def __init__(
        self, X, Y, weights, ridge: np.ndarray, penalised: bool, pieces: Pieces | None,
        several: bool = False,
    ):  # fmt: skip
        self.X, self.Y, self.weights = X, Y, weights
        self.ridge, self.penalised, self.pieces = ridge, penalised, pieces
        self.solved: dict[Intervals, np.ndarray] | None = {} if several else None
        self._white: Whitening | None = None
        self._leaves: np.ndarray | None = None
        self._condition: float | None = None

    @property
    def data(self) -> tuple[Any, Any, Any]:
        """States, targets and weights."""
        return self.X, self.Y, self.weights

    @property
    def shift(self) -> np.ndarray:
        """Subtracted from targets before they enter moments."""
        return self.Y.mean(axis=0)

    @cached_property
    def spoiled(self) -> bool:
        """Whether rows differ so much in size that sums of them lose the small ones."""
        return extended.are_unlike(self.X, SPOILED_ROWS)

    @property
    def condition(self) -> float:
        """Condition number of the centred rows, from whichever factorisation there is."""
        if self._condition is None:
            self._condition = self.whitening().condition
        return self._condition

    @condition.setter
    def condition(self, value: float) -> None:
        self._condition = value

    def whitening(self) -> Whitening:
        """Coordinates of the rows, where no moments of pieces are needed."""
        return self._whiten(lambda Z: moments(Z, self.Y[:, :0], self.weights))

    def leaves(self) -> tuple[Whitening, np.ndarray]:
        """Coordinates, and in them the moments of every piece."""
        white = self._whiten(self._sum_pieces)
        if self._leaves is None:
            self._sum_pieces(white.apply(self.X))
        assert self._leaves is not None
        return white, self._leaves

    def _sum_pieces(self, Z: np.ndarray) -> np.ndarray:
        """Moments of all rows; those of the pieces are kept."""
        assert self.pieces is not None
        size = 1 + self.X.shape[1] + self.Y.shape[1]
        self._leaves = np.zeros((self.pieces.count, size, size))
        add_pieces(self._leaves, self.pieces, 0, Z, self.Y - self.shift, self.weights)
        return self._leaves.sum(axis=0)

    def _whiten(self, summed: Callable[[np.ndarray], np.ndarray]) -> Whitening:
        """Coordinates learned from all rows, or from rows spread evenly over a long series.

        ``summed`` gives the moments of all whitened rows, by which rows between those of the pilot
        are found out.
        """
        if self._white is None:
            n = len(self.X)
            step = n // pilot_rows(n, 1 + self.X.shape[1], PILOT)
            white, total = whitening(self.X[::step]), None
            if step > 1:
                total = summed(white.apply(self.X))
                if is_poor(white, total):
                    white, total, self._leaves = whitening(self.X), None, None
            self._white = white.settled(total)
        return self._white
