"""Plain forecasts, which any model should beat, and whether one of them clearly does better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.missing import filled
from echofold._models.forecast import Forecast, interval, plausible
from echofold._search.evaluate import complete, score, spread_of
from echofold.metrics._horizon import Spread
from echofold.metrics._metric import Metric, resolve

# On R's series (benchmarks/accuracy.py), of plain forecasts whose validation error was lower than
# that of the networks, one in five was better later; of those lower by a tenth, one in two.
CLEARLY = 0.9  # of the error of the networks, below which a plain forecast is given instead


def plain_forecasts(
    values: np.ndarray, seasons: Sequence[int], starts: np.ndarray, horizon: int
) -> dict[str, np.ndarray]:
    """Forecasts ``(starts, horizon)`` from the values before each start, by names in words.

    The blend repeats the last value, or the longest season, and goes on with half of its drift.
    For values that are missing (NaN) stand the last known ones, of a season those of the same time.

    Examples
    --------
    >>> import numpy as np
    >>> found = plain_forecasts(np.arange(8.0), (2,), np.array([8]), 3)
    >>> {name: forecast[0].tolist() for name, forecast in found.items()}["drift"]
    [8.0, 9.0, 10.0]
    """
    starts, given = np.asarray(starts), np.asarray(values, dtype=float)[:, None]
    values = filled(given)[:, 0]
    steps = np.arange(1, horizon + 1)
    repeated = np.repeat(values[starts - 1][:, None], horizon, axis=1)
    drift = ((values[starts - 1] - values[0]) / np.maximum(starts - 1, 1))[:, None] * steps
    found = {"last value": repeated, "drift": repeated + drift}
    for season in seasons:
        if len(starts) and 2 * season <= starts.min():
            values = filled(given, season)[:, 0]
            repeated = values[starts[:, None] + (steps - 1) % season - season]
            changes = np.array([_change(values[:start], season) for start in starts])
            drift = changes[:, None] * np.ceil(steps / season)
            found[f"value {season} steps ago"] = repeated
    return {**found, "blend": repeated + drift / 2}


def plain_errors(
    values: np.ndarray,
    seasons: Sequence[int],
    starts: np.ndarray,
    horizon: int,
    metric: Metric,
    spread: Spread,
) -> dict[str, np.ndarray]:
    """Errors ``(starts,)`` of plain forecasts, where ``values (T, outputs)`` are not missing."""
    columns = [plain_forecasts(column, seasons, starts, horizon) for column in values.T]
    output: Any = 0 if values.shape[1] == 1 else slice(None)
    found = {}
    for name in columns[0]:
        forecasts = np.stack([column[name] for column in columns], axis=-1)
        errors = []
        for start, forecast in zip(starts, forecasts, strict=True):
            truth = values[start : start + horizon]
            there = complete(truth)
            errors.append(metric.measure(truth[there, output], forecast[there, output], spread))
        found[name] = np.array(errors)
    return found


def _change(values: np.ndarray, season: int) -> float:
    """The mean change from one season to the next, over the later half of the values."""
    count = max(season, len(values) // 2)
    changes = values[season:] - values[:-season]
    return float(changes[-count:].mean())


@dataclass(frozen=True)
class Better:
    """A plain forecast that is given instead of the networks'.

    Because it did clearly better on their validation intervals, or because they ``ran_away``.
    """

    name: str
    error: float
    networks: float
    residuals: np.ndarray
    runs: int
    seasons: tuple[int, ...]
    ran_away: bool = False

    @property
    def words(self) -> str:
        """A sentence about what is given, and why."""
        if self.ran_away:
            return (
                f"the networks' forecast runs far away from the values so far, so a plain one, "
                f"{self.name}, is given instead; model.echofold is of the networks."
            )
        return (
            f"a plain forecast, {self.name}, did clearly better on the validation intervals than "
            f"the networks ({self.error:.4g} against {self.networks:.4g}), so it is the forecast "
            "that is given; model.echofold is of the networks."
        )

    def forecast(
        self, values: pd.Series, index: pd.Index, levels: Sequence[float], least: float = -np.inf
    ) -> Forecast:
        """Its values after the series, and intervals from its own errors, not below ``least``."""
        end = np.array([len(values)])
        mean = plain_forecasts(values.to_numpy(), self.seasons, end, len(index))[self.name][0]

        def written(part: np.ndarray) -> pd.Series:
            return pd.Series(np.maximum(part, least), index=index, name=values.name)

        ends = {one: interval(self.residuals, len(index), one, self.runs) for one in levels}
        lower = {one: written(mean + low[:, 0]) for one, (low, _) in ends.items()}
        upper = {one: written(mean + high[:, 0]) for one, (_, high) in ends.items()}
        return Forecast(written(mean), lower, upper)


def better_than(
    search: Any, scheme: str, values: pd.Series, seasons: Sequence[int], metric_name: str
) -> Better | None:
    """The best plain forecast of the validation intervals, if it beats the final model clearly."""
    best = _judged(search, scheme, search.best_estimator_, values, seasons, metric_name)[0]
    clearly = resolve(metric_name).times(best.networks, CLEARLY)
    return best if best.error < clearly else None


def instead_of(
    search: Any,
    scheme: str,
    model: Any,
    values: pd.Series,
    seasons: Sequence[int],
    metric_name: str,
    steps: int,
) -> Better:
    """The best plain forecast that does not run away in so many steps, where a model does."""
    each = _judged(search, scheme, model, values, seasons, metric_name)
    end, known = np.array([len(values)]), values.to_numpy()
    after = plain_forecasts(known, each[0].seasons, end, steps)
    return replace(next(one for one in each if near(after[one.name][0], known)), ran_away=True)


def _judged(
    search: Any,
    scheme: str,
    model: Any,
    values: pd.Series,
    seasons: Sequence[int],
    metric_name: str,
) -> list[Better]:
    """Plain forecasts with their errors on the validation intervals, the lowest first."""
    metric, spread = resolve(metric_name), spread_of(values)
    found = search._winners.outputs(scheme)
    starts, truth = found.rows[:, 0], found.truth[:, :, 0]
    usable = tuple(season for season in seasons if 2 * season <= starts.min())  # at every start
    forecasts = plain_forecasts(values.to_numpy(), usable, starts, truth.shape[1])

    def error(residuals: np.ndarray) -> float:
        each = zip(truth, truth - residuals[:, :, 0], strict=True)
        return float(np.mean([score(metric, *pair, spread) for pair in each]))

    own, each = error(model.residuals_), []
    for name, forecast in forecasts.items():
        residuals = (truth - forecast)[:, :, None]
        each.append(Better(name, error(residuals), own, residuals, model.runs_, usable))
    return sorted(each, key=lambda one: one.error)


def near(forecast: Any, values: Any) -> bool:
    """Whether a forecast is finite and does not run away from the values so far."""
    parts = (np.asarray(part, dtype=float) for part in (values, forecast))
    values, ahead = (part.reshape(len(part), -1) for part in parts)
    span = np.array([np.nanmin(values, axis=0), np.nanmax(values, axis=0)])
    return bool(plausible(ahead, span).all())
