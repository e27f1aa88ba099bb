"""Which columns of a table hold its dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.text import Note, listed, shown
from echofold.cli.reading.calendar import MONTH, like_dates, plain, role
from echofold.cli.reading.dates import HALF, NO_DATE, brief, parse, time_of_day
from echofold.cli.reading.numeric_dates import counted, even, from_parts, with_time
from echofold.cli.reading.table import Table

COUNTERS = {"id", "index", "row", "rows", "nr", "no", "n", "number", "count"}
ANNUAL = re.compile(r"M13|Q05|S03")  # averages of a year, among its periods
PERIOD = re.compile(r"[MQSA]\d\d")
YEAR_ALONE = re.compile(r"(1[5-9]|20|21|22)\d\d")
FEW = 0.95  # the same share where some cells are dates
YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20|21|22)\d\d(?!\d)")
Numbers = dict[str, tuple[np.ndarray, np.ndarray]]  # of each column, as its table gives them


def find_dates(
    table: Table,
    date: str | None,
    form: str | None,
    others: Sequence[str],
    note: Note,
) -> tuple[str | None, Any]:
    """The name of the column of dates, none of ``others``, and its values; None without one.

    Columns that make dates together are one column of the table afterwards.
    """
    if date == "none":
        return None, None
    if date is not None:
        return _asked_for(table, date, form, note)
    columns = table.frame.columns.drop(list(others), errors="ignore")
    unmerge(table, columns, note)
    numbers = {name: table.numbers(name) for name in columns}
    found = _in_text(table, numbers, form, note)
    if found is None and form is None:
        found = _in_parts(table, columns, note) or _in_numbers(table, numbers, note)
    if found is None:
        found = _in_text(table, numbers, form, note, HALF)
    if found is None:
        refuse_half(table, numbers)
        refuse_headings(table, columns)
        return None, None
    name, dates = found
    dates = all_dates(dates, table.frame[name], table.name)
    both = with_time(table, dates, columns.drop(name, errors="ignore"))
    if both:
        return _as_one(table, [name, both[0]], both[1], note)
    return name, dates


def another(table: Table, others: Sequence[str]) -> str | None:
    """A column that may hold the dates, none of ``others``."""
    for one in table.frame.columns.drop(list(others), errors="ignore"):
        if len(table.numbers(one)[1]):
            dates = parse(table.frame[one], None, lambda _: None)
            if dates.notna().all() and dates.nunique() > 1:
                return str(one)
    return None


def _asked_for(
    table: Table, date: str, form: str | None, note: Note
) -> tuple[str, pd.Series | np.ndarray]:
    """Dates, or numbers of rows, of the column that was named."""
    cells = table.column(date, "--date")
    values, wrong = table.numbers(date)
    if form is None and not len(wrong):
        likely = date.lower() not in COUNTERS
        found = _counted(table, date, values, likely, likely, note)
        if found is not None:
            return date, all_dates(found, cells, table.name)
    dates = parse(cells, form, note, HALF)
    if not len(wrong) and dates.isna().any() and not np.isnan(values).any():
        return date, values
    return date, all_dates(dates, cells, table.name)


def _in_text(
    table: Table, numbers: Numbers, form: str | None, note: Note, most: float = NO_DATE
) -> tuple[str, pd.Series] | None:
    """The most likely column of dates that are more than numbers; ``most`` cells may be none."""
    candidates: dict[str, tuple[pd.Series, list[str]]] = {}
    for name, (_, wrong) in numbers.items():
        if not len(wrong) and (form is None or not _may_be_dates(table, name)):
            continue
        notes: list[str] = []
        dates = parse(table.frame[name], form, notes.append, most)
        if dates.isna().mean() <= most and dates.notna().any():
            candidates[name] = dates, notes
    if not candidates:
        return None
    name = next(iter(candidates))
    if len(candidates) > 1:
        name = min(candidates, key=lambda one: _doubtful(candidates[one][0]))
    dates, notes = candidates[name]
    for one in notes:
        note(one)
    others = [one for one in candidates if one != name and candidates[one][0].nunique() > 1]
    if others:
        note(f"dates are taken from {shown(name)}; {listed(others)} could be too (--date).")
    return name, dates


def _doubtful(dates: pd.Series) -> tuple[float, bool]:
    """How far a column is from dates that are there once each, and are evenly spaced."""
    known = pd.DatetimeIndex(dates.dropna())
    repeated = 1 - known.nunique() / max(len(known), 1)
    return round(repeated, 2) if known.nunique() > 1 else 2.0, even(known) is None


def _may_be_dates(table: Table, name: str) -> bool:
    """Whether numbers may be in the form that was given for dates."""
    return name == table.frame.columns[0] or like_dates(name)


def _in_parts(table: Table, names: Sequence[str], note: Note) -> tuple[str, pd.Series] | None:
    """Dates of a column of years and others."""
    found = from_parts(table, names)
    return _as_one(table, *found, note) if found else None


def _as_one(
    table: Table, parts: list[str], dates: pd.DatetimeIndex, note: Note
) -> tuple[str, pd.Series]:
    """One column of dates in the place of its parts."""
    note(f"dates are made of {' and '.join(shown(part) for part in parts)} (see --date).")
    name = " ".join(parts)
    while name in table.frame.columns:
        name += " date"
    whole = pd.Series(dates, index=table.frame.index, name=name)
    frame = table.frame.drop(columns=parts)
    frame.insert(0, name, whole)
    table.frame = frame
    return name, whole


def _in_numbers(table: Table, numbers: Numbers, note: Note) -> tuple[str, pd.Series] | None:
    """The first column of numbers that mean dates, beside others."""
    if len(table.frame.columns) < 2:
        return None
    for name, (values, wrong) in numbers.items():
        if len(wrong) < NO_DATE * len(values):
            first = name == table.frame.columns[0] and name.lower() not in COUNTERS
            dates = _counted(table, name, values, like_dates(name), first, note)
            if dates is not None:
                return name, dates
    return None


def _counted(
    table: Table, name: str, values: np.ndarray, named: bool, first: bool, note: Note
) -> pd.Series | None:
    """Dates of numbers, with a note of what these are taken for."""
    found = counted(values, table.frame[name], named, first)
    if found is None:
        return None
    if found.meaning:
        row = int(np.flatnonzero(found.dates.notna())[0])
        date = found.dates[row]
        note(
            f"numbers in {shown(name)} are read as {found.meaning}: "
            f"{shown(table.frame[name].iloc[row])} is "
            f"{date.day} {date:%B %Y}; --date none takes rows as evenly spaced."
        )
    return pd.Series(found.dates, index=table.frame.index, name=name)


def unmerge(table: Table, names: Sequence[str], note: Note) -> None:
    """Fill years and days down to the rows below, and leave annual averages out of a table."""
    year = next((name for name in names if role(name, "year")), None)
    if year is None:
        day = next((name for name in names if role(name, "date")), None)
        time = next((name for name in names if role(name, "time") or role(name, "hour")), None)
        if day and time:
            _fill_down(table, day, time, note)
        return
    for name in names:
        if role(name, "month") or role(name, "quarter"):
            _fill_down(table, year, name, note)
            return
        if role(name, "period"):
            _drop_averages(table, name, note)
            return


def _drop_averages(table: Table, name: str, note: Note) -> None:
    """Leave out rows such as M13 after M01 to M12."""
    cells = brief(table.frame[name])
    annual = np.array([ANNUAL.fullmatch(cell) is not None for cell in cells])
    if not annual.any() or annual.all() or not all(PERIOD.fullmatch(cell) for cell in cells):
        return
    first = cells[int(annual.argmax())]
    rows = "1 row is" if annual.sum() == 1 else f"{annual.sum()} rows are"
    note(f"{rows} left out as averages of a year ({shown(first)} in {shown(name)}).")
    table.frame = table.frame[~annual].reset_index(drop=True)
    table.read.clear()
    table.remarks.clear()


def _fill_down(table: Table, year: str, finer: str, note: Note) -> None:
    """Write years or days into the rows below, where months or hours begin anew with each."""
    cells = brief(table.frame[year])
    there = np.array([cell != "" for cell in cells])
    if there.all() or not there[0] or there.mean() > 0.5:
        return
    parts = [_number(cell) for cell in brief(table.frame[finer])]
    falls = np.array([True, *(after <= before for before, after in pairwise(parts))])
    if min(parts) < 0 or (falls != there).any():
        return
    note(f"cells of {shown(year)} are taken for the empty ones below them too.")
    frame = table.frame.copy()
    last = np.maximum.accumulate(np.where(there, np.arange(len(cells)), 0))
    frame[year] = [cells[row] for row in last]
    table.frame = frame
    table.read.pop(year, None)


def _number(cell: str) -> int:
    """A month, a quarter or a time, by number or by name; below zero if it is none."""
    text = plain(cell).rstrip(".")
    digits = re.fullmatch(r"[a-z]?0?(\d{1,2})", text)
    return int(digits[1]) if digits else MONTH.get(text, time_of_day(cell))


def refuse_headings(table: Table, names: Sequence[str]) -> None:
    """Raise for years in rows of their own above their months."""
    for name in list(names)[:3]:
        column = table.frame[name]
        sample = [plain(cell).rstrip(".") for cell in brief(column.iloc[:40])]
        years = [row for row, cell in enumerate(sample) if YEAR_ALONE.fullmatch(cell)]
        months = sum(cell in MONTH or re.fullmatch(r"q[1-4]", cell) is not None for cell in sample)
        if years and months and len(years) + months >= 0.9 * len(sample):
            raise ValueError(
                f"column {shown(name)} of {table.name} holds the year {sample[years[0]]} in row "
                f"{years[0] + 1}, above months without one: write the year into a column of its "
                "own beside the months, and remove such rows."
            )


def all_dates(dates: pd.Series, cells: pd.Series, source: str) -> pd.Series:
    """Raise where a row has no date."""
    missing = np.flatnonzero(dates.isna())
    if len(missing):
        row = int(missing[0])
        like = "a date like the others" if len(missing) < len(dates) else "a date"
        remove = "that row" if len(missing) == 1 else "such rows"
        more = "" if len(missing) == 1 else f" ({len(missing):,} cells are not)"
        raise ValueError(
            f"column {shown(cells.name)} of {source} holds {shown(cells.iloc[row])} in row "
            f"{row + 1}, which is not {like}{more}; remove {remove}, give --date-format, or take "
            "rows as evenly spaced with --date none."
        )
    return dates


def refuse_half(table: Table, numbers: Numbers) -> None:
    """Raise for a column of numbers that are dates but for up to half of the cells."""
    for name, (values, _) in numbers.items():
        there = ~np.isnan(values)
        if not like_dates(name) or there.all() or there.mean() < HALF:
            continue
        found = counted(values[there], table.frame[name][there], True, False)
        if found is not None:
            dates = pd.Series(found.dates, np.flatnonzero(there)).reindex(range(len(values)))
            all_dates(dates, table.frame[name], table.name)


def say_unread(table: Table, others: Sequence[str], note: Note) -> None:
    """Say which column, none of ``others``, seems to hold dates that could not be read."""
    columns = table.frame.columns.drop(list(others), errors="ignore")
    numbers = {name: table.numbers(name) for name in columns}
    name = _likely(table, numbers)
    if name is None:
        return
    cells = brief(table.frame[name])
    _refuse_falling(cells, name, table.name)
    unread = parse(table.frame[name], None, lambda _: None, FEW).isna().to_numpy()
    if len(numbers[name][1]) > NO_DATE * len(cells):
        what = f"{shown(cells[int(unread.argmax())])} is not read as one"
    else:
        what = "its numbers are not read as such"
    note(
        f"{shown(name)} may hold dates, but {what}, and rows are taken as evenly spaced, from the "
        "oldest to the newest: name the column with --date and how its dates are written with "
        "--date-format."
    )


def _likely(table: Table, numbers: Numbers) -> str | None:
    """The first column that seems to hold dates, by its name or its place."""
    # A column of numbers that is alone is forecast, whatever its name.
    alone = len(numbers) == len(table.frame.columns) and (
        sum(len(wrong) <= NO_DATE * len(values) for values, wrong in numbers.values()) == 1
    )
    for name, (values, wrong) in numbers.items():
        if len(wrong) > NO_DATE * len(values):
            sample = brief(table.frame[name].iloc[:100])
            digits = np.mean([any(mark.isdigit() for mark in cell) for cell in sample])
            first = name == table.frame.columns[0]
            likely = like_dates(name) or (first and digits > 1 - NO_DATE)
        else:
            counts = len(values) > 1 and len(np.unique(np.diff(values))) == 1
            likely = like_dates(name, whole=True) and not counts and not alone
        if likely:
            return name
    return None


def _refuse_falling(cells: list[str], name: str, source: str) -> None:
    """Raise if the years in cells fall, so that the newest row is the first."""
    found = [YEAR.search(cell) for cell in cells]
    years = np.array([int(match[0]) for match in found if match])
    if len(years) < (1 - NO_DATE) * len(cells) or (np.diff(years) > 0).any():
        return
    if years[0] > years[-1]:
        raise ValueError(
            f"the dates in {shown(name)} of {source} are not read, such as {shown(cells[0])}, and "
            "the newest seem to come first: sort the rows from the oldest to the newest, or say "
            "how dates are written with --date-format."
        )
