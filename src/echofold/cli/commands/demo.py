"""``echofold demo``: what the other commands do, on a series that comes with the package."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from echofold.cli.commands import forecast, validate
from echofold.cli.commands.options import READING, common, example

HORIZON = 52


@click.command(epilog=example("echofold demo", "echofold demo --out demo-results/"))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for forecast.csv, model.echofold and report.html of the year after; nothing is "
    "written without it.",
)
@common()
def command(out: Path | None, seed: int, quiet: bool, as_json: bool) -> None:
    """Search, compare and forecast on an embedded series.

    Weekly gasoline supply in the United States, 1991 to 2017. The last year is held out, as
    'echofold validate --test 52' does: networks are chosen by four validation schemes without it,
    made into five kinds of final model, and scored on it. With --out the year after is forecast,
    as 'echofold forecast --horizon 52' does.
    """
    began = time.perf_counter()
    from echofold.cli.reading import Series
    from echofold.cli.reading.spacing import spacing
    from echofold.cli.showing.output import Output
    from echofold.datasets import load_gasoline

    output, gasoline = Output(quiet, as_json), load_gasoline()
    series = Series("gasoline", gasoline.data, spacing(gasoline.data.index))
    output.stage(gasoline.description)
    compare = _options(validate.command, "--test", HORIZON, "--seed", seed)
    content = validate.validate_series(series, None, output=output, **compare)
    output.explain(f"Errors are in {gasoline.units}.")
    if out is not None:
        output.stage("\nthe year after")
        ahead = _options(forecast.command, "--horizon", HORIZON, "--out", out, "--seed", seed)
        content["ahead"] = forecast.forecast_series(series, None, output=output, **ahead)
    content["seconds"] = time.perf_counter() - began
    output.explain(f"\n{content['seconds']:.1f} s. Next: echofold forecast YOUR.csv --horizon 26")
    output.json(content)


def _options(command: click.Command, *line: Any) -> dict[str, Any]:
    """Options that a command has for a series when it is called with this line."""
    parsed = command.make_context(command.name, ["gasoline", *map(str, line)]).params
    of_files = {"file", "columns", "inputs", "season", "quiet", "as_json", *READING}
    return {name: value for name, value in parsed.items() if name not in of_files}
