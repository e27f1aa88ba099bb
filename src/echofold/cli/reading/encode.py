"""Columns of a table as inputs of a network: numbers, yes and no, and names as zeros and ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from echofold.cli.reading.numbers import LARGEST, MISSING
from echofold.cli.reading.quote import shown
from echofold.cli.reading.table import Table, each_cell

YES, NO = {"true", "yes", "t", "y"}, {"false", "no", "f", "n"}
MOST_NAMES = 20  # different ones in a column, for each becomes an input


@dataclass(frozen=True)
class Encoded:
    """Inputs made of one column: their names, ``values (rows, inputs)``, and if they are 0 or 1."""

    column: str
    names: list[str]
    values: np.ndarray
    flags: bool


def encoded(table: Table, column: str, rows: np.ndarray) -> Encoded:
    """The inputs that a column of a table makes, at the positions ``rows`` of it.

    Values are NaN in empty cells, but for columns of names, where an empty cell is none of them.
    """
    values, wrong = table.numbers(column)
    values, wrong = values[rows], np.flatnonzero(np.isin(rows, wrong))
    huge = np.flatnonzero(np.abs(values) > LARGEST)
    if len(huge):
        cell = shown(table.frame[column].iloc[rows[huge[0]]])
        raise ValueError(
            f"input {shown(column)} of {table.name} holds {cell} in row {rows[huge[0]] + 1}, too "
            f"large to compute with; correct it, or divide the column: up to {LARGEST:g} will do."
        )
    if not len(wrong):
        return Encoded(column, [column], values[:, None], _only_flags(values))
    if (~np.isnan(values)).sum() > len(wrong):
        cell = shown(table.frame[column].iloc[rows[wrong[0]]])
        raise ValueError(
            f"input {shown(column)} of {table.name} holds {cell} in row {rows[wrong[0]] + 1}, but "
            "numbers are needed, as in its other rows; correct it."
        )
    cells = list(each_cell(table.frame[column].iloc[rows]))
    words = [cell.lower() for cell in cells]
    if set(words) <= YES | NO | MISSING:
        read = [1.0 if word in YES else 0.0 if word in NO else np.nan for word in words]
        return Encoded(column, [column], np.array(read)[:, None], True)
    names = sorted({cell for cell in cells if cell.lower() not in MISSING})
    if len(names) > MOST_NAMES:
        raise ValueError(
            f"input {shown(column)} of {table.name} holds {len(names)} different names, such as "
            f"{shown(names[0])} and {shown(names[1])}, and each becomes an input; at most "
            f"{MOST_NAMES} are taken: join some of them, or leave the column out."
        )
    at = np.array(cells, dtype=object)[:, None] == np.array(names, dtype=object)
    return Encoded(column, [f"{column}={name}" for name in names], at.astype(float), True)


def _only_flags(values: np.ndarray) -> bool:
    """Whether all numbers that are there are 0 or 1."""
    return bool(np.isin(values[~np.isnan(values)], (0, 1)).all())
