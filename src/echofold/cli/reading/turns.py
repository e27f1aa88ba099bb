"""Columns whose values take turns with the dates, or follow one another, as those of series do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from echofold.cli.reading.date_names import like_dates
from echofold.cli.reading.dates import parse
from echofold.cli.reading.panel import CALENDAR, LEAST_ROWS, ids_of
from echofold.cli.reading.quote import shown
from echofold.cli.reading.table import Table

MOST_COLUMNS = 50


def say_turns(
    table: Table,
    dates: pd.Series | np.ndarray | None,
    others: Sequence[str],
    note: Callable[[str], None],
) -> None:
    """Say which column may tell several series apart, though no date is there twice."""
    if dates is None or not pd.Index(dates).is_unique:
        return
    order = np.argsort(pd.Index(dates).to_numpy(), kind="stable")
    times = pd.Index(dates)[order]
    for name in table.frame.columns.drop(list(others), errors="ignore")[:MOST_COLUMNS]:
        values, wrong = table.numbers(name)
        text = len(wrong) == len(values)
        if not text and (len(wrong) or not _numbered(values)):
            continue
        codes, known = pd.factorize(ids_of(table, name).to_numpy()[order])
        if not 2 <= len(known) <= len(codes) / LEAST_ROWS:
            continue
        if (codes == np.arange(len(codes)) % len(known)).all():
            how = "that take turns"
        elif text and np.count_nonzero(np.diff(codes)) == len(known) - 1:
            how = "in blocks one after the other"
        else:
            continue
        if _of_calendar(name, codes, times):
            continue
        if text and parse(pd.Series(known, name=name), None, lambda _: None).notna().any():
            continue  # days on which a part of the file was written
        note(
            f"{shown(name)} has {len(known)} values {how}: if they are of different series, use "
            f"--id {name if name.isidentifier() else shown(name)}."
        )
        return


def _numbered(values: np.ndarray) -> bool:
    """Whether numbers are those of a few things: 0 or 1, and on by one."""
    known = np.unique(values)
    return known[0] in (0, 1) and bool((np.diff(known) == 1).all())


def _of_calendar(name: str, codes: np.ndarray, times: pd.Index) -> bool:
    """Whether values follow from the dates: one for each weekday, or for hours in a row."""
    if name.lower() in CALENDAR or like_dates(name, whole=True):
        return True
    if not isinstance(times, pd.DatetimeIndex):
        return False
    whole = [times.year, times.year * 12 + times.month, times.normalize().asi8]
    parts = [times.day_of_week, times.hour, times.month, times.minute, times.day]
    for part in (*parts, *whole):
        _, places = np.unique(part, return_inverse=True)
        pairs = np.unique(np.column_stack([places, codes]), axis=0)
        if len(pairs) == len(codes) or len(pairs) > places.max() + 1:
            continue  # each row has its own, or one part of a date has several values
        changes = np.count_nonzero(pairs[:, 1] != np.roll(pairs[:, 1], 1))
        if changes <= codes.max() + 1:
            return True
    return False
