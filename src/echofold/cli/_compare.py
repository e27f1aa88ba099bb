"""Schemes and final models compared on values they have not seen, beside simple forecasts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from echofold import metrics
from echofold.cli._defaults import Plan
from echofold.cli._output import Output

LEVEL = 0.9


@dataclass(frozen=True)
class Comparison:
    """Errors over beginnings (``origin``), with names along the other axes.

    ``error`` and ``coverage`` are ``(origins, schemes, finals)``, ``validation`` is
    ``(origins, schemes)``, ``simple`` has ``(origins,)`` for each simple forecast. ``searches``
    are the fitted searches, one for each of ``starts``.
    """

    schemes: tuple[str, ...]
    finals: tuple[str, ...]
    starts: np.ndarray
    validation: np.ndarray
    error: np.ndarray
    coverage: np.ndarray
    simple: dict[str, np.ndarray]
    searches: list[Any]

    def expected(self, scheme: str, final: str) -> float:
        """Mean error over beginnings."""
        at = self.schemes.index(scheme), self.finals.index(final)
        return float(self.error[:, at[0], at[1]].mean())

    def best(self) -> tuple[str, str]:
        """Scheme and final model with the lowest mean error."""
        mean = self.error.mean(axis=0)
        mean = np.where(np.isnan(mean), np.inf, mean)
        scheme, final = np.unravel_index(mean.argmin(), mean.shape)
        return self.schemes[scheme], self.finals[final]

    def evaluation(self, scheme: str, final: str, plan: Plan, level: float):
        """What `echofold.evaluate` finds for one scheme and final model."""
        import xarray as xr

        s, f = self.schemes.index(scheme), self.finals.index(final)
        return xr.Dataset(
            {
                plan.metric: ("origin", self.error[:, s, f]),
                "validation": ("origin", self.validation[:, s]),
                "coverage": ("origin", self.coverage[:, s, f]),
            },
            {"origin": np.arange(len(self.starts)), "start": ("origin", self.starts)},
            {"horizon": plan.horizon, "level": level, "metric": plan.metric},
        )


def compare(
    values: pd.Series,
    plan: Plan,
    finals: Sequence[str],
    season: int | None,
    output: Output,
    level: float = LEVEL,
) -> Comparison:
    """Repeat a search on ``plan.origins`` beginnings and score it on the horizon that follows."""
    horizon, total = plan.horizon, len(values)
    starts = total - horizon * np.arange(plan.origins, 0, -1)
    names = tuple(plan.schemes)
    shape = (plan.origins, len(names), len(finals))
    validation, error, coverage = np.empty(shape[:2]), np.empty(shape), np.empty(shape)
    simple = simple_forecasts(values.to_numpy(), season, starts, horizon)
    scored = {name: np.empty(plan.origins) for name in simple}
    score = _scorer(plan.metric, values.to_numpy())
    searches = []
    for i, start in enumerate(starts):
        truth = values.to_numpy()[start : start + horizon]
        if plan.origins > 1:
            output.stage(f"    {i + 1} of {plan.origins}: the first {start:,} values")
        search = plan.search(output.progress)
        search.set_params(checkpoint=plan.kept(f"beginning-{start}"))
        search.fit(values.iloc[:start])
        searches.append(search)
        for s, name in enumerate(names):
            validation[i, s] = winner(search, name)[0]
            for f, final in enumerate(finals):
                found = search.finalize(final, name).forecast(horizon, level=level)
                error[i, s, f] = score(truth, found.mean.to_numpy())
                coverage[i, s, f] = np.mean((truth >= found.lower) & (truth <= found.upper))
        for name, forecasts in simple.items():
            scored[name][i] = score(truth, forecasts[i])
    return Comparison(names, tuple(finals), starts, validation, error, coverage, scored, searches)


def winner(search: Any, scheme: str) -> tuple[float, dict[str, float]]:
    """The lowest validation error by a scheme, and the parameters that reached it."""
    best = search.to_frame(scheme).iloc[0]
    found = search.results_[scheme]
    names = [*found.attrs["hyper_parameters"], "ridge"]
    return float(best[found.attrs["metric"]]), {name: float(best[name]) for name in names}


def simple_forecasts(
    values: np.ndarray, season: int | None, starts: np.ndarray, horizon: int
) -> dict[str, np.ndarray]:
    """Forecasts ``(origins, horizon)`` that any model should beat, by their names in words."""
    last = np.repeat(values[starts - 1][:, None], horizon, axis=1)
    found = {"last value": last}
    if season is not None and season > 1 and len(starts) and season <= starts[0]:
        ahead = np.arange(horizon) % season - season
        found[f"value {season} steps ago"] = values[starts[:, None] + ahead]
    return found


def _scorer(metric: str, values: np.ndarray) -> Callable[[np.ndarray, np.ndarray], float]:
    """The metric, with the spread of all values where one stretch of them has none."""
    function = metrics.resolve(metric).function
    options = {"scale": float(values.var())} if metric == "nrmse" else {}
    return lambda truth, found: float(function(truth, found, **options))
