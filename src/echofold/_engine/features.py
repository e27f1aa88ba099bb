"""What a classifier's readout sees of each sequence, for candidates that share a draw."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from echofold._data.segments import Sequences
from echofold._engine.drive import drive_sequences
from echofold._engine.generate import ACCELERATOR_COLUMNS, WIDE_COLUMNS
from echofold._engine.kind import Reservoirs
from echofold._machine.shapes import few_lengths


def sequence_features(
    reservoirs: Reservoirs, segments: Sequences, columns: int | None = None
) -> np.ndarray:
    """Kept inputs, then kept states, of every sequence: ``(candidates, n, features)``.

    Callers hold `_machine.device.engine`. Columns are those of the readout without its leading one:
    ``segments.beside`` if it sees inputs, then the states with the position first and the unit
    last. Sequences run side by side, ``columns`` states wide (None: as suits the device), shortest
    first, so that little of the work is padding.
    """
    candidates, positions = reservoirs.shape[1], segments.positions
    rows, kept = len(segments.beside), positions * segments.inputs * reservoirs.beside
    features = np.empty((candidates, rows, kept + positions * reservoirs.looks))
    features[:, :, :kept] = segments.beside[:, :kept]
    lengths = segments.lengths
    columns = columns or _suitable_columns()
    reservoirs = jax.device_put(reservoirs)  # once, not for every block
    for chosen, steps in _blocks(lengths, max(1, columns // candidates)):
        width = len(chosen)
        present = chosen[chosen >= 0]
        sequences = np.zeros((width, steps, segments.inputs))
        take = np.zeros((positions, steps, width))
        most = min(steps, segments.steps.shape[1])
        sequences[: len(present), :most] = segments.steps[present, :most]
        take[:, :most, : len(present)] = segments.take[:, :most, present]
        states = np.asarray(drive_sequences(reservoirs, sequences, take))[..., : len(present)]
        states = states.transpose(2, 3, 0, 1).reshape(candidates, len(present), -1)
        features[:, present, kept:] = states
    return features


def _suitable_columns() -> int:
    """States side by side: those that a CPU's cache holds, or that fill an accelerator."""
    (device,) = jnp.zeros(0).devices()
    return WIDE_COLUMNS if device.platform == "cpu" else ACCELERATOR_COLUMNS


def _blocks(lengths: np.ndarray, most: int):
    """Yield the sequences of each block, all equally many (-1 is padding), and its steps."""
    count = -(-len(lengths) // most)
    size = -(-len(lengths) // count)
    order = np.full(count * size, -1)
    order[: len(lengths)] = np.argsort(lengths, kind="stable")
    for chosen in order.reshape(count, size):
        yield chosen, few_lengths(int(lengths[chosen[chosen >= 0]].max()))
