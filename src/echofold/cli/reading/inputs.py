"""Inputs known in advance: rows for every value of a series, and for those to forecast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from echofold._data.dates import timeline
from echofold.cli.reading.encode import Encoded, encoded
from echofold.cli.reading.find_dates import find_dates
from echofold.cli.reading.gaps import written
from echofold.cli.reading.panel import one_of
from echofold.cli.reading.quote import listed, shown
from echofold.cli.reading.series import Series
from echofold.cli.reading.spacing import Spacing
from echofold.cli.reading.table import Table, read_table
from echofold.cli.showing.output import Output

PERIODS = {"h": "h", "D": "D", "W-MON": "W", "MS": "M", "QS-JAN": "Q", "YS-JAN": "Y"}


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


def read_inputs(
    series: Series,
    horizon: int,
    output: Output,
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
    parts: list[pd.DataFrame] = []
    if series.beside is not None:
        parts.append(series.beside.at(index, ahead, series.source, fill, output))
    if file is not None:
        table = read_table(file, decimal, output.note)
        if id in table.frame.columns and id is not None and only is not None:
            table = one_of(table, id, only)
        rows, dates_in = _matching(table, series, ahead, date_format, output)
        parts.append(_columns(table, rows, dates_in, series, output))
    if not parts:
        return None
    both = pd.concat(parts, axis=1)
    doubled = both.columns[both.columns.duplicated()]
    if len(doubled):
        raise ValueError(
            f"input {shown(doubled[0])} is in {series.source} and in {file}; name it with --input "
            "or leave it in the file of --inputs, not both."
        )
    both = _changing(both, len(index), output)
    past = both.iloc[: len(index)].set_axis(index)
    return Inputs(past, both.iloc[len(index) :].set_axis(ahead))


def _changing(both: pd.DataFrame, count: int, output: Output) -> pd.DataFrame:
    """Columns that vary beside the values: of others nothing can be learned."""
    still = [name for name in both if both[name].iloc[:count].nunique() < 2]
    if len(still) == both.shape[1]:
        raise ValueError(
            f"no input changes beside the values of the series: {listed(still)} cannot explain "
            "them; give others, or none."
        )
    if still:
        output.note(f"left out, for they never change beside the values: {listed(still)}.")
    return both.drop(columns=still)


def _columns(
    table: Table, rows: np.ndarray, dates_in: str | None, series: Series, output: Output
) -> pd.DataFrame:
    """All columns of a table but its dates, at some of its rows."""
    target = series.values.name
    if target in table.frame.columns:
        raise ValueError(
            f"{table.name} holds {shown(target)}, which is to be forecast and not known in "
            "advance; remove that column from the inputs."
        )
    names = table.frame.columns.drop(dates_in or [], errors="ignore")
    if not len(names):
        raise ValueError(f"{table.name} has no column beside its dates; add the inputs.")
    made = [_complete(encoded(table, name, rows), rows, table) for name in names]
    for name in names:
        table.say(name, output.note)
    values = np.hstack([one.values for one in made])
    return pd.DataFrame(values, columns=[name for one in made for name in one.names])


def _complete(one: Encoded, rows: np.ndarray, table: Table) -> Encoded:
    """Raise for an empty cell."""
    empty = np.flatnonzero(np.isnan(one.values).any(axis=1))
    if len(empty):
        where = f"row {rows[empty[0]] + 1}" + (
            f" and {len(empty) - 1} more rows" if len(empty) > 1 else ""
        )
        raise ValueError(
            f"input {shown(one.column)} of {table.name} is empty in {where}; "
            "inputs must be known for every value and for those to forecast: fill it in."
        )
    return one


def _matching(
    table: Table, series: Series, ahead: pd.Index, form: str | None, output: Output
) -> tuple[np.ndarray, str | None]:
    """Positions in a table of the rows that belong to a series and its future, and its dates."""
    index = series.values.index
    numbered = not isinstance(index, pd.DatetimeIndex)
    named = index.name if index.name in table.frame.columns else None
    if numbered and named is None:
        dates_in, _ = find_dates(table, None, form, (), Output(True, False))
        if dates_in is not None:
            output.note(
                f"dates in {shown(dates_in)} of {table.name} are not used, because {series.source} "
                "has none: rows are taken in their order."
            )
        return _in_order(table, len(index), len(ahead), series.source, output), dates_in
    dates_in, dates = find_dates(table, named, form, (), output)
    if dates is None:
        raise ValueError(
            f"{table.name} has no column of dates, but {series.source} has; add the dates of its "
            f"rows, best as {shown(index.name)}."
        )
    there = pd.Index(dates)
    if numbered == isinstance(there, pd.DatetimeIndex):
        kinds = ("dates", "numbers") if numbered else ("numbers", "dates")
        raise ValueError(
            f"column {shown(dates_in)} of {table.name} holds {kinds[0]}, but that of "
            f"{series.source} holds {kinds[1]}; give both the same."
        )
    wanted = index.append(ahead)
    there = _moved(there, wanted, series.every, output)
    _check_doubled(there, table)
    _check_covers(there, wanted, len(ahead), table, series.source)
    _say_ignored(there, wanted, table, output)
    return there.get_indexer(wanted), dates_in


def _moved(there: pd.Index, wanted: pd.Index, every: Spacing | None, output: Output) -> pd.Index:
    """Dates moved to the start of their period, if the series' own were or could have been."""
    period = None if every is None else PERIODS.get(every.freq)
    if period is None or wanted.isin(there).all():
        return there
    moved = pd.DatetimeIndex(there).to_period(period).to_timestamp()
    if not moved.is_unique or not wanted.isin(moved).all():
        return there
    output.note("dates of the inputs are moved to the start of their period.")
    return moved


