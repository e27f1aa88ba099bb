"""Files to tables: CSV in its many forms, Excel, Parquet. Cells stay text until asked for."""

from __future__ import annotations

import csv
import difflib
import io
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from echofold._data.text import Note, count, inflected, listed, one_line, shown, unguarded
from echofold.cli.reading import layout
from echofold.cli.reading.dialect import Dialect
from echofold.cli.reading.excel import is_workbook, sheet_as_text
from echofold.cli.reading.numbers import Numbers, Sign, each_cell, numbers_of, signs_of

OTHER_KINDS = {
    "HTML or XML": r"(?i)\s*<(!doctype|!--|\?xml|html|head|body|table|[\w:]+( [^<>]*)?>\s*<)",
    "JSON": r'\s*(\{\s*("|\})|\[\s*[\[{]|\[\s*"[^"]*"\s*,\s*\n)',
}
OTHER_BYTES = {  # what files begin with
    b"PK": "an archive or another spreadsheet than .xlsx; save the sheet as CSV or .xlsx first",
    b"\xd0\xcf\x11\xe0": "an old Excel file (.xls), or one with a password; save the sheet as "
    ".xlsx without one, or as CSV, first",
    b"\x1f\x8b": "compressed (gzip); unpack it first",
}
BREAK = re.compile(r"\r\n?|\n")
QUOTED = re.compile(r'"[^"]*"')
WIDEST = 10_000  # columns: each takes kilobytes, though it may be a single byte of the file
EMPTY = 400_000  # cells that short lines may leave empty, which take some sixty bytes each
HABIT = 0.05  # share of short lines from which a file is taken to leave out empty cells at the end


@dataclass
class FileTable:
    """Columns of a file by name, and the decimal signs of those that are text."""

    name: str
    frame: pd.DataFrame
    signs: dict[str, Sign] = field(default_factory=dict)
    dialect: Dialect = Dialect()
    read: dict[str, Numbers] = field(default_factory=dict)

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

    def numbers(self, name: str) -> Numbers:
        """A column as numbers."""
        if name not in self.read:
            self.read[name] = numbers_of(self.frame[name], self.signs.get(name, Sign()))
        return self.read[name]

    def place(self, name: str, row: int, of: int = 1) -> str:
        """One cell as the file has it, with its row, and how many there are besides it."""
        more = f" (and {count(of - 1, 'more such cell')})" if of > 1 else ""
        return f"{shown(self.frame[name].iloc[row])} in row {row + 1}{more}"

    def clash(self, name: str) -> str:
        """What to say of a column with two units; empty if it has none."""
        cells = self.numbers(name).clash
        return cells and (
            f"column {shown(name)} of {self.name} holds {cells}, which are not in one unit; write "
            "all cells alike."
        )

    def repeated(self) -> np.ndarray:
        """Which rows repeat an earlier one cell by cell."""
        try:
            return self.frame.duplicated().to_numpy()
        except TypeError:  # lists in the cells of a Parquet file
            return np.zeros(len(self.frame), dtype=bool)

    def say(self, name: str, note: Note) -> None:
        """Say how cells of a column that is used were read."""
        for words in self.numbers(name).notes:
            note(f"{words} (column {shown(name)}).")


