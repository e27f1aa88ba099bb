"""What all plots share: colours, new axes, axes that are logarithmic only when they must be."""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold._data.text import label, short

# Okabe and Ito's colours; INK and PALE stand for what is given and what is left out.
BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
PURPLE, ORANGE, SKY = "#CC79A7", "#E69F00", "#56B4E9"
INK, PALE = "#4D4D4D", "#D4D4D4"
CYCLE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
MANY = 2000  # points from which a cloud is drawn as an image inside vector graphics
WIDE = 30.0  # ratio of the largest to the smallest value from which an axis is logarithmic


def axes(ax: Any, width: float = 6.4, height: float = 3.6) -> Any:
    """``ax`` itself, or the axes of a new figure."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "echofold.plots draws with matplotlib, which is not installed. "
                "Install it with: pip install 'echofold[report]'"
            ) from error
        _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    elif not hasattr(ax, "transAxes"):
        raise TypeError(
            f"ax={ax!r}: expected matplotlib axes, such as pyplot.subplots()[1], or None for a new "
            "figure."
        )
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def fitting(ax: Any, characters: int) -> int:
    """How many labels of this many characters fit along the horizontal axis."""
    inches = ax.bbox.width / ax.figure.dpi
    return max(1, int(inches / (0.15 + 0.085 * characters)))


def plain_numbers(axis: Any) -> None:
    """Label a linear axis without a common factor set apart, which would run into the legend."""
    axis.set_major_formatter(lambda value, _: short(float(value), 6))


def whole_numbers(ax: Any) -> None:
    """Ticks at whole numbers along the horizontal axis, no more than fit."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(
        MaxNLocator(min(8, fitting(ax, 5)), integer=True, min_n_ticks=1, steps=[1, 2, 5, 10])
    )


def finished(ax: Any, plain: str = "", **settings: Any) -> Any:
    """The axes with labels and a legend over them, where it hides nothing and columns fit.

    The axes named in ``plain``, as in "xy", are labelled with plain numbers.
    """
    ax.set(**settings)
    for which in plain:
        plain_numbers(getattr(ax, f"{which}axis"))
    _, labels = ax.get_legend_handles_labels()
    if labels:
        columns = min(len(labels), fitting(ax, 3 + max(map(len, labels))))
        legend = ax.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False,
            borderaxespad=0.1, columnspacing=1.2, handlelength=1.4, handletextpad=0.5,
        )  # fmt: skip
        for handle in legend.legend_handles:
            if hasattr(handle, "set_sizes") and handle.get_sizes()[0] < 20:
                handle.set(sizes=[20], alpha=1)  # of a cloud of faint points
    return ax


def note(ax: Any, text: str) -> None:
    """A remark in the upper right corner of the axes."""
    ax.annotate(
        text, (1, 1), xycoords="axes fraction", xytext=(-3, -3), textcoords="offset points",
        ha="right", va="top", fontsize="small", color=INK,
    )  # fmt: skip


def note_lost(ax: Any, there: np.ndarray) -> None:
    """A remark on how many of the values to be drawn are not finite, if any."""
    if not there.all():
        note(ax, f"{int((~there).sum())} of {there.size} not finite")


def as_label(name: Any) -> str:
    """A name from the user's data as a label: never read as a formula, nor left out of a legend."""
    text = label(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def spread_wide(values: np.ndarray) -> bool:
    """Whether finite values ask for a logarithmic axis."""
    finite = values[np.isfinite(values)]
    return bool(finite.size and finite.min() > 0 and finite.max() > WIDE * finite.min())


def suit(ax: Any, which: str, values: np.ndarray) -> None:
    """Make the axis ``which`` suit values: logarithmic if they are spread wide, else plain."""
    if spread_wide(values):
        logarithmic(ax, which)
    else:
        plain_numbers(getattr(ax, f"{which}axis"))


def logarithmic(ax: Any, which: str) -> None:
    """Make the axis ``which`` logarithmic, labelled in plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    getattr(ax, f"set_{which}scale")("log")
    axis = getattr(ax, f"{which}axis")
    low, high = sorted(axis.get_view_interval())
    decades = np.log10(high / low) if low > 0 else 10
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2 else (1,), numticks=7))
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(float(value))))
    axis.set_minor_formatter(NullFormatter())


def finite(values: np.ndarray) -> np.ndarray:
    """Values with gaps (NaN) where they are not finite."""
    return np.where(np.isfinite(values), values, np.nan)


def band(ax: Any, x: Any, low: np.ndarray, high: np.ndarray, label: str, alpha=0.2) -> None:
    """What lies between two lines, where these are finite."""
    ax.fill_between(x, finite(low), finite(high), color=BLUE, alpha=alpha, linewidth=0, label=label)


def with_gaps(ax: Any, x: np.ndarray, y: np.ndarray, **options: Any) -> None:
    """A thinned line, with dots for values that stand alone between missing ones."""
    x, y = thinned(x, y)
    gap = np.isnan(np.concatenate([[np.nan], y, [np.nan]]))
    alone = ~gap[1:-1] & gap[:-2] & gap[2:]
    dots = {"marker": ".", "markersize": 3, "markevery": alone} if alone.any() else {}
    ax.plot(x, y, **dots, **options)


def thinned(x: np.ndarray, y: np.ndarray, most: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """At most about ``most`` points of a line, the extremes of every stretch among them."""
    if len(y) <= most:
        return x, y
    kept = set()
    for stretch in np.array_split(np.arange(len(y)), most // 2):
        part = y[stretch]
        gap = np.isnan(part)
        if gap.any():  # which must stay one
            kept.add(int(stretch[gap.argmax()]))
        if not gap.all():
            kept |= {int(stretch[np.nanargmin(part)]), int(stretch[np.nanargmax(part)])}
    at = np.array(sorted(kept))
    return x[at], y[at]
