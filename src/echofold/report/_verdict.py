"""What a report says in one sentence: how good this is, as far as it was measured."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from echofold._data.text import in_words
from echofold.report._about import About, Ahead
from echofold.report._accuracy import Recognised

PERIODS = (  # days of a season, and what it is called
    (1.0, "the day before"), (7.0, "last week"), (30.44, "last month"), (91.3, "last quarter"),
    (365.25, "last year"),
)  # fmt: skip
CLOSE = 0.02  # of a period, within which a season is that period
EVEN = 0.005  # of an error, within which two are called equal


def verdict_on_forecast(search: Any, ahead: Ahead, about: About) -> str:
    """How a forecast compares with plain ones, and how often its interval held."""
    if ahead.runs_away:
        return (
            "This forecast runs far away from the values so far: do not use it. Search larger "
            "ridge values, smaller spectral radii or differences."
        )
    if ahead.instead is not None and ahead.instead.ran_away:
        return (
            f"This is a plain forecast, {phrase(ahead.instead.name, ahead)}, because that of the "
            "networks runs far away from the values so far."
        )
    if ahead.instead is not None:
        compared = _compared(ahead.instead.error, ahead.instead.networks, ahead.metric)
        return (
            f"This is a plain forecast, {phrase(ahead.instead.name, ahead)}: on past validation "
            f"intervals it was {compared} the networks."
        )
    if ahead.own is None:
        return f"How good this forecast will be was not measured: {about.how} measures it."
    nearest, held = ahead.nearest, _held(search.evaluation_)
    if nearest is None:
        name = search.evaluation_.attrs["metric"]
        return f"On past data its {name} was {in_words(ahead.own)} on average{held}."
    compared = _compared(ahead.own, ahead.errors[nearest], ahead.metric)
    words = f"{compared} {phrase(nearest, ahead)}, the best plain forecast{held} on past data."
    return words[0].upper() + words[1:]


def verdict_on_classes(found: Recognised) -> str:
    """How many sequences were recognised, beside what the most frequent class would do."""
    return (
        f"{_percent(found.accuracy)} of the sequences were recognised when they were validated; "
        f"always saying the most frequent class would be right for {_percent(found.most_frequent)}."
    )


def verdict_on_values(r2: list[tuple[str, float]]) -> str:
    """How much of the variance is explained."""
    if len(r2) == 1:
        return (
            f"On validation rows predictions explain {_percent(r2[0][1])} of the variance of "
            f"{r2[0][0]} (R² {r2[0][1]:.3f})."
            if r2[0][1] > 0
            else f"On validation rows predictions of {r2[0][0]} are no better than its mean "
            f"(R² {r2[0][1]:.3f})."
        )
    values = [value for _, value in r2]
    return (
        f"On validation rows R² is {np.mean(values):.3f} in the mean of {len(r2)} outputs, "
        f"{min(values):.3f} to {max(values):.3f}."
    )


def phrase(name: str, ahead: Ahead) -> str:
    """A plain forecast as something that is done."""
    season = _season(name)
    if name == "blend":  # of the longest season that there is
        season = max(_season(one) for one in [*ahead.plain, *ahead.errors, name])
    if not season:
        return {
            "last value": "repeating the last value",
            "drift": "going on with the mean change of the past",
            "blend": "repeating the last value with half of its usual change",
        }[name]
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
    level = f"; the {100 * evaluation.attrs['level']:g} % interval held"
    if share == 1:
        return f"{level} every time"
    times = round(10 * share)
    if 0 < times < 10:
        return f"{level} {times} time{'s' if times > 1 else ''} in 10"
    return f"{level} {round(100 * share)} times in 100"


def _percent(share: float) -> str:
    """A share in words; not all unless it is all."""
    whole = share in (0.0, 1.0) or 0.1 <= share < 0.95
    return f"{100 * share:.{0 if whole else 1}f} %"
