"""What can be typed: the commands and their options.

What a command runs is imported when it is called, so that its help answers at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial, reduce
from pathlib import Path
from typing import Any

import click

from echofold import experiments
from echofold._data.text import count
from echofold._machine.compilations import keep_compilations
from echofold._search.recipe import EFFORTS, FORWARD, scheme_of
from echofold._search.selection import FINALS
from echofold._search.spaces import GRIDS
from echofold.metrics._metric import OF_ERRORS, resolve
from echofold.schemes import BY_NAME, sizes_of

HORIZON = 52  # of the demo, in weeks
FORMATS = (".png", ".svg", ".pdf")
DRAWN = tuple(name for name, scheme in BY_NAME.items() if "valid" in sizes_of(scheme))
METRICS = "; ".join(f"{name}, {resolve(name).words}" for name in OF_ERRORS)


def several(kind: type, expected: str, allowed: Callable[[tuple], bool]) -> Callable:
    """How one number is read, or several, separated by commas, if they are ``allowed``."""

    def numbers(value: str) -> tuple:
        try:
            found = tuple(kind(part) for part in value.split(","))
        except ValueError:
            found = ()
        if not found or not allowed(found):
            raise click.BadParameter(f"{value!r} is not {expected}.")
        return found

    return numbers


def size(value: str) -> int | float:
    """A number of rows, or a fraction of them below 1."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    raise click.BadParameter(f"{value!r} is neither a number of rows nor a fraction of them.")


def names(value: str) -> tuple[str, ...]:
    """Names separated by commas."""
    found = tuple(part.strip() for part in value.split(",") if part.strip())
    if not found:
        raise click.UsageError(f"{value!r} names nothing; separate names by commas.")
    return found


POSITIVE = click.IntRange(min=1)
FOLDER = click.Path(path_type=Path)
LEVELS = several(
    float,
    "a share in (0, 1), nor several as 0.5,0.9",
    lambda levels: all(0 < level < 1 for level in levels),
)
LAGS = several(
    int, "a lag, nor several as 12,1; 0 for none", lambda lags: min(lags) > 0 or lags == (0,)
)
PAYDAYS = several(
    int, "a day of the month, nor several as 15,31", lambda days: {*days} <= {*range(1, 32)}
)
SEASONS = several(
    int,
    "a number of steps, nor several as 24,168; 1 stands for no season, and only alone",
    lambda steps: min(steps) > 1 or steps == (1,),
)


def option(spelled: str, help: str, type: Any = None, *, to: str | None = None, **how: Any) -> Any:
    """An option as click has it, spelled ``--name METAVAR``, whose default is shown.

    A list of choices is a type; whole numbers are an N; ``to`` is the name of the argument.
    """
    names = [word for word in spelled.split() if word.startswith("-")]
    metavar = spelled.removeprefix(" ".join(names)).strip() or None
    if isinstance(type, list):
        type = click.Choice(type)
    elif isinstance(type, click.IntRange):
        metavar = metavar or "N"
    how |= {"help": help, "type": type, "metavar": metavar}
    how["show_default"] = how.get("default") is not None
    return click.option(*names, *([to] if to else []), **how)


def decorator_of(*options: Callable) -> Callable:
    """One decorator of several, in the order of the help page."""
    return lambda function: reduce(lambda made, one: one(made), reversed(options), function)


