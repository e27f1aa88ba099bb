"""From a file to the series to forecast and its inputs: their columns, dates and missing values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.calendar import calendar, group_of, told_by
from echofold._data.dates import timeline, written
from echofold._data.season import calendar_seasons, detected_season, seen_seasons
from echofold._data.text import Note, count, inflected, listed, shown
from echofold.cli.reading import spacing
from echofold.cli.reading.date_columns import another, find_dates, say_unread, unfolded
from echofold.cli.reading.dialect import Dialect
from echofold.cli.reading.layout import times_across
from echofold.cli.reading.numbers import LARGEST, MISSING, TOO_LARGE, each_cell, whole
from echofold.cli.reading.panel import one_of, refuse_panel, say_turns
from echofold.cli.reading.table import FileTable, read_table

YES, NO = {"true", "yes", "t", "y"}, {"false", "no", "f", "n"}
MOST_NAMES = 20  # different ones in a column, for each becomes an input


@dataclass(frozen=True)
class FileSeries:
    """A series, evenly spaced, NaN where a value is missing, and what is known about it.

    ``every`` is the frequency of its dates, ``given`` are the seasons that were asked for,
    ``beside`` are columns of its file that are inputs, and after these the numbers of its rows,
    NaN where it has none; ``calendar`` are arguments of `echofold.calendar`, if that is one too.
    """

    source: str
    values: pd.Series
    every: str | None
    given: tuple[int, ...] | None = None
    beside: pd.DataFrame | None = None
    dialect: Dialect = Dialect()  # of its file
    most: float | None = None  # that a value can be: 100 of per cent
    calendar: dict[str, Any] | None = None

    @property
    def seasons(self) -> tuple[int, ...]:
        """Seasons that the values show again, the shortest first."""
        told = calendar_seasons(self.every) if self.given is None and self.every else self.given
        if told is not None:  # else the values must tell
            return seen_seasons(told, len(self.values))
        found = detected_season(self.values.to_numpy())
        return () if found is None else (found,)

    @property
    def spacing(self) -> str | None:
        """The spacing of the dates in words."""
        return None if self.every is None else spacing.words_of(self.every)

    @property
    def headline(self) -> str:
        """One line about the series."""
        first, last = written(self.values.index[[0, -1]])
        every = f", {self.spacing}" if self.spacing else ""
        return (
            f"{self.source}: column {shown(self.values.name)}, "
            f"{inflected(len(self.values), '1 value', '{:,} values')}{every}, "
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
    id: tuple[str, ...] = (),
    only: str | None = None,
    sheet: str | None = None,
    holidays: str | None = None,
    paydays: tuple[int, ...] | None = None,
    every: str | None = None,
    table: FileTable | None = None,
) -> FileSeries:
    """Read the series to forecast from a file, or say in one line what is wrong with it.

    What was assumed is given to ``note``. Columns that are ``inputs`` are kept for all rows, those
    without a value too. ``only`` names one of the series that columns ``id`` tell apart; its rows
    are those of a ``table``, if one is given. ``every`` is the spacing of dates, if it is known.
    """
    if table is None:
        table = read_table(file, decimal, note, sheet)
        if id and only is not None:
            table = one_of(table, id, only, date_format, note)
    if column is None and date is None and not inputs and not id:
        table = unfolded(table, note)
    for name in inputs:
        table.column(name, "--input")
    others = [*inputs, *([column] if column else [])]
    dates_in, dates = find_dates(table, date, date_format, others, note)
    dialect = table.dialect
    if dates_in is not None and dates is not None:
        dialect = dialect.of_dates(table.frame[dates_in], dates)
    known = [*inputs, *([dates_in] if dates_in else [])]
    if dates_in is not None and dates_in in others:
        option = "--column" if dates_in == column else "--input"
        raise ValueError(
            f"{option} {shown(dates_in)} of {table.name} is its column of dates; name a column of "
            "values, or give --date none."
        )
    if not id and duplicates is None and date != "none":
        refuse_panel(table, dates, [*others, *known])
    if dates is None and date != "none":
        say_unread(table, others, note)
    column = _chosen(table, column, known)
    if not id:
        say_turns(table, dates, [*known, column], note)
    values = _checked(table, column)
    for name in (column, *inputs):
        table.say(name, note)
    if column in inputs:
        raise ValueError(
            f"--input {column}: this column is to be forecast, and not known in advance; name "
            "another, or another --column."
        )
    rows = pd.RangeIndex(1, len(values) + 1, name="row")
    made = [_encoded(table, name, np.arange(len(values))) for name in inputs]
    frame = pd.DataFrame(np.column_stack([values, rows, *made]), rows)
    follows, every = every, None
    if dates is not None:
        frame.index = dates.rename(dates_in)
        other = partial(another, table, [*known, column])
        frame, every = spacing.evenly(frame, table, duplicates, other, note, follows)
    kept = spacing.without_holes(
        frame[0].rename(column), fill, table.name, note, bool(inputs), follows is not None
    )
    names = [name for one in made for name in one]
    beside = frame[[*range(2, frame.shape[1]), 1]].set_axis([*names, "row"], axis=1)
    percent = any("in per cent" in words for words in table.numbers(column).notes)
    most = 100.0 if percent and kept.min() >= 0 and kept.max() <= 100 else None
    found = FileSeries(table.name, kept, every, season, beside if made else None, dialect, most)
    if holidays is None:
        return found
    return replace(found, calendar={"country": holidays, "paydays": paydays or ()})


@dataclass(frozen=True)
class Inputs:
    """Columns beside the values of a series, and beside those that follow; None without any."""

    past: pd.DataFrame | None = None
    ahead: pd.DataFrame | None = None

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [] if self.past is None else list(self.past.columns)

    @property
    def words(self) -> str:
        """One line about them; empty without any."""
        names = dict.fromkeys(map(group_of, self.names))
        return f"inputs known in advance: {listed(names)}" if names else ""


def read_inputs(
    series: FileSeries,
    horizon: int,
    note: Note,
    *,
    file: str | None,
    date_format: str | None,
    decimal: str | None,
    fill: str,
    id: tuple[str, ...] = (),
    only: str | None = None,
) -> Inputs | None:
    """Inputs of the series' own file, of another, and of its calendar; None if there are none.

    ``horizon`` rows must follow the values of the series, which may be none. Of another file with
    columns ``id`` the rows of ``only`` are taken, and all of one without it. Inputs of which
    nothing can be learned are left out.
    """
    if series.beside is None and file is None and series.calendar is None:
        return None
    index, known = series.values.index, len(series.values)
    ahead = timeline(index).following(horizon) if horizon else index[:0]
    both = _all_inputs(
        series, index.append(ahead), note, file=file, date_format=date_format, decimal=decimal,
        fill=fill, id=id, only=only,
    )  # fmt: skip
    still = [name for name in both if both[name].iloc[:known].nunique() < 2]
    if len(still) == both.shape[1]:
        raise ValueError(
            f"no input changes beside the values of the series: {listed(still)} cannot explain "
            "them; give others, or none."
        )
    if still:
        note(f"left out, for they never change beside the values: {listed(still)}.")
    both = both.drop(columns=still)
    return Inputs(both.iloc[:known].set_axis(index), both.iloc[known:].set_axis(ahead))


def known_inputs(
    series: FileSeries, dates: pd.Index, names: Sequence[str], note: Note, *, file: str | None,
    **how: Any,
) -> pd.DataFrame:  # fmt: skip
    """Inputs of these names at these dates, for a model that was fitted to them.

    A name such as ``holiday=Christmas`` that no cell holds is 0; columns of a calendar that are not
    given are made again, as their names tell.
    """
    if series.beside is None and file is None and told_by(names) is None:
        raise ValueError(
            f"the model was fitted with inputs known in advance, {listed(names)}: give them with "
            "--inputs, or --input for columns of the same file."
        )
    both = _all_inputs(series, dates, note, file=file, **how)
    lacks = [name for name in names if name not in both and "=" not in name]
    if (told := told_by(lacks)) is not None:
        made = _of_calendar(told, series, dates)
        both = pd.concat([both, made.filter(lacks)], axis=1)
        lacks = [name for name in lacks if name not in made]
    if lacks:
        raise ValueError(
            f"inputs {listed(lacks)} of the model are not given; there are {listed(both)}. Give "
            "them, by the same names."
        )
    return both.reindex(columns=list(names), fill_value=0.0).set_axis(dates)


def _all_inputs(
    series: FileSeries, dates: pd.Index, note: Note, *, file: str | None, date_format: str | None,
    decimal: str | None, fill: str, id: tuple[str, ...] = (), only: str | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Inputs of the series' own file, of another and of its calendar at these dates."""
    parts = [_own_inputs(series, dates, fill, note)]
    if file is not None:
        table = read_table(file, decimal, note)
        if id and only is not None and set(id) <= set(table.frame.columns):
            table = one_of(table, id, only, date_format, note)
        parts.append(_other_inputs(table, series, dates, date_format, note))
    if series.calendar is not None:
        parts.append(_of_calendar(series.calendar, series, dates))
    both = pd.concat([pd.DataFrame(index=range(len(dates))), *parts], axis=1)
    doubled = both.columns[both.columns.duplicated()]
    if len(doubled):
        if series.calendar is not None and told_by(doubled) is not None:
            raise ValueError(
                f"input {shown(doubled[0])} is one of --holidays too: leave these out, or that one."
            )
        raise ValueError(
            f"input {shown(doubled[0])} is in {series.source} and in {file}; name it with --input "
            "or leave it in the file of --inputs, not both."
        )
    return both


