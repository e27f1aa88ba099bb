"""Forecasts of several series and of their sums, at all levels, that add up.

Sums are further series of the panel, forecast by the same recipe. Then all levels are reconciled by
the errors that they made on past stretches, date by date; and so are the forecasts of these
stretches, each by the errors on the others. The errors that are left make the intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from echofold._data.dates import timeline
from echofold._data.missing import filled
from echofold._data.panels import Panel
from echofold._data.season import calendar_seasons
from echofold._data.sums import Ids, Sums, check_ids, sums_of
from echofold._data.text import inflected
from echofold._machine.notices import said_once
from echofold._models.forecast import Forecast, around, forecast_of, levels_of, of_all
from echofold._models.reconciliation import minimum_trace, shrunk
from echofold._search.auto import AutoForecaster
from echofold._search.panel import error_of, fit_panel, inputs_of, look_ahead, part_of
from echofold._search.search import check_one_of
from echofold._search.verdict import Verdict

METHODS = {"mint": "minimum trace", "bottom-up": "sums of forecasts (bottom-up)"}
DIGITS = 12  # of the largest sum: forecasts are rounded there, so that what is written adds up
FOLDS = 5  # parts of the past at most, each reconciled by the errors of the others
TOLD = 6  # levels whose errors are told in a sentence


@dataclass(frozen=True)
class Totals:
    """Forecasts of several series and of their sums, which add up.

    Attributes
    ----------
    forecast : Forecast
        Dicts by name, of sums first. Of several ids a name is a tuple; an id that was summed over
        is "(all)".
    errors : pandas.DataFrame
        A row for each level: how many ``series`` it has, and their mean error on past stretches, in
        units of each one's mean change over a season, of forecasts ``alone`` and ``reconciled``.
    verdict : Verdict
        How good the reconciled forecasts of the given series were on past stretches.
    notes : list of str
        What was summed, and what reconciliation changed.
    model : AutoForecaster
        Fitted to all of them, sums included, each alone.
    given : AutoForecaster
        The part of it that was given, and ``sums``, forecasters by name, with errors as they are
        left by reconciliation, and forecasts before it; ``levels`` names the level of each.
    """

    model: Any
    by_name: dict[Any, Forecast]
    errors: pd.DataFrame
    notes: list[str]
    given: Any
    sums: dict[Any, Any]
    levels: dict[Any, str]

    @property
    def forecast(self) -> Forecast:
        """Forecasts and intervals of all, sums first."""
        return of_all(Panel("dict", tuple(self.by_name)), list(self.by_name.values()))

    @property
    def verdict(self) -> Verdict:
        """How good forecasts of the given series are."""
        return self.given.verdict_


def forecast_totals(
    model: Any, y: Any, X: Any = None, X_ahead: Any = None, *, method: str = "mint"
) -> Totals:
    """Forecast several series and all sums of them, so that they add up.

    Of series with two ids, as store and product, these are the total, the sums by store and by
    product, and the series. All of them are forecast by the same recipe, and then reconciled.

    Parameters
    ----------
    model : AutoForecaster
        How to forecast; it is not fitted itself.
    y : dict of series, or pandas series
        Series by name, or one series with an index level for each id and a last one for time. Names
        are ids, or tuples of several. Series are summed by date; without dates, all must be equally
        long. One that begins later counts from its first value on; one that ended ``horizon`` steps
        or more before the others is in no sum. Where a value is missing, the last known one, of the
        same time of the season, stands in for it; if such values make up more than a tenth of a
        sum, that is missing, too.
    X, X_ahead : dict of arrays or frames, optional
        Inputs known in advance by name, past and ahead; sums have none.
    method : {"mint", "bottom-up"}, default="mint"
        Minimum trace moves all levels, by the covariance of their errors on past stretches, shrunk
        to its diagonal; bottom-up takes sums of forecasts instead of forecasts of sums.

    Returns
    -------
    Totals
        ``forecast``, a `Forecast` of dicts by name, sums first, in whose names "(all)" stands for
        what was summed over; ``errors``, a frame with the mean error of each level on past
        stretches, ``alone`` and ``reconciled``; ``verdict``, on the series that were given;
        ``notes``; ``model``, fitted to all of them, each alone.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import AutoForecaster, forecast_totals
    >>> shops = {"north": np.arange(20.0) % 4 + 3, "south": np.arange(20.0) % 2}
    >>> found = forecast_totals(AutoForecaster(2, season=4, progress=False), shops)
    >>> list(found.forecast.mean), found.forecast.mean["(all)"].round(6)
    (['(all)', 'north', 'south'], array([3., 5.]))
    """
    if not isinstance(model, AutoForecaster):
        raise TypeError(
            f"model is a {type(model).__name__}, expected an AutoForecaster, which tells how to "
            "forecast all."
        )
    series, called = _by_name(y)
    for argument, known in (("X", X), ("X_ahead", X_ahead)):
        if known is not None and not isinstance(known, dict):
            raise TypeError(
                f"{argument} is a {type(known).__name__}, expected a dict of inputs by the names "
                "of series, or None."
            )
    several = any(isinstance(name, tuple) for name in series)
    ids = {name: name if isinstance(name, tuple) else (name,) for name in series}
    most = max(map(len, ids.values()))
    called = called or tuple("id" if most == 1 else f"id {n + 1}" for n in range(most))
    fresh = type(model)(**model.get_params(deep=False))

    def named(own: Ids) -> Any:
        return own if several else own[0]

    return fit_totals(fresh, series, ids, called, named, X, X_ahead, method)


def _by_name(y: Any) -> tuple[dict[Any, Any], tuple[str, ...]]:
    """Series by name, and what ids are called, if that is known."""
    if isinstance(y, dict) and y:
        return y, ()
    if isinstance(y, pd.Series) and y.index.nlevels > 1 and len(y):
        ids = list(range(y.index.nlevels - 1))
        if any(y.index.get_level_values(level).isna().any() for level in ids):
            raise ValueError(
                "some rows of y have no id: an index level holds missing values. Sums are of all "
                "series: say which these belong to, or leave them out."
            )
        groups = y.groupby(level=ids if len(ids) > 1 else 0, sort=False, observed=True)
        called = tuple(str(name or f"id {n + 1}") for n, name in enumerate(y.index.names[:-1]))
        return {name: one.droplevel(ids) for name, one in groups}, called
    raise TypeError(
        f"y is a {type(y).__name__}, expected a dict of series by name, or a pandas series with an "
        "index level for each id and a last one for time. Sums need names."
    )


def fit_totals(
    model: Any, y: Mapping[Any, Any], ids: Mapping[Any, Ids], called: Sequence[str],
    named: Callable[[Ids], Any], X: Any, X_ahead: Any, method: str,
) -> Totals:  # fmt: skip
    """Fit a model to series and sums; their ids are ``called``, and make names by ``named``."""
    model._check()
    check_one_of("method", method, list(METHODS))
    check_ids(ids, called)
    sums = sums_of(y, ids, called, named, model.horizon, lambda index: _season(model, index))
    own = {name: _limits(model, len(members)) for name, members in sums.members.items()}
    if X is not None:
        early = next((name for name in sums.padded if X.get(name) is not None), None)
        if early is not None:
            raise ValueError(
                f"series {early!r} ends before others, and so do its inputs in X. Give it rows of "
                "y to the end of the others, NaN where values are not known, and X for these."
            )
        X = {**X, **dict.fromkeys(sums.series)}
    fit_panel(model, {**y, **sums.padded, **sums.series}, X, own)
    with said_once():
        return _reconciled(model, list(y), sums, X_ahead or {}, method)


def _season(model: Any, index: Any) -> int | None:
    """Steps in a season, as given or of the calendar; None if there is none."""
    given = model.season
    if isinstance(given, str):
        ends = None if index is None else timeline(index)
        given = ends and ends.kind in ("dates", "periods") and calendar_seasons(ends.step)
    return min((one for one in np.ravel(given or ()) if one > 1), default=None)


def _limits(model: Any, count: int) -> dict[str, float]:
    """Limits of a sum of so many series, where some of each series were given."""
    own = {}
    if model.minimum is not None:
        own["minimum"] = model.minimum * (count if model.minimum < 0 else 1)
    if model.maximum is not None:
        own["maximum"] = model.maximum * (count if model.maximum > 0 else 1)
    return own


# --- reconciliation -------------------------------------------------------------------------------


class _Tree(NamedTuple):
    """Forecasters of sums and of series by name, sums first, and which series each sum has."""

    ones: dict[Any, Any]
    A: Any  # (sums, series)
    limits: np.ndarray  # of series (2, series)

    def added(self, series: np.ndarray) -> np.ndarray:
        """Sums and series ``(n, columns)`` from those of series."""
        return np.concatenate([self.A @ series, series])

    def inside(self, series: np.ndarray) -> np.ndarray:
        """Values of series ``(series, columns)`` within their limits."""
        return np.clip(series, *self.limits[:, :, None])


class _Past(NamedTuple):
    """Forecasts and errors ``(rows, n)`` of past stretches, and the ``run (rows,)`` of each.

    Dates are counted back from the end, which is the same of all; ``row`` is that of each date. A
    series that was too short to be forecast then has the last value before a stretch for a
    forecast, nothing if there is none, and no error.
    """

    forecasts: np.ndarray
    errors: np.ndarray
    run: np.ndarray
    row: np.ndarray


def _reconciled(
    model: Any, names: Sequence[Any], sums: Sums, X_ahead: Mapping[Any, Any], method: str
) -> Totals:
    """Reconciled forecasts of a fitted panel, with what is said of them."""
    tree, steps = _tree(model, sums), model.horizon
    look_ahead(model, steps)
    mean = np.stack(
        [
            one._forecast(steps, inputs_of(model, name, X_ahead.get(name)))[:, 0]
            for name, one in tree.ones.items()
        ]
    )
    past = _past_of(tree, steps)
    free = _at_once(tree, past, mean, method)
    kept = tree.inside(free)
    size = float(tree.added(np.abs(kept)).max())
    digits = DIGITS - int(np.ceil(np.log10(size))) if size else 0
    means = tree.added(kept.round(digits)).round(digits)
    moved = (_on_the_past(tree, past, method) - past.forecasts)[past.row]
    levels, limits = levels_of(model.level), tree.added(tree.limits.T)
    by_name, left, rows = {}, {}, []
    for place, (name, one) in enumerate(tree.ones.items()):
        own = _with_errors(one, moved[:, place], limits[place], levels[-1])
        left[name], by_name[name] = own, _with_intervals(own, means[place], levels, digits)
        errors = [error_of(each, each.past_.truth, each.outputs_) for each in (one, own)]
        rows.append((sums.levels.get(name, sums.each), *errors))
    table = pd.DataFrame(rows, columns=["level", "alone", "reconciled"])
    errors = table.groupby("level", sort=False).mean()
    errors.insert(0, "series", table.groupby("level", sort=False).size())
    for name, one in model.series_.items():
        if name not in by_name:
            known = inputs_of(model, name, X_ahead.get(name))
            by_name[name] = forecast_of(one, steps, known, levels, warn=False)
    ours = {name: left.get(name, model.series_[name]) for name in names if name in model.series_}
    clipped = int((np.abs(free - kept) > 1e-9 * np.abs(free)).any(axis=1).sum())
    return Totals(
        model,
        {name: by_name[name] for name in [*sums.series, *names] if name in by_name},
        errors,
        [*_said(sums, errors, method, clipped), *sums.notes, *_of_failed(model, sums)],
        part_of(model, names, ours),
        {name: left[name] for name in sums.series if name in left},
        {name: sums.levels.get(name, sums.each) for name in by_name},
    )


def _tree(model: Any, sums: Sums) -> _Tree:
    """Sums and what they are made of, as far as there are forecasters."""
    known = [name for name in sums.series if name in model.series_]
    if not known:
        raise ValueError(f"no sum can be forecast: {next(iter(model.failed_.values()))}")
    inside = dict.fromkeys(name for members in sums.members.values() for name in members)
    at = {name: n for n, name in enumerate(name for name in inside if name in model.series_)}
    pairs = [
        (n, at[one]) for n, name in enumerate(known) for one in sums.members[name] if one in at
    ]
    rows, columns = np.array(pairs).T
    A = csr_array((np.ones(len(pairs)), (rows, columns)), shape=(len(known), len(at)))
    ones = {name: model.series_[name] for name in [*known, *at]}
    return _Tree(ones, A, np.column_stack([ones[name].limits_[:, 0] for name in at]))


def _past_of(tree: _Tree, steps: int) -> _Past:
    """What all said of the past, side by side by date."""
    each = list(tree.ones.values())
    back = [len(one.table_.values) - one.past_.rows for one in each]  # 1 is the last date
    dates = max((int(one.max(initial=0)) for one in back), default=0)
    total = np.zeros((3, dates, len(each)))  # of forecasts, their errors, and how often
    errors = np.full((dates, len(each)), np.nan)
    for place, (one, at) in enumerate(zip(each, back, strict=True)):
        if not at.size:
            continue
        wrong = one.residuals_[:, :, 0]
        there = np.isfinite(wrong)
        often = np.zeros(dates)
        np.add.at(total[0, :, place], at - 1, one.outputs_)
        np.add.at(total[2, :, place], at - 1, 1.0)
        np.add.at(total[1, :, place], at[there] - 1, wrong[there])
        np.add.at(often, at[there] - 1, 1.0)
        known = often > 0
        errors[known, place] = total[1, known, place] / often[known]
    said = total[2] > 0
    forecasts = np.divide(total[0], total[2], out=np.zeros_like(total[0]), where=said)
    sums = tree.A.shape[0]
    before = steps * (np.arange(dates) // steps + 1)  # the last value before each stretch
    for place, one in enumerate(each[sums:], sums):
        values = filled(one.table_.values)[::-1, 0]
        known = ~said[:, place] & (before < len(values))
        forecasts[known, place] = values[before[known]]
    together = forecasts[:, sums:] @ tree.A.T
    forecasts[:, :sums] = np.where(said[:, :sums], forecasts[:, :sums], together)
    some = said.any(axis=1)
    return _Past(forecasts[some], errors[some], np.flatnonzero(some) // steps, np.cumsum(some) - 1)


def _at_once(
    tree: _Tree, past: _Past, given: np.ndarray, method: str, apart: Any = slice(None)
) -> np.ndarray:
    """Series ``(series, columns)`` that add up, from forecasts ``given (n, columns)``.

    They are reconciled by the errors on some of the dates; errors that are not known are taken to
    be as large as values.
    """
    if method == "bottom-up":
        return given[tree.A.shape[0] :]
    size = [np.nanmean(np.abs(one.values_)) for one in tree.ones.values()]
    W = shrunk(past.errors[apart], past.run[apart], np.array(size), tree.A)
    return minimum_trace(tree.A, W)(given)


def _on_the_past(tree: _Tree, past: _Past, method: str) -> np.ndarray:
    """Reconciled forecasts ``(rows, n)`` of the past, each by the errors of other stretches."""
    found = np.empty_like(past.forecasts)
    for runs in np.array_split(np.unique(past.run), FOLDS):
        own = np.isin(past.run, runs)
        if own.any():
            series = _at_once(tree, past, past.forecasts[own].T, method, ~own)
            found[own] = tree.added(tree.inside(series)).T
    return found


def _with_errors(one: Any, moved: np.ndarray, limits: np.ndarray, level: float) -> Any:
    """The forecaster with errors as they are left where its forecasts are ``moved`` by date."""
    own = copy(one)
    own.limits_ = np.reshape(limits, (2, 1))
    back = len(one.table_.values) - one.past_.rows
    own._set_errors(one.past_, np.clip(one.outputs_ + moved[back - 1], *limits))
    own.given_ = one.given_
    own.verdict_ = replace(one.verdict_, coverage=own._coverage(one.past_, level))
    return own


def _with_intervals(one: Any, mean: np.ndarray, levels: Sequence[float], digits: int) -> Forecast:
    """A forecast ``(horizon,)`` with intervals that hold it, as finely written."""
    inside, lower, upper = mean[:, None], {}, {}
    for level in levels:
        low, high = around(one, inside, level).round(digits)
        lower[level] = one._write(np.minimum(low, inside))
        upper[level] = one._write(np.maximum(high, inside))
    return Forecast(one._write(inside), lower, upper)


def _of_failed(model: Any, sums: Sums) -> list[str]:
    """Which sums have no forecast, or one without networks, and why."""
    said = []
    for how, there in (("no forecast", False), ("forecast without networks", True)):
        failed = [name for name in sums.series if name in model.failed_]
        failed = [name for name in failed if (name in model.series_) == there]
        if failed:
            more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
            said.append(f"sum {failed[0]!r}{more}, {how}: {model.failed_[failed[0]]}")
    return said


def _said(sums: Sums, errors: pd.DataFrame, method: str, clipped: int) -> list[str]:
    """What was summed, and what reconciliation changed."""
    whole, *above = (level for level in errors.index if level != sums.each)
    counted = "".join(f", {errors['series'][level]:,} by {level}" for level in above)
    said = [
        f"sums are forecast as further series, the total{counted}; all levels add up by "
        f"{METHODS[method]}."
    ]
    changes = []
    for level, one in list(errors.dropna().iterrows())[:TOLD]:
        share = one["reconciled"] / one["alone"] - 1 if one["alone"] else 0.0
        name = {whole: "of the total", sums.each: "of single series"}.get(level, f"by {level}")
        size = f"{abs(share):.1%} {'lower' if share < 0 else 'higher'}"
        changes.append(f"{size if abs(share) >= 5e-4 else 'the same'} {name}")
    if changes:
        said.append(f"beside forecasts of each alone, errors on the past are {', '.join(changes)}.")
    if clipped:
        said.append(
            f"to add up, {inflected(clipped, '1 series', '{:,} series')} would have had to leave "
            "the limits of their values: they are kept there, and sums are sums of that."
        )
    return said
