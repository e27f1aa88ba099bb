"""Rows that are read, or made of others, when they are asked for: series longer than memory.

A `Lazy` takes the place of an array ``(rows, columns)`` in a `Problem`. Slices of it are views, as
those of NumPy are; numbers of rows, and ``np.asarray`` of a view, read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

AT_ONCE = 2**26  # bytes that become an array: whoever asks for more has forgotten to go in blocks,
FEW_ROWS = 2**13  # unless rows are few, and wide
BLOCK_ROWS = 2**15  # rows looked at together on the way over all of them


class Lazy:
    """Rows ``(rows, columns)`` of 64-bit floats; ``read(start, stop)`` gives some of them.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Lazy.of(np.arange(10.0)[:, None])
    >>> rows[2:5].shape, np.asarray(rows[2:5])[:, 0], rows[[7, 3]][:, 0]
    ((3, 1), array([2., 3., 4.]), array([7., 3.]))
    """

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

    def mapped(self, function: Callable[[np.ndarray], np.ndarray], lost: int = 0) -> Lazy:
        """Rows that ``function`` makes; it leaves out the first ``lost`` of those that it gets."""
        return Lazy(partial(_mapped, self, function, lost), len(self) - lost, self.shape[1])

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
    """``function`` of rows, now or when they are asked for; see `Lazy.mapped`."""
    return values.mapped(function, lost) if isinstance(values, Lazy) else function(values)


def beside(*parts: Any) -> Any:
    """Columns of several arrays, or rows that are read, side by side."""
    if not any(isinstance(part, Lazy) for part in parts):
        return np.hstack(parts)
    columns = sum(part.shape[1] for part in parts)
    return Lazy(partial(_beside, parts), len(parts[0]), columns)


def first_row(values: Lazy, found: Callable[[np.ndarray], np.ndarray]) -> tuple[int, int]:
    """Row and column of the first value of which ``found`` is true; there is one."""
    for start, block in values.blocks():
        places = np.argwhere(found(block))
        if len(places):
            return start + int(places[0, 0]), int(places[0, 1])
    raise LookupError("there is no such value")


# Not closures: processes are sent these by name.
def _rows(values: np.ndarray, start: int, stop: int) -> np.ndarray:
    return values[start:stop]


def _mapped(values: Lazy, function: Callable, lost: int, start: int, stop: int) -> np.ndarray:
    return function(values.read(start, stop + lost))


def _beside(parts: tuple, start: int, stop: int) -> np.ndarray:
    return np.hstack([np.asarray(part[start:stop]) for part in parts])
