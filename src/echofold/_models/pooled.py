"""Networks that many series share: one readout, learned from all of them, for several steps.

A short series tells too little to learn from alone. Each is brought to a common form: levels are
logarithms where values are positive, changes are in units of the mean absolute change. Of seasons
there are two views, and networks of either: they are taken off by indices, or the change since the
last season is one more input. Networks are driven by these, all series side by side, and a readout
says by how much the level will have changed after each of the next steps. Errors of series differ
much in size, so it is found by reweighted least squares, in which large ones count less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from echofold._data.missing import filled
from echofold._engine.drive import advance, drive_side_by_side
from echofold._engine.kind import drawn
from echofold._machine.device import Work, choose_device, engine
from echofold._models.smoothing import FAR, LARGEST, Adjusted, adjusted
from echofold.reservoirs import Leaky

KIND = Leaky(
    200, leak_rate=0.5, spectral_radius=0.9, input_scaling=0.6, bias_scaling=0.6, topology="normal"
)
RIDGES = (1e-7, 1e-5, 1e-3)  # for each row that is learned from; all are validated
VIEWS = (True, False)  # of seasons: whether they are taken off
DRAWS = 1  # of a network, for each of these
STEEP = 1e4  # from the lowest to the highest value, beyond which logarithms are not taken
CLIPPED = 4.0  # mean changes, which larger ones are bent down to
FURTHEST = 5.0  # mean changes that a target may be away, times the steps to a power below 1
ROUNDS = 4  # of reweighting
TYPICAL = 0.7  # times the median error, from which on rows count less
REST = 500  # steps without a change, after which a state is at rest
LATEST = 1000  # values of a series that are looked at
ROWS = 60_000  # that a readout is learned from: more tell hardly more
CHUNK = 8192  # rows that are summed up at a time
BLOCK_BYTES = 2**25  # of states that are there at a time


class Common(NamedTuple):
    """A series in the form that all have in common: levels, and what a change of one is worth.

    A ``season`` is in the levels still; 0 if there is none, or it was taken off.
    """

    levels: np.ndarray
    unit: float
    log: bool
    rest: Adjusted
    season: int

    @classmethod
    def of(cls, y: np.ndarray, seasons: Sequence[int], taken_off: bool) -> Common:
        """Bring values ``(T,)`` to it, NaN where missing."""
        y = filled(y[-LATEST:, None], min(seasons, default=None))[:, 0]
        seen = [one for one in seasons if 2 * one <= len(y)]
        rest = adjusted(y, tuple(seen) if taken_off else ())
        low, high = rest.values.min(), rest.values.max()
        log = bool(low > 0 and high < STEEP * low)
        levels = np.log(rest.values) if log else rest.values
        unit = float(np.abs(np.diff(levels)).mean()) if len(levels) > 1 else 0.0
        return cls(levels, unit or 1.0, log, rest, 0 if taken_off else min(seen, default=0))

    @property
    def inputs(self) -> np.ndarray:
        """Changes ``(T, 2)`` since the step before, and half of those since the last season."""
        change = np.zeros((len(self.levels), 2))
        for column, lag in enumerate((1, self.season)):
            if lag:
                since = self.levels[lag:] - self.levels[:-lag]
                change[lag:, column] = since / ((1 + column) * self.unit)
        return CLIPPED * np.tanh(change / CLIPPED)

    def values(self, changes: np.ndarray) -> np.ndarray:
        """Values of so many changes ``(..., steps)`` after the last level."""
        ahead = self.levels[-1] + self.unit * changes
        if self.log:
            ahead = np.exp(np.minimum(ahead, min(self.levels.max() + FAR, LARGEST)))
        return np.apply_along_axis(self.rest.restored, -1, ahead)


Series = tuple[np.ndarray, Sequence[int]]  # values (T,), NaN where missing, and their seasons


def drawn_from(lengths: np.ndarray, seed: int) -> np.ndarray:
    """Which series of these lengths are learned from: some that are drawn, if there are many."""
    order = np.random.RandomState(seed).permutation(len(lengths))
    rows = np.cumsum(np.maximum(lengths[order] - 1, 0))
    return np.sort(order[: int(np.searchsorted(rows, ROWS)) + 1])


@dataclass(frozen=True)
class Pool:
    """Readouts ``(networks, ridges, 1 + m, steps)`` of several networks.

    Each is a view of seasons, and the seed of its weights.
    """

    networks: tuple[tuple[bool, int], ...]
    readouts: np.ndarray
    device: str = "auto"

    @classmethod
    def learned(cls, series: Sequence[Series], steps: int, seed: int, device: str) -> Pool:
        """Learn from series of any length."""
        some = [one for one in series if len(one[0]) > 1]
        networks = tuple((view, seed + draw) for draw in range(DRAWS) for view in VIEWS)
        readouts = [np.zeros((len(RIDGES), 1 + KIND.size(2), steps))] * len(networks)
        for place, (view, own) in enumerate(networks if some else ()):
            common = [Common.of(one[0], one[1], view) for one in some]
            ends = np.cumsum([len(one.levels) - 1 for one in common])
            X = np.empty((ends[-1], KIND.size(2)))
            for one, states in _states(common, own, device):
                X[ends[one] - len(states) + 1 : ends[one]] = states[:-1]
            Y = np.concatenate([_targets(one, steps) for one in common])
            known = np.isfinite(Y[:, 0])
            steps_known = int(np.isfinite(Y).any(axis=0).sum())
            if known.any():  # beyond the steps that any row knows, values stay
                W = _robust(X[known], Y[known, :steps_known])
                further = np.repeat(W[:, :, -1:], steps - steps_known, axis=2)
                readouts[place] = np.concatenate([W, further], axis=2)
        return cls(networks, np.stack(readouts), device)

    @classmethod
    def restored(cls, networks: Any, readouts: np.ndarray) -> Pool:
        """The pool that a file describes; raise a ValueError unless that fits together."""
        known = all(
            isinstance(view, bool) and isinstance(seed, int) and 0 <= seed < 2**32
            for view, seed in networks
        )
        fits = readouts.shape[:3] == (len(networks), 1, 1 + KIND.size(2))
        if not (known and fits and networks and readouts.shape[3]):
            raise ValueError("pooled networks and their readouts do not belong together")
        return cls(tuple(networks), readouts)

    def at(self, ridge: int) -> Pool:
        """The same of one of the ridges."""
        return replace(self, readouts=self.readouts[:, ridge : ridge + 1])

    def ahead(self, series: Sequence[Series]) -> np.ndarray:
        """The next values ``(ridges, series, steps)``: the mean of all networks."""
        found = np.zeros((self.readouts.shape[1], len(series), self.readouts.shape[3]))
        for (view, seed), W in zip(self.networks, self.readouts, strict=True):
            common = [Common.of(one[0], one[1], view) for one in series]
            for place, states in _states(common, seed, self.device):
                changes = W[:, 0] + states[-1] @ W[:, 1:]
                found[:, place] += common[place].values(changes) / len(self.networks)
        return found

    def continued(self, series: Sequence[Series], horizon: int) -> np.ndarray:
        """The next values ``(series, horizon)`` of the first ridge.

        Beyond the steps that are said at once, these go on from their own forecasts.
        """
        series, found = list(series), np.zeros((len(series), 0))
        while found.shape[1] < horizon:
            ahead = self.ahead(series)[0]
            series = [
                (np.append(values, more), seasons)
                for (values, seasons), more in zip(series, ahead, strict=True)
            ]
            found = np.hstack([found, ahead])
        return found[:, :horizon]


def _targets(one: Common, steps: int) -> np.ndarray:
    """Changes ``(T - 1, steps)`` that follow each level but the last, NaN where none is learned."""
    T = len(one.levels)
    padded = np.append(one.levels, np.full(steps, np.nan))
    after = padded[np.arange(1, T)[:, None] + np.arange(steps)]
    most = FURTHEST * np.arange(1, steps + 1) ** 0.7
    changes = np.clip((after - one.levels[:-1, None]) / one.unit, -most, most)
    changes[: max(1, min(one.season + 1, T // 3))] = np.nan  # a state must have seen a season
    return changes


def _states(series: Sequence[Common], seed: int, device: str) -> Iterator[tuple[int, np.ndarray]]:
    """The place of each series, and its states ``(T, m)``; those of similar length together."""
    r = drawn([KIND], 2, seed)
    with engine(choose_device(device, Work(REST, 1, r.shape[0], eager=True))):
        rest = np.asarray(advance(r, np.zeros((REST, 2))))
    order = np.argsort([len(one.levels) for one in series], kind="stable")[::-1]
    first = 0
    while first < len(order):
        longest = len(series[order[first]].levels)
        width = max(1, BLOCK_BYTES // (8 * longest * r.kept))
        block = order[first : first + width].tolist()
        inputs = [series[place].inputs for place in block]
        work = Work(longest, len(block), r.shape[0], eager=True)
        with engine(choose_device(device, work)):
            parts = [part for _, part in drive_side_by_side(r, inputs, len(block), rest)]
        states = np.concatenate(parts)
        for column, place in enumerate(block):
            yield place, states[: len(inputs[column]), :, 0, column]
        first += width


def _robust(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Readouts ``(ridges, 1 + m, steps)`` by reweighted least squares; ``X`` is scaled in place.

    Weights are ``1 / √(1 + (|e| / (0.7 median |e|))²)`` of the mean error of a row, each step's in
    units of its median, at the middle ridge.
    """
    center, spread = X.mean(axis=0), X.std(axis=0) + 1e-9
    X -= center
    X /= spread
    weights, middle = np.ones(len(Y)), len(RIDGES) // 2
    for turn in range(ROUNDS):
        last = turn == ROUNDS - 1
        W = _weighted(X, Y, weights, RIDGES if last else RIDGES[middle : middle + 1])
        if not last:
            size = np.abs(Y - W[0, 0] - X @ W[0, 1:])
            size /= np.nanmedian(size, axis=0) + 1e-12
            weights = 1 / np.sqrt(1 + (np.nanmean(size, axis=1) / TYPICAL) ** 2)
    W[:, 1:] /= spread[:, None]
    W[:, 0] -= center @ W[:, 1:]
    return W


