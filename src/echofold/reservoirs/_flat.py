"""The reservoir of an estimator: the one it is given, or the paper's by its flat parameters."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from echofold._data.arguments import describe
from echofold._engine.kind import Reservoir
from echofold._engine.view import view_of
from echofold.reservoirs._leaky import Leaky

# Parameters that estimators take by themselves. What came later belongs to the kind alone.
FLAT = [name for name in Leaky._get_param_names() if name not in Leaky._added]


def reservoir_of(params: dict[str, Any]) -> Reservoir:
    """The reservoir of an estimator's parameters: the given one, or the paper's by flat ones."""
    given = params["reservoir"]
    kind = Leaky(**{name: params[name] for name in FLAT}) if given is None else _checked(params)
    kind._view = view_of(params["readout"])
    return kind


def _checked(params: dict[str, Any]) -> Reservoir:
    """A copy of the given reservoir, beside which no flat parameter is given."""
    given = params["reservoir"]
    if not isinstance(given, Reservoir):
        raise TypeError(
            f"reservoir={given!r} is no reservoir: give an object of echofold.reservoirs, or None "
            "for the leaky network of the other parameters. An object of another library goes "
            "into echofold.reservoirs.Foreign."
        )
    default = Leaky().get_params(deep=False)
    for name in FLAT:
        if params[name] is not default[name] and not np.array_equal(params[name], default[name]):
            raise ValueError(
                f"{name}={describe(params[name])} belongs to the network that reservoir=None "
                f"stands for, but reservoir is a {type(given).__name__}. Give it to the reservoir, "
                f"or leave it out."
            )
    return copy(given)
