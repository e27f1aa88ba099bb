"""A self-check: some splits are refitted plainly and compared with what the fast path gave.

How far the two may lie apart is measured, not guessed: the plain refit is repeated on data of which
every number is moved by one rounding, and the fast path may be off by some multiple of what that
does (one of single precision, where states are driven in it, because they are driven anew). Closed
loops are compared by their one-step outputs, because a chaotic run multiplies rounding without
limit.

The plain refit itself is compared with extended precision, where that is affordable. What is
promised of it is its objective: the sum of squares and penalty that a readout minimises. Where
columns or rows differ in size by many powers of ten, readouts of nearly equal objectives may still
predict differently; such splits are counted and told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from echofold._data.problem import Problem
from echofold._data.rows import rows as rows_of
from echofold._engine.states import GivenStates, States
from echofold._folds import extended
from echofold._folds.splits import RowSplits
from echofold._folds.tolerances import EPS
from echofold._validation.record import Validated
from echofold._validation.refit import refit
from echofold._validation.settings import Settings
from echofold._validation.streamed import predict_again
from echofold.metrics._metric import resolve

SPLITS = 3  # refitted of each scheme, for one candidate of each batch
# How many times as far as one rounding of the data a fast result may be off: by algebra; and by
# states that were driven anew, side by side with others or alone.
ROUNDINGS, DRIVEN = 1e4, 1e2
RELATIVE = 1e-8  # what is closer than this needs no explanation
OBJECTIVE = 1e-9  # of the objective, up to which it is at its minimum
UNDETERMINED = 1e-4  # of predictions, from which doubles do not tell them


class _Rows:
    """Rows of one candidate, in blocks; with ``moved``, every number is off by one rounding."""

    candidates = 1

    def __init__(self, source: States | GivenStates, candidate: int, moved: bool):
        self.source, self.moved = source.alone(candidate), moved
        self.problem, self.columns = source.problem, self.source.columns
        self.eps = np.finfo(source.dtype).eps
        self.roundings = ROUNDINGS if self.eps == EPS else DRIVEN
        if moved:
            self.problem = replace(self.problem, targets=self._shaken(self.problem.targets, -1))

    def blocks(self) -> Iterator[tuple[int, list[np.ndarray]]]:
        """All rows: those that are there, or driven again."""
        for first, block in self.source.blocks():
            yield first, [self._shaken(X, first) if self.moved else X for X in block]

    def _shaken(self, values: np.ndarray, seed: int) -> np.ndarray:
        sign = np.random.RandomState(seed % 2**32).choice([-self.eps, self.eps], values.shape)
        return values * (1 + sign)


def with_checkable_metrics(settings: Settings) -> Settings:
    """Settings of which the metrics include one that does not jump, as a count of labels does."""
    if any(metric.needs in ("squared", "absolute") for metric in settings.metrics):
        return settings
    return replace(settings, metrics=[*settings.metrics, resolve("rmse")])


def check_verifiable(problem: Problem) -> None:
    """Raise where a self-check would need too much memory."""
    if problem.lazy:
        raise ValueError(
            "verify=True compares all outputs of a split at once, but the series is so long that "
            "it is read in blocks. Use verify=False, or verify a part of the series."
        )


def verify(
    source: States | GivenStates, validated: dict[str, Validated], settings: Settings, seed: int
) -> None:
    """Refit a sample of the splits of one candidate; raise if the fast results differ."""
    rng = np.random.RandomState(seed % 2**32)
    candidate = int(rng.randint(source.candidates))
    for one in validated.values():
        chosen = np.sort(rng.permutation(len(one.splits))[:SPLITS])
        for part in source.parts:
            _verify_part(part, one, settings, candidate, chosen)
        one.verified += len(chosen)


def _verify_part(
    source: Any, one: Validated, settings: Settings, candidate: int, chosen: np.ndarray
) -> None:
    """Refit the ``chosen`` splits of rows that a readout is learned from."""
    plain, near = (_Rows(source, candidate, moved) for moved in (False, True))
    part = one.splits.part(chosen).times(source.count)
    W, shaken = (_readouts(rows, part, settings) for rows in (plain, near))
    if one.closed:
        right, moved = (_outputs(plain, part, each) for each in (W, shaken))
        own = W.shape[-1]
        found = one.W[candidate, chosen][..., source.place * own : (source.place + 1) * own]
        fast = _outputs(plain, part, found)
        _compare(one, chosen, fast, right, moved, "one-step outputs", near.roundings)
    else:
        tested = [m for m in settings.metrics if m.needs in ("squared", "absolute")]
        scores = []
        for rows, each in ((plain, W), (near, shaken)):
            refitted = Validated(part, one.choice, W=each[None])
            predict_again(rows, [refitted], replace(settings, metrics=tested))  # type: ignore
            scores.append(refitted.scores)
        for name, right in scores[0].items():
            fast = one.scores[name][candidate, chosen]
            _compare(one, chosen, fast, right[0], scores[1][name][0], name, near.roundings)
    one.undetermined += _against_extended(plain, part, settings, W)


def _against_extended(rows: _Rows, part: RowSplits, settings: Settings, plain: Any) -> int:
    """How many of the splits have predictions that doubles cannot tell, only the objective.

    Raises where one of the ``plain`` readouts does not minimise its objective.
    """
    problem, ridge = rows.problem, settings.ridge[settings.ridge > 0]
    if not len(ridge) or not extended.affordable(problem.rows, 1 + rows.columns):
        return 0
    X = np.concatenate([block[0] for _, block in rows.blocks()])
    Y, weights, count = np.asarray(problem.targets), problem.weights, 0
    for split, W in enumerate(plain[:, settings.ridge > 0]):
        at = rows_of(part.train[split])
        given = X[at], Y[at], None if weights is None else weights[at], ridge, settings.penalised
        exact = extended.readouts(*given)
        _check_objective(part, W, exact, given)
        valid = X[rows_of(part.valid[split])]
        found, right = (w[:, :1] + valid @ w[:, 1:] for w in (W, exact))
        off, size = np.abs(found - right), np.abs(right).max(axis=(1, 2)) + np.abs(Y[at]).max()
        count += bool((off.max(axis=(1, 2)) > UNDETERMINED * size).any())
    return count


def _check_objective(part: RowSplits, W: np.ndarray, exact: np.ndarray, given: tuple) -> None:
    """Raise unless the objective of plain readouts is at its minimum, but for rounding."""
    X, Y, weights, ridge, penalised = given
    least, own = (extended.objectives(w, X, Y, weights, ridge, penalised) for w in (exact, W))
    # What one rounding of every column, and of the targets, does to the residuals.
    norms = np.sqrt((X**2).sum(axis=0))
    moved = EPS * (np.abs(W[:, 1:]) * norms[:, None]).sum(axis=1) + EPS * np.sqrt((Y**2).sum())
    excess = own - least
    if (excess > OBJECTIVE * least + (ROUNDINGS * moved) ** 2).any():
        worst = float((excess / np.maximum(least, np.finfo(float).tiny)).max())
        raise RuntimeError(
            f"verify=True: what a readout of {part.name} should minimise is {worst:.3g} of itself "
            "above the minimum that extended precision finds: columns or rows differ in size by "
            "more powers of ten than 64-bit floats can tell. Scale the inputs, remove outliers, or "
            "use a larger ridge."
        )


def _readouts(rows: _Rows, part: RowSplits, settings: Settings) -> np.ndarray:
    """Plain readouts ``(splits, ridge, 1 + m, outputs)``."""
    todo = [(0, train) for train in part.distinct.train]
    W = refit(rows, todo, settings.ridge, settings.penalised)  # type: ignore[arg-type]
    return part.spread(np.stack(W))


def _outputs(rows: _Rows, part: RowSplits, W: np.ndarray) -> np.ndarray:
    """One-step outputs on validation rows, ``(splits, ridge, all of them)``, 0 where padded."""
    splits, longest = part.valid_rows.shape
    outputs = np.zeros((splits, W.shape[1], longest, W.shape[3]))
    for first, (X,) in rows.blocks():
        for split, at in enumerate(part.valid_rows):
            inside = (at >= first) & (at < first + len(X))
            chosen = X[at[inside] - first]
            outputs[split][:, inside] = W[split, :, :1] + chosen @ W[split, :, 1:]
    return outputs.reshape(splits, W.shape[1], -1)


def _compare(one: Validated, chosen, fast, plain, near, what: str, roundings: float) -> None:
    """Raise where the fast values differ from the plain ones by more than rounding explains."""
    axes = tuple(range(2, plain.ndim))
    with np.errstate(invalid="ignore"):
        off, moved = np.abs(fast - plain), np.abs(near - plain)
    size = np.abs(plain)
    if axes:
        off, moved, size = off.max(axis=axes), moved.max(axis=axes), size.max(axis=axes)
    allowed = RELATIVE * size + roundings * moved + 1e-12
    wrong = np.argwhere(~(off <= allowed) & np.isfinite(size))
    if not len(wrong):
        return
    split, ridge = wrong[0]
    raise RuntimeError(
        f"verify=True: {what} of split {chosen[split]} of {one.splits.name}, computed by "
        f"{one.choice.algorithm} (memory {one.mode!r}), differ from a plain refit by "
        f"{off[split, ridge]:.3g}, of values up to {size[split, ridge]:.3g}; one rounding of the "
        f"data explains {moved[split, ridge]:.3g}. Use algorithm='naive', and please report this "
        "with the data."
    )
