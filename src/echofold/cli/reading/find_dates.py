"""Which columns of a table hold its dates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from echofold.cli.reading import dates as _dates
from echofold.cli.reading.counted import counted
from echofold.cli.reading.date_names import like_dates
from echofold.cli.reading.parts import from_parts, with_time
from echofold.cli.reading.quote import listed, shown
from echofold.cli.reading.table import Table
from echofold.cli.showing.output import Output

WHOLE = 2.0**53  # up to which floats hold every whole number
MOSTLY = 0.1  # share of cells that may be no dates, of which the first is then named in an error
Numbers = dict[str, tuple[np.ndarray, np.ndarray]]  # of each column, as its table gives them
COUNTERS = {"id", "index", "row", "rows", "nr", "no", "n", "number", "count"}


def find_dates(
    table: Table,
    date: str | None,
    form: str | None,
    others: Sequence[str],
    output: Output,
) -> tuple[str | None, Any]:
    """The name of the column of dates, none of ``others``, and its values; None without one.

    Columns that make dates together are one column of the table afterwards.
    """
    if date == "none":
        return None, None
    if date is not None:
        return _asked_for(table, date, form, output)
    columns = table.frame.columns.drop(list(others), errors="ignore")
    numbers = {name: table.numbers(name) for name in columns}
    found = _in_text(table, numbers, form, output)
    if found is None and form is None:
        found = _in_parts(table, columns, output) or _in_numbers(table, numbers, output)
    if found is None:
        _say_unread(table, numbers, output)
        return None, None
    name, dates = found
    dates = _all_dates(dates, table.frame[name], table.name)
    both = with_time(table, dates, columns.drop(name, errors="ignore"))
    if both:
        return _as_one(table, [name, both[0]], both[1], output)
    return name, dates


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
            return date, _all_dates(found, cells, table.name)
    dates = _dates.parse(cells, form, output.note)
    if not len(wrong) and dates.isna().any() and not np.isnan(values).any():
        return date, values
    return date, _all_dates(dates, cells, table.name)


def _in_text(
    table: Table, numbers: Numbers, form: str | None, output: Output
) -> tuple[str, pd.Series] | None:
    """The first column of dates that are more than numbers."""
    candidates: dict[str, tuple[pd.Series, list[str]]] = {}
    for name, (_, wrong) in numbers.items():
        if not len(wrong) and (form is None or not _may_be_dates(table, name)):
            continue
        notes: list[str] = []
        dates = _dates.parse(table.frame[name], form, notes.append)
        if dates.isna().mean() < MOSTLY:
            candidates[name] = dates, notes
    if not candidates:
        return None
    name, (dates, notes) = next(iter(candidates.items()))
    for one in notes:
        output.note(one)
    if len(candidates) > 1:
        output.note(
            f"dates are taken from {shown(name)}; {listed(list(candidates)[1:])} could be too "
            "(--date)."
        )
    return name, dates


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
        if len(wrong) < MOSTLY * len(values):
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


def _say_unread(table: Table, numbers: Numbers, output: Output) -> None:
    """Say which column seems to hold dates that could not be read."""
    # A column of numbers that is alone is forecast, whatever its name.
    alone = len(numbers) == len(table.frame.columns) and (
        sum(len(wrong) <= MOSTLY * len(values) for values, wrong in numbers.values()) == 1
    )
    for name, (values, wrong) in numbers.items():
        if len(wrong) > MOSTLY * len(values):
            sample = _dates.brief(table.frame[name].iloc[:100])
            digits = np.mean([any(mark.isdigit() for mark in cell) for cell in sample])
            first = name == table.frame.columns[0]
            likely = like_dates(name) or (first and digits > 1 - MOSTLY)
        else:
            counts = len(values) > 1 and len(np.unique(np.diff(values))) == 1
            likely = like_dates(name, whole=True) and not counts and not alone
        if likely:
            cells = _dates.brief(table.frame[name])
            row = int(wrong[0]) if len(wrong) else 0
            output.note(
                f"{shown(name)} may hold dates, but {shown(cells[row])} is not read as one, and "
                "rows are taken as evenly spaced: name the column with --date and how its dates "
                "are written with --date-format."
            )
            return


def _all_dates(dates: pd.Series, cells: pd.Series, source: str) -> pd.Series:
    """Raise where a row has no date."""
    if dates.isna().any():
        row = int(np.flatnonzero(dates.isna())[0])
        raise ValueError(
            f"column {shown(cells.name)} of {source} holds {shown(cells.iloc[row])} in row "
            f"{row + 1}, which is not a date like the others; remove that row, give "
            "--date-format, or take rows as evenly spaced with --date none."
        )
    return dates


def whole(values: np.ndarray) -> bool:
    """Whether all values are there and are whole numbers of which floats hold every one."""
    return bool((np.abs(values) <= WHOLE).all()) and not (values % 1).any()
