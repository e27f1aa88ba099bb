"""What a backtest found: how errors grow, and how the scores of its forecasts are distributed."""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold._data.arguments import check_number
from echofold._data.text import short
from echofold.plots._style import (
    BLUE,
    INK,
    VERMILION,
    axes,
    legend_above,
    logarithmic,
    note,
    plain_numbers,
    spread_wide,
)

NAMES = {"forecast", "truth", "error"}  # what is no score in a backtest's Dataset


def error_growth(
    found: Any, *, step: float = 1.0, unit: str = "steps ahead", ax: Any = None
) -> Any:
    """Draw how the errors of a backtest grow, relative to the spread of the series.

    The line is the median over starts, the bands hold the middle half and nine in ten of them. Runs
    that diverge count as infinitely wrong.

    Parameters
    ----------
    found : xarray.Dataset
        What `backtest` returned.
    step : float, default=1.0
        Time of one step, in the unit of the axis.
    unit : str, default="steps ahead"
        What the axis is called, such as "Lyapunov times".
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from echofold import ESNForecaster, backtest, plots
    >>> y = np.sin(np.arange(300) / 5)
    >>> model = ESNForecaster(20, random_state=0).fit(y[:200])
    >>> plots.error_growth(backtest(model, y, 9, 40)).get_xlabel()
    'steps ahead'
    """
    _check(found)
    check_number("step", step, "a positive number", lambda value: value > 0)
    ax = axes(ax)
    error = found.error.values / found.attrs["spread"]
    steps = found.step.values * step
    quantiles = np.full((5, len(steps)), np.nan)
    for place, column in enumerate(error.T):
        there = np.where(np.isfinite(column), column, np.inf)[~_missing(found, place)]
        if len(there):
            # No interpolation: the difference of two infinities would warn.
            shares = (0.05, 0.25, 0.5, 0.75, 0.95)
            quantiles[:, place] = np.quantile(there, shares, method="inverted_cdf")
    shown = np.where(np.isfinite(quantiles), quantiles, np.nan)
    for low, high, alpha, label in ((0, 4, 0.12, "nine in ten"), (1, 3, 0.25, "middle half")):
        ax.fill_between(
            steps, shown[low], shown[high], color=BLUE, alpha=alpha, linewidth=0, label=label
        )
    ax.plot(steps, shown[2], color=BLUE, linewidth=1.5, label="median over starts")
    ax.axhline(1, color=INK, linestyle="--", linewidth=0.8, label="spread of the series")
    if np.isinf(quantiles).any():
        note(ax, "where runs diverge, nothing is drawn")
    if spread_wide(shown[~np.isnan(shown)]):
        logarithmic(ax, "y")
    else:
        plain_numbers(ax.yaxis)
    ax.set_xlim(0, steps[-1])
    ax.set_xlabel(unit)
    ax.set_ylabel("error / spread of the series")
    legend_above(ax)
    return ax


def horizons(
    found: Any, *, metric: str | None = None, unit: str | None = None, ax: Any = None
) -> Any:
    """Draw how the scores of a backtest's forecasts are distributed over starts.

    Parameters
    ----------
    found : xarray.Dataset
        What `backtest` returned.
    metric : str, optional
        Which of its scores; the first by default.
    unit : str, optional
        What the axis is called, such as "prediction horizon, Lyapunov times"; the name of the
        metric by default.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from echofold import ESNForecaster, backtest, metrics, plots
    >>> y = np.sin(np.arange(300) / 5)
    >>> model = ESNForecaster(20, random_state=0).fit(y[:200])
    >>> found = backtest(model, y, 9, 40, metric=metrics.horizon(0.2))
    >>> plots.horizons(found).get_xlabel()
    'horizon'
    """
    _check(found)
    name = found.attrs["metric"] if metric is None else metric
    scores = [key for key, value in found.items() if value.dims == ("start",)]
    if name not in scores:
        raise ValueError(
            f"metric={name!r} was not scored by this backtest; expected one of "
            f"{', '.join(map(repr, scores))}."
        )
    ax = axes(ax)
    values = found[name].values
    finite = values[np.isfinite(values)]
    if len(finite):
        ax.hist(finite, bins="auto", color=BLUE, alpha=0.6, label="starts")
        middle = float(np.median(values[~np.isnan(values)]))
        if np.isfinite(middle):
            ax.axvline(middle, color=VERMILION, linewidth=1.5, label=f"median {short(middle)}")
    if len(finite) < len(values):
        note(ax, f"{len(values) - len(finite)} of {len(values)} not finite")
    ax.set_xlabel(name if unit is None else unit)
    ax.set_ylabel("forecasts")
    plain_numbers(ax.xaxis)
    ax.yaxis.get_major_locator().set_params(integer=True)
    legend_above(ax)
    return ax


def _missing(found: Any, place: int) -> np.ndarray:
    """Starts for which there is nothing to compare with at a step."""
    return np.isnan(found.truth.values[:, place]).any(axis=1)


def _check(found: Any) -> None:
    if not set(getattr(found, "data_vars", ())) >= NAMES:
        raise TypeError(f"got {type(found).__name__}, expected the Dataset that backtest returns.")
