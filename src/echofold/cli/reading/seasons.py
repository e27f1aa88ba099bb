"""The seasons of a series: as given, by the spacing of its dates, or found in its values."""

from __future__ import annotations

import numpy as np

from echofold._data.season import detected_season
from echofold.cli.reading.spacing import Spacing
from echofold.cli.showing.output import Output

YEAR = 365  # days, for which three years must be there: two hardly tell it from a trend
LEAST_YEARS = 3


def seasons_of(
    values: np.ndarray, spacing: Spacing | None, given: tuple[int, ...] | None, output: Output
) -> tuple[int, ...]:
    """Steps in each season, the shortest first; empty without any.

    A season must fit into the values at least twice: one that was never seen again cannot be
    learned. What was ``given`` is refused then, what the spacing suggests is left out.
    """
    if given is not None:
        for length in given:
            if not _fits(length, len(values)):
                raise ValueError(
                    f"--season {length} does not fit twice into {len(values)} values; give at most "
                    f"{len(values) // 2}, or 1 for none."
                )
        return tuple(sorted({length for length in given if length > 1}))
    if spacing is not None and spacing.seasons is not None:
        return tuple(length for length in spacing.seasons if _fits(length, len(values)))
    found = detected_season(values)
    if found is None:
        return ()
    output.note(f"season of {found} found in the values; give --season to set it.")
    return (found,)


def _fits(length: int, count: int) -> bool:
    """Whether a season is there often enough."""
    return count >= (LEAST_YEARS if length == YEAR else 2) * length or length == 1
