"""What users get of a forecaster or an ensemble: values, and intervals around them.

Intervals are made of the errors of validation forecasts. Errors at a step are divided by the error
that is typical there, which grows with the steps ahead, and then pooled over all steps and splits:
a few splits say little about one step, and much about all of them together. Quantiles of what is
pooled, times the typical error, are the intervals. Two things are uncertain where there are few
independent forecasts: the size of errors, so intervals are widened as those of Student's t are; and
their sign, so that errors also count with the other sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression
from scipy.special import ndtri, stdtrit
from sklearn.utils.validation import check_is_fitted

from echofold._data.arguments import check_integer, refuse
from echofold._data.dates import Timeline
from echofold._data.missing import AS_KNOWN, words_of_table
from echofold._data.panels import Panel
from echofold._data.tables import Schema, Table, read, write
from echofold._data.text import short
from echofold._machine.notices import warn_of
from echofold._models.display import as_text, forecast_html

EDGE = 1e-9  # of levels: closer to 0 or 1 the quantiles are rounding
MIRRORED = 2.0  # forecasts, divided by how many there are: what the other sign of an error counts
BEYOND = 2.0  # times the range of the data, above and below it: further values are not plausible

if TYPE_CHECKING:  # forecasts are of the kind of ``y``, and type checkers are told which that is
    from typing_extensions import TypeVar as WithDefault  # checkers bring it, Python 3.13 has it

    KindOfY = WithDefault("KindOfY", default=Any)
    Array = np.ndarray[Any, np.dtype[np.float64]]
else:
    KindOfY, Array = TypeVar("KindOfY"), np.ndarray
GivenY = TypeVar("GivenY")
Numbers = np.ndarray | Sequence[float]  # of which forecasts are arrays
Level = float | Sequence[float]  # coverage of intervals


class Forecast(NamedTuple, Generic[KindOfY]):
    """A forecast with an interval around each value.

    ``mean`` is of the kind of ``y``; ``lower`` and ``upper`` are dicts of such, by level. It shows
    itself by its first and last rows, in a notebook with a picture.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster, ESNSearchCV, KFold
    >>> y = np.sin(np.arange(200) / 5)
    >>> search = ESNSearchCV(ESNForecaster(20, random_state=0), {"ridge": [1e-8]}, cv=KFold(4))
    >>> search.fit(y).forecast(3, level=[0.5, 0.9]).to_frame().columns.tolist()
    ['forecast', 'lower_50', 'upper_50', 'lower_90', 'upper_90']
    >>> search.forecast(3, level=0.9)._replace(lower={}, upper={})
    Forecast, 3 steps
       forecast
    0    0.7450
    1    0.5977
    2    0.4265
    """

    mean: KindOfY
    lower: dict[float, KindOfY]
    upper: dict[float, KindOfY]

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame: a row for each step, a column for the forecast and each end.

        With several outputs, the first level of the columns is the output; of several series, the
        first level of the rows is the series; those without a forecast are left out.
        """
        names = self._names()
        if names is not None and isinstance(self.mean, dict | list | tuple):
            each = [self._of(name).to_frame() for name in names]
            there = [place for place, one in enumerate(each) if one["forecast"].notna().any()]
            whole = pd.concat(
                [each[place] for place in there], keys=range(len(there)), names=["series"]
            )
            called = pd.Index([names[place] for place in there], tupleize_cols=False)  # of any kind
            return whole.set_axis(whole.index.set_levels([called], level=[0]))

        frames = self._parts()
        outputs = frames["forecast"].columns
        if len(outputs) == 1:
            return pd.DataFrame({name: frame.iloc[:, 0] for name, frame in frames.items()})
        return pd.concat(
            {
                output: pd.DataFrame({name: frame[output] for name, frame in frames.items()})
                for output in outputs
            },
            axis=1,
        )

    def plot(
        self, y: Any = None, *, ax: Any = None, history: int | None = None, output: int = 0
    ) -> Any:
        """Draw the forecast with its intervals, after the series ``y`` if it is given.

        Parameters
        ----------
        y : array, series or frame, optional
            The series that was forecast.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        history : int, optional
            How many of the last values of ``y`` to show; all by default.
        output : int
            Which column.

        Returns
        -------
        matplotlib axes
        """
        from echofold import plots

        if self._names() is not None:
            raise TypeError(
                "plot draws the forecast of one series, and this is of several: "
                "model.series_[name].forecast().plot() draws one."
            )
        return plots.forecast(y, self, ax=ax, history=history, output=output)

    def __repr__(self) -> str:
        """The first and last rows of the first series, as text."""
        return as_text(self)

    def _repr_html_(self) -> str:
        """The same in a notebook, with a small picture where matplotlib is installed."""
        return forecast_html(self)

    def _names(self) -> Sequence[Any] | None:
        """The names of several series; None of one."""
        if isinstance(self.mean, dict):
            return list(self.mean)
        if isinstance(self.mean, list | tuple):
            return range(len(self.mean))
        index = getattr(self.mean, "index", None)
        return list(index.unique(0)) if isinstance(index, pd.MultiIndex) else None

    def _of(self, name: Any) -> Forecast:
        """The forecast of one of several series."""

        def one(whole: Any) -> Any:
            return whole.xs(name, level=0) if hasattr(whole, "xs") else whole[name]

        lower, upper = ({k: one(end) for k, end in ends.items()} for ends in self[1:])
        return Forecast(one(self.mean), lower, upper)

    def _parts(self) -> dict[str, pd.DataFrame]:
        """The mean and each end, by their names as columns, as frames of all outputs."""
        parts = {"forecast": self.mean}
        for level, low in self.lower.items():
            percent = f"{100 * level:.10g}"
            parts |= {f"lower_{percent}": low, f"upper_{percent}": self.upper[level]}
        return {name: _as_frame(part) for name, part in parts.items()}


