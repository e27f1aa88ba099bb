"""How forecasts and verdicts show themselves: as text, and in a notebook as a table and a picture.

Whatever there is of, a few are shown, and how many more there are. Every name is escaped, and the
picture is an image, so that nothing in the user's data becomes a part of the page.
"""

from __future__ import annotations

import base64
import html
import io
import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import pandas as pd

from echofold._data.arguments import is_integer
from echofold._data.dates import written
from echofold._data.text import count, figure, inflected, label

FEW = 3  # series, or outputs of one, that are shown
ROWS = 12  # of them all together
NOTES = 6
WHOLE = 1e7  # from which on values are shown to their last digit
TABLE = "<table style='margin:0.5em 0'>"


class Line(NamedTuple):
    """One output of one series: its name, ``table`` with a row for each step, and where it is."""

    name: str
    table: pd.DataFrame
    forecast: Any
    output: int


class Shown(NamedTuple):
    """What is shown of a forecast: what it is of, some lines, and the number of others."""

    heading: str
    lines: list[Line]
    more: str


def shown(forecast: Any) -> Shown:
    """The first series of a forecast, or the first outputs of its only one."""
    names = forecast._names()
    if names is None:
        outputs = list(forecast._parts()["forecast"].columns)
        several = len(outputs) > 1
        name = label(getattr(forecast.mean, "name", None) or "")
        of = f"{len(outputs)} outputs" if several else name
        lines = [
            _line(forecast, at, _called(name, "output") if several else "")
            for at, name in enumerate(outputs[:FEW])
        ]
        left_out = inflected(len(outputs) - FEW, "1 more output", "{} more outputs")
        more = left_out if len(outputs) > FEW else ""
    else:
        of = f"{len(names)} series"
        lines = [_line(forecast._of(name), 0, _called(name, "series")) for name in names[:FEW]]
        lines = [line._replace(name=line.name + _first(line)) for line in lines]
        more = f"{len(names) - FEW} more series" if len(names) > FEW else ""
    steps = count(len(lines[0].table), "step")
    return Shown(f"Forecast{of and ' of '}{of}, {steps}", lines, more)


def _called(name: Any, what: str) -> str:
    """A name, or a number with what it counts."""
    return f"{what} {name}" if is_integer(name) else label(name)


def _first(line: Line) -> str:
    """What is said of a series with several outputs, of which one is shown."""
    outputs = line.forecast._parts()["forecast"].shape[1]
    return f", the first of {outputs} outputs" if outputs > 1 else ""


def _line(forecast: Any, output: int, name: str) -> Line:
    """One output of the forecast of one series."""
    parts = forecast._parts()
    table = pd.DataFrame({which: frame.iloc[:, output] for which, frame in parts.items()})
    return Line(name, table, forecast, output)


def _blocks(found: Shown) -> Iterable[tuple[str, list[list[str]]]]:
    """The name of each line and its rows: a label and cells, or one cell for those left out."""
    room = ROWS // len(found.lines)
    for line in found.lines:
        steps = len(line.table)
        cells = [list(map(_cell, row)) for row in line.table.to_numpy(float)]
        names = map(label, written(line.table.index))
        rows = [[name, *row] for name, row in zip(names, cells, strict=True)]
        if steps > room:
            last = room // 3
            left_out = [f"… {count(steps - room, 'more step')} …"]
            rows = [*rows[: room - last], left_out, *rows[-last:]]
        yield line.name, rows


def _cell(value: float) -> str:
    """A value in a table: all digits before the point of one that is large."""
    return f"{value:,.0f}" if WHOLE <= abs(value) < WHOLE**2 else figure(value)


