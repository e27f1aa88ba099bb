"""An honest error: the whole search on growing beginnings of the data, scored on what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from echofold._data.arguments import (
    check_count,
    check_fit_params,
    check_network,
    check_number,
    is_network,
)
from echofold._data.problem import Task
from echofold._data.tables import read
from echofold._machine.notices import said_once
from echofold._models.forecast import Forecast, forecast_of
from echofold._validation.settings import check_metrics
from echofold.metrics import crps, interval_score
from echofold.metrics._metric import Metric, check_not_zero
from echofold.metrics._targets import Spread
from echofold.metrics._targets import spread_of as spread_of_rows

if TYPE_CHECKING:
    import xarray as xr

Pair = tuple[np.ndarray, np.ndarray]
LEAST = 20  # rows that the shortest beginning must have
LEVELS = tuple(level / 10 for level in range(1, 10))  # that the CRPS is computed from


def evaluate(
    search: Any,
    *data: Any,
    origins: int = 5,
    horizon: int | None = None,
    level: float = 0.9,
    **fit_params: Any,
) -> xr.Dataset:
    """Repeat a whole search on growing beginnings of the data and score it on what follows.

    This judges how models are chosen; `backtest` judges one fitted model from many starts.

    The validation error of a search's winner is flattered by having been chosen among many. Here
    every choice is made on the beginning alone, so the error on the rest is an honest estimate of
    what the search would do next. Sequences of a classifier have no order in time: they are
    shuffled first, so that every beginning and stretch has the classes in their proportions; with
    ``groups`` whole groups are shuffled, and none is both searched on and scored.

    Parameters
    ----------
    search : ESNSearchCV
        Not refitted itself; if it is fitted, the result is kept as its ``evaluation_``.
    *data, **fit_params
        What ``search.fit`` takes. Rows whose value is missing (NaN) are not scored.
    origins : int
        Number of beginnings. The scored stretches follow each other and end with the data.
    horizon : int, optional
        Length of each stretch; by default that of the validation intervals of the first scheme.
    level : float
        Coverage asked of the prediction intervals of a forecaster.

    Returns
    -------
    xarray.Dataset
        Over ``origin``: the metric on what follows, the winner's ``validation`` score, and where
        each stretch lies; for forecasters also the ``coverage`` of the intervals at the level,
        their ``interval_score``, and the ``crps``.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster, ESNSearchCV, KFold, evaluate
    >>> y = np.sin(np.arange(400) / 5)
    >>> search = ESNSearchCV(
    ...     ESNForecaster(20, random_state=0), {"ridge": [1e-8, 1e-2]}, cv=KFold(5)
    ... )
    >>> evaluate(search, y, origins=2, horizon=20).nrmse.dims
    ('origin',)
    """
    check_count("origins", origins)
    check_number("level", level, "a number in (0, 1)", lambda level: 0 < level < 1)
    _check_search(search)
    check_fit_params(evaluate, search.estimator, fit_params.keys() - {"groups"})
    task = search.estimator._task
    metrics = check_metrics(search.metric)
    if len(data) < task.needed:
        needed = ", ".join(task.data[: task.needed])
        raise TypeError(
            f"evaluate got {len(data)} data sets by position and needs {needed}: "
            f"evaluate(search, {needed}, ...)."
        )
    rows = len(data[0])
    if horizon is None:
        horizon = _default_horizon(search, data, fit_params, rows)
    check_count("horizon", horizon)
    if rows - origins * horizon < LEAST:
        remedy = "Use fewer origins or a shorter horizon."
        raise ValueError(
            f"origins={origins} stretches of horizon={horizon} leave "
            f"{max(0, rows - origins * horizon)} of {rows} rows to search on at first, at least "
            f"{LEAST} are needed. {remedy if rows > LEAST else f'Give more than {LEAST} rows.'}"
        )
    groups = None
    if task.labels:
        data, fit_params = _interleaved(data, fit_params, rows)
        groups = fit_params.get("groups")

    def fresh(start: int):
        # Not by clone, which copies space and splits for every origin. fit clones the estimator.
        return type(search)(**{**search.get_params(deep=False), "checkpoint": None})

    variables: dict[str, list] = {metric.name: [] for metric in metrics}
    variables["validation"] = []
    starts, spread = starts_of(rows, origins, horizon), spread_of(task, data)
    _check_values(task, data, starts, horizon)
    if not task.labels:
        check_zeros(metrics, _targets(data[task.targets]), starts, horizon)
    with said_once():
        for held in beginnings(fresh, data, starts, horizon, fit_params, groups):
            errors, judged = errors_on(held, held.search.best_estimator_, metrics, spread, level)
            for name, error in (errors | judged).items():
                variables.setdefault(name, []).append(error)
            variables["validation"].append(held.search.best_score_)
    result = as_dataset(variables, starts, horizon, level, metrics[0].name)
    result.attrs["better"] = "higher" if metrics[0].higher else "lower"
    if hasattr(search, "results_"):
        search.evaluation_ = result
    return result


def _check_search(search: Any) -> None:
    """Raise for what is no search of one of the library's estimators."""
    if hasattr(search, "space") and hasattr(search, "estimator"):
        check_network(search.estimator)
        return
    if is_network(search):
        raise TypeError(
            f"search={search!r} is an estimator, expected an ESNSearchCV: wrap it, as "
            "ESNSearchCV(estimator, {'ridge': [...]}), or use cross_validate for the estimator "
            "as it is, and backtest for a fitted forecaster."
        )
    raise TypeError(
        f"search={search!r}: expected an ESNSearchCV, as ESNSearchCV(ESNForecaster(), space)."
    )


