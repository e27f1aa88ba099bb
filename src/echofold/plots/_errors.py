"""How errors grow with the steps ahead, in validation and in a backtest; scores of a backtest."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from echofold._data.arguments import check_number
from echofold._data.text import short
from echofold.plots import _style as style
from echofold.plots._series import name_of

NAMES = {"forecast", "truth", "error"}  # what is no score in a backtest's Dataset


def error_by_step(search_or_estimator: Any, *, ax: Any = None) -> Any:
    """Draw the error of the validation forecasts against the steps ahead.

    At each step this is the root of the mean squared error over splits, in original units, with
    the middle half of the absolute errors as a band when there is one output.

    Parameters
    ----------
    search_or_estimator : ESNSearchCV or ESNForecaster
        A fitted search of a forecaster, or a final model of one.
    ax : matplotlib axes, optional
        Where to draw, and what is returned; those of a new figure by default.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster, ESNSearchCV, KFold, plots
    >>> y = np.sin(np.arange(200) / 5)
    >>> search = ESNSearchCV(ESNForecaster(20, random_state=0), {"ridge": [1e-8]}, cv=KFold(4))
    >>> plots.error_by_step(search.fit(y)).get_xlabel()
    'steps ahead'
    """
    model = getattr(search_or_estimator, "best_estimator_", search_or_estimator)
    residuals = getattr(model, "residuals_", None)
    if residuals is None:
        raise ValueError(
            f"{type(search_or_estimator).__name__} has no validation errors by step: they come "
            "from a fitted ESNSearchCV of an ESNForecaster, or its best_estimator_."
        )
    ax = style.axes(ax)
    _, horizon, outputs = residuals.shape
    steps = np.arange(1, horizon + 1)
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Mean of empty slice")
        error = np.sqrt(np.nanmean(residuals**2, axis=0))
    for output, colour in zip(range(outputs), style.CYCLE, strict=False):
        name = style.as_label(name_of(model.y_schema_.names, output))
        looks = {"color": colour, "linewidth": 1.5, "gid": f"rmse-{output}"}
        looks |= {"marker": "." if horizon <= 60 else None}
        label = "RMSE" if outputs == 1 else f"RMSE of {name}"
        ax.plot(steps, style.finite(error[:, output]), label=label, **looks)
    if outputs == 1:
        low, high = _quantiles(np.abs(residuals[:, :, 0]), (0.25, 0.75))
        style.band(ax, steps, low, high, "middle half of |error|")
    if not np.isfinite(error).all():
        style.note(ax, "steps at which a run diverged are left out")
    ax.set_ylim(bottom=0)
    style.whole_numbers(ax)
    labels = {"xlabel": "steps ahead", "ylabel": "validation error"}
    return style.finished(ax, "y", xlim=(0, horizon + 1), **labels)


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
        Where to draw, and what is returned; those of a new figure by default.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster, backtest, plots
    >>> y = np.sin(np.arange(300) / 5)
    >>> model = ESNForecaster(20, random_state=0).fit(y[:200])
    >>> plots.error_growth(backtest(model, y, 9, 40)).get_xlabel()
    'steps ahead'
    """
    _check(found)
    check_number("step", step, "a positive number", above=0)
    ax = style.axes(ax)
    error = found.error.values / found.attrs["spread"]
    error = np.where(np.isfinite(error), error, np.inf)
    error[np.isnan(found.truth.values).any(axis=2)] = np.nan  # nothing to compare with
    steps, quantiles = found.step.values * step, _quantiles(error, (0.05, 0.25, 0.5, 0.75, 0.95))
    shown = style.finite(quantiles)
    for low, high, alpha, label in ((0, 4, 0.12, "nine in ten"), (1, 3, 0.25, "middle half")):
        style.band(ax, steps, shown[low], shown[high], label, alpha)
    ax.plot(steps, shown[2], color=style.BLUE, linewidth=1.5, label="median over starts")
    ax.axhline(1, color=style.INK, linestyle="--", linewidth=0.8, label="spread of the series")
    if np.isinf(quantiles).any():
        style.note(ax, "where runs diverge, nothing is drawn")
    style.suit(ax, "y", shown)
    labels = {"xlabel": unit, "ylabel": "error / spread of the series"}
    return style.finished(ax, xlim=(0, steps[-1]), **labels)


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
        Where to draw, and what is returned; those of a new figure by default.

    Examples
    --------
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
    ax = style.axes(ax)
    values = found[name].values
    reached = values[np.isfinite(values)]
    if len(reached):
        ax.hist(reached, bins="auto", color=style.BLUE, alpha=0.6, label="starts")
        middle = float(np.nanmedian(values))
        if np.isfinite(middle):
            ax.axvline(
                middle, color=style.VERMILION, linewidth=1.5, label=f"median {short(middle)}"
            )
    style.note_lost(ax, np.isfinite(values))
    ax.yaxis.get_major_locator().set_params(integer=True)
    return style.finished(ax, "x", xlabel=name if unit is None else unit, ylabel="forecasts")


def _quantiles(values: np.ndarray, shares: tuple[float, ...]) -> np.ndarray:
    """Quantiles ``(shares, steps)`` over the first axis, of what is not NaN."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="All-NaN slice encountered")
        # No interpolation: the difference of two infinities would warn.
        return np.nanquantile(values, shares, axis=0, method="inverted_cdf")


def _check(found: Any) -> None:
    if not set(getattr(found, "data_vars", ())) >= NAMES:
        raise TypeError(f"got {type(found).__name__}, expected the Dataset that backtest returns.")
