"""What a report says first: a title, a verdict, the few numbers that it rests on, the forecast.

The forecast is a table of every step, and the same as a file inside of the page.
"""

from __future__ import annotations

import base64
import math
import re
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.text import figure, guarded, legible
from echofold.plots._series import ValidationOutputs, column_name, given_series
from echofold.report._about import About, Ahead
from echofold.report._accuracy import Recognised, explained
from echofold.report._verdict import (
    short_name,
    verdict_on_classes,
    verdict_on_forecast,
    verdict_on_values,
)

OUTPUTS = 3  # outputs drawn and tabulated at most


def tables(ahead: Ahead, most: int) -> list[dict[str, Any]]:
    """A table for each of the first outputs: every step, its interval, the plain forecasts."""
    parts, index = _parts(ahead), _index(ahead)
    plain = {short_name(name, ahead.table.index): values for name, values in ahead.plain.items()}
    found = []
    for output in range(min(most, ahead.table.values.shape[1])):
        columns = [values[:, output] for values in [*parts.values(), *plain.values()]]
        written = _alike(np.column_stack(columns))
        found.append(
            {
                "name": column_name(ahead.table, output),
                "head": [_time(index), *map(_head, parts), *plain],
                "rows": [
                    (label, list(zip(map(float, values), texts, strict=True)))
                    for label, values, texts in zip(
                        labels(index), zip(*columns, strict=True), written, strict=True
                    )
                ],
            }
        )
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


def csv_link(ahead: Ahead) -> str:
    """The forecast and its intervals as a file that a link carries."""
    outputs, index = ahead.table.values.shape[1], _index(ahead)
    columns: dict[str, np.ndarray] = {}
    for output in range(outputs):
        prefix = f"{legible(column_name(ahead.table, output))} " if outputs > 1 else ""
        columns |= {prefix + name: values[:, output] for name, values in _parts(ahead).items()}
    name = _time(index)
    frame = pd.DataFrame(columns)
    frame.insert(0, "date" if name in frame.columns else name, labels(index))
    text = frame.rename(columns=guarded).to_csv(index=False).encode()
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(text).decode()}"


def _parts(ahead: Ahead) -> dict[str, np.ndarray]:
    """Forecast and ends of intervals ``(horizon, outputs)``, named as in a forecast's frame."""
    assert ahead.forecast is not None
    mean, lower, upper = ahead.forecast
    parts = {"forecast": mean}
    for level in lower:
        percent = f"{100 * level:.10g}"
        parts |= {f"lower_{percent}": lower[level], f"upper_{percent}": upper[level]}
    return {
        name: np.asarray(part, dtype=float).reshape(len(mean), -1) for name, part in parts.items()
    }


def _index(ahead: Ahead) -> pd.Index:
    """What the steps are called; rows without a name count on from the series."""
    assert ahead.forecast is not None
    mean, rows = ahead.forecast.mean, len(ahead.table.values)
    if isinstance(mean, pd.Series | pd.DataFrame):
        return mean.index
    return pd.RangeIndex(rows, rows + len(mean), name="row")


def labels(index: pd.Index) -> list[str]:
    """Steps as text: dates no finer than they need to be, numbers without needless digits."""
    if not isinstance(index, pd.DatetimeIndex):
        return [f"{one:.16g}" if isinstance(one, float) else str(one) for one in index]
    for unit, form in (("D", "%Y-%m-%d"), ("min", "%Y-%m-%d %H:%M"), ("s", "%Y-%m-%d %H:%M:%S")):
        if index.tz is None and (index == index.floor(unit)).all():
            return list(index.strftime(form))
    return [str(one) for one in index]


def _time(index: pd.Index) -> str:
    return "row" if index.name is None else legible(str(index.name))


def _head(name: str) -> str:
    """The head of a column: ends of intervals in words."""
    end, _, percent = name.partition("_")
    words = {"lower": "low", "upper": "high"}.get(end, end)
    return f"{words} {percent} %" if percent else words


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
