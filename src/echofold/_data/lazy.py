"""Series longer than memory: rows that are read, or made of others, when they are asked for.

A `Lazy` takes the place of an array ``(rows, columns)`` in a `Problem`. Slices of it are views, as
those of NumPy are; numbers of rows, and ``np.asarray`` of a view, read. Rows lie in memory-mapped
files, Zarr, HDF5 or Parquet: in anything with ``shape``, ``dtype`` and ``ndim`` of which ``[a:b]``
gives some. What is small is read at once, as an array would be.
"""

from __future__ import annotations

import math
import mmap
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

AT_ONCE = 2**26  # bytes that become an array: whoever asks for more has forgotten to go in blocks,
FEW_ROWS = 2**13  # unless rows are few, and wide
BLOCK_ROWS = 2**15  # rows looked at together on the way over all of them
SMALL = 2**26  # bytes, as 64-bit floats, up to which stored data are simply read
BLOCK = 2**22  # bytes that are read at a time
REMEMBERED = 2**24  # bytes of the latest blocks that are kept: inputs and targets follow each other
MOST = 2**28  # bytes of a chunk or row group of what is stored: it can only be read in whole
KEPT = 1  # row groups in memory: the next block of rows may begin inside of it


class Lazy:
    """Rows ``(rows, columns)`` of 64-bit floats; ``read(start, stop)`` gives some of them."""

    ndim = 2
    dtype = np.dtype(float)

    def __init__(
        self, read: Callable[[int, int], np.ndarray], rows: int, columns: int, first: int = 0
    ):
        self._read, self._first = read, first
        self.shape = (rows, columns)

    @classmethod
    def of(cls, values: np.ndarray) -> Lazy:
        """Rows of an array that is in memory."""
        return cls(partial(_rows, values), *values.shape)

    @classmethod
    def stored(cls, data: Any, argument: str) -> Lazy:
        """Rows ``(T, columns)`` of stored data, of which a few blocks are in memory at a time."""
        source = BlockReader(data, argument)
        return cls(source.read, source.rows, source.columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            if step != 1:
                raise IndexError(f"rows {at} are not consecutive")
            rows = max(stop - start, 0)
            return Lazy(self._read, rows, self.shape[1], self._first + start)
        numbers = np.asarray(at)
        if not numbers.ndim:
            row = int(numbers) % len(self)
            return self.read(row, row + 1)[0]
        return self._gathered(numbers.ravel()).reshape(*numbers.shape, self.shape[1])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if len(self) > FEW_ROWS and 8 * self.shape[0] * self.shape[1] > AT_ONCE:
            raise MemoryError(f"rows of shape {self.shape} are read in blocks, not all at once")
        values = self.read(0, len(self))
        return values if dtype is None else values.astype(dtype, copy=False)

    def read(self, start: int, stop: int) -> np.ndarray:
        """The rows ``start … stop`` as an array, which may be shared: not to be written to."""
        return self._read(self._first + start, self._first + stop)

    def blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        """All rows, as ``(first row, some rows)``."""
        for start in range(0, len(self), BLOCK_ROWS):
            yield start, self.read(start, min(start + BLOCK_ROWS, len(self)))

    def mean(self, axis: int = 0) -> np.ndarray:
        """The mean of each column."""
        first = self[0]  # measured from here, so that large numbers lose nothing
        return first + sum((block - first).sum(axis=0) for _, block in self.blocks()) / len(self)

    def _gathered(self, numbers: np.ndarray) -> np.ndarray:
        """Rows by their numbers, in any order."""
        if not len(numbers):
            return np.zeros((0, self.shape[1]))
        if numbers[-1] - numbers[0] == len(numbers) - 1 and (np.diff(numbers) == 1).all():
            return self.read(int(numbers[0]), int(numbers[-1]) + 1)
        gathered = np.empty((len(numbers), self.shape[1]))
        order = np.argsort(numbers, kind="stable")
        block = numbers[order] // BLOCK_ROWS
        cuts = [0, *(np.flatnonzero(np.diff(block)) + 1), len(order)]
        for a, b in zip(cuts[:-1], cuts[1:], strict=True):
            places = order[a:b]
            low, high = int(numbers[places[0]]), int(numbers[places[-1]])
            gathered[places] = self.read(low, high + 1)[numbers[places] - low]
        return gathered


Values = np.ndarray | Lazy  # rows of numbers, in memory or not


def mapped(function: Callable[[np.ndarray], np.ndarray], values: Any, lost: int = 0) -> Any:
    """``function`` of rows, now or when they are asked for; it leaves out the first ``lost``."""
    if not isinstance(values, Lazy):
        return function(values)
    return Lazy(partial(_mapped, values, function, lost), len(values) - lost, values.shape[1])


def blocks_of(values: Values) -> Iterable[tuple[int, np.ndarray]]:
    """Rows as ``(first row, some rows)``; those in memory are one block."""
    return values.blocks() if isinstance(values, Lazy) else [(0, values)]


def hstack(*parts: Any) -> Any:
    """Columns of several arrays, or rows that are read, side by side."""
    if not any(isinstance(part, Lazy) for part in parts):
        return np.hstack(parts)
    columns = sum(part.shape[1] for part in parts)
    return Lazy(partial(_stacked, parts), len(parts[0]), columns)


# Not closures: processes are sent these by name.
def _rows(values: np.ndarray, start: int, stop: int) -> np.ndarray:
    return values[start:stop]


def _mapped(values: Lazy, function: Callable, lost: int, start: int, stop: int) -> np.ndarray:
    return function(values.read(start, stop + lost))


def _stacked(parts: tuple, start: int, stop: int) -> np.ndarray:
    return np.hstack([np.asarray(part[start:stop]) for part in parts])


# --- what is stored -----------------------------------------------------------------------------


def is_stored(data: Any) -> bool:
    """Whether rows of ``data`` lie elsewhere and are read by slicing it."""
    if isinstance(data, np.ndarray):
        return _map_of(data) is not None
    # What can be handed over without copying is in memory already, as arrays of JAX and PyTorch.
    if hasattr(data, "__dlpack__") or hasattr(data, "tocsr") or hasattr(data, "to_numpy"):
        return False
    return all(hasattr(data, name) for name in ("shape", "dtype", "ndim", "__getitem__"))


def is_long(*data: Any) -> bool:
    """Whether any of these is stored, and too long to be read at once."""
    return any(is_stored(one) and _nbytes(one) > SMALL for one in data)


def _nbytes(data: Any) -> int:
    """Memory that stored data would take as 64-bit floats."""
    return 8 * math.prod(map(int, data.shape))


def loaded(data: Any, argument: str) -> Any:
    """Stored data that are small as an array, and anything else as it is; raise for long ones."""
    if not is_stored(data) or isinstance(data, np.ndarray):  # pages of a map come and go
        return data
    if _nbytes(data) > SMALL:
        raise ValueError(
            f"{argument} is a {type(data).__name__} of shape {tuple(data.shape)}, "
            f"{_nbytes(data) / 2**20:,.0f} MiB as 64-bit floats, and here all of it is needed in "
            f"memory. Give a part of it, or load it yourself: np.asarray({argument})."
        )
    return np.asarray(data if hasattr(data, "__array__") else data[0 : data.shape[0]])


class _Pieces(OrderedDict):
    """Rows that are read in pieces, of which the latest are kept, by their numbers.

    ``starts`` are the rows that pieces begin with, and ``most`` is how many are kept. One thread
    reads at a time, as HDF5 needs it.
    """

    def __init__(
        self, read: Callable[[int], np.ndarray], starts: np.ndarray, columns: int, most: int
    ):
        self._read, self._starts, self._columns, self._most = read, starts, columns, most
        self._lock = Lock()

    def rows(self, start: int, stop: int) -> np.ndarray:
        """The rows ``start … stop`` as ``(rows, columns)``; a view if they lie in one piece."""
        rows, done = np.empty((max(stop - start, 0), self._columns)), 0
        number = int(np.searchsorted(self._starts, start, side="right")) - 1
        while done < len(rows):
            low = start + done - self._starts[number]
            part = self._piece(number)[low : low + len(rows) - done]
            if len(part) == len(rows):
                return part
            rows[done : done + len(part)] = part
            number, done = number + 1, done + len(part)
        return rows

    def _piece(self, number: int) -> np.ndarray:
        with self._lock:
            if number not in self:
                found = self._read(number)
                while len(self) >= self._most:
                    self.popitem(last=False)
                self[number] = found
            self.move_to_end(number)
            return self[number]


class BlockReader:
    """Reads stored ``data (T,)`` or ``(T, columns)`` in aligned blocks and keeps the latest."""

    def __init__(self, data: Any, argument: str):
        self.data = data = _opened(*data) if isinstance(data, tuple) else data
        self.rows, self.columns = int(data.shape[0]), int(data.shape[1]) if data.ndim > 1 else 1
        self.argument, self.size = argument, self._block_rows(argument)
        # Two at least: rows that are asked for may lie on both sides of an edge.
        most = max(2, REMEMBERED // (8 * self.size * self.columns))
        starts = np.arange(0, self.rows, self.size)
        self._blocks = _Pieces(self._read, starts, self.columns, most)

    def _block_rows(self, argument: str) -> int:
        """Rows of a block: whole chunks of what is stored, where it has chunks."""
        width = 8 * self.columns
        chunks = getattr(self.data, "shards", None) or getattr(self.data, "chunks", None)
        chunk = chunks[0] if chunks else 1
        if not isinstance(chunk, int | np.integer):  # those of Dask are listed one by one
            chunk = max(chunk)
        if chunk * width > MOST:
            raise ValueError(
                f"{argument} is stored in chunks of {chunk} rows, {chunk * width / 2**20:,.0f} MiB "
                f"each as 64-bit floats, and a chunk can only be read in whole. Store it in chunks "
                f"of at most {MOST // width} rows."
            )
        return int(max(1, max(1, BLOCK // width) // chunk) * chunk)

    def read(self, start: int, stop: int) -> np.ndarray:
        """Rows ``start … stop`` as ``(rows, columns)``."""
        return self._blocks.rows(start, stop)

    def _read(self, number: int) -> np.ndarray:
        begin, end = number * self.size, min((number + 1) * self.size, self.rows)
        part = self.data[begin:end]
        block = np.array(part, dtype=float, order="C").reshape(end - begin, self.columns)
        block.flags.writeable = False
        _let_go(part)
        return block

    def __reduce__(self) -> tuple:
        mapped_file = _map_of(self.data)
        data = self.data if mapped_file is None else _place_of(self.data, mapped_file)
        return BlockReader, (data, self.argument)


def _map_of(data: Any) -> mmap.mmap | None:
    """The memory map that an array is a view of, if it is one."""
    found = getattr(data, "_mmap", None) if isinstance(data, np.memmap) else None
    return found if isinstance(found, mmap.mmap) else None


def _let_go(part: Any) -> None:
    """Have the pages of a map no longer count as memory of this process.

    The file is the same afterwards, and the system's own copy of the pages stays as long as there
    is room. Pages that are private, of mode "c", hold changes that would be lost.
    """
    found = _map_of(part)
    if found is not None and part.mode != "c" and hasattr(mmap, "MADV_DONTNEED"):
        found.madvise(mmap.MADV_DONTNEED)


def _place_of(data: Any, found: mmap.mmap) -> tuple:
    """Where an array of a map lies in its file, so that another process can open it."""
    if data.filename is None or data.mode == "c":
        raise TypeError(
            "a memory map without a file name, or of mode 'c', cannot be sent to another process. "
            "Open it by its path with mode='r', or search with threads (n_jobs)."
        )
    base = np.frombuffer(found, dtype=np.uint8).__array_interface__["data"][0]
    low, high = np.lib.array_utils.byte_bounds(data)
    begins = data.offset - data.offset % mmap.ALLOCATIONGRANULARITY
    inside = data.__array_interface__["data"][0] - low
    lies = str(data.filename), begins + low - base, high - low, inside
    return *lies, data.shape, data.dtype, data.strides


def _opened(path: str, offset: int, size: int, inside: int, shape, dtype, strides) -> np.ndarray:
    """The array that `_place_of` describes."""
    raw = np.memmap(path, np.uint8, "r", offset, (size,))
    return np.ndarray(shape, dtype, raw, inside, strides)


class ParquetColumns:
    """Columns of a Parquet file, to be read as they are needed.

    It stands for ``y`` or ``X`` in `fit`, `cross_validate` and `ESNSearchCV.fit`. A long file is
    never read in whole: a few row groups are in memory at a time. ``np.asarray`` reads it all.

    Parameters
    ----------
    path : str or path
        The file. It must stay as it is while it is used.
    columns : str or list of str
        One name for a ``shape`` of ``(T,)``, a list of names for ``(T, columns)``. The columns
        must hold numbers or booleans; a null is a missing value (NaN).

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

    def __init__(self, path: str | os.PathLike[str], columns: str | Sequence[str]):
        self.path = os.fspath(path)
        self.columns = columns if isinstance(columns, str) else list(columns)
        self.names = (columns,) if isinstance(columns, str) else tuple(columns)
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
        starts = np.append(0, np.cumsum(sizes, dtype=np.int64))
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
        self._groups = _Pieces(self._group, starts, len(self.names), KEPT)

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
        rows = np.array(self._groups.rows(start, stop))  # not a view of what is kept
        return rows[:, 0] if self.ndim == 1 else rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self[:] if dtype is None else self[:].astype(dtype)

    def _group(self, number: int) -> np.ndarray:
        """The rows ``(rows, columns)`` of a row group, NaN for null."""
        table = self._file.read_row_group(number, columns=list(self.names))
        values = np.empty((table.num_rows, len(self.names)))
        for place, name in enumerate(self.names):
            values[:, place] = table.column(name).cast("float64").to_numpy()
        return values

    def __reduce__(self) -> tuple:
        return type(self), (self.path, self.columns)


def _check_columns(schema: Any, names: tuple[str, ...], path: str) -> None:
    """Raise for columns that are not there, or do not hold numbers."""
    from pyarrow import types

    numbers = types.is_integer, types.is_floating, types.is_boolean, types.is_decimal
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
        if not any(test(kind) for test in numbers):
            raise TypeError(
                f"{path} holds {kind} in column {name!r}, but numbers are needed. Encode the "
                "column as numbers or leave it out."
            )
