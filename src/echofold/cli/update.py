"""``echofold update``: what came is compared with what was forecast, and the model moves on."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from echofold import baselines
from echofold._data.dates import written
from echofold._data.text import Note, count, figure, guarded, inflected, shown
from echofold._machine.files import write_atomically
from echofold._models.forecast import Forecast
from echofold._persistence.save_and_load import load, save
from echofold.cli.forecast import records
from echofold.cli.history import (
    Judgement,
    ended,
    history_of,
    judged_by,
    mark_of,
    read_history,
    record_of,
    tell_report,
    write_history,
)
from echofold.cli.output import Output, prepare_folder, shortened, table
from echofold.cli.panel import OF_INPUTS
from echofold.cli.reading import (
    FileSeries,
    FileTable,
    Inputs,
    known_inputs,
    one_of,
    read_series,
    read_table,
)
from echofold.cli.reading.excel import workbook_of
from echofold.report._about import forecast_table
from echofold.report._updates import page_of

SHOWN = 12  # updates, and steps, that are printed
UNCLEAR = "could be read with the"  # day or month first, is said of dates
NUMBERS = ("%Y", "%Y%m", "%Y%m%d")
ORDERS = [
    f"{order}{time}".replace("-", mark)
    for mark in "/.-"
    for year in "Yy"
    for order in (f"%d-%m-%{year}", f"%m-%d-%{year}")
    for time in ("", " %H:%M", " %H:%M:%S")
]
MOST = 1000  # steps beyond the rows of a file that its dates may reach
APART = 2  # steps that may be missing between a model and a file that begins after it


def update_one(
    model: Any, place: Path, file: str, *, horizon: int | None, out: Path | None, learn: bool,
    inputs: str | None, column: tuple[str, ...], columns: tuple[str, ...], output: Output,
    **how: Any,
) -> int:  # fmt: skip
    """Move the model of a file on over what is new in another, and tell how it did."""
    began = time.perf_counter()
    if len(column) > 1 or (how["id"] and how["only"] is None):
        raise click.UsageError(
            f"{place.name} holds a model of one series: name that with "
            f"{'one --column' if len(column) > 1 else '--only'}."
        )
    how["column"], horizon = next(iter(column), None), horizon_of(model, horizon)
    with output.warnings_as_notes():
        known = read_history(history_of(place))
        table = read_table(file, how["decimal"], output.note, how["sheet"])  # it may be a pipe
        if how["id"]:
            table = one_of(table, how["id"], how["only"], how["date_format"], output.note)
        series = series_on(model, table, file, how, columns, output.note)
        new = following(model, series, [one["truth"] for one in known], file)
        say_revised(model, series.values, output.note)
        given = inputs_for(model, series, new, horizon, inputs, how, output.note)
        known = ended(known, mark_of(model), model.timeline_.rows)
        if len(new):
            known.append(compared(model, new, horizon, given))
            learned = {} if given is None else {"X": given.past}
            (model.partial_fit if learn else model.update)(new, **learned)
        ahead = forecast_next(model, horizon, None if given is None else given.ahead)
        if len(new):
            keep(model, place, known, **({"learning": True} if learn else {}))
    judgement = judged_by(mark_of(model), known)
    folder = place.parent if out is None else out
    prepare_folder(folder)
    found, made = _write(folder, series, ahead, known, judgement)
    made += tell_report(folder / "report.html", judgement.words) if out is None else []
    files, made = with_model(place, found, made, bool(len(new)))
    content = {
        "model": str(place),
        "source": series.source,
        "column": series.values.name,
        "new": len(new),
        "stands_at": stand_of(model),
        "compared": known[-1] if len(new) else None,
        "updates": len(known),
        "judgement": judgement.as_json(),
        "forecast": records(forecast_table(ahead)),
        "files": files,
        "seconds": time.perf_counter() - began,
    }
    _show(content, known, ahead, made, output)
    output.json(content)
    return 0


def keep(model: Any, place: Path, known: list[dict[str, Any]], **how: Any) -> None:
    """Write the history and the model.

    The history is first: a record of an update that did not end is made again.
    """
    write_history(history_of(place), known)
    save(model, place, **how)


def with_model(
    place: Path, found: dict[str, str], made: list[str], moved: bool
) -> tuple[dict[str, str], list[str]]:
    """Files by name, and those that were written, with the model and its history first."""
    beside = {"model": place, "history": history_of(place)}
    files = {name: str(one) for name, one in beside.items() if one.exists()} | found
    return files, [*map(str, beside.values()), *made] if moved else made


def written_anew(files: Iterable[tuple[Path, bytes]]) -> list[str]:
    """Write those files that are not there as they should be; their paths."""
    changed = [
        (path, content)
        for path, content in files
        if not path.exists() or path.read_bytes() != content
    ]
    return [str(write_atomically(path, content)) for path, content in changed]


def model_in(path: Path, learn: bool) -> Any:
    """The forecaster in a file, of one series or of several."""
    model = load(path)
    if not hasattr(model, "update") or not hasattr(model, "forecast"):
        kind = type(model).__name__
        raise ValueError(f"{path.name} holds an {kind}, which forecasts nothing that could come.")
    several = getattr(model, "series_", {})
    if several and not hasattr(model, "failed_"):
        raise ValueError(
            f"{path.name} holds one network of {len(several)} series, and update moves on those of "
            "an AutoForecaster: in Python, model.update({name: values, ...}) moves these."
        )
    lines = [one.timeline_ for one in several.values() or [model]]
    if any(line is None or line.kind == "rows" for line in lines):
        raise ValueError(
            f"{path.name} was fitted to data without dates that go on, so it cannot be told what "
            "is new: fit it to a pandas series, or use model.update(values) in Python."
        )
    if learn and getattr(getattr(model, "learning_", None), "rows", None) is None:
        raise ValueError(
            f"--learn: {path.name} cannot learn on. An ESNForecaster can, saved with save(model, "
            "path, learning=True); leave --learn out to move on without learning."
        )
    return model


def horizon_of(model: Any, asked: int | None) -> int:
    """Steps that are forecast: as asked for, or as the model was made for."""
    if asked is not None:
        return asked
    own = getattr(model, "horizon", None)
    if own is None and getattr(model, "residuals_", None) is not None:
        own = model.residuals_.shape[1]
    if own is None:
        raise ValueError("the model does not tell how many steps it is for: give --horizon.")
    return int(own)


def series_on(
    model: Any, table: FileTable, file: str, how: dict[str, Any], columns: Any, note: Note
) -> FileSeries:
    """The series of a table, on the grid of the model's; its columns are found by their names."""
    line, named = model.timeline_, model.y_schema_.names
    dated = line.kind == "dates"
    if how["column"] is None and named is not None and str(named[0]) in table.frame.columns:
        how = {**how, "column": str(named[0])}
    if how["date"] is None and dated and line.name in table.frame.columns:
        how = {**how, "date": line.name}
    every = line.step.freqstr if dated else None

    def read(form: str | None) -> tuple[FileSeries, list[str]]:
        said: list[str] = []
        fresh = replace(table, frame=table.frame.copy(), read={})
        asked = {**how, "date_format": form, "every": every, "table": fresh}
        return read_series(file, said.append, season=None, inputs=columns, **asked), said

    series, said = read(how["date_format"])
    for form in NUMBERS if dated and how["date_format"] is None else ():
        if not isinstance(series.values.index, pd.DatetimeIndex):  # a single one is no date yet
            with suppress(ValueError):
                series, said = read(form)
    if dated and not isinstance(series.values.index, pd.DatetimeIndex):
        raise ValueError(
            f"the model stands at {stand_of(model)}, but {file} has no dates that could be read: "
            "add them, or name their column with --date."
        )
    if dated and any(UNCLEAR in words for words in said):  # the model knows what comes next
        following = line.following(1)[0]
        for form in ORDERS if following not in series.values.index else ():
            with suppress(ValueError):
                other, words = read(form)
                if following in other.values.index:
                    told = f"dates are read as {form}, by which they go on where the model stands."
                    series, said = other, [*words, told]
    for sentence in said:
        note(sentence)
    return series


