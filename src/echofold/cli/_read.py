"""Files to tables: CSV in its many forms, and Parquet. Cells of a CSV stay text until asked for."""

from __future__ import annotations

import csv
import difflib
import io
import math
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "-", "--", "?", "."}
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)?,\d+([eE][+-]?\d+)?")  # 1.234,5
POINTS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")  # 1.234 beside 12,5
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")  # 1,234.5
SPACES = re.compile(r"(?<=\d)[\s'’](?=\d{3}(\D|$))")  # 1 234, 1'234


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
            hint = f"did you mean {lower[near[0]]!r}?" if near else f"it has {listed(self.frame)}."
            raise ValueError(f"{self.name} has no column {name!r} (option {option}): {hint}")
        return self.frame[name]

    def numbers(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Values of a column, NaN where missing, and the positions that hold something else."""
        column = self.frame[name]
        if pd.api.types.is_numeric_dtype(column.dtype):
            values = column.to_numpy(dtype=float, na_value=np.nan)
            return values, np.flatnonzero(np.isinf(values))
        if pd.api.types.is_datetime64_any_dtype(column.dtype):
            return np.full(len(column), np.nan), np.arange(len(column))
        found = [_number(cell, self.decimal) for cell in cells_of(column)]
        values = np.array([np.nan if value is None else value for value in found])
        return values, np.array([i for i, value in enumerate(found) if value is None], dtype=int)


def _number(cell: str, decimal: str) -> float | None:
    """The value of a cell, NaN if it is missing, None if it is something else."""
    if cell.lower() in MISSING:
        return math.nan
    cell = SPACES.sub("", cell)
    if decimal == "," and (COMMA.fullmatch(cell) or POINTS.fullmatch(cell)):
        cell = cell.replace(".", "").replace(",", ".")
    elif decimal == "." and THOUSANDS.fullmatch(cell):
        cell = cell.replace(",", "")
    return float(cell) if NUMBER.fullmatch(cell) else None


def read_table(file: str, decimal: str | None, note: Callable[[str], None]) -> Table:
    """Read a CSV or Parquet file; ``-`` is standard input."""
    name = "standard input" if file == "-" else Path(file).name
    content = _content(file)
    if content[:4] == b"PAR1":
        return Table(name, _parquet(content))
    if content[:2] == b"PK" or content[:4] == b"\xd0\xcf\x11\xe0":
        raise ValueError(f"{name} is a spreadsheet or an archive; save the sheet as CSV first.")
    text = _decode(content, name, note)
    if not text.strip():
        raise ValueError(f"{name} is empty; give a file with a header and a column of numbers.")
    frame = _cells(text, name, note)
    if not len(frame):
        raise ValueError(f"{name} has a header, {listed(frame)}, but no rows.")
    return Table(name, frame, decimal or _decimal_sign(frame, text, note))


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
    if path.is_dir():
        raise ValueError(f"{file!r} is a folder; give a CSV or Parquet file in it.")
    return path.read_bytes()


def _parquet(content: bytes) -> pd.DataFrame:
    """Read a Parquet file; an index that was stored with it becomes columns."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError(
            "reading Parquet needs the package pyarrow: pip install 'echofold[parquet]', or save "
            "the table as CSV."
        ) from None
    frame = pd.read_parquet(io.BytesIO(content))
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    frame.columns = frame.columns.map(str)
    return frame


