"""What a model file must hold: a table for parameters and one for each estimator, walked alike.

A file can be made by anyone, with checksums that fit. Nothing of it reaches compiled code before it
was checked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from reprlib import repr as short
from typing import Any

import numpy as np

from echofold._data.dates import Timeline
from echofold._data.scaling import Scaler
from echofold._data.tables import Schema
from echofold._engine.kind import Reservoir, looks_of
from echofold._models.base import ESN
from echofold._models.stored import Stored
from echofold._persistence.objects import (
    check_floats,
    is_count,
    is_integer,
    is_matrix,
    is_number,
    is_one_of,
    is_plain,
    refuse,
    require,
)

DEVICE = re.compile(r"[A-Za-z_]{1,20}(:\d{1,4})?")
PADDED = 2**29  # entries of a sparse W after its rows are made equally long: 6 GB
Sizes = Mapping[str, int]  # of the network, by name

PARAMETERS: dict[str, Stored] = {
    **dict.fromkeys(
        ("units", "leak_rate", "bias_scaling", "connectivity", "harmonics"), Stored("number")
    ),
    **dict.fromkeys(("washout", "states"), Stored("word or number")),
    **dict.fromkeys(("penalize_bias", "log"), Stored("truth")),
    **dict.fromkeys(("input_scaling", "ridge"), Stored("numbers", ("values",))),
    **dict.fromkeys(("W", "W_in"), Stored("matrix", optional=True)),
    **dict.fromkeys(("difference", "season"), Stored("plain")),
    "spectral_radius": Stored("number", optional=True),
    "scale": Stored("word", optional=True),
    "device": Stored("device"),
    "random_state": Stored("integer", optional=True),
    "output_range": Stored("numbers", ("ends", "outputs"), optional=True),
    "reservoir": Stored("reservoir", optional=True),
    "readout": Stored("word"),
}
NETWORK: dict[str, Stored] = {
    "readout_": Stored("floats", ("1 + features", "outputs")),
    "state_": Stored("floats", ("size",)),
    "seed_": Stored("integer"),
    "condition_": Stored("float"),
}
RESIDUALS = Stored("floats", ("count", "horizon", "outputs"), optional=True, finite=False)
ENSEMBLE = {"residuals": RESIDUALS, "log_residuals": RESIDUALS, "runs": Stored("count")}

# What a value is called that estimators and the tables above say: in words, and as a test of it.
SIMPLE: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "number": ("a finite number", is_number),
    "integer": ("an integer", is_integer),
    "count": ("a positive integer", is_count),
    "float": ("a float", lambda value: type(value) is float),
    "truth": ("True or False", lambda value: type(value) is bool),
    "word": ("a word", lambda value: type(value) is str),
    "word or number": ("a word or a number", lambda v: isinstance(v, str) or is_number(v)),
    "device": (
        "the name of a device, as 'cpu' or 'gpu:1'",  # whether it is there shows when it is used
        lambda value: isinstance(value, str) and DEVICE.fullmatch(value) is not None,
    ),
    "states": (
        "'last', 'mean' or a positive integer",
        lambda value: is_one_of(value, "last", "mean") or is_count(value),
    ),
    "matrix": ("a matrix of numbers", is_matrix),
    "plain": ("numbers or words", is_plain),
    "reservoir": ("a kind of reservoir", lambda value: isinstance(value, Reservoir)),
    "timeline": ("a Timeline", lambda value: isinstance(value, Timeline)),
    "representation": ("a representation", lambda value: True),  # read with the sizes
}


def check(what: str, found: Mapping[str, Any], table: Mapping[str, Stored], sizes: Sizes) -> None:
    """Raise unless values have the names of a table, and each is what the table says."""
    unexpected = sorted(found.keys() - table.keys())
    missing = sorted(name for name, one in table.items() if one.always and name not in found)
    if unexpected or missing:
        raise ValueError(f"{what}: unexpected {short(unexpected)}, missing {missing}")
    for name, value in found.items():
        one = table[name]
        if value is None and one.optional:
            continue
        if one.what in SIMPLE:
            words, holds = SIMPLE[one.what]
            require(holds(value), name, value, words)
        else:
            ARRAYS[one.what](name, value, [sizes.get(axis, axis) for axis in one.axes], one.finite)


def check_fitted(estimator: type[ESN], kind: Reservoir, fitted: dict[str, Any]) -> None:
    """Raise unless the fitted values are those of this estimator and fit together."""
    weights = {name: Stored("weights", axes) for name, axes in kind.stored.items()}
    table = {**weights, **NETWORK, **estimator._stored}
    check("fitted values", fitted, table, {})  # whatever their sizes are
    sizes = _sizes(estimator, kind, fitted)
    check("fitted values", fitted, table, sizes)
    kind.check_stored({name: fitted[name] for name in weights}, sizes["inputs"])
    estimator._check_stored(fitted, sizes)


def _sizes(estimator: type[ESN], kind: Reservoir, fitted: dict[str, Any]) -> dict[str, int]:
    """Sizes of the network, which every shape must agree with."""
    outputs, scaler = fitted["readout_"].shape[1], fitted["X_scaler_"]
    scaled = 0 if scaler is None else len(scaler.center)
    sizes = {"outputs": outputs} | estimator._stored_sizes(fitted, outputs, scaled)
    inputs = sizes["inputs"]
    sizes |= {"size": kind.free().size(inputs)} | kind.axes(inputs)
    features = sizes["positions"] * (inputs * kind._view.inputs + looks_of(kind, inputs))
    sizes |= {"1 + inputs": 1 + inputs, "1 + features": 1 + features}
    return sizes | {"columns": fitted.get("n_features_in_", 0)}


# --- arrays and tables; a word in a shape stands for any size -------------------------------------


def _check_numbers(name: str, value: Any, shape: list[int | str], finite: bool) -> None:
    """A number (which may be infinite), an array of them, or a list or tuple of such."""
    if shape and isinstance(value, list | tuple):
        for i, part in enumerate(value):
            _check_numbers(f"{name}.{i}", part, shape[1:], finite)
    elif isinstance(value, np.ndarray):
        numbers = value.dtype.kind in "iuf" and value.ndim <= len(shape)
        require(numbers, name, value, "numbers")
    else:
        require(isinstance(value, float) or is_number(value), name, value, "a finite number")


def _check_weights(name: str, value: Any, shape: list[int | str], finite: bool) -> None:
    """What a reservoir stores: a number, or an array, sparse only where that is how it is run."""
    if not shape:
        require(is_number(value), name, value, "a finite number")
        return
    if len(shape) != 2 or not hasattr(value, "tocsr"):
        check_floats(name, value, shape)
        return
    fits = all(isinstance(n, str) or n == m for n, m in zip(shape, value.shape, strict=True))
    require(fits, f"{name}.shape", value.shape, str(tuple(shape)))
    held = value.data.dtype == np.float64 and bool(np.isfinite(value.data).all())
    require(held, f"{name}.data", value.data, "finite numbers of float64")
    units, most = value.shape[0], int(np.diff(value.indptr).max())
    if 10 * most > units and value.nnz or most * units > max(PADDED, 100 * value.nnz):
        raise ValueError(
            f"{name} has {most} connections in one row and {value.nnz} in all; with {units} units "
            "it would not be run, or saved, as a sparse matrix"
        )


def _check_scaler(name: str, value: Any, shape: list[int | str], finite: bool) -> None:
    """How so many columns are scaled."""
    require(isinstance(value, Scaler), name, value, "a Scaler")
    check_floats(f"{name}.center", value.center, shape)


def _check_schema(name: str, value: Any, shape: list[int | str], finite: bool) -> None:
    """What is remembered of a table of so many columns."""
    require(isinstance(value, Schema), name, value, "a Schema")
    fits = isinstance(shape[0], str) or len(value.holds) == shape[0]
    require(fits, f"{name}.holds", value.holds, f"{shape[0]} columns")


def _check_labels(name: str, value: Any, shape: list[int | str], finite: bool) -> None:
    """Labels, sorted, one for each output."""
    plain = isinstance(value, np.ndarray) and value.dtype.kind in "biufUSO" and value.ndim == 1
    if not plain or len(value) < 2 or shape[0] not in ("outputs", len(value)):
        refuse(name, value, f"two or more labels, one for each of {shape[0]} outputs")
    whole = value.dtype.kind != "f" or bool(np.isfinite(value).all())
    require(whole, name, value, "finite labels")
    rise = all(before < after for before, after in pairwise(value))
    require(rise, name, value, "sorted labels, each of them once")


def _check_range(name: str, value: Any, shape: list[int | str], finite: bool) -> None:
    """Low and high ends, which may be infinite."""
    check_floats(name, value, [2, *shape], finite=False)
    require(bool((value[0] < value[1]).all()), name, value, "low ends below high ends")


def _check_names(name: str, value: Any, shape: list[int | str], finite: bool) -> None:
    """Names of the columns of a table."""
    strings = isinstance(value, np.ndarray) and value.dtype.kind == "O"
    fits = strings and (isinstance(shape[0], str) or value.shape == tuple(shape))
    require(fits, name, value, "one name for each of n_features_in_ columns")


ARRAYS: dict[str, Callable[[str, Any, list[int | str], bool], None]] = {
    "floats": check_floats,
    "numbers": _check_numbers,
    "weights": _check_weights,
    "scaler": _check_scaler,
    "schema": _check_schema,
    "labels": _check_labels,
    "range": _check_range,
    "names": _check_names,
}
