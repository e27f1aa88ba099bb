"""A forecast of members of different kinds, weighted by how they did on the same past stretches.

A network, exponential smoothing and a plain forecast err in different ways, so that their mean is
better than the best of them, more often than not. All members forecast the same stretches of the
past from the values before each. Weights are what is known before, of series of that length, times
a power of the errors that grows with the number of stretches: with few of them, errors are luck.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from echofold import baselines
from echofold._data.missing import filled
from echofold._models.forecast import plausible
from echofold._models.smoothing import (
    CALM,
    LIVELY,
    STATES,
    Smoothing,
    adjusted,
    croston,
    levels_read,
    smoothed,
    theta,
)

NETWORKS, POOLED, ONCE = "networks", "pooled networks", "last season"
REPEATED = 0.25  # what the last season weighs where it was seen once, before errors are known
ENOUGH = 40  # values from which direct forecasts are learned
ZEROS = 0.3  # share of values from which they are intermittent demand
POWER, EARLY = 6.0, 3.0  # of errors, and stretches that halve it
FLATTERED = 1.2  # errors of networks, which were chosen by the same stretches, count as so much
WORST = 10.0  # times the error of the median member: more counts as much

Seasons = tuple[int, ...]
SeasonsBefore = Callable[[int], Seasons]  # seasons that the values before a row tell of
Series = tuple[np.ndarray, np.ndarray, Seasons]  # values (T,), starts, seasons
# Of each series, forecasts (starts, horizon) from the values before each start.
Rule = Callable[[Sequence[Series], int], list[np.ndarray]]


# Weights before errors are known, and the share of networks: round numbers on the plateau of what
# benchmarks/competitions.py measures.
SEASONAL = {"exponential smoothing": 0.4, "additive smoothing": 0.1, "theta": 0.3}
PLAIN = {"exponential smoothing": 0.3, "smoothing": 0.2, "theta": 0.1, "drift": 0.4}
INTERMITTENT = {"mean": 0.4, "intermittent demand": 0.3, "smoothing": 0.3}


def priors_for(
    values: np.ndarray, seasonal: bool, own: Mapping[str, float], once: bool = False
) -> dict[str, float]:
    """Who forecasts a series of such values ``(T,)``, with weights before errors are known.

    Networks, if any, have their ``own``. A season that was seen ``once`` can be repeated, but not
    followed.
    """
    others = INTERMITTENT
    if not is_intermittent(values):
        others = SEASONAL if seasonal else PLAIN
        others = others | ({"smoothed levels": 0.2} if len(values) >= ENOUGH else {})
    share = sum(own.values())
    again = {ONCE: REPEATED * (1 - share)} if once else {}
    rest = (1 - share - sum(again.values())) / sum(others.values())
    return dict(own) | {name: rest * prior for name, prior in others.items()} | again


def is_intermittent(values: np.ndarray) -> bool:
    """Whether values are demand that comes now and then: many zeros, none below."""
    return bool((values >= 0).all() and (values == 0).mean() >= ZEROS and values.any())


def network_share(length: int) -> float:
    """What networks weigh among all members before errors are known, by the length of a series."""
    return float(np.clip((length - 35) / (length + 40), 0.0, 0.9))


@dataclass(frozen=True)
class Past:
    """Forecasts of stretches of the past, each from the values before it.

    ``rows (stretches, steps)`` are rows of the series, ``truth`` its values there, NaN where
    missing; ``outputs (members, stretches, steps)`` what each member said. ``runs`` is the number
    of stretches that do not overlap, ``power`` that of errors where these are many.
    """

    rows: np.ndarray
    truth: np.ndarray
    outputs: np.ndarray
    runs: int
    power: float = POWER

    def part(self, which: np.ndarray) -> Past:
        """Some of the stretches."""
        rows, outputs = self.rows[which], self.outputs[:, which]
        return Past(rows, self.truth[which], outputs, side_by_side(rows), self.power)

    @cached_property
    def errors(self) -> np.ndarray:
        """Mean absolute errors ``(stretches, members)``, NaN where there is no value."""
        known = np.isfinite(self.truth)
        with np.errstate(invalid="ignore", divide="ignore"):
            total = np.where(known, np.abs(self.outputs - self.truth), 0.0).sum(axis=2)
            return (total / known.sum(axis=1)).T

    def others(self) -> Iterator[tuple[int, np.ndarray]]:
        """The first row of each stretch, and which stretches do not overlap it."""
        first, steps = self.rows[:, 0], self.rows.shape[1]
        for start in first:
            yield int(start), np.abs(first - start) >= steps

    def weights(self, priors: Mapping[str, float], apart: Any = slice(None)) -> np.ndarray:
        """Weights ``(members,)`` by the errors on some of the stretches."""
        given = np.array(list(priors.values()))
        flattery = np.array([FLATTERED if name == NETWORKS else 1.0 for name in priors])
        runs = self.runs if isinstance(apart, slice) else max(self.runs - 1, 1)
        return weights_of(self.errors[apart], given, runs, flattery, self.power)

    def combined(
        self, values: np.ndarray, priors: Mapping[str, float], limits: np.ndarray
    ) -> np.ndarray:
        """Forecasts ``(stretches, steps)`` of all members together, of ``values (T,)``.

        The weights for a stretch are those of the stretches that do not overlap it.
        """
        found = np.empty(self.truth.shape)
        for place, (start, apart) in enumerate(self.others()):
            weights = self.weights(priors, apart)
            found[place] = mixed(self.outputs[:, place], weights, range_of(values[:start]))
        return np.clip(found, *limits)


def side_by_side(rows: np.ndarray) -> int:
    """How many stretches ``(stretches, steps)`` would fit side by side into the rows they cover."""
    return max(1, round(len(np.unique(rows)) / rows.shape[1])) if len(rows) else 0


def range_of(values: np.ndarray) -> np.ndarray:
    """The lowest and the highest value ``(2,)`` of those that are known; NaN without any."""
    known = values[~np.isnan(values)]
    return np.array([known.min(), known.max()]) if len(known) else np.full(2, np.nan)


class Asked(NamedTuple):
    """What is asked of members: to forecast ``values (T,)`` from those before each of ``starts``.

    A season that was seen ``once`` is repeated by a member of its own.
    """

    members: Sequence[str]
    values: np.ndarray
    starts: np.ndarray
    seasons: SeasonsBefore
    once: int | None = None


def forecasts_of(asked: Sequence[Asked], horizon: int) -> list[np.ndarray]:
    """Forecasts ``(members, starts, horizon)`` of each of several series, all side by side.

    They go on from the last value before a start that is known; one must be. Values are brought to
    a size of one first, so that squares of none are infinite, or zero.
    """
    found: list[np.ndarray] = []
    work = defaultdict(list)
    for place, one in enumerate(asked):
        unit = float(np.nanmax(np.abs(one.values))) or 1.0
        found.append(np.empty((len(one.members), len(one.starts), horizon)))
        known = np.flatnonzero(~np.isnan(one.values))
        ends = known[np.maximum(np.searchsorted(known, one.starts) - 1, 0)] + 1  # of those known
        each = [
            (one.seasons(int(start)), int(start - end))
            for start, end in zip(one.starts, ends, strict=True)
        ]
        for seen, gap in dict.fromkeys(each):
            at = np.array([row for row, own in enumerate(each) if own == (seen, gap)])
            y = filled(one.values[:, None], min(seen) if seen else None)[:, 0] / unit
            for member, name in enumerate(one.members):
                work[name, gap].append(((place, member, at, unit), (y, ends[at], seen)))
    for (name, gap), entries in work.items():
        if name == ONCE:
            continue
        said = RULES[name]([series for _, series in entries], gap + horizon)
        for ((place, member, at, unit), _), ahead in zip(entries, said, strict=True):
            found[place][member, at] = unit * ahead[:, gap:]
    for one, outputs in zip(asked, found, strict=True):
        if one.once is not None:
            for number, row in enumerate(one.starts):
                outputs[-1, number] = baselines.seasonal_naive(one.values[:row], horizon, one.once)
    return found


def weights_of(
    errors: np.ndarray, priors: np.ndarray, runs: float, flattery: float | np.ndarray = 1.0,
    power: float = POWER,
) -> np.ndarray:  # fmt: skip
    """Weights ``(members,)`` by the mean errors ``(stretches, members)``, NaN where unknown.

    ``runs`` is the number of stretches that do not overlap; ``flattery`` what errors are multiplied
    by first.

    Examples
    --------
    >>> import numpy as np
    >>> weights_of(np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([0.5, 0.5]), 3).round(2)
    array([0.89, 0.11])
    """
    errors, weights = errors[np.isfinite(errors).any(axis=1)] * flattery, priors
    if len(errors):
        middle = np.nanmedian(np.where(np.isfinite(errors), errors, np.nan), axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(middle > 0, errors / middle, np.where(errors > 0, WORST, 1.0))
        mean = np.where(np.isfinite(relative), np.minimum(relative, WORST), WORST).mean(axis=0)
        weights = priors * np.maximum(mean, 1e-3) ** (-power * runs / (runs + EARLY))
    return weights / weights.sum()


def mixed(forecasts: np.ndarray, weights: np.ndarray, span: np.ndarray) -> np.ndarray:
    """One forecast ``(horizon,)`` of those of members, without any that runs away from the data.

    ``span (2,)`` is the range of the data. If all run away, they are kept as near as their range
    is wide.
    """
    room = 1e-9 * np.abs(span).max() * np.array([-1.0, 1.0])  # of values that are all equal
    with np.errstate(invalid="ignore"):
        sound = plausible(forecasts[:, :, None], (span + room)[:, None]).all(axis=(1, 2))
    sound &= weights > 0
    if sound.any():
        return weights[sound] @ forecasts[sound] / weights[sound].sum()
    finite = np.nan_to_num(forecasts[weights.argmax()], nan=span[1])
    return np.clip(finite, span[0] - np.ptp(span), span[1] + np.ptp(span))


def _each(method: Callable[[np.ndarray, Seasons, int], np.ndarray]) -> Rule:
    """A method of the values so far, for one start after the other."""
    return lambda series, horizon: [
        np.stack([method(y[:start], seasons, horizon) for start in starts])
        for y, starts, seasons in series
    ]


def _plain(baseline: Callable[..., np.ndarray]) -> Rule:
    """A baseline of the shortest season that was seen twice."""
    return _each(lambda y, seasons, horizon: baseline(y, horizon, shortest(seasons, len(y))))


def shortest(seasons: Seasons, rows: int) -> int:
    """The shortest season that fits twice into so many rows; 1 without any."""
    return min([one for one in seasons if 2 * one <= rows], default=1)


def _smoothed(kind: Smoothing) -> Rule:
    """Smoothing that follows the shortest season; longer ones are taken off, before each start."""

    def rule(series: Sequence[Series], horizon: int) -> list[np.ndarray]:
        found = [np.empty((len(starts), horizon)) for _, starts, _ in series]
        work: dict[int, list[Any]] = defaultdict(list)
        for (y, starts, seasons), into in zip(series, found, strict=True):
            own = min([one for one in seasons if one <= STATES], default=1)
            if others := tuple(one for one in seasons if one != own):
                for at, start in enumerate(starts):
                    rest = adjusted(y[:start], others)
                    work[own].append((into[at : at + 1], rest, rest.values, starts[at : at + 1]))
            else:
                work[own].append((into, None, y, starts))
        for own, entries in work.items():
            each = smoothed([(y, at) for _, _, y, at in entries], own, horizon, kind)
            for (into, rest, _, _), ahead in zip(entries, each, strict=True):
                into[:] = ahead if rest is None else rest.restored(ahead[0])
        return found

    return rule


def _without_seasons(method: Callable[[list[np.ndarray], int], list[np.ndarray]]) -> Rule:
    """A method for values without seasons, which are taken off before and put back after."""

    def rule(series: Sequence[Series], horizon: int) -> list[np.ndarray]:
        rests = [adjusted(y[:start], seasons) for y, starts, seasons in series for start in starts]
        each = zip(rests, method([rest.values for rest in rests], horizon), strict=True)
        found = iter([rest.restored(ahead) for rest, ahead in each])
        return [np.stack([next(found) for _ in starts]) for _, starts, _ in series]

    return rule


RULES: dict[str, Rule] = {
    "exponential smoothing": _smoothed(CALM),
    "additive smoothing": _smoothed(Smoothing(CALM.trends, 1.0, False)),
    "smoothing": _smoothed(LIVELY),
    "theta": _without_seasons(theta),
    "smoothed levels": _without_seasons(levels_read),
    "intermittent demand": _each(lambda y, _, horizon: croston(y, horizon)),
    "mean": _plain(baselines.mean),
    "drift": _plain(baselines.drift),
}
