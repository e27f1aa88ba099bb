"""Results kept for the next call, up to a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Any

MOST_BYTES = 2**26  # bytes kept by each function


def remembered(size: Callable[[Any], int]) -> Callable:
    """Keep the latest results of a function, `MOST_BYTES` by ``size`` or one result if larger.

    Examples
    --------
    >>> squared = remembered(size=lambda result: 8)(lambda x: x**2)
    >>> squared(3), list(squared.kept)
    (9, [(3,)])
    """

    def decorate(function: Callable) -> Callable:
        kept: OrderedDict[tuple[Hashable, ...], tuple[Any, int]] = OrderedDict()
        lock = Lock()

        @wraps(function)
        def call(*args):
            with lock:
                if args in kept:
                    kept.move_to_end(args)
                    return kept[args][0]
            result = function(*args)
            with lock:
                kept[args] = result, size(result)
                total = sum(bytes_ for _, bytes_ in kept.values())
                while total > MOST_BYTES and len(kept) > 1:
                    total -= kept.popitem(last=False)[1][1]
            return result

        call.kept = kept  # type: ignore[attr-defined]
        return call

    return decorate
