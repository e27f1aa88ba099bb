"""What a model file must hold: tables of named values, what each is, and one walk over them.

A file can be made by anyone, with checksums that fit. Nothing of it is made into an object, or
reaches compiled code, before it was checked here; whatever is wrong is a `ValueError`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from reprlib import repr as short
from typing import Any

import numpy as np

from echofold._data.dates import Timeline
from echofold._data.scaling import Scaler
from echofold._data.tables import Schema
from echofold._engine.kind import Reservoir
from echofold._engine.summaries import SUMMARIES
from echofold._models.base import ESN, Stored
from echofold._models.learning import Learning

Shape = Sequence[int | str]  # a word stands for any size from 1 on
PADDED = 2**29  # entries of a sparse W after its rows are made equally long: 6 GB

PARAMETERS: dict[str, Stored] = {
    **dict.fromkeys(("units", "leak_rate", "bias_scaling"), Stored("number")),
    **dict.fromkeys(("connectivity", "harmonics", "shrink"), Stored("number")),
    **dict.fromkeys(("washout", "steps"), Stored("word or number")),
    "states": Stored("word or number", optional=True, always=False),
    "summaries": Stored("plain", always=False),
    "normalize": Stored("word or truth", always=False),
    **dict.fromkeys(("penalize_bias", "log"), Stored("truth")),
    "input_scaling": Stored("numbers", ("values",)),
    "ridge": Stored("numbers or auto", ("values",)),
    **dict.fromkeys(("W", "W_in"), Stored("matrix", optional=True)),
    **dict.fromkeys(("difference", "season"), Stored("plain")),
    "spectral_radius": Stored("number", optional=True),
    "scale": Stored("word", optional=True),
    "device": Stored("device"),
    "precision": Stored("word", always=False),
    "random_state": Stored("integer", optional=True),
    "output_range": Stored("numbers", ("ends", "outputs"), optional=True),
    "reservoir": Stored("reservoir or auto", optional=True),
    **dict.fromkeys(("readout", "pool"), Stored("word")),
    "model": Stored("nothing", always=False),
    "feedback": Stored("truth", always=False),
    "feedback_noise": Stored("number", always=False),
}
NETWORK: dict[str, Stored] = {
    "readout_": Stored("floats", ("1 + features", "steps * outputs")),
    "state_": Stored("floats", ("size",)),
    "seed_": Stored("integer"),
    "condition_": Stored("float"),
}
RESIDUALS = Stored("floats", ("count", "horizon", "outputs"), optional=True, finite=False)
AUTOMATIC = {"horizon": Stored("count"), "level": Stored("plain")}
PANEL = {
    "kind": Stored("word"), "names": Stored("titles"), "level": Stored("label", optional=True),
}  # fmt: skip
LEARNING = {
    "columns": Stored("count"),
    "penalised": Stored("truth"),
    "R": Stored("floats", ("all", "all")),
    "first": Stored("floats", ("all but one",)),
    "past": Stored("floats", ("rows", "past"), optional=True),
    "behind": Stored("floats", ("size",), optional=True),
    "pending": Stored("floats", ("rows", "pending"), optional=True),
}
ENSEMBLE = {"residuals": RESIDUALS, "log_residuals": RESIDUALS, "runs": Stored("count")}


def check(
    what: str,
    found: Mapping[str, Any],
    table: Mapping[str, Stored],
    sizes: Mapping[str, int] | None = None,
    inside: str = "",
) -> None:
    """Raise unless values have the names of a table, and each is what the table says.

    ``sizes`` of the network stand for the names of axes; those that are not among them may be any.
    ``inside`` goes before the names of values.
    """
    unexpected = sorted(found.keys() - table.keys())
    missing = sorted(name for name, one in table.items() if one.always and name not in found)
    if unexpected or missing:
        raise ValueError(f"{what}: unexpected {short(unexpected)}, missing {missing}")
    for name, value in found.items():
        one = table[name]
        if value is None and one.optional:
            continue
        shape = [(sizes or {}).get(axis, axis) for axis in one.axes]
        if one.what in VALUES:
            words, holds = VALUES[one.what]
            fine = holds(value)
        else:
            words, fits = SHAPED[one.what if one.finite else f"any {one.what}"]
            fine = fits(value, shape)
        require(fine, f"{inside}{name}", value, words.format(", ".join(map(str, shape))))


def require(fine: bool, name: str, value: Any, expected: str) -> None:
    """Raise unless a value is fine, saying what was got and what was expected."""
    if fine:
        return
    got = short(value)
    if isinstance(value, np.ndarray):
        got = f"an array of {value.dtype} and shape {value.shape}"
    elif hasattr(value, "tocsr") or isinstance(value, Scaler | Schema | Timeline | Reservoir):
        got = f"a {type(value).__name__}"
    raise ValueError(f"{name} is {got}, expected {expected}")


def check_fitted(estimator: type[ESN], kind: Reservoir, fitted: dict[str, Any]) -> None:
    """Raise unless the fitted values are those of this estimator and fit together."""
    weights = {name: Stored("weights", axes) for name, axes in kind.stored.items()}
    table = {**weights, **NETWORK, **estimator._stored}
    check("fitted values", fitted, table)  # before their sizes are looked at
    sizes = _sizes(estimator, kind, fitted)
    check("fitted values", fitted, table, sizes)
    if "learning_" in fitted:
        _check_learning(fitted["learning_"], sizes)
    kind.check_stored({name: fitted[name] for name in weights}, sizes["inputs"])
    estimator._check_stored(fitted, sizes)


def _check_learning(learning: Learning, sizes: Mapping[str, int]) -> None:
    """Raise unless what `partial_fit` goes on from is of this network."""
    parts = learning.parts()
    features, outputs = sizes["1 + features"] - 1, sizes["steps * outputs"]
    past = sizes.get("given", 0)
    if "known" in sizes:  # of a forecaster
        past = 1 + 2 * (sizes["outputs"] + sizes["known"])
    known = {
        "all": 1 + features + outputs, "all but one": features + outputs, "past": past,
        "size": sizes["size"], "pending": features + sizes["outputs"] + 1,
    }  # fmt: skip
    check("learning_", parts, LEARNING, known, "learning_.")
    require(parts["columns"] == features, "learning_.columns", parts["columns"], str(features))


def _sizes(estimator: type[ESN], kind: Reservoir, fitted: dict[str, Any]) -> dict[str, int]:
    """Sizes of the network, which every shape must agree with."""
    sizes = estimator._sizes(fitted)
    inputs = sizes["inputs"]
    sizes |= {"size": kind.free()._size(inputs)} | kind.axes(inputs)
    features = sizes["positions"] * kind._features(inputs)
    sizes |= {"1 + inputs": 1 + inputs, "1 + features": 1 + features}
    groups = kind._groups()
    if groups is not None:
        sizes["steps * outputs"] = groups.shape[0] * groups.shape[2]
    return sizes | {"columns": fitted.get("n_features_in_", 0)}


# --- what a value is: tests of it, and the same in words ------------------------------------------


def _is_integer(value: Any, below: float = math.inf) -> bool:
    """Whether it is an integer (no boolean), smaller than ``below`` either way."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < below


