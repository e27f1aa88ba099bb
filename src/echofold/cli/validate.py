"""``echofold validate`` on one series: what is held out at its end, forecast and scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.dates import written
from echofold._data.text import count, figure
from echofold._models.forecast import Forecast
from echofold._search.auto import EXACT, AutoForecaster
from echofold._search.evaluate import beginnings, check_zeros, errors_on, starts_of
from echofold._search.selection import FINALS, mean_ridge
from echofold._search.verdict import plain_errors, short_name
from echofold._validation.score import spread_of
from echofold.cli.forecast import facts, forecast_table, forecaster_for, records
from echofold.cli.output import Output, shortened, sparkline, table
from echofold.metrics._metric import resolve

LEVEL = 0.9
OURS = "automatic forecast"
MOST = 14  # held-out values that are printed; of more, the first and last of them


@dataclass(frozen=True)
class Comparison:
    """Errors over beginnings (``origin``).

    ``error`` and ``coverage`` ``(origins,)`` are those of the recipe; ``networks (origins, schemes,
    finals)`` of its networks alone, ``validation (origins, schemes)`` what their search said;
    ``plain`` has ``(origins,)`` for each plain forecast. ``last`` is the model of the last
    beginning, and ``forecast`` what it said.
    """

    schemes: tuple[str, ...]
    finals: tuple[str, ...]
    error: np.ndarray
    coverage: np.ndarray
    validation: np.ndarray
    networks: np.ndarray
    plain: dict[str, np.ndarray]
    last: AutoForecaster
    forecast: Forecast

    @property
    def means(self) -> dict[str, float]:
        """Mean errors: of the recipe first, then of plain forecasts."""
        plain = {name: float(errors.mean()) for name, errors in self.plain.items()}
        return {OURS: float(self.error.mean()), **plain}


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
            found = compare(series, known.past, model, finals, origins, output)
        content = {
            **facts(series, known, found.last),
            "values": length,
            **comparison_content(found),
            "forecast": records(forecast_table(found.forecast)),
        }
    output.result(f"\n{comparison_table(found, series.values.index)}\n")
    stretches = f"{len(found.error)} stretches of" if len(found.error) > 1 else "the last"
    output.explain(
        f"Errors are {content['metric'].upper()} on {stretches} {test} values, which nothing here "
        "has seen; * is the lowest."
    )
    if plain := plain_verdict(found):
        output.explain(plain)
    if found.schemes:
        output.result(f"\n{networks_table(found)}\n")
        output.explain(
            "Networks alone, chosen by each scheme and made into each final model. Having been "
            "picked with the held-out values in sight, expect a little more than the lowest."
        )
    output.explain(f"\nThe last {count(test, 'value')} as they were forecast:")
    output.result(held_out(found.forecast, series.values.iloc[-test:], LEVEL))
    return content


def compare(
    series: Any,
    X: pd.DataFrame | None,
    model: AutoForecaster,
    finals: Sequence[str],
    origins: int,
    output: Output,
) -> Comparison:
    """Fit the recipe to each of so many beginnings and score it on the horizon that follows.

    Where that has no value there is nothing to score: such beginnings are left out. The last value
    is never missing.
    """
    values, horizon = series.values, model.horizon
    metric = resolve((model.search or {}).get("metric", "rmse"))
    starts, spread = starts_of(len(values), origins, horizon), spread_of(values)
    starts = starts[[values.iloc[start : start + horizon].notna().any() for start in starts]]
    if len(starts) < origins:
        lost = origins - len(starts)
        output.note(f"left out, without a value to score: {lost} of {origins} beginnings.")
    check_zeros([metric], values.to_numpy(), starts, horizon)

    def fresh(start: int) -> AutoForecaster:
        kept = model.checkpoint and model.checkpoint / f"beginning-{start}"
        return AutoForecaster(**{**model.get_params(deep=False), "checkpoint": kept})

    more = {} if X is None else {"X": X}
    plain, own, networks, validation = [], [], [], []
    for held, start in zip(beginnings(fresh, [values], starts, horizon, more), starts, strict=True):
        fitted = held.search
        own.append(errors_on(held, fitted, [metric], spread, LEVEL))
        said = values.to_numpy()[:, None], fitted.seasons_, np.array([start]), horizon
        plain.append(plain_errors(*said, metric, spread))
        if (search := fitted.search_) is None:
            continue
        schemes = tuple(search.results_)
        validation.append([search._winners.score(search._winner(scheme)) for scheme in schemes])
        each = [[search.finalize(final, scheme) for final in finals] for scheme in schemes]
        networks.append(
            [
                [errors_on(held, one, [metric], spread, LEVEL)[0][metric.name] for one in row]
                for row in each
            ]
        )
    for note in fitted.notes_:
        output.note(note)
    errors = [one[metric.name] for one, _ in own]
    exact = EXACT * float(np.nanmax(np.abs(values.to_numpy())))
    if metric.needs != "squared" and metric.needs != "absolute":
        exact = 0.0
    shared = [name for name in plain[0] if all(name in one for one in plain)]
    return Comparison(
        schemes if networks else (),
        tuple(finals) if networks else (),
        np.array([0.0 if one < exact else one for one in errors]),
        np.array([judged["coverage"] for _, judged in own]),
        np.array(validation),
        np.array(networks),
        {name: np.array([one[name][0] for one in plain]) for name in shared},
        fitted,
        fitted.forecast(X=None if X is None else X.iloc[-horizon:]),
    )


def comparison_table(found: Comparison, index: Any) -> str:
    """Errors of the recipe and of plain forecasts, the lowest marked."""
    lowest = min(found.means.values())
    rows = [
        [short_name(name, index), figure(error) + (" *" if error == lowest else "  ")]
        for name, error in found.means.items()
    ]
    return table(["forecast", "error  "], rows)


def networks_table(found: Comparison) -> str:
    """A row for each scheme: what validation said, then the error of each final model."""
    errors = found.networks.mean(axis=0)
    lowest = np.nanmin(errors) if not np.isnan(errors).all() else np.nan
    rows = [
        [
            name,
            figure(float(found.validation[:, s].mean())),
            *(figure(one) + (" *" if one == lowest else "  ") for one in errors[s]),
        ]
        for s, name in enumerate(found.schemes)
    ]
    return table(["scheme", "validation", *(f"{final}  " for final in found.finals)], rows)


def plain_verdict(found: Comparison) -> str | None:
    """A sentence if a plain forecast has the lowest error of all."""
    best = min(found.means, key=lambda name: found.means[name])
    own = found.means[OURS]
    if not found.means[best] < own:
        return None
    return (
        f"A plain forecast wins: {best} was closer to the held-out values "
        f"({figure(found.means[best])}) than the automatic one ({figure(own)})."
    )


def comparison_content(found: Comparison) -> dict[str, Any]:
    """The same as plain values."""
    means = found.means
    return {
        "origins": len(found.error),
        "test": means.pop(OURS),
        "coverage": float(found.coverage.mean()),
        "plain": means,
        "plain_wins": plain_verdict(found) is not None,
        "schemes": [
            {
                "scheme": scheme,
                "final": final,
                "validation": float(found.validation[:, s].mean()),
                "test": float(found.networks[:, s, f].mean()),
                "parameters": _winner(found.last, scheme),
            }
            for s, scheme in enumerate(found.schemes)
            for f, final in enumerate(found.finals)
        ],
    }


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
