"""How much memory this process could still use, and results kept up to a number of bytes.

The machine, its container and the process's own limit bound it.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from functools import wraps
from pathlib import Path, PurePosixPath
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


SURELY_THERE = 2**27  # bytes that are not worth a look at what is free
UNTOLD = 2**31  # bytes taken for free where the system does not tell, as on Windows


def available(root: str | Path = "/") -> int:
    """Bytes of memory that this process could still use; system files are those under ``root``."""
    root = Path(root)
    return max(0, min([_machine(root), *_containers(root), *_own_limit(root)]))


def check_room(needed: float, what: str, remedy: str) -> None:
    """Raise for what would take more memory than there is, before any of it is taken."""
    if needed <= SURELY_THERE or needed <= available():
        return
    raise ValueError(
        f"{what} needs at least {needed / 2**30:,.1f} GiB of memory, and "
        f"{available() / 2**30:,.1f} GiB are free. Use {remedy}."
    )


def _machine(root: Path) -> int:
    """Free memory of the machine, or half of all where only that is known."""
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return UNTOLD


def _containers(root: Path) -> Iterator[int]:
    """What the control groups of this process still allow, and those that these are part of.

    A line is ``0::/path`` (version 2) or ``4:memory:/path`` (version 1). Inside a container the
    path may be the host's; its own group is then the root of what it sees.
    """
    for line in _lines(root / "proc/self/cgroup"):
        number, controllers, path = line.split(":", 2)
        names = [part for part in PurePosixPath(path).parts if part not in ("/", "..")]
        if number == "0" and not controllers:
            base, limit, used = "sys/fs/cgroup", "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            base, limit = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
            used = "memory.usage_in_bytes"
        else:
            continue
        for depth in range(len(names) + 1):
            group = root.joinpath(base, *names[:depth])
            most, taken = _number(group / limit), _number(group / used)
            if most is not None and taken is not None:
                yield most - taken + _reclaimable(group)


def _reclaimable(group: Path) -> int:
    """Bytes of files that were read and may be dropped; the group's use counts them."""
    counters = {}
    for line in _lines(group / "memory.stat"):
        name, _, value = line.partition(" ")
        counters[name] = value
    # Version 1 has its own files first, and those with the groups below under "total".
    return int(counters.get("total_inactive_file", counters.get("inactive_file", 0)))


def _own_limit(root: Path) -> Iterator[int]:
    """What is left of the address space where it is limited (``ulimit -v``)."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            for line in _lines(root / "proc/self/statm"):
                yield most - int(line.split()[0]) * resource.getpagesize()
    except (ImportError, AttributeError, OSError, ValueError):
        return


def _number(path: Path) -> int | None:
    """The number in a file; None if there is none, or "max"."""
    for line in _lines(path):
        if line.isdigit():
            return int(line)
    return None


def _lines(path: Path) -> list[str]:
    """Lines of a file that may not be there."""
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []
