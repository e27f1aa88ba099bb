"""What is searched for a series to forecast: representations of its values, networks by its length.

The one place of these defaults: `AutoForecaster`, and all that call it, take theirs from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from echofold._data.arguments import check_count, check_names, check_one_of, is_integer, refuse
from echofold._data.text import inflected
from echofold._models.forecaster import ESNForecaster
from echofold._search.search import ESNSearchCV
from echofold._search.selection import FINALS
from echofold._search.spaces import GRIDS, LONG, OFTEN, RIDGE, Forms
from echofold.schemes import BY_NAME, sizes_of

# By errors on rows that were trained on, neither networks and plain forecasts nor schemes can be
# compared, and intervals would be too narrow.
SCHEMES = tuple(
    name for name, scheme in BY_NAME.items() if "valid" in sizes_of(scheme) and scheme.holds_out
)
EFFORTS = {"fast": ("small", 1), "normal": ("medium", 3), "high": ("large", 5)}  # grid, draws
SETTINGS = (  # that may be asked for, instead of what the recipe has
    "scheme", "k", "units", "grid", "draws", "log", "difference", "metric", "final", "verify",
)  # fmt: skip
LEAST = 36  # values that networks are searched from on: of fewer, others forecast better
LARGEST = 1e100  # of a value: its square, and the sum of many of them, are numbers still
MANY = 1000  # rows from which reservoirs have 100 units rather than 50, and one draw is enough
DEFAULT = "accumulative"
FORWARD = ("single", DEFAULT, "walk-forward")  # train on what is before a stretch, as others do
SPLITS = 20


def forms_of(values: np.ndarray, seasons: tuple[int, ...], asked: Mapping[str, Any]) -> Forms:
    """What suits these values ``(T,)``, NaN where missing; raise if what is asked for does not."""
    log, lags = asked.get("log"), asked.get("difference")
    if log and (values <= 0).any():
        row = int((values <= 0).argmax())
        raise ValueError(
            f"log=True needs positive values, but value {row + 1} is {values[row]:.6g}; leave it "
            "out."
        )
    if log is None and len(values) >= LONG:
        log = False  # seldom worth its time there
    if lags is not None:
        lags = (lags,) if is_integer(lags) else lags
        several = any(isinstance(one, list | tuple) for one in lags)
        lags = tuple(tuple(one) for one in (lags if several else [lags]))
        longest = max(lags, key=sum)
        if len(values) < 3 * sum(longest) + 20:
            raise ValueError(
                f"difference={longest!r} leaves too few of {len(values)} values; use smaller lags."
            )
    return Forms(seasons, not (values <= 0).any(), log, lags)


@dataclass(frozen=True)
class Recipe:
    """What to search for a series of some length, and how it is validated."""

    schemes: dict[str, Any]
    k: int
    valid: int
    units: int
    grid: str
    forms: tuple[dict[str, Any], ...]
    metric: str
    draws: int
    final: str
    verify: bool

    def search(
        self, limits: tuple[float, ...] | None, seed: Any, device: str, precision: str, **how: Any
    ) -> ESNSearchCV:
        """A new search, whose forecasts stay inside of ``limits``."""
        own: dict[str, Any] = {
            "output_range": limits, "device": device, "precision": precision,
        }  # fmt: skip
        return ESNSearchCV(
            ESNForecaster(self.units, random_state=seed, **own),
            [
                {name: [value] for name, value in form.items()}
                | {**GRIDS[self.grid], "ridge": RIDGE}
                for form in self.forms
            ],
            cv=self.schemes,
            metric=self.metric,
            final=self.final,
            n_draws=self.draws,
            verify=self.verify,
            **how,
        )

    @property
    def words(self) -> str:
        """One line about what is searched."""
        networks = len(self.forms) * prod(map(len, GRIDS[self.grid].values()))
        draws = f" × {self.draws} draws" if self.draws > 1 else ""
        return (
            f"{networks} networks of {self.units} units in {len(self.forms)} representations × "
            f"{len(RIDGE)} ridge values{draws}, validated by {', '.join(self.schemes)} "
            f"({self.k} splits of {self.valid} steps)"
        )


def stretches(values: int, horizon: int, seen: int = 1) -> np.ndarray:
    """Rows ``(stretches, steps)`` in the later half of so many values; none of a single one.

    None begins before ``seen`` values, if that leaves room for one.

    Examples
    --------
    >>> stretches(9, 2).tolist()
    [[4, 5], [6, 7], [7, 8]]
    """
    if values < 2:
        return np.zeros((0, 1), dtype=int)
    most, steps = stretch_sizes(values, horizon)
    last = values - steps
    first = min(last, max(seen, values - values // 2 - steps // 2))
    starts = np.unique(np.linspace(first, last, most).round().astype(int))
    return starts[:, None] + np.arange(steps)


def stretch_sizes(values: int, horizon: int, lost: int = 0) -> tuple[int, int]:
    """How many stretches of the later half are forecast, and steps of each."""
    rows = rows_of(values, lost)
    steps = max(1, min(horizon, rows // 3))
    return min(SPLITS, max(1, rows - rows // 2 - steps + 1)), steps


def rows_of(values: int, lost: int = 0) -> int:
    """Rows that schemes split: pairs after the washout, or after what differences lose."""
    return values - 1 - max(min(200, (values - 1) // 10), lost)


def recipe_for(
    values: np.ndarray,
    seasons: tuple[int, ...],
    horizon: int,
    effort: str = "normal",
    asked: Mapping[str, Any] | None = None,
) -> Recipe | str:
    """What to search for values ``(T,)``, NaN where missing; a sentence why nothing is.

    ``asked`` are those of `SETTINGS` that are not left to the recipe.
    """
    asked = check_settings(asked, effort)
    there = ~np.isnan(values)
    length, known = len(values) - int(there[::-1].argmax()), values[there]
    rows = rows_of(length)
    if len(known) < LEAST:
        few = inflected(len(known), "one value is", "{} values are")
        return f"{few} too few for networks, which need {LEAST}"
    size, spread = float(np.abs(known).max()), float(np.ptp(known))
    if not spread > 1e-12 * size:
        return "all values are equal, so there is nothing for networks to learn"
    if spread < 1 / LARGEST:
        return "the values vary by too little for networks to compute with"
    forms = forms_of(values, seasons, asked)
    if seasons and not forms.fitting_seasons(rows) and forms.differences is None:
        return (
            f"{length} values are too few for networks to learn a season of {min(seasons)} steps, "
            f"which they must have seen {OFTEN} times"
        )
    among = forms.fitting(rows)
    lost = max(sum(form["difference"]) for form in among)
    most, valid = stretch_sizes(length, horizon, lost)
    left, k = rows_of(length, lost), asked.get("k")
    fitting = max(1, left - left // 2 - valid + 1)  # validations that start in the second half
    if k is not None and k > fitting:
        raise ValueError(
            f"k={k} splits of {valid} steps do not fit in {left} rows; use at most {fitting}."
        )
    grid, draws = EFFORTS[effort]
    if effort == "normal" and length >= LONG:
        grid = "small"
    if effort == "normal" and rows >= MANY:
        draws = 1
    names = [asked.get("scheme") or DEFAULT]
    if names == ["all"]:
        names = sorted(SCHEMES, key=lambda name: name != DEFAULT)  # the first decides
    k = k or most
    return Recipe(
        schemes={name: scheme_of(name, k=k, valid=valid) for name in names},
        k=k,
        valid=valid,
        units=asked.get("units") or min(50 if rows < MANY else 100, max(10, rows // 3)),
        grid=asked.get("grid") or grid,
        forms=among,
        metric=asked.get("metric") or "rmse",
        draws=asked.get("draws") or draws,
        final=asked.get("final") or "ensemble",
        verify=bool(asked.get("verify")),
    )


def check_settings(asked: Mapping[str, Any] | None, effort: str) -> dict[str, Any]:
    """Settings of a search that were given; raise for one that there is not."""
    if effort not in EFFORTS:
        refuse("effort", effort, "'fast', 'normal' or 'high'")
    if asked is None:
        return {}
    if not isinstance(asked, Mapping):
        refuse("search", asked, f"a dict with some of {', '.join(SETTINGS)}")
    check_names(list(asked), SETTINGS, "search", ValueError)
    given = {name: value for name, value in asked.items() if value is not None}
    for name, allowed in (("scheme", (*FORWARD, "all")), ("grid", GRIDS), ("final", FINALS)):
        if name in given:
            check_one_of(name, given[name], allowed)
    for name in {"k", "units", "draws"} & given.keys():
        check_count(name, given[name])
    return given


def scheme_of(name: str, **sizes: Any) -> Any:
    """A scheme by its name, from those of the sizes that it takes."""
    scheme = BY_NAME[name]
    return scheme(**{size: sizes[size] for size in sizes_of(scheme) if size in sizes})
