"""Long runs of a network beside its system: Lyapunov exponents, spectra and histograms."""

from __future__ import annotations

from math import floor, log10
from typing import Any

import numpy as np

from echofold._data.arguments import check_integer
from echofold._data.text import short
from echofold.plots import _style as style
from echofold.plots._series import name_of

MOST_OUTPUTS = 8  # rows of panels in a new figure
DEEPEST = 1e-8  # of the highest peak: what lies below is not shown
BEGINNING = 10  # the first part of so many of a measurement, which may leave the picture
LOOKS = {
    "truth": {"color": style.INK, "linewidth": 1.2},
    "forecast": {"color": style.VERMILION, "linewidth": 1.2, "alpha": 0.85},
}


def climate(result: Any, *, ax: Any = None, output: int | None = None) -> Any:
    """Draw the power spectra and the histograms of a series and of a forecast, side by side.

    Parameters
    ----------
    result : ClimateComparison
        What `echofold.dynamics.climate` returns.
    ax : array of matplotlib axes of shape (outputs, 2) or (2,), optional
        Where to draw: a spectrum and a histogram for each output. A new figure by default.
    output : int, optional
        Draw this output only; all by default, of which a new figure shows the first 8.

    Returns
    -------
    array of matplotlib axes, of shape (outputs, 2)

    Examples
    --------
    >>> from echofold import dynamics, plots, systems
    >>> result = dynamics.climate(systems.henon(500), systems.henon(500, random_state=1))
    >>> plots.climate(result).shape
    (2, 2)
    """
    if not hasattr(result, "histograms"):
        raise TypeError(f"result={result!r}: expected what echofold.dynamics.climate returns.")
    outputs = result.edges.shape[1]
    shown = list(range(outputs if ax is not None else min(outputs, MOST_OUTPUTS)))
    if output is not None:
        shown = [check_integer("output", output, 0, most=outputs - 1)]
    panels = _panels(ax, len(shown))
    for row, (left, right) in zip(shown, panels, strict=True):
        name = name_of(result.names, row if outputs > 1 else None)
        _spectra(left, result, row)
        _histograms(right, result, row, name)
    style.finished(panels[0, 0])
    for left in panels[:-1, 0]:
        left.set_xlabel("")
    if ax is None and output is None and outputs > len(shown):
        panels[0, 1].set_title(f"{len(shown)} of {outputs} outputs", loc="right", fontsize="small")
    return panels


def _panels(ax: Any, rows: int) -> np.ndarray:
    """Pairs of axes ``(rows, 2)``: those given, or of a new figure."""
    if ax is None:
        first = style.axes(None, 8.0, 0.8 + 1.8 * rows)
        figure = first.figure
        first.remove()
        ax = figure.subplots(rows, 2, width_ratios=(3, 2))
    given = np.asarray(ax, dtype=object)
    if given.ndim == 0:
        style.axes(ax)  # raises, unless it is axes
    if given.size != 2 * rows:
        raise ValueError(
            f"ax has {given.size} axes, expected {2 * rows}: two for each output, as "
            f"pyplot.subplots({rows}, 2)[1] makes them."
        )
    return np.array([[style.axes(one) for one in pair] for pair in given.reshape(rows, 2)])


def _spectra(ax: Any, result: Any, output: int) -> None:
    """Power over frequency, truth and forecast."""
    low = DEEPEST * result.spectra[0, :, output].max()
    for power, (name, looks) in zip(result.spectra, LOOKS.items(), strict=True):
        shown = np.where(power[:, output] > low, power[:, output], np.nan)
        ax.plot(result.frequencies, shown, label=name, **looks)
    drawn = result.spectra[:, :, output]
    if style.spread_wide(drawn[drawn > low]):
        style.logarithmic(ax, "y")
    last = result.frequencies[(drawn > low).any(axis=0)][-1]
    ax.set(xlim=(0, last), xlabel="frequency", ylabel="power")
    apart, halves = result.spectrum_distance[output], result.spectrum_baseline[output]
    style.note(ax, f"{apart:.1f} dB apart (halves of the truth: {halves:.1f})")


def _histograms(ax: Any, result: Any, output: int, name: str) -> None:
    """Shares of values, truth and forecast."""
    edges = result.edges[:, output]
    for share, (label, looks) in zip(result.histograms, LOOKS.items(), strict=True):
        ax.stairs(share[:, output], edges, label=label, **looks)
    top = 1.25 * result.histograms[:, :, output].max()
    ax.set(ylim=(0, top), xlabel=style.as_label(name), ylabel="share of values")
    style.plain_numbers(ax.yaxis)
    apart, halves = result.histogram_distance[output], result.histogram_baseline[output]
    style.note(ax, f"{apart:.2f} std apart (halves: {halves:.2f})")


def lyapunov(result: Any, *, ax: Any = None, count: int | None = None) -> Any:
    """Draw how Lyapunov exponents settle as they are measured for longer.

    Parameters
    ----------
    result : LyapunovExponents
        What `echofold.dynamics.lyapunov_exponents` returns.
    ax : matplotlib axes, optional
        Where to draw, and what is returned; those of a new figure by default.
    count : int, optional
        How many of the largest exponents; 6 by default.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster, dynamics, plots
    >>> model = ESNForecaster(20, random_state=0).fit(np.sin(np.arange(300) / 5))
    >>> ax = plots.lyapunov(dynamics.lyapunov_exponents(model, 100, washout=50))
    >>> ax.get_xlabel()
    'time'
    """
    if not hasattr(result, "kaplan_yorke"):
        raise TypeError(
            f"result={result!r}: expected what echofold.dynamics.lyapunov_exponents returns."
        )
    count = len(style.CYCLE) if count is None else check_integer("count", count, 1, ", or None")
    ax = style.axes(ax)
    ax.axhline(0, color=style.INK, linewidth=0.8)
    shown = min(count, len(result.exponents))
    for place in range(shown):
        color, name = style.CYCLE[place % len(style.CYCLE)], _named(result.exponents[:shown], place)
        course = style.thinned(result.times, result.history[:, place])
        ax.plot(*course, color=color, linewidth=1.3, label=name)
    _limit(ax, result.history[len(result.history) // BEGINNING :, :shown])
    return style.finished(ax, "y", xlim=(0, result.times[-1]), xlabel="time", ylabel="exponent")


def _named(exponents: np.ndarray, place: int) -> str:
    """One of them as a label, in digits that count beside the largest."""
    size = np.abs(exponents[np.isfinite(exponents)])
    largest = size.max() if size.any() else 1.0
    return short(round(float(exponents[place]), 3 - floor(log10(largest))) + 0.0, 4)


def _limit(ax: Any, history: np.ndarray) -> None:
    """Keep the beginning, when exponents have not settled, from flattening the rest."""
    finite = history[np.isfinite(history)]
    low, high = (min(0.0, finite.min()), max(0.0, finite.max())) if finite.size else (0.0, 0.0)
    pad = 0.08 * (high - low) or 1.0
    ax.set_ylim(low - pad, high + pad)