def _of_calendar(told: dict[str, Any], series: FileSeries, dates: pd.Index) -> pd.DataFrame:
    """Holidays and the like at these dates, by the arguments of `echofold.calendar`."""
    if not isinstance(dates, pd.DatetimeIndex):
        raise ValueError(
            f"--holidays needs dates, and {series.source} has none that could be read: add them, "
            "or name their column with --date."
        )
    return calendar(dates, **told, freq=series.every).reset_index(drop=True)


def _chosen(table: FileTable, column: str | None, others: list[str]) -> str:
    """The column to forecast: as named, or the only one with numbers."""
    if column is not None:
        table.column(column, "--column")
        return column
    columns = {}
    for name in table.columns(others):
        values, wrong = table.numbers(name)[:2]
        filled = values[~np.isnan(values)]
        if len(filled) > len(wrong):
            steps = np.unique(np.diff(values))  # one, above zero, where rows or seconds are counted
            counts = whole(values) and len(steps) == 1 and steps[0] > 0
            columns[name] = len(np.unique(filled)) > 1 and not counts
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


def _none(table: FileTable, others: list[str]) -> str:
    """What to say of a table without numbers: a cell that is none, of the best column."""
    names = table.columns(others)
    if not names:
        return (
            f"{table.name} has no column of numbers beside {listed(others)}; add the values to "
            "forecast."
        )
    best = min(names, key=lambda name: len(table.numbers(name).wrong) or len(table.frame) + 1)
    wrong = table.numbers(best).wrong
    if not len(wrong):
        return f"{table.name} has no column of numbers: the cells of {listed(names)} are empty."
    cell = table.place(best, wrong[0], len(wrong))
    return table.clash(best) or (
        f"{table.name} has no column of numbers: column {shown(best)} holds {cell}, which is none "
        f"(its columns are {listed(table.frame)}); correct such cells, or leave them empty."
    )


