"""One factorisation for each split, of the moments of its pieces: for few splits."""

from __future__ import annotations

import numpy as np

from echofold._folds.algorithm import Algorithm, Readouts, Size
from echofold._folds.naive import naive
from echofold._folds.pieces import add_up
from echofold._folds.solve import solve
from echofold._folds.splits import RowSplits


class SmallK(Algorithm):
    """The whitened moments of pieces, added up for each split (the paper's section 3.2).

    Splits whose moments cannot be trusted are refitted from their rows.
    """

    public = "small_k"
    SECONDS = {
        "call": 3.6e-4,
        "split": 4.7e-5,
        "moments": 6.7e-11,
        "factor, squares": 2.0e-7,
        "factor, cubes": 7.0e-12,
        "solve": 0.0,
        "predict": 2.8e-10,
    }

    def readouts(self, splits: RowSplits) -> Readouts:
        """Readouts of every split."""
        rows = self.rows
        assert rows.pieces is not None
        white, leaves = rows.leaves()
        M = add_up(leaves, rows.pieces.train[self.scheme])
        solved = solve(M, white, rows.shift, rows.ridge, rows.penalised, whitened=False)
        W, again = solved.W, np.flatnonzero(~solved.trusted)
        if len(again):
            train = [splits.train[split] for split in again]
            W[again] = naive(*rows.data, train, rows.ridge, rows.penalised)
        return Readouts(W, len(again))

    @staticmethod
    def work(size: Size) -> dict[str, float]:
        """Counts of work for one candidate."""
        return {
            "call": 1,
            "split": size.k,
            "moments": (size.n + size.pilot) * size.p**2,
            "factor, squares": (1 + size.k) * size.p**2,
            "factor, cubes": (1 + size.k) * size.p**3,
            "solve": size.solved,
            "predict": size.predicted,
        }
