"""The pictures of a report, by section."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from echofold import plots
from echofold._models.forecast import forecast_of
from echofold.plots._given import (
    ValidationOutputs,
    given_series,
    scores_of,
    validation_outputs,
)
from echofold.plots._series import column_name, outputs_over_series
from echofold.plots._style import CYCLE, plain
from echofold.report._data import given_sequences
from echofold.report._drawings import (
    confusion,
    examples,
    repetitions,
    scatter,
    series,
    split_rows,
)
from echofold.report._svg import svg

HALF, WIDE, NARROW = (4.8, 3.3), (10.4, 3.4), (4.7, 3.1)
OUTPUTS = 3  # outputs drawn at most
SCHEMES = 6  # schemes drawn at most
LEVEL = 0.9
EXCERPT = 600  # rows of a regression that are looked at closely


@dataclass(frozen=True)
class Picture:
    """A drawing with its caption; a wide one has a second drawing for narrow screens."""

    name: str
    title: str
    caption: str
    svg: Any
    narrow: Any = None


class _Album:
    """Makes pictures, of unique names."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(
        self, kind: str, title: str, caption: str, plot: Callable[..., Any], wide: bool = False
    ) -> Picture:
        from markupsafe import Markup

        self.count += 1
        name = f"{kind}{self.count}"
        drawn = Markup(svg(plot, WIDE if wide else HALF, name, title))
        narrow = Markup(svg(plot, NARROW, f"{name}n", title)) if wide else None
        return Picture(name, title, caption, drawn, narrow)


def draw(search: Any) -> dict[str, list[Picture]]:
    """All pictures of a search that its task allows."""
    album, task = _Album(), search.estimator._task
    outputs = validation_outputs(search)
    pictures: dict[str, list[Picture]] = {"forecast": []}
    if task.fed_back:
        pictures["forecast"] = list(_forecasts(album, search))
    if task.labels:
        pictures["validation"] = [_confusion(album, search, outputs)]
    else:
        pictures["validation"] = list(_over_series(album, search, outputs))
    if task.fed_back and outputs.rows.shape[1] > 1:
        caption = "How the validation forecasts of the winner lose track, in the units of the data."
        pictures["validation"].append(
            album(
                "steps", "Error by steps ahead", caption, partial(plots.error_by_step, search), True
            )
        )
    pictures["search"] = [*_candidates(album, search), *_agreement(album, search)]
    pictures["data"] = list(_data(album, search))
    pictures["splits"] = list(_splits(album, search))
    return pictures


def _forecasts(album: _Album, search: Any) -> Iterator[Picture]:
    """The forecast of each output, unless it needs inputs that are not known here."""
    model = search.best_estimator_
    if model.X_schema_ is not None:
        return
    steps = model.residuals_.shape[1]
    if search.evaluation_ is not None:
        steps = int(search.evaluation_.attrs["horizon"])
    horizon = min(max(steps, 10), 2000)
    ahead, table = forecast_of(model, horizon, None, LEVEL, warn=False), given_series(search)
    y = search._reader.data[0] if search._reader.data else search._reader.fit_params["y"]
    for output in range(min(OUTPUTS, table.values.shape[1])):
        yield album(
            "forecast",
            f"Forecast of {column_name(table, output)} for {horizon} steps",
            f"The band is meant to hold {LEVEL:.0%} of the values; it is made of the errors of "
            "validation forecasts.",
            partial(plots.forecast, y, ahead, history=max(60, 3 * horizon), output=output),
            wide=True,
        )


def _over_series(album: _Album, search: Any, validation: ValidationOutputs) -> Iterator[Picture]:
    """The series with what the splits of the winner made of it, and an excerpt of a regression."""
    table, task = given_series(search), search.estimator._task
    what = task.outputs
    hint = " A dot marks where a forecast starts." if task.fed_back else ""
    middle = len(table.values) // 2
    for output in range(min(OUTPUTS, table.values.shape[1])):
        title = f"Validation {what} of {column_name(table, output)}"
        for rows in (None, (middle, middle + EXCERPT)):
            if rows is not None and (task.fed_back or len(table.values) < 3 * EXCERPT):
                continue
            yield album(
                "series",
                title if rows is None else f"{title}, closer",
                f"Every {what[:-1]} is by a readout that was not trained on its rows.{hint}"
                if rows is None
                else f"Rows {rows[0]} to {rows[1] - 1} of the same.",
                partial(outputs_over_series, task, table, validation, output, rows),
                wide=True,
            )


