"""Metrics: errors of predictions, of which the lower are better, R² and the prediction horizon.

Arrays are ``(T,)`` or ``(T, outputs)``. A metric of your own is a function of ``(y_true, y_pred)``;
with an attribute ``higher_is_better = True`` it is maximised.
"""

from __future__ import annotations

from echofold.metrics._errors import (
    accuracy,
    error_rate,
    log_mse,
    mae,
    mse,
    nrmse,
    r2,
    rmse,
)
from echofold.metrics._horizon import horizon
from echofold.metrics._intervals import crps, interval_score
from echofold.metrics._relative import mape, mase, smape

__all__ = [
    "accuracy",
    "crps",
    "error_rate",
    "horizon",
    "interval_score",
    "log_mse",
    "mae",
    "mape",
    "mase",
    "mse",
    "nrmse",
    "r2",
    "rmse",
    "smape",
]
