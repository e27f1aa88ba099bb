"""Drawings that only a report needs."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np

from echofold import plots
from echofold._data.tables import Table
from echofold.plots._series import column_name
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
from echofold.plots._time import continued, label_time, positions

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
    plots.forecast(y, forecast, ax, history=max(30, 3 * horizon), output=output)
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
    plots.validation_test(x, y, chosen, ax).set(xlabel=across, ylabel=up)


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
    plots.splits(splits, splits.n, ax).set_xlabel(unit)
