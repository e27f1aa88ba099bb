"""Sums of several series by date, at all levels that their ids tell apart.

A series counts from its first value on, and nothing before: a sum that jumps when a product is
launched is a fact. A value that is missing later is no zero: what stands in for it elsewhere, the
last known one of the same time of the season, does so here, unless too much of a sum would be made
of such values. One that ended long before the others is in no sum: it has no part in what comes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from echofold._data.dates import written
from echofold._data.missing import filled
from echofold._data.tables import read
from echofold._data.text import inflected, one_line

ALL = "(all)"  # in place of an id that was summed over
PART = 0.1  # of a sum, at most, that may be made of what stands in for missing values

Ids = tuple[Hashable, ...]


class Sums(NamedTuple):
    """Sums by name, what they are sums of, and the level of each, the total first.

    ``padded`` are series that end a little before others, with missing values after that. ``each``
    is the level of what was given.
    """

    series: dict[Any, Any]
    members: dict[Any, list[Any]]
    levels: dict[Any, str]
    each: str
    padded: dict[Any, Any]
    notes: list[str]


def check_ids(ids: Mapping[Any, Ids], called: Sequence[str]) -> None:
    """Raise unless all series have as many ids, none of which is the mark of a sum."""
    for name, own in ids.items():
        if not own:
            raise ValueError(f"series {name!r} has no id. Name each by a text, or a tuple of ids.")
        if len(own) != len(called):
            raise ValueError(
                f"series {name!r} has {inflected(len(own), '1 id', '{} ids')}, and others have "
                f"{len(called)}. Name each by a tuple of as many."
            )
        for one in own:
            if str(one).strip().casefold() == ALL:
                raise ValueError(
                    f"series {name!r} has the id {one!r}, which stands for what was summed over. "
                    "Rename it, or leave it out if it is a sum already."
                )


def levels_of(ids: Sequence[Ids], called: Sequence[str]) -> list[tuple[str, list[Ids]]]:
    """Levels above series with these ids: a name, and the sum that each series belongs to.

    Levels that split the series alike are one: the total, or that which names most ids.

    Examples
    --------
    >>> levels_of([("a", "x"), ("a", "y"), ("b", "x")], ["shop", "item"])[1]
    ('shop', [('a', '(all)'), ('a', '(all)'), ('b', '(all)')])
    """
    places, whole = range(len(called)), ALL if "total" in called else "total"
    found: dict[bytes, tuple[str, list[Ids]]] = {}
    for size in places:
        for kept in combinations(places, size):
            own = [tuple(one[n] if n in kept else ALL for n in places) for one in ids]
            split = _codes(own)[0]
            parts = split.max() + 1
            if not kept or 1 < parts < len(ids):
                level = " / ".join(called[n] for n in kept) or whole
                found[split.tobytes()] = level, own
    return list(found.values())


def _codes(own: Sequence[Ids]) -> tuple[np.ndarray, list[Ids]]:
    """Numbers of tuples, in the order of their first appearance, and these tuples."""
    numbers: dict[Ids, int] = {}
    codes = np.array([numbers.setdefault(one, len(numbers)) for one in own])
    return codes, list(numbers)


class _Grid(NamedTuple):
    """Series side by side: ``values (rows, series)`` by ``index``.

    ``start``, ``first`` and ``end`` are the rows of the first label of each, of its first value,
    and after its last label. ``title`` is what values are called.
    """

    names: list[Any]
    index: Any
    values: np.ndarray
    start: np.ndarray
    first: np.ndarray
    end: np.ndarray
    title: Any

    def series(self, values: np.ndarray, row: int) -> Any:
        """Values from a row on, as series are given."""
        if self.index is None:
            return values[row:]
        return pd.Series(values[row:], self.index[row:], name=self.title)

    def part(self, which: np.ndarray) -> _Grid:
        """Some of the series."""
        names = [name for name, there in zip(self.names, which, strict=True) if there]
        start, first, end = (one[which] for one in (self.start, self.first, self.end))
        return _Grid(names, self.index, self.values[:, which], start, first, end, self.title)

    def label(self, row: int) -> str:
        """A row in words."""
        return f"row {row}" if self.index is None else written(self.index[[row]])[0]


def sums_of(
    y: Mapping[Any, Any], ids: Mapping[Any, Ids], called: Sequence[str],
    named: Callable[[Ids], Any], horizon: int, season: Callable[[Any], int | None],
) -> Sums:  # fmt: skip
    """Sums of series by date at every level; a sum of ``ids`` is ``named``.

    Series that end ``horizon`` rows before the others have no forecast of the same dates.
    ``season`` tells the steps in one by the index.
    """
    every, notes = _side_by_side(y)
    over = every.end <= len(every.values) - horizon
    grid = every.part(~over)
    rows, count = grid.values.shape
    counts = np.arange(rows)[:, None] >= grid.first
    missing = counts & np.isnan(grid.values)
    whole = np.where(counts, filled(grid.values, season(grid.index)), 0.0).T
    found: dict[Any, Any] = {}
    members: dict[Any, list[Any]] = {}
    levels: dict[Any, str] = {}
    gaps = 0
    for level, own in levels_of([ids[name] for name in grid.names], called):
        codes, parts = _codes(own)
        A = csr_array((np.ones(count), (codes, np.arange(count))), shape=(len(parts), count))
        size = np.abs(whole)
        doubtful = A @ np.where(missing.T, size, 0.0) > PART * (A @ size)
        values = np.where(doubtful, np.nan, A @ whole)
        begun = np.full(len(parts), rows)
        np.minimum.at(begun, codes, grid.first)
        inside: list[list[Any]] = [[] for _ in parts]
        for n, name in enumerate(grid.names):
            inside[codes[n]].append(name)
        for place, part in enumerate(parts):
            name = named(part)
            found[name] = grid.series(values[place], int(begun[place]))
            members[name], levels[name] = inside[place], level
            gaps += int(doubtful[place, begun[place] :].sum())
    late = np.flatnonzero(grid.end < rows)
    padded = {grid.names[n]: grid.series(grid.values[:, n], int(grid.start[n])) for n in late}
    notes += _notes(grid, every.part(over), late, int(missing.sum()), gaps)
    return Sums(found, members, levels, " / ".join(called), padded, notes)


def _notes(grid: _Grid, over: _Grid, late: np.ndarray, missing: int, gaps: int) -> list[str]:
    """What is said of series that begin or end apart from others, and of missing values."""
    said, end = [], grid.label(len(grid.values) - 1)

    def several(names: Sequence[Any], row: int) -> str:
        more = "" if len(names) == 1 else f", and of {len(names) - 1} more series"
        return f"of series {names[0]!r} ({grid.label(row)}){more}"

    begun = np.flatnonzero(grid.first > grid.first.min())
    if len(begun):
        names = [grid.names[n] for n in begun]
        said.append(
            f"sums grow by the beginning {several(names, grid.first[begun[0]])}, later than that "
            "of others."
        )
    if len(late):
        names = [grid.names[n] for n in late]
        said.append(
            f"the last value {several(names, grid.end[late[0]] - 1)} is before {end}: what is "
            "lacking counts as missing, and forecasts are of the dates that others have."
        )
    if over.names:
        said.append(
            f"the last value {several(over.names, over.end[0] - 1)} is so long before {end} that "
            "forecasts are of other dates: they are in no sum."
        )
    if missing:
        values = inflected(missing, "1 missing value", "{:,} missing values")
        words = inflected(gaps, "1 value", "{:,} values")
        more = f"; where that is more than a tenth of a sum, it is missing ({words})"
        said.append(
            "in sums the last known value, of the same time of the season, stands in for "
            f"{values}{more if gaps else ''}."
        )
    return said


# --- side by side ---------------------------------------------------------------------------------


def _side_by_side(y: Mapping[Any, Any]) -> tuple[_Grid, list[str]]:
    """Series side by side by their labels, and what is said of those that cannot be."""
    tables, notes = {}, []
    for name, one in y.items():
        try:
            table, wrong = read(one, "y", missing=True), ""
            if table.values.shape[1] > 1:
                wrong = f"it has {table.values.shape[1]} columns"
            elif np.isnan(table.values).all():
                wrong = "it has no value"
            elif not (table.index is None or _in_order(table.index)):
                wrong = "its dates are not in order, each once"
            else:
                tables[name] = table
        except (ValueError, TypeError) as error:
            wrong = one_line(error)
        if wrong:
            notes.append(f"series {name!r} is in no sum: {wrong}.")
    if not tables:
        raise ValueError(f"none of {len(y)} series can be added up: {notes[0] if notes else ''}")
    kinds = {name: _kind(table.index) for name, table in tables.items()}
    usual = kinds[max(tables, key=lambda name: len(tables[name].values))]
    for name in [name for name, kind in kinds.items() if kind != usual]:
        del tables[name]
        notes.append(f"series {name!r} is in no sum: it has no dates of the kind that others have.")
    index, starts = _joined(tables)
    names, start = list(tables), np.array([starts[name] for name in tables])
    end = start + np.array([len(table.values) for table in tables.values()])
    values = np.full((end.max(), len(names)), np.nan)
    for n, table in enumerate(tables.values()):
        values[start[n] : end[n], n] = table.values[:, 0]
    first, titles = np.isfinite(values).argmax(axis=0), next(iter(tables.values())).schema.names
    return _Grid(names, index, values, start, first, end, titles[0] if titles else None), notes


def _in_order(index: Any) -> bool:
    return index.is_monotonic_increasing and not index.has_duplicates


def _kind(index: Any) -> str:
    """What labels rows: nothing but numbers from the first one on, dates, periods or others."""
    if index is None or (isinstance(index, pd.RangeIndex) and (index.start, index.step) == (0, 1)):
        return "rows"
    if index.dtype.kind == "i" and not isinstance(index, pd.DatetimeIndex | pd.PeriodIndex):
        return "integers"
    return f"{type(index).__name__} {getattr(index, 'tz', None) or ''} {index.dtype.kind}"


def _joined(tables: Mapping[Any, Any]) -> tuple[Any, dict[Any, int]]:
    """One index of all series, and the row in it at which each begins."""
    first = next(iter(tables.values()))
    if _kind(first.index) == "rows":
        lengths = {name: len(table.values) for name, table in tables.items()}
        odd = next((name for name in lengths if lengths[name] != len(first.values)), None)
        if odd is not None:
            raise ValueError(
                f"series {odd!r} has {lengths[odd]} values and no dates, another has "
                f"{len(first.values)}: series are summed by date. Give them dates, or cut them to "
                "the same rows."
            )
        return first.index, dict.fromkeys(tables, 0)
    each: list[Any] = []  # different ones: most series of a file share theirs
    which = {}
    for name, table in tables.items():
        at = next((n for n, one in enumerate(each) if one.equals(table.index)), len(each))
        each += [table.index] if at == len(each) else []
        which[name] = at
    whole = each[0]
    for one in each[1:]:
        whole = whole.union(one)
    starts = []
    for n, one in enumerate(each):
        rows = whole.get_indexer(one)
        if rows[-1] - rows[0] + 1 > len(rows):
            name = next(name for name, at in which.items() if at == n)
            lacks = rows[0] + int(np.flatnonzero(np.diff(rows) > 1)[0]) + 1
            raise ValueError(
                f"series {name!r} has no row for {written(whole[[lacks]])[0]}, which others have, "
                "and rows before and after it: series are summed by date. Give all of them the "
                "same spacing, and rows for all dates, empty (NaN) where nothing is known."
            )
        starts.append(int(rows[0]))
    if isinstance(whole, pd.DatetimeIndex) and whole.freq is None and each[0].freq is not None:
        whole = pd.DatetimeIndex(whole, freq=each[0].freq)
    return whole.rename(first.index.name), {name: starts[at] for name, at in which.items()}
