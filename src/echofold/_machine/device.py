"""Where work is done: which device, by what the work would take there, and in what precision.

The engine computes in 64-bit floats, without touching global settings. Work that is over before a
compiler would be is done by NumPy, as if on a device of its own (`EAGER`): the same text, run step
by step.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import cache
from threading import Lock, local
from typing import NamedTuple

import numpy as np

from echofold._machine.arrays import jax
from echofold._machine.available import available
from echofold._machine.notices import warn_of

LEAST = 2**28  # bytes free, without which the libraries of a card end the process
LITTLE = 2**31  # bytes free, below which any trouble of a device is that of its memory
# What JAX says when the memory of a device is full: of arrays, or of a library that needs some.
SIGNS_OF_FULL = (
    "RESOURCE_EXHAUSTED", "out of memory", "OUT_OF_MEMORY", "solverDnCreate", "cublasCreate",
    "Failed to allocate", "failed to create cublas", "Failed to initialize BLAS",
    "DNN library initialization failed",
)  # fmt: skip


EAGER = "cpu:eager"  # the processor without programs, which no user can ask for


class _Engine(local):
    """The enclosing `engine` of a thread, and whether it runs without programs.

    ``work`` is what `programs.side_by_side` does if a program of it may be missing;
    ``rehearsing`` tells whether it is gone through for these alone.
    """

    device = "cpu"
    eager = False
    work: Callable[[], object] | None = None
    rehearsing = False


here = _Engine()


class DeviceFull(MemoryError):
    """The memory of an accelerator does not suffice."""

    def __init__(self, device: str):
        super().__init__(
            f"device={device!r}: its memory is full, with {memory_of(device) / 2**20:,.0f} MiB "
            "free. Another process may hold it (nvidia-smi shows which): end that one, or use "
            "device='cpu', fewer units, or memory='pieces'."
        )


@contextmanager
def engine(device: str = "cpu"):
    """Run the enclosed JAX code in 64-bit floats on ``device``, with one BLAS thread.

    Products of 32-bit floats, where states are driven in these, are made of all of their bits.

    OpenBLAS with several threads is up to ten times slower than with one for the small
    factorisations made here; JAX calls the same library. Raises `DeviceFull` where a device says
    in its own words that its memory is.
    """
    before = here.eager, here.device
    here.eager, here.device = device == EAGER, device
    try:
        if here.eager:
            with one_blas_thread():
                yield
            return
        with (
            jax.enable_x64(True),
            jax.default_matmul_precision("highest"),
            jax.default_device(find(device)),
            one_blas_thread(),
        ):
            yield
    except Exception as error:
        if is_accelerator(device) and isinstance(error, jax.errors.JaxRuntimeError):
            told = any(words in str(error) for words in SIGNS_OF_FULL)
            if told or memory_of(device) < LITTLE:
                raise DeviceFull(device) from error
        raise
    finally:
        here.eager, here.device = before


@cache
def is_usable(device: str) -> bool:
    """Whether an accelerator has memory left for its libraries: others may hold all of it."""
    left = _left_on_card(device)  # where libraries keep their own
    return memory_of(device) >= LEAST and (left is None or left >= LEAST)


def accelerated() -> bool:
    """Whether the enclosing `engine` runs on an accelerator."""
    if here.eager:
        return False
    device = getattr(jax.config, "jax_default_device", None)
    return getattr(device, "platform", "cpu") != "cpu"


def is_accelerator(device: str) -> bool:
    """Whether a device by this name is none of the host's processors."""
    return device.partition(":")[0] != "cpu"


def peers(device: str) -> list[str]:
    """The devices that share out a search on ``device``: all of its kind, unless one is named."""
    platform, _, number = device.partition(":")
    if number or not is_accelerator(device):
        return [device]
    return [f"{platform}:{place}" for place in range(len(jax.local_devices(backend=platform)))]


