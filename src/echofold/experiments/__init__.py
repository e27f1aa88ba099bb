"""The tables and figures of the paper, computed again with the public names of echofold.

Each experiment is one short file: `generative`, `output`, `classification`, `speed` and
`figures`; the numbers that the paper prints are in `published`. `racca` is a table of another
paper, on the validation of chaotic systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any

NAMES = ("generative", "output", "classification", "speed", "figures")
OF_OTHERS = ("racca",)

__all__ = ["NAMES", "OF_OTHERS", "run"]


def run(
    name: str,
    out: str | PathLike,
    draws: int | None = None,
    datasets: Sequence[str] | None = None,
    schemes: Sequence[str] | None = None,
    quiet: bool = False,
) -> list[Path]:
    """Repeat an experiment of the paper and write its results.

    Parts that were finished before in the same directory with the same settings are not computed
    again, and an experiment that was interrupted goes on.

    Parameters
    ----------
    name : {"generative", "output", "classification", "speed", "figures", "all", "racca"}
        Which experiment; "all" are those of the paper. "racca" is the Lorenz table of Racca and
        Magri (2021), and what follows when validation costs nothing.
    out : path
        Directory for the results: a CSV file with every draw, one with the table, and the table
        in Markdown with ours beside the published numbers; figures as PNG and SVG.
    draws : int, optional
        Random initialisations; by default as many as in the paper (5, or 500 to classify, or
        50 of "racca").
    datasets : sequence of str, optional
        Some of "labor", "gasoline", "sunspots" and "electricity", for the generative experiment.
    schemes : sequence of str, optional
        Some of the rows of the tables, such as "SV" or "CV _V".
    quiet : bool
        Whether to show no progress.

    Returns
    -------
    list of Path
        The files written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from echofold import experiments
    >>> with TemporaryDirectory() as out:
    ...     files = experiments.run(
    ...         "generative", out, draws=1, datasets=["labor"], schemes=["SV"], quiet=True
    ...     )
    ...     [file.name for file in files]
    ['generative_draws.csv', 'generative.csv', 'generative.md']
    """
    if name not in (*NAMES, *OF_OTHERS, "all"):
        names = ", ".join((*NAMES, *OF_OTHERS))
        raise ValueError(f"name={name!r} is unknown: it must be one of {names} or all.")
    if draws is not None and (
        isinstance(draws, bool) or not isinstance(draws, Integral) or draws < 1
    ):
        raise ValueError(f"draws={draws!r}: expected an integer of at least 1, or None.")
    if name == "figures" and draws is not None:
        raise ValueError(f"draws={draws!r} has no meaning for figures; leave it out.")
    chosen = NAMES if name == "all" else (name,)
    modules = {one: import_module(f"echofold.experiments.{one}") for one in chosen}
    given: dict[str, Any] = {
        "datasets": _known("datasets", datasets, modules, "SERIES"),
        "schemes": _known("schemes", schemes, modules, "SCHEMES"),
    }
    folder = Path(out)
    files = []
    for one, module in modules.items():
        options: dict[str, Any] = {}
        if draws is not None and one != "figures":
            options["draws"] = int(draws)
        for option, attribute in (("datasets", "SERIES"), ("schemes", "SCHEMES")):
            has = getattr(module, attribute, None)
            if given[option] is None or has is None:
                continue
            options[option] = [value for value in has if value in given[option]]
            if not options[option]:
                break  # nothing of this experiment was asked for
        else:
            files += module.run(folder, quiet=quiet, **options)
    return files


def _known(option: str, values, modules: dict[str, Any], attribute: str) -> set[str] | None:
    """Check names of data sets or schemes against those that the experiments have."""
    if values is None:
        return None
    if isinstance(values, str) or not len(values):
        raise ValueError(f"{option}={values!r}: expected a list of names, or None for all.")
    known = dict.fromkeys(v for m in modules.values() for v in getattr(m, attribute, ()))
    unknown = [value for value in values if value not in known]
    if unknown:
        there = f"there are {', '.join(known)}" if known else "this experiment has no choice"
        raise ValueError(f"{option}: {unknown[0]!r} is unknown; {there}.")
    return set(values)
