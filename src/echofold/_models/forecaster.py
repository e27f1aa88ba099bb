"""Forecasting: a network that runs on its own output."""

from __future__ import annotations

from typing import Any, Self, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from echofold._data.arguments import series_first
from echofold._data.lazy import is_long
from echofold._data.missing import BRIDGED, words_of_table
from echofold._data.problem import Problem
from echofold._data.rows import intervals_of
from echofold._engine.drive import advance
from echofold._engine.generate import generate
from echofold._machine.arrays import few_lengths
from echofold._machine.notices import warn_of
from echofold._models.base import whole_or_not_at_all
from echofold._models.documented import documented
from echofold._models.forecast import Forecast, Level, forecast_of, words_of_known
from echofold._models.series import SeriesESN, blocks_of, read_rows
from echofold._models.train import Network


@documented
class ESNForecaster(SeriesESN):
    """Forecast a series, or several at once, with an echo state network.

    The network learns to map ``[y(t), X(t+1)]`` to ``y(t+1)``. To forecast, it is fed its own
    outputs (and the known ``X``) from the end of the data on.

    Parameters
    ----------
    %(parameters)s
    washout : int or "auto", default="auto"
        First pairs that only warm the state up; "auto" is a tenth of them, at most 200. Values that
        ``difference`` loses are among them.
    log : bool, default=False
        Whether to learn and forecast logarithms, for positive values whose ups and downs grow with
        them. Forecasts and their intervals are then never negative.
    difference : tuple of int, default=()
        Lags of differences to learn, one after the other: ``(1,)`` for a series with a trend,
        ``(12,)`` for months with a yearly season, ``(12, 1)`` for both. Forecasts are summed up
        again from the last values.
    season : float, tuple of floats or None, default=None
        Length of a season in steps, or of several: its sines and cosines become inputs.
    harmonics : int, default=3
        How many waves describe a season, from the longest on.
    output_range : pair (low, high) or None, default=None
        What is forecast is kept inside, step by step, before it is fed back: ``(0, np.inf)`` for
        what is never negative. Each end is a number, or one for each output. The data must lie
        inside, too.

    Attributes
    ----------
    readout_ : ndarray of shape (1 + inputs + units, outputs)
        Maps ``[1, u(n), x(n)]`` to the output, in scaled units.
    state_ : ndarray of shape (units,)
        State at the end of the data.
    residuals_ : ndarray of shape (count, horizon, outputs) or None
        Validation errors that intervals are made of; None unless a search left them.
    range_ : ndarray of shape (2, outputs)
        The lowest and the highest value of the data.
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

    def __init__(
        self,
        units=100,
        *,
        leak_rate=1.0,
        spectral_radius=0.9,
        input_scaling=1.0,
        bias_scaling=1.0,
        connectivity=1.0,
        ridge=1e-2,
        penalize_bias=False,
        washout="auto",
        scale="standard",
        W=None,
        W_in=None,
        random_state=None,
        device="auto",
        reservoir=None,
        readout="inputs+states",
        output_range=None,
        log=False,
        difference=(),
        season=None,
        harmonics=3,
    ):
        super().__init__(
            units,
            leak_rate=leak_rate,
            spectral_radius=spectral_radius,
            input_scaling=input_scaling,
            bias_scaling=bias_scaling,
            connectivity=connectivity,
            ridge=ridge,
            penalize_bias=penalize_bias,
            washout=washout,
            scale=scale,
            W=W,
            W_in=W_in,
            random_state=random_state,
            device=device,
            reservoir=reservoir,
            readout=readout,
        )
        self.log = log
        self.difference = difference
        self.season = season
        self.harmonics = harmonics
        self.output_range = output_range

    @whole_or_not_at_all
    @series_first
    def fit(self, y: Any, X: Any = None, sample_weight: Any = None) -> Self:
        """Train on a series.

        Parameters
        ----------
        y : array, pandas or polars series or frame, of shape (T,) or (T, outputs)
            The series, in time order, with a row for every step. Missing values are NaN: a row
            with one is neither trained on nor scored, and as an input it is taken to be the last
            known value (with ``season``, or a lag above 1 in ``difference``, the last known one of
            the same time of the season). A warning says how many there are, and where. A long
            series that is stored, as a `numpy.memmap`, a Zarr array or `ParquetColumns`, is read in
            blocks and never held in memory; nothing of it may be missing.
        X : array or frame of shape (T, known inputs), optional
            Inputs that will be known in advance; row ``t`` belongs to ``y(t)``. It must then be
            given to `forecast` as well. Missing ones are filled as those of ``y`` are. May be
            stored as ``y`` may.
        sample_weight : array of shape (T,), optional
            Weight of each row of ``y`` as a training target.

        Returns
        -------
        self
        """
        return self._fit(self._read(y, X=X, sample_weight=sample_weight))

    @overload
    def forecast(self, horizon: int, X: Any = None, level: None = None) -> Any: ...

    @overload
    def forecast(self, horizon: int, X: Any = None, *, level: Level) -> Forecast: ...

    def forecast(self, horizon, X=None, level=None):
        """Continue the series right after its last row, be its value known or missing.

        Parameters
        ----------
        horizon : int
            Number of values to forecast.
        X : array or frame of shape (horizon, known inputs), optional
            Known inputs; row ``i`` belongs to the ``i``-th forecast value. Required if `fit` was
            given ``X``. Missing ones (NaN) are filled from the others of their column.
        level : float in (0, 1) or list of floats, optional
            Coverage of an interval around each value, as 0.9, or of several: ``[0.5, 0.9]``.

        Returns
        -------
        forecast : array, series or frame of shape (horizon,) or (horizon, outputs)
            In the kind of ``y``. A pandas index is continued: dates by their frequency (set, or
            inferred from three dates or more), periods, and integers with a constant step. Any
            other index cannot be, and the forecast is numbered by row from ``T`` on. With
            ``level``, a `Forecast`: a named tuple of ``mean``, ``lower`` and ``upper``.

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
        check_is_fitted(self, "readout_")
        return forecast_of(self, horizon, X, level)

    def _forecast(self, horizon: int, X) -> np.ndarray:
        """The next values ``(horizon, outputs)``, infinite where they grow without bounds."""
        return self._ahead(self._read_known(X, horizon, "forecast"))

    def _ahead(self, known: np.ndarray) -> np.ndarray:
        """The next values ``(horizon, outputs)``, for ``known (horizon, known inputs)``."""
        r, horizon = self._reservoirs(), len(known)
        steps = few_lengths(horizon)
        ahead = np.zeros((steps, known.shape[1]))
        ahead[: len(known)] = known
        first = np.concatenate([self.last_, known[0]])
        with self._engine():
            x, readout, limited = self.state_[:, None], self.readout_[:, :, None], self._limited()
            outputs = generate(r, readout, first[:, None], x, ahead, steps, behind=True, **limited)
            scaled = outputs[:horizon, :, 0]
        form = self._representation()
        found = form.values(form.back(self.y_scaler_.original(scaled), self._levels()))
        return found if self._limits is None else np.clip(found, *self._limits)

    def _limited(self) -> dict[str, Any]:
        """What keeps a closed loop inside of the output range, if there is one."""
        if self._limits is None:
            return {}
        form, scaler = self._representation(), self.y_scaler_
        inverse = form.inverse(scaler.center, form.limits(self._limits))
        before = form.past(self._levels()[None])
        return {"unit": scaler.unit, "inverse": inverse, "before": before}

    @whole_or_not_at_all
    def update(self, y: Any, X: Any = None) -> Self:
        """Move on over new data, without training, so that `forecast` continues after it.

        Parameters
        ----------
        y : array, series or frame of shape (rows,) or (rows, outputs)
            What came right after the data so far. A pandas index must follow on. The network's
            own forecast takes the place of a missing value (NaN).
        X : array or frame of shape (rows, known inputs), optional
            Known inputs; row ``i`` belongs to row ``i`` of ``y``. Missing ones are filled from the
            others of their column.

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
        warn_of(self._update(y, X))
        return self

    def _update(self, y, X) -> tuple[str, ...]:
        """`update`, and what is to be said of missing values."""
        self._reservoirs()
        long = is_long(y, X)
        table, span = read_rows(y, "y", long, empty=True)
        self.y_schema_.check(table.schema, "y")
        if self.timeline_ is not None:
            self.timeline_.check_follows(table.index, "y")
        known = self._read_known(X, len(table.values), "update", long)
        self._check_allowed(table.values, self._representation(), self._limits)
        for first, block in blocks_of(table.values):
            self._move(block, np.asarray(known[first : first + len(block)]))
        if hasattr(self, "range_"):  # a file may do without
            low, high = self.range_
            self.range_ = np.array([np.fmin(low, span[0]), np.fmax(high, span[1])])
        if self.timeline_ is not None:
            self.timeline_ = self.timeline_.moved(len(table.values))
        return () if long else words_of_table(table, "y", BRIDGED) + words_of_known(X)

    def _move(self, y: np.ndarray, known: np.ndarray) -> None:
        """Move on over ``y (rows, outputs)``, and over forecasts where it is missing (NaN)."""
        missing, done = np.isnan(y), 0
        for a, b in intervals_of(np.flatnonzero(missing.any(axis=1))):
            if done < a:
                self._advance(y[done:a], known[done:a])
            # What is known of a row goes into the forecast of the next one.
            steps = b - a if missing[a:b].all() else 1
            for row in range(a, b, steps):
                at = slice(row, row + steps)
                with np.errstate(over="ignore", invalid="ignore"):  # of runs that diverge
                    self._advance(np.where(missing[at], self._ahead(known[at]), y[at]), known[at])
            done = b
        if done < len(y):
            self._advance(y[done:], known[done:])

    def _advance(self, y: np.ndarray, known: np.ndarray) -> None:
        """Move on over values ``(rows, outputs)`` that are all known."""
        r = self._reservoirs()
        form = self._representation()
        levels = np.vstack([self._levels(), form.levels(y, "y")])
        values = self.y_scaler_.scaled(form.differences(levels))
        inputs = np.hstack([np.vstack([self.last_, values[:-1]]), known])
        with self._engine():
            x = advance(r, inputs, self.state_[:, None])
            self.state_ = np.array(np.asarray(x)[:, 0])
        self.last_ = values[-1]
        if hasattr(self, "represented_"):
            self.steps_ += len(values)
        if form.lost:
            self.levels_ = levels[-form.lost :]

    def _install(self, network: Network, problem: Problem):
        """Carry ``network`` from now on, at the end of the data."""
        self._forget_validation()
        super()._install(network, problem)
        if problem.later is not None:
            self._move(*problem.later)
        return self

    def _forget_validation(self) -> None:
        """Have no errors of an earlier validation."""
        self.residuals_ = None
        self._forget("log_residuals_", "runs_")
