"""Scores of candidates: along the ridge path, over hyper-parameters, against test errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from echofold._data.arguments import check_integer
from echofold._data.text import short
from echofold._search.selection import mean_costs, scheme_in
from echofold.plots import _style as style
from echofold.plots._series import fitted


@dataclass(frozen=True)
class Scores:
    """Scores of one scheme: ``values (draw, candidate, split, ridge)`` and what belongs to them.

    ``bounds (candidate, ridge)`` are true for candidates that were dropped early: what they could
    have reached at best. ``sign`` makes costs of scores: -1 if higher ones are better.
    """

    found: Any
    values: np.ndarray
    bounds: np.ndarray
    metric: str
    ridge_per_split: bool
    sign: int

    @property
    def best_word(self) -> str:
        """What the best score is called."""
        return "lowest" if self.sign == 1 else "highest"

    def mean(self) -> np.ndarray:
        """Means ``(candidate, ridge)`` over draws and splits, infinite where not finite."""
        return self.sign * mean_costs(self.sign * self.values, False).mean(axis=0)

    def cost(self, ridge_per_split: bool) -> np.ndarray:
        """Mean costs, maybe at each split's own ridge, infinite if only bounds."""
        cost = mean_costs(self.sign * self.values, ridge_per_split).mean(axis=0)
        return cost if ridge_per_split else np.where(self.bounds, np.inf, cost)


def scores_of(source: Any, scheme: str | None) -> Scores:
    """Scores of a fitted search, of its results, or of what `cross_validate` returns."""
    results: Any = source
    if hasattr(source, "finalize"):
        results = fitted(source)._results
    elif not isinstance(source, dict):  # a Dataset is a Mapping too
        if scheme is not None:
            raise ValueError(
                f"scheme={scheme!r} was given with the results of a single scheme; leave it out."
            )
        results = {None: source}
    dataset = results[scheme_in(results, scheme)]
    name = getattr(dataset, "attrs", {}).get("metric")
    if name is None or name not in dataset or "ridge" not in dataset.dims:
        raise TypeError(
            f"got {type(source).__name__}, expected a fitted ESNSearchCV, its results_, or what "
            "cross_validate returns."
        )
    array = dataset[name]
    array = array.expand_dims([d for d in ("draw", "candidate") if d not in array.dims])
    values = array.transpose("draw", "candidate", "split", "ridge").values
    bounds = np.zeros(values.shape[1::2], dtype=bool)
    if "pruned" in dataset:
        bounds = dataset.pruned.transpose("draw", "candidate", "ridge").values.any(axis=0)
    ridge_per_split = getattr(source, "ridge_per", "all") == "split"
    sign = -1 if dataset.attrs.get("better") == "higher" else 1
    return Scores(dataset, values, bounds, name, ridge_per_split, sign)


def validation_test(validation: Any, test: Any, *, chosen: Any = None, ax: Any = None) -> Any:
    """Draw the test error of every candidate against its validation error.

    The closer the cloud is to a line, the better validation tells good candidates from bad ones.

    Parameters
    ----------
    validation, test : arrays of one shape
        Errors of the same candidates; pairs that are not finite are counted, not drawn.
    chosen : int or tuple of int, optional
        Place of the selected candidate, which is circled; by default the lowest validation error.
    ax : matplotlib axes, optional
        Where to draw, and what is returned; those of a new figure by default.

    Examples
    --------
    >>> from echofold import plots
    >>> ax = plots.validation_test([0.3, 0.2, 0.5], [0.4, 0.3, 0.4])
    >>> ax.collections[1].get_offsets().tolist()
    [[0.2, 0.3]]
    """
    x, y = np.asarray(validation, dtype=float), np.asarray(test, dtype=float)
    if x.shape != y.shape or x.size == 0:
        raise ValueError(
            f"validation has shape {x.shape} and test {y.shape}; expected two arrays of one shape "
            "with at least one error."
        )
    place = _place(chosen, x)
    x, y = x.ravel(), y.ravel()
    ax = style.axes(ax, 4.6, 4.0)
    shown = np.isfinite(x) & np.isfinite(y)
    few = shown.sum() <= style.MANY
    ax.scatter(
        x[shown], y[shown], s=14 if few else 5, color=style.BLUE, alpha=0.5 if few else 0.3,
        linewidths=0, rasterized=not few, label="candidates",
    )  # fmt: skip
    if shown[place]:
        ax.scatter(
            x[place], y[place], s=90, facecolors="none", edgecolors=style.VERMILION, linewidths=2,
            label="selected", zorder=3,
        )  # fmt: skip
    if shown.any():
        low, high = max(x[shown].min(), y[shown].min()), min(x[shown].max(), y[shown].max())
        if low < high:
            ax.plot((low, high), (low, high), "--", color=style.INK, linewidth=0.8, label="equal")
    style.suit(ax, "x", x[shown])
    style.suit(ax, "y", y[shown])
    style.note_lost(ax, shown)
    return style.finished(ax, xlabel="validation error", ylabel="test error")