def inputs_for(
    model: Any, series: FileSeries, new: pd.Series, horizon: int, file: str | None,
    how: dict[str, Any], note: Note,
) -> Inputs | None:  # fmt: skip
    """Inputs known in advance, of what is new and of what is forecast; None without any."""
    if model.X_schema_ is None:
        return None
    whole = FileSeries(series.source, new, series.every, beside=series.beside)
    dates = model.timeline_.following(len(new) + horizon)
    own = {name: how[name] for name in OF_INPUTS}
    both = known_inputs(whole, dates, model.X_schema_.names, note, file=file, **own)
    return Inputs(both.iloc[: len(new)], both.iloc[len(new) :])


def following(model: Any, series: FileSeries, before: list[Any], file: str) -> pd.Series:
    """The values of a file that come after those that the model has seen, with its index.

    Dates tell what is new; without these, the values that the model has seen last, where the file
    holds them, or those that updates ``before`` came with. Steps between that the file lacks are
    missing.
    """
    line, values = model.timeline_, series.values
    if line.kind != "dates":
        seen = _seen(model, before)
        new = values.to_numpy()[_after(seen, values.to_numpy()) :]
        return pd.Series(new, line.following(len(new)), name=values.name)
    new = values[values.index > line.last].dropna()
    if not len(new):
        return pd.Series(np.zeros(0), line.following(0), name=values.name)
    index = line.following(1)
    while index[-1] < new.index[-1] and len(index) < MOST + 2 * len(values):
        index = line.following(2 * len(index))
    index = index[index <= new.index[-1]]
    apart = values.index[0] > line.last and int(index.searchsorted(new.index[0])) > APART
    if apart or not new.index.isin(index).all():
        first = written(new.index[:1])[0]
        raise ValueError(
            f"{file} goes on at {first}, but the model stands at {stand_of(model)}, and "
            f"{written(line.following(1))[0]} comes next: give the rows between as well, each a "
            "step apart."
        )
    return new.reindex(index)


