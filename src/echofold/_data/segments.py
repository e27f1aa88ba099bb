"""Segments: stretches of time, each driven from rest, and the states of them that become rows.

One series is a segment of which every state after the washout is kept. A classifier's sequences are
segments of which a few states are kept, side by side in one row.
"""

from __future__ import annotations

from abc import ABC

import numpy as np


class Segments(ABC):
    """What a reservoir is driven along.

    Attributes
    ----------
    inputs : int
        Number of inputs of the reservoir.
    positions : int
        Number of states that a row holds.
    beside : ndarray (rows, positions * inputs)
        Inputs that stand beside the states in every row.
    washout : ndarray (washout, inputs)
        Inputs that only warm the state up before row 0.
    apart : tuple of arrays or None
        What tells these segments from others with the same inputs beside their states.
    """

    inputs: int
    positions: int = 1
    beside: np.ndarray
    washout: np.ndarray
    apart: tuple[np.ndarray | None, ...] = (None, None)  # as checkpoints of 0.1 have it


class Series(Segments):
    """One segment: after the washout, every step is a row. ``inputs`` is ``(steps, inputs)``."""

    def __init__(self, inputs: np.ndarray, washout: int = 0):
        self.inputs = inputs.shape[1]
        self.beside, self.washout = inputs[washout:], inputs[:washout]


class Sequences(Segments):
    """Many segments, each of them one row.

    ``steps (sequences, time, inputs)`` is padded with zeros at the end. Row ``s`` holds, for each
    position ``f``, the sum of ``take[f, t, s]`` times input and state of time ``t``.
    """

    def __init__(self, sequences: list[np.ndarray], states: str | int):
        lengths = np.array([len(s) for s in sequences])
        self.inputs = sequences[0].shape[1]
        self.steps = np.zeros((len(sequences), lengths.max(), self.inputs))
        for i, sequence in enumerate(sequences):
            self.steps[i, : len(sequence)] = sequence
        self.take = weights_of_states(lengths, self.steps.shape[1], states)
        self.positions = len(self.take)
        kept = np.einsum("fts,sti->sfi", self.take, self.steps)
        self.beside = kept.reshape(len(sequences), -1)
        self.washout = np.zeros((0, 0))
        self.apart = self.steps, self.take

    @property
    def lengths(self) -> np.ndarray:
        """Steps up to the last state that is kept, for every sequence."""
        used = (self.take != 0).any(axis=0)
        return used.shape[0] - used[::-1].argmax(axis=0)


def weights_of_states(lengths: np.ndarray, steps: int, states: str | int) -> np.ndarray:
    """Weights ``(positions, steps, sequences)`` that pick the states a classifier reads.

    ``"last"``: the last one; ``"mean"``: all of them equally; an integer ``D``: the ``D`` at
    positions ``ceil(i · length / D) − 1``, ``i = 1 … D``.

    Examples
    --------
    >>> import numpy as np
    >>> weights_of_states(np.array([3, 2]), 3, 2)[:, :, 0]
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    if states == "mean":
        return ((np.arange(steps)[:, None] < lengths) / lengths)[None]
    count = 1 if states == "last" else int(states)
    at = -(-np.arange(1, count + 1)[:, None] * lengths // count) - 1
    return (np.arange(steps)[None, :, None] == at[:, None, :]).astype(float)