def _place(chosen: Any, errors: np.ndarray) -> int:
    """The flat place of the selected candidate."""
    if chosen is None:
        return int(np.where(np.isfinite(errors), errors, np.inf).argmin())
    try:
        return int(np.arange(errors.size).reshape(errors.shape)[chosen])
    except (IndexError, TypeError):
        raise ValueError(
            f"chosen={chosen!r} is no place in errors of shape {errors.shape}; give one index, or "
            "one for each dimension."
        ) from None


def ridge_path(
    search_or_dataset: Any,
    *,
    candidate: int | None = None,
    scheme: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a candidate's error over the ridge path: the mean over splits and their middle half.

    Parameters
    ----------
    search_or_dataset : ESNSearchCV, its ``results_``, or what `cross_validate` returns
    candidate : int, optional
        Number of the candidate; the winner by default.
    scheme : str, optional
        Whose errors, when ``cv`` is a dict; the first by default.
    ax : matplotlib axes, optional
        Where to draw, and what is returned; those of a new figure by default.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster, KFold, cross_validate, plots
    >>> y = np.sin(np.arange(200) / 5)
    >>> model = ESNForecaster(20, random_state=0)
    >>> found = cross_validate(model, y, cv=KFold(5), ridge=[0, 1e-6, 1e-3])
    >>> plots.ridge_path(found).get_xlabel()
    'ridge'
    """
    scores = scores_of(search_or_dataset, scheme)
    count = scores.values.shape[1]
    if candidate is None:
        candidate = int(scores.cost(scores.ridge_per_split).min(axis=1).argmin())
    check_integer("candidate", candidate, 0, most=count - 1)
    ax = style.axes(ax)
    ridge = np.asarray(scores.found.ridge.values, dtype=float)
    order = np.argsort(ridge)
    ridge = ridge[order]
    x, mean = _ridge_axis(ax, ridge), scores.mean()[candidate, order]
    by_split = scores.values[:, candidate][:, :, order].reshape(-1, len(ridge))
    by_split = np.where(np.isnan(by_split), scores.sign * np.inf, by_split)
    # No interpolation: the difference of two infinities would warn.
    low, high = np.quantile(by_split, (0.25, 0.75), axis=0, method="inverted_cdf")
    if len(by_split) > 1:
        style.band(ax, x, low, high, "middle half of splits")
    looks = {"color": style.BLUE, "linewidth": 1.5, "marker": "o", "markersize": 4}
    ax.plot(x, style.finite(mean), label="mean over splits", **looks)
    at = scores.bounds[candidate, order] & np.isfinite(mean)
    if at.any():
        ax.plot(x[at], mean[at], "^", color="white", markeredgecolor=style.BLUE, label="at best")
    cost = scores.cost(False)[candidate, order]
    if np.isfinite(cost).any():
        best = int(cost.argmin())
        ax.plot(
            x[best], mean[best], "o", markersize=10, color="none", markeredgecolor=style.VERMILION,
            markeredgewidth=2, label=f"{scores.best_word}, at {short(float(ridge[best]))}",
        )  # fmt: skip
    style.note_lost(ax, np.isfinite(mean))
    style.suit(ax, "y", np.concatenate([mean, low, high]))
    return style.finished(ax, xlabel="ridge", ylabel=f"validation {scores.metric}")


def _ridge_axis(ax: Any, ridge: np.ndarray) -> np.ndarray:
    """Positions of an ascending ridge path: powers of ten evenly, zero one step before them."""
    positive = ridge[ridge > 0]
    if not len(positive):
        ax.set_xticks([0], ["0"])
        return np.zeros(len(ridge))
    powers = np.log10(np.where(ridge > 0, ridge, positive[0]))
    gap = max(1.0, (powers[-1] - powers[0]) / 12)
    x = np.where(ridge > 0, powers, powers[0] - gap)
    low, high = int(np.ceil(powers[0] - 1e-9)), int(np.floor(powers[-1] + 1e-9))
    step = max(1, -(-(high - low) // min(6, style.fitting(ax, 6))))
    ticks = [float(t) for t in range(low, high + 1, step)] or [float(x[-1])]
    labels = [short(10.0**t) for t in ticks]
    if ridge[0] == 0:
        if gap * style.fitting(ax, 5) < x[-1] - x[0]:
            ticks, labels = ticks[1:], labels[1:]  # too close to the zero
        ticks, labels = [float(x[0]), *ticks], ["0", *labels]
    ax.set_xticks(ticks, labels)
    return x


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
        Where to draw, and what is returned; those of a new figure by default.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster, ESNSearchCV, KFold, plots
    >>> space = {"leak_rate": [0.3, 1.0], "spectral_radius": [0.5, 0.9], "ridge": [1e-8, 1e-2]}
    >>> search = ESNSearchCV(ESNForecaster(20, random_state=0), space, cv=KFold(4))
    >>> search = search.fit(np.sin(np.arange(200) / 5))
    >>> plots.surface(search, "leak_rate", "spectral_radius").get_xlabel()
    'leak_rate'
    """
    scores = scores_of(search_or_dataset, scheme)
    across, up, cost = _points(scores, x, y)
    error = scores.sign * cost
    ax = style.axes(ax, 5.2, 4.0)
    reached = error[np.isfinite(error)]
    colours: dict[str, Any] = {"cmap": "viridis_r" if scores.sign == 1 else "viridis"}
    if len(reached):
        colours["norm"] = _norm(reached)
    values_x, at_x = np.unique(across, return_inverse=True)
    values_y, at_y = np.unique(up, return_inverse=True)
    lowest = np.full((len(values_y), len(values_x)), np.inf)
    np.minimum.at(lowest, (at_y, at_x), cost)
    best = int(cost.argmin())
    grid = 2 * len(np.unique(at_y * len(values_x) + at_x)) >= lowest.size
    if grid:
        ax.set_facecolor(style.PALE)
        sides = [np.arange(len(values) + 1) - 0.5 for values in (values_x, values_y)]
        cells = np.ma.masked_invalid(scores.sign * lowest)
        drawn = ax.pcolormesh(*sides, cells, rasterized=cells.size > style.MANY, **colours)
        _ticks(ax.xaxis, values_x)
        _ticks(ax.yaxis, values_y)
        place = (at_x[best], at_y[best])
    else:
        along_x, along_y = _numbers(ax, "x", across, at_x), _numbers(ax, "y", up, at_y)
        order = np.argsort(-cost, kind="stable")  # the better ones on top
        drawn = _cloud(ax, along_x[order], along_y[order], error[order], colours)
        place = (along_x[best], along_y[best])
    if not np.isfinite(lowest).all() and (grid or len(reached) < len(error)):
        ax.plot([], [], "s", color=style.PALE, label="not finite, dropped or not tried")
    if len(reached):
        from matplotlib.patheffects import withStroke

        seen = [withStroke(linewidth=4, foreground="white")]  # on any colour
        ax.plot(
            *place, "o", markersize=12, markeredgewidth=1.5, color="none", markeredgecolor="black",
            path_effects=seen, label=f"{scores.best_word}: {short(float(error[best]))}",
        )  # fmt: skip
        capped = reached.max() > colours["norm"].vmax
        bar = ax.figure.colorbar(drawn, ax=ax, extend="max" if capped else "neither")
        bar.set_label(f"{scores.metric}, mean over splits")
        bar.outline.set_visible(False)
        if type(colours["norm"]).__name__ == "LogNorm":
            style.logarithmic(bar.ax, "y")
        else:
            style.plain_numbers(bar.ax.yaxis)
    return style.finished(ax, xlabel=x, ylabel=y)


def _points(scores: Scores, x: str, y: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of two hyper-parameters and the cost, for each candidate (and ridge if it is one)."""
    names = [*scores.found.attrs.get("hyper_parameters", []), "ridge"]
    for argument, name in (("x", x), ("y", y)):
        if name not in names:
            raise ValueError(
                f"{argument}={name!r} was not searched; expected one of "
                f"{', '.join(map(repr, names))}."
            )
    if x == y:
        raise ValueError(f"x and y are both {x!r}; give two different hyper-parameters.")
    cost = scores.cost(False)
    if "ridge" not in (x, y):
        cost = scores.cost(scores.ridge_per_split).min(axis=1, keepdims=True)
    across, up = (
        np.broadcast_to(values if name == "ridge" else values[:, None], cost.shape).ravel()
        for name, values in ((name, scores.found[name].values) for name in (x, y))
    )
    return across, up, cost.ravel()


def _norm(reached: np.ndarray) -> Any:
    """Colours from the lowest error up; errors too high to compare share the last."""
    from matplotlib.colors import LogNorm, Normalize

    low, high = float(reached.min()), float(reached.max())
    top = high if high > low else low + (abs(low) or 1.0)
    if 0 < 10 * low < high:
        # A few that nearly diverge would take all colours from those worth comparing.
        top = max(3 * low, float(np.quantile(reached, 0.8)))
    return (LogNorm if 0 < 10 * low < top else Normalize)(low, top)


def _cloud(
    ax: Any, x: np.ndarray, y: np.ndarray, error: np.ndarray, colours: dict[str, Any]
) -> Any:
    """A point for every candidate, the last on top."""
    there, lost = np.isfinite(error), ~np.isfinite(error)
    many = len(error) > style.MANY
    looks = {"s": 8 if many else 26, "linewidths": 0, "rasterized": many}
    ax.scatter(x[lost], y[lost], color=style.PALE, **looks)
    return ax.scatter(x[there], y[there], c=error[there], **looks, **colours)


def _numbers(ax: Any, which: str, values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Positions of values along an axis, which is made logarithmic or labelled as they need."""
    if values.dtype.kind not in "iuf":
        _ticks(getattr(ax, f"{which}axis"), np.unique(values))
        return places
    if style.spread_wide(values):
        style.logarithmic(ax, which)
    return values


def _ticks(axis: Any, values: np.ndarray) -> None:
    """Label the places 0, 1, … with values, as many as fit."""
    labels = [style.as_label(short(value.item())) for value in values]
    fit = 10 if axis.axis_name == "y" else style.fitting(axis.axes, max(map(len, labels)))
    step = -(-len(values) // fit)
    axis.set_ticks(np.arange(len(values))[::step], labels[::step])
