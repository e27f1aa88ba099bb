"""Inputs known in advance: columns as numbers, with rows for values and for those to forecast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from echofold._data.text import Note, count, listed, shown
from echofold.cli.reading.date_columns import find_dates, say_unread
from echofold.cli.reading.numbers import LARGEST, MISSING, TOO_LARGE, each_cell
from echofold.cli.reading.spacing import FILLS, PERIODS, Spacing, filled_by, written
from echofold.cli.reading.table import Table

YES, NO = {"true", "yes", "t", "y"}, {"false", "no", "f", "n"}
MOST_NAMES = 20  # different ones in a column, for each becomes an input


class Wanted(NamedTuple):
    """What inputs are for: a column of a file, its dates and those that follow."""

    source: str
    column: str
    index: pd.Index
    ahead: pd.Index
    every: Spacing | None

    @property
    def dates(self) -> pd.Index:
        """All dates for which inputs must be known."""
        return self.index.append(self.ahead)


@dataclass(frozen=True)
class Encoded:
    """Inputs made of one column: their names, ``values (rows, inputs)``, and if they are 0 or 1."""

    column: str
    names: list[str]
    values: np.ndarray
    flags: bool


@dataclass(frozen=True)
class Beside:
    """Inputs from the file of a series, by its dates; ``rows`` are NaN where the file has none."""

    made: list[Encoded]
    frame: pd.DataFrame
    rows: pd.Series

    def at(self, wanted: Wanted, fill: str, note: Note) -> pd.DataFrame:
        """Inputs beside the values and the steps to forecast, without holes, or the error."""
        source, dates, known = wanted.source, wanted.dates, len(wanted.index)
        there = int(dates.isin(self.frame.index).sum())
        if there < len(dates):
            raise ValueError(
                f"{source} has {there - known} rows after its last value, but --input needs "
                f"{len(wanted.ahead)}, until {written(dates[-1:])[0]}: add rows with the inputs "
                "and an empty cell for the value, or forecast fewer."
            )
        frame, rows = self.frame.loc[dates], self.rows.loc[dates]
        opened = rows.isna()
        if opened.iloc[known:].any():
            date = written(wanted.ahead[opened.iloc[known:]][:1])[0]
            raise ValueError(
                f"{source} has no row for {date}, which is to be forecast; add it with its inputs."
            )
        for one in self.made:
            empty = frame[one.names].isna().any(axis=1) & ~opened
            _refuse_empty(one.column, source, rows[empty].to_numpy(dtype=int))
        frame = frame.reset_index(drop=True)
        if opened.any():
            how = FILLS["forward" if fill == "leave" else fill]  # by the network, which needs some
            flags = " (zeros and ones with the value before)" * (fill == "interpolate")
            note(f"inputs in the {count(int(opened.sum()), 'missing row')} are {how}{flags}.")
            for one in self.made:
                own = "forward" if fill == "interpolate" and one.flags else fill
                frame[one.names] = filled_by(own, frame[one.names])
        return frame


@dataclass(frozen=True)
class Inputs:
    """Columns beside the values of a series, and beside those that follow."""

    past: pd.DataFrame
    ahead: pd.DataFrame

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.past.columns)

    @property
    def words(self) -> str:
        """One line about them."""
        return f"inputs known in advance: {listed(self.names)}"


def _encoded(table: Table, column: str, rows: np.ndarray) -> Encoded:
    """The inputs that a column of a table makes, at the positions ``rows`` of it.

    Values are NaN in empty cells, but for columns of names, where an empty cell is none of them.
    """
    values, wrong = table.numbers(column)
    values, wrong = values[rows], rows[np.isin(rows, wrong)]
    holds = f"input {shown(column)} of {table.name} holds"
    huge = rows[np.abs(values) > LARGEST]
    if len(huge):
        raise ValueError(f"{holds} {table.place(column, huge[0])}, {TOO_LARGE}")
    there = values[~np.isnan(values)]
    if not len(wrong):
        return Encoded(column, [column], values[:, None], bool(np.isin(there, (0, 1)).all()))
    if len(there) > len(wrong):
        raise ValueError(
            f"{holds} {table.place(column, wrong[0])}, but numbers are needed, as in its other "
            "rows; correct it."
        )
    cells = list(each_cell(table.frame[column].iloc[rows]))
    words = [cell.lower() for cell in cells]
    if set(words) <= YES | NO | MISSING:
        read = [1.0 if word in YES else 0.0 if word in NO else np.nan for word in words]
        return Encoded(column, [column], np.array(read)[:, None], True)
    names = sorted({cell for cell in cells if cell.lower() not in MISSING})
    if len(names) > MOST_NAMES:
        raise ValueError(
            f"{holds} {len(names)} different names, such as {shown(names[0])} and "
            f"{shown(names[1])}, and each becomes an input; at most {MOST_NAMES} are taken: join "
            "some of them, or leave the column out."
        )
    at = np.array(cells, dtype=object)[:, None] == np.array(names, dtype=object)
    return Encoded(column, [f"{column}={name}" for name in names], at.astype(float), True)


def columns_beside(table: Table, names: tuple[str, ...], column: str) -> list[Encoded]:
    """Columns of the series' own table as inputs."""
    if column in names:
        raise ValueError(
            f"--input {column}: this column is to be forecast, and not known in advance; name "
            "another, or another --column."
        )
    return [_encoded(table, name, np.arange(len(table.frame))) for name in names]


