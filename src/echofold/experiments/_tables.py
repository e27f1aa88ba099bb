"""What every experiment needs: lines of progress, results on disk, tables beside the published.

Rows of finished parts are kept as CSV.
"""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.resources import files
from itertools import product
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd

from echofold import __version__
from echofold._machine.files import write_atomically


class Say:
    """Prints one line for each finished part, with the seconds since the last, unless quiet."""

    def __init__(self, quiet: bool):
        self.quiet, self.last = quiet, time.perf_counter()

    def __call__(self, text: str, timed: bool = False) -> None:
        """Print a line."""
        now = time.perf_counter()
        if not self.quiet:
            took = f" ({now - self.last:.0f} s)" if timed else ""
            print(f"{text}{took}", file=sys.stderr, flush=True)
        self.last = now


@contextmanager
def checkpoint(out: Path, name: str, *identity: Any) -> Iterator[Path]:
    """A directory for the blocks of one search, removed once its part is finished."""
    digest = hashlib.sha256(repr(identity).encode()).hexdigest()[:8]
    path = out / "checkpoints" / f"{name}-{digest}"
    yield path
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):  # blocks of another search may still be there
        path.parent.rmdir()


@contextmanager
def expecting_collinear_states() -> Iterator[None]:
    """Do not warn of what the tables show themselves: grids hold ill-conditioned candidates."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*collinear to working precision")
        warnings.filterwarnings("ignore", message=".*no finite score")
        yield


# Before version 3, pandas read floats that it wrote with the last bit changed unless told so.
EXACT: dict[str, Any] = {} if pd.__version__ >= "3" else {"float_precision": "round_trip"}


class Rows:
    """Rows of finished parts in a CSV file, kept from run to run while the settings stay the same.

    The first line of the file is a comment with the settings; that rows made with other settings
    are dropped is said through ``say``. Of rows with equal ``keys`` the last one stays.
    """

    def __init__(self, path: Path, settings: dict[str, Any], keys: Sequence[str], say: Say):
        self.path, self.keys, self.say = path, list(keys), say
        self.settings = json.dumps({"echofold": __version__, **settings})
        self.frame = pd.DataFrame()
        if path.exists():
            with path.open(encoding="utf-8") as stream:
                first = stream.readline()
            if first == f"# {self.settings}\n":
                self.frame = pd.read_csv(path, comment="#", **EXACT)
            else:
                say(f"{path.name} was made with other settings; it is computed again")

    def where(self, **part: Any) -> pd.DataFrame:
        """Rows of a part, such as ``dataset="labor", draw=1``."""
        frame = self.frame
        for column, value in part.items():
            if column not in frame:
                return frame.iloc[:0]
            frame = frame[frame[column] == value]
        return frame

    def missing(self, schemes: Iterable[str], draws: Sequence[int], **part: Any) -> list[str]:
        """Schemes for which not all of these draws are there."""
        found = {scheme: self.where(scheme=scheme, **part) for scheme in schemes}
        return [name for name, rows in found.items() if not set(draws) <= set(rows.get("draw", ()))]

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Keep the rows of a part that was finished; on disk as a whole or not at all."""
        frame = pd.concat([self.frame, pd.DataFrame(rows)], ignore_index=True)
        self.frame = frame.drop_duplicates(self.keys, keep="last", ignore_index=True)
        write(self.path, f"# {self.settings}\n{self.frame.to_csv(index=False)}")


