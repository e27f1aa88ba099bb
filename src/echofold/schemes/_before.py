"""Schemes that train on rows before the validation interval."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from echofold._data.rows import Interval, Intervals
from echofold.schemes._places import (
    First,
    Gap,
    Size,
    check_gap,
    check_places,
    check_size,
    count_rows,
    place,
)
from echofold.schemes._scheme import Scheme


@dataclass(frozen=True, repr=False)
class SingleSplit(Scheme):
    """Validate once, on the last rows.

    Parameters
    ----------
    valid : int or float, default 0.1
        Rows validated on.
    gap : int, float or pair, default 0
        Rows left out of training before the validation rows; of a pair the first counts.

    Examples
    --------
    >>> from echofold.schemes import SingleSplit
    >>> SingleSplit(0.2, gap=3).splits(50)
    [Split(train=((0, 37),), valid=(40, 50))]
    """

    called = "single"
    valid: Size = 0.1
    _: KW_ONLY
    gap: Gap = 0
    _remedy = "a smaller gap or a smaller valid"

    def __post_init__(self) -> None:
        self._set(valid=check_size("valid", self.valid, 1), gap=check_gap(self.gap))

    def _valid(self, n: int) -> list[Interval]:
        return place(1, self.valid, None, First("start", 0), n)


@dataclass(frozen=True, repr=False)
class Accumulative(Scheme):
    """Train on all rows before the validation interval, which moves forward.

    Parameters
    ----------
    k : int or None, default 10
        Number of splits; None, with ``step``, for as many as fit.
    valid : int or float, optional
        Without it the rows from ``start`` on are divided into ``k`` folds. With it ``k``
        intervals of this many rows are spread evenly from ``start`` to the end; a single one
        stands at the end.
    start : int or float, optional
        Row at which the first validation interval begins, at least ``min_train``, which is also
        the default. All rows before it are trained on.
    step : int or float, optional
        Rows from the beginning of an interval of ``valid`` rows to the beginning of the next, which
        overlap if ``step`` is smaller than ``valid``.
    min_train : int or float, default 0.5
        Rows before the first validation interval.
    gap : int, float or pair, default 0
        Rows left out of training before the validation interval; of a pair the first counts.

    Examples
    --------
    >>> from echofold.schemes import Accumulative
    >>> Accumulative(3, min_train=4, gap=1).splits(10)[1]
    Split(train=((0, 5),), valid=(6, 8))
    >>> [split.valid for split in Accumulative(None, valid=4, step=2).splits(16)]
    [(8, 12), (10, 14), (12, 16)]
    """

    called = "accumulative"
    k: int | None = 10
    _: KW_ONLY
    valid: Size | None = None
    start: Size | None = None
    step: Size | None = None
    min_train: Size = 0.5
    gap: Gap = 0
    _remedy = "a smaller gap or a larger min_train"

    def __post_init__(self) -> None:
        self._set(**check_places(self.k, self.valid, self.start, self.step, least=1))
        self._set(min_train=check_size("min_train", self.min_train, 1), gap=check_gap(self.gap))

    def _valid(self, n: int) -> list[Interval]:
        least = count_rows("min_train", self.min_train, n, 1)
        first = First("min_train", least)
        if self.start is not None:
            first = First("start", count_rows("start", self.start, n, 0))
        if first.row < least:
            raise ValueError(
                f"start={first.row} is before row {least}, but min_train={self.min_train} of n={n} "
                f"rows are trained on before the first validation interval; use start={least} or "
                "more, or a smaller min_train."
            )
        return place(self.k, self.valid, self.step, first, n)


@dataclass(frozen=True, repr=False)
class WalkForward(Accumulative):
    """Train on a window of ``min_train`` rows that ends where the validation interval begins.

    The validation intervals are those of `Accumulative`.

    Parameters
    ----------
    k, valid, start, step
        As in `Accumulative`.
    min_train : int or float, default 0.5
        Rows of the window, and the fewest rows before the first validation interval.
    gap : int, float or pair, default 0
        Rows left out at the end of the window, which keeps its start.

    Examples
    --------
    >>> from echofold.schemes import WalkForward
    >>> WalkForward(3, min_train=4, gap=1).splits(10)[1]
    Split(train=((2, 5),), valid=(6, 8))
    >>> WalkForward(2, min_train=4, valid=3, start=5, step=1).splits(10)[1]
    Split(train=((2, 6),), valid=(6, 9))
    """

    called = "walk-forward"

    def _train(self, a: int, b: int, before: int, after: int, n: int) -> Intervals:
        return ((a - count_rows("min_train", self.min_train, n, 1), a - before),)
