"""Where a pandas index ends, and how it goes on.

Dates with a frequency (set, or inferred from three dates or more), periods and integers with a
constant step are continued. Any other index cannot be: its continuation counts rows, from the
number of rows seen so far.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Timeline:
    """The end of an index: ``last`` label, ``step`` to the next, and the number of ``rows`` so far.

    ``kind`` is ``"dates"`` (``step`` is a pandas offset), ``"periods"`` (a period's offset),
    ``"integers"`` (an integer) or ``"rows"`` (labels that cannot be continued).
    """

    kind: str
    last: Any
    step: Any
    rows: int
    name: Any = None

    def following(self, rows: int) -> Any:
        """The pandas index of the next ``rows`` rows."""
        import pandas as pd

        try:
            if self.kind == "dates":
                ahead = pd.date_range(self.last, periods=rows + 1, freq=self.step, name=self.name)
                return ahead[1:].as_unit(self.last.unit)
            if self.kind == "periods":
                return pd.period_range(
                    self.last + self.step, periods=rows, freq=self.step, name=self.name
                )
        # At the end of the calendar pandas raises any of these.
        except (ArithmeticError, TypeError, ValueError) as error:
            raise ValueError(
                f"the index cannot be continued by {rows} rows of {self.step.freqstr} after "
                f"{self.last!s}: {error}. Ask for fewer rows, or fit without an index."
            ) from error
        if self.kind == "integers":
            first = self.last + self.step
            return pd.RangeIndex(first, first + rows * self.step, self.step, name=self.name)
        return pd.RangeIndex(self.rows, self.rows + rows, name=self.name)

    def moved(self, rows: int) -> Timeline:
        """The timeline after ``rows`` more rows."""
        last = None if self.kind == "rows" else self.following(rows)[-1]
        return replace(self, last=last, rows=self.rows + rows)

    def check_follows(self, index: Any, argument: str) -> None:
        """Raise unless ``index`` (None: unlabelled) is what comes next."""
        if index is None or self.kind == "rows":
            return
        expected = self.following(len(index))
        differ = np.flatnonzero(np.asarray(index != expected))
        if differ.size:
            row = differ[0]
            raise ValueError(
                f"the index of {argument} does not follow the data: row {row} is "
                f"{index[row]!s}, expected {expected[row]!s}. Give the rows that come right "
                f"after {self.last!s}, or pass {argument} without an index (as a NumPy array)."
            )


def timeline(index: Any, argument: str) -> Timeline:
    """Read where a pandas ``index`` ends; raise if its dates or periods go backwards."""
    import pandas as pd

    last, rows, name = index[-1], len(index), index.name
    if isinstance(index, pd.DatetimeIndex | pd.PeriodIndex):
        _check_order(index, argument)
    if isinstance(index, pd.PeriodIndex):
        if (np.diff(index.asi8) == index.freq.n).all():
            return Timeline("periods", last, index.freq, rows, name)
    elif isinstance(index, pd.DatetimeIndex):
        freq = index.freq
        if freq is None and rows >= 3:
            freq = pd.DatetimeIndex(index, freq="infer").freq
        if freq is not None:
            return Timeline("dates", last, freq, rows, name)
    elif isinstance(index, pd.RangeIndex):
        return Timeline("integers", int(last), int(index.step), rows, name)
    elif pd.api.types.is_integer_dtype(index.dtype) and rows >= 2 and not index.hasnans:
        steps = np.diff(index.to_numpy())
        if steps[0] != 0 and (steps == steps[0]).all():
            return Timeline("integers", int(last), int(steps[0]), rows, name)
    return Timeline("rows", None, None, rows, name)


def check_aligned(index: Any, other: Any, argument: str) -> None:
    """Raise if two date or period indexes, of ``y`` and of ``argument``, name different times."""
    import pandas as pd

    times = pd.DatetimeIndex | pd.PeriodIndex
    if not (isinstance(index, times) and isinstance(other, times)):
        return
    differ = np.flatnonzero(np.asarray(index != other))
    if differ.size:
        row = differ[0]
        raise ValueError(
            f"the indexes of y and {argument} name different times: row {row} is {index[row]!s} "
            f"in y and {other[row]!s} in {argument}. Rows are matched by position; reindex "
            f"{argument} to the index of y, or pass it without an index (as a NumPy array)."
        )


def _check_order(index: Any, argument: str) -> None:
    """Raise where dates or periods are missing or go backwards."""
    if index.hasnans:
        row = int(np.flatnonzero(index.isna())[0])
        raise ValueError(
            f"the index of {argument} has no date at row {row} (NaT). Remove that row or give "
            "it its date."
        )
    if not index.is_monotonic_increasing:
        row = int(np.flatnonzero(np.diff(index.asi8) < 0)[0]) + 1
        remedy = f"use {argument}.sort_index()."
        if index.has_duplicates:  # which sorting would mix
            remedy = (
                "dates repeat themselves, so if these are several series below each other, fit "
                f"each on its own (echofold.long_format), else use {argument}.sort_index()."
            )
        raise ValueError(
            f"the index of {argument} goes back in time at row {row}: {index[row]!s} comes after "
            f"{index[row - 1]!s}. Rows must be in time order; {remedy}"
        )