def _checked(table: FileTable, column: str) -> np.ndarray:
    """Numbers of a column, NaN where a cell is empty, or the error that names another cell."""
    values, wrong = table.numbers(column)[:2]
    holds = f"column {shown(column)} of {table.name} holds"
    if len(wrong):
        raise ValueError(
            table.clash(column)
            or f"{holds} {table.place(column, wrong[0], len(wrong))}, but numbers are needed; "
            "correct it, or leave the cell empty."
        )
    huge = np.flatnonzero(np.abs(values) > LARGEST)
    if len(huge):
        raise ValueError(f"{holds} {table.place(column, huge[0], len(huge))}, {TOO_LARGE}")
    return values


def _encoded(table: FileTable, column: str, rows: np.ndarray) -> pd.DataFrame:
    """Inputs of a column at some ``rows``: NaN in empty cells, but zeros in a column of names."""
    values, wrong = table.numbers(column)[:2]
    of_names = np.count_nonzero(~np.isnan(values)) < len(wrong)  # though not in these rows
    values, wrong = values[rows], rows[np.isin(rows, wrong)]
    holds = f"input {shown(column)} of {table.name} holds"
    huge = rows[np.abs(values) > LARGEST]
    if len(huge):
        raise ValueError(f"{holds} {table.place(column, huge[0])}, {TOO_LARGE}")
    if not len(wrong) and not of_names:
        return pd.DataFrame({column: values})
    if not of_names and np.count_nonzero(~np.isnan(values)) > len(wrong):
        raise ValueError(
            f"{holds} {table.place(column, wrong[0])}, but numbers are needed, as in its other "
            "rows; correct it."
        )
    cells = list(each_cell(table.frame[column].iloc[rows]))
    words = [cell.lower() for cell in cells]
    every = {cell.lower() for cell in each_cell(table.frame[column])} if of_names else set(words)
    if every <= YES | NO | MISSING:
        meant = [1.0 if word in YES else 0.0 if word in NO else np.nan for word in words]
        return pd.DataFrame({column: meant})
    names = sorted({cell for cell in cells if cell.lower() not in MISSING})
    if len(names) > MOST_NAMES:
        raise ValueError(
            f"{holds} {len(names)} different names, such as {shown(names[0])} and "
            f"{shown(names[1])}, and each becomes an input; at most {MOST_NAMES} are taken: join "
            "some of them, or leave the column out."
        )
    found = np.array(cells, dtype=object)
    made = {f"{column}={name}": (found == name).astype(float) for name in names}
    return pd.DataFrame(made, index=range(len(cells)))


