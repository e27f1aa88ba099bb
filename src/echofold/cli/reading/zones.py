"""Times of day with a zone: offsets from UTC and letters such as CET, taken off dates."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from echofold.cli.reading.gaps import SECONDS, TICKS
from echofold.cli.reading.quote import shown

OFFSET = re.compile(r"\s*(?:Z|(?:UTC|GMT)?([+-])(\d{2})(?::?(\d{2}))?)$")
TIMED = re.compile(r"\d{1,2}:\d{2}|\d{8}T\d{2}|\dT\d{2}")
LETTERS = re.compile(
    r"(?<=[\d\sMm])\s*\(?(?:[ECMP][SD]T|AK[SD]T|HST|CES?T|EES?T|WES?T|MES?Z|MSK|BST|IST|SGT|HKT|"
    r"JST|KST|A[EC][SD]T|AWST|NZ[SD]T|SAST)\)?$"
)
MOST = 4  # offsets of one file: more are rather the ends of ranges such as 10:00-11:00
SAMPLE = 100  # cells by which zones are ruled out: all of them take a while
HOUR, MINUTE = 3_600_000_000, 60_000_000  # microseconds
Note = Callable[[str], None]


def without_zone(
    cells: Sequence[str], name: str, note: Note
) -> tuple[list[str], np.ndarray | None]:
    """Cells without their zones, and the minutes that these are ahead of UTC where all tell so."""
    places = np.linspace(0, len(cells) - 1, min(len(cells), SAMPLE)).astype(int)
    sample = [cells[place] for place in places if TIMED.search(cells[place])]
    if not any(LETTERS.search(cell) or OFFSET.search(cell) for cell in sample):
        return list(cells), None
    if sum(bool(LETTERS.search(cell)) for cell in cells) > len(cells) / 2:
        zone = next(one[0] for cell in cells if (one := LETTERS.search(cell))).strip(" ()")
        note(f"times in {shown(name)} are taken as they stand, without their zone ({zone}).")
        return [LETTERS.sub("", cell) for cell in cells], None
    found = [OFFSET.search(cell) if TIMED.search(cell) else None for cell in cells]
    if sum(match is not None for match in found) <= len(cells) / 2:
        return list(cells), None
    ahead = np.array([_minutes(match) if match else 0 for match in found])
    pairs = zip(cells, found, strict=True)
    cells = [cell[: match.start()] if match else cell for cell, match in pairs]
    if len(np.unique(ahead)) > MOST:
        note(f"ranges of hours in {shown(name)} are read as their first.")
        return cells, None
    return cells, ahead


def _minutes(match: re.Match[str]) -> int:
    sign, hours, minutes = match.groups()
    return (-1 if sign == "-" else 1) * (int(hours or 0) * 60 + int(minutes or 0))


def placed(local: pd.DatetimeIndex, ahead: np.ndarray, name: str, note: Note) -> pd.DatetimeIndex:
    """Dates of local times: as they stand if they are days or longer apart, else in UTC."""
    if ahead.any() and _one_time(local):
        note(f"times in {shown(name)} are local: offsets from UTC are left out.")
        return local
    universal = local - pd.to_timedelta(ahead, unit="min").as_unit(local.unit)
    days = local_midnights(universal)
    if days is not None:
        note(f"times in {shown(name)} are midnights of a zone: they are read as its days.")
        return days
    note(f"times in {shown(name)} are {'converted to' if ahead.any() else 'in'} UTC.")
    return universal


def _one_time(dates: pd.DatetimeIndex) -> bool:
    """Whether all dates have one time of day, so that they are days, weeks or longer apart."""
    known = dates.dropna()
    return len(known) > 0 and len(np.unique(known - known.normalize())) == 1


def local_midnights(dates: pd.DatetimeIndex) -> pd.DatetimeIndex | None:
    """The days whose midnights these are in a zone with summer time, or in one east of UTC.

    None for dates of more times of day, and for days at a time that never changes.
    """
    known = dates.dropna()
    if len(known) < 3:
        return None
    times = np.unique((known - known.normalize()).as_unit("us").asi8)
    steps = np.abs(np.diff(known.unique().asi8)) / (TICKS[dates.unit] * SECONDS)
    summer = len(times) == 2 and (times[1] - times[0]) == HOUR
    # A month that begins at 22:00 on the last of the one before.
    late = len(times) == 1 and times[0] >= 12 * HOUR and np.median(steps) > 27
    if not (summer or late) or np.median(steps) < 0.9 or (times % (15 * MINUTE)).any():
        return None
    return dates.round("D")
