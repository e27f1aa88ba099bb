"""Exact pruning: drop closed-loop candidates as soon as they can no longer win.

Errors of a trajectory only add up, so a cost computed from the errors so far, with the
denominators of the whole intervals, is a lower bound of the final one. (A horizon that has not been
passed may still be the whole interval.) Now and then the candidate that leads is run to its end;
whoever's bound is above its cost is dropped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from echofold._engine.draws import Held
from echofold._engine.generate import Trajectories, proceed
from echofold._engine.lockstep import Columns, Sum, blocks, course, first_outputs, flatten, room_of
from echofold._engine.states import States
from echofold._machine.device import engine
from echofold._validation.outcome import Validated
from echofold._validation.score import finish_sums, kinds, summed
from echofold._validation.settings import Settings

SEGMENTS = 12  # looks at the bounds in the course of a run
ROUNDING = 1e-12


@dataclass
class _Part(ABC):
    """Trajectories of one draw: how far each was run, and its errors so far."""

    source: States
    horizon: np.ndarray
    done: np.ndarray
    steps: int = field(default=0, kw_only=True)

    @property
    @abstractmethod
    def error(self) -> np.ndarray:
        """Sum of errors of each column."""

    @abstractmethod
    def run(self, columns: np.ndarray, first: int, to: int) -> None:
        """Run columns, all before step ``first``, up to step ``to``."""

    def advance(self, columns: np.ndarray, to: int) -> None:
        """Run these columns up to step ``to``."""
        columns = columns[self.done[columns] < to]
        for first in np.unique(self.done[columns]):
            some = columns[self.done[columns] == first]
            with engine(self.source.device):
                self.run(some, int(first), to)
            run = np.minimum(to, self.horizon[some]) - max(first, 1)
            self.steps += int(np.maximum(run, 0).sum())
            self.done[some] = to


@dataclass
class _OnHost(_Part):
    """Held on the host between segments.

    ``x (columns, units)``, ``y (columns, outputs)``, ``errors (columns,)``, ``past``.
    """

    held: Columns
    sum: Sum
    x: np.ndarray
    y: np.ndarray
    errors: np.ndarray
    past: np.ndarray

    @property
    def error(self) -> np.ndarray:
        return self.errors

    def run(self, columns: np.ndarray, first: int, to: int) -> None:
        problem = self.source.problem
        for part, width in blocks(self.held.part(columns), self.source.device):
            index = np.full(width, columns[part][0])
            index[: part.stop - part.start] = columns[part]
            some = self.held.part(index)
            readout = np.moveaxis(some.readout, 0, 2)
            r = self.source.reservoirs.silent().columns(some.candidate)
            along = course(problem, some.start, some.horizon, self.sum.tolerance)
            if first == 0:
                going = first_outputs(problem, r, some, readout, along, self.sum.of)
            else:
                past = np.moveaxis(self.past[index], 0, 2)
                going = Trajectories(self.x[index].T, self.y[index].T, self.errors[index], past)
            start = max(first, 1)
            if to > start:
                going, _ = proceed(r, readout, going, along, start, to - start, self.sum.of)
            at, count = columns[part], part.stop - part.start
            self.x[at] = np.asarray(going.x).T[:count]
            self.y[at] = np.asarray(going.y).T[:count]
            self.errors[at] = np.asarray(going.error)[:count]
            self.past[at] = np.moveaxis(np.asarray(going.past), 2, 0)[:count]


@dataclass
class _OnDevice(_Part):
    """Held where their readouts are, all after their first output."""

    held: Held

    @property
    def error(self) -> np.ndarray:
        return self.held.error

    def run(self, columns: np.ndarray, first: int, to: int) -> None:
        if to > 1:
            self.held.advance(columns, max(first, 1), to)


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
    parts = [_part(source, one, sum_) for source, one in draws]
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
        finished = alive & np.all(
            [(part.done[columns] == longest).all(axis=1) for part in parts], axis=0
        )
        if finished.any():
            limit = min(limit, bound[finished].min())
        # A bound that is not finite is above any limit that is. Equal costs, which horizons often
        # have, may differ by rounding: who comes first among them is for the selection to say.
        alive &= ~(bound > limit + ROUNDING * np.abs(limit))
        if np.isfinite(limit):
            alive &= np.isfinite(bound)
    whole = np.all([(part.done[columns] == longest).all(axis=1) for part in parts], axis=0)
    for part, (_, one) in zip(parts, draws, strict=True):
        one.scores = _scores(part, one, shape, settings)
    return np.broadcast_to(~whole, (len(draws), *whole.shape)), sum(part.steps for part in parts)


def _part(source: States, one: Validated, sum_: Sum) -> _Part:
    runs, outputs, problem = one.splits.runs, one.W.shape[-1], source.problem
    shape = len(one.W), len(runs), one.W.shape[2]
    count, units = int(np.prod(shape)), source.reservoirs.shape[0]
    horizon = np.broadcast_to(runs.steps[:, None], shape).ravel()
    done = np.zeros(count, dtype=int)
    if not isinstance(one.W, np.ndarray):
        with engine(source.device):
            W = runs.of_splits(one.W)
            held = Held(source.reservoirs, problem, W, one.starts, runs, sum_)
        return _OnDevice(source, horizon, done, held=held)
    return _OnHost(
        source, horizon, done, held=flatten(one.W, one.starts, runs), sum=sum_,
        x=np.zeros((count, units)), y=np.zeros((count, outputs)), errors=np.zeros(count),
        past=np.zeros((count, room_of(problem), outputs)),
    )  # fmt: skip


def _scores(part: _Part, one: Validated, shape, settings: Settings) -> dict[str, np.ndarray]:
    """Scores ``(candidates, splits, ridge)`` from the errors so far."""
    needs = kinds(settings.metrics)[0]
    sums = {needs: one.splits.runs.added(part.error.reshape(shape))}
    return finish_sums(part.source.problem.scored, one.splits, sums, settings.metrics)


def _bound(parts: list[_Part], one: Validated, shape, settings: Settings) -> np.ndarray:
    """Lower bound ``(candidates, ridge)`` of the cost to select by."""
    metric = settings.metrics[0]
    scores = [_scores(part, one, shape, settings)[metric.name].mean(axis=1) for part in parts]
    return metric.cost(reduce(np.add, scores) / len(parts))


def _leader(bound, alive, parts, columns, longest) -> tuple[int, int] | None:
    """The unfinished candidate with the lowest bound."""
    done = np.all([(part.done[columns] == longest).all(axis=1) for part in parts], axis=0)
    open_ = np.where(alive & ~done, bound, np.inf)
    at = np.unravel_index(open_.argmin(), open_.shape)
    return (int(at[0]), int(at[1])) if np.isfinite(open_[at]) else None
