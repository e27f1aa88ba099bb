"""From bytes to lines and cells: encodings, quotation marks, separators, uneven lines."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise

import numpy as np
import pandas as pd

from echofold._data.text import Note, one_line, shown
from echofold.cli.reading.numbers import plain_value

SEPARATORS = (";", "\t", ",", "|")
SAMPLE = 200, 100_000  # lines, and characters of them, that a separator is found from
# A line with the breaks in its quoted cells; a mark inside a cell, as of inches, opens nothing.
# Possessive, so that no place is tried twice.
LINE = re.compile(r"""(?:[^\r\n"]++|(?<![^;,\t|\r\n])"[^"]*+(?:""[^"]*+)*+"|")++""")
BREAK = re.compile(r"\r\n?|\n")
OTHER_QUOTES = {pair[0]: pair for pair in ("''", "\u201c\u201d", "\u201e\u201c", "\u00ab\u00bb")}
ALIKE = 0.5  # share of lines, more than which a separator must cut alike
WIDEST = 10_000  # columns: each takes kilobytes, though it may be a single byte of the file
QUOTED = re.compile(r'"[^"]*"')
EMPTY = 400_000  # cells that short lines may leave empty, which take some sixty bytes each
HABIT = 0.05  # share of short lines from which a file is taken to leave out empty cells at the end


def decode(content: bytes, name: str, note: Note) -> str:
    """Bytes to text: UTF-8 with or without a mark, UTF-16 with one, or Latin-1."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            text = content.decode("utf-16")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{name} begins like UTF-16 text, but is damaged at byte {error.start + 1} "
                f"({error.reason}); save it again, best as UTF-8."
            ) from None
    elif b"\0" in content[:4096]:
        raise ValueError(f"{name} is not a text file; give a CSV or Parquet file.")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
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


def cells_of(line: str, separator: str | None) -> list[str]:
    """Cells of a line without the spaces around them."""
    if separator is None:
        return [line.strip().strip('"').strip()]
    if '"' not in line:
        return [cell.strip() for cell in line.split(separator)]
    reader = csv.reader([line], delimiter=separator, skipinitialspace=True)
    try:
        return [cell.strip() for cell in next(reader, [])]
    except csv.Error:  # a cell longer than csv reads
        return [line]


def separator_of(text: str) -> str | None:
    """The first of ``;``, tab, comma and ``|`` that cuts lines alike; None for one column."""
    sample: list[str] = []
    room = SAMPLE[1]
    for line in filled_lines(text):
        if len(sample) == SAMPLE[0] or (len(line) > room and len(sample) > 1):
            break
        sample.append(line[: SAMPLE[1]])
        room -= len(line)
    widths = {}
    for one in SEPARATORS:
        try:
            reader = csv.reader(sample, delimiter=one, skipinitialspace=True)
            widths[one] = [len(row) for row in reader]
        except csv.Error:
            widths[one] = [line.count(one) + 1 for line in sample]
    for one, counts in widths.items():
        if counts[0] > 1 and len(set(counts)) == 1:
            return one
    rest = [line for line in sample if not _is_number(line.strip())]
    cut_by = any(mark in line for line in rest for mark in SEPARATORS)
    if len(rest) <= max(1, len(sample) / 5) and not cut_by:
        return None  # a column with decimal commas, or with titles above
    shares = {}  # of lines that a separator cuts into the same number of cells, more than one
    for one, counts in widths.items():
        width, count = max(Counter(counts).items(), key=lambda pair: (pair[1], pair[0]))
        shares[one] = count / len(counts) if width > 1 else 0.0
    best = max(shares, key=lambda one: shares[one])
    if shares[best] > ALIKE:
        return best
    # The most frequent one: reading will then name the line that is odd.
    one, counts = max(widths.items(), key=lambda pair: sum(pair[1]))
    return one if max(counts) > 1 else None


def _is_number(line: str) -> bool:
    """Whether a line is one number, by either decimal sign."""
    return any(math.isfinite(plain_value(line, sign)) for sign in ".,")


