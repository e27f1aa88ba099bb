"""``echofold validate`` on one series: what is held out at its end, forecast and scored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from echofold._data.dates import written
from echofold._data.text import figure
from echofold._models.forecast import Forecast, forecast_of
from echofold._search.plain import instead_of, near
from echofold._search.selection import FINALS
from echofold.cli.compare import LEVEL, Comparison, compare, winner
from echofold.cli.defaults import Recipe, recipe_for
from echofold.cli.forecast import forecast_table, records
from echofold.cli.output import Output, shortened, sparkline, table

MOST = 14  # held-out values that are printed; of more, the first and last of them


def validate_series(
    series: Any, known: Any, *, test: int | None, final: str, output: Output, **options: Any
) -> dict[str, Any]:
    """Compare and show; ``known`` are inputs known in advance."""
    finals = tuple(FINALS) if final == "all" else (final,)
    length, past = len(series.values), known.past
    test = test or min(max(1, length // 10), 200)
    with output.warnings_as_notes():
        recipe = recipe_for(series, test, output, held_out=True, **options)
        words = series.headline, known.words, f"searching {recipe.words}"
        output.stage("\n".join(filter(None, words)))
        with output.resumable(recipe.checkpoint):
            compared = compare(series, recipe, finals, output, X=past)
        forecast, title = _best(compared, series, recipe, past)
        content = {
            "source": series.source,
            "column": series.values.name,
            "values": length,
            "seasons": series.seasons,
            **comparison_content(compared, recipe, compared.searches[-1]),
            "forecast": records(forecast_table(forecast)),
            "inputs": known.names,
        }
    output.result(f"\n{comparison_table(compared, recipe)}\n")
    count = len(compared.starts)
    stretches = f"{count} stretches of" if count > 1 else "the last"
    output.explain(
        f"Errors are {recipe.metric.upper()}; the columns on the right are on {stretches} "
        f"{test} values, which the searches have not seen.\n* is the lowest; it was "
        "picked with the held-out values in sight, so expect a little more."
    )
    if plain := plain_verdict(compared):
        output.explain(plain)
    output.explain(f"\n{title}:")
    output.result(held_out(forecast, series.values.iloc[-test:], LEVEL))
    return content


def _best(
    compared: Comparison, series: Any, recipe: Recipe, past: pd.DataFrame | None
) -> tuple[Forecast, str]:
    """The best forecast of the last stretch, a plain one if networks run away; and its title."""
    (scheme, final), search, test = compared.best(), compared.searches[-1], recipe.horizon
    ahead, before = None if past is None else past.iloc[-test:], series.values.iloc[:-test]
    model = search.finalize(final, scheme=scheme)
    forecast = forecast_of(model, test, ahead, LEVEL, warn=False)
    title = f"The last {test} values as"
    if near(forecast.mean, before):
        return forecast, f"{title} {scheme} and {final} forecast them"
    seasons = series.seasons_before(len(before))
    plain = instead_of(search, scheme, model, before, seasons, recipe.metric, test)
    forecast = plain.forecast(before, forecast.mean.index, (LEVEL,), recipe.least)
    return forecast, f"{title} a plain forecast, {plain.name}, has them, for the networks run away"


def comparison_table(compared: Comparison, recipe: Recipe) -> str:
    """A row for each scheme: validation error, then the error of each final model.

    Plain forecasts stand below; the lowest error of all is marked.
    """
    errors, plain = compared.error.mean(axis=0), compared.plain_means
    every = [*errors.ravel(), *plain.values()]
    lowest = np.nanmin(every) if not np.isnan(every).all() else np.nan

    def marked(error: float) -> str:
        return figure(error) + (" *" if error == lowest else "  ")

    rows = []
    for s, name in enumerate(compared.schemes):
        splits = 1 if name == "single" else recipe.k
        validation = figure(compared.validation[:, s].mean())
        rows.append([name, str(splits), validation, *map(marked, errors[s])])
    empty = [""] * (len(compared.finals) - 1)
    rows += [[name, "", "", marked(error), *empty] for name, error in plain.items()]
    names = [f"{final}  " for final in compared.finals]
    return table(["scheme", "splits", "validation", *names], rows)


def plain_verdict(compared: Comparison) -> str | None:
    """A sentence if a plain forecast has the lowest error of all."""
    plain, own = compared.plain_means, compared.expected(*compared.best())
    best = min(plain, key=lambda name: plain[name], default=None)
    if best is None or own <= plain[best]:
        return None
    return (
        f"A plain forecast wins: {best} was closer to the held-out values ({figure(plain[best])}) "
        f"than every network ({figure(own)})."
    )


def comparison_content(compared: Comparison, recipe: Recipe, search: Any) -> dict[str, Any]:
    """The same as plain values; ``search`` is the one whose winners are shown."""
    rows = [
        {
            "scheme": scheme,
            "final": final,
            "validation": float(compared.validation[:, s].mean()),
            "test": float(compared.error[:, s, f].mean()),
            "coverage": float(compared.coverage[:, s, f].mean()),
            "parameters": winner(search, scheme)[1],
        }
        for s, scheme in enumerate(compared.schemes)
        for f, final in enumerate(compared.finals)
    ]
    scheme, final = compared.best()
    return {
        "horizon": recipe.horizon,
        "origins": len(compared.starts),
        "metric": recipe.metric,
        "units": recipe.units,
        "seed": recipe.seed,
        "results": rows,
        "simple": compared.plain_means,
        "best": {"scheme": scheme, "final": final},
        "plain_wins": plain_verdict(compared) is not None,
    }


def held_out(forecast: Forecast, truth: pd.Series, level: float) -> str:
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
    rows = [
        [f"{date:<19}{figure(value):>10}{figure(ahead):>10}   {figure(low)} to {figure(high)}"]
        for date, value, ahead, low, high in zip(
            written(truth.index), values, mean, lower, upper, strict=True
        )
    ]
    lines += [f"  {line}" for (line,) in shortened(rows, MOST)]
    if len(rows) > MOST + 1:
        lines.append(f"  (all {len(rows)} with --json)")
    lines.append(f"  {within.sum()} of {truth.count()} true values lie inside their intervals")
    return "\n".join(lines)
