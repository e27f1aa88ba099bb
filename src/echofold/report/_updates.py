"""The page of a model's life: what it forecast, what came, and what it says next."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.text import figure, legible

WIDE, LOW, EDGE = 1120, 260, 24  # pixels of the picture
SMALL = 560, 170  # of that of one of several series
DRAWN = 60  # latest values that are
MOST = 2000  # series in a table
WORST = 4  # of these that are drawn
MARKS = "<!-- updates -->", "<!-- /updates -->"  # around what a report is told of updates


def page_of(name: str, known: list[dict[str, Any]], words: str, ahead: pd.DataFrame) -> str:
    """The page as text; the same for the same records, whenever it is made."""
    return _filled(
        legible(f"Forecasts of {name}, and what came"), known, words,
        picture=picture(known, ahead),
        columns=list(ahead.columns),
        ahead=[[row[0], *map(figure, row[1:])] for row in ahead.itertuples(index=False)],
    )  # fmt: skip


def page_of_all(
    title: str, known: list[dict[str, Any]], words: str, each: dict[str, tuple[Any, ...]],
    failed: dict[str, str],
) -> str:  # fmt: skip
    """The page of several series: of ``each`` its records, its judgement and what is next.

    Those that do worst are first.
    """
    rows = [
        {
            "name": legible(name), "compared": one.compared,
            "figures": [(value, figure(value)) for value in (one.error, one.expected, one.plain)],
            "inside": _share(one.coverage), "losing": one.losing, "words": one.words,
        }
        for name, (_, one, _) in each.items()
    ]  # fmt: skip
    drawn = [
        (legible(name), one.words, picture(records, ahead, *SMALL))
        for name, (records, one, ahead) in list(each.items())[:WORST]
        if records
    ]
    return _filled(
        legible(f"Forecasts of {title}, and what came"), known, words,
        several=True, rows_of_series=rows[:MOST], left_out=max(0, len(rows) - MOST), drawn=drawn,
        failed=[(legible(name), legible(why)) for name, why in failed.items()],
    )  # fmt: skip


def _filled(heading: str, known: list[dict[str, Any]], words: str, **more: Any) -> str:
    """The template with what pages of one series and of several have in common."""
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
        "heading": heading,
        "verdict": words,
        "levels": [f"{float(level):.0%}" for level in _levels(known)],
        "rows": rows,
        "marks": MARKS,
        **{"several": False, "picture": "", "columns": [], "ahead": [], "drawn": []},
        **{"rows_of_series": [], "left_out": 0, "failed": []},
    }
    return _page("updates.html.j2", content | more)


def told_in(report: str, page: str, words: str) -> str:
    """A report with what its model has said since, from the page of updates beside it."""
    (before, old, after), table = _parted(report), _parted(page)[1]
    told = ""
    if table:
        told = (
            f"\n<section>\n<h2>What came of forecasts</h2>\n<p>{escape(legible(words))} "
            f'<a href="updates.html">Pictures, and the next forecast</a></p>{table}</section>\n'
        )
    return report if old is None else before + MARKS[0] + told + MARKS[1] + after


def _parted(text: str) -> tuple[str, str | None, str]:
    """A page before, between and after the marks; nothing between if it has none."""
    before, begun, rest = text.partition(MARKS[0])
    old, ended, after = rest.partition(MARKS[1])
    return (before, old, after) if begun and ended else (text, None, "")


def _share(value: float | None) -> str:
    """A share in per cent."""
    return "–" if value is None else f"{value:.0%}"


def _levels(known: list[dict[str, Any]]) -> list[str]:
    """Levels of all intervals."""
    return sorted({level for one in known for level in one["inside"]}, key=float)


def picture(
    known: list[dict[str, Any]], ahead: pd.DataFrame, wide: int = WIDE, low: int = LOW
) -> str:
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
    least, most = (ahead[name].to_numpy(dtype=float) for name in ends) if ends else (mean, mean)
    parts = [(begin - cut, values) for begin, values in said if begin >= cut]
    drawn = np.concatenate([past, mean, least, most, *(values for _, values in parts)])
    if not np.isfinite(drawn).any():
        return ""
    drawn = drawn[np.isfinite(drawn)]
    bottom, top = drawn.min(), drawn.max()
    span, last = (top - bottom) or 1.0, max(len(past) + len(mean) - 1, 1)

    def at(places: Any, values: Any) -> str:
        points = [
            f"{EDGE + (wide - 2 * EDGE) * x / last:.1f},"
            f"{low - EDGE - (low - 2 * EDGE) * (y - bottom) / span:.1f}"
            for x, y in zip(places, values, strict=True)
            if np.isfinite(y)
        ]
        return " ".join(points)

    after = len(past) + np.arange(len(mean))
    joined = at(np.append(after[:1] - 1, after), np.append(past[-1:], mean)) if len(past) else ""
    first, final = (
        escape(one) for one in ([*times[cut:], str(ahead.iloc[0, 0])][0], str(ahead.iloc[-1, 0]))
    )
    band = f"{at(after, least)} {at(after[::-1], most[::-1])}"
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
        f'<svg viewBox="0 0 {wide} {low}" role="img" aria-label="what came, forecasts of it, and '
        f'the next forecast"><polygon class="band" points="{band}"/>'
        f'<polyline class="past" points="{at(np.arange(len(past)), past)}"/>{lines}{dots}'
        f'<polyline class="ahead" points="{joined or at(after, mean)}"/>'
        f'<text x="{EDGE}" y="14">{figure(float(top))}</text>'
        f'<text x="{EDGE}" y="{low - 6}">{first}</text>'
        f'<text x="{wide - EDGE}" y="{low - 6}" text-anchor="end">{final}</text></svg>'
    )


def _number(value: float | None) -> float:
    """A number of a record; NaN where it has none."""
    return np.nan if value is None else float(value)
