"""The splits of a scheme as rows of bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from echofold._data.rows import Intervals, complement, intervals_of, rows
from echofold._folds.splits import RowSplits, resolve_cv
from echofold.plots import _style as style

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
        Where to draw, and what is returned; those of a new figure by default.

    Examples
    --------
    >>> from echofold import WalkForward, plots
    >>> plots.splits(WalkForward(5, valid=10), 100).get_xlabel()
    'row'
    """
    found = scheme if isinstance(scheme, RowSplits) else resolve_cv(scheme, n)
    count, n = len(found), found.n
    shown = np.unique(np.linspace(0, count - 1, min(SHOWN, count)).round().astype(int)).tolist()
    ax = style.axes(ax, height=min(5.0, 1.2 + 0.22 * len(shown)))
    coarse = sum(len(found.train[i]) + len(found.valid[i]) for i in shown) > PIECES
    train, left_out, valid = {}, {}, {}
    for i in shown:
        train[i], valid[i] = found.train[i], found.valid[i]
        if coarse:
            train[i], valid[i] = _sampled(train[i], n), _sampled(valid[i], n)
        used = tuple(sorted(train[i] + valid[i])) if found.held_out else train[i]
        left_out[i] = complement(used, n)
    thin = found.intervals and found.sizes.max() < n / 200
    line = 1.5 if thin else 0.0  # a row in thousands would be thinner than a pixel
    height = 0.8 * (count / len(shown))
    _bars(ax, train, height, "training", style.BLUE)
    _bars(ax, left_out, height, "left out", style.PALE)
    # Half as high where training rows lie below.
    _bars(ax, valid, height if found.held_out else height / 2, "validation", style.VERMILION, line)
    some = "" if len(shown) == count else f" ({len(shown)} of {count})"
    ax.yaxis.get_major_locator().set_params(integer=True, nbins=6, min_n_ticks=1)
    style.whole_numbers(ax)
    limits: dict[str, Any] = {"xlim": (0, n), "ylim": (count + 0.5, 0.5)}
    return style.finished(ax, **limits, xlabel="row", ylabel=f"split{some}")


def _bars(
    ax: Any, sets: dict[int, Intervals], height: float, label: str, color: str, line: float = 0
) -> None:
    """Intervals by split as one collection of boxes; the first split is number 1."""
    from matplotlib.collections import PolyCollection

    boxes = [
        [(a, low), (b, low), (b, low + height), (a, low + height)]
        for split, intervals in sets.items()
        for low in (split + 1 - height / 2,)
        for a, b in intervals
    ]
    if boxes:
        looks: dict[str, Any] = {"facecolors": color, "edgecolors": color, "linewidths": line}
        ax.add_collection(PolyCollection(boxes, label=label, gid=label.replace(" ", "-"), **looks))


def _sampled(intervals: Intervals, n: int) -> Intervals:
    """A scattered set of rows as seen at a few rows spread evenly."""
    cells = min(CELLS, n)
    edges = np.arange(cells + 1) * n // cells
    inside = np.zeros(n, dtype=bool)
    inside[rows(intervals)] = True
    seen = inside[(edges[:-1] + edges[1:]) // 2]
    return tuple((int(edges[a]), int(edges[b])) for a, b in intervals_of(np.flatnonzero(seen)))
