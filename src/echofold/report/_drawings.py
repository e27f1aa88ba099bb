"""Drawings that only a report needs, and any drawing as SVG that stands inside a page.

SVG takes its colours from the page's style.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np

from echofold import plots
from echofold._data.tables import Table
from echofold.plots import _style
from echofold.plots._series import column_name, continued, label_time, positions
from echofold.plots._style import (
    BLUE,
    CYCLE,
    GREEN,
    INK,
    MANY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    axes,
    legend_above,
    plain,
    plain_numbers,
    thinned,
    whole_numbers,
    with_gaps,
)

TEXT = "#262626"
# Colours of the drawings and the variables of the style sheet that stand for them.
COLOURS = {
    TEXT: "ink",
    _style.INK: "series",
    _style.PALE: "pale",
    _style.BLUE: "blue",
    _style.VERMILION: "vermilion",
    _style.GREEN: "green",
    _style.PURPLE: "purple",
    _style.ORANGE: "orange",
    _style.SKY: "sky",
}
SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: small, searchable, and in the reader's font
    "font.size": 10,
    "text.color": TEXT,
    "axes.edgecolor": TEXT,
    "axes.labelcolor": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "axes.linewidth": 0.7,
    "path.simplify": False,  # the plots thin long lines themselves
    "savefig.dpi": 200,  # of clouds of points, which are images inside
}


def svg(plot: Callable[..., Any], size: tuple[float, float], name: str, label: str) -> str:
    """What ``plot(ax=…)`` draws at a ``size`` in inches; ``name`` makes its ids unique."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        # Characters that matplotlib's font lacks: the reader's will have them.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        matplotlib.rcdefaults()
        settings: Any = {**SETTINGS, "svg.hashsalt": name}
        matplotlib.rcParams.update(settings)
        figure = Figure(figsize=size, layout="constrained")
        plot(ax=figure.subplots())
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True)
    return _inline(written.getvalue(), name, label)


def _inline(text: str, name: str, label: str) -> str:
    """The bare element, with unique ids and the page's colours."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style .*?</style>", "", text, flags=re.DOTALL)
    head, rest = text.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    rest = re.sub(r'\bid="', f'id="{name}-', rest)
    rest = re.sub(r'href="#|url\(#', lambda match: f"{match[0]}{name}-", rest)
    for colour, variable in COLOURS.items():
        rest = re.sub(rf"(?<=: ){colour}\b", f"var(--{variable})", rest, flags=re.IGNORECASE)
    # Two decimals of a point are finer than any screen.
    rest = re.sub(r"(?<= d=\")[^\"]*", _rounded, rest)
    quoted = label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return f'<svg {box[0]} role="img" aria-label="{quoted}">{rest.strip()}'


def _rounded(path: re.Match) -> str:
    return re.sub(r"-?\d+\.\d{3,}", lambda n: f"{float(n[0]):.2f}", path[0]).replace(" \n", "\n")


THIN = (VERMILION, GREEN, PURPLE, ORANGE, SKY)  # of plain forecasts, beside a blue one


def confusion(counts: np.ndarray, classes: np.ndarray, ax: Any) -> None:
    """How often sequences of each class (rows) were taken for another (columns)."""
    shown = np.where(counts > 0, counts, np.nan)
    ax.pcolormesh(shown, cmap="viridis_r", vmin=0, vmax=counts.max())
    ax.set_aspect("equal")
    ax.invert_yaxis()
    step = -(-len(classes) // 12)
    at = np.arange(len(classes))[::step]
    names = [plain(str(classes[i])[:8]) for i in at]
    ax.set_xticks(at + 0.5, names)
    ax.set_yticks(at + 0.5, names)
    ax.set_xlabel("class said")
    ax.set_ylabel("true class")
    for row, column in np.argwhere(counts) if len(classes) <= 12 else ():
        dark = counts[row, column] > counts.max() / 2
        colour = "white" if dark else "black"
        text = f"{counts[row, column]}"
        ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=colour)


def beside_plain_ones(
    y: Any, table: Table, forecast: Any, lines: dict[str, np.ndarray], output: int, ax: Any
) -> None:
    """The end of a series, its forecast with intervals, and thin lines of plain forecasts."""
    horizon = len(forecast.mean)
    plots.forecast(y, forecast, ax=ax, history=max(30, 3 * horizon), output=output)
    _, ahead = continued(table.index, len(table.values), horizon)
    for (name, values), colour in zip(lines.items(), cycle(THIN), strict=False):
        ax.plot(ahead, values, "--", color=colour, linewidth=0.9, label=plain(name), zorder=1.5)
    legend_above(ax)


def against(truth: np.ndarray, said: np.ndarray, name: str, ax: Any) -> None:
    """Predictions against true values, and the line on which they are equal."""
    few = len(truth) <= MANY
    axes(ax).scatter(
        truth, said, s=6, alpha=0.6 if few else 0.25, color=BLUE, linewidths=0, rasterized=not few
    )
    ends = [float(np.min(truth)), float(np.max(truth))] if len(truth) else [0.0, 1.0]
    ax.plot(ends, ends, color=INK, linewidth=0.8)
    ax.set_xlabel(f"true {plain(name)}")
    ax.set_ylabel("predicted")
    plain_numbers(ax.xaxis)
    plain_numbers(ax.yaxis)


def repetitions(evaluation: Any, honest: np.ndarray, ax: Any) -> None:
    """Validation errors and honest ones of repetitions of a search."""
    starts = evaluation.start.values
    for values, marker, colour, label in (
        (evaluation.validation.values, "o", BLUE, "validation error of the winner"),
        (honest, "s", VERMILION, "error on what followed"),
    ):
        axes(ax).plot(starts, values, marker, color=colour, label=label)
    ax.vlines(starts, evaluation.validation.values, honest, color=INK, linewidth=0.8, zorder=0)
    ax.set_ylim(bottom=0)
    whole_numbers(ax)
    ax.set_xlabel("rows searched on")
    ax.set_ylabel(evaluation.attrs["metric"])
    legend_above(ax)


def scatter(x: Any, y: Any, chosen: Any, across: str, up: str, ax: Any) -> None:
    """Errors of one kind against another."""
    plots.validation_test(x, y, chosen=chosen, ax=ax).set(xlabel=across, ylabel=up)


def series(table: Table, output: int, ax: Any) -> None:
    """A column of the data."""
    x = positions(table.index, len(table.values))
    with_gaps(axes(ax), x, table.values[:, output], color=INK, linewidth=0.8)
    label_time(ax, table.index)
    ax.set_ylabel(plain(column_name(table, output)))
    plain_numbers(ax.yaxis)


def examples(sequences: list[np.ndarray], labels: np.ndarray, classes: Any, ax: Any) -> None:
    """The first sequence of each class."""
    for name, colour in zip(classes, CYCLE, strict=False):
        first = sequences[int(np.argmax(labels == name))][:, 0]
        axes(ax).plot(*thinned(np.arange(len(first)), first), color=colour, label=plain(name))
    whole_numbers(ax)
    ax.set_xlabel("step")
    legend_above(ax)


def split_rows(splits: Any, unit: str, ax: Any) -> None:
    """Splits of rows, or of sequences."""
    plots.splits(splits, splits.n, ax=ax).set_xlabel(unit)
