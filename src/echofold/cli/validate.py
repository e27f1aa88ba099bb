"""``echofold validate`` on one series: what is held out at its end, forecast and scored."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.dates import written
from echofold._data.text import count, figure
from echofold._machine.progress import before
from echofold._models.forecast import Forecast
from echofold._search.auto import AutoForecaster
from echofold._search.evaluate import Part, beginnings, check_zeros, errors_on, starts_of
from echofold._search.recipe import FORWARD
from echofold._search.selection import FINALS, mean_ridge
from echofold._search.verdict import EXACT, plain_errors, short_name
from echofold._validation.score import spread_of
from echofold.cli.forecast import facts, forecaster_for, records
from echofold.cli.output import Output, shortened, sparkline, table
from echofold.metrics._metric import resolve
from echofold.report._about import forecast_table

LEVEL = 0.9
OURS = "automatic forecast"
MOST = 14  # held-out values that are printed; of more, the first and last of them


def validate_series(
    series: Any,
    known: Any,
    *,
    test: int | None,
    origins: int,
    final: str,
    output: Output,
    **options: Any,
) -> dict[str, Any]:
    """Compare and show; ``known`` are inputs known in advance."""
    finals = tuple(FINALS) if final == "all" else (final,)
    length = len(series.values)
    test = test or min(max(1, length // 10), 200)
    most = (length - 1) // origins
    if test > most:
        raise ValueError(
            f"--test {test} of {length} values, {count(origins, 'time')}, leaves nothing to learn "
            f"from; hold out at most {max(most, 0)}."
        )
    with output.warnings_as_notes():
        model = forecaster_for(series, test, output, level=(LEVEL,), **options)
        output.stage("\n".join(filter(None, (series.headline, known.words))))
        with output.resumable(model.checkpoint):
            found, last = compare(series, known.past, model, finals, origins, output)
        ahead = last.forecast(X=None if known.past is None else known.past.iloc[-test:])
        content = {
            **facts(series, known, last),
            **found,
            "forecast": records(forecast_table(ahead)),
        }
    output.result(f"\n{comparison_table(found, series.values.index)}\n")
    stretches = f"{found['origins']} stretches of" if found["origins"] > 1 else "the last"
    output.explain(
        f"Errors are {content['metric'].upper()} on {stretches} {test} values, which nothing here "
        "has seen; * is the lowest."
    )
    if plain := plain_verdict(found):
        output.explain(plain)
    if found["schemes"]:
        output.result(f"\n{networks_table(found['schemes'])}\n")
        output.explain(
            "Networks alone, chosen by each scheme and made into each final model. Having been "
            "picked with the held-out values in sight, expect a little more than the lowest."
        )
    output.explain(f"\nThe last {count(test, 'value')} as they were forecast:")
    output.result(held_out(ahead, series.values.iloc[-test:], LEVEL))
    return content


def compare(
    series: Any,
    X: pd.DataFrame | None,
    model: AutoForecaster,
    finals: Sequence[str],
    origins: int,
    output: Output,
) -> tuple[dict[str, Any], AutoForecaster]:
    """Fit the recipe to each of so many beginnings and score it on the horizon that follows.

    What was found, as plain values, and the model of the last beginning. Where the horizon has no
    value there is nothing to score: such beginnings are left out. The last value is never missing.
    """
    values, horizon = series.values, model.horizon
    metric = resolve((model.search or {}).get("metric", "rmse"))
    starts, spread = starts_of(len(values), origins, horizon), spread_of(values)
    starts = starts[[values.iloc[start : start + horizon].notna().any() for (start,) in starts]]
    if len(starts) < origins:
        lost = origins - len(starts)
        output.note(f"left out, without a value to score: {lost} of {origins} beginnings.")
    check_zeros([metric], values.to_numpy(), starts[:, 0], horizon)

    def fresh(start: np.ndarray) -> AutoForecaster:
        kept = model.checkpoint and model.checkpoint / f"beginning-{start[0]}"
        return AutoForecaster(**{**model.get_params(deep=False), "checkpoint": kept})

    given = {None: Part([values], {} if X is None else {"X": X})}
    plain, own = [], []
    networks: dict[tuple[str, str], list[tuple[float, float]]] = {}
    schemes = len(FORWARD) if (model.search or {}).get("scheme") == "all" else 1
    begun = iter(beginnings(fresh, given, starts, horizon))
    for start in starts:
        with before(finals=1.25 * schemes):  # an ensemble by each, and what is quicker made
            fitted, after = next(begun)
        own.append(errors_on(after[None], fitted, [metric], spread, LEVEL))
        said = values.to_numpy()[:, None], fitted.seasons_, start, horizon
        plain.append(plain_errors(*said, metric, spread))
        if (search := fitted.search_) is None:
            continue
        for scheme, final in product(search.results_, finals):
            one = search.finalize(final, scheme)
            each = errors_on(after[None], one, [metric], spread, LEVEL)
            score = search._winners.score(search._winner(scheme))
            networks.setdefault((scheme, final), []).append((score, each[metric.name]))
    for note in fitted.notes_:
        output.note(note)
    errors = np.array([one[metric.name] for one in own])
    if metric.needs in ("squared", "absolute"):
        errors[errors < EXACT * float(np.nanmax(np.abs(values.to_numpy())))] = 0.0
    shared = [name for name in plain[0] if all(name in one for one in plain)]
    found: dict[str, Any] = {
        "origins": len(own),
        "test": float(errors.mean()),
        "coverage": float(np.mean([one["coverage"] for one in own])),
        "plain": {name: float(np.mean([one[name][0] for one in plain])) for name in shared},
    }
    found["plain_wins"] = plain_verdict(found) is not None
    found["schemes"] = []
    for (scheme, final), scores in networks.items():
        validation, test = (float(np.mean(part)) for part in zip(*scores, strict=True))
        one = {"scheme": scheme, "final": final, "validation": validation, "test": test}
        found["schemes"].append(one | {"parameters": _winner(fitted, scheme)})
    return found, fitted


def comparison_table(found: dict[str, Any], index: Any) -> str:
    """Errors of the recipe and of plain forecasts, the lowest marked."""
    means = {OURS: found["test"], **found["plain"]}
    rows = [
        [short_name(name, index), marked(error, min(means.values()))]
        for name, error in means.items()
    ]
    return table(["forecast", "error  "], rows)


def networks_table(networks: Sequence[dict[str, Any]]) -> str:
    """A row for each scheme: what validation said, then the error of each final model."""
    lowest = min((one["test"] for one in networks if not np.isnan(one["test"])), default=np.nan)
    rows: dict[str, list[str]] = {}
    for one in networks:
        row = rows.setdefault(one["scheme"], [one["scheme"], figure(one["validation"])])
        row.append(marked(one["test"], lowest))
    finals = dict.fromkeys(f"{one['final']}  " for one in networks)
    return table(["scheme", "validation", *finals], list(rows.values()))


def marked(error: float, lowest: float) -> str:
    """An error as it is shown, with a star if it is the lowest."""
    return figure(error) + (" *" if error == lowest else "  ")


def plain_verdict(found: dict[str, Any]) -> str | None:
    """A sentence if a plain forecast has the lowest error of all."""
    means = {OURS: found["test"], **found["plain"]}
    best = min(means, key=lambda name: means[name])
    if not means[best] < found["test"]:
        return None
    return (
        f"A plain forecast wins: {best} was closer to the held-out values "
        f"({figure(means[best])}) than the automatic one ({figure(found['test'])})."
    )


def _winner(model: AutoForecaster, scheme: str) -> dict[str, Any]:
    """The parameters of the network that a scheme prefers."""
    search = model.search_
    assert search is not None
    best = search._winner(scheme)
    ridge = mean_ridge(search.results_[scheme].ridge.values[best.ridge])
    return {**search.candidates_[best.candidate], "ridge": ridge}


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