def columns_of(table: Table, wanted: Wanted, form: str | None, note: Note) -> pd.DataFrame:
    """All columns of another table but its dates, in the rows that are wanted."""
    rows, dates_in = _matching(table, wanted, form, note)
    if wanted.column in table.frame.columns:
        raise ValueError(
            f"{table.name} holds {shown(wanted.column)}, which is to be forecast and not known in "
            "advance; remove that column from the inputs."
        )
    names = table.frame.columns.drop(dates_in or [], errors="ignore")
    if not len(names):
        raise ValueError(f"{table.name} has no column beside its dates; add the inputs.")
    made = []
    for name in names:
        made.append(_encoded(table, name, rows))
        empty = np.isnan(made[-1].values).any(axis=1)
        _refuse_empty(name, table.name, rows[empty] + 1)
    for name in names:
        table.say(name, note)
    values = np.hstack([one.values for one in made])
    return pd.DataFrame(values, columns=[name for one in made for name in one.names])


def joined(parts: list[pd.DataFrame], wanted: Wanted, file: str | None, note: Note) -> Inputs:
    """Inputs of all files side by side, without those of which nothing can be learned."""
    both, count = pd.concat(parts, axis=1), len(wanted.index)
    doubled = both.columns[both.columns.duplicated()]
    if len(doubled):
        raise ValueError(
            f"input {shown(doubled[0])} is in {wanted.source} and in {file}; name it with --input "
            "or leave it in the file of --inputs, not both."
        )
    still = [name for name in both if both[name].iloc[:count].nunique() < 2]
    if len(still) == both.shape[1]:
        raise ValueError(
            f"no input changes beside the values of the series: {listed(still)} cannot explain "
            "them; give others, or none."
        )
    if still:
        note(f"left out, for they never change beside the values: {listed(still)}.")
    both = both.drop(columns=still)
    past, ahead = both.iloc[:count], both.iloc[count:]
    return Inputs(past.set_axis(wanted.index), ahead.set_axis(wanted.ahead))


def _refuse_empty(column: str, source: str, rows: np.ndarray) -> None:
    """Raise for the rows of a file in which an input is empty."""
    if len(rows):
        more = f" and {count(len(rows) - 1, 'more row')}" if len(rows) > 1 else ""
        raise ValueError(
            f"input {shown(column)} of {source} is empty in row {rows[0]}{more}; inputs must be "
            "known for every value and for those to forecast: fill it in."
        )


