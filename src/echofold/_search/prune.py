"""Exact pruning: drop closed-loop candidates as soon as they can no longer win.

Errors of a trajectory only add up, so a cost computed from the errors so far, with the
denominators of the whole intervals, is a lower bound of the final one. (A horizon that has not been
passed may still be the whole interval.) Now and then the candidate that leads is run to its end;
whoever's bound is above its cost is dropped.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from echofold._engine.lockstep import Sum, paused
from echofold._engine.states import States
from echofold._machine.device import engine
from echofold._validation.record import Validated
from echofold._validation.score import finish_runs, needs_of, summed
from echofold._validation.settings import Settings
from echofold.metrics._metric import Metric

SEGMENTS = 12  # looks at the bounds in the course of a run
ROUNDING = 1e-12


class _Part:
    """Trajectories of one draw: how far each was run, and its errors so far."""

    def __init__(self, source: States, one: Validated, sum_: Sum):
        runs = one.splits.runs
        self.shape = len(one.W), len(runs), one.W.shape[2]
        self.source, self.one, self.steps = source, one, 0
        self.columns = paused(source, one.W, one.starts, runs, sum_)
        self.horizon = np.broadcast_to(runs.steps[:, None], self.shape).ravel()
        self.done = np.zeros(len(self.horizon), dtype=int)

    def advance(self, columns: np.ndarray, to: int) -> None:
        """Run these columns up to step ``to``."""
        columns = columns[self.done[columns] < to]
        for first in np.unique(self.done[columns]):
            some = columns[self.done[columns] == first]
            with engine(self.source.device):
                self.columns.advance(some, int(first), to)
            run = np.minimum(to, self.horizon[some]) - max(first, 1)
            self.steps += int(np.maximum(run, 0).sum())
            self.done[some] = to

    def whole(self) -> np.ndarray:
        """Which ``(candidates, ridge)`` were run to their end, in every run."""
        return (self.done == self.one.splits.runs.longest).reshape(self.shape).all(axis=1)

    def scores(self, metrics: list[Metric]) -> dict[str, np.ndarray]:
        """Scores ``(candidates, splits, ridge)`` from the errors so far."""
        splits = self.one.splits
        sums = {needs_of(metrics)[0]: self.columns.error.reshape(self.shape)}
        return finish_runs(self.source.problem.scored, splits, sums, metrics)


def close_and_prune(
    draws: list[tuple[States, Validated]], settings: Settings
) -> tuple[np.ndarray, int]:
    """Set the scores of every draw; those of dropped ones are what they could reach at best.

    The winner is the (candidate, ridge) with the lowest mean cost over draws and splits. Returns
    which scores ``(draws, candidates, ridge)`` are such bounds, and the column steps that were run.
    """
    metrics, longest = settings.metrics, draws[0][1].splits.runs.longest
    sum_ = summed(draws[0][0].problem, metrics)
    parts = [_Part(source, one, sum_) for source, one in draws]
    columns = np.arange(np.prod(parts[0].shape)).reshape(parts[0].shape)
    alive = np.ones(columns[:, 0].shape, dtype=bool)
    limit = np.inf
    stops = np.unique(np.append(np.linspace(1, longest, SEGMENTS + 1).astype(int), longest))
    for stop in stops:
        chosen = np.moveaxis(columns, 1, 2)[alive].ravel()
        for part in parts:
            part.advance(chosen, int(stop))
        bound = _bound(parts, metrics)
        if stop < longest and (leader := _lowest(bound, alive & ~_whole(parts))):
            candidate, ridge = leader
            for part in parts:
                part.advance(columns[candidate, :, ridge], longest)
            bound = _bound(parts, metrics)
        finished = alive & _whole(parts)
        if finished.any():
            limit = min(limit, bound[finished].min())
        # A bound that is not finite is above any limit that is. Equal costs, which horizons often
        # have, may differ by rounding: who comes first among them is for the selection to say.
        alive &= ~(bound > limit + ROUNDING * np.abs(limit))
        if np.isfinite(limit):
            alive &= np.isfinite(bound)
    for part in parts:
        part.one.scores = part.scores(metrics)
    pruned = np.broadcast_to(~_whole(parts), (len(draws), *alive.shape))
    return pruned, sum(part.steps for part in parts)


def _whole(parts: list[_Part]) -> np.ndarray:
    """Which ``(candidates, ridge)`` were run to their end, in every draw."""
    return np.all([part.whole() for part in parts], axis=0)


def _bound(parts: list[_Part], metrics: list[Metric]) -> np.ndarray:
    """Lower bound ``(candidates, ridge)`` of the cost to select by."""
    scores = [part.scores(metrics)[metrics[0].name].mean(axis=1) for part in parts]
    return metrics[0].cost(reduce(np.add, scores) / len(parts))


def _lowest(bound: np.ndarray, among: np.ndarray) -> tuple[int, int] | None:
    """The candidate and ridge with the lowest bound, if one is finite."""
    bound = np.where(among, bound, np.inf)
    candidate, ridge = np.unravel_index(bound.argmin(), bound.shape)
    return (int(candidate), int(ridge)) if np.isfinite(bound[candidate, ridge]) else None
