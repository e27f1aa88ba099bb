"""Series longer than memory: read as tables whose values are `Lazy`, checked in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold._data.lazy import Lazy, first_row
from echofold._data.scaling import Spread, spread_of
from echofold._data.sources import is_stored, lazy
from echofold._data.tables import HOLDS, Schema, Table, label_of, read


def read_long(data: Any, argument: str) -> Table:
    """Read a series ``(T,)`` or a table ``(T, columns)``, of which nothing is missing.

    Values are `Lazy`, whatever they are read from: a long series may stand beside a short one.
    """
    if not is_stored(data):
        table = read(data, argument, missing=True)
        return table._replace(values=Lazy.of(table.values))
    if data.ndim not in (1, 2) or 0 in data.shape:
        raise ValueError(
            f"{argument} has shape {tuple(data.shape)}, expected (T,) or (T, columns) with at "
            "least one row and one column."
        )
    try:
        holds = HOLDS[np.dtype(data.dtype).kind]
    except (TypeError, KeyError):
        raise TypeError(
            f"{argument} must hold real numbers, got a {type(data).__name__} of dtype {data.dtype}."
        ) from None
    values = lazy(data, argument)
    schema = Schema("numpy", None, (holds,) * values.shape[1], data.ndim == 1)
    return Table(values, schema, None)


def check_complete(values: Lazy, data: Any, argument: str) -> Spread:
    """How the columns are spread; raise where a value of them is missing or infinite.

    ``data`` is what they were read from.
    """
    spread = spread_of(values)
    with np.errstate(over="ignore", invalid="ignore"):
        # A sum of large numbers may be infinite: only values themselves tell.
        sound = np.isfinite(spread.mean) & np.isfinite(spread.low) & np.isfinite(spread.high)
    if sound.all():
        return spread
    try:
        row, column = first_row(values, lambda block: ~np.isfinite(block))
    except LookupError:
        return spread
    label = label_of(getattr(data, "names", None), column)
    value = "is missing (NaN or null)" if np.isnan(values[row][column]) else "is infinite"
    raise ValueError(
        f"{argument} {value} in column {label} at row {row}, the first of maybe more. A series "
        f"that is read in blocks must be complete: fill in what is missing where it is stored, or, "
        f"if it fits into memory, give np.asarray({argument}), of which NaN are left out."
    )