def _is_count(value: Any) -> bool:
    """Whether it is a positive integer of 63 bits."""
    return _is_integer(value, 2**63) and value >= 1


def _is_number(value: Any) -> bool:
    """Whether it is a finite number, within what a float or a 64-bit integer holds."""
    return _is_integer(value, 2**64) or (isinstance(value, float) and math.isfinite(value))


def _is_label(value: Any) -> bool:
    """Whether it may name a column or an index: a scalar, or a tuple of such."""
    if isinstance(value, tuple):
        return all(map(_is_label, value))
    return value is None or isinstance(value, bool | int | float | str)


def _is_matrix(value: Any) -> bool:
    """Whether it is a matrix of numbers, dense or sparse."""
    dense = isinstance(value, np.ndarray) and value.dtype.kind in "iuf" and value.size > 0
    return dense or hasattr(value, "tocsr")


def _is_plain(value: Any, deepest: int = 2) -> bool:
    """Whether it may be given as a parameter of a reservoir."""
    if isinstance(value, list | tuple):
        return deepest > 0 and all(_is_plain(part, deepest - 1) for part in value)
    return value is None or isinstance(value, bool | str) or _is_number(value) or _is_matrix(value)


def _is_vector(value: Any, kinds: str, bytes_: int) -> bool:
    """Whether it is one axis of numbers of these kinds, as this machine holds them."""
    plain = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.isnative
    return plain and value.dtype.kind in kinds and value.dtype.itemsize >= bytes_


