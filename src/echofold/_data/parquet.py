"""Columns of a Parquet file as rows that are read a row group at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

KEPT = 1  # row groups in memory: the next block of rows may begin inside of it
MOST = 2**28  # bytes of a row group, which can only be read in whole


class ParquetColumns:
    """Columns of a Parquet file, to be read as they are needed.

    It stands for ``y`` or ``X`` in `fit`, `cross_validate` and `ESNSearchCV.fit`. A long file is
    never read in whole: a few row groups are in memory at a time. ``np.asarray`` reads it all.

    Parameters
    ----------
    path : str or path
        The file. It must stay as it is while it is used.
    columns : str or list of str
        One name for a series ``(T,)``, a list of names for a table ``(T, columns)``. The columns
        must hold numbers or booleans; a null is a missing value (NaN).

    Attributes
    ----------
    shape : tuple
        ``(T,)`` or ``(T, columns)``.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, pandas as pd
    >>> from echofold import ESNForecaster, ParquetColumns
    >>> path = tempfile.mkdtemp() + "/tide.parquet"
    >>> pd.DataFrame({"level": np.sin(np.arange(300) / 5)}).to_parquet(path)
    >>> level = ParquetColumns(path, "level")
    >>> level.shape, level[:2]
    ((300,), array([0. , 0.19866933]))
    >>> ESNForecaster(30, random_state=0).fit(level).forecast(3).shape
    (3,)
    """

    dtype = np.dtype(float)

    def __init__(self, path: str | os.PathLike, columns: str | Sequence[str]):
        self.path = os.fspath(path)
        self.columns = columns if isinstance(columns, str) else list(columns)
        self.names = (columns,) if isinstance(columns, str) else tuple(columns)
        self._open()

    def _open(self) -> None:
        """Open the file and look at its columns and row groups."""
        try:
            import pyarrow.parquet as pq
        except ImportError as error:
            raise ImportError(
                "reading Parquet files needs pyarrow: pip install 'echofold[parquet]'"
            ) from error
        self._file = pq.ParquetFile(self.path)
        _check_columns(self._file.schema_arrow, self.names, self.path)
        metadata = self._file.metadata
        sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        self._starts = np.append(0, np.cumsum(sizes, dtype=np.int64))
        rows, longest = metadata.num_rows, max(sizes, default=0)
        if 8 * longest * len(self.names) > MOST:
            raise ValueError(
                f"{self.path} has a row group of {longest} rows, "
                f"{8 * longest * len(self.names) / 2**20:,.0f} MiB in {len(self.names)} columns, "
                "and a row group can only be read in whole. Write the file with smaller ones, such "
                "as row_group_size=1_000_000 of pyarrow.parquet.write_table."
            )
        self.shape = (rows,) if isinstance(self.columns, str) else (rows, len(self.names))
        self.chunks = (max(1, longest),)
        self._groups: dict[int, np.ndarray] = {}
        self._lock = Lock()

    @property
    def ndim(self) -> int:
        """1 for a series, 2 for a table."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"ParquetColumns({self.path!r}, {self.columns!r})"

    def __getitem__(self, at: Any) -> np.ndarray:
        if not isinstance(at, slice) or at.step not in (None, 1):
            raise TypeError(f"rows are read as a slice, such as [0:1000]; got {at!r}.")
        start, stop, _ = at.indices(len(self))
        rows = np.empty((max(stop - start, 0), len(self.names)))
        group, done = int(np.searchsorted(self._starts, start, side="right")) - 1, 0
        while done < len(rows):
            low = start + done - self._starts[group]
            part = self._group(group)[low : low + len(rows) - done]
            rows[done : done + len(part)] = part
            group, done = group + 1, done + len(part)
        return rows[:, 0] if self.ndim == 1 else rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self[:] if dtype is None else self[:].astype(dtype)

    def _group(self, number: int) -> np.ndarray:
        """The rows ``(rows, columns)`` of a row group, NaN for null."""
        with self._lock:
            if number not in self._groups:
                table = self._file.read_row_group(number, columns=list(self.names))
                values = np.empty((table.num_rows, len(self.names)))
                for place, name in enumerate(self.names):
                    values[:, place] = table.column(name).cast("float64").to_numpy()
                while len(self._groups) >= KEPT:
                    del self._groups[next(iter(self._groups))]
                self._groups[number] = values
            return self._groups[number]

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "columns": self.columns, "names": self.names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()


def _check_columns(schema: Any, names: tuple[str, ...], path: str) -> None:
    """Raise for columns that are not there, or do not hold numbers."""
    import pyarrow as pa

    if not names:
        raise ValueError(f"columns is empty; {path} has {', '.join(map(repr, schema.names))}.")
    for name in names:
        count = schema.names.count(name)
        if count != 1:
            raise ValueError(
                f"{path} has {count or 'no'} column{'s' if count else ''} named {name!r}; its "
                f"columns are {', '.join(map(repr, schema.names))}."
            )
        kind = schema.field(name).type
        tests = (
            pa.types.is_integer,
            pa.types.is_floating,
            pa.types.is_boolean,
            pa.types.is_decimal,
        )
        if not any(test(kind) for test in tests):
            raise TypeError(
                f"{path} holds {kind} in column {name!r}, but numbers are needed. Encode the "
                "column as numbers or leave it out."
            )
