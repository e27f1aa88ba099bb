"""Dates with holes: how users are told, and what to do about it.

Rows are taken to be one step apart, whatever their dates say. Where dates have no frequency that
pandas can infer, something is missing between them, or they are irregular.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

MOSTLY = 0.5  # share of steps that must be the shortest one, for dates to lie on a grid


class Grid(NamedTuple):
    """Evenly spaced dates: the frequency, and how many steps lie between neighbouring rows."""

    freq: Any
    steps: np.ndarray


def words_of_dates(index: Any, argument: str) -> tuple[str, ...]:
    """What users should know about the dates of a series, if they cannot be continued.

    Examples
    --------
    >>> import pandas as pd
    >>> days = pd.date_range("2024-01-01", periods=6, freq="D").delete(2)
    >>> words_of_dates(days, "y")[0].partition(".")[0]
    "1 of 6 dates of y is missing, the first 2024-01-03 00:00:00 (frequency 'D')"
    """
    import pandas as pd

    if not isinstance(index, pd.DatetimeIndex | pd.PeriodIndex) or len(index) < 3:
        return ()
    if index.has_duplicates:
        again = np.flatnonzero(index.duplicated())
        return (
            f"The dates of {argument} repeat themselves in {len(again)} of {len(index)} rows, "
            f"first in row {again[0]} with {index[again[0]]!s}. Rows are taken to be one step "
            f"apart, and forecasts are numbered from {len(index)} on. Several series in one table "
            f"belong into a column each; else {argument}.groupby(level=0).mean() leaves one row "
            "for each date.",
        )
    grid = _grid_of_periods(index) if isinstance(index, pd.PeriodIndex) else _grid_of_dates(index)
    if grid is None:
        return (
            f"The dates of {argument} are not evenly spaced. Rows are taken to be one step apart, "
            f"and forecasts are numbered from {len(index)} on; {argument}.resample(...).mean() "
            "makes the dates even.",
        )
    missing = int((grid.steps - 1).sum())
    if not missing:
        return ()
    row, name = int(np.flatnonzero(grid.steps > 1)[0]), grid.freq.freqstr
    even = f"{argument}.asfreq({name!r})"
    if isinstance(index, pd.PeriodIndex):
        name = index.freqstr
        even = f"{argument}.reindex(pd.period_range({argument}.index[0], {argument}.index[-1]))"
    return (
        f"{missing} of {missing + len(index)} dates of {argument} {'is' if missing == 1 else 'are'}"
        f" missing, the first {index[row] + grid.freq!s} (frequency {name!r}). Rows are taken to "
        f"be one step apart, and forecasts are numbered from {len(index)} on; {even} makes rows of "
        "them whose values are missing (NaN), which are neither trained on nor scored.",
    )


def _grid_of_periods(index: Any) -> Grid | None:
    """Periods of any frequency lie on a grid, unless they are parts of their own multiple."""
    steps, rest = np.divmod(np.diff(index.asi8), index.freq.n)
    return None if rest.any() else Grid(index.freq, steps)


def _grid_of_dates(index: Any) -> Grid | None:
    """The grid that dates in order, without repetitions, lie on, if there is one."""
    import pandas as pd

    offset = index.freq or pd.DatetimeIndex(index, freq="infer").freq
    if offset is not None:
        return Grid(offset, np.ones(len(index) - 1, dtype=int))
    local = index.tz_localize(None)  # a day is a day, though clocks change
    days = local.normalize()
    if (local - days).nunique() == 1:
        return _of_days(local, days)
    return _of_equal_steps(index)  # an hour is an hour


def _of_days(index: Any, days: Any) -> Grid | None:
    """Dates at the same time of day: months, working days, or so many days."""
    import pandas as pd

    months = 12 * days.year.to_numpy() + days.month.to_numpy()
    for at_end, offset in ((days.is_month_start, "MonthBegin"), (days.is_month_end, "MonthEnd")):
        if at_end.all():
            apart = np.diff(months)
            least = int(np.gcd.reduce(apart))
            return _mostly(Grid(getattr(pd.offsets, offset)(least), apart // least))
    at = days.to_numpy().astype("datetime64[D]")
    if (days.day_of_week < 5).all() and (np.diff(at).astype(int) == 1).any() and len(at) > 5:
        return _mostly(Grid(pd.offsets.BDay(), np.busday_count(at[:-1], at[1:])))
    return _of_equal_steps(index)


def _of_equal_steps(index: Any) -> Grid | None:
    """Dates that all lie a multiple of the shortest step apart."""
    import pandas as pd

    apart = np.diff(index.asi8)
    steps, rest = np.divmod(apart, apart.min())
    if rest.any():
        return None
    step = pd.Timedelta(apart.min(), unit=index.unit)
    whole, rest = divmod(step, pd.Timedelta(days=1))
    offset = pd.tseries.frequencies.to_offset(step) if rest else pd.offsets.Day(whole)
    return _mostly(Grid(offset, steps))


def _mostly(grid: Grid) -> Grid | None:
    """A grid, if the most of its dates are there one after the other."""
    return grid if (grid.steps == 1).mean() >= MOSTLY else None
