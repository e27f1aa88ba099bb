"""What a report is told besides the model itself, and what follows from both for a forecast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.dates import written
from echofold._data.season import detected_season
from echofold._data.tables import Table
from echofold._data.text import count, in_words, inflected, legible
from echofold._models.ensemble import is_ensemble
from echofold._models.forecast import Forecast, forecast_of
from echofold._search.final_models import ValidationOutputs
from echofold._search.verdict import (
    compared,
    held_in_words,
    near,
    phrase,
    plain_errors,
    plain_forecasts,
)
from echofold._validation.score import spread_of
from echofold.metrics._metric import resolve
from echofold.plots._series import given_series, validation_outputs

LEVEL = 0.9
DRAWN = 3  # plain forecasts in a picture
LEAST, MOST = 10, 2000  # steps that are forecast, if nobody said how many


@dataclass(frozen=True)
class About:
    """What a report tells besides the model itself; everything may be left out.

    Parameters
    ----------
    title : str, optional
        Heading of the page; by default the name of the series.
    notes : sequence of str
        Sentences about the data: what was assumed, filled or left out.
    horizon : int, optional
        Steps to forecast; by default those of ``evaluation_``, else of a validation stretch.
    level : float or list of float
        Coverage of the intervals around the forecast.
    X : array or frame of shape (horizon, known inputs), optional
        Inputs known in advance, if the search was given any.
    forecast : Forecast, optional
        One that was made before, instead of ``search.forecast(horizon, X, level)``; of several
        series a dict of these.
    seasons : sequence of int, optional
        Steps after which plain forecasts repeat; by default found in the series.
    totals : Totals, optional
        What `forecast_totals` found, whose ``given`` is reported on: sums are shown then.

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
    forecast: Any = None
    seasons: Sequence[int] | None = None
    totals: Any = None


@dataclass(frozen=True)
class Ahead:
    """A forecast to tell of, beside plain ones.

    ``table`` is the series in numbers. ``forecast`` is None if it needs inputs that are not known.
    Plain forecasts repeat after ``seasons``; ``errors`` are their mean errors where ``own`` was
    measured. ``given`` names what the forecast is. ``past`` are forecasts of past stretches;
    ``members`` of an `AutoForecaster` have a name, a weight and an error each.
    """

    table: Table
    forecast: Forecast | None
    seasons: Sequence[int]
    errors: dict[str, float]
    own: float | None
    metric: Any
    verdict: str
    measured: str | None
    given: str
    past: ValidationOutputs
    members: list[dict[str, Any]] = field(default_factory=list)
    together: float | None = None

    @cached_property
    def nearest(self) -> dict[str, np.ndarray]:
        """Plain forecasts ``(horizon, outputs)`` with the lowest errors; the first if none has."""
        assert self.forecast is not None
        end, horizon = np.array([len(self.table.values)]), len(self.forecast.mean)
        columns = [plain_forecasts(one, self.seasons, end, horizon) for one in self.table.values.T]
        costs = {name: self.metric.cost(self.errors.get(name, 0.0)) for name in columns[0]}
        best = [name for name in sorted(costs, key=lambda name: costs[name]) if name != self.given]
        return {name: np.column_stack([one[name][0] for one in columns]) for name in best[:DRAWN]}


def forecast_table(forecast: Forecast, rows: int = 0, names: Sequence[str] = ("",)) -> pd.DataFrame:
    """Steps, forecasts and ends of intervals as columns, for every one of the ``names``.

    Steps without a name of their own are counted on from ``rows``.
    """
    frame, mean = forecast.to_frame().astype(float), forecast.mean
    index = pd.RangeIndex(rows, rows + len(mean))
    if isinstance(mean, pd.Series | pd.DataFrame):
        index = mean.index
    parts = frame.columns.get_level_values(-1)[: len(frame.columns) // len(names)]
    frame.columns = [
        f"{legible(name)} {part}" if len(names) > 1 else part for name in names for part in parts
    ]
    step = legible(str(index.name or "row"))
    frame.insert(0, "date" if step in frame.columns else step, written(index))
    return frame.reset_index(drop=True)


def contributed(model: Any) -> list[dict[str, Any]]:
    """What each input is worth, by rows; none without inputs, or networks that learn from them."""
    if getattr(model, "search_", None) is None or model.X_schema_ is None:
        return []
    return model.contributions().rename_axis("left_out").reset_index().to_dict("records")


def look_ahead(model: Any, about: About) -> Ahead:
    """The forecast of a search or of an `AutoForecaster`, and the plain ones beside it."""
    return _of_search(model, about) if hasattr(model, "finalize") else _of_recipe(model, about)


def _of_recipe(model: Any, about: About) -> Ahead:
    """What an `AutoForecaster` says of itself."""
    table, verdict, past = model.table_, model.verdict_, model.past_
    forecast = about.forecast
    if forecast is None and (model.X_schema_ is None or about.X is not None):
        forecast = model.forecast(about.horizon, about.X)
    measured = None
    if verdict.stretches:
        measured = (
            f"On past data means: {inflected(verdict.stretches, 'one stretch', '{} stretches')} "
            f"of {count(verdict.steps, 'step')}, each forecast from the values before it."
        )
    return Ahead(
        table, forecast, model.seasons_, model.baselines_, verdict.error, resolve(verdict.metric),
        verdict.words, measured, model.given,
        ValidationOutputs(past.rows, past.truth[:, :, None], model.outputs_[:, :, None]),
        model.members_.reset_index().to_dict("records"), verdict.together,
    )  # fmt: skip


def _of_search(search: Any, about: About) -> Ahead:
    """The forecast of a search; errors are those that `evaluate` measured."""
    table = given_series(search)
    forecast = about.forecast or _forecast(search, about)
    seasons = tuple(about.seasons) if about.seasons is not None else _seasons(search, table)
    errors, own = _measured(search, table, seasons)
    metric, evaluation, measured = search._reader.metrics[0], search.evaluation_, None
    if own is not None:
        beginnings = count(evaluation.sizes["origin"], "shorter beginning")
        measured = (
            f"On past data means: the whole search was repeated on {beginnings} of the series and "
            f"scored on the {int(evaluation.attrs['horizon'])} values that followed."
        )
    verdict = "How good this forecast will be was not measured: echofold.evaluate(search, y) does."
    if forecast is not None and not near(forecast.mean, table.values):
        verdict = (
            "This forecast runs far away from the values so far: do not use it. Search larger "
            "ridge values, smaller spectral radii or differences."
        )
    elif own is not None:
        verdict = _search_verdict(own, errors, evaluation, metric, table)
    past = validation_outputs(search)
    if is_ensemble(search.best_estimator_):
        past = replace(past, outputs=past.truth - search.best_estimator_.residuals_)
    return Ahead(table, forecast, seasons, errors, own, metric, verdict, measured, "networks", past)


def _search_verdict(
    own: float, errors: dict[str, float], evaluation: Any, metric: Any, table: Table
) -> str:
    """How the forecast of a search compares with plain ones where both were measured."""
    held = ""
    if "coverage" in evaluation:
        share = float(evaluation.coverage.values.mean())
        held = f"; {held_in_words(share, evaluation.attrs['level'])}"
    if not errors:
        return f"On past data its {metric.name} was {in_words(own)} on average{held}."
    best = min(errors, key=lambda name: metric.cost(errors[name]))
    words = f"{compared(own, errors[best], metric)} {phrase(best, table.index)}"
    return f"{words[0].upper()}{words[1:]}, the best plain forecast{held} on past data."


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
