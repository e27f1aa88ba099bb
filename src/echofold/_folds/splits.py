"""Splits of any origin in one form, and the pieces that they cut the rows into.

Schemes, scikit-learn's splitters and index pairs become `RowSplits`. Rows that belong to the same
training and validation sets form one piece; a piece is usually an interval, but for shuffled folds
its rows lie apart. Every training set is a sum of pieces, and all sums come from one tree of
partial sums: nothing is ever subtracted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from echofold._data.rows import (
    Interval,
    Intervals,
    Runs,
    complement,
    difference,
    intervals_of,
    padded,
    rows,
    within,
)
from echofold._machine.available import remembered
from echofold.schemes import KFold, LeaveSeriesOut
from echofold.schemes._scheme import Scheme, check_integer


@dataclass(frozen=True, eq=False)
class RowSplits:
    """Splits of ``n`` rows, of any origin; every set of rows is a tuple of intervals."""

    name: str
    n: int
    train: list[Intervals]
    valid: list[Intervals]
    empty: int = 0  # splits left out, because no row of their validation set has a value
    held_out: bool = True  # no split trains on its own validation rows
    # Of several series: where each begins, then ``n``. None is validated on into the next.
    bounds: np.ndarray | None = None
    short: tuple[int, ...] = ()  # those too short to be split, which are only trained on

    def __len__(self) -> int:
        return len(self.train)

    @cached_property
    def intervals(self) -> bool:
        """Whether every validation set is one interval."""
        return all(len(valid) == 1 for valid in self.valid)

    @cached_property
    def of_series(self) -> list[OfSeries]:
        """What each of several series is validated on; those that are not are left out."""
        assert self.bounds is not None
        found: dict[int, dict[int, list[Interval]]] = {}
        for split, valid in enumerate(self.valid):
            starts = [a for a, _ in valid]
            each = np.searchsorted(self.bounds, starts, side="right") - 1
            for series, (a, b) in zip(each.tolist(), valid, strict=True):
                first = int(self.bounds[series])
                found.setdefault(series, {}).setdefault(split, []).append((a - first, b - first))
        own_runs = np.searchsorted(self.bounds, self.runs.first, side="right") - 1
        order = np.argsort(own_runs, kind="stable")
        ends = np.searchsorted(own_runs[order], np.arange(len(self.bounds)))
        parts, sizes = [], np.diff(self.bounds)
        for series, own in sorted(found.items()):
            mine = [tuple(one) for one in own.values()]
            splits = RowSplits(self.name, int(sizes[series]), [()] * len(own), mine)
            runs = order[ends[series] : ends[series + 1]]
            parts.append(OfSeries(series, np.array(list(own)), runs, splits))
        return parts

    def trained_alone(self, one: OfSeries) -> RowSplits:
        """The splits of one of several series, of which each trains on its own rows alone."""
        assert self.bounds is not None
        begin, end = self.bounds[one.series : one.series + 2].tolist()
        sets = [within(self.train[split], begin, end) for split in one.places]
        train = [tuple((a - begin, b - begin) for a, b in own) for own in sets]
        return replace(one.splits, train=train)

    @cached_property
    def sizes(self) -> np.ndarray:
        """Number of validation rows of each split."""
        return np.array([sum(b - a for a, b in valid) for valid in self.valid])

    @cached_property
    def train_sizes(self) -> np.ndarray:
        """Number of training rows of each split."""
        return np.array([sum(b - a for a, b in train) for train in self.train])

    @cached_property
    def train_in_words(self) -> np.ndarray:
        """Training rows of each split as text, the beginning of it if there are many runs."""
        text = [" ".join(f"{a}:{b}" for a, b in train[:20]) for train in self.train]
        return np.array([one if len(one) < 80 else f"{one[:77]}..." for one in text])

    @cached_property
    def _sets(self) -> tuple[list[int], np.ndarray]:
        """The first split of each training set, and which of the sets each split has."""
        numbers: dict[Intervals, int] = {}
        which = np.array([numbers.setdefault(train, len(numbers)) for train in self.train])
        return np.unique(which, return_index=True)[1].tolist(), which

    @cached_property
    def distinct(self) -> RowSplits:
        """One split for each training set: all that there is to solve."""
        first = self._sets[0]
        return self if len(first) == len(self) else self.part(first)

    def spread(self, of_sets: Any, axis: int = 0, take: Callable = np.take) -> Any:
        """For every split what was found for its training set, along one axis of an array."""
        return of_sets if self.distinct is self else take(of_sets, self._sets[1], axis=axis)

    @cached_property
    def left_out(self) -> list[Intervals]:
        """Rows that each split does not train on: its validation rows and its gaps."""
        return [complement(train, self.n) for train in self.train]

    @cached_property
    def runs(self) -> Runs:
        """Forecasts over the validation rows: one for each interval."""
        each = [(split, a, b - a) for split, valid in enumerate(self.valid) for a, b in valid]
        split, first, steps = np.array(each).T
        return Runs(split, first, steps, self.n, len(self))

    @cached_property
    def valid_rows(self) -> np.ndarray:
        """Validation rows of each split side by side, ``n`` where padded."""
        return padded(self.valid, self.n)

    @cached_property
    def left_out_rows(self) -> np.ndarray:
        """Rows that each split does not train on side by side, ``n`` where padded.

        There is at least one column, of padding if nothing is left out.
        """
        rows = padded(self.left_out, self.n)
        return rows if rows.size else np.full((len(self), 1), self.n)

    @cached_property
    def changes(self) -> int:
        """Rows added and removed on the way from each training set to the next."""
        return sum(b - a for added, removed in self.steps for a, b in (*added, *removed))

    @property
    def steps(self) -> Iterator[tuple[Intervals, Intervals]]:
        """What each training set adds to the one before it, and takes away."""
        for before, after in zip(self.train[:-1], self.train[1:], strict=True):
            yield difference(after, before), difference(before, after)

    def part(self, which) -> RowSplits:
        """Some of the splits."""
        train, valid = ([sets[i] for i in which] for sets in (self.train, self.valid))
        return replace(self, train=train, valid=valid)

    def times(self, count: int) -> RowSplits:
        """The same splits where so many rows, one after the other, stand for each."""
        if count == 1:
            return self

        def wide(sets: list[Intervals]) -> list[Intervals]:
            return [tuple((a * count, b * count) for a, b in one) for one in sets]

        return replace(self, n=self.n * count, train=wide(self.train), valid=wide(self.valid))

    def in_steps(self, steps: int) -> RowSplits:
        """The same splits where a row trains if its target and the next, ``steps`` in all, do."""
        train = [tuple((a, b - steps + 1) for a, b in one if b - a >= steps) for one in self.train]
        if not all(train):
            split = train.index(())
            longest = max(b - a for a, b in self.train[split])
            raise ValueError(
                f"steps={steps}, but split {split + 1} of {len(self)} of cv={self.name} trains on "
                f"at most {longest} rows in a row: no row there is followed by so many. Use fewer "
                "steps, or a scheme that trains on more."
            )
        return replace(self, train=train)

    def with_values(self, present: np.ndarray | None) -> RowSplits:
        """Those of which some validation row is ``present (n,)``; None stands for all rows."""
        if present is None:
            return self
        splits = self
        if self.bounds is not None:  # a series that has none is not scored
            valid = [tuple((a, b) for a, b in one if present[a:b].any()) for one in self.valid]
            splits = replace(self, valid=valid)
        some = [bool(valid) for valid in splits.among(present).valid]
        if all(some):
            return splits
        return replace(splits.part(np.flatnonzero(some)), empty=some.count(False))

    def among(self, present: np.ndarray) -> RowSplits:
        """The same splits of only those rows that are ``present (n,)``, numbered anew."""
        before = np.append(0, np.cumsum(present)).tolist()

        def moved(intervals: Intervals) -> Intervals:
            each = ((before[a], before[b]) for a, b in intervals)
            return tuple((a, b) for a, b in each if a < b)

        train, valid = ([moved(one) for one in sets] for sets in (self.train, self.valid))
        return replace(self, n=before[-1], train=train, valid=valid, bounds=None)


class OfSeries(NamedTuple):
    """What one of several series is validated on: ``splits`` of its own rows, without training.

    ``places`` are the numbers of these splits among those of all series, ``runs`` those of its runs
    among all.
    """

    series: int
    places: np.ndarray
    runs: np.ndarray
    splits: RowSplits


def split_series(cv: Any, lengths: Sequence[int], *, groups: Any = None) -> RowSplits:
    """Splits of several series, whose rows follow each other.

    A scheme splits each by its own time: split ``j`` of all trains on the rows of split ``j`` of
    every series. A series that has no such split, or is too short for any, is trained on whole.
    `LeaveSeriesOut` splits by series, and any other splitter all rows together.
    """
    bounds = np.append(0, np.cumsum(lengths))
    n = int(bounds[-1])
    if groups is None and (cv is None or isinstance(cv, Integral)) and not isinstance(cv, bool):
        cv = _folds(cv, max(lengths), None, None)
    if isinstance(cv, LeaveSeriesOut):
        whole = list(pairwise(bounds.tolist()))
        valid = [tuple(whole[i] for i in held) for _, held in cv._sets_of_series(len(lengths))]
        return RowSplits(repr(cv), n, [complement(one, n) for one in valid], valid, bounds=bounds)
    if not isinstance(cv, Scheme):
        splits = resolve_cv(cv, n, groups=groups)
        train, valid = (
            [_cut_at(bounds, one) for one in sets] for sets in (splits.train, splits.valid)
        )
        return replace(splits, train=train, valid=valid, bounds=bounds)
    each: list[RowSplits | None] = []
    short, last = [], None
    for series, rows_ in enumerate(lengths):
        try:
            each.append(resolve_cv(cv, rows_))
        except ValueError as error:
            each.append(None)
            short.append(series)
            last = error if last is None or rows_ == max(lengths) else last
    if len(short) == len(lengths):
        raise ValueError(f"none of {len(lengths)} series can be split: {last}") from last
    train, valid = [], []
    for split in range(max(len(one) for one in each if one is not None)):
        trained: list[Interval] = []
        validated: list[Interval] = []
        for first, rows_, one in zip(bounds.tolist(), lengths, each, strict=False):
            own: tuple[Intervals, Intervals] = ((0, rows_),), ()
            if one is not None and split < len(one):
                own = one.train[split], one.valid[split]
            trained += [(first + a, first + b) for a, b in own[0]]
            validated += [(first + a, first + b) for a, b in own[1]]
        train.append(tuple(trained))
        valid.append(tuple(validated))
    return RowSplits(
        repr(cv), n, train, valid, held_out=cv.holds_out, bounds=bounds, short=tuple(short)
    )


def _cut_at(bounds: np.ndarray, intervals: Intervals) -> Intervals:
    """Intervals, cut where a series ends."""
    cut_ = []
    for a, b in intervals:
        inner = bounds[(bounds > a) & (bounds < b)].tolist()
        cut_ += list(pairwise([a, *inner, b]))
    return tuple(cut_)


def resolve_cv(
    cv: Any, n: int, *, groups: Any = None, labels: Any = None, shuffled: bool = False
) -> RowSplits:
    """Turn a scheme, a splitter, an integer or (train, valid) index pairs into `RowSplits`.

    None stands for ten folds, or for fewer where there are not enough rows, groups or sequences of
    each class for ten. Folds keep ``groups`` together if there are any; those of rows with
    ``labels (n,)``, class numbers, are stratified and shuffled, because the sequences of one class
    often stand together. So do alike sequences without labels: they are ``shuffled``.
    """
    if cv is None or (isinstance(cv, Integral) and not isinstance(cv, bool)):
        cv = _folds(cv, n, groups, labels, shuffled)
    if isinstance(cv, Scheme) and not getattr(cv, "shuffle", False):
        return _of_scheme(cv, n)
    return _of_any(cv, n, groups, labels)


def _bytes(splits: RowSplits) -> int:
    """Memory that splits may come to take: intervals, and both tables of rows."""
    sets = sum(map(len, splits.train)) + sum(map(len, splits.valid))
    left_out = splits.n - int(splits.train_sizes.min())
    tables = len(splits) * (left_out + int(splits.sizes.max()))
    return 250 * (sets + len(splits)) + 8 * tables


@remembered(size=_bytes)  # leave-one-out makes as many tuples as there are rows
def _of_scheme(scheme: Scheme, n: int) -> RowSplits:
    """Splits of a scheme."""
    return _of_any(scheme, n, None, None)


def _of_any(cv: Any, n: int, groups: Any, labels: Any) -> RowSplits:
    """Ask any kind of splitter for its splits and check them."""
    # The default repr holds a memory address, which would make names differ between runs.
    name = type(cv).__name__ if type(cv).__repr__ is object.__repr__ else repr(cv)
    held_out = True
    if isinstance(cv, Scheme):
        sets, held_out = cv._sets(n), cv.holds_out
    elif isinstance(cv, type | str | bytes | dict | bool) or not (
        hasattr(cv, "split") or isinstance(cv, Iterable)
    ):
        raise TypeError(
            f"cv={cv!r}: expected a scheme such as KFold(10), a scikit-learn splitter, an integer, "
            "or a list of (train, valid) index pairs."
        )
    else:
        if hasattr(cv, "split"):
            with warnings.catch_warnings():  # what this does to a class is said by name
                warnings.filterwarnings("ignore", "The least populated class")
                try:
                    pairs = list(cv.split(np.zeros((n, 1)), labels, groups))
                except ValueError as error:
                    raise ValueError(f"cv={name} cannot split these {n} rows: {error}") from error
        else:
            pairs = list(cv)
            name = f"{len(pairs)} given splits"
        sets = [_checked(p, n, f"split {i} of {len(pairs)}") for i, p in enumerate(pairs, 1)]
    if not sets:
        raise ValueError(f"cv={name} gives no splits for n={n} rows; expected at least one.")
    train, valid = map(list, zip(*sets, strict=True))
    return RowSplits(name, n, train, valid, held_out=held_out)


def _folds(k: Any, n: int, groups: Any, labels: Any, shuffled: bool = False) -> Any:
    """``k`` folds of rows, groups or classes; None for as many as suit them, ten at most."""
    if k is None:
        most = n if groups is None else len(np.unique(groups))
        if labels is not None and groups is None:
            counts = np.bincount(labels)[np.unique(labels)]
            if counts.max() < 2:
                raise ValueError(
                    f"y has one sequence of each of its {len(counts)} classes, so no fold can be "
                    "validated on a class that it was trained on. Give at least two of each class."
                )
            most = int(counts.min())
        k = max(2, min(10, most))
    if groups is None and labels is None:
        return KFold(int(k), shuffle=shuffled, random_state=0 if shuffled else None)
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, StratifiedKFold

    k = check_integer("cv", int(k), 2)
    if labels is None:
        return GroupKFold(k)
    stratified = StratifiedKFold if groups is None else StratifiedGroupKFold
    return stratified(k, shuffle=True, random_state=0)


def _checked(pair: Any, n: int, which: str) -> tuple[Intervals, Intervals]:
    """Check one (train, valid) pair of index arrays or masks and turn it into intervals."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(f"cv, {which}: got {type(pair).__name__}, expected a (train, valid) pair.")
    train, valid = (
        _index_runs(indices, n, f"cv, {which}, {name} rows")
        for indices, name in zip(pair, ("training", "validation"), strict=True)
    )
    shared = np.intersect1d(rows(train), rows(valid), assume_unique=True)
    if shared.size:
        raise ValueError(
            f"cv, {which}: {shared.size} rows are in both the training and the validation set, "
            f"row {shared[0]} first; make them disjoint."
        )
    return train, valid


