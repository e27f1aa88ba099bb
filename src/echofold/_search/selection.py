"""Who wins a search, and what a final model makes of it: rules on costs and on readouts.

Scores that are the better the higher they are come here as costs, which are their negatives; both
may be infinite or missing. Final models of splits' readouts are those of the paper's section 2.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from echofold._data.represent import representation_of
from echofold.metrics._metric import Metric

# Members of an ensemble, as measured by benchmarks/accuracy.py (see CHANGELOG).
OF_EACH = 2  # candidates of a representation
WORST = 2.0  # times the lowest validation error, beyond which a candidate is left out
EARNED = 0.9  # the same for representations that are not differenced exactly once


@dataclass(frozen=True)
class Winner:
    """A candidate with its ridge (one, or one for each split) and its cost.

    ``draw`` is the draw it was selected in, None for all of them together; ``diverged`` is the
    number of its runs without a finite cost.
    """

    candidate: int
    ridge: np.ndarray  # places in the ridge path, (splits,); all the same unless ridge_per_split
    cost: float
    draw: int | None
    diverged: int = 0

    @property
    def order(self) -> tuple[int, float]:
        """Lowest first: fewest diverged runs, then the cost."""
        return self.diverged, self.cost


def comparable(costs: np.ndarray, ridge_per_split: bool = False) -> np.ndarray:
    """Costs ``(..., ridge)``, infinite where missing; with a ridge per split, at the best only."""
    worst = np.where(np.isnan(costs), np.inf, costs)
    return worst.min(axis=-1, keepdims=True) if ridge_per_split else worst


def mean_costs(costs: np.ndarray, ridge_per_split: bool) -> np.ndarray:
    """Means over splits of ``costs (draw, candidate, split, ridge)``, infinite where not finite.

    As ``(draw, candidate, ridge)``; with a ridge for each split, ``(draw, candidate, 1)``.
    """
    return comparable(costs, ridge_per_split).mean(axis=2)


def ranked(pool: np.ndarray) -> np.ndarray:
    """Places of choices, best first, by their costs ``(runs, choices)``.

    The lowest mean wins. Where every mean is infinite, because every choice diverges in some run,
    the one that diverges least often does, and among those the lowest mean of its other runs.
    """
    lost = ~np.isfinite(pool)
    kept = np.where(lost, 0.0, pool).sum(axis=0) / np.maximum((~lost).sum(axis=0), 1)
    return np.lexsort((kept, lost.sum(axis=0)))


def select(costs: np.ndarray, ridge_per_split: bool, draw: int | None) -> Winner:
    """The lowest cost, over the mean of all draws or within one of them."""
    costs = costs if draw is None else costs[[draw]]
    pool = comparable(costs, ridge_per_split)
    shape = pool.shape[1], pool.shape[3]
    runs = np.moveaxis(pool, 2, 1).reshape(-1, shape[0] * shape[1])
    best = ranked(runs)[0]
    candidate, ridge = np.unravel_index(best, shape)
    places = np.full(costs.shape[2], ridge)
    if ridge_per_split:
        places = comparable(costs[:, candidate]).mean(axis=0).argmin(axis=1)
    column = runs[:, best]
    diverged = int((~np.isfinite(column)).sum())
    return Winner(int(candidate), places, float(column.mean()), draw, diverged)


def describe_winner(winner: Winner, dataset) -> list[str]:
    """A sentence about a winner that diverges, because every candidate does."""
    if np.isfinite(winner.cost):
        return []
    runs = dataset.sizes["split"] * (dataset.sizes["draw"] if winner.draw is None else 1)
    return [
        f"Every candidate diverges on some split, so no mean score is finite; chosen is the one "
        f"that diverges least often, in {winner.diverged} of {runs} runs. Search larger ridge "
        "values, smaller spectral radii or shorter validation intervals."
    ]


def scheme_in(results: dict, scheme: Any) -> Any:
    """The scheme asked for, or the first of those that there are results of."""
    if scheme is None:
        return next(iter(results))
    if scheme not in results:
        known = ", ".join(map(str, results))
        raise ValueError(f"scheme={scheme!r} is not one of this search: {known}.")
    return scheme


# --- final models ---------------------------------------------------------------------------------


Combined = tuple[np.ndarray, np.ndarray]  # a readout, and the ridge it stands for


@dataclass(frozen=True)
class FinalModel:
    """A final model by the name that users ask for it by, and in words.

    ``combine(W, error, ridge)`` makes it of the splits' readouts ``W (splits, 1 + m, outputs)``,
    their errors ``(splits,)``, infinite where a run diverged, and ridges
    ``(splits, 1 or outputs)``. Without it the readout is trained anew on all rows. With
    ``members(costs, ridge_per_split, metric, params, shaping)`` the winner is not alone: those
    candidates, best first, are trained anew with all draws, and their forecasts combined.
    """

    name: str
    words: str
    combine: Callable[[np.ndarray, np.ndarray, np.ndarray], Combined] | None = None
    members: Callable[..., list[Winner]] | None = None


def check_final(final: str, pools: Sequence[str]) -> None:
    """Raise for a final model made of readouts of splits where each series has its own."""
    own = [pool for pool in pools if pool != "all"]
    if own and FINALS[final].combine is not None:
        raise ValueError(
            f"final={final!r} is made of the readouts of splits, and with pool={own[0]!r} each "
            "series has one of its own in each of them. Use 'retrain', or pool='all'."
        )


def mean_ridge(ridge: np.ndarray) -> np.ndarray:
    """The mean of the splits' ridges ``(splits, 1 or outputs)``."""
    # The mean of equal numbers may round to another one, which would not be on the path.
    return ridge[0] if (ridge == ridge[0]).all() else ridge.mean(axis=0)


