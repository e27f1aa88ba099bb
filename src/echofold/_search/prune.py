"""Exact pruning: drop closed-loop candidates as soon as they can no longer win.

Errors of a trajectory only add up, so a cost computed from the errors so far, with the
denominators of the whole intervals, is a lower bound of the final one. (A horizon that has not been
passed may still be the whole interval.) Now and then the candidate that leads is run to its end;
whoever's bound is above its cost is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from echofold._engine.lockstep import Paused, Sum, paused
from echofold._engine.states import States
from echofold._machine.device import engine
from echofold._validation.record import Validated
from echofold._validation.score import finish_sums, needs_of, summed
from echofold._validation.settings import Settings

SEGMENTS = 12  # looks at the bounds in the course of a run
ROUNDING = 1e-12


@dataclass
class _Part:
    """Trajectories of one draw: how far each was run, and its errors so far."""

    source: States
    columns: Paused
    horizon: np.ndarray
    done: np.ndarray
    steps: int = 0

    @classmethod
    def begin(cls, source: States, one: Validated, sum_: Sum) -> _Part:
        """All trajectories of a scheme, of which none has run."""
        runs = one.splits.runs
        shape = len(one.W), len(runs), one.W.shape[2]
        horizon = np.broadcast_to(runs.steps[:, None], shape).ravel()
        columns = paused(source, one.W, one.starts, runs, sum_)
        return cls(source, columns, horizon, np.zeros(len(horizon), dtype=int))

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


def close_and_prune(
    draws: list[tuple[States, Validated]], settings: Settings
) -> tuple[np.ndarray, int]:
    """Set the scores of every draw; those of dropped ones are what they could reach at best.

    The winner is the (candidate, ridge) with the lowest mean cost over draws and splits. Returns
    which scores ``(draws, candidates, ridge)`` are such bounds, and the column steps that were run.
    """
    first = draws[0][1]
    runs = first.splits.runs
    shape, longest = (len(first.W), len(runs), first.W.shape[2]), runs.longest
    sum_ = summed(draws[0][0].problem, settings.metrics)
    parts = [_Part.begin(source, one, sum_) for source, one in draws]
    columns = np.arange(np.prod(shape)).reshape(shape)
    alive = np.ones((shape[0], shape[2]), dtype=bool)
    limit = np.inf
    stops = np.unique(np.append(np.linspace(1, longest, SEGMENTS + 1).astype(int), longest))
    for stop in stops:
        chosen = np.moveaxis(columns, 1, 2)[alive].ravel()
        for part in parts:
            part.advance(chosen, int(stop))
        bound = _bound(parts, first, shape, settings)
        if stop < longest and (leader := _leader(bound, alive, parts, columns, longest)):
            candidate, ridge = leader
            for part in parts:
                part.advance(columns[candidate, :, ridge], longest)
            bound = _bound(parts, first, shape, settings)
        finished = alive & _whole(parts, columns, longest)
        if finished.any():
            limit = min(limit, bound[finished].min())
        # A bound that is not finite is above any limit that is. Equal costs, which horizons often
        # have, may differ by rounding: who comes first among them is for the selection to say.
        alive &= ~(bound > limit + ROUNDING * np.abs(limit))
        if np.isfinite(limit):
            alive &= np.isfinite(bound)
    whole = _whole(parts, columns, longest)
    for part, (_, one) in zip(parts, draws, strict=True):
        one.scores = _scores(part, one, shape, settings)
    return np.broadcast_to(~whole, (len(draws), *whole.shape)), sum(part.steps for part in parts)


def _whole(parts: list[_Part], columns: np.ndarray, longest: int) -> np.ndarray:
    """Which ``(candidates, ridge)`` were run to their end, in every draw and run."""
    return np.all([(part.done[columns] == longest).all(axis=1) for part in parts], axis=0)


def _scores(part: _Part, one: Validated, shape, settings: Settings) -> dict[str, np.ndarray]:
    """Scores ``(candidates, splits, ridge)`` from the errors so far."""
    needs = needs_of(settings.metrics)[0]
    sums = {needs: one.splits.runs.added(part.columns.error.reshape(shape))}
    return finish_sums(part.source.problem.scored, one.splits, sums, settings.metrics)


def _bound(parts: list[_Part], one: Validated, shape, settings: Settings) -> np.ndarray:
    """Lower bound ``(candidates, ridge)`` of the cost to select by."""
    metric = settings.metrics[0]
    scores = [_scores(part, one, shape, settings)[metric.name].mean(axis=1) for part in parts]
    return metric.cost(reduce(np.add, scores) / len(parts))


def _leader(bound, alive, parts, columns, longest) -> tuple[int, int] | None:
    """The unfinished candidate with the lowest bound."""
    open_ = np.where(alive & ~_whole(parts, columns, longest), bound, np.inf)
    at = np.unravel_index(open_.argmin(), open_.shape)
    return (int(at[0]), int(at[1])) if np.isfinite(open_[at]) else None
