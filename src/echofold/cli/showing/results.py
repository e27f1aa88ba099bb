"""Comparisons as tables and as content for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from echofold._data.text import figure
from echofold.cli.compare import Comparison, winner
from echofold.cli.defaults import Plan
from echofold.cli.reading.spacing import written
from echofold.cli.showing.forecast import shortened, sparkline, table

MOST = 14  # held-out values that are printed; of more, the first and last of them


def comparison_table(compared: Comparison, plan: Plan) -> str:
    """A row for each scheme: validation error, then the error of each final model.

    Plain forecasts stand below; the lowest error of all is marked.
    """
    errors = compared.error.mean(axis=0)
    plain = {name: float(error.mean()) for name, error in compared.simple.items()}
    every = [*errors.ravel(), *plain.values()]
    lowest = np.nanmin(every) if not np.isnan(every).all() else np.nan
    mark = {True: " *", False: "  "}
    rows = []
    for s, name in enumerate(compared.schemes):
        cells = [figure(error) + mark[bool(error == lowest)] for error in errors[s]]
        splits = 1 if name == "single" else plan.k
        rows.append([name, str(splits), figure(compared.validation[:, s].mean()), *cells])
    for name, error in plain.items():
        cell = figure(error) + mark[error == lowest]
        rows.append([name, "", "", cell, *[""] * (len(compared.finals) - 1)])
    names = [f"{final}  " for final in compared.finals]
    return table(["scheme", "splits", "validation", *names], rows)


def plain_verdict(compared: Comparison) -> str | None:
    """A sentence if a plain forecast has the lowest error of all."""
    plain = {name: float(error.mean()) for name, error in compared.simple.items()}
    if not plain:
        return None
    best = min(plain, key=lambda name: plain[name])
    own = compared.expected(*compared.best())
    if own <= plain[best]:
        return None
    return (
        f"A plain forecast wins: {best} was closer to the held-out values ({figure(plain[best])}) "
        f"than every network ({figure(own)})."
    )


def comparison_content(compared: Comparison, plan: Plan, search: Any) -> dict[str, Any]:
    """The same as plain values; ``search`` is the one whose winners are shown."""
    rows = []
    for s, name in enumerate(compared.schemes):
        for f, final in enumerate(compared.finals):
            rows.append(
                {
                    "scheme": name,
                    "final": final,
                    "validation": float(compared.validation[:, s].mean()),
                    "test": float(compared.error[:, s, f].mean()),
                    "coverage": float(compared.coverage[:, s, f].mean()),
                    "parameters": winner(search, name)[1],
                }
            )
    scheme, final = compared.best()
    return {
        "horizon": plan.horizon,
        "origins": len(compared.starts),
        "metric": plan.metric,
        "units": plan.units,
        "seed": plan.seed,
        "results": rows,
        "simple": {name: float(errors.mean()) for name, errors in compared.simple.items()},
        "best": {"scheme": scheme, "final": final},
        "plain_wins": plain_verdict(compared) is not None,
    }


def held_out(forecast: Any, truth: pd.Series, level: float) -> str:
    """A forecast beside what came true: two lines of blocks, some values, the coverage."""
    mean, values = forecast.mean.to_numpy(), truth.to_numpy()
    lower, upper = (ends[level].to_numpy() for ends in (forecast.lower, forecast.upper))
    within = (values >= lower) & (values <= upper)
    low, high = (float(end([*values, *mean])) for end in (np.nanmin, np.nanmax))
    lines = [
        f"  true      {sparkline(values, low, high)}",
        f"  forecast  {sparkline(mean, low, high)}",
        "",
        f"  {'':<19}{'true':>10}{'forecast':>10}   {100 * level:g} % interval",
    ]
    dates, rows = written(truth.index), []
    for i in range(len(values)):
        bounds = f"{figure(lower[i])} to {figure(upper[i])}"
        rows.append([f"{dates[i]:<19}{figure(values[i]):>10}{figure(mean[i]):>10}   {bounds}"])
    lines += [f"  {line}" for (line,) in shortened(rows, MOST)]
    if len(rows) > MOST + 1:
        lines.append(f"  (all {len(rows)} with --json)")
    lines.append(f"  {within.sum()} of {truth.count()} true values lie inside their intervals")
    return "\n".join(lines)
