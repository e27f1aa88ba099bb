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
from pathlib import Path

import numpy as np
import pandas as pd

from echofold._data.text import Note, listed, one_line, shown, unguarded
from echofold.cli.reading.layout import is_header, layout, without_extra_rows
from echofold.cli.reading.lines import blank_lines, decode, filled_lines, parsed, straight
from echofold.cli.reading.numbers import Sign, Undressed, each_cell, signs_of, values_of

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
            have = f"it has {listed(self.frame)}."
            hint = f"did you mean {shown(lower[near[0]])}?" if near else have
            raise ValueError(f"{self.name} has no column {shown(name)} (option {option}): {hint}")
        return self.frame[name]

    def columns(self, but: Sequence[str] = ()) -> list[str]:
        """Names of the columns but some."""
        return [name for name in self.frame.columns if name not in but]

    def numbers(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Values of a column, NaN where missing, and the positions that hold something else."""
        if name not in self.read:
            column = self.frame[name]
            if pd.api.types.is_datetime64_any_dtype(column.dtype):
                values = np.full(len(column), np.inf)
            elif pd.api.types.is_numeric_dtype(column.dtype):
                values = column.to_numpy(dtype=float, na_value=np.nan)
            else:
                values, dressed = values_of(column, self.decimal.get(name, Sign()).decimal)
                if dressed is not None:
                    self.remarks[name] = dressed
            wrong = np.isinf(values)
            self.read[name] = np.where(wrong, np.nan, values), np.flatnonzero(wrong)
        return self.read[name]

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
    for kind, form in OTHER_KINDS.items():
        if form.match(text):
            raise ValueError(f"{name} is {kind}, not a table of cells; save the table as CSV.")
    frame, separator = split(text, name, note)
    # A comma between separators that are commas stands in quotes.
    signs = "." in text or ("," in text and (separator != "," or '"' in text))
    del text
    if not len(frame):
        raise ValueError(f"{name} has a header, {listed(frame)}, but no rows.")
    if decimal is not None:
        return Table(name, frame, dict.fromkeys(frame.columns, Sign(decimal)))
    return Table(name, frame, signs_of(frame, separator) if signs else {})


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
    _check_names(frame, name)
    if frame.empty:
        raise ValueError(f"{name} has columns {listed(frame)}, but no rows.")
    return frame


def split(text: str, name: str, note: Note) -> tuple[pd.DataFrame, str | None]:
    """Named columns of text, and the separator between them."""

    def say(words: str) -> None:
        note(f"{name}: {words}")

    text, separator = layout(straight(text, say), say)
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
        frame = parsed(text, separator, name, note)
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
    _check_names(frame, name)
    # Columns without a name that hold nothing, as of separators at the end of every line.
    nameless = [one for one, cell in zip(names, first, strict=True) if not cell]
    empty = [one for one in nameless if not any(each_cell(frame[one]))]
    frame = without_extra_rows(frame.drop(columns=empty), name, note)
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


def _check_names(frame: pd.DataFrame, name: str) -> None:
    """Raise for two columns of one name."""
    doubled = [one for one, count in Counter(frame.columns).items() if count > 1]
    if doubled:
        raise ValueError(f"{name} has two columns named {shown(doubled[0])}; rename one of them.")
