"""Dates as people write them, taken apart into numbers, and the orders to read these in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from echofold.cli.reading.made import centuries, made
from echofold.cli.reading.month_names import FILLERS, MONTH, WEEKDAY, plain

TOKEN = re.compile(r"\d+|[^\W\d_]+")
MARKS = re.compile(r"[\w\s./'’,-]+")
TIME = re.compile(
    r"(?:^|,?\s+|,|(?<=\d)[t:])(\d{1,2})"
    r"(?:(?:[:h](\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)\s*([ap])?\.?m?\.?|\s*([ap])\.?m\.?)"
    r"\s*(?:z|utc|gmt|uhr|h)?$"
)
ORDERS = {3: ("dmy", "mdy", "ymd"), 2: ("my", "ym"), 1: ("y",)}
WORDS = {
    "dmy": "with the day first", "mdy": "with the month first", "ymd": "with the year first",
    "my": "as month and year", "ym": "as year and month", "y": "as years",
}  # fmt: skip


class Apart(NamedTuple):
    """Cells in pieces.

    ``numbers`` and ``digits`` have three columns: a number, or a named month below zero, and how
    many digits were written. ``counts`` of them are there, none in a cell that is no date. ``time``
    is in microseconds of the day.
    """

    numbers: np.ndarray
    digits: np.ndarray
    counts: np.ndarray
    time: np.ndarray


def take_apart(cells: Sequence[str]) -> Apart:
    """Numbers, named months and times of day of each cell."""
    out, time = np.zeros((len(cells), 7), np.int32), np.zeros(len(cells), np.int64)
    for row, cell in enumerate(cells):
        # Days repeat in a file of hours, and hours in one of days: each is taken apart once.
        cut = cell.rfind(" ", 0, cell.find(":")) if ":" in cell else -1
        late = time_of_day(cell[cut + 1 :]) if cut > 0 else -1
        if late >= 0:
            out[row], time[row] = _pieces(cell[:cut].rstrip(", "))[0], late
        else:
            out[row], time[row] = _pieces(cell)
    return Apart(out[:, :3], out[:, 3:6], out[:, 6], time)


@lru_cache(4096)
def _pieces(cell: str) -> tuple[tuple[int, ...], int]:
    """A row of numbers, digits and count of a cell, and its time; zeros if it is no date."""
    letters, cell, time = not cell.isascii() or cell.lower() != cell.upper(), plain(cell), 0
    if match := TIME.search(cell) if letters or ":" in cell else None:
        cell, time = cell[: match.start()], _micros(match)
    pieces = TOKEN.findall(cell) if MARKS.fullmatch(cell) and time >= 0 else []
    if letters:
        pieces = _without_words(pieces)
    if len(pieces) == 1 and re.fullmatch(r"\d{8}", pieces[0]):  # 20240131, before a time
        pieces = [pieces[0][:4], pieces[0][4:6], pieces[0][6:]]
    if not 1 <= len(pieces) <= 3 or (not letters and _is_number(cell, pieces)):
        return (0,) * 7, 0
    named = [not piece.isdecimal() for piece in pieces]
    numbers = [
        -MONTH[one] if name else int(one[:5]) for one, name in zip(pieces, named, strict=True)
    ]
    digits = [0 if name else len(one) for one, name in zip(pieces, named, strict=True)]
    none = [0] * (3 - len(pieces))
    return (*numbers, *none, *digits, *none, len(pieces)), time


def _is_number(cell: str, pieces: list[str]) -> bool:
    """Whether a cell without letters is rather a price such as 12.50 or 1,234."""
    return "," in cell or ("." in cell and len(pieces) == 2 and max(map(len, pieces)) < 4)


@lru_cache(4096)
def time_of_day(cell: str) -> int:
    """Microseconds of a day that a cell such as 10:30 says, below zero if it says none."""
    match = TIME.fullmatch(plain(cell))
    return _micros(match) if match else -1


def _micros(match: re.Match[str]) -> int:
    hour, minute, second, fraction, half, other_half = match.groups()
    half = half or other_half
    hours, minutes, seconds = int(hour), int(minute or 0), int(second or 0)
    if half and 1 <= hours <= 12:
        hours = hours % 12 + (12 if half == "p" else 0)
    elif half:
        return -1
    if minutes > 59 or seconds > 59 or hours > 24 or (hours == 24 and minutes + seconds):
        return -1
    rest = int(f"{fraction or 0:0<6}"[:6]) if fraction else 0
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + rest


def _without_words(pieces: list[str]) -> list[str]:
    """Pieces without weekdays and the like; none if a word is left that is not a month."""
    pieces = [piece for piece in pieces if piece not in FILLERS]
    words = [place for place, piece in enumerate(pieces) if not piece.isdecimal()]
    if words and (len(words) > 1 or len(pieces) - len(words) == 3):
        # French and Spanish cut March and Tuesday alike: of two words the other is the month.
        spare = [place for place in words if pieces[place] in WEEKDAY][:1]
        words = [place for place in words if place not in spare]
        kept = [piece for place, piece in enumerate(pieces) if place not in spare]
    else:
        kept = pieces
    months = all(pieces[place] in MONTH for place in words)
    return kept if months and len(words) <= 1 else []


def orders(apart: Apart) -> list[str]:
    """Orders that may be tried for these cells."""
    count = int(np.bincount(apart.counts, minlength=4).argmax())
    return list(ORDERS.get(count, ()))


def in_order(apart: Apart, order: str) -> tuple[pd.DatetimeIndex, bool]:
    """Dates of pieces in one order, NaT where it does not fit; whether years have two digits."""
    fits = apart.counts == len(order)
    place = {role: order.index(role) for role in order}
    year, written = apart.numbers[:, place["y"]], apart.digits[:, place["y"]]
    short = bool(fits.any()) and float(np.median(written[fits])) == 2
    if short and order in ("y", "ym"):  # 21-Jan is a day without a year
        return pd.DatetimeIndex([pd.NaT] * len(fits)), short
    fits &= (written == (2 if short else 4)) & (year >= 0)
    month = np.ones_like(year)
    if "m" in place:
        month = np.abs(apart.numbers[:, place["m"]])
        fits &= apart.digits[:, place["m"]] <= 2
    day = np.ones_like(year)
    if "d" in place:
        day = apart.numbers[:, place["d"]]
        fits &= (day > 0) & (apart.digits[:, place["d"]] <= 2)
    fits &= (month >= 1) & (month <= 12) & (day <= 31)
    if short:
        year = centuries(np.where(fits, year, -1))
    return made(np.where(fits, year, -1), month, day, apart.time), short