def _confusion(album: _Album, search: Any, validation: ValidationOutputs) -> Picture:
    """How often sequences of each class were taken for each other one in validation."""
    classes = search.best_estimator_.classes_
    there = validation.rows >= 0
    true, said = validation.truth[there].argmax(axis=1), validation.outputs[there].argmax(axis=1)
    counts = np.zeros((len(classes), len(classes)), dtype=int)
    np.add.at(counts, (true, said), 1)

    wrong = int(len(true) - np.trace(counts))
    caption = (
        f"{wrong} of {len(true)} validation sequences were given a wrong class, by readouts that "
        "were not trained on them."
    )
    plot = partial(confusion, counts, classes)
    return album("classes", "Classes said in validation", caption, plot)


def _candidates(album: _Album, search: Any) -> Iterator[Picture]:
    """The ridge path of the winner, and the error over pairs of hyper-parameters."""
    scores = scores_of(search, None)
    ridge = scores.found.sizes["ridge"] > 1
    if ridge:
        yield album(
            "ridge",
            "Ridge path of the winner",
            "The mean over splits decides; where the band is wide, splits disagree.",
            partial(plots.ridge_path, search, search.best_index_),
        )
    names = [
        name
        for name in scores.found.attrs["hyper_parameters"]
        if scores.found[name].dtype.kind in "iuf" and len(np.unique(scores.found[name])) > 1
    ][:3]
    if len(names) == 1 and ridge:
        names.append("ridge")
    for x, y in combinations(names, 2):
        yield album(
            "surface",
            f"Error over {x} and {y}",
            "The lowest over all other hyper-parameters; the circle is the lowest of all.",
            partial(plots.surface, search, x, y),
        )


def _agreement(album: _Album, search: Any) -> Iterator[Picture]:
    """Errors of all candidates by one scheme against another, and validation against unseen."""
    names = list(search._results)
    first = scores_of(search, names[0])
    winner = search._winner(names[0])
    for other in names[1:SCHEMES]:
        second = scores_of(search, other)
        across, up = (np.where(one.bounds, np.nan, one.mean()) for one in (first, second))
        labels = [f"{first.metric} by {plain(name)}" for name in (names[0], other)]
        chosen = (winner.candidate, int(winner.ridge[0]))
        yield album(
            "agreement",
            f"Candidates by {names[0]} and by {other}",
            "One point for each candidate and ridge. The closer to a line, the more the schemes "
            "agree on which candidates are good.",
            partial(scatter, across, up, chosen, *labels),
        )
    if search.evaluation_ is not None:
        evaluation = search.evaluation_
        honest = evaluation[evaluation.attrs["metric"]].values
        yield album(
            "honest",
            "Validation error and error on what followed",
            "One point for each repetition of the whole search on a beginning of the data.",
            partial(repetitions, evaluation, honest),
        )


def _data(album: _Album, search: Any) -> Iterator[Picture]:
    """The series itself, or an example of each class."""
    if search.estimator._task.labels:
        count = min(len(CYCLE), len(search.best_estimator_.classes_))
        title = f"One sequence of each of {count} classes"
        classes = search.best_estimator_.classes_[:count]
        plot = partial(examples, *given_sequences(search), classes)
        yield album("data", title, "The first input.", plot)
        return
    table = given_series(search)
    for output in range(min(OUTPUTS, table.values.shape[1])):
        yield album("data", column_name(table, output), "As given.", partial(series, table, output))


def _splits(album: _Album, search: Any) -> Iterator[Picture]:
    """The splits of every scheme."""
    for name, splits in list(search._schemes.items())[:SCHEMES]:
        title = splits.name if not isinstance(search.cv, dict) else f"{name}: {splits.name}"
        rows = search.estimator._task.rows
        yield album(
            "splits",
            title,
            f"{len(splits)} splits of {splits.n} {rows}, washout not counted."
            if rows == "rows"
            else f"{len(splits)} splits of {splits.n} {rows}.",
            partial(split_rows, splits, rows[:-1]),
        )