def stand_of(model: Any) -> str:
    """The date, or the number of the row, that a model stands at."""
    return written(pd.Index([model.timeline_.last]))[0]


def say_revised(model: Any, values: pd.Series, note: Note) -> None:
    """Say if a file has other values for times that a model has seen already."""
    line = model.timeline_
    if line.kind != "dates" or not hasattr(model, "values_"):
        return
    before = values[values.index <= line.last].to_numpy()
    if not len(before) or values.index[len(before) - 1] != line.last:
        return
    rows = min(len(before), len(model.values_))
    seen, now = model.values_[-rows:], before[-rows:]
    there = np.isfinite(seen) & np.isfinite(now)
    other = int((~np.isclose(seen, now, rtol=1e-9, atol=0)[there]).sum())
    if other:
        note(
            f"{inflected(other, '1 value is', '{} values are')} different from what the model has "
            "seen; it stays with that: search again if it matters."
        )


def _seen(model: Any, before: list[Any]) -> np.ndarray:
    """The last values that a model has seen, as far as it or its history knows."""
    if hasattr(model, "values_"):
        return model.values_
    values = [one for each in before for one in each]
    return np.array([np.nan if one is None else one for one in values], dtype=float)


def _after(seen: np.ndarray, values: np.ndarray) -> int:
    """The first row of ``values`` after those that were seen last; 0 if none of them were.

    Examples
    --------
    >>> import numpy as np
    >>> seen = np.array([1.0, 2.0, 3.0, 4.0])
    >>> _after(seen, np.array([1.0, 2.0, 3.0, 4.0, 5.0])), _after(seen, np.array([4.0, 5.0]))
    (4, 0)
    >>> _after(seen, np.array([3.0, 4.0])), _after(seen, np.array([5.0, 6.0]))
    (2, 0)
    """
    for end in range(len(values), 1, -1):
        same = min(end, len(seen))
        if np.array_equal(values[end - same : end], seen[len(seen) - same :], equal_nan=True):
            return end if same > 1 else 0
    return 1 if len(values) == 1 and len(seen) and values[0] == seen[-1] else 0


def forecast_next(model: Any, horizon: int, X: Any) -> Forecast:
    """The next values, with intervals where errors of the past are known."""
    if getattr(model, "residuals_", None) is None:
        return Forecast(model.forecast(horizon, X=X), {}, {})
    level = getattr(model, "level", (0.5, 0.9))
    return model.forecast(horizon, X=X, level=level)


