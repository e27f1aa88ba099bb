"""Checks of single values of a model file: their kind, type, shape and range.

Every check takes the name of a value, the value as `contents` decodes it, and the sizes of the
network by name. It raises `ValueError`, and is cheap: it makes no copy of an array.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise
from reprlib import repr as short
from typing import Any, NoReturn

import numpy as np

from echofold._engine.kind import KINDS
from echofold._persistence.contents import CLASS, Parts

Check = Callable[[str, Any, dict[str, int]], None]
DEVICE = re.compile(r"[A-Za-z_]{1,20}(:\d{1,4})?")
PADDED = 2**29  # entries of a sparse W after its rows are made equally long: 6 GB


def refuse(name: str, value: Any, expected: str) -> NoReturn:
    """Raise, saying what was got and what was expected."""
    if isinstance(value, np.ndarray):
        value = f"an array of {value.dtype} and shape {value.shape}"
    elif isinstance(value, Parts):
        value = f"a {value.kind}"
    else:
        value = short(value)
    raise ValueError(f"{name} is {value}, expected {expected}")


# --- scalars ------------------------------------------------------------------------------------


def is_count(value: Any) -> bool:
    """Whether a value is a positive integer of 63 bits."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**63


def is_one_of(value: Any, *words: str) -> bool:
    """Whether a value is one of these words; an array would compare item by item."""
    return isinstance(value, str) and value in words


def number(name: str, value: Any, sizes: dict[str, int]) -> None:
    """A finite number, within what a float or a 64-bit integer holds."""
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**64
    if not whole and not (isinstance(value, float) and math.isfinite(value)):
        refuse(name, value, "a finite number")


def integer(name: str, value: Any, sizes: dict[str, int]) -> None:
    """An integer of any size."""
    if not isinstance(value, int) or isinstance(value, bool):
        refuse(name, value, "an integer")


def count(name: str, value: Any, sizes: dict[str, int]) -> None:
    """A positive integer."""
    if not is_count(value):
        refuse(name, value, "a positive integer")


def word_or_count(name: str, value: Any, sizes: dict[str, int]) -> None:
    """A word, whose meaning is checked elsewhere, or an integer."""
    if not isinstance(value, str):
        number(name, value, sizes)


def optional(check: Check) -> Check:
    """None, or what ``check`` takes."""

    def checked(name: str, value: Any, sizes: dict[str, int]) -> None:
        if value is not None:
            check(name, value, sizes)

    return checked


def of_type(expected: type) -> Check:
    """A value of this very type."""

    def check(name: str, value: Any, sizes: dict[str, int]) -> None:
        if type(value) is not expected:
            refuse(name, value, f"a {expected.__name__}")

    return check


def states(name: str, value: Any, sizes: dict[str, int]) -> None:
    """What a classifier's readout sees of a sequence."""
    if not is_one_of(value, "last", "mean") and not is_count(value):
        refuse(name, value, "'last', 'mean' or a positive integer")


def device(name: str, value: Any, sizes: dict[str, int]) -> None:
    """The name of a device; whether it is there shows when it is used."""
    if not isinstance(value, str) or not DEVICE.fullmatch(value):
        refuse(name, value, "the name of a device, as 'cpu' or 'gpu:1'")


# --- arrays -------------------------------------------------------------------------------------


def numbers(most_axes: int) -> Check:
    """A number (which may be infinite), an array of them, or a list or tuple of such."""

    def check(name: str, value: Any, sizes: dict[str, int], axes: int = most_axes) -> None:
        if axes > 0 and isinstance(value, list | tuple):
            for i, part in enumerate(value):
                check(f"{name}.{i}", part, sizes, axes - 1)
        elif isinstance(value, np.ndarray):
            if value.dtype.kind not in "iuf" or value.ndim > axes:
                refuse(name, value, "numbers")
        elif not isinstance(value, float):
            number(name, value, sizes)

    return check


def floats(*axes: str, finite: bool = True) -> Check:
    """An array of 64-bit floats; its axes have these sizes, at least 1, where they are known."""

    def check(name: str, value: Any, sizes: dict[str, int]) -> None:
        wanted = [sizes.get(axis, axis) for axis in axes]
        if (
            not isinstance(value, np.ndarray)
            or value.dtype != np.float64
            or value.ndim != len(axes)
            or not all(size >= 1 for size in value.shape)
            or any(isinstance(w, int) and w != s for w, s in zip(wanted, value.shape, strict=True))
        ):
            refuse(name, value, f"float64 of shape ({', '.join(map(str, wanted))})")
        if finite and not np.isfinite(value).all():
            refuse(name, value, "finite numbers")

    return check


def sparse(name: str, parts: dict[str, Any], sizes: dict[str, int]) -> None:
    """A sparse matrix whose indices all point inside it; nothing that reads it checks them."""
    if set(parts) != {"data", "indices", "indptr", "shape"}:
        raise ValueError(f"{name} has the parts {short(sorted(parts))}, expected those of a CSR")
    shape = parts["shape"]
    if not isinstance(shape, tuple) or len(shape) != 2 or not all(map(is_count, shape)):
        refuse(f"{name}.shape", shape, "two sizes")
    data, indices, starts = (parts[part] for part in ("data", "indices", "indptr"))
    for part, kinds in (("data", "iuf"), ("indices", "i"), ("indptr", "i")):
        value = parts[part]
        if (
            not isinstance(value, np.ndarray)
            or value.ndim != 1
            or value.dtype.kind not in kinds
            or not value.dtype.isnative
            or (kinds == "i" and value.dtype.itemsize < 4)
        ):
            refuse(f"{name}.{part}", value, "one axis of numbers, 32- or 64-bit for indices")
    if len(indices) != len(data) or len(starts) != shape[0] + 1:
        raise ValueError(
            f"{name} has {len(data)} values, {len(indices)} indices and {len(starts)} pointers "
            f"for shape {shape}"
        )
    if starts[0] != 0 or starts[-1] != len(data) or (starts[1:] < starts[:-1]).any():
        raise ValueError(f"{name}.indptr does not rise from 0 to {len(data)}")
    if len(indices) and (indices.min() < 0 or indices.max() >= shape[1]):
        raise ValueError(f"{name}.indices points outside of {shape[1]} columns")


