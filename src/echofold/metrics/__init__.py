"""Metrics: errors of predictions, of which the lower are better, R² and the prediction horizon.

Arrays are ``(T,)`` or ``(T, outputs)``. A metric of your own is a function of ``(y_true, y_pred)``;
with an attribute ``higher_is_better = True`` it is maximised.
"""

from echofold.metrics._horizon import horizon
from echofold.metrics._metric import (
    accuracy,
    crps,
    error_rate,
    interval_score,
    log_mse,
    mae,
    mape,
    mase,
    mse,
    nrmse,
    r2,
    rmse,
    smape,
)

__all__ = [
    "accuracy", "crps", "error_rate", "horizon", "interval_score", "log_mse", "mae", "mape", "mase",
    "mse", "nrmse", "r2", "rmse", "smape",
]  # fmt: skip
