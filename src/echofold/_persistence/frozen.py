"""A timeline as plain strings and numbers, and back.

What comes back may be from a stranger: strings are short and of a known form before pandas reads
them, numbers within what it computes with, and whatever it still raises is a `ValueError`.
"""

from __future__ import annotations

import re
from reprlib import repr as short
from typing import Any

from echofold._data.dates import Timeline

PARTS = ("kind", "last", "step", "rows", "name")
DATE_PARTS = (*PARTS, "unit", "tz")
KIND, UNIT = re.compile("dates|periods|integers|rows"), re.compile("s|ms|us|ns")
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?([+-]\d\d:\d\d)?")
FREQUENCY = re.compile(r"\d{0,18}[A-Za-z]{1,6}(-[A-Za-z0-9]{1,4}){0,4}")
# A zone's key, an offset, or the zone of this machine. No other name: pandas opens a file by it.
ZONE = re.compile(
    r"(?!dateutil)[A-Za-z][A-Za-z0-9_+-]{0,39}(/[A-Za-z0-9_+-]{1,40}){0,3}"
    r"|UTC[+-]\d\d:\d\d(:\d\d)?|tzlocal\(\)"
)
MOST_STEPS = 100_000  # of a calendar offset, which pandas may take one by one
# Periods in a year, at most; they are counted from 1970.
A_YEAR = {"Y": 1, "A": 1, "Q": 4, "M": 12, "W": 53, "B": 262, "D": 366, "h": 8784, "H": 8784}
A_YEAR |= {"min": 527_040, "T": 527_040, "s": 31_622_400, "S": 31_622_400}


def freeze(ends: Timeline) -> dict[str, Any]:
    """A timeline as plain strings and numbers."""
    parts = {"kind": ends.kind, "last": ends.last, "step": ends.step, "rows": ends.rows}
    parts["name"] = ends.name
    if ends.kind == "dates":
        tz = ends.last.tz
        parts |= {"last": ends.last.isoformat(), "step": ends.step.freqstr}
        parts |= {"unit": ends.last.unit, "tz": None if tz is None else str(tz)}
    elif ends.kind == "periods":
        parts |= {"last": ends.last.ordinal, "step": ends.last.freqstr}
    try:
        same = thaw(parts) == ends
    except ValueError:
        same = False
    if not same:
        raise ValueError(
            f"the index of y, with frequency {ends.step!r} from {ends.last!s}, cannot be stored: "
            "its frequency or time zone has no name that pandas reads back. Use a frequency and "
            "time zone that have one, or fit without an index."
        )
    return parts


def thaw(parts: dict[str, Any]) -> Timeline:
    """The timeline that `freeze` took apart; `ValueError` for parts that it cannot have made."""
    kind: Any = parts.get("kind")
    _require(_matches(KIND, kind), "kind", kind)
    _require(set(parts) == set(DATE_PARTS if kind == "dates" else PARTS), "parts", list(parts))
    last, step, rows = parts["last"], parts["step"], parts["rows"]
    _require(_is_integer(rows, 2**63) and rows >= 1, "rows", rows)
    if kind == "dates":
        last, step = _dates(last, step, parts["unit"], parts["tz"])
    elif kind == "periods":
        last, step = _periods(last, step)
    elif kind == "integers":
        _require(_is_integer(last, 2**64), "last", last)
        _require(_is_integer(step, 2**64) and step != 0, "step", step)
    else:
        _require(last is None and step is None, "last and step", (last, step))
    return Timeline(kind, last, step, rows, parts["name"])


def _dates(last: Any, step: Any, unit: Any, tz: Any) -> tuple[Any, Any]:
    """The last date, and the offset to the next."""
    import pandas as pd

    _require(_matches(DATE, last), "last", last)
    _require(_matches(FREQUENCY, step), "step", step)
    _require(_matches(UNIT, unit), "unit", unit)
    _require(tz is None or _matches(ZONE, tz), "tz", tz)
    try:
        date = pd.Timestamp(last).as_unit(unit)
        date = date if tz is None else date.tz_convert(tz)
        offset = pd.tseries.frequencies.to_offset(step)
    except Exception as error:  # pandas raises whatever its parsers and the zone's file raise
        raise ValueError(
            f"pandas does not read the dates from {last} by {step}: {error}"
        ) from error
    _require(1 <= offset.n <= _most_steps(offset), "step", step)
    _require(1 <= date.year <= 9999, "last", last)
    return date, offset


def _periods(last: Any, step: Any) -> tuple[Any, Any]:
    """The last period, and its offset."""
    import pandas as pd

    _require(_matches(FREQUENCY, step), "step", step)
    a_year = A_YEAR.get(re.sub(r"\d|-.*", "", step), 2**63)
    _require(_is_integer(last, min(10_000 * a_year, 2**63)), "last", last)
    try:
        period = pd.Period(ordinal=last, freq=step)
    except Exception as error:  # as above
        raise ValueError(f"pandas does not read the period {last} of {step}: {error}") from error
    _require(1 <= period.freq.n <= _most_steps(period.freq), "step", step)
    return period, period.freq


def _most_steps(offset: Any) -> int:
    """How often an offset may hold its unit; pandas multiplies one of fixed length."""
    import pandas as pd

    return 2**63 if isinstance(offset, pd.offsets.Tick) else MOST_STEPS


def _matches(form: re.Pattern, value: Any) -> bool:
    """Whether a value is a string of this form, in ASCII."""
    return isinstance(value, str) and value.isascii() and form.fullmatch(value) is not None


def _is_integer(value: Any, below: int) -> bool:
    """Whether a value is an integer (no boolean) smaller than ``below`` either way."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < below


def _require(fine: bool, part: str, got: Any) -> None:
    """Raise unless a part is fine."""
    if not fine:
        raise ValueError(f"a timeline's {part} cannot be {short(got)}")
