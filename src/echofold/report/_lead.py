"""What a report says first: a title, a verdict, the few numbers that it rests on, the forecast.

The forecast is a table of every step, and the same as a file inside of the page.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import confusion_matrix

from echofold._data.text import count, figure, guarded, inflected
from echofold._search.auto import TOGETHER
from echofold._search.contributions import words_of
from echofold._search.verdict import short_name
from echofold.plots._series import ValidationOutputs, column_name, given_series
from echofold.report._about import About, Ahead, contributed, forecast_table

OUTPUTS = 3  # outputs drawn and tabulated at most
INSIDE = "Values inside {:g} % intervals"
NOTHING: dict[str, Any] = {  # what a page says only of some searches
    "measured": None, "no_forecast": None, "figures": [], "link": None, "more_outputs": 0,
    "compared": [], "recalls": [], "contributions": [], "contributed": [],
}  # fmt: skip


def recognised(search: Any, validation: ValidationOutputs) -> np.ndarray:
    """Counts ``(true, said)`` of validation sequences by class, from every split that has them."""
    there = validation.rows >= 0
    true, said = (part[there].argmax(axis=1) for part in (validation.truth, validation.outputs))
    return confusion_matrix(true, said, labels=np.arange(len(search.best_estimator_.classes_)))


def pairs(validation: ValidationOutputs, output: int) -> tuple[np.ndarray, np.ndarray]:
    """Truth and outputs of the validation rows that have both."""
    truth, said = validation.truth[:, :, output].ravel(), validation.outputs[:, :, output].ravel()
    both = np.isfinite(truth) & np.isfinite(said)
    return truth[both], said[both]


def lead(
    model: Any, about: About, ahead: Ahead | None, validation: ValidationOutputs | None
) -> dict[str, Any]:
    """Title, verdict, figures and notes, by what the model is of: a search, or a forecaster."""
    if ahead is not None:
        told = _of_forecast(about, ahead)
    else:
        assert validation is not None
        told = (_of_classes if model._task.labels else _of_values)(model, validation)
    own = _cards if hasattr(model, "finalize") else _cards_of_recipe
    cards = [*told.pop("cards", []), *own(model, ahead)]
    if about.title is not None:
        told["heading"] = about.title
    if each := contributed(model):
        told |= {"contributions": each, "contributed": words_of(each, model.verdict_.metric)}
    told |= {"date": date.today().isoformat(), "notes": list(about.notes), "cards": cards}
    return NOTHING | told


def _of_forecast(about: About, ahead: Ahead) -> dict[str, Any]:
    """The forecast in words and figures."""
    names = [column_name(ahead.table, i) for i in range(ahead.table.values.shape[1])]
    named = ahead.table.schema.names is not None
    told: dict[str, Any] = {
        "heading": f"Forecast of {_first(names) if named else 'the series'}",
        "verdict": ahead.verdict,
        "measured": ahead.measured,
        "compared": _beside_plain_ones(ahead),
        "more_outputs": max(0, len(names) - OUTPUTS),
    }
    if ahead.forecast is None:
        told["no_forecast"] = (
            "The forecast is not drawn, because it needs the future values of the inputs known in "
            "advance: About(X=...) hands them to the report, forecast(horizon, X=...) makes it of "
            "them."
        )
        return told
    frame = forecast_table(ahead.forecast, len(ahead.table.values), names)
    text = base64.b64encode(frame.rename(columns=guarded).to_csv(index=False).encode()).decode()
    link = f"data:text/csv;charset=utf-8;base64,{text}"
    return told | {"figures": _tables(ahead, frame), "link": link}


def _of_classes(search: Any, validation: ValidationOutputs) -> dict[str, Any]:
    """How many sequences were recognised, beside what the most frequent class would do."""
    classes, counts = search.best_estimator_.classes_, recognised(search, validation)
    sums, hits = counts.sum(axis=1), np.diagonal(counts)
    total, right = int(sums.sum()), int(hits.sum())
    shares = [hit / count if count else math.nan for hit, count in zip(hits, sums, strict=True)]
    words = f"{right} of {total} validation sequences"
    return {
        "heading": f"Classes of {total} sequences",
        "verdict": f"{_percent(right / total)} of the sequences were recognised when they were "
        "validated; always saying the most frequent class would be right for "
        f"{_percent(float(sums.max() / total))}.",
        "recalls": [
            (str(name), count, hit, f"{100 * share:.0f} %", share)
            for name, count, hit, share in zip(classes, sums, hits, shares, strict=True)
        ],
        "cards": [("Accuracy in validation", right / total, words, True)],
    }


def _of_values(search: Any, validation: ValidationOutputs) -> dict[str, Any]:
    """How much of the variance of every output is explained, over rows that have a value."""
    table, r2 = given_series(search), []
    for output in range(validation.truth.shape[2]):
        truth, said = pairs(validation, output)
        with np.errstate(over="ignore", invalid="ignore"):
            missed = float(((truth - said) ** 2).sum())
        total = float(((truth - truth.mean()) ** 2).sum())
        r2.append((column_name(table, output), 1 - missed / total if total else math.nan))
    return {
        "heading": f"Prediction of {_first([name for name, _ in r2])}",
        "verdict": verdict_on_values(r2),
        "cards": [
            (f"R² of {name}", value, "1 is perfect, 0 no better than the mean.", False)
            for name, value in r2[:OUTPUTS]
        ],
    }


def _first(names: list[str]) -> str:
    return ", ".join(names[:OUTPUTS]) + (", …" if len(names) > OUTPUTS else "")


# --- verdicts -------------------------------------------------------------------------------------


def verdict_on_values(r2: list[tuple[str, float]]) -> str:
    """How much of the variance is explained, by R² of outputs with their names."""
    if len(r2) > 1:
        values = [value for _, value in r2]
        return (
            f"On validation rows R² is {np.mean(values):.3f} in the mean of {len(r2)} outputs, "
            f"{min(values):.3f} to {max(values):.3f}."
        )
    name, value = r2[0]
    if value > 0:
        words = f"predictions explain {_percent(value)} of the variance of {name}"
    else:
        words = f"predictions of {name} are no better than its mean"
    return f"On validation rows {words} (R² {value:.3f})."


def _percent(share: float) -> str:
    """A share in words; not all unless it is all."""
    whole = share in (0.0, 1.0) or 0.1 <= share < 0.95
    return f"{100 * share:.{0 if whole else 1}f} %"


# --- numbers --------------------------------------------------------------------------------------


Card = tuple[str, float | None, str, bool]  # label, value, words, whether that is a share


def _cards(search: Any, ahead: Ahead | None) -> Iterator[Card]:
    """Errors that were measured: on what follows, in validation; how often intervals held."""
    yield from _cards_of_evaluation(search)
    if search.evaluation_ is None and ahead is None:
        words = "echofold.evaluate(search, …) repeats the whole search on beginnings of the data "
        yield "On unseen data", None, f"{words}and scores it on what follows.", False
    metric = search._reader.metrics[0]
    if not search.estimator._task.labels or metric.needs == "labels":
        best = "highest" if metric.higher else "lowest"
        words = f"Flattered: the {best} of many, by which the winner was chosen."
        yield f"Validation {metric.name}", float(search.best_score_), words, False


def _cards_of_recipe(model: Any, ahead: Any) -> Iterator[Card]:
    """The same of an `AutoForecaster`: on past stretches, and on what followed beginnings."""
    verdict = model.verdict_
    if verdict.error is not None:
        stretches = inflected(verdict.stretches, "one past stretch", "{} past stretches")
        words = f"Mean of {stretches}, {count(verdict.steps, 'step')} each."
        yield f"{verdict.metric} on past data", verdict.error, words, False
        best = short_name(verdict.best, ahead.table.index)
        words = f"The lowest of plain forecasts on the same values: {best}."
        yield "The best plain forecast", verdict.best_error, words, False
    if verdict.coverage is not None:
        words = "Of the same past stretches, by intervals that were made without them."
        yield INSIDE.format(100 * verdict.level), verdict.coverage, words, True
    yield from _cards_of_evaluation(model)


def _cards_of_evaluation(model: Any) -> Iterator[Card]:
    """What `evaluate` measured, if it did."""
    if (evaluation := model.evaluation_) is None:
        return
    name, horizon = evaluation.attrs["metric"], evaluation.attrs["horizon"]
    errors = evaluation[name].values
    ends = f"{figure(float(errors.min()))} to {figure(float(errors.max()))}"
    words = f"On the {horizon} {model._task.rows} after "
    words += f"each of {len(errors)} beginnings: {ends}." if len(errors) > 1 else "a beginning."
    yield f"{name} on unseen data", float(errors.mean()), words, False
    if "coverage" in evaluation:
        words = f"On the same unseen data, {horizon * len(errors):,} steps."
        held = float(evaluation.coverage.values.mean())
        yield INSIDE.format(100 * evaluation.attrs["level"]), held, words, True


def _beside_plain_ones(ahead: Ahead) -> list[tuple[str, float | None, float, bool, bool]]:
    """Names, weights and errors on past data of the forecast, its members and plain ones.

    The last two tell which has the lowest error, and which is given.
    """
    if not ahead.errors or ahead.own is None:
        return []
    together = ahead.own if ahead.together is None else ahead.together
    rows = [("networks" if ahead.together is None else TOGETHER, None, together)]
    rows += [(f"— {one['member']}", one["weight"], one["error"]) for one in ahead.members]
    index = ahead.table.index
    rows += [(short_name(name, index), None, error) for name, error in ahead.errors.items()]
    costs = [ahead.metric.cost(error) for _, _, error in rows]
    lowest = min(filter(np.isfinite, costs), default=None)
    given = short_name(ahead.given, index)
    return [(*row, cost == lowest, row[0] == given) for row, cost in zip(rows, costs, strict=True)]


def _tables(ahead: Ahead, frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A table for each of the first outputs: every step, its interval, the best plain forecasts."""
    step, *columns = frame.columns
    parts = np.split(frame[columns].to_numpy(), ahead.table.values.shape[1], axis=1)
    plain = {short_name(name, ahead.table.index): said for name, said in ahead.nearest.items()}
    head = [step, *map(_head, columns[: parts[0].shape[1]]), *plain]
    found = []
    for output, part in enumerate(parts[:OUTPUTS]):
        values = np.column_stack([part, *(said[:, output] for said in plain.values())])
        cells = [
            list(zip(row, texts, strict=True))
            for row, texts in zip(values.tolist(), _alike(values), strict=True)
        ]
        rows = list(zip(frame[step], cells, strict=True))
        found.append({"name": column_name(ahead.table, output), "head": head, "rows": rows})
    return found


def _alike(values: np.ndarray) -> list[list[str]]:
    """Figures ``(rows, columns)`` as text with as many decimals as the largest of them needs."""
    finite = np.abs(values[np.isfinite(values)])
    largest = figure(float(finite.max())) if len(finite) else ""
    if not re.fullmatch(r"[\d,]+(\.\d+)?", largest):  # with powers of ten, each by itself
        return [[figure(value) for value in row] for row in values.tolist()]
    decimals = min(len(largest.partition(".")[2]), 6)
    return [
        [f"{value:,.{decimals}f}" if math.isfinite(value) else figure(value) for value in row]
        for row in values.tolist()
    ]


def _head(name: str) -> str:
    """The head of a column: ends of intervals in words, without the name of an output."""
    end, _, percent = name.rpartition(" ")[2].partition("_")
    words = {"lower": "low", "upper": "high"}
    return f"{words[end]} {percent} %" if end in words else end
