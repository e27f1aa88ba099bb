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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from echofold._data.rows import inside
from echofold._engine.states import States
from echofold._folds.algorithms import pilot_rows
from echofold._folds.moments import (
    Whitening,
    add_pieces,
    from_factor,
    is_poor,
    moments,
    overall_condition,
    solve,
    whitening,
)
from echofold._folds.splits import Pieces, RowSplits, add_up, cut
from echofold._folds.tolerances import LEFT_OF_TOTAL
from echofold._folds.whitened import squared_errors
from echofold._validation.record import Validated
from echofold._validation.refit import factor_all, refit
from echofold._validation.score import (
    error_sums,
    finish_sums,
    needs_of,
    score_residuals,
)
from echofold._validation.settings import Settings
from echofold.metrics._metric import OF_VALUES, TOGETHER

PILOT = 20  # rows a column, in segments that are warmed up from rest


def from_pieces(
    source: States, pieces: Pieces, validated: dict[str, Validated], settings: Settings
) -> None:
    """Readouts of every split from moments; open-loop scores too, where they are quadratic."""
    problem = source.problem
    shift = problem.targets.mean(axis=0)
    summed = _accumulate(source, pieces, shift)
    explicit = []
    for one in validated.values():
        sets = [pieces.runs[train] for train in one.splits.distinct.train]
        solved = [
            solve(add_up(M, sets), white, shift, settings.ridge, settings.penalised)
            for M, white in zip(summed.training, summed.whites, strict=True)
        ]
        W = np.stack([s.W for s in solved])
        one.condition = summed.condition
        again = np.argwhere(~np.stack([s.trusted for s in solved]))
        if len(again):
            train = one.splits.distinct.train
            todo = [(int(candidate), train[split]) for candidate, split in again]
            W[tuple(again.T)] = refit(source, todo, settings.ridge, settings.penalised)
            one.refitted += len(again)
        one.W = one.splits.spread(W, axis=1)
        if one.closed:
            continue
        if len(again) or not _quadratic(problem, settings):
            explicit.append(one)
            continue
        sets = [pieces.runs[valid] for valid in one.splits.valid]
        valid = [add_up(M, sets) for M in summed.plain]
        each = [one.splits.spread(s.v) for s in solved]
        errors = np.stack([squared_errors(M, v) for M, v in zip(valid, each, strict=True)]) @ (
            problem.unit**2
        )
        if np.isnan(errors).any():
            explicit.append(one)
            continue
        one.scores = finish_sums(problem, one.splits, {"squared": errors}, settings.metrics)
    if explicit:
        predict_again(source, explicit, settings)


def _quadratic(problem, settings: Settings) -> bool:
    """Whether squared errors of unclipped outputs are all that is asked for."""
    return needs_of(settings.metrics) == ("squared",) and problem.output_range is None


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
    summed = _accumulate(source, cut(source.problem.rows, ()), shift)
    return summed.whites, summed.training[:, 0], summed.condition


def predict_again(source: States, explicit: Sequence[Validated], settings: Settings) -> None:
    """A second pass that predicts every validation row, for errors that moments cannot give."""
    problem = source.problem
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
                    e = _residuals(problem, rows, X[rows - first], one.W[candidate, split])
                    for kind, value in error_sums(problem, rows[None], e[None], added).items():
                        total[kind][candidate, split] += value[0]
                    if residuals is not None:
                        at = one.splits.valid_rows[split]
                        residuals[candidate, split, (at >= first) & (at < last)] = e
    for one, total, residuals in zip(explicit, totals, kept, strict=True):
        one.scores |= finish_sums(problem, one.splits, total, settings.metrics)
        if whole:
            rows = one.splits.valid_rows
            each = [score_residuals(problem, one.splits, rows, e, whole) for e in residuals]
            one.scores |= {name: np.stack([scores[name] for scores in each]) for name in each[0]}


