"""How validation errors grow with the steps ahead."""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold.plots._series import name_of
from echofold.plots._style import (
    BLUE,
    CYCLE,
    axes,
    legend_above,
    note,
    plain,
    plain_numbers,
    whole_numbers,
)


def error_by_step(search_or_estimator: Any, *, ax: Any = None) -> Any:
    """Draw the error of the validation forecasts against the steps ahead.

    At each step this is the root of the mean squared error over splits, in original units, with
    the middle half of the absolute errors as a band when there is one output.

    Parameters
    ----------
    search_or_estimator : ESNSearchCV or ESNForecaster
        A fitted search of a forecaster, or a final model of one.
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
    ax = axes(ax)
    steps = np.arange(1, residuals.shape[1] + 1)
    with np.errstate(over="ignore"):
        error = np.sqrt(_mean_over_splits(residuals**2))
    names = model.y_schema_.names
    for output, colour in zip(range(residuals.shape[2]), CYCLE, strict=False):
        shown = np.where(np.isfinite(error[:, output]), error[:, output], np.nan)
        label = "RMSE" if residuals.shape[2] == 1 else f"RMSE of {plain(name_of(names, output))}"
        marker = "." if len(steps) <= 60 else None
        style = {"color": colour, "linewidth": 1.5, "gid": f"rmse-{output}"}
        ax.plot(steps, shown, marker=marker, label=label, **style)
    if residuals.shape[2] == 1:
        low, high = _middle_half(np.abs(residuals[:, :, 0]))
        ax.fill_between(
            steps, low, high, color=BLUE, alpha=0.2, linewidth=0, label="middle half of |error|"
        )
    if not np.isfinite(error).all():
        note(ax, "steps at which a run diverged are left out")
    ax.set_xlim(0, len(steps) + 1)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("steps ahead")
    ax.set_ylabel("validation error")
    plain_numbers(ax.yaxis)
    whole_numbers(ax)
    legend_above(ax)
    return ax


def _mean_over_splits(values: np.ndarray) -> np.ndarray:
    """Means over the first axis, of the splits that reach a step."""
    there = ~np.isnan(values)
    total = np.where(there, values, 0).sum(axis=0)
    return np.divide(total, there.sum(axis=0), out=np.full(total.shape, np.nan), where=there.any(0))


def _middle_half(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper quartiles over splits at each step, NaN where one is not finite."""
    quartiles = np.full((2, size.shape[1]), np.nan)
    for step, column in enumerate(size.T):
        there = column[~np.isnan(column)]
        if len(there):
            # No interpolation: the difference of two infinities would warn.
            quartiles[:, step] = np.quantile(there, (0.25, 0.75), method="inverted_cdf")
    return tuple(np.where(np.isfinite(quartiles), quartiles, np.nan))
