"""Rows of many candidates on a device: readouts and residuals of every split, for all at once.

What `KeptRows` and the algorithms are for one candidate on the host. Only small factors and marks
leave the device; a split that is so near rank deficiency that its Cholesky factor cannot be trusted
is solved by the host, from its moments or from its rows.

Callers hold `_machine.device.engine`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from echofold._folds import batched
from echofold._folds.kept_rows import KeptRows
from echofold._folds.leave_out import leave_out
from echofold._folds.naive import naive
from echofold._folds.pieces import Pieces
from echofold._folds.small_k import SmallK
from echofold._folds.solve import solve
from echofold._folds.splits import RowSplits
from echofold._folds.tolerances import ALIKE_COLUMNS
from echofold._folds.whitened import Coordinates
from echofold._machine.device import in_threads
from echofold._machine.shapes import equal_parts, few_lengths, pad_rows

NUMBERS = 2**20  # in the moments of training sets that a thread of the host takes at a time


class ManyRows:
    """``X (candidates, room, m)``, of which ``n`` rows are there and the others zero.

    ``Y (n, outputs)``, weights, ridge path and pieces are as in `KeptRows`; ``free`` bytes of the
    device may be used.
    """

    def __init__(
        self,
        X,
        Y: np.ndarray,
        weights,
        ridge: np.ndarray,
        penalised: bool,
        pieces: Pieces,
        free: int,
    ):
        self.X, self.Y, self.weights, self.n = X, Y, weights, len(Y)
        self.ridge, self.penalised, self.pieces, self.free = ridge, penalised, pieces, free
        self.shift = Y.mean(axis=0)
        self._Y = jnp.asarray(pad_rows(Y, X.shape[1]))
        given = np.ones(self.n) if weights is None else weights
        self._weights = jnp.asarray(pad_rows(given, X.shape[1]))

    @cached_property
    def whites(self) -> batched.Whitenings:
        """Coordinates of every candidate, on the host."""
        return batched.whitenings(self.X, self.n)

    @cached_property
    def _at(self) -> Coordinates:
        return jax.device_put(self.whites.coordinates())

    @cached_property
    def _parts(self) -> batched.Parts:
        return batched.cut_parts(self.pieces)

    @cached_property
    def _moments(self) -> Any:
        """Moments of every part, ``(candidates, parts, a, a)``."""
        arrays = self._Y - self.shift, self._weights, self._parts.rows
        a, rows = 1 + self.X.shape[2] + self.Y.shape[1], self._parts.rows.size
        each = 8 * (3 * rows * a + len(self._parts.piece) * a * a)
        return self._in_groups(each, lambda X, at: batched.part_moments(X, at, *arrays), self._at)

    @property
    def condition(self) -> np.ndarray:
        """Condition numbers of the centred rows."""
        return self.whites.condition

    def readouts(self, scheme: str, splits: RowSplits) -> tuple[Any, int]:
        """``W (candidates, splits, ridge, 1 + m, outputs)``, and splits that the host refitted."""
        members = self._parts.members(self.pieces.train[scheme])
        p, ridges = 1 + self.X.shape[2], len(self.ridge)
        each = 8 * 4 * ridges * p * (p + self.Y.shape[1])  # bytes for a split
        together = max(1, min(len(members), int(self.free // (2 * each))))
        parts = []
        for skip, part in equal_parts(len(members), together):

            def solved(moments, at, chosen=members[part]):
                W, _, sound = batched.readouts(
                    moments, chosen, at, self.shift, self.ridge, penalised=self.penalised
                )
                return W, sound

            found = self._in_groups(each * together, solved, self._at, given=self._moments)
            parts.append(_without(skip, found, axis=1))
        W, sound = _joined(parts, axis=1)
        return self._mended(W, ~np.asarray(sound), scheme, splits, members)

    def _mended(self, W, bad: np.ndarray, scheme: str, splits: RowSplits, members: np.ndarray):
        """``W`` with what only the host can solve."""
        bad = self._for_the_host(bad)
        asked = np.flatnonzero(bad.any(axis=(1, 2)))
        if not len(asked):
            return W, 0
        # Of few numbers of candidates, because each is compiled once.
        index = np.full(few_lengths(len(asked)), len(bad))
        index[: len(asked)] = asked
        some = np.minimum(index, len(bad) - 1)
        whole = np.array(batched.taken(W, some))
        M = np.asarray(batched.sums(self._moments, some, members))

        def mend(task: tuple[int, np.ndarray]) -> int:
            place, sets = task
            one = asked[place]
            if self.whites.unlike[one]:
                rows = KeptRows(*self._host(one), self.ridge, self.penalised, self.pieces)
                whole[place], refitted = SmallK(rows, scheme).readouts(splits)
                return refitted
            path = bad[one].any(axis=0)
            ridge, white = self.ridge[path], self.whites.one(one)
            found = solve(
                M[place, sets], white, self.shift, ridge, self.penalised, False, ALIKE_COLUMNS
            )
            again = np.flatnonzero(~found.trusted)
            if len(again):
                train = [splits.train[split] for split in sets[again]]
                found.W[again] = naive(*self._host(one), train, ridge, self.penalised)
            whole[place][np.ix_(sets, path)] = found.W
            return len(again)

        tasks = []
        for place, one in enumerate(asked):
            sets = np.flatnonzero(bad[one].any(axis=1))
            count = min(len(sets), -(-len(sets) * M[0, 0].size // NUMBERS))
            count = 1 if self.whites.unlike[one] else count
            tasks += [(place, part) for part in np.array_split(sets, count)]
        refitted = in_threads(mend, tasks)
        return batched.replaced(W, index, whole), sum(refitted)

    def residuals(self, splits: RowSplits, W) -> tuple[np.ndarray, Any]:
        """Rows ``(splits, longest)``, and ``(candidates, splits, longest, ridge, outputs)``."""
        rows = splits.valid_rows
        at = np.minimum(rows, self.n - 1)
        each = 8 * rows.size * (self.X.shape[2] + 3 * len(self.ridge) * self.Y.shape[1])
        return rows, self._in_groups(each, lambda X, W: batched.residuals(X, self._Y, at, W), W)

    def left_out(self, splits: RowSplits, readouts: bool) -> tuple[np.ndarray, Any, Any, int]:
        """Rows left out, residuals as above, readouts if asked for, and refitted splits."""
        rows = np.where(splits.left_out_rows < self.n, splits.left_out_rows, -1)
        arrays = self._Y, self._weights
        options = {"penalised": self.penalised, "wanted": readouts}
        p, outputs, ridges = 1 + self.X.shape[2], self.Y.shape[1], len(self.ridge)
        each = 8 * (4 * self.X.shape[1] * p + rows.size * (3 * p + 4 * rows.shape[1]))
        each += 16 * ridges * (rows.size * outputs + len(rows) * p * outputs * readouts)

        def found(X, at, moments):
            return batched.left_out(
                X, at, *arrays, moments, rows, self.shift, self.ridge, **options
            )

        left = self._in_groups(each, found, self._at, self._moments)
        return splits.left_out_rows, *self._mended_left(left, splits, readouts)

    def _mended_left(self, left: batched.Left, splits: RowSplits, readouts: bool):
        """Residuals and readouts, with what only the host can solve, and how many that were."""
        bad = self._for_the_host(np.asarray(left.bad))
        asked = np.flatnonzero(bad.any(axis=(1, 2)))
        e, W = left.residuals, left.W

        def mend(one: int):
            path = np.flatnonzero(bad[one].any(axis=0))
            found = leave_out(
                *self._host(one), splits, self.ridge[path], self.penalised, readouts=readouts
            )
            return path, found

        refitted = 0
        for one, (path, found) in zip(asked, in_threads(mend, asked.tolist()), strict=True):
            e = e.at[one, :, :, path].set(np.moveaxis(found.residuals, 2, 0))
            if readouts:
                W = W.at[one, :, path].set(np.moveaxis(found.W, 1, 0))
            refitted += found.direct
        return e, W, refitted

    def _for_the_host(self, bad: np.ndarray) -> np.ndarray:
        """``bad (candidates, splits, ridge)``, with what no Cholesky factor is right for."""
        deficient = ~self.whites.full_rank(self.ridge)
        return bad | deficient[:, None] | self.whites.unlike[:, None, None]

    def _host(self, one: int) -> tuple[np.ndarray, np.ndarray, Any]:
        """Rows, targets and weights of one candidate."""
        return np.asarray(self.X[one])[: self.n], self.Y, self.weights

    def _in_groups(self, each: int, work: Callable, *arrays: Any, given: Any = None) -> Any:
        """``work`` on some candidates at a time, each of which takes so many bytes."""
        given = self.X if given is None else given
        results = [
            _without(skip, work(*part), axis=0)
            for skip, part in _groups((given, *arrays), max(1, int(self.free // (2 * each))))
        ]
        return _joined(results, axis=0)


def _groups(arrays: tuple, most: int) -> Iterator[tuple[int, tuple]]:
    """Equal numbers of candidates, the last overlapping the one before: of how many, and they."""
    count = jax.tree.leaves(arrays)[0].shape[0]
    if most >= count:
        yield 0, arrays
        return
    for skip, part in equal_parts(count, most):
        yield skip, jax.tree.map(lambda array, part=part: array[part], arrays)


def _without(count: int, tree: Any, axis: int) -> Any:
    """Arrays without their first entries."""
    cut = (slice(None),) * axis + (slice(count, None),)
    return jax.tree.map(lambda array: array[cut], tree) if count else tree


def _joined(parts: list, axis: int) -> Any:
    """Arrays that follow each other, as one."""
    if len(parts) == 1:
        return parts[0]
    return jax.tree.map(lambda *arrays: jnp.concatenate(arrays, axis=axis), *parts)
