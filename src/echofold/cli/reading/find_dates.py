"""Which column of a table holds its dates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from echofold.cli.reading import dates as _dates
from echofold.cli.reading.quote import listed, shown
from echofold.cli.reading.table import Table
from echofold.cli.showing.output import Output

WHOLE = 2.0**53  # up to which floats hold every whole number


def find_dates(
    table: Table,
    date: str | None,
    form: str | None,
    others: Sequence[str],
    output: Output,
) -> tuple[str | None, Any]:
    """The name of the column of dates, none of ``others``, and its values; None without one."""
    if date == "none":
        return None, None
    if date is not None:
        cells = table.column(date, "--date")
        values, wrong = table.numbers(date)
        dates = _dates.parse(cells, form, output.note)
        if not len(wrong) and dates.isna().any() and not np.isnan(values).any():
            return date, values
        return date, _all_dates(dates, cells, table.name)
    candidates: dict[str, pd.Series] = {}
    for name in table.frame.columns.drop(list(others), errors="ignore"):
        values, wrong = table.numbers(name)
        if not len(wrong) and not _may_be_dates(values):
            continue
        dates = _dates.parse(table.frame[name], form, output.note)
        if dates.isna().mean() < 0.1:
            candidates[name] = dates
    if not candidates:
        return None, None
    name = next(iter(candidates))
    if len(candidates) > 1:
        output.note(
            f"dates are taken from {shown(name)}; {listed(list(candidates)[1:])} could be too "
            "(--date)."
        )
    return name, _all_dates(candidates[name], table.frame[name], table.name)


def _may_be_dates(values: np.ndarray) -> bool:
    """Whether numbers are years, with few left out, or days such as 20240131."""
    if len(values) < 2 or not whole(values):
        return False
    steps = np.diff(values)
    years = values[0] >= 1500 and values[-1] <= 2300 and steps.min() > 0 and np.median(steps) == 1
    return bool(years) or bool(((values > 15e6) & (values < 24e6)).all())


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
