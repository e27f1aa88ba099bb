"""Numbers as people read them: in a column of figures, as a label, in a sentence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def figure(value: float | None) -> str:
    """A figure for a column of a table: four digits that count, a dash for none.

    Examples
    --------
    >>> figure(0.5), figure(1355.4), figure(None), figure(float("inf"))
    ('0.5000', '1,355', '–', '∞')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if size and not 1e-4 <= size < 1e7:
        return f"{value:.3g}"
    whole = len(str(int(size))) if size >= 1 else 0
    decimals = max(0, 4 - whole) if size >= 1 else min(7, 3 - math.floor(math.log10(size or 1)))
    return f"{value:,.{decimals}f}"


def short(value: Any, digits: int = 3) -> str:
    """A value as a label: few digits, and no leading zeros in an exponent.

    Examples
    --------
    >>> short(1e-08), short(0.30000000000000004), short("last")
    ('1e-8', '0.3', 'last')
    """
    if not _is_number(value):
        return str(value)
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    number, power = text.split("e")
    return f"{number}e{int(power)}"


def in_words(value: Any) -> str:
    """A value in a sentence: four digits, and words where there is no number.

    Examples
    --------
    >>> in_words(0.123456), in_words(1355), in_words(float("inf")), in_words("last")
    ('0.1235', '1355', 'not finite', 'last')
    """
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