def _index_runs(indices: Any, n: int, what: str) -> Intervals:
    """Check one index array or mask and return its runs."""
    array = np.asarray(indices)
    if array.dtype == bool and array.shape == (n,):
        array = np.flatnonzero(array)
    if array.size == 0:
        raise ValueError(f"{what}: there are none; expected at least one index of 0 to {n - 1}.")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(
            f"{what}: got an array of {array.dtype} of shape {array.shape}, expected a "
            f"one-dimensional array of integers or a boolean mask of n={n} rows."
        )
    outside = array[(array < 0) | (array >= n)]
    if outside.size:
        raise ValueError(f"{what}: index {outside[0]} is outside 0 to {n - 1} (n={n}).")
    intervals = intervals_of(array)
    distinct = sum(b - a for a, b in intervals)
    if distinct != array.size:
        raise ValueError(
            f"{what}: {array.size} indices name only {distinct} rows; "
            "list every row once and repeat rows through sample_weight instead."
        )
    return intervals


@dataclass(frozen=True)
class Pieces:
    """Rows ``starts[i] … starts[i + 1]`` belong to piece ``numbers[i]``, one of ``count``.

    ``runs`` has the pieces of each set of rows, as intervals of these. No array of all rows is
    made.
    """

    starts: np.ndarray
    numbers: np.ndarray
    count: int
    runs: dict[Intervals, Intervals]

    def labels(self, start: int, stop: int) -> np.ndarray:
        """The piece of each of the rows ``start … stop``."""
        return self.numbers[np.searchsorted(self.starts, np.arange(start, stop), side="right") - 1]

    def parts(self, start: int, stop: int) -> Iterator[tuple[int, slice | np.ndarray]]:
        """Yield ``(piece, rows)`` for the rows ``start … stop``, rows counted from ``start``."""
        label, order = self.labels(start, stop), None
        if np.count_nonzero(np.diff(label)) >= 4 * self.count:  # rows of a piece lie apart
            order = np.argsort(label, kind="stable")
            label = label[order]
        bounds = [0, *(np.flatnonzero(np.diff(label)) + 1).tolist(), len(label)]
        for a, b in pairwise(bounds):
            yield int(label[a]), slice(a, b) if order is None else order[a:b]


