"""Tables in and out: NumPy, pandas and polars to 64-bit arrays, and forecasts back.

A series ``(T,)`` is read as one column. What was read is remembered in a `Schema`, so that later
tables can be checked against it and results can be given in the user's kind. Of series longer than
memory values are `Lazy`, checked in one pass. Classifiers have sequences of unequal length.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from echofold._data.lazy import Lazy, is_stored, loaded
from echofold._data.text import count

SWAPPED = 8  # times as many inputs as steps, from which on axes of sequences look swapped
HOLDS = {"b": "booleans", "i": "numbers", "u": "numbers", "f": "numbers"}  # by NumPy kind


@dataclass(frozen=True)
class Schema:
    """Kind of a table, the names of its columns (None: unnamed) and what they hold.

    ``holds`` has ``"numbers"`` or ``"booleans"`` for each column; ``flat`` is true for a series.
    Columns of a field that was given with more than two axes have the ``shape`` of those after
    time.
    """

    kind: str
    names: tuple | None
    holds: tuple[str, ...]
    flat: bool
    shape: tuple[int, ...] | None = None

    @property
    def axes(self) -> tuple[int, ...]:
        """Values along the axes after time."""
        return (len(self.holds),) if self.shape is None else self.shape

    def check(self, other: Schema, argument: str, own: str = "given to fit") -> None:
        """Raise unless ``other``, of a later table, has the same columns in the same order.

        Tables without column names are read by position.
        """
        if self.names is not None and other.names is not None and not (self.flat or other.flat):
            self._check_names(other.names, argument, own)
        if self.shape is not None and other.axes != self.shape:
            raise ValueError(
                f"{argument} has the axes (time, {', '.join(map(str, other.axes))}), but the field "
                f"{own} has (time, {', '.join(map(str, self.shape))})."
            )
        if len(other.holds) != len(self.holds):
            raise ValueError(
                f"{argument} has {count(len(other.holds), 'column')}, expected the "
                f"{len(self.holds)} {own}, in the same order."
            )
        if "numpy" in (self.kind, other.kind):
            return
        for column, (before, now) in enumerate(zip(self.holds, other.holds, strict=True)):
            if before != now:
                raise TypeError(
                    f"{argument} holds {now} in column {label_of(other.names, column)}, but the "
                    f"one {own} holds {before}. Convert it to that dtype."
                )

    def _check_names(self, now: tuple, argument: str, own: str) -> None:
        """Raise for missing, unexpected or reordered columns."""
        before = list(self.names or ())
        missing = [name for name in before if name not in now]
        unexpected = [name for name in now if name not in before]
        problems = [f"lacks {missing}"] if missing else []
        problems += [f"has the unexpected {unexpected}"] if unexpected else []
        if not problems and before != list(now):
            problems = [f"has them in another order, {list(now)}"]
        if problems:
            raise ValueError(
                f"{argument} must have the columns {own}, {before}: it {' and '.join(problems)}. "
                f"Select them with {argument}[{before}]."
            )


class Table(NamedTuple):
    """Values ``(rows, columns)``, their schema, and the pandas index where there is one.

    Values are an array, or `Lazy` of a series longer than memory.
    """

    values: Any
    schema: Schema
    index: Any


def read(data: Any, argument: str, missing: bool = False, field: bool = False) -> Table:
    """Read a series ``(T,)`` or a table ``(T, columns)`` of finite numbers, or say what is wrong.

    With ``missing``, NaN is allowed too; a ``field`` may have up to three axes after time. Stored
    data, as a Zarr array, are read if they are small; long ones are refused.
    """
    kind = kind_of(data)
    if kind == "numpy":
        table = _read_array(loaded(data, argument), argument, field)
    else:
        table = _read_frame(data, kind, argument)
    if table.values.size == 0:
        raise ValueError(
            f"{argument} is empty: its shape is {np.shape(data)}. Give at least one row and one "
            "column."
        )
    require_finite(table.values, argument, table.schema.names, missing)
    # One memory order, so that sums round alike whatever the data came in.
    return table._replace(values=np.ascontiguousarray(table.values))


def write(values: np.ndarray, schema: Schema, index: Any = None) -> Any:
    """Give ``values (rows, columns)`` in the kind of ``schema``; ``index`` is for pandas."""
    shaped = values[:, 0] if schema.flat else values
    if schema.shape is not None:
        return values.reshape(-1, *schema.shape)
    names = schema.names
    if schema.kind == "pandas":
        if schema.flat:
            return pd.Series(shaped, index=index, name=names[0] if names else None)
        columns = pd.Index([""] if names is None else names)
        return pd.DataFrame(shaped, index=index, columns=columns)
    if schema.kind == "polars":
        import polars as pl

        if schema.flat:
            return pl.Series(names[0] if names else "", shaped)
        named = zip([""] if names is None else names, shaped.T, strict=True)
        return pl.DataFrame(dict(named))  # given a list of names, polars would replace an empty one
    return shaped


def appended(before: Any, after: Any, argument: str) -> Any:
    """Rows of two parts of a table, of the same kind, or None if there are none of either."""
    if (before is None) != (after is None):
        raise ValueError(
            f"{argument} was given for a part of the data only. Give it for all, or for none."
        )
    if before is None:
        return None
    old, new = (read(one, argument, missing=True).schema for one in (before, after))
    old.check(new, argument, "of the rows before")
    if old.kind != new.kind or (old.kind != "numpy" and old.flat != new.flat):
        raise TypeError(
            f"what follows is a {type(after).__name__}, but the rows before are a "
            f"{type(before).__name__}. Give all parts in the same kind."
        )
    if old.kind == "pandas":
        return pd.concat([before, after])
    if old.kind == "polars":
        import polars as pl

        return pl.concat([before, after])
    return np.concatenate([before, np.reshape(after, (-1, *np.shape(before)[1:]))])


def read_weights(sample_weight: Any, rows: int, some: bool = True) -> np.ndarray | None:
    """Read row weights: ``rows`` numbers of at least 0, ``some`` of them not 0."""
    if sample_weight is None:
        return None
    table = read(sample_weight, "sample_weight")
    if not table.schema.flat or len(table.values) != rows:
        raise ValueError(
            f"sample_weight has shape {np.shape(sample_weight)}, expected ({rows},): one weight "
            "for each row of y."
        )
    weights = table.values[:, 0]
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise ValueError(
            f"sample_weight is {weights[row]:g} at row {row}; weights must not be negative. "
            "Give 0 to leave a row out of training."
        )
    if some and not weights.any():
        raise ValueError("sample_weight is zero in every row. Give some a positive weight.")
    return weights


def kind_of(data: Any) -> str:
    """``"pandas"`` or ``"polars"`` for their series and frames, ``"numpy"`` for anything else."""
    for package in ("pandas", "polars"):
        module = sys.modules.get(package)
        if module is not None and isinstance(data, module.Series | module.DataFrame):
            return package
    return "numpy"


def check_columns(data: Any, argument: str) -> None:
    """Raise for a pandas or polars column that does not hold numbers, by its name."""
    kind = kind_of(data)
    if kind != "numpy":
        _column_contents(data, kind, argument)


def require_finite(
    values: np.ndarray, argument: str, names: tuple | None, missing: bool = False
) -> None:
    """Raise for infinity in ``values (rows, columns)``, and for NaN unless that is ``missing``."""
    finite = np.isfinite(values)
    if missing and not finite.all():
        finite |= np.isnan(values)
    if finite.all():
        return
    column = int(np.argmin(finite.all(axis=0)))
    row = int(np.argmin(finite[:, column]))
    value = "NaN" if np.isnan(values[row, column]) else "an infinite value (inf)"
    others = int((~finite).sum()) - 1
    more = f" ({count(others, 'more such value')})" if others else ""
    remedy = "Fill it in or remove it: a reservoir cannot be driven across missing values."
    if missing:
        remedy = "Give a number, or NaN if it is not known."
    raise ValueError(
        f"{argument} contains {value} in column {label_of(names, column)} at row {row}{more}. "
        f"{remedy}"
    )


def require_some(values: np.ndarray, argument: str, names: tuple | None) -> None:
    """Raise for a column of ``values (rows, columns)`` in which everything is missing (NaN)."""
    empty = np.isnan(values).all(axis=0)
    if empty.any():
        raise ValueError(
            f"{argument} has no value in column {label_of(names, int(np.argmax(empty)))}: all of "
            f"its {len(values)} rows are missing (NaN), and at least one is needed to fill the "
            "others. Leave the column out, or give it values."
        )


def _read_array(data: Any, argument: str, field: bool = False) -> Table:
    """Read anything NumPy understands."""
    if hasattr(data, "tocsr"):
        raise TypeError(f"{argument} is a sparse matrix; give a dense array, {argument}.toarray().")
    if isinstance(data, np.ma.MaskedArray):  # NumPy would drop the mask without a word
        data = np.ma.filled(data.astype(float), np.nan)
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise ValueError(
            f"{argument} is not a table: {error}. Give (T,) or (T, columns) numbers."
        ) from None
    if array.ndim not in ((1, 2, 3, 4) if field else (1, 2)):
        more = " Fields with more axes need reservoir=reservoirs.Local(...)." * (argument == "y")
        raise ValueError(
            f"{argument} must be one- or two-dimensional, (T,) or (T, columns), got "
            f"{type(data).__name__} of shape {array.shape}.{'' if field else more}"
        )
    if array.dtype.kind == "O":
        array = _from_objects(array, argument, "it")
    if array.dtype.kind == "c":
        raise ValueError(f"{argument} is complex. Complex data not supported: give real numbers.")
    holds = HOLDS.get(array.dtype.kind)
    if holds is None:
        raise TypeError(f"{argument} must hold real numbers, got an array of dtype {array.dtype}.")
    flat = array.ndim == 1
    columns, shape = math.prod(array.shape[1:]), array.shape[1:] if array.ndim > 2 else None
    values = array.astype(float, copy=False).reshape(len(array), columns)
    return Table(values, Schema("numpy", None, (holds,) * columns, flat, shape), None)


def _read_frame(data: Any, kind: str, argument: str) -> Table:
    """Read a pandas or polars series or frame."""
    names, holds = _column_contents(data, kind, argument)
    flat = data.ndim == 1 if kind == "pandas" else not hasattr(data, "columns")
    if kind == "pandas":
        values = data.to_numpy(dtype=float, na_value=np.nan)
    else:
        import polars as pl

        values = data.cast(pl.Float64).to_numpy()
    values = values.reshape(len(data), len(holds))
    return Table(values, Schema(kind, names, holds, flat), getattr(data, "index", None))


def _column_contents(data: Any, kind: str, argument: str) -> tuple[tuple | None, tuple[str, ...]]:
    """Names of the columns of a frame and what they hold; raise for anything but numbers."""
    frame = hasattr(data, "columns")
    names = tuple(data.columns) if frame else (data.name,)
    doubled = [name for name in names if names.count(name) > 1]
    if doubled:
        raise ValueError(f"{argument} has two columns named {doubled[0]!r}. Rename one of them.")
    holds = []
    for column, dtype in enumerate(data.dtypes if frame else [data.dtype]):
        if kind == "polars":
            boolean = str(dtype) == "Boolean"
            content = "booleans" if boolean else "numbers" if dtype.is_numeric() else ""
        else:
            content = _pandas_content(data.iloc[:, column] if frame else data, argument)
        if not content:
            raise TypeError(
                f"{argument} holds {dtype} in column {label_of(names, column)}, but numbers are "
                "needed. Encode the column as numbers or leave it out; series below each other, "
                "each with its name, are an echofold.long_format.LongFrame."
            )
        holds.append(content)
    return (None if names in ((None,), ("",)) else names), tuple(holds)


def _pandas_content(series: Any, argument: str) -> str:
    """What a pandas series holds; nothing, if that is not numbers."""
    dtype, types = series.dtype, pd.api.types
    if isinstance(dtype, pd.CategoricalDtype) or types.is_complex_dtype(dtype):
        return ""
    if dtype.kind == "O" and not types.is_extension_array_dtype(dtype):
        _from_objects(series.to_numpy(na_value=np.nan), argument, f"column {series.name!r}")
        return "numbers"
    if types.is_bool_dtype(dtype):
        return "booleans"
    return "numbers" if types.is_numeric_dtype(dtype) else ""


def _from_objects(array: np.ndarray, argument: str, where: str) -> np.ndarray:
    """Numbers from an array of Python objects; strings are never parsed."""
    try:
        if any(isinstance(value, str | bytes) for value in array.flat):
            raise TypeError("it holds strings")
        return array.astype(float)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{argument} must hold real numbers, but {where} cannot be read as such: {error}."
        ) from None


def label_of(names: tuple | None, column: int) -> str:
    """A column as a message names it: by name, or by number."""
    return repr(names[column]) if names is not None else str(column)


def read_rows(
    data: Any, argument: str, long: bool, empty: bool = False, field: bool = False
) -> tuple[Table, np.ndarray]:
    """A table, and the range ``(2, columns)`` of its values.

    What is ``long`` is read in blocks, and complete. Else values may be missing; no column may be
    ``empty`` unless it is said.
    """
    if long:
        table = _read_long(data, argument)
        return table, _complete_range(table.values, argument, getattr(data, "names", None))
    table = read(data, argument, missing=True, field=field)
    if not empty:
        require_some(table.values, argument, table.schema.names)
    return table, np.array([np.fmin.reduce(table.values), np.fmax.reduce(table.values)])


def _read_long(data: Any, argument: str) -> Table:
    """Read a series ``(T,)`` or a table ``(T, columns)`` whose values are checked later.

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
    values = Lazy.stored(data, argument)
    schema = Schema("numpy", None, (holds,) * values.shape[1], data.ndim == 1)
    return Table(values, schema, None)


