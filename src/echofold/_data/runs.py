"""Forecasts by which splits are validated: where each begins, and how far it goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from echofold._machine.arrays import namespace


@dataclass(frozen=True, eq=False)
class Runs:
    """Forecasts by which splits are validated: ``split``, ``first`` row and ``steps`` of each.

    All are ``(runs,)``. A split has one for each interval of its validation rows, and what its runs
    add up to is its own; ``n`` is the number of rows, and ``splits`` that of splits.
    """

    split: np.ndarray
    first: np.ndarray
    steps: np.ndarray
    n: int
    splits: int

    def __len__(self) -> int:
        return len(self.split)

    @property
    def longest(self) -> int:
        """Steps of the longest run."""
        return int(self.steps.max())

    @cached_property
    def single(self) -> bool:
        """Whether every split has one."""
        return len(self) == self.splits

    @cached_property
    def rows(self) -> np.ndarray:
        """Rows of each run side by side, ``n`` where padded."""
        ahead = np.arange(self.longest)
        return np.where(ahead < self.steps[:, None], self.first[:, None] + ahead, self.n)

    def of_splits(self, values: Any, axis: int = 1) -> Any:
        """For every run what belongs to its split, along one axis of an array."""
        return values if self.single else namespace(values).take(values, self.split, axis=axis)

    def added(self, sums: np.ndarray) -> np.ndarray:
        """Sums ``(…, splits, ridge)`` of those of runs ``(…, runs, ridge)``."""
        if self.single:
            return sums
        return np.add.reduceat(sums, np.searchsorted(self.split, np.arange(self.splits)), axis=-2)

    def cut(self, most: int) -> Runs:
        """The first steps of every run."""
        return replace(self, steps=np.minimum(self.steps, most))
