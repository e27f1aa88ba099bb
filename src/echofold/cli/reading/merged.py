"""Years and their periods in two columns, as tables are printed: merged cells, annual rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from echofold.cli.reading.date_names import role
from echofold.cli.reading.dates import brief
from echofold.cli.reading.fields import time_of_day
from echofold.cli.reading.month_names import MONTH, plain
from echofold.cli.reading.quote import shown
from echofold.cli.reading.table import Table

ANNUAL = re.compile(r"M13|Q05|S03")  # averages of a year, among its periods
PERIOD = re.compile(r"[MQSA]\d\d")
YEAR = re.compile(r"(1[5-9]|20|21|22)\d\d")
Note = Callable[[str], None]


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
        years = [row for row, cell in enumerate(sample) if YEAR.fullmatch(cell)]
        months = sum(cell in MONTH or re.fullmatch(r"q[1-4]", cell) is not None for cell in sample)
        if years and months and len(years) + months >= 0.9 * len(sample):
            raise ValueError(
                f"column {shown(name)} of {table.name} holds the year {sample[years[0]]} in row "
                f"{years[0] + 1}, above months without one: write the year into a column of its "
                "own beside the months, and remove such rows."
            )
