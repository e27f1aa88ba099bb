"""One batch of candidates, end to end: states, readouts of every split, scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from echofold._engine.lockstep import closed_loop_outputs, closed_loop_sums
from echofold._engine.states import GivenStates, States
from echofold._folds.algorithm import Size
from echofold._folds.choose import Choice, choose_together
from echofold._folds.kept_rows import KeptRows
from echofold._folds.pieces import Pieces, cut
from echofold._folds.splits import RowSplits
from echofold._machine.device import one_blas_thread
from echofold._validation.frugal import fold_by_fold
from echofold._validation.memory import choose_way
from echofold._validation.on_device import suits, validate_draws
from echofold._validation.outcome import Validated
from echofold._validation.score import (
    finish_sums,
    kinds,
    runs_closed_loop,
    score_outputs,
    score_residuals,
    summed,
)
from echofold._validation.settings import Settings
from echofold._validation.streamed import from_pieces
from echofold.metrics._metric import GROWING


def validate(
    source: States | GivenStates,
    schemes: dict[str, RowSplits],
    settings: Settings,
    close: bool = True,
) -> dict[str, Validated]:
    """Validate every candidate of ``source`` by every scheme, over one pass where memory allows.

    With ``close=False`` a generative task stops at the readouts, and `close_the_loop` may follow.
    """
    if isinstance(source, States) and suits(
        source.device, source.problem, source.columns, settings
    ):
        source.steps += len(source.problem.washout) + source.problem.rows
        draws = [source.reservoirs]
        return validate_draws(source.problem, draws, schemes, settings, source.device, close)[0]
    plan = _plan(source, schemes, settings)
    validated = {name: Validated(splits, plan.choices[name]) for name, splits in schemes.items()}
    looped = [one for one in validated.values() if runs_closed_loop(source.problem, one.splits)]
    for one in looped:
        cast(States, source).watch(one.splits.runs.first)
    with one_blas_thread():
        if plan.way == "states":
            _from_kept(source, plan, validated, settings)
        elif plan.way == "pieces":
            from_pieces(cast(States, source), plan.pieces, validated, settings)
        else:
            for one in validated.values():
                fold_by_fold(cast(States, source), one, settings, keep_fold=plan.way == "fold")
        for one in validated.values():
            one.way = plan.way
        before: dict = {}
        for one in looped:
            one.starts = cast(States, source).begins(one.splits.runs.first)
            if close:
                close_the_loop(cast(States, source), one, settings, before)
    return validated


@dataclass(frozen=True)
class _Plan:
    way: str
    choices: dict[str, Choice]
    pieces: Pieces


def _plan(source, schemes: dict[str, RowSplits], settings: Settings) -> _Plan:
    """Choose algorithms and the way of using memory, and cut the rows where splits meet."""
    problem, m = source.problem, source.columns
    outputs, ridges = problem.targets.shape[1], len(settings.ridge)
    sizes = {}
    for name, splits in schemes.items():
        readouts = settings.readouts or runs_closed_loop(problem, splits)
        sizes[name] = Size(splits, m, outputs, ridges, readouts)
    choices = choose_together(sizes, settings.algorithm)
    size = 8 * source.candidates
    states = size * problem.rows * m
    bounds = sum(2 + 4 * len(splits) for splits in schemes.values())
    pieces = size * min(bounds, problem.rows) * (1 + m + outputs) ** 2 * 3
    fold = size * max(int((s.n - s.train_sizes).max()) for s in schemes.values()) * m
    if not source.streams:
        way = "states"
    else:
        asked = settings.algorithm in ("naive", "large_k")
        if asked and settings.memory in ("pieces", "fold", "frugal"):
            raise ValueError(
                f"algorithm={settings.algorithm!r} keeps all states, which memory="
                f"{settings.memory!r} does not. Use memory='states' or None, or algorithm='auto' "
                "or 'small_k'."
            )
        way = choose_way(
            settings.memory, states, pieces, fold, asked, settings.workers, problem.lazy
        )
    if way != "states":
        choices = {
            name: Choice(
                "small_k", c.costs, f"small_k is the algorithm that needs no states (memory: {way})"
            )
            for name, c in choices.items()
        }
    of_pieces = {name: schemes[name] for name, c in choices.items() if c.algorithm == "small_k"}
    if way in ("pieces", "states") and of_pieces:
        return _Plan(way, choices, cut(problem.rows, of_pieces))
    return _Plan(way, choices, Pieces(np.zeros(0, dtype=int), 0))


def _from_kept(source, plan: _Plan, validated: dict[str, Validated], settings: Settings) -> None:
    """Validate from states that are all in memory."""
    problem = source.problem
    for candidate, X in enumerate(source.kept()):
        rows = KeptRows(
            X, problem.targets, problem.weights, settings.ridge, settings.penalised, plan.pieces,
            several=len(validated) > 1,
        )  # fmt: skip
        for name, one in validated.items():
            _one_scheme(source, rows, name, one, candidate, settings)
        for one in validated.values():
            if one.condition is None:
                one.condition = np.empty(source.candidates)
            one.condition[candidate] = rows.condition


def _one_scheme(source, rows: KeptRows, name: str, one: Validated, candidate: int, settings):
    """Readouts, and for open-loop tasks scores, of one candidate and scheme."""
    problem, splits = source.problem, one.splits
    algorithm = one.choice.on(rows, name)
    closed = runs_closed_loop(problem, splits)
    if closed or settings.readouts:
        W, refitted = algorithm.readouts(splits)
        if one.W is None:
            one.W = np.empty((source.candidates, *W.shape))
        one.W[candidate] = W
        one.refitted += refitted
    if closed:
        return
    at, residuals, refitted = algorithm.residuals(splits)
    one.refitted += 0 if settings.readouts else refitted  # readouts counted theirs
    scores = score_residuals(problem, splits, at, residuals, settings.metrics)
    for name, values in scores.items():
        one.scores.setdefault(name, np.empty((source.candidates, *values.shape)))
        one.scores[name][candidate] = values


def close_the_loop(
    source: States, one: Validated, settings: Settings, before: dict | None = None
) -> None:
    """Scores of a generative task, by running every trajectory.

    What other schemes ran ``before``, on the same rows from the same training rows, is not run
    again.
    """
    problem, splits = source.problem, one.splits
    needs = kinds(settings.metrics)
    if set(needs) <= set(GROWING) and (len(needs) == 1 or problem.lazy):
        sums = _sums(source, one, settings, {} if before is None else before)
        one.scores = finish_sums(problem.scored, splits, sums, settings.metrics)
        return
    outputs, scored = closed_loop_outputs(source, one.W, one.starts, splits.runs), problem.scored
    each = [score_outputs(scored, splits, o, settings.metrics) for o in outputs]
    one.scores = {name: np.stack([scores[name] for scores in each]) for name in each[0]}


def _sums(source: States, one: Validated, settings: Settings, before: dict) -> dict:
    """Sums of errors ``(candidates, splits, ridge)`` of every kind; new ones go into ``before``."""
    splits, needs = one.splits, kinds(settings.metrics)
    names = list(zip(splits.train, splits.valid, strict=True))
    new = [place for place, name in enumerate(names) if name not in before]
    if new:
        W, starts, part = one.W, one.starts, splits
        if len(new) < len(names):
            part = splits.part(new)
            W, starts = W[:, new], starts[:, np.isin(splits.runs.split, new)]
        for kind in needs:
            sum_ = summed(source.problem, settings.metrics, kind)
            total = part.runs.added(closed_loop_sums(source, W, starts, part.runs, sum_))
            for at, place in enumerate(new):
                before.setdefault(names[place], {})[kind] = total[:, at]
    return {kind: np.stack([before[name][kind] for name in names], axis=1) for kind in needs}
