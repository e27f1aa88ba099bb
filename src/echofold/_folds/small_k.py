"""One factorisation for each split, of the moments of its pieces: for few splits."""

from __future__ import annotations

import numpy as np

from echofold._folds.algorithm import Algorithm, Readouts, Size
from echofold._folds.naive import naive
from echofold._folds.pieces import add_up
from echofold._folds.solve import MANY_RIDGES, solve
from echofold._folds.splits import RowSplits
from echofold._folds.tolerances import PROBES
from echofold._folds.whitened import is_cheaper


class SmallK(Algorithm):
    """The whitened moments of pieces, added up for each split (the paper's section 3.2).

    Splits whose moments cannot be trusted are refitted from their rows.
    """

    public = "small_k"
    shared = ("moments", "whiten")
    SECONDS = {
        "call": 6.0e-4,
        "split": 6.0e-5,
        "moments": 8.0e-11,
        "whiten": 4.1e-10,
        "system": 1.2e-5,
        "factor": 1.9e-11,
        "products": 3.2e-9,
        "decompose": 8.8e-10,
        "predict": 4.5e-10,
    }

    def solve(self, splits: RowSplits) -> Readouts:
        """Readouts of splits that all have different training sets."""
        rows = self.rows
        assert rows.pieces is not None
        white, leaves = rows.leaves()
        M = add_up(leaves, [rows.pieces.train[self.scheme][train] for train in splits.train])
        solved = solve(M, white, rows.shift, rows.ridge, rows.penalised, whitened=False)
        W, again = solved.W, np.flatnonzero(~solved.trusted)
        if len(again):
            train = [splits.train[split] for split in again]
            W[again] = naive(*rows.data, train, rows.ridge, rows.penalised)
        return Readouts(W, len(again))

    @staticmethod
    def work(size: Size) -> dict[str, float]:
        """Counts of work for one candidate."""
        k, p, ridges = size.sets, size.p, size.ridges
        svd = ridges > MANY_RIDGES
        # Sets with few of the rows are far from white, where conjugate gradients need long.
        near = 2 * size.splits.train_sizes.min() > size.n
        together = not svd and near and is_cheaper(int(p), ridges, size.outputs)
        systems = 0 if svd or together else k * ridges
        return {
            "call": 1,
            "split": k,
            "moments": (size.n + size.pilot) * p**2,
            "whiten": p**3,
            "system": systems,
            "factor": systems * p**3,
            "products": k * (ridges * size.outputs + PROBES) * p**2 * together,
            "decompose": k * p**3 * svd,
            "predict": size.predicted,
        }
