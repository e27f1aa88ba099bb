"""Errors of predictions; lower is better, arrays are ``(T,)`` or ``(T, outputs)``."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from scipy.integrate import trapezoid

# Variation below 1e-12 of the size of the values is rounding left by whatever computed them.
_CONSTANT = 1e-24
_BLOCK = 2**14  # rows looked at together where a copy of all would be large


def _pair(y_true: Any, y_pred: Any) -> tuple[np.ndarray, np.ndarray]:
    """Check targets and predictions and return both as (T, outputs)."""
    arrays = []
    for name, values in (("y_true", y_true), ("y_pred", y_pred)):
        try:
            array = np.asarray(values, dtype=float)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name}: expected an array of real numbers; {error}.") from error
        if array.ndim not in (1, 2) or array.size == 0:
            raise ValueError(
                f"{name}: got an array of shape {array.shape}, expected (T,) or (T, outputs) "
                "with at least one row and one output."
            )
        arrays.append(array.reshape(len(array), -1))
    t, y = arrays
    if t.shape != y.shape:
        raise ValueError(
            f"y_true has shape {t.shape} and y_pred {y.shape} as (rows, outputs); "
            "expected the same shape."
        )
    if not np.isfinite(t).all():
        raise ValueError("y_true holds NaN or infinity; remove or fill those rows first.")
    return t, y


def _squared(t: np.ndarray, y: np.ndarray) -> float:
    """Sum of squared errors; a diverged prediction may overflow to infinity."""
    with np.errstate(over="ignore"):
        return float(np.sum((y - t) ** 2))


def _variations(t: np.ndarray, real: np.ndarray) -> np.ndarray:
    """Sums of squared deviations from the means of sets of rows ``t (sets, rows, outputs)``.

    Only rows that are ``real (sets, rows)`` count; the sum of a constant set is exactly 0.
    """
    mask = real[:, :, None]
    # Measuring from the first row makes the deviations of constant rows exactly zero; the mean of
    # many equal numbers, summed down a column, is off by far more than one rounding.
    d = np.where(mask, t - t[:, :1], 0.0)
    mean = d.sum(axis=1, keepdims=True) / mask.sum(axis=1, keepdims=True)
    each = np.sum(np.where(mask, d - mean, 0.0) ** 2, axis=1)
    # Output by output: a large constant output must not hide a small one that varies.
    constant = each <= _CONSTANT * np.sum(np.where(mask, t, 0.0) ** 2, axis=1)
    return np.where(constant.all(axis=1), 0.0, each.sum(axis=1))


def _variation(t: np.ndarray) -> float:
    """Sum of squared deviations from the mean of each output, 0 for constant (T, outputs) rows."""
    return float(_variations(t[None], np.ones((1, len(t)), dtype=bool))[0])


def nrmse(y_true: Any, y_pred: Any, *, scale: float | None = None) -> float:
    """Root of the squared error divided by the variation of the targets.

    Parameters
    ----------
    y_true, y_pred : array of shape (T,) or (T, outputs)
        Targets and predictions.
    scale : float, optional
        Mean squared deviation, summed over outputs, of all the data the rows were taken from.
        It is needed, and used, only where the targets here are one row or constant.

    Returns
    -------
    float

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
    t, y = _pair(y_true, y_pred)
    if scale is not None and not (isinstance(scale, Real) and 0 < scale < np.inf):
        raise ValueError(
            f"scale={scale!r}: expected a positive number, the mean squared deviation of the data."
        )
    denominator = _variation(t)
    if denominator == 0:
        if scale is None:
            raise ValueError(
                f"y_true is constant over its T={len(t)} rows, so the NRMSE has nothing to divide "
                "by; pass scale=, the mean squared deviation of all the data, or use rmse."
            )
        denominator = len(t) * float(scale)
    return float(_METRICS["nrmse"].finish(_squared(t, y), len(t), t.shape[1], denominator))


def mse(y_true: Any, y_pred: Any) -> float:
    """Mean squared error over rows and outputs.

    Examples
    --------
    >>> from echofold.metrics import mse
    >>> mse([1.0, 2.0], [1.0, 4.0])
    2.0
    """
    t, y = _pair(y_true, y_pred)
    return _squared(t, y) / t.size


