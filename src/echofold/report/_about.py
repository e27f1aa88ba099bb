"""What a report is told besides the search itself, and what follows from both for a forecaster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from echofold._data.season import detected_season
from echofold._data.tables import Table
from echofold._data.text import inflected
from echofold._models.forecast import Forecast, forecast_of
from echofold._search.evaluate import spread_of
from echofold._search.plain import Better, near, plain_errors, plain_forecasts
from echofold.plots._series import given_series

LEVEL = 0.9
LEAST, MOST = 10, 2000  # steps that are forecast, if nobody said how many


@dataclass(frozen=True)
class About:
    """What a report tells besides the search itself; everything may be left out.

    Parameters
    ----------
    title : str, optional
        Heading of the page; by default the name of the series.
    notes : sequence of str
        Sentences about the data: what was assumed, filled or left out.
    horizon : int, optional
        Steps to forecast; by default those of ``evaluation_``, else of a validation interval.
    level : float or list of float
        Coverage of the intervals around the forecast.
    X : array or frame of shape (horizon, known inputs), optional
        Inputs known in advance, if the search was given any.
    forecast : Forecast, optional
        One that was made before, instead of ``search.forecast(horizon, X, level)``.
    instead : optional
        The plain forecast that ``forecast`` is, where it is not that of the networks.
    seasons : sequence of int, optional
        Steps after which plain forecasts repeat; by default found in the series.
    expected : dict of str to float
        Error on unseen data by scheme, where more than the first was measured.
    how : str
        How to measure what has not been measured.

    Examples
    --------
    >>> from echofold.report import About
    >>> About(title="Ticket sales", notes=["Two missing days were filled."], horizon=30).horizon
    30
    """

    title: str | None = None
    notes: Sequence[str] = ()
    horizon: int | None = None
    level: float | Sequence[float] = LEVEL
    X: Any = None
    forecast: Forecast | None = None
    instead: Better | None = None
    seasons: Sequence[int] | None = None
    expected: dict[str, float] = field(default_factory=dict)
    how: str = "echofold.evaluate(search, y)"


@dataclass(frozen=True)
class Ahead:
    """A forecast to tell of, beside plain ones.

    ``y`` is the series as it was given, ``table`` the same in numbers. ``forecast`` has dicts of
    levels; it is None if it needs inputs that are not known. ``plain`` has ``(horizon, outputs)``
    by name, ``errors`` their mean errors where ``own`` was measured.
    """

    y: Any
    table: Table
    forecast: Forecast | None
    plain: dict[str, np.ndarray]
    errors: dict[str, float]
    own: float | None
    instead: Better | None
    metric: Any

    @property
    def runs_away(self) -> bool:
        """Whether the forecast leaves the values so far behind."""
        return self.forecast is not None and not near(self.forecast.mean, self.table.values)

    @property
    def nearest(self) -> str | None:
        """The plain forecast with the lowest error, if errors were measured."""
        return min(self.errors, key=lambda name: self.metric.cost(self.errors[name]), default=None)


def beginnings_in_words(number: int) -> str:
    """On what a search is repeated to measure its error."""
    return inflected(number, "a shorter beginning", "{} shorter beginnings")


def look_ahead(search: Any, about: About) -> Ahead:
    """The forecast of a search, and the plain ones beside it."""
    table, reader = given_series(search), search._reader
    forecast = about.forecast or _forecast(search, about)
    seasons = tuple(about.seasons) if about.seasons is not None else _seasons(search, table)
    plain: dict[str, np.ndarray] = {}
    if forecast is not None:
        horizon, end = len(forecast.mean), np.array([len(table.values)])
        columns = [plain_forecasts(one, seasons, end, horizon) for one in table.values.T]
        plain = {name: np.column_stack([one[name][0] for one in columns]) for name in columns[0]}
        if about.instead is not None:
            plain.pop(about.instead.name)
            if not about.instead.ran_away:
                networks = search.best_estimator_._forecast(horizon, about.X)
                networks = np.asarray(networks, dtype=float).reshape(horizon, -1)
                plain = {"networks": networks, **plain}
    errors, own = _measured(search, table, seasons)
    y = reader.data[0] if reader.data else reader.fit_params["y"]
    return Ahead(y, table, forecast, plain, errors, own, about.instead, reader.metrics[0])


def _forecast(search: Any, about: About) -> Forecast | None:
    """The forecast of the search's model, None if it needs inputs that are not known here."""
    model, horizon = search.best_estimator_, about.horizon
    if model.X_schema_ is not None and about.X is None:
        return None
    if horizon is None:
        steps = model.residuals_.shape[1]
        if search.evaluation_ is not None:
            steps = int(search.evaluation_.attrs["horizon"])
        horizon = min(max(steps, LEAST), MOST)
    levels = [about.level] if np.ndim(about.level) == 0 else list(about.level)  # type: ignore[arg-type]
    return forecast_of(model, horizon, about.X, levels, warn=False)


def _seasons(search: Any, table: Table) -> tuple[int, ...]:
    """Seasons that the winner knows of, or one that is found in the values."""
    params = {**search.estimator.get_params(), **search.best_params_}
    lags = [*np.ravel(params.get("difference") or 0), *np.ravel(params.get("season") or 0)]
    named = {int(lag) for lag in lags if lag > 1 and lag == int(lag)}
    if named:
        return tuple(sorted(named))
    found = detected_season(table.values[:, 0])
    return () if found is None else (found,)


def _measured(
    search: Any, table: Table, seasons: tuple[int, ...]
) -> tuple[dict[str, float], float | None]:
    """Mean errors of plain forecasts where the search's own was measured, and that one."""
    evaluation, metric = search.evaluation_, search._reader.metrics[0]
    if evaluation is None:
        return {}, None
    own = float(evaluation[evaluation.attrs["metric"]].values.mean())
    starts, horizon = evaluation.start.values, int(evaluation.attrs["horizon"])
    if starts[-1] + horizon != len(table.values) or evaluation.attrs["metric"] != metric.name:
        return {}, own  # measured on other data
    spread = spread_of(table.values)
    errors = plain_errors(table.values, seasons, starts, horizon, metric, spread)
    return {name: float(error.mean()) for name, error in errors.items()}, own
