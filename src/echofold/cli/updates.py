"""``echofold update`` of a model of several series: each moved on and compared, all judged."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import click
import pandas as pd

from echofold._data.text import figure, inflected, listed
from echofold._machine.files import write_atomically
from echofold._models.forecast import Forecast
from echofold._search.panel import look_ahead, unit_of
from echofold.cli.forecast import records
from echofold.cli.forecasts import LONGEST, in_blocks, named, workbook_of_all
from echofold.cli.history import (
    Judgement,
    ended,
    history_of,
    judged,
    judged_by,
    mark_of,
    of_one,
    read_history,
    record_of_all,
    tell_report,
)
from echofold.cli.output import Output, prepare_folder, shortened, table
from echofold.cli.panel import COLUMN, MOST, Told, parts_by_id
from echofold.cli.reading import Inputs, Parts, read_table, tables_by_column
from echofold.cli.reading.dialect import Dialect
from echofold.cli.update import (
    compared,
    following,
    forecast_next,
    horizon_of,
    inputs_for,
    keep,
    say_revised,
    series_on,
    show_updates,
    stand_of,
    with_model,
    written_anew,
)
from echofold.report._about import forecast_table
from echofold.report._updates import page_of_all


class Came(NamedTuple):
    """What a file holds of each series by name: what is new, inputs known; and how it is written.

    And why some could not be read.
    """

    new: dict[str, pd.Series]
    inputs: dict[str, Inputs]
    failed: dict[str, str]
    dialect: Dialect


def update_all(
    model: Any, place: Path, file: str, *, horizon: int | None, out: Path | None, learn: bool,
    inputs: str | None, column: tuple[str, ...], columns: tuple[str, ...], output: Output,
    **how: Any,
) -> int:  # fmt: skip
    """Move every series of a model on over what is new of it; 1 if that failed for some."""
    began, horizon, mark = time.perf_counter(), horizon_of(model, horizon), mark_of(model)
    with output.warnings_as_notes():
        known, ones = read_history(history_of(place)), _by_name(model)
        parts, ids = _parts(file, ones, column, how, output)
        how["column"] = column[0] if len(column) == 1 else None
        came = _read(ones, parts, file, known, horizon, inputs, columns, how, output)
        known = ended(known, mark, _rows(model))
        look_ahead(model, horizon)
        if came.new:
            known.append(_moved(model, came, horizon, mark))
            look_ahead(model, horizon)
        ahead = {
            name: forecast_next(one, horizon, came.inputs[name].ahead if one.X_schema_ else None)
            for name, one in _by_name(model).items()
            if one.X_schema_ is None or name in came.inputs
        }
        if came.new:
            keep(model, place, known)
    ranked = _ranked(ones, [one for one in known if one["model"] == mark])
    judgement, folder = judged_by(mark, known), place.parent if out is None else out
    prepare_folder(folder)
    tables = {name: forecast_table(one) for name, one in ahead.items()}
    found, made = _write(folder, came, ids, ahead, tables, known, ranked, judgement)
    made += tell_report(folder / "index.html", judgement.words) if out is None else []
    files, made = with_model(place, found, made, bool(came.new))
    content = {
        "model": str(place),
        "source": Path(file).name,
        "series": _told(came, ranked, tables),
        "new": sum(map(len, came.new.values())),
        "stands_at": _stand(model),
        "compared": {**known[-1], "series": len(came.new)} if came.new else None,
        "updates": len(known),
        "judgement": judgement.as_json(),
        "losing": [name for name, one in ranked.items() if one.losing],
        "files": files,
        "seconds": time.perf_counter() - began,
    }
    _show(content, known, ranked, made, output)
    output.json(content)
    return int(bool(came.failed))


def _moved(model: Any, came: Came, horizon: int, mark: str) -> dict[str, Any]:
    """Compare what came with what was forecast, and move the model on; the record of all."""
    ones, each, units = _by_name(model), {}, {}
    names = dict(zip(ones, model.series_, strict=True))
    for name, values in came.new.items():
        each[name] = compared(ones[name], values, horizon, came.inputs.get(name))
        units[name] = unit_of(ones[name], ones[name].values_)
    record = record_of_all(mark, _rows(model), _stand(model), each, units)
    past = {names[name]: one.past for name, one in came.inputs.items() if name in came.new}
    model.update({names[name]: one for name, one in came.new.items()}, past or None)
    return record


def _told(
    came: Came, ranked: dict[str, Judgement], tables: dict[str, pd.DataFrame]
) -> list[dict[str, Any]]:
    """What is told of each series; which are losing is said of all in one list."""
    return [
        {
            "id": name,
            "new": len(came.new.get(name, ())),
            **({"error": came.failed[name]} if name in came.failed else {}),
            "judgement": {key: of for key, of in one.as_json().items() if key != "losing"},
            "forecast": records(tables[name]) if name in tables else [],
        }
        for name, one in ranked.items()
    ]


def _rows(model: Any) -> int:
    """Rows that all series have seen."""
    return sum(one.timeline_.rows for one in model.series_.values())


def _by_name(model: Any) -> dict[str, Any]:
    """The forecaster of each series by its name in a file."""
    return {
        named(name) if isinstance(name, tuple) else str(name): one
        for name, one in model.series_.items()
    }


def _stand(model: Any) -> str:
    """Where most of the series stand."""
    return Counter(map(stand_of, model.series_.values())).most_common(1)[0][0]


def _parts(
    file: str, ones: dict[str, Any], column: tuple[str, ...], how: dict[str, Any], output: Output
) -> tuple[Parts, tuple[str, ...]]:
    """The tables of all series of a file, and what their ids are called."""
    if how["only"] is not None:
        raise click.UsageError("--only takes one series, and a model of several moves all of them.")
    table = read_table(file, how["decimal"], output.note, how["sheet"])
    if how["id"]:
        given = {**how, "column": next(iter(column), None)}
        parts, ids = parts_by_id(table, given, output), how["id"]
    else:
        there = column if len(column) > 1 else [name for name in ones if name in table.frame]
        if not there:
            raise ValueError(
                f"the model has {len(ones):,} series, {listed(list(ones)[:3])} first: name the "
                f"column of {table.name} that tells them apart with --id, as for the forecast."
            )
        parts, ids = tables_by_column(table, there), (COLUMN,)
    if not any(name in parts for name in ones):
        raise ValueError(
            f"{table.name} holds none of the {len(ones):,} series of the model, "
            f"{listed(list(ones)[:3])} first, but {listed(list(parts)[:3])}."
        )
    others = [name for name in parts if name not in ones]
    if others and not parts.are_columns:
        more = inflected(len(others), "1 series", "{:,} series")
        output.note(f"{more} of {table.name}, {listed(others[:3])} first, the model does not know: "
                    "forecast again to take them in.")  # fmt: skip
    if absent := [name for name in ones if name not in parts]:
        more = inflected(len(absent), "1 series", "{:,} series")
        output.note(f"{more} of the model, {listed(absent[:3])} first, {table.name} does not hold.")
    return parts, ids


def _read(
    ones: dict[str, Any], parts: Parts, file: str, known: list[dict[str, Any]], horizon: int,
    inputs: str | None, columns: tuple[str, ...], how: dict[str, Any], output: Output,
) -> Came:  # fmt: skip
    """What is new of every series that a file holds; those that cannot be read fail alone."""
    new, given, notes, dialects = {}, {}, Told(), []
    for name, one in ones.items():
        if name not in parts:
            continue
        note, own = notes.about(name), {**how, **parts.told(name)}
        with notes.stopping_none(name):
            series = series_on(one, parts[name], file, own, columns, note)
            truth = [each["truth"] for each in of_one(known, name)]
            values = following(one, series, truth, file)
            say_revised(one, series.values, note)
            beside = inputs_for(one, series, values, horizon, inputs, own, note)
            dialects.append(series.dialect)
            if len(values):
                new[name] = values
            if beside is not None:
                given[name] = beside
    parts.forget()
    notes.tell(output)
    if not dialects:
        raise ValueError(f"none of the series can be moved on: {next(iter(notes.failed.values()))}")
    return Came(new, given, notes.failed, dialects[0])


def _ranked(ones: dict[str, Any], known: list[dict[str, Any]]) -> dict[str, Judgement]:
    """How each series has done of late: those that are losing first, the largest errors first."""
    found = {name: judged(of_one(known, name), plainly=False) for name in ones}

    def worse(name: str) -> tuple[bool, float]:
        one = found[name]
        return one.losing, (one.error or 0.0) / (one.expected or 1.0)

    return {name: found[name] for name in sorted(found, key=worse, reverse=True)}


def _write(
    folder: Path, came: Came, ids: tuple[str, ...], ahead: dict[str, Forecast],
    tables: dict[str, pd.DataFrame], known: list[dict[str, Any]], ranked: dict[str, Judgement],
    told: Judgement,
) -> tuple[dict[str, str], list[str]]:  # fmt: skip
    """Files of forecasts and the page by name, and those that were not there as they should be."""
    each = {
        name: (of_one(known, name), one, tables[name])
        for name, one in ranked.items()
        if name in tables
    }
    page = page_of_all(f"{len(ranked):,} series", known, told.words, each, came.failed)
    found = {"updates": (folder / "updates.html", page.encode())}
    if ahead:
        text = b"".join(in_blocks(ahead, ids, came.dialect))
        found["forecast"] = folder / "forecasts.csv", text
    made = written_anew(found.values())
    files = {name: str(path) for name, (path, _) in found.items()}
    if came.dialect.excel and ahead:  # which holds the time at which it was made
        book = folder / "forecasts.xlsx"
        files["workbook"] = str(book)
        if made or not book.exists():
            made.append(str(write_atomically(book, workbook_of_all(ahead, ids))))
    return files, made


def _show(
    content: dict[str, Any], known: list[dict[str, Any]], ranked: dict[str, Judgement],
    made: list[str], output: Output,
) -> None:  # fmt: skip
    """Print what came of an update; only the paths when quiet."""
    if output.quiet:
        output.result("\n".join(content["files"].values()))
        return
    moved = sum(one["new"] > 0 for one in content["series"])
    if moved:
        new = inflected(content["new"], "1 new value", "{:,} new values")
        output.explain(
            f"{new} of {moved:,} of {len(ranked):,} series: most stand at {content['stands_at']} "
            "now."
        )
    else:
        output.explain(
            f"Nothing new in {content['source']}: most series stand at {content['stands_at']}."
        )
    units = ", in units of each series' mean change over a season"
    show_updates(known, content["judgement"]["words"], "steps", units, output)
    rows = []
    for name, one in ranked.items():
        figures = map(figure, (one.error, one.expected, one.plain))
        losing = "losing" if one.losing else ""
        rows.append([f"{name:.{LONGEST}}", str(one.compared), *figures, losing])
    columns = ["series", "values", "error", "expected", "plain", ""]
    output.result(f"{table(columns, shortened(rows, MOST))}\n")
    if content["losing"]:
        some = inflected(len(content["losing"]), "1 series is", "{:,} series are")
        output.explain(f"{some} losing: forecast again.")
    output.result("\n".join(f"wrote {path}" for path in made))
