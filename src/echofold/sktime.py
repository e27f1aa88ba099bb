"""Echo state networks as forecasters of sktime; needs the extra ``sktime``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from echofold._models.forecast import forecast_of
from echofold._models.forecaster import ESNForecaster
from echofold._search.auto import AutoForecaster
from echofold._search.search import ESNSearchCV
from echofold.schemes import WalkForward

try:
    from sktime.forecasting.base import BaseForecaster, ForecastingHorizon
except ImportError as error:
    raise ImportError(
        "echofold.sktime needs the extra 'sktime': pip install 'echofold[sktime]'"
    ) from error

__all__ = ["EchoStateForecaster"]


class EchoStateForecaster(BaseForecaster):
    """Any forecaster or search of this library, as a forecaster of sktime.

    Parameters
    ----------
    estimator : AutoForecaster, ESNForecaster, ESNSearchCV of one, or None
        What forecasts; a copy of it is fitted. None is an `AutoForecaster` for the last step of
        ``fh``, which is 1 if `fit` is not told of any. Prediction intervals need it, or a search.
    sp : int, list of int or None
        Seasonal periods in steps, for the one that None stands for: 1 is no season, None those of
        the dates, else one that is found in the values, if there is any.
    random_state : int, RandomState or None
        Seed; None leaves it to ``estimator``.

    Attributes
    ----------
    model_ : AutoForecaster, ESNForecaster or ESNSearchCV
        The fitted copy.

    Notes
    -----
    ``X`` is known in advance: `predict` needs a row for every step from the end of the data to the
    last one asked for. Missing values are NaN, in ``y`` and in ``X``. `update` moves on over new
    data, whatever ``update_params`` is: the readout is not trained again, which takes a new `fit`.
    There are no in-sample forecasts.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from echofold import ESNForecaster
    >>> from echofold.sktime import EchoStateForecaster
    >>> months = pd.period_range("2015-01", periods=100, freq="M")
    >>> y = pd.Series(np.sin(np.arange(100) / 3), index=months)
    >>> model = EchoStateForecaster(ESNForecaster(20, random_state=0)).fit(y)
    >>> model.predict(fh=[1, 3]).index.astype(str).tolist()
    ['2023-05', '2023-07']
    """

    _tags = {
        "authors": "the echofold developers",
        "maintainers": "the echofold developers",
        "y_inner_mtype": ["pd.Series", "pd.DataFrame"],
        "X_inner_mtype": "pd.DataFrame",
        "capability:multivariate": True,
        "capability:exogenous": True,
        "capability:categorical_in_X": False,
        "capability:non_contiguous_X": False,
        "capability:insample": False,
        "capability:pred_int": True,
        "capability:pred_int:insample": False,
        "capability:missing_values": True,
        "capability:update": True,
        "capability:random_state": True,
        "property:randomness": "derandomized",
        "requires-fh-in-fit": False,
    }

    def __init__(
        self, estimator: Any = None, sp: int | None = None, random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.sp = sp
        self.random_state = random_state
        super().__init__()
        single = estimator is None or isinstance(estimator, AutoForecaster)
        self.set_tags(
            **{
                "capability:pred_int": single or isinstance(estimator, ESNSearchCV),
                "capability:multivariate": not single,
            }
        )

    def _fit(self, y, X, fh):
        """Fit a copy of the estimator."""
        if self.estimator is None:
            steps = int(fh.to_relative(self.cutoff).to_numpy().max()) if fh is not None else 1
            season = "auto" if self.sp is None else self.sp
            model = AutoForecaster(max(steps, 1), season=season, progress=False)
        else:
            model = clone(self.estimator)
        if self.random_state is not None:
            model.set_params(random_state=self.random_state)
        # Dates tell an automatic forecaster their seasons; the others need none.
        given = y if isinstance(model, AutoForecaster) else _values(y)
        self.model_ = model.fit(given, *([] if X is None else [_values(X)]))
        self._end = self.cutoff
        self._name = y.name if isinstance(y, pd.Series) else None
        return self

    @property
    def _forecaster(self) -> Any:
        """Who forecasts: the winner, of a search."""
        return getattr(self.model_, "best_estimator_", self.model_)

    def _predict(self, fh, X):
        """Values at ``fh``, in the kind of ``y``."""
        steps, ahead = self._ahead(fh, X)
        values = np.asarray(forecast_of(self._forecaster, *ahead, None))[steps - 1]
        index = fh.to_absolute_index(self.cutoff)
        if values.ndim == 1:
            return pd.Series(values, index=index, name=self._name)
        return pd.DataFrame(values, index=index, columns=self._get_varnames())

    def _predict_interval(self, fh, X, coverage):
        """Ends of intervals at ``fh``; one of coverage 0 is the forecast itself."""
        steps, ahead = self._ahead(fh, X)
        levels = [float(one) for one in coverage if one > 0]
        found = forecast_of(self._forecaster, *ahead, levels or None)
        mean, lower, upper = found if levels else (found, {}, {})
        ends = [
            np.reshape(np.asarray(side.get(float(one), mean)), (len(mean), -1))[steps - 1]
            for one in coverage
            for side in (lower, upper)
        ]
        columns = self._get_columns(method="predict_interval", coverage=coverage)
        values = np.stack(ends, axis=2)  # (steps, outputs, coverage and end)
        return pd.DataFrame(
            values.reshape(len(steps), -1), index=fh.to_absolute_index(self.cutoff), columns=columns
        )

    def _update(self, y, X=None, update_params=True):
        """Move on over what comes after the data so far; steps that are left out are missing."""
        new = y.index > self._end[0]
        if new.any():
            at = self._steps(y.index[new])
            known = None if X is None else _placed(X.reindex(y.index[new]), at)
            self._forecaster.update(_placed(y[new], at), known)
            self._end = self.cutoff
        return self

    def _steps(self, index) -> np.ndarray:
        """How many steps after the data so far the times of an index are."""
        there = ForecastingHorizon(index, is_relative=False, freq=self._end)
        return there.to_relative(self._end).to_numpy().astype(int)

    def _ahead(self, fh, X) -> tuple[np.ndarray, tuple[int, Any]]:
        """Steps asked for, and what `forecast` takes for all up to the last."""
        steps = fh.to_relative(self.cutoff).to_numpy().astype(int)
        last = int(steps.max())
        if X is None:
            return steps, (last, None)
        every = ForecastingHorizon(np.arange(1, last + 1), is_relative=True)
        index = every.to_absolute_index(self.cutoff)
        there = index.isin(X.index)
        if not there.all():
            raise ValueError(
                f"X has no row for {index[~there][0]}, one of the {last} steps up to the last of "
                "fh: a forecast goes through all of them. Give X for every step."
            )
        return steps, (last, _values(X.reindex(index)))

    @classmethod
    def get_test_params(cls, parameter_set="default"):
        """Parameters that sktime tests with."""
        small = ESNForecaster(10, random_state=0)
        search = ESNSearchCV(
            small, {"ridge": [1e-4, 1e-2]}, cv=WalkForward(3, valid=2), metric="rmse"
        )
        return [{"estimator": small}, {"estimator": search, "random_state": 1}]


def _values(data) -> np.ndarray:
    """Numbers ``(T,)`` or ``(T, columns)`` of pandas data; sktime looks after their index."""
    return data.to_numpy(dtype=float)


def _placed(data, at: np.ndarray) -> np.ndarray:
    """Values that belong to the steps ``at``, counted from 1, with NaN for those between."""
    values = _values(data)
    placed = np.full((at.max(), *values.shape[1:]), np.nan)
    placed[at - 1] = values
    return placed
