"""The pictures of a report, by section."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from echofold import plots
from echofold._models.ensemble import is_ensemble
from echofold.plots._scores import scores_of
from echofold.plots._series import ValidationOutputs, column_name, given_series, outputs_over_series
from echofold.plots._style import CYCLE, plain
from echofold.report._about import Ahead
from echofold.report._accuracy import Recognised, pairs
from echofold.report._data import given_sequences
from echofold.report._drawings import (
    against,
    beside_plain_ones,
    confusion,
    examples,
    repetitions,
    scatter,
    series,
    split_rows,
    svg,
)
from echofold.report._lead import OUTPUTS
from echofold.report._verdict import short_name

HALF, WIDE, NARROW = (4.8, 3.3), (10.4, 3.4), (4.7, 3.1)
SCHEMES = 6  # schemes drawn at most
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


def draw(
    search: Any, ahead: Ahead | None, validation: ValidationOutputs, found: Recognised | None
) -> dict[str, list[Picture]]:
    """All pictures of a search that its task allows."""
    album = _Album()
    pictures: dict[str, list[Picture]] = {"forecast": [], "validation": []}
    if found is not None:
        pictures["past"] = [_confusion(album, found)]
    elif ahead is not None:
        pictures["forecast"] = list(_forecasts(album, ahead))
        given = _of_the_given(search, ahead, validation)
        pictures["past"] = list(_over_series(album, search, given, ahead.instead is not None))
    else:
        pictures["past"] = list(_against(album, search, validation))
        pictures["validation"] = list(_over_series(album, search, validation))
    if ahead is not None and validation.rows.shape[1] > 1:
        caption = "How the validation forecasts of the winner lose track, in the units of the data."
        plot = partial(plots.error_by_step, search)
        pictures["validation"].append(album("steps", "Error by steps ahead", caption, plot, True))
    pictures["search"] = [*_candidates(album, search), *_agreement(album, search)]
    pictures["data"] = list(_data(album, search))
    pictures["splits"] = list(_splits(album, search))
    return pictures


def _forecasts(album: _Album, ahead: Ahead) -> Iterator[Picture]:
    """The forecast of each output beside plain ones, unless it needs inputs not known here."""
    if ahead.forecast is None:
        return
    share = " and ".join(f"{100 * one:g} %" for one in ahead.forecast.lower)
    caption = (
        f"The band is meant to hold {share} of the values; it is made of the errors of "
        f"validation forecasts. Thin lines are other forecasts to compare with."
    )
    for output in range(min(OUTPUTS, ahead.table.values.shape[1])):
        lines = {
            short_name(name, ahead.table.index): values[:, output]
            for name, values in ahead.plain.items()
        }
        yield album(
            "forecast",
            f"Forecast of {column_name(ahead.table, output)} for {ahead.horizon} steps",
            caption,
            partial(beside_plain_ones, ahead.y, ahead.table, ahead.forecast, lines, output),
            wide=True,
        )


def _of_the_given(search: Any, ahead: Ahead, validation: ValidationOutputs) -> ValidationOutputs:
    """Validation forecasts of what is given: a plain forecast, an ensemble, or the winner."""
    errors = None
    if ahead.instead is not None:
        errors = ahead.instead.residuals
    elif is_ensemble(search.best_estimator_):
        errors = search.best_estimator_.residuals_
    return validation if errors is None else replace(validation, outputs=validation.truth - errors)


def _against(album: _Album, search: Any, validation: ValidationOutputs) -> Iterator[Picture]:
    """Predictions against what was true."""
    table = given_series(search)
    for output in range(min(OUTPUTS, table.values.shape[1])):
        name = column_name(table, output)
        yield album(
            "against",
            f"Predicted and true {name}",
            "One point for each validation row; on the line a prediction is right.",
            partial(against, *pairs(validation, output), name),
        )


def _over_series(
    album: _Album, search: Any, validation: ValidationOutputs, plain: bool = False
) -> Iterator[Picture]:
    """The series with what the splits of the winner made of it, and an excerpt of a regression.

    Of a forecaster, it may be ``plain`` forecasts of the same rows.
    """
    table, task = given_series(search), search.estimator._task
    what = task.outputs
    hint = " A dot marks where a forecast starts." if task.fed_back else ""
    how = "from values before it" if plain else "by a readout that was not trained on its rows"
    count, middle = len(table.values), len(table.values) // 2
    first = int(validation.rows[validation.rows >= 0].min())
    whole = (max(0, first - (count - first) // 4), count)  # from shortly before the first
    for output in range(min(OUTPUTS, table.values.shape[1])):
        name = column_name(table, output)
        title = f"Validation {what} of {name}"
        if task.fed_back:
            title = f"Past forecasts of {name} against what came"
        for rows in (whole, (middle, middle + EXCERPT)):
            if rows is not whole and (task.fed_back or count < 3 * EXCERPT):
                continue
            yield album(
                "series",
                title if rows is whole else f"{title}, closer",
                f"Every {what[:-1]} is {how}.{hint}"
                if rows is whole
                else f"Rows {rows[0]} to {rows[1] - 1} of the same.",
                partial(outputs_over_series, task, table, validation, output, rows),
                wide=True,
            )


def _confusion(album: _Album, found: Recognised) -> Picture:
    """How often sequences of each class were taken for each other one in validation."""
    caption = (
        f"{found.total - found.right} of {found.total} validation sequences were given a wrong "
        "class, by readouts that were not trained on them."
    )
    plot = partial(confusion, found.counts, found.classes)
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
            partial(plots.ridge_path, search, candidate=search.best_index_),
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
