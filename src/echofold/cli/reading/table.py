"""Files to tables: CSV in its many forms, and Parquet. Cells of a CSV stay text until asked for."""

from __future__ import annotations

import difflib
import io
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from echofold.cli.reading.cells import check_names, decimal_sign, decode, split
from echofold.cli.reading.numbers import number
from echofold.cli.reading.quote import listed, one_line, shown

CHUNK = 10_000  # cells that are Python strings at a time


@dataclass
class Table:
    """Columns of a file by name, and the decimal sign of those that are text."""

    name: str
    frame: pd.DataFrame
    decimal: str = "."

    def column(self, name: str, option: str) -> pd.Series:
        """A column by its name, or the error that names the nearest."""
        if name not in self.frame.columns:
            lower = {str(c).lower(): c for c in self.frame.columns}
            near = difflib.get_close_matches(name.lower(), lower, 1)
            hint = f"it has {listed(self.frame)}."
            if near:
                hint = f"did you mean {shown(lower[near[0]])}?"
            raise ValueError(f"{self.name} has no column {shown(name)} (option {option}): {hint}")
        return self.frame[name]

    def numbers(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Values of a column, NaN where missing, and the positions that hold something else."""
        column = self.frame[name]
        if pd.api.types.is_datetime64_any_dtype(column.dtype):
            return np.full(len(column), np.nan), np.arange(len(column))
        if pd.api.types.is_numeric_dtype(column.dtype):
            values = column.to_numpy(dtype=float, na_value=np.nan)
        else:
            parsed = (number(cell, self.decimal) for cell in each_cell(column))
            values = np.fromiter(parsed, dtype=float, count=len(column))
        wrong = np.isinf(values)
        return np.where(wrong, np.nan, values), np.flatnonzero(wrong)


def read_table(file: str, decimal: str | None, note: Callable[[str], None]) -> Table:
    """Read a CSV or Parquet file; ``-`` is standard input."""
    name = "standard input" if file == "-" else Path(file).name
    content = _content(file)
    if content[:4] == b"PAR1":
        return Table(name, _parquet(content, name))
    if content[:2] == b"PK" or content[:4] == b"\xd0\xcf\x11\xe0":
        raise ValueError(f"{name} is a spreadsheet or an archive; save the sheet as CSV first.")
    text = decode(content, name, note)
    del content
    if not text.strip():
        raise ValueError(f"{name} is empty; give a file with a header and a column of numbers.")
    frame, separator = split(text, name, note)
    # A comma between separators that are commas stands in quotes.
    commas = "," in text and (separator != "," or '"' in text)
    del text
    if not len(frame):
        raise ValueError(f"{name} has a header, {listed(frame)}, but no rows.")
    if decimal is None:
        columns = ((one, each_cell(frame[one])) for one in frame.columns if commas)
        decimal = decimal_sign(columns, separator, note)
    return Table(name, frame, decimal)


def _content(file: str) -> bytes:
    """All bytes of a file."""
    if file == "-":
        return sys.stdin.buffer.read()
    path = Path(file)
    if not path.exists():
        siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, siblings, 1, 0.75)
        hint = f"; did you mean {str(path.with_name(near[0]))!r}?" if near else "."
        raise ValueError(f"there is no file {file!r}{hint}")
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise ValueError(f"{file!r} is a folder; give a CSV or Parquet file in it.")
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise ValueError(f"{file!r} is a device, which may never end; give a file, or - for stdin.")
    return path.read_bytes()


def _parquet(content: bytes, name: str) -> pd.DataFrame:
    """Read a Parquet file; an index that was stored with it becomes columns."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError(
            "reading Parquet needs the package pyarrow: pip install 'echofold[parquet]', or save "
            "the table as CSV."
        ) from None
    try:
        frame = pd.read_parquet(io.BytesIO(content), engine="pyarrow")
        if not isinstance(frame.index, pd.RangeIndex):
            frame = frame.reset_index()
        frame.columns = frame.columns.map(str)
    except Exception as error:  # damage shows as any of many, depending on the byte
        raise ValueError(
            f"{name} cannot be read as Parquet: {one_line(error)}. If it is damaged, write it "
            "again, or save the table as CSV."
        ) from None
    check_names(frame, name)
    if frame.empty:
        raise ValueError(f"{name} has columns {listed(frame)}, but no rows.")
    return frame


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
