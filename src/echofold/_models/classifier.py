"""Classification: whole sequences to labels, and to probabilities without anything to fit.

Targets are 1 for the true class and 0 otherwise, so outputs of least squares estimate
probabilities; but they may be negative, and are timid, for a ridge and few sequences pull them
together. The choices here are measured in ``benchmarks/states.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from echofold._data.panels import is_named
from echofold._data.problem import CLASSIFICATION, Problem, classification
from echofold._data.scikit_learn import ClassifierMixin
from echofold._data.tables import (
    Schema,
    check_columns,
    is_table,
    kind_of,
    require_finite,
    until_the_end,
    words_of_axes,
)
from echofold._models.base import Stored, documented, whole_or_not_at_all
from echofold._models.sequences import AlsoParameter, OfSequences

POWER = 2  # against timidity
DOUBT = 0.02  # share of what is never zero, and tells outputs apart that are all negative
FAR = (-1.0, 2.0)  # beyond these, doubt does not follow outputs


def probabilities(outputs: np.ndarray) -> np.ndarray:
    """Rows that sum to one, for outputs ``(n, classes)``; their order stays.

    Examples
    --------
    >>> import numpy as np
    >>> probabilities(np.array([[1.2, -0.3, 0.1], [0.5, 0.5, 0.0]])).round(3)
    array([[0.993, 0.003, 0.004],
           [0.498, 0.498, 0.005]])
    """
    sharp = nearest(outputs) ** POWER
    sharp /= sharp.sum(axis=1, keepdims=True)
    return (1 - DOUBT) * sharp + DOUBT * softmax(np.clip(outputs, *FAR), axis=1)


def nearest(outputs: np.ndarray) -> np.ndarray:
    """The nearest point of each row that has no negative entry and sums to one.

    It is ``max(outputs - theta, 0)`` with the ``theta`` that makes the sum one: of the ``k``
    largest entries the mean excess ``(sum - 1) / k``, for the largest ``k`` whose entries all
    exceed it.

    Examples
    --------
    >>> import numpy as np
    >>> nearest(np.array([[0.8, 0.4, -0.2]]))
    array([[0.7, 0.3, 0. ]])
    """
    outputs = outputs - outputs.max(axis=1, keepdims=True)  # theta moves along
    largest = -np.sort(-outputs, axis=1)
    counts = np.arange(1, outputs.shape[1] + 1)
    excess = (np.cumsum(largest, axis=1) - 1) / counts
    last = (largest > excess).sum(axis=1) - 1
    return np.maximum(outputs - excess[np.arange(len(outputs)), last][:, None], 0.0)


@documented
class ESNClassifier(ClassifierMixin, OfSequences):
    """Tell sequences apart by the states they leave in a reservoir.

    Every sequence starts from a zero state; sequences may differ in length.

    Parameters
    ----------
    %(parameters)s
    %(sequences)s

    Attributes
    ----------
    classes_ : ndarray of shape (classes,)
        The labels, sorted.
    readout_ : ndarray of shape (1 + places * (inputs + units), classes)
        Maps a one, every summary of the inputs and every summary of the states to the outputs; a
        number of positions is as many summaries.
    ridge_, validated_ : float
        Of ``ridge="auto"``: the ridge that leave-one-out chose, and the share of labels that it
        told right.
    n_features_in_ : int
        Length of the sequences, when `fit` was given one table of them.
    %(attributes)s

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNClassifier
    >>> slow = [np.sin(np.arange(n) / 9) for n in range(40, 60)]
    >>> fast = [np.sin(np.arange(n) / 3) for n in range(40, 60)]
    >>> labels = ["slow"] * 20 + ["fast"] * 20
    >>> model = ESNClassifier(units=30, random_state=0).fit(slow + fast, labels)
    >>> model.predict([np.sin(np.arange(45) / 8)])
    array(['slow'], dtype='<U4')
    >>> model.predict_proba([np.sin(np.arange(45) / 8)]).round(2)
    array([[0.01, 0.99]])
    """

    _task = CLASSIFICATION
    _stored = {
        "classes_": Stored("labels", ("outputs",)),
        "X_schema_": Stored("schema", ("given",)),
        "X_scaler_": Stored("scaler", ("given",)),
        "summaries_": Stored("summaries"),
        "normalize_": Stored("normalize"),
        "ridge_": Stored("float", always=False),
        "validated_": Stored("float", always=False),
        "n_features_in_": Stored("count", always=False),
        "feature_names_in_": Stored("names", ("columns",), always=False),
    }
    _shapes_the_problem = ("scale", "states", "summaries", "normalize")
    _skips_rows = ()

    def __init__(
        self, units: int = 100, *, leak_rate: float = 1.0, spectral_radius: float | None = 0.9,
        input_scaling: Any = 1.0, bias_scaling: float = 1.0, connectivity: float = 1.0,
        ridge: float | Sequence[float] | str = "auto", penalize_bias: bool = False,
        scale: str | None = "standard", W: Any = None, W_in: Any = None, random_state: Any = None,
        device: str = "auto", precision: str = "double", reservoir: Any = "auto",
        readout: str | Callable[..., Any] = "inputs+states", states: int | str | None = None,
        summaries: Any = None, normalize: bool | str = "auto",
    ) -> None:  # fmt: skip
        self._keep(vars())

    @whole_or_not_at_all
    def fit(self, sequences: Any, y: Any) -> Self:
        """Train on labelled sequences.

        Parameters
        ----------
        sequences : list of arrays or frames, or one array
            Arrays ``(time, inputs)``, or ``(time,)`` for a single input, of any lengths; or an
            array ``(n, time, inputs)``; or a table ``(n, time)`` with a univariate sequence in
            each row. A missing value (NaN) is taken to be the last known one of its input in the
            sequence; steps at the end of an array or table without any are past the end.
        y : array of shape (n,)
            Labels: integers, strings or booleans, at least two different ones.

        Returns
        -------
        self
        """
        return self._fit(self._read(sequences, y))

    def decision_function(self, sequences: Any) -> np.ndarray:
        """Outputs of the readout, one for each class; the largest decides.

        Parameters
        ----------
        sequences : list of arrays or frames, or one array
            As in `fit`.

        Returns
        -------
        outputs : ndarray of shape (n, classes), or (n,) for two classes
            For two classes, the output of the second less that of the first.
        """
        outputs = self._outputs(sequences)
        return outputs[:, 1] - outputs[:, 0] if len(self.classes_) == 2 else outputs

    def predict(self, sequences: Any) -> np.ndarray:
        """Predict the label of each sequence.

        Parameters
        ----------
        sequences : list of arrays or frames, or one array
            As in `fit`.

        Returns
        -------
        labels : ndarray of shape (n,)
        """
        best = self._outputs(sequences).argmax(axis=1)  # raises before `fit`
        return self.classes_[best]

    def predict_proba(self, sequences: Any) -> np.ndarray:
        """Probabilities of the classes, the largest for the one that `predict` gives.

        Parameters
        ----------
        sequences : list of arrays or frames, or one array
            As in `fit`.

        Returns
        -------
        probabilities : ndarray of shape (n, classes)
            In the order of ``classes_``; each row sums to one.

        Notes
        -----
        Nothing is fitted for them: outputs are moved to the nearest point whose entries are not
        negative and sum to one, squared, divided by their sum, and mixed with a fiftieth of their
        softmax, so that none is zero. For probabilities calibrated on data of their own, use
        ``CalibratedClassifierCV`` of scikit-learn.
        """
        return probabilities(self._outputs(sequences))

    @AlsoParameter
    def states(self, sequences: Any) -> Any:
        """States of the reservoir along sequences, of which the readout sees a few or their mean.

        Parameters
        ----------
        sequences : list of arrays or frames, or one array
            As in `fit`.

        Returns
        -------
        states : list of xarray.DataArray, or one of them
            Of dimensions ``(time, state)`` for each sequence, with its pandas index if it has one.
            Sequences in one array have theirs in one of ``(sequence, time, state)``.

        Notes
        -----
        They are those that the readout is trained on: the sequences are scaled as in `fit`, each
        begins at rest, and where ``readout`` asks for more than states, it is beside them. Noise of
        a reservoir is for training alone, and not in them. The parameter ``states`` of the same
        name says what is taken of them; `get_params` gives it.

        Examples
        --------
        >>> import numpy as np
        >>> from echofold import ESNClassifier
        >>> waves = np.sin(np.linspace(0.1, 1, 40)[:, None] * np.arange(50))
        >>> model = ESNClassifier(units=30, random_state=0).fit(waves, np.arange(40) < 20)
        >>> model.states(waves[:3]).sizes
        Frozen({'sequence': 3, 'time': 50, 'state': 30})
        """
        check_is_fitted(self, "readout_")
        return self._states_of_sequences(sequences)

    def _read(self, sequences, y) -> Problem:
        """Check parameters and data, fit scalers and schemas, and set the problem up."""
        self._check_parameters()
        inputs, words = self._learned(sequences)
        self.classes_, codes = _read_labels(y, len(inputs))
        problem = classification(self._segments(inputs), codes, self.classes_)
        return replace(problem, notes=words + words_of_axes(sequences))

    def _arrays(self, sequences, *, reset: bool) -> tuple[list[np.ndarray], Schema]:
        if is_named(sequences) or (kind_of(sequences) == "pandas" and sequences.index.nlevels > 1):
            raise ValueError(
                f"sequences is a {type(sequences).__name__} of sequences by name, expected a list "
                "of them, or an array (n, time, inputs). Give a list, in the order of the labels: "
                "the values of a dict, or a frame for each name."
            )
        if is_table(sequences):
            return self._rows(sequences, reset=reset)
        return super()._arrays(sequences, reset=reset)

    def _rows(self, table, *, reset: bool) -> tuple[list[np.ndarray], Schema]:
        """Read the univariate sequences in the rows of a table, as scikit-learn checks tables."""
        check_columns(table, "sequences")
        values = validate_data(
            self, table, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )  # fmt: skip
        names = getattr(self, "feature_names_in_", None)
        require_finite(values, "sequences", names, missing=True)
        return until_the_end(values[:, :, None]), Schema("numpy", None, ("numbers",), True)

    @classmethod
    def _check_stored(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        # Columns of a table are the steps of sequences with one input.
        if "n_features_in_" in fitted and sizes["given"] != 1:
            raise ValueError(f"n_features_in_ is that of one input, but there are {sizes['given']}")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = True
        return tags


def _read_labels(y: Any, sequences: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes and the class number of each sequence."""
    if y is None:
        raise ValueError(
            "ESNClassifier requires y to be passed, but the target y is None. Give one label for "
            "each sequence."
        )
    labels = column_or_1d(y, warn=True)
    if len(labels) != sequences:
        raise ValueError(
            f"y has {len(labels)} labels for {sequences} sequences. Give one label for each."
        )
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only, {classes.tolist()[0]!r}; a classifier needs sequences of at "
            "least two."
        )
    return classes, codes