def cut(n: int, schemes: Iterable[RowSplits]) -> Pieces:
    """Cut ``n`` rows wherever a split of these schemes begins or ends.

    Pieces that are always together are joined. Validation sets of several series cut nothing:
    these are scored one by one, from residuals.
    """
    each = (
        sets
        for splits in schemes
        for sets in (splits.distinct.train, splits.valid if splits.bounds is None else [])
    )
    sets = list(dict.fromkeys(chain.from_iterable(each)))
    starts = np.array(sorted({0, n, *(edge for runs in sets for run in runs for edge in run)}))
    place = {edge: at for at, edge in enumerate(starts.tolist())}
    spans = [tuple((place[a], place[b]) for a, b in runs) for runs in sets]
    count = len(starts) - 1
    numbers = np.arange(count)
    if count * len(sets) <= 10**8:
        member = np.zeros((count, len(sets)), dtype=bool)
        for column, runs in enumerate(spans):
            for a, b in runs:
                member[a:b, column] = True
        _, first, joined = np.unique(member, axis=0, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))  # pieces in the order of time
        numbers, count = rank[joined.ravel()], len(first)
        spans = [intervals_of(np.flatnonzero(column)) for column in member[np.sort(first)].T]
    return Pieces(starts, numbers, count, dict(zip(sets, spans, strict=True)))


def add_up(leaves: np.ndarray, sets: Sequence[Intervals]) -> np.ndarray:
    """Sum ``leaves (pieces, ...)`` over each set of runs, as ``(sets, ...)``.

    A tree of pairwise sums answers every run with at most ``2 log₂(pieces)`` additions, for
    prefixes, suffixes and sliding windows alike.
    """
    size = 1 << max(0, len(leaves) - 1).bit_length()
    tree = dict(enumerate(leaves, size))
    for node in range(size - 1, 0, -1):
        both = [tree[child] for child in (2 * node, 2 * node + 1) if child in tree]
        if both:
            tree[node] = both[0] if len(both) == 1 else both[0] + both[1]
    sums = np.zeros((len(sets), *leaves.shape[1:]))
    for total, runs in zip(sums, sets, strict=True):
        for node in _nodes(runs, size):
            total += tree[node]
    return sums


def _nodes(runs: Intervals, size: int) -> list[int]:
    """The fewest nodes of the tree that cover these runs."""
    nodes = []
    for a, b in runs:
        a, b = a + size, b + size
        while a < b:
            if a & 1:
                nodes.append(a)
                a += 1
            if b & 1:
                b -= 1
                nodes.append(b)
            a, b = a >> 1, b >> 1
    return nodes
