"""Scaling of columns, learned once and undone on the way out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from echofold._data.lazy import Lazy, Values

LARGEST = 1e150  # of values that are not scaled: squares of larger ones overflow
# The unit of a known input that never changed. Nothing was learned of it, and what comes later, in
# this unit, is nothing either: it must not drive a reservoir to where its readout knows nothing.
UNHEARD = 1e150


@dataclass(frozen=True)
class Scaler:
    """Columns measured from ``center`` in units of ``unit``, both ``(columns,)``."""

    center: np.ndarray
    unit: np.ndarray

    @classmethod
    def learned(
        cls, values: Values, scale: str | None, argument: str, still: float = 1.0
    ) -> Scaler:
        """Learn from rows ``(n, columns)``, NaN left out; ``still`` is the unit of a constant one.

        ``"standard"`` takes the mean and the standard deviation, ``"minmax"`` the smallest value
        and the range, ``None`` leaves values as they are.

        Examples
        --------
        >>> import numpy as np
        >>> Scaler.learned(np.array([[1.0, 7.0], [3.0, 7.0]]), "minmax", "y")
        Scaler(center=array([1., 7.]), unit=array([2., 1.]))
        """
        nothing = np.zeros(values.shape[1]), np.ones(values.shape[1])
        if scale is None and isinstance(values, Lazy):
            return cls(*nothing)
        low, high, mean, std = summary_of(values)
        largest = np.maximum(np.abs(low), np.abs(high))
        with np.errstate(over="ignore", invalid="ignore"):
            center, unit = (low, high - low) if scale == "minmax" else (mean, std)
        bad = largest > LARGEST if scale is None else ~(np.isfinite(center) & np.isfinite(unit))
        if bad.any():
            column = int(bad.argmax())
            raise ValueError(
                f"{argument} holds values up to {largest[column]:.3g} in "
                f"column {column}, too large for scale={scale!r}: their spread overflows. Divide "
                "that column by a constant first."
            )
        if scale is None:
            return cls(*nothing)
        # The mean of equal numbers is off by a rounding, which must not become the unit.
        constant = (low == high) | (unit == 0)
        return cls(np.where(constant, low, center), np.where(constant, still, unit))

    @classmethod
    def alike(cls, values: np.ndarray, variables: int, scale: str | None, argument: str) -> Scaler:
        """Learn one center and unit for each variable of a field, whose cells are columns.

        Columns ``(cells · variables,)`` have those of a cell one after the other.
        """
        own = cls.learned(values.reshape(-1, variables), scale, argument)
        cells = values.shape[1] // variables
        return cls(np.tile(own.center, cells), np.tile(own.unit, cells))

    def scaled(self, values: np.ndarray) -> np.ndarray:
        """Original values (last axis: columns) in scaled units."""
        return (values - self.center) / self.unit

    def original(self, values: np.ndarray) -> np.ndarray:
        """Scaled values (last axis: columns) in original units."""
        return self.center + self.unit * values


def summary_of(values: Values) -> tuple[np.ndarray, ...]:
    """The lowest and highest value of each column, mean and standard deviation; NaN left out.

    Rows that are not in memory are complete, and measured in one pass.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if not isinstance(values, Lazy):
            measures = np.min, np.max, np.mean, np.std
            if np.isnan(values).any():
                measures = np.nanmin, np.nanmax, np.nanmean, np.nanstd
            return tuple(measure(values, axis=0) for measure in measures)
        low, high = np.full((2, values.shape[1]), np.nan)
        mean, squares = np.zeros((2, values.shape[1]))
        for rows, block in values.blocks():
            mean, squares = merged(rows, mean, squares, block)
            low, high = np.fmin(low, block.min(axis=0)), np.fmax(high, block.max(axis=0))
        return low, high, mean, np.sqrt(squares / len(values))


def merged(rows: int, mean: Any, squares: Any, block: np.ndarray) -> tuple[Any, Any]:
    """Means and squared deviations of ``rows`` rows so far and of a ``block (k, columns)`` more.

    With ``δ`` between both means, squares add up with ``δ² n k / (n + k)`` (Chan, Golub and LeVeque
    1983), which loses nothing to values far from zero.
    """
    n, k, own = rows, len(block), block.mean(axis=0)
    apart = own - mean
    squares = squares + ((block - own) ** 2).sum(axis=0) + apart**2 * (n * k / (n + k))
    return mean + apart * (k / (n + k)), squares