def _refuse_empty(frame: pd.DataFrame, rows: np.ndarray, source: str) -> None:
    """Raise for an input that is empty in one of these rows of a file, counted from 1."""
    for name, column in frame.items():
        empty = rows[column.isna().to_numpy()].astype(int)
        if len(empty):
            more = f" and {count(len(empty) - 1, 'more row')}" if len(empty) > 1 else ""
            raise ValueError(
                f"input {shown(name)} of {source} is empty in row {empty[0]}{more}; inputs must be "
                "known for every value and for those to forecast: fill it in."
            )


def _own_inputs(series: FileSeries, dates: pd.Index, fill: str, note: Note) -> pd.DataFrame | None:
    """Inputs of the series' own file for all dates, without holes, or the error."""
    source, known = series.source, len(series.values)
    if series.beside is None:
        return None
    beside, rows = series.beside.iloc[:, :-1], series.beside.iloc[:, -1]
    there = int(dates.isin(beside.index).sum())
    if there < len(dates):
        raise ValueError(
            f"{source} has {there - known} rows after its last value, but --input needs "
            f"{len(dates) - known}, until {written(dates[-1:])[0]}: add rows with the inputs "
            "and an empty cell for the value, or forecast fewer."
        )
    frame, rows = beside.loc[dates], rows.loc[dates].to_numpy()
    opened = np.isnan(rows)
    if opened[known:].any():
        date = written(dates[known:][opened[known:]][:1])[0]
        raise ValueError(
            f"{source} has no row for {date}, which is to be forecast; add it with its inputs."
        )
    _refuse_empty(frame[~opened], rows[~opened], source)
    frame = frame.reset_index(drop=True)
    if opened.any():
        how = spacing.FILLS[fill.replace("leave", "forward")]  # by the network, which needs some
        flags = " (zeros and ones with the value before)" * (fill == "interpolate")
        note(f"inputs in the {count(int(opened.sum()), 'missing row')} are {how}{flags}.")
        for name in frame:
            flag = fill == "interpolate" and beside[name].isin([0, 1, np.nan]).all()
            frame[name] = spacing.filled_by("forward" if flag else fill, frame[name])
    return frame


def _other_inputs(
    table: FileTable, series: FileSeries, dates: pd.Index, form: str | None, note: Note
) -> pd.DataFrame:
    """All columns of another table but its dates, in the rows of these dates."""
    rows, dates_in = _matching(table, series, dates, form, note)
    column = series.values.name
    if column in table.frame.columns:
        raise ValueError(
            f"{table.name} holds {shown(column)}, which is to be forecast and not known in "
            "advance; remove that column from the inputs."
        )
    names = table.columns([dates_in] if dates_in else [])
    if not names:
        raise ValueError(f"{table.name} has no column beside its dates; add the inputs.")
    made = []
    for name in names:
        made.append(_encoded(table, name, rows))
        _refuse_empty(made[-1], rows + 1, table.name)
    for name in names:
        table.say(name, note)
    return pd.concat(made, axis=1)