def _as_frame(part: Any):
    """Values of any kind as a pandas frame, with their index if they have one."""
    if hasattr(part, "get_columns"):  # a frame of polars
        part = pd.DataFrame({column.name: column.to_numpy() for column in part.get_columns()})
    elif hasattr(part, "to_pandas"):  # a series of polars
        part = pd.Series(part.to_numpy(), name=part.name)
    if isinstance(part, np.ndarray) and part.ndim > 2:  # a field: its cells are columns
        part = part.reshape(len(part), -1)
    return part.to_frame(0) if isinstance(part, pd.Series) else pd.DataFrame(part)


class Forecasts(Generic[KindOfY]):
    """What goes on from the end of a series, in the kind that it was given in."""

    y_schema_: Schema
    timeline_: Timeline | None
    range_: np.ndarray

    @overload
    def forecast(self, horizon: int, X: Any = None, level: None = None) -> KindOfY: ...

    @overload
    def forecast(self, horizon: int, X: Any = None, *, level: Level) -> Forecast[KindOfY]: ...

    def forecast(self, horizon: int, X: Any = None, level: Level | None = None) -> Any:
        """Continue the series right after its last row, be its value known or missing.

        Parameters
        ----------
        horizon : int
            Number of values to forecast.
        X : array or frame of shape (horizon, known inputs), optional
            Known inputs; row ``i`` belongs to the ``i``-th forecast value. Required if `fit` was
            given ``X``. Missing ones (NaN) are filled from the others of their column. Of
            more rows, with pandas dates, those of the forecast are taken.
        level : float in (0, 1) or list of floats, optional
            Coverage of an interval around each value, as 0.9, or of several: ``[0.5, 0.9]``.

        Returns
        -------
        forecast : array, series or frame of shape (horizon,) or (horizon, outputs)
            In the kind of ``y``. A pandas index is continued: dates by their frequency (set, or
            inferred from three dates or more), periods, and integers with a constant step. Any
            other index cannot be, and the forecast is numbered by row from ``T`` on. With
            ``level``, a `Forecast`: a named tuple of ``mean``, ``lower`` and ``upper``.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from echofold import ESNForecaster
        >>> days = pd.date_range("2024-01-01", periods=60, freq="D")
        >>> y = pd.Series(np.sin(np.arange(60) / 3), index=days, name="tide")
        >>> model = ESNForecaster(units=20, random_state=0).fit(y)
        >>> model.forecast(2).index[0]
        Timestamp('2024-03-01 00:00:00')
        """
        if hasattr(self, "fit"):  # an ensemble is made of what is fitted
            check_is_fitted(self)
        return forecast_of(self, horizon, X, level)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Absent, as scikit-learn's tools ask: what it predicts from is rows, not a horizon.
            words = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name == "predict":
                words += (
                    ": a forecaster goes on from the end of its series. Use forecast(horizon), "
                    "with X for the steps ahead if fit was given any; a forecaster that predicts "
                    "as sktime's do is echofold.sktime.EchoStateForecaster."
                )
            raise AttributeError(words, name=name, obj=self)

    def _write(self, values: np.ndarray) -> Any:
        """Give a forecast in the kind of ``y``."""
        index = None if self.timeline_ is None else self.timeline_.following(len(values))
        return write(values, self.y_schema_, index)

    def _passed(self, rows: int, span: np.ndarray) -> None:
        """Be at the end of so many more rows, whose range ``span (2, outputs)`` is."""
        if hasattr(self, "range_"):  # a file may do without
            low, high = self.range_
            self.range_ = np.array([np.fmin(low, span[0]), np.fmax(high, span[1])])
        if self.timeline_ is not None:
            self.timeline_ = self.timeline_.moved(rows)


