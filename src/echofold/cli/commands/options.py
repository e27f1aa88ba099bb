"""Options that commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from echofold._machine.compilations import keep_compilations
from echofold._search.finals import FINALS as _FINALS
from echofold.metrics._metric import OF_ERRORS, resolve
from echofold.schemes import BY_NAME, sizes_of

# By errors on rows that were trained on, neither networks and plain forecasts nor schemes can be
# compared, and intervals would be too narrow.
SCHEMES = tuple(
    name for name, scheme in BY_NAME.items() if "valid" in sizes_of(scheme) and scheme.holds_out
)
FINALS = tuple(_FINALS)
METRICS = "; ".join(f"{name}, {resolve(name).words}" for name in OF_ERRORS)
POSITIVE = click.IntRange(min=1)
READING = ("column", "date", "date_format", "decimal", "fill", "duplicates", "id", "only")
ALIKE = ("date_format", "decimal", "fill", "id", "only")  # of a file of inputs too


class Several(click.ParamType):
    """One number or several, separated by commas."""

    kind: type = int
    expected = ""

    def allowed(self, numbers: tuple) -> bool:
        """Whether these can be taken."""
        raise NotImplementedError

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple:
        """Read the numbers, or say what is expected."""
        if isinstance(value, tuple):
            return value
        try:
            numbers = tuple(self.kind(part) for part in str(value).split(","))
        except ValueError:
            numbers = ()
        if not numbers or not self.allowed(numbers):
            self.fail(f"{value!r} is not {self.expected}.", param, ctx)
        return numbers


class Levels(Several):
    """Shares between 0 and 1, in ascending order."""

    name, kind, expected = "shares", float, "a share in (0, 1), nor several as 0.5,0.9"

    def allowed(self, numbers: tuple) -> bool:
        """Whether all are shares."""
        return all(0 < level < 1 for level in numbers)

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, ...]:
        """Each of them once."""
        return tuple(sorted(set(super().convert(value, param, ctx))))


class Lags(Several):
    """Lags of differences, one after the other; 0, and only alone, for none."""

    name, expected = "lags", "a lag, nor several as 12,1; 0 for none"

    def allowed(self, numbers: tuple) -> bool:
        """Whether all are positive, or the only one is zero."""
        return min(numbers) > 0 or numbers == (0,)

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        """The lags, of which there may be none."""
        return tuple(lag for lag in super().convert(value, param, ctx) if lag)


class Seasons(Several):
    """Whole numbers of steps; 1, and only alone, for none."""

    name = "steps"
    expected = "a number of steps, nor several as 24,168; 1 stands for no season, and only alone"

    def allowed(self, numbers: tuple) -> bool:
        """Whether all are longer than a step, or the only one is one."""
        return min(numbers) > 1 or numbers == (1,)


def example(*lines: str) -> str:
    """An epilog that shows commands to copy, each on its own line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _together(*options: Callable) -> Callable:
    """One decorator of several, in the order of the help page."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def common(seed: str = "Seed of the random weights.") -> Callable:
    """What every command has."""
    return _together(
        click.option(
            "--seed",
            type=click.IntRange(0, 2**31 - 1),
            metavar="N",
            default=0,
            show_default=True,
            help=seed,
        ),
        click.option("-q", "--quiet", is_flag=True, help="Results only: no progress, no notes."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead."),
        click.option(
            "--no-cache",
            is_flag=True,
            expose_value=False,
            callback=_keep_programs,
            help="Compile everything anew, and keep nothing (as ECHOFOLD_CACHE=off does).",
        ),
        click.option("--debug", is_flag=True, expose_value=False, help="Show where errors arise."),
    )


def _keep_programs(ctx: click.Context, param: Any, refused: bool) -> None:
    """Keep what is compiled for the next time, unless that is refused."""
    if not refused and not ctx.resilient_parsing:
        keep_compilations()


file = _together(
    click.argument("file"),
    click.option(
        "--column",
        metavar="NAME",
        help="What to forecast; needed with several columns of numbers.",
    ),
)

knowing = _together(
    click.option(
        "--inputs",
        metavar="FILE",
        help="CSV or Parquet file of inputs known in advance, as prices and holidays: numbers, yes "
        "and no, or names, with a row for every date of the series and of the forecast.",
    ),
    click.option(
        "--input",
        "columns",
        metavar="NAME",
        multiple=True,
        help="Column of FILE that is known in advance, with rows at the end where the value is "
        "still empty; may be given several times.",
    ),
)

reading = _together(
    click.option(
        "--date",
        metavar="NAME",
        help="Column of dates; found when it is not named. 'none' takes rows as evenly spaced.",
    ),
    click.option("--date-format", metavar="FORMAT", help="Format of the dates, as '%d/%m/%Y'."),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal sign, if unclear."),
    click.option(
        "--fill",
        type=click.Choice(["leave", "interpolate", "forward", "none"]),
        default="leave",
        show_default=True,
        help="Missing values are left out, neither learned from nor scored; or filled along "
        "straight lines, or with the value before; 'none' refuses them.",
    ),
    click.option(
        "--duplicates",
        type=click.Choice(["mean", "first", "last", "sum"]),
        help="What is taken of several rows for one date; they are refused without it.",
    ),
    click.option(
        "--id",
        metavar="NAME",
        help="Column that tells several series below each other apart: all of them are taken, one "
        "after the other, or the one of --only.",
    ),
    click.option("--only", metavar="VALUE", help="The one series to take, by what --id holds."),
    click.option(
        "--season",
        type=Seasons(),
        metavar="N[,N]",
        help="Steps in a season, or in several as 24,168: what differences and waves follow, and "
        "simple forecasts repeat (by the spacing of dates, else found in the values); 1 for none.",
    ),
)

representing = _together(
    click.option(
        "--log/--no-log",
        default=None,
        help="Learn logarithms, or never (by default both are tried where values are positive).",
    ),
    click.option(
        "--difference",
        "differences",
        type=Lags(),
        metavar="LAGS",
        multiple=True,
        help="Learn differences at these lags, as 1 or 12,1, and 0 for none; may be given several "
        "times (by default those that suit the seasons are tried).",
    ),
    click.option(
        "--nonnegative", is_flag=True, help="Forecasts and intervals never fall below zero."
    ),
)

searching = _together(
    click.option(
        "--k",
        type=click.IntRange(min=2),
        metavar="N",
        help="Splits of a scheme (20 if they fit).",
    ),
    click.option(
        "--units",
        type=POSITIVE,
        metavar="N",
        help="Units of the reservoir (10 to 100 by length).",
    ),
    click.option(
        "--grid",
        type=click.Choice(["auto", "small", "medium", "large"]),
        default="auto",
        show_default=True,
        help="How many networks to search for each representation of the series: 2, 4 or 24.",
    ),
    click.option(
        "--draws",
        type=POSITIVE,
        metavar="N",
        help="Random draws of weights (3, and 1 of long series).",
    ),
    click.option(
        "--metric",
        type=click.Choice(OF_ERRORS),
        default="rmse",
        show_default=True,
        help=f"Error that is minimised: {METRICS}.",
    ),
    click.option(
        "--verify",
        is_flag=True,
        help="Refit some splits plainly and stop if results differ by more than rounding.",
    ),
    click.option(
        "--checkpoint",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        help="Keeps finished work: the same command goes on from it after an interrupt.",
    ),
)