def _matching(
    table: FileTable, series: FileSeries, dates: pd.Index, form: str | None, note: Note
) -> tuple[np.ndarray, str | None]:
    """Positions in a table of the rows that belong to these dates, and its own column of them."""
    source, index = series.source, series.values.index
    numbered = not isinstance(index, pd.DatetimeIndex)
    named = index.name if index.name in table.frame.columns else None
    in_order = numbered and named is None
    say = (lambda _: None) if in_order else note
    dates_in, there = find_dates(table, named, form, (), say)
    if there is None:
        say_unread(table, (), say)
    if in_order:
        if there is not None:
            note(
                f"dates in {shown(dates_in)} of {table.name} are not used, because {source} has "
                "none: rows are taken in their order."
            )
        return _in_order(table, series, len(dates), note), dates_in
    if there is None:
        raise ValueError(
            f"{table.name} has no column of dates, but {source} has; add the dates of its rows, "
            f"best as {shown(index.name)}."
        )
    if numbered == isinstance(there, pd.DatetimeIndex):
        kinds = ("dates", "numbers") if numbered else ("numbers", "dates")
        raise ValueError(
            f"column {shown(dates_in)} of {table.name} holds {kinds[0]}, but that of {source} "
            f"holds {kinds[1]}; give both the same."
        )
    period = spacing.PERIODS.get(series.every or "")
    if period is not None and not dates.isin(there).all():
        moved = pd.DatetimeIndex(there).to_period(period).to_timestamp()
        if moved.is_unique and dates.isin(moved).all():
            note("dates of the inputs are moved to the start of their period.")
            there = moved
    doubled = np.flatnonzero(there.duplicated())
    if len(doubled):
        first = int(np.flatnonzero(there == there[doubled[0]])[0])
        raise ValueError(
            f"{table.name} has more than one row for {written(there[doubled[:1]])[0]}, rows "
            f"{first + 1} and {doubled[0] + 1}; keep one row for each date."
        )
    _check_covers(there, dates, series, table.name)
    before, after = (there < dates[0]).sum(), (there > dates[-1]).sum()
    for more, where in ((before, "before the first value"), (after, "after the last step")):
        if more:
            rows, are = inflected(more, "row", "{} rows"), inflected(more, "is", "are")
            note(f"the {rows} of {table.name} {where} {are} not needed.")
    return there.get_indexer(dates), dates_in


def _in_order(table: FileTable, series: FileSeries, needed: int, note: Note) -> np.ndarray:
    """The first rows of a table without dates."""
    there, known = len(table.frame), len(series.values)
    if there < needed:
        raise ValueError(
            f"{table.name} has {there} rows, and {needed} are needed: one for each of the "
            f"{known} values of {series.source}, from its first value on, and {needed - known} for "
            "those to forecast; add them, or forecast fewer."
        )
    if there > needed:
        more = there - needed
        rows, are = inflected(more, "row", "{} rows"), inflected(more, "is", "are")
        note(f"the last {rows} of {table.name} {are} not needed.")
    return np.arange(needed)


def _check_covers(there: pd.Index, dates: pd.Index, series: FileSeries, name: str) -> None:
    """Raise for dates without a row."""
    at, ahead = np.flatnonzero(~dates.isin(there)), len(dates) - len(series.values)
    if not len(at):
        return
    first, date, last = written(dates[[0]])[0], *written(dates[[at[0], -1]])
    if at[0] >= len(series.values) and there.max() < dates[at[0]]:
        raise ValueError(
            f"{name} ends at {written(pd.Index([there.max()]))[0]}, but inputs are needed until "
            f"{last}, for the {count(ahead, 'step')} to forecast after {series.source}; add "
            f"{count(len(at), 'row')}, or forecast fewer."
        )
    more = f" and for {count(len(at) - 1, 'other date')}" if len(at) > 1 else ""
    raise ValueError(
        f"{name} has no row for {date}{more} of the {len(dates)} that are needed, {first} to "
        f"{last}: every date of {series.source}, with those it leaves out, and {ahead} more to "
        "forecast; add the rows."
    )
