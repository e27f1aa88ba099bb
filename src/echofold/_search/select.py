"""Which candidate wins: robust to scores that are infinite or missing.

Scores that are the better the higher they are come here as costs, which are their negatives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Winner:
    """A candidate with its ridge (one, or one for each split) and its cost.

    ``draw`` is the draw it was selected in, None for all of them together; ``diverged`` is the
    number of its runs without a finite cost.
    """

    candidate: int
    ridge: np.ndarray  # places in the ridge path, (splits,); all the same unless individual
    cost: float
    draw: int | None
    diverged: int = 0

    @property
    def order(self) -> tuple[int, float]:
        """Lowest first: fewest diverged runs, then the cost."""
        return self.diverged, self.cost


def mean_costs(costs: np.ndarray, individual: bool) -> np.ndarray:
    """Means over splits of ``costs (draw, candidate, split, ridge)``, infinite where not finite.

    As ``(draw, candidate, ridge)``; with a ridge for each split, ``(draw, candidate, 1)``.
    """
    worst = np.where(np.isnan(costs), np.inf, costs)
    if individual:
        worst = worst.min(axis=3, keepdims=True)
    return worst.mean(axis=2)


def best_ridges(costs: np.ndarray) -> np.ndarray:
    """The place of the best ridge of every split, from ``costs (split, ridge)``."""
    return np.where(np.isnan(costs), np.inf, costs).argmin(axis=1)


def ranked(pool: np.ndarray) -> np.ndarray:
    """Places of choices, best first, by their costs ``(runs, choices)``.

    The lowest mean wins. Where every mean is infinite, because every choice diverges in some run,
    the one that diverges least often does, and among those the lowest mean of its other runs.
    """
    lost = ~np.isfinite(pool)
    kept = np.where(lost, 0.0, pool).sum(axis=0) / np.maximum((~lost).sum(axis=0), 1)
    return np.lexsort((kept, lost.sum(axis=0)))


def select(costs: np.ndarray, individual: bool, draw: int | None, eligible=None) -> Winner:
    """The lowest cost, over the mean of all draws or within one of them.

    ``eligible (draw, candidate, ridge)`` excludes what may not win, such as lower bounds.
    """
    worst = np.where(np.isnan(costs), np.inf, costs)
    if individual:
        worst = worst.min(axis=3, keepdims=True)
    pool = worst if draw is None else worst[[draw]]
    if eligible is not None:
        allowed = eligible.all(axis=2, keepdims=True) if individual else eligible
        allowed = allowed if draw is None else allowed[[draw]]
        pool = np.where(allowed[:, :, None], pool, np.inf)
    shape = pool.shape[1], pool.shape[3]
    runs = np.moveaxis(pool, 2, 1).reshape(-1, shape[0] * shape[1])
    best = ranked(runs)[0]
    candidate, ridge = np.unravel_index(best, shape)
    if individual:
        at = costs[slice(None) if draw is None else [draw]][:, candidate]
        chosen = best_ridges(np.where(np.isnan(at), np.inf, at).mean(axis=0))
    else:
        chosen = np.full(costs.shape[2], ridge)
    column = runs[:, best]
    return Winner(
        int(candidate), chosen, float(column.mean()), draw, int((~np.isfinite(column)).sum())
    )


def best_of(costs: np.ndarray, individual: bool, most: int, eligible=None) -> list[Winner]:
    """The best candidates, each with its best ridge, over the mean of all draws."""
    winners = []
    for candidate in range(costs.shape[1]):
        part = None if eligible is None else eligible[:, [candidate]]
        if part is None or part.all(axis=0).any():  # else all of it was dropped
            best = select(costs[:, [candidate]], individual, None, part)
            winners.append(replace(best, candidate=candidate))
    return sorted(winners, key=lambda winner: winner.order)[:most]


def named(results: dict, scheme: Any) -> Any:
    """The scheme asked for, or the first of those that there are results of."""
    if scheme is None:
        return next(iter(results))
    if scheme not in results:
        known = ", ".join(map(str, results))
        raise ValueError(f"scheme={scheme!r} is not one of this search: {known}.")
    return scheme
