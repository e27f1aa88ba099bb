"""Dates in columns of text: the ways to read them, and which of these is meant."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from echofold.cli.reading import fields
from echofold.cli.reading.made import centuries, plausible
from echofold.cli.reading.periods import by_letter
from echofold.cli.reading.quote import one_line, shown
from echofold.cli.reading.rewritten import rewritten
from echofold.cli.reading.spacing import Spacing, calendar, grid, rounded, spacing
from echofold.cli.reading.table import each_cell
from echofold.cli.reading.zones import placed, without_zone

ISO = re.compile(r"\d{4}-|\d{8}T")
DIGIT = re.compile(r"\d")
NO_DATE = 0.1  # share of cells that may be something else in a column of dates
HALF = 0.5  # the same in one that was meant to be, of which the first such cell is named
LONGEST = 100  # characters of a date
SAMPLE = 100  # cells by which ways to read a column are ruled out: all of them take a while
Note = Callable[[str], None]


class Reading(NamedTuple):
    """Dates in one order of day, month and year, and whether their years have two digits."""

    order: str
    dates: pd.DatetimeIndex
    short: bool


class Fit(NamedTuple):
    """How far a reading is from plausible, the worst first."""

    unread: int
    uneven: int  # 0 with a spacing, 1 with one after moving to the start of periods, 2 without
    odd: bool  # a year of two digits comes first
    gaps: int
    back: int  # steps back in time
    inside: int  # dates that are not the first of a month
    rank: int


def parse(column: pd.Series, form: str | None, note: Note, most: float = NO_DATE) -> pd.Series:
    """Dates of a column, NaT where a cell is none or its year is implausible.

    Without a form they are guessed, and all NaT if more than ``most`` of the cells are no dates.
    """
    name = str(column.name)
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        dates, ahead = plausible(pd.DatetimeIndex(column)), None
        if dates.tz is not None:
            universal = dates.tz_convert("UTC").tz_localize(None)
            local = dates.tz_localize(None)
            ahead = np.where(dates.isna(), 0, (local - universal).total_seconds()) // 60
            dates = local
    elif form is not None:
        dates, ahead = _formatted(brief(column), form, name, note)
    else:
        cells = rewritten(brief(column), name, note)
        cells, ahead = without_zone(cells, name, note)
        dates = _guess(cells, name, note, most)
    dates = plausible(dates)
    if ahead is not None and dates.notna().any():
        dates = placed(dates, ahead, name, note)
    return pd.Series(dates, index=column.index, name=column.name)


def brief(column: pd.Series) -> list[str]:
    """Cells, empty where they are too long for a date: pandas makes all as wide as the longest."""
    return [cell if len(cell) <= LONGEST else "" for cell in each_cell(column)]


def _formatted(
    cells: list[str], form: str, name: str, note: Note
) -> tuple[pd.DatetimeIndex, np.ndarray | None]:
    """Read cells as the user says they are written; minutes ahead of UTC as well."""
    ahead = None
    if form.endswith("%z"):
        cells, ahead = without_zone(cells, name, note)
        form = form if ahead is None else form[:-2].rstrip()
    try:
        dates = pd.to_datetime(cells, format=form, errors="coerce", utc="%z" in form.lower())
    except Exception as error:  # any, by the way in which the format is wrong
        raise ValueError(
            f"--date-format {shown(form)} cannot be used: {one_line(error)}. Give one such as "
            "'%d/%m/%Y %H:%M'."
        ) from None
    dates = pd.DatetimeIndex(dates)
    if dates.tz is not None:
        dates, ahead = dates.tz_localize(None), np.zeros(len(dates), int)
    return (_this_century(dates, name, note) if "%y" in form else dates), ahead


def _this_century(dates: pd.DatetimeIndex, name: str, note: Note) -> pd.DatetimeIndex:
    """Dates of two-digit years, which pandas takes for those of 1969 to 2068."""
    there = dates.notna()
    years = np.where(there, dates.year, -1).astype(int)
    whole = centuries(np.where(there, years % 100, -1))
    for shift in np.unique((whole - years)[there]):
        moved = dates + pd.DateOffset(years=int(shift))
        dates = dates.where(~there | (whole - years != shift), moved)
    _say_century(dates, name, note)
    return dates


def _guess(cells: list[str], name: str, note: Note, most: float) -> pd.DatetimeIndex:
    """Read cells in the way that makes most of them dates, in the best order."""
    nothing = pd.DatetimeIndex([pd.NaT] * len(cells))
    sample = [cells[i] for i in np.linspace(0, len(cells) - 1, min(len(cells), SAMPLE)).astype(int)]
    if np.mean([DIGIT.search(cell) is None for cell in sample]) > most:
        return nothing
    if _iso(sample).isna().mean() <= most:
        return _iso(cells)
    if by_letter(sample)[0].isna().mean() <= most:
        dates, short = by_letter(cells)
        if short:
            _say_century(dates, name, note)
        return dates
    apart = fields.take_apart(sample)
    tried = [one for one in fields.orders(apart) if _enough(fields.in_order(apart, one)[0], most)]
    if not tried:
        return nothing
    apart = fields.take_apart(cells)
    readings = [Reading(order, *fields.in_order(apart, order)) for order in tried]
    best = _best(readings, cells, name, note)
    if best is None:
        return nothing
    if best.short:
        _say_century(best.dates, name, note)
    return best.dates


def _enough(dates: pd.DatetimeIndex, most: float) -> bool:
    return bool(dates.isna().mean() <= most)


def _iso(cells: Sequence[str]) -> pd.DatetimeIndex:
    """Read cells as ISO 8601; NaT where they are not."""
    cells = [cell if ISO.match(cell) else "" for cell in cells]  # else any number is a year
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)  # of pandas 2, where 3 raises
            dates = pd.to_datetime(cells, format="ISO8601", errors="coerce")
    except (ValueError, FutureWarning):  # a few have a zone
        dates = pd.to_datetime(cells, format="ISO8601", errors="coerce", utc=True)
    return plausible(dates.tz_localize(None))


def _best(readings: list[Reading], cells: list[str], name: str, note: Note) -> Reading | None:
    """The reading that is meant, said where others would do; None if it is too unlikely."""
    points = np.mean(["." in cell for cell in cells[:SAMPLE]]) > 0.5
    first = "dmy" if points else "mdy"  # who writes points has the day first
    weak = readings[0].order == "y" or (readings[0].short and len(readings[0].order) == 2)
    if len(readings) == 1 and not weak:
        return readings[0]
    judged = [(*_judged(one, one.order != first), one) for one in readings]
    fit, every, best = min(judged, key=lambda each: each[0])
    if weak and fit.uneven == 2:
        return None  # 10/12 may be anything, 1850 too
    rivals = [one for other, _, one in judged if other.unread == fit.unread and not other.odd]
    for one in rivals:
        differ = np.flatnonzero((best.dates != one.dates) & best.dates.notna())
        if one is not best and len(differ):
            even = all(other.uneven > fit.uneven for other, _, each in judged if each is one)
            note(_said(best, one, cells, name, int(differ[-1]), every if even else None))
            break
    return best


def _judged(reading: Reading, rank: int) -> tuple[Fit, Spacing | None]:
    """How plausible a reading is, and its spacing."""
    known = reading.dates.dropna()
    unread, back = len(reading.dates) - len(known), int((np.diff(known.asi8) < 0).sum())
    odd = reading.short and reading.order[0] == "y"
    dates = known.unique().sort_values()
    if len(dates) < 3:  # two days, in many rows, are near each other
        return Fit(unread, 2, odd, (dates.max() - dates.min()).days, back, 0, rank), None
    moved = None
    if (every := spacing(dates)) is None:
        moved = calendar(dates) or rounded(dates)
        dates, every = moved or (dates, None)
    if every is None:
        return Fit(unread, 2, odd, 0, back, 0, rank), None
    gaps, inside = len(grid(dates, every.freq)) - len(dates), int((known.day != 1).sum())
    return Fit(unread, 1 if moved else 0, odd, gaps, back, inside, rank), every


def _said(
    best: Reading, other: Reading, cells: list[str], name: str, row: int, every: Spacing | None
) -> str:
    """What is said of dates that could be read in another order."""
    date = best.dates[row]
    why = f", because they are {every.words} then" if every else ""
    return (
        f"dates in {shown(name)} are read {fields.WORDS[best.order]}{why}: {shown(cells[row])} is "
        f"{date.day} {date:%B %Y}, and could be read {fields.WORDS[other.order]} too; see "
        "--date-format."
    )


def _say_century(dates: pd.DatetimeIndex, name: str, note: Note) -> None:
    """Say which years those of two digits are."""
    if dates.notna().any():
        first, last = dates.min().year, dates.max().year
        years = f"{first} to {last}" if last > first else f"{first}"
        note(
            f"years of two digits in {shown(name)} are read as {years}; write four if they differ."
        )