def rmse(y_true: Any, y_pred: Any) -> float:
    """Root of the mean squared error over rows and outputs.

    Examples
    --------
    >>> from echofold.metrics import rmse
    >>> rmse([1.0, 2.0], [3.0, 4.0])
    2.0
    """
    return float(np.sqrt(mse(y_true, y_pred)))


def mae(y_true: Any, y_pred: Any) -> float:
    """Mean absolute error over rows and outputs.

    Examples
    --------
    >>> from echofold.metrics import mae
    >>> mae([1.0, 2.0], [1.0, 4.0])
    1.0
    """
    t, y = _pair(y_true, y_pred)
    with np.errstate(over="ignore"):
        return float(np.mean(np.abs(y - t)))


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

    Returns
    -------
    float

    Examples
    --------
    >>> from echofold.metrics import interval_score
    >>> interval_score([1.0, 5.0], [0.0, 0.0], [4.0, 4.0], level=0.5)
    6.0
    """
    if not isinstance(level, Real) or not 0 < level < 1:
        raise ValueError(f"level={level!r} is not allowed: it must be a number in (0, 1).")
    t, low = _pair(y_true, lower)
    _, high = _pair(y_true, upper)
    outside = np.maximum(low - t, 0) + np.maximum(t - high, 0)
    return float(np.mean(high - low + 2 / (1 - level) * outside))


def crps(y_true: Any, forecast: Any) -> float:
    """Continuous ranked probability score of a forecast with intervals at several levels.

    It is the mean absolute error of a whole distribution: twice the quantile loss, integrated over
    all quantiles. Between the ends of intervals, and the forecast in the middle, the loss lies on
    straight lines; beyond the widest interval the quantiles are its ends. More levels are more
    exact.

    Parameters
    ----------
    y_true : array of shape (T,) or (T, outputs)
        What came.
    forecast : Forecast
        What ``forecast(..., level=[0.1, 0.2, ...])`` returned.

    Returns
    -------
    float

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
    inside = sorted(quantiles)
    quantiles |= {0.0: quantiles[inside[0]], 1.0: quantiles[inside[-1]]}
    shares = sorted(quantiles)
    losses = []
    for share in shares:
        t, q = _pair(y_true, quantiles[share])
        losses.append(2 * np.mean(np.maximum(share * (t - q), (share - 1) * (t - q))))
    return float(trapezoid(losses, shares))


@dataclass(frozen=True)
class Metric:
    """A metric, what it is computed from, and how.

    ``needs`` is a sum of errors over the validation rows, "squared", "absolute" or "labels" (wrong
    ones); or "predictions". A sum is divided by what ``per`` says, "row", "value" (of every output)
    or "variation" (of the targets); then comes a ``root``, or not. ``words`` tell users of it.
    """

    name: str
    needs: str
    function: Callable[..., float]
    per: str = field(default="value", compare=False)
    root: bool = field(default=False, compare=False)
    words: str = field(default="", compare=False)

    def finish(self, total: Any, rows: Any, outputs: int, denominator: Any) -> np.ndarray:
        """Turn sums of errors into scores; arrays broadcast, an infinite sum scores infinity.

        ``total`` is the sum of squared or absolute errors or the number of wrong labels,
        ``rows`` the number of validation rows, ``denominator`` what `denominators` returns
        (used by nrmse alone).
        """
        if self.needs == "predictions":
            raise TypeError(
                f"metric {self.name!r} has no sums to finish; call function(y_true, y_pred)."
            )
        if self.per == "variation":
            divisor = np.asarray(denominator)
        else:
            divisor = np.asarray(rows) * (1 if self.per == "row" else outputs)
        # The sum of a diverged run may be finite and still overflow here.
        with np.errstate(over="ignore"):
            mean = np.asarray(total) / divisor
        return np.sqrt(mean) if self.root else mean

    def measure(self, y_true: Any, y_pred: Any, spread: float) -> float:
        """The error of predictions; ``spread`` is the mean squared deviation of all the data."""
        options = {"scale": spread} if self.per == "variation" else {}
        return float(self.function(y_true, y_pred, **options))


