"""The even spacing that dates were meant to have, and one row for each step of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from pandas.tseries.frequencies import to_offset

from echofold._data.dates import (
    DAY,
    LASTS,
    MOST_ROWS,
    NONE,
    SECONDS,
    TICKS,
    date_grid,
    days_between,
    spacing,
    steps_between,
    written,
)
from echofold._data.text import Note, count, inflected, shown
from echofold.cli.reading.numbers import whole
from echofold.cli.reading.table import FileTable

SINGLE = {
    "B": "on business days", "D": "daily", "h": "hourly", "M": "monthly", "Q": "quarterly",
    "Y": "yearly",
}  # fmt: skip
MONTHS = {"M": 1, "Q": 3, "Y": 12}
WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
STEPS = [
    size * count for size, counts in (
        (1, (1, 2, 5, 10, 15, 20, 30)), (60, (1, 2, 3, 5, 6, 10, 12, 15, 20, 30)),
        (3600, (1, 2, 3, 4, 6, 8, 12, 24)),
    ) for count in counts
]  # fmt: skip
PERIODS = {"h": "h", "D": "D", "W-MON": "W", "MS": "M", "QS-JAN": "Q", "YS-JAN": "Y"}  # of starts
FILLS = {  # what is done about missing values, and said of it
    "leave": "left out, neither learned from nor scored",
    "interpolate": "filled along straight lines",
    "forward": "filled with the value before",
}
# What stands in for a missing value says nothing about a series. With more than a fifth of these a
# network would be driven by them; in a gap of a tenth validation stretches are as long as it.
MOST_FILLED, LONGEST_GAP, SHORT = 0.2, 0.1, 5  # shares of the values; steps that are always short
LASTING = {
    "minute": 60, "hour": 3600, "day": SECONDS, "week": 7 * SECONDS, "month": 30 * SECONDS,
    "quarter": 91 * SECONDS, "year": 365 * SECONDS,
}  # fmt: skip
HOUR = pd.Timedelta(hours=1)
BACK = (3, 4, 9, 10, 11)  # months in which clocks go back, south and north of the equator
NIGHT = 3  # the last hour that they repeat
Other = Callable[[], str | None]  # names another column that may hold dates


def nearest_spacing(dates: pd.DatetimeIndex) -> tuple[pd.DatetimeIndex, str | None]:
    """Sorted dates and their spacing: as they are, or moved to where they are evenly spaced."""
    every = spacing(dates)
    return (dates, every) if every else _by_period(dates) or _rounded(dates) or (dates, None)


def _by_period(dates: pd.DatetimeIndex) -> tuple[pd.DatetimeIndex, str] | None:
    """Dates at the start of their period, if that is even, as for last trading days of months."""
    step = _median_seconds(dates) / SECONDS
    limits = zip((0.1, 2, 10, 45, 135, 500), PERIODS.items(), strict=True)
    freq, period = next((one for most, one in limits if step < most), ("", ""))
    if not freq:
        return None
    moved = dates.to_period(period).to_timestamp().as_unit(dates.unit)
    few = days_between(moved) / LASTS.get(period, 1 / 24) <= 1.5 * len(moved)
    if not (moved.is_unique and few and len(date_grid(moved, freq)) <= 1.5 * len(moved)):
        return None
    days = spacing(moved) if period == "D" else None  # may be business days
    return moved, days or freq


def _rounded(dates: pd.DatetimeIndex) -> tuple[pd.DatetimeIndex, str] | None:
    """Dates moved to the nearest point of a usual grid, if each is near one of its own."""
    usual = _usual_step(dates)
    if usual is None:
        return None
    moved = dates.round(usual)
    near = np.abs((dates - moved).total_seconds()).max() <= usual.total_seconds() / 3
    few = days_between(moved) / (usual / DAY) + 1 <= MOST_ROWS * len(moved)
    every = spacing(moved) if near and few and moved.is_unique else None
    return (moved, every) if every else None


def _usual_step(dates: pd.DatetimeIndex) -> pd.Timedelta | None:
    """The step in whole seconds, minutes, hours or one day that is near the median step."""
    median = _median_seconds(dates)
    near = min(STEPS, key=lambda step: abs(step - median))
    return pd.Timedelta(seconds=near) if abs(near - median) <= 0.1 * near else None


def words_of(freq: str) -> str:
    """A spacing in words, as ``weekly (Mondays)``."""
    offset = to_offset(freq)
    name, count = offset.rule_code.split("-")[0], offset.n
    kind = name if name in SINGLE else name.removeprefix("B")[:1]
    if name == "W":
        return f"weekly ({WEEKDAYS[offset.weekday]})" if count == 1 else f"every {count} weeks"
    if count == 1 and kind in SINGLE:
        return SINGLE[kind]
    if months := MONTHS.get(kind, 0) * count:
        years = f"every {months // 12} years" if months % 12 == 0 else f"every {months} months"
        return "every half-year" if months == 6 else years
    try:
        return f"every {_lasting(pd.Timedelta(offset))}"
    except ValueError:
        return f"every {freq}"


def _lasting(step: pd.Timedelta) -> str:
    """A duration in words."""
    seconds = step.total_seconds()
    for unit, size in (("day", SECONDS), ("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds >= size and seconds % size == 0:
            return inflected(int(seconds // size), unit, f"{{}} {unit}s")
    return f"{seconds:g} seconds"


def _median_seconds(dates: pd.DatetimeIndex) -> float:
    """The usual step between sorted dates."""
    return float(np.median(steps_between(dates))) / TICKS[dates.unit]


def _refuse_gaps(known: pd.DataFrame, source: str) -> None:
    """Raise if rows would be more than twice as many without gaps, as with one mistyped year."""
    index, rows = known.index, known[1].to_numpy(dtype=int)
    steps = steps_between(index)
    # Numbers stand on a grid of their smallest step; of dates that vary, half the steps decide.
    step = float(np.median(steps) if isinstance(index, pd.DatetimeIndex) else steps.min())
    count = float(steps.sum(dtype=float)) / step + 1
    if count <= MOST_ROWS * len(index):
        return
    jump = int(steps.argmax())
    # The mistyped one is on the side with fewer rows.
    odd = jump if jump + 1 < len(index) - (jump + 1) else jump + 1
    before, after = written(index[[jump, jump + 1]])
    # Nights and weekends are many jumps alike; a mistyped year is a large part of all the time.
    mistyped = count < 10 * float(steps[jump]) / step
    remedy = f"correct row {rows[odd]} if it is mistyped, or " if mistyped else ""
    raise ValueError(
        f"{source} is mostly gaps: evenly spaced, its {len(index):,} rows would become "
        f"{int(count):,}. {shown(index.name)} jumps from {before} (row {rows[jump]}) to {after} "
        f"(row {rows[jump + 1]}): {remedy}take rows as evenly spaced with --date none."
    )


def filled_by(fill: str, known: pd.Series) -> pd.Series:
    """A series with its missing values as ``fill`` says."""
    if fill == "interpolate":
        return known.interpolate()  # by row, not by date: months then count alike
    return known.ffill() if fill == "forward" else known


def evenly(
    known: pd.DataFrame,
    table: FileTable,
    how: str | None,
    other: Other,
    note: Note,
    follows: str | None = None,
) -> tuple[pd.DataFrame, str | None]:
    """Rows in time order with one for each step, empty where the table has none, or the error.

    Column 0 of ``known`` holds values, 1 the numbers of rows in the table, others inputs. ``how``
    says what is taken of several rows for one date. What ``follows`` a series has its spacing.
    """
    source = table.name
    if follows is not None and isinstance(known.index, pd.DatetimeIndex):
        known.index = _on_grid(known.index, follows, source)
    if not known.index.is_monotonic_increasing:
        note(f"the rows of {source} are not in time order; they were sorted by date.")
        known = known.iloc[known.index.argsort(kind="stable")]
    several = known.index.has_duplicates
    if several:
        known = _one_for_each(known, table, how, other, note)
    if follows is not None and isinstance(known.index, pd.DatetimeIndex):
        grid = date_grid(known.index, follows)
        return known.reindex(grid.rename(known.index.name)), follows
    if len(known) < 2 and not several:
        note(f"{source} has one date, which tells no spacing: what follows is numbered by rows.")
        return known.set_axis(pd.RangeIndex(1, 2, name="row")), None
    if len(known) < 2:
        raise ValueError(
            f"{source} has {written(known.index)[0]} in {shown(known.index.name)} and no other "
            "time; name another column with --date, or take rows as evenly spaced with --date none."
        )
    if isinstance(known.index, pd.DatetimeIndex):
        _refuse_gaps(known, source)
        every = spacing(known.index)
        if every is None:
            known.index, every = _moved(known.index, source, note)
        known = known.reindex(date_grid(known.index, every).rename(known.index.name))
    else:
        known, every = _numbered(known, source), None
    empty = known[1].isna()
    if several and how == "sum" and empty.any():
        dates = inflected(empty.sum(), "1 date has", "{:,} dates have")
        first = written(known.index[empty.to_numpy()][:1])[0]
        note(f"{dates} no row, the first {first}: their sums are 0.")
        known.loc[empty, 0] = 0.0
    return known, every


def _on_grid(dates: pd.DatetimeIndex, every: str, source: str) -> pd.DatetimeIndex:
    """Dates on the grid of a spacing: any day of a month stands for its start, or for its end."""
    step = to_offset(every)
    if every[0] in "MQY":
        back = "S" in every.partition("-")[0]
        roll = step.rollback if back else step.rollforward
        dates = pd.DatetimeIndex([roll(one) for one in dates.normalize()], name=dates.name)
    off = [one for one in dates if not step.is_on_offset(one)]
    if off:
        raise ValueError(
            f"{source} holds {written(pd.DatetimeIndex(off[:1]))[0]}, but the series so far is "
            f"{words_of(every)}; correct the date, or name another column with --date."
        )
    return dates


def _one_for_each(
    known: pd.DataFrame, table: FileTable, how: str | None, other: Other, note: Note
) -> pd.DataFrame:
    """One of several rows for a date: as asked for, without copies, or where clocks go back."""
    source = table.name
    doubled = known.index.duplicated(keep=False)
    if how is not None:
        dates = inflected(known.index[doubled].nunique(), "1 date has", "{} dates have")
        taken = {"mean": "their mean is", "sum": "their sum is"}.get(how, f"the {how} is")
        note(f"{dates} several rows in {source}; {taken} taken (--duplicates).")
        return _joined(known, how)
    copies = table.repeated()[known[1].to_numpy(dtype=int) - 1] & doubled
    if copies.any():
        first = int(known[1].to_numpy()[copies][0])
        rows = inflected(copies.sum(), "1 row repeats another", "{} rows repeat others")
        note(f"{rows} of {source} cell by cell, the first in row {first}: left out.")
        known = known[~copies]
        doubled = known.index.duplicated(keep=False)
    twice = known.index[doubled].unique()
    if not len(twice):
        return known
    if _clocks_went_back(known.index, doubled):
        hours = twice.floor("h").unique()
        more = f", and {len(hours) - 1} such hours of other years," if len(hours) > 1 else ""
        note(
            f"the hour from {written(hours[:1])[0]} is there twice{more} as when clocks go back: "
            "averaged."
        )
        return _joined(known, "mean")
    both = np.sort(known[1][known.index == twice[0]].to_numpy(dtype=int))
    more = f", and for {count(len(twice) - 1, 'other date')}" if len(twice) > 1 else ""
    column = other()
    remedy = f"take the dates of {shown(column)} with --date, " if column else ""
    raise ValueError(
        f"{source} has more than one row for {written(twice[:1])[0]} (rows {both[0]} and "
        f"{both[1]}){more}; {remedy}keep one row for each date, or say what is taken of them with "
        "--duplicates mean, first, last or sum."
    )


def _joined(known: pd.DataFrame, how: str) -> pd.DataFrame:
    """One row for each date; inputs are averaged where values are summed or averaged."""
    groups = known.groupby(level=0)
    if how in ("first", "last"):
        return groups.nth(0 if how == "first" else -1)
    joined = groups.mean()
    joined[1] = groups[1].first()
    if how == "sum":
        joined[0] = groups[0].sum(min_count=1)
    return joined


def _clocks_went_back(index: pd.Index, doubled: np.ndarray) -> bool:
    """Whether dates are there twice as local time has them: a whole hour at night, once a year."""
    steps = steps_between(index.unique())
    if not isinstance(index, pd.DatetimeIndex) or not len(steps):
        return False
    step = pd.Timedelta(int(np.median(steps)), unit=index.unit)
    twice = index[doubled]
    hours = twice.floor("h").unique()
    return bool(
        step <= HOUR
        and HOUR % step == NONE
        and hours.month.isin(BACK).all()
        and (hours.hour <= NIGHT).all()
        and hours.year.is_unique
        and len(twice) == 2 * twice.nunique() == 2 * len(hours) * (HOUR // step)
    )


def _moved(dates: pd.DatetimeIndex, source: str, note: Note) -> tuple[pd.DatetimeIndex, str]:
    """Dates that are nearly even on the grid that was meant, or the error about them."""
    ways = {
        "moved to the start of their period to be evenly": _by_period,
        "rounded, for they are nearly": _rounded,
    }
    step = _usual_step(dates)
    for words in reversed(ways) if step is not None and step < DAY else ways:
        if found := ways[words](dates):
            note(f"dates are {words} {words_of(found[1])}.")
            return found[0].rename(dates.name), found[1]
    near = min(LASTING, key=lambda one: abs(np.log(LASTING[one] / _median_seconds(dates))))
    raise ValueError(
        f"the dates in {shown(dates.name)} of {source} are not evenly spaced: bring them to one "
        f"row for each {_lasting(step) if step else near} first, or take rows as evenly spaced "
        "with --date none."
    )


def _numbered(known: pd.DataFrame, source: str) -> pd.DataFrame:
    """The same for rows that are numbered instead of dated."""
    numbers, name = known.index.to_numpy(), known.index.name
    steps = np.diff(numbers)
    if whole(numbers):
        _refuse_gaps(known, source)
    if not whole(numbers) or (steps % steps.min()).any():
        raise ValueError(
            f"column {shown(name)} of {source} holds neither dates nor evenly spaced whole "
            "numbers; name another with --date, or take rows as evenly spaced with --date none."
        )
    first, last, step = int(numbers[0]), int(numbers[-1]), int(steps.min())
    return known.reindex(pd.RangeIndex(first, last + 1, step, name=name))


def without_holes(
    known: pd.Series,
    fill: str,
    source: str,
    note: Note,
    ahead: bool = False,
    follows: bool = False,
) -> pd.Series:
    """Cut missing values off the ends, the last unless ``ahead`` of time; ``fill`` those inside."""
    there = np.flatnonzero(known.notna())
    if not len(there):
        raise ValueError(f"column {shown(known.name)} of {source} holds no numbers.")
    first, last = there[[0, -1]]
    for empty, where in ((first, "first"), (len(known) - 1 - last, "last")):
        if empty and not (ahead and where == "last"):
            last_one = f": the series ends at {written(known.index[[last]])[0]}"
            end = last_one if where == "last" else ""
            rows, are = inflected(empty, "row has", "{} rows have"), inflected(empty, "is", "are")
            note(f"the {where} {rows} no value and {are} left out{end}.")
    known = known.iloc[first : last + 1]
    missing, size = np.flatnonzero(known.isna()), len(known)
    if not len(missing):
        return known
    dates, are = known.index, inflected(len(missing), "is", "are")
    first_date = written(dates[missing[:1]])[0]
    text = f"{len(missing)} of {size:,} values {are} missing, the first at {first_date}"
    if fill == "none":
        raise ValueError(f"{source}: {text}; fill them, or use another --fill than none.")
    gap = max(np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1), key=len)
    many = len(missing) > MOST_FILLED * size or len(gap) > max(SHORT, LONGEST_GAP * size)
    if many and fill != "forward" and not follows:
        start, end = written(dates[gap[[0, -1]]])
        where = f"{len(gap):,} of them from {start} to {end}" if len(gap) > 1 else f"one at {start}"
        raise ValueError(
            f"{source}: {len(missing):,} of {size:,} values are missing, {where}, too many to "
            "learn from the others; cut the file to a part without gaps, repeat the value before "
            "each gap with --fill forward, or take rows as evenly spaced with --date none."
        )
    note(f"{text}; {FILLS[fill]} (see --fill).")
    return filled_by(fill, known)
