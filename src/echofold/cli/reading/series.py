"""From a table to the series to forecast: which column, which dates, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd

from echofold.cli.reading import spacing as _dates
from echofold.cli.reading.beside import Beside, beside
from echofold.cli.reading.choose import checked_numbers, choose_column
from echofold.cli.reading.duplicates import one_for_each
from echofold.cli.reading.find_dates import another, find_dates, say_none, whole
from echofold.cli.reading.gaps import (
    FILLS,
    MOST_ROWS,
    filled_by,
    refuse_filling,
    refuse_gaps,
    written,
)
from echofold.cli.reading.numbers import LARGEST
from echofold.cli.reading.panel import one_of, refuse_panel
from echofold.cli.reading.quote import shown
from echofold.cli.reading.seasons import check_seasons, seasons_of
from echofold.cli.reading.table import Table, read_table
from echofold.cli.reading.turns import say_turns
from echofold.cli.showing.output import Output

LEAST = 20  # values below which there is nothing to validate on


@dataclass(frozen=True)
class Series:
    """A series, evenly spaced, NaN where a value is missing, and what is known about it.

    ``every`` is the spacing of its dates, ``given`` are the seasons that were asked for, ``beside``
    are columns of its file that are inputs.
    """

    source: str
    values: pd.Series
    every: _dates.Spacing | None
    given: tuple[int, ...] | None = None
    beside: Beside | None = None

    @cached_property
    def seasons(self) -> tuple[int, ...]:
        """Steps in each season, the shortest first."""
        return self.seasons_before(len(self.values))

    def seasons_before(self, row: int) -> tuple[int, ...]:
        """The seasons as one would see them who knows the values before a row alone."""
        return seasons_of(self.values.to_numpy()[:row], self.every, self.given)

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
    output: Output,
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

    Columns that are ``inputs`` are kept for all rows, those without a value too. ``only`` names
    one of the series that the column ``id`` tells apart; a ``table`` that is given holds its rows.
    """
    if table is None:
        table = read_table(file, decimal, output.note)
        if id is not None and only is not None:
            table = one_of(table, id, only)
    return series_of(
        table,
        output,
        column=column,
        date=date,
        date_format=date_format,
        fill=fill,
        season=season,
        inputs=inputs,
        duplicates=duplicates,
        part=id is not None,
    )


def series_of(
    table: Table,
    output: Output,
    *,
    column: str | None,
    date: str | None,
    date_format: str | None,
    fill: str,
    season: tuple[int, ...] | None,
    inputs: tuple[str, ...] = (),
    duplicates: str | None = None,
    part: bool = False,
) -> Series:
    """The series to forecast from a table, which may be a ``part`` of a panel."""
    for name in inputs:
        table.column(name, "--input")
    others = [*inputs, *([column] if column else [])]
    dates_in, dates = find_dates(table, date, date_format, others, output, say=False)
    if not part and duplicates is None and date != "none":
        refuse_panel(table, dates, [*others, *([dates_in] if dates_in else [])])
    if dates is None and date != "none":
        say_none(table, others, output)
    known = [*inputs, *([dates_in] if dates_in else [])]
    column = choose_column(table, column, known)
    if not part:
        say_turns(table, dates, [*known, column], output.note)
    values = checked_numbers(table, column)
    for name in (column, *inputs):
        table.say(name, output.note)
    made, more = beside(table, inputs, column) if inputs else ([], values[:, None][:, :0])
    rows = pd.RangeIndex(1, len(values) + 1, name="row")
    frame = pd.DataFrame(np.column_stack([values, rows, more]), rows)
    spacing = None
    _enough(MOST_ROWS * len(frame), len(frame), column, table.name)  # before looking for a spacing
    if dates is not None:
        frame.index = pd.Index(dates, name=dates_in)
        frame = _sorted(frame, table.name, output)
        other = partial(another, table, dates_in, [*inputs, column])
        several = frame.index.has_duplicates
        frame = one_for_each(frame, table.repeated, duplicates, table.name, output, other)
        frame, spacing = _evenly(frame, table.name, output)
        if several and duplicates == "sum":
            frame = _nothing_happened(frame, output)
    known = _without_holes(frame[0].rename(column), fill, table.name, output, bool(inputs))
    _enough(known.count(), known.count(), column, table.name)
    _check_spread(float(known.max() - known.min()), column, table.name)
    check_seasons(known.to_numpy(), spacing, season, output)
    names = [name for one in made for name in one.names]
    kept = Beside(made, frame.iloc[:, 2:].set_axis(names, axis=1), frame[1]) if made else None
    return Series(table.name, known, spacing, season, kept)


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


