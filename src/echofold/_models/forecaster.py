"""Forecasting: a network that runs on its own output."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from echofold._data.problem import Problem, forecasting
from echofold._data.scaling import Scaler
from echofold._data.tables import Schema, read, read_weights, write
from echofold._data.tasks import FORECASTING
from echofold._data.timeline import Timeline, check_aligned, timeline
from echofold._engine.drive import advance
from echofold._engine.generate import generate
from echofold._machine.shapes import few_lengths
from echofold._models.base import ESN, whole_or_not_at_all
from echofold._models.documented import documented
from echofold._models.stored import Stored
from echofold._models.train import Network


class Forecast(NamedTuple):
    """A forecast with an interval around each value."""

    mean: Any
    lower: Any
    upper: Any


@documented
class ESNForecaster(ESN):
    """Forecast a series, or several at once, with an echo state network.

    The network learns to map ``[y(t), X(t+1)]`` to ``y(t+1)``. To forecast, it is fed its own
    outputs (and the known ``X``) from the end of the data on.

    Parameters
    ----------
    %(parameters)s
    washout : int or "auto", default="auto"
        First pairs that only warm the state up; "auto" is a tenth of them, at most 200.

    Attributes
    ----------
    readout_ : ndarray of shape (1 + inputs + units, outputs)
        Maps ``[1, u(n), x(n)]`` to the output, in scaled units.
    state_ : ndarray of shape (units,)
        State at the end of the data.
    residuals_ : ndarray of shape (count, horizon, outputs) or None
        Validation errors that intervals are made of; None unless a search left them.
    %(attributes)s

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster
    >>> y = np.sin(np.arange(300) / 5)
    >>> model = ESNForecaster(units=50, random_state=0).fit(y)
    >>> np.allclose(model.forecast(50), np.sin(np.arange(300, 350) / 5), atol=1e-2)
    True
    """

    y_schema_: Schema
    X_schema_: Schema | None
    y_scaler_: Scaler
    X_scaler_: Scaler | None
    timeline_: Timeline | None
    last_: np.ndarray
    residuals_: np.ndarray | None

    _task = FORECASTING
    _stored = {
        "y_schema_": Stored("schema", ("outputs",)),
        "X_schema_": Stored("schema", ("known",), optional=True),
        "y_scaler_": Stored("scaler", ("outputs",)),
        "X_scaler_": Stored("scaler", ("known",), optional=True),
        "timeline_": Stored("timeline", optional=True),
        "last_": Stored("floats", ("outputs",)),
        "residuals_": Stored(
            "floats", ("count", "horizon", "outputs"), optional=True, finite=False
        ),
    }

    @whole_or_not_at_all
    def fit(self, y, X=None, sample_weight=None):
        """Train on a series.

        Parameters
        ----------
        y : array, pandas or polars series or frame, of shape (T,) or (T, outputs)
            The series, in time order and without gaps.
        X : array or frame of shape (T, known inputs), optional
            Inputs that will be known in advance; row ``t`` belongs to ``y(t)``. It must then be
            given to `forecast` as well.
        sample_weight : array of shape (T,), optional
            Weight of each row of ``y`` as a training target.

        Returns
        -------
        self
        """
        return self._fit(self._read(y, X, sample_weight))

    def forecast(self, horizon, X=None, level=None):
        """Continue the series right after its last value.

        Parameters
        ----------
        horizon : int
            Number of values to forecast.
        X : array or frame of shape (horizon, known inputs), optional
            Known inputs; row ``i`` belongs to the ``i``-th forecast value. Required if `fit` was
            given ``X``.
        level : float in (0, 1), optional
            Coverage of an interval around each value, as 0.9.

        Returns
        -------
        forecast : array, series or frame of shape (horizon,) or (horizon, outputs)
            In the kind of ``y``. A pandas index is continued: dates by their frequency (set, or
            inferred from three dates or more), periods, and integers with a constant step. Any
            other index cannot be, and the forecast is numbered by row from ``T`` on. With
            ``level``, a named tuple of ``mean``, ``lower`` and ``upper``.

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
        r = self._reservoirs()
        _check_horizon(horizon)
        widths = None if level is None else self._half_widths(int(horizon), level)
        known = self._read_known(X, int(horizon), "forecast")
        steps = few_lengths(int(horizon))
        ahead = np.zeros((steps, known.shape[1]))
        ahead[: len(known)] = known
        first = np.concatenate([self.last_, known[0]])
        with self._engine():
            x = advance(r, first[None], self.state_[:, None])
            outputs = generate(r, self.readout_[:, :, None], first[:, None], x, ahead, steps)
            scaled = outputs[: int(horizon), :, 0]
        mean = self.y_scaler_.original(scaled)
        if widths is None:
            return self._write(mean)
        return Forecast(*(self._write(part) for part in (mean, mean - widths, mean + widths)))

    @whole_or_not_at_all
    def update(self, y, X=None):
        """Move on over new data, without training, so that `forecast` continues after it.

        Parameters
        ----------
        y : array, series or frame of shape (rows,) or (rows, outputs)
            What came right after the data so far. A pandas index must follow on.
        X : array or frame of shape (rows, known inputs), optional
            Known inputs; row ``i`` belongs to row ``i`` of ``y``.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from echofold import ESNForecaster
        >>> y = np.sin(np.arange(400) / 5)
        >>> model = ESNForecaster(units=50, random_state=0).fit(y[:300])
        >>> np.allclose(model.update(y[300:350]).forecast(50), y[350:], atol=1e-2)
        True
        """
        r = self._reservoirs()
        table = read(y, "y")
        self.y_schema_.check(table.schema, "y")
        if self.timeline_ is not None:
            self.timeline_.check_follows(table.index, "y")
        known = self._read_known(X, len(table.values), "update")
        values = self.y_scaler_.scaled(table.values)
        inputs = np.hstack([np.vstack([self.last_, values[:-1]]), known])
        with self._engine():
            x = advance(r, inputs, self.state_[:, None])
            self.state_ = np.array(np.asarray(x)[:, 0])
        self.last_ = values[-1]
        if self.timeline_ is not None:
            self.timeline_ = self.timeline_.moved(len(values))
        return self

    def _read(self, y, X=None, sample_weight=None) -> Problem:
        """Check parameters and data, learn the scaling, and set the problem up."""
        self._check_parameters()
        table = read(y, "y")
        self.y_schema_ = table.schema
        self.y_scaler_ = Scaler.learned(table.values, self.scale, "y")
        self.timeline_ = None if table.index is None else timeline(table.index, "y")
        values = self.y_scaler_.scaled(table.values)
        self.last_ = values[-1]
        self.X_schema_ = self.X_scaler_ = known = None
        if X is not None:
            given = read(X, "X")
            if len(given.values) != len(values):
                raise ValueError(
                    f"X has {len(given.values)} rows and y has {len(values)}; row t of X belongs "
                    "to y(t). Give X for the times of y here, and its future rows to forecast."
                )
            check_aligned(table.index, given.index, "X")
            self.X_schema_ = given.schema
            self.X_scaler_ = Scaler.learned(given.values, self.scale, "X")
            known = self.X_scaler_.scaled(given.values)
        weights = read_weights(sample_weight, len(values))
        return forecasting(
            values, known, self.washout, self.y_scaler_.unit, self.y_scaler_.center, weights
        )

    @property
    def _network_inputs(self) -> int:
        """Number of inputs of the network carried: outputs fed back, then known inputs."""
        return len(self.last_) + (0 if self.X_scaler_ is None else len(self.X_scaler_.center))

    @classmethod
    def _stored_sizes(cls, fitted: dict[str, Any], outputs: int, scaled: int) -> dict[str, int]:
        return {"inputs": outputs + scaled, "known": scaled, "positions": 1}

    @classmethod
    def _check_stored(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        if (fitted["X_schema_"] is None) != (sizes["known"] == 0):
            raise ValueError("X_schema_ and X_scaler_ belong together")
        pandas = fitted["y_schema_"].parts["kind"] == "pandas"
        if (fitted["timeline_"] is not None) != pandas:
            raise ValueError("timeline_ must be there for pandas data, and None for other")

    def _install(self, network: Network):
        """Carry ``network`` from now on."""
        self.residuals_ = None
        return super()._install(network)

    def _read_known(self, X, rows: int, method: str) -> np.ndarray:
        """Scaled known inputs ``(rows, known inputs)`` of the next ``rows`` rows."""
        if X is None and self.X_schema_ is None:
            return np.zeros((rows, 0))
        if X is None or self.X_schema_ is None or self.X_scaler_ is None:
            given, not_given = ("fit", method) if X is None else (method, "fit")
            raise ValueError(
                f"X was given to {given} but not to {not_given}: inputs known in advance must be "
                f"given to both. {method} needs one row of X for each of its {rows} values."
            )
        table = read(X, "X")
        self.X_schema_.check(table.schema, "X")
        if len(table.values) != rows:
            raise ValueError(
                f"X has {len(table.values)} rows, but {method} needs {rows}: one for each value, "
                "starting right after the data so far."
            )
        if self.timeline_ is not None and self.timeline_.kind in ("dates", "periods"):
            self.timeline_.check_follows(table.index, "X")
        return self.X_scaler_.scaled(table.values)

    def _half_widths(self, horizon: int, level) -> np.ndarray:
        """Half the width of the interval around each value, in original units."""
        if not isinstance(level, Real) or not 0 < float(level) < 1:
            raise ValueError(f"level={level!r} is not allowed: it must be a number in (0, 1).")
        if self.residuals_ is None:
            raise ValueError(
                "level needs validation errors, which a plain fit does not make: intervals come "
                "from ESNSearchCV. Forecast with its best_estimator_, or leave level out."
            )
        from echofold._models.intervals import half_widths

        return half_widths(self.residuals_, horizon, float(level))

    def _write(self, values: np.ndarray):
        """Give a forecast in the kind of ``y``."""
        index = None if self.timeline_ is None else self.timeline_.following(len(values))
        return write(values, self.y_schema_, index)


def _check_horizon(horizon) -> None:
    """Raise unless the horizon is a positive integer."""
    if not isinstance(horizon, Integral) or isinstance(horizon, bool) or horizon < 1:
        raise ValueError(
            f"horizon={horizon!r} is not allowed: it must be an integer of at least 1."
        )
