"""The seasons of a series: those of its calendar, or one found in its values.

Laid out in rows of one period each, a season repeats its pattern in every row, the first as much
as the last. A cycle whose length varies, as that of sunspots, repeats it in the next row only, and
noise nowhere. So rows are correlated that are not neighbours, and the result is held against
chance. The limits were set on 98 series of R.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.tseries.frequencies import to_offset

PERIODS = 3  # that must be there
LATEST = 50_000  # values that are looked at: a fifth of a second
SHORTEST = 3  # steps: what alternates is rarely a season
TRIED = 8  # peaks of an autocorrelation, and every lag up to
EVERY = 13
CORRELATION = 0.3  # of periods: about the share of the variance that the season makes
CHANCE = 1e-4  # of a season where there is none, at any lag
CYCLE = 2.0  # times the mean noise, at the frequencies of the pattern: rather a cycle then,
UNLIKELY = 1e-6  # which needs stronger evidence by this factor
AGREEING = 0.8  # share of periods that are like the others
ABSENT = 1e-5  # chance below which a multiple of a season has a pattern of its own,
SHARE = 0.03  # if that makes so much of the variance
SEPARATE = 5  # times the length of a season, and a longer one is another, as weeks of hours
MOST = 2 / 3  # of the correlation of the longer one, that the shorter must have
GROWN = 1.5  # times the steps of the first third of a series, in the last: may need logarithms


class Repeats(NamedTuple):
    """How alike periods are: mean correlation, chance of it, share of periods that agree."""

    correlation: float
    chance: float
    agreeing: float


def detected_season(values) -> int | None:
    """Steps after which values ``(T,)`` repeat their pattern, None unless the evidence is strong.

    Straight lines are drawn through what is missing (NaN). Three whole periods are the least. Of
    two seasons, as days and weeks of hours, the shorter is found.
    """
    y = np.asarray(values, dtype=float)[-LATEST:]
    known = np.flatnonzero(~np.isnan(y))
    if not len(known):
        return None
    y = np.interp(np.arange(len(y)), known, y[known])
    most = len(y) // PERIODS
    if most < SHORTEST or not np.ptp(y) > 0:
        return None
    y = _brought_to_scale(y)
    if not np.abs(y).max() > 1e-9:  # a parabola, up to rounding
        return None
    limit = CHANCE / most
    found = {}
    for length in _candidates(y, most):
        rows = _periods(y, length)
        repeats = _repeats(rows)
        strong = repeats.correlation >= CORRELATION and repeats.agreeing > AGREEING
        if strong and repeats.chance < limit and not _is_cycle(rows, limit):
            found[length] = repeats.correlation
    if not found:
        return None
    best = max(found, key=lambda length: found[length])
    best = _shortest(y, best, found[best], limit)
    best *= next((times for times in (2, 3) if _more(y, times * best, best, limit)), 1)
    return best if best >= SHORTEST else None


def _brought_to_scale(y: np.ndarray) -> np.ndarray:
    """Values around a parabola, of logarithms if their ups and downs are more even then."""
    if y.min() > 0:
        plain, log = _growth(y), _growth(np.log(y))
        if plain > np.log(GROWN) and log < plain / 2:
            y = np.log(y)
    t = np.linspace(-1, 1, len(y))
    y = y - y.mean()
    y = y / (np.abs(y).max() or 1.0)  # of logarithms that differ by less than their rounding
    return y - np.polyval(np.polyfit(t, y, 2), t)  # means over periods bend little then


def _growth(y: np.ndarray) -> float:
    """By what factor steps grow or shrink from the first third to the last, as a logarithm."""
    steps = np.abs(np.diff(y))
    third = len(steps) // 3
    first, last = steps[:third].mean(), steps[-third:].mean()
    return abs(float(np.log(last / first))) if first > 0 and last > 0 else 0.0


def _candidates(y: np.ndarray, most: int) -> list[int]:
    """Short lags, and those at peaks of the autocorrelations of differences and of values."""
    found = set(range(SHORTEST, min(EVERY, most) + 1))
    for series in (np.diff(y), y - _trend(y, most | 1)):
        if not np.ptp(series) > 1e-12:
            continue
        last = min(len(series) - 2, most + most // 2 + 1)
        correlation = _autocorrelation(series, last)
        lags = np.arange(SHORTEST, min(most, last - 1) + 1)
        here = correlation[lags]
        peaks = lags[(here >= correlation[lags - 1]) & (here >= correlation[lags + 1]) & (here > 0)]
        # Above the troughs half a period away: a trend lifts all of its neighbours alike.
        around = correlation[peaks // 2] + correlation[np.minimum(peaks + peaks // 2, last)]
        for height in (correlation[peaks], correlation[peaks] - around / 2):
            found.update(int(lag) for lag in peaks[np.argsort(-height)[:TRIED]])
    return sorted(found)


def _autocorrelation(y: np.ndarray, last: int) -> np.ndarray:
    """At the lags 0 to ``last``, by FFT."""
    size = 1 << (2 * len(y) - 1).bit_length()
    spectrum = np.fft.rfft(y - y.mean(), size)
    sums = np.fft.irfft(np.abs(spectrum) ** 2, size)[: last + 1]
    return sums / sums[0] * len(y) / (len(y) - np.arange(last + 1))


def _trend(y: np.ndarray, length: int) -> np.ndarray:
    """Centred means over one period, going on along straight lines at both ends."""
    sums = np.concatenate([[0.0], np.cumsum(y)])
    means = (sums[length:] - sums[:-length]) / length
    if length % 2 == 0:
        means = (means[1:] + means[:-1]) / 2
    lead = (len(y) - len(means)) // 2
    span = min(length, len(means) - 1)
    before, after = (means[span] - means[0]) / span, (means[-1] - means[-1 - span]) / span
    steps = np.arange(1, lead + 1)
    return np.concatenate([means[0] - before * steps[::-1], means, means[-1] + after * steps])


def _periods(y: np.ndarray, length: int) -> np.ndarray:
    """Values without their trend as rows ``(periods, length)``, the last at the end of ``y``."""
    count = len(y) // length
    rows = (y - _trend(y, length))[len(y) - count * length :].reshape(count, length)
    return rows - rows.mean(axis=1, keepdims=True)


def _repeats(rows: np.ndarray) -> Repeats:
    """How alike rows are that are not neighbours, and how likely that is by chance.

    With unit rows and their mean correlation r over P rows, the variance ratio of pattern and noise
    is F = (1 + (P - 1) r) / (1 - r). Its degrees of freedom are those of noise as smooth as what
    the pattern leaves. The same is asked at the frequencies of the pattern alone, where the noise
    of a cycle is stronger than elsewhere.
    """
    from scipy.special import fdtrc

    count, length = rows.shape
    size = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    unit = np.divide(rows, size, out=np.zeros_like(rows), where=size > 1e-9 * size.max())
    total = unit.sum(axis=0)
    others, pairs = total - unit, np.full(count, count - 1.0)
    if count >= 5:
        others[1:] -= unit[:-1]
        others[:-1] -= unit[1:]
        pairs[:] = count - 3.0
        pairs[[0, -1]] = count - 2.0
    alike = (unit * others).sum(axis=1)
    r = min(float(alike.sum() / pairs.sum()), 1 - 1e-12)
    ratio = max((1 + (count - 1) * r) / (1 - r), 0.0)

    freedom = np.full(length // 2, 2.0)  # a sine and a cosine, but for the last of an even length
    freedom[-1] -= length % 2 == 0
    noise = (np.abs(np.fft.rfft(unit - total / count, axis=1)) ** 2).mean(axis=0)[1:] / 2
    pattern = np.abs(np.fft.rfft(total / count))[1:] ** 2 * freedom
    pattern /= max(float(pattern.sum()), 1e-300)
    mean = max(float(noise @ freedom) / freedom.sum(), 1e-300)
    wide = float(noise @ freedom) ** 2 / max(float(noise**2 @ freedom), 1e-300)
    narrow = 1 / max(float(pattern**2 @ (1 / freedom)), 1e-300)
    louder = max(float(pattern @ noise) / mean, 1e-9)
    there = ratio * freedom.sum() / narrow / louder
    wide = wide if wide > 0 else float(freedom.sum())  # without any noise
    chance = max(
        float(fdtrc(wide, wide * (count - 1), ratio)),
        float(fdtrc(narrow, narrow * (count - 1), there)),
    )
    if louder > CYCLE:
        chance /= UNLIKELY
    return Repeats(r, chance, float((alike > 0).mean()))


def _is_cycle(rows: np.ndarray, limit: float) -> bool:
    """Whether rows hold waves that fit them several times, but not at a whole number of steps.

    Two cycles of about nine and a half years fit into 19; without them, nothing is left.
    """
    waves = np.fft.rfft(rows, axis=1)
    strongest = int(np.abs(waves.sum(axis=0)).argmax())
    if strongest == 0 or rows.shape[1] % strongest == 0:
        return False
    waves[:, strongest::strongest] = 0
    rest = _repeats(np.fft.irfft(waves, rows.shape[1], axis=1))
    return rest.correlation < CORRELATION / 3 or rest.chance >= limit


def _shortest(y: np.ndarray, length: int, correlation: float, limit: float) -> int:
    """The shortest part of a season that is all of it, or that is a season of its own."""
    for part in range(2, length // 2 + 1):
        if length % part:
            continue
        repeats = _repeats(_periods(y, part))
        if repeats.correlation < CORRELATION or repeats.chance >= limit:
            continue
        if not _more(y, length, part, ABSENT):
            return part
        apart = length // part >= SEPARATE and repeats.correlation >= MOST * correlation
        if apart and not any(_more(y, times * part, part, ABSENT) for times in (2, 3)):
            return part
    return length


def _more(y: np.ndarray, length: int, part: int, limit: float) -> bool:
    """Whether a season has a pattern beyond that of a part of it."""
    if length > len(y) // PERIODS:
        return False
    rows = _periods(y, length)
    mean = rows.reshape(len(rows), -1, part).mean(axis=1)
    rest = rows - np.tile(mean, (1, length // part))
    of_all = (rest**2).sum(axis=1) / np.maximum((rows**2).sum(axis=1), 1e-300)
    repeats = _repeats(rest)
    return repeats.chance < limit and repeats.correlation * float(np.median(of_all)) >= SHARE


# --- seasons of the calendar ----------------------------------------------------------------------

YEAR, LEAST_YEARS = 365, 3  # days, for which three years must be there: two hardly tell a trend
OF_STEPS = {"B": (5,), "D": (7, 365), "h": (24, 168)}


def calendar_seasons(freq: Any) -> tuple[int, ...] | None:
    """Steps in the seasons of dates of a pandas frequency; None where values must tell.

    Examples
    --------
    >>> calendar_seasons("QS"), calendar_seasons("30min"), calendar_seasons("YS")
    ((4,), (48, 336), ())
    """
    offset = to_offset(freq)
    name, count = offset.rule_code.split("-")[0], offset.n
    if count == 1 and name in OF_STEPS:
        return OF_STEPS[name]
    if name == "W":
        return (52 // count,) if count <= 26 else ()
    months = {"M": 1, "Q": 3, "Y": 12}.get(name.removeprefix("B")[:1], 0) * count
    if months:
        return (12 // months,) if months < 12 and 12 % months == 0 else ()
    try:
        step, day = pd.Timedelta(offset), pd.Timedelta(days=1)
    except ValueError:
        return None
    cycles = [cycle // step for cycle in (day, 7 * day) if cycle % step == pd.Timedelta(0)]
    return tuple(length for length in cycles if length > 1 and step < day) or None


def seen_seasons(seasons: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Those that so many values show again, the shortest first."""
    often = {one: LEAST_YEARS if one == YEAR else 2 for one in seasons}
    return tuple(sorted({one for one in seasons if one > 1 and count >= often[one] * one}))


class SeasonsSeen(NamedTuple):
    """The seasons as one would see them who knows the values before a row alone.

    They were ``told``, or the ``latest`` of all values, up to the end of ``rows``, must tell, which
    takes milliseconds: what they told of a row is known then.
    """

    told: tuple[int, ...] | None
    latest: np.ndarray
    rows: int
    known: dict[int, tuple[int, ...]]

    def __call__(self, row: int) -> tuple[int, ...]:
        if self.told is not None:
            return seen_seasons(self.told, row)
        if row not in self.known:
            found = detected_season(self.latest[: max(0, len(self.latest) - self.rows + row)])
            self.known[row] = () if found is None else (found,)
        return self.known[row]
