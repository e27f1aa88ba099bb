"""The even spacing that dates were meant to have, in words and with its seasons."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from echofold.cli.reading.gaps import MOST_ROWS, SECONDS, TICKS, days_between, steps_between

WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
DAY = pd.Timedelta(days=1)
# Days that a step takes at most; a grid is made only if it cannot be much longer than the file.
LASTS = {"Y": 366, "Q": 92, "M": 31, "W": 7, "B": 1.5, "D": 1}

STEPS = [
    size * count for size, counts in (
        (1, (1, 2, 5, 10, 15, 20, 30)), (60, (1, 2, 3, 5, 6, 10, 12, 15, 20, 30)),
        (3600, (1, 2, 3, 4, 6, 8, 12, 24)),
    ) for count in counts
]  # fmt: skip


class Spacing(NamedTuple):
    """An even spacing: pandas' name of it, ours, and the steps in its seasons, the shortest first.

    None for seasons that the calendar does not tell, empty where there are none.
    """

    freq: str
    words: str
    seasons: tuple[int, ...] | None


def spacing(dates: pd.DatetimeIndex) -> Spacing | None:
    """The coarsest even spacing that has all of these sorted dates on it, None if there is none."""
    inferred = pd.DatetimeIndex(dates, freq="infer").freq if len(dates) >= 3 else None
    if inferred is not None:
        return describe(inferred.freqstr)
    steps = steps_between(dates)
    values, counts = np.unique(steps, return_counts=True)
    usual = int(values[counts.argmax()])
    step = pd.Timedelta(usual, unit=dates.unit)
    if step < DAY:
        few = days_between(dates) / (step / DAY) + 1 <= MOST_ROWS * len(dates)
        return describe(_fixed(step)) if few and not (steps % usual).any() else None
    month = dates[0].strftime("%b").upper()
    week = f"W-{dates[0].strftime('%a').upper()}"
    trials = [f"YS-{month}", f"YE-{month}", f"2QS-{month}", f"2QE-{month}", f"QS-{month}"]
    trials += [f"QE-{month}", "2MS", "2ME", "MS", "ME", f"2{week}", week, "B", _fixed(step), "D"]
    for freq in trials:
        if freq == _fixed(step):
            lasts = step / DAY
        else:
            lasts = LASTS[freq.lstrip("2")[0]] * (2 if freq[0] == "2" else 1)
        if days_between(dates) / lasts > MOST_ROWS * len(dates):
            continue
        every = grid(dates, freq)
        if dates.isin(every).all() and len(every) <= MOST_ROWS * len(dates):
            return describe(freq)
    return None


def grid(dates: pd.DatetimeIndex, freq: str) -> pd.DatetimeIndex:
    """All dates of a spacing from the first of sorted dates to the last."""
    return pd.date_range(dates[0], dates[-1], freq=freq, unit=dates.unit)


def _fixed(step: pd.Timedelta) -> str:
    """The name of a fixed step; pandas itself would call a day 24 hours."""
    if step % DAY == pd.Timedelta(0):
        return f"{step // DAY}D"
    return pd.tseries.frequencies.to_offset(step).freqstr


def calendar(dates: pd.DatetimeIndex) -> tuple[pd.DatetimeIndex, Spacing] | None:
    """Dates moved to the start of their hour, day, week, month, quarter or year, if that is even.

    For dates such as the last trading day of each month.
    """
    step = np.median(steps_between(dates)) / (TICKS[dates.unit] * SECONDS)
    for most, period, freq in (
        (0.1, "h", "h"), (2, "D", "D"), (10, "W", "W-MON"), (45, "M", "MS"), (135, "Q", "QS-JAN"),
        (500, "Y", "YS-JAN"),
    ):  # fmt: skip
        if step < most:
            moved = dates.to_period(period).to_timestamp().as_unit(dates.unit)
            few = days_between(moved) / LASTS.get(period, 1 / 24) <= 1.5 * len(moved)
            even = moved.is_unique and few and len(grid(moved, freq)) <= 1.5 * len(moved)
            if not even:
                return None
            days = spacing(moved) if period == "D" else None  # may be business days
            return moved, days or describe(freq)
    return None


def rounded(dates: pd.DatetimeIndex) -> tuple[pd.DatetimeIndex, Spacing] | None:
    """Dates moved to the nearest point of a usual grid, if each is near one of its own."""
    usual = usual_step(dates)
    if usual is None:
        return None
    moved = dates.round(usual)
    near = np.abs((dates - moved).total_seconds()).max() <= usual.total_seconds() / 3
    few = days_between(moved) / (usual / DAY) + 1 <= MOST_ROWS * len(moved)
    if not (near and few and moved.is_unique):
        return None
    found = spacing(moved)
    return None if found is None else (moved, found)


def usual_step(dates: pd.DatetimeIndex) -> pd.Timedelta | None:
    """The step in whole seconds, minutes, hours or one day that is near the median step."""
    median = float(np.median(steps_between(dates))) / TICKS[dates.unit]
    near = min(STEPS, key=lambda step: abs(step - median))
    return pd.Timedelta(seconds=near) if abs(near - median) <= 0.1 * near else None


def advice(dates: pd.DatetimeIndex) -> str:
    """What rows of uneven dates should be brought to."""
    step, days = usual_step(dates), float(np.median(steps_between(dates))) / TICKS[dates.unit]
    if step is not None:
        return f"one row for each {_lasting(step)}"
    sizes = {"minute": 60, "hour": 3600, "day": SECONDS, "week": 7 * SECONDS}
    sizes |= {"month": 30 * SECONDS, "quarter": 91 * SECONDS, "year": 365 * SECONDS}
    return f"one row for each {min(sizes, key=lambda one: abs(np.log(sizes[one] / days)))}"


def describe(freq: str) -> Spacing:
    """Words and seasons of a pandas frequency."""
    offset = pd.tseries.frequencies.to_offset(freq)
    name, count = offset.rule_code.split("-")[0], offset.n
    if name == "W" and count == 1:
        return Spacing(freq, f"weekly ({WEEKDAYS[offset.weekday]})", (52,))
    every = {
        "B": ("on business days", (5,)), "D": ("daily", (7, 365)), "W": ("weekly", (52,)),
        "h": ("hourly", (24, 168)),
        **dict.fromkeys(("MS", "ME", "BMS", "BME"), ("monthly", (12,))),
        **dict.fromkeys(("QS", "QE", "BQS", "BQE"), ("quarterly", (4,))),
        **dict.fromkeys(("YS", "YE", "BYS", "BYE"), ("yearly", ())),
    }  # fmt: skip
    if count == 1 and name in every:
        return Spacing(freq, *every[name])
    if (several := _several(name, count)) is not None:
        return Spacing(freq, *several)
    try:
        step = pd.Timedelta(offset)
    except ValueError:
        return Spacing(freq, f"every {freq}", None)
    whole = [cycle // step for cycle in (DAY, 7 * DAY) if cycle % step == pd.Timedelta(0)]
    seasons = tuple(length for length in whole if length > 1) if step < DAY else ()
    return Spacing(freq, f"every {_lasting(step)}", seasons or None)


def _several(name: str, count: int) -> tuple[str, tuple[int, ...]] | None:
    """Words and seasons of several weeks, months, quarters or years."""
    if name == "W":
        return f"every {count} weeks", (52 // count,) if count <= 26 else ()
    months = {"M": 1, "Q": 3, "Y": 12}.get(name.removeprefix("B")[0], 0) * count
    if not months:
        return None
    if months % 12 == 0:
        return f"every {months // 12} years", ()
    words = "every half-year" if months == 6 else f"every {months} months"
    return words, (12 // months,) if 12 % months == 0 else ()


def _lasting(step: pd.Timedelta) -> str:
    """A duration in words."""
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        if step.total_seconds() >= size and step.total_seconds() % size == 0:
            count = int(step.total_seconds() // size)
            return unit if count == 1 else f"{count} {unit}s"
    return f"{step.total_seconds():g} seconds"
