"""Cells of a column as text, one after the other."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

CHUNK = 10_000  # cells that are Python strings at a time


def each_cell(column: pd.Series) -> Iterator[str]:
    """Cells as text without spaces around it, empty where missing.

    One by one, for a list of short cells takes many times their bytes.
    """
    for start in range(0, len(column), CHUNK):
        part = column if len(column) <= CHUNK else column.iloc[start : start + CHUNK]
        for cell in part.tolist():
            if not isinstance(cell, str):  # of Parquet
                missing = cell is None or cell is pd.NA or cell is pd.NaT
                missing = missing or (isinstance(cell, float) and cell != cell)
                cell = "" if missing else str(cell)
            yield cell.strip().replace("\u2212", "-")
