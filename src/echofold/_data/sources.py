"""Where long data are read from: memory-mapped files, Zarr, HDF5, Parquet; a block at a time.

Anything with ``shape``, ``dtype`` and ``ndim`` of which ``[a:b]`` gives rows can be read so. What
is small is read at once, as an array would be.
"""

from __future__ import annotations

import mmap
from collections import OrderedDict
from threading import Lock
from typing import Any

import numpy as np

from echofold._data.lazy import Lazy

SMALL = 2**26  # bytes, as 64-bit floats, up to which stored data are simply read
BLOCK = 2**22  # bytes that are read at a time
MOST = 2**28  # bytes of one chunk of what is stored: it can only be read in whole
REMEMBERED = 2**24  # bytes of the latest blocks that are kept: inputs and targets follow each other


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
    return any(is_stored(one) and bytes_of(one) > SMALL for one in data)


def bytes_of(data: Any) -> int:
    """Memory that stored data would take as 64-bit floats."""
    size = 8
    for length in data.shape:
        size *= int(length)
    return size


def loaded(data: Any, argument: str) -> Any:
    """Stored data that are small as an array, and anything else as it is; raise for long ones.

    A memory map is an array already, whose pages come and go.
    """
    if not is_stored(data) or isinstance(data, np.ndarray):
        return data
    if bytes_of(data) > SMALL:
        raise ValueError(
            f"{argument} is a {type(data).__name__} of shape {tuple(data.shape)}, "
            f"{bytes_of(data) / 2**20:,.0f} MiB as 64-bit floats, and here all of it is needed in "
            f"memory. Give a part of it, or load it yourself: np.asarray({argument})."
        )
    if hasattr(data, "__array__"):
        return np.asarray(data)
    return np.asarray(data[0 : data.shape[0]])


def lazy(data: Any, argument: str) -> Lazy:
    """Rows ``(T, columns)`` of stored data, of which a few blocks are in memory at a time."""
    source = Source(data, argument)
    return Lazy(source.read, source.rows, source.columns)


class Source:
    """Reads stored ``data (T,)`` or ``(T, columns)`` in aligned blocks and keeps the latest."""

    def __init__(self, data: Any, argument: str):
        self.data = data
        self.rows, self.columns = int(data.shape[0]), int(data.shape[1]) if data.ndim > 1 else 1
        self.size = self._block_rows(argument)
        self._start()

    def _start(self) -> None:
        """Keep nothing so far."""
        self._blocks: OrderedDict[int, np.ndarray] = OrderedDict()
        self._lock = Lock()  # a file of HDF5, say, cannot be read by two threads at once

    def _block_rows(self, argument: str) -> int:
        """Rows of a block: whole chunks of what is stored, where it has chunks."""
        width = 8 * self.columns
        rows = max(1, BLOCK // width)
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
        return int(max(1, rows // chunk) * chunk)

    def read(self, start: int, stop: int) -> np.ndarray:
        """Rows ``start … stop`` as ``(rows, columns)``."""
        if start >= stop:
            return np.zeros((0, self.columns))
        first, last = start // self.size, (stop - 1) // self.size
        if first == last:
            return self._block(first)[start - first * self.size : stop - first * self.size]
        rows, done = np.empty((stop - start, self.columns)), 0
        for number in range(first, last + 1):
            begin = number * self.size
            part = self._block(number)[max(start - begin, 0) : stop - begin]
            rows[done : done + len(part)] = part
            done += len(part)
        return rows

    def _block(self, number: int) -> np.ndarray:
        """A block, read unless it is one of the latest."""
        with self._lock:
            if number not in self._blocks:
                begin = number * self.size
                block = self._read(begin, min(begin + self.size, self.rows))
                # Two at least: rows that are asked for may lie on both sides of an edge.
                while len(self._blocks) >= max(2, REMEMBERED // (8 * self.size * self.columns)):
                    self._blocks.popitem(last=False)
                self._blocks[number] = block
            self._blocks.move_to_end(number)
            return self._blocks[number]

    def _read(self, begin: int, end: int) -> np.ndarray:
        part = self.data[begin:end]
        block = np.array(part, dtype=float, order="C").reshape(end - begin, self.columns)
        block.flags.writeable = False
        if isinstance(part, np.ndarray):
            _let_go(part)
        return block

    def __getstate__(self) -> dict[str, Any]:
        data = _place_of(self.data) if _map_of(self.data) is not None else self.data
        return {"data": data, "rows": self.rows, "columns": self.columns, "size": self.size}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(self.data, tuple):
            self.data = _opened(*self.data)
        self._start()


def _map_of(data: Any) -> mmap.mmap | None:
    """The memory map that an array is a view of, if it is one."""
    found = getattr(data, "_mmap", None) if isinstance(data, np.memmap) else None
    return found if isinstance(found, mmap.mmap) else None


def _span(part: np.ndarray, of: mmap.mmap) -> tuple[int, int]:
    """First and last byte of an array, inside of the map that it is a view of."""
    base = np.frombuffer(of, dtype=np.uint8).__array_interface__["data"][0]
    low, high = np.lib.array_utils.byte_bounds(part)
    return low - base, high - base


def _let_go(part: np.ndarray) -> None:
    """Have the pages of a map that were read no longer count as memory of this process.

    The file is the same afterwards, and the system's own copy of the pages stays as long as there
    is room. Pages that are private, of mode "c", hold changes that would be lost.
    """
    found = _map_of(part)
    if found is None or part.mode == "c" or not hasattr(mmap, "MADV_DONTNEED"):  # type: ignore[attr-defined]
        return
    low, high = _span(part, found)
    low -= low % mmap.PAGESIZE
    if high > low:
        found.madvise(mmap.MADV_DONTNEED, low, min(high, len(found)) - low)


def _place_of(data: Any) -> tuple:
    """Where a mapped array lies in its file, so that another process can open it."""
    found = _map_of(data)
    assert found is not None
    if data.filename is None or data.mode == "c":
        raise TypeError(
            "a memory map without a file name, or of mode 'c', cannot be sent to another process. "
            "Open it by its path with mode='r', or search with threads (n_jobs)."
        )
    low, high = _span(data, found)
    begins = data.offset - data.offset % mmap.ALLOCATIONGRANULARITY
    address = data.__array_interface__["data"][0]
    inside = address - np.lib.array_utils.byte_bounds(data)[0]
    return (
        str(data.filename),
        begins + low,
        high - low,
        inside,
        data.shape,
        data.dtype,
        data.strides,
    )


def _opened(path: str, offset: int, size: int, inside: int, shape, dtype, strides) -> np.ndarray:
    """The array that `_place_of` describes."""
    raw = np.memmap(path, np.uint8, "r", offset, (size,))
    return np.ndarray(shape, dtype, raw, inside, strides)
