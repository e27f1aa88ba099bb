"""Scores of candidates: against test errors, and along the ridge path."""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold._data.text import short
from echofold.plots._given import scores_of
from echofold.plots._style import (
    BLUE,
    INK,
    MANY,
    VERMILION,
    axes,
    fitting,
    legend_above,
    logarithmic,
    note,
    plain_numbers,
    spread_wide,
)


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
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
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
    ax = axes(ax, 4.6, 4.0)
    shown = np.isfinite(x) & np.isfinite(y)
    few = shown.sum() <= MANY
    ax.scatter(
        x[shown], y[shown], s=14 if few else 5, color=BLUE, alpha=0.5 if few else 0.3,
        linewidths=0, rasterized=not few, label="candidates",
    )  # fmt: skip
    if place is not None and shown[place]:
        ax.scatter(
            x[place], y[place], s=90, facecolors="none", edgecolors=VERMILION, linewidths=2,
            label="selected", zorder=3,
        )  # fmt: skip
    if shown.any():
        low, high = max(x[shown].min(), y[shown].min()), min(x[shown].max(), y[shown].max())
        if low < high:
            ax.plot((low, high), (low, high), "--", color=INK, linewidth=0.8, label="equal")
    for which, values in (("x", x[shown]), ("y", y[shown])):
        if spread_wide(values):
            logarithmic(ax, which)
        else:
            plain_numbers(getattr(ax, f"{which}axis"))
    if not shown.all():
        note(ax, f"{int((~shown).sum())} of {len(x)} not finite")
    ax.set_xlabel("validation error")
    ax.set_ylabel("test error")
    legend_above(ax)
    return ax


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
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
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
        candidate = scores.best()
    elif isinstance(candidate, bool) or not 0 <= candidate < count:
        raise ValueError(f"candidate={candidate!r}: expected an integer of 0 to {count - 1}.")
    ax = axes(ax)
    ridge = np.asarray(scores.found.ridge.values, dtype=float)
    order = np.argsort(ridge)
    x = _ridge_axis(ax, ridge[order])
    mean = scores.mean()[candidate, order]
    bound = scores.bounds[candidate, order]
    by_split = scores.values[:, candidate][:, :, order].reshape(-1, len(ridge))
    by_split = np.where(np.isnan(by_split), scores.sign * np.inf, by_split)
    # No interpolation: the difference of two infinities would warn.
    low, high = np.quantile(by_split, (0.25, 0.75), axis=0, method="inverted_cdf")
    if len(by_split) > 1:
        ax.fill_between(
            x, _shown(low), _shown(high), color=BLUE, alpha=0.2, linewidth=0,
            label="middle half of splits",
        )  # fmt: skip
    shown = _shown(mean)
    ax.plot(x, shown, color=BLUE, linewidth=1.5, marker="o", markersize=4, label="mean over splits")
    if (bound & np.isfinite(mean)).any():
        at = bound & np.isfinite(mean)
        ax.plot(x[at], shown[at], "^", color="white", markeredgecolor=BLUE, label="at best")
    allowed = np.where(bound, np.inf, scores.sign * mean)
    if np.isfinite(allowed).any():
        best = int(allowed.argmin())
        ax.plot(
            x[best], mean[best], "o", markersize=10, color="none", markeredgecolor=VERMILION,
            markeredgewidth=2, label=f"{scores.best_word}, at {short(float(ridge[order][best]))}",
        )  # fmt: skip
    if not np.isfinite(mean).all():
        note(ax, f"{int((~np.isfinite(mean)).sum())} of {len(mean)} not finite")
    if spread_wide(np.concatenate([mean, low, high])):
        logarithmic(ax, "y")
    else:
        plain_numbers(ax.yaxis)
    ax.set_xlabel("ridge")
    ax.set_ylabel(f"validation {scores.metric}")
    legend_above(ax)
    return ax


def _place(chosen: Any, errors: np.ndarray) -> int | None:
    """The flat place of the selected candidate."""
    if chosen is None:
        finite = np.where(np.isfinite(errors), errors, np.inf)
        return int(finite.argmin()) if np.isfinite(errors).any() else None
    try:
        return int(np.arange(errors.size).reshape(errors.shape)[chosen])
    except (IndexError, TypeError):
        raise ValueError(
            f"chosen={chosen!r} is no place in errors of shape {errors.shape}; give one index, or "
            "one for each dimension."
        ) from None


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
    step = max(1, -(-(high - low) // min(6, fitting(ax, 6))))
    ticks = [float(t) for t in range(low, high + 1, step)] or [float(x[-1])]
    labels = [short(10.0**t) for t in ticks]
    if ridge[0] == 0:
        if gap * fitting(ax, 5) < x[-1] - x[0]:
            ticks, labels = ticks[1:], labels[1:]  # too close to the zero
        ticks, labels = [float(x[0]), *ticks], ["0", *labels]
    ax.set_xticks(ticks, labels)
    return x


def _shown(values: np.ndarray) -> np.ndarray:
    """Values with gaps where they are not finite."""
    return np.where(np.isfinite(values), values, np.nan)
