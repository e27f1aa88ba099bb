"""Schemes that train on rows on both sides of the validation interval, or on all of them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from echofold._data.rows import Interval, Intervals, intervals_of
from echofold.schemes._places import (
    First,
    Gap,
    Size,
    check_gap,
    check_integer,
    check_places,
    check_size,
    count_rows,
    place,
)
from echofold.schemes._scheme import Scheme, length_of


@dataclass(frozen=True, repr=False)
class KFold(Scheme):
    """Cross-validation: train on everything before and after the validation interval.

    Parameters
    ----------
    k : int or None, default 10
        Number of splits, at least 2; None, with ``step``, for as many as fit.
    valid : int or float, optional
        Without it the rows from ``start`` on are divided into ``k`` folds. With it ``k`` intervals
        of this many rows are spread evenly from ``start`` to the last position, overlapping if
        they must.
    start : int or float, default 0
        Row at which the first validation interval begins; rows before it are only trained on.
    step : int or float, optional
        Rows from the beginning of an interval of ``valid`` rows to the beginning of the next, which
        overlap if ``step`` is smaller than ``valid``.
    gap : int, float or pair, default 0
        Rows left out of training on both sides, or ``(before, after)``.
    shuffle : bool, default False
        Draw the rows of each fold at random; for data whose rows are not ordered in time.
    random_state : int, optional
        Seed of the shuffle.

    Examples
    --------
    >>> from echofold.schemes import KFold
    >>> KFold(3, gap=1).splits(10)[1]
    Split(train=((0, 3), (8, 10)), valid=(4, 7))
    >>> [split.valid for split in KFold(3, valid=4, start=1, step=2).splits(10)]
    [(1, 5), (3, 7), (5, 9)]
    """

    called = "k-fold"
    k: int | None = 10
    _: KW_ONLY
    valid: Size | None = None
    start: Size = 0
    step: Size | None = None
    gap: Gap = 0
    shuffle: bool = False
    random_state: int | None = None
    _remedy = "a smaller gap or shorter validation intervals"

    def __post_init__(self) -> None:
        check_size("start", self.start, 0)  # None has a meaning in other schemes
        self._set(**check_places(self.k, self.valid, self.start, self.step, least=2))
        self._set(gap=check_gap(self.gap))
        if not isinstance(self.shuffle, bool):
            raise TypeError(f"shuffle={self.shuffle!r}: expected True or False.")
        if self.random_state is not None:
            self._set(random_state=check_integer("random_state", self.random_state, 0))
        if self.shuffle and self.valid is not None:
            raise ValueError(
                f"valid={self.valid} with shuffle=True: shuffled folds have n / k rows; drop one."
            )
        if self.shuffle and self.start:
            raise ValueError(
                f"start={self.start} with shuffle=True: shuffled rows have no order; drop one."
            )
        if self.shuffle and self.gap not in (0, (0, 0)):
            raise ValueError(
                f"gap={self.gap} with shuffle=True: shuffled rows have no neighbours; drop one."
            )
        if self.random_state is not None and not self.shuffle:
            raise ValueError(
                f"random_state={self.random_state} has no effect with shuffle=False; "
                "set shuffle=True or drop it."
            )

    def _valid(self, n: int) -> list[Interval]:
        if self.shuffle:
            raise ValueError(
                f"{self!r} has no intervals, because its rows are drawn at random; "
                "use split(X), which yields index arrays."
            )
        first = First("start", count_rows("start", self.start, n, 0))
        return place(self.k, self.valid, self.step, first, n)

    def _train(self, a: int, b: int, before: int, after: int, n: int) -> Intervals:
        return ((0, a - before), (b + after, n))

    def _sets(self, n: int) -> list[tuple[Intervals, Intervals]]:
        if not self.shuffle:
            return super()._sets(n)
        order = np.random.RandomState(self.random_state).permutation(n)
        return [
            (intervals_of(np.delete(order, np.s_[a:b])), intervals_of(order[a:b]))
            for a, b in place(self.k, None, None, First("start", 0), n)
        ]


@dataclass(frozen=True, repr=False)
class LeaveOneOut(Scheme):
    """Cross-validation with folds of one row.

    Parameters
    ----------
    gap : int, float or pair, default 0
        Rows left out of training on both sides of the row, or ``(before, after)``.

    Examples
    --------
    >>> from echofold.schemes import LeaveOneOut
    >>> LeaveOneOut(gap=(0, 1)).splits(4)[1]
    Split(train=((0, 1), (3, 4)), valid=(1, 2))
    """

    called = "leave-one-out"
    _: KW_ONLY
    gap: Gap = 0
    _remedy = "a smaller gap or more rows"
    _train = KFold._train

    def __post_init__(self) -> None:
        self._set(gap=check_gap(self.gap))

    def _valid(self, n: int) -> list[Interval]:
        return list(pairwise(range(n + 1)))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of rows of X, which is the number of splits."""
        return length_of(X)


@dataclass(frozen=True, repr=False)
class Recycle(Scheme):
    """Train on all rows, and validate in intervals inside of them: for closed loops.

    **Validation rows are trained on.** In an open loop, as in regression and classification, the
    score is therefore a training error, which says little about new data. In a closed loop the
    network leaves the data after its first step and runs on its own outputs; how long it keeps to
    the course is a test even where it was trained on that course. Racca and Magri (2021) call this
    recycle validation, and recommend it for chaotic systems. All splits have the same readout, so
    there is one factorisation whatever ``k`` is, and intervals can be as many as you like. With
    ``step`` it is their chaotic version.

    Parameters
    ----------
    k : int or None, default 10
        Number of validation intervals; None, with ``step``, for as many as fit.
    valid : int or float, default 0.1
        Rows of each interval. Without ``step`` they are spread evenly from ``start`` to the last
        position, overlapping if they must; a single one stands at the end.
    start : int or float, default 0
        Row at which the first interval begins.
    step : int or float, optional
        Rows from the beginning of an interval to the beginning of the next.

    Notes
    -----
    Prediction intervals are made of validation errors, which here are those of rows trained on:
    they may be too narrow.

    A. Racca and L. Magri (2021). Robust optimization and validation of echo state networks for
    learning chaotic dynamics. Neural Networks 142, 252-268.

    Examples
    --------
    >>> from echofold.schemes import Recycle
    >>> Recycle(3, valid=4).splits(10)[1]
    Split(train=((0, 10),), valid=(3, 7))
    >>> print(Recycle(None, valid=4, step=2).draw(10))
    ▓▓▓▓──────
    ──▓▓▓▓────
    ────▓▓▓▓──
    ──────▓▓▓▓
    """

    called = "recycle"
    holds_out = False
    k: int | None = 10
    _: KW_ONLY
    valid: Size = 0.1
    start: Size = 0
    step: Size | None = None
    gap = 0

    def __post_init__(self) -> None:
        for name, value, least in (("valid", self.valid, 1), ("start", self.start, 0)):
            check_size(name, value, least)  # None has a meaning in other schemes
        self._set(**check_places(self.k, self.valid, self.start, self.step, least=1))

    def _valid(self, n: int) -> list[Interval]:
        first = First("start", count_rows("start", self.start, n, 0))
        return place(self.k, self.valid, self.step, first, n)

    def _train(self, a: int, b: int, before: int, after: int, n: int) -> Intervals:
        return ((0, n),)
