"""Which column of a table is to be forecast, and its numbers."""

from __future__ import annotations

import numpy as np

from echofold.cli.reading.find_dates import whole
from echofold.cli.reading.header import times_across
from echofold.cli.reading.numbers import LARGEST
from echofold.cli.reading.quote import listed, shown
from echofold.cli.reading.table import Table


def choose_column(table: Table, column: str | None, others: list[str]) -> str:
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
    changing = [name for name, changes in columns.items() if changes] or list(columns)
    if len(changing) == 1:
        return changing[0]
    if not changing:
        raise ValueError(_none(table, others))
    times = times_across(list(table.frame.columns))
    if times:
        raise ValueError(
            f"in {table.name} time runs across the columns, {listed(times[:3])}, …: turn the "
            "table, so that each date has a row."
        )
    raise ValueError(
        f"{table.name} has {len(changing)} columns of numbers, {listed(changing)}: name the one to "
        "forecast with --column."
    )


def _counts(values: np.ndarray) -> bool:
    """Whether values count rows or seconds: whole numbers with a constant step."""
    if len(values) < 2 or not whole(values):
        return False
    steps = np.diff(values)
    return steps[0] > 0 and bool((steps == steps[0]).all())


def checked_numbers(table: Table, column: str) -> np.ndarray:
    """Numbers of a column, NaN where a cell is empty, or the error that names another cell."""
    values, wrong = table.numbers(column)
    if len(wrong):
        clash = _clash(table, column)
        raise ValueError(
            clash
            or f"column {shown(column)} of {table.name} holds {_first(table, column, wrong)}, but "
            "numbers are needed; correct it, or leave the cell empty."
        )
    huge = np.flatnonzero(np.abs(values) > LARGEST)
    if len(huge):
        raise ValueError(
            f"column {shown(column)} of {table.name} holds {_first(table, column, huge)}, too "
            f"large to compute with; correct it, or divide the column: up to {LARGEST:g} will do."
        )
    return values


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
    clash = _clash(table, best)
    return clash or (
        f"{table.name} has no column of numbers: column {shown(best)} holds "
        f"{_first(table, best, wrong)}, which is none (its columns are {listed(table.frame)}); "
        "correct such cells, or leave them empty."
    )


def _clash(table: Table, column: str) -> str:
    """What to say of a column with two units; empty if it has none."""
    if column not in table.remarks or not table.remarks[column].clash:
        return ""
    return (
        f"column {shown(column)} of {table.name} holds {table.remarks[column].clash}, which are "
        "not in one unit; write all cells alike."
    )


def _first(table: Table, column: str, rows: np.ndarray) -> str:
    """The first of some cells with its row, and how many there are."""
    cell = shown(table.frame[column].iloc[rows[0]])
    more = f" (and {len(rows) - 1} more such cells)" if len(rows) > 1 else ""
    return f"{cell} in row {rows[0] + 1}{more}"
