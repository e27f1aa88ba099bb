"""Whether a choice made in single precision hangs on it: the best candidates once more, in double.

How far single precision moves scores is measured on those that are compared. Another candidate
could win if it is no further behind than a few times as far.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from echofold._engine.kind import PRECISIONS
from echofold._machine.progress import Progress
from echofold._search.final_models import Winners
from echofold._search.runner import Runner
from echofold._search.selection import mean_costs
from echofold._validation.settings import describe_rounding
from echofold.metrics._metric import costs_of

FIRST = 4  # candidates that are compared at first, the winner among them
MOST = 16  # in all, unless every one is asked for
FURTHER = 3.0  # times the largest difference seen: others may have moved further than these


def describe_single(runner: Runner, winners: Winners, scheme: str, every: bool) -> list[str]:
    """Sentences about single precision, where there is any: what it loses, and who else may win."""
    own = runner.reader.estimator.precision
    precisions = [one.get("precision", own) for one in winners.candidates]
    single = np.flatnonzero(np.array(precisions) == "single")
    if not len(single):
        return []
    notes = describe_rounding(runner.reader.problem({})[0], PRECISIONS["single"])
    if np.isfinite(winners.winner(scheme).cost):
        notes += _describe_choice(runner, winners, scheme, single, every)
    return notes


def _describe_choice(
    runner: Runner, winners: Winners, scheme: str, single: np.ndarray, every: bool
) -> list[str]:
    """A sentence if one of the ``single`` candidates wins in double precision, or might.

    All candidates are compared if ``every``. How many were, and how far the lowest score of one was
    moved at most, becomes an attribute of the results.
    """
    results, winner = winners.results[scheme], winners.winner(scheme)
    low = _lowest(winners, costs_of(results))  # of those that pruning dropped, a bound
    costs = winners.costs(scheme)
    kept, exact, moved = _lowest(winners, costs), costs.copy(), 0.0
    exact[:, single] = np.inf
    waiting = single[np.argsort(low[single], kind="stable")]
    todo = waiting if every else waiting[:FIRST]
    while len(todo):
        exact[:, todo] = _in_double(runner, [winners.candidates[place] for place in todo])
        found = _lowest(winners, exact)
        best = todo[:FIRST]  # those that are far behind may move without limit
        best = best[np.isfinite(found[best]) & np.isfinite(kept[best])]
        moved = max([moved, *np.abs(found[best] - kept[best])])
        waiting = waiting[~np.isin(waiting, todo)]
        near = waiting[low[waiting] - FURTHER * moved <= found.min()]
        compared = len(single) - len(waiting)
        todo = near[: max(MOST - compared, 0)]
    results.attrs |= {"compared_in_double": compared, "moved_by_single": float(moved)}
    better = winners.select(exact)
    how_far = (
        f"precision='single' moves the best scores by up to {moved:.2g}, by {compared} candidates "
        "that were validated in both"
    )
    other = found[better.candidate] < found[winner.candidate]  # not its twin in double precision
    own = better.candidate == winner.candidate and (better.ridge != winner.ridge).any()
    if other or own:
        ridge = results.ridge.values
        was, now = (
            f"candidate {one.candidate}"
            + (f" at ridge={ridge[one.ridge[0]]:g}" if (one.ridge == one.ridge[0]).all() else "")
            for one in (winner, better)
        )
        return [
            f"The choice hangs on rounding: in double precision {now} wins, not {was}; {how_far}. "
            "Search with precision='double', or take either."
        ]
    if len(near):
        return [
            f"The choice may hang on rounding: {len(near)} more candidates are no further behind "
            f"than {FURTHER:g} times what single precision may do; {how_far}. Search with "
            "precision='double', or compare all of them by verify=True."
        ]
    return []


def _lowest(winners: Winners, costs: np.ndarray) -> np.ndarray:
    """The lowest cost ``(candidates,)`` of each at any ridge, as winners are selected."""
    means = mean_costs(costs, winners.ridge_per_split)  # (draw, candidate, ridge)
    return (means.min(axis=0) if winners.by_draw else means.mean(axis=0)).min(axis=1)


def _in_double(runner: Runner, candidates: list[dict[str, Any]]) -> np.ndarray:
    """Costs ``(draw, candidate, split, ridge)`` of candidates, driven in double precision."""
    plain = replace(runner.settings, verify=False)
    again = replace(
        runner, settings=plain, together=False, prune=False, checkpoint=None, progress=Progress()
    )
    return again.costs(again.run([one | {"precision": "double"} for one in candidates]))
