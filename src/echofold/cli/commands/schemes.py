"""``echofold schemes``: the splits of a scheme, drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from echofold.cli.commands.options import POSITIVE, common, example
from echofold.schemes import BY_NAME, sizes_of

FORMATS = (".png", ".svg", ".pdf")
DRAWN = tuple(name for name, scheme in BY_NAME.items() if "valid" in sizes_of(scheme))


class Size(click.ParamType):
    """A number of rows, or a fraction of them below 1."""

    name = "rows or share"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | float:
        """Read a whole number as a count and any other as a fraction."""
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
        self.fail(f"{value!r} is neither a number of rows nor a fraction of them.", param, ctx)


@click.command(
    epilog=example(
        "echofold schemes --n 100 --k 5 --scheme accumulative --gap 5",
        "echofold schemes --n 500 --k 10 --valid 50 --scheme walk-forward --out splits.png",
        "echofold schemes --n 100 --valid 20 --step 10 --scheme recycle",
    )
)
@click.option(
    "--n", type=POSITIVE, metavar="N", default=100, show_default=True, help="Rows of the series."
)
@click.option(
    "--k", type=POSITIVE, metavar="N", help="Number of splits (5; with --step, as many as fit)."
)
@click.option(
    "--scheme",
    type=click.Choice([*BY_NAME, "all"]),
    default="all",
    show_default=True,
    help="Which scheme to draw.",
)
@click.option("--valid", type=Size(), help="Validated on in each split.")
@click.option("--start", type=Size(), help="Row at which the first validation begins.")
@click.option("--step", type=Size(), help="From one validation to the next; needs --valid.")
@click.option("--min-train", type=Size(), help="Before the first validation.")
@click.option("--gap", type=Size(), help="Left out of training around the validation.")
@click.option(
    "--width", type=POSITIVE, metavar="N", default=72, show_default=True, help="Characters a line."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw to this file as well: .png, .svg or .pdf; for one scheme.",
)
@common("Taken by every command; splits here are not random.")
def command(
    n: int, scheme: str, width: int, out: Path | None, seed: int, quiet: bool, as_json: bool,
    **sizes: Any,
) -> None:  # fmt: skip
    """Draw how a scheme splits a series.

    ─ is trained on, █ is validated on, ▓ is both, · is left out; time runs from left to right.
    """
    from echofold.cli.showing.output import Output

    if out is not None and scheme == "all":
        raise click.UsageError("--out draws one scheme; name it with --scheme.")
    if out is not None and out.suffix not in FORMATS:
        raise click.UsageError(f"--out {out}: the name must end in {', '.join(FORMATS)}.")
    output = Output(quiet, as_json)
    given = {option: size for option, size in sizes.items() if size is not None}
    made = {}
    for name in DRAWN if scheme == "all" else (scheme,):
        useless = [option for option in given if option not in sizes_of(BY_NAME[name])]
        if useless and scheme != "all":
            option = useless[0].replace("_", "-")
            raise click.UsageError(f"--{option} has no meaning for --scheme {name}.")
        made[name] = _make(name, {"k": None if "step" in given else 5, **given})
    content = {
        name: {"code": repr(one), "splits": [vars(split) for split in one.splits(n)]}
        for name, one in made.items()
    }
    for name, one in made.items():
        count = len(content[name]["splits"])
        output.explain(f"{name}, {count} split{'s' if count > 1 else ''} of {n} rows: {one!r}")
        output.result(one.draw(n, width) + ("" if quiet else "\n"))
    both = "" if all(one.holds_out for one in made.values()) else "   ▓ both"
    output.explain(f"─ trained on   █ validated on{both}   · left out")
    files = {}
    if out is not None:
        files["splits"] = str(_picture(made[scheme], n, out))
        output.result(f"wrote {out}")
    output.json({"n": n, "schemes": content, "files": files})


def _make(name: str, sizes: dict[str, Any]) -> Any:
    """A scheme by its name, from the sizes that it takes."""
    scheme = BY_NAME[name]
    return scheme(**{size: sizes[size] for size in sizes_of(scheme) if size in sizes})


def _picture(scheme: Any, n: int, out: Path) -> Path:
    """Draw the splits to a file."""
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
