"""Where the engine runs, and in what precision: 64-bit floats, without touching global settings."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache

GPU_WORTHWHILE = 2_000  # columns advanced together before an accelerator beats the CPU


@contextmanager
def engine(device: str = "cpu"):
    """Run the enclosed JAX code in 64-bit floats on ``device``, with one BLAS thread.

    OpenBLAS with several threads is up to ten times slower than with one for the small
    factorisations made here; JAX calls the same library.
    """
    import jax

    with jax.enable_x64(True), jax.default_device(_find(device)), one_blas_thread():
        yield


def one_blas_thread():
    """Context in which BLAS and LAPACK calls use one thread."""
    return _threadpools().limit(limits=1, user_api="blas")


def resolve(device: str, columns: int) -> str:
    """Decide where to run ``columns`` reservoirs side by side; check that the device exists.

    ``"auto"`` takes an accelerator only for work wide enough to fill it: a step costs 4 to 8 µs
    there however narrow it is.
    """
    if device == "auto":
        import jax

        return jax.default_backend() if columns >= GPU_WORTHWHILE else "cpu"
    _find(device)
    return device


@cache
def _find(device: str):
    """Look a device up by name, as ``"cpu"``, ``"gpu"`` or ``"gpu:1"``."""
    import jax

    platform, _, number = str(device).partition(":")
    try:
        return jax.local_devices(backend=platform)[int(number or 0)]
    except (RuntimeError, IndexError, ValueError):
        found = sorted({f"{d.platform}:{d.id}" for d in jax.local_devices()} | {"cpu:0"})
        raise ValueError(
            f"device={device!r} is not available; JAX sees {', '.join(found)}. Use device='auto' "
            "or 'cpu', or install JAX for that device (for NVIDIA: pip install 'jax[cuda13]')."
        ) from None


@cache
def _threadpools():
    """BLAS libraries of this process; looked up once because the search takes milliseconds."""
    import numpy.linalg  # noqa: F401  (loads NumPy's BLAS)
    import scipy.linalg  # noqa: F401  (loads SciPy's)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
