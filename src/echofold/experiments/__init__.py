"""The tables and figures of the paper, computed again with the public names of echofold.

`paper` has its tables and the speed experiment, `figures` its figures. `racca` is a table of
another paper, on the validation of chaotic systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from echofold._data.arguments import check_integer, check_one_of

NAMES = ("generative", "output", "classification", "speed", "figures")
OF_OTHERS = ("racca",)
PLACES = dict.fromkeys(NAMES[:4], "paper")  # modules of other names
CHOICES = {"datasets": "SERIES", "schemes": "SCHEMES"}  # what experiments call what they have

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
    check_one_of("name", name, (*NAMES, *OF_OTHERS, "all"))
    if draws is not None:
        check_integer("draws", draws, 1, ", or None")
    if name == "figures" and draws is not None:
        raise ValueError(f"draws={draws!r} has no meaning for figures; leave it out.")
    chosen = NAMES if name == "all" else (name,)
    found = {one: _experiment(one) for one in chosen}
    choices = (("datasets", datasets), ("schemes", schemes))
    asked = {option: values for option, values in choices if values is not None}
    for option, values in asked.items():
        _check_names(option, values, [v for one in found.values() for v in _choice(one, option)])
    files = []
    for one, experiment in found.items():
        options: dict[str, Any] = {"draws": int(draws)} if draws and one != "figures" else {}
        for option, values in asked.items():
            if known := _choice(experiment, option):
                options[option] = [v for v in known if v in values]
        if [] not in options.values():  # something of this experiment was asked for
            files += experiment.run(Path(out), quiet=quiet, **options)
    return files


def _experiment(name: str) -> Any:
    """An experiment, an object of its module or the module itself, which is imported only now."""
    module = import_module(f"echofold.experiments.{PLACES.get(name, name)}")
    return getattr(module, name, module)


def _choice(experiment: Any, option: str) -> Sequence[str]:
    """Data sets or schemes that an experiment has."""
    return tuple(getattr(experiment, CHOICES[option], ()))


def _check_names(option: str, values: Any, known: list[str]) -> None:
    """Raise for names of data sets or schemes that no experiment has."""
    if isinstance(values, str) or not len(values):
        raise ValueError(f"{option}={values!r}: expected a list of names, or None for all.")
    unknown = [value for value in values if value not in known]
    if unknown:
        names = ", ".join(dict.fromkeys(known))
        there = f"there are {names}" if known else "this experiment has no choice"
        raise ValueError(f"{option}: {unknown[0]!r} is unknown; {there}.")
