"""How good a forecast was on past stretches, beside plain ones: in numbers and in a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from echofold import baselines
from echofold._data.text import count
from echofold._models.forecast import plausible
from echofold._validation.score import complete
from echofold.metrics._metric import Metric
from echofold.metrics._targets import Spread

PERIODS = (  # days of a season, and what it is called
    (1.0, "day"), (7.0, "week"), (30.44, "month"), (91.3, "quarter"), (365.25, "year"),
)  # fmt: skip
CLOSE = 0.02  # of a period, within which a season is that period
EXACT = 1e-9  # of the values: smaller errors are rounding
EVEN = 0.005  # of an error, within which two are called equal


@dataclass(frozen=True)
class Verdict:
    """What is said of a forecast, and the numbers that it rests on.

    ``error`` is the mean over ``stretches`` of the past of ``steps`` values each; ``best`` names
    the plain forecast with the lowest, ``best_error``, on the same values; ``together`` is that of
    all members together, which is ``error`` unless a plain forecast is given. ``coverage`` is the
    share of them inside of intervals of the ``level``, that were made without them. All are None
    where nothing could be measured.
    """

    words: str
    metric: str
    error: float | None = None
    best: str | None = None
    best_error: float | None = None
    together: float | None = None
    coverage: float | None = None
    level: float | None = None
    stretches: int = 0
    steps: int = 0

    def __str__(self) -> str:
        return self.words


def compared(own: float, other: float, metric: Metric) -> str:
    """An error beside another, as "8 % better than"; in words where shares mean nothing."""
    own, other = metric.cost(own), metric.cost(other)
    better = own < other
    if own == other:
        return "as good as"
    if metric.then == "log10" or metric.higher or not (own > 0 and other > 0):
        return "better than" if better else "no better than"
    if not np.isfinite(own):
        return "much worse than"
    share = own / other - 1
    if abs(share) < EVEN:
        return "as good as"
    if share > 1:
        return f"{own / other:.2g} times as far off as"
    percent = max(1, round(100 * abs(share)))
    if better and percent >= 100:
        return "over 99 % better than"
    return f"{percent} % {'better' if better else 'worse'} than"


def held_in_words(share: float, level: float) -> str:
    """How often an interval held."""
    times, often = round(10 * share), f"{round(100 * share)} times in 100"
    if share == 1:
        often = "every time"
    elif 0 < times < 10:
        often = f"{count(times, 'time')} in 10"
    return f"the {100 * level:g} % interval held {often}"


def phrase(name: str, index: Any) -> str:
    """A plain forecast as something that is done."""
    if name == "drift":
        return "going on with the mean change of the past"
    if name == "mean":
        return "taking the mean of the past"
    short = short_name(name, index)
    if name.startswith("mean"):
        return f"taking the {short}"
    return f"repeating {'' if short != name and 'day' not in short else 'the '}{short}"


def short_name(name: str, index: Any) -> str:
    """A plain forecast in a legend or at the head of a column."""
    period = _period(_season(name), index)
    if period is None:
        return name
    if name.startswith("mean"):
        return f"mean of the last {period}s"
    last = "day before" if period == "day" else f"last {period}"
    return last + (" and half its change" if "half" in name else "")


def _season(name: str) -> int:
    """The season that a plain forecast repeats, 0 for none."""
    found = re.search(r"(\d+) steps", name)
    return int(found[1]) if found else 0


def _period(season: int, index: Any) -> str | None:
    """What a season of dates is called."""
    if isinstance(index, pd.PeriodIndex):
        index = index.to_timestamp()
    if not isinstance(index, pd.DatetimeIndex) or len(index) < 2:
        return None
    days = season * float((index[-1] - index[0]) / pd.Timedelta(days=1)) / (len(index) - 1)
    return next((words for one, words in PERIODS if abs(days / one - 1) < CLOSE), None)


# --- plain forecasts, which any model should beat -------------------------------------------------


def plain_forecasts(
    values: np.ndarray, seasons: Sequence[int], starts: np.ndarray, horizon: int
) -> dict[str, np.ndarray]:
    """Forecasts ``(starts, horizon)`` from the values ``(T,)`` before each start, by name.

    Examples
    --------
    >>> import numpy as np
    >>> found = plain_forecasts(np.arange(8.0), (2,), np.array([8]), 3)
    >>> {name: forecast[0].tolist() for name, forecast in found.items()}["drift"]
    [8.0, 9.0, 10.0]
    """
    return {
        name: np.array([rule(values[:start], horizon) for start in starts]).reshape(-1, horizon)
        for name, rule in baselines.suiting(seasons).items()
    }


def plain_errors(
    values: np.ndarray, seasons: Sequence[int], starts: np.ndarray, horizon: int, metric: Metric,
    spread: Spread,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Errors ``(starts,)`` of plain forecasts, where ``values (T, outputs)`` are not missing."""
    columns = [plain_forecasts(column, seasons, starts, horizon) for column in values.T]
    output: Any = 0 if values.shape[1] == 1 else slice(None)
    found = {}
    for name in columns[0]:
        forecasts = np.stack([column[name] for column in columns], axis=-1)
        errors = []
        for start, forecast in zip(starts, forecasts, strict=True):
            truth = values[start : start + horizon]
            there = complete(truth)
            errors.append(metric.measure(truth[there, output], forecast[there, output], spread))
        found[name] = np.array(errors)
    return found


def near(forecast: Any, values: Any) -> bool:
    """Whether a forecast is finite and does not run away from the values so far."""
    parts = (np.asarray(part, dtype=float) for part in (values, forecast))
    values, ahead = (part.reshape(len(part), -1) for part in parts)
    span = np.array([np.nanmin(values, axis=0), np.nanmax(values, axis=0)])
    return bool(plausible(ahead, span).all())
