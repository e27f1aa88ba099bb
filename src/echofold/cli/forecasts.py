"""``echofold forecast --id``: all series of a file in one model, one table and one page."""

from __future__ import annotations

import re
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from echofold._data.dates import Indexes
from echofold._data.sums import check_ids
from echofold._data.text import figure, guarded, inflected, shown
from echofold._machine.files import write_atomically, written_aside
from echofold._machine.progress import before
from echofold._models.forecast import Forecast
from echofold._persistence.save_and_load import save
from echofold._search.panel import begun, errors_of, forecasts_by_name
from echofold._search.totals import fit_totals
from echofold.cli.forecast import REPORT, forecaster_for, records
from echofold.cli.history import tell_history
from echofold.cli.output import Output, as_json, prepare_folder, shortened, table
from echofold.cli.panel import FAILURES, MOST, OF_INPUTS, OF_SERIES, Told
from echofold.cli.reading import BETWEEN, Inputs, Parts, read_inputs, read_series
from echofold.cli.reading.dialect import Dialect
from echofold.cli.reading.excel import workbook_of
from echofold.report import About
from echofold.report._about import forecast_table

OUTPUT = re.compile(r"forecast$|(lower|upper)_\d")  # heads of columns that are written
LONGEST = 40  # characters of a name that are printed
ASKED = 50  # largest series that tell the column of values, if none is named
BLOCK = 1000  # series that are written at a time


def forecast_all(
    parts: Parts, ids: Sequence[str], *, output: Output, horizon: int, out: Path,
    inputs: str | None, columns: tuple[str, ...], season: tuple[int, ...] | None, origins: int,
    file: str, total: str | None = None, **options: Any,
) -> int:  # fmt: skip
    """Forecast the series of ``parts``, tables by what their ``ids`` hold; 1 if some failed.

    ``total`` is how they add up to sums, if they are to.
    """
    if taken := [name for name in ids if OUTPUT.match(name)]:
        raise ValueError(f"--id {taken[0]} is called as a column of forecasts.csv: rename it.")
    if origins:
        raise click.UsageError("--origins repeats one series: name it with --only.")
    if total:
        check_ids({name: _ids_of(name, ids) for name in parts}, ids)
    began = time.perf_counter()
    how = {name: options.pop(name) for name in OF_SERIES}
    names = list(parts)
    workers = begun(options["n_jobs"], len(names))  # load while this process reads
    try:
        series, known, failed = _read(
            parts, file, output, horizon, inputs, columns, {**how, "season": season}
        )
    finally:  # joblib warns of tasks that nobody waits for
        deque(workers, 0)
    if not series:
        raise ValueError(f"none of {len(names)} series can be read: {next(iter(failed.values()))}")
    with output.warnings_as_notes():
        first = next(iter(series.values()))
        model = forecaster_for(first, horizon, output, **options)
        prepare_folder(out)
        output.stage(f"{first.source.rpartition(', ')[0] or first.source}: {len(series):,} series")
        past = {name: one.past for name, one in known.items()} if known else None
        ahead = {name: one.ahead for name, one in known.items()} if known else None
        y, totals = {name: one.values for name, one in series.items()}, None
        del series
        with output.resumable(model.checkpoint), before(REPORT):
            if total:
                each = {name: _ids_of(name, ids) for name in y}
                totals = fit_totals(model, y, each, ids, named, past, ahead, total)
            else:
                model.fit(y, past)
        del y, past
        if totals is None:
            found = forecasts_by_name(model, horizon, ahead, model.level)
        else:
            found, model = totals.by_name, totals.given
    sums = {} if totals is None else totals.sums
    if sums and failed:
        output.note(f"sums are without {inflected(len(failed), '1 series', '{:,} series')} that "
                    "cannot be read.")  # fmt: skip
    paths = [out / "forecasts.csv", out / "index.html"]
    if totals is None:  # errors of sums, by which these are reconciled, are in no file
        paths.append(out / "model.echofold")
        save(model, paths[-1])
    model.failed_ = failed | model.failed_
    there = sums.keys() | model.series_.keys()
    given = {name: one for name, one in found.items() if name in there}
    with written_aside(paths[0]) as opened:
        opened.writelines(in_blocks(given, ids, first.dialect))
    if first.dialect.excel:
        paths.append(out / "forecasts.xlsx")
        write_atomically(paths[-1], workbook_of_all(given, ids))
    title = Path(file).name + ("" if parts.are_columns else f": {first.values.name}")
    about = About(
        title=title, notes=output.notes, X=ahead, forecast=None if totals else found, totals=totals
    )
    model.report(paths[1], about)
    tell_history(paths[1], out / "model.echofold", model)
    for note in [*model.notes_, *([] if totals is None else totals.notes)]:
        output.note(note)
    seconds = time.perf_counter() - began
    if output.as_json:
        click.echo(as_json(_records(model, found, names, known, totals)))
    elif output.quiet:
        output.result("\n".join(map(str, paths)))
    else:
        _show(model, ids, output)
        if totals is not None:
            _show_levels(totals, output)
        output.result("\n".join(f"wrote {path}" for path in paths))
        output.explain(f"{seconds:.1f} s")
    if model.failed_:
        output.stage(f"{len(model.failed_)} of {len(names)} series failed; index.html says why.")
    return int(bool(model.failed_))


