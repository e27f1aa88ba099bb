"""Cut the rows wherever any split begins or ends, and add the pieces up again.

Rows that belong to the same training and validation sets form one piece; a piece is usually an
interval, but for shuffled folds its rows lie apart. Every training set is a sum of pieces, and
all sums come from one tree of partial sums: nothing is ever subtracted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from echofold._data.rows import Intervals
from echofold._folds.splits import RowSplits


@dataclass(frozen=True)
class Labels:
    """Labels of rows, of which no array is made: ``numbers[i]`` from row ``starts[i]`` to the next.

    ``starts`` is longer by one, the number of rows.
    """

    starts: np.ndarray
    numbers: np.ndarray

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        if not isinstance(rows, slice):
            return self.numbers[np.searchsorted(self.starts, rows, side="right") - 1]
        a, b, _ = rows.indices(int(self.starts[-1]))
        first = int(np.searchsorted(self.starts, a, side="right")) - 1
        last = int(np.searchsorted(self.starts, b, side="left"))
        bounds = np.clip(self.starts[first : last + 1], a, b)
        return np.repeat(self.numbers[first:last], np.diff(bounds))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self[:].astype(dtype or int, copy=False)


@dataclass(frozen=True)
class Pieces:
    """``label[a:b]`` are the pieces of some rows.

    ``train[scheme]`` has the pieces of each distinct training set as runs, by its rows,
    ``valid[scheme]`` those of each split's validation rows.
    """

    label: np.ndarray | Labels
    count: int
    train: dict[str, dict[Intervals, Intervals]] = field(default_factory=dict)
    valid: dict[str, list[Intervals]] = field(default_factory=dict)

    def parts(self, start: int, stop: int) -> Iterator[tuple[int, slice | np.ndarray]]:
        """Yield ``(piece, rows)`` for the rows ``start … stop``, rows counted from ``start``."""
        label = self.label[start:stop]
        changes = np.flatnonzero(np.diff(label)) + 1
        if len(changes) < 4 * self.count:
            bounds = [0, *changes, len(label)]
            for a, b in zip(bounds[:-1], bounds[1:], strict=True):
                yield int(label[a]), slice(a, b)
            return
        order = np.argsort(label, kind="stable")
        bounds = [0, *(np.flatnonzero(np.diff(label[order])) + 1), len(label)]
        for a, b in zip(bounds[:-1], bounds[1:], strict=True):
            yield int(label[order[a]]), order[a:b]


def cut(n: int, schemes: dict[str, RowSplits]) -> Pieces:
    """Cut ``n`` rows wherever a split of these schemes begins or ends.

    Pieces that are always together are joined.
    """
    sets: dict[tuple[str, str, int], Intervals] = {
        (scheme, part, number): runs
        for scheme, splits in schemes.items()
        for part, of_rows in (("train", splits.distinct.train), ("valid", splits.valid))
        for number, runs in enumerate(of_rows)
    }
    edges = {edge for runs in sets.values() for run in runs for edge in run}
    starts = np.array(sorted({0, n, *edges}))
    spans = [[_span(starts, run) for run in runs] for runs in sets.values()]
    count = len(starts) - 1
    numbers = np.arange(count)
    if count * len(sets) > 10**8:
        piece_runs = [tuple(one) for one in spans]
    else:
        member = np.zeros((count, len(sets)), dtype=bool)
        for column, each in enumerate(spans):
            for a, b in each:
                member[a:b, column] = True
        _, first, joined = np.unique(member, axis=0, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))  # pieces in the order of time
        numbers, count = rank[joined.ravel()], len(first)
        kept = member[np.sort(first)]
        piece_runs = [_runs(kept[:, column]) for column in range(len(sets))]
    label = Labels(starts, numbers)
    pieces = Pieces(label, count, {name: {} for name in schemes}, {name: [] for name in schemes})
    for ((scheme, part, _), rows), runs in zip(sets.items(), piece_runs, strict=True):
        if part == "train":
            pieces.train[scheme][rows] = runs
        else:
            pieces.valid[scheme].append(runs)
    return pieces


def _span(starts: np.ndarray, run: tuple[int, int]) -> tuple[int, int]:
    """An interval of rows as an interval of pieces."""
    a, b = np.searchsorted(starts, run)
    return int(a), int(b)


def _runs(member: np.ndarray) -> Intervals:
    """Positions of True as half-open intervals."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], member, [False]]).astype(np.int8)))
    return tuple((int(a), int(b)) for a, b in edges.reshape(-1, 2))


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
