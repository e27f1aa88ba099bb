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
from sklearn.metrics import confusion_matrix

from echofold._data.dates import written
from echofold._data.text import count, figure, guarded, in_words, legible
from echofold.plots._series import ValidationOutputs, column_name, given_series
from echofold.report._about import About, Ahead, beginnings_in_words

OUTPUTS = 3  # outputs drawn and tabulated at most
PERIODS = (  # days of a season, and what it is called
    (1.0, "the day before"), (7.0, "last week"), (30.44, "last month"), (91.3, "last quarter"),
    (365.25, "last year"),
)  # fmt: skip
CLOSE = 0.02  # of a period, within which a season is that period
EVEN = 0.005  # of an error, within which two are called equal
NOTHING: dict[str, Any] = {  # what a page says only of some searches
    "measured": None, "no_forecast": None, "figures": [], "link": None, "more_outputs": 0,
    "compared": [], "recalls": [],
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
    search: Any, about: About, ahead: Ahead | None, validation: ValidationOutputs
) -> dict[str, Any]:
    """Title, verdict, figures and notes, by what the search is of."""
    if ahead is not None:
        told = _of_forecast(search, about, ahead)
    elif search.estimator._task.labels:
        told = _of_classes(search, validation)
    else:
        told = _of_values(search, validation)
    cards = [*told.pop("cards", []), *_cards(search, ahead)]
    if about.title is not None:
        told["heading"] = about.title
    told |= {"date": date.today().isoformat(), "notes": list(about.notes), "cards": cards}
    return NOTHING | told


def _of_forecast(search: Any, about: About, ahead: Ahead) -> dict[str, Any]:
    """The forecast in words and figures."""
    outputs, what = ahead.table.values.shape[1], "the series"
    if ahead.table.schema.names is not None:
        what = _first([column_name(ahead.table, output) for output in range(outputs)])
    told: dict[str, Any] = {
        "heading": f"Forecast of {what}",
        "verdict": _verdict(search, ahead, about),
        "compared": _beside_plain_ones(ahead),
        "more_outputs": max(0, outputs - OUTPUTS),
    }
    if ahead.own is not None:
        evaluation = search.evaluation_
        beginnings = beginnings_in_words(evaluation.sizes["origin"])
        told["measured"] = (
            f"On past data means: the whole search was repeated on {beginnings} of the series and "
            f"scored on the {int(evaluation.attrs['horizon'])} values that followed."
        )
    if ahead.forecast is None:
        told["no_forecast"] = (
            "The forecast is not drawn, because it needs the future values of the inputs known in "
            "advance: About(X=...) hands them to the report, search.forecast(horizon, X=...) "
            "makes it of them."
        )
        return told
    return told | {"figures": _tables(ahead), "link": _csv_link(ahead)}


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
        "cards": [_card("Accuracy in validation", right / total, words, percent=True)],
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
            _card(f"R² of {name}", value, "1 is perfect, 0 no better than the mean.")
            for name, value in r2[:OUTPUTS]
        ],
    }


def _first(names: list[str]) -> str:
    return ", ".join(names[:OUTPUTS]) + (", …" if len(names) > OUTPUTS else "")


# --- verdicts -------------------------------------------------------------------------------------


def _verdict(search: Any, ahead: Ahead, about: About) -> str:
    """How a forecast compares with plain ones, and how often its interval held."""
    if ahead.runs_away:
        return (
            "This forecast runs far away from the values so far: do not use it. Search larger "
            "ridge values, smaller spectral radii or differences."
        )
    if ahead.instead is not None:
        plain = f"This is a plain forecast, {_phrase(ahead.instead.name, ahead)}"
        if ahead.instead.ran_away:
            return f"{plain}, because that of the networks runs far away from the values so far."
        compared = _compared(ahead.instead.error, ahead.instead.networks, ahead.metric)
        return f"{plain}: on past validation intervals it was {compared} the networks."
    if ahead.own is None:
        return f"How good this forecast will be was not measured: {about.how} measures it."
    nearest, held = ahead.nearest, _held(search.evaluation_)
    if nearest is None:
        name = search.evaluation_.attrs["metric"]
        return f"On past data its {name} was {in_words(ahead.own)} on average{held}."
    compared = _compared(ahead.own, ahead.errors[nearest], ahead.metric)
    words = f"{compared} {_phrase(nearest, ahead)}, the best plain forecast{held} on past data."
    return words[0].upper() + words[1:]


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


