"""AutoForecaster: the best forecast of any series, short or long, from one object."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import astuple, replace
from functools import partial
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from echofold import baselines
from echofold._data.arguments import (
    NamedParameters,
    check_count,
    check_integer,
    is_integer,
    refuse,
)
from echofold._data.dates import Indexes, words_of_dates, written
from echofold._data.long_frames import in_long_frames
from echofold._data.missing import filled, words_of_table
from echofold._data.panels import is_panel
from echofold._data.problem import FORECASTING
from echofold._data.scikit_learn import BaseEstimator
from echofold._data.season import SeasonsSeen
from echofold._data.tables import Table, read, read_rows, write
from echofold._data.text import count, in_words, inflected, short
from echofold._engine.kind import PRECISIONS
from echofold._machine.notices import warn_of
from echofold._machine.progress import before
from echofold._models.base import Stored, whole_or_not_at_all
from echofold._models.combination import (
    NETWORKS,
    ONCE,
    POOLED,
    RULES,
    Asked,
    Past,
    forecasts_of,
    mixed,
    network_share,
    priors_for,
    side_by_side,
)
from echofold._models.display import verdict_html
from echofold._models.forecast import (
    Array,
    Forecast,
    Forecasts,
    GivenY,
    KindOfY,
    Level,
    Numbers,
    check_beside,
    check_both,
    forecast_of,
    interval,
    levels_of,
    words_beyond,
)
from echofold._models.pooled import Pool
from echofold._search.contributions import contributions_of
from echofold._search.final_models import log_errors
from echofold._search.panel import POOLS, fit_panel, forecast_panel, update_panel
from echofold._search.recipe import LARGEST, Recipe, check_settings, recipe_for, stretches
from echofold._search.search import ESNSearchCV, check_one_of
from echofold._search.spaces import told_seasons
from echofold._search.verdict import (
    EXACT,
    Verdict,
    compared,
    held_in_words,
    phrase,
    plain_forecasts,
)
from echofold._validation.score import check_zeros, score_given, spread_of
from echofold.metrics._metric import Metric, resolve

TOGETHER = "all members together"
CLEARLY = 0.9  # of the error of all members, below which a plain forecast is given instead,
ENOUGH = 5  # if that was seen on as many stretches that do not overlap
FEW = 3  # stretches that do not overlap, which are enough to leave out others
SURE = 2  # stretches that the agreement of several members counts as, for intervals
FAR = 6.0  # times the typical error of one step, beyond which values at the end are named
LATEST, BEFORE, LEAST = 6, 30, 8  # values at the end, errors before them, and errors at least
OTHERS = 1.0  # seconds that other members take, about, after the search for networks
HISTORY = 20_000  # latest values that members without networks look at
PERCENT = ("%", "percent", "per cent", "pct")
RESIDUALS = ("count", "steps", "outputs")

if TYPE_CHECKING:
    from echofold._data.long_frames import LongFrame


class AutoForecaster(Forecasts[KindOfY], NamedParameters, BaseEstimator):
    """Forecast a series, or many, by the recipe that the command line and sktime follow.

    Members of different kinds forecast the same stretches of the past, each from the values before
    it: echo state networks that a search finds, exponential smoothing, the theta method, direct
    forecasts from smoothed levels, plain forecasts, and for demand that comes now and then a method
    of its own. The forecast is their mean, weighted by how well they did there; where a plain
    forecast did clearly better than all of them, it is that one. Any series of at least one value
    has a forecast, and what was used and why is said.

    Of several series each has such a recipe. Networks that were trained on all of them are one more
    member then, which weighs what it is worth on the past of series of about that length.

    Parameters
    ----------
    horizon : int
        Number of values to forecast, and to validate forecasts by.
    level : float or sequence of floats, default=(0.5, 0.9)
        Coverage of the intervals around the forecast.
    season : "auto", int, sequence of ints or None, default="auto"
        Steps in a season, or in several, as ``(24, 168)``; None or 1 for none. "auto" takes those
        of the calendar from the dates of ``y``, else one that is found in its values.
    pool : {"auto", "all", "none"}, default="auto"
        Whether several series share networks, or each has its own: "auto" shares among ten and
        more of fewer than 250 values, unless there are inputs known in advance or settings of a
        ``search``.
    effort : {"fast", "normal", "high"}, default="normal"
        How many networks are searched.
    minimum, maximum : float, optional
        What forecasts and their intervals keep inside of. By default, data that are never negative
        have no negative forecast, and percentages (by the name of ``y``) stay within 0 and 100;
        ``minimum=-np.inf`` lifts that.
    search : dict, optional
        Settings of the search for networks that are not left to the recipe: ``scheme``, ``k``,
        ``units``, ``grid`` ("small", "medium" or "large"), ``draws``, ``log``, ``difference``,
        ``metric``, ``final``, ``verify``.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the networks.
    n_jobs : int, optional
        Threads of the search for networks; of several series, processes that forecast blocks of
        them. -1 stands for as many as there are cores.
    device, precision, executor, checkpoint, progress
        As of `ESNForecaster` and `ESNSearchCV`. The small networks that several series share are
        driven in double precision.

    Attributes
    ----------
    verdict_ : Verdict
        ``words``, a sentence on how good the forecast is, and the numbers that it rests on:
        ``error``, ``best``, ``best_error``, ``coverage``, ``stretches``, ``steps``.
    notes_ : list of str
        What was used and why, what was assumed, and what is unusual.
    baselines_ : dict of str to float
        Errors of plain forecasts on the same past stretches.
    members_ : pandas.DataFrame
        Weight and error of each member, by name.
    results_ : xarray.Dataset, dict of these, or None
        Scores of the networks' search, ``search_``; None if there was none.
    series_ : dict of AutoForecaster
        Of several series, the forecaster of each; ``verdict_``, ``baselines_`` and ``members_`` are
        then means over all, in units of each series' mean change over a season, as is ``errors_``,
        a frame with a row for each. ``failed_`` tells what is wrong with some: what is left of
        their values is forecast without networks, and NaN where nothing is.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import AutoForecaster
    >>> y = np.array([3.0, 5.0, 4.0, 6.0, 5.0, 7.0, 6.0, 8.0])
    >>> model = AutoForecaster(2, progress=False).fit(y)
    >>> forecast = model.forecast()
    >>> forecast.mean.shape, sorted(forecast.lower)
    ((2,), [0.5, 0.9])
    """

    notes_: list[str]
    results_: Any
    search_: ESNSearchCV | None
    recipe_: Recipe | None
    evaluation_: Any
    networks_: Any  # an ensemble of forecasters, or one
    given_: str | None
    values_: np.ndarray
    rows_: int
    failed_: dict[Any, str]
    names_: tuple[str, ...]
    weights_: np.ndarray
    log_residuals_: np.ndarray | None
    contributions_: pd.DataFrame  # once they were asked for
    pool_: Pool | None  # networks that were trained on other series too, and what these say next
    ahead_: np.ndarray | None
    next_: np.ndarray | None  # what other members say next
    series_: dict[Any, AutoForecaster[Any]]  # of a panel

    _task = FORECASTING
    _stored = {
        "values_": Stored("floats", ("rows",), finite=False),
        "rows_": Stored("count"),
        "seasons_": Stored("plain"),
        "once_": Stored("count", optional=True),
        "limits_": Stored("range", ("outputs",), finite=False),
        "range_": Stored("floats", ("ends", "outputs")),
        "names_": Stored("plain"),
        "weights_": Stored("floats", ("members",)),
        "given_": Stored("word", optional=True),
        "residuals_": Stored("floats", RESIDUALS, finite=False),
        "log_residuals_": Stored("floats", RESIDUALS, optional=True, finite=False),
        "runs_": Stored("count"),
        "y_schema_": Stored("schema", ("outputs",)),
        "X_schema_": Stored("schema", ("known",), optional=True),
        "timeline_": Stored("timeline", optional=True),
        "pool_": Stored("floats", ("networks", "ridges", "1 + m", "steps"), optional=True),
        "pooled_": Stored("plain"),
        "ahead_": Stored("floats", ("ahead",), optional=True),
        "next_": Stored("floats", ("others", "next"), optional=True),
        "said": Stored("plain"),
    }

    def __init__(
        self, horizon: int, *, level: Level = (0.5, 0.9),
        season: int | Sequence[int] | str | None = "auto", pool: str = "auto",
        effort: str = "normal", minimum: float | None = None, maximum: float | None = None,
        search: Mapping[str, Any] | None = None, random_state: Any = 0, device: str = "auto",
        precision: str = "double", n_jobs: int | None = None, executor: Any = None,
        checkpoint: str | os.PathLike[str] | None = None, progress: bool | str = "auto",
    ) -> None:  # fmt: skip
        self._keep(vars())

    @overload
    def fit(self, y: pd.Series[Any], X: Any = None) -> AutoForecaster[pd.Series[float]]: ...

    @overload
    def fit(self, y: Numbers, X: Any = None) -> AutoForecaster[Array]: ...

    @overload
    def fit(self, y: LongFrame, X: Any = None) -> AutoForecaster[Any]: ...

    @overload
    def fit(
        self, y: GivenY, X: Any = None, *, id: str, time: str | None = None,
        target: str | None = None,
    ) -> OfLongFrame[GivenY]: ...  # fmt: skip

    @overload
    def fit(self, y: GivenY, X: Any = None) -> AutoForecaster[GivenY]: ...

    @whole_or_not_at_all
    def fit(
        self, y: Any, X: Any = None, *, id: str | None = None, time: str | None = None,
        target: str | None = None,
    ) -> Any:  # fmt: skip
        """Find the members, validate them on past stretches, and weigh them.

        Parameters
        ----------
        y : array, pandas or polars series, of shape (T,), or several of these
            One series, in time order, with a row for every step; missing values are NaN. Several
            are a list, a dict of names, a pandas series whose index has two levels, series and
            time, or a long frame; lengths and starts may differ.
        X : array or frame of shape (T, known inputs), optional
            Inputs that will be known in advance; row ``t`` belongs to ``y(t)``. Networks learn
            from them, other members do not. Of several series, in the kind of ``y``; of a long
            frame the names of columns.
        id, time, target : str, optional
            Of a long frame, of pandas or polars with a row for each time of each series, the
            columns with the name of the series, the time, and the values.

        Returns
        -------
        self
        """
        self._check()
        for name in [one for one in vars(self) if one.endswith("_")]:  # of another fit
            delattr(self, name)
        words: list[str] = []
        if (id, time, target) != (None, None, None):
            y, X, words = in_long_frames(y, X, id, time, target)
        if is_panel(y):
            fit_panel(self, y, X)
            self.notes_ += words
            return self
        X = self._begin(y, X)
        self._search_networks(self.table_, X)
        self._combine()
        return self

    def _begin(self, y: Any, X: Any, indexes: Indexes | None = None) -> Any:
        """Read a series, and tell its seasons and limits; the inputs beside it.

        Its index is that of ``indexes`` which is equal, if several series are.
        """
        table, X = self._read(y, X, indexes or Indexes())
        self.table_, self.notes_, self.evaluation_ = table, [], None
        self.search_ = self.networks_ = self.results_ = self.recipe_ = None
        self.pool_ = self.ahead_ = self.next_ = None
        self._told = self._given_seasons(table)
        latest = self.values_ if self._told is None else np.zeros(0)
        self._seasons_before = SeasonsSeen(self._told, latest, self.rows_, {})
        self._set_seasons(len(table.values))
        self._set_limits(table)
        return X

    def _combine(self) -> None:
        """Weigh all members by what they say of the past."""
        values = self.table_.values[:, 0]
        own = {} if self.networks_ is None else {NETWORKS: network_share(len(values))}
        self._set_members(values, own)
        self._weigh(self._past(values))
        self.notes_ += unusual(values, self.seasons_, self.table_.index)

    def _weigh(self, past: Past) -> None:
        """Weights of members by what they said of the past; the verdict."""
        values = self.table_.values[:, 0]
        self.weights_ = past.weights(self._priors)
        self._set_errors(past, past.combined(values, self._priors, self.limits_[:, 0]))
        self._judge(values, past)
        if len(past.rows):
            self.notes_ += words_beyond(self.residuals_, self.horizon)
        self._say_limits()
        del self._priors

    def forecast(  # type: ignore[override]
        self, horizon: int | None = None, X: Any = None, level: Level | None = None
    ) -> Forecast[KindOfY]:
        """Continue the series right after its last value.

        Parameters
        ----------
        horizon : int, optional
            Number of values; by default the one that members were validated by.
        X : array or frame of shape (horizon, known inputs), optional
            Known inputs, if `fit` was given any. Of more rows, with pandas dates, those of the
            forecast are taken.
        level : float or sequence of floats, optional
            Coverage of the intervals, instead of that of the forecaster.

        Returns
        -------
        Forecast
            ``mean``, and ``lower`` and ``upper`` by level, in the kind of ``y``; of a long frame
            one with all of these as columns.
        """
        steps = self.horizon if horizon is None else horizon
        levels = self.level if level is None else level
        if hasattr(self, "series_"):
            check_integer("horizon", steps, 1)
            return forecast_panel(self, int(steps), X, levels)
        check_is_fitted(self, "weights_")
        found = forecast_of(self, steps, X, levels, warn=False)
        warn_of(words_beyond(self.residuals_, steps))
        return found

    @whole_or_not_at_all
    def update(self, y: Any, X: Any = None) -> Self:
        """Move on over new data, so that `forecast` continues after it; weights stay.

        Parameters
        ----------
        y : array or series of shape (rows,)
            What came right after the data so far.
        X : array or frame of shape (rows, known inputs), optional
            Known inputs; row ``i`` belongs to row ``i`` of ``y``.

        Returns
        -------
        self
        """
        if hasattr(self, "series_"):
            update_panel(self, y, X)
            return self
        check_is_fitted(self, "weights_")
        table, span = read_rows(y, "y", False, empty=True)
        self.y_schema_.check(table.schema, "y")
        if self.timeline_ is not None:
            self.timeline_.check_follows(table.index, "y")
        if self.networks_ is not None:
            self.networks_ = copy(self.networks_).update(y, X)
        self.values_ = np.concatenate([self.values_, table.values[:, 0]])[-HISTORY:]
        self.rows_, self.ahead_, self.next_ = self.rows_ + len(table.values), None, None
        self._passed(len(table.values), span)
        return self

    def contributions(self) -> pd.DataFrame:
        """What each input known in advance is worth: the error of a network without it.

        The best network that the search found is validated again on the same past stretches, with
        an input that never changes in the place of the one that is left out: the weights of the
        reservoir stay, the readouts are found anew, each at the ridge that suits it best. Columns
        of a country's `calendar` are left out together, as are those of one column of names, and,
        of more than nine inputs, all but eight.

        Returns
        -------
        pandas.DataFrame
            A row for ``"nothing"``, for each input, and for ``"all inputs"``: ``error``, in the
            metric of the search; ``ratio`` to that of nothing left out; and the share of the
            stretches on which the network was ``worse``. The network was chosen with all inputs:
            ratios near 1 tell nothing. Members that are no networks know of no inputs, so the
            forecast, a mean of all, gains less.

        Examples
        --------
        >>> import numpy as np
        >>> from echofold import AutoForecaster
        >>> price = np.random.RandomState(0).uniform(1, 2, size=80)
        >>> y = 50 - 15 * price + np.sin(np.arange(80))
        >>> search = {"units": 10, "grid": "small", "k": 4, "draws": 1}
        >>> model = AutoForecaster(4, search=search, progress=False).fit(y, price)
        >>> model.contributions().index.tolist()
        ['nothing', 'column 0']
        """
        if hasattr(self, "contributions_"):
            return self.contributions_.copy()
        if hasattr(self, "series_"):
            raise ValueError(
                "contributions are those of one series: model.series_[name].contributions()."
            )
        check_is_fitted(self, "weights_")
        if self.search_ is None or self.X_schema_ is None:
            why = "was given no inputs" if self.X_schema_ is None else "has no networks to ask"
            why = why if hasattr(self, "table_") else "is from a file, and has no data"
            raise ValueError(f"this model {why}: contributions need fit(y, X) with enough values.")
        self.contributions_ = contributions_of(self.search_)
        return self.contributions_.copy()

    def report(self, path: str | os.PathLike[str], about: Any = None) -> Path:
        """Write a standalone HTML report to ``path``; ``about`` is a `report.About`."""
        one = next(iter(self.series_.values())) if hasattr(self, "series_") else self
        check_is_fitted(one, "weights_")
        if not hasattr(one, "table_"):
            raise ValueError("a model from a file has no data to report on. Fit it again.")
        from echofold.report import write_report

        return write_report(self, path, about)

    @property
    def members_(self) -> pd.DataFrame:
        """Weight and error of each member, by name; of several series mean weights."""
        columns = {"weight": self.weights_, "error": self.member_errors_}
        index = pd.Index(self.names_, name="member")
        return pd.DataFrame({name: one for name, one in columns.items() if one is not None}, index)

    @property
    def given(self) -> str:
        """What the forecast is: that of all members together, or a plain one by its name."""
        return self.given_ or TOGETHER

    @property
    def _repr_html_(self):
        """In a notebook the verdict; before `fit`, and as text, what scikit-learn shows."""
        before = super()._repr_html_  # an AttributeError where its `display` is "text"
        return partial(verdict_html, self) if hasattr(self, "verdict_") else before

    def _repr_mimebundle_(self, **given):
        """The same, for those who ask for all kinds at once."""
        kinds = super()._repr_mimebundle_(**given)
        if "text/html" in kinds:
            kinds["text/html"] = self._repr_html_()
        return kinds

    # --- what was given ---------------------------------------------------------------------------

    def _check(self) -> None:
        """Raise for a parameter that is not allowed."""
        check_count("horizon", self.horizon)
        levels_of(self.level)
        check_one_of("pool", self.pool, POOLS)
        check_one_of("precision", self.precision, tuple(PRECISIONS))
        for name, value in (("minimum", self.minimum), ("maximum", self.maximum)):
            if value is not None and not (isinstance(value, Real) and not np.isnan(float(value))):
                refuse(name, value, "a number, or None")
        resolve(check_settings(self.search, self.effort).get("metric", "rmse"))

    @property
    def _metric(self) -> Metric:
        """The metric that errors are told in."""
        return resolve((self.search or {}).get("metric") or "rmse")

    def _read(self, y: Any, X: Any, indexes: Indexes) -> tuple[Table, Any]:
        """The series, and the inputs beside it, from the first value on that is known."""
        table, self.range_ = read_rows(y, "y", False)
        if table.values.shape[1] != 1:
            raise ValueError(
                f"y has {table.values.shape[1]} columns, expected one series. Fit an "
                "AutoForecaster for each column, or an ESNForecaster for all of them together."
            )
        if (largest := float(np.nanmax(np.abs(table.values)))) > LARGEST:
            raise ValueError(
                f"y holds {short(largest)}, too large to compute with: divide it by a constant; up "
                f"to {LARGEST:g} will do."
            )
        known = None if X is None else read(X, "X", missing=True)
        if known is not None:
            check_beside(known, table)
        self.y_schema_, self.X_schema_ = table.schema, None if known is None else known.schema
        self.timeline_ = None
        if table.index is not None:
            table = table._replace(index=indexes.of(table.index))
            self.timeline_ = indexes.timeline(table.index)
        if first := int((~np.isnan(table.values[:, 0])).argmax()):
            index = None if table.index is None else indexes.of(table.index[first:])
            table = table._replace(values=table.values[first:], index=index)
            X = X if X is None else X.iloc[first:] if hasattr(X, "iloc") else X[first:]
        self.values_, self.rows_ = table.values[-HISTORY:, 0], len(table.values)
        return table, X

    def _given_seasons(self, table: Table) -> tuple[int, ...] | None:
        """Seasons that were given or are those of the dates; None if values must tell."""
        given = self.season
        if isinstance(given, str) and given == "auto":
            return told_seasons(table)
        lengths = [] if given is None else list(given) if np.ndim(given) else [given]
        if not all(is_integer(one) and one >= 1 for one in lengths):
            refuse("season", given, "a number of steps, several of them, None or 'auto'")
        return tuple(sorted({int(one) for one in lengths if one > 1}))

    def _set_seasons(self, rows: int) -> None:
        """Seasons that can be followed, or repeated; say which was found, or cannot be used."""
        self.seasons_ = self._seasons_before(rows)
        if self._told is None and self.seasons_:
            self.notes_.append(f"season of {self.seasons_[0]} steps found in the values.")
        once = [one for one in self._told or () if one <= rows < 2 * one]
        self.once_ = min(once) if once and not self.seasons_ else None
        unused = set(self._told or ()) - {*self.seasons_, self.once_}
        for one in () if isinstance(self.season, str) else sorted(unused):
            self.notes_.append(
                f"a season of {one} steps is not used: {count(rows, 'value')} do not show it often "
                "enough."
            )

    def _set_limits(self, table: Table) -> None:
        """What forecasts keep inside of: as given, or as the data suggest."""
        low, high = (float(end) for end in self.range_[:, 0])
        name = str(table.schema.names[0]).lower() if table.schema.names else ""
        percent = low >= 0 and 1 < high <= 100 and any(word in name for word in PERCENT)
        least = self.minimum if self.minimum is not None else 0.0 if low >= 0 else -np.inf
        most = self.maximum if self.maximum is not None else 100.0 if percent else np.inf
        if low < least or high > most:
            raise ValueError(
                f"y holds {short(low if low < least else high)}, outside of minimum={least:g} and "
                f"maximum={most:g}. Give limits that hold all values."
            )
        self.limits_ = np.array([[least], [most]], dtype=float)

    @property
    def _limits(self) -> np.ndarray:
        return self.limits_

    def _say_limits(self) -> None:
        """Say so if limits that nobody gave keep the forecast or its interval inside."""
        if self.X_schema_ is not None and self.networks_ is not None:
            return
        self._others_ahead(self.horizon)  # once for both
        free = copy(self)
        free.limits_ = np.array([[-np.inf], [np.inf]])
        mean, lower, upper = forecast_of(free, self.horizon, None, self.level, warn=False)
        kept = "forecasts and intervals are kept at"
        if self.minimum is None and np.nanmin([mean, *lower.values()]) < self.limits_[0, 0]:
            self.notes_.append(
                f"{kept} 0, because no value is negative; minimum=-inf, or --allow-negative, lifts "
                "that."
            )
        if self.maximum is None and np.nanmax([mean, *upper.values()]) > self.limits_[1, 0]:
            self.notes_.append(
                f"{kept} 100, because no value is more than 100 %; maximum=inf lifts that."
            )

    # --- members ----------------------------------------------------------------------------------

    def _search_networks(self, table: Table, X: Any) -> None:
        """Search for networks if there is enough to learn from."""
        values = table.values[:, 0]
        recipe = recipe_for(values, self.seasons_, self.horizon, self.effort, self.search)
        if isinstance(recipe, str):
            self.notes_.append(f"{recipe}: other members forecast alone.")
            if X is not None:
                self.notes_.append(
                    "inputs known in advance are not used: only networks learn from them."
                )
            words = words_of_table(table, "y", "Other values take their place.")
            warn_of(words + (() if table.index is None else words_of_dates(table.index)))
        else:
            given = (self.minimum, self.maximum) != (None, None)
            search = recipe.search(
                tuple(self.limits_[:, 0]) if given else None, self.random_state, self.device,
                self.precision, n_jobs=self.n_jobs, executor=self.executor,
                checkpoint=self.checkpoint, progress=self.progress,
            )  # fmt: skip
            y = write(table.values, table.schema, table.index)
            with before(OTHERS):
                search.fit(y, *([] if X is None else [X]))
            self.search_, self.recipe_ = search, recipe
            self.networks_, self.results_ = search.best_estimator_, search.results_

    def _set_members(self, values: np.ndarray, own: dict[str, float]) -> None:
        """Members, and what they weigh before errors are known; that of networks is ``own``."""
        season = min(self.seasons_) if self.seasons_ else None
        complete = filled(values[:, None], season)[:, 0]
        self._priors = priors_for(complete, bool(self.seasons_), own, self.once_ is not None)
        self.names_ = tuple(self._priors)

    def _past(self, values: np.ndarray) -> Past:
        """Forecasts of all members of the same past stretches."""
        own: list[np.ndarray] = []
        season = min(self.seasons_, default=1)
        if self.search_ is None:
            rows = stretches(len(values), self.horizon, season)
            truth, runs = values[rows], side_by_side(rows)
        else:
            found = self.search_._winners.outputs(next(iter(self.search_._results)))
            rows, truth, runs = found.rows, found.truth[:, :, 0], self.networks_.runs_
            own = [(truth - self.networks_.residuals_[:, :, 0])[None]]
        starts, steps = rows[:, 0], rows.shape[1]
        (others,) = forecasts_of([self._asked(values, starts, self._seasons_before)], steps)
        past = Past(rows, truth, np.concatenate([*own, others]), runs)
        if self.search_ is None:
            return self._repeated(values, past, season)
        # Members that do not know of a season yet are no match for plain forecasts that repeat it.
        known = np.array([self._seasons_before(row) == self.seasons_ for row in starts], dtype=bool)
        known_past = past.part(known)
        if known_past.runs >= FEW:
            return known_past
        if self._told is None:  # networks know it from values that came later: the others speak
            priors = np.array([self._priors[name] for name in self.names_[1:]])
            past.outputs[0, ~known] = np.tensordot(priors / priors.sum(), others[:, ~known], 1)
        return past

    def _repeated(self, values: np.ndarray, past: Past, season: int) -> Past:
        """The past, with the season repeated by all where it was seen once, if that is better.

        It cannot be followed yet: such stretches tell how large errors are, but not whose.
        """
        starts, steps = past.rows[:, 0], past.rows.shape[1]
        once = np.flatnonzero((starts >= season) & (starts < 2 * season))
        again = [baselines.seasonal_naive(values[:row], steps, season) for row in starts[once]]
        both = np.reshape(again, (-1, steps)), past.outputs[:, once].mean(axis=0)
        errors = [np.nansum(np.abs(one - past.truth[once])) for one in both]
        if not errors[0] < errors[1]:
            return past
        outputs = past.outputs.copy()
        outputs[:, once] = both[0]
        return replace(past, outputs=outputs)

    def _asked(self, values: np.ndarray, starts: np.ndarray, seasons: Any) -> Asked:
        """What is asked of members that are no networks."""
        names = [name for name in self.names_ if name not in (NETWORKS, POOLED)]
        return Asked(names, values, starts, seasons, self.once_)

    def _set_errors(self, past: Past, outputs: np.ndarray) -> None:
        """What intervals are made of: errors of past ``outputs (stretches, steps)``, or logarithms.

        Which of them spreads more evenly is told by their densities, both in units of the values.
        """
        residuals = past.truth - outputs
        residuals[np.abs(residuals) < EXACT * np.abs(self.range_).max()] = 0.0
        self.past_, self.outputs_, self.given_ = past, outputs, None
        self.residuals_ = residuals[:, :, None] if len(residuals) else np.full((1, 1, 1), np.nan)
        self.runs_, self.log_residuals_ = past.runs + SURE, None
        there = np.isfinite(past.truth)
        if there.any() and (past.truth[there] > 0).all() and (outputs > 0).all():
            logs = log_errors(past.truth, residuals)
            plain, relative = (np.sqrt((one[there] ** 2).mean()) for one in (residuals, logs))
            if 0 < relative * np.exp(np.log(outputs[there]).mean()) < plain:
                self.log_residuals_ = logs[:, :, None]

    # --- the verdict ------------------------------------------------------------------------------

    def _judge(self, values: np.ndarray, past: Past) -> None:
        """Errors of all on the past stretches; give a plain forecast where it is clearly better."""
        metric = self._metric
        spread, (starts, steps) = spread_of(values), (past.rows[:, 0], past.rows.shape[1])
        check_zeros([metric], values, starts, steps)
        exact = EXACT * float(np.abs(self.range_).max())

        def error(outputs: np.ndarray) -> float:
            outputs = np.where(np.abs(outputs - past.truth) < exact, past.truth, outputs)
            pairs = zip(past.truth, outputs, strict=True)
            each = np.array([score_given(metric, *pair, spread) for pair in pairs])
            return float(np.mean(each[~np.isnan(each)])) if not np.isnan(each).all() else np.nan

        plain = plain_forecasts(values, self.seasons_, starts, steps)
        plain = {name: np.clip(one, *self.limits_[:, 0]) for name, one in plain.items()}
        self.baselines_ = {name: error(outputs) for name, outputs in plain.items()}
        self.member_errors_ = np.array([error(one) for one in past.outputs])
        own = error(self.outputs_)
        if np.isnan(own):
            words = "How good this forecast will be is not known: there is too little to tell."
            self.verdict_ = Verdict(words, metric.name)
            return
        best = min(self.baselines_, key=lambda name: metric.cost(self.baselines_[name]))
        lowest, level = self.baselines_[best], levels_of(self.level)[-1]
        words, together = self._sentence(own, best, metric, past), own
        if past.runs >= ENOUGH and metric.cost(lowest) < metric.times(own, CLEARLY):
            share = compared(lowest, own, metric)
            self._set_errors(past, plain[best])
            self.given_, own = best, lowest
            done = phrase(best, self.table_.index)
            words = f"this is a plain forecast, {done}: it was {share} {TOGETHER} {_where(past)}"
        coverage = self._coverage(past, level)
        if coverage is not None:
            words = f"{words}; {held_in_words(coverage, level)}"
        self.verdict_ = Verdict(
            f"{words[0].upper()}{words[1:]}.", metric.name, own, best, lowest, together, coverage,
            level, len(starts), steps,
        )  # fmt: skip

    def _sentence(self, own: float, best: str, metric: Metric, past: Past) -> str:
        """How the forecast compares with the best plain one, on the same past stretches."""
        lowest, done = self.baselines_[best], phrase(best, self.table_.index)
        share = compared(own, lowest, metric)
        words = f"{share} {done}, the best plain forecast, {_where(past)}"
        if metric.cost(own) <= metric.cost(lowest) or share == "as good as":
            return words
        if past.runs < ENOUGH:
            return f"{words}, too little to tell that it will be again"
        return f"{words}, but not clearly enough to give that one instead"

    def _coverage(self, past: Past, level: float) -> float | None:
        """The share of past values inside of intervals made of the other stretches."""
        errors = self.residuals_ if self.log_residuals_ is None else self.log_residuals_
        inside = []
        for place, (_, apart) in enumerate(past.others()):
            own = errors[place, :, 0]
            if past.runs < ENOUGH or not np.isfinite(errors[apart]).any():
                return None
            low, high = interval(errors[apart], len(own), level, self.runs_ - 1)
            inside += list((own >= low[:, 0])[~np.isnan(own)] & (own <= high[:, 0])[~np.isnan(own)])
        return float(np.mean(inside)) if inside else None

    # --- the forecast -----------------------------------------------------------------------------

    def _forecast(self, horizon: int, X: Any) -> np.ndarray:
        """The next values ``(horizon, 1)``."""
        if X is not None or self.networks_ is not None:
            check_both(X, self.X_schema_, horizon, "forecast")
        if self.given_ is not None:
            found = baselines.suiting(self.seasons_)[self.given_](self.values_, horizon)
        else:
            each = self._others_ahead(horizon)
            if self.networks_ is not None:
                each = np.concatenate([self.networks_._forecast(horizon, X).T, each])
            elif self.pool_ is not None:
                each = np.concatenate([self._pooled(horizon)[None], each])
            found = mixed(each, self.weights_, self.range_[:, 0])
        return np.clip(found, *self.limits_[:, 0])[:, None]

    def _others_ahead(self, horizon: int) -> np.ndarray:
        """What members that are no networks say of the next values, ``(members, horizon)``.

        What was said stays, to the bit, if more is asked for.
        """
        if self._lacks(horizon):
            self._say(forecasts_of([self._asked_ahead()], horizon)[0])
        assert self.next_ is not None
        return self.next_[:, :horizon]

    def _lacks(self, horizon: int) -> bool:
        """Whether members that are no networks have still to be asked for the next values."""
        return self.next_ is None or self.next_.shape[1] < horizon

    def _asked_ahead(self) -> Asked:
        """What is asked of them then."""
        return self._asked(self.values_, np.array([len(self.values_)]), lambda _: self.seasons_)

    def _say(self, found: np.ndarray) -> None:
        """Know what they say ``(members, 1, horizon)``; what was known stays."""
        before = self.next_
        self.next_ = found[:, 0]
        if before is not None:
            self.next_[:, : before.shape[1]] = before

    def _pooled(self, horizon: int) -> np.ndarray:
        """What networks that were trained on other series too say of the next values."""
        if self.ahead_ is None or len(self.ahead_) < horizon:
            assert self.pool_ is not None
            self._look_ahead(self.pool_.continued([(self.values_, self.seasons_)], horizon)[0])
        assert self.ahead_ is not None
        return self.ahead_[:horizon]

    def _look_ahead(self, ahead: np.ndarray) -> None:
        """Know what pooled networks say of the next values; what was known stays, to the bit."""
        known = np.zeros(0) if self.ahead_ is None else self.ahead_
        self.ahead_ = np.append(known, ahead[len(known) :])

    # --- files ------------------------------------------------------------------------------------

    def _parts(self) -> dict[str, Any]:
        """What a file holds of it: fitted values, and what is said of them as plain values."""
        errors = [*self.member_errors_, *self.baselines_.values()]
        known = tuple(None if np.isnan(one) else float(one) for one in errors)
        said = astuple(self.verdict_), tuple(self.notes_), tuple(self.baselines_), known
        pool = self.pool_
        own: dict[str, Any] = {"said": said, "pool_": None, "pooled_": ()}
        if pool is not None:
            own |= {"pool_": pool.readouts, "pooled_": pool.networks}
        return {one: getattr(self, one) for one in self._stored if one not in own} | own

    @classmethod
    def _restored(cls, params: dict[str, Any], fitted: dict[str, Any], networks: Any) -> Self:
        """The forecaster that a file describes; raise a ValueError unless that fits together."""
        try:
            verdict, notes, plain, errors = fitted.pop("said")
            readouts, own = fitted.pop("pool_"), fitted.pop("pooled_")
            model = cls(**params)
            model._check()
            model.pool_ = None if readouts is None else Pool.restored(own, readouts)
            for name, value in fitted.items():
                setattr(model, name, value)
            names, seasons, weights = model.names_, model.seasons_, model.weights_
            first = names[0] in (NETWORKS, POOLED)
            sound = (
                model.horizon <= HISTORY
                and len(names) == len(weights)
                and all(name in RULES for name in names[first : -1 if model.once_ else None])
                and (model.once_ is None or (names[-1] == ONCE and model.once_ < HISTORY))
                and (names[0] == NETWORKS) == (networks is not None)
                and (names[0] == POOLED) == (model.pool_ is not None)
                and (model.next_ is None or len(model.next_) == len(names) - first)
                and bool((weights >= 0).all() and weights.any())
                and all(is_integer(one) and 1 < one < HISTORY for one in seasons)
                and not np.isnan(model.values_).all()
                and bool(np.isfinite(model.values_[~np.isnan(model.values_)]).all())
                and len(model.range_) == 2
                and (model.given_ is None or model.given_ in baselines.suiting(seasons))
                and (model.timeline_ is not None) == (model.y_schema_.kind == "pandas")
                and all(isinstance(one, str) for one in (*names, *notes, *plain, verdict[0]))
            )
            each = np.array([np.nan if one is None else one for one in errors], dtype=float)
            model.member_errors_ = each[: len(names)]
            model.baselines_ = dict(zip(plain, each[len(names) :].tolist(), strict=True))
            model.verdict_, model.notes_ = Verdict(*verdict), list(notes)
        except (TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"its fitted values do not belong together: {error}") from error
        if not sound:
            raise ValueError("its members, weights, seasons and values do not belong together")
        model.networks_, model.search_, model.results_, model.recipe_ = networks, None, None, None
        model.evaluation_ = None
        return model


if TYPE_CHECKING:

    class OfLongFrame(AutoForecaster[KindOfY]):
        """One that was fitted to a long frame, and so forecasts: not a class of its own."""

        def forecast(  # type: ignore[override]
            self, horizon: int | None = None, X: Any = None, level: Level | None = None
        ) -> KindOfY: ...


def _where(past: Past) -> str:
    """On what forecasts were compared."""
    many = inflected(len(past.rows), "one past stretch", "{} past stretches")
    return f"on {many} of {count(past.rows.shape[1], 'step')}"


def unusual(values: np.ndarray, seasons: tuple[int, ...], index: Any) -> list[str]:
    """Sentences about values at the end that are far from what those before them suggest.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.sin(np.arange(60.0)) + 10
    >>> unusual(y, (), None), unusual(np.append(y, 90.0), (), None)[0][:28]
    ([], 'the last value, 90, is far f')
    """
    length = len(values)
    starts = np.arange(max(4, length - LATEST - BEFORE), length)
    if len(starts) < LATEST + LEAST:
        return []
    asked = Asked(["additive smoothing"], values, starts, lambda _: seasons)
    ahead = forecasts_of([asked], LATEST)[0][0]
    earlier = np.abs(values[starts] - ahead[:, 0])[:-LATEST]
    typical = float(np.nanmedian(earlier)) if not np.isnan(earlier).all() else np.nan
    if np.isnan(typical):
        return []
    before = values[: length - LATEST]
    far = max(FAR * typical, EXACT * float(np.nanmax(np.abs(values))), float(np.nanstd(before)) / 2)
    for steps in range(LATEST, 2, -1):  # a level that has shifted, the longest stretch of it
        apart = values[-steps:] - ahead[-steps, :steps]
        if (apart > far / 2).all() or (apart < -far / 2).all():  # of each, half as far is enough
            where = "above" if apart[0] > 0 else "below"
            return [
                f"the last {steps} values are all far {where} what came before them suggests, by "
                f"{in_words(float(np.median(np.abs(apart))))} in the middle: if their level has "
                "shifted, little is known of what follows."
            ]
    said, since = [], len(starts) - LATEST  # the start of forecasts that no such value has spoilt
    for place in range(since, len(starts)):
        row, expected = int(starts[place]), float(ahead[since, place - since])
        if abs(values[row] - expected) > far:
            said.append(
                f"{_place(row, length, index)}, {in_words(float(values[row]))}, is far from the "
                f"{in_words(expected)} that the values before suggest: if it is a mistake, correct "
                "it or leave it empty."
            )
        elif not said:
            since = place + 1
    return said


def _place(row: int, length: int, index: Any) -> str:
    """A row as a sentence begins with it."""
    if index is not None and isinstance(index, pd.DatetimeIndex | pd.PeriodIndex):
        return f"the value of {written(index[[row]])[0]}"
    return "the last value" if row == length - 1 else f"the value in row {row}"
