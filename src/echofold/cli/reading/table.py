"""Files to tables: CSV in its many forms, and Parquet. Cells of a CSV stay text until asked for."""

from __future__ import annotations

import difflib
import io
import re
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from echofold.cli.reading.cells import check_names, decode, split
from echofold.cli.reading.each import each_cell as each_cell
from echofold.cli.reading.numbers import number
from echofold.cli.reading.quantities import Undressed, cut, undress
from echofold.cli.reading.quote import listed, one_line, shown
from echofold.cli.reading.signs import Sign, all_signs, signs_of

OTHER_KINDS = {
    "HTML or XML": re.compile(
        r"\s*<(!doctype|!--|\?xml|html|head|body|table|[\w:]+( [^<>]*)?>\s*<)", re.I
    ),
    "JSON": re.compile(r'\s*(\{\s*("|\})|\[\s*[\[{]|\[\s*"[^"]*"\s*,\s*\n)'),
}


@dataclass
class Table:
    """Columns of a file by name, and the decimal signs of those that are text."""

    name: str
    frame: pd.DataFrame
    decimal: dict[str, Sign] = field(default_factory=dict)
    read: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    remarks: dict[str, Undressed] = field(default_factory=dict)

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
        if name not in self.read:
            values = self._values(name)
            wrong = np.isinf(values)
            self.read[name] = np.where(wrong, np.nan, values), np.flatnonzero(wrong)
        return self.read[name]

    def _values(self, name: str) -> np.ndarray:
        """Values of a column, infinite where a cell is none."""
        column = self.frame[name]
        if pd.api.types.is_datetime64_any_dtype(column.dtype):
            return np.full(len(column), np.inf)
        if pd.api.types.is_numeric_dtype(column.dtype):
            return column.to_numpy(dtype=float, na_value=np.nan)
        decimal = self.decimal.get(name, Sign()).decimal
        parsed = (number(cell, decimal) for cell in each_cell(column))
        values = np.fromiter(parsed, dtype=float, count=len(column))
        odd = np.flatnonzero(np.isinf(values))
        if len(odd) and not self._may_be_dressed(column, odd):
            return values
        bare = np.flatnonzero(np.isfinite(values) & (values != 0))[:1]
        plain = (int(bare[0]), self.cell(name, int(bare[0]))) if len(bare) else None
        self.remarks[name] = undress(column.iloc[odd], plain, decimal)
        values[odd] = self.remarks[name].values
        return values

    def _may_be_dressed(self, column: pd.Series, odd: np.ndarray) -> bool:
        """Whether some of the first odd cells are numbers in dress: of most texts none is."""
        return any(cut(cell) is not None for cell in each_cell(column.iloc[odd[:20]]))

    def cell(self, name: str, row: int) -> str:
        """One cell as text."""
        return next(each_cell(self.frame[name].iloc[row : row + 1]))

    def repeated(self) -> np.ndarray:
        """Which rows repeat an earlier one cell by cell."""
        try:
            return self.frame.duplicated().to_numpy()
        except TypeError:  # lists in the cells of a Parquet file
            return np.zeros(len(self.frame), dtype=bool)

    def say(self, name: str, note: Callable[[str], None]) -> None:
        """Say how cells of a column that is used were read."""
        values = self.numbers(name)[0]
        if name in self.decimal and self.decimal[name].words and not np.isnan(values).all():
            note(f"{self.decimal[name].words} (column {shown(name)}).")
        if name in self.remarks:
            for words in self.remarks[name].notes:
                note(f"{words} (column {shown(name)}).")


def read_table(file: str, decimal: str | None, note: Callable[[str], None]) -> Table:
    """Read a CSV or Parquet file; ``-`` is standard input."""
    name = "standard input" if file == "-" else Path(file).name
    content = _content(file)
    if content[:4] == b"PAR1":
        return Table(name, _parquet(content, name))
    if content[:2] == b"PK" or content[:4] == b"\xd0\xcf\x11\xe0":
        raise ValueError(f"{name} is a spreadsheet or an archive; save the sheet as CSV first.")
    if content[:2] == b"\x1f\x8b":
        raise ValueError(f"{name} is compressed (gzip); unpack it first.")
    text = decode(content, name, note)
    del content
    if not text.strip():
        raise ValueError(f"{name} is empty; give a file with a header and a column of numbers.")
    _refuse_other(text, name)
    frame, separator = split(text, name, note)
    # A comma between separators that are commas stands in quotes.
    signs = "." in text or ("," in text and (separator != "," or '"' in text))
    del text
    if not len(frame):
        raise ValueError(f"{name} has a header, {listed(frame)}, but no rows.")
    if decimal is not None:
        return Table(name, frame, all_signs(frame.columns, decimal))
    if not signs:
        return Table(name, frame)
    return Table(name, frame, signs_of(frame.columns, lambda one: each_cell(frame[one]), separator))


def _refuse_other(text: str, name: str) -> None:
    """Raise for text that is plainly of another kind than a table of cells."""
    for kind, form in OTHER_KINDS.items():
        if form.match(text):
            raise ValueError(f"{name} is {kind}, not a table of cells; save the table as CSV.")


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
