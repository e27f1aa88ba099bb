"""How good a model is on what follows: `backtest`, of one series or of several in one model."""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from echofold._data.arguments import check_count, check_integer
from echofold._data.lazy import is_long
from echofold._data.panels import is_panel
from echofold._data.problem import (
    FORECASTING,
    Problem,
    check_steps,
    in_series,
    in_steps,
    in_words_of,
    joined,
)
from echofold._data.rows import Intervals, Runs
from echofold._data.tables import Table, read_rows
from echofold._data.text import inflected
from echofold._engine.drive import after_windows
from echofold._engine.lockstep import closed_loop_outputs
from echofold._engine.states import States, states_of
from echofold._folds.splits import RowSplits
from echofold._machine.device import choose_device, engine, is_accelerator
from echofold._machine.notices import said_once, warn_of
from echofold._machine.progress import one_piece
from echofold._models.ensemble import ForecastEnsemble
from echofold._models.following import places_of, trained_part
from echofold._models.forecaster import ESNForecaster
from echofold._models.learning import Learning
from echofold._search.auto import AutoForecaster
from echofold._search.evaluate import told
from echofold._search.final_models import readouts_by_ridge
from echofold._validation.refit import Triangle
from echofold._validation.score import check_zeros, score_given, spread_of
from echofold._validation.settings import check_labels, check_metrics, check_task

if TYPE_CHECKING:
    import xarray as xr

MARK = 20  # values that tell where a forecaster stands in others without dates
SEVERAL = 4  # features for each start, from which on adding rows to one factor is quickest


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
    among candidates costs. An `AutoForecaster` is moved on from start to start, as by `update`: its
    members and their weights stay.

    With ``refit=False`` the readout stays as it is, and one pass over the data, or one over the
    washout of all starts side by side, is all there is to do. With ``refit=True`` the readout of
    each start is trained on everything before it, as if the model had been fitted anew there; rows
    are added to the factors of the start before, so this costs a few fits, not one for each start.

    Parameters
    ----------
    model : ESNForecaster, ensemble of them, ESNSearchCV of a forecaster, or AutoForecaster
        Fitted. Scaling and representation stay those that it learned. One of several series takes
        ``y`` and ``X`` in the kind that these were given in. Forecasts of rows that it was trained
        on are warned of, if the first or the last of these rows are in ``y``.
    y : array, series or frame of shape (T,) or (T, outputs)
        A series of the kind that was given to `fit`: the same, longer, or another; of an
        AutoForecaster longer, or what came right after it. Missing values (NaN) are filled as
        inputs, and not scored.
    starts : int or array of int
        Rows of ``y`` that forecasts begin with; or how many there shall be, spread evenly from the
        first possible one to the last. Each of several series counts its own rows, and may have
        starts of its own, in the kind of ``y``. With ``refit=True`` all of them are cut alike, at
        as many dates as are asked for or, without dates, as many rows before the end of each.
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
        begins with; 0 if both begin alike, or the length of those data if ``y`` follows them. Of
        several series one for all, or one for each in the kind of ``y``.

    Returns
    -------
    xarray.Dataset; of several series a list, tuple or dict with one for each
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
    check_count("horizon", horizon)
    metrics = check_metrics(metric)
    check_labels(metrics, FORECASTING)
    if isinstance(model, AutoForecaster):
        if refit or washout is not None or first is not None:
            raise ValueError(
                "refit, washout and first are for networks, and model is an AutoForecaster. Leave "
                "them out; evaluate(model, y) finds everything anew at each origin."
            )
        with one_piece("backtesting"), said_once():
            if not hasattr(model, "series_"):
                return _backtest_recipe(model, y, X, starts, horizon, metrics)
            panel, found = model.panel_, []
            both = panel.of(y, "y", "the model"), panel.of(X, "X")
            for name, own, known in zip(panel.names, *both, strict=True):
                with in_words_of(name):
                    found.append(
                        _backtest_recipe(model.series_[name], own, known, starts, horizon, metrics)
                    )
            return panel.write(found)
    if hasattr(model, "series_") and is_panel(y):
        with one_piece("backtesting"):
            return _backtest_panel(model, y, X, starts, horizon, washout, metrics, refit, first)
    members = model.members if isinstance(model, ForecastEnsemble) else [model]
    with one_piece("backtesting"):
        table, problems, earliest = _given(members, y, X, washout, refit, first)
        at = _starts(starts, earliest, len(table.values), horizon)
        each = [
            _forecasts(one, problem, at, horizon, washout, refit)
            for one, problem in zip(members, problems, strict=True)
        ]
    if not refit:
        warn_of(_words_of_trained(members[0], table, at, horizon))
    forecasts = each[0]
    if isinstance(model, ForecastEnsemble):
        forecasts = np.stack([model._combine(runs) for runs in np.stack(each, axis=1)])
    return _backtested(table, at, forecasts, metrics)


