"""Whether the first row of a table names its columns, or is the first of its values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from echofold.cli.reading.numbers import MISSING, is_value
from echofold.cli.reading.quantities import dressed

DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}\b.*")
YEAR = re.compile(r"(1[5-9]|20|21)\d\d")
PARTS = re.compile(r"\d[-/]")  # of a date: a number has no such marks after a digit
MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
TIME = re.compile(
    rf"{YEAR.pattern}([-./ ]?[QMW]?\d{{1,2}})?|({MONTHS})[a-z]*[ .-]?(\d\d|{YEAR.pattern})", re.I
)
DIGIT = re.compile(r"\d")


def is_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row holds names, given some of the rows below it."""
    if all(dressed(cell) or is_value(cell) or (cell and _is_missing(cell)) for cell in first):
        return False
    columns = [
        (cell, [row[i] for row in below if not _is_missing(row[i])]) for i, cell in enumerate(first)
    ]
    if any(DATE.fullmatch(cell) and any(map(DATE.fullmatch, under)) for cell, under in columns):
        return False
    if any(_is_word(cell) and any(map(is_value, under)) for cell, under in columns):
        return True
    if counts_across(first) or _one_year(columns) or not below:
        return True
    if any(_is_number(cell) and any(map(_is_number, under)) for cell, under in columns):
        return False
    alike = [shape(cell) == shape(under[0]) for cell, under in columns if under and cell]
    return not (alike and all(alike) and any(map(DIGIT.search, first)))


def counts_across(cells: Sequence[str]) -> bool:
    """Whether cells beside words are years or other whole numbers that count up, as names do."""
    whole = [int(cell[:9]) for cell in cells if cell.isdecimal()]
    if len(whole) < 2 or not any(_is_word(cell) for cell in cells):
        return False
    by_one = all(b - a == 1 for a, b in zip(whole, whole[1:], strict=False))
    years = all(YEAR.fullmatch(cell) for cell in cells if cell.isdecimal())
    up = all(b > a for a, b in zip(whole, whole[1:], strict=False))
    return (years and up) or (by_one and len(whole) > 2)


def times_across(names: Sequence[str]) -> list[str]:
    """Names that are years or dates, if most are, for the time runs from left to right."""
    times = [name for name in names if TIME.fullmatch(name) or DATE.fullmatch(name)]
    return times if len(times) >= max(5, len(names) / 2) else []


def shape(cell: str) -> str:
    """A cell with letters and digits alike, to tell a date from a remark."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", cell[:100]))


def _one_year(columns: Sequence[tuple[str, list[str]]]) -> bool:
    """Whether a year stands above other numbers and beside words, as a name."""
    years = [under for cell, under in columns if YEAR.fullmatch(cell)]
    words = sum(_is_word(cell) for cell, _ in columns)
    if len(years) != 1 or words != len(columns) - 1:
        return False
    return not any(map(YEAR.fullmatch, years[0]))


def _is_number(cell: str) -> bool:
    """Whether a cell is a number, plain or dressed, and no date."""
    return dressed(cell) or (is_value(cell) and not DATE.fullmatch(cell) and not PARTS.search(cell))


def _is_word(cell: str) -> bool:
    """Whether a cell is text without digits, and not a mark of a missing value."""
    return not _is_missing(cell) and not DIGIT.search(cell)


def _is_missing(cell: str) -> bool:
    return cell.lower() in MISSING
