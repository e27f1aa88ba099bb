"""One batch of candidates, end to end: states, readouts of every split, scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from echofold._device import one_blas_thread
from echofold._folds import ALGORITHMS, Choice, KeptRows, choose
from echofold._frugal import fold_by_fold
from echofold._lockstep import closed_loop_outputs, closed_loop_sums, flatten
from echofold._memory import choose_way
from echofold._pieces import Pieces, cut
from echofold._scores import finish_sums, kinds, runs_closed_loop, score_residuals
from echofold._splits import RowSplits
from echofold._states import GivenStates, States
from echofold._streamed import from_pieces
from echofold._tasks import Problem
from echofold._validated import Settings, Validated
from echofold.metrics import Metric


def validate(
    source: States | GivenStates,
    schemes: dict[str, RowSplits],
    settings: Settings,
    close: bool = True,
) -> dict[str, Validated]:
    """Validate every candidate of ``source`` by every scheme, over one pass where memory allows.

    With ``close=False`` a generative task stops at the readouts, and `close_the_loop` may follow.
    """
    problem = source.problem
    plan = _plan(source, schemes, settings)
    found = {name: Validated(splits, plan.choices[name]) for name, splits in schemes.items()}
    with one_blas_thread():
        if plan.way == "states":
            _from_kept(source, plan, found, settings)
        elif isinstance(source, GivenStates):
            raise AssertionError("given states are kept already")
        elif plan.way == "pieces":
            from_pieces(source, plan.pieces, found, settings)
        else:
            for one in found.values():
                fold_by_fold(source, one, settings, keep_fold=plan.way == "fold")
        for one in found.values():
            one.way = plan.way
            if one.starts is not None and close:
                close_the_loop(problem, source.reservoirs, one, settings)  # type: ignore[union-attr]
    return found


@dataclass(frozen=True)
class _Plan:
    way: str
    choices: dict[str, Choice]
    pieces: Pieces


def _plan(source, schemes: dict[str, RowSplits], settings: Settings) -> _Plan:
    """Choose algorithms and the way of using memory, and cut the rows where splits meet."""
    problem, m = source.problem, source.columns
    outputs, ridges = problem.targets.shape[1], len(settings.ridge)
    choices = {
        name: choose(
            splits,
            m,
            outputs,
            ridges,
            settings.algorithm,
            settings.readouts or runs_closed_loop(problem, splits),
        )
        for name, splits in schemes.items()
    }
    size = 8 * source.candidates
    states = size * problem.rows * m
    bounds = sum(2 + 4 * len(splits) for splits in schemes.values())
    pieces = size * min(bounds, problem.rows) * (1 + m + outputs) ** 2 * 3
    fold = size * max(int((s.n - s.train_sizes).max()) for s in schemes.values()) * m
    if isinstance(source, GivenStates) or problem.sequences is not None:
        way = "states"  # they are there already, or as few as there are sequences
    else:
        asked = settings.algorithm in ("naive", "large_k")
        if asked and settings.memory in ("pieces", "fold", "frugal"):
            raise ValueError(
                f"algorithm={settings.algorithm!r} keeps all states, which memory="
                f"{settings.memory!r} does not. Use memory='states' or None, or algorithm='auto' "
                "or 'small_k'."
            )
        way = choose_way(settings.memory, states, pieces, fold, asked, settings.workers)
    if way != "states":
        choices = {
            name: Choice(
                "small_k", c.costs, f"small_k is the algorithm that needs no states (memory: {way})"
            )
            for name, c in choices.items()
        }
    small = any(c.algorithm == "small_k" for c in choices.values())
    if way == "pieces" or (way == "states" and small):
        train = [runs for s in schemes.values() for runs in s.train]
        valid = [runs for s in schemes.values() for runs in s.valid]
        return _Plan(way, choices, cut(problem.rows, train, valid))
    return _Plan(way, choices, Pieces(np.zeros(0, dtype=int), 0, [], []))


def _from_kept(source, plan: _Plan, found: dict[str, Validated], settings: Settings) -> None:
    """Validate from states that are all in memory."""
    problem = source.problem
    for candidate, X in enumerate(source.kept()):
        rows = KeptRows(
            X, problem.targets, problem.weights, settings.ridge, settings.penalised, plan.pieces
        )
        offset = 0
        for one in found.values():
            _one_scheme(source, rows, one, candidate, offset, settings)
            offset += len(one.splits)
        for one in found.values():
            if one.condition is None:
                one.condition = np.empty(source.candidates)
            one.condition[candidate] = rows.condition


def _one_scheme(source, rows: KeptRows, one: Validated, candidate: int, offset: int, settings):
    """Readouts, and for open-loop tasks scores, of one candidate and scheme."""
    problem, splits = source.problem, one.splits
    closed = runs_closed_loop(problem, splits)
    if closed or settings.readouts:
        W, refitted = rows.readouts(splits, one.choice, offset)
        if one.W is None:
            one.W = np.empty((source.candidates, *W.shape))
        one.W[candidate] = W
        one.refitted += refitted
    if closed:
        if one.starts is None:
            one.starts = np.empty((source.candidates, len(splits), rows.X.shape[1]))
        one.starts[candidate] = rows.X[splits.valid_rows[:, 0]]
        return
    at, residuals, refitted = rows.residuals(splits, one.choice, offset)
    one.refitted += 0 if settings.readouts else refitted  # readouts counted theirs
    scores = score_residuals(problem, splits, at, residuals, settings.metrics)
    for name, values in scores.items():
        one.scores.setdefault(name, np.empty((source.candidates, *values.shape)))
        one.scores[name][candidate] = values


def close_the_loop(problem: Problem, reservoirs, one: Validated, settings: Settings) -> None:
    """Scores of a generative task, by running every trajectory."""
    splits, shape = one.splits, one.W.shape[:3]
    valid = np.array([runs[0] for runs in splits.valid])
    runs = flatten(one.W, one.starts, valid)
    needs = kinds(settings.metrics)
    if len(needs) == 1 and needs[0] in ("squared", "absolute"):
        total = closed_loop_sums(problem, reservoirs, runs, needs[0] == "absolute", settings.device)
        sums = {needs[0]: total.reshape(shape)}
        one.scores = finish_sums(problem, splits, sums, settings.metrics)
        return
    outputs = closed_loop_outputs(problem, reservoirs, runs, settings.device)
    outputs = np.moveaxis(outputs.reshape(*shape, *outputs.shape[1:]), 3, 2)
    at = splits.valid_rows
    targets = problem.targets[np.minimum(at, problem.rows - 1)][:, :, None]
    each = [score_residuals(problem, splits, at, targets - o, settings.metrics) for o in outputs]
    one.scores = {name: np.stack([scores[name] for scores in each]) for name in each[0]}


def check_algorithm(algorithm: str) -> None:
    """Raise for an algorithm that does not exist."""
    if algorithm not in ("auto", *ALGORITHMS):
        raise ValueError(
            f"algorithm={algorithm!r} is unknown: it must be 'auto', "
            f"{', '.join(map(repr, ALGORITHMS))}."
        )


def check_ridge(ridge) -> np.ndarray:
    """A path of ridge values from a number or several."""
    try:
        values = np.atleast_1d(np.asarray(ridge, dtype=float))
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(
            f"ridge={ridge!r} is not allowed: it must be a finite number of at least 0, or a list "
            "of them."
        )
    return values


def check_task(problem: Problem, splits: RowSplits, metrics: list[Metric]) -> None:
    """Raise for a scheme or a metric that makes no sense for the task."""
    if problem.kind == "forecast" and not splits.intervals:
        raise ValueError(
            f"cv={splits.name} has validation sets that are not one interval each; a forecast runs "
            "over one. Use a scheme such as KFold, Accumulative or WalkForward."
        )
    _check_weights(problem, splits)
    for metric in metrics:
        if metric.needs == "labels" and problem.labels is None:
            raise ValueError(
                f"metric={metric.name!r} counts wrong labels and needs a classifier; "
                "use 'nrmse', 'rmse', 'mse' or 'mae'."
            )


def _check_weights(problem: Problem, splits: RowSplits) -> None:
    """Raise where all training rows of a split have no weight."""
    if problem.weights is None:
        return
    weighed = np.append(0, np.cumsum(problem.weights > 0))
    for split, train in enumerate(splits.train, 1):
        if not sum(weighed[b] - weighed[a] for a, b in train):
            raise ValueError(
                f"sample_weight is 0 for every training row of split {split} of {len(splits)} of "
                f"cv={splits.name}. Give some of them a positive weight, or use another scheme."
            )
