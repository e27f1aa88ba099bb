"""The forecast in figures: a table of every step, and the same as a file inside of the page."""

from __future__ import annotations

import base64
import math
import re
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.numbers import figure
from echofold._data.text import guarded, legible
from echofold.plots._series import column_name
from echofold.report._about import Ahead
from echofold.report._verdict import short_name


def tables(ahead: Ahead, most: int) -> list[dict[str, Any]]:
    """A table for each of the first outputs: every step, its interval, the plain forecasts."""
    parts, index = _parts(ahead), _index(ahead)
    plain = {short_name(name, ahead.table.index): values for name, values in ahead.plain.items()}
    found = []
    for output in range(min(most, ahead.table.values.shape[1])):
        columns = [values[:, output] for values in [*parts.values(), *plain.values()]]
        written = _alike(np.column_stack(columns))
        found.append(
            {
                "name": column_name(ahead.table, output),
                "head": [_time(index), *map(_head, parts), *plain],
                "rows": [
                    (label, list(zip(map(float, values), texts, strict=True)))
                    for label, values, texts in zip(
                        labels(index), zip(*columns, strict=True), written, strict=True
                    )
                ],
            }
        )
    return found


def _alike(values: np.ndarray) -> list[list[str]]:
    """Figures ``(rows, columns)`` as text with as many decimals as the largest of them needs."""
    finite = np.abs(values[np.isfinite(values)])
    largest = figure(float(finite.max())) if len(finite) else ""
    if not re.fullmatch(r"[\d,]+(\.\d+)?", largest):  # with powers of ten, each by itself
        return [[figure(value) for value in row] for row in values.tolist()]
    decimals = min(len(largest.partition(".")[2]), 6)
    return [
        [f"{value:,.{decimals}f}" if math.isfinite(value) else figure(value) for value in row]
        for row in values.tolist()
    ]


def csv_link(ahead: Ahead) -> str:
    """The forecast and its intervals as a file that a link carries."""
    outputs, index = ahead.table.values.shape[1], _index(ahead)
    columns: dict[str, np.ndarray] = {}
    for output in range(outputs):
        prefix = f"{legible(column_name(ahead.table, output))} " if outputs > 1 else ""
        columns |= {prefix + name: values[:, output] for name, values in _parts(ahead).items()}
    name = _time(index)
    frame = pd.DataFrame(columns)
    frame.insert(0, "date" if name in frame.columns else name, labels(index))
    text = frame.rename(columns=guarded).to_csv(index=False).encode()
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(text).decode()}"


def _parts(ahead: Ahead) -> dict[str, np.ndarray]:
    """Forecast and ends of intervals ``(horizon, outputs)``, named as in a forecast's frame."""
    assert ahead.forecast is not None
    mean, lower, upper = ahead.forecast
    parts = {"forecast": mean}
    for level in lower:
        percent = "" if level is None else f"_{100 * level:.10g}"
        parts |= {f"lower{percent}": lower[level], f"upper{percent}": upper[level]}
    return {
        name: np.asarray(part, dtype=float).reshape(len(mean), -1) for name, part in parts.items()
    }


def _index(ahead: Ahead) -> pd.Index:
    """What the steps are called; rows without a name count on from the series."""
    assert ahead.forecast is not None
    mean, rows = ahead.forecast.mean, len(ahead.table.values)
    if isinstance(mean, pd.Series | pd.DataFrame):
        return mean.index
    return pd.RangeIndex(rows, rows + len(mean), name="row")


def labels(index: pd.Index) -> list[str]:
    """Steps as text: dates no finer than they need to be, numbers without needless digits."""
    if not isinstance(index, pd.DatetimeIndex):
        return [f"{one:.16g}" if isinstance(one, float) else str(one) for one in index]
    for unit, form in (("D", "%Y-%m-%d"), ("min", "%Y-%m-%d %H:%M"), ("s", "%Y-%m-%d %H:%M:%S")):
        if index.tz is None and (index == index.floor(unit)).all():
            return list(index.strftime(form))
    return [str(one) for one in index]


def _time(index: pd.Index) -> str:
    return "row" if index.name is None else legible(str(index.name))


def _head(name: str) -> str:
    """The head of a column: ends of intervals in words."""
    end, _, percent = name.partition("_")
    words = {"lower": "low", "upper": "high"}.get(end, end)
    return f"{words} {percent} %" if percent else words
