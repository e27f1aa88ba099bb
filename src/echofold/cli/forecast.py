"""``echofold forecast`` on one series: the search, its forecast or a plain one, files, tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.dates import written
from echofold._data.text import count, figure, guarded, in_words, shown
from echofold._machine.files import write_atomically
from echofold._models.forecast import Forecast, forecast_of
from echofold._persistence.save_and_load import save
from echofold._search.plain import better_than, instead_of, near
from echofold.cli.compare import compare, errors_of, winner
from echofold.cli.defaults import Recipe, recipe_for
from echofold.cli.output import Output, prepare_folder, shortened, sparkline, table
from echofold.metrics._metric import WITHOUT_UNIT
from echofold.report import About
from echofold.report._about import beginnings_in_words

MOST = 30  # steps that are printed; of more, the first and last of them
SHORT = {"leak_rate": "leak", "spectral_radius": "radius", "input_scaling": "scaling"}


def forecast_series(
    series: Any,
    known: Any,
    *,
    horizon: int,
    out: Path,
    levels: tuple[float, ...],
    output: Output,
    **options: Any,
) -> dict[str, Any]:
    """Search, forecast, write and show; ``known`` are inputs known in advance."""
    levels = tuple(sorted(set(levels)))
    with output.warnings_as_notes():
        recipe = recipe_for(series, horizon, output, **options)
        prepare_folder(out)
        words = series.headline, known.words, f"searching {recipe.words}"
        output.stage("\n".join(filter(None, words)))
        with output.resumable(recipe.checkpoint):
            content, search = _search(series, known, recipe, levels[-1], output)
        ahead, better = _given(content, search, series, recipe, levels, known.ahead, output)
        forecasts = forecast_table(ahead)
        measured = {row["scheme"]: row["expected"] for row in content["schemes"]}
        about = About(
            title=f"{series.source}: {series.values.name}",
            notes=[note[:1].upper() + note[1:] for note in output.notes],
            X=known.ahead,
            forecast=ahead,
            instead=better,
            seasons=series.seasons,
            expected={name: error for name, error in measured.items() if error is not None},
            how="--origins 3",
        )
        content["files"] = _write(out, search, forecasts, about)
    content["forecast"] = records(forecasts)
    show_forecast(content, series.values.to_numpy(), forecasts, output)
    return content


def _search(
    series: Any, known: Any, recipe: Recipe, level: float, output: Output
) -> tuple[dict[str, Any], Any]:
    """Find the expected errors, then search on all values; what was found, and the search."""
    compared, chosen, past = None, next(iter(recipe.schemes)), known.past
    if recipe.origins:
        output.stage(f"  expected error: the search on {beginnings_in_words(recipe.origins)}")
        finals, then = (recipe.final,), len(series.values)
        compared = compare(series, recipe, finals, output, level, past, then)
        chosen, _ = compared.best()
    elif len(recipe.schemes) > 1:
        chosen = "k-fold"  # the one that spares data
        output.note("without an expected error schemes cannot be compared; k-fold is used.")
    output.stage("  final model: the search on all values")
    search = recipe.search(output.progress, first=chosen)
    search.fit(series.values, *([] if past is None else [past]))
    rows = []
    for i, name in enumerate(recipe.schemes):
        error, params = winner(search, name)
        row = {"scheme": name, "validation": error, "expected": None, "coverage": None}
        if compared is not None:
            row["expected"] = compared.expected(name, recipe.final)
            row["coverage"] = float(compared.coverage[:, i].mean())
        rows.append({**row, "parameters": params})
    if compared is not None:
        search.evaluation_ = compared.evaluation(chosen, recipe, level)
    content = {
        "source": series.source,
        "column": series.values.name,
        "values": len(series.values),
        "spacing": series.spacing,
        "seasons": series.seasons,
        "inputs": known.names,
        "horizon": recipe.horizon,
        "level": level,
        "metric": recipe.metric,
        "units": recipe.units,
        "seed": recipe.seed,
        "splits": recipe.k,
        "validated_steps": recipe.valid,
        "origins": 0 if compared is None else len(compared.starts),
        "schemes": rows,
        "simple": {} if compared is None else compared.plain_means,
        "chosen": {"scheme": chosen, "final": recipe.final, "parameters": search.best_params_},
    }
    return content, search


def _given(
    content: dict[str, Any],
    search: Any,
    series: Any,
    recipe: Recipe,
    levels: tuple[float, ...],
    future: Any,
    output: Output,
) -> tuple[Forecast, Any]:
    """The forecast that is given, and the plain one that it is, if it is one.

    That of the networks, unless they run away, even as an ensemble, or a plain forecast did
    clearly better on the same values.
    """
    scheme, values, horizon = content["chosen"]["scheme"], series.values, recipe.horizon
    content |= {"given": "network", "instead": None}
    model = search.best_estimator_
    ahead = forecast_of(model, horizon, future, levels, warn=False)
    if not near(ahead.mean, values) and recipe.final != "ensemble":
        several = search.finalize("ensemble", scheme)
        found = forecast_of(several, horizon, future, levels, warn=False)
        if near(found.mean, values):
            search.best_estimator_, ahead = several, found
            content["chosen"]["final"] = "ensemble"
            content["instead"] = (
                f"the forecast of one network ({recipe.final}) runs far away from the values so "
                "far, so that of an ensemble is given instead, of the networks that do not."
            )
    asked = values, series.seasons, recipe.metric
    if near(ahead.mean, values):
        better = better_than(search, scheme, *asked)
    else:
        better = instead_of(search, scheme, model, *asked, horizon)
    if better is not None:
        ahead = better.forecast(values, ahead.mean.index, tuple(ahead.lower), recipe.least)
        content |= {"given": better.name, "instead": better.words}
    if content["instead"]:
        output.notes.insert(0, content["instead"])
    elif content["simple"]:
        own, name, least = errors_of(content)
        if not own < least:
            output.note(
                f"on the values after shorter beginnings a plain forecast, {name}, did better "
                f"({least:.4g} against {own:.4g}), but not clearly so on the validation intervals, "
                "which are more: the networks' forecast is given."
            )
    return ahead, better


def forecast_table(forecast: Forecast) -> pd.DataFrame:
    """Dates, forecast and intervals as columns, ready to be written."""
    index, frame = forecast.mean.index, forecast.to_frame()
    name = index.name or "row"
    frame.insert(0, "date" if name in frame.columns else name, written(index))
    return frame.reset_index(drop=True)


def records(forecasts: pd.DataFrame) -> list[dict[str, Any]]:
    """The same for JSON; the widest interval has a name that does not depend on its level."""
    names = ["time", "forecast", *forecasts.columns[2:-2], "lower", "upper"]
    return forecasts.set_axis(names, axis=1).to_dict("records")


def _write(folder: Path, search: Any, forecasts: pd.DataFrame, about: About) -> dict[str, str]:
    """Write ``forecast.csv``, ``model.echofold`` and ``report.html``; their paths by name."""
    names = {"forecast": "forecast.csv", "model": "model.echofold", "report": "report.html"}
    paths = {name: folder / file for name, file in names.items()}
    text = forecasts.rename(columns=guarded).to_csv(index=False)
    write_atomically(paths["forecast"], text.encode())
    save(search.best_estimator_, paths["model"])
    search.report(paths["report"], about)
    return {name: str(path) for name, path in paths.items()}


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
    chosen = content["chosen"]
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
    output.result(f"\n{table(['scheme', 'validation', 'expected', 'covered', *short], rows)}\n")
    _explain(content, output)
    lines = [[row[0], *map(figure, row[1:])] for row in forecasts.itertuples(index=False)]
    shortly = shortened(lines, MOST)
    output.result(f"\n{table(list(forecasts.columns), shortly)}")
    if len(shortly) < len(lines):
        output.result(f"All {len(lines)} rows are in {content['files']['forecast']}.")
    output.result(f"\n{_drawn(values, forecasts['forecast'].to_numpy())}\n")
    output.result("\n".join(f"wrote {path}" for path in files))


def _explain(content: dict[str, Any], output: Output) -> None:
    """Say what the table means."""
    metric = content["metric"]
    units = "" if metric in WITHOUT_UNIT else f", in the units of {shown(content['column'])}"
    steps = count(content["horizon"], "step")
    output.explain(f"Errors are {metric.upper()} over {steps}{units}.")
    if not content["origins"]:
        return
    output.explain(
        f"Expected: the whole search repeated on {beginnings_in_words(content['origins'])} and "
        f"scored on the {content['horizon']} values that followed; covered: how many of these lay "
        f"inside their {100 * content['level']:g} % intervals."
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