def _fits(found: Sequence[int], shape: Shape) -> bool:
    """Whether sizes are those of a shape."""
    same = len(found) == len(shape) and all(size >= 1 for size in found)
    return same and all(isinstance(n, str) or n == m for n, m in zip(shape, found, strict=True))


def _are_floats(value: Any, shape: Shape, finite: bool = True) -> bool:
    """Whether it is an array of 64-bit floats."""
    plain = isinstance(value, np.ndarray) and value.dtype == np.float64
    return plain and _fits(value.shape, shape) and (not finite or bool(np.isfinite(value).all()))


def _are_numbers(value: Any, shape: Shape) -> bool:
    """Whether it is a number (which may be infinite), an array, or a list or tuple of such."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iuf" and value.ndim <= len(shape)
    if isinstance(value, list | tuple):
        return len(shape) > 0 and all(_are_numbers(part, shape[1:]) for part in value)
    return isinstance(value, float) or _is_number(value)


def _are_weights(value: Any, shape: Shape) -> bool:
    """Whether it is a number or an array; sparse only where that is how a reservoir runs it."""
    if not shape:
        return _is_number(value)
    if not hasattr(value, "tocsr"):
        return _are_floats(value, shape)
    units, most = value.shape[0], int(np.diff(value.indptr).max())
    if 10 * most > units and value.nnz or most * units > max(PADDED, 100 * value.nnz):
        raise ValueError(
            f"a sparse W has {most} connections in one row and {value.nnz} in all; with {units} "
            "units it would not be run, or saved, as a sparse matrix"
        )
    held = value.data.dtype == np.float64 and bool(np.isfinite(value.data).all())
    return held and _fits(value.shape, shape)


def _are_labels(value: Any, shape: Shape) -> bool:
    """Whether it is an array of labels, which rise."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufUSO":
        return False
    whole = value.dtype.kind != "f" or bool(np.isfinite(value).all())
    rising = value.ndim == 1 and all(before < after for before, after in pairwise(value))
    return whole and rising and _fits(value.shape, shape) and len(value) >= 2


def _are_summaries(value: Any) -> bool:
    """Whether it says what is seen of sequences."""
    if type(value) is not tuple or not all(isinstance(one, str | int) for one in value):
        return False
    named = (_is_count(one) or one in SUMMARIES for one in value)
    return 0 < len(value) == len(set(value)) and all(named)


def _text(form: str) -> Callable[[Any], bool]:
    """Whether it is a text of this form, in ASCII."""
    return lambda value: isinstance(value, str) and bool(re.fullmatch(form, value, re.ASCII))


