"""From (scaled) data of any task to the rows that readouts are trained and validated on.

A `Problem` is all that the rest of the library sees of a data set. Rows are time (forecasting,
regression) or sequences (classification); the washout is already set apart, so row 0 is the
first row that any scheme may split. Everything is in scaled units; ``unit`` says what one
scaled unit of each output is worth, so that errors can be given in original ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from echofold._data.tasks import CLASSIFICATION, FORECASTING, REGRESSION, Task


@dataclass(frozen=True)
class Problem:
    """Rows to learn from: the states after ``inputs`` should map to ``targets``.

    Attributes
    ----------
    task : Task
    targets : ndarray (n, outputs)
    inputs : ndarray (n, inputs)
        For classification, the last (or mean, or chosen) inputs of each sequence, which stand
        beside the states in the readout: ``(n, features)``.
    washout : ndarray (washout, inputs)
        Inputs that only warm the state up before row 0.
    known : ndarray (n, known inputs)
        Inputs known in advance (forecasting): the last columns of ``inputs``.
    weights : ndarray (n,) or None
        Row weights, for training only.
    unit : ndarray (outputs,)
        What one scaled unit of each output is worth.
    output_range : tuple (low, high) of arrays (outputs,), or None
        Outputs are clipped to it before scoring, in scaled units.
    offset : ndarray (outputs,)
        Original value of a scaled zero of each output.
    labels : ndarray (n,) or None
        Class number of each sequence.
    sequences : ndarray (n, steps, inputs) or None
        Sequences padded with zeros at the end, and
    take : ndarray (features, steps, n) or None
        which of their states are kept (see `_engine.drive.drive_sequences`).
    """

    task: Task
    targets: np.ndarray
    inputs: np.ndarray
    unit: np.ndarray
    offset: np.ndarray
    washout: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    known: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    weights: np.ndarray | None = None
    output_range: tuple[np.ndarray, np.ndarray] | None = None
    labels: np.ndarray | None = None
    sequences: np.ndarray | None = None
    take: np.ndarray | None = None

    @property
    def rows(self) -> int:
        """Number of rows that schemes split."""
        return len(self.targets)

    @property
    def network_inputs(self) -> int:
        """Number of inputs of the reservoir."""
        return self.sequences.shape[2] if self.sequences is not None else self.inputs.shape[1]

    def original(self, outputs: np.ndarray) -> np.ndarray:
        """Scaled outputs (last axis) in original units, clipped to the output range."""
        return self.offset + self.unit * self.clip(outputs)

    def clip(self, outputs: np.ndarray) -> np.ndarray:
        """Outputs (last axis) within the output range, where there is one."""
        return outputs if self.output_range is None else np.clip(outputs, *self.output_range)


def forecasting(y, X, washout: int | str, unit, offset, sample_weight=None) -> Problem:
    """Pairs of a series: input ``[y(t), X(t+1)]``, target ``y(t+1)``.

    ``y (n + 1, outputs)`` and ``X (n + 1, known)`` or None are scaled already.
    """
    known = np.zeros((len(y) - 1, 0)) if X is None else X[1:]
    inputs = np.hstack([y[:-1], known])
    first = resolve_washout(washout, len(inputs), "y", "pairs of successive values")
    return Problem(
        task=FORECASTING,
        targets=y[1 + first :],
        inputs=inputs[first:],
        washout=inputs[:first],
        known=known[first:],
        weights=_weights(sample_weight, 1 + first),
        unit=unit,
        offset=offset,
    )


def regression(
    X, y, washout: int | str, unit, offset, sample_weight=None, output_range=None
) -> Problem:
    """Inputs ``X (n, inputs)`` to targets ``y (n, outputs)`` at the same time step."""
    first = resolve_washout(washout, len(X), "X", "rows")
    return Problem(
        task=REGRESSION,
        targets=y[first:],
        inputs=X[first:],
        washout=X[:first],
        weights=_weights(sample_weight, first),
        unit=unit,
        offset=offset,
        output_range=output_range,
    )


def classification(sequences: list[np.ndarray], labels, classes: int, states) -> Problem:
    """Sequences ``(time, inputs)`` to one output per class, 1 for the true one and 0 otherwise."""
    lengths = np.array([len(s) for s in sequences])
    padded = np.zeros((len(sequences), lengths.max(), sequences[0].shape[1]))
    for i, sequence in enumerate(sequences):
        padded[i, : len(sequence)] = sequence
    take = positions(lengths, padded.shape[1], states)
    kept = np.einsum("fts,sti->sfi", take, padded)
    return Problem(
        task=CLASSIFICATION,
        targets=np.eye(classes)[labels],
        inputs=kept.reshape(len(sequences), -1),
        unit=np.ones(classes),
        offset=np.zeros(classes),
        labels=np.asarray(labels),
        sequences=padded,
        take=take,
    )


def positions(lengths: np.ndarray, steps: int, states: str | int) -> np.ndarray:
    """Weights ``(features, steps, sequences)`` that pick the states a classifier reads.

    ``"last"``: the last one; ``"mean"``: all of them equally; an integer ``D``: the ``D`` at
    positions ``ceil(i · length / D) − 1``, ``i = 1 … D``.

    Examples
    --------
    >>> import numpy as np
    >>> positions(np.array([3, 2]), 3, 2)[:, :, 0]
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    if states == "mean":
        return ((np.arange(steps)[:, None] < lengths) / lengths)[None]
    count = 1 if states == "last" else int(states)
    at = -(-np.arange(1, count + 1)[:, None] * lengths // count) - 1
    return (np.arange(steps)[None, :, None] == at[:, None, :]).astype(float)


def _weights(sample_weight: np.ndarray | None, first: int) -> np.ndarray | None:
    """Weights of the rows from ``first`` on; an error when none of them is positive."""
    if sample_weight is None:
        return None
    if not sample_weight[first:].any():
        raise ValueError(
            f"sample_weight is positive only in the first {first} rows, which warm the state up "
            "and are not trained on. Give some later row a positive weight, or a smaller washout."
        )
    return sample_weight[first:]


def resolve_washout(washout: int | str, rows: int, argument: str, what: str) -> int:
    """Rows that only warm the state up; an error when none would be left to learn from."""
    first = min(200, rows // 10) if washout == "auto" else int(washout)
    if rows - first < 2:
        raise ValueError(
            f"{argument} gives {rows} {what}, of which washout={washout!r} uses {first}: "
            f"{max(rows - first, 0)} are left, at least 2 are needed. "
            "Give a longer series or a smaller washout."
        )
    return first
