"""Whole batches of candidates, of several draws, validated where their states are: on a device.

States, moments, readouts and closed loops stay there; scores and marks come back. The host draws
weights, and solves the little that `ManyRows` leaves to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from echofold._data.problem import Problem
from echofold._engine.draws import (
    closed_outputs,
    closed_sums,
    room_of_rows,
    rows_of,
    some,
    stacked,
)
from echofold._engine.generate import ACCELERATOR_COLUMNS
from echofold._engine.kind import Reservoirs, row_length
from echofold._folds.algorithm import Size
from echofold._folds.choose import Choice, choose
from echofold._folds.leave_out import only_valid
from echofold._folds.many_rows import ManyRows, bytes_of
from echofold._folds.pieces import Pieces, cut
from echofold._folds.splits import RowSplits
from echofold._machine.arrays import equal_parts, namespace
from echofold._machine.device import DeviceFull, engine, is_accelerator, memory_of
from echofold._machine.programs import program
from echofold._validation.outcome import Validated
from echofold._validation.score import (
    call_metric,
    compared,
    finish_sums,
    kinds,
    runs_closed_loop,
    score_outputs,
    summed,
    sums_of_errors,
)
from echofold._validation.settings import Settings
from echofold.metrics._metric import GROWING


def suits(device: str, problem: Problem, columns: int, settings: Settings) -> bool:
    """Whether a validation is done on ``device`` from end to end, all states being kept there."""
    if not is_accelerator(device) or settings.algorithm == "naive" or problem.lazy:
        return False
    if settings.memory in ("pieces", "fold", "frugal"):
        return False
    return _bytes(problem, columns) < memory_of(device)


def _bytes(problem: Problem, columns: int) -> int:
    """Memory that one network takes."""
    return bytes_of(room_of_rows(problem.rows), columns)


def validate_draws(
    problem: Problem,
    draws: Sequence[Reservoirs],
    schemes: dict[str, RowSplits],
    settings: Settings,
    device: str,
    close: bool = True,
) -> list[dict[str, Validated]]:
    """Validate every candidate of every draw by every scheme.

    With ``close=False`` a generative task stops at the readouts, which stay on the device unless
    they are asked for.
    """
    columns = row_length(problem.segments, draws[0].looks, draws[0].beside)
    choices = {name: _choose(problem, one, columns, settings) for name, one in schemes.items()}
    few = {name: schemes[name] for name, choice in choices.items() if choice.way == "small_k"}
    pieces = cut(problem.rows, few) if few else Pieces(np.zeros(problem.rows, dtype=int), 1)
    looped = [one for one in schemes.values() if runs_closed_loop(problem, one)]
    begins = np.unique([row for splits in looped for row in splits.runs.first]).astype(int)
    r, shape = stacked(draws), (len(draws), draws[0].shape[1])

    def in_groups(most: int, free: int) -> dict[str, list[Validated]]:
        """Results by scheme and draw, of at most so many networks at a time."""
        groups = list(network_groups(*shape, most))
        found: dict[str, list[_Found]] = {name: [] for name in schemes}
        with engine(device):
            for _, of_draws, of_candidates in groups:
                part = some(r, of_draws, of_candidates)
                X, begun = rows_of(part, problem, begins)
                rows = ManyRows(
                    X, problem.targets, problem.weights, settings.ridge, settings.penalised,
                    pieces, free // 4,
                )  # fmt: skip
                for name, splits in schemes.items():
                    batch = _Batch(
                        part, problem, rows, begins, begun, name, splits, choices[name], settings
                    )
                    found[name].append(batch.found(close))
            return {
                name: _by_draw(parts, groups, shape, Validated(schemes[name], choices[name]))
                for name, parts in found.items()
            }

    free = memory_of(device)
    each = _halving(in_groups, int(free // (2 * _bytes(problem, columns))), shape, free)
    return [{name: each[name][draw] for name in schemes} for draw in range(len(draws))]


def _halving(run: Callable, most: int, shape: tuple[int, int], free: int) -> Any:
    """``run(most, free)``, with half as many networks at a time whenever the device is full.

    What other processes take of its memory meanwhile is not known before.
    """
    most = max(1, min(most, shape[0] * shape[1]))
    while True:
        try:
            return run(most, free)
        except DeviceFull:
            if most == 1:
                raise
        # Out of the handler, which holds the arrays that did not fit.
        most, free = most // 2, free // 2


def _choose(problem: Problem, splits: RowSplits, m: int, settings: Settings) -> Choice:
    """A Cholesky factor for each split, or rows left out of one of all: what takes fewer products.

    Costs are those of one thread of the host, for comparison.
    """
    closed = runs_closed_loop(problem, splits)
    size = Size(
        splits, m, problem.targets.shape[1], len(settings.ridge), settings.readouts or closed
    )
    costs = choose(size, settings.algorithm).costs
    if settings.algorithm == "small_k":
        return Choice("small_k", costs, "small_k was asked for")
    if settings.algorithm == "large_k":
        return Choice("leave_out", costs, "large_k was asked for")
    left = float((splits.n - splits.train_sizes).max())
    solving = size.sets * size.p**3 / 3 + size.n * size.p**2 / size.ridges
    leaving = size.n * size.p**2 + size.sets * (left**2 * size.p + left**3 / 3)
    if solving <= leaving:
        return Choice("small_k", costs, "on a device, small_k takes the fewest products")
    return Choice("leave_out", costs, "on a device, large_k takes the fewest products")


def network_groups(draws: int, candidates: int, most: int) -> Iterator[tuple[int, slice, slice]]:
    """At most ``most`` networks in a row: the first, and of what draws and candidates they are.

    All groups are equally large, because each size is compiled once; the last may overlap.
    """
    if most >= candidates:
        for _, part in equal_parts(draws, most // candidates):
            yield part.start * candidates, part, slice(0, candidates)
        return
    for draw in range(draws):
        for _, part in equal_parts(candidates, most):
            yield draw * candidates + part.start, slice(draw, draw + 1), part


@dataclass
class _Found:
    """What one batch gave by one scheme; arrays have its networks first."""

    scores: dict[str, np.ndarray]
    condition: np.ndarray
    W: Any = None
    starts: Any = None
    refitted: int = 0


@dataclass
class _Batch:
    """Networks whose rows are on the device, to be validated by one scheme.

    ``begun`` are their inputs and states at the rows ``begins``.
    """

    r: Reservoirs
    problem: Problem
    rows: ManyRows
    begins: np.ndarray
    begun: Any
    name: str
    splits: RowSplits
    choice: Choice
    settings: Settings

    def found(self, close: bool) -> _Found:
        """Readouts (closed loop) or scores (open loop, or with ``close``) of every network."""
        closed = runs_closed_loop(self.problem, self.splits)
        done = _Found({}, self.rows.condition)
        wanted = closed or self.settings.readouts
        if self.choice.way == "small_k":
            done.W, done.refitted = self.rows.readouts(self.name, self.splits)
            if not closed:
                done.scores = self._open_loop(*self.rows.residuals(self.splits, done.W))
        else:
            at, residuals, done.W, done.refitted = self.rows.left_out(self.splits, wanted)
            if not closed:
                done.scores = self._open_loop(only_valid(at, self.splits), residuals)
        if closed:
            done.starts = _picked(self.begun, np.searchsorted(self.begins, self.splits.runs.first))
            if close:
                done.scores = self._closed_loop(done)
                done.starts = None
        if not wanted or (closed and close and not self.settings.readouts):
            done.W = None
        if self.settings.readouts:
            done.W = np.asarray(done.W)
            done.starts = None if done.starts is None else np.asarray(done.starts)
        return done

    def _open_loop(self, at: np.ndarray, residuals) -> dict[str, np.ndarray]:
        problem, metrics = self.problem, self.settings.metrics
        needs = tuple(kind for kind in kinds(metrics) if kind != "predictions")
        sums = _sums(residuals, compared(problem, at, metrics), needs=needs)
        sums = {kind: np.asarray(total) for kind, total in sums.items()}
        scores = finish_sums(problem, self.splits, sums, metrics)
        for metric in metrics:
            if metric.needs == "predictions":
                each = [call_metric(metric, problem, at, e) for e in np.asarray(residuals)]
                scores[metric.name] = np.stack(each)
        return {metric.name: scores[metric.name] for metric in metrics}

    def _closed_loop(self, done: _Found) -> dict[str, np.ndarray]:
        problem, splits, metrics = self.problem, self.splits, self.settings.metrics
        runs, needs = splits.runs, kinds(metrics)
        W = runs.of_splits(done.W)
        networks, ridges = W.shape[0], W.shape[2]
        candidates = self.r.shape[1]
        draws = networks // candidates
        most = max(1, ACCELERATOR_COLUMNS // (len(runs) * ridges))
        in_sums = len(needs) == 1 and needs[0] in GROWING
        run = closed_outputs
        if in_sums:
            run = partial(closed_sums, sum_=summed(problem, metrics))
        parts = []
        for first, of_draws, of_candidates in network_groups(draws, candidates, most):
            part = some(self.r, of_draws, of_candidates)
            parts.append((first, run(part, problem, W, done.starts, first, runs)))
        if in_sums:
            total = np.empty((networks, len(runs), ridges))
            for first, part in parts:
                total[first : first + len(part)] = part
            return finish_sums(problem.scored, splits, {needs[0]: runs.added(total)}, metrics)
        scores = {metric.name: np.empty((networks, len(splits), ridges)) for metric in metrics}
        for first, part in parts:
            outputs = np.asarray(part)  # (networks, runs, ridge, steps, outputs)
            if problem.brought_back:
                flat = outputs.reshape(-1, *outputs.shape[3:])
                start = np.tile(np.repeat(runs.first, ridges), len(outputs))
                outputs = problem.values(flat, start).reshape(outputs.shape)
            for one, each in enumerate(np.moveaxis(outputs, 3, 2), first):
                found = score_outputs(problem.scored, splits, each, metrics)
                for name, values in found.items():
                    scores[name][one] = values
        return scores


@program
def _picked(begun, places):
    """What the closed loops of one scheme start from."""
    return begun[:, places]


@program
def _sums(residuals, c, *, needs):
    """`sums_of_errors` on the device."""
    return sums_of_errors(residuals, c, needs)


def _by_draw(
    parts: list[_Found], groups: list, shape: tuple[int, int], like: Validated
) -> list[Validated]:
    """The results of all groups of networks, for each draw."""
    draws, candidates = shape
    results = [
        Validated(like.splits, like.choice, condition=np.empty(candidates)) for _ in range(draws)
    ]
    for found, (_, of_draws, of_candidates) in zip(parts, groups, strict=True):
        count = of_candidates.stop - of_candidates.start
        for place, draw in enumerate(range(of_draws.start, of_draws.stop)):
            networks, one = slice(place * count, (place + 1) * count), results[draw]
            one.condition[of_candidates] = found.condition[networks]
            for name, values in found.scores.items():
                one.scores.setdefault(name, np.empty((candidates, *values.shape[1:])))
                one.scores[name][of_candidates] = values[networks]
            for name in ("W", "starts"):
                if (array := getattr(found, name)) is not None:
                    before = getattr(one, name)
                    skip = 0 if before is None else len(before) - of_candidates.start
                    new = array[networks][skip:]
                    joined = new if before is None else namespace(new).concatenate([before, new])
                    setattr(one, name, joined)
        results[of_draws.start].refitted += found.refitted
    return results
