"""Sequences of unequal length for the classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold._data.tables import Schema, kind_of, read

SWAPPED = 8  # times as many inputs as steps, from which on axes look swapped


def is_table(data: Any) -> bool:
    """Whether sequences come as one table ``(n, time)``, a univariate sequence in each row.

    A list holds one array for each sequence, as does an array of objects that are arrays; only
    plain lists of numbers, all as long, are a table.
    """
    if isinstance(data, list | tuple):
        plain = all(isinstance(row, list | tuple) for row in data)
        if not plain or len({len(row) for row in data}) != 1:
            return False
        return bool(data[0]) and not hasattr(data[0][0], "__len__")
    if kind_of(data) != "numpy":
        return True
    array = np.asarray(data)
    held = array.ndim == 1 and array.dtype == object and array.size and np.ndim(array[0]) > 0
    return array.ndim < 3 and not held


def words_of_axes(data: Any, argument: str) -> tuple[str, ...]:
    """What users should know about an array whose axes look as if they were swapped.

    Examples
    --------
    >>> words_of_axes(np.zeros((40, 6, 100)), "sequences")[0].partition(";")[0]
    'sequences has shape (40, 6, 100) and is read as 40 sequences of 6 steps with 100 inputs'
    >>> words_of_axes(np.zeros((40, 100, 6)), "sequences")
    ()
    """
    shape: tuple[int, ...] = getattr(data, "shape", ())
    if len(shape) != 3 or shape[2] < SWAPPED * shape[1]:
        return ()
    n, steps, inputs = shape
    return (
        f"{argument} has shape {shape} and is read as {n} sequences of {steps} steps with {inputs} "
        f"inputs; if it is (cases, channels, time), give {argument}.transpose(0, 2, 1). If it is "
        f"meant as it is, list({argument}) gives it without this warning.",
    )


def read_sequences(data: Any, argument: str) -> tuple[list[np.ndarray], Schema]:
    """Read arrays ``(time, inputs)`` or ``(time,)`` of unequal length, or one array with 3 axes.

    Returns arrays ``(time, inputs)``, and the schema they share.

    Examples
    --------
    >>> sequences, _ = read_sequences([[1, 2, 3], [4, 5]], "sequences")
    >>> [s.shape for s in sequences]
    [(3, 1), (2, 1)]
    """
    if not isinstance(data, list | tuple):
        data = np.asarray(data)
        if data.ndim not in (1, 3):
            raise ValueError(
                f"{argument} has shape {data.shape}; expected a list of (time, inputs) arrays, "
                "or an array (n, time, inputs) or (n, time)."
            )
    if len(data) == 0:
        raise ValueError(f"{argument} is empty: give at least two sequences.")
    if not hasattr(data[0], "__len__"):
        raise ValueError(
            f"{argument} holds single numbers; expected one (time, inputs) array for each "
            "sequence. Give one sequence as a list with one array."
        )
    tables = [_read_one(sequence, f"{argument}[{i}]") for i, sequence in enumerate(data)]
    first = tables[0].schema
    for i, table in enumerate(tables):
        found, expected = table.values.shape[1], tables[0].values.shape[1]
        if found != expected:
            raise ValueError(
                f"{argument}[{i}] has {found} inputs (columns), but {argument}[0] has {expected}. "
                "All sequences need the same inputs; only their lengths may differ."
            )
        first.check(table.schema, f"{argument}[{i}]", f"of {argument}[0]")
    return [table.values for table in tables], first


def _read_one(sequence: Any, argument: str):
    """Read one sequence; an empty one gets its own message."""
    if hasattr(sequence, "__len__") and len(sequence) == 0:
        raise ValueError(
            f"{argument} is empty: a sequence needs at least one time step. Remove it and its "
            "label."
        )
    return read(sequence, argument)
