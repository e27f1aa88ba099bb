"""What an algorithm for splits answers: readouts or residuals of every split, and its cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from echofold._folds.kept_rows import PILOT, KeptRows
from echofold._folds.moments import pilot_rows
from echofold._folds.splits import RowSplits

GATHERED = 2**21  # numbers up to which the validation rows of all splits are gathered at once


class Readouts(NamedTuple):
    """Readouts ``W (splits, ridge, 1 + m, outputs)``, and how many splits were refitted plainly."""

    W: np.ndarray
    refitted: int


class Residuals(NamedTuple):
    """``values (splits, longest, ridge, outputs)`` on ``rows (splits, longest)``, ``n`` if padded.

    ``refitted`` is the number of splits that were refitted plainly.
    """

    rows: np.ndarray
    values: np.ndarray
    refitted: int


@dataclass(frozen=True)
class Size:
    """How large a problem is: what costs are estimated from."""

    splits: RowSplits
    m: int
    outputs: int
    ridges: int
    readouts: bool = True  # whether readouts are needed, or only residuals

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.splits.n

    @property
    def k(self) -> int:
        """Number of splits."""
        return len(self.splits)

    @property
    def sets(self) -> int:
        """Number of training sets, of which there are fewer where splits share one."""
        return len(self.splits.distinct)

    @property
    def p(self) -> float:
        """Number of columns, the one of ones included."""
        return 1.0 + self.m

    @property
    def pilot(self) -> float:
        """Rows that a whitening is learned from."""
        return pilot_rows(self.n, self.p, PILOT)

    @cached_property
    def solved(self) -> float:
        """Products of making all readouts from a factorisation."""
        return self.sets * self.ridges * self.outputs * self.p**2

    @cached_property
    def predicted(self) -> float:
        """Products of predicting all validation rows."""
        return float(self.splits.sizes.sum()) * self.p * self.ridges * self.outputs


class Algorithm(ABC):
    """A way to the readouts of splits, on rows that several schemes share.

    ``public`` is the name users ask for it by. ``work`` counts what is done, by name, and
    ``SECONDS`` says what one of each takes on one thread of a CPU (``benchmarks/calibrate.py``).
    What is ``shared`` is done once for all schemes.
    """

    public: ClassVar[str]
    SECONDS: ClassVar[dict[str, float]]
    shared: ClassVar[tuple[str, ...]] = ()

    def __init__(self, rows: KeptRows, scheme: str):
        self.rows, self.scheme = rows, scheme

    @abstractmethod
    def solve(self, splits: RowSplits) -> Readouts:
        """Readouts of splits that all have different training sets."""

    def readouts(self, splits: RowSplits) -> Readouts:
        """Readouts of every split; those that train on the same rows are solved once.

        Schemes share rows, too: what another has solved is not solved again.
        """
        known, distinct = self.rows.solved, splits.distinct
        if known is None:
            W, refitted = self.solve(distinct)
            return Readouts(splits.spread(W), refitted)
        new = [number for number, train in enumerate(distinct.train) if train not in known]
        refitted = 0
        if new:
            todo = distinct.part(new)
            W, refitted = self.solve(todo)
            known |= dict(zip(todo.train, W, strict=True))
        return Readouts(np.stack([known[train] for train in splits.train]), refitted)

    def residuals(self, splits: RowSplits) -> Residuals:
        """Residuals of every split on its validation rows."""
        readouts = self.readouts(splits)
        at = splits.valid_rows
        return Residuals(at, predict(self.rows.X, self.rows.Y, at, readouts.W), readouts.refitted)

    @staticmethod
    @abstractmethod
    def work(size: Size) -> dict[str, float]:
        """Counts of work for one candidate."""

    @classmethod
    def applies(cls, size: Size) -> bool:
        """Whether it can be chosen for such a problem."""
        return True

    @classmethod
    def cost(cls, size: Size, paid: bool = False) -> float:
        """Estimated seconds for one candidate; ``paid``: without what another scheme does."""
        work = cls.work(size).items()
        left_out = cls.shared if paid else ()
        return float(sum(n * cls.SECONDS[name] for name, n in work if name not in left_out))


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
