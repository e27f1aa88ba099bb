"""Files to tables: CSV in its many forms, and Parquet. Cells of a CSV stay text until asked for."""

from __future__ import annotations

import difflib
import io
import re
import stat
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from echofold._data.text import Note, listed, one_line, shown, unguarded
from echofold.cli.reading.layout import is_header, layout, without_extra_rows
from echofold.cli.reading.lines import (
    blank_lines,
    check_short,
    decode,
    filled_lines,
    refuse_long,
    straight,
)
from echofold.cli.reading.numbers import (
    Sign,
    Undressed,
    all_signs,
    cut,
    each_cell,
    number,
    signs_of,
    undress,
)

OTHER_KINDS = {
    "HTML or XML": re.compile(
        r"\s*<(!doctype|!--|\?xml|html|head|body|table|[\w:]+( [^<>]*)?>\s*<)", re.I
    ),
    "JSON": re.compile(r'\s*(\{\s*("|\})|\[\s*[\[{]|\[\s*"[^"]*"\s*,\s*\n)'),
}
WIDEST = 10_000  # columns: each takes kilobytes, though it may be a single byte of the file
QUOTED = re.compile(r'"[^"]*"')
EMPTY = 400_000  # cells that short lines may leave empty, which take some sixty bytes each


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

    def columns(self, but: Sequence[str] = ()) -> list[str]:
        """Names of the columns but some."""
        return [name for name in self.frame.columns if name not in but]

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

    def place(self, name: str, row: int) -> str:
        """One cell as the file has it, with its row."""
        return f"{shown(self.frame[name].iloc[row])} in row {row + 1}"

    def clash(self, name: str) -> str:
        """What to say of a column with two units; empty if it has none."""
        if name not in self.remarks or not self.remarks[name].clash:
            return ""
        return (
            f"column {shown(name)} of {self.name} holds {self.remarks[name].clash}, which are not "
            "in one unit; write all cells alike."
        )

    def repeated(self) -> np.ndarray:
        """Which rows repeat an earlier one cell by cell."""
        try:
            return self.frame.duplicated().to_numpy()
        except TypeError:  # lists in the cells of a Parquet file
            return np.zeros(len(self.frame), dtype=bool)

    def say(self, name: str, note: Note) -> None:
        """Say how cells of a column that is used were read."""
        values = self.numbers(name)[0]
        if name in self.decimal and self.decimal[name].words and not np.isnan(values).all():
            note(f"{self.decimal[name].words} (column {shown(name)}).")
        if name in self.remarks:
            for words in self.remarks[name].notes:
                note(f"{words} (column {shown(name)}).")


def read_table(file: str, decimal: str | None, note: Note) -> Table:
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


def split(text: str, name: str, note: Note) -> tuple[pd.DataFrame, str | None]:
    """Named columns of text, and the separator between them."""

    def say(words: str) -> None:
        note(f"{name}: {words}")

    found = layout(straight(text, say), say)
    text, separator = found.text, found.separator
    if separator is not None and separator not in text:
        separator = None
    if not text.strip():
        raise ValueError(
            f"{name} holds no table beside what was left out; give a header and a column of "
            "numbers."
        )
    if separator is None:
        # Objects first: NumPy would make all lines as wide as the longest.
        lines = np.array([line.strip().strip('"') for line in filled_lines(text)], dtype=object)
        frame = pd.DataFrame({0: lines}, dtype="str")
    else:
        _check_width(text, separator, name)
        frame = _parsed(text, separator, name)
        check_short(frame, text, separator, name, note)
    first = [str(cell).strip() for cell in frame.iloc[0]]
    below = [[str(cell).strip() for cell in row] for row in frame.iloc[1:6].to_numpy()]
    if not is_header(first, below):
        names = [f"column{i}" for i in range(1, len(first) + 1)]
        note(f"{name} has no header; its columns are called {listed(names)}.")
    else:
        first = [" ".join(unguarded(cell).replace("\ufeff", " ").split()) for cell in first]
        names = [cell or f"column{i}" for i, cell in enumerate(first, 1)]
        frame = frame.iloc[1:]
    frame.columns = names
    check_names(frame, name)
    nameless = [one for one, cell in zip(names, first, strict=True) if not cell]
    frame = without_extra_rows(frame.drop(columns=_empty(frame, nameless)), name, note)
    if separator is None:
        frame = _with_blank_lines(frame, blank_lines(text), say)
    return frame.reset_index(drop=True), separator


def _with_blank_lines(frame: pd.DataFrame, blank: np.ndarray, say: Note) -> pd.DataFrame:
    """One column with an empty cell for each of the ``blank`` lines between those that it has.

    Where lines are spaced, as many more blank ones are needed for a cell.
    """
    between = np.where(np.diff(frame.index) == 1, blank[frame.index[1:]], 0)
    usual = int(np.median(between)) if len(between) else 0
    empty = np.maximum(between - usual, 0) // (usual + 1)
    if empty.any():
        lines = "1 blank line" if empty.sum() == 1 else f"{empty.sum():,} blank lines"
        say(f"{lines} between values: taken as missing; remove what is none.")
    places = np.arange(len(frame)) + np.concatenate([[0], np.cumsum(empty)])
    return frame.set_axis(places).reindex(np.arange(len(frame) + empty.sum()), fill_value="")


def _empty(frame: pd.DataFrame, nameless: list[str]) -> list[str]:
    """Columns without a name that hold nothing, as of separators at the end of every line."""
    return [one for one in nameless if not any(each_cell(frame[one]))]


def check_names(frame: pd.DataFrame, name: str) -> None:
    """Raise for two columns of one name."""
    doubled = [one for one, count in Counter(frame.columns).items() if count > 1]
    if doubled:
        raise ValueError(f"{name} has two columns named {shown(doubled[0])}; rename one of them.")


def _parsed(text: str, separator: str, name: str) -> pd.DataFrame:
    """Cells between separators."""
    try:
        frame = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            header=None,
            dtype=str,
            na_filter=False,
            skipinitialspace=True,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        if "EOF inside string" in one_line(error):
            where = "a quotation mark is opened and never closed"
            raise ValueError(f"{name} is not an even table: {where}; close it.") from None
        refuse_long(text, separator, name)
        raise ValueError(f"{name} is not an even table: {one_line(error)}.") from None
    return frame.fillna("")


def _check_width(text: str, separator: str, name: str) -> None:
    """Raise for a file that would take much more memory as a table than as text."""
    lines = (QUOTED.sub("", line) for line in islice(filled_lines(text), 2))
    wide = max(line.count(separator) for line in lines) + 1
    if wide > WIDEST:
        raise ValueError(
            f"{name} has {wide:,} columns, and at most {WIDEST:,} are read; keep those of the "
            "dates and of the numbers to forecast."
        )
    most = max(EMPTY, len(text))  # an even table has a character for each cell
    if wide * (text.count("\n") + text.count("\r")) > most:
        count = sum(1 for _ in filled_lines(text))
        if wide * count > most:
            raise ValueError(
                f"{name} is not an even table: its first lines have {wide:,} fields, and most of "
                f"its {count:,} lines have few. Keep the columns that are filled."
            )
