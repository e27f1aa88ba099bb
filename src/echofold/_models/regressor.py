"""Regression: inputs to outputs, time step by time step, or whole sequences to one output each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from echofold._data.arguments import check_number, read_range, refuse, seed_of
from echofold._data.lazy import Lazy, Values, blocks_of, is_long, loaded, mapped
from echofold._data.missing import (
    AS_INPUTS,
    AS_TARGETS,
    filled,
    present_rows,
    words_of,
    words_of_table,
)
from echofold._data.panels import has_one_each, is_panel, panel_of
from echofold._data.problem import (
    EXTRINSIC,
    FEEDBACK,
    REGRESSION,
    Problem,
    Task,
    after_washout,
    in_series,
    in_words_of,
    joined,
    regression,
    washout_of,
    with_feedback,
    without_noise,
)
from echofold._data.represent import Form
from echofold._data.scaling import Scaler
from echofold._data.scikit_learn import RegressorMixin
from echofold._data.tables import (
    Table,
    check_columns,
    kind_of,
    read,
    read_rows,
    read_weights,
    require_finite,
    require_some,
    words_of_axes,
)
from echofold._engine.drive import drive_blocks
from echofold._engine.kind import Reservoir, Reservoirs
from echofold._machine.notices import collected, warn_of
from echofold._models.base import (
    Stored,
    documented,
    state_array,
    whole_or_not_at_all,
)
from echofold._models.learning import Learning, aged, check_forgetting
from echofold._models.sequences import AlsoParameter, OfSequences


@documented
class ESNRegressor(RegressorMixin, OfSequences):
    """Map a series of inputs to a series of outputs, or whole sequences to a number each.

    Rows are time: the prediction for a row depends on it and on the rows before it. Where ``y`` has
    one number, or one row of them, for each of several sequences, the readout sees the states of a
    whole sequence at once, and sequences have no order.

    Parameters
    ----------
    %(parameters)s
    washout : int or "auto", default="auto"
        First rows that only warm the state up; "auto" is a tenth of them, at most 200.
    output_range : pair (low, high) or None, default=None
        Predictions are clipped to it, in the units of ``y``. Each end is a number (which may be
        infinite) or one for each output.
    feedback : bool, default=False
        Whether outputs come back as inputs: the reservoir is driven by ``[y(t-1), X(t)]``, by the
        true ``y`` in training (teacher forcing), and by its own outputs in predictions and over
        each validation stretch, which are closed loops along known ``X``. Of one series in memory;
        before the first row ``y`` is 0 in scaled units, its mean with ``scale="standard"``.
    feedback_noise : float, default=0.0
        Standard deviation of normal noise, in scaled units, that is added to the ``y`` that comes
        back in training, which makes a network less sure of its own outputs. It is a function of
        ``random_state``, the same for all candidates of a search (and the same every time where
        that is None). A validation stretch begins with a state and an input that have it;
        predictions are without.
    %(sequences)s

    Attributes
    ----------
    readout_ : ndarray of shape (1 + places * (inputs + units), outputs)
        Maps ``[1, u(n), x(n)]``, of whole sequences every summary of them, to the output, in
        scaled units.
    ridge_, validated_ : float
        Of ``ridge="auto"`` on whole sequences: the ridge that leave-one-out chose, and its R².
    state_ : ndarray of shape (units,)
        State at the end of the data; zero after sequences.
    last_ : ndarray of shape (outputs,)
        With ``feedback``, the last outputs of the data, in scaled units.
    learning_ : object
        What `partial_fit` goes on from, as large as the square of the number of features; where it
        is not wanted, ``del model.learning_`` saves that memory.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray of str
        Names of the columns of ``X``, if it had any.
    %(attributes)s

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNRegressor
    >>> u = np.random.default_rng(0).uniform(size=(500, 1))
    >>> delayed = np.roll(u[:, 0], 2)  # what the input was two steps ago
    >>> model = ESNRegressor(units=50, random_state=0).fit(u[:400], delayed[:400])
    >>> model.predict(u[400:], start="last").shape
    (100,)
    >>> model.score(u[400:], delayed[400:]) > 0.9
    True

    Outputs that come back, because what a tank holds depends on what it held:

    >>> held = np.zeros(500)
    >>> for t in range(1, 500):
    ...     held[t] = 0.99 * held[t - 1] + u[t, 0]
    >>> for feedback in (False, True):
    ...     model = ESNRegressor(20, feedback=feedback, random_state=0).fit(u[:400], held[:400])
    ...     predicted = model.predict(u[400:], start="last")
    ...     print(bool(np.abs(predicted - held[400:]).max() < 1))
    False
    True

    One number for each of several sequences, here how quickly they swing:

    >>> speeds = np.linspace(0.1, 1, 40)
    >>> waves = [np.sin(speed * np.arange(80))[:, None] for speed in speeds]
    >>> model = ESNRegressor(units=50, random_state=0).fit(waves[::2], speeds[::2])
    >>> model.predict(waves[1::2]).shape
    (20,)
    >>> model.score(waves[1::2], speeds[1::2]) > 0.99
    True
    """

    last_: np.ndarray

    _task = REGRESSION
    _stored = {
        "y_schema_": Stored("schema", ("outputs",)),
        "y_scaler_": Stored("scaler", ("outputs",)),
        "X_scaler_": Stored("scaler", ("given",)),
        "output_range_": Stored("range", ("outputs",), optional=True, finite=False),
        "n_features_in_": Stored("count"),
        "feature_names_in_": Stored("names", ("columns",), always=False),
        "summaries_": Stored("summaries", always=False),
        "normalize_": Stored("normalize", always=False),
        "ridge_": Stored("float", always=False),
        "validated_": Stored("float", always=False),
        "X_schema_": Stored("schema", ("given",), always=False),
        "learning_": Stored("learning", always=False),
        "last_": Stored("floats", ("outputs",), always=False),
    }
    _shapes_the_problem = (
        "washout", "scale", "output_range", "states", "summaries", "normalize", "feedback",
        "feedback_noise",
    )  # fmt: skip

    def __init__(
        self, units: int = 100, *, leak_rate: float = 1.0, spectral_radius: float | None = 0.9,
        input_scaling: Any = 1.0, bias_scaling: float = 1.0, connectivity: float = 1.0,
        ridge: float | Sequence[float] | str = "auto", penalize_bias: bool = False,
        washout: int | str = "auto", scale: str | None = "standard", W: Any = None,
        W_in: Any = None, random_state: Any = None, device: str = "auto",
        precision: str = "double", reservoir: Any = "auto",
        readout: str | Callable[..., Any] = "inputs+states", output_range: Any = None,
        states: int | str | None = None, summaries: Any = None, normalize: bool | str = "auto",
        feedback: bool = False, feedback_noise: float = 0.0,
    ) -> None:  # fmt: skip
        self._keep(vars())

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on a series of inputs and outputs, one readout on several, or on sequences.

        Parameters
        ----------
        X : array or frame of shape (T, inputs); or several
            Inputs, in time order. A missing one (NaN) is taken to be the last known one of its
            column; a warning says how many there are, and where. A long series that is stored, as a
            `numpy.memmap`, a Zarr array or `ParquetColumns`, is read in blocks and never held in
            memory; nothing of it may be missing. Several series, of any lengths, are a list of
            these, a dict by names, a frame whose index has two levels, the first of which are the
            names, or a `LongFrame`. Each begins at rest with a washout of its own, and all are
            scaled alike; ``y`` and ``sample_weight`` are given in the same kind. An array ``(n,
            time, inputs)`` is several series, too.
        y : array, series or frame of shape (T,) or (T, outputs)
            Outputs at the same times. A row with a missing one (NaN) is neither trained on nor
            scored. May be stored as ``X`` may. Of whole sequences, which ``X`` has in a list or an
            array ``(n, time, inputs)``: one number for each, ``(n,)`` or a list, or one row of
            numbers, ``(n, outputs)``.
        sample_weight : array of shape (T,), optional
            Weight of each row in training; of whole sequences ``(n,)``, that of each of them.

        Returns
        -------
        self
        """
        return self._fit(self._read(X, y, sample_weight))

    @whole_or_not_at_all
    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, forgetting: float = 1.0
    ) -> Self:
        """Learn on from new data: the readout becomes that of one fit to all rows.

        The first call is a `fit`. With ``scale=None`` and a washout in numbers it may be given
        fewer rows of a series than that needs: they wait until there are enough.

        Parameters
        ----------
        X : array or frame of shape (rows, inputs); or several; or sequences, as given to `fit`
            Inputs that come right after those so far, one row or many. Missing ones (NaN) are as in
            `fit`. Several series, and whole sequences, are further ones, each of which begins at
            rest.
        y : array, series or frame of shape (rows,) or (rows, outputs)
            Outputs at the same times, or of the sequences.
        sample_weight : array of shape (rows,), optional
            Weight of each row in training.
        forgetting : float in (0, 1], default=1.0
            With each of these rows, or sequences, the weights of all before it are multiplied by
            this: a row ``k`` rows back weighs ``forgetting ** k``. Not of several series.

        Returns
        -------
        self

        Notes
        -----
        What `fit` learned beside the readout stays: the scale (with ``scale=None`` there is none),
        a washout of "auto", and the reservoir's weights. All else is exact: wherever the data are
        cut, the readout is that of one `fit` with that scale and washout, and with the weights that
        forgetting leaves; errors of rounding are those of a QR of the rows. A row costs O(p²) for
        ``p`` features, and nothing grows with the number of rows. It is O(p³) where the ridge is
        small and features are collinear to rounding, or more than rows, and where outputs have
        ridges of their own. `fit` keeps what is needed, an array of p² numbers; a file has it if it
        was saved with ``learning=True``. ``condition_`` stays that of the data given to `fit`.

        Examples
        --------
        >>> import numpy as np
        >>> from echofold import ESNRegressor
        >>> u = np.random.default_rng(0).uniform(size=(500, 1))
        >>> delayed = np.roll(u[:, 0], 2)
        >>> settings = dict(units=50, washout=20, scale=None, random_state=0)
        >>> model = ESNRegressor(**settings).fit(u[:200], delayed[:200])
        >>> for row in range(200, 500):
        ...     model = model.partial_fit(u[[row]], delayed[[row]])
        >>> whole = ESNRegressor(**settings).fit(u, delayed)
        >>> bool(np.allclose(model.predict(u), whole.predict(u), rtol=0, atol=1e-9))
        True
        """
        forgetting = check_forgetting(forgetting)
        sequences = hasattr(self, "summaries_") or self._task_on(X, y) is EXTRINSIC
        if _are_several(X) and not sequences and forgetting < 1:
            raise ValueError(
                f"forgetting={forgetting!r} counts rows back, and several series have no rows in "
                "common. Use forgetting=1, or a model for each series."
            )
        if not hasattr(self, "readout_"):
            if not sequences and not _are_several(X):
                return self._fit_first(y, X, sample_weight, forgetting)
            if forgetting < 1:
                sample_weight = aged(len(y), forgetting, read_weights(sample_weight, len(y)))
            return self.fit(X, y, sample_weight)
        self._learned_on()
        single = len(self.learning_.past) > 0
        if single == (_are_several(X) or sequences):
            raise ValueError(
                f"fit was given {'one series' if single else 'several series or sequences'}, and "
                "X is not. Give partial_fit more of the same kind."
            )
        if sequences:
            rows, words = self._rows_of_sequences(X, y, sample_weight)
        elif single:
            rows, words = self._rows_on(X, y, sample_weight)
        else:
            rows, words = self._rows_of_each(X, y, sample_weight)
        rows[2] = aged(len(rows[2]), forgetting, rows[2])
        self._take_in(rows, forgetting ** len(rows[2]))
        warn_of(words)
        return self

    def _trained(self, there: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Which rows are trained on, of those that are all ``there`` or not."""
        return (there & (True if weights is None else weights > 0))[int(self.washout) :]

    def _rows_on(self, X: Any, y: Any, sample_weight: Any) -> tuple[list[np.ndarray], Any]:
        """States, targets and weights of rows that follow the series, which moves on."""
        given, target = self._tables(X, y, reset=False)
        r, past = self._reservoirs(), self.learning_.past
        inputs = known = filled(np.vstack([past, self.X_scaler_.scaled(given)]))[len(past) :]
        if hasattr(self, "last_"):
            back = filled(np.vstack([self.last_, self.y_scaler_.scaled(target.values)]))
            inputs, self.last_ = np.hstack([back[:-1], known]), back[-1].copy()
        (kept,) = self._driven(r, [inputs], self.state_[:, None])
        self.state_ = np.ascontiguousarray(r.state_in(kept[-1:, :, None])[0, :, 0])
        self.learning_ = replace(self.learning_, past=known[-1:].copy())
        words = words_of_table(target, "y", AS_TARGETS) + self._words(given, X)
        return self._rows(r, inputs, kept, target, sample_weight, 0), words

    def _rows_of_each(self, X: Any, y: Any, sample_weight: Any) -> tuple[list[np.ndarray], Any]:
        """The same of further series, each of which begins at rest."""
        y, sample_weight, X = _listed(y, X), _listed(sample_weight, X), _listed(X)
        panel, each = panel_of(X, "X")
        r, found, words = self._reservoirs(), [], []
        others = panel.of(y, "y", "X"), panel.of(sample_weight, "sample_weight", "X")
        for name, data, own, weights in zip(panel.names, each, *others, strict=True):
            with in_words_of(name):
                given, target = self._tables(data, own, reset=False)
                require_some(given, "X", getattr(self, "feature_names_in_", None))
                inputs = self.X_scaler_.scaled(filled(given))
                (kept,) = self._driven(r, [inputs])
                washout = washout_of(self.washout, len(inputs))
                found.append(self._rows(r, inputs, kept, target, weights, washout))
            said = words_of_table(target, "y", AS_TARGETS) + self._words(given, data)
            words.append((name, said))
        return [np.concatenate(parts) for parts in zip(*found, strict=True)], in_series(words)

    def _rows_of_sequences(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[list[np.ndarray], Any]:
        """The same of further sequences, each of which is a row."""
        features = self._features(X)
        target = read(y, "y", missing=True)
        self.y_schema_.check(target.schema, "y")
        if len(target.values) != len(features):
            raise ValueError(
                f"y has {len(target.values)} rows for {len(features)} sequences in X. Give one "
                "for each."
            )
        words = words_of_table(target, "y", AS_TARGETS) + words_of_axes(X, "X")
        return [features, *self._targets(target, sample_weight)], words

    def _rows(
        self, r: Reservoirs, inputs: np.ndarray, kept: np.ndarray, target: Table, weights, first
    ) -> list[np.ndarray]:
        """What the readout sees, targets and weights from row ``first`` on."""
        seen = kept[:, : r.looks]
        X = np.hstack([inputs, seen]) if r.beside else seen
        return [part[first:] for part in (X, *self._targets(target, weights))]

    def _targets(self, target: Table, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """Scaled targets and weights, which are zero where a value is missing."""
        there = ~np.isnan(target.values).any(axis=1)
        own = read_weights(sample_weight, len(there), some=False)
        scaled = np.where(there[:, None], self.y_scaler_.scaled(target.values), 0.0)
        return scaled, there * (1.0 if own is None else own)

    def predict(self, X: Any, start: str = "zero") -> np.ndarray:
        """Predict the outputs of a series of inputs, or those of whole sequences.

        Parameters
        ----------
        X : array or frame of shape (T, inputs); or several; or sequences, as given to `fit`
            Inputs, in time order. A missing one (NaN) is taken to be the last known one of its
            column in ``X``, or the first one. A long series that is stored is read in blocks.
        start : {"zero", "last"}, default="zero"
            State to start from: zero, or the one at the end of the data given to `fit`, for
            inputs that come right after it (not of several). With ``feedback`` the output that
            comes back first is zero in scaled units, or the last one of these data. The estimator
            itself never changes.

        Returns
        -------
        y : ndarray of shape (T,) or (T, outputs); a list or dict of these for several
            Of whole sequences, of shape (n,) or (n, outputs).
        """
        r = self._reservoirs()
        if hasattr(self, "summaries_"):
            _check_at_rest(start)
            return self._original(self._outputs(X))
        if _are_several(X):
            return self._predict_each(X, start)
        _check_start(start)
        long = is_long(X)
        given = self._inputs(X, long)
        warn_of(() if long else self._words(given, X))
        inputs = mapped(self.X_scaler_.scaled, mapped(filled, given))
        if hasattr(self, "last_"):
            if long:
                raise ValueError(f"X {IN_BLOCKS}")
            return self._original(self._on_its_own(inputs, *self._begin(start)))
        state = self.state_ if start == "last" else np.zeros_like(self.state_)
        readout, seen = self.readout_, inputs.shape[1] if r.beside else 0
        outputs = np.empty((len(inputs), readout.shape[1]))
        for row, block in blocks_of(inputs):
            linear = block[:, :seen] @ readout[1 : 1 + seen]
            outputs[row : row + len(block)] = readout[0] + linear
        with self._engine(len(inputs)):
            for row, states, _ in drive_blocks(r, inputs, state[:, None]):
                block = np.asarray(states)[:, : r.looks, 0]
                outputs[row : row + len(block)] += block @ readout[1 + seen :]
        return self._original(outputs)

    @AlsoParameter
    def states(self, X: Any, start: str = "zero") -> Any:
        """States of the reservoir along inputs: what the readout sees of them, row by row.

        Parameters
        ----------
        X : array or frame of shape (T, inputs); or several; or sequences, as given to `fit`
            Inputs, in time order. A missing one (NaN) is taken to be the last known one of its
            column in ``X``, or the first one.
        start : {"zero", "last"}, default="zero"
            State to start from, as of `predict`.

        Returns
        -------
        states : xarray.DataArray, or several in a list or dict
            Of dimensions ``(time, state)``: the state of row ``t`` is the one after ``X(t)``. A
            pandas index is that of ``time``; other rows are numbered. Several in one array ``(n,
            time, inputs)`` have theirs in one of ``(sequence, time, state)``. Of each the attribute
            ``washout`` is how many of the first rows `fit` would not train on.

        Notes
        -----
        They are those that the readout is trained on, ``readout_[0] + u @ readout_[1 : 1 + inputs]
        + states @ readout_[1 + inputs :]`` being the output in scaled units: inputs are scaled as
        in `fit`, and where ``readout`` asks for squares or products, these are beside the states.
        Noise of a reservoir is for training alone, and not in them. Of whole sequences the readout
        sees what the parameter ``states``, of the same name, takes of them; `get_params` gives it.

        Examples
        --------
        >>> import numpy as np
        >>> from echofold import ESNRegressor
        >>> u = np.random.default_rng(0).uniform(size=(500, 1))
        >>> model = ESNRegressor(units=50, random_state=0).fit(u, np.roll(u[:, 0], 2))
        >>> states = model.states(u)
        >>> states.sizes, states.washout
        (Frozen({'time': 500, 'state': 50}), 50)
        """
        check_is_fitted(self, "readout_")
        if hasattr(self, "summaries_"):
            _check_at_rest(start)
            return self._states_of_sequences(X)
        if not _are_several(X):
            return self._states_along(X, start)
        _check_at_rest(start)
        panel, each = panel_of(_listed(X), "X")
        found = []
        for name, one in zip(panel.names, each, strict=True):
            with in_words_of(name):
                found.append(self._states_along(one, start))
        if _listed(X) is X:
            return panel.write(found)
        return state_array(np.stack([one.values for one in found]), None, found[0].washout)

    def _states_along(self, X: Any, start: str) -> Any:
        """States of one series."""
        _check_start(start)
        given = self._inputs(X, False)
        inputs, (state, last) = self.X_scaler_.scaled(filled(given)), self._begin(start)
        if hasattr(self, "last_"):
            outputs = self._on_its_own(inputs, state, last)
            inputs = np.hstack([np.vstack([last, outputs[:-1]]), inputs])
        r = self._reservoirs()
        (states,) = self._driven(r, [inputs], state[:, None])
        index = X.index if kind_of(X) == "pandas" else None
        washout = washout_of(self.washout, len(states))
        return state_array(states[:, : r.looks], index, washout)

    def _begin(self, start: str) -> tuple[np.ndarray, Any]:
        """The state to start from, and the scaled outputs that come back first, if they do."""
        begin = self.state_, getattr(self, "last_", None)
        if start == "last":
            return begin
        return np.zeros_like(begin[0]), None if begin[1] is None else np.zeros_like(begin[1])

    def _limited(self) -> dict[str, Any]:
        if self.output_range_ is None:
            return {}
        form, scaler = Form(), self.y_scaler_
        inverse = form.inverse(scaler.center, form.limits(self.output_range_))
        before = form.past(np.zeros((1, 0, len(scaler.unit))))
        return {"unit": scaler.unit, "inverse": inverse, "before": before}

    def _original(self, outputs: np.ndarray) -> np.ndarray:
        """Outputs of the readout as users get them."""
        predicted = self.y_scaler_.original(outputs)
        if self.output_range_ is not None:
            predicted = np.clip(predicted, *self.output_range_)
        return predicted[:, 0] if self.y_schema_.flat else predicted

    def _predict_each(self, X: Any, start: str) -> Any:
        """Predictions of several series, in the kind that they are given in."""
        _check_at_rest(start)
        panel, each = panel_of(_listed(X), "X")
        found, words = [], []
        for name, one in zip(panel.names, each, strict=True):
            with in_words_of(name), collected() as said:
                found.append(self.predict(one))
            words.append((name, said))
        warn_of(in_series(words))
        return panel.write(found) if _listed(X) is X else np.stack(found)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination R² of the predictions, over rows that have a value.

        Parameters
        ----------
        X : array or frame of shape (T, inputs); or several; or sequences, as given to `fit`
            Inputs, in time order.
        y : array, series or frame of shape (T,) or (T, outputs)
            True outputs.
        sample_weight : array of shape (T,), optional
            Weight of each row.

        Returns
        -------
        float
        """
        if not hasattr(self, "summaries_") and _are_several(X):
            panel, each = panel_of(_listed(X), "X")
            weights = panel.of(_listed(sample_weight, X), "sample_weight", "X")
            return _r2(
                np.concatenate(panel.of(_listed(y, X), "y", "X")),
                np.concatenate([self.predict(one) for one in each]),
                None if sample_weight is None else np.concatenate(weights),
            )
        target = read(y, "y", missing=True)
        present = present_rows(target.values)
        if present is None:
            return super().score(X, y, sample_weight)
        return _r2(target.values, self.predict(X), read_weights(sample_weight, len(present)))

    def _quiet(self, problem: Problem) -> Problem:
        noisy = problem.task.fed_back and self.feedback_noise
        return without_noise(problem) if noisy else problem

    def _at_ends(self, problem: Problem, states: np.ndarray) -> Self:
        if problem.names:  # no series goes on
            self.state_ = np.zeros_like(self.state_)
        return self

    def _read(self, X, y, sample_weight=None) -> Problem:
        """Check parameters and data, fit scalers and schemas, and set the problem up."""
        self._check_parameters()
        sequences = self._task_on(X, y) is EXTRINSIC
        if self.feedback and (sequences or _are_several(X)):
            raise ValueError(
                "feedback=True is for one series, and X is several, or sequences. Use "
                "feedback=False, or a regressor for each series."
            )
        self._forget("last_")
        if sequences:
            return self._read_sequences(X, y, sample_weight)
        self._forget("summaries_", "normalize_", "X_schema_", "learning_")
        given = self.get_params(deep=False)
        for name, plain in (
            ("states", (None, "mean")), ("summaries", (None,)), ("normalize", ("auto", False)),
        ):  # fmt: skip
            if (value := given[name]) not in plain:
                refuse(name, value, f"{plain[0]!r} where y has a row for every step of X")
        if not _are_several(X):
            inputs, target = self._tables(X, y)
            self._learn(inputs, target.values)
            past = self.X_scaler_.scaled(mapped(filled, inputs)[-1:])
            self.learning_ = Learning(past=np.array(past))
            return self._problem(X, inputs, target, sample_weight, self.washout)
        y, sample_weight, X = _listed(y, X), _listed(sample_weight, X), _listed(X)
        panel, each = panel_of(X, "X")
        others = panel.of(y, "y", "X"), panel.of(sample_weight, "sample_weight", "X")
        beside = list(zip(panel.names, each, *others, strict=True))
        tables: list[tuple[Any, Table]] = []
        for name, data, target, _ in beside:
            with in_words_of(name):
                if is_long(data, target):
                    raise ValueError("it is so long that it is read in blocks. Fit it alone.")
                reader = copy(self) if tables else self
                tables.append(reader._tables(data, target))
                self._check_alike(reader, *tables[-1], repr(panel.names[0]))
        inputs, targets = (list(part) for part in zip(*tables, strict=True))
        self._learn(np.concatenate(inputs), np.concatenate([one.values for one in targets]))
        problems = []
        washouts = self._washouts or len(each) * [self.washout]
        for (name, data, _, weights), table, first in zip(beside, tables, washouts, strict=True):
            with in_words_of(name):
                problems.append(self._problem(data, *table, weights, first))
        return joined(problems, panel.names)

    def _task_on(self, *data: Any) -> Task:
        if has_one_each(*data[:2]):
            return EXTRINSIC
        return FEEDBACK if self.feedback else REGRESSION

    def _read_sequences(self, X, y, sample_weight) -> Problem:
        """The problem of whole sequences, with a number or a row of numbers each."""
        self._forget("learning_")
        if self.washout not in ("auto", 0):
            refuse("washout", self.washout, "'auto' or 0 for sequences, whose every step counts")
        inputs, missing = self._learned(X)
        self.n_features_in_ = len(self.X_scaler_.unit)
        target = read(y, "y", missing=True)
        values = target.values
        if len(inputs) < 2 or len(values) != len(inputs):
            raise ValueError(
                f"y has {len(values)} rows for {len(inputs)} sequences in X, expected one for each "
                "of at least two. For a row of y at every step give y in a list of arrays, as X."
            )
        require_some(values, "y", target.schema.names)
        self.y_schema_, self.y_scaler_ = target.schema, Scaler.learned(values, self.scale, "y")
        self.output_range_ = read_range(self.output_range, values.shape[1])
        problem = regression(
            self._segments(inputs),
            self.y_scaler_.scaled(filled(values)),
            self.y_scaler_,
            read_weights(sample_weight, len(values)),
            self.output_range_,
            present_rows(values),
        )
        words = words_of_table(target, "y", AS_TARGETS) + missing + words_of_axes(X, "X")
        return replace(problem, notes=words)

    def _check_alike(self, other: ESNRegressor, inputs: np.ndarray, target: Table, own: str):
        """Raise unless another series has the columns of the first."""
        self.y_schema_.check(target.schema, "y", f"of series {own}")
        names = [getattr(one, "feature_names_in_", np.zeros(0)).tolist() for one in (self, other)]
        if inputs.shape[1] != self.n_features_in_ or names[0] != names[1]:
            raise ValueError(
                f"X has {inputs.shape[1]} inputs {names[1] or ''}, expected the "
                f"{self.n_features_in_} of series {own} {names[0] or ''}, in the same order."
            )

    def _tables(self, X, y, reset: bool = True) -> tuple[Any, Table]:
        """Inputs and targets of one series, checked; those of `fit` say what others must be."""
        long = reset and is_long(X, y)
        target = None if y is None and reset else read_rows(y, "y", long, empty=not reset)[0]
        inputs = self._inputs(X, long, target, reset=reset, some=reset)
        assert target is not None  # _inputs raised
        if reset:
            self.y_schema_ = target.schema
            return inputs, target
        self.y_schema_.check(target.schema, "y")
        if len(inputs) != len(target.values):
            raise ValueError(
                f"X has {len(inputs)} rows and y has {len(target.values)}; give one row of y for "
                "each of X."
            )
        return inputs, target

    def _learn(self, inputs: Values, values: Values) -> None:
        """Learn how inputs and targets of all rows are scaled."""
        self.output_range_ = read_range(self.output_range, values.shape[1])
        self.X_scaler_ = Scaler.learned(inputs, self.scale, "X")
        self.y_scaler_ = Scaler.learned(values, self.scale, "y")

    def _problem(self, X, inputs, target: Table, sample_weight, washout) -> Problem:
        """The problem of one series, whose inputs were read from ``X``."""
        values = target.values
        long = isinstance(values, Lazy)
        weights = read_weights(sample_weight, len(values))
        given = mapped(self.X_scaler_.scaled, mapped(filled, inputs))
        missing = f"{AS_TARGETS} {AS_INPUTS}" if self.feedback else AS_TARGETS
        words = () if long else words_of_table(target, "y", missing) + self._words(inputs, X)
        if self.feedback:
            if long:
                raise ValueError(f"The series {IN_BLOCKS}")
            problem = with_feedback(
                given, values, washout, self.y_scaler_, self.output_range_, present_rows(values),
                weights, self._noise(values.shape),
            )  # fmt: skip
            self.last_ = self.y_scaler_.scaled(problem.series[-1])
            return replace(problem, notes=words)
        problem = regression(
            after_washout(given, washout),
            mapped(self.y_scaler_.scaled, mapped(filled, values)),
            self.y_scaler_,
            weights,
            self.output_range_,
            None if long else present_rows(values),
        )
        return replace(problem, notes=words)

    def _noise(self, shape: tuple[int, ...]) -> np.ndarray | float:
        """What is added to outputs that come back in training."""
        if not self.feedback_noise:
            return 0.0
        seed = 0 if self.random_state is None else seed_of(deepcopy(self.random_state))
        # Another stream than that of the weights, which are drawn later.
        return self.feedback_noise * np.random.default_rng([seed % 2**32, 4]).normal(size=shape)

    def _learned_on(self, what: str = "partial_fit") -> Learning:
        if hasattr(self, "last_") and self.feedback_noise:
            raise ValueError(
                f"{what} cannot go on with feedback_noise={self.feedback_noise!r}: the noise of "
                "rows that follow is not known. Fit it without noise, or fit all data again."
            )
        return super()._learned_on(what)

    @classmethod
    def _check_values(cls, params: dict[str, Any], whole: bool = False) -> Reservoir:
        feedback, noise = params.get("feedback", False), params.get("feedback_noise", 0.0)
        if not isinstance(feedback, bool | np.bool_):
            refuse("feedback", feedback, "True or False")
        check_number("feedback_noise", noise, "a number of at least 0", least=0)
        return super()._check_values(params, whole)

    @classmethod
    def _sizes(cls, fitted: Mapping[str, Any]) -> dict[str, int]:
        sizes = super()._sizes(fitted)
        back = sizes["outputs"] if "last_" in fitted else 0
        return sizes | {"inputs": back + sizes["inputs"]}

    def _inputs(
        self, X, long: bool, target: Table | None = None, *, reset: bool = False, some: bool = True
    ) -> Any:
        """Check ``X (T, inputs)``: as scikit-learn does or, of what is ``long``, in blocks."""
        if long:
            return self._long_inputs(X, target, reset)
        check_columns(X, "X")
        X = loaded(X, "X")
        options: dict[str, Any] = {"dtype": np.float64, "order": "C", "ensure_all_finite": False}
        if reset:
            options |= {"multi_output": True, "ensure_min_samples": 2}
            y = None if target is None else filled(target.values)
            X, _ = validate_data(self, X, y, **options)
        else:
            X = validate_data(self, X, reset=False, **options)
        names = getattr(self, "feature_names_in_", None)
        require_finite(X, "X", names, missing=True)
        if some:
            require_some(X, "X", names)
        return X

    def _long_inputs(self, X, target: Table | None, reset: bool) -> Values:
        """Check inputs that are longer than memory or stand beside what is."""
        if reset and target is None:
            raise ValueError("y is None; a regressor needs the outputs at the times of X.")
        table, _ = read_rows(X, "X", True)
        rows, columns = table.values.shape
        if table.schema.flat:
            raise ValueError(
                f"X has shape {tuple(X.shape)}, expected 2D, (T, inputs). Give one input as a "
                "table of one column."
            )
        if target is not None and rows != len(target.values):
            raise ValueError(
                f"X has {rows} rows and y has {len(target.values)}; give one row of y for each of "
                "X."
            )
        if reset:
            self._forget("feature_names_in_")
            names = table.schema.names
            if names is not None and all(isinstance(name, str) for name in names):
                self.feature_names_in_ = np.array(names, dtype=object)
            self.n_features_in_ = columns
        elif columns != self.n_features_in_:
            raise ValueError(
                f"X has {columns} inputs, but this network was trained on {self.n_features_in_}. "
                "Give the same ones, in the same order."
            )
        return table.values

    def _words(self, inputs: np.ndarray, X) -> tuple[str, ...]:
        """What is said of missing inputs; ``X`` is what they were read from."""
        index = X.index if kind_of(X) == "pandas" else None
        names = getattr(self, "feature_names_in_", None)
        return words_of(inputs, "X", AS_INPUTS, names, index)

    @classmethod
    def _check_stored(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        if fitted["n_features_in_"] != sizes["given"]:
            raise ValueError(f"n_features_in_ must be the {sizes['given']} inputs")
        if len({name in fitted for name in ("summaries_", "normalize_", "X_schema_")}) > 1:
            raise ValueError(
                "summaries_, normalize_ and X_schema_ belong together, of a model of sequences"
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = True
        return tags


IN_BLOCKS = (
    "is so long that it is read in blocks, and feedback=True runs along what is in memory. Give "
    "np.asarray of it, or use feedback=False."
)


def _are_several(X: Any) -> bool:
    """Whether inputs are of several series: in a list, a dict, an array or a frame of them."""
    if isinstance(X, list | tuple):
        return any(len(getattr(one, "shape", ())) == 2 for one in X)
    return is_panel(X) or _listed(X) is not X


def _listed(data: Any, beside: Any = None) -> Any:
    """An array of several series as a list of them: one with three axes, or what is beside it."""
    stacked = len(getattr(data if beside is None else beside, "shape", ())) == 3
    return list(data) if stacked and len(getattr(data, "shape", ())) > 1 else data


def _check_start(start: str) -> None:
    """Raise for a start that is none."""
    if start not in ("zero", "last"):
        raise ValueError(f"start={start!r} is not allowed: it must be 'zero' or 'last'.")


def _check_at_rest(start: str) -> None:
    """Raise for a start that is not at rest, where there is not one series to go on with."""
    if start != "zero":
        raise ValueError(f"start={start!r} goes on with one series; give one, or start='zero'.")


def _r2(truth: Any, predicted: np.ndarray, weights: np.ndarray | None) -> float:
    """R² over rows that have a value of every output."""
    from sklearn.metrics import r2_score

    truth = np.asarray(truth, dtype=float).reshape(len(predicted), -1)
    present = ~np.isnan(truth).any(axis=1)
    predicted = predicted.reshape(len(predicted), -1)[present]
    weights = None if weights is None else weights[present]
    return float(r2_score(truth[present], predicted, sample_weight=weights))