def _average(W: np.ndarray, error: np.ndarray, ridge: np.ndarray) -> Combined:
    return W.mean(axis=0), mean_ridge(ridge)


def _best(W: np.ndarray, error: np.ndarray, ridge: np.ndarray) -> Combined:
    best = int(error.argmin())
    return W[best], ridge[best]


def _weighted(W: np.ndarray, error: np.ndarray, ridge: np.ndarray) -> Combined:
    if not np.isfinite(error).any():
        return _average(W, error, ridge)
    if (error == 0).any():
        weights = (error == 0).astype(float)
    else:
        weights = (error.min() / error) ** 2
    return np.tensordot(weights / weights.sum(), W, axes=1), mean_ridge(ridge)


def _best_of_representations(
    costs: np.ndarray, ridge_per_split: bool, metric: Metric, params: list[dict[str, Any]],
    shaping: Sequence[str],
) -> list[Winner]:  # fmt: skip
    """The best candidates of representations, the best of them first.

    ``params`` are all parameters of each candidate, of which those named ``shaping`` say how the
    data are represented. Which representation is best is hard to tell from a few validation
    intervals, and one that is differenced exactly once is seldom far off: the level of a series
    moves, and so seldom that of its changes. Those are members unless their error is more than
    `WORST` times the lowest of them; the others must have earned it, by an error below `EARNED`
    times that.
    """
    forms: dict[str, list[Winner]] = {}
    for place, one in enumerate(params):
        best = replace(select(costs[:, [place]], ridge_per_split, None), candidate=place)
        forms.setdefault(repr([one[name] for name in shaping]), []).append(best)
    ranks = [sorted(each, key=lambda winner: winner.order)[:OF_EACH] for each in forms.values()]
    winners = sorted(chain.from_iterable(ranks), key=lambda winner: winner.order)

    def differenced_once(one: Winner) -> bool:
        return len(representation_of(params[one.candidate]).lags) == 1

    once = [one for one in winners if differenced_once(one) and np.isfinite(one.cost)]
    lowest = (once or winners)[0]

    def most(one: Winner) -> float:
        factor = WORST if differenced_once(one) or not once else EARNED
        return metric.times(lowest.cost, factor)

    return [one for one in winners if one is lowest or one.cost <= most(one)]


FINALS = {
    final.name: final
    for final in (
        FinalModel("retrain", "retrained on all data"),
        FinalModel("average", "average of the readouts of all splits", _average),
        FinalModel("best", "readout of the split with the lowest error", _best),
        FinalModel(
            "weighted", "readouts of all splits, weighted by inverse squared error", _weighted
        ),
        FinalModel(
            "ensemble",
            "mean of the best networks of representations and draws",
            members=_best_of_representations,
        ),
    )
}
