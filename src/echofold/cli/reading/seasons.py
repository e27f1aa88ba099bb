"""The seasons of a series: as given, by the spacing of its dates, or found in its values."""

from __future__ import annotations

import numpy as np

from echofold._data.season import detected_season
from echofold.cli.reading.spacing import Spacing
from echofold.cli.showing.output import Output

YEAR = 365  # days, for which three years must be there: two hardly tell it from a trend
LEAST_YEARS = 3


def seasons_of(
    values: np.ndarray, spacing: Spacing | None, given: tuple[int, ...] | None
) -> tuple[int, ...]:
    """Steps in each season, the shortest first; empty without any.

    A season must fit into the values at least twice: one that was never seen again cannot be
    learned.
    """
    lengths = given
    if lengths is None and spacing is not None:
        lengths = spacing.seasons
    if lengths is None:
        found = detected_season(values)
        return () if found is None else (found,)
    return tuple(sorted({one for one in lengths if one > 1 and _fits(one, len(values))}))


def check_seasons(
    values: np.ndarray, spacing: Spacing | None, given: tuple[int, ...] | None, output: Output
) -> None:
    """Refuse a ``given`` season that does not fit, and say which one was found in the values."""
    for length in given or ():
        if not _fits(length, len(values)):
            raise ValueError(
                f"--season {length} does not fit twice into {len(values)} values; give at most "
                f"{len(values) // 2}, or 1 for none."
            )
    if given is None and (spacing is None or spacing.seasons is None):
        for found in seasons_of(values, spacing, given):
            output.note(f"season of {found} found in the values; give --season to set it.")


def _fits(length: int, count: int) -> bool:
    """Whether a season is there often enough."""
    return count >= (LEAST_YEARS if length == YEAR else 2) * length or length == 1
