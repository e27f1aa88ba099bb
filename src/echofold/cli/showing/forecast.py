"""What ``echofold forecast`` prints, and tells the report of its search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.text import figure, in_words, label, shown
from echofold.cli.showing.output import Output
from echofold.metrics._metric import WITHOUT_UNIT
from echofold.report import About

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


def told_of(
    series: Any, content: dict[str, Any], notes: Sequence[str], ahead: Any, better: Any, X: Any
) -> About:
    """The file and its column, what was assumed about it, and what was measured.

    ``ahead`` is the forecast that is given, ``better`` the plain one that it is, if it is one.
    """
    measured = {row["scheme"]: row["expected"] for row in content["schemes"]}
    return About(
        title=f"{series.source}: {series.values.name}",
        notes=[note[:1].upper() + note[1:] for note in notes],
        X=X,
        forecast=ahead,
        instead=better,
        seasons=series.seasons,
        expected={name: error for name, error in measured.items() if error is not None},
        how="--origins 3",
    )


MOST = 30  # steps that are printed; of more, the first and last of them
SHORT = {"leak_rate": "leak", "spectral_radius": "radius", "input_scaling": "scaling"}


def show_forecast(
    content: dict[str, Any], values: np.ndarray, forecasts: pd.DataFrame, output: Output
) -> None:
    """Print what was found; only the paths when quiet."""
    files = list(content["files"].values())
    if output.quiet:
        output.result("\n".join(files))
        return
    if content.get("instead"):
        output.explain(content["instead"][0].upper() + content["instead"][1:])
    metric, chosen = content["metric"].upper(), content["chosen"]
    names = list(chosen["parameters"])
    rows = [
        [
            row["scheme"] + (" ←" if row["scheme"] == chosen["scheme"] else ""),
            figure(row["validation"]),
            figure(row["expected"]),
            "–" if row["coverage"] is None else f"{row['coverage']:.0%}",
            *(in_words(row["parameters"][name]) for name in names),
        ]
        for row in content["schemes"]
    ]
    empty = [""] * (1 + len(names))
    rows += [[name, "", figure(error), *empty] for name, error in content["simple"].items()]
    short = [SHORT.get(name, name) for name in names]
    columns = ["scheme", "validation", "expected", "covered", *short]
    output.result(f"\n{table(columns, rows)}\n")
    _explain(content, metric, output)
    lines = [
        [row[0], *(figure(value) for value in row[1:])] for row in forecasts.itertuples(index=False)
    ]
    shortly = shortened(lines, MOST)
    output.result(f"\n{table(list(forecasts.columns), shortly)}")
    if len(shortly) < len(lines):
        output.result(f"All {len(lines)} rows are in {content['files']['forecast']}.")
    output.result(f"\n{_drawn(values, forecasts['forecast'].to_numpy())}\n")
    output.result("\n".join(f"wrote {path}" for path in files))
    output.result(f"{content['seconds']:.1f} s")


def _explain(content: dict[str, Any], metric: str, output: Output) -> None:
    """Say what the table means."""
    own = content["metric"] in WITHOUT_UNIT
    units = "" if own else f", in the units of {shown(content['column'])}"
    steps = "1 step" if content["horizon"] == 1 else f"{content['horizon']} steps"
    output.explain(f"Errors are {metric} over {steps}{units}.")
    if not content["origins"]:
        return
    output.explain(
        f"Expected: the whole search repeated on {beginnings(content['origins'])} and scored on "
        f"the {content['horizon']} values that followed; covered: how many of these lay inside "
        f"their {100 * content['level']:g} % intervals."
    )
    if len(content["schemes"]) > 1:
        output.explain(
            "← is used because its expected error is the lowest; having been picked by it, expect "
            "a little more."
        )


def _drawn(values: np.ndarray, ahead: np.ndarray) -> str:
    """The end of the series and the forecast as one line of blocks."""
    past = values[-2 * len(ahead) :]
    both = np.concatenate([past, ahead[np.isfinite(ahead)]])
    low, high = float(np.nanmin(both)), float(np.nanmax(both))
    return (
        f"{sparkline(past, low, high, 40)} │ {sparkline(ahead, low, high, 20)}  (past │ forecast)"
    )


def beginnings(count: int) -> str:
    """How many beginnings, in words."""
    return "a shorter beginning" if count == 1 else f"{count} shorter beginnings"
