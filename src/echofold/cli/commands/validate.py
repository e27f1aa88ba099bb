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
    output: Any,
    table: Any = None,
    **options: Any,
) -> None:
    """Compare on one series, of a file or of a table from it."""
    began = time.perf_counter()
    from echofold.cli.reading import read_inputs, read_series

    reads = {name: options.pop(name) for name in READING}
    with output.warnings_as_notes():
        series = read_series(file, output.note, season=season, inputs=columns, table=table, **reads)
        alike = {name: reads[name] for name in ALIKE}
        known = read_inputs(series, 0, output.note, file=inputs, **alike)
    content = validate_series(series, known, test=test, output=output, **options)
    content["seconds"] = time.perf_counter() - began
    output.explain(f"{content['seconds']:.1f} s")
    output.json(content)


def validate_series(
    series: Any,
    known: Any,
    *,
    test: int | None,
    log: bool | None,
    differences: tuple[tuple[int, ...], ...],
    final: str,
    output: Any,
    **options: Any,
) -> dict[str, Any]:
    """Compare and show; ``known`` are inputs known in advance, or None."""
    from echofold.cli.compare import LEVEL, compare
    from echofold.cli.defaults import plan
    from echofold.cli.forms import suiting_beginnings
    from echofold.cli.showing.files import forecast_table, records
    from echofold.cli.showing.results import comparison_content, held_out

    finals = FINALS if final == "all" else (final,)
    length, past = len(series.values), None if known is None else known.past
    test = test or min(max(1, length // 10), 200)
    with output.warnings_as_notes():
        forms = suiting_beginnings(series, log, differences or None, options["nonnegative"])
        settings = plan(length, test, output, held_out=True, forms=forms, **options)
        words = [] if known is None else [known.words]
        output.stage("\n".join([series.headline, *words, f"searching {settings.words}"]))
        with output.resumable(settings.checkpoint):
            compared = compare(
                series.values, settings, finals, series.seasons_before, output, LEVEL, past
            )
        forecast, words_of_it = _shown(compared, series, settings, past)
        content = comparison_content(compared, settings, compared.searches[-1])
        content["forecast"] = records(forecast_table(forecast))
    told = {"source": series.source, "column": series.values.name, "values": length}
    content = {**told, "seasons": series.seasons, **content}
    content["inputs"] = [] if known is None else known.names
    _show(compared, settings, output)
    output.explain(f"\n{words_of_it}:")
    output.result(held_out(forecast, series.values.iloc[-test:], LEVEL))
    return content


def _shown(compared: Any, series: Any, settings: Any, past: Any) -> tuple[Any, str]:
    """The best forecast of the last stretch, a plain one if networks run away; and its title."""
    from echofold._models.forecast import forecast_of
    from echofold._search.plain import instead_of, near
    from echofold.cli.compare import LEVEL

    (scheme, final), search, test = compared.best(), compared.searches[-1], settings.horizon
    ahead, before = None if past is None else past.iloc[-test:], series.values.iloc[:-test]
    model = search.finalize(final, scheme=scheme)
    forecast = forecast_of(model, test, ahead, LEVEL, warn=False)
    title = f"The last {test} values as"
    if near(forecast.mean, before):
        return forecast, f"{title} {scheme} and {final} forecast them"
    seasons = series.seasons_before(len(before))
    plain = instead_of(search, scheme, model, before, seasons, settings.metric, test)
    least = 0.0 if settings.nonnegative else float("-inf")
    forecast = plain.forecast(before, forecast.mean.index, (LEVEL,), least)
    return forecast, f"{title} a plain forecast, {plain.name}, has them, for the networks run away"


def _show(compared: Any, settings: Any, output: Any) -> None:
    """The table of errors, how to read it, and a plain forecast that wins."""
    from echofold.cli.showing.results import comparison_table, plain_verdict

    output.result(f"\n{comparison_table(compared, settings)}\n")
    count = len(compared.starts)
    stretches = f"{count} stretches of" if count > 1 else "the last"
    output.explain(
        f"Errors are {settings.metric.upper()}; the columns on the right are on {stretches} "
        f"{settings.horizon} values, which the searches have not seen.\n* is the lowest; it was "
        "picked with the held-out values in sight, so expect a little more."
    )
    if plain := plain_verdict(compared):
        output.explain(plain)
