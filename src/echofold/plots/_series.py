"""Series with forecasts over them or after them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from echofold._data.arguments import check_integer
from echofold._data.dates import timeline
from echofold._data.problem import Task
from echofold._data.tables import Table, read
from echofold._search.final_models import ValidationOutputs
from echofold._search.selection import scheme_in
from echofold.plots import _style as style


def fitted(search: Any) -> Any:
    """The search itself; an error if it has not been fitted."""
    if not hasattr(search, "finalize"):
        raise TypeError(f"search={search!r}: expected a fitted ESNSearchCV.")
    check_is_fitted(search, "results_")
    return search


def given_series(search: Any) -> Table:
    """The targets ``y`` that a search of a forecaster or regressor was fitted on, with NaN."""
    place, data = search.estimator._task.targets, search._reader.data
    y = data[place] if len(data) > place else search._reader.fit_params["y"]
    return read(y, "y", missing=True, field=True)


def validation_outputs(search: Any, scheme: str | None = None) -> ValidationOutputs:
    """Forecasts or predictions of every split of the winner for its validation rows."""
    scheme = scheme_in(fitted(search)._results, scheme)
    return search._winners.outputs(scheme)


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

        locator = AutoDateLocator(minticks=2, maxticks=max(4, min(8, style.fitting(ax, 6))))
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    else:
        style.whole_numbers(ax)
        ax.set_xlabel("row" if index is None or index.name is None else style.as_label(index.name))


def continued(index: Any, rows: int, horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the series and the ``horizon`` values after it stand."""
    if index is not None:
        ends = timeline(index)
        if ends.kind != "rows":
            return positions(index, rows), positions(ends.following(horizon), horizon)
    return np.arange(rows), np.arange(rows, rows + horizon)


def forecasts(
    search: Any,
    *,
    scheme: str | None = None,
    ax: Any = None,
    output: int = 0,
    rows: tuple[int, int] | None = None,
) -> Any:
    """Draw the series and over it what every split of the winner made of its validation rows.

    Parameters
    ----------
    search : ESNSearchCV
        Fitted, of a forecaster (dots mark where forecasts begin) or a regressor.
    scheme : str, optional
        Whose winner and splits, when ``cv`` is a dict; the first by default.
    ax : matplotlib axes, optional
        Where to draw, and what is returned; those of a new figure by default.
    output : int
        Which column of ``y``.
    rows : pair of int, optional
        Draw the rows of ``y`` from the first to before the second only.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster, ESNSearchCV, KFold, plots
    >>> y = np.sin(np.arange(200) / 5)
    >>> search = ESNSearchCV(ESNForecaster(20, random_state=0), {"ridge": [1e-8]}, cv=KFold(4))
    >>> plots.forecasts(search.fit(y)).get_legend_handles_labels()[1]
    ['series', 'validation forecasts']
    """
    task = fitted(search).estimator._task
    if task.labels:
        raise TypeError(
            "search is of an ESNClassifier, whose validation has no series to draw; expected one "
            "of a forecaster or a regressor."
        )
    table = given_series(search)
    check_integer("output", output, 0, most=table.values.shape[1] - 1)
    validation = validation_outputs(search, scheme)
    return outputs_over_series(task, table, validation, output, rows, ax)


def outputs_over_series(
    task: Task, table: Table, validation: ValidationOutputs, output: int, rows: Any, ax: Any
) -> Any:
    """The series with validation outputs over it."""
    start, stop = (0, len(table.values)) if rows is None else rows
    if not 0 <= start < stop <= len(table.values):
        raise ValueError(
            f"rows={rows!r}: expected a pair (first, last + 1) within 0 to {len(table.values)}."
        )
    ax = style.axes(ax, 8.0, 3.4)
    x, y = positions(table.index, len(table.values)), table.values[:, output]
    looks = {"linewidth": 0.8, "alpha": 0.7}
    if not task.fed_back:  # good predictions would hide a thin line
        looks = {"linewidth": 2.2, "alpha": 0.45}
    style.with_gaps(ax, x[start:stop], y[start:stop], color=style.INK, label="series", **looks)
    at, values = _chained(validation.rows, validation.outputs[:, :, output])
    inside = (at >= start) & (at < stop)
    at, values = at[inside], values[inside]
    name = f"validation {task.outputs}"
    style.with_gaps(ax, x[at], values, color=style.VERMILION, linewidth=1, label=name)
    first, begins = validation.rows[:, 0], validation.outputs[:, 0, output]
    if task.fed_back:
        dots = np.isfinite(begins) & (first >= start) & (first < stop)
        ax.plot(x[first[dots]], begins[dots], "o", color=style.VERMILION, markersize=3)
    scored = ~np.isnan(validation.truth[:, :, output])
    lost = int((~np.isfinite(validation.outputs[:, :, output]) & scored).any(axis=1).sum())
    if lost:
        style.note(ax, f"{lost} of {len(begins)} diverge")
    _limits(ax, y[start:stop], values)
    label_time(ax, table.index)
    return style.finished(ax, "y", ylabel=style.as_label(column_name(table, output)))