def given_matrix(name: str, value: Any, sizes: dict[str, int]) -> None:
    """Weights given as a parameter, dense or sparse; the reservoir sees to the rest."""
    if isinstance(value, Parts) and value.kind == "csr":
        sparse(name, value.parts, sizes)
    elif not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf" or not value.size:
        refuse(name, value, "a matrix of numbers")


def stored(*axes: str) -> Check:
    """What a reservoir stores: a number, or an array with these axes, sparse ones included."""

    def check(name: str, value: Any, sizes: dict[str, int]) -> None:
        if not axes:
            number(name, value, sizes)
        elif len(axes) == 2 and isinstance(value, Parts) and value.kind == "csr":
            _sparse_as_run(name, value, (sizes.get(axes[0]), sizes.get(axes[1])), sizes)
        else:
            floats(*axes)(name, value, sizes)

    return check


def _sparse_as_run(
    name: str, value: Parts, expected: tuple[int | None, ...], sizes: dict[str, int]
) -> None:
    """A sparse matrix as `fit` leaves it: only where that is how it is run."""
    sparse(name, value.parts, sizes)
    data, starts, shape = (value.parts[part] for part in ("data", "indptr", "shape"))
    if any(size not in (None, found) for size, found in zip(expected, shape, strict=True)):
        refuse(f"{name}.shape", shape, str(expected))
    units = shape[0]
    if data.dtype != np.float64 or not np.isfinite(data).all():
        refuse(f"{name}.data", data, "finite numbers of float64")
    most = int((starts[1:] - starts[:-1]).max())
    if 10 * most > units and len(data) or most * units > max(PADDED, 100 * len(data)):
        raise ValueError(
            f"{name} has {most} connections in one row and {len(data)} in all; with {units} units "
            "it would not be run, or saved, as a sparse matrix"
        )


def reservoir(name: str, value: Any, sizes: dict[str, int]) -> None:
    """A reservoir by its kind and parameters, which it checks itself once it is made."""
    called = value.parts.get(CLASS) if isinstance(value, Parts) else None
    if not isinstance(value, Parts) or value.kind != "Reservoir" or not isinstance(called, str):
        refuse(name, value, "a kind of reservoir")
    if called not in KINDS:
        refuse(name, called, "a kind of reservoir that is known here; import what defines it first")
    kind = KINDS[called]
    if kind.objects:
        refuse(name, called, "a kind of reservoir without functions, which no file holds")
    parts_of(name, value, "Reservoir", (CLASS, *kind._get_param_names()))
    for parameter, held in value.parts.items():
        plain(f"{name}.{parameter}", held, sizes)


def plain(name: str, value: Any, sizes: dict[str, int], deepest: int = 2) -> None:
    """A value that may be given as a parameter of a reservoir."""
    if value is None or isinstance(value, bool | str):
        return
    if isinstance(value, np.ndarray | Parts):  # Parts are a tuple too
        given_matrix(name, value, sizes)
    elif isinstance(value, list | tuple) and deepest > 0:
        for i, part in enumerate(value):
            plain(f"{name}.{i}", part, sizes, deepest - 1)
    else:
        number(name, value, sizes)


def parts_of(name: str, value: Any, kind: str, expected: tuple[str, ...]) -> dict[str, Any]:
    """The parts of an object of this kind."""
    if not isinstance(value, Parts) or value.kind != kind or set(value.parts) != set(expected):
        refuse(name, value, f"a {kind} of {', '.join(expected)}")
    return value.parts


def scaler(columns: str) -> Check:
    """How columns are scaled."""

    def check(name: str, value: Any, sizes: dict[str, int]) -> None:
        parts = parts_of(name, value, "Scaler", ("center", "unit"))
        for part in ("center", "unit"):
            floats(columns)(f"{name}.{part}", parts[part], sizes)
        if not (parts["unit"] > 0).all():
            refuse(f"{name}.unit", parts["unit"], "positive numbers")

    return check


def classes(name: str, value: Any, sizes: dict[str, int]) -> None:
    """Labels, sorted, one for each output."""
    plain = isinstance(value, np.ndarray) and value.dtype.kind in "biufUSO"
    if not plain or value.shape != (sizes["outputs"],) or len(value) < 2:
        refuse(name, value, f"two or more labels, one for each of {sizes['outputs']} outputs")
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        refuse(name, value, "finite labels")
    if not all(before < after for before, after in pairwise(value)):
        refuse(name, value, "sorted labels, each of them once")


def output_range(name: str, value: Any, sizes: dict[str, int]) -> None:
    """Low and high ends, which may be infinite."""
    sizes = sizes | {"2": 2}
    floats("2", "outputs", finite=False)(name, value, sizes)
    if not (value[0] < value[1]).all():
        refuse(name, value, "low ends below high ends")


def names(name: str, value: Any, sizes: dict[str, int]) -> None:
    """Names of the columns of a table."""
    strings = isinstance(value, np.ndarray) and value.dtype.kind == "O"
    if not strings or value.shape != (sizes.get("columns"),):
        refuse(name, value, "one name for each of n_features_in_ columns")
