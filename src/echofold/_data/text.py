"""Names from the user's data, and numbers, as people read them in figures and sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import numpy as np

Note = Callable[[str], None]  # says one sentence to the user
QUOTED = 60  # characters of a cell or a name in a sentence
LONG = 40  # characters of a label; more would leave no room for what it stands beside
# Control characters, halves of characters and what is none: fonts, UTF-8, XML or terminals fail.
UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # what a spreadsheet takes for one begins so


def figure(value: float | None) -> str:
    """A figure for a column of a table: four digits that count, a dash for none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if size and not 1e-4 <= size < 1e7:
        return f"{value:.3g}"
    place = len(str(int(size))) - 1 if size >= 1 else math.floor(math.log10(size or 1))
    return f"{value:,.{min(max(3 - place, 0), 7)}f}"


def count(number: int, noun: str) -> str:
    """``1 row``, ``2 rows``."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def inflected(number: int, one: str, several: str) -> str:
    """Words for ``one`` thing or for ``several``, which may hold the number, as ``{} rows``."""
    return one if number == 1 else several.format(number)


def short(value: Any, digits: int = 3) -> str:
    """A value as a label: few digits, and no leading zeros in an exponent, as in 1e-8."""
    if not _is_number(value):
        return str(value)
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    number, power = text.split("e")
    return f"{number}e{int(power)}"


def in_words(value: Any) -> str:
    """A value in a sentence: four digits, and words where there is no number."""
    if not _is_number(value):
        return str(value)
    if not np.isfinite(value):
        return "not finite"
    size = float(value)
    if isinstance(value, int | np.integer) or (size.is_integer() and abs(size) < 1e6):
        return str(int(size))
    return short(size, 4)


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int | np.number) and not isinstance(value, bool | np.bool_)


def guarded(text: str) -> str:
    """Text for a cell of a CSV file, with an apostrophe where it would be taken for a formula.

    One that is there already gets another, so that `unguarded` gives every text back.
    """
    return f"'{text}" if text.startswith((*FORMULA, "'")) else text


def unguarded(text: str) -> str:
    """Text of a cell that was `guarded`."""
    return text[1:] if text[:1] == "'" and text[1:].startswith((*FORMULA, "'")) else text


def legible(text: str) -> str:
    """Text with a replacement character for everything that cannot be written or drawn."""
    return UNFIT.sub("\ufffd", text)


def label(name: Any) -> str:
    """A name on one line, and not too long."""
    text = " ".join(legible(str(name)[: 10 * LONG]).split())
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"


def shown(value: Any) -> str:
    """A cell or a name in quotes, on one line, and cut if it is long."""
    text = str(value)
    return repr(text if len(text) <= QUOTED else f"{text[: QUOTED - 1]}…")


def listed(names: Iterable[Any]) -> str:
    """Names in quotes, the first ten of them."""
    first = [shown(name) for name in islice(names, 11)]
    return ", ".join(first[:10]) + (", …" if len(first) > 10 else "")


def one_line(error: BaseException) -> str:
    """What another library says about an error, for the middle of a sentence."""
    text, most = " ".join(str(error).split()).rstrip("."), 3 * QUOTED
    return (text if len(text) <= most else f"{text[: most - 1]}…") or type(error).__name__
