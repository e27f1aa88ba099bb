"""What is available to this process: memory that is free, results kept in it, threads to compute.

The machine, its container and the process's own limit bound its memory. A process that was forked
has lost its threads: JAX would wait for ever for them.
"""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import wraps
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Any

MOST_BYTES = 2**26  # bytes kept by each function
SURELY_THERE = 2**27  # bytes that are not worth a look at what is free
UNTOLD = 2**31  # bytes taken for free where the system does not tell, as on Windows
REMEDY = (
    "ProcessPoolExecutor(mp_context=multiprocessing.get_context('spawn')), in a script behind "
    "if __name__ == '__main__'"
)
_forked_from: int | None = None  # the process in which JAX was running when this one was forked


def remembered(size: Callable[[Any], int]) -> Callable:
    """Keep the latest results of a function, `MOST_BYTES` by ``size`` or one result if larger."""

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


# --- memory ---------------------------------------------------------------------------------------


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
            base = "sys/fs/cgroup/memory"
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        for depth in range(len(names) + 1):
            group = root.joinpath(base, *names[:depth])
            most, taken = _number(group / limit), _number(group / used)
            if most is not None and taken is not None:
                # Files that were read may be dropped, though the group's use counts them. Version 1
                # has its own first, and those with the groups below under "total".
                told = dict(line.partition(" ")[::2] for line in _lines(group / "memory.stat"))
                files = told.get("total_inactive_file", told.get("inactive_file", 0))
                yield most - taken + int(files)


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
    return next((int(line) for line in _lines(path) if line.isdigit()), None)


def _lines(path: Path) -> list[str]:
    """Lines of a file that may not be there."""
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []


# --- threads --------------------------------------------------------------------------------------


def check_process() -> None:
    """Raise in a process that was forked after JAX had begun to run."""
    if _forked_from is not None:
        raise RuntimeError(
            f"this process (pid {os.getpid()}) was forked from one (pid {_forked_from}) in which "
            "JAX was running already, so that computations would never end here. Start processes "
            f"by spawning, as with {REMEDY}; or fork before anything is computed."
        )


def check_executor(executor: Executor) -> None:
    """Raise for a pool that would fork its workers now, after JAX has begun to run."""
    if not isinstance(executor, ProcessPoolExecutor) or not _running():
        return
    context: Any = getattr(executor, "_mp_context", None)
    started = getattr(executor, "_processes", None)  # earlier, perhaps before JAX: they will say
    if context is not None and context.get_start_method() == "fork" and not started:
        raise ValueError(
            f"executor={executor!r} forks its workers, but JAX has been running in this process, "
            f"and a search in them would never end. Use {REMEDY}."
        )


def _running() -> bool:
    """Whether JAX has started its threads in this process."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    # Read as it is, without JAX's lock: whoever held that in the parent does not exist here.
    return bool(getattr(bridge, "_backends", None))


def _note_fork() -> None:
    global _forked_from
    if _forked_from is None and _running():
        _forked_from = os.getppid()


if hasattr(os, "register_at_fork"):  # where there is a fork at all
    os.register_at_fork(after_in_child=_note_fork)
