"""Half-years, quarters, months and weeks by letter: 2024H1, Q1 2024, 1Q24, 2024M01, 2024-W05."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from echofold.cli.reading.made import YEARS, centuries, made, usual
from echofold.cli.reading.month_names import plain

LETTER = r"(q|t|qtr|quarter|quartal|trim|trimestre|kwartaal|m|w|kw|wk|week|s|sem|h)"
BETWEEN = r"[-\s:/.]{0,2}"
FORMS = [
    re.compile(rf"(?P<year>\d{{4}}){BETWEEN}(?P<letter>{LETTER}){BETWEEN}(?P<number>\d{{1,2}})"),
    re.compile(r"(?P<year>\d{4})-?(?P<letter>w)(?P<number>\d\d)-?(?P<day>[1-7])"),
    re.compile(
        rf"(?P<letter>{LETTER}){BETWEEN}(?P<number>\d{{1,2}})[-\s:/.']{{1,2}}(?P<year>\d{{4}}|\d\d)"
    ),
    re.compile(
        rf"(?P<number>\d{{1,2}})\.?\s?(?P<letter>{LETTER}){BETWEEN}'?(?P<year>\d{{4}}|\d\d)"
    ),
]
KINDS = {"m": 1, "w": 7, "kw": 7, "wk": 7, "week": 7, "s": 7, "sem": 7, "h": 6}  # else 3 months
MOST = {1: 12, 3: 4, 6: 2, 7: 53}


def by_letter(cells: Sequence[str]) -> tuple[pd.DatetimeIndex, bool]:
    """First days of the periods, NaT where a cell is none; whether years have two digits."""
    year, number = np.full(len(cells), -1), np.zeros(len(cells), int)
    kind = np.zeros(len(cells), int)
    digits, days = np.zeros(len(cells), int), np.zeros(len(cells), int)
    halves = True
    for row, cell in enumerate(cells):
        text = plain(cell) if len(cell) <= 20 else ""
        match = next((found for form in FORMS if (found := form.fullmatch(text))), None)
        if match:
            kind[row] = KINDS.get(match["letter"], 3)
            year[row], number[row] = int(match["year"]), int(match["number"])
            digits[row] = len(match["year"])
            days[row] = int(match.groupdict().get("day") or 1) - 1
            halves &= match["letter"] in ("s", "sem") and number[row] <= 2
    if halves:  # 2001-S1 and 2001-S2 are no weeks
        kind[kind > 0] = 6
    usual_kind = int(np.bincount(kind[kind > 0]).argmax()) if kind.any() else 3
    short = bool(kind.any()) and float(np.median(digits[kind > 0])) == 2
    fits = (kind == usual_kind) & (number >= 1) & (number <= MOST[usual_kind])
    fits &= digits == (2 if short else 4)
    year = np.where(fits, year, -1)
    if short:
        year = centuries(year)
    if usual_kind == 7:
        return weeks(year, number) + pd.to_timedelta(days, unit="D"), short
    return made(year, (number - 1) * usual_kind + 1, np.ones_like(year)), short


def weeks(year: np.ndarray, number: np.ndarray) -> pd.DatetimeIndex:
    """Mondays of the weeks of ISO 8601, NaT where a year has no such week."""
    fine = (year >= YEARS[0]) & (year <= YEARS[1]) & (number >= 1) & (number <= 53)
    year = np.where(fine, year, 2000)
    first = _monday_of_first(year)
    monday = first + 7 * (np.where(fine, number, 1) - 1).astype("timedelta64[D]")
    monday[~fine | (monday >= _monday_of_first(year + 1))] = np.datetime64("NaT")
    return usual(pd.DatetimeIndex(monday.astype("datetime64[us]")))


def _monday_of_first(year: np.ndarray) -> np.ndarray:
    """The Monday of the week with the 4th of January."""
    fourth = (year - 1970).astype("datetime64[Y]").astype("datetime64[D]") + 3
    return fourth - ((fourth.astype(int) + 3) % 7).astype("timedelta64[D]")  # day 0: a Thursday
