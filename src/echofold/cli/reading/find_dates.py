"""Which columns of a table hold its dates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from echofold.cli.reading import dates as _dates
from echofold.cli.reading.counted import counted, even
from echofold.cli.reading.date_names import like_dates
from echofold.cli.reading.merged import refuse_headings, unmerge
from echofold.cli.reading.parts import from_parts, with_time
from echofold.cli.reading.quote import listed, shown
from echofold.cli.reading.table import Table
from echofold.cli.reading.unread import Numbers, all_dates, refuse_half, say_unread
from echofold.cli.showing.output import Output

WHOLE = 2.0**53  # up to which floats hold every whole number
COUNTERS = {"id", "index", "row", "rows", "nr", "no", "n", "number", "count"}


def find_dates(
    table: Table,
    date: str | None,
    form: str | None,
    others: Sequence[str],
    output: Output,
    say: bool = True,
) -> tuple[str | None, Any]:
    """The name of the column of dates, none of ``others``, and its values; None without one.

    Columns that make dates together are one column of the table afterwards. With ``say`` a column
    that may hold dates, but was not read, is told of.
    """
    if date == "none":
        return None, None
    if date is not None:
        return _asked_for(table, date, form, output)
    columns = table.frame.columns.drop(list(others), errors="ignore")
    unmerge(table, columns, output.note)
    numbers = {name: table.numbers(name) for name in columns}
    found = _in_text(table, numbers, form, output)
    if found is None and form is None:
        found = _in_parts(table, columns, output) or _in_numbers(table, numbers, output)
    if found is None:
        found = _in_text(table, numbers, form, output, _dates.HALF)
    if found is None:
        refuse_half(table, numbers)
        refuse_headings(table, columns)
        if say:
            say_unread(table, numbers, output)
        return None, None
    name, dates = found
    dates = all_dates(dates, table.frame[name], table.name)
    both = with_time(table, dates, columns.drop(name, errors="ignore"))
    if both:
        return _as_one(table, [name, both[0]], both[1], output)
    return name, dates


def say_none(table: Table, others: Sequence[str], output: Output) -> None:
    """Say which column seems to hold dates, where none was found."""
    columns = table.frame.columns.drop(list(others), errors="ignore")
    say_unread(table, {name: table.numbers(name) for name in columns}, output)


def another(table: Table, name: str | None, others: Sequence[str]) -> str | None:
    """Another column that may hold the dates."""
    for one in table.frame.columns.drop([*others, *([name] if name else [])], errors="ignore"):
        if len(table.numbers(one)[1]):
            dates = _dates.parse(table.frame[one], None, lambda _: None)
            if dates.notna().all() and dates.nunique() > 1:
                return str(one)
    return None


def _asked_for(
    table: Table, date: str, form: str | None, output: Output
) -> tuple[str, pd.Series | np.ndarray]:
    """Dates, or numbers of rows, of the column that was named."""
    cells = table.column(date, "--date")
    values, wrong = table.numbers(date)
    if form is None and not len(wrong):
        likely = date.lower() not in COUNTERS
        found = _counted(table, date, values, likely, likely, output)
        if found is not None:
            return date, all_dates(found, cells, table.name)
    dates = _dates.parse(cells, form, output.note, _dates.HALF)
    if not len(wrong) and dates.isna().any() and not np.isnan(values).any():
        return date, values
    return date, all_dates(dates, cells, table.name)


def _in_text(
    table: Table, numbers: Numbers, form: str | None, output: Output, most: float = _dates.NO_DATE
) -> tuple[str, pd.Series] | None:
    """The most likely column of dates that are more than numbers; ``most`` cells may be none."""
    candidates: dict[str, tuple[pd.Series, list[str]]] = {}
    for name, (_, wrong) in numbers.items():
        if not len(wrong) and (form is None or not _may_be_dates(table, name)):
            continue
        notes: list[str] = []
        dates = _dates.parse(table.frame[name], form, notes.append, most)
        if dates.isna().mean() <= most and dates.notna().any():
            candidates[name] = dates, notes
    if not candidates:
        return None
    name = next(iter(candidates))
    if len(candidates) > 1:
        name = min(candidates, key=lambda one: _doubtful(candidates[one][0]))
    dates, notes = candidates[name]
    for one in notes:
        output.note(one)
    others = [one for one in candidates if one != name and candidates[one][0].nunique() > 1]
    if others:
        output.note(f"dates are taken from {shown(name)}; {listed(others)} could be too (--date).")
    return name, dates


def _doubtful(dates: pd.Series) -> tuple[float, bool]:
    """How far a column is from dates that are there once each, and are evenly spaced."""
    known = pd.DatetimeIndex(dates.dropna())
    repeated = 1 - known.nunique() / max(len(known), 1)
    return round(repeated, 2) if known.nunique() > 1 else 2.0, even(known) is None


def _may_be_dates(table: Table, name: str) -> bool:
    """Whether numbers may be in the form that was given for dates."""
    return name == table.frame.columns[0] or like_dates(name)


def _in_parts(table: Table, names: Sequence[str], output: Output) -> tuple[str, pd.Series] | None:
    """Dates of a column of years and others."""
    found = from_parts(table, names)
    return _as_one(table, *found, output) if found else None


def _as_one(
    table: Table, parts: list[str], dates: pd.DatetimeIndex, output: Output
) -> tuple[str, pd.Series]:
    """One column of dates in the place of its parts."""
    output.note(f"dates are made of {' and '.join(shown(part) for part in parts)} (see --date).")
    name = " ".join(parts)
    while name in table.frame.columns:
        name += " date"
    whole = pd.Series(dates, index=table.frame.index, name=name)
    frame = table.frame.drop(columns=parts)
    frame.insert(0, name, whole)
    table.frame = frame
    return name, whole


def _in_numbers(table: Table, numbers: Numbers, output: Output) -> tuple[str, pd.Series] | None:
    """The first column of numbers that mean dates, beside others."""
    if len(table.frame.columns) < 2:
        return None
    for name, (values, wrong) in numbers.items():
        if len(wrong) < _dates.NO_DATE * len(values):
            first = name == table.frame.columns[0] and name.lower() not in COUNTERS
            dates = _counted(table, name, values, like_dates(name), first, output)
            if dates is not None:
                return name, dates
    return None


def _counted(
    table: Table, name: str, values: np.ndarray, named: bool, first: bool, output: Output
) -> pd.Series | None:
    """Dates of numbers, with a note of what these are taken for."""
    found = counted(values, table.frame[name], named, first)
    if found is None:
        return None
    if found.meaning:
        row = int(np.flatnonzero(found.dates.notna())[0])
        date = found.dates[row]
        output.note(
            f"numbers in {shown(name)} are read as {found.meaning}: "
            f"{shown(table.frame[name].iloc[row])} is "
            f"{date.day} {date:%B %Y}; --date none takes rows as evenly spaced."
        )
    return pd.Series(found.dates, index=table.frame.index, name=name)


def whole(values: np.ndarray) -> bool:
    """Whether all values are there and are whole numbers of which floats hold every one."""
    return bool((np.abs(values) <= WHOLE).all()) and not (values % 1).any()
