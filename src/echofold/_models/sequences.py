"""What estimators of whole sequences share: how these are read, and what the readout sees of them.

A classifier has a label for each sequence, a regressor may have a number, or a row of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MethodType
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from echofold._data.arguments import is_integer, refuse
from echofold._data.missing import filled
from echofold._data.problem import Problem, Segments, Task
from echofold._data.scaling import Scaler
from echofold._data.tables import Schema, is_table, kind_of, read_sequences, require_some
from echofold._engine.kind import Reservoir
from echofold._engine.states import States, sequence_features
from echofold._engine.summaries import DEFAULT, Summaries
from echofold._folds.algorithms import KeptRows
from echofold._folds.leave_out import LeaveOut
from echofold._folds.splits import RowSplits, cut
from echofold._machine.device import one_blas_thread
from echofold._machine.notices import warn_of
from echofold._models.base import ESN, decomposed, state_array
from echofold._validation.settings import resolve_schemes
from echofold.reservoirs import Bank, reservoir_of
from echofold.reservoirs._leaky import FLAT, flat_given
from echofold.schemes import LeaveOneOut

PLAIN = 1e-6  # the ridge of series
FED_BACK = 1e-2  # of those whose outputs come back, with their errors
PATH = tuple(float(f"{10.0**power:.2g}") for power in np.arange(-6, 2.1, 0.5))  # of sequences
STILL = 1e-9  # a spread of a column beside its size that is rounding


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

    One that was fitted on sequences has ``summaries_``, which says what the readout sees of them,
    and ``normalize_``.
    """

    summaries: Any
    normalize: Any
    X_schema_: Schema
    X_scaler_: Scaler

    def _learned(self, sequences: Any) -> tuple[list[np.ndarray], tuple[str, ...]]:
        """Sequences as the network sees them, ``(time, inputs)``, and what to tell of them.

        How they are read, scaled and summed up is kept.
        """
        arrays, self.X_schema_ = self._arrays(sequences, reset=True)
        params, argument = self.get_params(deep=False), self._task.data[0]
        self.summaries_ = _seen(params).items
        self.normalize_ = self._settled(params, True)["normalize"]
        every = np.concatenate(arrays)
        require_some(every, argument, self.X_schema_.names)
        self.X_scaler_ = Scaler.learned(every, self.scale, argument)
        return self._as_inputs(arrays), _words_of_missing(arrays, argument)

    def _as_inputs(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Inputs of the network, made of what was read: complete, scaled, normalised or both."""
        found = []
        for one in arrays:
            x = self.X_scaler_.scaled(_complete(one))
            x = np.where(np.isnan(x), 0.0, x)  # of an input without any value
            if self.normalize_ is not False:
                own = _normalised(x)
                x = np.hstack([x, own]) if self.normalize_ == "both" else own
            found.append(x)
        return found

    def _segments(self, inputs: list[np.ndarray]) -> Segments:
        """The segments that sequences are, to be trained on."""
        return Segments.sequences(inputs, _seen(self.get_params(deep=False)))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; ``deep`` ones are those of the object at ``reservoir``.

        Returns
        -------
        dict
        """
        return super().get_params(deep) | {"states": vars(self)["states"]}

    def _states_of_sequences(self, sequences: Any) -> Any:
        """States of each of a list of whole sequences, or of those of one array together."""
        each = self._sequences(sequences)
        r = self._reservoirs()
        kept = self._driven(r, self._as_inputs(each))
        states = [one[:, : r.looks] for one in kept]
        alike = len({len(one) for one in states}) == 1
        if alike and (is_table(sequences) or len(getattr(sequences, "shape", ())) == 3):
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
        arrays = self._sequences(sequences)
        warn_of(_words_of_missing(arrays, self._task.data[0]))
        inputs = self._as_inputs(arrays)
        segments = Segments.sequences(inputs, Summaries(self.summaries_))
        with self._engine(segments.longest, segments.count):
            return sequence_features(r, segments)[0]

    def _is_eager(self) -> bool:
        return Summaries(getattr(self, "summaries_", ())).eager

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

    def _fit(self, problem: Problem):
        self._forget("ridge_", "validated_")
        return super()._fit(problem)

    def _own_ridge(self, task: Task) -> Any:
        """The ridge that is given; of "auto" a path for sequences."""
        if not isinstance(self.ridge, str):
            return self.ridge
        return plain_ridge(task) if task.ordered else PATH

    def _ridge_of(self, outputs: int) -> float | np.ndarray:
        """The ridge that is given, or of "auto" the one in use."""
        auto = isinstance(self.ridge, str)
        plain = FED_BACK if hasattr(self, "last_") else PLAIN
        return getattr(self, "ridge_", plain) if auto else super()._ridge_of(outputs)

    def _ridge_on(self, source: States) -> float | np.ndarray:
        """The ridge that is given, or that with the least error by leave-one-out."""
        problem = source.problem
        if not isinstance(self.ridge, str):
            return super()._ridge_on(source)
        if problem.task.ordered:
            return plain_ridge(problem.task)
        self.ridge_, self.validated_ = best_ridge(source, bool(self.penalize_bias))
        return self.ridge_

    def _searched(self, names: set[str], task: Task) -> Self:
        """A copy to search parameters of these names on, with what "auto" stands for."""
        params = self.get_params(deep=False)
        if names & set(FLAT) and isinstance(self.reservoir, str):
            params["reservoir"] = None
        found = clone(self)
        settled = self._settled(params, not task.ordered)
        return found.set_params(**{name: settled[name] for name in ("reservoir", "normalize")})

    @classmethod
    def _settled(cls, params: dict[str, Any], whole: bool) -> dict[str, Any]:
        """Parameters with what "auto" stands for."""
        found = dict(params)
        if isinstance(params["reservoir"], str) and params["reservoir"] == "auto":
            found["reservoir"] = Bank() if whole and not flat_given(params) else None
        if found.setdefault("normalize", False) == "auto":
            bank = whole and isinstance(found["reservoir"], Bank)
            found["normalize"] = "both" if bank else False
        return found

    @classmethod
    def _kind(cls, params: dict[str, Any], whole: bool = False, check: bool = False) -> Reservoir:
        whole = whole or not cls._task.ordered
        return reservoir_of(cls._settled(params, whole), check)

    @classmethod
    def _check_values(cls, params: dict[str, Any], whole: bool = False) -> Reservoir:
        kind = super()._check_values(params, whole)
        normalize = params.get("normalize", False)
        if normalize not in ("auto", "both") and not isinstance(normalize, bool | np.bool_):
            refuse("normalize", normalize, "True, False, 'both' or 'auto'")
        _seen(params)
        return kind

    @classmethod
    def _check_ridge(cls, ridge: Any) -> None:
        if not (isinstance(ridge, str) and ridge == "auto"):
            super()._check_ridge(ridge)

    @classmethod
    def _sizes(cls, fitted: Mapping[str, Any]) -> dict[str, int]:
        sizes = super()._sizes(fitted)
        places = Summaries(fitted["summaries_"]).places if "summaries_" in fitted else 1
        each = 2 if fitted.get("normalize_") == "both" else 1
        given = sizes["inputs"]
        return sizes | {"given": given, "inputs": each * given, "positions": places}


def plain_ridge(task: Task) -> float:
    """The ridge that "auto" stands for, of series."""
    return FED_BACK if task.fed_back else PLAIN


def _seen(params: Mapping[str, Any]) -> Summaries:
    """What the readout sees of sequences, by an estimator's parameters."""
    summaries, states = params.get("summaries"), params.get("states")  # old files have none
    if states is None:
        return Summaries.of(DEFAULT if summaries is None else summaries)
    if summaries is not None:
        raise ValueError(
            f"states={states!r} and summaries={summaries!r} both say what the readout sees. Give "
            "one of them."
        )
    number = is_integer(states) and states >= 1
    if states not in ("last", "mean") and not number:
        refuse("states", states, "'last', 'mean' or a positive integer")
    return Summaries((int(states) if number else states,), alike=False)


def best_ridge(source: States, penalised: bool) -> tuple[float, float]:
    """The ridge of `PATH` with the least squared error by leave-one-out, and how good it is.

    That is the share of right labels, or R² over all outputs. The only sequence of a class says
    nothing about it, and is left in. Where none can be left out, the ridge is one, and NaN is how
    good it is.
    """
    problem = source.problem
    rows = np.arange(problem.rows)
    if problem.labels is not None:
        rows = rows[np.bincount(problem.labels)[problem.labels] > 1]
    if problem.weights is not None and np.count_nonzero(problem.weights) < 2 or not len(rows):
        return 1.0, np.nan
    with one_blas_thread():
        rows, errors = left_out(source, rows, np.array(PATH), penalised)
    best = int((errors**2).sum(axis=(0, 2)).argmin())
    truth = problem.targets[rows]
    if problem.labels is not None:
        good = ((truth - errors[:, best]).argmax(axis=1) == truth.argmax(axis=1)).mean()
    else:
        spread = ((truth - truth.mean(axis=0)) ** 2).sum()
        good = 1 - (errors[:, best] ** 2).sum() / spread if spread > 0 else np.nan
    return PATH[best], float(good)


def left_out(
    source: States, rows: np.ndarray, ridge: np.ndarray, penalised: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Those of some rows that have targets, and the residuals ``(rows, ridge, outputs)`` of each.

    Each is left out alone.
    """
    problem = source.problem
    if (every := decomposed(source, penalised)) is not None:
        return rows, every.residuals(ridge)[rows]
    (X,) = source.kept()
    data = X, problem.targets, problem.weights
    splits: RowSplits = resolve_schemes(LeaveOneOut(), problem, None, [])["cv"]
    kept = KeptRows(*data, ridge, penalised, cut(problem.rows, []))
    some = np.flatnonzero(np.isin(splits.valid_rows[:, 0], rows)).tolist()
    found = LeaveOut.on(kept).residuals(splits.part(some))
    return found.at[:, 0], found.residuals[:, 0]


def _complete(values: np.ndarray) -> np.ndarray:
    """Values ``(time, inputs)`` with the last known one for one that is missing, else the first.

    An input without any stays missing.
    """
    missing = np.isnan(values)
    if not missing.any():
        return values
    some = ~missing.all(axis=0)
    found = values.copy()
    found[:, some] = filled(values[:, some])
    return found


def _normalised(x: np.ndarray) -> np.ndarray:
    """Each input with zero mean and unit variance over the steps; zeros if it does not change."""
    apart = x - x.mean(axis=0)
    spread = apart.std(axis=0)
    moves = spread > STILL * np.abs(x).max(axis=0)
    return np.where(moves, apart / np.where(moves, spread, 1.0), 0.0)


def _words_of_missing(arrays: list[np.ndarray], argument: str) -> tuple[str, ...]:
    """What users should know about missing values in sequences."""
    counts = [int(np.isnan(one).sum()) for one in arrays]
    if not any(counts):
        return ()
    some, total = sum(map(bool, counts)), sum(one.size for one in arrays)
    return (
        f"{argument}: {sum(counts)} of {total} values are missing (NaN), in {some} of "
        f"{len(arrays)} sequences. Each is taken to be the last known one of its input in the "
        "sequence, or the first, or the mean of all where there is none.",
    )
