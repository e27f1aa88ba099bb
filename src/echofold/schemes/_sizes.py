"""Sizes of splits: counts of rows, or fractions of them, checked and counted."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

Size = int | float
Gap = Size | tuple[Size, Size]


def check_integer(name: str, value: Any, least: int) -> int:
    """Check a count."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}={value!r}: expected an integer of at least {least}.")
    if value < least:
        raise ValueError(f"{name}={value}: expected an integer of at least {least}.")
    return int(value)


def check_size(name: str, value: Any, least: int) -> Size:
    """Check a size: a count of at least ``least`` rows, or a fraction below 1."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(
            f"{name}={value!r}: expected a number of rows (an integer of at least {least}) "
            "or a fraction of the rows (a float below 1)."
        )
    if isinstance(value, Integral):
        return check_integer(name, value, least)
    fraction = float(value)
    if not (0 < fraction < 1 or fraction == least == 0):
        raise ValueError(
            f"{name}={fraction}: a float is a fraction of the rows and must lie between 0 and 1; "
            "write a count of rows as an integer."
        )
    return fraction


def check_gap(value: Any) -> Gap:
    """Check a gap, one size or a (before, after) pair of sizes."""
    if not isinstance(value, tuple | list):
        return check_size("gap", value, 0)
    if len(value) != 2:
        raise ValueError(f"gap={value!r}: expected one size or a (before, after) pair of sizes.")
    return (check_size("gap before", value[0], 0), check_size("gap after", value[1], 0))


def count_rows(name: str, size: Size, n: int, least: int) -> int:
    """Turn a checked size into a number of rows."""
    if isinstance(size, int):
        return size
    # 0.29 * 100 is 28.999999999999996 in binary: without the nudge a row would be lost.
    count = math.floor(size * n * (1 + 1e-12))
    if count < least:
        raise ValueError(
            f"{name}={size} of n={n} rows is {count} rows, but at least {least} is needed; "
            f"use a larger fraction or a count."
        )
    return count