class Beginning(NamedTuple):
    """A search fitted on the data before ``start``, and what followed them."""

    start: int
    search: Any
    rest: list
    more: dict[str, Any]


def starts_of(rows: int, origins: int, horizon: int) -> np.ndarray:
    """Where stretches begin that follow each other and end with the data."""
    return rows - horizon * np.arange(origins, 0, -1)


def beginnings(
    fresh: Callable[[int], Any],
    data: Sequence[Any],
    starts: np.ndarray,
    horizon: int,
    fit_params: dict[str, Any] | None = None,
    groups: Any = None,
) -> Iterator[Beginning]:
    """Fit the search that ``fresh(start)`` makes on the data before each start.

    Rows of a group that occurs in what follows are left out before it, too.
    """
    rows, more = len(data[0]), fit_params or {}
    for start in starts:
        before, after = np.arange(start), np.arange(start, start + horizon)
        if groups is not None:
            before = before[~np.isin(np.asarray(groups)[before], np.asarray(groups)[after])]
        search = fresh(start)
        search.fit(*(_taken(one, before) for one in data), **_parts(more, rows, before))
        rest = [_taken(one, after) for one in data]
        yield Beginning(int(start), search, rest, _parts(more, rows, after))


def errors_on(
    held: Beginning, model: Any, metrics: list[Metric], spread: Spread, level: float
) -> tuple[dict[str, float], dict[str, float]]:
    """Errors of a model on what followed, and how good its intervals are, if it has any.

    Rows without a value are left out.
    """
    truth, outputs, judged = _outputs(held, model, level)
    errors = {}
    for metric in metrics:
        pair = compared(metric, truth, outputs)
        if metric.needs == "labels":
            pair = np.asarray(held.rest[1]), model.predict(held.rest[0])
        errors[metric.name] = float(metric.measure(*pair, spread))
    return errors, judged


def as_dataset(
    variables: dict[str, Any], starts: np.ndarray, horizon: int, level: float, metric: str
):
    """Errors by origin as the Dataset that `evaluate` returns."""
    import xarray as xr

    return xr.Dataset(
        {name: ("origin", np.array(values)) for name, values in variables.items()},
        {"origin": np.arange(len(starts)), "start": ("origin", starts)},
        {"horizon": horizon, "level": level, "metric": metric},
    )


def _interleaved(data, fit_params: dict[str, Any], rows: int):
    """Sequences and labels in an order of which every part holds the classes in proportion.

    Groups stay together, and of these each class of first members is spread out.
    """
    given = fit_params.get("groups")
    members = np.arange(rows) if given is None else np.asarray(given)
    first, group = np.unique(members, return_index=True, return_inverse=True)[1:]
    labels = np.asarray(data[1])[first]
    place = np.empty(len(first))
    rng = np.random.RandomState(0)
    for label in np.unique(labels):
        at = np.flatnonzero(labels == label)
        place[at] = (rng.permutation(len(at)) + rng.uniform()) / len(at)
    order = np.argsort(place[group], kind="stable")
    return tuple(_taken(one, order) for one in data), _parts(fit_params, rows, order)


def _taken(data: Any, at: np.ndarray):
    """Rows of an array, frame or list; as a view where they follow each other."""
    if len(at) and at[-1] - at[0] == len(at) - 1 and (np.diff(at) == 1).all():
        part = slice(int(at[0]), int(at[-1]) + 1)
        return data.iloc[part] if hasattr(data, "iloc") else data[part]
    if isinstance(data, list | tuple):
        return [data[i] for i in at]
    return data.iloc[at] if hasattr(data, "iloc") else data[at]


