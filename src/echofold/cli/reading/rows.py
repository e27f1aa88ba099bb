"""Rows that are none of the series: blank ones, headers that come again, and totals at the end."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd

from echofold.cli.reading.numbers import is_value
from echofold.cli.reading.quote import shown

TOTAL = re.compile(
    r"(grand |sub-?|overall )?(total|sum|average|avg|mean)\b.{0,40}"
    r"|(summe|gesamt|insgesamt|durchschnitt|mittelwert|mittel|somme|moyenne|totale?|totaal|suma|media"
    r"|promedio|somma|gemiddelde|итого|всего|合計|合计)\b.{0,40}"
    r"|(min|max|minimum|maximum|std|stdev|st\.? ?dev|sd|median|count|n|var|variance)[.:]?",
    re.IGNORECASE,
)
QUARTILE = re.compile(r"\d{1,2}(\.\d)?\s?%")  # between a minimum and a maximum
MOST_TOTALS = 12  # rows at the end, such as a sum, a mean and shares of them


def without_extra_rows(frame: pd.DataFrame, name: str, note: Callable[[str], None]) -> pd.DataFrame:
    """A table without rows that are no part of the series; says which."""
    again = np.full(len(frame), frame.shape[1] > 1 and len(frame) > 0)
    blank = again.copy()
    for one in frame.columns if again.any() else ():
        column = frame[one]
        if not blank.any() and not again.any():
            break
        again &= (column == one).to_numpy(dtype=bool)
        blank &= (column == "").to_numpy(dtype=bool)
    if frame.shape[1] == 1:
        again = (frame.iloc[:, 0] == frame.columns[0]).to_numpy(dtype=bool)
    for gone, what in ((blank, "nothing"), (again, "the names of the columns again")):
        if gone.any():
            rows = "1 row holds" if gone.sum() == 1 else f"{gone.sum()} rows hold"
            left = "is" if gone.sum() == 1 else "are"
            note(
                f"{name}: {rows} {what}, the first in row {gone.argmax() + 1}, and {left} left out."
            )
    frame = frame[~(again | blank)]
    return frame.iloc[: len(frame) - _totals(frame, name, note)]


def _totals(frame: pd.DataFrame, name: str, note: Callable[[str], None]) -> int:
    """How many of the last rows are totals of those above; says them."""
    tail = frame.iloc[-MOST_TOTALS - 1 :]
    count = 0
    for row in reversed(range(len(tail))):
        cells = [str(cell).strip() for cell in tail.iloc[row, :100]]
        filled = [cell for cell in cells if cell]
        quartile = count and frame.shape[1] > 1 and filled and QUARTILE.fullmatch(filled[0])
        if not quartile and not _is_total(filled):
            break
        count += 1
    if not count or count == len(tail) or _are_ids(frame, count):
        return 0
    word = shown(next(str(cell) for cell in frame.iloc[-count] if str(cell).strip()))
    if count == 1:
        note(f"{name}: the last row, {word}, is left out.")
    else:
        note(f"{name}: the last {count} rows, from {word} on, are left out.")
    return count


def _are_ids(frame: pd.DataFrame, count: int) -> bool:
    """Whether words of the last rows begin earlier ones too, as names of series do."""
    above = frame.iloc[:-count]
    for row in range(len(frame) - count, len(frame)):
        cells = frame.iloc[row, :100].tolist()
        place = next(i for i, cell in enumerate(cells) if str(cell).strip())
        if (above.iloc[:, place] == cells[place]).any():
            return True
    return False


def _is_total(cells: list[str]) -> bool:
    """Whether a row begins with such a word, and has no date."""
    if not cells or not TOTAL.fullmatch(cells[0]):
        return False
    return not any(is_value(cell) and re.search(r"\d[-/]\d", cell) for cell in cells[1:])