def _read(parts, file, output: Output, horizon: int, inputs, columns, how: dict[str, Any]):
    """Series and inputs by name, and why others cannot be read; notes of several are said once."""
    if how["column"] is None and not parts.are_columns:  # parts might each tell another
        largest = sorted(parts, key=lambda name: len(parts.rows[name]))[-ASKED:]
        told = Counter(filter(None, (_column(file, parts[name], columns, how) for name in largest)))
        how = {**how, "column": max(told, key=told.__getitem__, default=None)}
    series: dict[str, Any] = {}
    known: dict[str, Inputs] = {}
    notes, indexes = Told(), Indexes()
    for name in parts:
        own, note = {**how, **parts.told(name)}, notes.about(name)
        given = None
        with notes.stopping_none(name):
            one = read_series(file, note, inputs=columns, table=parts[name], **own)
            beside = {key: own[key] for key in OF_INPUTS}
            given = read_inputs(one, horizon, note, file=inputs, **beside)
            values = one.values.to_numpy(copy=True)  # of its own: not a column beside others
            index = indexes.of(one.values.index)
            series[name] = replace(one, values=pd.Series(values, index, name=one.values.name))
        if given is not None:
            known[name] = given
    parts.forget()
    notes.tell(output)
    _say_spacings(series, output)
    if known and len(known) < len(series):
        lacks = next(name for name in series if name not in known)
        raise ValueError(f"series {shown(lacks)} has no inputs, but others have; give it some.")
    return series, known, notes.failed


def _column(file: str, table: Any, columns: tuple[str, ...], how: dict[str, Any]) -> str | None:
    """The column of values of a series; None if it does not tell."""
    try:
        one = read_series(file, lambda _: None, inputs=columns, table=table, **how)
    except FAILURES:
        return None
    return one.values.name


def _say_spacings(series: dict[str, Any], output: Output) -> None:
    """Say it if dates of some series are further apart than those of others."""
    words = Counter(one.spacing for one in series.values() if one.every is not None)
    if len(words) > 1:
        each = ", ".join(f"{count:,} are {spacing}" for spacing, count in words.most_common())
        output.note(f"series have different spacings: {each}.")


def workbook_of_all(found: dict[str, Forecast], ids: Sequence[str]) -> bytes:
    """The same as a sheet."""
    frames, indexes = [], []
    for name, one in found.items():
        table = forecast_table(one)
        for place, (column, of) in enumerate(zip(ids, _ids_of(name, ids), strict=True)):
            table.insert(place, column, of)
        frames.append(table)
        indexes.append(pd.Index(one.mean.index))
    whole = pd.concat([one.set_axis(frames[0].columns, axis=1) for one in frames])
    return workbook_of(whole, indexes[0].append(indexes[1:]), len(ids))


