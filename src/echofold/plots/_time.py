"""Where rows stand on a horizontal axis of time."""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold._data.timeline import timeline
from echofold.plots._style import fitting, plain, whole_numbers


def positions(index: Any, rows: int) -> np.ndarray:
    """Where rows stand on the horizontal axis: dates, numbers that ascend, or row numbers."""
    if hasattr(index, "to_timestamp"):
        index = index.to_timestamp()
    if getattr(index, "tz", None) is not None:
        index = index.tz_localize(None)
    if index is not None and index.dtype.kind in "Miuf" and index.is_monotonic_increasing:
        return index.to_numpy()
    return np.arange(rows)


def label_time(ax: Any, index: Any) -> None:
    """Label the horizontal axis; dates briefly."""
    if hasattr(index, "to_timestamp") or getattr(getattr(index, "dtype", None), "kind", "") == "M":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator(minticks=2, maxticks=max(4, min(8, fitting(ax, 6))))
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    else:
        whole_numbers(ax)
        ax.set_xlabel("row" if index is None or index.name is None else plain(index.name))


def continued(index: Any, rows: int, horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the series and the ``horizon`` values after it stand."""
    if index is not None:
        ends = timeline(index, "y")
        if ends.kind != "rows":
            return positions(index, rows), positions(ends.following(horizon), horizon)
    return np.arange(rows), np.arange(rows, rows + horizon)
