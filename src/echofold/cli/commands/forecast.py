"""``echofold forecast``: from a file to a tuned forecast, a model and a report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from echofold.cli.commands.options import (
    ALIKE,
    FINALS,
    POSITIVE,
    READING,
    SCHEMES,
    Levels,
    common,
    example,
    knowing,
    reading,
    representing,
    searching,
)
from echofold.cli.commands.options import file as file_and_column


@click.command(
    epilog=example(
        "echofold forecast sales.csv --horizon 26",
        "echofold forecast sales.csv --column units --horizon 26 --scheme walk-forward "
        "--out results/",
        "echofold forecast shops.csv --horizon 26 --id shop --only Kaunas",
        "echofold forecast sales.csv --horizon 26 --inputs calendar.csv",
        "echofold forecast sales.csv --column units --horizon 26 --input price --input promotion",
    )
)
@file_and_column
@click.option("--horizon", type=POSITIVE, metavar="N", required=True, help="Values to forecast.")
@click.option(
    "--scheme",
    type=click.Choice([*SCHEMES, "all"]),
    default="accumulative",
    show_default=True,
    help="How candidates are validated; 'all' keeps the scheme with the lowest expected error.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    default="echofold-results",
    show_default=True,
    help="Folder for forecast.csv, model.echofold and report.html.",
)
@click.option(
    "--final",
    type=click.Choice(FINALS),
    default="ensemble",
    show_default=True,
    help="How the final model is made of the winner.",
)
@click.option(
    "--level",
    "levels",
    type=Levels(),
    metavar="SHARE[,SHARE]",
    default="0.9",
    show_default=True,
    help="Share of values that intervals should cover, or several as 0.5,0.9.",
)
@knowing
@reading
@representing
@searching
@click.option(
    "--origins",
    type=click.IntRange(min=0),
    metavar="N",
    help="Beginnings on which the search is repeated for the expected error; 0 for none (3, and 1 "
    "of long series).",
)
@common()
def command(**given: Any) -> int:
    """Tune a network on a CSV or Parquet file and forecast.

    FILE needs one column of numbers, and may have one of dates. Separator, decimal sign, dates
    and their frequency are found; what was assumed is said. Writes forecast.csv (with
    intervals), model.echofold and report.html.
    """
    from echofold.cli.panel import one_or_all

    return one_or_all(_forecast, given)


def _forecast(
    file: str,
    horizon: int,
    out: Path,
    season: tuple[int, ...] | None,
    inputs: str | None,
    columns: tuple[str, ...],
    log: bool | None,
    differences: tuple[tuple[int, ...], ...],
    levels: tuple[float, ...],
    output: Any,
    table: Any = None,
    **options: Any,
) -> None:
    """Forecast one series, of a file or of a table from it."""
    began = time.perf_counter()
    from echofold.cli.reading import read_inputs, read_series

    reads = {name: options.pop(name) for name in READING}
    with output.warnings_as_notes():
        series = read_series(file, output.note, season=season, inputs=columns, table=table, **reads)
        alike = {name: reads[name] for name in ALIKE}
        known = read_inputs(series, horizon, output.note, file=inputs, **alike)
    options |= {"log": log, "differences": differences}
    content = forecast_series(
        series, known, horizon=horizon, out=out, levels=levels, output=output, **options
    )
    content["seconds"] = time.perf_counter() - began
    output.json(content)


def forecast_series(
    series: Any,
    known: Any,
    *,
    horizon: int,
    out: Path,
    log: bool | None,
    differences: tuple[tuple[int, ...], ...],
    levels: tuple[float, ...],
    output: Any,
    **options: Any,
) -> dict[str, Any]:
    """Search, forecast, write and show; ``known`` are inputs known in advance, or None."""
    from echofold.cli.defaults import plan
    from echofold.cli.forms import suiting_beginnings
    from echofold.cli.showing import files as written
    from echofold.cli.showing.forecast import show_forecast, told_of

    began = time.perf_counter()
    with output.warnings_as_notes():
        forms = suiting_beginnings(series, log, differences or None, options["nonnegative"])
        settings = plan(len(series.values), horizon, output, forms=forms, **options)
        folder = written.prepare(out)
        words = [] if known is None else [known.words]
        output.stage("\n".join([series.headline, *words, f"searching {settings.words}"]))
        with output.resumable(settings.checkpoint):
            content, search = _search(series, known, settings, levels[-1], output)
        future = None if known is None else known.ahead
        ahead, better = _given(content, search, series, settings, levels, future, output)
        forecasts = written.forecast_table(ahead)
        about = told_of(series, content, output.notes, ahead, better, future)
        content["files"] = written.write_all(folder, search, forecasts, about)
    content["forecast"] = written.records(forecasts)
    content["seconds"] = time.perf_counter() - began
    show_forecast(content, series.values.to_numpy(), forecasts, output)
    return content


def _search(
    series: Any, known: Any, settings: Any, level: float, output: Any
) -> tuple[dict[str, Any], Any]:
    """Find the expected errors, then search on all values; what was found, and the search."""
    from echofold.cli.compare import compare, winner
    from echofold.cli.showing.forecast import beginnings

    compared, chosen = None, next(iter(settings.schemes))
    if settings.origins:
        output.stage(f"  expected error: the search on {beginnings(settings.origins)}")
        finals, past = (settings.final,), None if known is None else known.past
        compared = compare(
            series.values, settings, finals, series.seasons_before, output, level, past,
            then=len(series.values),
        )  # fmt: skip
        chosen, _ = compared.best()
    elif len(settings.schemes) > 1:
        chosen = "k-fold"  # the one that spares data
        output.note("without an expected error schemes cannot be compared; k-fold is used.")
    output.stage("  final model: the search on all values")
    search = settings.search(output.progress, chosen)
    search.set_params(checkpoint=settings.kept("all"))
    search.fit(series.values, *([] if known is None else [known.past]))
    rows = []
    for i, name in enumerate(settings.schemes):
        error, params = winner(search, name)
        row = {"scheme": name, "validation": error, "expected": None, "coverage": None}
        if compared is not None:
            row["expected"] = compared.expected(name, settings.final)
            row["coverage"] = float(compared.coverage[:, i].mean())
        rows.append({**row, "parameters": params})
    simple = {}
    if compared is not None:
        search.evaluation_ = compared.evaluation(chosen, settings.final, settings, level)
        simple = {name: float(errors.mean()) for name, errors in compared.simple.items()}
    content = {
        "source": series.source,
        "column": series.values.name,
        "values": len(series.values),
        "spacing": series.spacing,
        "seasons": series.seasons,
        "inputs": [] if known is None else known.names,
        "horizon": settings.horizon,
        "level": level,
        "metric": settings.metric,
        "units": settings.units,
        "seed": settings.seed,
        "splits": settings.k,
        "validated_steps": settings.valid,
        "origins": 0 if compared is None else len(compared.starts),
        "schemes": rows,
        "simple": simple,
        "chosen": {"scheme": chosen, "final": settings.final, "parameters": search.best_params_},
    }
    return content, search


def _given(
    content: dict[str, Any],
    search: Any,
    series: Any,
    settings: Any,
    levels: tuple[float, ...],
    future: Any,
    output: Any,
) -> tuple[Any, Any]:
    """The forecast that is given, and the plain one that it is, if it is one.

    That of the networks, unless they run away, even as an ensemble, or a plain forecast did
    clearly better on the same values.
    """
    from echofold._models.forecast import forecast_of
    from echofold._search.plain import better_than, instead_of, near

    scheme, values, horizon = content["chosen"]["scheme"], series.values, settings.horizon
    content |= {"given": "network", "instead": None}

    def forecast() -> Any:
        return forecast_of(search.best_estimator_, horizon, future, levels, warn=False)

    ahead = forecast()
    if not near(ahead.mean, values) and settings.final != "ensemble":
        alone, search.best_estimator_ = search.best_estimator_, search.finalize("ensemble", scheme)
        ahead = forecast()
        if near(ahead.mean, values):
            content["chosen"]["final"] = "ensemble"
            content["instead"] = (
                f"the forecast of one network ({settings.final}) runs far away from the values so "
                "far, so that of an ensemble is given instead, of the networks that do not."
            )
        else:
            search.best_estimator_ = alone
    asked = values, series.seasons, settings.metric
    if near(ahead.mean, values):
        better = better_than(search, scheme, *asked)
    else:
        better = instead_of(search, scheme, search.best_estimator_, *asked, horizon)
    if better is not None:
        least = 0.0 if settings.nonnegative else float("-inf")
        ahead = better.forecast(values, ahead.mean.index, tuple(ahead.lower), least)
        content |= {"given": better.name, "instead": better.words}
    if content["instead"]:
        output.notes.insert(0, content["instead"])
    elif content["simple"]:
        _compare_with_plain(content, output)
    return ahead, better


def _compare_with_plain(content: dict[str, Any], output: Any) -> None:
    """Say that a plain forecast did better on what followed the beginnings, if one did."""
    chosen = content["chosen"]["scheme"]
    own = next(row["expected"] for row in content["schemes"] if row["scheme"] == chosen)
    name = min(content["simple"], key=lambda one: content["simple"][one])
    if not own < content["simple"][name]:
        output.note(
            f"on the values after shorter beginnings a plain forecast, {name}, did better "
            f"({content['simple'][name]:.4g} against {own:.4g}), but not clearly so on the "
            "validation intervals, which are more: the networks' forecast is given."
        )
