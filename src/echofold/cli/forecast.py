"""``echofold forecast`` on one series: what `AutoForecaster` finds, as files, tables, JSON."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.text import count, figure, guarded, inflected, shown
from echofold._machine.files import write_atomically
from echofold._machine.progress import before
from echofold._models.forecast import Forecast
from echofold._persistence.save_and_load import save
from echofold._search.auto import TOGETHER, AutoForecaster
from echofold._search.contributions import words_of
from echofold._search.evaluate import evaluate
from echofold._search.recipe import SETTINGS
from echofold._search.verdict import short_name
from echofold.cli.history import tell_history
from echofold.cli.output import Output, prepare_folder, shortened, sparkline, table
from echofold.cli.reading.excel import workbook_of
from echofold.metrics._metric import WITHOUT_UNIT
from echofold.report import About
from echofold.report._about import contributed, forecast_table

REPORT = 1.0  # seconds that drawing it takes, about
MOST = 30  # steps that are printed; of more, the first and last of them


def forecaster_for(
    series: Any, horizon: int, output: Output, *, seed: int, allow_negative: bool, **given: Any
) -> AutoForecaster:
    """The recipe for a series of a file, with what was asked for besides; None is nothing."""
    asked = {name: given.pop(name) for name in SETTINGS if name in given}
    lags = asked.pop("difference", None)
    if lags:
        asked["difference"] = [tuple(filter(None, one)) for one in lags]  # 0 stands for none
    if allow_negative:
        if given["minimum"] is not None:
            raise ValueError("--allow-negative and --minimum contradict each other; give one.")
        given["minimum"] = -np.inf
    if given["maximum"] is None:
        given["maximum"] = series.most
    if series.given is not None:
        given["season"] = series.given
    known = {name: value for name, value in given.items() if value is not None}
    search = {name: value for name, value in asked.items() if value is not None}
    known |= {"random_state": seed, "progress": False if output.quiet else "auto"}
    return AutoForecaster(horizon, search=search or None, **known)


def forecast_series(
    series: Any,
    known: Any,
    *,
    horizon: int,
    out: Path,
    origins: int,
    output: Output,
    **options: Any,
) -> dict[str, Any]:
    """Fit, forecast, write and show; ``known`` are inputs known in advance."""
    with output.warnings_as_notes():
        model = forecaster_for(series, horizon, output, **options)
        if origins * horizon >= len(series.values):
            raise ValueError(
                f"--origins {origins} stretches of {horizon} steps leave nothing of "
                f"{count(len(series.values), 'value')} to begin with; use fewer, or a shorter "
                "--horizon."
            )
        prepare_folder(out)
        output.stage("\n".join(filter(None, (series.headline, known.words))))
        with output.resumable(model.checkpoint):
            with before(REPORT):
                model.fit(series.values, known.past)
            for note in model.notes_:
                output.note(note)
            if origins:
                again = count(origins, "shorter beginning")
                output.stage(f"  the same on {again}, scored on what followed")
                more = {} if known.past is None else {"X": known.past}
                evaluate(model, series.values, origins=origins, horizon=horizon, **more)
        ahead = model.forecast(X=known.ahead)
        content = {
            **facts(series, known, model),
            "contributions": contributed(model),
            "forecast": records(forecast_table(ahead)),
        }
        content["files"] = _write(out, model, series, known, ahead, output)
    show_forecast(content, series.values, forecast_table(ahead), output)
    return content


def facts(series: Any, known: Any, model: AutoForecaster) -> dict[str, Any]:
    """What a command tells of a series and of the model that was fitted to it, as plain values.

    There are no networks if there was nothing to learn from.
    """
    evaluation, recipe, search = model.evaluation_, model.recipe_, model.search_
    return {
        "source": series.source,
        "column": series.values.name,
        "values": len(series.values),
        "spacing": series.spacing,
        "seasons": model.seasons_,
        "inputs": known.names,
        "horizon": model.horizon,
        "level": model.verdict_.level or max(model.level),
        "metric": model.verdict_.metric,
        "seed": model.random_state,
        "given": model.given,
        "verdict": asdict(model.verdict_),
        "members": model.members_.reset_index().to_dict("records"),
        "simple": model.baselines_,
        "networks": None
        if recipe is None or search is None
        else {
            "searched": recipe.words,
            "units": recipe.units,
            "splits": recipe.k,
            "validated_steps": recipe.valid,
            "final": recipe.final,
            "parameters": search.best_params_,
        },
        "origins": 0 if evaluation is None else int(evaluation.sizes["origin"]),
        "expected": None
        if evaluation is None
        else {
            "error": float(evaluation[evaluation.attrs["metric"]].mean()),
            "coverage": float(evaluation.coverage.mean()),
        },
    }


def records(forecasts: pd.DataFrame) -> list[dict[str, Any]]:
    """Forecasts for JSON; the widest interval has a name that does not depend on its level."""
    ends = ["lower", "upper"] if len(forecasts.columns) > 2 else []
    names = ["time", "forecast", *forecasts.columns[2:-2], *ends]
    return forecasts.set_axis(names, axis=1).to_dict("records")


def _write(
    folder: Path, model: AutoForecaster, series: Any, known: Any, ahead: Forecast, output: Output
) -> dict[str, str]:
    """Write ``forecast.csv``, ``model.echofold`` and ``report.html``; their paths by name."""
    names = {"forecast": "forecast.csv", "model": "model.echofold", "report": "report.html"}
    paths = {name: folder / file for name, file in names.items()}
    table, index = forecast_table(ahead), ahead.mean.index
    if series.dialect.excel:
        paths["workbook"] = folder / "forecast.xlsx"
        write_atomically(paths["workbook"], workbook_of(table, index, 0))
    table[table.columns[0]] = series.dialect.written(index)
    write_atomically(paths["forecast"], series.dialect.csv(table.rename(columns=guarded)))
    save(model, paths["model"])
    about = About(
        title=f"{series.source}: {series.values.name}",
        notes=[note[:1].upper() + note[1:] for note in output.notes],
        X=known.ahead,
        forecast=ahead,
    )
    model.report(paths["report"], about)
    tell_history(paths["report"], paths["model"], model)
    return {name: str(path) for name, path in paths.items()}


def show_forecast(
    content: dict[str, Any], values: pd.Series, forecasts: pd.DataFrame, output: Output
) -> None:
    """Print what was found; only the paths when quiet."""
    files = list(content["files"].values())
    if output.quiet:
        output.result("\n".join(files))
        return
    output.explain(f"\n{content['verdict']['words']}")
    output.result(f"\n{errors_table(content, values.index)}\n")
    metric = content["metric"]
    units = "" if metric in WITHOUT_UNIT else f", in the units of {shown(content['column'])}"
    stretches = content["verdict"]["stretches"]
    if stretches:
        steps = count(content["verdict"]["steps"], "step")
        output.explain(
            f"Errors are {metric.upper()} over {steps}{units}, on the same "
            f"{inflected(stretches, 'stretch', '{} stretches')} of the past, each forecast from "
            "the values before it. ← is given."
        )
    if content["contributions"]:
        output.result(f"\n{contributions_table(content['contributions'])}\n")
        output.explain(" ".join(words_of(content["contributions"], metric.upper())))
    if content["expected"] is not None:
        output.explain(
            f"The whole repeated on {count(content['origins'], 'shorter beginning')}: "
            f"{metric.upper()} {figure(content['expected']['error'])} on what followed, of which "
            f"{content['expected']['coverage']:.0%} lay inside their intervals."
        )
    lines = [[row[0], *map(figure, row[1:])] for row in forecasts.itertuples(index=False)]
    shortly = shortened(lines, MOST)
    output.result(f"\n{table(list(forecasts.columns), shortly)}")
    if len(shortly) < len(lines):
        output.result(f"All {len(lines)} rows are in {content['files']['forecast']}.")
    output.result(f"\n{_drawn(values.to_numpy(), forecasts['forecast'].to_numpy())}\n")
    output.result("\n".join(f"wrote {path}" for path in files))


def errors_table(content: dict[str, Any], index: Any) -> str:
    """Errors on past stretches: of all members together, of each, and of plain forecasts."""
    own, given = content["verdict"]["together"], content["given"]
    rows = [[TOGETHER + (" ←" if given == TOGETHER else ""), "", figure(own)]]
    for one in content["members"]:
        rows.append([f"  {one['member']}", f"{one['weight']:.0%}", figure(one["error"])])
    for name, error in content["simple"].items():
        mark = " ←" if name == given else ""
        rows.append([short_name(name, index) + mark, "", figure(error)])
    return table(["forecast", "weight", "error"], rows)


def contributions_table(contributions: list[dict[str, Any]]) -> str:
    """Errors without each input, and on how many past stretches they are larger."""
    rows = [
        [one["left_out"], figure(one["error"]), f"{one['worse']:.0%}" if place else ""]
        for place, one in enumerate(contributions)
    ]
    return table(["left out", "error", "worse on"], rows)


def _drawn(values: np.ndarray, ahead: np.ndarray) -> str:
    """The end of the series and the forecast as one line of blocks."""
    past = values[-2 * len(ahead) :]
    both = np.concatenate([past, ahead[np.isfinite(ahead)]])
    low, high = float(np.nanmin(both)), float(np.nanmax(both))
    return (
        f"{sparkline(past, low, high, 40)} │ {sparkline(ahead, low, high, 20)}  (past │ forecast)"
    )
