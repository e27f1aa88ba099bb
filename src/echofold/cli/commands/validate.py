"""``echofold validate``: schemes and final models compared on the end of a series."""

from __future__ import annotations

import time
from typing import Any

import click

from echofold.cli.commands.options import (
    ALIKE,
    FINALS,
    POSITIVE,
    READING,
    SCHEMES,
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
        "echofold validate sales.csv --test 26",
        "echofold validate sales.csv --column units --test 26 --origins 4 --scheme all",
        "echofold validate sales.csv --test 26 --inputs calendar.csv",
    )
)
@file_and_column
@click.option(
    "--test", type=POSITIVE, metavar="N", help="Values held out at the end (a tenth of them)."
)
@click.option(
    "--origins",
    type=POSITIVE,
    metavar="N",
    default=1,
    show_default=True,
    help="Held-out stretches: the last, the one before it, and so on.",
)
@click.option(
    "--scheme",
    type=click.Choice([*SCHEMES, "all"]),
    default="all",
    show_default=True,
    help="How candidates are validated.",
)
@click.option(
    "--final",
    type=click.Choice([*FINALS, "all"]),
    default="all",
    show_default=True,
    help="How the final model is made of the winner.",
)
@knowing
@reading
@representing
@searching
@common()
def command(**given: Any) -> int:
    """Compare schemes and final models on the end of a series.

    The end of FILE is held out; networks are chosen by every scheme without it, made into every
    kind of final model, and scored on it, beside simple forecasts.
    """
    from echofold.cli.panel import one_or_all

    return one_or_all(_validate, given)


def _validate(
    file: str,
    test: int | None,
    season: tuple[int, ...] | None,
    inputs: str | None,
    columns: tuple[str, ...],
    log: bool | None,
    differences: tuple[tuple[int, ...], ...],
    final: str,
    origins: int,
    output: Any,
    table: Any = None,
    **options: Any,
) -> None:
    """Compare on one series, of a file or of a table from it."""
    began = time.perf_counter()
    from echofold.cli.compare import LEVEL, compare
    from echofold.cli.defaults import plan
    from echofold.cli.forms import suiting
    from echofold.cli.reading.inputs import read_inputs
    from echofold.cli.reading.series import read_series
    from echofold.cli.showing.files import forecast_table, records
    from echofold.cli.showing.results import comparison_content, held_out

    reads = {name: options.pop(name) for name in READING}
    finals = FINALS if final == "all" else (final,)
    with output.warnings_as_notes():
        series = read_series(file, output, season=season, inputs=columns, table=table, **reads)
        alike = {name: reads[name] for name in ALIKE}
        known = read_inputs(series, 0, output, file=inputs, **alike)
        length = len(series.values)
        test = test or min(max(1, length // 10), 200)
        asked = log, differences or None, options["nonnegative"]
        forms = suiting(series.values, series.seasons, *asked)
        options |= {"origins": origins, "held_out": True, "forms": forms}
        settings = plan(length, test, output, **options)
        past, words = (None, []) if known is None else (known.past, [known.words])
        output.stage("\n".join([series.headline, *words, f"searching {settings.words}"]))
        with output.resumable(settings.checkpoint):
            compared = compare(series.values, settings, finals, series.seasons, output, LEVEL, past)
        search = compared.searches[-1]
        scheme, best = compared.best()
        ahead = None if past is None else past.iloc[-test:]
        forecast = search.finalize(best, scheme).forecast(test, X=ahead, level=LEVEL)
        content = comparison_content(compared, settings, search)
        content["forecast"] = records(forecast_table(forecast))
    told = {"source": series.source, "column": series.values.name, "values": length}
    content = {**told, "seasons": series.seasons, **content}
    content["inputs"] = [] if known is None else known.names
    content["seconds"] = time.perf_counter() - began
    _show(compared, settings, output)
    output.explain(f"\nThe last {test} values as {scheme} and {best} forecast them:")
    output.result(held_out(forecast, series.values.iloc[-test:], LEVEL))
    output.explain(f"{content['seconds']:.1f} s")
    output.json(content)


def _show(compared: Any, settings: Any, output: Any) -> None:
    """The table of errors, how to read it, and a plain forecast that wins."""
    from echofold.cli.showing.results import comparison_table, plain_verdict

    output.result(f"\n{comparison_table(compared, settings)}\n")
    stretches = f"{settings.origins} stretches of" if settings.origins > 1 else "the last"
    output.explain(
        f"Errors are {settings.metric.upper()}; the columns on the right are on {stretches} "
        f"{settings.horizon} values, which the searches have not seen.\n* is the lowest; it was "
        "picked with the held-out values in sight, so expect a little more."
    )
    if plain := plain_verdict(compared):
        output.explain(plain)
