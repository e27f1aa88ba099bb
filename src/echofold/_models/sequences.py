"""What estimators of whole sequences share: how these are read, and what the readout sees of them.

A classifier has a label for each sequence, a regressor may have a number, or a row of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from echofold._data.arguments import is_integer, refuse
from echofold._data.problem import Segments
from echofold._data.scaling import Scaler
from echofold._data.tables import Schema, read_sequences
from echofold._engine.kind import Reservoir
from echofold._engine.states import sequence_features
from echofold._models.base import ESN


class OfSequences(ESN):
    """An estimator that has, or may have, one output or row of outputs for a whole sequence.

    One that was fitted on sequences has ``states_``, which says what the readout sees of them.
    """

    states: Any
    X_schema_: Schema
    X_scaler_: Scaler

    def _learned(self, sequences: Any) -> list[np.ndarray]:
        """Sequences as scaled arrays ``(time, inputs)``; how they are read and scaled is kept."""
        arrays, self.X_schema_ = self._arrays(sequences, reset=True)
        self.states_ = self.states
        argument = self._task.data[0]
        self.X_scaler_ = Scaler.learned(np.concatenate(arrays), self.scale, argument)
        return [self.X_scaler_.scaled(one) for one in arrays]

    def _outputs(self, sequences: Any) -> np.ndarray:
        """Outputs ``(n, outputs)`` of the readout, one row for each sequence."""
        r = self._reservoirs()
        scaled = [self.X_scaler_.scaled(one) for one in self._sequences(sequences)]
        with self._engine(max(map(len, scaled)), len(scaled)):
            features = sequence_features(r, Segments.sequences(scaled, self.states_))[0]
            return self.readout_[0] + features @ self.readout_[1:]

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
