"""Where the engine runs, and in what precision: 64-bit floats, without touching global settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import cache
from threading import Lock

from echofold._machine.available import available


@contextmanager
def engine(device: str = "cpu"):
    """Run the enclosed JAX code in 64-bit floats on ``device``, with one BLAS thread.

    OpenBLAS with several threads is up to ten times slower than with one for the small
    factorisations made here; JAX calls the same library.
    """
    import jax

    with jax.enable_x64(True), jax.default_device(find(device)), one_blas_thread():
        yield


def accelerated() -> bool:
    """Whether the enclosing `engine` runs on an accelerator."""
    import jax

    device = getattr(jax.config, "jax_default_device", None)
    return getattr(device, "platform", "cpu") != "cpu"


def is_accelerator(device: str) -> bool:
    """Whether a device by this name is none of the host's processors."""
    return device.partition(":")[0] != "cpu"


def alike(device: str) -> list[str]:
    """The devices that share out a search on ``device``: all of its kind, unless one is named."""
    import jax

    platform, _, number = device.partition(":")
    if number or not is_accelerator(device):
        return [device]
    return [f"{platform}:{place}" for place in range(len(jax.local_devices(backend=platform)))]


def memory_of(device: str) -> int:
    """Bytes of a device that are free, as far as it tells; those of the host for a processor."""
    tells = find(device).memory_stats() if is_accelerator(device) else None
    if not tells or "bytes_limit" not in tells:
        return available()
    return int(tells["bytes_limit"] - tells.get("bytes_in_use", 0))


class _Counted:
    """A limit of one thread for the whole process: the first to come sets it, the last lifts it.

    Were the number of threads put back by everyone who leaves, whoever came second would put back
    the one thread found on coming. Inside, coming and going cost a lock.
    """

    def __init__(self):
        self._lock = Lock()
        self._inside = 0

    def __enter__(self):
        with self._lock:
            if not self._inside:
                self._limit = _threadpools()[0].limit(limits=1, user_api="blas")
                _release()
            self._inside += 1

    def __exit__(self, *_):
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.restore_original_limits()
                _release()


def _release() -> None:
    """Let other threads change the limit too; threadpoolctl 3.8 allows only the first that did."""
    for library in _threadpools()[0].lib_controllers:
        getattr(library, "clear_controlling_thread", lambda: None)()


_COUNTED = _Counted()


@contextmanager
def one_blas_thread():
    """Context in which BLAS and LAPACK calls use one thread."""
    _, apart = _threadpools()
    with _COUNTED, apart.limit(limits=1, user_api="blas") if apart else nullcontext():
        yield


def in_threads(work: Callable, items: Sequence) -> list:
    """``work`` of every item, by threads of the host with one BLAS thread each."""
    if len(items) <= 1:
        return [work(item) for item in items]
    with one_blas_thread(), ThreadPoolExecutor(min(len(items), os.cpu_count() or 1)) as pool:
        return list(pool.map(work, items))


@cache
def find(device: str):
    """Look a device up by name, as ``"cpu"``, ``"gpu"`` or ``"gpu:1"``."""
    import jax

    platform, _, number = str(device).partition(":")
    try:
        return jax.local_devices(backend=platform)[int(number or 0)]
    except (RuntimeError, IndexError, ValueError):
        names = sorted({f"{d.platform}:{d.id}" for d in jax.local_devices()} | {"cpu:0"})
        raise ValueError(
            f"device={device!r} is not available; JAX sees {', '.join(names)}. Use device='auto' "
            "or 'cpu', or install JAX for that device (for NVIDIA: pip install 'jax[cuda13]')."
        ) from None


@cache
def _threadpools():
    """BLAS libraries with one limit for the process, and those with one a thread, if any.

    Looked up once because the search takes milliseconds.
    """
    import numpy.linalg  # noqa: F401  (loads NumPy's BLAS)
    import scipy.linalg  # noqa: F401  (loads SciPy's)
    from threadpoolctl import ThreadpoolController

    blas = ThreadpoolController().select(user_api="blas")
    shared = [
        library.filepath
        for library in blas.lib_controllers
        if library.internal_api == "openblas" and library.threading_layer != "openmp"
    ]
    apart = [one.filepath for one in blas.lib_controllers if one.filepath not in shared]
    return blas.select(filepath=shared), blas.select(filepath=apart) if apart else None