def example(*lines: str) -> str:
    """An epilog that shows commands to copy, each on its own line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def keep_programs(ctx: click.Context, param: Any, refused: bool) -> None:
    """Keep nothing that is compiled, if that is asked for."""
    if refused and not ctx.resilient_parsing:
        keep_compilations("off")


def common(seed: str = "Seed of the random weights.") -> Callable:
    """What every command has."""
    return decorator_of(
        option("--seed", seed, click.IntRange(0, 2**31 - 1), default=0),
        option("-q --quiet", "Results only: no progress, no notes.", is_flag=True),
        option("--json", "Print one JSON object instead.", to="as_json", is_flag=True),
        option(
            "--no-cache",
            "Compile everything anew, and keep nothing (as ECHOFOLD_CACHE=off does).",
            is_flag=True,
            expose_value=False,
            callback=keep_programs,
        ),
        option("--debug", "Show where errors arise.", is_flag=True, expose_value=False),
    )


file_and_column = decorator_of(
    click.argument("file"),
    option(
        "--column NAME",
        "What to forecast; needed with several columns of numbers. May be given several times: "
        "all of them are forecast, as the series of --id.",
        multiple=True,
    ),
)
of_reading = decorator_of(
    option("--inputs FILE",
           "CSV, Excel or Parquet file of inputs known in advance, as prices and holidays: "
           "numbers, yes and no, or names, with a row for every date of the series and of the "
           "forecast."),
    option("--input NAME",
           "Column of FILE that is known in advance, with rows at the end where the value is "
           "still empty; may be given several times.", to="columns", multiple=True),
    option("--sheet NAME", "Sheet of an Excel file (the first with a table)."),
    option("--date NAME",
           "Column of dates; found when it is not named. 'none' takes rows as evenly spaced."),
    option("--date-format FORMAT", "Format of the dates, as '%d/%m/%Y'."),
    option("--decimal", "Decimal sign, if unclear.", [".", ","]),
    option("--fill",
           "Missing values are left out, neither learned from nor scored; or filled along "
           "straight lines, or with the value before; 'none' refuses them.",
           ["leave", "interpolate", "forward", "none"], default="leave"),
    option("--duplicates",
           "What is taken of several rows for one date; they are refused without it.",
           ["mean", "first", "last", "sum"]),
    option("--id NAME",
           "Column that tells several series below each other apart, or several columns that do "
           "together: all of them are taken, or the one of --only.", multiple=True),
    option("--only VALUE",
           "The one series to take, by what --id holds; of several columns with ' / ' between."),
)  # fmt: skip
of_series = decorator_of(
    of_reading,
    option("--season N[,N]",
           "Steps in a season, or in several as 24,168: what differences and waves follow, and "
           "simple forecasts repeat (by the spacing of dates, else found in the values); 1 for "
           "none.", SEASONS),
    option("--log/--no-log",
           "Learn logarithms, or never (by default both are tried where values are positive).",
           default=None),
    option("--difference LAGS",
           "Learn differences at these lags, as 1 or 12,1, and 0 for none; may be given several "
           "times (by default those that suit the seasons are tried).",
           LAGS, to="difference", multiple=True),
    option("--allow-negative",
           "Forecasts and intervals may fall below zero, though no value does.", is_flag=True),
    option("--minimum", "Forecasts and intervals never fall below this.", float),
    option("--maximum", "Forecasts and intervals never rise above this.", float),
    option("--holidays COUNTRY",
           "Inputs of a calendar: holidays of a country, as DE, or a part of it, as DE-BY, days "
           "before and after, working days, ends of months, Easter."),
    option("--paydays DAY[,DAY]",
           "With --holidays, days of the month on which people are paid, as 15,31; 31 is the last.",
           PAYDAYS),
    option("--effort", "How many networks to search (normal).", [*EFFORTS]),
    option("--fast", "The same as --effort fast.", is_flag=True),
    option("--k", "Splits of a scheme (20 if they fit).", click.IntRange(min=2)),
    option("--units", "Units of the reservoir (10 to 100 by length).", POSITIVE),
    option("--grid",
           "How many networks to search for each representation of the series: 2, 4 or 24 (by "
           "--effort).", [*GRIDS]),
    option("--draws", "Random draws of weights (by --effort, and 1 of long series).", POSITIVE),
    option("--metric", f"Error that is minimised, and told (rmse): {METRICS}.", [*OF_ERRORS]),
    option("--verify",
           "Refit some splits plainly and stop if results differ by more than rounding.",
           is_flag=True),
    option("--checkpoint FOLDER",
           "Keeps finished work: the same command goes on from it after an interrupt.", FOLDER),
)  # fmt: skip


@click.command(
    epilog=example(
        "echofold forecast sales.csv --horizon 26",
        "echofold forecast sales.csv --column units --horizon 26 --scheme walk-forward "
        "--out results/",
        "echofold forecast shops.csv --horizon 26 --id shop",
        "echofold forecast sales.csv --horizon 12 --id store --id product --total",
        "echofold forecast shops.csv --horizon 26 --id shop --only Kaunas",
        "echofold forecast sales.csv --horizon 26 --inputs calendar.csv",
        "echofold forecast sales.csv --horizon 28 --holidays DE-BY",
        "echofold forecast sales.csv --column units --horizon 26 --input price --input promotion",
    )
)
@file_and_column
@option("--horizon", "Values to forecast.", POSITIVE, required=True)
@option("--scheme", "How networks are validated (accumulative).", [*FORWARD])
@option(
    "--out FOLDER",
    "Folder for forecast.csv, model.echofold and report.html; of all series with --id for "
    "forecasts.csv, model.echofold and index.html.",
    FOLDER,
    default="echofold-results",
)
@option("--final", "What is made of the networks that were found (ensemble).", [*FINALS])
@option(
    "--total",
    "With --id, forecast all sums of series too, and make all levels add up: by minimum trace "
    "(mint, which is meant without a value), or by sums of forecasts.",
    ["mint", "bottom-up"],
    is_flag=False,
    flag_value="mint",
)
@option(
    "--level SHARE[,SHARE]",
    "Share of values that intervals should cover, or several (0.5,0.9).",
    LEVELS,
)
@of_series
@option(
    "--jobs N",
    "Processes that forecast the series of --id, or threads that search for one: -1 for as many as "
    "there are cores (1).",
    int,
    to="n_jobs",
)
@option(
    "--origins",
    "Shorter beginnings on which the whole is repeated, and scored on what followed.",
    click.IntRange(min=0),
    default=0,
)
@common()
def forecast(**given: Any) -> int:
    """Forecast a series of a CSV, Excel or Parquet file.

    FILE needs one column of numbers, and may have one of dates. Separator, decimal sign, dates
    and their frequency are found; what was assumed is said. Writes forecast.csv (with
    intervals, in the dialect of FILE; beside an Excel file forecast.xlsx too), model.echofold and
    report.html. With --id all series of a file are forecast in one
    model, into forecasts.csv, model.echofold and index.html.
    """
    from echofold.cli.forecast import forecast_series
    from echofold.cli.forecasts import forecast_all
    from echofold.cli.panel import of_file, one_or_all

    total = given.pop("total")
    if total and not given["id"]:
        raise click.UsageError("--total adds series up: name the column of their ids with --id.")
    if total and given["only"] is not None:
        raise click.UsageError("--total adds up all series, --only takes one: leave one out.")
    together = partial(forecast_all, total=total)
    return one_or_all(partial(of_file, forecast_series), given, together)


@click.command(
    epilog=example(
        "echofold update echofold-results/model.echofold new.csv",
        "echofold update model.echofold sales.csv --out results/",
        "echofold update model.echofold new.csv --inputs calendar.csv --json",
        "echofold update echofold-results/model.echofold shops.csv --id shop",
    )
)
@click.argument("model")
@click.argument("file")
@option(
    "--column NAME",
    "What the model forecasts (the column that it was fitted to; all of those of several).",
    multiple=True,
)
@option("--horizon", "Values to forecast (as the model was made for).", POSITIVE)
@option(
    "--out FOLDER",
    "Folder for forecast.csv, or forecasts.csv of several series, and updates.html (that of the "
    "model).",
    FOLDER,
)
@option("--learn", "Learn from the new values, where the model can.", is_flag=True)
@of_reading
@common("Taken by every command; nothing here is random.")
def update(**given: Any) -> int:
    """Move a model on over new values, and tell how its last forecast did.

    MODEL is a file that 'echofold forecast' or save() wrote, FILE of the same kind as the one that
    it was made from: what it holds after the values that the model has seen is compared with the
    last forecast, added to a history beside the model, and the next forecast begins after it. The
    same file again changes nothing. A model of several series is told their --id or --column again.
    """
    from echofold._machine.files import alone_with
    from echofold.cli.output import Output
    from echofold.cli.update import model_in, update_one
    from echofold.cli.updates import update_all

    given.pop("seed")
    if given["only"] is not None and not given["id"]:
        raise click.UsageError("--only names one of several series: name their column with --id.")
    given["output"] = Output(given.pop("quiet"), given.pop("as_json"))
    given["column"] = tuple(dict.fromkeys(given["column"]))
    place = Path(given.pop("model"))
    with alone_with(place):
        model = model_in(place, given["learn"])
        work = update_all if hasattr(model, "series_") else update_one
        return work(model, place, given.pop("file"), **given)


@click.command(
    epilog=example(
        "echofold validate sales.csv --test 26",
        "echofold validate sales.csv --column units --test 26 --origins 4 --scheme all",
        "echofold validate sales.csv --test 26 --inputs calendar.csv",
    )
)
@file_and_column
@option("--test", "Values held out at the end (a tenth of them).", POSITIVE)
@option(
    "--origins", "Held-out stretches: the last, the one before it, and so on.", POSITIVE, default=1
)
@option("--scheme", "How networks are validated.", [*FORWARD, "all"], default="all")
@option("--final", "What is made of the networks.", [*FINALS, "all"], default="all")
@of_series
@common()
def validate(**given: Any) -> int:
    """Forecast the end of a series from what is before it, and score that.

    The end of FILE is held out, and forecast as 'echofold forecast' would, beside plain forecasts;
    and by networks alone, chosen by every validation scheme, as every kind of final model.
    """
    from echofold.cli.panel import of_file, one_or_all
    from echofold.cli.validate import validate_series

    return one_or_all(partial(of_file, validate_series), given)


@click.command(epilog=example("echofold demo", "echofold demo --out demo-results/"))
@option(
    "--out",
    "Folder for forecast.csv, model.echofold and report.html of the year after; nothing is "
    "written without it.",
    FOLDER,
)
@common()
def demo(out: Path | None, seed: int, quiet: bool, as_json: bool) -> None:
    """Search, compare and forecast on an embedded series.

    Weekly gasoline supply in the United States, 1991 to 2017. The last year is held out, forecast
    from what is before it, and scored, as 'echofold validate --test 52' does. With --out the year
    after is forecast, as 'echofold forecast --horizon 52' does.
    """
    began = time.perf_counter()
    from echofold.cli.forecast import forecast_series
    from echofold.cli.output import Output
    from echofold.cli.panel import OF_FILES
    from echofold.cli.reading import FileSeries, Inputs
    from echofold.cli.reading.spacing import spacing
    from echofold.cli.validate import validate_series
    from echofold.datasets import load_gasoline

    def options(command: click.Command, *line: Any) -> dict[str, Any]:
        words = ["gasoline", *map(str, line), "--seed", str(seed)]
        parsed = command.make_context(command.name, words).params
        other = {*OF_FILES, "quiet", "as_json", "total", "fast"}
        return {name: parsed[name] for name in parsed.keys() - other}

    output, gasoline = Output(quiet, as_json), load_gasoline()
    series = FileSeries("gasoline", gasoline.data, spacing(gasoline.data.index))
    output.stage(gasoline.description)
    asked = options(validate, "--test", HORIZON)
    content = validate_series(series, Inputs(), output=output, **asked)
    output.explain(f"Errors are in {gasoline.units}.")
    if out is not None:
        output.stage("\nthe year after")
        before, asked = time.perf_counter(), options(forecast, "--horizon", HORIZON, "--out", out)
        ahead = forecast_series(series, Inputs(), output=output, **asked)
        ahead["seconds"] = time.perf_counter() - before
        output.explain(f"{ahead['seconds']:.1f} s")
        content["ahead"] = ahead
    content["seconds"] = time.perf_counter() - began
    output.explain(f"\n{content['seconds']:.1f} s. Next: echofold forecast YOUR.csv --horizon 26")
    output.json(content)


@click.command(
    epilog=example(
        "echofold schemes --n 100 --k 5 --scheme accumulative --gap 5",
        "echofold schemes --n 500 --k 10 --valid 50 --scheme walk-forward --out splits.png",
        "echofold schemes --n 100 --valid 20 --step 10 --scheme recycle",
    )
)
@option("--n", "Rows of the series.", POSITIVE, default=100)
@option("--k", "Number of splits (5; with --step, as many as fit).", POSITIVE)
@option("--scheme", "Which scheme to draw.", [*BY_NAME, "all"], default="all")
@option("--valid ROWS OR SHARE", "Validated on in each split.", size)
@option("--start ROWS OR SHARE", "Row at which the first validation begins.", size)
@option("--step ROWS OR SHARE", "From one validation to the next; needs --valid.", size)
@option("--min-train ROWS OR SHARE", "Before the first validation.", size)
@option("--gap ROWS OR SHARE", "Left out of training around the validation.", size)
@option("--width", "Characters a line.", POSITIVE, default=72)
@option(
    "--out",
    "Draw to this file as well: .png, .svg or .pdf; for one scheme.",
    click.Path(path_type=Path, dir_okay=False),
)
@common("Taken by every command; splits here are not random.")
def schemes(
    n: int, scheme: str, width: int, out: Path | None, seed: int, quiet: bool, as_json: bool,
    **sizes: Any,
) -> None:  # fmt: skip
    """Draw how a scheme splits a series.

    ─ is trained on, █ is validated on, ▓ is both, · is left out; time runs from left to right.
    """
    from echofold.cli.output import Output

    if out is not None and scheme == "all":
        raise click.UsageError("--out draws one scheme; name it with --scheme.")
    if out is not None and out.suffix not in FORMATS:
        raise click.UsageError(f"--out {out}: the name must end in {', '.join(FORMATS)}.")
    output = Output(quiet, as_json)
    given = {name: size for name, size in sizes.items() if size is not None}
    for name in given if scheme != "all" else ():
        if name not in sizes_of(BY_NAME[scheme]):
            spelled = name.replace("_", "-")
            raise click.UsageError(f"--{spelled} has no meaning for --scheme {scheme}.")
    given = {"k": None if "step" in given else 5, **given}
    made = {name: scheme_of(name, **given) for name in (DRAWN if scheme == "all" else (scheme,))}
    content = {
        name: {"code": repr(one), "splits": [vars(split) for split in one.splits(n)]}
        for name, one in made.items()
    }
    for name, one in made.items():
        splits = count(len(content[name]["splits"]), "split")
        output.explain(f"{name}, {splits} of {n} rows: {one!r}")
        output.result(one.draw(n, width) + ("" if quiet else "\n"))
    both = "" if all(one.holds_out for one in made.values()) else "   ▓ both"
    output.explain(f"─ trained on   █ validated on{both}   · left out")
    files = {}
    if out is not None:
        files["splits"] = str(draw_splits(made[scheme], n, out))
        output.result(f"wrote {out}")
    output.json({"n": n, "schemes": content, "files": files})


def draw_splits(scheme: Any, n: int, out: Path) -> Path:
    """Draw the splits of a scheme to a file."""
    import io

    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from echofold import plots
    from echofold._machine.files import write_atomically

    drawn = io.BytesIO()
    ax = plots.splits(scheme, n)
    ax.figure.savefig(drawn, format=out.suffix[1:], bbox_inches="tight", dpi=150)
    pyplot.close("all")
    return write_atomically(out, drawn.getvalue())


@click.command(
    epilog=example(
        "echofold reproduce generative --datasets gasoline --draws 1",
        "echofold reproduce all --out paper/",
        "echofold reproduce racca --draws 5",
    )
)
@click.argument("name", type=click.Choice([*experiments.NAMES, "all", *experiments.OF_OTHERS]))
@option(
    "--out",
    "Folder for tables and figures.",
    click.Path(path_type=Path, file_okay=False),
    default="echofold-paper",
)
@option("--draws INTEGER RANGE", "Random initialisations (as in the paper).", POSITIVE)
@option("--datasets TEXT", "Some data sets only, as labor,gasoline.", names)
@option("--schemes TEXT", "Some schemes only, separated by commas.", names)
@common("Taken by every command; the paper's experiments have their own seeds.")
def reproduce(
    name: str, out: Path, draws: int | None, datasets: Any, schemes: Any,
    seed: int, quiet: bool, as_json: bool,
) -> None:  # fmt: skip
    """Repeat the tables and figures of the paper.

    NAME is generative, output, classification, speed, figures or all; or racca, the table of
    Racca and Magri on validating chaotic systems. Full runs take minutes to hours; fewer --draws
    and --datasets are quicker.
    """
    from echofold.cli.output import Output, prepare_folder

    output = Output(quiet, as_json)
    prepare_folder(out)
    with output.warnings_as_notes(), output.resumable(out):
        made = experiments.run(name, out, draws, datasets, schemes, quiet or as_json)
    paths = list(map(str, made))
    output.result("\n".join(f"wrote {path}" for path in paths))
    output.json({"name": name, "files": paths})


@click.command(epilog=example("echofold info", "echofold info --json"))
@common("Taken by every command; nothing here is random.")
def info(seed: int, quiet: bool, as_json: bool) -> None:
    """Show versions, devices and memory."""
    from echofold.cli.info import in_lines, installation
    from echofold.cli.output import Output

    output, content = Output(quiet, as_json), installation()
    output.result(in_lines(content))
    output.json(content)
