"""How good a whole search, or recipe, is on what follows: `evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from echofold._data.arguments import (
    check_count,
    check_fit_params,
    check_network,
    check_number,
    is_network,
)
from echofold._data.panels import is_panel, panel_of
from echofold._data.problem import REGRESSION, Task, in_words_of
from echofold._data.tables import read
from echofold._machine.notices import said_once
from echofold._models.forecast import Forecast, forecast_of
from echofold._search.auto import AutoForecaster
from echofold._search.panel import error_of, look_ahead, plain_ahead
from echofold._validation.score import check_zeros, complete, score_given, spread_of
from echofold._validation.settings import check_metrics, resolve_schemes
from echofold.metrics import crps, interval_score
from echofold.metrics._metric import Metric, resolve
from echofold.metrics._targets import Spread

if TYPE_CHECKING:
    import xarray as xr

LEAST = 20  # rows that the shortest beginning must have
NOTHING: tuple[dict[str, float], dict[str, float]] = {}, {}  # of a series that had not begun
LEVELS = tuple(level / 10 for level in range(1, 10))  # that the CRPS is computed from


# --- values, and scores of what stands for them ---------------------------------------------------


def targets_of(task: Task, data: Sequence[Any]) -> np.ndarray:
    """Targets ``(rows,)`` or ``(rows, outputs)`` as they were given, NaN where missing.

    Those of labels are one column for each class.
    """
    given = data[task.targets]
    if task.labels:
        labels = np.asarray(given)
        return (labels[:, None] == np.unique(labels)).astype(float)
    table = read(given, "y", missing=True)
    return table.values[:, 0] if table.schema.flat else table.values


# --- a whole search -------------------------------------------------------------------------------


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
    what the search would do next. Whole sequences have no order in time: they are shuffled first,
    so that every beginning and stretch has the classes, if any, in their proportions; with
    ``groups`` whole groups are shuffled, and none is both searched on and scored. Of several series
    in one model, or in one recipe, all are cut alike from their ends, and what follows is scored
    series by series.

    Parameters
    ----------
    search : ESNSearchCV or AutoForecaster
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
        their ``interval_score``, and the ``crps``. Of several series over ``(origin, series)``, but
        for ``validation``. An `AutoForecaster` of several tells errors as ``mase``, in units of
        each series' mean change over a season before the origin, and beside them those of ``plain``
        forecasts over ``(origin, series, baseline)``; NaN where a series had not begun.

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
    import xarray as xr

    check_count("origins", origins)
    check_number("level", level, "a number in (0, 1)", above=0, below=1)
    _check_search(search)
    automatic = isinstance(search, AutoForecaster)
    check_fit_params(
        evaluate, search if automatic else search.estimator, fit_params.keys() - {"groups"}
    )
    task = search._task if automatic else search.estimator._task
    metrics = check_metrics(
        (search.search or {}).get("metric", "rmse") if automatic else search.metric
    )
    if len(data) < task.needed:
        needed = ", ".join(task.data[: task.needed])
        raise TypeError(
            f"evaluate got {len(data)} data sets by position and needs {needed}: "
            f"evaluate(search, {needed}, ...)."
        )
    if not automatic:
        task = search.estimator._task_on(*data)
    stacked = task is REGRESSION and getattr(data[0], "ndim", 2) == 3
    if task.ordered and (is_panel(data[0]) or stacked):
        if automatic:
            steps = search.horizon if horizon is None else horizon
            result = _of_recipes(search, data, origins, steps, level, fit_params)
        else:
            result = _of_panel(search, data, origins, horizon, level, fit_params, metrics)
        if hasattr(search, "evaluation_"):
            search.evaluation_ = result
        return result
    rows = len(data[0])
    if horizon is None and automatic:
        horizon = search.horizon
    elif horizon is None:
        horizon = _default_horizon(search, data, fit_params, rows)
    check_count("horizon", horizon)
    least = 1 if automatic else LEAST
    if rows - origins * horizon < least:
        remedy = "Use fewer origins or a shorter horizon."
        raise ValueError(
            f"origins={origins} stretches of horizon={horizon} leave "
            f"{max(0, rows - origins * horizon)} of {rows} rows to search on at first, at least "
            f"{least} are needed. {remedy if rows > least else f'Give more than {least} rows.'}"
        )
    groups = None
    if not task.ordered:
        classes = np.asarray(data[1]) if task.labels else np.zeros(rows)
        data, fit_params = _interleaved(data, fit_params, classes)
        groups = fit_params.get("groups")

    def fresh(start: int):
        # Not by clone, which copies space and splits for every origin. fit clones the estimator.
        return type(search)(**{**search.get_params(deep=False), "checkpoint": None})

    starts, values = starts_of(rows, origins, horizon), targets_of(task, data)
    spread = spread_of(values)
    if not task.labels:
        _check_values(values, starts, horizon)
        check_zeros(metrics, values, starts, horizon)
    variables: dict[str, list] = {metric.name: [] for metric in metrics} | {"validation": []}
    with said_once():
        for held in beginnings(fresh, data, starts, horizon, fit_params, groups):
            model = held.search if automatic else held.search.best_estimator_
            errors, judged = errors_on(held, model, metrics, spread, level)
            errors["validation"] = model.verdict_.error if automatic else held.search.best_score_
            for name, error in (errors | judged).items():
                variables.setdefault(name, []).append(error)
    result = xr.Dataset(
        {name: ("origin", np.array(values)) for name, values in variables.items()},
        {"origin": np.arange(len(starts)), "start": ("origin", starts)},
        {"horizon": horizon, "level": level, **told(metrics[0])},
    )
    if hasattr(search, "evaluation_"):
        search.evaluation_ = result
    return result


def _check_search(search: Any) -> None:
    """Raise for what is no search of one of the library's estimators."""
    if hasattr(search, "space") and hasattr(search, "estimator"):
        check_network(search.estimator)
        return
    if isinstance(search, AutoForecaster):
        return
    if is_network(search):
        raise TypeError(
            f"search={search!r} is an estimator, expected an ESNSearchCV: wrap it, as "
            "ESNSearchCV(estimator, {'ridge': [...]}), or use cross_validate for the estimator "
            "as it is, and backtest for a fitted forecaster."
        )
    raise TypeError(
        f"search={search!r}: expected an ESNSearchCV, as ESNSearchCV(ESNForecaster(), space), or "
        "an AutoForecaster."
    )