def in_blocks(found: dict[str, Forecast], ids: Sequence[str], dialect: Dialect) -> Iterator[bytes]:
    """All forecasts below each other, with a column for each id, as text; some series at a time."""
    often = Counter(one.mean.index.name for one in found.values()).most_common(1)[0][0]
    usual = next(one for one in found.values() if one.mean.index.name == often)
    heads = [*map(guarded, forecast_table(usual).columns)]  # of some, dates are numbers of rows
    names = list(found)
    for first in range(0, len(names), BLOCK):
        block = {name: found[name] for name in names[first : first + BLOCK]}
        whole = pd.DataFrame(np.concatenate([*map(_columns, block.values())]), columns=heads[1:])
        steps = [step for one in block.values() for step in dialect.written(one.mean.index)]
        whole.insert(0, heads[0], steps)
        own = [name for name, one in block.items() for _ in range(len(one.mean))]
        each = [_ids_of(name, ids) for name in own]
        for place, column in enumerate(ids):
            whole.insert(place, guarded(column), [guarded(one[place]) for one in each])
        yield dialect.csv(whole, header=not first)


def _columns(one: Forecast) -> np.ndarray:
    """A forecast and the ends of its intervals, beside each other as `forecast_table` has them."""
    ends = [end[level] for level in one.lower for end in (one.lower, one.upper)]
    return np.column_stack([one.mean, *ends]).astype(float)


def named(ids: Iterable[Any]) -> str:
    """The name of a series by its ids."""
    return BETWEEN.join(map(str, ids))


def _ids_of(name: str, ids: Sequence[str]) -> tuple[str, ...]:
    """What each id of a series holds."""
    return tuple(name.split(BETWEEN)) if len(ids) > 1 else (name,)


def _records(
    model: Any, ahead: dict[str, Forecast], names, known, totals: Any
) -> list[dict[str, Any]]:
    """What was found, a record for each series; those of sums are first, and tell their levels."""
    found: list[dict[str, Any]] = []
    ones, errors = dict(model.series_), model.errors_["forecast"]
    levels: dict[Any, str] = {}
    if totals is not None:
        ones, levels, names = {**totals.sums, **ones}, totals.levels, [*totals.sums, *names]
        own = errors_of(totals.sums.values())["forecast"]
        errors = pd.concat([own.set_axis(list(totals.sums)), errors])
    for name in names:
        level = {"level": levels[name]} if name in levels else {}
        wrong = {"error": model.failed_[name]} if name in model.failed_ else {}
        if name not in ones:
            found.append({"id": name, **wrong})
            continue
        one = ones[name]
        found.append({
            "id": name, **level, **wrong, "values": one.rows_, "seasons": one.seasons_,
            "inputs": known[name].names if name in known else [], "verdict": one.verdict_.words,
            "error_in_mean_changes": errors[name],
            "members": one.members_["weight"].to_dict(),
            "forecast": records(forecast_table(ahead[name])),
        })  # fmt: skip
    return found


def _show(model: Any, ids: Sequence[str], output: Output) -> None:
    """The verdict, and the series with the largest and the smallest errors."""
    output.explain(f"\n{model.verdict_.words}")
    errors = model.errors_.sort_values("forecast", ascending=False)
    plain, own = errors.drop(columns="forecast"), errors["forecast"].tolist()
    rows = []
    for name, error, each in zip(errors.index, own, plain.to_numpy(), strict=True):
        there = not np.isnan(each).all()
        least, best = (np.nanmin(each), plain.columns[np.nanargmin(each)]) if there else (None, "")
        figures = figure(error), figure(least) if there else ""
        rows.append([f"{str(name):.{LONGEST}}", *figures, best])
    columns = [BETWEEN.join(ids), "error", "plain", "by"]
    output.result(f"\n{table(columns, shortened(rows, MOST))}\n")
    output.explain(
        "Errors are mean absolute errors on past stretches, in units of each series' mean change "
        "over a season; plain: of the best plain forecast of that series on the same ones."
    )


def _show_levels(totals: Any, output: Output) -> None:
    """Errors of each level, as forecast alone and as they add up."""
    rows = [
        [f"{level!s:.{LONGEST}}", f"{int(one['series']):,}", *map(figure, one.iloc[1:])]
        for level, one in totals.errors.iterrows()
    ]
    output.result(f"\n{table(['level', 'series', 'alone', 'reconciled'], rows)}\n")
