"""Arrays of NumPy and of JAX by one text, and few shapes for many lengths.

JAX compiles a program for every shape that it meets. What is small is done by NumPy alone, so JAX
is imported when it is first used, by the names `jax`, `jnp` and `lax` of here.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

SHORTEST = 8  # lengths up to this many steps run as one shape


class _Lazy:
    """A module that is imported when one of its names is first asked for."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        with _uninterrupted():
            value = getattr(import_module(self._name), name)
        with _lock:
            while _waiting:
                _waiting.pop()()
        setattr(self, name, value)
        return value


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put a Ctrl-C off to the end: in the middle of JAX's libraries it would kill the process."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield  # it is not Python's, or does not arrive here
        return
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        signal.raise_signal(heard[0])


_waiting: list[Callable[[], object]] = []
_lock = threading.RLock()


def once_imported(tell: Callable[[], object]) -> None:
    """Tell JAX something before it is used here: when it is imported, or now if it was."""
    if vars(jax).keys() - {"_name"}:
        tell()
    else:
        _waiting.append(tell)


if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp
    from jax import lax
else:
    jax, jnp, lax = map(_Lazy, ("jax", "jax.numpy", "jax.lax"))


def few_lengths(steps: int, shortest: int = SHORTEST, bits: int = 3) -> int:
    """``steps`` rounded up to one of few numbers, because each is compiled once.

    The first ``bits`` of it are kept: the work grows by a quarter at most, beyond the shortest, or
    by a sixteenth with five.

    Examples
    --------
    >>> [few_lengths(n) for n in (1, 8, 33, 100, 1000)]
    [8, 8, 40, 112, 1024]
    """
    grain = max(shortest, 1 << max(steps.bit_length() - bits, 0))
    return -(-steps // grain) * grain


def equal_parts(count: int, most: int) -> Iterator[tuple[int, slice]]:
    """Consecutive parts of ``count`` things, all equally large because each size is compiled once.

    The last may overlap the one before: by how many is told beside each.

    Examples
    --------
    >>> list(equal_parts(5, 3))
    [(0, slice(0, 3, None)), (1, slice(2, 5, None))]
    """
    size = -(-count // -(-count // most))
    for first in range(0, count, size):
        begin = min(first, count - size)
        yield first - begin, slice(begin, begin + size)


def pad_rows(rows, size: int):
    """``rows`` followed by zeros up to ``size``."""
    if len(rows) == size:
        return np.asarray(rows)
    padded = np.zeros((size, *np.shape(rows)[1:]), dtype=np.asarray(rows).dtype)
    padded[: len(rows)] = rows
    return padded


def namespace(array: Any) -> Any:
    """NumPy for its arrays, `jax.numpy` for all others."""
    return np if isinstance(array, np.ndarray) else jnp


def of_each(function: Callable, *trees: Any) -> Any:
    """``function`` of every array in trees of dicts, tuples and lists, as `jax.tree.map`."""
    first = trees[0]
    if isinstance(first, np.ndarray):  # most are, in loops of small steps
        return function(*trees)
    if isinstance(first, dict):
        return {name: of_each(function, *(tree[name] for tree in trees)) for name in first}
    if isinstance(first, tuple):
        each = (of_each(function, *parts) for parts in zip(*trees, strict=True))
        return type(first)(*each) if hasattr(first, "_fields") else tuple(each)
    if isinstance(first, list):
        return [of_each(function, *parts) for parts in zip(*trees, strict=True)]
    return None if first is None else function(*trees)
