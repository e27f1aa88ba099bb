"""Drawings that only a report needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold import plots
from echofold._data.tables import Table
from echofold.plots._series import column_name
from echofold.plots._style import (
    BLUE,
    CYCLE,
    INK,
    VERMILION,
    axes,
    legend_above,
    plain,
    plain_numbers,
    thinned,
    whole_numbers,
)
from echofold.plots._time import label_time, positions


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
    axes(ax).plot(*thinned(x, table.values[:, output]), color=INK, linewidth=0.8)
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