def read_table(file: str, decimal: str | None, note: Note, sheet: str | None = None) -> FileTable:
    """Read a CSV, Excel or Parquet file; ``-`` is standard input. ``sheet`` is one of Excel."""
    name = "standard input" if file == "-" else Path(file).name
    content = _content(file)
    excel, separator = is_workbook(content), None
    if sheet is not None and not excel:
        raise ValueError(f"--sheet {sheet}: {name} is no Excel file (.xlsx), so it has no sheets.")
    if content[:4] == b"PAR1":
        return FileTable(name, _parquet(content, name))
    for start, words in OTHER_BYTES.items():
        if content.startswith(start) and not excel:
            raise ValueError(f"{name} is {words}.")
    if excel:
        text, separator = sheet_as_text(content, name, sheet, note)
    else:
        text = _decoded(content, name, note)
    del content
    if not text.strip():
        raise ValueError(f"{name} is empty; give a file with a header and a column of numbers.")
    for kind, form in OTHER_KINDS.items():
        if re.match(form, text):
            raise ValueError(f"{name} is {kind}, not a table of cells; save the table as CSV.")
    frame, separator = _split(text, name, note, separator)
    # A comma between separators that are commas stands in quotes.
    signs = "." in text or ("," in text and (separator != "," or '"' in text))
    del text
    if not len(frame):
        raise ValueError(f"{name} has a header, {listed(frame)}, but no rows.")
    found = signs_of(frame, separator) if signs and decimal is None else {}
    if decimal is not None and not excel:
        found = dict.fromkeys(frame.columns, Sign(decimal))
    dialect = Dialect(excel=True)
    if not excel:
        comma = any(sign.decimal == "," for sign in found.values())
        dialect = Dialect(separator or ",", "," if comma and separator != "," else ".")
    return FileTable(name, frame, found, dialect)


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


def _decoded(content: bytes, name: str, note: Note) -> str:
    """Bytes to text: UTF-8 with or without a mark, UTF-16 with one, or Latin-1."""
    marked = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    if not marked and b"\0" in content[:4096]:
        raise ValueError(f"{name} is not a text file; give a CSV or Parquet file.")
    try:
        text = content.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError as error:
        if marked:
            raise ValueError(
                f"{name} begins like UTF-16 text, but is damaged at byte {error.start + 1} "
                f"({error.reason}); save it again, best as UTF-8."
            ) from None
        note(f"{name} is not UTF-8; its letters are read as Western European (Latin-1).")
        try:
            text = content.decode("cp1252")  # Latin-1 with the euro sign, of Windows
        except UnicodeDecodeError:
            text = content.decode("latin-1")
    if "\x1a" in text[-4:]:  # the sign of its end
        text = text.rstrip("\x1a\r\n")
    place = text.find("\0")  # which readers of CSV take for the end
    if place >= 0:
        line = text.count("\n", 0, place) + 1
        raise ValueError(f"{name} is damaged: line {line} holds a zero byte; remove it.")
    return text


def _split(
    text: str, name: str, note: Note, separator: str | None = None
) -> tuple[pd.DataFrame, str | None]:
    """Named columns of text, and the separator between them."""

    def say(words: str) -> None:
        note(f"{name}: {words}")

    text, separator = layout.table_in(layout.straight(text, say), say, separator)
    if separator is not None and separator not in text:
        separator = None
    if not text.strip():
        raise ValueError(
            f"{name} holds no table beside what was left out; give a header and a column of "
            "numbers."
        )
    if separator is None:
        # Objects first: NumPy would make all lines as wide as the longest.
        lines = [line[0].strip().strip('"') for line in layout.filled_lines(text)]
        frame = pd.DataFrame({0: np.array(lines, dtype=object)}, dtype="str")
    else:
        frame = _cells(text, separator, name, say)
    first = [str(cell).strip() for cell in frame.iloc[0]]
    below = [[str(cell).strip() for cell in row] for row in frame.iloc[1:6].to_numpy()]
    if not layout.is_header(first, below):
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
    frame = layout.without_extra_rows(frame.drop(columns=empty), say)
    if separator is None:
        frame = _with_blank_lines(frame, text, say)
    return frame.reset_index(drop=True), separator


def _with_blank_lines(frame: pd.DataFrame, text: str, say: Note) -> pd.DataFrame:
    """One column with an empty cell for each blank line in it, or for each more than are usual."""
    blank, at = [], 0
    for line in layout.filled_lines(text):
        blank.append(len(BREAK.findall(text, at, line.start())) - bool(at))
        at = line.end()
    between = np.where(np.diff(frame.index) == 1, np.array(blank)[frame.index[1:]], 0)
    usual = int(np.median(between)) if len(between) else 0
    empty = np.maximum(between - usual, 0) // (usual + 1)
    if empty.any():
        lines = inflected(empty.sum(), "1 blank line", "{:,} blank lines")
        say(f"{lines} between values: taken as missing; remove what is none.")
    places = np.arange(len(frame)) + np.concatenate([[0], np.cumsum(empty)])
    return frame.set_axis(places).reindex(np.arange(len(frame) + empty.sum()), fill_value="")