def _sorted(known: pd.DataFrame, source: str, output: Output) -> pd.DataFrame:
    """Rows in time order."""
    if known.index.is_monotonic_increasing:
        return known
    output.note(f"the rows of {source} are not in time order; they were sorted by date.")
    return known.iloc[known.index.argsort(kind="stable")]


def _evenly(
    known: pd.DataFrame, source: str, output: Output
) -> tuple[pd.DataFrame, _dates.Spacing | None]:
    """Check the spacing of sorted dates, and open a row for every missing one."""
    rows = known[1].to_numpy(dtype=int)
    if len(known) < 2:
        raise ValueError(
            f"{source} has {written(known.index)[0]} in {shown(known.index.name)} and no other "
            "time; name another column with --date, or take rows as evenly spaced with --date none."
        )
    if not isinstance(known.index, pd.DatetimeIndex):
        return _numbered(known, rows, source), None
    refuse_gaps(known.index, rows, source)
    spacing = _dates.spacing(known.index)
    if spacing is None:
        known.index, spacing = _moved(known.index, source, output)
    every = _dates.grid(known.index, spacing.freq).rename(known.index.name)
    return known.reindex(every), spacing


def _moved(
    dates: pd.DatetimeIndex, source: str, output: Output
) -> tuple[pd.DatetimeIndex, _dates.Spacing]:
    """Dates that are nearly even on the grid that was meant, or the error about them."""
    step = _dates.usual_step(dates)
    within = step is not None and step < _dates.DAY
    near = _dates.rounded(dates) if within else None
    start = None if near else _dates.calendar(dates)
    near = near or (None if start or within else _dates.rounded(dates))
    found = near or start
    if found is None:
        raise ValueError(
            f"the dates in {shown(dates.name)} of {source} are not evenly spaced: bring them to "
            f"{_dates.advice(dates)} first, or take rows as evenly spaced with --date none."
        )
    if near:
        output.note(f"dates are rounded, for they are nearly {found[1].words}.")
    else:
        output.note(f"dates are moved to the start of their period to be evenly {found[1].words}.")
    return found[0].rename(dates.name), found[1]


def _nothing_happened(known: pd.DataFrame, output: Output) -> pd.DataFrame:
    """Zeros at dates without any row, where rows are added up."""
    empty = known[1].isna()
    if empty.any():
        dates = "1 date has" if empty.sum() == 1 else f"{empty.sum():,} dates have"
        first = written(known.index[empty.to_numpy()][:1])[0]
        output.note(f"{dates} no row, the first {first}: their sums are 0.")
        known.loc[empty, 0] = 0.0
    return known


def _numbered(known: pd.DataFrame, rows: np.ndarray, source: str) -> pd.DataFrame:
    """The same for rows that are numbered instead of dated."""
    numbers, name = known.index.to_numpy(), known.index.name
    if whole(numbers):
        refuse_gaps(known.index, rows, source)
    if not whole(numbers) or (np.diff(numbers) % np.diff(numbers).min()).any():
        raise ValueError(
            f"column {shown(name)} of {source} holds neither dates nor evenly spaced whole "
            "numbers; name another with --date, or take rows as evenly spaced with --date none."
        )
    step = int(np.diff(numbers).min())
    return known.reindex(pd.RangeIndex(int(numbers[0]), int(numbers[-1]) + 1, step, name=name))


def _without_holes(
    known: pd.Series, fill: str, source: str, output: Output, ahead: bool = False
) -> pd.Series:
    """Cut missing values off the ends, and ``fill`` those inside if so asked.

    The last may be ``ahead`` of time.
    """
    known_rows = np.flatnonzero(known.notna())
    if not len(known_rows):
        raise ValueError(f"column {shown(known.name)} of {source} holds no numbers.")
    first, last = known_rows[0], known_rows[-1]
    cut = [(first, "first"), (len(known) - 1 - last, "last")]
    for count, where in cut:
        if count and not (ahead and where == "last"):
            rows = "row has" if count == 1 else f"{count} rows have"
            end = f": the series ends at {written(known.index[[last]])[0]}" * (where == "last")
            are = "is" if count == 1 else "are"
            output.note(f"the {where} {rows} no value and {are} left out{end}.")
    known = known.iloc[first : last + 1]
    missing = known.isna()
    if not missing.any():
        return known
    count, first = int(missing.sum()), written(known.index[missing][:1])[0]
    are = "is" if count == 1 else "are"
    text = f"{count} of {len(known):,} values {are} missing, the first at {first}"
    if fill == "none":
        raise ValueError(f"{source}: {text}; fill them, or use another --fill than none.")
    if fill != "forward":
        refuse_filling(missing.to_numpy(), known.index, source)
    output.note(f"{text}; {FILLS[fill]} (see --fill).")
    return filled_by(fill, known)
