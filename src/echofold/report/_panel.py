"""The page of many series: what is said of all, the best and the worst, a table of every one."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.dates import written
from echofold._data.text import figure, legible
from echofold._models.forecast import Forecast
from echofold._search.panel import errors_of
from echofold._search.verdict import short_name

# Series in a table, those with the largest errors; all are in the file of forecasts.
MOST = 2000
SHOWN = 4  # best and worst ones that are drawn
HISTORY = 5  # times the horizon, of the past that is drawn
# Pixels of a picture, of one in the table, and of that of the total.
WIDE, LOW, LARGE = (560, 170), (150, 34), (1120, 240)


def content_of(
    model: Any, ahead: dict[Any, Forecast], title: str, totals: Any = None
) -> dict[str, Any]:
    """What the template of a panel is filled with; ``ahead`` are forecasts by series."""
    names, errors = list(model.series_), model.errors_.reset_index(drop=True)
    errors = errors.sort_values("forecast", ascending=False, na_position="first")
    known = errors.dropna(subset=["forecast"])
    ends = {"The largest errors": known.index[:SHOWN], "The smallest": known.index[::-1][:SHOWN]}
    return {
        "heading": legible(title),
        "verdict": model.verdict_.words,
        "notes": [legible(note) for note in model.notes_],
        "cards": [
            ("Series", f"{len(model.panel_.names):,}"),
            ("Mean error", figure(model.verdict_.error)),
            ("Best plain forecast", figure(model.verdict_.best_error)),
            ("Steps ahead", str(model.horizon)),
        ],
        "members": list(model.members_["weight"].items()),
        "totals": None if totals is None else _of_totals(totals),
        "rows": _rows(model.series_, errors.head(MOST), ahead),
        "left_out": max(0, len(errors) - MOST),
        "failed": [
            (legible(str(name)), legible(words))
            for name, words in islice(model.failed_.items(), MOST)
        ],
        "failed_left_out": max(0, len(model.failed_) - MOST),
        "ends": {
            words: [
                {
                    "name": legible(str(names[place])),
                    "error": float(known["forecast"][place]),
                    "picture": picture(model.series_[names[place]], ahead[names[place]], *WIDE),
                }
                for place in places
            ]
            for words, places in ends.items()
        },
    }


def _rows(
    ones: dict[Any, Any], errors: pd.DataFrame, ahead: dict[Any, Forecast]
) -> list[dict[str, Any]]:
    """Rows of a table of series, in the order of ``errors``, which are labelled by their places."""
    names, rows = list(ones), []
    index = next(iter(ones.values())).table_.index
    plain = errors.drop(columns="forecast")
    least = plain.columns[plain.fillna(np.inf).to_numpy().argmin(axis=1)]
    each = zip(errors.index, errors["forecast"], plain.min(axis=1), least, strict=True)
    for place, error, smallest, best in each:
        name = names[int(place)]
        one = ones[name]
        mean = np.asarray(ahead[name].mean, dtype=float)
        rows.append({
            "name": named(name), "values": one.rows_, "error": error,
            "plain": smallest, "best": "" if np.isnan(smallest) else short_name(best, index),
            "last": float(one.values_[~np.isnan(one.values_)][-1]), "sum": float(mean.sum()),
            "picture": picture(one, ahead[name], *LOW, plainly=True),
        })  # fmt: skip
    return rows


def _of_totals(totals: Any) -> dict[str, Any]:
    """What is shown of sums: errors by level, the total, and each of the others."""
    first = next(iter(totals.sums))
    return {
        "notes": [legible(note) for note in totals.notes],
        "levels": [
            (legible(str(level)), f"{int(one['series']):,}", one["alone"], one["reconciled"])
            for level, one in totals.errors.iterrows()
        ],
        "name": named(first),
        "picture": picture(totals.sums[first], totals.by_name[first], *LARGE),
        "rows": _rows(totals.sums, errors_of(totals.sums.values()).head(MOST), totals.by_name),
        "left_out": max(0, len(totals.sums) - MOST),
    }


def named(name: Any) -> str:
    """The name of a series as it is shown; ids of several are told apart by a stroke."""
    return legible(" / ".join(map(str, name)) if isinstance(name, tuple) else str(name))


def picture(one: Any, ahead: Forecast, width: int, height: int, plainly: bool = False) -> str:
    """The end of a series with its forecast and widest interval, as SVG; ``plainly``: no axes."""
    level = max(ahead.lower)
    mean, low, high = (
        np.asarray(part, dtype=float)
        for part in (ahead.mean, ahead.lower[level], ahead.upper[level])
    )
    past = one.values_[-HISTORY * len(mean) :]
    drawn = np.concatenate([past, mean, low, high])
    bottom, top = np.nanmin(drawn), np.nanmax(drawn)
    span, edge = (top - bottom) or 1.0, 2 if plainly else 22

    def at(places: np.ndarray, values: np.ndarray) -> str:
        x = edge + (width - 2 * edge) * places / max(len(past) + len(mean) - 1, 1)
        y = height - edge - (height - 2 * edge) * (values - bottom) / span
        there = np.isfinite(values)
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[there], y[there], strict=True))

    before, after = np.arange(len(past)), len(past) + np.arange(len(mean))
    band = f"{at(after, low)} {at(after[::-1], high[::-1])}"
    joined = at(np.append(before[-1:], after), np.append(past[-1:], mean))
    words = ""
    if not plainly:
        first, last = _ends(one, len(past), ahead)
        words = (
            f'<text x="{edge}" y="{height - 4}">{first}</text>'
            f'<text x="{width - edge}" y="{height - 4}" text-anchor="end">{last}</text>'
            f'<text x="{edge}" y="14">{figure(top)}</text>'
        )
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="the past and the forecast">'
        f'<polygon class="band" points="{band}"/>'
        f'<polyline class="past" points="{at(before, past)}"/>'
        f'<polyline class="ahead" points="{joined}"/>{words}</svg>'
    )


def _ends(one: Any, rows: int, ahead: Forecast) -> tuple[str, str]:
    """The first and the last date that are drawn, or the numbers of these rows."""
    mean = ahead.mean
    if not isinstance(mean, pd.Series) or one.table_.index is None:
        return str(one.rows_ - rows), str(one.rows_ + len(mean) - 1)
    return written(one.table_.index[[-rows]])[0], written(mean.index[[-1]])[0]