def _default_horizon(search, data, fit_params, rows: int) -> int:
    """The length of the longest validation set of the first scheme."""
    from sklearn.base import clone

    from echofold._validation.settings import resolve_schemes

    more = {name: value for name, value in fit_params.items() if name != "groups"}
    problem = clone(search.estimator)._read(*data, **more)
    groups = fit_params.get("groups")
    schemes = resolve_schemes(search.cv, problem, groups, check_metrics(search.metric))
    return int(min(next(iter(schemes.values())).sizes.max(), max(1, rows // 10)))


def _parts(fit_params: dict[str, Any], rows: int, at: np.ndarray) -> dict[str, Any]:
    """Rows of the keyword arguments that have as many as the data."""
    return {
        name: _taken(value, at) if np.ndim(value) and len(value) == rows else value
        for name, value in fit_params.items()
    }


def _check_values(task: Task, data: Sequence[Any], starts: np.ndarray, horizon: int) -> None:
    """Raise for a stretch in which no row has a value."""
    if task.labels:
        return
    there = _complete(_targets(data[task.targets]))
    for start in starts:
        if not there[start : start + horizon].any():
            raise ValueError(
                f"y is missing (NaN) in all rows from {start} to {start + horizon - 1}, which "
                f"should be scored (horizon={horizon}, origins={len(starts)}). Use a longer "
                "horizon, or fewer origins."
            )


def check_zeros(
    metrics: Sequence[Metric], values: np.ndarray, starts: np.ndarray, horizon: int
) -> None:
    """Raise for a value of zero that a metric would divide by, naming its row of the data."""
    rows = np.unique(np.asarray(starts)[:, None] + np.arange(horizon))
    scored = np.asarray(values, dtype=float).reshape(len(values), -1)[rows]
    if any(metric.needs == "relative" for metric in metrics):
        check_not_zero(scored, scored, rows)


def _targets(y: Any) -> np.ndarray:
    """Targets ``(rows,)`` or ``(rows, outputs)`` as they were given, NaN where missing."""
    table = read(y, "y", missing=True)
    return table.values[:, 0] if table.schema.flat else table.values


def _outputs(held: Beginning, model: Any, level: float):
    """True values, outputs, and how good the intervals around these are, if there are any."""
    task, rest = model._task, held.rest
    if task.fed_back:
        truth = _targets(rest[0])
        X = held.more.get("X", rest[1] if len(rest) > 1 else None)
        outcome = forecast_of(model, len(truth), X, [level, *LEVELS], warn=False)
        return truth, np.asarray(outcome.mean), judged(truth, outcome, level, _complete(truth))
    if task.labels:
        truth = (np.asarray(rest[1])[:, None] == model.classes_).astype(float)
        return truth, model._outputs(rest[0]), {}
    truth = _targets(rest[task.targets])
    return truth, np.asarray(model.predict(rest[0], start="last")), {}


def compared(metric: Metric, truth: np.ndarray, outputs: np.ndarray) -> Pair:
    """The rows that a metric compares: those with a value, as in a validation.

    Of a horizon all steps count, and one without a value is no error.
    """
    there = _complete(truth)
    if metric.needs != "lost":
        return truth[there], outputs[there]
    return np.where(there.reshape(-1, *[1] * (truth.ndim - 1)), truth, outputs), outputs


def _complete(truth: np.ndarray) -> np.ndarray:
    """Rows that have a value of every output."""
    return ~np.isnan(truth).reshape(len(truth), -1).any(axis=1)


def judged(truth: np.ndarray, forecast: Any, level: float, there: np.ndarray) -> dict[str, float]:
    """How good the intervals of a forecast at several levels are: at one of them, and in all.

    Only rows that are ``there`` count.
    """
    mean, lower, upper = forecast
    lower = {one: np.asarray(part)[there] for one, part in lower.items()}
    upper = {one: np.asarray(part)[there] for one, part in upper.items()}
    known, (low, high) = truth[there], (lower[level], upper[level])
    return {
        "coverage": float(((known >= low) & (known <= high)).mean()),
        "interval_score": interval_score(known, low, high, level),
        "crps": crps(known, Forecast(np.asarray(mean)[there], lower, upper)),
    }


def spread_of(task: Task, data: Sequence[Any]) -> Spread:
    """How far all targets spread, for stretches that are constant."""
    if task.labels:
        labels = np.asarray(data[task.targets])
        targets = (labels[:, None] == np.unique(labels)).astype(float)
    else:
        targets = _targets(data[task.targets])
        targets = targets.reshape(len(targets), -1)
    return spread_of_table(targets)


def spread_of_table(values: np.ndarray) -> Spread:
    """The spread of ``values (rows, outputs)``, without rows that lack the value of an output."""
    whole = np.where(_complete(values)[:, None], values, np.nan)
    return spread_of_rows([whole])._replace(rows=whole)
