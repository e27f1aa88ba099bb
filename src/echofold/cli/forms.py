"""Representations of a series that a search chooses among: what suits it, or what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

WAVES = 10  # that describe a season at most
OFTEN = 3  # how often a season must be there to be differenced: twice to be learned from


@dataclass(frozen=True)
class Forms:
    """What is known of a series: its seasons, the shortest first, and whether it is positive.

    ``log`` and ``differences`` are what was asked for, None if nothing was.
    """

    seasons: tuple[int, ...]
    positive: bool
    log: bool | None = None
    differences: tuple[tuple[int, ...], ...] | None = None

    @property
    def least(self) -> int:
        """Values that are needed for the differences that were asked for."""
        return max([0, *(3 * sum(lags) + 20 for lags in self.differences or ())])

    def fitting(self, rows: int, many: bool = False) -> tuple[dict[str, Any], ...]:
        """Representations for so many rows, all with the same parameters.

        Of ``many`` rows logarithms are left out, which are seldom worth their time there.

        Examples
        --------
        >>> [form["difference"] for form in Forms((12,), positive=False).fitting(200)]
        [(), (1,), (12,), (12, 1)]
        >>> [form["season"] for form in Forms((24, 168), positive=False).fitting(2000)]
        [(24, 168), (24, 168), (168,), (168,), None]
        """
        seasons = tuple(season for season in self.seasons if rows >= OFTEN * season)
        logs = (False, True) if self.positive and not many else (False,)
        if self.log is not None:
            logs = (self.log,)
        return tuple(
            {
                "log": log,
                "difference": lags,
                "season": waves or None,
                "harmonics": max([1, *(min(one // 2, WAVES) for one in waves)]),
            }
            for log in logs
            for lags, waves in self._lags(seasons)
        )

    def _lags(self, seasons: tuple[int, ...]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Differences, each with the seasons whose waves are given beside them."""
        if self.differences is not None:
            return [
                (lags, tuple(season for season in seasons if season not in lags))
                for lags in self.differences
            ]
        if not seasons:
            return [((), ()), ((1,), ()), ((1, 1), ())]
        first, *longer = seasons
        rest = tuple(longer)
        found = [((), seasons), ((1,), seasons), ((first,), rest), ((first, 1), rest)]
        return found + [((season,), ()) for season in longer]


def suiting_beginnings(
    series: Any,
    log: bool | None = None,
    differences: tuple[tuple[int, ...], ...] | None = None,
    nonnegative: bool = False,
) -> Callable[[int], Forms]:
    """What suits the first so many values of a series of a file, which is all that is looked at."""
    suiting(series.values, series.seasons, log, differences, nonnegative)  # checks what was asked

    def forms(rows: int) -> Forms:
        part = series.values.iloc[:rows], series.seasons_before(rows)
        return suiting(*part, log, differences, nonnegative)

    return forms


def suiting(
    values: Any,
    seasons: Sequence[int],
    log: bool | None = None,
    differences: tuple[tuple[int, ...], ...] | None = None,
    nonnegative: bool = False,
) -> Forms:
    """What suits these values, and what was asked for; an error if these do not go together."""
    values = np.asarray(values, dtype=float)
    if nonnegative and (values < 0).any():
        row = int(np.flatnonzero(values < 0)[0])
        raise ValueError(f"--nonnegative, but value {row + 1} is {values[row]:.6g}; leave it out.")
    positive = not (values <= 0).any()  # of those that are there
    if log and not positive:
        row = int(np.flatnonzero(values <= 0)[0])
        raise ValueError(
            f"--log needs positive values, but value {row + 1} is {values[row]:.6g}; leave it out."
        )
    forms = Forms(tuple(seasons), positive, log, differences)
    if len(values) < forms.least:
        longest = max(differences or [()], key=sum)
        raise ValueError(
            f"--difference {','.join(map(str, longest))} leaves too few of {len(values)} values; "
            "use smaller lags."
        )
    return forms