_METRICS = {
    metric.name: metric
    for metric in (
        Metric("nrmse", "squared", nrmse, "variation", True, "RMSE relative to the spread"),
        Metric("rmse", "squared", rmse, root=True, words="root mean squared error"),
        Metric("mse", "squared", mse, words="mean squared error"),
        Metric("mae", "absolute", mae, words="mean absolute error"),
        Metric("error_rate", "labels", error_rate, "row", words="share of wrong labels"),
    )
}
OF_VALUES = [metric.name for metric in _METRICS.values() if metric.needs != "labels"]
OF_GROWING_SUMS = "; or ".join(
    ", ".join(metric.name for metric in _METRICS.values() if metric.needs == sum_)
    for sum_ in ("squared", "absolute")
)
RELATIVE = [metric.name for metric in _METRICS.values() if metric.per == "variation"]


def resolve(metric: Any) -> Metric:
    """Return the `Metric` of a name or of a callable ``(y_true, y_pred)``."""
    if callable(metric):
        # The library's own functions keep the fast way of computing them.
        for known in _METRICS.values():
            if metric is known.function:
                return known
        return Metric(getattr(metric, "__name__", type(metric).__name__), "predictions", metric)
    names = ", ".join(_METRICS)
    if not isinstance(metric, str):
        raise TypeError(
            f"metric={metric!r}: expected one of {names}, or a callable (y_true, y_pred)."
        )
    if metric not in _METRICS:
        near = difflib.get_close_matches(metric.lower(), _METRICS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(
            f"metric={metric!r} is unknown{hint} "
            f"Expected one of {names}, or a callable (y_true, y_pred)."
        )
    return _METRICS[metric]


def denominators(targets: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the NRMSE denominator of each validation set of ``targets`` (n, outputs).

    ``at`` (sets, longest) holds row numbers, n where padded. One row or constant rows give
    rows × s², with s² the mean squared deviation, summed over outputs, of all n rows.
    """
    real = at < len(targets)
    rows = real.sum(axis=1).astype(float)
    variations = np.zeros(len(at))
    if at.shape[1] > 1:
        variations = _variations(targets[np.minimum(at, len(targets) - 1)], real)
    if (variations == 0).any():
        variations = _without_zeros(variations, rows, _variation(targets), len(targets))
    return variations


def interval_denominators(
    targets: np.ndarray, unit: np.ndarray, intervals: Sequence[tuple[int, int]]
) -> np.ndarray:
    """Return `denominators` of intervals of ``targets * unit``, without copies of the data."""
    variations = np.array([_variation_in_blocks(targets[a:b], unit) for a, b in intervals])
    if (variations == 0).any():
        rows = np.array([b - a for a, b in intervals], dtype=float)
        variations = _without_zeros(
            variations, rows, _variation_in_blocks(targets, unit), len(targets)
        )
    return variations


def _variation_in_blocks(t: np.ndarray, unit: np.ndarray) -> float:
    """`_variation` of ``t * unit`` in memory that does not grow with its rows."""
    starts, first = range(0, len(t), _BLOCK), t[0]
    mean = each = size = np.zeros(t.shape[1])
    for row in starts:
        mean = mean + ((np.asarray(t[row : row + _BLOCK]) - first) * unit).sum(axis=0)
    mean = mean / len(t)
    for row in starts:
        block = np.asarray(t[row : row + _BLOCK])
        each = each + (((block - first) * unit - mean) ** 2).sum(axis=0)
        size = size + ((block * unit) ** 2).sum(axis=0)
    return 0.0 if (each <= _CONSTANT * size).all() else float(each.sum())


def _without_zeros(
    variations: np.ndarray, rows: np.ndarray, variation: float, n: int
) -> np.ndarray:
    """Replace the zeros of constant sets by rows times the mean variation of all the data."""
    if variation == 0:
        raise ValueError(
            f"the targets are constant over all n={n} rows, so the NRMSE has "
            "nothing to divide by; use metric='rmse'."
        )
    return np.where(variations == 0, rows * variation / n, variations)
