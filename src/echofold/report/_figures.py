"""The pictures of a report, by section, as SVG that stands inside a page.

SVG takes its colours from the page's style.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations, cycle
from typing import Any

import numpy as np

from echofold import plots
from echofold._data.problem import FORECASTING, Task
from echofold._data.tables import Table, write
from echofold._search.verdict import short_name
from echofold.plots import _style as style
from echofold.plots._scores import scores_of
from echofold.plots._series import (
    ValidationOutputs,
    column_name,
    continued,
    given_series,
    label_time,
    outputs_over_series,
    positions,
)
from echofold.report._about import Ahead
from echofold.report._details import given_sequences
from echofold.report._lead import OUTPUTS, pairs, recognised

HALF, WIDE, NARROW = (4.8, 3.3), (10.4, 3.4), (4.7, 3.1)
SECTIONS = ("forecast", "past", "validation", "data", "search", "splits")
SCHEMES = 6  # schemes drawn at most
EXCERPT = 600  # rows of a regression that are looked at closely
TEXT = "#262626"
# Colours of the drawings and the variables of the style sheet that stand for them.
COLOURS = {TEXT: "ink", style.INK: "series"} | {
    getattr(style, name.upper()): name
    for name in ("pale", "blue", "vermilion", "green", "purple", "orange", "sky")
}
SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: small, searchable, and in the reader's font
    "font.size": 10,
    "axes.linewidth": 0.7,
    "path.simplify": False,  # the plots thin long lines themselves
    "savefig.dpi": 200,  # of clouds of points, which are images inside
} | dict.fromkeys(
    ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), TEXT
)


@dataclass(frozen=True)
class Picture:
    """What ``plot(ax=…)`` draws, with a caption; a wide one is drawn for narrow screens as well."""

    section: str
    kind: str
    title: str
    caption: str
    plot: Callable[..., Any]
    wide: bool = False

    def drawn(self, number: int) -> dict[str, Any]:
        """What the page shows."""
        from markupsafe import Markup

        name = f"{self.kind}{number}"
        found = {"name": name, "title": self.title, "caption": self.caption, "narrow": None}
        found["svg"] = Markup(svg(self.plot, WIDE if self.wide else HALF, name, self.title))
        if self.wide:
            found["narrow"] = Markup(svg(self.plot, NARROW, f"{name}n", self.title))
        return found


def pictures_of(
    search: Any, ahead: Ahead | None, validation: ValidationOutputs | None
) -> dict[str, list[dict[str, Any]]]:
    """All pictures, by section: of a forecast, and of a search if there is one."""
    sections: dict[str, list[dict[str, Any]]] = {name: [] for name in SECTIONS}
    for number, picture in enumerate(_pictures(search, ahead, validation), 1):
        sections[picture.section].append(picture.drawn(number))
    return sections


def _pictures(
    search: Any, ahead: Ahead | None, validation: ValidationOutputs | None
) -> Iterator[Picture]:
    """All of them, in the order in which they are numbered."""
    if ahead is not None:
        yield from _forecasts(ahead)
        if len(ahead.past.rows):
            yield from _over_series("past", FORECASTING, ahead.table, ahead.past)
        if validation is not None and validation.rows.shape[1] > 1:
            plot = partial(plots.error_by_step, search)
            words = (
                "How the validation forecasts of the winner lose track, in the units of the data."
            )
            yield Picture("validation", "steps", "Error by steps ahead", words, plot)
        yield from _columns_drawn(ahead.table)
    if search is None or validation is None:
        return
    task = search._task
    if task.labels:
        yield _confusion(search, recognised(search, validation))
    elif ahead is None:
        yield from _against(search, validation)
    if ahead is None and task.ordered:
        yield from _over_series("validation", task, given_series(search), validation)
    # A recipe has two values of most hyper-parameters, which make no surface.
    yield from _candidates(search, surfaces=ahead is None or not ahead.members)
    yield from _agreement(search)
    if task.labels:
        yield _examples(search)
    elif ahead is None:
        yield from _columns_drawn(given_series(search))
    yield from _splits(search)


def svg(plot: Callable[..., Any], size: tuple[float, float], name: str, label: str) -> str:
    """What ``plot(ax=…)`` draws at a ``size`` in inches; ``name`` makes its ids unique."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        # Characters that matplotlib's font lacks: the reader's will have them.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        matplotlib.rcdefaults()
        settings: Any = SETTINGS | {"svg.hashsalt": name}
        matplotlib.rcParams.update(settings)
        figure = Figure(figsize=size, layout="constrained")
        plot(ax=figure.subplots())
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True)
    return _inline(written.getvalue(), name, label)


