"""Routines of LAPACK, called so that other threads run meanwhile.

Most of SciPy's own functions hold the interpreter's lock for as long as they take: networks of a
thousand units would be refitted one after the other, whatever the number of threads. These are the
same routines of the same library, by the pointers that SciPy offers to compiled code. Arguments and
results are as of the functions of these names in `scipy.linalg.lapack`; arrays that may be
overwritten are, if their order is Fortran's.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

Array = np.ndarray


def dtpqrt(
    rows: int, nb: int, a: Array, b: Array, overwrite_a: bool = False, overwrite_b: bool = False
) -> tuple[Array, Array, Array, int]:  # fmt: skip
    """QR of the triangle ``a`` above ``b``, of which the last ``rows`` are a trapezoid."""
    a, b = _own(a, overwrite_a), _own(b, overwrite_b)
    (m, n), t = b.shape, np.zeros((nb, a.shape[1]), order="F")
    sizes = m, n, rows, nb, a, max(1, len(a)), b, max(1, m)
    info = _call("dtpqrt", *sizes, t, nb, np.empty(nb * n))
    return a, b, t, info


def dtpmqrt(
    rows: int, v: Array, t: Array, a: Array, b: Array, side: str = "L", trans: str = "N",
    overwrite_a: bool = False, overwrite_b: bool = False,
) -> tuple[Array, Array, int]:  # fmt: skip
    """What `dtpqrt` did, or its transpose, done to ``a`` above ``b``, from the left."""
    a, b = _own(a, overwrite_a), _own(b, overwrite_b)
    (m, n), nb = b.shape, len(t)
    info = _call(
        "dtpmqrt", side, trans, m, n, v.shape[1], rows, nb, v, max(1, len(v)), t, nb, a,
        max(1, len(a)), b, max(1, m), np.empty(max(1, nb * n)),
    )  # fmt: skip
    return a, b, info


def stacked(
    rows: int, nb: int, a: Array, b: Array, top: Array, below: Array
) -> tuple[Array, Array]:
    """R of the triangle ``a`` above ``b``, and what its reflections leave of ``top``.

    That stands above ``below``; ``a`` and ``top`` may be overwritten.
    """
    R, v, t, _ = dtpqrt(rows, nb, a, b, overwrite_a=True)
    return R, dtpmqrt(rows, v, t, top, below, trans="T", overwrite_a=True)[0]


def dtrtrs(
    a: Array, b: Array, lower: int = 0, trans: int = 0, overwrite_b: bool = False
) -> tuple[Array, int]:
    """The solution of ``a x = b``, or of its transpose, for a triangle; 0 if there is one."""
    a, b = np.asfortranarray(a, dtype=float), _own(b, overwrite_b)
    n, columns = len(a), 1 if b.ndim == 1 else b.shape[1]
    places = "UL"[bool(lower)], "NT"[bool(trans)], "N"
    info = _call("dtrtrs", *places, n, columns, a, max(1, n), b, max(1, n))
    return b, info


def solve_triangular(a: Array, b: Array, lower: bool = False, trans: int = 0) -> Array:
    """``a⁻¹ b`` of a triangle; an error where it is singular."""
    if not a.flags.f_contiguous:  # its transpose is, without a copy
        a, lower, trans = a.T, not lower, not trans
    x, info = dtrtrs(a, b, lower, trans)
    if info:
        raise np.linalg.LinAlgError(f"row {info} of a triangle has no number on its diagonal")
    return x


def _own(array: Array, overwrite: bool) -> Array:
    """The array in Fortran's order, a copy unless it may be overwritten."""
    return np.array(array, dtype=float, order="F", copy=None if overwrite else True)


def _call(name: str, *args: Any) -> int:
    """Call a routine; arrays are changed in place. What it says of its success is given back."""
    info = ctypes.c_int()
    given: list[Any] = []
    for one in args:
        if isinstance(one, np.ndarray):
            given.append(one.ctypes.data)
        elif isinstance(one, str):
            given.append(ctypes.c_char_p(one.encode()))
        else:
            given.append(ctypes.byref(ctypes.c_int(one)))
    _routine(name)(*given, ctypes.byref(info))
    if info.value < 0:
        raise ValueError(f"argument {-info.value} of LAPACK's {name} is not allowed")
    return info.value


@cache
def _routine(name: str) -> Any:
    """A routine by its name."""
    from scipy.linalg import cython_lapack

    capsule, api = cython_lapack.__pyx_capi__[name], ctypes.pythonapi
    name_of, pointer_of = api.PyCapsule_GetName, api.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    signature = name_of(capsule)  # "void (char *, int *, …)"
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (signature.count(b",") + 1))
    return kind(pointer_of(capsule, signature))
