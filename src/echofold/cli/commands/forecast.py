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
    from echofold._models.forecast import forecast_of
    from echofold.cli.defaults import plan
    from echofold.cli.forms import suiting
    from echofold.cli.reading.inputs import read_inputs
    from echofold.cli.reading.series import read_series
    from echofold.cli.showing import files as written
    from echofold.cli.showing.forecast import show_forecast
    from echofold.cli.showing.told import told_of

    reads = {name: options.pop(name) for name in READING}
    with output.warnings_as_notes():
        series = read_series(file, output, season=season, inputs=columns, table=table, **reads)
        alike = {name: reads[name] for name in ALIKE}
        known = read_inputs(series, horizon, output, file=inputs, **alike)
        asked = log, differences or None, options["nonnegative"]
        forms = suiting(series.values, series.seasons, *asked)
        settings = plan(len(series.values), horizon, output, forms=forms, **options)
        folder = written.prepare(out)
        words = [] if known is None else [known.words]
        output.stage("\n".join([series.headline, *words, f"searching {settings.words}"]))
        with output.resumable(settings.checkpoint):
            content, search = _search(series, known, settings, levels[-1], output)
        future = None if known is None else known.ahead
        ahead = forecast_of(search.best_estimator_, horizon, future, levels, warn=False)
        better = _plain_one(content, search, series, settings, output)
        if better is not None:
            least = 0.0 if settings.nonnegative else float("-inf")
            ahead = better.forecast(series.values, ahead.mean.index, tuple(ahead.lower), least)
        forecasts = written.forecast_table(ahead)
        _judge(content, series.values, forecasts, output)
        about = told_of(series, content, output.notes, ahead, better, future)
        files = written.write_all(folder, search, forecasts, about)
    content |= {"seconds": time.perf_counter() - began, "files": files}
    content["forecast"] = written.records(forecasts)
    show_forecast(content, series.values.to_numpy(), forecasts, output)
    output.json(content)


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
            series.values, settings, finals, series.seasons, output, level, past,
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
        "origins": settings.origins,
        "schemes": rows,
        "simple": simple,
        "chosen": {"scheme": chosen, "final": settings.final, "parameters": search.best_params_},
    }
    return content, search


def _plain_one(
    content: dict[str, Any], search: Any, series: Any, settings: Any, output: Any
) -> Any:
    """A plain forecast that did clearly better than the networks on the same values, if any."""
    from echofold._search.plain import better_than

    content["given"] = "network"
    scheme = content["chosen"]["scheme"]
    better = better_than(search, scheme, series.values, series.seasons, settings.metric)
    if better is not None:
        content["given"] = better.name
        output.note(
            f"a plain forecast, {better.name}, did clearly better on the validation intervals than "
            f"the networks ({better.error:.4g} against {better.networks:.4g}), so it is the "
            "forecast that is given; model.echofold is of the networks."
        )
    return better


def _judge(content: dict[str, Any], values: Any, forecasts: Any, output: Any) -> None:
    """Say what is wrong with a forecast, or that a simpler one would do."""
    import numpy as np

    from echofold._models.forecast import plausible

    if not np.isfinite(forecasts["forecast"]).all():
        raise ValueError(
            "the forecast of the chosen network grows without bounds; try another --scheme, "
            "--final or --seed."
        )
    if content["given"] != "network":
        return
    ends = np.array([[values.min()], [values.max()]])
    if not plausible(forecasts[["forecast"]].to_numpy(), ends).all():
        output.note(
            "the forecast runs far away from the values so far: look at it before you use it, and "
            "try --difference 1, --nonnegative or another --seed."
        )
    if not content["simple"]:
        return
    chosen = content["chosen"]["scheme"]
    own = next(row["expected"] for row in content["schemes"] if row["scheme"] == chosen)
    name = min(content["simple"], key=lambda one: content["simple"][one])
    if not own < content["simple"][name]:
        output.note(
            f"on the values after shorter beginnings a plain forecast, {name}, did better "
            f"({content['simple'][name]:.4g} against {own:.4g}), but not clearly so on the "
            "validation intervals, which are more: the networks' forecast is given."
        )
