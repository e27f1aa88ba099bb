"""What a model file must say, for each estimator, and how its values fit together.

A file can be made by anyone, with checksums that fit. Nothing of it reaches compiled code, or is
made into an object, before it was checked here.
"""

from __future__ import annotations

from collections.abc import Callable
from reprlib import repr as short
from typing import Any

from echofold._engine.kind import Reservoir, looks_of
from echofold._models.base import ESN
from echofold._models.stored import Stored
from echofold._persistence.check_tables import schema, timeline
from echofold._persistence.checks import (
    Check,
    classes,
    count,
    device,
    floats,
    given_matrix,
    integer,
    is_count,
    names,
    number,
    numbers,
    of_type,
    optional,
    output_range,
    parts_of,
    plain,
    reservoir,
    scaler,
    states,
    stored,
    word_or_count,
)

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
