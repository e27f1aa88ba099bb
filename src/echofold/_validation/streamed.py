"""Validation in one pass over the data: moments of every piece, states forgotten as they pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from echofold._data.rows import inside
from echofold._engine.states import States
from echofold._folds.moments import (
    Whitening,
    add_pieces,
    from_factor,
    is_poor,
    overall_condition,
    pilot_rows,
    whitening,
)
from echofold._folds.pieces import Pieces, add_up
from echofold._folds.solve import solve
from echofold._folds.splits import RowSplits
from echofold._folds.whitened import squared_errors
from echofold._validation.outcome import Validated
from echofold._validation.refit import factor_all, refit
from echofold._validation.score import (
    error_sums,
    finish_sums,
    kinds,
    runs_closed_loop,
    score_residuals,
)
from echofold._validation.settings import Settings
from echofold.metrics._metric import TOGETHER

PILOT = 20  # rows a column, in segments that are warmed up from rest


def from_pieces(
    source: States, pieces: Pieces, validated: dict[str, Validated], settings: Settings
) -> None:
    """Readouts of every split from moments; open-loop scores too, where they are quadratic."""
    problem = source.problem
    shift = problem.targets.mean(axis=0)
    summed = _accumulate(source, pieces, shift)
    explicit = []
    for scheme, one in validated.items():
        closed = runs_closed_loop(problem, one.splits)
        sets = list(pieces.train[scheme].values())
        solved = [
            solve(add_up(M, sets), white, shift, settings.ridge, settings.penalised)
            for M, white in zip(summed.training, summed.whites, strict=True)
        ]
        W = np.stack([s.W for s in solved])
        one.condition = summed.condition
        again = np.argwhere(~np.stack([s.trusted for s in solved]))
        if len(again):
            W[tuple(again.T)] = _refitted(source, one.splits.distinct, again, settings)
            one.refitted += len(again)
        one.W = one.splits.spread(W, axis=1)
        if closed:
            continue
        if len(again) or not _quadratic(problem, settings):
            explicit.append(one)
            continue
        valid = [add_up(M, pieces.valid[scheme]) for M in summed.plain]
        each = [one.splits.spread(s.v) for s in solved]
        errors = np.stack([squared_errors(M, v) for M, v in zip(valid, each, strict=True)]) @ (
            problem.unit**2
        )
        if np.isnan(errors).any():
            explicit.append(one)
            continue
        _set_scores(source, one, {"squared": errors}, settings)
    if explicit:
        predict_again(source, explicit, settings)


def _refitted(
    source: States, splits: RowSplits, again: np.ndarray, settings: Settings
) -> list[np.ndarray]:
    """Readouts of ``again (count, 2)``, pairs of a candidate and a split, from their rows."""
    todo = [(int(candidate), splits.train[split]) for candidate, split in again]
    return refit(source, todo, settings.ridge, settings.penalised)


def _quadratic(problem, settings: Settings) -> bool:
    """Whether squared errors of unclipped outputs are all that is asked for."""
    return kinds(settings.metrics) == ("squared",) and problem.output_range is None


def _set_scores(source, one: Validated, sums, settings: Settings) -> None:
    one.scores.update(finish_sums(source.problem, one.splits, sums, settings.metrics))


@dataclass(frozen=True)
class _Summed:
    """Coordinates of each candidate, and the moments of all pieces in them.

    ``training`` and ``plain`` (for scores: of rows that have a value, unweighted) are
    ``(candidates, pieces, a, a)``; ``condition`` is that of all rows.
    """

    whites: list[Whitening]
    training: np.ndarray
    plain: np.ndarray
    condition: np.ndarray


def _accumulate(source: States, pieces: Pieces, shift: np.ndarray) -> _Summed:
    """Moments of all pieces, in coordinates that a pilot gives or, where it proves poor, all rows.

    Then the R factor of all rows takes one pass, and the moments another.
    """
    rows = source.problem.rows
    pilot = source.pilot(pilot_rows(rows, 1 + source.columns, PILOT))
    whites = [whitening(states) for states in pilot]
    complete = len(pilot[0]) == rows
    if complete:
        whites = [white.settled() for white in whites]
    sums = _one_pass(source, pieces, shift, whites)
    totals = sums[1].sum(axis=1)
    if not complete and any(map(is_poor, whites, totals)):
        factors = factor_all(source)
        whites = [from_factor(R / np.sqrt(rows), mean).settled() for R, mean in factors]
        sums, complete = _one_pass(source, pieces, shift, whites), True
    if complete:
        condition = [white.condition for white in whites]
    else:
        condition = [overall_condition(w, t) for w, t in zip(whites, totals, strict=True)]
        whites = [w.settled(t) for w, t in zip(whites, totals, strict=True)]
    training, plain = sums
    return _Summed(whites, training, plain, np.array(condition))


def _one_pass(source: States, pieces: Pieces, shift, whites):
    """Training moments and plain moments, from one pass over the data."""
    problem = source.problem
    size = 1 + source.columns + problem.targets.shape[1]
    training = np.zeros((source.candidates, pieces.count, size, size))
    # Row weights are for training only: scores need a second set, of all rows that have a value.
    apart = problem.weights is not None and not _are_scored(problem)
    plain = np.zeros_like(training) if apart else training
    for first, block in source.blocks():
        rows = slice(first, first + len(block[0]))
        Y = np.asarray(problem.targets[rows]) - shift
        w = None if problem.weights is None else problem.weights[rows]
        there = None if problem.present is None else problem.present[rows]
        for candidate, X in enumerate(block):
            Z = whites[candidate].apply(X)
            add_pieces(training[candidate], pieces, first, Z, Y, w)
            if apart:
                add_pieces(plain[candidate], pieces, first, Z, Y, there)
    return training, plain


def _are_scored(problem) -> bool:
    """Whether row weights are 1 for the rows that have a value, and 0 for the others."""
    return problem.present is not None and np.array_equal(problem.weights, problem.present)


def learn_whitening(
    source: States, shift: np.ndarray
) -> tuple[list[Whitening], np.ndarray, np.ndarray]:
    """Coordinates and moments of all rows, ``(candidates, a, a)``, in memory of ``O(Nr²)``.

    And the condition number of the rows of each candidate.
    """
    # One label seen through many rows: an array of them would grow with the data.
    everything = Pieces(np.broadcast_to(0, source.problem.rows), 1)
    summed = _accumulate(source, everything, shift)
    return summed.whites, summed.training[:, 0], summed.condition


def predict_again(source: States, explicit: Sequence[Validated], settings: Settings) -> None:
    """A second pass that predicts every validation row, for errors that moments cannot give."""
    problem = source.problem
    added = [metric for metric in settings.metrics if metric.needs not in TOGETHER]
    whole = [metric for metric in settings.metrics if metric.needs in TOGETHER]
    totals = [{kind: np.zeros(one.W.shape[:3]) for kind in kinds(added)} for one in explicit]
    kept: list = [None] * len(explicit)
    if whole:
        kept = [
            np.zeros((source.candidates, *one.splits.valid_rows.shape, *one.W.shape[2::2]))
            for one in explicit
        ]
    for first, block in source.blocks():
        last = first + len(block[0])
        for one, total, residuals in zip(explicit, totals, kept, strict=True):
            for split, valid in enumerate(one.splits.valid):
                rows = inside(valid, first, last)
                if not len(rows):
                    continue
                for candidate, X in enumerate(block):
                    W = one.W[candidate, split]
                    outputs = W[:, 0][:, None] + X[rows - first] @ W[:, 1:]
                    e = np.moveaxis(problem.targets[rows] - outputs, 0, 1)
                    sums = error_sums(problem, rows[None], e[None], added)
                    for kind, value in sums.items():
                        total[kind][candidate, split] += value[0]
                    if residuals is not None:
                        at = one.splits.valid_rows[split]
                        residuals[candidate, split, (at >= first) & (at < last)] = e
    for one, total, residuals in zip(explicit, totals, kept, strict=True):
        _set_scores(source, one, total, settings)
        if whole:
            rows = one.splits.valid_rows
            each = [score_residuals(problem, one.splits, rows, e, whole) for e in residuals]
            one.scores |= {name: np.stack([scores[name] for scores in each]) for name in each[0]}