def as_text(forecast: Any) -> str:
    """The heading and the first and last rows, for a terminal."""
    found = shown(forecast)
    table = [["", *found.lines[0].table.columns]]
    for name, rows in _blocks(found):
        table += [[name]] * bool(name) + rows
    widths = [max(map(len, c)) for c in zip(*(r for r in table if len(r) > 1), strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0] if row[1:] else 0), *map(str.rjust, row[1:], widths[1:])])
        for row in table
    ]
    return "\n".join([found.heading, *lines, *([f"and {found.more}"] if found.more else [])])


def forecast_html(forecast: Any) -> str:
    """A forecast in a notebook: heading, picture and table."""
    found = shown(forecast)
    heading = html.escape(found.heading)
    columns = list(found.lines[0].table.columns)
    body = []
    for name, rows in _blocks(found):
        body += [[name]] * bool(name) + rows
    more = f"<div>and {found.more}</div>" if found.more else ""
    return f"<div><b>{heading}</b>{picture(found)}{table_html(['', *columns], body)}{more}</div>"


def table_html(head: list[str], rows: list[list[str]]) -> str:
    """A table of text; a row of one cell goes across."""
    across = f"<tr><td colspan='{len(head)}' style='text-align:left'>{{}}</td></tr>"
    lines = []
    for row in rows:
        first, *cells = map(html.escape, row)
        values = "".join(f"<td style='text-align:right'>{cell}</td>" for cell in cells)
        named = f"<tr><th style='text-align:left'>{first}</th>{values}</tr>"
        lines.append(named if cells else across.format(first))
    names = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join(lines)
    return f"{TABLE}<thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def picture(found: Shown) -> str:
    """The lines as an image, on a figure that pyplot does not know; none without matplotlib."""
    if len(found.lines[0].table) < 2:  # a point is no line
        return ""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return ""

    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # which the font lacks
        matplotlib.rcdefaults()
        several = len(found.lines) > 1
        size = (6.4, 0.6 + 1.7 * len(found.lines)) if several else (6.4, 2.6)
        drawing = Figure(figsize=size, layout="constrained")
        every = drawing.subplots(len(found.lines), squeeze=False)[:, 0]
        for ax, line in zip(every, found.lines, strict=True):
            line.forecast.plot(ax=ax, output=line.output)
            if ax is not every[0]:
                ax.get_legend().remove()
            ax.set_ylabel(line.name, parse_math=False)
        file = io.BytesIO()
        drawing.savefig(file, format="png", dpi=144)
    image = base64.b64encode(file.getvalue()).decode()
    return (
        f"<br><img width='{100 * size[0]:.0f}' style='max-width:100%' "
        f"alt='{html.escape(found.heading)}' "
        f"src='data:image/png;base64,{image}'>"
    )


def verdict_html(model: Any) -> str:
    """A fitted `AutoForecaster` in a notebook: its verdict, what it rests on, and its notes."""
    verdict, members = model.verdict_, model.members_
    head = ["", "weight", f"error ({verdict.metric})"][: 1 + len(members.columns)]
    rows = [
        [name, f"{100 * weight:.0f} %", *map(figure, errors)]
        for name, weight, *errors in members.sort_values("weight", ascending=False).itertuples()
    ]
    if verdict.error is not None and len(head) > 2:
        together = [["all together", "", figure(verdict.together)]]
        plain = [[f"plain: {verdict.best}", "", figure(verdict.best_error)]]
        rows = together + rows + plain
    notes = [html.escape(note) for note in model.notes_[:NOTES]]
    if len(model.notes_) > NOTES:
        notes.append(f"{count(len(model.notes_) - NOTES, 'more note')} in <code>notes_</code>")
    listed = "".join(f"<li>{note}</li>" for note in notes)
    series = getattr(model, "series_", None)
    of = "" if series is None else f", {inflected(len(series), '1 series', '{} series')}"
    return (
        f"<div><code>{html.escape(repr(model))}</code>{of}<br><b>{html.escape(verdict.words)}</b>"
        f"{table_html(head, rows)}" + (f"<ul>{listed}</ul>" if listed else "") + "</div>"
    )
