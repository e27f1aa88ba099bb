"""Tables and small drawings for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from echofold._data.text import label

BLOCKS = "▁▂▃▄▅▆▇█"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns under a line, the first to the left and the others to the right.

    Examples
    --------
    >>> print(table(["scheme", "error"], [["k-fold", "0.31"], ["single", "12.3"]]))
    scheme  error
    ──────  ─────
    k-fold   0.31
    single   12.3
    """
    columns = [label(name) for name in columns]  # one of them is a name in the user's file
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    lines = [columns, ["─" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def sparkline(values: np.ndarray, low: float, high: float, width: int = 60) -> str:
    """Values as a line of blocks, between ``low`` and ``high``; neighbours are averaged to fit.

    Where all of them are missing (NaN) is a space.

    Examples
    --------
    >>> import numpy as np
    >>> sparkline(np.array([0.0, 1.0, 2.0, 7.0]), 0, 7)
    '▁▂▃█'
    """
    parts = np.array_split(np.asarray(values, dtype=float), min(width, len(values)))
    means = [part[~np.isnan(part)].mean() if not np.isnan(part).all() else np.nan for part in parts]
    if np.isinf(means).any():
        return "?" * len(means)
    places = np.clip((np.array(means) - low) / ((high - low) or 1.0), 0, 1) * (len(BLOCKS) - 1)
    return "".join(" " if np.isnan(place) else BLOCKS[round(place)] for place in places)


def shortened(rows: Sequence[Sequence[str]], most: int) -> list[Sequence[str]]:
    """All rows, or the first and last of them with a row that says how many are left out.

    Examples
    --------
    >>> shortened([[str(i), "x"] for i in range(100)], 4)
    [['0', 'x'], ['1', 'x'], ['… 96 more', ''], ['98', 'x'], ['99', 'x']]
    """
    left = len(rows) - most
    if left <= 1:  # the remark would take a row itself
        return list(rows)
    end = len(rows) - most // 2
    remark = [f"… {left} more", *[""] * (len(rows[0]) - 1)]
    return [*rows[: most - most // 2], remark, *rows[end:]]