def _residuals(problem, rows: np.ndarray, X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Residuals ``(rows, ridge, outputs)`` of readouts ``W (ridge, 1 + m, outputs)``."""
    return np.moveaxis(problem.targets[rows] - (W[:, 0][:, None] + X @ W[:, 1:]), 0, 1)


def fold_by_fold(source: States, one: Validated, settings: Settings, keep_fold: bool) -> None:
    """Readouts and scores of one scheme, a split at a time."""
    problem, splits = source.problem, one.splits
    _check(splits, settings, one.closed)
    shift = problem.targets.mean(axis=0)
    whites, total, one.condition = learn_whitening(source, shift)
    shape = (source.candidates, len(splits), len(settings.ridge))
    if one.closed or settings.readouts:
        one.W = np.empty((*shape, 1 + source.columns, problem.targets.shape[1]))
    sums = {kind: np.zeros(shape) for kind in needs_of(settings.metrics)}
    train = _Training(source, splits, whites, total, shift)
    for split, ((a, b),) in enumerate(splits.valid):
        if not split or splits.train[split] != splits.train[split - 1]:
            W = _readouts(train, split, keep_fold, one, settings)
        if one.W is not None:
            one.W[:, split] = W
        if one.closed:
            continue
        for first, block in train.again(split, a, b):
            rows = np.arange(first, first + len(block[0]))
            for candidate, X in enumerate(block):
                e = _residuals(problem, rows, X, W[candidate])[None]
                for kind, value in error_sums(problem, rows[None], e, settings.metrics).items():
                    sums[kind][candidate, split] += value[0]
    if not one.closed:
        one.scores = finish_sums(problem, splits, sums, settings.metrics, lean=True)


def _readouts(train: _Training, split: int, keep_fold: bool, one: Validated, settings: Settings):
    """Readouts of every candidate; by a plain refit where moments cannot be trusted."""
    path = (settings.ridge, settings.penalised)
    moments, sound = train.moments(split, keep_fold)
    solved = [
        solve(M[None], white, train.shift, *path, whitened=False)
        for M, white in zip(moments, train.whites, strict=True)
    ]
    W = [f.W[0] for f in solved]
    again = [i for i, f in enumerate(solved) if not (sound[i] and f.trusted[0])]
    rows = one.splits.train[split]
    for place, again_W in zip(
        again, refit(train.source, [(i, rows) for i in again], *path), strict=True
    ):
        W[place] = again_W
    one.refitted += len(again)
    return W


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

    def __init__(self, source: States, splits: RowSplits, whites: list[Whitening], total, shift):
        self.source, self.splits, self.whites, self.shift = source, splits, whites, shift
        self.total = total
        # Windows move; everything else leaves one interval out of the total.
        self.moving = _moves(splits)
        self.window = np.zeros_like(total)
        self.entered = np.zeros_like(total)  # all that the window's rounding comes from
        self.at = (splits.train[0][0][0],) * 2
        self.fold: list | None = None
        self.bases = [] if self.moving else _bases(total, whites)

    def moments(self, split: int, keep: bool) -> tuple[np.ndarray, list[bool]]:
        """Moments of this split's training rows, and of which candidates they are sound.

        Keeps the states passed over if ``keep``.
        """
        if not self.splits.left_out[split]:
            return self.total, [True] * len(self.whites)
        if not self.moving:
            (a, b) = self.splits.left_out[split][0]
            fold: list = []
            rest = self.total - self._sum(a, b, self._next(split), fold if keep else None)
            self.fold = fold if keep else None
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

    def _sum(self, a: int, b: int, save=(), fold: list | None = None) -> np.ndarray:
        """Moments of the rows ``a … b``, whose states are put into ``fold`` if there is one."""
        problem = self.source.problem
        sums = np.zeros_like(self.total)
        for first, block in self.source.blocks(a, b, save) if b > a else ():
            rows = slice(first, first + len(block[0]))
            Y = np.asarray(problem.targets[rows])
            w = None if problem.weights is None else problem.weights[rows]
            for candidate, X in enumerate(block):
                Z = self.whites[candidate].apply(X)
                sums[candidate] += moments(Z, Y - self.shift, w)
            if fold is not None:
                fold.append((first, block))
        return sums

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
