"""Many series in one long frame, as Nixtla's libraries read and write them: taken apart, and made.

A row holds the name of a series, a time and a value; further columns are inputs known in advance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from echofold._data.long_frames import LongFrame, LongSeries, from_long, written_long
from echofold._data.tables import kind_of
from echofold._models.forecast import Forecast

__all__ = ["LongFrame", "LongSeries", "from_long", "to_long"]


def to_long(
    forecasts: Mapping[Any, Any], *, model: str = "ESN", id: str = "unique_id",
    time: str = "ds", like: Any = None,
) -> Any:  # fmt: skip
    """Put series or forecasts together in a long frame.

    Parameters
    ----------
    forecasts : dict
        By the name of the series, what ``forecast`` returned for pandas data: a series, or a
        `Forecast` with intervals at a list of levels.
    model : str, default="ESN"
        Name of the column of values. Ends of an interval of 90 % are in ``ESN-lo-90`` and
        ``ESN-hi-90``.
    id, time : str
        Names of the columns with the name of the series, and with the times.
    like : polars DataFrame, optional
        Give a frame of polars; one of pandas without it.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> import pandas as pd
    >>> from echofold.long_format import to_long
    >>> ahead = pd.Series([4.0, 5.0], index=pd.date_range("2024-01-01", periods=2))
    >>> to_long({"a": ahead}).columns.tolist()
    ['unique_id', 'ds', 'ESN']
    """
    if not forecasts:
        raise ValueError("forecasts is empty; give at least one series by its name.")
    if len({model, id, time}) < 3:
        raise ValueError(
            f"model={model!r}, id={id!r} and time={time!r} name columns of one frame; give each "
            "another name."
        )
    each = {name: pd.DataFrame(_columns(name, one, model)) for name, one in forecasts.items()}
    return written_long(each, id, time, kind_of(like))


def _columns(name: Any, one: Any, model: str) -> dict[str, pd.Series]:
    """Columns of one series: its values, the lower ends from the widest on, then the upper."""
    mean = one.mean if isinstance(one, Forecast) else one
    if not isinstance(mean, pd.Series):
        raise TypeError(
            f"forecasts[{name!r}]: got {type(mean).__name__}, expected a pandas series with times "
            "as its index, as forecasts of one such series are."
        )
    if not isinstance(one, Forecast):
        return {model: mean}
    levels = {level: f"{100 * level:.10g}" for level in sorted(one.lower)}
    lower = {f"{model}-lo-{levels[level]}": one.lower[level] for level in reversed(levels)}
    upper = {f"{model}-hi-{levels[level]}": one.upper[level] for level in levels}
    return {model: mean, **lower, **upper}