def _weighted(X: np.ndarray, Y: np.ndarray, weights: np.ndarray, ridges) -> np.ndarray:
    """Readouts ``(ridges, 1 + m, steps)``; a step is learned from the rows that know it.

    Rows before the end of a series know fewer steps. Sums of those that know as many are added up
    from the most on, some rows at a time.
    """
    there, m = np.isfinite(Y), X.shape[1]
    known, given = there.sum(axis=1), np.where(there, Y, 0.0) * weights[:, None]
    products = np.vstack([given.sum(axis=0), X.T @ given])
    found = np.zeros((len(ridges), 1 + m, Y.shape[1]))
    gram = np.zeros((1 + m, 1 + m))
    for step in range(Y.shape[1] - 1, -1, -1):
        rows = np.flatnonzero(known == step + 1)
        for first in range(0, len(rows), CHUNK):
            part = rows[first : first + CHUNK]
            Z = np.column_stack([np.ones(len(part)), X[part]])
            gram += (Z * weights[part, None]).T @ Z
        for place, ridge in enumerate(ridges if gram[0, 0] > 0 else ()):
            penalty = np.full(1 + m, (ridge + 1e-12) * gram[0, 0])
            penalty[0] = 0.0
            factor = cho_factor(gram + np.diag(penalty))
            found[place, :, step] = cho_solve(factor, products[:, step])
    return found