VALUES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "number": ("a finite number", _is_number),
    "integer": ("an integer", _is_integer),
    "count": ("a positive integer", _is_count),
    "place": ("an integer of 64 bits", lambda value: _is_integer(value, 2**64)),
    "step": ("an integer, not 0", lambda value: _is_integer(value, 2**64) and value != 0),
    "float": ("a float", lambda value: type(value) is float),
    "truth": ("True or False", lambda value: type(value) is bool),
    "word": ("a word", lambda value: type(value) is str),
    "word or number": ("a word or a number", lambda v: isinstance(v, str) or _is_number(v)),
    "label": ("a name", _is_label),
    "nothing": ("None", lambda value: value is None),
    "summaries": ("names of summaries and positive integers", _are_summaries),
    "normalize": ("True, False or 'both'", lambda v: type(v) is bool or _text("both")(v)),
    "word or truth": ("a word, True or False", lambda v: type(v) in (str, bool)),
    "plain": ("numbers or words", _is_plain),
    "matrix": ("a matrix of numbers", _is_matrix),
    "values": ("one axis of numbers", lambda value: _is_vector(value, "iuf", 1)),
    "indices": ("one axis of integers of 32 or 64 bits", lambda value: _is_vector(value, "i", 4)),
    "integers": (
        "a table of integers of 64 bits",
        lambda v: isinstance(v, np.ndarray) and v.dtype == np.int64 and v.ndim == 2,
    ),
    "titles": ("names", lambda value: type(value) is tuple and all(map(_is_label, value))),
    "sizes": ("two sizes", lambda v: type(v) is tuple and len(v) == 2 and all(map(_is_count, v))),
    "contents": (
        "'numbers' or 'booleans' for each column",
        lambda value: type(value) is tuple and all(map(_text("numbers|booleans"), value)),
    ),
    "shape": (
        "two or three sizes",
        lambda v: type(v) is tuple and len(v) in (2, 3) and all(map(_is_count, v)),
    ),
    "plain or reservoir": (
        "numbers or words, or a kind of reservoir",
        lambda value: _is_plain(value) or isinstance(value, Reservoir),
    ),
    "learning": ("what partial_fit goes on from", lambda value: isinstance(value, Learning)),
    "reservoir or auto": (
        "a kind of reservoir, or 'auto'",
        lambda value: isinstance(value, Reservoir) or _text("auto")(value),
    ),
    "timeline": ("a Timeline", lambda value: isinstance(value, Timeline)),
    "representation": ("a representation", lambda value: True),  # read with the sizes
    # Whether a device is there shows when it is used.
    "device": ("the name of a device, as 'cpu' or 'gpu:1'", _text(r"[A-Za-z_]{1,20}(:\d{1,4})?")),
    "table": ("a kind of table", _text("numpy|pandas|polars")),
    "resolution": ("'s', 'ms', 'us' or 'ns'", _text("s|ms|us|ns")),
    "date": (
        "a date as ISO 8601",
        _text(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?([+-]\d\d:\d\d)?"),
    ),
    "frequency": (
        "the name of a frequency",
        _text(r"\d{0,18}[A-Za-z]{1,6}(-[A-Za-z0-9]{1,4}){0,4}"),
    ),
    "zone": (  # no other name: pandas opens a file by it
        "a zone's key, an offset, or the zone of this machine",
        _text(
            r"(?!dateutil)[A-Za-z][A-Za-z0-9_+-]{0,39}(/[A-Za-z0-9_+-]{1,40}){0,3}"
            r"|UTC[+-]\d\d:\d\d(:\d\d)?|tzlocal\(\)"
        ),
    ),
}
SHAPED: dict[str, tuple[str, Callable[[Any, Shape], bool]]] = {
    "numbers": ("numbers", _are_numbers),
    "numbers or auto": (
        "numbers or 'auto'",
        lambda value, shape: value == "auto" or _are_numbers(value, shape),
    ),
    "floats": ("float64 of shape ({}), finite numbers", _are_floats),
    "any floats": ("float64 of shape ({})", partial(_are_floats, finite=False)),
    "positive": (
        "float64 of shape ({}), positive numbers",
        lambda value, shape: _are_floats(value, shape) and bool((value > 0).all()),
    ),
    "any range": (
        "float64 of shape (2, {}), low ends below high ends",
        lambda v, shape: _are_floats(v, [2, *shape], False) and bool((v[0] < v[1]).all()),
    ),
    "weights": ("float64 of shape ({}), finite numbers", _are_weights),
    "labels": (
        "two or more labels, one for each of {} outputs: finite labels, sorted labels, each once",
        _are_labels,
    ),
    "names": (
        "one name for each of {} columns (n_features_in_)",
        lambda v, shape: isinstance(v, np.ndarray) and v.dtype == object and _fits(v.shape, shape),
    ),
    "scaler": (
        "a Scaler of {} columns",
        lambda v, shape: isinstance(v, Scaler) and _fits(v.unit.shape, shape),
    ),
    "schema": (
        "a Schema of {} columns",
        lambda v, shape: isinstance(v, Schema) and _fits([len(v.holds)], shape),
    ),
}
