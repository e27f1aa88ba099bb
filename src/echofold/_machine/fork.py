"""Forked processes, in which JAX would wait for ever for threads that the fork left behind.

A fork copies one thread. Once JAX has begun to run, its pool of threads is missing in the copy, and
the first computation there never ends. Processes that are spawned start JAX themselves.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any

REMEDY = (
    "ProcessPoolExecutor(mp_context=multiprocessing.get_context('spawn')), in a script behind "
    "if __name__ == '__main__'"
)
_forked_from: int | None = None  # the process in which JAX was running when this one was forked


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
