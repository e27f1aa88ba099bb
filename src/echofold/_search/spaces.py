"""What is searched where nobody says: representations of a series, and networks for a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from echofold._data.arguments import given_params
from echofold._data.dates import timeline
from echofold._data.lazy import is_long
from echofold._data.panels import is_panel, panel_of
from echofold._data.problem import Task
from echofold._data.season import calendar_seasons, detected_season, seen_seasons
from echofold._data.tables import Table, read
from echofold._models.forecaster import POOLS
from echofold._models.sequences import PATH
from echofold.reservoirs import Bank
from echofold.reservoirs._leaky import flat_given

RIDGE = [1e-6, 1e-3, 1e-1, 1.0, 10.0]
GRIDS: dict[str, dict[str, list[float]]] = {  # of each representation: there are six or more
    "small": {"leak_rate": [0.3, 1.0], "spectral_radius": [0.9]},
    "medium": {"leak_rate": [0.3, 1.0], "spectral_radius": [0.9], "input_scaling": [0.2, 1.0]},
    "large": {
        "leak_rate": [0.1, 0.3, 1.0],
        "spectral_radius": [0.3, 0.6, 0.9, 1.1],
        "input_scaling": [0.3, 1.0],
    },
}
OPEN = {  # of regressors and classifiers, whose outputs are not fed back
    "leak_rate": [0.1, 0.3, 1.0],
    "spectral_radius": [0.3, 0.9, 1.2],
    "input_scaling": [0.1, 0.5, 2.0],
    "ridge": [1e-8, 1e-6, 1e-4, 1e-2, 1.0],
}
SEQUENCES: dict[str, list] = {  # of whole sequences
    "reservoir": [Bank(), Bank(delayed=1.0)],
    "normalize": [True, "both"],
    "ridge": list(PATH),
}
LONG = 20_000  # values from which the small grid is the default, and logarithms are left out
WAVES = 10  # that describe a season at most
OFTEN = 3  # how often a season must be there to be differenced: twice to be learned from

Lags = tuple[int, ...]


@dataclass(frozen=True)
class Forms:
    """What is known of a series: its seasons, the shortest first, and whether it is positive.

    ``log`` and ``differences`` are what was asked for, None if nothing was.
    """

    seasons: tuple[int, ...]
    positive: bool
    log: bool | None = None
    differences: tuple[Lags, ...] | None = None

    def fitting(self, rows: int) -> tuple[dict[str, Any], ...]:
        """Representations for so many rows, all with the same parameters.

        Examples
        --------
        >>> [form["difference"] for form in Forms((12,), positive=False).fitting(200)]
        [(), (1,), (12,), (12, 1)]
        >>> [form["season"] for form in Forms((24, 168), positive=False).fitting(2000)]
        [(24, 168), (24, 168), (168,), (168,), None]
        """
        seasons = self.fitting_seasons(rows)
        logs = [False, True] if self.positive else [False]
        return tuple(
            {
                "log": log,
                "difference": lags,
                "season": waves or None,
                "harmonics": max([1, *(min(one // 2, WAVES) for one in waves)]),
            }
            for log in (logs if self.log is None else [self.log])
            for lags, waves in self._lags(seasons)
        )

    def fitting_seasons(self, rows: int) -> tuple[int, ...]:
        """Seasons that are there often enough."""
        return tuple(season for season in self.seasons if rows >= OFTEN * season)

    def _lags(self, seasons: tuple[int, ...]) -> list[tuple[Lags, tuple[int, ...]]]:
        """Differences, each with the seasons whose waves are given beside them."""
        if self.differences is not None:
            return [
                (lags, tuple(season for season in seasons if season not in lags))
                for lags in self.differences
            ]
        if not seasons:
            return [((), ()), ((1,), ()), ((1, 1), ())]
        first, rest = seasons[0], seasons[1:]
        found = [((), seasons), ((1,), seasons), ((first,), rest), ((first, 1), rest)]
        return found + [((season,), ()) for season in rest]


def told_seasons(table: Table) -> tuple[int, ...] | None:
    """Seasons of the calendar, by the dates of a series; None if its values must tell."""
    ends = None if table.index is None else timeline(table.index)
    if ends is None or ends.kind not in ("dates", "periods"):
        return None
    return calendar_seasons(ends.step)


def automatic_space(
    estimator: Any, data: tuple, named: dict[str, Any], task: Task
) -> list[dict[str, Any]]:
    """What to search for an estimator on its data; parameters that were set stay as they are."""
    spaces = [OPEN]
    if not task.ordered and not flat_given(estimator.get_params(deep=False)):
        spaces = [SEQUENCES]
    if estimator._task.fed_back:
        y = data[0] if data else named["y"]
        every = panel_of(y, "y")[1] if is_panel(y) else [y]
        y = max(every, key=len) if is_panel(y) else y  # whose seasons stand for all
        forms, rows = Forms((), positive=False), LONG
        if not is_long(y):
            table = read(y, "y", missing=True, field=True)
            told, rows = told_seasons(table), len(table.values)
            if told is None:
                told = (detected_season(table.values[:, 0]) or 1,)
            tables = [read(one, "y", missing=True, field=True).values for one in every]
            rows = min(map(len, tables))
            positive = not any((values <= 0).any() for values in tables)
            forms = Forms(seen_seasons(told, rows), positive, log=False if rows >= LONG else None)
        grid = GRIDS["medium"] | {"ridge": RIDGE}
        spaces = [
            {name: [value] for name, value in form.items()} | grid for form in forms.fitting(rows)
        ]
    free = _left_alone(estimator)
    spaces = [{name: one for name, one in space.items() if name in free} for space in spaces]
    distinct = {repr(space): space for space in spaces}
    return list(distinct.values()) or [{"ridge": RIDGE}]


def with_pools(spaces: list[dict[str, Any]], estimator: Any) -> list[dict[str, Any]]:
    """The same for several series, which share a readout as may suit them."""
    pools = {"pool": list(POOLS)} if "pool" in _left_alone(estimator) else {}
    return [space | pools for space in spaces]


def _left_alone(estimator: Any) -> set[str]:
    """Names of parameters that have their default, and mean something beside the others."""
    free = estimator.get_params(deep=False).keys() - given_params(estimator).keys()
    if "reservoir" not in free:
        free -= {"leak_rate", "spectral_radius", "input_scaling"}
    if "season" not in free:
        free -= {"harmonics"}
    return free
