"""Errors relative to the values themselves (MAPE, sMAPE) and to a naive forecast's (MASE)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from echofold._data.arguments import check_count, check_number
from echofold._machine.arrays import namespace
from echofold.metrics._errors import mae, pair


@dataclass(frozen=True)
class Scaled:
    """What `mase` returns: a metric with its season."""

    season: int = 1

    __name__: ClassVar[str] = "mase"

    def __repr__(self) -> str:
        return "mase()" if self.season == 1 else f"mase(season={self.season})"

    def __call__(
        self, y_true: Any, y_pred: Any, y_train: Any = None, *, scale: float | None = None
    ) -> float:
        """Mean absolute error of ``y_pred``, divided by ``scale`` or that of ``y_train``."""
        if (y_train is None) == (scale is None):
            raise ValueError(
                f"{self!r} needs either y_train, the series whose mean change over {self.season} "
                "steps is the unit of errors, or that number as scale="
            )
        if y_train is not None:
            train, _ = pair(y_train, y_train)
            scale = self.scale([train])
        check_number("scale", scale, "a positive number", lambda scale: scale > 0)
        with np.errstate(over="ignore"):
            return float(np.divide(mae(y_true, y_pred), float(scale)))  # type: ignore[arg-type]

    def scale(self, blocks: Iterable[np.ndarray]) -> float:
        """The mean of ``|y(t) - y(t - season)|`` over rows that come in blocks.

        Blocks are ``(rows, outputs)``, NaN where a value is missing, and follow each other.
        """
        total, count, before = 0.0, 0, None
        for block in blocks:
            rows = block if before is None else np.vstack([before, block])
            changes = np.abs(rows[self.season :] - rows[: -self.season])
            known = ~np.isnan(changes)
            total, count = total + float(changes[known].sum()), count + int(known.sum())
            before = rows[-self.season :]
        if not count:
            raise ValueError(
                f"{self!r}: the series has no two values that are {self.season} steps apart, so "
                "there is no unit of errors. Use a shorter season, or metric='mae'."
            )
        if total == 0:
            raise ValueError(
                f"{self!r}: the series never changes over {self.season} steps, so there is no unit "
                "of errors. Use metric='mae'."
            )
        return total / count


def mase(season: int = 1) -> Scaled:
    """A metric: the absolute error in units of that of a naive forecast.

    The unit is the mean absolute change of the series over a season, which is what repeating the
    value of a season ago is off by, one season ahead.

    Parameters
    ----------
    season : int, default=1
        Steps between the values that are compared: 12 for months with a yearly season.

    Returns
    -------
    Scaled
        For ``metric=`` of searches, and a function of ``(y_true, y_pred, y_train)``, or of
        ``(y_true, y_pred, scale=...)`` with the mean absolute change itself.

    Notes
    -----
    ``mean |y - t| / mean |t(i) - t(i - season)|``, both over all outputs. Where a search or a
    validation computes it, the unit is taken from all rows that are split, those after the washout;
    in `evaluate` and `backtest`, from all rows of the data. It is one number for all candidates and
    splits, so that a search finds the same winner as by "mae".

    Examples
    --------
    >>> from echofold.metrics import mase
    >>> mase()([5.0, 6.0], [4.0, 4.0], y_train=[1.0, 3.0, 2.0, 5.0])
    0.75
    >>> mase(season=12)([5.0, 6.0], [4.0, 4.0], scale=3.0)
    0.5
    """
    check_count("season", season)
    return Scaled(int(season))


ROUNDING = 1e-13  # a value that is smaller, beside what it was computed from, may as well be zero
NOT_ZERO = "which relative errors cannot be divided by; use 'smape', 'mae' or 'mase'."


def relative(e, truth, of: str):
    """Sizes of errors ``e``, value minus ``truth``, that are "relative" or "symmetric".

    ``|e| / |truth|``, or ``2 |e| / (|truth| + |truth + e|)``: at most 2, and 0 where both values
    are 0. An infinite value has an infinite error in either case. Arrays are those of the host or
    of a device.
    """
    xp = namespace(e)
    size, below = xp.abs(e), xp.abs(truth)
    if of == "symmetric":
        below = (below + xp.abs(truth + e)) / 2
    right = size == 0
    quotient = size / xp.where(right, 1.0, below)
    return xp.where(right, 0.0, xp.where(xp.isfinite(size), quotient, xp.inf))


def mape(y_true: Any, y_pred: Any) -> float:
    """Mean absolute percentage error over rows and outputs, as a fraction: 0.1 is 10 %.

    True values must not be zero.

    Parameters
    ----------
    y_true, y_pred : array of shape (T,) or (T, outputs)
        Targets and predictions.

    Returns
    -------
    float
        The mean of ``|y - t| / |t|``.

    Examples
    --------
    >>> from echofold.metrics import mape
    >>> mape([1.0, 4.0], [1.5, 3.0])
    0.375
    """
    t, y = pair(y_true, y_pred)
    check_not_zero(t, t)
    return _mean(t, y, "relative")


def smape(y_true: Any, y_pred: Any) -> float:
    """Symmetric mean absolute percentage error over rows and outputs, as a fraction from 0 to 2.

    That of the M4 competition, divided by 100.

    Parameters
    ----------
    y_true, y_pred : array of shape (T,) or (T, outputs)
        Targets and predictions.

    Returns
    -------
    float
        The mean of ``2 |y - t| / (|t| + |y|)``, which is 0 where both are 0.

    Examples
    --------
    >>> from echofold.metrics import smape
    >>> smape([1.0, 0.0], [3.0, 0.0])
    0.5
    """
    return _mean(*pair(y_true, y_pred), "symmetric")


def _mean(t: np.ndarray, y: np.ndarray, of: str) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.mean(relative(y - t, t, of)))


def check_not_zero(t: np.ndarray, made_of: np.ndarray, rows: np.ndarray | None = None) -> None:
    """Raise for true values ``t (T, outputs)`` that are zero, up to the rounding of ``made_of``.

    ``rows (T,)`` are the numbers of the rows in the data, if they are others than here.
    """
    zero = np.abs(t) <= ROUNDING * np.abs(made_of)
    if zero.any():
        row = int(np.argwhere(zero)[0][0])
        row = row if rows is None else int(rows[row])
        raise ValueError(f"metric 'mape': y_true is 0 in row {row}, {NOT_ZERO}")
