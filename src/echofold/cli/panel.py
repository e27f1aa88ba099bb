"""A command on one series of a file, or on all of a panel: each by itself, in its own folder."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
import pandas as pd

from echofold._data.text import figure, guarded, listed, shown
from echofold._machine.files import write_atomically
from echofold.cli.output import Output, as_json
from echofold.cli.output import table as drawn
from echofold.cli.reading import Inputs, read_inputs, read_series, read_table, tables_by_id

RESERVED = {  # names that Windows keeps for devices
    "con", "prn", "aux", "nul", *(f"{name}{i}" for name in ("com", "lpt") for i in range(10)),
}  # fmt: skip
LONGEST = 60  # characters of a folder's name
OF_INPUTS = ("date_format", "decimal", "fill", "id", "only")  # how a file of inputs is read too
OF_SERIES = ("column", "date", "duplicates", *OF_INPUTS)
OF_FILES = ("file", "season", "inputs", "columns", *OF_SERIES)  # how what is given is read
FAILURES = (ValueError, TypeError, ImportError, OSError, MemoryError)


def of_file(
    work: Callable[..., dict[str, Any]],
    *,
    file: str,
    season: tuple[int, ...] | None,
    inputs: str | None,
    columns: tuple[str, ...],
    output: Output,
    table: Any = None,
    **options: Any,
) -> dict[str, Any]:
    """Do the work of a command on one series, of a file or of a table from it; what it found."""
    began = time.perf_counter()
    how = {name: options.pop(name) for name in OF_SERIES}
    with output.warnings_as_notes():
        series = read_series(file, output.note, season=season, inputs=columns, table=table, **how)
        how = {name: how[name] for name in OF_INPUTS}
        known = read_inputs(series, options.get("horizon", 0), output.note, file=inputs, **how)
    content = work(series, known or Inputs(), output=output, **options)
    content["seconds"] = time.perf_counter() - began
    output.explain(f"{content['seconds']:.1f} s")
    return content


def one_or_all(run: Callable[..., dict[str, Any]], given: dict[str, Any]) -> int:
    """Run a command on one series, or on each of a panel; the exit code."""
    output = Output(given.pop("quiet"), given.pop("as_json"))
    if given["only"] is not None and given["id"] is None:
        raise click.UsageError("--only names one of several series: name their column with --id.")
    if given["id"] is None or given["only"] is not None:
        output.json(run(output=output, **given))
        return 0
    return _all(run, given, output)


def _all(run: Callable[..., dict[str, Any]], given: dict[str, Any], output: Output) -> int:
    """Run a command on every series of a panel; 1 if some failed."""
    table = read_table(given["file"], given["decimal"], output.note)
    for option in ("column", "date"):
        if given[option] == given["id"]:
            raise ValueError(f"--id and --{option} both name {shown(given['id'])}; name another.")
    parts = tables_by_id(table, given["id"])
    parts.pop("", None)  # rows without an id
    if max((len(part.frame) for part in parts.values()), default=0) < 2:
        raise ValueError(
            f"column {shown(given['id'])} of {table.name} tells {len(parts):,} series apart, "
            f"{listed(list(parts)[:3])} first, and none has more than one row; name another with "
            "--id."
        )
    del table
    folders = folder_names(parts)
    done: list[dict[str, Any]] = []
    for number, one in enumerate(list(parts), 1):
        output.stage(f"[{number}/{len(folders)}] {shown(one)}")
        own, said = {**given, "only": one}, Output(quiet=True, as_json=True)
        for name in ("out", "checkpoint"):
            if own.get(name) is not None:
                own[name] = Path(own[name]) / folders[one]
        try:
            found = run(output=said, table=parts.pop(one), **own)
            finished = {"id": one, **found, "notes": said.notes}
            if "out" in given:
                _write_all(given["out"], given["id"], [*done, finished])
        except FAILURES as error:
            words = " ".join(str(error).split()) or type(error).__name__
            finished = {"id": one, "error": words}
            said.notes.append(words)
        done.append(finished)
        for note in said.notes:
            output.note(f"{shown(one)}: {note}")
    _show(done, folders, given, output)
    return int(any("error" in record for record in done))


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
        click.echo(as_json(done))
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
        "Error: of the forecast on past values; plain: of the best plain forecast on the same ones."
    )
    failed = sum("error" in record for record in done)
    if "out" in given and failed < len(done):
        output.result(f"wrote {Path(given['out']) / 'forecasts.csv'}")
    if failed:
        output.stage(f"{failed} of {len(done)} series failed; the notes above say why.")


def _errors(record: dict[str, Any]) -> tuple[float | None, str, float | None]:
    """Of what a command found: its error, and the best plain forecast with its own."""
    plain = record.get("plain") or record.get("simple") or {}
    best = min(plain, key=lambda name: plain[name], default="")
    own = record.get("test", (record.get("verdict") or {}).get("error"))
    return own, best, plain.get(best)
