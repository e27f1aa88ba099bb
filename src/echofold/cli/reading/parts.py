"""Dates from several columns: a year with its months or weeks, or a date and a time."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from echofold.cli.reading.date_names import role
from echofold.cli.reading.dates import brief
from echofold.cli.reading.fields import time_of_day
from echofold.cli.reading.made import DAY, YEARS, centuries, made, usual
from echofold.cli.reading.month_names import MONTH, plain
from echofold.cli.reading.periods import weeks
from echofold.cli.reading.table import Table

HOUR, MINUTE = DAY // 24, DAY // 1440
NUMBERED = re.compile(r"[a-z.]{0,8}\s*0*(\d{1,3})(?:\.0*)?")  # 5, 05, Q1, W05, 5.0
PERIOD = re.compile(r"([MQSA])(\d\d)")
MONTHS = {"M": 1, "Q": 3, "S": 6, "A": 12}
SPAN = re.compile(r"\s*(?:-|–|to)\s*\d.*$")  # from 00:00 to 01:00
ENDING = re.compile(r"HE\s?(\d\d?)", re.IGNORECASE)  # the hour that ends then
FINER = ("month", "quarter", "week", "day")


def from_parts(table: Table, names: Sequence[str]) -> tuple[list[str], pd.DatetimeIndex] | None:
    """The columns that make dates together, and these; None if there are none."""
    columns = {wanted: _named(names, wanted) for wanted in ("year", *FINER, "hour", "minute")}
    year = columns["year"]
    period = _named(names, "period")
    if year and period and not any(columns[one] for one in FINER):
        return _periods(table, year, period)
    finer = next((one for one in FINER if columns[one]), None)
    if year is None or finer is None:
        return None
    years = _years(table, year)
    number = {one: _numbers(table, name, one) for one, name in columns.items() if name}
    if years is None or (number[finer] < 1).any():
        return None
    one = np.ones_like(years)
    used = [year, columns[finer]]
    if finer == "week":
        dates = weeks(years, number["week"])
    elif finer == "quarter":
        dates = made(years, number["quarter"] * 3 - 2, one)
    elif finer == "day":
        dates = made(years, one, one, (number["day"].clip(max=366) - 1) * DAY)
    else:
        day = number.get("day", one)
        dates = made(years, number["month"], day)
        used += [columns["day"]] if "day" in number else []
    for finest, size, most in (("hour", HOUR, 24), ("minute", MINUTE, 59)):
        there = number.get(finest, np.array([-1]))
        if not dates.is_unique and ((there >= 0) & (there <= most)).all():
            dates = usual(dates + pd.to_timedelta(there * size, unit="us"))
            used.append(columns[finest])
    return None if dates.isna().any() else ([name for name in used if name], dates)


def _periods(table: Table, year: str, period: str) -> tuple[list[str], pd.DatetimeIndex] | None:
    """Dates of years and periods such as M01, Q01, S01 or A01."""
    years, matches = _years(table, year), [PERIOD.fullmatch(c) for c in brief(table.frame[period])]
    if years is None or not all(matches):
        return None
    found = [(MONTHS[match[1]], int(match[2])) for match in matches if match]
    month = np.array([months * (number - 1) + 1 for months, number in found])
    dates = made(years, month, np.ones_like(years))
    return None if dates.isna().any() else ([year, period], dates)


def with_time(
    table: Table, dates: pd.Series, names: Sequence[str]
) -> tuple[str, pd.DatetimeIndex] | None:
    """The column of times beside one of days that repeat, and both together; None without one."""
    days = pd.DatetimeIndex(dates)
    if days.is_unique or days.hasnans or (days != days.normalize()).any():
        return None
    for name in (_named(names, "time"), _named(names, "hour")):
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
    if len(wrong) or not ((values >= 0) & (values <= 240_000) & (values % 1 == 0)).all():
        return None
    numbers = values.astype(np.int64)
    if numbers.max() <= 24:
        return numbers * HOUR
    if numbers.max() > 2400:
        numbers = numbers // 100  # seconds are left out
    fine = (numbers // 100 <= 24) & (numbers % 100 < 60) & (numbers.max() > 100)
    return numbers // 100 * HOUR + numbers % 100 * MINUTE if fine.all() else None


def _named(names: Sequence[str], wanted: str) -> str | None:
    """The first column with a role."""
    return next((name for name in names if role(name, wanted)), None)


def _years(table: Table, name: str) -> np.ndarray | None:
    values, wrong = table.numbers(name)
    if len(wrong) or np.isnan(values).any() or (values % 1).any():
        return None
    if ((values >= 0) & (values < 100)).all():
        return centuries(values.astype(int))
    fine = ((values >= YEARS[0]) & (values <= YEARS[1])).all()
    return values.astype(int) if fine else None


def _numbers(table: Table, name: str, wanted: str) -> np.ndarray:
    """Numbers of months, weeks and so on, also by name; -1 where a cell has none."""
    found = []
    for cell in brief(table.frame[name]):
        text = plain(cell).strip().rstrip(".")
        match = NUMBERED.fullmatch(text)
        if match:
            found.append(int(match[1]))
        else:
            found.append(MONTH.get(text, -1) if wanted == "month" else -1)
    return np.array(found)