def _default_horizon(search, data, fit_params, rows: int) -> int:
    """The length of the longest validation set of the first scheme, a tenth of the rows at most."""
    more = {name: value for name, value in fit_params.items() if name != "groups"}
    problem, groups = clone(search.estimator)._read(*data, **more), fit_params.get("groups")
    schemes = resolve_schemes(search.cv, problem, groups, check_metrics(search.metric))
    splits = next(iter(schemes.values()))
    longest = splits.runs.longest if problem.each else splits.sizes.max()
    return int(min(longest, max(1, rows // 10)))


def _of_panel(
    search, data, origins: int, horizon: int | None, level: float, fit_params, metrics: list[Metric]
) -> xr.Dataset:
    """`evaluate` of several series in one model, each by its own time."""
    task = search.estimator._task
    if not task.fed_back:
        raise ValueError(
            "evaluate of several series is for forecasts, which go on in time. Use cross_validate "
            "with a scheme such as LeaveSeriesOut for a regressor."
        )
    panel, series = panel_of(data[0], "y")
    given = dict(zip(task.data[1:], data[1:], strict=False)) | fit_params
    beside = {name: panel.of(one, name) for name, one in given.items() if one is not None}
    rows = np.array([len(one) for one in series])
    if horizon is None:
        horizon = _default_horizon(search, data, fit_params, int(rows.min()))
    check_count("horizon", horizon)
    starts = rows - horizon * np.arange(origins, 0, -1)[:, None]  # (origins, series)
    if starts.min() < LEAST:
        raise ValueError(
            f"origins={origins} stretches of horizon={horizon} leave fewer than {LEAST} rows of "
            f"series {panel.names[int(rows.argmin())]!r}, which has {rows.min()}, to search on at "
            "first. Use fewer origins or a shorter horizon, or leave short series out."
        )
    values = [targets_of(task, [one]) for one in series]
    for name, one, begin in zip(panel.names, values, starts.T, strict=True):
        with in_words_of(name):
            _check_values(one, begin, horizon)
            check_zeros(metrics, one, begin, horizon)
    spreads = [spread_of(one) for one in values]
    found: list[list[dict[str, float]]] = []
    validation = []
    with said_once():
        for begin in starts:
            fresh = type(search)(**{**search.get_params(deep=False), "checkpoint": None})
            before = [np.arange(start) for start in begin]
            after = [np.arange(start, start + horizon) for start in begin]
            fresh.fit(
                list(map(_taken, series, before)),
                **{name: list(map(_taken, each, before)) for name, each in beside.items()},
            )
            validation.append(fresh.best_score_)
            views, of_series = fresh.best_estimator_.series_.values(), []
            for place, (view, at, spread) in enumerate(zip(views, after, spreads, strict=True)):
                more = {"X": _taken(beside["X"][place], at)} if "X" in beside else {}
                held = Beginning(fresh, [_taken(series[place], at)], more)
                with in_words_of(panel.names[place]):
                    errors, judged = errors_on(held, view, metrics, spread, level)
                of_series.append(errors | judged)
            found.append(of_series)
    attrs = {"horizon": horizon, "level": level, **told(metrics[0])}
    return _by_series(found, np.array(validation), starts, panel.names, attrs)


def _of_recipes(
    search: AutoForecaster, data, origins: int, horizon: int, level: float, fit_params
) -> xr.Dataset:
    """`evaluate` of an `AutoForecaster` of several series, all cut alike from their ends."""
    check_count("horizon", horizon)
    panel, series = panel_of(data[0], "y")
    X = data[1] if len(data) > 1 else fit_params.get("X")
    known = panel.of(X, "X")
    starts = np.array([len(one) for one in series]) - horizon * np.arange(origins, 0, -1)[:, None]
    if (starts < 1).all(axis=1).any():
        raise ValueError(
            f"origins={origins} stretches of horizon={horizon} leave no row of any series to "
            f"search on at first: the longest has {max(map(len, series))}. Use fewer origins or a "
            "shorter horizon."
        )

    def rows(data: Any, first: int, last: int) -> Any:
        return None if data is None else _taken(data, np.arange(first, last))

    found: list[list[dict[str, float]]] = []
    plain: list[list[dict[str, float]]] = []
    validation = []
    with said_once():
        for begin in starts.tolist():
            each = zip(panel.names, series, known, begin, strict=True)
            begun = {name: (one, own, start) for name, one, own, start in each if start > 0}
            fresh = type(search)(**{**search.get_params(deep=False), "checkpoint": None})
            before = {name: (rows(y, 0, n), rows(own, 0, n)) for name, (y, own, n) in begun.items()}
            beside = {name: own for name, (_, own) in before.items()}
            fresh.fit({name: y for name, (y, _) in before.items()}, None if X is None else beside)
            look_ahead(fresh, horizon)
            validation.append(np.nan if fresh.verdict_.error is None else fresh.verdict_.error)
            judged = {}
            for name, one in fresh.series_.items():
                y, own, n = begun[name]
                after = rows(y, n, n + horizon), rows(own, n, n + horizon)
                with in_words_of(name):
                    judged[name] = _of_recipe(one, *after, level)
            found.append([judged.get(name, NOTHING)[0] for name in panel.names])
            plain.append([judged.get(name, NOTHING)[1] for name in panel.names])
    attrs = {"horizon": horizon, "level": level, **told(resolve("mase"))}
    result = _by_series(found, np.array(validation), starts, panel.names, attrs)
    rules = list(dict.fromkeys(rule for origin in plain for one in origin for rule in one))
    errors = [[[one.get(rule, np.nan) for rule in rules] for one in origin] for origin in plain]
    axes = ("origin", "series", "baseline")
    return result.assign(plain=(axes, np.array(errors))).assign_coords(baseline=rules)


def _of_recipe(
    one: AutoForecaster, y: Any, X: Any, level: float
) -> tuple[dict[str, float], dict[str, float]]:
    """Errors of one of several series on what followed, and those of plain forecasts."""
    truth = np.asarray(targets_of(one._task, [y])).reshape(-1)
    forecast = forecast_of(one, len(truth), X, [level, *LEVELS], warn=False)
    errors = {"mase": error_of(one, truth, np.asarray(forecast.mean))}
    if complete(truth).any():
        errors |= _judged(truth, forecast, level)
    others = plain_ahead(one, len(truth))
    return errors, {name: error_of(one, truth, each[0]) for name, each in others.items()}


def _by_series(
    found: list[list[dict[str, float]]], validation, starts, names: tuple, attrs: dict[str, Any]
) -> xr.Dataset:
    """What was ``found`` of every series at each origin; NaN where nothing could be."""
    import xarray as xr

    axes, labels = ("origin", "series"), np.empty(len(names), dtype=object)
    labels[:] = names
    every = dict.fromkeys(name for each in found for one in each for name in one)
    variables = {
        name: (axes, np.array([[one.get(name, np.nan) for one in each] for each in found]))
        for name in every
    }
    return xr.Dataset(
        {**variables, "validation": ("origin", validation)},
        {"origin": np.arange(len(found)), "series": labels, "start": (axes, starts)},
        attrs,
    )


def _check_values(values: np.ndarray, starts: np.ndarray, horizon: int) -> None:
    """Raise for a stretch in which no row has a value."""
    there = complete(values)
    for start in starts:
        if not there[start : start + horizon].any():
            raise ValueError(
                f"y is missing (NaN) in all rows from {start} to {start + horizon - 1}, which "
                f"should be scored (horizon={horizon}, origins={len(starts)}). Use a longer "
                "horizon, or fewer origins."
            )


def starts_of(rows: int, origins: int, horizon: int) -> np.ndarray:
    """Where stretches begin that follow each other and end with the data."""
    return rows - horizon * np.arange(origins, 0, -1)


class Beginning(NamedTuple):
    """A search fitted on a beginning of the data, and the data and parameters that follow."""

    search: Any
    rest: list
    more: dict[str, Any]


def beginnings(
    fresh: Callable[[int], Any],
    data: Sequence[Any],
    starts: np.ndarray,
    horizon: int,
    fit_params: dict[str, Any],
    groups: Any = None,
) -> Iterator[Beginning]:
    """Fit the search that ``fresh(start)`` makes on the data before each start.

    Rows of a group that occurs in what follows are left out before it, too.
    """
    rows = len(data[0])
    for start in starts:
        before, after = np.arange(start), np.arange(start, start + horizon)
        if groups is not None:
            before = before[~np.isin(np.asarray(groups)[before], np.asarray(groups)[after])]
        search = fresh(start)
        search.fit(*(_taken(one, before) for one in data), **_parts(fit_params, rows, before))
        rest = [_taken(one, after) for one in data]
        yield Beginning(search, rest, _parts(fit_params, rows, after))


def _taken(data: Any, at: np.ndarray):
    """Rows of an array, frame or list; as a view where they follow each other."""
    part: Any = at
    if len(at) and at[-1] - at[0] == len(at) - 1 and (np.diff(at) == 1).all():
        part = slice(int(at[0]), int(at[-1]) + 1)
    elif isinstance(data, list | tuple):
        return [data[i] for i in at]
    return data.iloc[part] if hasattr(data, "iloc") else data[part]


def _parts(fit_params: dict[str, Any], rows: int, at: np.ndarray) -> dict[str, Any]:
    """Rows of the keyword arguments that have as many as the data."""
    return {
        name: _taken(value, at) if np.ndim(value) and len(value) == rows else value
        for name, value in fit_params.items()
    }


def _interleaved(data, fit_params: dict[str, Any], classes: np.ndarray):
    """Sequences and targets in an order of which every part holds the classes in proportion.

    Groups stay together, and of these each class of first members is spread out.
    """
    given, rows = fit_params.get("groups"), len(classes)
    members = np.arange(rows) if given is None else np.asarray(given)
    first, group = np.unique(members, return_index=True, return_inverse=True)[1:]
    labels = classes[first]
    place = np.empty(len(first))
    rng = np.random.RandomState(0)
    for label in np.unique(labels):
        at = np.flatnonzero(labels == label)
        place[at] = (rng.permutation(len(at)) + rng.uniform()) / len(at)
    order = np.argsort(place[group], kind="stable")
    return tuple(_taken(one, order) for one in data), _parts(fit_params, rows, order)


def errors_on(
    held: Beginning, model: Any, metrics: list[Metric], spread: Spread, level: float
) -> tuple[dict[str, float], dict[str, float]]:
    """Errors of a model on what followed and has a value; how good its intervals are, if any."""
    task, rest = model._task, held.rest
    judged: dict[str, float] = {}
    errors: dict[str, float] = {}
    if task.labels:
        truth = (np.asarray(rest[1])[:, None] == model.classes_).astype(float)
        outputs = model._outputs(rest[0])
    elif task.fed_back:
        truth, X = targets_of(task, rest), held.more.get("X", rest[1] if len(rest) > 1 else None)
        if model.residuals_ is None:  # of several series, one too short to be validated
            outputs = np.asarray(forecast_of(model, len(truth), X, None, warn=False))
        else:
            forecast = forecast_of(model, len(truth), X, [level, *LEVELS], warn=False)
            outputs, judged = np.asarray(forecast.mean), _judged(truth, forecast, level)
    else:
        truth = targets_of(task, rest)
        start = "zero" if hasattr(model, "states_") else "last"  # after sequences nothing goes on
        outputs = np.asarray(model.predict(rest[0], start=start))
    for metric in metrics:
        if metric.needs == "labels":
            labels = np.asarray(rest[1]), model.predict(rest[0])
            errors[metric.name] = metric.measure(*labels, spread)
        else:
            errors[metric.name] = score_given(metric, truth, outputs, spread)
    return errors, judged


def _judged(truth: np.ndarray, forecast: Forecast, level: float) -> dict[str, float]:
    """How good intervals are where there is a value: at one level, and at all."""
    there = complete(truth)
    lower, upper = (
        {one: np.asarray(part)[there] for one, part in ends.items()}
        for ends in (forecast.lower, forecast.upper)
    )
    known, (low, high) = truth[there], (lower[level], upper[level])
    return {
        "coverage": float(((known >= low) & (known <= high)).mean()),
        "interval_score": interval_score(known, low, high, level),
        "crps": crps(known, Forecast(np.asarray(forecast.mean)[there], lower, upper)),
    }


def told(metric: Metric) -> dict[str, str]:
    """What a Dataset says about the metric to judge by."""
    return {"metric": metric.name, "better": "higher" if metric.higher else "lower"}
