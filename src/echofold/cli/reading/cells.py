"""Text to named columns of text: encoding, separator and header of a CSV file."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable
from itertools import islice

import numpy as np
import pandas as pd

from echofold._data.text import unguarded
from echofold.cli.reading.each import each_cell
from echofold.cli.reading.header import is_header
from echofold.cli.reading.layout import layout
from echofold.cli.reading.quote import listed, one_line, shown
from echofold.cli.reading.ragged import check_short, refuse_long
from echofold.cli.reading.rows import without_extra_rows
from echofold.cli.reading.separators import blank_lines, filled_lines, straight

WIDEST = 10_000  # columns: each takes kilobytes, though it may be a single byte of the file
QUOTED = re.compile(r'"[^"]*"')
EMPTY = 400_000  # cells that short lines may leave empty, which take some sixty bytes each


def decode(content: bytes, name: str, note: Callable[[str], None]) -> str:
    """Bytes to text: UTF-8 with or without a mark, UTF-16 with one, or Latin-1."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return _checked(_utf_16(content, name), name)
    if b"\0" in content[:4096]:
        raise ValueError(f"{name} is not a text file; give a CSV or Parquet file.")
    try:
        return _checked(content.decode("utf-8-sig"), name)
    except UnicodeDecodeError:
        note(f"{name} is not UTF-8; its letters are read as Western European (Latin-1).")
    try:
        return _checked(content.decode("cp1252"), name)  # Latin-1 with the euro sign, of Windows
    except UnicodeDecodeError:
        return _checked(content.decode("latin-1"), name)


def _utf_16(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-16")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name} begins like UTF-16 text, but is damaged at byte {error.start + 1} "
            f"({error.reason}); save it again, best as UTF-8."
        ) from None


def _checked(text: str, name: str) -> str:
    """Text without the sign of its end; an error for zeros, which readers of CSV take for one."""
    if "\x1a" in text[-4:]:
        text = text.rstrip("\x1a\r\n")
    place = text.find("\0")
    if place >= 0:
        line = text.count("\n", 0, place) + 1
        raise ValueError(f"{name} is damaged: line {line} holds a zero byte; remove it.")
    return text


def split(text: str, name: str, note: Callable[[str], None]) -> tuple[pd.DataFrame, str | None]:
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


def _with_blank_lines(
    frame: pd.DataFrame, blank: np.ndarray, say: Callable[[str], None]
) -> pd.DataFrame:
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
