"""Missing values: what stands in for them as inputs, and how users are told.

A row without a target is neither trained on nor scored. A missing input must be some number, for a
reservoir takes every step: it is the last known value or, where there is a season, the last known
one of the same time of the season. Missing values at the beginning are the first known one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold._data.rows import Interval, intervals_of
from echofold._data.tables import Table, label_of

SHOWN = 4  # stretches of missing rows that are named
AS_TARGETS = "Rows without a value are neither trained on nor scored."
AS_INPUTS = (
    "As an input, a missing value is taken to be the last known one, or the last known one of the "
    "same time of the season if the estimator has a season."
)
AS_KNOWN = (
    "As an input, a missing value is taken to be the last known one of its column here (at the "
    "beginning the first), or the last known one of the same time of the season."
)
ON_ITS_OWN = "the network runs on its own forecasts."
BRIDGED = "The network's own forecasts take their place."


def filled(values: np.ndarray, every: int | None = None) -> np.ndarray:
    """Values ``(rows, columns)`` with a known one in place of each that is missing (NaN).

    That is the last known one among those ``every`` so many rows before, else the last known one,
    else the first. Every column must have one.
    """
    known = ~np.isnan(values)
    if known.all():
        return values
    source = _last_known(known, 1)
    if every is not None:
        seasonal = _last_known(known, every)
        source = np.where(seasonal >= 0, seasonal, source)
    source = np.where(source >= 0, source, known.argmax(axis=0))
    return np.take_along_axis(values, source, axis=0)


KNOWN, ALIKE, OTHER = 2.0, 1.0, 0.0  # itself, one of the same time of the season, or another


def how_filled(values: np.ndarray, every: int | None = None) -> np.ndarray:
    """Whether each of ``values`` is `KNOWN`, or what `filled` puts in its place."""
    known = ~np.isnan(values)
    alike = known if every is None else _last_known(known, every) >= 0
    return np.where(known, KNOWN, np.where(alike, ALIKE, OTHER))


def filled_after(
    before: np.ndarray, how: np.ndarray, values: np.ndarray, every: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows that were filled, and those that follow, as `filled` fills all; and how, of each.

    ``before`` are at least the last row, and a season if there is one or all rows there are.
    """
    both, how = np.vstack([before, values]), np.vstack([how, np.full(values.shape, KNOWN)])
    for row, column in np.argwhere(np.isnan(both)).tolist():
        season = row - (every or row + 1)
        known = np.flatnonzero(how[:row, column] == KNOWN)
        if season >= 0 and how[season, column] != OTHER:
            source, how[row, column] = season, ALIKE
        else:  # the last known one, which also stands where none was for a whole season
            source = int(known[-1]) if len(known) else season if season >= 0 else row - 1
            how[row, column] = OTHER
        both[row, column] = both[source, column]
    return both, how


def _last_known(known: np.ndarray, every: int) -> np.ndarray:
    """The last row, a multiple of ``every`` before each, that is ``known``; -1 if none is."""
    rows, columns = known.shape
    at = np.full((-(-rows // every) * every, columns), -1)
    at[:rows] = np.where(known, np.arange(rows)[:, None], -1)
    latest = np.maximum.accumulate(at.reshape(-1, every, columns), axis=0)
    return latest.reshape(-1, columns)[:rows]


def present_rows(values: np.ndarray) -> np.ndarray | None:
    """Rows of ``y`` that have a value in every column; None if all have, an error if none."""
    present = ~np.isnan(values).any(axis=1)
    if present.all():
        return None
    if not present.any():
        raise ValueError(
            f"y has a missing value (NaN) in each of its {len(values)} rows, and a row "
            "counts only with a value in every column. Give some complete rows, or fit the columns "
            "one by one."
        )
    return present


def require_two(rows: np.ndarray, what: str) -> None:
    """Raise unless two of ``rows`` (positive or true: can be trained on) are left."""
    count = int(np.count_nonzero(rows))
    if count < 2:
        raise ValueError(
            f"y leaves {count} of {len(rows)} {what} to train on, at least 2 are needed: "
            "the others miss a value (NaN), are a difference from one that is missing, or have a "
            "sample_weight of 0. Give a longer series, or fill some of the missing values."
        )


def words_of(
    values: np.ndarray, argument: str, what: str, names: tuple | None, index: Any
) -> tuple[str, ...]:
    """Say which of ``values`` are missing, and ``what`` is done; nothing if none is.

    ``names`` are those of the columns, and ``index`` the pandas index, where there are any.
    """
    missing = np.isnan(values)
    count = int(missing.sum())
    if not count:
        return ()
    columns = ""
    if values.shape[1] > 1:
        at = np.flatnonzero(missing.any(axis=0))
        more = ", …" if len(at) > SHOWN else ""
        columns = f" in column{'s' if len(at) > 1 else ''} "
        columns += ", ".join(label_of(names, column) for column in at[:SHOWN]) + more + ","
    lacking = f"value of {values.size} is" if count == 1 else f"values of {values.size} are"
    rows = _ranges(intervals_of(np.flatnonzero(missing.any(axis=1))), index)
    return (f"{argument}: {count} {lacking} missing (NaN),{columns} in {rows}. {what}",)


def _ranges(stretches: tuple[Interval, ...], index: Any) -> str:
    """Stretches of rows in words: the first ones and the last, with dates where there are any."""
    shown = [_range(stretch, index) for stretch in stretches[:SHOWN]]
    if len(stretches) > SHOWN:
        shown[-1:] = ["…", _range(stretches[-1], index)]
    single = len(stretches) == 1 and stretches[0][1] - stretches[0][0] == 1
    return f"row{'' if single else 's'} {', '.join(shown)}"


def _range(stretch: Interval, index: Any) -> str:
    """One stretch of rows in words."""
    first, last = stretch[0], stretch[1] - 1
    ends = [first] if first == last else [first, last]
    words = " to ".join(map(str, ends))
    if index is None or getattr(index.dtype, "kind", "i") in "iu":  # dates say more, numbers do not
        return words
    labels = [str(index[end]).removesuffix(" 00:00:00") for end in ends]
    return f"{words} ({' to '.join(labels)})"


def words_of_table(table: Table, argument: str, what: str) -> tuple[str, ...]:
    """`words_of` what is missing from a table."""
    return words_of(table.values, argument, what, table.schema.names, table.index)
