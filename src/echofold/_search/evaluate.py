"""How good a search, or a model, is on what follows: `evaluate` and `backtest`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from echofold._data.arguments import (
    check_count,
    check_fit_params,
    check_integer,
    check_network,
    check_number,
    is_network,
)
from echofold._data.lazy import is_long
from echofold._data.panels import is_panel, panel_of
from echofold._data.problem import Problem, Task, check_steps, in_steps, in_words_of
from echofold._data.rows import Intervals, Runs
from echofold._data.tables import Table, read
from echofold._engine.drive import after_windows
from echofold._engine.lockstep import closed_loop_outputs
from echofold._engine.states import States, single, states_of
from echofold._folds.splits import RowSplits
from echofold._machine.device import choose_device, engine
from echofold._machine.notices import said_once
from echofold._machine.progress import one_piece
from echofold._models.ensemble import ForecastEnsemble
from echofold._models.forecast import Forecast, forecast_of
from echofold._models.forecaster import ESNForecaster
from echofold._search.auto import AutoForecaster
from echofold._search.final_models import readouts_by_ridge
from echofold._validation.score import check_zeros, complete, score_given, spread_of
from echofold._validation.settings import check_labels, check_metrics, check_task, resolve_schemes
from echofold.metrics import crps, interval_score
from echofold.metrics._metric import Metric
from echofold.metrics._targets import Spread

if TYPE_CHECKING:
    import xarray as xr

LEAST = 20  # rows that the shortest beginning must have
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
    what the search would do next. Sequences of a classifier have no order in time: they are
    shuffled first, so that every beginning and stretch has the classes in their proportions; with
    ``groups`` whole groups are shuffled, and none is both searched on and scored. Of several series
    in one model, each is cut by its own time, and what follows is scored series by series.

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
        for ``validation``.

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
    task = search._task
    metrics = check_metrics(
        (search.search or {}).get("metric", "rmse") if automatic else search.metric
    )
    if len(data) < task.needed:
        needed = ", ".join(task.data[: task.needed])
        raise TypeError(
            f"evaluate got {len(data)} data sets by position and needs {needed}: "
            f"evaluate(search, {needed}, ...)."
        )
    if automatic and is_panel(data[0]):
        raise TypeError(
            "evaluate repeats an AutoForecaster on beginnings of one series, and y holds several: "
            "give them one by one; verdict_ and errors_ of a fit tell how all did on their past."
        )
    if not task.labels and is_panel(data[0]):
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
    if task.labels:
        data, fit_params = _interleaved(data, fit_params, rows)
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
        {"horizon": horizon, "level": level, **_told(metrics[0])},
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
    if not search._task.fed_back:
        raise ValueError(
            "evaluate of several series is for forecasts, which go on in time. Use cross_validate "
            "with a scheme such as LeaveSeriesOut for a regressor."
        )
    panel, series = panel_of(data[0], "y")
    given = dict(zip(search._task.data[1:], data[1:], strict=False)) | fit_params
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
    values = [targets_of(search._task, [one]) for one in series]
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
    attrs = {"horizon": horizon, "level": level, **_told(metrics[0])}
    return _by_series(found, np.array(validation), starts, panel.names, attrs)


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
        outputs = np.asarray(model.predict(rest[0], start="last"))
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


def _told(metric: Metric) -> dict[str, str]:
    """What a Dataset says about the metric to judge by."""
    return {"metric": metric.name, "better": "higher" if metric.higher else "lower"}


# --- a model --------------------------------------------------------------------------------------


def backtest(
    model: Any,
    y: Any,
    starts: Any,
    horizon: int,
    *,
    X: Any = None,
    washout: int | None = None,
    metric: Any = "nrmse",
    refit: bool = False,
    first: Any = None,
) -> xr.Dataset:
    """Forecast from many starting points with one fitted model, and compare with what came.

    This judges a model that is there; `evaluate` repeats a whole search, which tells what choosing
    among candidates costs.

    With ``refit=False`` the readout stays as it is, and one pass over the data, or one over the
    washout of all starts side by side, is all there is to do. With ``refit=True`` the readout of
    each start is trained on everything before it, as if the model had been fitted anew there; rows
    are added to the factors of the start before, so this costs a few fits, not one for each start.

    Parameters
    ----------
    model : ESNForecaster, ensemble of them, or ESNSearchCV of a forecaster
        Fitted. Scaling and representation stay those that it learned.
    y : array, series or frame of shape (T,) or (T, outputs)
        A series of the kind that was given to `fit`: the same, longer, or another. Missing values
        (NaN) are filled as inputs, and not scored.
    starts : int or array of int
        Rows of ``y`` that forecasts begin with; or how many there shall be, spread evenly from the
        first possible one to the last.
    horizon : int
        Steps of each forecast.
    washout : int, optional
        How many rows before each start the state is warmed up on, from rest; all rows before it by
        default. With ``refit=True``, the first rows of ``y``, which are not trained on; as many as
        the model says by default.
    X : array or frame of shape (T, known inputs), optional
        Inputs known in advance, if `fit` was given any; row ``t`` belongs to ``y(t)``.
    metric : str, callable or list of these, default="nrmse"
        What each forecast is scored by, such as `metrics.horizon`.
    refit : bool, default=False
        Whether the readout is trained anew for each start. Scaling, weights and hyper-parameters
        are not, and an ensemble is combined by the same rule.
    first : int, optional
        For models with a ``season``, which must be told: the row of the data of `fit` that ``y``
        begins with; 0 if both begin alike, or the length of those data if ``y`` follows them.

    Returns
    -------
    xarray.Dataset
        ``forecast`` and ``truth`` over ``(start, step, output)``, ``error (start, step)``, the root
        mean square over outputs in the units of the data, and a score over ``start`` for each
        metric. The attribute ``spread`` is the root of the mean variance of ``y``, to compare
        errors with.

    See Also
    --------
    plots.error_growth, plots.horizons : draw the result.

    Examples
    --------
    >>> from echofold import ESNForecaster, backtest
    >>> from echofold.metrics import horizon
    >>> from echofold.systems import LYAPUNOV, lorenz63
    >>> y = lorenz63(3000, 0.02)
    >>> model = ESNForecaster(100, input_scaling=0.3, ridge=1e-8, random_state=0).fit(y[:1500])
    >>> time = horizon(0.2, step=0.02 * LYAPUNOV["lorenz63"])
    >>> found = backtest(model, y[1500:], starts=20, horizon=500, washout=100, metric=time)
    >>> found.forecast.shape
    (20, 500, 3)
    >>> bool(found.horizon.median() > 2)
    True
    """
    model = getattr(model, "best_estimator_", model)
    members = model.members if isinstance(model, ForecastEnsemble) else [model]
    _check_model(members, y, washout)
    check_count("horizon", horizon)
    metrics = check_metrics(metric)
    check_labels(metrics, members[0]._task)
    table = read(y, "y", missing=True)
    with one_piece("backtesting"):
        opening = washout if refit else 0  # rows that are neither trained on nor forecast
        problems = [
            one._problem(table, X, first, one.washout if opening is None else opening)
            for one in members
        ]
        if refit:
            problems = [
                check_steps(in_steps(problem, one._steps_at_once))
                for problem, one in zip(problems, members, strict=True)
            ]
        # To train on, or to warm up
        more = max(one._steps_at_once for one in members) if refit else washout or 0
        earliest = more + max(one.first_target for one in problems)
        at = _starts(starts, earliest, len(table.values), horizon)
        each = [
            _forecasts(one, problem, at, horizon, washout, refit)
            for one, problem in zip(members, problems, strict=True)
        ]
    check_zeros(metrics, table.values, at, horizon)
    forecasts = each[0]
    if isinstance(model, ForecastEnsemble):
        forecasts = np.stack([model._combine(runs) for runs in np.stack(each, axis=1)])
    return _backtested(table, at, forecasts, metrics)


def _check_model(members: list, y: Any, washout: Any) -> None:
    """Raise for what is no fitted forecaster, and for data that would have to be read in blocks."""
    for one in members:
        if not isinstance(one, ESNForecaster):
            raise TypeError(
                f"model={one!r}: expected a fitted ESNForecaster, an ensemble of them, or an "
                "ESNSearchCV of one."
            )
        one._reservoirs()  # raises before `fit`, and for several series
    if is_long(y):
        raise ValueError(
            "y is so long that it would be read in blocks; give backtest a part of it, as an array."
        )
    if washout is not None:
        check_integer("washout", washout, 0)


def _starts(given: Any, earliest: int, rows: int, horizon: int) -> np.ndarray:
    """The rows that forecasts begin with."""
    latest = rows - horizon
    if latest < earliest:
        raise ValueError(
            f"y has {rows} rows, too few for a forecast of horizon={horizon} after the "
            f"{earliest} rows that are needed before it. Give a longer series, or a shorter "
            "horizon or washout."
        )
    if np.ndim(given) == 0:
        check_count("starts", given)
        if given > latest - earliest + 1:
            raise ValueError(
                f"starts={given}: y has {latest - earliest + 1} rows that a forecast can begin "
                f"with, {earliest} to {latest}. Use fewer, or give the rows themselves."
            )
        return np.linspace(earliest, latest, int(given)).round().astype(int)
    at = np.asarray(given)
    if at.ndim != 1 or at.dtype.kind not in "iu" or not at.size:
        raise TypeError(
            f"starts={given!r}: expected rows of y as integers, or how many there shall be."
        )
    outside = at[(at < earliest) | (at > latest)]
    if outside.size:
        raise ValueError(
            f"starts holds {outside[0]}, but with horizon={horizon}, and what is needed before it, "
            f"a forecast of these {rows} rows can begin with rows {earliest} to {latest}."
        )
    return at.astype(int)


def _forecasts(
    model: ESNForecaster, problem: Problem, at: np.ndarray, horizon: int, washout, refit: bool
) -> np.ndarray:
    """Forecasts ``(starts, horizon, outputs)`` of one model, in original units."""
    r, places = model._reservoirs(), at - problem.first_target
    work = model._work(problem.rows), model._work(horizon, len(at))
    device = choose_device(model.device, *work)
    source = states_of(problem, r, device)
    if refit:
        # As `fit` does: a readout learns from states with noise, and runs on without it.
        kind = model.reservoir_
        noisy = kind.free() is not kind
        seen = single(problem, kind, model.seed_, model.device) if noisy else source
        W, runs = _refitted(model, seen, places, horizon), np.arange(len(places))
    else:
        W, runs = model.readout_[None], np.zeros(len(places), dtype=int)
    whole = refit or washout is None
    begins = source.begins(places) if whole else _warmed(source, places, washout)
    ahead = Runs(runs, places, np.full(len(places), horizon), problem.rows, len(W))
    outputs = closed_loop_outputs(source, W[None, :, None], begins, ahead)[0, :, :, 0]
    with np.errstate(over="ignore", invalid="ignore"):  # of runs that diverge
        return problem.scored.original(outputs)


def _warmed(source: States, places: np.ndarray, washout: int) -> np.ndarray:
    """Inputs and states ``(1, starts, inputs + size)``, each from rest over its own washout."""
    inputs = source.problem.inputs
    windows = inputs[places[:, None] + np.arange(-washout, 1)]
    with engine(source.device):
        states = after_windows(source.reservoirs, windows)
    return np.hstack([inputs[places], states])[None]


def _refitted(model: ESNForecaster, seen: States, places: np.ndarray, horizon: int) -> np.ndarray:
    """Readouts ``(starts, 1 + m, outputs)`` trained on what is ``seen`` before each start."""
    order = np.argsort(places, kind="stable")  # so that rows are only ever added
    train: list[Intervals] = [((0, a),) for a in places[order].tolist()]
    ahead: list[Intervals] = [((a, a + horizon),) for a in places[order].tolist()]
    splits = RowSplits("backtest", seen.problem.rows, train, ahead).in_steps(seen.problem.steps)
    check_task(seen.problem, splits, [])  # something must have a value to be trained on
    ridge = np.array([float(model.ridge)])
    found = readouts_by_ridge(seen, splits, ridge, bool(model.penalize_bias))
    return np.asarray(found.W)[0, np.argsort(order), 0]


def _backtested(table: Table, at: np.ndarray, forecasts: np.ndarray, metrics):
    """The Dataset that `backtest` returns."""
    import xarray as xr

    steps = np.arange(1, forecasts.shape[1] + 1)
    truth = table.values[at[:, None] + steps - 1]
    spread = spread_of(table.values)
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.sqrt(((forecasts - truth) ** 2).mean(axis=2))
    variables: dict[str, Any] = {
        "forecast": (("start", "step", "output"), forecasts),
        "truth": (("start", "step", "output"), truth),
        "error": (("start", "step"), error),
    }
    for one in metrics:
        scores = [score_given(one, *pair, spread) for pair in zip(truth, forecasts, strict=True)]
        variables[one.name] = ("start", np.array(scores))
    names = table.schema.names
    outputs = np.arange(truth.shape[2]) if names is None else np.array([str(n) for n in names])
    coords: dict[str, Any] = {"start": at, "step": steps, "output": outputs}
    if table.index is not None:
        coords["time"] = ("start", np.asarray(table.index)[at])
    attrs = {**_told(metrics[0]), "spread": float(np.sqrt(spread.deviation.mean()))}
    return xr.Dataset(variables, coords, attrs)
