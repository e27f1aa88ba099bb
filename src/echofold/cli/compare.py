"""Schemes and final models compared on values they have not seen, beside plain forecasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from echofold._machine.progress import Pace, in_time
from echofold._search.evaluate import (
    as_dataset,
    beginnings,
    check_zeros,
    errors_on,
    spread_of,
    starts_of,
)
from echofold._search.plain import plain_errors
from echofold._search.selection import mean_ridge
from echofold.cli.defaults import Recipe
from echofold.metrics._metric import resolve

LEVEL = 0.9


@dataclass(frozen=True)
class Comparison:
    """Errors over beginnings (``origin``), with names along the other axes.

    ``error`` and ``coverage`` are ``(origins, schemes, finals)``, ``validation`` is
    ``(origins, schemes)``, ``plain`` has ``(origins,)`` for each plain forecast. ``searches``
    are the fitted searches, one for each of ``starts``.
    """

    schemes: tuple[str, ...]
    finals: tuple[str, ...]
    starts: np.ndarray
    validation: np.ndarray
    error: np.ndarray
    coverage: np.ndarray
    plain: dict[str, np.ndarray]
    searches: list[Any]

    @property
    def plain_means(self) -> dict[str, float]:
        """Mean errors of the plain forecasts."""
        return {name: float(errors.mean()) for name, errors in self.plain.items()}

    def expected(self, scheme: str, final: str) -> float:
        """Mean error over beginnings."""
        return float(self.error[:, self.schemes.index(scheme), self.finals.index(final)].mean())

    def best(self) -> tuple[str, str]:
        """Scheme and final model with the lowest mean error."""
        mean = self.error.mean(axis=0)
        mean = np.where(np.isnan(mean), np.inf, mean)
        scheme, final = np.unravel_index(mean.argmin(), mean.shape)
        return self.schemes[scheme], self.finals[final]

    def evaluation(self, scheme: str, recipe: Recipe, level: float):
        """What `echofold.evaluate` finds for one scheme and the first final model."""
        s = self.schemes.index(scheme)
        variables = {
            recipe.metric: self.error[:, s, 0],
            "validation": self.validation[:, s],
            "coverage": self.coverage[:, s, 0],
        }
        return as_dataset(variables, self.starts, recipe.horizon, level, recipe.metric)


def compare(
    series: Any,
    recipe: Recipe,
    finals: Sequence[str],
    output: Any,
    level: float = LEVEL,
    X: pd.DataFrame | None = None,
    then: int = 0,
) -> Comparison:
    """Repeat a search on ``recipe.origins`` beginnings and score it on the horizon that follows.

    Where that has no value there is nothing to score: such beginnings are left out. The last value
    is never missing.

    ``X`` are inputs known in advance, beside the values; a search of as many values as ``then``
    follows, and counts to the time that is left.
    """
    values, horizon, metric = series.values, recipe.horizon, resolve(recipe.metric)
    starts, spread = starts_of(len(values), recipe.origins, horizon), spread_of(values)
    starts = starts[[values.iloc[start : start + horizon].notna().any() for start in starts]]
    if len(starts) < recipe.origins:
        lost = recipe.origins - len(starts)
        output.note(f"left out, without a value to score: {lost} of {recipe.origins} beginnings.")
    check_zeros([metric], values.to_numpy(), starts, horizon)
    names = tuple(recipe.schemes)
    shape = (len(starts), len(names), len(finals))
    validation, error, coverage = np.empty(shape[:2]), np.empty(shape), np.empty(shape)
    seen = series.seasons_before(int(starts.min())) if len(starts) else ()
    plain = plain_errors(values.to_numpy()[:, None], seen, starts, horizon, metric, spread)
    searches: list[Any] = []
    pace = Pace(float(starts.sum()) + then)  # a search takes about as long as its values are many

    def fresh(start: int):
        if len(starts) > 1:
            left = pace.left(float(starts[: len(searches)].sum()))
            words = "" if left is None else f", about {in_time(left)} left"
            place = f"{len(searches) + 1} of {len(starts)}"
            output.stage(f"    {place}: the first {start:,} values{words}")
        return recipe.shorter[int(start)].search(output.progress, f"beginning-{start}")

    more = {} if X is None else {"X": X}
    for i, held in enumerate(beginnings(fresh, [values], starts, horizon, more)):
        searches.append(held.search)
        for s, name in enumerate(names):
            validation[i, s] = winner(held.search, name)[0]
            for f, final in enumerate(finals):
                model = held.search.best_estimator_  # of the first scheme
                if s or final != recipe.final:
                    model = held.search.finalize(final, name)
                errors, judged = errors_on(held, model, [metric], spread, level)
                error[i, s, f], coverage[i, s, f] = errors[metric.name], judged["coverage"]
    return Comparison(names, tuple(finals), starts, validation, error, coverage, plain, searches)


def winner(search: Any, scheme: str) -> tuple[float, dict[str, Any]]:
    """The lowest validation error by a scheme, and the parameters that reached it."""
    best = search._winner(scheme)
    ridge = mean_ridge(search.results_[scheme].ridge.values[best.ridge])
    return search._winners.score(best), {**search.candidates_[best.candidate], "ridge": ridge}


def errors_of(content: dict[str, Any]) -> tuple[Any, str, Any]:
    """Of what a command found: the networks' error, and the best plain forecast with its own."""
    plain = content.get("simple") or {}
    best = min(plain, key=lambda name: plain[name]) if plain else ""
    own = None
    if "chosen" in content:
        scheme = content["chosen"]["scheme"]
        own = next(row["expected"] for row in content["schemes"] if row["scheme"] == scheme)
    elif "results" in content:
        own = min(row["test"] for row in content["results"])
    return own, best, plain.get(best)
