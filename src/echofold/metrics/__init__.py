"""Metrics: errors of predictions, of which the lower are better, R² and the prediction horizon.

Arrays are ``(T,)`` or ``(T, outputs)``. A metric of your own is a function of ``(y_true, y_pred)``;
with an attribute ``higher_is_better = True`` it is maximised.
"""

from __future__ import annotations

from echofold.metrics._errors import (
    accuracy,
    denominators,
    error_rate,
    interval_denominators,
    log_mse,
    mae,
    mse,
    nrmse,
    r2,
    rmse,
)
from echofold.metrics._horizon import Horizon, Spread, horizon, spread_of
from echofold.metrics._intervals import crps, interval_score
from echofold.metrics._metric import (
    GROWING,
    OF_ERRORS,
    OF_GROWING_SUMS,
    OF_VALUES,
    RELATIVE,
    TOGETHER,
    WITHOUT_UNIT,
    Metric,
    costs_of,
    resolve,
)
from echofold.metrics._relative import Scaled, check_not_zero, mape, mase, relative, smape

__all__ = [
    "TOGETHER",
    "GROWING",
    "OF_ERRORS",
    "OF_GROWING_SUMS",
    "OF_VALUES",
    "RELATIVE",
    "WITHOUT_UNIT",
    "Horizon",
    "Metric",
    "Scaled",
    "Spread",
    "accuracy",
    "check_not_zero",
    "costs_of",
    "crps",
    "denominators",
    "error_rate",
    "horizon",
    "interval_denominators",
    "interval_score",
    "log_mse",
    "mae",
    "mape",
    "mase",
    "mse",
    "nrmse",
    "r2",
    "relative",
    "resolve",
    "rmse",
    "smape",
    "spread_of",
]
