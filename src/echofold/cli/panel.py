"""One series of a file or all of a panel: each by itself, in a folder of its own."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
import pandas as pd

from echofold._data.text import figure, guarded, listed, shown
from echofold._machine.files import write_atomically
from echofold.cli.reading import LEAST, parts_of, read_table
from echofold.cli.showing.forecast import table as drawn
from echofold.cli.showing.output import Output, plain

RESERVED = {  # names that Windows keeps for devices
    "con", "prn", "aux", "nul", *(f"{name}{i}" for name in ("com", "lpt") for i in range(10)),
}  # fmt: skip
LONGEST = 60  # characters of a folder's name
FAILURES = (ValueError, TypeError, ImportError, OSError, MemoryError)


class Collected(Output):
    """Says nothing, and keeps what would have been printed as JSON."""

    def __init__(self) -> None:
        super().__init__(quiet=True, as_json=True)
        self.content: dict[str, Any] = {}

    def json(self, content: dict[str, Any]) -> None:
        """Keep the object."""
        self.content = {**content, "notes": self.notes}


def one_or_all(run: Callable[..., None], given: dict[str, Any]) -> int:
    """Run a command on one series, or on each of a panel; the exit code."""
    output = Output(given.pop("quiet"), given.pop("as_json"))
    if given["only"] is not None and given["id"] is None:
        raise click.UsageError("--only names one of several series: name their column with --id.")
    if given["id"] is None or given["only"] is not None:
        run(output=output, **given)
        return 0
    return _all(run, given, output)


def _all(run: Callable[..., None], given: dict[str, Any], output: Output) -> int:
    """Run a command on every series of a panel; 1 if some failed."""
    table = read_table(given["file"], given["decimal"], output.note)
    for option in ("column", "date"):
        if given[option] == given["id"]:
            raise ValueError(f"--id and --{option} both name {shown(given['id'])}; name another.")
    parts = parts_of(table, given["id"])
    if max((len(part.frame) for part in parts.values()), default=0) < LEAST:
        raise ValueError(
            f"column {shown(given['id'])} of {table.name} tells {len(parts):,} series apart, "
            f"{listed(list(parts)[:3])} first, and none has {LEAST} rows, which are needed; name "
            "another with --id."
        )
    del table
    folders, done = folder_names(parts), []
    for number, one in enumerate(list(parts), 1):
        output.stage(f"[{number}/{len(folders)}] {shown(one)}")
        own = _own(given, one, folders[one])
        said = Collected()
        try:
            run(output=said, table=parts.pop(one), **own)
            done.append({"id": one, **said.content})
            if "out" in given:
                _write_all(given["out"], given["id"], done)
        except FAILURES as error:
            done = [record for record in done if record["id"] != one]
            done.append({"id": one, "error": " ".join(str(error).split()) or type(error).__name__})
        for note in [*said.notes, *([done[-1]["error"]] if "error" in done[-1] else [])]:
            output.note(f"{shown(one)}: {note}")
    failed = [record for record in done if "error" in record]
    _show(done, folders, given, output)
    return int(bool(failed))


def _own(given: dict[str, Any], one: str, folder: str) -> dict[str, Any]:
    """Options of a command for one series: its own folders."""
    own = {**given, "only": one}
    for name in ("out", "checkpoint"):
        if own.get(name) is not None:
            own[name] = Path(own[name]) / folder
    return own


def folder_names(ids: Iterable[str]) -> dict[str, str]:
    """A folder for each id: a name that every system takes, and that no other id has.

    Examples
    --------
    >>> folder_names(["a/b", "A:B", "../x", "nul"])
    {'a/b': 'a-b', 'A:B': 'A-B-2', '../x': 'x', 'nul': 'nul-'}
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for one in ids:
        bare = re.sub(r"[^\w-]+", "-", unicodedata.normalize("NFC", one)).strip("-_")[:LONGEST]
        bare = bare or "series"
        if bare.lower() in RESERVED:
            bare += "-"
        name, count = bare, 1
        while unicodedata.normalize("NFKC", name).casefold() in taken:
            count += 1
            name = f"{bare}-{count}"
        taken.add(unicodedata.normalize("NFKC", name).casefold())
        names[one] = name
    return names


def _write_all(folder: Path, id: str, done: list[dict[str, Any]]) -> None:
    """Write the forecasts that are there so far below each other."""
    rows = [
        (guarded(record["id"]), row["time"], row["forecast"], row["lower"], row["upper"])
        for record in done
        for row in record.get("forecast", ())
    ]
    table = pd.DataFrame(rows, columns=[guarded(id), "date", "forecast", "low", "high"])
    write_atomically(Path(folder) / "forecasts.csv", table.to_csv(index=False).encode())


def _show(
    done: list[dict[str, Any]], folders: dict[str, str], given: dict[str, Any], output: Output
) -> None:
    """A line for each series, and what failed; a list as JSON."""
    if output.as_json:
        click.echo(json.dumps(plain(done), ensure_ascii=False))
        return
    rows = []
    for record in done:
        own, best, least = _errors(record)
        where = str(Path(given["out"]) / folders[record["id"]]) if "out" in given else ""
        state = "failed" if "error" in record else where
        rows.append([shown(record["id"])[1:-1], figure(own), figure(least), best, state])
    columns = [given["id"], "error", "plain", "by", "folder" if "out" in given else ""]
    output.result(f"\n{drawn(columns, rows)}\n")
    output.explain(
        "Error: expected of the networks; plain: of the best plain forecast on the same values."
    )
    failed = sum("error" in record for record in done)
    if "out" in given and failed < len(done):
        output.result(f"wrote {Path(given['out']) / 'forecasts.csv'}")
    if failed:
        output.stage(f"{failed} of {len(done)} series failed; the notes above say why.")


def _errors(record: dict[str, Any]) -> tuple[float | None, str, float | None]:
    """The expected error of the networks, and the best plain forecast with its own."""
    simple = record.get("simple") or {}
    best = min(simple, key=lambda name: simple[name]) if simple else ""
    own = None
    if "chosen" in record:
        scheme = record["chosen"]["scheme"]
        own = next(row["expected"] for row in record["schemes"] if row["scheme"] == scheme)
    elif "results" in record:
        own = min(row["test"] for row in record["results"])
    return own, best, simple.get(best)
