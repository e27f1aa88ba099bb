"""Series that are mostly gaps, found by counting before a row is made for every date."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from echofold.cli.reading.quote import shown

FILLS = {  # what is done about missing values, and said of it
    "leave": "left out, neither learned from nor scored",
    "interpolate": "filled along straight lines",
    "forward": "filled with the value before",
    "none": "refused",
}
# What stands in for a missing value says nothing about a series. With more than a fifth of these a
# network would be driven by them; in a gap of a tenth validation intervals are as long as it.
MOST_FILLED, LONGEST_GAP, SHORT = 0.2, 0.1, 5  # shares of the values; steps that are always short
MOST_ROWS = 2  # rows of an even grid for each row of the file
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # in a second, by pandas' unit
SECONDS = 86_400  # in a day


def steps_between(index: pd.Index) -> np.ndarray:
    """Steps between sorted dates, in ticks of their unit, or between sorted numbers."""
    if not isinstance(index, pd.DatetimeIndex):
        return np.diff(index.to_numpy())
    # Without a sign, for two nanosecond dates may be further apart than signed integers reach.
    return np.diff(index.asi8.view(np.uint64))


def days_between(dates: pd.DatetimeIndex) -> float:
    """Days from the first of sorted dates to the last."""
    first, last = int(dates.asi8[0]), int(dates.asi8[-1])
    return (last - first) / (TICKS[dates.unit] * SECONDS)


def refuse_gaps(index: pd.Index, rows: np.ndarray, source: str) -> None:
    """Raise if a sorted index would have more than twice its rows without gaps.

    ``rows`` are the numbers in the file of the rows that were sorted. One mistyped year in a
    file of seconds would otherwise open a row for each second of many years.
    """
    steps = steps_between(index)
    dates = isinstance(index, pd.DatetimeIndex)
    # Numbers stand on a grid of their smallest step; of dates that vary, half the steps decide.
    step = float(np.median(steps) if dates else steps.min())
    count = float(steps.sum(dtype=float)) / step + 1
    if count <= MOST_ROWS * len(index):
        return
    jump = int(steps.argmax())
    jump_rows = float(steps[jump]) / step
    # The mistyped one is on the side with fewer rows.
    odd = jump if jump + 1 < len(index) - (jump + 1) else jump + 1
    before, after = written(index[[jump, jump + 1]])
    # Nights and weekends are many jumps alike; a mistyped year is a large part of all the time.
    remedy = f"correct row {rows[odd]} if it is mistyped, or " if count < 10 * jump_rows else ""
    raise ValueError(
        f"{source} is mostly gaps: evenly spaced, its {len(index):,} rows would become "
        f"{int(count):,}. {shown(index.name)} jumps from {before} (row {rows[jump]}) to {after} "
        f"(row {rows[jump + 1]}): {remedy}take rows as evenly spaced with --date none."
    )


def refuse_filling(missing: np.ndarray, index: pd.Index, source: str) -> None:
    """Raise if too many values are missing, or too many in one place."""
    edges = np.diff(np.concatenate([[0], missing.astype(np.int8), [0]]))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    lengths = ends - starts
    count, longest = int(lengths.sum()), int(lengths.max())
    most = max(SHORT, LONGEST_GAP * len(missing))
    if count <= MOST_FILLED * len(missing) and longest <= most:
        return
    at = int(lengths.argmax())
    first, last = written(index[[starts[at], ends[at] - 1]])
    where = f"{longest:,} of them from {first} to {last}" if longest > 1 else f"one at {first}"
    raise ValueError(
        f"{source}: {count:,} of {len(missing):,} values are missing, {where}, too many to "
        "learn from the others; cut the file to a part without gaps, repeat the value before each "
        "gap with --fill forward, or take rows as evenly spaced with --date none."
    )


def filled_by(fill: str, known: Any) -> Any:
    """A series or a frame with its missing values as ``fill`` says."""
    if fill == "interpolate":  # by row, not by date: months then count alike
        return known.reset_index(drop=True).interpolate().set_axis(known.index)
    return known.ffill() if fill == "forward" else known


def written(index: pd.Index) -> list[str]:
    """Dates as text, no finer than they need to be; numbers without needless digits."""
    if not isinstance(index, pd.DatetimeIndex):
        return [f"{label:.16g}" if isinstance(label, float) else str(label) for label in index]
    for unit, form in (("D", "%Y-%m-%d"), ("min", "%Y-%m-%d %H:%M"), ("s", "%Y-%m-%d %H:%M:%S")):
        if (index == index.floor(unit)).all():
            return list(index.strftime(form))
    return [label.isoformat(" ") for label in index]
