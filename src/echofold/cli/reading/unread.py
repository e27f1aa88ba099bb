"""Columns that were meant to hold dates and do not: refused, or told of."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from echofold.cli.reading import dates as _dates
from echofold.cli.reading.counted import counted
from echofold.cli.reading.date_names import like_dates
from echofold.cli.reading.quote import shown
from echofold.cli.reading.table import Table
from echofold.cli.showing.output import Output

FEW = 0.95  # the same share where some cells are dates
YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20|21|22)\d\d(?!\d)")
Numbers = dict[str, tuple[np.ndarray, np.ndarray]]  # of each column, as its table gives them


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
        if not like_dates(name) or there.all() or there.mean() < _dates.HALF:
            continue
        found = counted(values[there], table.frame[name][there], True, False)
        if found is not None:
            dates = pd.Series(found.dates, np.flatnonzero(there)).reindex(range(len(values)))
            all_dates(dates, table.frame[name], table.name)


def say_unread(table: Table, numbers: Numbers, output: Output) -> None:
    """Say which column seems to hold dates that could not be read."""
    name = _likely(table, numbers)
    if name is None:
        return
    cells = _dates.brief(table.frame[name])
    _refuse_falling(cells, name, table.name)
    unread = _dates.parse(table.frame[name], None, lambda _: None, FEW).isna().to_numpy()
    if len(numbers[name][1]) > _dates.NO_DATE * len(cells):
        what = f"{shown(cells[int(unread.argmax())])} is not read as one"
    else:
        what = "its numbers are not read as such"
    output.note(
        f"{shown(name)} may hold dates, but {what}, and rows are taken as evenly spaced, from the "
        "oldest to the newest: name the column with --date and how its dates are written with "
        "--date-format."
    )


def _likely(table: Table, numbers: Numbers) -> str | None:
    """The first column that seems to hold dates, by its name or its place."""
    # A column of numbers that is alone is forecast, whatever its name.
    alone = len(numbers) == len(table.frame.columns) and (
        sum(len(wrong) <= _dates.NO_DATE * len(values) for values, wrong in numbers.values()) == 1
    )
    for name, (values, wrong) in numbers.items():
        if len(wrong) > _dates.NO_DATE * len(values):
            sample = _dates.brief(table.frame[name].iloc[:100])
            digits = np.mean([any(mark.isdigit() for mark in cell) for cell in sample])
            first = name == table.frame.columns[0]
            likely = like_dates(name) or (first and digits > 1 - _dates.NO_DATE)
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
    if len(years) < (1 - _dates.NO_DATE) * len(cells) or (np.diff(years) > 0).any():
        return
    if years[0] > years[-1]:
        raise ValueError(
            f"the dates in {shown(name)} of {source} are not read, such as {shown(cells[0])}, and "
            "the newest seem to come first: sort the rows from the oldest to the newest, or say "
            "how dates are written with --date-format."
        )
