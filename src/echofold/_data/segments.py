"""Segments: stretches of time that a reservoir is driven along, and what of them becomes rows.

Rows are ragged: many segments, each of its own length, and each begun at rest. A series is one
segment of which every step after the washout is a row. A classifier's sequences are segments of
which a few states are kept, side by side in one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from echofold._data.lazy import Values


@dataclass(frozen=True, eq=False)
class Segments:
    """Steps of all segments, one after the other, and what is known of each.

    Every step after the washout is a row. Where there are weights to ``take``, a segment is one row
    instead: of each position ``f``, the sum of ``take[f, t, s]`` times input and state of its step
    ``t``.
    """

    steps: Values  # (steps, inputs); `Lazy` where the only segment is longer than memory
    lengths: np.ndarray  # (segments,), steps of each
    washouts: np.ndarray  # (segments,), how many of these only warm the state up
    take: np.ndarray | None = None  # (positions, longest, segments)

    @classmethod
    def series(cls, inputs: Values, washout: int = 0) -> Segments:
        """One segment of ``inputs (steps, inputs)``: every step after the washout is a row."""
        return cls(inputs, np.array([len(inputs)]), np.array([washout]))

    @classmethod
    def sequences(cls, sequences: list[np.ndarray], states: str | int) -> Segments:
        """A segment and a row for each of ``sequences (time, inputs)``; see `weights_of_states`."""
        lengths = np.array([len(s) for s in sequences])
        take = weights_of_states(lengths, lengths.max(), states)
        return cls(np.concatenate(sequences), lengths, 0 * lengths, take)

    @property
    def count(self) -> int:
        """Number of segments."""
        return len(self.lengths)

    @property
    def longest(self) -> int:
        """Steps of the longest segment."""
        return int(self.lengths.max())

    @property
    def n_inputs(self) -> int:
        """Number of inputs of the reservoir."""
        return self.steps.shape[1]

    @property
    def positions(self) -> int:
        """Number of states that a row holds."""
        return 1 if self.take is None else len(self.take)

    @property
    def rows(self) -> np.ndarray:
        """Rows ``(segments,)`` of each segment; those of one follow those of the one before."""
        return self.lengths - self.washouts if self.take is None else np.ones_like(self.lengths)

    @cached_property
    def beside(self) -> Values:
        """Inputs ``(rows, positions * inputs)`` that stand beside the states in every row."""
        if self.take is not None:
            kept = np.einsum("fts,sti->sfi", self.take, self.padded)
            return kept.reshape(self.count, -1)
        if self.count == 1:
            return self.steps[self.washouts[0] :]
        ends = np.cumsum(self.lengths)
        return np.concatenate(
            [self.steps[end - rows : end] for end, rows in zip(ends, self.rows, strict=True)]
        )

    def washout(self, segment: int = 0) -> Values:
        """Inputs ``(washout, inputs)`` that only warm the state up before a segment's first row."""
        start = int(self.lengths[:segment].sum())
        return self.steps[start : start + self.washouts[segment]]

    @cached_property
    def padded(self) -> np.ndarray:
        """Steps ``(segments, longest, inputs)`` side by side, with zeros at the end."""
        padded = np.zeros((self.count, self.longest, self.n_inputs))
        padded[np.arange(self.longest) < self.lengths[:, None]] = self.steps
        return padded

    @property
    def apart(self) -> tuple[np.ndarray | None, ...]:
        """What tells these segments from others with the same inputs beside their states."""
        return (None, None) if self.take is None else (self.padded, self.take)


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
