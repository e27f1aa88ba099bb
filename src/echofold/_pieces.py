"""Cut the rows wherever any split begins or ends, and add the pieces up again.

Rows that belong to the same training and validation sets form one piece; a piece is usually an
interval, but for shuffled folds its rows lie apart. Every training set is a sum of pieces, and
all sums come from one tree of partial sums: nothing is ever subtracted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from echofold._rows import Intervals


@dataclass(frozen=True)
class Pieces:
    """``label[i]`` is the piece of row ``i``; ``train[s]`` and ``valid[s]`` list pieces as runs."""

    label: np.ndarray
    count: int
    train: list[Intervals]
    valid: list[Intervals]

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


def cut(n: int, train: Sequence[Intervals], valid: Sequence[Intervals]) -> Pieces:
    """Cut ``n`` rows at every boundary of these sets and join pieces that are always together."""
    edges = {0, n}
    for runs in (*train, *valid):
        for a, b in runs:
            edges.update((a, b))
    starts = np.array(sorted(edges))
    sets = [[_span(starts, run) for run in runs] for runs in (*train, *valid)]
    label = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    if (len(starts) - 1) * len(sets) > 10**8:
        return Pieces(label, len(starts) - 1, *_halves([tuple(s) for s in sets]))
    member = np.zeros((len(starts) - 1, len(sets)), dtype=bool)
    for column, spans in enumerate(sets):
        for a, b in spans:
            member[a:b, column] = True
    _, first, joined = np.unique(member, axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))  # pieces in the order of time
    joined = rank[joined.ravel()]
    kept = member[np.sort(first)]
    return Pieces(
        joined[label], len(first), *_halves([_runs(kept[:, s]) for s in range(len(sets))])
    )


def _span(starts: np.ndarray, run: tuple[int, int]) -> tuple[int, int]:
    """An interval of rows as an interval of pieces."""
    a, b = np.searchsorted(starts, run)
    return int(a), int(b)


def _runs(member: np.ndarray) -> Intervals:
    """Positions of True as half-open intervals."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], member, [False]]).astype(np.int8)))
    return tuple((int(a), int(b)) for a, b in edges.reshape(-1, 2))


def _halves(sets: list[Intervals]) -> tuple[list[Intervals], list[Intervals]]:
    half = len(sets) // 2
    return sets[:half], sets[half:]


def add_up(leaves: np.ndarray, sets: Sequence[Intervals]) -> np.ndarray:
    """Sum ``leaves (pieces, ...)`` over each set of runs, as ``(sets, ...)``.

    A tree of pairwise sums answers every run with at most ``2 log₂(pieces)`` additions, for
    prefixes, suffixes and sliding windows alike.
    """
    size = 1 << max(0, len(leaves) - 1).bit_length()
    tree = np.zeros((2 * size, *leaves.shape[1:]))
    tree[size : size + len(leaves)] = leaves
    for level in range(size.bit_length() - 1, 0, -1):
        low = 1 << (level - 1)
        tree[low : 2 * low] = tree[2 * low : 4 * low : 2] + tree[2 * low + 1 : 4 * low : 2]
    return np.stack([tree[_nodes(runs, size)].sum(axis=0) for runs in sets])


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
