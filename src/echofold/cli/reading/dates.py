"""Dates in columns: recognising them, and the even spacing they were meant to have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from echofold.cli.reading.gaps import MOST_ROWS, SECONDS, TICKS, days_between, steps_between
from echofold.cli.reading.quote import one_line, shown
from echofold.cli.reading.table import each_cell

DAYS = (
    "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%m-%d-%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d",
    "%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y",
    "%d-%b-%Y", "%d-%b-%y",
)  # fmt: skip
TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
MONTHS = ("%b %Y", "%B %Y", "%b-%Y", "%b-%y", "%m/%Y", "%m.%Y", "%Y/%m", "%YM%m", "%Y")
OFFSET = re.compile(r"\d{2}:?\d{2}.*(Z|[+-]\d{2}:?\d{2})$")
QUARTER = re.compile(r"(\d{4})[- ]?Q([1-4])", re.IGNORECASE)
WEEK = re.compile(r"\d{4}-?W\d{2}")
WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
DAY = pd.Timedelta(days=1)
DIGIT = re.compile(r"\d")
YEARS = 1500, 2300
NO_DATE = 0.1  # share of cells that may be something else in a column of dates
LONGEST = 100  # characters of a date
# Days that a step takes at most; a grid is made only if it cannot be much longer than the file.
LASTS = {"Y": 366, "Q": 92, "M": 31, "W": 7, "B": 1.5, "D": 1}


class Spacing(NamedTuple):
    """An even spacing: pandas' name of it, ours, and the steps in its seasons, the shortest first.

    None for seasons that the calendar does not tell, empty where there are none.
    """

    freq: str
    words: str
    seasons: tuple[int, ...] | None


def parse(column: pd.Series, form: str | None, note: Callable[[str], None]) -> pd.Series:
    """Dates of a column, NaT where a cell is none or its year is none of `YEARS`."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        dates = pd.DatetimeIndex(column)
    elif form is not None:
        dates = _formatted(_brief(column), form)
    else:
        dates = _guess(_brief(column), str(column.name), note)
    dates = _plausible(dates)
    if dates.tz is not None:
        note(f"times in {shown(column.name)} are converted to UTC.")
        dates = dates.tz_convert("UTC").tz_localize(None)
    return pd.Series(dates, index=column.index, name=column.name)


def _brief(column: pd.Series) -> list[str]:
    """Cells, empty where they are too long for a date: pandas makes all as wide as the longest."""
    return [cell if len(cell) <= LONGEST else "" for cell in each_cell(column)]


def _formatted(cells: list[str], form: str) -> pd.DatetimeIndex:
    """Read cells as the user says they are written."""
    try:
        dates = pd.to_datetime(cells, format=form, errors="coerce", utc="%z" in form.lower())
    except Exception as error:  # any, by the way in which the format is wrong
        raise ValueError(
            f"--date-format {shown(form)} cannot be used: {one_line(error)}. Give one such as "
            "'%d/%m/%Y %H:%M'."
        ) from None
    return pd.DatetimeIndex(dates)


