"""Rows of many candidates on a device: readouts and residuals of every split, for all at once.

What `KeptRows` and the algorithms are for one candidate on the host, from which the systems and
formulas are taken (`_folds.whitened`). Only marks and singular values leave the device. A split
whose moments are not sound is refitted there in coordinates of its own; what is not sound in these,
and candidates whose columns are of very unlike size, are solved by the host.

Coordinates are found otherwise than on the host. QR and SVD of many matrices are slow on an
accelerator; products and eigenvectors of symmetric matrices are not. The eigenvectors of a Gram
matrix are the directions of an SVD, but see those below ``√eps`` of the largest badly. So columns
that have come out small are turned again, among themselves, until rounding of the rows is all that
is left (`turned`).

``X (candidates, rows, m)`` may have more rows than there are; these have no weight. Callers hold
`_machine.device.engine`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from echofold._data.rows import rows as rows_of
from echofold._folds.algorithms import Algorithm, KeptRows, SmallK, Solved, naive
from echofold._folds.leave_out import LeaveOut, only_valid
from echofold._folds.moments import Whitening, solve
from echofold._folds.splits import Pieces, RowSplits
from echofold._folds.tolerances import (
    ALIKE_COLUMNS,
    EPS,
    FAR,
    FULL_RANK,
    POOR,
    POWERS,
    PROBES,
    negligible,
    probe,
)
from echofold._folds.whitened import (
    Coordinates,
    Readouts,
    cholesky,
    lead_back,
    leave_one,
    leave_several,
    penalised_systems,
    solve_lower,
    solve_path,
    solve_twice,
    systems,
    units,
)
from echofold._machine.arrays import equal_parts, few_lengths, jax, jnp, lax, pad_rows
from echofold._machine.device import in_threads
from echofold._machine.programs import program, put, scan, side_by_side

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
        there = (np.arange(room) < self.n)[None] if there is None else there
        given = np.ones(self.n) if weights is None else weights
        # Put there once, where each program that is given an array of the host would do so.
        self._Y, self._shifted, self._there, self._weights = put(
            (pad_rows(Y, room), pad_rows(Y, room) - self.shift, there * 1.0,
             pad_rows(given, room) * there)
        )  # fmt: skip

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
    def _parts(self) -> Parts:
        return cut_parts(self.pieces)

    @cached_property
    def _moments(self) -> Any:
        """Moments of every part, ``(candidates, parts, a, a)``."""
        Y, rows = self._shifted, self._parts.rows
        a = 1 + self.X.shape[2] + self.Y.shape[1]
        each = 8 * (3 * rows.size * a + len(self._parts.piece) * a * a)

        def found(X, at, weights):
            return part_moments(X, at, Y, weights, rows)

        return self._in_groups(each, found, self.X, self._at, self._weights)

    def solved(self, variant: str, splits: RowSplits, readouts: bool, residuals: bool) -> Solved:
        """What is wanted of the splits of a scheme, by `SmallK` or `LeaveOut`."""
        if variant == "leave_out" and splits.held_out:
            return self._left_out(splits, readouts)
        solve = self._left_out if variant == "leave_out" else self._from_moments
        found = solve(splits.distinct)
        W = splits.spread(found.W, 1, taken)
        if not residuals:
            return Solved(W, found.refitted)
        at = np.minimum(splits.valid_rows, self.n - 1)
        each = 8 * at.size * (self.X.shape[2] + 3 * len(self.ridge) * self.Y.shape[1])

        left = self._in_groups(each, lambda X, W: residuals_of(X, self._Y, at, W), self.X, W)
        return Solved(W, found.refitted, splits.valid_rows, left)

    def _from_moments(self, splits: RowSplits) -> Solved:
        """Readouts ``W (candidates, splits, ridge, 1 + m, outputs)`` of different training sets."""
        W, bad = self._solved(self._parts.members([self.pieces.runs[one] for one in splits.train]))
        return self._mended(Solved(W), bad, ~self._told.alike, SmallK, splits)

    def _left_out(self, splits: RowSplits, readouts: bool = True) -> Solved:
        """The same of rows left out, and residuals on those of them that are validated."""
        rows = np.where(splits.left_out_rows < self.n, splits.left_out_rows, -1)
        arrays = self._Y, self._weights[0]
        options = {"penalised": self.penalised, "wanted": readouts}
        p, outputs, ridges = 1 + self.X.shape[2], self.Y.shape[1], len(self.ridge)
        each = 8 * (4 * self.X.shape[1] * p + rows.size * (3 * p + 4 * rows.shape[1]))
        each += 16 * ridges * (rows.size * outputs + len(rows) * p * outputs * readouts)

        def found(X, at, moments):
            return leave_rows_out(X, at, *arrays, moments, rows, self.shift, self.ridge, **options)

        left = self._in_groups(each, found, self.X, self._at, self._moments)
        bad = ~np.all(np.asarray(left.sound), axis=2)
        few_rows = self.n <= 2 + self.X.shape[2]  # where the host has a way of its own
        by_host = ~self._told.alike | (few_rows & bad.any(axis=1))
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
            W = None if W is None else replaced(W, (one,), own.W[None])
            left = None if left is None else replaced(left, (one,), own.residuals[None])
            refitted += own.refitted
        bad[candidates] = False
        if bad.any():
            pairs, own_W = self._refitted(bad, splits)
            if left is not None:
                rows = np.minimum(splits.left_out_rows[pairs[1]], self.n - 1)
                again = residuals_of(self.X, self._Y, rows, own_W, pairs[0])
                left = replaced(left, pairs, again)
            W = None if W is None else replaced(W, pairs, own_W)
        return Solved(W, refitted + int(bad.sum()), found.at, left)

    def _solved(self, members: np.ndarray) -> tuple[Any, np.ndarray]:
        """Readouts of training sets, sums of parts, and ``(candidates, sets)`` not sound."""
        p, ridges = 1 + self.X.shape[2], len(self.ridge)
        each = 8 * 4 * ridges * p * (p + self.Y.shape[1])  # bytes for a split
        together = max(1, min(len(members), int(self.free // (2 * each))))
        parts = []
        for skip, part in equal_parts(len(members), together):

            def solved(moments, at, chosen=members[part]):
                return readouts_of(
                    moments, chosen, at, self.shift, self.ridge, penalised=self.penalised
                )

            found = self._in_groups(each * together, solved, self._moments, self._at)
            parts.append((skip, found))
        found = _joined(parts, axis=1)
        W, zero = found.W, np.flatnonzero(self.ridge == 0)
        doubtful = np.flatnonzero((self._rank.min(axis=1) <= FULL_RANK) & self._told.alike)
        if len(zero) and len(doubtful):
            some, least = self._without_negligible(doubtful, members)
            index = some[:, None, None], np.arange(len(members))[:, None], zero
            W = replaced(W, index, least[:, :, None])
        return W, ~found.trusted

    def _without_negligible(self, doubtful: np.ndarray, members: np.ndarray):
        """Candidates, and readouts ``(candidates, sets, 1 + m, outputs)`` at a ridge of 0."""
        some = _few(doubtful)
        moments, at, white = taken((self._moments, self._at, self._white), some)
        m = self.X.shape[2]
        if not self.penalised:
            tail = int((self._rank[doubtful] < 10 * FAR).sum(axis=1).max())
            tail = min(m, few_lengths(tail))
            each = 8 * 8 * len(members) * m * (m + self.Y.shape[1])

            def found(moments, at, sigma):
                return least_norm(moments, members, at, sigma, self.shift, tail=tail)

            return some, self._in_groups(each, found, moments, at, white.sigma)
        M = np.einsum("sj,cjab->csab", members, np.asarray(moments))
        white = jax.tree.map(np.asarray, white)

        def solved(one: int) -> np.ndarray:
            ones = np.ones_like(white.mean[one])
            at = Whitening(white.mean[one], ones, white.V[one], white.sigma[one], white.held[one])
            return solve(M[one], at, self.shift, np.zeros(1), True, False, ALIKE_COLUMNS).W[:, 0]

        return some, np.stack(list(in_threads(solved, range(len(some)))))

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

            def solved(at=at, there=there):
                again = ManyRows(
                    taken(self.X, at), self.Y, self.weights, self.ridge, self.penalised,
                    self.pieces, self.free, there,
                )  # fmt: skip
                # Twice the one set, because a single one is compiled four times as long.
                return again, *again._solved(np.ones((2, len(self._parts.piece))))

            again, W, still = side_by_side(solved)
            W = W[:, 0]
            left = np.flatnonzero(still[:, 0] | ~again._told.alike)

            def plainly(one: int, data: Data, sets=sets) -> np.ndarray:
                train = [splits.train[sets[one]]]
                return naive(*data, train, self.ridge, self.penalised)[0]

            if len(left):
                W = replaced(W, (left,), np.stack(again._by_host(plainly, left)))
            found.append((skip, W))
        return tuple(pairs.T), _joined(found, axis=0)

    def _by_host(self, work: Callable, candidates: np.ndarray) -> list:
        """``work`` of a candidate and its rows, targets and weights, in threads of the host."""
        results: list = []
        for first in range(0, len(candidates), TOGETHER):
            some = candidates[first : first + TOGETHER]
            X = np.asarray(taken(self.X, _few(some)))[:, : self.n]
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
            some = of_group(arrays, part.start, size=part.stop - part.start)
            found.append((skip, work(*some)))
        return _joined(found, axis=0)


def _few(places: np.ndarray) -> np.ndarray:
    """One of few numbers of places, because each is compiled once: the last comes again."""
    count = few_lengths(len(places))
    return np.append(places, np.repeat(places[-1], count - len(places)))


def _joined(parts: list[tuple[int, Any]], axis: int) -> Any:
    """Arrays that follow each other, as one, without so many first entries of each."""
    if len(parts) == 1:
        return parts[0][1]
    skips, trees = zip(*parts, strict=True)
    return following(trees, skips=skips, axis=axis)


# --- kernels --------------------------------------------------------------------------------------


class Turned(NamedTuple):
    """`_folds.moments.Whitening` of many; ``alike`` unless columns differ too much in size.

    ``mean (candidates, m)``, ``V (candidates, m, m)``, ``sigma`` and ``held (candidates, m)``.
    """

    mean: Any
    V: Any
    sigma: Any
    held: Any
    alike: Any


def _windows(m: int) -> list[float]:
    """Shares of the largest column below which columns are turned again.

    Among columns up to ``w``, one of size ``s`` leaves ``eps w² / s`` of itself in the smallest.
    That stays below a third of what is `negligible` if those down to ``3 w² / m`` come again.
    """
    windows, share = [], 1.0
    while (share := min(3 / (1 + m), 1 / 4) * share**2) > m * EPS:
        windows.append(share)
    return windows


@program
def turned(X, there) -> Turned:
    """Coordinates in which the centred rows are white; ``there (candidates or 1, rows)`` is 0 or 1.

    Directions that hold nothing but rounding are not held; small ``sigma`` are raised to a floor.
    """
    m = X.shape[2]
    n = there.sum(axis=1)[:, None]
    inside = there[:, :, None] > 0
    # From a row that is there, so that a constant column becomes zero and not rounding.
    begin = jnp.take_along_axis(X, jnp.argmax(there, axis=1)[:, None, None], axis=1)
    A = jnp.where(inside, X - begin, 0.0)
    mean = A.sum(axis=1) / n
    Z = jnp.where(inside, A - mean[:, None], 0.0)
    sizes = jnp.sqrt((Z * Z).sum(axis=1))
    smallest = jnp.where(sizes > 0, sizes, jnp.inf).min(axis=1)
    alike = ~(sizes.max(axis=1) > ALIKE_COLUMNS * smallest)
    V = _eigenvectors(jnp.swapaxes(Z, 1, 2) @ Z)
    Z = Z @ V
    for share in _windows(m):
        G = jnp.swapaxes(Z, 1, 2) @ Z
        Q = _turn_small(G, share)
        V, Z = V @ Q, Z @ Q
    sigma = jnp.sqrt((Z * Z).sum(axis=1) / n)
    largest = sigma.max(axis=1, keepdims=True)
    nothing = largest == 0
    sigma = jnp.where(nothing, 1.0, sigma)
    least = negligible(jnp.where(nothing, 1.0, largest), m)
    held = ~(sigma < 1.001 * least) | nothing
    return Turned(begin[:, 0] + mean, V, jnp.maximum(sigma, least), held, alike)


def _eigenvectors(G):
    """Those of symmetric matrices, the largest first."""
    return lax.linalg.eigh(G, symmetrize_input=False)[0][..., ::-1]


def _turn_small(G, share: float):
    """A rotation of the columns below ``share`` of the largest; larger ones come before them."""
    m = G.shape[-1]
    squares = jnp.einsum("cii->ci", G)
    small = lax.cummax((squares < share**2 * squares[:, :1]).astype(int), axis=1) > 0
    both = small[:, :, None] & small[:, None, :]
    scale = jnp.where(small, squares, 0.0).sum(axis=1)[:, None, None]
    block = jnp.where(both, G / jnp.where(scale == 0, 1.0, scale), 0.0)
    # The others stay: above every eigenvalue of the block, in the order in which they are.
    rest = jnp.where(small, 0.0, 3.0 - np.arange(m) / m)
    Q = _eigenvectors(block + rest[:, :, None] * jnp.eye(m))
    return jnp.where(both, Q, jnp.eye(m))


@program
def coordinates(white: Turned) -> Coordinates:
    """Room for all directions in each candidate."""
    mean, V = white.mean, white.V * white.held[:, None]

    def outside(x):
        return x - (V @ (jnp.swapaxes(V, 1, 2) @ x[:, :, None]))[:, :, 0]

    # Twice, without what rounding has left of the mean, and exactly zero where all is held.
    rest = jnp.where(white.held.all(axis=1, keepdims=True), 0.0, outside(outside(mean)))
    whiten = V / white.sigma[:, None]
    return Coordinates(mean, whiten, white.held / white.sigma**2, rest, 1.0 - white.held)


SHORTEST = 32  # rows of a part, of which moments are made


@program
def taken(arrays, places, *, axis: int = 0):
    """Some candidates, or of some other axis."""
    return jax.tree.map(lambda array: jnp.take(array, places, axis=axis), arrays)


@program
def of_group(arrays, first, *, size: int):
    """So many candidates from the ``first`` on; arrays of length 1 as they are."""
    return jax.tree.map(
        lambda array: array if len(array) == 1 else lax.dynamic_slice_in_dim(array, first, size),
        arrays,
    )


@program
def following(trees, *, skips: tuple[int, ...], axis: int):
    """Arrays of all trees, one after the other, without the first entries that each is to skip."""

    def joined(*arrays):
        pairs = zip(arrays, skips, strict=True)
        return lax.concatenate(
            [lax.slice_in_dim(one, skip, one.shape[axis], axis=axis) for one, skip in pairs], axis
        )

    return jax.tree.map(joined, *trees)


@program
def replaced(array, index, values):
    """With other values for some entries, by a tuple of arrays of where they are."""
    return array.at[index].set(values)


@dataclass(frozen=True)
class Parts:
    """Pieces cut into parts of equal length, so that their moments are one batch of products.

    ``rows (parts, length)`` are row numbers, −1 where padded; ``piece (parts,)`` is the piece of
    each.
    """

    rows: np.ndarray
    piece: np.ndarray

    def members(self, sets: Sequence) -> np.ndarray:
        """``(sets, parts)``: 1 for the parts whose piece is in one of the runs of a set."""
        inside = np.zeros((len(sets), len(self.piece)))
        for place, runs in enumerate(sets):
            for a, b in runs:
                inside[place, (self.piece >= a) & (self.piece < b)] = 1.0
        return inside


def cut_parts(pieces: Pieces) -> Parts:
    """Parts of about the length of a typical piece."""
    label = pieces.labels(0, int(pieces.starts[-1]))
    typical = len(label) // max(pieces.count, 1)
    length = max(SHORTEST, 1 << max(typical.bit_length() - 1, 0))
    order = np.argsort(label, kind="stable")
    bounds = np.flatnonzero(np.diff(label[order], prepend=-1, append=pieces.count))
    rows, owners = [], []
    for a, b in zip(bounds[:-1], bounds[1:], strict=True):
        for first in range(a, b, length):
            one = np.full(length, -1)
            one[: min(length, b - first)] = order[first : min(first + length, b)]
            rows.append(one)
            owners.append(label[order[a]])
    count = few_lengths(len(rows))
    padding = [np.full(length, -1)] * (count - len(rows))
    return Parts(np.stack(rows + padding), np.array(owners + [-1] * len(padding)))


@program
def part_moments(X, at: Coordinates, Y, weights, rows):
    """``[1, Z, Y]ᵀ diag(w) [1, Z, Y]`` of each part, ``(candidates, parts, a, a)``.

    ``weights (candidates or 1, rows)``.
    """
    shape = (*X.shape[:2], 1)
    Z = (X - at.mean[:, None]) @ at.whiten
    targets = jnp.broadcast_to(Y, (X.shape[0], *Y.shape))
    A = jnp.concatenate([jnp.ones(shape), Z, targets], axis=2)[:, rows]
    w = jnp.where(rows < 0, 0.0, weights[:, rows])[..., None]
    return jnp.swapaxes(A, -1, -2) @ (A * w)


@program
def readouts_of(moments, members, at: Coordinates, shift, ridge, *, penalised: bool) -> Readouts:
    """Readouts of the training sets that are sums of parts."""
    M = jnp.einsum("sj,cjab->csab", members, moments)
    return solve_path(M, at, shift, ridge, penalised)._replace(v=None)


@program
def least_norm(moments, members, at: Coordinates, sigma, shift, *, tail: int):
    """Readouts at a ridge of 0 with a free bias, without directions negligible in a training set.

    With ``M_zz = LLᵀ``, the rows have the R factor ``F = Lᵀ diag(σ)``, whose columns get ever
    smaller: whatever is negligible lies in the last, at most ``tail``, but for a rotation by less
    than ``1 / FAR``. The eigenvectors of these alone see far enough below it.
    """
    given = systems(jnp.einsum("sj,cjab->csab", members, moments), at, shift, False)
    L = cholesky(penalised_systems(given, jnp.zeros(1))[:, :, 0])
    g, s, Lt = solve_lower(L, given.right), sigma[:, None, :, None], jnp.swapaxes(L, -1, -2)
    m = sigma.shape[1]

    def power(x, _):
        x = s * (L @ (Lt @ (s * x)))
        return x / jnp.sqrt((x * x).sum(axis=-2, keepdims=True)), None

    x = jnp.broadcast_to(probe(m, 1), (*L.shape[:-1], 1))
    x = scan(power, x, jnp.arange(POWERS))[0]
    norm = jnp.sqrt(((Lt @ (s * x)) ** 2).sum(axis=(-1, -2)))
    unit = FAR * negligible(norm, m)[..., None]
    large = sigma[:, None] * jnp.einsum("csii->csi", L) > unit
    lead = (lax.cummin(large.astype(int), axis=2) > 0) | (np.arange(m) < m - tail)
    last = ~lead[..., m - tail :, None]
    F = Lt[..., m - tail :, m - tail :] * jnp.swapaxes(s[..., m - tail :, :], -1, -2)
    F = jnp.where(last & jnp.swapaxes(last, -1, -2), F / unit[..., None], 0.0)
    U, squares = lax.linalg.eigh(F @ jnp.swapaxes(F, -1, -2), symmetrize_input=False)
    inverse = jnp.where(squares > FAR**-2, 1 / squares, 0.0)[..., None]
    c = U @ (inverse * (jnp.swapaxes(U, -1, -2) @ jnp.where(last, g[..., m - tail :, :], 0.0)))
    small = s[..., m - tail :, :] * (jnp.swapaxes(F, -1, -2) @ c) / unit[..., None]
    small = jnp.concatenate([jnp.zeros_like(g[..., : m - tail, :]), small], axis=-2)
    lead = lead[..., None]
    inner = jnp.where(lead & jnp.swapaxes(lead, -1, -2), L, jnp.eye(m))
    v = solve_lower(inner, jnp.where(lead, g - Lt @ small, small), transposed=True)
    return lead_back(v[:, :, None], given, at, shift)[0][:, :, 0]


@program
def residuals_of(X, Y, rows, W, candidates=None):
    """Target minus output on ``rows (splits, longest)``, as ``(candidates, splits, …)``.

    Or of one split of each of some candidates: ``rows`` and ``W`` have these first.
    """
    own = X[:, rows] if candidates is None else X[candidates[:, None], rows]
    outputs = W[..., :1, :] + own[..., None, :, :] @ W[..., 1:, :]
    return Y[rows][..., None, :] - jnp.swapaxes(outputs, -3, -2)


class Left(NamedTuple):
    """What leaving rows out gives for every candidate and split.

    ``residuals (candidates, splits, longest, ridge, outputs)``; readouts ``W (candidates, splits,
    ridge, 1 + m, outputs)`` where asked for; what is not ``sound (candidates, splits, ridge)`` is
    refitted.
    """

    residuals: Any
    W: Any
    sound: Any


@program
def leave_rows_out(
    X, at: Coordinates, Y, weights, moments, rows, shift, ridge, *, penalised: bool, wanted: bool
) -> Left:
    """Residuals on ``rows (splits, longest)`` of all parts that are left out, −1 where padded.

    The formulas of `_folds.whitened`, with a Cholesky factor of all rows for each ridge value.
    """
    given = systems(moments.sum(axis=1)[:, None], at, shift, penalised)
    A, B = (X - at.mean[:, None]) @ at.whiten, Y - shift
    if penalised:
        A, B, shared = jnp.concatenate([jnp.ones((*A.shape[:2], 1)), A], axis=2), Y, 0.0
    else:
        A, B = A - jnp.swapaxes(given.z[:, 0], 1, 2), B - given.b[:, 0]
        shared = 1 / weights.sum()
    d = jnp.where(rows < 0, 0.0, jnp.sqrt(weights[rows]))
    p = given.gram.shape[-1]
    most = PROBES * (POOR + 10 * p)

    def step(carry, beta):
        path = beta[None]
        L = cholesky(penalised_systems(given, path)[:, 0, 0])
        v = solve_twice(L, given.right[:, 0])
        probes = units(given, path)[:, 0, 0, :, None] * probe(p)
        grown = (probes * solve_twice(L, probes)).sum(axis=(1, 2))
        T = jnp.swapaxes(solve_lower(L, jnp.swapaxes(A, 1, 2)), 1, 2)[:, rows]
        r = (B - A @ v)[:, rows]
        if rows.shape[1] == 1:
            e, left, bad = leave_one((T * T).sum(axis=-1) + shared, r, d)
            bad = bad[..., 0]
        else:
            C = T @ jnp.swapaxes(T, -1, -2) + shared * (rows >= 0)[:, :, None]
            e, left, bad = leave_several(C, r, d)
        W = None
        if wanted:
            change = jnp.moveaxis(
                jnp.swapaxes(T, -1, -2) @ left, 1, 2
            )  # (candidates, p, splits, …)
            flat = solve_lower(L, change.reshape(*change.shape[:2], -1), transposed=True)
            inner = v[:, None] - jnp.moveaxis(flat.reshape(change.shape), 2, 1)
            less = (shared * left.sum(axis=2, keepdims=True))[:, :, None]
            W = lead_back(inner[:, :, None], given, at, shift, less)[0][:, :, 0]
        return carry, Left(e, W, ~bad & (grown < most)[:, None])

    e, W, sound = scan(step, 0, ridge)[1]
    W = None if W is None else jnp.moveaxis(W, 0, 2)
    return Left(jnp.moveaxis(e, 0, 3), W, jnp.moveaxis(sound, 0, 2))
