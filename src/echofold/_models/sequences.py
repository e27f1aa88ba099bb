"""What estimators of whole sequences share: how these are read, and what the readout sees of them.

A classifier has a label for each sequence, a regressor may have a number, or a row of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MethodType
from typing import Any

import numpy as np

from echofold._data.arguments import is_integer, refuse
from echofold._data.problem import Segments
from echofold._data.scaling import Scaler
from echofold._data.tables import Schema, is_table, kind_of, read_sequences
from echofold._engine.kind import Reservoir
from echofold._engine.states import sequence_features
from echofold._models.base import ESN, state_array


class AlsoParameter:
    """A method that has the name of a parameter, which `get_params` gives and `set_params` sets."""

    def __init__(self, method: Callable[..., Any]):
        self.method = method

    def __get__(self, model: Any, owner: type | None = None) -> Callable[..., Any]:
        return self.method if model is None else MethodType(self.method, model)

    def __set__(self, model: Any, value: Any) -> None:
        vars(model)[self.method.__name__] = value


class OfSequences(ESN):
    """An estimator that has, or may have, one output or row of outputs for a whole sequence.

    One that was fitted on sequences has ``states_``, which says what the readout sees of them.
    """

    X_schema_: Schema
    X_scaler_: Scaler

    def _learned(self, sequences: Any) -> list[np.ndarray]:
        """Sequences as scaled arrays ``(time, inputs)``; how they are read and scaled is kept."""
        arrays, self.X_schema_ = self._arrays(sequences, reset=True)
        self.states_ = self._seen
        argument = self._task.data[0]
        self.X_scaler_ = Scaler.learned(np.concatenate(arrays), self.scale, argument)
        return [self.X_scaler_.scaled(one) for one in arrays]

    @property
    def _seen(self) -> Any:
        """The parameter ``states``: what the readout sees of a sequence."""
        return vars(self)["states"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; ``deep`` ones are those of the object at ``reservoir``.

        Returns
        -------
        dict
        """
        return super().get_params(deep) | {"states": self._seen}

    def _states_of_sequences(self, sequences: Any) -> Any:
        """States of each of a list of whole sequences, or of those of one array together."""
        each = self._sequences(sequences)
        r = self._reservoirs()
        kept = self._driven(r, [self.X_scaler_.scaled(one) for one in each])
        states = [one[:, : r.looks] for one in kept]
        if is_table(sequences) or len(getattr(sequences, "shape", ())) == 3:
            return state_array(np.stack(states), None, 0)
        found = [
            state_array(own, one.index if kind_of(one) == "pandas" else None, 0)
            for own, one in zip(states, sequences, strict=True)
        ]
        return tuple(found) if isinstance(sequences, tuple) else found

    def _outputs(self, sequences: Any) -> np.ndarray:
        """Outputs ``(n, outputs)`` of the readout, one row for each sequence."""
        features = self._features(sequences)  # raises before `fit`
        return self.readout_[0] + features @ self.readout_[1:]

    def _features(self, sequences: Any) -> np.ndarray:
        """What the readout sees ``(n, features)`` of each sequence."""
        r = self._reservoirs()
        scaled = [self.X_scaler_.scaled(one) for one in self._sequences(sequences)]
        with self._engine(max(map(len, scaled)), len(scaled)):
            return sequence_features(r, Segments.sequences(scaled, self.states_))[0]

    def _sequences(self, sequences: Any) -> list[np.ndarray]:
        """Arrays ``(time, inputs)``, checked against those of `fit`."""
        arrays, schema = self._arrays(sequences, reset=False)
        self.X_schema_.check(schema, "a sequence")
        return arrays

    def _arrays(self, sequences: Any, *, reset: bool) -> tuple[list[np.ndarray], Schema]:
        """Arrays ``(time, inputs)`` of sequences, and the schema they share."""
        if reset:
            self._forget("n_features_in_", "feature_names_in_")
        return read_sequences(sequences, self._task.data[0])

    @classmethod
    def _check_values(cls, params: dict[str, Any]) -> Reservoir:
        kind = super()._check_values(params)
        states = params.get("states", "mean")  # which older files of regressors lack
        if states not in ("last", "mean") and not (is_integer(states) and states >= 1):
            refuse("states", states, "'last', 'mean' or a positive integer")
        return kind

    @classmethod
    def _sizes(cls, fitted: Mapping[str, Any]) -> dict[str, int]:
        given = fitted.get("states_", 1)
        return super()._sizes(fitted) | {"positions": given if is_integer(given) else 1}
