"""Candidates, end to end: states, readouts of every split, scores.

One text for two machines. The host takes one network at a time from states that it keeps, or all
from moments of states that pass by (`_validation.streamed`); a device takes as many networks, of
several draws, as its memory holds, and states, moments, readouts and closed loops stay there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from echofold._data.problem import Problem
from echofold._engine.kind import Reservoirs
from echofold._engine.lockstep import closed_loop_outputs, closed_loop_sums
from echofold._engine.states import (
    GivenStates,
    States,
    network_groups,
    rows_of,
    some,
    stacked,
    states_of,
)
from echofold._folds.algorithms import KeptRows, Solved
from echofold._folds.choose import VARIANTS
from echofold._folds.many_rows import ManyRows, taken
from echofold._folds.splits import RowSplits
from echofold._machine.arrays import namespace
from echofold._machine.device import DeviceFull, engine, in_threads, memory_of, one_blas_thread
from echofold._machine.programs import side_by_side
from echofold._validation.own_readouts import enter_own
from echofold._validation.plan import SURELY_FREE, Plan, budget, bytes_on_device, plan_of
from echofold._validation.record import Validated, joined
from echofold._validation.score import finish_runs, needs_of, score_outputs, score_residuals, summed
from echofold._validation.settings import Settings
from echofold._validation.streamed import fold_by_fold, from_pieces
from echofold.metrics._metric import GROWING

STATE_BYTES = 2**29  # states of candidates that the host keeps at a time, if it has twice that
NARROWEST = 4  # candidates that are driven together in less time than two or three

Source = States | GivenStates
Batch = dict[str, Validated]  # what some candidates gave, by scheme
Found = tuple[int, int, Batch]  # a draw, the first of the candidates, and what they gave


def validate(
    source: Source, schemes: dict[str, RowSplits], settings: Settings, loops: bool = True
) -> Batch:
    """Validate every candidate of ``source`` by every scheme, over one pass where memory allows.

    With ``loops=False`` a generative task stops at the readouts and what its runs start from.
    """
    with one_blas_thread():
        return validate_draws([source], schemes, settings, loops)[0]


def validate_draws(
    sources: Sequence[Source], schemes: dict[str, RowSplits], settings: Settings, loops: bool = True
) -> list[Batch]:
    """The same for several draws of the same candidates, which a device runs side by side.

    Callers hold `one_blas_thread`.
    """
    parts: list[dict[str, list]] = [{name: [] for name in schemes} for _ in sources]
    for draw, first, batch in _batches(sources, schemes, settings, loops):
        for name, one in batch.items():
            parts[draw][name].append((first, one))
    return [{name: joined(each) for name, each in of_draw.items()} for of_draw in parts]


def _batches(sources, schemes, settings: Settings, loops: bool) -> Iterator[Found]:
    """All draws side by side on a device; on the host, some candidates of one after the other."""
    count, problem = sources[0].candidates, sources[0].problem
    width, each = count, 8 * max(1, problem.rows * sources[0].held)
    if count * each > SURELY_FREE:
        room = min(STATE_BYTES, budget(settings.memory, settings.workers) // 2)
        width = -(-count // -(-count // max(1, room // each)))
        width = 1 if width < NARROWEST else width

    def part(whole: Source, first: int) -> Source:
        if width >= count or isinstance(whole, GivenStates):
            return whole
        index = np.arange(first, min(first + width, count))
        return states_of(problem, whole.reservoirs.take(index), whole.device)

    plan = plan_of(part(sources[0], 0), schemes, settings)
    if plan.mode == "device":
        yield from _on_device(sources, plan, settings, loops)
        return
    for draw, whole in enumerate(sources):
        for first in range(0, count, width):
            source = part(whole, first)
            yield draw, first, _one_batch(source, plan, settings, loops)
            if source is not whole:
                whole.steps += source.steps


def _blank(plan: Plan) -> Batch:
    """Results of every scheme, with nothing in them yet."""
    return {name: replace(one, scores={}) for name, one in plan.schemes.items()}


def _one_batch(source: Source, plan: Plan, settings: Settings, loops: bool) -> Batch:
    """Candidates whose states are kept, or pass by, together."""
    batch = _blank(plan)
    looped = [one for one in batch.values() if one.closed]
    states = cast(States, source)
    for one in looped:
        states.watch(one.splits.runs.first)
    kept = source.kept() if plan.mode == "states" else None
    if settings.pool == "none":
        pass
    elif kept is not None:
        _from_kept(source, kept, plan, batch, settings)
    else:
        _from_passing(states, plan, batch, settings)
    for one in batch.values() if settings.pool != "all" else ():
        enter_own(states, one, settings, kept)
    del kept  # before room is needed for closed loops
    for one in looped:
        one.starts = states.begins(one.splits.runs.first)
    if loops:
        _run_loops(states, looped, settings)
    return batch


def _from_kept(
    source: Source, kept: list[np.ndarray], plan: Plan, batch: Batch, settings: Settings
) -> None:
    """One candidate after the other, from states that are all in memory."""
    condition = np.empty(source.candidates)

    def solved(X: np.ndarray) -> tuple[list[Any], float]:
        """What is found of a candidate by every scheme, and its condition number."""

        def rows_of(part: Source) -> KeptRows:
            own = part.of_part(X), part.problem.targets, part.problem.weights
            path = settings.ridge, settings.penalised, plan.pieces
            return KeptRows(*own, *path, several=len(batch) > 1)

        rows, found = _ByPart(source, rows_of), []
        for one in batch.values():
            by = partial(rows.solved, VARIANTS[one.choice.variant])
            found.append(_scored(by, one, source.problem, settings))
        return found, rows.condition  # that of what was factored in the end

    for candidate, (found, own) in enumerate(in_threads(solved, kept, settings.threads)):
        condition[candidate] = own
        for one, (scores, W, refitted) in zip(batch.values(), found, strict=True):
            one.enter(candidate, len(condition), scores, W)
            one.refitted += refitted
    for one in batch.values():
        one.condition = condition


class _ByPart:
    """Rows of the parts of a field that have a readout of their own, one after the other.

    What ``rows_of`` makes of the only part is kept for other schemes, as of everything that is no
    field.
    """

    def __init__(self, source: Source, rows_of: Callable[[Any], Any]):
        self.parts, self.rows_of, self._worst = source.parts, rows_of, 0.0
        self.alone = rows_of(self.parts[0]) if len(self.parts) == 1 else None

    @property
    def condition(self) -> Any:
        """Condition of the rows, of those of the worst part."""
        return self._worst if self.alone is None else self.alone.condition

    def solved(self, way: Any, splits: RowSplits, *wanted: bool) -> Solved:
        """What is wanted of every split by an algorithm, readouts of parts side by side."""
        if self.alone is not None:
            return self.alone.solved(way, splits.times(self.parts[0].count), *wanted)
        found = []
        for part in self.parts:
            rows = self.rows_of(part)
            found.append(rows.solved(way, splits.times(part.count), *wanted))
            self._worst = np.maximum(self._worst, rows.condition)
        W = namespace(found[0].W).concatenate([one.W for one in found], axis=-1)
        return Solved(W, sum(one.refitted for one in found))


def _from_passing(source: States, plan: Plan, batch: Batch, settings: Settings) -> None:
    """All candidates, from states that pass by."""
    found: list[Batch] = []
    for part in source.parts:
        own = {n: replace(one, splits=one.splits.times(part.count)) for n, one in batch.items()}
        if plan.mode == "pieces":
            from_pieces(part, plan.pieces, own, settings)
        else:
            for one in own.values():
                fold_by_fold(part, one, settings, keep_fold=plan.mode == "fold")
        found.append(own)
    for name, one in batch.items():
        each = [own[name] for own in found]
        one.scores, one.condition = each[0].scores, np.max([e.condition for e in each], axis=0)
        one.refitted += sum(e.refitted for e in each)
        one.W = None if each[0].W is None else np.concatenate([e.W for e in each], axis=-1)


def _scored(solved: Callable[..., Solved], one: Validated, problem: Problem, settings: Settings):
    """Scores of open-loop tasks, readouts where needed, how many splits were refitted."""
    found = solved(one.splits, one.closed or settings.readouts, not one.closed)
    if one.closed:
        return {}, found.W, found.refitted
    scores = score_residuals(problem, one.splits, found.at, found.residuals, settings.metrics)
    return scores, found.W, found.refitted


def _on_device(
    sources: Sequence[States], plan: Plan, settings: Settings, loops: bool
) -> list[Found]:
    """All draws side by side; with half as many networks at a time whenever the device is full.

    What other processes take of its memory meanwhile is not known before.
    """
    source, shape = sources[0], (len(sources), sources[0].candidates)
    for one in sources:
        one.steps += len(one.problem.washout) + one.problem.rows
    free = memory_of(source.device)
    most = max(1, min(free // (2 * bytes_on_device(source)), shape[0] * shape[1]))
    while True:
        try:
            return _in_groups(sources, plan, settings, loops, most, free)
        except DeviceFull:
            if most == 1:
                raise
        # Out of the handler, which holds the arrays that did not fit.
        most, free = most // 2, free // 2


def _in_groups(
    sources: Sequence[States], plan: Plan, settings: Settings, loops: bool, most, free
) -> list[Found]:
    """Results of at most so many networks at a time."""
    source, problem, device = sources[0], sources[0].problem, sources[0].device
    looped = [one.splits.runs.first for one in plan.schemes.values() if one.closed]
    begins = np.unique(np.concatenate([np.zeros(0, dtype=int), *looped]))
    r, found = stacked([one.reservoirs for one in sources]), []

    def validated(part: Reservoirs) -> Batch:
        """What some networks give by every scheme."""
        X, begun = rows_of(part, problem, begins)

        def many_rows(own: Source) -> ManyRows:
            given = own.of_part(X), own.problem.targets, own.problem.weights
            path = settings.ridge, settings.penalised, plan.pieces
            return ManyRows(*given, *path, free // 4)

        rows, batch = _ByPart(source, many_rows), _blank(plan)
        for one in batch.values():
            first, solved = one.splits.runs.first, partial(rows.solved, one.choice.variant)
            one.scores, one.W, one.refitted = _scored(solved, one, problem, settings)
            one.condition = rows.condition
            if one.closed:
                one.starts = taken(begun, np.searchsorted(begins, first), axis=1)
                if loops:
                    _run_loops(States(problem, part, device), [one], settings)
            _bring_home(one, settings)
        return batch

    with engine(device):
        for _, draws, candidates in network_groups(len(sources), source.candidates, most):
            batch = side_by_side(partial(validated, some(r, draws, candidates)))
            width = candidates.stop - candidates.start
            for place, draw in enumerate(range(draws.start, draws.stop)):
                at = slice(place * width, (place + 1) * width)
                of_draw = {name: one.part(at) for name, one in batch.items()}
                found.append((draw, candidates.start, of_draw))
    return found


def _bring_home(one: Validated, settings: Settings) -> None:
    """Leave readouts that nobody asked for, unless closed loops are still to be run."""
    if settings.readouts or settings.verify:
        one.W = None if one.W is None else np.asarray(one.W)
        one.starts = None if one.starts is None else np.asarray(one.starts)
    elif one.starts is None:
        one.W = None


def _run_loops(source: States, looped: Sequence[Validated], settings: Settings) -> None:
    """Scores of a generative task, by running every trajectory.

    Runs of several schemes over the same rows, from readouts of the same training rows, are run
    once by the host.
    """
    problem, needs = source.problem, needs_of(settings.metrics)
    before: dict = {}
    for one in looped:
        if set(needs) <= set(GROWING) and (len(needs) == 1 or problem.lazy):
            sums = _sums(source, one, settings, needs, before)
            one.scores = finish_runs(problem.scored, one.splits, sums, settings.metrics)
        else:
            outputs = closed_loop_outputs(source, one.W, one.starts, one.splits.runs)
            each = [score_outputs(problem.scored, one.splits, o, settings.metrics) for o in outputs]
            one.scores = {name: np.stack([scores[name] for scores in each]) for name in each[0]}
        one.starts = None


def _sums(source: States, one: Validated, settings: Settings, needs, before) -> dict[str, Any]:
    """Sums of errors ``(candidates, runs, ridge)`` of every kind; new ones go into ``before``."""
    splits = one.splits
    names = list(zip(splits.train, splits.valid, strict=True))
    new = [place for place, name in enumerate(names) if name not in before]
    if new:
        W, starts, part = one.W, one.starts, splits
        if len(new) < len(names):
            part = splits.part(new)
            runs = np.flatnonzero(np.isin(splits.runs.split, new))
            W, starts = W[:, runs if W.shape[1] == len(splits.runs) else new], starts[:, runs]
        for kind in needs:
            sum_ = summed(source.problem, settings.metrics, kind)
            total = closed_loop_sums(source, W, starts, part.runs, sum_)
            ends = np.searchsorted(part.runs.split, np.arange(1, len(new)))
            for place, of_split in zip(new, np.split(total, ends, axis=1), strict=True):
                before.setdefault(names[place], {})[kind] = of_split
    return {kind: np.concatenate([before[name][kind] for name in names], axis=1) for kind in needs}
