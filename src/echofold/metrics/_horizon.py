"""The prediction horizon: how long a forecast stays close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from echofold._data.arguments import check_number
from echofold.metrics._targets import Spread, pair, spread_in_blocks

NORMALISED = ("std", "each", "rms")
POSITIVE = "a positive number"


@dataclass(frozen=True)
class Horizon:
    """What `horizon` returns: a metric with its threshold."""

    threshold: float
    normalise: Any = "std"
    step: float = 1.0

    higher_is_better: ClassVar[bool] = True
    __name__: ClassVar[str] = "horizon"

    def __repr__(self) -> str:
        more = "" if self.normalise == "std" else f", normalise={self.normalise!r}"
        more += "" if self.step == 1 else f", step={self.step!r}"
        return f"horizon({self.threshold!r}{more})"

    def __call__(self, y_true: Any, y_pred: Any, *, scale: Spread | None = None) -> float:
        """Time until the error of ``y_pred`` exceeds the threshold."""
        t, y = pair(y_true, y_pred)
        tolerance = self.tolerance(spread_in_blocks([t]) if scale is None else scale)
        with np.errstate(over="ignore", invalid="ignore"):
            beyond = ~((((y - t) / tolerance) ** 2).sum(axis=1) <= 1)
        return (int(beyond.argmax()) if beyond.any() else len(t)) * self.step

    def tolerance(self, spread: Spread) -> np.ndarray:
        """``c (outputs,)``: the threshold is exceeded where ``Σ (e / c)²`` over outputs is not ≤ 1.

        An error of a step is the root of its mean square over outputs, each in its unit.
        """
        outputs = len(spread.deviation)
        unit = np.ones(outputs)
        if self.normalise == "std":
            unit = unit * np.sqrt(spread.deviation.mean())
        elif self.normalise == "rms":
            unit = unit * np.sqrt(spread.square.mean())
        elif self.normalise == "each":
            unit = np.sqrt(spread.deviation)
        elif self.normalise is not None:
            given = np.asarray(self.normalise, dtype=float)
            if given.ndim and len(given) != outputs:
                raise ValueError(
                    f"normalise has {len(given)} numbers, but there are {outputs} outputs; give "
                    "one number, or one for each output."
                )
            unit = unit * given
        if not (unit > 0).all():
            raise ValueError(
                f"normalise={self.normalise!r}: output {int(np.argmin(unit))} is constant, so its "
                "error cannot be measured by how far it spreads. Use normalise=None, with a "
                "threshold in the units of the data, or give a number."
            )
        return self.threshold * np.sqrt(outputs) * unit


def horizon(threshold: float, *, normalise: Any = "std", step: float = 1.0) -> Horizon:
    """A metric: how long forecasts stay closer to the truth than a threshold. Higher is better.

    Parameters
    ----------
    threshold : float
        The error at which a forecast is lost; the horizon is the time before the first step with a
        larger one.
    normalise : {"std", "each", "rms"}, None, number or one for each output, default="std"
        What the error of a step (the root of its mean square over outputs) is divided by: the root
        of the mean variance of all outputs, over all rows of the data; "each" output by its own
        standard deviation; "rms", the root mean square of the values; None, nothing: the threshold
        is in the units of the data; or a given number.
    step : float, default=1.0
        Time of one step, in the unit that the horizon shall have: with a Lyapunov exponent
        of 0.906 and a row every 0.01, ``step=0.01 * 0.906`` counts Lyapunov times.

    Returns
    -------
    Horizon
        For ``metric=`` of searches, and a function of ``(y_true, y_pred)``.

    Examples
    --------
    >>> from echofold.metrics import horizon
    >>> horizon(0.5, normalise=None)([0.0, 0.0, 0.0, 0.0], [0.1, 0.2, 0.9, 0.0])
    2.0
    >>> horizon(0.5, normalise=None, step=0.25)([1.0, 2.0], [1.0, 2.0])
    0.5
    """
    for name, value in (("threshold", threshold), ("step", step)):
        check_number(name, value, POSITIVE, above=0)
    if isinstance(normalise, str) and normalise not in NORMALISED:
        raise ValueError(
            f"normalise={normalise!r} is unknown: it must be {', '.join(map(repr, NORMALISED))}, "
            "None, a number, or one for each output."
        )
    if normalise is not None and not isinstance(normalise, str):
        several = isinstance(normalise, list | tuple | np.ndarray)
        for value in np.ravel(normalise).tolist() if several else [normalise]:
            check_number("normalise", value, POSITIVE, above=0)
        normalise = tuple(np.ravel(normalise).tolist()) if several else float(normalise)
    return Horizon(float(threshold), normalise, float(step))
