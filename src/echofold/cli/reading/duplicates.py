"""Several rows for one date: repeated lines, hours when clocks go back, and what the user wants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from echofold.cli.reading.gaps import steps_between, written
from echofold.cli.reading.quote import shown
from echofold.cli.showing.output import Output

WAYS = ("mean", "first", "last", "sum")
HOUR = pd.Timedelta(hours=1)
BACK = (3, 4, 9, 10, 11)  # months in which clocks go back, south and north of the equator
NIGHT = 3  # the last hour that they repeat


def one_for_each(
    known: pd.DataFrame,
    again: Callable[[], np.ndarray],
    how: str | None,
    source: str,
    output: Output,
    other: Callable[[], str | None],
) -> pd.DataFrame:
    """Rows sorted by date, with one for each date, or the error that names two of them.

    Column 0 of ``known`` holds values, 1 the numbers of rows in the file, others inputs. ``again``
    tells by these numbers, less one, which rows repeat an earlier one cell by cell.
    ``other`` names another column that may hold dates.
    """
    doubled = known.index.duplicated(keep=False)
    if not doubled.any():
        return known
    if how is not None:
        count = int(known.index[doubled].nunique())
        dates = "1 date has" if count == 1 else f"{count} dates have"
        taken = {"mean": "their mean is", "sum": "their sum is"}.get(how, f"the {how} is")
        output.note(f"{dates} several rows in {source}; {taken} taken (--duplicates).")
        return _joined(known, how)
    copies = again()[known[1].to_numpy(dtype=int) - 1] & doubled
    if copies.any():
        first = int(known[1].to_numpy()[copies][0])
        rows = (
            "1 row repeats another" if copies.sum() == 1 else f"{copies.sum()} rows repeat others"
        )
        output.note(f"{rows} of {source} cell by cell, the first in row {first}: left out.")
        known = known[~copies]
    doubled = known.index.duplicated(keep=False)
    if doubled.any() and _clocks_went_back(known.index, doubled):
        hours = known.index[doubled].floor("h").unique()
        more = "" if len(hours) == 1 else f", and {len(hours) - 1} such hours of other years,"
        output.note(
            f"the hour from {written(hours[:1])[0]} is there twice{more} as when clocks go back: "
            "averaged."
        )
        return _joined(known, "mean")
    _refuse(known, source, other)
    return known


def _refuse(known: pd.DataFrame, source: str, other: Callable[[], str | None]) -> None:
    """Raise if there is still more than one row for a date."""
    doubled = known.index[known.index.duplicated()].unique()
    if not len(doubled):
        return
    rows = np.sort(known[1][known.index == doubled[0]].to_numpy(dtype=int))
    count = len(doubled) - 1
    more = f", and for {count} other date{'' if count == 1 else 's'}" if count else ""
    column = other()
    remedy = f"take the dates of {shown(column)} with --date, " if column else ""
    raise ValueError(
        f"{source} has more than one row for {written(doubled[:1])[0]} (rows {rows[0]} and "
        f"{rows[1]}){more}; {remedy}keep one row for each date, or say what is taken of them with "
        "--duplicates mean, first, last or sum."
    )


def _joined(known: pd.DataFrame, how: str) -> pd.DataFrame:
    """One row for each date; inputs are averaged where values are summed or averaged."""
    groups = known.groupby(level=0)
    if how in ("first", "last"):
        return groups.nth(0 if how == "first" else -1)
    joined = groups.mean()
    joined[1] = groups[1].first()
    if how == "sum":
        joined[0] = groups[0].sum(min_count=1)
    return joined


def _clocks_went_back(index: pd.Index, doubled: np.ndarray) -> bool:
    """Whether dates are there twice as local time has them: a whole hour at night, once a year."""
    if not isinstance(index, pd.DatetimeIndex):
        return False
    steps = steps_between(index.unique())
    if not len(steps):
        return False
    step = pd.Timedelta(int(np.median(steps)), unit=index.unit)
    if step > HOUR or HOUR % step != pd.Timedelta(0):
        return False
    twice = index[doubled]
    hours = twice.floor("h").unique()
    return bool(
        hours.month.isin(BACK).all()
        and (hours.hour <= NIGHT).all()
        and hours.year.is_unique
        and len(twice) == 2 * twice.nunique() == 2 * len(hours) * (HOUR // step)
    )
