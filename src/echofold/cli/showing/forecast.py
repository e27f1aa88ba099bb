"""What ``echofold forecast`` prints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from echofold._data.numbers import figure, in_words
from echofold._data.text import shown
from echofold.cli.showing.drawn import shortened, sparkline, table
from echofold.cli.showing.output import Output
from echofold.metrics import WITHOUT_UNIT

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
    output.explain(f"Errors are {metric} over {content['horizon']} steps{units}.")
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