def forecast_of(model: Any, horizon, X, level, warn: bool = True):
    """The next values of a forecaster or an ensemble; a `Forecast` if a level is given.

    A forecast that runs away is warned of, unless its errors will tell.
    """
    check_integer("horizon", horizon, 1)
    levels = None if level is None else levels_of(level)
    if levels is not None and model.residuals_ is None:
        raise ValueError(
            "level needs validation errors, which a plain fit does not make: intervals come "
            "from ESNSearchCV. Forecast with its best_estimator_, or leave level out."
        )
    if X is not None:
        X = of_steps_ahead(X, model.timeline_, int(horizon))
    mean = model._forecast(int(horizon), X)
    warn_of(words_of_known(X))
    if warn:
        _warn_if_implausible(mean, getattr(model, "range_", None), model.residuals_ is not None)
        if levels is not None:
            warn_of(words_beyond(model.residuals_, horizon))
    if levels is None:
        return model._write(mean)
    lower, upper = {}, {}
    for one in levels:
        low, high = around(model, mean, one)
        lower[one], upper[one] = model._write(low), model._write(high)
    return Forecast(model._write(mean), lower, upper)


def of_all(panel: Panel, each: Sequence[Any]) -> Any:
    """Forecasts of several series in the kind of their panel, with intervals if they have them."""
    if not isinstance(each[0], Forecast) or panel.kind == "long":
        return panel.write([one.to_frame() if isinstance(one, Forecast) else one for one in each])
    mean, lower, upper = zip(*each, strict=True)
    ends = [{one: panel.write([e[one] for e in end]) for one in end[0]} for end in (lower, upper)]
    return Forecast(panel.write(mean), *ends)


def check_both(X: Any, fitted: Schema | None, rows: int, method: str) -> None:
    """Raise unless a method is given known inputs if `fit` was, and only then."""
    if (X is None) != (fitted is None):
        given, not_given = ("fit", method) if X is None else (method, "fit")
        raise ValueError(
            f"X was given to {given} but not to {not_given}: inputs known in advance must be given "
            f"to both. {method} needs one row of X for each of its {rows} values."
        )


