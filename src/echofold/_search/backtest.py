"""Backtests: forecasts of a fitted model from many starting points, all side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from echofold._data.arguments import check_count, check_integer
from echofold._data.lazy import is_long
from echofold._data.problem import Problem
from echofold._data.rows import Intervals, Runs
from echofold._data.tables import Table, read
from echofold._engine.drive import after_windows
from echofold._engine.lockstep import closed_loop_outputs
from echofold._engine.states import States, single, states_of
from echofold._folds.splits import RowSplits
from echofold._machine.device import Work, engine, resolve
from echofold._machine.progress import one_piece
from echofold._models.ensemble import ForecastEnsemble, combined
from echofold._models.forecaster import ESNForecaster
from echofold._search.honest_error import check_zeros, compared, spread_of_table
from echofold._validation.settings import Settings, check_labels, check_metrics, check_task
from echofold._validation.validate import validate

if TYPE_CHECKING:
    import xarray as xr


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

    This judges a model that is there; `evaluate` judges a whole search, choices included, by
    repeating it.

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
    evaluate : repeats the whole search, which tells what choosing among candidates costs.
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
    _check(members, y, washout)
    check_count("horizon", horizon)
    metrics = check_metrics(metric)
    check_labels(metrics, members[0]._task)
    table = read(y, "y", missing=True)
    with one_piece("backtesting"):
        problems = [one._problem(table, X, first, _opening(one, washout, refit)) for one in members]
        earliest = max(1 + one.skipped for one in problems)
        if refit:
            earliest += 1  # something must be there to train on
        elif washout is not None:
            earliest += washout
        at = _starts(starts, earliest, len(table.values) - horizon, len(table.values), horizon)
        each = [
            _forecasts(one, problem, at, horizon, None if refit else washout, refit)
            for one, problem in zip(members, problems, strict=True)
        ]
    check_zeros(metrics, table.values, at, horizon)
    forecasts = each[0]
    if isinstance(model, ForecastEnsemble):
        forecasts = np.stack(
            [
                combined(np.stack(runs), model.range_, model.learns_logarithms)
                for runs in zip(*each, strict=True)
            ]
        )
    return _dataset(table, at, forecasts, metrics)


def _opening(model: ESNForecaster, washout: int | None, refit: bool) -> int | str:
    """Rows at the beginning that are neither trained on nor forecast."""
    if not refit:
        return 0
    return model.washout if washout is None else washout


def _check(members: list, y: Any, washout: Any) -> None:
    """Raise for what is no fitted forecaster, and for data that would have to be read in blocks."""
    for one in members:
        if not isinstance(one, ESNForecaster):
            raise TypeError(
                f"model={one!r}: expected a fitted ESNForecaster, an ensemble of them, or an "
                "ESNSearchCV of one."
            )
        check_is_fitted(one, "readout_")
    if is_long(y):
        raise ValueError(
            "y is so long that it would be read in blocks; give backtest a part of it, as an array."
        )
    if washout is not None:
        check_integer("washout", washout, 0)


def _starts(given: Any, earliest: int, latest: int, rows: int, horizon: int) -> np.ndarray:
    """The rows that forecasts begin with."""
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
    r, places = model._reservoirs(), at - 1 - problem.skipped
    work = Work(problem.rows, 1, r.shape[0]), Work(horizon, len(at), r.shape[0])
    source = states_of(problem, r, resolve(model.device, *work))
    if refit:
        # As `fit` does: a readout learns from states with noise, and runs on without it.
        kind = model.reservoir_
        noisy = kind.free() is not kind
        seen = single(problem, kind, model.seed_, model.device) if noisy else source
        W, runs = _refitted(model, seen, places, horizon), np.arange(len(places))
    else:
        W, runs = model.readout_[None], np.zeros(len(places), dtype=int)
    begins = source.begins(places) if washout is None else _warmed(source, places, washout)
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
    splits = RowSplits("backtest", seen.problem.rows, train, ahead, True)
    check_task(seen.problem, splits, [])  # something must have a value to be trained on
    ridge = np.array([float(model.ridge)])
    settings = Settings(ridge, bool(model.penalize_bias), check_metrics("mse"), readouts=True)
    found = validate(seen, {"backtest": splits}, settings, close=False)["backtest"]
    return np.asarray(found.W)[0, np.argsort(order), 0]


def _dataset(table: Table, at: np.ndarray, forecasts: np.ndarray, metrics):
    """The Dataset that `backtest` returns."""
    import xarray as xr

    steps = np.arange(1, forecasts.shape[1] + 1)
    truth = table.values[at[:, None] + steps - 1]
    spread = spread_of_table(table.values)
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.sqrt(((forecasts - truth) ** 2).mean(axis=2))
    variables: dict[str, Any] = {
        "forecast": (("start", "step", "output"), forecasts),
        "truth": (("start", "step", "output"), truth),
        "error": (("start", "step"), error),
    }
    for one in metrics:
        scores = [_score(one, *pair, spread) for pair in zip(truth, forecasts, strict=True)]
        variables[one.name] = ("start", np.array(scores))
    names = table.schema.names
    outputs = np.arange(truth.shape[2]) if names is None else np.array([str(n) for n in names])
    coords: dict[str, Any] = {"start": at, "step": steps, "output": outputs}
    if table.index is not None:
        coords["time"] = ("start", np.asarray(table.index)[at])
    attrs = {
        "metric": metrics[0].name,
        "better": "higher" if metrics[0].higher else "lower",
        "spread": float(np.sqrt(spread.deviation.mean())),
    }
    return xr.Dataset(variables, coords, attrs)


def _score(metric, truth: np.ndarray, forecast: np.ndarray, spread) -> float:
    """The score of one forecast on the rows that have a value; NaN if there are none."""
    if np.isnan(truth).any(axis=1).all():
        return np.nan
    known, found = compared(metric, truth, forecast)
    if metric.needs == "predictions" and not np.isfinite(found).all():
        return metric.worst
    return metric.measure(known, found, spread)