def _matching(
    table: Table, wanted: Wanted, form: str | None, note: Note
) -> tuple[np.ndarray, str | None]:
    """Positions in a table of the rows that belong to a series and its future, and its dates."""
    source, index = wanted.source, wanted.index
    numbered = not isinstance(index, pd.DatetimeIndex)
    named = index.name if index.name in table.frame.columns else None
    in_order = numbered and named is None
    say = (lambda _: None) if in_order else note
    dates_in, dates = find_dates(table, named, form, (), say)
    if dates is None:
        say_unread(table, (), say)
    if in_order:
        if dates is not None:
            note(
                f"dates in {shown(dates_in)} of {table.name} are not used, because {source} has "
                "none: rows are taken in their order."
            )
        return _in_order(table, wanted, note), dates_in
    if dates is None:
        raise ValueError(
            f"{table.name} has no column of dates, but {source} has; add the dates of its rows, "
            f"best as {shown(index.name)}."
        )
    there = pd.Index(dates)
    if numbered == isinstance(there, pd.DatetimeIndex):
        kinds = ("dates", "numbers") if numbered else ("numbers", "dates")
        raise ValueError(
            f"column {shown(dates_in)} of {table.name} holds {kinds[0]}, but that of {source} "
            f"holds {kinds[1]}; give both the same."
        )
    there = _moved(there, wanted, note)
    doubled = np.flatnonzero(there.duplicated())
    if len(doubled):
        first = int(np.flatnonzero(there == there[doubled[0]])[0])
        raise ValueError(
            f"{table.name} has more than one row for {written(there[doubled[:1]])[0]}, rows "
            f"{first + 1} and {doubled[0] + 1}; keep one row for each date."
        )
    _check_covers(there, wanted, table.name)
    before, after = (there < wanted.dates[0]).sum(), (there > wanted.dates[-1]).sum()
    for more, where in ((before, "before the first value"), (after, "after the last step")):
        if more:
            rows, are = ("row", "is") if more == 1 else (f"{more} rows", "are")
            note(f"the {rows} of {table.name} {where} {are} not needed.")
    return there.get_indexer(wanted.dates), dates_in


def _in_order(table: Table, wanted: Wanted, note: Note) -> np.ndarray:
    """The first rows of a table without dates."""
    there, needed = len(table.frame), len(wanted.dates)
    if there < needed:
        raise ValueError(
            f"{table.name} has {there} rows, and {needed} are needed: one for each of the "
            f"{len(wanted.index)} values of {wanted.source}, from its first value on, and "
            f"{len(wanted.ahead)} for those to forecast; add them, or forecast fewer."
        )
    if there > needed:
        more = there - needed
        rows, are = ("row", "is") if more == 1 else (f"{more} rows", "are")
        note(f"the last {rows} of {table.name} {are} not needed.")
    return np.arange(needed)


def _moved(there: pd.Index, wanted: Wanted, note: Note) -> pd.Index:
    """Dates moved to the start of their period, if the series' own were or could have been."""
    period = None if wanted.every is None else PERIODS.get(wanted.every.freq)
    if period is None or wanted.dates.isin(there).all():
        return there
    moved = pd.DatetimeIndex(there).to_period(period).to_timestamp()
    if not moved.is_unique or not wanted.dates.isin(moved).all():
        return there
    note("dates of the inputs are moved to the start of their period.")
    return moved


def _check_covers(there: pd.Index, wanted: Wanted, name: str) -> None:
    """Raise for dates without a row."""
    dates, ahead = wanted.dates, len(wanted.ahead)
    at = np.flatnonzero(~dates.isin(there))
    if not len(at):
        return
    first, date, last = written(dates[[0]])[0], *written(dates[[at[0], -1]])
    if at[0] >= len(wanted.index) and there.max() < dates[at[0]]:
        raise ValueError(
            f"{name} ends at {written(pd.Index([there.max()]))[0]}, but inputs are needed until "
            f"{last}, for the {count(ahead, 'step')} to forecast after {wanted.source}; add "
            f"{count(len(at), 'row')}, or forecast fewer."
        )
    more = f" and for {count(len(at) - 1, 'other date')}" if len(at) > 1 else ""
    raise ValueError(
        f"{name} has no row for {date}{more} of the {len(dates)} that are needed, {first} to "
        f"{last}: every date of {wanted.source}, with those it leaves out, and {ahead} more to "
        "forecast; add the rows."
    )
