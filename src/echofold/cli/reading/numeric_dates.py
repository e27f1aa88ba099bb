"""Dates that are numbers: years, 194901, seconds since 1970, days of Excel, parts in columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from echofold._data.text import Note, shown
from echofold.cli.reading.calendar import (
    DAY,
    MONTH,
    YEARS,
    centuries,
    local_midnights,
    made,
    named,
    plain,
    role,
    usual,
    weeks,
)
from echofold.cli.reading.dates import brief, time_of_day
from echofold.cli.reading.spacing import Spacing, nearest
from echofold.cli.reading.table import Table

EPOCHS = (  # their name, how many are in a second, and the largest that is read
    ("seconds", 1, 4.2e9), ("milliseconds", 10**3, 4.2e12), ("microseconds", 10**6, 4.2e15),
    ("nanoseconds", 10**9, 4.2e18),
)  # fmt: skip
EARLIEST = 3e8  # seconds, in 1979, of a column whose name says nothing
EXCEL = np.datetime64("1899-12-30", "us")
SERIALS = 10_000, 73_050  # days of Excel, of 1927 to 2099
MONTH_YEAR = re.compile(r"(0[1-9]|1[0-2])[.,](\d{4})")
YEAR_MONTH = re.compile(r"(\d{4})[.,](\d{1,2})")
MOSTLY = 0.9  # share of cells that must be there
HOUR, MINUTE = DAY // 24, DAY // 1440
NUMBERED = re.compile(r"[a-z.]{0,8}\s*0*(\d{1,3})(?:\.0*)?")  # 5, 05, Q1, W05, 5.0
PERIOD = re.compile(r"([MQSA])(\d\d)")
MONTHS = {"M": 1, "Q": 3, "S": 6, "A": 12}
SPAN = re.compile(r"\s*(?:-|–|to)\s*\d.*$")  # from 00:00 to 01:00
ENDING = re.compile(r"HE\s?(\d\d?)", re.IGNORECASE)  # the hour that ends then
FINER = ("month", "quarter", "week", "day", "period")


class Counted(NamedTuple):
    """Dates of numbers, and what the numbers are read as."""

    dates: pd.DatetimeIndex
    meaning: str


def counted(
    table: Table, name: str, likely: bool, first: bool, note: Note, least: float = MOSTLY
) -> pd.Series | None:
    """Dates of a column of numbers, NaT where one is missing; None if they are something else.

    ``likely`` says that the column has a name like a date, ``first`` that it is the first; at
    ``least`` this share of its cells must be there. What numbers are taken for is said.
    """
    values, column = table.numbers(name)[0], table.frame[name]
    there = ~np.isnan(values)
    known = values[there]
    if len(known) < 2 or len(known) < least * len(values):
        return None
    steps = np.diff(known)
    rises = _once(known) and (likely or (steps >= 0).all() or (steps <= 0).all())
    ways = (_digits, _months, _years, _fractions, _epoch, _serial)
    for way in ways if rises else ways[:2]:
        for found in way(known, column[there], likely, first):
            every = pd.Series(found.dates, np.flatnonzero(there)).reindex(range(len(values)))
            dates = pd.DatetimeIndex(every)
            if found.meaning:
                row = int(np.flatnonzero(dates.notna())[0])
                note(
                    f"numbers in {shown(name)} are read as {found.meaning}: "
                    f"{shown(column.iloc[row])} is {dates[row].day} {dates[row]:%B %Y}; --date "
                    "none takes rows as evenly spaced."
                )
            return pd.Series(dates, index=column.index, name=name)
    return None


Ways = Iterator[Counted]


def _years(values: np.ndarray, column: pd.Series, likely: bool, first: bool) -> Ways:
    """Whole years, with few left out."""
    if (likely or first) and _between(values, *YEARS) and _whole(values) and _steady(values):
        yield Counted(made(values.astype(int)), "" if likely else "years")


def _digits(values: np.ndarray, column: pd.Series, likely: bool, first: bool) -> Ways:
    """Days such as 20240131, also with hours, minutes and seconds."""
    if not _whole(values):
        return
    for form, low, high in (
        ("%Y%m%d", 15e6, 24e6), ("%Y%m%d%H", 19e8, 21e8), ("%Y%m%d%H%M", 19e10, 21e10),
        ("%Y%m%d%H%M%S", 19e12, 21e12),
    ):  # fmt: skip
        if _between(values, low, high):
            texts = [f"{value:.0f}" for value in values]
            dates = pd.DatetimeIndex(pd.to_datetime(texts, format=form, errors="coerce"))
            if dates.isna().mean() < 1 - MOSTLY:
                yield Counted(dates, "")


def _months(values: np.ndarray, column: pd.Series, likely: bool, first: bool) -> Ways:
    """Months such as 194901, 1949.01 or 01.1949."""
    if _whole(values):
        if _between(values, YEARS[0] * 100, YEARS[1] * 100):
            numbers = values.astype(int)
            if role(str(column.name), "week"):
                dates = weeks(numbers // 100, numbers % 100)
                if dates.notna().all() and even(dates):
                    yield Counted(dates, "a year and a week")
            yield from _monthly(numbers // 100, numbers % 100, "a year and a month")
        return
    if not _between(values, 1, 13) and not _between(values, *YEARS):
        return
    cells = brief(column)
    after = [match for cell in cells if (match := MONTH_YEAR.fullmatch(cell))]
    if len(after) == len(cells):
        month, year = np.array([[int(part) for part in match.groups()] for match in after]).T
        yield from _monthly(year, month, "a month and a year")
        return
    before = [match for cell in cells if (match := YEAR_MONTH.fullmatch(cell))]
    if len(before) == len(cells):
        year = np.array([int(match[1]) for match in before])
        month = _written_months([match[2] for match in before])
        yield from _monthly(year, month, "a year and a month")


def _written_months(texts: list[str]) -> np.ndarray:
    """Months after a point, where 1 is October among 09 and 11, and after 9 without zeros."""
    padded = all(len(text) == 2 or text == "1" for text in texts)
    months = np.array([int(f"{text:0<2}") if padded else int(text) for text in texts])
    if not padded:
        october = np.flatnonzero([text == "1" for text in texts])
        beside = np.r_[0, months, 0]
        months[october[(beside[october] == 9) | (beside[october + 2] == 9)]] = 10
    return months


def _monthly(year: np.ndarray, month: np.ndarray, meaning: str) -> Ways:
    """Months that follow each other, or quarters."""
    fine = (month >= 1) & (month <= 12) & (year >= YEARS[0]) & (year <= YEARS[1])
    counts = year * 12.0 + month
    if fine.all() and _once(counts) and any(_steady(counts, step) for step in (1, 3)):
        yield Counted(made(year, month), meaning)


def _fractions(values: np.ndarray, column: pd.Series, likely: bool, first: bool) -> Ways:
    """Years with fractions, as R counts months and quarters."""
    if not _between(values, *YEARS):
        return
    for parts, middle, near in ((4, 0.0, 0.03), (12, 0.0, 0.07), (12, 0.5, 0.15)):
        counts = values * parts - middle
        whole = np.rint(counts).astype(int)
        if (np.abs(counts - whole) <= near).all() and _steady(whole.astype(float)):
            dates = made(whole // parts, whole % parts * (12 // parts) + 1)
            period = "quarters" if parts == 4 else "months"
            yield Counted(dates, f"years with fractions for {period}")


def _epoch(values: np.ndarray, column: pd.Series, likely: bool, first: bool) -> Ways:
    """Seconds since 1970, or finer."""
    largest = np.max(np.abs(values))
    for name, ticks, most in EPOCHS:
        if largest > most:
            continue
        seconds = values / ticks
        # Whole minutes, or a name: else a number counts something.
        clear = likely or not (values % (60 * ticks)).any()
        likely = _between(seconds, -2.3e9 if likely else EARLIEST, 4.2e9)
        if likely and clear and np.max(np.abs(seconds)) > EARLIEST:
            dates = _stamps(np.datetime64(0, "us"), np.rint(seconds * 1e6))
            days = local_midnights(dates)
            if days is not None and even(days):
                yield Counted(days, f"{name} since 1970, at midnights of a zone")
            elif even(dates):
                yield Counted(dates, f"{name} since 1970")
        return


def _serial(values: np.ndarray, column: pd.Series, likely: bool, first: bool) -> Ways:
    """Days since the end of 1899, with or without a time of day."""
    if not (likely or first) or not _between(values, *SERIALS):
        return
    micros = values * DAY
    for unit, near in ((60, 5), (1, 1)):  # of a fraction with few decimals
        snapped = np.rint(micros / (unit * 1e6)) * (unit * 1e6)
        if np.max(np.abs(snapped - micros)) <= near * 1e6:
            micros = snapped
            break
    dates = _stamps(EXCEL, np.rint(micros))
    every = even(dates)
    # Numbers with a constant step of one, or of none that a calendar has, count something else.
    # Without a name only the unequal lengths of months tell enough.
    months = every is not None and every.freq[0] in "MQY"
    if every is not None and every.seasons is not None and (likely or months):
        yield Counted(dates, "days of Excel, since the end of 1899")


def even(dates: pd.DatetimeIndex) -> Spacing | None:
    """The spacing of dates in any order, as they are or moved to the start of their periods."""
    known = dates.dropna().unique().sort_values()
    return nearest(known)[1] if len(known) > 2 else None


def _stamps(start: np.datetime64, micros: np.ndarray) -> pd.DatetimeIndex:
    """Dates of microseconds after a start."""
    return usual(pd.DatetimeIndex(start + micros.astype("timedelta64[us]")))


def _between(values: np.ndarray, low: float, high: float) -> bool:
    return bool(((values >= low) & (values <= high)).all())


def _whole(values: np.ndarray) -> bool:
    return not (values % 1).any()


def _once(values: np.ndarray) -> bool:
    """Whether few numbers come twice, as they do where rows are doubled."""
    return len(np.unique(values)) >= MOSTLY * len(values)


def _steady(values: np.ndarray, step: float = 1) -> bool:
    """Whether numbers go on by one step, but for a few."""
    steps = np.diff(np.unique(values))
    return len(steps) > 0 and float(np.median(steps)) == step


def from_parts(table: Table, names: Sequence[str]) -> tuple[list[str], pd.DatetimeIndex] | None:
    """The columns that make dates together, and these; None if there are none."""
    year = named(names, "year")
    columns = {part: named(names, part) for part in (*FINER, "hour", "minute")}
    finer = next((part for part in FINER if columns[part]), None)
    years = _whole_years(table, year) if year and finer else None
    if year is None or finer is None or years is None:
        return None
    number = {part: _numbers(table, name, part) for part, name in columns.items() if name}
    if (number[finer] < 1).any():
        return None
    used = [year, columns[finer]]
    if finer == "week":
        dates = weeks(years, number["week"])
    elif finer == "quarter":
        dates = made(years, number["quarter"] * 3 - 2)
    elif finer == "day":
        dates = made(years, time=(number["day"].clip(max=366) - 1) * DAY)
    else:
        dates = made(years, number[finer], number.get("day", 1))
        used.append(columns["day"])
    for finest, size, most in (("hour", HOUR, 24), ("minute", MINUTE, 59)):
        there = number.get(finest, np.array([-1]))
        if finer != "period" and not dates.is_unique and _between(there, 0, most):
            dates = usual(dates + pd.to_timedelta(there * size, unit="us"))
            used.append(columns[finest])
    return None if dates.isna().any() else ([name for name in used if name], dates)


def with_time(
    table: Table, dates: pd.Series, names: Sequence[str]
) -> tuple[str, pd.DatetimeIndex] | None:
    """The column of times beside one of days that repeat, and both together; None without one."""
    days = pd.DatetimeIndex(dates)
    if days.is_unique or days.hasnans or (days != days.normalize()).any():
        return None
    for name in (named(names, "time"), named(names, "hour")):
        if name is None:
            continue
        told = np.array([_begin(cell) for cell in brief(table.frame[name])])
        times = _clock(table, name) if (told < 0).any() else told
        if times is not None:
            return name, usual(days + pd.to_timedelta(times, unit="us"))
    return None


def _begin(cell: str) -> int:
    """Microseconds of the day when a time, a span or an hour such as HE01 begins."""
    if ending := ENDING.fullmatch(cell):
        return (int(ending[1]) - 1) * HOUR if 1 <= int(ending[1]) <= 25 else -1
    return time_of_day(SPAN.sub("", cell))


def _clock(table: Table, name: str) -> np.ndarray | None:
    """Microseconds of a day of hours, or of digits such as 930, 1530 or 153000."""
    values, wrong = table.numbers(name)
    if len(wrong) or not (_between(values, 0, 240_000) and _whole(values)):
        return None
    numbers = values.astype(np.int64)
    if numbers.max() <= 24:
        return numbers * HOUR
    if numbers.max() > 2400:
        numbers = numbers // 100  # seconds are left out
    fine = (numbers // 100 <= 24) & (numbers % 100 < 60) & (numbers.max() > 100)
    return numbers // 100 * HOUR + numbers % 100 * MINUTE if fine.all() else None


def _whole_years(table: Table, name: str) -> np.ndarray | None:
    """Years of a column, also of two digits; None if a cell is none."""
    values, wrong = table.numbers(name)
    if len(wrong) or not _whole(values):
        return None
    if _between(values, 0, 99):
        return centuries(values.astype(int))
    return values.astype(int) if _between(values, *YEARS) else None


def _numbers(table: Table, name: str, part: str) -> np.ndarray:
    """Numbers of months, weeks and so on, also by name; below 1 where a cell has none.

    Periods such as M01, Q01, S01 or A01 are numbers of the month that they begin with.
    """
    found = []
    for cell in brief(table.frame[name]):
        text = plain(cell).strip().rstrip(".")
        if part == "period":
            match = PERIOD.fullmatch(cell)
            found.append(MONTHS[match[1]] * (int(match[2]) - 1) + 1 if match else -1)
        elif match := NUMBERED.fullmatch(text):
            found.append(int(match[1]))
        else:
            found.append(MONTH.get(text, -1) if part == "month" else -1)
    return np.array(found)
