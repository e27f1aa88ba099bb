"""The splits of a scheme as rows of bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold._data.rows import Intervals, complement, intervals_of, rows
from echofold._folds.splits import RowSplits, resolve_cv
from echofold.plots._style import BLUE, PALE, VERMILION, axes, legend_above, whole_numbers

SHOWN = 60  # splits drawn at most
PIECES = 4000  # bars drawn at most; scattered sets are sampled to fewer
CELLS = 300  # rows sampled for a scattered set


def splits(scheme: Any, n: int, *, ax: Any = None) -> Any:
    """Draw the splits of ``n`` rows, one row of bars for each: training, left out, validation.

    Parameters
    ----------
    scheme : scheme, scikit-learn splitter, int, or list of (train, valid) index pairs
        What to draw; of more than 60 splits, 60 spread evenly.
    n : int
        Number of rows.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from echofold import WalkForward, plots
    >>> plots.splits(WalkForward(5, valid=10), 100).get_xlabel()
    'row'
    """
    row_splits = scheme if isinstance(scheme, RowSplits) else resolve_cv(scheme, n)
    shown = np.unique(
        np.linspace(0, len(row_splits) - 1, min(SHOWN, len(row_splits))).round().astype(int)
    )
    ax = axes(ax, height=min(5.0, 1.2 + 0.22 * len(shown)))
    sets: dict[str, list[tuple[int, Intervals]]] = {
        "training": [],
        "left out": [],
        "validation": [],
    }
    coarse = sum(len(row_splits.train[i]) + len(row_splits.valid[i]) for i in shown) > PIECES
    for i in shown.tolist():
        train, valid = row_splits.train[i], row_splits.valid[i]
        if coarse:
            train, valid = _sampled(train, row_splits.n), _sampled(valid, row_splits.n)
        used = tuple(sorted(train + valid)) if row_splits.held_out else train
        sets["training"].append((i, train))
        sets["left out"].append((i, complement(used, row_splits.n)))
        sets["validation"].append((i, valid))
    thin = row_splits.intervals and row_splits.sizes.max() < row_splits.n / 200
    outline = 1.5 if thin else 0.0  # a row in thousands would be thinner than a pixel
    height = 1.0 if len(shown) == len(row_splits) else len(row_splits) / len(shown)
    for (name, intervals), colour in zip(sets.items(), (BLUE, PALE, VERMILION), strict=True):
        line = outline if name == "validation" else 0
        # Half as high where training rows lie below.
        share = 0.4 if name == "validation" and not row_splits.held_out else 0.8
        _bars(ax, intervals, share * height, name, colour, line)
    ax.set_xlim(0, row_splits.n)
    ax.set_ylim(len(row_splits) + 0.5, 0.5)
    ax.set_xlabel("row")
    ax.set_ylabel(
        "split" if len(shown) == len(row_splits) else f"split ({len(shown)} of {len(row_splits)})"
    )
    ax.yaxis.get_major_locator().set_params(integer=True, nbins=6, min_n_ticks=1)
    whole_numbers(ax)
    legend_above(ax)
    return ax


def _bars(
    ax: Any, sets: list[tuple[int, Intervals]], height: float, label: str, color: str, line: float
) -> None:
    """All intervals of one kind as one collection of boxes; the first split is number 1."""
    from matplotlib.collections import PolyCollection

    boxes = [
        [(a, low), (b, low), (b, low + height), (a, low + height)]
        for split, intervals in sets
        for low in (split + 1 - height / 2,)
        for a, b in intervals
    ]
    if boxes:
        bars = PolyCollection(
            boxes, facecolors=color, edgecolors=color, linewidths=line, label=label
        )
        bars.set_gid(label.replace(" ", "-"))
        ax.add_collection(bars)


def _sampled(intervals: Intervals, n: int) -> Intervals:
    """A scattered set of rows as seen at a few rows spread evenly."""
    cells = min(CELLS, n)
    edges = np.arange(cells + 1) * n // cells
    inside = np.zeros(n, dtype=bool)
    inside[rows(intervals)] = True
    seen = inside[(edges[:-1] + edges[1:]) // 2]
    return tuple((int(edges[a]), int(edges[b])) for a, b in intervals_of(np.flatnonzero(seen)))