def _inline(text: str, name: str, label: str) -> str:
    """The bare element, with unique ids and the page's colours."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style .*?</style>", "", text, flags=re.DOTALL)
    head, rest = text.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    rest = re.sub(r'\bid="', f'id="{name}-', rest)
    rest = re.sub(r'href="#|url\(#', lambda match: f"{match[0]}{name}-", rest)
    for colour, variable in COLOURS.items():
        rest = re.sub(rf"(?<=: ){colour}\b", f"var(--{variable})", rest, flags=re.IGNORECASE)

    def rounded(path: re.Match) -> str:  # to what is finer than any screen
        numbers = re.sub(r"-?\d+\.\d{3,}", lambda n: f"{float(n[0]):.2f}", path[0])
        return numbers.replace(" \n", "\n")

    rest = re.sub(r"(?<= d=\")[^\"]*", rounded, rest)
    quoted = label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return f'<svg {box[0]} role="img" aria-label="{quoted}">{rest.strip()}'


def _columns(table: Table) -> Iterator[tuple[int, str]]:
    """Number and name of the first outputs."""
    for output in range(min(OUTPUTS, table.values.shape[1])):
        yield output, column_name(table, output)


# --- the forecast ---------------------------------------------------------------------------------


def _forecasts(ahead: Ahead) -> Iterator[Picture]:
    """The forecast of each output beside plain ones, unless it needs inputs not known here."""
    if ahead.forecast is None:
        return
    share = " and ".join(f"{100 * one:g} %" for one in ahead.forecast.lower)
    band = f"The band is meant to hold {share} of the values; it is made of the errors of "
    band += "validation forecasts."
    if not np.isfinite(np.asarray(next(iter(ahead.forecast.upper.values())), dtype=float)).any():
        band = "There is no band, because nothing is known of errors."
    caption = f"{band} Thin lines are other forecasts to compare with."
    steps = len(ahead.forecast.mean)
    for output, name in _columns(ahead.table):
        title, plot = f"Forecast of {name} for {steps} steps", partial(_with_plain, ahead, output)
        yield Picture("forecast", "forecast", title, caption, plot, wide=True)


def _with_plain(ahead: Ahead, output: int, ax: Any) -> None:
    """The end of a series, its forecast with intervals, and thin lines of plain forecasts."""
    assert ahead.forecast is not None
    index, rows, horizon = ahead.table.index, len(ahead.table.values), len(ahead.forecast.mean)
    y = write(ahead.table.values, ahead.table.schema, index)
    plots.forecast(y, ahead.forecast, ax=ax, history=max(30, 3 * horizon), output=output)
    _, x = continued(index, rows, horizon)
    lines = {short_name(name, index): values[:, output] for name, values in ahead.nearest.items()}
    for (name, values), colour in zip(lines.items(), cycle(style.CYCLE[1:]), strict=False):
        ax.plot(
            x, values, "--", color=colour, linewidth=0.9, label=style.as_label(name), zorder=1.5
        )
    style.finished(ax)


# --- validation -----------------------------------------------------------------------------------


def _over_series(
    section: str, task: Task, table: Table, validation: ValidationOutputs
) -> Iterator[Picture]:
    """The series with what was said of its validation rows, and an excerpt of a regression."""
    caption = f"Every {task.outputs[:-1]} is by a readout that was not trained on its rows."
    if task.ahead:
        caption = (
            "Every forecast is from the values before it. A dot marks where a forecast starts."
        )
    rows, first = len(table.values), int(validation.rows[validation.rows >= 0].min())
    whole = (max(0, first - (rows - first) // 4), rows)  # from shortly before the first
    for output, name in _columns(table):
        over = partial(outputs_over_series, task, table, validation, output)
        title = f"Validation {task.outputs} of {name}"
        if task.ahead:
            title = f"Past forecasts of {name} against what came"
        yield Picture(section, "series", title, caption, partial(over, whole), wide=True)
        if rows >= 3 * EXCERPT and not task.ahead:
            title, closer = f"{title}, closer", (rows // 2, rows // 2 + EXCERPT)
            words = f"Rows {closer[0]} to {closer[1] - 1} of the same."
            yield Picture(section, "series", title, words, partial(over, closer), wide=True)


def _against(search: Any, validation: ValidationOutputs) -> Iterator[Picture]:
    """Predictions against what was true."""
    caption = "One point for each validation row; on the line a prediction is right."
    for output, name in _columns(given_series(search)):
        plot = partial(_predicted, *pairs(validation, output), name)
        yield Picture("past", "against", f"Predicted and true {name}", caption, plot)


def _predicted(truth: np.ndarray, said: np.ndarray, name: str, ax: Any) -> None:
    """Predictions against true values, and the line on which they are equal."""
    few = len(truth) <= style.MANY
    looks = {"alpha": 0.6, "rasterized": False} if few else {"alpha": 0.25, "rasterized": True}
    style.axes(ax).scatter(truth, said, s=6, color=style.BLUE, linewidths=0, **looks)
    ends = [float(np.min(truth)), float(np.max(truth))] if len(truth) else [0.0, 1.0]
    ax.plot(ends, ends, color=style.INK, linewidth=0.8)
    style.finished(ax, "xy", xlabel=f"true {style.as_label(name)}", ylabel="predicted")


def _confusion(search: Any, counts: np.ndarray) -> Picture:
    """How often sequences of each class (rows) were taken for each other one (columns)."""
    classes = search.best_estimator_.classes_

    def plot(ax: Any) -> None:
        shown = np.where(counts > 0, counts, np.nan)
        ax.pcolormesh(shown, cmap="viridis_r", vmin=0, vmax=counts.max())
        ax.set_aspect("equal")
        ax.invert_yaxis()
        at = np.arange(len(classes))[:: -(-len(classes) // 12)]
        names = [style.as_label(str(classes[i])[:8]) for i in at]
        ax.set_xticks(at + 0.5, names)
        ax.set_yticks(at + 0.5, names)
        ax.set(xlabel="class said", ylabel="true class")
        for row, column in np.argwhere(counts) if len(classes) <= 12 else ():
            number = counts[row, column]
            colour = "white" if number > counts.max() / 2 else "black"
            ax.text(column + 0.5, row + 0.5, f"{number}", ha="center", va="center", color=colour)

    caption = (
        f"{counts.sum() - np.trace(counts)} of {counts.sum()} validation sequences were given a "
        "wrong class, by readouts that were not trained on them."
    )
    return Picture("past", "classes", "Classes said in validation", caption, plot)


# --- candidates -----------------------------------------------------------------------------------


def _candidates(search: Any, surfaces: bool) -> Iterator[Picture]:
    """The ridge path of the winner, and the error over pairs of hyper-parameters."""
    found = scores_of(search, None).found
    ridge = found.sizes["ridge"] > 1
    if ridge:
        caption = "The mean over splits decides; where the band is wide, splits disagree."
        plot = partial(plots.ridge_path, search, candidate=search.best_index_)
        yield Picture("search", "ridge", "Ridge path of the winner", caption, plot)
    if not surfaces:
        return
    names = [
        name
        for name in found.attrs["hyper_parameters"]
        if found[name].dtype.kind in "iuf" and len(np.unique(found[name])) > 1
    ][:3]
    if len(names) == 1 and ridge:
        names.append("ridge")
    caption = "The lowest over all other hyper-parameters; the circle is the lowest of all."
    for x, y in combinations(names, 2):
        plot = partial(plots.surface, search, x, y)
        yield Picture("search", "surface", f"Error over {x} and {y}", caption, plot)


def _agreement(search: Any) -> Iterator[Picture]:
    """Errors of all candidates by one scheme against another, and validation against unseen."""
    name, *others = search._results
    caption = (
        "One point for each candidate and ridge. The closer to a line, the more the schemes "
        "agree on which candidates are good."
    )
    for other in others[: SCHEMES - 1]:
        plot = partial(_by_two, search, name, other)
        yield Picture("search", "agreement", f"Candidates by {name} and by {other}", caption, plot)
    if search.evaluation_ is not None:
        title = "Validation error and error on what followed"
        caption = "One point for each repetition of the whole search on a beginning of the data."
        plot = partial(_repetitions, search.evaluation_)
        yield Picture("search", "honest", title, caption, plot)


def _by_two(search: Any, name: str, other: str, ax: Any) -> None:
    """Errors of all candidates by two schemes, the winner of the first circled."""
    scores, winner = [scores_of(search, one) for one in (name, other)], search._winner(name)
    across, up = (np.where(one.bounds, np.nan, one.mean()) for one in scores)
    chosen = (winner.candidate, int(winner.ridge[0]))
    labels = [f"{scores[0].metric} by {style.as_label(one)}" for one in (name, other)]
    plots.validation_test(across, up, chosen=chosen, ax=ax).set(xlabel=labels[0], ylabel=labels[1])


def _repetitions(evaluation: Any, ax: Any) -> None:
    """Validation errors and honest ones of repetitions of a search."""
    metric, starts = evaluation.attrs["metric"], evaluation.start.values
    validation, honest = evaluation.validation.values, evaluation[metric].values
    ax = style.axes(ax)
    ax.plot(starts, validation, "o", color=style.BLUE, label="validation error of the winner")
    ax.plot(starts, honest, "s", color=style.VERMILION, label="error on what followed")
    ax.vlines(starts, validation, honest, color=style.INK, linewidth=0.8, zorder=0)
    ax.set_ylim(bottom=0)
    style.whole_numbers(ax)
    style.finished(ax, xlabel="rows searched on", ylabel=metric)


# --- data and splits ------------------------------------------------------------------------------


def _examples(search: Any) -> Picture:
    """The first sequence of each class."""
    sequences, labels = given_sequences(search)
    classes = search.best_estimator_.classes_[: len(style.CYCLE)]

    def plot(ax: Any) -> None:
        for name, colour in zip(classes, style.CYCLE, strict=False):
            first = sequences[int(np.argmax(labels == name))][:, 0]
            course = style.thinned(np.arange(len(first)), first)
            style.axes(ax).plot(*course, color=colour, label=style.as_label(name))
        style.whole_numbers(ax)
        style.finished(ax, xlabel="step")

    title = f"One sequence of each of {len(classes)} classes"
    return Picture("data", "data", title, "The first input.", plot)


def _columns_drawn(table: Table) -> Iterator[Picture]:
    """Columns of a series."""
    for output, name in _columns(table):
        yield Picture("data", "data", name, "As given.", partial(_column, table, output))


def _column(table: Table, output: int, ax: Any) -> None:
    """A column of the data."""
    x = positions(table.index, len(table.values))
    style.with_gaps(style.axes(ax), x, table.values[:, output], color=style.INK, linewidth=0.8)
    label_time(ax, table.index)
    style.finished(ax, "y", ylabel=style.as_label(column_name(table, output)))


def _splits(search: Any) -> Iterator[Picture]:
    """The splits of every scheme."""
    rows = search._task.rows
    washout = ", washout not counted" if search._task.ordered else ""

    def plot(splits: Any, ax: Any) -> None:
        plots.splits(splits, splits.n, ax=ax).set_xlabel(rows[:-1])

    for name, splits in list(search._schemes.items())[:SCHEMES]:
        title = splits.name if not isinstance(search.cv, dict) else f"{name}: {splits.name}"
        caption = f"{len(splits)} splits of {splits.n} {rows}{washout}."
        yield Picture("splits", "splits", title, caption, partial(plot, splits))