def _backtest_recipe(
    model: AutoForecaster, y: Any, X: Any, starts: Any, horizon: int, metrics: Any
) -> Any:
    """`backtest` of an automatic forecast, which is moved on from one start to the next."""
    check_is_fitted(model, "weights_")
    table, _ = read_rows(y, "y", False)
    model.y_schema_.check(table.schema, "y")
    stands = _seen_by(model, table)
    at = _starts(starts, stands, len(table.values), horizon)
    moved, forecasts = copy(model), np.empty((len(at), horizon, 1))

    def rows(data: Any, first: int, last: int) -> Any:
        data = getattr(data, "iloc", data)
        return None if data is None else data[first:last]

    for place in np.argsort(at, kind="stable"):
        start = int(at[place])
        if start > stands:
            moved.update(rows(y, stands, start), rows(X, stands, start))
        ahead = moved.forecast(horizon, rows(X, start, start + horizon)).mean
        forecasts[place, :, 0], stands = np.asarray(ahead), start
    return _backtested(table, at, forecasts, metrics)


def _seen_by(model: AutoForecaster, table: Table) -> int:
    """How many of the first rows a forecaster has seen: by dates, else by its last values."""
    if model.timeline_ is not None and table.index is not None:
        return int(np.count_nonzero(table.index <= model.timeline_.last))
    last = model.values_[-MARK:, None]
    found = places_of(last, table.values)
    return found[0] + len(last) if len(found) == 1 else 0


class Given(NamedTuple):
    """A series to backtest on, the problem that it is to each member, and the earliest start."""

    table: Table
    problems: list[Problem]
    earliest: int


def _given(members: list, y: Any, X: Any, washout: Any, refit: bool, first: Any) -> Given:
    """Read a series as the members of a model do."""
    _check_model(members, y, washout)
    table = members[0]._read_table(y)
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
    return Given(table, problems, more + max(one.first_target for one in problems))


def _backtest_panel(
    model: ESNForecaster, y: Any, X: Any, starts: Any, horizon: int, washout, metrics, refit: bool,
    first: Any,
) -> Any:  # fmt: skip
    """`backtest` of several series in one model: a Dataset of each, in the kind of the panel."""
    panel = model.panel_
    names, views = panel.names, list(model.series_.values())

    def of_each(value: Any, argument: str) -> list[Any]:
        """What each series has of an argument that one value may stand for."""
        alone = value is None or np.ndim(value) == 0 and not isinstance(value, dict)
        return len(names) * [value] if alone else panel.of(value, argument)

    given = []
    for name, view, *own in zip(
        names, views, panel.of(y, "y", "the model"), panel.of(X, "X"), of_each(first, "first"),
        strict=True,
    ):  # fmt: skip
        with in_words_of(name):
            given.append(_given([view], own[0], own[1], washout, refit, own[2]))
    learned = None
    if refit:
        at = list(_cut_alike(starts, given, names, horizon))
        problems = [one.problems[0] for one in given]
        places = np.stack([a - one.first_target for a, one in zip(at, problems, strict=True)])
        together, view = joined(problems, names), views[0]
        device = choose_device(view.device, view._work(together.rows))
        source = states_of(together, view._reservoirs(), device)
        learned = _refitted(model, _as_fitted(view, source), places, horizon)
    else:
        each = of_each(starts, "starts") if is_panel(starts) else len(names) * [starts]
        at = []
        for name, one, own in zip(names, given, each, strict=True):
            with in_words_of(name):
                at.append(_starts(own, one.earliest, len(one.table.values), horizon))
    if not refit:
        words = [
            (name, _words_of_trained(view, one.table, own, horizon))
            for name, view, one, own in zip(names, views, given, at, strict=True)
        ]
        warn_of(in_series(words))
    found: list[Any] = []
    for place, (name, view, one, own) in enumerate(zip(names, views, given, at, strict=True)):
        with in_words_of(name):
            (problem,) = one.problems
            W = learned if learned is None or learned.ndim == 3 else learned[:, place]
            forecasts = _forecasts(view, problem, own, horizon, washout, refit, W)
            found.append(_backtested(one.table, own, forecasts, metrics))
    return panel.write(found)