def compared(model: Any, new: pd.Series, horizon: int, given: Any) -> dict[str, Any]:
    """What was forecast before ``new`` came, beside it."""
    X = None
    if given is not None:
        X = pd.concat([given.past, given.ahead]).iloc[:horizon]
    ahead = forecast_next(model, horizon, X)
    errors = getattr(model, "residuals_", None)
    expected = np.full(horizon, np.nan)
    if errors is not None:
        finite = np.where(np.isfinite(errors[:, :, 0]), np.abs(errors[:, :, 0]), np.nan)
        there = ~np.isnan(finite).all(axis=0)
        if there.any():
            by_step = np.nanmean(finite[:, there], axis=0)
            expected = by_step[np.minimum(np.arange(horizon), len(by_step) - 1)]
    plain, seasons = None, getattr(model, "seasons_", ())
    best = getattr(getattr(model, "verdict_", None), "best", None)
    if best is not None and best in baselines.suiting(seasons):
        plain = best, baselines.suiting(seasons)[best](model.values_, horizon)
    times = written(ahead.mean.index)
    truth = new.to_numpy(dtype=float)
    mark, rows = mark_of(model), model.timeline_.rows
    return record_of(mark, rows, stand_of(model), times, ahead, truth, plain, expected)


def _write(
    folder: Path, series: FileSeries, ahead: Forecast, known: list, told: Judgement
) -> tuple[dict[str, str], list[str]]:
    """Files of forecasts and the page by name, and those that were not there as they should be."""
    frame, index = forecast_table(ahead), ahead.mean.index
    page = page_of(str(series.values.name), known, told.words, frame)
    found = {"updates": (folder / "updates.html", page.encode())}
    dated = frame.copy()
    frame[frame.columns[0]] = series.dialect.written(index)
    text = series.dialect.csv(frame.rename(columns=guarded))
    found["forecast"] = folder / "forecast.csv", text
    made = written_anew(found.values())
    files = {name: str(path) for name, (path, _) in found.items()}
    if series.dialect.excel:  # which holds the time at which it was made
        book = folder / "forecast.xlsx"
        files["workbook"] = str(book)
        if made or not book.exists():
            made.append(str(write_atomically(book, workbook_of(dated, index, 0))))
    return files, made


def _show(
    content: dict[str, Any], known: list, ahead: Forecast, made: list[str], output: Output
) -> None:
    """Print what came of an update; only the paths when quiet."""
    if output.quiet:
        output.result("\n".join(content["files"].values()))
        return
    if content["new"]:
        came = f"{count(content['new'], 'new value')} of {shown(content['column'])}"
        output.explain(f"{came}: the model stands at {content['stands_at']} now.")
    else:
        output.explain(
            f"Nothing new in {content['source']}: the model stands at {content['stands_at']}."
        )
    show_updates(known, content["judgement"]["words"], "values", "", output)
    frame = forecast_table(ahead)
    lines = [[row[0], *map(figure, row[1:])] for row in frame.itertuples(index=False)]
    output.result(f"{table(list(frame.columns), shortened(lines, SHOWN))}\n")
    output.result("\n".join(f"wrote {path}" for path in made))


def show_updates(known: list, words: str, what: str, units: str, output: Output) -> None:
    """Print how a model has done."""
    output.explain(f"\n{words}")
    if known:
        columns = ["after", what, "error", "expected", "plain", "inside"]
        output.result(f"\n{table(columns, shortened([row_of(one) for one in known], SHOWN))}\n")
        output.explain(
            f"Errors are mean absolute ones of the forecast made after each date{units}; expected: "
            "those of forecasts of past stretches; plain: of the best plain forecast; inside: the "
            "widest interval.\n"
        )


def row_of(one: dict[str, Any]) -> list[str]:
    """A record as a row of a table."""
    inside, plain = one["inside"], one["plain"] and one["plain"]["error"]
    share = inside[max(inside, key=float)] if inside else None
    errors = map(figure, (one["error"], one["expected"], plain))
    return [
        one["after"], str(one["compared"]), *errors, "–" if share is None else f"{share:.0%}"
    ]  # fmt: skip
