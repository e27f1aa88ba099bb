"""Regression: inputs to outputs, time step by time step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from echofold._data.arguments import read_range
from echofold._data.lazy import Values, blocks_of, is_long, loaded, mapped
from echofold._data.missing import (
    AS_INPUTS,
    AS_TARGETS,
    filled,
    present_rows,
    words_of,
    words_of_table,
)
from echofold._data.problem import REGRESSION, Problem, regression
from echofold._data.scaling import Scaler
from echofold._data.tables import (
    Table,
    check_columns,
    kind_of,
    read,
    read_rows,
    read_weights,
    require_finite,
    require_some,
)
from echofold._engine.drive import drive_blocks
from echofold._machine.notices import warn_of
from echofold._models.base import ESN, Stored, documented, whole_or_not_at_all


@documented
class ESNRegressor(RegressorMixin, ESN):
    """Map a series of inputs to a series of outputs, time step by time step.

    Rows are time: the prediction for a row depends on it and on the rows before it.

    Parameters
    ----------
    %(parameters)s
    washout : int or "auto", default="auto"
        First rows that only warm the state up; "auto" is a tenth of them, at most 200.
    output_range : pair (low, high) or None, default=None
        Predictions are clipped to it, in the units of ``y``. Each end is a number (which may be
        infinite) or one for each output.

    Attributes
    ----------
    readout_ : ndarray of shape (1 + inputs + units, outputs)
        Maps ``[1, u(n), x(n)]`` to the output, in scaled units.
    state_ : ndarray of shape (units,)
        State at the end of the data.
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
    """

    _task = REGRESSION
    _stored = {
        "y_schema_": Stored("schema", ("outputs",)),
        "y_scaler_": Stored("scaler", ("outputs",)),
        "X_scaler_": Stored("scaler", ("inputs",)),
        "output_range_": Stored("range", ("outputs",), optional=True, finite=False),
        "n_features_in_": Stored("count"),
        "feature_names_in_": Stored("names", ("columns",), always=False),
    }
    _shapes_the_problem = ("washout", "scale", "output_range")

    def __init__(
        self, units=100, *, leak_rate=1.0, spectral_radius=0.9, input_scaling=1.0,
        bias_scaling=1.0, connectivity=1.0, ridge=1e-6, penalize_bias=False, washout="auto",
        scale="standard", W=None, W_in=None, random_state=None, device="auto", reservoir=None,
        readout="inputs+states", output_range=None,
    ):  # fmt: skip
        self._keep(vars())

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on a series of inputs and outputs.

        Parameters
        ----------
        X : array or frame of shape (T, inputs)
            Inputs, in time order. A missing one (NaN) is taken to be the last known one of its
            column; a warning says how many there are, and where. A long series that is stored, as a
            `numpy.memmap`, a Zarr array or `ParquetColumns`, is read in blocks and never held in
            memory; nothing of it may be missing.
        y : array, series or frame of shape (T,) or (T, outputs)
            Outputs at the same times. A row with a missing one (NaN) is neither trained on nor
            scored. May be stored as ``X`` may.
        sample_weight : array of shape (T,), optional
            Weight of each row in training.

        Returns
        -------
        self
        """
        return self._fit(self._read(X, y, sample_weight))

    def predict(self, X: Any, start: str = "zero") -> np.ndarray:
        """Predict the outputs of a series of inputs.

        Parameters
        ----------
        X : array or frame of shape (T, inputs)
            Inputs, in time order. A missing one (NaN) is taken to be the last known one of its
            column in ``X``, or the first one. A long series that is stored is read in blocks.
        start : {"zero", "last"}, default="zero"
            State to start from: zero, or the one at the end of the data given to `fit`, for
            inputs that come right after it. The estimator itself never changes.

        Returns
        -------
        y : ndarray of shape (T,) or (T, outputs)
        """
        r = self._reservoirs()
        if start not in ("zero", "last"):
            raise ValueError(f"start={start!r} is not allowed: it must be 'zero' or 'last'.")
        long = is_long(X)
        given = self._inputs(X, long)
        warn_of(() if long else self._words(given, X))
        inputs = mapped(self.X_scaler_.scaled, mapped(filled, given))
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
        predicted = self.y_scaler_.original(outputs)
        if self.output_range_ is not None:
            predicted = np.clip(predicted, *self.output_range_)
        return predicted[:, 0] if self.y_schema_.flat else predicted

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination R² of the predictions, over rows that have a value.

        Parameters
        ----------
        X : array or frame of shape (T, inputs)
            Inputs, in time order.
        y : array, series or frame of shape (T,) or (T, outputs)
            True outputs.
        sample_weight : array of shape (T,), optional
            Weight of each row.

        Returns
        -------
        float
        """
        target = read(y, "y", missing=True)
        present = present_rows(target.values)
        if present is None:
            return super().score(X, y, sample_weight)
        from sklearn.metrics import r2_score

        weights = read_weights(sample_weight, len(present))
        predicted = self.predict(X).reshape(len(present), -1)
        weights = None if weights is None else weights[present]
        return float(r2_score(target.values[present], predicted[present], sample_weight=weights))

    def _read(self, X, y, sample_weight=None) -> Problem:
        """Check parameters and data, fit scalers and schemas, and set the problem up."""
        self._check_parameters()
        long = is_long(X, y)
        target = None if y is None else read_rows(y, "y", long)[0]
        inputs = self._inputs(X, long, target, reset=True)
        assert target is not None  # _inputs raised
        self.y_schema_, values = target.schema, target.values
        self.output_range_ = read_range(self.output_range, values.shape[1])
        self.X_scaler_ = Scaler.learned(inputs, self.scale, "X")
        self.y_scaler_ = Scaler.learned(values, self.scale, "y")
        problem = regression(
            mapped(self.X_scaler_.scaled, mapped(filled, inputs)),
            mapped(self.y_scaler_.scaled, mapped(filled, values)),
            self.washout,
            self.y_scaler_,
            read_weights(sample_weight, len(values)),
            self.output_range_,
            None if long else present_rows(values),
        )
        if long:
            return problem
        words = words_of_table(target, "y", AS_TARGETS) + self._words(inputs, X)
        return replace(problem, notes=words)

    def _inputs(self, X, long: bool, target: Table | None = None, *, reset: bool = False) -> Any:
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
        if fitted["n_features_in_"] != sizes["inputs"]:
            raise ValueError(f"n_features_in_ must be the {sizes['inputs']} inputs")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = True
        return tags