def _plausible(dates: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Dates without those of years that nobody means."""
    return dates.where((dates.year >= YEARS[0]) & (dates.year <= YEARS[1]))


def _guess(cells: list[str], name: str, note: Callable[[str], None]) -> pd.DatetimeIndex:
    """Read cells in the way that makes most of them dates, in the best order."""
    sample = [cells[i] for i in np.linspace(0, len(cells) - 1, min(len(cells), 100)).astype(int)]
    readings: dict[str, pd.DatetimeIndex] = {}
    for way in _ways(sample):
        if _read(sample, way).isna().mean() <= NO_DATE:
            readings[way] = _read(cells, way)
            if way in ("quarter", "week", "iso"):
                break  # these have one meaning
    if not readings:
        return pd.DatetimeIndex([pd.NaT] * len(cells))
    best = min(readings, key=lambda way: _faults(readings[way]))
    rivals = sum(_faults(readings[way])[0] == _faults(readings[best])[0] for way in readings)
    there = np.flatnonzero(readings[best].notna())
    if rivals > 1 and len(there):
        last = there[-1]
        note(f"dates in {shown(name)} are read as {best}, so {cells[last]!r} is "
             f"{readings[best][last]:%d %B %Y}; see --date-format.")  # fmt: skip
    return readings[best]


def _ways(sample: list[str]) -> Iterator[str]:
    """Ways to read dates whose marks are in a sample: trying all ninety takes a while a column."""
    if np.mean([DIGIT.search(cell) is None for cell in sample]) > NO_DATE:
        return
    there = {" " if mark.isspace() else mark for mark in "".join(sample)}
    yield from ("quarter", "week", "iso")
    for way in (*(day + time for day in DAYS for time in TIMES), *MONTHS):
        if there.issuperset(re.sub("%.", "", way)):
            yield way


def _read(cells: list[str], way: str) -> pd.DatetimeIndex:
    """Read cells in one way; NaT where it does not fit."""
    zoned = False
    if way == "quarter":
        matches = [QUARTER.fullmatch(cell) for cell in cells]
        cells, way = [f"{m[1]}-{int(m[2]) * 3 - 2}" if m else "" for m in matches], "%Y-%m"
    elif way == "week":
        cells = [cell.replace("-", "") + "-1" if WEEK.fullmatch(cell) else "" for cell in cells]
        way = "%GW%V-%u"
    elif way == "iso":
        cells = [cell if "-" in cell else "" for cell in cells]  # else any number is a year
        zoned, way = any(OFFSET.search(cell) for cell in cells), "ISO8601"
    try:
        dates = pd.to_datetime(cells, format=way, errors="coerce", utc=zoned)
    except ValueError:  # some have a zone that the pattern does not know
        dates = pd.to_datetime(cells, format=way, errors="coerce", utc=True)
    return _plausible(dates)


def _faults(dates: pd.DatetimeIndex) -> tuple[int, int, int]:
    """How far dates are from plausible: not read, going back in time, unevenly spaced."""
    steps = np.diff(dates.dropna().asi8)
    return int(dates.isna().sum()), int((steps < 0).sum()), len(np.unique(steps))


def spacing(dates: pd.DatetimeIndex) -> Spacing | None:
    """The coarsest even spacing that has all of these sorted dates on it, None if there is none."""
    inferred = pd.DatetimeIndex(dates, freq="infer").freq if len(dates) >= 3 else None
    if inferred is not None:
        return describe(inferred.freqstr)
    steps = steps_between(dates)
    values, counts = np.unique(steps, return_counts=True)
    usual = int(values[counts.argmax()])
    step = pd.Timedelta(usual, unit=dates.unit)
    if step < DAY:
        few = days_between(dates) / (step / DAY) + 1 <= MOST_ROWS * len(dates)
        return describe(_fixed(step)) if few and not (steps % usual).any() else None
    month = dates[0].strftime("%b").upper()
    trials = [f"YS-{month}", f"YE-{month}", f"QS-{month}", f"QE-{month}", "MS", "ME"]
    trials += [f"W-{dates[0].strftime('%a').upper()}", "B", _fixed(step), "D"]
    for freq in trials:
        lasts = step / DAY if freq == _fixed(step) else LASTS[freq[0]]
        if days_between(dates) / lasts > MOST_ROWS * len(dates):
            continue
        every = grid(dates, freq)
        if dates.isin(every).all() and len(every) <= MOST_ROWS * len(dates):
            return describe(freq)
    return None


def grid(dates: pd.DatetimeIndex, freq: str) -> pd.DatetimeIndex:
    """All dates of a spacing from the first of sorted dates to the last."""
    return pd.date_range(dates[0], dates[-1], freq=freq, unit=dates.unit)


def _fixed(step: pd.Timedelta) -> str:
    """The name of a fixed step; pandas itself would call a day 24 hours."""
    if step % DAY == pd.Timedelta(0):
        return f"{step // DAY}D"
    return pd.tseries.frequencies.to_offset(step).freqstr


def calendar(dates: pd.DatetimeIndex) -> tuple[pd.DatetimeIndex, Spacing] | None:
    """Dates moved to the start of their hour, day, week, month, quarter or year, if that is even.

    For dates such as the last trading day of each month.
    """
    step = np.median(steps_between(dates)) / (TICKS[dates.unit] * SECONDS)
    for most, period, freq in (
        (0.1, "h", "h"), (2, "D", "D"), (10, "W", "W-MON"), (45, "M", "MS"), (135, "Q", "QS-JAN"),
        (500, "Y", "YS-JAN"),
    ):  # fmt: skip
        if step < most:
            moved = dates.to_period(period).to_timestamp().as_unit(dates.unit)
            few = days_between(moved) / LASTS.get(period, 1 / 24) <= 1.5 * len(moved)
            even = moved.is_unique and few and len(grid(moved, freq)) <= 1.5 * len(moved)
            return (moved, describe(freq)) if even else None
    return None


def describe(freq: str) -> Spacing:
    """Words and seasons of a pandas frequency."""
    offset = pd.tseries.frequencies.to_offset(freq)
    name, count = offset.rule_code.split("-")[0], offset.n
    if name == "W" and count == 1:
        return Spacing(freq, f"weekly ({WEEKDAYS[offset.weekday]})", (52,))
    every = {
        "B": ("on business days", (5,)), "D": ("daily", (7, 365)), "W": ("weekly", (52,)),
        "h": ("hourly", (24, 168)),
        **dict.fromkeys(("MS", "ME", "BMS", "BME"), ("monthly", (12,))),
        **dict.fromkeys(("QS", "QE", "BQS", "BQE"), ("quarterly", (4,))),
        **dict.fromkeys(("YS", "YE", "BYS", "BYE"), ("yearly", ())),
    }  # fmt: skip
    if count == 1 and name in every:
        return Spacing(freq, *every[name])
    try:
        step = pd.Timedelta(offset)
    except ValueError:
        return Spacing(freq, f"every {freq}", None)
    whole = [cycle // step for cycle in (DAY, 7 * DAY) if cycle % step == pd.Timedelta(0)]
    seasons = tuple(length for length in whole if length > 1) if step < DAY else ()
    return Spacing(freq, f"every {_lasting(step)}", seasons or None)


def _lasting(step: pd.Timedelta) -> str:
    """A duration in words."""
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        if step.total_seconds() >= size and step.total_seconds() % size == 0:
            count = int(step.total_seconds() // size)
            return unit if count == 1 else f"{count} {unit}s"
    return f"{step.total_seconds():g} seconds"