def _complete_range(values: Lazy, argument: str, names: tuple | None) -> np.ndarray:
    """The range ``(2, columns)``; raise where a value is missing or infinite."""
    low, high = np.full((2, values.shape[1]), [[np.inf], [-np.inf]])
    for start, block in values.blocks():
        finite = np.isfinite(block)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            value = "is missing (NaN or null)" if np.isnan(block[row, column]) else "is infinite"
            raise ValueError(
                f"{argument} {value} in column {label_of(names, column)} at row {start + row}, the "
                "first of maybe more. A series that is read in blocks must be complete: fill in "
                "what is missing where it is stored, or, if it fits into memory, give "
                f"np.asarray({argument}), of which NaN are left out."
            )
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
    return np.array([low, high])


# --- sequences ----------------------------------------------------------------------------------


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


def words_of_axes(data: Any, argument: str = "sequences") -> tuple[str, ...]:
    """What users should know about an array whose axes look as if they were swapped."""
    shape: tuple[int, ...] = getattr(data, "shape", ())
    if len(shape) != 3 or shape[2] < SWAPPED * shape[1]:
        return ()
    n, steps, inputs = shape
    return (
        f"{argument} has shape {shape} and is read as {n} sequences of {steps} steps with {inputs} "
        f"inputs; if it is (cases, channels, time), give {argument}.transpose(0, 2, 1). If it is "
        f"meant as it is, list({argument}) gives it without this warning.",
    )


