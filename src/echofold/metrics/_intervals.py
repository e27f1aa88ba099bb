"""How good prediction intervals are."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.integrate import trapezoid

from echofold.metrics._errors import pair


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
    t, low = pair(y_true, lower)
    _, high = pair(y_true, upper)
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
        t, q = pair(y_true, quantiles[share])
        losses.append(2 * np.mean(np.maximum(share * (t - q), (share - 1) * (t - q))))
    return float(trapezoid(losses, shares))