def forecast(
    y: Any, forecast: Any, *, ax: Any = None, history: int | None = None, output: int = 0
) -> Any:
    """Draw a forecast, with its intervals if it has any, after the series it continues.

    Parameters
    ----------
    y : array, series or frame of shape (T,) or (T, outputs), or None
        The series, with gaps where values are missing (NaN); with pandas, its index is the
        horizontal axis. None draws the forecast alone.
    forecast : Forecast, array, series or frame
        What ``forecast`` of an estimator or a search returned.
    ax : matplotlib axes, optional
        Where to draw, and what is returned; those of a new figure by default.
    history : int, optional
        How many of the last values of ``y`` to show; all by default.
    output : int
        Which column of ``y``.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster, plots
    >>> y = np.sin(np.arange(200) / 5)
    >>> ax = plots.forecast(y, ESNForecaster(20, random_state=0).fit(y).forecast(30), history=60)
    >>> [len(line.get_xdata()) for line in ax.lines]
    [60, 30]
    """
    lower = getattr(forecast, "lower", {})
    mean = forecast.mean if hasattr(forecast, "lower") else forecast
    table = None if y is None else read(y, "y", missing=True, field=True)
    outputs = (np.asarray(mean).reshape(len(mean), -1) if table is None else table.values).shape[1]
    check_integer("output", output, 0, most=outputs - 1)
    if history is not None:
        check_integer("history", history, 1, ", or None")
    index = getattr(mean, "index", None) if table is None else table.index
    values = _column(mean, output, outputs)
    ax = style.axes(ax, 8.0, 3.4)
    if table is None:
        ahead = positions(index, len(values))
    else:
        rows = len(table.values)
        shown = slice(0 if history is None else max(0, rows - int(history)), None)
        x, ahead = continued(index, rows, len(values))
        past = table.values[shown, output]
        style.with_gaps(ax, x[shown], past, color=style.INK, linewidth=1, label="series")
        ax.set_ylabel(style.as_label(column_name(table, output)))
    ax.plot(ahead, style.finite(values), color=style.BLUE, linewidth=1.6, label="forecast")
    for place, level in enumerate(sorted(lower, reverse=True)):
        ends = [_column(part[level], output, outputs) for part in (lower, forecast.upper)]
        there = np.isfinite([values, *ends]).all(axis=0)
        low, high = (np.where(there, end, np.nan) for end in ends)
        style.band(ax, ahead, low, high, f"{100 * level:g} % interval", 0.2 + 0.15 * place)
    if not np.isfinite(values).all():
        style.note(ax, "the forecast diverges")
    label_time(ax, index)
    return style.finished(ax, "y")


def column_name(table: Table, output: int) -> str:
    """The name of a column, for the vertical axis."""
    return name_of(table.schema.names, output if table.values.shape[1] > 1 else None)


def name_of(names: tuple | None, output: int | None) -> str:
    """The name of an output; None is the only one."""
    if names is not None:
        return str(names[output or 0])
    return "y" if output is None else f"output {output}"


def _column(part: Any, output: int, outputs: int) -> np.ndarray:
    """One column of a forecast, which need not be finite."""
    values = np.asarray(part, dtype=float)
    values = values.reshape(len(values), -1)
    if values.shape[1] != outputs:
        raise ValueError(
            f"forecast has {values.shape[1]} columns and y has {outputs}; give the forecast of "
            "this series."
        )
    return values[:, output]


def _chained(rows: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The runs of all splits one after the other, with a gap after each and where rows jump."""
    at, out = [], []
    for which, line in zip(rows, values, strict=True):
        keep = which >= 0
        which, line = which[keep], style.finite(line[keep])
        jumps = np.flatnonzero(np.diff(which) != 1) + 1
        at.append(np.insert(which, [*jumps, len(which)], [*which[jumps], which[-1]]))
        out.append(np.insert(line, [*jumps, len(line)], np.nan))
    return np.concatenate(at), np.concatenate(out)


def _limits(ax: Any, y: np.ndarray, outputs: np.ndarray) -> None:
    """Keep a run that almost diverged from flattening the series."""
    known = y[~np.isnan(y)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    room = 0.6 * (high - low) or 1.0
    reached = outputs[np.isfinite(outputs)]
    if len(reached):
        low = max(low - room, min(low, reached.min()))
        high = min(high + room, max(high, reached.max()))
    pad = 0.04 * (high - low) or 1.0
    ax.set_ylim(low - pad, high + pad)
