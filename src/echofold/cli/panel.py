"""A command on one series of a file, or on all of a panel: together, or each by itself."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import click

from echofold._data.text import Note, count, figure, inflected, listed, shown
from echofold.cli.output import Output, as_json
from echofold.cli.output import table as drawn
from echofold.cli.reading import (
    BETWEEN,
    FileTable,
    Inputs,
    Parts,
    read_inputs,
    read_series,
    read_table,
    tables_by_column,
    tables_by_id,
)

RESERVED = {  # names that Windows keeps for devices
    "con", "prn", "aux", "nul", *(f"{name}{i}" for name in ("com", "lpt") for i in range(10)),
}  # fmt: skip
COLUMN = "column"  # what tells series apart that are columns of a file
LONGEST = 60  # characters of a folder's name
MOST = 20  # notes on single series
OF_INPUTS = ("date_format", "decimal", "fill", "id", "only")  # how a file of inputs is read too
OF_SERIES = ("column", "date", "duplicates", "sheet", "holidays", "paydays", *OF_INPUTS)
OF_FILES = ("file", "season", "inputs", "columns", *OF_SERIES)  # how what is given is read
FAILURES = (ValueError, TypeError, ImportError, OSError, MemoryError)


def _words(error: Exception) -> str:
    """What an error says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


class Told:
    """What was said of single series, and why some of them failed; of several it is said once."""

    def __init__(self) -> None:
        self.said: dict[str, list[str]] = {}
        self.failed: dict[str, str] = {}

    def about(self, name: str) -> Note:
        """What takes notes on one of them."""

        def note(words: str) -> None:
            self.said.setdefault(words.replace(f", {shown(name)}", ""), []).append(name)

        return note

    @contextmanager
    def stopping_none(self, name: str) -> Iterator[None]:
        """Let a series fail, and no other."""
        try:
            yield
        except FAILURES as error:
            self.failed[name] = _words(error)

    def tell(self, output: Output) -> None:
        """Say all of it, or what there is space for."""
        for words, names in islice(self.said.items(), MOST):
            many = inflected(len(names) - 1, " and one more series", " and {} more series")
            output.note(f"{shown(names[0])}{many if len(names) > 1 else ''}: {words}")
        for name, words in islice(self.failed.items(), MOST):
            output.note(f"{shown(name)}: {words}")
        whats = ("notes on single series", self.said), ("series that failed", self.failed)
        for what, some in whats:
            if len(some) > MOST:
                output.note(f"{len(some) - MOST:,} more {what} are not told of here.")


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


def one_or_all(
    run: Callable[..., dict[str, Any]],
    given: dict[str, Any],
    together: Callable[..., int] | None = None,
) -> int:
    """Run a command on one series, or on each of a panel, or on all ``together``; the exit code."""
    output = Output(given.pop("quiet"), given.pop("as_json"))
    columns = tuple(dict.fromkeys(given["column"]))
    given["column"] = columns[0] if len(columns) == 1 else None
    if given["paydays"] and given["holidays"] is None:
        raise click.UsageError("--paydays need a country: name it with --holidays, as DE.")
    if given.pop("fast"):
        if given["effort"] not in (None, "fast"):
            raise click.UsageError(f"--fast and --effort {given['effort']} contradict each other.")
        given["effort"] = "fast"
    if given["only"] is not None and not given["id"]:
        raise click.UsageError("--only names one of several series: name their column with --id.")
    if len(columns) > 1:
        if given["id"]:
            raise click.UsageError(
                "--id tells series apart by rows, several --column do by columns: give one column, "
                "or leave --id out."
            )
        table = read_table(given["file"], given["decimal"], output.note, given["sheet"])
        given["id"], parts = (COLUMN,), tables_by_column(table, columns)
    elif not given["id"] or given["only"] is not None:
        output.json(run(output=output, **given))
        return 0
    else:
        parts = parts_by_id(
            read_table(given["file"], given["decimal"], output.note, given["sheet"]), given, output
        )
    if together is None:
        return _all(run, parts, given, output)
    return together(parts, given["id"], output=output, **given)


def parts_by_id(table: FileTable, given: dict[str, Any], output: Output) -> Parts:
    """The tables of all series of a panel, by what their ids hold."""
    ids = given["id"]
    for option in ("column", "date"):
        if given[option] in ids:
            raise ValueError(f"--id and --{option} both name {shown(given[option])}; name another.")
    if len(set(ids)) < len(ids):
        raise click.UsageError("--id names a column twice.")
    parts = tables_by_id(table, ids, given["date_format"], output.note)
    if without := len(table.frame) - sum(map(len, parts.rows.values())):
        output.note(f"{count(without, 'row')} of {table.name} without an id are left out.")
    for one, other in pairwise(sorted(parts, key=str.casefold)):
        if one.casefold() == other.casefold():
            output.note(f"{shown(one)} and {shown(other)} differ in case alone: two series.")
    if max(map(len, parts.rows.values()), default=0) < 2:
        raise ValueError(
            f"column {shown(BETWEEN.join(ids))} of {table.name} tells {len(parts):,} series apart, "
            f"{listed(list(parts)[:3])} first, and none has more than one row; name another with "
            "--id."
        )
    return parts


def _all(
    run: Callable[..., dict[str, Any]], parts: Parts, given: dict[str, Any], output: Output
) -> int:
    """Run a command on every series of a panel by itself; 1 if some failed."""
    folders = folder_names(parts)
    done: list[dict[str, Any]] = []
    for number, one in enumerate(parts, 1):
        output.stage(f"[{number}/{len(folders)}] {shown(one)}")
        own, said = {**given, **parts.told(one)}, Output(quiet=True, as_json=True)
        if own["checkpoint"] is not None:
            own["checkpoint"] = Path(own["checkpoint"]) / folders[one]
        try:
            found = run(output=said, table=parts[one], **own)
            finished = {"id": one, **found, "notes": said.notes}
        except FAILURES as error:
            words = _words(error)
            finished = {"id": one, "error": words}
            said.notes.append(words)
        done.append(finished)
        for note in said.notes:
            output.note(f"{shown(one)}: {note}")
    _show(done, given, output)
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


def _show(done: list[dict[str, Any]], given: dict[str, Any], output: Output) -> None:
    """A line for each series, and what failed; a list as JSON."""
    if output.as_json:
        click.echo(as_json(done))
        return
    rows = []
    for record in done:
        own, best, least = _errors(record)
        state = "failed" if "error" in record else ""
        rows.append([shown(record["id"])[1:-1], figure(own), figure(least), best, state])
    columns = [BETWEEN.join(given["id"]), "error", "plain", "by", ""]
    output.result(f"\n{drawn(columns, rows)}\n")
    output.explain(
        "Error: of the forecast on past values; plain: of the best plain forecast on the same ones."
    )
    failed = sum("error" in record for record in done)
    if failed:
        output.stage(f"{failed} of {len(done)} series failed; the notes above say why.")


def _errors(record: dict[str, Any]) -> tuple[float | None, str, float | None]:
    """Of what a command found: its error, and the best plain forecast with its own."""
    plain = record.get("plain") or record.get("simple") or {}
    best = min(plain, key=lambda name: plain[name], default="")
    own = record.get("test", (record.get("verdict") or {}).get("error"))
    return own, best, plain.get(best)
