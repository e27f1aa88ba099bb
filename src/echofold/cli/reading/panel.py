"""Long tables of several series: which column tells them apart, and one of them."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.text import Note, listed, shown, unguarded
from echofold.cli.reading.calendar import YEARS, like_dates
from echofold.cli.reading.dates import in_one_order, parse_dates
from echofold.cli.reading.numbers import between, distinct_cells, each_cell, whole
from echofold.cli.reading.table import FileTable

NAMES = {
    "unique_id", "uniqueid", "series_id", "seriesid", "series", "ts_id", "item_id", "store_id",
    "product_id", "sku",
}  # fmt: skip
CALENDAR = {"year", "month", "quarter", "week", "day", "weekday", "dayofweek", "hour", "season"}
LEAST_ROWS = 3  # of a series on average
EVEN = 0.7  # share of steps of a series that are alike
DOUBLED = 0.3  # share of rows whose date others have too, where ids alternate
JUMP = 10  # usual steps, from which on dates jump
MOST_COLUMNS = 50
MOST_SERIES = 50  # that are asked in which order their dates are written
BETWEEN = " / "  # stands between several ids of a series


def _ids_of(table: FileTable, name: str) -> pd.Series:
    """What a column of ids holds, as text; what guards them in files of forecasts is left out."""
    column = table.column(name, "--id")
    return pd.Series([unguarded(cell) for cell in each_cell(column)], dtype=object)


class Parts(Mapping[str, FileTable]):
    """The table of each of several series by its name, cut out of the whole when asked for.

    The rows of each are together there: text of pyarrow gives stretches at once, single rows not.
    """

    are_columns = False

    def __init__(self, whole: FileTable, rows: dict[str, range]):
        self._whole: FileTable | None = whole
        self.rows = rows

    def __getitem__(self, name: str) -> FileTable:
        rows, whole = self.rows[name], self._whole
        assert whole is not None
        part = whole.frame.iloc[rows.start : rows.stop].reset_index(drop=True)
        return FileTable(f"{whole.name}, {shown(name)}", part, whole.signs, whole.dialect)

    def told(self, name: str) -> dict[str, Any]:
        """What a command is told of one of them."""
        return {"only": name}

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def forget(self) -> None:
        """Let the whole table go, when all of it is read.

        What pandas held as text of pyarrow stays with that library, unless it is asked for.
        """
        self._whole = None
        if "pyarrow" in sys.modules:
            sys.modules["pyarrow"].default_memory_pool().release_unused()


class Columns(Parts):
    """The same of series that are columns of one table, each beside what is none of them."""

    are_columns = True

    def __init__(self, whole: FileTable, columns: Sequence[str]):
        super().__init__(whole, dict.fromkeys(columns, range(len(whole.frame))))

    def __getitem__(self, name: str) -> FileTable:
        part = super().__getitem__(name)
        part.frame = part.frame.drop(columns=[one for one in self.rows if one != name])
        return part

    def told(self, name: str) -> dict[str, Any]:
        """What a command is told of one of them."""
        return {"column": name, "id": (), "only": None}


def tables_by_column(table: FileTable, columns: Sequence[str]) -> Parts:
    """A table for each of these columns."""
    for name in columns:
        table.column(name, "--column")
    return Columns(table, columns)


def one_of(
    table: FileTable, ids: Sequence[str], value: str, form: str | None, note: Note
) -> FileTable:
    """The rows of one series of a panel, without its ids."""
    parts = tables_by_id(table, ids, form, note)
    if value not in parts:
        near = difflib.get_close_matches(value, parts, 1)
        hint = f"did you mean {shown(near[0])}?" if near else f"it holds {listed(parts)}."
        column = f"column {shown(BETWEEN.join(ids))} of {table.name}"
        raise ValueError(f"{column} holds no {shown(value)} (option --only): {hint}")
    return parts[value]


def tables_by_id(table: FileTable, ids: Sequence[str], form: str | None, note: Note) -> Parts:
    """Every series of a panel by its ids, in the order of the file; rows without one are none.

    Dates without a ``form`` that could be read in several orders are read in one in all series.
    """
    places, known = np.zeros(len(table.frame), dtype=np.int64), list[tuple[str, ...]]([()])
    for name in ids:
        own, cells = distinct_cells(table.column(name, "--id"))
        texts = [unguarded(cell) for cell in cells]
        if len(ids) > 1 and any(BETWEEN in one for one in texts):
            raise ValueError(
                f"column {shown(name)} of {table.name} holds '{BETWEEN}', which stands between "
                "several ids of a series: replace it by another sign."
            )
        places, pairs = pd.factorize(places * len(texts) + own)
        both = (divmod(pair, len(texts)) for pair in pairs.tolist())
        known = [(*known[before], texts[at]) for before, at in both]
    joined = [BETWEEN.join(each) if all(each) else "" for each in known]
    again, names = pd.factorize(np.array(joined, dtype=object))
    places = again[places]
    ends = np.cumsum(np.bincount(places, minlength=len(names))).tolist()
    rows = dict(zip(names, map(range, [0, *ends], ends), strict=True))
    order = np.argsort(places, kind="stable")
    frame, dialect = table.frame.drop(columns=list(ids)).iloc[order], table.dialect
    frame = frame.reset_index(drop=True)
    largest = [np.array(own) for own in sorted(rows.values(), key=len)[-MOST_SERIES:]]
    for name in frame if form is None else ():
        if pd.api.types.is_numeric_dtype(frame[name]):
            continue
        dates = in_one_order(frame[name], largest, note)
        if dates is not None and not dates.hasnans:
            dialect = dialect.of_dates(frame[name], dates)
            frame[name] = dates
        elif dates is not None:
            frame[name] = frame[name].where(dates.isna(), dates.strftime("%Y-%m-%d %H:%M:%S"))
    rows.pop("", None)
    return Parts(FileTable(table.name, frame, table.signs, dialect), rows)


def refuse_panel(table: FileTable, dates: pd.Index | None, others: Sequence[str]) -> None:
    """Raise if the rows of a table are of several series, with what to do about it.

    ``others`` are columns that are known to be something else.
    """
    named = any(str(name).lower() in NAMES for name in table.frame.columns)
    for times in _times(table, dates, others):
        steps = np.diff(times.astype(float))
        usual = float(np.median(steps)) if len(steps) else 0.0
        forward = (steps * usual > 0).all() and (np.abs(steps) < JUMP * abs(usual)).all()
        if forward and not named:  # or backward, and without a jump: one series
            continue
        columns = _candidates(table, others)
        several = [names for count in (2, 3) for names in combinations(columns[:6], count)]
        for names in [*((one,) for one in columns), *several]:
            rows = zip(*(_ids_of(table, one) for one in names), strict=True)
            codes, known = pd.factorize(np.array([" / ".join(ids) for ids in rows], dtype=object))
            if 2 <= len(known) <= len(codes) / LEAST_ROWS and _tells_apart(names, codes, times):
                raise ValueError(_words(table.name, names, list(known)))


def _words(source: str, names: Sequence[str], known: list[str]) -> str:
    """What is told about a panel."""
    several = f"{listed(known[:3])}{', …' if len(known) > 3 else ''}"
    if len(names) > 1:
        return (
            f"{source} holds {len(known)} series, told apart by {listed(names[:-1])} and "
            f"{shown(names[-1])} together ({several}): forecast all with "
            f"{' '.join(f'--id {_for_shell(one)}' for one in names)}, or add the series up with "
            "--duplicates sum."
        )
    name, first = _for_shell(names[0]), _for_shell(known[0])
    return (
        f"{source} holds {len(known)} series, told apart by {shown(names[0])} ({several}): "
        f"forecast one with --id {name} --only {first}, or all with --id {name}."
    )


def _for_shell(one: str) -> str:
    """A name as it is typed."""
    return one if one.replace("_", "").replace("-", "").isalnum() else shown(one)


def _times(table: FileTable, dates: pd.Index | None, others: Sequence[str]) -> list[np.ndarray]:
    """Times of the rows, as ticks: dates, or else columns of years, which repeat in panels."""
    if isinstance(dates, pd.DatetimeIndex):
        return [dates.asi8]
    columns = table.columns(others)[:MOST_COLUMNS] if dates is None else []
    found = [table.numbers(name).values for name in columns]
    found = [values for values in found if len(values) > 1 and between(values, *YEARS)]
    if dates is not None:
        found = [dates.to_numpy()]
    return [values.astype(np.int64) for values in found if whole(values)]


def _candidates(table: FileTable, others: Sequence[str]) -> list[str]:
    """Columns that may hold ids: of names or of whole numbers; those called so first."""
    columns = [
        name for name in table.columns(others)[:MOST_COLUMNS] if name.lower() not in CALENDAR
    ]
    text = [name for name in columns if len(table.numbers(name).wrong) == len(table.frame)]
    count = [name for name in columns if whole(table.numbers(name).values)]
    return sorted([*text, *count], key=lambda name: name.lower() not in NAMES)


def _tells_apart(names: Sequence[str], codes: np.ndarray, times: np.ndarray) -> bool:
    """Whether rows of equal code are a series each, and all rows together are none."""
    order = np.lexsort((times, codes))
    same = codes[order][1:] == codes[order][:-1]
    if (np.diff(times[order])[same] == 0).any():
        return False  # several rows for one date of one id
    if names[0].lower() in NAMES:
        return True
    changes = np.flatnonzero(np.diff(codes))
    if len(changes) + 1 == len(np.unique(codes)):
        # Blocks one after the other: time goes back or jumps wherever the next one begins.
        steps = np.diff(times.astype(float))
        usual = float(np.median(np.delete(steps, changes)))
        starts = steps[changes] * (1 if usual >= 0 else -1)
        return bool(((starts <= 0) | (starts >= JUMP * abs(usual))).all())
    _, ranks, counts = np.unique(times, return_inverse=True, return_counts=True)
    # Most steps within a series, in dates of the whole file, are as usual for it.
    steps = np.column_stack([codes[order][1:], np.diff(ranks[order])])[same]
    pairs, often = np.unique(steps, axis=0, return_counts=True)
    usual = int(pd.Series(often).groupby(pairs[:, 0]).max().sum())
    return float((counts[ranks] > 1).mean()) >= DOUBLED and 0 < EVEN * len(steps) <= usual


def say_turns(table: FileTable, dates: pd.Index | None, others: Sequence[str], note: Note) -> None:
    """Say which column may tell several series apart, though no date is there twice."""
    if dates is None or not dates.is_unique:
        return
    order = np.argsort(dates.to_numpy(), kind="stable")
    for name in table.columns(others)[:MOST_COLUMNS]:
        values, wrong = table.numbers(name)[:2]
        text, steps = len(wrong) == len(values), np.diff(np.unique(values))
        # Numbers of a few things are 0 or 1, and go on by one.
        if not text and (values.min() not in (0, 1) or (steps != 1).any()):
            continue
        codes, known = pd.factorize(_ids_of(table, name).to_numpy()[order])
        if not 2 <= len(known) <= len(codes) / LEAST_ROWS:
            continue
        if (codes == np.arange(len(codes)) % len(known)).all():
            how = "that take turns"
        elif text and np.count_nonzero(np.diff(codes)) == len(known) - 1:
            how = "in blocks one after the other"
        else:
            continue
        if _of_calendar(name, codes, dates[order]):
            continue
        if text and parse_dates(pd.Series(known, name=name), None, lambda _: None).notna().any():
            continue  # days on which a part of the file was written
        note(
            f"{shown(name)} has {len(known)} values {how}: if they are of different series, use "
            f"--id {name if name.isidentifier() else shown(name)}."
        )
        return


def _of_calendar(name: str, codes: np.ndarray, times: pd.Index) -> bool:
    """Whether values follow from the dates: one for each weekday, or for hours in a row."""
    if name.lower() in CALENDAR or like_dates(name, whole=True):
        return True
    if not isinstance(times, pd.DatetimeIndex):
        return False
    parts = [times.day_of_week, times.hour, times.month, times.minute, times.day]
    for part in (*parts, times.year, times.year * 12 + times.month, times.normalize().asi8):
        _, places = np.unique(part, return_inverse=True)
        pairs = np.unique(np.column_stack([places, codes]), axis=0)
        if len(pairs) == len(codes) or len(pairs) > places.max() + 1:
            continue  # each row has its own, or one part of a date has several values
        if np.count_nonzero(pairs[:, 1] != np.roll(pairs[:, 1], 1)) <= codes.max() + 1:
            return True
    return False
