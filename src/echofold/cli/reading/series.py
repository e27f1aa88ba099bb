"""From a file to the series to forecast: which column, which dates, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd

from echofold._data.dates import timeline
from echofold._data.season import detected_season
from echofold._data.text import Note, count, listed, shown
from echofold.cli.reading.date_columns import another, find_dates, say_unread
from echofold.cli.reading.inputs import Beside, Inputs, Wanted, columns_beside, columns_of, joined
from echofold.cli.reading.layout import times_across
from echofold.cli.reading.numbers import LARGEST, TOO_LARGE, whole
from echofold.cli.reading.panel import one_of, refuse_panel, say_turns
from echofold.cli.reading.spacing import MOST_ROWS, Spacing, evenly, without_holes, written
from echofold.cli.reading.table import Table, read_table

LEAST = 20  # values below which there is nothing to validate on
YEAR = 365  # days, for which three years must be there: two hardly tell it from a trend
LEAST_YEARS = 3


@dataclass(frozen=True)
class Series:
    """A series, evenly spaced, NaN where a value is missing, and what is known about it.

    ``every`` is the spacing of its dates, ``given`` are the seasons that were asked for, ``beside``
    are columns of its file that are inputs.
    """

    source: str
    values: pd.Series
    every: Spacing | None
    given: tuple[int, ...] | None = None
    beside: Beside | None = None

    @cached_property
    def seasons(self) -> tuple[int, ...]:
        """Steps in each season, the shortest first."""
        return self.seasons_before(len(self.values))

    def seasons_before(self, row: int) -> tuple[int, ...]:
        """The seasons as one would see them who knows the values before a row alone.

        A season must fit into the values at least twice: one that was never seen again cannot be
        learned.
        """
        lengths = self._told
        if lengths is None:
            found = detected_season(self.values.to_numpy()[:row])
            return () if found is None else (found,)
        count = min(row, len(self.values))
        return tuple(sorted({one for one in lengths if one > 1 and _fits(one, count)}))

    @property
    def _told(self) -> tuple[int, ...] | None:
        """Seasons that were given or are of the calendar; None if the values must tell."""
        return self.every.seasons if self.given is None and self.every else self.given

    def check_seasons(self, note: Note) -> None:
        """Refuse a given season that does not fit, and say which one was found in the values."""
        count = len(self.values)
        for length in self.given or ():
            if not _fits(length, count):
                raise ValueError(
                    f"--season {length} does not fit twice into {count} values; give at most "
                    f"{count // 2}, or 1 for none."
                )
        for found in self.seasons if self._told is None else ():
            note(f"season of {found} found in the values; give --season to set it.")

    @property
    def spacing(self) -> str | None:
        """The spacing of the dates in words."""
        return None if self.every is None else self.every.words

    @property
    def headline(self) -> str:
        """One line about the series."""
        first, last = written(self.values.index[[0, -1]])
        every = f", {self.spacing}" if self.spacing else ""
        return (
            f"{self.source}: column {shown(self.values.name)}, {len(self.values):,} values{every}, "
            f"{'' if self.spacing else 'rows '}{first} to {last}"
        )


def read_series(
    file: str,
    note: Note,
    *,
    column: str | None,
    date: str | None,
    date_format: str | None,
    decimal: str | None,
    fill: str,
    season: tuple[int, ...] | None,
    inputs: tuple[str, ...] = (),
    duplicates: str | None = None,
    id: str | None = None,
    only: str | None = None,
    table: Table | None = None,
) -> Series:
    """Read the series to forecast from a file, or say in one line what is wrong with it.

    What was assumed is given to ``note``. Columns that are ``inputs`` are kept for all rows, those
    without a value too. ``only`` names one of the series that the column ``id`` tells apart; a
    ``table`` that is given holds its rows.
    """
    if table is None:
        table = read_table(file, decimal, note)
        if id is not None and only is not None:
            table = one_of(table, id, only)
    for name in inputs:
        table.column(name, "--input")
    others = [*inputs, *([column] if column else [])]
    dates_in, dates = find_dates(table, date, date_format, others, note)
    known = [*inputs, *([dates_in] if dates_in else [])]
    if dates_in is not None and dates_in in others:
        option = "--column" if dates_in == column else "--input"
        raise ValueError(
            f"{option} {shown(dates_in)} of {table.name} is its column of dates; name a column of "
            "values, or give --date none."
        )
    if id is None and duplicates is None and date != "none":
        refuse_panel(table, dates, [*others, *known])
    if dates is None and date != "none":
        say_unread(table, others, note)
    column = _chosen(table, column, known)
    if id is None:
        say_turns(table, dates, [*known, column], note)
    values = _checked(table, column)
    for name in (column, *inputs):
        table.say(name, note)
    made = columns_beside(table, inputs, column)
    rows = pd.RangeIndex(1, len(values) + 1, name="row")
    frame = pd.DataFrame(np.column_stack([values, rows, *(one.values for one in made)]), rows)
    every = None
    _enough(MOST_ROWS * len(frame), len(frame), column, table.name)  # before looking for a spacing
    if dates is not None:
        frame.index = pd.Index(dates, name=dates_in)
        other = partial(another, table, [*known, column])
        frame, every = evenly(frame, table, duplicates, other, note)
    kept = without_holes(frame[0].rename(column), fill, table.name, note, bool(inputs))
    _enough(kept.count(), kept.count(), column, table.name)
    _check_spread(float(kept.max() - kept.min()), column, table.name)
    names = [name for one in made for name in one.names]
    beside = Beside(made, frame.iloc[:, 2:].set_axis(names, axis=1), frame[1]) if made else None
    series = Series(table.name, kept, every, season, beside)
    series.check_seasons(note)
    return series


def read_inputs(
    series: Series,
    horizon: int,
    note: Note,
    *,
    file: str | None,
    date_format: str | None,
    decimal: str | None,
    fill: str,
    id: str | None = None,
    only: str | None = None,
) -> Inputs | None:
    """Inputs from columns of the series' own file and from another; None if there are neither.

    ``horizon`` rows must follow the values of the series, which may be none. Of another file with
    the column ``id`` the rows of ``only`` are taken, and all of one without it.
    """
    index = series.values.index
    ahead = timeline(index, "y").following(horizon) if horizon else index[:0]
    wanted = Wanted(series.source, str(series.values.name), index, ahead, series.every)
    parts: list[pd.DataFrame] = []
    if series.beside is not None:
        parts.append(series.beside.at(wanted, fill, note))
    if file is not None:
        table = read_table(file, decimal, note)
        if id is not None and only is not None and id in table.frame.columns:
            table = one_of(table, id, only)
        parts.append(columns_of(table, wanted, date_format, note))
    return joined(parts, wanted, file, note) if parts else None


def _chosen(table: Table, column: str | None, others: list[str]) -> str:
    """The column to forecast: as named, or the only one with numbers."""
    if column is not None:
        table.column(column, "--column")
        return column
    columns = {}
    for name in table.frame.columns.drop(others, errors="ignore"):
        values, wrong = table.numbers(name)
        filled = values[~np.isnan(values)]
        if len(filled) > len(wrong):
            columns[name] = len(np.unique(filled)) > 1 and not _counts(values)
    varying = [name for name, varies in columns.items() if varies] or list(columns)
    if len(varying) == 1:
        return varying[0]
    if not varying:
        raise ValueError(_none(table, others))
    times = times_across(list(table.frame.columns))
    if times:
        raise ValueError(
            f"in {table.name} time runs across the columns, {listed(times[:3])}, …: turn the "
            "table, so that each date has a row."
        )
    raise ValueError(
        f"{table.name} has {len(varying)} columns of numbers, {listed(varying)}: name the one to "
        "forecast with --column."
    )


def _counts(values: np.ndarray) -> bool:
    """Whether values count rows or seconds: whole numbers with a constant step."""
    steps = np.diff(values)
    return len(steps) > 0 and whole(values) and steps[0] > 0 and bool((steps == steps[0]).all())


def _none(table: Table, others: list[str]) -> str:
    """What to say of a table without numbers: a cell that is none, of the best column."""
    names = list(table.frame.columns.drop(others, errors="ignore"))
    if not names:
        return (
            f"{table.name} has no column of numbers beside {listed(others)}; add the values to "
            "forecast."
        )
    best = min(names, key=lambda name: len(table.numbers(name)[1]) or len(table.frame) + 1)
    wrong = table.numbers(best)[1]
    if not len(wrong):
        return f"{table.name} has no column of numbers: the cells of {listed(names)} are empty."
    return table.clash(best) or (
        f"{table.name} has no column of numbers: column {shown(best)} holds "
        f"{_first(table, best, wrong)}, which is none (its columns are {listed(table.frame)}); "
        "correct such cells, or leave them empty."
    )


def _checked(table: Table, column: str) -> np.ndarray:
    """Numbers of a column, NaN where a cell is empty, or the error that names another cell."""
    values, wrong = table.numbers(column)
    holds = f"column {shown(column)} of {table.name} holds"
    if len(wrong):
        raise ValueError(
            table.clash(column)
            or f"{holds} {_first(table, column, wrong)}, but numbers are needed; correct it, or "
            "leave the cell empty."
        )
    huge = np.flatnonzero(np.abs(values) > LARGEST)
    if len(huge):
        raise ValueError(f"{holds} {_first(table, column, huge)}, {TOO_LARGE}")
    return values


def _first(table: Table, column: str, rows: np.ndarray) -> str:
    """The first of some cells with its row, and how many there are."""
    more = f" (and {count(len(rows) - 1, 'more such cell')})" if len(rows) > 1 else ""
    return table.place(column, rows[0]) + more


def _enough(most: int, there: int, column: str, source: str) -> None:
    """Raise for a series that has, or can have at most, too few values."""
    if most < LEAST:
        raise ValueError(
            f"{source} has {there} value{'' if there == 1 else 's'} in {shown(column)}; at least "
            f"{LEAST} are needed to train and validate a network."
        )


def _check_spread(spread: float, column: str, source: str) -> None:
    """Raise for values that do not vary, or so little that their squares would all be zero."""
    if spread == 0:
        raise ValueError(f"column {shown(column)} of {source} is constant: nothing to learn.")
    if spread < 1 / LARGEST:
        raise ValueError(
            f"column {shown(column)} of {source} varies by {spread:.3g} only, too little to "
            "compute with; multiply it by a constant first."
        )


def _fits(length: int, count: int) -> bool:
    """Whether a season is there often enough."""
    return count >= (LEAST_YEARS if length == YEAR else 2) * length or length == 1
