"""What a model file must say, for each estimator, and how its values fit together.

A file can be made by anyone, with checksums that fit. Nothing of it reaches compiled code, or is
made into an object, before it was checked here.
"""

from __future__ import annotations

from collections.abc import Callable
from reprlib import repr as short
from typing import Any

from echofold._engine.kind import Reservoir, looks_of
from echofold._models.base import ESN, Stored
from echofold._persistence.checks import (
    Check,
    classes,
    count,
    device,
    floats,
    given_matrix,
    integer,
    is_count,
    is_one_of,
    names,
    number,
    numbers,
    of_type,
    optional,
    output_range,
    parts_of,
    plain,
    refuse,
    reservoir,
    scaler,
    states,
    stored,
    word_or_count,
)
from echofold._persistence.contents import Parts


def _label(name: str, value: Any) -> None:
    """What may name a column or an index: a scalar, or a tuple of such."""
    if isinstance(value, tuple):
        for part in value:
            _label(name, part)
    elif value is not None and not isinstance(value, bool | int | float | str):
        refuse(name, value, "a name")


def timeline(name: str, value: Any, sizes: dict[str, int]) -> None:
    """Where an index ends; `_persistence.frozen.thaw` sees to all parts but its name."""
    if not isinstance(value, Parts) or value.kind != "Timeline":
        refuse(name, value, "a Timeline")
    _label(f"{name}.name", value.parts.get("name"))


def schema(columns: str) -> Check:
    """What is remembered of a table with this many columns."""

    def check(name: str, value: Any, sizes: dict[str, int]) -> None:
        parts = parts_of(name, value, "Schema", ("kind", "names", "holds", "flat"))
        kind, names, holds, flat = (parts[k] for k in ("kind", "names", "holds", "flat"))
        if not is_one_of(kind, "numpy", "pandas", "polars") or not isinstance(flat, bool):
            refuse(f"{name}.kind and flat", (kind, flat), "a kind of table, and whether it is flat")
        if not isinstance(holds, tuple) or not all(
            is_one_of(held, "numbers", "booleans") for held in holds
        ):
            refuse(f"{name}.holds", holds, "'numbers' or 'booleans' for each column")
        if len(holds) != sizes[columns] or (flat and len(holds) != 1):
            refuse(f"{name}.holds", holds, f"{sizes[columns]} columns, one if flat")
        if names is None:
            if kind != "numpy" and len(holds) > 1:
                refuse(f"{name}.names", names, "a name for each column")
            return
        if kind == "numpy" or not isinstance(names, tuple) or len(names) != len(holds):
            refuse(f"{name}.names", names, "a name for each column of a table that has them")
        _label(f"{name}.names", names)
        _column_names(f"{name}.names", names, kind, flat)

    return check


def _column_names(name: str, names: tuple, kind: str, flat: bool) -> None:
    """Names that the kind of table takes."""
    if len(set(names)) != len(names):
        refuse(name, names, "names that differ")
    if kind == "polars":
        if not all(isinstance(one, str) for one in names):
            refuse(name, names, "strings")
        "".join(names).encode()  # `UnicodeEncodeError`, a `ValueError`, for half a character
    elif not flat:
        import pandas as pd

        try:
            fits = len(pd.Index(names)) == len(names)
        except Exception:  # pandas raises whatever the conversion it tries first raises
            fits = False
        if not fits:
            refuse(name, names, "names that pandas takes")


PARAMETERS: dict[str, Check] = {
    **dict.fromkeys(("units", "leak_rate", "bias_scaling", "connectivity"), number),
    **dict.fromkeys(("washout", "states"), word_or_count),
    "spectral_radius": optional(number),
    "penalize_bias": of_type(bool),
    "scale": optional(of_type(str)),
    "device": device,
    "random_state": optional(integer),
    **dict.fromkeys(("input_scaling", "ridge"), numbers(1)),
    "output_range": optional(numbers(2)),
    "W": optional(given_matrix),
    "W_in": optional(given_matrix),
    "reservoir": optional(reservoir),
    "readout": of_type(str),
    **dict.fromkeys(("difference", "season"), plain),
    "log": of_type(bool),
    "harmonics": number,
}
NETWORK: dict[str, Check] = {
    "readout_": floats("1 + features", "outputs"),
    "state_": floats("size"),
    "seed_": integer,
    "condition_": of_type(float),
}
CHECKS: dict[str, Callable[[Stored], Check]] = {  # by what an estimator says that a value is
    "floats": lambda one: floats(*one.axes, finite=one.finite),
    "schema": lambda one: schema(*one.axes),
    "scaler": lambda one: scaler(*one.axes),
    "timeline": lambda one: timeline,
    "labels": lambda one: classes,
    "range": lambda one: output_range,
    "states": lambda one: states,
    "count": lambda one: count,
    "names": lambda one: names,
    "representation": lambda one: lambda name, value, sizes: None,  # read with the sizes
}


def check_params(params: dict[str, Any], expected: list[str]) -> None:
    """Raise unless parameters have these names, and values that the estimator can look at."""
    _check_names("parameters", params, set(expected), set())
    for name, value in params.items():
        PARAMETERS.get(name, plain)(name, value, {})


def check_fitted(estimator: type[ESN], kind: Reservoir, fitted: dict[str, Any]) -> None:
    """Raise unless the fitted values are those of this estimator and fit together."""
    declared = estimator._stored
    own = {name: CHECKS[one.what](one) for name, one in declared.items()}
    own |= {name: optional(own[name]) for name, one in declared.items() if one.optional}
    checks = {name: stored(*axes) for name, axes in kind.stored.items()} | NETWORK | own
    missing = {name for name, one in declared.items() if not one.always}
    _check_names("fitted values", fitted, set(checks), missing)
    sizes = _sizes(estimator, kind, fitted)
    for name, value in fitted.items():
        checks[name](name, value, sizes)
    kind.check_stored({name: fitted[name] for name in kind.stored}, sizes["inputs"])
    estimator._check_stored(fitted, sizes)


def _check_names(
    what: str, found: dict[str, Any], expected: set[str], not_always: set[str]
) -> None:
    """Raise for names that are not expected, or not there."""
    unexpected = sorted(found.keys() - expected)
    missing = sorted(expected - not_always - found.keys())
    if unexpected or missing:
        raise ValueError(f"{what}: unexpected {short(unexpected)}, missing {missing}")


def _sizes(estimator: type[ESN], kind: Reservoir, fitted: dict[str, Any]) -> dict[str, int]:
    """Sizes of the network, which every shape must agree with."""
    NETWORK["readout_"]("readout_", fitted["readout_"], {})
    outputs, scaled = fitted["readout_"].shape[1], 0
    if fitted["X_scaler_"] is not None:
        center = parts_of("X_scaler_", fitted["X_scaler_"], "Scaler", ("center", "unit"))["center"]
        floats("inputs")("X_scaler_.center", center, {})
        scaled = len(center)
    sizes = {"outputs": outputs} | estimator._stored_sizes(fitted, outputs, scaled)
    inputs = sizes["inputs"]
    sizes |= {"size": kind.free().size(inputs)} | kind.axes(inputs)
    features = sizes["positions"] * (inputs * kind._view.inputs + looks_of(kind, inputs))
    sizes |= {"1 + inputs": 1 + inputs, "1 + features": 1 + features}
    if is_count(fitted.get("n_features_in_")):
        sizes["columns"] = fitted["n_features_in_"]
    return sizes