def aligned(text: str, note: Note) -> tuple[str, str | None]:
    """Columns that stand under each other, between spaces; as it is if there are none."""
    sample = [line.strip() for line in islice(filled_lines(text), 50)]
    if len(sample) < 3 or all(_is_number(line) for line in sample[1:]):
        return text, None
    for spaces in (r"[ \t]{2,}", r"[ \t]+"):
        counts = {len(re.split(spaces, line)) for line in sample}
        if len(counts) == 1 and counts != {1} and '"' not in text:
            note("cells are taken to be separated by spaces.")
            lines = (re.sub(spaces, "\t", line.strip()) for line in text.split("\n"))
            return "\n".join(lines), "\t"
    return text, None


def filled_lines(text: str) -> Iterator[str]:
    """Lines that are not blank."""
    return (match[0] for match in LINE.finditer(text) if not match[0].isspace())


def blank_lines(text: str) -> np.ndarray:
    r"""How many blank lines are before each that is not.

    Examples
    --------
    >>> blank_lines("x\r\n1\r\n\r\n3")
    array([0, 0, 1])
    """
    counts, at = [], 0
    for match in LINE.finditer(text):
        if not match[0].isspace():
            counts.append(len(BREAK.findall(text, at, match.start())) - bool(at))
            at = match.end()
    return np.array(counts, dtype=int)


def straight(text: str, note: Note) -> str:
    r"""Text with usual quotation marks, if those around the cells of its first line are others.

    Examples
    --------
    >>> straight("'day';'x'\n'May';'5'", print)
    ' and ' around cells are read as quotation marks.
    '"day";"x"\n"May";"5"'
    """
    first = next(filled_lines(text[: SAMPLE[1]]), "").strip()
    marks = OTHER_QUOTES.get(first[:1])
    if marks is None or '"' in text:
        return text
    start, end = map(re.escape, marks)
    if not re.fullmatch(rf"{start}[^{end}]*{end}(?:[;,\t|]{start}[^{end}]*{end})*", first):
        return text
    note(f"{marks[0]} and {marks[1]} around cells are read as quotation marks.")
    return re.sub(rf"(?<![^;,\t|\r\n]){start}|{end}(?![^;,\t|\r\n])", '"', text)


def _counted(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the number of the line that it ends in."""
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                yield reader.line_num, row
    except csv.Error:  # a cell of more than csv's limit: the table is read, only not looked at
        return


def _refuse_long(text: str, separator: str, name: str) -> None:
    """Raise for the first line that has more cells than the first."""
    expected = None
    for line, row in _counted(text, separator):
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
        raise ValueError(
            f"{name} is not an even table: line {line} has {len(row)} fields, too many where the "
            f"first line has {expected}: {shown(separator.join(row[:50]))}; {remedy}."
        ) from None


def _check_short(frame: pd.DataFrame, text: str, separator: str, name: str, note: Note) -> None:
    """Raise for a line with fewer cells than the others, unless many leave out empty ones."""
    width = frame.shape[1]
    if width == 1 or not (frame[width - 1] == "").any():
        return
    short = (one for one in _counted(text, separator) if len(one[1]) < width)
    line, row = next(short, (0, []))
    if not line:
        return
    count = 1 + sum(1 for _ in short)
    fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
    if count > max(1, HABIT * len(frame)):
        note(
            f"{name}: {count} lines, the first line {line}, have fewer than {width} fields; the "
            "others are taken to be empty."
        )
        return
    others = f", and so have {count - 1} other lines" if count > 1 else ""
    raise ValueError(
        f"{name} is not an even table: line {line} has {fields}, too few where {width} are "
        f"expected{others}: {shown(separator.join(row[:50]))}; complete it, or remove it."
    )


def parsed(text: str, separator: str, name: str, note: Note) -> pd.DataFrame:
    """Cells between separators, or the error that names an uneven line."""
    _check_width(text, separator, name)
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
        _refuse_long(text, separator, name)
        raise ValueError(f"{name} is not an even table: {one_line(error)}.") from None
    frame = frame.fillna("")
    _check_short(frame, text, separator, name, note)
    return frame


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
    count = text.count("\n") + text.count("\r")
    if wide * count > most:
        count = sum(1 for _ in filled_lines(text))
    if wide * count > most:
        raise ValueError(
            f"{name} is not an even table: its first lines have {wide:,} fields, and most of "
            f"its {count:,} lines have few. Keep the columns that are filled."
        )