def _compared(own: float, other: float, metric: Any) -> str:
    """An error beside another, as "8 % better than"; in numbers where shares mean nothing."""
    own, other = metric.cost(own), metric.cost(other)
    better = own < other
    if metric.then == "log10" or metric.higher or not (own > 0 and other > 0):
        return "better than" if better else "no better than"
    if not np.isfinite(own):
        return "much worse than"
    share = own / other - 1
    if abs(share) < EVEN:
        return "as good as"
    if share > 1:
        return f"{own / other:.2g} times as far off as"
    return f"{max(1, round(100 * abs(share)))} % {'better' if better else 'worse'} than"


def _held(evaluation: Any) -> str:
    """How often the interval held, after a semicolon; nothing if it is not known."""
    if "coverage" not in evaluation:
        return ""
    share = float(evaluation.coverage.values.mean())
    times, often = round(10 * share), f"{round(100 * share)} times in 100"
    if share == 1:
        often = "every time"
    elif 0 < times < 10:
        often = f"{count(times, 'time')} in 10"
    return f"; the {100 * evaluation.attrs['level']:g} % interval held {often}"


def _percent(share: float) -> str:
    """A share in words; not all unless it is all."""
    whole = share in (0.0, 1.0) or 0.1 <= share < 0.95
    return f"{100 * share:.{0 if whole else 1}f} %"


def _phrase(name: str, ahead: Ahead) -> str:
    """A plain forecast as something that is done."""
    season = _season(name)
    if name == "blend":  # of the longest season that there is
        season = max(_season(one) for one in [*ahead.plain, *ahead.errors, name])
    if name == "drift":
        return "going on with the mean change of the past"
    words = "the last value"
    if season:
        words = _period(season, ahead.table.index) or f"the value of {season} steps ago"
    return f"repeating {words}{' with half of its usual change' if name == 'blend' else ''}"


def short_name(name: str, index: Any) -> str:
    """A plain forecast in a legend or at the head of a column."""
    return _period(_season(name), index) or name


def _season(name: str) -> int:
    """The season that a plain forecast repeats, 0 for none."""
    found = re.fullmatch(r"value (\d+) steps ago", name)
    return int(found[1]) if found else 0


def _period(season: int, index: Any) -> str | None:
    """What a season of dates is called."""
    if isinstance(index, pd.PeriodIndex):
        index = index.to_timestamp()
    if not isinstance(index, pd.DatetimeIndex) or len(index) < 2:
        return None
    days = season * float((index[-1] - index[0]) / pd.Timedelta(days=1)) / (len(index) - 1)
    return next((words for one, words in PERIODS if abs(days / one - 1) < CLOSE), None)


# --- numbers --------------------------------------------------------------------------------------


