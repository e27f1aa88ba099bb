"""Where a pandas index ends, how it goes on, and how users are told of holes in it.

Dates with a frequency (set, or inferred from three dates or more), periods and integers with a
constant step are continued. Any other index cannot be: its continuation counts rows, from the
number of rows seen so far. Rows are taken to be one step apart, whatever their dates say. Where
dates have no frequency that pandas can infer, something is missing between them, or they are
irregular.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from pandas.tseries.frequencies import to_offset


@dataclass(frozen=True)
class Timeline:
    """The end of an index: ``last`` label, ``step`` to the next, and the number of ``rows`` so far.

    ``kind`` is ``"dates"`` (``step`` is a pandas offset), ``"periods"`` (a period's offset),
    ``"integers"`` (an integer) or ``"rows"`` (labels that cannot be continued).
    """

    kind: str
    last: Any
    step: Any
    rows: int
    name: Any = None

    def following(self, rows: int) -> Any:
        """The pandas index of the next ``rows`` rows."""
        # Dates that are equal may have other zones and units, names that are equal other types.
        return _following(self, rows, repr(self), getattr(self.last, "unit", "")).view()

    def _following(self, rows: int) -> Any:
        how = {"freq": self.step, "name": self.name}
        try:
            if self.kind == "dates":
                ahead = pd.date_range(self.last, periods=rows + 1, **how)
                return ahead[1:].as_unit(self.last.unit)
            if self.kind == "periods":
                return pd.period_range(self.last + self.step, periods=rows, **how)
        # At the end of the calendar pandas raises any of these.
        except (ArithmeticError, TypeError, ValueError) as error:
            raise ValueError(
                f"the index cannot be continued by {rows} rows of {self.step.freqstr} after "
                f"{self.last!s}: {error}. Ask for fewer rows, or fit without an index."
            ) from error
        integers = self.kind == "integers"
        first, step = (self.last + self.step, self.step) if integers else (self.rows, 1)
        return pd.RangeIndex(first, first + rows * step, step, name=self.name)

    def moved(self, rows: int) -> Timeline:
        """The timeline after ``rows`` more rows."""
        last = None if self.kind == "rows" else self.following(rows)[-1]
        return replace(self, last=last, rows=self.rows + rows)

    def check_follows(self, index: Any, argument: str) -> None:
        """Raise unless ``index`` (None: unlabelled) is what comes next."""
        if index is None or self.kind == "rows":
            return
        expected = self.following(len(index))
        differ = np.flatnonzero(np.asarray(index != expected))
        if differ.size:
            row = differ[0]
            raise ValueError(
                f"the index of {argument} does not follow the data: row {row} is "
                f"{index[row]!s}, expected {expected[row]!s}. Give the rows that come right "
                f"after {self.last!s}, or pass {argument} without an index (as a NumPy array)."
            )


@lru_cache(64)
def _following(timeline: Timeline, rows: int, *_: str) -> Any:
    """What follows many series that end alike, and each of a forecast's parts, is made once."""
    return timeline._following(rows)


class Indexes:
    """Indexes of several series: of those that are equal one, which all of them hold."""

    def __init__(self):
        self._known: dict[Any, Any] = {}
        self._timelines: dict[int, tuple[Any, Timeline]] = {}

    def of(self, index: Any) -> Any:
        """The first index that is equal to this one; it itself if its labels are any objects."""
        if hasattr(index, "asi8"):
            holds: Any = (str(index.dtype), index.freqstr, index.asi8.tobytes())
        elif hasattr(index, "step"):
            holds = (index.start, index.stop, index.step)
        else:
            return index
        return self._known.setdefault((repr(index.name), holds), index)

    def timeline(self, index: Any) -> Timeline:
        """Where an index ends; the same object for the same index."""
        if id(index) not in self._timelines:
            self._timelines[id(index)] = index, timeline(index)  # which keeps its place in memory
        return self._timelines[id(index)][1]


def written(index: Any) -> list[str]:
    """Labels as text: dates no finer than they need to be, numbers without needless digits."""
    dates = isinstance(index, pd.DatetimeIndex) and index.tz is None
    for unit, form in (("D", "%Y-%m-%d"), ("min", "%Y-%m-%d %H:%M"), ("s", "%Y-%m-%d %H:%M:%S")):
        if dates and (index == index.floor(unit)).all():
            return list(index.strftime(form))
    return [f"{one:.16g}" if isinstance(one, float) else str(one) for one in index]


def timeline(index: Any) -> Timeline:
    """Read where a series' pandas ``index`` ends; raise if its dates or periods go backwards."""
    last, rows, name = index[-1], len(index), index.name
    if isinstance(index, pd.DatetimeIndex | pd.PeriodIndex):
        _check_order(index)
    if isinstance(index, pd.PeriodIndex):
        if (np.diff(index.asi8) == index.freq.n).all():
            return Timeline("periods", last, index.freq, rows, name)
    elif isinstance(index, pd.DatetimeIndex):
        freq = index.freq
        if freq is None and rows >= 3:
            freq = pd.DatetimeIndex(index, freq="infer").freq
        if freq is not None:
            return Timeline("dates", last, freq, rows, name)
    elif isinstance(index, pd.RangeIndex):
        return Timeline("integers", int(last), int(index.step), rows, name)
    elif pd.api.types.is_integer_dtype(index.dtype) and rows >= 2 and not index.hasnans:
        steps = np.diff(index.to_numpy())
        if steps[0] != 0 and (steps == steps[0]).all():
            return Timeline("integers", int(last), int(steps[0]), rows, name)
    return Timeline("rows", None, None, rows, name)


def check_aligned(index: Any, other: Any) -> None:
    """Raise if two date or period indexes, of ``y`` and of ``X``, name different times."""
    times = pd.DatetimeIndex | pd.PeriodIndex
    if not (isinstance(index, times) and isinstance(other, times)):
        return
    differ = np.flatnonzero(np.asarray(index != other))
    if differ.size:
        row = differ[0]
        raise ValueError(
            f"the indexes of y and X name different times: row {row} is {index[row]!s} "
            f"in y and {other[row]!s} in X. Rows are matched by position; reindex "
            f"X to the index of y, or pass it without an index (as a NumPy array)."
        )


def _check_order(index: Any) -> None:
    """Raise where dates or periods are missing or go backwards."""
    if index.hasnans:
        row = int(np.flatnonzero(index.isna())[0])
        raise ValueError(
            f"the index of y has no date at row {row} (NaT). Remove that row or give it its date."
        )
    if not index.is_monotonic_increasing:
        row = int(np.flatnonzero(np.diff(index.asi8) < 0)[0]) + 1
        remedy = "use y.sort_index()."
        if index.has_duplicates:  # which sorting would mix
            remedy = (
                "dates repeat themselves, so if these are several series below each other, fit "
                "each on its own (echofold.long_format), else use y.sort_index()."
            )
        raise ValueError(
            f"the index of y goes back in time at row {row}: {index[row]!s} comes after "
            f"{index[row - 1]!s}. Rows must be in time order; {remedy}"
        )


def words_of_dates(index: Any) -> tuple[str, ...]:
    """What users should know about the dates of a series, if they cannot be continued."""
    if not isinstance(index, pd.DatetimeIndex | pd.PeriodIndex) or len(index) < 3:
        return ()
    if index.has_duplicates:
        again = np.flatnonzero(index.duplicated())
        return (
            f"The dates of y repeat themselves in {len(again)} of {len(index)} rows, "
            f"first in row {again[0]} with {index[again[0]]!s}. Rows are taken to be one step "
            f"apart, and forecasts are numbered from {len(index)} on. Several series in one table "
            f"belong into a column each; else y.groupby(level=0).mean() leaves one row "
            "for each date.",
        )
    every, even = _without_holes(index)
    if every is None:
        return (
            f"The dates of y are not evenly spaced. Rows are taken to be one step apart, "
            f"and forecasts are numbered from {len(index)} on; y.resample(...).mean() "
            "makes the dates even.",
        )
    holes = every[~every.isin(index)]
    if not len(holes):
        return ()
    return (
        f"{len(holes)} of {len(every)} dates of y {'is' if len(holes) == 1 else 'are'}"
        f" missing, the first {holes[0]!s} (frequency {every.freqstr!r}). Rows are taken to "
        f"be one step apart, and forecasts are numbered from {len(index)} on; {even} makes rows of "
        "them whose values are missing (NaN), which are neither trained on nor scored.",
    )


def _without_holes(index: Any) -> tuple[Any, str]:
    """All times of an even spacing that has these, None if there is none; the code for them."""
    if isinstance(index, pd.PeriodIndex):
        every = pd.period_range(index[0], index[-1], freq=index.freq)
        even = "y.reindex(pd.period_range(y.index[0], y.index[-1]))"
        return (every if index.isin(every).all() else None), even
    if index.freq is not None:
        return index, ""
    freq = spacing(clock_times(index))
    return (date_grid(index, freq), f"y.asfreq({freq!r})") if freq else (None, "")


def clock_times(index: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Dates without a zone, as far apart as they are meant."""
    plain = index.tz_localize(None)  # a day is a day, though clocks change
    if index.tz is not None and (plain - plain.normalize()).nunique() > 1:
        plain = index.tz_convert("UTC").tz_localize(None)  # an hour is an hour
    return plain


# --- even spacing ---------------------------------------------------------------------------------

DAY, NONE = pd.Timedelta(days=1), pd.Timedelta(0)
# Days that a step takes at most; a grid is made only if it cannot be much longer than the data.
LASTS = {"Y": 366, "Q": 92, "M": 31, "W": 7, "B": 1.5, "D": 1}
MOST_ROWS = 2  # rows of an even grid for each row of the data
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # in a second, by pandas' unit
SECONDS = 86_400  # in a day


def spacing(dates: pd.DatetimeIndex) -> str | None:
    """Pandas' name of the coarsest spacing that has all of these sorted dates on it, or None."""
    inferred = pd.DatetimeIndex(dates, freq="infer").freq if len(dates) >= 3 else None
    if inferred is not None:
        return inferred.freqstr
    steps = steps_between(dates)
    values, counts = np.unique(steps, return_counts=True)
    usual = int(values[counts.argmax()])
    step = pd.Timedelta(usual, unit=dates.unit)
    # pandas itself would call a day 24 hours.
    fixed = f"{step // DAY}D" if step % DAY == NONE else to_offset(step).freqstr
    if step < DAY:
        few = days_between(dates) / (step / DAY) + 1 <= MOST_ROWS * len(dates)
        return fixed if few and not (steps % usual).any() else None
    month, week = f"{dates[0]:%b}".upper(), f"W-{dates[0]:%a}".upper()
    anchored = [f"{each}-{month}" for each in ("YS", "YE", "2QS", "2QE", "QS", "QE")]
    for freq in (*anchored, "2MS", "2ME", "MS", "ME", f"2{week}", week, "B", fixed, "D"):
        double = 2 if freq[0] == "2" else 1
        lasts = step / DAY if freq == fixed else LASTS[freq.lstrip("2")[0]] * double
        if days_between(dates) / lasts > MOST_ROWS * len(dates):
            continue
        every = date_grid(dates, freq)
        if dates.isin(every).all() and len(every) <= MOST_ROWS * len(dates):
            return freq
    return None


def date_grid(dates: pd.DatetimeIndex, freq: str) -> pd.DatetimeIndex:
    """All dates of a spacing from the first of sorted dates to the last."""
    return pd.date_range(dates[0], dates[-1], freq=freq, unit=dates.unit)


def steps_between(index: pd.Index) -> np.ndarray:
    """Steps between sorted dates, in ticks of their unit, or between sorted numbers."""
    if not isinstance(index, pd.DatetimeIndex):
        return np.diff(index.to_numpy())
    # Without a sign, for two nanosecond dates may be further apart than signed integers reach.
    return np.diff(index.asi8.view(np.uint64))


def days_between(dates: pd.DatetimeIndex) -> float:
    """Days from the first of sorted dates to the last."""
    return (int(dates.asi8[-1]) - int(dates.asi8[0])) / (TICKS[dates.unit] * SECONDS)
