"""``echofold reproduce``: the tables and figures of the paper."""

from __future__ import annotations

from pathlib import Path

import click

from echofold.cli.commands.options import POSITIVE, common, example

NAMES = ("generative", "output", "classification", "speed", "figures", "all", "racca")


@click.command(
    epilog=example(
        "echofold reproduce generative --datasets gasoline --draws 1",
        "echofold reproduce all --out paper/",
        "echofold reproduce racca --draws 5",
    )
)
@click.argument("name", type=click.Choice(NAMES))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default="echofold-paper",
    show_default=True,
    help="Folder for tables and figures.",
)
@click.option("--draws", type=POSITIVE, help="Random initialisations (as in the paper).")
@click.option("--datasets", help="Some data sets only, as labor,gasoline.")
@click.option("--schemes", help="Some schemes only, separated by commas.")
@common("Taken by every command; the paper's experiments have their own seeds.")
def command(
    name: str,
    out: Path,
    draws: int | None,
    datasets: str | None,
    schemes: str | None,
    seed: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Repeat the tables and figures of the paper.

    NAME is generative, output, classification, speed, figures or all; or racca, the table of
    Racca and Magri on validating chaotic systems. Full runs take minutes to hours; fewer --draws
    and --datasets are quicker.
    """
    from echofold import experiments
    from echofold.cli.showing import files as written
    from echofold.cli.showing.output import Output

    output = Output(quiet, as_json)
    folder = written.prepare(out)
    with output.warnings_as_notes(), output.resumable(folder):
        made = experiments.run(
            name, folder, draws, _names(datasets), _names(schemes), quiet or as_json
        )
    paths = [str(path) for path in (made if isinstance(made, list) else [made])]
    output.result("\n".join(f"wrote {path}" for path in paths))
    output.json({"name": name, "files": paths})


def _names(text: str | None) -> tuple[str, ...] | None:
    """Names separated by commas."""
    if text is None:
        return None
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if not names:
        raise click.UsageError(f"{text!r} names nothing; separate names by commas.")
    return names