def _cards(search: Any, ahead: Ahead | None) -> list[dict[str, Any]]:
    """Errors that were measured: on what follows, in validation; how often intervals held."""
    evaluation = search.evaluation_
    of = "Networks: " if ahead is not None and ahead.instead is not None else ""
    cards: list[dict[str, Any]] = []
    if evaluation is not None:
        name, horizon = evaluation.attrs["metric"], evaluation.attrs["horizon"]
        errors = evaluation[name].values
        ends = f"{figure(float(errors.min()))} to {figure(float(errors.max()))}"
        words = f"On the {horizon} {search.estimator._task.rows} after "
        words += f"each of {len(errors)} beginnings: {ends}." if len(errors) > 1 else "a beginning."
        cards.append(_card(f"{of}{name} on unseen data", float(errors.mean()), words))
        if "coverage" in evaluation:
            label = f"{of}Values inside {100 * evaluation.attrs['level']:g} % intervals"
            words = f"On the same unseen data, {horizon * len(errors):,} steps."
            held = float(evaluation.coverage.values.mean())
            cards.append(_card(label, held, words, percent=True))
    elif ahead is None:
        words = "echofold.evaluate(search, …) repeats the whole search on beginnings of the data "
        words += "and scores it on what follows."
        cards.append(_card("On unseen data", None, words))
    metric = search._reader.metrics[0]
    if not search.estimator._task.labels or metric.needs == "labels":
        best = "highest" if metric.higher else "lowest"
        words = f"Flattered: the {best} of many, by which the winner was chosen."
        cards.append(_card(f"{of}Validation {metric.name}", float(search.best_score_), words))
    return cards


def _card(label: str, value: float | None, words: str, percent: bool = False) -> dict[str, Any]:
    text = "not measured" if value is None else f"{100 * value:.1f} %" if percent else None
    return {"label": label, "value": value, "text": text, "words": words}


def _beside_plain_ones(ahead: Ahead) -> list[dict[str, Any]]:
    """Errors on past data of the networks and of plain forecasts, the lowest marked."""
    if not ahead.errors or ahead.own is None:
        return []
    errors = {"networks": ahead.own, **ahead.errors}
    costs = {name: ahead.metric.cost(error) for name, error in errors.items()}
    given = "networks" if ahead.instead is None else ahead.instead.name
    lowest = min((cost for cost in costs.values() if np.isfinite(cost)), default=None)
    return [
        {
            "name": short_name(name, ahead.table.index),
            "value": error,
            "error": figure(error),
            "lowest": costs[name] == lowest,
            "given": name == given,
        }
        for name, error in errors.items()
    ]


def _tables(ahead: Ahead) -> list[dict[str, Any]]:
    """A table for each of the first outputs: every step, its interval, the plain forecasts."""
    parts, (time, steps) = _parts(ahead), _steps(ahead)
    for name, values in ahead.plain.items():
        parts[short_name(name, ahead.table.index)] = values
    found = []
    for output in range(min(OUTPUTS, ahead.table.values.shape[1])):
        values = np.column_stack([part[:, output] for part in parts.values()])
        cells = [
            list(zip(row, texts, strict=True))
            for row, texts in zip(values.tolist(), _alike(values), strict=True)
        ]
        table = {"name": column_name(ahead.table, output), "head": [time, *map(_head, parts)]}
        found.append(table | {"rows": list(zip(steps, cells, strict=True))})
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


def _csv_link(ahead: Ahead) -> str:
    """The forecast and its intervals as a file that a link carries."""
    outputs, (time, steps) = ahead.table.values.shape[1], _steps(ahead)
    parts = _parts(ahead)
    columns: dict[str, Any] = {}
    for output in range(outputs):
        prefix = f"{legible(column_name(ahead.table, output))} " if outputs > 1 else ""
        columns |= {prefix + name: values[:, output] for name, values in parts.items()}
    frame = pd.DataFrame({"date" if time in columns else time: steps, **columns})
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


def _head(name: str) -> str:
    """The head of a column: ends of intervals in words."""
    end, _, percent = name.partition("_")
    words = {"lower": "low", "upper": "high"}
    return f"{words[end]} {percent} %" if end in words else name


def _steps(ahead: Ahead) -> tuple[str, list[str]]:
    """What steps are called, and each as text."""
    assert ahead.forecast is not None
    mean, rows = ahead.forecast.mean, len(ahead.table.values)
    index = pd.RangeIndex(rows, rows + len(mean))  # of rows without a name, which are counted on
    if isinstance(mean, pd.Series | pd.DataFrame):
        index = mean.index
    name = "row" if index.name is None else legible(str(index.name))
    return name, written(index)
