"""Dates as some programs and countries write them, brought into a form that is read."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from echofold.cli.reading.quote import shown

MOSTLY = 0.9  # share of cells that must be of a form
SAMPLE = 100
ISO_DAY, POINTS = r"\d{4}-\d\d-\d\d", r"\d{1,2}\.\d{1,2}\.\d{4}"
# A pattern, what is kept of it, and what is said.
FORMS = (
    (r"(?:week (?:of|commencing|beginning|starting|from)|w/?c|wb)[:\s]\s*(.+)", r"\1", ""),
    (rf"({ISO_DAY}\S*)\s?/\s?{ISO_DAY}\S*", r"\1", "ranges in {} are read as their first dates."),
    (
        r"(.*?\d{4}\b.*?|\d{4}.*?)\s+(?:-|–|—|to|bis|until)\s+\D{0,12}\d.*", r"\1",
        "ranges in {} are read as their first dates.",
    ),
    (
        r"(?:[a-z]{3},?\s+)?([a-z]{3}\s+\d{1,2})\s+(\d{1,2}:\d\d:\d\d)\s+(\d{4})",
        r"\1 \3 \2", "",
    ),
    (
        r"(?:[a-z]{3},?\s+)?([a-z]{3}\s+\d{1,2})\s+(\d{1,2}:\d\d:\d\d)\s+[a-z]{3,4}\s+(\d{4})",
        r"\1 \3 \2", "times in {} are taken as they stand, without their zone.",
    ),
    (rf"({POINTS}|{ISO_DAY}),?\s+(\d{{1,2}})\.(\d\d)", r"\1 \2:\3", ""),
    (rf"({POINTS}|{ISO_DAY}),?\s+(\d{{1,2}})\.(\d\d)\.(\d\d)", r"\1 \2:\3:\4", ""),
    (r"(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日(.*)", r"\1-\2-\3\4", ""),
    (r"(\d{4})\s?年\s?(\d{1,2})\s?月", r"\1-\2", ""),
    (r"fy\s?'?(\d{4})", r"\1", "fiscal years in {} are read as years."),
)  # fmt: skip
PATTERNS = [(re.compile(pattern, re.IGNORECASE), kept, said) for pattern, kept, said in FORMS]
TWO_YEARS = re.compile(r"(?:fy\s?)?(\d{4})\s?[/–-]\s?(\d{4}|\d\d)", re.IGNORECASE)


def rewritten(cells: list[str], name: str, note: Callable[[str], None]) -> list[str]:
    """Cells in a form that is read, as they are if they have none of these forms."""
    places = np.linspace(0, len(cells) - 1, min(len(cells), SAMPLE)).astype(int)
    sample = [cells[place] for place in places]
    if _follow(sample) and _follow(cells):
        note(f"pairs of years in {shown(name)} are read as the first of them.")
        return [match[1] if (match := TWO_YEARS.fullmatch(cell)) else cell for cell in cells]
    for pattern, kept, said in PATTERNS:
        matches = [pattern.fullmatch(cell) for cell in sample]
        if np.mean([match is not None for match in matches]) >= MOSTLY:
            if said:
                note(said.format(shown(name)))
            return [pattern.sub(kept, cell) if pattern.fullmatch(cell) else cell for cell in cells]
    return cells


def _follow(cells: list[str]) -> bool:
    """Whether cells are a year and the next, such as 1980/81; by chance one of twelve months is."""
    matches = [TWO_YEARS.fullmatch(cell) for cell in cells]
    pairs = [(int(match[1]), match[2]) for match in matches if match]
    next_year = [f"{year + 1}".endswith(later) for year, later in pairs]
    return sum(next_year) >= MOSTLY * len(cells)
