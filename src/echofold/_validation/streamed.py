"""Validation of states that are forgotten as they pass: only moments of rows are kept.

`from_pieces` keeps those of every piece and needs one pass. `fold_by_fold` is the paper's frugal
implementation, in whitened coordinates, and its memory grows neither with the data nor with the
number of splits. Where a split leaves out one interval (and its gaps), its training moments are the
total less those of the interval; where it trains on a window, rows are added at the window's head
and taken away at its tail as it moves. Where so much is taken away that rounding is felt in the
rest, the split is refitted from its rows, at the price of driving over them. Keeping the states of
one fold saves the pass that would make them again for prediction. (Groups of splits that fit into
memory, each with a pass of its own, would need no subtraction, but as many passes as groups where
this needs three.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from echofold._data.problem import Problem, in_words_of
from echofold._data.rows import Intervals, inside
from echofold._engine.states import States
from echofold._folds.algorithms import pilot_rows, predict
from echofold._folds.moments import (
    Whitening,
    add_pieces,
    from_factor,
    is_poor,
    overall_condition,
    solve,
    whitening,
)
from echofold._folds.splits import Pieces, RowSplits, add_up, cut
from echofold._folds.tolerances import LEFT_OF_TOTAL
from echofold._folds.whitened import Readouts, squared_errors
from echofold._validation.record import Validated
from echofold._validation.refit import factor_all, refit
from echofold._validation.score import error_sums, finish_sums, needs_of, score_residuals
from echofold._validation.settings import Settings
from echofold.metrics._metric import OF_VALUES, TOGETHER

PILOT = 20  # rows a column, in segments that are warmed up from rest


def from_pieces(
    source: States, pieces: Pieces, validated: dict[str, Validated], settings: Settings
) -> None:
    """Readouts of every split from moments; open-loop scores too, where they are quadratic."""
    problem = source.problem
    shift = problem.targets.mean(axis=0)
    summed = accumulate(source, pieces, shift)
    quadratic = needs_of(settings.metrics) == ("squared",) and problem.output_range is None
    quadratic = quadratic and not problem.each
    explicit = []
    for one in validated.values():
        train = one.splits.distinct.train
        sets = [pieces.runs[rows] for rows in train]
        each = (add_up(M, sets) for M in summed.training)
        W, solved, refitted = _solved(source, each, summed.whites, shift, train, settings)
        one.condition, one.W = summed.condition, one.splits.spread(W, axis=1)
        one.refitted += refitted
        if one.closed:
            continue
        if not refitted and quadratic:
            sets = [pieces.runs[rows] for rows in one.splits.valid]
            errors = [
                squared_errors(add_up(M, sets), one.splits.spread(found.v))
                for M, found in zip(summed.plain, solved, strict=True)
            ]
            sums = {"squared": np.stack(errors) @ problem.unit**2}
            if not np.isnan(sums["squared"]).any():
                one.scores = finish_sums(problem, one.splits, sums, settings.metrics)
                continue
        explicit.append(one)
    if explicit:
        predict_again(source, explicit, settings)


def _solved(
    source: States, moments: Iterable, whites: list[Whitening], shift, train: Sequence[Intervals],
    settings: Settings, sound: Any = True, whitened: bool = True,
) -> tuple[np.ndarray, list[Readouts], int]:  # fmt: skip
    """Readouts ``(candidates, sets, …)`` from moments, ``(sets, a, a)`` of each candidate.

    Where these are not ``sound`` or cannot be trusted, they are plain refits. And what was solved,
    and how many were refitted.
    """
    path = settings.ridge, settings.penalised
    solved = [
        solve(M, white, shift, *path, whitened) for M, white in zip(moments, whites, strict=True)
    ]
    W = np.stack([found.W for found in solved])
    again = np.argwhere(~(np.stack([found.trusted for found in solved]) & sound))
    if len(again):
        todo = [(int(candidate), train[place]) for candidate, place in again]
        W[tuple(again.T)] = refit(source, todo, *path)
    return W, solved, len(again)


@dataclass(frozen=True)
class Summed:
    """Coordinates of each candidate, and the moments of all pieces in them.

    ``training`` and ``plain`` (for scores: of rows that have a value, unweighted) are
    ``(candidates, pieces, a, a)``; ``condition`` is that of all rows.
    """

    whites: list[Whitening]
    training: np.ndarray
    plain: np.ndarray
    condition: np.ndarray


def accumulate(source: States, pieces: Pieces, shift: np.ndarray) -> Summed:
    """Moments of all pieces, in coordinates that a pilot gives or, where it proves poor, all rows.

    Then the R factor of all rows takes one pass, and the moments another.
    """
    problem, rows = source.problem, source.problem.rows
    pilot = source.pilot(pilot_rows(rows, 1 + source.columns, PILOT))
    whites = [whitening(states) for states in pilot]
    complete = len(pilot[0]) == rows
    if complete:
        whites = [white.settled() for white in whites]
    # Row weights are for training only: scores need a second set, of all rows that have a value.
    weights = [problem.weights]
    if weights[0] is not None and (
        problem.present is None or not np.array_equal(weights[0], problem.present)
    ):
        weights.append(problem.present)
    sums = _one_pass(problem, source.blocks(), pieces, shift, whites, weights)
    totals = sums[-1].sum(axis=1)
    if not complete and any(map(is_poor, whites, totals)):
        factors = factor_all(source)
        whites = [from_factor(R / np.sqrt(rows), mean).settled() for R, mean in factors]
        sums = _one_pass(problem, source.blocks(), pieces, shift, whites, weights)
        complete = True
    if complete:
        condition = [white.condition for white in whites]
    else:
        condition = [overall_condition(w, t) for w, t in zip(whites, totals, strict=True)]
        whites = [w.settled(t) for w, t in zip(whites, totals, strict=True)]
    return Summed(whites, sums[0], sums[-1], np.array(condition))


def _one_pass(
    problem: Problem, blocks: Iterable, pieces: Pieces, shift, whites: list[Whitening], weights
) -> list[np.ndarray]:
    """Moments ``(candidates, pieces, a, a)`` by each of several weights, of rows that pass by."""
    size = 1 + len(whites[0].mean) + problem.targets.shape[1]
    sums = [np.zeros((len(whites), pieces.count, size, size)) for _ in weights]
    for first, block in blocks:
        rows = slice(first, first + len(block[0]))
        Y = np.asarray(problem.targets[rows]) - shift
        for candidate, X in enumerate(block):
            Z = whites[candidate].apply(X)
            for total, w in zip(sums, weights, strict=True):
                add_pieces(total[candidate], pieces, first, Z, Y, None if w is None else w[rows])
    return sums


def predict_again(source: States, explicit: Sequence[Validated], settings: Settings) -> None:
    """A second pass that predicts every validation row, for errors that moments cannot give."""
    problem = source.problem
    if problem.each:
        return _predict_series(source, explicit, settings)
    added = [metric for metric in settings.metrics if metric.needs not in TOGETHER]
    whole = [metric for metric in settings.metrics if metric.needs in TOGETHER]
    totals = [{kind: np.zeros(one.W.shape[:3]) for kind in needs_of(added)} for one in explicit]
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
                    at = candidate, split
                    e = _add_errors(total, at, problem, rows, X[rows - first], one.W[at], added)
                    if residuals is not None:
                        own = one.splits.valid_rows[split]
                        residuals[candidate, split, (own >= first) & (own < last)] = e
    for one, total, residuals in zip(explicit, totals, kept, strict=True):
        one.scores |= finish_sums(problem, one.splits, total, settings.metrics)
        if whole:
            rows = one.splits.valid_rows
            each = [score_residuals(problem, one.splits, rows, e, whole) for e in residuals]
            one.scores |= {name: np.stack([scores[name] for scores in each]) for name in each[0]}


def _predict_series(source: States, explicit: Sequence[Validated], settings: Settings) -> None:
    """The same of several series, each scored when it passes: blocks of these hold them whole."""
    problem, bounds = source.problem, source.problem.bounds
    parts = [{part.series: part for part in one.splits.of_series} for one in explicit]
    counts = [np.zeros((len(one.splits), 1)) for one in explicit]
    for first, block in source.blocks():
        begin, end = np.searchsorted(bounds, [first, first + len(block[0])])
        for series, (one, own, count) in product(
            range(begin, end), zip(explicit, parts, counts, strict=True)
        ):
            if series not in own:
                continue
            part, rows = own[series], slice(bounds[series], bounds[series + 1])
            count[part.places] += 1
            Y, each, at = problem.targets[rows], problem.each[series], part.splits.valid_rows
            for candidate, X in enumerate(block):
                X = X[rows.start - first : rows.stop - first]
                residuals = predict(X, Y, at, one.W[candidate, part.places])
                with in_words_of(problem.names[series]):
                    found = score_residuals(each, part.splits, at, residuals, settings.metrics)
                for name, scores in found.items():
                    if name not in one.scores:
                        one.scores[name] = np.zeros(one.W.shape[:3])
                    one.scores[name][candidate, part.places] += scores
    for one, count in zip(explicit, counts, strict=True):
        one.scores = {name: scores / count for name, scores in one.scores.items()}


def _add_errors(sums, at: tuple, problem: Problem, rows: np.ndarray, X, W, metrics) -> np.ndarray:
    """Residuals ``(rows, ridge, outputs)``, their errors put into ``sums`` of the split ``at``."""
    e = np.moveaxis(problem.targets[rows] - (W[:, 0][:, None] + X @ W[:, 1:]), 0, 1)
    for kind, value in error_sums(problem, rows[None], e[None], metrics).items():
        sums[kind][at] += value[0]
    return e


def fold_by_fold(source: States, one: Validated, settings: Settings, keep_fold: bool) -> None:
    """Readouts and scores of one scheme, a split at a time."""
    problem, splits = source.problem, one.splits
    _check(splits, settings, one.closed)
    train = _Training(source, splits)
    one.condition = train.condition
    shape = (source.candidates, len(splits), len(settings.ridge))
    if one.closed or settings.readouts:
        one.W = np.empty((*shape, 1 + source.columns, problem.targets.shape[1]))
    sums = {kind: np.zeros(shape) for kind in needs_of(settings.metrics)}
    for split, ((a, b),) in enumerate(splits.valid):
        if not split or splits.train[split] != splits.train[split - 1]:
            M, sound = train.moments(split, keep_fold)
            W, _, refitted = _solved(
                source, M[:, None], train.whites, train.shift, [splits.train[split]], settings,
                np.array(sound)[:, None], whitened=False,
            )  # fmt: skip
            one.refitted += refitted
        if one.W is not None:
            one.W[:, split] = W[:, 0]
        if one.closed:
            continue
        for first, block in train.again(split, a, b):
            rows = np.arange(first, first + len(block[0]))
            for candidate, X in enumerate(block):
                at = candidate, split
                _add_errors(sums, at, problem, rows, X, W[candidate, 0], settings.metrics)
    if not one.closed:
        one.scores = finish_sums(problem, splits, sums, settings.metrics, lean=True)


def _check(splits: RowSplits, settings: Settings, closed: bool) -> None:
    """Raise for what this way of validating cannot do."""
    single = all(len(left) == 1 for left in splits.left_out)
    if not splits.intervals or not (single or _moves(splits)):
        raise ValueError(
            f"cv={splits.name} neither leaves out one interval at a time nor trains on one window "
            "that moves forward, which memory='fold' and 'frugal' need. Use memory='states' or "
            "'pieces', or another scheme."
        )
    for metric in () if closed else settings.metrics:
        if metric.needs in TOGETHER:
            raise ValueError(
                f"metric={metric.name!r} needs all predictions of a split at once, which "
                "memory='fold' and 'frugal' do not keep. Use memory='states' or 'pieces', or one "
                f"of {', '.join(OF_VALUES)}."
            )


def _moves(splits: RowSplits) -> bool:
    """Whether every split trains on one window, and no end of it ever moves back."""
    if any(len(train) != 1 for train in splits.train):
        return False
    return bool((np.diff([train[0] for train in splits.train], axis=0) >= 0).all())


class _Training:
    """Training moments of one split after the other, ``(candidates, a, a)``."""

    def __init__(self, source: States, splits: RowSplits):
        self.source, self.splits = source, splits
        self.shift, self.all = source.problem.targets.mean(axis=0), cut(source.problem.rows, ())
        summed = accumulate(source, self.all, self.shift)
        self.whites, self.condition = summed.whites, summed.condition
        total = self.total = summed.training[:, 0]
        # Windows move; everything else leaves one interval out of the total.
        self.moving = _moves(splits)
        self.window = np.zeros_like(total)
        self.entered = np.zeros_like(total)  # all that the window's rounding comes from
        self.at = (splits.train[0][0][0],) * 2
        self.fold: list | None = None
        self.bases = [] if self.moving else _bases(total, self.whites)

    def moments(self, split: int, keep: bool) -> tuple[np.ndarray, list[bool]]:
        """Moments of this split's training rows, and of which candidates they are sound.

        Keeps the states passed over if ``keep``.
        """
        if not self.splits.left_out[split]:
            return self.total, [True] * len(self.whites)
        if not self.moving:
            (a, b) = self.splits.left_out[split][0]
            rest = self.total - self._sum(a, b, self._next(split), keep)
            return rest, _sound(rest, self.bases)
        (a, b), (tail, head) = self.splits.train[split][0], self.at
        new = self._sum(head, b)
        self.entered = self.entered + new
        self.window = self.window + new - self._sum(tail, a)
        self.at = (a, b)
        if a == tail:
            return self.window, [True] * len(self.whites)
        sound = _sound(self.window, _bases(self.entered, self.whites))
        if not all(sound):  # from here on without what has left the window
            self.window = self.entered = self._sum(a, b)
            sound = [True] * len(sound)
        return self.window, sound

    def _next(self, split: int) -> list[int]:
        """Rows that later passes start from: this split's validation, what the next leaves out."""
        return [self.splits.valid[split][0][0]] + [
            left[0][0] for left in self.splits.left_out[split + 1 : split + 2]
        ]

    def _sum(self, a: int, b: int, save=(), keep: bool = False) -> np.ndarray:
        """Moments of the rows ``a … b``, whose states become the ``fold`` if they are kept."""
        problem = self.source.problem
        blocks: Iterable = self.source.blocks(a, b, save) if b > a else ()
        if keep:
            blocks = self.fold = list(blocks)
        sums = _one_pass(problem, blocks, self.all, self.shift, self.whites, [problem.weights])
        return sums[0][:, 0]

    def again(self, split: int, a: int, b: int):
        """The rows ``a … b``: those kept from computing the moments, or driven once more."""
        if self.fold is None:
            # Where nothing is left out, no other pass comes by the next interval.
            alone = not self.splits.left_out[split]
            save = [valid[0][0] for valid in self.splits.valid[split + 1 : split + 2] if alone]
            yield from self.source.blocks(a, b, save)
            return
        for first, block in self.fold:
            low, high = max(a, first), min(b, first + len(block[0]))
            if low < high:
                yield low, [X[low - first : high - first] for X in block]


def _bases(whole: np.ndarray, whites: list[Whitening]) -> list[np.ndarray]:
    """Coordinates in which ``whole (candidates, a, a)`` is the identity, as far as it has rank."""
    bases = []
    for total, white in zip(whole, whites, strict=True):
        at = white.places
        d = np.sqrt(np.maximum(np.diag(total)[at], np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(total[np.ix_(at, at)] / np.outer(d, d))
        keep = values > 1e-14 * values[-1]
        basis = np.zeros((1 + len(white.mean), keep.sum()))
        basis[at] = vectors[:, keep] / np.sqrt(values[keep]) / d[:, None]
        bases.append(basis)
    return bases


def _sound(rest: np.ndarray, bases: list[np.ndarray]) -> list[bool]:
    """Whether enough of the whole is left in every direction: ``1 − λmax`` of what was taken."""
    return [
        bool(np.linalg.eigvalsh(basis.T @ M[: len(basis), : len(basis)] @ basis)[0] > LEFT_OF_TOTAL)
        for M, basis in zip(rest, bases, strict=True)
    ]