class Experiment:
    """A table: rows for every draw, kept on disk, and what they come to beside what was published.

    Each has ``settings()``, on which rows depend; ``compute(rows, draws, schemes)``, which
    adds those that are missing; ``CELLS``, the names and values that cells of the table are told
    apart by; ``line(cell, …)``, what the rows of a cell come to; and ``describe(frame, draws)``,
    the lines in Markdown.
    """

    name: str
    DRAWS = 5
    SCHEMES: tuple[str, ...]
    KEYS: tuple[str, ...] = ("scheme", "draw", "final")
    CELLS: dict[str, Iterable[str]]

    def run(self: Any, out: Path, draws=None, schemes=None, quiet=False, **parts) -> list[Path]:
        """Compute what is missing of the table, and write it."""
        draws = draws or self.DRAWS
        rows = Rows(out / f"{self.name}_draws.csv", self.settings(), self.KEYS, Say(quiet))
        self.compute(rows, draws, list(schemes or self.SCHEMES), **parts)
        lines = []
        for values in product(*self.CELLS.values()):
            part = dict(zip(self.CELLS, values, strict=True))
            cell = rows.where(**part)
            cell = cell[cell.draw <= draws] if len(cell) else cell
            if len(cell) == draws:
                lines.append(part | self.line(cell, **part))
        table = pd.DataFrame(lines)
        return [
            rows.path,
            write(out / f"{self.name}.csv", table.to_csv(index=False)),
            write(out / f"{self.name}.md", self.describe(table, draws)),
        ]

    def beside_published(
        self, cell: pd.DataFrame, name: str, of: tuple[str, str, str], deviations: bool = False
    ) -> dict[str, float]:
        """The mean of a quantity over draws, and the one ``of`` a data set, scheme and final."""
        mean, deviation = published(self.name, *of, name)
        if not deviations:
            return {name: cell[name].mean(), f"{name}_published": mean}
        return {
            name: cell[name].mean(), f"{name}_deviation": cell[name].std(ddof=0),
            f"{name}_published": mean, f"{name}_published_deviation": deviation,
        }  # fmt: skip


def write(path: Path, text: str) -> Path:
    """Write a file aside and move it into place, so that a kill leaves the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_atomically(path, text.encode())


@cache
def printed() -> dict[tuple[str, ...], tuple[float, float]]:
    """Printed values and deviations by experiment, data set, scheme, final model and quantity."""
    with (files("echofold.experiments") / "published.csv").open(encoding="ascii") as stream:
        _, *lines = csv.reader(stream)
    return {tuple(key): (float(value), float(more or "nan")) for *key, value, more in lines}


def published(*place: str) -> tuple[float, float]:
    """The value and the deviation that are `printed`, NaN where none is."""
    return printed().get(place, (nan, nan))


def page(title: str, *parts: str) -> str:
    """A heading and what follows, with blank lines between."""
    return "\n\n".join([f"# {title}", *parts, ""])[:-1]


def markdown(
    header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 2, once: Sequence[int] = ()
) -> str:
    """A Markdown table; the first ``left`` columns hold text, the others numbers.

    Columns ``once`` belong to the first, and are empty where that is as in the row above.

    Examples
    --------
    >>> print(markdown(["scheme", "error"], [["SV", "0.957 (0.957)"]], left=1))
    | scheme | error |
    |:--|--:|
    | SV | 0.957 (0.957) |
    """
    lines, first = [header, [":--" if i < left else "--:" for i in range(len(header))]], None
    for row in rows:
        again = once if row[0] == first else ()
        lines.append(["" if i in again else cell for i, cell in enumerate(row)])
        first = row[0]
    marked = [f"| {' | '.join(line)} |" for line in lines]
    marked[1] = marked[1].replace(" ", "")
    return "\n".join(marked)


def with_published(ours: float, published: float, within: float | None = None) -> str:
    """Ours with the published number in brackets, and a star where they differ.

    Examples
    --------
    >>> with_published(1.5041, 1.504, 0.002), with_published(2.1, 1.5, 0.002)
    ('1.504 (1.504)', '2.100 (1.500) *')
    >>> with_published(0.75, float("nan"))
    '0.750'
    """
    if published != published:
        return number(ours)
    star = "" if within is None or agrees(ours, published, within) else " *"
    return f"{number(ours)} ({number(published)}){star}"


def agrees(ours: float, published: float, within: float) -> bool:
    """Whether ours, rounded as the published number is, lies within a distance of it."""
    return abs(round(ours, 3) - published) < within + 1e-9


def number(value: float) -> str:
    """Three digits after the point, or few significant ones for large numbers."""
    return f"{value:.3f}" if abs(value) < 1e4 else f"{value:.1e}"


def plus_minus(row: Any, name: str) -> str:
    """A mean with its standard deviation, and the published ones in brackets."""
    ours, printed = (
        f"{number(getattr(row, which))} ± {number(getattr(row, f'{which}_deviation'))}"
        for which in (name, f"{name}_published")
    )
    return f"{ours} ({printed})"
