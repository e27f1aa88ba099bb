"""Numbers as people write them: decimal commas, thousands, and signs for what is missing."""

from __future__ import annotations

import math
import re

LARGEST = 1e100  # of a value: its square, and the sum of many of them, are numbers still
MISSING = {
    "", "na", "n/a", "#n/a", "nan", "null", "none", "-", "--", "?", ".", "\u2013", "\u2014", ":",
    "..", "...", "***", "#n/a n/a", "\\n", "<na>", "#div/0!", "#value!", "#ref!", "#num!", ": c",
}  # fmt: skip
LONGEST_MARK = max(map(len, MISSING))
# Each pattern can cut a cell in one way only, else a cell of a million digits would take hours.
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)?,\d+([eE][+-]?\d+)?")  # 1.234,5
POINTS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")  # 1.234 beside 12,5
THOUSANDS = re.compile(
    r"[+-]?(\d{1,3}(,\d{3})+|\d{1,2}(,\d{2})+,\d{3})(\.\d*)?"
)  # 1,234.5; 1,23,456
SPACES = re.compile(r"(?<=\d)[\s'’](?=\d{3}(\D|$))")  # 1 234, 1'234


def number(cell: str, decimal: str) -> float:
    """The value of a cell, NaN if it is missing, infinite if it is something else or too large.

    Examples
    --------
    >>> number("1 234.5", "."), number("1.234,5", ","), number("n/a", "."), number("closed", ".")
    (1234.5, 1234.5, nan, inf)
    """
    if len(cell) <= LONGEST_MARK and cell.lower() in MISSING:
        return math.nan
    if NUMBER.fullmatch(cell) and not (decimal == "," and "." in cell):
        return float(cell)  # most are plain, and need no further look
    cell = SPACES.sub("", cell)
    if decimal == "," and (COMMA.fullmatch(cell) or POINTS.fullmatch(cell)):
        cell = cell.replace(".", "").replace(",", ".")
    elif decimal == "." and THOUSANDS.fullmatch(cell):
        cell = cell.replace(",", "")
    return float(cell) if NUMBER.fullmatch(cell) else math.inf


def is_value(cell: str) -> bool:
    """Whether a cell looks like a number or a date, and not like the name of a column."""
    cell = SPACES.sub("", cell[:100])
    if any(form.fullmatch(cell) for form in (NUMBER, COMMA, THOUSANDS, POINTS)):
        return True
    return bool(re.match(r"\d{1,4}[-./]\d{1,2}([-./]\d{1,4})?\b", cell))
