"""Metrics: each a function of targets and predictions, and what a validation knows of it.

To add one, write a function with its entry, the decorator; one with a sum of errors of its own has
that in `SIZES`. Arrays are ``(T,)`` or ``(T, outputs)``.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy.integrate import trapezoid

from echofold._data.arguments import check_count, check_number
from echofold._machine.arrays import namespace
from echofold.metrics._horizon import Horizon, horizon
from echofold.metrics._targets import Spread, pair, variation

TINY = float(np.finfo(float).tiny)  # stands for an error of zero where logarithms are taken
ROUNDING = 1e-13  # a value that is smaller, beside what it was computed from, may as well be zero


# --- sums of errors -----------------------------------------------------------------------------


def relative(e, truth, of: str):
    """Sizes of errors ``e``, value minus ``truth``, that are "relative" or "symmetric".

    ``|e| / |truth|``, or ``2 |e| / (|truth| + |truth + e|)``: at most 2, and 0 where both values
    are 0. An infinite value has an infinite error in either case.
    """
    xp = namespace(e)
    size, below = xp.abs(e), xp.abs(truth)
    if of == "symmetric":
        below = (below + xp.abs(truth + e)) / 2
    right = size == 0
    quotient = size / xp.where(right, 1.0, below)
    return xp.where(right, 0.0, xp.where(xp.isfinite(size), quotient, xp.inf))


SIZES: dict[str, Callable] = {  # of errors, beside the true values; arrays of host or device
    "squared": lambda e, truth: e * e,
    "absolute": lambda e, truth: namespace(e).abs(e),
    "relative": lambda e, truth: relative(e, truth, "relative"),
    "symmetric": lambda e, truth: relative(e, truth, "symmetric"),
}
GROWING = (*SIZES, "lost")  # sums that only grow in the course of a run
TOGETHER = ("predictions", "lost")  # in an open loop, of all rows of a split together


def check_not_zero(t: np.ndarray, made_of: np.ndarray, rows: np.ndarray | None = None) -> None:
    """Raise for true values ``t (T, outputs)`` that are zero, up to the rounding of ``made_of``.

    ``rows (T,)`` are the numbers of the rows in the data, if they are others than here.
    """
    zero = np.abs(t) <= ROUNDING * np.abs(made_of)
    if zero.any():
        row = int(np.argwhere(zero)[0][0])
        raise ValueError(
            f"metric 'mape': y_true is 0 in row {row if rows is None else int(rows[row])}, which "
            "relative errors cannot be divided by; use 'smape', 'mae' or 'mase'."
        )


# --- what a validation knows --------------------------------------------------------------------


@dataclass(frozen=True)
class Metric:
    """A metric, what it is computed from, and how.

    ``needs`` is a sum of errors over the validation rows, one of `SIZES` or "labels" (wrong ones),
    or the steps "lost" of a `Horizon`; or "predictions". A sum is divided by what ``per`` says,
    "row", "value" (of every output), "variation" (of the targets) or "change" (of the series, for
    every value); ``then`` comes a "root", a "log10", the "rest" to one, or nothing. ``words`` tell
    users of it. Scores are as users read them; what is minimised is their ``cost``.
    """

    name: str
    needs: str
    function: Callable[..., float]
    per: str = field(default="value", compare=False)
    then: str = field(default="", compare=False)
    words: str = field(default="", compare=False)
    higher: bool = False

    def finish(self, total: Any, rows: Any, outputs: int, denominator: Any) -> np.ndarray:
        """Turn sums of errors into scores; arrays broadcast, an infinite sum scores infinity.

        ``rows`` is the number of validation rows, ``denominator`` what `denominators` returns for
        a metric per "variation", or the mean change of the series.
        """
        if isinstance(self.function, Horizon):
            return (np.asarray(rows) - np.asarray(total)) * self.function.step
        if self.per == "variation":
            divisor = np.asarray(denominator)
        else:
            divisor = np.asarray(rows) * (1 if self.per == "row" else outputs)
            divisor = divisor * denominator if self.per == "change" else divisor
        # The sum of a diverged run may be finite and still overflow here.
        with np.errstate(over="ignore"):
            mean = np.asarray(total) / divisor
        if self.then == "log10":
            return np.log10(np.maximum(mean, TINY))
        if self.then == "rest":
            return 1.0 - mean
        return np.sqrt(mean) if self.then == "root" else mean

    def of(self, t: np.ndarray, y: np.ndarray, denominator: Any = None) -> float:
        """The score of predictions ``y`` of targets ``t``, both ``(T, outputs)``."""
        with np.errstate(over="ignore", invalid="ignore"):
            total = SIZES[self.needs](y - t, t).sum()
        return float(self.finish(total, len(t), t.shape[1], denominator))

    def measure(self, y_true: Any, y_pred: Any, spread: Spread) -> float:
        """The score of predictions; ``spread`` is that of all the data."""
        options: dict[str, Any] = {}
        if self.per == "variation":
            if not spread.total:
                raise ValueError(
                    f"the values never change, so metric={self.name!r} has nothing to divide by; "
                    "use metric='rmse'."
                )
            options["scale"] = spread.total
        elif isinstance(self.function, Horizon):
            options["scale"] = spread
        elif isinstance(self.function, Scaled):
            options["scale"] = self.function.scale([] if spread.rows is None else [spread.rows])
        return float(self.function(y_true, y_pred, **options))

    @property
    def worst(self) -> float:
        """The score of a run that cannot be scored."""
        return -np.inf if self.higher else np.inf

    def cost(self, scores: Any) -> Any:
        """What is minimised to find the best scores, and by which they can be compared."""
        return -scores if self.higher else scores

    def times(self, cost: float, factor: float) -> float:
        """The cost of errors that are ``factor`` times those of another cost."""
        if self.then == "log10":
            return cost + 2 * float(np.log10(factor))
        if self.then == "rest":
            return (cost + 1) * factor**2 - 1
        return cost * factor if cost >= 0 else cost / factor


_METRICS: dict[str, Metric] = {}
Function = TypeVar("Function", bound=Callable)


def _metric(
    needs: str, words: str, per: str = "value", then: str = "", higher: bool = False
) -> Callable[[Function], Function]:
    """Enter a function into the table of metrics."""

    def enter(function: Function) -> Function:
        name = function.__name__
        _METRICS[name] = Metric(name, needs, function, per, then, words, higher)
        return function

    return enter


# --- the metrics --------------------------------------------------------------------------------


@_metric("squared", "RMSE relative to the spread", "variation", "root")
def nrmse(y_true: Any, y_pred: Any, *, scale: float | None = None) -> float:
    """Root of the squared error divided by the variation of the targets.

    Parameters
    ----------
    y_true, y_pred : array of shape (T,) or (T, outputs)
        Targets and predictions.
    scale : float, optional
        Mean squared deviation, summed over outputs, of all the data the rows were taken from.
        It is needed, and used, only where the targets here are one row or constant.

    Notes
    -----
    ``sqrt(sum ||y - t||^2 / sum ||t - mean(t)||^2)`` over all outputs, each with its own mean.
    The denominator is ``T * scale`` for one row or constant targets.

    Examples
    --------
    >>> from echofold.metrics import nrmse
    >>> nrmse([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    1.0
    >>> nrmse([3.0], [2.0], scale=4.0)
    0.5
    """
    t, y = pair(y_true, y_pred)
    return _METRICS["nrmse"].of(t, y, _variation(t, scale, "the NRMSE"))


def _variation(t: np.ndarray, scale: float | None, what: str) -> float:
    """The variation of targets, or rows times ``scale`` where there is none."""
    if scale is not None and not (isinstance(scale, Real) and 0 < scale < np.inf):
        raise ValueError(
            f"scale={scale!r}: expected a positive number, the mean squared deviation of the data."
        )
    found = variation(t)
    if found == 0 and scale is None:
        raise ValueError(
            f"y_true is constant over its T={len(t)} rows, so {what} has nothing to divide "
            "by; pass scale=, the mean squared deviation of all the data, or use rmse."
        )
    return found or len(t) * float(scale)  # type: ignore[arg-type]


@_metric("squared", "root mean squared error", then="root")
def rmse(y_true: Any, y_pred: Any) -> float:
    """Root of the mean squared error over rows and outputs.

    Examples
    --------
    >>> from echofold.metrics import rmse
    >>> rmse([1.0, 2.0], [3.0, 4.0])
    2.0
    """
    return _METRICS["rmse"].of(*pair(y_true, y_pred))


@_metric("squared", "mean squared error")
def mse(y_true: Any, y_pred: Any) -> float:
    """Mean squared error over rows and outputs.

    Examples
    --------
    >>> from echofold.metrics import mse
    >>> mse([1.0, 2.0], [1.0, 4.0])
    2.0
    """
    return _METRICS["mse"].of(*pair(y_true, y_pred))


@_metric("squared", "log10 of the squared error", then="log10")
def log_mse(y_true: Any, y_pred: Any) -> float:
    """Logarithm to base 10 of the mean squared error.

    A candidate's score is the mean over splits, so runs that fail early do not outweigh all
    others, as they do in a mean of errors: for chaotic systems, whose errors differ by orders of
    magnitude. An error of zero counts as the smallest normal number, about 10^-308.

    Examples
    --------
    >>> from echofold.metrics import log_mse
    >>> round(log_mse([1.0, 2.0], [1.1, 2.1]), 6)
    -2.0
    """
    return _METRICS["log_mse"].of(*pair(y_true, y_pred))


@_metric("absolute", "mean absolute error")
def mae(y_true: Any, y_pred: Any) -> float:
    """Mean absolute error over rows and outputs.

    Examples
    --------
    >>> from echofold.metrics import mae
    >>> mae([1.0, 2.0], [1.0, 4.0])
    1.0
    """
    return _METRICS["mae"].of(*pair(y_true, y_pred))


@dataclass(frozen=True)
class Scaled:
    """What `mase` returns: a metric with its season."""

    season: int = 1

    __name__: ClassVar[str] = "mase"

    def __repr__(self) -> str:
        return "mase()" if self.season == 1 else f"mase(season={self.season})"

    def __call__(
        self, y_true: Any, y_pred: Any, y_train: Any = None, *, scale: float | None = None
    ) -> float:
        """Mean absolute error of ``y_pred``, divided by ``scale`` or that of ``y_train``."""
        if (y_train is None) == (scale is None):
            raise ValueError(
                f"{self!r} needs either y_train, the series whose mean change over {self.season} "
                "steps is the unit of errors, or that number as scale="
            )
        if y_train is not None:
            train, _ = pair(y_train, y_train)
            scale = self.scale([train])
        check_number("scale", scale, "a positive number", above=0)
        with np.errstate(over="ignore"):
            return float(np.divide(mae(y_true, y_pred), float(scale)))  # type: ignore[arg-type]

    def scale(self, blocks: Iterable[np.ndarray]) -> float:
        """The mean of ``|y(t) - y(t - season)|`` over rows that come in blocks.

        Blocks are ``(rows, outputs)``, NaN where a value is missing, and follow each other.
        """
        total, count, before = 0.0, 0, None
        for block in blocks:
            rows = block if before is None else np.vstack([before, block])
            changes = np.abs(rows[self.season :] - rows[: -self.season])
            known = ~np.isnan(changes)
            total, count = total + float(changes[known].sum()), count + int(known.sum())
            before = rows[-self.season :]
        if not count:
            raise ValueError(
                f"{self!r}: the series has no two values that are {self.season} steps apart, so "
                "there is no unit of errors. Use a shorter season, or metric='mae'."
            )
        if total == 0:
            raise ValueError(
                f"{self!r}: the series never changes over {self.season} steps, so there is no unit "
                "of errors. Use metric='mae'."
            )
        return total / count


_metric("absolute", "MAE relative to a naive forecast's", "change")(Scaled())


def mase(season: int = 1) -> Scaled:
    """A metric: the absolute error in units of that of a naive forecast.

    The unit is the mean absolute change of the series over a season, which is what repeating the
    value of a season ago is off by, one season ahead.

    Parameters
    ----------
    season : int, default=1
        Steps between the values that are compared: 12 for months with a yearly season.

    Returns
    -------
    Scaled
        For ``metric=`` of searches, and a function of ``(y_true, y_pred, y_train)``, or of
        ``(y_true, y_pred, scale=...)`` with the mean absolute change itself.

    Notes
    -----
    ``mean |y - t| / mean |t(i) - t(i - season)|``, both over all outputs. Where a search or a
    validation computes it, the unit is taken from all rows that are split, those after the washout;
    in `evaluate` and `backtest`, from all rows of the data. It is one number for all candidates and
    splits, so that a search finds the same winner as by "mae".

    Examples
    --------
    >>> from echofold.metrics import mase
    >>> mase()([5.0, 6.0], [4.0, 4.0], y_train=[1.0, 3.0, 2.0, 5.0])
    0.75
    >>> mase(season=12)([5.0, 6.0], [4.0, 4.0], scale=3.0)
    0.5
    """
    check_count("season", season)
    return Scaled(int(season))


@_metric("relative", "absolute error relative to the true value")
def mape(y_true: Any, y_pred: Any) -> float:
    """Mean absolute percentage error over rows and outputs, as a fraction: 0.1 is 10 %.

    It is the mean of ``|y - t| / |t|``; true values must not be zero.

    Examples
    --------
    >>> from echofold.metrics import mape
    >>> mape([1.0, 4.0], [1.5, 3.0])
    0.375
    """
    t, y = pair(y_true, y_pred)
    check_not_zero(t, t)
    return _METRICS["mape"].of(t, y)


@_metric("symmetric", "the same, to the mean of true and forecast")
def smape(y_true: Any, y_pred: Any) -> float:
    """Symmetric mean absolute percentage error over rows and outputs, as a fraction from 0 to 2.

    It is the mean of ``2 |y - t| / (|t| + |y|)``, which is 0 where both are 0: that of the M4
    competition, divided by 100.

    Examples
    --------
    >>> from echofold.metrics import smape
    >>> smape([1.0, 0.0], [3.0, 0.0])
    0.5
    """
    return _METRICS["smape"].of(*pair(y_true, y_pred))


@_metric("squared", "share of the variation explained; higher is better", "variation", "rest", True)
def r2(y_true: Any, y_pred: Any, *, scale: float | None = None) -> float:
    """Coefficient of determination: the share of the variation that is explained.

    Higher is better: 1 is perfect, 0 as good as the mean of the targets.

    Parameters
    ----------
    y_true, y_pred, scale
        As in `nrmse`.

    Notes
    -----
    ``1 - sum ||y - t||^2 / sum ||t - mean(t)||^2`` over all outputs, ``1 - nrmse ** 2``. Of several
    outputs it is scikit-learn's ``r2_score(..., multioutput="variance_weighted")``.

    Examples
    --------
    >>> from echofold.metrics import r2
    >>> r2([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])
    0.5
    """
    t, y = pair(y_true, y_pred)
    return _METRICS["r2"].of(t, y, _variation(t, scale, "R²"))


@_metric("labels", "share of wrong labels", "row")
def error_rate(labels_true: Any, labels_pred: Any) -> float:
    """Share of labels that are wrong.

    Examples
    --------
    >>> from echofold.metrics import error_rate
    >>> error_rate(["a", "b", "b", "a"], ["a", "b", "a", "a"])
    0.25
    """
    true, pred = np.asarray(labels_true), np.asarray(labels_pred)
    if true.ndim != 1 or true.size == 0 or true.shape != pred.shape:
        raise ValueError(
            f"labels_true has shape {true.shape} and labels_pred {pred.shape}; "
            "expected two one-dimensional arrays of the same length, at least 1."
        )
    texts = [array.dtype.kind in "US" for array in (true, pred)]
    if texts[0] != texts[1] and object not in (true.dtype, pred.dtype):
        raise TypeError(
            f"labels_true is an array of {true.dtype} and labels_pred of {pred.dtype}, which are "
            "never equal; give both as text or both as numbers."
        )
    return float(np.mean(true != pred))


@_metric("labels", "share of right labels", "row", "rest", True)
def accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Share of labels that are right; the higher the better.

    Examples
    --------
    >>> from echofold.metrics import accuracy
    >>> accuracy(["a", "b", "b", "a"], ["a", "b", "a", "a"])
    0.75
    """
    return 1.0 - error_rate(labels_true, labels_pred)


# --- of intervals -------------------------------------------------------------------------------


def interval_score(y_true: Any, lower: Any, upper: Any, level: float) -> float:
    """Mean width of intervals, plus a penalty for values outside of them (Winkler 1972).

    A value outside adds its distance from the interval times ``2 / (1 - level)``, which is what
    makes the true quantiles score best.

    Parameters
    ----------
    y_true, lower, upper : array of shape (T,) or (T, outputs)
        Values, and the ends of their intervals.
    level : float in (0, 1)
        The share of values that the intervals should cover.

    Examples
    --------
    >>> from echofold.metrics import interval_score
    >>> interval_score([1.0, 5.0], [0.0, 0.0], [4.0, 4.0], level=0.5)
    6.0
    """
    check_number("level", level, "a number in (0, 1)", above=0, below=1)
    t, low = pair(y_true, lower)
    _, high = pair(y_true, upper)
    outside = np.maximum(low - t, 0) + np.maximum(t - high, 0)
    return float(np.mean(high - low + 2 / (1 - level) * outside))


def crps(y_true: Any, forecast: Any) -> float:
    """Continuous ranked probability score of a forecast with intervals at several levels.

    It is the mean absolute error of a whole distribution: twice the quantile loss, integrated over
    all quantiles. Between the ends of intervals, and the forecast in the middle, the loss lies on
    straight lines; beyond the widest interval the quantiles are its ends: give many levels.

    Parameters
    ----------
    y_true : array of shape (T,) or (T, outputs)
        What came.
    forecast : Forecast
        What ``forecast(..., level=[0.1, 0.2, ...])`` returned.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster, ESNSearchCV, KFold
    >>> from echofold.metrics import crps
    >>> y = np.sin(np.arange(230) / 5)
    >>> search = ESNSearchCV(ESNForecaster(20, random_state=0), {"ridge": [1e-8]}, cv=KFold(4))
    >>> found = search.fit(y[:200]).forecast(30, level=np.arange(1, 10) / 10)
    >>> crps(y[200:], found) < 0.1
    True
    """
    if not isinstance(getattr(forecast, "lower", None), dict):
        raise TypeError(
            "forecast: expected one with intervals at several levels, as that of "
            "forecast(horizon, level=[0.1, 0.3, 0.5, 0.7, 0.9])."
        )
    quantiles = {0.5: forecast.mean}
    for level in forecast.lower:
        quantiles[(1 - level) / 2] = forecast.lower[level]
        quantiles[(1 + level) / 2] = forecast.upper[level]
    quantiles |= {0.0: quantiles[min(quantiles)], 1.0: quantiles[max(quantiles)]}
    shares = sorted(quantiles)
    losses = []
    for share in shares:
        t, q = pair(y_true, quantiles[share])
        losses.append(2 * np.mean(np.maximum(share * (t - q), (share - 1) * (t - q))))
    return float(trapezoid(losses, shares))


# --- which are there ----------------------------------------------------------------------------

OF_VALUES = [metric.name for metric in _METRICS.values() if metric.needs != "labels"]
OF_GROWING_SUMS = "; or ".join(
    [", ".join(name for name in OF_VALUES if _METRICS[name].needs == sum_) for sum_ in SIZES]
    + ["metrics.horizon(...)"]
)
OF_ERRORS = [name for name in OF_VALUES if not _METRICS[name].higher]
RELATIVE = [name for name in OF_ERRORS if _METRICS[name].per == "variation"]
WITHOUT_UNIT = [
    metric.name
    for metric in _METRICS.values()
    if metric.per != "value" or metric.needs in ("relative", "symmetric") or metric.then == "log10"
]


def resolve(metric: Any) -> Metric:
    """Return the `Metric` of a name or of a callable ``(y_true, y_pred)``.

    A callable with a true attribute ``higher_is_better`` is maximised, and so are scikit-learn's
    functions that are called scores.
    """
    if isinstance(metric, Horizon):
        return Metric("horizon", "lost", metric, words="time until a threshold", higher=True)
    if metric is horizon or (isinstance(metric, str) and metric == "horizon"):
        shown, error = ("'horizon'", ValueError) if metric == "horizon" else ("horizon", TypeError)
        raise error(
            f"metric={shown} needs a threshold: metric=metrics.horizon(0.2), say, for errors "
            "above a fifth of the standard deviation."
        )
    metric = Scaled() if metric is mase else metric
    if isinstance(metric, Scaled):
        return replace(_METRICS["mase"], function=metric)
    if callable(metric):
        # The library's own functions keep the fast way of computing them.
        for known in _METRICS.values():
            if metric is known.function:
                return known
        name = getattr(metric, "__name__", type(metric).__name__)
        scored = str(getattr(metric, "__module__", "")).startswith("sklearn.metrics")
        higher = bool(getattr(metric, "higher_is_better", scored and name.endswith("_score")))
        return Metric(name, "predictions", metric, higher=higher)
    expected = (
        f"one of {', '.join(_METRICS)}, metrics.horizon(...), metrics.mase(...), or a callable "
        "(y_true, y_pred)."
    )
    if not isinstance(metric, str):
        raise TypeError(f"metric={metric!r}: expected {expected}")
    if metric not in _METRICS:
        near = difflib.get_close_matches(metric.lower(), _METRICS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"metric={metric!r} is unknown{hint} Expected {expected}")
    return _METRICS[metric]


def costs_of(dataset: Any) -> np.ndarray:
    """What is minimised, of the scores that a Dataset of results was selected by."""
    scores = dataset[dataset.attrs["metric"]].values
    return -scores if dataset.attrs.get("better") == "higher" else scores
