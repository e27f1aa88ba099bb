"""The page of a model's life: what it forecast, what came, and what it says next."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.text import figure, legible

WIDE, LOW, EDGE = 1120, 260, 24  # pixels of the picture
DRAWN = 60  # latest values that are


def page_of(name: str, known: list[dict[str, Any]], words: str, ahead: pd.DataFrame) -> str:
    """The page as text; the same for the same records, whenever it is made."""
    from echofold.report import _page

    rows = [
        {
            "after": one["after"], "compared": one["compared"], "error": figure(one["error"]),
            "expected": figure(one["expected"]), "bias": figure(one["bias"]),
            "plain": figure(one["plain"] and one["plain"]["error"]),
            "inside": [_share(one["inside"].get(level)) for level in _levels(known)],
        }
        for one in reversed(known)
    ]  # fmt: skip
    content = {
        "heading": legible(f"Forecasts of {name}, and what came"),
        "verdict": words,
        "levels": [f"{float(level):.0%}" for level in _levels(known)],
        "rows": rows,
        "picture": picture(known, ahead),
        "columns": list(ahead.columns),
        "ahead": [[row[0], *map(figure, row[1:])] for row in ahead.itertuples(index=False)],
    }
    return _page("updates.html.j2", content)


def _share(value: float | None) -> str:
    """A share in per cent."""
    return "–" if value is None else f"{value:.0%}"


def _levels(known: list[dict[str, Any]]) -> list[str]:
    """Levels of all intervals."""
    return sorted({level for one in known for level in one["inside"]}, key=float)


def picture(known: list[dict[str, Any]], ahead: pd.DataFrame) -> str:
    """What came, each forecast of it, and the next forecast with its widest interval, as SVG."""
    truth, said, times = list[float](), list[tuple[int, list[float]]](), list[str]()
    for one in known:
        steps = len(one["truth"])
        times += [*one["times"], *[""] * steps][:steps]
        said.append((len(truth), [_number(value) for value in one["mean"][:steps]]))
        truth += [_number(value) for value in one["truth"]]
    cut = max(0, len(truth) - DRAWN)
    past = np.array(truth[cut:], dtype=float)
    mean = ahead["forecast"].to_numpy(dtype=float)
    ends = [name for name in ahead.columns if str(name).startswith(("lower_", "upper_"))][-2:]
    low, high = (ahead[name].to_numpy(dtype=float) for name in ends) if ends else (mean, mean)
    parts = [(begin - cut, values) for begin, values in said if begin >= cut]
    drawn = np.concatenate([past, mean, low, high, *(values for _, values in parts)])
    if not np.isfinite(drawn).any():
        return ""
    drawn = drawn[np.isfinite(drawn)]
    bottom, top = drawn.min(), drawn.max()
    span, last = (top - bottom) or 1.0, max(len(past) + len(mean) - 1, 1)

    def at(places: Any, values: Any) -> str:
        points = [
            f"{EDGE + (WIDE - 2 * EDGE) * x / last:.1f},"
            f"{LOW - EDGE - (LOW - 2 * EDGE) * (y - bottom) / span:.1f}"
            for x, y in zip(places, values, strict=True)
            if np.isfinite(y)
        ]
        return " ".join(points)

    after = len(past) + np.arange(len(mean))
    joined = at(np.append(after[:1] - 1, after), np.append(past[-1:], mean)) if len(past) else ""
    first, final = (
        escape(one) for one in ([*times[cut:], str(ahead.iloc[0, 0])][0], str(ahead.iloc[-1, 0]))
    )
    band = f"{at(after, low)} {at(after[::-1], high[::-1])}"
    lines = "".join(
        f'<polyline class="said" points="{at(begin + np.arange(len(values)), values)}"/>'
        for begin, values in parts
        if len(values) > 1
    )
    dots = "".join(
        f'<circle class="dot" r="2.4" cx="{x}" cy="{y}"/>'
        for begin, values in parts
        for x, y in (one.split(",") for one in at(begin + np.arange(len(values)), values).split())
    )
    return (
        f'<svg viewBox="0 0 {WIDE} {LOW}" role="img" aria-label="what came, forecasts of it, and '
        f'the next forecast"><polygon class="band" points="{band}"/>'
        f'<polyline class="past" points="{at(np.arange(len(past)), past)}"/>{lines}{dots}'
        f'<polyline class="ahead" points="{joined or at(after, mean)}"/>'
        f'<text x="{EDGE}" y="14">{figure(float(top))}</text>'
        f'<text x="{EDGE}" y="{LOW - 6}">{first}</text>'
        f'<text x="{WIDE - EDGE}" y="{LOW - 6}" text-anchor="end">{final}</text></svg>'
    )


def _number(value: float | None) -> float:
    """A number of a record; NaN where it has none."""
    return np.nan if value is None else float(value)