def of_steps_ahead(X: Any, timeline: Timeline | None, horizon: int) -> Any:
    """Of known inputs with dates the rows of the steps ahead, if there are more than these."""
    dates = getattr(X, "index", None)
    if (
        timeline is None
        or not isinstance(dates, pd.DatetimeIndex | pd.PeriodIndex)
        or len(dates) <= horizon
        or not dates.is_unique
    ):
        return X
    ahead = timeline.following(horizon)
    return X.loc[ahead] if ahead.isin(dates).all() else X


def check_beside(given: Table, y: Table) -> None:
    """Raise unless there is a row of known inputs for each of ``y``."""
    if len(given.values) != len(y.values):
        raise ValueError(
            f"X has {len(given.values)} rows and y has {len(y.values)}; row t of X belongs to "
            "y(t). Give X for the times of y here, and its future rows to forecast."
        )


def words_beyond(residuals: np.ndarray, horizon: int) -> tuple[str, ...]:
    """What is said of intervals beyond the steps that were validated."""
    steps = residuals.shape[1]
    if horizon <= steps or np.isnan(residuals).all():  # there are no intervals
        return ()
    return (
        f"intervals beyond step {steps}, the last that could be validated, widen as errors grew up "
        "to it.",
    )


def words_of_known(X) -> tuple[str, ...]:
    """What is said of missing values among inputs known in advance."""
    if X is None:
        return ()
    return words_of_table(read(X, "X", missing=True), "X", AS_KNOWN)


def plausible(values: np.ndarray, span: np.ndarray) -> np.ndarray:
    """Which of ``values (…, outputs)`` are near the data, whose range ``span (2, outputs)`` is."""
    room = BEYOND * (span[1] - span[0])
    return (values >= span[0] - room) & (values <= span[1] + room)


def levels_of(level: Any) -> list[float]:
    """The levels asked for, in ascending order."""
    given = [level] if np.ndim(level) == 0 else list(level)
    for one in given or [level]:
        one = one.item() if isinstance(one, np.ndarray) and one.ndim == 0 else one
        if not isinstance(one, Real) or isinstance(one, bool) or not EDGE <= float(one) <= 1 - EDGE:
            refuse("level", one, "a number in (0, 1), or a list of such numbers")
    return sorted({float(one) for one in given})


def around(model: Any, mean: np.ndarray, level: float) -> np.ndarray:
    """Ends ``(2, horizon, outputs)`` of intervals: by factors if logarithms were learned."""
    errors, logs = model.residuals_, getattr(model, "log_residuals_", None)
    runs = getattr(model, "runs_", len(errors))
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.stack(interval(errors if logs is None else logs, len(mean), level, runs))
        ends = mean + (apart if logs is None else mean * np.expm1(apart))
    return ends if model._limits is None else np.clip(ends, *model._limits)


def _warn_if_implausible(mean: np.ndarray, span: np.ndarray | None, searched: bool) -> None:
    """Warn of a forecast that runs away from its data; a search has tried other networks."""
    if span is None or plausible(mean, span).all():
        return
    step, output = np.argwhere(~plausible(mean, span))[0]
    low, high = (short(float(end[output])) for end in span)
    remedy = "Search ridge, spectral_radius and difference with ESNSearchCV, use a larger ridge"
    if searched:
        remedy = "Search larger values of ridge and values of difference, use final='ensemble'"
    words = (
        f"the forecast reaches {short(float(mean[step, output]))} at step {step + 1}, far outside "
        f"of the data, which lie between {low} and {high}: the network is not stable on its own "
        f"output. {remedy}, or set output_range."
    )
    warn_of((words,))


