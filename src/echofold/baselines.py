"""Plain forecasts, which any model should beat: functions of a series, a horizon and a season.

All take a series ``(T,)`` of at least one value, in which missing values are NaN, and give an array
``(horizon,)``. A season that was not seen whole counts as none. In place of a missing value stands
the last known one, of a season that of the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from echofold._data.arguments import check_count, check_integer
from echofold._data.missing import filled
from echofold._data.tables import read

__all__ = ["blend", "drift", "last_value", "mean", "seasonal_mean", "seasonal_naive"]

AVERAGED = 3  # seasons that a seasonal mean is made of


def last_value(y: Any, horizon: int, season: int = 1) -> np.ndarray:
    """The last value, again and again.

    Examples
    --------
    >>> last_value([1.0, 2.0, 4.0], 2)
    array([4., 4.])
    """
    return np.repeat(_read(y, horizon, season)[0][-1], horizon)


def mean(y: Any, horizon: int, season: int = 1) -> np.ndarray:
    """The mean of all values.

    Examples
    --------
    >>> mean([1.0, 2.0, 6.0], 2)
    array([3., 3.])
    """
    _read(y, horizon, season)
    return np.repeat(np.nanmean(_known(y)), horizon)


def drift(y: Any, horizon: int, season: int = 1) -> np.ndarray:
    """The straight line from the first value to the last, continued.

    Examples
    --------
    >>> drift([1.0, 2.0, 5.0], 2)
    array([7., 9.])
    """
    values, _ = _read(y, horizon, season)
    slope = (values[-1] - values[0]) / max(len(values) - 1, 1)
    return values[-1] + slope * np.arange(1, horizon + 1)


def seasonal_naive(y: Any, horizon: int, season: int = 1) -> np.ndarray:
    """The last season, again and again.

    Examples
    --------
    >>> seasonal_naive([1.0, 2.0, 3.0, 4.0], 3, season=2)
    array([3., 4., 3.])
    """
    values, season = _read(y, horizon, season)
    return values[len(values) - season + np.arange(horizon) % season]


def seasonal_mean(y: Any, horizon: int, season: int = 1) -> np.ndarray:
    """The mean of the last three seasons, or of as many as there are.

    Examples
    --------
    >>> seasonal_mean([1.0, 2.0, 3.0, 4.0], 3, season=2)
    array([2., 3., 2.])
    """
    values, season = _read(y, horizon, season)
    count = min(AVERAGED, len(values) // season)
    pattern = values[len(values) - count * season :].reshape(count, season).mean(axis=0)
    return pattern[np.arange(horizon) % season]


def blend(y: Any, horizon: int, season: int = 1) -> np.ndarray:
    """The last value, or the last season, with half of the drift so far.

    Of a season, the drift is the mean change from one to the next in the later half of the values.

    Examples
    --------
    >>> blend([1.0, 2.0, 3.0, 4.0], 3, season=2)
    array([4., 5., 5.])
    """
    values, season = _read(y, horizon, season)
    if season == 1 or len(values) < 2 * season:
        return (last_value(values, horizon) + drift(values, horizon)) / 2
    changes = (values[season:] - values[:-season])[-max(season, len(values) // 2) :]
    ahead = np.ceil(np.arange(1, horizon + 1) / season)
    return seasonal_naive(values, horizon, season) + changes.mean() / 2 * ahead


def suiting(seasons: Sequence[int]) -> dict[str, Callable[[np.ndarray, int], np.ndarray]]:
    """Plain forecasts by names in words, as functions of values and a horizon; of every season."""
    found: dict[str, Any] = {"last value": last_value, "drift": drift, "mean": mean}
    for season in seasons:
        found[f"value {season} steps ago"] = partial(seasonal_naive, season=season)
        found[f"mean of values {season} steps apart"] = partial(seasonal_mean, season=season)
    repeated = f"value {max(seasons)} steps ago" if seasons else "last value"
    longest = max(seasons, default=1)
    return {**found, f"{repeated} and half its change": partial(blend, season=longest)}


def _read(y: Any, horizon: Any, season: Any) -> tuple[np.ndarray, int]:
    """Values without holes, and the season if it was seen whole."""
    check_count("horizon", horizon)
    check_integer("season", season, 1)
    values = _known(y)
    season = int(season) if season <= len(values) else 1
    return filled(values[:, None], season if season > 1 else None)[:, 0], season


def _known(y: Any) -> np.ndarray:
    """Values ``(T,)`` of one series, at least one of which is known."""
    values = read(y, "y", missing=True).values
    if values.shape[1] != 1:
        raise ValueError(
            f"y has {values.shape[1]} columns, expected one series. Forecast each on its own."
        )
    if np.isnan(values).all():
        raise ValueError("y has no value that is not missing (NaN). Give at least one.")
    return values[:, 0]