def _cut_alike(count: Any, given: list[Given], names: tuple, horizon: int) -> np.ndarray:
    """Starts ``(series, starts)`` at the same dates, or as many rows before the ends of all."""
    check_count("starts", count, "with refit=True all of several series are cut alike")
    for name, one in zip(names, given, strict=True):
        with in_words_of(name):
            _starts(1, one.earliest, len(one.table.values), horizon)
    indices = [one.table.index for one in given]
    if all(type(index).__name__ in ("DatetimeIndex", "PeriodIndex") for index in indices):
        first = max(index[one.earliest] for index, one in zip(indices, given, strict=True))
        last = min(index[-horizon] for index in indices)
        dates = indices[0].append(indices[1:]).unique().sort_values()
        shared = dates[(dates >= first) & (dates <= last)]
        if len(shared) < count:
            raise ValueError(
                f"starts={count}: there are {len(shared)} dates, from {first!s} to {last!s}, at "
                "which every series has enough before it to be trained on, and "
                f"horizon={horizon} rows after it. Use fewer starts, a shorter horizon, or series "
                "that overlap."
            )
        chosen = shared[np.linspace(0, len(shared) - 1, int(count)).round().astype(int)]
        return np.stack([index.searchsorted(chosen) for index in indices])
    rows = np.array([len(one.table.values) for one in given])
    least = int(np.argmin(rows - [one.earliest for one in given]))
    with in_words_of(names[least]):
        at = _starts(int(count), given[least].earliest, int(rows[least]), horizon)
    return at + (rows - rows[least])[:, None]


