"""Forecasts for series that are short for a network: exponential smoothing, theta, demand.

Exponential smoothing keeps a level, a damped trend and a season, and corrects each by a share of
the last error. Which shares are right, a short series hardly tells. So none are chosen: a grid of
them runs side by side, as columns, and their forecasts are averaged by how likely each makes the
series. What the series began with enters all errors linearly; under a Gaussian prior it is solved
for, and integrated out, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

LEVELS = (0.02, 0.06, 0.12, 0.2, 0.3, 0.45, 0.6, 0.8, 0.97)  # shares of errors that levels take
SEASONS = (None, 0.0, 0.05, 0.15, 0.4)  # that seasons take of what levels leave; None: no season
STATES = 24  # steps of a season that smoothing follows; a longer one is taken off by its indices
LATEST = 480  # values that smoothing looks at
TEMPER = 0.5  # power of likelihoods: errors are not as independent, nor as Gaussian, as assumed
TRENDED = 2.0  # that a trend must gain in minus twice the log-likelihood
FAR = 5.0  # logarithms above the highest value beyond which no forecast goes
LARGEST = 700.0  # of a number whose exponential is finite
SMALLEST = 1e-300
JITTER = 1e-12
CHUNK = 64  # rows whose errors are held at a time
WIDTH = 16  # series that run side by side
LEARNED = 10  # values that direct forecasts are learned from, at least
CLIPPED = 5.0  # typical changes: larger ones count as such


class Smoothing(NamedTuple):
    """What is averaged over: pairs of a trend's share of the level's and its damping, and priors.

    ``slope`` is the spread of the first trend, in units of the mean absolute change.
    """

    trends: tuple[tuple[float, float], ...]
    slope: float
    logs: bool  # whether logarithms are smoothed beside the values, where all are positive


CALM = Smoothing(
    ((0, 0), (0, 1), (0, 0.9), (0.03, 0.98), (0.03, 0.9), (0.1, 0.98), (0.1, 0.9), (0.1, 0.8),
     (0.3, 0.95), (0.3, 0.8)), 0.6, True,
)  # fmt: skip
LIVELY = Smoothing(
    ((0, 0), (0, 1), (0, 0.9), (0.03, 1), (0.03, 0.9), (0.1, 1), (0.1, 0.9), (0.3, 0.95),
     (0.3, 0.8), (1, 0.8), (1, 0.6)), 1.0, False,
)  # fmt: skip


def smoothed(
    series: Sequence[tuple[np.ndarray, np.ndarray]], season: int, horizon: int,
    kind: Smoothing = CALM,
) -> list[np.ndarray]:  # fmt: skip
    """Forecasts ``(starts, horizon)`` of each ``y (T,)`` from the values before its starts.

    In one pass, of which several series ``(y, starts)`` share most of the work.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0])
    >>> smoothed([(y, np.array([8]))], 2, 2)[0].round(2)
    array([[1., 3.]])
    """
    found = [np.empty((len(starts), horizon)) for _, starts in series]
    least = max(3, 2 * season - 2, season + 2) if season > 1 else 3
    enough = []
    for (y, starts), into in zip(series, found, strict=True):
        short = starts < least
        if short.any():
            few = starts[short]
            last = y[few - 1][:, None]
            into[short] = smoothed([(y, few)], 1, horizon, kind)[0] if season > 1 else last
        if not short.all():
            enough.append((y, starts[~short], into, np.flatnonzero(~short)))
    enough.sort(key=lambda one: one[1].max())  # those of similar length side by side
    shares = _grid(season, kind.trends)
    for first in range(0, len(enough), WIDTH):
        block = enough[first : first + WIDTH]
        pairs = [(y, starts) for y, starts, _, _ in block]
        for number, start, ahead, costs in _forecasts(pairs, season, horizon, shares, kind):
            _, _, into, places = block[number]
            weights = np.exp(-TEMPER / 2 * (costs - costs.min()))
            into[places[start]] = ahead @ (weights / weights.sum())
    return found


def _grid(season: int, trends: tuple[tuple[float, float], ...]) -> np.ndarray:
    """Columns to run: shares of level, trend and season, damping, whether there is each."""
    return np.array(
        [
            (level, level * trend, damping, (1 - level) * (share or 0.0), share is not None,
             (trend, damping) != (0, 0))
            for share in (SEASONS if season > 1 else (None,))
            for level in LEVELS
            for trend, damping in trends
        ],
        dtype=float,
    )  # fmt: skip


class _Track(NamedTuple):
    """Values ``z`` of a series, by its number, or logarithms of those before any that has none."""

    series: int
    z: np.ndarray
    log: bool


def _forecasts(
    series: Sequence[tuple[np.ndarray, np.ndarray]], season: int, horizon: int, shares: np.ndarray,
    kind: Smoothing,
) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:  # fmt: skip
    """The numbers of a series and a start, forecasts ``(horizon, columns)``, costs of columns.

    Costs are minus twice the log-likelihood. Errors are linear in the beginning ``s`` of a column,
    ``e = e_0 + E s``, and ``E`` is the same for all series. The mean of ``s`` given the values
    solves ``(EᵀE + P) s = −Eᵀe_0``. Where logarithms can be taken they are as many more columns.
    """
    tracks, wanted = [], []
    for number, (y, starts) in enumerate(series):
        first = max(0, int(starts.min()) - LATEST)
        y, starts = y[first : starts.max()], starts - first
        wanted += [(int(start), number, at) for at, start in enumerate(starts)]
        tracks.append(_Track(number, y, False))
        positive = len(y) if y.min() > 0 else int((y <= 0).argmax())  # so many from the first on
        if kind.logs and positive >= starts.min():
            tracks.append(_Track(number, np.log(y[:positive]), True))
    z = np.zeros((len(tracks), max(len(one.z) for one in tracks)))
    for row, track in enumerate(tracks):
        z[row, : len(track.z)] = track.z
    begun = np.array([one.z[: max(3, season)].mean() for one in tracks])
    run, count = _Run(season, shares, len(tracks)), len(tracks)
    size, done = run.size - count, 0
    squares = np.zeros((len(shares), size, size))
    products, total = np.zeros((len(shares), size, count)), np.zeros((count, len(shares)))
    for start, number, at in sorted(wanted):
        for part in range(done, start, CHUNK):
            errors = run.over(z[:, part : min(part + CHUNK, start)], part)
            errors[:, :count] += begun[:, None] * errors[:, count, None]
            total += (errors[:, :count] ** 2).sum(axis=0)
            by_start = np.ascontiguousarray(errors[:, count:].transpose(2, 1, 0))
            squares += by_start @ by_start.transpose(0, 2, 1)
            products += by_start @ np.ascontiguousarray(errors[:, :count].transpose(2, 0, 1))
        done, forecasts, costs = start, [], []
        for row, (own, z_own, log) in enumerate(tracks):
            if own != number or len(z_own) < start:
                continue
            past = z_own[:start]
            s, cost = _beginnings(past, squares, products[:, :, row], total[row], season, kind)
            s[:, 0] += begun[row]
            ahead = run.ahead(start, horizon, row, s)
            if log:  # the density of a logarithm, in units of the value
                cost += 2 * past.sum()
                ahead = np.exp(np.minimum(ahead, min(past.max() + FAR, LARGEST)))
            forecasts.append(ahead)
            costs.append(cost + TRENDED * (shares[:, 5] > 0))
        yield number, at, np.concatenate(forecasts, axis=1), np.concatenate(costs)


def _beginnings(
    past: np.ndarray, squares: np.ndarray, products: np.ndarray, total: np.ndarray, season: int,
    kind: Smoothing,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """What each column begins with ``(columns, size)``, and minus twice its log-likelihood.

    A Cholesky factor of ``EᵀE + P``, with ``Eᵀe_0`` as one more row, holds all that it takes.
    """
    rows, (columns, size, _) = len(past), squares.shape
    step = _typical_step(past, season)
    spread = float(past.std()) or step
    precision = np.full(size, step**2 / spread**2)
    precision[:2] = step**2 / (9 * spread**2 + step**2), 1 / kind.slope**2
    whole, at = np.empty((columns, size + 1, size + 1)), np.arange(size)
    whole[:, :size, :size] = squares
    whole[:, at, at] += precision
    whole[:, at, at] += JITTER * whole[:, at, at].max(axis=1)[:, None]  # of a pure season its
    whole[:, size, :size] = products  # pivots may vanish
    whole[:, size, size] = 2 * total + SMALLEST
    factor = np.linalg.cholesky(whole)
    last, pivots = factor[:, size, :size], factor[:, at, at]
    left = total - (last**2).sum(axis=1)
    cost = rows * np.log(np.maximum(left / rows, 1e-12 * spread**2))
    cost += 2 * np.log(pivots).sum(axis=1) - np.log(precision).sum()
    s = np.empty((columns, size))
    for one in at[::-1]:
        later = np.einsum("cq,cq->c", factor[:, one + 1 : size, one], s[:, one + 1 :])
        s[:, one] = -(last[:, one] + later) / pivots[:, one]
    return s, cost


def _typical_step(z: np.ndarray, season: int) -> float:
    """The mean absolute change, from step to step or from season to season; never zero."""
    changes = [float(np.abs(z[lag:] - z[:-lag]).mean()) for lag in {1, season} if lag < len(z)]
    return min(changes) or 1e-3 * float(np.abs(z).mean()) or 1.0


class _Run:
    """Level, trend and season ``(2 + season, size, columns)``: of series from rest, and of starts.

    The first ``count`` of the ``size`` are those of series.
    """

    def __init__(self, season: int, shares: np.ndarray, count: int):
        self.shares, self.season, self.count = shares, season, count
        self.size = count + 2 + (season if season > 1 else 0)
        self.state = np.zeros((2 + season, self.size, len(shares)))
        self.state[0, count], self.state[1, count + 1] = 1.0, shares[:, 5]
        for place in range(self.size - count - 2):
            self.state[2 + place, count + 2 + place] = shares[:, 4]

    def over(self, z: np.ndarray, first: int) -> np.ndarray:
        """Errors ``(rows, size, columns)`` of values ``(count, rows)`` from row ``first`` on."""
        a, b, damping, g = self.shares.T[:4]
        (level, trend), pattern = self.state[:2], self.state[2:]
        errors, given = np.empty((z.shape[1], *level.shape)), np.zeros((self.size, 1))
        for t, values in enumerate(z.T):
            given[: self.count, 0], now = values, pattern[(first + t) % self.season]
            trend *= damping
            level += trend
            error = np.subtract(given, level, out=errors[t])
            error -= now
            level += a * error
            trend += b * error
            now += g * error
        return errors

    def ahead(self, start: int, horizon: int, row: int, s: np.ndarray) -> np.ndarray:
        """Forecasts ``(horizon, columns)`` of a series that began with ``s (columns, size)``."""
        state = self.state[:, row] + np.einsum("pqc,cq->pc", self.state[:, self.count :], s)
        (level, trend), damping = state[:2], self.shares[:, 2]
        ahead = np.empty((horizon, len(level)))
        for step in range(horizon):
            trend *= damping
            level += trend
            np.add(level, state[2 + (start + step) % self.season], out=ahead[step])
        return ahead


# --- seasons that are taken off, and put back -----------------------------------------------------


def seasonal_indices(z: np.ndarray, season: int) -> np.ndarray:
    """How far each step of a season is from the trend, ``(season,)``, shrunk by how sure that is.

    The trend is a centred moving average. Zeros unless two seasons are there.

    Examples
    --------
    >>> import numpy as np
    >>> seasonal_indices(np.arange(12.0) + np.tile([2.0, 0.0, -2.0], 4), 3)
    array([ 2.,  0., -2.])
    """
    if season == 1 or len(z) < 2 * season:
        return np.zeros(season)
    window = np.ones(season) if season % 2 else np.array([0.5, *np.ones(season - 1), 0.5])
    trend = np.convolve(z, window / season, "valid")
    lead = (len(window) - 1) // 2
    apart, place = z[lead : lead + len(trend)] - trend, (np.arange(len(trend)) + lead) % season
    counts = np.maximum(np.bincount(place, minlength=season), 1)
    indices = np.bincount(place, apart, season) / counts
    indices -= indices.mean()
    periods = len(trend) / season
    noise = (apart - indices[place]).var() * periods / max(periods - 1, 0.5)
    if periods <= 1:  # nothing repeats yet
        noise = 0.1 * np.diff(z).var()
    strength = float(indices.var())
    return indices * max(0.0, 1 - noise / max(periods, 1.0) / strength) if strength else indices


class Adjusted(NamedTuple):
    """A series without seasons, and what puts them back."""

    values: np.ndarray
    indices: tuple[np.ndarray, ...]
    length: int
    log: bool

    def restored(self, forecast: np.ndarray) -> np.ndarray:
        """A forecast with its seasons."""
        at = self.length + np.arange(len(forecast))
        seasonal = sum((one[at % len(one)] for one in self.indices), np.zeros(len(forecast)))
        return forecast * np.exp(seasonal) if self.log else forecast + seasonal


def adjusted(y: np.ndarray, seasons: tuple[int, ...]) -> Adjusted:
    """Values without these seasons, the longest taken off first; by factors of positive values."""
    log = bool(seasons) and bool(y.min() > 0)
    z, indices = np.log(y) if log else y, []
    for season in sorted(seasons, reverse=True):
        indices.append(seasonal_indices(z, season))
        z = z - indices[-1][np.arange(len(z)) % season]
    return Adjusted(np.exp(z) if log else z, tuple(indices), len(y), log)


def theta(each: Sequence[np.ndarray], horizon: int) -> list[np.ndarray]:
    """Simple exponential smoothing with half the slope of a straight line (Assimakopoulos 2000).

    Of several series, which run side by side.

    Examples
    --------
    >>> import numpy as np
    >>> theta([np.arange(20.0)], 2)[0].round(2)
    array([19.5, 20. ])
    """
    shares = np.linspace(0.05, 1, 20)
    found = [np.repeat(y[-1], horizon) for y in each]
    z, places = _side_by_side([y[-LATEST:] for y in each], 3)
    if not z:
        return found
    slopes = np.array([np.polyfit(np.arange(len(y)), y, 1)[0] / 2 for y in z])[:, None]
    levels = np.repeat([[y[0]] for y in z], len(shares), axis=1)
    costs = np.zeros(levels.shape)
    for _, here, values in _steps(z, 1):
        slope, level, cost = slopes[here], levels[here], costs[here]
        error = values - level - slope
        cost += error**2
        level += slope
        level += shares * error
    for place, slope, level, cost in zip(places, slopes, levels, costs, strict=True):
        found[place] = level[cost.argmin()] + slope[0] * np.arange(1, horizon + 1)
    return found


def _side_by_side(each: Sequence[np.ndarray], least: int) -> tuple[list[np.ndarray], list[int]]:
    """Series of at least so many values, the longest first, and their places."""
    places = [place for place, y in enumerate(each) if len(y) >= least]
    places.sort(key=lambda place: -len(each[place]))
    return [each[place] for place in places], places


def _steps(z: Sequence[np.ndarray], first: int) -> Iterator[tuple[int, slice, np.ndarray]]:
    """Each row from the ``first`` on, the series ``z`` that reach it, and their values ``(n, 1)``.

    The longest come first.
    """
    lengths = np.array([len(y) for y in z])
    padded = np.zeros((len(z), lengths.max(initial=0)))
    for row, y in enumerate(z):
        padded[row, : len(y)] = y
    for t in range(first, padded.shape[1]):
        here = slice(int((lengths > t).sum()))
        yield t, here, padded[here, t, None]


def levels_read(each: Sequence[np.ndarray], horizon: int) -> list[np.ndarray]:
    """Direct forecasts: the change over each number of steps, read from gaps to smoothed levels."""
    shares = np.array([0.1, 0.2, 0.35, 0.5, 0.7])
    found = [np.repeat(y[-1], horizon) for y in each]
    logs = [len(y) >= LEARNED and bool(y.min() > 0) for y in each]
    tracks = [np.log(y) if log else y for y, log in zip(each, logs, strict=True)]
    z, places = _side_by_side([y[-LATEST:] for y in tracks], LEARNED)
    if not z:
        return found
    units = np.array([[float(np.abs(np.diff(y)).mean()) or 1.0] for y in z])
    levels = np.repeat([[y[0]] for y in z], len(shares), axis=1)
    gaps = np.empty((len(z), len(z[0]), len(shares)))
    for t, here, values in _steps(z, 0):
        level = levels[here]
        level += np.maximum(shares, 1 / (t + 1)) * (values - level)
        gaps[here, t] = (level - values) / units[here]
    for y, place, unit, own in zip(z, places, units[:, 0], gaps, strict=True):
        ahead = y[-1] + unit * _changes(y, own[: len(y)], unit, horizon)
        low, high = y.min() - FAR, min(y.max() + FAR, LARGEST)
        found[place] = np.exp(np.clip(ahead, low, high)) if logs[place] else ahead
    return found


def _changes(z: np.ndarray, gaps: np.ndarray, unit: float, horizon: int) -> np.ndarray:
    """Changes ``(horizon,)`` in such units, by ridge regression on ``gaps (T, levels)``."""
    count, first = len(z), max(1, min(5, len(z) // 4))
    gaps = (gaps - gaps[first:].mean(axis=0)) / (gaps[first:].std(axis=0) + 1e-9)
    rows = np.column_stack([np.ones(count), gaps])
    steps = min(horizon, count - first - 3)
    grams = np.empty((steps, rows.shape[1], rows.shape[1]))
    products = np.empty((steps, rows.shape[1]))
    for step in range(1, steps + 1):
        A, most = rows[first : count - step], CLIPPED * step**0.7
        target = np.clip((z[first + step :] - z[first : count - step]) / unit, -most, most)
        penalty = np.array([3.0 * step, *np.full(gaps.shape[1], float(len(A)))])
        grams[step - 1], products[step - 1] = A.T @ A + np.diag(penalty), A.T @ target
    change = np.empty(horizon)
    read = np.linalg.solve(grams, products[:, :, None])[:, :, 0]
    change[:steps] = [rows[-1] @ one for one in read]
    change[steps:] = change[steps - 1]
    return change


def croston(y: np.ndarray, horizon: int, share: float = 0.1) -> np.ndarray:
    """Intermittent demand: its smoothed size over its smoothed distance (Croston 1972).

    With the correction of Syntetos and Boylan (2005).

    Examples
    --------
    >>> import numpy as np
    >>> croston(np.array([0.0, 2.0, 0.0, 2.0]), 2).round(2)
    array([0.95, 0.95])
    """
    at = np.flatnonzero(y)
    if not len(at):
        return np.zeros(horizon)
    distances = np.diff(at, prepend=-1)
    size, distance = float(y[at[0]]), float(distances.mean())
    for value, waited in zip(y[at], distances, strict=True):
        size += share * (value - size)
        distance += share * (waited - distance)
    return np.repeat((1 - share / 2) * size / distance, horizon)
