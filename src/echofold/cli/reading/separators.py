"""What separates the cells of a text."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from echofold.cli.reading.quantities import plain_value

SEPARATORS = (";", "\t", ",", "|")
SAMPLE = 200, 100_000  # lines, and characters of them, that a separator is found from
# A line with the breaks in its quoted cells; a mark inside a cell, as of inches, opens nothing.
# Possessive, so that no place is tried twice.
LINE = re.compile(r"""(?:[^\r\n"]++|(?<![^;,\t|\r\n])"[^"]*+(?:""[^"]*+)*+"|")++""")
BREAK = re.compile(r"\r\n?|\n")
OTHER_QUOTES = {pair[0]: pair for pair in ("''", "\u201c\u201d", "\u201e\u201c", "\u00ab\u00bb")}
ALIKE = 0.5  # share of lines, more than which a separator must cut alike


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
    shares = {one: _share(counts) for one, counts in widths.items()}
    best = max(shares, key=lambda one: shares[one])
    if shares[best] > ALIKE:
        return best
    # The most frequent one: reading will then name the line that is odd.
    one, counts = max(widths.items(), key=lambda pair: sum(pair[1]))
    return one if max(counts) > 1 else None


def _is_number(line: str) -> bool:
    """Whether a line is one number, by either decimal sign."""
    return any(math.isfinite(plain_value(line, sign)) for sign in ".,")


def _share(counts: list[int]) -> float:
    """The share of lines that a separator cuts into the same number of cells, more than one."""
    width, count = max(Counter(counts).items(), key=lambda pair: (pair[1], pair[0]))
    return count / len(counts) if width > 1 else 0.0


def aligned(text: str, note: Callable[[str], None]) -> tuple[str, str | None]:
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


def straight(text: str, note: Callable[[str], None]) -> str:
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
