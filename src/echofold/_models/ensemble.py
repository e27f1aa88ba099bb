"""Several forecasters as one: their forecasts, combined in original units."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from echofold._data.tasks import FORECASTING
from echofold._models.base import whole_or_not_at_all
from echofold._models.forecaster import ESNForecaster, forecast_of

TRIMMED = 0.2  # share of members, from either end, that a step's mean leaves out


def combined(forecasts: np.ndarray) -> np.ndarray:
    """The trimmed mean over the first axis, without members that diverge anywhere.

    Examples
    --------
    >>> import numpy as np
    >>> combined(np.array([[1.0], [2.0], [3.0], [4.0], [90.0], [np.inf]]))
    array([3.])
    """
    axes = tuple(range(1, forecasts.ndim))
    sound = np.isfinite(forecasts).all(axis=axes)
    if not sound.any():
        return np.full(forecasts.shape[1:], np.inf)
    ordered = np.sort(forecasts[sound], axis=0)
    cut = int(TRIMMED * len(ordered))
    return ordered[cut : len(ordered) - cut].mean(axis=0)


class ForecastEnsemble(BaseEstimator):
    """Fitted forecasters of one series, whose forecasts are combined.

    A search makes one with ``final="ensemble"``: the best candidate of every representation that
    is not much worse than the best of all, with the weights of every draw. At each step the
    forecast is the mean of the members' without the fifth at either end.

    Parameters
    ----------
    members : list of ESNForecaster
        Fitted to the same series.

    Attributes
    ----------
    residuals_ : ndarray of shape (count, horizon, outputs) or None
        Validation errors of the ensemble itself, that intervals are made of.
    """

    _task = FORECASTING

    def __init__(self, members):
        self.members = members
        self.residuals_: np.ndarray | None = None

    def __getattr__(self, name: str) -> Any:
        # What all members share, as the schema of the data, is that of the first.
        if name.startswith("__") or name == "members":
            raise AttributeError(name)
        if name in ("y_schema_", "X_schema_", "timeline_", "readout_", "seed_", "condition_",
                    "ridge", "_write"):  # fmt: skip
            return getattr(self.members[0], name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def forecast(self, horizon, X=None, level=None):
        """Continue the series right after its last value, as `ESNForecaster.forecast` does.

        Parameters
        ----------
        horizon : int
            Number of values to forecast.
        X : array or frame of shape (horizon, known inputs), optional
            Known inputs, if `fit` was given any.
        level : float in (0, 1), optional
            Coverage of an interval around each value, from the ensemble's own validation errors.

        Returns
        -------
        forecast : array, series or frame, or a named tuple of ``mean``, ``lower`` and ``upper``
        """
        return forecast_of(self, horizon, X, level)

    def _forecast(self, horizon: int, X) -> np.ndarray:
        """The members' next values ``(horizon, outputs)``, combined."""
        return combined(np.stack([member._forecast(horizon, X) for member in self.members]))

    @whole_or_not_at_all
    def update(self, y, X=None):
        """Move all members on over new data, as `ESNForecaster.update` does."""
        self.members = [copy(member).update(y, X) for member in self.members]
        return self


def is_ensemble(estimator: Any) -> bool:
    """Whether an estimator is an ensemble of fitted forecasters."""
    return (
        type(estimator) is ForecastEnsemble
        and len(estimator.members) > 0
        and all(type(member) is ESNForecaster for member in estimator.members)
    )
