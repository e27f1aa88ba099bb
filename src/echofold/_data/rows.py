"""Sets of rows, as half-open intervals and as arrays of numbers; forecasts that run over them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any

import numpy as np

Interval = tuple[int, int]
Intervals = tuple[Interval, ...]


def intervals_of(indices: Any) -> Intervals:
    """Return the maximal runs of consecutive rows in a set of indices, in order."""
    numbers = np.unique(np.asarray(indices, dtype=np.intp))
    if not numbers.size:
        return ()
    cuts = np.flatnonzero(np.diff(numbers) != 1) + 1
    starts = numbers[np.concatenate(([0], cuts))]
    stops = numbers[np.concatenate((cuts - 1, [-1]))] + 1
    return tuple(zip(starts.tolist(), stops.tolist(), strict=True))


def rows(intervals: Iterable[Interval]) -> np.ndarray:
    """Return the row indices of disjoint intervals, one after the other."""
    bounds = np.array(list(intervals), dtype=np.intp).reshape(-1, 2)
    lengths = bounds[:, 1] - bounds[:, 0]
    ends = np.cumsum(lengths)
    return np.arange(lengths.sum()) + np.repeat(bounds[:, 0] - ends + lengths, lengths)


def complement(intervals: Intervals, n: int) -> Intervals:
    """Return the rows of ``0 … n`` that are in none of these ordered, disjoint intervals."""
    edges = [0, *(edge for interval in intervals for edge in interval), n]
    return tuple((a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b)


def difference(one: Intervals, other: Intervals) -> Intervals:
    """Return the rows of ``one`` that are not in ``other``; both ordered and disjoint."""
    intervals, place = [], 0
    for a, b in one:
        while place < len(other) and other[place][1] <= a:
            place += 1
        for c, d in islice(other, place, None):
            if c >= b:
                break
            if a < c:
                intervals.append((a, c))
            a = max(a, d)
        if a < b:
            intervals.append((a, b))
    return tuple(intervals)


def padded(sets: Sequence[Intervals], n: int) -> np.ndarray:
    """Return row numbers of each set side by side, ``(sets, longest)``, and ``n`` where none is."""
    lengths = np.array([sum(b - a for a, b in intervals) for intervals in sets])
    numbers = np.full((len(sets), lengths.max()), n)
    numbers[np.arange(numbers.shape[1]) < lengths[:, None]] = rows(chain.from_iterable(sets))
    return numbers


def within(intervals: Intervals, start: int, stop: int) -> Intervals:
    """Return the parts of ordered, disjoint intervals from ``start`` to before ``stop``."""
    low = bisect_right(intervals, start, key=lambda interval: interval[1])
    high = bisect_left(intervals, stop, key=lambda interval: interval[0])
    return tuple((max(a, start), min(b, stop)) for a, b in intervals[low:high])


def inside(intervals: Intervals, start: int, stop: int) -> np.ndarray:
    """Return the row indices of ordered, disjoint intervals from ``start`` to before ``stop``."""
    return rows(within(intervals, start, stop))


@dataclass(frozen=True, eq=False)
class Runs:
    """Forecasts by which splits are validated: ``split``, ``first`` row and ``steps`` of each.

    All are ``(runs,)``. A split has one for each interval of its validation rows, and what its runs
    add up to is its own (of one series); ``n`` is the number of rows, and ``splits`` that of
    splits.
    """

    split: np.ndarray
    first: np.ndarray
    steps: np.ndarray
    n: int
    splits: int

    def __len__(self) -> int:
        return len(self.split)

    @cached_property
    def longest(self) -> int:
        """Steps of the longest run."""
        return int(self.steps.max())

    @cached_property
    def single(self) -> bool:
        """Whether every split has one."""
        return len(self) == self.splits

    @cached_property
    def rows(self) -> np.ndarray:
        """Rows of each run side by side, ``n`` where padded."""
        ahead = np.arange(self.longest)
        return np.where(ahead < self.steps[:, None], self.first[:, None] + ahead, self.n)

    def added(self, sums: np.ndarray) -> np.ndarray:
        """Sums ``(…, splits, ridge)`` of those of runs ``(…, runs, ridge)``."""
        if self.single:
            return sums
        return np.add.reduceat(sums, np.searchsorted(self.split, np.arange(self.splits)), axis=-2)

    def cut(self, most: int) -> Runs:
        """The first steps of every run."""
        return replace(self, steps=np.minimum(self.steps, most))