def _check_model(members: list, y: Any, washout: Any) -> None:
    """Raise for what is no fitted forecaster, and for data that would have to be read in blocks."""
    for one in members:
        if not isinstance(one, ESNForecaster):
            raise TypeError(
                f"model={one!r}: expected a fitted ESNForecaster, an ensemble of them, an "
                "ESNSearchCV of one, or an AutoForecaster."
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


def _words_of_trained(
    model: ESNForecaster, table: Table, at: np.ndarray, horizon: int
) -> tuple[str, ...]:
    """What is said of forecasts of rows that a model was trained on."""
    begin, end = trained_part(model, table.values)
    known = int(np.count_nonzero((at + horizon > begin) & (at < end)))
    if not known:
        return ()
    remedy = "Give rows that came later"
    if end + horizon <= len(table.values):
        remedy = f"Begin with row {end} or later"
    return (
        f"{inflected(known, '1 forecast is', '{} forecasts are')} of rows that the model was "
        f"trained on, {begin} to {end - 1} of y: their errors are those of a fit, lower than those "
        f"of forecasts will be. {remedy}, or use refit=True.",
    )


def _forecasts(
    model: ESNForecaster, problem: Problem, at: np.ndarray, horizon: int, washout, refit: bool,
    learned: Any = None,
) -> np.ndarray:  # fmt: skip
    """Forecasts ``(starts, horizon, outputs)`` of one model, in original units.

    Those of several series have readouts that were ``learned`` from all of them.
    """
    r, places = model._reservoirs(), at - problem.first_target
    work = model._work(problem.rows), model._work(horizon, len(at))
    device = choose_device(model.device, *work)
    source = states_of(problem, r, device)
    if refit:
        W, runs = learned, np.arange(len(places))
        if W is None:
            W = _refitted(model, _as_fitted(model, source), places[None], horizon)
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


def _as_fitted(model: ESNForecaster, source: States) -> States:
    """What a readout learns from, as `fit` does: states with noise, though it runs without."""
    kind = model.reservoir_
    return source if kind.free() is kind else model._states(source.problem, model.seed_)


def _refitted(model: ESNForecaster, seen: States, places: np.ndarray, horizon: int) -> np.ndarray:
    """Readouts ``(starts, 1 + m, outputs)`` trained on what is ``seen`` before each start.

    ``places (series, starts)`` are rows of each series by itself; where series have readouts of
    their own, these are ``(starts, series, 1 + m, outputs)``.
    """
    problem, order = seen.problem, np.argsort(places.sum(axis=0), kind="stable")  # only add rows
    firsts = problem.bounds[:-1].tolist()
    ends = [[a + b for a, b in zip(firsts, one, strict=True)] for one in places.T[order].tolist()]
    train: list[Intervals] = [tuple(zip(firsts, one, strict=True)) for one in ends]
    ahead: list[Intervals] = [tuple((a, a + horizon) for a in one) for one in ends]
    splits = RowSplits(
        "backtest", problem.rows, train, ahead, bounds=problem.bounds if problem.each else None
    ).in_steps(problem.steps)
    check_task(seen.problem, splits, [])  # something must have a value to be trained on
    few = SEVERAL * len(order) <= seen.columns and not is_accelerator(seen.device)
    if few and not problem.each and problem.grid is None:
        seen.watch(places[0])
        return _grown(seen, splits, model)[np.argsort(order)]
    ridge = np.array([float(model.ridge)])
    found = readouts_by_ridge(seen, splits, ridge, model._fitting(vars(model), problem))
    W = np.asarray(found.W)[0, :, 0]
    if len(W) > len(order):
        W = W.reshape(len(order), -1, *W.shape[1:])
    return W[np.argsort(order)]


def _grown(seen: States, splits: RowSplits, model: ESNForecaster) -> np.ndarray:
    """Readouts ``(splits, 1 + m, outputs)`` of training sets of one series that grow.

    Each is that of the one before with more rows, as `partial_fit` finds it.
    """
    problem, penalised = seen.problem, bool(model.penalize_bias)
    ends, weights = [train[-1][1] for train in splits.train], problem.weights
    weights = np.ones(problem.rows) if weights is None else weights
    learning = Learning(Triangle.empty(seen.columns, problem.targets.shape[1], penalised))
    found: dict[int, np.ndarray] = {}
    for row, (X,) in seen.blocks(0, max(valid[-1][0] for valid in splits.valid) + 1):
        cuts = sorted({end for end in ends if row < end <= row + len(X)})
        for start, stop in pairwise([row, *cuts, row + len(X)]):
            if start < stop:
                part = X[start - row : stop - row], problem.targets[start:stop], weights[start:stop]
                learning = learning.extended(*part, decay=1.0)
                if stop in cuts:
                    found[stop] = learning.readout(float(model.ridge), penalised)
    return np.stack([found[end] for end in ends])


def _backtested(table: Table, at: np.ndarray, forecasts: np.ndarray, metrics):
    """The Dataset that `backtest` returns."""
    import xarray as xr

    check_zeros(metrics, table.values, at, forecasts.shape[1])
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
    attrs = {**told(metrics[0]), "spread": float(np.sqrt(spread.deviation.mean()))}
    return xr.Dataset(variables, coords, attrs)
