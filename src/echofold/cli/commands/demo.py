"""``echofold demo``: search, comparison and forecast on a series that comes with the package."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from echofold.cli.commands.options import FINALS, common, example

HORIZON = 52
UNITS = 50
GRID = "medium"
ALONE = tuple(name for name in FINALS if name != "ensemble")  # of one representation and draw


@click.command(epilog=example("echofold demo", "echofold demo --out demo-results/"))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for forecast.csv, model.echofold and report.html; nothing is written without it.",
)
@common()
def command(out: Path | None, seed: int, quiet: bool, as_json: bool) -> None:
    """Search, compare and forecast on an embedded series.

    Weekly gasoline supply in the United States, 1991 to 2017. The last year is held out: networks
    are chosen by four validation schemes without it, made into four kinds of final model, and
    scored on it.
    """
    began = time.perf_counter()
    from echofold.cli.compare import LEVEL, compare
    from echofold.cli.defaults import plan
    from echofold.cli.showing import files as written
    from echofold.cli.showing.output import Output
    from echofold.cli.showing.results import (
        comparison_content,
        comparison_table,
        held_out,
        plain_verdict,
    )
    from echofold.datasets import load_gasoline

    output = Output(quiet, as_json)
    folder = None if out is None else written.prepare(out)
    gasoline = load_gasoline()
    values = gasoline.data
    with output.warnings_as_notes(), output.resumable(None, option=False):
        settings = plan(
            len(values), HORIZON, output, scheme="all", k=None, units=UNITS, grid=GRID,
            origins=1, seed=seed,
        )  # fmt: skip
        output.stage(f"{gasoline.description}\nsearching {settings.words}")
        compared = compare(values, settings, ALONE, (gasoline.season,), output)
        search = compared.searches[0]
        scheme = _lowest(compared)
        forecast = search.finalize("retrain", scheme).forecast(HORIZON, level=LEVEL)
        content = comparison_content(compared, settings, search)
        content |= {"source": "gasoline", "held_out": HORIZON, "shown": scheme}
        truth = values.iloc[-HORIZON:]
        content["forecast"] = written.records(written.forecast_table(forecast))
        if folder is not None:
            content["files"] = _files(folder, values, settings, scheme, output)
    content["seconds"] = time.perf_counter() - began
    output.result(f"\n{comparison_table(compared, settings)}\n")
    output.explain(
        f"Errors are RMSE in {gasoline.units}; the columns on the right are on the last {HORIZON} "
        "weeks, which no search has seen, and * is the lowest. The lowest validation error need "
        "not be the lowest there."
    )
    if words := plain_verdict(compared):
        output.explain(words)
    output.explain(f"\nThe last year as {scheme} and retrain forecast it, with 90 % intervals:")
    output.result(held_out(forecast, truth, LEVEL))
    _last_words(content, output)
    output.json(content)


def _lowest(compared: Any) -> str:
    """The scheme that a user without the last year would trust: the lowest validation error.

    Validation errors of one split are luck, so ``single`` is not asked.
    """
    errors = dict(zip(compared.schemes, compared.validation[0], strict=True))
    return min((name for name in errors if name != "single"), key=lambda name: errors[name])


def _files(folder: Path, values: Any, settings: Any, scheme: str, output: Any) -> dict[str, str]:
    """Search on all values and write what ``echofold forecast`` would."""
    from echofold.cli.compare import LEVEL
    from echofold.cli.showing import files as written
    from echofold.report import About

    output.stage("  the year after: the search on all values")
    search = settings.search(output.progress, scheme).fit(values)
    ahead = search.forecast(HORIZON, level=[LEVEL])
    how = "echofold forecast FILE --horizon 52"
    about = About(title="gasoline", forecast=ahead, notes=output.notes, how=how)
    return written.write_all(folder, search, written.forecast_table(ahead), about)


def _last_words(content: dict[str, Any], output: Any) -> None:
    """Files, time, and where to go next."""
    for path in content.get("files", {}).values():
        output.result(f"wrote {path}")
    output.explain(f"\n{content['seconds']:.1f} s. Next: echofold forecast YOUR.csv --horizon 26")
