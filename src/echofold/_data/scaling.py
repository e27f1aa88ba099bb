"""Scaling of columns, learned once and undone on the way out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Scaler:
    """Columns measured from ``center`` in units of ``unit``, both ``(columns,)``."""

    center: np.ndarray
    unit: np.ndarray

    @classmethod
    def learned(cls, values: np.ndarray, scale: str | None, argument: str) -> Scaler:
        """Learn from rows ``(n, columns)``, NaN left out; a constant column keeps its unit.

        ``"standard"`` takes the mean and the standard deviation, ``"minmax"`` the smallest value
        and the range, ``None`` leaves values as they are.

        Examples
        --------
        >>> import numpy as np
        >>> Scaler.learned(np.array([[1.0, 7.0], [3.0, 7.0]]), "minmax", "y")
        Scaler(center=array([1., 7.]), unit=array([2., 1.]))
        """
        columns = values.shape[1]
        if scale is None:
            return cls(np.zeros(columns), np.ones(columns))
        least, most, mean, std = np.min, np.max, np.mean, np.std
        if np.isnan(values).any():
            least, most, mean, std = np.nanmin, np.nanmax, np.nanmean, np.nanstd
        low, high = least(values, axis=0), most(values, axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            if scale == "minmax":
                center, unit = low, high - low
            else:
                center, unit = mean(values, axis=0), std(values, axis=0)
        bad = np.flatnonzero(~(np.isfinite(center) & np.isfinite(unit)))
        if bad.size:
            raise ValueError(
                f"{argument} holds values up to {np.nanmax(np.abs(values[:, bad[0]])):.3g} in "
                f"column {bad[0]}, too large for scale={scale!r}: their spread overflows. Divide "
                "that column by a constant first."
            )
        # The mean of equal numbers is off by a rounding, which must not become the unit.
        constant = (low == high) | (unit == 0)
        return cls(np.where(constant, low, center), np.where(constant, 1.0, unit))

    def scaled(self, values: np.ndarray) -> np.ndarray:
        """Original values (last axis: columns) in scaled units."""
        return (values - self.center) / self.unit

    def original(self, values: np.ndarray) -> np.ndarray:
        """Scaled values (last axis: columns) in original units."""
        return self.center + self.unit * values