def _in_order(table: Table, past: int, ahead: int, source: str, output: Output) -> np.ndarray:
    """The first rows of a table without dates."""
    count, needed = len(table.frame), past + ahead
    if count < needed:
        raise ValueError(
            f"{table.name} has {count} rows, and {needed} are needed: one for each of the {past} "
            f"values of {source}, from its first value on, and {ahead} for those to forecast; add "
            "them, or forecast fewer."
        )
    if count > needed:
        output.note(f"the last {count - needed} rows of {table.name} are not needed.")
    return np.arange(needed)


def _check_doubled(there: pd.Index, table: Table) -> None:
    """Raise for a date with several rows."""
    doubled = np.flatnonzero(there.duplicated())
    if len(doubled):
        first = int(np.flatnonzero(there == there[doubled[0]])[0])
        raise ValueError(
            f"{table.name} has more than one row for {written(there[doubled[:1]])[0]}, rows "
            f"{first + 1} and {doubled[0] + 1}; keep one row for each date."
        )


def _check_covers(there: pd.Index, wanted: pd.Index, ahead: int, table: Table, source: str) -> None:
    """Raise for dates without a row."""
    missing = ~wanted.isin(there)
    if not missing.any():
        return
    at = np.flatnonzero(missing)
    date, last = written(wanted[[at[0], -1]])
    ends = written(pd.Index([there.max()]))[0]
    if at[0] >= len(wanted) - ahead and there.max() < wanted[at[0]]:
        raise ValueError(
            f"{table.name} ends at {ends}, but inputs are needed until {last}, for the {ahead} "
            f"steps to forecast after {source}; add {len(at)} rows, or forecast fewer."
        )
    more = f" and for {len(at) - 1} other dates" if len(at) > 1 else ""
    raise ValueError(
        f"{table.name} has no row for {date}{more} of the {len(wanted)} that are needed, "
        f"{written(wanted[:1])[0]} to {last}: every date of {source}, with those it leaves out, "
        f"and {ahead} more to forecast; add the rows."
    )


def _say_ignored(there: pd.Index, wanted: pd.Index, table: Table, output: Output) -> None:
    """Say which rows are not needed."""
    before, after = int((there < wanted[0]).sum()), int((there > wanted[-1]).sum())
    for count, where in ((before, "before the first value"), (after, "after the last step")):
        if count:
            rows, are = ("row", "is") if count == 1 else (f"{count} rows", "are")
            output.note(f"the {rows} of {table.name} {where} {are} not needed.")
