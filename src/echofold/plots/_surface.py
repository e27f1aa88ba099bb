"""The error over two hyper-parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold._data.text import short
from echofold.plots._given import Scores, scores_of
from echofold.plots._style import (
    MANY,
    PALE,
    axes,
    fitting,
    legend_above,
    logarithmic,
    plain,
    plain_numbers,
    spread_wide,
)


def surface(
    search_or_dataset: Any, x: str, y: str, *, scheme: str | None = None, ax: Any = None
) -> Any:
    """Draw the score over two hyper-parameters, the best over all others and the ridge.

    A grid is drawn as cells, scattered candidates as points. What has no finite score, or was
    dropped early, is grey.

    Parameters
    ----------
    search_or_dataset : ESNSearchCV, or its ``results_``
    x, y : str
        Names of hyper-parameters that were searched; ``"ridge"`` is one of them.
    scheme : str, optional
        Whose errors, when ``cv`` is a dict; the first by default.
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
    >>> space = {"leak_rate": [0.3, 1.0], "spectral_radius": [0.5, 0.9], "ridge": [1e-8, 1e-2]}
    >>> search = ESNSearchCV(ESNForecaster(20, random_state=0), space, cv=KFold(4))
    >>> search = search.fit(np.sin(np.arange(200) / 5))
    >>> plots.surface(search, "leak_rate", "spectral_radius").get_xlabel()
    'leak_rate'
    """
    scores = scores_of(search_or_dataset, scheme)
    from matplotlib.patheffects import withStroke

    across, up, cost = _points(scores, x, y)
    error = scores.sign * cost
    ax = axes(ax, 5.2, 4.0)
    finite = error[np.isfinite(error)]
    style: dict[str, Any] = {"cmap": "viridis_r" if scores.sign == 1 else "viridis"}
    capped = False
    if len(finite):
        style["norm"], capped = _norm(finite)
    values_x, at_x = np.unique(across, return_inverse=True)
    values_y, at_y = np.unique(up, return_inverse=True)
    lowest = np.full((len(values_y), len(values_x)), np.inf)
    np.minimum.at(lowest, (at_y, at_x), cost)
    tried = len(np.unique(at_y * len(values_x) + at_x))
    best = int(cost.argmin())
    if 2 * tried >= lowest.size:
        drawn = _cells(ax, scores.sign * lowest, style)
        _ticks(ax.xaxis, values_x)
        _ticks(ax.yaxis, values_y)
        place = (at_x[best], at_y[best])
    else:
        along_x, along_y = _numbers(ax, "x", across, at_x), _numbers(ax, "y", up, at_y)
        order = np.argsort(-cost, kind="stable")  # the better ones on top
        drawn = _cloud(ax, along_x[order], along_y[order], error[order], style)
        place = (along_x[best], along_y[best])
    if not np.isfinite(lowest).all() and (2 * tried >= lowest.size or not np.isfinite(error).all()):
        ax.plot([], [], "s", color=PALE, label="not finite, dropped or not tried")
    if len(finite):
        ax.plot(
            *place, "o", markersize=12, markeredgewidth=1.5, color="none", markeredgecolor="black",
            path_effects=[withStroke(linewidth=4, foreground="white")],
            label=f"{scores.best_word}: {short(float(error[best]))}",
        )  # fmt: skip
        bar = ax.figure.colorbar(drawn, ax=ax, extend="max" if capped else "neither")
        bar.set_label(f"{scores.metric}, mean over splits")
        bar.outline.set_visible(False)
        if type(style["norm"]).__name__ == "LogNorm":
            logarithmic(bar.ax, "y")
        else:
            plain_numbers(bar.ax.yaxis)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    legend_above(ax)
    return ax


def _points(scores: Scores, x: str, y: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of two hyper-parameters and the cost, for each candidate (and ridge if it is one)."""
    names = scores.found.attrs.get("hyper_parameters", [])
    for argument, name in (("x", x), ("y", y)):
        if name not in (*names, "ridge"):
            raise ValueError(
                f"{argument}={name!r} was not searched; expected one of "
                f"{', '.join(map(repr, [*names, 'ridge']))}."
            )
    if x == y:
        raise ValueError(f"x and y are both {x!r}; give two different hyper-parameters.")
    path = "ridge" in (x, y)
    individual = scores.individual and not path
    cost = scores.mean_cost(individual)
    if not individual:
        cost = np.where(scores.bounds, np.inf, cost)
    if not path:
        return scores.found[x].values, scores.found[y].values, cost.min(axis=1)
    ridge = scores.found.ridge.values
    across, up = (
        np.tile(ridge, len(cost))
        if name == "ridge"
        else np.repeat(scores.found[name].values, len(ridge))
        for name in (x, y)
    )
    return across, up, cost.ravel()


def _norm(finite: np.ndarray) -> tuple[Any, bool]:
    """Colours from the lowest error up, and whether errors too high to compare share the last."""
    from matplotlib.colors import LogNorm, Normalize

    low, high = float(finite.min()), float(finite.max())
    top = high if high > low else low + (abs(low) or 1.0)
    if 0 < 10 * low < high:
        # A few that nearly diverge would take all colours from those worth comparing.
        top = max(3 * low, float(np.quantile(finite, 0.8)))
    return (LogNorm if 0 < 10 * low < top else Normalize)(low, top), high > top


def _cells(ax: Any, lowest: np.ndarray, style: dict[str, Any]) -> Any:
    """A cell for every pair of values."""
    edges = [np.arange(size + 1) - 0.5 for size in lowest.shape]
    ax.set_facecolor(PALE)
    hidden = np.ma.masked_invalid(np.where(np.isfinite(lowest), lowest, np.nan))
    return ax.pcolormesh(edges[1], edges[0], hidden, rasterized=lowest.size > MANY, **style)


def _cloud(ax: Any, x: np.ndarray, y: np.ndarray, error: np.ndarray, style: dict[str, Any]) -> Any:
    """A point for every candidate, the last on top."""
    finite, lost = np.isfinite(error), ~np.isfinite(error)
    size, many = (26, False) if len(error) <= MANY else (8, True)
    ax.scatter(x[lost], y[lost], s=size, color=PALE, linewidths=0, rasterized=many)
    return ax.scatter(
        x[finite], y[finite], c=error[finite], s=size, linewidths=0, rasterized=many, **style
    )


def _numbers(ax: Any, which: str, values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Positions of values along an axis, which is made logarithmic or labelled as they need."""
    if values.dtype.kind not in "iuf":
        _ticks(getattr(ax, f"{which}axis"), np.unique(values))
        return places
    if spread_wide(values):
        logarithmic(ax, which)
    return values


def _ticks(axis: Any, values: np.ndarray) -> None:
    """Label the places 0, 1, … with values, as many as fit."""
    labels = [plain(short(value.item())) for value in values]
    fit = 10 if axis.axis_name == "y" else fitting(axis.axes, max(map(len, labels)))
    step = -(-len(values) // fit)
    axis.set_ticks(np.arange(len(values))[::step], labels[::step])