def memory_of(device: str) -> int:
    """Bytes of a device that are free, as far as it tells; those of the host for a processor."""
    tells = find(device).memory_stats() if is_accelerator(device) else None
    if not tells or "bytes_limit" not in tells:
        return available()
    used = tells.get("bytes_in_use", 0)
    free = int(tells["bytes_limit"] - used)
    # JAX does not know what other processes hold of what it has not taken yet.
    left = _left_on_card(device)
    if left is None:
        return free
    return min(free, int(max(tells.get("pool_bytes", 0) - used, 0)) + left)


def _left_on_card(device: str) -> int | None:
    """Bytes of an NVIDIA card that no process has taken; None where its driver is not there."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    card, context = ctypes.c_int(), ctypes.c_void_p()
    left, whole = ctypes.c_size_t(), ctypes.c_size_t()
    place = find(device).local_hardware_id or 0
    if cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(card), place):
        return None
    if cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), card):
        return None
    cuda.cuCtxPushCurrent_v2(context)
    failed = cuda.cuMemGetInfo_v2(ctypes.byref(left), ctypes.byref(whole))
    cuda.cuCtxPopCurrent_v2(ctypes.byref(context))
    cuda.cuDevicePrimaryCtxRelease_v2(card)
    return None if failed else int(left.value)


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


def in_threads(work: Callable, items: Sequence, threads: int | None = None) -> Iterable:
    """``work`` of every item, by threads of the host with one BLAS thread each.

    As many as there are cores, or so many; one after the other by one.
    """
    count = min(len(items), threads or os.cpu_count() or 1)
    if count <= 1:
        return map(work, items)
    with one_blas_thread(), ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, items))


@cache
def find(device: str):
    """Look a device up by name, as ``"cpu"``, ``"gpu"`` or ``"gpu:1"``."""
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


# Seconds are rough, of one thread of a processor and of a data-centre GPU after compilation. They
# need to be right to a factor of a few only; ``benchmarks/device.py`` measures both.
WORTH_IT = 2.0  # seconds that an accelerator must save: loading its programs takes about as long
STEP = 7e-6  # seconds for a step of an accelerator, however narrow
UNIT, SQUARE = 2e-9, 4e-11  # seconds for a unit, and for its square, of a step on a processor
FASTER = 500.0  # times that an accelerator does large products faster than one thread
CALLS, EACH = 1e-5, 1.2e-8  # seconds that NumPy takes longer for a step, and for a unit of it
COMPILING = 0.2  # seconds that it may take longer in all: the programs of a small fit take as long


class Work(NamedTuple):
    """Steps of reservoirs side by side, in a row, and seconds of algebra on a processor.

    ``eager`` tells whether NumPy can do these steps.
    """

    steps: int = 1
    columns: int = 1
    units: int = 1
    algebra: float = 0.0
    eager: bool = False

    @property
    def on_processor(self) -> float:
        """Estimated seconds on one thread."""
        each = UNIT * self.units + SQUARE * self.units**2
        return self.steps * self.columns * each + self.algebra

    @property
    def longer(self) -> float:
        """Estimated seconds that NumPy takes longer on one thread."""
        return self.steps * (CALLS + EACH * self.columns * self.units) if self.eager else np.inf

    @property
    def on_accelerator(self) -> float:
        """Estimated seconds on an accelerator."""
        return self.steps * STEP + self.on_processor / FASTER


def choose_device(device: str, *work: Work) -> str:
    """The device that ``"auto"`` stands for, or ``device`` itself, checked to be there.

    On the processor, work that is known to be small is done without programs.
    """
    processor = EAGER if work and sum(one.longer for one in work) <= COMPILING else "cpu"
    if device == "cpu":
        return processor
    if device != "auto":
        find(device)
        if is_accelerator(device) and not is_usable(device):
            raise DeviceFull(device)
        return device
    if sum(one.on_processor - one.on_accelerator for one in work) < WORTH_IT:
        return processor  # without asking JAX, which starts it: no process could be forked then
    best = jax.default_backend()
    if is_accelerator(best) and not is_usable(best):
        warn_of([f"The memory of device {best!r} is full, so the work is done on the processor."])
        return "cpu"
    return best
