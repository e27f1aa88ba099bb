"""Forecasting: a network that runs on its own output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from echofold._data.arguments import (
    check_integer,
    check_number,
    is_integer,
    read_range,
    refuse,
    series_first,
)
from echofold._data.dates import check_aligned, timeline, words_of_dates
from echofold._data.lazy import Lazy, Values, blocks_of, hstack, is_long, mapped
from echofold._data.missing import (
    AS_INPUTS,
    AS_TARGETS,
    BRIDGED,
    ON_ITS_OWN,
    filled,
    present_rows,
    require_two,
    words_of_table,
)
from echofold._data.panels import KINDS, Panel, is_panel, panel_of
from echofold._data.problem import (
    FORECASTING,
    Problem,
    check_steps,
    forecasting,
    in_series,
    in_steps,
    in_words_of,
    joined,
    washout_of,
)
from echofold._data.represent import (
    PARAMETERS,
    SKIPS_ROWS,
    Form,
    read_representation,
    representation_of,
)
from echofold._data.rows import intervals_of
from echofold._data.scaling import UNHEARD, Scaler
from echofold._data.tables import Schema, Table, read, read_rows, read_weights, require_some
from echofold._engine.drive import advance
from echofold._engine.kind import Grid, Reservoir, Reservoirs
from echofold._engine.states import States, states_of
from echofold._machine.device import choose_device
from echofold._machine.notices import collected, warn_of
from echofold._models.base import ESN, Stored, documented, state_array, whole_or_not_at_all
from echofold._models.following import (
    ends_of,
    learning_after,
    past_of,
    read_on,
    stand_after,
)
from echofold._models.forecast import (
    Array,
    Forecast,
    Forecasts,
    GivenY,
    KindOfY,
    Level,
    Numbers,
    check_beside,
    check_both,
    forecast_of,
    of_all,
    words_of_known,
)
from echofold._models.learning import Learning, check_forgetting
from echofold._validation.refit import Triangle
from echofold.reservoirs._hybrid import Hybrid

if TYPE_CHECKING:
    import pandas as pd

    from echofold._data.long_frames import LongFrame

Shared = tuple[np.ndarray, Scaler]  # which columns (columns,), and how these are scaled
PLAIN = Form().stored  # of series that are left as they are
RUNS = ("count", "horizon", "outputs")  # axes of validation errors
DIRECT = 12  # steps that are forecast at once without a season
UNKNOWN = "it was too short to be validated, so its intervals are not known (NaN)."
POOLS = ("all", "none", "shrunk")
SHARE = 4  # of the rows, that these are at most


@documented
class ESNForecaster(Forecasts[KindOfY], ESN):
    """Forecast a series, or several at once, with an echo state network.

    The network learns to map ``[y(t), X(t+1)]`` to ``y(t+1)``. To forecast, it is fed its own
    outputs (and the known ``X``) from the end of the data on. With ``steps`` it learns several
    values at once, ``y(t+1)`` to ``y(t+steps)``, and is fed them before it is asked for the next.

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
    steps : {"closed", "direct"} or int, default="closed"
        How many steps the readout forecasts at once: one, which closes the loop, or a number, from
        one state and so without feeding errors back. "direct" is a season (the first of ``season``
        or the first lag above 1 of ``difference``), or 12 without one; at most a quarter of the
        rows. Longer forecasts are made of several such. It sees known inputs of its first step
        alone, so that ``X`` needs "closed".
    pool : {"all", "none", "shrunk"}, default="all"
        How several series share a readout; of one series it means nothing. "all": they have one.
        "none": they share the network, and each has a readout of its own, from its rows alone.
        "shrunk": each adds a correction to the one that all have, fitted to what that leaves of its
        rows. What is best shows in a validation: a search takes ``{"pool": ["all", "none"]}``.
    shrink : float, default=10.0
        Ridge of these corrections, their bias included: the larger it is, the more alike are the
        readouts.
    output_range : pair (low, high) or None, default=None
        What is forecast is kept inside, step by step, before it is fed back: ``(0, np.inf)`` for
        what is never negative. Each end is a number, or one for each output. The data must lie
        inside, too.
    model : callable or None, default=None
        What is known of the system, right or not: a function of values ``y (outputs, columns)``, in
        the units of the data, that gives the values one step later in the same shape, each column
        by itself. The reservoir is driven by what it says of every value, in scaled units, beside
        the value itself, and the readout sees it before the states [1]_. It is made of
        ``jax.numpy`` operations; of NumPy's alone it works too, in large problems more slowly. It
        is not for ``log`` and ``difference``, for several series needs ``scale=None``, and a
        network that has one cannot be saved. A search takes a list: ``{"model": [None, f]}``.

    Attributes
    ----------
    readout_ : ndarray of shape (1 + inputs + units, steps * outputs)
        Maps ``[1, u(n), x(n)]`` to the outputs of one step, or of several, in scaled units. Of
        several series the one that they have in common; zeros with ``pool="none"``.
    state_ : ndarray of shape (units,)
        State at the end of the data. With a ``model`` both have what it says before the units.
    residuals_ : ndarray of shape (count, horizon, outputs) or None
        Validation errors that intervals are made of; None unless a search left them.
    range_ : ndarray of shape (2, outputs)
        The lowest and the highest value of the data.
    learning_ : object
        What `partial_fit` goes on from, as large as the square of the number of features; where it
        is not wanted, ``del model.learning_`` saves that memory.
    series_ : dict
        Of several series: a fitted forecaster of each by name (of a list, by number), which has the
        attributes above. They share the network, and ``readout_`` as ``pool`` says.
    %(attributes)s

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster
    >>> y = np.sin(np.arange(300) / 5)
    >>> model = ESNForecaster(units=50, random_state=0).fit(y)
    >>> np.allclose(model.forecast(50), np.sin(np.arange(300, 350) / 5), atol=1e-2)
    True

    A network beside a model whose parameter should be 1.4:

    >>> from echofold.systems import henon
    >>> y = henon(400)
    >>> known = lambda y: np.stack([1 - 1.3 * y[0] ** 2 + y[1], 0.3 * y[0]])
    >>> for beside in (None, known):
    ...     model = ESNForecaster(20, ridge=1e-8, random_state=0, model=beside).fit(y[:200])
    ...     print(bool(np.abs(model.forecast(10) - y[200:210]).max() < 0.01))
    False
    True

    References
    ----------
    .. [1] J. Pathak, A. Wikner, R. Fussell, S. Chandra, B. R. Hunt, M. Girvan and E. Ott, "Hybrid
       forecasting of chaotic processes: using machine learning in conjunction with a
       knowledge-based model", Chaos 28, 041101, 2018.
    """

    X_schema_: Schema | None
    X_scaler_: Scaler | None
    last_: np.ndarray
    residuals_: np.ndarray | None
    panel_: Panel
    steps_: int
    series_: dict[Any, ESNForecaster[Any]]

    _task = FORECASTING
    _shapes_the_problem = ("washout", "scale", *PARAMETERS, "output_range", "steps")
    _skips_rows = ("washout", *SKIPS_ROWS)
    _stored = {
        "y_schema_": Stored("schema", ("outputs",)),
        "X_schema_": Stored("schema", ("known",), optional=True),
        "y_scaler_": Stored("scaler", ("outputs",)),
        "X_scaler_": Stored("scaler", ("known",), optional=True),
        "timeline_": Stored("timeline", optional=True),
        "last_": Stored("floats", ("outputs",)),
        "residuals_": Stored("floats", RUNS, optional=True, finite=False),
        "log_residuals_": Stored("floats", RUNS, always=False, finite=False),
        "runs_": Stored("count", always=False),
        "range_": Stored("floats", ("ends", "outputs"), always=False),
        "output_range_": Stored("range", ("outputs",), always=False, finite=False),
        "represented_": Stored("representation", always=False),
        "levels_": Stored("floats", ("lost", "outputs"), always=False),
        "steps_": Stored("count", always=False),
        "plan_": Stored("count", always=False),
        "learning_": Stored("learning", always=False),
        "rows_": Stored("count", always=False),
        "ends_": Stored("floats", ("ends", "rows", "outputs"), always=False, finite=False),
    }

    def __init__(
        self, units: int = 100, *, leak_rate: float = 1.0, spectral_radius: float | None = 0.9,
        input_scaling: Any = 1.0, bias_scaling: float = 1.0, connectivity: float = 1.0,
        ridge: float = 1e-2, penalize_bias: bool = False, washout: int | str = "auto",
        scale: str | None = "standard", W: Any = None, W_in: Any = None, random_state: Any = None,
        device: str = "auto", precision: str = "double", reservoir: Any = None,
        readout: str | Callable[..., Any] = "inputs+states", output_range: Any = None,
        log: bool = False, difference: int | Sequence[int] = (),
        season: float | Sequence[float] | None = None, harmonics: int = 3,
        steps: int | str = "closed", pool: str = "all", shrink: float = 10.0,
        model: Callable[..., Any] | None = None,
    ) -> None:  # fmt: skip
        self._keep(vars())

    @overload
    def fit(
        self, y: pd.Series[Any], X: Any = None, sample_weight: Any = None
    ) -> ESNForecaster[pd.Series[float]]: ...

    @overload
    def fit(self, y: Numbers, X: Any = None, sample_weight: Any = None) -> ESNForecaster[Array]: ...

    @overload
    def fit(self, y: LongFrame, X: Any = None, sample_weight: Any = None) -> ESNForecaster[Any]: ...

    @overload
    def fit(self, y: GivenY, X: Any = None, sample_weight: Any = None) -> ESNForecaster[GivenY]: ...

    @whole_or_not_at_all
    @series_first
    def fit(self, y: Any, X: Any = None, sample_weight: Any = None) -> Any:
        """Train on a series, or one readout on several.

        Parameters
        ----------
        y : array, pandas or polars series or frame, of shape (T,) or (T, outputs); or several
            The series, in time order, with a row for every step. Missing values are NaN: a row
            with one is neither trained on nor scored, and as an input it is taken to be the last
            known value (with ``season``, or a lag above 1 in ``difference``, the last known one of
            the same time of the season). A warning says how many there are, and where. A long
            series that is stored, as a `numpy.memmap`, a Zarr array or `ParquetColumns`, is read in
            blocks and never held in memory; nothing of it may be missing. With `reservoirs.Local`
            it may be a field, ``(T, cells, variables)``, ``(T, rows, columns)`` or with both.
            Several series, of any lengths, are a list of these, a dict by names, or a pandas series
            or frame with an index of two levels, series and time. Each has its own scale, washout
            and index, and ``X`` and ``sample_weight`` are given in the same kind.
        X : array or frame of shape (T, known inputs), optional
            Inputs that will be known in advance; row ``t`` belongs to ``y(t)``. It must then be
            given to `forecast` as well. Missing ones are filled as those of ``y`` are. May be
            stored as ``y`` may. Of several series each scales its own, but for columns that are
            constant in every series and differ between them, as attributes of these do. One that
            never changes has taught nothing, and says nothing later (with a ``scale``).
        sample_weight : array of shape (T,), optional
            Weight of each row of ``y`` as a training target.

        Returns
        -------
        self
        """
        return self._fit(self._read(y, X=X, sample_weight=sample_weight))

    def _forecast(self, horizon: int, X) -> np.ndarray:
        """The next values ``(horizon, outputs)``, infinite where they grow without bounds."""
        return self._ahead(self._read_known(X, horizon, "forecast"))

    def _ahead(self, known: np.ndarray) -> np.ndarray:
        """The next values ``(horizon, outputs)``, for ``known (horizon, known inputs)``."""
        form, scaled = self._representation(), self._on_its_own(known, self.state_, self.last_)
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

    @overload
    def forecast(self, horizon: int, X: Any = None, level: None = None) -> KindOfY: ...

    @overload
    def forecast(self, horizon: int, X: Any = None, *, level: Level) -> Forecast[KindOfY]: ...

    @overload
    def forecast(self, horizon: int, X: Any = None, level: None = None, *, y: GivenY) -> GivenY: ...

    def forecast(
        self, horizon: int, X: Any = None, level: Level | None = None, y: Any = None
    ) -> Any:
        """Continue the series right after its last row, be its value known or missing.

        Parameters
        ----------
        horizon : int
            Number of values to forecast.
        X : array or frame of shape (horizon, known inputs), optional
            Known inputs; row ``i`` belongs to the ``i``-th forecast value. Required if `fit` was
            given ``X``. Missing ones (NaN) are filled from the others of their column. Of
            more rows, with pandas dates, those of the forecast are taken. Of several series, in the
            kind that these were given in. With ``y``, its rows come before them.
        level : float in (0, 1) or list of floats, optional
            Coverage of an interval around each value, as 0.9, or of several: ``[0.5, 0.9]``.
        y : array, series or frame, or several of them, optional
            Forecast this series, or these, instead of those of `fit`, and without training: scaled
            by its own values, the network runs along it and on from its end.

        Returns
        -------
        forecast : array, series or frame of shape (horizon,) or (horizon, outputs)
            In the kind of ``y``. A pandas index is continued: dates by their frequency (set, or
            inferred from three dates or more), periods, and integers with a constant step. Any
            other index cannot be, and the forecast is numbered by row from ``T`` on. With
            ``level``, a `Forecast`: a named tuple of ``mean``, ``lower`` and ``upper``. Of several
            series each of these in the kind that they were given in: a list, a dict, or frames;
            of a long frame one with the forecast and the ends of intervals as columns.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from echofold import ESNForecaster
        >>> days = pd.date_range("2024-01-01", periods=60, freq="D")
        >>> y = pd.Series(np.sin(np.arange(60) / 3), index=days, name="tide")
        >>> model = ESNForecaster(units=20, random_state=0).fit(y)
        >>> model.forecast(2).index[0]
        Timestamp('2024-03-01 00:00:00')
        >>> model.forecast(2, y=10 * y[:50]).index[0]
        Timestamp('2024-02-20 00:00:00')
        """
        check_is_fitted(self, "readout_")
        check_integer("horizon", horizon, 1)
        if y is not None:
            return self._forecast_others(int(horizon), y, X, level)
        if "series_" not in vars(self):
            return forecast_of(self, horizon, X, level)
        each = list(self.series_.values())
        return _forecast_each(self.panel_, each, horizon, self.panel_.of(X, "X"), level)

    def _forecast_others(self, horizon: int, y: Any, X: Any, level) -> Any:
        """Forecasts of series that were not fitted."""
        if level is not None:
            raise ValueError(
                f"level={level!r}: intervals are made of validation errors of a series, and there "
                "are none of y. Leave level out, or fit a search to this series too."
            )
        panel, each = panel_of(y, "y") if is_panel(y) else (None, [y])
        known = [X] if panel is None else panel.of(X, "X")
        names = (None,) if panel is None else panel.names
        views, ahead, words = [], [], []
        for name, data, given in zip(names, each, known, strict=True):
            with in_words_of(name) if panel is not None else nullcontext():
                past, future = _rows_of(given, len(data), horizon)
                view, notes = self._other(data, past)
            views.append(view)
            ahead.append(future)
            words.append((name, notes))
        warn_of(words[0][1] if panel is None else in_series(words))
        if panel is None:
            return views[0].forecast(horizon, ahead[0])
        return _forecast_each(panel, views, horizon, ahead, None)

    def _other(self, y: Any, X: Any) -> tuple[ESNForecaster, tuple[str, ...]]:
        """The same network at the end of another series, and what is to be said of that."""
        own = next(iter(self.series_.values())) if "series_" in vars(self) else self
        if self.pool == "none" and len(vars(self).get("series_", ())) > 1:
            raise ValueError(
                "pool='none': each series has a readout of its own, and y has none. Fit it with "
                "the others, use pool='all' or 'shrunk', or the readout of one of them: "
                f"model.series_[{next(iter(self.series_))!r}].forecast(horizon, y=y)."
            )
        check_both(X, own.X_schema_, len(y), "forecast")
        view = ESNForecaster(**self.get_params(deep=False))
        if is_long(y, X):
            raise ValueError("y is so long that it is read in blocks; give the last part of it.")
        problem = view._read_series(y, X, washout=0, shared=self._scaled_alike())
        own._check_alike(view, "given to fit")
        network = own._network | {"readout_": self.readout_}
        view._have(plan_=getattr(own, "plan_", None), **network)
        device = choose_device(self.device, own._work(problem.rows))
        state = states_of(problem, view._reservoirs(), device).final()
        view.residuals_, view.state_ = None, np.ascontiguousarray(state[:, 0])
        return view._at_ends(problem, state), problem.notes

    def _scaled_alike(self) -> Shared | None:
        """Columns of known inputs that all of several series scale alike, and how."""
        scalers = [view.X_scaler_ for view in vars(self).get("series_", {}).values()]
        if len(scalers) < 2 or scalers[0] is None:
            return None
        each = [np.stack([scaler.center, scaler.unit]) for scaler in scalers]
        alike = np.all([(one == each[0]).all(axis=0) for one in each], axis=0)
        return alike, scalers[0]

    def states(self, y: Any, X: Any = None, *, first: Any = None) -> Any:
        """States of the reservoir along a series: what the readout sees of them, row by row.

        Parameters
        ----------
        y : array, series or frame of shape (T,) or (T, outputs); or several
            That of `fit` or another, scaled and represented as the one of `fit` was. Missing values
            are filled as there. Several are a list, a dict or a frame with a two-level index; of a
            model of several series some of these, each with its own scale.
        X : array or frame of shape (T + 1, known inputs) or (T, known inputs), optional
            Known inputs; row ``t`` belongs to ``y(t)``. Required if `fit` was given ``X``.
        first : int, optional
            For models with a ``season``, which must be told: the row of the data of `fit` that
            ``y`` begins with; 0 if both begin alike. Of several series one for all, or one for each
            in the kind of ``y``.

        Returns
        -------
        states : xarray.DataArray, or several in a list, tuple or dict
            Of dimensions ``(time, state)``. The state of row ``t`` is the one after ``y(t)``, and
            after ``X(t + 1)`` if there is any: ``y(t + 1)`` is forecast from it. A pandas index is
            that of ``time``; other rows are numbered. Rows that ``difference`` loses have none, nor
            has the last one if ``X`` ends with it. The attribute ``washout`` is how many of the
            first rows `fit` would not train on.

        Notes
        -----
        They are those that the readout is trained on, ``readout_[0] + u @ readout_[1 : 1 + inputs]
        + states @ readout_[1 + inputs :]`` being the output in scaled units, and where ``readout``
        asks for squares or products, these are beside the states. The reservoir begins at rest.
        Noise of a reservoir is for training alone, and not in them.

        Examples
        --------
        >>> import numpy as np
        >>> from echofold import ESNForecaster
        >>> y = np.sin(np.arange(300) / 5)
        >>> model = ESNForecaster(units=50, random_state=0).fit(y)
        >>> states = model.states(y)
        >>> states.sizes, states.washout
        (Frozen({'time': 300, 'state': 50}), 29)
        >>> bool(np.allclose(states[298], model.state_))  # which y(299) is forecast from
        True
        """
        check_is_fitted(self, "readout_")
        several = vars(self).get("series_", {})
        if not is_panel(y):
            return self._states_along(y, X, first)
        if several:
            y = self.panel_.named(y, "y")
        panel, each = panel_of(y, "y")
        if several:
            self.panel_.check_names(panel.names, "y", all_=self.panel_.kind in ("list", "tuple"))
        alone = first is None or np.ndim(first) == 0 and not isinstance(first, dict)
        begins = len(each) * [first] if alone else panel.of(first, "first")
        found = []
        for name, data, known, at in zip(panel.names, each, panel.of(X, "X"), begins, strict=True):
            with in_words_of(name):
                found.append(several.get(name, self)._states_along(data, known, at))
        if panel.kind in ("list", "tuple"):
            return panel.write(found)
        return dict(zip(panel.names, found, strict=True))

    def _states_along(self, y: Any, X: Any, first: int | None) -> Any:
        """States of one series."""
        r = self._reservoirs()  # raises for several series
        table, form = self._read_table(y), self._representation()
        rows = len(table.values)
        _check_first(form, first)
        self.y_schema_.check(table.schema, "y")
        self._check_length(rows, form)
        self._check_allowed(table.values, form, self._limits)
        require_some(table.values, "y", table.schema.names)
        given, after = self._table_of_known(X, rows, "states"), rows + 1
        if given is not None:
            after = len(given.values)
            if after not in (rows, rows + 1):
                raise ValueError(
                    f"X has {after} rows and y has {rows}; row t of X belongs to y(t). Give as "
                    "many rows, or one more for the state after the last value."
                )
            check_aligned(table.index, None if given.index is None else given.index[:rows])
        known = self._known(given, form, first or 0, after)[1 + form.lost :]
        _, differences = form.represented(filled(table.values, form.season))
        values = self.y_scaler_.scaled(differences)[: len(known)]
        (states,) = self._driven(r, [np.hstack([values, known])])
        at = slice(form.lost, form.lost + len(states))
        washout = max(washout_of(self.washout, rows - 1), form.lost) - form.lost
        index = np.arange(rows) if table.index is None else table.index
        found, dims = states[:, : r.looks], ("time", "neighbourhood", "state")
        if not self._is_of_fields:
            return state_array(found, index[at], washout)
        return state_array(found.reshape(len(found), r.parts, -1), index[at], washout, dims)

    @whole_or_not_at_all
    @series_first
    def partial_fit(
        self, y: Any, X: Any = None, sample_weight: Any = None, *, forgetting: float = 1.0
    ) -> Self:
        """Learn on from new data: the readout becomes that of one fit to all rows.

        The first call is a `fit`. With ``scale=None`` and a washout in numbers it may be given
        fewer rows than that needs: they wait until there are enough.

        Parameters
        ----------
        y : array, series or frame of shape (rows,) or (rows, outputs)
            What came right after the data so far, one row or many. A pandas index must follow on.
            Missing values (NaN) are as in `fit`. Of several series, in the kind that these were
            given in; of a dict or a frame, some may be left out.
        X : array or frame of shape (rows, known inputs), optional
            Known inputs; row ``i`` belongs to row ``i`` of ``y``.
        sample_weight : array of shape (rows,), optional
            Weight of each row of ``y`` as a training target.
        forgetting : float in (0, 1], default=1.0
            With each of these rows, the weights of all rows before it are multiplied by this: a row
            ``k`` rows back weighs ``forgetting ** k``. Not of several series.

        Returns
        -------
        self

        Notes
        -----
        What `fit` learned beside the readout stays: the scale (with ``scale=None`` there is none),
        a washout of "auto", the number of steps of "direct", and the reservoir's weights. All else
        is exact: wherever the data are cut, the readout is that of one `fit` with that scale and
        washout, and with the weights that forgetting leaves; errors of rounding are those of a QR
        of the rows. A row costs O(p²) for ``p`` features, and nothing grows with the number of
        rows. It is O(p³) where the ridge is small and features are collinear to rounding, or more
        than rows. `fit` keeps what is needed, an array of p² numbers; a file has it if it was saved
        with ``learning=True``. Rows that `update` passed are not learned from. Intervals, and
        ``condition_``, stay those of the data given to `fit`.

        Examples
        --------
        >>> import numpy as np
        >>> from echofold import ESNForecaster
        >>> y = np.sin(np.arange(400) / 5)
        >>> settings = dict(units=50, washout=30, scale=None, random_state=0)
        >>> model = ESNForecaster(**settings).fit(y[:100])
        >>> for row in y[100:]:
        ...     model = model.partial_fit([row])
        >>> whole = ESNForecaster(**settings).fit(y)
        >>> bool(np.allclose(model.forecast(20), whole.forecast(20), atol=1e-9))
        True
        """
        forgetting = check_forgetting(forgetting)
        if self._is_of_fields:
            raise ValueError(
                "partial_fit does not learn on with a reservoirs.Local. Move on over new rows by "
                "update, or fit all data again."
            )
        several = is_panel(y)
        if several and forgetting < 1:
            raise ValueError(
                f"forgetting={forgetting!r} counts rows back, and several series have no rows in "
                "common. Use forgetting=1, or a model for each series."
            )
        if not hasattr(self, "readout_"):
            if several:
                self.fit(y, X, sample_weight)
                return self
            return self._fit_first(y, X, sample_weight, forgetting)
        self._learned_on()
        if "series_" not in vars(self):
            more = read_on(self, y, X, sample_weight, forgetting)
            self._take_in(more.learned, forgetting ** len(more.y))
            stand_after(self, more)
            warn_of(more.notes)
            return self
        if self.series_ and next(iter(self.series_.values()))._steps_at_once > 1:
            raise ValueError(
                f"steps={self.steps!r}: partial_fit of several series learns one step at a time. "
                "Use steps='closed', or fit all data again."
            )
        names, *given = self._each_of(y, X, sample_weight)
        self.series_ = {name: copy(view) for name, view in self.series_.items()}
        each, words = [], []
        for name, data, known, own in zip(names, *given, strict=True):
            with in_words_of(name):
                each.append(read_on(self.series_[name], data, known, own, forgetting))
            words.append((name, each[-1].notes))
        rows = zip(*(one.learned for one in each), strict=True)
        self._take_in([np.concatenate(parts) for parts in rows], 1.0)
        for view in self.series_.values():
            view.readout_ = self.readout_
        for name, more in zip(names, each, strict=True):
            stand_after(self.series_[name], more)
        warn_of(in_series(words))
        return self

    def _trained(self, there: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Which rows are trained on, of those that are all ``there`` or not."""
        form = representation_of(vars(self))
        trained = form.whole(there) & (True if weights is None else weights > 0)
        trained = trained[1 + max(int(self.washout), form.lost) :]
        steps = 1 if self.steps == "closed" else int(self.steps)
        rows = np.arange(max(len(trained) - steps + 1, 0))
        return trained[rows[:, None] + np.arange(steps)].all(axis=1)

    @whole_or_not_at_all
    def update(self, y: Any, X: Any = None) -> Self:
        """Move on over new data, without training, so that `forecast` continues after it.

        Parameters
        ----------
        y : array, series or frame of shape (rows,) or (rows, outputs)
            What came right after the data so far. A pandas index must follow on. The network's
            own forecast takes the place of a missing value (NaN). Of several series, in the kind
            that these were given in; of a dict or a frame, some may be left out.
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
        if "series_" not in vars(self):
            warn_of(self._update(y, X))
            return self
        moved, words = dict(self.series_), []
        for name, data, known, _ in zip(*self._each_of(y, X), strict=True):
            moved[name] = copy(moved[name])
            with in_words_of(name):
                words.append((name, moved[name]._update(data, known)))
        self.series_ = moved
        warn_of(in_series(words))
        return self

    def _each_of(self, y: Any, X: Any, sample_weight: Any = None) -> list[Any]:
        """Names of series, and what follows each, with its known inputs and its weights."""
        y = self.panel_.named(y, "y")
        if not is_panel(y):
            raise TypeError(
                f"y is a {type(y).__name__}, but fit was given {KINDS[self.panel_.kind]}. Give "
                "what came after each of them in the same kind, each an array, a series or a frame."
            )
        panel, each = panel_of(y, "y")
        self.panel_.check_names(panel.names, "y", all_=self.panel_.kind in ("list", "tuple"))
        weights = panel.of(sample_weight, "sample_weight")
        return [panel.names, each, panel.of(X, "X"), weights]

    def _update(self, y, X) -> tuple[str, ...]:
        """`update`, and what is to be said of missing values."""
        self._reservoirs()  # raises before `fit`
        long = is_long(y, X)
        table, span = read_rows(y, "y", long, empty=True, field=self._is_of_fields)
        self.y_schema_.check(table.schema, "y")
        if self.timeline_ is not None:
            self.timeline_.check_follows(table.index, "y")
        known = self._read_known(X, len(table.values), "update", long)
        self._check_allowed(table.values, self._representation(), self._limits)
        for first, block in blocks_of(table.values):
            beside = np.asarray(known[first : first + len(block)])
            learning = learning_after(self, block, beside)
            self._move(block, beside)
            self._have(learning_=learning)
        self._passed(len(table.values), span)
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
        r, form = self._reservoirs(), self._representation()
        levels = np.vstack([self._levels(), form.levels(y)])
        values = self.y_scaler_.scaled(form.differences(levels))
        inputs = np.hstack([np.vstack([self.last_, values[:-1]]), known])
        with self._engine(len(inputs)):
            x = advance(r, inputs, self.state_[:, None])
            self.state_ = np.array(np.asarray(x)[:, 0], dtype=float)
        self.last_ = values[-1]
        if "represented_" in vars(self):
            self.steps_ += len(values)
        if form.lost:
            self.levels_ = levels[-form.lost :]

    def _install(self, source: States, readout: np.ndarray, seed: int, seen: float | Triangle):
        self._forget_validation()
        if readout.ndim == 2:
            return super()._install(source, readout, seed, seen)
        for view, own in zip(self.series_.values(), readout[1:], strict=True):
            view.readout_ = np.ascontiguousarray(own)
        return super()._install(source, readout[0], seed, seen)

    def _at_ends(self, problem: Problem, states: np.ndarray) -> Self:
        if "series_" not in vars(self):
            if problem.later is not None:
                *later, inputs = problem.later
                with self._engine(len(inputs)):
                    behind = np.array(advance(self._reservoirs(), inputs, states))[:, 0]
                self.learning_ = replace(self.learning_, behind=behind)
                self._move(*later)
            return self
        network = self._network
        each = zip(self.series_.values(), problem.each or [problem], states.T, strict=True)
        for view, one, state in each:
            view._have(**network | {"readout_": getattr(view, "readout_", self.readout_)})
            view.residuals_, view.state_ = None, np.ascontiguousarray(state)
            view._at_ends(one, state[:, None])
        del self.state_, self.residuals_
        return self

    @property
    def _network(self) -> dict[str, Any]:
        """Fitted values that series in one model share."""
        names = ("readout_", "reservoir_", "seed_", "condition_", *self.reservoir_.stored)
        return {name: getattr(self, name) for name in names}

    def _reservoirs(self) -> Reservoirs:
        if "series_" in vars(self):
            raise ValueError(
                f"the model has {len(self.series_)} series, and this is done with one. Take one: "
                f"model.series_[{next(iter(self.series_))!r}]."
            )
        return super()._reservoirs()

    def _forget_validation(self) -> None:
        """Have no errors of an earlier validation."""
        self.residuals_ = None
        self._forget("log_residuals_", "runs_")

    @series_first
    def _read(self, y, X=None, sample_weight=None) -> Problem:
        """Check parameters and data, fit scalers and schemas, and set the problem up."""
        self._check_parameters()
        if is_panel(y):
            if self._is_of_fields:
                raise ValueError(
                    "y are several series, and reservoirs.Local is for one field. Give one array."
                )
            return self._read_panel(y, X, sample_weight)
        self._forget("series_", "panel_")
        problem = self._read_series(y, X, sample_weight)
        return check_steps(self._in_steps(problem, self._steps_to_learn(problem, X is not None)))

    def _read_panel(self, y, X, sample_weight) -> Problem:
        """`_read` of several series, each by a forecaster of its own."""
        self._forget(*self._stored, "state_", "series_", "panel_")
        self.panel_, each = panel_of(y, "y")
        known = self.panel_.of(X, "X")
        shared = None if X is None else _shared_columns(known, self.scale)
        beside = zip(
            each, known, self.panel_.of(sample_weight, "sample_weight"),
            self._washouts or len(each) * [None], strict=True,
        )  # fmt: skip
        params = self.get_params(deep=False)
        self.series_ = {name: ESNForecaster(**params) for name in self.panel_.names}
        problems: list[Problem] = []
        first = self.series_[self.panel_.names[0]]
        for (name, view), of_series in zip(self.series_.items(), beside, strict=True):
            data, given, weights, washout = of_series
            with in_words_of(name):
                if X is not None and given is None:
                    raise ValueError("X=None, but other series have X. Give it for all, or none.")
                if is_long(data, given):
                    raise ValueError("it is so long that it is read in blocks. Fit it alone.")
                problems.append(view._read_series(data, given, weights, washout, shared))
                first._check_alike(view, f"of series {self.panel_.names[0]!r}")
        longest = max(problems, key=lambda one: one.rows)
        steps = self._steps_to_learn(longest, X is not None)
        views = self.series_.values()
        each = [view._in_steps(one, steps) for view, one in zip(views, problems, strict=True)]
        return check_steps(joined(each, self.panel_.names))

    def _check_alike(self, other: ESNForecaster, own: str) -> None:
        """Raise unless another series has the columns of this one."""
        self.y_schema_.check(other.y_schema_, "y", own)
        if self.X_schema_ is not None and other.X_schema_ is not None:
            self.X_schema_.check(other.X_schema_, "X", own)

    def _read_series(
        self, y, X=None, sample_weight=None, washout=None, shared: Shared | None = None
    ) -> Problem:
        """`_read` of one series, without the steps that are forecast at once.

        ``shared`` are columns of ``X`` that are scaled as those of other series.
        """
        form, long = representation_of(vars(self)), is_long(y, X)
        if long and self._is_of_fields:
            raise ValueError(
                "y is so long that it is read in blocks, which reservoirs.Local is not for. Give a "
                "part of it, as an array."
            )
        table, span = read_rows(y, "y", long, field=self._is_of_fields)
        self.y_schema_, grid = table.schema, self._grid_of(vars(self), {"y_schema_": table.schema})
        self.timeline_ = None if table.index is None else timeline(table.index)
        limits = read_range(self.output_range, span.shape[1])
        self._check_allowed(table.values, form, limits)
        present, rows = None if long else present_rows(table.values), len(table.values)
        if present is not None:  # what comes after the last value is moved over when trained
            rows = int(np.flatnonzero(present)[-1]) + 1
            present = present[:rows]
        values = table.values[:rows]
        self._check_length(rows, form)
        self.rows_, self.ends_ = rows, ends_of(values)
        if present is not None:
            require_two(form.whole(present), "rows")
        differences = form.represented(values)[1]
        if grid is None:
            self.y_scaler_ = Scaler.learned(differences, self.scale, "y")
        else:
            self.y_scaler_ = Scaler.alike(differences, grid[-1], self.scale, "y")
        self.range_ = span
        self.X_schema_ = self.X_scaler_ = given = None
        if X is not None:
            given, _ = read_rows(X, "X", long)
            check_beside(given, table)
            check_aligned(table.index, given.index)
            self.X_schema_ = given.schema
            self.X_scaler_ = Scaler.learned(given.values, self.scale, "X", UNHEARD)
            if shared is not None and len(shared[0]) == len(self.X_scaler_.unit):
                pairs = zip(vars(shared[1]).values(), vars(self.X_scaler_).values(), strict=True)
                self.X_scaler_ = Scaler(*(np.where(shared[0], all_, own) for all_, own in pairs))
        known = self._known(given, form, 0, len(table.values), long)
        weights = read_weights(sample_weight, len(table.values))
        weights = None if weights is None else weights[:rows]
        problem = forecasting(
            values, known[:rows], self.washout if washout is None else washout, self.y_scaler_,
            form, limits, present, weights,
        )  # fmt: skip
        problem = replace(problem, grid=grid)
        self.last_ = np.array(problem.targets[-1])
        represented = form or form.seasons
        self._have(
            output_range_=limits,
            represented_=form.stored if represented else None,
            steps_=len(problem.levels) if represented else None,
            levels_=np.asarray(problem.levels[-form.lost :]) if form.lost else None,
        )
        self.learning_ = Learning(past=past_of(self, table.values, given, form))
        if long:
            return problem
        words = words_of_table(table, "y", f"{AS_TARGETS} {AS_INPUTS}")
        words += words_of_known(X)
        words += () if table.index is None else words_of_dates(table.index)
        if rows == len(table.values):
            return replace(problem, notes=words)
        words += (f"After row {rows - 1} of y {ON_ITS_OWN}",)
        _, differences = form.represented(filled(table.values, form.season))
        inputs = self.y_scaler_.scaled(differences[rows - form.lost - 1 : -1])
        later = table.values[rows:], known[rows:], np.hstack([inputs, known[rows:]])
        return replace(problem, notes=words, later=later)

    def _in_steps(self, problem: Problem, steps: int) -> Problem:
        """The problem with targets of so many steps."""
        self._have(plan_=steps if steps > 1 else None)
        if steps > 1:  # what is known of the last rows, which are not trained on yet
            rows = min(steps - 1, problem.rows) if problem.later is None else 0
            weights = np.ones(problem.rows) if problem.weights is None else problem.weights
            last = np.column_stack([problem.targets, weights])[problem.rows - rows :]
            self.learning_ = replace(self.learning_, pending=last)
        return in_steps(problem, steps)

    def _problem(self, table: Table, X, first: int | None, washout: int | str) -> Problem:
        """The problem of another series, in the units that were learned.

        ``first`` is the row of the data of `fit` that it begins with.
        """
        form = self._representation()
        _check_first(form, first)
        self.y_schema_.check(table.schema, "y")
        self._check_length(len(table.values), form)
        self._check_allowed(table.values, form, self._limits)
        given = self._table_of_known(X, len(table.values), "backtest")
        if given is not None:
            check_beside(given, table)
            check_aligned(table.index, given.index)
        known = self._known(given, form, first or 0, len(table.values))
        problem = forecasting(
            table.values, known, washout, self.y_scaler_, form, self._limits,
            present_rows(table.values),
        )  # fmt: skip
        return replace(problem, grid=self._grid_of(vars(self), vars(self)))

    def _known(
        self, X: Table | None, form: Form, first: int, rows: int, long: bool = False
    ) -> Values:
        """Inputs known in advance: those given, filled and scaled, then waves from ``first`` on."""
        waves: Values = form.waves(first, first if long else first + rows)
        if long:
            waves = Lazy(form.waves, rows, waves.shape[1], first)
        if X is None or self.X_scaler_ is None:
            return waves
        given = mapped(partial(filled, every=form.season), X.values)
        return hstack(mapped(self.X_scaler_.scaled, given), waves)

    def _table_of_known(
        self, X, rows: int, method: str, long: bool = False, empty: bool = False
    ) -> Table | None:
        """The table of known inputs, which a method has if `fit` had it; not how long it is."""
        check_both(X, self.X_schema_, rows, method)
        if self.X_schema_ is None:
            return None
        table, _ = read_rows(X, "X", long, empty)
        self.X_schema_.check(table.schema, "X")
        return table

    def _read_known(self, X, rows: int, method: str, long: bool = False) -> Any:
        """Known inputs of the ``rows`` rows after the data so far."""
        table = self._table_following(X, rows, method, long)
        return self._known(table, self._representation(), vars(self).get("steps_", 0), rows, long)

    def _table_following(self, X, rows: int, method: str, long: bool = False) -> Table | None:
        """The table of known inputs of the ``rows`` rows after the data so far."""
        table = self._table_of_known(X, rows, method, long, empty=method == "partial_fit")
        if table is not None:
            if len(table.values) != rows:
                raise ValueError(
                    f"X has {len(table.values)} rows, but {method} needs {rows}: one for each "
                    "value, starting right after the data so far."
                )
            if self.timeline_ is not None and self.timeline_.kind in ("dates", "periods"):
                self.timeline_.check_follows(table.index, "X")
        return table

    def _check_length(self, rows: int, form: Form) -> None:
        """Raise for a series that is too short for its differences."""
        if form.lost and rows < form.lost + 3:
            raise ValueError(
                f"y has {rows} values, of which difference={self.difference!r} loses {form.lost}; "
                "at least 3 must be left. Give a longer series or smaller lags."
            )

    @property
    def _steps_at_once(self) -> int:
        """How many steps the readout forecasts at once."""
        return vars(self).get("plan_", 1)

    @property
    def _limits(self) -> np.ndarray | None:
        """The output range ``(2, outputs)`` of what was fitted, if there is one."""
        return vars(self).get("output_range_", None)

    def _check_allowed(self, values: Values, form: Form, limits) -> None:
        """Raise for values that have no level, or are outside of the ``limits (2, outputs)``."""
        for first, block in blocks_of(values) if form or limits is not None else ():
            form.levels(block, first)
            outside = np.zeros(0) if limits is None else (block < limits[0]) | (block > limits[1])
            if outside.any():
                row, column = np.argwhere(outside)[0]
                raise ValueError(
                    f"y holds {block[row, column]:.6g} in row {first + row}, outside of "
                    f"output_range={self.output_range!r}. Give a range that holds all values."
                )

    def _have(self, **fitted: Any) -> None:
        """Have these fitted values, but for those that are None."""
        self._forget(*fitted)
        for name, value in fitted.items():
            if value is not None:
                setattr(self, name, value)

    def _representation(self) -> Form:
        """How the series that was fitted is represented."""
        return read_representation(vars(self).get("represented_", PLAIN))

    def _levels(self) -> np.ndarray:
        """The last levels, from which differences are summed up."""
        return vars(self).get("levels_", np.zeros((0, len(self.last_))))

    def _steps_to_learn(self, problem: Problem, known: bool) -> int:
        """How many steps the readout is to forecast at once."""
        if self.steps in ("closed", 1):
            return 1
        if problem.lazy or known:
            what = "a series that is read in blocks" if problem.lazy else "X"
            raise ValueError(f"steps={self.steps!r} is not for {what}; use steps='closed'.")
        if self.steps != "direct":
            return int(self.steps)
        return max(1, min(problem.form.season or DIRECT, problem.rows // SHARE))

    @property
    def _is_of_fields(self) -> bool:
        """Whether its reservoir is one of neighbourhoods of a field."""
        return isinstance(self.reservoir, Reservoir) and self.reservoir._of_fields

    def _read_table(self, y: Any) -> Table:
        """A table with values that may be missing, or a field of them."""
        return read(y, "y", missing=True, field=self._is_of_fields)

    @classmethod
    def _grid_of(cls, params: Mapping[str, Any], fitted: Mapping[str, Any]) -> Grid | None:
        kind, schema = params["reservoir"], fitted.get("y_schema_")
        of_fields = isinstance(kind, Reservoir) and kind._of_fields
        return kind._grid_of(schema.axes) if of_fields and isinstance(schema, Schema) else None

    @classmethod
    def _with_model(cls, kind: Reservoir, params: Mapping[str, Any], problem: Problem) -> Reservoir:
        if params["model"] is None:
            return kind
        first, *others = problem.each or (problem,)
        alike = all(
            (one.unit == first.unit).all() and (one.offset == first.offset).all() for one in others
        )
        if not alike:
            raise ValueError(
                f"model={params['model']!r} says what comes next of values as they are, and each "
                "of several series is scaled by its own. Use scale=None, or a forecaster for each."
            )
        return Hybrid.of(kind, params["model"], first.offset, first.unit)

    def _free_kind(self) -> Reservoir:
        kind = super()._free_kind()
        if self.model is None:
            return kind
        scaler = next(iter(vars(self).get("series_", {0: self}).values())).y_scaler_
        return Hybrid.of(kind, self.model, scaler.center, scaler.unit)

    @classmethod
    def _check_values(cls, params: dict[str, Any], whole: bool = False) -> Reservoir:
        form, model = representation_of(params), params.get("model")  # which older files lack
        if model is not None and not callable(model):
            refuse("model", model, "a function that gives the values one step after y, or None")
        if model is not None and form:
            raise ValueError(
                f"model={model!r} is one of the values themselves, and with log={form.log} and "
                f"difference={form.lags} the network sees others. Leave these out, or the model."
            )
        steps = params["steps"]
        if steps not in ("closed", "direct") and not (is_integer(steps) and steps >= 1):
            refuse("steps", steps, "'closed', 'direct' or a number of steps of at least 1")
        if params["pool"] not in POOLS:
            refuse("pool", params["pool"], "'all', 'none' or 'shrunk'")
        check_number("shrink", params["shrink"], "a number of at least 0", least=0)
        kind = super()._check_values(params, whole)
        if kind._of_fields and steps not in ("closed", 1):
            raise ValueError(
                f"steps={steps!r}: neighbourhoods of a reservoirs.Local see each other after each "
                "step. Use steps='closed'."
            )
        if kind._of_fields and model is not None:
            raise ValueError(
                f"model={model!r} is one of all values, and neighbourhoods of a reservoirs.Local "
                "see their own. Use another kind of reservoir, or no model."
            )
        return kind

    @classmethod
    def _sizes(cls, fitted: Mapping[str, Any]) -> dict[str, int]:
        sizes, form = super()._sizes(fitted), read_representation(fitted.get("represented_", PLAIN))
        known, steps = sizes["inputs"], fitted.get("plan_", 1)
        outputs = len(fitted["y_schema_"].holds)
        return sizes | {
            "outputs": outputs,
            "steps * outputs": steps * outputs,
            "inputs": outputs + known + form.waves(0, 0).shape[1],
            "known": known,
            "lost": form.lost,
        }

    @classmethod
    def _check_stored(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        if (fitted["X_schema_"] is None) != (sizes["known"] == 0):
            raise ValueError("X_schema_ and X_scaler_ belong together")
        pandas = fitted["y_schema_"].kind == "pandas"
        if (fitted["timeline_"] is not None) != pandas:
            raise ValueError("timeline_ must be there for pandas data, and None for other")
        if ("levels_" in fitted) != (sizes["lost"] > 0):
            raise ValueError("levels_ must be there if, and only if, differences are summed up")
        if ("steps_" in fitted) != ("represented_" in fitted):
            raise ValueError("steps_ and represented_ belong together")
        if "range_" in fitted and (
            len(fitted["range_"]) != 2 or (fitted["range_"][0] > fitted["range_"][1]).any()
        ):
            raise ValueError("range_ must be the lowest and the highest value of each output")


def _check_first(form: Form, first: int | None) -> None:
    """Raise unless it is told where in its seasons a series begins, if there are any."""
    if form.seasons and first is None:
        raise ValueError(
            "first=None, but the model has a season: say which row of the data given to fit y "
            "begins with, first=0 if both begin alike."
        )


def _forecast_each(
    panel: Panel, views: Sequence[ESNForecaster], horizon: int, known: Sequence[Any], level
) -> Any:
    """Forecasts of several series, in the kind of their panel."""
    each, words, some = [], [], any(view.residuals_ is not None for view in views)
    for name, view, X in zip(panel.names, views, known, strict=True):
        alone = some and view.residuals_ is None and level is not None
        if alone:
            view = copy(view)
            view.residuals_ = np.full((1, 1, len(view.last_)), np.nan)
        with in_words_of(name), collected() as said:
            each.append(view.forecast(horizon, X, level))
        words.append((name, [UNKNOWN] if alone else said))
    warn_of(in_series(words))
    return of_all(panel, each)


def _shared_columns(each: Sequence[Any], scale: str | None) -> Shared | None:
    """Columns of known inputs that are constant in every series, as attributes of these are.

    Scaled one by one, nothing would be left of them.
    """
    try:
        tables = [read(one, "X", missing=True).values for one in each]
        first = np.stack([values[0] for values in tables])
    except (TypeError, ValueError):  # said by name when the series are read
        return None
    constant = np.all([(values == values[0]).all(axis=0) for values in tables], axis=0)
    return constant, Scaler.learned(np.where(constant, first, 0.0), scale, "X", UNHEARD)


def _rows_of(X: Any, rows: int, horizon: int) -> tuple[Any, Any]:
    """Known inputs of the rows of a series, and those of as many steps after it as ``horizon``."""
    if X is None:
        return None, None
    if len(X) != rows + horizon:
        raise ValueError(
            f"X has {len(X)} rows, expected {rows + horizon}: with y it has one for each of the "
            f"{rows} values of y, then one for each of {horizon} that are forecast."
        )
    at = X.iloc if hasattr(X, "iloc") else X
    return at[:rows], at[rows:]
