"""Rows of many candidates on a device: readouts and residuals of every split, for all at once.

What `KeptRows` and the algorithms are for one candidate on the host. Only marks and singular values
leave the device. A split whose moments are not sound is refitted there in coordinates of its own;
what is not sound in these, and candidates whose columns are of very unlike size, are solved by the
host.

Callers hold `_machine.device.engine`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from echofold._data.rows import rows as rows_of
from echofold._folds import batched
from echofold._folds.algorithms import KeptRows, SmallK, Solved, naive
from echofold._folds.batched import Turned, coordinates, turned
from echofold._folds.choose import Choice
from echofold._folds.leave_out import LeftOut, leave_out, only_valid
from echofold._folds.moments import Whitening, solve
from echofold._folds.splits import Pieces, RowSplits
from echofold._folds.tolerances import ALIKE_COLUMNS, EPS, FAR, FULL_RANK, negligible
from echofold._folds.whitened import Coordinates
from echofold._machine.arrays import equal_parts, few_lengths, pad_rows
from echofold._machine.device import in_threads

Data = tuple[np.ndarray, np.ndarray, Any]  # rows, targets and weights
TOGETHER = 64  # candidates whose rows come to the host at a time
COPIES = 6  # of the rows of a network that are alive at a time


def bytes_of(room: int, columns: int) -> int:
    """Memory of a device that the rows of one network take, with what is made of them."""
    return 8 * COPIES * room * (columns + 1)


class ManyRows:
    """``X (candidates, room, m)``, of which ``n`` rows are there.

    ``Y (n, outputs)``, weights, ridge path and pieces are as in `KeptRows`; ``free`` bytes of the
    device may be used. ``there (candidates, room)`` is 0 for rows that a candidate is without.
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
        there: np.ndarray | None = None,
    ):
        self.X, self.Y, self.weights, self.n = X, Y, weights, len(Y)
        self.ridge, self.penalised, self.pieces, self.free = ridge, penalised, pieces, free
        self.shift = Y.mean(axis=0)
        room = X.shape[1]
        self._Y = jnp.asarray(pad_rows(Y, room))
        there = (np.arange(room) < self.n)[None] if there is None else there
        given = np.ones(self.n) if weights is None else weights
        self._there = jnp.asarray(there, dtype=float)
        self._weights = jnp.asarray(pad_rows(given, room) * there)

    @cached_property
    def _white(self) -> Turned:
        each = 8 * 4 * self.X.shape[2] * (self.X.shape[1] + self.X.shape[2])
        return self._in_groups(each, turned, self._there)

    @cached_property
    def _at(self) -> Coordinates:
        return coordinates(self._white)

    @cached_property
    def _told(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Singular values, whether directions hold anything, and `_unlike`, on the host."""
        return jax.device_get((self._white.sigma, self._white.held, self._white.unlike))

    @property
    def _sigma(self) -> np.ndarray:
        """Singular values of every candidate, infinite for directions that hold nothing."""
        sigma, held, _ = self._told
        return np.where(held, sigma, np.inf)

    @property
    def _negligible(self) -> np.ndarray:
        """What is negligible in each candidate."""
        return negligible(self._told[0].max(axis=1), self.X.shape[2])

    @property
    def _unlike(self) -> np.ndarray:
        """Candidates whose columns are so unlike in size that the host solves them."""
        return self._told[2]

    @property
    def condition(self) -> np.ndarray:
        """Condition numbers of the centred rows, ``1/eps`` where a direction is only rounding."""
        sigma, held, _ = self._told
        return np.where(held.all(axis=1), sigma.max(axis=1) / sigma.min(axis=1), 1 / EPS)

    @cached_property
    def _parts(self) -> batched.Parts:
        return batched.cut_parts(self.pieces)

    @cached_property
    def _moments(self) -> Any:
        """Moments of every part, ``(candidates, parts, a, a)``."""
        Y, rows = self._Y - self.shift, self._parts.rows
        a = 1 + self.X.shape[2] + self.Y.shape[1]
        each = 8 * (3 * rows.size * a + len(self._parts.piece) * a * a)

        def found(X, at, weights):
            return batched.part_moments(X, at, Y, weights, rows)

        return self._in_groups(each, found, self._at, self._weights)

    def solved(
        self, scheme: str, choice: Choice, splits: RowSplits, readouts: bool, residuals: bool
    ) -> Solved:
        """What is wanted of the splits of a scheme, by the way that was chosen for it."""
        if choice.variant == "small_k":
            W, refitted = self.readouts(scheme, splits)
            return Solved(W, refitted, *(self.residuals(splits, W) if residuals else ()))
        at, left, W, refitted = self.left_out(splits, readouts)
        return Solved(W, refitted, only_valid(at, splits), left)

    def readouts(self, scheme: str, splits: RowSplits) -> tuple[Any, int]:
        """``W (candidates, splits, ridge, 1 + m, outputs)``, and how many splits were refitted."""
        W, refitted = self._readouts(scheme, splits.distinct)
        return splits.spread(W, 1, batched.spread), refitted

    def _readouts(self, scheme: str, splits: RowSplits) -> tuple[Any, int]:
        """The same for splits that all have different training sets."""
        W, bad = self._solved(self._parts.members(list(self.pieces.train[scheme].values())))
        by_host = np.flatnonzero(self._unlike)

        def solved(one: int, data: Data) -> Solved:
            rows = KeptRows(*data, self.ridge, self.penalised, self.pieces)
            return SmallK(rows, scheme).readouts(splits)

        refitted = 0
        for one, found in zip(by_host, self._by_host(solved, by_host), strict=True):
            W = batched.replaced(W, (np.array([one]),), found.W[None])
            refitted += found.refitted
        bad[by_host] = False
        if bad.any():
            pairs, W_own = self._refitted(bad, splits)
            W = batched.replaced(W, pairs, W_own)
        return W, refitted + int(bad.sum())

    def _solved(self, members: np.ndarray) -> tuple[Any, np.ndarray]:
        """Readouts of training sets, sums of parts, and ``(candidates, sets)`` not sound."""
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
        bad = np.array(~sound.all(axis=2))
        zero = np.flatnonzero(self.ridge == 0)
        doubtful = self._sigma.min(axis=1) <= FULL_RANK * self._negligible
        doubtful = np.flatnonzero(doubtful & ~self._unlike)
        if len(zero) and len(doubtful):
            some, found = self._without_negligible(doubtful, members)
            index = some[:, None, None], np.arange(len(members))[:, None], zero
            W = batched.replaced(W, index, found[:, :, None])
        return W, bad

    def _without_negligible(self, doubtful: np.ndarray, members: np.ndarray):
        """Candidates, and readouts ``(candidates, sets, 1 + m, outputs)`` at a ridge of 0."""
        some = _few(doubtful)
        moments, at, white = batched.taken((self._moments, self._at, self._white), some)
        m = self.X.shape[2]
        if not self.penalised:
            most = 10 * FAR * self._negligible[doubtful, None]
            tail = min(m, few_lengths(int((self._sigma[doubtful] < most).sum(axis=1).max())))
            each = 8 * 8 * len(members) * m * (m + self.Y.shape[1])

            def found(moments, at, sigma):
                return batched.least_norm(moments, members, at, sigma, self.shift, tail=tail)

            return some, self._in_groups(each, found, at, white.sigma, given=moments)
        M = np.einsum("sj,cjab->csab", members, np.asarray(moments))
        white = jax.tree.map(np.asarray, white)

        def solved(one: int) -> np.ndarray:
            ones = np.ones_like(white.mean[one])
            at = Whitening(white.mean[one], ones, white.V[one], white.sigma[one], white.held[one])
            return solve(M[one], at, self.shift, np.zeros(1), True, False, ALIKE_COLUMNS).W[:, 0]

        return some, np.stack(in_threads(solved, range(len(some))))

    def _refitted(self, bad: np.ndarray, splits: RowSplits) -> tuple[tuple, Any]:
        """Where ``bad (candidates, splits)``, and readouts in coordinates of the split's own rows.

        What is not even sound in these is solved by the host.
        """
        pairs = np.argwhere(bad)
        room = self.X.shape[1]
        most = max(1, self.free // bytes_of(*self.X.shape[1:]))
        chosen = _few(np.arange(len(pairs)))
        found = []
        for skip, part in equal_parts(len(chosen), min(most, len(chosen))):
            at, sets = pairs[chosen[part]].T
            there = np.zeros((len(at), room))
            for one, split in enumerate(sets):
                there[one, rows_of(splits.train[split])] = 1.0
            again = ManyRows(
                batched.taken(self.X, at), self.Y, self.weights, self.ridge, self.penalised,
                self.pieces, self.free, there,
            )  # fmt: skip
            W, still = again._solved(np.ones((1, len(self._parts.piece))))
            W = W[:, 0]
            left = np.flatnonzero(still[:, 0] | again._unlike)

            def plainly(one: int, data: Data, sets=sets) -> np.ndarray:
                train = [splits.train[sets[one]]]
                return naive(*data, train, self.ridge, self.penalised)[0]

            if len(left):
                W = batched.replaced(W, (left,), np.stack(again._by_host(plainly, left)))
            found.append(_without(skip, W, axis=0))
        return tuple(pairs[chosen].T), _joined(found, axis=0)

    def residuals(self, splits: RowSplits, W) -> tuple[np.ndarray, Any]:
        """Rows ``(splits, longest)``, and ``(candidates, splits, longest, ridge, outputs)``."""
        rows = splits.valid_rows
        at = np.minimum(rows, self.n - 1)
        each = 8 * rows.size * (self.X.shape[2] + 3 * len(self.ridge) * self.Y.shape[1])
        return rows, self._in_groups(each, lambda X, W: batched.residuals(X, self._Y, at, W), W)

    def left_out(self, splits: RowSplits, readouts: bool) -> tuple[np.ndarray, Any, Any, int]:
        """Rows left out, residuals as above, readouts if asked for, and refitted splits.

        Where validation rows are not held out, these rows, and their residuals.
        """
        if not splits.held_out:
            _, _, W, refitted = self._left_out(splits.distinct, True)
            W = splits.spread(W, 1, batched.spread)
            return *self.residuals(splits, W), W, refitted
        return self._left_out(splits, readouts)

    def _left_out(self, splits: RowSplits, readouts: bool) -> tuple[np.ndarray, Any, Any, int]:
        """The same for rows that are held out."""
        rows = np.where(splits.left_out_rows < self.n, splits.left_out_rows, -1)
        arrays = self._Y, self._weights[0]
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
        """Residuals and readouts, with splits refitted that were not sound, and how many."""
        e, W, bad = left.residuals, left.W, np.array(left.bad.any(axis=2))
        few_rows = self.n <= 2 + self.X.shape[2]  # where the host has a way of its own
        by_host = np.flatnonzero(self._unlike | (few_rows & bad.any(axis=1)))

        def solved(one: int, data: Data) -> LeftOut:
            return leave_out(*data, splits, self.ridge, self.penalised, readouts)

        refitted = 0
        for one, found in zip(by_host, self._by_host(solved, by_host), strict=True):
            index = (np.array([one]),)
            e = batched.replaced(e, index, found.residuals[None])
            W = batched.replaced(W, index, found.W[None]) if readouts else None
            refitted += found.direct
        bad[by_host] = False
        if bad.any():
            pairs, W_own = self._refitted(bad, splits)
            rows = np.minimum(splits.left_out_rows[pairs[1]], self.n - 1)
            again = batched.residuals_of(self.X, self._Y, pairs[0], rows, W_own)
            e = batched.replaced(e, pairs, again)
            W = batched.replaced(W, pairs, W_own) if readouts else None
        return e, W, refitted + int(bad.sum())

    def _by_host(self, work: Callable, candidates: np.ndarray) -> list:
        """``work`` of a candidate and its rows, targets and weights, in threads of the host."""
        results: list = []
        for first in range(0, len(candidates), TOGETHER):
            some = candidates[first : first + TOGETHER]
            X = np.asarray(batched.taken(self.X, _few(some)))[:, : self.n]
            tasks = [(one, (X[i], self.Y, self.weights)) for i, one in enumerate(some)]
            results += in_threads(lambda task: work(*task), tasks)
        return results

    def _in_groups(self, each: int, work: Callable, *arrays: Any, given: Any = None) -> Any:
        """``work`` on some candidates at a time, each of which takes so many bytes."""
        given = self.X if given is None else given
        results = [
            _without(skip, work(*part), axis=0)
            for skip, part in _groups((given, *arrays), max(1, int(self.free // (2 * each))))
        ]
        return _joined(results, axis=0)


def _few(places: np.ndarray) -> np.ndarray:
    """One of few numbers of places, because each is compiled once: the last comes again."""
    count = few_lengths(len(places))
    return np.append(places, np.repeat(places[-1], count - len(places)))


def _groups(arrays: tuple, most: int) -> Iterator[tuple[int, tuple]]:
    """Equal numbers of candidates, the last overlapping the one before: of how many, and they.

    Arrays of length 1 are shared by all candidates.
    """
    count = jax.tree.leaves(arrays)[0].shape[0]
    if most >= count:
        yield 0, arrays
        return
    for skip, part in equal_parts(count, most):
        yield (
            skip,
            jax.tree.map(lambda one, part=part: one if len(one) == 1 else one[part], arrays),
        )


def _without(count: int, tree: Any, axis: int) -> Any:
    """Arrays without their first entries."""
    cut = (slice(None),) * axis + (slice(count, None),)
    return jax.tree.map(lambda array: array[cut], tree) if count else tree


def _joined(parts: list, axis: int) -> Any:
    """Arrays that follow each other, as one."""
    if len(parts) == 1:
        return parts[0]
    return jax.tree.map(lambda *arrays: jnp.concatenate(arrays, axis=axis), *parts)
