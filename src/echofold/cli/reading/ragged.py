"""Lines with more or fewer cells than the others, named with what is in them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator

import pandas as pd

from echofold.cli.reading.quote import shown

HABIT = 0.05  # share of short lines from which a file is taken to leave out empty cells at the end
DECIMALS = re.compile(r"\d,\d")


def _counted(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the number of the line that it ends in."""
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                yield reader.line_num, row
    except csv.Error:  # a cell of more than csv's limit: the table is read, only not looked at
        return


def refuse_long(text: str, separator: str, name: str) -> None:
    """Raise for the first line that has more cells than the first."""
    expected = None
    for line, row in _counted(text, separator):
        expected = expected or len(row)
        if len(row) <= expected:
            continue
        remedy = f"quote cells that contain {shown(separator)}"
        if separator == "," and _halves(row, expected):
            remedy = (
                "if its comma is a decimal sign, quote such cells or separate cells by semicolons"
            )
        if line < 30 and expected == 1:
            remedy = "remove the lines above the header, and " + remedy
        raise ValueError(
            f"{name} is not an even table: line {line} has {len(row)} fields, too many where the "
            f"first line has {expected}: {_line(row, separator)}; {remedy}."
        ) from None


def _halves(row: list[str], expected: int) -> bool:
    """Whether neighbouring cells are digits, as the two parts of a number with a decimal comma."""
    digits = [bool(re.fullmatch(r"\s*[+-]?\d+\s*", cell[:50])) for cell in row]
    return any(a and b for a, b in zip(digits, digits[1:], strict=False)) and len(row) > expected


def check_short(
    frame: pd.DataFrame, text: str, separator: str, name: str, note: Callable[[str], None]
) -> None:
    """Raise for a line with fewer cells than the others, unless many leave out empty ones."""
    width = frame.shape[1]
    if width == 1 or not (frame[width - 1] == "").any():
        return
    first, count = None, 0
    for line, row in _counted(text, separator):
        if len(row) < width:
            first = first or (line, row)
            count += 1
    if first is None:
        return
    line, row = first
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
        f"expected{others}: {_line(row, separator)}; complete it, or remove it."
    )


def _line(row: list[str], separator: str) -> str:
    """A line as messages show it."""
    return shown(separator.join(row[:50]))
