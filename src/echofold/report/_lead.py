"""What a report says first: a title, a verdict, and the few numbers that it rests on."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np

from echofold._data.numbers import figure
from echofold.plots._given import ValidationOutputs, given_series
from echofold.plots._series import column_name
from echofold.report._about import About, Ahead
from echofold.report._accuracy import Recognised, explained
from echofold.report._table import csv_link, tables
from echofold.report._verdict import (
    short_name,
    verdict_on_classes,
    verdict_on_forecast,
    verdict_on_values,
)

OUTPUTS = 3  # outputs drawn and tabulated at most


def lead(
    search: Any,
    about: About,
    ahead: Ahead | None,
    validation: ValidationOutputs,
    found: Recognised | None,
) -> dict[str, Any]:
    """Title, verdict, figures and notes, by what the search is of."""
    told: dict[str, Any] = {
        "date": date.today().isoformat(),
        "notes": list(about.notes),
        "compared": [],
        "figures": [],
        "link": None,
        "more_outputs": 0,
        "recalls": [],
        "no_forecast": None,
        "measured": None,
        "cards": _cards(search, ahead),
    }
    if ahead is not None:
        told |= _of_forecast(search, about, ahead)
    elif found is not None:
        told["heading"] = f"Classes of {found.total} sequences"
        told["verdict"] = verdict_on_classes(found)
        told["recalls"] = [(*one[:3], f"{100 * one[3]:.0f} %", one[3]) for one in found.recalls]
        right = f"{found.right} of {found.total} validation sequences"
        told["cards"].insert(
            0, _card("Accuracy in validation", found.accuracy, right, percent=True)
        )
    else:
        table = given_series(search)
        r2 = explained(table, validation)
        names = ", ".join(name for name, _ in r2[:OUTPUTS]) + (", …" if len(r2) > OUTPUTS else "")
        told["heading"] = f"Prediction of {names}"
        told["verdict"] = verdict_on_values(r2)
        told["cards"][:0] = [
            _card(f"R² of {name}", value, "1 is perfect, 0 no better than the mean.")
            for name, value in r2[:OUTPUTS]
        ]
    if about.title is not None:
        told["heading"] = about.title
    return told


def _of_forecast(search: Any, about: About, ahead: Ahead) -> dict[str, Any]:
    """The forecast in words and figures."""
    outputs = ahead.table.values.shape[1]
    named = ahead.table.schema.names is not None
    names = [column_name(ahead.table, i) for i in range(min(OUTPUTS, outputs))]
    what = ", ".join(names) + (", …" if outputs > OUTPUTS else "") if named else "the series"
    told: dict[str, Any] = {
        "heading": f"Forecast of {what}",
        "verdict": verdict_on_forecast(search, ahead, about),
        "compared": _compared(search, ahead),
        "more_outputs": max(0, outputs - OUTPUTS),
    }
    if ahead.own is not None:
        evaluation = search.evaluation_
        count, steps = evaluation.sizes["origin"], int(evaluation.attrs["horizon"])
        beginnings = "a shorter beginning" if count == 1 else f"{count} shorter beginnings"
        told["measured"] = (
            f"On past data means: the whole search was repeated on {beginnings} of the series and "
            f"scored on the {steps} values that followed."
        )
    if ahead.forecast is None:
        told["no_forecast"] = (
            "The forecast is not drawn, because it needs the future values of the inputs known in "
            "advance: About(X=...) hands them to the report, search.forecast(horizon, X=...) "
            "makes it of them."
        )
        return told
    return told | {"figures": tables(ahead, OUTPUTS), "link": csv_link(ahead)}


def _compared(search: Any, ahead: Ahead) -> list[dict[str, Any]]:
    """Errors on past data of the networks and of plain forecasts, the lowest marked."""
    if not ahead.errors or ahead.own is None:
        return []
    errors = {"networks": ahead.own, **ahead.errors}
    costs = {name: ahead.metric.cost(error) for name, error in errors.items()}
    given = "networks" if ahead.instead is None else ahead.instead.name
    finite = [cost for cost in costs.values() if np.isfinite(cost)]
    return [
        {
            "name": short_name(name, ahead.table.index),
            "value": error,
            "error": figure(error),
            "lowest": bool(finite) and costs[name] == min(finite),
            "given": name == given,
        }
        for name, error in errors.items()
    ]


def _cards(search: Any, ahead: Ahead | None) -> list[dict[str, Any]]:
    """Errors that were measured: on what follows, in validation; how often intervals held."""
    evaluation = search.evaluation_
    of = "Networks: " if ahead is not None and ahead.instead is not None else ""
    cards: list[dict[str, Any]] = []
    if evaluation is not None:
        name = evaluation.attrs["metric"]
        errors = evaluation[name].values
        ends = f"{figure(float(errors.min()))} to {figure(float(errors.max()))}"
        words = f"On the {evaluation.attrs['horizon']} {search.estimator._task.rows} after "
        words += f"each of {len(errors)} beginnings: {ends}." if len(errors) > 1 else "a beginning."
        cards.append(_card(f"{of}{name} on unseen data", float(errors.mean()), words))
        if "coverage" in evaluation:
            level = f"{100 * evaluation.attrs['level']:g} %"
            held = float(evaluation.coverage.values.mean())
            words = f"On the same unseen data, {evaluation.attrs['horizon'] * len(errors):,} steps."
            cards.append(_card(f"{of}Values inside {level} intervals", held, words, percent=True))
    elif ahead is None:
        words = "echofold.evaluate(search, …) repeats the whole search on beginnings of the data "
        words += "and scores it on what follows."
        cards.append(
            {"label": "On unseen data", "text": "not measured", "value": None, "words": words}
        )
    metric = search._reader.metrics[0]
    if not search.estimator._task.labels or metric.needs == "labels":
        best = "highest" if metric.higher else "lowest"
        words = f"Flattered: the {best} of many, by which the winner was chosen."
        cards.append(_card(f"{of}Validation {metric.name}", float(search.best_score_), words))
    return cards


def _card(label: str, value: float, words: str, percent: bool = False) -> dict[str, Any]:
    text = f"{100 * value:.1f} %" if percent else None
    return {"label": label, "value": value, "text": text, "words": words}
