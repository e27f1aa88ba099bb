"""From years, months, days and times as numbers to dates; two-digit years."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd

YEARS = 1500, 2300
DAY = 86_400_000_000  # microseconds
UNIT = pd.date_range("2000", periods=1).unit  # what pandas gives to dates of its own


def made(
    year: np.ndarray, month: np.ndarray, day: np.ndarray, time: np.ndarray | int = 0
) -> pd.DatetimeIndex:
    """Dates of numbers, NaT where there is no such day; ``time`` is microseconds of a day.

    Examples
    --------
    >>> made(np.array([2021, 2021]), np.array([2, 2]), np.array([28, 30])).strftime(
    ...     "%d %b"
    ... ).tolist()
    ['28 Feb', nan]
    """
    fine = (year >= YEARS[0]) & (year <= YEARS[1]) & (month >= 1) & (month <= 12)
    months = (np.where(fine, year, 1970) - 1970) * 12 + np.where(fine, month, 1) - 1
    firsts = months.astype("datetime64[M]")
    days = firsts.astype("datetime64[D]") + (np.where(fine, day, 1) - 1)
    fine &= days.astype("datetime64[M]") == firsts  # else there is no such day
    stamps = days.astype("datetime64[us]") + np.asarray(time).astype("timedelta64[us]")
    stamps[~fine] = np.datetime64("NaT")
    return usual(pd.DatetimeIndex(stamps))


def usual(dates: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Dates in pandas' usual unit, if that reaches so far."""
    try:
        return dates.as_unit(UNIT)
    except pd.errors.OutOfBoundsDatetime:
        return dates


def plausible(dates: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Dates without those of years that nobody means."""
    return dates.where((dates.year >= YEARS[0]) & (dates.year <= YEARS[1]))


def centuries(years: np.ndarray) -> np.ndarray:
    """Whole years of the last two digits, in the order of a file; below zero where missing.

    A file that runs on from row to row does so over the turn of a century, and ends next year at
    the latest. In any other order, a year after the next is of the last century.

    Examples
    --------
    >>> centuries(np.array([95, 99, 0, 5])), centuries(np.array([49, 50, 60]))
    (array([1995, 1999, 2000, 2005]), array([1949, 1950, 1960]))
    """
    there, latest = years >= 0, _today().year + 1
    known = years[there]
    whole = np.unwrap(known, period=100).round().astype(int)
    steps = np.diff(whole)
    if len(known) and ((steps >= 0).all() or (steps <= 0).all()):
        whole += (latest - whole.max()) // 100 * 100
    else:
        whole = latest - (latest - known) % 100
    out = years.copy()
    out[there] = whole
    return out


def _today() -> datetime.date:
    return datetime.date.today()
