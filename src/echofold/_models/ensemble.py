"""Several forecasters as one: their forecasts, combined in original units."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np

from echofold._data.problem import FORECASTING
from echofold._data.scikit_learn import BaseEstimator
from echofold._machine.notices import warn_of
from echofold._models.base import whole_or_not_at_all
from echofold._models.forecast import Forecasts, KindOfY, plausible
from echofold._models.forecaster import ESNForecaster

TRIMMED = 0.2  # share of members, from either end, that a step's mean leaves out


def combined(forecasts: np.ndarray, span: np.ndarray, positive: bool = False) -> np.ndarray:
    """The trimmed mean over members of ``forecasts (members, steps, outputs)``.

    Members that diverge or run away from the data, whose range ``span (2, outputs)`` is, are left
    out from that step on; if ``positive``, those too that do not stay above zero. If no member is
    sound, all are taken.

    Examples
    --------
    >>> import numpy as np
    >>> forecasts = np.array([1.0, 2.0, 3.0, 4.0, 9.0, 90.0, np.inf])[:, None, None]
    >>> combined(forecasts, np.array([[0.0], [10.0]]))
    array([[3.]])
    """
    with np.errstate(invalid="ignore"):
        inside = plausible(forecasts, span) & (forecasts > 0 if positive else True)
    sound = np.logical_and.accumulate(inside.all(axis=2), axis=1)
    found = np.empty(forecasts.shape[1:])
    for step, members in enumerate(sound.T):
        ordered = np.sort(forecasts[members, step] if members.any() else forecasts[:, step], axis=0)
        cut = int(TRIMMED * len(ordered))
        with np.errstate(invalid="ignore"):
            found[step] = ordered[cut : len(ordered) - cut].mean(axis=0)
    return found


class ForecastEnsemble(Forecasts[KindOfY], BaseEstimator):
    """Fitted forecasters of one series, whose forecasts are combined.

    A search makes one with ``final="ensemble"``: the best candidates of the representations that
    are fit for it, with the weights of every draw. At each step the forecast is the mean of the
    members' without the fifth at either end.

    Parameters
    ----------
    members : list of ESNForecaster
        Fitted to the same series.

    Attributes
    ----------
    residuals_ : ndarray of shape (count, horizon, outputs) or None
        Validation errors of the ensemble itself, that intervals are made of.
    log_residuals_ : ndarray of shape (count, horizon, outputs) or None
        The same for logarithms, if at least half of the members learn these.
    runs_ : int
        How many validation forecasts do not overlap.
    """

    _task = FORECASTING

    def __init__(self, members):
        self.members = members
        self.residuals_: np.ndarray | None = None
        self.log_residuals_: np.ndarray | None = None
        self.runs_ = 1

    def __getattr__(self, name: str) -> Any:
        # What all members share, as the schema of the data, is that of the first.
        if name.startswith("__") or name == "members":
            raise AttributeError(name)
        if name in ("y_schema_", "X_schema_", "timeline_", "readout_", "seed_", "condition_",
                    "ridge", "range_", "_limits"):  # fmt: skip
            return getattr(self.members[0], name)
        return super().__getattr__(name)

    def _forecast(self, horizon: int, X) -> np.ndarray:
        """The members' next values ``(horizon, outputs)``, combined."""
        if not self.members:
            raise ValueError("members=[] is not allowed: an ensemble has at least one forecaster.")
        forecasts = np.stack([member._forecast(horizon, X) for member in self.members])
        return self._combine(forecasts)

    def _combine(self, forecasts: np.ndarray) -> np.ndarray:
        """One forecast ``(steps, outputs)`` of those of members ``(members, steps, outputs)``."""
        return combined(forecasts, self.range_, self.learns_logarithms)

    @property
    def learns_logarithms(self) -> bool:
        """Whether at least half of the members learn logarithms, and so nothing below zero."""
        learn = [member._representation().multiplicative for member in self.members]
        return 2 * sum(learn) >= len(learn)

    @whole_or_not_at_all
    def update(self, y: Any, X: Any = None) -> Self:
        """Move all members on over new data, as `ESNForecaster.update` does."""
        self.members = [copy(member) for member in self.members]
        words = [member._update(y, X) for member in self.members]
        warn_of(words[0])  # the same for all
        return self


def is_ensemble(estimator: Any) -> bool:
    """Whether an estimator is an ensemble of fitted forecasters."""
    return (
        type(estimator) is ForecastEnsemble
        and len(estimator.members) > 0
        and all(type(member) is ESNForecaster for member in estimator.members)
    )