def _decode(content: bytes, name: str, note: Callable[[str], None]) -> str:
    """Bytes to text: UTF-8 with or without a mark, UTF-16 with one, or Latin-1."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16")
    if b"\0" in content[:4096]:
        raise ValueError(f"{name} is not a text file; give a CSV or Parquet file.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        note(f"{name} is not UTF-8; its letters are read as Western European (Latin-1).")
    try:
        return content.decode("cp1252")  # Latin-1 with the euro sign, as Windows writes it
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _cells(text: str, name: str, note: Callable[[str], None]) -> pd.DataFrame:
    """Split text into named columns of text."""
    separator = _separator(text)
    if separator is None:
        lines = [line.strip().strip('"') for line in text.splitlines() if line.strip()]
        frame = pd.DataFrame({0: lines}, dtype="str")
    else:
        try:
            frame = pd.read_csv(
                io.StringIO(text), sep=separator, header=None, dtype=str, na_filter=False
            ).fillna("")
        except pd.errors.ParserError as error:
            found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
            where = "line {1} has {2} fields where the first has {0}".format(*found.groups()) if (
                found
            ) else str(error)  # fmt: skip
            raise ValueError(
                f"{name} is not an even table: {where}. Remove lines above the header, and quote "
                "cells that contain the separator."
            ) from None
    first = [str(cell).strip() for cell in frame.iloc[0]]
    if all(_is_value(cell) for cell in first):
        names = [f"column{i}" for i in range(1, len(first) + 1)]
        note(f"{name} has no header; its columns are called {listed(names)}.")
    else:
        names = [cell or f"column{i}" for i, cell in enumerate(first, 1)]
        frame = frame.iloc[1:]
    doubled = [one for one in names if names.count(one) > 1]
    if doubled:
        raise ValueError(f"{name} has two columns named {doubled[0]!r}; rename one of them.")
    frame.columns = names
    return frame.reset_index(drop=True)


def _separator(text: str) -> str | None:
    """The first of ``;``, tab, comma and ``|`` that cuts all lines alike; None for one column."""
    sample = [line for line in text[:100_000].splitlines()[:200] if line.strip()]
    if len(sample) > 2 and len(text) > 100_000:
        sample.pop()  # it may be cut
    widths = {
        one: [len(row) for row in csv.reader(sample, delimiter=one)]
        for one in (";", "\t", ",", "|")
    }
    for one, counts in widths.items():
        if counts[0] > 1 and len(set(counts)) == 1:
            return one
    if all(COMMA.fullmatch(line.strip()) or _is_value(line.strip()) for line in sample[1:]):
        return None
    # The most frequent one: reading will then name the line that is odd.
    one, counts = max(widths.items(), key=lambda pair: sum(pair[1]))
    return one if max(counts) > 1 else None


def _is_value(cell: str) -> bool:
    """Whether a cell looks like a number or a date, and not like the name of a column."""
    if NUMBER.fullmatch(cell) or COMMA.fullmatch(cell) or THOUSANDS.fullmatch(cell):
        return True
    return bool(re.match(r"\d{1,4}[-./]\d{1,2}([-./]\d{1,4})?\b", cell))


def _decimal_sign(frame: pd.DataFrame, text: str, note: Callable[[str], None]) -> str:
    """The decimal sign of a file; said aloud where commas are in numbers."""
    unclear = None
    for name in frame.columns:
        for cell in cells_of(frame[name]):
            if "," not in cell:
                continue
            comma, thousands = COMMA.fullmatch(cell), THOUSANDS.fullmatch(cell)
            if comma and not thousands:
                note(f"commas are read as decimal signs, as in {cell!r} ({name}); see --decimal.")
                return ","
            if thousands and not comma:
                return "."
            if thousands:
                unclear = (name, cell)
    if unclear is None:
        return "."
    sign = "." if _separator(text) == "," else ","
    meaning = "thousands" if sign == "." else "decimals"
    note(f"the comma in {unclear[1]!r} ({unclear[0]}) is read as of {meaning}; see --decimal.")
    return sign


def cells_of(column: pd.Series) -> list[str]:
    """Cells as text without spaces around it; missing ones are empty."""
    return ["" if cell is None or cell != cell else _tidy(str(cell)) for cell in column.tolist()]


def _tidy(cell: str) -> str:
    return cell.strip().replace("\u2212", "-")


def listed(names: Iterable[Any]) -> str:
    """Names in quotes, the first ten of them."""
    names = [repr(str(name)) for name in names]
    return ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
