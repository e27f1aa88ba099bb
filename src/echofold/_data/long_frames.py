"""Long frames: a row holds the name of a series, a time and what is known of it then.

Taken apart into series, and put together again; of pandas and of polars.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from echofold._data.arguments import is_integer
from echofold._data.tables import kind_of


@dataclass(frozen=True)
class LongFrame:
    """Several series in one long frame, for any argument that takes several series.

    Parameters
    ----------
    frame : pandas or polars DataFrame
        A row for each time of each series, in any order.
    id, time : str
        Columns with the name of the series, and with dates (as text, those of ISO 8601) or whole
        numbers.
    target : str or sequence of str
        The column of values, or several of them, or those of inputs known in advance.
    freq : str, pandas offset or int, optional
        Spacing of the times, such as "D" or 1: times that are left out become missing values (NaN).
        Without it the times are taken as they are.

    Examples
    --------
    >>> import pandas as pd
    >>> from echofold import ESNForecaster
    >>> from echofold.long_format import LongFrame
    >>> frame = pd.DataFrame({"shop": ["a"] * 40 + ["b"] * 40, "day": [*range(40)] * 2})
    >>> frame["sold"] = frame["day"] % 4
    >>> model = ESNForecaster(20, random_state=0).fit(LongFrame(frame, "shop", "day", "sold"))
    >>> model.forecast(2).round(1)
      shop  day  forecast
    0    a   40       0.0
    1    a   41       1.0
    2    b   40       0.0
    3    b   41       1.0
    """

    frame: Any
    id: str = "unique_id"
    time: str = "ds"
    target: str | Sequence[str] = "y"
    freq: Any = None

    def series(self) -> dict[Any, Any]:
        """What is known of each series, by its name, sorted by time."""
        value = self.target if isinstance(self.target, str) else None
        names = list(self.target) if value is None else [value]
        frame = as_pandas(self.frame)
        kept = [name for name in frame.columns if name in (self.id, self.time, *names)]
        if missing := [name for name in (self.id, self.time, *names) if name not in kept]:
            raise ValueError(
                f"frame has no column {missing[0]!r}; it has "
                f"{', '.join(map(repr, frame.columns))}. Name the columns by id=, time= and "
                "columns=, or target= of fit."
            )
        if len({self.id, self.time, *names}) < 2 + len(names):
            raise ValueError(
                f"id={self.id!r}, time={self.time!r} and target={self.target!r} name a column "
                "twice. Give each a column of its own."
            )
        own = {"id": self.id, "time": self.time, "freq": self.freq}
        found = from_long(frame[kept], value=value, **own)
        if value is None:
            return {name: pd.DataFrame(one.X)[names] for name, one in found.items()}
        return {name: one.y for name, one in found.items()}


def in_long_frames(
    frame: Any, X: Any, id: str | None, time: str | None, target: str | None
) -> tuple[LongFrame, Any, list[str]]:
    """Series, and known inputs by the names of their columns; what is said of other columns."""
    if id is None or time is None or target is None:
        lacks = "id" if id is None else "time" if time is None else "target"
        raise ValueError(f"{lacks}=None: of a long frame give id=, time= and target=, its columns.")
    y, named, columns = LongFrame(frame, id, time, target), [], as_pandas(frame).columns
    if X is not None and not isinstance(X, LongFrame):
        named = [X] if isinstance(X, str) else list(X)
        X = LongFrame(frame, id, time, named)
    others = [str(name) for name in columns if name not in (id, time, target, *named)]
    words = (
        f"columns {', '.join(others)} of the frame are not used: name those that are known in "
        "advance by X=."
    )
    return y, X, [words] if others and X is None else []


def written_long(each: Mapping[Any, pd.DataFrame], id: str, time: str, kind: str) -> Any:
    """Tables of series below each other, with their names and times; a frame of a ``kind``."""
    parts = []
    for name, table in each.items():
        part = table.rename_axis(time).reset_index()
        part.insert(0, id, [name] * len(part))
        parts.append(part)
    frame = pd.concat(parts, ignore_index=True)
    if kind != "polars":
        return frame
    import polars as pl

    columns = {}
    for column, values in frame.items():
        if values.dtype.kind == "M" and values.dt.unit == "s":  # which polars has not
            values = values.dt.as_unit("ms")
        plain = isinstance(values.dtype, np.dtype) and values.dtype.kind not in "OU"
        columns[str(column)] = values.to_numpy() if plain else values.tolist()
    return pl.DataFrame(columns)


class LongSeries(NamedTuple):
    """One series of a long frame: ``y``, and its known inputs ``X``; None where there are none."""

    y: pd.Series | None
    X: pd.DataFrame | None


def from_long(
    frame, *, id="unique_id", time="ds", value: str | None = "y", freq=None
) -> dict[Any, LongSeries]:
    """Take a long frame apart.

    Parameters
    ----------
    frame : pandas or polars DataFrame
        A row for each time of each series, in any order.
    id, time : str
        Columns with the name of the series, and with dates (as text, those of ISO 8601) or whole
        numbers.
    value : str or None, default="y"
        Column with the values; None for a frame of known inputs alone, as for the future.
    freq : str, pandas offset or int, optional
        Spacing of the times, such as "D" or 1: times that are left out become missing values (NaN).
        Without it the times are taken as they are.

    Returns
    -------
    dict of LongSeries
        ``y`` and ``X`` by the name of the series, sorted by time, which is their index. ``X`` holds
        all other columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from echofold.long_format import from_long
    >>> frame = pd.DataFrame({"unique_id": ["a", "b", "a"], "ds": [2, 1, 1], "y": [5.0, 7.0, 4.0]})
    >>> from_long(frame)["a"].y.tolist()
    [4.0, 5.0]
    """
    frame = as_pandas(frame)
    wanted = [name for name in (id, time, value) if name is not None]
    if missing := [name for name in wanted if name not in frame.columns]:
        raise ValueError(
            f"frame has no column {missing[0]!r}; it has {', '.join(map(repr, frame.columns))}. "
            "Name the columns by id=, time= and value=."
        )
    known = [name for name in frame.columns if name not in wanted]
    frame = frame.assign(**{time: _times(frame[time])})
    _check_freq(freq, frame[time])
    found = {}
    for name, rows in frame.groupby(id, sort=False, dropna=False):
        rows = rows.set_index(time).sort_index()
        _check_times(rows.index, name, time)
        rows.index, every = _spaced(rows.index, freq)
        rows = rows.reindex(every)
        y = None if value is None else rows[value].rename(value)
        found[name] = LongSeries(y, rows[known] if known else None)
    return found


def as_pandas(frame: Any) -> pd.DataFrame:
    """A frame of either library, in pandas."""
    if kind_of(frame) == "polars" and hasattr(frame, "get_columns"):
        return pd.DataFrame({column.name: _from_polars(column) for column in frame.get_columns()})
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(
            f"frame: got {type(frame).__name__}, expected a pandas or polars DataFrame with a row "
            "for each time of each series."
        )
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"frame has several columns {twice!r}; rename all but one.")
    return frame


def _from_polars(column: Any) -> Any:
    """Values of a column; times with a zone are in UTC there, and get it back."""
    zone, values = getattr(column.dtype, "time_zone", None), column.to_numpy()
    return values if zone is None else pd.DatetimeIndex(values).tz_localize("UTC").tz_convert(zone)


def _times(column: pd.Series) -> pd.Series:
    """Dates or whole numbers; text is read as ISO 8601, of which there is one reading."""
    name = column.name
    if pd.api.types.is_integer_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return column
    if isinstance(column.dtype, pd.PeriodDtype):
        return column.dt.to_timestamp()
    if pd.api.types.is_float_dtype(column) and not (column % 1).any():
        return column if column.isna().any() else column.astype("int64")
    if not pd.api.types.is_numeric_dtype(column):
        try:
            return pd.to_datetime(column, format="ISO8601")
        except (ValueError, TypeError):
            pass
    odd = next((one for one in column if not isinstance(one, float) or one % 1), column.iloc[0])
    raise ValueError(
        f"{name}={odd!r} is neither a date, nor text such as '2024-01-31', nor a whole number. "
        f"Read it first: frame[{name!r}] = pd.to_datetime(frame[{name!r}], format=...)."
    )


def _check_freq(freq: Any, times: pd.Series) -> None:
    """Raise for a spacing of another kind than the times have."""
    if freq is None:
        return
    if pd.api.types.is_numeric_dtype(times):
        if not is_integer(freq) or freq < 1:
            raise ValueError(f"freq={freq!r}: times are whole numbers; give a positive integer.")
        return
    try:
        pd.tseries.frequencies.to_offset(freq)
    except (ValueError, TypeError):
        raise ValueError(
            f"freq={freq!r}: times are dates; give a frequency of pandas, such as 'D' or 'MS'."
        ) from None


def _check_times(index: pd.Index, name: Any, time: str) -> None:
    """Raise for times that are missing, or there twice."""
    if index.isna().any():
        raise ValueError(f"{time}: series {name!r} has a row without a time; fill or drop it.")
    if index.has_duplicates:
        twice = index[index.duplicated()][0]
        raise ValueError(
            f"{time}: series {name!r} has several rows for {twice}. Give each of them a name of "
            "its own by id=, or drop all but one."
        )


def _spaced(index: pd.Index, freq: Any) -> tuple[pd.Index, pd.Index]:
    """Times with the spacing that they have, and all times of that spacing."""
    if pd.api.types.is_integer_dtype(index):
        step = 1 if freq is None else int(freq)
        every = index if freq is None else pd.RangeIndex(index[0], index[-1] + step, step)
    else:
        index = pd.DatetimeIndex(index)
        if freq is None and len(index) > 2:
            index = pd.DatetimeIndex(index, freq="infer")
        every = index if freq is None else pd.date_range(index[0], index[-1], freq=freq)
    if not index.isin(every).all():
        off = index[~index.isin(every)][0]
        raise ValueError(
            f"freq={freq!r}: the time {off} is none of those that begin at {index[0]} with this "
            "spacing. Give the spacing of the data, or leave freq out."
        )
    return index, every
