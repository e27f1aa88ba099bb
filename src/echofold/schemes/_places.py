"""Where validation intervals stand: folds, even steps, or steps of a given length.

Sizes are counts of rows, or fractions of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

from echofold._data.rows import Interval

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


@dataclass(frozen=True)
class First:
    """The row at which validation may begin, and the argument that says so."""

    name: str
    row: int

    @property
    def before(self) -> str:
        """The rows before it, in front of others that they are added to."""
        return f"{self.name}={self.row} + " if self.row else ""

    def smaller(self, *others: str) -> str:
        """What could be made smaller, in words."""
        names = [*others, self.name] if self.row else [*others]
        return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def check_places(k: Any, valid: Any, start: Any, step: Any, least: int) -> dict[str, Any]:
    """Check the arguments that place intervals, of which there are at least ``least``.

    ``start=None`` stands for a start that follows from other arguments.
    """
    checked = {
        "valid": None if valid is None else check_size("valid", valid, 1),
        "start": None if start is None else check_size("start", start, 0),
        "step": None if step is None else check_size("step", step, 1),
    }
    if step is not None and valid is None:
        raise ValueError(
            f"step={step!r} without valid: how long is an interval? Give valid, or drop step, and "
            "the rows are divided into k folds."
        )
    if k is None and step is None:
        raise ValueError(
            "k=None means as many intervals as fit, one every step rows, but step=None; give step, "
            f"or k as an integer of at least {least}."
        )
    checked["k"] = None if k is None else check_integer("k", k, least)
    if k == 1 and valid is not None and step is None and start:
        raise ValueError(
            f"start={start!r} with k=1 and step=None: a single interval stands at the end, "
            "wherever others would begin; give step to have it stand at start, or drop start."
        )
    return checked


def place(k: int | None, valid: Size | None, step: Size | None, first: First, n: int) -> list:
    """Validation intervals of the rows ``first.row … n``, as ``(start, stop)`` pairs."""
    if valid is None:
        assert k is not None
        return _folds(k, first, n)
    length = count_rows("valid", valid, n, 1)
    if first.row + length > n:
        raise ValueError(
            f"{first.before}valid={length} rows do not fit in n={n} rows; "
            f"use a smaller {first.smaller('valid')}."
        )
    if step is None:
        assert k is not None
        starts = _even_steps(k, length, first, n)
    else:
        starts = _given_steps(k, length, count_rows("step", step, n, 1), first, n)
    return [(a, a + length) for a in starts]


def _edges(start: int, length: int, parts: int) -> list[int]:
    """Cut ``length`` rows into parts, the first ``length mod parts`` of them one longer."""
    size, longer = divmod(length, parts)
    return [start + i * size + min(i, longer) for i in range(parts + 1)]


def _folds(k: int, first: First, n: int) -> list[Interval]:
    """All rows from the first on, divided into k folds."""
    if n - first.row < k:
        raise ValueError(
            f"k={k} folds need at least {first.before}{k} rows, but n={n}; "
            f"use a smaller {first.smaller('k')}."
        )
    return list(pairwise(_edges(first.row, n - first.row, k)))


def _even_steps(k: int, length: int, first: First, n: int) -> list[int]:
    """Starts, k of them, spread evenly from the first possible to the last."""
    span = n - length - first.row
    if span < k - 1:
        raise ValueError(
            f"k={k} steps need {k} different starts, but {first.before}valid={length} leaves only "
            f"{span + 1} in n={n} rows; use a smaller k or valid."
        )
    return _edges(first.row, span, k - 1) if k > 1 else [n - length]


def _given_steps(k: int | None, length: int, step: int, first: First, n: int) -> list[int]:
    """Starts every ``step`` rows: k of them, or as many as fit."""
    fit = (n - length - first.row) // step + 1
    if k is not None and k > fit:
        raise ValueError(
            f"k={k} intervals, one every step={step} rows, need {first.before}{k - 1} × {step} + "
            f"valid={length} rows, but n={n}, where {fit} fit; use k={fit}, or k=None for as many "
            f"as fit, or a smaller {first.smaller('step', 'valid')}."
        )
    return [first.row + i * step for i in range(fit if k is None else k)]
