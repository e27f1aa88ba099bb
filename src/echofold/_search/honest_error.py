"""An honest error: the whole search on growing beginnings of the data, scored on what follows."""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold._data.arguments import check_count
from echofold._data.tasks import Task
from echofold._validation.settings import check_metrics


def evaluate(search, *data, origins=5, horizon=None, level=0.9, **fit_params):
    """Repeat a whole search on growing beginnings of the data and score it on what follows.

    The validation error of a search's winner is flattered by having been chosen among many. Here
    every choice is made on the beginning alone, so the error on the rest is an honest estimate of
    what the search would do next. Sequences of a classifier have no order in time: they are
    shuffled first, so that every beginning and stretch has the classes in their proportions.

    Parameters
    ----------
    search : ESNSearchCV
        Not refitted itself; if it is fitted, the result is kept as its ``evaluation_``.
    *data, **fit_params
        What ``search.fit`` takes.
    origins : int
        Number of beginnings. The scored stretches follow each other and end with the data.
    horizon : int, optional
        Length of each stretch; by default that of the validation intervals of the first scheme.
    level : float
        Coverage asked of the prediction intervals of a forecaster.

    Returns
    -------
    xarray.Dataset
        Over ``origin``: the metric on what follows, the winner's ``validation`` score, for
        forecasters the ``coverage`` of the intervals, and where each stretch lies.

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
    if rows - origins * horizon < 20:
        raise ValueError(
            f"origins={origins} stretches of horizon={horizon} leave {rows - origins * horizon} of "
            f"{rows} rows to search on at first, at least 20 are needed. Use fewer origins or a "
            "shorter horizon."
        )
    if task.labels:
        data, fit_params = _interleaved(data, fit_params, rows)
    starts = rows - horizon * np.arange(origins, 0, -1)
    found: dict[str, list] = {metric.name: [] for metric in metrics}
    found |= {"validation": [], "coverage": []}
    for start in starts:
        # Not by clone, which copies space and splits for every origin. fit clones the estimator.
        fitted = type(search)(**{**search.get_params(deep=False), "checkpoint": None})
        fitted.fit(*(_part(d, 0, start) for d in data), **_parts(fit_params, rows, 0, start))
        rest = [_part(d, start, start + horizon) for d in data]
        more = _parts(fit_params, rows, start, start + horizon)
        truth, outputs, covered = _score(task, fitted, rest, more, horizon, level)
        for metric in metrics:
            scale = {"scale": _spread(data, task)} if metric.name == "nrmse" else {}
            pair = (truth, outputs)
            if metric.needs == "labels":
                pair = (np.asarray(rest[1]), fitted.predict(rest[0]))
            found[metric.name].append(metric.function(*pair, **scale))
        found["validation"].append(fitted.best_score_)
        found["coverage"].append(covered)
    if found["coverage"][0] is None:
        del found["coverage"]
    result = xr.Dataset(
        {name: ("origin", np.array(values)) for name, values in found.items()},
        {"origin": np.arange(origins), "start": ("origin", starts)},
        {"horizon": horizon, "level": level, "metric": metrics[0].name},
    )
    if hasattr(search, "results_"):
        search.evaluation_ = result
    return result


def _interleaved(data, fit_params: dict[str, Any], rows: int):
    """Sequences and labels in an order of which every part holds the classes in proportion."""
    labels = np.asarray(data[1])
    place = np.empty(rows)
    rng = np.random.RandomState(0)
    for label in np.unique(labels):
        at = np.flatnonzero(labels == label)
        place[at] = (rng.permutation(len(at)) + rng.uniform()) / len(at)
    order = np.argsort(place, kind="stable")
    more = {
        name: _taken(value, order) if np.ndim(value) and len(value) == rows else value
        for name, value in fit_params.items()
    }
    return tuple(_taken(one, order) for one in data), more


def _taken(data: Any, order: np.ndarray):
    """Rows of an array, frame or list in another order."""
    if isinstance(data, list | tuple):
        return [data[i] for i in order]
    return data.iloc[order] if hasattr(data, "iloc") else data[order]


def _default_horizon(search, data, fit_params, rows: int) -> int:
    """The length of the longest validation set of the first scheme."""
    from sklearn.base import clone

    from echofold._validation.settings import resolve_schemes

    more = {name: value for name, value in fit_params.items() if name != "groups"}
    problem = clone(search.estimator)._read(*data, **more)
    groups = fit_params.get("groups")
    schemes = resolve_schemes(search.cv, problem, groups, check_metrics(search.metric))
    return int(min(next(iter(schemes.values())).sizes.max(), rows // 10))


def _part(data: Any, start: int, stop: int):
    """Rows of an array, frame or list."""
    return data.iloc[start:stop] if hasattr(data, "iloc") else data[start:stop]


def _parts(fit_params: dict[str, Any], rows: int, start: int, stop: int) -> dict[str, Any]:
    """Rows of the keyword arguments that have as many as the data."""
    return {
        name: _part(value, start, stop) if np.ndim(value) and len(value) == rows else value
        for name, value in fit_params.items()
    }


def _score(task: Task, fitted, rest, more, horizon: int, level: float):
    """True values, outputs and the share of values inside the intervals (None without)."""
    if task.fed_back:
        X = more.get("X", rest[1] if len(rest) > 1 else None)
        outcome = fitted.forecast(horizon, X=X, level=level)
        truth = np.asarray(rest[0], dtype=float)
        low, high = np.asarray(outcome.lower), np.asarray(outcome.upper)
        covered = float(((truth >= low) & (truth <= high)).mean())
        return truth, np.asarray(outcome.mean), covered
    if task.labels:
        return *_class_outputs(fitted, rest), None
    outputs = np.asarray(fitted.predict(rest[0], start="last"))
    return np.asarray(rest[task.targets], dtype=float), outputs, None


def _class_outputs(fitted, rest):
    """True and computed outputs of a classifier, one column for each class."""
    model = fitted.best_estimator_
    truth = (np.asarray(rest[1])[:, None] == model.classes_).astype(float)
    return truth, model._outputs(rest[0])


def _spread(data, task: Task) -> float:
    """Mean squared deviation of all targets, for stretches that are constant."""
    targets = np.asarray(data[task.targets])
    if task.labels:
        targets = (targets[:, None] == np.unique(targets)).astype(float)
    targets = targets.reshape(len(targets), -1).astype(float)
    return float(((targets - targets.mean(axis=0)) ** 2).sum(axis=1).mean())
