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
from typing import Any, NamedTuple

import numpy as np

MOSTLY = 0.5  # share of steps that must be the shortest one, for dates to lie on a grid


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
        import pandas as pd

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
    import pandas as pd

    dates = isinstance(index, pd.DatetimeIndex) and index.tz is None
    for unit, form in (("D", "%Y-%m-%d"), ("min", "%Y-%m-%d %H:%M"), ("s", "%Y-%m-%d %H:%M:%S")):
        if dates and (index == index.floor(unit)).all():
            return list(index.strftime(form))
    return [f"{one:.16g}" if isinstance(one, float) else str(one) for one in index]


def timeline(index: Any) -> Timeline:
    """Read where a series' pandas ``index`` ends; raise if its dates or periods go backwards."""
    import pandas as pd

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
    import pandas as pd

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


class Grid(NamedTuple):
    """Evenly spaced dates: the frequency, and how many steps lie between neighbouring rows."""

    freq: Any
    steps: np.ndarray


def words_of_dates(index: Any) -> tuple[str, ...]:
    """What users should know about the dates of a series, if they cannot be continued."""
    import pandas as pd

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
    grid = _grid_of(index)
    if grid is None:
        return (
            f"The dates of y are not evenly spaced. Rows are taken to be one step apart, "
            f"and forecasts are numbered from {len(index)} on; y.resample(...).mean() "
            "makes the dates even.",
        )
    missing = int((grid.steps - 1).sum())
    if not missing:
        return ()
    row, name = int(np.flatnonzero(grid.steps > 1)[0]), grid.freq.freqstr
    even = f"y.asfreq({name!r})"
    if isinstance(index, pd.PeriodIndex):
        name = index.freqstr
        even = "y.reindex(pd.period_range(y.index[0], y.index[-1]))"
    return (
        f"{missing} of {missing + len(index)} dates of y {'is' if missing == 1 else 'are'}"
        f" missing, the first {index[row] + grid.freq!s} (frequency {name!r}). Rows are taken to "
        f"be one step apart, and forecasts are numbered from {len(index)} on; {even} makes rows of "
        "them whose values are missing (NaN), which are neither trained on nor scored.",
    )


def _grid_of(index: Any) -> Grid | None:
    """The grid that times in order, without repetitions, lie on, if there is one."""
    import pandas as pd

    if isinstance(index, pd.PeriodIndex):  # none for parts of a multiple of a period
        steps, rest = np.divmod(np.diff(index.asi8), index.freq.n)
        return None if rest.any() else Grid(index.freq, steps)
    offset = index.freq or pd.DatetimeIndex(index, freq="infer").freq
    if offset is not None:
        return Grid(offset, np.ones(len(index) - 1, dtype=int))
    local = index.tz_localize(None)  # a day is a day, though clocks change
    days = local.normalize()
    if (local - days).nunique() == 1:
        grid = _of_calendar(days) or _of_equal_steps(local)
    else:
        grid = _of_equal_steps(index)  # an hour is an hour
    return grid if grid and (grid.steps == 1).mean() >= MOSTLY else None


def _of_calendar(days: Any) -> Grid | None:
    """The grid of dates that are first or last days of months, or working days."""
    import pandas as pd

    months = np.diff(12 * days.year.to_numpy() + days.month.to_numpy())
    for at_end, offset in ((days.is_month_start, "MonthBegin"), (days.is_month_end, "MonthEnd")):
        if at_end.all():
            least = int(np.gcd.reduce(months))
            return Grid(getattr(pd.offsets, offset)(least), months // least)
    at = days.to_numpy().astype("datetime64[D]")
    if (days.day_of_week < 5).all() and (np.diff(at).astype(int) == 1).any() and len(at) > 5:
        return Grid(pd.offsets.BDay(), np.busday_count(at[:-1], at[1:]))
    return None


def _of_equal_steps(index: Any) -> Grid | None:
    """The grid of dates that all lie a multiple of the shortest step apart."""
    import pandas as pd

    apart = np.diff(index.asi8)
    steps, rest = np.divmod(apart, apart.min())
    if rest.any():
        return None
    step = pd.Timedelta(apart.min(), unit=index.unit)
    whole, rest = divmod(step, pd.Timedelta(days=1))
    return Grid(pd.tseries.frequencies.to_offset(step) if rest else pd.offsets.Day(whole), steps)