def read_sequences(data: Any, argument: str = "sequences") -> tuple[list[np.ndarray], Schema]:
    """Read arrays ``(time, inputs)`` or ``(time,)`` of unequal length, or one array with 3 axes.

    Returns arrays ``(time, inputs)``, and the schema they share.
    """
    stacked = not isinstance(data, list | tuple)
    if stacked:
        data = np.asarray(data)
        if data.ndim not in (1, 3):
            raise ValueError(
                f"{argument} has shape {data.shape}; expected a list of (time, inputs) arrays, "
                "or an array (n, time, inputs) or (n, time)."
            )
    if len(data) == 0:
        raise ValueError(f"{argument} is empty: it holds no sequence. Give at least one.")
    if not hasattr(data[0], "__len__"):
        raise ValueError(
            f"{argument} holds single numbers; expected one (time, inputs) array for each "
            "sequence. Give one sequence as a list with one array."
        )
    tables = []
    for i, sequence in enumerate(data):
        if hasattr(sequence, "__len__") and len(sequence) == 0:
            raise ValueError(
                f"{argument}[{i}] is empty: a sequence needs at least one time step. Remove it and "
                "its entry of y."
            )
        tables.append(read(sequence, f"{argument}[{i}]", missing=True))
    first = tables[0].schema
    for i, table in enumerate(tables):
        found, expected = table.values.shape[1], tables[0].values.shape[1]
        if found != expected:
            raise ValueError(
                f"{argument}[{i}] has {found} inputs (columns), but {argument}[0] has {expected}. "
                "All sequences need the same inputs; only their lengths may differ."
            )
        first.check(table.schema, f"{argument}[{i}]", f"of {argument}[0]")
    values = [table.values for table in tables]
    return until_the_end(values) if stacked else values, first


def until_the_end(sequences: Any) -> list[np.ndarray]:
    """Sequences of an array without the steps at their ends that have no value at all (NaN).

    They make up for unequal lengths. Of one that has no value anywhere all is left.
    """
    found = []
    for one in sequences:
        there = np.flatnonzero(~np.isnan(one).all(axis=1))
        found.append(one[: there[-1] + 1] if len(there) else one)
    return found