def interval(
    errors: np.ndarray, horizon: int, level: float, runs: float
) -> tuple[np.ndarray, np.ndarray]:
    """Errors ``(horizon, outputs)`` below and above which ``1 − level`` of all should lie, in all.

    ``errors (count, steps, outputs)``, true value minus forecast, are those of validation
    forecasts, NaN where one was shorter; those that are infinite are left out. ``runs`` is the
    number of forecasts that do not overlap. Beyond the validated steps errors go on to grow as they
    did before.

    Examples
    --------
    >>> import numpy as np
    >>> errors = np.random.RandomState(0).normal(size=(500, 2, 1)) * [[1.0], [3.0]]
    >>> low, high = interval(errors, 3, 0.9, 500)
    >>> high[:, 0].round(1).tolist()
    [1.6, 5.0, 7.5]
    """
    found = np.where(np.isfinite(errors), errors, np.nan)
    low, high = np.full((2, horizon, errors.shape[2]), np.nan)
    if np.isnan(errors).all():  # nothing was there to be forecast
        return low, high
    for output in range(errors.shape[2]):
        typical = _typical(found[:, :, output])
        ends = _ends(found[:, :, output], typical, level, runs)
        ahead = _continued(typical, horizon)
        low[:, output], high[:, output] = ahead * ends[0], ahead * ends[1]
    return low, high


def _typical(errors: np.ndarray) -> np.ndarray:
    """The root mean squared error at every step of ``(count, steps)``, never falling."""
    size = np.abs(errors)
    count = (~np.isnan(size)).sum(axis=0)
    if not count.any():
        raise ValueError(
            "no validation forecast is finite, so that nothing is known about errors. Search "
            "larger ridge values or smaller spectral radii."
        )
    last = int(np.flatnonzero(count)[-1]) + 1
    size, count = np.nan_to_num(size[:, :last]), count[:last]
    largest = size.max(axis=0)  # of which squares might be infinite
    share = size / np.where(largest > 0, largest, 1.0)
    found = largest * np.sqrt((share**2).sum(axis=0) / np.maximum(count, 1))
    whole = found.max() or 1.0
    return whole * isotonic_regression(found / whole, weights=np.maximum(count, 1e-9)).x


def _continued(typical: np.ndarray, horizon: int) -> np.ndarray:
    """Typical errors of so many steps: a power of the steps beyond those that were validated.

    It is the one that the known errors grow by, or a half, as of a random walk, where one is known.
    """
    steps, power = len(typical), 0.5
    if steps > 1 and typical[0] > 0:
        power = min(1.0, float(np.polyfit(np.log(np.arange(1, steps + 1)), np.log(typical), 1)[0]))
    beyond = np.arange(1, horizon + 1) / steps
    known = typical[np.minimum(np.arange(horizon), steps - 1)]
    return known * np.maximum(1.0, beyond) ** power


def _ends(errors: np.ndarray, typical: np.ndarray, level: float, runs: float):
    """Ends of the interval, in units of the typical error."""
    with np.errstate(invalid="ignore", divide="ignore"):
        pooled = errors[:, : len(typical)] / typical
    pooled = pooled[np.isfinite(pooled)]  # not 0 / 0, where every forecast was exact
    if not len(pooled):
        return 0.0, 0.0
    signs = np.concatenate([pooled, -pooled])
    weights = np.repeat([1.0, min(1.0, MIRRORED / runs)], len(pooled))
    upper = (1 + level) / 2
    low, middle, high = _quantiles(signs, weights, np.array([1 - upper, 0.5, upper]))
    wider = stdtrit(max(runs, 2.0), upper) / ndtri(upper)  # quantiles of Student's t, and normal
    return middle + wider * (low - middle), middle + wider * (high - middle)


def _quantiles(values: np.ndarray, weights: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Weighted quantiles, on straight lines between the middles of the weights."""
    order = np.lexsort((weights, values))
    weights = weights[order]
    middles = (np.cumsum(weights) - weights / 2) / weights.sum()
    return np.interp(shares, middles, values[order])
