"""What a model file must hold: a table for parameters and one for each estimator, walked alike.

A file can be made by anyone, with checksums that fit. Nothing of it reaches compiled code before it
was checked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
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
    are_floats,
    fits,
    is_count,
    is_integer,
    is_matrix,
    is_number,
    is_one_of,
    is_plain,
    require,
)

Shape = Sequence[int | str]  # a word stands for any size
DEVICE = re.compile(r"[A-Za-z_]{1,20}(:\d{1,4})?")
PADDED = 2**29  # entries of a sparse W after its rows are made equally long: 6 GB

PARAMETERS: dict[str, Stored] = {
    **dict.fromkeys(("units", "leak_rate", "bias_scaling"), Stored("number")),
    **dict.fromkeys(("connectivity", "harmonics"), Stored("number")),
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


def check(
    what: str, found: Mapping[str, Any], table: Mapping[str, Stored], sizes: Mapping[str, int]
) -> None:
    """Raise unless values have the names of a table, and each is what the table says.

    ``sizes`` of the network stand for the names of axes; those that are not among them may be any.
    """
    unexpected = sorted(found.keys() - table.keys())
    missing = sorted(name for name, one in table.items() if one.always and name not in found)
    if unexpected or missing:
        raise ValueError(f"{what}: unexpected {short(unexpected)}, missing {missing}")
    for name, value in found.items():
        one = table[name]
        if value is None and one.optional:
            continue
        shape = [sizes.get(axis, axis) for axis in one.axes]
        words, holds = RULES[one.what if one.finite else "any " + one.what]
        require(holds(value, shape), name, value, words.format(", ".join(map(str, shape))))


def check_fitted(estimator: type[ESN], kind: Reservoir, fitted: dict[str, Any]) -> None:
    """Raise unless the fitted values are those of this estimator and fit together."""
    weights = {name: Stored("weights", axes) for name, axes in kind.stored.items()}
    table = {**weights, **NETWORK, **estimator._stored}
    check("fitted values", fitted, table, {})  # before their sizes are looked at
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


# --- what the tables say of a value: in words, and as a test of it --------------------------------


def _are_numbers(value: Any, shape: Shape) -> bool:
    """Whether it is a number (which may be infinite), an array, or a list or tuple of such."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iuf" and value.ndim <= len(shape)
    if isinstance(value, list | tuple):
        return len(shape) > 0 and all(_are_numbers(part, shape[1:]) for part in value)
    return isinstance(value, float) or is_number(value)


def _are_weights(value: Any, shape: Shape) -> bool:
    """Whether it is a number or an array; sparse only where that is how a reservoir runs it."""
    if not shape:
        return is_number(value)
    if not hasattr(value, "tocsr"):
        return are_floats(value, shape)
    units, most = value.shape[0], int(np.diff(value.indptr).max())
    if 10 * most > units and value.nnz or most * units > max(PADDED, 100 * value.nnz):
        raise ValueError(
            f"a sparse W has {most} connections in one row and {value.nnz} in all; with {units} "
            "units it would not be run, or saved, as a sparse matrix"
        )
    held = value.data.dtype == np.float64 and bool(np.isfinite(value.data).all())
    return held and fits(value.shape, shape)


def _are_labels(value: Any, shape: Shape) -> bool:
    """Whether it is an array of labels, which rise."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufUSO":
        return False
    whole = value.dtype.kind != "f" or bool(np.isfinite(value).all())
    rising = value.ndim == 1 and all(before < after for before, after in pairwise(value))
    return whole and rising and fits(value.shape, shape) and len(value) >= 2


def _is_range(value: Any, shape: Shape) -> bool:
    """Whether it is low and high ends, which may be infinite."""
    return are_floats(value, [2, *shape], finite=False) and bool((value[0] < value[1]).all())


RULES: dict[str, tuple[str, Callable[[Any, Shape], bool]]] = {
    "number": ("a finite number", lambda v, _: is_number(v)),
    "integer": ("an integer", lambda v, _: is_integer(v)),
    "count": ("a positive integer", lambda v, _: is_count(v)),
    "float": ("a float", lambda v, _: type(v) is float),
    "truth": ("True or False", lambda v, _: type(v) is bool),
    "word": ("a word", lambda v, _: type(v) is str),
    "word or number": ("a word or a number", lambda v, _: isinstance(v, str) or is_number(v)),
    "states": (
        "'last', 'mean' or a positive integer",
        lambda v, _: is_one_of(v, "last", "mean") or is_count(v),
    ),
    "device": (  # whether it is there shows when it is used
        "the name of a device, as 'cpu' or 'gpu:1'",
        lambda v, _: isinstance(v, str) and DEVICE.fullmatch(v) is not None,
    ),
    "plain": ("numbers or words", lambda v, _: is_plain(v)),
    "matrix": ("a matrix of numbers", lambda v, _: is_matrix(v)),
    "reservoir": ("a kind of reservoir", lambda v, _: isinstance(v, Reservoir)),
    "timeline": ("a Timeline", lambda v, _: isinstance(v, Timeline)),
    "representation": ("a representation", lambda v, _: True),  # read with the sizes
    "numbers": ("numbers", _are_numbers),
    "floats": ("float64 of shape ({}), finite numbers", are_floats),
    "any floats": ("float64 of shape ({})", lambda v, shape: are_floats(v, shape, finite=False)),
    "weights": ("float64 of shape ({}), finite numbers", _are_weights),
    "scaler": (
        "a Scaler of {} columns",
        lambda v, shape: isinstance(v, Scaler) and fits(v.unit.shape, shape),
    ),
    "schema": (
        "a Schema of {} columns",
        lambda v, shape: isinstance(v, Schema) and fits([len(v.holds)], shape),
    ),
    "names": (
        "one name for each of {} columns (n_features_in_)",
        lambda v, shape: isinstance(v, np.ndarray) and v.dtype == object and fits(v.shape, shape),
    ),
    "labels": (
        "two or more labels, one for each of {} outputs: finite labels, sorted labels, each once",
        _are_labels,
    ),
    "any range": ("float64 of shape (2, {}), low ends below high ends", _is_range),
}
