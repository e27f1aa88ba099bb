"""Rows of many candidates on a device: readouts and residuals of every split, for all at once.

What `KeptRows` and the algorithms are for one candidate on the host. Only marks and singular values
leave the device. A split whose moments are not sound is refitted there in coordinates of its own;
what is not sound in these, and candidates whose columns are of very unlike size, are solved by the
host.

Callers hold `_machine.device.engine`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from echofold._data.rows import rows as rows_of
from echofold._folds import batched
from echofold._folds.algorithms import Algorithm, KeptRows, SmallK, Solved, naive
from echofold._folds.batched import Turned, coordinates, turned
from echofold._folds.leave_out import LeaveOut, only_valid
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
        return self._in_groups(each, turned, self.X, self._there)

    @cached_property
    def _at(self) -> Coordinates:
        return coordinates(self._white)

    @cached_property
    def _told(self) -> Turned:
        """What is known of the coordinates on the host."""
        return jax.device_get(self._white._replace(mean=None, V=None))

    @property
    def _rank(self) -> np.ndarray:
        """Singular values in units of what is negligible; infinite where nothing is held."""
        sigma, held = self._told.sigma, self._told.held
        least = negligible(sigma.max(axis=1, keepdims=True), self.X.shape[2])
        return np.where(held, sigma / least, np.inf)

    @property
    def condition(self) -> np.ndarray:
        """Condition numbers of the centred rows, ``1/eps`` where a direction is only rounding."""
        sigma, held = self._told.sigma, self._told.held
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

        return self._in_groups(each, found, self.X, self._at, self._weights)

    def solved(self, variant: str, splits: RowSplits, readouts: bool, residuals: bool) -> Solved:
        """What is wanted of the splits of a scheme, by `SmallK` or `LeaveOut`."""
        if variant == "leave_out" and splits.held_out:
            return self._left_out(splits, readouts)
        solve = self._left_out if variant == "leave_out" else self._from_moments
        found = solve(splits.distinct)
        W = splits.spread(found.W, 1, batched.taken)
        if not residuals:
            return Solved(W, found.refitted)
        at = np.minimum(splits.valid_rows, self.n - 1)
        each = 8 * at.size * (self.X.shape[2] + 3 * len(self.ridge) * self.Y.shape[1])

        def left(X, W):
            return batched.residuals(X, self._Y, np.arange(len(X))[:, None, None], at, W)

        return Solved(W, found.refitted, splits.valid_rows, self._in_groups(each, left, self.X, W))

    def _from_moments(self, splits: RowSplits) -> Solved:
        """Readouts ``W (candidates, splits, ridge, 1 + m, outputs)`` of different training sets."""
        W, bad = self._solved(self._parts.members([self.pieces.runs[one] for one in splits.train]))
        return self._mended(Solved(W), bad, self._told.unlike, SmallK, splits)

    def _left_out(self, splits: RowSplits, readouts: bool = True) -> Solved:
        """The same of rows left out, and residuals on those of them that are validated."""
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

        left = self._in_groups(each, found, self.X, self._at, self._moments)
        bad = np.array(left.bad.any(axis=2))
        few_rows = self.n <= 2 + self.X.shape[2]  # where the host has a way of its own
        by_host = self._told.unlike | (few_rows & bad.any(axis=1))
        residuals = left.residuals if splits.held_out else None
        solved = Solved(left.W, 0, only_valid(splits.left_out_rows, splits), residuals)
        return self._mended(solved, bad, by_host, LeaveOut, splits)

    def _mended(
        self, found: Solved, bad: np.ndarray, by_host: np.ndarray, way: type[Algorithm], splits
    ) -> Solved:
        """With some candidates solved by the host, and of others the ``bad`` splits refitted."""
        W, left, refitted = found.W, found.residuals, 0

        def solved(_, data: Data) -> Solved:
            algorithm = way(KeptRows(*data, self.ridge, self.penalised, self.pieces))
            if left is None:
                return algorithm.readouts(splits)
            return algorithm.residuals(splits, W is not None)

        candidates = np.flatnonzero(by_host)
        for one, own in zip(candidates[:, None], self._by_host(solved, candidates), strict=True):
            W = None if W is None else batched.replaced(W, (one,), own.W[None])
            left = None if left is None else batched.replaced(left, (one,), own.residuals[None])
            refitted += own.refitted
        bad[candidates] = False
        if bad.any():
            pairs, own_W = self._refitted(bad, splits)
            if left is not None:
                rows = np.minimum(splits.left_out_rows[pairs[1]], self.n - 1)
                again = batched.residuals(self.X, self._Y, pairs[0][:, None], rows, own_W)
                left = batched.replaced(left, pairs, again)
            W = None if W is None else batched.replaced(W, pairs, own_W)
        return Solved(W, refitted + int(bad.sum()), found.at, left)

    def _solved(self, members: np.ndarray) -> tuple[Any, np.ndarray]:
        """Readouts of training sets, sums of parts, and ``(candidates, sets)`` not sound."""
        p, ridges = 1 + self.X.shape[2], len(self.ridge)
        each = 8 * 4 * ridges * p * (p + self.Y.shape[1])  # bytes for a split
        together = max(1, min(len(members), int(self.free // (2 * each))))
        parts = []
        for skip, part in equal_parts(len(members), together):

            def solved(moments, at, chosen=members[part]):
                return batched.readouts(
                    moments, chosen, at, self.shift, self.ridge, penalised=self.penalised
                )

            found = self._in_groups(each * together, solved, self._moments, self._at)
            parts.append((skip, found))
        found = _joined(parts, axis=1)
        W, zero = found.W, np.flatnonzero(self.ridge == 0)
        doubtful = np.flatnonzero((self._rank.min(axis=1) <= FULL_RANK) & ~self._told.unlike)
        if len(zero) and len(doubtful):
            some, least = self._without_negligible(doubtful, members)
            index = some[:, None, None], np.arange(len(members))[:, None], zero
            W = batched.replaced(W, index, least[:, :, None])
        return W, ~found.trusted

    def _without_negligible(self, doubtful: np.ndarray, members: np.ndarray):
        """Candidates, and readouts ``(candidates, sets, 1 + m, outputs)`` at a ridge of 0."""
        some = _few(doubtful)
        moments, at, white = batched.taken((self._moments, self._at, self._white), some)
        m = self.X.shape[2]
        if not self.penalised:
            tail = int((self._rank[doubtful] < 10 * FAR).sum(axis=1).max())
            tail = min(m, few_lengths(tail))
            each = 8 * 8 * len(members) * m * (m + self.Y.shape[1])

            def found(moments, at, sigma):
                return batched.least_norm(moments, members, at, sigma, self.shift, tail=tail)

            return some, self._in_groups(each, found, moments, at, white.sigma)
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
        pairs = np.argwhere(bad)[_few(np.arange(int(bad.sum())))]
        room = self.X.shape[1]
        most = max(1, self.free // bytes_of(*self.X.shape[1:]))
        found = []
        for skip, part in equal_parts(len(pairs), min(most, len(pairs))):
            at, sets = pairs[part].T
            there = np.zeros((len(at), room))
            for one, split in enumerate(sets):
                there[one, rows_of(splits.train[split])] = 1.0
            again = ManyRows(
                batched.taken(self.X, at), self.Y, self.weights, self.ridge, self.penalised,
                self.pieces, self.free, there,
            )  # fmt: skip
            W, still = again._solved(np.ones((1, len(self._parts.piece))))
            W = W[:, 0]
            left = np.flatnonzero(still[:, 0] | again._told.unlike)

            def plainly(one: int, data: Data, sets=sets) -> np.ndarray:
                train = [splits.train[sets[one]]]
                return naive(*data, train, self.ridge, self.penalised)[0]

            if len(left):
                W = batched.replaced(W, (left,), np.stack(again._by_host(plainly, left)))
            found.append((skip, W))
        return tuple(pairs.T), _joined(found, axis=0)

    def _by_host(self, work: Callable, candidates: np.ndarray) -> list:
        """``work`` of a candidate and its rows, targets and weights, in threads of the host."""
        results: list = []
        for first in range(0, len(candidates), TOGETHER):
            some = candidates[first : first + TOGETHER]
            X = np.asarray(batched.taken(self.X, _few(some)))[:, : self.n]
            tasks = [(one, (X[i], self.Y, self.weights)) for i, one in enumerate(some)]
            results += in_threads(lambda task: work(*task), tasks)
        return results

    def _in_groups(self, each: int, work: Callable, *arrays: Any) -> Any:
        """``work`` on some candidates at a time, each of which takes so many bytes.

        All groups are equally large. Arrays of length 1 are shared by all candidates.
        """
        count = jax.tree.leaves(arrays)[0].shape[0]
        most = max(1, int(self.free // (2 * each)))
        if most >= count:
            return work(*arrays)
        found = []
        for skip, part in equal_parts(count, most):
            some = jax.tree.map(lambda one, at=part: one if len(one) == 1 else one[at], arrays)
            found.append((skip, work(*some)))
        return _joined(found, axis=0)


def _few(places: np.ndarray) -> np.ndarray:
    """One of few numbers of places, because each is compiled once: the last comes again."""
    count = few_lengths(len(places))
    return np.append(places, np.repeat(places[-1], count - len(places)))


def _joined(parts: list[tuple[int, Any]], axis: int) -> Any:
    """Arrays that follow each other, as one, without so many first entries of each."""

    def rest(array, skip: int):
        return array[(slice(None),) * axis + (slice(skip, None),)] if skip else array

    if len(parts) == 1:
        return parts[0][1]
    skips, trees = zip(*parts, strict=True)

    def joined(*arrays):
        return jnp.concatenate([rest(*one) for one in zip(arrays, skips, strict=True)], axis=axis)

    return jax.tree.map(joined, *trees)
