"""How good a whole search, or recipe, is on what follows: `evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
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
from echofold._data.long_frames import in_long_frames
from echofold._data.panels import is_panel, panel_of
from echofold._data.problem import REGRESSION, Task, in_words_of
from echofold._data.tables import read
from echofold._machine.arrays import of_each
from echofold._machine.notices import said_once, warn_of
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
COLUMNS = ("id", "time", "target")  # by which a recipe takes series of a long frame
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
    table = read(given, "y", missing=True, field=True)
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
    check_count("origins", origins)
    check_number("level", level, "a number in (0, 1)", above=0, below=1)
    automatic = isinstance(search, AutoForecaster)
    if automatic and data and not fit_params.keys().isdisjoint(COLUMNS):
        columns = {name: fit_params.pop(name, None) for name in COLUMNS}
        X = data[1] if len(data) > 1 else fit_params.pop("X", None)
        y, X, words = in_long_frames(data[0], X, **columns)
        data, fit_params = (y,), fit_params | {"X": X}
        warn_of(words)
    task, metrics, several = _what_is_judged(search, data, fit_params)
    recipes = automatic and several
    whole = data, fit_params
    if not task.ordered:
        classes = np.asarray(data[1]) if task.labels else np.zeros(len(data[0]))
        data, fit_params = _interleaved(data, fit_params, classes)
    given = _by_name(task, data, fit_params) if several else {None: Part(list(data), fit_params)}
    rows = np.array([len(one.data[0]) for one in given.values()])
    if horizon is None:
        least = int(rows.min())
        horizon = search.horizon if automatic else _default_horizon(search, *whole, least)
    check_count("horizon", horizon)
    starts = starts_of(rows, origins, horizon)
    at = int(rows.argmax() if recipes else rows.argmin())  # others of a recipe may begin later
    which = f"rows of series {list(given)[at]!r}" if several else "rows"
    _check_left(starts[:, at], int(rows[at]), which, horizon, 1 if automatic else LEAST)
    of = in_words_of if several else nullcontext
    spreads = {}
    for (name, one), begins in zip(given.items(), starts.T, strict=True):
        if recipes:  # each has units of its own, and tells what is wrong with it
            continue
        with of(name):
            values = targets_of(task, one.data)
            spreads[name] = spread_of(values)
            if not task.labels:
                _check_values(values, begins, horizon)
                check_zeros(metrics, values, begins, horizon)

    def fresh(start: np.ndarray):
        # Not by clone, which copies space and splits for every origin. fit clones the estimator.
        return type(search)(**{**search.get_params(deep=False), "checkpoint": None})

    found: list[list[dict[str, Any]]] = []
    validation: list[float | None] = []
    groups = None if task.ordered else fit_params.get("groups")
    with said_once():
        for fitted, rest in beginnings(fresh, given, starts, horizon, several, groups):
            validation.append(fitted.verdict_.error if automatic else fitted.best_score_)
            model = fitted if automatic else fitted.best_estimator_
            if recipes:
                look_ahead(fitted, horizon)
            judged: dict[Any, dict[str, Any]] = {}
            for name, one in (model.series_ if several else {None: model}).items():
                with of(name):
                    judged[name] = (
                        _of_recipe(one, rest[name], level)
                        if recipes
                        else errors_on(rest[name], one, metrics, spreads[name], level)
                    )
            found.append([judged.get(name, {}) for name in given])
    attrs = {"horizon": horizon, "level": level}
    attrs |= told(resolve("mase") if recipes else metrics[0])
    result = _dataset(found, validation, starts, list(given) if several else None, attrs)
    if hasattr(search, "evaluation_"):
        search.evaluation_ = result
    return result


def _what_is_judged(
    search: Any, data: Sequence[Any], fit_params: dict[str, Any]
) -> tuple[Task, list[Metric], bool]:
    """The task, the metrics, and whether it is of several series; raise for what cannot be."""
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
    several = task.ordered and (is_panel(data[0]) or stacked)
    if several and not task.fed_back:
        raise ValueError(
            "evaluate of several series is for forecasts, which go on in time. Use cross_validate "
            "with a scheme such as LeaveSeriesOut for a regressor."
        )
    return task, metrics, several


def _by_name(task: Task, data: Sequence[Any], fit_params: dict[str, Any]) -> dict[Any, Part]:
    """Several series by their names, and what is known beside them."""
    panel, each = panel_of(data[0], "y")
    beside = dict(zip(task.data[1:], data[1:], strict=False)) | fit_params
    known = {name: panel.of(one, name) for name, one in beside.items() if one is not None}
    return {
        name: Part([one], {key: of_each[place] for key, of_each in known.items()})
        for place, (name, one) in enumerate(zip(panel.names, each, strict=True))
    }


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


def _of_recipe(one: AutoForecaster, rest: Part, level: float) -> dict[str, Any]:
    """Errors of one of several series on what followed, and those of plain forecasts."""
    truth = np.asarray(targets_of(one._task, rest.data)).reshape(-1)
    forecast = forecast_of(one, len(truth), rest.more.get("X"), [level, *LEVELS], warn=False)
    found: dict[str, Any] = {"mase": error_of(one, truth, np.asarray(forecast.mean))}
    if complete(truth).any():
        found |= _judged(truth, forecast, level)
    plain = plain_ahead(one, len(truth))
    return found | {"plain": {rule: error_of(one, truth, each[0]) for rule, each in plain.items()}}


def _dataset(
    found: list[list[dict[str, Any]]], validation: list, starts: np.ndarray, names: list | None,
    attrs: dict[str, Any],
) -> xr.Dataset:  # fmt: skip
    """What was ``found`` of every series at each origin, NaN where nothing could be.

    Without ``names`` there is one series, and no axis of series. Errors of ``plain`` forecasts have
    an axis of their own.
    """
    import xarray as xr

    axes = ("origin", "series") if names is not None else ("origin",)
    plain = [[one.pop("plain", {}) for one in each] for each in found]

    def of(name: str, held: list[list[dict[str, Any]]]) -> np.ndarray:
        values = np.array([[one.get(name, np.nan) for one in each] for each in held], dtype=float)
        return values if names is not None else values[:, 0]

    every, rules = (
        list(dict.fromkeys(name for each in held for one in each for name in one))
        for held in (found, plain)
    )
    start = starts if names is not None else starts[:, 0]
    result = xr.Dataset(
        {name: (axes, of(name, found)) for name in every},
        {"origin": np.arange(len(found)), "start": (axes, start)},
        attrs,
    ).assign(validation=("origin", np.array(validation, dtype=float)))
    if names is not None:
        labels = np.empty(len(names), dtype=object)
        labels[:] = names
        result = result.assign_coords(series=labels)
    if rules:
        errors = np.stack([of(rule, plain) for rule in rules], axis=-1)
        result = result.assign(plain=((*axes, "baseline"), errors)).assign_coords(baseline=rules)
    return result


def _check_left(starts: np.ndarray, rows: int, which: str, horizon: int, least: int) -> None:
    """Raise if too few rows are before the first of the stretches."""
    if starts[0] < least:
        remedy = "Use fewer origins or a shorter horizon."
        raise ValueError(
            f"origins={len(starts)} stretches of horizon={horizon} leave {max(0, starts[0])} of "
            f"{rows} {which} to search on at first, at least {least} are needed. "
            f"{remedy if rows > least else f'Give more than {least} rows.'}"
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


def starts_of(rows: Any, origins: int, horizon: int) -> np.ndarray:
    """Where stretches begin that follow each other and end with the data: ``(origins, series)``."""
    return np.atleast_1d(rows) - horizon * np.arange(origins, 0, -1)[:, None]


class Part(NamedTuple):
    """Rows of data as `fit` takes them, and of parameters beside them."""

    data: list
    more: dict[str, Any]

    def rows(self, at: np.ndarray) -> Part:
        """Some of the rows."""
        rows = len(self.data[0])
        return Part([_taken(one, at) for one in self.data], _parts(self.more, rows, at))


def beginnings(
    fresh: Callable[[np.ndarray], Any], given: dict[Any, Part], starts: np.ndarray, horizon: int,
    several: bool = False, groups: Any = None,
) -> Iterator[tuple[Any, dict[Any, Part]]]:  # fmt: skip
    """Fit what ``fresh(start)`` makes on the rows before each start; it, and the rows that follow.

    ``given`` is by name if there are ``several`` series, whose ``starts (origins, series)`` may lie
    before their first rows: they are left out then. Rows of a group that occurs in what follows are
    left out, too.
    """
    for start in starts:
        before, after = {}, {}
        for (name, one), first in zip(given.items(), start.tolist(), strict=True):
            rows, rest = np.arange(max(first, 0)), np.arange(first, first + horizon)
            if groups is not None:
                rows = rows[~np.isin(np.asarray(groups)[rows], np.asarray(groups)[rest])]
            if first > 0:
                before[name], after[name] = one.rows(rows), one.rows(rest)
        fitted = fresh(start)
        if several:
            names = next(iter(before.values())).more
            more = {key: {name: one.more[key] for name, one in before.items()} for key in names}
            fitted.fit({name: one.data[0] for name, one in before.items()}, **more)
        else:
            (one,) = before.values()
            fitted.fit(*one.data, **one.more)
        yield fitted, after


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
    rest: Part, model: Any, metrics: list[Metric], spread: Spread, level: float
) -> dict[str, float]:
    """Errors of a model on what followed and has a value; how good its intervals are, if any."""
    task, (first, *others) = model._task, rest.data
    judged: dict[str, float] = {}
    if task.labels:
        truth = (np.asarray(others[0])[:, None] == model.classes_).astype(float)
        outputs = model._outputs(first)
    elif task.fed_back:
        truth, X = targets_of(task, rest.data), rest.more.get("X", others[0] if others else None)
        if model.residuals_ is None:  # of several series, one too short to be validated
            outputs = _columns(forecast_of(model, len(truth), X, None, warn=False))
        else:
            forecast = forecast_of(model, len(truth), X, [level, *LEVELS], warn=False)
            forecast = of_each(_columns, forecast)
            outputs, judged = forecast.mean, _judged(truth, forecast, level)
    else:
        truth = targets_of(task, rest.data)
        goes_on = not hasattr(model, "summaries_")  # which nothing does after sequences
        outputs = np.asarray(model.predict(first, start="last" if goes_on else "zero"))
    errors = {
        metric.name: metric.measure(np.asarray(others[0]), model.predict(first), spread)
        if metric.needs == "labels"
        else score_given(metric, truth, outputs, spread)
        for metric in metrics
    }
    return errors | judged


def _columns(part: Any) -> np.ndarray:
    """Values ``(rows,)`` or ``(rows, outputs)``, those of a field in one axis."""
    values = np.asarray(part)
    return values if values.ndim < 3 else values.reshape(len(values), -1)


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
