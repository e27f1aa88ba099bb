"""What a model file must say, for each estimator, and how its values fit together.

A file can be made by anyone, with checksums that fit. Nothing of it reaches compiled code, or is
made into an object, before it was checked here.
"""

from __future__ import annotations

from reprlib import repr as short
from typing import Any

from echofold._engine.kind import Reservoir
from echofold._persistence.check_tables import schema, timeline
from echofold._persistence.checks import (
    Check,
    classes,
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
    refuse,
    reservoir,
    scaler,
    states,
    stored,
    word_or_count,
)

PARAMETERS: dict[str, Check] = {
    **dict.fromkeys(("units", "leak_rate", "bias_scaling", "connectivity", "ridge"), number),
    **dict.fromkeys(("washout", "states"), word_or_count),
    "spectral_radius": optional(number),
    "penalize_bias": of_type(bool),
    "scale": optional(of_type(str)),
    "device": device,
    "random_state": optional(integer),
    "input_scaling": numbers(1),
    "output_range": optional(numbers(2)),
    "W": optional(given_matrix),
    "W_in": optional(given_matrix),
    "reservoir": optional(reservoir),
}
NETWORK: dict[str, Check] = {
    "readout_": floats("1 + features", "outputs"),
    "state_": floats("size"),
    "seed_": integer,
    "condition_": of_type(float),
}
TABLE: dict[str, Check] = {"n_features_in_": integer, "feature_names_in_": names}
FITTED: dict[str, dict[str, Check]] = {
    "ESNForecaster": {
        "y_schema_": schema("outputs"),
        "X_schema_": optional(schema("known")),
        "y_scaler_": scaler("outputs"),
        "X_scaler_": optional(scaler("known")),
        "timeline_": optional(timeline),
        "last_": floats("outputs"),
        "residuals_": optional(floats("count", "horizon", "outputs", finite=False)),
    },
    "ESNRegressor": {
        "y_schema_": schema("outputs"),
        "y_scaler_": scaler("outputs"),
        "X_scaler_": scaler("inputs"),
        "output_range_": optional(output_range),
        **TABLE,
    },
    "ESNClassifier": {
        "classes_": classes,
        "X_schema_": schema("inputs"),
        "X_scaler_": scaler("inputs"),
        "states_": states,
        **TABLE,
    },
}
NOT_ALWAYS = {"ESNRegressor": {"feature_names_in_"}, "ESNClassifier": set(TABLE)}


def check_params(params: dict[str, Any], expected: list[str]) -> None:
    """Raise unless parameters have these names, and values that `check_parameters` can look at."""
    _check_names("parameters", params, set(expected), set())
    for name, value in params.items():
        PARAMETERS[name](name, value, {})


def check_fitted(estimator: str, kind: Reservoir, fitted: dict[str, Any]) -> None:
    """Raise unless the fitted values are those of this estimator and fit together."""
    network = {name: stored(*axes) for name, axes in kind.stored.items()}
    checks = network | NETWORK | FITTED[estimator]
    _check_names("fitted values", fitted, set(checks), NOT_ALWAYS.get(estimator, set()))
    sizes = _sizes(estimator, kind, fitted)
    for name, value in fitted.items():
        checks[name](name, value, sizes)
    kind.check_stored({name: fitted[name] for name in kind.stored}, sizes["inputs"])
    if estimator == "ESNForecaster":
        _check_known(fitted, sizes)
    elif "n_features_in_" in fitted:
        # A classifier's columns are the steps of sequences with one input.
        inputs = fitted["n_features_in_"] if estimator == "ESNRegressor" else 1
        if inputs != sizes["inputs"] or not is_count(fitted["n_features_in_"]):
            refuse("n_features_in_", fitted["n_features_in_"], f"{sizes['inputs']} inputs")


def _check_names(
    what: str, found: dict[str, Any], expected: set[str], not_always: set[str]
) -> None:
    """Raise for names that are not expected, or not there."""
    unexpected = sorted(found.keys() - expected)
    missing = sorted(expected - not_always - found.keys())
    if unexpected or missing:
        raise ValueError(f"{what}: unexpected {short(unexpected)}, missing {missing}")


def _sizes(estimator: str, kind: Reservoir, fitted: dict[str, Any]) -> dict[str, int]:
    """Sizes of the network, which every shape must agree with."""
    NETWORK["readout_"]("readout_", fitted["readout_"], {})
    outputs, scaled, positions, known = fitted["readout_"].shape[1], 0, 1, 0
    if fitted["X_scaler_"] is not None:
        center = parts_of("X_scaler_", fitted["X_scaler_"], "Scaler", ("center", "unit"))["center"]
        floats("inputs")("X_scaler_.center", center, {})
        scaled = len(center)
    inputs = scaled
    if estimator == "ESNForecaster":
        inputs, known = outputs + scaled, scaled
    if estimator == "ESNClassifier" and is_count(fitted["states_"]):
        positions = fitted["states_"]
    features = positions * (inputs + kind.size + kind.extras(inputs))
    sizes = {"size": kind.size, "inputs": inputs, "outputs": outputs, "known": known}
    sizes |= {"1 + inputs": 1 + inputs, "1 + features": 1 + features}
    if is_count(fitted.get("n_features_in_")):
        sizes["columns"] = fitted["n_features_in_"]
    return sizes


def _check_known(fitted: dict[str, Any], sizes: dict[str, int]) -> None:
    """Raise unless a forecaster's parts that come together are there together."""
    for name in ("X_schema_", "X_scaler_"):
        if (fitted[name] is None) != (sizes["known"] == 0):
            refuse(name, fitted[name], f"one for {sizes['known']} known inputs, or None for none")
    pandas = fitted["y_schema_"].parts["kind"] == "pandas"
    if (fitted["timeline_"] is not None) != pandas:
        refuse("timeline_", fitted["timeline_"], "one for pandas data, and None for other")