def _check_names(frame: pd.DataFrame, name: str) -> None:
    """Raise for two columns of one name."""
    doubled = frame.columns[frame.columns.duplicated(keep=False)]
    if len(doubled):
        raise ValueError(f"{name} has two columns named {shown(doubled[0])}; rename one of them.")


class _Text(io.TextIOBase):
    """A text to read from as it is: `io.StringIO` copies it, four bytes for each character."""

    def __init__(self, text: str):
        self._text, self._at = text, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> str:
        end = len(self._text) if size is None or size < 0 else self._at + size
        part, self._at = self._text[self._at : end], end
        return part


def _cells(text: str, separator: str, name: str, say: Note) -> pd.DataFrame:
    """Cells between separators, or the error that names an uneven line."""
    _check_width(text, separator, name)
    uneven = f"{name} is not an even table:"
    try:
        frame = pd.read_csv(
            _Text(text), sep=separator, header=None, dtype=str, na_filter=False,
            skipinitialspace=True,
        ).fillna("")  # fmt: skip
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        words = f"{one_line(error)}."
        if "EOF inside string" in words:
            words = "a quotation mark is opened and never closed; close it."
        else:
            words = _long_line(text, separator) or words
        raise ValueError(f"{uneven} {words}") from None
    width = frame.shape[1]
    if width == 1 or not (frame[width - 1] == "").any():
        return frame
    short = (one for one in _rows(text, separator) if len(one[1]) < width)
    line, row = next(short, (0, []))
    lines = bool(line) + sum(1 for _ in short)
    if lines > max(1, HABIT * len(frame)):
        say(
            f"{lines} lines, the first line {line}, have fewer than {width} fields; the others are "
            "taken to be empty."
        )
    elif lines:
        others = f", and so have {lines - 1} other lines" if lines > 1 else ""
        raise ValueError(
            f"{uneven} line {line} has {count(len(row), 'field')}, too few where {width} are "
            f"expected{others}: {shown(separator.join(row[:50]))}; complete it, or remove it."
        )
    return frame


def _rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the number of the line that it ends in."""
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                yield reader.line_num, row
    except csv.Error:  # a cell of more than csv's limit: the table is read, only not looked at
        return


def _long_line(text: str, separator: str) -> str | None:
    """What to say of the first line that has more cells than the first."""
    expected = None
    for line, row in _rows(text, separator):
        expected = expected or len(row)
        if len(row) <= expected:
            continue
        remedy = f"quote cells that contain {shown(separator)}"
        digits = [bool(re.fullmatch(r"\s*[+-]?\d+\s*", cell[:50])) for cell in row]
        if separator == "," and any(map(all, pairwise(digits))):
            remedy = (
                "if its comma is a decimal sign, quote such cells or separate cells by semicolons"
            )
        if line < 30 and expected == 1:
            remedy = "remove the lines above the header, and " + remedy
        return (
            f"line {line} has {len(row)} fields, too many where the first line has {expected}: "
            f"{shown(separator.join(row[:50]))}; {remedy}."
        )
    return None


def _check_width(text: str, separator: str, name: str) -> None:
    """Raise for a file that would take much more memory as a table than as text."""
    first = (QUOTED.sub("", line[0]) for line in islice(layout.filled_lines(text), 2))
    wide = max(line.count(separator) for line in first) + 1
    if wide > WIDEST:
        raise ValueError(
            f"{name} has {wide:,} columns, and at most {WIDEST:,} are read; keep those of the "
            "dates and of the numbers to forecast."
        )
    most = max(EMPTY, len(text))  # an even table has a character for each cell
    lines = text.count("\n") + text.count("\r")
    if wide * lines > most:
        lines = sum(1 for _ in layout.filled_lines(text))
    if wide * lines > most:
        raise ValueError(
            f"{name} is not an even table: its first lines have {wide:,} fields, and most of "
            f"its {lines:,} lines have few. Keep the columns that are filled."
        )
