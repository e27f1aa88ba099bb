"""Text to named columns of text: encoding, separator, header and decimal sign of a CSV file."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
import pandas as pd

from echofold.cli.reading.each import each_cell
from echofold.cli.reading.layout import layout
from echofold.cli.reading.numbers import COMMA, THOUSANDS, is_value
from echofold.cli.reading.quantities import cut, dressed
from echofold.cli.reading.quote import listed, one_line, shown
from echofold.cli.reading.ragged import check_short, refuse_long
from echofold.cli.reading.rows import without_extra_rows
from echofold.cli.reading.separators import filled_lines

WIDEST = 10_000  # columns: each takes kilobytes, though it may be a single byte of the file
NUMBER_LIKE = re.compile(r"[+-]?[\d.,]+")
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
    """The same text; an error if it holds zeros, which readers of CSV take for its end."""
    place = text.find("\0")
    if place >= 0:
        line = text.count("\n", 0, place) + 1
        raise ValueError(f"{name} is damaged: line {line} holds a zero byte; remove it.")
    return text


def split(text: str, name: str, note: Callable[[str], None]) -> tuple[pd.DataFrame, str | None]:
    """Named columns of text, and the separator between them."""
    found = layout(text, lambda words: note(f"{name}: {words}"))
    text, separator = found.text, found.separator
    if separator is None:
        # Objects first: NumPy would make all lines as wide as the longest.
        lines = np.array([line.strip().strip('"') for line in filled_lines(text)], dtype=object)
        frame = pd.DataFrame({0: lines}, dtype="str")
    else:
        _check_width(text, separator, name)
        frame = _parsed(text, separator, name)
        check_short(frame, text, separator, name, note)
    first = [str(cell).strip() for cell in frame.iloc[0]]
    if all(is_value(cell) or dressed(cell) for cell in first):
        names = [f"column{i}" for i in range(1, len(first) + 1)]
        note(f"{name} has no header; its columns are called {listed(names)}.")
    else:
        names = [cell or f"column{i}" for i, cell in enumerate(first, 1)]
        frame = frame.iloc[1:]
    frame.columns = names
    check_names(frame, name)
    nameless = [one for one, cell in zip(names, first, strict=True) if not cell]
    frame = without_extra_rows(frame.drop(columns=_empty(frame, nameless)), name, note)
    return frame.reset_index(drop=True), separator


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
            io.StringIO(text), sep=separator, header=None, dtype=str, na_filter=False
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
    wide = max(line.count(separator) for line in islice(filled_lines(text), 2)) + 1
    if wide > WIDEST:
        raise ValueError(
            f"{name} has {wide:,} columns, and at most {WIDEST:,} are read; keep those of the "
            "dates and of the numbers to forecast."
        )
    most = max(EMPTY, len(text))  # an even table has a character for each cell
    if wide * (text.count("\n") + text.count("\r")) > most:
        lines = sum(1 for _ in filled_lines(text))
        if wide * lines > most:
            raise ValueError(
                f"{name} is not an even table: its first lines have {wide:,} fields, and most of "
                f"its {lines:,} lines have few. Keep the columns that are filled."
            )


def decimal_sign(
    columns: Iterator[tuple[str, Iterator[str]]], separator: str | None, note: Callable[[str], None]
) -> str:
    """The decimal sign of a file, from its cells by column; said where commas are in numbers."""
    unclear = None
    for name, cells in columns:
        for cell in cells:
            if "," not in cell:
                continue
            if not NUMBER_LIKE.fullmatch(cell):
                parts = cut(cell)
                cell = cell if parts is None else parts.bare
            comma, thousands = COMMA.fullmatch(cell), THOUSANDS.fullmatch(cell)
            if comma and not thousands:
                note(
                    f"commas are read as decimal signs, as in {shown(cell)} ({shown(name)}); see "
                    "--decimal."
                )
                return ","
            if thousands and not comma:
                return "."
            if thousands:
                unclear = (name, cell)
    if unclear is None:
        return "."
    sign = "." if separator == "," else ","
    meaning = "thousands" if sign == "." else "decimals"
    note(
        f"the comma in {shown(unclear[1])} ({shown(unclear[0])}) is read as of {meaning}; see "
        "--decimal."
    )
    return sign
